//! Retry budgets.

use std::ffi::{c_char, c_void};
use std::sync::Arc;

use crate::ffi::api::basics::{netlib_ctx_free_fn, netlib_error, netlib_status};
use crate::ffi::api::overload::store::netlib_store;
use crate::ffi::api::retry::decision::netlib_decision;
use crate::ffi::api::retry::netlib_retry;
use crate::ffi::api::retry::options::netlib_retry_options;
use crate::ffi::api::timeout::netlib_clock_fn;
use crate::ffi::args::{arg, arg_bytes, arg_cstr_opt, arg_enum, arg_kept_alive, arg_shared_opt};
use crate::ffi::enums::{
    enum_netlib_budget_kind, enum_netlib_budget_preset, enum_netlib_report, enum_netlib_unavailable,
};
use crate::ffi::guard::nonblocking;
use crate::ffi::out::outs;
use crate::ffi::strings::{lend_terminated, lend_text, read};
use crate::ffi::{Handle, Options, Shared, Unique, callback, guard, handle, options};
use crate::overload::Report;
use crate::overload::budget::{Budget, BudgetOptions, Kind, Preset};
use crate::overload::store::UnavailablePolicy;
use crate::retry::AttachedBudget;

/// Retry budgets of well-known libraries. `netlib_retry_budget_options_set_preset` selects one.
#[repr(C)]
pub enum netlib_budget_preset {
    /// AWS's SDKs since 2026 ("standard" mode, version 2.1; source: smithy-rs):
    /// `netlib_retry_budget_options_set_tokens` with 500, 14, 5 and 1. A full bucket allows 35 transient retries, and
    /// 14 successes pay for one more retry.
    NETLIB_BUDGET_AWS_2026 = 0,
    /// AWS's SDKs since 2020 ("standard" mode, version 2.0; source: aws-c-io): `netlib_retry_budget_options_set_tokens`
    /// with 500, 10, 5 and 1.
    NETLIB_BUDGET_AWS_2020 = 1,
    /// gRPC (source: proposal A6, "Throttling Retry Attempts and Hedged RPCs", the example):
    /// `netlib_retry_budget_options_set_failure_tokens` with 10, 0.1 and 0.5.
    NETLIB_BUDGET_GRPC = 2,
    /// Finagle, Linkerd and tower (source: Finagle's RetryBudget): `netlib_retry_budget_options_set_window` with 0.2,
    /// 10 and 10.
    NETLIB_BUDGET_FINAGLE = 3,
    /// Envoy (source: the defaults of RetryBudget in CircuitBreakers): `netlib_retry_budget_options_set_in_flight` with
    /// 0.2 and 3.
    NETLIB_BUDGET_ENVOY = 4,
}

/// Reasons for sending a request: the argument `kind` of `netlib_retry_budget_ask`.
#[repr(C)]
pub enum netlib_budget_kind {
    /// A first attempt. A budget allows every first attempt.
    NETLIB_BUDGET_REQUEST = 0,
    /// A retry after a failure that is expected to pass, such as a broken connection, a timeout or the status 503.
    NETLIB_BUDGET_TRANSIENT = 1,
    /// A retry after the server asked the client to slow down, for example with the status 429.
    NETLIB_BUDGET_THROTTLING = 2,
    /// A hedge: another copy of a request that has no answer yet. A budget treats a hedge as a retry of the kind
    /// `NETLIB_BUDGET_TRANSIENT`.
    NETLIB_BUDGET_HEDGE = 3,
}

/// The default time in seconds after which an unreported lease ends. A lease is the permission to send one request: see
/// `netlib_retry_budget_ask`.
pub const NETLIB_RETRY_BUDGET_DEFAULT_LEASE_TIME: f64 = 300.0;
/// The default maximum number of keys of a budget.
pub const NETLIB_RETRY_BUDGET_DEFAULT_MAX_KEYS: i32 = 1024;

/// Settings from which `netlib_retry_budget_new` makes a retry budget. **One call at a time**.
pub struct netlib_retry_budget_options {
    _private: [u8; 0],
}

impl Handle for netlib_retry_budget_options {
    type Value = Options<BudgetOptions>;
    type Ownership = Unique;
}

