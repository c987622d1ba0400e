//! The recommended settings.

use crate::ffi::api::retry::netlib_retry;
use crate::ffi::api::retry::options::netlib_retry_options;
use crate::ffi::{Options, guard, handle};
use crate::retry::{Retry, RetryOptions};

/// Makes options that hold the recommended settings, for new programs. `netlib_retry_options_new` makes options with
/// urllib3's defaults instead: 10 retries, without a wait unless a Retry-After header asks for one. By these defaults,
/// a response is retried only if its status is 413, 429 or 503 and it has a Retry-After header, and redirects are
/// followed even from https to http.
///
/// The recommended settings, each with its reason and source:
///
/// - `total` is 3, and redirects do not decrement `total`: more than 3 retries rarely help, and multiply the load
///   during an outage. AWS's SDKs and Google's services make 3 attempts in all [2, 4]; netlib keeps the 3 retries of
///   urllib3's `Retry.DEFAULT`.
/// - `other` is `NETLIB_RETRY_DISABLED`: a certificate that was refused once will be refused again. Such a failure is
///   returned unchanged, for example as `NETLIB_CERTIFICATE_VERIFY`, and not as `NETLIB_MAX_RETRY`.
/// - `allowed_methods` has its default: a request that may have reached the server is repeated only if it is idempotent
///   [3].
/// - `redirect` is 10, as in Go's net/http [6]: a longer chain of redirects is usually a loop.
/// - The redirect profile is `NETLIB_REDIRECT_SAFE`: credentials are sent to their origin only, and no redirect leads
///   from https to http (RFC 9110 section 15.4).
/// - `status_forcelist` is 429, 502, 503, 504, because overloads and failures behind a gateway are usually temporary
///   [2, 3]. A 500 may be caused by a bug: a second request would then fail for the same reason.
/// - `backoff_factor` is 0.1 s with `NETLIB_JITTER_FULL`: without jitter, clients that failed together retry together
///   [1, 5]. AWS's SDKs begin with a backoff of 0.05 s to 1 s [2].
/// - `backoff_max` is 20 s, as in AWS's SDKs [2].
/// - Retry-After is obeyed for every status that is retried: the server knows best when it can answer again (RFC 9110
///   section 10.2.3).
/// - `retry_after_max` is 120 s with `NETLIB_LONG_RETRY_AFTER_STOP`: a longer Retry-After ends the retries, so that the
///   caller decides whether to wait that long. If an overloaded server asks for a wait, a request before the end of
///   that wait adds to the overload [4].
/// - A malformed Retry-After is ignored: the backoff applies instead, as for servers that send no Retry-After.
///
/// Sources: [1] AWS Architecture Blog, "Exponential Backoff And Jitter". [2] AWS SDKs and Tools Reference Guide, "Retry
/// behavior". [3] Google Cloud Storage documentation, "Retry strategy". [4] Google, "Site Reliability Engineering",
/// chapter "Handling Overload". [5] Google, "Site Reliability Engineering", chapter "Addressing Cascading Failures".
/// [6] Go, package net/http, the documentation of Client.CheckRedirect.
///
/// @return Never NULL.
#[unsafe(no_mangle)]
pub extern "C" fn netlib_retry_options_new_recommended() -> *mut netlib_retry_options {
    guard::value(std::ptr::null_mut(), || Ok(handle::give(Box::new(Options::new(RetryOptions::recommended())))))
}

/// Returns a constant Retry with the settings of `netlib_retry_options_new_recommended`. The constant Retry is borrowed
/// and never freed; its clones are freed as usual. Never NULL. The constant Retry has no callbacks: to set callbacks,
/// make a Retry from `netlib_retry_options_new_recommended`.
#[unsafe(no_mangle)]
pub extern "C" fn netlib_retry_recommended() -> *const netlib_retry {
    guard::value(std::ptr::null(), || Ok(handle::lend(Some(Retry::recommended()))))
}
