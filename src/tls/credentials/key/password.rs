//! The password of an encrypted key, and its encodings.

use std::fmt;

use zeroize::Zeroizing;

use super::secret::{Opened, Refusal, Secret};
use crate::error::{Error, Result};
use crate::memory;
use crate::status::Status;

/// The largest accepted length of a password in bytes, the same limit as in OpenSSL.
pub(crate) const MAX_PASSWORD: usize = 1024;

/// The password of an encrypted key. The output of `Debug` does not contain the password.
#[derive(Clone)]
pub(crate) struct Password(Secret);

impl Password {
    pub(crate) fn new(bytes: &[u8]) -> Result<Password> {
        if bytes.len() > MAX_PASSWORD {
            let message = format!("password must have at most {MAX_PASSWORD} bytes; it has {}", bytes.len());
            return Err(Error::new(Status::InvalidArgument, message));
        }
        Ok(Password(Zeroizing::new(memory::copy(bytes, "password")?)))
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password")
    }
}

/// A password encoded as the input of each kind of key derivation.
pub(in crate::tls) struct PasswordEncoding {
    /// The input of PBKDF2 and scrypt: the bytes of the password.
    pub(in crate::tls) bytes: Secret,
    /// The input of PKCS#12's own key derivation: a BMPString with its terminator (RFC 7292 appendix B.1).
    pub(in crate::tls) bmp: Secret,
}

impl PasswordEncoding {
    /// Returns all encodings of a password, in the order to try them. A password in UTF-8 becomes UTF-16, as in
    /// OpenSSL. A password that is not ASCII is also encoded with one character per byte, as older OpenSSL releases
    /// did. An empty password has two encodings: the terminator alone, and the empty string, which files without a
    /// password use.
    pub(in crate::tls) fn all(password: Option<&Password>) -> Opened<Vec<PasswordEncoding>> {
        let bytes = password.map_or(&[][..], Password::bytes);
        let encoding =
            |bmp| Ok::<_, Refusal>(PasswordEncoding { bytes: Zeroizing::new(memory::copy(bytes, "password")?), bmp });
        if bytes.is_empty() {
            return Ok(vec![encoding(Secret::new(vec![0, 0]))?, encoding(Secret::default())?]);
        }
        let mut all = Vec::new();
        if let Ok(text) = str::from_utf8(bytes) {
            all.push(encoding(bmp(text.encode_utf16())?)?);
        }
        if !bytes.is_ascii() {
            all.push(encoding(bmp(bytes.iter().copied().map(u16::from))?)?);
        }
        Ok(all)
    }
}

fn bmp(units: impl Iterator<Item = u16>) -> Opened<Secret> {
    let mut bmp = Zeroizing::new(Vec::new());
    // Reserves all memory at once, because growing the vector would leave copies of the password in freed memory.
    memory::reserve(&mut bmp, 2 * (MAX_PASSWORD + 1), "password")?;
    for unit in units.chain([0]) {
        bmp.extend_from_slice(&unit.to_be_bytes());
    }
    Ok(bmp)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_of_a_pkcs12_password_are_read_as_utf_8_and_as_latin_1() {
        let all = |password: Option<&[u8]>| {
            let password = password.map(|bytes| Password::new(bytes).unwrap());
            let spelled = PasswordEncoding::all(password.as_ref()).unwrap();
            spelled.iter().map(|encoding| encoding.bmp.to_vec()).collect::<Vec<_>>()
        };
        for (password, expected) in [
            (None, &[&[0, 0][..], &[]][..]),
            (Some(&b""[..]), &[&[0, 0], &[]]),
            (Some(b"Be"), &[&[0, b'B', 0, b'e', 0, 0]]),
            (Some("\u{e4}".as_bytes()), &[&[0, 0xe4, 0, 0], &[0, 0xc3, 0, 0xa4, 0, 0]]),
            (
                Some("\u{1f600}".as_bytes()),
                &[&[0xd8, 0x3d, 0xde, 0, 0, 0], &[0, 0xf0, 0, 0x9f, 0, 0x98, 0, 0x80, 0, 0]],
            ),
            (Some(b"\xe4"), &[&[0, 0xe4, 0, 0]]),
        ] {
            assert_eq!(all(password), expected, "{password:?}");
        }
        assert_eq!(all(Some(&[b'x'; MAX_PASSWORD]))[0].len(), 2 * (MAX_PASSWORD + 1));
    }
}
