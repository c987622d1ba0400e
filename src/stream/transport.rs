//! Carries a stream's bytes: over a descriptor, over callbacks, or through another stream. All I/O system calls of a
//! stream are made in this module, while the stream's lock is released.
//!
//! Waiting for input and receiving are separate steps, so that a waiting TLS stream holds no buffer. Only a read without
//! limit, timeout and minimum throughput has no separate wait: it waits in recv(2), which saves a call of poll(2).

use std::io::{self, IoSlice};
use std::net::Shutdown;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicU16, Ordering};

use super::callbacks::Callbacks;
use super::fault::{Fault, Outcome};
use super::pieces::Pieces;
use super::wait_policy::{Settings, WaitPolicy};
use crate::error::{Error, Result};
use crate::socket::sys;
use crate::socket::wait::wait;
use crate::status::Status;
use crate::tls::Io;

pub struct Transport {
    kind: Kind,
    /// Closes the descriptor when the transport is dropped. `None` if the application closes the descriptor.
    _owner: Option<OwnedFd>,
}

enum Kind {
    Descriptor(RawFd),
    Callbacks(Box<CallbackTransport>),
    Stream(Box<dyn OuterTransport>),
}

struct CallbackTransport {
    callbacks: Callbacks,
    /// A byte that [`Transport::peek`] has read, or `NOTHING_PEEKED`. Only the thread with the reader role uses the
    /// value.
    peeked: AtomicU16,
}

const NOTHING_PEEKED: u16 = u16::MAX;

/// The maximum number of pieces that one system call sends.
const MAX_SLICES: usize = 32;

