//! Retry policy.

pub mod recommended;
pub mod options;
pub mod waits;
pub mod server_hints;
pub mod decision;
pub mod fields;
pub mod constants;

use std::ffi::c_char;
use std::sync::Arc;

use crate::ffi::api::basics::{netlib_error, netlib_status};
use crate::ffi::api::limit::netlib_limit;
use crate::ffi::api::response::netlib_response;
use crate::ffi::api::retry::options::netlib_retry_options;
use crate::ffi::args::{arg, arg_bool, arg_cstr, arg_cstr_opt, arg_kept_alive, arg_opt, arg_shared_opt};
use crate::ffi::enums::enum_netlib_delay_reason;
use crate::ffi::out::outs;
use crate::ffi::strings::{read, read_bool};
use crate::ffi::{Handle, Options, Shared, guard, handle, options as ffi_options};
use crate::retry::Retry;

/// The reasons for the wait before the next request. `netlib_retry_delay` stores the reason, and
/// `netlib_decision_delay_reason` returns it.
#[repr(C)]
pub enum netlib_delay_reason {
    /// There is no wait before the next request.
    NETLIB_DELAY_NONE = 0,
    /// The wait is the exponential backoff.
    NETLIB_DELAY_BACKOFF = 1,
    /// The server asked for the wait with a Retry-After header.
    NETLIB_DELAY_RETRY_AFTER = 2,
    /// The server asked for the wait with a pushback header: see `netlib_retry_options_set_pushback_header`.
    NETLIB_DELAY_PUSHBACK = 3,
}

/// A Retry: a retry policy with its counters and its history of requests. **Immutable**. The counter `total` holds the
/// number of retries that are left in all. The counters `connect`, `read`, `redirect`, `status` and `other` hold the
/// numbers of retries that are left for each reason. `netlib_retry_increment` does not change a Retry but makes a new
/// one, so one Retry serves any number of requests.
pub struct netlib_retry {
    _private: [u8; 0],
}

impl Handle for netlib_retry {
    type Value = Retry;
    type Ownership = Shared;
}

/// Makes a Retry.
///
/// @param options the settings, which can be used for several calls. May be NULL: urllib3's defaults, see
///        `netlib_retry_options_new`.
/// @return `NETLIB_INVALID_ARGUMENT` if a setter of the options has recorded an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_new(
    options: *const netlib_retry_options,
    retry: *mut *mut netlib_retry,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let retry = outs!(retry);
        retry.give(Arc::new(Retry::new(ffi_options::get(options)?)));
        Ok(())
    })
}

/// Returns another reference to the same Retry.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_clone(retry: *const netlib_retry) -> *mut netlib_retry {
    handle::clone(retry)
}

/// Releases a Retry.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_free(retry: *mut netlib_retry) {
    guard::nothing(|| handle::free(retry));
}

/// Returns options from which `netlib_retry_new` makes an equal Retry, history included. Change some of the options to
/// make a different Retry.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_to_options(retry: *const netlib_retry) -> *mut netlib_retry_options {
    read(retry, std::ptr::null_mut(), |retry| handle::give(Box::new(Options::new(retry.to_options()))))
}

