//! Rates.

use std::ffi::{c_char, c_void};
use std::sync::Arc;

use crate::error::Error;
use crate::ffi::api::basics::{netlib_ctx_free_fn, netlib_error, netlib_status};
use crate::ffi::api::overload::store::netlib_store;
use crate::ffi::api::timeout::netlib_clock_fn;
use crate::ffi::args::{arg_bytes, arg_enum, arg_kept_alive, arg_shared_opt};
use crate::ffi::enums::{enum_netlib_report, enum_netlib_unavailable};
use crate::ffi::guard::nonblocking;
use crate::ffi::out::outs;
use crate::ffi::{Handle, Options, Shared, Unique, callback, guard, handle, options};
use crate::overload::Report;
use crate::overload::rate::{Permission, Rate, RateOptions};
use crate::overload::store::UnavailablePolicy;
use crate::status::Status;

/// The default maximum number of keys of a rate.
pub const NETLIB_RATE_DEFAULT_MAX_KEYS: i32 = 1024;

/// Settings from which `netlib_rate_new` makes a rate. **One call at a time**.
pub struct netlib_rate_options {
    _private: [u8; 0],
}

impl Handle for netlib_rate_options {
    type Value = Options<RateOptions>;
    type Ownership = Unique;
}

/// A rate, which limits how often an application sends requests, so that a server with a quota does not refuse them.
/// **Thread-safe**.
///
/// Call `netlib_rate_take` before each request, retries included. If it returns `NETLIB_RATE_LIMITED`, wait for the
/// time that it stores, and call it again. For an adaptive rate, also call `netlib_rate_report` after each request.
///
/// A rate keeps a separate state for each key, which is usually an origin, a tenant or an account with a quota. A key
/// is any sequence of at most 1,024 bytes; NULL with the length 0 is also a key. If a rate has its maximum
/// number of keys, a new key replaces one of the 16 least recently used keys. For a limit, the replaced key is the one
/// that has all its permissions, or will have them first. For an adaptive rate, it is a key that was never throttled, if
/// there is one. Of several such keys, the least recently used one is replaced. A replaced key that is used again starts
/// as a new key.
///
/// After fork(2), parent and child have separate copies of the state, and count separately, unless the rate has a
/// store.
pub struct netlib_rate {
    _private: [u8; 0],
}

impl Handle for netlib_rate {
    type Value = Rate;
    type Ownership = Shared;
}

/// Makes options that hold the default settings: an adaptive rate. The comment of each setter states its default.
///
/// @return Never NULL.
#[unsafe(no_mangle)]
pub extern "C" fn netlib_rate_options_new() -> *mut netlib_rate_options {
    guard::value(std::ptr::null_mut(), || Ok(handle::give(Box::new(Options::new(RateOptions::default())))))
}

/// Returns an independent copy of the options.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_rate_options_clone(options: *const netlib_rate_options) -> *mut netlib_rate_options {
    options::clone(options)
}

/// Checks that no setter has recorded an error, as `netlib_rate_new` does.
///
/// @return `NETLIB_INVALID_ARGUMENT` if a setter refused a value.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_rate_options_check(
    options: *const netlib_rate_options,
    err: *mut *mut netlib_error,
) -> netlib_status {
    options::check(options, err)
}

/// Releases options.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_rate_options_free(options: *mut netlib_rate_options) {
    guard::nothing(|| handle::free(options));
}

/// Limits each key to `per_second` permissions per second on average and `burst` permissions at once, by the generic
/// cell rate algorithm (GCRA, ITU-T I.371): in any period of T seconds, at most `per_second * T + burst` permissions
/// are taken. A new key can take `burst` at once. The call replaces `netlib_rate_options_set_adaptive`. Default: not
/// set; the rate is adaptive.
///
/// If the time of a store steps back, for example because its server was replaced, a key may lose its permissions. The
/// key then gets permissions again at `per_second`, at most one second later than if it had used all of them.
///
/// @param per_second the permissions per second, more than 0, finite.
/// @param burst the most permissions that one call can take, more than 0, finite. `burst / per_second`, the time in
///        which a key without permissions gets `burst` permissions, is 0.000000001 to 1,000,000,000 seconds.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_rate_options_set_limit(
    options: *mut netlib_rate_options,
    per_second: f64,
    burst: f64,
) {
    options::set(options, "netlib_rate_options_set_limit", |o| o.set_limit(per_second, burst));
}

/// Makes the rate adaptive, as in the retry mode "adaptive" of AWS's SDKs. This is the default. The call replaces
/// `netlib_rate_options_set_limit`.
///
/// An adaptive rate limits nothing until the first report of `NETLIB_REPORT_THROTTLED` for a key. From then on, the
/// rate of the key follows the function of CUBIC (RFC 9438) with the constants of botocore and smithy-rs: a report of
/// `NETLIB_REPORT_THROTTLED` lowers the rate to 0.7 times the measured rate, which is the rate of the reports.
/// Afterwards, the rate rises again, slowly near the rate at which the server refused a request. The rate is at most
/// twice the measured rate, and at least 0.5 per second.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_rate_options_set_adaptive(options: *mut netlib_rate_options) {
    options::set(options, "netlib_rate_options_set_adaptive", |o| {
        o.set_adaptive();
        Ok(())
    });
}

/// Sets the maximum number of keys that the process keeps. Default: `NETLIB_RATE_DEFAULT_MAX_KEYS`.
///
/// @param max_keys 1 to 1,048,576.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_rate_options_set_max_keys(options: *mut netlib_rate_options, max_keys: i32) {
    options::set(options, "netlib_rate_options_set_max_keys", |o| o.set_max_keys(max_keys));
}

