//! Retry settings.

use std::ffi::{c_char, c_void};

use crate::error::Error;
use crate::ffi::api::basics::{netlib_ctx_free_fn, netlib_error, netlib_status};
use crate::ffi::args::{arg_bool, arg_cstr_opt, arg_cstrs, arg_i32s, arg_shared_opt};
use crate::ffi::enums::{enum_netlib_outcome, enum_netlib_redirect_profile};
use crate::ffi::{Handle, Options, Unique, callback, guard, handle, options};
use crate::retry::{Count, HistoryEntry, MethodsSetting, RedirectProfile, RetryOptions};
use crate::status::Status;

/// Redirect profiles: rules for following redirects. `netlib_retry_options_set_redirect_profile` sets the profile.
#[repr(C)]
pub enum netlib_redirect_profile {
    /// Follows redirects as urllib3 does: to any scheme, also from https to http. On 303, the method becomes GET (HEAD
    /// stays HEAD); on other statuses, the method does not change. On a redirect to another origin, the headers of
    /// `remove_headers_on_redirect` are dropped, by default only Authorization. So Host and headers with secrets, such
    /// as Cookie and X-Api-Key, are sent to the other origin, even over plain http, unless another setting drops them.
    /// `netlib_retry_options_add_sensitive_headers` makes redirects to another origin drop cookies and API keys.
    NETLIB_REDIRECT_URLLIB3 = 0,
    /// Follows redirects as browsers and careful clients do. The profile differs from `NETLIB_REDIRECT_URLLIB3` in
    /// three rules. On 301 and 302, POST becomes GET. On a redirect to another origin, the headers of
    /// `NETLIB_SENSITIVE_HEADERS` and Host are dropped, in addition to those of `remove_headers_on_redirect`. A
    /// redirect from https to http, or to a scheme other than http and https, fails with `NETLIB_UNSAFE_REDIRECT`.
    NETLIB_REDIRECT_SAFE = 1,
}

/// The default value of the `total` counter.
pub const NETLIB_RETRY_DEFAULT_TOTAL: i32 = 10;
/// The default of `backoff_max`, in seconds.
pub const NETLIB_RETRY_DEFAULT_BACKOFF_MAX: f64 = 120.0;
/// The default of `retry_after_max`, in seconds: six hours.
pub const NETLIB_RETRY_DEFAULT_RETRY_AFTER_MAX: f64 = 21600.0;

/// Settings from which `netlib_retry_new` makes a Retry. **One call at a time**.
pub struct netlib_retry_options {
    _private: [u8; 0],
}

impl Handle for netlib_retry_options {
    type Value = Options<RetryOptions>;
    type Ownership = Unique;
}

/// Stores the time of day, for a Retry-After header that contains a date and for the validity of certificates.
///
/// The following rules hold for the callbacks of type `netlib_wall_clock_fn`, `netlib_sleep_fn` and `netlib_random_fn`
/// of a Retry. A Retry made from another Retry holds the same callbacks. So `ctx` is released only when no Retry,
/// decision, error or options object holds the callback any more. The callbacks run without a lock, on the thread that
/// uses the Retry. If several threads share a Retry, the callbacks may run at the same time, and the data behind `ctx`
/// must be thread-safe.
///
/// @param seconds out: the seconds since 1970-01-01 00:00:00 UTC, a finite number. netlib presets `seconds` to NaN, and
///        the callback must store a value.
/// @return 0 on success. If the callback returns any other number, or returns 0 without storing `seconds`, the outer
///         call fails with `NETLIB_CALLBACK_FAILED`.
/// @called-by `netlib_retry_get_retry_after`, `netlib_retry_parse_retry_after`, `netlib_retry_delay`,
///        `netlib_retry_sleep`, `netlib_retry_sleep_for_retry`, `netlib_retry_decide`, `netlib_attempts_next`,
///        `netlib_attempts_decide` and `netlib_tls_context_verify_chain`; every call that makes a TLS handshake.
pub type netlib_wall_clock_fn = Option<unsafe extern "C" fn(ctx: *mut c_void, seconds: *mut f64) -> i32>;

