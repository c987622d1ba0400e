//! Decides what to do after a request: return the response, send the request again, or follow the redirect. A caller
//! could make the same decision with the public functions of [`Retry`].

use std::ffi::{CStr, CString};
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::headers::Headers;
use crate::limit::Limit;
use crate::overload::Report;
use crate::overload::budget::Kind;
use crate::response::Response;
use crate::retry::delay::RetryAfterHeader;
use crate::retry::outcome::{Counter, Outcome, Request, RequestUrl};
use crate::retry::redirect::{self, DroppedHeaders, Hop};
use crate::retry::{Delay, Retry, name_set};
use crate::status::Status;
use crate::url::Url;

/// The action that the caller takes next.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    ReturnResponse = 0,
    Retry = 1,
    Redirect = 2,
}

/// The action that the caller takes next, with the data that it needs: the Retry, the delay, and the next request.
#[derive(Clone, Debug)]
pub struct Decision {
    action: Action,
    retry: Arc<Retry>,
    counter: Counter,
    throttled: bool,
    denied: Option<Arc<Error>>,
    delay: Delay,
    url: Url,
    method: CString,
    resend_body: bool,
    dropped_headers: DroppedHeaders,
}

impl Decision {
    pub fn action(&self) -> Action {
        self.action
    }

    /// Returns the Retry for the next request; if the response is returned, the Retry that made the decision.
    pub fn retry(&self) -> &Arc<Retry> {
        &self.retry
    }

    /// Returns the counter that the decision decremented. If the response is returned because no further request is
    /// allowed, returns the counter that a further request would have decremented.
    pub fn counter(&self) -> Counter {
        self.counter
    }

    /// Returns whether the outcome asked the client to slow down.
    pub fn is_throttled(&self) -> bool {
        self.throttled
    }

    /// Returns the error of the budget that denied a retry; `None` if no budget denied one.
    pub fn denied(&self) -> Option<&Arc<Error>> {
        self.denied.as_ref()
    }

    pub fn delay(&self) -> &Delay {
        &self.delay
    }

    pub fn url(&self) -> &Url {
        &self.url
    }

    pub fn method(&self) -> &CStr {
        &self.method
    }

    pub fn resend_body(&self) -> bool {
        self.resend_body
    }

    pub fn dropped_headers(&self) -> &DroppedHeaders {
        &self.dropped_headers
    }

    /// Returns whether [`Decision::sleep`] may call a callback.
    pub fn may_call_back(&self) -> bool {
        self.retry.may_call_back()
    }

    /// Waits for the delay of the decision. Fails if the limit ends the wait.
    pub fn sleep(&self, limit: Option<&Limit>) -> Result<()> {
        self.retry.wait_for_delay(self.delay, limit).map_err(Error::never_retried)
    }

    /// Returns the headers of the next request: `request_headers`, which are those of the last request or of the first
    /// one, without the dropped headers.
    pub fn headers(&self, request_headers: &Headers) -> Result<Headers> {
        request_headers.without(|name| self.dropped_headers.contains(name.as_bytes()))
    }
}

/// A request and its outcome.
#[derive(Clone, Copy)]
pub struct Attempt<'a> {
    pub method: &'a CStr,
    pub url: &'a Url,
    pub response: Option<&'a Response>,
    pub error: Option<&'a Arc<Error>>,
}

impl<'a> Attempt<'a> {
    fn request(&self) -> Request<'a> {
        Request { method: Some(self.method), url: Some(RequestUrl::Parsed(self.url)) }
    }
}

impl Retry {
    /// Decides what the caller does after `attempt`. If no further request is allowed, fails with `MaxRetry` or the
    /// error of the attempt, or decides to return the response, as the policy says. Fails with `UnsafeRedirect` if the
    /// redirect profile refuses the redirect, and with `Cancelled` or `DeadlineExceeded` if the limit leaves no time
    /// for the delay.
    pub fn decide(self: &Arc<Retry>, attempt: Attempt<'_>, limit: Option<&Limit>) -> Result<Decision> {
        name_set::check_token("method", attempt.method)?;
        let outcome = Outcome::new(attempt.response, attempt.error);
        if let Outcome::Unknown = outcome {
            return Err(Error::new(
                Status::InvalidArgument,
                "response and error are both NULL: there is nothing to decide",
            ));
        }
        self.report_to_budget(attempt.url, &outcome, self.report_of(&outcome))?;
        self.decide_reported(attempt, limit)
    }

