//! Counts the outcome of a request: decrements the counters of the Retry, adds the outcome to the history, and fails if
//! a counter falls below zero.

use std::ffi::CStr;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::response::Response;
use crate::retry::history::HistoryEntry;
use crate::retry::outcome::{Outcome, Request, RequestUrl};
use crate::retry::{Count, Counter, Counts, Retry, name_set};
use crate::status::{RetryKind, Status};

impl Retry {
    /// Returns the Retry after one more request, which failed with `error` or was answered with `response`. If both are
    /// given, the error came after the response; if neither is given, the outcome is unknown.
    ///
    /// Fails with `MaxRetry` if a count is used up, and with `error` itself if the policy does not retry it. If retries
    /// are disabled, the error is never `MaxRetry`: it is `error`, or a new error that describes the outcome.
    pub fn increment(
        &self,
        method: Option<&CStr>,
        url: Option<&CStr>,
        response: Option<&Response>,
        error: Option<&Arc<Error>>,
    ) -> Result<Retry> {
        if let Some(method) = method {
            name_set::check_token("method", method)?;
        }
        let request = Request { method, url: url.map(RequestUrl::Text) };
        self.count(&request, &Outcome::new(response, error))
    }

    /// Does what [`Retry::increment`] does for an outcome that is already determined.
    pub(super) fn count(&self, request: &Request<'_>, outcome: &Outcome<'_>) -> Result<Retry> {
        if let Some(error) = self.uncounted_error(outcome, request.method) {
            return Err(error);
        }
        if self.is_disabled() {
            return Err(Arc::unwrap_or_clone(outcome.to_error(": retries are disabled")));
        }
        let location = outcome.location();
        let entry =
            HistoryEntry::new(request.method, request.url_text()?, outcome.error(), outcome.status(), location)?
                .with_retry_after(outcome.has_retry_after());
        let mut next = Retry {
            counts: self.counts.after(outcome.counter(), self.policy.total_counts_redirects),
            policy: Arc::clone(&self.policy),
            history: self.history.with(entry),
            chain: self.chain,
            backoff_draw: None,
            lease: None,
        };
        if next.is_exhausted() {
            return Err(next.into_max_retry_error("the retries are used up", request, outcome.to_error("")));
        }
        // After a redirect, consecutive failures are counted from 0 again.
        if location.is_none() {
            let random = self.policy.callbacks.random.as_ref();
            let previous = self.backoff_draw.map(|draw| self.next_backoff().decorrelated(draw).seconds);
            next.backoff_draw = next.next_backoff().next_draw(previous, random)?;
        }
        Ok(next)
    }

    /// Returns a Retry whose failures are those of an earlier Retry of the same request. The redirects since then,
    /// whose number is `redirects`, still count.
    pub(super) fn with_failures_of(&self, earlier: &Retry, redirects: usize) -> Retry {
        let mut counts = Counts { redirect: self.counts.redirect, ..earlier.counts };
        if self.policy.total_counts_redirects {
            counts.total = (0..redirects).fold(counts.total, |total, _| total.decremented());
        }
        Retry { counts, history: earlier.history.clone(), backoff_draw: earlier.backoff_draw, ..self.clone() }
    }

    /// Returns the error of the outcome if the policy does not count it as a failed attempt, but returns it to the
    /// caller.
    pub(super) fn uncounted_error(&self, outcome: &Outcome<'_>, method: Option<&CStr>) -> Option<Error> {
        let error = outcome.error()?;
        let is_counted = !self.is_disabled() && self.may_count(outcome, error, method);
        (!is_counted).then(|| self.history.with_attempts(Error::clone(error)))
    }

    fn may_count(&self, outcome: &Outcome<'_>, error: &Error, method: Option<&CStr>) -> bool {
        if error.retry_kind() == RetryKind::Never {
            return false;
        }
        match outcome.counter() {
            Counter::Connect => self.counts.connect != Count::False,
            Counter::Read => {
                let allows_any = self.policy.any_method_if_stale && outcome.is_stale_connection();
                let is_allowed = |method| allows_any || self.policy.methods.allow(method);
                self.counts.read != Count::False && method.is_some_and(is_allowed)
            }
            Counter::Other => self.counts.other != Count::False,
            Counter::None | Counter::Redirect | Counter::Status => true,
        }
    }

    /// Makes a `MaxRetry` error from which [`Retry::from_error`] returns this Retry. The error message states how the
    /// retries ended (`how`), the request, and the reason. The reason for the end of the retries is also the error's
    /// cause.
    pub(super) fn into_max_retry_error(self, how: &str, request: &Request<'_>, reason: Arc<Error>) -> Error {
        let message = request.exhaustion_message(how, reason.message());
        // If the caller wraps this error in another one, for an outer retry policy, that policy must know that an
        // attempt may have reached the server.
        let was_sent = reason.was_sent() || self.history.iter().any(HistoryEntry::was_sent);
        let error = Error::new(Status::MaxRetry, message)
            .with_http_status(reason.http_status())
            .with_cause(reason)
            .with_payload(Arc::new(self));
        if was_sent { error.after_request_was_sent() } else { error }
    }
}

