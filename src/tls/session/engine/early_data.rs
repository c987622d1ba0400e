//! Sends early data: data that a client sends on a resumed session before the server answers. The server may reject
//! early data and continue the handshake, and an attacker may replay early data. So netlib sends early data only on
//! request, and never twice.

use super::Engine;
use crate::error::Result;
use crate::tls::Context;
use crate::tls::per_thread::PerThread;
use crate::tls::session::record::{self, Step};

/// The state of a session's early data. The first three numbers equal OpenSSL's `SSL_EARLY_DATA_*`.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EarlyData {
    NotSent = 0,
    Rejected = 1,
    Accepted = 2,
    /// Early data was sent, and the server has not answered yet.
    Undecided = 3,
}

#[derive(Default)]
pub(crate) struct EarlyDataState {
    /// The number of bytes of early data that the ticket still allows; 0 if none may be sent.
    left: u32,
    sent: u32,
    /// rustls accepts no more early data and waits for input: the server has rejected the early data, unless `accepted`
    /// is true.
    refused: bool,
    accepted: bool,
    /// The client has sent its first encrypted handshake message.
    answered: bool,
}

impl EarlyDataState {
    /// Creates the state for the connection that this thread has just created, with the limit of the ticket that rustls
    /// took for the connection.
    pub(crate) fn new(context: &Context) -> EarlyDataState {
        EarlyDataState {
            left: context.early_data_limits().and_then(PerThread::take).unwrap_or(0),
            ..EarlyDataState::default()
        }
    }
}

impl Engine {
    pub(crate) fn early_data(&self) -> EarlyData {
        let early = &self.early;
        match (early.sent, early.accepted) {
            (0, _) => EarlyData::NotSent,
            (_, true) => EarlyData::Accepted,
            _ if early.refused || !self.is_handshaking() => EarlyData::Rejected,
            _ => EarlyData::Undecided,
        }
    }

    /// Returns the number of bytes of early data that may still be written.
    pub(crate) fn early_data_left(&self) -> usize {
        if self.check_sending().is_ok() && self.is_handshaking() { self.early.left as usize } else { 0 }
    }

    /// Returns the number of bytes of early data that have been written.
    pub(crate) fn early_data_written(&self) -> usize {
        self.early.sent as usize
    }

    /// Encrypts at most [`record::WRITE_SIZE`] bytes from the front of `data` as early data, and returns the number of
    /// encrypted bytes; 0 if no more early data may be sent.
    pub(crate) fn write_early(&mut self, data: &[u8]) -> Result<usize> {
        self.check_sending()?;
        let most = self.early_data_left().min(record::WRITE_SIZE);
        let data = data.get(..most).unwrap_or(data);
        if data.is_empty() {
            return Ok(0);
        }
        // Some records may be queued before the encryption of another record fails.
        let mut is_sent = true;
        let sealed = self.transmit(|session, unconsumed, outgoing| {
            is_sent = session.send_early(unconsumed, data, outgoing)?;
            Ok(false)
        });
        self.has_application_data |= is_sent;
        sealed?;
        if !is_sent {
            self.early.left = 0;
            return Ok(0);
        }
        let count = data.len() as u32;
        self.early.left -= count;
        self.early.sent += count;
        Ok(data.len())
    }

    /// Updates the state of early data after a step. Returns the step to report to the caller.
    pub(crate) fn update_early_data(&mut self, step: Step) -> Step {
        match step {
            Step::BlockedEarly => Step::Blocked,
            // The client's first encrypted record is EndOfEarlyData if and only if the server has accepted the early
            // data (RFC 8446 section 4.5). A later record may have the same length.
            Step::Sealed { may_end_early_data } if !self.early.answered => {
                self.early = EarlyDataState { left: 0, accepted: may_end_early_data, answered: true, ..self.early };
                Step::Progress
            }
            Step::Sealed { .. } => Step::Progress,
            Step::Blocked if self.is_handshaking() => {
                self.early = EarlyDataState { left: 0, refused: true, ..self.early };
                Step::Blocked
            }
            step => step,
        }
    }
}

#[cfg(test)]
mod tests;
