//! Waits with a read timeout, a deadline and cancellation, for libraries that do not wait themselves: the descriptor is
//! non-blocking, and the client calls poll(2) whenever the library needs input or room for output.

use std::os::fd::RawFd;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

/// The read timeout of every client, in seconds.
pub const READ_TIMEOUT: f64 = 30.0;
/// The time limit of the whole program, in seconds.
pub const LIMIT: f64 = 3600.0;

/// The time when the limit of the program expires; CANCEL is the descriptor that a cancellation would make readable.
static DEADLINE: LazyLock<Instant> = LazyLock::new(|| Instant::now() + Duration::from_secs_f64(LIMIT));
static CANCEL: LazyLock<RawFd> = LazyLock::new(|| unsafe { libc::eventfd(0, libc::EFD_CLOEXEC) });

pub fn set_nonblocking(fd: RawFd) {
    assert_eq!(unsafe { libc::fcntl(fd, libc::F_SETFL, libc::O_NONBLOCK) }, 0, "fcntl");
}

/// Waits for `events` on `fd`. Ends the program if the timeout or the deadline passes, or after a cancellation.
pub fn wait(fd: RawFd, events: i16) {
    let left = DEADLINE.saturating_duration_since(Instant::now()).as_secs_f64().min(READ_TIMEOUT);
    let mut polled =
        [libc::pollfd { fd, events, revents: 0 }, libc::pollfd { fd: *CANCEL, events: libc::POLLIN, revents: 0 }];
    let count = unsafe { libc::poll(polled.as_mut_ptr(), 2, (left * 1e3) as i32) };
    assert!(count > 0 && polled[1].revents == 0, "poll: {count}");
}

/// Returns true if a system call failed because it would have blocked.
pub fn would_block() -> bool {
    std::io::Error::last_os_error().kind() == std::io::ErrorKind::WouldBlock
}
