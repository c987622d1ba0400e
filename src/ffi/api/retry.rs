//! Retry policy.

pub mod recommended;
pub mod options;
pub mod waits;
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

/// The reason for the wait before the next request. Stored by `netlib_retry_delay`.
#[repr(C)]
pub enum netlib_delay_reason {
    /// There is no wait.
    NETLIB_DELAY_NONE = 0,
    /// The exponential backoff.
    NETLIB_DELAY_BACKOFF = 1,
    /// The server asked for it with Retry-After.
    NETLIB_DELAY_RETRY_AFTER = 2,
}

/// A retry policy with its remaining counts and its history of requests. **Immutable**: `netlib_retry_increment` makes
/// a new Retry and does not change the old one, so one Retry serves any number of requests.
pub struct netlib_retry {
    _private: [u8; 0],
}

impl Handle for netlib_retry {
    type Value = Retry;
    type Ownership = Shared;
}

/// Makes a Retry.
///
/// @param options the settings; options can be used for several calls. May be NULL: urllib3's defaults, see
///        `netlib_retry_options_new`.
/// @return the status of the first setter that refused its value: `NETLIB_INVALID_ARGUMENT`.
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

/// Returns options that make an equal Retry, history included. Change some of them to make a different Retry.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_to_options(retry: *const netlib_retry) -> *mut netlib_retry_options {
    read(retry, std::ptr::null_mut(), |retry| handle::give(Box::new(Options::new(retry.to_options()))))
}

/// Records a failed attempt and makes the Retry for the next request. `netlib_retry_decide` does this and more; call
/// this only if the application decides itself what to send again.
///
/// The call consumes one of `total` and one of another count, which the first of these that is given determines: an
/// error consumes the count of its `netlib_error_retry_kind`, with READ instead of CONNECT and OTHER if a response is
/// also given; a redirect's Location consumes `redirect`; any other response consumes `status`. Without an error and a
/// response, only `total` is consumed. The call also adds an entry to the history.
///
/// The call fails with `NETLIB_MAX_RETRY` when a count is used up, regardless of `raise_on_redirect` and
/// `raise_on_status`. The cause of this error is the reason, and `netlib_error_retry` lends the exhausted Retry with
/// the whole history. The call fails with `error` itself if that error must not be retried: `total` is
/// `NETLIB_RETRY_DISABLED`; the count of its kind is `NETLIB_RETRY_DISABLED`; its kind is NEVER; or it is a read error
/// and the method is not allowed, or NULL. An `error` with the status `NETLIB_CANCELLED` or `NETLIB_DEADLINE_EXCEEDED`
/// gets the outcomes of the earlier requests as further causes, see `netlib_retry_decide`. If `total` is
/// `NETLIB_RETRY_DISABLED` and there is no error, the call never fails with `NETLIB_MAX_RETRY`, but with the status
/// that the cause would have: `NETLIB_TOO_MANY_REDIRECTS` for a redirect, else `NETLIB_RESPONSE_STATUS`.
///
/// @param retry the Retry, which is not changed.
/// @param method the request's method. May be NULL: unknown.
/// @param url the request's URL, for the history and the message, which leaves out user, password and query. May be
///        NULL: unknown.
/// @param response the response. May be NULL: there was none.
/// @param error the failure. It takes precedence over `response`; a response given in addition means that the request
///        was sent. May be NULL: nothing failed.
/// @return `NETLIB_MAX_RETRY`; the status of `error`; `NETLIB_TOO_MANY_REDIRECTS` and `NETLIB_RESPONSE_STATUS` if
///         `total` is `NETLIB_RETRY_DISABLED`; `NETLIB_INVALID_ARGUMENT` if the method is not a token; with
///         `NETLIB_JITTER_DECORRELATED` also `NETLIB_CALLBACK_FAILED`, and `NETLIB_IO` if the system has no random
///         numbers.
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

/// Decides whether a response is retried: the method must be allowed, and the status in `status_forcelist` or in
/// `netlib_retry_options_set_retry_after_statuses`. The latter list applies only if the response has a Retry-After
/// header, `respect_retry_after_header` is 1, and `total` is neither 0 nor `NETLIB_NONE` nor `NETLIB_RETRY_DISABLED`.
///
/// @param method the request's method.
/// @param status_code the response's status.
/// @param has_retry_after 1 if the response has a Retry-After header, else 0.
/// @param is_retry out: 0 or 1.
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

/// Returns 1 if more retries were made than one of the counts allows, else 0; 1 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_is_exhausted(retry: *const netlib_retry) -> i32 {
    read_bool(retry, true, Retry::is_exhausted)
}

