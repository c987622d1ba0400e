//! Decides whether an idle stream is still usable.

use super::state::{Protocol, State};
use crate::error::{Error, Result};
use crate::status::Status;

impl<P: Protocol> State<P> {
    /// Returns the status that a read would return, or the reason why nothing can be written. `WantRead` means that the
    /// stream is idle and usable. `looked` is the status or the error of the search for input.
    pub(super) fn conclude_probe(&mut self, looked: Result<Status>) -> Result<Status> {
        self.begin_window();
        match looked {
            Ok(Status::WantRead) => {}
            Ok(other) => return Ok(other),
            Err(error) if self.protocol.has_failed() || is_connection_end(&error) => return Ok(error.status()),
            Err(error) => return Err(error),
        }
        if self.unreported > 0 {
            return Ok(Status::WantWrite);
        }
        Ok(self.protocol.check_sending().map_or_else(|error| error.status(), |()| Status::WantRead))
    }
}

/// Returns whether the error means that the connection has ended or its descriptor is closed, and not only that the
/// session has ended.
fn is_connection_end(error: &Error) -> bool {
    matches!(error.status(), Status::TlsTruncated | Status::TlsHandshakeEof) || error.errno() == libc::EBADF
}
