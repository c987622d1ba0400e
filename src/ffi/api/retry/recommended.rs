//! The recommended settings.

use crate::ffi::api::retry::netlib_retry;
use crate::ffi::api::retry::options::netlib_retry_options;
use crate::ffi::args::arg_bool;
use crate::ffi::strings::read;
use crate::ffi::{Options, guard, handle, options};
use crate::retry::{Retry, RetryOptions};

/// Makes options that hold the recommended settings, for new programs. `netlib_retry_options_new` holds urllib3's
/// defaults: 10 retries without a wait, no status retried, and redirects followed from https to http.
///
/// The settings, each with its reason and source:
///
/// - `total` 3, which redirects do not use up: more retries rarely help, and multiply the load of an outage. AWS's
///   SDKs and Google's services make 3 tries [2, 4]; urllib3's `Retry.DEFAULT`, whose number is kept here, makes 3
///   retries.
/// - `other` 0: a certificate that was refused once will be refused again.
/// - `allowed_methods` is the default: a request that may have arrived is repeated only if it is idempotent [3].
/// - `redirect` 10, as in Go's net/http [6]: a longer chain is a loop.
/// - `NETLIB_REDIRECT_SAFE`: credentials stay with their origin, and https stays https (RFC 9110 section 15.4).
/// - `status_forcelist` 429, 502, 503, 504: overload ends, and a gateway finds its server again [2, 3]. A 500 may be
///   a bug, so a second request would fail again.
/// - `backoff_factor` 0.1 s with `NETLIB_JITTER_FULL`: without jitter, clients that failed together come back together
///   [1, 5]. AWS's SDKs begin with 0.05 s to 1 s [2].
/// - `backoff_max` 20 s, as in AWS's SDKs [2].
/// - Retry-After is obeyed for every status that is retried: the server knows best when it can answer again (RFC 9110
///   section 10.2.3).
/// - `retry_after_max` 120 s with `NETLIB_LONG_RETRY_AFTER_STOP`: the caller decides whether to wait longer. A
///   request before the time that the server asks for adds to its overload [4].
/// - A malformed Retry-After is ignored: the backoff applies to servers that state no time.
///
/// Sources: [1] AWS Architecture Blog, "Exponential Backoff And Jitter". [2] AWS SDKs and Tools Reference Guide, "Retry
/// behavior". [3] Google Cloud Storage documentation, "Retry strategy". [4] Google, "Site Reliability Engineering",
/// chapter "Handling Overload". [5] The same, chapter "Addressing Cascading Failures". [6] Go, package net/http, the
/// documentation of Client.CheckRedirect.
///
/// @return Never NULL.
#[unsafe(no_mangle)]
pub extern "C" fn netlib_retry_options_new_recommended() -> *mut netlib_retry_options {
    guard::value(std::ptr::null_mut(), || Ok(handle::give(Box::new(Options::new(RetryOptions::recommended())))))
}

/// Returns a constant Retry with the settings of `netlib_retry_options_new_recommended`. This Retry is borrowed and
/// never freed; its clones are freed as usual. Never NULL. It has no callbacks: to set callbacks, make a Retry from
/// those options.
#[unsafe(no_mangle)]
pub extern "C" fn netlib_retry_recommended() -> *const netlib_retry {
    guard::value(std::ptr::null(), || Ok(handle::lend(Some(Retry::recommended()))))
}

/// Sets whether a redirect consumes one of `total` in addition to one of `redirect`. Default: 1, as in urllib3.
/// Recommended: 0, so that redirects take no retry away from failures. A `total` of `NETLIB_RETRY_DISABLED` disables
/// redirects in either case.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_options_set_total_counts_redirects(
    options: *mut netlib_retry_options,
    counts: i32,
) {
    options::set(options, "netlib_retry_options_set_total_counts_redirects", |o| {
        o.set_total_counts_redirects(arg_bool!(counts));
        Ok(())
    });
}

/// Returns 1 if a redirect consumes one of `total`, else 0; 1 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_total_counts_redirects(retry: *const netlib_retry) -> i32 {
    read(retry, 1, |retry| i32::from(retry.total_counts_redirects()))
}
