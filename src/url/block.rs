//! Where a URL lives: one counted block that holds its head and its text.
//!
//! The text begins with a copy of what was parsed. A component that is already in its final form stays there, and the
//! delimiter after it becomes its NUL; any other is written behind the copy.

use std::ops::Range;
use std::sync::OnceLock;

use triomphe::{Arc, HeaderSlice, HeaderWithLength, ThinArc};

use super::class::Class;
use super::serialise::Composed;
use crate::error::{Error, Result};
use crate::status::Status;

/// The components that have text, in the order in which they stand in a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Component {
    Scheme,
    Auth,
    Host,
    Path,
    Query,
    Fragment,
}

impl Component {
    /// What a component that has a class of its own may hold.
    pub(super) fn class(self) -> Class {
        match self {
            Component::Scheme | Component::Host => Class::Host,
            Component::Auth => Class::Userinfo,
            Component::Path => Class::Path,
            Component::Query | Component::Fragment => Class::Query,
        }
    }

    pub(super) const ALL: [Component; COUNT] =
        [Component::Scheme, Component::Auth, Component::Host, Component::Path, Component::Query, Component::Fragment];

    pub(super) fn name(self) -> &'static str {
        match self {
            Component::Scheme => "scheme",
            Component::Auth => "userinfo",
            Component::Host => "host",
            Component::Path => "path",
            Component::Query => "query",
            Component::Fragment => "fragment",
        }
    }
}

const COUNT: usize = 6;

/// Where a component stands in the text, without its NUL. Four bytes suffice: see [`MAX_ROOM`].
#[derive(Clone, Copy)]
struct Span {
    start: u32,
    length: u32,
}

/// The most room that a block may ask for. No text that is parsed needs it; but each resolving may add to the path of a
/// base that was itself resolved. What is composed of a block's components is at most three times as long, so that four
/// bytes count that, too.
const MAX_ROOM: usize = 1 << 30;

const ABSENT: Span = Span { start: u32::MAX, length: 0 };

pub(crate) struct Head {
    spans: [Span; COUNT],
    pub(super) port: Option<u16>,
    /// Whether "//" follows the scheme's colon: a parsed URL always has it.
    pub(super) slashes: bool,
    pub(super) composed: OnceLock<Composed>,
}

/// A counted reference to a URL's block.
#[derive(Clone)]
pub(super) struct Block(pub(super) ThinArc<Head, u8>);

impl Block {
    pub(super) fn head(&self) -> &Head {
        &self.0.header.header
    }

    pub(super) fn get(&self, component: Component) -> Option<&[u8]> {
        let Span { start, length } = self.head().spans[component as usize];
        let start = start as usize;
        self.0.slice.get(start..start + length as usize)
    }

    /// With the NUL as its last byte.
    pub(super) fn terminated(&self, component: Component) -> Option<&[u8]> {
        let Span { start, length } = self.head().spans[component as usize];
        let start = start as usize;
        self.0.slice.get(start..start + length as usize + 1)
    }

    /// The length of the text with all that is in it.
    pub(super) fn size(&self) -> usize {
        self.0.slice.len()
    }

    /// A block whose text `write` fills. `room` is the most that it may write.
    pub(super) fn build(room: usize, write: impl FnOnce(&mut Writer<'_>)) -> Result<Block> {
        // Zeros to start from, so that no byte of the text is ever unwritten.
        static ZEROS: [u8; 4096] = [0; 4096];
        // Few sizes: what is copied and what is allocated is foreseen by the processor more often.
        let room = room.next_multiple_of(64);
        let out_of_memory = || Error::new(Status::OutOfMemory, format!("no memory for a URL of {room} bytes"));
        if let Some(zeros) = ZEROS.get(..room) {
            let head = HeaderWithLength::new(Head::empty(), room);
            let mut block: Arc<HeaderSlice<_, [u8]>> =
                Arc::try_from_header_and_slice(head, zeros).map_err(|_| out_of_memory())?;
            if let Some(block) = Arc::get_mut(&mut block) {
                Writer::fill(&mut block.header.header, &mut block.slice, write)?;
            }
            return Ok(Block(Arc::into_thin(block)));
        }
        if room > MAX_ROOM {
            return Err(Error::new(Status::InvalidUrl, "the URL becomes too long"));
        }
        let mut head = Head::empty();
        let mut text = Vec::new();
        text.try_reserve_exact(room).map_err(|_| out_of_memory())?;
        text.resize(room, 0);
        let used = Writer::fill(&mut head, &mut text, write)?;
        let text = text.get(..used).unwrap_or_default();
        ThinArc::try_from_header_and_slice(head, text).map(Block).map_err(|_| out_of_memory())
    }
}

impl Head {
    fn empty() -> Head {
        Head { spans: [ABSENT; COUNT], port: None, slashes: true, composed: OnceLock::new() }
    }
}

/// Fills a block's text from its start on. What does not fit is dropped and reported at the end: the room was computed
/// wrongly then.
pub(super) struct Writer<'a> {
    head: &'a mut Head,
    text: &'a mut [u8],
    at: usize,
    overflown: bool,
}

