//! Getters of a Retry: counters, settings, history.

use std::ffi::c_char;

use crate::ffi::api::basics::netlib_error;
use crate::ffi::api::retry::netlib_retry;
use crate::ffi::enums::enum_netlib_redirect_profile;
use crate::ffi::handle;
use crate::ffi::strings::{lend_text, read, read_bool};
use crate::retry::{Backoff, Count, Methods, NameSet, Policy, Retry};

/// Returns the `total` counter: the number of retries that are left, negative when the counter is used up;
/// `NETLIB_RETRY_DISABLED`; `NETLIB_NONE` for no limit and for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_total_left(retry: *const netlib_retry) -> i32 {
    read(retry, Count::None.code(), |retry| retry.counts().total.code())
}

/// Returns the `connect` counter: the number of retries that are left, negative when the counter is used up;
/// `NETLIB_RETRY_DISABLED`; `NETLIB_NONE` for no limit and for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_connect_left(retry: *const netlib_retry) -> i32 {
    read(retry, Count::None.code(), |retry| retry.counts().connect.code())
}

/// Returns the `read` counter: the number of retries that are left, negative when the counter is used up;
/// `NETLIB_RETRY_DISABLED`; `NETLIB_NONE` for no limit and for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_read_left(retry: *const netlib_retry) -> i32 {
    read(retry, Count::None.code(), |retry| retry.counts().read.code())
}

/// Returns the `redirect` counter: the number of redirects that are left, negative when the counter is used up;
/// `NETLIB_NONE` for no limit and for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_redirect_left(retry: *const netlib_retry) -> i32 {
    read(retry, Count::None.code(), |retry| retry.counts().redirect.code())
}

/// Returns the `status` counter: the number of retries that are left, negative when the counter is used up;
/// `NETLIB_NONE` for no limit and for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_status_left(retry: *const netlib_retry) -> i32 {
    read(retry, Count::None.code(), |retry| retry.counts().status.code())
}

/// Returns the `other` counter: the number of retries that are left, negative when the counter is used up;
/// `NETLIB_NONE` for no limit and for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_other_left(retry: *const netlib_retry) -> i32 {
    read(retry, Count::None.code(), |retry| retry.counts().other.code())
}

/// Returns the factor of the exponential backoff, in seconds.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_backoff_factor(retry: *const netlib_retry) -> f64 {
    read(retry, 0.0, |retry| retry.backoff().factor)
}

/// Returns the longest backoff, in seconds; `NETLIB_TIMEOUT_NONE` for no maximum; `NETLIB_RETRY_DEFAULT_BACKOFF_MAX`
/// for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_backoff_max(retry: *const netlib_retry) -> f64 {
    read(retry, Backoff::DEFAULT_MAX, |retry| retry.backoff().max)
}

/// Returns the upper bound of the random time that `NETLIB_JITTER_ADDITIVE` adds to a backoff, in seconds.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_backoff_jitter(retry: *const netlib_retry) -> f64 {
    read(retry, 0.0, |retry| retry.backoff().jitter)
}

/// Returns the longest wait that a Retry-After header can cause, in seconds; `NETLIB_TIMEOUT_NONE` for no maximum;
/// `NETLIB_RETRY_DEFAULT_RETRY_AFTER_MAX` for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_retry_after_max(retry: *const netlib_retry) -> f64 {
    read(retry, Policy::DEFAULT_RETRY_AFTER_MAX, Retry::retry_after_max)
}

/// Returns 1 if a redirect decrements the `total` counter, else 0; 1 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_total_counts_redirects(retry: *const netlib_retry) -> i32 {
    read(retry, 1, |retry| i32::from(retry.total_counts_redirects()))
}

/// Returns 1 if `netlib_retry_decide` fails with `NETLIB_MAX_RETRY` when no redirect is left, and 0 if the decision is
/// then to return the response.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_raise_on_redirect(retry: *const netlib_retry) -> i32 {
    read_bool(retry, false, Retry::raise_on_redirect)
}

/// Returns 1 if `netlib_retry_decide` fails with `NETLIB_MAX_RETRY` when no retry because of a status is left, and 0 if
/// the decision is then to return the response.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_raise_on_status(retry: *const netlib_retry) -> i32 {
    read_bool(retry, false, Retry::raise_on_status)
}

/// Returns 1 if the Retry-After header is obeyed, else 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_respect_retry_after_header(retry: *const netlib_retry) -> i32 {
    read_bool(retry, false, Retry::respect_retry_after_header)
}

/// Returns the redirect profile; `NETLIB_REDIRECT_URLLIB3` for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_redirect_profile(retry: *const netlib_retry) -> enum_netlib_redirect_profile {
    read(retry, 0, |retry| retry.redirect_profile() as i32)
}

/// Returns 1 if every method may be retried, else 0. If the result is 1, the list of allowed methods is empty and
/// unused.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_allows_any_method(retry: *const netlib_retry) -> i32 {
    read_bool(retry, false, |retry| matches!(retry.methods(), Methods::Any))
}

/// Returns 1 if a request with any method may be repeated after `NETLIB_STALE_CONNECTION`, else 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_allows_any_method_if_stale(retry: *const netlib_retry) -> i32 {
    read_bool(retry, false, Retry::allows_any_method_if_stale)
}

/// Returns the number of entries in the list of allowed methods; 0 if every method is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_allowed_method_count(retry: *const netlib_retry) -> usize {
    read(retry, 0, |retry| retry.methods().listed().map_or(0, |names| names.len()))
}

