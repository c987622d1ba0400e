//! Encrypted PKCS#8: "BEGIN ENCRYPTED PRIVATE KEY" and its DER.

use pkcs5::der::{Tag, Tagged};

use super::scheme::{Effort, Scheme};
use super::shape::{Shape, fields};
use super::{Opened, Secret, Spelling, pbes2};

/// Two elements, an algorithm and bytes; a certificate has three.
pub(crate) fn is_encrypted(der: &[u8]) -> bool {
    fields(der).is_some_and(|fields| {
        matches!(&*fields, [algorithm, bytes] if algorithm.tag() == Tag::Sequence && bytes.tag() == Tag::OctetString)
    })
}

/// The key in `der`, which [`is_encrypted`]. Without spellings a password is required.
pub(crate) fn decrypt(der: &[u8], spellings: Option<&[Spelling]>, effort: &mut Effort) -> Opened<Secret> {
    let fields = fields(der).unwrap_or_default();
    let [algorithm, ciphertext] = &*fields else { return Err(pbes2::broken("it")) };
    let is_key = |plaintext: &[u8]| Shape::of(plaintext).is_some();
    Scheme::of(*algorithm)?.open(ciphertext.value(), spellings, effort, is_key)
}
