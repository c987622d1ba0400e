//! Classes of bytes that URL components may contain without percent-encoding.

/// A class of bytes. The numeric value of a class is its bit in the entries of [`CLASSES`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Class {
    /// The bytes that userinfo may contain.
    Userinfo = 1,
    Path = 2,
    /// The bytes that a query or fragment may contain.
    Query = 4,
    /// The bytes that normalisation does not change in a host name or IPv4 address. Upper-case letters are not in this
    /// class.
    Host = 8,
    /// The ASCII bytes that a path may contain if its scheme is not normalised. "?" and "#" end the path.
    RawPath = 16,
    /// The ASCII bytes that a query may contain if its scheme is not normalised. "#" ends the query.
    Raw = 32,
    /// The bytes of a host name before it is lower-cased: those of [`Class::Host`] and the upper-case letters.
    Name = 64,
}

/// The classes of each byte, as a bit mask.
pub(super) const CLASSES: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 128 {
        let c = byte as u8;
        let raw = match c {
            b'\r' | b'\n' | 0 | b'#' => 0,
            b'?' => Class::Raw as u8,
            _ => Class::Raw as u8 | Class::RawPath as u8,
        };
        table[byte] = raw
            | match c {
                b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b'-' | b'~' => 15 | Class::Name as u8,
                b'A'..=b'Z' => 7 | Class::Name as u8,
                b'!' | b'$' | b'&' | b'\'' | b'(' | b')' | b'*' | b'+' | b',' | b';' | b'=' | b':' => 7,
                b'@' | b'/' => Class::Path as u8 | Class::Query as u8,
                b'?' => Class::Query as u8,
                _ => 0,
            };
        byte += 1;
    }
    table
};

impl Class {
    pub(super) fn has(self, byte: u8) -> bool {
        CLASSES[usize::from(byte)] & self as u8 != 0
    }
}

pub(super) fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-' | b'~')
}
