//! The memory of a URL: one reference-counted allocation with a header and the text.
//!
//! The text begins with a copy of the parsed source. A component that is already normalised stays in the copy, and its
//! NUL replaces the delimiter after it. A component that normalisation changes is written after the copy.

use once_cell::race::OnceBox;
use triomphe::{Arc, HeaderSlice, HeaderWithLength, ThinArc};

use super::class::Class;
use super::composed::Composed;
use crate::error::{Error, Result};
use crate::status::Status;

/// The components of a URL that are text, in the order in which they appear in a URL.
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
    /// Returns the class of bytes that the component may contain without percent-encoding.
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

/// Offset and length of a component in the text, without its NUL. Offset and length fit in 32 bits, because
/// [`MAX_ROOM`] limits the text.
#[derive(Clone, Copy)]
struct Span {
    start: u32,
    length: u32,
}

/// The maximum size of a block. Parsed text never reaches this size, but resolving references repeatedly can extend the
/// path of the base each time. Text composed of a block's components is at most three times as long as the block, so
/// its size also fits in 32 bits.
const MAX_ROOM: usize = 1 << 30;

const ABSENT: Span = Span { start: u32::MAX, length: 0 };

pub(crate) struct Head {
    spans: [Span; COUNT],
    pub(super) port: Option<u16>,
    /// Whether "//" follows the scheme's colon. A URL that was parsed from text, unlike a resolved reference, always
    /// has "//".
    pub(super) slashes: bool,
    pub(super) composed: OnceBox<Composed>,
}

/// The unit in which the text is allocated and zeroed. Zeroing a constant number of bytes compiles to a few
/// instructions without a loop.
type Piece = [u8; 64];

pub(crate) type Thin = ThinArc<Head, Piece>;

/// A reference to a URL's block.
#[derive(Clone)]
pub(super) struct Block(pub(super) Thin);

impl Block {
    pub(super) fn head(&self) -> &Head {
        &self.0.header.header
    }

    pub(super) fn get(&self, component: Component) -> Option<&[u8]> {
        let Span { start, length } = self.head().spans[component as usize];
        let start = start as usize;
        self.0.slice.as_flattened().get(start..start + length as usize)
    }

    /// Returns the bytes of a component, followed by its NUL.
    pub(super) fn terminated(&self, component: Component) -> Option<&[u8]> {
        let Span { start, length } = self.head().spans[component as usize];
        let start = start as usize;
        self.0.slice.as_flattened().get(start..start + length as usize + 1)
    }

    /// Returns the size of the text, including the source, NULs and unused bytes.
    pub(super) fn size(&self) -> usize {
        self.0.slice.as_flattened().len()
    }

    /// Makes a block. `write` writes the block's text, of at most `room` bytes.
    pub(super) fn build(room: usize, write: impl FnOnce(&mut Writer<'_>)) -> Result<Block> {
        Block::build_on(&[], room, write)
    }

    /// Makes a block whose text begins with a copy of `source`, so that [`Writer::in_place`] can make components from
    /// it. `write` writes the text that follows the copy.
    pub(super) fn build_on(source: &[u8], room: usize, write: impl FnOnce(&mut Writer<'_>)) -> Result<Block> {
        if room > MAX_ROOM {
            return Err(Error::new(Status::InvalidUrl, "the URL becomes too long"));
        }
        let pieces = room.div_ceil(size_of::<Piece>());
        let mut builder = BlockBuilder::copy_source(source, pieces).ok_or_else(|| out_of_memory(room))?;
        let Some(mut writer) = builder.writer_after(source) else { return Err(overflowed()) };
        write(&mut writer);
        if writer.overflowed {
            return Err(overflowed());
        }
        let used = writer.at.div_ceil(size_of::<Piece>());
        match room > SMALL && used < pieces / 4 * 3 {
            true => builder.shrink(used).ok_or_else(|| out_of_memory(room)),
            false => Ok(builder.finish()),
        }
    }
}

/// The maximum size of a small block in bytes. Only a larger block is copied to a smaller one if many of its bytes
/// are unused.
const SMALL: usize = 4096;

/// A block whose text is being written.
pub(super) struct BlockBuilder(Arc<HeaderSlice<HeaderWithLength<Head>, [Piece]>>);

impl BlockBuilder {
    /// Allocates a block that begins with a copy of `source`. `None` if `room` is more than [`SMALL`] bytes, or if
    /// memory runs out.
    #[inline]
    pub(super) fn with_source(source: &[u8], room: usize) -> Option<BlockBuilder> {
        if room > SMALL { None } else { BlockBuilder::copy_source(source, room.div_ceil(size_of::<Piece>())) }
    }

    /// Allocates a block, copies the source into it and fills the rest with zeros, so that every byte of the text is
    /// initialised.
    #[inline]
    fn copy_source(source: &[u8], pieces: usize) -> Option<BlockBuilder> {
        if pieces > SMALL / size_of::<Piece>() {
            return BlockBuilder::copy_long_source(source, pieces);
        }
        let mut builder = BlockBuilder::cleared(pieces)?;
        Arc::get_mut(&mut builder.0)?.slice.as_flattened_mut().get_mut(..source.len())?.copy_from_slice(source);
        Some(builder)
    }

    fn cleared(pieces: usize) -> Option<BlockBuilder> {
        let head = HeaderWithLength::new(Head::empty(), pieces);
        let zeros = std::iter::repeat_n([0; size_of::<Piece>()], pieces);
        Arc::try_from_header_and_iter(head, zeros).ok().map(BlockBuilder)
    }

    /// Does what `copy_source` does, but writes one piece after the other, so that text larger than the CPU's cache is
    /// written only once.
    fn copy_long_source(source: &[u8], pieces: usize) -> Option<BlockBuilder> {
        let head = HeaderWithLength::new(Head::empty(), pieces);
        let (whole, rest) = source.as_chunks();
        let (mut last, zeros) = ([0; size_of::<Piece>()], [0; size_of::<Piece>()]);
        last.get_mut(..rest.len())?.copy_from_slice(rest);
        // Selects a reference to a piece, because selecting the piece itself would copy it once more.
        let text = (0..pieces).map(|i| *whole.get(i).unwrap_or(if i == whole.len() { &last } else { &zeros }));
        Arc::try_from_header_and_iter(head, text).ok().map(BlockBuilder)
    }

    #[inline]
    pub(super) fn writer_after(&mut self, source: &[u8]) -> Option<Writer<'_>> {
        let block = Arc::get_mut(&mut self.0)?;
        let at = if source.is_empty() { 0 } else { source.len() + 1 };
        Some(Writer { head: &mut block.header.header, text: block.slice.as_flattened_mut(), at, overflowed: false })
    }

    /// Copies the text into a smaller block.
    fn shrink(self, pieces: usize) -> Option<Block> {
        let HeaderSlice { header: HeaderWithLength { header: Head { spans, port, slashes, .. }, .. }, slice } =
            &*self.0;
        let head = Head { spans: *spans, port: *port, slashes: *slashes, composed: OnceBox::new() };
        ThinArc::try_from_header_and_slice(head, slice.get(..pieces)?).ok().map(Block)
    }

    #[inline]
    pub(super) fn finish(self) -> Block {
        Block(Arc::into_thin(self.0))
    }
}

#[cold]
fn out_of_memory(room: usize) -> Error {
    Error::new(Status::OutOfMemory, format!("no memory for a URL of {room} bytes"))
}

#[cold]
fn overflowed() -> Error {
    Error::new(Status::Internal, "a URL is longer than its computed length")
}

impl Head {
    fn empty() -> Head {
        Head { spans: [ABSENT; COUNT], port: None, slashes: true, composed: OnceBox::new() }
    }
}

/// Writes a block's text from its start. If the block's size was computed too small, the bytes that do not fit are
/// dropped, and building the block fails.
pub(super) struct Writer<'a> {
    head: &'a mut Head,
    text: &'a mut [u8],
    at: usize,
    overflowed: bool,
}

