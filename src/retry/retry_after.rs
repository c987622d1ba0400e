//! Parses the Retry-After header (RFC 9110 section 10.2.3).

use std::sync::Arc;

use crate::callback::{self, WallClock};
use crate::error::{Error, Result};
use crate::http_date;
use crate::retry::constants::RETRY_AFTER_STATUS_CODES;
use crate::status::Status;

/// The action if a Retry-After exceeds the maximum.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum LongRetryAfter {
    /// Wait for the maximum instead of the requested time.
    #[default]
    Clamp = 0,
    /// End the retries instead of waiting.
    Stop = 1,
}

impl LongRetryAfter {
    pub fn from_code(code: i32) -> Option<LongRetryAfter> {
        [LongRetryAfter::Clamp, LongRetryAfter::Stop].into_iter().find(|over_max| *over_max as i32 == code)
    }
}

/// The statuses for which Retry-After is obeyed.
#[derive(Clone, Debug)]
pub enum RetryAfterStatuses {
    /// Retry-After is obeyed for every status that causes a retry. A Retry-After alone does not cause a retry.
    Retried,
    /// Retry-After is obeyed for these statuses, sorted and unique. A response that has one of these statuses and a
    /// Retry-After causes a retry even if `status_forcelist` does not contain the status.
    Listed(Arc<Vec<i32>>),
}

impl RetryAfterStatuses {
    pub fn listed(&self) -> &[i32] {
        match self {
            RetryAfterStatuses::Retried => &[],
            RetryAfterStatuses::Listed(codes) => codes,
        }
    }
}

/// The settings for the Retry-After header.
#[derive(Clone, Debug)]
pub(super) struct RetryAfterRules {
    pub(super) respect: bool,
    pub(super) statuses: RetryAfterStatuses,
    pub(super) max: f64,
    pub(super) over_max: LongRetryAfter,
    /// The number of seconds by which the wait may exceed the backoff. `None` does not clamp the wait.
    pub(super) clamp: Option<f64>,
    pub(super) ignore_malformed: bool,
}

impl RetryAfterRules {
    pub(super) const DEFAULT_MAX: f64 = 21_600.0;

    /// Returns whether a retry after a response with this status waits as the response's Retry-After requests.
    pub(super) fn applies_to(&self, status: i32) -> bool {
        self.respect
            && match &self.statuses {
                RetryAfterStatuses::Retried => true,
                RetryAfterStatuses::Listed(codes) => codes.binary_search(&status).is_ok(),
            }
    }

    /// Returns whether a Retry-After causes a retry of a response with this status.
    pub(super) fn causes_retry(&self, status: i32) -> bool {
        self.respect && self.statuses.listed().binary_search(&status).is_ok()
    }

    /// Caps the requested seconds at the maximum. With `LongRetryAfter::Stop` the seconds are not capped.
    pub(super) fn capped(&self, seconds: f64) -> f64 {
        match self.over_max {
            LongRetryAfter::Clamp => seconds.min(self.max),
            LongRetryAfter::Stop => seconds,
        }
    }

    /// Parses a Retry-After value. `None` if the value is malformed and the policy ignores malformed values.
    pub(super) fn read(&self, value: &[u8], clock: Option<&WallClock>) -> Result<Option<f64>> {
        match parse(value, clock) {
            Err(error) if self.ignore_malformed && error.status() == Status::InvalidHeader => Ok(None),
            seconds => seconds.map(Some),
        }
    }
}

impl Default for RetryAfterRules {
    fn default() -> RetryAfterRules {
        RetryAfterRules {
            respect: true,
            statuses: RetryAfterStatuses::Listed(Arc::new(RETRY_AFTER_STATUS_CODES.to_vec())),
            max: RetryAfterRules::DEFAULT_MAX,
            over_max: LongRetryAfter::default(),
            clamp: None,
            ignore_malformed: false,
        }
    }
}

/// Returns the number of seconds from now for which a Retry-After value asks the client to wait. The value is a number
/// of seconds or a date. A date in the past gives 0; a number above `i64::MAX` gives `i64::MAX`.
pub(super) fn parse(value: &[u8], clock: Option<&WallClock>) -> Result<f64> {
    if let Some(seconds) = whole_seconds(value) {
        return Ok(seconds as f64);
    }
    let Some(date) = http_date::parse(value) else {
        let start = value.get(..256).unwrap_or(value);
        let shown: String = String::from_utf8_lossy(start).chars().take(64).collect();
        return Err(Error::new(
            Status::InvalidHeader,
            format!("Retry-After is neither seconds nor a date: \"{shown}\""),
        ));
    };
    Ok((date - callback::wall_time(clock)?).max(0.0))
}

fn whole_seconds(value: &[u8]) -> Option<i64> {
    let start = value.iter().position(|&b| !http_date::is_space(b))?;
    let end = value.iter().rposition(|&b| !http_date::is_space(b))?;
    value.get(start..=end)?.iter().try_fold(0i64, |seconds, digit| {
        let digit = digit.is_ascii_digit().then(|| i64::from(digit - b'0'))?;
        Some(seconds.saturating_mul(10).saturating_add(digit))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_numbers_and_dates_are_parsed_and_other_values_refused() {
        let clock: WallClock = Arc::new(|| Ok(784_111_777.5));
        for (value, expected) in [
            ("0", Some(0.0)),
            ("120", Some(120.0)),
            (" \t007 ", Some(7.0)),
            ("99999999999999999999999999999999", Some(i64::MAX as f64)),
            ("Sun, 06 Nov 1994 08:49:38 GMT", Some(0.5)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(0.0)),
            ("Sun, 06 Nov 1994 07:00:00 GMT", Some(0.0)),
            ("", None),
            (" ", None),
            ("-1", None),
            ("+1", None),
            ("1.5", None),
            ("1 2", None),
            ("soon", None),
            ("\u{664}", None),
        ] {
            match expected {
                Some(seconds) => assert_eq!(parse(value.as_bytes(), Some(&clock)).unwrap(), seconds, "{value:?}"),
                None => {
                    let error = parse(value.as_bytes(), Some(&clock)).unwrap_err();
                    assert_eq!(error.status(), Status::InvalidHeader, "{value:?}");
                }
            }
        }
    }
}
