//! Descriptors for poll(2) that stand for several other descriptors.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// Opens a close-on-exec descriptor that is readable while one of `fds` is readable. On Linux the new descriptor is an
/// epoll instance, because an application's epoll forgets an epoll instance when that instance is closed. A dup(2) of a
/// single descriptor would stay registered with the application's epoll until the original is closed as well.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) fn open_poll_group(fds: &[RawFd]) -> io::Result<OwnedFd> {
    // SAFETY: no pointers are passed.
    let group = owned_fd(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) })?;
    for fd in fds {
        let mut event = libc::epoll_event { events: libc::EPOLLIN as u32, u64: 0 };
        // SAFETY: the event lives across the call.
        if unsafe { libc::epoll_ctl(group.as_raw_fd(), libc::EPOLL_CTL_ADD, *fd, &raw mut event) } != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(group)
}

/// Opens a close-on-exec descriptor that is readable while one of `fds` is readable. For several descriptors, it is a
/// kqueue. For a single descriptor, it is a copy of that descriptor, because a forked child does not inherit a kqueue.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(crate) fn open_poll_group(fds: &[RawFd]) -> io::Result<OwnedFd> {
    match fds {
        // SAFETY: no pointers are passed.
        [fd] => owned_fd(unsafe { libc::fcntl(*fd, libc::F_DUPFD_CLOEXEC, 0) }),
        _ => open_kqueue(fds),
    }
}

#[cfg(any(target_vendor = "apple", target_os = "freebsd", target_os = "netbsd", target_os = "openbsd"))]
fn open_kqueue(fds: &[RawFd]) -> io::Result<OwnedFd> {
    // SAFETY: no pointers are passed.
    let queue = owned_fd(unsafe { libc::kqueue() })?;
    // SAFETY: no pointers are passed.
    if unsafe { libc::fcntl(queue.as_raw_fd(), libc::F_SETFD, libc::FD_CLOEXEC) } < 0 {
        return Err(io::Error::last_os_error());
    }
    for fd in fds {
        // SAFETY: all-zero bytes are a valid kevent.
        let mut change: libc::kevent = unsafe { std::mem::zeroed() };
        // The types of the fields differ between the systems.
        change.ident = *fd as _;
        change.filter = libc::EVFILT_READ as _;
        change.flags = libc::EV_ADD as _;
        // SAFETY: the change lives across the call. The call has no room for events, and therefore stores none.
        let failed = unsafe {
            libc::kevent(queue.as_raw_fd(), &raw const change, 1, std::ptr::null_mut(), 0, std::ptr::null())
        };
        if failed < 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(queue)
}

/// Fails on systems that have neither epoll nor kqueue.
#[cfg(not(any(
    target_os = "linux",
    target_os = "android",
    target_vendor = "apple",
    target_os = "freebsd",
    target_os = "netbsd",
    target_os = "openbsd"
)))]
fn open_kqueue(_fds: &[RawFd]) -> io::Result<OwnedFd> {
    Err(io::Error::from_raw_os_error(libc::ENOSYS))
}

/// Takes ownership of the descriptor that a system call has opened. A negative number means that the call has failed;
/// the function then returns the error.
pub(super) fn owned_fd(fd: RawFd) -> io::Result<OwnedFd> {
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor was opened for this call, and no other code knows it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::socket::sys::{Wake, is_readable_now};

    #[test]
    fn a_poll_group_is_readable_while_one_of_its_descriptors_is() {
        for raised in 0..3 {
            let wakes = [(); 3].map(|()| Wake::open().unwrap());
            let group = open_poll_group(&wakes.each_ref().map(Wake::fd)).unwrap();
            assert!(!is_readable_now(group.as_raw_fd()));
            wakes[raised].raise();
            assert!(is_readable_now(group.as_raw_fd()), "{raised}");
        }
        assert_eq!(open_poll_group(&[-1]).unwrap_err().raw_os_error(), Some(libc::EBADF));
    }
}