/// A retry budget, which bounds the retries of all requests together, so that retries do not multiply the load on a
/// failing server. **Thread-safe**.
///
/// A budget keeps a separate state for each key, which is usually an origin or a tenant. A key is any sequence of at
/// most 1,024 bytes; NULL with the length 0 is also a key, for applications with one server. Keys appear in error
/// messages, so do not use secrets as keys.
///
/// If a budget has its maximum number of keys, a new key replaces one of the 16 least recently used keys. The replaced
/// key is the one with the most tokens or retries left (`netlib_retry_budget_left`); of several such keys, the least
/// recently used one. A replaced key that is used again starts with a full budget. Keys with fewer tokens are kept
/// because otherwise, a server could refill its own budget by redirecting clients to many other origins.
///
/// After fork(2), parent and child have separate copies of the state, and count separately, unless the budget has a
/// store.
pub struct netlib_retry_budget {
    _private: [u8; 0],
}

impl Handle for netlib_retry_budget {
    type Value = Budget;
    type Ownership = Shared;
}

/// Makes options that hold the default settings; the comment of each setter states its default.
///
/// @return Never NULL.
#[unsafe(no_mangle)]
pub extern "C" fn netlib_retry_budget_options_new() -> *mut netlib_retry_budget_options {
    guard::value(std::ptr::null_mut(), || Ok(handle::give(Box::new(Options::new(BudgetOptions::default())))))
}

/// Returns an independent copy of the options.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_budget_options_clone(
    options: *const netlib_retry_budget_options,
) -> *mut netlib_retry_budget_options {
    options::clone(options)
}

/// Checks that no setter has recorded an error, as `netlib_retry_budget_new` does.
///
/// @return `NETLIB_INVALID_ARGUMENT` if a setter refused a value.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_budget_options_check(
    options: *const netlib_retry_budget_options,
    err: *mut *mut netlib_error,
) -> netlib_status {
    options::check(options, err)
}

/// Releases options.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_budget_options_free(options: *mut netlib_retry_budget_options) {
    guard::nothing(|| handle::free(options));
}

/// Selects the rule of another library. The call replaces the rule that an earlier call selected: of this function,
/// `netlib_retry_budget_options_set_tokens`, `netlib_retry_budget_options_set_failure_tokens`,
/// `netlib_retry_budget_options_set_window` or `netlib_retry_budget_options_set_in_flight`. Default:
/// `NETLIB_BUDGET_AWS_2026`.
///
/// The presets refill the budget in different ways. With `NETLIB_BUDGET_AWS_2026`, `NETLIB_BUDGET_AWS_2020` and
/// `NETLIB_BUDGET_GRPC`, only successes refill it. If a few threads repeat their requests until they succeed, they can
/// use up all retries permanently. For such an application, use `NETLIB_BUDGET_FINAGLE`, which refills with time, or
/// `NETLIB_BUDGET_ENVOY`, which refills when a retry ends.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_budget_options_set_preset(
    options: *mut netlib_retry_budget_options,
    preset: enum_netlib_budget_preset,
) {
    options::set(options, "netlib_retry_budget_options_set_preset", |o| {
        o.set_preset(arg_enum!(preset, netlib_budget_preset, Preset::from_code))
    });
}

/// Gives each key a bucket of tokens, which is full at first. A retry takes its cost from the bucket, and is denied if
/// the bucket has fewer tokens. A retry that succeeds returns its cost; a first attempt that succeeds adds `gain`; a
/// failure changes nothing. The call replaces the rule of an earlier call, see
/// `netlib_retry_budget_options_set_preset`. Default: 500, 14, 5 and 1.
///
/// Each number is 0.001 to 4,000,000 and is rounded to thousandths.
///
/// @param capacity the number of tokens of a full bucket.
/// @param transient_cost the cost of a retry of the kind `NETLIB_BUDGET_TRANSIENT` and of a hedge, at most `capacity`.
/// @param throttling_cost the cost of a retry of the kind `NETLIB_BUDGET_THROTTLING`, at most `capacity`.
/// @param gain the tokens that a first attempt adds when it succeeds. A bucket never has more tokens than `capacity`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_budget_options_set_tokens(
    options: *mut netlib_retry_budget_options,
    capacity: f64,
    transient_cost: f64,
    throttling_cost: f64,
    gain: f64,
) {
    options::set(options, "netlib_retry_budget_options_set_tokens", |o| {
        o.set_tokens(capacity, transient_cost, throttling_cost, gain)
    });
}

