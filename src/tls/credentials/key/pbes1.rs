//! Decrypts with the encryption schemes that PKCS#12 had before PBES2 (RFC 7292 appendices B and C): usually 3DES for
//! keys and 40-bit RC2 for certificates. PBES1 is weak, but old files use it.

use pkcs5::der::Reader;
use pkcs5::der::asn1::{AnyRef, ObjectIdentifier, OctetStringRef, UintRef};
use sha1::Sha1;
use sha2::digest::Digest;
use sha2::digest::block_api::BlockSizeUser;
use zeroize::{Zeroize, Zeroizing};

use super::pbes2::{broken, iterations_of};
use super::scheme::decrypt_cbc;
use super::secret::{Opened, Refusal};

/// The largest accepted salt in bytes. Known programs write salts of up to 20 bytes, or 64 in a MAC.
const MAX_SALT: usize = 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cipher {
    DesEde3,
    DesEde2,
    Rc2With128Bits,
    Rc2With40Bits,
}

impl Cipher {
    pub(crate) fn of(oid: ObjectIdentifier) -> Option<Cipher> {
        const PBE: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.12.1");
        match oid.as_bytes().strip_prefix(PBE.as_bytes())? {
            [3] => Some(Cipher::DesEde3),
            [4] => Some(Cipher::DesEde2),
            [5] => Some(Cipher::Rc2With128Bits),
            [6] => Some(Cipher::Rc2With40Bits),
            _ => None,
        }
    }

    fn key_size(self) -> usize {
        match self {
            Cipher::DesEde3 => 24,
            Cipher::DesEde2 | Cipher::Rc2With128Bits => 16,
            Cipher::Rc2With40Bits => 5,
        }
    }
}

#[derive(Debug)]
pub(in crate::tls) struct Parameters {
    cipher: Cipher,
    salt: Vec<u8>,
    iterations: u32,
}

