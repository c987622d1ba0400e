//! Old names of urllib3.

use std::ffi::c_char;

use crate::ffi::api::basics::{netlib_error, netlib_status};
use crate::ffi::api::retry::netlib_retry;
use crate::ffi::api::retry::options::netlib_retry_options;
use crate::ffi::api::tls::netlib_tls_options;
use crate::ffi::api::url::netlib_url;
use crate::ffi::args::{arg_bytes, arg_cstrs};
use crate::ffi::enums::enum_netlib_ssl_version;
use crate::ffi::out::outs;
use crate::ffi::strings::TextList;
use crate::ffi::{guard, handle, options};
use crate::retry::{self, MethodsSetting, Retry};
use crate::tls::TlsOptions;
use crate::url::{Url, split_first};

/// The old name of `netlib_retry_options_set_allowed_methods`. The two are refused together.
///
/// @param methods an array of `count` method names, compared case-insensitively.
/// @param count the number of methods; 0 allows none.
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
/// @return a constant array of constant strings. Never NULL.
#[deprecated(note = "use netlib_retry_default_allowed_methods")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_default_method_whitelist(count: *mut usize) -> *const *const c_char {
    static LIST: TextList<{ retry::DEFAULT_ALLOWED_METHODS.len() }> = TextList::new(retry::DEFAULT_ALLOWED_METHODS);
    LIST.lend(count)
}

/// The old name of `netlib_retry_default_remove_headers_on_redirect`.
///
/// @return a constant array of constant strings. Never NULL.
#[deprecated(note = "use netlib_retry_default_remove_headers_on_redirect")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_default_redirect_headers_blacklist(count: *mut usize) -> *const *const c_char {
    static LIST: TextList<{ retry::DEFAULT_REMOVE_HEADERS_ON_REDIRECT.len() }> =
        TextList::new(retry::DEFAULT_REMOVE_HEADERS_ON_REDIRECT);
    LIST.lend(count)
}

/// Returns the old constant BACKOFF_MAX, in seconds: `netlib_retry_default_backoff_max`. (`netlib_retry_backoff_max` is
/// the getter of a Retry.)
#[deprecated(note = "use netlib_retry_default_backoff_max")]
#[unsafe(no_mangle)]
pub extern "C" fn netlib_backoff_max() -> f64 {
    guard::value(retry::Backoff::DEFAULT_MAX, || Ok(retry::Backoff::DEFAULT_MAX))
}

/// Returns the old constant DEFAULT: a Retry with total 3 and otherwise urllib3's defaults; not
/// `netlib_retry_recommended`. It is borrowed and never freed. Never NULL. `netlib_retry_resolve` falls back to it.
#[deprecated(note = "use netlib_retry_resolve")]
#[unsafe(no_mangle)]
pub extern "C" fn netlib_retry_default() -> *const netlib_retry {
    guard::value(std::ptr::null(), || Ok(handle::lend(Some(Retry::default_retry()))))
}

/// Parses a URL, and gives it the scheme "http" if it has no scheme.
///
/// @param url the text, in UTF-8.
/// @param out its scheme, host and port are the results of the old function.
/// @return `NETLIB_INVALID_URL`, also for text longer than 16 MiB; `NETLIB_INVALID_UTF8`.
#[deprecated(note = "use netlib_parse_url")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_get_host(
    url: *const c_char,
    len: usize,
    out: *mut *mut netlib_url,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let out = outs!(out);
        let url = arg_bytes!(url, len);
        out.give(Url::parse_as_http(url)?);
        Ok(())
    })
}

/// Finds the first occurrence of a delimiter, and splits the text there: the text before is `text[0]` to
/// `text[*before_end - 1]`, the text after is `text[*after_start]` to its end. When no delimiter is found, both offsets
/// are the text's length. If two delimiters begin at the same place, the one that comes first in the list is found. The
/// text after begins one UTF-8 character after that place, however long the delimiter is. The running time grows with
/// `count`.
///
/// @param text the text, in UTF-8.
/// @param delimiters `count` NUL-terminated strings, none of them NULL.
/// @param before_end out: the offset in bytes at which the text before ends.
/// @param after_start out: the offset in bytes at which the text after begins.
/// @param delimiter out: the index of the delimiter found; -1 when no delimiter was found.
/// @return `NETLIB_OK`, found or not; `NETLIB_INVALID_UTF8`.
#[deprecated(note = "use strstr or strpbrk")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_split_first(
    text: *const c_char,
    len: usize,
    delimiters: *const *const c_char,
    count: usize,
    before_end: *mut usize,
    after_start: *mut usize,
    delimiter: *mut i64,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let (before_end, after_start, delimiter) = outs!(before_end, after_start, delimiter);
        let text = arg_bytes!(text, len);
        let delimiters = arg_cstrs!(delimiters, count);
        let found = split_first(text, &delimiters)?;
        before_end.set(found.map_or(text.len(), |found| found.before_end));
        after_start.set(found.map_or(text.len(), |found| found.after_start));
        delimiter.set(found.and_then(|found| i64::try_from(found.delimiter).ok()).unwrap_or(-1));
        Ok(())
    })
}

/// Sets an exact version, as urllib3's ssl_version. Default: `NETLIB_SSL_VERSION_TLS`, which negotiates the version, as
/// `NETLIB_SSL_VERSION_TLS_CLIENT` and `NETLIB_SSL_VERSION_TLS_SERVER` do. `NETLIB_SSL_VERSION_TLSv1_2` allows TLS 1.2
/// only. With SSLv2, SSLv3, TLS 1.0 and TLS 1.1 (0, 1, 3, 4), `netlib_tls_context_new` fails with `NETLIB_UNSUPPORTED`.
/// `NETLIB_SSL_VERSION_TLSv1_2` and, as in urllib3, `NETLIB_SSL_VERSION_TLS_SERVER` are refused together with
/// `netlib_tls_options_set_minimum_version` or `netlib_tls_options_set_maximum_version`.
///
/// @param version a number of `netlib_resolve_ssl_version`, not of `enum netlib_tls_version`.
#[deprecated(note = "use netlib_tls_options_set_minimum_version")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_set_ssl_version(
    options: *mut netlib_tls_options,
    version: enum_netlib_ssl_version,
) {
    options::set(options, "netlib_tls_options_set_ssl_version", |o: &mut TlsOptions| o.set_ssl_version(version));
}
