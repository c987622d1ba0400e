//! How often, for which failures, and after which delay a request is sent again.

pub mod decision;
pub mod options;

use std::ffi::c_char;
use std::sync::Arc;

use crate::ffi::api::basics::{netlib_error, netlib_status};
use crate::ffi::api::limit::netlib_limit;
use crate::ffi::api::response::netlib_response;
use crate::ffi::api::retry::options::netlib_retry_options;
use crate::ffi::args::{arg, arg_bool, arg_cstr, arg_cstr_opt, arg_opt, arg_shared_opt};
use crate::ffi::out::outs;
use crate::ffi::strings::{TextList, lend_numbers, lend_text, read};
use crate::ffi::{Handle, Options, Shared, guard, handle, options as ffi_options};
use crate::retry::{self, Count, Methods, Retry};

/// Why there is a wait before the next request. Stored by `netlib_retry_delay`.
#[repr(C)]
pub enum netlib_delay_reason {
    /// There is none.
    NETLIB_DELAY_NONE = 0,
    /// The exponential backoff.
    NETLIB_DELAY_BACKOFF = 1,
    /// The server asked for it.
    NETLIB_DELAY_RETRY_AFTER = 2,
}

/// A retry policy with what is left of its counts and the history of what happened. **Immutable**:
/// `netlib_retry_increment` makes the next one, so that one Retry serves any number of requests.
pub struct netlib_retry {
    _private: [u8; 0],
}

impl Handle for netlib_retry {
    type Value = Retry;
    type Ownership = Shared;
}

/// Makes a Retry.
///
/// @param options its settings, copied; the same options can make more. May be NULL: all defaults.
/// @param retry out, owned: free it with `netlib_retry_free`. Not NULL.
/// @param err out, owned. May be NULL.
/// @return `NETLIB_OK`; the status of the first setter that refused its value: `NETLIB_INVALID_ARGUMENT`.
/// @threads one call at a time on the options
/// @since 0.1.0
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

/// Another reference to the same Retry.
///
/// @param retry the Retry. May be NULL: NULL is returned.
/// @return owned: free it with `netlib_retry_free`.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_clone(retry: *const netlib_retry) -> *mut netlib_retry {
    handle::clone(retry)
}

/// Releases a Retry. What was borrowed from it ends with its last reference.
///
/// @param retry owned. May be NULL: nothing happens.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_free(retry: *mut netlib_retry) {
    guard::nothing(|| handle::free(retry));
}

/// Options that make an equal Retry, history included: change some, and make another.
///
/// @param retry the Retry. May be NULL: NULL is returned.
/// @return owned: free it with `netlib_retry_options_free`.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_to_options(retry: *const netlib_retry) -> *mut netlib_retry_options {
    read(retry, std::ptr::null_mut(), |retry| handle::give(Box::new(Options::new(retry.to_options()))))
}

/// Makes a Retry of the old way to say it: a number of retries.
///
/// @param count `total` of the new Retry; `NETLIB_FALSE` disables retrying; `NETLIB_NONE` takes the default instead.
/// @param redirect 0 or 1: whether redirects are followed. It does not change the default.
/// @param default_retry what `NETLIB_NONE` stands for; shared. May be NULL: a Retry with total 3.
/// @param retry out, owned: free it with `netlib_retry_free`. Not NULL.
/// @param err out, owned. May be NULL.
/// @return `NETLIB_OK`; `NETLIB_INVALID_ARGUMENT` if `redirect` is neither 0 nor 1.
/// @threads any
/// @since 0.1.0
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

/// Chooses the Retry of a request: its own, else its pool's, else one with total 3.
///
/// @param per_request the request's own. May be NULL: `pool_default` is returned, or what stands for it.
/// @param pool_default the pool's. May be NULL: a Retry with total 3 stands for it.
/// @return borrowed: one of the two, or a constant that is never freed. Never NULL.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_resolve(
    per_request: *const netlib_retry,
    pool_default: *const netlib_retry,
) -> *const netlib_retry {
    let given = [per_request, pool_default].into_iter().find(|retry| !retry.is_null());
    guard::value(std::ptr::null(), || Ok(given.unwrap_or_else(|| handle::lend(Some(Retry::default_retry())))))
}

/// What is left of `total`.
///
/// @param retry the Retry. May be NULL: `NETLIB_NONE` is returned.
/// @return a count, negative when it is used up; `NETLIB_NONE`; `NETLIB_FALSE`.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_total(retry: *const netlib_retry) -> i32 {
    read(retry, Count::None.code(), |retry| retry.counts().total.code())
}

