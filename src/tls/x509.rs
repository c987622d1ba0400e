//! What diagnosis needs to read of a certificate: who it is for and who issued it. Verification is webpki's.

/// A cursor over DER.
struct Der<'a>(&'a [u8]);

/// One element: its tag, all its bytes, and its content.
struct Element<'a> {
    tag: u8,
    whole: &'a [u8],
    content: &'a [u8],
}

const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const INTEGER: u8 = 0x02;
const OID: u8 = 0x06;
const EXPLICIT_VERSION: u8 = 0xa0;

impl<'a> Der<'a> {
    fn next(&mut self) -> Option<Element<'a>> {
        let (&tag, rest) = self.0.split_first()?;
        let (&first, rest) = rest.split_first()?;
        let (len, content) = if first < 0x80 {
            (usize::from(first), rest)
        } else {
            let count = usize::from(first & 0x7f);
            if count == 0 || count > 4 {
                return None;
            }
            let len = rest.get(..count)?.iter().fold(0usize, |len, byte| len << 8 | usize::from(*byte));
            (len, rest.get(count..)?)
        };
        let content = content.get(..len)?;
        let header = self.0.len() - rest.len() + if first < 0x80 { 0 } else { usize::from(first & 0x7f) };
        let (whole, after) = self.0.split_at_checked(header + len)?;
        self.0 = after;
        Some(Element { tag, whole, content })
    }

    fn expect(&mut self, tag: u8) -> Option<Element<'a>> {
        self.next().filter(|element| element.tag == tag)
    }
}

/// The subject and issuer of a certificate, as text for messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Parties {
    pub(crate) subject: String,
    pub(crate) issuer: String,
    pub(crate) self_issued: bool,
}

/// `None` when it cannot be read.
pub(crate) fn parties(certificate: &[u8]) -> Option<Parties> {
    let outer = Der(certificate).expect(SEQUENCE)?;
    let mut fields = Der(Der(outer.content).expect(SEQUENCE)?.content);
    let mut serial = fields.next()?;
    if serial.tag == EXPLICIT_VERSION {
        serial = fields.next()?;
    }
    if serial.tag != INTEGER {
        return None;
    }
    fields.expect(SEQUENCE)?; // signature algorithm
    let issuer = fields.expect(SEQUENCE)?;
    fields.expect(SEQUENCE)?; // validity
    let subject = fields.expect(SEQUENCE)?;
    Some(Parties {
        subject: name(subject.content),
        issuer: name(issuer.content),
        self_issued: subject.whole == issuer.whole,
    })
}

/// The DER elements that stand one after the other in `bytes`, if it is made of whole ones.
pub(crate) fn split_sequences(bytes: &[u8]) -> Option<Vec<&[u8]>> {
    let mut der = Der(bytes);
    let mut elements = Vec::new();
    while !der.0.is_empty() {
        elements.push(der.expect(SEQUENCE)?.whole);
    }
    Some(elements)
}

/// A distinguished name as text: "CN=example.com, O=Example". Attributes without a usual abbreviation are left out.
fn name(content: &[u8]) -> String {
    let mut parts = Vec::new();
    let mut sets = Der(content);
    while let Some(set) = sets.expect(SET) {
        let mut attributes = Der(set.content);
        while let Some(attribute) = attributes.expect(SEQUENCE) {
            let mut pair = Der(attribute.content);
            let (Some(kind), Some(value)) = (pair.expect(OID), pair.next()) else { break };
            let label = match kind.content {
                [0x55, 0x04, 0x03] => "CN",
                [0x55, 0x04, 0x06] => "C",
                [0x55, 0x04, 0x07] => "L",
                [0x55, 0x04, 0x08] => "ST",
                [0x55, 0x04, 0x0a] => "O",
                [0x55, 0x04, 0x0b] => "OU",
                _ => continue,
            };
            parts.push(format!("{label}={}", String::from_utf8_lossy(value.content)));
        }
    }
    if parts.is_empty() { "(no name)".to_owned() } else { parts.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_who_a_certificate_is_of() {
        let server = parties(include_bytes!("../../tests/certs/server.der")).unwrap();
        assert_eq!(server.subject, "CN=localhost");
        assert_eq!(server.issuer, "CN=netlib test CA, O=netlib tests");
        assert!(!server.self_issued);
        // A root's name is one that webpki-roots carries as the bare content.
        let root = webpki_roots::TLS_SERVER_ROOTS.first().unwrap();
        assert!(name(&root.subject).contains('='));
    }

    #[test]
    fn broken_der_is_not_read() {
        let whole = [SEQUENCE, 0x02, 0x05, 0x00];
        assert_eq!(split_sequences(&whole).unwrap(), [&whole[..]]);
        assert_eq!(split_sequences(&[whole, whole].concat()).unwrap().len(), 2);
        for broken in [
            &[SEQUENCE][..],
            &[SEQUENCE, 0x80],
            &[SEQUENCE, 0x03, 0x00],
            &[SEQUENCE, 0x84, 0xff, 0xff, 0xff, 0xff],
            &[SEQUENCE, 0x85, 1, 1, 1, 1, 1],
            &[INTEGER, 0x01, 0x00],
        ] {
            assert_eq!(split_sequences(broken), None, "{broken:?}");
            assert_eq!(parties(broken), None);
        }
    }
}
