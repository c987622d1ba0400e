//! Settings of a Retry.

use std::ffi::{c_char, c_void};

use crate::error::Error;
use crate::ffi::api::basics::{netlib_ctx_free_fn, netlib_error};
use crate::ffi::args::{arg_bool, arg_cstr_opt, arg_cstrs, arg_i32s, arg_shared_opt};
use crate::ffi::enums::{enum_netlib_outcome, enum_netlib_redirect_profile};
use crate::ffi::{Handle, Options, Unique, callback, guard, handle, options};
use crate::retry::{Count, HistoryEntry, MethodsSetting, RedirectProfile, RetryOptions};
use crate::status::Status;

/// The treatment of redirects. Given to `netlib_retry_options_set_redirect_profile`.
#[repr(C)]
pub enum netlib_redirect_profile {
    /// Follows redirects as urllib3 does: to any scheme, and from https to http. On 303 the method becomes GET (HEAD
    /// stays HEAD); on other statuses it does not change. On a redirect to another origin only the headers of
    /// `remove_headers_on_redirect` are dropped, by default Authorization. Cookie, X-Api-Key and every other header
    /// with a secret, and Host, are sent to the other origin, even over plain http.
    /// `netlib_retry_options_add_sensitive_headers` drops cookies and API keys.
    NETLIB_REDIRECT_URLLIB3 = 0,
    /// Follows redirects as browsers and careful clients do. In addition to the other profile, POST becomes GET on 301
    /// and 302. The headers of `NETLIB_SENSITIVE_HEADERS` and Host are dropped on a redirect to another origin. A
    /// redirect from https to http, or to a scheme that is neither, fails with `NETLIB_UNSAFE_REDIRECT`.
    NETLIB_REDIRECT_SAFE = 1,
}

/// The default of `total`.
pub const NETLIB_RETRY_DEFAULT_TOTAL: i32 = 10;
/// The default of `backoff_max`, in seconds.
pub const NETLIB_RETRY_DEFAULT_BACKOFF_MAX: f64 = 120.0;
/// The default of `retry_after_max`, in seconds: six hours.
pub const NETLIB_RETRY_DEFAULT_RETRY_AFTER_MAX: f64 = 21600.0;

/// Settings of a `netlib_retry`: make them, change some, and pass them to `netlib_retry_new`. After each request,
/// `netlib_retry_decide` decides what to do next. **Single**.
pub struct netlib_retry_options {
    _private: [u8; 0],
}

impl Handle for netlib_retry_options {
    type Value = Options<RetryOptions>;
    type Ownership = Unique;
}

/// Reports the time of day, for a Retry-After that is a date.
///
/// For this and the two callbacks below: every Retry made from another Retry also holds its callbacks. So `ctx` is
/// released with the last Retry, decision, error or options that holds the callback. The callbacks run without a lock,
/// on the thread that uses the Retry. If several threads share a Retry, the callbacks may run at the same time, and the
/// data behind `ctx` must be thread-safe.
///
/// @param seconds out: the seconds since 1970-01-01 00:00:00 UTC, a finite number. It is preset to NaN, and the
///        callback must store a value.
/// @return 0 on success. Any other number, or 0 without a stored `seconds`, fails the call with
///         `NETLIB_CALLBACK_FAILED`.
pub type netlib_wall_clock_fn = Option<unsafe extern "C" fn(ctx: *mut c_void, seconds: *mut f64) -> i32>;

/// Waits for a number of seconds.
///
/// @param seconds more than 0; infinity is possible if the bounds of the delays are infinite.
/// @return `NETLIB_OUTCOME_DONE` once the time has passed; any other number, 0 included, fails the call with
///         `NETLIB_CALLBACK_FAILED`.
pub type netlib_sleep_fn = Option<unsafe extern "C" fn(ctx: *mut c_void, seconds: f64) -> enum_netlib_outcome>;