/// Records the outcome of a request after which another request will be sent, and makes the Retry for that next
/// request. `netlib_retry_decide` does the same and also decides what to send next: call `netlib_retry_increment` only
/// if the application makes this decision itself. `netlib_retry_increment` does not use the retry budget of a Retry.
///
/// The call decrements `total` and one other counter. An error decrements the counter of its retry kind
/// (`netlib_error_retry_kind`); if a response is also passed, an error of the kind CONNECT or OTHER counts as an error
/// of the kind READ. Without an error, a redirect with a Location decrements `redirect`, and any other response
/// decrements `status`. There are two exceptions: with neither an error nor a response, the call decrements `total`
/// only; and a redirect does not decrement `total` if `total_counts_redirects` is 0. The call also adds an entry to the
/// history.
///
/// The call fails with `NETLIB_MAX_RETRY` if a counter is then negative, regardless of `raise_on_redirect` and
/// `raise_on_status`. The cause of the new error is the failure that is not retried, and `netlib_error_retry` returns
/// the exhausted Retry with the whole history. The call fails with `error` itself if `error` must not be retried:
/// `total` or the counter of the error's kind is `NETLIB_RETRY_DISABLED`; the kind is NEVER; or the error is a read
/// error and the method is NULL or not allowed (see also `netlib_retry_options_set_any_method_if_stale`). If the status
/// of this `error` is `NETLIB_CANCELLED`, `NETLIB_DEADLINE_EXCEEDED` or `NETLIB_INTERRUPTED`, the call fails with a
/// copy of `error` that has the outcomes of earlier requests as further causes, see `netlib_retry_decide`. If `total`
/// is `NETLIB_RETRY_DISABLED` and `error` is NULL, the call fails with `NETLIB_TOO_MANY_REDIRECTS` for a redirect, else
/// with `NETLIB_RESPONSE_STATUS`, but not with `NETLIB_MAX_RETRY`, because no counter was used up.
///
/// A `NETLIB_MAX_RETRY` error has the retry kind NEVER, so a policy to which this error is passed fails with the same
/// error. For an outer policy that repeats the whole chain of requests, wrap the error in a new one: see
/// `netlib_error_options_set_cause`.
///
/// @param retry the Retry, which is not changed.
/// @param method the request's method. May be NULL: the method is unknown.
/// @param url the request's URL, for the history and for error messages, which omit the userinfo, the query and the
///        fragment. May be NULL: the URL is unknown.
/// @param response the response. May be NULL: there was no response.
/// @param error the failure, which takes precedence over `response`. If `response` and `error` are passed, the request
///        counts as sent. May be NULL: the request did not fail.
/// @return `NETLIB_MAX_RETRY`; the status of `error`; `NETLIB_TOO_MANY_REDIRECTS` or `NETLIB_RESPONSE_STATUS` if
///         `total` is `NETLIB_RETRY_DISABLED`; `NETLIB_INVALID_ARGUMENT` if the method is not a token; with
///         `NETLIB_JITTER_DECORRELATED` also `NETLIB_CALLBACK_FAILED`, and `NETLIB_IO` if the system cannot supply
///         random numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_increment(
    retry: *const netlib_retry,
    method: *const c_char,
    url: *const c_char,
    response: *const netlib_response,
    error: *const netlib_error,
    next: *mut *mut netlib_retry,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let next = outs!(next);
        let retry = arg_kept_alive!(retry, Retry::may_call_back);
        let (method, url) = (arg_cstr_opt!(method), arg_cstr_opt!(url));
        let response = arg_opt!(response);
        let error = arg_shared_opt!(error);
        next.give(Arc::new(retry.increment(method, url, response, error.as_ref())?));
        Ok(())
    })
}

/// Decides whether a response is retried. The method must be allowed, and the status must be in `status_forcelist`. A
/// status outside of `status_forcelist` suffices if the list of statuses whose Retry-After is obeyed contains it
/// (`netlib_retry_options_set_retry_after_statuses`), the response has a Retry-After header,
/// `respect_retry_after_header` is 1, and `total` is neither 0 nor `NETLIB_NONE` nor `NETLIB_RETRY_DISABLED`.
///
/// @param method the request's method.
/// @param status_code the response's status.
/// @param has_retry_after 1 if the response has a Retry-After header, else 0.
/// @param is_retry out: 1 if the response is retried, else 0.
/// @return `NETLIB_INVALID_ARGUMENT` if the method is not a token or `has_retry_after` is neither 0 nor 1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_is_retry(
    retry: *const netlib_retry,
    method: *const c_char,
    status_code: i32,
    has_retry_after: i32,
    is_retry: *mut i32,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let is_retry = outs!(is_retry);
        let retry = arg_kept_alive!(retry, Retry::may_call_back);
        let method = arg_cstr!(method);
        is_retry.set_bool(retry.is_retry(method, status_code, arg_bool!(has_retry_after))?);
        Ok(())
    })
}

