//! Decrypts the parts of the AuthenticatedSafe and collects their keys and certificates.

use pkcs5::der::Decode;
use pkcs5::der::asn1::{AnyRef, ObjectIdentifier};
use rustls_pki_types::CertificateDer;

use super::{PasswordState, Pkcs7, Span, content_info, place, string};
use crate::memory;
use crate::tls::credentials::key::scheme::{Scheme, WorkBudget};
use crate::tls::credentials::key::{Opened, PasswordEncoding, Refusal, Secret, copy};
use crate::tls::x509::{
    Der, Malformed,
    der::{Element, Octets, tag},
};

/// The largest accepted number of parts in one file, and of bags in one file. CA stores have a few hundred bags.
const MOST_BAGS: usize = 4096;

/// The deepest accepted nesting of SafeContents bags. No known program writes nested bags.
const DEEPEST: usize = 4;

/// The keys and certificates in the bags of a file. CRL and secret bags are skipped.
#[derive(Default)]
pub(crate) struct Bags {
    pub(crate) keys: Vec<Key>,
    pub(crate) certificates: Vec<Certificate>,
    seen: usize,
}

pub(crate) struct Key {
    /// The key in PKCS#8, which is still encrypted if `is_encrypted` is true.
    pub(crate) der: Secret,
    pub(crate) is_encrypted: bool,
    pub(crate) local_id: Option<Vec<u8>>,
}

pub(crate) struct Certificate {
    pub(crate) der: CertificateDer<'static>,
    /// The localKeyID attribute, which is equal in a key and its certificate. Certificates of authorities have no
    /// localKeyID.
    pub(crate) local_id: Option<Vec<u8>>,
}

pub(crate) fn collect(
    safe: &Span<'_>,
    encodings: &[PasswordEncoding],
    state: PasswordState,
    budget: &mut WorkBudget,
) -> Opened<Bags> {
    let wrong = |malformed| safe.malformed(malformed);
    let mut all = safe.inside();
    let mut parts = all.read(tag::SEQUENCE, "the authenticated safe").map_err(wrong)?.inside();
    all.end("the data after the authenticated safe").map_err(wrong)?;
    let mut bags = Bags::default();
    let mut number = 0;
    while !parts.is_empty() {
        number += 1;
        if number > MOST_BAGS {
            return Err(too_many("parts"));
        }
        let part = parts.read(tag::SEQUENCE, "a part").map_err(wrong)?;
        let (kind, content) = content_info(part.inside()).map_err(wrong)?;
        let stretch = match Pkcs7::of(kind.content) {
            Some(Pkcs7::Data) => {
                let octets = string(content, tag::OCTET_STRING, "a part").map_err(wrong)?;
                Span::new(&octets, "a part", &safe.of, &format!(" of its part {number}"))?
            }
            Some(Pkcs7::Encrypted) => {
                let plaintext = decrypt(content, safe, encodings, state, budget)?;
                Span { bytes: Octets::Joined(plaintext), at: 0, of: format!(" of its part {number}, decrypted") }
            }
            Some(Pkcs7::Enveloped) => {
                return Err(Refusal::Unsupported(format!("its part {number} is encrypted for a public key")));
            }
            None => return Err(wrong(kind.malformed("a content of an unknown type"))),
        };
        let mut contents = stretch.inside();
        let list = contents.read(tag::SEQUENCE, "the list of bags");
        let list = list.and_then(|list| contents.end("the data after the list of bags").map(|()| list));
        let list = list.map_err(|malformed| stretch.malformed(malformed))?;
        bags.list(list.inside(), &stretch.of, 0)?;
    }
    Ok(bags)
}

fn too_many(what: &str) -> Refusal {
    Refusal::malformed(format!("it has more than {MOST_BAGS} {what}"))
}

/// Decrypts EncryptedData (RFC 5652 section 8).
fn decrypt(
    mut content: Der<'_>,
    safe: &Span<'_>,
    encodings: &[PasswordEncoding],
    state: PasswordState,
    budget: &mut WorkBudget,
) -> Opened<Secret> {
    const WHAT: &str = "an encrypted content";
    let wrong = |malformed| safe.malformed(malformed);
    let mut data = content.read(tag::SEQUENCE, WHAT).map_err(wrong)?.inside();
    data.read(tag::INTEGER, "the version of an encrypted content").map_err(wrong)?;
    let mut info = data.read(tag::SEQUENCE, WHAT).map_err(wrong)?.inside();
    info.read(tag::OID, "the type of an encrypted content").map_err(wrong)?;
    let algorithm = info.read(tag::SEQUENCE, "an encryption algorithm").map_err(wrong)?;
    let scheme = scheme(&algorithm, safe)?;
    let ciphertext = string(info, tag::implicit(0), WHAT).map_err(wrong)?;
    let ciphertext = Span::new(&ciphertext, WHAT, &safe.of, &safe.of)?;
    let is_sequence = |plaintext: &[u8]| {
        let mut all = Der::ber(plaintext, 0);
        all.take(tag::SEQUENCE).is_some() && all.is_empty()
    };
    scheme.open(&ciphertext.bytes, Some(encodings), budget, is_sequence).map_err(|refusal| match refusal {
        Refusal::WrongPassword => state.refusal("a part"),
        other => other,
    })
}

