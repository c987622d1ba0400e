//! Computes fingerprints of certificates and pins of public keys, and compares a certificate with a fingerprint.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::der;
use crate::error::{Advice, ApiName, CertificateProblem, Error, Result};
use crate::status::Status;
use crate::tls::credentials::pem;

/// The number of hex digits of the longest digest, SHA-256.
const MAX_DIGITS: usize = 64;

/// Fails if the digest of the certificate is not the fingerprint. The number of hex digits selects the digest, and
/// colons are ignored, as in urllib3. An empty certificate fails with `FingerprintMismatch`, not with
/// `InvalidArgument`.
pub fn assert(certificate: &[u8], fingerprint: &[u8]) -> Result<()> {
    let mismatch = |message: String| Err(Error::new(Status::FingerprintMismatch, message));
    if certificate.is_empty() {
        return mismatch("there is no certificate to compare the fingerprint with: the peer sent none".to_owned())
            .map_err(|error| error.with_certificate_problem(CertificateProblem::Missing));
    }
    // Data that begins like DER is not searched for PEM, because DER may contain text that looks like PEM.
    if certificate.first() != Some(&der::tag::SEQUENCE) && pem::is_pem(certificate) {
        let message = "cert is PEM; it must be DER, because the fingerprint is a digest of the DER encoding";
        let advice = Advice::new("to convert it", ApiName::ParseCertificate);
        return Err(Error::new(Status::InvalidArgument, message).with_advice(advice));
    }
    let (expected, count) = hex_digits(fingerprint, "fingerprint")?;
    if !matches!(count, 32 | 40 | 64) {
        let message =
            format!("fingerprint must have 32 (MD5), 40 (SHA-1) or 64 (SHA-256) hex digits; it has {count}");
        return Err(Error::new(Status::InvalidArgument, message));
    }
    let mut actual = [0; MAX_DIGITS / 2];
    let (name, actual) = match count {
        32 => ("MD5", digest::<Md5>(certificate, &mut actual)),
        40 => ("SHA-1", digest::<Sha1>(certificate, &mut actual)),
        _ => ("SHA-256", digest::<Sha256>(certificate, &mut actual)),
    };
    let expected = expected.get(..count / 2).unwrap_or_default();
    if expected.ct_eq(actual).into() {
        return Ok(());
    }
    let (expected, actual) = (hex(expected), hex(actual));
    mismatch(format!("the certificate's {name} fingerprint is {actual}; expected: {expected}"))
        .map_err(|error| error.with_expected_fingerprint(expected).with_actual_fingerprint(actual))
}

/// Returns the SHA-256 digest of the bytes in lower-case hex digits.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    hex(digest::<Sha256>(bytes, &mut [0; MAX_DIGITS / 2]))
}

/// The prefix of a public key pin in curl's syntax.
pub(crate) const KEY_PIN_PREFIX: &str = "sha256//";

/// Returns the pin of a public key in curl's syntax.
pub(crate) fn key_pin(public_key_info: &[u8]) -> String {
    format!("{KEY_PIN_PREFIX}{}", BASE64.encode(Sha256::digest(public_key_info)))
}

fn digest<'a, D: Digest>(bytes: &[u8], out: &'a mut [u8; MAX_DIGITS / 2]) -> &'a [u8] {
    let digest = D::digest(bytes);
    let out = out.get_mut(..digest.len()).unwrap_or_default();
    out.copy_from_slice(&digest);
    out
}

/// Decodes hex digits and skips colons. Returns the first 32 decoded bytes, and the number of digits in the whole text.
/// `what`: the name of the parameter, for errors.
pub(crate) fn hex_digits(text: &[u8], what: &str) -> Result<([u8; MAX_DIGITS / 2], usize)> {
    let mut bytes = [0; MAX_DIGITS / 2];
    let mut count = 0usize;
    for (at, byte) in text.iter().enumerate().filter(|(_, byte)| **byte != b':') {
        let Some(digit) = char::from(*byte).to_digit(16) else {
            let message = format!("{what} has a character other than hex digits and colons at byte {at}");
            return Err(Error::new(Status::InvalidArgument, message).at(at));
        };
        if let Some(byte) = bytes.get_mut(count / 2) {
            *byte = *byte << 4 | digit as u8;
        }
        count += 1;
    }
    Ok((bytes, count))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHA256: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    #[test]
    fn the_number_of_hex_digits_selects_the_fingerprint_digest() {
        for fingerprint in [
            "900150983cd24fb0d6963f7d28e17f72",
            "A9993E364706816ABA3E25717850C26C9CD0D89D",
            "a9:99:3e:36:47:06:81:6a:ba:3e:25:71:78:50:c2:6c:9c:d0:d8:9d",
            SHA256,
            "::b:a7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad:",
        ] {
            assert!(assert(b"abc", fingerprint.as_bytes()).is_ok(), "{fingerprint}");
        }
        assert_eq!(sha256(b"abc"), SHA256);
    }

    #[test]
    fn pem_text_is_refused_instead_of_hashed() {
        for (certificate, expected) in [
            (&b"-----BEGIN CERTIFICATE-----\n"[..], Status::InvalidArgument),
            (b"subject=CN\r\n-----BEGIN CERTIFICATE-----", Status::InvalidArgument),
            (b"\x30\x0b-----BEGIN ", Status::FingerprintMismatch),
            (b"-----BEGIN", Status::FingerprintMismatch),
            (b"", Status::FingerprintMismatch),
        ] {
            assert_eq!(assert(certificate, SHA256.as_bytes()).unwrap_err().status(), expected, "{certificate:?}");
        }
    }

    #[test]
    fn fingerprint_with_one_wrong_digit_is_a_mismatch() {
        for at in 0..SHA256.len() {
            let mut other = SHA256.as_bytes().to_vec();
            other[at] = if other[at] == b'0' { b'1' } else { b'0' };
            let error = assert(b"abc", &other).unwrap_err();
            assert_eq!(error.status(), Status::FingerprintMismatch);
            assert_eq!(error.expected_fingerprint().unwrap().to_bytes(), other);
            assert_eq!(error.actual_fingerprint().unwrap().to_bytes(), SHA256.as_bytes());
        }
    }
}
