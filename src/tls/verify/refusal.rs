//! The reason why a chain was refused. Each text completes a sentence that begins with "the certificate of PEER".

use rustls::{CertificateError, OtherError};
use webpki::EndEntityCert;

use super::policy::Purpose;
use crate::error::{Advice, CertificateProblem as Problem, Error, truncated};
use crate::status::Status;
use crate::tls::x509::{
    Certificate, ExtendedKeyUsage, Malformed, PublicKey,
    fingerprint::{self, key_pin},
    public_key::Curve,
    time::utc,
};

/// Advice in error messages: the setting that would make the chain acceptable. No advice proposes to switch a check
/// off, because applications would then switch the check off for every server.
pub(crate) mod advice {
    use crate::error::{Advice, ApiName};

    pub(crate) const TRUST_ISSUER: Advice = Advice::new("to trust its authority", ApiName::AddCaFile);
    pub(crate) const TRUST_IT: Advice = Advice::new("to trust it", ApiName::AddCaFile);
    pub(crate) const ADD_PIN: Advice =
        Advice::new("to accept it, if it is known to be the right one", ApiName::AddPin);
    pub(crate) const ADD_CRL: Advice = Advice::new("to add a current CRL", ApiName::AddCrlFile);
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) problem: Problem,
    /// The index of the refused certificate in the chain; 0 is the peer's own certificate.
    pub(crate) index: Option<usize>,
    /// The subject of the refused certificate.
    pub(crate) subject: Option<String>,
    /// Completes the sentence "the certificate …", for example "expired on …".
    pub(crate) what: String,
    pub(crate) advice: Option<Box<Advice>>,
    /// The host name that the server's certificate was verified against.
    pub(crate) server: Option<String>,
    /// The digests of a certificate that no pin matches.
    pub(crate) digests: Option<Box<PeerDigests>>,
}

/// The digests of a peer's certificate, in the syntax of pins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PeerDigests {
    fingerprint: String,
    key_pin: String,
}

impl Refusal {
    pub(crate) fn new(problem: Problem, what: impl Into<String>) -> Refusal {
        let advice = match problem {
            Problem::UnknownIssuer | Problem::IncompleteChain => Some(advice::TRUST_ISSUER),
            Problem::SelfSigned => Some(advice::TRUST_IT),
            Problem::RevocationUnknown => Some(advice::ADD_CRL),
            Problem::NotPinned => Some(advice::ADD_PIN),
            _ => None,
        };
        let (what, advice) = (what.into(), advice.map(Box::new));
        Refusal { problem, index: None, subject: None, what, advice, server: None, digests: None }
    }

    pub(crate) fn with_advice(self, advice: Advice) -> Refusal {
        Refusal { advice: Some(Box::new(advice)), ..self }
    }

    pub(crate) fn at(self, index: usize, certificate: &Certificate<'_>) -> Refusal {
        let subject = Some(certificate.subject.for_message()).filter(|subject| !subject.is_empty());
        Refusal { subject, ..self.at_index(index) }
    }

    pub(crate) fn at_index(self, index: usize) -> Refusal {
        Refusal { index: Some(index), ..self }
    }

    /// Returns the error for a session, including the alert that is sent to the peer. `peer` is, for example, `the
    /// server "example.com"`.
    pub(crate) fn into_error(self, peer: &str) -> Error {
        let alert = rustls::AlertDescription::from(self.for_rustls());
        self.explained(peer).with_tls_alert(u8::from(alert))
    }

    /// Returns the error for a verification outside a session, which sends no alert.
    pub(crate) fn explained(self, peer: &str) -> Error {
        let whose = match self.index {
            None => format!("the certificate chain of {peer}"),
            Some(0) => format!("the certificate of {peer}"),
            Some(index) => format!("certificate {index} of the chain of {peer}"),
        };
        let subject = self.subject.as_deref().map(|subject| format!(" ({})", truncated(subject))).unwrap_or_default();
        let status = match self.problem {
            Problem::NameMismatch => Status::HostnameMismatch,
            Problem::NotPinned => Status::FingerprintMismatch,
            _ => Status::CertificateVerify,
        };
        let error = Error::new(status, format!("{whose}{subject} {}", self.what))
            .with_certificate_problem(self.problem)
            .at_certificate(self.index)
            .with_advice(self.advice.map(|advice| *advice));
        match self.digests {
            Some(digests) => error.with_actual_fingerprint(digests.fingerprint).with_public_key_pin(digests.key_pin),
            None => error,
        }
    }

