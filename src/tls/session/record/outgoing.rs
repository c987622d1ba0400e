//! Queues records to send.

use std::sync::Arc;

use smallvec::SmallVec;

use super::RECORD_SIZE;
use crate::error::{Error, Result};
use crate::status::Status;
use crate::tls::session::pool::{Pool, RecordBuffer};
use crate::tls::session::sealing::{self, EncryptFailure, Outcome};

/// The records to send, in the order in which they must be sent. Usually one buffer holds all records; the queue never
/// has many buffers.
pub(crate) struct Outgoing {
    queue: SmallVec<[RecordBuffer; 1]>,
    pool: Arc<Pool>,
}

/// The result of a closure that writes into the queue.
pub(super) enum Append {
    /// The number of bytes that the closure wrote.
    Written(usize),
    /// The closure wrote nothing, because it needs space for this number of bytes.
    Needs(usize),
    /// The closure wrote nothing, because the session's keys have reached their usage limit.
    Failed,
}

impl Outgoing {
    pub(crate) fn new(pool: Arc<Pool>) -> Outgoing {
        Outgoing { queue: SmallVec::new(), pool }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Returns the number of queued bytes.
    pub(crate) fn len(&self) -> usize {
        self.queue.iter().map(|chunk| chunk.bytes().len()).sum()
    }

    /// Queues a small unencrypted record.
    pub(crate) fn add_plain(&mut self, record: &[u8]) -> Result<()> {
        self.append(record.len(), |room| match room.get_mut(..record.len()) {
            Some(room) => {
                room.copy_from_slice(record);
                Append::Written(record.len())
            }
            None => Append::Needs(record.len()),
        })
    }

    /// Returns the next bytes to send. The caller must return the unsent rest with [`Outgoing::push_back`].
    pub(crate) fn pop(&mut self) -> Option<RecordBuffer> {
        (!self.queue.is_empty()).then(|| self.queue.remove(0))
    }

    pub(crate) fn push_back(&mut self, rest: RecordBuffer) {
        if rest.is_empty() {
            self.pool.give_back(rest);
        } else {
            self.queue.insert(0, rest);
        }
    }

    pub(crate) fn clear(&mut self) {
        self.queue.clear();
    }

    /// Returns the number of the alert at the end of the queue, if it is fatal and unencrypted.
    pub(crate) fn plain_alert(&self) -> Option<u8> {
        match self.queue.last()?.bytes() {
            [.., 21, 3, _, 0, 2, 2, number] => Some(*number),
            _ => None,
        }
    }

    /// Encrypts `data` bytes of application data after the last record, directly into the buffer if the cipher suite
    /// supports that.
    pub(super) fn seal(&mut self, data: usize, mut encrypt: impl FnMut(&mut [u8]) -> Append) -> Result<()> {
        if data == 0 {
            return Ok(());
        }
        let records = data.div_ceil(RECORD_SIZE);
        let needed = data + records * sealing::OVERHEAD;
        let has_room = self.queue.last().is_some_and(|last| last.space_len() >= needed);
        let last = if has_room { self.queue.pop() } else { None };
        let buffer = match last {
            Some(last) => last,
            None => self.pool.borrow()?,
        };
        let (buffer, outcome) = sealing::seal(buffer, records, |room| match encrypt(room) {
            Append::Written(written) => Ok(written),
            Append::Needs(_) => Err(EncryptFailure::NoRoom),
            Append::Failed => Err(EncryptFailure::KeysExhausted),
        });
        if let Some(buffer) = buffer {
            self.queue.push(buffer);
        }
        let failure = match outcome {
            Outcome::Sealed => return Ok(()),
            Outcome::NotStarted => return self.append(needed, encrypt),
            Outcome::KeysExhausted => keys_exhausted(),
            Outcome::Failed => Error::new(Status::Internal, "a record could not be sealed"),
        };
        self.drop_empty();
        Err(failure)
    }

    /// Removes empty buffers after a failure.
    fn drop_empty(&mut self) {
        self.queue.retain(|chunk| !chunk.is_empty());
    }

    /// Lets `write` write after the last record, or into a new buffer if there is not enough space.
    pub(super) fn append(&mut self, least: usize, mut write: impl FnMut(&mut [u8]) -> Append) -> Result<()> {
        let mut needed = least;
        // The second call of `write` gets the space that the first call requested, if necessary in a new buffer.
        for _ in 0..3 {
            if self.queue.last().is_none_or(|last| last.space_len() < needed.max(1)) {
                self.queue.push(self.pool.borrow()?);
            }
            let Some(last) = self.queue.last_mut() else { break };
            match write(last.space()) {
                Append::Written(written) => {
                    last.add(written);
                    if last.is_empty() {
                        self.queue.pop();
                    }
                    return Ok(());
                }
                Append::Needs(size) => needed = size,
                Append::Failed => {
                    self.drop_empty();
                    return Err(keys_exhausted());
                }
            }
        }
        self.drop_empty();
        Err(Error::new(Status::Internal, format!("a record of {needed} bytes does not fit into any buffer")))
    }
}

#[cold]
fn keys_exhausted() -> Error {
    Error::new(Status::TlsProtocol, "the session's keys have reached their usage limit: open a new connection")
}
