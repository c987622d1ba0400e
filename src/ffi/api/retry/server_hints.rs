//! Requests of the server to slow down.

use crate::ffi::api::retry::netlib_retry;
use crate::ffi::api::retry::options::netlib_retry_options;
use crate::ffi::args::arg_i32s;
use crate::ffi::options;
use crate::ffi::strings::{read, read_bool};
use crate::retry::Retry;

/// Sets the base delay after throttled outcomes. An outcome is throttled if the server asks its clients to slow down: a
/// response with status 429, a response with status 503 and a Retry-After header, and a response with a status of this
/// list. An error is throttled if its HTTP status (`netlib_error_http_status`) is 429 or in this list.
///
/// If the last outcome is throttled, `base` replaces `backoff_factor` in the formula of the backoff. For other
/// outcomes, `backoff_factor` stays. The list does not determine which requests are retried: see
/// `netlib_retry_options_set_status_forcelist`. Default: the list is empty, and `backoff_factor` applies to throttled
/// outcomes too. AWS's SDKs (version 2.1 of their standard mode, as in smithy-rs) use a base of 1 second, and a backoff
/// factor of 0.05 seconds for other failures, with `NETLIB_JITTER_FULL` and a `backoff_max` of 20 seconds.
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

/// Returns a status that is throttled in addition to 429, and to 503 with a Retry-After header, from a sorted list; -1
/// for NULL.
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
