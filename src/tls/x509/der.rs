//! A cursor over DER, which knows where it is.

/// What could not be read, and at which byte of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed {
    pub(crate) what: &'static str,
    pub(crate) at: usize,
}

/// Elements that stand one after the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Der<'a> {
    rest: &'a [u8],
    at: usize,
}

/// One element: its tag, all its bytes, its content, and where that begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Element<'a> {
    pub(crate) tag: u8,
    pub(crate) whole: &'a [u8],
    pub(crate) content: &'a [u8],
    at: usize,
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

    /// `[number]` around whole elements.
    pub(crate) const fn explicit(number: u8) -> u8 {
        0xa0 | number
    }

    /// `[number]` in place of the tag of a primitive element.
    pub(crate) const fn implicit(number: u8) -> u8 {
        0x80 | number
    }
}

impl<'a> Der<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Der<'a> {
        Der { rest: bytes, at: 0 }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub(crate) fn malformed(&self, what: &'static str) -> Malformed {
        Malformed { what, at: self.at }
    }

    /// `None` at the end, and where no whole element is. Lengths of more than four bytes, indefinite lengths and tags of
    /// more than one byte are in no certificate.
    pub(crate) fn next(&mut self) -> Option<Element<'a>> {
        let (&tag, rest) = self.rest.split_first()?;
        let (&first, rest) = rest.split_first()?;
        if tag & 0x1f == 0x1f {
            return None;
        }
        let (len, rest) = match usize::from(first) {
            len @ ..0x80 => (len, rest),
            0x80 | 0x85.. => return None,
            count => {
                let (bytes, rest) = rest.split_at_checked(count & 0x7f)?;
                (bytes.iter().fold(0usize, |len, byte| len << 8 | usize::from(*byte)), rest)
            }
        };
        let (content, after) = rest.split_at_checked(len)?;
        let header = self.rest.len() - rest.len();
        let whole = self.rest.get(..header + len)?;
        let element = Element { tag, whole, content, at: self.at + header };
        self.rest = after;
        self.at += whole.len();
        Some(element)
    }

    /// The next element if it has this tag; else nothing is taken.
    pub(crate) fn take(&mut self, tag: u8) -> Option<Element<'a>> {
        let before = *self;
        let element = self.next().filter(|element| element.tag == tag);
        if element.is_none() {
            *self = before;
        }
        element
    }

    /// As [`Der::take`] for what must be there.
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
        Der { rest: self.content, at: self.at }
    }

    pub(crate) fn malformed(&self, what: &'static str) -> Malformed {
        Malformed { what, at: self.at }
    }

    /// A BIT STRING's bytes, without the one that counts the unused bits; a cursor, for those that hold elements.
    pub(crate) fn bits(&self) -> Option<Der<'a>> {
        let (unused, bytes) = self.content.split_first()?;
        (*unused < 8).then_some(Der { rest: bytes, at: self.at + 1 })
    }

    /// An INTEGER's magnitude without leading zeros.
    pub(crate) fn magnitude(&self) -> &'a [u8] {
        let zeros = self.content.iter().take_while(|byte| **byte == 0).count();
        self.content.get(zeros..).unwrap_or_default()
    }

    /// BER's BOOLEAN: anything but 0 is true.
    pub(crate) fn is_true(&self) -> bool {
        self.content.iter().any(|byte| *byte != 0)
    }
}

/// As many certificates as the largest file that is read can hold. Two bytes are a sequence too, and eight million of them
/// would take a gigabyte where they are kept.
const MOST_SEQUENCES: usize = 1 << 16;

/// The DER elements that stand one after the other in `bytes`, if it is made of whole ones.
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
    fn whole_elements_are_split() {
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
    fn a_cursor_knows_where_it_is() {
        let bytes = [tag::SEQUENCE, 5, tag::INTEGER, 1, 7, tag::SET, 9];
        let mut inside = Der::new(&bytes).read(tag::SEQUENCE, "all").unwrap().inside();
        let seven = inside.read(tag::INTEGER, "seven").unwrap();
        assert_eq!((seven.content, seven.at), (&[7][..], 4));
        assert_eq!(inside.read(tag::SET, "nine").unwrap_err(), Malformed { what: "nine", at: 5 });
        assert_eq!(inside.end("the end"), Err(Malformed { what: "the end", at: 5 }));
    }
}
