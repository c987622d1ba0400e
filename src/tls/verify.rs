//! Verifies the peer's certificate chain. webpki builds and checks the path. This module adds checks that webpki lacks,
//! and [`explain`] finds out which certificate a webpki error is about. The result of verification depends only on the
//! policy and the request; [`peer_verifier`] calls this module from sessions.

pub mod chain;

pub(crate) mod anchor_constraints;
pub(crate) mod anchors;
pub(crate) mod crl;
pub(crate) mod peer_verifier;
pub(crate) mod pins;
pub(crate) mod refusal;
pub(crate) mod server_name;
pub(crate) mod trust;
pub(crate) mod wall_clock;

mod explain;
mod path_budget;
mod policy;
mod strict;
mod trusted_leaf;

use std::cell::{Cell, RefCell};

use webpki::{
    EndEntityCert, ExpirationPolicy, KeyUsage, RevocationCheckDepth, RevocationOptionsBuilder, VerifiedPath,
};

use crate::error::CertificateProblem as Problem;
use crate::tls::verify::crl::flag;
use crate::tls::x509::{Certificate, PublicKey};
pub(crate) use anchors::Origin;
pub(crate) use peer_verifier::{
    ClientVerifier, ServerVerifier, Times, VerifierConfig, VerifierError, VerifierErrors,
};
pub(crate) use pins::{Pin, Pins};
pub(crate) use policy::{Policy, Purpose, VerifyRequest};
use refusal::Refusal;
pub(crate) use wall_clock::unix_time;

/// Verifies a chain with the policy's settings, as a handshake does.
pub(crate) fn verify(policy: &Policy, request: &VerifyRequest<'_>) -> Result<(), Refusal> {
    verify_with(policy, request, policy.verifies_chain)
}

/// Verifies a chain; `verifies_chain` replaces the policy's setting of that name.
pub(crate) fn verify_with(policy: &Policy, request: &VerifyRequest<'_>, verifies_chain: bool) -> Result<(), Refusal> {
    let leaf =
        EndEntityCert::try_from(request.end_entity).map_err(|error| explain::unreadable(request, 0, &error))?;
    let is_pinned = if verifies_chain {
        match chain(policy, request, &leaf) {
            Ok(is_pinned) => is_pinned,
            // A peer can influence which error webpki reports: an appended certificate may cause an error that hides
            // CertRevoked. So a trusted leaf is checked for revocation separately if webpki reports any error other
            // than CertRevoked.
            Err(refusal) if refusal.problem != Problem::Revoked && policy.anchors.contain(request.end_entity) => {
                trusted_leaf::check(policy, request)?;
                policy.pins.allow(&leaf)
            }
            Err(refusal) => return Err(refusal),
        }
    } else {
        policy.pins.allow(&leaf)
    };
    let at_leaf = |refusal: Refusal| match Certificate::parse(request.end_entity) {
        Ok(certificate) => refusal.at(0, &certificate),
        Err(_) => refusal.at_index(0),
    };
    // webpki checks only the strength of keys that made a signature in the chain, so the peer's own key is checked
    // here.
    let key = leaf.subject_public_key_info();
    if let Some(why) = PublicKey::parse(&key).ok().and_then(|key| refusal::unfit_key(&key)) {
        return Err(at_leaf(Refusal::new(Problem::WeakKey, why)));
    }
    match request.name.map(|name| leaf.verify_is_valid_for_subject_name(name)) {
        None | Some(Ok(())) => {}
        Some(Err(_)) => return Err(explain::other_name(request)),
    }
    // Pins are checked last, so that other errors are the same with and without pins.
    if !is_pinned {
        return Err(at_leaf(refusal::not_pinned(&leaf, verifies_chain)));
    }
    Ok(())
}

/// A function that webpki calls for each path that it would accept; an error makes webpki try other paths.
type AcceptPath<'a> = dyn Fn(&VerifiedPath<'_>) -> Result<(), webpki::Error> + 'a;

