//! Passes bytes between the application and a transport, without TLS.

use std::ops::ControlFlow;
use std::os::fd::RawFd;

use super::call::Call;
use super::callbacks::Callbacks;
use super::exchange::{Awaited, explain, is_disconnect};
use super::fault::Fault;
use super::pieces::Pieces;
use super::state::{Core, Protocol, Role};
use super::transport::Transport;
use super::wait_policy::{NO_WAITING, WaitPolicy};
use crate::error::{Error, Result};
use crate::status::Status;
use crate::tls::Io;

/// The size of the buffer for bytes that a stream discards while it waits for the end of the peer's data.
const DISCARD_BUFFER: usize = 4096;

/// A plain stream: a stream without TLS.
pub struct PlainStream {
    pub(super) core: Core<Plain>,
}

type PlainCall<'a> = Call<'a, Plain>;

/// The state of a plain stream.
#[derive(Default)]
pub(super) struct Plain {
    /// Application data was received, or was accepted for sending.
    has_application_data: bool,
    /// The peer has ended its data.
    peer_closed: bool,
    /// Writing is shut down.
    closed: bool,
    /// The error that ended the stream. Every later call returns this error.
    failure: Option<Error>,
    /// The error that ended sending. Received data can still be read.
    send_failure: Option<Error>,
}

impl Plain {
    fn check(&self) -> Result<()> {
        self.failure.as_ref().map_or(Ok(()), |failure| Err(failure.clone()))
    }

    fn check_transport(&self) -> Result<()> {
        self.check()?;
        self.send_failure.as_ref().map_or(Ok(()), |failure| Err(failure.clone()))
    }
}

impl Protocol for Plain {
    fn peer(&self) -> String {
        "the peer".to_owned()
    }

    fn during(&self) -> &'static str {
        ""
    }

    fn disconnect_status(&self) -> Status {
        Status::Protocol
    }

    fn check_sending(&self) -> Result<()> {
        self.check_transport()?;
        if self.closed {
            return Err(Error::new(Status::Closed, "the stream was shut down for writing"));
        }
        Ok(())
    }

    fn has_failed(&self) -> bool {
        self.failure.is_some()
    }

    fn fail(&mut self, failure: Error) -> Error {
        Error::clone(self.failure.get_or_insert(failure))
    }

    fn fail_sending(&mut self, failure: Error) -> Error {
        Error::clone(self.send_failure.get_or_insert(failure))
    }

    #[cold]
    fn classify(&self, error: Error) -> Error {
        if self.has_application_data { error.after_request_was_sent() } else { error }
    }

    fn read(call: &mut PlainCall<'_>, buffer: &mut [u8], policy: WaitPolicy<'_>) -> Result<Io> {
        call.read_transport(buffer, policy)
    }

    fn write(call: &mut PlainCall<'_>, data: Pieces<'_>, policy: WaitPolicy<'_>) -> Result<Io> {
        call.write(data, policy)
    }

    fn peek(call: &mut PlainCall<'_>) -> Result<Status> {
        call.peek()
    }
}

impl PlainStream {
    /// Creates a stream on a descriptor. Performs no I/O.
    pub fn descriptor(fd: RawFd) -> Result<PlainStream> {
        Ok(PlainStream::new(Transport::stream_socket(fd)?))
    }

    pub fn callbacks(callbacks: Callbacks) -> PlainStream {
        PlainStream::new(Transport::callbacks(callbacks))
    }

    pub(super) fn new(transport: Transport) -> PlainStream {
        PlainStream { core: Core::new(Plain::default(), transport) }
    }

    /// Succeeds without I/O, because a plain stream has no handshake. Fails if another stream uses this stream, or in a
    /// callback of this stream.
    pub fn handshake(&self) -> Result<Io> {
        self.core.classified(|| {
            Call::new(&self.core).state_for_caller()?;
            Ok(Io::Done(0))
        })
    }