/// Waits for a number of seconds. netlib calls this callback instead of waiting itself.
///
/// @param seconds more than 0; may be infinity if `backoff_max` is `NETLIB_TIMEOUT_NONE`.
/// @param outcome out: `NETLIB_OUTCOME_DONE` once the time has passed. netlib presets `outcome` to
///        `NETLIB_OUTCOME_FAILED`. Every value except `NETLIB_OUTCOME_DONE` makes the outer call fail with
///        `NETLIB_CALLBACK_FAILED`.
/// @called-by `netlib_retry_sleep`, `netlib_retry_sleep_for_retry`, `netlib_decision_sleep` and
///        `netlib_attempts_next`.
pub type netlib_sleep_fn =
    Option<unsafe extern "C" fn(ctx: *mut c_void, seconds: f64, outcome: *mut enum_netlib_outcome)>;

/// Stores a random number in `value`. netlib uses this number instead of a random number from the system.
///
/// @param value out: a random number, 0 or more and less than 1, uniformly distributed. netlib presets `value` to NaN,
///        and the callback must store a value.
/// @return 0 on success. If the callback returns any other number, or returns 0 without storing `value`, the outer call
///         fails with `NETLIB_CALLBACK_FAILED`.
/// @called-by `netlib_retry_increment`, `netlib_retry_get_backoff_time`, `netlib_retry_delay`, `netlib_retry_sleep`,
///        `netlib_retry_decide`, `netlib_attempts_next`, `netlib_attempts_decide` and `netlib_breaker_ask`.
pub type netlib_random_fn = Option<unsafe extern "C" fn(ctx: *mut c_void, value: *mut f64) -> i32>;

/// Makes options that hold urllib3's defaults; the comment of each setter states its default. With urllib3's defaults,
/// the headers Cookie and X-Api-Key are sent to every host that a redirect names, even over plain http, and a request
/// is retried up to 10 times, without a wait unless a Retry-After header asks for one. New programs should use
/// `netlib_retry_options_new_recommended`, whose comment gives the reason and the source of each recommended value.
///
/// @return Never NULL.
#[unsafe(no_mangle)]
pub extern "C" fn netlib_retry_options_new() -> *mut netlib_retry_options {
    guard::value(std::ptr::null_mut(), || Ok(handle::give(Box::new(Options::new(RetryOptions::default())))))
}

/// Returns an independent copy of the options, which includes the history.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_options_clone(
    options: *const netlib_retry_options,
) -> *mut netlib_retry_options {
    options::clone(options)
}

/// Checks that no setter has recorded an error, as `netlib_retry_new` does.
///
/// @return `NETLIB_INVALID_ARGUMENT` if a setter refused a value.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_options_check(
    options: *const netlib_retry_options,
    err: *mut *mut netlib_error,
) -> netlib_status {
    options::check(options, err)
}

/// Releases options.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_options_free(options: *mut netlib_retry_options) {
    guard::nothing(|| handle::free(options));
}

/// Sets the `total` counter: the maximum number of retries for all reasons together, even if the other counters allow
/// more. Redirects are included, unless `netlib_retry_options_set_total_counts_redirects` excludes them. Default:
/// `NETLIB_RETRY_DEFAULT_TOTAL`. Recommended: 3. With 0, the first retry fails with `NETLIB_MAX_RETRY`.
///
/// @param count 0 or more; `NETLIB_NONE` for no maximum; or `NETLIB_RETRY_DISABLED`, which disables retries and
///        redirects: `netlib_retry_decide` then fails with its argument `error`, or decides to return the response,
///        even a redirect. Any other negative number means an exhausted counter.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_options_set_total(options: *mut netlib_retry_options, count: i32) {
    options::set(options, "netlib_retry_options_set_total", |o| {
        o.set_total(Count::from_code(count));
        Ok(())
    });
}

