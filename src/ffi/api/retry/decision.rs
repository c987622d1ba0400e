//! Decisions after a request.

use std::ffi::c_char;
use std::sync::Arc;

use crate::ffi::api::basics::{netlib_error, netlib_status};
use crate::ffi::api::headers::netlib_headers;
use crate::ffi::api::limit::netlib_limit;
use crate::ffi::api::response::netlib_response;
use crate::ffi::api::retry::netlib_retry;
use crate::ffi::api::url::netlib_url;
use crate::ffi::args::{arg, arg_cstr, arg_kept_alive, arg_opt, arg_shared, arg_shared_opt};
use crate::ffi::enums::{enum_netlib_action, enum_netlib_counter, enum_netlib_delay_reason};
use crate::ffi::out::outs;
use crate::ffi::strings::{lend_text, read, read_bool};
use crate::ffi::{Handle, Shared, guard, handle};
use crate::retry::{Attempt, Decision};

/// The next step after a request. Returned by `netlib_decision_action`.
#[repr(C)]
pub enum netlib_action {
    /// No further request: return the response to the caller.
    NETLIB_ACTION_RETURN_RESPONSE = 0,
    /// Send the request again.
    NETLIB_ACTION_RETRY = 1,
    /// Send the request to the redirect's target.
    NETLIB_ACTION_REDIRECT = 2,
}

/// The count that a request consumed in addition to `total`. Returned by `netlib_decision_counter`.
#[repr(C)]
pub enum netlib_counter {
    /// No count: the response needs no further request.
    NETLIB_COUNTER_NONE = 0,
    /// The count `connect`.
    NETLIB_COUNTER_CONNECT = 1,
    /// The count `read`.
    NETLIB_COUNTER_READ = 2,
    /// The count `redirect`.
    NETLIB_COUNTER_REDIRECT = 3,
    /// The count `status`.
    NETLIB_COUNTER_STATUS = 4,
    /// The count `other`.
    NETLIB_COUNTER_OTHER = 5,
}

/// The next step after a request, with everything needed to take it. **Immutable**.
pub struct netlib_decision {
    _private: [u8; 0],
}

impl Handle for netlib_decision {
    type Value = Decision;
    type Ownership = Shared;
}

/// Decides what to do after a request with a `method` and a `url`: return its response, send it again, or follow its
/// redirect. The call does no I/O and does not wait.
///
/// An error is counted by `netlib_retry_increment`, and the request is sent again. A redirect is counted and followed,
/// unless the redirect profile refuses it. On 303 the method becomes GET (HEAD stays HEAD). If the method becomes GET,
/// the body is dropped. A response that is retried (`netlib_retry_is_retry`) is counted, and the request is sent again.
/// Any other response is returned. When no redirect is left, the call fails with `NETLIB_MAX_RETRY`, or returns the
/// response if `raise_on_redirect` is false. When no retry because of a status is left, `raise_on_status` decides in
/// the same way. When `total` is `NETLIB_RETRY_DISABLED`, every response is returned; with an `error`, the call fails
/// with that error.
///
/// The wait before the next request is that of `netlib_retry_delay`; for a redirect, the wait of its Retry-After. Wait
/// with `netlib_decision_sleep`, or with a timer of your own. A Retry-After above `retry_after_max` is shortened to it,
/// or ends the retries: see `netlib_retry_options_set_long_retry_after`.
///
/// When the limit ends the chain of requests, the error's causes are the outcomes of the last 16 requests, the oldest
/// first. A response appears as `NETLIB_RESPONSE_STATUS`. An `error` with the status `NETLIB_CANCELLED` or
/// `NETLIB_DEADLINE_EXCEEDED` gets the same causes, after its own.
///
/// For a chain of requests, pass the decision's Retry, method and URL to the next call, and send the headers of
/// `netlib_decision_headers`. Retry, method and URL are borrowed from the decision: keep it until the next
/// `netlib_retry_decide` has returned. A header that was dropped stays dropped for the rest of the chain, even if a
/// redirect leads back to the first origin, because the Retry remembers it.
///
/// @param response May be NULL: there was none.
/// @param error the failure. It takes precedence over `response`; a response given in addition means that the request
///        was sent. May be NULL: nothing failed.
/// @param limit bounds the next request and the wait before it.
/// @return `NETLIB_MAX_RETRY` or the status of `error`, as `netlib_retry_increment`; `NETLIB_CANCELLED` or
///         `NETLIB_DEADLINE_EXCEEDED` if another request would follow, but the limit was cancelled or would end before
///         the wait does; `NETLIB_UNSAFE_REDIRECT` if the redirect profile refuses the redirect; `NETLIB_INVALID_URL`
///         if the Location is not a URL, or has no host; `NETLIB_INVALID_HEADER` if a Retry-After that would be obeyed
///         is neither a number nor a date, unless that is ignored; `NETLIB_INVALID_UTF8` for a Location that is not
///         UTF-8; `NETLIB_INVALID_ARGUMENT` if the method is not a token, or both `response` and `error` are NULL;
///         `NETLIB_CALLBACK_FAILED`; `NETLIB_IO` if the system has no random numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_decide(
    retry: *const netlib_retry,
    method: *const c_char,
    url: *const netlib_url,
    response: *const netlib_response,
    error: *const netlib_error,
    limit: *const netlib_limit,
    decision: *mut *mut netlib_decision,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let decision = outs!(decision);
        let retry = arg_shared!(retry);
        let method = arg_cstr!(method);
        let url = &arg_shared!(url);
        let response = arg_opt!(response);
        let error = arg_shared_opt!(error);
        let attempt = Attempt { method, url, response, error: error.as_ref() };
        decision.give(Arc::new(retry.decide(attempt, arg_opt!(limit))?));
        Ok(())
    })
}

