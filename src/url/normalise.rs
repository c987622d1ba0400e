//! What RFC 3986 section 6.2.2 makes of a component: percent-encoding, letter case, dot segments.

use super::block::{Component, Writer};
use super::measure::{Measured, percent_decoded};
use super::parse::needs_slash;
use super::scan;
use super::visits::visit;

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
        let (class, end) = (component.class(), self.at());
        visit((end - start) * if measured.dots { 2 } else { 1 });
        // What was removed with the dot segments may have been the stray "%".
        let stray = if measured.dots { has_stray_percent(self.since(start)) } else { measured.stray };
        let mut from = start;
        while let Some(&byte) = self.between(from, end).first() {
            if class.has(byte) {
                let clean = scan::skip(self.between(start, end), from - start, class) + start;
                self.copy_within(from..clean);
                from = clean;
                continue;
            }
            if byte != b'%' || stray {
                self.copy(&percent_encoded(byte));
            } else {
                self.push(byte);
            }
            if byte == b'%' && percent_decoded(self.between(from, end), 0).is_some() {
                let digits = self.at();
                self.copy_within(from + 1..from + 3);
                self.since_mut(digits).make_ascii_uppercase();
                from += 2;
            }
            from += 1;
        }
        self.component(component, end);
    }

    fn without_dots(&mut self, base: &[u8], path: &[u8]) {
        visit(path.len());
        let start = self.at();
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
                // Looks back only over what it removes: linear in all.
                let last = self.since(start).iter().rposition(is_slash).unwrap_or(0);
                visit(self.at() - start - last);
                self.truncate(start + last);
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
        visit(path.len());
        let start = self.at();
        // Segments written so far; they stand joined by slashes. No segments and one empty one differ.
        let mut count = 0usize;
        let mut ends_in_dots = false;
        for segment in path.split(is_slash) {
            ends_in_dots = matches!(segment, b"." | b"..");
            match segment {
                b"." => {}
                b".." if count > 0 => {
                    let last = self.since(start).iter().rposition(is_slash).unwrap_or(0);
                    visit(self.at() - start - last);
                    self.truncate(start + last);
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

fn has_stray_percent(text: &[u8]) -> bool {
    (0..text.len()).any(|at| text[at] == b'%' && percent_decoded(text, at).is_none())
}

/// The digits of every encoding in upper case: RFC 3986 section 6.2.2.1.
pub(super) fn upper_case_encodings(text: &mut [u8]) {
    let mut at = 0;
    while let Some(percent) = text.get(at..).and_then(|rest| rest.iter().position(|&byte| byte == b'%')) {
        at += percent + 1;
        if percent_decoded(text, at - 1).is_some() {
            text[at..at + 2].make_ascii_uppercase();
            at += 2;
        }
    }
}

fn percent_encoded(byte: u8) -> [u8; 3] {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    [b'%', HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]
}
