//! Classifies outcomes as success, failure or throttled.

use crate::overload::Report;
use crate::retry::backoff::Backoff;
use crate::retry::outcome::Outcome;
use crate::retry::{Retry, Throttling};
use crate::status::RetryKind;

impl Retry {
    pub fn throttling(&self) -> &Throttling {
        &self.policy.throttling
    }

    /// Returns whether the last outcome in the history asked the client to slow down.
    pub fn is_throttled(&self) -> bool {
        self.history.last().is_some_and(|entry| {
            let status = entry.status().or_else(|| entry.error()?.http_status());
            entry.redirect_location().is_none() && self.throttles(status, entry.has_retry_after())
        })
    }

    /// Returns the backoff settings for the delay before the next request.
    pub(super) fn next_backoff(&self) -> Backoff {
        let backoff = self.policy.backoff;
        match self.policy.throttling.base {
            Some(base) if self.is_throttled() => Backoff { factor: base, ..backoff },
            _ => backoff,
        }
    }

    /// Classifies an outcome for a retry budget, breaker or rate. The method and the remaining counts do not matter:
    /// they limit the retries of this request, and say nothing about the server.
    pub(super) fn report_of(&self, outcome: &Outcome<'_>) -> Report {
        let has_retry_after = outcome.has_retry_after();
        match outcome {
            Outcome::Failed(error) if self.throttles(error.http_status(), false) => Report::Throttled,
            Outcome::Answered(response) if self.throttles(Some(response.status()), has_retry_after) => {
                Report::Throttled
            }
            Outcome::Failed(error) if error.retry_kind() == RetryKind::Never => Report::None,
            // Servers close idle connections also when they are healthy.
            Outcome::Failed(_) if outcome.is_stale_connection() => Report::None,
            Outcome::Failed(_) => Report::Failure,
            Outcome::Answered(response) => {
                let status = i32::from(response.status());
                let is_retried = self.policy.status_forcelist.binary_search(&status).is_ok()
                    || (has_retry_after && self.policy.retry_after.causes_retry(status));
                match status {
                    _ if is_retried => Report::Failure,
                    ..500 => Report::Success,
                    _ => Report::None,
                }
            }
            Outcome::Redirect(..) => Report::Success,
            Outcome::Unknown => Report::None,
        }
    }

    fn throttles(&self, status: Option<u16>, has_retry_after: bool) -> bool {
        status.is_some_and(|status| self.policy.throttling.contains(status, has_retry_after))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::error::Error;
    use crate::headers::HeadersBuilder;
    use crate::response::Response;
    use crate::retry::RetryOptions;
    use crate::status::Status;

    fn answer(status: u16, fields: &[(&str, &str)]) -> Response {
        let mut headers = HeadersBuilder::new();
        for (name, value) in fields {
            headers.add(name.as_bytes(), value.as_bytes()).unwrap();
        }
        Response::new("GET", status, Arc::new(headers.build())).unwrap()
    }

    #[test]
    fn responses_and_errors_are_success_failure_throttled_or_neither() {
        let mut options = RetryOptions::default();
        options.set_status_forcelist(&[500, 502, 503]).unwrap();
        options.set_throttling(1.0, &[509, 502]).unwrap();
        let retry = Retry::new(options);
        let wait = &[("Retry-After", "1")][..];
        for (status, fields, expected) in [
            (200, &[][..], Report::Success),
            (200, wait, Report::Success),
            (302, &[("Location", "/x")], Report::Success),
            (302, &[], Report::Success),
            (404, &[], Report::Success),
            (413, &[], Report::Success),
            (413, wait, Report::Failure),
            (429, &[], Report::Throttled),
            (429, &[("Location", "/x")], Report::Throttled),
            (500, &[], Report::Failure),
            (500, wait, Report::Failure),
            (501, &[], Report::None),
            (502, &[], Report::Throttled),
            (503, &[], Report::Failure),
            (503, wait, Report::Throttled),
            (503, &[("Retry-After", "soon")], Report::Throttled),
            (503, &[("Retry-After", "")], Report::Failure),
            (504, wait, Report::None),
            (509, &[], Report::Throttled),
        ] {
            let response = answer(status, fields);
            let outcome = Outcome::new(Some(&response), None);
            assert_eq!(retry.report_of(&outcome), expected, "{status} {fields:?}");
        }
        for (status, http_status, expected) in [
            (Status::ConnectFailed, None, Report::Failure),
            (Status::ReadTimeout, None, Report::Failure),
            (Status::StaleConnection, None, Report::None),
            (Status::Cancelled, None, Report::None),
            (Status::DeadlineExceeded, None, Report::None),
            (Status::ResponseStatus, Some(429), Report::Throttled),
            (Status::ResponseStatus, Some(509), Report::Throttled),
            // An error has no headers, so its 503 has no Retry-After.
            (Status::Protocol, Some(503), Report::Failure),
        ] {
            let error = Arc::new(Error::new(status, "x").with_http_status(http_status));
            let report = retry.report_of(&Outcome::new(None, Some(&error)));
            assert_eq!(report, expected, "{status:?} {http_status:?}");
        }
        assert_eq!(retry.report_of(&Outcome::Unknown), Report::None);
    }

    #[test]
    fn without_settings_429_and_503_with_retry_after_are_throttled_but_keep_the_backoff_factor() {
        let mut options = RetryOptions::default();
        options.set_backoff_factor(2.0).unwrap();
        let retry = Retry::new(options);
        let next = |response: &Response| retry.increment(None, None, Some(response), None).unwrap();
        for (status, fields, expected) in
            [(429, &[][..], true), (503, &[("Retry-After", "1")], true), (503, &[], false), (500, &[], false)]
        {
            let next = next(&answer(status, fields));
            assert_eq!((next.is_throttled(), next.next_backoff().factor), (expected, 2.0), "{status}");
        }
    }
}
