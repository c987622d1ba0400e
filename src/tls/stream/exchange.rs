//! Moving bytes between a stream's engine and its transport, which works without the stream's lock.

use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use super::call::{Call, Role};
use super::minimum_throughput::too_slow;
use super::transport::{Fault, Outcome, Waiting};
use super::{Core, Io, Terms};
use crate::error::{Error, Result};
use crate::status::Status;
use crate::tls::session::engine::Engine;
use crate::tls::session::pool::Filled;

impl Call<'_> {
    /// Brings in bytes, or the news that there will be no more. `Some`: not without waiting, which is not wanted.
    pub(super) fn receive(&mut self, terms: Terms<'_>) -> Result<Option<Io>> {
        loop {
            let core = self.core()?;
            let terms = core.begin_wait(terms)?;
            let (drained, is_nonblocking) = (core.drained, core.nonblocking);
            let waits_inside = terms.is_endless() && !is_nonblocking && self.may_block();
            let waiting = if waits_inside { Waiting::Inside } else { Waiting::Before };
            if waiting == Waiting::Before {
                match self.transport().await_input(drained, terms) {
                    Ok(None) => {}
                    Ok(want) => {
                        self.core()?.wait_on(terms)?;
                        return Ok(want);
                    }
                    Err(fault) => return self.not_received(fault, terms),
                }
            }
            let mut input = match self.core()?.engine.lend_input() {
                Ok(input) => input,
                Err(error) => {
                    // The alert that tells the peer why.
                    let _ = self.send_without_waiting(terms);
                    return Err(error);
                }
            };
            let received = self.transport().receive(input.space(), terms, waiting);
            if let ControlFlow::Break(outcome) = self.received(input, received, waiting, terms)? {
                return Ok(outcome);
            }
        }
    }

    /// What a receive came to. `Continue`: it is to be tried again.
    pub(super) fn received(
        &mut self,
        input: Filled,
        received: Outcome<Io>,
        waiting: Waiting,
        terms: Terms<'_>,
    ) -> Result<ControlFlow<Option<Io>>> {
        let can_wait = self.can_wait();
        let core = self.core()?;
        let count = received.as_ref().map_or(0, |io| io.count());
        core.take_in(input, count);
        match received {
            Ok(Io::Done(count)) => core.end_wait(count, terms),
            Ok(Io::End) => {
                core.end_wait(0, terms);
                core.engine.end_input();
            }
            Ok(want) => {
                core.nonblocking |= waiting == Waiting::Inside;
                if terms.blocking && can_wait {
                    return Ok(ControlFlow::Continue(()));
                }
                core.wait_on(terms)?;
                return Ok(ControlFlow::Break(Some(want)));
            }
            Err(fault) => return self.not_received(fault, terms).map(ControlFlow::Break),
        }
        Ok(ControlFlow::Break(None))
    }

    fn not_received(&mut self, fault: Fault, terms: Terms<'_>) -> Result<Option<Io>> {
        let is_fatal = matches!(fault, Fault::Fatal(_));
        let core = self.core()?;
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
    pub(super) fn flush(&mut self, terms: Terms<'_>) -> Result<Option<Io>> {
        loop {
            while self.core()?.is_taken(Role::Sender) {
                // One that does not wait is waited for: there may be room behind it, and then nothing would wake the program.
                if !terms.blocking && self.core()?.sender_waits {
                    return Ok(Some(Io::WantWrite));
                }
                self.glance(terms)?;
            }
            let Some(piece) = self.core()?.engine.next_output() else { return Ok(None) };
            if let Some(want) = self.send(piece, terms)? {
                return Ok(Some(want));
            }
        }
    }

    /// What a reader has to send, as far as that goes without waiting, also for another sender.
    pub(super) fn send_without_waiting(&mut self, terms: Terms<'_>) -> Result<()> {
        loop {
            let core = self.core()?;
            if core.is_taken(Role::Sender) || core.is_taken(Role::Writer) {
                return Ok(());
            }
            let Some(piece) = core.engine.next_output() else { return Ok(()) };
            // A failure is told to whoever writes next; what is read is not the worse for it.
            if !self.send(piece, terms.at_once()).is_ok_and(|want| want.is_none()) {
                return Ok(());
            }
        }
    }

    /// Sends one piece of output; what is left of it goes back to the front of the queue. `None`: nothing is.
    fn send(&mut self, piece: Filled, terms: Terms<'_>) -> Result<Option<Io>> {
        debug_assert!(!piece.is_empty());
        self.assume(Role::Sender)?;
        self.core()?.sender_waits = terms.blocking || !self.can_wait();
        let sent = self.transport().send(piece.bytes(), terms);
        self.go_on_sending(piece, sent, terms)
    }

    /// Of the sender, of whose piece something was sent, or why not.
    pub(super) fn go_on_sending(
        &mut self,
        mut piece: Filled,
        sent: Outcome<Io>,
        terms: Terms<'_>,
    ) -> Result<Option<Io>> {
        let outcome = self.send_all(&mut piece, sent, terms);
        if let Ok(core) = self.core() {
            core.engine.return_output(piece);
        }
        self.give_up(Role::Sender);
        outcome
    }

    fn send_all(&mut self, piece: &mut Filled, mut sent: Outcome<Io>, terms: Terms<'_>) -> Result<Option<Io>> {
        loop {
            match sent {
                Ok(Io::Done(count)) => piece.consume(count),
                Ok(want) => return Ok(Some(want)),
                Err(fault) => {
                    let is_fatal = matches!(fault, Fault::Fatal(_));
                    let core = self.core()?;
                    let error = explain("send to", &core.engine, fault, terms);
                    return Err(if is_fatal || is_broken(&error) { core.engine.fail_sending(error) } else { error });
                }
            }
            if piece.is_empty() {
                return Ok(None);
            }
            sent = self.transport().send(piece.bytes(), terms);
        }
    }
}

impl Core {
    /// Takes back the buffer of a receive with so many more bytes.
    pub(super) fn take_in(&mut self, mut input: Filled, count: usize) {
        // One that is not filled leaves probably nothing there.
        self.drained = count < input.room();
        input.add(count);
        self.engine.take_back(input);
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
