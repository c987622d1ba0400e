//! The trust anchors of a context. webpki keeps only the name, the key and the name constraints of a trusted
//! certificate, so with webpki alone a trusted leaf could issue certificates for any name. This module keeps the other
//! restrictions, and [`super`] applies them to every chain that ends at the trusted certificate.

use std::collections::{HashMap, HashSet};

use rustls::DistinguishedName;
use rustls_pki_types::{CertificateDer, TrustAnchor};

use crate::digest::{self, Digest};
use crate::tls::x509::{Certificate, ExtendedKeyUsage, Oid, oid, profile};

/// The trust anchors of a context as webpki needs them, and the restrictions of the certificates that webpki ignores.
#[derive(Default)]
pub(crate) struct Anchors {
    roots: Vec<TrustAnchor<'static>>,
    /// One origin for each element of `roots`, in the same order.
    origins: Vec<Origin>,
}

/// The source of a trust anchor: the built-in list, trusted certificates, or both.
#[derive(Clone, Debug, Default)]
pub(crate) struct Origin {
    /// True for a built-in authority, for which no certificate is available. Mozilla's root programme has approved the
    /// built-in authorities for servers.
    pub(crate) is_built_in: bool,
    /// The trusted certificates with the anchor's name and key: several after a root was renewed. A chain may end at
    /// any of the certificates.
    pub(crate) certificates: Vec<AnchorCertificate>,
}

/// The restrictions in a trusted certificate.
#[derive(Clone, Debug)]
pub(crate) struct AnchorCertificate {
    /// SHA-256 of the certificate.
    pub(crate) digest: Digest,
    /// The reason why no chain may end at this certificate. If set, the certificate is trusted only as a peer's own
    /// certificate.
    pub(crate) unfit: Option<Unfit>,
    /// Start and end of the validity period in seconds since 1970, both inclusive.
    pub(crate) not_before: i64,
    pub(crate) not_after: i64,
    pub(crate) path_len: Option<u32>,
    pub(crate) extended_key_usage: Option<ExtendedKeyUsage>,
    pub(crate) may_sign_crls: bool,
    /// The rule of RFC 5280 that the certificate violates, if any.
    pub(crate) broken_rule: Option<&'static str>,
}

/// The reason why a trusted certificate cannot act as an authority.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unfit {
    /// The certificate may not issue certificates, for the reason in the string.
    NotCa(&'static str),
    /// The certificate has an unknown critical extension with this object identifier.
    CriticalExtension(String),
}

/// The critical extensions that OpenSSL accepts (`X509_supported_extension`), without proxyCertInfo. Certificate
/// policies are not evaluated; OpenSSL evaluates them only on request.
const UNDERSTOOD: &[&[u8]] = &[
    oid::BASIC_CONSTRAINTS,
    oid::KEY_USAGE,
    oid::EXTENDED_KEY_USAGE,
    oid::NAME_CONSTRAINTS,
    oid::SUBJECT_ALT_NAME,
    oid::CRL_DISTRIBUTION_POINTS,
    oid::CERTIFICATE_POLICIES,
    oid::POLICY_MAPPINGS,
    oid::POLICY_CONSTRAINTS,
    oid::INHIBIT_ANY_POLICY,
    oid::NETSCAPE_CERT_TYPE,
];

impl AnchorCertificate {
    fn new(der: &[u8], certificate: &Certificate<'_>) -> AnchorCertificate {
        let extensions = &certificate.extensions;
        AnchorCertificate {
            digest: digest::of(der),
            unfit: unfit(certificate),
            not_before: certificate.not_before,
            not_after: certificate.not_after,
            path_len: extensions.basic_constraints.and_then(|constraints| constraints.path_len),
            extended_key_usage: extensions.extended_key_usage,
            may_sign_crls: extensions.key_usage.is_none_or(|usage| usage.crl_sign()),
            broken_rule: profile::broken_rule(certificate, profile::Role::Anchor),
        }
    }
}

