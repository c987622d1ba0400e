//! Limits for waiting: an absolute deadline and a cancel flag. A limit also ends when its parent limit ends.

mod per_process;

use std::fmt;
use std::io;
use std::iter;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::time::{Duration, Instant};

use per_process::PerProcess;

use crate::error::{Error, Result};
use crate::fork::Process;
use crate::socket::sys::{self, Alarm, Wake};
use crate::status::Status;

/// A deadline and a cancel flag, shared by all calls that must stop together. A limit with a parent ends when either of
/// the two ends.
pub struct Limit {
    /// The earlier of the limit's own deadline and the deadline of its parent.
    deadline: Option<Instant>,
    /// Whether this limit was cancelled. The flags of the ancestors are separate, so that cancelling a limit, which a
    /// signal handler may do, need not find its children.
    cancelled: AtomicBool,
    parent: Option<Arc<Limit>>,
    interrupt_check: Option<InterruptCheck>,
    /// One descriptor per process, which becomes readable when this limit is cancelled, but not when an ancestor is
    /// cancelled. The first wait opens the descriptor, because most limits are never waited on.
    own_wakes: PerProcess<Wake>,
    /// For a limit with a parent: one descriptor per process, which becomes readable when this limit or an ancestor is
    /// cancelled.
    group_wakes: PerProcess<OwnedFd>,
    /// For a limit with a deadline whose descriptor the application has asked for: one descriptor per process, which
    /// also becomes readable at the deadline. netlib's own waits have a timeout instead.
    alarms: PerProcess<Alarm>,
}

/// A callback that a waiting thread calls after a signal has interrupted its wait. If the callback returns an error,
/// the wait fails with this error. The callback does not end the limit, so a later wait with the limit is not affected.
pub type InterruptCheck = Box<dyn Fn() -> Result<()> + Send + Sync>;

/// The maximum number of ancestors of a limit. Checking and dropping a limit visits each ancestor.
const MAX_ANCESTORS: usize = 8;

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
        Ok(Limit {
            deadline: deadline_after(seconds),
            cancelled: AtomicBool::new(false),
            parent: None,
            interrupt_check: None,
            own_wakes: PerProcess::default(),
            group_wakes: PerProcess::default(),
            alarms: PerProcess::default(),
        })
    }

    /// Makes a new limit the child of another limit.
    pub fn with_parent(self, parent: Option<Arc<Limit>>) -> Result<Limit> {
        let Some(parent) = parent else { return Ok(self) };
        if parent.with_ancestors().count() > MAX_ANCESTORS {
            let message = format!("parent already has {MAX_ANCESTORS} ancestors, the maximum for a limit");
            return Err(Error::new(Status::InvalidArgument, message));
        }
        Ok(Limit { deadline: earlier(self.deadline, parent.deadline), parent: Some(parent), ..self })
    }

    /// Adds an interrupt check to a new limit.
    pub fn with_interrupt_check(self, check: InterruptCheck) -> Limit {
        Limit { interrupt_check: Some(check), ..self }
    }

    /// Returns the limit, its parent, the parent of its parent, and so on.
    fn with_ancestors(&self) -> impl Iterator<Item = &Limit> {
        iter::successors(Some(self), |limit| limit.parent.as_deref())
    }

    /// Cancels the limit, and thereby all its descendants. Async-signal-safe: uses atomic operations, getpid(2) in a
    /// new process, and at most one write(2); no lock and no allocation.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::SeqCst);
        // Pairs with the fence in `own_wake_fd`: either this call sees the new descriptor, or `own_wake_fd` sees the
        // flag.
        fence(Ordering::SeqCst);
        // Before the first wait no descriptor exists, and `Process::current` is possibly not async-signal-safe yet.
        if !self.own_wakes.is_empty()
            && let Some(wake) = self.own_wakes.for_process(Process::current())
        {
            wake.raise();
        }
    }

    /// Returns whether the limit or one of its ancestors was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.with_ancestors().any(|limit| limit.cancelled.load(Ordering::SeqCst))
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

    /// Calls the interrupt checks of the limit and its ancestors, until one of them fails. A thread whose wait was
    /// interrupted by a signal calls this function without holding a lock.
    pub(crate) fn check_interrupt(&self) -> Result<()> {
        self.with_ancestors().filter_map(|limit| limit.interrupt_check.as_ref()).try_for_each(|check| check())
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

    /// Returns a descriptor that becomes readable when the limit or one of its ancestors is cancelled. A waiting call
    /// polls the limit's descriptor together with the descriptor that it waits for.
    pub(crate) fn wake_fd(&self) -> Result<RawFd> {
        if self.parent.is_none() {
            return self.own_wake_fd();
        }
        let process = Process::current();
        if let Some(group) = self.group_wakes.for_process(process) {
            return Ok(group.as_raw_fd());
        }
        Ok(self.group_wakes.add(process, self.open_wake_fd()?).as_raw_fd())
    }

    /// Opens a new descriptor that becomes readable when the limit or one of its ancestors is cancelled.
    pub(crate) fn open_wake_fd(&self) -> Result<OwnedFd> {
        sys::open_poll_group(&self.own_wake_fds()?).map_err(|error| cannot_watch(&error))
    }

    /// Returns a descriptor that becomes readable when the limit ends: when the limit or one of its ancestors is
    /// cancelled, and at the deadline.
    pub(crate) fn end_fd(&self) -> Result<RawFd> {
        let Some(remaining) = self.remaining() else { return self.wake_fd() };
        let process = Process::current();
        if let Some(alarm) = self.alarms.for_process(process) {
            return Ok(alarm.fd());
        }
        let alarm = Alarm::open(&self.own_wake_fds()?, remaining).map_err(|error| cannot_watch(&error))?;
        Ok(self.alarms.add(process, alarm).fd())
    }

    /// Returns the descriptors of the limit and of its ancestors. A group watches these and not the `group_wakes`,
    /// because epoll instances can be nested only five levels deep, and the application may nest the group in further
    /// epoll instances.
    fn own_wake_fds(&self) -> Result<Vec<RawFd>> {
        self.with_ancestors().map(Limit::own_wake_fd).collect()
    }

    /// Returns a descriptor that becomes readable when this limit is cancelled.
    fn own_wake_fd(&self) -> Result<RawFd> {
        let process = Process::current();
        if let Some(wake) = self.own_wakes.for_process(process) {
            return Ok(wake.fd());
        }
        let wake = self.own_wakes.add(process, Wake::open()?);
        fence(Ordering::SeqCst);
        // The limit may have been cancelled before the descriptor was opened.
        if self.cancelled.load(Ordering::SeqCst) {
            wake.raise();
        }
        Ok(wake.fd())
    }
}

