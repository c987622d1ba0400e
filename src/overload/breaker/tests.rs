//! Compares the three kinds of breaker with models that keep every event, on random sequences of calls.
//!
//! All times are whole seconds, and a bucket of a window lasts one second. So a window of 10 seconds contains an event
//! of the time `t` at the time `now` if `now - t < 10`.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::*;
use crate::tests::random::Random;

const PERMIT_TIME: u64 = 40;

/// A permit without a report. The model numbers the rounds between two changes of a key's state.
struct Given {
    number: u64,
    key: usize,
    round: usize,
    time: u64,
}

trait Model {
    /// Returns the wait of a request that is refused. Otherwise returns the round of the key.
    fn ask(&mut self, key: usize, now: u64, draw: f64) -> std::result::Result<usize, f64>;
    fn report(&mut self, key: usize, round: usize, given: u64, now: u64, outcome: Report);
    fn state(&self, key: usize, now: u64) -> CircuitState;
}

/// Makes random calls, and compares each result with the model.
fn compare(seed: u64, options: &BreakerOptions, mut model: impl Model) {
    let mut random = Random(seed);
    let (time, draw) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let (clock, source) = (Arc::clone(&time), Arc::clone(&draw));
    let mut options = options.clone();
    options.set_permit_time(PERMIT_TIME as f64).unwrap();
    options.set_clock(Some(Arc::new(move || Ok(clock.load(Ordering::Relaxed) as f64))));
    options.set_random(Some(Arc::new(move || Ok(source.load(Ordering::Relaxed) as f64 / 64.0))));
    let breaker = Breaker::new(&options).unwrap();
    let mut given: Vec<Given> = Vec::new();
    let (mut granted, mut refused) = (0, 0);
    // The server is good or bad for a while, so that keys open and close.
    let mut failing = 0;
    for step in 0..4_000 {
        if step % 200 == 0 {
            failing = random.below(10);
        }
        if random.below(4) == 0 {
            time.fetch_add(random.below(4) as u64, Ordering::Relaxed);
        }
        let now = time.load(Ordering::Relaxed);
        let key = random.below(3);
        let name = [key as u8];
        while let Some(at) = given.iter().position(|permit| permit.time + PERMIT_TIME < now) {
            let aged = given.remove(at);
            model.report(aged.key, aged.round, aged.time, now, Report::None);
        }
        if random.below(2) == 0 {
            draw.store(random.below(64) as u64, Ordering::Relaxed);
            let expected = model.ask(key, now, draw.load(Ordering::Relaxed) as f64 / 64.0);
            match (breaker.ask(&name).unwrap(), expected) {
                (Permission::Granted(number), Ok(round)) => {
                    given.push(Given { number, key, round, time: now });
                    granted += 1;
                }
                (Permission::Refused(seconds), Err(expected)) => {
                    assert_eq!(seconds, expected, "seed {seed}, step {step}");
                    refused += 1;
                }
                (actual, expected) => panic!("seed {seed}, step {step}: {actual:?}, not {expected:?}"),
            }
        } else if !given.is_empty() && random.below(8) > 0 {
            let permit = given.remove(random.below(given.len()));
            let outcome = match random.below(10) {
                0 => Report::None,
                outcome if outcome > failing => Report::Success,
                outcome if outcome % 3 == 0 => Report::Throttled,
                _ => Report::Failure,
            };
            model.report(permit.key, permit.round, permit.time, now, outcome);
            breaker.report(permit.number, outcome);
            breaker.report(permit.number, Report::Failure);
        }
        assert_eq!(breaker.state(&name).unwrap(), model.state(key, now), "seed {seed}, step {step}");
    }
    assert!(granted > 500 && refused > 20, "{granted} granted, {refused} refused");
}

/// A state that a key has entered, with the outcomes since then.
enum Change {
    Closed { outcomes: Vec<(u64, bool)> },
    Open { until: u64 },
    HalfOpen { permitted: usize, outcomes: Vec<bool>, last_event: u64 },
}

struct RatioModel {
    changes: HashMap<usize, Vec<Change>>,
    ratio: f64,
    minimum: usize,
    probes: usize,
}

