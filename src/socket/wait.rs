//! Waits for descriptors within a limit.

use std::io;
use std::os::fd::RawFd;
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::limit::{Limit, earlier};
use crate::socket::sys::{self, PollFd, poll_fd};
use crate::status::Status;
use crate::timeout;

/// Waits until one of `events` (`POLL_IN`, `POLL_OUT`) is possible without blocking. Also returns true if the
/// connection was hung up or has failed; the next call on the descriptor reports the failure. Returns false if
/// `timeout` passed first; a timeout of zero polls once. If the limit ended first, the error has the limit's status. A
/// cancelled limit ends the wait even if the descriptor is ready. A deadline takes precedence over a ready descriptor
/// only if it had passed when the wait started.
pub(crate) fn wait(fd: RawFd, events: i16, timeout: Option<Duration>, limit: Option<&Limit>) -> Result<bool> {
    Ok(wait_events(fd, events, timeout, limit)? != 0)
}

/// Does what [`wait`] does, and returns the events of poll(2) that ended the wait; 0 if `timeout` passed first.
fn wait_events(fd: RawFd, events: i16, timeout: Option<Duration>, limit: Option<&Limit>) -> Result<i16> {
    if timeout == Some(Duration::ZERO) {
        return poll_once(fd, events, limit);
    }
    if fd < 0 {
        // poll(2) ignores a negative descriptor and would wait for the whole timeout.
        return Err(not_open(fd));
    }
    let Some(limit) = limit else {
        let mut fds = [poll_fd(fd, events)];
        poll(&mut fds, deadline_in(timeout), None, || poll_error_text(fd))?;
        return if fds[0].revents & sys::POLL_INVALID != 0 { Err(not_open(fd)) } else { Ok(fds[0].revents) };
    };
    limit.check()?;
    let timeout_at = deadline_in(timeout);
    let deadline = earlier(timeout_at, limit.deadline());
    let mut fds = [poll_fd(fd, events), poll_fd(limit.wake_fd()?, sys::POLL_IN)];
    poll(&mut fds, deadline, Some(limit), || poll_error_text(fd))?;
    limit.check_cancelled()?;
    let [watched, wake] = fds;
    if watched.revents & sys::POLL_INVALID != 0 {
        return Err(not_open(fd));
    }
    if watched.revents != 0 {
        return Ok(watched.revents);
    }
    if wake.revents != 0 {
        return Err(Limit::unexpected_wake());
    }
    if timeout_at.is_some() && timeout_at == deadline { Ok(0) } else { Err(Limit::deadline_exceeded()) }
}

/// Waits as [`wait`] does, and returns the subset of `events` that is possible without blocking; 0 if the timeout
/// passed first. After a hang-up or an error, all `events` are possible. Polls without a timeout first, because the
/// descriptor may be ready: such a poll(2) costs about half of one with a timeout, and reads no clock. The function is
/// inlined into its three callers, because each return after a system call is expensive with mitigations against
/// speculative execution.
#[inline(always)]
pub(crate) fn wait_for(fd: RawFd, events: i16, seconds: f64, limit: Option<&Limit>) -> Result<i16> {
    let timeout = timeout::resolve(seconds, "timeout")?;
    let mut ready = poll_once(fd, events, limit)?;
    if ready == 0 && timeout != Some(Duration::ZERO) {
        ready = wait_events(fd, events, timeout, limit)?;
    }
    Ok(if ready & !events == 0 { ready } else { events })
}

/// Converts the events that [`wait_for`] returned to the status of the wait.
pub(crate) fn wait_status(ready: i16) -> Status {
    if ready != 0 { Status::Ok } else { Status::TimedOut }
}

/// Converts the events that an application passes: `POLL_IN`, `POLL_OUT` or both.
pub(crate) fn events_from_code(events: i32) -> Result<i16> {
    match i16::try_from(events) {
        Ok(events) if events != 0 && events & !(sys::POLL_IN | sys::POLL_OUT) == 0 => Ok(events),
        _ => {
            let message = format!("events must be POLLIN, POLLOUT or the sum of both; it is {events}");
            Err(Error::new(Status::InvalidArgument, message))
        }
    }
}

