//! Buffers for records, borrowed while bytes are in them. An idle connection holds none, unless a thread waits inside of
//! recv(2) for it.

use std::fmt;
use std::hint::black_box;
use std::ops::Range;

use crossbeam_utils::atomic::AtomicCell;

use crate::error::{Error, Result};
use crate::fork::{Locked, Mutex};
use crate::memory;
use crate::status::Status;

/// Room for a socket read of 64 KiB behind a partial record, and for four full records of outgoing data (4 × 16 KiB
/// and their overhead). It also bounds a handshake message in reassembly.
pub(crate) const BUFFER_SIZE: usize = 68 * 1024;

/// How many buffers a pool keeps for later; what comes back beyond is freed.
const MAX_POOLED: usize = 16;

/// The buffers of one context.
#[derive(Default)]
pub(crate) struct Pool {
    /// What came back last. Mostly it is all there is, and goes and comes without a lock.
    last: AtomicCell<Option<Bytes>>,
    /// What came back before.
    others: Mutex<Vec<Bytes>>,
}

/// Of a size that is known, so that a session that holds none has room for a pointer and no more.
#[derive(Debug)]
struct Bytes(Box<[u8; BUFFER_SIZE]>);

impl Drop for Bytes {
    /// Plaintext is wiped when a buffer is freed, and not each time the buffer returns to the pool: that would cost as
    /// much as copying each record.
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
    /// A buffer of [`BUFFER_SIZE`] bytes, whatever they hold.
    pub(crate) fn borrow(&self) -> Result<RecordBuffer> {
        let bytes = match self.last.take() {
            Some(bytes) => bytes,
            None => self.borrow_slow()?,
        };
        Ok(RecordBuffer { bytes, start: 0, end: 0 })
    }

    #[cold]
    fn borrow_slow(&self) -> Result<Bytes> {
        // The guard of this statement is gone before a new buffer is made.
        let kept = self.others().pop();
        kept.map_or_else(allocate, Ok)
    }

    /// For later, which nobody has to do: a buffer that is only dropped is freed. It knows no way back by itself, because
    /// counting references would cost as much as the rest of this.
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

    fn others(&self) -> Locked<'_, Vec<Bytes>> {
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

/// Copies as much of `bytes` as there is room for; how much. Plaintext lies where its record came to lie, and goes where the
/// program wants it. On Zen 3 and 4 `rep movsb`, which memcpy(3) has for more than 2 KiB, takes thirty times as long where
/// the destination is up to 15 bytes behind the source, not counting whole pages. Pieces of this size are copied otherwise,
/// and as fast.
pub(crate) fn copy_into(room: &mut [u8], bytes: &[u8]) -> usize {
    const PIECE: usize = 2048;
    let count = bytes.len().min(room.len());
    let (room, bytes) = (room.get_mut(..count).unwrap_or(&mut []), bytes.get(..count).unwrap_or(&[]));
    if count <= PIECE {
        room.copy_from_slice(bytes);
        return count;
    }
    for (room, bytes) in room.chunks_mut(PIECE).zip(bytes.chunks(PIECE)) {
        // Otherwise the compiler makes one copy of them all again.
        room.copy_from_slice(black_box(bytes));
    }
    count
}

/// A buffer and which of its bytes are in use.
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

    /// How much fits behind the bytes.
    pub(crate) fn space_len(&self) -> usize {
        BUFFER_SIZE - self.range().end
    }

    /// The room behind the bytes.
    pub(crate) fn space(&mut self) -> &mut [u8] {
        self.bytes.0.get_mut(self.end as usize..).unwrap_or(&mut [])
    }

    /// Puts in as much of `bytes` as fits; how much.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> usize {
        let count = copy_into(self.space(), bytes);
        self.add(count);
        count
    }

    /// The first `n` bytes of the room are in use now.
    pub(crate) fn add(&mut self, n: usize) {
        self.end = self.range().end.saturating_add(n).min(BUFFER_SIZE) as u32;
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
            self.bytes.0.copy_within(range, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_come_back_and_few_are_kept() {
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
    fn a_buffer_is_one_threads_at_a_time() {
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
    fn bytes_are_consumed_and_moved() {
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
    fn as_much_is_copied_as_fits() {
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
