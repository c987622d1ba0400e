//! The record layer: rustls' unbuffered connection behind one small interface. Records come in by slice, plaintext
//! and records to send go out; nothing here waits, and nothing is kept but rustls' own state.
//!
//! Two rules of rustls 0.23 are kept here and in `engine`:
//! - What it has looked at but not discarded (a handshake message of which more is to come) must be at the front of
//!   the slice of every later call; see [`holds_a_record`].
//! - After an error nothing may be processed again: only the alert that it queued may be taken out.

use std::sync::Arc;

use rustls::client::UnbufferedClientConnection;
use rustls::server::UnbufferedServerConnection;
use rustls::unbuffered::{ConnectionState, EncodeError, EncryptError, UnbufferedStatus};
use rustls::{ClientConfig, CommonState, ServerConfig};
use rustls_pki_types::ServerName;
use smallvec::SmallVec;

use super::pool::{Filled, Pool};
use crate::error::{Error, Result};
use crate::status::Status;

/// The most plaintext of a record.
pub(crate) const RECORD_SIZE: usize = 16 * 1024;

/// The most plaintext that one call encrypts: four records, one buffer.
pub(crate) const WRITE_SIZE: usize = 4 * RECORD_SIZE;

pub(crate) const HEADER_SIZE: usize = 5;

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
    /// The whole slice has been looked at.
    Blocked,
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
    Tls(rustls::Error),
    /// A failure of netlib's side, such as no memory.
    Own(Error),
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
            Session::Client(connection) => react(connection.process_tls_records(records), out, deliver, None),
            Session::Server(connection) => react(connection.process_tls_records(records), out, deliver, None),
        }
    }

    /// Encrypts all of `data`, at most [`WRITE_SIZE`]. `held` is what rustls has looked at but not discarded. True: the
    /// peer has said that it will send no more, which rustls tells once, to whoever asks it next.
    pub(crate) fn send(
        &mut self,
        held: &mut [u8],
        data: &[u8],
        out: &mut Outgoing,
    ) -> std::result::Result<bool, Failure> {
        self.transmit(held, Transmission::Data(data), out)
    }

    /// Queues the closing message. True: as [`Session::send`].
    pub(crate) fn close(&mut self, held: &mut [u8], out: &mut Outgoing) -> std::result::Result<bool, Failure> {
        self.transmit(held, Transmission::Close, out)
    }

    /// Takes what an error queued for the peer.
    pub(crate) fn take_alert(&mut self, held: &mut [u8], out: &mut Outgoing) {
        // Each call takes one message out, so few are enough; asking without one would process records again.
        for _ in 0..8 {
            if !self.state().wants_write() {
                return;
            }
            let _ = self.receive(held, out, |_| Ok(()));
        }
    }

    fn transmit(
        &mut self,
        held: &mut [u8],
        mut what: Transmission<'_>,
        out: &mut Outgoing,
    ) -> std::result::Result<bool, Failure> {
        let mut peer_closed = false;
        // Messages that rustls has queued come out first, one a call; their number is bounded by what the peer may
        // provoke, which rustls limits.
        loop {
            let refuse = |_: &[u8]| Err(Error::new(Status::Internal, "plaintext came out of a write"));
            let Received { outcome, .. } = match self {
                Session::Client(connection) => {
                    react(connection.process_tls_records(held), out, refuse, Some(&mut what))
                }
                Session::Server(connection) => {
                    react(connection.process_tls_records(held), out, refuse, Some(&mut what))
                }
            };
            let step = outcome?;
            peer_closed |= step == Step::PeerClosed;
            if matches!(what, Transmission::Done) {
                return Ok(peer_closed);
            }
            if step == Step::Blocked {
                return Err(Failure::Own(Error::new(Status::Internal, "the session cannot send")));
            }
        }
    }
}

/// What a caller wants to send.
enum Transmission<'a> {
    Data(&'a [u8]),
    Close,
    Done,
}

