//! TLS over TLS: a stream as the transport of another stream. The inner stream's settings apply to all streams below it.
//! A thread never holds the locks of two streams at once.

use std::sync::Arc;

use super::call::{Call, Role};
use super::gather::Pieces;
use super::transport::{OuterStream, Transport};
use super::wait_policy::WaitPolicy;
use super::{Io, Stream};
use crate::error::{Error, Result};
use crate::status::Status;

/// The maximum number of nested streams. Each stream needs stack space in a call and when it is released.
const MAX_DEPTH: usize = 16;

/// A stream that carries the records of another stream. It serves no other calls until this is dropped.
struct StreamTransport(Arc<Stream>);

impl Transport {
    /// Uses another stream as the transport. That stream serves no other calls until the new stream is dropped.
    pub fn stream(outer: Arc<Stream>) -> Result<Transport> {
        Ok(Transport::outer_stream(Box::new(StreamTransport::new(outer)?)))
    }
}

impl StreamTransport {
    fn new(stream: Arc<Stream>) -> Result<StreamTransport> {
        if stream.transport.depth() + 1 >= MAX_DEPTH {
            let message =
                format!("outer is the innermost of {MAX_DEPTH} streams: no more can run inside one another");
            return Err(Error::new(Status::Unsupported, message));
        }
        let mut core = stream.lock()?;
        core.check_no_inner_stream()?;
        if core.is_in_use() {
            return Err(Error::new(Status::Busy, "another call is using the outer stream"));
        }
        if core.unreported > 0 {
            let message = format!("a write of {} bytes to the outer stream is not finished", core.unreported);
            return Err(Error::new(Status::Busy, message));
        }
        core.engine.check_sending()?;
        core.has_inner_stream = true;
        drop(core);
        Ok(StreamTransport(stream))
    }
}

impl OuterStream for StreamTransport {
    fn may_call_back(&self) -> bool {
        self.0.may_call_back()
    }

    fn depth(&self) -> usize {
        self.0.transport.depth() + 1
    }

    fn can_wait(&self) -> bool {
        self.0.transport.can_wait()
    }

    fn await_plaintext(&self, policy: WaitPolicy<'_>) -> Result<Option<Io>> {
        let policy = policy.without_throughput();
        let mut call = Call::new(&self.0);
        let mut received = false;
        loop {
            if let Some(want) = call.ensure_handshake(policy)? {
                return Ok(Some(want));
            }
            if call.core()?.engine.is_read_ready() {
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
        if let Ok(mut core) = self.0.lock() {
            core.has_inner_stream = false;
            // The bytes are the inner stream's records: they are sent, and no caller passes them again.
            core.unreported = 0;
        }
    }
}
