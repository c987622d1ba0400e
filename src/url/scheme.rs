//! Finds the scheme at the start of a URL or a reference.

use super::text::port_number;
use crate::parse_cost::examined;

/// Returns the scheme at the start of a URL. "localhost:8080" has no scheme: it is parsed as a host and a port, not as
/// a scheme and a path. Text that begins with "http:" or "https:" always has a scheme.
#[inline]
pub(super) fn scheme(text: &[u8]) -> Option<&[u8]> {
    match text {
        [b'h', b't', b't', b'p', b':', ..] => return text.get(..4),
        [b'h', b't', b't', b'p', b's', b':', ..] => return text.get(..5),
        _ => {}
    }
    other_scheme(text)
}

fn other_scheme(text: &[u8]) -> Option<&[u8]> {
    let scheme = scheme_length(text, b"+-").and_then(|length| text.get(..length))?;
    (!is_host_and_port(text, scheme)).then_some(scheme)
}

/// Returns the scheme at the start of a reference. In a reference, text without "//" is never a host.
pub(super) fn reference_scheme(text: &[u8]) -> Option<&[u8]> {
    scheme_length(text, b"+-.").and_then(|length| text.get(..length))
}

/// Returns whether URLs with this scheme are normalised. Only http and https URLs are normalised, because the rules of
/// other schemes are unknown.
#[inline]
pub(super) fn is_normalised(scheme: &[u8]) -> bool {
    matches!(scheme, b"http" | b"https")
        || scheme.eq_ignore_ascii_case(b"http")
        || scheme.eq_ignore_ascii_case(b"https")
}

/// Returns the length of the scheme at the start of the text: a letter, then letters, digits and `extra`, then a colon.
fn scheme_length(text: &[u8], extra: &[u8]) -> Option<usize> {
    if !text.first()?.is_ascii_alphabetic() {
        return None;
    }
    let length = text.iter().position(|byte| !byte.is_ascii_alphanumeric() && !extra.contains(byte));
    examined(length.unwrap_or(text.len()));
    let length = length?;
    (text.get(length) == Some(&b':')).then_some(length)
}

fn is_host_and_port(text: &[u8], scheme: &[u8]) -> bool {
    let rest = text.get(scheme.len() + 1..).unwrap_or_default();
    let digits = rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len());
    examined(digits);
    digits > 0
        && matches!(rest.get(digits), None | Some(b'/' | b'?' | b'#'))
        && port_number(&rest[..digits]).is_some()
        && !is_normalised(scheme)
}
