//! Changes the fields of a certificate and signs it again.

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use rcgen::{KeyPair, PublicKeyData, SigningKey};

/// The fields of the signed part that are SEQUENCEs, in their order.
const ALGORITHM: usize = 0;
const ISSUER: usize = 1;
const SUBJECT: usize = 3;
const PUBLIC_KEY: usize = 4;

const BIT_STRING: u8 = 3;
const OCTET_STRING: u8 = 4;
const OID: u8 = 6;
const SEQUENCE: u8 = 0x30;
const VERSION: u8 = 0xa0;
const EXTENSIONS: u8 = 0xa3;
/// The AlgorithmIdentifier of ecdsa-with-SHA256, the algorithm of rcgen's default keys.
const ECDSA_WITH_SHA256: &[u8] = b"\x30\x0a\x06\x08\x2a\x86\x48\xce\x3d\x04\x03\x02";
const SUBJECT_KEY_IDENTIFIER: &[u8] = b"\x55\x1d\x0e";

/// Returns the certificate in PEM as one of X.509 version 1, which has neither a version number nor extensions. `key`
/// signs it.
pub fn version_1(der: &[u8], key: &KeyPair) -> String {
    let kept = fields(der).filter(|field| ![VERSION, EXTENSIONS].contains(&field[0]));
    signed(&kept.collect::<Vec<_>>().concat(), key)
}

/// Returns the self-signed certificate in PEM with the public key of `key`, which also signs it. The other fields and
/// the extensions stay the same.
pub fn with_key(der: &[u8], key: &KeyPair) -> String {
    signed(&with_fields(der, &[(ALGORITHM, ECDSA_WITH_SHA256), (PUBLIC_KEY, &key.subject_public_key_info())]), key)
}

/// Returns the certificate in PEM with the subject of `issuer` as its issuer. `key` signs it.
pub fn with_issuer(der: &[u8], issuer: &[u8], key: &KeyPair) -> String {
    let subject = sequence(issuer, SUBJECT);
    signed(&with_fields(der, &[(ISSUER, subject)]), key)
}

/// Returns the content of the subjectKeyIdentifier.
pub fn subject_key_id(der: &[u8]) -> Option<&[u8]> {
    let extensions = fields(der).find(|field| field[0] == EXTENSIONS)?;
    let value = elements(content(content(extensions))).find_map(|extension| {
        let mut parts = elements(content(extension));
        let is_wanted = parts.next().is_some_and(|kind| kind[0] == OID && content(kind) == SUBJECT_KEY_IDENTIFIER);
        is_wanted.then(|| parts.find(|part| part[0] == OCTET_STRING)).flatten()
    })?;
    Some(content(content(value)))
}

/// Returns a certificate in PEM with these fields.
fn signed(fields: &[u8], key: &KeyPair) -> String {
    let signed = element(SEQUENCE, fields);
    let signature = [&[0], &*key.sign(&signed).expect("a signature")].concat();
    let whole = element(SEQUENCE, &[&*signed, ECDSA_WITH_SHA256, &element(BIT_STRING, &signature)].concat());
    let text = BASE64.encode(whole);
    let lines: Vec<&str> = text.as_bytes().chunks(64).map(|line| str::from_utf8(line).expect("ASCII")).collect();
    format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", lines.join("\n"))
}

/// Returns the signed part's fields, with some of its SEQUENCEs replaced.
fn with_fields(der: &[u8], replaced: &[(usize, &[u8])]) -> Vec<u8> {
    let mut sequences = 0..;
    let field = |field| match is_sequence(&field).then(|| sequences.next()).flatten() {
        Some(at) => replaced.iter().find(|(which, _)| *which == at).map_or(field, |(_, other)| *other),
        None => field,
    };
    fields(der).map(field).collect::<Vec<_>>().concat()
}

fn sequence(der: &[u8], which: usize) -> &[u8] {
    fields(der).filter(is_sequence).nth(which).expect("a field of the certificate")
}

fn is_sequence(field: &&[u8]) -> bool {
    field[0] == SEQUENCE
}

/// Returns the fields of the signed part of a certificate.
fn fields(der: &[u8]) -> impl Iterator<Item = &[u8]> {
    let signed = elements(content(der)).next().expect("a certificate");
    elements(content(signed))
}

/// Returns the consecutive DER elements.
fn elements(der: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut left = der;
    std::iter::from_fn(move || {
        if left.is_empty() {
            return None;
        }
        let (start, len) = header(left);
        let (element, rest) = left.split_at(start + len);
        left = rest;
        Some(element)
    })
}

fn content(element: &[u8]) -> &[u8] {
    &element[header(element).0..]
}

/// Returns the lengths of the header and of the content of the first DER element.
fn header(der: &[u8]) -> (usize, usize) {
    match der[1] {
        len @ ..=0x7f => (2, usize::from(len)),
        0x81 => (3, usize::from(der[2])),
        _ => (4, usize::from(der[2]) << 8 | usize::from(der[3])),
    }
}

pub fn element(tag: u8, content: &[u8]) -> Vec<u8> {
    let len = match content.len() {
        len @ 0..0x80 => vec![len as u8],
        len @ 0x80..0x100 => vec![0x81, len as u8],
        len => vec![0x82, (len >> 8) as u8, len as u8],
    };
    [&[tag], &*len, content].concat()
}
