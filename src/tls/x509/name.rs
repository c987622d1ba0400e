//! Formats distinguished names as text, with escapes, so that a name can neither break a line nor look like another
//! name.

use std::borrow::Cow;
use std::ffi::CStr;
use std::fmt::Write as _;

use pkcs5::der::asn1::ObjectIdentifier;

use super::der::{Der, Element, Malformed, tag};
use super::oid::Oid;

/// The largest number of characters of a name in an error message.
const MAX_SHOWN: usize = 240;

/// An attribute of a name.
pub(super) struct Attribute<'a> {
    pub(super) kind: Oid<'a>,
    value: Element<'a>,
    /// The index of the relative distinguished name that contains the attribute.
    pub(super) rdn: usize,
}

impl Attribute<'_> {
    /// Returns OpenSSL's short name of the attribute's type, if there is one.
    pub(super) fn short_name(&self) -> Option<&'static CStr> {
        label(self.kind.0)
    }

    /// Returns the value with escapes as in [`super::general_name::GeneralName::text`]. A value that is not a string is
    /// written as "#" and its DER in hex digits; a "#" at the start of a string is escaped.
    pub(super) fn value_text(&self) -> String {
        let mut out = String::new();
        match text_of(&self.value) {
            Some(text) if text.starts_with(b"#") => {
                push_bytes(&mut out, b"#");
                push_escaped(&mut out, text.get(1..).unwrap_or_default(), "\\");
            }
            Some(text) => push_escaped(&mut out, &text, "\\"),
            None => push_hex(&mut out, self.value.whole),
        }
        out
    }
}

/// The subject or issuer of a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Name<'a> {
    /// The DER of the name, with tag and length.
    pub(crate) der: &'a [u8],
    /// The DER of the name without tag and length: its relative distinguished names.
    pub(crate) content: &'a [u8],
}

impl<'a> Name<'a> {
    pub(super) fn read(fields: &mut Der<'a>, what: &'static str) -> Result<Name<'a>, Malformed> {
        let name = fields.read(tag::SEQUENCE, what)?;
        let mut steps = name.inside();
        while !steps.is_empty() {
            let step = steps.read(tag::SET, what)?;
            let mut attributes = step.inside();
            while !attributes.is_empty() {
                let attribute = attributes.read(tag::SEQUENCE, what)?;
                let mut pair = attribute.inside();
                pair.read(tag::OID, what)?;
                pair.next().ok_or_else(|| pair.malformed(what))?;
                pair.end(what)?;
            }
        }
        Ok(Name { der: name.whole, content: name.content })
    }

    /// Returns the attributes in the order of the DER.
    pub(super) fn attributes(&self) -> impl Iterator<Item = Attribute<'a>> + use<'a> {
        let mut steps = Der::new(self.content);
        std::iter::from_fn(move || steps.take(tag::SET)).enumerate().flat_map(|(rdn, step)| {
            let mut inside = step.inside();
            std::iter::from_fn(move || inside.take(tag::SEQUENCE)).filter_map(move |attribute| {
                let mut pair = attribute.inside();
                let (kind, value) = (Oid(pair.take(tag::OID)?.content), pair.next()?);
                Some(Attribute { kind, value, rdn })
            })
        })
    }

    /// Returns RFC 4514 text such as "CN=example.com,O=Example\, Inc.,C=DE". The last component in the DER is written
    /// first. OpenSSL prints the same text with `-nameopt RFC2253,-esc_msb,utf8`; an attribute of an unknown type looks
    /// like "1.2.3=#0C0161". The text of an empty name is empty.
    pub(crate) fn text(&self) -> String {
        let mut attributes = Vec::new();
        let mut steps = Der::new(self.content);
        while let Some(step) = steps.take(tag::SET) {
            let mut separator = if attributes.is_empty() { "" } else { "," };
            let mut inside = step.inside();
            while let Some(attribute) = inside.take(tag::SEQUENCE) {
                attributes.push((attribute, separator));
                separator = "+";
            }
        }
        let mut out = String::new();
        // The loop writes the attributes in reverse order, so the separator that precedes an attribute in the DER is
        // written after that attribute.
        for (attribute, separator) in attributes.iter().rev() {
            push_attribute(&mut out, attribute);
            out.push_str(separator);
        }
        out
    }

    /// Returns the text of [`Name::for_message`] for a name whose DER is given without tag and length.
    pub(crate) fn for_message_of(content: &[u8]) -> String {
        Name { der: &[], content }.for_message()
    }

    /// Returns the text of [`Name::text`], truncated for an error message, or "(no name)" for an empty name.
    pub(crate) fn for_message(&self) -> String {
        let mut text = self.text();
        if text.is_empty() {
            return "(no name)".to_owned();
        }
        if let Some((end, _)) = text.char_indices().nth(MAX_SHOWN) {
            text.truncate(end);
            text.push('…');
        }
        text
    }
}

