//! Counting a failure: which counter it consumes, what the history keeps of it, and when enough is enough.

use std::ffi::CStr;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::response::Response;
use crate::retry::history::HistoryEntry;
use crate::retry::{Count, Retry, names};
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
    /// `response`, or neither is known.
    ///
    /// Fails with `MaxRetry` when a count is used up, and with `error` itself when that must not be retried.
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
        let counter = consumed_counter(response, error);
        if let Some(error) = error
            && (self.counts.total == Count::False || !self.may_count(error, counter, method))
        {
            return Err((**error).clone());
        }

        let mut next = self.clone();
        next.counts.total = next.counts.total.used_once();
        if let Some(count) = next.count_of(counter) {
            *count = count.used_once();
        }
        // A request that failed has no response worth recording, whatever came with it.
        let response = response.filter(|_| error.is_none());
        let location = response.and_then(redirect_location);
        let status = response.map(Response::status);
        next.history
            .try_reserve(1)
            .map_err(|_| Error::new(Status::OutOfMemory, "no memory for one more history entry"))?;
        next.history.push(Arc::new(HistoryEntry::new(method, url, error, status, location)));

        if next.is_exhausted() {
            let reason = match error {
                Some(error) => Arc::clone(error),
                None => Arc::new(reason_of(response)),
            };
            return Err(used_up(method, url, reason, next));
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

    fn count_of(&mut self, counter: Counter) -> Option<&mut Count> {
        match counter {
            Counter::None => None,
            Counter::Connect => Some(&mut self.counts.connect),
            Counter::Read => Some(&mut self.counts.read),
            Counter::Redirect => Some(&mut self.counts.redirect),
            Counter::Status => Some(&mut self.counts.status),
            Counter::Other => Some(&mut self.counts.other),
        }
    }
}

/// An error goes before a response.
pub(super) fn consumed_counter(response: Option<&Response>, error: Option<&Arc<Error>>) -> Counter {
    match (error, response) {
        (Some(error), _) => match error.retry_kind() {
            RetryKind::Connect => Counter::Connect,
            RetryKind::Read => Counter::Read,
            RetryKind::Other | RetryKind::ByCause | RetryKind::Never => Counter::Other,
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

/// What is wrong with the last response, as an error.
pub(super) fn reason_of(response: Option<&Response>) -> Error {
    match response {
        Some(response) if redirect_location(response).is_some() => {
            Error::new(Status::TooManyRedirects, "too many redirects")
        }
        Some(response) => {
            Error::new(Status::ResponseStatus, format!("the server answered {} too often", response.status()))
        }
        None => Error::new(Status::ResponseStatus, "too many error responses"),
    }
}

fn used_up(method: Option<&CStr>, url: Option<&CStr>, reason: Arc<Error>, exhausted: Retry) -> Error {
    let mut message = String::from("the retries are used up");
    let method = method.and_then(|method| method.to_str().ok());
    let url = url.and_then(|url| shown(url.to_bytes()));
    if method.is_some() || url.is_some() {
        message.push_str(" for");
    }
    for part in [method, url.as_deref()].into_iter().flatten() {
        message.push(' ');
        message.push_str(part);
    }
    message.push_str(": ");
    message.push_str(reason.message());
    Error::new(Status::MaxRetry, message).with_cause(reason).with_retry(Arc::new(exhausted))
}

/// A URL as messages may show it: neither user and password nor the query, where keys travel too. What cannot be
/// parsed is not shown, because what is a password in it cannot be told.
pub(super) fn shown(url: &[u8]) -> Option<String> {
    let url = Url::parse(url).ok()?;
    let text = |part: Option<&CStr>| part.map(|part| part.to_string_lossy().into_owned());
    let mut shown = String::new();
    if let (Some(scheme), Some(_)) = (text(url.scheme()), url.host()) {
        shown.push_str(&scheme);
        shown.push_str("://");
    }
    shown.extend(text(url.netloc()));
    shown.extend(text(url.path()));
    (!shown.is_empty()).then_some(shown)
}