/// Returns 1 if a counter of a Retry is negative, that is, if more retries were recorded than the counter allows, else
/// 0; 1 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_is_exhausted(retry: *const netlib_retry) -> i32 {
    read_bool(retry, true, Retry::is_exhausted)
}

/// Computes the backoff before the next request. Let n be the number of failures in a row: the entries that follow the
/// last redirect in the history. The backoff is 0 if n is 0 or 1. Otherwise, it is `backoff_factor * 2^(n - 1)` seconds
/// plus a random time of up to `backoff_jitter`, and at most `backoff_max`. This formula belongs to the default jitter
/// kind; `enum netlib_jitter_kind` lists the formulas of all jitter kinds. If the formula contains a random number,
/// each call draws a new one, except with `NETLIB_JITTER_DECORRELATED`.
///
/// @param seconds out: the backoff.
/// @return `NETLIB_CALLBACK_FAILED` if the random callback failed; `NETLIB_IO` if the system cannot supply random
///         numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_get_backoff_time(
    retry: *const netlib_retry,
    seconds: *mut f64,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let seconds = outs!(seconds);
        seconds.set(arg_kept_alive!(retry, Retry::may_call_back).get_backoff_time()?);
        Ok(())
    })
}

/// Parses the Retry-After header of a response (RFC 9110 section 10.2.3), regardless of the response's status.
///
/// @param response the response.
/// @param seconds out: the wait that the server asks for, in seconds from now, at most `retry_after_max`, or without
///        this maximum if `NETLIB_LONG_RETRY_AFTER_STOP` is set; 0 for a date that has passed; -1.0 if the header is
///        absent, and if the header is malformed and malformed headers are ignored.
/// @return `NETLIB_INVALID_HEADER` if the header is neither a number nor a date, unless malformed headers are ignored;
///         `NETLIB_CALLBACK_FAILED`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_get_retry_after(
    retry: *const netlib_retry,
    response: *const netlib_response,
    seconds: *mut f64,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let seconds = outs!(seconds);
        let retry = arg_kept_alive!(retry, Retry::may_call_back);
        seconds.set(retry.get_retry_after(arg!(response))?.unwrap_or(-1.0));
        Ok(())
    })
}

/// Parses the value of a Retry-After header: whole seconds, or a date in one of the three forms of HTTP (RFC 9110
/// section 5.6.7). In a date, the weekday and the time zone may be missing, and the zone may be an offset from UTC;
/// without a zone, the date is in UTC.
///
/// @param value the value of the header.
/// @param seconds out: the wait that the value asks for, in seconds from now, at most `retry_after_max`, or without
///        this maximum if `NETLIB_LONG_RETRY_AFTER_STOP` is set; 0 for a date that has passed.
/// @return `NETLIB_INVALID_HEADER` if the value is neither a number nor a date; `NETLIB_CALLBACK_FAILED`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_parse_retry_after(
    retry: *const netlib_retry,
    value: *const c_char,
    seconds: *mut f64,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let seconds = outs!(seconds);
        let retry = arg_kept_alive!(retry, Retry::may_call_back);
        seconds.set(retry.parse_retry_after(arg_cstr!(value).to_bytes())?);
        Ok(())
    })
}

