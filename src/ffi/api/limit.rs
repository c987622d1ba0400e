//! Deadlines and cancellation.

use crate::ffi::api::basics::{netlib_error, netlib_status};
use crate::ffi::args::arg;
use crate::ffi::out::{out_fd, outs};
use crate::ffi::strings::read;
use crate::ffi::{Handle, Shared, guard, handle};
use crate::limit::Limit;
use std::ffi::c_int;
use std::sync::Arc;

/// A deadline and a cancel trigger. **Thread-safe**. Every call that blocks takes or holds a limit, and returns within
/// 20 ms of its deadline or its cancellation.
///
/// After fork(2) parent and child each have a limit with the same deadline. Cancelling one does not cancel the other.
pub struct netlib_limit {
    _private: [u8; 0],
}

impl Handle for netlib_limit {
    type Value = Limit;
    type Ownership = Shared;
}

/// Makes a limit. Its clock starts now.
///
/// @param seconds the time until the deadline, 0 or more; `NETLIB_TIMEOUT_NONE` for no deadline, so that only
///        `netlib_limit_cancel` ends it.
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

/// Returns another reference to the same limit: cancelling through one of them cancels both.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_limit_clone(limit: *const netlib_limit) -> *mut netlib_limit {
    handle::clone(limit)
}

/// Releases a limit. A stream that holds it keeps its own reference.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_limit_free(limit: *mut netlib_limit) {
    guard::nothing(|| handle::free(limit));
}

/// Ends every wait that obeys this limit, now and in the future, with `NETLIB_CANCELLED`. Async-signal-safe: it may be
/// called from a signal handler.
///
/// @threads any, and signal handlers
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_limit_cancel(limit: *const netlib_limit) {
    // Cancelling wakes waiting threads by a system call.
    guard::nothing(|| read(limit, (), Limit::cancel));
}

/// Checks whether waiting must stop.
///
/// @return `NETLIB_OK` while there is time; `NETLIB_CANCELLED`; `NETLIB_DEADLINE_EXCEEDED`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_limit_check(
    limit: *const netlib_limit,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || arg!(limit).check())
}

/// Stores a descriptor that becomes readable when the limit is cancelled, and stays readable. The descriptor is for an
/// event loop that itself waits for a non-blocking TLS stream. The deadline does not make it readable: use a timer with
/// the time of `netlib_limit_remaining`. All references to the limit share this descriptor, which epoll accepts once; a
/// `netlib_connect` has a descriptor of its own.
///
/// Do not read from the descriptor, write to it or close it. After fork(2), call this again in the child: its copy of
/// the limit has a descriptor of its own.
///
/// @param fd out, borrowed from the limit: poll it for `POLLIN`; -1 on failure.
/// @return `NETLIB_OK`, cancelled or not; `NETLIB_IO` if the descriptor cannot be opened; the first call or the first
///         wait opens it.
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
