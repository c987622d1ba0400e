//! Carries a stream's records over its transport: a descriptor, another stream, or callbacks. All system calls of a
//! stream are made in this module, while the stream's lock is released.
//!
//! Waiting for input and receiving are separate steps, so that a waiting stream holds no buffer. A read without timeout
//! and limit waits in recv(2) instead, which saves a system call.

use std::io;
use std::os::fd::RawFd;
use std::sync::Arc;

use super::call::{Call, Role};
use super::callbacks::Callbacks;
use super::fault::{Fault, Outcome};
use super::gather::Pieces;
use super::wait_policy::WaitPolicy;
use super::{Io, Stream};
use crate::error::{Error, Result};
use crate::socket::sys;
use crate::socket::wait::wait;
use crate::status::Status;

/// The maximum number of nested streams. Each stream adds to the stack that a call needs, and that freeing the
/// innermost stream needs.
const MAX_DEPTH: usize = 16;

pub struct Transport(Kind);

enum Kind {
    /// A borrowed descriptor, which the application closes.
    Descriptor(RawFd),
    Callbacks(Box<Callbacks>),
    Stream(StreamTransport),
}

/// How [`Transport::receive`] waits for input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReceiveMode {
    /// poll(2) has waited for input, until the limit or the timeout. The receive operation after poll(2) does not
    /// block.
    AfterPoll,
    /// recv(2) itself blocks until there is input.
    Blocking,
}

impl Transport {
    pub fn descriptor(fd: RawFd) -> Result<Transport> {
        if sys::is_listening(fd) {
            let message =
                format!("fd {fd} is a listening socket: pass a connected socket, for example from accept(2)");
            return Err(Error::new(Status::InvalidArgument, message));
        }
        Ok(Transport(Kind::Descriptor(fd)))
    }

    pub fn callbacks(callbacks: Callbacks) -> Transport {
        Transport(Kind::Callbacks(Box::new(callbacks)))
    }

    /// Creates a transport over another stream. Calls on that other stream fail with `NETLIB_BUSY` until the transport
    /// is dropped.
    pub fn stream(outer: Arc<Stream>) -> Result<Transport> {
        Ok(Transport(Kind::Stream(StreamTransport::new(outer)?)))
    }

    /// Returns the number of streams below.
    pub(super) fn depth(&self) -> usize {
        match &self.0 {
            Kind::Stream(outer) => outer.depth(),
            Kind::Descriptor(_) | Kind::Callbacks(_) => 0,
        }
    }

    /// Returns whether a call can wait until the transport is ready. A call on transport callbacks returns
    /// `NETLIB_WANT_*` instead of waiting.
    pub(super) fn can_wait(&self) -> bool {
        match &self.0 {
            Kind::Descriptor(_) => true,
            Kind::Callbacks(_) => false,
            Kind::Stream(outer) => outer.can_wait(),
        }
    }

    /// Returns whether callbacks carry the records of this stream or of a stream below.
    pub(super) fn may_call_back(&self) -> bool {
        match &self.0 {
            Kind::Descriptor(_) => false,
            Kind::Callbacks(_) => true,
            Kind::Stream(outer) => outer.may_call_back(),
        }
    }

    /// Returns whether receiving may block in a system call. Only receiving from a descriptor may block: transport
    /// callbacks must not block, and a stream below decides itself how it waits.
    pub(super) fn may_block(&self) -> bool {
        matches!(self.0, Kind::Descriptor(_))
    }

    /// Waits for input, if the policy allows waiting and the last call of [`Transport::receive`] emptied the socket.
    /// Returns `Some` if a stream below first needs input or room for output that it cannot wait for.
    pub(super) fn await_input(&self, drained: bool, policy: WaitPolicy<'_>) -> Outcome<Option<Io>> {
        match &self.0 {
            // Receiving from an empty socket would cost a system call, and would hold a buffer for as long as the
            // socket stays empty.
            Kind::Descriptor(fd) if policy.blocking && drained => {
                wait_for(*fd, sys::POLL_IN, policy)?;
                Ok(None)
            }
            Kind::Stream(outer) if policy.blocking && drained => {
                outer.await_plaintext(policy).map_err(Fault::OuterStream)
            }
            Kind::Descriptor(_) | Kind::Callbacks(_) => {
                policy.check_limit().map_err(Fault::Passthrough)?;
                Ok(None)
            }
            // The transport of the outermost stream checks the limit.
            Kind::Stream(_) => Ok(None),
        }
    }

    /// Performs the handshake of the stream below, if there is one. Returns `Some` if that handshake would have to wait
    /// and the policy does not allow waiting.
    pub(super) fn ensure_handshake(&self, policy: WaitPolicy<'_>) -> Outcome<Option<Io>> {
        match &self.0 {
            Kind::Stream(outer) => outer.ensure_handshake(policy).map_err(Fault::OuterStream),
            Kind::Descriptor(_) | Kind::Callbacks(_) => Ok(None),
        }
    }