/// Stores a random number in `value`.
///
/// @param value out: 0 or more and less than 1, uniformly distributed. It is preset to NaN, and the callback must store
///        a value.
/// @return 0 on success. Any other number, or 0 without a stored `value`, fails the call with `NETLIB_CALLBACK_FAILED`.
pub type netlib_random_fn = Option<unsafe extern "C" fn(ctx: *mut c_void, value: *mut f64) -> i32>;

/// Makes options that hold urllib3's defaults, which the setters below name. With them, the headers Cookie and
/// X-Api-Key are sent to every host that a redirect names, even over plain http, and a request is retried 10 times
/// without a wait. New programs should use `netlib_retry_options_new_recommended`, whose documentation gives the reason
/// and source of the values recommended below.
///
/// @return Never NULL.
#[unsafe(no_mangle)]
pub extern "C" fn netlib_retry_options_new() -> *mut netlib_retry_options {
    guard::value(std::ptr::null_mut(), || Ok(handle::give(Box::new(Options::new(RetryOptions::default())))))
}

/// Releases options.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_options_free(options: *mut netlib_retry_options) {
    guard::nothing(|| handle::free(options));
}

/// Sets the maximum number of retries for any reason; it takes precedence over the other counts. Redirects are
/// included, unless `netlib_retry_options_set_total_counts_redirects` excludes them. Default:
/// `NETLIB_RETRY_DEFAULT_TOTAL`. Recommended: 3. With 0, the first retry fails with `NETLIB_MAX_RETRY`.
///
/// @param count a count of 0 or more, `NETLIB_NONE` for no cap, or `NETLIB_RETRY_DISABLED`, which disables retrying:
///        the causing error is returned unchanged, every response, including a redirect, is returned whatever its
///        status, and no call fails with `NETLIB_MAX_RETRY`. A negative number is an exhausted count.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_options_set_total(options: *mut netlib_retry_options, count: i32) {
    options::set(options, "netlib_retry_options_set_total", |o| {
        o.set_total(Count::from_code(count));
        Ok(())
    });
}

/// Sets the maximum number of retries after a failure to reach the server. Such a request was not processed. Default:
/// `NETLIB_NONE`.
///
/// @param count a count of 0 or more, `NETLIB_NONE` for no cap, or `NETLIB_RETRY_DISABLED`: the causing error is
///        returned unchanged. A negative number is an exhausted count.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_options_set_connect(options: *mut netlib_retry_options, count: i32) {
    options::set(options, "netlib_retry_options_set_connect", |o| {
        o.set_connect(Count::from_code(count));
        Ok(())
    });
}

/// Sets the maximum number of retries after a request, or a part of it, was sent and its response did not arrive or
/// broke off. The server may have processed the request, so it is repeated only if its method is in `allowed_methods`.
/// Default: `NETLIB_NONE`.
///
/// @param count a count of 0 or more, `NETLIB_NONE` for no cap, or `NETLIB_RETRY_DISABLED`: the causing error is
///        returned unchanged. A negative number is an exhausted count.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_options_set_read(options: *mut netlib_retry_options, count: i32) {
    options::set(options, "netlib_retry_options_set_read", |o| {
        o.set_read(Count::from_code(count));
        Ok(())
    });
}

/// Sets the maximum number of redirects: responses with status 301, 302, 303, 307 or 308 and a Location. Default:
/// `NETLIB_NONE`. Recommended: 10. 0 allows no redirect.
///
/// @param count a count of 0 or more, `NETLIB_NONE` for no cap, or `NETLIB_RETRY_DISABLED`: the response is returned
///        instead. The getters then return 0 for `redirect` and 0 for `raise_on_redirect`. A negative number is an
///        exhausted count.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_options_set_redirect(options: *mut netlib_retry_options, count: i32) {
    options::set(options, "netlib_retry_options_set_redirect", |o| {
        o.set_redirect(Count::from_code(count));
        Ok(())
    });
}

/// Sets the maximum number of retries because of a response's status. Default: `NETLIB_NONE`.
///
/// @param count a count of 0 or more, `NETLIB_NONE` for no cap; `NETLIB_RETRY_DISABLED` is refused. A negative number
///        is an exhausted count.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_options_set_status(options: *mut netlib_retry_options, count: i32) {
    options::set(options, "netlib_retry_options_set_status", |o| o.set_status(Count::from_code(count)));
}

