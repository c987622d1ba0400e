//! A server that decides by the name its client asks for. Its first message is held, and a copy of it read, until it is
//! complete; then the program is asked which context goes on, and that one's session gets the same bytes from their
//! start. Nothing of the handshake has happened by then, so versions, protocols and what is asked of clients are all the
//! chosen context's.

use std::ffi::{CStr, CString};
use std::sync::Arc;

use rustls::server::Acceptor;

use super::offered_version::Layout;
use super::pending_callback::CertificateTime;
use super::{Engine, protocol_error};
use crate::error::{Error, Result};
use crate::status::Status;
use crate::tls::config::code_points;
use crate::tls::context::Context;
use crate::tls::session::record::{Session, Step};

/// What a program decides about a client that asks for a name, or for none.
pub enum Choice {
    /// The context that the session began with.
    Stay,
    Use(Arc<Context>),
    /// With the alert unrecognized_name.
    Refuse,
}

/// The program's function.
pub type ServerNameCallback = Arc<dyn Fn(Option<&CStr>) -> Result<Choice> + Send + Sync>;

/// The type of records that carry handshake messages.
const HANDSHAKE: u8 = 22;
const DECODE_ERROR: u8 = 50;
const INTERNAL_ERROR: u8 = 80;
const UNRECOGNIZED_NAME: u8 = 112;

/// How far it has come.
pub(crate) enum ClientHelloState {
    /// The reader of the copy has seen so many bytes.
    Reading(Box<Acceptor>, usize),
    /// The name is known. `None`: the program has been asked.
    Complete(Option<ServerNameCall>),
}

pub(crate) struct ServerNameCall {
    callback: ServerNameCallback,
    name: Option<CString>,
}

impl ServerNameCall {
    pub(crate) fn invoke(self) -> ServerNameResult {
        ServerNameResult { choice: (self.callback)(self.name.as_deref()), name: self.name }
    }
}

pub(crate) struct ServerNameResult {
    name: Option<CString>,
    choice: Result<Choice>,
}

impl ClientHelloState {
    /// `None` if the context asks nobody.
    pub(crate) fn of(context: &Context) -> Option<ClientHelloState> {
        context.server_name_callback().map(|_| ClientHelloState::Reading(Box::default(), 0))
    }

    /// Whether nothing but the program's answer is missing.
    pub(crate) fn is_complete(&self) -> bool {
        !matches!(self, ClientHelloState::Reading(..))
    }
}

impl Engine {
    /// `Some`: the session must not see what has come, yet.
    pub(crate) fn read_client_hello(&mut self) -> Result<Option<Step>> {
        let Some(client_hello) = self.client_hello.as_deref_mut() else {
            return Ok(self.certificate_time.is_missing().then_some(Step::Blocked));
        };
        let ClientHelloState::Reading(acceptor, seen) = client_hello else { return Ok(Some(Step::Blocked)) };
        let Some(incoming) = &self.incoming else { return Ok(Some(Step::Blocked)) };
        let bytes = incoming.bytes();
        if bytes.first().is_some_and(|first| *first != HANDSHAKE) {
            // An alert, or no TLS at all: nothing to decide upon.
            return Ok(None);
        }
        let mut rest = bytes.get(*seen..).unwrap_or(&[]);
        *seen = bytes.len();
        while !rest.is_empty() {
            // Reading from a slice fails only if the reader is full.
            if acceptor.read_tls(&mut rest).is_err() {
                let failure = Error::new(Status::TlsProtocol, "the client's first message is too large");
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
                    let replaces_alert = protocol_error::replaces_alert(&error);
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

    /// What the program has to decide, once.
    pub(crate) fn take_server_name_call(&mut self) -> Option<ServerNameCall> {
        match self.client_hello.as_deref_mut() {
            Some(ClientHelloState::Complete(pending)) => pending.take(),
            _ => None,
        }
    }

    /// The handshake goes on with what the program chose, or ends: the next call tells.
    pub(crate) fn apply_choice(&mut self, result: ServerNameResult) {
        self.client_hello = None;
        let whom = match &result.name {
            Some(name) => format!("the client, who asks for \"{}\",", name.to_string_lossy()),
            None => "the client, who asks for no name,".to_owned(),
        };
        let (alert, error) = match result.choice {
            Ok(Choice::Stay) => return,
            Ok(Choice::Use(context)) => match context.server_config().and_then(Session::server) {
                Ok(session) => {
                    self.certificate_time = CertificateTime::new(&context, true);
                    self.session = session;
                    self.unused_context = Some(std::mem::replace(&mut self.context, context));
                    return;
                }
                Err(error) => {
                    self.unused_context = Some(context);
                    let message = format!("the server-name callback gave {whom} a context that is no server's");
                    (INTERNAL_ERROR, Error::new(Status::CallbackFailed, message).with_cause(Arc::new(error)))
                }
            },
            Ok(Choice::Refuse) => {
                let name = code_points::alert(UNRECOGNIZED_NAME);
                let message =
                    format!("the server-name callback refused {whom} with alert {UNRECOGNIZED_NAME} ({name})");
                (UNRECOGNIZED_NAME, Error::new(Status::CallbackFailed, message))
            }
            Err(error) => (INTERNAL_ERROR, error),
        };
        self.fail_with_plain_alert(alert, error);
    }

    /// Nothing is encrypted yet, nor has the session seen anything: the alert is written by hand.
    pub(crate) fn fail_with_plain_alert(&mut self, alert: u8, error: Error) -> Error {
        self.incoming = None;
        let queued = self.outgoing.add_plain(&[21, 3, 3, 0, 2, 2, alert]);
        self.fail(queued.err().unwrap_or(error.with_tls_alert(alert)))
    }
}

#[cfg(test)]
mod tests;
