//! Runs a TLS session on a transport, with blocking calls, timeouts and limits, and with one reading and one writing
//! thread at the same time.
//!
//! One mutex protects the session's state. The mutex is never held during a system call or a callback ([`Call`]):
//! - A reader takes the input buffer out of the engine, receives bytes into the buffer, and returns the buffer.
//! - A sender takes the first buffer out of the output queue. The sender keeps the sender role until the buffer is sent
//!   or back at the front of the queue, so records are sent whole and in order.
//! - One thread performs the handshake; other threads that need the handshake wait.
//!
//! A reader that has to send an alert or the answer to a key update does not wait until the bytes are sent. The reader
//! sends nothing while there is a writer, because a writer also sends the queued output. If readers waited for room in
//! the socket's send buffer, both peers could wait for each other forever.
//!
//! With TLS over TLS, the settings of the stream that the application calls apply to all streams below it. The settings
//! are passed down as a [`wait_policy::WaitPolicy`].

mod call;
mod callbacks;
mod dropped;
mod early_data;
mod exchange;
mod fault;
mod gather;
mod handshake;
mod minimum_throughput;
mod shutdown;
mod transfer;
mod transport;
mod wait_policy;

use std::os::fd::RawFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

use once_cell::race::OnceBox;

use crate::error::{Error, Result};
use crate::fork::Process;
use crate::limit::Limit;
use crate::socket::throughput::Throughput;
use crate::status::Status;
use crate::tls::config::EchStatus;
use crate::tls::context::Context;
use crate::tls::io::Io;
use crate::tls::per_thread::ThreadId;
use crate::tls::session::{Engine, Negotiated, SavedSession, SessionInfo};

use call::{Call, Role};
pub use callbacks::Callbacks;
use gather::Pieces;
pub use transport::Transport;
use wait_policy::{DEFAULT_SETTINGS, Settings};

/// A TLS stream. One thread may read while another thread writes.
pub struct Stream {
    /// The process that created the stream. A forked child must not use its keys or wait for its lock.
    process: Process,
    transport: Transport,
    state: Mutex<StreamState>,
    /// The condition variable that is notified when a role is released.
    changed: Condvar,
    info: OnceBox<SessionInfo>,
    /// Whether a call may invoke a callback: a transport callback, or a callback that is set on the context of this
    /// stream or of a stream below.
    may_call_back: bool,
}

struct StreamState {
    engine: Engine,
    settings: Settings,
    /// The minimum throughput of the application's reads.
    throughput: Option<Box<Throughput>>,
    /// The thread that holds each [`Role`].
    roles: [Option<ThreadId>; StreamState::ROLES],
    /// Another stream uses this stream as its transport.
    has_inner_stream: bool,
    /// The handshake is complete and its last flight is sent.
    handshake_done: bool,
    /// Whether the current sender or its transport may wait. Meaningless while the sender is the writer or performs the
    /// handshake, because no other thread reads the value then.
    sender_may_wait: bool,
    /// The number of threads that wait for a role.
    waiters: usize,
    /// The bytes that were received last did not fill the buffer, so the socket is probably empty.
    drained: bool,
    /// A recv(2) that should block returned EAGAIN, so the descriptor has O_NONBLOCK.
    nonblocking: bool,
    /// The number of bytes received from the transport.
    bytes_received: u64,
    /// The number of plaintext bytes that are encrypted but not yet reported as written. The writer passes these bytes
    /// again in its next call.
    unreported: usize,
    /// The number of plaintext bytes discarded while waiting for the peer's close_notify.
    discarded: usize,
}

impl StreamState {
    const ROLES: usize = 4;

    fn is_held(&self, role: Role) -> bool {
        self.roles[role as usize].is_some()
    }

    fn is_in_use(&self) -> bool {
        self.roles.iter().any(Option::is_some)
    }

    /// Fails if another stream uses this stream as its transport, or if the call comes from a callback of this stream.
    #[inline(always)]
    fn check_reentry(&self) -> Result<()> {
        self.check_no_inner_stream()?;
        if self.is_in_use() && self.roles.contains(&Some(ThreadId::current())) {
            let message =
                "this thread is already in a call of this stream: a callback must not use the stream that calls it";
            return Err(Error::new(Status::Busy, message));
        }
        Ok(())
    }

    fn check_no_inner_stream(&self) -> Result<()> {
        if self.has_inner_stream {
            let message = "another stream uses this one as its transport: use that stream, or free it first";
            return Err(Error::new(Status::Busy, message));
        }
        Ok(())
    }
}