/// Sets the maximum number of retries after failures of any other kind, for example a refused certificate. Failures
/// after which the server may have processed the request count as read (`netlib_error_retry_kind`). Set it to 0 when
/// `total` is `NETLIB_NONE`, so that no failure is retried forever. Default: `NETLIB_NONE`. Recommended: 0.
///
/// @param count a count of 0 or more, `NETLIB_NONE` for no cap; `NETLIB_RETRY_DISABLED` is refused. A negative number
///        is an exhausted count.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_options_set_other(options: *mut netlib_retry_options, count: i32) {
    options::set(options, "netlib_retry_options_set_other", |o| o.set_other(Count::from_code(count)));
}

/// Sets the methods that may be retried after a read error or because of a status. Default:
/// `NETLIB_RETRY_DEFAULT_ALLOWED_METHODS`, the idempotent ones. See also `netlib_retry_options_allow_any_method`.
///
/// @param methods an array of `count` method names, compared case-insensitively.
/// @param count the number of methods; 0 allows none.
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

/// Allows every method to be retried, including the methods that are not safe to repeat. As urllib3's
/// `allowed_methods=None`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_options_allow_any_method(options: *mut netlib_retry_options) {
    options::set(options, "netlib_retry_options_allow_any_method", |o| o.allow_any_method());
}

/// Sets the response statuses that are retried, if the method is allowed. Default: none. Recommended: 429, 502, 503 and
/// 504.
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

/// Sets the factor of the delay between attempts: the delay is `factor * 2^(n - 1)` seconds after n failures in a row.
/// The jitter kind determines how randomness changes the delay, and whether the first retry is immediate, as it is by
/// default. Default: 0, no delay. Recommended: 0.1.
///
/// @param seconds 0 or more, finite.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_options_set_backoff_factor(options: *mut netlib_retry_options, seconds: f64) {
    options::set(options, "netlib_retry_options_set_backoff_factor", |o| o.set_backoff_factor(seconds));
}

/// Sets the longest backoff. Default: `NETLIB_RETRY_DEFAULT_BACKOFF_MAX`. Recommended: 20. This maximum does not apply
/// to a Retry-After.
///
/// @param seconds 0 or more; `NETLIB_TIMEOUT_NONE` for no bound.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_options_set_backoff_max(options: *mut netlib_retry_options, seconds: f64) {
    options::set(options, "netlib_retry_options_set_backoff_max", |o| o.set_backoff_max(seconds));
}

/// Sets the upper bound of the random time that is added to a backoff, so that clients do not all retry at once. The
/// setting has an effect with `NETLIB_JITTER_ADDITIVE` only. Default: 0.
///
/// @param seconds 0 or more, finite.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_options_set_backoff_jitter(options: *mut netlib_retry_options, seconds: f64) {
    options::set(options, "netlib_retry_options_set_backoff_jitter", |o| o.set_backoff_jitter(seconds));
}

/// Sets the longest wait that a Retry-After header can ask for. A longer wait is shortened to this maximum, or ends the
/// retries: see `netlib_retry_options_set_long_retry_after`. Default: `NETLIB_RETRY_DEFAULT_RETRY_AFTER_MAX`.
/// Recommended: 120.
///
/// @param seconds 0 or more; `NETLIB_TIMEOUT_NONE` for no bound.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_options_set_retry_after_max(options: *mut netlib_retry_options, seconds: f64) {
    options::set(options, "netlib_retry_options_set_retry_after_max", |o| o.set_retry_after_max(seconds));
}

/// Sets whether `netlib_retry_decide` fails with `NETLIB_MAX_RETRY` when no redirect is left. With 0 it returns the
/// response. Default: 1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_options_set_raise_on_redirect(options: *mut netlib_retry_options, raise: i32) {
    options::set(options, "netlib_retry_options_set_raise_on_redirect", |o| {
        o.set_raise_on_redirect(arg_bool!(raise));
        Ok(())
    });
}

