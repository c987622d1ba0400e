//! Normalises components as in RFC 3986 section 6.2.2: percent-encodings, letter case and dot segments.

use super::block::{Component, Writer};
use super::class::Class;
use super::measure::{Measured, percent_decoded};
use super::parse::needs_slash;
use super::scan;
use crate::parse_cost::examined;

/// How dot segments are removed from a path.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Dots {
    /// As in RFC 3986 section 5.2.4: a ".." above the root is dropped, so "/..//a" becomes "//a".
    Standard,
    /// As in urllib3: a ".." above the root also removes the root's empty segment, so "/..//a" becomes "/a". A path
    /// that is not empty begins with a slash afterwards.
    Rooted,
}

impl Writer<'_> {
    /// Writes a component to the block. Bytes that the component must not contain are percent-encoded.
    pub(super) fn encoded(&mut self, component: Component, text: &[u8], measured: &Measured) {
        let start = self.at();
        self.copy(text);
        self.encode_since(component, start, measured);
    }

    /// Writes `base` followed by `path` as one path, which has no dot segments and is percent-encoded. `base` is empty
    /// or ends with a slash.
    pub(super) fn path(&mut self, base: &[u8], path: &[u8], measured: &Measured, dots: Dots) {
        let start = self.at();
        match dots {
            _ if !measured.may_have_dots => {
                if dots == Dots::Rooted && needs_slash(path) {
                    self.push(b'/');
                }
                self.copy(base);
                self.copy(path);
            }
            Dots::Standard => self.without_dots(base, path),
            Dots::Rooted => self.without_dots_below_root(path),
        }
        self.encode_since(Component::Path, start, measured);
    }

    /// Makes a component from the bytes written since `start`. If `measured` has bytes to encode, the component is the
    /// encoded form, which is written after these bytes.
    fn encode_since(&mut self, component: Component, start: usize, measured: &Measured) {
        if measured.bytes_to_encode() == 0 {
            if measured.has_lower_case_digits {
                upper_case_encodings(self.written_since_mut(start));
            }
            return self.component(component, start);
        }
        let end = self.at();
        // A "%" that begins no percent-encoding may have been removed together with a dot segment, so `append_encoded`
        // searches the remaining text for such a "%".
        let stray = measured.has_stray_percent && !measured.may_have_dots;
        if !self.append_encoded(component.class(), start, stray) {
            self.truncate(end);
            self.append_encoded(component.class(), start, true);
        }
        self.component(component, end);
    }

    /// Appends the bytes written since `start` in percent-encoded form. Returns false if a "%" begins no
    /// percent-encoding although `stray` is false.
    fn append_encoded(&mut self, class: Class, start: usize, stray: bool) -> bool {
        let (text, place) = self.written_since_and_free(start);
        let (mut from, mut to) = (0, 0);
        let mut put = |bytes: &[u8]| {
            // Bytes that do not fit are counted as well, so that `advance` detects the overflow.
            if let Some(place) = place.get_mut(to..to + bytes.len()) {
                place.copy_from_slice(bytes);
            }
            to += bytes.len();
        };
        while let Some(&byte) = text.get(from) {
            if class.has(byte) {
                let clean = scan::skip(text, from, class);
                put(text.get(from..clean).unwrap_or_default());
                from = clean;
                continue;
            }
            examined(1);
            if byte == b'%' && percent_decoded(text, from).is_some() {
                put(if stray { b"%25" } else { b"%" });
                put(&[text[from + 1].to_ascii_uppercase(), text[from + 2].to_ascii_uppercase()]);
                from += 3;
            } else if byte == b'%' && !stray {
                return false;
            } else {
                put(&percent_encoded(byte));
                from += 1;
            }
        }
        self.advance(to);
        true
    }

    /// Removes the last segment written since `start` and the slash before it. Only the removed bytes are examined, so
    /// the total work is linear.
    fn drop_segment(&mut self, start: usize) {
        let last = self.written_since(start).iter().rposition(is_slash).unwrap_or(0);
        examined(self.written_since(start).len() - last);
        self.truncate(start + last);
    }

    fn without_dots(&mut self, base: &[u8], path: &[u8]) {
        let start = self.at();
        examined(base.len() + path.len());
        let mut path = path;
        if base.is_empty() {
            while let Some(rest) = path.strip_prefix(b"../").or_else(|| path.strip_prefix(b"./")) {
                path = rest;
            }
        }
        // The base's last segment is empty, so the path's first segment replaces it.
        let base = base.strip_suffix(b"/").map(|base| base.split(is_slash));
        let mut segments = base.into_iter().flatten().chain(path.split(is_slash)).enumerate().peekable();
        while let Some((i, segment)) = segments.next() {
            let is_dots = matches!(segment, b"." | b"..");
            if segment == b".." {
                self.drop_segment(start);
            }
            if i > 0 && (!is_dots || segments.peek().is_none()) {
                self.push(b'/');
            }
            if !is_dots {
                self.copy(segment);
            }
        }
    }

    fn without_dots_below_root(&mut self, path: &[u8]) {
        let start = self.at();
        examined(path.len());
        // The number of segments written, joined by slashes. This number distinguishes a path without segments from a
        // path with one empty segment.
        let mut count = 0usize;
        let mut ends_in_dots = false;
        for segment in path.split(is_slash) {
            ends_in_dots = matches!(segment, b"." | b"..");
            match segment {
                b"." => {}
                b".." if count > 0 => {
                    self.drop_segment(start);
                    count -= 1;
                }
                b".." => {}
                _ => {
                    if count > 0 {
                        self.push(b'/');
                    }
                    self.copy(segment);
                    count += 1;
                }
            }
        }
        let begins_with_slash = |writer: &Self| writer.written_since(start).first().is_none_or(is_slash);
        if path.first() == Some(&b'/') && (count == 0 || !begins_with_slash(self)) {
            if count > 0 {
                self.insert(start, b'/');
            }
            count += 1;
        }
        if ends_in_dots && path.contains(&b'/') && count > 0 {
            self.push(b'/');
        }
        if !begins_with_slash(self) {
            self.insert(start, b'/');
        }
    }
}

fn is_slash(byte: &u8) -> bool {
    *byte == b'/'
}

/// Converts the digits of every percent-encoding to upper case (RFC 3986 section 6.2.2.1).
pub(super) fn upper_case_encodings(text: &mut [u8]) {
    examined(text.len());
    let mut at = 0;
    while let Some(percent) = text.get(at..).and_then(|rest| rest.iter().position(|&byte| byte == b'%')) {
        at += percent + 1;
        if percent_decoded(text, at - 1).is_some() {
            text[at..at + 2].make_ascii_uppercase();
            at += 2;
        }
    }
}

pub(super) fn percent_encoded(byte: u8) -> [u8; 3] {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    [b'%', HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]
}
