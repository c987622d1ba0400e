//! Old names, kept for programs that use them.

/* The retry policy's old names. */

use std::ffi::c_char;

use crate::ffi::api::retry::netlib_retry;
use crate::ffi::api::retry::options::netlib_retry_options;
use crate::ffi::args::arg_cstrs;
use crate::ffi::strings::TextList;
use crate::ffi::{guard, handle, options};
use crate::retry::{self, MethodsSetting, Retry};

/// The old name of `netlib_retry_options_set_allowed_methods`. The two are refused together.
///
/// @param options the options. May be NULL: nothing happens.
/// @param methods `count` method names, copied; upper and lower case are one. Not NULL unless `count` is 0.
/// @param count how many; 0 allows none.
/// @threads one call at a time on the options
/// @since 0.1.0
#[deprecated(note = "use netlib_retry_options_set_allowed_methods")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_options_set_method_whitelist(
    options: *mut netlib_retry_options,
    methods: *const *const c_char,
    count: usize,
) {
    options::set(options, "netlib_retry_options_set_method_whitelist", |o| {
        let methods = arg_cstrs!(methods, count);
        o.set_allowed_methods(MethodsSetting::MethodWhitelist, methods)
    });
}

/// The old name of `netlib_retry_default_allowed_methods`.
///
/// @param count out: how many. May be NULL.
/// @return a constant array of constant strings. Never NULL.
/// @threads any
/// @since 0.1.0
#[deprecated(note = "use netlib_retry_default_allowed_methods")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_default_method_whitelist(count: *mut usize) -> *const *const c_char {
    static LIST: TextList<{ retry::DEFAULT_ALLOWED_METHODS.len() }> = TextList::new(retry::DEFAULT_ALLOWED_METHODS);
    LIST.lend(count)
}

/// The old name of `netlib_retry_default_remove_headers_on_redirect`.
///
/// @param count out: how many. May be NULL.
/// @return a constant array of constant strings. Never NULL.
/// @threads any
/// @since 0.1.0
#[deprecated(note = "use netlib_retry_default_remove_headers_on_redirect")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_default_redirect_headers_blacklist(count: *mut usize) -> *const *const c_char {
    static LIST: TextList<{ retry::DEFAULT_REMOVE_HEADERS_ON_REDIRECT.len() }> =
        TextList::new(retry::DEFAULT_REMOVE_HEADERS_ON_REDIRECT);
    LIST.lend(count)
}

/// The old constant BACKOFF_MAX: `netlib_retry_default_backoff_max`. (`netlib_retry_backoff_max` asks a Retry.)
///
/// @return seconds.
/// @threads any
/// @since 0.1.0
#[deprecated(note = "use netlib_retry_default_backoff_max")]
#[unsafe(no_mangle)]
pub extern "C" fn netlib_backoff_max() -> f64 {
    retry::Backoff::DEFAULT_MAX
}

/// The old constant DEFAULT: a Retry with total 3. `netlib_retry_resolve` falls back to it.
///
/// @return borrowed: a constant that is never freed. Never NULL.
/// @threads any
/// @since 0.1.0
#[deprecated(note = "use netlib_retry_resolve")]
#[unsafe(no_mangle)]
pub extern "C" fn netlib_retry_default() -> *const netlib_retry {
    guard::value(std::ptr::null(), || Ok(handle::lend(Some(Retry::default_retry()))))
}
