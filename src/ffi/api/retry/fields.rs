//! Getters of a Retry: counts, settings, history.

use std::ffi::c_char;

use crate::ffi::api::basics::netlib_error;
use crate::ffi::api::retry::netlib_retry;
use crate::ffi::enums::enum_netlib_redirect_profile;
use crate::ffi::handle;
use crate::ffi::strings::{lend_text, read, read_bool};
use crate::retry::{Backoff, Count, Methods, NameSet, Policy, Retry};

/// Returns what remains of the `total` counter: a count, negative when it is used up; `NETLIB_RETRY_DISABLED`;
/// `NETLIB_NONE` for no limit and for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_total_left(retry: *const netlib_retry) -> i32 {
    read(retry, Count::None.code(), |retry| retry.counts().total.code())
}

/// Returns what remains of the `connect` counter: a count, negative when it is used up; `NETLIB_RETRY_DISABLED`;
/// `NETLIB_NONE` for no limit and for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_connect_left(retry: *const netlib_retry) -> i32 {
    read(retry, Count::None.code(), |retry| retry.counts().connect.code())
}

/// Returns what remains of the `read` counter: a count, negative when it is used up; `NETLIB_RETRY_DISABLED`;
/// `NETLIB_NONE` for no limit and for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_read_left(retry: *const netlib_retry) -> i32 {
    read(retry, Count::None.code(), |retry| retry.counts().read.code())
}

/// Returns the remaining `redirect`: a count, negative when it is used up; `NETLIB_NONE` for no limit and for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_redirect_left(retry: *const netlib_retry) -> i32 {
    read(retry, Count::None.code(), |retry| retry.counts().redirect.code())
}

/// Returns the remaining `status`: a count, negative when it is used up; `NETLIB_NONE` for no limit and for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_status_left(retry: *const netlib_retry) -> i32 {
    read(retry, Count::None.code(), |retry| retry.counts().status.code())
}

/// Returns the remaining `other`: a count, negative when it is used up; `NETLIB_NONE` for no limit and for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_other_left(retry: *const netlib_retry) -> i32 {
    read(retry, Count::None.code(), |retry| retry.counts().other.code())
}

/// Returns the factor of the exponential delay, in seconds.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_backoff_factor(retry: *const netlib_retry) -> f64 {
    read(retry, 0.0, |retry| retry.backoff().factor)
}

/// Returns the longest backoff, in seconds; `NETLIB_TIMEOUT_NONE` for no bound; `NETLIB_RETRY_DEFAULT_BACKOFF_MAX` for
/// NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_backoff_max(retry: *const netlib_retry) -> f64 {
    read(retry, Backoff::DEFAULT_MAX, |retry| retry.backoff().max)
}

/// Returns the upper bound of the random time that `NETLIB_JITTER_ADDITIVE` adds to a backoff, in seconds.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_backoff_jitter(retry: *const netlib_retry) -> f64 {
    read(retry, 0.0, |retry| retry.backoff().jitter)
}

/// Returns the longest wait that a Retry-After header can ask for, in seconds; `NETLIB_TIMEOUT_NONE` for no bound;
/// `NETLIB_RETRY_DEFAULT_RETRY_AFTER_MAX` for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_retry_after_max(retry: *const netlib_retry) -> f64 {
    read(retry, Policy::DEFAULT_RETRY_AFTER_MAX, Retry::retry_after_max)
}

/// Returns 1 if `netlib_retry_decide` fails with `NETLIB_MAX_RETRY` when the redirects are used up, 0 if it returns the
/// response.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_raise_on_redirect(retry: *const netlib_retry) -> i32 {
    read_bool(retry, false, Retry::raise_on_redirect)
}

/// Returns 1 if `netlib_retry_decide` fails with `NETLIB_MAX_RETRY` when the retries for a status are used up, 0 if it
/// returns the response.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_raise_on_status(retry: *const netlib_retry) -> i32 {
    read_bool(retry, false, Retry::raise_on_status)
}

/// Returns 1 if Retry-After is obeyed, else 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_respect_retry_after_header(retry: *const netlib_retry) -> i32 {
    read_bool(retry, false, Retry::respect_retry_after_header)
}

/// Returns the treatment of redirects; `NETLIB_REDIRECT_URLLIB3` for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_redirect_profile(retry: *const netlib_retry) -> enum_netlib_redirect_profile {
    read(retry, 0, |retry| retry.redirect_profile() as i32)
}

/// Returns 1 if every method may be retried, else 0. With 1 the list of allowed methods is empty and unused.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_allows_any_method(retry: *const netlib_retry) -> i32 {
    read_bool(retry, false, |retry| matches!(retry.methods(), Methods::Any))
}

/// Returns the number of allowed methods.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_allowed_method_count(retry: *const netlib_retry) -> usize {
    read(retry, 0, |retry| retry.methods().listed().map_or(0, |names| names.len()))
}