/// Does what [`wait_events`] does with a timeout of zero.
#[inline(always)]
fn poll_once(fd: RawFd, events: i16, limit: Option<&Limit>) -> Result<i16> {
    if fd < 0 {
        return Err(not_open(fd));
    }
    if let Some(limit) = limit {
        limit.check()?;
    }
    let mut fds = [poll_fd(fd, events)];
    sys::poll_now(&mut fds).map_err(|error| Error::from_io(Status::Io, poll_error_text(fd), &error))?;
    if let Some(limit) = limit {
        limit.check_cancelled()?;
    }
    if fds[0].revents & sys::POLL_INVALID != 0 { Err(not_open(fd)) } else { Ok(fds[0].revents) }
}

/// Calls poll(2). When a signal interrupts the wait, calls the interrupt checks of the limit, and then waits for the
/// remaining time. The caller passes the deadline and the wake descriptor of the limit in `deadline` and `fds`.
/// `error_text` makes the message of an error.
pub(crate) fn poll(
    fds: &mut [PollFd],
    deadline: Option<Instant>,
    limit: Option<&Limit>,
    error_text: impl FnOnce() -> String,
) -> Result<usize> {
    loop {
        match sys::poll(fds, deadline) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                limit.map_or(Ok(()), Limit::check_interrupt)?;
            }
            ready => return ready.map_err(|error| Error::from_io(Status::Io, error_text(), &error)),
        }
    }
}

/// Sleeps until the given time or until the limit ends. Without a time, only the limit ends the sleep.
pub(crate) fn sleep_until(until: Option<Instant>, limit: Option<&Limit>) -> Result<()> {
    // Without a limit the descriptor is -1. poll(2) ignores -1 and only waits for the timeout.
    let mut wake = [poll_fd(-1, sys::POLL_IN)];
    if let Some(limit) = limit {
        wake[0] = poll_fd(limit.wake_fd()?, sys::POLL_IN);
    }
    let deadline = earlier(until, limit.and_then(Limit::deadline));
    poll(&mut wake, deadline, limit, || "cannot wait".to_owned())?;
    match limit {
        Some(limit) if limit.is_cancelled() => limit.check(),
        Some(limit) if until.is_none_or(|until| Instant::now() < until) => {
            limit.check()?;
            Err(Limit::unexpected_wake())
        }
        _ => Ok(()),
    }
}

/// Returns the time at which the timeout ends; `None` without a timeout, or if that time is out of the clock's range.
pub(crate) fn deadline_in(timeout: Option<Duration>) -> Option<Instant> {
    timeout.and_then(|timeout| Instant::now().checked_add(timeout))
}

#[cold]
fn not_open(fd: RawFd) -> Error {
    Error::new(Status::Io, format!("descriptor {fd} is not open")).with_errno(libc::EBADF)
}

