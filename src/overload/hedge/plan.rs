//! The plan of one request: decides after each event whether the caller starts another attempt, waits, or stops.
//!
//! The rules are those of gRPC's proposal A6, "Hedging Policy" and "Pushback". All times are seconds since the start of
//! the first attempt, and the caller supplies them.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::overload::Report;
use crate::overload::hedge::{Hedge, MAX_SECONDS, invalid};
use crate::overload::key_table::Slot;
use crate::overload::range;

/// The largest number of attempts of a request, the first one included. Polly's hedging strategy has the same maximum.
pub(super) const MAX_ATTEMPTS: usize = 10;

/// An event of an attempt or of the timer.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The time of [`Plan::timer`] is reached.
    Timer = 0,
    /// The attempt has succeeded.
    Success = 1,
    /// The attempt has failed, and another attempt may succeed.
    Failure = 2,
    /// The attempt has failed, and every other attempt would fail, too.
    Fatal = 3,
}

impl Event {
    pub fn from_code(code: i32) -> Option<Event> {
        match code {
            0 => Some(Event::Timer),
            1 => Some(Event::Success),
            2 => Some(Event::Failure),
            3 => Some(Event::Fatal),
            _ => None,
        }
    }
}

/// The next action of the caller.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Waits for the next event.
    Wait = 0,
    /// Starts another attempt.
    Start = 1,
    /// Cancels the other attempts: the outcome of this event's attempt is the result of the request.
    CancelOthers = 2,
    /// The request has succeeded, and no attempt is running.
    Done = 3,
    /// The request has failed, and no attempt is running.
    Failed = 4,
}

#[derive(Clone, Copy)]
struct Attempt {
    started: f64,
    running: bool,
    /// The lease that the budget returned for the attempt; `None` for the first attempt, and without a budget.
    lease: Option<u64>,
}

/// The plan of one request.
pub struct Plan {
    hedge: Arc<Hedge>,
    /// The key with which the plan asks the budget; empty without a budget.
    key: Vec<u8>,
    /// The slot of the key whose latencies are recorded; `None` if the latency of this request is not recorded.
    slot: Option<Slot>,
    /// The delay between two attempts; infinity if the timer starts no attempt.
    delay: f64,
    max_attempts: usize,
    first: Attempt,
    /// The further attempts. Most requests have none, and then the list has no memory.
    further: Vec<Attempt>,
    /// The time at which the timer starts the next attempt; infinity if it starts none.
    due: f64,
    /// The time before which the server has asked not to start an attempt.
    not_before: f64,
    /// The latest time that the caller passed.
    now: f64,
    /// [`Action::Done`] or [`Action::Failed`] once the request has ended.
    end: Option<Action>,
    denied: Option<Arc<Error>>,
}

impl Plan {
    /// Makes the plan of a request whose first attempt starts now. If `max_attempts` is 1, the plan starts no further
    /// attempt.
    pub(super) fn new(hedge: Arc<Hedge>, key: Vec<u8>, slot: Option<Slot>, delay: f64, max_attempts: usize) -> Plan {
        Plan {
            hedge,
            key,
            slot,
            delay,
            max_attempts,
            first: Attempt { started: 0.0, running: true, lease: None },
            further: Vec::new(),
            due: if max_attempts > 1 { delay } else { f64::INFINITY },
            not_before: 0.0,
            now: 0.0,
            end: None,
            denied: None,
        }
    }

    /// Returns the time at which [`Event::Timer`] is due; infinity if it never is.
    pub fn timer(&self) -> f64 {
        self.due
    }

    /// Returns the number of attempts that were started, the first one included.
    pub fn attempts(&self) -> i32 {
        self.started() as i32
    }

    fn started(&self) -> usize {
        1 + self.further.len()
    }

    fn all(&mut self) -> impl Iterator<Item = &mut Attempt> {
        std::iter::once(&mut self.first).chain(&mut self.further)
    }

    /// Returns the error of the budget that denied a further attempt.
    pub fn denied(&self) -> Option<&Arc<Error>> {
        self.denied.as_ref()
    }

    /// Reports an event, and returns the caller's next action. `attempt` is the number of the attempt, from 1; a timer
    /// has none. A time before an earlier one counts as the earlier one.
    pub fn step(&mut self, event: Event, attempt: i32, seconds: f64) -> Result<Action> {
        let index = if event == Event::Timer { None } else { Some(self.index_of(attempt)?) };
        self.advance(seconds)?;
        if let Some(end) = self.end {
            return Ok(end);
        }
        Ok(match (event, index) {
            (Event::Timer, _) | (_, None) => {
                if self.now < self.due {
                    return Ok(Action::Wait);
                }
                self.start_next()
            }
            (Event::Success, Some(index)) => {
                let latency = self.now - self.oldest_start();
                if let Some(slot) = self.slot {
                    self.hedge.record_latency(slot, latency);
                }
                self.finish(index, Report::Success, Action::Done)
            }
            (Event::Fatal, Some(index)) => self.finish(index, Report::None, Action::Failed),
            (Event::Failure, Some(index)) => {
                self.end_attempt(index, Report::Failure);
                self.due = if self.may_start() { self.not_before } else { f64::INFINITY };
                if self.due <= self.now { self.start_next() } else { self.wait() }
            }
        })
    }

