//! Reads the parameters of PBES2 (RFC 8018): a cipher, and the derivation of its key from the password.
//!
//! The parameters determine the cost of the key derivation and may be hostile, so they are compared with limits before
//! any derivation.

use pkcs5::AlgorithmIdentifierRef;
use pkcs5::der::asn1::{AnyRef, ObjectIdentifier, OctetStringRef, UintRef};
use pkcs5::der::{Reader, Tag, Tagged};
use pkcs5::pbes2::{
    AES_128_CBC_OID, AES_192_CBC_OID, AES_256_CBC_OID, DES_EDE3_CBC_OID, EncryptionScheme, Kdf, PBKDF2_OID,
    Parameters, Pbkdf2Params, Pbkdf2Prf, SCRYPT_OID, Salt, ScryptParams,
};

use super::algorithm_names::shown_oid;
use super::secret::{Opened, Refusal};
use crate::memory;

/// The largest accepted number of iterations of PBKDF2 and of PKCS#12's own key derivation. With SHA-512, that many
/// iterations take up to two seconds. The defaults of known tools are 2,048 to about 600,000 iterations. Fuzzing builds
/// have a lower limit, so that the fuzzer spends its time in the parser.
pub(crate) const MAX_ITERATIONS: u64 = if cfg!(fuzzing) { 20_000 } else { 2_000_000 };

/// The most memory that scrypt may use, in bytes: enough for N = 2^17 and r = 8, the largest recommended parameters.
/// OpenSSL allows scrypt 32 MiB.
const MAX_MEMORY: u128 = 128 * 1024 * 1024;

/// The largest accepted value of N·r·p for scrypt: twice the value for the largest recommended parameters. scrypt with
/// this value takes about a second, or longer if r is 1.
const MAX_WORK: u128 = if cfg!(fuzzing) { 1 << 15 } else { 1 << 21 };

pub(in crate::tls) fn broken(what: &str) -> Refusal {
    Refusal::malformed(format!("{what} does not have its standard form"))
}

pub(in crate::tls) fn unsupported(what: &str, oid: ObjectIdentifier) -> Refusal {
    Refusal::Unsupported(format!("{what} {}", shown_oid(oid)))
}

pub(crate) fn parameters(parameters: Option<AnyRef<'_>>) -> Opened<Parameters> {
    let (kdf, cipher) = parameters
        .and_then(|parameters| {
            parameters.sequence(|reader| Ok::<_, pkcs5::der::Error>((reader.decode()?, reader.decode()?))).ok()
        })
        .ok_or_else(|| broken("PBES2"))?;
    let encryption = encryption(cipher)?;
    let kdf = key_derivation(kdf, encryption.key_size())?;
    Ok(Parameters { kdf, encryption })
}

/// Returns the cost of the derivation in iterations of PBKDF2.
pub(crate) fn work(parameters: &Parameters) -> u64 {
    match &parameters.kdf {
        Kdf::Pbkdf2(pbkdf2) => u64::from(pbkdf2.iteration_count),
        Kdf::Scrypt(scrypt) => {
            scrypt.cost_parameter * u64::from(scrypt.block_size) * u64::from(scrypt.parallelization)
        }
        _ => 0,
    }
}

fn encryption(cipher: AlgorithmIdentifierRef<'_>) -> Opened<EncryptionScheme> {
    let iv = cipher.parameters.and_then(|parameters| parameters.decode_as::<&OctetStringRef>().ok());
    let iv = iv.map(OctetStringRef::as_bytes);
    let aes = || iv.and_then(|iv| <[u8; 16]>::try_from(iv).ok());
    let des = || iv.and_then(|iv| <[u8; 8]>::try_from(iv).ok());
    let scheme = match cipher.oid {
        AES_128_CBC_OID => aes().map(|iv| EncryptionScheme::Aes128Cbc { iv }),
        AES_192_CBC_OID => aes().map(|iv| EncryptionScheme::Aes192Cbc { iv }),
        AES_256_CBC_OID => aes().map(|iv| EncryptionScheme::Aes256Cbc { iv }),
        DES_EDE3_CBC_OID => des().map(|iv| EncryptionScheme::DesEde3Cbc { iv }),
        other => return Err(unsupported("the cipher", other)),
    };
    scheme.ok_or_else(|| match iv {
        Some(iv) => Refusal::malformed(format!("its initialization vector has {} bytes", iv.len())),
        None => Refusal::malformed("it has no initialization vector"),
    })
}

fn key_derivation(kdf: AlgorithmIdentifierRef<'_>, key_size: usize) -> Opened<Kdf> {
    let parameters = || kdf.parameters.ok_or_else(|| broken("its key derivation"));
    match kdf.oid {
        PBKDF2_OID => {
            let (pbkdf2, key_length) = pbkdf2(parameters()?)?;
            check_key_length(key_length, key_size)?;
            Ok(Kdf::Pbkdf2(pbkdf2))
        }
        SCRYPT_OID => scrypt(parameters()?, key_size).map(Kdf::Scrypt),
        other => Err(unsupported("the key derivation", other)),
    }
}

