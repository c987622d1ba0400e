//! Hedging.

use std::ffi::c_char;
use std::sync::Arc;

use crate::ffi::api::basics::{netlib_error, netlib_status};
use crate::ffi::api::overload::budget::netlib_retry_budget;
use crate::ffi::args::{arg, arg_bytes, arg_cstr, arg_cstrs, arg_enum, arg_mut, arg_shared, arg_shared_opt};
use crate::ffi::enums::{enum_netlib_hedge_action, enum_netlib_hedge_event};
use crate::ffi::guard::nonblocking;
use crate::ffi::out::outs;
use crate::ffi::strings::read;
use crate::ffi::{Handle, Options, Shared, Unique, guard, handle, options};
use crate::overload::hedge::{Event, Hedge, HedgeOptions, Plan};

/// Events of a hedged request, which the application reports with `netlib_hedge_plan_step`.
#[repr(C)]
pub enum netlib_hedge_event {
    /// The time that `netlib_hedge_plan_timer` returned is reached. An earlier `NETLIB_HEDGE_EVENT_TIMER` changes
    /// nothing.
    NETLIB_HEDGE_EVENT_TIMER = 0,
    /// An attempt has succeeded: its response is the result of the request.
    NETLIB_HEDGE_EVENT_SUCCESS = 1,
    /// An attempt has failed, but another attempt may succeed, for example after a connection error or a response with
    /// status 503. The next attempt starts at once. gRPC calls such a failure non-fatal.
    NETLIB_HEDGE_EVENT_FAILURE = 2,
    /// An attempt has failed, and every other attempt would fail for the same reason, for example after a response with
    /// status 400: its failure is the result of the request. gRPC calls such a failure fatal.
    NETLIB_HEDGE_EVENT_FATAL = 3,
}

/// Next steps of a hedged request, which `netlib_hedge_plan_step` and `netlib_hedge_plan_pushback` store.
#[repr(C)]
pub enum netlib_hedge_action {
    /// Wait for the next event: the answer of a running attempt, or the timer.
    NETLIB_HEDGE_ACTION_WAIT = 0,
    /// Start another attempt, if possible to another server. `netlib_hedge_plan_attempts` returns its number. The timer
    /// has changed.
    NETLIB_HEDGE_ACTION_START = 1,
    /// The event has decided the request: the success or the fatal failure of its attempt is the result. Cancel all
    /// other running attempts.
    NETLIB_HEDGE_ACTION_CANCEL_OTHERS = 2,
    /// The event has decided the request: the success of its attempt is the result. No other attempt is running.
    NETLIB_HEDGE_ACTION_DONE = 3,
    /// The request has failed: the failure that was reported last is the result. No attempt is running.
    NETLIB_HEDGE_ACTION_FAILED = 4,
}

/// Settings from which `netlib_hedge_new` makes a `netlib_hedge`. **One call at a time**.
pub struct netlib_hedge_options {
    _private: [u8; 0],
}

impl Handle for netlib_hedge_options {
    type Value = Options<HedgeOptions>;
    type Ownership = Unique;
}

/// Makes options that hold the defaults; the comment of each setter states its default.
///
/// @return Never NULL.
#[unsafe(no_mangle)]
pub extern "C" fn netlib_hedge_options_new() -> *mut netlib_hedge_options {
    guard::value(std::ptr::null_mut(), || Ok(handle::give(Box::new(Options::new(HedgeOptions::default())))))
}

/// Returns an independent copy of the options.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_hedge_options_clone(
    options: *const netlib_hedge_options,
) -> *mut netlib_hedge_options {
    options::clone(options)
}

/// Checks that no setter has recorded an error, as `netlib_hedge_new` does.
///
/// @return `NETLIB_INVALID_ARGUMENT` if a setter refused a value.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_hedge_options_check(
    options: *const netlib_hedge_options,
    err: *mut *mut netlib_error,
) -> netlib_status {
    options::check(options, err)
}

/// Releases options.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_hedge_options_free(options: *mut netlib_hedge_options) {
    guard::nothing(|| handle::free(options));
}

/// Sets a fixed delay between two attempts. With a fixed delay, no latencies are recorded. The call replaces the
/// percentile. Default: not set; the delay is a percentile. The example of gRPC's proposal A6 uses 0.5 seconds and 4
/// attempts, and Polly 8 uses 2 seconds and 2 attempts.
///
/// @param seconds 0 to 1,000,000,000. With 0, all attempts start at once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_hedge_options_set_delay(options: *mut netlib_hedge_options, seconds: f64) {
    options::set(options, "netlib_hedge_options_set_delay", |o| o.set_delay(seconds));
}

