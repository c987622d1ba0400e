//! A fast path that parses text which normalisation does not change: http and https URLs whose host is a name or an
//! IPv4 address, and file URLs. The full parser, [`parse`](super::parse), gives the same result for such text, and
//! parses every other text.

use super::block::{Block, BlockBuilder, Component};
use super::class::Class;
use super::scan;
use super::text::port_number;

/// The maximum length for the fast path, in bytes. For longer text the fast path saves no time.
const MAX_LENGTH: usize = 1024;

/// Parses a URL's text. `None` if the text needs the full parser, which also reports errors, or if memory runs out.
pub(super) fn parse(text: &[u8]) -> Option<Block> {
    if text.len() > MAX_LENGTH {
        return None;
    }
    if !text.starts_with(b"http") {
        return file(text);
    }
    // Computes the length of "http" or "https" without a branch, because the CPU could hardly predict the branch.
    let colon = b"http".len() + usize::from(*text.get(4)? == b's');
    let host = colon + b"://".len();
    if text.get(colon..host)? != b"://" {
        return None;
    }
    let Boundaries { host_end, port, path, path_end, query_end } = scan::find_boundaries(text, host)?;
    let mut block = BlockBuilder::with_source(text, text.len() + 1 + (host_end - host) + 1)?;
    let mut writer = block.writer_after(text)?;
    writer.in_place(Component::Scheme, 0, colon);
    if path_end > host_end && path == host_end {
        // The slash after the host belongs to the path, so the host's NUL cannot overwrite the slash, and the host is
        // copied.
        let start = writer.at();
        writer.copy_short(text, host, host_end - host);
        writer.component(Component::Host, start);
    } else {
        writer.in_place(Component::Host, host, host_end - host);
        writer.port(port);
    }
    if text.len() > path {
        writer.in_place(Component::Path, path, path_end - path);
    }
    if query_end > path_end {
        writer.in_place(Component::Query, path_end + 1, query_end - path_end - 1);
    }
    if text.len() > query_end {
        writer.in_place(Component::Fragment, query_end + 1, text.len() - query_end - 1);
    }
    writer.fits().then(|| block.finish())
}

/// Parses "file:///" and a path. No component of a file URL is normalised.
fn file(text: &[u8]) -> Option<Block> {
    let (colon, path) = (b"file".len(), b"file://".len());
    if !text.starts_with(b"file:///") || scan::skip(text, path, Class::RawPath) < text.len() {
        return None;
    }
    let mut block = BlockBuilder::with_source(text, text.len() + 1)?;
    let mut writer = block.writer_after(text)?;
    writer.in_place(Component::Scheme, 0, colon);
    writer.in_place(Component::Path, path, text.len() - path);
    writer.fits().then(|| block.finish())
}

/// The offsets at which the components of a URL end. The delimiter after a component is not included.
pub(super) struct Boundaries {
    host_end: usize,
    port: Option<u16>,
    path: usize,
    path_end: usize,
    query_end: usize,
}

/// Finds the components that follow the scheme. `skip` returns the offset of the first byte, at or after the given
/// offset, that is not in the class; in a path, `skip` also stops at a dot that begins a segment. `read` is inlined so
/// that the compiler inlines `skip` as well.
#[inline(always)]
pub(super) fn read(text: &[u8], host: usize, mut skip: impl FnMut(usize, Class) -> usize) -> Option<Boundaries> {
    let host_end = skip(host, Class::Host);
    if host_end == host {
        return None;
    }
    let (mut port, mut path) = (None, host_end);
    if text.get(host_end) == Some(&b':') {
        let digits = text.get(host_end + 1..)?;
        let length = digits.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(digits.len());
        port = Some(port_number(digits.get(..length).filter(|digits| !digits.is_empty())?)?);
        path = host_end + 1 + length;
    }
    let path_end = match text.get(path) {
        Some(b'/') => skip_normalised(text, path + 1, |from| skip(from, Class::Path))?,
        _ => path,
    };
    let mut next = |delimiter, at| match text.get(at) {
        Some(&byte) if byte == delimiter => skip_normalised(text, at + 1, |from| skip(from, Class::Query)),
        _ => Some(at),
    };
    let query_end = next(b'?', path_end)?;
    let end = next(b'#', query_end)?;
    (end == text.len()).then_some(Boundaries { host_end, port, path, path_end, query_end })
}

/// Skips bytes of the class and percent-encodings with upper-case digits. `None` at a percent-encoding that
/// normalisation would change.
#[inline(always)]
fn skip_normalised(text: &[u8], from: usize, mut skip: impl FnMut(usize) -> usize) -> Option<usize> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::url::{Url, parse as full_parser};

    fn takes_fast_path(text: &[u8]) -> bool {
        let Some(block) = parse(text) else { return false };
        let shown = String::from_utf8_lossy(text);
        let full = full_parser::parse(text).map(Url::new).unwrap_or_else(|error| panic!("{shown}: {error}"));
        let fast = Url::new(block);
        assert!(fast == full, "{shown}: {fast:?}, {full:?}");
        assert_eq!(fast.url().unwrap(), full.url().unwrap(), "{shown}");
        true
    }

    #[test]
    fn the_fast_path_parses_only_text_that_is_already_normalised() {
        let cases: [(&str, bool); 22] = [
            ("http://a.b/", true),
            ("https://a.b", true),
            ("https://a.b/c/d.e?f=g&h#i", true),
            ("https://a.b:8080/c?d", true),
            ("http://a.b:80", true),
            ("http://a.b?c", true),
            ("http://a.b#c", true),
            ("http://a.b:65535?c#d", true),
            ("http://1.2.3.4/%C3%A9?%2F#%20", true),
            ("file:///usr/share/doc/a%2fb", true),
            ("http://a.b:65536/", false),
            ("http://a.b:/", false),
            ("http://a.b:8x/", false),
            ("http://a.b/%c3%a9", false),
            ("http://a.b/100%", false),
            ("http://a.b/./c", false),
            ("http://A.b/", false),
            ("http://u@a.b/", false),
            ("http:///a", false),
            ("httpx://a/", false),
            ("http://a.b/c#d#e", false),
            ("file:///a?b", false),
        ];
        for (text, fast) in cases {
            assert_eq!(takes_fast_path(text.as_bytes()), fast, "{text}");
        }
    }

    /// Tests bytes of every class at every position of texts that need one, two and three SIMD windows.
    #[test]
    fn the_fast_path_agrees_with_the_full_parser() {
        let mut fast = 0;
        for base in [
            "http://a.bc/d/e?f#g".to_owned(),
            format!("https://example.org:81/{}?q=%2F#f", "path/".repeat(5)),
            format!("https://example.org/{}?{}#f", "path/".repeat(13), "k=%C3&".repeat(9)),
            format!("https://{}.org/{}", "host".repeat(20), "p%20".repeat(40)),
            format!("file:///{}", "usr/".repeat(12)),
        ] {
            for place in 0..base.len() {
                for &byte in b"\0\n aZ09aF.%/?#@:[]\\|~\x7f\x80\xc3" {
                    let mut text = base.clone().into_bytes();
                    text[place] = byte;
                    fast += usize::from(takes_fast_path(&text));
                    text.truncate(place + 1);
                    fast += usize::from(takes_fast_path(&text));
                }
            }
        }
        assert!(fast > 3_000, "{fast}");
    }
}
