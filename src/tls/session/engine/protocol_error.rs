//! A peer that goes too far, and how it is told.

use rustls::{AlertDescription, Error as TlsError, PeerIncompatible, ProtocolVersion};

use super::Engine;
use crate::error::{Error, Result};
use crate::status::Status;
use crate::tls::session::pool::RecordBuffer;
use crate::tls::session::record::Failure;

/// The most bytes of records without any plaintext between them. rustls counts empty records and key updates, each by
/// itself and only in a row, and tickets not at all: taken in turns they would keep a read busy for ever.
const MAX_BYTES_WITHOUT_DATA: usize = 256 * 1024;

/// Whether netlib sends the alert of its own error instead of the one that rustls queued. rustls reports both errors
/// for a ClientHello, before there are keys, and sends handshake_failure.
pub(crate) fn replaces_alert(error: &TlsError) -> bool {
    use PeerIncompatible::{KeyShareExtensionRequired, SignatureAlgorithmsExtensionRequired};
    matches!(error, TlsError::PeerIncompatible(KeyShareExtensionRequired | SignatureAlgorithmsExtensionRequired))
}

impl Engine {
    /// The end of a session by what came; the alert for the peer is queued.
    pub(crate) fn fail_with_alert(&mut self, failure: Failure) -> Error {
        // Who has ended the session himself is not told of it, and what fails here is not his fault.
        let is_theirs = matches!(&failure, Failure::Tls(error) if !matches!(**error, TlsError::AlertReceived(_)));
        if matches!(&failure, Failure::Tls(_)) {
            self.forget_sessions();
        }
        let replaces = matches!(&failure, Failure::Tls(error) if self.is_server && replaces_alert(error));
        let mut error = self.explain(failure);
        if replaces && let Some(alert) = error.tls_alert() {
            return self.fail_with_plain_alert(alert, error);
        }
        if is_theirs && !self.session.state().wants_write() {
            // A hello of TLS 1.2, before there are keys, that asks for signatures that this side's key cannot make.
            if error.status() == Status::TlsIncompatible && !self.may_have_handshake_keys() {
                return self.fail_with_plain_alert(u8::from(AlertDescription::HandshakeFailure), error);
            }
            return self.send_decode_error(error);
        }
        let records = self.incoming.as_mut().map_or(&mut [][..], RecordBuffer::bytes_mut);
        self.session.take_alert(records, &mut self.outgoing);
        // rustls does not tell which alert it sends, and not every error says it.
        if is_theirs && let Some(number) = self.outgoing.plain_alert() {
            error = error.with_tls_alert(number);
        }
        self.incoming = None;
        self.fail(error)
    }

    /// The same where rustls has no alert for it.
    pub(crate) fn send_decode_error(&mut self, mut error: Error) -> Error {
        self.forget_sessions();
        if let Ok(true) = self.session.send_decode_error(&mut self.outgoing) {
            error = error.with_tls_alert(u8::from(AlertDescription::DecodeError));
        }
        self.incoming = None;
        self.fail(error)
    }

    /// Whether there may be keys before the handshake is done.
    fn may_have_handshake_keys(&self) -> bool {
        self.session.state().protocol_version() == Some(ProtocolVersion::TLSv1_3)
    }

    /// Counts what came after the handshake, and ends a session that has brought nothing else for too long.
    pub(crate) fn limit_bytes_without_data(&mut self, bytes: usize, has_plaintext: bool) -> Result<()> {
        self.bytes_without_data = if has_plaintext { 0 } else { self.bytes_without_data.saturating_add(bytes) };
        if self.bytes_without_data <= MAX_BYTES_WITHOUT_DATA {
            return Ok(());
        }
        let message = format!(
            "{} sent more than {} KiB of TLS messages without any data between them",
            self.peer(),
            MAX_BYTES_WITHOUT_DATA / 1024
        );
        Err(self.send_decode_error(Error::new(Status::TlsProtocol, message)))
    }
}
