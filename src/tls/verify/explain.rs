//! Finds out which certificate a webpki error is about, and why that certificate was refused. This module is used only
//! after webpki has refused a chain.

use rustls::crypto::WebPkiSupportedAlgorithms;
use rustls_pki_types::CertificateDer;
use webpki::{EndEntityCert, Error};

use super::policy::{Policy, Purpose, VerifyRequest};
use super::refusal::{self, Refusal};
use crate::error::CertificateProblem as Problem;
use crate::error::{Advice, ApiName};
use crate::tls::error_text;
use crate::tls::verify::crl::{Crl, flag};
use crate::tls::x509::{Certificate, Der, Oid, der::tag, oid};

/// A certificate of the chain, and its index among the certificates that the peer sent.
struct Link<'a> {
    index: usize,
    der: &'a [u8],
    certificate: Certificate<'a>,
}

impl Link<'_> {
    fn refused(&self, problem: Problem, what: impl Into<String>) -> Refusal {
        Refusal::new(problem, what).at(self.index, &self.certificate)
    }
}

/// The chain that results from following issuer names upwards from the peer's certificate.
struct NamedPath<'a> {
    links: Vec<Link<'a>>,
    /// The keys of the trusted authorities that have the name of the last certificate's issuer.
    anchors: Vec<&'a [u8]>,
    /// True if the peer has probably left out the last certificate's issuer. The evidence is another certificate that
    /// the peer sent: any certificate if the chain consists only of the peer's own certificate, otherwise a root
    /// certificate that is not part of the chain.
    is_cut_off: bool,
}

impl<'a> NamedPath<'a> {
    fn of(policy: &'a Policy, request: &'a VerifyRequest<'_>) -> Option<NamedPath<'a>> {
        let parse = |index: usize, der: &'a CertificateDer<'_>| {
            Certificate::parse(der).ok().map(|certificate| Link { index, der, certificate })
        };
        let mut left: Vec<Link<'_>> =
            request.others.iter().enumerate().filter_map(|(index, der)| parse(index + 1, der)).collect();
        let mut links = vec![parse(0, request.end_entity)?];
        loop {
            let last = &links.last()?.certificate;
            let anchors: Vec<&[u8]> = policy
                .anchors
                .roots()
                .iter()
                .filter(|anchor| anchor.subject.as_ref() == last.issuer.content)
                .map(|anchor| anchor.subject_public_key_info.as_ref())
                .collect();
            if !anchors.is_empty() || last.is_self_issued() {
                return Some(NamedPath { links, anchors, is_cut_off: false });
            }
            // If several certificates have the issuer's name, prefers the one with the matching key identifier.
            let of_name = |link: &Link<'_>| link.certificate.subject == last.issuer;
            let of_key = |link: &Link<'_>| {
                let id = last.extensions.authority_key_id;
                of_name(link) && id.is_some() && link.certificate.extensions.subject_key_id == id
            };
            match left.iter().position(of_key).or_else(|| left.iter().position(of_name)) {
                Some(next) => links.push(left.swap_remove(next)),
                None => {
                    let is_root = |link: &Link<'_>| link.certificate.is_ca() && link.certificate.is_self_issued();
                    let is_cut_off = match links.len() {
                        1 => !request.others.is_empty(),
                        _ => left.iter().any(is_root),
                    };
                    return Some(NamedPath { links, anchors, is_cut_off });
                }
            }
        }
    }

    /// Returns each certificate of the chain with the keys that may have signed the certificate.
    fn with_keys(&self) -> impl Iterator<Item = (&Link<'a>, Vec<&'a [u8]>)> {
        self.links.iter().enumerate().map(|(at, link)| {
            let keys = match self.links.get(at + 1) {
                Some(issuer) => content(issuer.certificate.public_key_info).into_iter().collect(),
                None => self.anchors.clone(),
            };
            (link, keys)
        })
    }
}

/// Returns the content of a DER element, without tag and length.
fn content(der: &[u8]) -> Option<&[u8]> {
    Der::new(der).next().map(|element| element.content)
}

