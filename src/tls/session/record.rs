//! Wraps rustls' connections: records in, plaintext and records out. No function of this module waits.
//!
//! Only this file uses rustls' unbuffered connections, because rustls 0.24 removes them. A replacement must provide
//! [`Connection`] and [`has_unconsumed_record`]. Other files use only these parts of rustls: its configurations and
//! providers; the traits of verifiers, resolvers, session stores and cipher suites; the error type, which
//! [`super::diagnose`] explains; and the [`Acceptor`](rustls::server::Acceptor), which parses a ClientHello.
//!
//! rustls 0.23 has two rules, which this file and [`super::engine`] follow:
//! - Bytes that rustls has processed but not discarded, which are the beginning of a handshake message, must be at the
//!   front of the input of the next call; see [`has_unconsumed_record`].
//! - After an error, rustls must not get any more input; only the queued alert may be taken out.
//!
//! Early data adds two rules:
//! - Early data can be encrypted only in the state after the ClientHello. rustls returns that state until the caller
//!   marks it as done, so netlib marks the state as done only when no more early data may be sent.
//! - An unbuffered connection does not report whether the server accepted early data. netlib derives the server's
//!   decision from the size of the client's next record; see [`Step::Sealed`].

mod outgoing;
mod size;

use std::sync::Arc;

use rustls::client::{ClientConnectionData, EarlyDataError, UnbufferedClientConnection};
use rustls::server::{ServerConnectionData, UnbufferedServerConnection};
use rustls::unbuffered::{ConnectionState, EncodeError, EncryptError, TransmitTlsData, UnbufferedStatus};
use rustls::{
    ClientConfig, CommonState, HandshakeKind, NamedGroup, ProtocolVersion, ServerConfig, SupportedCipherSuite,
};
use rustls_pki_types::{CertificateDer, ServerName};

use super::pool::BUFFER_SIZE;
use super::sealing;
use crate::error::{Error, Result};
use crate::status::Status;
use crate::tls::error_text;
use outgoing::Append;
pub(crate) use outgoing::Outgoing;
pub(crate) use size::{HEADER_SIZE, RECORD_SIZE, WRITE_SIZE, whole_record};

/// The content type of every encrypted record of TLS 1.3.
const APPLICATION_DATA: u8 = 23;

/// The size of a record with EndOfEarlyData, which is the only handshake message of TLS 1.3 without a body: record
/// header, message header, content type and tag. Alerts are shorter, and Finished messages are longer.
const END_OF_EARLY_DATA_SIZE: usize = HEADER_SIZE + 4 + 1 + 16;

/// The number of bytes that TLS 1.3 adds to [`WRITE_SIZE`] bytes of plaintext.
const WRITE_OVERHEAD: usize = sealing::RECORDS * sealing::OVERHEAD;

/// One side of a TLS session.
pub(crate) enum Connection {
    Client(Box<UnbufferedClientConnection>),
    Server(Box<UnbufferedServerConnection>),
}

/// The result of [`Connection::receive`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Plaintext was delivered; the input may contain more.
    Data,
    /// A message other than application data was processed; the input may contain more messages.
    Progress,
    /// Like `Progress`, and an encrypted record was queued. `may_end_early_data` says whether the record has the length
    /// of an EndOfEarlyData record.
    Sealed { may_end_early_data: bool },
    /// All input is processed, and rustls needs more.
    Blocked,
    /// Like `Blocked`, and early data may be sent.
    BlockedEarly,
    /// The peer sent close_notify.
    PeerClosed,
}

/// The result of [`Connection::receive`], and the number of bytes at the front of the input that were processed, even
/// after a failure.
pub(crate) struct Received {
    pub(crate) consumed: usize,
    pub(crate) outcome: std::result::Result<Step, Failure>,
}

/// The reason why a session cannot continue.
pub(crate) enum Failure {
    /// rustls reported an error of the peer or of the configuration.
    Tls(Box<rustls::Error>),
    /// netlib itself failed, for example because memory ran out.
    Own(Error),
}

impl From<rustls::Error> for Failure {
    #[cold]
    fn from(error: rustls::Error) -> Failure {
        Failure::Tls(Box::new(error))
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Own(error)
    }
}

impl Connection {
    pub(crate) fn client(config: Arc<ClientConfig>, name: ServerName<'static>) -> Result<Connection> {
        let connection = UnbufferedClientConnection::new(config, name).map_err(not_started)?;
        Ok(Connection::Client(Box::new(connection)))
    }

    pub(crate) fn server(config: Arc<ServerConfig>) -> Result<Connection> {
        let connection = UnbufferedServerConnection::new(config).map_err(not_started)?;
        Ok(Connection::Server(Box::new(connection)))
    }

