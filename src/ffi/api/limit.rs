//! Deadlines and cancellation.

use crate::ffi::api::basics::{netlib_error, netlib_status};
use crate::ffi::args::arg;
use crate::ffi::out::{out_fd, outs};
use crate::ffi::strings::read;
use crate::ffi::{Handle, Shared, guard, handle};
use crate::limit::Limit;
use std::ffi::c_int;
use std::sync::Arc;

/// A limit for waiting: a deadline, and a way to cancel calls that wait. **Thread-safe**. Every call that blocks obeys
/// a limit, if one is passed to the call or set on its handle, and returns within 20 ms of the limit's deadline or
/// cancellation.
///
/// After fork(2), parent and child each have a limit with the same deadline. Cancelling the limit in one process does
/// not cancel the limit in the other.
pub struct netlib_limit {
    _private: [u8; 0],
}

impl Handle for netlib_limit {
    type Value = Limit;
    type Ownership = Shared;
}

/// Makes a limit. The limit's time starts to run at this call.
///
/// @param seconds the time until the deadline, 0 or more; `NETLIB_TIMEOUT_NONE` for no deadline, so that only
///        `netlib_limit_cancel` ends the limit.
/// @return `NETLIB_INVALID_ARGUMENT` for a negative number or NaN.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_limit_new(
    seconds: f64,
    limit: *mut *mut netlib_limit,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let limit = outs!(limit);
        limit.give(Arc::new(Limit::new(seconds)?));
        Ok(())
    })
}

/// Returns another reference to the same limit. Cancelling the limit through one reference cancels it for all
/// references.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_limit_clone(limit: *const netlib_limit) -> *mut netlib_limit {
    handle::clone(limit)
}

/// Releases a limit. A stream for which the limit is set keeps a reference of its own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_limit_free(limit: *mut netlib_limit) {
    guard::nothing(|| handle::free(limit));
}

/// Cancels a limit: all calls that wait and obey the limit, now or in the future, end with `NETLIB_CANCELLED`. The
/// function is async-signal-safe: a signal handler may call it.
///
/// @threads any, and signal handlers
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_limit_cancel(limit: *const netlib_limit) {
    // Not guard::nonblocking, because cancelling a limit makes a system call, at which a pending pthread_cancel(3)
    // could end the thread.
    guard::nothing(|| read(limit, (), Limit::cancel));
}

/// Checks whether a limit was cancelled or its deadline has passed.
///
/// @return `NETLIB_OK` if neither has happened; `NETLIB_CANCELLED`; `NETLIB_DEADLINE_EXCEEDED`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_limit_check(
    limit: *const netlib_limit,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || arg!(limit).check())
}

/// Stores a descriptor that becomes readable when the limit is cancelled, and stays readable. An application that waits
/// for a non-blocking TLS stream in its own event loop adds the limit's descriptor to the loop. The deadline does not
/// make the descriptor readable: use a timer with the time of `netlib_limit_remaining`. All references to a limit share
/// one descriptor, so add it to an epoll instance only once; a `netlib_connect` has a descriptor of its own.
///
/// Do not read from the descriptor, write to it or close it. After fork(2), call `netlib_limit_fd` again in the child:
/// the child's copy of the limit has a descriptor of its own.
///
/// @param fd out: the descriptor to poll for `POLLIN`, borrowed from the limit; -1 on failure.
/// @return `NETLIB_OK`, even if the limit is already cancelled; `NETLIB_IO` if the descriptor cannot be opened. The
///         first call of `netlib_limit_fd`, or the first wait that obeys the limit, opens the descriptor.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_limit_fd(
    limit: *const netlib_limit,
    fd: *mut c_int,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let fd = out_fd!(fd);
        fd.set(arg!(limit).wake_fd()?);
        Ok(())
    })
}

/// Returns the time left until the deadline, in seconds; 0 once the deadline has passed; `NETLIB_TIMEOUT_NONE` without
/// a deadline and for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_limit_remaining(limit: *const netlib_limit) -> f64 {
    read(limit, f64::INFINITY, |limit| limit.remaining().map_or(f64::INFINITY, |left| left.as_secs_f64()))
}
