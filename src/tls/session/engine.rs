//! Runs a TLS session over buffers: records in and out, plaintext in and out. An engine never waits and does no network
//! I/O. [`crate::stream`] moves the bytes between an engine and a transport; an application with a transport of its own
//! moves them itself ([`memory`]).
//!
//! The transport uses the functions in [`network`]; the reader uses the functions in [`reading`]. [`step`] lets rustls
//! process input. [`pending_callback`] and [`client_hello`] invoke callbacks during the handshake. [`protocol_error`]
//! ends a session and queues the alert.

pub mod early_data;
pub mod client_hello;
pub mod memory;
mod certificate_time;
mod network;
mod offered_version;
mod pending_callback;
mod reading;
mod protocol_error;
mod resume;
mod step;

use std::num::NonZeroUsize;
use std::sync::Arc;

use rustls_pki_types::{IpAddr, Ipv4Addr, ServerName};

use super::diagnose::SessionFacts;
use super::peer_request::PeerRequest;
use super::pool::{Pool, RecordBuffer};
use super::record::{self, Connection, Failure, Outgoing, Step};
use super::store::{SavedSession, Validity};
use crate::error::{Error, Result};
use crate::fork;
use crate::status::Status;
use crate::tls::config::EchStatus;
use crate::tls::context::Context;
use crate::tls::verify::server_name;
use certificate_time::CertificateTime;
use client_hello::ClientHelloState;
use early_data::EarlyDataState;
use offered_version::Layout;
pub(crate) use reading::Read;

pub(crate) struct Engine {
    context: Arc<Context>,
    /// A context that a server-name callback replaced, or a context that the callback returned but that cannot be used.
    /// The engine keeps this context until the engine is dropped: dropping the last reference may call a `ctx_free`
    /// callback, which must not run under the stream's lock.
    unused_context: Option<Arc<Context>>,
    /// The pool of the first context, even after a server-name callback has replaced that context.
    pool: Arc<Pool>,
    connection: Connection,
    is_server: bool,
    /// The name that the server's certificate must have.
    name: Option<Box<str>>,
    ech: EchStatus,
    /// The last ClientHello or certificate request of the peer.
    peer_request: Option<Box<PeerRequest>>,
    /// On a server with a server-name callback: the ClientHello, until the callback has returned.
    client_hello: Option<Box<ClientHelloState>>,
    certificate_time: CertificateTime,
    early: EarlyDataState,
    /// The number that identifies this connection's sessions in the session store; `None` until the connection has
    /// received a session.
    store_key: Option<NonZeroUsize>,
    /// The session that the application has set for resumption; `None` after the handshake.
    resuming: Option<Arc<SavedSession>>,
    /// During the handshake, the period in which the offered session's server certificate is valid; after the
    /// handshake, the period in which the received sessions' server certificate is valid. The field is set only if the
    /// context checks validity dates.
    validity: Option<Box<Validity>>,
    has_adopted: bool,
    /// rustls has processed input or produced output.
    begun: bool,
    /// Received records; `None` if there are none, or while the buffer is lent to a reader ([`Engine::lend_input`]).
    incoming: Option<RecordBuffer>,
    /// The number of bytes at the front of `incoming` that rustls must see again in its next call; see
    /// [`record::has_unconsumed_record`].
    unconsumed: usize,
    /// While the input buffer is lent, a copy of its first `unconsumed` bytes.
    unconsumed_copy: Box<[u8]>,
    /// The number of bytes that the input buffer contained when it was lent.
    lent: usize,
    /// rustls has processed all input and needs more.
    needs_input: bool,
    /// Plaintext that did not fit into the reader's buffer.
    pending_plaintext: Option<RecordBuffer>,
    outgoing: Outgoing,
    /// The number of bytes in records received since the last plaintext.
    bytes_without_data: usize,
    received_any: bool,
    received_record: bool,
    /// On a server: the newest version in a ClientHello that was refused.
    newest_offered: Option<u16>,
    /// Application data was received, or was accepted for sending. Early data is application data too.
    has_application_data: bool,
    peer_closed: bool,
    end_of_input: bool,
    /// The error that ended the input; `None` if the transport reached its end normally.
    end_cause: Option<Arc<Error>>,
    /// Writing is shut down.
    closed: bool,
    /// close_notify is queued.
    close_queued: bool,
    /// The error that ended the session. Every later call returns this error.
    failure: Option<Error>,
    /// The error that ended sending. Received data can still be read.
    send_failure: Option<Error>,
}

