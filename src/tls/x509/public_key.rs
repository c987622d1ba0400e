//! Public keys and signature algorithms, with OpenSSL's names.

use super::der::{Der, Element, Malformed, tag};
use super::oid::Oid;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hash {
    Md2,
    Md5,
    Sha1,
    Sha224,
    Sha256,
    Sha384,
    Sha512,
    /// A hash in RSASSA-PSS parameters that is not in this list.
    Other,
}

impl Hash {
    /// Returns true if collisions are feasible.
    pub(crate) fn is_broken(self) -> bool {
        matches!(self, Hash::Md2 | Hash::Md5 | Hash::Sha1)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SignatureAlgorithm<'a> {
    Rsa(Hash),
    RsaPss(Hash),
    Ecdsa(Hash),
    Dsa(Hash),
    Ed25519,
    Ed448,
    Other(Oid<'a>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Curve {
    P224,
    P256,
    P384,
    P521,
    Secp256k1,
    BrainpoolP256,
    BrainpoolP384,
    BrainpoolP512,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PublicKey<'a> {
    Rsa {
        bits: usize,
    },
    /// An RSA key restricted to RSASSA-PSS.
    RsaPss {
        bits: usize,
    },
    /// `None` for explicit parameters and unknown curves.
    Ec {
        curve: Option<Curve>,
    },
    Ed25519,
    Ed448,
    Dsa {
        bits: usize,
    },
    Other(Oid<'a>),
}

/// 1.2.840.113549.1.1: PKCS #1.
const PKCS1: [u8; 8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1];
/// 1.2.840.10045: ANSI X9.62.
const X9_62: [u8; 5] = [0x2a, 0x86, 0x48, 0xce, 0x3d];
/// 1.2.840.10040.4: DSA and its signature with SHA-1.
const X9_57: [u8; 6] = [0x2a, 0x86, 0x48, 0xce, 0x38, 4];
/// 2.16.840.1.101.3.4: NIST's algorithms: .2 hashes, .3 signatures.
const NIST: [u8; 8] = [0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2];
/// 1.3.132.0: SECG's curves.
const SECG: [u8; 4] = [0x2b, 0x81, 0x04, 0];
/// 1.3.36.3.3.2.8.1.1: Brainpool's curves.
const BRAINPOOL: [u8; 8] = [0x2b, 0x24, 3, 3, 2, 8, 1, 1];

impl<'a> SignatureAlgorithm<'a> {
    pub(super) fn read(fields: &mut Der<'a>, what: &'static str) -> Result<SignatureAlgorithm<'a>, Malformed> {
        let mut inside = fields.read(tag::SEQUENCE, what)?.inside();
        let kind = inside.read(tag::OID, what)?.content;
        use SignatureAlgorithm::{Dsa, Ecdsa, Ed448, Ed25519, Other, Rsa, RsaPss};
        let other = Other(Oid(kind));
        Ok(if let Some(kind) = kind.strip_prefix(&PKCS1) {
            match kind {
                [2] => Rsa(Hash::Md2),
                [4] => Rsa(Hash::Md5),
                [5] => Rsa(Hash::Sha1),
                [10] => RsaPss(pss_hash(inside)),
                [11] => Rsa(Hash::Sha256),
                [12] => Rsa(Hash::Sha384),
                [13] => Rsa(Hash::Sha512),
                [14] => Rsa(Hash::Sha224),
                _ => other,
            }
        } else if let Some(kind) = kind.strip_prefix(&X9_62) {
            match kind {
                [4, 1] => Ecdsa(Hash::Sha1),
                [4, 3, 1] => Ecdsa(Hash::Sha224),
                [4, 3, 2] => Ecdsa(Hash::Sha256),
                [4, 3, 3] => Ecdsa(Hash::Sha384),
                [4, 3, 4] => Ecdsa(Hash::Sha512),
                _ => other,
            }
        } else {
            match kind {
                [0x2b, 0x65, 112] => Ed25519,
                [0x2b, 0x65, 113] => Ed448,
                [0x2b, 14, 3, 2, 29] => Rsa(Hash::Sha1),
                [prefix @ .., 3] if prefix == X9_57 => Dsa(Hash::Sha1),
                [0x60, 0x86, 0x48, 1, 0x65, 3, 4, 3, 1] => Dsa(Hash::Sha224),
                [0x60, 0x86, 0x48, 1, 0x65, 3, 4, 3, 2] => Dsa(Hash::Sha256),
                _ => other,
            }
        })
    }

    /// Returns the hash; `None` if the algorithm implies no hash.
    pub(crate) fn hash(&self) -> Option<Hash> {
        match self {
            SignatureAlgorithm::Rsa(hash)
            | SignatureAlgorithm::RsaPss(hash)
            | SignatureAlgorithm::Ecdsa(hash)
            | SignatureAlgorithm::Dsa(hash) => Some(*hash),
            SignatureAlgorithm::Ed25519 | SignatureAlgorithm::Ed448 | SignatureAlgorithm::Other(_) => None,
        }
    }

    /// Returns the name that `openssl x509 -text` prints, or the dotted identifier.
    pub(crate) fn text(&self) -> String {
        use Hash::{Md2, Md5, Sha1, Sha224, Sha256, Sha384, Sha512};
        match self {
            SignatureAlgorithm::Rsa(hash) => match hash {
                Md2 => "md2WithRSAEncryption",
                Md5 => "md5WithRSAEncryption",
                Sha1 => "sha1WithRSAEncryption",
                Sha224 => "sha224WithRSAEncryption",
                Sha256 => "sha256WithRSAEncryption",
                Sha384 => "sha384WithRSAEncryption",
                Sha512 => "sha512WithRSAEncryption",
                Hash::Other => "rsaEncryption",
            },
            SignatureAlgorithm::RsaPss(_) => "rsassaPss",
            SignatureAlgorithm::Ecdsa(hash) => match hash {
                Sha224 => "ecdsa-with-SHA224",
                Sha256 => "ecdsa-with-SHA256",
                Sha384 => "ecdsa-with-SHA384",
                Sha512 => "ecdsa-with-SHA512",
                _ => "ecdsa-with-SHA1",
            },
            SignatureAlgorithm::Dsa(hash) => match hash {
                Sha224 => "dsa_with_SHA224",
                Sha256 => "dsa_with_SHA256",
                _ => "dsaWithSHA1",
            },
            SignatureAlgorithm::Ed25519 => "ED25519",
            SignatureAlgorithm::Ed448 => "ED448",
            SignatureAlgorithm::Other(kind) => return kind.to_string(),
        }
        .to_owned()
    }
}

/// Returns the hash in RSASSA-PSS parameters; the default is SHA-1.
fn pss_hash(mut parameters: Der<'_>) -> Hash {
    let Some(fields) = parameters.take(tag::SEQUENCE) else { return Hash::Sha1 };
    let Some(hash) = fields.inside().take(tag::explicit(0)) else { return Hash::Sha1 };
    let hash = hash.inside().take(tag::SEQUENCE).and_then(|hash| hash.inside().take(tag::OID));
    match hash.map(|hash| hash.content) {
        Some([0x2b, 14, 3, 2, 26]) => Hash::Sha1,
        Some([prefix @ .., 1]) if *prefix == NIST => Hash::Sha256,
        Some([prefix @ .., 2]) if *prefix == NIST => Hash::Sha384,
        Some([prefix @ .., 3]) if *prefix == NIST => Hash::Sha512,
        Some([prefix @ .., 4]) if *prefix == NIST => Hash::Sha224,
        _ => Hash::Other,
    }
}

impl<'a> PublicKey<'a> {
    /// Parses `der`, which must be one SubjectPublicKeyInfo.
    pub(crate) fn parse(der: &'a [u8]) -> Result<PublicKey<'a>, Malformed> {
        PublicKey::read(&Der::new(der).read(tag::SEQUENCE, "the public key")?)
    }

    pub(super) fn read(info: &Element<'a>) -> Result<PublicKey<'a>, Malformed> {
        const WHAT: &str = "the public key";
        let mut fields = info.inside();
        let mut algorithm = fields.read(tag::SEQUENCE, WHAT)?.inside();
        let kind = algorithm.read(tag::OID, WHAT)?.content;
        let key = fields.read(tag::BIT_STRING, WHAT)?;
        let mut key = key.bits().ok_or_else(|| key.malformed(WHAT))?;
        fields.end(WHAT)?;
        let mut modulus = || key.read(tag::SEQUENCE, WHAT)?.inside().read(tag::INTEGER, WHAT).map(|n| bits(&n));
        Ok(match kind {
            [prefix @ .., 1] if *prefix == PKCS1 => PublicKey::Rsa { bits: modulus()? },
            [prefix @ .., 10] if *prefix == PKCS1 => PublicKey::RsaPss { bits: modulus()? },
            [prefix @ .., 2, 1] if *prefix == X9_62 => {
                PublicKey::Ec { curve: algorithm.take(tag::OID).and_then(|curve| Curve::of(curve.content)) }
            }
            [prefix @ .., 1] if *prefix == X9_57 => {
                let prime = algorithm.take(tag::SEQUENCE).and_then(|domain| domain.inside().take(tag::INTEGER));
                PublicKey::Dsa { bits: prime.map_or(0, |prime| bits(&prime)) }
            }
            [0x2b, 0x65, 112] => PublicKey::Ed25519,
            [0x2b, 0x65, 113] => PublicKey::Ed448,
            kind => PublicKey::Other(Oid(kind)),
        })
    }

    /// Returns the name of OpenSSL's EVP_PKEY_get0_type_name, such as "RSA" or "EC", or the dotted identifier.
    pub(crate) fn algorithm(&self) -> String {
        match self {
            PublicKey::Rsa { .. } => "RSA",
            PublicKey::RsaPss { .. } => "RSA-PSS",
            PublicKey::Ec { .. } => "EC",
            PublicKey::Ed25519 => "ED25519",
            PublicKey::Ed448 => "ED448",
            PublicKey::Dsa { .. } => "DSA",
            PublicKey::Other(kind) => return kind.to_string(),
        }
        .to_owned()
    }

    /// Returns the size of the key in bits; 0 if unknown.
    pub(crate) fn bits(&self) -> usize {
        match self {
            PublicKey::Rsa { bits } | PublicKey::RsaPss { bits } | PublicKey::Dsa { bits } => *bits,
            PublicKey::Ec { curve } => curve.map_or(0, Curve::bits),
            PublicKey::Ed25519 => 256,
            PublicKey::Ed448 => 456,
            PublicKey::Other(_) => 0,
        }
    }

    pub(crate) fn curve(&self) -> Option<Curve> {
        match self {
            PublicKey::Ec { curve } => *curve,
            _ => None,
        }
    }
}

impl Curve {
    fn of(kind: &[u8]) -> Option<Curve> {
        Some(match kind {
            [prefix @ .., 3, 1, 7] if *prefix == X9_62 => Curve::P256,
            [prefix @ .., 10] if *prefix == SECG => Curve::Secp256k1,
            [prefix @ .., 33] if *prefix == SECG => Curve::P224,
            [prefix @ .., 34] if *prefix == SECG => Curve::P384,
            [prefix @ .., 35] if *prefix == SECG => Curve::P521,
            [prefix @ .., 7] if *prefix == BRAINPOOL => Curve::BrainpoolP256,
            [prefix @ .., 11] if *prefix == BRAINPOOL => Curve::BrainpoolP384,
            [prefix @ .., 13] if *prefix == BRAINPOOL => Curve::BrainpoolP512,
            _ => return None,
        })
    }

    pub(crate) fn bits(self) -> usize {
        match self {
            Curve::P224 => 224,
            Curve::P256 | Curve::Secp256k1 | Curve::BrainpoolP256 => 256,
            Curve::P384 | Curve::BrainpoolP384 => 384,
            Curve::P521 => 521,
            Curve::BrainpoolP512 => 512,
        }
    }

    /// Returns the name in IANA's registry of TLS groups.
    pub(crate) fn name(self) -> &'static std::ffi::CStr {
        match self {
            Curve::P224 => c"secp224r1",
            Curve::P256 => c"secp256r1",
            Curve::P384 => c"secp384r1",
            Curve::P521 => c"secp521r1",
            Curve::Secp256k1 => c"secp256k1",
            Curve::BrainpoolP256 => c"brainpoolP256r1",
            Curve::BrainpoolP384 => c"brainpoolP384r1",
            Curve::BrainpoolP512 => c"brainpoolP512r1",
        }
    }
}

/// Returns the number of significant bits.
fn bits(number: &Element<'_>) -> usize {
    let magnitude = number.magnitude();
    magnitude.first().map_or(0, |first| magnitude.len() * 8 - first.leading_zeros() as usize)
}
