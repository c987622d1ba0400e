//! Connect, read and total time limits.

use std::ffi::c_void;

use crate::ffi::api::basics::{netlib_ctx_free_fn, netlib_error, netlib_status};
use crate::ffi::args::{arg_exclusive, arg_mut};
use crate::ffi::callback_context::CallbackContext;
use crate::ffi::out::outs;
use crate::ffi::strings::read;
use crate::ffi::{Handle, Unique, callback, guard, handle};
use crate::timeout::{self, Timeout};

/// Three time limits, called connect, read and total, and a clock. The connect limit bounds each connection attempt,
/// the read limit bounds the wait of each read, and the total limit bounds connecting and all reads together, and on a
/// stream also the writes. The
/// application starts the clock when it begins to connect. **One call at a time**. Keep one timeout as your default and
/// clone it for each request: a clone has the same limits, and its clock is not running.
///
/// Each time limit is a number of seconds above 0, or `NETLIB_TIMEOUT_NONE` for no limit; the connect and read limits
/// may also be `NETLIB_TIMEOUT_DEFAULT`, the process default (`netlib_set_default_timeout`). The read limit bounds the
/// wait for the next bytes, not the time for a whole response: a server that sends a byte now and then never exceeds
/// the read limit. To bound the whole response, set a total limit or use a `netlib_limit`.
pub struct netlib_timeout {
    _private: [u8; 0],
}

impl Handle for netlib_timeout {
    type Value = Timeout;
    type Ownership = Unique;
}

/// Reads a clock that replaces the system's clock. If the callback fails, stores no finite number, or, for a
/// `netlib_timeout`, stores a time before the one at which the timeout's clock was started, the outer call fails with
/// `NETLIB_CALLBACK_FAILED`.
///
/// @param seconds out: the time since some fixed moment, in seconds, never less than at an earlier call. netlib presets
///        `seconds` to NaN, and the callback must store a value.
/// @return 0 on success; any other number if the clock failed. A callback that returns 0 without storing `seconds` has
///         also failed.
/// @called-by `netlib_timeout_start_connect`, `netlib_timeout_get_connect_duration`, `netlib_timeout_read_timeout`,
///       `netlib_stream_use_timeout`, `netlib_connect_options_use_timeout`, `netlib_retry_budget_ask`,
///       `netlib_retry_budget_report`, `netlib_retry_decide`, `netlib_attempts_next`, `netlib_attempts_decide`,
///       `netlib_breaker_ask`, `netlib_breaker_report`, `netlib_breaker_state`, `netlib_hedge_start`,
///       `netlib_hedge_plan_step`, `netlib_hedge_plan_pushback`, `netlib_hedge_plan_free`, `netlib_rate_take` and
///       `netlib_rate_report`.
pub type netlib_clock_fn = Option<unsafe extern "C" fn(ctx: *mut c_void, seconds: *mut f64) -> i32>;

/// Makes a timeout.
///
/// @param total seconds for connecting and reading together, or `NETLIB_TIMEOUT_NONE`. Each read may last until `total`
///        seconds have passed since the clock was started. If `connect` or `read` is also a number of seconds, the
///        shorter limit applies.
/// @param connect seconds for each connection attempt, `NETLIB_TIMEOUT_NONE` or `NETLIB_TIMEOUT_DEFAULT`.
/// @param read seconds that a read may wait for the next bytes, `NETLIB_TIMEOUT_NONE` or `NETLIB_TIMEOUT_DEFAULT`.
/// @return `NETLIB_INVALID_ARGUMENT` for 0, NaN or a negative number, except for `NETLIB_TIMEOUT_DEFAULT` as `connect`
///         or `read`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_timeout_new(
    total: f64,
    connect: f64,
    read: f64,
    timeout: *mut *mut netlib_timeout,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let timeout = outs!(timeout);
        timeout.give(Box::new(Timeout::new(total, connect, read)?));
        Ok(())
    })
}

/// Makes a timeout with the same limits and the same clock function as another timeout, and with a clock that is not
/// running. Make one clone for each request.
///
/// @return the clone.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_timeout_clone(timeout: *const netlib_timeout) -> *mut netlib_timeout {
    read(timeout, std::ptr::null_mut(), |timeout| handle::give(Box::new(timeout.unstarted())))
}

/// Releases a timeout.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_timeout_free(timeout: *mut netlib_timeout) {
    guard::nothing(|| handle::free(timeout));
}

/// Replaces the function that reads the clock, for tests and simulations. The default is the system's monotonic clock.
///
/// @param clock the clock function, which later clones of the timeout also use. May be NULL: the system's monotonic
///        clock.
/// @param ctx_free is called when the timeout and all its clones have been freed or have another clock function. If
///        this call fails, `ctx_free` is called before the call returns. May be NULL: `ctx` is not released, and must
///        stay usable as long as the timeout or a clone uses `clock`.
/// @return `NETLIB_TIMEOUT_STATE_ERROR` if the clock has been started.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_timeout_set_clock(
    timeout: *mut netlib_timeout,
    clock: netlib_clock_fn,
    ctx: *mut c_void,
    ctx_free: netlib_ctx_free_fn,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let ctx = CallbackContext::new(ctx, ctx_free);
        let clock = callback::number(clock, ctx.clone(), "clock");
        // The old clock and `ctx` are dropped after the borrow of the timeout ends, because the `ctx_free` of either
        // may use and free the timeout.
        let replaced = arg_mut!(timeout).set_clock(clock)?;
        drop(replaced);
        Ok(())
    })
}