    /// Decides as [`Retry::decide`], about a request whose outcome the budget already knows.
    pub(crate) fn decide_reported(
        self: &Arc<Retry>,
        attempt: Attempt<'_>,
        limit: Option<&Limit>,
    ) -> Result<Decision> {
        let outcome = Outcome::new(attempt.response, attempt.error);
        let report = self.report_of(&outcome);
        if let Some(error) = self.uncounted_error(&outcome, Some(attempt.method)) {
            return Err(error);
        }
        // An error of the decision itself ends the retries. If the caller passes this error to another decision, it
        // must not count as the failure of another request.
        self.decide_outcome(&attempt, &outcome, report, limit).map_err(|error| match attempt.response {
            Some(_) => error.after_request_was_sent().never_retried(),
            None => error.never_retried(),
        })
    }

    fn decide_outcome(
        self: &Arc<Retry>,
        attempt: &Attempt<'_>,
        outcome: &Outcome<'_>,
        report: Report,
        limit: Option<&Limit>,
    ) -> Result<Decision> {
        let mut decision = match outcome {
            Outcome::Redirect(response, _) | Outcome::Answered(response) => {
                self.decide_response(attempt, outcome, response)?
            }
            Outcome::Failed(_) | Outcome::Unknown => {
                let next = self.count(&attempt.request(), outcome)?;
                let delay = next.delay(None)?;
                next.resend(attempt, outcome.counter(), delay)?
            }
        };
        if decision.action != Action::ReturnResponse {
            check_time(&decision.delay, limit).map_err(|error| decision.retry.history().with_attempts(error))?;
        }
        // The budget is asked last, so that a retry that does not take place costs nothing.
        if decision.action == Action::Retry {
            decision = self.ask_budget(decision, attempt, outcome, report, limit)?;
        }
        Ok(Decision { throttled: report == Report::Throttled, ..decision })
    }

    /// Reports the outcome of a request to the budget: the outcome of a retry ends its lease, and any other request
    /// counts as a first attempt.
    fn report_to_budget(&self, url: &Url, outcome: &Outcome<'_>, report: Report) -> Result<()> {
        match (&self.lease, &self.policy.budget) {
            // A redirect does not return the cost of a retry: otherwise, a server that answers retries with redirects,
            // and the redirected requests with failures, would keep the budget full.
            (Some(lease), _) if outcome.location().is_some() => lease.report(Report::None),
            (Some(lease), _) => lease.report(report),
            (None, Some(attached)) => attached.record_request(url, report)?,
            (None, None) => {}
        }
        Ok(())
    }

    /// Asks the budget for the retry of a decision. If the budget denies the retry, decides as if the retries were used
    /// up.
    fn ask_budget(
        self: &Arc<Retry>,
        mut decision: Decision,
        attempt: &Attempt<'_>,
        outcome: &Outcome<'_>,
        report: Report,
        limit: Option<&Limit>,
    ) -> Result<Decision> {
        let Some(attached) = &self.policy.budget else { return Ok(decision) };
        let kind = if report == Report::Throttled { Kind::Throttling } else { Kind::Transient };
        let denied = match attached.ask(attempt.url, kind, limit) {
            Ok(lease) => {
                Arc::make_mut(&mut decision.retry).lease = Some(Arc::new(lease));
                return Ok(decision);
            }
            Err(error) if matches!(error.status(), Status::RetryBudgetEmpty | Status::StoreUnavailable) => {
                Arc::new(error)
            }
            Err(error) => return Err(decision.retry.history().with_attempts(error)),
        };
        if outcome.error().is_none() && !self.raise_on_status() {
            let decision = self.return_response(attempt, decision.counter, Delay::NONE)?;
            return Ok(Decision { denied: Some(denied), ..decision });
        }
        let next = Arc::unwrap_or_clone(decision.retry);
        let how = "the retry budget allows no further retry";
        Err(next.into_max_retry_error(how, &attempt.request(), outcome.to_error("")).with_cause(denied))
    }

