//! Enforces the minimum throughput of a stream's reads.
//!
//! Only bytes that reads return count towards the minimum: with TLS, a peer can send records without plaintext at
//! almost no cost. During a TLS handshake all received bytes count. With TLS over TLS, only the stream that the
//! application calls enforces its minimum; the streams below it receive the end of its window as a deadline.

use std::time::Instant;

use super::fault::Fault;
use super::state::{Core, Protocol, State};
use super::wait_policy::WaitPolicy;
use crate::error::{Error, Result};
use crate::socket::throughput::{Throughput, TooSlow};
use crate::status::Status;

impl<P> Core<P> {
    /// Sets the minimum throughput and begins a new window.
    pub(super) fn set_minimum_throughput(&self, throughput: Throughput) -> Result<()> {
        self.lock()?.throughput = Some(Box::new(throughput));
        Ok(())
    }
}

impl<P: Protocol> State<P> {
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
            Err(slow) => Err(throughput_error(slow, &self.protocol)),
        }
    }

    /// Lets the wait continue after the call returns to the application. Called when a receive operation found nothing.
    pub(super) fn continue_wait(&mut self, policy: WaitPolicy<'_>) -> Result<()> {
        match self.throughput_of(policy).map(|throughput| throughput.continue_wait(Instant::now())) {
            Some(Err(slow)) => Err(throughput_error(slow, &self.protocol)),
            _ => Ok(()),
        }
    }

    /// Ends the wait, because bytes or the end of the input have arrived.
    #[inline(always)]
    pub(super) fn end_wait(&mut self, policy: WaitPolicy<'_>) {
        if let Some(throughput) = self.throughput_of(policy) {
            throughput.end_wait(Instant::now());
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
            return Some(throughput_error(slow, &self.protocol));
        }
        throughput.end_wait(Instant::now());
        None
    }

    /// Counts bytes towards the minimum.
    #[inline(always)]
    pub(super) fn count_bytes(&mut self, bytes: usize, policy: WaitPolicy<'_>) {
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
}

fn throughput_error(slow: TooSlow, protocol: &impl Protocol) -> Error {
    slow.error(&protocol.peer(), protocol.during())
}
