//! Reads the types of public keys and signatures from certificates, and names them as OpenSSL does.

use super::der::{Der, Element, Malformed, tag};
use super::oid::{self, Oid};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hash {
    Md2,
    Md5,
    Sha1,
    Sha224,
    Sha256,
    Sha384,
    Sha512,
    /// Any other hash in RSASSA-PSS parameters.
    Other,
}

impl Hash {
    /// Returns true if an attacker can find two inputs with the same digest.
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
    /// An RSA key that is restricted to RSASSA-PSS signatures.
    RsaPss {
        bits: usize,
    },
    /// `None` if the parameters name no curve or an unknown curve.
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

impl<'a> SignatureAlgorithm<'a> {
    pub(super) fn read(fields: &mut Der<'a>, what: &'static str) -> Result<SignatureAlgorithm<'a>, Malformed> {
        let mut inside = fields.read(tag::SEQUENCE, what)?.inside();
        let kind = inside.read(tag::OID, what)?.content;
        use SignatureAlgorithm::{Dsa, Ecdsa, Ed448, Ed25519, Other, Rsa, RsaPss};
        Ok(match kind {
            oid::MD2_WITH_RSA => Rsa(Hash::Md2),
            oid::MD5_WITH_RSA => Rsa(Hash::Md5),
            oid::SHA1_WITH_RSA | oid::SHA1_WITH_RSA_OIW => Rsa(Hash::Sha1),
            oid::SHA224_WITH_RSA => Rsa(Hash::Sha224),
            oid::SHA256_WITH_RSA => Rsa(Hash::Sha256),
            oid::SHA384_WITH_RSA => Rsa(Hash::Sha384),
            oid::SHA512_WITH_RSA => Rsa(Hash::Sha512),
            oid::RSA_PSS => RsaPss(pss_hash(inside)),
            oid::ECDSA_WITH_SHA1 => Ecdsa(Hash::Sha1),
            oid::ECDSA_WITH_SHA224 => Ecdsa(Hash::Sha224),
            oid::ECDSA_WITH_SHA256 => Ecdsa(Hash::Sha256),
            oid::ECDSA_WITH_SHA384 => Ecdsa(Hash::Sha384),
            oid::ECDSA_WITH_SHA512 => Ecdsa(Hash::Sha512),
            oid::DSA_WITH_SHA1 => Dsa(Hash::Sha1),
            oid::DSA_WITH_SHA224 => Dsa(Hash::Sha224),
            oid::DSA_WITH_SHA256 => Dsa(Hash::Sha256),
            oid::ED25519 => Ed25519,
            oid::ED448 => Ed448,
            kind => Other(Oid(kind)),
        })
    }

    /// Returns the hash that the signature algorithm uses; `None` for Ed25519, Ed448 and unknown algorithms.
    pub(crate) fn hash(&self) -> Option<Hash> {
        match self {
            SignatureAlgorithm::Rsa(hash)
            | SignatureAlgorithm::RsaPss(hash)
            | SignatureAlgorithm::Ecdsa(hash)
            | SignatureAlgorithm::Dsa(hash) => Some(*hash),
            SignatureAlgorithm::Ed25519 | SignatureAlgorithm::Ed448 | SignatureAlgorithm::Other(_) => None,
        }
    }

    /// Returns the name of the algorithm as `openssl x509 -text` prints it, or the dotted object identifier.
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

/// Returns the hash in RSASSA-PSS parameters. Parameters without a hash mean SHA-1.
fn pss_hash(mut parameters: Der<'_>) -> Hash {
    let Some(fields) = parameters.take(tag::SEQUENCE) else { return Hash::Sha1 };
    let Some(hash) = fields.inside().take(tag::explicit(0)) else { return Hash::Sha1 };
    let hash = hash.inside().take(tag::SEQUENCE).and_then(|hash| hash.inside().take(tag::OID));
    match hash.map(|hash| hash.content) {
        Some(oid::SHA1) => Hash::Sha1,
        Some(oid::SHA224) => Hash::Sha224,
        Some(oid::SHA256) => Hash::Sha256,
        Some(oid::SHA384) => Hash::Sha384,
        Some(oid::SHA512) => Hash::Sha512,
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
            oid::RSA => PublicKey::Rsa { bits: modulus()? },
            oid::RSA_PSS => PublicKey::RsaPss { bits: modulus()? },
            oid::EC => PublicKey::Ec { curve: algorithm.take(tag::OID).and_then(|curve| Curve::of(curve.content)) },
            oid::DSA => {
                let prime = algorithm.take(tag::SEQUENCE).and_then(|domain| domain.inside().take(tag::INTEGER));
                PublicKey::Dsa { bits: prime.map_or(0, |prime| bits(&prime)) }
            }
            oid::ED25519 => PublicKey::Ed25519,
            oid::ED448 => PublicKey::Ed448,
            kind => PublicKey::Other(Oid(kind)),
        })
    }

    /// Returns the key type as OpenSSL's EVP_PKEY_get0_type_name does, such as "RSA" or "EC", or the dotted object
    /// identifier.
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
            oid::SECP256R1 => Curve::P256,
            oid::SECP256K1 => Curve::Secp256k1,
            oid::SECP224R1 => Curve::P224,
            oid::SECP384R1 => Curve::P384,
            oid::SECP521R1 => Curve::P521,
            oid::BRAINPOOL_P256R1 => Curve::BrainpoolP256,
            oid::BRAINPOOL_P384R1 => Curve::BrainpoolP384,
            oid::BRAINPOOL_P512R1 => Curve::BrainpoolP512,
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

    /// Returns the name of the curve in IANA's registry of TLS groups.
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

