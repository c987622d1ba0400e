//! The generic cell rate algorithm (GCRA, ITU-T I.371), which limits a rate and whose whole state is one time.
//!
//! The state is the theoretical arrival time in nanoseconds: the time at which the bucket will be full again. It fits
//! into one word of 64 bits, so processes can share it and change it with one compare-and-swap.

use crate::error::{Error, Result};
use crate::status::Status;

const NANOSECONDS: f64 = 1e9;

/// The longest time in which an empty bucket may become full, in nanoseconds: 31 years.
const MAX_FILL_TIME: f64 = 1e18;

/// If the time is more nanoseconds than this before the time of the last change, the clock of a store was set back.
const MIN_STEP_BACK: u64 = 1_000_000_000;

/// A limit of `per_second` on average, and of `burst` at once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Gcra {
    per_second: f64,
    burst: f64,
    /// The nanoseconds in which an empty bucket becomes full.
    fill_time: u64,
}

/// The answer to a request for `n` permissions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// The permissions were taken. Holds the new state.
    Granted(u64),
    /// The permissions are available after `wait` nanoseconds. The state is now `state`.
    Denied { state: u64, wait: u64 },
}

impl Gcra {
    pub(super) fn new(per_second: f64, burst: f64) -> Result<Gcra> {
        for (value, name) in [(per_second, "per_second"), (burst, "burst")] {
            if !(value.is_finite() && value > 0.0) {
                return Err(invalid(format!("{name} must be more than 0 and finite; it is {value}")));
            }
        }
        let fill_time = burst / per_second * NANOSECONDS;
        if !(1.0..=MAX_FILL_TIME).contains(&fill_time) {
            return Err(invalid(format!(
                "burst / per_second must be 0.000000001 to 1000000000 seconds; it is {} seconds",
                fill_time / NANOSECONDS
            )));
        }
        Ok(Gcra { per_second, burst, fill_time: fill_time as u64 })
    }

    /// Returns the seconds in which an empty bucket becomes full.
    pub(super) fn fill_seconds(&self) -> f64 {
        self.fill_time as f64 / NANOSECONDS
    }

    /// Returns the nanoseconds in which `n` permissions become available. Rounds up, so that rounding never exceeds the
    /// limit.
    pub(super) fn cost(&self, n: f64) -> Result<u64> {
        if !(n > 0.0 && n <= self.burst) {
            return Err(invalid(format!("n must be more than 0 and at most burst ({}); it is {n}", self.burst)));
        }
        // A bucket that is full has permissions for `burst`, although the fill time is rounded down.
        Ok(((n / self.per_second * NANOSECONDS).ceil() as u64).min(self.fill_time))
    }

    /// Takes permissions for which [`Gcra::cost`] returned `cost`. `state` may be any number; 0 is a full bucket.
    pub(super) fn take(&self, state: u64, now: u64, cost: u64) -> Taken {
        let limit = now.saturating_add(self.fill_time);
        // The state of an empty bucket is `limit`. Only a clock that was set back can make the state much later. The
        // bucket is then empty, because waiting until the clock has caught up could take years.
        let state = if state > limit.saturating_add(MIN_STEP_BACK) { limit } else { state };
        let next = state.max(now).saturating_add(cost);
        if next <= limit { Taken::Granted(next) } else { Taken::Denied { state, wait: next - limit } }
    }
}