    /// Writes nothing, because a plain stream sends no early data. Fails if no data can be written, as
    /// `TlsStream::write_early` does.
    pub fn write_early(&self) -> Result<Io> {
        self.core.classified(|| {
            let (_, mut call) = Call::begin(&self.core, Role::Writer)?;
            call.state()?.protocol.check_sending()?;
            Ok(Io::Done(0))
        })
    }

    pub fn read(&self, buffer: &mut [u8]) -> Result<Io> {
        self.core.read(buffer)
    }

    pub fn write_pieces(&self, pieces: &[&[u8]]) -> Result<Io> {
        self.core.write(Pieces::new(pieces))
    }

    /// Returns the number of bytes that a read returns without using the descriptor or the read callback.
    pub fn pending(&self) -> usize {
        self.core.lock().map_or(0, |state| state.unread.len_or(|| self.core.transport.peeked()))
    }

    /// Does what `TlsStream::probe` does.
    pub fn probe(&self) -> Result<Status> {
        self.core.classified(|| {
            let (_, mut call) = Call::begin(&self.core, Role::Writer)?;
            call.take(Role::Reader)?;
            let looked = call.peek();
            call.state()?.conclude_probe(looked)
        })
    }

    /// Shuts down the sending direction, at most once for each stream.
    pub fn shutdown(&self) -> Result<Io> {
        self.core.classified(|| {
            let (settings, mut call) = Call::begin(&self.core, Role::Writer)?;
            call.close(settings.wait_policy())?;
            Ok(Io::Done(0))
        })
    }

    /// Shuts down the sending direction, and waits for the end of the peer's data.
    pub fn shutdown_both(&self) -> Result<Io> {
        self.core.classified(|| {
            let (settings, mut call) = Call::begin(&self.core, Role::Writer)?;
            let policy = settings.wait_policy();
            call.take(Role::Reader)?;
            let sent = call.close(policy).map(|()| Io::Done(0));
            call.await_end(sent, |call| {
                let mut buffer = [0; DISCARD_BUFFER];
                call.discard_to_end(|call| call.read(&mut buffer, policy))
            })
        })
    }

    /// Returns whether the peer has ended its data.
    pub(super) fn has_peer_closed(&self) -> bool {
        self.core.lock().is_ok_and(|state| state.protocol.peer_closed)
    }
}

/// The inner stream uses the transport of its plain stream directly. These functions record in the plain stream what
/// the inner stream has sent or received.
impl PlainStream {
    /// Records that the inner stream has sent bytes.
    pub(super) fn mark_sent(&self) {
        if let Ok(mut state) = self.core.lock() {
            state.protocol.has_application_data = true;
        }
    }

    /// Records that the peer has ended its data.
    pub(super) fn mark_ended(&self) {
        if let Ok(mut state) = self.core.lock() {
            state.protocol.peer_closed = true;
        }
    }

    pub(super) fn record_receive_fault(&self, fault: &Fault, policy: WaitPolicy<'_>) {
        if let Ok(mut state) = self.core.lock() {
            state.record_receive_fault(fault, policy);
        }
    }

    pub(super) fn record_send_fault(&self, fault: &Fault, policy: WaitPolicy<'_>) {
        if let Ok(mut state) = self.core.lock() {
            state.record_send_fault(fault, policy);
        }
    }
}