/// Gives each key a bucket of tokens, which is full at first. The outcomes of requests change the bucket: each failure
/// (`NETLIB_REPORT_FAILURE` or `NETLIB_REPORT_THROTTLED`) takes one token, even if the failed request is not retried,
/// and each success adds `gain`. A retry is denied unless the bucket has more than `floor * capacity` tokens; the retry
/// itself takes no token. The call replaces the rule of an earlier call, see `netlib_retry_budget_options_set_preset`.
/// Default: not set; the rule is that of `netlib_retry_budget_options_set_tokens`.
///
/// @param capacity the number of tokens of a full bucket, 0.001 to 4,000,000, rounded to thousandths.
/// @param gain the tokens that a success adds, 0.001 to 4,000,000, rounded to thousandths. A bucket never has more
///        tokens than `capacity`.
/// @param floor the fraction of `capacity` above which retries are allowed, 0 or more and less than 1. The product
///        `floor * capacity` is rounded to thousandths, but stays below `capacity`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_budget_options_set_failure_tokens(
    options: *mut netlib_retry_budget_options,
    capacity: f64,
    gain: f64,
    floor: f64,
) {
    options::set(options, "netlib_retry_budget_options_set_failure_tokens", |o| {
        o.set_failure_tokens(capacity, gain, floor)
    });
}

/// Allows retries in proportion to the first attempts of the last seconds. Within a window of `seconds`, the number of
/// retries is at most `ratio` times the number of first attempts, plus `least_per_second * seconds`. A first attempt
/// counts when `netlib_retry_budget_ask` is called for it, and stops counting between `seconds` and `1.1 * seconds`
/// later. The call replaces the rule of an earlier call, see `netlib_retry_budget_options_set_preset`. Default: not
/// set; the rule is that of `netlib_retry_budget_options_set_tokens`.
///
/// @param ratio the number of retries for each first attempt: 0, or 0.0001 to 1,000.
/// @param least_per_second the number of retries per second that are allowed in addition, 0 to 1,000,000. With 0, a
///        client that sends few requests gets no retries, unless `ratio` is large. `ratio` and `least_per_second` must
///        not both be 0.
/// @param seconds the length of the window, 1 to 60. The window moves in steps of a tenth of its length.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_budget_options_set_window(
    options: *mut netlib_retry_budget_options,
    ratio: f64,
    least_per_second: f64,
    seconds: f64,
) {
    options::set(options, "netlib_retry_budget_options_set_window", |o| {
        o.set_window(ratio, least_per_second, seconds)
    });
}

/// Bounds the retries in flight: at any time, at most `least` retries, or `ratio` times all requests in flight if that
/// is more. A request is in flight from the call of `netlib_retry_budget_ask` to the report of its outcome, so a retry
/// that waits for its backoff is in flight. The budget knows only the first attempts for which
/// `netlib_retry_budget_ask` was called. The call replaces the rule of an earlier call, see
/// `netlib_retry_budget_options_set_preset`. Default: not set; the rule is that of
/// `netlib_retry_budget_options_set_tokens`.
///
/// @param ratio the part of the requests in flight that may be retries, 0 to 1. The number of retries is rounded down.
///        A retry that asks is not in flight yet.
/// @param least the number of retries in flight that are always allowed, 0 to 1,000,000. With 0, a client with few
///        requests in flight gets no retries. `ratio` and `least` must not both be 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_budget_options_set_in_flight(
    options: *mut netlib_retry_budget_options,
    ratio: f64,
    least: i32,
) {
    options::set(options, "netlib_retry_budget_options_set_in_flight", |o| o.set_in_flight(ratio, least));
}