/// What is left of `connect`.
///
/// @param retry the Retry. May be NULL: `NETLIB_NONE` is returned.
/// @return a count, negative when it is used up; `NETLIB_NONE`; `NETLIB_FALSE`.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_connect(retry: *const netlib_retry) -> i32 {
    read(retry, Count::None.code(), |retry| retry.counts().connect.code())
}

/// What is left of `read`.
///
/// @param retry the Retry. May be NULL: `NETLIB_NONE` is returned.
/// @return a count, negative when it is used up; `NETLIB_NONE`; `NETLIB_FALSE`.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_read(retry: *const netlib_retry) -> i32 {
    read(retry, Count::None.code(), |retry| retry.counts().read.code())
}

/// What is left of `redirect`.
///
/// @param retry the Retry. May be NULL: `NETLIB_NONE` is returned.
/// @return a count, negative when it is used up; `NETLIB_NONE`.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_redirect(retry: *const netlib_retry) -> i32 {
    read(retry, Count::None.code(), |retry| retry.counts().redirect.code())
}

/// What is left of `status`.
///
/// @param retry the Retry. May be NULL: `NETLIB_NONE` is returned.
/// @return a count, negative when it is used up; `NETLIB_NONE`.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_status(retry: *const netlib_retry) -> i32 {
    read(retry, Count::None.code(), |retry| retry.counts().status.code())
}

/// What is left of `other`.
///
/// @param retry the Retry. May be NULL: `NETLIB_NONE` is returned.
/// @return a count, negative when it is used up; `NETLIB_NONE`.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_other(retry: *const netlib_retry) -> i32 {
    read(retry, Count::None.code(), |retry| retry.counts().other.code())
}

/// The factor of the exponential delay.
///
/// @param retry the Retry. May be NULL: 0 is returned.
/// @return seconds.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_backoff_factor(retry: *const netlib_retry) -> f64 {
    read(retry, 0.0, |retry| retry.backoff().factor)
}

/// The longest backoff.
///
/// @param retry the Retry. May be NULL: `NETLIB_RETRY_DEFAULT_BACKOFF_MAX` is returned.
/// @return seconds; `NETLIB_TIMEOUT_NONE` for no bound.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_backoff_max(retry: *const netlib_retry) -> f64 {
    read(retry, retry::Backoff::DEFAULT_MAX, |retry| retry.backoff().max)
}

/// How much is added to a backoff at most.
///
/// @param retry the Retry. May be NULL: 0 is returned.
/// @return seconds.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_backoff_jitter(retry: *const netlib_retry) -> f64 {
    read(retry, 0.0, |retry| retry.backoff().jitter)
}

/// The longest wait that a Retry-After header can ask for.
///
/// @param retry the Retry. May be NULL: `NETLIB_RETRY_DEFAULT_RETRY_AFTER_MAX` is returned.
/// @return seconds; `NETLIB_TIMEOUT_NONE` for no bound.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_retry_after_max(retry: *const netlib_retry) -> f64 {
    read(retry, retry::Policy::DEFAULT_RETRY_AFTER_MAX, Retry::retry_after_max)
}

/// Whether running out of redirects is an error.
///
/// @param retry the Retry. May be NULL: false is returned.
/// @return true: `netlib_retry_decide` fails with `NETLIB_MAX_RETRY`; false: it returns the response.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_raise_on_redirect(retry: *const netlib_retry) -> bool {
    read(retry, false, Retry::raise_on_redirect)
}

/// Whether running out of retries because of a status is an error.
///
/// @param retry the Retry. May be NULL: false is returned.
/// @return true: `netlib_retry_decide` fails with `NETLIB_MAX_RETRY`; false: it returns the response.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_raise_on_status(retry: *const netlib_retry) -> bool {
    read(retry, false, Retry::raise_on_status)
}

/// Whether Retry-After is obeyed.
///
/// @param retry the Retry. May be NULL: false is returned.
/// @return true or false.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_respect_retry_after_header(retry: *const netlib_retry) -> bool {
    read(retry, false, Retry::respect_retry_after_header)
}

/// How redirects are followed.
///
/// @param retry the Retry. May be NULL: `NETLIB_REDIRECT_REFERENCE` is returned.
/// @return one of `enum netlib_redirect_profile`.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_redirect_profile(retry: *const netlib_retry) -> i32 {
    read(retry, 0, |retry| retry.redirect_profile() as i32)
}