fn cannot_watch(error: &io::Error) -> Error {
    Error::from_io(Status::Io, "cannot watch the limit's descriptor", error)
}

impl fmt::Debug for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Limit { deadline, cancelled, parent, .. } = self;
        f.debug_tuple("Limit").field(&(deadline, cancelled, parent)).finish()
    }
}

/// Returns the time that is `seconds` from now; `None` for infinity, and for a time beyond the clock's range.
pub(crate) fn deadline_after(seconds: f64) -> Option<Instant> {
    Duration::try_from_secs_f64(seconds).ok().and_then(|wait| Instant::now().checked_add(wait))
}

/// Returns the earlier of two times. `None` stands for a time that never comes.
pub(crate) fn earlier(a: Option<Instant>, b: Option<Instant>) -> Option<Instant> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
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

    /// Returns `count` limits without a deadline. Each limit is the parent of the next limit.
    fn generations(count: usize) -> Vec<Arc<Limit>> {
        let mut family: Vec<Arc<Limit>> = Vec::new();
        for _ in 0..count {
            let limit = Limit::new(f64::INFINITY).unwrap().with_parent(family.last().cloned()).unwrap();
            family.push(Arc::new(limit));
        }
        family
    }

    #[test]
    fn cancelling_a_limit_cancels_its_descendants_but_not_its_ancestors() {
        for cancelled in 0..4 {
            for fds_are_open in [false, true] {
                let family = generations(4);
                if fds_are_open {
                    assert!(family.iter().all(|limit| !is_readable_now(limit.wake_fd().unwrap())));
                }
                family[cancelled].cancel();
                for (generation, limit) in family.iter().enumerate() {
                    let expected = generation >= cancelled;
                    let row = format!("generation {generation} after a cancel of generation {cancelled}");
                    assert_eq!(limit.is_cancelled(), expected, "{row}");
                    assert_eq!(is_readable_now(limit.wake_fd().unwrap()), expected, "{row}");
                    assert_eq!(is_readable_now(limit.open_wake_fd().unwrap().as_raw_fd()), expected, "{row}");
                }
            }
        }
    }

    #[test]
    fn the_earlier_of_the_parent_and_child_deadlines_applies_to_the_child() {
        for (parent, child, expected) in [
            (60.0, f64::INFINITY, Some(60)),
            (60.0, 600.0, Some(60)),
            (600.0, 60.0, Some(60)),
            (f64::INFINITY, 60.0, Some(60)),
            (f64::INFINITY, f64::INFINITY, None),
            (0.0, 60.0, Some(0)),
        ] {
            let parent = Arc::new(Limit::new(parent).unwrap());
            let child = Limit::new(child).unwrap().with_parent(Some(parent)).unwrap();
            let left = child.remaining().map(|left| left.as_secs_f64().ceil() as u64);
            assert_eq!(left, expected, "{child:?}");
        }
    }

    #[test]
    fn a_limit_with_8_ancestors_is_made_and_one_with_9_is_refused() {
        let family = generations(1 + MAX_ANCESTORS);
        let error = Limit::new(1.0).unwrap().with_parent(family.last().cloned()).unwrap_err();
        assert_eq!(error.status(), Status::InvalidArgument);
        assert_eq!(error.message(), "parent already has 8 ancestors, the maximum for a limit");
    }
}
