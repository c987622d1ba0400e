//! Passwords, and the bytes that one is spelled with.

use std::fmt;

use zeroize::Zeroizing;

use super::{Opened, Refusal, Secret};
use crate::error::{Error, Result};
use crate::memory;
use crate::status::Status;

/// The longest password, which is OpenSSL's too.
pub(crate) const MAX_PASSWORD: usize = 1024;

/// What opens an encrypted key. It is never shown.
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

/// What a password is for the two families of ways to encrypt.
pub(in crate::tls) struct Spelling {
    /// For PBKDF2 and scrypt: what was given.
    pub(in crate::tls) bytes: Secret,
    /// For what PKCS#12 has of its own: a BMPString with its terminator (RFC 7292, appendix B.1).
    pub(in crate::tls) bmp: Secret,
}

impl Spelling {
    /// In the order to try them. Text is UTF-8, as OpenSSL has it, characters beyond the BMP as two surrogates; what is
    /// not, and what older releases of OpenSSL wrote, has a character for each byte. An empty password is its
    /// terminator or nothing at all, which is also what files without a password have.
    pub(in crate::tls) fn all(password: Option<&Password>) -> Opened<Vec<Spelling>> {
        let bytes = password.map_or(&[][..], Password::bytes);
        let spelling =
            |bmp| Ok::<_, Refusal>(Spelling { bytes: Zeroizing::new(memory::copy(bytes, "password")?), bmp });
        if bytes.is_empty() {
            return Ok(vec![spelling(Secret::new(vec![0, 0]))?, spelling(Secret::default())?]);
        }
        let mut all = Vec::new();
        if let Ok(text) = str::from_utf8(bytes) {
            all.push(spelling(bmp(text.encode_utf16())?)?);
        }
        if !bytes.is_ascii() {
            all.push(spelling(bmp(bytes.iter().copied().map(u16::from))?)?);
        }
        Ok(all)
    }
}

fn bmp(units: impl Iterator<Item = u16>) -> Opened<Secret> {
    let mut bmp = Zeroizing::new(Vec::new());
    // At once, so that no outgrown part stays behind in memory.
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
    fn spellings() {
        let all = |password: Option<&[u8]>| {
            let password = password.map(|bytes| Password::new(bytes).unwrap());
            let spelled = Spelling::all(password.as_ref()).unwrap();
            spelled.iter().map(|spelling| spelling.bmp.to_vec()).collect::<Vec<_>>()
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