/// Whether every method may be retried; the list of allowed methods is then empty and means nothing.
///
/// @param retry the Retry. May be NULL: false is returned.
/// @return true or false.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_allows_any_method(retry: *const netlib_retry) -> bool {
    read(retry, false, |retry| matches!(retry.methods(), Methods::Any))
}

/// How many methods are listed as allowed.
///
/// @param retry the Retry. May be NULL: 0 is returned.
/// @return the count.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_allowed_method_count(retry: *const netlib_retry) -> usize {
    read(retry, 0, |retry| retry.methods().listed().map_or(0, |names| names.len()))
}

/// One of the allowed methods, in upper case; they are sorted.
///
/// @param retry the Retry. May be NULL: NULL is returned.
/// @param index 0 to count - 1; beyond, NULL is returned.
/// @param len out: the length in bytes without the NUL. May be NULL.
/// @return borrowed from `retry`, NUL-terminated.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_allowed_method(
    retry: *const netlib_retry,
    index: usize,
    len: *mut usize,
) -> *const c_char {
    lend_text(retry, len, |retry| retry.methods().listed()?.at(index))
}

/// How many statuses are retried.
///
/// @param retry the Retry. May be NULL: 0 is returned.
/// @return the count.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_status_forcelist_count(retry: *const netlib_retry) -> usize {
    read(retry, 0, |retry| retry.status_forcelist().len())
}

/// One of the statuses that are retried; they are sorted.
///
/// @param retry the Retry. May be NULL: -1 is returned.
/// @param index 0 to count - 1; beyond, -1 is returned.
/// @return a status code.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_status_forcelist_at(retry: *const netlib_retry, index: usize) -> i32 {
    read(retry, -1, |retry| retry.status_forcelist().get(index).copied().unwrap_or(-1))
}

/// How many headers do not follow a redirect to another origin.
///
/// @param retry the Retry. May be NULL: 0 is returned.
/// @return the count.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_remove_header_count(retry: *const netlib_retry) -> usize {
    read(retry, 0, |retry| retry.remove_headers_on_redirect().len())
}

/// One of the headers that do not follow a redirect to another origin, in lower case; they are sorted.
///
/// @param retry the Retry. May be NULL: NULL is returned.
/// @param index 0 to count - 1; beyond, NULL is returned.
/// @param len out: the length in bytes without the NUL. May be NULL.
/// @return borrowed from `retry`, NUL-terminated.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_remove_header(
    retry: *const netlib_retry,
    index: usize,
    len: *mut usize,
) -> *const c_char {
    lend_text(retry, len, |retry| retry.remove_headers_on_redirect().at(index))
}

/// How many entries the history has: one per call of `netlib_retry_increment`, in the order of the requests.
///
/// @param retry the Retry. May be NULL: 0 is returned.
/// @return the count.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_history_count(retry: *const netlib_retry) -> usize {
    read(retry, 0, |retry| retry.history().len())
}

/// The method of a request of the history.
///
/// @param retry the Retry. May be NULL: NULL is returned.
/// @param index 0 to count - 1; beyond, NULL is returned.
/// @param len out: the length in bytes without the NUL. May be NULL.
/// @return borrowed from `retry`, NUL-terminated; NULL when it was not given.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_history_method(
    retry: *const netlib_retry,
    index: usize,
    len: *mut usize,
) -> *const c_char {
    lend_text(retry, len, |retry| retry.history().get(index)?.method())
}

/// The URL of a request of the history, as it was given: it may hold a user's password.
///
/// @param retry the Retry. May be NULL: NULL is returned.
/// @param index 0 to count - 1; beyond, NULL is returned.
/// @param len out: the length in bytes without the NUL. May be NULL.
/// @return borrowed from `retry`, NUL-terminated; NULL when it was not given.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_history_url(
    retry: *const netlib_retry,
    index: usize,
    len: *mut usize,
) -> *const c_char {
    lend_text(retry, len, |retry| retry.history().get(index)?.url())
}

/// What failed in a request of the history.
///
/// @param retry the Retry. May be NULL: NULL is returned.
/// @param index 0 to count - 1; beyond, NULL is returned.
/// @return borrowed from `retry`; NULL when there was a response. It lends no Retry of its own.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_history_error(retry: *const netlib_retry, index: usize) -> *const netlib_error {
    read(retry, std::ptr::null(), |retry| handle::lend(retry.history().get(index).and_then(|entry| entry.error())))
}

