//! Accepting or refusing a peer's chain of certificates. webpki builds the path and judges it; what it does not ask is
//! asked here, and [`explain`] says of its errors which certificate they are about. A plain function of what is trusted
//! and what was sent: it knows nothing of sessions, of which [`peer_verifier`] does.

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
mod strict;
mod trusted_leaf;

use std::cell::{Cell, RefCell};

use rustls::crypto::WebPkiSupportedAlgorithms;
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};
use webpki::{
    EndEntityCert, ExpirationPolicy, KeyUsage, RevocationCheckDepth, RevocationOptionsBuilder, VerifiedPath,
};

use super::x509::Certificate;
use crate::error::CertificateProblem as Problem;
use crate::tls::verify::anchors::Anchors;
use crate::tls::verify::crl::{Crl, flag};
use crate::tls::verify::pins::Pins;
use crate::tls::x509::public_key::PublicKey;
use refusal::Refusal;

/// What a context trusts and asks for: the same for all its sessions.
pub(crate) struct Policy {
    /// Whether for a handshake a trusted authority must have issued what is shown. If not, the pins say whose it must be.
    pub(crate) verifies_chain: bool,
    pub(crate) pins: Pins,
    /// Each of their certificates may also be a peer's own.
    pub(crate) anchors: Anchors,
    /// The newest first.
    pub(crate) crls: Vec<Crl>,
    /// Bits of [`flag`].
    pub(crate) flags: i32,
    pub(crate) algorithms: WebPkiSupportedAlgorithms,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Server,
    Client,
}

/// One chain that was sent, and what it is to prove.
pub(crate) struct Question<'a> {
    /// The peer's own certificate.
    pub(crate) end_entity: &'a CertificateDer<'a>,
    /// The others that it sent, in any order.
    pub(crate) others: &'a [CertificateDer<'a>],
    pub(crate) purpose: Purpose,
    /// `None`: any name will do.
    pub(crate) name: Option<&'a ServerName<'a>>,
    pub(crate) time: UnixTime,
}

impl Question<'_> {
    fn seconds(&self) -> i64 {
        i64::try_from(self.time.as_secs()).unwrap_or(i64::MAX)
    }

    /// Of a certificate that was sent: 0 is the peer's own.
    fn index_of(&self, der: &[u8]) -> Option<usize> {
        if self.end_entity.as_ref() == der {
            return Some(0);
        }
        self.others.iter().position(|other| other.as_ref() == der).map(|position| position + 1)
    }
}

/// As a handshake judges.
pub(crate) fn verify(policy: &Policy, asked: &Question<'_>) -> Result<(), Refusal> {
    judge(policy, asked, policy.verifies_chain)
}

/// The same, for who asks for the chain whatever handshakes do.
pub(crate) fn judge(policy: &Policy, asked: &Question<'_>, verifies_chain: bool) -> Result<(), Refusal> {
    let leaf = EndEntityCert::try_from(asked.end_entity).map_err(|error| explain::unreadable(asked, 0, &error))?;
    let is_pinned = if verifies_chain {
        match chain(policy, asked, &leaf) {
            Ok(is_pinned) => is_pinned,
            // The peer can choose webpki's error: a certificate that it appends may yield one that webpki prefers to
            // CertRevoked. So any error leads here, and the revocation of the leaf is checked again.
            Err(refusal) if refusal.problem != Problem::Revoked && policy.anchors.contain(asked.end_entity) => {
                trusted_leaf::check(policy, asked)?;
                policy.pins.allow(&leaf)
            }
            Err(refusal) => return Err(refusal),
        }
    } else {
        policy.pins.allow(&leaf)
    };
    let at_leaf = |refusal: Refusal| match Certificate::parse(asked.end_entity) {
        Ok(certificate) => refusal.at(0, &certificate),
        Err(_) => refusal.at_index(0),
    };
    // webpki looks only at keys that have signed something.
    let key = leaf.subject_public_key_info();
    if let Some(why) = PublicKey::parse(&key).ok().and_then(|key| refusal::unfit_key(&key)) {
        return Err(at_leaf(Refusal::new(Problem::WeakKey, why)));
    }
    match asked.name.map(|name| leaf.verify_is_valid_for_subject_name(name)) {
        None | Some(Ok(())) => {}
        Some(Err(_)) => return Err(explain::other_name(asked)),
    }
    // The last question: what is wrong without pins is told as without them.
    if !is_pinned {
        return Err(at_leaf(refusal::not_pinned(&leaf, verifies_chain)));
    }
    Ok(())
}

