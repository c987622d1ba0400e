//! Verifies the MAC of a PKCS#12 file: HMAC with PKCS#12's own key derivation, or PBMAC1 (RFC 9579).

use hmac::{EagerHash, Hmac, KeyInit, Mac as _};
use pkcs5::AlgorithmIdentifierRef;
use pkcs5::der::asn1::{AnyRef, ObjectIdentifier, OctetStringRef, UintRef};
use pkcs5::der::{Decode, Reader};
use pkcs5::pbes2::{PBKDF2_OID, Pbkdf2Params, Pbkdf2Prf};
use sha1::Sha1;
use sha2::{Sha224, Sha256, Sha384, Sha512};
use zeroize::Zeroizing;

use crate::memory;
use crate::tls::credentials::key::pbes1::{Purpose, bounded_salt, derive};
use crate::tls::credentials::key::pbes2::{self, broken, iterations_of, unsupported};
use crate::tls::credentials::key::scheme::WorkBudget;
use crate::tls::credentials::key::{Opened, PasswordEncoding, Refusal};
use crate::tls::x509::der::Element;

const PBMAC1: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.5.14");

/// The accepted key sizes for PBMAC1 in bytes. RFC 9579 requires keys of at least 20 bytes, and PBMAC1's longest hash
/// has 64 bytes.
const KEY_SIZES: std::ops::RangeInclusive<u64> = 20..=64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hash {
    Sha1,
    Sha224,
    Sha256,
    Sha384,
    Sha512,
}

/// Calls `$call` with the hash's type as its first type parameter.
macro_rules! with_hash {
    ($hash:expr, $call:ident($($argument:expr),*)) => {
        match $hash {
            Hash::Sha1 => $call::<Sha1>($($argument),*),
            Hash::Sha224 => $call::<Sha224>($($argument),*),
            Hash::Sha256 => $call::<Sha256>($($argument),*),
            Hash::Sha384 => $call::<Sha384>($($argument),*),
            Hash::Sha512 => $call::<Sha512>($($argument),*),
        }
    };
}

impl Hash {
    fn of(oid: ObjectIdentifier) -> Opened<Hash> {
        const SHA1: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.14.3.2.26");
        const SHA2: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.2");
        Ok(match oid.as_bytes().strip_prefix(SHA2.as_bytes()) {
            _ if oid == SHA1 => Hash::Sha1,
            Some([1]) => Hash::Sha256,
            Some([2]) => Hash::Sha384,
            Some([3]) => Hash::Sha512,
            Some([4]) => Hash::Sha224,
            _ => return Err(unsupported("a MAC with", oid)),
        })
    }

    /// Returns the hash of an HMAC algorithm.
    fn of_hmac(oid: ObjectIdentifier) -> Opened<Hash> {
        Ok(match pbes2::pbkdf2_prf(oid).map_err(|_| unsupported("a MAC with", oid))? {
            Pbkdf2Prf::HmacWithSha1 => Hash::Sha1,
            Pbkdf2Prf::HmacWithSha224 => Hash::Sha224,
            Pbkdf2Prf::HmacWithSha256 => Hash::Sha256,
            Pbkdf2Prf::HmacWithSha384 => Hash::Sha384,
            Pbkdf2Prf::HmacWithSha512 => Hash::Sha512,
            _ => return Err(unsupported("a MAC with", oid)),
        })
    }
}

pub(crate) struct Mac<'a> {
    hash: Hash,
    digest: &'a [u8],
    key: Derivation<'a>,
}

/// The derivation of the HMAC key from the password.
enum Derivation<'a> {
    Own { salt: &'a [u8], iterations: u32 },
    Pbkdf2 { parameters: Pbkdf2Params, prf: Hash, key_size: usize },
}