pub(super) fn explain(policy: &Policy, request: &VerifyRequest<'_>, error: &Error) -> Refusal {
    let Some(path) = NamedPath::of(policy, request) else {
        return without_path(error);
    };
    let without_index = |problem, what: String| Refusal::new(problem, what);
    let found = |problem, what: String, is: &dyn Fn(&Link<'_>) -> bool| match path.links.iter().find(|link| is(link))
    {
        Some(link) => link.refused(problem, what),
        None => without_index(problem, what),
    };
    let now = request.seconds();
    let at = |refusal: Refusal, is: &dyn Fn(&Certificate<'_>) -> bool| {
        match path.links.iter().find(|link| is(&link.certificate)) {
            Some(link) => refusal.at(link.index, &link.certificate),
            // If no certificate on the path that follows issuer names matches, all certificates that the peer sent
            // after its own are searched.
            None => match other(request, is) {
                Some((index, certificate)) => refusal.at(index, &certificate),
                None => refusal,
            },
        }
    };
    match error {
        Error::CertExpired { not_after, .. } => {
            let not_after = i64::try_from(not_after.as_secs()).unwrap_or(i64::MAX);
            at(refusal::expired(not_after, now), &|certificate| certificate.not_after == not_after)
        }
        Error::CertNotValidYet { not_before, .. } => {
            let not_before = i64::try_from(not_before.as_secs()).unwrap_or(i64::MAX);
            at(refusal::not_yet_valid(not_before, now), &|certificate| certificate.not_before == not_before)
        }
        Error::InvalidCertValidity => {
            at(Refusal::new(Problem::Malformed, "has a notAfter before its notBefore"), &|certificate| {
                certificate.not_after < certificate.not_before
            })
        }
        Error::UnknownIssuer => unknown_issuer(request, &path),
        Error::CaUsedAsEndEntity => match path.links.first() {
            Some(leaf) if leaf.certificate.is_self_issued() => self_signed(leaf),
            _ => found(
                Problem::AuthorityAsLeaf,
                "is a CA certificate (CA:TRUE), which a peer must not use as its own".to_owned(),
                &|link| link.index == 0,
            ),
        },
        Error::EndEntityUsedAsCa => found(
            Problem::NotCa,
            "has issued another certificate, but is not a CA certificate (it lacks CA:TRUE)".to_owned(),
            &|link| link.index > 0 && !link.certificate.is_ca(),
        ),
        Error::PathLenConstraintViolated => path_too_long(&path),
        Error::RequiredEkuNotFoundContext(_) | Error::EmptyEkuExtension => {
            let lacks = |certificate: &Certificate<'_>| {
                let usage = certificate.extensions.extended_key_usage;
                usage.is_some_and(|usage| !refusal::serves(&usage, request.purpose))
            };
            at(refusal::wrong_purpose(request.purpose), &lacks)
        }
        Error::NameConstraintViolation => found(
            Problem::NameConstraints,
            "is for a name that an authority above it may not certify (nameConstraints)".to_owned(),
            &|link| link.index == 0,
        ),
        Error::CertRevoked => {
            let is_revoked = |link: &Link<'_>| {
                let crl = crl_of(policy, &link.certificate);
                crl.is_some_and(|crl| matches!(crl.list.find_serial(link.certificate.serial), Ok(Some(_))))
            };
            highest(&path, Refusal::new(Problem::Revoked, "has been revoked by its authority"), &is_revoked)
        }
        Error::UnknownRevocationStatus
        | Error::CrlExpired { .. }
        | Error::InvalidCrlSignatureForPublicKey
        | Error::IssuerNotCrlSigner
        | Error::UnsupportedCrlSignatureAlgorithmContext(_)
        | Error::UnsupportedCrlSignatureAlgorithmForPublicKeyContext(_) => {
            revocation_unknown(policy, &path, error, now)
        }
        Error::InvalidSignatureForPublicKey
        | Error::UnsupportedSignatureAlgorithmContext(_)
        | Error::UnsupportedSignatureAlgorithmForPublicKeyContext(_) => signature(policy, &path),
        Error::MaximumPathDepthExceeded
        | Error::MaximumPathBuildCallsExceeded
        | Error::MaximumSignatureChecksExceeded
        | Error::MaximumNameConstraintComparisonsExceeded => without_index(
            Problem::TooComplex,
            format!("is too long or too complex to be verified: it {}", error_text::webpki(error)),
        ),
        error => {
            // webpki cannot build a path through a certificate that it cannot parse.
            let broken = request.others.iter().position(|der| EndEntityCert::try_from(der).is_err());
            match broken {
                Some(position) => unreadable(request, position + 1, error),
                None => without_index(Problem::Other, format!("was not accepted: it {}", error_text::webpki(error))),
            }
        }
    }
}

