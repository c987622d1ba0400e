//! A cursor over DER that tracks its offset in the input. The cursor also reads BER for PKCS#12.

use std::ops::Deref;

use zeroize::Zeroizing;

use crate::error::Result as Fallible;
use crate::memory;

/// A parse error: the part of the input that could not be parsed, and its offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed {
    pub(crate) what: &'static str,
    pub(crate) at: usize,
}

/// A cursor over concatenated elements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Der<'a> {
    rest: &'a [u8],
    at: usize,
    /// True if BER's indefinite lengths are accepted.
    is_ber: bool,
}

/// An element: its tag, its bytes with and without the header, and the offset of its content.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Element<'a> {
    pub(crate) tag: u8,
    pub(crate) whole: &'a [u8],
    pub(crate) content: &'a [u8],
    pub(crate) at: usize,
    is_ber: bool,
}

/// The content of an OCTET STRING, which may be secret.
pub(crate) enum Octets<'a> {
    Whole(&'a [u8]),
    Joined(Zeroizing<Vec<u8>>),
}

impl Deref for Octets<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Octets::Whole(bytes) => bytes,
            Octets::Joined(bytes) => bytes,
        }
    }
}

pub(crate) mod tag {
    pub(crate) const BOOLEAN: u8 = 0x01;
    pub(crate) const INTEGER: u8 = 0x02;
    pub(crate) const BIT_STRING: u8 = 0x03;
    pub(crate) const OCTET_STRING: u8 = 0x04;
    pub(crate) const OID: u8 = 0x06;
    pub(crate) const UTF8_STRING: u8 = 0x0c;
    pub(crate) const NUMERIC_STRING: u8 = 0x12;
    pub(crate) const PRINTABLE_STRING: u8 = 0x13;
    pub(crate) const TELETEX_STRING: u8 = 0x14;
    pub(crate) const IA5_STRING: u8 = 0x16;
    pub(crate) const UTC_TIME: u8 = 0x17;
    pub(crate) const GENERALIZED_TIME: u8 = 0x18;
    pub(crate) const VISIBLE_STRING: u8 = 0x1a;
    pub(crate) const UNIVERSAL_STRING: u8 = 0x1c;
    pub(crate) const BMP_STRING: u8 = 0x1e;
    pub(crate) const SEQUENCE: u8 = 0x30;
    pub(crate) const SET: u8 = 0x31;
    /// The tag bit of a constructed element, which contains other elements.
    pub(crate) const CONSTRUCTED: u8 = 0x20;

    /// Returns the tag byte of a field with the explicit tag `[number]`.
    pub(crate) const fn explicit(number: u8) -> u8 {
        0xa0 | number
    }

    /// Returns the tag byte of a primitive field with the implicit tag `[number]`.
    pub(crate) const fn implicit(number: u8) -> u8 {
        0x80 | number
    }
}

impl<'a> Der<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Der<'a> {
        Der { rest: bytes, at: 0, is_ber: false }
    }

    /// Returns a cursor that also accepts indefinite lengths, at every level. Finding the end of an element with
    /// indefinite length takes time linear in its size, once per level of nesting.
    pub(crate) fn ber(bytes: &'a [u8], at: usize) -> Der<'a> {
        Der { rest: bytes, at, is_ber: true }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub(crate) fn malformed(&self, what: &'static str) -> Malformed {
        Malformed { what, at: self.at }
    }

    /// Returns the next element; `None` at the end and at a malformed element. Lengths of more than four bytes and tags
    /// of more than one byte do not occur in certificates and count as malformed.
    pub(crate) fn next(&mut self) -> Option<Element<'a>> {
        let (tag, len, rest) = header(self.rest)?;
        let (content, after) = match len {
            Some(len) => rest.split_at_checked(len)?,
            None if self.is_ber => {
                let (content, end) = rest.split_at_checked(indefinite(rest)?)?;
                (content, end.get(END_OF_CONTENTS..)?)
            }
            None => return None,
        };
        let whole = self.rest.get(..self.rest.len() - after.len())?;
        let at = self.at + self.rest.len() - rest.len();
        self.at += whole.len();
        self.rest = after;
        Some(Element { tag, whole, content, at, is_ber: self.is_ber })
    }

    /// Returns the next element and moves past it, but only if the element has this tag.
    pub(crate) fn take(&mut self, tag: u8) -> Option<Element<'a>> {
        let before = *self;
        let element = self.next().filter(|element| element.tag == tag);
        if element.is_none() {
            *self = before;
        }
        element
    }

    /// Returns the next element like [`Der::take`], but fails if the element is missing or has another tag.
    pub(crate) fn read(&mut self, tag: u8, what: &'static str) -> Result<Element<'a>, Malformed> {
        self.take(tag).ok_or_else(|| self.malformed(what))
    }

    pub(crate) fn bytes(&self) -> &'a [u8] {
        self.rest
    }

    pub(crate) fn end(&self, what: &'static str) -> Result<(), Malformed> {
        if self.is_empty() { Ok(()) } else { Err(self.malformed(what)) }
    }
}

