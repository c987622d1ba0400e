//! Computes the exponential backoff between retries.

use crate::callback::{self, Random};
use crate::error::Result;

/// How random jitter changes the backoff. After n consecutive failures, `delay` is `factor * 2^(n - 1)`, and the
/// backoff is:
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum JitterKind {
    /// `delay` plus a random fraction of `jitter`, capped at `max`, as in urllib3. With this jitter, the first retry is
    /// immediate.
    #[default]
    Additive = 0,
    /// A random fraction of the capped delay.
    Full = 1,
    /// Half of the capped delay plus a random fraction of the other half.
    Equal = 2,
    /// A random number between `factor` and three times the previous backoff, capped at `max`.
    Decorrelated = 3,
    /// The capped delay. Without jitter, the first retry is immediate.
    None = 4,
}

impl JitterKind {
    pub fn from_code(code: i32) -> Option<JitterKind> {
        use JitterKind::{Additive, Decorrelated, Equal, Full, None};
        [Additive, Full, Equal, Decorrelated, None].into_iter().find(|kind| *kind as i32 == code)
    }
}

/// The settings of the exponential backoff, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Backoff {
    pub factor: f64,
    pub max: f64,
    pub jitter: f64,
    pub jitter_kind: JitterKind,
}

/// A backoff in seconds, with and without the cap `max`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct BackoffTime {
    pub(super) seconds: f64,
    pub(super) uncapped: f64,
}

/// The state of decorrelated jitter. One random number is drawn per counted failure, so that a Retry always returns the
/// same backoff, and the next Retry can compute its backoff from the previous one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct DecorrelatedDraw {
    /// The backoff before the previous request. After the first of several consecutive failures there is no previous
    /// backoff, and this value is the factor.
    previous: f64,
    random: f64,
}

impl Backoff {
    pub const DEFAULT_MAX: f64 = 120.0;

    /// Returns the backoff before the next request after `failures` consecutive failures. `draw` is the result of
    /// [`Backoff::next_draw`] for the last failure. Without `draw`, decorrelated jitter draws a random number now.
    pub(super) fn time(
        &self,
        failures: usize,
        draw: Option<DecorrelatedDraw>,
        random: Option<&Random>,
    ) -> Result<BackoffTime> {
        let additive = matches!(self.jitter_kind, JitterKind::Additive | JitterKind::None);
        if failures == 0 || (failures == 1 && additive) {
            return Ok(BackoffTime { seconds: 0.0, uncapped: 0.0 });
        }
        let delay = doubled(self.factor, failures - 1);
        Ok(match self.jitter_kind {
            JitterKind::None => self.capped(delay),
            JitterKind::Additive if self.jitter == 0.0 => self.capped(delay),
            JitterKind::Additive => self.capped(delay + callback::random_unit(random)? * self.jitter),
            // With a factor of zero every backoff is zero, so no random number is drawn.
            _ if self.factor == 0.0 => self.capped(0.0),
            JitterKind::Full => {
                let part = callback::random_unit(random)?;
                let of = |delay| product(part, delay);
                BackoffTime { seconds: of(self.cap(delay)), uncapped: of(delay) }
            }
            JitterKind::Equal => {
                let part = callback::random_unit(random)?;
                let of = |delay: f64| delay / 2.0 + product(part, delay / 2.0);
                BackoffTime { seconds: of(self.cap(delay)), uncapped: of(delay) }
            }
            JitterKind::Decorrelated => match draw {
                Some(draw) => self.decorrelated(draw),
                None => self.decorrelated(self.draw_after(self.factor, random)?),
            },
        })
    }

    /// Draws the random number for the next consecutive failure. `previous` is the backoff before the previous request,
    /// in seconds; `None` after the first of several consecutive failures. Returns `None` for jitter kinds without
    /// state.
    pub(super) fn next_draw(
        &self,
        previous: Option<f64>,
        random: Option<&Random>,
    ) -> Result<Option<DecorrelatedDraw>> {
        if self.jitter_kind != JitterKind::Decorrelated || self.factor == 0.0 {
            return Ok(None);
        }
        self.draw_after(previous.unwrap_or(self.factor), random).map(Some)
    }

    fn draw_after(&self, previous: f64, random: Option<&Random>) -> Result<DecorrelatedDraw> {
        Ok(DecorrelatedDraw { previous, random: callback::random_unit(random)? })
    }

