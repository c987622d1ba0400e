//! Checks a peer certificate that is itself trusted. A trusted leaf needs no issuer and may be a CA certificate. The
//! validity dates, purpose, encoding and revocation of a trusted leaf are still checked. The other certificates that
//! the peer sent are ignored.

use webpki::Error;

use super::policy::{Policy, VerifyRequest};
use super::refusal::{self, Refusal};
use super::{explain, may_sign_handshakes, strict};
use crate::error::CertificateProblem as Problem;
use crate::tls::verify::crl::{Crl, flag};
use crate::tls::x509::Certificate;
use crate::tls::x509::profile::Role;

/// Checks `request.end_entity`, which must be one of the trusted certificates.
pub(super) fn check(policy: &Policy, request: &VerifyRequest<'_>) -> Result<(), Refusal> {
    let certificate =
        Certificate::parse(request.end_entity).map_err(|malformed| refusal::malformed(&malformed, 0))?;
    let now = request.seconds();
    if now > certificate.not_after {
        return Err(refusal::expired(certificate.not_after, now).at(0, &certificate));
    }
    if now < certificate.not_before {
        return Err(refusal::not_yet_valid(certificate.not_before, now).at(0, &certificate));
    }
    if certificate.extensions.extended_key_usage.is_some_and(|usage| !refusal::serves(&usage, request.purpose)) {
        return Err(refusal::wrong_purpose(request.purpose).at(0, &certificate));
    }
    may_sign_handshakes(&certificate)?;
    if policy.flags & flag::X509_STRICT != 0 {
        strict::certificate(&certificate, 0, Role::TrustedPeer)?;
    }
    if policy.flags & flag::CRL_CHECK_LEAF != 0 {
        revocation(policy, request, &certificate).map_err(|refusal| refusal.at(0, &certificate))?;
    }
    Ok(())
}

/// Looks the certificate up in its issuer's CRLs, newest first. The issuer must be a trusted authority whose key signed
/// both the certificate and the CRL; the keys of certificates that only the peer sent are not used.
fn revocation(policy: &Policy, request: &VerifyRequest<'_>, certificate: &Certificate<'_>) -> Result<(), Refusal> {
    let has_issued = |at: usize| {
        let root = policy.anchors.roots().get(at);
        root.is_some_and(|root| {
            explain::is_signed_by(&policy.algorithms, request.end_entity, &root.subject_public_key_info)
        })
    };
    let is_issuers = |crl: &&Crl| crl.is_usable && crl.list.issuer() == certificate.issuer.content;
    let mut has_list = false;
    for crl in policy.crls.iter().filter(is_issuers) {
        has_list = true;
        if !crl.anchor.is_some_and(has_issued) {
            continue;
        }
        if crl.next_update <= request.seconds() {
            return Err(refusal::crl_expired(&certificate.issuer.for_message(), crl.next_update, request.seconds()));
        }
        if !matches!(crl.list.find_serial(certificate.serial), Ok(None)) {
            return Err(Refusal::new(Problem::Revoked, "has been revoked by its authority"));
        }
        // A partitioned CRL says nothing about a certificate that it does not list.
        if crl.list.issuing_distribution_point().is_none() {
            return Ok(());
        }
    }
    if has_list {
        let issuer = certificate.issuer.for_message();
        let why = format!("no CRL that a trusted certificate of \"{issuer}\" has signed covers the certificate");
        return Err(refusal::revocation_unknown(&why));
    }
    let alone = VerifyRequest { others: &[], ..*request };
    Err(explain::explain(policy, &alone, &Error::UnknownRevocationStatus))
}
