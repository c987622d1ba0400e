//! Decrypts private keys in encrypted PKCS#8 (EncryptedPrivateKeyInfo), whose label in PEM is "ENCRYPTED PRIVATE KEY".

use pkcs5::der::{Tag, Tagged};

use super::password::PasswordEncoding;
use super::pbes2;
use super::scheme::{Scheme, WorkBudget};
use super::secret::{Opened, Secret};
use super::shape::{Shape, fields};

/// Returns true if `der` is an EncryptedPrivateKeyInfo: a SEQUENCE of an algorithm and an OCTET STRING. A certificate
/// is a SEQUENCE of three elements instead.
pub(crate) fn is_encrypted(der: &[u8]) -> bool {
    fields(der).is_some_and(|fields| {
        matches!(&*fields, [algorithm, bytes] if algorithm.tag() == Tag::Sequence && bytes.tag() == Tag::OctetString)
    })
}

/// Decrypts a key for which [`is_encrypted`] is true. If `encodings` is `None`, the error is that a password is
/// required.
pub(crate) fn decrypt(der: &[u8], encodings: Option<&[PasswordEncoding]>, budget: &mut WorkBudget) -> Opened<Secret> {
    let fields = fields(der).unwrap_or_default();
    let [algorithm, ciphertext] = &*fields else { return Err(pbes2::broken("it")) };
    let is_key = |plaintext: &[u8]| Shape::of(plaintext).is_some();
    Scheme::of(*algorithm)?.open(ciphertext.value(), encodings, budget, is_key)
}

/// Returns true if a DER element is a private key and not a certificate. An unencrypted key begins with a version. A
/// certificate begins with a SEQUENCE that itself begins with a version or a serial number.
pub(crate) fn is_private_key(der: &[u8]) -> bool {
    Shape::of(der).is_some() || is_encrypted(der)
}
