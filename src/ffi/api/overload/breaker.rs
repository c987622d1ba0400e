//! Circuit breakers.

use std::ffi::{c_char, c_void};
use std::sync::Arc;

use crate::ffi::api::basics::{netlib_ctx_free_fn, netlib_error, netlib_status};
use crate::ffi::api::retry::options::netlib_random_fn;
use crate::ffi::api::timeout::netlib_clock_fn;
use crate::ffi::args::{arg_bytes, arg_kept_alive};
use crate::ffi::enums::{enum_netlib_circuit_state, enum_netlib_report};
use crate::ffi::guard::nonblocking;
use crate::ffi::out::outs;
use crate::ffi::strings::read;
use crate::ffi::{Handle, Options, Shared, Unique, callback, guard, handle, options};
use crate::overload::Report;
use crate::overload::breaker::{self, Breaker, BreakerOptions, Permission};
use crate::status::Status;

/// States of a key of a breaker, as `netlib_breaker_state` stores them.
#[repr(C)]
pub enum netlib_circuit_state {
    /// All requests are permitted.
    NETLIB_CIRCUIT_CLOSED = 0,
    /// No request is permitted.
    NETLIB_CIRCUIT_OPEN = 1,
    /// Some requests are permitted: a number of probes, or, with `netlib_breaker_options_set_adaptive`, a random
    /// fraction of the requests.
    NETLIB_CIRCUIT_HALF_OPEN = 2,
}

/// The default time in seconds after which an unreported permit ends. A permit is the permission to send one request:
/// see `netlib_breaker_ask`.
pub const NETLIB_BREAKER_DEFAULT_PERMIT_TIME: f64 = 300.0;
/// The default maximum number of keys of a breaker.
pub const NETLIB_BREAKER_DEFAULT_MAX_KEYS: i32 = 1024;

/// Settings from which `netlib_breaker_new` makes a breaker. **One call at a time**.
pub struct netlib_breaker_options {
    _private: [u8; 0],
}

impl Handle for netlib_breaker_options {
    type Value = Options<BreakerOptions>;
    type Ownership = Unique;
}

/// A circuit breaker, which refuses requests to a server that fails most requests, so that the server can recover and
/// the client does not wait for failures. **Thread-safe**.
///
/// Ask before each request, and report its outcome:
///
///     uint64_t permit = 0;
///     double seconds = 0;
///     netlib_status status = netlib_breaker_ask(breaker, "https://a.example", NETLIB_NTS, &permit, &seconds, &err);
///     if (status == NETLIB_BREAKER_OPEN) return try_again_in(seconds);
///     if (status != NETLIB_OK) return fail(err);
///     int http_status = send_request();                    // 0: no response
///     int failed = http_status == 0 || http_status >= 500;
///     netlib_breaker_report(breaker, permit, failed ? NETLIB_REPORT_FAILURE : NETLIB_REPORT_SUCCESS);
///
/// A breaker keeps a separate state for each key, which is usually an origin or a tenant. A key is any sequence of at
/// most 1,024 bytes; NULL with the length 0 is also a key, for applications with one server. Keys appear in error
/// messages, so do not use secrets as keys.
///
/// If a breaker has its maximum number of keys, a new key replaces one of the 16 least recently used keys. The replaced
/// key is the least recently used one that is closed, or the least recently used one if none of the 16 is closed. A
/// replaced key that is used again starts closed. Closed keys are replaced first because otherwise, a server could close
/// its own key by redirecting clients to many other origins.
///
/// All clones of a breaker share one state. After fork(2), parent and child have separate copies of the state, and
/// count separately.
pub struct netlib_breaker {
    _private: [u8; 0],
}

impl Handle for netlib_breaker {
    type Value = Breaker;
    type Ownership = Shared;
}

/// Makes options that hold the default settings; the comment of each setter states its default.
///
/// @return Never NULL.
#[unsafe(no_mangle)]
pub extern "C" fn netlib_breaker_options_new() -> *mut netlib_breaker_options {
    guard::value(std::ptr::null_mut(), || Ok(handle::give(Box::new(Options::new(BreakerOptions::default())))))
}

/// Returns an independent copy of the options.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_breaker_options_clone(
    options: *const netlib_breaker_options,
) -> *mut netlib_breaker_options {
    options::clone(options)
}

/// Checks that no setter has recorded an error, as `netlib_breaker_new` does.
///
/// @return `NETLIB_INVALID_ARGUMENT` if a setter refused a value.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_breaker_options_check(
    options: *const netlib_breaker_options,
    err: *mut *mut netlib_error,
) -> netlib_status {
    options::check(options, err)
}

