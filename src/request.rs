//! Makes request heads: the request line, the Host field, the other fields and the empty line (RFC 9112 sections 2.1
//! and 3).

use std::ffi::{CStr, CString};

use zeroize::Zeroizing;

use crate::error::{Error, Result};
use crate::headers::{Headers, check_method, describe_byte, invalid_header_error, is_token_byte};
use crate::memory;
use crate::response::{Framing, content_length, transfer_framing};
use crate::status::Status;
use crate::url::Url;

/// The form of the request target (RFC 9112 section 3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetForm {
    /// The path and the query, for a request to the server.
    Origin = 0,
    /// The URL without userinfo and fragment, for a request to a proxy.
    Absolute = 1,
    /// The host and the port, for CONNECT.
    Authority = 2,
    /// "*", for an OPTIONS request about the whole server.
    Asterisk = 3,
}

impl TargetForm {
    /// Returns the form with this number; `None` if no form has this number.
    pub fn from_code(code: i32) -> Option<TargetForm> {
        use TargetForm::{Absolute, Asterisk, Authority, Origin};
        [Origin, Absolute, Authority, Asterisk].into_iter().find(|&form| form as i32 == code)
    }

    /// Checks that the method can have a target of this form. Methods are case-sensitive.
    fn check(self, method: &str) -> Result<()> {
        let problem = match (self, method) {
            (TargetForm::Authority, "CONNECT") | (TargetForm::Asterisk, "OPTIONS") => return Ok(()),
            (_, "CONNECT") => "the method CONNECT needs the authority form",
            (TargetForm::Authority, _) => "the authority form needs the method CONNECT",
            (TargetForm::Asterisk, _) => "the asterisk form needs the method OPTIONS",
            _ => return Ok(()),
        };
        Err(Error::new(Status::InvalidArgument, problem))
    }
}

/// The head of a request. Its only lines are the request line, the Host field, the fields of the given header list, and
/// the empty line.
pub struct Request {
    head: CString,
}

impl Request {
    pub fn new(method: &str, url: &Url, headers: &Headers, form: TargetForm) -> Result<Request> {
        check_method("method", method)?;
        form.check(method)?;
        headers.check_controls()?;
        let authority = authority(url, form)?;
        let target = Zeroizing::new(target(url, &authority, form)?);
        check_connection_options(headers)?;
        check_framing(headers, form)?;
        let host = host_field(headers, &authority, form)?;
        let mut head = Vec::new();
        let fields = || headers.iter().filter(|(name, _)| !is_host(name));
        let fields_length: usize = fields().map(|(name, value)| name.count_bytes() + value.count_bytes() + 4).sum();
        let start = [method.as_bytes(), b" ", &target, b" HTTP/1.1\r\n", host.0, b": ", host.1, b"\r\n"];
        let start_length: usize = start.iter().map(|part| part.len()).sum();
        memory::reserve(&mut head, start_length + fields_length + b"\r\n\0".len(), "a request head")?;
        for part in start {
            head.extend_from_slice(part);
        }
        for (name, value) in fields() {
            for part in [name.to_bytes(), b": ", value.to_bytes(), b"\r\n"] {
                head.extend_from_slice(part);
            }
        }
        head.extend_from_slice(b"\r\n\0");
        Ok(Request { head: CString::from_vec_with_nul(head).unwrap_or_default() })
    }

    /// Returns the bytes to send.
    pub fn wire(&self) -> &CStr {
        &self.head
    }
}

/// Wipes the head, because fields and query may contain credentials.
impl Drop for Request {
    fn drop(&mut self) {
        memory::wipe(&mut std::mem::take(&mut self.head).into_bytes());
    }
}

