//! Lets a stream (the outer stream) carry the bytes of another stream (the inner stream). The application's calls on
//! the outer stream fail with `NETLIB_BUSY` until the inner stream is dropped.

use std::os::fd::RawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::fault::{Fault, Outcome};
use super::plain::PlainStream;
use super::tls::TlsStream;
use super::transport::{OuterTransport, ReceiveMode, Transport};
use super::wait_policy::{Settings, WaitPolicy};
use crate::error::{Error, Result};
use crate::status::Status;
use crate::tls::Io;

/// The maximum number of nested TLS streams. Each nested stream adds to the stack space that a call needs, and to the
/// stack space that freeing the innermost stream needs.
const MAX_DEPTH: usize = 16;

/// Makes a TLS stream the transport of another stream.
pub(super) fn over_tls(stream: Arc<TlsStream>) -> Result<Transport> {
    if stream.core.transport.depth() + 1 >= MAX_DEPTH {
        let message = format!("outer is the innermost of {MAX_DEPTH} nested streams, which is the maximum");
        return Err(Error::new(Status::Unsupported, message));
    }
    stream.core.lend_to_inner_stream()?;
    Ok(Transport::stream(Box::new(OuterTls(stream))))
}

/// Makes a plain stream the transport of another stream.
pub(super) fn over_plain(stream: Arc<PlainStream>) -> Result<Transport> {
    stream.core.lend_to_inner_stream()?;
    let has_ended = stream.has_peer_closed();
    Ok(Transport::stream(Box::new(OuterPlain { stream, has_ended, has_sent: AtomicBool::new(false) })))
}

struct OuterTls(Arc<TlsStream>);

impl OuterTransport for OuterTls {
    fn fd(&self) -> Option<RawFd> {
        self.0.core.transport.fd()
    }

    fn depth(&self) -> usize {
        self.0.core.transport.depth() + 1
    }

    fn can_wait(&self) -> bool {
        self.0.core.transport.can_wait()
    }

    fn may_block(&self) -> bool {
        false
    }

    fn await_input(&self, drained: bool, policy: WaitPolicy<'_>) -> Outcome<Option<Io>> {
        if policy.blocking && drained {
            return self.0.await_plaintext(policy).map_err(Fault::OuterStream);
        }
        // The transport of the outermost stream checks the limit.
        Ok(None)
    }

    fn ensure_handshake(&self, policy: WaitPolicy<'_>) -> Outcome<Option<Io>> {
        self.0.ensure_handshake(policy).map_err(Fault::OuterStream)
    }

    fn settings(&self) -> Option<Settings> {
        self.0.core.settings_for_inner_stream()
    }

    fn receive(&self, room: &mut [u8], policy: WaitPolicy<'_>, _waiting: ReceiveMode) -> Outcome<Io> {
        self.0.receive(room, policy.without_waiting()).map_err(Fault::OuterStream)
    }

    fn send(&self, bytes: &[u8], policy: WaitPolicy<'_>) -> Outcome<Io> {
        self.0.send(bytes, policy).map_err(Fault::OuterStream)
    }
}

impl Drop for OuterTls {
    fn drop(&mut self) {
        self.0.core.return_from_inner_stream();
    }
}

/// A plain stream that carries the bytes of another stream. The inner stream uses the transport of the plain stream
/// directly, because a plain stream does not change bytes, and
/// [`Core::lend_to_inner_stream`](super::state::Core::lend_to_inner_stream) refuses unread bytes.
struct OuterPlain {
    stream: Arc<PlainStream>,
    /// Whether the peer had ended its data before the inner stream was created.
    has_ended: bool,
    /// Whether the inner stream has sent bytes.
    has_sent: AtomicBool,
}

impl OuterPlain {
    fn transport(&self) -> &Transport {
        &self.stream.core.transport
    }
}

impl OuterTransport for OuterPlain {
    fn fd(&self) -> Option<RawFd> {
        self.transport().fd()
    }

    fn depth(&self) -> usize {
        self.transport().depth()
    }

    fn can_wait(&self) -> bool {
        self.transport().can_wait()
    }

    fn may_block(&self) -> bool {
        self.transport().may_block()
    }

    fn await_input(&self, drained: bool, policy: WaitPolicy<'_>) -> Outcome<Option<Io>> {
        self.transport().await_input(drained, policy)
    }

    fn ensure_handshake(&self, _policy: WaitPolicy<'_>) -> Outcome<Option<Io>> {
        Ok(None)
    }

    fn settings(&self) -> Option<Settings> {
        self.stream.core.settings_for_inner_stream()
    }

    fn receive(&self, room: &mut [u8], policy: WaitPolicy<'_>, waiting: ReceiveMode) -> Outcome<Io> {
        if self.has_ended {
            return Ok(Io::End);
        }
        let received = self.transport().receive(room, policy, waiting);
        match &received {
            Ok(Io::End) => self.stream.mark_ended(),
            Ok(_) => {}
            Err(fault) => self.stream.record_receive_fault(fault, policy),
        }
        received
    }

    fn send(&self, bytes: &[u8], policy: WaitPolicy<'_>) -> Outcome<Io> {
        self.has_sent.store(true, Ordering::Relaxed);
        let sent = self.transport().send(bytes, policy);
        if let Err(fault) = &sent {
            self.stream.record_send_fault(fault, policy);
        }
        sent
    }
}

impl Drop for OuterPlain {
    fn drop(&mut self) {
        if self.has_sent.load(Ordering::Relaxed) {
            self.stream.mark_sent();
        }
        self.stream.core.return_from_inner_stream();
    }
}
