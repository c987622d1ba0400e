//! Connects an engine to its transport: takes received bytes, and returns bytes to send.

use std::sync::Arc;

use super::Engine;
use crate::error::{Error, Result};
use crate::status::Status;
use crate::tls::session::pool::{BUFFER_SIZE, Pool, RecordBuffer};

impl Engine {
    /// Lends the input buffer, whose [`RecordBuffer::space`] is not empty. The caller must have processed all input,
    /// and must return the buffer with [`Engine::take_back`].
    pub(crate) fn lend_input(&mut self) -> Result<RecordBuffer> {
        let Some(mut input) = self.incoming.take() else {
            self.lent = 0;
            return self.pool.borrow();
        };
        input.compact();
        if input.space().is_empty() {
            // Only an incomplete handshake message can fill the buffer of 68 KiB, because a record has at most 18 KiB.
            let message = format!(
                "{} sent more than 64 KiB of records without completing a handshake message: the message is \
                 too large, or is split into too many records",
                self.peer()
            );
            let failure = Error::new(Status::TlsProtocol, message);
            return Err(self.send_decode_error(failure));
        }
        self.lent = input.bytes().len();
        self.unconsumed_copy = Box::default();
        // The copy is only needed for sending, and nothing is sent until the ClientHello is complete.
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

    /// Keeps `input` as the input buffer if it contains bytes; otherwise returns it to the pool.
    pub(crate) fn keep_input(&mut self, input: RecordBuffer) {
        if input.is_empty() {
            self.pool.give_back(input);
        } else {
            self.incoming = Some(input);
        }
    }

    /// Takes as many bytes from the front of `data` as there is space for. Takes no bytes while the buffer is full of
    /// unprocessed input.
    pub(crate) fn feed(&mut self, data: &[u8]) -> Result<usize> {
        self.check()?;
        if self.end_of_input {
            return Err(Error::new(Status::Closed, "the end of the input has already been reported"));
        }
        if data.is_empty() || self.peer_closed {
            // Bytes after close_notify are ignored.
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

    /// Marks the end of the input, because the transport has reached its end.
    pub(crate) fn end_input(&mut self) {
        self.end_of_input = true;
    }

    /// Marks the end of the input, because receiving from the transport has failed with `cause`.
    pub(crate) fn end_input_because(&mut self, cause: Error) {
        self.end_of_input = true;
        self.end_cause = Some(Arc::new(cause));
    }

    /// Returns whether a read may return something other than `Blocked`.
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

    /// Returns whether the peer can continue without the messages that the session has queued: after a TLS 1.3
    /// handshake, a server queues session tickets and answers to key updates. The queue may also contain application
    /// data. With TLS 1.2, the queue may contain the server's last flight.
    pub(crate) fn may_delay_messages(&self) -> bool {
        let has_ended = self.close_queued || self.failure.is_some();
        self.is_server && self.connection.is_tls13() && !self.is_handshaking() && !has_ended
    }

    pub(crate) fn output_len(&self) -> usize {
        self.outgoing.len()
    }

    /// Returns the next bytes to send. The caller must return the buffer with [`Engine::return_output`] before it takes
    /// the next buffer.
    pub(crate) fn next_output(&mut self) -> Option<RecordBuffer> {
        self.outgoing.pop()
    }

    pub(crate) fn return_output(&mut self, rest: RecordBuffer) {
        if self.send_failure.is_none() {
            self.outgoing.push_back(rest);
        }
    }

    /// Ends sending. Received data can still be read.
    pub(crate) fn fail_sending(&mut self, failure: Error) -> Error {
        self.outgoing.clear();
        Error::clone(self.send_failure.get_or_insert(failure))
    }
}