/// Sets the time after which an unreported lease ends. The cost of its retry is then not returned, and its request no
/// longer counts as in flight. Choose a time that is longer than the wait before a retry plus the retry itself. Each
/// call for the budget ends at most 64 leases, the oldest first. Default: `NETLIB_RETRY_BUDGET_DEFAULT_LEASE_TIME`.
///
/// @param seconds 0.001 to 1,000,000,000.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_budget_options_set_lease_time(
    options: *mut netlib_retry_budget_options,
    seconds: f64,
) {
    options::set(options, "netlib_retry_budget_options_set_lease_time", |o| o.set_lease_time(seconds));
}

/// Sets the maximum number of keys. Default: `NETLIB_RETRY_BUDGET_DEFAULT_MAX_KEYS`.
///
/// @param max_keys 1 to 1,048,576.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_budget_options_set_max_keys(
    options: *mut netlib_retry_budget_options,
    max_keys: i32,
) {
    options::set(options, "netlib_retry_budget_options_set_max_keys", |o| o.set_max_keys(max_keys));
}

/// Sets a store, in which processes share the buckets of tokens. All processes must use the same rule. Only retries and
/// hedges access the store; first attempts never do. A process collects the tokens that its outcomes add and take, and
/// reports them to the store with its next retry. Until then, other processes do not see these changes. One report adds
/// at most twice the cost of a transient retry, or 2 tokens with `netlib_retry_budget_options_set_failure_tokens`;
/// further tokens are lost. The maximum also holds for the first report after the store was unavailable. Without this
/// maximum, the tokens that many processes collected before an outage would refill the bucket again and again during
/// the outage.
///
/// Only budgets with tokens can have a store: those with `netlib_retry_budget_options_set_tokens`,
/// `netlib_retry_budget_options_set_failure_tokens` or a preset of such a rule. A store may forget a bucket that was
/// not used for an hour; the bucket is then full. If the store is on another host, `netlib_retry_decide` and
/// `netlib_retry_budget_ask` wait for one or two round trips before a retry.
///
/// @param store the store, to which the options and the budget keep references. May be NULL: no store, which is the
///        default.
/// @param unavailable the policy for the times when the store is unavailable. With `NETLIB_UNAVAILABLE_LOCAL`, the
///        process continues with the number of tokens that it read last. With `NETLIB_UNAVAILABLE_LOCAL` and
///        `NETLIB_UNAVAILABLE_OPEN`, a retry takes its cost from this number, and the process reports it later.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_budget_options_set_store(
    options: *mut netlib_retry_budget_options,
    store: *const netlib_store,
    unavailable: enum_netlib_unavailable,
) {
    guard::nothing(|| {
        let mut replaced = None;
        options::set(options, "netlib_retry_budget_options_set_store", |o: &mut BudgetOptions| {
            let policy = arg_enum!(unavailable, netlib_unavailable, UnavailablePolicy::from_code);
            replaced = o.set_store(arg_shared_opt!(store), policy);
            Ok(())
        });
        // The store's `ctx_free` may use the options, so the store is released after the options are no longer in use.
        drop(replaced);
    });
}

/// Replaces the clock of the budget, for tests and simulations. If a reading is below the latest one by at most 1
/// second, the time stays at the latest reading: two threads may pass their readings in the wrong order. If a reading
/// is lower than that, the clock was set back, and the time continues from the latest reading. A reading above
/// 9,000,000,000 or below -9,000,000,000 seconds is refused. The callback may run on several threads at the same time.
/// Default: the system's monotonic clock, with a resolution of a few milliseconds.
///
/// @param clock the callback. May be NULL: the system's monotonic clock.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_budget_options_set_clock(
    options: *mut netlib_retry_budget_options,
    clock: netlib_clock_fn,
    ctx: *mut c_void,
    ctx_free: netlib_ctx_free_fn,
) {
    options::set_callback(options, "netlib_retry_budget_options_set_clock", (ctx, ctx_free), |o, ctx| {
        o.set_clock(callback::number(clock, ctx, "clock"))
    });
}

/// Makes a retry budget.
///
/// @param options the settings, which can be used for several calls. May be NULL: the default settings.
/// @return `NETLIB_INVALID_ARGUMENT` if a setter of the options has recorded an error; `NETLIB_UNSUPPORTED` if the
///         options have a store and a rule without tokens.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_budget_new(
    options: *const netlib_retry_budget_options,
    budget: *mut *mut netlib_retry_budget,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let budget = outs!(budget);
        budget.give(Arc::new(Budget::new(options::get(options)?)?));
        Ok(())
    })
}

