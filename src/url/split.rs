//! Text into components, by delimiters alone: RFC 3986 appendix B, and the best effort for text without a scheme.

use std::ffi::CStr;

use super::host::port_number;
use super::utf8;
use crate::error::Result;

/// A stretch of the input and where it stands.
#[derive(Clone, Copy)]
pub(super) struct Piece<'a> {
    pub(super) text: &'a [u8],
    pub(super) at: usize,
}

/// The five components of RFC 3986 section 3.
pub(super) struct Split<'a> {
    pub(super) scheme: Option<Piece<'a>>,
    pub(super) authority: Option<Piece<'a>>,
    pub(super) path: Piece<'a>,
    pub(super) query: Option<Piece<'a>>,
    pub(super) fragment: Option<Piece<'a>>,
}

impl<'a> Split<'a> {
    /// As people write URLs: without a scheme and a leading slash, the text begins with the authority.
    pub(super) fn best_effort(text: &'a [u8]) -> Split<'a> {
        let scheme = scheme_length(text, b"+-").filter(|&length| !is_host_and_port(text, length));
        let after = scheme.map_or(0, |length| length + 1);
        let bare = scheme.is_none() && text.first() != Some(&b'/');
        Split::after_scheme(text, scheme, after, bare)
    }

    /// As RFC 3986 section 4.1 reads a reference.
    pub(super) fn reference(text: &'a [u8]) -> Split<'a> {
        let scheme = scheme_length(text, b"+-.");
        Split::after_scheme(text, scheme, scheme.map_or(0, |length| length + 1), false)
    }

    fn after_scheme(text: &'a [u8], scheme: Option<usize>, after: usize, bare_authority: bool) -> Split<'a> {
        let piece = |from: usize, to: usize| Piece { text: text.get(from..to).unwrap_or_default(), at: from };
        let find = |from: usize, stops: &[u8]| {
            let rest = text.get(from..).unwrap_or_default();
            from + rest.iter().position(|byte| stops.contains(byte)).unwrap_or(rest.len())
        };
        let authority_start = match text.get(after..) {
            _ if bare_authority => Some(after),
            Some([b'/', b'/', ..]) => Some(after + 2),
            _ => None,
        };
        // Programs that follow the WHATWG take "\" for "/": as an end of the authority it cannot hide a host.
        let authority = authority_start.map(|start| piece(start, find(start, b"\\/?#")));
        let path_start = authority.as_ref().map_or(after, |authority| authority.at + authority.text.len());
        let path = piece(path_start, find(path_start, b"?#"));
        let query_start = path_start + path.text.len();
        let query = (text.get(query_start) == Some(&b'?')).then(|| piece(query_start + 1, find(query_start, b"#")));
        let fragment_start = query.as_ref().map_or(query_start, |query| query.at + query.text.len());
        let fragment = (text.get(fragment_start) == Some(&b'#')).then(|| piece(fragment_start + 1, text.len()));
        Split { scheme: scheme.map(|length| piece(0, length)), authority, path, query, fragment }
    }
}

/// How long the scheme is that the text begins with: a letter, letters, digits and `extra`, then a colon.
fn scheme_length(text: &[u8], extra: &[u8]) -> Option<usize> {
    if !text.first()?.is_ascii_alphabetic() {
        return None;
    }
    let length = text.iter().position(|byte| !byte.is_ascii_alphanumeric() && !extra.contains(byte))?;
    (text.get(length) == Some(&b':')).then_some(length)
}

/// "localhost:8080" is a host and its port, although it could be read as a scheme and a path. http and https are
/// always schemes.
fn is_host_and_port(text: &[u8], scheme_length: usize) -> bool {
    let (scheme, rest) = text.split_at(scheme_length);
    let rest = rest.get(1..).unwrap_or_default();
    let digits = rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len());
    digits > 0
        && matches!(rest.get(digits), None | Some(b'/' | b'?' | b'#'))
        && port_number(&rest[..digits]).is_some()
        && !scheme.eq_ignore_ascii_case(b"http")
        && !scheme.eq_ignore_ascii_case(b"https")
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