    fn decide_response(
        self: &Arc<Retry>,
        attempt: &Attempt<'_>,
        outcome: &Outcome<'_>,
        response: &Response,
    ) -> Result<Decision> {
        let (status, location) = (response.status(), outcome.location());
        let header = RetryAfterHeader::new(response);
        let raises = if location.is_some() {
            self.raise_on_redirect()
        } else if self.is_retryable(attempt.method, i32::from(status), self.has_retry_after(&header)?) {
            self.raise_on_status()
        } else {
            return self.return_response(attempt, Counter::None, Delay::NONE);
        };
        let counter = outcome.counter();
        if self.is_disabled() {
            return self.return_response(attempt, counter, Delay::NONE);
        }
        let request = attempt.request();
        let next = match self.count(&request, outcome) {
            Err(error) if error.status() == Status::MaxRetry && !raises => {
                return self.return_response(attempt, counter, Delay::NONE);
            }
            next => next?,
        };
        let hop = location
            .map(|location| redirect::follow(self.redirect_profile(), attempt.method, attempt.url, status, location))
            .transpose()
            .map_err(|error| error.with_http_status(Some(status)))?;
        let delay = match hop {
            Some(_) => match next.retry_after_delay(&header)? {
                Ok(delay) => Ok(next.clamped(delay)?),
                Err(stop) => Err(stop),
            },
            None => next.planned_delay(Some(&header))?,
        };
        match (delay, hop) {
            (Err(stop), _) if raises => Err(next.server_stop_error(&request, Some(response), &stop)),
            (Err(stop), _) => self.return_response(attempt, counter, Delay::stopped(&stop)),
            (Ok(delay), Some(hop)) => next.follow(hop, delay),
            (Ok(delay), None) => next.resend(attempt, counter, delay),
        }
    }

    fn return_response(self: &Arc<Retry>, attempt: &Attempt<'_>, counter: Counter, delay: Delay) -> Result<Decision> {
        Ok(Decision {
            action: Action::ReturnResponse,
            retry: Arc::clone(self),
            counter,
            throttled: false,
            denied: None,
            delay,
            url: attempt.url.clone(),
            method: name_set::copy(attempt.method)?,
            resend_body: false,
            dropped_headers: self.headers_to_drop(None)?,
        })
    }

    /// Makes the decision to send the same request again. `self` is the Retry for the repeated request.
    fn resend(self, attempt: &Attempt<'_>, counter: Counter, delay: Delay) -> Result<Decision> {
        Ok(Decision {
            action: Action::Retry,
            counter,
            throttled: false,
            denied: None,
            delay,
            url: attempt.url.clone(),
            method: name_set::copy(attempt.method)?,
            resend_body: self.chain.resends_body(),
            dropped_headers: self.headers_to_drop(None)?,
            retry: Arc::new(self),
        })
    }

    /// Makes the decision to follow a redirect. `self` is the Retry for the request to the new URL.
    fn follow(mut self, hop: Hop, delay: Delay) -> Result<Decision> {
        self.chain = self.chain.after(&hop);
        Ok(Decision {
            action: Action::Redirect,
            counter: Counter::Redirect,
            throttled: false,
            denied: None,
            delay,
            dropped_headers: self.headers_to_drop(Some(&hop))?,
            resend_body: self.chain.resends_body(),
            url: hop.url,
            method: hop.method,
            retry: Arc::new(self),
        })
    }
}

