//! Runs a TLS session on a transport, with blocking calls, timeouts and limits, and with one reading and one writing
//! thread at the same time.
//!
//! One mutex protects the session's state. The mutex is never held during a system call or a callback ([`Call`]):
//! - A reader takes the input buffer out of the engine, receives bytes into the buffer, and returns the buffer.
//! - A sender takes the first buffer out of the output queue. The sender keeps the sender role until the buffer is sent
//!   or back at the front of the queue, so records are sent whole and in order.
//! - One thread performs the handshake; other threads that need the handshake wait.
//!
//! A reader that has to send an alert or the answer to a key update does not wait until the bytes are sent. The reader
//! sends nothing while there is a writer, because a writer also sends the queued output. If readers waited for room in
//! the socket's send buffer, both peers could wait for each other forever.
//!
//! With TLS over TLS, the settings of the stream that the application calls apply to all streams below it. The settings
//! are passed down as a [`WaitPolicy`](super::wait_policy::WaitPolicy).

mod dropped;
mod early_data;
mod exchange;
mod gather;
mod handshake;
mod shutdown;
mod transfer;

use std::os::fd::RawFd;
use std::sync::Arc;

use once_cell::race::OnceBox;

use super::call::Call;
use super::pieces::Pieces;
use super::state::{Core, Protocol, Role, State};
use super::transport::Transport;
use super::wait_policy::WaitPolicy;
use crate::error::{Error, Result};
use crate::status::Status;
use crate::tls::config::EchStatus;
use crate::tls::session::{Engine, Negotiated, SavedSession, SessionInfo};
use crate::tls::{Context, Io};
use handshake::LastFlight;

/// A TLS session on a transport.
pub struct TlsStream {
    pub(super) core: Core<Tls>,
    info: OnceBox<SessionInfo>,
}

/// A call on a TLS stream.
type TlsCall<'a> = Call<'a, Tls>;

/// The state of a TLS session.
pub(super) struct Tls {
    engine: Engine,
    /// The handshake is complete, and its last flight is sent or kept for the next send: see
    /// [`LastFlight`](handshake::LastFlight).
    handshake_done: bool,
    /// Whether the current sender or its transport may wait. Meaningless while the sender is the writer or performs the
    /// handshake, because no other thread reads the value then.
    sender_may_wait: bool,
    /// The number of bytes received from the transport.
    bytes_received: u64,
}

impl Protocol for Tls {
    fn peer(&self) -> String {
        self.engine.peer()
    }

    fn during(&self) -> &'static str {
        self.engine.during()
    }

    fn disconnect_status(&self) -> Status {
        // Before the handshake is done, no part of a request has been sent, except as early data.
        if self.engine.is_handshaking() { Status::TlsHandshakeEof } else { Status::Protocol }
    }

    fn check_sending(&self) -> Result<()> {
        self.engine.check_sending()
    }

    fn has_failed(&self) -> bool {
        self.engine.has_failed()
    }

    fn fail(&mut self, failure: Error) -> Error {
        self.engine.fail(failure)
    }

    fn fail_sending(&mut self, failure: Error) -> Error {
        self.engine.fail_sending(failure)
    }

    fn classify(&self, error: Error) -> Error {
        self.engine.classify(error)
    }

    fn read(call: &mut TlsCall<'_>, buffer: &mut [u8], policy: WaitPolicy<'_>) -> Result<Io> {
        call.read_records(buffer, policy)
    }

    fn write(call: &mut TlsCall<'_>, data: Pieces<'_>, policy: WaitPolicy<'_>) -> Result<Io> {
        call.write(data, policy)
    }

    fn peek(call: &mut TlsCall<'_>) -> Result<Status> {
        call.peek()
    }
}

impl State<Tls> {
    /// Marks the handshake as done: it is complete, and its last flight is sent or kept for the next send.
    fn set_handshake_done(&mut self) {
        self.protocol.handshake_done = true;
        self.begin_window();
    }
}

impl TlsStream {
    /// Creates a client stream on a descriptor. Performs no I/O.
    pub fn client(context: &Arc<Context>, fd: RawFd, server_hostname: Option<&str>) -> Result<TlsStream> {
        TlsStream::client_over(context, Transport::descriptor(fd)?, server_hostname)
    }

    /// Creates a server stream on a descriptor. Performs no I/O.
    pub fn server(context: &Arc<Context>, fd: RawFd) -> Result<TlsStream> {
        TlsStream::server_over(context, Transport::descriptor(fd)?)
    }

    pub fn client_over(
        context: &Arc<Context>,
        transport: Transport,
        server_hostname: Option<&str>,
    ) -> Result<TlsStream> {
        Ok(TlsStream::new(transport, Engine::client(context, server_hostname)?))
    }