/// The response's status of a request of the history.
///
/// @param retry the Retry. May be NULL: `NETLIB_NONE` is returned.
/// @param index 0 to count - 1; beyond, `NETLIB_NONE` is returned.
/// @return a status code; `NETLIB_NONE` when there was no response.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_history_status(retry: *const netlib_retry, index: usize) -> i32 {
    read(retry, Count::None.code(), |retry| {
        let status = retry.history().get(index).and_then(|entry| entry.status());
        status.map_or(Count::None.code(), i32::from)
    })
}

/// Where a request of the history was redirected to: its response's Location.
///
/// @param retry the Retry. May be NULL: NULL is returned.
/// @param index 0 to count - 1; beyond, NULL is returned.
/// @param len out: the length in bytes without the NUL. May be NULL.
/// @return borrowed from `retry`, NUL-terminated; NULL when it was not redirected.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_history_redirect_location(
    retry: *const netlib_retry,
    index: usize,
    len: *mut usize,
) -> *const c_char {
    lend_text(retry, len, |retry| retry.history().get(index)?.redirect_location())
}

/// Counts one more request that was not the last, and makes the Retry for the next one.
///
/// The first of these that holds says which count it consumes beside `total`: the error's `netlib_status_retry_kind`;
/// a redirect's Location: `redirect`; a response: `status`; nothing: `total` alone. The history gets an entry.
///
/// It fails with `NETLIB_MAX_RETRY` when a count is used up, whatever `raise_on_redirect` and `raise_on_status` say:
/// its cause is the reason, and `netlib_error_retry` lends the exhausted Retry with the whole history. It fails with
/// `error` itself, status and all, when that is not to be retried: `total` is `NETLIB_FALSE`; the count of its kind
/// is `NETLIB_FALSE`; its kind is NEVER; or it is a read error and the method is not allowed, or NULL.
///
/// @param retry the Retry, which stays as it is. Not NULL.
/// @param method the request's method. May be NULL: unknown.
/// @param url the request's URL, for the history and the message, which leaves out user, password and query. May be
///        NULL: unknown.
/// @param response the response. May be NULL: there was none.
/// @param error what failed; it goes before the response. May be NULL: nothing did.
/// @param next out, owned: free it with `netlib_retry_free`. Not NULL.
/// @param err out, owned. May be NULL.
/// @return `NETLIB_OK`; `NETLIB_MAX_RETRY`; the status of `error`; `NETLIB_INVALID_ARGUMENT` if the method is no
///         token.
/// @threads any
/// @since 0.1.0
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
        let retry = arg!(retry);
        let (method, url) = (arg_cstr_opt!(method), arg_cstr_opt!(url));
        let response = arg_opt!(response);
        let error = arg_shared_opt!(error);
        next.give(Arc::new(retry.increment(method, url, response, error.as_ref())?));
        Ok(())
    })
}

/// Says whether a response is one to ask again for: the method is allowed, and the status is in `status_forcelist`,
/// or it is one of `NETLIB_RETRY_AFTER_STATUS_CODES` with a Retry-After header, which is to be obeyed, and `total` is
/// a number other than 0.
///
/// @param retry the Retry. Not NULL.
/// @param method the request's method. Not NULL.
/// @param status_code the response's status.
/// @param has_retry_after 0 or 1: whether it has a Retry-After header.
/// @param is_retry out. Not NULL.
/// @param err out, owned. May be NULL.
/// @return `NETLIB_OK`; `NETLIB_INVALID_ARGUMENT` if the method is no token or `has_retry_after` neither 0 nor 1.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_is_retry(
    retry: *const netlib_retry,
    method: *const c_char,
    status_code: i32,
    has_retry_after: i32,
    is_retry: *mut bool,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let is_retry = outs!(is_retry);
        let retry = arg!(retry);
        let method = arg_cstr!(method);
        is_retry.set(retry.is_retry(method, status_code, arg_bool!(has_retry_after))?);
        Ok(())
    })
}

/// Says whether more retries were made than one of the counts allows. What `netlib_error_retry` lends is exhausted.
///
/// @param retry the Retry. Not NULL.
/// @param exhausted out. Not NULL.
/// @param err out, owned. May be NULL.
/// @return `NETLIB_OK`.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_is_exhausted(
    retry: *const netlib_retry,
    exhausted: *mut bool,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let exhausted = outs!(exhausted);
        exhausted.set(arg!(retry).is_exhausted());
        Ok(())
    })
}