/// Returns an allowed method, in upper case; the list is sorted.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_allowed_method(
    retry: *const netlib_retry,
    index: usize,
    len: *mut usize,
) -> *const c_char {
    lend_text(retry, len, |retry| retry.methods().listed()?.at(index))
}

/// Returns the number of statuses that are retried.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_status_forcelist_count(retry: *const netlib_retry) -> usize {
    read(retry, 0, |retry| retry.status_forcelist().len())
}

/// Returns a status that is retried; the list is sorted. -1 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_status_forcelist_at(retry: *const netlib_retry, index: usize) -> i32 {
    read(retry, -1, |retry| retry.status_forcelist().get(index).copied().unwrap_or(-1))
}

/// Returns the number of headers that do not follow a redirect to another origin.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_removed_header_count(retry: *const netlib_retry) -> usize {
    read(retry, 0, |retry| retry.remove_headers_on_redirect().len())
}

/// Returns a header that does not follow a redirect to another origin, in lower case; the list is sorted.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_removed_header(
    retry: *const netlib_retry,
    index: usize,
    len: *mut usize,
) -> *const c_char {
    lend_text(retry, len, |retry| retry.remove_headers_on_redirect().at(index))
}

/// Returns 1 if a redirect to another origin keeps every header that no other setting drops, 0 if
/// `netlib_retry_options_set_keep_headers_on_redirect` gave a list; 1 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_keeps_any_header(retry: *const netlib_retry) -> i32 {
    read_bool(retry, true, |retry| retry.keep_headers_on_redirect().is_none())
}

/// Returns the number of headers in the list of headers that may follow a redirect to another origin; 0 also when there
/// is no list, so that every header may follow.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_kept_header_count(retry: *const netlib_retry) -> usize {
    read(retry, 0, |retry| retry.keep_headers_on_redirect().map_or(0, NameSet::len))
}

/// Returns a header that may follow a redirect to another origin, in lower case; the list is sorted.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_kept_header(
    retry: *const netlib_retry,
    index: usize,
    len: *mut usize,
) -> *const c_char {
    lend_text(retry, len, |retry| retry.keep_headers_on_redirect()?.at(index))
}

/// Returns the number of entries in the history: one per call of `netlib_retry_increment`, in the order of the
/// requests.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_history_count(retry: *const netlib_retry) -> usize {
    read(retry, 0, |retry| retry.history().len())
}

/// Returns the method of a request in the history; NULL when it was not given.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_history_method(
    retry: *const netlib_retry,
    index: usize,
    len: *mut usize,
) -> *const c_char {
    lend_text(retry, len, |retry| retry.history().get(index)?.method())
}

/// Returns the URL of a request in the history, as it was given; NULL when it was not given. The URL may contain a
/// password: in logs use `netlib_retry_history_redacted_url`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_history_url(
    retry: *const netlib_retry,
    index: usize,
    len: *mut usize,
) -> *const c_char {
    lend_text(retry, len, |retry| retry.history().get(index)?.url())
}

/// Returns the URL of a request in the history, for logs, as `netlib_url_redacted` writes it: "***" replaces the
/// userinfo, each value of the query and the fragment; NULL when no URL was given, and when memory is short. A text
/// that is not a URL becomes "***" as a whole.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_history_redacted_url(
    retry: *const netlib_retry,
    index: usize,
    len: *mut usize,
) -> *const c_char {
    lend_text(retry, len, |retry| retry.history().get(index)?.redacted_url())
}

/// Returns the failure of a request in the history; NULL when there was a response. `netlib_error_retry` returns NULL
/// for it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_history_error(retry: *const netlib_retry, index: usize) -> *const netlib_error {
    read(retry, std::ptr::null(), |retry| handle::lend(retry.history().get(index).and_then(|entry| entry.error())))
}

/// Returns the status code of the response to a request in the history; `NETLIB_NONE` when there was no response and
/// for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_history_status(retry: *const netlib_retry, index: usize) -> i32 {
    read(retry, Count::None.code(), |retry| {
        let status = retry.history().get(index).and_then(|entry| entry.status());
        status.map_or(Count::None.code(), i32::from)
    })
}

/// Returns the Location that a request in the history was redirected to, as the server sent it; NULL when it was not
/// redirected. The Location may contain a token: in logs use `netlib_retry_history_redacted_redirect_location`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_history_redirect_location(
    retry: *const netlib_retry,
    index: usize,
    len: *mut usize,
) -> *const c_char {
    lend_text(retry, len, |retry| retry.history().get(index)?.redirect_location())
}

/// Returns the Location that a request in the history was redirected to, for logs: redacted as by
/// `netlib_retry_history_redacted_url`; NULL when it was not redirected, and when memory is short.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_history_redacted_redirect_location(
    retry: *const netlib_retry,
    index: usize,
    len: *mut usize,
) -> *const c_char {
    lend_text(retry, len, |retry| retry.history().get(index)?.redacted_redirect_location())
}
