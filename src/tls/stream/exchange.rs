//! Moves records between a stream's engine and its transport. The transport is used while the stream's lock is
//! released.

use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use super::call::{Call, Role};
use super::fault::{Fault, Outcome};
use super::transport::ReceiveMode;
use super::wait_policy::{WaitPolicy, too_slow};
use super::{Io, StreamState};
use crate::error::{Error, Result};
use crate::status::Status;
use crate::tls::session::{Engine, RecordBuffer};

impl Call<'_> {
    /// Receives bytes or the end of the input from the transport. Returns `Some` if receiving would have to wait and
    /// the policy does not allow waiting.
    pub(super) fn receive(&mut self, policy: WaitPolicy<'_>) -> Result<Option<Io>> {
        loop {
            let state = self.state()?;
            let policy = state.begin_wait(policy)?;
            let (drained, is_nonblocking) = (state.drained, state.nonblocking);
            let waits_inside = policy.is_unbounded() && !is_nonblocking && self.may_block();
            let waiting = if waits_inside { ReceiveMode::Blocking } else { ReceiveMode::AfterPoll };
            if waiting == ReceiveMode::AfterPoll {
                match self.transport().await_input(drained, policy) {
                    Ok(None) => {}
                    Ok(want) => {
                        self.state()?.continue_wait(policy)?;
                        return Ok(want);
                    }
                    Err(fault) => return self.fail_receive(fault, policy),
                }
            }
            let mut input = match self.state()?.engine.lend_input() {
                Ok(input) => input,
                Err(error) => {
                    // Sends the queued alert.
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

    /// Handles the result of [`Transport::receive`](super::Transport::receive). `Continue` means that the caller must
    /// receive again.
    fn finish_receive(
        &mut self,
        input: RecordBuffer,
        received: Outcome<Io>,
        waiting: ReceiveMode,
        policy: WaitPolicy<'_>,
    ) -> Result<ControlFlow<Option<Io>>> {
        let can_wait = self.can_wait();
        let state = self.state()?;
        let count = received.as_ref().map_or(0, |io| io.count());
        state.return_input(input, count);
        match received {
            Ok(Io::Done(count)) => state.end_wait(count, policy),
            Ok(Io::End) => {
                state.end_wait(0, policy);
                state.engine.end_input();
            }
            Ok(want) => {
                state.nonblocking |= waiting == ReceiveMode::Blocking;
                if policy.blocking && can_wait {
                    return Ok(ControlFlow::Continue(()));
                }
                state.continue_wait(policy)?;
                return Ok(ControlFlow::Break(Some(want)));
            }
            Err(fault) => return self.fail_receive(fault, policy).map(ControlFlow::Break),
        }
        Ok(ControlFlow::Break(None))
    }

    fn fail_receive(&mut self, fault: Fault, policy: WaitPolicy<'_>) -> Result<Option<Io>> {
        let is_fatal = matches!(fault, Fault::Fatal(_));
        let state = self.state()?;
        if let Some(slow) = state.end_wait_with(&fault, policy) {
            return Err(slow);
        }
        let error = explain("receive from", &state.engine, fault, policy);
        if error.status() == Status::TlsTruncated {
            // The stream below was truncated, but this session may have ended with close_notify before the truncation.
            state.engine.end_input_because(error);
            return Ok(None);
        }
        Err(if is_fatal || is_disconnect(&error) { state.engine.fail(error) } else { error })
    }

    /// Performs the handshake of the stream below, if there is output to send through it. Returns `Some` if that
    /// handshake would have to wait and the policy does not allow waiting.
    pub(super) fn ensure_handshake_below(&mut self, policy: WaitPolicy<'_>) -> Result<Option<Io>> {
        if !self.state()?.engine.has_output() {
            return Ok(None);
        }
        match self.transport().ensure_handshake(policy) {
            Ok(done) => Ok(done),
            Err(fault) => self.fail_send(fault, policy),
        }
    }

    /// Sends the output queue. Returns `None` if everything is sent. Returns `Some` if sending the rest would have to
    /// wait and the policy does not allow waiting.
    pub(super) fn flush(&mut self, policy: WaitPolicy<'_>) -> Result<Option<Io>> {
        loop {
            while self.state()?.is_held(Role::Sender) {
                // Even a call that must not wait waits for a sender that does not wait itself. If the call returned
                // `NETLIB_WANT_WRITE` instead, the caller would wait for a change of the socket, but the socket may
                // already have room when that sender is done.
                if !policy.blocking && self.state()?.sender_may_wait {
                    return Ok(Some(Io::WantWrite));
                }
                self.wait_for_role(policy)?;
            }
            let Some(piece) = self.state()?.engine.next_output() else { return Ok(None) };
            if let Some(want) = self.send(piece, policy)? {
                return Ok(Some(want));
            }
        }
    }

    /// Sends as much of the output that a reader has queued as is possible without waiting for the transport or another
    /// sender.
    pub(super) fn send_without_waiting(&mut self, policy: WaitPolicy<'_>) -> Result<()> {
        loop {
            let state = self.state()?;
            if state.is_held(Role::Sender) || state.is_held(Role::Writer) {
                return Ok(());
            }
            let Some(piece) = state.engine.next_output() else { return Ok(()) };
            // A failure to send does not affect reading. The next write reports the failure.
            if !self.send(piece, policy.without_waiting()).is_ok_and(|want| want.is_none()) {
                return Ok(());
            }
        }
    }

    /// Sends one output buffer, and puts the unsent rest back at the front of the queue. Returns `None` if the whole
    /// buffer is sent.
    fn send(&mut self, mut piece: RecordBuffer, policy: WaitPolicy<'_>) -> Result<Option<Io>> {
        debug_assert!(!piece.is_empty());
        self.claim(Role::Sender)?;
        self.state()?.sender_may_wait = policy.blocking || !self.can_wait();
        let outcome = self.send_all(&mut piece, policy);
        if let Ok(state) = self.state() {
            state.engine.return_output(piece);
        }
        self.release(Role::Sender);
        outcome
    }

    fn send_all(&mut self, piece: &mut RecordBuffer, policy: WaitPolicy<'_>) -> Result<Option<Io>> {
        while !piece.is_empty() {
            match self.transport().send(piece.bytes(), policy) {
                Ok(Io::Done(count)) => piece.consume(count),
                Ok(want) => return Ok(Some(want)),
                Err(fault) => return self.fail_send(fault, policy),
            }
        }
        Ok(None)
    }

    #[cold]
    #[inline(never)]
    fn fail_send(&mut self, fault: Fault, policy: WaitPolicy<'_>) -> Result<Option<Io>> {
        let is_fatal = matches!(fault, Fault::Fatal(_));
        let state = self.state()?;
        let error = explain("send to", &state.engine, fault, policy);
        Err(if is_fatal || is_disconnect(&error) { state.engine.fail_sending(error) } else { error })
    }
}

impl StreamState {
    /// Returns the input buffer to the engine with `count` more bytes in it.
    fn return_input(&mut self, mut input: RecordBuffer, count: usize) {
        // If the received bytes do not fill the buffer, the socket is probably empty now.
        self.drained = count < input.space_len();
        input.add(count);
        self.engine.take_back(input);
    }
}

/// Turns a transport fault into an error that names the peer.
fn explain(what: &str, engine: &Engine, fault: Fault, policy: WaitPolicy<'_>) -> Error {
    match fault {
        Fault::System(error) => transport_failure(what, engine, &error),
        Fault::TimedOut(status) => timeout_error(engine, status, policy),
        Fault::Passthrough(error) | Fault::Fatal(error) => error,
        // The new error names the peer of the stream that the application called, not of the stream below.
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
        Status::ReadTimeout => message("arrived", "from", policy.settings.read_timeout),
        Status::TooSlow => return too_slow(),
        _ => message("could be sent", "to", policy.settings.write_timeout),
    };
    Error::new(status, message)
}

/// Returns the status of a connection that the peer or the network has ended.
fn disconnect_status(engine: &Engine) -> Status {
    // Before the handshake is done, no part of a request has been sent, except as early data.
    if engine.is_handshaking() { Status::TlsHandshakeEof } else { Status::Protocol }
}

/// Returns the error of a failed system call. An errno such as EBADF does not mean that the connection has ended, but
/// that the application has made a mistake: the error then has the status `NETLIB_IO`.
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

/// Returns whether the error says that the connection has ended.
pub(super) fn is_disconnect(error: &Error) -> bool {
    matches!(error.status(), Status::Protocol | Status::TlsHandshakeEof)
}