/// Returns host and port of a URL. CONNECT needs a port, which may be the default port of the scheme. An absent host
/// gives an empty text, which only the origin and the asterisk form allow.
fn authority(url: &Url, form: TargetForm) -> Result<Vec<u8>> {
    let port = if form == TargetForm::Authority { connect_port(url)? } else { url.port() };
    let port = port.map(|port| format!(":{port}")).unwrap_or_default();
    let host = url.host().map_or(&b""[..], CStr::to_bytes);
    if host.is_empty() {
        return match form {
            TargetForm::Origin | TargetForm::Asterisk => Ok(Vec::new()),
            TargetForm::Absolute => Err(url_error("the absolute form needs a URL with a host")),
            TargetForm::Authority => Err(url_error("the authority form needs a URL with a host")),
        };
    }
    // The zone of an IPv6 address has a meaning on this machine only, so it is not sent (RFC 6874 section 4).
    let (host, end) = match host.iter().position(|&byte| byte == b'%') {
        Some(zone) if host.starts_with(b"[") => (host.get(..zone).unwrap_or(host), &b"]"[..]),
        _ => (host, &b""[..]),
    };
    let authority = joined(&[host, end, port.as_bytes()])?;
    check_bytes(&authority, is_authority_byte)
        .map_err(|(byte, at)| url_error(&format!("the URL's host: {byte} is not allowed at byte {at}")).at(at))?;
    Ok(authority)
}

fn connect_port(url: &Url) -> Result<Option<u16>> {
    match url.effective_port() {
        None => Err(url_error("the authority form needs a URL with a port: its scheme has no default port")),
        Some(0) => Err(url_error("the authority form needs a URL with a port other than 0")),
        port => Ok(port),
    }
}

fn target(url: &Url, authority: &[u8], form: TargetForm) -> Result<Vec<u8>> {
    let uri = url.request_uri()?.to_bytes();
    let target = match form {
        TargetForm::Origin => joined(&[uri])?,
        TargetForm::Absolute => {
            // A URL without a scheme is an http URL, as in `Url::effective_port`.
            let scheme = url.scheme().map_or(&b"http"[..], CStr::to_bytes);
            joined(&[scheme, b"://", authority, uri])?
        }
        TargetForm::Authority => joined(&[authority])?,
        TargetForm::Asterisk => joined(&[b"*"])?,
    };
    // The URL parser encodes invalid bytes, but only in URLs whose scheme is http, https or absent.
    check_bytes(&target, |byte| is_authority_byte(byte) || matches!(byte, b'/' | b'?' | b'@'))
        .map_err(|(byte, at)| url_error(&format!("the request target: {byte} is not allowed at byte {at}")).at(at))?;
    Ok(target)
}

/// Returns name and value of the Host field: the field of the header list, or, if the list has none, a field with the
/// host and port of the URL.
fn host_field<'a>(headers: &'a Headers, authority: &'a [u8], form: TargetForm) -> Result<(&'a [u8], &'a [u8])> {
    let mut given = headers.iter().filter(|(name, _)| is_host(name));
    let (name, value) = match (given.next(), given.next()) {
        (Some(_), Some(_)) => return Err(invalid_header_error("header Host: there are several fields")),
        (Some((name, value)), None) => (name.to_bytes(), value.to_bytes()),
        (None, _) if authority.is_empty() => {
            return Err(url_error("neither the URL nor the headers have a host, which HTTP/1.1 requires"));
        }
        (None, _) => return Ok((b"Host", authority)),
    };
    if value.is_empty() {
        return Err(invalid_header_error("header Host: the value is empty"));
    }
    check_bytes(value, is_authority_byte).map_err(|(byte, at)| {
        invalid_header_error(format!("header Host: {byte} is not allowed in the value at byte {at}")).at(at)
    })?;
    // A proxy and the server must not find different hosts (RFC 9112 section 3.2.2).
    let names_host = matches!(form, TargetForm::Absolute | TargetForm::Authority);
    if names_host && !value.eq_ignore_ascii_case(authority) {
        return Err(invalid_header_error("header Host: the value differs from host and port of the request target"));
    }
    Ok((name, value))
}

