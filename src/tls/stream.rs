//! A session on a descriptor: waiting, limits, and two threads at once.
//!
//! The session's state is behind one mutex that is held for computing only, never across a system call:
//! - Whoever reads takes the input buffer out of the engine, receives into it, and gives it back.
//! - Whoever sends takes the next piece of output out and is *the* sender until it is sent or given back to the front of
//!   the queue, so that records leave whole and in the order in which they were made.
//! - One thread shakes hands; another one that needs the handshake waits for it.
//!
//! What a reading thread has to send (an alert, an answer to a key update) it sends without waiting, and only while no
//! writer is at work, who would send it anyway: a reader that waited for room could keep both sides waiting for ever.

mod handshake;
mod transport;

use std::os::fd::RawFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock};
use std::time::Duration;

use super::context::Context;
use super::engine::{Engine, Read};
use super::info::SessionInfo;
use crate::error::{Error, Result};
use crate::limit::Limit;
use crate::socket::sys;
use crate::status::Status;

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
    fd: RawFd,
    core: Mutex<Core>,
    /// A role was given up.
    changed: Condvar,
    info: OnceLock<SessionInfo>,
}

struct Core {
    engine: Engine,
    settings: Settings,
    /// Who is at work: [`Role`]s.
    taken: [bool; 4],
    /// The handshake is done and its last flight sent.
    shaken: bool,
    /// How many threads wait for a role to be given up.
    waiting: usize,
    /// The last receive did not fill its buffer: there is probably nothing there yet.
    drained: bool,
    /// Plaintext that was encrypted but not yet counted to the writer, who passes the same bytes again.
    uncounted: usize,
}

#[derive(Clone)]
struct Settings {
    blocking: bool,
    read_timeout: Option<Duration>,
    write_timeout: Option<Duration>,
    limit: Option<Arc<Limit>>,
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
            core.taken[self.role as usize] = false;
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
        self.taken[role as usize]
    }
}

impl Stream {
    /// A client's side. No I/O.
    pub fn client(context: &Arc<Context>, fd: RawFd, server_hostname: Option<&str>) -> Result<Stream> {
        Stream::new(fd, Engine::client(context, server_hostname)?)
    }

    /// A server's side. No I/O.
    pub fn server(context: &Arc<Context>, fd: RawFd) -> Result<Stream> {
        Stream::new(fd, Engine::server(context)?)
    }

    fn new(fd: RawFd, engine: Engine) -> Result<Stream> {
        if sys::is_listening(fd) {
            let message = format!("fd {fd} is a listening socket: pass a connected one, such as accept(2) gives");
            return Err(Error::new(Status::InvalidArgument, message));
        }
        let settings = Settings { blocking: true, read_timeout: None, write_timeout: None, limit: None };
        Ok(Stream {
            fd,
            core: Mutex::new(Core {
                engine,
                settings,
                taken: [false; 4],
                shaken: false,
                waiting: 0,
                drained: true,
                uncounted: 0,
            }),
            changed: Condvar::new(),
            info: OnceLock::new(),
        })
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
        Ok(self.shake()?.unwrap_or(Io::Done(0)))
    }

    /// At least one byte, up to as many as are there.
    pub fn read(&self, buffer: &mut [u8]) -> Result<Io> {
        let _reader = self.enter(Role::Reader)?;
        if buffer.is_empty() {
            return Ok(Io::Done(0));
        }
        if let Some(want) = self.shake()? {
            return Ok(want);
        }
        loop {
            let outcome = {
                let mut core = self.lock()?;
                let outcome = core.engine.read(buffer);
                if core.engine.has_output() {
                    drop(core);
                    self.send_without_waiting()?;
                }
                outcome?
            };
            match outcome {
                Read::Data(count) => return Ok(Io::Done(count)),
                Read::End => return Ok(Io::End),
                Read::Blocked => {}
            }
            if !self.receive()? {
                return Ok(Io::WantRead);
            }
        }
    }

