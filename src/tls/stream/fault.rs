//! Why a transport cannot go on.

use std::io;

use crate::error::Error;
use crate::status::Status;

/// Why a transport cannot go on. The stream turns it into an error, because it knows its peer.
pub(super) enum Fault {
    /// A system call failed.
    System(io::Error),
    /// The read or write timeout passed first, or the window of the minimum throughput.
    TimedOut(Status),
    /// The stream below failed.
    OuterStream(Error),
    /// Returned to the caller unchanged: the limit has ended, or a callback reported a failure.
    Passthrough(Error),
    /// The same, and the transport cannot be used again.
    Fatal(Error),
}

pub(super) type Outcome<T> = std::result::Result<T, Fault>;
