//! Data that the caller of a write passes in several pieces.

/// The part of the data that is not written yet.
#[derive(Clone, Copy)]
pub(super) struct Pieces<'a> {
    pieces: &'a [&'a [u8]],
    /// The number of bytes of the first piece that are already written.
    offset: usize,
}

impl<'a> Pieces<'a> {
    /// Creates the value for a write that has not written any data yet. The sum of the lengths of all pieces must be at
    /// most `usize::MAX`.
    pub(super) fn new(pieces: &'a [&'a [u8]]) -> Pieces<'a> {
        Pieces { pieces, offset: 0 }.skip_finished()
    }

    pub(super) fn len(&self) -> usize {
        self.pieces.iter().map(|piece| piece.len()).sum::<usize>().saturating_sub(self.offset)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    pub(super) fn advance(&mut self, count: usize) {
        self.offset = self.offset.saturating_add(count);
        *self = self.skip_finished();
    }

    pub(super) fn count(&self) -> usize {
        self.pieces.len()
    }

    /// Returns the rest of the first piece; empty if there is no piece.
    pub(super) fn first(&self) -> &'a [u8] {
        self.pieces.first().and_then(|first| first.get(self.offset..)).unwrap_or(&[])
    }

    /// Returns the pieces that are not written yet, the first of them without its written bytes.
    pub(super) fn iter(&self) -> impl Iterator<Item = &'a [u8]> {
        std::iter::once(self.first()).chain(self.pieces.iter().skip(1).copied())
    }

    /// Removes pieces that are completely written.
    fn skip_finished(mut self) -> Pieces<'a> {
        while let [first, rest @ ..] = self.pieces
            && self.offset >= first.len()
        {
            self.offset -= first.len();
            self.pieces = rest;
        }
        self
    }
}
