//! A session on a transport: waiting, limits, and two threads at once.
//!
//! The session's state is behind one mutex that is held for computing only, never while the transport is at work:
//! - Whoever reads takes the input buffer out of the engine, receives into it, and gives it back.
//! - Whoever sends takes the next piece of output out and is *the* sender until it is sent or given back to the front of
//!   the queue, so that records leave whole and in the order in which they were made.
//! - One thread shakes hands; another one that needs the handshake waits for it.
//!
//! What a reading thread has to send (an alert, an answer to a key update) it sends without waiting, and only while no
//! writer is at work, who would send it anyway: a reader that waited for room could keep both sides waiting for ever.
//!
//! The settings of the stream that the program calls rule the call in all the streams below it: they are handed down as
//! [`Terms`].

mod callbacks;
mod closing;
mod dropped;
mod early;
mod exchange;
mod gather;
mod guarded;
mod handshake;
mod nested;
mod transport;

use std::os::fd::RawFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock};
use std::time::{Duration, Instant};

use super::context::Context;
use super::ech::EchStatus;
use super::engine::{Engine, Read};
use super::info::SessionInfo;
use super::sessions::SavedSession;
use super::thread::ThreadMark;
use crate::error::{Error, Result};
use crate::limit::Limit;
use crate::socket::throughput::Throughput;
use crate::status::Status;

pub use callbacks::Callbacks;
use gather::Pieces;
pub use transport::Transport;

/// How often a thread that waits for another's work looks at its limit.
const GLANCE: Duration = Duration::from_millis(10);

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
    transport: Transport,
    core: Mutex<Core>,
    /// A role was given up.
    changed: Condvar,
    info: OnceLock<Box<SessionInfo>>,
}

struct Core {
    engine: Engine,
    settings: Settings,
    /// The least that reads of the program must bring.
    throughput: Option<Box<Throughput>>,
    /// Who is at work: the thread in each of the [`Role`]s, if any.
    taken: [Option<ThreadMark>; 4],
    /// Another stream runs inside this one.
    occupied: bool,
    /// The handshake is done and its last flight sent.
    shaken: bool,
    /// How many threads wait for a role to be given up.
    waiting: usize,
    /// The last receive did not fill its buffer: there is probably nothing there yet.
    drained: bool,
    /// The descriptor does not block: a receive that might have waited for ever did not.
    nonblocking: bool,
    /// How many bytes of records have come.
    arrived: u64,
    /// Plaintext that was encrypted but not yet counted to the writer, who passes the same bytes again.
    uncounted: usize,
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
struct Terms<'a> {
    blocking: bool,
    settings: &'a Settings,
    /// The stream's own minimum throughput counts.
    is_guarded: bool,
    /// When what is waited for comes too slowly.
    slow_at: Option<Instant>,
}

impl Settings {
    fn terms(&self) -> Terms<'_> {
        Terms { blocking: self.blocking, settings: self, is_guarded: true, slow_at: None }
    }
}

impl Terms<'_> {
    /// The same without waiting.
    fn at_once(self) -> Self {
        Terms { blocking: false, ..self }
    }

    /// Nothing is to end a wait but what is waited for.
    fn is_endless(self) -> bool {
        let Settings { read_timeout, limit, .. } = self.settings;
        self.blocking && read_timeout.is_none() && limit.is_none() && self.slow_at.is_none()
    }

    fn check_limit(self) -> Result<()> {
        self.settings.limit.as_ref().map_or(Ok(()), |limit| limit.check())
    }
}

#[derive(Clone, Copy, Debug)]
enum Role {
    Reader = 0,
    Writer = 1,
    Shaker = 2,
    Sender = 3,
}

/// A role that is held; given up when dropped.
struct Held<'a> {
    stream: &'a Stream,
    role: Role,
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        if let Ok(mut core) = self.stream.core.lock() {
            core.taken[self.role as usize] = None;
            // Waking costs a system call even when nobody sleeps.
            if core.waiting == 0 {
                return;
            }
        }
        self.stream.changed.notify_all();
    }
}

impl Core {
    fn is_taken(&self, role: Role) -> bool {
        self.taken[role as usize].is_some()
    }

    fn is_anyone_at_work(&self) -> bool {
        self.taken.iter().any(Option::is_some)
    }

