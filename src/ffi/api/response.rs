//! Response heads, and the framing and decoding of bodies.

pub mod body_decoder;
pub mod range;

use std::ffi::c_char;
use std::sync::Arc;

use crate::ffi::api::basics::{netlib_error, netlib_status};
use crate::ffi::api::headers::netlib_headers;
use crate::ffi::args::{arg, arg_bytes, arg_method, arg_shared};
use crate::ffi::enums::enum_netlib_body_framing;
use crate::ffi::guard::nonblocking as guard;
use crate::ffi::out::{Out, in_out, out_opt, outs};
use crate::ffi::strings::{lend_text, read, read_bool};
use crate::ffi::{Handle, Shared, handle};
use crate::response::{Framing, MAX_HEAD, Response, check_status};
use crate::status::Status;

/// A response: the head of an HTTP response, and the method of its request. The retry policy and the framing of the
/// body depend on both. **Immutable**.
pub struct netlib_response {
    _private: [u8; 0],
}

impl Handle for netlib_response {
    type Value = Response;
    type Ownership = Shared;
}

/// Body framings: the ways to find the end of a body. `netlib_response_framing` stores the framing of a response.
#[repr(C)]
pub enum netlib_body_framing {
    /// There is no body: the next response begins right after the head.
    NETLIB_BODY_FRAMING_NONE = 0,
    /// The body has a known length.
    NETLIB_BODY_FRAMING_LENGTH = 1,
    /// The body has the chunked transfer coding (RFC 9112 section 7.1). The last chunk is empty.
    NETLIB_BODY_FRAMING_CHUNKED = 2,
    /// The body lasts until the peer closes the connection.
    NETLIB_BODY_FRAMING_UNTIL_CLOSE = 3,
}

/// Makes a response from the result of another HTTP parser, for the retry policy.
///
/// @param request_method the method of the request, a token such as "GET".
/// @param status the status code of the response, 100 to 999.
/// @param headers the response's headers.
/// @return `NETLIB_INVALID_ARGUMENT` for a method that is not a token, and for a status out of range.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_response_new(
    request_method: *const c_char,
    status: i32,
    headers: *const netlib_headers,
    response: *mut *mut netlib_response,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let response = outs!(response);
        let (request_method, headers) = (arg_method!(request_method), arg_shared!(headers));
        response.give(Arc::new(Response::new(request_method, check_status(status)?, headers)?));
        Ok(())
    })
}

/// The maximum length of a response head in bytes. For `netlib_response_parse_final`, the maximum includes the heads of
/// the interim responses before the final head. A buffer of this size is large enough for every head: the parser
/// refuses an incomplete head that fills the buffer.
pub const NETLIB_RESPONSE_HEAD_MAX: usize = 262144;
const _: () = assert!(NETLIB_RESPONSE_HEAD_MAX == MAX_HEAD);

/// Parses a response head at the start of the received bytes, for HTTP/1.0 and HTTP/1.1 (RFC 9112 sections 4 and 5).
///
/// While the head is incomplete, the call returns `NETLIB_WANT_READ`: receive more bytes, append them to the buffer,
/// and call again with the whole buffer. `state` records how much of the head the last call parsed, so that the next
/// call does not start over. Keep one `state` per buffer, initially 0. After every other result, `state` is 0 again,
/// ready for the next head. To read the response from a `netlib_stream`, call `netlib_stream_read_response` instead,
/// which needs no buffer and no loop. The following loop is for bytes from another source, here a descriptor without a
/// stream:
///
///     uint64_t state = 0;
///     while ((status = netlib_response_parse("GET", buf, used, &state, &response, &head_len, &err)) ==
///            NETLIB_WANT_READ) {
///         ssize_t n = used < sizeof buf ? recv(fd, buf + used, sizeof buf - used, 0) : -1;
///         if (n <= 0) break; // the end, an error, or a head larger than buf
///         used += (size_t)n;
///     }
///
/// Until the empty line that ends the head has arrived, the call parses the status line only; errors in header fields
/// are reported once the head is complete. The body begins at `head_len`. A response with a status of 100 to 199,
/// except 101, is an interim response, such as 100 Continue or 103 Early Hints: another head begins at `head_len`. If
/// you do not need interim responses, call `netlib_response_parse_final` instead.
///
/// The parser accepts lines that end with LF alone, up to 16 empty lines before the status line, a missing reason
/// phrase, any blanks around values, and folded lines, which it joins with a space. The parser refuses NUL, a CR
/// without LF, whitespace before a colon or before the first header, a line without a colon, a name that is no token,
/// more than 1000 fields or 2000 lines, and more than 256 KiB. Bytes that are not HTTP (a TLS alert, an SSH greeting)
/// are refused at the first such byte, without waiting for more.
///
/// @param request_method the method of the request, a token such as "GET".
/// @param head the bytes received so far.
/// @param len the number of bytes in `head`, or `NETLIB_NTS` for NUL-terminated text, whose length each call determines
///        anew.
/// @param state in/out: 0 for a new head; otherwise the number that the last call stored for the same buffer, before
///        more bytes were appended. The number is opaque. A call that returns `NETLIB_WANT_READ` stores a new number; a
///        call with any other result stores 0. May be NULL: each call parses `head` from its start.
/// @param head_len out: the length of the head in bytes, including the empty line.
/// @param err the error's offset is the position of the defect in `head`.
/// @return `NETLIB_WANT_READ` while the head is incomplete; `NETLIB_PROTOCOL` if the bytes are not a response head;
///         `NETLIB_INVALID_ARGUMENT` if the method is not a token, or if no call has stored this `state` for these
///         bytes. If a wrong `state` is not detected, the response may be returned later, or the call may fail with
///         `NETLIB_PROTOCOL`, but a response that is returned is correct.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_response_parse(
    request_method: *const c_char,
    head: *const c_char,
    len: usize,
    state: *mut u64,
    response: *mut *mut netlib_response,
    head_len: *mut usize,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let mut progress = in_out!(state);
        let state = out_opt!(state);
        let (response, head_len) = outs!(response, head_len);
        let (request_method, head) = (arg_method!(request_method), arg_bytes!(head, len));
        let found = Response::parse(request_method, head, &mut progress)?;
        Ok(store_parsed(found, progress, state, response, head_len))
    })
}

