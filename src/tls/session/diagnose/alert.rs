//! Creates the errors for sessions that the peer has ended with an alert.

use rustls::AlertDescription;

use super::SessionFacts;
use super::advice::{A_CERTIFICATE, OWN_CERTIFICATE, PROTOCOLS};
use crate::error::{Advice, Error};
use crate::status::Status;
use crate::tls::config::code_points;
use crate::tls::session::peer_request::{CertificateSelection, PeerRequest};

impl SessionFacts<'_> {
    pub(super) fn alert(&self, number: u8) -> Error {
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
            // When a client has no certificate, each of these alerts is sent by at least one known server.
            (40..=43 | 46 | 48 | 49, Some(CertificateSelection::NoCertificate)) => {
                ("it requested a certificate, and none was sent", Some(A_CERTIFICATE))
            }
            (40..=43 | 46 | 48 | 49, Some(CertificateSelection::NoUsableKey)) => (
                "it requested a certificate, and none was sent: this side's key supports none of the requested signature schemes",
                own,
            ),
            // When a server requests a certificate, versions, cipher suites and groups are already negotiated, so only
            // the certificate can be the reason.
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

    /// Returns the usual reason for an alert, and advice.
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
}