/// Answers one state of rustls.
fn react<Side>(
    status: UnbufferedStatus<'_, '_, Side>,
    out: &mut Outgoing,
    mut deliver: impl FnMut(&[u8]) -> Result<()>,
    send: Option<&mut Transmission<'_>>,
) -> Received {
    let UnbufferedStatus { discard, state } = status;
    let mut consumed = discard;
    let outcome = match state {
        Err(error) => Err(Failure::Tls(error)),
        Ok(ConnectionState::ReadTraffic(mut traffic)) => loop {
            match traffic.next_record() {
                None => break Ok(Step::Data),
                Some(Err(error)) => break Err(Failure::Tls(error)),
                Some(Ok(record)) => {
                    consumed += record.discard;
                    if let Err(error) = deliver(record.payload) {
                        break Err(Failure::Own(error));
                    }
                }
            }
        },
        Ok(ConnectionState::EncodeTlsData(mut message)) => out
            .append(0, |room| match message.encode(room) {
                Ok(written) => Append::Written(written),
                Err(EncodeError::InsufficientSize(short)) => Append::Needs(short.required_size),
                Err(EncodeError::AlreadyEncoded) => Append::Written(0),
            })
            .map(|()| Step::Progress)
            .map_err(Failure::Own),
        Ok(ConnectionState::TransmitTlsData(transmit)) => {
            // In the queue it is as good as sent: nothing can overtake it.
            transmit.done();
            Ok(Step::Progress)
        }
        Ok(ConnectionState::PeerClosed) => Ok(Step::PeerClosed),
        Ok(ConnectionState::Closed) => Ok(if send.is_some() { Step::Blocked } else { Step::PeerClosed }),
        Ok(ConnectionState::WriteTraffic(mut traffic)) => match send {
            None | Some(Transmission::Done) => Ok(Step::Blocked),
            Some(what) => {
                let least = if let Transmission::Data(data) = what { data.len() } else { 0 };
                let sent = out.append(least, |room| {
                    let written = match what {
                        Transmission::Data(data) => traffic.encrypt(data, room),
                        _ => traffic.queue_close_notify(room),
                    };
                    match written {
                        Ok(written) => Append::Written(written),
                        Err(EncryptError::InsufficientSize(short)) => Append::Needs(short.required_size),
                        Err(EncryptError::EncryptExhausted) => Append::Failed,
                    }
                });
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
pub(crate) fn holds_a_record(left: &[u8]) -> bool {
    whole_record(left).is_some()
}

/// Records to send, in order. Mostly they are in one buffer, and few at the most.
pub(crate) struct Outgoing {
    queue: SmallVec<[Filled; 1]>,
    pool: Arc<Pool>,
}

enum Append {
    Written(usize),
    Needs(usize),
    Failed,
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
    pub(crate) fn pop(&mut self) -> Option<Filled> {
        (!self.queue.is_empty()).then(|| self.queue.remove(0))
    }

    pub(crate) fn push_back(&mut self, rest: Filled) {
        if !rest.is_empty() {
            self.queue.insert(0, rest);
        }
    }

    pub(crate) fn clear(&mut self) {
        self.queue.clear();
    }

    /// Lets `write` write behind the last record, in a fresh buffer if the room there is too small.
    fn append(&mut self, least: usize, mut write: impl FnMut(&mut [u8]) -> Append) -> Result<()> {
        let mut needed = least;
        // The second turn has a fresh buffer, or room of the size that was asked for.
        for _ in 0..3 {
            if self.queue.last_mut().is_none_or(|last| last.space().len() < needed.max(1)) {
                self.queue.push(Filled::new(self.pool.borrow()?));
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
                    let message = "the session's keys are used up: make a new connection";
                    return Err(Error::new(Status::TlsProtocol, message));
                }
            }
        }
        self.queue.retain(|chunk| !chunk.is_empty());
        Err(Error::new(Status::Internal, format!("a record of {needed} bytes fits no buffer")))
    }
}

fn not_started(error: rustls::Error) -> Error {
    Error::new(Status::Internal, format!("the TLS session could not be started: {error}"))
}