/// Computes the time that `netlib_retry_sleep` waits, and the reason for the wait, for applications that wait in their
/// own event loop.
///
/// If `respect_retry_after_header` is 1 and the Retry-After of the response's status is obeyed
/// (`netlib_retry_options_set_retry_after_statuses`), the wait is the one that the Retry-After header asks for.
/// Otherwise, and if the header is absent or asks for no wait, the wait is the backoff that
/// `netlib_retry_get_backoff_time` computes. A pushback header (`netlib_retry_options_set_pushback_header`) takes
/// precedence over Retry-After, and `netlib_retry_options_set_retry_after_clamp` limits the wait of both headers.
///
/// @param retry the Retry for the next request, which `netlib_retry_increment` has made.
/// @param response the last response. May be NULL: there was no response.
/// @param seconds out: the wait in seconds; 0 for no wait.
/// @param reason out: the reason for the wait.
/// @param uncapped out: the wait without the bounds `backoff_max` and `retry_after_max`; infinity when the backoff
///        exceeds the range of a double.
/// @return `NETLIB_INVALID_HEADER` if Retry-After is neither a number nor a date, unless malformed headers are ignored;
///         `NETLIB_MAX_RETRY` if Retry-After or a pushback header ends the retries; `NETLIB_CALLBACK_FAILED`;
///         `NETLIB_IO` if the system cannot supply random numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_delay(
    retry: *const netlib_retry,
    response: *const netlib_response,
    seconds: *mut f64,
    reason: *mut enum_netlib_delay_reason,
    uncapped: *mut f64,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let (seconds, reason, uncapped) = outs!(seconds, reason, uncapped);
        let retry = arg_kept_alive!(retry, Retry::may_call_back);
        let delay = retry.delay(arg_opt!(response))?;
        seconds.set(delay.seconds);
        reason.set(delay.reason as i32);
        uncapped.set(delay.uncapped);
        Ok(())
    })
}

/// Sleeps before the next request for the time that `netlib_retry_delay` computes. The call returns at once if
/// `backoff_factor` and `backoff_jitter` are 0 and there is no Retry-After header.
///
/// @param retry the Retry for the next request, which `netlib_retry_increment` has made.
/// @param response the last response. May be NULL: there was no response.
/// @return `NETLIB_CANCELLED` and `NETLIB_DEADLINE_EXCEEDED` if the limit ends the sleep, with the outcomes of the
///         requests in the history as causes; the failures of `netlib_retry_delay`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_sleep(
    retry: *const netlib_retry,
    response: *const netlib_response,
    limit: *const netlib_limit,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let retry = arg_kept_alive!(retry, |_| true);
        retry.sleep(arg_opt!(response), arg_opt!(limit))
    })
}

/// Sleeps for the time that a response's Retry-After header asks for, regardless of the response's status.
///
/// @param response the last response. May be NULL: there was no response, so there is no wait.
/// @param slept out: 1 if the call slept; 0 if the response has no Retry-After header, or a malformed one that is
///        ignored, or one that asks for no wait.
/// @return `NETLIB_CANCELLED` and `NETLIB_DEADLINE_EXCEEDED` if the limit ends the sleep, with the outcomes of the
///         requests in the history as causes; `NETLIB_INVALID_HEADER` if Retry-After is neither a number nor a date,
///         unless malformed headers are ignored; `NETLIB_MAX_RETRY` if Retry-After exceeds `retry_after_max` and
///         therefore ends the retries; `NETLIB_CALLBACK_FAILED`; `NETLIB_IO`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_sleep_for_retry(
    retry: *const netlib_retry,
    response: *const netlib_response,
    limit: *const netlib_limit,
    slept: *mut i32,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let slept = outs!(slept);
        let retry = arg_kept_alive!(retry, |_| true);
        slept.set_bool(retry.sleep_for_retry(arg_opt!(response), arg_opt!(limit))?);
        Ok(())
    })
}

/// Returns the Retry of a `NETLIB_MAX_RETRY` error, with the history of all requests; NULL for every other error. The
/// returned Retry is exhausted, unless a header of the response or a retry budget ended the retries: see
/// `NETLIB_LONG_RETRY_AFTER_STOP`, `NETLIB_PUSHBACK_GRPC` and `netlib_retry_options_set_budget`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_error_retry(error: *const netlib_error) -> *const netlib_retry {
    read(error, std::ptr::null(), |error| handle::lend(Retry::from_error(error)))
}
