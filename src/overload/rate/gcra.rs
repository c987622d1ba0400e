//! The generic cell rate algorithm (GCRA, ITU-T I.371): a rate limit whose only state is one time.
//!
//! The state is the theoretical arrival time in nanoseconds: the time at which the bucket will be full again. It fits
//! into one word of 64 bits, so processes can share it and update it with one compare-and-swap.

use crate::error::{Error, Result};
use crate::status::Status;

const NANOSECONDS: f64 = 1e9;

/// The maximum of [`Gcra::fill_time`] in nanoseconds: 31 years.
const MAX_FILL_TIME: f64 = 1e18;

/// The nanoseconds by which the state may exceed its maximum, because readings of the clock may be out of order. If the
/// state is later than that, the clock was set back.
const MIN_STEP_BACK: u64 = 1_000_000_000;

/// The limit: `per_second` permissions on average, and `burst` permissions at once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Gcra {
    per_second: f64,
    burst: f64,
    /// The nanoseconds that an empty bucket needs to become full.
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

    /// Returns the seconds that an empty bucket needs to become full.
    pub(super) fn fill_seconds(&self) -> f64 {
        self.fill_time as f64 / NANOSECONDS
    }

    /// Returns the nanoseconds that `n` permissions cost. Rounds up, so that rounding never exceeds the limit.
    pub(super) fn cost(&self, n: f64) -> Result<u64> {
        if !(n > 0.0 && n <= self.burst) {
            return Err(invalid(format!("n must be more than 0 and at most burst ({}); it is {n}", self.burst)));
        }
        // `fill_time` is rounded down, but a full bucket must pay for `burst` permissions.
        Ok(((n / self.per_second * NANOSECONDS).ceil() as u64).min(self.fill_time))
    }

    /// Takes permissions that cost `cost` nanoseconds (see [`Gcra::cost`]). `state` may be any number; 0 is a full
    /// bucket.
    pub(super) fn take(&self, state: u64, now: u64, cost: u64) -> Taken {
        let limit = now.saturating_add(self.fill_time);
        // The state of an empty bucket is `limit`. If the state is much later, the clock was set back. The bucket then
        // counts as empty, because the clock could need years to reach the old state.
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

    /// The test table of redis-cell and of the Go library throttled: 5 permissions at once, 1 per second. Columns: the
    /// time in milliseconds; the permissions; the milliseconds to wait if the permissions are denied.
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
                        // The wait is exact: one nanosecond earlier, the permissions are denied.
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
        // A step of years forward fills the bucket, but grants no more than the burst.
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