impl Writer<'_> {
    /// Returns whether all written bytes fitted into the block.
    pub(super) fn fits(&self) -> bool {
        !self.overflowed
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
            self.written_since_mut(start).make_ascii_lowercase();
            self.component(Component::Scheme, start);
        }
    }

    /// Makes a component from bytes of the copied source. The component's NUL overwrites the delimiter after it.
    pub(super) fn in_place(&mut self, component: Component, start: usize, length: usize) -> &mut [u8] {
        match self.text.get_mut(start..).and_then(|text| text.split_at_mut_checked(length)) {
            Some((text, [end, ..])) => {
                *end = 0;
                self.head.spans[component as usize] = Span { start: start as u32, length: length as u32 };
                text
            }
            _ => {
                self.overflowed = true;
                &mut []
            }
        }
    }

    /// Returns the offset of the next byte to write.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    pub(super) fn push(&mut self, byte: u8) {
        match self.text.get_mut(self.at) {
            Some(place) => {
                *place = byte;
                self.at += 1;
            }
            None => self.overflowed = true,
        }
    }

    /// Copies `length` bytes of `text`. A range of at most 32 bytes is copied as 32 bytes if `text` and the block are
    /// long enough, because a copy of constant length takes a third of the time of a copy of variable length.
    #[inline(always)]
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
            None => self.overflowed = true,
        }
    }

    /// Returns the bytes written since `start`, and the free bytes after them. [`Writer::advance`] marks free bytes as
    /// written.
    pub(super) fn written_since_and_free(&mut self, start: usize) -> (&[u8], &mut [u8]) {
        let (written, free) = self.text.split_at_mut_checked(self.at).unwrap_or_default();
        (written.get(start..).unwrap_or_default(), free)
    }

    pub(super) fn advance(&mut self, length: usize) {
        match self.text.len().checked_sub(self.at) {
            Some(free) if length <= free => self.at += length,
            _ => self.overflowed = true,
        }
    }

    /// Returns the bytes written since `start`.
    pub(super) fn written_since(&self, start: usize) -> &[u8] {
        self.text.get(start..self.at).unwrap_or_default()
    }

    pub(super) fn written_since_mut(&mut self, start: usize) -> &mut [u8] {
        self.text.get_mut(start..self.at).unwrap_or_default()
    }

    pub(super) fn truncate(&mut self, at: usize) {
        self.at = self.at.min(at);
    }

    /// Inserts one byte before the bytes written since `start`.
    pub(super) fn insert(&mut self, start: usize, byte: u8) {
        self.push(byte);
        if let Some(last) = self.at.checked_sub(1) {
            self.written_since_mut(start).rotate_right(usize::from(last >= start));
        }
    }

    /// Makes a component from the bytes written since `start`.
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

    /// Writes a component that is already normalised; `None` leaves it absent.
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

    /// The maximum ensures that every offset fits in 32 bits, even if a base URL grows with each resolved reference.
    #[test]
    fn a_url_block_larger_than_1_gib_is_refused() {
        let error = Block::build(MAX_ROOM + 1, |_| unreachable!()).err().unwrap();
        assert_eq!((error.status(), error.message()), (Status::InvalidUrl, "the URL becomes too long"));
        assert!(3 * MAX_ROOM + 64 < u32::MAX as usize);
    }
}