impl Writer<'_> {
    /// How much of the text was used.
    fn fill(head: &mut Head, text: &mut [u8], write: impl FnOnce(&mut Writer<'_>)) -> Result<usize> {
        let mut writer = Writer { head, text, at: 0, overflown: false };
        write(&mut writer);
        if writer.overflown {
            return Err(Error::new(Status::Internal, "a URL's text is longer than was computed"));
        }
        Ok(writer.at)
    }

    pub(super) fn port(&mut self, port: Option<u16>) {
        self.head.port = port;
    }

    pub(super) fn slashes(&mut self, slashes: bool) {
        self.head.slashes = slashes;
    }

    pub(super) fn scheme(&mut self, scheme: Option<&[u8]>) {
        let start = self.at;
        if let Some(scheme) = scheme {
            self.copy(scheme);
            self.since_mut(start).make_ascii_lowercase();
            self.component(Component::Scheme, start);
        }
    }

    /// What was parsed, at the start of the text, so that [`Writer::in_place`] can refer to it.
    pub(super) fn source(&mut self, source: &[u8]) {
        self.copy(source);
        self.at += 1;
    }

    /// The component is what stands in the source; the delimiter after it is given up.
    pub(super) fn in_place(&mut self, component: Component, start: usize, length: usize) -> &mut [u8] {
        match self.text.get_mut(start..).and_then(|text| text.split_at_mut_checked(length)) {
            Some((text, [end, ..])) => {
                *end = 0;
                self.head.spans[component as usize] = Span { start: start as u32, length: length as u32 };
                text
            }
            _ => {
                self.overflown = true;
                &mut []
            }
        }
    }

    /// Where the next byte goes.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    pub(super) fn push(&mut self, byte: u8) {
        match self.text.get_mut(self.at) {
            Some(place) => {
                *place = byte;
                self.at += 1;
            }
            None => self.overflown = true,
        }
    }

    /// Copies a part of `text`. What is short is copied together with what follows it, if that is there: a copy of a
    /// length that is known beforehand costs a third.
    #[inline]
    pub(super) fn copy_short(&mut self, text: &[u8], start: usize, length: usize) {
        const SHORT: usize = 32;
        let source = text.get(start..).and_then(|text| text.first_chunk::<SHORT>());
        let place = self.text.get_mut(self.at..).and_then(|rest| rest.first_chunk_mut::<SHORT>());
        match (source, place) {
            (Some(source), Some(place)) if length <= SHORT => {
                *place = *source;
                self.at += length;
            }
            _ => self.copy(text.get(start..start + length).unwrap_or_default()),
        }
    }

    pub(super) fn copy(&mut self, bytes: &[u8]) {
        match self.text.get_mut(self.at..).and_then(|rest| rest.get_mut(..bytes.len())) {
            Some(place) => {
                place.copy_from_slice(bytes);
                self.at += bytes.len();
            }
            None => self.overflown = true,
        }
    }

    /// Copies what stands earlier in the text.
    pub(super) fn copy_within(&mut self, range: Range<usize>) {
        let length = range.len();
        if range.end <= self.at && self.text.len() - self.at >= length {
            self.text.copy_within(range, self.at);
            self.at += length;
        } else {
            self.overflown = true;
        }
    }

    /// What was written since `start`.
    pub(super) fn since(&self, start: usize) -> &[u8] {
        self.between(start, self.at)
    }

    pub(super) fn between(&self, start: usize, end: usize) -> &[u8] {
        self.text.get(start..end).unwrap_or_default()
    }

    pub(super) fn since_mut(&mut self, start: usize) -> &mut [u8] {
        self.text.get_mut(start..self.at).unwrap_or_default()
    }

    pub(super) fn truncate(&mut self, at: usize) {
        self.at = self.at.min(at);
    }

    /// Puts one byte before what was written since `start`.
    pub(super) fn insert(&mut self, start: usize, byte: u8) {
        self.push(byte);
        if let Some(last) = self.at.checked_sub(1) {
            self.since_mut(start).rotate_right(usize::from(last >= start));
        }
    }

    /// The component is what was written since `start`.
    pub(super) fn component(&mut self, component: Component, start: usize) {
        let length = self.at - start;
        self.push(0);
        self.head.spans[component as usize] = Span { start: start as u32, length: length as u32 };
    }

    pub(super) fn absent_if_empty(&mut self, component: Component) {
        let span = &mut self.head.spans[component as usize];
        if span.length == 0 {
            *span = ABSENT;
        }
    }

    /// Writes a component that is in its final form, or leaves it absent.
    pub(super) fn finished(&mut self, component: Component, text: Option<&[u8]>) {
        if let Some(text) = text {
            let start = self.at;
            self.copy(text);
            self.component(component, start);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A base that grows each time it is resolved never comes to lengths that a span cannot tell.
    #[test]
    fn a_block_has_a_largest_size() {
        let error = Block::build(MAX_ROOM + 1, |_| unreachable!()).err().unwrap();
        assert_eq!((error.status(), error.message()), (Status::InvalidUrl, "the URL becomes too long"));
        assert!(3 * MAX_ROOM + 64 < u32::MAX as usize);
    }
}
