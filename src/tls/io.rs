//! The result of a call on a stream or an engine.

use crate::status::Status;

/// The result of a successful call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Io {
    /// The number of bytes transferred.
    Done(usize),
    WantRead,
    WantWrite,
    /// The peer sent close_notify.
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
