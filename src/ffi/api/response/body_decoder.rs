//! The bodies of responses, and whether a connection can be used again.

use std::ffi::c_void;

use crate::error::Error;
use crate::ffi::api::basics::{netlib_error, netlib_status};
use crate::ffi::api::headers::netlib_headers;
use crate::ffi::api::response::netlib_response;
use crate::ffi::args::{arg, arg_bool, arg_data, arg_mut, arg_opt};
use crate::ffi::guard::nonblocking as guard;
use crate::ffi::out::outs;
use crate::ffi::strings::{read, read_bool};
use crate::ffi::{Handle, Unique, handle};
use crate::response::{BodyDecoder, ChunkedLimits, Decoded};
use crate::status::Status;

/// A body decoder: finds the body of a response in the bytes that follow the head. **One call at a time**. The decoder
/// finds the end of the body as `netlib_response_framing` describes, and removes the chunked transfer coding (RFC 9112
/// section 7.1), but no other coding, such as gzip. To read a body from a stream, call `netlib_stream_read_body`. To
/// decode bytes that you have received yourself, call `netlib_body_decoder_decode`, as in the following loop. The bytes
/// from `buf + start` to `buf + end` are received and not decoded; at first, these are the bytes after the head.
///
///     do {
///         status = netlib_body_decoder_decode(decoder, buf + start, end - start, &consumed, &body, &body_len, &err);
///         start += consumed;
///         if (status == NETLIB_OK) {
///             if (fwrite(body, 1, body_len, file) != body_len) break;
///         } else if (status == NETLIB_WANT_READ) {
///             start = 0;
///             status = netlib_stream_read(stream, buf, sizeof buf, &end, &err);
///             if (status == NETLIB_END_OF_STREAM) status = netlib_body_decoder_end(decoder, &err);
///         }
///     } while (status == NETLIB_OK);
///
/// If `status` is then `NETLIB_END_OF_STREAM`, the body is complete, and the bytes from `buf + start` to `buf + end`
/// follow the body. Receive more bytes only after `NETLIB_WANT_READ`: after the last piece of a body, the peer sends
/// nothing, and a read would wait.
///
/// The chunked transfer coding is decoded strictly. The decoder refuses a chunk size with a sign, with "0x", with more
/// than 16 digits or above `INT64_MAX`; whitespace in a chunk-size line, except in a quoted string, although RFC 9112
/// section 7.1.1 tolerates whitespace around ";" and "="; a CR without LF; and an LF without CR, unless
/// `netlib_body_decoder_set_allow_bare_lf` allows it. Chunk extensions are checked and dropped. In a trailer, the
/// decoder refuses folded lines, control characters, and the following fields, which a recipient needs before the body
/// (RFC 9110 section 6.5.1):
///
/// - framing and connection: Connection, Content-Length, Keep-Alive, Proxy-Connection, TE, Trailer, Transfer-Encoding,
///   Upgrade
/// - routing: Host, Max-Forwards
/// - authentication: Authorization, Cookie, Proxy-Authenticate, Proxy-Authorization, Set-Cookie, WWW-Authenticate
/// - conditions and other request controls: Expect, If-Match, If-Modified-Since, If-None-Match, If-Range,
///   If-Unmodified-Since, Pragma, Range
/// - response controls: Age, Cache-Control, Expires, Location, Retry-After, Vary
/// - content: Content-Encoding, Content-Range, Content-Type
///
/// `netlib_body_decoder_decode` fails with `NETLIB_PROTOCOL` for these trailer fields.
pub struct netlib_body_decoder {
    _private: [u8; 0],
}

impl Handle for netlib_body_decoder {
    type Value = BodyDecoder;
    type Ownership = Unique;
}

/// Makes a decoder for the body of a response.
///
/// @return `NETLIB_PROTOCOL` for the same responses as `netlib_response_framing`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_body_decoder_new(
    response: *const netlib_response,
    decoder: *mut *mut netlib_body_decoder,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let decoder = outs!(decoder);
        decoder.give(Box::new(BodyDecoder::new(arg!(response))?));
        Ok(())
    })
}

/// Releases a body decoder.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_body_decoder_free(decoder: *mut netlib_body_decoder) {
    guard::nothing(|| handle::free(decoder));
}