    /// Receives into `room`, which is not empty.
    pub(super) fn receive(&self, room: &mut [u8], policy: WaitPolicy<'_>, waiting: ReceiveMode) -> Outcome<Io> {
        let flags = if waiting == ReceiveMode::Blocking { 0 } else { sys::DONT_WAIT };
        match &self.0 {
            Kind::Descriptor(fd) => match sys::recv(*fd, room, flags) {
                Ok(0) => Ok(Io::End),
                Ok(count) => Ok(Io::Done(count)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(Io::WantRead),
                Err(error) => Err(Fault::System(error)),
            },
            Kind::Callbacks(callbacks) => callbacks.receive(room),
            Kind::Stream(outer) => outer.receive(room, policy.without_waiting()).map_err(Fault::OuterStream),
        }
    }

    /// Sends bytes from the front of `bytes`, which is not empty. Success means that at least one byte is sent.
    pub(super) fn send(&self, bytes: &[u8], policy: WaitPolicy<'_>) -> Outcome<Io> {
        match &self.0 {
            Kind::Descriptor(fd) => send_to(*fd, bytes, policy),
            Kind::Callbacks(callbacks) => {
                policy.check_limit().map_err(Fault::Passthrough)?;
                callbacks.send(bytes)
            }
            Kind::Stream(outer) => outer.send(bytes, policy).map_err(Fault::OuterStream),
        }
    }
}

fn send_to(fd: RawFd, bytes: &[u8], policy: WaitPolicy<'_>) -> Outcome<Io> {
    loop {
        if policy.blocking {
            policy.check_limit().map_err(Fault::Passthrough)?;
        }
        match sys::send(fd, bytes, sys::DONT_WAIT) {
            Ok(0) => {
                let message = "the descriptor accepts no bytes: it is not a stream socket";
                return Err(Fault::Passthrough(Error::new(Status::Io, message)));
            }
            Ok(count) => return Ok(Io::Done(count)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                if !policy.blocking {
                    return Ok(Io::WantWrite);
                }
                wait_for(fd, sys::POLL_OUT, policy)?;
            }
            Err(error) => return Err(Fault::System(error)),
        }
    }
}

fn wait_for(fd: RawFd, events: i16, policy: WaitPolicy<'_>) -> Outcome<()> {
    let (timeout, status) = match events {
        sys::POLL_IN => match (policy.settings.read_timeout, policy.throughput_time_left()) {
            (timeout, Some(left)) if timeout.is_none_or(|timeout| left <= timeout) => (Some(left), Status::TooSlow),
            (timeout, _) => (timeout, Status::ReadTimeout),
        },
        _ => (policy.settings.write_timeout, Status::WriteTimeout),
    };
    let limit = policy.settings.limit.as_deref();
    if wait(fd, events, timeout, limit).map_err(Fault::Passthrough)? { Ok(()) } else { Err(Fault::TimedOut(status)) }
}

/// A stream that carries the records of another stream. Other calls on that stream fail with `NETLIB_BUSY` until this
/// value is dropped.
struct StreamTransport(Arc<Stream>);

impl StreamTransport {
    fn new(stream: Arc<Stream>) -> Result<StreamTransport> {
        if stream.transport.depth() + 1 >= MAX_DEPTH {
            let message = format!("outer is the innermost of {MAX_DEPTH} nested streams, which is the maximum");
            return Err(Error::new(Status::Unsupported, message));
        }
        let mut state = stream.lock()?;
        state.check_no_inner_stream()?;
        if state.is_in_use() {
            return Err(Error::new(Status::Busy, "another call is using the outer stream"));
        }
        if state.unreported > 0 {
            let message = format!("a write of {} bytes to the outer stream is not finished", state.unreported);
            return Err(Error::new(Status::Busy, message));
        }
        state.engine.check_sending()?;
        state.has_inner_stream = true;
        drop(state);
        Ok(StreamTransport(stream))
    }

    fn may_call_back(&self) -> bool {
        self.0.may_call_back()
    }

    fn depth(&self) -> usize {
        self.0.transport.depth() + 1
    }

    fn can_wait(&self) -> bool {
        self.0.transport.can_wait()
    }

    fn ensure_handshake(&self, policy: WaitPolicy<'_>) -> Result<Option<Io>> {
        let mut call = Call::new(&self.0);
        call.state()?.engine.check_sending()?;
        call.ensure_handshake(policy.without_throughput())
    }

    fn await_plaintext(&self, policy: WaitPolicy<'_>) -> Result<Option<Io>> {
        let policy = policy.without_throughput();
        let mut call = Call::new(&self.0);
        let mut received = false;
        loop {
            if let Some(want) = call.ensure_handshake(policy)? {
                return Ok(Some(want));
            }
            if call.state()?.engine.is_read_ready() {
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

    fn receive(&self, room: &mut [u8], policy: WaitPolicy<'_>) -> Result<Io> {
        Call::new(&self.0).read(room, policy.without_throughput())
    }

    fn send(&self, bytes: &[u8], policy: WaitPolicy<'_>) -> Result<Io> {
        let mut call = Call::new(&self.0);
        call.take(Role::Writer)?;
        call.write(Pieces::new(&[bytes]), policy.without_throughput())
    }
}

impl Drop for StreamTransport {
    fn drop(&mut self) {
        if let Ok(mut state) = self.0.lock() {
            state.has_inner_stream = false;
            // The unreported bytes are records of the inner stream. These records are still sent, and no caller
            // passes them again.
            state.unreported = 0;
        }
    }
}
