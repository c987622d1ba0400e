//! A session on a transport: waiting, limits, and two threads at once.
//!
//! The session's state is behind one mutex that is held for computing only, never while the transport is at work ([`Call`], [`fast_path`]):
//! - Whoever reads takes the input buffer out of the engine, receives into it, and gives it back.
//! - Whoever sends takes the next piece of output out and is *the* sender until it is sent or given back to the front of
//!   the queue, so that records leave whole and in the order in which they were made.
//! - One thread shakes hands; another one that needs the handshake waits for it.
//!
//! What a reading thread has to send (an alert, an answer to a key update) it sends without waiting, and only while no
//! writer is at work, who would send it anyway: a reader that waited for room could keep both sides waiting for ever.
//!
//! The settings of the stream that the program calls rule the call in all the streams below it: they are handed down as
//! [`WaitPolicy`].

mod call;
mod callbacks;
mod shutdown;
mod dropped;
mod early_data;
mod exchange;
mod gather;
mod minimum_throughput;
mod handshake;
mod tls_over_tls;
mod fast_path;
mod transfer;
mod transport;

use std::os::fd::RawFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use once_cell::race::OnceBox;

use super::context::Context;
use crate::error::{Error, Result};
use crate::fork::Process;
use crate::limit::Limit;
use crate::socket::throughput::Throughput;
use crate::status::Status;
use crate::tls::config::ech::EchStatus;
use crate::tls::per_thread::ThreadId;
use crate::tls::session::engine::Engine;
use crate::tls::session::negotiated::{Negotiated, SessionInfo};
use crate::tls::session::store::SavedSession;

use call::{Call, Role};
pub use callbacks::Callbacks;
use gather::Pieces;
pub use transport::Transport;

/// What a call came to, when it did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Io {
    /// So many bytes.
    Done(usize),
    WantRead,
    WantWrite,
    /// The peer has closed the session properly.
    End,
}

impl Io {
    pub fn count(self) -> usize {
        if let Io::Done(count) = self { count } else { 0 }
    }

    pub fn status(self) -> Status {
        match self {
            Io::Done(_) => Status::Ok,
            Io::WantRead => Status::WantRead,
            Io::WantWrite => Status::WantWrite,
            Io::End => Status::EndOfStream,
        }
    }
}

/// One thread may read and one may write at the same time.
pub struct Stream {
    /// The process that made it: no other process may use its keys, or wait for its lock.
    process: Process,
    transport: Transport,
    core: Mutex<Core>,
    /// A role was given up.
    changed: Condvar,
    info: OnceBox<SessionInfo>,
    /// A call may run a callback: of the transport, or of a context of this stream or of one below.
    may_call_back: bool,
}

struct Core {
    engine: Engine,
    settings: Settings,
    /// The least that reads of the program must bring.
    throughput: Option<Box<Throughput>>,
    /// Who is at work: the thread in each of the [`Role`]s, if any.
    roles: [Option<ThreadId>; Core::ROLES],
    /// Another stream runs inside this one.
    has_inner_stream: bool,
    /// The handshake is done and its last flight sent.
    handshake_done: bool,
    /// The sender at work may wait, or its transport. Of no matter while that is the writer, or shakes hands: nobody else
    /// asks.
    sender_may_wait: bool,
    /// How many threads wait for a role to be given up.
    waiters: usize,
    /// The last receive did not fill its buffer: there is probably nothing there yet.
    drained: bool,
    /// The descriptor does not block: a receive that might have waited for ever did not.
    nonblocking: bool,
    /// How many bytes of records have come.
    bytes_received: u64,
    /// Plaintext that was encrypted but not yet counted to the writer, who passes the same bytes again.
    unreported: usize,
    /// Plaintext that was thrown away while waiting for the peer's closing message.
    discarded: usize,
}

#[derive(Clone)]
struct Settings {
    blocking: bool,
    read_timeout: Option<Duration>,
    write_timeout: Option<Duration>,
    limit: Option<Arc<Limit>>,
}