/// Returns the refusal if webpki could parse the peer's certificate, but netlib's own parser could not.
fn without_path(error: &Error) -> Refusal {
    let problem = match error {
        Error::CertExpired { .. } => Problem::Expired,
        Error::CertNotValidYet { .. } => Problem::NotYetValid,
        Error::UnknownIssuer => Problem::UnknownIssuer,
        Error::CaUsedAsEndEntity => Problem::AuthorityAsLeaf,
        Error::CertRevoked => Problem::Revoked,
        Error::UnknownRevocationStatus | Error::CrlExpired { .. } => Problem::RevocationUnknown,
        Error::NameConstraintViolation => Problem::NameConstraints,
        Error::PathLenConstraintViolated => Problem::PathLength,
        Error::EndEntityUsedAsCa => Problem::NotCa,
        Error::MaximumPathDepthExceeded
        | Error::MaximumPathBuildCallsExceeded
        | Error::MaximumSignatureChecksExceeded
        | Error::MaximumNameConstraintComparisonsExceeded => Problem::TooComplex,
        Error::InvalidSignatureForPublicKey => Problem::BadSignature,
        Error::RequiredEkuNotFoundContext(_) => Problem::WrongPurpose,
        _ => Problem::Other,
    };
    Refusal::new(problem, format!("was not accepted: it {}", error_text::webpki(error)))
}

/// Returns the refusal for a certificate that webpki could not parse.
pub(super) fn unreadable(request: &VerifyRequest<'_>, index: usize, error: &Error) -> Refusal {
    let der = if index == 0 { Some(request.end_entity) } else { request.others.get(index - 1) };
    let certificate = der.and_then(|der| Certificate::parse(der).ok());
    let refusal = match error {
        Error::UnsupportedCriticalExtension => {
            let critical = certificate.iter().flat_map(|certificate| certificate.extensions.critical());
            let kind = critical.into_iter().find(|kind| !UNDERSTOOD.contains(kind));
            let kind = kind.map_or("unknown".to_owned(), |kind| Oid(kind).to_string());
            Refusal::new(Problem::UnknownCriticalExtension, refusal::not_understood(&kind))
        }
        Error::UnsupportedCertVersion => Refusal::new(Problem::Other, "is not of version 3"),
        error => Refusal::new(Problem::Malformed, format!("cannot be parsed: it {}", error_text::webpki(error))),
    };
    match certificate {
        Some(certificate) => refusal.at(index, &certificate),
        None => refusal.at_index(index),
    }
}

/// The critical extensions that webpki accepts.
const UNDERSTOOD: &[&[u8]] = &[
    oid::BASIC_CONSTRAINTS,
    oid::KEY_USAGE,
    oid::EXTENDED_KEY_USAGE,
    oid::NAME_CONSTRAINTS,
    oid::SUBJECT_ALT_NAME,
    oid::CRL_DISTRIBUTION_POINTS,
];

pub(super) fn other_name(request: &VerifyRequest<'_>) -> Refusal {
    let Ok(certificate) = Certificate::parse(request.end_entity) else {
        return Refusal::new(Problem::NameMismatch, "is not valid for the expected name").at_index(0);
    };
    match refusal::list(certificate.names().map(|name| name.text())) {
        Some(names) => {
            let advice = format!("to accept it under one of its own names, if this is the intended peer: {names}");
            let refusal = Refusal::new(Problem::NameMismatch, format!("is for {names}"));
            refusal.with_advice(Advice::owned_text(advice)).at(0, &certificate)
        }
        None => {
            let what = "contains no host name: it has no subjectAltName, and the common name is not used";
            Refusal::new(Problem::NameMismatch, what).at(0, &certificate)
        }
    }
}

fn other<'a>(
    request: &'a VerifyRequest<'_>,
    is: &dyn Fn(&Certificate<'_>) -> bool,
) -> Option<(usize, Certificate<'a>)> {
    let parsed = |(index, der): (usize, &'a CertificateDer<'_>)| Some((index + 1, Certificate::parse(der).ok()?));
    request.others.iter().enumerate().filter_map(parsed).find(|(_, certificate)| is(certificate))
}

