//! Runs sequences of events, and compares the action and the timer after each event.

use std::ffi::CStr;

use super::*;
use crate::overload::budget::{Budget, BudgetOptions, Kind};
use crate::overload::hedge::HedgeOptions;
use crate::status::Status;

const FOREVER: f64 = f64::INFINITY;

/// Makes a budget for `hedges` hedges: a hedge costs 100 tokens.
fn budget(hedges: f64) -> Arc<Budget> {
    let mut options = BudgetOptions::default();
    options.set_tokens(100.0 * hedges, 100.0, 100.0, 1.0).unwrap();
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
            "a failure starts the next attempt at once, and the delay begins again",
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
            "after a failure of the last attempt, the other one is still running",
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
            "a pushback delays the next attempt; later attempts follow as usual",
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
fn a_method_that_is_not_allowed_gets_no_timer_and_no_hedge() {
    for method in [c"POST", c"PATCH", c"GETX", c"CONNECT"] {
        let mut plan = plan_of(0.5, 4, method, None);
        let rows = [(On(Timer, 0, 9.0), Action::Wait, FOREVER), (On(Failure, 1, 9.0), Action::Failed, FOREVER)];
        assert_eq!(plan.timer(), FOREVER, "{method:?}");
        check("POST", &mut plan, &rows);
    }
}

#[test]
fn invalid_arguments_are_refused_by_name_and_change_nothing() {
    let mut plan = plan_of(0.5, 3, c"GET", None);
    let rows = [(On(Timer, 0, 0.5), Action::Start, 1.0), (On(Failure, 1, 0.75), Action::Start, FOREVER)];
    check("start", &mut plan, &rows);
    let attempt = |number: i32| format!("attempt must be 1 to 3, the number of started attempts; it is {number}");
    let seconds = |value: f64| format!("seconds must be 0 or more and finite; it is {value}");
    let wait = |value: f64| format!("wait must be -1000000000 to 1000000000; it is {value}");
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
        (Pushback(2, 1e308, 1.0), wait(1e308)),
        (Pushback(2, -1.1e9, 1.0), wait(-1.1e9)),
    ] {
        let result = match step {
            On(event, attempt, seconds) => plan.step(event, attempt, seconds),
            Pushback(attempt, wait, seconds) => plan.push_back(attempt, wait, seconds),
        };
        let error = result.unwrap_err();
        assert_eq!((error.status(), error.message()), (Status::InvalidArgument, message.as_str()));
    }
    check("afterwards", &mut plan, &[(On(Success, 3, 0.75), Action::CancelOthers, FOREVER)]);
    // After the request has ended, the outcomes of all attempts are ignored.
    for attempt in 1..=3 {
        check("late", &mut plan, &[(On(Fatal, attempt, 0.0), Action::Done, FOREVER)]);
    }
    assert_eq!(plan.step(Success, 4, 1.0).unwrap_err().message(), attempt(4));
}

#[test]
fn hedges_cost_tokens_and_only_successful_hedges_return_them() {
    use Action::{CancelOthers, Done, Failed, Start, Wait};
    // Columns: the name; the steps, with the tokens after each. The bucket has 500 of 1,000 tokens at first.
    type TokenRow = (Step, Action, f64, f64);
    let cases: &[(&str, &[TokenRow])] = &[
        ("the first attempt succeeds", &[(On(Success, 1, 0.1), Done, FOREVER, 500.0)]),
        ("the first attempt fails", &[(On(Fatal, 1, 0.1), Failed, FOREVER, 500.0)]),
        (
            "the hedge succeeds and returns its cost; the first attempt is cancelled",
            &[
                (On(Timer, 0, 0.5), Start, 1.0, 400.0),
                (On(Success, 2, 0.6), CancelOthers, FOREVER, 500.0),
                (On(Success, 1, 0.6), Done, FOREVER, 500.0),
            ],
        ),
        (
            "the first attempt succeeds; the cancelled hedge does not return its cost",
            &[(On(Timer, 0, 0.5), Start, 1.0, 400.0), (On(Success, 1, 0.6), CancelOthers, FOREVER, 400.0)],
        ),
        (
            "failures return no tokens",
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
fn a_plan_that_is_freed_early_ends_its_leases_and_returns_no_tokens() {
    let budget = budget(1.0);
    let mut plan = plan_of(0.5, 2, c"GET", Some(&budget));
    check("start", &mut plan, &[(On(Timer, 0, 0.5), Action::Start, FOREVER)]);
    let leases: Vec<_> = plan.all().filter_map(|attempt| attempt.lease).collect();
    drop(plan);
    for lease in leases {
        budget.report(lease, Report::Success);
    }
    assert_eq!(budget.left(b"key").unwrap(), 0.0);
}

#[test]
fn a_denied_hedge_ends_hedging_and_the_plan_returns_the_error() {
    use Action::{Done, Failed, Start, Wait};
    let cases: &[(&str, usize, &[Row])] = &[
        ("timer", 0, &[(On(Timer, 0, 0.5), Wait, FOREVER), (On(Success, 1, 0.6), Done, FOREVER)]),
        ("failure", 0, &[(On(Failure, 1, 0.25), Failed, FOREVER)]),
        ("pushback", 0, &[(Pushback(1, 0.5, 0.25), Wait, 0.75), (On(Timer, 0, 0.75), Failed, FOREVER)]),
        (
            "second hedge",
            1,
            &[
                (On(Timer, 0, 0.5), Start, 1.0),
                (On(Timer, 0, 1.0), Wait, FOREVER),
                (On(Failure, 1, 1.5), Wait, FOREVER),
                (On(Failure, 2, 1.5), Failed, FOREVER),
            ],
        ),
    ];
    for (name, granted, rows) in cases {
        let budget = budget(2.0);
        let mut taken: Vec<_> = (*granted..2).map(|_| budget.ask(b"key", Kind::Hedge).unwrap()).collect();
        let mut plan = plan_of(0.5, 4, c"GET", Some(&budget));
        assert!(plan.denied().is_none());
        for (step, action, timer) in *rows {
            check(name, &mut plan, &[(*step, *action, *timer)]);
            if plan.denied().is_some() {
                // The budget would now grant hedges again, but the plan does not ask again.
                taken.drain(..).for_each(|lease| budget.report(lease, Report::Success));
            }
        }
        let denied = plan.denied().map(|error| (error.status(), error.message()));
        let message = "the retry budget of key has 0 tokens left; a hedge costs 100";
        assert_eq!(denied, Some((Status::RetryBudgetEmpty, message)), "{name}");
    }
}