/// Computes the backoff before the next request: `backoff_factor * 2^(n - 1)` seconds, where n is the number of entries
/// at the end of the history that are not redirects; 0 while n is 0 or 1; plus a random part of `backoff_jitter`, drawn
/// anew by each call; at most `backoff_max`. Other kinds of jitter have other formulas: `enum netlib_jitter_kind`.
///
/// @param seconds out: the backoff.
/// @return `NETLIB_CALLBACK_FAILED` if the random callback failed; `NETLIB_IO` if the system has no random numbers.
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

/// Reads the wait that a response asks for in its Retry-After header (RFC 9110 section 10.2.3), whatever its status.
///
/// @param response the response.
/// @param seconds out: seconds from now, at most `retry_after_max`; with `NETLIB_LONG_RETRY_AFTER_STOP` the wait that
///        the server asks for; 0 for a date that has passed; -1.0 without the header, or if the header is malformed and
///        malformed headers are ignored.
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

/// Reads the value of a Retry-After header: whole seconds, or a date in one of the three forms of HTTP (RFC 9110
/// section 5.6.7) or close to one of them: the weekday and the zone (UTC) may be missing, the zone may be an offset.
///
/// @param value the header's value.
/// @param seconds out: seconds from now, at most `retry_after_max`; with `NETLIB_LONG_RETRY_AFTER_STOP` the wait that
///        the value asks for; 0 for a date that has passed.
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

/// Computes the wait of `netlib_retry_sleep` and its reason, for applications that wait in their own event loop.
///
/// The wait is the one that Retry-After asks for, if `respect_retry_after_header` is set and the status is one of
/// `netlib_retry_options_set_retry_after_statuses`; without the header, or when it asks for no wait, the backoff of
/// `netlib_retry_get_backoff_time`.
///
/// @param retry the Retry for the next request: the one that `netlib_retry_increment` made.
/// @param response the last response. May be NULL: there was none.
/// @param seconds out: 0 for no wait.
/// @param reason out: the reason.
/// @param uncapped out: `seconds` without the bounds `backoff_max` and `retry_after_max`; infinity when the backoff
///        exceeds a double.
/// @return `NETLIB_INVALID_HEADER` if Retry-After is neither a number nor a date, unless malformed headers are ignored;
///         `NETLIB_MAX_RETRY` if it is above `retry_after_max` and therefore ends the retries;
///         `NETLIB_CALLBACK_FAILED`; `NETLIB_IO` if the system has no random numbers.
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

/// Sleeps before the next request for the time that `netlib_retry_delay` computes; with a `backoff_factor` and a
/// `backoff_jitter` of 0 and no Retry-After it returns at once.
///
/// @param retry as for `netlib_retry_delay`.
/// @param response the last response. May be NULL: there was none.
/// @return `NETLIB_CANCELLED` and `NETLIB_DEADLINE_EXCEEDED` if the limit ends the sleep, with the outcomes of the
///         requests in the history as causes; as `netlib_retry_delay` otherwise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_sleep(
    retry: *const netlib_retry,
    response: *const netlib_response,
    limit: *const netlib_limit,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let retry = arg_kept_alive!(retry, Retry::may_call_back);
        retry.sleep(arg_opt!(response), arg_opt!(limit))
    })
}

/// Sleeps for the time of the response's Retry-After header, whatever its status.
///
/// @param response the last response. May be NULL: there was none, so there is no wait.
/// @param slept out: 0 or 1; 0 when there is no such header, or the header asks for no wait.
/// @return `NETLIB_CANCELLED` and `NETLIB_DEADLINE_EXCEEDED` if the limit ends the sleep, with the outcomes of the
///         requests in the history as causes; `NETLIB_INVALID_HEADER` if Retry-After is neither a number nor a date,
///         unless malformed headers are ignored; `NETLIB_MAX_RETRY` if it is above `retry_after_max` and therefore ends
///         the retries; `NETLIB_CALLBACK_FAILED`; `NETLIB_IO`.
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
        let retry = arg_kept_alive!(retry, Retry::may_call_back);
        slept.set_bool(retry.sleep_for_retry(arg_opt!(response), arg_opt!(limit))?);
        Ok(())
    })
}

/// Returns the Retry of a `NETLIB_MAX_RETRY` error, with the history of all its requests; NULL for every other error.
/// That Retry is exhausted, unless a Retry-After ended the retries: see `NETLIB_LONG_RETRY_AFTER_STOP`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_error_retry(error: *const netlib_error) -> *const netlib_retry {
    read(error, std::ptr::null(), |error| handle::lend(Retry::from_error(error)))
}
