//! The words that select several cipher suites in OpenSSL 3.0's cipher strings, such as "HIGH" and "AESGCM".

/// A set of TLS 1.2 suites: bit `n` stands for entry `n` of the table `TLS12`. The two bits above the suites' bits
/// stand for the strength classes HIGH and FIPS. A set without a class bit selects no suite.
pub(crate) type Set = u8;

const CLASSES: Set = 0b1100_0000;
/// OpenSSL treats FIPS and HIGH as separate strength classes, so "HIGH+FIPS" selects no suite.
const HIGH_ONLY: Set = !0b1000_0000;
const FIPS_ONLY: Set = !0b0100_0000;

const ECDSA: Set = CLASSES | 0b01_01_01;
const RSA: Set = CLASSES | 0b10_10_10;
const AES256: Set = CLASSES | 0b00_00_11;
const CHACHA20: Set = CLASSES | 0b00_11_00;
const AES128: Set = CLASSES | 0b11_00_00;
const AES: Set = AES128 | AES256;
pub(crate) const ALL: Set = ECDSA | RSA;
/// The set of a known word that matches no supported suite.
const NONE: Set = 0;

/// The words of cipher strings, each with the set of suites that the word selects. All supported suites use ECDHE and
/// an AEAD, so a word for another key exchange or for a MAC (such as "SHA256") selects no suite.
const ALIASES: &[(&str, Set)] = &[
    ("ALL", ALL),
    ("HIGH", ALL & HIGH_ONLY),
    ("TLSv1.2", ALL),
    ("ECDH", ALL),
    ("ECDHE", ALL),
    ("EECDH", ALL),
    ("kECDHE", ALL),
    ("kEECDH", ALL),
    ("aRSA", RSA),
    ("aECDSA", ECDSA),
    ("ECDSA", ECDSA),
    ("AES", AES),
    ("AESGCM", AES),
    ("AES128", AES128),
    ("AES256", AES256),
    ("CHACHA20", CHACHA20),
    ("FIPS", AES & FIPS_ONLY),
    // Words for complements, strength classes and protocol versions.
    ("COMPLEMENTOFALL", NONE),
    ("COMPLEMENTOFDEFAULT", NONE),
    ("MEDIUM", NONE),
    ("LOW", NONE),
    ("EXPORT", NONE),
    ("EXP", NONE),
    ("EXPORT40", NONE),
    ("EXPORT56", NONE),
    ("SSLv2", NONE),
    ("SSLv3", NONE),
    ("TLSv1", NONE),
    ("TLSv1.0", NONE),
    // Words for key exchanges other than ECDHE.
    ("kRSA", NONE),
    ("kEDH", NONE),
    ("kDHE", NONE),
    ("DH", NONE),
    ("kDHr", NONE),
    ("kDHd", NONE),
    ("kDH", NONE),
    ("kECDHr", NONE),
    ("kECDHe", NONE),
    ("kECDH", NONE),
    ("kPSK", NONE),
    ("kRSAPSK", NONE),
    ("kECDHEPSK", NONE),
    ("kDHEPSK", NONE),
    ("kSRP", NONE),
    ("kGOST", NONE),
    ("kGOST18", NONE),
    ("kKRB5", NONE),
    // Words for authentication methods other than RSA and ECDSA.
    ("aDSS", NONE),
    ("DSS", NONE),
    ("aDH", NONE),
    ("aECDH", NONE),
    ("aNULL", NONE),
    ("aPSK", NONE),
    ("aSRP", NONE),
    ("aGOST", NONE),
    ("aGOST01", NONE),
    ("aGOST12", NONE),
    ("aKRB5", NONE),
    // Words for a key exchange combined with an authentication.
    ("RSA", NONE),
    ("EDH", NONE),
    ("DHE", NONE),
    ("ADH", NONE),
    ("AECDH", NONE),
    ("PSK", NONE),
    ("SRP", NONE),
    ("KRB5", NONE),
    // Words for ciphers other than AES-GCM and ChaCha20-Poly1305.
    ("NULL", NONE),
    ("eNULL", NONE),
    ("DES", NONE),
    ("3DES", NONE),
    ("RC4", NONE),
    ("RC2", NONE),
    ("IDEA", NONE),
    ("SEED", NONE),
    ("AESCCM", NONE),
    ("AESCCM8", NONE),
    ("CAMELLIA", NONE),
    ("CAMELLIA128", NONE),
    ("CAMELLIA256", NONE),
    ("ARIA", NONE),
    ("ARIAGCM", NONE),
    ("ARIA128", NONE),
    ("ARIA256", NONE),
    ("GOST89", NONE),
    ("CBC", NONE),
    // Words for MACs.
    ("MD5", NONE),
    ("SHA", NONE),
    ("SHA1", NONE),
    ("SHA256", NONE),
    ("SHA384", NONE),
    ("GOST94", NONE),
    ("GOST89MAC", NONE),
    ("GOST12", NONE),
];

/// Returns the set of suites that a word selects; `None` for an unknown word.
pub(crate) fn alias(word: &[u8]) -> Option<Set> {
    ALIASES.iter().find(|(name, _)| name.as_bytes() == word).map(|(_, set)| *set)
}

/// Returns the set that contains only the suite at `index` of the table.
pub(crate) fn one(index: usize) -> Set {
    CLASSES | 1 << index
}

pub(crate) fn has(set: Set, index: usize) -> bool {
    set & CLASSES != 0 && set & (1 << index) != 0
}
