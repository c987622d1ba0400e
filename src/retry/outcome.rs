//! A request and its outcome. A public function of [`Retry`](super::Retry) determines the outcome once, and passes the
//! outcome to the functions that it calls.

use std::borrow::Cow;
use std::ffi::CStr;
use std::fmt::Write;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::response::Response;
use crate::status::{RetryKind, Status};
use crate::url::Url;

/// The retry counter that an outcome decrements in addition to `total`.
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

/// The outcome of one request.
#[derive(Debug)]
pub(super) enum Outcome<'a> {
    /// The caller passed neither a response nor an error.
    Unknown,
    Failed(Cow<'a, Arc<Error>>),
    /// A response that redirects to this location.
    Redirect(&'a Response, &'a CStr),
    /// A response that does not redirect.
    Answered(&'a Response),
}

impl<'a> Outcome<'a> {
    /// Determines the outcome of a request. An error takes precedence over a response.
    pub(super) fn new(response: Option<&'a Response>, error: Option<&'a Arc<Error>>) -> Outcome<'a> {
        match (error, response) {
            (Some(error), None) => Outcome::Failed(Cow::Borrowed(error)),
            // The response proves that the server received the request, so the error becomes a read error.
            (Some(error), Some(_)) => {
                Outcome::Failed(Cow::Owned(Arc::new(Error::clone(error).after_request_was_sent())))
            }
            (None, Some(response)) => match response.redirect_location() {
                Some(location) => Outcome::Redirect(response, location),
                None => Outcome::Answered(response),
            },
            (None, None) => Outcome::Unknown,
        }
    }

    pub(super) fn counter(&self) -> Counter {
        match self {
            Outcome::Unknown => Counter::None,
            Outcome::Failed(error) => match error.retry_kind() {
                RetryKind::Connect => Counter::Connect,
                RetryKind::Read => Counter::Read,
                RetryKind::Other | RetryKind::Never | RetryKind::ByCause => Counter::Other,
            },
            Outcome::Redirect(..) => Counter::Redirect,
            Outcome::Answered(_) => Counter::Status,
        }
    }

    pub(super) fn error(&self) -> Option<&Arc<Error>> {
        match self {
            Outcome::Failed(error) => Some(error),
            _ => None,
        }
    }

    /// Returns whether a reused connection ended before the first byte of the response. An error that came after a
    /// response, which is a copy ([`Outcome::new`]), does not count as such.
    pub(super) fn is_stale_connection(&self) -> bool {
        matches!(self, Outcome::Failed(Cow::Borrowed(error)) if error.status() == Status::StaleConnection)
    }

    pub(super) fn status(&self) -> Option<u16> {
        match self {
            Outcome::Redirect(response, _) | Outcome::Answered(response) => Some(response.status()),
            Outcome::Failed(_) | Outcome::Unknown => None,
        }
    }

    /// Returns whether the outcome is a response with a Retry-After header, valid or not.
    pub(super) fn has_retry_after(&self) -> bool {
        match self {
            Outcome::Redirect(response, _) | Outcome::Answered(response) => response.has_retry_after(),
            Outcome::Failed(_) | Outcome::Unknown => false,
        }
    }

    pub(super) fn location(&self) -> Option<&'a CStr> {
        match self {
            Outcome::Redirect(_, location) => Some(location),
            _ => None,
        }
    }

    /// Returns the outcome as an error: the error of a failed request, or a new error whose message ends with `suffix`.
    pub(super) fn to_error(&self, suffix: &str) -> Arc<Error> {
        let (status, message) = match self {
            Outcome::Failed(error) => return Arc::clone(error),
            Outcome::Redirect(..) => (Status::TooManyRedirects, format!("too many redirects{suffix}")),
            Outcome::Answered(response) => {
                (Status::ResponseStatus, format!("the server answered {}{suffix}", response.status()))
            }
            Outcome::Unknown => (Status::ResponseStatus, format!("the request failed{suffix}")),
        };
        Arc::new(Error::new(status, message).with_http_status(self.status()))
    }
}

/// The request that an outcome belongs to. An unknown method or URL is `None`.
#[derive(Clone, Copy, Default)]
pub(super) struct Request<'a> {
    /// The request method. The caller has checked that it is a token.
    pub(super) method: Option<&'a CStr>,
    pub(super) url: Option<RequestUrl<'a>>,
}

#[derive(Clone, Copy)]
pub(super) enum RequestUrl<'a> {
    Parsed(&'a Url),
    /// Text from the caller, which may be invalid as a URL.
    Text(&'a CStr),
}

impl<'a> Request<'a> {
    pub(super) fn url_text(&self) -> Result<Option<&'a CStr>> {
        self.url.map(RequestUrl::text).transpose()
    }

    /// Returns the message of a `MaxRetry` error, which states how the retries ended (`how`), the method and the URL
    /// without secrets if they are known, and the reason.
    pub(super) fn exhaustion_message(&self, how: &str, reason: &str) -> String {
        let mut message = String::from(how);
        let method = self.method.map(text_of);
        let url = self.url.and_then(RequestUrl::without_secrets);
        if method.is_some() || url.is_some() {
            message.push_str(" for");
        }
        for part in [method, url.as_deref()].into_iter().flatten() {
            message.push(' ');
            push_truncated(&mut message, part);
        }
        message.push_str(": ");
        push_truncated(&mut message, reason);
        message
    }
}

