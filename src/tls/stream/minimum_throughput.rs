//! The minimum throughput of a stream's reads.
//!
//! What counts is what the program gets: plaintext, because records without any cost the peer next to nothing. In the
//! handshake, which has none, all bytes count. In a nest the stream that the program calls is the one that is guarded; the
//! streams below are told when its window ends.

use std::time::{Duration, Instant};

use super::transport::Fault;
use super::{Core, Stream, WaitPolicy};
use crate::error::{Error, Result};
use crate::socket::throughput::{Slow, Throughput};
use crate::status::Status;
use crate::tls::session::engine::Engine;

impl WaitPolicy<'_> {
    /// The same for a call that is no read of the program's.
    pub(super) fn without_throughput(self) -> Self {
        WaitPolicy { counts_throughput: false, ..self }
    }

    /// How long the peer may still take.
    pub(super) fn throughput_time_left(self) -> Option<Duration> {
        self.throughput_deadline.map(|at| at.saturating_duration_since(Instant::now()))
    }

    /// For loops below the stream that is guarded, when what came was not enough for it.
    pub(super) fn check_throughput(self) -> Result<()> {
        if self.throughput_time_left() == Some(Duration::ZERO) { Err(too_slow()) } else { Ok(()) }
    }
}

impl Stream {
    /// A new window begins.
    pub fn set_minimum_throughput(&self, throughput: Throughput) -> Result<()> {
        self.lock()?.throughput = Some(Box::new(throughput));
        Ok(())
    }
}

impl Core {
    fn throughput_of(&mut self, policy: WaitPolicy<'_>) -> Option<&mut Throughput> {
        self.throughput.as_deref_mut().filter(|_| policy.counts_throughput)
    }

    /// Before a receive, which may wait: until when.
    pub(super) fn begin_wait<'a>(&mut self, policy: WaitPolicy<'a>) -> Result<WaitPolicy<'a>> {
        let Some(throughput) = self.throughput_of(policy) else { return Ok(policy) };
        let now = Instant::now();
        match throughput.begin_wait(now) {
            Ok(left) => Ok(WaitPolicy { throughput_deadline: now.checked_add(left), ..policy }),
            Err(slow) => Err(throughput_error(slow, &self.engine)),
        }
    }

    /// After a receive that found nothing, of which the program is told.
    pub(super) fn continue_wait(&mut self, policy: WaitPolicy<'_>) -> Result<()> {
        match self.throughput_of(policy).map(|throughput| throughput.wait_on(Instant::now())) {
            Some(Err(slow)) => Err(throughput_error(slow, &self.engine)),
            _ => Ok(()),
        }
    }

    /// After a receive: how many bytes of records came.
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

    /// After a receive that failed. The error, if that was for slowness.
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

    /// Plaintext that the program has got.
    pub(super) fn count_plaintext(&mut self, bytes: usize, policy: WaitPolicy<'_>) {
        if let Some(throughput) = self.throughput_of(policy) {
            throughput.add(bytes);
        }
    }

    /// Nothing is owed any more: what comes next has all of its time.
    pub(super) fn begin_window(&mut self) {
        if let Some(throughput) = &mut self.throughput {
            throughput.restart();
        }
    }

    /// The handshake is done and its last flight sent.
    pub(super) fn set_handshake_done(&mut self) {
        self.handshake_done = true;
        self.begin_window();
    }
}

fn throughput_error(slow: Slow, engine: &Engine) -> Error {
    slow.error(&engine.peer(), engine.during())
}

/// Of a wait below the stream that is guarded, which has the numbers.
pub(super) fn too_slow() -> Error {
    Error::new(Status::TooSlow, "less came than the minimum throughput that was asked for")
}
