//! Moving bytes between a stream's engine and its transport, which works without the stream's lock.

use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use super::call::{Call, Role};
use super::minimum_throughput::too_slow;
use super::transport::{Fault, Outcome, ReceiveMode};
use super::{Core, Io, WaitPolicy};
use crate::error::{Error, Result};
use crate::status::Status;
use crate::tls::session::engine::Engine;
use crate::tls::session::pool::RecordBuffer;

impl Call<'_> {
    /// Brings in bytes, or the news that there will be no more. `Some`: not without waiting, which is not wanted.
    pub(super) fn receive(&mut self, policy: WaitPolicy<'_>) -> Result<Option<Io>> {
        loop {
            let core = self.core()?;
            let policy = core.begin_wait(policy)?;
            let (drained, is_nonblocking) = (core.drained, core.nonblocking);
            let waits_inside = policy.is_unbounded() && !is_nonblocking && self.may_block();
            let waiting = if waits_inside { ReceiveMode::Blocking } else { ReceiveMode::AfterPoll };
            if waiting == ReceiveMode::AfterPoll {
                match self.transport().await_input(drained, policy) {
                    Ok(None) => {}
                    Ok(want) => {
                        self.core()?.continue_wait(policy)?;
                        return Ok(want);
                    }
                    Err(fault) => return self.fail_receive(fault, policy),
                }
            }
            let mut input = match self.core()?.engine.lend_input() {
                Ok(input) => input,
                Err(error) => {
                    // The alert that tells the peer why.
                    let _ = self.send_without_waiting(policy);
                    return Err(error);
                }
            };
            let received = self.transport().receive(input.space(), policy, waiting);
            if let ControlFlow::Break(outcome) = self.finish_receive(input, received, waiting, policy)? {
                return Ok(outcome);
            }
        }
    }

    /// What a receive came to. `Continue`: it is to be tried again.
    pub(super) fn finish_receive(
        &mut self,
        input: RecordBuffer,
        received: Outcome<Io>,
        waiting: ReceiveMode,
        policy: WaitPolicy<'_>,
    ) -> Result<ControlFlow<Option<Io>>> {
        let can_wait = self.can_wait();
        let core = self.core()?;
        let count = received.as_ref().map_or(0, |io| io.count());
        core.return_input(input, count);
        match received {
            Ok(Io::Done(count)) => core.end_wait(count, policy),
            Ok(Io::End) => {
                core.end_wait(0, policy);
                core.engine.end_input();
            }
            Ok(want) => {
                core.nonblocking |= waiting == ReceiveMode::Blocking;
                if policy.blocking && can_wait {
                    return Ok(ControlFlow::Continue(()));
                }
                core.continue_wait(policy)?;
                return Ok(ControlFlow::Break(Some(want)));
            }
            Err(fault) => return self.fail_receive(fault, policy).map(ControlFlow::Break),
        }
        Ok(ControlFlow::Break(None))
    }

    fn fail_receive(&mut self, fault: Fault, policy: WaitPolicy<'_>) -> Result<Option<Io>> {
        let is_fatal = matches!(fault, Fault::Fatal(_));
        let core = self.core()?;
        if let Some(slow) = core.end_wait_with(&fault, policy) {
            return Err(slow);
        }
        let error = explain("receive from", &core.engine, fault, policy);
        if error.status() == Status::TlsTruncated {
            // Of the stream below: this one may have been closed properly before.
            core.engine.end_input_because(error);
            return Ok(None);
        }
        Err(if is_fatal || is_disconnect(&error) { core.engine.fail(error) } else { error })
    }

    /// Sends what is queued. `None`: all of it. `Some`: the rest would have to wait, which is not wanted.
    pub(super) fn flush(&mut self, policy: WaitPolicy<'_>) -> Result<Option<Io>> {
        loop {
            while self.core()?.is_held(Role::Sender) {
                // One that does not wait is waited for: there may be room behind it, and then nothing would wake the program.
                if !policy.blocking && self.core()?.sender_may_wait {
                    return Ok(Some(Io::WantWrite));
                }
                self.wait_for_role(policy)?;
            }
            let Some(piece) = self.core()?.engine.next_output() else { return Ok(None) };
            if let Some(want) = self.send(piece, policy)? {
                return Ok(Some(want));
            }
        }
    }

    /// What a reader has to send, as far as that goes without waiting, also for another sender.
    pub(super) fn send_without_waiting(&mut self, policy: WaitPolicy<'_>) -> Result<()> {
        loop {
            let core = self.core()?;
            if core.is_held(Role::Sender) || core.is_held(Role::Writer) {
                return Ok(());
            }
            let Some(piece) = core.engine.next_output() else { return Ok(()) };
            // A failure is told to whoever writes next; what is read is not the worse for it.
            if !self.send(piece, policy.without_waiting()).is_ok_and(|want| want.is_none()) {
                return Ok(());
            }
        }
    }

    /// Sends one piece of output; what is left of it goes back to the front of the queue. `None`: nothing is.
    fn send(&mut self, piece: RecordBuffer, policy: WaitPolicy<'_>) -> Result<Option<Io>> {
        debug_assert!(!piece.is_empty());
        self.claim(Role::Sender)?;
        self.core()?.sender_may_wait = policy.blocking || !self.can_wait();
        let sent = self.transport().send(piece.bytes(), policy);
        self.go_on_sending(piece, sent, policy)
    }

    /// Of the sender, of whose piece something was sent, or why not.
    pub(super) fn go_on_sending(
        &mut self,
        mut piece: RecordBuffer,
        sent: Outcome<Io>,
        policy: WaitPolicy<'_>,
    ) -> Result<Option<Io>> {
        let outcome = self.send_all(&mut piece, sent, policy);
        if let Ok(core) = self.core() {
            core.engine.return_output(piece);
        }
        self.release(Role::Sender);
        outcome
    }

    fn send_all(
        &mut self,
        piece: &mut RecordBuffer,
        mut sent: Outcome<Io>,
        policy: WaitPolicy<'_>,
    ) -> Result<Option<Io>> {
        loop {
            match sent {
                Ok(Io::Done(count)) => piece.consume(count),
                Ok(want) => return Ok(Some(want)),
                Err(fault) => {
                    let is_fatal = matches!(fault, Fault::Fatal(_));
                    let core = self.core()?;
                    let error = explain("send to", &core.engine, fault, policy);
                    return Err(if is_fatal || is_disconnect(&error) {
                        core.engine.fail_sending(error)
                    } else {
                        error
                    });
                }
            }
            if piece.is_empty() {
                return Ok(None);
            }
            sent = self.transport().send(piece.bytes(), policy);
        }
    }
}