    /// Blocking: all of `data`. Otherwise as much as could be sent; what is not counted must be passed again.
    pub fn write(&self, data: &[u8]) -> Result<Io> {
        self.as_writer(|| {
            self.lock()?.engine.check_sending()?;
            if let Some(want) = self.shake()? {
                return Ok(want);
            }
            let (blocking, uncounted) = {
                let core = self.lock()?;
                (core.settings.blocking, core.uncounted)
            };
            if data.len() < uncounted {
                let message = format!(
                    "a write must be continued with the bytes that were not counted: at least {uncounted}, not {}",
                    data.len()
                );
                return Err(Error::new(Status::InvalidArgument, message));
            }
            self.write_on(data, blocking)
        })
    }

    fn write_on(&self, data: &[u8], blocking: bool) -> Result<Io> {
        let mut counted = 0;
        loop {
            match self.flush(blocking) {
                Ok(true) => {
                    let mut core = self.lock()?;
                    counted += std::mem::take(&mut core.uncounted);
                    let rest = data.get(counted..).unwrap_or(&[]);
                    if rest.is_empty() && counted > 0 {
                        return Ok(Io::Done(counted));
                    }
                    core.uncounted = core.engine.write(rest)?;
                    if rest.is_empty() {
                        return Ok(Io::Done(0));
                    }
                }
                Ok(false) => return Ok(if counted > 0 { Io::Done(counted) } else { Io::WantWrite }),
                Err(error) => {
                    // The caller learns of no byte, so he passes all of them again, if he goes on.
                    self.lock()?.uncounted += counted;
                    return Err(error);
                }
            }
        }
    }

    /// Sends the closing message, once, and does not wait for the peer's.
    pub fn shutdown(&self) -> Result<Io> {
        self.as_writer(|| {
            let blocking = {
                let mut core = self.lock()?;
                core.engine.close()?;
                core.settings.blocking
            };
            match self.flush(blocking) {
                Ok(true) => Ok(Io::Done(0)),
                Ok(false) => Ok(Io::WantWrite),
                // A peer that has said all it had to say need not wait for our last word.
                Err(error) if error.status() == Status::Protocol && self.lock()?.engine.has_peer_closed() => {
                    Ok(Io::Done(0))
                }
                Err(error) => Err(error),
            }
        })
    }

    /// Runs a call of the one writer.
    fn as_writer(&self, call: impl FnOnce() -> Result<Io>) -> Result<Io> {
        let writer = self.enter(Role::Writer)?;
        let outcome = call();
        drop(writer);
        // What a reader left to the writer when that had just looked for it.
        let core = self.lock()?;
        if core.uncounted == 0 && core.engine.has_output() {
            drop(core);
            self.send_without_waiting()?;
        }
        outcome
    }

    /// Plaintext that a read returns without touching the descriptor.
    pub fn pending(&self) -> usize {
        self.lock().map_or(0, |mut core| core.engine.pending())
    }

    /// What was agreed on; `None` before the handshake is done.
    pub fn session(&self) -> Option<&SessionInfo> {
        if self.info.get().is_none() {
            let info = SessionInfo::of(&self.lock().ok()?.engine)?;
            let _ = self.info.set(info);
        }
        self.info.get()
    }

    fn lock(&self) -> Result<MutexGuard<'_, Core>> {
        self.core.lock().map_err(|_| poisoned())
    }

    /// Takes a role that only one thread may have.
    fn enter(&self, role: Role) -> Result<Held<'_>> {
        let mut core = self.lock()?;
        if core.is_taken(role) {
            let what = if matches!(role, Role::Reader) { "reading from" } else { "writing to" };
            return Err(Error::new(Status::Busy, format!("another thread is {what} this stream")));
        }
        core.taken[role as usize] = true;
        Ok(Held { stream: self, role })
    }

    /// Waits a little for a role to be given up, or for the limit to end that.
    fn glance<'a>(&self, mut core: MutexGuard<'a, Core>) -> Result<MutexGuard<'a, Core>> {
        if let Some(limit) = &core.settings.limit {
            limit.check()?;
        }
        core.waiting += 1;
        let mut core = self.changed.wait_timeout(core, GLANCE).map_err(|_| poisoned())?.0;
        core.waiting -= 1;
        Ok(core)
    }
}

fn poisoned() -> Error {
    Error::new(Status::Internal, "an earlier error inside netlib has left this stream unusable")
}
