//! Computes the delay before the next request, and sleeps for it.

use std::cell::OnceCell;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::limit::{self, Limit};
use crate::memory;
use crate::response::Response;
use crate::retry::backoff::BackoffTime;
use crate::retry::outcome::Request;
use crate::retry::pushback::Pushback;
use crate::retry::{LongRetryAfter, PushbackKind, Retry, retry_after};
use crate::socket::wait::sleep_until;
use crate::status::Status;

/// The reason of a delay.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DelayReason {
    None = 0,
    Backoff = 1,
    RetryAfter = 2,
    Pushback = 3,
}

/// The time to wait before the next request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Delay {
    pub seconds: f64,
    pub reason: DelayReason,
    /// The seconds before they are capped at `backoff_max` or `retry_after_max`.
    pub uncapped: f64,
}

/// A request of the server that ends the retries.
pub(super) enum ServerStop {
    /// A wait of more than `retry_after_max` seconds, not capped.
    LongWait(f64, DelayReason),
    /// A pushback header that asks not to retry.
    DoNotRetry,
}

/// The Retry-After header of a response. A decision parses the header at most once, and only if the decision depends on
/// its value: parsing a date reads the clock, which may fail.
pub(super) struct RetryAfterHeader<'a> {
    response: &'a Response,
    /// The requested seconds, set by the first parse. `None` if there is no header, or if the policy ignores a
    /// malformed value.
    seconds: OnceCell<Option<f64>>,
}

impl<'a> RetryAfterHeader<'a> {
    pub(super) fn new(response: &'a Response) -> RetryAfterHeader<'a> {
        RetryAfterHeader { response, seconds: OnceCell::new() }
    }

    fn status(&self) -> i32 {
        i32::from(self.response.status())
    }

    /// Returns the requested seconds. The first call parses the value as the policy of `retry` requires.
    fn seconds(&self, retry: &Retry) -> Result<Option<f64>> {
        if let Some(seconds) = self.seconds.get() {
            return Ok(*seconds);
        }
        let seconds = retry.requested_seconds(self.response)?;
        Ok(*self.seconds.get_or_init(|| seconds))
    }
}

impl Delay {
    pub(super) const NONE: Delay = Delay { seconds: 0.0, reason: DelayReason::None, uncapped: 0.0 };

    /// Returns the delay of 0 seconds for a response that is returned because the server ended the retries.
    pub(super) fn stopped(stop: &ServerStop) -> Delay {
        match *stop {
            ServerStop::LongWait(uncapped, reason) => Delay { seconds: 0.0, reason, uncapped },
            ServerStop::DoNotRetry => Delay { seconds: 0.0, reason: DelayReason::Pushback, uncapped: f64::INFINITY },
        }
    }
}

impl Retry {
    pub fn get_backoff_time(&self) -> Result<f64> {
        Ok(self.backoff_delay()?.seconds)
    }

    /// Returns the number of seconds from now for which a Retry-After value asks the client to wait, capped at
    /// `retry_after_max`. If the policy ends the retries at longer waits, the seconds are not capped.
    pub fn parse_retry_after(&self, value: &[u8]) -> Result<f64> {
        let seconds = retry_after::parse(value, self.policy.callbacks.wall_clock.as_ref())?;
        Ok(self.policy.retry_after.capped(seconds))
    }

    /// Does what [`Retry::parse_retry_after`] does, for the Retry-After header of a response. `None` if the response
    /// has no Retry-After header, or if the policy ignores a malformed header.
    pub fn get_retry_after(&self, response: &Response) -> Result<Option<f64>> {
        Ok(self.requested_seconds(response)?.map(|seconds| self.policy.retry_after.capped(seconds)))
    }

    /// Returns the delay that [`Retry::sleep`] waits for: the wait that the response requests with the pushback header
    /// or with Retry-After, or the backoff if the response requests no wait.
    pub fn delay(&self, response: Option<&Response>) -> Result<Delay> {
        let header = response.map(RetryAfterHeader::new);
        self.planned_delay(header.as_ref())?
            .map_err(|stop| self.server_stop_error(&Request::default(), response, &stop))
    }

