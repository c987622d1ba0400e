//! The plan of one request: decides after each event whether the caller starts another attempt, waits, or stops.
//!
//! The rules are those of gRPC's proposal A6, "Hedging Policy" and "Pushback". All times are seconds since the start of
//! the first attempt, and the caller supplies them.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::overload::Report;
use crate::overload::hedge::{Hedge, invalid};
use crate::overload::key_table::Slot;

/// The largest number of attempts of a request, the first one included. Polly's hedging strategy has the same maximum.
pub(super) const MAX_ATTEMPTS: usize = 10;

/// What has happened to an attempt, or to the timer.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The time of [`Plan::timer`] has come.
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

/// What the caller does next.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Waits for the next event.
    Wait = 0,
    /// Starts another attempt.
    Start = 1,
    /// Cancels the other attempts: the answer of this event's attempt is the result of the request.
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
    /// The number that the budget gave to the attempt; `None` for the first attempt, and without a budget.
    lease: Option<u64>,
}

/// The plan of one request.
pub struct Plan {
    hedge: Arc<Hedge>,
    /// The key for the budget; empty without a budget.
    key: Vec<u8>,
    /// The place of the key's latencies; `None` if the latency of this request is not recorded.
    slot: Option<Slot>,
    /// The delay between two attempts; infinity if no attempt starts because of the time.
    delay: f64,
    max_attempts: usize,
    attempts: [Attempt; MAX_ATTEMPTS],
    started: usize,
    /// The time at which the next attempt starts; infinity if none starts because of the time.
    due: f64,
    /// The time before which the server has asked not to start an attempt.
    not_before: f64,
    /// The latest time that the caller has passed.
    now: f64,
    /// [`Action::Done`] or [`Action::Failed`] after the request has ended.
    end: Option<Action>,
    denied: Option<Arc<Error>>,
}

impl Plan {
    /// Makes the plan of a request whose first attempt starts now. If `max_attempts` is 1, the plan starts no further
    /// attempt.
    pub(super) fn new(hedge: Arc<Hedge>, key: Vec<u8>, slot: Option<Slot>, delay: f64, max_attempts: usize) -> Plan {
        let attempt = Attempt { started: 0.0, running: false, lease: None };
        let mut plan = Plan {
            hedge,
            key,
            slot,
            delay,
            max_attempts,
            attempts: [attempt; MAX_ATTEMPTS],
            started: 0,
            due: f64::INFINITY,
            not_before: 0.0,
            now: 0.0,
            end: None,
            denied: None,
        };
        plan.add_attempt(None);
        plan
    }

    /// Returns the time at which [`Event::Timer`] is due; infinity if it never is.
    pub fn timer(&self) -> f64 {
        self.due
    }

    /// Returns the number of attempts that were started, the first one included.
    pub fn attempts(&self) -> i32 {
        self.started as i32
    }

