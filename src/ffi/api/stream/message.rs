//! Reading responses from a stream.

use std::ffi::{c_char, c_void};
use std::sync::Arc;

use crate::ffi::api::basics::{netlib_error, netlib_status};
use crate::ffi::api::response::body_decoder::netlib_body_decoder;
use crate::ffi::api::response::netlib_response;
use crate::ffi::api::stream::netlib_stream;
use crate::ffi::args::{arg_buffer, arg_kept_alive, arg_method, arg_mut};
use crate::ffi::guard;
use crate::ffi::out::outs;
use crate::status::Status;
use crate::stream::ResponseRead;

/// Reads the head of the final response from a stream, and skips the heads of interim responses, as
/// `netlib_response_parse_final` does. To read the body, make a body decoder, and call `netlib_stream_read_body`.
///
///     status = netlib_stream_read_response(stream, "GET", &response, &err);
///     if (status == NETLIB_OK) status = netlib_body_decoder_new(response, &decoder, &err);
///     while (status == NETLIB_OK) {
///         status = netlib_stream_read_body(stream, decoder, buf, sizeof buf, &n, &err);
///         if (fwrite(buf, 1, n, file) != n) break;
///     }
///     // The body is complete if status is NETLIB_END_OF_STREAM.
///
/// The stream keeps bytes that it has received after the head, at most `NETLIB_RESPONSE_HEAD_MAX`. The kept bytes are
/// the unread bytes of the stream: the next read, of any kind, returns the unread bytes first, without waiting. After
/// the response that opens a tunnel (CONNECT), or a response with the status 101, the unread bytes belong to the new
/// protocol. `netlib_stream_pending` returns the number of unread bytes. If bytes are unread after a response and its
/// body, `netlib_stream_is_dropped` reports the connection as dropped.
///
/// After any result except `NETLIB_OK`, the bytes of an incomplete or malformed head stay unread. After
/// `NETLIB_WANT_READ`, a timeout or another end of the wait, call the function again: the call continues to parse the
/// head where the last call stopped. After `NETLIB_WANT_READ`, always poll first, even if `netlib_stream_pending`
/// returns a number above 0.
///
/// If the connection ends before the first byte of the response, the status does not depend on how it ends: with or
/// without close_notify, or with a reset, whose errno `netlib_error_errno` returns. The server may have processed the
/// request. The status is `NETLIB_STALE_CONNECTION` if the stream is reused, otherwise `NETLIB_PROTOCOL`. A stream is
/// reused if `netlib_stream_read_response` and `netlib_stream_read_body` have read a whole response from it, and
/// nothing has been read after that. Servers close idle connections, so a client that reuses connections must expect
/// `NETLIB_STALE_CONNECTION`: see `netlib_retry_options_set_any_method_if_stale`.
///
/// The call skips a response with the status 100. A request with `Expect: 100-continue` needs `netlib_stream_read` and
/// `netlib_response_parse` instead, because its body is sent only after that response, or after a time without one.
///
/// @param request_method the method of the request, a token such as "GET".
/// @param err for a malformed head, the error's offset is the position of the defect, counted from the start of the
///        first interim response, or of the head if there is none. If the connection is lost inside the head, the
///        offset is the number of received bytes. If the connection is lost before the first byte, the error has no
///        offset.
/// @return `NETLIB_WANT_READ` if the stream is non-blocking and the head is incomplete, and during a TLS handshake also
///         `NETLIB_WANT_WRITE`; `NETLIB_PROTOCOL` if the bytes are not a response head, if the connection ended before
///         the end of the head, and for more than 16 interim responses; `NETLIB_STALE_CONNECTION` if a reused
///         connection ended before the first byte; `NETLIB_INVALID_ARGUMENT` if the method is not a token; all failures
///         of `netlib_stream_read`.
/// @threads one reader and one writer at the same time
/// @blocks if the stream is blocking. The stream's limit and timeouts end the wait.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_stream_read_response(
    stream: *mut netlib_stream,
    request_method: *const c_char,
    response: *mut *mut netlib_response,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let response = outs!(response);
        Ok(match arg_kept_alive!(stream, |_| true).read_response(arg_method!(request_method))? {
            ResponseRead::Done(received) => {
                response.give(Arc::new(received));
                Status::Ok
            }
            ResponseRead::Want(want) => want.status(),
        })
    })
}

/// Reads the bytes of a response's body that are available, at least one and at most `len`. The call removes the
/// chunked transfer coding by the rules of `netlib_body_decoder`. Bytes that have arrived after the body are left to
/// the next read. The call receives directly into `buf`, and never receives bytes after a body with a Content-Length.
///
/// The call does what `netlib_stream_read` and `netlib_body_decoder_decode` do together, so do not call
/// `netlib_body_decoder_end`. If the peer ends its data, the body is complete only if its framing is
/// `NETLIB_BODY_FRAMING_UNTIL_CLOSE`.
///
/// @param decoder the decoder for the body of the response whose head was read last from the stream.
/// @param len the size of `buf` in bytes; with 0, nothing is read. Buffers of 16 KiB or more are the fastest.
/// @param n out: the number of bytes of the body at the start of `buf`. The call may overwrite the rest of `buf`.
/// @return `NETLIB_END_OF_STREAM` when the body is complete, without I/O if the response has no body:
///         `netlib_body_decoder_trailers` then returns the trailer fields;
///         `NETLIB_INCOMPLETE_READ` if the peer has ended its data inside the body; `NETLIB_PROTOCOL` if the chunked
///         transfer coding is malformed, exceeds a limit, or has a trailer field that `netlib_body_decoder` refuses;
///         `NETLIB_WANT_READ` if the stream is non-blocking and no
///         byte of the body has arrived, and during a TLS handshake also `NETLIB_WANT_WRITE`; `NETLIB_TLS_TRUNCATED`;
///         all failures of `netlib_stream_read`.
/// @threads one reader and one writer at the same time
/// @blocks if the stream is blocking. The stream's limit and timeouts end the wait.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_stream_read_body(
    stream: *mut netlib_stream,
    decoder: *mut netlib_body_decoder,
    buf: *mut c_void,
    len: usize,
    n: *mut usize,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let n = outs!(n);
        let stream = arg_kept_alive!(stream, |_| true);
        let mut decoder = arg_mut!(decoder);
        let done = stream.read_body(&mut decoder, arg_buffer!(buf, len))?;
        n.set(done.count());
        Ok(done.status())
    })
}
