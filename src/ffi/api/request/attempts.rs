//! The attempts of a request.

use std::ffi::c_char;
use std::sync::Arc;

use crate::ffi::api::basics::{netlib_error, netlib_status};
use crate::ffi::api::headers::netlib_headers;
use crate::ffi::api::limit::netlib_limit;
use crate::ffi::api::request::netlib_request;
use crate::ffi::api::response::netlib_response;
use crate::ffi::api::retry::decision::netlib_decision;
use crate::ffi::api::retry::netlib_retry;
use crate::ffi::api::url::netlib_url;
use crate::ffi::args::{
    arg, arg_bool, arg_cstr, arg_cstr_opt, arg_enum, arg_mut, arg_opt, arg_shared, arg_shared_opt,
};
use crate::ffi::enums::enum_netlib_request_form;
use crate::ffi::out::outs;
use crate::ffi::strings::{lend_text, read, read_bool};
use crate::ffi::{Handle, Unique, guard, handle};
use crate::request::TargetForm;
use crate::retry::Attempts;

/// The attempts of one request: the first attempt, and the retries and redirects on which a Retry decides.
/// **One call at a time**. The getters describe the present attempt. What they return is borrowed until the next call
/// of `netlib_attempts_next` or `netlib_attempts_decide`, even if that call fails: clone a handle to keep it longer.
///
///     do {
///         netlib_response_free(response), response = NULL;
///         netlib_error_free(failure), failure = NULL;
///         send_request(attempts, &response, &failure); // your HTTP code, which stores one of the two
///         status = netlib_attempts_next(attempts, response, failure, &err);
///     } while (status == NETLIB_SEND_AGAIN);
///
/// If the status is then `NETLIB_OK`, `response` is the result of the request; otherwise, `err` says why the request
/// failed. Then free `response`, `failure`, `err` and the attempts. The loop makes the decisions of
/// `netlib_retry_decide`, and passes each decision's Retry, method, URL and headers to the next attempt.
pub struct netlib_attempts {
    _private: [u8; 0],
}

impl Handle for netlib_attempts {
    type Value = Attempts;
    type Ownership = Unique;
}

/// Makes the attempts of a request. The first attempt has the method, the URL and the headers that are passed. A
/// reference to each handle is kept.
///
/// @param retry the policy.
/// @param method the request's method, a token such as "GET".
/// @param url the request's URL.
/// @param headers the request's headers, without Host. May be NULL: no headers.
/// @param has_body 1 if the request has a body, else 0.
/// @param limit bounds the waits between the attempts. Pass the limit to the calls of each attempt too, for example to
///        `netlib_stream_connect`.
/// @return `NETLIB_INVALID_ARGUMENT` if the method is not a token, or `has_body` is neither 0 nor 1.
/// @blocks never: the limit is stored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_attempts_new(
    retry: *const netlib_retry,
    method: *const c_char,
    url: *const netlib_url,
    headers: *const netlib_headers,
    has_body: i32,
    limit: *const netlib_limit,
    attempts: *mut *mut netlib_attempts,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let attempts = outs!(attempts);
        let (retry, method, url) = (arg_shared!(retry), arg_cstr!(method), arg_shared!(url));
        let (headers, has_body, limit) = (arg_shared_opt!(headers), arg_bool!(has_body), arg_shared_opt!(limit));
        attempts.give(Box::new(Attempts::new(retry, method, url, headers, has_body, limit)?));
        Ok(())
    })
}

/// Releases attempts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_attempts_free(attempts: *mut netlib_attempts) {
    guard::nothing(|| handle::free(attempts));
}

/// Returns the method of the present attempt.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_attempts_method(attempts: *const netlib_attempts, len: *mut usize) -> *const c_char {
    lend_text(attempts, len, |attempts| Some(attempts.method()))
}

/// Returns the URL of the present attempt. For a redirect, the URL is the one that `netlib_decision_url` returns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_attempts_url(attempts: *const netlib_attempts) -> *const netlib_url {
    read(attempts, std::ptr::null(), |attempts| handle::lend(Some(attempts.url())))
}

/// Returns the headers of the present attempt: those that were passed to `netlib_attempts_new`, with the changes of
/// `netlib_attempts_set_header`, and without those that redirects have dropped (`netlib_decision_headers`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_attempts_headers(attempts: *const netlib_attempts) -> *const netlib_headers {
    read(attempts, std::ptr::null(), |attempts| handle::lend(Some(attempts.headers())))
}

/// Returns 1 if the present attempt sends the body, else 0: if the request has no body, and after a redirect that
/// dropped the body (`netlib_decision_resend_body`). Before a second attempt with a body, rewind the body: see
/// `netlib_rewind_body`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_attempts_sends_body(attempts: *const netlib_attempts) -> i32 {
    read_bool(attempts, false, Attempts::sends_body)
}

