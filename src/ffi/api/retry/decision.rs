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

/// Next steps after a request. `netlib_decision_action` returns the next step of a decision.
#[repr(C)]
pub enum netlib_action {
    /// Send no further request, and return the response to your caller.
    NETLIB_ACTION_RETURN_RESPONSE = 0,
    /// Send the request again.
    NETLIB_ACTION_RETRY = 1,
    /// Send the request to the redirect's target.
    NETLIB_ACTION_REDIRECT = 2,
}

/// The counters of a Retry besides `total`. `netlib_decision_counter` returns the counter that a request
/// decremented.
#[repr(C)]
pub enum netlib_counter {
    /// No counter: the response needs no further request.
    NETLIB_COUNTER_NONE = 0,
    /// The `connect` counter.
    NETLIB_COUNTER_CONNECT = 1,
    /// The `read` counter.
    NETLIB_COUNTER_READ = 2,
    /// The `redirect` counter.
    NETLIB_COUNTER_REDIRECT = 3,
    /// The `status` counter.
    NETLIB_COUNTER_STATUS = 4,
    /// The `other` counter.
    NETLIB_COUNTER_OTHER = 5,
}

/// A decision: the next step after a request, and all values that the application needs for this step.
/// **Immutable**.
pub struct netlib_decision {
    _private: [u8; 0],
}

impl Handle for netlib_decision {
    type Value = Decision;
    type Ownership = Shared;
}

/// Decides what to do after a request with a `method` and a `url`: return its response, send the request again, or
/// follow the redirect. The call does no I/O and does not wait.
///
/// An error is counted as `netlib_retry_increment` counts it: the call fails if that function would fail, and otherwise
/// the request is sent again. A redirect is followed and counted, unless the redirect profile refuses the redirect. On
/// 303, the method becomes GET (HEAD stays HEAD). The body is dropped on 303, and if a redirect changes POST to GET.
/// For a response that is retried (`netlib_retry_is_retry`), the request is sent again, and the response is counted.
/// Any other response is returned. If a redirect exceeds the `redirect` or `total` counter, the call fails with
/// `NETLIB_MAX_RETRY`, or decides to return the response if `raise_on_redirect` is 0. If a retry because of a status
/// exceeds the `status` or `total` counter, the call fails with `NETLIB_MAX_RETRY`, or decides to return the response
/// if `raise_on_status` is 0. If `total` is `NETLIB_RETRY_DISABLED`, every response is returned; with an `error`, the
/// call fails with that error.
///
/// Before a retry, the wait is the one that `netlib_retry_delay` computes. Before a redirect, the wait is the one that
/// the redirect's Retry-After asks for. Wait with `netlib_decision_sleep`, or with a timer of your own. A Retry-After
/// above `retry_after_max` is shortened to that maximum, or ends the retries: see
/// `netlib_retry_options_set_long_retry_after`. A pushback header can end the retries in the same way: see
/// `netlib_retry_options_set_pushback_header`.
///
/// If the Retry has a retry budget (`netlib_retry_options_set_budget`), the call reports the outcome to the budget, and
/// asks the budget as the last step before a retry. If the budget denies the retry, the call ends as if a counter were
/// used up: it fails with `NETLIB_MAX_RETRY`, or decides to return the response if `raise_on_status` is 0.
///
/// When the limit ends a chain of redirects and retries, the error's causes are the outcomes of the requests, at most
/// the last 16, the oldest first. A response appears as an error with the status `NETLIB_RESPONSE_STATUS`. If the
/// status of `error` is `NETLIB_CANCELLED`, `NETLIB_DEADLINE_EXCEEDED` or `NETLIB_INTERRUPTED`, the call fails with a
/// copy of `error`, in which these outcomes follow the causes of `error`.
///
/// An error that the call makes ends the retries. The retry kind of such an error is NEVER, so a loop that passes it to
/// `netlib_retry_decide` or `netlib_retry_increment` gets the same error again, and nothing is counted.
///
/// In a chain of redirects and retries, pass the decision's Retry, method and URL to the next call, and send the
/// headers that `netlib_decision_headers` stores. Retry, method and URL are borrowed from the decision: keep the
/// decision until the next call of `netlib_retry_decide` has returned. The Retry records whether a redirect led to
/// another origin, and whether a redirect dropped the body. The headers that such a redirect dropped stay dropped for
/// the rest of the chain, even if a later redirect leads back to the first origin. There is one exception:
/// `NETLIB_REDIRECT_SAFE` drops Host only from the next request after such a redirect.
///
/// @param response the response. May be NULL: there was no response.
/// @param error the failure, which takes precedence over `response`. If `response` and `error` are passed, the request
///        counts as sent. May be NULL: the request did not fail.
/// @param limit the limit of the next request and of the wait before that request.
/// @return `NETLIB_MAX_RETRY` or the status of `error`, as from `netlib_retry_increment`; `NETLIB_CANCELLED` or
///         `NETLIB_DEADLINE_EXCEEDED` if another request would follow, but the limit was cancelled or would end before
///         the wait ends; `NETLIB_UNSAFE_REDIRECT` if the redirect profile refuses the redirect; `NETLIB_INVALID_URL`
///         if the Location is not a URL, or has no host; `NETLIB_INVALID_HEADER` if a Retry-After that would be obeyed
///         is neither a number nor a date, unless malformed headers are ignored; `NETLIB_INVALID_UTF8` for a Location
///         that is not UTF-8; `NETLIB_INVALID_ARGUMENT` if the method is not a token, or both `response` and `error`
///         are NULL; `NETLIB_CALLBACK_FAILED`; `NETLIB_IO` if the system cannot supply random numbers.
/// @blocks never: the call compares the time left until `limit` ends with the wait before the next request, but does
///        not wait. If the retry budget has a store with a swap callback, the call takes as long as the callback,
///        whose `timeout` is the remaining time.
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

