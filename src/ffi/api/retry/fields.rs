//! What a Retry holds: its counts, its settings, its history.

use std::ffi::c_char;

use crate::ffi::api::basics::netlib_error;
use crate::ffi::api::retry::netlib_retry;
use crate::ffi::enums::enum_netlib_redirect_profile;
use crate::ffi::handle;
use crate::ffi::strings::{lend_text, read, read_bool};
use crate::retry::{Backoff, Count, Methods, NameSet, Policy, Retry};

/// What is left of `total`.
///
/// @return a count, negative when it is used up; `NETLIB_NONE`; `NETLIB_RETRY_DISABLED`; `NETLIB_NONE` for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_total_left(retry: *const netlib_retry) -> i32 {
    read(retry, Count::None.code(), |retry| retry.counts().total.code())
}

/// What is left of `connect`.
///
/// @return a count, negative when it is used up; `NETLIB_NONE`; `NETLIB_RETRY_DISABLED`; `NETLIB_NONE` for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_connect_left(retry: *const netlib_retry) -> i32 {
    read(retry, Count::None.code(), |retry| retry.counts().connect.code())
}

/// What is left of `read`.
///
/// @return a count, negative when it is used up; `NETLIB_NONE`; `NETLIB_RETRY_DISABLED`; `NETLIB_NONE` for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_read_left(retry: *const netlib_retry) -> i32 {
    read(retry, Count::None.code(), |retry| retry.counts().read.code())
}

/// What is left of `redirect`.
///
/// @return a count, negative when it is used up; `NETLIB_NONE`; `NETLIB_NONE` for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_redirect_left(retry: *const netlib_retry) -> i32 {
    read(retry, Count::None.code(), |retry| retry.counts().redirect.code())
}

/// What is left of `status`.
///
/// @return a count, negative when it is used up; `NETLIB_NONE`; `NETLIB_NONE` for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_status_left(retry: *const netlib_retry) -> i32 {
    read(retry, Count::None.code(), |retry| retry.counts().status.code())
}

/// What is left of `other`.
///
/// @return a count, negative when it is used up; `NETLIB_NONE`; `NETLIB_NONE` for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_other_left(retry: *const netlib_retry) -> i32 {
    read(retry, Count::None.code(), |retry| retry.counts().other.code())
}

/// The factor of the exponential delay.
///
/// @return seconds.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_backoff_factor(retry: *const netlib_retry) -> f64 {
    read(retry, 0.0, |retry| retry.backoff().factor)
}

/// The longest backoff.
///
/// @return seconds; `NETLIB_TIMEOUT_NONE` for no bound; `NETLIB_RETRY_DEFAULT_BACKOFF_MAX` for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_backoff_max(retry: *const netlib_retry) -> f64 {
    read(retry, Backoff::DEFAULT_MAX, |retry| retry.backoff().max)
}

/// The most that is added to a backoff, with `NETLIB_JITTER_ADDITIVE`.
///
/// @return seconds.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_backoff_jitter(retry: *const netlib_retry) -> f64 {
    read(retry, 0.0, |retry| retry.backoff().jitter)
}

/// The longest wait that a Retry-After header can ask for.
///
/// @return seconds; `NETLIB_TIMEOUT_NONE` for no bound; `NETLIB_RETRY_DEFAULT_RETRY_AFTER_MAX` for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_retry_after_max(retry: *const netlib_retry) -> f64 {
    read(retry, Policy::DEFAULT_RETRY_AFTER_MAX, Retry::retry_after_max)
}

/// Whether running out of redirects is an error.
///
/// @return 1: `netlib_retry_decide` fails with `NETLIB_MAX_RETRY`; 0: it returns the response.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_raise_on_redirect(retry: *const netlib_retry) -> i32 {
    read_bool(retry, false, Retry::raise_on_redirect)
}

/// Whether running out of retries because of a status is an error.
///
/// @return 1: `netlib_retry_decide` fails with `NETLIB_MAX_RETRY`; 0: it returns the response.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_raise_on_status(retry: *const netlib_retry) -> i32 {
    read_bool(retry, false, Retry::raise_on_status)
}

/// Whether Retry-After is obeyed.
///
/// @return 0 or 1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_respect_retry_after_header(retry: *const netlib_retry) -> i32 {
    read_bool(retry, false, Retry::respect_retry_after_header)
}

/// How redirects are followed.
///
/// @return one of `enum netlib_redirect_profile`; `NETLIB_REDIRECT_URLLIB3` for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_redirect_profile(retry: *const netlib_retry) -> enum_netlib_redirect_profile {
    read(retry, 0, |retry| retry.redirect_profile() as i32)
}

/// Whether every method may be retried; the list of allowed methods is then empty and means nothing.
///
/// @return 0 or 1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_allows_any_method(retry: *const netlib_retry) -> i32 {
    read_bool(retry, false, |retry| matches!(retry.methods(), Methods::Any))
}

/// How many methods are listed as allowed.
///
/// @return the count.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_allowed_method_count(retry: *const netlib_retry) -> usize {
    read(retry, 0, |retry| retry.methods().listed().map_or(0, |names| names.len()))
}