/// Returns another reference to the same decision.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_decision_clone(decision: *const netlib_decision) -> *mut netlib_decision {
    handle::clone(decision)
}

/// Releases a decision.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_decision_free(decision: *mut netlib_decision) {
    guard::nothing(|| handle::free(decision));
}

/// Returns the next step; `NETLIB_ACTION_RETURN_RESPONSE` for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_decision_action(decision: *const netlib_decision) -> enum_netlib_action {
    read(decision, 0, |decision| decision.action() as i32)
}

/// Returns the Retry for the next request; if a response is returned, the Retry that was given to
/// `netlib_retry_decide`. Clone it to keep it longer than the decision.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_decision_retry(decision: *const netlib_decision) -> *const netlib_retry {
    read(decision, std::ptr::null(), |decision| handle::lend(Some(decision.retry())))
}

/// Returns the count that the request consumed in addition to `total`; `NETLIB_COUNTER_NONE` for NULL. If a response is
/// returned because no retry was left for it, this is the count that ran out.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_decision_counter(decision: *const netlib_decision) -> enum_netlib_counter {
    read(decision, 0, |decision| decision.counter() as i32)
}

/// Returns the wait before the next request, in seconds; 0 for no wait.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_decision_delay(decision: *const netlib_decision) -> f64 {
    read(decision, 0.0, |decision| decision.delay().seconds)
}

/// Returns the reason for the wait; `NETLIB_DELAY_NONE` for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_decision_delay_reason(decision: *const netlib_decision) -> enum_netlib_delay_reason {
    read(decision, 0, |decision| decision.delay().reason as i32)
}

/// Returns the wait without the caps `backoff_max` and `retry_after_max`, in seconds. If a response is returned because
/// its Retry-After asks for more than `retry_after_max`, this is the wait that it asks for, and `netlib_decision_delay`
/// is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_decision_delay_uncapped(decision: *const netlib_decision) -> f64 {
    read(decision, 0.0, |decision| decision.delay().uncapped)
}

/// Waits for the decided delay, with the Retry's sleep callback if it has one. When the limit ends the wait, the
/// error's causes are the outcomes of the requests so far, as in `netlib_retry_decide`.
///
/// @return `NETLIB_OK`, at once if the delay is 0; `NETLIB_CANCELLED`; `NETLIB_DEADLINE_EXCEEDED`;
///         `NETLIB_CALLBACK_FAILED`; `NETLIB_IO`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_decision_sleep(
    decision: *const netlib_decision,
    limit: *const netlib_limit,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || arg_kept_alive!(decision, Decision::may_call_back).sleep(arg_opt!(limit)))
}

/// Returns the URL of the next request. Clone it to keep it longer than the decision. For a redirect it is the
/// Location, resolved against the request's URL, whose fragment it inherits if it has none (RFC 9110 section 10.2.2).
/// The fragment is not part of the request: `netlib_url_request_uri` leaves it out.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_decision_url(decision: *const netlib_decision) -> *const netlib_url {
    read(decision, std::ptr::null(), |decision| handle::lend(Some(decision.url())))
}

/// Returns the method of the next request.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_decision_method(decision: *const netlib_decision, len: *mut usize) -> *const c_char {
    lend_text(decision, len, |decision| Some(decision.method()))
}

/// Returns 1 if the next request carries the body of the last request again, if it had one: rewind the body first, see
/// `netlib_rewind_body`. Returns 0 after a redirect has turned the request into GET, and when there is no next request.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_decision_resend_body(decision: *const netlib_decision) -> i32 {
    read_bool(decision, false, Decision::resend_body)
}

/// Returns 1 if the next request must not carry a header, else 0; 1 for NULL. `netlib_decision_headers` checks each
/// header in this way.
///
/// @param name the header's name, case-insensitive. May be NULL: 1 is returned.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_decision_drops_header(decision: *const netlib_decision, name: *const c_char) -> i32 {
    guard::value(1, || Ok(i32::from(arg!(decision).dropped_headers().contains(arg_cstr!(name).to_bytes()))))
}

/// Returns the number of headers that the next request must not carry and whose names are known. If
/// `netlib_retry_options_set_keep_headers_on_redirect` gave a list, every header outside the list is also dropped, but
/// not counted here.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_decision_dropped_header_count(decision: *const netlib_decision) -> usize {
    read(decision, 0, |decision| decision.dropped_headers().named().len())
}

/// Returns the name, in lower case, of a header that the next request must not carry. The names are sorted. Use
/// `netlib_decision_headers` to drop these headers, or `netlib_decision_drops_header` for each of your headers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_decision_dropped_header(
    decision: *const netlib_decision,
    index: usize,
    len: *mut usize,
) -> *const c_char {
    lend_text(decision, len, |decision| decision.dropped_headers().named().at(index))
}

/// Makes the headers of the next request: the headers of the last request, without those that must be dropped. Headers
/// that describe the body are dropped if the body is not sent again. On a redirect to another origin, Host is dropped
/// with the SAFE profile only. Do not keep Host in the list; write it from the URL of each request
/// (`netlib_url_netloc`).
///
/// @param request_headers the headers of the last request.
/// @return `NETLIB_OK`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_decision_headers(
    decision: *const netlib_decision,
    request_headers: *const netlib_headers,
    next_headers: *mut *mut netlib_headers,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let next_headers = outs!(next_headers);
        let decision = arg!(decision);
        next_headers.give(Arc::new(decision.headers(arg!(request_headers))?));
        Ok(())
    })
}