/// What a call may wait for, and how long.
#[derive(Clone, Copy)]
struct WaitPolicy<'a> {
    blocking: bool,
    settings: &'a Settings,
    /// The stream's own minimum throughput counts.
    counts_throughput: bool,
    /// When what is waited for comes too slowly.
    throughput_deadline: Option<Instant>,
}

/// Those of a new stream, and of every read that may wait in recv(2): nothing ends a wait but what is waited for.
static UNBOUNDED: Settings = Settings { blocking: true, read_timeout: None, write_timeout: None, limit: None };

impl Settings {
    fn wait_policy(&self) -> WaitPolicy<'_> {
        WaitPolicy { blocking: self.blocking, settings: self, counts_throughput: true, throughput_deadline: None }
    }
}

impl WaitPolicy<'_> {
    /// The same without waiting.
    fn without_waiting(self) -> Self {
        WaitPolicy { blocking: false, ..self }
    }

    /// Nothing is to end a wait but what is waited for.
    fn is_unbounded(self) -> bool {
        let Settings { read_timeout, limit, .. } = self.settings;
        self.blocking && read_timeout.is_none() && limit.is_none() && self.throughput_deadline.is_none()
    }

    fn check_limit(self) -> Result<()> {
        self.settings.limit.as_ref().map_or(Ok(()), |limit| limit.check())
    }
}

impl Core {
    const ROLES: usize = 4;

    fn is_held(&self, role: Role) -> bool {
        self.roles[role as usize].is_some()
    }

    fn is_in_use(&self) -> bool {
        self.roles.iter().any(Option::is_some)
    }

    /// Refuses the program's calls while another stream runs inside this one, or from a callback of this one.
    #[inline(always)]
    fn check_reentry(&self) -> Result<()> {
        self.check_no_inner_stream()?;
        if self.is_in_use() && self.roles.contains(&Some(ThreadId::current())) {
            let message = "this stream is at work on this thread: a callback must not use the stream that calls it";
            return Err(Error::new(Status::Busy, message));
        }
        Ok(())
    }

    fn check_no_inner_stream(&self) -> Result<()> {
        if self.has_inner_stream {
            let message = "another stream runs inside this one: use that, or free it first";
            return Err(Error::new(Status::Busy, message));
        }
        Ok(())
    }
}

impl Stream {
    /// A client's side on a descriptor. No I/O.
    pub fn client(context: &Arc<Context>, fd: RawFd, server_hostname: Option<&str>) -> Result<Stream> {
        Stream::client_over(context, Transport::descriptor(fd)?, server_hostname)
    }

    /// A server's side on a descriptor. No I/O.
    pub fn server(context: &Arc<Context>, fd: RawFd) -> Result<Stream> {
        Stream::server_over(context, Transport::descriptor(fd)?)
    }

    pub fn client_over(
        context: &Arc<Context>,
        transport: Transport,
        server_hostname: Option<&str>,
    ) -> Result<Stream> {
        Ok(Stream::new(transport, Engine::client(context, server_hostname)?))
    }

    pub fn server_over(context: &Arc<Context>, transport: Transport) -> Result<Stream> {
        Ok(Stream::new(transport, Engine::server(context)?))
    }

    /// Whether a call on it may run a callback.
    pub fn may_call_back(&self) -> bool {
        self.may_call_back
    }

    fn new(transport: Transport, engine: Engine) -> Stream {
        Stream {
            process: Process::current(),
            may_call_back: transport.may_call_back() || engine.may_call_back(),
            transport,
            core: Mutex::new(Core {
                engine,
                settings: UNBOUNDED.clone(),
                throughput: None,
                roles: [None; Core::ROLES],
                has_inner_stream: false,
                handshake_done: false,
                sender_may_wait: false,
                waiters: 0,
                drained: true,
                nonblocking: false,
                bytes_received: 0,
                unreported: 0,
                discarded: 0,
            }),
            changed: Condvar::new(),
            info: OnceBox::new(),
        }
    }

    pub fn set_limit(&self, limit: Option<Arc<Limit>>) -> Result<()> {
        self.lock()?.settings.limit = limit;
        Ok(())
    }

