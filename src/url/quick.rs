//! The commonest texts read and written in one go: http and https URLs whose host is a plain name, and paths of files, all
//! in their final form. [`parse`](super::parse) reads these and all others to the same result; it has more to ask.

use super::block::{Block, Component, Unfinished};
use super::class::Class;
use super::host::port_number;
use super::scan;

/// What is longer takes its time either way.
const LONGEST: usize = 1024;

/// `None` for a text that is another, and where there is no memory: it is not said here what is wrong.
pub(super) fn parse(text: &[u8]) -> Option<Block> {
    if text.len() > LONGEST {
        return None;
    }
    if !text.starts_with(b"http") {
        return file(text);
    }
    // Computed, because the processor could not foresee a branch.
    let colon = b"http".len() + usize::from(*text.get(4)? == b's');
    let host = colon + b"://".len();
    if text.get(colon..host)? != b"://" {
        return None;
    }
    let Marks { host_end, port, path, path_end, query_end } = scan::marks(text, host)?;
    let mut block = Unfinished::with_source(text, text.len() + 1 + (host_end - host) + 1)?;
    let mut writer = block.writer_behind(text)?;
    writer.in_place(Component::Scheme, 0, colon);
    if path_end > host_end && path == host_end {
        // The slash behind it belongs to the path.
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

/// A scheme whose text is not ours to change, no authority, and a path.
fn file(text: &[u8]) -> Option<Block> {
    let (colon, path) = (b"file".len(), b"file://".len());
    if !text.starts_with(b"file:///") || scan::skip(text, path, Class::RawPath) < text.len() {
        return None;
    }
    let mut block = Unfinished::with_source(text, text.len() + 1)?;
    let mut writer = block.writer_behind(text)?;
    writer.in_place(Component::Scheme, 0, colon);
    writer.in_place(Component::Path, path, text.len() - path);
    writer.fits().then(|| block.finish())
}

/// Where the components end, each before its delimiter.
pub(super) struct Marks {
    host_end: usize,
    port: Option<u16>,
    path: usize,
    path_end: usize,
    query_end: usize,
}

/// Reads on from the host. `skip` says where the first byte is at or after a place that is not in the class or, in a
/// path, begins a segment with a dot. Inlined, to become one function with it.
#[inline(always)]
pub(super) fn read(text: &[u8], host: usize, mut skip: impl FnMut(usize, Class) -> usize) -> Option<Marks> {
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
        Some(b'/') => final_form_end(text, path + 1, |from| skip(from, Class::Path))?,
        _ => path,
    };
    let mut next = |delimiter, at| match text.get(at) {
        Some(&byte) if byte == delimiter => final_form_end(text, at + 1, |from| skip(from, Class::Query)),
        _ => Some(at),
    };
    let query_end = next(b'?', path_end)?;
    let end = next(b'#', query_end)?;
    (end == text.len()).then_some(Marks { host_end, port, path, path_end, query_end })
}

/// Where what `skip` skips ends, with encodings whose digits are in upper case.
#[inline(always)]
fn final_form_end(text: &[u8], from: usize, mut skip: impl FnMut(usize) -> usize) -> Option<usize> {
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
    use crate::url::{Url, parse as any};

    fn is_quick(text: &[u8]) -> bool {
        let Some(block) = parse(text) else { return false };
        let shown = String::from_utf8_lossy(text);
        let slow = any::parse(text).unwrap_or_else(|error| panic!("{shown}: {error}"));
        let quick = Url::new(block);
        assert!(quick == slow, "{shown}: {quick:?}, {slow:?}");
        assert_eq!(quick.url().unwrap(), slow.url().unwrap(), "{shown}");
        true
    }

    #[test]
    fn reads_the_commonest() {
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
        for (text, quick) in cases {
            assert_eq!(is_quick(text.as_bytes()), quick, "{text}");
        }
    }

    /// Bytes of every kind at every place of texts that one, two and three windows take.
    #[test]
    fn reads_as_the_others_are_read() {
        let mut quick = 0;
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
                    quick += usize::from(is_quick(&text));
                    text.truncate(place + 1);
                    quick += usize::from(is_quick(&text));
                }
            }
        }
        assert!(quick > 3_000, "{quick}");
    }
}