fn scheme(algorithm: &Element<'_>, safe: &Span<'_>) -> Opened<Scheme> {
    let any = AnyRef::from_der(algorithm.whole)
        .map_err(|_| safe.malformed(algorithm.malformed("an encryption algorithm")))?;
    Scheme::of(any)
}

/// The prefix of the object identifiers of bag types.
const BAGS: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.12.10.1");
/// The prefix of the object identifiers of PKCS #9. The prefix followed by .21 is the attribute localKeyID. The prefix
/// followed by .22.1 is the certificate type X.509.
const PKCS9: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.9");

impl Bags {
    fn list(&mut self, mut list: Der<'_>, of: &str, depth: usize) -> Opened<()> {
        while !list.is_empty() {
            self.seen += 1;
            if self.seen > MOST_BAGS {
                return Err(too_many("bags"));
            }
            let bag = list.read(tag::SEQUENCE, "a bag").map_err(|malformed| place(malformed, of))?;
            self.bag(bag.inside(), of, depth)?;
        }
        Ok(())
    }

    fn bag(&mut self, mut bag: Der<'_>, of: &str, depth: usize) -> Opened<()> {
        let wrong = |malformed| place(malformed, of);
        let kind = bag.read(tag::OID, "a bag's type").map_err(wrong)?;
        let mut value = bag.read(tag::explicit(0), "a bag's value").map_err(wrong)?.inside();
        let local_id = match bag.take(tag::SET) {
            Some(attributes) => local_id(attributes.inside()).map_err(wrong)?,
            None => None,
        };
        bag.end("the data after a bag's attributes").map_err(wrong)?;
        let local_id = || local_id.map(|id| memory::copy(id, "a localKeyId")).transpose();
        match kind.content.strip_prefix(BAGS.as_bytes()) {
            Some([number @ (1 | 2)]) => {
                let key = value.read(tag::SEQUENCE, "a private key").map_err(wrong)?;
                let key = Key { der: copy(key.whole)?, is_encrypted: *number == 2, local_id: local_id()? };
                memory::push(&mut self.keys, key, "private keys")?;
            }
            Some([3]) => {
                let certificate = value.read(tag::SEQUENCE, "a certificate").map_err(wrong)?;
                if let Some(octets) = certificate_of(certificate.inside()).map_err(wrong)? {
                    let der = octets.octets()?.ok_or_else(|| wrong(octets.malformed("a certificate")))?;
                    let der = CertificateDer::from(memory::copy(&der, "a certificate")?);
                    memory::push(&mut self.certificates, Certificate { der, local_id: local_id()? }, "certificates")?;
                }
            }
            Some([6]) => {
                if depth == DEEPEST {
                    return Err(wrong(kind.malformed("too many nested bags")));
                }
                let list = value.read(tag::SEQUENCE, "nested bags").map_err(wrong)?;
                self.list(list.inside(), of, depth + 1)?;
            }
            _ => {}
        }
        Ok(())
    }
}

/// Returns the certificate in a certificate bag; `None` if the certificate is not X.509.
fn certificate_of(mut bag: Der<'_>) -> Result<Option<Element<'_>>, Malformed> {
    let kind = bag.read(tag::OID, "a certificate's type")?;
    let value = bag.read(tag::explicit(0), "a certificate")?;
    bag.end("the data after a certificate")?;
    match kind.content.strip_prefix(PKCS9.as_bytes()) {
        Some([22, 1]) => string(value.inside(), tag::OCTET_STRING, "a certificate").map(Some),
        _ => Ok(None),
    }
}

fn local_id<'a>(mut attributes: Der<'a>) -> Result<Option<&'a [u8]>, Malformed> {
    let mut found = None;
    while !attributes.is_empty() {
        let mut attribute = attributes.read(tag::SEQUENCE, "an attribute")?.inside();
        let kind = attribute.read(tag::OID, "an attribute's type")?;
        let mut values = attribute.read(tag::SET, "an attribute's values")?.inside();
        if kind.content.strip_prefix(PKCS9.as_bytes()) == Some(&[21]) {
            found = found.or(values.take(tag::OCTET_STRING).map(|id| id.content));
        }
    }
    Ok(found)
}
