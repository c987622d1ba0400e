//! Reading responses from a stream.

use std::ffi::{c_char, c_void};
use std::sync::Arc;

use crate::ffi::api::basics::bytes::netlib_bytes;
use crate::ffi::api::basics::{netlib_error, netlib_status};
use crate::ffi::api::response::body_decoder::netlib_body_decoder;
use crate::ffi::api::response::netlib_response;
use crate::ffi::api::stream::netlib_stream;
use crate::ffi::args::{arg_buffer, arg_kept_alive, arg_method, arg_mut};
use crate::ffi::guard;
use crate::ffi::out::{Out, outs};
use crate::memory::TerminatedBytes;
use crate::status::Status;
use crate::stream::{BodyRead, Heads, ResponseRead};

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
/// The call skips a response with the status 100. For a request with `Expect: 100-continue`, call
/// `netlib_stream_read_next_response` first.
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
        let stream = arg_kept_alive!(stream, |_| true);
        Ok(give_response(stream.read_response(arg_method!(request_method), Heads::Final)?, response))
    })
}

/// Reads the head of the next response from a stream, interim or final. The function is like
/// `netlib_stream_read_response`, but skips no response. A response is interim if its status is 100 to 199, except 101
/// (RFC 9110 section 15.2): call the function until a response is not interim. A peer can send any number of interim
/// responses, so close the connection after too many.
///
/// A client that sends a request with `Expect: 100-continue` sends the body of the request after a response with the
/// status 100, or after a wait without a response. For this wait, set a read timeout of, for example, one second. If
/// the call fails with `NETLIB_READ_TIMEOUT`, set the old timeout again, send the body, and call the function again. If
/// a final response arrives first, do not send the body. The status 103 announces header fields, such as Link, before
/// the final response.
///
/// @param request_method the method of the request, a token such as "GET".
/// @param err as for `netlib_stream_read_response`, but the error's offset counts from the start of the head.
/// @return `NETLIB_WANT_READ` and `NETLIB_WANT_WRITE` as from `netlib_stream_read_response`; the failures of
///         `netlib_stream_read_response`, except that no number of interim responses is a failure.
/// @threads one reader and one writer at the same time
/// @blocks if the stream is blocking. The stream's limit and timeouts end the wait.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_stream_read_next_response(
    stream: *mut netlib_stream,
    request_method: *const c_char,
    response: *mut *mut netlib_response,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let response = outs!(response);
        let stream = arg_kept_alive!(stream, |_| true);
        Ok(give_response(stream.read_response(arg_method!(request_method), Heads::Any)?, response))
    })
}

fn give_response(read: ResponseRead, response: Out<'_, *mut netlib_response>) -> Status {
    match read {
        ResponseRead::Done(received) => {
            response.give(Arc::new(received));
            Status::Ok
        }
        ResponseRead::Want(want) => want.status(),
    }
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

/// Reads a whole response body into memory, or its rest if `netlib_stream_read_body` has returned bytes before. The
/// rules are those of `netlib_stream_read_body`. Use this function for a body that fits in memory, such as JSON.
///
/// After `NETLIB_WANT_READ`, a timeout or another end of the wait, call the function again with the same decoder: the
/// decoder keeps the bytes that have arrived. Until the function has returned the body, no other function may read bytes
/// of it.
///
/// @param decoder the decoder for the body of the response whose head was read last from the stream.
/// @param max_size the maximum number of bytes that the function returns. Calls that continue cannot raise the maximum.
///        If more bytes are known to be left, the call fails before it reads.
/// @param body out: the bytes.
/// @return `NETLIB_TOO_MUCH_DATA` if the body is too large: close the connection; `NETLIB_INVALID_ARGUMENT` if another
///         function has read bytes of the body after an earlier call of this function; all failures of
///         `netlib_stream_read_body`, and `NETLIB_WANT_READ` and `NETLIB_WANT_WRITE` as from that function.
/// @threads one reader and one writer at the same time
/// @blocks if the stream is blocking. The stream's limit and timeouts end the wait.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_stream_read_whole_body(
    stream: *mut netlib_stream,
    decoder: *mut netlib_body_decoder,
    max_size: usize,
    body: *mut *mut netlib_bytes,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let body = outs!(body);
        let stream = arg_kept_alive!(stream, |_| true);
        let mut decoder = arg_mut!(decoder);
        Ok(match stream.read_whole_body(&mut decoder, max_size as u64)? {
            BodyRead::Done(bytes) => {
                body.give(Arc::new(TerminatedBytes::new(bytes)?));
                Status::Ok
            }
            BodyRead::Want(want) => want.status(),
        })
    })
}

/// Reads and discards the rest of a response's body, so that the connection can carry another request. Close the
/// connection instead if the rest is long: a new connection may take less time. After `NETLIB_WANT_READ`, call the
/// function again.
///
/// @param decoder the decoder for the body of the response whose head was read last from the stream.
/// @param max_size the maximum number of bytes to discard. Calls that continue cannot raise the maximum. If more bytes
///        are known to be left, the call fails before it reads.
/// @param seconds the maximum time, in addition to the limit and timeouts of the stream; `NETLIB_TIMEOUT_NONE` for no
///        maximum. On a non-blocking stream, which does not wait, the time has no effect.
/// @return `NETLIB_OK` when the body is complete: see `netlib_response_keeps_alive`; `NETLIB_TOO_MUCH_DATA` if the rest
///         is longer than `max_size`, and `NETLIB_DEADLINE_EXCEEDED` after `seconds`: close the connection;
///         `NETLIB_INVALID_ARGUMENT` if `seconds` is negative or NaN, or if the limit of the stream already has 8
///         ancestors; all failures of `netlib_stream_read_body`, and
///         `NETLIB_WANT_READ` and `NETLIB_WANT_WRITE` as from that function.
/// @threads one reader and one writer at the same time
/// @blocks if the stream is blocking. The stream's limit and timeouts end the wait.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_stream_discard_body(
    stream: *mut netlib_stream,
    decoder: *mut netlib_body_decoder,
    max_size: usize,
    seconds: f64,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let stream = arg_kept_alive!(stream, |_| true);
        let mut decoder = arg_mut!(decoder);
        Ok(stream.discard_body(&mut decoder, max_size as u64, seconds)?.status())
    })
}
