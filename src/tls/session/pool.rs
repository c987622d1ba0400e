//! Lends buffers for records. A session borrows a buffer only while there are bytes to store in it. So an idle session
//! holds no buffer, unless a thread waits for input in recv(2).

use std::fmt;
use std::hint::black_box;
use std::ops::Range;

use crossbeam_utils::atomic::AtomicCell;

use crate::error::{Error, Result};
use crate::fork::{LockGuard, Mutex};
use crate::memory;
use crate::status::Status;

/// The size of a buffer: enough to receive 64 KiB after a partial record of up to 4 KiB, and for four full records to
/// send (4 × 16 KiB and their overhead). The size also limits the length of a handshake message.
pub(crate) const BUFFER_SIZE: usize = 68 * 1024;

/// The maximum number of buffers in a pool; further buffers are freed.
const MAX_POOLED: usize = 16;

/// The buffers of one context.
#[derive(Default)]
pub(crate) struct Pool {
    /// The most recently returned buffer. Usually this buffer is the only one in the pool, and taking it needs no lock.
    last: AtomicCell<Option<Bytes>>,
    /// The buffers that were returned before `last`.
    others: Mutex<Vec<Bytes>>,
}

/// A `Box` of an array is a pointer without a length, so an `Option<Bytes>` has the size of one pointer.
#[derive(Debug)]
struct Bytes(Box<[u8; BUFFER_SIZE]>);

impl Drop for Bytes {
    /// Wipes plaintext when a buffer is freed. Wiping a buffer each time it returns to the pool would cost as much as
    /// copying each record.
    fn drop(&mut self) {
        memory::wipe(&mut self.0[..]);
    }
}

const _: () = assert!(AtomicCell::<Option<Bytes>>::is_lock_free());

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").finish_non_exhaustive()
    }
}

impl Pool {
    /// Borrows a buffer of [`BUFFER_SIZE`] bytes with unspecified contents.
    pub(crate) fn borrow(&self) -> Result<RecordBuffer> {
        let bytes = match self.last.take() {
            Some(bytes) => bytes,
            None => self.borrow_slow()?,
        };
        Ok(RecordBuffer { bytes, start: 0, end: 0 })
    }

    #[cold]
    fn borrow_slow(&self) -> Result<Bytes> {
        // The lock is released before a new buffer is allocated.
        let kept = self.others().pop();
        kept.map_or_else(allocate, Ok)
    }

    /// Returns a buffer for reuse. A buffer that is dropped without being returned is freed. A buffer has no reference
    /// to its pool, because reference counting would cost as much as the rest of this function.
    pub(crate) fn give_back(&self, buffer: RecordBuffer) {
        if let Some(earlier) = self.last.swap(Some(buffer.bytes)) {
            self.store(earlier);
        }
    }

    #[cold]
    fn store(&self, bytes: Bytes) {
        let mut others = self.others();
        if others.len() < MAX_POOLED - 1 {
            others.push(bytes);
        }
    }

    fn others(&self) -> LockGuard<'_, Vec<Bytes>> {
        self.others.lock()
    }

    #[cfg(test)]
    pub(crate) fn kept(&self) -> usize {
        let last = self.last.take();
        let kept = self.others().len() + usize::from(last.is_some());
        self.last.store(last);
        kept
    }
}

#[cold]
fn allocate() -> Result<Bytes> {
    let none = || Error::new(Status::OutOfMemory, "no memory for a buffer of records");
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(BUFFER_SIZE).map_err(|_| none())?;
    bytes.resize(BUFFER_SIZE, 0);
    bytes.into_boxed_slice().try_into().map(Bytes).map_err(|_| none())
}

/// Copies as much of `bytes` as fits into `room`, and returns the number of copied bytes.
///
/// Copies in pieces of 2 KiB, because memcpy(3) uses `rep movsb` above that size. On Zen 3 and 4, `rep movsb` takes
/// thirty times as long if the destination is up to 15 bytes after the source modulo the page size. Copying in pieces
/// of 2 KiB is as fast as one copy in all other cases.
pub(crate) fn copy_into(room: &mut [u8], bytes: &[u8]) -> usize {
    const PIECE: usize = 2048;
    let count = bytes.len().min(room.len());
    let (room, bytes) = (room.get_mut(..count).unwrap_or(&mut []), bytes.get(..count).unwrap_or(&[]));
    if count <= PIECE {
        room.copy_from_slice(bytes);
        return count;
    }
    for (room, bytes) in room.chunks_mut(PIECE).zip(bytes.chunks(PIECE)) {
        // Keeps the compiler from merging the pieces into one copy.
        room.copy_from_slice(black_box(bytes));
    }
    count
}