impl<'a> Element<'a> {
    pub(crate) fn inside(&self) -> Der<'a> {
        Der { rest: self.content, at: self.at, is_ber: self.is_ber }
    }

    /// Returns the content of an OCTET STRING. The parts of a constructed OCTET STRING, which BER allows, are joined.
    /// `None` if a constructed element contains anything but OCTET STRINGs.
    pub(crate) fn octets(&self) -> Fallible<Option<Octets<'a>>> {
        if self.tag & tag::CONSTRUCTED == 0 {
            return Ok(Some(Octets::Whole(self.content)));
        }
        let mut joined = Zeroizing::new(Vec::new());
        memory::reserve(&mut joined, self.content.len(), "a string")?;
        let mut rest = self.content;
        // Constructed strings may nest, but their primitive strings are always in the order in which they are joined.
        while let Some((tag, len, after)) = header(rest) {
            rest = match (tag, len) {
                (tag::OCTET_STRING, Some(len)) => {
                    let Some((part, after)) = after.split_at_checked(len) else { return Ok(None) };
                    joined.extend_from_slice(part);
                    after
                }
                (tag, _) if tag == tag::OCTET_STRING | tag::CONSTRUCTED => after,
                (0, Some(0)) => after,
                _ => return Ok(None),
            };
        }
        Ok(rest.is_empty().then_some(Octets::Joined(joined)))
    }

    pub(crate) fn malformed(&self, what: &'static str) -> Malformed {
        Malformed { what, at: self.at }
    }

    /// Returns a cursor over the bytes of a BIT STRING, without the first byte, which is the number of unused bits.
    pub(crate) fn bits(&self) -> Option<Der<'a>> {
        let (unused, bytes) = self.content.split_first()?;
        (*unused < 8).then_some(Der { rest: bytes, at: self.at + 1, is_ber: self.is_ber })
    }

    /// Returns an INTEGER's magnitude without leading zeros.
    pub(crate) fn magnitude(&self) -> &'a [u8] {
        let zeros = self.content.iter().take_while(|byte| **byte == 0).count();
        self.content.get(zeros..).unwrap_or_default()
    }

    /// Returns the value of a BOOLEAN. Every byte except 0 is true, as in BER; DER allows only 0xff.
    pub(crate) fn is_true(&self) -> bool {
        self.content.iter().any(|byte| *byte != 0)
    }
}

/// Splits off the header of an element. Returns the tag, the length of the content (`None` if indefinite) and the bytes
/// after the header.
pub(crate) fn header(bytes: &[u8]) -> Option<(u8, Option<usize>, &[u8])> {
    let (&tag, rest) = bytes.split_first()?;
    let (&first, rest) = rest.split_first()?;
    if tag & 0x1f == 0x1f {
        return None;
    }
    match usize::from(first) {
        len @ ..0x80 => Some((tag, Some(len), rest)),
        0x80 => (tag & tag::CONSTRUCTED != 0).then_some((tag, None, rest)),
        0x85.. => None,
        count => {
            let (bytes, rest) = rest.split_at_checked(count & 0x7f)?;
            Some((tag, Some(bytes.iter().fold(0usize, |len, byte| len << 8 | usize::from(*byte))), rest))
        }
    }
}

/// The size of the end-of-contents element (two zero bytes), which ends the content of an element with indefinite
/// length.
const END_OF_CONTENTS: usize = 2;

/// Returns the length of the content of an element with indefinite length. `bytes` begins with the content and contains
/// its end-of-contents element.
fn indefinite(bytes: &[u8]) -> Option<usize> {
    let (mut rest, mut open) = (bytes, 1usize);
    loop {
        let (tag, len, after) = header(rest)?;
        rest = match (tag, len) {
            (0, Some(0)) if open == 1 => return Some(bytes.len() - rest.len()),
            (0, Some(0)) => {
                open -= 1;
                after
            }
            (_, None) => {
                open += 1;
                after
            }
            (_, Some(len)) => after.get(len..)?,
        };
    }
}

/// The largest accepted number of elements in one input. Without this limit, a file of eight million empty SEQUENCEs,
/// of two bytes each, would take a gigabyte of memory.
const MOST_SEQUENCES: usize = 1 << 16;

