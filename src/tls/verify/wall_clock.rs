//! Reads the time of day from the application's clock callback for certificate verification.

use std::time::Duration;

use rustls_pki_types::UnixTime;

use crate::callback::{WallClock, wall_time};
use crate::error::{Error, Result};
use crate::status::Status;

/// Calls the clock callback. Fails if the returned time is negative, not finite or too large.
pub(crate) fn unix_time(clock: &WallClock) -> Result<UnixTime> {
    let seconds = wall_time(Some(clock))?;
    let since = Duration::try_from_secs_f64(seconds).map_err(|_| {
        let message =
            format!("the wall clock callback reported {seconds}; it must report seconds since 1970, 0 or more");
        Error::new(Status::CallbackFailed, message)
    })?;
    Ok(UnixTime::since_unix_epoch(since))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn negative_non_finite_and_too_large_times_are_refused() {
        for (seconds, expected) in [
            (0.0, Some(0)),
            (1.5, Some(1)),
            (4e9, Some(4_000_000_000)),
            (-1.0, None),
            (f64::NAN, None),
            (f64::INFINITY, None),
            (1e300, None),
        ] {
            let clock: WallClock = Arc::new(move || Ok(seconds));
            match (unix_time(&clock), expected) {
                (Ok(time), Some(expected)) => assert_eq!(time.as_secs(), expected),
                (Err(error), None) => assert_eq!(error.status(), Status::CallbackFailed),
                (result, _) => panic!("{seconds}: {result:?}"),
            }
        }
    }
}