/// A buffer with a range of bytes in use.
#[derive(Debug)]
pub(crate) struct RecordBuffer {
    bytes: Bytes,
    start: u32,
    end: u32,
}

const _: () = assert!(BUFFER_SIZE <= u32::MAX as usize);

impl RecordBuffer {
    pub(crate) fn bytes(&self) -> &[u8] {
        self.bytes.0.get(self.range()).unwrap_or(&[])
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        let range = self.range();
        self.bytes.0.get_mut(range).unwrap_or(&mut [])
    }

    fn range(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.start >= self.end
    }

    /// Returns the size of [`RecordBuffer::space`].
    pub(crate) fn space_len(&self) -> usize {
        BUFFER_SIZE - self.range().end
    }

    /// Returns the free space after the bytes in use.
    pub(crate) fn space(&mut self) -> &mut [u8] {
        self.bytes.0.get_mut(self.end as usize..).unwrap_or(&mut [])
    }

    /// Appends as much of `bytes` as fits, and returns the number of appended bytes.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> usize {
        let count = copy_into(self.space(), bytes);
        self.add(count);
        count
    }

    /// Marks the first `n` bytes of the free space as in use.
    pub(crate) fn add(&mut self, n: usize) {
        self.end = self.range().end.saturating_add(n).min(BUFFER_SIZE) as u32;
    }

    /// Removes the first `n` bytes in use.
    pub(crate) fn consume(&mut self, n: usize) {
        let Range { start, end } = self.range();
        self.start = start.saturating_add(n).min(end) as u32;
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
    }

    /// Moves the bytes in use to the front, so that all free space is after them.
    pub(crate) fn compact(&mut self) {
        if self.start > 0 {
            let range = self.range();
            self.bytes.0.copy_within(range, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_keeps_at_most_16_returned_buffers_for_reuse() {
        let pool = Pool::default();
        let many: Vec<RecordBuffer> = (0..MAX_POOLED + 5).map(|_| pool.borrow().unwrap()).collect();
        assert_eq!(pool.kept(), 0);
        many.into_iter().for_each(|buffer| pool.give_back(buffer));
        assert_eq!(pool.kept(), MAX_POOLED);
        let mut buffer = pool.borrow().unwrap();
        assert_eq!((buffer.space_len(), buffer.is_empty(), pool.kept()), (BUFFER_SIZE, true, MAX_POOLED - 1));
        buffer.add(5);
        pool.give_back(buffer);
        assert!(pool.borrow().unwrap().is_empty());
    }

    #[test]
    fn a_pooled_buffer_is_never_used_by_two_threads_at_once() {
        let pool = Pool::default();
        std::thread::scope(|scope| {
            for mark in 1..=8 {
                let pool = &pool;
                scope.spawn(move || {
                    for _ in 0..500 {
                        let mut buffers = [(); 3].map(|()| pool.borrow().unwrap());
                        for buffer in &mut buffers {
                            buffer.push(&[mark; 100]);
                        }
                        std::thread::yield_now();
                        for buffer in buffers {
                            assert_eq!(buffer.bytes(), [mark; 100]);
                            pool.give_back(buffer);
                        }
                    }
                });
            }
        });
        assert!((3..=MAX_POOLED).contains(&pool.kept()), "{}", pool.kept());
    }

    #[test]
    fn consume_and_compact_keep_the_remaining_bytes() {
        let mut filled = Pool::default().borrow().unwrap();
        assert_eq!(filled.push(b"abcde"), 5);
        filled.consume(2);
        assert_eq!(filled.bytes(), b"cde");
        filled.compact();
        assert_eq!((filled.bytes(), filled.start), (&b"cde"[..], 0));
        filled.consume(3);
        assert!(filled.is_empty());
        assert_eq!(filled.space().len(), BUFFER_SIZE);
    }

    #[test]
    fn copy_into_copies_as_much_as_fits() {
        let bytes: Vec<u8> = (0..10_000_u32).map(|i| (i * 7 + i / 251) as u8).collect();
        for len in [0, 1, 2047, 2048, 2049, 4096, 9999, 10_000] {
            for room in [0, 1, 2048, 2049, 10_000] {
                let mut copy = vec![0; room];
                let count = copy_into(&mut copy, &bytes[..len]);
                assert_eq!(count, len.min(room));
                assert_eq!((&copy[..count], copy[count..].iter().any(|&byte| byte != 0)), (&bytes[..count], false));
            }
        }
        let mut filled = Pool::default().borrow().unwrap();
        filled.add(BUFFER_SIZE - 3);
        assert_eq!((filled.push(b"abcde"), filled.space_len()), (3, 0));
        assert!(filled.bytes().ends_with(b"abc"));
    }
}
