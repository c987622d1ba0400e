//! The exponential delay between retries.

use crate::callback::{self, Random};
use crate::error::Result;

/// The settings of the exponential delay, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Backoff {
    pub factor: f64,
    pub max: f64,
    pub jitter: f64,
}

impl Backoff {
    pub const DEFAULT_MAX: f64 = 120.0;

    /// The delay before the next try after `failures` in a row, before [`Backoff::cap`] bounds it. The first retry is
    /// immediate.
    pub(super) fn uncapped(&self, failures: usize, random: Option<&Random>) -> Result<f64> {
        if failures <= 1 {
            return Ok(0.0);
        }
        let delay = doubled(self.factor, failures - 1);
        if self.jitter == 0.0 {
            return Ok(delay);
        }
        Ok(delay + callback::random_unit(random)? * self.jitter)
    }

    pub(super) fn cap(&self, delay: f64) -> f64 {
        delay.min(self.max).max(0.0)
    }
}

impl Default for Backoff {
    fn default() -> Backoff {
        Backoff { factor: 0.0, max: Backoff::DEFAULT_MAX, jitter: 0.0 }
    }
}

/// `value` times 2 to the `times`, which is infinity when it is larger than any number. Done in steps that are
/// themselves finite, so that 0 stays 0 and a tiny value grows as it should.
fn doubled(value: f64, times: usize) -> f64 {
    const STEP: usize = 1000;
    let mut value = value;
    let mut left = times;
    while left > 0 && value != 0.0 && value.is_finite() {
        let step = left.min(STEP);
        value *= 2f64.powi(step as i32);
        left -= step;
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn grows_from_the_second_retry_and_is_capped() {
        let backoff = Backoff { factor: 0.5, ..Backoff::default() };
        for (failures, uncapped, capped) in [
            (0, 0.0, 0.0),
            (1, 0.0, 0.0),
            (2, 1.0, 1.0),
            (3, 2.0, 2.0),
            (8, 64.0, 64.0),
            (9, 128.0, 120.0),
            (1024, 2f64.powi(1022), 120.0),
            (1026, f64::INFINITY, 120.0),
            (usize::MAX, f64::INFINITY, 120.0),
        ] {
            let delay = backoff.uncapped(failures, None).unwrap();
            assert_eq!((delay, backoff.cap(delay)), (uncapped, capped), "after {failures}");
        }
    }

    #[test]
    fn extremes_stay_numbers() {
        let tiny = f64::from_bits(1);
        for (factor, failures, expected) in [
            (0.0, usize::MAX, 0.0),
            (tiny, 2, 2.0 * tiny),
            (tiny, 1075, 1.0),
            (tiny, usize::MAX, f64::INFINITY),
            (f64::MAX, 2, f64::INFINITY),
        ] {
            let backoff = Backoff { factor, max: f64::INFINITY, jitter: 0.0 };
            let delay = backoff.uncapped(failures, None).unwrap();
            assert_eq!(backoff.cap(delay), expected, "{factor} after {failures}");
        }
    }

    #[test]
    fn jitter_is_added_before_the_cap() {
        let half: Random = Arc::new(|| Ok(0.5));
        let backoff = Backoff { factor: 1.0, max: 3.0, jitter: 1.0 };
        let at = |failures| backoff.cap(backoff.uncapped(failures, Some(&half)).unwrap());
        assert_eq!([at(1), at(2), at(3)], [0.0, 2.5, 3.0]);
    }
}
