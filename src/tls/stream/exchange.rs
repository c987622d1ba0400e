//! Moving bytes between a stream's engine and its transport, which works without the stream's lock.

use std::io;
use std::sync::{Arc, MutexGuard};
use std::time::Duration;

use super::guarded::too_slow;
use super::transport::{Fault, Waiting};
use super::{Core, Held, Io, Locked, Role, Stream, Terms};
use crate::error::{Error, Result};
use crate::status::Status;
use crate::tls::engine::Engine;
use crate::tls::pool::Filled;
use crate::tls::thread::ThreadMark;

impl Stream {
    /// Brings in bytes, or the news that there will be no more. `Some`: not without waiting, which is not wanted.
    pub(super) fn receive(&self, terms: Terms<'_>) -> Result<Option<Io>> {
        loop {
            let mut core = self.lock()?;
            let terms = core.begin_wait(terms)?;
            let waits_inside = self.transport.may_block() && terms.is_endless() && !core.nonblocking;
            let waiting = if waits_inside { Waiting::Inside } else { Waiting::Before };
            if waiting == Waiting::Before {
                let drained = core.drained;
                drop(core);
                match self.transport.await_input(drained, terms) {
                    Ok(None) => core = self.lock()?,
                    Ok(want) => {
                        self.lock()?.wait_on(terms)?;
                        return Ok(want);
                    }
                    Err(fault) => return self.not_received(fault, terms),
                }
            }
            let lent = core.engine.lend_input();
            drop(core);
            let mut input = match lent {
                Ok(input) => input,
                Err(error) => {
                    // The alert that tells the peer why.
                    let _ = self.send_without_waiting(terms);
                    return Err(error);
                }
            };
            let room = input.space().len();
            let received = self.transport.receive(input.space(), terms, waiting);
            if let Ok(Io::Done(count)) = received {
                input.add(count);
            }
            let mut core = self.lock()?;
            core.engine.take_back(input);
            match received {
                Ok(Io::Done(count)) => {
                    core.drained = count < room;
                    core.end_wait(count, terms);
                    return Ok(None);
                }
                Ok(Io::End) => {
                    core.end_wait(0, terms);
                    core.engine.end_input();
                    return Ok(None);
                }
                Ok(want) => {
                    core.drained = true;
                    core.nonblocking |= waiting == Waiting::Inside;
                    if !terms.blocking || !self.transport.can_wait() {
                        core.wait_on(terms)?;
                        return Ok(Some(want));
                    }
                }
                Err(fault) => {
                    drop(core);
                    return self.not_received(fault, terms);
                }
            }
        }
    }

    fn not_received(&self, fault: Fault, terms: Terms<'_>) -> Result<Option<Io>> {
        let is_fatal = matches!(fault, Fault::Fatal(_));
        let mut core = self.lock()?;
        if let Some(slow) = core.end_wait_by(&fault, terms) {
            return Err(slow);
        }
        let error = explain("receive from", &core.engine, fault, terms);
        if error.status() == Status::TlsTruncated {
            // Of the stream below: this one may have been closed properly before.
            core.engine.end_input_because(error);
            return Ok(None);
        }
        Err(if is_fatal || is_broken(&error) { core.engine.fail(error) } else { error })
    }

    /// Sends what is queued. `None`: all of it. `Some`: the rest would have to wait, which is not wanted.
    pub(super) fn flush(&self, terms: Terms<'_>) -> Result<Option<Io>> {
        Ok(self.flush_in(self.lock()?, terms)?.err())
    }

