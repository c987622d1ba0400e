//! The functions of a program that netlib calls: clocks, sleep, randomness.

use std::sync::Arc;

use crate::error::Result;

/// A monotonic clock: seconds since any fixed moment.
pub type Clock = Arc<dyn Fn() -> Result<f64> + Send + Sync>;