impl Engine {
    /// Creates a client. `server_hostname` may be missing only if the context does not check host names.
    pub(crate) fn client(context: &Arc<Context>, server_hostname: Option<&str>) -> Result<Engine> {
        let _delay = fork::delay();
        let server_hostname = server_hostname.filter(|name| !name.is_empty());
        let name = server_hostname.map(server_name::parse).transpose()?;
        let ech = context.ech().initial_status(name.as_ref())?;
        let (session, name) = match name {
            Some(name) => {
                let text = name.to_str().into();
                (Connection::client(context.client_config(true)?, name)?, Some(text))
            }
            None if context.check_hostname() => {
                let message = "server_hostname is missing: without it, the server's identity cannot be verified";
                return Err(Error::new(Status::InvalidArgument, message));
            }
            None => {
                // rustls requires a server name. An IP address serves as a placeholder, because rustls does not send IP
                // addresses to the server.
                let nobody = ServerName::IpAddress(IpAddr::V4(Ipv4Addr::from([0, 0, 0, 0])));
                (Connection::client(context.client_config(false)?, nobody)?, None)
            }
        };
        let mut engine = Engine { ech, ..Engine::new(context, session, false, name) };
        engine.record_offer();
        Ok(engine)
    }

    /// Creates a server.
    pub(crate) fn server(context: &Arc<Context>) -> Result<Engine> {
        let mut engine = Engine::new(context, Connection::server(context.server_config()?)?, true, None);
        engine.client_hello = ClientHelloState::of(context).map(Box::new);
        Ok(engine)
    }

    fn new(context: &Arc<Context>, connection: Connection, is_server: bool, name: Option<Box<str>>) -> Engine {
        Engine {
            context: Arc::clone(context),
            unused_context: None,
            pool: Arc::clone(context.pool()),
            connection,
            is_server,
            name,
            ech: EchStatus::NotOffered,
            peer_request: None,
            client_hello: None,
            certificate_time: CertificateTime::new(context, is_server),
            early: EarlyDataState::default(),
            store_key: None,
            resuming: None,
            validity: None,
            has_adopted: false,
            begun: false,
            incoming: None,
            unconsumed: 0,
            unconsumed_copy: Box::default(),
            lent: 0,
            needs_input: true,
            pending_plaintext: None,
            outgoing: Outgoing::new(Arc::clone(context.pool())),
            bytes_without_data: 0,
            received_any: false,
            received_record: false,
            newest_offered: None,
            has_application_data: false,
            peer_closed: false,
            end_of_input: false,
            end_cause: None,
            closed: false,
            close_queued: false,
            failure: None,
            send_failure: None,
        }
    }

    pub(crate) fn connection(&self) -> &Connection {
        &self.connection
    }

    pub(crate) fn is_handshaking(&self) -> bool {
        self.connection.is_handshaking()
    }

    /// Returns the server's name. On a client, the returned name is the name that the server's certificate must have;
    /// on a server, the name that the client requested.
    pub(crate) fn server_name(&self) -> Option<&str> {
        match (&self.name, self.peer_request.as_deref()) {
            (Some(name), _) => Some(name),
            (None, Some(PeerRequest::Session { name, .. })) => name.as_deref(),
            _ => None,
        }
    }

    pub(crate) fn ech_status(&self) -> EchStatus {
        self.ech
    }

    /// Processes the input up to the end of the handshake. Returns true when the handshake is done. Returns false if
    /// the handshake must wait: either for the callback that [`Engine::take_pending_callback`] returns, or for more
    /// input, which the peer sends after it has received the queued output.
    pub(crate) fn handshake(&mut self) -> Result<bool> {
        self.check()?;
        let was_handshaking = self.is_handshaking();
        // When the handshake is done, this side's last flight may still be queued inside rustls. The call that takes
        // this flight out decrypts no record.
        while self.is_handshaking() || self.connection.wants_write() {
            match self.step(&mut [])?.1 {
                Step::PeerClosed if self.is_handshaking() => {
                    // Only TLS 1.3 gets here: in TLS 1.2, rustls ignores a close_notify during the handshake.
                    let failure = self.truncated().with_tls_alert(0);
                    return Err(self.fail(failure));
                }
                Step::Blocked if self.is_waiting_for_callback() => return Ok(false),
                Step::Blocked if self.is_handshaking() => {
                    return if self.end_of_input { Err(self.truncated()) } else { Ok(false) };
                }
                _ => {}
            }
        }
        if was_handshaking {
            self.check_resumed_client()?;
        }
        self.resuming = None;
        self.queue_close()?;
        Ok(true)
    }

    /// Returns whether the session has failed.
    pub(crate) fn has_failed(&self) -> bool {
        self.failure.is_some()
    }

    /// Encrypts at most [`record::WRITE_SIZE`] bytes from the front of `data`, and returns the number of encrypted
    /// bytes.
    pub(crate) fn write(&mut self, data: &[u8]) -> Result<usize> {
        self.check_sending()?;
        let data = data.get(..record::WRITE_SIZE).unwrap_or(data);
        if data.is_empty() {
            return Ok(0);
        }
        self.has_application_data = true;
        self.transmit(|session, unconsumed, outgoing| session.send(unconsumed, data, outgoing))?;
        Ok(data.len())
    }

    /// Shuts down writing. The first call queues close_notify. Before the handshake is done, no close_notify is needed.
    pub(crate) fn close(&mut self) -> Result<()> {
        self.check()?;
        self.check_transport()?;
        self.closed = true;
        self.queue_close()
    }

