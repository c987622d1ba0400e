//! Invokes the server-name callback of a server. The engine keeps the ClientHello, and parses a copy until the
//! ClientHello is complete. Then the callback chooses a context, and a connection of that context processes the same
//! bytes from the start. The handshake has not begun when the callback returns, so the chosen context determines
//! versions, protocols and client authentication.

use std::ffi::CString;
use std::sync::Arc;

use rustls::server::Acceptor;

use super::Engine;
use super::certificate_time::CertificateTime;
use super::offered_version::Layout;
use crate::error::{Error, Result};
use crate::status::Status;
use crate::tls::config::{Choice, ServerNameCallback, code_points};
use crate::tls::context::Context;
use crate::tls::session::diagnose;
use crate::tls::session::record::{Connection, Step};

/// The type of records that carry handshake messages.
const HANDSHAKE: u8 = 22;
const DECODE_ERROR: u8 = 50;
const INTERNAL_ERROR: u8 = 80;
const UNRECOGNIZED_NAME: u8 = 112;

/// The progress of parsing the ClientHello.
pub(crate) enum ClientHelloState {
    /// The parser, and the number of bytes that it has received.
    Reading(Box<Acceptor>, usize),
    /// The ClientHello is parsed. The value is the callback with its argument, the server name; `None` means that
    /// [`Engine::take_pending_callback`] has already returned the callback.
    Complete(Option<ServerNameCall>),
}

pub(crate) struct ServerNameCall {
    callback: ServerNameCallback,
    name: Option<CString>,
}

impl ServerNameCall {
    pub(crate) fn invoke(self) -> ServerNameResult {
        let decision = (self.callback)(self.name.as_deref()).and_then(Decision::of);
        ServerNameResult { decision, name: self.name }
    }
}

pub(crate) struct ServerNameResult {
    name: Option<CString>,
    decision: Result<Decision>,
}

/// A [`Choice`] whose context has its concrete type instead of `dyn Any`.
enum Decision {
    Stay,
    Use(Arc<Context>),
    Refuse,
}

impl Decision {
    fn of(choice: Choice) -> Result<Decision> {
        match choice {
            Choice::Stay => Ok(Decision::Stay),
            Choice::Refuse => Ok(Decision::Refuse),
            Choice::Use(context) => context.downcast().map(Decision::Use).map_err(|_| {
                Error::new(Status::Internal, "the server-name callback chose a value that is not a context")
            }),
        }
    }
}

impl ClientHelloState {
    /// Returns the initial state; `None` if the context has no server-name callback.
    pub(crate) fn of(context: &Context) -> Option<ClientHelloState> {
        context.server_name_callback().map(|_| ClientHelloState::Reading(Box::default(), 0))
    }

    /// Returns whether the ClientHello is parsed and only the callback's result is missing.
    pub(crate) fn is_complete(&self) -> bool {
        !matches!(self, ClientHelloState::Reading(..))
    }
}

impl Engine {
    /// Parses the ClientHello. Returns `Some` as long as the ClientHello is incomplete or a pending callback has not
    /// returned, because until then rustls' connection must not process input.
    pub(crate) fn read_client_hello(&mut self) -> Result<Option<Step>> {
        let Some(client_hello) = self.client_hello.as_deref_mut() else {
            return Ok(self.certificate_time.is_missing().then_some(Step::Blocked));
        };
        let ClientHelloState::Reading(acceptor, seen) = client_hello else { return Ok(Some(Step::Blocked)) };
        let Some(incoming) = &self.incoming else { return Ok(Some(Step::Blocked)) };
        let bytes = incoming.bytes();
        if bytes.first().is_some_and(|first| *first != HANDSHAKE) {
            // The input is an alert or is not TLS, so there is no server name.
            return Ok(None);
        }
        let mut rest = bytes.get(*seen..).unwrap_or(&[]);
        *seen = bytes.len();
        while !rest.is_empty() {
            // Reading from a slice fails only if the parser's buffer is full.
            if acceptor.read_tls(&mut rest).is_err() {
                let failure = Error::new(Status::TlsProtocol, "the client's first handshake message is too large");
                return Err(self.fail_with_plain_alert(DECODE_ERROR, failure));
            }
            match acceptor.accept() {
                Ok(None) => {}
                Ok(Some(accepted)) => {
                    let name = accepted.client_hello().server_name().and_then(|name| CString::new(name).ok());
                    let callback = self.context.server_name_callback().cloned();
                    *client_hello =
                        ClientHelloState::Complete(callback.map(|callback| ServerNameCall { callback, name }));
                    break;
                }
                Err((error, mut alert)) => {
                    let mut record = Vec::new();
                    // Writing into a vector cannot fail.
                    let _ = alert.write_all(&mut record);
                    self.record_offered_version(Layout::Records);
                    let replaces_alert = diagnose::replaces_alert(&error);
                    let failure = self.explain(error.into());
                    let number = match (record.last().filter(|_| !replaces_alert), failure.tls_alert()) {
                        (Some(number), _) => *number,
                        (None, Some(number)) => number,
                        (None, None) => DECODE_ERROR,
                    };
                    return Err(self.fail_with_plain_alert(number, failure));
                }
            }
        }
        Ok(Some(Step::Blocked))
    }

    /// Returns the callback and its argument; `None` if the ClientHello is not complete, or if this function has
    /// already returned the callback.
    pub(crate) fn take_server_name_call(&mut self) -> Option<ServerNameCall> {
        match self.client_hello.as_deref_mut() {
            Some(ClientHelloState::Complete(pending)) => pending.take(),
            _ => None,
        }
    }

    /// Applies the callback's result. If the result ends the session, the next call on the engine returns the error.
    pub(crate) fn apply_choice(&mut self, result: ServerNameResult) {
        self.client_hello = None;
        let whom = match &result.name {
            Some(name) => format!("the client (server name \"{}\")", name.to_string_lossy()),
            None => "the client (no server name)".to_owned(),
        };
        let (alert, error) = match result.decision {
            Ok(Decision::Stay) => return,
            Ok(Decision::Use(context)) => match context.server_config().and_then(Connection::server) {
                Ok(session) => {
                    self.certificate_time = CertificateTime::new(&context, true);
                    self.connection = session;
                    self.unused_context = Some(std::mem::replace(&mut self.context, context));
                    return;
                }
                Err(error) => {
                    self.unused_context = Some(context);
                    let message = format!(
                        "the server-name callback chose a context that cannot be used for servers, for {whom}"
                    );
                    (INTERNAL_ERROR, Error::new(Status::CallbackFailed, message).with_cause(Arc::new(error)))
                }
            },
            Ok(Decision::Refuse) => {
                let name = code_points::alert(UNRECOGNIZED_NAME);
                let message =
                    format!("the server-name callback refused {whom} with alert {UNRECOGNIZED_NAME} ({name})");
                (UNRECOGNIZED_NAME, Error::new(Status::CallbackFailed, message))
            }
            Err(error) => (INTERNAL_ERROR, error),
        };
        self.fail_with_plain_alert(alert, error);
    }

    /// Ends the session before it has keys. netlib writes the alert itself, unencrypted.
    pub(crate) fn fail_with_plain_alert(&mut self, alert: u8, error: Error) -> Error {
        self.incoming = None;
        let queued = self.outgoing.add_plain(&[21, 3, 3, 0, 2, 2, alert]);
        self.fail(queued.err().unwrap_or(error.with_tls_alert(alert)))
    }
}

#[cfg(test)]
mod tests;