    fn state(&self) -> &CommonState {
        match self {
            Connection::Client(connection) => connection,
            Connection::Server(connection) => connection,
        }
    }

    pub(crate) fn is_handshaking(&self) -> bool {
        self.state().is_handshaking()
    }

    /// Returns whether messages are queued inside rustls.
    pub(crate) fn wants_write(&self) -> bool {
        self.state().wants_write()
    }

    pub(crate) fn protocol_version(&self) -> Option<ProtocolVersion> {
        self.state().protocol_version()
    }

    pub(crate) fn is_tls13(&self) -> bool {
        self.protocol_version() == Some(ProtocolVersion::TLSv1_3)
    }

    pub(crate) fn is_resumed(&self) -> bool {
        self.state().handshake_kind() == Some(HandshakeKind::Resumed)
    }

    pub(crate) fn cipher_suite(&self) -> Option<SupportedCipherSuite> {
        self.state().negotiated_cipher_suite()
    }

    pub(crate) fn key_exchange_group(&self) -> Option<NamedGroup> {
        self.state().negotiated_key_exchange_group().map(|group| group.name())
    }

    pub(crate) fn alpn_protocol(&self) -> Option<&[u8]> {
        self.state().alpn_protocol()
    }

    /// Returns the chain that the peer sent, with the peer's own certificate first; `None` if the peer sent no
    /// certificate.
    pub(crate) fn peer_certificates(&self) -> Option<&[CertificateDer<'static>]> {
        self.state().peer_certificates()
    }

    #[cfg(test)]
    pub(crate) fn handshake_kind(&self) -> Option<HandshakeKind> {
        self.state().handshake_kind()
    }

    /// Changes the sending keys; the KeyUpdate message is sent with the next record.
    #[cfg(test)]
    pub(crate) fn refresh_traffic_keys(&mut self) {
        fn refresh<S>(status: UnbufferedStatus<'_, '_, S>) {
            let Ok(ConnectionState::WriteTraffic(traffic)) = status.state else { panic!("the session cannot send") };
            traffic.refresh_traffic_keys().unwrap();
        }
        match self {
            Connection::Client(connection) => refresh(connection.process_tls_records(&mut [])),
            Connection::Server(connection) => refresh(connection.process_tls_records(&mut [])),
        }
    }

    /// Encrypts data of a client into `room`, without an [`Outgoing`] queue.
    #[cfg(test)]
    pub(crate) fn encrypt_into(
        &mut self,
        data: &[u8],
        room: &mut [u8],
    ) -> std::result::Result<usize, sealing::EncryptFailure> {
        let Connection::Client(connection) = self else { panic!("not a client") };
        let Ok(ConnectionState::WriteTraffic(mut traffic)) = connection.process_tls_records(&mut []).state else {
            panic!("the session cannot send")
        };
        traffic.encrypt(data, room).map_err(|error| match error {
            EncryptError::InsufficientSize(_) => sealing::EncryptFailure::NoRoom,
            EncryptError::EncryptExhausted => sealing::EncryptFailure::KeysExhausted,
        })
    }

    /// Processes records from the front of `records` up to the next plaintext, and passes the plaintext to `deliver`.
    /// Messages to send are queued in `out`.
    pub(crate) fn receive(
        &mut self,
        records: &mut [u8],
        out: &mut Outgoing,
        deliver: impl FnMut(&[u8]) -> Result<()>,
    ) -> Received {
        match self {
            Connection::Client(connection) => {
                handle_state(connection.process_tls_records(records), out, deliver, None)
            }
            Connection::Server(connection) => {
                handle_state(connection.process_tls_records(records), out, deliver, None)
            }
        }
    }

    /// Encrypts all of `data`, which has at most [`WRITE_SIZE`] bytes. `unconsumed` is the input that rustls has
    /// processed but not discarded. Returns true if the peer has sent close_notify. rustls reports close_notify only
    /// once, in the first call of any kind after close_notify was received.
    pub(crate) fn send(
        &mut self,
        unconsumed: &mut [u8],
        data: &[u8],
        out: &mut Outgoing,
    ) -> std::result::Result<bool, Failure> {
        self.transmit(unconsumed, Transmission::Data(data), out)
    }