/// Sets the limits of a chunked body. Default: 4096 for `max_size_line`, 16384 for `max_trailer` and 100 for
/// `max_trailer_fields`. A limit applies to the bytes that are decoded after this call. If the peer exceeds a limit,
/// `netlib_body_decoder_decode` fails with `NETLIB_PROTOCOL`.
///
/// A further limit, which cannot be changed, bounds the chunk-size lines of the whole body. Each chunk-size line adds
/// its length to a sum. The chunk then subtracts 16 bytes and twice the length of its data, but the sum never falls
/// below 0. The sum may be at most 16,384 bytes, or `max_size_line` if that is more.
///
/// @param max_size_line the maximum number of bytes in a chunk-size line, including chunk extensions and without the
///        line end; 1 to 65536.
/// @param max_trailer the maximum number of bytes in the trailer, including the empty line at its end; 2 to 262144.
/// @param max_trailer_fields the maximum number of trailer fields; 0 to 1000.
/// @return `NETLIB_INVALID_ARGUMENT` for a limit out of range.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_body_decoder_set_limits(
    decoder: *mut netlib_body_decoder,
    max_size_line: usize,
    max_trailer: usize,
    max_trailer_fields: usize,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let limits =
            ChunkedLimits { size_line: max_size_line, trailer: max_trailer, trailer_fields: max_trailer_fields };
        arg_mut!(decoder).set_limits(limits)
    })
}

/// Sets the maximum size of the body. By default, there is no maximum. Every function that decodes a larger body fails
/// with `NETLIB_TOO_MUCH_DATA`: the first call if the Content-Length is larger, otherwise the call that finds the first
/// byte above the maximum. `netlib_stream_read_whole_body` and `netlib_stream_discard_body` lower the maximum.
///
/// @param max_size the maximum number of bytes of the whole body, 0 or more.
/// @return `NETLIB_INVALID_ARGUMENT` for a negative number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_body_decoder_set_max_size(
    decoder: *mut netlib_body_decoder,
    max_size: i64,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let max_size = u64::try_from(max_size).map_err(|_| {
            Error::new(Status::InvalidArgument, format!("max_size must be 0 or more; it is {max_size}"))
        })?;
        arg_mut!(decoder).set_max_size(max_size);
        Ok(())
    })
}

/// Sets whether LF without CR may end a chunk-size line, the data of a chunk or a trailer line. Default: 0, because an
/// intermediary that does not accept LF as a line end would find the end of the body in another place.
///
/// @param allow 0 or 1. The value applies to the bytes that are decoded after this call.
/// @return `NETLIB_INVALID_ARGUMENT` if `allow` is neither 0 nor 1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_body_decoder_set_allow_bare_lf(
    decoder: *mut netlib_body_decoder,
    allow: i32,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        arg_mut!(decoder).set_allow_bare_lf(arg_bool!(allow));
        Ok(())
    })
}

/// Finds the next piece of the body in received bytes. The call copies no bytes of the body: `body` points into `data`.
///
/// With `NETLIB_OK`, the piece has at least one byte; with any other status, there is no piece. A piece ends at the end
/// of a chunk, at the end of the body or at the end of `data`. The call stores its outputs if it returns `NETLIB_OK`,
/// `NETLIB_WANT_READ` or `NETLIB_END_OF_STREAM`. Every call after a failure fails with the same error.
///
/// @param data the received bytes that no earlier call has consumed.
/// @param consumed out: the number of bytes at the start of `data` that the caller must not pass again; all bytes, if
///        the status is `NETLIB_WANT_READ`.
/// @param body out: the piece of the body, which ends at `data + consumed` and is valid as long as `data`. NULL unless
///        the status is `NETLIB_OK`.
/// @param body_len out: the length of the piece in bytes.
/// @param err the error's offset is the position of the defect, counted from the first byte after the head.
/// @return `NETLIB_OK` with a piece of the body: call again with the bytes after `consumed`; `NETLIB_WANT_READ` if more
///         bytes are needed: receive them, or, if the peer has closed the connection, call `netlib_body_decoder_end`;
///         `NETLIB_END_OF_STREAM` when the body is complete: the bytes after `consumed` do not belong to the body;
///         `NETLIB_PROTOCOL` if the chunked transfer coding is malformed, exceeds a limit, or has a refused trailer
///         field, and after such a failure; `NETLIB_TOO_MUCH_DATA` if the body is larger than
///         `netlib_body_decoder_set_max_size` allows;
///         `NETLIB_INCOMPLETE_READ` after `netlib_body_decoder_end` has returned this status.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_body_decoder_decode(
    decoder: *mut netlib_body_decoder,
    data: *const c_void,
    len: usize,
    consumed: *mut usize,
    body: *mut *const u8,
    body_len: *mut usize,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let (consumed, body, body_len) = outs!(consumed, body, body_len);
        let mut decoder = arg_mut!(decoder);
        let data = arg_data!(data, len);
        Ok(match decoder.decode(data)? {
            Decoded::Piece(piece, length) => {
                consumed.set(length);
                body.set(piece.as_ptr());
                body_len.set(piece.len());
                Status::Ok
            }
            Decoded::NeedsInput => {
                consumed.set(data.len());
                Status::WantRead
            }
            Decoded::Done(length) => {
                consumed.set(length);
                Status::EndOfStream
            }
        })
    })
}