/// Returns the number of bits of an INTEGER, without leading zeros.
fn bits(number: &Element<'_>) -> usize {
    let magnitude = number.magnitude();
    magnitude.first().map_or(0, |first| magnitude.len() * 8 - first.leading_zeros() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pkcs5::der::asn1::ObjectIdentifier;

    fn sequence(parts: &[&[u8]]) -> Vec<u8> {
        let content = parts.concat();
        [&[tag::SEQUENCE, content.len() as u8][..], &content].concat()
    }

    fn oid_der(dotted: &str) -> Vec<u8> {
        let oid = ObjectIdentifier::new_unwrap(dotted);
        [&[tag::OID, oid.as_bytes().len() as u8][..], oid.as_bytes()].concat()
    }

    /// The expected names are those that the openssl command prints, except that openssl prints sha1WithRSA for
    /// 1.3.14.3.2.29.
    #[test]
    fn signature_algorithms_have_openssls_names() {
        for (dotted, name, hash) in [
            ("1.2.840.113549.1.1.2", "md2WithRSAEncryption", Some(Hash::Md2)),
            ("1.2.840.113549.1.1.4", "md5WithRSAEncryption", Some(Hash::Md5)),
            ("1.2.840.113549.1.1.5", "sha1WithRSAEncryption", Some(Hash::Sha1)),
            ("1.3.14.3.2.29", "sha1WithRSAEncryption", Some(Hash::Sha1)),
            ("1.2.840.113549.1.1.14", "sha224WithRSAEncryption", Some(Hash::Sha224)),
            ("1.2.840.113549.1.1.11", "sha256WithRSAEncryption", Some(Hash::Sha256)),
            ("1.2.840.113549.1.1.12", "sha384WithRSAEncryption", Some(Hash::Sha384)),
            ("1.2.840.113549.1.1.13", "sha512WithRSAEncryption", Some(Hash::Sha512)),
            ("1.2.840.113549.1.1.10", "rsassaPss", Some(Hash::Sha1)),
            ("1.2.840.10045.4.1", "ecdsa-with-SHA1", Some(Hash::Sha1)),
            ("1.2.840.10045.4.3.1", "ecdsa-with-SHA224", Some(Hash::Sha224)),
            ("1.2.840.10045.4.3.2", "ecdsa-with-SHA256", Some(Hash::Sha256)),
            ("1.2.840.10045.4.3.3", "ecdsa-with-SHA384", Some(Hash::Sha384)),
            ("1.2.840.10045.4.3.4", "ecdsa-with-SHA512", Some(Hash::Sha512)),
            ("1.2.840.10040.4.3", "dsaWithSHA1", Some(Hash::Sha1)),
            ("2.16.840.1.101.3.4.3.1", "dsa_with_SHA224", Some(Hash::Sha224)),
            ("2.16.840.1.101.3.4.3.2", "dsa_with_SHA256", Some(Hash::Sha256)),
            ("1.3.101.112", "ED25519", None),
            ("1.3.101.113", "ED448", None),
            ("1.2.840.113549.1.1.1", "1.2.840.113549.1.1.1", None),
            ("2.16.840.1.101.3.4.3.3", "2.16.840.1.101.3.4.3.3", None),
        ] {
            let der = sequence(&[&oid_der(dotted)]);
            let algorithm = SignatureAlgorithm::read(&mut Der::new(&der), "").unwrap();
            assert_eq!((algorithm.text(), algorithm.hash()), (name.to_owned(), hash), "{dotted}");
        }
    }

    #[test]
    fn rsassa_pss_parameters_name_the_hash() {
        for (dotted, hash) in [
            ("1.3.14.3.2.26", Hash::Sha1),
            ("2.16.840.1.101.3.4.2.4", Hash::Sha224),
            ("2.16.840.1.101.3.4.2.1", Hash::Sha256),
            ("2.16.840.1.101.3.4.2.2", Hash::Sha384),
            ("2.16.840.1.101.3.4.2.3", Hash::Sha512),
            ("2.16.840.1.101.3.4.2.8", Hash::Other),
        ] {
            let algorithm = sequence(&[&oid_der(dotted)]);
            let field = [&[tag::explicit(0), algorithm.len() as u8][..], &algorithm].concat();
            assert_eq!(pss_hash(Der::new(&sequence(&[&field]))), hash, "{dotted}");
        }
    }

    #[test]
    fn elliptic_curves_have_the_names_of_tls_groups() {
        for (dotted, name, bits) in [
            ("1.3.132.0.33", Some(c"secp224r1"), 224),
            ("1.2.840.10045.3.1.7", Some(c"secp256r1"), 256),
            ("1.3.132.0.34", Some(c"secp384r1"), 384),
            ("1.3.132.0.35", Some(c"secp521r1"), 521),
            ("1.3.132.0.10", Some(c"secp256k1"), 256),
            ("1.3.36.3.3.2.8.1.1.7", Some(c"brainpoolP256r1"), 256),
            ("1.3.36.3.3.2.8.1.1.11", Some(c"brainpoolP384r1"), 384),
            ("1.3.36.3.3.2.8.1.1.13", Some(c"brainpoolP512r1"), 512),
            ("1.3.132.0.36", None, 0),
        ] {
            let algorithm = sequence(&[&oid_der("1.2.840.10045.2.1"), &oid_der(dotted)]);
            let info = sequence(&[&algorithm, &[tag::BIT_STRING, 2, 0, 4]]);
            let key = PublicKey::parse(&info).unwrap();
            assert_eq!((key.curve().map(Curve::name), key.bits()), (name, bits), "{dotted}");
        }
    }
}