/// Starts the clock. Call this function when you begin to connect.
///
/// @return `NETLIB_TIMEOUT_STATE_ERROR` if the clock is already running, in which case it keeps running;
///         `NETLIB_CALLBACK_FAILED` if the clock function failed, in which case the clock is not started.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_timeout_start_connect(
    timeout: *mut netlib_timeout,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || arg_mut!(timeout).start_connect())
}

/// Stores the time since `netlib_timeout_start_connect` started the clock.
///
/// @param seconds out: the time in seconds, 0 or more.
/// @return `NETLIB_TIMEOUT_STATE_ERROR` if the clock has not been started; `NETLIB_CALLBACK_FAILED`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_timeout_get_connect_duration(
    timeout: *const netlib_timeout,
    seconds: *mut f64,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let seconds = outs!(seconds);
        seconds.set(arg_exclusive!(timeout).connect_duration()?);
        Ok(())
    })
}

/// Returns the time limit for connecting, the shorter one of the connect and total limits: seconds above 0;
/// `NETLIB_TIMEOUT_NONE`; `NETLIB_TIMEOUT_DEFAULT` if the connect limit has that value and there is no total limit, and
/// for NULL. A connect limit of `NETLIB_TIMEOUT_DEFAULT` does not shorten a total limit. The result does not depend on
/// the clock. For netlib's own connect operations, call `netlib_connect_options_use_timeout` instead, which also
/// applies the total limit.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_timeout_connect_timeout(timeout: *const netlib_timeout) -> f64 {
    read(timeout, timeout::DEFAULT, Timeout::connect_timeout)
}

/// Stores the time limit for the next read: the read limit, or what is left of the total limit if that is shorter. For
/// a `netlib_stream`, call `netlib_stream_use_timeout` instead, which applies both limits to every read.
///
/// @param seconds out: seconds, 0 when nothing is left of the total limit; `NETLIB_TIMEOUT_NONE`;
///        `NETLIB_TIMEOUT_DEFAULT` if the read limit has that value and there is no total limit.
/// @return `NETLIB_TIMEOUT_STATE_ERROR` if there is a total limit and the clock has not been started;
///         `NETLIB_CALLBACK_FAILED`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_timeout_read_timeout(
    timeout: *const netlib_timeout,
    seconds: *mut f64,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let seconds = outs!(seconds);
        seconds.set(arg_exclusive!(timeout).read_timeout()?);
        Ok(())
    })
}

/// Returns the total limit that was passed to `netlib_timeout_new`; `NETLIB_TIMEOUT_NONE` if there is none and for
/// NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_timeout_configured_total(timeout: *const netlib_timeout) -> f64 {
    read(timeout, timeout::NONE, Timeout::total)
}

/// Returns the connect limit that was passed to `netlib_timeout_new`: seconds, `NETLIB_TIMEOUT_NONE` or
/// `NETLIB_TIMEOUT_DEFAULT`; `NETLIB_TIMEOUT_DEFAULT` for NULL. To connect, use `netlib_timeout_connect_timeout`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_timeout_configured_connect(timeout: *const netlib_timeout) -> f64 {
    read(timeout, timeout::DEFAULT, Timeout::connect)
}

/// Returns the read limit that was passed to `netlib_timeout_new`: seconds, `NETLIB_TIMEOUT_NONE` or
/// `NETLIB_TIMEOUT_DEFAULT`; `NETLIB_TIMEOUT_DEFAULT` for NULL. To read, use `netlib_timeout_read_timeout`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_timeout_configured_read(timeout: *const netlib_timeout) -> f64 {
    read(timeout, timeout::DEFAULT, Timeout::read)
}

/// Returns infinity, the value of the macro `NETLIB_TIMEOUT_NONE`, for languages that cannot read C macros.
#[unsafe(no_mangle)]
pub extern "C" fn netlib_timeout_none() -> f64 {
    guard::value(timeout::NONE, || Ok(timeout::NONE))
}

/// Sets the process default, the timeout for which `NETLIB_TIMEOUT_DEFAULT` stands, for later calls on all threads.
///
/// @param seconds more than 0, or `NETLIB_TIMEOUT_NONE`, the initial value.
/// @return `NETLIB_INVALID_ARGUMENT` for 0, a negative number or NaN.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_set_default_timeout(seconds: f64, err: *mut *mut netlib_error) -> netlib_status {
    guard::status(err, || timeout::set_process_default(seconds))
}

/// Returns the process default, the timeout for which `NETLIB_TIMEOUT_DEFAULT` stands: seconds, or
/// `NETLIB_TIMEOUT_NONE`.
#[unsafe(no_mangle)]
pub extern "C" fn netlib_default_timeout() -> f64 {
    guard::value(timeout::DEFAULT, || Ok(timeout::process_default()))
}
