//! Resolves the names of Python's `ssl` constants for verification modes and protocol methods, as urllib3 does.

use crate::error::{Error, Result, truncated};
use crate::status::Status;

const CERT_REQS: &[(&str, i32)] = &[("NONE", 0), ("OPTIONAL", 1), ("REQUIRED", 2)];

const SSL_VERSIONS: &[(&str, i32)] = &[
    ("SSLv2", 0),
    ("SSLv3", 1),
    ("SSLv23", 2),
    ("TLS", 2),
    ("TLSv1", 3),
    ("TLSv1_1", 4),
    ("TLSv1_2", 5),
    ("TLS_CLIENT", 16),
    ("TLS_SERVER", 17),
];

/// Returns the number of a verify mode, given as a name (with or without the prefix `CERT_`) or as a decimal number.
/// `None` means CERT_REQUIRED.
pub fn cert_reqs(candidate: Option<&str>) -> Result<i32> {
    candidate.map_or(Ok(2), |candidate| resolve(candidate, "CERT_", CERT_REQS))
}

/// Returns the number of a protocol method, given as a name (with or without the prefix `PROTOCOL_`) or as a decimal
/// number. `None` means PROTOCOL_TLS.
pub fn ssl_version(candidate: Option<&str>) -> Result<i32> {
    candidate.map_or(Ok(2), |candidate| resolve(candidate, "PROTOCOL_", SSL_VERSIONS))
}

fn resolve(candidate: &str, prefix: &str, table: &[(&str, i32)]) -> Result<i32> {
    let short = candidate.strip_prefix(prefix).unwrap_or(candidate);
    if let Some((_, number)) = table.iter().find(|(name, _)| *name == short) {
        return Ok(*number);
    }
    // Only digits with an optional "-" are accepted; `str::parse` would also accept "+1".
    let digits = candidate.strip_prefix('-').unwrap_or(candidate);
    if !digits.is_empty()
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && let Ok(number) = candidate.parse()
    {
        return Ok(number);
    }
    let names: Vec<&str> = table.iter().map(|(name, _)| *name).collect();
    Err(Error::new(
        Status::InvalidArgument,
        format!(
            "{:?} is neither a number nor one of {prefix}{}",
            truncated(candidate),
            names.join(&format!(", {prefix}"))
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ssl_constant_names_resolve_to_the_same_numbers_as_in_urllib3() {
        // The expected numbers were recorded from urllib3 2.8.0 and 1.26.20 on Python 3.11, which lacks SSLv2 and
        // SSLv3. urllib3 does not accept decimal numbers as text; netlib does.
        for (candidate, expected) in [
            (None, Some(2)),
            (Some("CERT_REQUIRED"), Some(2)),
            (Some("REQUIRED"), Some(2)),
            (Some("CERT_OPTIONAL"), Some(1)),
            (Some("OPTIONAL"), Some(1)),
            (Some("CERT_NONE"), Some(0)),
            (Some("NONE"), Some(0)),
            (Some("required"), None),
            (Some(""), None),
            (Some("CERT_"), None),
            (Some("bogus"), None),
            (Some("CERT_CERT_NONE"), None),
            (Some("2"), Some(2)),
            (Some("7"), Some(7)),
            (Some("-1"), Some(-1)),
            (Some("+1"), None),
            (Some("-"), None),
            (Some("99999999999"), None),
        ] {
            assert_eq!(cert_reqs(candidate).ok(), expected, "{candidate:?}");
        }
        for (candidate, expected) in [
            (None, Some(2)),
            (Some("PROTOCOL_SSLv23"), Some(2)),
            (Some("PROTOCOL_TLS"), Some(2)),
            (Some("PROTOCOL_TLS_CLIENT"), Some(16)),
            (Some("PROTOCOL_TLS_SERVER"), Some(17)),
            (Some("PROTOCOL_TLSv1"), Some(3)),
            (Some("PROTOCOL_TLSv1_1"), Some(4)),
            (Some("PROTOCOL_TLSv1_2"), Some(5)),
            (Some("SSLv23"), Some(2)),
            (Some("TLS"), Some(2)),
            (Some("TLS_CLIENT"), Some(16)),
            (Some("TLS_SERVER"), Some(17)),
            (Some("TLSv1"), Some(3)),
            (Some("TLSv1_1"), Some(4)),
            (Some("TLSv1_2"), Some(5)),
            (Some("tls"), None),
            (Some("TLSv1_3"), None),
            (Some("bogus"), None),
            (Some("99"), Some(99)),
        ] {
            assert_eq!(ssl_version(candidate).ok(), expected, "{candidate:?}");
        }
    }
}
