//! The one way to stop waiting: an absolute deadline and a trigger that anyone may pull.

use std::os::fd::RawFd;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::socket::sys::Wake;
use crate::status::Status;

/// A deadline and a cancel trigger, shared by everything that must stop together.
#[derive(Debug)]
pub struct Limit {
    deadline: Option<Instant>,
    cancelled: AtomicBool,
    /// Readable once cancelled. Opened by the first wait, because most limits are never waited on.
    wake: OnceLock<Wake>,
}

impl Limit {
    /// `seconds` from now; infinity means that only the trigger ends it.
    pub fn new(seconds: f64) -> Result<Limit> {
        if seconds.is_nan() || seconds < 0.0 {
            return Err(Error::new(
                Status::InvalidArgument,
                format!("seconds must be 0 or more, or NETLIB_TIMEOUT_NONE; it is {seconds}"),
            ));
        }
        Ok(Limit { deadline: deadline_after(seconds), cancelled: AtomicBool::new(false), wake: OnceLock::new() })
    }

    /// Async-signal-safe: atomic operations and at most one write(2), no lock and no allocation.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::SeqCst);
        // Pairs with the fence of `wake_fd`: either this sees the descriptor, or `wake_fd` sees the flag.
        fence(Ordering::SeqCst);
        if let Some(wake) = self.wake.get() {
            wake.raise();
        }
    }

    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::SeqCst)
    }

    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// `None` without a deadline; zero once it has passed.
    pub fn remaining(&self) -> Option<Duration> {
        self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    /// Fails when waiting must stop.
    pub fn check(&self) -> Result<()> {
        self.check_cancelled()?;
        if self.remaining() == Some(Duration::ZERO) {
            return Err(Limit::deadline_exceeded());
        }
        Ok(())
    }

    /// Fails when the trigger was pulled, whatever the deadline.
    pub(crate) fn check_cancelled(&self) -> Result<()> {
        if self.is_cancelled() {
            return Err(Error::new(Status::Cancelled, "the limit was cancelled"));
        }
        Ok(())
    }

    pub(crate) fn deadline_exceeded() -> Error {
        Error::new(Status::DeadlineExceeded, "the limit's deadline has passed")
    }

    /// Not cancelled, yet its descriptor says so: told, so that nobody takes it for a wait that is over, or spins.
    pub(crate) fn raised_by_others() -> Error {
        let message = "the limit's own descriptor was closed by the program, or the limit was cancelled in a process \
                       that shares it after a fork";
        Error::new(Status::Io, message).with_errno(libc::EBADF)
    }

    /// A descriptor that becomes readable when the limit is cancelled, to be polled beside whatever is waited for.
    pub(crate) fn wake_fd(&self) -> Result<RawFd> {
        if let Some(wake) = self.wake.get() {
            return Ok(wake.fd());
        }
        // Opened outside the cell's initialiser, which cannot fail; of two first waits the slower one closes its own.
        let fresh = Wake::open()?;
        let wake = self.wake.get_or_init(|| fresh);
        fence(Ordering::SeqCst);
        // A cancel that ran before saw no descriptor to write to.
        if self.is_cancelled() {
            wake.raise();
        }
        Ok(wake.fd())
    }
}

/// `None` when that is never: infinity, or beyond what the clock can count.
pub(crate) fn deadline_after(seconds: f64) -> Option<Instant> {
    Duration::try_from_secs_f64(seconds).ok().and_then(|wait| Instant::now().checked_add(wait))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::socket::sys::is_readable_now;

    #[test]
    fn refuses_what_is_no_duration() {
        for seconds in [-1.0, f64::NAN, f64::NEG_INFINITY] {
            assert_eq!(Limit::new(seconds).unwrap_err().status(), Status::InvalidArgument);
        }
        assert!(Limit::new(f64::MAX).unwrap().deadline().is_none());
    }

    #[test]
    fn deadline_and_trigger_are_told_apart() {
        let limit = Limit::new(0.0).unwrap();
        assert_eq!(limit.check().unwrap_err().status(), Status::DeadlineExceeded);
        limit.cancel();
        assert_eq!(limit.check().unwrap_err().status(), Status::Cancelled);
    }

    #[test]
    fn a_cancel_before_or_after_the_first_wait_wakes_it() {
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