/// Releases options.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_breaker_options_free(options: *mut netlib_breaker_options) {
    guard::nothing(|| handle::free(options));
}

/// Opens a key when the ratio of failures is too high, as in Polly and resilience4j. The call replaces the settings of
/// `netlib_breaker_options_set_consecutive` and `netlib_breaker_options_set_adaptive`. Default: 0.1, 100, 30, 5 and 1,
/// as in Polly 8. The defaults of resilience4j 2 correspond to 0.5, 100, a window of your choice, 60 and 10.
///
/// A closed key opens when a failure is reported and two conditions hold: at least `minimum` outcomes were reported
/// within the window, and at least the fraction `ratio` of these outcomes are failures. An outcome counts from the time
/// of its report, so failures count even if the timeout of the requests is longer than the window. An open key permits
/// no request for `open_time` seconds. Then the key is half-open: it permits `probes` requests, which are called
/// probes. When the number of reported failures is at least `ratio * probes`, the key opens again. When `probes`
/// outcomes were reported and fewer of them are failures, the key closes.
///
/// A probe without an outcome (`NETLIB_REPORT_NONE`, or a permit that ended) is replaced by another probe. If reports
/// are missing, a half-open key permits a further probe whenever no probe was permitted and no outcome was reported for
/// `open_time` seconds. A lost report therefore does not block the key until its permit ends. A late report of an
/// earlier probe still counts.
///
/// @param ratio the ratio of failures to outcomes at which a key opens, more than 0, at most 1.
/// @param minimum the number of outcomes in the window below which a key stays closed, 1 or more.
/// @param window the length of the window, 0.001 to 1,000,000,000 seconds. The window moves in steps of a tenth of its
///        length, so an outcome counts for nine tenths of the window at least. The first step begins when the key is
///        first used, when it closes after probes, and when an outcome is reported to an empty window.
/// @param open_time the time for which a key stays open, 0.001 to 1,000,000,000 seconds.
/// @param probes the number of outcomes that a half-open key needs, 1 or more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_breaker_options_set_ratio(
    options: *mut netlib_breaker_options,
    ratio: f64,
    minimum: i32,
    window: f64,
    open_time: f64,
    probes: i32,
) {
    options::set(options, "netlib_breaker_options_set_ratio", |o| {
        o.set_ratio(ratio, minimum, window, open_time, probes)
    });
}

/// Opens a key after consecutive failures, as Envoy's outlier detection ejects a host. The call replaces the settings
/// of `netlib_breaker_options_set_ratio` and `netlib_breaker_options_set_adaptive`. Default: not set. Envoy's defaults
/// are 5, 30, 300 and 10.
///
/// A key opens after `failures` failures without a success between them. The key stays open for `open_time` seconds
/// times a multiplier, but at most for `open_time_max` seconds. Then it closes; it is never half-open. The multiplier
/// is the number of the key's openings, minus 1 for every 10 seconds for which the key was closed, but at least 1. It
/// grows no further when `open_time` times the multiplier is `open_time_max + open_time` or more. If another key is
/// already open, a key opens only if at most `max_open_percent` percent of the breaker's keys are then open. Otherwise,
/// the key stays closed, and its failures are counted from 0 again.
///
/// @param failures the number of consecutive failures at which a key opens, 1 or more.
/// @param open_time the time for which a key stays open after its first opening, 0.001 to 1,000,000,000 seconds.
/// @param open_time_max the longest time for which a key stays open, `open_time` to 1,000,000,000 seconds.
/// @param max_open_percent the percentage of the keys that may be open at once, 0 to 100. One key may always be open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_breaker_options_set_consecutive(
    options: *mut netlib_breaker_options,
    failures: i32,
    open_time: f64,
    open_time_max: f64,
    max_open_percent: f64,
) {
    options::set(options, "netlib_breaker_options_set_consecutive", |o| {
        o.set_consecutive(failures, open_time, open_time_max, max_open_percent)
    });
}

