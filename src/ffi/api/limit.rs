//! Deadlines and cancellation.

use crate::ffi::api::basics::{netlib_error, netlib_status};
use crate::ffi::args::{arg, arg_shared_opt};
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
/// A limit may have a parent, which is another limit. A child limit ends when its own deadline passes, when it is
/// cancelled, or when its parent ends. With the following two limits, each request may take 10 seconds, and a SIGINT
/// handler that calls `netlib_limit_cancel(all)` ends all requests:
///
///     netlib_limit_new(NETLIB_TIMEOUT_NONE, NULL, &all, &err); // once per process
///     netlib_limit_new(10.0, all, &request, &err);             // once per request
///
/// After fork(2), the parent process and the child process each have a limit with the same deadline. Cancelling the
/// limit in one process does not cancel the limit in the other.
pub struct netlib_limit {
    _private: [u8; 0],
}

impl Handle for netlib_limit {
    type Value = Limit;
    type Ownership = Shared;
}

/// Makes a limit. The limit's time starts to run at this call.
///
/// @param seconds the time until the deadline, 0 or more; `NETLIB_TIMEOUT_NONE` for no deadline of its own.
/// @param parent the limit whose end also ends the new limit; of the two deadlines, the earlier one counts. The new
///        limit keeps a reference to its parent. May be NULL: no parent.
/// @return `NETLIB_INVALID_ARGUMENT` for a negative number or NaN, and for a parent that has 8 ancestors (its parent,
///         the parent of its parent, and so on).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_limit_new(
    seconds: f64,
    parent: *const netlib_limit,
    limit: *mut *mut netlib_limit,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let limit = outs!(limit);
        limit.give(Arc::new(Limit::new(seconds)?.with_parent(arg_shared_opt!(parent))?));
        Ok(())
    })
}

/// Returns another reference to the same limit. Cancelling the limit through one reference cancels it for all
/// references.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_limit_clone(limit: *const netlib_limit) -> *mut netlib_limit {
    handle::clone(limit)
}

/// Releases a limit. A stream for which the limit is set, and each child of the limit, keep references of their own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_limit_free(limit: *mut netlib_limit) {
    guard::nothing(|| handle::free(limit));
}

/// Cancels a limit, its children, their children, and so on: all calls that wait and obey one of these limits, now or
/// in the future, end with `NETLIB_CANCELLED`. Cancelling a limit does not cancel its parent. The function is
/// async-signal-safe: a signal handler may call it.
///
/// @threads any, and signal handlers
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_limit_cancel(limit: *const netlib_limit) {
    // Not guard::nonblocking, because cancelling a limit makes a system call, at which a pending pthread_cancel(3)
    // could end the thread.
    guard::nothing(|| read(limit, (), Limit::cancel));
}

/// Checks whether a limit or one of its ancestors was cancelled, or its deadline has passed.
///
/// @return `NETLIB_OK` if neither has happened; `NETLIB_CANCELLED`; `NETLIB_DEADLINE_EXCEEDED`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_limit_check(
    limit: *const netlib_limit,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || arg!(limit).check())
}

/// Stores a descriptor that becomes readable when the limit or one of its ancestors is cancelled, and stays readable.
/// An application that waits for a non-blocking stream in its own event loop adds the limit's descriptor to the
/// loop. The deadline does not make the descriptor readable: use a timer with the time of `netlib_limit_remaining`. All
/// references to a limit share one descriptor, so add it to an epoll instance only once; a `netlib_connect` has a
/// descriptor of its own.
///
/// Do not read from the descriptor, write to it or close it. After fork(2), call `netlib_limit_fd` again in the child:
/// the child's copy of the limit has a descriptor of its own.
///
/// @param fd out: the descriptor to poll for `POLLIN`, borrowed from the limit; -1 on failure.
/// @return `NETLIB_OK`, even if the limit is already cancelled; `NETLIB_IO` if the descriptor cannot be opened. The
///         first call of `netlib_limit_fd`, or the first wait that obeys the limit, opens the descriptor. The
///         descriptor of a limit with a parent is an epoll instance or a kqueue, and netlib opens one further
///         descriptor for the limit and one for each ancestor.
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

/// Returns the time left until the deadline, which is the earliest of the limit and its ancestors, in seconds; 0 once
/// the deadline has passed; `NETLIB_TIMEOUT_NONE` without a deadline and for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_limit_remaining(limit: *const netlib_limit) -> f64 {
    read(limit, f64::INFINITY, |limit| limit.remaining().map_or(f64::INFINITY, |left| left.as_secs_f64()))
}
