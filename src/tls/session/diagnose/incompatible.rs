//! Creates the errors for peers that have no version, cipher suite or other parameter in common with this side.

use rustls::{AlertDescription, PeerIncompatible};

use super::SessionFacts;
use super::advice::OWN_CERTIFICATE;
use crate::error::Error;
use crate::status::Status;
use crate::tls::error_text;
use crate::tls::session::peer_request::PeerRequest;

impl SessionFacts<'_> {
    pub(super) fn incompatible(&self, why: &PeerIncompatible) -> Error {
        let peer = self.peer();
        let common = |what: &str| format!("{peer} and this side have no {what} in common");
        let (message, alert, advice) = match why {
            PeerIncompatible::ServerDoesNotSupportTls12Or13 => (
                format!("{peer} offers neither TLS 1.2 nor TLS 1.3; netlib supports no older version"),
                AlertDescription::ProtocolVersion,
                None,
            ),
            // rustls checks extensions before versions, so a client that offers only TLS 1.0 fails with one of these
            // errors.
            PeerIncompatible::Tls12NotOffered
            | PeerIncompatible::Tls12NotOfferedOrEnabled
            | PeerIncompatible::SignatureAlgorithmsExtensionRequired
                if self.newest_offered.is_some_and(|newest| newest < TLS12) =>
            {
                let newest = old_version(self.newest_offered.unwrap_or(0));
                (
                    format!("{peer} offers at most {newest}; netlib needs TLS 1.2"),
                    AlertDescription::ProtocolVersion,
                    None,
                )
            }
            PeerIncompatible::ServerTlsVersionIsDisabledByOurConfig
            | PeerIncompatible::Tls12NotOffered
            | PeerIncompatible::Tls12NotOfferedOrEnabled
            | PeerIncompatible::SupportedVersionsExtensionRequired => {
                (common("TLS version"), AlertDescription::ProtocolVersion, self.restrictions.versions())
            }
            PeerIncompatible::NoCipherSuitesInCommon => {
                (common("cipher suite"), AlertDescription::HandshakeFailure, self.restrictions.ciphers())
            }
            PeerIncompatible::NoKxGroupsInCommon
                if matches!(self.peer_request, Some(PeerRequest::Session { ecdhe: false, .. })) =>
            {
                let message =
                    "offers no ephemeral key exchange on elliptic curves (ECDHE), and netlib supports no other";
                (format!("{peer} {message}"), AlertDescription::HandshakeFailure, None)
            }
            // RFC 8446 section 9.2 requires the alert missing_extension, but rustls sends handshake_failure.
            PeerIncompatible::KeyShareExtensionRequired => (
                format!(
                    "{peer} offers TLS 1.3 without a key share (the key_share extension), which TLS 1.3 requires"
                ),
                AlertDescription::MissingExtension,
                None,
            ),
            PeerIncompatible::NoKxGroupsInCommon | PeerIncompatible::NamedGroupsExtensionRequired => {
                (common("key-exchange group"), AlertDescription::HandshakeFailure, self.restrictions.groups())
            }
            PeerIncompatible::NoSignatureSchemesInCommon
            | PeerIncompatible::NoCertificateRequestSignatureSchemesInCommon
            | PeerIncompatible::SignatureAlgorithmsExtensionRequired => (
                common("signature scheme that this side's certificate supports"),
                AlertDescription::HandshakeFailure,
                Some(OWN_CERTIFICATE),
            ),
            PeerIncompatible::ExtendedMasterSecretExtensionRequired => (
                format!(
                    "{peer} does not support the extended master secret (RFC 7627), which netlib requires for TLS 1.2"
                ),
                AlertDescription::HandshakeFailure,
                None,
            ),
            why => {
                let why = error_text::peer_incompatible(why);
                (
                    format!("no TLS session with {peer} is possible: it {why}"),
                    AlertDescription::HandshakeFailure,
                    None,
                )
            }
        };
        Error::new(Status::TlsIncompatible, message).with_tls_alert(u8::from(alert)).with_advice(advice)
    }
}

const TLS12: u16 = 0x0303;

/// Returns the name of a version before TLS 1.2.
fn old_version(number: u16) -> &'static str {
    match number {
        0x0302 => "TLS 1.1",
        0x0301 => "TLS 1.0",
        _ => "SSL 3.0",
    }
}
