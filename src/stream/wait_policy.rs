//! Defines whether and how long a call on a stream may wait. The settings of the stream that the application calls
//! apply to all streams below it. A stream inside another stream begins with a copy of the other stream's limit and
//! timeouts.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::limit::Limit;
use crate::status::Status;

#[derive(Clone)]
pub(super) struct Settings {
    pub(super) blocking: bool,
    pub(super) read_timeout: Option<Duration>,
    pub(super) write_timeout: Option<Duration>,
    pub(super) limit: Option<Arc<Limit>>,
    /// The time at which the total timeout passes.
    pub(super) total_deadline: Option<Instant>,
}

/// Whether and how long a call may wait.
#[derive(Clone, Copy)]
pub(super) struct WaitPolicy<'a> {
    pub(super) blocking: bool,
    pub(super) settings: &'a Settings,
    /// Whether the minimum throughput that is set on the stream itself applies.
    pub(super) counts_throughput: bool,
    /// The end of the current throughput window. A wait that reaches this time fails with `NETLIB_TOO_SLOW`.
    pub(super) throughput_deadline: Option<Instant>,
}

/// The settings of a new stream that is not inside another stream: its calls wait without a time limit.
pub(super) static DEFAULT_SETTINGS: Settings =
    Settings { blocking: true, read_timeout: None, write_timeout: None, limit: None, total_deadline: None };

/// The settings of a call that never waits, whatever the settings of its stream are.
pub(super) static NO_WAITING: Settings =
    Settings { blocking: false, read_timeout: None, write_timeout: None, limit: None, total_deadline: None };

impl Settings {
    pub(super) fn wait_policy(&self) -> WaitPolicy<'_> {
        WaitPolicy { blocking: self.blocking, settings: self, counts_throughput: true, throughput_deadline: None }
    }
}

impl WaitPolicy<'_> {
    /// Returns a copy of the policy for a call that must not wait.
    pub(super) fn without_waiting(self) -> Self {
        WaitPolicy { blocking: false, ..self }
    }

    /// Returns whether a wait for input has neither timeout nor limit.
    pub(super) fn is_unbounded(self) -> bool {
        let Settings { read_timeout, limit, total_deadline, .. } = self.settings;
        let has_settings = read_timeout.is_some() || limit.is_some() || total_deadline.is_some();
        self.blocking && !has_settings && self.throughput_deadline.is_none()
    }

    /// Fails if the limit has ended, or with `timeout_status` if the total timeout has passed.
    pub(super) fn check_limit(self, timeout_status: Status) -> Result<()> {
        self.settings.limit.as_ref().map_or(Ok(()), |limit| limit.check())?;
        self.check_total(timeout_status)
    }

    /// Fails with `timeout_status` if the total timeout has passed.
    pub(super) fn check_total(self, timeout_status: Status) -> Result<()> {
        match self.total_time_left() {
            Some(Duration::ZERO) => Err(Error::new(timeout_status, "the total timeout has passed")),
            _ => Ok(()),
        }
    }

    /// Returns the time left of the total timeout.
    pub(super) fn total_time_left(self) -> Option<Duration> {
        self.settings.total_deadline.map(|at| at.saturating_duration_since(Instant::now()))
    }

    /// Returns a copy of the policy in which the minimum throughput that is set on the stream does not apply. The copy
    /// is for all calls except the application's reads.
    pub(super) fn without_throughput(self) -> Self {
        WaitPolicy { counts_throughput: false, ..self }
    }

    /// Returns the time left in the throughput window.
    pub(super) fn throughput_time_left(self) -> Option<Duration> {
        self.throughput_deadline.map(|at| at.saturating_duration_since(Instant::now()))
    }

    /// Fails if the window of the minimum throughput has ended. A stream below another stream calls this function
    /// before each further receive operation, because it enforces the minimum throughput of the stream above it, not
    /// the minimum that is set on itself.
    pub(super) fn check_throughput(self) -> Result<()> {
        if self.throughput_time_left() == Some(Duration::ZERO) { Err(too_slow()) } else { Ok(()) }
    }
}

/// Returns the error with which a stream below reports that the window has ended. The stream that enforces the minimum
/// replaces this error with an error that states the received and the required number of bytes.
pub(super) fn too_slow() -> Error {
    Error::new(Status::TooSlow, "data arrived more slowly than the configured minimum throughput")
}
