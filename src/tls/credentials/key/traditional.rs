//! Decrypts keys with traditional PEM encryption (RFC 1421, as OpenSSL implements it): headers name the cipher and its
//! initialization vector, and MD5 derives the key from the password. Traditional PEM encryption is weak, but still in
//! use.

use md5::{Digest, Md5};
use zeroize::{Zeroize, Zeroizing};

use super::password::Password;
use super::scheme::decrypt_cbc;
use super::secret::{Opened, Refusal, Secret, opened};
use crate::error::truncated;
use crate::tls::credentials::pem::split_line;

/// The encryption headers of a PEM section.
pub(crate) struct Headers {
    cipher: Cipher,
    /// The initialization vector, which is as long as one block of the cipher. The first eight bytes of the vector are
    /// also the salt of the key derivation.
    iv: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cipher {
    Aes128,
    Aes192,
    Aes256,
    DesEde3,
}

impl Cipher {
    fn named(name: &str) -> Option<Cipher> {
        let names = [
            ("AES-128-CBC", Cipher::Aes128),
            ("AES-192-CBC", Cipher::Aes192),
            ("AES-256-CBC", Cipher::Aes256),
            ("DES-EDE3-CBC", Cipher::DesEde3),
        ];
        names.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, cipher)| cipher)
    }

    fn key_size(self) -> usize {
        match self {
            Cipher::Aes128 => 16,
            Cipher::Aes192 | Cipher::DesEde3 => 24,
            Cipher::Aes256 => 32,
        }
    }

    fn block_size(self) -> usize {
        if self == Cipher::DesEde3 { 8 } else { 16 }
    }

    /// Decrypts `buffer` in place. Returns the length of the plaintext; `None` if the padding is wrong.
    fn decrypt(self, key: &[u8], iv: &[u8], buffer: &mut [u8]) -> Option<usize> {
        match self {
            Cipher::Aes128 => decrypt_cbc::<aes::Aes128Dec>(key, iv, buffer),
            Cipher::Aes192 => decrypt_cbc::<aes::Aes192Dec>(key, iv, buffer),
            Cipher::Aes256 => decrypt_cbc::<aes::Aes256Dec>(key, iv, buffer),
            Cipher::DesEde3 => decrypt_cbc::<des::TdesEde3>(key, iv, buffer),
        }
    }
}

/// Splits the body of a PEM section into its encryption headers, if any, and its base64 text. Headers that do not
/// concern encryption are ignored.
pub(crate) fn split_headers(body: &[u8]) -> Opened<(Option<Headers>, &[u8])> {
    let (mut encrypted, mut information, mut rest) = (false, None, body);
    loop {
        let (line, after) = split_line(rest);
        let text = line.trim_ascii();
        // A line with a colon is a header, because base64 contains no colon. Empty lines are skipped: one empty line
        // ends the headers, and CR LF yields an empty line after each line.
        if !text.contains(&b':') && (!text.is_empty() || rest.is_empty()) {
            break;
        }
        let header = |name: &[u8]| text.strip_prefix(name).map(<[u8]>::trim_ascii);
        if let Some(kind) = header(b"Proc-Type:") {
            if kind != b"4,ENCRYPTED" {
                let kind = String::from_utf8_lossy(kind);
                return Err(Refusal::malformed(format!("its Proc-Type is \"{}\"", truncated(&kind))));
            }
            encrypted = true;
        } else if let Some(value) = header(b"DEK-Info:") {
            information = Some(value);
        }
        rest = after;
    }
    match (encrypted, information) {
        (false, _) => Ok((None, rest)),
        (true, Some(information)) => Ok((Some(headers(information)?), rest)),
        (true, None) => Err(Refusal::malformed("it is encrypted, but has no DEK-Info")),
    }
}

fn headers(information: &[u8]) -> Opened<Headers> {
    let information = String::from_utf8_lossy(information);
    let (name, iv) = information.split_once(',').unwrap_or((&information, ""));
    let name = name.trim();
    let cipher =
        Cipher::named(name).ok_or_else(|| Refusal::Unsupported(format!("the cipher \"{}\"", truncated(name))))?;
    let iv = from_hex(iv.trim()).filter(|iv| iv.len() == cipher.block_size()).ok_or_else(|| {
        let digits = 2 * cipher.block_size();
        Refusal::malformed(format!("the initialization vector in its DEK-Info is not {digits} hex digits"))
    })?;
    Ok(Headers { cipher, iv })
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let pair = |pair: &[u8]| match pair {
        [high, low] => u8::try_from(digit(*high)? << 4 | digit(*low)?).ok(),
        _ => None,
    };
    text.as_bytes().chunks(2).map(pair).collect()
}

pub(crate) fn decrypt(headers: &Headers, mut buffer: Secret, password: Option<&Password>) -> Opened<Secret> {
    let Headers { cipher, iv } = headers;
    let block = cipher.block_size();
    if buffer.is_empty() || !buffer.len().is_multiple_of(block) {
        let why = format!("{} encrypted bytes are not a multiple of the block size {block}", buffer.len());
        return Err(Refusal::malformed(why));
    }
    let password = password.ok_or(Refusal::PasswordRequired)?;
    let key = derive_key(password.bytes(), iv.get(..8).unwrap_or_default());
    let key = key.get(..cipher.key_size()).unwrap_or_default();
    let len = cipher.decrypt(key, iv, &mut buffer);
    opened(buffer, len)
}

/// Derives a key like OpenSSL's EVP_BytesToKey with MD5 and one round: each digest is made of the previous digest, the
/// password and the salt.
fn derive_key(password: &[u8], salt: &[u8]) -> Zeroizing<[u8; 32]> {
    let mut key = Zeroizing::new([0; 32]);
    let (first, second) = key.split_at_mut(16);
    let digest = |before: &[u8], out: &mut [u8]| {
        let mut digest = Md5::new().chain_update(before).chain_update(password).chain_update(salt).finalize();
        out.copy_from_slice(&digest);
        digest.as_mut_slice().zeroize();
    };
    digest(&[], first);
    digest(first, second);
    key
}
