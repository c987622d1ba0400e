//! A failed session explains itself: rustls' error becomes a status, the facts, and the one setting that would
//! change the outcome.

use rustls::{AlertDescription, CertificateError, Error as TlsError, InvalidMessage, PeerIncompatible};
use rustls_pki_types::UnixTime;

use super::names;
use super::x509::{Parties, time};
use crate::error::{CertificateProblem, Error};
use crate::status::Status;

/// What is known about the session beside the error.
pub(crate) struct Situation<'a> {
    /// We are the server; the peer is a client.
    pub(crate) is_server: bool,
    /// The name that the peer was to prove.
    pub(crate) name: Option<&'a str>,
    pub(crate) handshaking: bool,
    /// What the peer sent, when nothing of it was a TLS record.
    pub(crate) first_bytes: Option<&'a [u8]>,
    /// Who the refused certificate is of.
    pub(crate) refused: Option<Parties>,
}

const ACCEPT_ANY: &str = "to accept it all the same: netlib_tls_options_set_verify_mode with NETLIB_CERT_NONE";
const ACCEPT_ANY_NAME: &str = "to accept any name: netlib_tls_options_set_check_hostname with 0";
const TRUST_ISSUER: &str = "to trust that authority: netlib_tls_options_add_ca_file";
const OWN_CERTIFICATE: &str = "to present a certificate: netlib_tls_options_set_identity";
const PROTOCOLS: &str = "to offer others: netlib_tls_options_add_alpn_protocol";
const VERSIONS: &str =
    "to allow others: netlib_tls_options_set_minimum_version and netlib_tls_options_set_maximum_version";

