//! Limits for waiting: an absolute deadline and a cancel flag.

use std::os::fd::RawFd;
use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::time::{Duration, Instant};

use once_cell::race::OnceBox;

use crate::error::{Error, Result};
use crate::fork::Process;
use crate::socket::sys::Wake;
use crate::status::Status;

/// A deadline and a cancel flag, shared by all calls that must stop together.
#[derive(Debug)]
pub struct Limit {
    deadline: Option<Instant>,
    cancelled: AtomicBool,
    wakes: WakeList,
}

/// The descriptors that become readable when a limit is cancelled. The first wait opens a descriptor, because most
/// limits are never waited on.
///
/// A forked child has a copy of the limit but shares the parent's descriptor. So each process opens a descriptor of its
/// own for the limit, and cancelling makes only the descriptor of the calling process readable. The linked list has one
/// entry unless a forked child waits too. The list only grows and has no lock: a signal handler could interrupt the
/// thread that holds the lock, and in a forked child the lock could stay locked forever.
#[derive(Debug, Default)]
struct WakeList(OnceBox<ProcessWake>);

#[derive(Debug)]
struct ProcessWake {
    /// The process that opened the descriptor.
    process: Process,
    wake: Wake,
    next: WakeList,
}

impl WakeList {
    /// Returns the descriptor that a process opened. Async-signal-safe.
    fn for_process(&self, process: Process) -> Option<&Wake> {
        let mut entry = self.0.get();
        while let Some(other) = entry.filter(|entry| entry.process != process) {
            entry = other.next.0.get();
        }
        entry.map(|own| &own.wake)
    }

    /// Adds a descriptor for a process. If another thread has added one at the same time, drops `wake` and returns the
    /// other descriptor.
    fn add(&self, process: Process, wake: Wake) -> &Wake {
        let mut fresh = Some(Box::new(ProcessWake { process, wake, next: WakeList::default() }));
        let mut end = &self.0;
        loop {
            match end.get() {
                Some(entry) if entry.process == process => return &entry.wake,
                Some(entry) => end = &entry.next.0,
                None => fresh = fresh.and_then(|fresh| end.set(fresh).err()),
            }
        }
    }
}

impl Limit {
    /// Creates a limit whose deadline is `seconds` from now. A limit of infinite seconds has no deadline and ends only
    /// when it is cancelled.
    pub fn new(seconds: f64) -> Result<Limit> {
        if seconds.is_nan() || seconds < 0.0 {
            return Err(Error::new(
                Status::InvalidArgument,
                format!("seconds must be 0 or more, or NETLIB_TIMEOUT_NONE; it is {seconds}"),
            ));
        }
        Ok(Limit { deadline: deadline_after(seconds), cancelled: AtomicBool::new(false), wakes: WakeList::default() })
    }

    /// Cancels the limit. Async-signal-safe: uses atomic operations, getpid(2) in a new process, and at most one
    /// write(2); no lock and no allocation.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::SeqCst);
        // Pairs with the fence in `wake_fd`: either this call sees the new descriptor, or `wake_fd` sees the flag.
        fence(Ordering::SeqCst);
        // Before the first wait no descriptor exists, and `Process::current` is possibly not async-signal-safe yet.
        if let Some(wake) = self.wakes.0.get().and_then(|_| self.wakes.for_process(Process::current())) {
            wake.raise();
        }
    }

    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::SeqCst)
    }

    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Returns the time until the deadline; `None` without a deadline, zero once the deadline has passed.
    pub fn remaining(&self) -> Option<Duration> {
        self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    /// Fails if the limit is cancelled or its deadline has passed.
    pub fn check(&self) -> Result<()> {
        self.check_cancelled()?;
        if self.remaining() == Some(Duration::ZERO) {
            return Err(Limit::deadline_exceeded());
        }
        Ok(())
    }

    /// Fails if the limit is cancelled. Ignores the deadline.
    pub(crate) fn check_cancelled(&self) -> Result<()> {
        if self.is_cancelled() {
            return Err(Error::new(Status::Cancelled, "the limit was cancelled"));
        }
        Ok(())
    }

    pub(crate) fn deadline_exceeded() -> Error {
        Error::new(Status::DeadlineExceeded, "the limit's deadline has passed")
    }

    /// Makes the error for a wake descriptor that is readable although the limit is not cancelled. Without this error a
    /// wait would end early or spin.
    pub(crate) fn unexpected_wake() -> Error {
        let message = "the application closed the limit's own descriptor or wrote to it";
        Error::new(Status::Io, message).with_errno(libc::EBADF)
    }

    /// Returns a descriptor that becomes readable when the limit is cancelled. A waiting call polls the limit's
    /// descriptor together with the descriptor that it waits for.
    pub(crate) fn wake_fd(&self) -> Result<RawFd> {
        let process = Process::current();
        if let Some(wake) = self.wakes.for_process(process) {
            return Ok(wake.fd());
        }
        let wake = self.wakes.add(process, Wake::open()?);
        fence(Ordering::SeqCst);
        // The limit may have been cancelled before the descriptor was opened.
        if self.is_cancelled() {
            wake.raise();
        }
        Ok(wake.fd())
    }
}

/// Returns the time that is `seconds` from now; `None` for infinity, and for a time beyond the clock's range.
pub(crate) fn deadline_after(seconds: f64) -> Option<Instant> {
    Duration::try_from_secs_f64(seconds).ok().and_then(|wait| Instant::now().checked_add(wait))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::socket::sys::is_readable_now;

    #[test]
    fn limits_of_negative_or_nan_seconds_are_refused() {
        for seconds in [-1.0, f64::NAN, f64::NEG_INFINITY] {
            assert_eq!(Limit::new(seconds).unwrap_err().status(), Status::InvalidArgument);
        }
        assert!(Limit::new(f64::MAX).unwrap().deadline().is_none());
    }

    #[test]
    fn cancelling_a_limit_takes_precedence_over_its_passed_deadline() {
        let limit = Limit::new(0.0).unwrap();
        assert_eq!(limit.check().unwrap_err().status(), Status::DeadlineExceeded);
        limit.cancel();
        assert_eq!(limit.check().unwrap_err().status(), Status::Cancelled);
    }

    #[test]
    fn each_process_gets_its_own_wake_descriptor_of_a_limit() {
        let wakes = WakeList::default();
        assert!(wakes.for_process(Process::numbered(1)).is_none());
        let processes = [1, 2, 3].map(Process::numbered);
        let fds = processes.map(|process| wakes.add(process, Wake::open().unwrap()).fd());
        assert_eq!(processes.map(|process| wakes.for_process(process).unwrap().fd()), fds);
        assert!(fds[0] != fds[1] && fds[1] != fds[2] && fds[0] != fds[2]);
        // A second descriptor for the same process is dropped.
        assert_eq!(wakes.add(processes[1], Wake::open().unwrap()).fd(), fds[1]);
        assert!(wakes.for_process(Process::numbered(4)).is_none());
        wakes.for_process(processes[1]).unwrap().raise();
        assert_eq!(fds.map(is_readable_now), [false, true, false]);
    }

    #[test]
    fn cancelling_a_limit_makes_its_descriptor_readable() {
        for early in [true, false] {
            let limit = Limit::new(f64::INFINITY).unwrap();
            if early {
                limit.cancel();
            }
            let fd = limit.wake_fd().unwrap();
            if !early {
                assert!(!is_readable_now(fd));
                limit.cancel();
            }
            assert!(is_readable_now(fd));
        }
    }
}