    /// Refuses the program's calls while another stream runs inside this one, or from a callback of this one.
    fn check_callable(&self) -> Result<()> {
        self.check_unoccupied()?;
        if self.is_anyone_at_work() && self.taken.contains(&Some(ThreadMark::here())) {
            let message = "this stream is at work on this thread: a callback must not use the stream that calls it";
            return Err(Error::new(Status::Busy, message));
        }
        Ok(())
    }

    fn check_unoccupied(&self) -> Result<()> {
        if self.occupied {
            let message = "another stream runs inside this one: use that, or free it first";
            return Err(Error::new(Status::Busy, message));
        }
        Ok(())
    }
}

/// The lock to go on with, or what would have to be waited for.
type Locked<'a> = std::result::Result<MutexGuard<'a, Core>, Io>;

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

    fn new(transport: Transport, engine: Engine) -> Stream {
        let settings = Settings { blocking: true, read_timeout: None, write_timeout: None, limit: None };
        Stream {
            transport,
            core: Mutex::new(Core {
                engine,
                settings,
                throughput: None,
                taken: [None; 4],
                occupied: false,
                shaken: false,
                waiting: 0,
                drained: true,
                nonblocking: false,
                arrived: 0,
                uncounted: 0,
                discarded: 0,
            }),
            changed: Condvar::new(),
            info: OnceLock::new(),
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
        let settings = self.callable()?.settings.clone();
        let terms = settings.terms();
        let shaker = self.enter_handshake(terms, Core::check_callable)?;
        Ok(self.shake_as(shaker, terms)?.unwrap_or(Io::Done(0)))
    }

    /// At least one byte, up to as many as are there.
    pub fn read(&self, buffer: &mut [u8]) -> Result<Io> {
        let (_reader, settings) = self.begin(Role::Reader)?;
        self.read_under(buffer, settings.terms())
    }

    fn read_under(&self, buffer: &mut [u8], terms: Terms<'_>) -> Result<Io> {
        if buffer.is_empty() {
            return Ok(Io::Done(0));
        }
        let mut received = false;
        loop {
            let outcome = {
                let mut core = match self.shaken(self.lock()?, terms)? {
                    Ok(core) => core,
                    Err(want) => return Ok(want),
                };
                let outcome = core.engine.read(buffer);
                if let Ok(Read::Data(count)) = outcome {
                    core.count_plaintext(count, terms);
                }
                if core.engine.has_output() {
                    drop(core);
                    self.send_without_waiting(terms)?;
                }
                outcome?
            };
            match outcome {
                Read::Data(count) => return Ok(Io::Done(count)),
                Read::End => return Ok(Io::End),
                Read::Blocked if received => terms.check_throughput()?,
                Read::Blocked => {}
            }
            if let Some(want) = self.receive(terms)? {
                return Ok(want);
            }
            received = true;
        }
    }

    /// Blocking: all of `data`. Otherwise as much as could be sent; what is not counted must be passed again.
    pub fn write(&self, data: &[u8]) -> Result<Io> {
        self.write_pieces(&[data])
    }

    /// The same for data that is not in one piece. The lengths, added, fit a `usize`.
    pub fn write_pieces(&self, pieces: &[&[u8]]) -> Result<Io> {
        let (writer, settings) = self.begin(Role::Writer)?;
        self.write_under(Pieces::new(pieces), settings.terms(), writer)
    }

    fn write_under(&self, data: Pieces<'_>, terms: Terms<'_>, writer: Held<'_>) -> Result<Io> {
        self.as_writer(writer, terms, || {
            let core = self.lock()?;
            core.engine.check_sending()?;
            let core = match self.shaken(core, terms)? {
                Ok(core) => core,
                Err(want) => return Ok(want),
            };
            let (uncounted, len) = (core.uncounted, data.len());
            if len < uncounted {
                let message = format!(
                    "a write must be continued with the bytes that were not counted: at least {uncounted}, not {len}"
                );
                return Err(Error::new(Status::InvalidArgument, message));
            }
            self.write_on(core, data, terms)
        })
    }

    fn write_on<'a>(&'a self, core: MutexGuard<'a, Core>, mut data: Pieces<'_>, terms: Terms<'_>) -> Result<Io> {
        let mut counted = 0;
        match self.write_all(core, &mut data, &mut counted, terms) {
            Ok(Some(want)) if counted == 0 => Ok(want),
            Ok(_) => Ok(Io::Done(counted)),
            Err(error) => {
                // The caller learns of no byte, so he passes all of them again, if he goes on.
                self.lock()?.uncounted += counted;
                Err(error)
            }
        }
    }

    /// `None`: nothing is left of `data`. `Some`: the rest would have to wait.
    fn write_all<'a>(
        &'a self,
        mut core: MutexGuard<'a, Core>,
        data: &mut Pieces<'_>,
        counted: &mut usize,
        terms: Terms<'_>,
    ) -> Result<Option<Io>> {
        let mut gathered = None;
        loop {
            core = match self.flush_in(core, terms)? {
                Ok(core) => core,
                Err(want) => return Ok(Some(want)),
            };
            let sent = std::mem::take(&mut core.uncounted);
            *counted += sent;
            data.advance(sent);
            if data.is_empty() {
                return Ok(None);
            }
            let next = data.front(&mut gathered, || core.engine.buffer())?;
            core.uncounted = core.engine.write(next)?;
        }
    }

    /// Runs a call of the one writer.
    fn as_writer<T>(&self, writer: Held<'_>, terms: Terms<'_>, call: impl FnOnce() -> Result<T>) -> Result<T> {
        let outcome = call();
        drop(writer);
        // What a reader left to the writer when that had just looked for it.
        let core = self.lock()?;
        if core.uncounted == 0 && core.engine.has_output() {
            drop(core);
            self.send_without_waiting(terms)?;
        }
        outcome
    }

    /// Plaintext that a read returns without touching the transport.
    pub fn pending(&self) -> usize {
        self.lock().map_or(0, |mut core| core.engine.pending())
    }

    pub fn take_session(&self) -> Result<Option<SavedSession>> {
        self.lock()?.engine.take_session()
    }

    pub fn set_session(&self, session: &Arc<SavedSession>) -> Result<()> {
        self.callable()?.engine.set_session(session)
    }

    /// What was agreed on; `None` before the handshake is done.
    pub fn session(&self) -> Option<&SessionInfo> {
        if self.info.get().is_none() {
            let info = SessionInfo::of(&self.lock().ok()?.engine)?;
            let _ = self.info.set(Box::new(info));
        }
        self.info.get().map(Box::as_ref)
    }

    pub fn ech_status(&self) -> EchStatus {
        self.lock().map_or(EchStatus::NotOffered, |core| core.engine.ech_status())
    }

    /// Goes on with the lock once the handshake is done.
    fn shaken<'a>(&'a self, core: MutexGuard<'a, Core>, terms: Terms<'_>) -> Result<Locked<'a>> {
        if core.shaken {
            return Ok(Ok(core));
        }
        drop(core);
        match self.shake(terms)? {
            Some(want) => Ok(Err(want)),
            None => Ok(Ok(self.lock()?)),
        }
    }

    fn lock(&self) -> Result<MutexGuard<'_, Core>> {
        self.core.lock().map_err(|_| poisoned())
    }

    /// The state, for a call of the program.
    fn callable(&self) -> Result<MutexGuard<'_, Core>> {
        let core = self.lock()?;
        core.check_callable()?;
        Ok(core)
    }

    /// Begins a call of the program: the role that it needs, and the settings under which it runs.
    fn begin(&self, role: Role) -> Result<(Held<'_>, Settings)> {
        let core = self.callable()?;
        let settings = core.settings.clone();
        Ok((self.take_in(core, role)?, settings))
    }

    /// Takes a role that only one thread may have.
    fn take(&self, role: Role) -> Result<Held<'_>> {
        self.take_in(self.lock()?, role)
    }

    fn take_in(&self, mut core: MutexGuard<'_, Core>, role: Role) -> Result<Held<'_>> {
        if core.is_taken(role) {
            let what = if matches!(role, Role::Reader) { "reading from" } else { "writing to" };
            return Err(Error::new(Status::Busy, format!("another thread is {what} this stream")));
        }
        core.taken[role as usize] = Some(ThreadMark::here());
        Ok(Held { stream: self, role })
    }

    /// Waits a little for a role to be given up, or for the limit to end that.
    fn glance<'a>(&self, mut core: MutexGuard<'a, Core>, terms: Terms<'_>) -> Result<MutexGuard<'a, Core>> {
        terms.check_limit()?;
        core.waiting += 1;
        let mut core = self.changed.wait_timeout(core, GLANCE).map_err(|_| poisoned())?.0;
        core.waiting -= 1;
        Ok(core)
    }
}

fn poisoned() -> Error {
    Error::new(Status::Internal, "an earlier error inside netlib has left this stream unusable")
}
