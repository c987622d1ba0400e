//! Defines the reasons why a transport cannot continue.

use std::io;

use crate::error::Error;
use crate::status::Status;

/// The reason why a transport cannot continue. The stream turns a fault into an error, because the stream knows its
/// peer.
pub(super) enum Fault {
    /// A system call failed.
    System(io::Error),
    /// The read timeout, the write timeout, or the window of the minimum throughput has ended.
    TimedOut(Status),
    /// The stream below failed.
    OuterStream(Error),
    /// An error that is returned to the caller unchanged: the limit has ended, or a callback reported a failure.
    Passthrough(Error),
    /// An error like `Passthrough`, after which the transport cannot be used again.
    Fatal(Error),
}

pub(super) type Outcome<T> = std::result::Result<T, Fault>;