/// The backoff before the next request: `backoff_factor * 2^(n - 1)` seconds, where n counts the entries at the end
/// of the history that are no redirects; 0 while n is 0 or 1; plus a random part of `backoff_jitter`, drawn anew by
/// each call; at most `backoff_max`.
///
/// @param retry the Retry. Not NULL.
/// @param seconds out: in seconds. Not NULL.
/// @param err out, owned. May be NULL.
/// @return `NETLIB_OK`; `NETLIB_CALLBACK_FAILED` if the random callback failed; `NETLIB_IO` if the system has no
///         random numbers.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_get_backoff_time(
    retry: *const netlib_retry,
    seconds: *mut f64,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let seconds = outs!(seconds);
        seconds.set(arg!(retry).get_backoff_time()?);
        Ok(())
    })
}

/// How long a response asks to wait: its Retry-After header, RFC 9110 section 10.2.3, whatever its status.
///
/// @param retry the Retry. Not NULL.
/// @param response the response. Not NULL.
/// @param seconds out: in seconds from now, at most `retry_after_max`; 0 for a date that has passed; -1.0 without the
///        header. Not NULL.
/// @param err out, owned. May be NULL.
/// @return `NETLIB_OK`; `NETLIB_INVALID_HEADER` if it is neither a number nor a date; `NETLIB_CALLBACK_FAILED`.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_get_retry_after(
    retry: *const netlib_retry,
    response: *const netlib_response,
    seconds: *mut f64,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let seconds = outs!(seconds);
        let retry = arg!(retry);
        seconds.set(retry.get_retry_after(arg!(response))?.unwrap_or(-1.0));
        Ok(())
    })
}

/// Reads the value of a Retry-After header: whole seconds, or a date in one of the three forms of HTTP (RFC 9110
/// section 5.6.7) or near to them: the weekday and the zone (UTC) may be missing, the zone may be an offset.
///
/// @param retry the Retry. Not NULL.
/// @param value the header's value. Not NULL.
/// @param seconds out: in seconds from now, at most `retry_after_max`; 0 for a date that has passed. Not NULL.
/// @param err out, owned. May be NULL.
/// @return `NETLIB_OK`; `NETLIB_INVALID_HEADER` if it is neither a number nor a date; `NETLIB_CALLBACK_FAILED`.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_parse_retry_after(
    retry: *const netlib_retry,
    value: *const c_char,
    seconds: *mut f64,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let seconds = outs!(seconds);
        let retry = arg!(retry);
        seconds.set(retry.parse_retry_after(arg_cstr!(value).to_bytes())?);
        Ok(())
    })
}

/// How long `netlib_retry_sleep` would sleep, and why, for programs that wait in their own event loop.
///
/// That is what Retry-After asks for, if `respect_retry_after_header` is set and the status is one of
/// `NETLIB_RETRY_AFTER_STATUS_CODES`; without the header, or when it asks for no wait, the backoff of
/// `netlib_retry_get_backoff_time`.
///
/// @param retry the Retry for the next request: the one that `netlib_retry_increment` made. Not NULL.
/// @param response the last response. May be NULL: there was none.
/// @param seconds out: in seconds; 0 for no wait. Not NULL.
/// @param reason out: one of `enum netlib_delay_reason`. Not NULL.
/// @param uncapped out: what `seconds` would be without `backoff_max` or `retry_after_max`; infinity when the backoff
///        is more than a double can hold. Not NULL.
/// @param err out, owned. May be NULL.
/// @return `NETLIB_OK`; `NETLIB_INVALID_HEADER` if Retry-After is neither a number nor a date;
///         `NETLIB_CALLBACK_FAILED`; `NETLIB_IO` if the system has no random numbers.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_delay(
    retry: *const netlib_retry,
    response: *const netlib_response,
    seconds: *mut f64,
    reason: *mut i32,
    uncapped: *mut f64,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let (seconds, reason, uncapped) = outs!(seconds, reason, uncapped);
        let retry = arg!(retry);
        let delay = retry.delay(arg_opt!(response))?;
        seconds.set(delay.seconds);
        reason.set(delay.reason as i32);
        uncapped.set(delay.uncapped);
        Ok(())
    })
}

/// Sleeps before the next request, as long as `netlib_retry_delay` says; with a `backoff_factor` of 0 and no
/// Retry-After it returns at once.
///
/// @param retry the Retry for the next request: the one that `netlib_retry_increment` made. Not NULL.
/// @param response the last response. May be NULL: there was none.
/// @param limit what may end the sleep early; borrowed. May be NULL: nothing does.
/// @param err out, owned. May be NULL.
/// @return `NETLIB_OK`; `NETLIB_CANCELLED` and `NETLIB_DEADLINE_EXCEEDED`, by the limit; `NETLIB_INVALID_HEADER` if
///         Retry-After is neither a number nor a date; `NETLIB_CALLBACK_FAILED`; `NETLIB_IO`.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_sleep(
    retry: *const netlib_retry,
    response: *const netlib_response,
    limit: *const netlib_limit,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let retry = arg!(retry);
        retry.sleep(arg_opt!(response), arg_opt!(limit))
    })
}

