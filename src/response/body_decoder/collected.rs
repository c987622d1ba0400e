//! The bytes of a body that is read as a whole.

use std::mem;

use crate::error::Result;
use crate::memory;

/// The room that the first read gets if the length of the body is unknown, and the most that it gets otherwise. Larger
/// bodies double the buffer, so that a false Content-Length costs no memory.
const FIRST_UNKNOWN: usize = 16 << 10;
const FIRST_KNOWN: usize = 1 << 20;

/// The bytes at the front of a buffer, whose rest is room for further bytes. Dropping the buffer wipes it, because the
/// body may be a credential.
#[derive(Debug, Default)]
pub(crate) struct Collected {
    buffer: Vec<u8>,
    filled: usize,
}

impl Collected {
    pub(super) fn len(&self) -> usize {
        self.filled
    }

    /// Returns room for further bytes, at least one. `left` is the number of bytes that are left of the body, if known.
    pub(crate) fn room(&mut self, left: Option<u64>) -> Result<&mut [u8]> {
        if self.filled == self.buffer.len() {
            let most = left.map_or(usize::MAX, |left| usize::try_from(left).unwrap_or(usize::MAX)).max(1);
            let first = if left.is_some() { FIRST_KNOWN } else { FIRST_UNKNOWN };
            let more = self.filled.max(first).min(most);
            // One more byte for the NUL that follows the body of a C program.
            memory::grow_wiping(&mut self.buffer, more.saturating_add(1), "a body")?;
            self.buffer.resize(self.filled + more, 0);
        }
        Ok(self.buffer.get_mut(self.filled..).unwrap_or_default())
    }

    /// Adds the `count` bytes that the caller has stored at the start of [`Collected::room`].
    pub(crate) fn add(&mut self, count: usize) {
        self.filled += count;
    }

    /// Takes the bytes out.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        let mut bytes = mem::take(&mut self.buffer);
        bytes.truncate(mem::take(&mut self.filled));
        bytes
    }
}

impl Drop for Collected {
    fn drop(&mut self) {
        memory::wipe(&mut self.buffer);
    }
}