fn push_attribute(out: &mut String, attribute: &Element<'_>) {
    let mut pair = attribute.inside();
    let (Some(kind), Some(value)) = (pair.take(tag::OID), pair.next()) else { return };
    match label(kind.content) {
        Some(label) => {
            let _ = write!(out, "{}=", label.to_string_lossy());
            match text_of(&value) {
                Some(text) => push_escaped(out, &text, SPECIAL),
                None => push_hex(out, value.whole),
            }
        }
        // A value of an unknown type may have any syntax, so its DER is written.
        None => {
            let _ = write!(out, "{}=", Oid(kind.content));
            push_hex(out, value.whole);
        }
    }
}

/// OpenSSL's short names of attribute types. RFC 4514 defines only some of these names, for example CN and O.
const LABELS: [(ObjectIdentifier, &CStr); 26] = [
    (ObjectIdentifier::new_unwrap("2.5.4.3"), c"CN"),
    (ObjectIdentifier::new_unwrap("2.5.4.4"), c"SN"),
    (ObjectIdentifier::new_unwrap("2.5.4.5"), c"serialNumber"),
    (ObjectIdentifier::new_unwrap("2.5.4.6"), c"C"),
    (ObjectIdentifier::new_unwrap("2.5.4.7"), c"L"),
    (ObjectIdentifier::new_unwrap("2.5.4.8"), c"ST"),
    (ObjectIdentifier::new_unwrap("2.5.4.9"), c"street"),
    (ObjectIdentifier::new_unwrap("2.5.4.10"), c"O"),
    (ObjectIdentifier::new_unwrap("2.5.4.11"), c"OU"),
    (ObjectIdentifier::new_unwrap("2.5.4.12"), c"title"),
    (ObjectIdentifier::new_unwrap("2.5.4.13"), c"description"),
    (ObjectIdentifier::new_unwrap("2.5.4.15"), c"businessCategory"),
    (ObjectIdentifier::new_unwrap("2.5.4.17"), c"postalCode"),
    (ObjectIdentifier::new_unwrap("2.5.4.41"), c"name"),
    (ObjectIdentifier::new_unwrap("2.5.4.42"), c"GN"),
    (ObjectIdentifier::new_unwrap("2.5.4.43"), c"initials"),
    (ObjectIdentifier::new_unwrap("2.5.4.44"), c"generationQualifier"),
    (ObjectIdentifier::new_unwrap("2.5.4.46"), c"dnQualifier"),
    (ObjectIdentifier::new_unwrap("2.5.4.65"), c"pseudonym"),
    (ObjectIdentifier::new_unwrap("2.5.4.97"), c"organizationIdentifier"),
    (ObjectIdentifier::new_unwrap("1.2.840.113549.1.9.1"), c"emailAddress"),
    (ObjectIdentifier::new_unwrap("0.9.2342.19200300.100.1.1"), c"UID"),
    (ObjectIdentifier::new_unwrap("0.9.2342.19200300.100.1.25"), c"DC"),
    (ObjectIdentifier::new_unwrap("1.3.6.1.4.1.311.60.2.1.1"), c"jurisdictionL"),
    (ObjectIdentifier::new_unwrap("1.3.6.1.4.1.311.60.2.1.2"), c"jurisdictionST"),
    (ObjectIdentifier::new_unwrap("1.3.6.1.4.1.311.60.2.1.3"), c"jurisdictionC"),
];

fn label(kind: &[u8]) -> Option<&'static CStr> {
    LABELS.iter().find(|(known, _)| known.as_bytes() == kind).map(|(_, label)| *label)
}

/// Returns the characters of a string value in UTF-8, which may be invalid; `None` if the value is not a string.
fn text_of<'a>(value: &Element<'a>) -> Option<Cow<'a, [u8]>> {
    let wide = match value.tag {
        tag::UTF8_STRING | tag::NUMERIC_STRING | tag::PRINTABLE_STRING | tag::IA5_STRING | tag::VISIBLE_STRING => {
            return Some(Cow::Borrowed(value.content));
        }
        // A TeletexString contains T.61 by definition, but Latin-1 in real certificates.
        tag::TELETEX_STRING => Some(value.content.iter().map(|byte| char::from(*byte)).collect::<String>()),
        tag::BMP_STRING => from_units::<2>(value.content),
        tag::UNIVERSAL_STRING => from_units::<4>(value.content),
        _ => None,
    };
    wide.map(|text| Cow::Owned(text.into_bytes()))
}

