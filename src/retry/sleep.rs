//! How long to wait before the next request, and waiting that long.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::limit::{self, Limit};
use crate::memory;
use crate::response::Response;
use crate::retry::backoff::BackoffTime;
use crate::retry::outcome::Request;
use crate::retry::{LongRetryAfter, Retry, retry_after};
use crate::socket::wait::pause;
use crate::status::Status;

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

/// The server asks for more than `retry_after_max`, and that ends the retries: the seconds that it asks for.
pub(super) struct OverMaxWait(f64);

impl Delay {
    pub(super) const NONE: Delay = Delay { seconds: 0.0, reason: DelayReason::None, uncapped: 0.0 };

    /// The delay of a response that is returned because its Retry-After is more than `retry_after_max`: no wait
    /// follows.
    pub(super) fn refused(wait: &OverMaxWait) -> Delay {
        Delay { seconds: 0.0, reason: DelayReason::RetryAfter, uncapped: wait.0 }
    }
}

impl Retry {
    pub fn get_backoff_time(&self) -> Result<f64> {
        Ok(self.backoff_delay()?.seconds)
    }

    /// How many seconds from now a Retry-After value asks to wait. At most `retry_after_max`, unless a longer one ends
    /// the retries: then it is not capped.
    pub fn parse_retry_after(&self, value: &[u8]) -> Result<f64> {
        let asked = retry_after::parse(value, self.policy.callbacks.wall_clock.as_ref())?;
        Ok(self.policy.retry_after.bounded(asked))
    }

    /// As [`Retry::parse_retry_after`] for the response's header; `None` without one, or if it is malformed and that
    /// is ignored.
    pub fn get_retry_after(&self, response: &Response) -> Result<Option<f64>> {
        Ok(self.asked_by(response)?.map(|asked| self.policy.retry_after.bounded(asked)))
    }

    /// How long [`Retry::sleep`] would sleep, and why. A Retry-After that asks for no wait leaves the backoff.
    pub fn delay(&self, response: Option<&Response>) -> Result<Delay> {
        self.planned_delay(response)?.map_err(|wait| self.over_max_error(&Request::default(), response, &wait))
    }

    /// As [`Retry::delay`], but a Retry-After that ends the retries is a separate result.
    pub(super) fn planned_delay(
        &self,
        response: Option<&Response>,
    ) -> Result<std::result::Result<Delay, OverMaxWait>> {
        if let Some(response) = response
            && self.policy.retry_after.apply_to(i32::from(response.status()))
        {
            match self.retry_after_delay(response)? {
                Ok(delay) if delay.reason == DelayReason::None => {}
                delay => return Ok(delay),
            }
        }
        self.backoff_delay().map(Ok)
    }

    /// How long [`Retry::sleep_for_retry`] would sleep: what Retry-After asks for, whatever the status.
    pub(super) fn retry_after_delay(&self, response: &Response) -> Result<std::result::Result<Delay, OverMaxWait>> {
        let Some(asked) = self.asked_by(response)?.filter(|asked| *asked > 0.0) else { return Ok(Ok(Delay::NONE)) };
        let rules = &self.policy.retry_after;
        if rules.over_max == LongRetryAfter::Stop && asked > rules.max {
            return Ok(Err(OverMaxWait(asked)));
        }
        Ok(Ok(match rules.bounded(asked) {
            seconds if seconds > 0.0 => Delay { seconds, reason: DelayReason::RetryAfter, uncapped: asked },
            _ => Delay::NONE,
        }))
    }

    /// The `MaxRetry` error if a Retry-After ends the retries. It lends this Retry.
    pub(super) fn over_max_error(
        &self,
        request: &Request<'_>,
        response: Option<&Response>,
        wait: &OverMaxWait,
    ) -> Error {
        let milliseconds = |seconds: f64| (seconds * 1000.0).round() / 1000.0;
        let reason = format!(
            "the server answered {} and asks to wait {} s, more than retry_after_max, {} s",
            response.map_or(0, Response::status),
            milliseconds(wait.0),
            self.retry_after_max(),
        );
        let reason = Arc::new(Error::new(Status::ResponseStatus, reason));
        self.clone().into_max_retry_error("the retries end", request, reason)
    }

    /// Whether the response has a Retry-After; an ignored malformed one does not count. It is parsed only if it decides
    /// about a retry, because a date needs the clock, which may fail.
    pub(super) fn has_retry_after(&self, response: &Response) -> Result<bool> {
        let rules = &self.policy.retry_after;
        if rules.ignore_malformed && rules.make_retryable(i32::from(response.status())) {
            return Ok(self.asked_by(response)?.is_some());
        }
        Ok(response.headers().get("retry-after").is_some_and(|value| !value.is_empty()))
    }

    pub fn sleep(&self, response: Option<&Response>, limit: Option<&Limit>) -> Result<()> {
        self.wait(self.delay(response)?, limit)
    }

    /// Sleeps as long as Retry-After asks; says whether it asked for any wait.
    pub fn sleep_for_retry(&self, response: Option<&Response>, limit: Option<&Limit>) -> Result<bool> {
        let delay = response.map_or(Ok(Ok(Delay::NONE)), |response| self.retry_after_delay(response))?;
        let delay = delay.map_err(|wait| self.over_max_error(&Request::default(), response, &wait))?;
        self.wait(delay, limit)?;
        Ok(delay.reason == DelayReason::RetryAfter)
    }

    fn backoff_delay(&self) -> Result<Delay> {
        let failures = self.history.consecutive_failures();
        let random = self.policy.callbacks.random.as_ref();
        let BackoffTime { seconds, uncapped } = self.policy.backoff.time(failures, self.backoff_draw, random)?;
        let reason = if seconds > 0.0 { DelayReason::Backoff } else { DelayReason::None };
        Ok(Delay { seconds, reason, uncapped })
    }

    /// How many seconds the Retry-After of a response asks for; `None` without one that counts.
    fn asked_by(&self, response: &Response) -> Result<Option<f64>> {
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
        let value = if joined.is_empty() { first } else { &joined };
        self.policy.retry_after.read(value, self.policy.callbacks.wall_clock.as_ref())
    }

    /// Fails as the limit does, with the attempts so far as causes.
    pub(super) fn wait(&self, delay: Delay, limit: Option<&Limit>) -> Result<()> {
        self.pause_for(delay, limit).map_err(|error| self.history.explain(error))
    }

    fn pause_for(&self, delay: Delay, limit: Option<&Limit>) -> Result<()> {
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