/// Tells the decoder that the peer has closed the connection. If the body lasts until the peer closes the connection,
/// the body is then complete.
///
/// Do not call the function after `NETLIB_TLS_TRUNCATED` or another error of a stream: an attacker may have shortened
/// the body.
///
/// @return `NETLIB_OK` if the body is complete; `NETLIB_INCOMPLETE_READ` if a part of the body is missing;
///         `NETLIB_PROTOCOL` and `NETLIB_TOO_MUCH_DATA` if an earlier call failed with this status.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_body_decoder_end(
    decoder: *mut netlib_body_decoder,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || arg_mut!(decoder).end())
}

/// Returns 1 if the body is complete and no call has failed, else 0. If the response has no body, the result is 1 from
/// the start.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_body_decoder_is_done(decoder: *const netlib_body_decoder) -> i32 {
    read_bool(decoder, false, BodyDecoder::is_done)
}

/// Returns the trailer fields, which follow the last chunk of a body; an empty list if the body is complete and has no
/// trailer fields; NULL if the body is not complete. Do not merge trailer fields into the response's headers: a server
/// can send a field in the trailer that an intermediary checks only in the head. A server may omit trailer fields
/// unless the request contains `TE: trailers` (RFC 9110 section 6.5.1).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_body_decoder_trailers(decoder: *const netlib_body_decoder) -> *const netlib_headers {
    read(decoder, std::ptr::null(), |decoder| handle::lend(decoder.trailers()))
}

/// Returns the number of bytes of the body that have been decoded: those that functions have returned or discarded, and
/// those that `netlib_stream_read_whole_body` keeps.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_body_decoder_bytes_decoded(decoder: *const netlib_body_decoder) -> i64 {
    read(decoder, 0, |decoder| i64::try_from(decoder.bytes_decoded()).unwrap_or(i64::MAX))
}

/// Returns the number of bytes that are left of a body with Content-Length; 0 for a complete body; -1 for any other
/// body, and for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_body_decoder_bytes_left(decoder: *const netlib_body_decoder) -> i64 {
    read(decoder, -1, |decoder| decoder.bytes_left().map_or(-1, |left| i64::try_from(left).unwrap_or(i64::MAX)))
}

/// Returns 1 if the next request may be sent on the connection of a response, else 0 (RFC 9112 section 9.3). Call the
/// function after the body was read. Close the connection if the result is 0.
///
/// The result is 1 if the server keeps the connection open, and the end of the response is unambiguous:
///     - The Connection headers do not contain `close`, and are lists of tokens.
///     - The version is HTTP/1.1, or a Connection header contains `keep-alive`. A response from `netlib_response_new`
///       has no version, and counts as HTTP/1.0.
///     - The status is at least 200, and the response does not turn the connection into a tunnel (CONNECT).
///     - The body does not last until the peer closes the connection, and is decoded completely and without an error.
///     - No header makes the end of the response ambiguous: there is no Transfer-Encoding together with a
///       Content-Length, no Transfer-Encoding in HTTP/1.0, no Transfer-Encoding or Content-Length that
///       `netlib_response_framing` refuses, and no announced body for the status 204. This rule also applies to
///       responses without a body.
///
/// The function does not know whether the request contained `Connection: close`, or whether the peer has closed the
/// connection after the response: see `netlib_stream_is_dropped`, or `netlib_is_connection_dropped` for a descriptor
/// without a stream. Both also report bytes that follow the body: close the connection then, unless another request is
/// pending.
///
/// @param decoder the decoder that was made from this response. May be NULL: a body that is not empty then counts as
///        unread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_response_keeps_alive(
    response: *const netlib_response,
    decoder: *const netlib_body_decoder,
) -> i32 {
    guard::value(0, || Ok(i32::from(arg!(response).keeps_alive(arg_opt!(decoder)))))
}