/// Returns an allowed method, in upper case, from a sorted list.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_allowed_method(
    retry: *const netlib_retry,
    index: usize,
    len: *mut usize,
) -> *const c_char {
    lend_text(retry, len, |retry| retry.methods().listed()?.at(index))
}

/// Returns the number of response statuses that are retried.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_status_forcelist_count(retry: *const netlib_retry) -> usize {
    read(retry, 0, |retry| retry.status_forcelist().len())
}

/// Returns a response status that is retried, from a sorted list; -1 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_status_forcelist_at(retry: *const netlib_retry, index: usize) -> i32 {
    read(retry, -1, |retry| retry.status_forcelist().get(index).copied().unwrap_or(-1))
}

/// Returns the number of names in `remove_headers_on_redirect`, the list of headers that are dropped on a redirect to
/// another origin.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_removed_header_count(retry: *const netlib_retry) -> usize {
    read(retry, 0, |retry| retry.remove_headers_on_redirect().len())
}

/// Returns a name, in lower case, from `remove_headers_on_redirect`, the list of headers that are dropped on a redirect
/// to another origin. The names are sorted.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_removed_header(
    retry: *const netlib_retry,
    index: usize,
    len: *mut usize,
) -> *const c_char {
    lend_text(retry, len, |retry| retry.remove_headers_on_redirect().at(index))
}

/// Returns 1 if a redirect to another origin keeps every header that no other setting drops, 0 if
/// `netlib_retry_options_set_keep_headers_on_redirect` set a list of headers to keep; 1 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_keeps_any_header(retry: *const netlib_retry) -> i32 {
    read_bool(retry, true, |retry| retry.keep_headers_on_redirect().is_none())
}

/// Returns the number of names in the list that `netlib_retry_options_set_keep_headers_on_redirect` set; 0 if the list
/// is empty or was not set (see `netlib_retry_keeps_any_header`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_kept_header_count(retry: *const netlib_retry) -> usize {
    read(retry, 0, |retry| retry.keep_headers_on_redirect().map_or(0, NameSet::len))
}

/// Returns the name, in lower case, of a header that may be kept on a redirect to another origin. The names are
/// sorted.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_kept_header(
    retry: *const netlib_retry,
    index: usize,
    len: *mut usize,
) -> *const c_char {
    lend_text(retry, len, |retry| retry.keep_headers_on_redirect()?.at(index))
}

/// Returns the number of entries in the history. Each call of `netlib_retry_increment`, and each decision to send
/// another request, adds one entry, so the entries are in the order of the requests.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_history_count(retry: *const netlib_retry) -> usize {
    read(retry, 0, |retry| retry.history().len())
}

/// Returns the method of a request in the history; NULL when the method is unknown.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_history_method(
    retry: *const netlib_retry,
    index: usize,
    len: *mut usize,
) -> *const c_char {
    lend_text(retry, len, |retry| retry.history().get(index)?.method())
}

/// Returns the URL of a request in the history, unchanged; NULL when the URL is unknown. The URL may contain a
/// password: in logs, use `netlib_retry_history_redacted_url`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_history_url(
    retry: *const netlib_retry,
    index: usize,
    len: *mut usize,
) -> *const c_char {
    lend_text(retry, len, |retry| retry.history().get(index)?.url())
}

/// Returns the URL of a request in the history, for logs, in the form in which `netlib_url_redacted` returns a URL:
/// "***" replaces the userinfo, each value in the query and the fragment; NULL when the URL is unknown, and when memory
/// is short. If the text is not a URL, "***" replaces the whole text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_history_redacted_url(
    retry: *const netlib_retry,
    index: usize,
    len: *mut usize,
) -> *const c_char {
    lend_text(retry, len, |retry| retry.history().get(index)?.redacted_url())
}

/// Returns the error that was recorded for a request in the history; NULL when no error was recorded, for example
/// because the server responded. For the returned error, `netlib_error_retry` returns NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_history_error(retry: *const netlib_retry, index: usize) -> *const netlib_error {
    read(retry, std::ptr::null(), |retry| handle::lend(retry.history().get(index).and_then(|entry| entry.error())))
}

/// Returns the status code of the response to a request in the history; `NETLIB_NONE` when there was no response, when
/// `netlib_retry_increment` or `netlib_retry_decide` recorded an error instead, and for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_history_status(retry: *const netlib_retry, index: usize) -> i32 {
    read(retry, Count::None.code(), |retry| {
        let status = retry.history().get(index).and_then(|entry| entry.status());
        status.map_or(Count::None.code(), i32::from)
    })
}

/// Returns the Location to which a request in the history was redirected, as the server sent it; NULL when the request
/// was not redirected. The Location may contain a token: in logs, use
/// `netlib_retry_history_redacted_redirect_location`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_history_redirect_location(
    retry: *const netlib_retry,
    index: usize,
    len: *mut usize,
) -> *const c_char {
    lend_text(retry, len, |retry| retry.history().get(index)?.redirect_location())
}

/// Returns the Location to which a request in the history was redirected, for logs, redacted as by
/// `netlib_retry_history_redacted_url`; NULL when the request was not redirected, and when memory is short.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_history_redacted_redirect_location(
    retry: *const netlib_retry,
    index: usize,
    len: *mut usize,
) -> *const c_char {
    lend_text(retry, len, |retry| retry.history().get(index)?.redacted_redirect_location())
}