/// The headers that a connection option must not name (RFC 9110 section 7.6.1). A proxy that removed such a header would
/// send the request on with another host or another end of its body.
const NOT_CONNECTION_OPTIONS: [&[u8]; 3] = [b"Host", b"Content-Length", b"Transfer-Encoding"];

fn check_connection_options(headers: &Headers) -> Result<()> {
    for option in headers.get_all("connection").flat_map(|value| value.to_bytes().split(|&byte| byte == b',')) {
        let option = option.trim_ascii();
        if let Some(name) = NOT_CONNECTION_OPTIONS.iter().find(|name| name.eq_ignore_ascii_case(option)) {
            let name = String::from_utf8_lossy(name);
            return Err(invalid_header_error(format!("header Connection: the option {name} is not allowed")));
        }
    }
    Ok(())
}

/// Checks that every recipient of the request finds the same end of the request's body (RFC 9112 section 6).
fn check_framing(headers: &Headers, form: TargetForm) -> Result<()> {
    let mut lengths = headers.get_all("content-length").map(CStr::to_bytes);
    let (length, second) = (lengths.next(), lengths.next());
    let encodings = headers.get_all("transfer-encoding").count();
    let is_encoded = encodings > 0;
    let problem = if form == TargetForm::Authority && length.is_some() {
        "header Content-Length: a CONNECT request has no body"
    } else if form == TargetForm::Authority && is_encoded {
        "header Transfer-Encoding: a CONNECT request has no body"
    } else if second.is_some() {
        "header Content-Length: there are several fields"
    } else if length.is_some() && is_encoded {
        "header Content-Length: not allowed together with Transfer-Encoding"
    } else if encodings > 1 {
        // Some recipients use only the first or the last field.
        "header Transfer-Encoding: there are several fields"
    } else {
        // The message of an error names the field and its defect.
        let invalid = |error: Error| invalid_header_error(error.message());
        length.map_or(Ok(0), content_length).map_err(invalid)?;
        if !is_encoded || transfer_framing(headers).map_err(invalid)? == Framing::Chunked {
            return headers.get("transfer-encoding").map_or(Ok(()), |value| check_coding_bytes(value.to_bytes()));
        }
        "header Transfer-Encoding: chunked must be the last coding of a request"
    };
    Err(invalid_header_error(problem))
}

/// Refuses parameters of codings, which some recipients ignore and others refuse, and tabs: after "chunked", some
/// recipients remove a tab, and others read it as a part of the name.
fn check_coding_bytes(value: &[u8]) -> Result<()> {
    check_bytes(value, |byte| is_token_byte(byte) || matches!(byte, b',' | b' ')).map_err(|(byte, at)| {
        invalid_header_error(format!("header Transfer-Encoding: {byte} is not allowed in the value at byte {at}"))
            .at(at)
    })
}

fn is_host(name: &CStr) -> bool {
    name.to_bytes().eq_ignore_ascii_case(b"host")
}

/// Returns whether a host and port may contain the byte (RFC 3986 section 3.2.2).
fn is_authority_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~%!$&'()*+,;=:[]".contains(&byte)
}

/// Fails with the description and the offset of the first byte that is not allowed.
fn check_bytes(text: &[u8], is_allowed: impl Fn(u8) -> bool) -> std::result::Result<(), (String, usize)> {
    let bad = text.iter().enumerate().find(|(_, byte)| !is_allowed(**byte));
    bad.map_or(Ok(()), |(at, &byte)| Err((describe_byte(byte), at)))
}

fn joined(parts: &[&[u8]]) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    memory::reserve(&mut text, parts.iter().map(|part| part.len()).sum(), "a request target")?;
    for part in parts {
        text.extend_from_slice(part);
    }
    Ok(text)
}

fn url_error(message: &str) -> Error {
    Error::new(Status::InvalidUrl, message)
}

#[cfg(test)]
mod tests;