/// Verifies the chain, but neither the name nor the strength of the peer's key. Prefers a path with a pinned
/// certificate. Returns true if such a path was found, or if there are no pins.
fn chain(policy: &Policy, request: &VerifyRequest<'_>, leaf: &EndEntityCert<'_>) -> Result<bool, Refusal> {
    if !path_budget::within_limit(leaf, request.others, policy.anchors.len()) {
        return Err(explain::explain(policy, request, &webpki::Error::MaximumPathBuildCallsExceeded));
    }
    let crls: Vec<_> = policy.crls.iter().filter(|crl| crl.is_usable).map(|crl| &crl.list).collect();
    // Without any usable CRL, webpki would not check revocation at all.
    let lacks_crls = crls.is_empty() && !policy.crls.is_empty();
    let revocation = RevocationOptionsBuilder::new(&crls).ok().map(|builder| {
        let depth = if policy.flags & flag::CRL_CHECK_CHAIN == flag::CRL_CHECK_CHAIN {
            RevocationCheckDepth::Chain
        } else {
            RevocationCheckDepth::EndEntity
        };
        builder.with_depth(depth).with_expiration_policy(ExpirationPolicy::Enforce).build()
    });
    let usage = match request.purpose {
        Purpose::Server => KeyUsage::server_auth(),
        Purpose::Client => KeyUsage::client_auth(),
    };
    // A refused path does not end the search, because another path may be acceptable. If no path is acceptable, the
    // refusal of the last path is reported.
    let refused = RefCell::new(None);
    let lacks_pin = Cell::new(false);
    let is_strict = policy.flags & flag::X509_STRICT != 0;
    let accept_path = |path: &VerifiedPath<'_>| {
        let fit = issuers_may_sign(request, path)
            .and_then(|()| peer_may_sign_handshakes(request))
            .and_then(|()| anchor_constraints::check(policy, request, path))
            .and_then(|()| if is_strict { strict::check(request, path) } else { Ok(()) })
            .and_then(|()| match lacks_crls {
                true => Err(explain::explain(policy, request, &webpki::Error::UnknownRevocationStatus)),
                false => Ok(()),
            });
        if let Err(refusal) = fit {
            refused.replace(Some(refusal));
            return Err(webpki::Error::CertDistrusted);
        }
        if !policy.pins.allow_path(path) {
            lacks_pin.set(true);
            return Err(webpki::Error::CertDistrusted);
        }
        Ok(())
    };
    let accept_path: Option<&AcceptPath<'_>> = Some(&accept_path);
    let algorithms = policy.algorithms.all;
    let result = leaf.verify_for_usage(
        algorithms,
        policy.anchors.roots(),
        request.others,
        request.time,
        usage,
        revocation,
        accept_path,
    );
    match result {
        Ok(_) => Ok(true),
        Err(_) if lacks_pin.get() => Ok(false),
        Err(error) => Err(match (error, refused.take()) {
            (webpki::Error::CertDistrusted, Some(refusal)) => refusal,
            (error, _) => explain::explain(policy, request, &error),
        }),
    }
}

/// Checks that each intermediate certificate may sign certificates (RFC 5280 section 6.1.4 (n)), because webpki does
/// not check keyUsage.
fn issuers_may_sign(request: &VerifyRequest<'_>, path: &VerifiedPath<'_>) -> Result<(), Refusal> {
    for issuer in path.intermediate_certificates() {
        let der = issuer.der();
        let index = request.index_of(&der).unwrap_or(0);
        let certificate = Certificate::parse(&der).map_err(|malformed| refusal::malformed(&malformed, index))?;
        if certificate.extensions.key_usage.is_some_and(|usage| !usage.key_cert_sign()) {
            let what = "has issued another certificate, but may not (its keyUsage lacks keyCertSign)";
            return Err(Refusal::new(Problem::NotCa, what).at(index, &certificate));
        }
    }
    Ok(())
}

/// Parses the peer's own certificate and checks its keyUsage.
fn peer_may_sign_handshakes(request: &VerifyRequest<'_>) -> Result<(), Refusal> {
    let peer = Certificate::parse(request.end_entity).map_err(|malformed| refusal::malformed(&malformed, 0))?;
    may_sign_handshakes(&peer)
}

/// Checks that the key of the peer's own certificate may sign handshakes (RFC 8446 section 4.4.2.2, RFC 5246 section
/// 7.4.2). Every cipher suite of netlib needs such a signature, and webpki does not check keyUsage.
fn may_sign_handshakes(peer: &Certificate<'_>) -> Result<(), Refusal> {
    match peer.extensions.key_usage {
        Some(usage) if !usage.digital_signature() => Err(refusal::no_handshake_signatures().at(0, peer)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
