//! The network's side of an engine: bytes that came, and bytes that must go.

use std::sync::Arc;

use super::Engine;
use crate::error::{Error, Result};
use crate::status::Status;
use crate::tls::session::pool::{BUFFER_SIZE, Pool, RecordBuffer};

impl Engine {
    /// Lends the buffer for input: bytes go into its [`RecordBuffer::space`], which is never empty. To be called when
    /// everything that came has been worked on, and answered with [`Engine::take_back`].
    pub(crate) fn lend_input(&mut self) -> Result<RecordBuffer> {
        let Some(mut input) = self.incoming.take() else {
            self.lent = 0;
            return self.pool.borrow();
        };
        input.compact();
        if input.space().is_empty() {
            // Only a handshake message that is not all there keeps so many: a record alone is at most 18 KiB.
            let message = format!(
                "{} sent more than 64 KiB of records without completing a handshake message: it is too large, or in \
                 too many pieces",
                self.peer()
            );
            let failure = Error::new(Status::TlsProtocol, message);
            return Err(self.send_decode_error(failure));
        }
        self.lent = input.bytes().len();
        self.unconsumed_copy = Box::default();
        // Before the greeting is over nothing is sent, so nobody needs to see them meanwhile.
        if self.client_hello.is_none() {
            self.unconsumed_copy = input.bytes().get(..self.unconsumed).unwrap_or(&[]).into();
        }
        Ok(input)
    }

    pub(crate) fn take_back(&mut self, input: RecordBuffer) {
        self.unconsumed_copy = Box::default();
        if input.bytes().len() > self.lent {
            self.needs_input = false;
        }
        self.received_any |= !input.is_empty();
        self.keep_input(input);
    }

    /// As long as there is something in it.
    pub(crate) fn keep_input(&mut self, input: RecordBuffer) {
        if input.is_empty() {
            self.pool.give_back(input);
        } else {
            self.incoming = Some(input);
        }
    }

    /// Takes bytes of the network, as many as there is room for: none while the buffer is full of what has not been
    /// worked on.
    pub(crate) fn feed(&mut self, data: &[u8]) -> Result<usize> {
        self.check()?;
        if self.end_of_input {
            return Err(Error::new(Status::Closed, "the end of the input was told before"));
        }
        if data.is_empty() || self.peer_closed {
            // What comes after the closing message does not count.
            return Ok(data.len());
        }
        let waiting = self.incoming.as_ref().map_or(0, |incoming| incoming.bytes().len());
        if waiting >= BUFFER_SIZE && self.unconsumed < waiting {
            return Ok(0);
        }
        let mut input = self.lend_input()?;
        let count = input.push(data);
        self.take_back(input);
        Ok(count)
    }

    /// The network will give no more.
    pub(crate) fn end_input(&mut self) {
        self.end_of_input = true;
    }

    /// The same, but not as the network's plain end.
    pub(crate) fn end_input_because(&mut self, cause: Error) {
        self.end_of_input = true;
        self.end_cause = Some(Arc::new(cause));
    }

    /// Whether a read has something to say or at least something to work on, rather than being certainly blocked.
    pub(crate) fn is_read_ready(&self) -> bool {
        !self.needs_input
            || self.pending_plaintext.is_some()
            || self.failure.is_some()
            || self.peer_closed
            || self.end_of_input
    }

    pub(crate) fn pool(&self) -> &Pool {
        &self.pool
    }

    pub(crate) fn has_output(&self) -> bool {
        !self.outgoing.is_empty()
    }

    pub(crate) fn output_len(&self) -> usize {
        self.outgoing.len()
    }

    /// The next bytes for the network. The buffer goes back with [`Engine::return_output`] before anything else is taken.
    pub(crate) fn next_output(&mut self) -> Option<RecordBuffer> {
        self.outgoing.pop()
    }

    pub(crate) fn return_output(&mut self, rest: RecordBuffer) {
        if self.send_failure.is_none() {
            self.outgoing.push_back(rest);
        }
    }

    /// The network takes nothing any more; what it has given may still be read.
    pub(crate) fn fail_sending(&mut self, failure: Error) -> Error {
        self.outgoing.clear();
        Error::clone(self.send_failure.get_or_insert(failure))
    }
}
