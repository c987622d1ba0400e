//! What a text begins with, and where it is split: by delimiters alone.

use std::ffi::CStr;

use super::host::port_number;
use super::utf8;
use crate::error::Result;
use crate::parse_cost::examined;

/// The scheme that the text begins with. "localhost:8080" begins with none: it is a host and its port, although it could
/// be read as a scheme and a path. http and https are always schemes.
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

/// The scheme of a reference, which has no host without "//".
pub(super) fn reference_scheme(text: &[u8]) -> Option<&[u8]> {
    scheme_length(text, b"+-.").and_then(|length| text.get(..length))
}

/// Whether URLs of this scheme are normalised: the others' rules are not known here.
#[inline]
pub(super) fn is_normalised(scheme: &[u8]) -> bool {
    matches!(scheme, b"http" | b"https")
        || scheme.eq_ignore_ascii_case(b"http")
        || scheme.eq_ignore_ascii_case(b"https")
}

/// How long the scheme is that the text begins with: a letter, letters, digits and `extra`, then a colon.
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

/// Where a text is split: byte offsets, and which delimiter stands there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirstSplit {
    pub before_end: usize,
    pub after_start: usize,
    pub delimiter: usize,
}

/// Splits at the first place at which one of the delimiters stands; of two at one place, the earlier in the list
/// counts. The text after begins one character on, however long the delimiter is. The cost grows with the number of
/// delimiters.
pub fn split_first(text: &[u8], delimiters: &[&CStr]) -> Result<Option<FirstSplit>> {
    let text = utf8(text, "the text")?;
    let mut first: Option<(usize, usize)> = None;
    for (which, delimiter) in delimiters.iter().enumerate() {
        let delimiter = utf8(delimiter.to_bytes(), "a delimiter")?;
        if let Some(at) = text.find(delimiter)
            && first.is_none_or(|(best, _)| at < best)
        {
            first = Some((at, which));
        }
    }
    Ok(first.map(|(before_end, delimiter)| {
        let skipped = text.get(before_end..).and_then(|rest| rest.chars().next());
        FirstSplit { before_end, after_start: before_end + skipped.map_or(0, char::len_utf8), delimiter }
    }))
}
