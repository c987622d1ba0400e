//! Receives from a stream's transport, and turns the faults of the transport into errors. The transport is used while
//! the stream's lock is released.

use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use super::call::Call;
use super::fault::{Fault, Outcome};
use super::state::{Protocol, State};
use super::transport::ReceiveMode;
use super::wait_policy::{WaitPolicy, too_slow};
use crate::error::{Error, Result};
use crate::status::Status;
use crate::tls::Io;

/// The result of [`Call::await_input`].
pub(super) enum Awaited {
    /// The caller must now call [`Transport::receive`](super::Transport::receive) in this mode.
    Input(ReceiveMode),
    /// The wait would have to continue, and the policy does not allow waiting.
    Want(Io),
}

impl<P: Protocol> Call<'_, P> {
    /// Waits for input, unless the receive operation itself waits. Called after [`State::begin_wait`].
    pub(super) fn await_input(&mut self, policy: WaitPolicy<'_>) -> Result<Outcome<Awaited>> {
        let state = self.state()?;
        let (drained, is_nonblocking) = (state.drained, state.nonblocking);
        if policy.is_unbounded() && !is_nonblocking && self.may_block() {
            return Ok(Ok(Awaited::Input(ReceiveMode::Blocking)));
        }
        Ok(match self.transport().await_input(drained, policy) {
            Ok(None) => Ok(Awaited::Input(ReceiveMode::AfterPoll)),
            Ok(Some(want)) => {
                self.state()?.continue_wait(policy)?;
                Ok(Awaited::Want(want))
            }
            Err(fault) => Err(fault),
        })
    }

    /// Handles the result of [`Transport::receive`](super::Transport::receive). `Continue` means that the caller must
    /// wait and receive again.
    #[inline(always)]
    pub(super) fn end_receive(
        &mut self,
        received: Outcome<Io>,
        waiting: ReceiveMode,
        policy: WaitPolicy<'_>,
    ) -> Result<ControlFlow<Outcome<Io>>> {
        let can_wait = self.can_wait();
        let state = self.state()?;
        match received {
            Ok(Io::Done(_) | Io::End) => state.end_wait(policy),
            Ok(Io::WantRead | Io::WantWrite) => {
                state.nonblocking |= waiting == ReceiveMode::Blocking;
                state.drained = true;
                if policy.blocking && can_wait {
                    return Ok(ControlFlow::Continue(()));
                }
                state.continue_wait(policy)?;
            }
            Err(_) => {}
        }
        Ok(ControlFlow::Break(received))
    }

    /// Returns the error of a receive operation, and records the failure if it is final.
    pub(super) fn fail_receive(&mut self, fault: Fault, policy: WaitPolicy<'_>) -> Error {
        match self.state() {
            Ok(state) => state.fail_receive(fault, policy),
            Err(error) => error,
        }
    }

    /// Returns the error of a send operation, and records the failure if sending cannot continue.
    #[cold]
    #[inline(never)]
    pub(super) fn fail_send(&mut self, fault: Fault, policy: WaitPolicy<'_>) -> Error {
        match self.state() {
            Ok(state) => state.record_send_fault(&fault, policy),
            Err(error) => error,
        }
    }
}

impl<P: Protocol> State<P> {
    fn fail_receive(&mut self, fault: Fault, policy: WaitPolicy<'_>) -> Error {
        if let Some(slow) = self.end_wait_with(&fault, policy) {
            return slow;
        }
        self.record_receive_fault(&fault, policy)
    }

    /// Returns the error of a fault that a receive operation returned, and records the failure if it is final.
    pub(super) fn record_receive_fault(&mut self, fault: &Fault, policy: WaitPolicy<'_>) -> Error {
        let error = explain("receive from", &self.protocol, fault, policy);
        if is_final(fault, &error) { self.protocol.fail(error) } else { error }
    }

    /// Returns the error of a fault that a send operation returned, and records the failure if sending cannot continue.
    pub(super) fn record_send_fault(&mut self, fault: &Fault, policy: WaitPolicy<'_>) -> Error {
        let error = explain("send to", &self.protocol, fault, policy);
        if is_final(fault, &error) { self.protocol.fail_sending(error) } else { error }
    }
}

/// Turns a transport fault into an error that names the peer.
pub(super) fn explain(what: &str, protocol: &impl Protocol, fault: &Fault, policy: WaitPolicy<'_>) -> Error {
    match fault {
        Fault::System(error) => transport_failure(what, protocol, error),
        Fault::TimedOut(status) => timeout_error(protocol, *status, policy),
        Fault::Passthrough(error) | Fault::Fatal(error) => error.clone(),
        // The new error names the peer of the stream that the application called, not that of the stream below.
        Fault::OuterStream(error) if matches!(error.status(), Status::ReadTimeout | Status::WriteTimeout) => {
            timeout_error(protocol, error.status(), policy)
        }
        Fault::OuterStream(error) if is_disconnect(error) => {
            let message = format!("cannot {what} {}{}: {}", protocol.peer(), protocol.during(), error.message());
            Error::new(protocol.disconnect_status(), message)
                .with_errno(error.errno())
                .with_cause(Arc::new(error.clone()))
        }
        Fault::OuterStream(error) => error.clone(),
    }
}

fn timeout_error(protocol: &impl Protocol, status: Status, policy: WaitPolicy<'_>) -> Error {
    if let Err(error) = policy.check_total(status) {
        return error;
    }
    let (peer, during) = (protocol.peer(), protocol.during());
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

/// Returns the error of a failed system call. An errno such as EBADF does not mean that the connection has ended, but
/// that the application has made a mistake: the error then has the status `NETLIB_IO`.
fn transport_failure(what: &str, protocol: &impl Protocol, error: &io::Error) -> Error {
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
    let status = if is_gone { protocol.disconnect_status() } else { Status::Io };
    Error::from_io(status, format!("cannot {what} {}{}", protocol.peer(), protocol.during()), error)
}

/// Returns whether the transport cannot be used again after `fault`, which `error` explains.
fn is_final(fault: &Fault, error: &Error) -> bool {
    matches!(fault, Fault::Fatal(_)) || is_disconnect(error)
}

/// Returns whether the error says that the connection has ended.
pub(super) fn is_disconnect(error: &Error) -> bool {
    matches!(error.status(), Status::Protocol | Status::TlsHandshakeEof)
}