/// Decodes characters that have `N` bytes each, most significant byte first.
fn from_units<const N: usize>(bytes: &[u8]) -> Option<String> {
    let (units, rest) = bytes.as_chunks::<N>();
    let scalar = |unit: &[u8; N]| char::from_u32(unit.iter().fold(0, |scalar, byte| scalar << 8 | u32::from(*byte)));
    rest.is_empty().then(|| units.iter().map(scalar).collect())?
}

fn push_hex(out: &mut String, bytes: &[u8]) {
    out.push('#');
    for byte in bytes {
        let _ = write!(out, "{byte:02X}");
    }
}

/// The characters that RFC 4514 requires to be escaped everywhere in a value.
const SPECIAL: &str = ",+\"\\<>;";

/// Appends UTF-8 text with a backslash before each character of `special`. If `special` has more than one character, a
/// leading or trailing space and a leading # are escaped too. Control characters, invisible characters, characters that
/// change the direction of text, and invalid UTF-8 become hex digits, for example "\0A".
pub(super) fn push_escaped(out: &mut String, bytes: &[u8], special: &str) {
    let start = out.len();
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            if is_hidden(c) {
                push_bytes(out, c.encode_utf8(&mut [0; 4]).as_bytes());
                continue;
            }
            if special.contains(c) || (out.len() == start && matches!(c, ' ' | '#') && special.len() > 1) {
                out.push('\\');
            }
            out.push(c);
        }
        push_bytes(out, chunk.invalid());
    }
    // A single space has already been escaped as a leading space.
    if special.len() > 1 && out.ends_with(' ') && out.len() > start + "\\ ".len() {
        out.truncate(out.len() - 1);
        out.push_str("\\ ");
    }
}

/// Returns the text with control characters, invisible characters, characters that change the direction of text, and
/// invalid UTF-8 as hex digits.
pub(crate) fn escaped(bytes: &[u8]) -> String {
    let mut out = String::new();
    push_escaped(&mut out, bytes, "");
    out
}

fn push_bytes(out: &mut String, bytes: &[u8]) {
    for byte in bytes {
        let _ = write!(out, "\\{byte:02X}");
    }
}

