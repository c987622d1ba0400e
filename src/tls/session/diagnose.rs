//! Turns errors of rustls into errors of netlib: a status, a message that describes the cause, and advice on the
//! setting that would change the result.

mod advice;
mod alert;
mod incompatible;

use rustls::internal::msgs::handshake::EchConfigPayload;
use rustls::{AlertDescription, Error as TlsError, InvalidMessage, PeerIncompatible, PeerMisbehaved};

use super::peer_request::PeerRequest;
use super::record;
use crate::error::{CertificateProblem, Error};
use crate::status::Status;
use crate::tls::config::ech;
use crate::tls::error_text;
use crate::tls::verify::VerifierError;
pub(crate) use advice::Restrictions;
use advice::{EARLY_DATA, PROTOCOLS, RETRY_ECH, RETRY_WITHOUT_ECH};

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
    /// The peer's ClientHello or certificate request, if this side has received one and the peer may still refuse this
    /// side's certificate.
    pub(crate) peer_request: Option<&'a PeerRequest>,
    pub(crate) handshaking: bool,
    /// Input that rustls has not consumed. The unconsumed input is empty if the error is inside the last record.
    pub(crate) unread: &'a [u8],
    pub(crate) received_record: bool,
    /// On a server: the newest version in a refused ClientHello, if that version could be found.
    pub(crate) newest_offered: Option<u16>,
}

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

    /// Returns whether the error means that Encrypted Client Hello was rejected: either rustls reports the rejection at
    /// the end of the handshake, or the verifier refused a certificate that it verified for the public name.
    pub(crate) fn is_rejected(&self, error: &TlsError, verifier_error: Option<&VerifierError>) -> bool {
        let judged = match verifier_error {
            Some(VerifierError::Refused(refusal)) => refusal.server.as_deref(),
            _ => None,
        };
        let is_public = |name: &str| self.public_name.is_some_and(|public| public.eq_ignore_ascii_case(name));
        matches!(error, TlsError::PeerIncompatible(PeerIncompatible::ServerRejectedEncryptedClientHello(_)))
            || judged.is_some_and(|judged| is_public(judged) && self.name != Some(judged))
    }

    /// Turns an error of rustls into an error of netlib. `verifier_error` is the error of the certificate verifier, if
    /// the verifier has failed or has refused a certificate.
    pub(crate) fn explain(&self, error: &TlsError, verifier_error: Option<VerifierError>) -> Error {
        let peer = self.peer();
        match verifier_error {
            Some(VerifierError::Refused(mut refusal)) => {
                // A peer without a valid certificate for the public name is not authenticated, so its error must not
                // advise the application to turn ECH off.
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
                // Only a server sends the alert certificate_required.
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
                // For an invalid KeyUpdate, the alert that rustls sends differs from the alert to which rustls converts
                // the error.
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
            // The resumed session used TLS 1.3, but the server now supports only TLS 1.2.
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
            // rustls reports this error for a TLS 1.2 client whose signature schemes do not include one that this
            // side's key supports.
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

    /// Returns the error for input that is not TLS. `bytes` begins at a record boundary. The error message contains
    /// only the protocol of the data, or the first byte if the protocol is unknown, because the data may contain a
    /// secret.
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

    /// Returns the error for a rejected Encrypted Client Hello. `configs` are the ECH configurations for the next
    /// attempt, sent by the server of the public name, whose certificate was verified.
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
}

/// Returns whether netlib sends the alert of its own error instead of the alert that rustls queued. For the two errors
/// below, which occur in a ClientHello before there are keys, rustls queues handshake_failure.
pub(crate) fn replaces_alert(error: &TlsError) -> bool {
    use PeerIncompatible::{KeyShareExtensionRequired, SignatureAlgorithmsExtensionRequired};
    matches!(error, TlsError::PeerIncompatible(KeyShareExtensionRequired | SignatureAlgorithmsExtensionRequired))
}

/// Skips the complete records at the front of `input`, and returns the rest if the rest does not begin with a record
/// header.
fn not_a_record(input: &[u8]) -> Option<&[u8]> {
    let mut rest = input;
    while let [20..=23, 3, ..] = rest {
        rest = rest.get(record::whole_record(rest)?..)?;
    }
    (!rest.is_empty()).then_some(rest)
}

#[cfg(test)]
mod tests;