impl Model for RatioModel {
    fn ask(&mut self, key: usize, now: u64, _draw: f64) -> std::result::Result<usize, f64> {
        let changes = self.changes.entry(key).or_insert_with(|| vec![Change::Closed { outcomes: Vec::new() }]);
        match changes.last_mut().unwrap() {
            Change::Closed { .. } => {}
            Change::Open { until } if now < *until => return Err((*until - now) as f64),
            Change::Open { .. } => {
                changes.push(Change::HalfOpen { permitted: 1, outcomes: Vec::new(), last_event: now });
            }
            Change::HalfOpen { permitted, last_event, .. } if *permitted >= self.probes && now < *last_event + 7 => {
                return Err((*last_event + 7 - now) as f64);
            }
            Change::HalfOpen { permitted, last_event, .. } => {
                *permitted += 1;
                *last_event = now;
            }
        }
        Ok(changes.len())
    }

    fn report(&mut self, key: usize, round: usize, _given: u64, now: u64, outcome: Report) {
        let changes = self.changes.get_mut(&key).unwrap();
        if changes.len() != round {
            return;
        }
        let next = match changes.last_mut().unwrap() {
            Change::Open { .. } => unreachable!("an open key gives no permits"),
            Change::HalfOpen { permitted, .. } if outcome == Report::None => {
                *permitted -= 1;
                None
            }
            Change::HalfOpen { outcomes, last_event, .. } => {
                *last_event = now;
                outcomes.push(outcome == Report::Success);
                let failed = outcomes.iter().filter(|success| !**success).count();
                let is_bad = failed as f64 / self.probes as f64 >= self.ratio;
                let is_complete = outcomes.len() == self.probes;
                let closed = is_complete.then(|| Change::Closed { outcomes: Vec::new() });
                if is_bad { Some(Change::Open { until: now + 7 }) } else { closed }
            }
            Change::Closed { .. } if outcome == Report::None => None,
            Change::Closed { outcomes } => {
                outcomes.push((now, outcome == Report::Success));
                let recent: Vec<_> = outcomes.iter().filter(|(time, _)| now - time < 10).collect();
                let failed = recent.iter().filter(|(_, success)| !success).count();
                let is_bad = recent.len() >= self.minimum && failed as f64 / recent.len() as f64 >= self.ratio;
                (is_bad && outcome != Report::Success).then_some(Change::Open { until: now + 7 })
            }
        };
        changes.extend(next);
    }

    fn state(&self, key: usize, now: u64) -> CircuitState {
        match self.changes.get(&key).and_then(|changes| changes.last()) {
            None | Some(Change::Closed { .. }) => CircuitState::Closed,
            Some(Change::Open { until }) if now < *until => CircuitState::Open,
            Some(Change::Open { .. } | Change::HalfOpen { .. }) => CircuitState::HalfOpen,
        }
    }
}

#[test]
fn random_calls_of_a_ratio_breaker_have_the_results_of_a_model_that_keeps_all_outcomes() {
    for (seed, (ratio, minimum, probes)) in
        [(0.5, 3, 1), (0.25, 8, 3), (1.0, 2, 2), (0.1, 1, 10)].into_iter().enumerate()
    {
        let mut options = BreakerOptions::default();
        options.set_ratio(ratio, minimum, 10.0, 7.0, probes).unwrap();
        let (minimum, probes) = (minimum as usize, probes as usize);
        compare(seed as u64, &options, RatioModel { changes: HashMap::new(), ratio, minimum, probes });
    }
}

/// The openings of a key, and the number of failures since the last opening or success.
#[derive(Default)]
struct Openings {
    /// The end of each opening, and the number by which its open time was multiplied.
    all: Vec<(u64, u64)>,
    failures: usize,
}

struct ConsecutiveModel {
    keys: HashMap<usize, Openings>,
    failures: usize,
    percent: f64,
}

impl ConsecutiveModel {
    fn is_open(&self, key: usize, now: u64) -> bool {
        self.keys.get(&key).is_some_and(|key| key.all.last().is_some_and(|(end, _)| now < *end))
    }
}

