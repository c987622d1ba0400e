//! Responses: parses heads, determines the redirect location and the framing of the body, and decodes bodies.

use std::borrow::Cow;
use std::ffi::{CStr, CString};
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::headers::{Headers, check_method};
use crate::memory;
use crate::status::Status;

mod body_decoder;
mod framing;
mod head;
mod keeps_alive;
mod progress;
mod range;
mod reason;
mod tunnel;

pub(crate) use body_decoder::Collected;
pub use body_decoder::{BodyDecoder, ChunkedLimits, Decoded};
pub use framing::Framing;
pub(crate) use framing::{content_length, transfer_framing};
pub use head::MAX_HEAD;
pub use range::ContentRange;

/// The head of a response, and the method of its request. A response is immutable.
#[derive(Debug)]
pub struct Response {
    request_method: Cow<'static, CStr>,
    status: u16,
    headers: Arc<Headers>,
    reason: Option<Cow<'static, CStr>>,
    minor_version: Option<u8>,
    /// The redirect location, if it differs from the value of the first Location field.
    encoded_location: Option<CString>,
}

impl Response {
    pub fn new(request_method: &str, status: u16, headers: Arc<Headers>) -> Result<Response> {
        check_method("request_method", request_method)?;
        let request_method = reason::shared_method(request_method.as_bytes())?;
        let status = check_status(status.into())?;
        let encoded_location = if redirects(status) { encoded_location(&headers)? } else { None };
        Ok(Response { request_method, status, headers, reason: None, minor_version: None, encoded_location })
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

    /// Returns the reason phrase, if the response was parsed.
    pub fn reason(&self) -> Option<&CStr> {
        self.reason.as_deref()
    }

    /// Returns the digit after "HTTP/1.", if the response was parsed.
    pub fn minor_version(&self) -> Option<u8> {
        self.minor_version
    }

    /// Returns the Location of a response with status 301, 302, 303, 307 or 308, as UTF-8; `None` if the header is
    /// absent or empty.
    pub fn redirect_location(&self) -> Option<&CStr> {
        if !redirects(self.status) {
            return None;
        }
        let location = self.encoded_location.as_deref().or_else(|| self.headers.get("location"))?;
        (!location.is_empty()).then_some(location)
    }

    /// Returns whether the response has a Retry-After header that is not empty.
    pub fn has_retry_after(&self) -> bool {
        self.headers.get("retry-after").is_some_and(|value| !value.is_empty())
    }

    /// Returns whether the request method was HEAD. Letter case is ignored, as in urllib3; [`Response::framing`]
    /// compares case-sensitively.
    pub fn is_response_to_head(&self) -> bool {
        self.request_method.to_bytes().eq_ignore_ascii_case(b"HEAD")
    }
}

fn redirects(status: u16) -> bool {
    matches!(status, 301 | 302 | 303 | 307 | 308)
}

/// Checks that a status code has three digits and the first digit is not 0.
pub fn check_status(status: i32) -> Result<u16> {
    match u16::try_from(status) {
        Ok(code @ 100..=999) => Ok(code),
        _ => Err(Error::new(Status::InvalidArgument, format!("status must be 100 to 999; it is {status}"))),
    }
}

/// Returns the location if it differs from the value of the first Location field. Several Location fields are joined
/// with commas. Bytes that are not UTF-8 are percent-encoded, so that the server gets back the bytes that it sent.
fn encoded_location(headers: &Headers) -> Result<Option<CString>> {
    const WHAT: &str = "a location";
    let locations = || headers.get_all("location").map(CStr::to_bytes);
    let is_alone = locations().nth(1).is_none();
    if is_alone && locations().all(|location| str::from_utf8(location).is_ok()) {
        return Ok(None);
    }
    let chunks = || locations().flat_map(<[u8]>::utf8_chunks);
    let encoded: usize = chunks().map(|chunk| chunk.valid().len() + 3 * chunk.invalid().len()).sum();
    let mut location = Vec::new();
    memory::reserve(&mut location, encoded + ", ".len() * locations().count(), WHAT)?;
    for (i, value) in locations().enumerate() {
        location.extend_from_slice(if i == 0 { b"" } else { b", " });
        for chunk in value.utf8_chunks() {
            location.extend_from_slice(chunk.valid().as_bytes());
            for byte in chunk.invalid() {
                let digits = [byte >> 4, byte & 15].map(|digit| HEX.get(usize::from(digit)).copied().unwrap_or(b'0'));
                location.extend_from_slice(&[b'%', digits[0], digits[1]]);
            }
        }
    }
    memory::copy_c_string(&location, WHAT).map(Some)
}

const HEX: &[u8; 16] = b"0123456789ABCDEF";

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
    fn only_301_302_303_307_and_308_with_a_location_are_redirects() {
        for status in 100..=999 {
            let redirects = [301, 302, 303, 307, 308].contains(&status);
            let location = redirects.then_some(c"/a");
            assert_eq!(response(status, &[("Location", "/a")]).redirect_location(), location, "{status}");
            assert_eq!(response(status, &[]).redirect_location(), None);
        }
        assert_eq!(response(302, &[("location", "")]).redirect_location(), None);
        // Several Location fields are joined with commas, as in urllib3.
        assert_eq!(response(302, &[("Location", "/a"), ("location", "/b")]).redirect_location(), Some(c"/a, /b"));
    }

    #[test]
    fn location_bytes_that_are_not_utf8_are_percent_encoded() {
        let rows: &[(&[&[u8]], &CStr)] = &[
            (&[b"/caf\xe9"], c"/caf%E9"),
            (&["/caf\u{e9}".as_bytes()], c"/caf\xc3\xa9"),
            (&[b"/\xc3\xa9\xff?\xc3#\x80"], c"/\xc3\xa9%FF?%C3#%80"),
            (&[b"/a", b"/\xe9"], c"/a, /%E9"),
        ];
        for (values, expected) in rows {
            let mut builder = HeadersBuilder::new();
            for value in *values {
                builder.add(b"Location", value).unwrap();
            }
            let headers = Arc::new(builder.build());
            let response = |status| Response::new("GET", status, Arc::clone(&headers)).unwrap();
            assert_eq!(response(302).redirect_location(), Some(*expected));
            assert_eq!(response(200).redirect_location(), None);
        }
    }

    #[test]
    fn is_response_to_head_ignores_the_letter_case_of_the_method() {
        for (method, expected) in [("HEAD", true), ("head", true), ("GET", false), ("HEADX", false)] {
            let response = Response::new(method, 200, Arc::default()).unwrap();
            assert_eq!(response.is_response_to_head(), expected);
            assert_eq!(response.request_method().to_str(), Ok(method));
            assert_eq!((response.reason(), response.minor_version()), (None, None));
        }
    }

    #[test]
    fn invalid_methods_and_statuses_are_refused() {
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
    fn responses_are_send_and_sync() {
        fn shared<T: Send + Sync>() {}
        shared::<Response>();
    }
}