#[cold]
fn poll_error_text(fd: RawFd) -> String {
    format!("cannot wait for descriptor {fd}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::fd::AsRawFd;
    use std::os::unix::net::UnixStream;
    use std::sync::Arc;

    const NOW: Option<Duration> = Some(Duration::ZERO);
    /// A timeout that a test reaches only if it hangs.
    const LONG: Option<Duration> = Some(Duration::from_secs(30));

    #[test]
    fn a_descriptor_is_ready_after_the_peer_has_hung_up() {
        let (near, mut far) = UnixStream::pair().unwrap();
        let fd = near.as_raw_fd();
        let ready = |events| wait(fd, events, NOW, None).unwrap();
        assert!(!ready(sys::POLL_IN));
        assert!(ready(sys::POLL_OUT));
        far.write_all(b"x").unwrap();
        assert!(ready(sys::POLL_IN));
        drop(far);
        assert!(ready(sys::POLL_IN) && ready(sys::POLL_OUT));
    }

    #[test]
    fn a_wait_for_input_and_output_returns_the_events_that_are_ready() {
        const BOTH: i16 = sys::POLL_IN | sys::POLL_OUT;
        let (near, mut far) = UnixStream::pair().unwrap();
        let ready = |events| wait_for(near.as_raw_fd(), events, 0.0, None).unwrap();
        assert_eq!((ready(sys::POLL_IN), ready(sys::POLL_OUT), ready(BOTH)), (0, sys::POLL_OUT, sys::POLL_OUT));
        far.write_all(b"x").unwrap();
        assert_eq!((ready(sys::POLL_IN), ready(sys::POLL_OUT), ready(BOTH)), (sys::POLL_IN, sys::POLL_OUT, BOTH));
        drop(far);
        assert_eq!((ready(sys::POLL_IN), ready(sys::POLL_OUT), ready(BOTH)), (sys::POLL_IN, sys::POLL_OUT, BOTH));
    }

    #[test]
    fn events_other_than_input_and_output_are_refused() {
        for events in [0, -1, 2, i32::from(sys::POLL_HANG_UP), 1 << 16 | i32::from(sys::POLL_IN), i32::MIN] {
            assert_eq!(events_from_code(events).unwrap_err().status(), Status::InvalidArgument, "{events}");
        }
        for events in [sys::POLL_IN, sys::POLL_OUT, sys::POLL_IN | sys::POLL_OUT] {
            assert_eq!(events_from_code(i32::from(events)).unwrap(), events);
        }
    }

    #[test]
    fn a_wait_ends_with_its_timeout_or_with_the_limit() {
        let (near, _far) = UnixStream::pair().unwrap();
        let fd = near.as_raw_fd();
        let outcome = |timeout, seconds, cancel| {
            let limit = Limit::new(seconds).unwrap();
            if cancel {
                limit.cancel();
            }
            wait(fd, sys::POLL_IN, timeout, Some(&limit)).map_err(|error| error.status())
        };
        let ms = |ms| Some(Duration::from_millis(ms));
        assert_eq!(outcome(ms(5), f64::INFINITY, false), Ok(false));
        assert_eq!(outcome(ms(5), 30.0, false), Ok(false));
        assert_eq!(outcome(LONG, 0.005, false), Err(Status::DeadlineExceeded));
        assert_eq!(outcome(None, 0.005, false), Err(Status::DeadlineExceeded));
        assert_eq!(outcome(NOW, 0.0, false), Err(Status::DeadlineExceeded));
        assert_eq!(outcome(NOW, 30.0, true), Err(Status::Cancelled));
        assert_eq!(outcome(Some(Duration::MAX), 0.0, true), Err(Status::Cancelled));
    }

    #[test]
    fn an_ended_limit_takes_precedence_over_a_ready_descriptor() {
        let (near, mut far) = UnixStream::pair().unwrap();
        let fd = near.as_raw_fd();
        let outcome = |fd, timeout, limit: Option<(f64, bool)>| {
            let limit = limit.map(|(seconds, cancel)| {
                let limit = Limit::new(seconds).unwrap();
                if cancel {
                    limit.cancel();
                }
                limit
            });
            wait_for(fd, sys::POLL_IN, timeout, limit.as_ref()).map(wait_status).map_err(|error| error.status())
        };
        for timeout in [0.0, 0.005] {
            assert_eq!(outcome(fd, timeout, None), Ok(Status::TimedOut));
            assert_eq!(outcome(fd, timeout, Some((30.0, false))), Ok(Status::TimedOut));
        }
        far.write_all(b"x").unwrap();
        for timeout in [0.0, 30.0, timeout::NONE] {
            assert_eq!(outcome(fd, timeout, None), Ok(Status::Ok));
            assert_eq!(outcome(fd, timeout, Some((30.0, false))), Ok(Status::Ok));
            assert_eq!(outcome(fd, timeout, Some((30.0, true))), Err(Status::Cancelled));
            assert_eq!(outcome(fd, timeout, Some((0.0, false))), Err(Status::DeadlineExceeded));
            assert_eq!(outcome(-1, timeout, None), Err(Status::Io));
        }
    }

    #[test]
    fn cancelling_the_limit_on_another_thread_ends_a_wait() {
        let (near, _far) = UnixStream::pair().unwrap();
        let limit = Arc::new(Limit::new(f64::INFINITY).unwrap());
        let other = Arc::clone(&limit);
        let waiter = std::thread::spawn(move || wait(near.as_raw_fd(), sys::POLL_IN, LONG, Some(&other)));
        let start = Instant::now();
        limit.cancel();
        assert_eq!(waiter.join().unwrap().unwrap_err().status(), Status::Cancelled);
        assert!(start.elapsed() < Duration::from_secs(10));
    }

    #[test]
    fn waiting_for_a_closed_descriptor_fails_with_an_io_error() {
        let limit = Limit::new(30.0).unwrap();
        for fd in [-1, -2, i32::MIN, 1_000_000] {
            for limit in [None, Some(&limit)] {
                let error = wait(fd, sys::POLL_IN, LONG, limit).unwrap_err();
                assert_eq!((error.status(), error.errno()), (Status::Io, libc::EBADF), "{fd}");
            }
        }
    }
}
