//! Performs the handshake of a stream.

use std::os::fd::RawFd;
use std::sync::Arc;

use super::{Tls, TlsCall, TlsStream};
use crate::error::{Error, Result};
use crate::limit::Limit;
use crate::status::Status;
use crate::stream::exchange::is_disconnect;
use crate::stream::state::{Role, State};
use crate::stream::transport::ReceiveMode;
use crate::stream::wait_policy::WaitPolicy;
use crate::tls::{Context, Io, TlsOptions};

/// What becomes of the output that is queued when the handshake is complete: the last flight of the handshake, or the
/// session tickets of a server. With the application data that follows, one send carries both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LastFlight {
    Send,
    /// Keeps the output, because the caller encrypts application data next, and then sends the output queue.
    KeepForWrite,
    /// Keeps the output if the peer does not wait for it, as for tickets. The caller sends the output before it waits for
    /// input; a write before that sends the output with its data.
    KeepTickets,
}

impl TlsStream {
    /// Creates a client stream and performs the handshake, like urllib3's ssl_wrap_socket. The limit applies to the
    /// handshake only.
    pub fn connected(
        options: &TlsOptions,
        context: Option<&Arc<Context>>,
        fd: RawFd,
        server_hostname: Option<&str>,
        limit: Option<Arc<Limit>>,
    ) -> Result<TlsStream> {
        // The limit is checked before files are read.
        limit.as_deref().map_or(Ok(()), Limit::check)?;
        let context = Context::for_socket(options, context)?;
        let stream = TlsStream::client(&context, fd, server_hostname)?;
        context.open_keylog()?;
        stream.core.set_limit(limit)?;
        stream.handshake()?;
        stream.core.set_limit(None)?;
        Ok(stream)
    }
}

impl Tls {
    /// Returns whether the output that is queued when the handshake is complete is kept for the next send.
    fn keeps(&self, last: LastFlight) -> bool {
        match last {
            LastFlight::Send => false,
            LastFlight::KeepForWrite => true,
            LastFlight::KeepTickets => self.engine.may_delay_messages(),
        }
    }
}

impl TlsCall<'_> {
    /// Performs the handshake unless it is done. Returns `Some` if the handshake would have to wait and the policy does
    /// not allow waiting.
    #[inline(always)]
    pub(super) fn ensure_handshake(&mut self, last: LastFlight, policy: WaitPolicy<'_>) -> Result<Option<Io>> {
        if self.state()?.protocol.handshake_done { Ok(None) } else { self.take_part_in_handshake(last, policy) }
    }

    #[cold]
    fn take_part_in_handshake(&mut self, last: LastFlight, policy: WaitPolicy<'_>) -> Result<Option<Io>> {
        // `check_reentry` is not repeated, because the public call has already passed it.
        if !self.enter_handshake(policy, |_| Ok(()))? {
            return Ok(None);
        }
        self.do_handshake(last, policy)
    }

    pub(super) fn do_handshake(&mut self, last: LastFlight, policy: WaitPolicy<'_>) -> Result<Option<Io>> {
        self.in_role(Role::Handshaker, |call| {
            loop {
                let done = call.process_handshake(policy)?;
                let keeps_output = done && call.state()?.protocol.keeps(last);
                if !keeps_output && let Some(want) = call.send_flight(done, policy)? {
                    return Ok(Some(want));
                }
                if done {
                    call.state()?.set_handshake_done();
                    return Ok(None);
                }
                if let Some(want) = call.receive(policy)? {
                    return Ok(Some(want));
                }
            }
        })
    }

    /// Processes the received records and invokes pending callbacks. Returns true when the handshake is done.
    pub(super) fn process_handshake(&mut self, policy: WaitPolicy<'_>) -> Result<bool> {
        loop {
            let state = self.state()?;
            let outcome = state.protocol.engine.handshake();
            if let Some(pending) = state.protocol.engine.take_pending_callback() {
                // The callback may call functions of this stream, which take the lock.
                self.unlock();
                let result = pending.invoke();
                self.state()?.protocol.engine.finish_callback(result);
                continue;
            }
            if outcome.is_err() {
                // Sends the queued alert.
                let _ = self.flush(policy.without_waiting());
            }
            return outcome;
        }
    }

    /// Sends the queued handshake messages. Returns `Some` if sending the rest would have to wait.
    pub(super) fn send_flight(&mut self, done: bool, policy: WaitPolicy<'_>) -> Result<Option<Io>> {
        // The stream below completes its handshake first. Otherwise each handshake would run inside a write of the
        // stream above it. The stack frames of 16 nested writes and a handshake would nearly fill the 64 KiB of stack
        // that a thread needs at most.
        let sent = match self.ensure_handshake_below(policy) {
            Ok(None) => self.flush(policy),
            unfinished => unfinished,
        };
        match sent {
            // The peer may have sent data before it closed the connection.
            Err(error) if is_disconnect(&error) && done => Ok(None),
            Err(error) if is_disconnect(&error) => {
                let reason = self.read_final_alert(error, policy);
                Err(self.state()?.protocol.engine.fail(reason))
            }
            sent => sent,
        }
    }

    /// Takes the handshaker role. Waits if another thread is performing the handshake. Returns false if the handshake
    /// is done.
    pub(super) fn enter_handshake(
        &mut self,
        policy: WaitPolicy<'_>,
        check: impl Fn(&State<Tls>) -> Result<()>,
    ) -> Result<bool> {
        check(self.state()?)?;
        while self.state()?.is_held(Role::Handshaker) {
            if !policy.blocking {
                return Err(Error::new(Status::Busy, "another thread is performing the handshake of this stream"));
            }
            self.wait_for_role(policy)?;
            check(self.state()?)?;
        }
        if self.state()?.protocol.handshake_done {
            return Ok(false);
        }
        self.claim(Role::Handshaker)?;
        Ok(true)
    }

    /// Reads an alert that the peer sent before it closed the connection. The alert explains the failure better than
    /// the EPIPE of a send.
    #[cold]
    #[inline(never)]
    fn read_final_alert(&mut self, error: Error, policy: WaitPolicy<'_>) -> Error {
        // A server's flight fits in a few buffers. The fixed number of rounds ends the loop even if the peer never
        // stops sending.
        for _ in 0..8 {
            let Ok(state) = self.state() else { return error };
            match state.protocol.engine.handshake() {
                Err(reason) => return reason,
                Ok(true) => return error,
                Ok(false) => {}
            }
            let Ok(mut input) = state.protocol.engine.lend_input() else { return error };
            let received = self
                .transport()
                .receive(input.space(), policy.without_waiting(), ReceiveMode::AfterPoll)
                .map_or(0, Io::count);
            input.add(received);
            let Ok(state) = self.state() else { return error };
            state.protocol.engine.take_back(input);
            if received == 0 {
                return error;
            }
        }
        error
    }
}