    /// Encrypts all of `data` as early data; `data` has at most [`WRITE_SIZE`] bytes, and no more than the ticket
    /// allows. Returns false if no early data may be sent any more. All messages that rustls has queued must be taken
    /// out before the call.
    pub(crate) fn send_early(
        &mut self,
        unconsumed: &mut [u8],
        data: &[u8],
        out: &mut Outgoing,
    ) -> std::result::Result<bool, Failure> {
        let Connection::Client(connection) = self else { return Ok(false) };
        let mut what = Transmission::Early(data);
        handle_state(connection.process_tls_records(unconsumed), out, |_| Ok(()), Some(&mut what)).outcome?;
        Ok(matches!(what, Transmission::Done))
    }

    /// Queues a close_notify alert. Returns true if the peer has sent close_notify, like [`Connection::send`].
    pub(crate) fn close(&mut self, unconsumed: &mut [u8], out: &mut Outgoing) -> std::result::Result<bool, Failure> {
        self.transmit(unconsumed, Transmission::Close, out)
    }

    /// Takes out the alert that rustls has queued because of an error.
    pub(crate) fn take_alert(&mut self, unconsumed: &mut [u8], out: &mut Outgoing) {
        // Each call takes out one message, so a few calls are enough. The loop ends when no message is queued, because
        // another call would process input.
        for _ in 0..8 {
            if !self.state().wants_write() {
                return;
            }
            let _ = self.receive(unconsumed, out, |_| Ok(()));
        }
    }

    /// Makes rustls queue a decode_error alert under the current keys, by passing input that is not a record. Called
    /// after errors for which rustls queues no alert. Returns true if an alert is queued.
    pub(crate) fn send_decode_error(&mut self, out: &mut Outgoing) -> Result<bool> {
        // rustls skips the bytes that it has already processed but not discarded; `nonsense` is longer than those bytes
        // can be. No record and no message begins with 0xff.
        let mut nonsense = Vec::new();
        nonsense
            .try_reserve_exact(BUFFER_SIZE + HEADER_SIZE)
            .map_err(|_| Error::new(Status::OutOfMemory, "no memory for an alert"))?;
        nonsense.resize(BUFFER_SIZE + HEADER_SIZE, 0xff);
        // Queued handshake messages come out first, one per call.
        for _ in 0..8 {
            if self.state().wants_write() {
                break;
            }
            let _ = self.receive(&mut nonsense, out, |_| Ok(()));
        }
        let is_queued = self.state().wants_write();
        self.take_alert(&mut nonsense, out);
        Ok(is_queued)
    }

    fn transmit(
        &mut self,
        unconsumed: &mut [u8],
        mut what: Transmission<'_>,
        out: &mut Outgoing,
    ) -> std::result::Result<bool, Failure> {
        let mut peer_closed = false;
        // Queued messages come out first, one per call. rustls limits how many messages a peer can make rustls queue.
        loop {
            let fail_with_alert = |_: &[u8]| Err(Error::new(Status::Internal, "a write produced plaintext"));
            let Received { outcome, .. } = match self {
                Connection::Client(connection) => {
                    handle_state(connection.process_tls_records(unconsumed), out, fail_with_alert, Some(&mut what))
                }
                Connection::Server(connection) => {
                    handle_state(connection.process_tls_records(unconsumed), out, fail_with_alert, Some(&mut what))
                }
            };
            let step = outcome?;
            peer_closed |= step == Step::PeerClosed;
            if matches!(what, Transmission::Done) {
                return Ok(peer_closed);
            }
            if matches!(step, Step::Blocked | Step::BlockedEarly) {
                return Err(Failure::Own(Error::new(Status::Internal, "the session cannot send")));
            }
        }
    }
}