    /// Returns the rustls error for which rustls sends the alert that RFC 8446 section 6.2 defines for this problem.
    /// The session receives the detailed refusal through [`super::peer_verifier::VerifierErrors`].
    pub(crate) fn for_rustls(&self) -> CertificateError {
        match self.problem {
            // rustls sends the alert certificate_expired: "has expired or is not currently valid".
            Problem::Expired | Problem::NotYetValid => CertificateError::Expired,
            Problem::Revoked => CertificateError::Revoked,
            // rustls sends the alert unknown_ca, which OpenSSL also sends for an unknown revocation status.
            Problem::UnknownIssuer | Problem::IncompleteChain | Problem::SelfSigned | Problem::RevocationUnknown => {
                CertificateError::UnknownIssuer
            }
            // rustls sends the alert unsupported_certificate: "of an unsupported type".
            Problem::WrongPurpose | Problem::NotCa | Problem::AuthorityAsLeaf => CertificateError::InvalidPurpose,
            // rustls sends the alert decrypt_error, as OpenSSL does.
            Problem::BadSignature => CertificateError::BadSignature,
            // rustls sends the alert bad_certificate.
            Problem::Malformed | Problem::NameMismatch | Problem::WeakKey | Problem::WeakSignature => {
                CertificateError::BadEncoding
            }
            // rustls sends the alert certificate_unknown.
            Problem::None
            | Problem::Other
            | Problem::Missing
            | Problem::NotPinned
            | Problem::NameConstraints
            | Problem::PathLength
            | Problem::UnknownCriticalExtension
            | Problem::TooComplex => CertificateError::Other(OtherError(std::sync::Arc::new(std::fmt::Error))),
        }
    }
}

/// Returns the refusal for a certificate that netlib's own parser could not parse.
pub(super) fn malformed(malformed: &Malformed, index: usize) -> Refusal {
    let what = format!("cannot be parsed: {} at byte {}", malformed.what, malformed.at);
    Refusal::new(Problem::Malformed, what).at_index(index)
}

pub(super) fn revocation_unknown(why: &str) -> Refusal {
    Refusal::new(Problem::RevocationUnknown, format!("may have been revoked: {why}"))
}

/// Returns the refusal for an expired CRL of `issuer`, a distinguished name.
pub(super) fn crl_expired(issuer: &str, next_update: i64, now: i64) -> Refusal {
    let (ended, now) = (utc(next_update), utc(now));
    revocation_unknown(&format!("the CRL of \"{issuer}\" expired on {ended}; the time is {now}"))
}

pub(in crate::tls) fn expired(not_after: i64, now: i64) -> Refusal {
    Refusal::new(Problem::Expired, expired_on(not_after, now))
}

pub(super) fn expired_on(not_after: i64, now: i64) -> String {
    format!("expired on {}; the time is {}", utc(not_after), utc(now))
}

pub(super) fn not_yet_valid(not_before: i64, now: i64) -> Refusal {
    Refusal::new(Problem::NotYetValid, valid_only_from(not_before, now))
}

pub(super) fn valid_only_from(not_before: i64, now: i64) -> String {
    format!("is valid only from {}; the time is {}", utc(not_before), utc(now))
}

pub(super) fn too_many_below(allowed: u32, below: usize) -> String {
    format!("allows {allowed} authorities below it (pathlen); there are {below}")
}

/// Describes an unknown critical extension; `kind` is its object identifier in dotted form.
pub(super) fn not_understood(kind: &str) -> String {
    format!("has a critical extension that netlib does not support ({kind})")
}

pub(super) fn serves(usage: &ExtendedKeyUsage, purpose: Purpose) -> bool {
    match purpose {
        Purpose::Server => usage.server_auth,
        Purpose::Client => usage.client_auth,
    }
}

pub(super) fn wrong_purpose(purpose: Purpose) -> Refusal {
    Refusal::new(Problem::WrongPurpose, other_purpose(purpose))
}

pub(super) fn other_purpose(purpose: Purpose) -> String {
    let wanted = match purpose {
        Purpose::Server => "servers (its extendedKeyUsage lacks serverAuth)",
        Purpose::Client => "clients (its extendedKeyUsage lacks clientAuth)",
    };
    format!("was not issued for {wanted}")
}

/// Returns the refusal for a peer certificate whose key may not sign handshakes.
pub(super) fn no_handshake_signatures() -> Refusal {
    Refusal::new(Problem::WrongPurpose, "may not sign handshakes (its keyUsage lacks digitalSignature)")
}

