//! The one way to stop waiting: an absolute deadline and a trigger that anyone may pull.

use std::os::fd::RawFd;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::socket::sys;
use crate::status::Status;

/// A deadline and a cancel trigger, shared by everything that must stop together.
#[derive(Debug)]
pub struct Limit {
    deadline: Option<Instant>,
    cancelled: AtomicBool,
    /// Readable once cancelled. Opened by the first wait, because most limits are never waited on; -1 before.
    wake: AtomicI32,
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
        Ok(Limit { deadline: deadline_after(seconds), cancelled: AtomicBool::new(false), wake: AtomicI32::new(-1) })
    }

    /// Async-signal-safe: two atomic operations and at most one write(2).
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::SeqCst);
        let wake = self.wake.load(Ordering::SeqCst);
        if wake >= 0 {
            sys::raise_wake_fd(wake);
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
        if self.is_cancelled() {
            return Err(Error::new(Status::Cancelled, "the limit was cancelled"));
        }
        if self.remaining() == Some(Duration::ZERO) {
            return Err(Error::new(Status::DeadlineExceeded, "the limit's deadline has passed"));
        }
        Ok(())
    }

    /// A descriptor that becomes readable when the limit is cancelled, to be polled beside whatever is waited for.
    pub(crate) fn wake_fd(&self) -> Result<RawFd> {
        let current = self.wake.load(Ordering::SeqCst);
        if current >= 0 {
            return Ok(current);
        }
        let fresh = sys::open_wake_fd()?;
        match self.wake.compare_exchange(-1, fresh, Ordering::SeqCst, Ordering::SeqCst) {
            Ok(_) => {
                // A cancel that ran before the exchange saw no descriptor to write to.
                if self.is_cancelled() {
                    sys::raise_wake_fd(fresh);
                }
                Ok(fresh)
            }
            Err(winner) => {
                sys::close_fd(fresh);
                Ok(winner)
            }
        }
    }
}

impl Drop for Limit {
    fn drop(&mut self) {
        let wake = *self.wake.get_mut();
        if wake >= 0 {
            sys::close_fd(wake);
        }
    }
}

/// `None` when that is never: infinity, or beyond what the clock can count.
pub(crate) fn deadline_after(seconds: f64) -> Option<Instant> {
    Duration::try_from_secs_f64(seconds).ok().and_then(|wait| Instant::now().checked_add(wait))
}

#[cfg(test)]
mod tests {
    use super::*;

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
                assert!(!sys::is_readable_now(fd));
                limit.cancel();
            }
            assert!(sys::is_readable_now(fd));
        }
    }
}