/// Parses the head of the final response, as `netlib_response_parse` does, and skips the heads of the interim responses
/// before it. A response is interim if its status is 100 to 199, except 101 (RFC 9110 section 15.2).
///
/// At most 16 interim responses are skipped. The heads of the interim responses and of the final response have at most
/// 256 KiB together. The head of an interim response is refused for the same defects as the head of a final response.
/// The result is the response that repeated calls of `netlib_response_parse` return after the interim responses.
///
/// @param request_method the method of the request, a token such as "GET".
/// @param head the bytes received so far, including interim responses.
/// @param len the number of bytes in `head`, or `NETLIB_NTS` for NUL-terminated text, whose length each call determines
///        anew.
/// @param state in/out: as for `netlib_response_parse`. Do not pass a `state` that `netlib_response_parse` stored to
///        `netlib_response_parse_final`, or the reverse. May be NULL: each call parses `head` from its start.
/// @param head_len out: the length in bytes of all skipped heads and of the final head.
/// @param err the error's offset is the position of the defect in `head`.
/// @return `NETLIB_WANT_READ` while the head of the final response is incomplete; `NETLIB_PROTOCOL` if the bytes are
///         not response heads, or for more than 16 interim responses; `NETLIB_INVALID_ARGUMENT` if the method is not a
///         token, or if no call has stored this `state` for these bytes. If a wrong `state` is not detected, the
///         response may be returned later, or the call may fail with `NETLIB_PROTOCOL`, but a response that is returned
///         is correct.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_response_parse_final(
    request_method: *const c_char,
    head: *const c_char,
    len: usize,
    state: *mut u64,
    response: *mut *mut netlib_response,
    head_len: *mut usize,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let mut progress = in_out!(state);
        let state = out_opt!(state);
        let (response, head_len) = outs!(response, head_len);
        let (request_method, head) = (arg_method!(request_method), arg_bytes!(head, len));
        let found = Response::parse_final(request_method, head, &mut progress)?;
        Ok(store_parsed(found, progress, state, response, head_len))
    })
}

/// Stores the response and the length of its head, or the state of an incomplete head.
fn store_parsed(
    found: Option<(Response, usize)>,
    progress: u64,
    state: Option<Out<'_, u64>>,
    response: Out<'_, *mut netlib_response>,
    head_len: Out<'_, usize>,
) -> Status {
    let Some((parsed, length)) = found else {
        if let Some(state) = state {
            state.set(progress);
        }
        return Status::WantRead;
    };
    response.give(Arc::new(parsed));
    head_len.set(length);
    Status::Ok
}

/// Returns another reference to the same response.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_response_clone(response: *const netlib_response) -> *mut netlib_response {
    handle::clone(response)
}

/// Releases a response.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_response_free(response: *mut netlib_response) {
    guard::nothing(|| handle::free(response));
}

/// Returns the status code of a response: 100 to 999.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_response_status(response: *const netlib_response) -> i32 {
    read(response, 0, |response| response.status().into())
}

/// Returns the headers of a response, in the order in which they were received. `netlib_headers_clone` makes a
/// reference that outlives the response.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_response_headers(response: *const netlib_response) -> *const netlib_headers {
    read(response, std::ptr::null(), |response| handle::lend(Some(response.headers())))
}

/// Returns the method of the request to which the response belongs, unchanged.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_response_request_method(
    response: *const netlib_response,
    len: *mut usize,
) -> *const c_char {
    lend_text(response, len, |response| Some(response.request_method()))
}

