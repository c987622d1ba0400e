//! Enforces the minimum throughput of a stream's reads.
//!
//! Only plaintext counts towards the minimum, because a peer can send records without plaintext at almost no cost.
//! During the handshake all received bytes count. With TLS over TLS, only the stream that the application calls
//! enforces its minimum; the streams below it receive the end of its window as a deadline.

use std::time::Instant;

use super::fault::Fault;
use super::wait_policy::WaitPolicy;
use super::{Stream, StreamState};
use crate::error::{Error, Result};
use crate::socket::throughput::{Throughput, TooSlow};
use crate::status::Status;
use crate::tls::session::Engine;

impl Stream {
    /// Sets the minimum throughput and begins a new window.
    pub fn set_minimum_throughput(&self, throughput: Throughput) -> Result<()> {
        self.lock()?.throughput = Some(Box::new(throughput));
        Ok(())
    }
}

impl StreamState {
    fn throughput_of(&mut self, policy: WaitPolicy<'_>) -> Option<&mut Throughput> {
        self.throughput.as_deref_mut().filter(|_| policy.counts_throughput)
    }

    /// Begins a wait for input. Called before each receive operation that may wait. The returned policy contains the
    /// end of the window.
    pub(super) fn begin_wait<'a>(&mut self, policy: WaitPolicy<'a>) -> Result<WaitPolicy<'a>> {
        let Some(throughput) = self.throughput_of(policy) else { return Ok(policy) };
        let now = Instant::now();
        match throughput.begin_wait(now) {
            Ok(left) => Ok(WaitPolicy { throughput_deadline: now.checked_add(left), ..policy }),
            Err(slow) => Err(throughput_error(slow, &self.engine)),
        }
    }

    /// Lets the wait continue after the call returns to the application. Called when a receive operation found nothing.
    pub(super) fn continue_wait(&mut self, policy: WaitPolicy<'_>) -> Result<()> {
        match self.throughput_of(policy).map(|throughput| throughput.continue_wait(Instant::now())) {
            Some(Err(slow)) => Err(throughput_error(slow, &self.engine)),
            _ => Ok(()),
        }
    }

    /// Ends the wait after `bytes_received` bytes of records were received.
    #[inline(always)]
    pub(super) fn end_wait(&mut self, bytes_received: usize, policy: WaitPolicy<'_>) {
        self.bytes_received = self.bytes_received.saturating_add(bytes_received as u64);
        let counts = !self.handshake_done;
        if let Some(throughput) = self.throughput_of(policy) {
            throughput.end_wait(Instant::now());
            if counts {
                throughput.add(bytes_received);
            }
        }
    }

    /// Ends the wait after receiving has failed. Returns an error if the reason is the minimum throughput.
    pub(super) fn end_wait_with(&mut self, fault: &Fault, policy: WaitPolicy<'_>) -> Option<Error> {
        let throughput = self.throughput_of(policy)?;
        let is_slow = match fault {
            Fault::TimedOut(status) => *status == Status::TooSlow,
            Fault::OuterStream(error) => error.status() == Status::TooSlow,
            _ => false,
        };
        if is_slow {
            let slow = throughput.end_window(Instant::now());
            return Some(throughput_error(slow, &self.engine));
        }
        throughput.end_wait(Instant::now());
        None
    }

    /// Counts the plaintext that a read returns.
    pub(super) fn count_plaintext(&mut self, bytes: usize, policy: WaitPolicy<'_>) {
        if let Some(throughput) = self.throughput_of(policy) {
            throughput.add(bytes);
        }
    }

    /// Begins a new window with its full time.
    pub(super) fn begin_window(&mut self) {
        if let Some(throughput) = &mut self.throughput {
            throughput.restart();
        }
    }

    /// Marks the handshake as done: it is complete, and its last flight is sent.
    pub(super) fn set_handshake_done(&mut self) {
        self.handshake_done = true;
        self.begin_window();
    }
}

fn throughput_error(slow: TooSlow, engine: &Engine) -> Error {
    slow.error(&engine.peer(), engine.during())
}