impl<'a> RequestUrl<'a> {
    fn text(self) -> Result<&'a CStr> {
        match self {
            RequestUrl::Parsed(url) => url.url(),
            RequestUrl::Text(text) => Ok(text),
        }
    }

    /// Returns scheme, host, port and path for error messages. Userinfo, query and fragment are omitted, because they
    /// may be secret. `None` for text that is neither an absolute URL nor a path, because a password in such text
    /// cannot be recognised.
    fn without_secrets(self) -> Option<String> {
        let text = self.text().ok()?.to_bytes();
        match self {
            RequestUrl::Parsed(url) => without_secrets(url, text),
            RequestUrl::Text(_) => without_secrets(&Url::parse(text).ok()?, text),
        }
    }
}

fn without_secrets(url: &Url, text: &[u8]) -> Option<String> {
    let mut shown = String::new();
    match (url.scheme(), url.host()) {
        (Some(scheme), Some(host)) => {
            push_truncated(&mut shown, text_of(scheme));
            shown.push_str("://");
            push_truncated(&mut shown, text_of(host));
            if let Some(port) = url.port() {
                // Writing to a string cannot fail.
                let _ = write!(shown, ":{port}");
            }
        }
        (None, None) if text.starts_with(b"/") => {}
        _ => return None,
    }
    push_truncated(&mut shown, url.path().map_or("", text_of));
    Some(shown)
}

/// Appends the text, truncated if it is long, because the message of an error that is reported repeatedly must not grow
/// each time.
fn push_truncated(message: &mut String, text: &str) {
    const MAX_CHARS: usize = 256;
    match text.char_indices().nth(MAX_CHARS) {
        None => message.push_str(text),
        Some((end, _)) => {
            message.push_str(text.get(..end).unwrap_or_default());
            message.push('…');
        }
    }
}

fn text_of(text: &CStr) -> &str {
    text.to_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::ffi::CString;

    use super::*;
    use crate::headers::HeadersBuilder;
    use crate::retry::{Count, Retry, RetryOptions};

    #[test]
    fn error_messages_contain_no_secrets_of_the_request_url() {
        for (url, expected) in [
            ("http://user:pw@h:8080/p?key=k#f", Some("http://h:8080/p")),
            ("/path?key=k", Some("/path")),
            ("user:pw@h/p", None),
            ("//user:pw@h/p", None),
            ("http://user:p/w@h/p", None),
            ("http://u:p@[bad/", None),
            ("", None),
        ] {
            let text = CString::new(url).unwrap();
            assert_eq!(RequestUrl::Text(&text).without_secrets().as_deref(), expected, "{url}");
            if let Ok(url) = Url::parse(url.as_bytes()) {
                assert_eq!(RequestUrl::Parsed(&url).without_secrets().as_deref(), expected, "{url:?}");
            }
        }
        let mut options = RetryOptions::default();
        options.set_total(Count::Number(0));
        let refused = Arc::new(Error::new(Status::ConnectFailed, "refused"));
        let error = Retry::new(options).increment(Some(c"PUT"), Some(c"/p"), None, Some(&refused)).unwrap_err();
        assert_eq!(error.message(), "the retries are used up for PUT /p: refused");
    }

    #[test]
    fn response_and_error_determine_the_retry_counter() {
        let (refused, reset, invalid) = (Status::ConnectFailed, Status::Protocol, Status::InvalidArgument);
        for (status, location, error, counter) in [
            (None, None, None, Counter::None),
            (None, None, Some(refused), Counter::Connect),
            (None, None, Some(reset), Counter::Read),
            (None, None, Some(invalid), Counter::Other),
            // An error after a response is a read error, because the request was sent.
            (Some(200), None, Some(refused), Counter::Read),
            (Some(302), Some("/a"), Some(refused), Counter::Read),
            (Some(302), Some("/a"), Some(invalid), Counter::Other),
            (Some(302), Some("/a"), None, Counter::Redirect),
            (Some(302), Some(""), None, Counter::Status),
            (Some(302), None, None, Counter::Status),
            (Some(503), Some("/a"), None, Counter::Status),
        ] {
            let response = status.map(|status| response(status, location));
            let error = error.map(|error| Arc::new(Error::new(error, "x")));
            let outcome = Outcome::new(response.as_ref(), error.as_ref());
            assert_eq!(outcome.counter(), counter, "{status:?} {location:?} {error:?}");
            let is_response = error.is_none();
            assert_eq!(outcome.status(), status.filter(|_| is_response));
            let redirects = counter == Counter::Redirect;
            assert_eq!(outcome.location(), redirects.then_some(c"/a"));
        }
    }

    fn response(status: u16, location: Option<&str>) -> Response {
        let mut headers = HeadersBuilder::new();
        if let Some(location) = location {
            headers.add(b"Location", location.as_bytes()).unwrap();
        }
        Response::new("GET", status, Arc::new(headers.build())).unwrap()
    }
}
