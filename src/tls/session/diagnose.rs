//! Turns rustls' errors into netlib's: a status, a message with the facts, and advice on the setting that would change
//! the result.

use rustls::internal::msgs::handshake::EchConfigPayload;
use rustls::{AlertDescription, Error as TlsError, InvalidMessage, PeerIncompatible, PeerMisbehaved};

use super::peer_request::{CertificateSelection, PeerRequest};
use super::record;
use crate::error::{Advice, ApiName, CertificateProblem, Error};
use crate::status::Status;
use crate::tls::config::{code_points, ech};
use crate::tls::error_text;
use crate::tls::verify::peer_verifier::VerifierError;

/// The supported parameters that the options exclude.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Restrictions {
    pub(crate) versions: bool,
    pub(crate) ciphers: bool,
    pub(crate) groups: bool,
    /// Encrypted Client Hello excludes TLS 1.2.
    pub(crate) ech: bool,
}

impl Restrictions {
    fn versions(self) -> Option<Advice> {
        self.versions.then_some(if self.ech { WITHOUT_ECH } else { VERSIONS })
    }

    fn ciphers(self) -> Option<Advice> {
        self.ciphers.then_some(CIPHERS)
    }

    fn groups(self) -> Option<Advice> {
        self.groups.then_some(GROUPS)
    }
}

/// The state of the session when the error occurred.
pub(crate) struct SessionFacts<'a> {
    /// Whether this side is the server.
    pub(crate) is_server: bool,
    /// The name that the server's certificate must have.
    pub(crate) name: Option<&'a str>,
    /// The public name, if Encrypted Client Hello was offered.
    pub(crate) public_name: Option<&'a str>,
    /// Encrypted Client Hello was rejected: the peer is the server of the public name.
    pub(crate) is_rejected: bool,
    pub(crate) restrictions: Restrictions,
    /// The peer's request, if the handshake has reached it.
    pub(crate) peer_request: Option<&'a PeerRequest>,
    pub(crate) handshaking: bool,
    /// Input that rustls has not consumed. Empty if the error is inside the last record.
    pub(crate) unread: &'a [u8],
    pub(crate) received_record: bool,
    /// On a server: the newest version in the ClientHello, if that could be parsed.
    pub(crate) newest_offered: Option<u16>,
}

const A_CERTIFICATE: Advice = Advice::new("to present a certificate", ApiName::SetIdentity);
const OWN_CERTIFICATE: Advice = Advice::new("to present another certificate", ApiName::SetIdentity);
const PROTOCOLS: Advice = Advice::new("to offer other protocols", ApiName::AddAlpnProtocol);
const CIPHERS: Advice = Advice::new("to allow other cipher suites", ApiName::SetCiphers);
const EARLY_DATA: Advice = Advice::with_usage("to offer no early data", ApiName::SetEarlyData, " with 0");
const GROUPS: Advice = Advice::new("to allow other groups", ApiName::SetKeyExchangeGroups);
const VERSIONS: Advice = Advice::new("to allow other versions", ApiName::SetVersions);

const WITHOUT_ECH: Advice =
    Advice::text("Encrypted Client Hello needs TLS 1.3; a context without Encrypted Client Hello can use TLS 1.2");
const RETRY_ECH: Advice = Advice::new("to try again on a new connection", ApiName::EchRetryConfigs);
const RETRY_WITHOUT_ECH: Advice = Advice::text(
    "to connect without Encrypted Client Hello, with a visible server name: use a context without an ECHConfigList",
);