impl Situation<'_> {
    /// "the server \"example.com\"".
    fn peer(&self) -> String {
        match (self.is_server, self.name) {
            (true, _) => "the client".to_owned(),
            (false, Some(name)) => format!("the server \"{name}\""),
            (false, None) => "the server".to_owned(),
        }
    }

    fn during(&self) -> &'static str {
        if self.handshaking { " during the TLS handshake" } else { "" }
    }

    /// The connection ended without the closing message.
    pub(crate) fn truncated(&self, nothing_received: bool) -> Error {
        let peer = self.peer();
        Error::new(
            if self.handshaking { Status::TlsHandshakeEof } else { Status::TlsTruncated },
            match (self.handshaking, nothing_received) {
                (true, true) => format!("{peer} closed the connection without answering the TLS handshake"),
                (true, false) => format!("{peer} closed the connection during the TLS handshake"),
                (false, _) => format!(
                    "{peer} closed the connection without the TLS closing message: what it sent may be incomplete"
                ),
            },
        )
    }

    pub(crate) fn explain(&self, error: &TlsError) -> Error {
        let peer = self.peer();
        let protocol = |message: String| Error::new(Status::TlsProtocol, message);
        match error {
            TlsError::AlertReceived(alert) => self.alert(u8::from(*alert)),
            TlsError::InvalidCertificate(error) => self.certificate(error),
            TlsError::NoCertificatesPresented => {
                let optional = "to do without: netlib_tls_options_set_verify_mode with NETLIB_CERT_OPTIONAL";
                Error::new(Status::CertificateVerify, format!("{peer} presented no certificate"))
                    .with_certificate_problem(CertificateProblem::Other)
                    .with_tls_alert(u8::from(AlertDescription::CertificateRequired))
                    .with_advice(self.is_server.then_some(optional))
            }
            TlsError::InvalidMessage(
                InvalidMessage::InvalidContentType
                | InvalidMessage::UnknownProtocolVersion
                | InvalidMessage::MessageTooLarge,
            ) if self.first_bytes.is_some() => self.not_tls(self.first_bytes.unwrap_or(&[])),
            TlsError::InvalidMessage(what) => protocol(format!("{peer} sent a malformed TLS message: {what:?}"))
                .with_tls_alert(u8::from(AlertDescription::from(*what))),
            TlsError::DecryptError => protocol(format!(
                "a record from {peer} could not be decrypted: it was altered on the way, or the peer is faulty"
            ))
            .with_tls_alert(u8::from(AlertDescription::BadRecordMac)),
            TlsError::PeerSentOversizedRecord => protocol(format!("{peer} sent a record larger than TLS allows"))
                .with_tls_alert(u8::from(AlertDescription::RecordOverflow)),
            TlsError::NoApplicationProtocol => {
                protocol(format!("{peer} and this side have no ALPN protocol in common"))
                    .with_tls_alert(u8::from(AlertDescription::NoApplicationProtocol))
                    .with_advice(Some(PROTOCOLS))
            }
            TlsError::PeerIncompatible(why) => self.incompatible(why),
            TlsError::PeerMisbehaved(why) => protocol(format!("{peer} broke the TLS protocol: {why:?}")),
            TlsError::InappropriateMessage { .. } | TlsError::InappropriateHandshakeMessage { .. } => {
                protocol(format!("{peer} broke the TLS protocol: {error}"))
                    .with_tls_alert(u8::from(AlertDescription::UnexpectedMessage))
            }
            TlsError::UnsupportedNameType
            | TlsError::InvalidCertRevocationList(_)
            | TlsError::InvalidEncryptedClientHello(_) => protocol(format!("{error}")),
            // What rustls makes of a TLS 1.2 client whose signature schemes this side's key cannot serve.
            TlsError::General(why) if self.is_server && self.handshaking => {
                protocol(format!("{peer} cannot be spoken with: {why}"))
            }
            _ => Error::new(Status::Internal, format!("the TLS session failed{}: {error}", self.during())),
        }
    }

    fn alert(&self, number: u8) -> Error {
        let peer = self.peer();
        if number == u8::from(AlertDescription::CloseNotify) {
            return self.truncated(false).with_tls_alert(number);
        }
        let (hint, advice) = match number {
            40 | 71 => ("the two sides have no version, cipher suite or parameters in common", None),
            42..=46 | 48 | 49 | 51 if !self.is_server => {
                ("it does not accept this side's certificate", Some(OWN_CERTIFICATE))
            }
            42..=46 | 48 => ("it does not trust this side's certificate", None),
            70 => ("it does not offer TLS 1.2 or 1.3, or only versions that these options exclude", Some(VERSIONS)),
            112 => ("it has no site of the name that was asked for", None),
            116 => ("it asks for a certificate", Some(OWN_CERTIFICATE)),
            120 => ("no ALPN protocol in common", Some(PROTOCOLS)),
            _ => ("", None),
        };
        let mut message =
            format!("{peer} ended the session{} with alert {number} ({})", self.during(), names::alert(number));
        if !hint.is_empty() {
            message = format!("{message}: {hint}");
        }
        Error::new(Status::TlsAlert, message).with_tls_alert(number).with_advice(advice)
    }

    /// Only the kind of what came is told: a client's first line may hold a secret.
    fn not_tls(&self, bytes: &[u8]) -> Error {
        let looks = if bytes.starts_with(b"HTTP/") {
            "it answers in plain HTTP".to_owned()
        } else if [&b"GET "[..], b"HEAD ", b"POST ", b"PUT ", b"CONNECT ", b"OPTIONS "]
            .iter()
            .any(|method| bytes.starts_with(method))
        {
            "it sent a plain HTTP request".to_owned()
        } else if bytes.starts_with(b"SSH-") {
            "it speaks SSH".to_owned()
        } else if bytes.starts_with(b"220") || bytes.starts_with(b"+OK") || bytes.starts_with(b"* OK") {
            "it greets as a mail or FTP server".to_owned()
        } else {
            format!("its first byte is 0x{:02x}", bytes.first().copied().unwrap_or(0))
        };
        Error::new(Status::NotTls, format!("{} does not speak TLS on this connection: {looks}", self.peer()))
    }

    fn incompatible(&self, why: &PeerIncompatible) -> Error {
        let peer = self.peer();
        let (message, advice) = match why {
            PeerIncompatible::ServerDoesNotSupportTls12Or13 => {
                (format!("{peer} offers neither TLS 1.2 nor TLS 1.3; older versions are not offered here"), None)
            }
            PeerIncompatible::ServerTlsVersionIsDisabledByOurConfig
            | PeerIncompatible::Tls12NotOffered
            | PeerIncompatible::Tls12NotOfferedOrEnabled
            | PeerIncompatible::SupportedVersionsExtensionRequired => {
                (format!("{peer} and these options have no TLS version in common"), Some(VERSIONS))
            }
            PeerIncompatible::NoCipherSuitesInCommon => {
                (format!("{peer} has no cipher suite in common with this side"), None)
            }
            why => (format!("{peer} cannot be spoken with: {why:?}"), None),
        };
        Error::new(Status::TlsProtocol, message).with_advice(advice)
    }

    fn certificate(&self, error: &CertificateError) -> Error {
        use CertificateProblem as Problem;
        let whose = format!("the certificate of {}", self.peer());
        let (problem, message, advice) = match error {
            CertificateError::Expired => (Problem::Expired, format!("{whose} has expired"), Some(ACCEPT_ANY)),
            CertificateError::ExpiredContext { not_after, .. } => (
                Problem::Expired,
                format!("{whose}, or one that it rests on, expired on {}", utc(*not_after)),
                Some(ACCEPT_ANY),
            ),
            CertificateError::NotValidYet => {
                (Problem::NotYetValid, format!("{whose} is not yet valid"), Some(ACCEPT_ANY))
            }
            CertificateError::NotValidYetContext { not_before, .. } => (
                Problem::NotYetValid,
                format!("{whose}, or one that it rests on, is valid only from {}", utc(*not_before)),
                Some(ACCEPT_ANY),
            ),
            CertificateError::UnknownIssuer => {
                let (message, advice) = self.unknown_issuer(&whose);
                (Problem::UnknownIssuer, message, Some(advice))
            }
            CertificateError::NotValidForName => {
                (Problem::NameMismatch, format!("{whose} is for other names"), Some(ACCEPT_ANY_NAME))
            }
            CertificateError::NotValidForNameContext { presented, .. } => {
                let names = match presented.as_slice() {
                    [] => "names no host".to_owned(),
                    presented => format!("is for {}", list(presented)),
                };
                (Problem::NameMismatch, format!("{whose} {names}"), Some(ACCEPT_ANY_NAME))
            }
            CertificateError::Revoked => {
                (Problem::Revoked, format!("{whose} has been revoked by its authority"), None)
            }
            CertificateError::BadSignature => {
                (Problem::BadSignature, format!("{whose} has a signature that is not its issuer's"), None)
            }
            CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
                (Problem::WrongPurpose, format!("{whose} was issued for another purpose: {error}"), Some(ACCEPT_ANY))
            }
            CertificateError::BadEncoding => (Problem::Malformed, format!("{whose} cannot be parsed"), None),
            CertificateError::Other(other) if other.to_string().contains("CaUsedAsEndEntity") => (
                Problem::WrongPurpose,
                format!("{whose} is an authority's own (CA:TRUE), not a server's"),
                Some(ACCEPT_ANY),
            ),
            other => (Problem::Other, format!("{whose} was not accepted: {other}"), Some(ACCEPT_ANY)),
        };
        let status =
            if problem == Problem::NameMismatch { Status::HostnameMismatch } else { Status::CertificateVerify };
        Error::new(status, message)
            .with_certificate_problem(problem)
            .with_tls_alert(u8::from(AlertDescription::from(error.clone())))
            .with_advice(advice)
    }

    fn unknown_issuer(&self, whose: &str) -> (String, &'static str) {
        match &self.refused {
            Some(parties) if parties.self_issued => (
                format!("{whose} is self-signed ({}) and not among the trusted ones", parties.subject),
                "to trust it: netlib_tls_options_add_ca_data",
            ),
            Some(parties) => (
                format!(
                    "{whose} ({}) was issued by \"{}\", which no trusted authority leads to",
                    parties.subject, parties.issuer
                ),
                TRUST_ISSUER,
            ),
            None => (format!("{whose} was issued by an authority that is not trusted"), TRUST_ISSUER),
        }
    }
}

