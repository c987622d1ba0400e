//! The transport of a stream's records: a descriptor, another stream, or callbacks. All system calls of a stream are made
//! here, without its lock.
//!
//! Waiting for input is separate from receiving, so that a waiting stream holds no buffer. A wait without timeout and limit
//! happens in recv(2) instead, which saves a system call.

use std::io;
use std::os::fd::RawFd;

use super::Io;
use super::callbacks::Callbacks;
use super::fault::{Fault, Outcome};
use super::wait_policy::WaitPolicy;
use crate::error::{Error, Result};
use crate::socket::sys;
use crate::socket::wait::wait;
use crate::status::Status;

pub struct Transport(Kind);

enum Kind {
    /// Borrowed; the application closes it.
    Descriptor(RawFd),
    Callbacks(Box<Callbacks>),
    Stream(Box<dyn OuterStream>),
}

/// A stream that carries the records of the stream inside it. This is a trait, which `tls_over_tls` implements, because
/// streams import this module, so this module cannot import streams.
pub(super) trait OuterStream: Send + Sync {
    /// Returns the number of streams: this one and all streams below it.
    fn depth(&self) -> usize;
    fn can_wait(&self) -> bool;
    fn may_call_back(&self) -> bool;
    /// Waits until a read may return plaintext or the end of the stream. Returns `Some` if the transport needs something
    /// else first and the call cannot wait for it.
    fn await_plaintext(&self, policy: WaitPolicy<'_>) -> Result<Option<Io>>;
    fn receive(&self, room: &mut [u8], policy: WaitPolicy<'_>) -> Result<Io>;
    fn send(&self, bytes: &[u8], policy: WaitPolicy<'_>) -> Result<Io>;
}

/// How a receive waits for input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReceiveMode {
    /// poll(2) waits, with the limit and the timeout. The receive after it does not block.
    AfterPoll,
    /// The receive itself blocks.
    Blocking,
}

impl Transport {
    pub fn descriptor(fd: RawFd) -> Result<Transport> {
        if sys::is_listening(fd) {
            let message = format!("fd {fd} is a listening socket: pass a connected one, such as accept(2) gives");
            return Err(Error::new(Status::InvalidArgument, message));
        }
        Ok(Transport(Kind::Descriptor(fd)))
    }

    pub fn callbacks(callbacks: Callbacks) -> Transport {
        Transport(Kind::Callbacks(Box::new(callbacks)))
    }

    pub(super) fn outer_stream(outer: Box<dyn OuterStream>) -> Transport {
        Transport(Kind::Stream(outer))
    }

    /// Returns the number of streams below.
    pub(super) fn depth(&self) -> usize {
        match &self.0 {
            Kind::Stream(outer) => outer.depth(),
            Kind::Descriptor(_) | Kind::Callbacks(_) => 0,
        }
    }

    /// Returns whether a call can wait until the transport is ready. Transport callbacks return WANT_* instead.
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

    /// Returns whether a receive may block in the system call. Callbacks and other streams wait in their own way.
    pub(super) fn may_block(&self) -> bool {
        matches!(self.0, Kind::Descriptor(_))
    }

    /// Waits for input before a receive, if the policy allows it and the last receive emptied the socket. Returns `Some`
    /// if a stream below needs something else first and cannot wait for it.
    pub(super) fn await_input(&self, drained: bool, policy: WaitPolicy<'_>) -> Outcome<Option<Io>> {
        match &self.0 {
            // A receive on an empty socket costs a system call, and needs a buffer for as long as the socket stays
            // empty.
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
            // The transport at the bottom checks the limit.
            Kind::Stream(_) => Ok(None),
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

    /// Sends bytes from the front of `bytes`, which is not empty; at least one byte on success.
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
                let message = "the descriptor takes no bytes: it is no stream socket";
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