    /// Does what [`Retry::delay`] does, but returns a request that ends the retries as a `ServerStop` and not as an
    /// error. `header` is `None` without a response.
    pub(super) fn planned_delay(
        &self,
        header: Option<&RetryAfterHeader<'_>>,
    ) -> Result<std::result::Result<Delay, ServerStop>> {
        let Some(header) = header else { return self.backoff_delay().map(Ok) };
        let requested = match self.pushback_delay(header.response) {
            Some(requested) => requested,
            None if self.policy.retry_after.applies_to(header.status()) => self.retry_after_delay(header)?,
            None => Ok(Delay::NONE),
        };
        match requested {
            Ok(delay) if delay.reason == DelayReason::None => self.backoff_delay().map(Ok),
            Ok(delay) => self.clamped(delay).map(Ok),
            Err(stop) => Ok(Err(stop)),
        }
    }

    /// Clamps the wait that the server requested: to at least the backoff, and to at most the backoff plus the clamp.
    pub(super) fn clamped(&self, requested: Delay) -> Result<Delay> {
        let Some(more) = self.policy.retry_after.clamp else { return Ok(requested) };
        let backoff = self.backoff_delay()?;
        if requested.seconds <= backoff.seconds {
            return Ok(backoff);
        }
        Ok(Delay { seconds: requested.seconds.min(backoff.seconds + more), ..requested })
    }

    /// Returns the wait that the response requests with the pushback header. `None` if the response has no such header,
    /// or a value that is ignored.
    fn pushback_delay(&self, response: &Response) -> Option<std::result::Result<Delay, ServerStop>> {
        let header = self.policy.pushback.as_ref().filter(|_| response.redirect_location().is_none())?;
        match header.read(response)? {
            Pushback::DoNotRetry => Some(Err(ServerStop::DoNotRetry)),
            // AWS's SDKs never wait less than the backoff; gRPC retries at once.
            Pushback::Wait(0.0) if header.kind() == PushbackKind::Milliseconds => Some(Ok(Delay::NONE)),
            Pushback::Wait(seconds) => Some(self.within_max(seconds, DelayReason::Pushback)),
        }
    }

    /// Applies `retry_after_max` to the wait that the server requested.
    fn within_max(&self, requested: f64, reason: DelayReason) -> std::result::Result<Delay, ServerStop> {
        let rules = &self.policy.retry_after;
        if rules.over_max == LongRetryAfter::Stop && requested > rules.max {
            return Err(ServerStop::LongWait(requested, reason));
        }
        Ok(Delay { seconds: rules.capped(requested), reason, uncapped: requested })
    }

    /// Returns the delay that [`Retry::sleep_for_retry`] waits for: the Retry-After of a response with any status.
    pub(super) fn retry_after_delay(
        &self,
        header: &RetryAfterHeader<'_>,
    ) -> Result<std::result::Result<Delay, ServerStop>> {
        let Some(requested) = header.seconds(self)?.filter(|seconds| *seconds > 0.0) else {
            return Ok(Ok(Delay::NONE));
        };
        Ok(match self.within_max(requested, DelayReason::RetryAfter) {
            Ok(delay) if delay.seconds <= 0.0 => Ok(Delay::NONE),
            delay => delay,
        })
    }

    /// Makes the `MaxRetry` error for a server that ended the retries. [`Retry::from_error`] returns this Retry from
    /// the error.
    pub(super) fn server_stop_error(
        &self,
        request: &Request<'_>,
        response: Option<&Response>,
        stop: &ServerStop,
    ) -> Error {
        let status = response.map(Response::status);
        let answer = format!("the server answered {}", status.unwrap_or_default());
        let pushback = self.pushback_header().map(|header| header.name().to_string_lossy()).unwrap_or_default();
        let reason = match stop {
            ServerStop::DoNotRetry => format!("{answer} and asked not to retry, with the header {pushback}"),
            ServerStop::LongWait(seconds, reason) => {
                let header = if *reason == DelayReason::Pushback { &*pushback } else { "Retry-After" };
                let seconds = (seconds * 1000.0).round() / 1000.0;
                let max = self.retry_after_max();
                format!("{answer} with a {header} of {seconds} s, more than retry_after_max ({max} s)")
            }
        };
        let reason = Arc::new(Error::new(Status::ResponseStatus, reason).with_http_status(status));
        self.clone().into_max_retry_error("the retries end", request, reason)
    }

