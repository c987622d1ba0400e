//! A component as it stands in the input, and what its final form takes: found in one pass, before anything is written.

use super::block::Component;
use super::class::Class;
use super::{invalid, scan};
use crate::error::Result;

/// A stretch of the input, where it stands, and what is to be done to it.
#[derive(Clone, Copy)]
pub(super) struct Text<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
    pub(super) class: Class,
    /// Bytes that will be percent-encoded.
    pub(super) escapes: usize,
    /// One "%" that begins no encoding says that the component is not encoded yet: every "%" will be encoded.
    pub(super) stray: bool,
    /// An encoding has a digit in lower case.
    pub(super) lower: bool,
    /// There are "." or ".." segments.
    pub(super) dots: bool,
}

impl<'a> Text<'a> {
    fn new(bytes: &'a [u8], at: usize, class: Class) -> Text<'a> {
        Text { bytes, at, class, escapes: 0, stray: false, lower: false, dots: false }
    }

    /// What begins at `from`, up to one of `stops` or the end of the input.
    pub(super) fn measure(input: &'a [u8], from: usize, class: Class, stops: &[u8]) -> Text<'a> {
        let mut text = Text::new(&[], from, class);
        let path = class == Class::Path;
        let next = |at: usize| if path { scan::skip_path(input, at) } else { scan::skip(input, at, class) };
        let mut at = from;
        if path {
            match input.get(from) {
                // What precedes a path counts as no slash; what precedes a path's first slash does not matter.
                Some(b'/') => at = next(from + 1),
                Some(b'.') => {
                    text.dots = is_dot_segment(input, from);
                    at = next(from + 1);
                }
                Some(&byte) if class.has(byte) => at = next(from + 1),
                _ => {}
            }
        } else {
            at = next(from);
        }
        let mut percents = 0;
        while let Some(&byte) = input.get(at).filter(|byte| !stops.contains(byte)) {
            match byte {
                b'%' => {
                    percents += 1;
                    match input.get(at + 1..at + 3) {
                        Some(digits) if digits.iter().all(u8::is_ascii_hexdigit) => {
                            text.lower |= digits.iter().any(u8::is_ascii_lowercase);
                            at += 3;
                        }
                        _ => {
                            text.stray = true;
                            at += 1;
                        }
                    }
                }
                b'.' if path => {
                    text.dots |= is_dot_segment(input, at);
                    at += 1;
                }
                _ => {
                    text.escapes += 1;
                    at += 1;
                }
            }
            // Bytes that need a look tend to stand together.
            if input.get(at).is_some_and(|&byte| class.has(byte)) {
                at = next(at);
            }
        }
        if text.stray {
            text.escapes += percents;
        }
        text.bytes = input.get(from..at).unwrap_or_default();
        text
    }

    /// All of a component that was cut out already.
    pub(super) fn whole(bytes: &'a [u8], at: usize, class: Class) -> Text<'a> {
        Text { at, ..Text::measure(bytes, 0, class, &[]) }
    }

    /// The component of a scheme whose text is not ours to change. It must not hold a line end, which would end a
    /// header, or NUL, which would end the text.
    pub(super) fn raw(bytes: &'a [u8], at: usize, component: Component) -> Result<Text<'a>> {
        match bytes.iter().position(|byte| matches!(byte, b'\r' | b'\n' | 0)) {
            Some(bad) => Err(invalid(&format!("the {} has a line end or NUL", component.name()), at + bad)),
            None => Ok(Text::new(bytes, at, Class::Path)),
        }
    }

    pub(super) fn end(&self) -> usize {
        self.at + self.bytes.len()
    }

    /// Whether a path is one that its root's slash must be put before.
    pub(super) fn needs_slash(&self) -> bool {
        self.bytes.first().is_some_and(|&first| first != b'/')
    }

    /// Whether the component changes its length.
    pub(super) fn moves(&self) -> bool {
        self.escapes > 0 || self.dots
    }

    /// The most that writing it takes, on the way too.
    pub(super) fn room(&self) -> usize {
        // Without its dot segments a path is written once, and encoded behind that.
        2 * self.bytes.len() + 2 * self.escapes + 3
    }
}

/// Whether a segment that begins here is "." or "..".
fn is_dot_segment(input: &[u8], at: usize) -> bool {
    let ends = |at: usize| matches!(input.get(at), None | Some(b'/' | b'?' | b'#'));
    ends(at + 1) || (input.get(at + 1) == Some(&b'.') && ends(at + 2))
}

/// The byte that the percent-encoding at `at` stands for.
pub(super) fn percent_decoded(text: &[u8], at: usize) -> Option<u8> {
    match text.get(at..)? {
        [b'%', high, low, ..] => {
            let digit = |c: u8| char::from(c).to_digit(16);
            u8::try_from(digit(*high)? * 16 + digit(*low)?).ok()
        }
        _ => None,
    }
}