/// Refuses a random fraction of a key's requests, as in the client-side throttling of Google's book "Site Reliability
/// Engineering", chapter "Handling Overload". The call replaces the settings of `netlib_breaker_options_set_ratio` and
/// `netlib_breaker_options_set_consecutive`. Default: not set. The book uses 2, 1, 120 and 1. For Envoy's admission
/// control with the default settings, use 1 / 0.95, 1, 30 and 0.8.
///
/// Each request is refused with the probability (requests - `multiplier` * accepted) / (requests + 1), which is limited
/// to the range from 0 to `max_probability`. `requests` is the number of calls of `netlib_breaker_ask` within the
/// window, including calls for refused requests; `accepted` is the number of successes that were reported within the
/// window. A request counts as soon as `netlib_breaker_ask` is called for it, so a server that answers no request is
/// detected before the first timeout. Requests that are reported with `NETLIB_REPORT_NONE` do not count. No key is ever
/// open: some requests are always permitted.
///
/// @param multiplier the number of requests per accepted request up to which no request is refused: at least 1, finite.
/// @param minimum the number of requests within the window below which no request is refused, 1 or more. Choose more
///        than the number of concurrent requests: when an application starts, its requests count before the first
///        answer arrives.
/// @param window the length of the window, 0.001 to 1,000,000,000 seconds. The window moves in steps of a tenth of its
///        length, so a request counts for nine tenths of the window at least. The first step begins when the key is
///        first used, and with the first call for the key after the window became empty.
/// @param max_probability the highest probability with which a request is refused, more than 0, at most 1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_breaker_options_set_adaptive(
    options: *mut netlib_breaker_options,
    multiplier: f64,
    minimum: i32,
    window: f64,
    max_probability: f64,
) {
    options::set(options, "netlib_breaker_options_set_adaptive", |o| {
        o.set_adaptive(multiplier, minimum, window, max_probability)
    });
}

/// Sets the time after which an unreported permit ends, as if `NETLIB_REPORT_NONE` had been reported. Choose a time
/// that is longer than the longest request. Each call for the breaker ends at most 64 permits, the oldest first.
/// Default: `NETLIB_BREAKER_DEFAULT_PERMIT_TIME`.
///
/// @param seconds 0.001 to 1,000,000,000.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_breaker_options_set_permit_time(options: *mut netlib_breaker_options, seconds: f64) {
    options::set(options, "netlib_breaker_options_set_permit_time", |o| o.set_permit_time(seconds));
}

/// Sets the maximum number of keys. Default: `NETLIB_BREAKER_DEFAULT_MAX_KEYS`.
///
/// @param max_keys 1 to 1,048,576.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_breaker_options_set_max_keys(options: *mut netlib_breaker_options, max_keys: i32) {
    options::set(options, "netlib_breaker_options_set_max_keys", |o| o.set_max_keys(max_keys));
}

/// Replaces the clock of the breaker, for tests and simulations. If a reading is below the latest one by at most 1
/// second, the time stays at the latest reading: two threads may pass their readings in the wrong order. If a reading
/// is lower than that, the clock was set back, and the time continues from the latest reading. A reading above
/// 9,000,000,000 or below -9,000,000,000 seconds is refused. The callback may run on several threads at the same time.
/// Default: the system's monotonic clock, with a resolution of a few milliseconds.
///
/// @param clock the callback. May be NULL: the system's monotonic clock.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_breaker_options_set_clock(
    options: *mut netlib_breaker_options,
    clock: netlib_clock_fn,
    ctx: *mut c_void,
    ctx_free: netlib_ctx_free_fn,
) {
    options::set_callback(options, "netlib_breaker_options_set_clock", (ctx, ctx_free), |o, ctx| {
        o.set_clock(callback::number(clock, ctx, "clock"))
    });
}

/// Replaces the source of the random numbers that `netlib_breaker_options_set_adaptive` needs, for tests and
/// simulations. A request is refused if the random number is below the probability. The callback may run on several
/// threads at the same time. Default: a generator that is seeded with a random number of the operating system.
///
/// @param random the callback. May be NULL: the default.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_breaker_options_set_random(
    options: *mut netlib_breaker_options,
    random: netlib_random_fn,
    ctx: *mut c_void,
    ctx_free: netlib_ctx_free_fn,
) {
    options::set_callback(options, "netlib_breaker_options_set_random", (ctx, ctx_free), |o, ctx| {
        o.set_random(callback::number(random, ctx, "random"))
    });
}

/// Makes a breaker.
///
/// @param options the settings, which can be used for several calls. May be NULL: the default settings.
/// @return `NETLIB_INVALID_ARGUMENT` if a setter of the options has recorded an error; `NETLIB_IO` if the system
///         provides no random number for the seed that `netlib_breaker_options_set_adaptive` needs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_breaker_new(
    options: *const netlib_breaker_options,
    breaker: *mut *mut netlib_breaker,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let breaker = outs!(breaker);
        breaker.give(Arc::new(Breaker::new(&*options::borrowed(options)?)?));
        Ok(())
    })
}

