//! Delays: jitter and Retry-After.

use crate::error::Error;
use crate::ffi::api::retry::netlib_retry;
use crate::ffi::api::retry::options::netlib_retry_options;
use crate::ffi::args::{arg_bool, arg_i32s};
use crate::ffi::enums::{enum_netlib_jitter_kind, enum_netlib_long_retry_after};
use crate::ffi::options;
use crate::ffi::strings::{read, read_bool};
use crate::retry::{JitterKind, LongRetryAfter, Retry, RetryAfterStatuses};
use crate::status::Status;

/// Jitter kinds: formulas of the backoff. `netlib_retry_options_set_jitter_kind` sets the kind.
///
/// Jitter makes the waits of clients differ, so that clients that failed at the same time do not retry at the same
/// time. In the formulas, `delay` is `backoff_factor * 2^(n - 1)`, `n` is the number of failures in a row, and `random`
/// is a random number, 0 or more and less than 1. FULL, EQUAL and DECORRELATED also delay the first retry. Source: AWS
/// Architecture Blog, "Exponential Backoff And Jitter".
#[repr(C)]
pub enum netlib_jitter_kind {
    /// The formula of urllib3: `min(backoff_max, delay + random * backoff_jitter)`, and 0 before the first retry.
    NETLIB_JITTER_ADDITIVE = 0,
    /// `random * min(backoff_max, delay)`: of all jitter kinds, FULL puts the least load on the server.
    NETLIB_JITTER_FULL = 1,
    /// `half + random * half`, where `half` is `min(backoff_max, delay) / 2`: the backoff is never less than `half`.
    NETLIB_JITTER_EQUAL = 2,
    /// `min(backoff_max, backoff_factor + random * (3 * previous - backoff_factor))`. `previous` is the backoff before
    /// the previous request, or `backoff_factor` after the first failure in a row. `netlib_retry_increment` and
    /// `netlib_retry_decide` draw the random number and store it in the Retry that they make, so that all functions
    /// return the same delay for one Retry, and the next Retry knows the previous delay. If the Retry contains no
    /// random number, for example because `netlib_retry_options_add_history` added the last entry of the history, each
    /// call draws a number, with `backoff_factor` as `previous`.
    NETLIB_JITTER_DECORRELATED = 3,
    /// `min(backoff_max, delay)`, and 0 before the first retry, without randomness. `backoff_jitter` has no effect.
    NETLIB_JITTER_NONE = 4,
}

/// Reactions to a Retry-After header that asks for more than `retry_after_max`.
/// `netlib_retry_options_set_long_retry_after` sets the reaction.
#[repr(C)]
pub enum netlib_long_retry_after {
    /// The wait is `retry_after_max`, so the request is sent again earlier than the server asks for.
    NETLIB_LONG_RETRY_AFTER_CLAMP = 0,
    /// The retries end, and the request is not sent again.
    NETLIB_LONG_RETRY_AFTER_STOP = 1,
}

/// Sets the jitter kind, the formula of the backoff. Default: `NETLIB_JITTER_ADDITIVE`. Recommended:
/// `NETLIB_JITTER_FULL`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_options_set_jitter_kind(
    options: *mut netlib_retry_options,
    kind: enum_netlib_jitter_kind,
) {
    options::set(options, "netlib_retry_options_set_jitter_kind", |o| {
        o.set_jitter_kind(JitterKind::from_code(kind).ok_or_else(|| {
            Error::new(Status::InvalidArgument, format!("kind must be a netlib_jitter_kind; it is {kind}"))
        })?);
        Ok(())
    });
}

/// Sets the statuses whose Retry-After header is obeyed. A response with one of these statuses and a Retry-After header
/// is retried even if its status is not in `status_forcelist` (`netlib_retry_is_retry` states the other conditions).
/// Default: `NETLIB_RETRY_AFTER_STATUS_CODES`. See also `netlib_retry_options_obey_any_retry_after`.
///
/// The list of statuses does not apply to redirects: like urllib3, `netlib_retry_decide` obeys the Retry-After of every
/// redirect.
///
/// @param codes `count` status codes, 100 to 999.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_options_set_retry_after_statuses(
    options: *mut netlib_retry_options,
    codes: *const i32,
    count: usize,
) {
    options::set(options, "netlib_retry_options_set_retry_after_statuses", |o| {
        o.set_retry_after_statuses(arg_i32s!(codes, count))
    });
}

