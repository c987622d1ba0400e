//! Finds the first byte outside a class. Examines 32 bytes at a time with AVX2, which is detected at run time;
//! otherwise one byte at a time. All unsafe code of the URL parser is in this module. A test compares the AVX2 and the
//! portable implementation.

#![allow(unsafe_code)]

use super::class::{CLASSES, Class};
use super::fast_path::{self, Boundaries};
use crate::parse_cost::examined;

/// Returns the offset of the first byte at or after `from` that is not in the class, or the length of the text.
#[inline]
pub(super) fn skip(text: &[u8], from: usize, class: Class) -> usize {
    let end = skip_dispatch(text, from, class);
    examined(end - from);
    end
}

fn skip_dispatch(text: &[u8], from: usize, class: Class) -> usize {
    #[cfg(all(target_arch = "x86_64", not(netlib_portable)))]
    if std::is_x86_feature_detected!("avx2") {
        // SAFETY: AVX2 was detected.
        return unsafe { avx2::skip(text, from, class) };
    }
    portable::skip(text, from, class)
}

/// Does what [`skip`] does for a path, and also stops at a "." that begins a segment. `from` must not be 0, because the
/// byte before it is examined.
#[inline]
pub(super) fn skip_path(text: &[u8], from: usize) -> usize {
    let end = skip_path_dispatch(text, from);
    examined(end - from);
    end
}

fn skip_path_dispatch(text: &[u8], from: usize) -> usize {
    #[cfg(all(target_arch = "x86_64", not(netlib_portable)))]
    if std::is_x86_feature_detected!("avx2") {
        // SAFETY: AVX2 was detected.
        return unsafe { avx2::skip_path(text, from) };
    }
    portable::skip_path(text, from)
}

/// Runs [`fast_path::read`] with the AVX2 implementation if possible, otherwise with the portable one.
pub(super) fn find_boundaries(text: &[u8], host: usize) -> Option<Boundaries> {
    examined(text.len() - host);
    #[cfg(all(target_arch = "x86_64", not(netlib_portable)))]
    if std::is_x86_feature_detected!("avx2") {
        // SAFETY: AVX2 was detected.
        return unsafe { avx2::find_boundaries(text, host) };
    }
    portable::find_boundaries(text, host)
}

mod portable {
    use super::{Boundaries, CLASSES, Class, fast_path};

    pub(super) fn find_boundaries(text: &[u8], host: usize) -> Option<Boundaries> {
        fast_path::read(text, host, |from, class| match class {
            Class::Path => skip_path(text, from),
            _ => skip(text, from, class),
        })
    }

    pub(super) fn skip(text: &[u8], from: usize, class: Class) -> usize {
        let rest = text.get(from..).unwrap_or_default();
        let stop = rest.iter().position(|&byte| CLASSES[usize::from(byte)] & class as u8 == 0);
        stop.map_or(text.len(), |stop| from + stop)
    }

    pub(super) fn skip_path(text: &[u8], from: usize) -> usize {
        let mut before = from.checked_sub(1).and_then(|before| text.get(before)).copied();
        for (i, &byte) in text.iter().enumerate().skip(from) {
            if CLASSES[usize::from(byte)] & Class::Path as u8 == 0 || (byte == b'.' && before == Some(b'/')) {
                return i;
            }
            before = Some(byte);
        }
        text.len()
    }
}

#[cfg(all(target_arch = "x86_64", not(netlib_portable)))]
mod avx2 {
    use std::arch::x86_64::*;

    use super::{Boundaries, CLASSES, Class, fast_path, portable};

    const WIDTH: usize = 32;

    /// A class of bytes as a table for a vector shuffle. The index is the low half of a byte. The entry has a bit for
    /// each high half with which the byte is in the class. Non-ASCII bytes, whose high half is 8 or more, are in no
    /// class, so eight bits suffice.
    type Table = [u8; 16];

    const fn table(class: Class) -> Table {
        let mut table = [0; 16];
        let mut byte = 0;
        while byte < 128 {
            if CLASSES[byte] & class as u8 != 0 {
                table[byte & 15] |= 1 << (byte >> 4);
            }
            byte += 1;
        }
        table
    }

    /// The tables of all classes, indexed by the position of the class's bit.
    static TABLES: [Table; 7] = [
        table(Class::Userinfo),
        table(Class::Path),
        table(Class::Query),
        table(Class::Host),
        table(Class::RawPath),
        table(Class::Raw),
        table(Class::Name),
    ];

