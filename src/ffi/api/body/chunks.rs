//! Chunks of request bodies.

use std::ffi::c_void;

use crate::body::chunk_encoder::{encode_chunk, encode_last_chunk};
use crate::ffi::api::basics::{netlib_error, netlib_status};
use crate::ffi::api::headers::netlib_headers;
use crate::ffi::args::{arg_buffer, arg_opt};
use crate::ffi::guard::nonblocking as guard;
use crate::ffi::out::outs;

/// The number of bytes before the data in the buffer that is passed to `netlib_chunk_encode`.
pub const NETLIB_CHUNK_PREFIX_SIZE: usize = 18;

/// The number of bytes after the data in the buffer that is passed to `netlib_chunk_encode`.
pub const NETLIB_CHUNK_SUFFIX_SIZE: usize = 2;

/// Encodes data as a chunk of a request body with the header `Transfer-Encoding: chunked` (RFC 9112 section 7.1). The
/// data begins at `buf + NETLIB_CHUNK_PREFIX_SIZE` and is not moved: the call stores the chunk-size line before the
/// data, and a CRLF after the data. Send a body of unknown length like this:
///
///     char buf[NETLIB_CHUNK_PREFIX_SIZE + 16384 + NETLIB_CHUNK_SUFFIX_SIZE];
///     const uint8_t *chunk;
///     size_t n, len;
///     while ((status = netlib_body_read(body, buf + NETLIB_CHUNK_PREFIX_SIZE, 16384, &n, &err)) == NETLIB_OK) {
///         status = netlib_chunk_encode(buf, sizeof buf, n, &chunk, &len, &err);
///         if (status == NETLIB_OK) status = netlib_stream_write(stream, chunk, len, &n, &err);
///         if (status != NETLIB_OK) return status;
///     }
///     if (status == NETLIB_END_OF_STREAM) status = netlib_chunk_encode_last(NULL, buf, sizeof buf, &len, &err);
///     if (status == NETLIB_OK) status = netlib_stream_write(stream, buf, len, &n, &err);
///
/// If `data_len` is 0, there is nothing to send, because an empty chunk would end the body.
///
/// @param size the size of `buf` in bytes, at least `NETLIB_CHUNK_PREFIX_SIZE` + `data_len` +
///        `NETLIB_CHUNK_SUFFIX_SIZE`.
/// @param data_len the length of the data in bytes.
/// @param chunk out: the bytes to send, inside `buf`.
/// @param chunk_len out: the number of bytes to send; 0 if `data_len` is 0.
/// @return `NETLIB_INVALID_ARGUMENT` if `size` is too small.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_chunk_encode(
    buf: *mut c_void,
    size: usize,
    data_len: usize,
    chunk: *mut *const u8,
    chunk_len: *mut usize,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let (chunk, chunk_len) = outs!(chunk, chunk_len);
        let buf = arg_buffer!(buf, size);
        let range = encode_chunk(buf, data_len)?;
        let encoded = buf.get(range).unwrap_or_default();
        chunk.set(encoded.as_ptr());
        chunk_len.set(encoded.len());
        Ok(())
    })
}

/// Encodes the end of a chunked request body (RFC 9112 section 7.1): the last chunk, which is empty; the trailer; and
/// the empty line that ends the body.
///
/// @param trailers the trailer fields. May be NULL: the body has no trailer. Fields that a trailer must not contain are
///        refused; the comment of struct netlib_body_decoder lists them. Values with control characters, except tabs,
///        are also refused.
/// @param size the size of `buf` in bytes: at least 5, plus the length of the text that `netlib_headers_to_wire`
///        returns for the trailer fields.
/// @param len out: the number of bytes to send, which begin at `buf`.
/// @param err the error's offset is the position of the control character in the value that the error message names.
/// @return `NETLIB_INVALID_ARGUMENT` if `size` is too small; `NETLIB_INVALID_HEADER` for a field that a trailer must
///         not contain, and for a control character in a value.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_chunk_encode_last(
    trailers: *const netlib_headers,
    buf: *mut c_void,
    size: usize,
    len: *mut usize,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let len = outs!(len);
        len.set(encode_last_chunk(arg_opt!(trailers), arg_buffer!(buf, size))?);
        Ok(())
    })
}
