//! Counting a failure: which counter it consumes, what the history keeps of it, and when enough is enough.

use std::ffi::CStr;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::response::Response;
use crate::retry::history::HistoryEntry;
use crate::retry::{Count, Counts, Retry, names};
use crate::status::{RetryKind, Status};
use crate::url::Url;

/// The counter that an event consumes beside `total`.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counter {
    None = 0,
    Connect = 1,
    Read = 2,
    Redirect = 3,
    Status = 4,
    Other = 5,
}

impl Retry {
    /// The Retry after one more request that was not the last: it failed with `error`, or was answered with
    /// `response`, or neither is known. If there are both, the error came after the response.
    ///
    /// Fails with `MaxRetry` when a count is used up, with `error` itself when that must not be retried, and, when
    /// retries are disabled, with what is wrong: none were used up.
    pub fn increment(
        &self,
        method: Option<&CStr>,
        url: Option<&CStr>,
        response: Option<&Response>,
        error: Option<&Arc<Error>>,
    ) -> Result<Retry> {
        if let Some(method) = method {
            names::check_token("method", method)?;
        }
        let sent =
            error.filter(|_| response.is_some()).map(|error| Arc::new(Error::clone(error).after_request_was_sent()));
        let error = sent.as_ref().or(error);
        let counter = consumed_counter(response, error);
        if let Some(error) = error
            && (self.is_disabled() || !self.may_count(error, counter, method))
        {
            return Err(self.history.explain((**error).clone()));
        }
        if self.is_disabled() {
            return Err(reason_of(response, ": retries are disabled"));
        }

        // A request that failed has no response worth recording, whatever came with it.
        let response = response.filter(|_| error.is_none());
        let location = response.and_then(redirect_location);
        let status = response.map(Response::status);
        let entry = HistoryEntry::new(method, url, error, status, location)?;
        let mut next = Retry {
            counts: self.counts.after(counter, self.policy.total_counts_redirects),
            policy: Arc::clone(&self.policy),
            history: self.history.with(entry),
            chain: self.chain,
            backoff_draw: None,
        };
        if next.is_exhausted() {
            let reason = match error {
                Some(error) => Arc::clone(error),
                None => Arc::new(reason_of(response, "")),
            };
            return Err(ended("the retries are used up", method, url, reason, next));
        }
        // A redirect ends a series of failures.
        if location.is_none() {
            let random = self.policy.callbacks.random.as_ref();
            next.backoff_draw = self.policy.backoff.next_draw(self.backoff_draw, random)?;
        }
        Ok(next)
    }

    /// Whether the policy counts this error at all, or hands it back.
    fn may_count(&self, error: &Error, counter: Counter, method: Option<&CStr>) -> bool {
        if error.retry_kind() == RetryKind::Never {
            return false;
        }
        match counter {
            Counter::Connect => self.counts.connect != Count::False,
            Counter::Read => {
                self.counts.read != Count::False && method.is_some_and(|method| self.policy.methods.allow(method))
            }
            _ => true,
        }
    }
}

impl Counts {
    /// The counts after the counter was decremented, and `total` too unless it does not count redirects.
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
            *count = count.used_once();
        }
        if counter != Counter::Redirect || total_counts_redirects {
            self.total = self.total.used_once();
        }
        self
    }
}

/// An error takes precedence over a response. A response proves that the request was sent, so that the error is at
/// least a read error.
pub(super) fn consumed_counter(response: Option<&Response>, error: Option<&Arc<Error>>) -> Counter {
    match (error, response) {
        (Some(error), _) => match error.retry_kind() {
            RetryKind::Never => Counter::Other,
            RetryKind::Read => Counter::Read,
            _ if response.is_some() => Counter::Read,
            RetryKind::Connect => Counter::Connect,
            RetryKind::Other | RetryKind::ByCause => Counter::Other,
        },
        (None, Some(response)) if redirect_location(response).is_some() => Counter::Redirect,
        (None, Some(_)) => Counter::Status,
        (None, None) => Counter::None,
    }
}

/// Where the response redirects to; an empty Location leads nowhere.
pub(super) fn redirect_location(response: &Response) -> Option<&CStr> {
    response.redirect_location().filter(|location| !location.is_empty())
}

/// What is wrong with the last response, as an error. `why` ends the sentence.
fn reason_of(response: Option<&Response>, why: &str) -> Error {
    match response {
        Some(response) if redirect_location(response).is_some() => {
            Error::new(Status::TooManyRedirects, format!("too many redirects{why}"))
        }
        Some(response) => {
            Error::new(Status::ResponseStatus, format!("the server answered {}{why}", response.status()))
        }
        None => Error::new(Status::ResponseStatus, format!("the request failed{why}")),
    }
}

/// A `MaxRetry` error: `how` the retries ended, for which request, and why. It lends the Retry with the history.
pub(super) fn ended(how: &str, method: Option<&CStr>, url: Option<&CStr>, reason: Arc<Error>, retry: Retry) -> Error {
    let mut message = String::from(how);
    let method = method.map(text_of);
    let url = url.and_then(|url| shown(url.to_bytes()));
    if method.is_some() || url.is_some() {
        message.push_str(" for");
    }
    for part in [method, url.as_deref()].into_iter().flatten() {
        message.push(' ');
        push_start(&mut message, part);
    }
    message.push_str(": ");
    push_start(&mut message, reason.message());
    // An outer retry policy must know that any of the attempts may have reached the server.
    let was_sent = reason.retry_kind() == RetryKind::Read || retry.history.iter().any(HistoryEntry::was_sent);
    let error = Error::new(Status::MaxRetry, message).with_cause(reason).with_retry(Arc::new(retry));
    if was_sent { error.after_request_was_sent() } else { error }
}