/// Sets whether a redirect decrements the `total` counter in addition to the `redirect` counter. Default: 1, as in
/// urllib3. Recommended: 0, so that redirects leave all retries for failures. If `total` is `NETLIB_RETRY_DISABLED`,
/// redirects are disabled, whether the setting is 0 or 1.
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

/// Sets the `connect` counter: the maximum number of retries after failures to reach the server. After such a failure,
/// a request with any method may be retried, because the server has not processed the request. Default: `NETLIB_NONE`.
///
/// @param count 0 or more; `NETLIB_NONE` for no maximum; or `NETLIB_RETRY_DISABLED`: the error is returned unchanged.
///        Any other negative number means an exhausted counter.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_options_set_connect(options: *mut netlib_retry_options, count: i32) {
    options::set(options, "netlib_retry_options_set_connect", |o| {
        o.set_connect(Count::from_code(count));
        Ok(())
    });
}

/// Sets the `read` counter: the maximum number of retries after read errors. A read error means that the request was
/// sent in whole or in part, but that its response did not arrive or was not complete. The server may have processed
/// the request, so the request is repeated only if its method is in `allowed_methods`, or as
/// `netlib_retry_options_set_any_method_if_stale` allows. Default: `NETLIB_NONE`.
///
/// @param count 0 or more; `NETLIB_NONE` for no maximum; or `NETLIB_RETRY_DISABLED`: the error is returned unchanged.
///        Any other negative number means an exhausted counter.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_options_set_read(options: *mut netlib_retry_options, count: i32) {
    options::set(options, "netlib_retry_options_set_read", |o| {
        o.set_read(Count::from_code(count));
        Ok(())
    });
}

/// Sets the `redirect` counter: the maximum number of redirects that are followed. A redirect is a response with status
/// 301, 302, 303, 307 or 308 and a Location. Default: `NETLIB_NONE`. Recommended: 10. With 0, the first redirect
/// exceeds the counter (see `netlib_retry_options_set_raise_on_redirect`).
///
/// @param count 0 or more; `NETLIB_NONE` for no maximum; or `NETLIB_RETRY_DISABLED`: redirects are returned as
///        responses, and the getters return 0 for `redirect` and for `raise_on_redirect`. Any other negative number
///        means an exhausted counter.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_options_set_redirect(options: *mut netlib_retry_options, count: i32) {
    options::set(options, "netlib_retry_options_set_redirect", |o| {
        o.set_redirect(Count::from_code(count));
        Ok(())
    });
}

/// Sets the `status` counter: the maximum number of retries because of a response's status. Default: `NETLIB_NONE`.
///
/// @param count 0 or more, or `NETLIB_NONE` for no maximum; `NETLIB_RETRY_DISABLED` is refused. Any other negative
///        number means an exhausted counter.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_options_set_status(options: *mut netlib_retry_options, count: i32) {
    options::set(options, "netlib_retry_options_set_status", |o| o.set_status(Count::from_code(count)));
}

/// Sets the `other` counter: the maximum number of retries after failures that are neither connect nor read errors, for
/// example a refused certificate. If the server may have processed the request, the failure is a read error
/// (`netlib_error_retry_kind`). If `total` is `NETLIB_NONE`, set `other` to 0 or `NETLIB_RETRY_DISABLED`, so that a
/// refused certificate is not retried forever. Default: `NETLIB_NONE`. Recommended: `NETLIB_RETRY_DISABLED`.
///
/// @param count 0 or more; `NETLIB_NONE` for no maximum; or `NETLIB_RETRY_DISABLED`: the error is returned unchanged.
///        With 0, the first such error ends the retries with `NETLIB_MAX_RETRY`. Any other negative number means an
///        exhausted counter.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_options_set_other(options: *mut netlib_retry_options, count: i32) {
    options::set(options, "netlib_retry_options_set_other", |o| {
        o.set_other(Count::from_code(count));
        Ok(())
    });
}

