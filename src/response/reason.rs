//! Constants for common reason phrases and methods, which responses borrow instead of copying them.

use std::borrow::Cow;
use std::ffi::CStr;

use crate::error::Result;
use crate::memory;

/// The reason phrases of the most frequent statuses (RFC 9110 section 15).
const REASONS: &[&CStr] = &[
    c"OK",
    c"",
    c"Found",
    c"Moved Permanently",
    c"Not Modified",
    c"Not Found",
    c"No Content",
    c"Partial Content",
    c"Created",
    c"Accepted",
    c"See Other",
    c"Temporary Redirect",
    c"Permanent Redirect",
    c"Bad Request",
    c"Unauthorized",
    c"Forbidden",
    c"Too Many Requests",
    c"Internal Server Error",
    c"Bad Gateway",
    c"Service Unavailable",
    c"Gateway Timeout",
];

const METHODS: &[&CStr] = &[c"GET", c"HEAD", c"POST", c"PUT", c"DELETE", c"PATCH", c"OPTIONS", c"CONNECT", c"TRACE"];

/// Returns a constant that equals the reason phrase if there is one, otherwise a copy. `reason` has no NUL.
pub(super) fn shared_reason(reason: &[u8]) -> Result<Cow<'static, CStr>> {
    shared_or_copied(REASONS, reason, "a reason")
}

/// Returns a constant that equals the method if there is one, otherwise a copy. `method` has no NUL.
pub(super) fn shared_method(method: &[u8]) -> Result<Cow<'static, CStr>> {
    shared_or_copied(METHODS, method, "a method")
}

fn shared_or_copied(list: &[&'static CStr], text: &[u8], what: &str) -> Result<Cow<'static, CStr>> {
    match list.iter().find(|known| known.to_bytes() == text) {
        Some(known) => Ok(Cow::Borrowed(known)),
        None => memory::copy_c_string(text, what).map(Cow::Owned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequent_reason_phrases_and_methods_are_borrowed_and_others_copied() {
        for reason in ["OK", "Found", "Not Found", "Bad Gateway", ""] {
            assert!(
                matches!(shared_reason(reason.as_bytes()), Ok(Cow::Borrowed(text)) if text.to_str() == Ok(reason))
            );
        }
        assert!(matches!(shared_reason(b"ok"), Ok(Cow::Owned(text)) if *text == *c"ok"));
        assert!(matches!(shared_method(b"GET"), Ok(Cow::Borrowed(text)) if *text == *c"GET"));
        assert!(matches!(shared_method(b"get"), Ok(Cow::Owned(text)) if *text == *c"get"));
    }
}