/// Returns the refusal for a chain without a pinned certificate. The error message contains the pin of the peer's key,
/// so that an administrator can add the pin.
pub(super) fn not_pinned(leaf: &EndEntityCert<'_>, is_chain_verified: bool) -> Refusal {
    let above = if is_chain_verified { ", and no authority above it is" } else { "" };
    let pin = key_pin(&leaf.subject_public_key_info());
    let what = format!("is not pinned{above}: the pin of its key is {pin}");
    let digests = PeerDigests { fingerprint: fingerprint::sha256(&leaf.der()), key_pin: pin };
    Refusal { digests: Some(Box::new(digests)), ..Refusal::new(Problem::NotPinned, what) }
}

/// Returns the reason why signatures of this key are not accepted, if any.
pub(crate) fn unfit_key(key: &PublicKey<'_>) -> Option<String> {
    match key {
        PublicKey::Rsa { bits } if *bits < 2048 => {
            Some(format!("has an RSA key of {bits} bits; at least 2048 are needed"))
        }
        PublicKey::Rsa { bits } if *bits > 8192 => {
            Some(format!("has an RSA key of {bits} bits; at most 8192 are supported"))
        }
        PublicKey::Rsa { .. } | PublicKey::Ed25519 | PublicKey::Other(_) => None,
        PublicKey::Ec { curve: Some(Curve::P256 | Curve::P384 | Curve::P521) } => None,
        PublicKey::Ec { curve: Some(curve) } => Some(format!(
            "has a key of {} bits on the curve {}, which is not supported",
            curve.bits(),
            curve.name().to_string_lossy()
        )),
        PublicKey::Ec { curve: None } => Some("has a key on a curve that is not supported".to_owned()),
        PublicKey::RsaPss { bits } | PublicKey::Dsa { bits } => {
            Some(format!("has a key of {bits} bits of type {}, which is not supported", key.algorithm()))
        }
        PublicKey::Ed448 => Some("has a key of type ED448, which is not supported".to_owned()),
    }
}

/// Joins the first eight names and counts the rest, because a certificate may have a thousand names.
pub(super) fn list(names: impl Iterator<Item = String>) -> Option<String> {
    const SHOWN: usize = 8;
    let mut text = String::new();
    let mut more = 0;
    for (index, name) in names.enumerate() {
        match index {
            0 => text = truncated(&name).to_owned(),
            1..SHOWN => text = format!("{text}, {}", truncated(&name)),
            _ => more += 1,
        }
    }
    match (text.is_empty(), more) {
        (true, _) => None,
        (false, 0) => Some(text),
        (false, more) => Some(format!("{text} and {more} more")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_messages_list_at_most_eight_certificate_names() {
        let names = |count: usize| (0..count).map(|i| format!("n{i}"));
        assert_eq!(list(names(0)), None);
        assert_eq!(list(names(2)).as_deref(), Some("n0, n1"));
        assert_eq!(list(names(8)).as_deref(), Some("n0, n1, n2, n3, n4, n5, n6, n7"));
        assert_eq!(list(names(10)).as_deref(), Some("n0, n1, n2, n3, n4, n5, n6, n7 and 2 more"));
        assert_eq!(list(std::iter::once("x".repeat(300))).map(|text| text.len()), Some(80));
    }

    #[test]
    fn unsupported_keys_are_refused_with_the_reason() {
        for (key, why) in [
            (PublicKey::Rsa { bits: 2048 }, None),
            (PublicKey::Rsa { bits: 8192 }, None),
            (PublicKey::Rsa { bits: 2047 }, Some("has an RSA key of 2047 bits; at least 2048 are needed")),
            (PublicKey::Rsa { bits: 8193 }, Some("has an RSA key of 8193 bits; at most 8192 are supported")),
            (PublicKey::Ec { curve: Some(Curve::P521) }, None),
            (PublicKey::Ed25519, None),
            (
                PublicKey::Ec { curve: Some(Curve::P224) },
                Some("has a key of 224 bits on the curve secp224r1, which is not supported"),
            ),
            (PublicKey::Ec { curve: None }, Some("has a key on a curve that is not supported")),
            (PublicKey::Dsa { bits: 1024 }, Some("has a key of 1024 bits of type DSA, which is not supported")),
            (PublicKey::Ed448, Some("has a key of type ED448, which is not supported")),
        ] {
            assert_eq!(unfit_key(&key).as_deref(), why);
        }
    }
}