fn invalid(message: String) -> Error {
    Error::new(Status::InvalidArgument, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    /// The test table of redis-cell and of its predecessor, which is called throttled: 5 at once, 1 per second. Each
    /// row has the milliseconds, the permissions, and the milliseconds to wait if the permissions are denied.
    const REDIS_CELL: &[(u64, f64, u64)] = &[
        (0, 1.0, 0),
        (0, 1.0, 0),
        (0, 1.0, 0),
        (0, 1.0, 0),
        (0, 1.0, 0),
        (0, 1.0, 1000),
        (3000, 1.0, 0),
        (3100, 1.0, 0),
        (4000, 1.0, 0),
        (8000, 1.0, 0),
        (9500, 1.0, 0),
        (9500, 2.0, 0),
        (9500, 5.0, 3000),
    ];

    #[test]
    fn the_answers_are_those_of_redis_cell() {
        let gcra = Gcra::new(1.0, 5.0).unwrap();
        let start = 1_700_000_000 * SECOND;
        let mut state = 0;
        for (milliseconds, n, wait) in REDIS_CELL {
            let taken = gcra.take(state, start + milliseconds * 1_000_000, gcra.cost(*n).unwrap());
            let expected_wait = wait * 1_000_000;
            match taken {
                Taken::Granted(next) => {
                    assert_eq!(*wait, 0, "{milliseconds}");
                    state = next;
                }
                Taken::Denied { state: next, wait } => assert_eq!((next, wait), (state, expected_wait)),
            }
        }
        assert_eq!(state, start + 12_500_000_000);
        assert!(gcra.cost(6.0).is_err());
    }

    #[test]
    fn the_permissions_in_any_time_are_at_most_the_rate_and_the_burst() {
        let mut seed = 7u64;
        let mut random = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as f64 / (1u64 << 31) as f64
        };
        for (per_second, burst) in [(1.0, 1.0), (3.0, 10.0), (1e6, 7.0), (0.1, 2.5), (3e8, 1e5)] {
            let gcra = Gcra::new(per_second, burst).unwrap();
            let (mut state, mut now, mut taken) = (0, SECOND, 0.0);
            for _ in 0..20_000 {
                let n = (random() * burst).max(burst / 100.0);
                now += (random() * 2.0 * n / per_second * 1e9) as u64;
                let cost = gcra.cost(n).unwrap();
                match gcra.take(state, now, cost) {
                    Taken::Granted(next) => (state, taken) = (next, taken + n),
                    Taken::Denied { state: next, wait } => {
                        state = next;
                        // After the wait, and not a nanosecond before its end, the permissions are available.
                        assert!(matches!(gcra.take(state, now + wait - 1, cost), Taken::Denied { wait: 1, .. }));
                        assert!(matches!(gcra.take(state, now + wait, cost), Taken::Granted(_)));
                    }
                }
                let most = per_second * (now - SECOND) as f64 / 1e9 + burst;
                assert!(taken <= most * (1.0 + 1e-12), "{per_second} {burst}: {taken} > {most}");
            }
        }
    }

    #[test]
    fn a_clock_that_steps_back_empties_the_bucket_at_most() {
        let gcra = Gcra::new(1.0, 5.0).unwrap();
        let cost = gcra.cost(1.0).unwrap();
        let now = 1000 * SECOND;
        let Taken::Granted(state) = gcra.take(0, now, cost) else { panic!() };
        // Half a second back: the state of the bucket does not change.
        assert_eq!(gcra.take(state, now - SECOND / 2, cost), Taken::Granted(state + cost));
        // 100 seconds back: the bucket is empty, and fills from then on.
        let back = now - 100 * SECOND;
        let Taken::Denied { state, wait } = gcra.take(state, back, cost) else { panic!() };
        assert_eq!((state, wait), (back + 5 * SECOND, SECOND));
        assert_eq!(gcra.take(state, back + wait, cost), Taken::Granted(state + SECOND));
        // A step of years forward fills the bucket, but gives no more than the burst.
        let later = u64::MAX / 2;
        let mut state = state;
        for _ in 0..5 {
            let Taken::Granted(next) = gcra.take(state, later, cost) else { panic!() };
            state = next;
        }
        assert!(matches!(gcra.take(state, later, cost), Taken::Denied { wait: SECOND, .. }));
    }

    #[test]
    fn any_word_and_any_time_give_an_answer() {
        for (per_second, burst) in [(1.0, 5.0), (1e-9, 1.0), (1e9, 1.0)] {
            let gcra = Gcra::new(per_second, burst).unwrap();
            for state in [0, 1, u64::MAX / 2, u64::MAX - 1, u64::MAX] {
                for now in [0, 1, u64::MAX / 2, u64::MAX - 1, u64::MAX] {
                    if let Taken::Denied { wait, .. } = gcra.take(state, now, gcra.cost(burst).unwrap()) {
                        assert!(wait > 0 && wait <= 2 * gcra.fill_time + MIN_STEP_BACK, "{state} {now} {wait}");
                    }
                }
            }
        }
    }
}