/// What webpki shows a path that it would accept.
type Look<'a> = dyn Fn(&VerifiedPath<'_>) -> Result<(), webpki::Error> + 'a;

/// Everything but the name and the peer's own key. Whether the path is pinned: of several that would do, one that is.
fn chain(policy: &Policy, asked: &Question<'_>, leaf: &EndEntityCert<'_>) -> Result<bool, Refusal> {
    if !path_budget::is_bearable(leaf, asked.others, policy.anchors.len()) {
        return Err(explain::explain(policy, asked, &webpki::Error::MaximumPathBuildCallsExceeded));
    }
    let lists: Vec<_> = policy.crls.iter().filter(|crl| crl.is_usable).map(|crl| &crl.list).collect();
    // Without any CRL webpki would not check revocation at all.
    let lacks_lists = lists.is_empty() && !policy.crls.is_empty();
    let revocation = RevocationOptionsBuilder::new(&lists).ok().map(|builder| {
        let depth = if policy.flags & flag::CRL_CHECK_CHAIN == flag::CRL_CHECK_CHAIN {
            RevocationCheckDepth::Chain
        } else {
            RevocationCheckDepth::EndEntity
        };
        builder.with_depth(depth).with_expiration_policy(ExpirationPolicy::Enforce).build()
    });
    let usage = match asked.purpose {
        Purpose::Server => KeyUsage::server_auth(),
        Purpose::Client => KeyUsage::client_auth(),
    };
    // Another path may still do, so webpki is told of a refusal and goes on; the last one is told if none does.
    let refused = RefCell::new(None);
    let lacks_pin = Cell::new(false);
    let is_strict = policy.flags & flag::X509_STRICT != 0;
    let look = |path: &VerifiedPath<'_>| {
        let fit = issuers_may_sign(asked, path)
            .and_then(|()| anchor_constraints::check(policy, asked, path))
            .and_then(|()| if is_strict { strict::check(asked, path) } else { Ok(()) })
            .and_then(|()| match lacks_lists {
                true => Err(explain::explain(policy, asked, &webpki::Error::UnknownRevocationStatus)),
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
    let look: Option<&Look<'_>> = Some(&look);
    let algorithms = policy.algorithms.all;
    let judged =
        leaf.verify_for_usage(algorithms, policy.anchors.roots(), asked.others, asked.time, usage, revocation, look);
    match judged {
        Ok(_) => Ok(true),
        Err(_) if lacks_pin.get() => Ok(false),
        Err(error) => Err(match (error, refused.take()) {
            (webpki::Error::CertDistrusted, Some(refusal)) => refusal,
            (error, _) => explain::explain(policy, asked, &error),
        }),
    }
}

/// RFC 5280 section 6.1.4 (n), which webpki does not ask: an authority whose keyUsage says what its key is for.
fn issuers_may_sign(asked: &Question<'_>, path: &VerifiedPath<'_>) -> Result<(), Refusal> {
    for issuer in path.intermediate_certificates() {
        let der = issuer.der();
        let index = asked.index_of(&der).unwrap_or(0);
        let certificate = Certificate::parse(&der).map_err(|malformed| refusal::malformed(&malformed, index))?;
        if certificate.extensions.key_usage.is_some_and(|usage| !usage.key_cert_sign()) {
            let what = "has issued another one, but may not (its keyUsage lacks keyCertSign)";
            return Err(Refusal::new(Problem::NotCa, what).at(index, &certificate));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
