//! Tests the scheduler with a simulated network and a simulated clock.

mod simulation;

use super::*;
use crate::socket::connect_options::ConnectOptions;

use simulation::Behaviour::{self, *};
use simulation::{NONE, RACING, Simulation};

type Row = (&'static [(u16, Option<Behaviour>)], Option<u64>, &'static str, &'static str);

fn check_rows(schedule: Schedule, rows: &[Row]) {
    for (addresses, timeout, end, report) in rows {
        let mut simulation = Simulation::new(addresses, schedule, *timeout);
        assert_eq!(simulation.run(), *end, "{report}");
        assert_eq!(simulation.report(), *report);
        assert_eq!(simulation.next_timer(), None, "{end}");
        simulation.scheduler.close_ended();
        assert_eq!(simulation.open.get(), 0, "{end}");
    }
}

#[test]
fn racing_attempts_start_after_the_attempt_delay_or_a_failure() {
    let rows: &[Row] = &[
        // The IPv6 address never answers; the IPv4 address accepts.
        (&[(1, None), (11, Some(ConnectedAfter(30)))], NONE, "11 won at 280", "1 0-280 Closed, 11 250-280 Ok"),
        // After a refused connection the next attempt starts without the delay.
        (
            &[(1, Some(RefusedAtOnce)), (2, Some(RefusedAtOnce)), (3, Some(ConnectedAfter(5)))],
            NONE,
            "3 won at 5",
            "1 0-0 ConnectFailed, 2 0-0 ConnectFailed, 3 0-5 Ok",
        ),
        (
            &[(1, Some(RefusedAfter(40))), (2, Some(RefusedAfter(40))), (3, Some(ConnectedAfter(40)))],
            NONE,
            "3 won at 120",
            "1 0-40 ConnectFailed, 2 40-80 ConnectFailed, 3 80-120 Ok",
        ),
        // Each address that never answers delays the next attempt once.
        (
            &[(1, None), (2, None), (3, Some(ConnectedAfter(0)))],
            NONE,
            "3 won at 500",
            "1 0-500 Closed, 2 250-500 Closed, 3 500-500 Ok",
        ),
        // The only address accepts after a long time.
        (&[(1, Some(ConnectedAfter(900)))], NONE, "1 won at 900", "1 0-900 Ok"),
        (
            &[(1, Some(ConnectedAfter(900))), (11, None), (2, Some(RefusedAfter(1)))],
            NONE,
            "1 won at 900",
            "1 0-900 Ok, 11 250-900 Closed, 2 500-501 ConnectFailed",
        ),
        // An attempt that started later may connect first.
        (
            &[(1, Some(ConnectedAfter(400))), (11, Some(ConnectedAfter(100)))],
            NONE,
            "11 won at 350",
            "1 0-350 Closed, 11 250-350 Ok",
        ),
        // If two sockets are connected at the same time, the one of the earlier attempt is returned.
        (
            &[(1, Some(ConnectedAfter(300))), (11, Some(ConnectedAfter(50)))],
            NONE,
            "1 won at 300",
            "1 0-300 Ok, 11 250-300 Closed",
        ),
        // Only a failure of the most recently started attempt starts the next attempt before the delay has passed.
        (
            &[(1, Some(RefusedAfter(251))), (2, None), (3, Some(ConnectedAfter(0)))],
            NONE,
            "3 won at 500",
            "1 0-251 ConnectFailed, 2 250-500 Closed, 3 500-500 Ok",
        ),
        // Attempts alternate between the address families.
        (
            &[(1, None), (2, None), (11, None), (12, Some(ConnectedAfter(0)))],
            NONE,
            "12 won at 750",
            "1 0-750 Closed, 11 250-750 Closed, 2 500-750 Closed, 12 750-750 Ok",
        ),
        // Each attempt has its own timeout, and a timeout is a failure.
        (
            &[(1, None), (2, None), (3, Some(ConnectedAfter(90)))],
            Some(100),
            "3 won at 290",
            "1 0-100 ConnectTimeout, 2 100-200 ConnectTimeout, 3 200-290 Ok",
        ),
        (&[(1, None), (2, None)], Some(600), "failed at 850", "1 0-600 ConnectTimeout, 2 250-850 ConnectTimeout"),
        (&[(1, None), (2, None)], Some(0), "failed at 0", "1 0-0 ConnectTimeout, 2 0-0 ConnectTimeout"),
        // An attempt that connects at the exact time of its timeout succeeds.
        (&[(1, Some(ConnectedAfter(100)))], Some(100), "1 won at 100", "1 0-100 Ok"),
        (
            &[(1, Some(RefusedAtOnce)), (2, Some(RefusedAfter(10)))],
            NONE,
            "failed at 10",
            "1 0-0 ConnectFailed, 2 0-10 ConnectFailed",
        ),
        // connect(2) of a Unix domain socket succeeds immediately.
        (&[(1, None), (11, Some(ConnectedAtOnce))], NONE, "11 won at 250", "1 0-250 Closed, 11 250-250 Ok"),
        (&[], NONE, "failed at 0", ""),
    ];
    check_rows(RACING, rows);
}

#[test]
fn the_race_in_the_documentation_is_won_by_its_fourth_attempt() {
    let addresses =
        &[(1, None), (2, Some(ConnectedAfter(400))), (11, Some(RefusedAfter(60))), (12, Some(ConnectedAfter(90)))];
    let report = include_str!("../../../docs/pictures/race.txt").trim_end();
    check_rows(RACING, &[(addresses, NONE, "12 won at 650", report)]);
}

#[test]
fn sequential_attempts_never_overlap() {
    let rows: &[Row] = &[
        // The attempt to an address that never answers lasts for its whole timeout; the next attempt starts after it.
        (
            &[(1, None), (11, Some(ConnectedAfter(30)))],
            Some(600),
            "11 won at 630",
            "1 0-600 ConnectTimeout, 11 600-630 Ok",
        ),
        // Each attempt has its own timeout.
        (
            &[(1, None), (2, None), (3, Some(ConnectedAfter(90)))],
            Some(100),
            "3 won at 290",
            "1 0-100 ConnectTimeout, 2 100-200 ConnectTimeout, 3 200-290 Ok",
        ),
        // Addresses keep the given order, even if their families differ.
        (
            &[(1, Some(RefusedAfter(10))), (2, Some(RefusedAtOnce)), (11, Some(RefusedAfter(20)))],
            NONE,
            "failed at 30",
            "1 0-10 ConnectFailed, 2 10-10 ConnectFailed, 11 10-30 ConnectFailed",
        ),
        // Without a timeout, the second attempt does not start while the slow first attempt is in progress.
        (&[(1, Some(ConnectedAfter(90_000))), (11, Some(ConnectedAtOnce))], NONE, "1 won at 90000", "1 0-90000 Ok"),
        // If connect(2) blocks, the attempt lasts until connect(2) returns, and the timeout of the next attempt starts
        // then.
        (
            &[(1, Some(BlockedThenRefused(70))), (2, Some(ConnectedAtOnce))],
            NONE,
            "2 won at 70",
            "1 0-70 ConnectFailed, 2 70-70 Ok",
        ),
        (
            &[(1, Some(RoomAfter(999))), (2, Some(RoomAfter(12)))],
            Some(32),
            "2 won at 47",
            "1 0-32 ConnectTimeout, 2 32-47 Ok",
        ),
        (&[], NONE, "failed at 0", ""),
    ];
    check_rows(Schedule::Sequential, rows);
}

#[test]
fn a_racing_attempt_starts_exactly_when_the_attempt_delay_has_passed() {
    assert_eq!(ConnectOptions::default().attempt_delay, Duration::from_millis(250));
    let mut simulation = Simulation::racing(&[(1, None), (2, None), (3, None)], Some(700));
    assert_eq!((simulation.step(0), simulation.next_timer()), ("pending".to_owned(), Some(250)));
    simulation.step(249);
    assert_eq!(simulation.report(), "1 0-- WantWrite");
    simulation.step(250);
    assert_eq!(simulation.report(), "1 0-- WantWrite, 2 250-- WantWrite");
    // A late step starts only one attempt, even if the delays of several attempts have passed.
    simulation.step(660);
    assert_eq!(simulation.report(), "1 0-- WantWrite, 2 250-- WantWrite, 3 660-- WantWrite");
    assert_eq!(simulation.next_timer(), Some(700));
    simulation.step(700);
    assert_eq!(simulation.next_timer(), Some(950));
    simulation.step(2000);
    assert_eq!(simulation.report(), "1 0-700 ConnectTimeout, 2 250-2000 ConnectTimeout, 3 660-2000 ConnectTimeout");
    assert_eq!(simulation.next_timer(), None);
}

#[test]
fn an_unanswered_attempt_without_a_timeout_stays_pending() {
    let mut simulation = Simulation::racing(&[(1, None)], NONE);
    for at in 0..1000 {
        assert_eq!(simulation.step(at * 1000), "pending");
        assert_eq!(
            (simulation.open.get(), simulation.scheduler.attempts.len(), simulation.scheduler.to_close.len()),
            (1, 1, 0)
        );
        assert_eq!(simulation.next_timer(), None);
    }
}

#[test]
fn the_socket_of_a_failed_attempt_is_closed_by_the_next_step() {
    let mut simulation = Simulation::racing(&[(1, Some(RefusedAfter(10))), (2, None), (3, None)], Some(5000));
    simulation.step(0);
    assert_eq!(simulation.open.get(), 1);
    simulation.step(10);
    assert_eq!(
        (simulation.report(), simulation.open.get()),
        ("1 0-10 ConnectFailed, 2 10-- WantWrite".to_owned(), 2)
    );
    simulation.step(11);
    assert_eq!(simulation.open.get(), 1);
}

#[test]
fn an_attempt_that_lacks_a_descriptor_is_retried_if_one_will_be_closed() {
    let simulate = |max_open, addresses: &[(u16, Option<Behaviour>)], timeout| {
        let mut simulation = Simulation::racing(addresses, timeout);
        simulation.scheduler.network.max_open = max_open;
        simulation
    };
    let pending = || "pending".to_owned();
    // The next step closes the descriptor of a failed attempt, so the timer requests that step immediately.
    let mut one = simulate(1, &[(1, Some(RefusedAfter(10))), (2, Some(ConnectedAfter(5))), (3, None)], NONE);
    assert_eq!((one.step(0), one.next_timer()), (pending(), Some(250)));
    assert_eq!((one.step(10), one.next_timer()), (pending(), Some(10)));
    assert_eq!((one.step(11), one.next_timer()), (pending(), Some(261)));
    assert_eq!(one.step(16), "2 won");
    assert_eq!(one.report(), "1 0-10 ConnectFailed, 2 11-16 Ok");
    // Attempts in progress will free their descriptors, so the new attempt is retried after the delay, or when one of
    // them has ended.
    let mut one = simulate(1, &[(1, Some(RefusedAfter(600))), (2, Some(ConnectedAfter(5)))], NONE);
    one.step(0);
    for (at, next) in [(250, Some(500)), (499, Some(500)), (500, Some(750)), (600, Some(600)), (600, None)] {
        assert_eq!((one.step(at), one.next_timer()), (pending(), next), "{at}");
    }
    assert_eq!(one.step(605), "2 won");
    assert_eq!(one.report(), "1 0-600 ConnectFailed, 2 600-605 Ok");
    // No descriptor is free for the first attempt. If the caller will close a descriptor, the attempt is retried;
    // otherwise the attempt fails.
    let mut none = simulate(0, &[(1, None), (2, None)], NONE);
    assert_eq!((none.step_with(0, true), none.next_timer(), none.report()), (pending(), Some(0), String::new()));
    assert_eq!(
        (none.step(0), none.report()),
        ("failed".to_owned(), "1 0-0 ConnectFailed, 2 0-0 ConnectFailed".to_owned())
    );
    let mut later = simulate(0, &[(1, None)], NONE);
    later.step_with(0, true);
    later.scheduler.network.max_open = 1;
    assert_eq!((later.step(0), later.report()), (pending(), "1 0-- WantWrite".to_owned()));
}

#[test]
fn the_scheduler_error_has_one_cause_per_address() {
    let mut simulation =
        Simulation::racing(&[(1, None), (11, Some(RefusedAfter(1))), (2, Some(RefusedAtOnce))], Some(300));
    assert_eq!(simulation.run(), "failed at 300");
    let error = simulation.scheduler.error(&"name.test port 80");
    assert_eq!((error.status(), error.errno()), (Status::ConnectTimeout, 0));
    let expected = "cannot connect to name.test port 80, 3 addresses tried, the last: the connect timeout passed";
    assert_eq!(error.message(), expected);
    let causes: Vec<_> = error.causes().iter().map(|cause| (cause.errno(), cause.message())).collect();
    let expected = [
        (0, "2001:db8::1 port 1: the connect timeout passed (after 0.300 s)"),
        (libc::ECONNREFUSED, "192.0.2.1 port 11: Connection refused (after 0.001 s)"),
        (libc::ECONNREFUSED, "2001:db8::1 port 2: Connection refused (after 0.000 s)"),
    ];
    assert_eq!(causes, expected);
}

#[test]
fn stopping_the_scheduler_fails_the_attempts_in_progress() {
    let mut simulation = Simulation::racing(&[(1, None), (11, Some(RefusedAfter(1))), (2, None)], NONE);
    simulation.step(0);
    simulation.step(250);
    simulation.step(251);
    simulation.now.set(Duration::from_millis(300));
    simulation.scheduler.stop(&Error::new(Status::Cancelled, "the limit was cancelled"));
    assert_eq!(simulation.report(), "1 0-300 Cancelled, 11 250-251 ConnectFailed, 2 251-300 Cancelled");
    simulation.scheduler.close_ended();
    assert_eq!(simulation.open.get(), 0);
    let error = simulation.scheduler.error(&"name.test port 80");
    let statuses: Vec<_> = error.causes().iter().map(|cause| cause.status()).collect();
    assert_eq!(error.status(), Status::Cancelled);
    assert_eq!(statuses, [Status::Cancelled, Status::ConnectFailed, Status::Cancelled]);
}

#[test]
fn connect_is_called_again_at_intervals_while_the_backlog_is_full() {
    let mut simulation = Simulation::racing(&[(1, Some(RoomAfter(12))), (11, None)], NONE);
    for (at, result, next, retries) in [
        (0, "pending", Some(5), 0),
        // A step before the retry time does not call connect(2) again.
        (4, "pending", Some(5), 0),
        (5, "pending", Some(10), 1),
        (5, "pending", Some(10), 1),
        // A step after several retry times calls connect(2) once.
        (11, "pending", Some(16), 2),
        (16, "1 won", None, 3),
    ] {
        assert_eq!((simulation.step(at).as_str(), simulation.retries.get()), (result, retries), "at {at}");
        assert_eq!(simulation.scheduler.pollable().count(), 0);
        if let Some(next) = next {
            assert_eq!(simulation.next_timer(), Some(next), "at {at}");
        }
    }
    assert_eq!(simulation.report(), "1 0-16 Ok");
    for (addresses, timeout, end, report) in [
        (
            [(1, Some(RoomAfter(999))), (11, None)],
            Some(32),
            "failed at 64",
            "1 0-32 ConnectTimeout, 11 32-64 ConnectTimeout",
        ),
        // While the first listener's backlog is full, another attempt starts and connects first.
        (
            [(1, Some(RoomAfter(999))), (11, Some(ConnectedAfter(9)))],
            NONE,
            "11 won at 259",
            "1 0-259 Closed, 11 250-259 Ok",
        ),
        // The listener with the full backlog closes after 400 ms.
        (
            [(1, Some(RoomAfter(999))), (11, None)],
            Some(420),
            "failed at 670",
            "1 0-400 ConnectFailed, 11 250-670 ConnectTimeout",
        ),
        (
            [(1, Some(RoomAfter(0))), (11, None)],
            Some(0),
            "failed at 0",
            "1 0-0 ConnectTimeout, 11 0-0 ConnectTimeout",
        ),
    ] {
        let mut simulation = Simulation::racing(&addresses, timeout);
        assert_eq!(simulation.run(), end);
        assert_eq!(simulation.report(), report);
        assert_eq!(simulation.scheduler.next_timer(), None);
    }
}
