//! Response heads: parsing them and asking them.

use std::ffi::{CStr, CString};
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::headers::{Headers, is_token_byte, show_byte, show_name};
use crate::status::Status;

/// The head of a response and the method that asked for it: immutable, cheap to share behind an `Arc`.
#[derive(Debug)]
pub struct Response {
    request_method: CString,
    status: u16,
    headers: Arc<Headers>,
    reason: Option<CString>,
    minor_version: Option<u8>,
    /// Of several Location fields, their values joined; one is lent from the headers.
    joined_location: Option<CString>,
}

impl Response {
    pub fn new(request_method: &str, status: u16, headers: Arc<Headers>) -> Result<Response> {
        let request_method = check_method(request_method)?;
        if !(100..=999).contains(&status) {
            return Err(Error::new(Status::InvalidArgument, format!("status must be 100 to 999; it is {status}")));
        }
        let joined_location = join_locations(&headers);
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
        if !matches!(self.status, 301 | 302 | 303 | 307 | 308) {
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

fn check_method(method: &str) -> Result<CString> {
    let invalid = |message: String, at| Err(Error::new(Status::InvalidArgument, message).at(at));
    if method.is_empty() {
        return invalid("request_method is empty".to_owned(), 0);
    }
    if let Some((at, byte)) = method.bytes().enumerate().find(|(_, byte)| !is_token_byte(*byte)) {
        let shown = show_name(method.as_bytes());
        return invalid(format!("request_method \"{shown}\": {} is not allowed at byte {at}", show_byte(byte)), at);
    }
    Ok(CString::new(method).unwrap_or_default())
}

/// What a list of several Location fields reads as; `None` for one or none.
fn join_locations(headers: &Headers) -> Option<CString> {
    let locations: Vec<&[u8]> = headers.get_all("location").map(CStr::to_bytes).collect();
    if locations.len() < 2 { None } else { CString::new(locations.join(&b", "[..])).ok() }
}
