//! Pins: SHA-256 digests of certificates or public keys. The peer's chain must contain a certificate or a key with one
//! of these digests. For verified chains, pins are compared as in RFC 7469 section 2.6; the HTTP header of RFC 7469 is
//! not supported.

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use rustls_pki_types::{CertificateDer, TrustAnchor};
use sha2::{Digest as _, Sha256};
use webpki::{Cert, VerifiedPath};

use crate::digest::{Digest, Settings};
use crate::error::{Error, Result};
use crate::memory;
use crate::status::Status;
use crate::tls::x509::{
    Certificate,
    der::tag,
    fingerprint::{KEY_PIN_PREFIX, hex_digits},
};

/// The length of a SHA-256 digest in base64, padding included.
const BASE64_LEN: usize = 44;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pin {
    digest: Digest,
    /// True for a pin in curl's syntax, which matches only keys. A pin in hex digits matches a certificate or a key
    /// with this digest; a certificate and a key cannot have the same digest, because their encodings differ.
    of_key_alone: bool,
}

impl Pin {
    /// Returns the digest of the pin's fields, from which the digest of a context is computed.
    pub(crate) fn digest(&self) -> Digest {
        Settings::new("pin").with_number("key", i32::from(self.of_key_alone)).with("digest", &self.digest).finish()
    }

    pub(crate) fn parse(text: &[u8]) -> Result<Pin> {
        let bad = |message: String| Error::new(Status::InvalidArgument, message);
        if text.contains(&b';') {
            return Err(bad("pin has a ';': add one pin at a time".to_owned()));
        }
        if let Some(encoded) = text.strip_prefix(KEY_PIN_PREFIX.as_bytes()) {
            if encoded.len() != BASE64_LEN {
                let len = encoded.len();
                return Err(bad(format!(
                    "pin must have {BASE64_LEN} characters of base64 after {KEY_PIN_PREFIX}; it has {len}"
                )));
            }
            let mut digest = [0; BASE64_LEN / 4 * 3];
            let read = BASE64.decode_slice(encoded, &mut digest);
            return match (read, digest.first_chunk()) {
                (Ok(32), Some(digest)) => Ok(Pin { digest: *digest, of_key_alone: true }),
                _ => Err(bad(format!("pin is not the base64 of a SHA-256 digest after {KEY_PIN_PREFIX}"))),
            };
        }
        let first = |is_wrong: fn(&u8) -> bool| text.iter().position(is_wrong);
        // A slash is reported first, because it shows that base64 was meant.
        if let Some(at) = first(|byte| *byte == b'/').or(first(|byte| !byte.is_ascii_hexdigit() && *byte != b':')) {
            let byte = text.get(at..=at).unwrap_or_default().escape_ascii();
            let message =
                format!("pin must be hex digits, or {KEY_PIN_PREFIX} and base64; it has a '{byte}' at byte {at}");
            return Err(bad(message).at(at));
        }
        match hex_digits(text, "pin")? {
            (digest, 64) => Ok(Pin { digest, of_key_alone: false }),
            (_, count @ (32 | 40)) => {
                Err(bad(format!("pin must have 64 hex digits; it has {count}: MD5 and SHA-1 can be forged")))
            }
            (_, count) => Err(bad(format!("pin must have 64 hex digits (SHA-256); it has {count}"))),
        }
    }
}

/// The pins of a context. A single matching pin suffices, so the other pins may be for backup keys.
#[derive(Default)]
pub(crate) struct Pins {
    pins: Vec<Pin>,
    /// The digests of the keys of trusted authorities whose certificates are pinned. webpki returns only the name and
    /// the key of the authority at the end of a path, so the authority's certificate cannot be compared with the pins.
    anchors: Vec<Digest>,
}