impl Model for ConsecutiveModel {
    fn ask(&mut self, key: usize, now: u64, _draw: f64) -> std::result::Result<usize, f64> {
        let openings = self.keys.entry(key).or_default();
        match openings.all.last() {
            Some((end, _)) if now < *end => Err((*end - now) as f64),
            // No request is permitted during an opening, so the number of openings identifies the round.
            _ => Ok(openings.all.len()),
        }
    }

    fn report(&mut self, key: usize, round: usize, _given: u64, now: u64, outcome: Report) {
        let (open, keys) = ((0..3).filter(|key| self.is_open(*key, now)).count(), self.keys.len());
        let openings = self.keys.get_mut(&key).unwrap();
        if openings.all.len() != round || outcome == Report::None {
            return;
        }
        openings.failures = if outcome == Report::Success { 0 } else { openings.failures + 1 };
        if openings.failures < self.failures {
            return;
        }
        openings.failures = 0;
        if open > 0 && 100.0 * (open + 1) as f64 / keys as f64 > self.percent {
            return;
        }
        let multiple = openings.all.last().map_or(0, |(end, multiple)| multiple.saturating_sub((now - end) / 10));
        // With an open time of 3 seconds and a maximum of 9, the multiple grows up to 4.
        let multiple = (multiple + 1).min(4.max(multiple));
        openings.all.push((now + (3 * multiple).min(9), multiple));
    }

    fn state(&self, key: usize, now: u64) -> CircuitState {
        if self.is_open(key, now) { CircuitState::Open } else { CircuitState::Closed }
    }
}

#[test]
fn random_calls_of_a_consecutive_breaker_have_the_results_of_a_model_that_keeps_all_openings() {
    for (seed, (failures, percent)) in [(1, 100.0), (2, 67.0), (3, 50.0), (2, 0.0)].into_iter().enumerate() {
        let mut options = BreakerOptions::default();
        options.set_consecutive(failures, 3.0, 9.0, percent).unwrap();
        let model = ConsecutiveModel { keys: HashMap::new(), failures: failures as usize, percent };
        compare(seed as u64, &options, model);
    }
}

#[derive(Default)]
struct AdaptiveModel {
    /// The key and the time of each request that counts, and of each success.
    requests: Vec<(usize, u64)>,
    accepted: Vec<(usize, u64)>,
    multiplier: f64,
    minimum: usize,
    max: f64,
}

impl AdaptiveModel {
    fn probability(&self, key: usize, now: u64) -> f64 {
        let count = |events: &[(usize, u64)]| events.iter().filter(|(of, at)| *of == key && now - at < 10).count();
        let (requests, accepted) = (count(&self.requests) as f64, count(&self.accepted) as f64);
        if requests < self.minimum as f64 {
            return 0.0;
        }
        ((requests - self.multiplier * accepted) / (requests + 1.0)).max(0.0).min(self.max)
    }
}

impl Model for AdaptiveModel {
    fn ask(&mut self, key: usize, now: u64, draw: f64) -> std::result::Result<usize, f64> {
        let probability = self.probability(key, now);
        self.requests.push((key, now));
        if draw < probability { Err(1.0) } else { Ok(0) }
    }

    fn report(&mut self, key: usize, _round: usize, given: u64, now: u64, outcome: Report) {
        match outcome {
            Report::Success => self.accepted.push((key, now)),
            Report::Failure | Report::Throttled => {}
            Report::None => {
                let at = self.requests.iter().position(|request| *request == (key, given)).unwrap();
                self.requests.remove(at);
            }
        }
    }

    fn state(&self, key: usize, now: u64) -> CircuitState {
        if self.probability(key, now) > 0.0 { CircuitState::HalfOpen } else { CircuitState::Closed }
    }
}

#[test]
fn random_calls_of_an_adaptive_breaker_have_the_results_of_a_model_that_keeps_all_requests() {
    for (seed, (multiplier, minimum, max)) in [(2.0, 1, 1.0), (1.1, 5, 0.8), (1.5, 2, 0.5)].into_iter().enumerate() {
        let mut options = BreakerOptions::default();
        options.set_adaptive(multiplier, minimum, 10.0, max).unwrap();
        let minimum = minimum as usize;
        compare(seed as u64, &options, AdaptiveModel { multiplier, minimum, max, ..AdaptiveModel::default() });
    }
}