    /// Reports that an attempt has failed, and that the server has asked to start the next attempt after `wait`
    /// seconds. With a negative `wait`, the server has asked to start no further attempt.
    pub fn push_back(&mut self, attempt: i32, wait: f64, seconds: f64) -> Result<Action> {
        let index = self.index_of(attempt)?;
        range::check(wait, -MAX_SECONDS, MAX_SECONDS, "wait")?;
        self.advance(seconds)?;
        if let Some(end) = self.end {
            return Ok(end);
        }
        self.end_attempt(index, if wait < 0.0 { Report::Failure } else { Report::Throttled });
        if wait < 0.0 {
            self.max_attempts = self.started();
        } else {
            self.not_before = self.not_before.max(self.now + wait);
        }
        self.due = if self.may_start() { self.not_before } else { f64::INFINITY };
        Ok(self.wait())
    }

    /// Returns the index of the attempt with this number. Fails if the attempt was never started, or if it has ended
    /// although the request has not.
    fn index_of(&mut self, attempt: i32) -> Result<usize> {
        let index = usize::try_from(attempt).ok().and_then(|attempt| attempt.checked_sub(1));
        let has_ended = self.end.is_some();
        match index.and_then(|index| Some((index, self.all().nth(index)?.running))) {
            None => Err(invalid(format!(
                "attempt must be 1 to {}, the number of started attempts; it is {attempt}",
                self.started()
            ))),
            Some((_, false)) if !has_ended => Err(invalid(format!("attempt {attempt} has already failed"))),
            Some((index, _)) => Ok(index),
        }
    }

    fn advance(&mut self, seconds: f64) -> Result<()> {
        if !(seconds.is_finite() && seconds >= 0.0) {
            return Err(invalid(format!("seconds must be 0 or more and finite; it is {seconds}")));
        }
        self.now = self.now.max(seconds);
        Ok(())
    }

    fn may_start(&self) -> bool {
        self.started() < self.max_attempts
    }

    fn running(&mut self) -> impl Iterator<Item = &mut Attempt> {
        self.all().filter(|attempt| attempt.running)
    }

    /// Returns the time at which the oldest running attempt started. If the second attempt succeeds first, the latency
    /// of the first attempt stays unknown, but it is longer than the time since this start. If the latency of the
    /// second attempt were recorded instead, slow answers would be missing from the sketch, and each hedge would lower
    /// the percentile.
    fn oldest_start(&mut self) -> f64 {
        self.running().map(|attempt| attempt.started).fold(f64::INFINITY, f64::min)
    }

    fn add_attempt(&mut self, lease: Option<u64>) {
        self.further.push(Attempt { started: self.now, running: true, lease });
        self.due = if self.may_start() { self.now + self.delay } else { f64::INFINITY };
    }

    /// Starts the next attempt, unless the budget denies it.
    fn start_next(&mut self) -> Action {
        match self.hedge.ask_for_attempt(&self.key) {
            Ok(lease) => {
                self.add_attempt(lease);
                Action::Start
            }
            Err(error) => {
                self.denied = Some(Arc::new(error));
                self.max_attempts = self.started();
                self.due = f64::INFINITY;
                self.wait()
            }
        }
    }

    /// Waits for the running attempts or for the timer. If there is neither, the request has failed.
    fn wait(&mut self) -> Action {
        if self.due < f64::INFINITY || self.running().next().is_some() {
            return Action::Wait;
        }
        self.end = Some(Action::Failed);
        Action::Failed
    }

    fn end_attempt(&mut self, index: usize, report: Report) {
        let Some(attempt) = self.all().nth(index) else { return };
        attempt.running = false;
        if let Some(lease) = attempt.lease.take() {
            self.hedge.report(lease, report);
        }
    }

    /// Ends the request with the outcome of an attempt.
    fn finish(&mut self, index: usize, report: Report, end: Action) -> Action {
        self.end_attempt(index, report);
        self.end = Some(end);
        self.due = f64::INFINITY;
        if self.cancel_running() { Action::CancelOthers } else { end }
    }

    /// Marks the running attempts as cancelled. Returns true if at least one was running.
    fn cancel_running(&mut self) -> bool {
        let mut any = false;
        for index in 0..self.started() {
            if self.all().nth(index).is_some_and(|attempt| attempt.running) {
                any = true;
                self.end_attempt(index, Report::None);
            }
        }
        any
    }
}

impl Drop for Plan {
    fn drop(&mut self) {
        self.cancel_running();
    }
}

#[cfg(test)]
mod tests;
