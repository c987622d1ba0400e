//! Checks that numbers from the application are in their ranges.

use crate::error::{Error, Result};
use crate::status::Status;

/// Fails unless the value is `min` to `max`. NaN fails.
pub(crate) fn check(value: f64, min: f64, max: f64, name: &str) -> Result<f64> {
    if (min..=max).contains(&value) {
        return Ok(value);
    }
    Err(Error::new(Status::InvalidArgument, format!("{name} must be {min} to {max}; it is {value}")))
}

/// Fails unless the value is `min` or more, and less than `end`. NaN fails.
pub(crate) fn check_below(value: f64, min: f64, end: f64, name: &str) -> Result<f64> {
    if (min..end).contains(&value) {
        return Ok(value);
    }
    let message = format!("{name} must be {min} or more and less than {end}; it is {value}");
    Err(Error::new(Status::InvalidArgument, message))
}

/// Fails unless the value is `min` to `max`.
pub(crate) fn check_count(value: i32, min: i32, max: i32, name: &str) -> Result<i32> {
    if (min..=max).contains(&value) {
        return Ok(value);
    }
    Err(Error::new(Status::InvalidArgument, format!("{name} must be {min} to {max}; it is {value}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_outside_of_their_range_and_nan_are_refused() {
        for (value, closed, half_open) in [
            (f64::NAN, false, false),
            (f64::NEG_INFINITY, false, false),
            (-0.1, false, false),
            (0.0, true, true),
            (-0.0, true, true),
            (f64::MIN_POSITIVE, true, true),
            (1.0, true, false),
            (1.5, false, false),
            (f64::INFINITY, false, false),
        ] {
            let found = (check(value, 0.0, 1.0, "n").is_ok(), check_below(value, 0.0, 1.0, "n").is_ok());
            assert_eq!(found, (closed, half_open), "{value}");
        }
        assert_eq!(check(2.0, 0.5, 1.0, "ratio").unwrap_err().message(), "ratio must be 0.5 to 1; it is 2");
        assert_eq!(check_count(0, 1, 9, "least").unwrap_err().message(), "least must be 1 to 9; it is 0");
    }
}
