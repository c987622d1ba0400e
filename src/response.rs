//! Response heads: parsing them and asking them.

use std::borrow::Cow;
use std::ffi::{CStr, CString};
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::headers::{Headers, is_token_byte, show_byte};
use crate::memory;
use crate::status::Status;

mod framing;
mod parse;
mod reason;

pub use framing::Framing;
pub use parse::MAX_HEAD;

/// The head of a response and the method that asked for it: immutable, cheap to share behind an `Arc`.
#[derive(Debug)]
pub struct Response {
    request_method: Cow<'static, CStr>,
    status: u16,
    headers: Arc<Headers>,
    reason: Option<Cow<'static, CStr>>,
    minor_version: Option<u8>,
    /// Of several Location fields, their values joined; one is lent from the headers.
    joined_location: Option<CString>,
}

impl Response {
    pub fn new(request_method: &str, status: u16, headers: Arc<Headers>) -> Result<Response> {
        check_method(request_method)?;
        let request_method = reason::own_method(request_method.as_bytes())?;
        let status = check_status(status.into())?;
        let joined_location = if redirects(status) { join_locations(&headers)? } else { None };
        Ok(Response { request_method, status, headers, reason: None, minor_version: None, joined_location })
    }

    pub fn request_method(&self) -> &CStr {
        &self.request_method
    }

    pub fn status(&self) -> u16 {
        self.status
    }

    pub fn headers(&self) -> &Arc<Headers> {
        &self.headers
    }

    /// The words after the status, if the response was parsed.
    pub fn reason(&self) -> Option<&CStr> {
        self.reason.as_deref()
    }

    /// The digit after "HTTP/1.", if the response was parsed.
    pub fn minor_version(&self) -> Option<u8> {
        self.minor_version
    }

    /// Where a redirect leads: the Location of a 301, 302, 303, 307 or 308. An empty one leads nowhere.
    pub fn redirect_location(&self) -> Option<&CStr> {
        if !redirects(self.status) {
            return None;
        }
        let location = self.joined_location.as_deref().or_else(|| self.headers.get("location"))?;
        (!location.is_empty()).then_some(location)
    }

    /// Whether the request was HEAD, in any case of letters.
    pub fn is_response_to_head(&self) -> bool {
        self.request_method.to_bytes().eq_ignore_ascii_case(b"HEAD")
    }
}

fn redirects(status: u16) -> bool {
    matches!(status, 301 | 302 | 303 | 307 | 308)
}

/// A status code: three digits, the first not 0.
pub fn check_status(status: i32) -> Result<u16> {
    match u16::try_from(status) {
        Ok(code @ 100..=999) => Ok(code),
        _ => Err(Error::new(Status::InvalidArgument, format!("status must be 100 to 999; it is {status}"))),
    }
}

fn check_method(method: &str) -> Result<()> {
    let invalid = |message: String, at| Err(Error::new(Status::InvalidArgument, message).at(at));
    if method.is_empty() {
        return invalid("request_method is empty".to_owned(), 0);
    }
    if let Some((at, byte)) = method.bytes().enumerate().find(|(_, byte)| !is_token_byte(*byte)) {
        // What is no method may be a URL with a password in it, so it is not shown.
        return invalid(format!("request_method: {} is not allowed at byte {at}", show_byte(byte)), at);
    }
    Ok(())
}

/// What a list of several Location fields reads as; `None` for one or none.
fn join_locations(headers: &Headers) -> Result<Option<CString>> {
    let locations = || headers.get_all("location").map(CStr::to_bytes);
    if locations().nth(1).is_none() {
        return Ok(None);
    }
    let mut joined = Vec::new();
    let room = locations().map(|location| location.len() + 2).sum::<usize>();
    memory::reserve(&mut joined, room, "a location")?;
    for (i, location) in locations().enumerate() {
        joined.extend_from_slice(if i == 0 { b"" } else { b", " });
        joined.extend_from_slice(location);
    }
    memory::copy_c(&joined, "a location").map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::headers::HeadersBuilder;

    fn response(status: u16, fields: &[(&str, &str)]) -> Response {
        let mut builder = HeadersBuilder::new();
        for (name, value) in fields {
            builder.add(name.as_bytes(), value.as_bytes()).unwrap();
        }
        Response::new("GET", status, Arc::new(builder.build())).unwrap()
    }

    #[test]
    fn redirects_are_five_statuses_with_a_location() {
        for status in 100..=999 {
            let redirects = [301, 302, 303, 307, 308].contains(&status);
            let location = redirects.then_some(c"/a");
            assert_eq!(response(status, &[("Location", "/a")]).redirect_location(), location, "{status}");
            assert_eq!(response(status, &[]).redirect_location(), None);
        }
        assert_eq!(response(302, &[("location", "")]).redirect_location(), None);
        // The reference reads several as one list.
        assert_eq!(response(302, &[("Location", "/a"), ("location", "/b")]).redirect_location(), Some(c"/a, /b"));
    }

    #[test]
    fn the_request_was_head() {
        for (method, expected) in [("HEAD", true), ("head", true), ("GET", false), ("HEADX", false)] {
            let response = Response::new(method, 200, Arc::default()).unwrap();
            assert_eq!(response.is_response_to_head(), expected);
            assert_eq!(response.request_method().to_str(), Ok(method));
            assert_eq!((response.reason(), response.minor_version()), (None, None));
        }
    }

    #[test]
    fn what_is_no_response() {
        for (method, status) in [
            ("", 200),
            ("G T", 200),
            ("GET\r\n", 200),
            ("http://user:password@h/", 200),
            ("G\u{e9}T", 200),
            ("GET", 99),
            ("GET", 1000),
        ] {
            let error = Response::new(method, status, Arc::default()).unwrap_err();
            assert_eq!(error.status(), Status::InvalidArgument, "{method:?} {status}");
            assert!(!error.message().contains("password"), "{error}");
        }
    }

    #[test]
    fn shared_between_threads() {
        fn shared<T: Send + Sync>() {}
        shared::<Response>();
    }
}
