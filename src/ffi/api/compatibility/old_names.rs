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

/// The old name of `netlib_retry_options_set_allowed_methods`. If the same options are passed to the functions with the
/// old and the new name, `netlib_retry_new` fails.
///
/// @param methods an array of `count` method names, compared case-insensitively.
/// @param count the number of methods; with 0, no method is allowed.
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

/// Returns urllib3's old constant BACKOFF_MAX, in seconds, as `netlib_retry_default_backoff_max` does.
/// (`netlib_retry_backoff_max` is the getter of a Retry.)
#[deprecated(note = "use netlib_retry_default_backoff_max")]
#[unsafe(no_mangle)]
pub extern "C" fn netlib_backoff_max() -> f64 {
    guard::value(retry::Backoff::DEFAULT_MAX, || Ok(retry::Backoff::DEFAULT_MAX))
}

/// Returns urllib3's old constant `Retry.DEFAULT`: a Retry with a `total` of 3 and otherwise urllib3's defaults.
/// `netlib_retry_recommended` returns a Retry with other settings. The returned Retry is borrowed and never freed.
/// Never NULL. `netlib_retry_resolve` returns the same Retry if both its arguments are NULL.
#[deprecated(note = "use netlib_retry_resolve")]
#[unsafe(no_mangle)]
pub extern "C" fn netlib_retry_default() -> *const netlib_retry {
    guard::value(std::ptr::null(), || Ok(handle::lend(Some(Retry::default_retry()))))
}

/// Parses a URL, as urllib3's old function get_host does. A URL without a scheme gets the scheme "http".
///
/// @param url the text, in UTF-8.
/// @param out the URL, whose scheme, host and port are the results of urllib3's function.
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

/// Finds the first occurrence of any delimiter in a text, and splits the text there. The first part is `text[0]` to
/// `text[*before_end - 1]`, and the second part is `text[*after_start]` to the end of the text. When no delimiter is
/// found, both offsets are the text's length. If two delimiters begin at the same byte, the call finds the delimiter
/// that comes first in `delimiters`. One UTF-8 character between the two parts is left out, even if the delimiter is
/// longer or empty. The running time grows with `count`.
///
/// @param text the text, in UTF-8.
/// @param delimiters `count` NUL-terminated strings, none of them NULL.
/// @param before_end out: the offset in bytes at which the first part ends.
/// @param after_start out: the offset in bytes at which the second part begins.
/// @param delimiter out: the index of the delimiter found; -1 when no delimiter was found.
/// @return `NETLIB_OK`, even if no delimiter was found; `NETLIB_INVALID_UTF8`.
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

/// Sets a protocol method of Python's `ssl` module, as urllib3's parameter ssl_version does. Default:
/// `NETLIB_SSL_VERSION_TLS`, which negotiates the TLS version, as `NETLIB_SSL_VERSION_TLS_CLIENT` and
/// `NETLIB_SSL_VERSION_TLS_SERVER` do. `NETLIB_SSL_VERSION_TLSv1_2` allows TLS 1.2 only. With SSLv2, SSLv3, TLS 1.0 and
/// TLS 1.1 (0, 1, 3, 4), `netlib_tls_context_new` fails with `NETLIB_UNSUPPORTED`. `NETLIB_SSL_VERSION_TLSv1_2` and, as
/// in urllib3, `NETLIB_SSL_VERSION_TLS_SERVER` cannot be combined with `netlib_tls_options_set_minimum_version` or
/// `netlib_tls_options_set_maximum_version`.
///
/// @param version a value of `enum netlib_ssl_version`, or a number that `netlib_resolve_ssl_version` stored; not a
///        value of `enum netlib_tls_version`.
#[deprecated(note = "use netlib_tls_options_set_minimum_version")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_set_ssl_version(
    options: *mut netlib_tls_options,
    version: enum_netlib_ssl_version,
) {
    options::set(options, "netlib_tls_options_set_ssl_version", |o: &mut TlsOptions| o.set_ssl_version(version));
}
