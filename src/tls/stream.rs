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

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::RawFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock};
use std::time::Duration;

use rustls_pki_types::CertificateDer;

use super::context::Context;
use super::engine::{Engine, Read};
use super::names::{self, Version};
use super::pool::Filled;
use crate::error::{Error, Result};
use crate::limit::Limit;
use crate::socket::sys;
use crate::socket::wait::wait;
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
    alpn: OnceLock<CString>,
    peer_chain: OnceLock<Vec<CertificateDer<'static>>>,
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
        Ok(Stream::new(fd, Engine::client(context, server_hostname)?))
    }

    /// A server's side. No I/O.
    pub fn server(context: &Arc<Context>, fd: RawFd) -> Result<Stream> {
        Ok(Stream::new(fd, Engine::server(context)?))
    }

    fn new(fd: RawFd, engine: Engine) -> Stream {
        let settings = Settings { blocking: true, read_timeout: None, write_timeout: None, limit: None };
        Stream {
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
            alpn: OnceLock::new(),
            peer_chain: OnceLock::new(),
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

    pub fn version(&self) -> Option<Version> {
        let core = self.established()?;
        core.engine.session().state().protocol_version().and_then(Version::from_rustls)
    }

    pub fn cipher_suite(&self) -> Option<&'static CStr> {
        let core = self.established()?;
        core.engine.session().state().negotiated_cipher_suite().and_then(|suite| names::cipher_suite(suite.suite()))
    }

    pub fn alpn_protocol(&self) -> Option<&CStr> {
        if self.alpn.get().is_none() {
            let core = self.established()?;
            let protocol = core.engine.session().state().alpn_protocol()?.to_vec();
            drop(core);
            // A name with a NUL in it was not offered by this side, which only offers C strings.
            let _ = self.alpn.set(CString::new(protocol).ok()?);
        }
        self.alpn.get().map(CString::as_c_str)
    }

    /// The peer's chain, its own certificate first; empty when it has not sent one.
    pub fn peer_chain(&self) -> &[CertificateDer<'static>] {
        if self.peer_chain.get().is_none() {
            let Some(core) = self.established() else { return &[] };
            let chain = core.engine.session().state().peer_certificates().unwrap_or(&[]).to_vec();
            drop(core);
            let _ = self.peer_chain.set(chain);
        }
        self.peer_chain.get().map_or(&[], Vec::as_slice)
    }

    /// The state once the handshake is done, when what it agreed on is final.
    fn established(&self) -> Option<MutexGuard<'_, Core>> {
        self.lock().ok().filter(|core| !core.engine.is_handshaking())
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

    /// Makes sure of the handshake. `Some`: it is not done, and would have to wait.
    fn shake(&self) -> Result<Option<Io>> {
        let Some(_shaker) = self.enter_handshake()? else { return Ok(None) };
        loop {
            let (outcome, blocking) = {
                let mut core = self.lock()?;
                let outcome = core.engine.handshake();
                (outcome, core.settings.blocking)
            };
            let done = match outcome {
                Ok(done) => done,
                Err(error) => {
                    // The alert that tells the peer why.
                    let _ = self.flush(false);
                    return Err(error);
                }
            };
            match self.flush(blocking) {
                Ok(true) => {}
                Ok(false) => return Ok(Some(Io::WantWrite)),
                // A peer that is gone may have left something to read.
                Err(error) if error.status() == Status::Protocol && done => {}
                Err(error) if error.status() == Status::Protocol => {
                    let reason = self.last_words(error);
                    return Err(self.lock()?.engine.fail(reason));
                }
                Err(error) => return Err(error),
            }
            if done {
                self.lock()?.shaken = true;
                return Ok(None);
            }
            if !self.receive()? {
                return Ok(Some(Io::WantRead));
            }
        }
    }

    /// The right to shake hands, or `None` when there is no need to.
    fn enter_handshake(&self) -> Result<Option<Held<'_>>> {
        let mut core = self.lock()?;
        while core.is_taken(Role::Shaker) {
            if !core.settings.blocking {
                return Err(Error::new(Status::Busy, "another thread is shaking hands on this stream"));
            }
            core = self.glance(core)?;
        }
        if core.shaken {
            return Ok(None);
        }
        core.taken[Role::Shaker as usize] = true;
        Ok(Some(Held { stream: self, role: Role::Shaker }))
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

    /// The peer refused to take more: an alert that it sent before says why better than the broken pipe does.
    fn last_words(&self, error: Error) -> Error {
        // A flight of a server fits few buffers; whatever comes, this ends.
        for _ in 0..8 {
            let Ok(mut core) = self.lock() else { return error };
            match core.engine.handshake() {
                Err(reason) => return reason,
                Ok(true) => return error,
                Ok(false) => {}
            }
            let Ok(mut input) = core.engine.lend_input() else { return error };
            drop(core);
            let received = sys::recv(self.fd, input.space(), sys::DONT_WAIT);
            input.add(*received.as_ref().unwrap_or(&0));
            let Ok(mut core) = self.lock() else { return error };
            core.engine.take_back(input);
            if !received.is_ok_and(|count| count > 0) {
                return error;
            }
        }
        error
    }

    /// Brings in bytes, or the news that there will be no more. False: not without waiting, which is not wanted.
    fn receive(&self) -> Result<bool> {
        loop {
            let (settings, drained) = {
                let core = self.lock()?;
                (core.settings.clone(), core.drained)
            };
            if settings.blocking && drained {
                // Asking an empty socket costs a system call, and a buffer for as long as it stays empty.
                self.wait_for(sys::POLL_IN, settings.read_timeout, &settings, Status::ReadTimeout)?;
            } else if let Some(limit) = &settings.limit {
                limit.check()?;
            }
            let mut input = self.lock()?.engine.lend_input()?;
            let room = input.space().len();
            let received = sys::recv(self.fd, input.space(), sys::DONT_WAIT);
            let mut core = self.lock()?;
            match received {
                Ok(0) => {
                    core.engine.take_back(input);
                    core.engine.end_input();
                    return Ok(true);
                }
                Ok(count) => {
                    input.add(count);
                    core.drained = count < room;
                    core.engine.take_back(input);
                    return Ok(true);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    core.drained = true;
                    core.engine.take_back(input);
                    if !settings.blocking {
                        return Ok(false);
                    }
                }
                Err(error) => {
                    core.engine.take_back(input);
                    let error = self.transport_failure("receive from", &core.engine, &error);
                    return Err(if error.status() == Status::Protocol { core.engine.fail(error) } else { error });
                }
            }
        }
    }

    /// Sends what is queued. True: all of it. False: the rest would have to wait, which is not wanted.
    fn flush(&self, blocking: bool) -> Result<bool> {
        loop {
            let mut core = self.lock()?;
            while core.is_taken(Role::Sender) {
                if !blocking {
                    return Ok(false);
                }
                core = self.glance(core)?;
            }
            let Some((piece, settings, sender)) = self.begin_sending(core) else { return Ok(true) };
            if !self.send(piece, blocking, &settings, sender)? {
                return Ok(false);
            }
        }
    }

    /// What a reader has to send, as far as that goes without waiting, also for another sender.
    fn send_without_waiting(&self) -> Result<()> {
        loop {
            let core = self.lock()?;
            if core.is_taken(Role::Sender) || core.is_taken(Role::Writer) {
                return Ok(());
            }
            let Some((piece, settings, sender)) = self.begin_sending(core) else { return Ok(()) };
            // A failure is told to whoever writes next; what is read is not the worse for it.
            if !self.send(piece, false, &settings, sender).is_ok_and(|all| all) {
                return Ok(());
            }
        }
    }

    /// The next piece of output and the right to send it.
    fn begin_sending(&self, mut core: MutexGuard<'_, Core>) -> Option<(Filled, Settings, Held<'_>)> {
        let piece = core.engine.next_output()?;
        core.taken[Role::Sender as usize] = true;
        Some((piece, core.settings.clone(), Held { stream: self, role: Role::Sender }))
    }

    /// Sends one piece of output; what is left of it goes back to the front of the queue. True: nothing is.
    fn send(&self, mut piece: Filled, blocking: bool, settings: &Settings, sender: Held<'_>) -> Result<bool> {
        let outcome = self.send_piece(&mut piece, blocking, settings);
        if !piece.is_empty() {
            let mut core = self.lock()?;
            if core.engine.may_send() {
                core.engine.return_output(piece);
            }
        }
        drop(sender);
        outcome
    }

    fn send_piece(&self, piece: &mut Filled, blocking: bool, settings: &Settings) -> Result<bool> {
        while !piece.is_empty() {
            if let (true, Some(limit)) = (blocking, &settings.limit) {
                limit.check()?;
            }
            match sys::send(self.fd, piece.bytes(), sys::DONT_WAIT) {
                Ok(0) => return Err(Error::new(Status::Io, "the descriptor takes no bytes: it is no stream socket")),
                Ok(count) => piece.consume(count),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if !blocking {
                        return Ok(false);
                    }
                    self.wait_for(sys::POLL_OUT, settings.write_timeout, settings, Status::WriteTimeout)?;
                }
                Err(error) => {
                    let mut core = self.lock()?;
                    let error = self.transport_failure("send to", &core.engine, &error);
                    let broken = error.status() == Status::Protocol;
                    return Err(if broken { core.engine.fail_sending(error) } else { error });
                }
            }
        }
        Ok(true)
    }

    fn wait_for(&self, events: i16, timeout: Option<Duration>, settings: &Settings, late: Status) -> Result<()> {
        if wait(self.fd, events, timeout, settings.limit.as_deref())? {
            return Ok(());
        }
        let seconds = timeout.unwrap_or_default().as_secs_f64();
        let core = self.lock()?;
        let shaking = if core.engine.is_handshaking() { " during the TLS handshake" } else { "" };
        let what = match late {
            Status::ReadTimeout => format!("nothing came from {} for {seconds} s{shaking}", core.engine.peer()),
            _ => format!("nothing could be sent to {} for {seconds} s{shaking}", core.engine.peer()),
        };
        Err(Error::new(late, what))
    }

    /// A failed system call: the connection's end is the peer's or the network's doing, anything else the program's.
    fn transport_failure(&self, what: &str, engine: &Engine, error: &io::Error) -> Error {
        let broken = [
            libc::ECONNRESET,
            libc::EPIPE,
            libc::ECONNABORTED,
            libc::ECONNREFUSED,
            libc::ETIMEDOUT,
            libc::ENETDOWN,
            libc::ENETRESET,
            libc::ENETUNREACH,
            libc::EHOSTDOWN,
            libc::EHOSTUNREACH,
        ];
        let status = if error.raw_os_error().is_some_and(|errno| broken.contains(&errno)) {
            Status::Protocol
        } else {
            Status::Io
        };
        let shaking = if engine.is_handshaking() { " during the TLS handshake" } else { "" };
        Error::from_io(status, format!("cannot {what} {}{shaking}", engine.peer()), error)
    }
}

fn poisoned() -> Error {
    Error::new(Status::Internal, "an earlier error inside netlib has left this stream unusable")
}
