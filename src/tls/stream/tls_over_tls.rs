//! TLS in TLS: the stream that another one runs in. The inner one's settings rule its calls all the way down, and
//! never two streams of a nest are locked at once.

use std::sync::Arc;

use super::call::{Call, Role};
use super::gather::Pieces;
use super::{Io, Stream, WaitPolicy};
use crate::error::{Error, Result};
use crate::status::Status;

/// How many streams may run inside one another. Each costs its calls, and its release, some of the stack.
const MAX_DEPTH: usize = 16;

/// A stream that does nothing but carry the records of another one, until this is dropped.
pub(super) struct StreamTransport(Arc<Stream>);

impl StreamTransport {
    pub(super) fn new(stream: Arc<Stream>) -> Result<StreamTransport> {
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

    pub(super) fn may_call_back(&self) -> bool {
        self.0.may_call_back()
    }

    pub(super) fn depth(&self) -> usize {
        self.0.transport.depth() + 1
    }

    pub(super) fn can_wait(&self) -> bool {
        self.0.transport.can_wait()
    }

    /// Waits until there is something to read: plaintext, the end, or at least bytes that may become that.
    pub(super) fn await_plaintext(&self, policy: WaitPolicy<'_>) -> Result<Option<Io>> {
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
            // Each turn takes in at least a byte, or the end.
            if let Some(want) = call.receive(policy)? {
                return Ok(Some(want));
            }
            received = true;
        }
    }

    pub(super) fn receive(&self, room: &mut [u8], policy: WaitPolicy<'_>) -> Result<Io> {
        Call::new(&self.0).read(room, policy.without_throughput())
    }

    pub(super) fn send(&self, bytes: &[u8], policy: WaitPolicy<'_>) -> Result<Io> {
        let mut call = Call::new(&self.0);
        call.take(Role::Writer)?;
        call.write(Pieces::new(&[bytes]), policy.without_throughput())
    }
}

impl Drop for StreamTransport {
    fn drop(&mut self) {
        if let Ok(mut core) = self.0.lock() {
            core.has_inner_stream = false;
            // The inner stream's bytes: what of them was encrypted goes out, and nobody passes them again.
            core.unreported = 0;
        }
    }
}