/// Sets the methods that may be retried after a read error or because of a status. Default:
/// `NETLIB_RETRY_DEFAULT_ALLOWED_METHODS`, the idempotent methods. See also `netlib_retry_options_allow_any_method`.
///
/// @param methods an array of `count` method names, compared case-insensitively.
/// @param count the number of methods; with 0, no method is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_options_set_allowed_methods(
    options: *mut netlib_retry_options,
    methods: *const *const c_char,
    count: usize,
) {
    options::set(options, "netlib_retry_options_set_allowed_methods", |o| {
        let methods = arg_cstrs!(methods, count);
        o.set_allowed_methods(MethodsSetting::AllowedMethods, methods)
    });
}

/// Allows requests with any method to be retried, even if the method is not safe to repeat. The call replaces the list
/// that `netlib_retry_options_set_allowed_methods` set. Corresponds to urllib3's `allowed_methods=None`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_options_allow_any_method(options: *mut netlib_retry_options) {
    options::set(options, "netlib_retry_options_allow_any_method", |o| o.allow_any_method());
}

/// Sets whether a request with any method may be repeated after `NETLIB_STALE_CONNECTION`: the request was sent on a
/// reused connection, and the connection ended before the first byte of the response. Default: 0, only a request whose
/// method is allowed. With 1, a POST is repeated too, although the server may have processed the request before the
/// connection ended. Set 1 only if a repeated request does no harm, for example if each request has an idempotency key
/// (RFC 9110 section 9.2.2).
///
/// The repetition decrements `read` and `total`, as after any read error. Send the repeated request on a new
/// connection, with its whole body (see `netlib_rewind_body`). The setting has no effect if a response is passed with
/// the error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_options_set_any_method_if_stale(
    options: *mut netlib_retry_options,
    allow: i32,
) {
    options::set(options, "netlib_retry_options_set_any_method_if_stale", |o| {
        o.set_any_method_if_stale(arg_bool!(allow));
        Ok(())
    });
}

/// Sets `status_forcelist`: the response statuses that are retried, if the method is allowed. Default: none.
/// Recommended: 429, 502, 503 and 504.
///
/// @param codes `count` status codes, 100 to 999.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_options_set_status_forcelist(
    options: *mut netlib_retry_options,
    codes: *const i32,
    count: usize,
) {
    options::set(options, "netlib_retry_options_set_status_forcelist", |o| {
        o.set_status_forcelist(arg_i32s!(codes, count))
    });
}

/// Sets `backoff_factor`, the factor of the backoff: the delay before the next attempt is `backoff_factor * 2^(n - 1)`
/// seconds after n failures in a row. The jitter kind determines how randomness changes the delay, and whether the
/// first retry is immediate, as it is with the default jitter kind. Default: 0, no delay. Recommended: 0.1.
///
/// @param seconds 0 or more, finite.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_options_set_backoff_factor(options: *mut netlib_retry_options, seconds: f64) {
    options::set(options, "netlib_retry_options_set_backoff_factor", |o| o.set_backoff_factor(seconds));
}

/// Sets `backoff_max`, the longest backoff. Default: `NETLIB_RETRY_DEFAULT_BACKOFF_MAX`. Recommended: 20. The maximum
/// does not apply to the wait that a Retry-After header asks for.
///
/// @param seconds 0 or more; `NETLIB_TIMEOUT_NONE` for no maximum.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_options_set_backoff_max(options: *mut netlib_retry_options, seconds: f64) {
    options::set(options, "netlib_retry_options_set_backoff_max", |o| o.set_backoff_max(seconds));
}

/// Sets `backoff_jitter`, the upper bound of the random time that is added to a backoff, so that clients do not all
/// retry at once. The setting has an effect only with `NETLIB_JITTER_ADDITIVE`. Default: 0.
///
/// @param seconds 0 or more, finite.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_options_set_backoff_jitter(options: *mut netlib_retry_options, seconds: f64) {
    options::set(options, "netlib_retry_options_set_backoff_jitter", |o| o.set_backoff_jitter(seconds));
}

