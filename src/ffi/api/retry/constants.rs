//! Constants of the retry policy.

use std::ffi::c_char;

use crate::ffi::guard::nonblocking as guard;
use crate::ffi::strings::{TextList, lend_numbers};
use crate::retry;

/// Returns `NETLIB_RETRY_DEFAULT_ALLOWED_METHODS`, the methods that may be retried by default (see
/// `netlib_retry_options_set_allowed_methods`): a constant array of constant strings, suitable for the setters. Never
/// NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_default_allowed_methods(count: *mut usize) -> *const *const c_char {
    static LIST: TextList<{ retry::DEFAULT_ALLOWED_METHODS.len() }> = TextList::new(retry::DEFAULT_ALLOWED_METHODS);
    LIST.lend(count)
}

/// Returns `NETLIB_RETRY_DEFAULT_REMOVE_HEADERS_ON_REDIRECT`, the headers that are dropped by default on a redirect to
/// another origin: a constant array of constant strings, suitable for the setters. Never NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_default_remove_headers_on_redirect(count: *mut usize) -> *const *const c_char {
    static LIST: TextList<{ retry::DEFAULT_REMOVE_HEADERS_ON_REDIRECT.len() }> =
        TextList::new(retry::DEFAULT_REMOVE_HEADERS_ON_REDIRECT);
    LIST.lend(count)
}

/// Returns `NETLIB_SENSITIVE_HEADERS`, the request headers that carry credentials: a constant array of constant
/// strings, suitable for the setters. Never NULL. See `netlib_retry_options_add_sensitive_headers`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_sensitive_headers(count: *mut usize) -> *const *const c_char {
    static LIST: TextList<{ retry::SENSITIVE_HEADERS.len() }> = TextList::new(retry::SENSITIVE_HEADERS);
    LIST.lend(count)
}

/// Returns `NETLIB_RETRY_AFTER_STATUS_CODES`, the statuses whose Retry-After header is obeyed by default (see
/// `netlib_retry_options_set_retry_after_statuses`): a constant array. Never NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_after_status_codes(count: *mut usize) -> *const i32 {
    lend_numbers(retry::RETRY_AFTER_STATUS_CODES, count)
}

/// Returns `NETLIB_REDIRECT_STATUS_CODES`, the statuses that redirect: a constant array. Never NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_redirect_status_codes(count: *mut usize) -> *const i32 {
    lend_numbers(retry::REDIRECT_STATUS_CODES, count)
}

/// Returns `NETLIB_RETRY_DEFAULT_BACKOFF_MAX`, the default of `backoff_max`, in seconds.
#[unsafe(no_mangle)]
pub extern "C" fn netlib_retry_default_backoff_max() -> f64 {
    guard::value(retry::Backoff::DEFAULT_MAX, || Ok(retry::Backoff::DEFAULT_MAX))
}
