//! Checks the trusted certificate at the end of a path that webpki accepts, because webpki ignores the restrictions in
//! trusted certificates. `openssl verify` makes the same checks for the last certificate of a chain.

use rustls::crypto::WebPkiSupportedAlgorithms;
use webpki::VerifiedPath;

use super::explain;
use super::policy::{Policy, VerifyRequest};
use super::refusal::{self, Refusal};
use crate::error::CertificateProblem as Problem;
use crate::tls::verify::anchors::{AnchorCertificate, Anchors, Unfit};
use crate::tls::verify::crl::{Signer, flag};
use crate::tls::x509::Name;

/// Accepts the path if the anchor is a built-in authority, or if at least one trusted certificate with the anchor's
/// name and key allows the path.
pub(super) fn check(policy: &Policy, request: &VerifyRequest<'_>, path: &VerifiedPath<'_>) -> Result<(), Refusal> {
    let anchor = path.anchor();
    let origin = policy
        .anchors
        .origin_of(anchor)
        .ok_or_else(|| Refusal::new(Problem::Other, "ends at an authority that is not trusted".to_owned()))?;
    if origin.is_built_in {
        return Ok(());
    }
    let refused = |(problem, what): (Problem, String)| {
        let name = Name::for_message_of(&anchor.subject);
        Refusal::new(problem, format!("ends at the trusted certificate \"{name}\", which {what}"))
    };
    let mut first = None;
    for certificate in &origin.certificates {
        let strict = certificate.broken_rule.filter(|_| policy.flags & flag::X509_STRICT != 0);
        match (objection(certificate, request, path), strict) {
            (None, None) => return Ok(()),
            (Some(why), _) => first = first.or_else(|| Some(refused(why))),
            (None, Some(rule)) => {
                let broken = (Problem::Other, format!("breaks a rule of RFC 5280: {rule}"));
                first = first.or_else(|| Some(refused(broken)));
            }
        }
    }
    Err(first.unwrap_or_else(|| refused((Problem::Other, "is not known".to_owned()))))
}

/// Returns the reason why the path must not end at this certificate, if there is a reason.
fn objection(
    certificate: &AnchorCertificate,
    request: &VerifyRequest<'_>,
    path: &VerifiedPath<'_>,
) -> Option<(Problem, String)> {
    match &certificate.unfit {
        Some(Unfit::NotCa(why)) => {
            let what = format!("may not issue certificates ({why}): it is trusted only as a peer's own certificate");
            return Some((Problem::NotCa, what));
        }
        Some(Unfit::CriticalExtension(kind)) => {
            return Some((Problem::UnknownCriticalExtension, refusal::not_understood(kind)));
        }
        None => {}
    }
    if certificate.extended_key_usage.is_some_and(|usage| !refusal::serves(&usage, request.purpose)) {
        return Some((Problem::WrongPurpose, refusal::other_purpose(request.purpose)));
    }
    // Self-issued certificates do not count for the path length (RFC 5280 section 4.2.1.9).
    let below = path.intermediate_certificates().filter(|issuer| issuer.subject() != issuer.issuer()).count();
    if let Some(allowed) = certificate.path_len.filter(|allowed| below as u64 > u64::from(*allowed)) {
        return Some((Problem::PathLength, refusal::too_many_below(allowed, below)));
    }
    let now = request.seconds();
    if now > certificate.not_after {
        return Some((Problem::Expired, refusal::expired_on(certificate.not_after, now)));
    }
    if now < certificate.not_before {
        return Some((Problem::NotYetValid, refusal::valid_only_from(certificate.not_before, now)));
    }
    None
}

/// Finds the trusted authority that signed a CRL, and whether that authority may sign CRLs. For CRLs that an
/// intermediate signed, webpki checks the intermediate's keyUsage.
pub(crate) fn crl_signer(
    anchors: &Anchors,
    algorithms: &WebPkiSupportedAlgorithms,
    issuer: &[u8],
    crl: &[u8],
) -> Signer {
    let mut signer = Signer { may_sign: true, anchor: None };
    for (at, (root, origin)) in anchors.roots().iter().zip(anchors.origins()).enumerate() {
        if root.subject.as_ref() == issuer && explain::is_signed_by(algorithms, crl, &root.subject_public_key_info) {
            signer.may_sign &= origin.may_sign_crls();
            signer.anchor = Some(at);
        }
    }
    signer
}