/// Fails if the limit would end before the delay does, so that the caller does not wait for a request that it cannot
/// send.
fn check_time(delay: &Delay, limit: Option<&Limit>) -> Result<()> {
    let Some(limit) = limit else { return Ok(()) };
    limit.check_cancelled()?;
    match limit.remaining() {
        Some(left) if left.as_secs_f64() <= delay.seconds => Err(Error::new(
            Status::DeadlineExceeded,
            format!(
                "the delay before the next request is {} s, but the limit ends in {:.3} s",
                delay.seconds,
                left.as_secs_f64()
            ),
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::headers::HeadersBuilder;
    use crate::retry::{Count, DelayReason, RetryOptions};
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn url() -> Url {
        Url::parse(b"http://user:pa55word@h/p?key=secret").unwrap()
    }

    fn answer(status: u16, fields: &[(&str, &str)]) -> Response {
        let mut headers = HeadersBuilder::new();
        for (name, value) in fields {
            headers.add(name.as_bytes(), value.as_bytes()).unwrap();
        }
        Response::new("GET", status, Arc::new(headers.build())).unwrap()
    }

    fn policy(set: impl FnOnce(&mut RetryOptions)) -> Arc<Retry> {
        let mut options = RetryOptions::default();
        options.set_status_forcelist(&[500]).unwrap();
        set(&mut options);
        Arc::new(Retry::new(options))
    }

    fn after(
        retry: &Arc<Retry>,
        response: Option<&Response>,
        error: Option<Error>,
        limit: Option<&Limit>,
    ) -> Result<Decision> {
        let error = error.map(Arc::new);
        retry.decide(Attempt { method: c"GET", url: &url(), response, error: error.as_ref() }, limit)
    }

    fn causes(error: &Error) -> Vec<&str> {
        error.causes().iter().map(|cause| cause.message()).collect()
    }

    #[test]
    fn a_decision_states_the_reason_of_its_delay() {
        let retry = policy(|o| o.set_backoff_factor(1.0).unwrap());
        let broken = || Some(Error::new(Status::Protocol, "broken"));
        let first = after(&retry, None, broken(), None).unwrap();
        assert_eq!((first.action(), first.counter()), (Action::Retry, Counter::Read));
        assert_eq!(first.delay().reason, DelayReason::None);
        let second = after(first.retry(), None, broken(), None).unwrap();
        assert_eq!((second.delay().seconds, second.delay().reason), (2.0, DelayReason::Backoff));
        let busy = answer(503, &[("Retry-After", "100000")]);
        let third = after(second.retry(), Some(&busy), None, None).unwrap();
        assert_eq!(third.counter(), Counter::Status);
        assert_eq!(*third.delay(), Delay { seconds: 21_600.0, reason: DelayReason::RetryAfter, uncapped: 100_000.0 });
        let moved = answer(302, &[("Location", "/x"), ("Retry-After", "3")]);
        let fourth = after(third.retry(), Some(&moved), None, None).unwrap();
        assert_eq!((fourth.delay().seconds, fourth.delay().reason), (3.0, DelayReason::RetryAfter));
        // A redirect resets the count of consecutive failures, so the first failure after the redirect has a backoff of
        // 0.
        let fifth = after(fourth.retry(), None, broken(), None).unwrap();
        assert_eq!(fifth.delay().seconds, 0.0);
    }

    #[test]
    fn a_decision_fails_if_retry_after_is_malformed() {
        let retry = policy(|_| {});
        for fields in [&[("Retry-After", "soon")][..], &[("Retry-After", "1"), ("retry-after", "2")]] {
            let error = after(&retry, Some(&answer(503, fields)), None, None).unwrap_err();
            assert_eq!(error.status(), Status::InvalidHeader);
        }
        let ignored = policy(|o| o.set_respect_retry_after_header(false));
        let decision = after(&ignored, Some(&answer(503, &[("Retry-After", "soon")])), None, None).unwrap();
        assert_eq!(decision.action(), Action::ReturnResponse);
        let other_status = after(&retry, Some(&answer(500, &[("Retry-After", "soon")])), None, None).unwrap();
        assert_eq!((other_status.action(), other_status.delay().seconds), (Action::Retry, 0.0));
    }

    #[test]
    fn a_decision_reads_the_clock_at_most_once() {
        let date = &[("Retry-After", "Sun, 06 Nov 1994 08:49:40 GMT")][..];
        for (ignore_malformed, status, fields, readings, seconds) in [
            (false, 503, date, 1, 3.0),
            (true, 503, date, 1, 3.0),
            (true, 503, &[("Retry-After", "3")], 0, 3.0),
            // A Retry-After alone causes a retry only for the statuses 413, 429 and 503.
            (true, 500, date, 0, 0.0),
            (true, 404, date, 0, 0.0),
        ] {
            let count = Arc::new(AtomicUsize::new(0));
            let counted = Arc::clone(&count);
            let retry = policy(|o| {
                o.set_ignore_malformed_retry_after(ignore_malformed);
                o.set_wall_clock(Some(Arc::new(move || {
                    counted.fetch_add(1, Ordering::Relaxed);
                    Ok(784_111_777.0)
                })));
            });
            let decision = after(&retry, Some(&answer(status, fields)), None, None).unwrap();
            let found = (decision.delay().seconds, count.load(Ordering::Relaxed));
            assert_eq!(found, (seconds, readings), "{ignore_malformed} {status} {fields:?}");
        }
    }

    #[test]
    fn an_exhausted_retry_fails_or_returns_the_response_as_configured() {
        let moved = answer(302, &[("Location", "/x")]);
        let failed = answer(500, &[]);
        for (raise, response, counter, reason) in [
            (true, &moved, Counter::Redirect, Status::TooManyRedirects),
            (false, &moved, Counter::Redirect, Status::Ok),
            (true, &failed, Counter::Status, Status::ResponseStatus),
            (false, &failed, Counter::Status, Status::Ok),
        ] {
            let retry = policy(|o| {
                o.set_total(Count::Number(0));
                o.set_raise_on_redirect(raise);
                o.set_raise_on_status(raise);
            });
            match after(&retry, Some(response), None, None) {
                Ok(decision) => {
                    assert!(!raise);
                    assert_eq!((decision.action(), decision.counter()), (Action::ReturnResponse, counter));
                    assert!(Arc::ptr_eq(decision.retry(), &retry));
                }
                Err(error) => {
                    assert!(raise);
                    assert_eq!(error.status(), Status::MaxRetry);
                    assert_eq!(error.causes()[0].status(), reason);
                    let spent = Retry::from_error(&error).unwrap();
                    assert!(spent.is_exhausted());
                    assert_eq!(spent.history().len(), 1);
                    assert_eq!(error.message().matches("http://h/p").count(), 1, "{error}");
                    assert!(!error.message().contains("pa55word") && !error.message().contains("secret"), "{error}");
                }
            }
        }
    }

    #[test]
    fn a_disabled_retry_returns_every_response_and_every_error() {
        let moved = answer(302, &[("Location", "ftp://nowhere/")]);
        for retry in [policy(|o| o.set_total(Count::False)), policy(|o| o.set_redirect(Count::False))] {
            assert!(!retry.raise_on_redirect());
            let decision = after(&retry, Some(&moved), None, None).unwrap();
            assert_eq!(decision.action(), Action::ReturnResponse);
        }
        let retry = policy(|o| o.set_total(Count::False));
        for fields in [&[][..], &[("Retry-After", "soon")]] {
            let decision = after(&retry, Some(&answer(500, fields)), None, None).unwrap();
            assert_eq!((decision.action(), decision.counter()), (Action::ReturnResponse, Counter::Status));
            assert!(Arc::ptr_eq(decision.retry(), &retry) && !decision.resend_body());
        }
        let error = after(&retry, None, Some(Error::new(Status::ConnectFailed, "refused")), None).unwrap_err();
        assert_eq!((error.status(), error.message()), (Status::ConnectFailed, "refused"));
    }

    #[test]
    fn a_decision_fails_at_once_if_the_limit_would_end_during_the_delay() {
        let retry = policy(|o| {
            o.set_backoff_factor(50.0).unwrap();
            o.add_history(crate::retry::HistoryEntry::new(None, None, None, None, None).unwrap());
        });
        let refused = || Some(Error::new(Status::ConnectFailed, "refused"));
        let started = std::time::Instant::now();
        let short = Limit::new(5.0).unwrap();
        let error = after(&retry, None, refused(), Some(&short)).unwrap_err();
        assert_eq!(
            (error.status(), causes(&error)),
            (Status::DeadlineExceeded, vec!["the request failed", "refused"])
        );
        let error = after(&retry, Some(&answer(500, &[])), None, Some(&short)).unwrap_err();
        assert_eq!(causes(&error), ["the request failed", "the server answered 500"]);
        assert!(started.elapsed().as_secs() < 5);
        short.cancel();
        let error = after(&retry, None, refused(), Some(&short)).unwrap_err();
        assert_eq!((error.status(), causes(&error)), (Status::Cancelled, vec!["the request failed", "refused"]));
        // A response can be returned although the limit has ended.
        let done = after(&retry, Some(&answer(200, &[])), None, Some(&short)).unwrap();
        assert_eq!(done.action(), Action::ReturnResponse);
        after(&retry, None, refused(), Some(&Limit::new(1000.0).unwrap())).unwrap();
        after(&retry, None, refused(), Some(&Limit::new(f64::INFINITY).unwrap())).unwrap();
    }

    #[test]
    fn a_decision_for_neither_a_response_nor_an_error_is_refused() {
        let error = after(&policy(|_| {}), None, None, None).unwrap_err();
        assert_eq!(error.status(), Status::InvalidArgument);
    }
}