/// At most the first eight, so that a certificate of a thousand names makes no message of a page.
fn list(names: &[String]) -> String {
    const SHOWN: usize = 8;
    let shown = names.iter().take(SHOWN).map(|name| plain(name)).collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN { format!("{shown} and {} more", names.len() - SHOWN) } else { shown }
}

/// rustls-webpki names a name's kind around it: `DnsName("a.example")`, `IpAddress(127.0.0.1)`.
fn plain(name: &str) -> &str {
    match name.split_once('(') {
        Some((_kind, rest)) => rest.trim_end_matches(')').trim_matches('"'),
        None => name,
    }
}

/// "2026-03-09 17:05:00 UTC".
fn utc(time: UnixTime) -> String {
    time::utc(i64::try_from(time.as_secs()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn situation() -> Situation<'static> {
        Situation { is_server: false, name: Some("a.example"), handshaking: true, first_bytes: None, refused: None }
    }

    #[test]
    fn what_is_not_tls_is_told_without_repeating_it() {
        for (bytes, expected) in [
            (&b"HTTP/1.1 400 Bad Request\r\n"[..], "plain HTTP"),
            (b"GET /?token=secret HTTP/1.1", "plain HTTP request"),
            (b"SSH-2.0-x", "SSH"),
            (b"220 mail", "mail or FTP"),
            (b"\x80x", "0x80"),
        ] {
            let situation = Situation { first_bytes: Some(bytes), ..situation() };
            let error = situation.explain(&TlsError::InvalidMessage(InvalidMessage::InvalidContentType));
            assert_eq!(error.status(), Status::NotTls);
            assert!(error.message().contains(expected) && !error.message().contains("secret"), "{error}");
        }
        let later = situation().explain(&TlsError::InvalidMessage(InvalidMessage::InvalidContentType));
        assert_eq!(later.status(), Status::TlsProtocol);
    }

    #[test]
    fn alerts_have_their_number_and_name() {
        let error = situation().explain(&TlsError::AlertReceived(AlertDescription::CertificateRequired));
        assert_eq!((error.status(), error.tls_alert()), (Status::TlsAlert, Some(116)));
        assert!(error.message().contains("116 (certificate_required)"), "{error}");
        // A closing message in the middle of the handshake is an end, not a refusal.
        let error = situation().explain(&TlsError::AlertReceived(AlertDescription::CloseNotify));
        assert_eq!((error.status(), error.tls_alert()), (Status::TlsHandshakeEof, Some(0)));
    }

    #[test]
    fn names_are_listed_up_to_a_bound() {
        let names: Vec<String> = (0..10).map(|i| format!("n{i}")).collect();
        assert_eq!(list(&names[..2]), "n0, n1");
        let kinds = [r#"DnsName("a.example")"#, "IpAddress(127.0.0.1)"].map(str::to_owned);
        assert_eq!(list(&kinds), "a.example, 127.0.0.1");
        assert_eq!(list(&names), "n0, n1, n2, n3, n4, n5, n6, n7 and 2 more");
    }
}
