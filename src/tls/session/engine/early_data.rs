//! Early data: what a client writes before the server has answered, on a session that it resumes. The server may refuse all
//! of it and go on, and anybody may send it again; so it is never sent by itself, and never sent twice.

use super::Engine;
use crate::error::Result;
use crate::tls::Context;
use crate::tls::per_thread::PerThread;
use crate::tls::session::record::{self, Step};

/// What has become of a session's early data, with OpenSSL's numbers.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EarlyData {
    NotSent = 0,
    Rejected = 1,
    Accepted = 2,
    /// The server has not said.
    Undecided = 3,
}

#[derive(Default)]
pub(crate) struct EarlyDataState {
    /// How much more the ticket allows; 0 as soon as nothing may be sent.
    left: u32,
    sent: u32,
    /// The server will not answer as one that accepts it.
    refused: bool,
    accepted: bool,
    /// The client has answered the server, under keys.
    answered: bool,
}

impl EarlyDataState {
    /// Of the session that this thread has just made: what the ticket allows that it took.
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

    /// How many bytes of early data may still be written.
    pub(crate) fn early_data_left(&self) -> usize {
        if self.check_sending().is_ok() && self.is_handshaking() { self.early.left as usize } else { 0 }
    }

    /// How many have been.
    pub(crate) fn early_data_written(&self) -> usize {
        self.early.sent as usize
    }

    /// Encrypts from the front of `data`, when the handshake has been begun and not ended; how much, at most
    /// [`record::WRITE_SIZE`]. 0: no more may be sent.
    pub(crate) fn write_early(&mut self, data: &[u8]) -> Result<usize> {
        self.check_sending()?;
        let most = self.early_data_left().min(record::WRITE_SIZE);
        let data = data.get(..most).unwrap_or(data);
        if data.is_empty() {
            return Ok(0);
        }
        // Of several records some may be queued when another one fails.
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

    /// What a step says of early data; the step as it is for everything else.
    pub(crate) fn update_early_data(&mut self, step: Step) -> Step {
        match step {
            Step::BlockedEarly => Step::Blocked,
            // A client begins its answer with EndOfEarlyData if the server has accepted, and only then (RFC 8446 section 4.5).
            // Behind that the end of a message in pieces may be as short.
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