/// Returns another reference to the same budget.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_budget_clone(budget: *const netlib_retry_budget) -> *mut netlib_retry_budget {
    handle::clone(budget)
}

/// Releases a budget.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_budget_free(budget: *mut netlib_retry_budget) {
    guard::nothing(|| handle::free(budget));
}

/// Asks whether a request may be sent now. If so, the call takes the cost of the request from the budget, and stores a
/// lease, which is the permission for this request. Before a retry, call this function before the wait, so that waiting
/// retries count. Pass the lease to `netlib_retry_budget_report` when the outcome of the request is known. If the
/// application uses `netlib_retry_decide`, it needs this function only for first attempts with
/// `netlib_retry_budget_options_set_in_flight`.
///
/// A budget has at most 1,048,576 leases without a report; a further lease ends the oldest one.
///
/// @param key `len` bytes, at most 1,024.
/// @param kind the reason for which the request is sent. `NETLIB_BUDGET_REQUEST` is always allowed.
/// @param lease out: the number of the lease, never 0; 0 on failure.
/// @return `NETLIB_RETRY_BUDGET_EMPTY` if the request is not allowed; `NETLIB_INVALID_ARGUMENT` for a key of more than
///         1,024 bytes; `NETLIB_STORE_UNAVAILABLE` if the budget has a store whose policy is
///         `NETLIB_UNAVAILABLE_CLOSED`; `NETLIB_CALLBACK_FAILED`.
/// @blocks never, except that the call takes as long as the swap callback of a store: at most the timeout of the store,
///        if the callback obeys it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_budget_ask(
    budget: *const netlib_retry_budget,
    key: *const c_char,
    len: usize,
    kind: enum_netlib_budget_kind,
    lease: *mut u64,
    err: *mut *mut netlib_error,
) -> netlib_status {
    nonblocking::status(err, || {
        let lease = outs!(lease);
        let budget = arg_kept_alive!(budget, Budget::may_call_back);
        let kind = arg_enum!(kind, netlib_budget_kind, Kind::from_code);
        lease.set(budget.ask(arg_bytes!(key, len), kind)?);
        Ok(())
    })
}

/// Reports the outcome of a request, which ends its lease. The call changes nothing if the lease has already ended,
/// because it was reported or is too old, or if the number is no lease. If the clock callback fails, the report counts
/// at the time of the last call that read the clock.
///
/// @param lease the number that `netlib_retry_budget_ask` stored.
/// @param outcome the outcome; a number that is no `netlib_report` counts as `NETLIB_REPORT_NONE`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_budget_report(
    budget: *const netlib_retry_budget,
    lease: u64,
    outcome: enum_netlib_report,
) {
    nonblocking::value((), || {
        let budget = arg_kept_alive!(budget, Budget::may_call_back);
        budget.report(lease, Report::from_code(outcome).unwrap_or(Report::None));
        Ok(())
    });
}

/// Returns the number of tokens that a key has; with `netlib_retry_budget_options_set_window` and
/// `netlib_retry_budget_options_set_in_flight`, the number of retries that the budget allows at present. A key that was
/// never used has a full budget. The call does not make the key the most recently used one, and calls no clock
/// callback: with a clock callback, it uses the time of the last call of `netlib_retry_budget_ask` or
/// `netlib_retry_budget_report`.
///
/// @param key `len` bytes, at most 1,024.
/// @return the number of tokens or retries, 0 or more; -1.0 for NULL, and if the key has more than 1,024 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_budget_left(
    budget: *const netlib_retry_budget,
    key: *const c_char,
    len: usize,
) -> f64 {
    guard::value(-1.0, || arg!(budget).left(arg_bytes!(key, len)))
}