/// Sets `retry_after_max`, the longest wait that a Retry-After header can cause. If a header asks for a longer wait,
/// the wait is shortened to this maximum, or the retries end: see `netlib_retry_options_set_long_retry_after`. Default:
/// `NETLIB_RETRY_DEFAULT_RETRY_AFTER_MAX`. Recommended: 120.
///
/// @param seconds 0 or more; `NETLIB_TIMEOUT_NONE` for no maximum.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_options_set_retry_after_max(options: *mut netlib_retry_options, seconds: f64) {
    options::set(options, "netlib_retry_options_set_retry_after_max", |o| o.set_retry_after_max(seconds));
}

/// Sets whether `netlib_retry_decide` fails with `NETLIB_MAX_RETRY` when a redirect exceeds the `redirect` or `total`
/// counter. With 0, the decision is to return the response. Default: 1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_options_set_raise_on_redirect(options: *mut netlib_retry_options, raise: i32) {
    options::set(options, "netlib_retry_options_set_raise_on_redirect", |o| {
        o.set_raise_on_redirect(arg_bool!(raise));
        Ok(())
    });
}

/// Sets whether `netlib_retry_decide` fails with `NETLIB_MAX_RETRY` when a retry because of a status exceeds the
/// `status` or `total` counter. With 0, the decision is to return the response. Default: 1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_options_set_raise_on_status(options: *mut netlib_retry_options, raise: i32) {
    options::set(options, "netlib_retry_options_set_raise_on_status", |o| {
        o.set_raise_on_status(arg_bool!(raise));
        Ok(())
    });
}

/// Sets whether the Retry-After header is obeyed. `netlib_retry_options_set_retry_after_statuses` and
/// `netlib_retry_options_obey_any_retry_after` choose the statuses for which the header is obeyed. Default: 1.
///
/// The setting does not apply to redirects: like urllib3, `netlib_retry_decide` obeys the Retry-After of every
/// redirect. The setting does not apply to `netlib_retry_sleep_for_retry` either.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_options_set_respect_retry_after_header(
    options: *mut netlib_retry_options,
    respect: i32,
) {
    options::set(options, "netlib_retry_options_set_respect_retry_after_header", |o| {
        o.set_respect_retry_after_header(arg_bool!(respect));
        Ok(())
    });
}

/// Sets the headers that are dropped from the request after a redirect to another origin (scheme, host or port), and
/// from all later requests of the same chain of redirects and retries. Default:
/// `NETLIB_RETRY_DEFAULT_REMOVE_HEADERS_ON_REDIRECT`.
///
/// @param names an array of `count` header names, compared case-insensitively.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_options_set_remove_headers_on_redirect(
    options: *mut netlib_retry_options,
    names: *const *const c_char,
    count: usize,
) {
    options::set(options, "netlib_retry_options_set_remove_headers_on_redirect", |o| {
        let names = arg_cstrs!(names, count);
        o.set_remove_headers_on_redirect(names)
    });
}

/// Adds the names in `NETLIB_SENSITIVE_HEADERS` to the names of the request headers that are dropped on a redirect to
/// another origin. These headers contain cookies, credentials for servers and proxies, and the usual API keys.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_options_add_sensitive_headers(options: *mut netlib_retry_options) {
    options::add(options, "netlib_retry_options_add_sensitive_headers", |o| o.add_sensitive_headers());
}

/// Sets the only request headers that are kept on a redirect to another origin (scheme, host or port), and in all later
/// requests of the same chain of redirects and retries. Every other header is dropped, including Host and the headers
/// that describe the body, so that an API key under an unlisted name cannot leak. The headers of
/// `remove_headers_on_redirect` and of the redirect profile are dropped even if they are in `names`. Default: not set,
/// see `netlib_retry_options_keep_any_header_on_redirect`.
///
/// @param names an array of `count` header names, compared case-insensitively.
/// @param count the number of names; with 0, no header is kept.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_options_set_keep_headers_on_redirect(
    options: *mut netlib_retry_options,
    names: *const *const c_char,
    count: usize,
) {
    options::set(options, "netlib_retry_options_set_keep_headers_on_redirect", |o| {
        let names = arg_cstrs!(names, count);
        o.set_keep_headers_on_redirect(names)
    });
}

