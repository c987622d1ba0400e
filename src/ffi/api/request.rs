//! Request heads.

pub mod attempts;

use std::ffi::c_char;
use std::sync::Arc;

use crate::error::Error;
use crate::ffi::api::basics::{netlib_error, netlib_status};
use crate::ffi::api::headers::netlib_headers;
use crate::ffi::api::url::netlib_url;
use crate::ffi::args::{arg, arg_method, arg_opt};
use crate::ffi::enums::enum_netlib_request_form;
use crate::ffi::guard::nonblocking as guard;
use crate::ffi::out::outs;
use crate::ffi::strings::lend_text;
use crate::ffi::{Handle, Shared, handle};
use crate::headers::Headers;
use crate::request::{Request, TargetForm};
use crate::status::Status;

/// The head of an HTTP/1.1 request: the request line, the header fields and the empty line after them. **Immutable**.
///
///     netlib_request *request = NULL;
///     size_t len = 0, n = 0;
///     status = netlib_request_new("GET", url, headers, NETLIB_REQUEST_FORM_ORIGIN, &request, &err);
///     const char *head = netlib_request_to_wire(request, &len);
///     if (status == NETLIB_OK) status = netlib_stream_write(stream, head, len, &n, &err);
///     netlib_request_free(request);
///
/// The body of the request, if any, follows the head.
pub struct netlib_request {
    _private: [u8; 0],
}

impl Handle for netlib_request {
    type Value = Request;
    type Ownership = Shared;
}

/// Forms of the request target, which is the second word of the request line (RFC 9112 section 3.2).
#[repr(C)]
pub enum netlib_request_form {
    /// The path and the query, as in "GET /a?b HTTP/1.1": for a request to the server, directly or through a tunnel.
    NETLIB_REQUEST_FORM_ORIGIN = 0,
    /// The URL without userinfo and fragment, as in "GET http://example.com/a?b HTTP/1.1": for a request to a proxy
    /// that passes the request on.
    NETLIB_REQUEST_FORM_ABSOLUTE = 1,
    /// The host and the port, as in "CONNECT example.com:443 HTTP/1.1": for opening a tunnel through a proxy.
    NETLIB_REQUEST_FORM_AUTHORITY = 2,
    /// "*", as in "OPTIONS * HTTP/1.1": for a request about the whole server.
    NETLIB_REQUEST_FORM_ASTERISK = 3,
}

/// Makes the head of a request (RFC 9112 sections 3 and 5).
///
/// The first field is Host, which is taken from `headers`. If `headers` contain no Host, the call makes its value: the
/// request target for `NETLIB_REQUEST_FORM_AUTHORITY`, and the URL's host and port (`netlib_url_netloc`) for every
/// other form. The call adds no other field: `headers` must contain Content-Length or Transfer-Encoding if the request
/// has a body. The fields after Host keep their order and letter case. The URL's userinfo, its fragment and the zone of
/// its IPv6 address are never sent. An absent path is sent as "/". In the absolute form, an absent scheme is sent as
/// "http".
///
/// The call refuses the following requests, because two recipients could read them differently:
/// - a byte in the target that a URL may not contain (RFC 3986), such as a blank, a control character or a non-ASCII
///   byte. The URL parser encodes such bytes if the scheme is http, https or absent, so only URLs with other schemes
///   contain such bytes.
/// - more than one Host; a Host that is empty or contains a byte that a host and port may not contain; in the absolute
///   and the authority form, a Host that differs from the host and port of the target.
/// - more than one Content-Length, a Content-Length that is not a number or does not fit an int64_t, Content-Length
///   together with Transfer-Encoding, more than one Transfer-Encoding, a Transfer-Encoding whose last coding is not
///   chunked, and a Transfer-Encoding with a tab or with parameters of a coding.
/// - Content-Length and Transfer-Encoding in a CONNECT request, which has no body (RFC 9110 section 9.3.6).
/// - Host, Content-Length or Transfer-Encoding as an option in Connection, which asks a proxy to remove the header (RFC
///   9110 section 7.6.1).
/// - a control character other than a tab in a header value (RFC 9110 section 5.5).
///
/// For a CONNECT request to a proxy, pass "CONNECT", the URL of the request that uses the tunnel,
/// `NETLIB_REQUEST_FORM_AUTHORITY`, and only the headers for the proxy, such as `proxy-authorization`
/// (`netlib_headers_options_set_proxy_basic_auth`). The port is the URL's port or the default port of its scheme.
/// `netlib_response_check_tunnel` checks the proxy's response.
///
/// @param method the method, a token such as "GET". Methods are case-sensitive. CONNECT requires the authority form,
///        which no other method allows. Only OPTIONS allows the asterisk form.
/// @param url the URL of the request.
/// @param headers the header fields. May be NULL: Host is the only field.
/// @param form the form of the target.
/// @param err the error's offset is the position of the invalid byte in the method, the target, the host or the value
///        that the error message names.
/// @return `NETLIB_INVALID_ARGUMENT` for a method that is not a token, or that the form does not allow, and for an
///         unknown form; `NETLIB_INVALID_URL` for an invalid byte in the target, for a URL without a host if the form
///         or the Host field needs it, and in the authority form for port 0 and for a URL without a port whose scheme
///         has no default port; `NETLIB_INVALID_HEADER` for an invalid Host, Content-Length, Transfer-Encoding or
///         Connection, and for a control character in a value.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_request_new(
    method: *const c_char,
    url: *const netlib_url,
    headers: *const netlib_headers,
    form: enum_netlib_request_form,
    request: *mut *mut netlib_request,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let request = outs!(request);
        let (method, url, headers) = (arg_method!(method), arg!(url), arg_opt!(headers));
        let form = TargetForm::from_code(form).ok_or_else(|| {
            Error::new(Status::InvalidArgument, format!("form must be a netlib_request_form; it is {form}"))
        })?;
        let none = Headers::default();
        request.give(Arc::new(Request::new(method, &url, headers.unwrap_or(&none), form)?));
        Ok(())
    })
}

/// Returns another reference to the same request.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_request_clone(request: *const netlib_request) -> *mut netlib_request {
    handle::clone(request)
}

/// Releases a request. The memory of its head is overwritten, because the head may contain credentials.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_request_free(request: *mut netlib_request) {
    guard::nothing(|| handle::free(request));
}

/// Returns the head of a request as bytes to send, including the empty line at its end.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_request_to_wire(request: *const netlib_request, len: *mut usize) -> *const c_char {
    lend_text(request, len, |request| Some(request.wire()))
}