/// Splits concatenated SEQUENCEs in DER; `None` if the last one is incomplete, if there is any other element, or if there
/// are more than `MOST_SEQUENCES`.
pub(crate) fn split_sequences(bytes: &[u8]) -> Option<Vec<&[u8]>> {
    let mut der = Der::new(bytes);
    let mut elements = Vec::new();
    while !der.is_empty() {
        if elements.len() == MOST_SEQUENCES {
            return None;
        }
        elements.push(der.take(tag::SEQUENCE)?.whole);
    }
    Some(elements)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn concatenated_sequences_are_split() {
        let whole = [tag::SEQUENCE, 0x02, 0x05, 0x00];
        assert_eq!(split_sequences(&whole).unwrap(), [&whole[..]]);
        assert_eq!(split_sequences(&[whole, whole].concat()).unwrap().len(), 2);
        let many = [tag::SEQUENCE, 0].repeat(MOST_SEQUENCES);
        assert_eq!(split_sequences(&many).unwrap().len(), MOST_SEQUENCES);
        assert_eq!(split_sequences(&[&many[..], &[tag::SEQUENCE, 0]].concat()), None);
        let long = [&[tag::SEQUENCE, 0x83, 0, 0, 2][..], &[5, 0]].concat();
        assert_eq!(split_sequences(&long).unwrap(), [&long[..]]);
        for broken in [
            &[tag::SEQUENCE][..],
            &[tag::SEQUENCE, 0x80],
            &[tag::SEQUENCE, 0x80, 0, 0],
            &[tag::SEQUENCE, 0x03, 0x00],
            &[tag::SEQUENCE, 0x81],
            &[tag::SEQUENCE, 0x84, 0xff, 0xff, 0xff, 0xff],
            &[tag::SEQUENCE, 0x85, 0, 0, 0, 0, 0],
            &[tag::SEQUENCE, 0xff],
            &[tag::INTEGER, 0x01, 0x00],
            &[0x3f, 0x01, 0x00],
        ] {
            assert_eq!(split_sequences(broken), None, "{broken:?}");
        }
    }

    #[test]
    fn offsets_of_der_elements_and_errors_count_from_the_start_of_the_data() {
        let bytes = [tag::SEQUENCE, 5, tag::INTEGER, 1, 7, tag::SET, 9];
        let mut inside = Der::new(&bytes).read(tag::SEQUENCE, "all").unwrap().inside();
        let seven = inside.read(tag::INTEGER, "seven").unwrap();
        assert_eq!((seven.content, seven.at), (&[7][..], 4));
        assert_eq!(inside.read(tag::SET, "nine").unwrap_err(), Malformed { what: "nine", at: 5 });
        assert_eq!(inside.end("the end"), Err(Malformed { what: "the end", at: 5 }));
    }

    #[test]
    fn indefinite_lengths_are_accepted_in_ber_and_refused_in_der() {
        let bytes = [tag::SEQUENCE, 0x80, tag::SET, 0x80, tag::INTEGER, 1, 0, 0, 0, tag::INTEGER, 1, 7, 0, 0, 9];
        assert!(Der::new(&bytes).next().is_none());
        let mut all = Der::ber(&bytes, 100);
        let outer = all.next().unwrap();
        assert_eq!((outer.whole, outer.content, outer.at), (&bytes[..14], &bytes[2..12], 102));
        assert_eq!((all.bytes(), all.malformed("").at), (&[9][..], 114));
        let mut inside = outer.inside();
        let set = inside.next().unwrap();
        assert_eq!((set.tag, set.content, set.at), (tag::SET, &[tag::INTEGER, 1, 0][..], 104));
        assert_eq!(inside.next().unwrap().content, [7]);
        assert!(inside.is_empty());
        for len in 0..14 {
            assert!(Der::ber(&bytes[..len], 0).next().is_none(), "{len}");
        }
        // Only constructed elements may have an indefinite length.
        assert!(Der::ber(&[tag::OCTET_STRING, 0x80, 0, 0], 0).next().is_none());
        let nested = [[tag::SEQUENCE, 0x80].repeat(100_000), [0, 0].repeat(100_000)].concat();
        assert_eq!(Der::ber(&nested, 0).next().unwrap().whole.len(), nested.len());
    }

    #[test]
    fn the_parts_of_a_constructed_octet_string_are_joined() {
        let joined = |bytes: &[u8]| {
            let element = Der::ber(bytes, 0).next().unwrap();
            element.octets().unwrap().map(|octets| octets.to_vec())
        };
        for (bytes, expected) in [
            (&[4, 2, 1, 2][..], Some(&[1, 2][..])),
            (&[0x80, 2, 1, 2], Some(&[1, 2])),
            (&[0x24, 0x80, 4, 1, 1, 4, 1, 2, 0, 0], Some(&[1, 2])),
            (&[0x24, 6, 4, 1, 1, 4, 1, 2], Some(&[1, 2])),
            (&[0xa0, 0x80, 0x24, 0x80, 4, 1, 1, 0, 0, 0x24, 3, 4, 1, 2, 0, 0], Some(&[1, 2])),
            (&[0x24, 0], Some(&[])),
            (&[0x24, 3, 5, 1, 1], None),
            (&[0x24, 3, 4, 2, 1], None),
            (&[0x24, 1, 4], None),
        ] {
            assert_eq!(joined(bytes).as_deref(), expected, "{bytes:?}");
        }
    }
}
