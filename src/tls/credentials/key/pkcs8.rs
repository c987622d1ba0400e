//! Encrypted PKCS#8: "BEGIN ENCRYPTED PRIVATE KEY" and its DER.

use pkcs5::der::{Tag, Tagged};

use super::password::PasswordEncoding;
use super::pbes2;
use super::scheme::{Scheme, WorkBudget};
use super::secret::{Opened, Secret};
use super::shape::{Shape, fields};

/// Returns true for an EncryptedPrivateKeyInfo: two elements, an algorithm and bytes. A certificate has three.
pub(crate) fn is_encrypted(der: &[u8]) -> bool {
    fields(der).is_some_and(|fields| {
        matches!(&*fields, [algorithm, bytes] if algorithm.tag() == Tag::Sequence && bytes.tag() == Tag::OctetString)
    })
}

/// Decrypts a key for which [`is_encrypted`] is true. Without `encodings`, the error says that a password is required.
pub(crate) fn decrypt(der: &[u8], encodings: Option<&[PasswordEncoding]>, budget: &mut WorkBudget) -> Opened<Secret> {
    let fields = fields(der).unwrap_or_default();
    let [algorithm, ciphertext] = &*fields else { return Err(pbes2::broken("it")) };
    let is_key = |plaintext: &[u8]| Shape::of(plaintext).is_some();
    Scheme::of(*algorithm)?.open(ciphertext.value(), encodings, budget, is_key)
}

/// Returns true if a DER element is a private key rather than a certificate: a key begins with a version, a certificate
/// with a SEQUENCE that begins with a version or a serial number.
pub(crate) fn is_private_key(der: &[u8]) -> bool {
    Shape::of(der).is_some() || is_encrypted(der)
}