impl Counts {
    /// Decrements the count of `counter`, and `total` as well. A redirect decrements `total` only if
    /// `total_counts_redirects`.
    fn after(mut self, counter: Counter, total_counts_redirects: bool) -> Counts {
        let used = match counter {
            Counter::None => None,
            Counter::Connect => Some(&mut self.connect),
            Counter::Read => Some(&mut self.read),
            Counter::Redirect => Some(&mut self.redirect),
            Counter::Status => Some(&mut self.status),
            Counter::Other => Some(&mut self.other),
        };
        if let Some(count) = used {
            *count = count.decremented();
        }
        if counter != Counter::Redirect || total_counts_redirects {
            self.total = self.total.decremented();
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::retry::RetryOptions;

    fn policy(set: impl FnOnce(&mut RetryOptions)) -> Retry {
        let mut options = RetryOptions::default();
        set(&mut options);
        Retry::new(options)
    }

    #[test]
    fn an_error_that_is_not_retried_is_returned_unchanged() {
        let default = || policy(|_| {});
        for (retry, method, status) in [
            (policy(|o| o.set_total(Count::False)), Some(c"GET"), Status::Protocol),
            (policy(|o| o.set_connect(Count::False)), Some(c"GET"), Status::ConnectFailed),
            (policy(|o| o.set_read(Count::False)), Some(c"GET"), Status::ReadTimeout),
            (policy(|o| o.set_other(Count::False)), Some(c"GET"), Status::CertificateVerify),
            (policy(|o| o.set_other(Count::False)), Some(c"GET"), Status::ProxyFailed),
            (default(), Some(c"POST"), Status::ReadTimeout),
            (default(), None, Status::ReadTimeout),
            (default(), Some(c"GET"), Status::Cancelled),
            (default(), Some(c"GET"), Status::InvalidArgument),
        ] {
            let error = Arc::new(Error::new(status, "failed").with_errno(7));
            let back = retry.increment(method, None, None, Some(&error)).unwrap_err();
            assert_eq!((back.status(), back.message(), back.errno()), (status, "failed", 7));
            assert!(Retry::from_error(&back).is_none());
        }
        for (method, status) in [(None, Status::ConnectFailed), (Some(c"POST"), Status::TlsAlert)] {
            default().increment(method, None, None, Some(&Arc::new(Error::new(status, "x")))).unwrap();
        }
    }

    #[test]
    fn an_empty_list_of_allowed_methods_allows_no_method() {
        let retry = policy(|o| {
            o.set_allowed_methods(crate::retry::MethodsSetting::AllowedMethods, []).unwrap();
            o.set_status_forcelist(&[500]).unwrap();
        });
        assert!(!retry.is_retry(c"GET", 500, true).unwrap());
        let broken = Arc::new(Error::new(Status::Protocol, "x"));
        assert_eq!(retry.increment(Some(c"GET"), None, None, Some(&broken)).unwrap_err().status(), Status::Protocol);
    }

    #[test]
    fn errors_in_the_history_hold_no_retry_of_an_inner_policy() {
        // Ten thousand nested policies: each policy counts an error that wraps the error of the next inner policy.
        let mut error = Arc::new(Error::new(Status::ConnectFailed, "refused"));
        let once = policy(|o| o.set_total(Count::Number(0)));
        for _ in 0..10_000 {
            let ended = once.increment(Some(c"GET"), None, None, Some(&error)).unwrap_err();
            assert_eq!(ended.status(), Status::MaxRetry);
            error = Arc::new(Error::new(Status::ApplicationError, "wrapped").with_cause(Arc::new(ended)));
        }
        let mut long = policy(|o| o.set_total(Count::None));
        for _ in 0..50 {
            long = long.increment(None, None, None, Some(&error)).unwrap();
            assert!(long.history().iter().all(|entry| Retry::from_error(entry.error().unwrap()).is_none()));
        }
    }

    #[test]
    fn decrementing_the_lowest_retry_count_does_not_change_it() {
        let lowest = i32::MIN + 2;
        let retry = policy(|o| {
            o.set_total(Count::Number(lowest));
            o.set_connect(Count::Number(lowest));
        });
        let refused = Arc::new(Error::new(Status::ConnectFailed, "x"));
        let spent = retry.increment(None, None, None, Some(&refused)).unwrap_err();
        let counts = Retry::from_error(&spent).unwrap().counts();
        assert_eq!((counts.total, counts.connect), (Count::Number(lowest), Count::Number(lowest)));
    }
}
