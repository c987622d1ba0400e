//! System calls: the one file of the core that may use `unsafe`. Each wrapper is safe for every argument;
//! a bad descriptor is the kernel's EBADF, never undefined behaviour.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::RawFd;
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::status::Status;

pub(crate) const POLL_IN: i16 = libc::POLLIN;
pub(crate) const POLL_OUT: i16 = libc::POLLOUT;

/// One descriptor of a `poll`: what is waited for, and what came.
pub(crate) type PollFd = libc::pollfd;

pub(crate) fn poll_fd(fd: RawFd, events: i16) -> PollFd {
    PollFd { fd, events, revents: 0 }
}

/// Waits until a descriptor is ready or the deadline has passed; EINTR goes on with the time left.
/// Returns how many are ready: 0 means that the deadline passed.
pub(crate) fn poll(fds: &mut [PollFd], deadline: Option<Instant>) -> io::Result<usize> {
    loop {
        let wait = match deadline {
            None => -1,
            Some(deadline) => round_up_to_ms(deadline.saturating_duration_since(Instant::now())),
        };
        // SAFETY: the pointer and the count describe `fds`, which lives across the call.
        let ready = unsafe { libc::poll(fds.as_mut_ptr(), fds.len() as libc::nfds_t, wait) };
        if ready > 0 {
            return Ok(ready as usize);
        }
        if ready == 0 {
            if wait >= 0 && deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Ok(0);
            }
            continue;
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

/// Rounded up: a wait that ended early would spin.
fn round_up_to_ms(wait: Duration) -> i32 {
    wait.as_nanos().div_ceil(1_000_000).min(i32::MAX as u128) as i32
}

/// A descriptor on which [`raise_wake_fd`] makes POLLIN true for good.
pub(crate) fn open_wake_fd() -> Result<RawFd> {
    // SAFETY: no pointers are passed.
    let fd = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
    if fd < 0 {
        return Err(Error::from_io(Status::Io, "cannot open an event descriptor", &io::Error::last_os_error()));
    }
    Ok(fd)
}

/// Async-signal-safe; keeps errno.
pub(crate) fn raise_wake_fd(fd: RawFd) {
    let one = 1u64.to_ne_bytes();
    // SAFETY: the buffer is eight readable bytes; errno's address is valid on every thread.
    unsafe {
        let errno = *libc::__errno_location();
        // A full counter (EAGAIN) is readable already, which is all that is wanted.
        let _ = libc::write(fd, one.as_ptr().cast(), one.len());
        *libc::__errno_location() = errno;
    }
}

/// For descriptors that netlib opened.
pub(crate) fn close_fd(fd: RawFd) {
    // SAFETY: closing is memory-safe for any number; the callers own theirs.
    unsafe {
        libc::close(fd);
    }
}

#[cfg(test)]
pub(crate) fn is_readable_now(fd: RawFd) -> bool {
    let mut fds = [poll_fd(fd, POLL_IN)];
    poll(&mut fds, Some(Instant::now())).is_ok_and(|ready| ready == 1)
}