    /// Returns whether the response has a Retry-After header that the policy does not ignore as malformed. The value is
    /// parsed only if it decides whether the request is retried.
    pub(super) fn has_retry_after(&self, header: &RetryAfterHeader<'_>) -> Result<bool> {
        let rules = &self.policy.retry_after;
        if rules.ignore_malformed && rules.causes_retry(header.status()) {
            return Ok(header.seconds(self)?.is_some());
        }
        Ok(header.response.has_retry_after())
    }

    pub fn sleep(&self, response: Option<&Response>, limit: Option<&Limit>) -> Result<()> {
        self.wait_for_delay(self.delay(response)?, limit)
    }

    /// Sleeps for the time that the response's Retry-After requests. Returns whether Retry-After requested a wait.
    pub fn sleep_for_retry(&self, response: Option<&Response>, limit: Option<&Limit>) -> Result<bool> {
        let header = response.map(RetryAfterHeader::new);
        let delay = header.map_or(Ok(Ok(Delay::NONE)), |header| self.retry_after_delay(&header))?;
        let delay = delay.map_err(|stop| self.server_stop_error(&Request::default(), response, &stop))?;
        self.wait_for_delay(delay, limit)?;
        Ok(delay.reason == DelayReason::RetryAfter)
    }

    fn backoff_delay(&self) -> Result<Delay> {
        let failures = self.history.consecutive_failures();
        let random = self.policy.callbacks.random.as_ref();
        let BackoffTime { seconds, uncapped } = self.next_backoff().time(failures, self.backoff_draw, random)?;
        let reason = if seconds > 0.0 { DelayReason::Backoff } else { DelayReason::None };
        Ok(Delay { seconds, reason, uncapped })
    }

    /// Parses the Retry-After header of a response. `None` if the response has no Retry-After header, or if the policy
    /// ignores a malformed header.
    fn requested_seconds(&self, response: &Response) -> Result<Option<f64>> {
        // Several Retry-After fields form one list joined with commas, which is malformed.
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
        self.policy.retry_after.read(value, self.policy.callbacks.wall_clock.as_ref()).map_err(|error| {
            let is_malformed = error.status() == Status::InvalidHeader;
            error.with_http_status(is_malformed.then(|| response.status()))
        })
    }

    /// Waits for the delay. If the limit ends the wait, the causes of the error are the attempts in the history.
    pub(super) fn wait_for_delay(&self, delay: Delay, limit: Option<&Limit>) -> Result<()> {
        self.sleep_within(delay, limit).map_err(|error| self.history.with_attempts(error))
    }

    fn sleep_within(&self, delay: Delay, limit: Option<&Limit>) -> Result<()> {
        limit.map_or(Ok(()), Limit::check)?;
        if delay.seconds <= 0.0 {
            return Ok(());
        }
        match &self.policy.callbacks.sleep {
            Some(sleep) => {
                sleep(delay.seconds)?;
                limit.map_or(Ok(()), Limit::check)
            }
            None => sleep_until(limit::deadline_after(delay.seconds), limit),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_sleep_ends_after_its_delay_or_when_the_limit_ends() {
        sleep_until(limit::deadline_after(0.001), None).unwrap();
        sleep_until(limit::deadline_after(0.001), Some(&Limit::new(60.0).unwrap())).unwrap();
        let soon = Limit::new(0.001).unwrap();
        assert_eq!(
            sleep_until(limit::deadline_after(60.0), Some(&soon)).unwrap_err().status(),
            Status::DeadlineExceeded
        );
        assert_eq!(
            sleep_until(limit::deadline_after(f64::INFINITY), Some(&soon)).unwrap_err().status(),
            Status::DeadlineExceeded
        );
        let limit = Arc::new(Limit::new(f64::INFINITY).unwrap());
        let other = Arc::clone(&limit);
        let canceller = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(5));
            other.cancel();
        });
        assert_eq!(
            sleep_until(limit::deadline_after(f64::INFINITY), Some(&limit)).unwrap_err().status(),
            Status::Cancelled
        );
        canceller.join().unwrap();
    }
}
