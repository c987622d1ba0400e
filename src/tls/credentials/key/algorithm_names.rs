//! Names algorithms by their object identifiers, for error messages about unsupported algorithms.

use pkcs5::der::asn1::ObjectIdentifier;

pub(crate) mod oid {
    use pkcs5::der::asn1::ObjectIdentifier;

    const fn oid(text: &str) -> ObjectIdentifier {
        ObjectIdentifier::new_unwrap(text)
    }

    pub(in super::super) const RSA: ObjectIdentifier = oid("1.2.840.113549.1.1.1");
    pub(in super::super) const EC: ObjectIdentifier = oid("1.2.840.10045.2.1");
    pub(in super::super) const ED25519: ObjectIdentifier = oid("1.3.101.112");
    pub(in super::super) const P256: ObjectIdentifier = oid("1.2.840.10045.3.1.7");
    pub(in super::super) const P384: ObjectIdentifier = oid("1.3.132.0.34");
    pub(in super::super) const P521: ObjectIdentifier = oid("1.3.132.0.35");
}

const NAMES: [(&str, &str); 46] = [
    // Password-based encryption schemes.
    ("1.2.840.113549.1.5.1", "pbeWithMD2AndDES-CBC"),
    ("1.2.840.113549.1.5.3", "pbeWithMD5AndDES-CBC"),
    ("1.2.840.113549.1.5.4", "pbeWithMD2AndRC2-CBC"),
    ("1.2.840.113549.1.5.6", "pbeWithMD5AndRC2-CBC"),
    ("1.2.840.113549.1.5.10", "pbeWithSHA1AndDES-CBC"),
    ("1.2.840.113549.1.5.11", "pbeWithSHA1AndRC2-CBC"),
    ("1.2.840.113549.1.12.1.1", "pbeWithSHA1And128BitRC4"),
    ("1.2.840.113549.1.12.1.2", "pbeWithSHA1And40BitRC4"),
    ("1.2.840.113549.1.12.1.3", "pbeWithSHA1And3-KeyTripleDES-CBC"),
    ("1.2.840.113549.1.12.1.4", "pbeWithSHA1And2-KeyTripleDES-CBC"),
    ("1.2.840.113549.1.12.1.5", "pbeWithSHA1And128BitRC2-CBC"),
    ("1.2.840.113549.1.12.1.6", "pbeWithSHA1And40BitRC2-CBC"),
    // Ciphers and key derivation functions.
    ("1.3.14.3.2.7", "DES-CBC"),
    ("1.2.840.113549.3.2", "RC2-CBC"),
    ("1.2.840.113549.3.9", "RC5-CBC"),
    ("1.3.6.1.4.1.3029.1.2", "BF-CBC"),
    ("1.2.840.113533.7.66.10", "CAST5-CBC"),
    ("1.2.410.200004.1.4", "SEED-CBC"),
    ("1.2.392.200011.61.1.1.1.2", "CAMELLIA-128-CBC"),
    ("1.2.392.200011.61.1.1.1.3", "CAMELLIA-192-CBC"),
    ("1.2.392.200011.61.1.1.1.4", "CAMELLIA-256-CBC"),
    ("1.2.410.200046.1.1.2", "ARIA-128-CBC"),
    ("1.2.410.200046.1.1.7", "ARIA-192-CBC"),
    ("1.2.410.200046.1.1.12", "ARIA-256-CBC"),
    ("2.16.840.1.101.3.4.1.6", "AES-128-GCM"),
    ("2.16.840.1.101.3.4.1.46", "AES-256-GCM"),
    ("1.2.840.113549.2.5", "MD5"),
    ("2.16.840.1.101.3.4.2.5", "SHA-512/224"),
    ("2.16.840.1.101.3.4.2.6", "SHA-512/256"),
    ("2.16.840.1.101.3.4.2.7", "SHA3-224"),
    ("2.16.840.1.101.3.4.2.8", "SHA3-256"),
    ("2.16.840.1.101.3.4.2.9", "SHA3-384"),
    ("2.16.840.1.101.3.4.2.10", "SHA3-512"),
    ("1.2.643.7.1.1.2.2", "Streebog-256"),
    ("1.2.840.113549.2.6", "HMAC-MD5"),
    ("1.2.840.113549.2.12", "HMAC-SHA512-224"),
    ("1.2.840.113549.2.13", "HMAC-SHA512-256"),
    // Key types and elliptic curves.
    ("1.2.840.10040.4.1", "DSA"),
    ("1.2.840.113549.1.1.10", "RSA-PSS"),
    ("1.3.101.110", "X25519"),
    ("1.3.101.111", "X448"),
    ("1.3.101.113", "Ed448"),
    ("1.3.132.0.10", "secp256k1"),
    ("1.3.132.0.33", "P-224"),
    ("1.3.36.3.3.2.8.1.1.7", "brainpoolP256r1"),
    ("1.2.156.10197.1.301", "SM2"),
];

/// Returns the name of an algorithm and its object identifier; only the identifier if the name is not known.
pub(in crate::tls) fn shown_oid(oid: ObjectIdentifier) -> String {
    let number = oid.to_string();
    match NAMES.iter().find(|(known, _)| *known == number) {
        Some((_, name)) => format!("{name} ({number})"),
        None => number,
    }
}
