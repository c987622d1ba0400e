//! Buffers for records, borrowed while bytes are in them. An idle connection holds none, unless a thread waits inside of
//! recv(2) for it.

use std::ops::{Deref, DerefMut, Range};
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::{Error, Result};
use crate::status::Status;

/// Room for a socket read of 64 KiB behind a partial record, and for four full records of outgoing data (4 × 16 KiB
/// and their overhead). It also bounds a handshake message in reassembly.
pub(crate) const BUFFER_SIZE: usize = 68 * 1024;

/// How many buffers a pool keeps for later; what comes back beyond is freed.
const KEPT: usize = 16;

/// The buffers of one context.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    free: Mutex<Vec<Bytes>>,
}

/// Of a size that is known, so that a session that holds none has room for a pointer and no more.
type Bytes = Box<[u8; BUFFER_SIZE]>;

impl Pool {
    /// A buffer of [`BUFFER_SIZE`] bytes, whatever they hold; it goes back when dropped.
    pub(crate) fn borrow(self: &Arc<Pool>) -> Result<Buffer> {
        // The guard of this statement is gone before a new buffer is made.
        let kept = self.free.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let bytes = match kept {
            Some(bytes) => bytes,
            None => {
                let none = |()| Error::new(Status::OutOfMemory, "no memory for a buffer of records");
                let mut bytes = Vec::new();
                bytes.try_reserve_exact(BUFFER_SIZE).map_err(|_| none(()))?;
                bytes.resize(BUFFER_SIZE, 0);
                bytes.into_boxed_slice().try_into().map_err(|_| none(()))?
            }
        };
        Ok(Buffer { bytes: Some(bytes), pool: Arc::clone(self) })
    }

    #[cfg(test)]
    pub(crate) fn kept(&self) -> usize {
        self.free.lock().unwrap().len()
    }
}

/// A borrowed buffer.
#[derive(Debug)]
pub(crate) struct Buffer {
    /// `None` only while it is dropped.
    bytes: Option<Bytes>,
    pool: Arc<Pool>,
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.bytes.as_deref().map_or(&[], |bytes| bytes)
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        self.bytes.as_deref_mut().map_or(&mut [], |bytes| bytes)
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let mut free = self.pool.free.lock().unwrap_or_else(PoisonError::into_inner);
        if free.len() < KEPT {
            free.extend(self.bytes.take());
        }
    }
}

/// A buffer and which of its bytes are in use.
#[derive(Debug)]
pub(crate) struct Filled {
    buffer: Buffer,
    start: u32,
    end: u32,
}

const _: () = assert!(BUFFER_SIZE <= u32::MAX as usize);

impl Filled {
    pub(crate) fn new(buffer: Buffer) -> Filled {
        Filled { buffer, start: 0, end: 0 }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.buffer.get(self.range()).unwrap_or(&[])
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        let range = self.range();
        self.buffer.get_mut(range).unwrap_or(&mut [])
    }

    fn range(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.start >= self.end
    }

    /// The room behind the bytes.
    pub(crate) fn space(&mut self) -> &mut [u8] {
        self.buffer.get_mut(self.end as usize..).unwrap_or(&mut [])
    }

    /// The first `n` bytes of the room are in use now.
    pub(crate) fn add(&mut self, n: usize) {
        self.end = self.range().end.saturating_add(n).min(self.buffer.len()) as u32;
    }

    /// The first `n` bytes have been dealt with.
    pub(crate) fn consume(&mut self, n: usize) {
        let Range { start, end } = self.range();
        self.start = start.saturating_add(n).min(end) as u32;
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
    }

    /// Moves the bytes to the front, so that all the room is behind them.
    pub(crate) fn compact(&mut self) {
        if self.start > 0 {
            let range = self.range();
            self.buffer.copy_within(range, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_come_back_and_few_are_kept() {
        let pool = Arc::new(Pool::default());
        let many: Vec<Buffer> = (0..KEPT + 5).map(|_| pool.borrow().unwrap()).collect();
        assert_eq!(pool.kept(), 0);
        drop(many);
        assert_eq!(pool.kept(), KEPT);
        let buffer = pool.borrow().unwrap();
        assert_eq!((buffer.len(), pool.kept()), (BUFFER_SIZE, KEPT - 1));
    }

    #[test]
    fn bytes_are_consumed_and_moved() {
        let mut filled = Filled::new(Arc::new(Pool::default()).borrow().unwrap());
        filled.space()[..5].copy_from_slice(b"abcde");
        filled.add(5);
        filled.consume(2);
        assert_eq!(filled.bytes(), b"cde");
        filled.compact();
        assert_eq!((filled.bytes(), filled.start), (&b"cde"[..], 0));
        filled.consume(3);
        assert!(filled.is_empty());
        assert_eq!(filled.space().len(), BUFFER_SIZE);
    }
}