    /// Returns the error with which the budget denied a further attempt.
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
                    self.hedge.record(slot, latency);
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
        if !wait.is_finite() {
            return Err(invalid(format!("wait must be finite; it is {wait}")));
        }
        self.advance(seconds)?;
        if let Some(end) = self.end {
            return Ok(end);
        }
        self.end_attempt(index, if wait < 0.0 { Report::Failure } else { Report::Throttled });
        if wait < 0.0 {
            self.max_attempts = self.started;
        } else {
            self.not_before = self.not_before.max(self.now + wait);
        }
        self.due = if self.may_start() { self.not_before } else { f64::INFINITY };
        Ok(self.wait())
    }

    /// Returns the index of the attempt with this number. Fails if the attempt was never started, or if it has ended
    /// although the request has not.
    fn index_of(&self, attempt: i32) -> Result<usize> {
        let index = usize::try_from(attempt).ok().and_then(|attempt| attempt.checked_sub(1));
        match index.filter(|&index| index < self.started) {
            None => Err(invalid(format!(
                "attempt must be 1 to {}, the number of started attempts; it is {attempt}",
                self.started
            ))),
            Some(index) if self.end.is_none() && !self.attempts[index].running => {
                Err(invalid(format!("attempt {attempt} has already failed")))
            }
            Some(index) => Ok(index),
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
        self.started < self.max_attempts
    }

    fn running(&mut self) -> impl Iterator<Item = &mut Attempt> {
        self.attempts[..self.started].iter_mut().filter(|attempt| attempt.running)
    }

    /// Returns the time at which the oldest running attempt started. If a copy answers first, the latency of the first
    /// attempt is unknown, but longer than the time since this start. With the latency of the copy instead, slow
    /// answers would be missing from the sketch, and the percentile would shrink with every copy.
    fn oldest_start(&mut self) -> f64 {
        self.running().map(|attempt| attempt.started).fold(f64::INFINITY, f64::min)
    }

    fn add_attempt(&mut self, lease: Option<u64>) {
        self.attempts[self.started] = Attempt { started: self.now, running: true, lease };
        self.started += 1;
        self.due = if self.may_start() { self.now + self.delay } else { f64::INFINITY };
    }

    /// Starts the next attempt, unless the budget denies it.
    fn start_next(&mut self) -> Action {
        match self.hedge.ask_for_copy(&self.key) {
            Ok(lease) => {
                self.add_attempt(lease);
                Action::Start
            }
            Err(error) => {
                self.denied = Some(Arc::new(error));
                self.max_attempts = self.started;
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
        let attempt = &mut self.attempts[index];
        attempt.running = false;
        if let Some(lease) = attempt.lease.take() {
            self.hedge.report(lease, report);
        }
    }

    /// Ends the request with the answer of an attempt.
    fn finish(&mut self, index: usize, report: Report, end: Action) -> Action {
        self.end_attempt(index, report);
        self.end = Some(end);
        self.due = f64::INFINITY;
        if self.cancel_running() { Action::CancelOthers } else { end }
    }

    /// Marks the running attempts as cancelled. Returns whether there was one.
    fn cancel_running(&mut self) -> bool {
        let mut any = false;
        for index in 0..self.started {
            if self.attempts[index].running {
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
mod tests {
    use std::ffi::CStr;

    use super::*;
    use crate::overload::budget::{Budget, BudgetOptions, Kind};
    use crate::overload::hedge::HedgeOptions;
    use crate::status::Status;

    const FOREVER: f64 = f64::INFINITY;

    /// Makes a budget with a capacity for `copies` copies: a copy costs 100 tokens.
    fn budget(copies: f64) -> Arc<Budget> {
        let mut options = BudgetOptions::default();
        options.set_tokens(100.0 * copies, 100.0, 100.0, 1.0).unwrap();
        Arc::new(Budget::new(options).unwrap())
    }

    fn plan_of(delay: f64, max_attempts: i32, method: &CStr, budget: Option<&Arc<Budget>>) -> Plan {
        let mut options = HedgeOptions::default();
        options.set_delay(delay).unwrap();
        options.set_max_attempts(max_attempts).unwrap();
        options.set_budget(budget.cloned());
        Arc::new(Hedge::new(options)).start(b"key", method).unwrap()
    }

    #[derive(Clone, Copy)]
    enum Step {
        /// An event, the number of its attempt, and its time.
        On(Event, i32, f64),
        /// The number of the attempt, the wait, and the time.
        Pushback(i32, f64, f64),
    }
    /// A step, and the action and the timer after it.
    type Row = (Step, Action, f64);
    use Event::{Failure, Fatal, Success, Timer};
    use Step::{On, Pushback};

    /// Runs the steps and compares the action and the timer after each step.
    fn check(name: &str, plan: &mut Plan, rows: &[Row]) {
        for (i, (step, action, timer)) in rows.iter().enumerate() {
            let result = match *step {
                On(event, attempt, seconds) => plan.step(event, attempt, seconds),
                Pushback(attempt, wait, seconds) => plan.push_back(attempt, wait, seconds),
            };
            let taken = result.unwrap_or_else(|error| panic!("{name}, step {i}: {}", error.message()));
            assert_eq!((taken, plan.timer()), (*action, *timer), "{name}, step {i}");
        }
    }

    #[test]
    fn the_example_of_proposal_a6_starts_4_attempts_half_a_second_apart() {
        use Action::{CancelOthers, Done, Start, Wait};
        let mut plan = plan_of(0.5, 4, c"GET", None);
        assert_eq!((plan.timer(), plan.attempts()), (0.5, 1));
        check(
            "A6",
            &mut plan,
            &[
                (On(Timer, 0, 0.499), Wait, 0.5),
                (On(Timer, 0, 0.5), Start, 1.0),
                (On(Timer, 0, 1.0), Start, 1.5),
                (On(Timer, 0, 1.5), Start, FOREVER),
                (On(Timer, 0, 60.0), Wait, FOREVER),
                (On(Success, 3, 61.0), CancelOthers, FOREVER),
                (On(Success, 1, 61.0), Done, FOREVER),
            ],
        );
        assert_eq!(plan.attempts(), 4);
    }

    #[test]
    fn each_sequence_of_events_gives_the_actions_of_proposal_a6() {
        use Action::{CancelOthers, Done, Failed, Start, Wait};
        let cases: &[(&str, f64, i32, &[Row])] = &[
            ("first attempt answers", 2.0, 2, &[(On(Success, 1, 0.1), Done, FOREVER)]),
            ("Polly 8", 2.0, 2, &[(On(Timer, 0, 2.0), Start, FOREVER), (On(Success, 1, 2.1), CancelOthers, FOREVER)]),
            (
                "a failure starts the next copy at once, and the delay begins again",
                0.5,
                3,
                &[(On(Failure, 1, 0.2), Start, 0.7), (On(Timer, 0, 0.7), Start, FOREVER)],
            ),
            (
                "the request fails if all attempts fail",
                0.5,
                2,
                &[(On(Failure, 1, 0.2), Start, FOREVER), (On(Failure, 2, 0.3), Failed, FOREVER)],
            ),
            (
                "a failure of the last copy waits for the other one",
                0.5,
                2,
                &[
                    (On(Timer, 0, 0.5), Start, FOREVER),
                    (On(Failure, 2, 0.6), Wait, FOREVER),
                    (On(Success, 1, 0.7), Done, FOREVER),
                ],
            ),
            ("a fatal failure alone", 0.5, 4, &[(On(Fatal, 1, 0.2), Failed, FOREVER)]),
            (
                "a fatal failure cancels the others",
                0.5,
                4,
                &[
                    (On(Timer, 0, 0.5), Start, 1.0),
                    (On(Fatal, 2, 0.6), CancelOthers, FOREVER),
                    (On(Success, 1, 0.7), Failed, FOREVER),
                    (On(Timer, 0, 1.0), Failed, FOREVER),
                ],
            ),
            (
                "pushback delays the next copy, later copies follow as usual",
                0.5,
                4,
                &[
                    (Pushback(1, 3.0, 0.25), Wait, 3.25),
                    (On(Timer, 0, 0.5), Wait, 3.25),
                    (On(Timer, 0, 3.25), Start, 3.75),
                    (On(Timer, 0, 3.75), Start, 4.25),
                ],
            ),
            (
                "pushback shorter than the delay",
                0.5,
                4,
                &[(On(Timer, 0, 0.5), Start, 1.0), (Pushback(1, 0.0, 0.75), Wait, 0.75)],
            ),
            (
                "a failure during the wait of a pushback",
                0.5,
                4,
                &[
                    (On(Timer, 0, 0.5), Start, 1.0),
                    (Pushback(1, 2.0, 0.75), Wait, 2.75),
                    (On(Failure, 2, 1.0), Wait, 2.75),
                    (On(Timer, 0, 2.75), Start, 3.25),
                    (On(Failure, 3, 3.0), Start, FOREVER),
                ],
            ),
            (
                "a shorter pushback after a longer one",
                0.5,
                4,
                &[
                    (On(Timer, 0, 0.5), Start, 1.0),
                    (Pushback(1, 2.0, 0.75), Wait, 2.75),
                    (Pushback(2, 0.5, 1.0), Wait, 2.75),
                ],
            ),
            ("negative pushback alone", 0.5, 4, &[(Pushback(1, -1.0, 0.25), Failed, FOREVER)]),
            (
                "negative pushback with another attempt",
                0.5,
                4,
                &[
                    (On(Timer, 0, 0.5), Start, 1.0),
                    (Pushback(1, -1.0, 0.75), Wait, FOREVER),
                    (On(Failure, 2, 1.0), Failed, FOREVER),
                ],
            ),
            (
                "pushback to the last attempt",
                0.5,
                2,
                &[(On(Failure, 1, 0.25), Start, FOREVER), (Pushback(2, 1.0, 0.5), Failed, FOREVER)],
            ),
            ("a late timer", 0.5, 3, &[(On(Timer, 0, 7.0), Start, 7.5), (On(Timer, 0, 7.5), Start, FOREVER)]),
            (
                "delay 0",
                0.0,
                3,
                &[
                    (On(Timer, 0, 0.0), Start, 0.0),
                    (On(Timer, 0, 0.0), Start, FOREVER),
                    (On(Timer, 0, 0.0), Wait, FOREVER),
                ],
            ),
            (
                "a time before an earlier one counts as the earlier one",
                0.5,
                4,
                &[
                    (On(Timer, 0, 0.5), Start, 1.0),
                    (On(Timer, 0, 0.25), Wait, 1.0),
                    (On(Failure, 1, 0.0), Start, 1.0),
                    (Pushback(2, 1.0, 0.0), Wait, 1.5),
                ],
            ),
        ];
        for (name, delay, max_attempts, rows) in cases {
            check(name, &mut plan_of(*delay, *max_attempts, c"get", None), rows);
        }
    }

    #[test]
    fn a_method_that_is_not_allowed_has_neither_timer_nor_copies() {
        for method in [c"POST", c"PATCH", c"GETX", c"CONNECT"] {
            let mut plan = plan_of(0.5, 4, method, None);
            let rows = [(On(Timer, 0, 9.0), Action::Wait, FOREVER), (On(Failure, 1, 9.0), Action::Failed, FOREVER)];
            assert_eq!(plan.timer(), FOREVER, "{method:?}");
            check("POST", &mut plan, &rows);
        }
    }

    #[test]
    fn hostile_arguments_are_refused_by_name_and_change_nothing() {
        let mut plan = plan_of(0.5, 3, c"GET", None);
        let rows = [(On(Timer, 0, 0.5), Action::Start, 1.0), (On(Failure, 1, 0.75), Action::Start, FOREVER)];
        check("start", &mut plan, &rows);
        let attempt = |number: i32| format!("attempt must be 1 to 3, the number of started attempts; it is {number}");
        let seconds = |value: f64| format!("seconds must be 0 or more and finite; it is {value}");
        let wait = |value: f64| format!("wait must be finite; it is {value}");
        for (step, message) in [
            (On(Success, 4, 1.0), attempt(4)),
            (On(Failure, 0, 1.0), attempt(0)),
            (On(Fatal, -1, 1.0), attempt(-1)),
            (On(Fatal, i32::MIN, 1.0), attempt(i32::MIN)),
            (Pushback(i32::MAX, 1.0, 1.0), attempt(i32::MAX)),
            (On(Success, 1, 1.0), "attempt 1 has already failed".to_owned()),
            (Pushback(1, 1.0, 1.0), "attempt 1 has already failed".to_owned()),
            (On(Success, 2, f64::NAN), seconds(f64::NAN)),
            (On(Timer, 0, -1e-9), seconds(-1e-9)),
            (On(Timer, 0, FOREVER), seconds(FOREVER)),
            (Pushback(2, 1.0, -FOREVER), seconds(-FOREVER)),
            (Pushback(2, f64::NAN, 1.0), wait(f64::NAN)),
            (Pushback(2, FOREVER, 1.0), wait(FOREVER)),
            (Pushback(2, -FOREVER, 1.0), wait(-FOREVER)),
        ] {
            let result = match step {
                On(event, attempt, seconds) => plan.step(event, attempt, seconds),
                Pushback(attempt, wait, seconds) => plan.push_back(attempt, wait, seconds),
            };
            let error = result.unwrap_err();
            assert_eq!((error.status(), error.message()), (Status::InvalidArgument, message.as_str()));
        }
        check("afterwards", &mut plan, &[(On(Success, 3, 0.75), Action::CancelOthers, FOREVER)]);
        // Once the request has ended, the answers of all attempts are ignored.
        for attempt in 1..=3 {
            check("late", &mut plan, &[(On(Fatal, attempt, 0.0), Action::Done, FOREVER)]);
        }
        assert_eq!(plan.step(Success, 4, 1.0).unwrap_err().message(), attempt(4));
    }

    #[test]
    fn copies_cost_tokens_and_only_successful_copies_pay_back() {
        use Action::{CancelOthers, Done, Failed, Start, Wait};
        // (the steps, with the tokens after each; 1,000 tokens at first, of which another request has taken 500)
        type TokenRow = (Step, Action, f64, f64);
        let cases: &[(&str, &[TokenRow])] = &[
            ("the first attempt succeeds", &[(On(Success, 1, 0.1), Done, FOREVER, 500.0)]),
            ("the first attempt fails", &[(On(Fatal, 1, 0.1), Failed, FOREVER, 500.0)]),
            (
                "the copy wins and returns its cost, the cancelled first attempt pays nothing",
                &[
                    (On(Timer, 0, 0.5), Start, 1.0, 400.0),
                    (On(Success, 2, 0.6), CancelOthers, FOREVER, 500.0),
                    (On(Success, 1, 0.6), Done, FOREVER, 500.0),
                ],
            ),
            (
                "the first attempt wins, the cancelled copy does not return its cost",
                &[(On(Timer, 0, 0.5), Start, 1.0, 400.0), (On(Success, 1, 0.6), CancelOthers, FOREVER, 400.0)],
            ),
            (
                "failures pay nothing",
                &[
                    (On(Failure, 1, 0.1), Start, 0.6, 400.0),
                    (Pushback(2, 0.5, 0.2), Wait, 0.7, 400.0),
                    (On(Timer, 0, 0.7), Start, FOREVER, 300.0),
                    (On(Failure, 3, 0.8), Failed, FOREVER, 300.0),
                ],
            ),
        ];
        for (name, rows) in cases {
            let budget = budget(10.0);
            (0..5).for_each(|_| assert!(budget.ask(b"key", Kind::Hedge).is_ok()));
            let mut plan = plan_of(0.5, 3, c"GET", Some(&budget));
            for (step, action, timer, tokens) in *rows {
                check(name, &mut plan, &[(*step, *action, *timer)]);
                assert_eq!(budget.left(b"key").unwrap(), *tokens, "{name}");
            }
            assert_eq!(budget.left(b"other").unwrap(), 1000.0);
        }
    }

    #[test]
    fn a_plan_that_is_freed_early_ends_its_leases_without_payback() {
        let budget = budget(1.0);
        let mut plan = plan_of(0.5, 2, c"GET", Some(&budget));
        check("start", &mut plan, &[(On(Timer, 0, 0.5), Action::Start, FOREVER)]);
        let leases: Vec<_> = plan.attempts[..2].iter().filter_map(|attempt| attempt.lease).collect();
        drop(plan);
        for lease in leases {
            budget.report(lease, Report::Success);
        }
        assert_eq!(budget.left(b"key").unwrap(), 0.0);
    }

    #[test]
    fn a_denied_copy_ends_hedging_and_the_plan_names_the_reason() {
        use Action::{Done, Failed, Start, Wait};
        let cases: &[(&str, usize, &[Row])] = &[
            ("timer", 0, &[(On(Timer, 0, 0.5), Wait, FOREVER), (On(Success, 1, 0.6), Done, FOREVER)]),
            ("failure", 0, &[(On(Failure, 1, 0.25), Failed, FOREVER)]),
            ("pushback", 0, &[(Pushback(1, 0.5, 0.25), Wait, 0.75), (On(Timer, 0, 0.75), Failed, FOREVER)]),
            (
                "second copy",
                1,
                &[
                    (On(Timer, 0, 0.5), Start, 1.0),
                    (On(Timer, 0, 1.0), Wait, FOREVER),
                    (On(Failure, 1, 1.5), Wait, FOREVER),
                    (On(Failure, 2, 1.5), Failed, FOREVER),
                ],
            ),
        ];
        for (name, copies, rows) in cases {
            let budget = budget(2.0);
            let mut taken: Vec<_> = (*copies..2).map(|_| budget.ask(b"key", Kind::Hedge).unwrap()).collect();
            let mut plan = plan_of(0.5, 4, c"GET", Some(&budget));
            assert!(plan.denied().is_none());
            for (step, action, timer) in *rows {
                check(name, &mut plan, &[(*step, *action, *timer)]);
                if plan.denied().is_some() {
                    // The budget would now grant copies again, but the plan does not ask again.
                    taken.drain(..).for_each(|lease| budget.report(lease, Report::Success));
                }
            }
            let denied = plan.denied().map(|error| (error.status(), error.message()));
            let message = "the retry budget of key has 0 tokens left; a hedge costs 100";
            assert_eq!(denied, Some((Status::RetryBudgetEmpty, message)), "{name}");
        }
    }
}
