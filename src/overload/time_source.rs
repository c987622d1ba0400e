//! The clock of a budget, a breaker or a rate: the application's callback or the system's monotonic clock.

use std::fmt;
use std::time::Instant;

use crate::callback::Clock;
use crate::error::{Error, Result};
use crate::status::Status;

/// A clock. The object that owns it reads the time before it locks its state, because the callback may use the object.
/// Two threads may therefore pass their times to the object in the wrong order, and the application's clock may step
/// back: the object keeps the latest time that it was given, and treats an earlier time as that latest time.
pub(crate) struct TimeSource {
    clock: Option<Clock>,
    /// The time 0 of the system's clock.
    start: Instant,
}

impl TimeSource {
    pub(crate) fn new(clock: Option<Clock>) -> TimeSource {
        TimeSource { clock, start: Instant::now() }
    }

    /// Returns a finite number of seconds.
    pub(crate) fn now(&self) -> Result<f64> {
        let Some(clock) = &self.clock else { return Ok(self.start.elapsed().as_secs_f64()) };
        match clock()? {
            seconds if seconds.is_finite() => Ok(seconds),
            seconds => Err(Error::new(
                Status::CallbackFailed,
                format!("the clock callback reported {seconds}; it must report a finite number of seconds"),
            )),
        }
    }

    /// Returns whether [`TimeSource::now`] calls a callback.
    pub(crate) fn may_call_back(&self) -> bool {
        self.clock.is_some()
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
    fn a_clock_callback_that_reports_no_finite_number_is_an_error() {
        for seconds in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let error = TimeSource::new(Some(Arc::new(move || Ok(seconds)))).now().unwrap_err();
            assert_eq!(error.status(), Status::CallbackFailed, "{seconds}");
        }
        assert_eq!(TimeSource::new(Some(Arc::new(|| Ok(-2.5)))).now().unwrap(), -2.5);
    }

    #[test]
    fn the_time_of_the_system_begins_at_0_and_never_decreases() {
        let source = TimeSource::new(None);
        let first = source.now().unwrap();
        assert!(first >= 0.0 && source.now().unwrap() >= first);
    }
}