    pub fn set_read_timeout(&self, timeout: Option<Duration>) -> Result<()> {
        self.lock()?.settings.read_timeout = timeout;
        Ok(())
    }

    pub fn set_write_timeout(&self, timeout: Option<Duration>) -> Result<()> {
        self.lock()?.settings.write_timeout = timeout;
        Ok(())
    }

    pub fn set_blocking(&self, blocking: bool) -> Result<()> {
        self.lock()?.settings.blocking = blocking;
        Ok(())
    }

    /// Shakes hands, if that is not done.
    pub fn handshake(&self) -> Result<Io> {
        self.classified(|| {
            let mut call = Call::new(self);
            let settings = call.core_for_caller()?.settings.clone();
            let policy = settings.wait_policy();
            if !call.enter_handshake(policy, Core::check_reentry)? {
                return Ok(Io::Done(0));
            }
            Ok(call.do_handshake(policy)?.unwrap_or(Io::Done(0)))
        })
    }

    /// At least one byte, up to as many as are there.
    pub fn read(&self, buffer: &mut [u8]) -> Result<Io> {
        self.classified(|| {
            self.read_straight(buffer).unwrap_or_else(|| {
                let (mut call, settings) = Call::begin(self, Role::Reader)?;
                call.read(buffer, settings.wait_policy())
            })
        })
    }

    /// Blocking: all of `data`. Otherwise as much as could be sent; what is not counted must be passed again.
    pub fn write(&self, data: &[u8]) -> Result<Io> {
        self.classified(|| self.write_straight(data).unwrap_or_else(|| self.write_in_call(&[data])))
    }

    /// The same for data that is not in one piece. The lengths, added, fit a `usize`.
    pub fn write_pieces(&self, pieces: &[&[u8]]) -> Result<Io> {
        self.classified(|| self.write_in_call(pieces))
    }

    fn write_in_call(&self, pieces: &[&[u8]]) -> Result<Io> {
        let (mut call, settings) = Call::begin(self, Role::Writer)?;
        call.write(Pieces::new(pieces), settings.wait_policy())
    }

    /// Plaintext that a read returns without touching the transport.
    pub fn pending(&self) -> usize {
        self.lock().map_or(0, |mut core| core.engine.pending())
    }

    pub fn take_session(&self) -> Result<Option<SavedSession>> {
        self.classified(|| self.lock()?.engine.take_session())
    }

    pub fn set_session(&self, session: Option<&Arc<SavedSession>>) -> Result<()> {
        self.classified(|| Call::new(self).core_for_caller()?.engine.set_session(session))
    }

    /// What was agreed on; `None` before the handshake is done.
    pub fn negotiated(&self) -> Option<Negotiated> {
        Negotiated::of(&self.lock().ok()?.engine)
    }

    /// What was agreed on and is lent, such as names and certificates.
    pub fn session(&self) -> Option<&SessionInfo> {
        if self.info.get().is_none() {
            let info = SessionInfo::of(&self.lock().ok()?.engine)?;
            let _ = self.info.set(Box::new(info));
        }
        self.info.get()
    }

    pub fn ech_status(&self) -> EchStatus {
        self.lock().map_or(EchStatus::NotOffered, |core| core.engine.ech_status())
    }

    /// Every public call that can fail goes through here, so that its error gets the retry kind of the session. A
    /// stream inside this one uses another path ([`tls_over_tls`]), so that this stream's data does not count for it.
    #[inline(always)]
    fn classified<T>(&self, act: impl FnOnce() -> Result<T>) -> Result<T> {
        act().map_err(|error| self.classify(error))
    }

    #[cold]
    fn classify(&self, error: Error) -> Error {
        match self.lock() {
            Ok(core) => core.engine.classify(error),
            Err(_) => error.after_request_was_sent(),
        }
    }

    #[inline(always)]
    fn lock(&self) -> Result<MutexGuard<'_, Core>> {
        self.process.check_owner("stream")?;
        self.core.lock().map_err(|_| poisoned())
    }
}

#[cold]
fn poisoned() -> Error {
    Error::new(Status::Internal, "an earlier error inside netlib has left this stream unusable")
}

#[cfg(test)]
mod tests;
