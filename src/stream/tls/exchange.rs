//! Moves records between a stream's engine and its transport. The transport is used while the stream's lock is
//! released.

use std::ops::ControlFlow;

use super::{Tls, TlsCall};
use crate::error::Result;
use crate::status::Status;
use crate::stream::exchange::Awaited;
use crate::stream::fault::Fault;
use crate::stream::state::{Role, State};
use crate::stream::wait_policy::WaitPolicy;
use crate::tls::Io;
use crate::tls::session::RecordBuffer;

impl TlsCall<'_> {
    /// Receives bytes or the end of the input from the transport. Returns `Some` if receiving would have to wait and
    /// the policy does not allow waiting.
    pub(super) fn receive(&mut self, policy: WaitPolicy<'_>) -> Result<Option<Io>> {
        loop {
            let policy = self.state()?.begin_wait(policy)?;
            let waiting = match self.await_input(policy)? {
                Ok(Awaited::Input(waiting)) => waiting,
                Ok(Awaited::Want(want)) => return Ok(Some(want)),
                Err(fault) => return self.end_input_because(fault, policy),
            };
            let mut input = match self.state()?.protocol.engine.lend_input() {
                Ok(input) => input,
                Err(error) => {
                    // Sends the queued alert.
                    let _ = self.send_without_waiting(policy);
                    return Err(error);
                }
            };
            let received = self.transport().receive(input.space(), policy, waiting);
            self.state()?.return_input(input, received.as_ref().map_or(0, |io| io.count()));
            match self.end_receive(received, waiting, policy)? {
                ControlFlow::Continue(()) => {}
                ControlFlow::Break(Ok(Io::Done(count))) => {
                    self.state()?.count_received(count, policy);
                    return Ok(None);
                }
                ControlFlow::Break(Ok(Io::End)) => {
                    self.state()?.protocol.engine.end_input();
                    return Ok(None);
                }
                ControlFlow::Break(Ok(want)) => return Ok(Some(want)),
                ControlFlow::Break(Err(fault)) => return self.end_input_because(fault, policy),
            }
        }
    }

    /// Handles a receive operation that has failed.
    fn end_input_because(&mut self, fault: Fault, policy: WaitPolicy<'_>) -> Result<Option<Io>> {
        let error = self.fail_receive(fault, policy);
        if error.status() == Status::TlsTruncated {
            // The stream below was truncated, but the close_notify of this session may have arrived before the
            // truncation.
            self.state()?.protocol.engine.end_input_because(error);
            return Ok(None);
        }
        Err(error)
    }

    /// Performs the handshake of the stream below, if there is output to send through it. Returns `Some` if that
    /// handshake would have to wait and the policy does not allow waiting.
    pub(super) fn ensure_handshake_below(&mut self, policy: WaitPolicy<'_>) -> Result<Option<Io>> {
        if !self.state()?.protocol.engine.has_output() {
            return Ok(None);
        }
        match self.transport().ensure_handshake(policy) {
            Ok(done) => Ok(done),
            Err(fault) => Err(self.fail_send(fault, policy)),
        }
    }

    /// Sends the output queue. Returns `None` if everything is sent. Returns `Some` if sending the rest would have to
    /// wait and the policy does not allow waiting.
    pub(super) fn flush(&mut self, policy: WaitPolicy<'_>) -> Result<Option<Io>> {
        loop {
            while self.state()?.is_held(Role::Sender) {
                // A sender that does not wait for the transport is done soon, so even a non-blocking call waits for
                // that sender. If the call returned `NETLIB_WANT_WRITE` instead, the caller would wait for a change of
                // the socket, but the socket may already have room when that sender is done.
                if !policy.blocking && self.state()?.protocol.sender_may_wait {
                    return Ok(Some(Io::WantWrite));
                }
                self.wait_for_role(policy)?;
            }
            let Some(piece) = self.state()?.protocol.engine.next_output() else { return Ok(None) };
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
            let Some(piece) = state.protocol.engine.next_output() else { return Ok(()) };
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
        self.state()?.protocol.sender_may_wait = policy.blocking || !self.can_wait();
        let outcome = self.send_all(&mut piece, policy);
        if let Ok(state) = self.state() {
            state.protocol.engine.return_output(piece);
        }
        self.release(Role::Sender);
        outcome
    }

    fn send_all(&mut self, piece: &mut RecordBuffer, policy: WaitPolicy<'_>) -> Result<Option<Io>> {
        while !piece.is_empty() {
            match self.transport().send(piece.bytes(), policy) {
                Ok(Io::Done(count)) => piece.consume(count),
                Ok(want) => return Ok(Some(want)),
                Err(fault) => return Err(self.fail_send(fault, policy)),
            }
        }
        Ok(None)
    }
}

impl State<Tls> {
    /// Returns the input buffer to the engine with `count` more bytes in it.
    fn return_input(&mut self, mut input: RecordBuffer, count: usize) {
        // If the received bytes do not fill the buffer, the socket is probably empty now.
        self.drained = count < input.space_len();
        input.add(count);
        self.protocol.engine.take_back(input);
    }

    /// Counts received bytes of records. During the handshake, the bytes count towards the minimum throughput.
    #[inline(always)]
    fn count_received(&mut self, count: usize, policy: WaitPolicy<'_>) {
        self.protocol.bytes_received = self.protocol.bytes_received.saturating_add(count as u64);
        if !self.protocol.handshake_done {
            self.count_bytes(count, policy);
        }
    }
}
