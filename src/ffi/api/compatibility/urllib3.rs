//! Helper functions of urllib3.

use std::ffi::{c_char, c_void};

use crate::ffi::api::basics::{netlib_error, netlib_status};
use crate::ffi::api::body::netlib_body;
use crate::ffi::api::retry::netlib_retry;
use crate::ffi::api::timeout::netlib_timeout;
use crate::ffi::args::{arg_bool, arg_bytes, arg_cstr, arg_mut, arg_shared_opt};
use crate::ffi::out::outs;
use crate::ffi::{guard, handle};
use crate::headers::assert_header_parsing;
use crate::retry::{Count, Retry};
use crate::socket::{self, sys};
use crate::timeout::Timeout;
use crate::tls::x509::fingerprint;

/// Makes a Retry from a number of retries, as urllib3's Retry.from_int does.
///
/// @param count the `total` of the new Retry. `NETLIB_RETRY_DISABLED` disables retrying; with `NETLIB_NONE`, the result
///        is a reference to the default Retry.
/// @param redirect 1 to follow redirects, else 0. The value does not apply to the default Retry.
/// @param default_retry the default Retry. May be NULL: a Retry with a `total` of 3.
/// @return `NETLIB_INVALID_ARGUMENT` if `redirect` is neither 0 nor 1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_from_int(
    count: i32,
    redirect: i32,
    default_retry: *const netlib_retry,
    retry: *mut *mut netlib_retry,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let retry = outs!(retry);
        let redirect = arg_bool!(redirect);
        let default_retry = arg_shared_opt!(default_retry);
        retry.give(Retry::from_int(Count::from_code(count), redirect, default_retry));
        Ok(())
    })
}

/// Chooses the Retry of a request: the request's own Retry, or the Retry of its pool, or a Retry with a `total` of 3.
///
/// @param per_request the request's own Retry. May be NULL: `pool_default` is returned.
/// @param pool_default the pool's Retry. May be NULL: the pool has no Retry.
/// @return borrowed: one of the two arguments, or a constant Retry that is never freed. Never NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_resolve(
    per_request: *const netlib_retry,
    pool_default: *const netlib_retry,
) -> *const netlib_retry {
    guard::value(std::ptr::null(), || {
        let given = [per_request, pool_default].into_iter().find(|retry| !retry.is_null());
        Ok(given.unwrap_or_else(|| handle::lend(Some(Retry::default_retry()))))
    })
}

/// Makes a timeout from one number, which becomes the connect limit and the read limit. The timeout has no total limit.
///
/// @param timeout seconds, `NETLIB_TIMEOUT_NONE` or `NETLIB_TIMEOUT_DEFAULT`.
/// @return `NETLIB_INVALID_ARGUMENT` for 0, for NaN, and for a negative number except `NETLIB_TIMEOUT_DEFAULT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_timeout_from_float(
    timeout: f64,
    out: *mut *mut netlib_timeout,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let out = outs!(out);
        out.give(Box::new(Timeout::from_float(timeout)?));
        Ok(())
    })
}

/// Checks a raw header block for defects. The block consists of the lines after the status line, up to the empty line.
/// Bytes after the empty line are ignored.
///
/// The defects are: a line that is not a header field, which ends parsing; a continuation line without a header field
/// before it; a header field without a name; a mail envelope line ("From ...") after the first line; bytes after a CR
/// without LF, which ends the header fields; and a multipart Content-Type without a boundary or with a
/// Content-Transfer-Encoding that multipart does not allow. `netlib_response_parse` may refuse a block without defects,
/// because it parses HTTP and not mail.
///
/// @param block the bytes of the header block.
/// @param err the error has one cause for each of the first 100 defects, in the order of their lines.
///        `netlib_error_header_defect` and `netlib_error_header_defect_line` return the defect and line of a cause, and
///        the offset of a cause is the start of the line. `netlib_error_unparsed_offset` returns where parsing ended.
/// @return `NETLIB_OK` if there is no defect; `NETLIB_HEADER_PARSING`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_assert_header_parsing(
    block: *const c_char,
    len: usize,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || assert_header_parsing(arg_bytes!(block, len)))
}

/// Checks whether the source of a body has been closed. A body in memory is never closed. A body that reads from a
/// descriptor counts as closed when the descriptor is not open.
///
/// @param closed out: 1 if the source of the body has been closed, else 0.
/// @return `NETLIB_INVALID_ARGUMENT` for a body that has callbacks but no `is_closed` callback;
///         `NETLIB_CALLBACK_FAILED`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_is_fp_closed(
    body: *mut netlib_body,
    closed: *mut i32,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let closed = outs!(closed);
        closed.set_bool(arg_mut!(body).is_fp_closed()?);
        Ok(())
    })
}

/// Returns the address family for name lookups: `AF_UNSPEC`, for IPv6 and IPv4 addresses, if the system can bind the
/// IPv6 loopback address, or has no descriptor left for this test; else `AF_INET`. Each call tests the system again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_allowed_gai_family() -> i32 {
    guard::value(libc::AF_INET, || Ok(socket::allowed_gai_family()))
}

/// Returns the time of the monotonic clock `CLOCK_MONOTONIC`, in seconds. Only the difference between two such times is
/// meaningful.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_current_time() -> f64 {
    guard::value(0.0, || Ok(sys::monotonic_seconds()))
}

/// Checks that a certificate has the expected fingerprint, as urllib3's assert_fingerprint does. For pins that hold for
/// all streams of a context, use `netlib_tls_options_add_pin`. To pin a server's certificate with
/// `netlib_assert_fingerprint`, call it after `netlib_stream_handshake` and before any data is written; the context
/// also verifies the certificate, unless its verify mode is `NETLIB_CERT_NONE`. Use SHA-256, because MD5 and SHA-1 are
/// broken. The digests are compared in constant time.
///
/// @param cert the certificate in DER, as `netlib_stream_peer_certificate` returns it. PEM is refused;
///        `netlib_certificate_parse` converts PEM to DER. May be NULL if the peer sent no certificate: the call fails
///        with `NETLIB_FINGERPRINT_MISMATCH`.
/// @param cert_len the length of `cert` in bytes; 0 has the same effect as NULL.
/// @param fingerprint 32 hex digits for MD5, 40 for SHA-1 or 64 for SHA-256, in upper or lower case, with optional
///        colons.
/// @param err for a mismatch, the error message contains the expected and the actual fingerprint.
/// @return `NETLIB_FINGERPRINT_MISMATCH` if the certificate has another fingerprint, and if there is no certificate;
///         `NETLIB_INVALID_ARGUMENT` for PEM, and for a fingerprint with another length or other characters.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_assert_fingerprint(
    cert: *const c_void,
    cert_len: usize,
    fingerprint: *const c_char,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let fingerprint = arg_cstr!(fingerprint).to_bytes();
        let cert_len = if cert.is_null() { 0 } else { cert_len };
        fingerprint::assert(arg_bytes!(cert, cert_len), fingerprint)
    })
}