impl Stream {
    /// Creates a client stream on a descriptor. Performs no I/O.
    pub fn client(context: &Arc<Context>, fd: RawFd, server_hostname: Option<&str>) -> Result<Stream> {
        Stream::client_over(context, Transport::descriptor(fd)?, server_hostname)
    }

    /// Creates a server stream on a descriptor. Performs no I/O.
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

    /// Returns whether a call on this stream may invoke a callback.
    pub fn may_call_back(&self) -> bool {
        self.may_call_back
    }

    fn new(transport: Transport, engine: Engine) -> Stream {
        Stream {
            process: Process::current(),
            may_call_back: transport.may_call_back() || engine.may_call_back(),
            transport,
            state: Mutex::new(StreamState {
                engine,
                settings: DEFAULT_SETTINGS.clone(),
                throughput: None,
                roles: [None; StreamState::ROLES],
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

    /// Performs the handshake, unless it is done.
    pub fn handshake(&self) -> Result<Io> {
        self.classified(|| {
            let mut call = Call::new(self);
            let settings = call.state_for_caller()?.settings.clone();
            let policy = settings.wait_policy();
            if !call.enter_handshake(policy, StreamState::check_reentry)? {
                return Ok(Io::Done(0));
            }
            Ok(call.do_handshake(policy)?.unwrap_or(Io::Done(0)))
        })
    }

    /// Reads at least one byte, and as many as are available and fit.
    pub fn read(&self, buffer: &mut [u8]) -> Result<Io> {
        self.classified(|| {
            let (mut call, settings) = Call::begin(self, Role::Reader)?;
            call.read(buffer, settings.wait_policy())
        })
    }

    /// Writes all of `data` if the stream is blocking, otherwise as much as can be sent. Bytes that are not reported as
    /// written must be passed again in the next call.
    pub fn write(&self, data: &[u8]) -> Result<Io> {
        self.write_pieces(&[data])
    }

    /// Writes data in several pieces, like [`Stream::write`]. The sum of the lengths of all pieces must fit in a
    /// `usize`.
    pub fn write_pieces(&self, pieces: &[&[u8]]) -> Result<Io> {
        self.classified(|| {
            let (mut call, settings) = Call::begin(self, Role::Writer)?;
            call.write(Pieces::new(pieces), settings.wait_policy())
        })
    }

    /// Returns the number of plaintext bytes that a read returns without using the transport.
    pub fn pending(&self) -> usize {
        self.lock().map_or(0, |mut state| state.engine.pending())
    }

    pub fn take_session(&self) -> Result<Option<SavedSession>> {
        self.classified(|| self.lock()?.engine.take_session())
    }

    pub fn set_session(&self, session: Option<&Arc<SavedSession>>) -> Result<()> {
        self.classified(|| Call::new(self).state_for_caller()?.engine.set_session(session))
    }

    /// Returns the negotiated parameters; `None` before the handshake is done.
    pub fn negotiated(&self) -> Option<Negotiated> {
        Negotiated::of(&self.lock().ok()?.engine)
    }

    /// Returns the negotiated parameters that callers borrow, such as names and certificates.
    pub fn session(&self) -> Option<&SessionInfo> {
        if self.info.get().is_none() {
            let info = SessionInfo::of(&self.lock().ok()?.engine)?;
            let _ = self.info.set(Box::new(info));
        }
        self.info.get()
    }

    pub fn ech_status(&self) -> EchStatus {
        self.lock().map_or(EchStatus::NotOffered, |state| state.engine.ech_status())
    }

    /// Runs a public call and sets the retry kind of its error from the state of this session. A stream inside this
    /// stream calls other functions ([`transport`]), because only the application data of that inner stream determines
    /// the retry kind of its errors.
    #[inline(always)]
    fn classified<T>(&self, act: impl FnOnce() -> Result<T>) -> Result<T> {
        act().map_err(|error| self.classify(error))
    }

    #[cold]
    fn classify(&self, error: Error) -> Error {
        match self.lock() {
            Ok(state) => state.engine.classify(error),
            Err(_) => error.after_request_was_sent(),
        }
    }

    #[inline(always)]
    fn lock(&self) -> Result<MutexGuard<'_, StreamState>> {
        self.process.check_owner("stream")?;
        self.state.lock().map_err(|_| poisoned())
    }
}

#[cold]
fn poisoned() -> Error {
    Error::new(Status::Internal, "an earlier error inside netlib has left this stream unusable")
}

#[cfg(test)]
mod tests;
