//! The Retry-After header: RFC 9110 section 10.2.3.

use crate::callback::{self, WallClock};
use crate::error::{Error, Result};
use crate::retry::http_date;
use crate::status::Status;

/// How many seconds from now the header's value asks to wait: a number of seconds, or a date. A moment that has
/// passed is 0; a number too large to count is the largest that can be.
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
    use std::sync::Arc;

    #[test]
    fn values() {
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
