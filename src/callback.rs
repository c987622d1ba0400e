//! The application's clock, sleep and random callbacks. Without a callback, the system's function is used. The result
//! of each callback is checked before use.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::error::{Error, Result};
use crate::status::Status;

/// A monotonic clock: returns the seconds since some fixed time.
pub type Clock = Arc<dyn Fn() -> Result<f64> + Send + Sync>;

/// A wall clock: returns the seconds since 1970-01-01 00:00:00 UTC.
pub type WallClock = Arc<dyn Fn() -> Result<f64> + Send + Sync>;

/// Waits for the given number of seconds.
pub type Sleep = Arc<dyn Fn(f64) -> Result<()> + Send + Sync>;

/// Returns a uniformly distributed random number of at least 0 and less than 1.
pub type Random = Arc<dyn Fn() -> Result<f64> + Send + Sync>;

/// The decision of a callback that allows or refuses an action. A callback that fails returns an error instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Allow,
    Refuse,
}

/// Identifies a callback by the addresses of its function and its `ctx`. All fields of the id are 0 if the callback is
/// a Rust closure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallbackId {
    pub function: usize,
    pub ctx: usize,
    /// The serial number of a `ctx` that netlib releases. A `ctx` that is created later may have the same address, but
    /// not the same serial number.
    pub serial: u64,
}

impl CallbackId {
    pub(crate) fn to_bytes(self) -> [u8; 24] {
        let mut bytes = [0; 24];
        for (place, number) in bytes.chunks_exact_mut(8).zip([self.function as u64, self.ctx as u64, self.serial]) {
            place.copy_from_slice(&number.to_ne_bytes());
        }
        bytes
    }
}

/// Returns the time of day, from the application's clock if there is one, otherwise from the system's clock.
pub(crate) fn wall_time(clock: Option<&WallClock>) -> Result<f64> {
    let Some(clock) = clock else {
        // If the system's clock is set before 1970, the time is negative.
        return Ok(match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(since) => since.as_secs_f64(),
            Err(before) => -before.duration().as_secs_f64(),
        });
    };
    let seconds = clock()?;
    if !seconds.is_finite() {
        return Err(invalid_value("wall clock", seconds, "a finite number of seconds"));
    }
    Ok(seconds)
}

/// Returns a random number in [0, 1), from the application's source if there is one, otherwise from the system's
/// source.
pub(crate) fn random_unit(random: Option<&Random>) -> Result<f64> {
    let Some(random) = random else {
        let mut bytes = [0; 8];
        getrandom::fill(&mut bytes)
            .map_err(|error| Error::new(Status::Io, format!("the system provided no random number: {error}")))?;
        // Uses 53 random bits, because a double represents 53 bits exactly.
        return Ok((u64::from_ne_bytes(bytes) >> 11) as f64 / (1u64 << 53) as f64);
    };
    let value = random()?;
    if !(0.0..1.0).contains(&value) {
        return Err(invalid_value("random", value, "0 or more and less than 1"));
    }
    Ok(value)
}

fn invalid_value(callback: &str, value: f64, wanted: &str) -> Error {
    Error::new(Status::CallbackFailed, format!("the {callback} callback reported {value}; it must report {wanted}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_results_of_clock_and_random_callbacks_are_errors() {
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let clock: WallClock = Arc::new(move || Ok(value));
            assert_eq!(wall_time(Some(&clock)).unwrap_err().status(), Status::CallbackFailed);
        }
        for value in [f64::NAN, -0.1, 1.0, f64::INFINITY] {
            let random: Random = Arc::new(move || Ok(value));
            assert_eq!(random_unit(Some(&random)).unwrap_err().status(), Status::CallbackFailed);
        }
        let clock: WallClock = Arc::new(|| Ok(-5.0));
        assert_eq!(wall_time(Some(&clock)).unwrap(), -5.0);
    }

    #[test]
    fn the_clock_and_random_source_of_the_system_are_used_without_callbacks() {
        assert!(wall_time(None).unwrap() > 1.7e9);
        let draws: Vec<f64> = (0..64).map(|_| random_unit(None).unwrap()).collect();
        assert!(draws.iter().all(|draw| (0.0..1.0).contains(draw)));
        assert!(draws.iter().any(|draw| *draw != draws[0]));
    }
}