/// Attaches a retry budget to the Retry. `netlib_retry_decide` then reports the outcome of each request to the budget,
/// and asks the budget as the last step before it grants a retry. A retry that the counters, the method, the delay or
/// the limit do not allow costs nothing. A redirect is not a retry: `netlib_retry_decide` does not ask the budget
/// before a redirect. Default: no budget.
///
/// An outcome is throttled if the server asked the client to slow down (see `netlib_retry_options_set_throttling`). Any
/// other outcome is a success if the response is a redirect, or has a status below 500 and is not retried. It is a
/// failure if the response is retried, or if the request failed. `netlib_retry_options_set_allowed_methods` has no
/// effect on this. A response with a status of 500 or more that is not retried, an error that is never retried, such as
/// a cancellation, and `NETLIB_STALE_CONNECTION`, because servers close idle connections without being overloaded,
/// count as `NETLIB_REPORT_NONE`. A redirect that answers a retry also counts as
/// `NETLIB_REPORT_NONE`, so it does not return the cost of the retry: otherwise, a server that answers retries with
/// redirects to pages that fail would keep its budget full. After a throttled outcome, the retry is of the kind
/// `NETLIB_BUDGET_THROTTLING`, otherwise of the kind `NETLIB_BUDGET_TRANSIENT`.
///
/// Call `netlib_retry_decide` once for each request, also after a success. A second call for the same outcome asks the
/// budget again, and reports the outcome again if the request was a first attempt. The Retry for the repeated request
/// holds the lease; if this Retry, its clones and its decision are freed before `netlib_retry_decide` was called with
/// it, the lease ends without a known outcome.
///
/// A first attempt counts when `netlib_retry_decide` is called for it. With
/// `netlib_retry_budget_options_set_in_flight`, also call `netlib_retry_budget_ask` and `netlib_retry_budget_report`
/// for first attempts, because `netlib_retry_decide` does not know when they begin; without these calls, the budget
/// allows `least` retries at a time.
///
/// @param budget the budget, which several Retrys can share. May be NULL: no budget.
/// @param key the key of every request, at most 1,024 bytes. May be NULL: the key is the origin of the request's URL,
///        in lower case and with the port, such as "https://example.com:443".
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_options_set_budget(
    options: *mut netlib_retry_options,
    budget: *const netlib_retry_budget,
    key: *const c_char,
) {
    options::set(options, "netlib_retry_options_set_budget", |o| {
        o.set_budget(arg_shared_opt!(budget), arg_cstr_opt!(key))
    });
}

/// Returns the retry budget that is attached to a Retry; NULL if there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_attached_budget(retry: *const netlib_retry) -> *const netlib_retry_budget {
    read(retry, std::ptr::null(), |retry| handle::lend(retry.attached_budget().map(AttachedBudget::budget)))
}

/// Returns the key with which a Retry asks its retry budget; NULL if the key is the origin of the request's URL, and if
/// no budget is attached.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_attached_budget_key(
    retry: *const netlib_retry,
    len: *mut usize,
) -> *const c_char {
    lend_text(retry, len, |retry| retry.attached_budget().and_then(AttachedBudget::key))
}

/// Returns the error of the retry budget if the budget denied a retry and the decision is therefore to return the
/// response; otherwise NULL. The error's status is `NETLIB_RETRY_BUDGET_EMPTY` or `NETLIB_STORE_UNAVAILABLE`. For
/// `NETLIB_RETRY_BUDGET_EMPTY`, `netlib_error_budget_key` and `netlib_error_budget_left` return the details. If
/// `netlib_retry_decide` fails with `NETLIB_MAX_RETRY` because a retry was denied, this error is the last cause.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_decision_denied(decision: *const netlib_decision) -> *const netlib_error {
    read(decision, std::ptr::null(), |decision| handle::lend(decision.denied()))
}

/// Returns the key for which a retry budget denied a retry; NULL for every other error. A key may contain NUL bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_error_budget_key(error: *const netlib_error, len: *mut usize) -> *const c_char {
    lend_terminated(error, len, |error| error.denied_budget().map(|(key, _)| key))
}

/// Returns the number of tokens that the retry budget had when it denied the retry, as `netlib_retry_budget_left`
/// returns it; -1.0 for NULL and for every other error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_error_budget_left(error: *const netlib_error) -> f64 {
    read(error, -1.0, |error| error.denied_budget().map_or(-1.0, |(_, left)| left))
}
