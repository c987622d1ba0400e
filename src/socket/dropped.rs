//! Detects idle connections that can no longer be used.

use std::os::fd::RawFd;
use std::time::Duration;

use crate::error::Result;
use crate::socket::{sys, wait};

/// The descriptor value for a connection that the hosting platform manages. A managed connection never counts as
/// dropped.
pub(crate) const FD_MANAGED: RawFd = -2;

/// Returns whether an idle connection cannot be used for another request: it has unsolicited data, end of stream, an
/// error, or a closed descriptor. A negative descriptor counts as a closed connection.
pub(crate) fn is_connection_dropped(fd: RawFd) -> Result<bool> {
    if fd < 0 {
        return Ok(fd != FD_MANAGED);
    }
    match wait::wait(fd, sys::POLL_IN, Some(Duration::ZERO), None) {
        Err(error) if error.errno() == libc::EBADF => Ok(true),
        ready => ready,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::fd::AsRawFd;
    use std::os::unix::net::UnixStream;

    #[test]
    fn closed_or_readable_connections_and_bad_descriptors_count_as_dropped() {
        let (near, mut far) = UnixStream::pair().unwrap();
        let dropped = |fd| is_connection_dropped(fd).unwrap();
        assert!(!dropped(near.as_raw_fd()));
        far.write_all(b"x").unwrap();
        assert!(dropped(near.as_raw_fd()));
        let (near, far) = UnixStream::pair().unwrap();
        drop(far);
        assert!(dropped(near.as_raw_fd()));
        assert!(!dropped(FD_MANAGED));
        for fd in [-1, -3, i32::MIN, 1_000_000] {
            assert!(dropped(fd), "{fd}");
        }
    }
}
