//! Decrypts received records into the reader's buffer. Plaintext that does not fit is kept for the next read.

use super::Engine;
use crate::error::Result;
use crate::tls::session::pool::copy_into;
use crate::tls::session::record::{self, Step};

/// The minimum number of bytes in a record besides header and plaintext, which is the size of the authentication tag.
const LEAST_OVERHEAD: usize = 16;

/// The result of a read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Read {
    Data(usize),
    /// There is no plaintext until more input is received.
    Blocked,
    /// The peer sent close_notify.
    End,
}

impl Engine {
    /// Decrypts into `room`. If an error follows plaintext, this read returns the plaintext, and the next read returns
    /// the error.
    pub(crate) fn read(&mut self, room: &mut [u8]) -> Result<Read> {
        let mut filled = self.take_pending_plaintext(room);
        while filled < room.len() && self.failure.is_none() && !self.peer_closed {
            let Some(rest) = room.get_mut(filled..) else { break };
            if filled > 0 && !self.next_fits(rest.len()) {
                break;
            }
            if self.needs_input && !self.is_handshaking() {
                // rustls would only report again that it needs input.
                break;
            }
            match self.step(rest) {
                Ok((delivered, step)) => {
                    filled += delivered;
                    if matches!(step, Step::Blocked | Step::PeerClosed) {
                        break;
                    }
                }
                // The engine keeps the failure. If this read has no plaintext, it returns the failure; otherwise the
                // next read returns the failure.
                Err(_) => break,
            }
        }
        if filled > 0 { Ok(Read::Data(filled)) } else { self.read_without_data() }
    }

    /// Returns the result of a read if there is no plaintext.
    fn read_without_data(&self) -> Result<Read> {
        self.check()?;
        if self.peer_closed {
            return Ok(Read::End);
        }
        if self.end_of_input {
            return Err(self.truncated());
        }
        Ok(Read::Blocked)
    }

    /// Returns the result that the next read will have, except for the number of bytes. Removes no plaintext. Decrypts
    /// records up to the first plaintext, except during the handshake.
    pub(crate) fn peek(&mut self) -> Result<Read> {
        while self.pending_plaintext.is_none()
            && self.failure.is_none()
            && !self.peer_closed
            && !self.is_handshaking()
        {
            match self.step(&mut []) {
                Ok((_, Step::Blocked | Step::PeerClosed)) | Err(_) => break,
                Ok(_) => {}
            }
        }
        match &self.pending_plaintext {
            Some(pending_plaintext) => Ok(Read::Data(pending_plaintext.bytes().len())),
            None => self.read_without_data(),
        }
    }

    /// Decrypts received records up to the first plaintext, and returns the number of plaintext bytes that are not read
    /// yet. A read may return more bytes without new input.
    pub(crate) fn pending(&mut self) -> usize {
        while self.pending_plaintext.is_none() && self.incoming.is_some() && !self.is_handshaking() {
            let whole = self.incoming.as_ref().and_then(|incoming| record::whole_record(incoming.bytes()));
            if self.failure.is_some() || self.peer_closed || self.unconsumed > 0 || whole.is_none() {
                break;
            }
            if self.step(&mut []).is_err() {
                break;
            }
        }
        self.pending_plaintext.as_ref().map_or(0, |pending_plaintext| pending_plaintext.bytes().len())
    }

    fn take_pending_plaintext(&mut self, room: &mut [u8]) -> usize {
        let Some(mut pending_plaintext) = self.pending_plaintext.take() else { return 0 };
        let now = copy_into(room, pending_plaintext.bytes());
        pending_plaintext.consume(now);
        if pending_plaintext.is_empty() {
            self.pool.give_back(pending_plaintext);
        } else {
            self.pending_plaintext = Some(pending_plaintext);
        }
        now
    }

    /// Returns whether the next record is complete and its plaintext fits into `room` bytes.
    fn next_fits(&self, room: usize) -> bool {
        let next = self.incoming.as_ref().and_then(|incoming| record::whole_record(incoming.bytes()));
        next.is_some_and(|size| size.saturating_sub(record::HEADER_SIZE + LEAST_OVERHEAD) <= room)
    }
}