/// Sets a store, in which processes share the state of a limit (`netlib_rate_options_set_limit`). All processes must
/// use the same limit. The clock of the store measures the time. Each call of `netlib_rate_take` accesses the store. An
/// adaptive rate cannot have a store.
///
/// @param store the store, to which the options and the rate keep references. May be NULL: no store, which is the
///        default.
/// @param unavailable the policy for the times when the store is unavailable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_rate_options_set_store(
    options: *mut netlib_rate_options,
    store: *const netlib_store,
    unavailable: enum_netlib_unavailable,
) {
    guard::nothing(|| {
        let mut replaced = None;
        options::set(options, "netlib_rate_options_set_store", |o: &mut RateOptions| {
            let policy = UnavailablePolicy::from_code(unavailable).ok_or_else(|| {
                let message = format!("unavailable must be a netlib_unavailable; it is {unavailable}");
                Error::new(Status::InvalidArgument, message)
            })?;
            replaced = o.set_store(arg_shared_opt!(store), policy);
            Ok(())
        });
        // The store's `ctx_free` may use the options, so the store is released after the options are no longer in use.
        drop(replaced);
    });
}

/// Replaces the clock of the rate, for tests and simulations. If a reading is below the latest one by at most 1 second,
/// the time stays at the latest reading: two threads may pass their readings in the wrong order. If a reading is lower
/// than that, the clock was set back, and the time continues from the latest reading. A reading above 9,000,000,000 or
/// below -9,000,000,000 seconds is refused. The callback may run on several threads at the same time. Default: the
/// system's monotonic clock.
///
/// A limit with a store uses the time of the store, and uses this clock only while the store is unavailable;
/// `netlib_rate_options_set_limit` states the effect if the time of the store steps back.
///
/// @param clock the callback. May be NULL: the system's monotonic clock.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_rate_options_set_clock(
    options: *mut netlib_rate_options,
    clock: netlib_clock_fn,
    ctx: *mut c_void,
    ctx_free: netlib_ctx_free_fn,
) {
    options::set_callback(options, "netlib_rate_options_set_clock", (ctx, ctx_free), |o, ctx| {
        o.set_clock(callback::number(clock, ctx, "clock"))
    });
}

/// Makes a rate.
///
/// @param options the settings, which can be used for several calls. May be NULL: the default settings.
/// @return `NETLIB_INVALID_ARGUMENT` if a setter of the options has recorded an error, or if the options have a store
///         but no limit.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_rate_new(
    options: *const netlib_rate_options,
    rate: *mut *mut netlib_rate,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let rate = outs!(rate);
        rate.give(Arc::new(Rate::new(options::get(options)?)?));
        Ok(())
    })
}

/// Returns another reference to the same rate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_rate_clone(rate: *const netlib_rate) -> *mut netlib_rate {
    handle::clone(rate)
}

/// Releases a rate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_rate_free(rate: *mut netlib_rate) {
    guard::nothing(|| handle::free(rate));
}

/// Takes permissions to send requests. The call does not wait, and takes either all `n` permissions or none.
///
/// @param key `len` bytes, at most 1,024.
/// @param n the number of permissions, usually 1, or the size of a request if the quota counts sizes; more than 0. For
///        a limit, `n` is at most the limit's burst. For an adaptive rate, `n` is at most 1,000,000,000, and may exceed
///        the capacity of the key: the permissions are taken as soon as the whole capacity is available, and later
///        calls wait longer.
/// @param wait out: with `NETLIB_RATE_LIMITED`, the seconds after which to call again, a whole number of microseconds,
///        at least 1; 0 otherwise.
/// @return `NETLIB_OK` if the permissions were taken; `NETLIB_RATE_LIMITED` if they are not available yet;
///         `NETLIB_INVALID_ARGUMENT` for a key of more than 1,024 bytes, and if `n` is out of range;
///         `NETLIB_STORE_UNAVAILABLE` if the policy for an unavailable store is `NETLIB_UNAVAILABLE_CLOSED`;
///         `NETLIB_CALLBACK_FAILED`.
/// @blocks never, except that the call takes as long as the swap callback of a store: at most the timeout of the store,
///        if the callback obeys it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_rate_take(
    rate: *const netlib_rate,
    key: *const c_char,
    len: usize,
    n: f64,
    wait: *mut f64,
    err: *mut *mut netlib_error,
) -> netlib_status {
    nonblocking::status(err, || {
        let wait = outs!(wait);
        let rate = arg_kept_alive!(rate, Rate::may_call_back);
        Ok(match rate.take(arg_bytes!(key, len), n)? {
            Permission::Granted => Status::Ok,
            Permission::After(seconds) => {
                wait.set(seconds);
                Status::RateLimited
            }
        })
    })
}

/// Reports the outcome of a request to an adaptive rate. Report every request that was answered or has failed, retries
/// included: an adaptive rate counts the reports to measure the rate at which requests are sent. Outcomes other than
/// `NETLIB_REPORT_THROTTLED` let the rate rise. A report of `NETLIB_REPORT_NONE`, and every report to a limit, changes
/// nothing.
///
/// @param key the key that was passed to `netlib_rate_take`: `len` bytes.
/// @param outcome the outcome, for example `NETLIB_REPORT_THROTTLED` if `netlib_decision_throttled` returns 1.
/// @return `NETLIB_INVALID_ARGUMENT` for a key of more than 1,024 bytes, and for an outcome that is no `netlib_report`;
///         `NETLIB_CALLBACK_FAILED`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_rate_report(
    rate: *const netlib_rate,
    key: *const c_char,
    len: usize,
    outcome: enum_netlib_report,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let rate = arg_kept_alive!(rate, Rate::may_call_back);
        let outcome = arg_enum!(outcome, netlib_report, Report::from_code);
        rate.report(arg_bytes!(key, len), outcome)
    })
}
