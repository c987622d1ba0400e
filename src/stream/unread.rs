//! Holds received application data that no read has returned yet: an incomplete response head, or the bytes after a
//! response head or a chunked body.

use crate::error::Result;
use crate::memory;
use crate::response::{MAX_HEAD, Response};

/// The initial size of the buffer for a response head, sufficient for most heads.
const FIRST_ROOM: usize = 4096;

/// The response heads that a call returns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Heads {
    /// Only those of final responses; the heads of interim responses are skipped.
    #[default]
    Final,
    Any,
}

/// The unread bytes of a stream, at most [`MAX_HEAD`]. Between two calls, a stream without unread bytes holds no buffer.
#[derive(Default)]
pub(super) struct Unread {
    buffer: Vec<u8>,
    /// The unread bytes are those from `start` to `end`.
    start: usize,
    end: usize,
    /// The state of the response parser after it has parsed the unread bytes, and the heads that it looked for.
    parser_state: u64,
    parsed_heads: Heads,
}

impl Unread {
    pub(super) fn is_empty(&self) -> bool {
        self.start == self.end
    }

    pub(super) fn len(&self) -> usize {
        self.end - self.start
    }

    /// Returns the number of unread bytes, or the result of `other` if there are none.
    pub(super) fn len_or(&self, other: impl FnOnce() -> usize) -> usize {
        if self.is_empty() { other() } else { self.len() }
    }

    fn bytes(&self) -> &[u8] {
        self.buffer.get(self.start..self.end).unwrap_or_default()
    }

    /// Moves as many unread bytes as fit to `target`, and returns their number.
    pub(super) fn move_to(&mut self, target: &mut [u8]) -> usize {
        let count = self.len().min(target.len());
        if let (Some(target), Some(bytes)) = (target.get_mut(..count), self.bytes().get(..count)) {
            target.copy_from_slice(bytes);
        }
        self.remove_front(count);
        count
    }

    /// Puts `bytes`, the last bytes that the previous read returned, back in front of the unread bytes.
    pub(super) fn put_back(&mut self, bytes: &[u8]) -> Result<()> {
        self.parser_state = 0;
        if self.is_empty() {
            self.buffer = memory::copy(bytes, "received data")?;
            self.end = bytes.len();
        } else {
            // The read took `bytes` from the buffer, which still contains them.
            self.start -= bytes.len();
        }
        Ok(())
    }

    /// Parses the response at the front, and removes its head. Returns `None` if the head is incomplete.
    pub(super) fn take_response(&mut self, request_method: &str, heads: Heads) -> Result<Option<Response>> {
        let mut state = if heads == self.parsed_heads { self.parser_state } else { 0 };
        self.parsed_heads = heads;
        let found = match heads {
            Heads::Final => Response::parse_final(request_method, self.bytes(), &mut state),
            Heads::Any => Response::parse(request_method, self.bytes(), &mut state),
        };
        self.parser_state = state;
        Ok(found?.map(|(response, length)| {
            self.remove_front(length);
            response
        }))
    }

    /// Returns the free part of the buffer after an incomplete head, at least one byte. A full buffer is doubled, so a
    /// head that arrives in many pieces costs only a constant number of copies per byte.
    pub(super) fn room(&mut self) -> Result<&mut [u8]> {
        if self.end == self.buffer.len() {
            self.buffer.drain(..self.start);
            self.end -= self.start;
            self.start = 0;
            let size = self.end.saturating_mul(2).clamp(FIRST_ROOM, MAX_HEAD);
            memory::reserve(&mut self.buffer, size - self.end, "a response head")?;
            self.buffer.resize(size, 0);
        }
        Ok(self.buffer.get_mut(self.end..).unwrap_or_default())
    }

    /// Adds the `count` bytes that the caller has stored at the start of [`Unread::room`].
    pub(super) fn add(&mut self, count: usize) {
        self.end += count;
    }

    /// Frees the buffer if it is empty.
    pub(super) fn shrink(&mut self) {
        if self.is_empty() {
            *self = Unread::default();
        }
    }

    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.buffer.capacity()
    }

    fn remove_front(&mut self, count: usize) {
        self.start += count;
        self.parser_state = 0;
        self.shrink();
    }
}