/// Sleeps as long as the response's Retry-After header asks, whatever its status.
///
/// @param retry the Retry. Not NULL.
/// @param response the last response. Not NULL.
/// @param limit what may end the sleep early; borrowed. May be NULL: nothing does.
/// @param slept out: false when there is no such header or it asks for no wait. Not NULL.
/// @param err out, owned. May be NULL.
/// @return `NETLIB_OK`; `NETLIB_CANCELLED` and `NETLIB_DEADLINE_EXCEEDED`, by the limit; `NETLIB_INVALID_HEADER` if
///         Retry-After is neither a number nor a date; `NETLIB_CALLBACK_FAILED`; `NETLIB_IO`.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_sleep_for_retry(
    retry: *const netlib_retry,
    response: *const netlib_response,
    limit: *const netlib_limit,
    slept: *mut bool,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let slept = outs!(slept);
        let retry = arg!(retry);
        slept.set(retry.sleep_for_retry(arg!(response), arg_opt!(limit))?);
        Ok(())
    })
}

/// The exhausted Retry of a `NETLIB_MAX_RETRY` error, with the history of all its requests.
///
/// @param error the error. May be NULL: NULL is returned.
/// @return borrowed from `error`; NULL for every other error.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_error_retry(error: *const netlib_error) -> *const netlib_retry {
    read(error, std::ptr::null(), |error| handle::lend(error.retry()))
}

/// The methods that may be retried unless set, as `NETLIB_RETRY_DEFAULT_ALLOWED_METHODS`.
///
/// @param count out: how many. May be NULL.
/// @return a constant array of constant strings, fit for the setters. Never NULL.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_default_allowed_methods(count: *mut usize) -> *const *const c_char {
    static LIST: TextList<{ retry::DEFAULT_ALLOWED_METHODS.len() }> = TextList::new(retry::DEFAULT_ALLOWED_METHODS);
    LIST.lend(count)
}

/// The headers that do not follow a redirect to another origin unless set, as
/// `NETLIB_RETRY_DEFAULT_REMOVE_HEADERS_ON_REDIRECT`.
///
/// @param count out: how many. May be NULL.
/// @return a constant array of constant strings, fit for the setters. Never NULL.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_default_remove_headers_on_redirect(count: *mut usize) -> *const *const c_char {
    static LIST: TextList<{ retry::DEFAULT_REMOVE_HEADERS_ON_REDIRECT.len() }> =
        TextList::new(retry::DEFAULT_REMOVE_HEADERS_ON_REDIRECT);
    LIST.lend(count)
}

/// The request headers that carry credentials, as `NETLIB_SENSITIVE_HEADERS`. See
/// `netlib_retry_options_add_sensitive_headers`.
///
/// @param count out: how many. May be NULL.
/// @return a constant array of constant strings, fit for the setters. Never NULL.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_sensitive_headers(count: *mut usize) -> *const *const c_char {
    static LIST: TextList<{ retry::SENSITIVE_HEADERS.len() }> = TextList::new(retry::SENSITIVE_HEADERS);
    LIST.lend(count)
}

/// The statuses whose Retry-After header is obeyed, as `NETLIB_RETRY_AFTER_STATUS_CODES`.
///
/// @param count out: how many. May be NULL.
/// @return a constant array. Never NULL.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_after_status_codes(count: *mut usize) -> *const i32 {
    lend_numbers(retry::RETRY_AFTER_STATUS_CODES, count)
}

/// The statuses that redirect, as `NETLIB_REDIRECT_STATUS_CODES`.
///
/// @param count out: how many. May be NULL.
/// @return a constant array. Never NULL.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_redirect_status_codes(count: *mut usize) -> *const i32 {
    lend_numbers(retry::REDIRECT_STATUS_CODES, count)
}

/// `backoff_max` unless set, as `NETLIB_RETRY_DEFAULT_BACKOFF_MAX`.
///
/// @return seconds.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub extern "C" fn netlib_retry_default_backoff_max() -> f64 {
    retry::Backoff::DEFAULT_MAX
}
