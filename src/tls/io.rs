//! The result of reading, writing or a handshake step on a stream or an engine.

use crate::status::Status;

/// The outcome of a call that did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Io {
    /// The number of bytes transferred.
    Done(usize),
    WantRead,
    WantWrite,
    /// The peer's data has ended: the peer sent close_notify or, on a plain stream, shut down its sending direction.
    End,
}

impl Io {
    pub fn count(self) -> usize {
        if let Io::Done(count) = self { count } else { 0 }
    }

    pub fn status(self) -> Status {
        match self {
            Io::Done(_) => Status::Ok,
            Io::WantRead => Status::WantRead,
            Io::WantWrite => Status::WantWrite,
            Io::End => Status::EndOfStream,
        }
    }
}