/// Returns another reference to the same breaker.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_breaker_clone(breaker: *const netlib_breaker) -> *mut netlib_breaker {
    handle::clone(breaker)
}

/// Releases a breaker.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_breaker_free(breaker: *mut netlib_breaker) {
    guard::nothing(|| handle::free(breaker));
}

/// Asks whether a request may be sent now. If so, send the request, and pass the permit to `netlib_breaker_report` when
/// the outcome is known. A breaker has at most 1,048,576 permits without a report; a further permit ends the oldest
/// one.
///
/// @param key `len` bytes, at most 1,024.
/// @param permit out: the number of the permit, never 0; 0 if the request is not permitted.
/// @param seconds out: with `NETLIB_BREAKER_OPEN`, the time after which to ask again, in seconds, at least 0.000001;
///        otherwise 0. For an open key, this is the time until the key closes or is half-open. For a half-open key, it
///        is the time until a further probe is permitted, although the key may close sooner. For a request that
///        `netlib_breaker_options_set_adaptive` refuses, it is the time until the window moves, although a request may
///        be permitted earlier.
/// @return `NETLIB_BREAKER_OPEN` if the request is not permitted; `NETLIB_INVALID_ARGUMENT` for a key of more than
///         1,024 bytes; `NETLIB_CALLBACK_FAILED`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_breaker_ask(
    breaker: *const netlib_breaker,
    key: *const c_char,
    len: usize,
    permit: *mut u64,
    seconds: *mut f64,
    err: *mut *mut netlib_error,
) -> netlib_status {
    nonblocking::status(err, || {
        let (permit, seconds) = outs!(permit, seconds);
        let breaker = arg_kept_alive!(breaker, Breaker::may_call_back);
        let key = arg_bytes!(key, len);
        match breaker.ask(key)? {
            Permission::Granted(number) => {
                permit.set(number);
                Ok(Status::Ok)
            }
            Permission::Refused(wait) => {
                seconds.set(wait);
                // A caller that passes no `err` is refused without the allocation of an error.
                if err.is_null() { Ok(Status::BreakerOpen) } else { Err(breaker::refusal(key, wait)) }
            }
        }
    })
}

/// Reports the outcome of a permitted request, which ends its permit. For `netlib_breaker_options_set_ratio` and
/// `netlib_breaker_options_set_consecutive`, `NETLIB_REPORT_THROTTLED` counts as a failure. The call changes nothing in
/// three cases: the permit has already ended, because it was reported or is too old; the number is no permit; or the
/// key has opened or closed since the request was permitted. If the clock callback fails, the report counts at the time
/// of the last call that read the clock.
///
/// @param permit the number that `netlib_breaker_ask` stored.
/// @param outcome the outcome; a number that is no `netlib_report` counts as `NETLIB_REPORT_NONE`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_breaker_report(
    breaker: *const netlib_breaker,
    permit: u64,
    outcome: enum_netlib_report,
) {
    nonblocking::value((), || {
        let breaker = arg_kept_alive!(breaker, Breaker::may_call_back);
        breaker.report(permit, Report::from_code(outcome).unwrap_or(Report::None));
        Ok(())
    });
}

/// Stores the state of a key. A key that was never used is closed. With `netlib_breaker_options_set_adaptive`, a key is
/// half-open while the probability is above 0. The call does not count as a use of the key.
///
/// @param key `len` bytes, at most 1,024.
/// @param state out: the state; `NETLIB_CIRCUIT_CLOSED` on failure.
/// @return `NETLIB_INVALID_ARGUMENT` for a key of more than 1,024 bytes; `NETLIB_CALLBACK_FAILED`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_breaker_state(
    breaker: *const netlib_breaker,
    key: *const c_char,
    len: usize,
    state: *mut enum_netlib_circuit_state,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let state = outs!(state);
        let breaker = arg_kept_alive!(breaker, Breaker::may_call_back);
        state.set(breaker.state(arg_bytes!(key, len))? as i32);
        Ok(())
    })
}

/// Returns the time in seconds that `netlib_breaker_ask` stored together with an error; -1.0 for an error of another
/// function, and for NULL. Bindings that convert errors to exceptions need this function, because a call that raises an
/// exception returns no outputs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_error_breaker_seconds(error: *const netlib_error) -> f64 {
    read(error, -1.0, |error| breaker::refused_seconds(error).unwrap_or(-1.0))
}
