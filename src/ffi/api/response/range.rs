//! Ranges: continuing a download that was interrupted.

use std::ffi::c_char;

use crate::ffi::api::basics::{netlib_error, netlib_status};
use crate::ffi::api::response::netlib_response;
use crate::ffi::args::arg;
use crate::ffi::guard::nonblocking as guard;
use crate::ffi::out::outs;
use crate::ffi::strings::lend_text;
use crate::response::{ContentRange, Response};

/// Reads the Content-Range of a response (RFC 9110 section 14.4). A response with the status 206 (Partial Content)
/// states the bytes that it sends; a response with the status 416 (Range Not Satisfiable) states the length of the
/// representation. Positions count from 0.
///
/// @param first out: the position of the first byte that the body contains; -1 if the response has no Content-Range,
///        or if its range is "*", as for the status 416.
/// @param last out: the position of the last byte that the body contains; -1 if `first` is -1.
/// @param total out: the number of bytes of the whole representation; -1 if it is unknown.
/// @return `NETLIB_INVALID_HEADER` if the Content-Range is malformed, has a unit other than bytes, or occurs more than
///         once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_response_content_range(
    response: *const netlib_response,
    first: *mut i64,
    last: *mut i64,
    total: *mut i64,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let (first, last, total) = outs!(first, last, total);
        let range = arg!(response).content_range()?.unwrap_or(ContentRange { bytes: None, total: None });
        let (start, end) = range.bytes.unwrap_or((-1, -1));
        first.set(start);
        last.set(end);
        total.set(range.total.unwrap_or(-1));
        Ok(())
    })
}

/// Returns the value for the header If-Range, with which a server sends the rest of a representation only if the
/// representation has not changed (RFC 9110 section 13.1.5). This is the ETag if it is strong. Without an ETag, it is
/// Last-Modified, if it is at least 60 seconds before Date. Otherwise, and for a weak ETag, the result is NULL: the
/// download cannot be continued safely.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_response_range_validator(
    response: *const netlib_response,
    len: *mut usize,
) -> *const c_char {
    lend_text(response, len, Response::range_validator)
}

/// Returns 1 if the body of a response continues the body of an earlier response at a position, else 0. To continue a
/// download, send Range with "bytes=OFFSET-", and If-Range with the result of `netlib_response_range_validator` for the
/// earlier response. If this function then returns 0, do not append the body. A response with the status 200 contains
/// the whole representation: the representation has changed, or the server ignores Range. With the status 416, the
/// download is complete if the total length that `netlib_response_content_range` finds equals `offset`.
///
/// The result is 1 if all of the following hold:
///     - The status is 206, and the Content-Range begins at `offset`.
///     - The length of the body, if it is known, is the number of bytes in the Content-Range.
///     - The total lengths, if both responses state them, are equal.
///     - Both responses have the same ETag. If neither has one, their Last-Modified are the same, or the second
///       response has none.
///
/// The server may send fewer bytes than are left: continue again after the last byte of the Content-Range.
///
/// @param response the response to the request with Range.
/// @param earlier any response of this download whose body has been kept.
/// @param offset the number of bytes of the representation that have arrived.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_response_resumes(
    response: *const netlib_response,
    earlier: *const netlib_response,
    offset: i64,
) -> i32 {
    guard::value(0, || Ok(i32::from(arg!(response).resumes(arg!(earlier), offset))))
}
