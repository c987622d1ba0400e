//! Detects the format of a private key in DER, and keys of a type that the provider does not support.

use std::ops::RangeInclusive;

use pkcs5::AlgorithmIdentifierRef;
use pkcs5::der::asn1::{AnyRef, ObjectIdentifier, UintRef};
use pkcs5::der::{Decode, Reader, SliceReader, Tag, TagNumber, Tagged};
use rustls_pki_types::PrivateKeyDer;

use super::algorithm_names::{oid, shown_oid};

const RSA_BITS: RangeInclusive<usize> = 2048..=8192;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Pkcs8,
    Pkcs1,
    Sec1,
}

impl Shape {
    /// Returns the format of a key; `None` if `der` is anything other than one unencrypted key.
    pub(crate) fn of(der: &[u8]) -> Option<Shape> {
        let fields = fields(der)?;
        let (version, rest) = fields.split_first()?;
        let tags: Vec<Tag> = rest.iter().map(Tagged::tag).collect();
        match (version.tag(), version.value(), &*tags) {
            (Tag::Integer, [0 | 1], [Tag::Sequence, Tag::OctetString, ..]) => {
                algorithm(rest.first()?).is_some().then_some(Shape::Pkcs8)
            }
            (Tag::Integer, [0], tags) if tags == [Tag::Integer; 8] => Some(Shape::Pkcs1),
            (Tag::Integer, [1], [Tag::OctetString, ..]) => Some(Shape::Sec1),
            _ => None,
        }
    }

    pub(crate) fn typed(self, der: Vec<u8>) -> PrivateKeyDer<'static> {
        match self {
            Shape::Pkcs8 => PrivateKeyDer::Pkcs8(der.into()),
            Shape::Pkcs1 => PrivateKeyDer::Pkcs1(der.into()),
            Shape::Sec1 => PrivateKeyDer::Sec1(der.into()),
        }
    }

    /// Returns a description of an unsupported key for an error message: the type of the key, and the supported types.
    /// `None` if the key is supported or malformed.
    pub(crate) fn unusable(self, der: &[u8]) -> Option<String> {
        let fields = fields(der)?;
        match self {
            Shape::Pkcs1 => unusable_rsa(&fields),
            Shape::Sec1 => {
                let tag = Tag::ContextSpecific { constructed: true, number: TagNumber(0) };
                let parameters = fields.iter().find(|field| field.tag() == tag)?;
                unusable_curve(AnyRef::from_der(parameters.value()).ok()?)
            }
            Shape::Pkcs8 => {
                let algorithm = algorithm(fields.get(1)?)?;
                match algorithm.oid {
                    oid::RSA => unusable_rsa(&self::fields(fields.get(2)?.value())?),
                    oid::EC => unusable_curve(algorithm.parameters?),
                    oid::ED25519 => None,
                    other => Some(format!(
                        "is one for the algorithm {}; RSA, EC and Ed25519 are supported",
                        shown_oid(other)
                    )),
                }
            }
        }
    }
}

fn unusable_rsa(fields: &[AnyRef<'_>]) -> Option<String> {
    let modulus = fields.get(1)?.decode_as::<UintRef<'_>>().ok()?;
    let zeros = modulus.as_bytes().first()?.leading_zeros() as usize;
    let bits = modulus.as_bytes().len() * 8 - zeros;
    let (least, most) = (RSA_BITS.start(), RSA_BITS.end());
    (!RSA_BITS.contains(&bits)).then(|| format!("is an RSA key of {bits} bits; {least} to {most} are supported"))
}

fn unusable_curve(parameters: AnyRef<'_>) -> Option<String> {
    let supported = "P-256, P-384 and P-521 are supported";
    match parameters.decode_as::<ObjectIdentifier>() {
        Ok(oid::P256 | oid::P384 | oid::P521) => None,
        Ok(other) => Some(format!("is an EC key on the curve {}; {supported}", shown_oid(other))),
        Err(_) => Some(format!("is an EC key on a curve without a name; {supported}")),
    }
}

fn algorithm<'a>(field: &AnyRef<'a>) -> Option<AlgorithmIdentifierRef<'a>> {
    field.decode_as().ok()
}

/// Returns the elements of the SEQUENCE `der`.
pub(crate) fn fields(der: &[u8]) -> Option<Vec<AnyRef<'_>>> {
    /// The largest accepted number of elements in the SEQUENCE; a private key has fewer elements.
    const MOST: usize = 16;
    let outer = AnyRef::from_der(der).ok().filter(|outer| outer.tag() == Tag::Sequence)?;
    let mut reader = SliceReader::new(outer.value()).ok()?;
    let mut fields = Vec::new();
    while !reader.is_finished() {
        if fields.len() == MOST {
            return None;
        }
        fields.push(AnyRef::decode(&mut reader).ok()?);
    }
    Some(fields)
}
