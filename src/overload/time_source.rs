//! The clock of a budget, a breaker or a rate: the application's callback or the system's monotonic clock.

use std::fmt;
use std::time::Instant;

use crate::callback::Clock;
use crate::error::{Error, Result};
use crate::socket::sys;
use crate::status::Status;

/// The largest time of a clock in seconds, 285 years. Larger numbers are not seconds, but smaller units.
const MAX_SECONDS: f64 = 9e9;

/// A clock. The object that owns it reads the clock before it locks its state, because the callback may use the object.
/// The state contains a [`SteadyTime`].
pub(crate) struct TimeSource {
    clock: Option<Clock>,
    /// The time 0 of the system's clock.
    start: Instant,
}

impl TimeSource {
    pub(crate) fn new(clock: Option<Clock>) -> TimeSource {
        TimeSource { clock, start: Instant::now() }
    }

    /// Returns a number of seconds between `-MAX_SECONDS` and `MAX_SECONDS`.
    pub(crate) fn now(&self) -> Result<f64> {
        match &self.clock {
            Some(clock) => TimeSource::read(clock),
            None => Ok(self.start.elapsed().as_secs_f64()),
        }
    }

    /// Does what [`TimeSource::now`] does, but faster and with a resolution of a few milliseconds. The two functions
    /// have different times 0, so an object uses only one of them.
    pub(crate) fn coarse_now(&self) -> Result<f64> {
        match &self.clock {
            Some(clock) => TimeSource::read(clock),
            None => Ok(sys::coarse_monotonic_seconds()),
        }
    }

    /// Does what [`TimeSource::coarse_now`] does, but calls no callback: returns `None` if the application's clock
    /// replaces the system's clock.
    pub(crate) fn coarse_now_without_callback(&self) -> Option<f64> {
        self.clock.is_none().then(sys::coarse_monotonic_seconds)
    }

    fn read(clock: &Clock) -> Result<f64> {
        match clock()? {
            seconds if seconds.abs() <= MAX_SECONDS => Ok(seconds),
            seconds => Err(Error::new(
                Status::CallbackFailed,
                format!("the clock callback reported {seconds} s; it must report at most {MAX_SECONDS} s"),
            )),
        }
    }

    /// Returns whether [`TimeSource::now`] calls a callback.
    pub(crate) fn may_call_back(&self) -> bool {
        self.clock.is_some()
    }

    /// Returns a time before the first reading of this clock.
    pub(crate) fn steady_time(&self) -> SteadyTime {
        // The system's clock never steps back, even if a thread passes its reading late.
        let max_disorder = if self.clock.is_some() { MAX_DISORDER } else { f64::INFINITY };
        SteadyTime { latest: None, stepped_back: 0.0, max_disorder }
    }
}

/// The number of seconds by which the readings of several threads may be out of order, if the clock can step back.
const MAX_DISORDER: f64 = 1.0;

/// A time that never decreases, computed from the readings of a clock. Two threads may pass their readings in the wrong
/// order; such a reading does not change the time. If the application's clock steps back further, the time continues
/// from the latest time, so that one wrong reading does not stop the time until the clock has caught up. The time is 0
/// before the first reading, and never less.
#[derive(Debug)]
pub(crate) struct SteadyTime {
    /// The latest reading; `None` before the first one.
    latest: Option<f64>,
    /// The number of seconds by which the clock has stepped back.
    stepped_back: f64,
    max_disorder: f64,
}

impl SteadyTime {
    /// Returns the time after a reading of the clock; `None` if the clock could not be read.
    pub(crate) fn advance(&mut self, reading: Option<f64>) -> f64 {
        if let Some(reading) = reading {
            let latest = self.latest.unwrap_or_else(|| {
                self.stepped_back = (-reading).max(0.0);
                reading
            });
            if reading < latest - self.max_disorder {
                self.stepped_back += latest - reading;
                self.latest = Some(reading);
            } else {
                self.latest = Some(latest.max(reading));
            }
        }
        self.latest.unwrap_or(0.0) + self.stepped_back
    }
}

impl fmt::Debug for TimeSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.may_call_back() { "the application's clock" } else { "the system's clock" })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn a_clock_callback_that_reports_no_number_of_seconds_is_an_error() {
        for seconds in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 9.1e9, -9.1e9] {
            let error = TimeSource::new(Some(Arc::new(move || Ok(seconds)))).now().unwrap_err();
            assert_eq!(error.status(), Status::CallbackFailed, "{seconds}");
        }
        assert_eq!(TimeSource::new(Some(Arc::new(|| Ok(-2.5)))).now().unwrap(), -2.5);
    }

    #[test]
    fn the_time_of_the_system_begins_at_0_and_never_decreases() {
        let source = TimeSource::new(None);
        let coarse = source.coarse_now().unwrap();
        assert!(coarse > 0.0 && source.coarse_now_without_callback() >= Some(coarse));
        let first = source.now().unwrap();
        assert!(first >= 0.0 && source.now().unwrap() >= first);
    }

    #[test]
    fn a_time_continues_after_its_clock_has_stepped_back() {
        let mut time = TimeSource::new(Some(Arc::new(|| Ok(0.0)))).steady_time();
        for (reading, expected) in [
            (None, 0.0),
            (Some(100.0), 100.0),
            (Some(99.5), 100.0),
            (Some(101.0), 101.0),
            (None, 101.0),
            // The clock jumps ahead and is corrected.
            (Some(5_000.0), 5_000.0),
            (Some(102.0), 5_000.0),
            (Some(103.0), 5_001.0),
            (Some(-1_000.0), 5_001.0),
            (Some(-990.0), 5_011.0),
        ] {
            assert_eq!(time.advance(reading), expected, "{reading:?}");
        }
    }

    #[test]
    fn a_late_reading_of_the_system_clock_never_changes_the_time() {
        let mut time = TimeSource::new(None).steady_time();
        for (reading, expected) in [(100.0, 100.0), (99.5, 100.0), (40.0, 100.0), (100.5, 100.5)] {
            assert_eq!(time.advance(Some(reading)), expected, "{reading}");
        }
    }

    #[test]
    fn a_clock_that_begins_below_0_does_not_decrease_the_time() {
        let mut time = TimeSource::new(Some(Arc::new(|| Ok(0.0)))).steady_time();
        let times = [None, Some(-9e9), Some(-9e9 + 2.5), None].map(|reading| time.advance(reading));
        assert_eq!(times, [0.0, 0.0, 2.5, 2.5]);
    }
}