/// Keeps every request header on a redirect to another origin, unless another setting drops the header. This is the
/// default. The call undoes `netlib_retry_options_set_keep_headers_on_redirect`, which keeps only the headers of a
/// list.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_options_keep_any_header_on_redirect(options: *mut netlib_retry_options) {
    options::set(options, "netlib_retry_options_keep_any_header_on_redirect", |o| {
        o.keep_any_header_on_redirect();
        Ok(())
    });
}

/// Sets the redirect profile. Default: `NETLIB_REDIRECT_URLLIB3`. Recommended: `NETLIB_REDIRECT_SAFE`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_options_set_redirect_profile(
    options: *mut netlib_retry_options,
    profile: enum_netlib_redirect_profile,
) {
    options::set(options, "netlib_retry_options_set_redirect_profile", |o| {
        let profile = RedirectProfile::from_code(profile).ok_or_else(|| {
            Error::new(Status::InvalidArgument, format!("profile must be a netlib_redirect_profile; it is {profile}"))
        })?;
        o.set_redirect_profile(profile);
        Ok(())
    });
}

/// Adds an entry to the end of the history, as `netlib_retry_increment` does, so that a new Retry continues the history
/// of another Retry.
///
/// @param method the request's method. May be NULL: the method is unknown.
/// @param url the request's URL, stored unchanged. May be NULL: the URL is unknown.
/// @param error the failure of the request. May be NULL: the request did not fail.
/// @param status the response's status, 100 to 999, or `NETLIB_NONE` if there was no response.
/// @param redirect_location the Location of a redirect. May be NULL: the request was not redirected.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_options_add_history(
    options: *mut netlib_retry_options,
    method: *const c_char,
    url: *const c_char,
    error: *const netlib_error,
    status: i32,
    redirect_location: *const c_char,
) {
    options::add(options, "netlib_retry_options_add_history", |o| {
        let error = arg_shared_opt!(error);
        let location = arg_cstr_opt!(redirect_location);
        let (method, url) = (arg_cstr_opt!(method), arg_cstr_opt!(url));
        o.add_history(HistoryEntry::checked(method, url, error.as_ref(), Count::from_code(status), location)?);
        Ok(())
    });
}

/// Replaces the clock by which a date in a Retry-After header is converted to a wait. The default is the system's
/// clock.
///
/// @param clock the callback. May be NULL: the system's clock.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_options_set_wall_clock(
    options: *mut netlib_retry_options,
    clock: netlib_wall_clock_fn,
    ctx: *mut c_void,
    ctx_free: netlib_ctx_free_fn,
) {
    options::set_callback(options, "netlib_retry_options_set_wall_clock", (ctx, ctx_free), |o, ctx| {
        o.set_wall_clock(callback::number(clock, ctx, "wall clock"))
    });
}

/// Sets the callback with which `netlib_decision_sleep`, `netlib_retry_sleep` and `netlib_retry_sleep_for_retry` wait.
/// With a callback, a limit that is passed to one of these functions is checked before and after the callback, but
/// cannot interrupt the callback. By default, netlib waits itself.
///
/// @param sleep the callback. May be NULL: netlib waits itself.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_options_set_sleep(
    options: *mut netlib_retry_options,
    sleep: netlib_sleep_fn,
    ctx: *mut c_void,
    ctx_free: netlib_ctx_free_fn,
) {
    options::set_callback(options, "netlib_retry_options_set_sleep", (ctx, ctx_free), |o, ctx| {
        o.set_sleep(callback::sleep(sleep, ctx))
    });
}

/// Replaces the source of random numbers for the backoff's jitter. The default is the system's random numbers.
///
/// @param random the callback. May be NULL: the system's random numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_options_set_random(
    options: *mut netlib_retry_options,
    random: netlib_random_fn,
    ctx: *mut c_void,
    ctx_free: netlib_ctx_free_fn,
) {
    options::set_callback(options, "netlib_retry_options_set_random", (ctx, ctx_free), |o, ctx| {
        o.set_random(callback::number(random, ctx, "random"))
    });
}