    pub fn server_over(context: &Arc<Context>, transport: Transport) -> Result<TlsStream> {
        Ok(TlsStream::new(transport, Engine::server(context)?))
    }

    fn new(transport: Transport, engine: Engine) -> TlsStream {
        let tls = Tls { engine, handshake_done: false, sender_may_wait: false, bytes_received: 0 };
        TlsStream { core: Core::new(tls, transport), info: OnceBox::new() }
    }

    /// Performs the handshake, unless it is done.
    pub fn handshake(&self) -> Result<Io> {
        self.core.classified(|| {
            let (settings, mut call) = Call::begin_without_role(&self.core)?;
            let policy = settings.wait_policy();
            if !call.enter_handshake(policy, State::check_reentry)? {
                return Ok(Io::Done(0));
            }
            Ok(call.do_handshake(LastFlight::Send, policy)?.unwrap_or(Io::Done(0)))
        })
    }

    /// Reads at least one byte, and as many as are available and fit.
    pub fn read(&self, buffer: &mut [u8]) -> Result<Io> {
        self.core.read(buffer)
    }

    /// Writes all of `pieces` if the stream is blocking, otherwise as much as can be sent. Bytes that are not reported
    /// as written must be passed again in the next call. The sum of the lengths of all pieces must fit in a `usize`.
    pub fn write_pieces(&self, pieces: &[&[u8]]) -> Result<Io> {
        self.core.write(Pieces::new(pieces))
    }

    /// Returns the number of plaintext bytes that a read returns without using the transport.
    pub fn pending(&self) -> usize {
        self.core.lock().map_or(0, |mut state| {
            let State { unread, protocol, .. } = &mut *state;
            unread.len_or(|| protocol.engine.pending())
        })
    }

    pub fn take_session(&self) -> Result<Option<SavedSession>> {
        self.core.classified(|| self.core.lock()?.protocol.engine.take_session())
    }

    pub fn set_session(&self, session: Option<&Arc<SavedSession>>) -> Result<()> {
        self.core.classified(|| Call::new(&self.core).state_for_caller()?.protocol.engine.set_session(session))
    }

    /// Returns the negotiated parameters; `None` before the handshake is done.
    pub fn negotiated(&self) -> Option<Negotiated> {
        Negotiated::of(&self.core.lock().ok()?.protocol.engine)
    }

    /// Returns the negotiated parameters that callers borrow, such as names and certificates.
    pub fn session(&self) -> Option<&SessionInfo> {
        if self.info.get().is_none() {
            let info = SessionInfo::of(&self.core.lock().ok()?.protocol.engine)?;
            let _ = self.info.set(Box::new(info));
        }
        self.info.get()
    }

    pub fn ech_status(&self) -> EchStatus {
        self.core.lock().map_or(EchStatus::NotOffered, |state| state.protocol.engine.ech_status())
    }
}

/// The functions that a stream inside this stream calls.
impl TlsStream {
    /// Performs the handshake unless it is done. Returns `Some` if the handshake would have to wait and the policy does
    /// not allow waiting.
    pub(super) fn ensure_handshake(&self, policy: WaitPolicy<'_>) -> Result<Option<Io>> {
        let mut call = Call::new(&self.core);
        call.state()?.protocol.engine.check_sending()?;
        call.ensure_handshake(LastFlight::Send, policy.without_throughput())
    }

    /// Waits until a read would return at least one byte, the end of the stream, or an error.
    pub(super) fn await_plaintext(&self, policy: WaitPolicy<'_>) -> Result<Option<Io>> {
        let policy = policy.without_throughput();
        let mut call = Call::new(&self.core);
        let mut received = false;
        loop {
            if let Some(want) = call.ensure_handshake(LastFlight::Send, policy)? {
                return Ok(Some(want));
            }
            if call.state()?.protocol.engine.is_read_ready() {
                return Ok(None);
            }
            if received {
                policy.check_throughput()?;
            }
            // Each iteration receives at least one byte, or the end of the input.
            if let Some(want) = call.receive(policy)? {
                return Ok(Some(want));
            }
            received = true;
        }
    }

    pub(super) fn receive(&self, room: &mut [u8], policy: WaitPolicy<'_>) -> Result<Io> {
        Call::new(&self.core).read(room, policy.without_throughput())
    }

    pub(super) fn send(&self, bytes: &[u8], policy: WaitPolicy<'_>) -> Result<Io> {
        let mut call = Call::new(&self.core);
        call.take(Role::Writer)?;
        call.write(Pieces::new(&[bytes]), policy.without_throughput())
    }
}

#[cfg(test)]
mod tests;
