//! Sockets: resolving, connecting, waiting.

pub(crate) mod connect;
mod dropped;
mod resolve;
pub(crate) mod sys;
pub(crate) mod wait;

pub(crate) use dropped::is_connection_dropped;
pub(crate) use resolve::allowed_gai_family;

use std::time::Duration;

use crate::error::{Error, Result};
use crate::status::Status;

/// As a timeout in seconds: the process default.
pub(crate) const TIMEOUT_DEFAULT: f64 = -1.0;

/// How long `seconds` is: `None` is for ever.
pub(crate) fn timeout_of(seconds: f64) -> Result<Option<Duration>> {
    if seconds == TIMEOUT_DEFAULT {
        return Ok(None);
    }
    if seconds.is_nan() || seconds < 0.0 {
        return Err(Error::new(
            Status::InvalidArgument,
            format!("timeout must be 0 or more, NETLIB_TIMEOUT_DEFAULT or NETLIB_TIMEOUT_NONE; it is {seconds}"),
        ));
    }
    Ok(Duration::try_from_secs_f64(seconds).ok())
}