/// Adds to a refusal the matching certificate that is nearest to the trust anchor. webpki checks revocation from the
/// anchor downwards, so that certificate is the first that webpki refused.
fn highest(path: &NamedPath<'_>, refusal: Refusal, is: &dyn Fn(&Link<'_>) -> bool) -> Refusal {
    match path.links.iter().rev().find(|link| is(link)) {
        Some(link) => refusal.at(link.index, &link.certificate),
        None => refusal,
    }
}

fn self_signed(leaf: &Link<'_>) -> Refusal {
    leaf.refused(Problem::SelfSigned, "is self-signed and not trusted")
}

fn unknown_issuer(request: &VerifyRequest<'_>, path: &NamedPath<'_>) -> Refusal {
    let Some(last) = path.links.last() else {
        return Refusal::new(Problem::UnknownIssuer, "leads to no trusted authority");
    };
    let issuer = last.certificate.issuer.for_message();
    let peer = match request.purpose {
        Purpose::Server => "server",
        Purpose::Client => "client",
    };
    let refusal = match (last.index, last.certificate.is_self_issued()) {
        (0, true) => return self_signed(last),
        (_, true) => {
            last.refused(Problem::UnknownIssuer, "is the root of the chain and is not trusted")
        }
        _ if path.is_cut_off => last.refused(
            Problem::IncompleteChain,
            format!(
                "was issued by \"{issuer}\", which is not trusted and whose certificate is not among the others that \
                 were sent: the {peer}'s administrator must configure the right intermediate certificates"
            ),
        ),
        (0, _) if last.certificate.extensions.has_ca_issuers => last.refused(
            Problem::IncompleteChain,
            format!(
                "was issued by \"{issuer}\", which is not trusted and whose certificate was not sent: either trust that \
                 authority, or the {peer}'s administrator must configure the intermediate certificates"
            ),
        ),
        _ => last.refused(
            Problem::UnknownIssuer,
            format!(
                "was issued by \"{issuer}\", which is not trusted and was not sent: trust that authority, unless it is \
                 an intermediate that the {peer} should send"
            ),
        ),
    };
    let purpose = format!("to trust the authority \"{issuer}\"");
    refusal.with_advice(Advice::for_purpose(purpose, ApiName::AddCaFile, " with its certificate"))
}

fn path_too_long(path: &NamedPath<'_>) -> Refusal {
    let problem = Problem::PathLength;
    for (below, link) in path.links.iter().enumerate().skip(1) {
        let allowed = link.certificate.extensions.basic_constraints.and_then(|constraints| constraints.path_len);
        if let Some(allowed) = allowed.filter(|allowed| usize::try_from(*allowed).is_ok_and(|len| below - 1 > len)) {
            return link.refused(problem, refusal::too_many_below(allowed, below - 1));
        }
    }
    Refusal::new(problem, "has more authorities than one of them allows (pathlen)")
}

/// Returns the newest usable CRL whose issuer has the name of the certificate's issuer.
fn crl_of<'a>(policy: &'a Policy, certificate: &Certificate<'_>) -> Option<&'a Crl> {
    policy.crls.iter().find(|crl| crl.is_usable && crl.list.issuer() == certificate.issuer.content)
}

