//! Percent-encodes data for a component of a URL, and decodes it (RFC 3986 section 2).

use super::class::{Class, is_unreserved};
use super::measure::percent_decoded;
use super::normalise::percent_encoded;
use super::text::{MAX_LENGTH, invalid, reserve};
use crate::error::{Error, Result};
use crate::parse_cost::examined;
use crate::status::Status;

/// The place in a URL for which data is encoded. The place determines which bytes need no encoding.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A user name or a password.
    UserinfoPart = 0,
    PathSegment = 1,
    Path = 2,
    /// A name or value in a query that follows RFC 3986: a space becomes "%20".
    QueryPart = 3,
    /// A name or value in a query that follows application/x-www-form-urlencoded: a space becomes "+".
    FormPart = 4,
    Query = 5,
    Fragment = 6,
}

impl Place {
    pub const ALL: [Place; 7] = [
        Place::UserinfoPart,
        Place::PathSegment,
        Place::Path,
        Place::QueryPart,
        Place::FormPart,
        Place::Query,
        Place::Fragment,
    ];

    pub fn from_code(code: i32) -> Option<Place> {
        Place::ALL.into_iter().find(|&place| place as i32 == code)
    }

    /// Returns whether the byte stands for itself. In a part of a component, every reserved character except the "*" of
    /// form data is encoded, because the scheme or the server may treat the character as a delimiter inside the
    /// component (RFC 3986 section 2.2).
    fn keeps(self, byte: u8) -> bool {
        match self {
            Place::UserinfoPart | Place::PathSegment | Place::QueryPart => is_unreserved(byte),
            Place::FormPart => byte.is_ascii_alphanumeric() || matches!(byte, b'*' | b'-' | b'.' | b'_'),
            Place::Path => Class::Path.has(byte),
            Place::Query | Place::Fragment => Class::Query.has(byte),
        }
    }

    fn has_plus_for_space(self) -> bool {
        self == Place::FormPart
    }
}

/// Encodes data. The result has one free byte of capacity, for a NUL.
pub fn encode(place: Place, data: &[u8]) -> Result<Vec<u8>> {
    check_length(data)?;
    if place == Place::PathSegment && matches!(data, b"." | b"..") {
        // Parsers that follow the WHATWG URL Standard also remove the segments "%2E" and "%2E%2E".
        let message = "the data \".\" or \"..\" cannot be a path segment: parsers would remove the segment";
        return Err(Error::new(Status::InvalidUrl, message));
    }
    let mut encoded = Vec::new();
    reserve(&mut encoded, encoded_length(place, data) + 1)?;
    append_encoded(&mut encoded, place, data);
    Ok(encoded)
}

pub(super) fn encoded_length(place: Place, data: &[u8]) -> usize {
    examined(data.len());
    let stays_one_byte = |byte: u8| place.keeps(byte) || byte == b' ' && place.has_plus_for_space();
    data.len() + 2 * data.iter().filter(|&&byte| !stays_one_byte(byte)).count()
}

/// Appends the encoded form of `data` to `text`, which must have room for the encoded form.
pub(super) fn append_encoded(text: &mut Vec<u8>, place: Place, data: &[u8]) {
    examined(data.len());
    for &byte in data {
        match byte {
            _ if place.keeps(byte) => text.push(byte),
            b' ' if place.has_plus_for_space() => text.push(b'+'),
            _ => text.extend_from_slice(&percent_encoded(byte)),
        }
    }
}

/// Decodes text. Fails if a "%" does not begin a percent-encoding. The result has one free byte of capacity, for a NUL.
pub fn decode(place: Place, text: &[u8]) -> Result<Vec<u8>> {
    check_length(text)?;
    let mut decoded = Vec::new();
    reserve(&mut decoded, text.len() + 1)?;
    append_decoded(&mut decoded, place, text).map_err(|at| stray_percent("text", at))?;
    Ok(decoded)
}

/// Appends the decoded form of `text` to `data`, which must have room for `text.len()` bytes. Fails with the offset of
/// a "%" that does not begin a percent-encoding.
pub(super) fn append_decoded(data: &mut Vec<u8>, place: Place, text: &[u8]) -> std::result::Result<(), usize> {
    examined(text.len());
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        let (decoded, length) = match byte {
            b'%' => (percent_decoded(text, at).ok_or(at)?, 3),
            b'+' if place.has_plus_for_space() => (b' ', 1),
            _ => (byte, 1),
        };
        data.push(decoded);
        at += length;
    }
    Ok(())
}

#[cold]
pub(super) fn stray_percent(what: &str, at: usize) -> Error {
    invalid(&format!("the {what} has a \"%\" that is not followed by two hexadecimal digits,"), at)
}

