//! The record layer: rustls' unbuffered connection behind one small interface. Records come in by slice, plaintext
//! and records to send go out; nothing here waits, and nothing is kept but rustls' own state.
//!
//! Two rules of rustls 0.23 are kept here and in `engine`:
//! - What it has looked at but not discarded (a handshake message of which more is to come) must be at the front of
//!   the slice of every later call; see [`has_unconsumed_record`].
//! - After an error nothing may be processed again: only the alert that it queued may be taken out.
//!
//! Early data has two more. It may be encrypted only in the state that follows a client's first message, which rustls
//! shows again and again as long as it is not answered; so it is left unanswered until it offers no early data any more.
//! And an unbuffered session does not say what became of early data, but what it sends does: see [`Step::Sealed`].

use std::sync::Arc;

use rustls::client::{ClientConnectionData, EarlyDataError, UnbufferedClientConnection};
use rustls::server::{ServerConnectionData, UnbufferedServerConnection};
use rustls::unbuffered::{ConnectionState, EncodeError, EncryptError, TransmitTlsData, UnbufferedStatus};
use rustls::{ClientConfig, CommonState, ServerConfig};
use rustls_pki_types::ServerName;
use smallvec::SmallVec;

use super::pool::{BUFFER_SIZE, Pool, RecordBuffer};
use super::sealing::{self, Outcome};
use crate::error::{Error, Result};
use crate::status::Status;
use crate::tls::error_text;

/// The most plaintext of a record.
pub(crate) const RECORD_SIZE: usize = 16 * 1024;

/// The most plaintext that one call encrypts: four records, one buffer.
pub(crate) const WRITE_SIZE: usize = 4 * RECORD_SIZE;

pub(crate) const HEADER_SIZE: usize = 5;

/// The type of records that are encrypted, whatever is in them.
const APPLICATION_DATA: u8 = 23;

/// EndOfEarlyData is the only message without contents, so that its record is as short as a type, a length, the record's own
/// type and a tag. Alerts are shorter, and Finished is longer.
const END_OF_EARLY_DATA_SIZE: usize = HEADER_SIZE + 4 + 1 + 16;

/// By how much the records of [`WRITE_SIZE`] bytes are longer in TLS 1.3.
const WRITE_OVERHEAD: usize = sealing::RECORDS * sealing::OVERHEAD;

/// One side of a TLS session.
pub(crate) enum Session {
    Client(Box<UnbufferedClientConnection>),
    Server(Box<UnbufferedServerConnection>),
}

/// What a [`Session::receive`] came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Plaintext was delivered; there may be more.
    Data,
    /// Something was done that is no plaintext; there may be more.
    Progress,
    /// The same: an encrypted record was queued. Whether by its length it may be EndOfEarlyData.
    Sealed { may_end_early_data: bool },
    /// The whole slice has been looked at.
    Blocked,
    /// The same, and early data may be sent.
    BlockedEarly,
    /// The peer has said that it will send no more.
    PeerClosed,
}

/// How far a [`Session::receive`] got: bytes of the front that are done with, also when it failed.
pub(crate) struct Received {
    pub(crate) consumed: usize,
    pub(crate) outcome: std::result::Result<Step, Failure>,
}

/// Why a session cannot go on.
pub(crate) enum Failure {
    /// rustls refused what the peer did.
    Tls(Box<rustls::Error>),
    /// A failure of netlib's side, such as no memory.
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

impl Session {
    pub(crate) fn client(config: Arc<ClientConfig>, name: ServerName<'static>) -> Result<Session> {
        let connection = UnbufferedClientConnection::new(config, name).map_err(not_started)?;
        Ok(Session::Client(Box::new(connection)))
    }

    pub(crate) fn server(config: Arc<ServerConfig>) -> Result<Session> {
        let connection = UnbufferedServerConnection::new(config).map_err(not_started)?;
        Ok(Session::Server(Box::new(connection)))
    }

    /// What both sides know of the session.
    pub(crate) fn state(&self) -> &CommonState {
        match self {
            Session::Client(connection) => connection,
            Session::Server(connection) => connection,
        }
    }

    /// Works on records at the front of `records` up to the next plaintext, which `deliver` gets. What is to be sent
    /// is put into `out`.
    pub(crate) fn receive(
        &mut self,
        records: &mut [u8],
        out: &mut Outgoing,
        deliver: impl FnMut(&[u8]) -> Result<()>,
    ) -> Received {
        match self {
            Session::Client(connection) => handle_state(connection.process_tls_records(records), out, deliver, None),
            Session::Server(connection) => handle_state(connection.process_tls_records(records), out, deliver, None),
        }
    }