    fn table_of(class: Class) -> usize {
        (class as usize).trailing_zeros() as usize % TABLES.len()
    }

    /// The bit of a [`Table`] entry for each high half of a byte.
    static HIGH: Table = [1, 2, 4, 8, 16, 32, 64, 128, 0, 0, 0, 0, 0, 0, 0, 0];

    #[target_feature(enable = "avx2")]
    fn broadcast(table: &Table) -> __m256i {
        // SAFETY: reads 16 bytes from an array of 16.
        _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(table.as_ptr().cast()) })
    }

    #[target_feature(enable = "avx2")]
    fn load(bytes: &[u8; WIDTH]) -> __m256i {
        // SAFETY: reads 32 bytes from an array of 32.
        unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
    }

    #[target_feature(enable = "avx2")]
    fn equals(block: __m256i, byte: u8) -> u32 {
        _mm256_movemask_epi8(_mm256_cmpeq_epi8(block, _mm256_set1_epi8(byte as i8))) as u32
    }

    /// Returns a mask of the bytes in the block that do not belong to the class.
    #[target_feature(enable = "avx2")]
    fn outside(block: __m256i, low: __m256i, high: __m256i) -> u32 {
        // The shuffle instruction returns zero for an index of 128 or more, so non-ASCII bytes are in no class.
        let by_low = _mm256_shuffle_epi8(low, block);
        let high_half = _mm256_and_si256(_mm256_srli_epi16::<4>(block), _mm256_set1_epi8(15));
        let inside = _mm256_and_si256(by_low, _mm256_shuffle_epi8(high, high_half));
        equals(inside, 0)
    }

    /// Two blocks of 32 bytes of a text. A block that would extend past the end of the text begins earlier instead, so
    /// the blocks may overlap. A text shorter than 32 bytes has no blocks.
    struct Pair {
        start: usize,
        first: __m256i,
        second: __m256i,
        distance: usize,
    }

    impl Pair {
        #[target_feature(enable = "avx2")]
        #[inline]
        fn at(text: &[u8], from: usize) -> Option<Pair> {
            let last = text.len().checked_sub(WIDTH)?;
            let start = from.min(last);
            let second = (start + WIDTH).min(last);
            let block = |at: usize| text.get(at..)?.first_chunk();
            Some(Pair { start, first: load(block(start)?), second: load(block(second)?), distance: second - start })
        }

        fn end(&self) -> usize {
            self.start + self.distance + WIDTH
        }

        /// Combines the masks of both blocks into a mask of 64 bits for the text from `start`. The closure `of` returns
        /// the mask of one block.
        #[target_feature(enable = "avx2")]
        #[inline]
        fn bits(&self, of: impl Fn(__m256i) -> u32) -> u64 {
            u64::from(of(self.first)) | u64::from(of(self.second)) << self.distance
        }

        #[target_feature(enable = "avx2")]
        #[inline]
        fn outside(&self, class: Class) -> u64 {
            let (low, high) = (broadcast(&TABLES[table_of(class)]), broadcast(&HIGH));
            self.bits(|block| outside(block, low, high))
        }

        #[target_feature(enable = "avx2")]
        #[inline]
        fn equals(&self, byte: u8) -> u64 {
            self.bits(|block| equals(block, byte))
        }

        /// Returns a mask with a bit for each "." that begins a segment.
        #[target_feature(enable = "avx2")]
        #[inline]
        fn dot_segments(&self, text: &[u8]) -> u64 {
            let after_slash = self.start > 0 && text.get(self.start - 1) == Some(&b'/');
            self.equals(b'.') & (self.equals(b'/') << 1 | u64::from(after_slash))
        }
    }

    /// Returns the offset of the first byte at or after `from` at which the search stops, or the length of the text.
    /// For a pair of blocks, `stops` returns a mask with a bit for each byte that stops the search. Each iteration
    /// examines two blocks, so that fewer searches need further iterations, whose number the CPU can hardly predict.
    /// Returns `None` for a text shorter than a block.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn search(text: &[u8], from: usize, stops: impl Fn(&Pair) -> u64) -> Option<usize> {
        let mut from = from;
        while from < text.len() {
            let pair = Pair::at(text, from)?;
            let found = stops(&pair) & (u64::MAX << (from - pair.start));
            if found != 0 {
                return Some(pair.start + found.trailing_zeros() as usize);
            }
            from = pair.end();
        }
        Some(text.len())
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn skip(text: &[u8], from: usize, class: Class) -> usize {
        let found = search(text, from, |pair| pair.outside(class));
        found.unwrap_or_else(|| portable::skip(text, from, class))
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn skip_path(text: &[u8], from: usize) -> usize {
        let found = search(text, from, |pair| pair.outside(Class::Path) | pair.dot_segments(text));
        found.unwrap_or_else(|| portable::skip_path(text, from))
    }

    /// Up to 64 bytes of a URL, with three masks: of the bytes at which the scans of a host, of a path and of a query
    /// stop. The masks are computed together, so that no scan depends on the result of the previous scan.
    struct Window {
        start: usize,
        end: usize,
        host: u64,
        path: u64,
        query: u64,
    }

    impl Window {
        #[target_feature(enable = "avx2")]
        #[inline]
        fn new(text: &[u8], from: usize) -> Option<Window> {
            let pair = Pair::at(text, from)?;
            let query = pair.outside(Class::Query);
            Some(Window {
                start: pair.start,
                end: pair.end(),
                host: pair.outside(Class::Host),
                path: query | pair.equals(b'?') | pair.dot_segments(text),
                query,
            })
        }

        /// Returns the offset of the first byte at or after `from` at which the scan of the class stops, or the length
        /// of the text. Moves the window forward while the window contains no such byte.
        #[target_feature(enable = "avx2")]
        #[inline]
        fn next(&mut self, text: &[u8], from: usize, class: Class) -> usize {
            let mut from = from;
            loop {
                let stops = match class {
                    Class::Host => self.host,
                    Class::Path => self.path,
                    _ => self.query,
                };
                let skipped = from - self.start;
                let left = if skipped < 64 { stops >> skipped } else { 0 };
                if left != 0 {
                    return from + left.trailing_zeros() as usize;
                }
                from = from.max(self.end);
                if from >= text.len() {
                    return text.len();
                }
                match Window::new_not_inlined(text, from) {
                    Some(window) => *self = window,
                    None => return text.len(),
                }
            }
        }

        /// Does what [`Window::new`] does, but is never inlined, so that the first window stays in registers.
        #[target_feature(enable = "avx2")]
        #[inline(never)]
        fn new_not_inlined(text: &[u8], from: usize) -> Option<Window> {
            Window::new(text, from)
        }
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn find_boundaries(text: &[u8], host: usize) -> Option<Boundaries> {
        let Some(mut window) = Window::new(text, host) else { return portable::find_boundaries(text, host) };
        fast_path::read(text, host, |from, class| window.next(text, from, class))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Class; 7] =
        [Class::Userinfo, Class::Path, Class::Query, Class::Host, Class::RawPath, Class::Raw, Class::Name];

    /// Tests every byte value at every position of texts that are about as long as one and two blocks.
    #[test]
    fn the_avx2_and_the_portable_scan_agree() {
        for length in [0, 1, 5, 31, 32, 33, 40, 63, 64, 65, 70] {
            for place in 0..length {
                for byte in 0..=255u8 {
                    let mut text = vec![b'a'; length];
                    text[place] = byte;
                    if byte == b'.' && place > 0 {
                        text[place - 1] = b'/';
                    }
                    for from in [0, 1, place.saturating_sub(1), place, place + 1, length].map(|from| from.min(length))
                    {
                        for class in ALL {
                            assert_eq!(
                                skip(&text, from, class),
                                portable::skip(&text, from, class),
                                "{text:?} {from}"
                            );
                        }
                        let from = from.max(1).min(length);
                        assert_eq!(skip_path(&text, from), portable::skip_path(&text, from), "{text:?} {from}");
                    }
                }
            }
        }
    }

    #[test]
    fn scanning_stops_at_the_first_byte_outside_the_class() {
        assert_eq!(skip(b"example.com:80", 0, Class::Host), 11);
        assert_eq!(skip(b"Example.com", 0, Class::Host), 0);
        assert_eq!(skip(b"a/b?c#d", 0, Class::Query), 5);
        assert_eq!(skip_path(b"/a.b/.c", 1), 5);
        assert_eq!(skip_path(b"/a.b/c?", 1), 6);
        assert_eq!(skip_path(b"/.", 1), 1);
    }
}