/// Returns the reason phrase, which is the text after the status code. Use the status code instead of the reason phrase
/// to make decisions: a server may send any text. The bytes need not be UTF-8. The result is "" when the server sent no
/// reason phrase, and NULL when the response was made by `netlib_response_new`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_response_reason(response: *const netlib_response, len: *mut usize) -> *const c_char {
    lend_text(response, len, Response::reason)
}

/// Returns the minor version of HTTP/1 that the server sent, 0 or 1; -1 when the response was made by
/// `netlib_response_new`, and for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_response_minor_version(response: *const netlib_response) -> i32 {
    read(response, -1, |response| response.minor_version().map_or(-1, i32::from))
}

/// Returns the Location of a response with the status 301, 302, 303, 307 or 308: a URL reference, which
/// `netlib_url_resolve` resolves. Returns NULL for any other status, and if the Location is absent or empty. The text
/// is always UTF-8: bytes that are not UTF-8, which older servers send, are percent-encoded, so that the next request
/// returns the same bytes to the server. Several Location headers are joined with ", ".
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_response_redirect_location(
    response: *const netlib_response,
    len: *mut usize,
) -> *const c_char {
    lend_text(response, len, Response::redirect_location)
}

/// Determines how to find the end of a response's body (RFC 9112 section 6.3).
///
/// A response has no body if the request's method is HEAD, or if the status is 100 to 199, 204 or 304. A response to
/// CONNECT with a status of 200 to 299 has no body either: the connection is then a tunnel. Methods are case-sensitive:
/// "head" is not HEAD. The rules for the method and the status take precedence over the headers Transfer-Encoding and
/// Content-Length. If there is a Transfer-Encoding whose last coding is chunked, the body comes in chunks; with another
/// last coding, the body lasts until the peer closes the connection. A Content-Length is ignored if there is a
/// Transfer-Encoding. Without a Transfer-Encoding, Content-Length is the length of the body. Without Transfer-Encoding
/// and Content-Length, the body lasts until the peer closes the connection. `netlib_body_decoder_decode` finds the end
/// of the body, and `netlib_response_keeps_alive` tells whether the connection can be used again.
///
/// A Transfer-Encoding that is not a valid list of codings (RFC 9112 section 7) is refused, because an intermediary may
/// find "chunked" in the invalid list. For example, a list is invalid if a name is empty or not a token, if a parameter
/// has no value, or if a quote is not terminated.
///
/// @param length out: the length of the body in bytes if `framing` is `NETLIB_BODY_FRAMING_LENGTH`, else -1.
/// @return `NETLIB_PROTOCOL` if there are different Content-Length values, if a Content-Length is not a number or does
///         not fit an int64_t, if Transfer-Encoding is not a valid list of codings, or if chunked has a parameter or is
///         not the last coding. After `NETLIB_PROTOCOL`, nothing more can be read from the connection.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_response_framing(
    response: *const netlib_response,
    framing: *mut enum_netlib_body_framing,
    length: *mut i64,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let (framing, length) = outs!(framing, length);
        let (kind, bytes) = match arg!(response).framing()? {
            Framing::None => (netlib_body_framing::NETLIB_BODY_FRAMING_NONE, -1),
            Framing::Length(bytes) => (netlib_body_framing::NETLIB_BODY_FRAMING_LENGTH, bytes),
            Framing::Chunked => (netlib_body_framing::NETLIB_BODY_FRAMING_CHUNKED, -1),
            Framing::UntilClose => (netlib_body_framing::NETLIB_BODY_FRAMING_UNTIL_CLOSE, -1),
        };
        framing.set(kind as i32);
        length.set(bytes);
        Ok(())
    })
}

/// Checks the response of a proxy to CONNECT: a status of 200 to 299 opens a tunnel (RFC 9110 section 9.3.6).
///
/// The bytes after the head of a response that opens a tunnel belong to the tunnel; a Content-Length or
/// Transfer-Encoding is ignored. If the protocol inside the tunnel is TLS, in which the client sends first, refuse such
/// bytes, as `netlib_tls_wrap_stream` does: the proxy or an attacker has sent them.
///
/// `netlib_error_http_status` returns the status code of a refused response. For a status of 500 or more, the error has
/// the retry kind `NETLIB_RETRY_KIND_CONNECT`, because the proxy may reach the server later. For any other status, the
/// error has the retry kind `NETLIB_RETRY_KIND_OTHER`. For 407, the error's advice names the function that sets the
/// credentials.
///
/// @param response the final response: see `netlib_response_parse_final`.
/// @return `NETLIB_PROXY_FAILED` for a status other than 200 to 299; `NETLIB_INVALID_ARGUMENT` if the request's method
///         is not CONNECT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_response_check_tunnel(
    response: *const netlib_response,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || arg!(response).check_tunnel())
}

/// Returns 1 if the request's method is HEAD, compared case-insensitively as in urllib3, else 0. To find the end of the
/// body, use `netlib_response_framing`, which compares methods case-sensitively.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_is_response_to_head(response: *const netlib_response) -> i32 {
    read_bool(response, false, Response::is_response_to_head)
}