/// Makes the Retry obey the Retry-After header of every response that is retried because its status is in
/// `status_forcelist`. The call removes the list that `netlib_retry_options_set_retry_after_statuses` set: from then
/// on, a Retry-After header alone does not cause a retry. Recommended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_options_obey_any_retry_after(options: *mut netlib_retry_options) {
    options::set(options, "netlib_retry_options_obey_any_retry_after", |o| {
        o.obey_any_retry_after();
        Ok(())
    });
}

/// Sets the reaction to a Retry-After header that asks for more than `retry_after_max`. Default:
/// `NETLIB_LONG_RETRY_AFTER_CLAMP`. Recommended: `NETLIB_LONG_RETRY_AFTER_STOP`.
///
/// With STOP, `netlib_retry_decide` fails with `NETLIB_MAX_RETRY` or decides to return the response, depending on
/// `raise_on_status` (for a redirect, on `raise_on_redirect`). The cause of the `NETLIB_MAX_RETRY` error has the status
/// `NETLIB_RESPONSE_STATUS`, and its message names the wait that the server asked for and the maximum.
/// `netlib_error_retry` returns the Retry with the history; the counters of this Retry need not be exhausted. A
/// decision to return the response has the delay 0 with the reason `NETLIB_DELAY_RETRY_AFTER`;
/// `netlib_decision_delay_uncapped` returns the wait that the server asked for. `netlib_retry_delay`,
/// `netlib_retry_sleep` and `netlib_retry_sleep_for_retry` fail with `NETLIB_MAX_RETRY`. `netlib_retry_get_retry_after`
/// and `netlib_retry_parse_retry_after` store the wait that the server asked for, even if it exceeds the maximum.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_options_set_long_retry_after(
    options: *mut netlib_retry_options,
    over_max: enum_netlib_long_retry_after,
) {
    options::set(options, "netlib_retry_options_set_long_retry_after", |o| {
        o.set_retry_after_over_max(LongRetryAfter::from_code(over_max).ok_or_else(|| {
            Error::new(
                Status::InvalidArgument,
                format!("over_max must be a netlib_long_retry_after; it is {over_max}"),
            )
        })?);
        Ok(())
    });
}

/// Sets whether a Retry-After header that contains neither a number nor a date counts as absent, so that the backoff
/// applies. With 0, a call that needs the wait in such a header fails with `NETLIB_INVALID_HEADER`, as in urllib3.
/// Default: 0. Recommended: 1, because a malformed header does not mean that the next request would fail.
///
/// `netlib_retry_parse_retry_after` fails for a malformed value, whether the setting is 0 or 1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_options_set_ignore_malformed_retry_after(
    options: *mut netlib_retry_options,
    ignore: i32,
) {
    options::set(options, "netlib_retry_options_set_ignore_malformed_retry_after", |o| {
        o.set_ignore_malformed_retry_after(arg_bool!(ignore));
        Ok(())
    });
}

/// Returns the jitter kind, the formula of the backoff; `NETLIB_JITTER_ADDITIVE` for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_jitter_kind(retry: *const netlib_retry) -> enum_netlib_jitter_kind {
    read(retry, 0, |retry| retry.backoff().jitter_kind as i32)
}

/// Returns 1 if the setting is to obey the Retry-After header of every status in `status_forcelist`, else 0 (see
/// `netlib_retry_options_obey_any_retry_after`). If the result is 1, the list of statuses whose Retry-After is obeyed
/// is empty and not used.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_obeys_any_retry_after(retry: *const netlib_retry) -> i32 {
    read_bool(retry, false, |retry| matches!(retry.retry_after_statuses(), RetryAfterStatuses::Retried))
}

/// Returns the number of entries in the list of statuses whose Retry-After header is obeyed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_retry_after_status_count(retry: *const netlib_retry) -> usize {
    read(retry, 0, |retry| retry.retry_after_statuses().listed().len())
}

/// Returns a status whose Retry-After header is obeyed, from a sorted list; -1 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_retry_after_status_at(retry: *const netlib_retry, index: usize) -> i32 {
    read(retry, -1, |retry| retry.retry_after_statuses().listed().get(index).copied().unwrap_or(-1))
}

/// Returns the reaction to a Retry-After header that asks for more than `retry_after_max`;
/// `NETLIB_LONG_RETRY_AFTER_CLAMP` for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_long_retry_after(retry: *const netlib_retry) -> enum_netlib_long_retry_after {
    read(retry, 0, |retry| retry.retry_after_over_max() as i32)
}

/// Returns 1 if a Retry-After header that contains neither a number nor a date counts as absent, else 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_retry_ignores_malformed_retry_after(retry: *const netlib_retry) -> i32 {
    read_bool(retry, false, Retry::ignore_malformed_retry_after)
}
