//! Divides the plaintext of one write, which the caller passes in several pieces, into records. Small pieces share
//! records, so a write in several pieces produces as many records as a write of one piece of the same total length.

use crate::error::Result;
use crate::stream::pieces::Pieces;
use crate::tls::session::{RECORD_SIZE, RecordBuffer, WRITE_SIZE, copy_into};

impl Pieces<'_> {
    /// Returns the next bytes to encrypt, at most [`WRITE_SIZE`]. The returned bytes fill whole records, except for the
    /// last record of the write. A piece that fills a record is not copied; smaller pieces are copied one after the
    /// other into a buffer that `borrow` provides.
    pub(super) fn front<'b>(
        &self,
        buffer: &'b mut Option<RecordBuffer>,
        borrow: impl FnOnce() -> Result<RecordBuffer>,
    ) -> Result<&'b [u8]>
    where
        Self: 'b,
    {
        let first = self.first();
        let first = first.get(..WRITE_SIZE).unwrap_or(first);
        if self.count() <= 1 {
            return Ok(first);
        }
        if first.len() >= RECORD_SIZE {
            return Ok(first.get(..first.len() - first.len() % RECORD_SIZE).unwrap_or(first));
        }
        if buffer.is_none() {
            *buffer = Some(borrow()?);
        }
        let room = buffer.as_mut().map_or(&mut [][..], RecordBuffer::space);
        let room = room.get_mut(..WRITE_SIZE).unwrap_or(&mut []);
        let mut filled = 0_usize;
        for piece in self.iter() {
            // If a piece is large, only those of its bytes that complete the current record are copied.
            let least = if piece.len() < RECORD_SIZE { room.len() } else { filled.next_multiple_of(RECORD_SIZE) };
            let bytes = piece.get(..least - filled).unwrap_or(piece);
            filled += copy_into(room.get_mut(filled..).unwrap_or(&mut []), bytes);
            if bytes.len() < piece.len() {
                break;
            }
        }
        Ok(room.get(..filled).unwrap_or(&[]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tls::session::Pool;

    /// Returns the size of each chunk to encrypt, and whether it was copied.
    fn chunks(lengths: &[usize]) -> Vec<(usize, bool)> {
        let pool = Pool::default();
        let data: Vec<u8> = (0..lengths.iter().sum()).map(|i: usize| (i * 7 + i / 251) as u8).collect();
        let mut rest = &data[..];
        let pieces: Vec<&[u8]> = lengths.iter().map(|&len| rest.split_off(..len).unwrap()).collect();
        let mut left = Pieces::new(&pieces);
        let (mut seen, mut at) = (Vec::new(), 0);
        while !left.is_empty() {
            let mut buffer = None;
            assert_eq!(left.len(), data.len() - at);
            let chunk = left.front(&mut buffer, || pool.borrow()).unwrap();
            assert_eq!(chunk, &data[at..at + chunk.len()]);
            let count = chunk.len();
            seen.push((count, buffer.is_some()));
            at += count;
            left.advance(count);
        }
        assert_eq!((at, left.len()), (data.len(), 0));
        seen
    }

    #[test]
    fn small_pieces_are_copied_into_full_records() {
        assert_eq!(chunks(&[]), []);
        assert_eq!(chunks(&[0, 0]), []);
        assert_eq!(chunks(&[5]), [(5, false)]);
        assert_eq!(chunks(&[0, 5, 0]), [(5, true)]);
        assert_eq!(chunks(&[1; 1000]), [(1000, true)]);
        assert_eq!(chunks(&[1000; 100]), [(65536, true), (34464, true)]);
        assert_eq!(chunks(&[100_000]), [(65536, false), (34464, false)]);
        // With a header piece and a body piece, only the bytes of the body that share a record with the header are
        // copied.
        assert_eq!(chunks(&[200, 100_000]), [(16384, true), (65536, false), (18280, false)]);
        assert_eq!(chunks(&[20_000, 100]), [(16384, false), (3716, true)]);
        assert_eq!(chunks(&[16384, 1]), [(16384, false), (1, false)]);
        assert_eq!(chunks(&[10_000, 6384, 20_000, 1]), [(16384, true), (16384, false), (3617, true)]);
    }
}