    pub(super) fn decorrelated(&self, draw: DecorrelatedDraw) -> BackoffTime {
        // `previous` may be below the factor: the factor may have changed since the draw, or the cap may be below the
        // factor.
        let previous = draw.previous.max(self.factor);
        self.capped(self.factor + product(draw.random, 3.0 * previous - self.factor))
    }

    fn capped(&self, delay: f64) -> BackoffTime {
        BackoffTime { seconds: self.cap(delay), uncapped: delay }
    }

    fn cap(&self, delay: f64) -> f64 {
        delay.min(self.max).max(0.0)
    }
}

impl Default for Backoff {
    fn default() -> Backoff {
        Backoff { factor: 0.0, max: Backoff::DEFAULT_MAX, jitter: 0.0, jitter_kind: JitterKind::default() }
    }
}

/// Returns `part * delay`. If `part` is 0 the result is 0, even for an infinite delay.
fn product(part: f64, delay: f64) -> f64 {
    if part == 0.0 { 0.0 } else { part * delay }
}

/// Returns `value` times 2 to the power of `times`; infinity if it overflows. Multiplies in steps by finite powers of
/// 2, because an infinite power would make NaN of 0 and infinity of a small value.
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

    const HALF: f64 = 0.5;
    /// The largest number below 1.
    const NEARLY_ONE: f64 = 1.0 - f64::EPSILON / 2.0;

    fn always(value: f64) -> Random {
        Arc::new(move || Ok(value))
    }

    fn no_random() -> Random {
        Arc::new(|| panic!("no random number may be drawn"))
    }

    #[test]
    fn the_backoff_starts_after_two_failures_and_doubles_up_to_the_cap() {
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
            let time = backoff.time(failures, None, None).unwrap();
            assert_eq!((time.uncapped, time.seconds), (uncapped, capped), "after {failures}");
        }
    }

    #[test]
    fn extreme_backoff_settings_never_give_nan() {
        let tiny = f64::from_bits(1);
        for (factor, failures, expected) in [
            (0.0, usize::MAX, 0.0),
            (tiny, 2, 2.0 * tiny),
            (tiny, 1075, 1.0),
            (tiny, usize::MAX, f64::INFINITY),
            (f64::MAX, 2, f64::INFINITY),
        ] {
            let backoff = Backoff { factor, max: f64::INFINITY, ..Backoff::default() };
            assert_eq!(backoff.time(failures, None, None).unwrap().seconds, expected, "{factor} after {failures}");
        }
        for jitter_kind in [JitterKind::Full, JitterKind::Equal, JitterKind::Decorrelated] {
            for factor in [0.0, tiny, f64::MAX] {
                for max in [0.0, 1.0, f64::INFINITY] {
                    let backoff = Backoff { factor, max, jitter: 0.0, jitter_kind };
                    for (random, failures) in [(0.0, 1), (0.0, usize::MAX), (NEARLY_ONE, 2), (NEARLY_ONE, usize::MAX)]
                    {
                        let random = always(random);
                        let draw = backoff.next_draw(None, Some(&random)).unwrap();
                        let time = backoff.time(failures, draw, Some(&random)).unwrap();
                        assert!(time.seconds >= 0.0 && time.seconds <= max, "{backoff:?} {failures} {time:?}");
                        assert!(time.uncapped >= time.seconds, "{backoff:?} {failures} {time:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn additive_jitter_is_added_before_the_cap() {
        let half = always(HALF);
        let backoff = Backoff { factor: 1.0, max: 3.0, jitter: 1.0, ..Backoff::default() };
        let at = |failures| backoff.time(failures, None, Some(&half)).unwrap().seconds;
        assert_eq!([at(1), at(2), at(3)], [0.0, 2.5, 3.0]);
    }

    /// Each row has the expected backoffs after 0, 1, 2, ... consecutive failures, with a factor of 0.1 s and a cap of
    /// 1 s.
    #[test]
    fn additive_full_and_equal_jitter_vary_the_backoff_by_the_random_number() {
        let rows: &[(JitterKind, f64, [f64; 7])] = &[
            (JitterKind::Additive, 0.0, [0.0, 0.0, 0.2, 0.4, 0.8, 1.0, 1.0]),
            (JitterKind::Additive, HALF, [0.0, 0.0, 0.2 + 0.01, 0.4 + 0.01, 0.8 + 0.01, 1.0, 1.0]),
            (JitterKind::None, HALF, [0.0, 0.0, 0.2, 0.4, 0.8, 1.0, 1.0]),
            (JitterKind::Full, 0.0, [0.0; 7]),
            (JitterKind::Full, HALF, [0.0, 0.05, 0.1, 0.2, 0.4, 0.5, 0.5]),
            (JitterKind::Full, NEARLY_ONE, [0.0, 0.1, 0.2, 0.4, 0.8, 1.0, 1.0].map(|delay| delay * NEARLY_ONE)),
            (JitterKind::Equal, 0.0, [0.0, 0.05, 0.1, 0.2, 0.4, 0.5, 0.5]),
            (JitterKind::Equal, HALF, [0.0, 0.05 + 0.025, 0.1 + 0.05, 0.2 + 0.1, 0.4 + 0.2, 0.75, 0.75]),
            (
                JitterKind::Equal,
                NEARLY_ONE,
                [0.0, 0.1, 0.2, 0.4, 0.8, 1.0, 1.0].map(|delay| delay / 2.0 + NEARLY_ONE * (delay / 2.0)),
            ),
        ];
        for (jitter_kind, random, expected) in rows {
            let backoff = Backoff { factor: 0.1, max: 1.0, jitter: 0.02, jitter_kind: *jitter_kind };
            let random = always(*random);
            let delays = [0, 1, 2, 3, 4, 5, 6].map(|n| backoff.time(n, None, Some(&random)).unwrap().seconds);
            assert_eq!(delays, *expected, "{jitter_kind:?}");
        }
    }

    #[test]
    fn decorrelated_jitter_depends_on_the_previous_backoff() {
        let backoff = Backoff { factor: 1.0, max: 10.0, jitter: 0.0, jitter_kind: JitterKind::Decorrelated };
        // Each backoff is min(10, 1 + random * (3 * previous - 1)); the first `previous` is 1.
        for (random, expected) in [
            (0.0, [1.0; 6]),
            (HALF, [2.0, 3.5, 5.75, 9.125, 10.0, 10.0]),
            (0.25, [1.5, 1.875, 2.15625, 2.3671875, 2.525390625, 2.64404296875]),
        ] {
            let random = always(random);
            let mut draw = None;
            for seconds in expected {
                let previous = draw.map(|draw| backoff.decorrelated(draw).seconds);
                draw = backoff.next_draw(previous, Some(&random)).unwrap();
                // Once a random number has been drawn, computing the backoff draws no further one.
                assert_eq!(backoff.time(1, draw, Some(&no_random())).unwrap().seconds, seconds);
            }
        }
        // The uncapped backoff is computed from the previous backoff, which was capped.
        let last = DecorrelatedDraw { previous: 10.0, random: HALF };
        assert_eq!(backoff.time(9, Some(last), None).unwrap(), BackoffTime { seconds: 10.0, uncapped: 15.5 });
        // Without a draw, the factor takes the place of the previous backoff.
        assert_eq!(backoff.time(9, None, Some(&always(HALF))).unwrap().seconds, 2.0);
        // Settings that were changed after the draw take effect.
        let raised = Backoff { factor: 4.0, ..backoff };
        let early = DecorrelatedDraw { previous: 1.0, random: HALF };
        assert_eq!(raised.time(2, Some(early), None).unwrap().seconds, 8.0);
    }

    #[test]
    fn a_random_number_is_drawn_only_if_the_backoff_uses_it() {
        let backoff = |factor, jitter, jitter_kind| Backoff { factor, max: 1.0, jitter, jitter_kind };
        for backoff in [
            backoff(1.0, 0.0, JitterKind::Additive),
            backoff(1.0, 1.0, JitterKind::None),
            backoff(0.0, 1.0, JitterKind::Full),
            backoff(0.0, 1.0, JitterKind::Equal),
            backoff(0.0, 1.0, JitterKind::Decorrelated),
        ] {
            for failures in [0, 1, 5] {
                backoff.time(failures, None, Some(&no_random())).unwrap();
            }
            assert_eq!(backoff.next_draw(None, Some(&no_random())).unwrap(), None);
        }
        assert_eq!(backoff(1.0, 0.0, JitterKind::Full).next_draw(None, Some(&no_random())).unwrap(), None);
    }
}