impl PlainCall<'_> {
    fn read_transport(&mut self, buffer: &mut [u8], policy: WaitPolicy<'_>) -> Result<Io> {
        let state = self.state()?;
        state.protocol.check()?;
        if state.protocol.peer_closed {
            return Ok(Io::End);
        }
        // Receives first, and waits only if there is no input.
        state.drained = false;
        loop {
            let policy = self.state()?.begin_wait(policy)?;
            let waiting = match self.await_input(policy)? {
                Ok(Awaited::Input(waiting)) => waiting,
                Ok(Awaited::Want(want)) => return Ok(want),
                Err(fault) => return Err(self.fail_receive(fault, policy)),
            };
            let received = self.transport().receive(buffer, policy, waiting);
            match self.end_receive(received, waiting, policy)? {
                ControlFlow::Continue(()) => {}
                ControlFlow::Break(Ok(io)) => {
                    let state = self.state()?;
                    state.count_bytes(io.count(), policy);
                    state.protocol.has_application_data |= io.count() > 0;
                    state.protocol.peer_closed = io == Io::End;
                    return Ok(io);
                }
                ControlFlow::Break(Err(fault)) => return Err(self.fail_receive(fault, policy)),
            }
        }
    }

    fn write(&mut self, mut data: Pieces<'_>, policy: WaitPolicy<'_>) -> Result<Io> {
        let state = self.state()?;
        state.protocol.check_sending()?;
        state.check_repeats(data)?;
        let mut counted = std::mem::take(&mut state.unreported);
        data.advance(counted);
        match self.write_all(data, &mut counted, policy) {
            Ok(Some(want)) if counted == 0 => Ok(want),
            Ok(_) => Ok(Io::Done(counted)),
            Err(error) => {
                // An error reports no count, so a caller that continues the write passes all bytes again.
                self.state()?.unreported = counted;
                Err(error)
            }
        }
    }

    /// Sends `data`. Returns `None` if all data is sent, `Some` if sending the rest would have to wait.
    fn write_all(&mut self, mut data: Pieces<'_>, counted: &mut usize, policy: WaitPolicy<'_>) -> Result<Option<Io>> {
        while !data.is_empty() {
            self.state()?.protocol.has_application_data = true;
            match self.transport().send_pieces(data, policy) {
                Ok(Io::Done(count)) => {
                    *counted += count;
                    data.advance(count);
                }
                Ok(want) => return Ok(Some(want)),
                Err(fault) => return Err(self.fail_send(fault, policy)),
            }
        }
        Ok(None)
    }

    /// Shuts down the sending direction. After a success, later calls succeed without I/O. After a failure, later calls
    /// fail with the recorded failure, or try again if no failure was recorded.
    fn close(&mut self, policy: WaitPolicy<'_>) -> Result<()> {
        let state = self.state()?;
        state.protocol.check()?;
        if state.protocol.closed {
            return Ok(());
        }
        state.protocol.check_transport()?;
        let ended = self.transport().end_output();
        let state = self.state()?;
        let error = match ended {
            Ok(()) => {
                state.protocol.closed = true;
                return Ok(());
            }
            // The connection was reset, and an earlier call returned the reset.
            Err(Fault::System(error)) if error.raw_os_error() == Some(libc::ENOTCONN) => {
                Error::from_io(Status::Protocol, "cannot shut down the connection to the peer", &error)
            }
            Err(fault) => explain("send to", &state.protocol, &fault, policy),
        };
        if !is_disconnect(&error) {
            return Err(error);
        }
        if state.protocol.peer_closed {
            // A peer that has ended its data may close the connection without waiting for the end of this side's data.
            state.protocol.closed = true;
            return Ok(());
        }
        Err(state.protocol.fail_sending(error))
    }

    /// Returns the status that a read would return, and leaves the input to the next read.
    fn peek(&mut self) -> Result<Status> {
        let state = self.state()?;
        if !state.unread.is_empty() {
            return Ok(Status::Ok);
        }
        state.protocol.check()?;
        if state.protocol.peer_closed {
            return Ok(Status::EndOfStream);
        }
        let peeked = self.transport().peek();
        let policy = NO_WAITING.wait_policy().without_throughput();
        let io = peeked.map_err(|fault| self.fail_receive(fault, policy))?;
        self.state()?.protocol.peer_closed = io == Io::End;
        // A read callback that has no input may return `NETLIB_WANT_READ` or `NETLIB_WANT_WRITE`.
        Ok(if io == Io::WantWrite { Status::WantRead } else { io.status() })
    }
}

#[cfg(test)]
mod tests;
