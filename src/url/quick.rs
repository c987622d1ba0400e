//! The commonest text read and written in one go: an http or https URL with a plain host and a path, all of it in its
//! final form. [`parse`](super::parse) reads these and all others to the same result; it has more to ask.

use super::block::{Block, Component, Unfinished};
use super::class::Class;
use super::scan;

/// What is longer takes its time either way.
const LONGEST: usize = 1024;

/// `None` for a text that is another, and where there is no memory: it is not said here what is wrong.
pub(super) fn parse(text: &[u8]) -> Option<Block> {
    if text.len() > LONGEST || !text.starts_with(b"http") {
        return None;
    }
    // Computed, because the processor could not foresee a branch.
    let colon = b"http".len() + usize::from(*text.get(4)? == b's');
    let host = colon + b"://".len();
    if text.get(colon..host)? != b"://" {
        return None;
    }
    let Marks { path, path_end, query_end } = scan::marks(text, host)?;
    let mut block = Unfinished::with_room(text.len() + 1 + (path - host) + 1)?;
    let mut writer = block.writer()?;
    writer.source(text);
    writer.in_place(Component::Scheme, 0, colon);
    // The slash behind it belongs to the path.
    let start = writer.at();
    writer.copy_short(text, host, path - host);
    writer.component(Component::Host, start);
    writer.in_place(Component::Path, path, path_end - path);
    if query_end > path_end {
        writer.in_place(Component::Query, path_end + 1, query_end - path_end - 1);
    }
    if text.len() > query_end {
        writer.in_place(Component::Fragment, query_end + 1, text.len() - query_end - 1);
    }
    writer.fits().then(|| block.finish())
}

/// Where the components end, each before its delimiter.
pub(super) struct Marks {
    path: usize,
    path_end: usize,
    query_end: usize,
}

/// Reads on from the host, with either way of scanning. Inlined, to become one function with it.
#[inline(always)]
pub(super) fn read(
    text: &[u8],
    host: usize,
    skip: impl Fn(usize, Class) -> usize,
    skip_path: impl Fn(usize) -> usize,
) -> Option<Marks> {
    let path = skip(host, Class::Host);
    if path == host || *text.get(path)? != b'/' {
        return None;
    }
    let path_end = final_form_end(text, path + 1, skip_path)?;
    let next = |delimiter, at| match text.get(at) {
        Some(&byte) if byte == delimiter => final_form_end(text, at + 1, |from| skip(from, Class::Query)),
        _ => Some(at),
    };
    let query_end = next(b'?', path_end)?;
    let end = next(b'#', query_end)?;
    (end == text.len()).then_some(Marks { path, path_end, query_end })
}

/// Where what `skip` skips ends, with encodings whose digits are in upper case.
#[inline(always)]
fn final_form_end(text: &[u8], from: usize, skip: impl Fn(usize) -> usize) -> Option<usize> {
    let mut at = skip(from);
    while text.get(at) == Some(&b'%') {
        let digits = text.get(at + 1..at + 3)?;
        if !digits.iter().all(|digit| matches!(digit, b'0'..=b'9' | b'A'..=b'F')) {
            return None;
        }
        at = skip(at + 3);
    }
    Some(at)
}