/// Returns the next step of a decision; `NETLIB_ACTION_RETURN_RESPONSE` for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_decision_action(decision: *const netlib_decision) -> enum_netlib_action {
    read(decision, 0, |decision| decision.action() as i32)
}

/// Returns the Retry for the next request; if the decision is to return a response, the Retry that was passed to
/// `netlib_retry_decide`. Clone the Retry to keep it longer than the decision.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_decision_retry(decision: *const netlib_decision) -> *const netlib_retry {
    read(decision, std::ptr::null(), |decision| handle::lend(Some(decision.retry())))
}

/// Returns the counter that the request decremented in addition to `total`; `NETLIB_COUNTER_NONE` for NULL. If the
/// decision is to return a response that would otherwise be retried or followed as a redirect, the result is the
/// counter that would have been decremented.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_decision_counter(decision: *const netlib_decision) -> enum_netlib_counter {
    read(decision, 0, |decision| decision.counter() as i32)
}

/// Returns 1 if the outcome for which the decision was made was throttled (`netlib_retry_options_set_throttling`), else
/// 0. A throttled response that is not retried also gives 1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_decision_throttled(decision: *const netlib_decision) -> i32 {
    read_bool(decision, false, Decision::is_throttled)
}

/// Returns the wait before the next request, in seconds; 0 for no wait.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_decision_delay(decision: *const netlib_decision) -> f64 {
    read(decision, 0.0, |decision| decision.delay().seconds)
}

/// Returns the reason for the wait before the next request; `NETLIB_DELAY_NONE` for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_decision_delay_reason(decision: *const netlib_decision) -> enum_netlib_delay_reason {
    read(decision, 0, |decision| decision.delay().reason as i32)
}

/// Returns the wait before the next request without the maxima `backoff_max` and `retry_after_max`, in seconds. If the
/// decision is to return a response because the Retry-After of the response asks for more than `retry_after_max`, the
/// result is the wait that Retry-After asks for, and `netlib_decision_delay` returns 0. If the decision is to return a
/// response because its pushback header asks not to retry, the result is infinity.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_decision_delay_uncapped(decision: *const netlib_decision) -> f64 {
    read(decision, 0.0, |decision| decision.delay().uncapped)
}

/// Waits for the time that `netlib_decision_delay` returns, with the Retry's sleep callback if there is one. When the
/// limit ends the wait, the error's causes are the outcomes of the requests so far, as for `netlib_retry_decide`.
///
/// @return `NETLIB_OK`, at once if the delay is 0; `NETLIB_CANCELLED`; `NETLIB_DEADLINE_EXCEEDED`;
///         `NETLIB_CALLBACK_FAILED`; `NETLIB_IO`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_decision_sleep(
    decision: *const netlib_decision,
    limit: *const netlib_limit,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || arg_kept_alive!(decision, |_| true).sleep(arg_opt!(limit)))
}

/// Returns the URL of the next request. Clone the URL to keep it longer than the decision. For a redirect, the URL is
/// the Location, resolved against the URL of the last request; a Location without a fragment inherits the fragment of
/// that URL (RFC 9110 section 10.2.2). The fragment is not sent: `netlib_url_request_uri` omits it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_decision_url(decision: *const netlib_decision) -> *const netlib_url {
    read(decision, std::ptr::null(), |decision| handle::lend(Some(decision.url())))
}

/// Returns the method of the next request.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_decision_method(decision: *const netlib_decision, len: *mut usize) -> *const c_char {
    lend_text(decision, len, |decision| Some(decision.method()))
}

/// Returns 1 if the next request carries the body, if any, of the last request, else 0. Rewind the body before you send
/// it again, see `netlib_rewind_body`. The result is 0 if the chain contains a 303 or a redirect that changed POST to
/// GET, and if there is no next request.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_decision_resend_body(decision: *const netlib_decision) -> i32 {
    read_bool(decision, false, Decision::resend_body)
}

/// Returns 1 if the next request must not contain the header `name`, else 0; 1 for NULL. `netlib_decision_headers`
/// drops the headers for which this function returns 1.
///
/// @param name the header's name, case-insensitive. May be NULL: 1 is returned.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_decision_drops_header(decision: *const netlib_decision, name: *const c_char) -> i32 {
    guard::value(1, || Ok(i32::from(arg!(decision).dropped_headers().contains(arg_cstr!(name).to_bytes()))))
}

/// Returns the number of header names that the next request must not contain. After a redirect to another origin, a
/// list that was set with `netlib_retry_options_set_keep_headers_on_redirect` has a further effect: all headers that
/// are not in that list are dropped, but not counted here.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_decision_dropped_header_count(decision: *const netlib_decision) -> usize {
    read(decision, 0, |decision| decision.dropped_headers().named().len())
}

/// Returns the name, in lower case, of a header that the next request must not contain. The names are sorted. To drop
/// these headers, use `netlib_decision_headers`, or `netlib_decision_drops_header` for each of your headers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_decision_dropped_header(
    decision: *const netlib_decision,
    index: usize,
    len: *mut usize,
) -> *const c_char {
    lend_text(decision, len, |decision| decision.dropped_headers().named().at(index))
}

/// Makes the headers of the next request: the headers of the last request, without those that must be dropped. Headers
/// that describe the body are dropped if a redirect dropped the body. On a redirect to another origin, the profile
/// `NETLIB_REDIRECT_SAFE` drops Host, but the profile `NETLIB_REDIRECT_URLLIB3` does not. Do not include Host in
/// `request_headers`; make Host from the URL of each request (`netlib_url_netloc`).
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