/// Sets whether `netlib_retry_decide` fails with `NETLIB_MAX_RETRY` when no retry because of a status is left. With 0
/// it returns the response. Default: 1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_options_set_raise_on_status(options: *mut netlib_retry_options, raise: i32) {
    options::set(options, "netlib_retry_options_set_raise_on_status", |o| {
        o.set_raise_on_status(arg_bool!(raise));
        Ok(())
    });
}

/// Sets whether the Retry-After header is obeyed. `netlib_retry_options_set_retry_after_statuses` and
/// `netlib_retry_options_obey_any_retry_after` choose the statuses. Default: 1.
///
/// This does not apply to redirects: like urllib3, `netlib_retry_decide` obeys the Retry-After of every redirect. It
/// does not apply to `netlib_retry_sleep_for_retry` either.
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

/// Sets the request headers that do not follow a redirect to another origin (scheme, host or port), nor any request
/// after that. Default: `NETLIB_RETRY_DEFAULT_REMOVE_HEADERS_ON_REDIRECT`.
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

/// Adds `NETLIB_SENSITIVE_HEADERS` to the headers that do not follow a redirect to another origin: cookies, proxy
/// credentials and the usual API keys.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_options_add_sensitive_headers(options: *mut netlib_retry_options) {
    options::set(options, "netlib_retry_options_add_sensitive_headers", |o| o.add_sensitive_headers());
}

/// Keeps only these request headers on a redirect to another origin (scheme, host or port), and on any request after
/// that. Every other header is dropped, including Host and the headers that describe the body, so that an API key under
/// an unlisted name cannot leak. A header that `remove_headers_on_redirect` or the profile drops is dropped even if it
/// is listed here. Default: not set, see `netlib_retry_options_keep_any_header_on_redirect`.
///
/// @param names an array of `count` header names, compared case-insensitively.
/// @param count 0 keeps none.
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

/// Keeps every request header on a redirect to another origin, unless another setting drops it. This is the default.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_options_keep_any_header_on_redirect(options: *mut netlib_retry_options) {
    options::set(options, "netlib_retry_options_keep_any_header_on_redirect", |o| {
        o.keep_any_header_on_redirect();
        Ok(())
    });
}

/// Sets the treatment of redirects. Default: `NETLIB_REDIRECT_URLLIB3`. Recommended: `NETLIB_REDIRECT_SAFE`.
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

/// Adds an entry to the end of the history, as `netlib_retry_increment` does, so that the new Retry continues another
/// one.
///
/// @param method the request's method. May be NULL: none.
/// @param url the request's URL, stored unchanged. May be NULL: none.
/// @param error the failure. May be NULL: none.
/// @param status the response's status, 100 to 999, or `NETLIB_NONE`.
/// @param redirect_location the Location of a redirect. May be NULL: there was none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_options_add_history(
    options: *mut netlib_retry_options,
    method: *const c_char,
    url: *const c_char,
    error: *const netlib_error,
    status: i32,
    redirect_location: *const c_char,
) {
    options::set(options, "netlib_retry_options_add_history", |o| {
        let error = arg_shared_opt!(error);
        let location = arg_cstr_opt!(redirect_location);
        let (method, url) = (arg_cstr_opt!(method), arg_cstr_opt!(url));
        o.add_history(HistoryEntry::checked(method, url, error.as_ref(), Count::from_code(status), location)?);
        Ok(())
    });
}

/// Replaces the clock for a Retry-After that is a date. The default is the system's clock.
///
/// @param clock May be NULL: the system's clock.
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

/// Replaces the wait of `netlib_decision_sleep`, `netlib_retry_sleep` and `netlib_retry_sleep_for_retry`. A limit given
/// to these functions is then checked before and after the callback, and cannot interrupt it. By default netlib waits
/// itself.
///
/// @param sleep May be NULL: netlib waits itself.
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

/// Replaces the source of the backoff's jitter. The default is the system's random numbers.
///
/// @param random May be NULL: the system's random numbers.
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