/// Returns the reason why the certificate cannot act as an authority, if any. The rules are those of OpenSSL's
/// `X509_check_ca` without Netscape's nsCertType.
fn unfit(certificate: &Certificate<'_>) -> Option<Unfit> {
    let extensions = &certificate.extensions;
    if let Some(kind) = extensions.critical().find(|kind| !UNDERSTOOD.contains(kind)) {
        return Some(Unfit::CriticalExtension(Oid(kind).to_string()));
    }
    let why = match (extensions.key_usage, extensions.basic_constraints) {
        (Some(usage), _) if !usage.key_cert_sign() => "its keyUsage lacks keyCertSign",
        (_, Some(constraints)) if !constraints.ca => "its basicConstraints say CA:FALSE",
        // A certificate without basicConstraints is accepted if its keyUsage has keyCertSign.
        (_, Some(_)) | (Some(_), None) => return None,
        // The oldest root certificates are of X.509 version 1, which has no extensions.
        (None, None) if certificate.version == 1 && certificate.is_self_issued() => return None,
        (None, None) if certificate.version == 1 => "it is of version 1 and not self-signed",
        (None, None) => "it has neither basicConstraints nor keyUsage",
    };
    Some(Unfit::NotCa(why))
}

impl Origin {
    pub(crate) fn may_sign_crls(&self) -> bool {
        self.is_built_in || self.certificates.iter().any(|certificate| certificate.may_sign_crls)
    }
}

impl Anchors {
    pub(crate) fn roots(&self) -> &[TrustAnchor<'static>] {
        &self.roots
    }

    pub(crate) fn origins(&self) -> &[Origin] {
        &self.origins
    }

    pub(crate) fn len(&self) -> usize {
        self.roots.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.roots.is_empty()
    }

    /// Returns the authority names that a server sends in its CertificateRequest.
    pub(crate) fn subjects(&self) -> Vec<DistinguishedName> {
        self.roots.iter().map(|root| DistinguishedName::in_sequence(&root.subject)).collect()
    }

    pub(crate) fn origin_of(&self, anchor: &TrustAnchor<'_>) -> Option<&Origin> {
        self.roots.iter().position(|root| root == anchor).and_then(|at| self.origins.get(at))
    }

    /// Returns true if `der` equals a trusted certificate byte for byte.
    pub(crate) fn contain(&self, der: &[u8]) -> bool {
        let digest = digest::of(der);
        self.origins.iter().flat_map(|origin| &origin.certificates).any(|certificate| certificate.digest == digest)
    }
}

/// Collects anchors and merges those with the same name and key.
#[derive(Default)]
pub(crate) struct Collection {
    anchors: Anchors,
    index_by_anchor: HashMap<TrustAnchor<'static>, usize>,
    known: HashSet<Digest>,
}

/// The reason why a certificate cannot be a trust anchor.
#[derive(Debug)]
pub(crate) enum Unusable {
    Refused(webpki::Error),
    Unreadable,
}

impl Collection {
    pub(crate) fn add(&mut self, der: &CertificateDer<'_>) -> Result<(), Unusable> {
        let anchor = webpki::anchor_from_trusted_cert(der).map_err(Unusable::Refused)?.to_owned();
        // A certificate that cannot be parsed is not trusted, because its restrictions could not be enforced.
        let certificate = Certificate::parse(der).map_err(|_| Unusable::Unreadable)?;
        let certificate = AnchorCertificate::new(der, &certificate);
        let is_new = self.known.insert(certificate.digest);
        let origin = self.origin(anchor);
        if is_new {
            origin.certificates.push(certificate);
        }
        Ok(())
    }

    pub(crate) fn add_built_in(&mut self, anchor: TrustAnchor<'static>) {
        self.origin(anchor).is_built_in = true;
    }

    pub(crate) fn append(&mut self, other: Collection) {
        for (anchor, origin) in other.anchors.roots.into_iter().zip(other.anchors.origins) {
            let is_new = |certificate: &AnchorCertificate| self.known.insert(certificate.digest);
            let certificates: Vec<_> = origin.certificates.into_iter().filter(is_new).collect();
            let here = self.origin(anchor);
            here.is_built_in |= origin.is_built_in;
            here.certificates.extend(certificates);
        }
    }

    pub(crate) fn anchors(&self) -> &Anchors {
        &self.anchors
    }

    /// Returns the anchors without spare vector capacity, because a context lives long.
    pub(crate) fn into_anchors(mut self) -> Anchors {
        self.anchors.origins.iter_mut().for_each(|origin| origin.certificates.shrink_to_fit());
        self.anchors.origins.shrink_to_fit();
        self.anchors.roots.shrink_to_fit();
        self.anchors
    }

    fn origin(&mut self, anchor: TrustAnchor<'static>) -> &mut Origin {
        let Anchors { roots, origins } = &mut self.anchors;
        let at = *self.index_by_anchor.entry(anchor).or_insert_with_key(|anchor| {
            roots.push(anchor.clone());
            origins.push(Origin::default());
            origins.len() - 1
        });
        &mut origins[at]
    }
}