    fn queue_close(&mut self) -> Result<()> {
        if self.closed && !self.close_queued && !self.is_handshaking() {
            self.close_queued = true;
            self.transmit(|session, unconsumed, outgoing| session.close(unconsumed, outgoing))?;
        }
        Ok(())
    }

    /// Fails if the session has failed.
    fn check(&self) -> Result<()> {
        self.failure.as_ref().map_or(Ok(()), |failure| Err(failure.clone()))
    }

    /// Fails if sending has failed.
    fn check_transport(&self) -> Result<()> {
        self.send_failure.as_ref().map_or(Ok(()), |failure| Err(failure.clone()))
    }

    /// Fails if no data can be written.
    #[inline(always)]
    pub(crate) fn check_sending(&self) -> Result<()> {
        self.check()?;
        self.check_transport()?;
        if self.closed {
            return Err(Error::new(Status::Closed, "the stream was shut down for writing"));
        }
        Ok(())
    }

    /// Derives the retry kind of an error from the state of this session, before the error is returned to the
    /// application. An error that is passed to a stream inside this stream keeps the retry kind that belongs to its
    /// status, because only the application data of the inner stream determines the retry kind.
    #[cold]
    pub(crate) fn classify(&self, error: Error) -> Error {
        if self.has_application_data { error.after_request_was_sent() } else { error }
    }

    /// Ends the session and returns its first failure.
    pub(crate) fn fail(&mut self, failure: Error) -> Error {
        if let Some(session) = self.resuming.take() {
            session.mark_used();
        }
        Error::clone(self.failure.get_or_insert(failure))
    }

    pub(crate) fn has_peer_closed(&self) -> bool {
        self.peer_closed
    }

    pub(crate) fn peer(&self) -> String {
        self.facts().peer()
    }

    /// Returns " during the TLS handshake" during the handshake, otherwise "".
    pub(crate) fn during(&self) -> &'static str {
        self.facts().during()
    }

    /// Stores the newest version that the refused ClientHello offered, which the error message mentions.
    #[cold]
    fn record_offered_version(&mut self, layout: Layout) {
        if self.is_server && !self.received_record {
            self.newest_offered =
                self.incoming.as_ref().and_then(|input| offered_version::newest(input.bytes(), layout));
        }
    }

    /// Calls `act`, which lets rustls' connection send. `act` gets only the unconsumed input: rustls would also decrypt
    /// new records, whose plaintext belongs to the reader.
    fn transmit(
        &mut self,
        act: impl FnOnce(&mut Connection, &mut [u8], &mut Outgoing) -> std::result::Result<bool, Failure>,
    ) -> Result<()> {
        let unconsumed = match &mut self.incoming {
            Some(incoming) => incoming.bytes_mut().get_mut(..self.unconsumed).unwrap_or(&mut []),
            None => &mut self.unconsumed_copy[..],
        };
        match act(&mut self.connection, unconsumed, &mut self.outgoing) {
            Ok(peer_closed) => {
                self.peer_closed |= peer_closed;
                Ok(())
            }
            Err(failure) => {
                let failure = self.explain(failure);
                Err(self.fail(failure))
            }
        }
    }

    /// Returns the error for input that ends without close_notify. The error does not end the session, because the peer
    /// may have shut down only its own sending direction.
    fn truncated(&self) -> Error {
        let truncated = self.facts().truncated(!self.received_any);
        match &self.end_cause {
            Some(cause) => truncated.with_cause(Arc::clone(cause)),
            None => truncated,
        }
    }

    fn explain(&mut self, failure: Failure) -> Error {
        match failure {
            Failure::Own(error) => error,
            Failure::Tls(error) => {
                let verifier_error = self.context.verifier_errors().take();
                if self.ech == EchStatus::Offered && self.facts().is_rejected(&error, verifier_error.as_ref()) {
                    self.ech = EchStatus::Rejected;
                }
                self.facts().explain(&error, verifier_error)
            }
        }
    }

    /// Returns whether the peer may still refuse this side's certificate. With TLS 1.3, the handshake of a client is
    /// done before the server has verified the client's certificate.
    fn may_still_be_refused(&self) -> bool {
        self.connection.is_handshaking() || self.connection.is_tls13()
    }

    fn facts(&self) -> SessionFacts<'_> {
        let bytes = self.incoming.as_ref().map_or(&[][..], RecordBuffer::bytes);
        SessionFacts {
            is_server: self.is_server,
            name: self.name.as_deref(),
            public_name: self
                .context
                .ech_public_name()
                .and_then(|name| name.to_str().ok())
                .filter(|_| !self.is_server),
            is_rejected: self.ech == EchStatus::Rejected,
            restrictions: self.context.restrictions(),
            peer_request: self.peer_request.as_deref().filter(|_| self.may_still_be_refused()),
            handshaking: self.is_handshaking(),
            unread: bytes,
            received_record: self.received_record,
            newest_offered: self.newest_offered,
        }
    }
}

#[cfg(test)]
mod tests;