/// Reads the parameters of PBKDF2, and the length of the derived key, which is optional.
pub(in crate::tls) fn pbkdf2(parameters: AnyRef<'_>) -> Opened<(Pbkdf2Params, Option<UintRef<'_>>)> {
    let (salt, iterations, key_length, prf) = parameters
        .sequence(|reader| {
            let salt: AnyRef<'_> = reader.decode()?;
            let iterations: UintRef<'_> = reader.decode()?;
            let key_length: Option<UintRef<'_>> = reader.decode()?;
            let prf: Option<AlgorithmIdentifierRef<'_>> = reader.decode()?;
            Ok::<_, pkcs5::der::Error>((salt, iterations, key_length, prf))
        })
        .map_err(|_| broken("PBKDF2"))?;
    let prf = match prf {
        None => Pbkdf2Prf::default(),
        Some(prf) => pbkdf2_prf(prf.oid)?,
    };
    let iteration_count = iterations_of(iterations, "PBKDF2")?;
    Ok((Pbkdf2Params { salt: bounded_salt(salt)?, iteration_count, key_length: None, prf }, key_length))
}

pub(in crate::tls) fn iterations_of(given: UintRef<'_>, what: &str) -> Opened<u32> {
    match at_most(given, MAX_ITERATIONS, &format!("{what} with an iteration count of"))? {
        0 => Err(Refusal::malformed(format!("{what} with 0 iterations"))),
        iterations => Ok(u32::try_from(iterations).unwrap_or(u32::MAX)),
    }
}

pub(in crate::tls) fn pbkdf2_prf(oid: ObjectIdentifier) -> Opened<Pbkdf2Prf> {
    // The parameters of the pseudo-random function are ignored, as in OpenSSL.
    let prf = AlgorithmIdentifierRef { oid, parameters: None };
    Pbkdf2Prf::try_from(prf).map_err(|_| unsupported("PBKDF2 with", oid))
}

fn scrypt(parameters: AnyRef<'_>, key_size: usize) -> Opened<ScryptParams> {
    let (salt, n, r, p, key_length) = parameters
        .sequence(|reader| {
            let salt: AnyRef<'_> = reader.decode()?;
            let (n, r, p): (UintRef<'_>, UintRef<'_>, UintRef<'_>) =
                (reader.decode()?, reader.decode()?, reader.decode()?);
            let key_length: Option<UintRef<'_>> = reader.decode()?;
            Ok::<_, pkcs5::der::Error>((salt, n, r, p, key_length))
        })
        .map_err(|_| broken("scrypt"))?;
    check_key_length(key_length, key_size)?;
    let n = at_most(n, u64::from(u32::MAX), "scrypt with N")?;
    let r = at_most(r, u64::from(u16::MAX), "scrypt with r")?;
    let p = at_most(p, u64::from(u16::MAX), "scrypt with p")?;
    if n < 2 || !n.is_power_of_two() || r == 0 || p == 0 {
        return Err(Refusal::malformed(format!("scrypt with N {n}, r {r}, p {p}")));
    }
    let memory = 128 * u128::from(r) * u128::from(n.max(p));
    let work = u128::from(n) * u128::from(r) * u128::from(p);
    let too_much = |what: &str, is: u128, most: u128| {
        Err(Refusal::Unsupported(format!("scrypt with N {n}, r {r}, p {p}: {what} {is}; at most {most} is allowed")))
    };
    if memory > MAX_MEMORY {
        return too_much("its memory in bytes is", memory, MAX_MEMORY);
    }
    if work > MAX_WORK {
        return too_much("its work N*r*p is", work, MAX_WORK);
    }
    // `scrypt` aborts the process if its allocation fails, so check first that the memory is available.
    let bytes = 128 * r * (n + p + 1);
    memory::check_available(usize::try_from(bytes).unwrap_or(usize::MAX), "scrypt").map_err(Refusal::OutOfMemory)?;
    let small = |number: u64| u16::try_from(number).unwrap_or(u16::MAX);
    Ok(ScryptParams {
        salt: bounded_salt(salt)?,
        cost_parameter: n,
        block_size: small(r),
        parallelization: small(p),
        key_length: None,
    })
}

/// Reads a salt. `Salt` has a capacity of 32 bytes, the length of the longest known salts.
fn bounded_salt(salt: AnyRef<'_>) -> Opened<Salt> {
    salt.decode_as().map_err(|_| {
        Refusal::Unsupported(match salt.tag() {
            Tag::OctetString => {
                format!("a salt of {} bytes; at most {} are allowed", salt.value().len(), Salt::MAX_LEN)
            }
            _ => "a salt from another source (otherSource)".to_owned(),
        })
    })
}

fn check_key_length(given: Option<UintRef<'_>>, key_size: usize) -> Opened<()> {
    match given.map(number) {
        None => Ok(()),
        Some(Some(given)) if given == key_size as u64 => Ok(()),
        Some(given) => {
            let given = given.map_or("2^64 or more".to_owned(), |given| given.to_string());
            Err(Refusal::malformed(format!("a derived key of {given} bytes; its cipher needs {key_size}")))
        }
    }
}

/// Returns a parameter as a number, or an error if it is above `most`. `what` begins the error message and ends with
/// the name of the parameter, for example "scrypt with N".
fn at_most(given: UintRef<'_>, most: u64, what: &str) -> Opened<u64> {
    match number(given) {
        Some(given) if given <= most => Ok(given),
        Some(given) => Err(Refusal::Unsupported(format!("{what} {given}; at most {most} is allowed"))),
        None => {
            let len = given.as_bytes().len();
            Err(Refusal::Unsupported(format!("{what} {len} bytes; at most {most} is allowed")))
        }
    }
}

/// Returns an INTEGER as a number; `None` if it has more than 64 bits.
pub(in crate::tls) fn number(uint: UintRef<'_>) -> Option<u64> {
    let bytes = uint.as_bytes();
    (bytes.len() <= 8).then(|| bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}