/// One of the allowed methods, in upper case; they are sorted.
///
/// @return owned.
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
/// @return the count.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_status_forcelist_count(retry: *const netlib_retry) -> usize {
    read(retry, 0, |retry| retry.status_forcelist().len())
}

/// One of the statuses that are retried; they are sorted.
///
/// @return a status code; -1 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_status_forcelist_at(retry: *const netlib_retry, index: usize) -> i32 {
    read(retry, -1, |retry| retry.status_forcelist().get(index).copied().unwrap_or(-1))
}

/// How many headers do not follow a redirect to another origin.
///
/// @return the count.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_removed_header_count(retry: *const netlib_retry) -> usize {
    read(retry, 0, |retry| retry.remove_headers_on_redirect().len())
}

/// One of the headers that do not follow a redirect to another origin, in lower case; they are sorted.
///
/// @return owned.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_removed_header(
    retry: *const netlib_retry,
    index: usize,
    len: *mut usize,
) -> *const c_char {
    lend_text(retry, len, |retry| retry.remove_headers_on_redirect().at(index))
}

/// Whether a redirect to another origin may take every header along that nothing drops: true unless
/// `netlib_retry_options_set_keep_headers_on_redirect` gave a list.
///
/// @return 0 or 1; 1 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_keeps_any_header(retry: *const netlib_retry) -> i32 {
    read_bool(retry, true, |retry| retry.keep_headers_on_redirect().is_none())
}

/// How many headers may follow a redirect to another origin, if only listed ones may.
///
/// @return the count; 0 also when every header may.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_kept_header_count(retry: *const netlib_retry) -> usize {
    read(retry, 0, |retry| retry.keep_headers_on_redirect().map_or(0, NameSet::len))
}

/// One of the headers that may follow a redirect to another origin, in lower case; they are sorted.
///
/// @return owned.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_kept_header(
    retry: *const netlib_retry,
    index: usize,
    len: *mut usize,
) -> *const c_char {
    lend_text(retry, len, |retry| retry.keep_headers_on_redirect()?.at(index))
}

/// How many entries the history has: one per call of `netlib_retry_increment`, in the order of the requests.
///
/// @return the count.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_history_count(retry: *const netlib_retry) -> usize {
    read(retry, 0, |retry| retry.history().len())
}

/// The method of a request of the history.
///
/// @return NULL when it was not given.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_history_method(
    retry: *const netlib_retry,
    index: usize,
    len: *mut usize,
) -> *const c_char {
    lend_text(retry, len, |retry| retry.history().get(index)?.method())
}

/// The URL of a request in the history, as it was given. It may contain a password: in logs use
/// `netlib_retry_history_redacted_url`.
///
/// @return NULL when it was not given.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_history_url(
    retry: *const netlib_retry,
    index: usize,
    len: *mut usize,
) -> *const c_char {
    lend_text(retry, len, |retry| retry.history().get(index)?.url())
}

/// The URL of a request in the history, for logs, as `netlib_url_redacted` writes it: "***" replaces the userinfo, each
/// value of the query and the fragment. A text that is not a URL becomes "***" as a whole.
///
/// @return NULL when no URL was given, and when there is no memory for the text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_history_redacted_url(
    retry: *const netlib_retry,
    index: usize,
    len: *mut usize,
) -> *const c_char {
    lend_text(retry, len, |retry| retry.history().get(index)?.redacted_url())
}

/// What failed in a request of the history.
///
/// @return NULL when there was a response. It lends no Retry of its own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_history_error(retry: *const netlib_retry, index: usize) -> *const netlib_error {
    read(retry, std::ptr::null(), |retry| handle::lend(retry.history().get(index).and_then(|entry| entry.error())))
}

/// The response's status of a request of the history.
///
/// @return a status code; `NETLIB_NONE` when there was no response; `NETLIB_NONE` for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_history_status(retry: *const netlib_retry, index: usize) -> i32 {
    read(retry, Count::None.code(), |retry| {
        let status = retry.history().get(index).and_then(|entry| entry.status());
        status.map_or(Count::None.code(), i32::from)
    })
}

/// The Location that a request in the history was redirected to, as the server sent it. It may contain a token: in logs
/// use `netlib_retry_history_redacted_redirect_location`.
///
/// @return NULL when it was not redirected.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_history_redirect_location(
    retry: *const netlib_retry,
    index: usize,
    len: *mut usize,
) -> *const c_char {
    lend_text(retry, len, |retry| retry.history().get(index)?.redirect_location())
}

/// The Location that a request in the history was redirected to, for logs: redacted as by
/// `netlib_retry_history_redacted_url`.
///
/// @return NULL when it was not redirected, and when there is no memory for the text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_history_redacted_redirect_location(
    retry: *const netlib_retry,
    index: usize,
    len: *mut usize,
) -> *const c_char {
    lend_text(retry, len, |retry| retry.history().get(index)?.redacted_redirect_location())
}