fn check_length(bytes: &[u8]) -> Result<()> {
    match bytes.len() > MAX_LENGTH {
        true => Err(Error::new(Status::InvalidUrl, "the text is longer than 16 MiB")),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse_cost::tests::measure;
    use crate::tests::random::Random;

    /// Each row has a place, and the printable ASCII characters, other than letters and digits, that are not encoded
    /// there.
    #[test]
    fn percent_encoding_keeps_only_characters_that_the_url_part_allows() {
        for (place, kept) in [
            (Place::UserinfoPart, "-._~"),
            (Place::PathSegment, "-._~"),
            (Place::QueryPart, "-._~"),
            (Place::FormPart, "*-._"),
            (Place::Path, "!$&'()*+,-./:;=@_~"),
            (Place::Query, "!$&'()*+,-./:;=?@_~"),
            (Place::Fragment, "!$&'()*+,-./:;=?@_~"),
        ] {
            let all: Vec<u8> = (0..=255).filter(|&byte| place.keeps(byte)).collect();
            let expected = format!("{kept}{}", "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");
            let mut expected = expected.into_bytes();
            expected.sort_unstable();
            assert_eq!(String::from_utf8(all).unwrap(), String::from_utf8(expected).unwrap(), "{place:?}");
        }
    }

    #[test]
    fn data_is_percent_encoded_by_the_rules_of_its_url_part() {
        for (place, data, expected) in [
            (Place::UserinfoPart, &b"user:p@ss/w%rd"[..], "user%3Ap%40ss%2Fw%25rd"),
            (Place::PathSegment, b"a/b c", "a%2Fb%20c"),
            (Place::PathSegment, b"...", "..."),
            (Place::PathSegment, b"", ""),
            (Place::Path, b"/a b/../\xc3\xa9?#", "/a%20b/../%C3%A9%3F%23"),
            (Place::QueryPart, b"a+b c&d=~*", "a%2Bb%20c%26d%3D~%2A"),
            (Place::FormPart, b"a+b c&d=~*", "a%2Bb+c%26d%3D%7E*"),
            (Place::Query, b"a=b c&d=1+2#", "a=b%20c&d=1+2%23"),
            (Place::Fragment, b"a#b\0\xff", "a%23b%00%FF"),
        ] {
            let encoded = encode(place, data).unwrap();
            assert_eq!(String::from_utf8(encoded.clone()).unwrap(), expected, "{place:?}");
            assert!(encoded.capacity() > encoded.len());
        }
        for data in [&b"."[..], b".."] {
            let error = encode(Place::PathSegment, data).unwrap_err();
            assert_eq!((error.status(), error.offset()), (Status::InvalidUrl, None));
        }
    }

    #[test]
    fn percent_decoding_refuses_a_stray_percent_sign_and_states_its_offset() {
        for (place, text, expected) in [
            (Place::QueryPart, &b"a+b%20c%2b"[..], Ok(&b"a+b c+"[..])),
            (Place::FormPart, b"a+b%20c%2B", Ok(b"a b c+")),
            (Place::PathSegment, b"%00%ff\xfe /", Ok(b"\0\xff\xfe /")),
            (Place::PathSegment, b"%2541", Ok(b"%41")),
            (Place::Path, b"", Ok(b"")),
            (Place::Path, b"%", Err(0)),
            (Place::Path, b"ab%4", Err(2)),
            (Place::Path, b"%41%g1", Err(3)),
            (Place::Path, b"%%41", Err(0)),
            (Place::Path, b"%+1", Err(0)),
        ] {
            let decoded = decode(place, text);
            match expected {
                Ok(bytes) => assert_eq!(decoded.unwrap(), bytes, "{text:?}"),
                Err(at) => {
                    let error = decoded.unwrap_err();
                    assert_eq!((error.status(), error.offset()), (Status::InvalidUrl, Some(at)), "{text:?}");
                    let rest = format!("that is not followed by two hexadecimal digits, at byte {at}");
                    assert_eq!(error.message(), format!("the text has a \"%\" {rest}"));
                }
            }
        }
    }

    #[test]
    fn percent_decoding_reverses_percent_encoding_in_linear_time() {
        let mut random = Random(0x70_6374);
        for _ in 0..20_000 {
            let data: Vec<u8> = (0..random.below(12)).map(|_| random.below(256) as u8).collect();
            for place in Place::ALL {
                let Ok(encoded) = encode(place, &data) else {
                    assert!(place == Place::PathSegment && matches!(&data[..], b"." | b".."));
                    continue;
                };
                assert!(encoded.iter().all(|&byte| place.keeps(byte) || b"%+".contains(&byte)), "{data:?}");
                assert_eq!(decode(place, &encoded).unwrap(), data, "{place:?}");
                assert_eq!(encoded.len(), encoded_length(place, &data));
            }
        }
        for part in ["%", "%41", "a", " ", "\u{e9}"] {
            let text = part.repeat((1 << 16) / part.len());
            let cost =
                measure(|| drop((encode(Place::FormPart, text.as_bytes()), decode(Place::Path, text.as_bytes()))));
            assert!(cost <= 3 * text.len(), "{part:?}: {cost}");
        }
    }

    #[test]
    fn data_longer_than_16_mib_is_refused() {
        let long = vec![b'a'; MAX_LENGTH + 1];
        for result in [encode(Place::Path, &long), decode(Place::Path, &long)] {
            let error = result.unwrap_err();
            assert_eq!((error.status(), error.message()), (Status::InvalidUrl, "the text is longer than 16 MiB"));
        }
        assert_eq!(encode(Place::Path, &long[1..]).unwrap().len(), MAX_LENGTH);
    }
}