impl Pins {
    /// Creates the set of pins. `trusted` holds the certificates of the authorities that the application added.
    pub(crate) fn new(pins: &[Pin], trusted: &[CertificateDer<'_>]) -> Result<Pins> {
        let mut set = Pins::default();
        memory::grow(&mut set.pins, pins.len(), "pins")?;
        set.pins.extend_from_slice(pins);
        if set.is_empty() {
            return Ok(set);
        }
        for der in trusted {
            match Certificate::parse(der) {
                Ok(certificate) if set.contains(&digest(der), false) => {
                    memory::push(&mut set.anchors, digest(certificate.public_key_info), "pins")?;
                }
                _ => {}
            }
        }
        Ok(set)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.pins.is_empty()
    }

    /// Returns the digests of the keys of trusted authorities whose certificates are pinned.
    pub(crate) fn anchors(&self) -> impl Iterator<Item = Digest> {
        self.anchors.iter().copied()
    }

    fn contains(&self, digest: &Digest, is_key: bool) -> bool {
        self.pins.iter().any(|pin| pin.digest == *digest && (is_key || !pin.of_key_alone))
    }

    /// Returns true if the certificate or its key is pinned, or if there are no pins.
    pub(crate) fn allow(&self, certificate: &Cert<'_>) -> bool {
        self.is_empty()
            || self.contains(&digest(&certificate.der()), false)
            || self.contains(&digest(&certificate.subject_public_key_info()), true)
    }

    /// Returns true if a certificate of the verified path is pinned, or if there are no pins. Other certificates that
    /// the peer sent do not count, because anyone can send a copy of a pinned certificate.
    pub(crate) fn allow_path(&self, path: &VerifiedPath<'_>) -> bool {
        self.allow(path.end_entity())
            || path.intermediate_certificates().any(|certificate| self.allow(certificate))
            || self.allow_anchor(path.anchor())
    }

    fn allow_anchor(&self, anchor: &TrustAnchor<'_>) -> bool {
        let key = digest(&sequence(&anchor.subject_public_key_info));
        self.contains(&key, true) || self.anchors.contains(&key)
    }
}

fn digest(bytes: &[u8]) -> Digest {
    Sha256::digest(bytes).into()
}

/// Encodes a DER SEQUENCE. webpki keeps only the content of an authority's SubjectPublicKeyInfo, but pins are digests
/// of the whole element.
fn sequence(content: &[u8]) -> Vec<u8> {
    let len = content.len().to_be_bytes();
    let len = len.iter().position(|byte| *byte != 0).and_then(|first| len.get(first..)).unwrap_or(&[0]);
    let mut der = vec![tag::SEQUENCE];
    match len {
        [short @ 0..0x80] => der.push(*short),
        len => {
            der.push(0x80 | len.len() as u8);
            der.extend_from_slice(len);
        }
    }
    der.extend_from_slice(content);
    der
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tls::credentials::pem;
    use crate::tls::x509::fingerprint::key_pin;

    const HEX: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    fn parsed(text: &str) -> std::result::Result<Pin, String> {
        Pin::parse(text.as_bytes()).map_err(|error| {
            assert_eq!(error.status(), Status::InvalidArgument);
            error.message().to_owned()
        })
    }

    #[test]
    fn pins_in_hex_and_base64_are_accepted() {
        let digest: Digest = Sha256::digest(b"abc").into();
        let upper = HEX.to_uppercase();
        let colons: Vec<_> = upper.as_bytes().chunks(2).map(|two| str::from_utf8(two).unwrap()).collect();
        let colons = colons.join(":");
        assert_eq!(parsed(HEX), Ok(Pin { digest, of_key_alone: false }));
        assert_eq!(parsed(&colons), Ok(Pin { digest, of_key_alone: false }));
        assert_eq!(parsed(&key_pin(b"abc")), Ok(Pin { digest, of_key_alone: true }));
        assert_eq!(key_pin(b"abc"), "sha256//ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
    }

    #[test]
    fn errors_for_malformed_pins_state_the_reason() {
        let base64 = "pin must have 44 characters of base64 after sha256//; it has";
        let neither = "pin must be hex digits, or sha256// and base64; it has a";
        let not_base64 = "pin is not the base64 of a SHA-256 digest after sha256//";
        for (text, message) in [
            ("".to_owned(), "pin must have 64 hex digits (SHA-256); it has 0".to_owned()),
            (HEX[1..].to_owned(), "pin must have 64 hex digits (SHA-256); it has 63".to_owned()),
            (format!("{HEX}00"), "pin must have 64 hex digits (SHA-256); it has 66".to_owned()),
            (HEX[..32].to_owned(), "pin must have 64 hex digits; it has 32: MD5 and SHA-1 can be forged".to_owned()),
            (HEX[..40].to_owned(), "pin must have 64 hex digits; it has 40: MD5 and SHA-1 can be forged".to_owned()),
            (HEX.replace('7', "g"), format!("{neither} 'g' at byte 2")),
            (format!(" {HEX}"), format!("{neither} ' ' at byte 0")),
            (format!("{HEX}\n"), format!("{neither} '\\n' at byte 64")),
            // A curl pin without the prefix "sha256//", and the complete output line of `openssl x509 -fingerprint`.
            ("6mJaW+OfX9G8wIPVuiGL2PIK9SuLBzzuwEGC1uYNUEk=".to_owned(), format!("{neither} 'm' at byte 1")),
            (format!("sha256 Fingerprint={HEX}"), format!("{neither} 's' at byte 0")),
            ("sha256//".to_owned(), format!("{base64} 0")),
            ("sha256//ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0".to_owned(), format!("{base64} 43")),
            (format!("sha256//{HEX}"), format!("{base64} 64")),
            ("sha256//ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0=".to_owned(), not_base64.to_owned()),
            // Base64 with non-zero trailing bits, a digest that is one byte too long, and a digest that is one byte too
            // short.
            ("sha256//ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa1=".to_owned(), not_base64.to_owned()),
            ("sha256//ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0A".to_owned(), not_base64.to_owned()),
            ("sha256//ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFQ==".to_owned(), not_base64.to_owned()),
            ("sha256/ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=".to_owned(), format!("{neither} '/' at byte 6")),
            ("SHA256//ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=".to_owned(), format!("{neither} '/' at byte 6")),
            (format!("{HEX};{HEX}"), "pin has a ';': add one pin at a time".to_owned()),
        ] {
            assert_eq!(parsed(&text), Err(message), "{text}");
        }
    }

    /// webpki keeps an authority's key without the outer tag and length; the key still matches a pin of the whole
    /// SubjectPublicKeyInfo.
    #[test]
    fn an_authority_matches_pins_of_its_key_and_of_its_certificate() {
        for (pem, len) in [
            (&include_bytes!("../../../tests/certs/ca.pem")[..], 91),
            (include_bytes!("../../../tests/certs/rsa.pem"), 294),
            (include_bytes!("../../../tests/certs/shapes/ed25519.pem"), 44),
        ] {
            let der = pem::certificates(pem, "").unwrap().remove(0);
            let certificate = Certificate::parse(&der).unwrap();
            let anchor = webpki::anchor_from_trusted_cert(&der).unwrap();
            assert_eq!(certificate.public_key_info.len(), len);
            assert_eq!(sequence(&anchor.subject_public_key_info), certificate.public_key_info);
            let pin = |text: &str| Pin::parse(text.as_bytes()).unwrap();
            let of = |text: &str, trusted: &[CertificateDer<'_>]| Pins::new(&[pin(HEX), pin(text)], trusted).unwrap();
            let fingerprint = crate::tls::x509::fingerprint::sha256(&der);
            assert!(of(&key_pin(certificate.public_key_info), &[]).allow_anchor(&anchor));
            assert!(
                of(&crate::tls::x509::fingerprint::sha256(certificate.public_key_info), &[]).allow_anchor(&anchor)
            );
            assert!(of(&fingerprint, std::slice::from_ref(&der)).allow_anchor(&anchor));
            assert!(!of(&fingerprint, &[]).allow_anchor(&anchor));
            // A certificate's digest in the syntax of a key pin does not match the certificate.
            assert!(!of(&key_pin(&der), std::slice::from_ref(&der)).allow_anchor(&anchor));
        }
    }

    #[test]
    fn sequences_are_encoded_with_der_lengths() {
        for (len, head) in [
            (0, &[0x30, 0][..]),
            (127, &[0x30, 127]),
            (128, &[0x30, 0x81, 128]),
            (255, &[0x30, 0x81, 255]),
            (256, &[0x30, 0x82, 1, 0]),
            (65536, &[0x30, 0x83, 1, 0, 0]),
        ] {
            let der = sequence(&vec![0; len]);
            assert_eq!((&der[..head.len()], der.len()), (head, head.len() + len));
        }
    }
}
