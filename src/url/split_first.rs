//! Splits text at the first of several delimiters.

use std::ffi::CStr;

use super::text::utf8;
use crate::error::Result;

/// The result of a split: byte offsets, and the index of the delimiter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirstSplit {
    pub before_end: usize,
    pub after_start: usize,
    pub delimiter: usize,
}

/// Splits at the first occurrence of any delimiter. If two delimiters occur at the same offset, the earlier delimiter
/// in the list is used. The text after the split begins one character after the start of the delimiter, even if the
/// delimiter is longer. The time is proportional to the length of the text times the number of delimiters.
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