/// Sets the delay between two attempts to a percentile of the key's latencies. With the 95th percentile, about 5 % of
/// the requests get a second attempt (Dean and Barroso, "The Tail at Scale", CACM 2013). The call replaces a fixed
/// delay. Default: 95 and 100.
///
/// The latencies of a key are the times that its latest 1,000 to 2,000 successful requests took, from the start of the
/// request to `NETLIB_HEDGE_EVENT_SUCCESS`. The time of attempts that failed before the success does not count. For
/// latencies from 0.1 ms to 1,000 s, the percentile is at most 5 % too high or too low; a latency outside of this range
/// counts as 0.1 ms or 1,000 s. The latencies of a key take less than 1 kB of memory, plus the key itself, which is
/// stored twice.
///
/// @param percentile 50 to 99.9. The number 95 means the 95th percentile; 0.95 is refused.
/// @param minimum_samples 1 to 1,000. While a key has fewer latencies, only `NETLIB_HEDGE_EVENT_FAILURE` starts a
///        further attempt; the timer does not.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_hedge_options_set_percentile(
    options: *mut netlib_hedge_options,
    percentile: f64,
    minimum_samples: i32,
) {
    options::set(options, "netlib_hedge_options_set_percentile", |o| o.set_percentile(percentile, minimum_samples));
}

/// Sets the maximum number of attempts of a request, the first one included. Default: 2.
///
/// @param max_attempts 2 to 10. Polly 8 has the same maximum.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_hedge_options_set_max_attempts(
    options: *mut netlib_hedge_options,
    max_attempts: i32,
) {
    options::set(options, "netlib_hedge_options_set_max_attempts", |o| o.set_max_attempts(max_attempts));
}

/// Sets the methods of requests that may have several attempts. Default: `NETLIB_RETRY_DEFAULT_ALLOWED_METHODS`, the
/// idempotent methods.
///
/// The server may process all attempts, in any order. An attempt with PUT or DELETE that was cancelled may still reach
/// the server after a later request. If the order of requests matters, allow only GET, HEAD and OPTIONS.
///
/// @param methods an array of `count` method names, compared case-insensitively.
/// @param count the number of methods; with 0, no method is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_hedge_options_set_allowed_methods(
    options: *mut netlib_hedge_options,
    methods: *const *const c_char,
    count: usize,
) {
    options::set(options, "netlib_hedge_options_set_allowed_methods", |o| {
        o.set_allowed_methods(arg_cstrs!(methods, count))
    });
}

/// Sets the retry budget that bounds the further attempts of all requests together. Default: none. Use the budget that
/// the retries of the same requests use, and the same keys, so that the budget bounds retries and further attempts
/// together. A Retry without a key of its own uses the origin with the port, such as "https://example.com:443".
///
/// A plan asks the budget for each further attempt, as `NETLIB_BUDGET_HEDGE`. If the budget denies an attempt, the plan
/// starts no further attempt: see `netlib_hedge_plan_denied`. The plan reports the outcome of each further attempt to
/// the budget: success and failure; `NETLIB_REPORT_THROTTLED` after a pushback with a wait; `NETLIB_REPORT_NONE` after
/// `NETLIB_HEDGE_EVENT_FATAL`, and for an attempt that is cancelled. A cancelled attempt therefore does not return its
/// cost.
///
/// A plan does not report its first attempt. If a Retry has the same budget, call `netlib_retry_decide` once with the
/// outcome of the request: this call reports the first attempt. Otherwise, call `netlib_retry_budget_ask` with
/// `NETLIB_BUDGET_REQUEST` when the request starts, and `netlib_retry_budget_report` when it ends.
///
/// @param budget the budget. May be NULL: no budget.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_hedge_options_set_budget(
    options: *mut netlib_hedge_options,
    budget: *const netlib_retry_budget,
) {
    options::set(options, "netlib_hedge_options_set_budget", |o| {
        o.set_budget(arg_shared_opt!(budget));
        Ok(())
    });
}

/// Sets the maximum number of keys whose latencies are kept. A further key replaces the least recently used one.
/// Default: 1,024.
///
/// @param max_keys 1 to 1,048,576.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_hedge_options_set_max_keys(options: *mut netlib_hedge_options, max_keys: i32) {
    options::set(options, "netlib_hedge_options_set_max_keys", |o| o.set_max_keys(max_keys));
}

