//! How long to wait before the next request, and waiting that long.

use crate::error::Result;
use crate::limit::{self, Limit};
use crate::memory;
use crate::response::Response;
use crate::retry::{RETRY_AFTER_STATUS_CODES, Retry, retry_after};
use crate::socket::wait::pause;

/// Why there is a wait.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DelayReason {
    None = 0,
    Backoff = 1,
    RetryAfter = 2,
}

/// A wait before the next request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Delay {
    pub seconds: f64,
    pub reason: DelayReason,
    /// What it would be without `backoff_max` or `retry_after_max`.
    pub uncapped: f64,
}

impl Delay {
    pub(super) const NONE: Delay = Delay { seconds: 0.0, reason: DelayReason::None, uncapped: 0.0 };
}

impl Retry {
    pub fn get_backoff_time(&self) -> Result<f64> {
        Ok(self.backoff_delay()?.seconds)
    }

    /// How many seconds from now a Retry-After value asks to wait, at most `retry_after_max`.
    pub fn parse_retry_after(&self, value: &[u8]) -> Result<f64> {
        Ok(self.bounded_retry_after(value)?.seconds)
    }

    /// As [`Retry::parse_retry_after`] for the response's header; `None` without one.
    pub fn get_retry_after(&self, response: &Response) -> Result<Option<f64>> {
        Ok(self.retry_after_of(response)?.map(|delay| delay.seconds))
    }

    /// How long [`Retry::sleep`] would sleep, and why. A Retry-After that asks for no wait leaves the backoff.
    pub fn delay(&self, response: Option<&Response>) -> Result<Delay> {
        if let Some(response) = response
            && self.policy.respect_retry_after_header
            && RETRY_AFTER_STATUS_CODES.contains(&i32::from(response.status()))
        {
            let delay = self.retry_after_delay(response)?;
            if delay.reason == DelayReason::RetryAfter {
                return Ok(delay);
            }
        }
        self.backoff_delay()
    }

    /// How long [`Retry::sleep_for_retry`] would sleep: what Retry-After asks for, whatever the status.
    pub(super) fn retry_after_delay(&self, response: &Response) -> Result<Delay> {
        Ok(self.retry_after_of(response)?.filter(|delay| delay.seconds > 0.0).unwrap_or(Delay::NONE))
    }

    pub fn sleep(&self, response: Option<&Response>, limit: Option<&Limit>) -> Result<()> {
        self.wait(self.delay(response)?, limit)
    }

    /// Sleeps as long as Retry-After asks; says whether it asked for any wait.
    pub fn sleep_for_retry(&self, response: Option<&Response>, limit: Option<&Limit>) -> Result<bool> {
        let delay = response.map_or(Ok(Delay::NONE), |response| self.retry_after_delay(response))?;
        self.wait(delay, limit)?;
        Ok(delay.reason == DelayReason::RetryAfter)
    }

    fn backoff_delay(&self) -> Result<Delay> {
        let failures = self.history.consecutive_failures();
        let uncapped = self.policy.backoff.uncapped(failures, self.policy.callbacks.random.as_ref())?;
        let seconds = self.policy.backoff.cap(uncapped);
        let reason = if seconds > 0.0 { DelayReason::Backoff } else { DelayReason::None };
        Ok(Delay { seconds, reason, uncapped })
    }

    fn retry_after_of(&self, response: &Response) -> Result<Option<Delay>> {
        // Fields of one name are one list, in which a second value makes the first no number.
        let mut values = response.headers().get_all("retry-after").map(|value| value.to_bytes());
        let Some(first) = values.next() else { return Ok(None) };
        let mut joined = Vec::new();
        for value in values {
            let before = if joined.is_empty() { first } else { &[] };
            memory::grow(&mut joined, before.len() + 2 + value.len(), "a Retry-After")?;
            joined.extend_from_slice(before);
            joined.extend_from_slice(b", ");
            joined.extend_from_slice(value);
        }
        self.bounded_retry_after(if joined.is_empty() { first } else { &joined }).map(Some)
    }

    fn bounded_retry_after(&self, value: &[u8]) -> Result<Delay> {
        let uncapped = retry_after::parse(value, self.policy.callbacks.wall_clock.as_ref())?;
        Ok(Delay { seconds: uncapped.min(self.policy.retry_after_max), reason: DelayReason::RetryAfter, uncapped })
    }

    pub(super) fn wait(&self, delay: Delay, limit: Option<&Limit>) -> Result<()> {
        limit.map_or(Ok(()), Limit::check)?;
        if delay.seconds <= 0.0 {
            return Ok(());
        }
        match &self.policy.callbacks.sleep {
            Some(sleep) => {
                sleep(delay.seconds)?;
                limit.map_or(Ok(()), Limit::check)
            }
            None => pause(limit::deadline_after(delay.seconds), limit),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::Status;
    use std::sync::Arc;
    use std::time::Duration;

    #[test]
    fn a_pause_ends_for_the_first_of_its_reasons() {
        pause(limit::deadline_after(0.001), None).unwrap();
        pause(limit::deadline_after(0.001), Some(&Limit::new(60.0).unwrap())).unwrap();
        let soon = Limit::new(0.001).unwrap();
        assert_eq!(pause(limit::deadline_after(60.0), Some(&soon)).unwrap_err().status(), Status::DeadlineExceeded);
        assert_eq!(
            pause(limit::deadline_after(f64::INFINITY), Some(&soon)).unwrap_err().status(),
            Status::DeadlineExceeded
        );
        let limit = Arc::new(Limit::new(f64::INFINITY).unwrap());
        let other = Arc::clone(&limit);
        let canceller = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(5));
            other.cancel();
        });
        assert_eq!(
            pause(limit::deadline_after(f64::INFINITY), Some(&limit)).unwrap_err().status(),
            Status::Cancelled
        );
        canceller.join().unwrap();
    }
}