/// Returns the limit that was passed to `netlib_attempts_new`; NULL if there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_attempts_limit(attempts: *const netlib_attempts) -> *const netlib_limit {
    read(attempts, std::ptr::null(), |attempts| handle::lend(attempts.limit()))
}

/// Makes the head of the present attempt's request: `netlib_request_new` with its method, URL and headers.
///
/// @param form the form of the target.
/// @return the failures of `netlib_request_new`: `NETLIB_INVALID_ARGUMENT`, `NETLIB_INVALID_URL` and
///         `NETLIB_INVALID_HEADER`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_attempts_request(
    attempts: *const netlib_attempts,
    form: enum_netlib_request_form,
    request: *mut *mut netlib_request,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let request = outs!(request);
        let form = arg_enum!(form, netlib_request_form, TargetForm::from_code);
        request.give(Arc::new(arg!(attempts).request(form)?));
        Ok(())
    })
}

/// Sets a header of the present attempt and of all attempts that follow, for example Range to continue a download, or
/// Authorization with new credentials. A redirect may drop the header: see `netlib_decision_drops_header`.
///
/// @param name the name, a token (RFC 9110 section 5.1), case-insensitive.
/// @param value the value, which replaces each earlier value. May be NULL: the header is removed.
/// @return `NETLIB_INVALID_HEADER` as from `netlib_headers_with`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_attempts_set_header(
    attempts: *mut netlib_attempts,
    name: *const c_char,
    value: *const c_char,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || arg_mut!(attempts).set_header(arg_cstr!(name), arg_cstr_opt!(value)))
}

/// Forgets the failures so far: the next failure counts as the first one, the backoff starts again, and a later error
/// does not list the forgotten outcomes. Call the function before you pass a failure to `netlib_attempts_next` if the
/// attempt has made progress, for example if a download has received bytes that no earlier attempt received. Redirects
/// still count, headers that a redirect dropped stay dropped, and a retry budget or the limit can still end the request.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_attempts_reset_failures(attempts: *mut netlib_attempts) {
    guard::value((), || {
        arg_mut!(attempts).reset_failures();
        Ok(())
    });
}

/// Returns the last decision. After `NETLIB_SEND_AGAIN`, the decision states the reason for the present attempt and the
/// wait before it. NULL before the first decision, and after a decision that failed. A wait that failed keeps its
/// decision.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_attempts_decision(attempts: *const netlib_attempts) -> *const netlib_decision {
    read(attempts, std::ptr::null(), |attempts| handle::lend(attempts.decision()))
}

/// Takes the outcome of the present attempt, and decides as `netlib_retry_decide`. If another attempt follows, waits as
/// `netlib_decision_sleep`, and begins it. An event loop calls `netlib_attempts_decide` instead. If the wait fails, the
/// getters describe the attempt for which the call has waited.
///
/// `NETLIB_OK` and every failure end the request. After the end, a call with an error fails with this error, and counts
/// nothing: an exception handler can pass every error. After `NETLIB_OK`, reading the body can still fail. To let the
/// policy decide whether to send the request again, pass the response and the error of the body. To end the request,
/// pass only the error.
///
/// @param response the response. May be NULL: there was no response.
/// @param error the failure, which takes precedence over `response`. If `response` and `error` are passed, the request
///        counts as sent. May be NULL: the request did not fail.
/// @return `NETLIB_SEND_AGAIN` if another attempt follows; `NETLIB_OK` if `response` is the result of the request; the
///         failures of `netlib_retry_decide` and `netlib_decision_sleep`; `NETLIB_CLOSED` if the request has ended and
///         `error` is NULL. `NETLIB_INVALID_ARGUMENT` if both parameters are NULL: the request has not ended.
/// @blocks if another attempt follows after a wait. The limit that was passed to `netlib_attempts_new` ends the wait.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_attempts_next(
    attempts: *mut netlib_attempts,
    response: *const netlib_response,
    error: *const netlib_error,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || arg_mut!(attempts).next(arg_opt!(response), arg_shared_opt!(error).as_ref()))
}

/// Does what `netlib_attempts_next` does, but does not wait. After `NETLIB_SEND_AGAIN`, an event loop reads the delay
/// of the decision (`netlib_attempts_decision`, `netlib_decision_delay`), waits with a timer, and then sends the
/// request.
///
/// @param response the response. May be NULL: there was no response.
/// @param error the failure, as for `netlib_attempts_next`. May be NULL: the request did not fail.
/// @return `NETLIB_SEND_AGAIN`, `NETLIB_OK`, and the failures of `netlib_retry_decide`, as for `netlib_attempts_next`.
/// @blocks never, except in the swap callback of a store: see `netlib_retry_decide`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_attempts_decide(
    attempts: *mut netlib_attempts,
    response: *const netlib_response,
    error: *const netlib_error,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || arg_mut!(attempts).decide(arg_opt!(response), arg_shared_opt!(error).as_ref()))
}
