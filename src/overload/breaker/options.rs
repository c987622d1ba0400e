//! The settings of a breaker.

use std::mem;

use super::{adaptive, consecutive, ratio};
use crate::callback::{Clock, Random};
use crate::error::{Error, Result};
use crate::status::Status;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Policy {
    Ratio(ratio::Settings),
    Consecutive(consecutive::Settings),
    Adaptive(adaptive::Settings),
}

#[derive(Clone)]
pub struct BreakerOptions {
    pub(super) policy: Policy,
    pub(super) max_keys: usize,
    pub(super) permit_time: f64,
    pub(super) clock: Option<Clock>,
    pub(super) random: Option<Random>,
}

impl Default for BreakerOptions {
    fn default() -> BreakerOptions {
        let policy = Policy::Ratio(ratio::Settings::default());
        BreakerOptions {
            policy,
            max_keys: BreakerOptions::DEFAULT_MAX_KEYS as usize,
            permit_time: BreakerOptions::DEFAULT_PERMIT_TIME,
            clock: None,
            random: None,
        }
    }
}

impl BreakerOptions {
    pub const DEFAULT_PERMIT_TIME: f64 = 300.0;
    pub const DEFAULT_MAX_KEYS: i32 = 1024;
    const MAX_MAX_KEYS: i32 = 1 << 20;

    pub fn set_ratio(&mut self, ratio: f64, minimum: i32, window: f64, open_time: f64, probes: i32) -> Result<()> {
        self.policy = Policy::Ratio(ratio::Settings {
            ratio: fraction("ratio", ratio)?,
            minimum: count("minimum", minimum)?,
            window: seconds("window", window)?,
            open_time: seconds("open_time", open_time)?,
            probes: count("probes", probes)?,
        });
        Ok(())
    }

    pub fn set_consecutive(
        &mut self,
        failures: i32,
        open_time: f64,
        open_time_max: f64,
        max_open_percent: f64,
    ) -> Result<()> {
        let settings = consecutive::Settings {
            failures: count("failures", failures)?,
            open_time: seconds("open_time", open_time)?,
            open_time_max: seconds("open_time_max", open_time_max)?,
            max_open_percent,
        };
        if open_time_max < open_time {
            return Err(invalid(format!(
                "open_time_max must be at least open_time, {open_time}; it is {open_time_max}"
            )));
        }
        if !(0.0..=100.0).contains(&max_open_percent) {
            return Err(invalid(format!("max_open_percent must be 0 to 100; it is {max_open_percent}")));
        }
        self.policy = Policy::Consecutive(settings);
        Ok(())
    }

    pub fn set_adaptive(&mut self, multiplier: f64, minimum: i32, window: f64, max_probability: f64) -> Result<()> {
        if !(1.0..f64::INFINITY).contains(&multiplier) {
            return Err(invalid(format!("multiplier must be finite and at least 1; it is {multiplier}")));
        }
        self.policy = Policy::Adaptive(adaptive::Settings {
            multiplier,
            minimum: count("minimum", minimum)?,
            window: seconds("window", window)?,
            max_probability: fraction("max_probability", max_probability)?,
        });
        Ok(())
    }

    pub fn set_max_keys(&mut self, max_keys: i32) -> Result<()> {
        if !(1..=BreakerOptions::MAX_MAX_KEYS).contains(&max_keys) {
            let max = BreakerOptions::MAX_MAX_KEYS;
            return Err(invalid(format!("max_keys must be 1 to {max}; it is {max_keys}")));
        }
        self.max_keys = max_keys as usize;
        Ok(())
    }

    pub fn set_permit_time(&mut self, permit_time: f64) -> Result<()> {
        self.permit_time = seconds("seconds", permit_time)?;
        Ok(())
    }

    /// Sets the clock; `None` means the system's clock. Returns the previous callback, which the caller drops.
    pub fn set_clock(&mut self, clock: Option<Clock>) -> Option<Clock> {
        mem::replace(&mut self.clock, clock)
    }

    /// Sets the source of random numbers. Returns the previous callback, as [`BreakerOptions::set_clock`] does.
    pub fn set_random(&mut self, random: Option<Random>) -> Option<Random> {
        mem::replace(&mut self.random, random)
    }
}

fn count(name: &str, value: i32) -> Result<u32> {
    match u32::try_from(value) {
        Ok(count) if count > 0 => Ok(count),
        _ => Err(invalid(format!("{name} must be at least 1; it is {value}"))),
    }
}

/// The range of times. Sums and fractions of these times are precise enough to be compared with the time of a clock.
const MIN_SECONDS: f64 = 0.001;
const MAX_SECONDS: f64 = 1e9;

fn seconds(name: &str, value: f64) -> Result<f64> {
    if (MIN_SECONDS..=MAX_SECONDS).contains(&value) {
        return Ok(value);
    }
    Err(invalid(format!("{name} must be {MIN_SECONDS} to {MAX_SECONDS} seconds; it is {value}")))
}

fn fraction(name: &str, value: f64) -> Result<f64> {
    if value > 0.0 && value <= 1.0 {
        return Ok(value);
    }
    Err(invalid(format!("{name} must be more than 0 and at most 1; it is {value}")))
}

fn invalid(message: String) -> Error {
    Error::new(Status::InvalidArgument, message)
}
