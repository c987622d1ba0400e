//! The reader's side: plaintext out of the records that came, as much as there is room for, and looks at what there would
//! be. What is opened and not asked for waits in the spill buffer.

use super::Engine;
use crate::error::Result;
use crate::tls::session::pool::copy_into;
use crate::tls::session::record::{self, Step};

/// What a record may be longer than its plaintext, at least: the tag.
const LEAST_OVERHEAD: usize = 16;

/// What a read came to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Read {
    Data(usize),
    /// Nothing, until more bytes come in.
    Blocked,
    /// The peer has closed the session properly.
    End,
}

impl Engine {
    /// Decrypts into `room`. A failure is reported when the plaintext before it has been read.
    pub(crate) fn read(&mut self, room: &mut [u8]) -> Result<Read> {
        let mut filled = self.take_pending_plaintext(room);
        while filled < room.len() && self.failure.is_none() && !self.peer_closed {
            let Some(rest) = room.get_mut(filled..) else { break };
            if filled > 0 && !self.next_fits(rest.len()) {
                break;
            }
            if self.needs_input && !self.is_handshaking() {
                // rustls would say so again.
                break;
            }
            match self.step(rest) {
                Ok((delivered, step)) => {
                    filled += delivered;
                    if matches!(step, Step::Blocked | Step::PeerClosed) {
                        break;
                    }
                }
                // Kept; told below, or by the next call.
                Err(_) => break,
            }
        }
        if filled > 0 { Ok(Read::Data(filled)) } else { self.read_without_data() }
    }

    /// What a read comes to when there is no plaintext.
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

    /// What a read would come to, which still does: records are opened up to the first plaintext. In the handshake
    /// they are left to that.
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

    /// Plaintext that a read returns without new input.
    pub(crate) fn pending(&mut self) -> usize {
        // A record that has come but was not opened yet counts with what is in it.
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

    /// Whether the next record is all there and its plaintext surely fits, so that opening it spills nothing.
    fn next_fits(&self, room: usize) -> bool {
        let next = self.incoming.as_ref().and_then(|incoming| record::whole_record(incoming.bytes()));
        next.is_some_and(|size| size.saturating_sub(record::HEADER_SIZE + LEAST_OVERHEAD) <= room)
    }
}
