//! Responses in which the server asks the client to slow down.

use std::ffi::c_char;

use crate::error::Error;
use crate::ffi::api::retry::netlib_retry;
use crate::ffi::api::retry::options::netlib_retry_options;
use crate::ffi::args::{arg_cstr_opt, arg_i32s};
use crate::ffi::enums::enum_netlib_pushback;
use crate::ffi::options;
use crate::ffi::strings::{lend_text, read, read_bool};
use crate::retry::{PushbackKind, Retry};
use crate::status::Status;

/// Kinds of pushback headers. A pushback header is a response header in which the server asks the client to wait before
/// a retry, or not to retry. `netlib_retry_options_set_pushback_header` sets the kind.
#[repr(C)]
pub enum netlib_pushback {
    /// The header has the number of milliseconds to wait, like AWS's x-amz-retry-after. The header is ignored if its
    /// value is not a number without a sign, or if the response has several such headers. With 0, the wait is the
    /// backoff.
    NETLIB_PUSHBACK_MILLISECONDS = 0,
    /// The header has the number of milliseconds to wait, like gRPC's grpc-retry-pushback-ms (gRPC proposal A6). With
    /// 0, the request is sent again at once. The retries end if the value is a negative number, a number above
    /// `INT32_MAX` or not a number, or if the response has several such headers.
    NETLIB_PUSHBACK_GRPC = 1,
}

/// Sets the base delay after throttled outcomes. An outcome is throttled if the server asks its clients to slow down. A
/// response is throttled if its status is 429, if its status is 503 and it has a Retry-After header, or if its status
/// is in `statuses`. An error is throttled if its HTTP status (`netlib_error_http_status`) is 429 or in `statuses`.
///
/// If the last outcome is throttled, `base` replaces `backoff_factor` in the formula of the backoff. For other
/// outcomes, `backoff_factor` applies. `statuses` does not determine which requests are retried: see
/// `netlib_retry_options_set_status_forcelist`. Default: `statuses` is empty, and `backoff_factor` applies to throttled
/// outcomes, too. AWS's SDKs (version 2.1 of their standard mode, as in smithy-rs) use a base of 1 second, and a
/// backoff factor of 0.05 seconds for other failures, with `NETLIB_JITTER_FULL` and a `backoff_max` of 20 seconds.
///
/// @param base 0 or more, finite, in seconds.
/// @param statuses further statuses that are throttled, 100 to 999.
/// @param count the number of statuses; may be 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_options_set_throttling(
    options: *mut netlib_retry_options,
    base: f64,
    statuses: *const i32,
    count: usize,
) {
    options::set(options, "netlib_retry_options_set_throttling", |o| {
        o.set_throttling(base, arg_i32s!(statuses, count))
    });
}

/// Clamps the wait that the server asks for with Retry-After or a pushback header: the wait is at least the backoff,
/// and at most the backoff plus `more` seconds. Before a redirect, the backoff is 0. `retry_after_max` applies first,
/// so a Retry-After that exceeds `retry_after_max` still ends the retries if `NETLIB_LONG_RETRY_AFTER_STOP` is set.
/// Default: no clamp. AWS's SDKs (version 2.1 of their standard mode, as in smithy-rs) use 5 seconds.
///
/// The clamp does not apply to `netlib_retry_sleep_for_retry`, `netlib_retry_get_retry_after` and
/// `netlib_retry_parse_retry_after`, which compute no backoff.
///
/// @param more the seconds by which the wait may exceed the backoff, 0 or more; `NETLIB_TIMEOUT_NONE` for no upper
///        bound.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_options_set_retry_after_clamp(options: *mut netlib_retry_options, more: f64) {
    options::set(options, "netlib_retry_options_set_retry_after_clamp", |o| o.set_retry_after_clamp(more));
}

/// Sets the response header in which the server asks for a wait in milliseconds. The pushback header takes precedence
/// over Retry-After. It is obeyed for every response that is retried, independently of the status and of
/// `respect_retry_after_header`. The pushback header alone does not cause a retry. The maximum `retry_after_max`
/// applies as for Retry-After. A pushback header that asks not to retry ends the retries in the same way as a
/// Retry-After above `retry_after_max` with `NETLIB_LONG_RETRY_AFTER_STOP`. Pushback headers of redirects are ignored.
/// Default: none.
///
/// @param name the header's name, case-insensitive. May be NULL: there is no pushback header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_options_set_pushback_header(
    options: *mut netlib_retry_options,
    name: *const c_char,
    kind: enum_netlib_pushback,
) {
    options::set(options, "netlib_retry_options_set_pushback_header", |o| {
        let kind = PushbackKind::from_code(kind).ok_or_else(|| {
            Error::new(Status::InvalidArgument, format!("kind must be a netlib_pushback; it is {kind}"))
        })?;
        o.set_pushback_header(arg_cstr_opt!(name), kind)
    });
}

/// Returns the base delay after throttled outcomes, in seconds; -1.0 if `netlib_retry_options_set_throttling` was not
/// called, and for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_throttling_base(retry: *const netlib_retry) -> f64 {
    read(retry, -1.0, |retry| retry.throttling().base.unwrap_or(-1.0))
}

/// Returns the number of statuses that are throttled in addition to 429, and to 503 with a Retry-After header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_throttling_status_count(retry: *const netlib_retry) -> usize {
    read(retry, 0, |retry| retry.throttling().statuses().len())
}

/// Returns the status at `index` in the sorted list of the statuses that are throttled in addition to 429, and to 503
/// with a Retry-After header; -1 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_throttling_status_at(retry: *const netlib_retry, index: usize) -> i32 {
    read(retry, -1, |retry| retry.throttling().statuses().get(index).copied().unwrap_or(-1))
}

/// Returns 1 if the last outcome in the history was throttled (`netlib_retry_options_set_throttling`), else 0. An entry
/// that `netlib_retry_options_add_history` added with the status 503 is not throttled, unless 503 is in the list,
/// because the entry does not record the headers of a response.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_is_throttled(retry: *const netlib_retry) -> i32 {
    read_bool(retry, false, Retry::is_throttled)
}

/// Returns the time by which the wait that the server asks for may exceed the backoff, in seconds;
/// `NETLIB_TIMEOUT_NONE` for no upper bound; -1.0 if `netlib_retry_options_set_retry_after_clamp` was not called, and
/// for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_retry_after_clamp(retry: *const netlib_retry) -> f64 {
    read(retry, -1.0, |retry| retry.retry_after_clamp().unwrap_or(-1.0))
}

/// Returns the name of the pushback header; NULL if there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_pushback_header(retry: *const netlib_retry, len: *mut usize) -> *const c_char {
    lend_text(retry, len, |retry| Some(retry.pushback_header()?.name()))
}

/// Returns the kind of the pushback header; `NETLIB_PUSHBACK_MILLISECONDS` if there is no pushback header, and for
/// NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_pushback_kind(retry: *const netlib_retry) -> enum_netlib_pushback {
    read(retry, 0, |retry| retry.pushback_header().map_or(0, |header| header.kind() as i32))
}
