//! Generates a chain to each public root certificate: those of Mozilla's root programme in the crate webpki-root-certs,
//! and those of the machine. The private keys of the roots are unknown, so each root gets another key; everything else
//! in its certificate stays the same.

use std::fs;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use rcgen::{CertificateParams, CustomExtension, KeyPair};

use super::resign::{element, subject_key_id, with_issuer, with_key};

/// The package ca-certificates of Debian and of other distributions installs this file.
const MACHINE_ROOTS: &str = "/etc/ssl/certs/ca-certificates.crt";
const AUTHORITY_KEY_IDENTIFIER: &[u64] = &[2, 5, 29, 35];
const KEY_IDENTIFIER: u8 = 0x80;
const SEQUENCE: u8 = 0x30;

/// A public root with another key, and a leaf that this key has signed.
pub struct Chain {
    /// True if the root is in the crate webpki-root-certs, false if only the machine has it.
    pub is_mozillas: bool,
    pub root: String,
    pub leaf: String,
}

/// Returns a chain for each public root. `leaf` has the parameters of a valid leaf.
pub fn chains(leaf: &CertificateParams) -> Vec<Chain> {
    let key = KeyPair::generate().expect("a key");
    let mozillas = webpki_root_certs::TLS_SERVER_ROOT_CERTS;
    let machines = machine_roots().into_iter().filter(|root| !mozillas.iter().any(|der| der.as_ref() == root));
    let roots = mozillas.iter().map(|root| (true, root.to_vec())).chain(machines.map(|root| (false, root)));
    let chain = |(is_mozillas, root): (bool, Vec<u8>)| Chain {
        is_mozillas,
        root: with_key(&root, &key),
        leaf: issued_by(&root, leaf, &key),
    };
    roots.map(chain).collect()
}

/// Returns a leaf whose issuer is `root`, signed with `key`. In strict mode, the leaf needs an authorityKeyIdentifier,
/// which must be the root's subjectKeyIdentifier.
fn issued_by(root: &[u8], leaf: &CertificateParams, key: &KeyPair) -> String {
    let key_id = subject_key_id(root).unwrap_or(b"none").to_vec();
    let identifier = element(SEQUENCE, &element(KEY_IDENTIFIER, &key_id));
    let mut leaf = leaf.clone();
    leaf.use_authority_key_identifier_extension = false;
    leaf.custom_extensions.push(CustomExtension::from_oid_content(AUTHORITY_KEY_IDENTIFIER, identifier));
    let own = KeyPair::generate().expect("a key");
    with_issuer(leaf.self_signed(&own).expect("a certificate").der(), root, key)
}

/// Returns the root certificates of the machine, or none if the package is not installed.
fn machine_roots() -> Vec<Vec<u8>> {
    let text = fs::read_to_string(MACHINE_ROOTS).unwrap_or_default();
    let blocks = text.split("-----BEGIN CERTIFICATE-----").skip(1);
    let base64 = blocks.map(|block| block.split("-----END").next().unwrap_or_default().replace('\n', ""));
    base64.map(|base64| BASE64.decode(base64).expect("base64")).collect()
}