impl Parameters {
    pub(crate) fn read(cipher: Cipher, parameters: Option<AnyRef<'_>>) -> Opened<Parameters> {
        let wrong = || broken("its key derivation");
        let (salt, iterations) = parameters
            .ok_or_else(wrong)?
            .sequence(|reader| {
                let (salt, iterations): (&OctetStringRef, UintRef<'_>) = (reader.decode()?, reader.decode()?);
                Ok::<_, pkcs5::der::Error>((salt.as_bytes(), iterations))
            })
            .map_err(|_| wrong())?;
        let iterations = iterations_of(iterations, "its key derivation")?;
        Ok(Parameters { cipher, salt: bounded_salt(salt)?.to_vec(), iterations })
    }

    pub(crate) fn work(&self) -> u64 {
        u64::from(self.iterations)
    }

    /// Decrypts `buffer` in place. Returns the length of the plaintext; `None` if the padding is wrong.
    pub(crate) fn decrypt(&self, password: &[u8], buffer: &mut [u8]) -> Option<usize> {
        let mut key = Zeroizing::new([0; 24]);
        let key = key.get_mut(..self.cipher.key_size())?;
        let mut iv = Zeroizing::new([0; 8]);
        let derive = |purpose, out: &mut [u8]| derive::<Sha1>(purpose, password, &self.salt, self.iterations, out);
        derive(Purpose::Key, key);
        derive(Purpose::Iv, &mut *iv);
        match self.cipher {
            Cipher::DesEde3 => decrypt_cbc::<des::TdesEde3>(key, &*iv, buffer),
            Cipher::DesEde2 => decrypt_cbc::<des::TdesEde2>(key, &*iv, buffer),
            Cipher::Rc2With128Bits | Cipher::Rc2With40Bits => decrypt_cbc::<rc2::Rc2>(key, &*iv, buffer),
        }
    }
}

pub(in crate::tls) fn bounded_salt(salt: &[u8]) -> Opened<&[u8]> {
    if salt.len() > MAX_SALT {
        let why = format!("a salt of {} bytes; at most {MAX_SALT} are allowed", salt.len());
        return Err(Refusal::Unsupported(why));
    }
    Ok(salt)
}

/// The purpose of derived bytes. The number of the purpose is an input of the key derivation (RFC 7292 appendix B.3).
#[derive(Clone, Copy, Debug)]
pub(in crate::tls) enum Purpose {
    Key = 1,
    Iv = 2,
    Mac = 3,
}

/// Derives bytes from a password as RFC 7292 appendix B.2 defines. The comments in this function use the variable names
/// of that appendix.
pub(in crate::tls) fn derive<H: Digest + BlockSizeUser>(
    purpose: Purpose,
    password: &[u8],
    salt: &[u8],
    iterations: u32,
    out: &mut [u8],
) {
    let block = H::block_size();
    // D: the purpose, repeated to fill one block.
    let diversifier = vec![purpose as u8; block];
    // I: the salt and the password, each repeated to fill whole blocks.
    let repeated = |bytes: &[u8]| bytes.len().div_ceil(block) * block;
    let (of_salt, of_password) = (repeated(salt), repeated(password));
    let mut input = Zeroizing::new(Vec::with_capacity(of_salt + of_password));
    input.extend(salt.iter().cycle().take(of_salt));
    input.extend(password.iter().cycle().take(of_password));
    let mut chunks = out.chunks_mut(<H as Digest>::output_size()).peekable();
    while let Some(chunk) = chunks.next() {
        let mut digest = H::new().chain_update(&diversifier).chain_update(&*input).finalize();
        for _ in 1..iterations {
            digest = H::digest(&digest);
        }
        for (to, from) in chunk.iter_mut().zip(&digest) {
            *to = *from;
        }
        if chunks.peek().is_some() {
            // B: the digest, repeated to fill one block. Each block of I is increased by B + 1.
            for part in input.chunks_mut(block) {
                let mut carry = 1u16;
                let addend: Zeroizing<Vec<u8>> = Zeroizing::new(digest.iter().cycle().take(block).copied().collect());
                for (byte, more) in part.iter_mut().zip(&*addend).rev() {
                    carry += u16::from(*byte) + u16::from(*more);
                    [_, *byte] = carry.to_be_bytes();
                    carry >>= 8;
                }
            }
        }
        digest.as_mut_slice().zeroize();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sha2::{Sha224, Sha256, Sha384, Sha512};

    fn bytes(hex: &str) -> Vec<u8> {
        hex.as_bytes().chunks(2).map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
    }

    /// The expected bytes are the output of `openssl kdf PKCS12KDF` for the passwords "secret" and "".
    #[test]
    fn pkcs12_key_derivation_gives_the_same_bytes_as_openssl() {
        let secret = "0073006500630072006500740000";
        type Derive = fn(Purpose, &[u8], &[u8], u32, &mut [u8]);
        let sha1: Derive = derive::<Sha1>;
        for (derive, purpose, password, salt, iterations, expected) in [
            (sha1, Purpose::Key, secret, "0102030405060708", 3, "903A8AA1B8D275344926F7A8D19226A3919F0D3C5A1C3261"),
            (sha1, Purpose::Iv, secret, "0102030405060708", 3, "A0F26ADFDE85DA16"),
            (sha1, Purpose::Mac, secret, "0102030405060708", 3, "7CC308F38BBC20ACABD20762B4B3A4FFBFDB3A23"),
            (sha1, Purpose::Key, "0000", "ffffffff", 1, "D2E81FEB640C4F7B89C37FFFDC545B8C23026E479D4BAA8E"),
            (
                derive::<Sha256>,
                Purpose::Key,
                secret,
                "ffffffffffffffffffffffffffffffffffffffff",
                2,
                "B76D52DC4CCE1204176D5987F57A9CFECB02FE5FB8DC63204F1D130901C6DDF6512947C60554C918298813A195915A94\
                 90513BD7263E2CA209550070B449C5B0495A2928D0345D080AD623206E2BE635DD08FF56A3F7339AFC3C872D88D0C6B6\
                 5265B7EA",
            ),
            (
                derive::<Sha512>,
                Purpose::Mac,
                secret,
                "0102030405060708",
                1000,
                "39B10392175CD145396F8591F4636ABE444BE7633F0547865F8E0E4916A379FBB4320F3E5A700E4E2673D57683CC0213\
                 BCBFF43891309F4BA101C777C015CDFB",
            ),
            (
                derive::<Sha224>,
                Purpose::Mac,
                secret,
                "01",
                1,
                "1A5952D5CA2F4AB99A4C680AB4275131FB7950F41D30B92A458CC923",
            ),
            (
                derive::<Sha384>,
                Purpose::Key,
                secret,
                "0102030405060708",
                5,
                "4EE565A52CA205F72A12A674E93BE52E74513BC59068E07CDBD168DDF213AB491A55764CECDB52DA5795FF845FACD6C5\
                 D958E0E77AED1DE5260E4C2DD58856617F48A38A4ABAC4632110B6D7B67F2422698CEF5B775C39679ED02178F91C7B3B\
                 1F57AB6C",
            ),
        ] {
            let mut out = vec![0; expected.len() / 2];
            derive(purpose, &bytes(password), &bytes(salt), iterations, &mut out);
            assert_eq!(out, bytes(expected), "{purpose:?}, {iterations}");
        }
    }
}