/// Hedging: if a request takes longer than usual, the application starts a second attempt, uses the first answer, and
/// cancels the other attempt. A `netlib_hedge` holds the policy and the latencies of each key. **Thread-safe**. Make
/// one for all requests of a process. After fork(2), the parent process and the child process count separately.
///
/// `netlib_hedge_start` makes a plan for each request. netlib sends nothing and reads no clock: the application reports
/// events and their times to the plan, and takes the next step that the plan stores. In an event loop, a hedged GET is:
///
///     status = netlib_hedge_start(hedge, "https://api.example:443", NETLIB_NTS, "GET", &plan, &err);
///     double start = now();
///     if (status == NETLIB_OK) send_attempt(1); // the first attempt is never delayed
///     while (status == NETLIB_OK) {
///         enum netlib_hedge_action action = NETLIB_HEDGE_ACTION_WAIT;
///         int attempt = 0; // wait_for_answer stores the number of the attempt; 0 for the timer
///         enum netlib_hedge_event event = wait_for_answer(start + netlib_hedge_plan_timer(plan), &attempt);
///         status = netlib_hedge_plan_step(plan, event, attempt, now() - start, &action, &err);
///         if (action == NETLIB_HEDGE_ACTION_START) send_attempt(netlib_hedge_plan_attempts(plan));
///         if (action == NETLIB_HEDGE_ACTION_CANCEL_OTHERS) cancel_all_but(attempt);
///         if (action > NETLIB_HEDGE_ACTION_START) break; // the answer of `attempt` is the result
///     }
///     netlib_hedge_plan_free(plan);
///
/// An application that gives up earlier cancels the running attempts and frees the plan.
pub struct netlib_hedge {
    _private: [u8; 0],
}

impl Handle for netlib_hedge {
    type Value = Hedge;
    type Ownership = Shared;
}

/// Makes a `netlib_hedge`.
///
/// @param options the settings, which can be used for several calls. May be NULL: the default settings.
/// @return `NETLIB_INVALID_ARGUMENT` if a setter of the options has recorded an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_hedge_new(
    options: *const netlib_hedge_options,
    hedge: *mut *mut netlib_hedge,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let hedge = outs!(hedge);
        hedge.give(Arc::new(Hedge::new(options::get(options)?)));
        Ok(())
    })
}

/// Returns another reference to the same `netlib_hedge`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_hedge_clone(hedge: *const netlib_hedge) -> *mut netlib_hedge {
    handle::clone(hedge)
}

/// Releases a `netlib_hedge`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_hedge_free(hedge: *mut netlib_hedge) {
    guard::nothing(|| handle::free(hedge));
}

/// Returns the delay in seconds between two attempts of a request to `key` that starts now; `NETLIB_TIMEOUT_NONE` if
/// there are not enough latencies, and for NULL. The call does not count as a use of the key.
///
/// @param key see `netlib_hedge_start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_hedge_delay(hedge: *const netlib_hedge, key: *const c_char, len: usize) -> f64 {
    guard::value(f64::INFINITY, || Ok(arg!(hedge).delay(arg_bytes!(key, len))))
}

/// The plan of one hedged request. **One call at a time**. The plan numbers the attempts from 1, and records which
/// attempts are running. All times are seconds since the start of the first attempt.
pub struct netlib_hedge_plan {
    _private: [u8; 0],
}

impl Handle for netlib_hedge_plan {
    type Value = Plan;
    type Ownership = Unique;
}

/// Makes the plan of a request. Send the first attempt at once: its number is 1, and its start is the time 0 of the
/// plan.
///
/// If the method is not one of the allowed methods (`netlib_hedge_options_set_allowed_methods`), the plan starts no
/// further attempt, not even after a failure. The latency of such a request is not recorded, because such requests
/// often take longer than others.
///
/// @param key the bytes of a key, at most 1,024, for example an origin or a tenant. Each key has its own latencies.
/// @param method the method of the request.
/// @return `NETLIB_INVALID_ARGUMENT` if `key` is too long or the method is not a token.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_hedge_start(
    hedge: *const netlib_hedge,
    key: *const c_char,
    len: usize,
    method: *const c_char,
    plan: *mut *mut netlib_hedge_plan,
    err: *mut *mut netlib_error,
) -> netlib_status {
    nonblocking::status(err, || {
        let plan = outs!(plan);
        let hedge = arg_shared!(hedge);
        plan.give(Box::new(hedge.start(arg_bytes!(key, len), arg_cstr!(method))?));
        Ok(())
    })
}

