//! Measures a component: finds its end and the changes that normalisation requires, in one pass, before anything is
//! written.

use super::block::Component;
use super::class::Class;
use super::scan;
use super::text::invalid;
use crate::error::Result;
use crate::parse_cost::examined;

/// The range of a component in the text, and the changes that normalisation requires. The struct is small, because
/// parsing a URL needs four of them. Offsets fit in 32 bits because no text is longer than
/// [`MAX_LENGTH`](super::text::MAX_LENGTH).
#[derive(Clone, Copy, Default)]
pub(super) struct Measured {
    pub(super) present: bool,
    /// Whether the component has non-ASCII bytes, which need not be valid UTF-8.
    pub(super) has_non_ascii: bool,
    start: u32,
    length: u32,
    /// The number of bytes to percent-encode.
    bytes_to_encode: u32,
    /// Whether the component has a "%" that does not begin a percent-encoding. A component with such a "%" is treated
    /// as not encoded, and every "%" in it is encoded.
    pub(super) has_stray_percent: bool,
    /// Whether a percent-encoding in the component has a lower-case hex digit.
    pub(super) has_lower_case_digits: bool,
    /// Whether the component may have "." or ".." segments.
    pub(super) may_have_dots: bool,
}

impl Measured {
    /// Measures the component that begins at `from` and ends before one of `stops` or at the end of the text. Returns
    /// the offset at which the component ends. Fills `self` in place, because returning the struct would cost more than
    /// measuring.
    #[inline(always)]
    pub(super) fn measure(&mut self, text: &[u8], from: usize, class: Class, stops: &[u8]) -> usize {
        let path = class == Class::Path;
        let next = |at: usize| if path { scan::skip_path(text, at) } else { scan::skip(text, at, class) };
        let mut at = match text.get(from) {
            // The first byte of a path begins a segment, even if no slash precedes it.
            Some(&first) if path && class.has(first) => {
                self.may_have_dots = first == b'.' && is_dot_segment(text, from);
                next(from + 1)
            }
            _ if path => from,
            _ => next(from),
        };
        if text.get(at).is_some_and(|byte| !stops.contains(byte)) {
            at = self.measure_unusual(text, at, class, stops);
        }
        self.present = true;
        self.start = from as u32;
        self.length = (at - from) as u32;
        at
    }

    /// Measures a component of a URL whose scheme is not normalised. Refuses CR and LF, which would end a header line,
    /// and NUL, which would end the text.
    #[inline(always)]
    pub(super) fn measure_raw(
        &mut self,
        text: &[u8],
        from: usize,
        component: Component,
        stops: &[u8],
    ) -> Result<usize> {
        let class = if component == Component::Path { Class::RawPath } else { Class::Raw };
        let mut at = scan::skip(text, from, class);
        while let Some(&byte) = text.get(at).filter(|byte| !stops.contains(byte)) {
            match byte {
                b'\r' | b'\n' | 0 => {
                    return Err(invalid(&format!("the {} has a line break or NUL", component.name()), at));
                }
                byte => self.has_non_ascii |= !byte.is_ascii(),
            }
            examined(1);
            at += 1;
            if text.get(at).is_some_and(u8::is_ascii) {
                at = scan::skip(text, at, class);
            }
        }
        self.present = true;
        self.start = from as u32;
        self.length = (at - from) as u32;
        Ok(at)
    }

    /// Continues measuring at the first byte that is not in the class.
    #[cold]
    fn measure_unusual(&mut self, text: &[u8], from: usize, class: Class, stops: &[u8]) -> usize {
        let path = class == Class::Path;
        let (mut at, mut percents) = (from, 0);
        while let Some(&byte) = text.get(at).filter(|byte| !stops.contains(byte)) {
            examined(1);
            match byte {
                b'%' => {
                    percents += 1;
                    match text.get(at + 1..at + 3) {
                        Some(digits) if digits.iter().all(u8::is_ascii_hexdigit) => {
                            self.has_lower_case_digits |= digits.iter().any(u8::is_ascii_lowercase);
                            examined(2);
                            at += 3;
                        }
                        _ => {
                            self.has_stray_percent = true;
                            at += 1;
                        }
                    }
                }
                b'.' if path => {
                    self.may_have_dots |= is_dot_segment(text, at);
                    at += 1;
                }
                _ => {
                    self.has_non_ascii |= !byte.is_ascii();
                    self.bytes_to_encode += 1;
                    at += 1;
                }
            }
            // The next byte is checked before `skip` is called, because bytes outside the class are often adjacent.
            if text.get(at).is_some_and(|&byte| class.has(byte)) {
                at = if path { scan::skip_path(text, at) } else { scan::skip(text, at, class) };
            }
        }
        if self.has_stray_percent {
            self.bytes_to_encode += percents;
        }
        at
    }

    pub(super) fn start(&self) -> usize {
        self.start as usize
    }

    pub(super) fn len(&self) -> usize {
        self.length as usize
    }

    pub(super) fn end(&self) -> usize {
        self.start() + self.len()
    }

    pub(super) fn bytes_to_encode(&self) -> usize {
        self.bytes_to_encode as usize
    }

    pub(super) fn of<'a>(&self, text: &'a [u8]) -> &'a [u8] {
        text.get(self.start()..self.end()).unwrap_or_default()
    }

    /// Returns a copy that is marked as possibly having dot segments.
    pub(super) fn with_dots(self) -> Measured {
        Measured { may_have_dots: true, ..self }
    }

    /// Returns whether normalisation may change the length of the component.
    pub(super) fn may_change_length(&self) -> bool {
        (self.bytes_to_encode > 0) | self.may_have_dots
    }

    /// Returns the maximum number of bytes that the component takes when it is written. A path is first written without
    /// its dot segments, and then again with percent-encoding.
    pub(super) fn room(&self) -> usize {
        if self.present { 2 * self.len() + 2 * self.bytes_to_encode() + 3 } else { 0 }
    }
}

/// Returns whether the segment that begins at `at` is "." or "..".
fn is_dot_segment(text: &[u8], at: usize) -> bool {
    let ends = |at: usize| matches!(text.get(at), None | Some(b'/' | b'?' | b'#'));
    ends(at + 1) || (text.get(at + 1) == Some(&b'.') && ends(at + 2))
}

/// Returns the byte that the percent-encoding at `at` encodes; `None` if there is no percent-encoding.
pub(super) fn percent_decoded(text: &[u8], at: usize) -> Option<u8> {
    match text.get(at..)? {
        [b'%', high, low, ..] => {
            let digit = |c: u8| char::from(c).to_digit(16);
            u8::try_from(digit(*high)? * 16 + digit(*low)?).ok()
        }
        _ => None,
    }
}
