//! Fails the session on protocol errors and queues the alert.

use rustls::{AlertDescription, Error as TlsError};

use super::Engine;
use crate::error::{Error, Result};
use crate::status::Status;
use crate::tls::session::diagnose;
use crate::tls::session::pool::RecordBuffer;
use crate::tls::session::record::Failure;

/// The maximum number of bytes in a sequence of records without plaintext. rustls limits empty records and key updates
/// only if they are consecutive, and does not limit tickets. Without this bound, a peer could send empty records and
/// key updates alternately, forever.
const MAX_BYTES_WITHOUT_DATA: usize = 256 * 1024;

impl Engine {
    /// Ends the session because of an error in the input, and queues the alert.
    pub(crate) fn fail_with_alert(&mut self, failure: Failure) -> Error {
        // An alert is sent only for an error of the peer: not in answer to an alert, and not after a failure of this
        // side.
        let is_theirs = matches!(&failure, Failure::Tls(error) if !matches!(**error, TlsError::AlertReceived(_)));
        if matches!(&failure, Failure::Tls(_)) {
            self.forget_sessions();
        }
        let replaces = matches!(&failure, Failure::Tls(error) if self.is_server && diagnose::replaces_alert(error));
        let mut error = self.explain(failure);
        if replaces && let Some(alert) = error.tls_alert() {
            return self.fail_with_plain_alert(alert, error);
        }
        if is_theirs && !self.connection.wants_write() {
            // The case of a TLS 1.2 ClientHello that has no signature scheme for this side's private key. The session
            // has no encryption keys yet, so netlib writes the alert itself.
            if error.status() == Status::TlsIncompatible && !self.may_have_handshake_keys() {
                return self.fail_with_plain_alert(u8::from(AlertDescription::HandshakeFailure), error);
            }
            return self.send_decode_error(error);
        }
        let records = self.incoming.as_mut().map_or(&mut [][..], RecordBuffer::bytes_mut);
        self.connection.take_alert(records, &mut self.outgoing);
        // The alert's number is read from the queued record, because rustls does not report which alert it queues, and
        // not every error determines the alert.
        if is_theirs && let Some(number) = self.outgoing.plain_alert() {
            error = error.with_tls_alert(number);
        }
        self.incoming = None;
        self.fail(error)
    }

    /// Ends the session and queues decode_error. Called for errors for which rustls queues no alert.
    pub(crate) fn send_decode_error(&mut self, mut error: Error) -> Error {
        self.forget_sessions();
        if let Ok(true) = self.connection.send_decode_error(&mut self.outgoing) {
            error = error.with_tls_alert(u8::from(AlertDescription::DecodeError));
        }
        self.incoming = None;
        self.fail(error)
    }

    /// Returns whether the handshake may have reached the point from which records are encrypted.
    fn may_have_handshake_keys(&self) -> bool {
        self.connection.is_tls13()
    }

    /// Counts the bytes of records received after the handshake, and fails the session after too many bytes without
    /// plaintext.
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