/// Releases a plan. If the request has not ended, its attempts count as cancelled.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_hedge_plan_free(plan: *mut netlib_hedge_plan) {
    nonblocking::nothing(|| handle::free(plan));
}

/// Returns the time at which `NETLIB_HEDGE_EVENT_TIMER` is due, in seconds since the start. Every step may change the
/// time. Returns `NETLIB_TIMEOUT_NONE` while no timer is set, and for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_hedge_plan_timer(plan: *const netlib_hedge_plan) -> f64 {
    read(plan, f64::INFINITY, Plan::timer)
}

/// Returns the number of attempts that were started, the first one included. This number is also the number of the
/// attempt that was started last.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_hedge_plan_attempts(plan: *const netlib_hedge_plan) -> i32 {
    read(plan, 0, Plan::attempts)
}

/// Returns the error with which the budget denied a further attempt: `NETLIB_RETRY_BUDGET_EMPTY`;
/// `NETLIB_STORE_UNAVAILABLE` if the budget's store cannot be used and its policy is `NETLIB_UNAVAILABLE_CLOSED`; or
/// `NETLIB_CALLBACK_FAILED` if a callback of the budget or of its store failed. NULL if the budget has denied no
/// attempt.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_hedge_plan_denied(plan: *const netlib_hedge_plan) -> *const netlib_error {
    read(plan, std::ptr::null(), |plan| handle::lend(plan.denied()))
}

/// Reports an event, and stores the next step. The rules are those of gRPC's proposal A6, "Hedging Policy".
///
/// The next attempt starts when the timer is due, and at once after `NETLIB_HEDGE_EVENT_FAILURE`, unless a pushback has
/// asked to wait. The timer then starts again, with the delay that was computed when the plan was made. If no attempt
/// is running and no further one may start, the request has failed.
///
/// After the request has ended, the call changes nothing and stores `NETLIB_HEDGE_ACTION_DONE` or
/// `NETLIB_HEDGE_ACTION_FAILED`. This happens, for example, if a cancelled attempt succeeds before its cancellation
/// takes effect.
///
/// @param event the event.
/// @param attempt the number of the event's attempt; ignored for `NETLIB_HEDGE_EVENT_TIMER`.
/// @param seconds the time of the event since the start, 0 or more, finite. A time before that of an earlier step
///        counts as the time of the earlier step.
/// @param action out: the next step.
/// @return `NETLIB_INVALID_ARGUMENT` if the attempt was never started; if the attempt has already failed, unless the
///         request has ended; for a negative or infinite time or NaN; and if `event` is no event. The plan is then
///         unchanged.
/// @blocks never, except that the call takes as long as the swap callback of a store: at most the timeout of the store,
///        if the callback obeys it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_hedge_plan_step(
    plan: *mut netlib_hedge_plan,
    event: enum_netlib_hedge_event,
    attempt: i32,
    seconds: f64,
    action: *mut enum_netlib_hedge_action,
    err: *mut *mut netlib_error,
) -> netlib_status {
    nonblocking::status(err, || {
        let action = outs!(action);
        let event = arg_enum!(event, netlib_hedge_event, Event::from_code);
        action.set(arg_mut!(plan).step(event, attempt, seconds)? as i32);
        Ok(())
    })
}

/// Reports a failed attempt whose response has a pushback, and stores the next step. A pushback is the server's request
/// to wait before the next attempt, or to start no further attempt, for example in a Retry-After header or gRPC's
/// grpc-retry-pushback-ms. The rules are those of gRPC's proposal A6, "Pushback". Apart from the pushback, the call
/// does what `netlib_hedge_plan_step` does for `NETLIB_HEDGE_EVENT_FAILURE`.
///
/// @param attempt the number of the attempt that has failed.
/// @param wait the wait in seconds before the next attempt starts, at most 1,000,000,000. Failures of other attempts do
///        not shorten the wait. A negative number, at least -1,000,000,000: the plan starts no further attempt.
/// @param seconds the time of the failure since the start, as in `netlib_hedge_plan_step`.
/// @param action out: the next step.
/// @return `NETLIB_INVALID_ARGUMENT` for a `wait` outside of its range, and in the cases of `netlib_hedge_plan_step`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_hedge_plan_pushback(
    plan: *mut netlib_hedge_plan,
    attempt: i32,
    wait: f64,
    seconds: f64,
    action: *mut enum_netlib_hedge_action,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let action = outs!(action);
        action.set(arg_mut!(plan).push_back(attempt, wait, seconds)? as i32);
        Ok(())
    })
}