impl SessionFacts<'_> {
    /// Describes the peer, as in "the server \"example.com\"".
    pub(crate) fn peer(&self) -> String {
        if let (true, Some(public), Some(name)) = (self.is_rejected, self.public_name, self.name) {
            return format!("the server \"{public}\" (which rejected Encrypted Client Hello for \"{name}\")");
        }
        match (self.is_server, self.name) {
            (true, _) => "the client".to_owned(),
            (false, Some(name)) => format!("the server \"{name}\""),
            (false, None) => "the server".to_owned(),
        }
    }

    pub(crate) fn during(&self) -> &'static str {
        if self.handshaking { " during the TLS handshake" } else { "" }
    }

    /// Returns the error of a connection that ended without close_notify.
    pub(crate) fn truncated(&self, nothing_received: bool) -> Error {
        let peer = self.peer();
        Error::new(
            if self.handshaking { Status::TlsHandshakeEof } else { Status::TlsTruncated },
            match (self.handshaking, nothing_received) {
                (true, true) => format!("{peer} closed the connection without answering the TLS handshake"),
                (true, false) => format!("{peer} closed the connection during the TLS handshake"),
                (false, _) => {
                    format!("{peer} closed the connection without close_notify: the received data may be truncated")
                }
            },
        )
    }

    /// Returns whether the error means that Encrypted Client Hello was rejected: rustls reports that at the end of the
    /// handshake, or the certificate was verified for the public name.
    pub(crate) fn is_rejected(&self, error: &TlsError, verifier_error: Option<&VerifierError>) -> bool {
        let judged = match verifier_error {
            Some(VerifierError::Refused(refusal)) => refusal.server.as_deref(),
            _ => None,
        };
        let is_public = |name: &str| self.public_name.is_some_and(|public| public.eq_ignore_ascii_case(name));
        matches!(error, TlsError::PeerIncompatible(PeerIncompatible::ServerRejectedEncryptedClientHello(_)))
            || judged.is_some_and(|judged| is_public(judged) && self.name != Some(judged))
    }

    /// Turns an error of rustls into netlib's. `verifier_error` is the certificate verifier's result.
    pub(crate) fn explain(&self, error: &TlsError, verifier_error: Option<VerifierError>) -> Error {
        let peer = self.peer();
        match verifier_error {
            Some(VerifierError::Refused(mut refusal)) => {
                // Without a certificate for the public name the peer is not authenticated, and must not be able to make
                // the application turn ECH off.
                if self.is_rejected && refusal.problem == CertificateProblem::NameMismatch {
                    refusal.advice = None;
                }
                return refusal.into_error(&peer);
            }
            Some(VerifierError::Failed(failure)) => return failure,
            None => {}
        }
        let protocol = |message: String| Error::new(Status::TlsProtocol, message);
        match error {
            TlsError::AlertReceived(alert) => self.alert(u8::from(*alert)),
            TlsError::InvalidCertificate(error) => Error::new(
                Status::CertificateVerify,
                format!("the certificate of {peer} {}", error_text::certificate(error)),
            )
            .with_certificate_problem(CertificateProblem::Other)
            .with_tls_alert(u8::from(AlertDescription::from(error.clone()))),
            TlsError::NoCertificatesPresented => {
                let missing = Error::new(Status::CertificateVerify, format!("{peer} presented no certificate"))
                    .with_certificate_problem(CertificateProblem::Missing);
                // rustls sends this alert only to clients.
                if !self.is_server {
                    return missing;
                }
                missing.with_tls_alert(u8::from(AlertDescription::CertificateRequired))
            }
            TlsError::InvalidMessage(
                InvalidMessage::InvalidContentType
                | InvalidMessage::UnknownProtocolVersion
                | InvalidMessage::MessageTooLarge,
            ) if not_a_record(self.unread).is_some() => self.not_tls(not_a_record(self.unread).unwrap_or(&[])),
            TlsError::InvalidMessage(what) => {
                // rustls sends a different alert from the one that its own conversion returns.
                let alert = match what {
                    InvalidMessage::InvalidKeyUpdate => AlertDescription::IllegalParameter,
                    what => AlertDescription::from(*what),
                };
                protocol(format!("{peer} sent a malformed TLS message: {}", error_text::invalid_message(what)))
                    .with_tls_alert(u8::from(alert))
            }
            TlsError::DecryptError if self.handshaking && self.unread.is_empty() => {
                protocol(format!("{peer} ended the TLS handshake with a wrong Finished message"))
                    .with_tls_alert(u8::from(AlertDescription::DecryptError))
            }
            TlsError::DecryptError => protocol(format!(
                "a record from {peer} could not be decrypted: it was modified in transit, or the peer has a bug"
            ))
            .with_tls_alert(u8::from(AlertDescription::BadRecordMac)),
            TlsError::PeerSentOversizedRecord => protocol(format!("{peer} sent a record larger than TLS allows"))
                .with_tls_alert(u8::from(AlertDescription::RecordOverflow)),
            TlsError::NoApplicationProtocol => {
                Error::new(Status::TlsIncompatible, format!("{peer} and this side have no ALPN protocol in common"))
                    .with_tls_alert(u8::from(AlertDescription::NoApplicationProtocol))
                    .with_advice(PROTOCOLS)
            }
            TlsError::PeerIncompatible(PeerIncompatible::ServerRejectedEncryptedClientHello(configs)) => {
                self.rejected(configs.as_deref())
            }
            TlsError::PeerIncompatible(why) => self.incompatible(why),
            // The server has been downgraded to TLS 1.2 since the session that is resumed.
            TlsError::PeerMisbehaved(PeerMisbehaved::OfferedEarlyDataWithOldProtocolVersion) => {
                let message = format!("{peer} answered an offer of early data with TLS 1.2, which has none");
                Error::new(Status::TlsIncompatible, message).with_advice(EARLY_DATA)
            }
            TlsError::PeerMisbehaved(why) => {
                protocol(format!("{peer} broke the TLS protocol: it {}", error_text::peer_misbehaved(why)))
            }
            TlsError::InappropriateMessage { .. } | TlsError::InappropriateHandshakeMessage { .. } => {
                protocol(format!("{peer} broke the TLS protocol: {}", error_text::other(error)))
                    .with_tls_alert(u8::from(AlertDescription::UnexpectedMessage))
            }
            TlsError::UnsupportedNameType
            | TlsError::InvalidCertRevocationList(_)
            | TlsError::InvalidEncryptedClientHello(_) => protocol(error_text::other(error).into_owned()),
            // rustls' error for a TLS 1.2 client whose signature schemes this side's key does not support.
            TlsError::General(_) if self.is_server && self.handshaking => Error::new(
                Status::TlsIncompatible,
                format!("no TLS session with {peer} is possible: {}", error_text::other(error)),
            ),
            _ => {
                let why = error_text::other(error);
                Error::new(Status::Internal, format!("the TLS session failed{}: {why}", self.during()))
            }
        }
    }

    fn alert(&self, number: u8) -> Error {
        let peer = self.peer();
        if number == u8::from(AlertDescription::CloseNotify) {
            return self.truncated(false).with_tls_alert(number);
        }
        let own = Some(OWN_CERTIFICATE);
        let selection = match self.peer_request {
            Some(PeerRequest::Certificate(selection)) => Some(selection),
            _ => None,
        };
        let (hint, advice) = match (number, selection) {
            // Different servers answer a missing certificate with each of these alerts.
            (40..=43 | 46 | 48 | 49, Some(CertificateSelection::NoCertificate)) => {
                ("it requested a certificate, and none was sent", Some(A_CERTIFICATE))
            }
            (40..=43 | 46 | 48 | 49, Some(CertificateSelection::NoUsableKey)) => (
                "it requested a certificate, and none was sent: this side's key supports none of the requested signature schemes",
                own,
            ),
            // A server requests a certificate after everything else is negotiated.
            (40, Some(CertificateSelection::Certificate)) => {
                ("it requested a certificate, and may have rejected the one that was sent", own)
            }
            _ => self.hint(number),
        };
        let mut message =
            format!("{peer} ended the session{} with alert {number} ({})", self.during(), code_points::alert(number));
        if !hint.is_empty() {
            message = format!("{message}: {hint}");
        }
        Error::new(Status::TlsAlert, message).with_tls_alert(number).with_advice(advice)
    }

    /// Returns the usual meaning of an alert, and advice.
    fn hint(&self, number: u8) -> (&'static str, Option<Advice>) {
        let own = Some(OWN_CERTIFICATE);
        match number {
            40 | 71 if self.handshaking => {
                let parameters = "client and server have no TLS version, cipher suite or parameters in common";
                (
                    parameters,
                    self.restrictions.ciphers().or(self.restrictions.groups()).or(self.restrictions.versions()),
                )
            }
            44 => ("it regards this side's certificate as revoked", own),
            45 => ("according to its clock, this side's certificate has expired or is not yet valid", own),
            48 => (
                "it does not trust the issuer of this side's certificate, or an intermediate certificate is missing",
                own,
            ),
            42 | 43 | 46 | 49 | 51 => ("it does not accept this side's certificate", own),
            70 if self.restrictions.versions => (
                "it does not offer TLS 1.2 or 1.3, or only versions that these options exclude",
                self.restrictions.versions(),
            ),
            70 => ("it offers neither TLS 1.2 nor TLS 1.3", None),
            112 => ("it has no site with the requested name", None),
            116 => ("it requires a client certificate", Some(A_CERTIFICATE)),
            120 => ("no ALPN protocol in common", Some(PROTOCOLS)),
            121 => ("it requires Encrypted Client Hello, which netlib's servers do not support", None),
            _ => ("", None),
        }
    }

    /// Makes the error for input that is not TLS. `bytes` begins at a record boundary. The message names only the kind
    /// of the data, because the data may contain a secret.
    fn not_tls(&self, bytes: &[u8]) -> Error {
        let looks = if bytes.starts_with(b"HTTP/") {
            "plain HTTP response"
        } else if [&b"GET "[..], b"HEAD ", b"POST ", b"PUT ", b"CONNECT ", b"OPTIONS "]
            .iter()
            .any(|method| bytes.starts_with(method))
        {
            "plain HTTP request"
        } else if bytes.starts_with(b"SSH-") {
            "SSH"
        } else if bytes.starts_with(b"220") || bytes.starts_with(b"+OK") || bytes.starts_with(b"* OK") {
            "greeting of a mail or FTP server"
        } else {
            ""
        };
        let peer = self.peer();
        if self.received_record {
            let during =
                if self.handshaking { "during the TLS handshake" } else { "in the middle of the TLS session" };
            let what = match looks {
                "" => format!("bytes that begin with 0x{:02x}", bytes.first().copied().unwrap_or(0)),
                "SSH" => "SSH".to_owned(),
                looks => format!("a {looks}"),
            };
            let message = format!("{peer} sent data {during} that is not TLS: {what}");
            return Error::new(Status::TlsProtocol, message).with_tls_alert(u8::from(AlertDescription::DecodeError));
        }
        let looks = match looks {
            "plain HTTP response" => "it answered in plain HTTP".to_owned(),
            "plain HTTP request" => "it sent a plain HTTP request".to_owned(),
            "SSH" => "it speaks SSH".to_owned(),
            "" => format!("its first byte is 0x{:02x}", bytes.first().copied().unwrap_or(0)),
            _ => "it sent the greeting of a mail or FTP server".to_owned(),
        };
        Error::new(Status::NotTls, format!("{peer} does not speak TLS on this connection: {looks}"))
    }

    /// Makes the error of a rejected ECH. The server of the public name, whose certificate was verified, may have sent
    /// configurations for the next attempt.
    fn rejected(&self, configs: Option<&[EchConfigPayload]>) -> Error {
        let (name, public) = (self.name.unwrap_or(""), self.public_name.unwrap_or(""));
        let (what, advice) = match configs {
            Some(_) => ("sent other configurations to use instead", RETRY_ECH),
            None => ("sent no configuration to use instead", RETRY_WITHOUT_ECH),
        };
        let message = format!("the server \"{public}\" rejected Encrypted Client Hello for \"{name}\", and {what}");
        Error::new(Status::TlsEchRejected, message)
            .with_tls_alert(u8::from(AlertDescription::EncryptedClientHelloRequired))
            .with_advice(advice)
            .with_ech_retry_configs(configs.map(ech::retry_list))
    }

    fn incompatible(&self, why: &PeerIncompatible) -> Error {
        let peer = self.peer();
        let common = |what: &str| format!("{peer} and this side have no {what} in common");
        let (message, alert, advice) = match why {
            PeerIncompatible::ServerDoesNotSupportTls12Or13 => (
                format!("{peer} offers neither TLS 1.2 nor TLS 1.3; netlib supports no older version"),
                AlertDescription::ProtocolVersion,
                None,
            ),
            // A client that offers only TLS 1.0 fails a check of rustls that comes before the version check.
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
            // RFC 8446 section 9.2 requires missing_extension; rustls sends handshake_failure.
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

/// Returns whether netlib sends the alert of its own error instead of the one that rustls queued. rustls reports both
/// errors for a ClientHello, before there are keys, and sends handshake_failure.
pub(crate) fn replaces_alert(error: &TlsError) -> bool {
    use PeerIncompatible::{KeyShareExtensionRequired, SignatureAlgorithmsExtensionRequired};
    matches!(error, TlsError::PeerIncompatible(KeyShareExtensionRequired | SignatureAlgorithmsExtensionRequired))
}

/// Returns the part of `input` after its complete records, if no record begins there.
fn not_a_record(input: &[u8]) -> Option<&[u8]> {
    let mut rest = input;
    while let [20..=23, 3, ..] = rest {
        rest = rest.get(record::whole_record(rest)?..)?;
    }
    (!rest.is_empty()).then_some(rest)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> SessionFacts<'static> {
        SessionFacts {
            is_server: false,
            name: Some("a.example"),
            public_name: None,
            is_rejected: false,
            restrictions: Restrictions::default(),
            peer_request: None,
            handshaking: true,
            unread: &[],
            received_record: true,
            newest_offered: None,
        }
    }

    #[test]
    fn a_not_tls_error_names_the_protocol_without_the_data() {
        for (bytes, expected) in [
            (&b"HTTP/1.1 400 Bad Request\r\n"[..], "plain HTTP"),
            (b"GET /?token=secret HTTP/1.1", "plain HTTP request"),
            (b"SSH-2.0-x", "SSH"),
            (b"220 mail", "mail or FTP"),
            (b"\x80x", "0x80"),
        ] {
            let facts = SessionFacts { unread: bytes, received_record: false, ..facts() };
            let error = facts.explain(&TlsError::InvalidMessage(InvalidMessage::InvalidContentType), None);
            assert_eq!(error.status(), Status::NotTls);
            assert!(error.message().contains(expected) && !error.message().contains("secret"), "{error}");
        }
        let later = facts().explain(&TlsError::InvalidMessage(InvalidMessage::InvalidContentType), None);
        assert_eq!(later.status(), Status::TlsProtocol);
    }

    #[test]
    fn alerts_have_their_number_and_name() {
        let error = facts().explain(&TlsError::AlertReceived(AlertDescription::CertificateRequired), None);
        assert_eq!((error.status(), error.tls_alert()), (Status::TlsAlert, Some(116)));
        assert!(error.message().contains("116 (certificate_required)"), "{error}");
        // close_notify during the handshake is a truncation, not a refusal.
        let error = facts().explain(&TlsError::AlertReceived(AlertDescription::CloseNotify), None);
        assert_eq!((error.status(), error.tls_alert()), (Status::TlsHandshakeEof, Some(0)));
    }

    #[test]
    fn an_alert_is_explained_by_the_peer_request() {
        let peer_request = |selection| Some(PeerRequest::Certificate(selection));
        let parameters = "no TLS version, cipher suite or parameters in common";
        for (number, handshaking, peer_request, expected) in [
            (40, true, None, Some(parameters)),
            (71, true, None, Some(parameters)),
            (40, false, None, None),
            (71, false, None, None),
            (
                40,
                true,
                peer_request(CertificateSelection::NoCertificate),
                Some("it requested a certificate, and none was sent"),
            ),
            (
                40,
                false,
                peer_request(CertificateSelection::NoCertificate),
                Some("it requested a certificate, and none was sent"),
            ),
            (
                40,
                true,
                peer_request(CertificateSelection::NoUsableKey),
                Some("and none was sent: this side's key supports none of the requested"),
            ),
            (
                40,
                true,
                peer_request(CertificateSelection::Certificate),
                Some("may have rejected the one that was sent"),
            ),
            // Servers written in Java and Go, with TLS 1.2.
            (
                42,
                true,
                peer_request(CertificateSelection::NoCertificate),
                Some("it requested a certificate, and none was sent"),
            ),
            (
                42,
                true,
                peer_request(CertificateSelection::Certificate),
                Some("it does not accept this side's certificate"),
            ),
            (
                70,
                true,
                peer_request(CertificateSelection::NoCertificate),
                Some("it offers neither TLS 1.2 nor TLS 1.3"),
            ),
        ] {
            let facts = SessionFacts { peer_request: peer_request.as_ref(), handshaking, ..facts() };
            let error = facts.alert(number);
            let hint = error.message().split_once("): ").map(|(_, hint)| hint);
            match expected {
                None => assert_eq!(hint, None, "{number}"),
                Some(expected) => assert!(hint.is_some_and(|hint| hint.contains(expected)), "{number}: {hint:?}"),
            }
        }
    }
}