/// Adds the text, or its start if it is long: a failure that is reported again and again must not grow each time.
fn push_start(message: &mut String, text: &str) {
    const ENOUGH: usize = 256;
    match text.char_indices().nth(ENOUGH) {
        None => message.push_str(text),
        Some((end, _)) => {
            message.push_str(text.get(..end).unwrap_or_default());
            message.push('…');
        }
    }
}

/// A URL as messages may show it: neither user and password nor the query, where keys travel too. What is neither an
/// absolute URL nor a path is not shown, because what is a password in it cannot be told.
fn shown(text: &[u8]) -> Option<String> {
    let url = Url::parse(text).ok()?;
    let mut shown = String::new();
    match (url.scheme(), url.host()) {
        (Some(scheme), Some(host)) => {
            push_start(&mut shown, text_of(scheme));
            shown.push_str("://");
            push_start(&mut shown, text_of(host));
            if let Some(port) = url.port() {
                shown.push_str(&format!(":{port}"));
            }
        }
        (None, None) if text.starts_with(b"/") => {}
        _ => return None,
    }
    push_start(&mut shown, url.path().map_or("", text_of));
    Some(shown)
}

fn text_of(text: &CStr) -> &str {
    text.to_str().unwrap_or_default()
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
    fn what_must_not_be_retried_comes_back_as_it_is() {
        let default = || policy(|_| {});
        for (retry, method, status) in [
            (policy(|o| o.set_total(Count::False)), Some(c"GET"), Status::Protocol),
            (policy(|o| o.set_connect(Count::False)), Some(c"GET"), Status::ConnectFailed),
            (policy(|o| o.set_read(Count::False)), Some(c"GET"), Status::ReadTimeout),
            (default(), Some(c"POST"), Status::ReadTimeout),
            (default(), None, Status::ReadTimeout),
            (default(), Some(c"GET"), Status::Cancelled),
            (default(), Some(c"GET"), Status::InvalidArgument),
        ] {
            let error = Arc::new(Error::new(status, "what failed").with_errno(7));
            let back = retry.increment(method, None, None, Some(&error)).unwrap_err();
            assert_eq!((back.status(), back.message(), back.errno()), (status, "what failed", 7));
            assert!(back.retry().is_none());
        }
        for (method, status) in [(None, Status::ConnectFailed), (Some(c"POST"), Status::TlsAlert)] {
            default().increment(method, None, None, Some(&Arc::new(Error::new(status, "x")))).unwrap();
        }
    }

    #[test]
    fn an_empty_list_allows_no_method() {
        let retry = policy(|o| {
            o.set_allowed_methods(crate::retry::MethodsSetting::AllowedMethods, []).unwrap();
            o.set_status_forcelist(&[500]).unwrap();
        });
        assert!(!retry.is_retry(c"GET", 500, true).unwrap());
        let broken = Arc::new(Error::new(Status::Protocol, "x"));
        assert_eq!(retry.increment(Some(c"GET"), None, None, Some(&broken)).unwrap_err().status(), Status::Protocol);
    }

    #[test]
    fn nested_failures_do_not_pile_up() {
        // The error of one policy is reported to the next, ten thousand times.
        let mut error = Arc::new(Error::new(Status::ConnectFailed, "refused"));
        let once = policy(|o| o.set_total(Count::Number(0)));
        for _ in 0..10_000 {
            error = Arc::new(once.increment(Some(c"GET"), None, None, Some(&error)).unwrap_err());
            assert_eq!(error.status(), Status::MaxRetry);
        }
        let mut long = policy(|o| o.set_total(Count::None));
        for _ in 0..50 {
            long = long.increment(None, None, None, Some(&error)).unwrap();
            assert!(long.history().iter().all(|entry| entry.error().unwrap().retry().is_none()));
        }
    }

    #[test]
    fn counts_stop_at_the_lowest() {
        let lowest = i32::MIN + 2;
        let retry = policy(|o| {
            o.set_total(Count::Number(lowest));
            o.set_connect(Count::Number(lowest));
        });
        let refused = Arc::new(Error::new(Status::ConnectFailed, "x"));
        let spent = retry.increment(None, None, None, Some(&refused)).unwrap_err();
        let counts = spent.retry().unwrap().counts();
        assert_eq!((counts.total, counts.connect), (Count::Number(lowest), Count::Number(lowest)));
    }

    #[test]
    fn urls_in_messages_hold_no_secrets() {
        for (url, expected) in [
            ("http://user:pw@h:8080/p?key=k#f", Some("http://h:8080/p")),
            ("/path?key=k", Some("/path")),
            ("user:pw@h/p", None),
            ("//user:pw@h/p", None),
            ("http://user:p/w@h/p", None),
            ("http://u:p@[bad/", None),
            ("", None),
        ] {
            let shown = shown(url.as_bytes());
            assert_eq!(shown.as_deref(), expected, "{url}");
        }
        let error = policy(|o| o.set_total(Count::Number(0)))
            .increment(Some(c"PUT"), Some(c"/p"), None, Some(&Arc::new(Error::new(Status::ConnectFailed, "refused"))))
            .unwrap_err();
        assert_eq!(error.message(), "the retries are used up for PUT /p: refused");
    }
}
