//! The minimum throughput of a stream's reads.
//!
//! What counts is what the program gets: plaintext, because records without any cost the peer next to nothing. In the
//! handshake, which has none, all bytes count. In a nest the stream that the program calls is the one that is guarded; the
//! streams below are told when its window ends.

use std::time::{Duration, Instant};

use super::transport::Fault;
use super::{Core, Stream, Terms};
use crate::error::{Error, Result};
use crate::socket::throughput::{Slow, Throughput};
use crate::status::Status;
use crate::tls::session::engine::Engine;

impl Terms<'_> {
    /// The same for a call that is no read of the program's.
    pub(super) fn unguarded(self) -> Self {
        Terms { is_guarded: false, ..self }
    }

    /// How long the peer may still take.
    pub(super) fn left(self) -> Option<Duration> {
        self.slow_at.map(|at| at.saturating_duration_since(Instant::now()))
    }

    /// For loops below the stream that is guarded, when what came was not enough for it.
    pub(super) fn check_throughput(self) -> Result<()> {
        if self.left() == Some(Duration::ZERO) { Err(too_slow()) } else { Ok(()) }
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
    fn guard(&mut self, terms: Terms<'_>) -> Option<&mut Throughput> {
        self.throughput.as_deref_mut().filter(|_| terms.is_guarded)
    }

    /// Before a receive, which may wait: until when.
    pub(super) fn begin_wait<'a>(&mut self, terms: Terms<'a>) -> Result<Terms<'a>> {
        let Some(throughput) = self.guard(terms) else { return Ok(terms) };
        let now = Instant::now();
        match throughput.begin_wait(now) {
            Ok(left) => Ok(Terms { slow_at: now.checked_add(left), ..terms }),
            Err(slow) => Err(told(slow, &self.engine)),
        }
    }

    /// After a receive that found nothing, of which the program is told.
    pub(super) fn wait_on(&mut self, terms: Terms<'_>) -> Result<()> {
        match self.guard(terms).map(|throughput| throughput.wait_on(Instant::now())) {
            Some(Err(slow)) => Err(told(slow, &self.engine)),
            _ => Ok(()),
        }
    }

    /// After a receive: how many bytes of records came.
    #[inline(always)]
    pub(super) fn end_wait(&mut self, arrived: usize, terms: Terms<'_>) {
        self.arrived = self.arrived.saturating_add(arrived as u64);
        let counts = !self.shaken;
        if let Some(throughput) = self.guard(terms) {
            throughput.end_wait(Instant::now());
            if counts {
                throughput.add(arrived);
            }
        }
    }

    /// After a receive that failed. The error, if that was for slowness.
    pub(super) fn end_wait_by(&mut self, fault: &Fault, terms: Terms<'_>) -> Option<Error> {
        let throughput = self.guard(terms)?;
        let is_slow = match fault {
            Fault::Late(status) => *status == Status::TooSlow,
            Fault::Outer(error) => error.status() == Status::TooSlow,
            _ => false,
        };
        if is_slow {
            let slow = throughput.end_window(Instant::now());
            return Some(told(slow, &self.engine));
        }
        throughput.end_wait(Instant::now());
        None
    }

    /// Plaintext that the program has got.
    pub(super) fn count_plaintext(&mut self, bytes: usize, terms: Terms<'_>) {
        if let Some(throughput) = self.guard(terms) {
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
    pub(super) fn shake_done(&mut self) {
        self.shaken = true;
        self.begin_window();
    }
}

fn told(slow: Slow, engine: &Engine) -> Error {
    slow.error(&engine.peer(), engine.during())
}

/// Of a wait below the stream that is guarded, which has the numbers.
pub(super) fn too_slow() -> Error {
    Error::new(Status::TooSlow, "less came than the minimum throughput that was asked for")
}