/// The data to send.
enum Transmission<'a> {
    Data(&'a [u8]),
    Early(&'a [u8]),
    Close,
    Done,
}

/// The operations that differ between the connections of clients and servers.
trait Side: Sized {
    /// Returns whether early data may be sent.
    fn may_send_early(transmit: &mut TransmitTlsData<'_, Self>) -> bool;

    /// Encrypts `data` into `room`. `room` must be large enough, because rustls counts the bytes as sent even if the
    /// encryption fails.
    fn encrypt_early(transmit: &mut TransmitTlsData<'_, Self>, data: &[u8], room: &mut [u8]) -> Append;
}

impl Side for ClientConnectionData {
    fn may_send_early(transmit: &mut TransmitTlsData<'_, Self>) -> bool {
        transmit.may_encrypt_early_data().is_some()
    }

    fn encrypt_early(transmit: &mut TransmitTlsData<'_, Self>, data: &[u8], room: &mut [u8]) -> Append {
        match transmit.may_encrypt_early_data().map(|mut early| early.encrypt(data, room)) {
            Some(Ok(written)) => Append::Written(written),
            Some(Err(EarlyDataError::Encrypt(EncryptError::InsufficientSize(short)))) => {
                Append::Needs(short.required_size)
            }
            Some(Err(_)) | None => Append::Failed,
        }
    }
}

impl Side for ServerConnectionData {
    fn may_send_early(_: &mut TransmitTlsData<'_, Self>) -> bool {
        false
    }

    fn encrypt_early(_: &mut TransmitTlsData<'_, Self>, _: &[u8], _: &mut [u8]) -> Append {
        Append::Failed
    }
}

/// Does what one state of the connection allows: delivers plaintext, queues output, or encrypts the data of `send`.
fn handle_state<S: Side>(
    status: UnbufferedStatus<'_, '_, S>,
    out: &mut Outgoing,
    mut deliver: impl FnMut(&[u8]) -> Result<()>,
    send: Option<&mut Transmission<'_>>,
) -> Received {
    let UnbufferedStatus { discard, state } = status;
    let mut consumed = discard;
    let outcome = match state {
        Err(error) => Err(error.into()),
        Ok(ConnectionState::ReadTraffic(mut traffic)) => loop {
            match traffic.next_record() {
                None => break Ok(Step::Data),
                Some(Err(error)) => break Err(error.into()),
                Some(Ok(record)) => {
                    consumed += record.discard;
                    if let Err(error) = deliver(record.payload) {
                        break Err(Failure::Own(error));
                    }
                }
            }
        },
        Ok(ConnectionState::EncodeTlsData(mut message)) => {
            let mut step = Step::Progress;
            let encoded = out.append(0, |room| match message.encode(room) {
                Ok(written) => {
                    if room.first() == Some(&APPLICATION_DATA) {
                        step = Step::Sealed { may_end_early_data: written == END_OF_EARLY_DATA_SIZE };
                    }
                    Append::Written(written)
                }
                Err(EncodeError::InsufficientSize(short)) => Append::Needs(short.required_size),
                Err(EncodeError::AlreadyEncoded) => Append::Written(0),
            });
            encoded.map(|()| step).map_err(Failure::Own)
        }
        Ok(ConnectionState::TransmitTlsData(mut transmit)) => match send {
            _ if !S::may_send_early(&mut transmit) => {
                // All queued messages are sent in order, so a message is reported to rustls as sent as soon as it is in
                // the queue.
                transmit.done();
                Ok(Step::Progress)
            }
            Some(what @ Transmission::Early(_)) => {
                let data = if let Transmission::Early(data) = what { *data } else { &[] };
                let sent =
                    out.append(data.len() + WRITE_OVERHEAD, |room| S::encrypt_early(&mut transmit, data, room));
                *what = Transmission::Done;
                sent.map(|()| Step::BlockedEarly).map_err(Failure::Own)
            }
            _ => Ok(Step::BlockedEarly),
        },
        Ok(ConnectionState::PeerClosed) => Ok(Step::PeerClosed),
        Ok(ConnectionState::Closed) => Ok(if send.is_some() { Step::Blocked } else { Step::PeerClosed }),
        Ok(ConnectionState::WriteTraffic(mut traffic)) => match send {
            None | Some(Transmission::Done | Transmission::Early(_)) => Ok(Step::Blocked),
            Some(what) => {
                let sent = match what {
                    Transmission::Data(data) => out.seal(data.len(), |room| traffic.encrypt(data, room).into()),
                    _ => out.append(0, |room| traffic.queue_close_notify(room).into()),
                };
                *what = Transmission::Done;
                sent.map(|()| Step::Progress).map_err(Failure::Own)
            }
        },
        Ok(ConnectionState::BlockedHandshake) => Ok(Step::Blocked),
        Ok(_) => Err(Failure::Own(Error::new(Status::Internal, "rustls returned an unexpected state"))),
    };
    Received { consumed, outcome }
}

/// Returns whether rustls still needs the bytes that a blocked [`Connection::receive`] left. A complete record that
/// rustls has processed but not discarded is part of an incomplete handshake message. An incomplete record has not been
/// processed.
pub(crate) fn has_unconsumed_record(left: &[u8]) -> bool {
    whole_record(left).is_some()
}

impl From<std::result::Result<usize, EncryptError>> for Append {
    fn from(written: std::result::Result<usize, EncryptError>) -> Append {
        match written {
            Ok(written) => Append::Written(written),
            Err(EncryptError::InsufficientSize(short)) => Append::Needs(short.required_size),
            Err(EncryptError::EncryptExhausted) => Append::Failed,
        }
    }
}

fn not_started(error: rustls::Error) -> Error {
    Error::new(Status::Internal, format!("the TLS session could not be started: {}", error_text::other(&error)))
}
