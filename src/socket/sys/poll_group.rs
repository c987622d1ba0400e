//! Descriptors for poll(2) that stand for several other descriptors.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::time::Duration;

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
        _ => open_kqueue(fds, None),
    }
}

/// A descriptor that becomes readable when one of several descriptors does, or when a time has passed, and then stays
/// readable.
#[derive(Debug)]
pub(crate) struct Alarm {
    group: OwnedFd,
    /// The descriptor of the timer, if the group watches one.
    _timer: Option<OwnedFd>,
}

impl Alarm {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub(crate) fn open(fds: &[RawFd], after: Duration) -> io::Result<Alarm> {
        // SAFETY: no pointers are passed.
        let timer = owned_fd(unsafe { libc::timerfd_create(libc::CLOCK_MONOTONIC, libc::TFD_CLOEXEC) })?;
        // A time of 0 would disarm the timer.
        let after = after.max(Duration::from_nanos(1));
        let first = libc::timespec {
            tv_sec: libc::time_t::try_from(after.as_secs()).unwrap_or(libc::time_t::MAX),
            tv_nsec: after.subsec_nanos() as _,
        };
        let never = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        let time = libc::itimerspec { it_interval: never, it_value: first };
        // SAFETY: the time lives across the call, and NULL is allowed for the old time.
        if unsafe { libc::timerfd_settime(timer.as_raw_fd(), 0, &raw const time, std::ptr::null_mut()) } != 0 {
            return Err(io::Error::last_os_error());
        }
        let group = open_poll_group(&[fds, &[timer.as_raw_fd()]].concat())?;
        Ok(Alarm { group, _timer: Some(timer) })
    }

    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    pub(crate) fn open(fds: &[RawFd], after: Duration) -> io::Result<Alarm> {
        Ok(Alarm { group: open_kqueue(fds, Some(after))?, _timer: None })
    }

    pub(crate) fn fd(&self) -> RawFd {
        self.group.as_raw_fd()
    }
}

/// Opens a kqueue that is readable while one of `fds` is readable, and stays readable once the time `after` has passed.
#[cfg(any(target_vendor = "apple", target_os = "freebsd", target_os = "netbsd", target_os = "openbsd"))]
fn open_kqueue(fds: &[RawFd], after: Option<Duration>) -> io::Result<OwnedFd> {
    // SAFETY: no pointers are passed.
    let queue = owned_fd(unsafe { libc::kqueue() })?;
    // SAFETY: no pointers are passed.
    if unsafe { libc::fcntl(queue.as_raw_fd(), libc::F_SETFD, libc::FD_CLOEXEC) } < 0 {
        return Err(io::Error::last_os_error());
    }
    let reads = fds.iter().map(|fd| (*fd, libc::EVFILT_READ as i64, libc::EV_ADD as u32, 0));
    // The timer counts milliseconds. Rounding up keeps it from ending before the time has passed.
    let milliseconds = after.map(|after| i64::try_from(after.as_micros().div_ceil(1000)).unwrap_or(i64::MAX));
    let timer =
        milliseconds.map(|wait| (0, libc::EVFILT_TIMER as i64, (libc::EV_ADD | libc::EV_ONESHOT) as u32, wait));
    for (ident, filter, flags, data) in reads.chain(timer) {
        // SAFETY: all-zero bytes are a valid kevent.
        let mut change: libc::kevent = unsafe { std::mem::zeroed() };
        // The types of the fields differ between the systems.
        change.ident = ident as _;
        change.filter = filter as _;
        change.flags = flags as _;
        change.data = data as _;
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
fn open_kqueue(_fds: &[RawFd], _after: Option<Duration>) -> io::Result<OwnedFd> {
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

    #[test]
    fn an_alarm_is_readable_after_its_time_or_when_a_descriptor_is() {
        let wake = Wake::open().unwrap();
        let alarm = Alarm::open(&[wake.fd()], Duration::from_secs(3600)).unwrap();
        assert!(!is_readable_now(alarm.fd()));
        wake.raise();
        assert!(is_readable_now(alarm.fd()));
        for wait in [Duration::ZERO, Duration::from_millis(1), Duration::MAX] {
            let wake = Wake::open().unwrap();
            let alarm = Alarm::open(&[wake.fd()], wait).unwrap();
            let mut poll = libc::pollfd { fd: alarm.fd(), events: libc::POLLIN, revents: 0 };
            let has_end = wait < Duration::MAX;
            // SAFETY: the array has one element, which lives across the call.
            let ready = unsafe { libc::poll(&raw mut poll, 1, if has_end { 30_000 } else { 0 }) };
            assert_eq!(ready == 1, has_end, "{wait:?}");
            assert_eq!(is_readable_now(alarm.fd()), has_end, "{wait:?}");
        }
    }
}
