//! Implements NETLIB_VERIFY_FLAG_X509_STRICT: applies the rules of [`profile`] to every certificate of a chain.

use webpki::VerifiedPath;

use super::policy::VerifyRequest;
use super::refusal::{self, Refusal};
use crate::error::CertificateProblem as Problem;
use crate::tls::x509::Certificate;
use crate::tls::x509::profile::{self, Role};

/// Checks all certificates of a path except the anchor's, which [`super::anchor_constraints`] checks.
pub(super) fn check(request: &VerifyRequest<'_>, path: &VerifiedPath<'_>) -> Result<(), Refusal> {
    let issuers = path.intermediate_certificates().map(|issuer| issuer.der());
    for der in std::iter::once(path.end_entity().der()).chain(issuers) {
        let index = request.index_of(&der).unwrap_or(0);
        let parsed = Certificate::parse(&der).map_err(|malformed| refusal::malformed(&malformed, index))?;
        certificate(&parsed, index, Role::Sent)?;
    }
    Ok(())
}

pub(super) fn certificate(certificate: &Certificate<'_>, index: usize, role: Role) -> Result<(), Refusal> {
    let Some(broken) = profile::broken_rule(certificate, role) else { return Ok(()) };
    Err(Refusal::new(Problem::Other, format!("breaks a rule of RFC 5280: {broken}")).at(index, certificate))
}