fn revocation_unknown(policy: &Policy, path: &NamedPath<'_>, error: &Error, now: i64) -> Refusal {
    let whole_chain = policy.flags & flag::CRL_CHECK_CHAIN == flag::CRL_CHECK_CHAIN;
    let is_checked = |link: &Link<'_>| whole_chain || link.index == 0;
    let by = |link: &Link<'_>| link.certificate.issuer.for_message();
    let unknown = |link: &Link<'_>, why: String| refusal::revocation_unknown(&why).at(link.index, &link.certificate);
    let may_not_sign_crls = |issuer: &Link<'_>| {
        let usage = issuer.certificate.extensions.key_usage;
        usage.is_some_and(|usage| !usage.crl_sign())
    };
    for (at, link) in path.links.iter().enumerate().rev().filter(|(_, link)| is_checked(link)) {
        let not_signer = || format!("\"{}\" may not sign CRLs (its keyUsage lacks cRLSign)", by(link));
        let is_issuers = |crl: &Crl| crl.list.issuer() == link.certificate.issuer.content;
        match (error, crl_of(policy, &link.certificate)) {
            (Error::IssuerNotCrlSigner, Some(_)) if path.links.get(at + 1).is_some_and(may_not_sign_crls) => {
                return unknown(link, not_signer());
            }
            (Error::UnknownRevocationStatus, None) if policy.crls.iter().any(is_issuers) => {
                return unknown(link, not_signer());
            }
            (Error::UnknownRevocationStatus, None) => {
                return unknown(link, format!("no CRL of \"{}\" was added", by(link)));
            }
            (Error::CrlExpired { .. }, Some(crl)) if crl.next_update <= now => {
                return refusal::crl_expired(&by(link), crl.next_update, now).at(link.index, &link.certificate);
            }
            _ => {}
        }
    }
    let why = match error {
        Error::UnknownRevocationStatus => "no CRL covers one of its certificates",
        Error::CrlExpired { .. } => "a CRL has expired",
        Error::InvalidCrlSignatureForPublicKey => "a CRL has a signature that was not made with its issuer's key",
        Error::IssuerNotCrlSigner => "the issuer of a CRL may not sign CRLs (its keyUsage lacks cRLSign)",
        _ => "a CRL is signed with an algorithm that is not supported",
    };
    // webpki's error does not say which issuer's CRL caused the error. The certificate whose CRL is unusable is known
    // only if a single certificate is checked.
    match &path.links[..] {
        [link] => unknown(link, why.to_owned()),
        [leaf, ..] if !whole_chain => unknown(leaf, why.to_owned()),
        _ => Refusal::new(Problem::RevocationUnknown, format!("may contain a revoked certificate: {why}")),
    }
}

fn signature(policy: &Policy, path: &NamedPath<'_>) -> Refusal {
    for (at, (link, keys)) in path.with_keys().enumerate() {
        if keys.iter().any(|key| is_signed_by(&policy.algorithms, link.der, key)) {
            continue;
        }
        let algorithm = link.certificate.signature_algorithm;
        if algorithm.hash().is_some_and(|hash| hash.is_broken()) {
            let what = format!("has a signature that can be forged ({})", algorithm.text());
            return link.refused(Problem::WeakSignature, what);
        }
        let issuer = path.links.get(at + 1);
        if let Some((issuer, why)) =
            issuer.and_then(|issuer| refusal::unfit_key(&issuer.certificate.public_key).map(|why| (issuer, why)))
        {
            return issuer.refused(Problem::WeakKey, why);
        }
        if keys.is_empty() {
            break;
        }
        let supported = policy.algorithms.all.iter().any(|supported| {
            signature_of(link.der).is_some_and(|signed| supported.signature_alg_id().as_ref() == signed.algorithm)
        });
        return if supported {
            link.refused(
                Problem::BadSignature,
                "has a signature that was not made with its issuer's key: the certificate was altered or forged",
            )
        } else {
            link.refused(
                Problem::Other,
                format!("is signed with an algorithm that is not supported ({})", algorithm.text()),
            )
        };
    }
    Refusal::new(Problem::BadSignature, "has a signature that was not made with its issuer's key")
}

struct Signed<'a> {
    message: &'a [u8],
    /// The content of the AlgorithmIdentifier of the signature.
    algorithm: &'a [u8],
    signature: &'a [u8],
}

fn signature_of(certificate: &[u8]) -> Option<Signed<'_>> {
    let mut fields = Der::new(certificate).take(tag::SEQUENCE)?.inside();
    let message = fields.take(tag::SEQUENCE)?.whole;
    let algorithm = fields.take(tag::SEQUENCE)?.content;
    let signature = fields.take(tag::BIT_STRING)?.bits()?.bytes();
    Some(Signed { message, algorithm, signature })
}

/// Verifies the signature of a certificate or a CRL; both have the same outer structure. `key` is the content of a
/// SubjectPublicKeyInfo.
pub(super) fn is_signed_by(algorithms: &WebPkiSupportedAlgorithms, der: &[u8], key: &[u8]) -> bool {
    let Some(signed) = signature_of(der) else { return false };
    let mut fields = Der::new(key);
    let Some(kind) = fields.take(tag::SEQUENCE) else { return false };
    let Some(bits) = fields.take(tag::BIT_STRING).and_then(|bits| bits.bits()) else { return false };
    algorithms.all.iter().any(|algorithm| {
        algorithm.signature_alg_id().as_ref() == signed.algorithm
            && algorithm.public_key_alg_id().as_ref() == kind.content
            && algorithm.verify_signature(bits.bytes(), signed.message, signed.signature).is_ok()
    })
}