impl Core {
    /// Takes back the buffer of a receive with so many more bytes.
    pub(super) fn return_input(&mut self, mut input: RecordBuffer, count: usize) {
        // One that is not filled leaves probably nothing there.
        self.drained = count < input.space_len();
        input.add(count);
        self.engine.take_back(input);
    }
}

/// What a fault of the transport means for this session.
fn explain(what: &str, engine: &Engine, fault: Fault, policy: WaitPolicy<'_>) -> Error {
    match fault {
        Fault::System(error) => transport_failure(what, engine, &error),
        Fault::TimedOut(status) => timeout_error(engine, status, policy),
        Fault::Passthrough(error) | Fault::Fatal(error) => error,
        // In the words of the stream that the program called, with its peer's name.
        Fault::OuterStream(error) if matches!(error.status(), Status::ReadTimeout | Status::WriteTimeout) => {
            timeout_error(engine, error.status(), policy)
        }
        Fault::OuterStream(error) if is_disconnect(&error) => {
            let message = format!("cannot {what} {}{}: {}", engine.peer(), engine.during(), error.message());
            Error::new(disconnect_status(engine), message).with_errno(error.errno()).with_cause(Arc::new(error))
        }
        Fault::OuterStream(error) => error,
    }
}

fn timeout_error(engine: &Engine, status: Status, policy: WaitPolicy<'_>) -> Error {
    let (peer, during) = (engine.peer(), engine.during());
    let message = |what: &str, preposition: &str, timeout: Option<Duration>| {
        let seconds = timeout.unwrap_or_default().as_secs_f64();
        format!("nothing {what} {preposition} {peer} for {seconds} s{during}")
    };
    let message = match status {
        Status::ReadTimeout => message("came", "from", policy.settings.read_timeout),
        Status::TooSlow => return too_slow(),
        _ => message("could be sent", "to", policy.settings.write_timeout),
    };
    Error::new(status, message)
}

/// The status of a connection that is no more.
fn disconnect_status(engine: &Engine) -> Status {
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
    let status = if is_gone { disconnect_status(engine) } else { Status::Io };
    Error::from_io(status, format!("cannot {what} {}{}", engine.peer(), engine.during()), error)
}

/// Whether the connection is no more.
pub(super) fn is_disconnect(error: &Error) -> bool {
    matches!(error.status(), Status::Protocol | Status::TlsHandshakeEof)
}
