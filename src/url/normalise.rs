//! What RFC 3986 section 6.2.2 makes of a component: percent-encoding, letter case, dot segments.

use super::block::{Component, Writer};
use super::class::Class;
use super::measure::{Measured, percent_decoded};
use super::parse::needs_slash;
use super::scan;
use crate::parse_cost::examined;

/// What a path's dot segments do.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Dots {
    /// RFC 3986 section 5.2.4, to the letter: a ".." below the root is dropped, "/..//a" is "//a".
    Standard,
    /// A ".." below the root takes the root's empty segment, so that an empty segment after it becomes the root:
    /// "/..//a" is "/a". A path that is not empty begins with a slash afterwards.
    Rooted,
}

impl Writer<'_> {
    /// Writes a component; what it does not allow is percent-encoded.
    pub(super) fn encoded(&mut self, component: Component, text: &[u8], measured: &Measured) {
        let start = self.at();
        self.copy(text);
        self.encode_since(component, start, measured);
    }

    /// Writes a path. `base` is what stands before it, which ends with a slash unless it is empty.
    pub(super) fn path(&mut self, base: &[u8], path: &[u8], measured: &Measured, dots: Dots) {
        let start = self.at();
        match dots {
            _ if !measured.dots => {
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

    /// The component is what was written since `start`, percent-encoded where `measured` says that there is need. It is
    /// written anew behind itself then.
    fn encode_since(&mut self, component: Component, start: usize, measured: &Measured) {
        if measured.escapes() == 0 {
            if measured.lower {
                upper_case_encodings(self.since_mut(start));
            }
            return self.component(component, start);
        }
        let end = self.at();
        // The stray "%" may have been removed with the dot segments. Then it is seen only on the way.
        let stray = measured.stray && !measured.dots;
        if !self.encode_behind(component.class(), start, stray) {
            self.truncate(end);
            self.encode_behind(component.class(), start, true);
        }
        self.component(component, end);
    }

    /// Writes what was written since `start` once more, percent-encoded. False if there is a stray "%" and `stray` does
    /// not say so.
    fn encode_behind(&mut self, class: Class, start: usize, stray: bool) -> bool {
        let (text, place) = self.since_and_free(start);
        let (mut from, mut to) = (0, 0);
        let mut put = |bytes: &[u8]| {
            // What does not fit is counted nevertheless: `advance` sees it.
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

    /// Takes back the last segment of what was written since `start`, and the slash before it. Looks back only over what
    /// it removes: linear in all.
    fn drop_segment(&mut self, start: usize) {
        let last = self.since(start).iter().rposition(is_slash).unwrap_or(0);
        examined(self.since(start).len() - last);
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
        // The path's first segment continues the base's last, which is empty.
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
        // Segments written so far; they stand joined by slashes. No segments and one empty one differ.
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
        let begins_with_slash = |writer: &Self| writer.since(start).first().is_none_or(is_slash);
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

/// The digits of every encoding in upper case: RFC 3986 section 6.2.2.1.
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