    /// The same for who has the lock. Whoever goes on with it finds nothing to send.
    pub(super) fn flush_in<'a>(&'a self, mut core: MutexGuard<'a, Core>, terms: Terms<'_>) -> Result<Locked<'a>> {
        loop {
            while core.is_taken(Role::Sender) {
                if !terms.blocking {
                    return Ok(Err(Io::WantWrite));
                }
                core = self.glance(core, terms)?;
            }
            let Some((piece, sender)) = self.begin_sending(&mut core) else { return Ok(Ok(core)) };
            drop(core);
            if let Some(want) = self.send(piece, terms, sender)? {
                return Ok(Err(want));
            }
            core = self.lock()?;
        }
    }

    /// What a reader has to send, as far as that goes without waiting, also for another sender.
    pub(super) fn send_without_waiting(&self, terms: Terms<'_>) -> Result<()> {
        loop {
            let mut core = self.lock()?;
            if core.is_taken(Role::Sender) || core.is_taken(Role::Writer) {
                return Ok(());
            }
            let Some((piece, sender)) = self.begin_sending(&mut core) else { return Ok(()) };
            drop(core);
            // A failure is told to whoever writes next; what is read is not the worse for it.
            if !self.send(piece, terms.at_once(), sender).is_ok_and(|want| want.is_none()) {
                return Ok(());
            }
        }
    }

    /// The next piece of output and the right to send it.
    fn begin_sending(&self, core: &mut Core) -> Option<(Filled, Held<'_>)> {
        let piece = core.engine.next_output()?;
        core.taken[Role::Sender as usize] = Some(ThreadMark::here());
        Some((piece, Held { stream: self, role: Role::Sender }))
    }

    /// Sends one piece of output; what is left of it goes back to the front of the queue. `None`: nothing is.
    fn send(&self, mut piece: Filled, terms: Terms<'_>, sender: Held<'_>) -> Result<Option<Io>> {
        let outcome = self.send_piece(&mut piece, terms);
        if !piece.is_empty() {
            let mut core = self.lock()?;
            if core.engine.may_send() {
                core.engine.return_output(piece);
            }
        }
        drop(sender);
        outcome
    }

    fn send_piece(&self, piece: &mut Filled, terms: Terms<'_>) -> Result<Option<Io>> {
        while !piece.is_empty() {
            match self.transport.send(piece.bytes(), terms) {
                Ok(Io::Done(count)) => piece.consume(count),
                Ok(want) => return Ok(Some(want)),
                Err(fault) => {
                    let is_fatal = matches!(fault, Fault::Fatal(_));
                    let mut core = self.lock()?;
                    let error = explain("send to", &core.engine, fault, terms);
                    return Err(if is_fatal || is_broken(&error) { core.engine.fail_sending(error) } else { error });
                }
            }
        }
        Ok(None)
    }
}

/// What a fault of the transport means for this session.
fn explain(what: &str, engine: &Engine, fault: Fault, terms: Terms<'_>) -> Error {
    match fault {
        Fault::System(error) => transport_failure(what, engine, &error),
        Fault::Late(status) => late(engine, status, terms),
        Fault::Told(error) | Fault::Fatal(error) => error,
        // In the words of the stream that the program called, with its peer's name.
        Fault::Outer(error) if matches!(error.status(), Status::ReadTimeout | Status::WriteTimeout) => {
            late(engine, error.status(), terms)
        }
        Fault::Outer(error) if is_broken(&error) => {
            let message = format!("cannot {what} {}{}: {}", engine.peer(), engine.during(), error.message());
            Error::new(gone(engine), message).with_errno(error.errno()).with_cause(Arc::new(error))
        }
        Fault::Outer(error) => error,
    }
}

fn late(engine: &Engine, status: Status, terms: Terms<'_>) -> Error {
    let (peer, during) = (engine.peer(), engine.during());
    let message = |what: &str, preposition: &str, timeout: Option<Duration>| {
        let seconds = timeout.unwrap_or_default().as_secs_f64();
        format!("nothing {what} {preposition} {peer} for {seconds} s{during}")
    };
    let message = match status {
        Status::ReadTimeout => message("came", "from", terms.settings.read_timeout),
        Status::TooSlow => return too_slow(),
        _ => message("could be sent", "to", terms.settings.write_timeout),
    };
    Error::new(status, message)
}

/// The status of a connection that is no more.
fn gone(engine: &Engine) -> Status {
    // Before the handshake is done nothing of a request has been sent.
    if engine.is_handshaking() { Status::TlsHandshakeEof } else { Status::Protocol }
}

/// A failed system call: the connection's end is the peer's or the network's doing, anything else the program's.
fn transport_failure(what: &str, engine: &Engine, error: &io::Error) -> Error {
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
    let is_gone = error.raw_os_error().is_some_and(|errno| broken.contains(&errno));
    let status = if is_gone { gone(engine) } else { Status::Io };
    Error::from_io(status, format!("cannot {what} {}{}", engine.peer(), engine.during()), error)
}

/// Whether the connection is no more.
pub(super) fn is_broken(error: &Error) -> bool {
    matches!(error.status(), Status::Protocol | Status::TlsHandshakeEof)
}