impl<'a> Mac<'a> {
    /// Parses a MacData element.
    pub(crate) fn read(element: &Element<'a>) -> Opened<Mac<'a>> {
        let wrong = || broken("its MAC");
        let any = AnyRef::from_der(element.whole).map_err(|_| wrong())?;
        let (digest_info, salt, iterations) = any
            .sequence(|reader| {
                let digest_info: AnyRef<'a> = reader.decode()?;
                let salt: &'a OctetStringRef = reader.decode()?;
                let iterations: Option<UintRef<'a>> = reader.decode()?;
                Ok::<_, pkcs5::der::Error>((digest_info, salt, iterations))
            })
            .map_err(|_| wrong())?;
        let (algorithm, digest) = digest_info
            .sequence(|reader| {
                let algorithm: AlgorithmIdentifierRef<'a> = reader.decode()?;
                let digest: &'a OctetStringRef = reader.decode()?;
                Ok::<_, pkcs5::der::Error>((algorithm, digest))
            })
            .map_err(|_| wrong())?;
        let digest = digest.as_bytes();
        if algorithm.oid == PBMAC1 {
            let (hash, key) = pbmac1(algorithm)?;
            return Ok(Mac { hash, digest, key });
        }
        let iterations = iterations.map_or(Ok(1), |iterations| iterations_of(iterations, "its MAC"))?;
        let key = Derivation::Own { salt: bounded_salt(salt.as_bytes())?, iterations };
        Ok(Mac { hash: Hash::of(algorithm.oid)?, digest, key })
    }

    /// Returns the index of the password encoding that matches the MAC of `content`.
    pub(crate) fn encoding(
        &self,
        content: &[u8],
        all: &[PasswordEncoding],
        budget: &mut WorkBudget,
    ) -> Opened<Option<usize>> {
        let mut before: Option<&[u8]> = None;
        for (index, encoding) in all.iter().enumerate() {
            let made = match &self.key {
                Derivation::Own { salt, iterations } => {
                    budget.spend(u64::from(*iterations))?;
                    with_hash!(self.hash, made_own(&encoding.bmp, salt, *iterations, content, self.digest))
                }
                // The input of PBKDF2 is the same for all encodings, so only the first encoding is tried.
                Derivation::Pbkdf2 { .. } if before.replace(&encoding.bytes).is_some() => false,
                Derivation::Pbkdf2 { parameters, prf, key_size } => {
                    budget.spend(u64::from(parameters.iteration_count))?;
                    let mut key = Zeroizing::new(Vec::new());
                    memory::reserve(&mut key, *key_size, "a key")?;
                    key.resize(*key_size, 0);
                    let (salt, iterations) = (parameters.salt.as_ref(), parameters.iteration_count);
                    with_hash!(*prf, pbkdf2(&encoding.bytes, salt, iterations, &mut key));
                    with_hash!(self.hash, made(&key, content, self.digest))
                }
            };
            if made {
                return Ok(Some(index));
            }
        }
        Ok(None)
    }
}

fn pbmac1(algorithm: AlgorithmIdentifierRef<'_>) -> Opened<(Hash, Derivation<'_>)> {
    let wrong = || broken("PBMAC1");
    let (kdf, hmac) = algorithm
        .parameters
        .ok_or_else(wrong)?
        .sequence(|reader| {
            let (kdf, hmac): (AlgorithmIdentifierRef<'_>, AlgorithmIdentifierRef<'_>) =
                (reader.decode()?, reader.decode()?);
            Ok::<_, pkcs5::der::Error>((kdf, hmac))
        })
        .map_err(|_| wrong())?;
    if kdf.oid != PBKDF2_OID {
        return Err(unsupported("a MAC with the key derivation", kdf.oid));
    }
    let (parameters, key_size) = pbes2::pbkdf2(kdf.parameters.ok_or_else(wrong)?)?;
    let key_size = key_size.ok_or_else(|| Refusal::malformed("PBMAC1 without a key length"))?;
    let key_size = pbes2::number(key_size).unwrap_or(u64::MAX);
    if !KEY_SIZES.contains(&key_size) {
        let (least, most) = (KEY_SIZES.start(), KEY_SIZES.end());
        let why = format!("PBMAC1 with a key of {key_size} bytes; {least} to {most} are allowed");
        return Err(Refusal::Unsupported(why));
    }
    let prf = Hash::of_hmac(parameters.prf.oid())?;
    let key_size = usize::try_from(key_size).unwrap_or(0);
    Ok((Hash::of_hmac(hmac.oid)?, Derivation::Pbkdf2 { parameters, prf, key_size }))
}

fn made_own<H: EagerHash>(password: &[u8], salt: &[u8], iterations: u32, content: &[u8], digest: &[u8]) -> bool {
    let mut key = Zeroizing::new([0; 64]);
    let key = key.get_mut(..<H as sha2::Digest>::output_size()).unwrap_or_default();
    derive::<H>(Purpose::Mac, password, salt, iterations, key);
    made::<H>(key, content, digest)
}

fn pbkdf2<H: EagerHash>(password: &[u8], salt: &[u8], iterations: u32, key: &mut [u8]) {
    pbkdf2::pbkdf2_hmac::<H>(password, salt, iterations, key);
}

/// Returns true if `digest` is the HMAC of `content`. Compares in constant time.
fn made<H: EagerHash>(key: &[u8], content: &[u8], digest: &[u8]) -> bool {
    let mac = <Hmac<H> as KeyInit>::new_from_slice(key);
    mac.is_ok_and(|mac| mac.chain_update(content).verify_slice(digest).is_ok())
}