    /// Encrypts all of `data`, at most [`WRITE_SIZE`]. `unconsumed` is what rustls has looked at but not discarded. True: the
    /// peer has said that it will send no more, which rustls tells once, to whoever asks it next.
    pub(crate) fn send(
        &mut self,
        unconsumed: &mut [u8],
        data: &[u8],
        out: &mut Outgoing,
    ) -> std::result::Result<bool, Failure> {
        self.transmit(unconsumed, Transmission::Data(data), out)
    }

    /// Encrypts all of `data` as early data, at most [`WRITE_SIZE`] and no more than the ticket allows. False: none may be
    /// sent, or no more. Everything that rustls has queued must have been taken out before.
    pub(crate) fn send_early(
        &mut self,
        unconsumed: &mut [u8],
        data: &[u8],
        out: &mut Outgoing,
    ) -> std::result::Result<bool, Failure> {
        let Session::Client(connection) = self else { return Ok(false) };
        let mut what = Transmission::Early(data);
        handle_state(connection.process_tls_records(unconsumed), out, |_| Ok(()), Some(&mut what)).outcome?;
        Ok(matches!(what, Transmission::Done))
    }

    /// Queues the closing message. True: as [`Session::send`].
    pub(crate) fn close(&mut self, unconsumed: &mut [u8], out: &mut Outgoing) -> std::result::Result<bool, Failure> {
        self.transmit(unconsumed, Transmission::Close, out)
    }

    /// Takes what an error queued for the peer.
    pub(crate) fn take_alert(&mut self, unconsumed: &mut [u8], out: &mut Outgoing) {
        // Each call takes one message out, so few are enough; asking without one would process records again.
        for _ in 0..8 {
            if !self.state().wants_write() {
                return;
            }
            let _ = self.receive(unconsumed, out, |_| Ok(()));
        }
    }