/// A stream that is the transport of another stream. The functions have the same contracts as those of [`Transport`].
pub(super) trait OuterTransport: Send + Sync {
    fn fd(&self) -> Option<RawFd>;
    fn depth(&self) -> usize;
    fn can_wait(&self) -> bool;
    fn may_block(&self) -> bool;
    fn await_input(&self, drained: bool, policy: WaitPolicy<'_>) -> Outcome<Option<Io>>;
    fn ensure_handshake(&self, policy: WaitPolicy<'_>) -> Outcome<Option<Io>>;
    fn settings(&self) -> Option<Settings>;
    fn receive(&self, room: &mut [u8], policy: WaitPolicy<'_>, waiting: ReceiveMode) -> Outcome<Io>;
    fn send(&self, bytes: &[u8], policy: WaitPolicy<'_>) -> Outcome<Io>;
}

/// How [`Transport::receive`] waits for input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReceiveMode {
    /// poll(2) waits for input until the limit or the timeout ends, and then the receive operation does not block.
    AfterPoll,
    /// recv(2) itself blocks until there is input.
    Blocking,
}

impl From<Kind> for Transport {
    fn from(kind: Kind) -> Transport {
        Transport { kind, _owner: None }
    }
}

impl Transport {
    /// Takes the ownership of a connected socket.
    pub(super) fn owned(socket: OwnedFd) -> Transport {
        Transport { kind: Kind::Descriptor(socket.as_raw_fd()), _owner: Some(socket) }
    }

    /// Borrows a descriptor, which the application closes.
    pub fn descriptor(fd: RawFd) -> Result<Transport> {
        if sys::is_listening(fd) {
            let message =
                format!("fd {fd} is a listening socket: pass a connected socket, for example from accept(2)");
            return Err(Error::new(Status::InvalidArgument, message));
        }
        Ok(Kind::Descriptor(fd).into())
    }

    /// Like [`Transport::descriptor`], but also refuses a descriptor that is not a stream socket, such as a pipe. The
    /// first call on the stream reports a descriptor that is not open.
    pub(super) fn stream_socket(fd: RawFd) -> Result<Transport> {
        let is_refused = match sys::socket_type(fd) {
            Ok(kind) => kind != sys::STREAM_SOCKET,
            Err(error) => error.raw_os_error() == Some(libc::ENOTSOCK),
        };
        if is_refused {
            let message = format!("fd {fd} is not a stream socket: for a pipe or another descriptor, use callbacks");
            return Err(Error::new(Status::InvalidArgument, message));
        }
        Transport::descriptor(fd)
    }

    pub fn callbacks(callbacks: Callbacks) -> Transport {
        let peeked = AtomicU16::new(NOTHING_PEEKED);
        Kind::Callbacks(Box::new(CallbackTransport { callbacks, peeked })).into()
    }

    pub(super) fn stream(outer: Box<dyn OuterTransport>) -> Transport {
        Kind::Stream(outer).into()
    }

    /// Returns the descriptor that carries the bytes; `None` if callbacks carry them.
    pub(super) fn fd(&self) -> Option<RawFd> {
        match &self.kind {
            Kind::Descriptor(fd) => Some(*fd),
            Kind::Callbacks(_) => None,
            Kind::Stream(outer) => outer.fd(),
        }
    }

    /// Returns the number of TLS streams below.
    pub(super) fn depth(&self) -> usize {
        match &self.kind {
            Kind::Stream(outer) => outer.depth(),
            Kind::Descriptor(_) | Kind::Callbacks(_) => 0,
        }
    }

    /// Returns whether a call can wait until the transport is ready. A call on a stream with transport callbacks
    /// returns `NETLIB_WANT_*` instead of waiting.
    pub(super) fn can_wait(&self) -> bool {
        match &self.kind {
            Kind::Descriptor(_) => true,
            Kind::Callbacks(_) => false,
            Kind::Stream(outer) => outer.can_wait(),
        }
    }

    /// Returns whether receiving may block in a system call. Only receiving from a descriptor may block: transport
    /// callbacks must not block, and a TLS stream below decides itself how it waits.
    pub(super) fn may_block(&self) -> bool {
        match &self.kind {
            Kind::Descriptor(_) => true,
            Kind::Callbacks(_) => false,
            Kind::Stream(outer) => outer.may_block(),
        }
    }

    /// Returns the settings with which a stream on this transport begins, if the transport is another stream.
    pub(super) fn outer_settings(&self) -> Option<Settings> {
        match &self.kind {
            Kind::Stream(outer) => outer.settings(),
            Kind::Descriptor(_) | Kind::Callbacks(_) => None,
        }
    }

    /// Waits for input, if the policy allows waiting and the last call of [`Transport::receive`] emptied the socket.
    /// Returns `Some` if a stream below must first receive input or send output, and cannot wait until that is
    /// possible.
    pub(super) fn await_input(&self, drained: bool, policy: WaitPolicy<'_>) -> Outcome<Option<Io>> {
        match &self.kind {
            // Receiving from an empty socket would cost a system call, and would hold a buffer for as long as the
            // socket stays empty.
            Kind::Descriptor(fd) if policy.blocking && drained => {
                wait_for(*fd, sys::POLL_IN, policy)?;
                Ok(None)
            }
            Kind::Descriptor(_) | Kind::Callbacks(_) => {
                policy.check_limit(Status::ReadTimeout).map_err(Fault::Passthrough)?;
                Ok(None)
            }
            Kind::Stream(outer) => outer.await_input(drained, policy),
        }
    }

    /// Performs the handshake of the stream below, if there is one. Returns `Some` if that handshake would have to wait
    /// and the policy does not allow waiting.
    pub(super) fn ensure_handshake(&self, policy: WaitPolicy<'_>) -> Outcome<Option<Io>> {
        match &self.kind {
            Kind::Stream(outer) => outer.ensure_handshake(policy),
            Kind::Descriptor(_) | Kind::Callbacks(_) => Ok(None),
        }
    }

    /// Receives into `room`, which is not empty.
    pub(super) fn receive(&self, room: &mut [u8], policy: WaitPolicy<'_>, waiting: ReceiveMode) -> Outcome<Io> {
        match &self.kind {
            Kind::Descriptor(fd) => {
                receive_from(*fd, room, if waiting == ReceiveMode::Blocking { 0 } else { sys::DONT_WAIT })
            }
            Kind::Callbacks(transport) => match (transport.peeked.swap(NOTHING_PEEKED, Ordering::Relaxed), room) {
                (NOTHING_PEEKED, room) => transport.callbacks.receive(room),
                (byte, [first, ..]) => {
                    *first = byte as u8;
                    Ok(Io::Done(1))
                }
                (_, []) => Ok(Io::Done(0)),
            },
            Kind::Stream(outer) => outer.receive(room, policy, waiting),
        }
    }

    /// Does what [`Transport::receive`] does with room for one byte, without waiting, and leaves the byte to the next
    /// receive operation.
    pub(super) fn peek(&self) -> Outcome<Io> {
        match &self.kind {
            Kind::Descriptor(fd) => receive_from(*fd, &mut [0], sys::DONT_WAIT | sys::PEEK),
            Kind::Callbacks(_) if self.peeked() > 0 => Ok(Io::Done(1)),
            Kind::Callbacks(transport) => {
                let mut byte = [0];
                let received = transport.callbacks.receive(&mut byte)?;
                if received == Io::Done(1) {
                    transport.peeked.store(u16::from(byte[0]), Ordering::Relaxed);
                }
                Ok(received)
            }
            // Only a plain stream peeks, and no plain stream has a stream below.
            Kind::Stream(_) => Ok(Io::WantRead),
        }
    }

    /// Returns the number of bytes that [`Transport::peek`] has read and that no receive operation has returned.
    pub(super) fn peeked(&self) -> usize {
        match &self.kind {
            Kind::Callbacks(transport) => usize::from(transport.peeked.load(Ordering::Relaxed) != NOTHING_PEEKED),
            Kind::Descriptor(_) | Kind::Stream(_) => 0,
        }
    }

    /// Sends bytes from the front of `bytes`, which is not empty. Success means that at least one byte is sent.
    pub(super) fn send(&self, bytes: &[u8], policy: WaitPolicy<'_>) -> Outcome<Io> {
        match &self.kind {
            Kind::Descriptor(fd) => send_to(*fd, policy, || sys::send(*fd, bytes, sys::DONT_WAIT)),
            Kind::Callbacks(transport) => {
                policy.check_limit(Status::WriteTimeout).map_err(Fault::Passthrough)?;
                transport.callbacks.send(bytes)
            }
            Kind::Stream(outer) => outer.send(bytes, policy),
        }
    }

    /// Sends bytes from the front of `pieces`, like [`Transport::send`]. A descriptor takes several pieces with one
    /// system call.
    pub(super) fn send_pieces(&self, pieces: Pieces<'_>, policy: WaitPolicy<'_>) -> Outcome<Io> {
        match &self.kind {
            Kind::Descriptor(fd) if pieces.count() > 1 => {
                let mut slices = [IoSlice::new(&[]); MAX_SLICES];
                let mut count = 0;
                for (slice, bytes) in slices.iter_mut().zip(pieces.iter()) {
                    *slice = IoSlice::new(bytes);
                    count += 1;
                }
                let slices = slices.get(..count).unwrap_or(&[]);
                send_to(*fd, policy, || sys::send_vectored(*fd, slices, sys::DONT_WAIT))
            }
            _ => self.send(pieces.first(), policy),
        }
    }

    /// Tells the peer that no more bytes follow. Transport callbacks can carry only bytes, so with them the peer is not
    /// told.
    pub(super) fn end_output(&self) -> Outcome<()> {
        match &self.kind {
            Kind::Descriptor(fd) => sys::shutdown(*fd, Shutdown::Write).map_err(Fault::System),
            Kind::Callbacks(_) | Kind::Stream(_) => Ok(()),
        }
    }
}

fn receive_from(fd: RawFd, room: &mut [u8], flags: i32) -> Outcome<Io> {
    match sys::recv(fd, room, flags) {
        Ok(0) => Ok(Io::End),
        Ok(count) => Ok(Io::Done(count)),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(Io::WantRead),
        Err(error) => Err(Fault::System(error)),
    }
}

/// Calls `send`, which sends to the descriptor without waiting, until the descriptor has accepted bytes.
#[inline(always)]
fn send_to(fd: RawFd, policy: WaitPolicy<'_>, send: impl Fn() -> io::Result<usize>) -> Outcome<Io> {
    loop {
        if policy.blocking {
            policy.check_limit(Status::WriteTimeout).map_err(Fault::Passthrough)?;
        }
        match send() {
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
    let total_status = if events == sys::POLL_IN { Status::ReadTimeout } else { Status::WriteTimeout };
    // Without this check, the wait for a ready descriptor would succeed even after the total timeout has passed.
    policy.check_total(total_status).map_err(Fault::Passthrough)?;
    let (timeout, status) = match events {
        sys::POLL_IN => match (policy.settings.read_timeout, policy.throughput_time_left()) {
            (timeout, Some(left)) if timeout.is_none_or(|timeout| left <= timeout) => (Some(left), Status::TooSlow),
            (timeout, _) => (timeout, Status::ReadTimeout),
        },
        _ => (policy.settings.write_timeout, Status::WriteTimeout),
    };
    let (timeout, status) = match policy.total_time_left() {
        Some(left) if timeout.is_none_or(|timeout| left < timeout) => (Some(left), total_status),
        _ => (timeout, status),
    };
    let limit = policy.settings.limit.as_deref();
    if wait(fd, events, timeout, limit).map_err(Fault::Passthrough)? { Ok(()) } else { Err(Fault::TimedOut(status)) }
}