/// Returns true for control characters, invisible characters, and characters that change the direction of text.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrap(tag: u8, content: &[u8]) -> Vec<u8> {
        [&[tag, content.len() as u8], content].concat()
    }

    /// Returns the DER of a name with one CN attribute for each pair of a tag and a value.
    fn content_of(values: &[(u8, &[u8])]) -> Vec<u8> {
        let rdn = |(kind, value): &(u8, &[u8])| {
            let pair = [wrap(tag::OID, &[0x55, 4, 3]), wrap(*kind, value)].concat();
            wrap(tag::SET, &wrap(tag::SEQUENCE, &pair))
        };
        values.iter().flat_map(rdn).collect()
    }

    /// Returns the text of a name with one CN attribute for each pair of a tag and a value.
    fn named(values: &[(u8, &[u8])]) -> String {
        Name { der: &[], content: &content_of(values) }.text()
    }

    #[test]
    fn special_characters_in_distinguished_name_values_are_escaped() {
        for (value, expected) in [
            (&b"a.example"[..], "a.example"),
            (b"", ""),
            (b"a,b", "a\\,b"),
            (b"a=b", "a=b"),
            (br#"+"\<>;"#, r#"\+\"\\\<\>\;"#),
            (b" ", "\\ "),
            (b"  ", "\\ \\ "),
            (b" a ", "\\ a\\ "),
            (b"a b", "a b"),
            (b"#a#", "\\#a#"),
            (b"good.example\0.evil.example", "good.example\\00.evil.example"),
            (b"a\r\nSet-Cookie: x", "a\\0D\\0ASet-Cookie: x"),
            (b"\x1b[2J\x7f", "\\1B[2J\\7F"),
            ("bücher".as_bytes(), "bücher"),
            ("\u{85}\u{202e}x\u{2066}".as_bytes(), "\\C2\\85\\E2\\80\\AEx\\E2\\81\\A6"),
            (b"\xffa\xc3", "\\FFa\\C3"),
        ] {
            assert_eq!(named(&[(tag::UTF8_STRING, value)]), format!("CN={expected}"), "{value:?}");
            assert_eq!(named(&[(tag::PRINTABLE_STRING, value)]), format!("CN={expected}"), "{value:?}");
        }
    }

    #[test]
    fn distinguished_name_values_of_all_string_types_are_decoded() {
        for (kind, value, expected) in [
            (tag::TELETEX_STRING, &b"b\xfccher"[..], "bücher"),
            (tag::BMP_STRING, b"\0a\x20\xac", "a€"),
            (tag::BMP_STRING, b"\0a\x20", "#1E03006120"),
            (tag::BMP_STRING, b"\xd8\0", "#1E02D800"),
            (tag::BMP_STRING, b"\0,", "\\,"),
            (tag::UNIVERSAL_STRING, b"\0\x01\xf6\0", "😀"),
            (tag::UNIVERSAL_STRING, b"\0\x11\0\0", "#1C0400110000"),
            (tag::IA5_STRING, b"a@b", "a@b"),
            (tag::INTEGER, b"\x07", "#020107"),
        ] {
            assert_eq!(named(&[(kind, value)]), format!("CN={expected}"));
        }
    }

    #[test]
    fn the_last_component_of_a_distinguished_name_is_written_first() {
        assert_eq!(named(&[(tag::UTF8_STRING, b"a"), (tag::UTF8_STRING, b"b")]), "CN=b,CN=a");
        assert_eq!(named(&[]), "");
    }

    #[test]
    fn a_leading_hash_in_an_attribute_value_is_escaped_and_a_comma_is_not() {
        for (kind, value, expected) in [
            (tag::UTF8_STRING, &b"Example, Inc."[..], "Example, Inc."),
            (tag::UTF8_STRING, b"", ""),
            (tag::UTF8_STRING, b" a ", " a "),
            (tag::UTF8_STRING, b"#0C0161", "\\230C0161"),
            (tag::UTF8_STRING, b"a#", "a#"),
            (tag::UTF8_STRING, b"a\\b", "a\\\\b"),
            (tag::PRINTABLE_STRING, b"good.example\0.evil", "good.example\\00.evil"),
            (tag::IA5_STRING, b"\xff", "\\FF"),
            (tag::TELETEX_STRING, b"b\xfccher", "b\u{fc}cher"),
            (tag::BMP_STRING, b"\0#\x20\xac", "\\23\u{20ac}"),
            (tag::BMP_STRING, b"\0a\x20", "#1E03006120"),
            (tag::INTEGER, b"\x07", "#020107"),
        ] {
            let content = content_of(&[(kind, value)]);
            let attribute = Name { der: &[], content: &content }.attributes().next().unwrap();
            assert_eq!(attribute.value_text(), expected, "{kind} {value:?}");
            assert_eq!(
                (attribute.short_name(), attribute.kind.to_string(), attribute.rdn),
                (Some(c"CN"), "2.5.4.3".to_owned(), 0)
            );
        }
    }

    #[test]
    fn attributes_have_the_index_of_their_relative_distinguished_name() {
        let attribute = |kind: &[u8], value: &[u8]| {
            wrap(tag::SEQUENCE, &[wrap(tag::OID, kind), wrap(tag::UTF8_STRING, value)].concat())
        };
        let first = [attribute(&[0x55, 4, 6], b"DE"), attribute(&[0x2a, 3], b"x")].concat();
        let content = [wrap(tag::SET, &first), wrap(tag::SET, &attribute(&[0x55, 4, 10], b"O"))].concat();
        let attributes: Vec<_> = Name { der: &[], content: &content }
            .attributes()
            .map(|attribute| {
                (attribute.rdn, attribute.kind.to_string(), attribute.short_name(), attribute.value_text())
            })
            .collect();
        let expected = [(0, "2.5.4.6", Some(c"C"), "DE"), (0, "1.2.3", None, "x"), (1, "2.5.4.10", Some(c"O"), "O")];
        assert_eq!(attributes, expected.map(|(rdn, oid, name, value)| (rdn, oid.to_owned(), name, value.to_owned())));
        assert_eq!(Name { der: &[], content: &[] }.attributes().count(), 0);
    }

    #[test]
    fn distinguished_names_over_240_characters_are_truncated_in_messages() {
        let long = [b'x'; 100];
        let content: Vec<u8> = std::iter::repeat_n(
            [&[tag::SET, 109, tag::SEQUENCE, 107, tag::OID, 3, 0x55, 4, 3, tag::UTF8_STRING, 100][..], &long]
                .concat(),
            100,
        )
        .flatten()
        .collect();
        let name = Name { der: &[], content: &content };
        assert_eq!(name.text().len(), 104 * 100 - 1);
        assert_eq!(name.for_message().chars().count(), MAX_SHOWN + 1);
        assert_eq!(Name { der: &[], content: &[] }.for_message(), "(no name)");
    }

    #[test]
    fn names_of_all_embedded_roots_have_known_attributes() {
        for root in webpki_roots::TLS_SERVER_ROOTS {
            let name = Name { der: &[], content: &root.subject };
            let text = name.text();
            assert!(text.contains("=") && !text.contains("=#"), "{text}");
        }
    }
}