    /// Tells the peer that the session is over where rustls refuses something and says nothing: shown what cannot begin
    /// a record, it queues the alert decode_error, under the keys of the moment. True: there is one.
    pub(crate) fn send_decode_error(&mut self, out: &mut Outgoing) -> Result<bool> {
        // Longer than all that rustls can hold, because it goes on behind that; no handshake message either.
        let mut nonsense = Vec::new();
        nonsense
            .try_reserve_exact(BUFFER_SIZE + HEADER_SIZE)
            .map_err(|_| Error::new(Status::OutOfMemory, "no memory for an alert"))?;
        nonsense.resize(BUFFER_SIZE + HEADER_SIZE, 0xff);
        // Handshake messages that it has not looked at come first, one a call.
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
        // Messages that rustls has queued come out first, one a call; their number is bounded by what the peer may
        // provoke, which rustls limits.
        loop {
            let fail_with_alert = |_: &[u8]| Err(Error::new(Status::Internal, "plaintext came out of a write"));
            let Received { outcome, .. } = match self {
                Session::Client(connection) => {
                    handle_state(connection.process_tls_records(unconsumed), out, fail_with_alert, Some(&mut what))
                }
                Session::Server(connection) => {
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

/// What a caller wants to send.
enum Transmission<'a> {
    Data(&'a [u8]),
    Early(&'a [u8]),
    Close,
    Done,
}

/// What only one of the sides has.
trait Side: Sized {
    /// Whether early data may be sent.
    fn may_send_early(transmit: &mut TransmitTlsData<'_, Self>) -> bool;

    /// Encrypts it into `room`, which must be large enough: rustls counts what it refuses, too.
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

/// Answers one state of rustls.
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
                // In the queue it is as good as sent: nothing can overtake it.
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
                    Transmission::Data(data) => out.seal(data.len(), |room| traffic.encrypt(data, room)),
                    _ => out.append(0, |room| traffic.queue_close_notify(room).into()),
                };
                *what = Transmission::Done;
                sent.map(|()| Step::Progress).map_err(Failure::Own)
            }
        },
        Ok(ConnectionState::BlockedHandshake) => Ok(Step::Blocked),
        Ok(_) => Err(Failure::Own(Error::new(Status::Internal, "a state of the session that was never asked for"))),
    };
    Received { consumed, outcome }
}

/// The size of the record at the front of `bytes`, header included, when all of it is there.
pub(crate) fn whole_record(bytes: &[u8]) -> Option<usize> {
    let [_, _, _, high, low, ..] = *bytes else { return None };
    let size = HEADER_SIZE + usize::from(u16::from_be_bytes([high, low]));
    (bytes.len() >= size).then_some(size)
}

/// Whether rustls still needs bytes that a blocked [`Session::receive`] left: a whole record that it has looked at and
/// not discarded is part of a handshake message of which more is to come. An incomplete record it has not touched.
pub(crate) fn has_unconsumed_record(left: &[u8]) -> bool {
    whole_record(left).is_some()
}

/// Records to send, in order. Mostly they are in one buffer, and few at the most.
pub(crate) struct Outgoing {
    queue: SmallVec<[RecordBuffer; 1]>,
    pool: Arc<Pool>,
}

enum Append {
    Written(usize),
    Needs(usize),
    Failed,
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

impl Outgoing {
    pub(crate) fn new(pool: Arc<Pool>) -> Outgoing {
        Outgoing { queue: SmallVec::new(), pool }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// How many bytes wait.
    pub(crate) fn len(&self) -> usize {
        self.queue.iter().map(|chunk| chunk.bytes().len()).sum()
    }

    /// A small record in the clear.
    pub(crate) fn add_plain(&mut self, record: &[u8]) -> Result<()> {
        self.append(record.len(), |room| match room.get_mut(..record.len()) {
            Some(room) => {
                room.copy_from_slice(record);
                Append::Written(record.len())
            }
            None => Append::Needs(record.len()),
        })
    }

    /// The next bytes to send; what of them could not be sent goes back with [`Outgoing::push_back`].
    pub(crate) fn pop(&mut self) -> Option<RecordBuffer> {
        (!self.queue.is_empty()).then(|| self.queue.remove(0))
    }

    pub(crate) fn push_back(&mut self, rest: RecordBuffer) {
        if rest.is_empty() {
            self.pool.give_back(rest);
        } else {
            self.queue.insert(0, rest);
        }
    }

    pub(crate) fn clear(&mut self) {
        self.queue.clear();
    }

    /// The number of the alert that is queued last, if that is a fatal one in the clear.
    pub(crate) fn plain_alert(&self) -> Option<u8> {
        match self.queue.last()?.bytes() {
            [.., 21, 3, _, 0, 2, 2, number] => Some(*number),
            _ => None,
        }
    }

    /// Has so much application data encrypted behind the last record: at once where it is to be, if that can be done.
    fn seal(
        &mut self,
        data: usize,
        mut encrypt: impl FnMut(&mut [u8]) -> std::result::Result<usize, EncryptError>,
    ) -> Result<()> {
        if data == 0 {
            return Ok(());
        }
        let records = data.div_ceil(RECORD_SIZE);
        let needed = data + records * sealing::OVERHEAD;
        let has_room = self.queue.last().is_some_and(|last| last.space_len() >= needed);
        let last = if has_room { self.queue.pop() } else { None };
        let buffer = match last {
            Some(last) => last,
            None => self.pool.borrow()?,
        };
        let (buffer, outcome) = sealing::seal(buffer, records, &mut encrypt);
        if let Some(buffer) = buffer {
            self.queue.push(buffer);
        }
        let failure = match outcome {
            Outcome::Sealed => return Ok(()),
            Outcome::NotStarted => return self.append(needed, |room| encrypt(room).into()),
            Outcome::KeysExhausted => keys_exhausted(),
            Outcome::Failed => Error::new(Status::Internal, "a record could not be sealed"),
        };
        self.drop_empty();
        Err(failure)
    }

    /// After a failure.
    fn drop_empty(&mut self) {
        self.queue.retain(|chunk| !chunk.is_empty());
    }

    /// Lets `write` write behind the last record, in a fresh buffer if the room there is too small.
    fn append(&mut self, least: usize, mut write: impl FnMut(&mut [u8]) -> Append) -> Result<()> {
        let mut needed = least;
        // The second turn has a fresh buffer, or room of the size that was asked for.
        for _ in 0..3 {
            if self.queue.last().is_none_or(|last| last.space_len() < needed.max(1)) {
                self.queue.push(self.pool.borrow()?);
            }
            let Some(last) = self.queue.last_mut() else { break };
            match write(last.space()) {
                Append::Written(written) => {
                    last.add(written);
                    if last.is_empty() {
                        self.queue.pop();
                    }
                    return Ok(());
                }
                Append::Needs(size) => needed = size,
                Append::Failed => {
                    self.drop_empty();
                    return Err(keys_exhausted());
                }
            }
        }
        self.drop_empty();
        Err(Error::new(Status::Internal, format!("a record of {needed} bytes fits no buffer")))
    }
}

#[cold]
fn keys_exhausted() -> Error {
    Error::new(Status::TlsProtocol, "the session's keys are used up: make a new connection")
}

fn not_started(error: rustls::Error) -> Error {
    Error::new(Status::Internal, format!("the TLS session could not be started: {}", error_text::other(&error)))
}
