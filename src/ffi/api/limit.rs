//! Deadlines and cancellation.

use std::ffi::{c_int, c_void};
use std::sync::Arc;

use crate::ffi::api::basics::{netlib_ctx_free_fn, netlib_error, netlib_status};
use crate::ffi::args::{arg, arg_shared_opt};
use crate::ffi::callback_context::CallbackContext;
use crate::ffi::enums::enum_netlib_interrupt;
use crate::ffi::handle::null_argument;
use crate::ffi::out::{out_fd, outs};
use crate::ffi::strings::read;
use crate::ffi::{Handle, Shared, callback, guard, handle};
use crate::limit::Limit;

/// A limit for waiting: a deadline, and a way to cancel calls that wait. **Thread-safe**. Every call that blocks obeys
/// a limit, if one is passed to the call or set on its handle, and returns within 20 ms of the limit's deadline or
/// cancellation.
///
/// A limit may have a parent, which is another limit. A child limit ends when its own deadline passes, when it is
/// cancelled, or when its parent ends. With the following two limits, each request may take 10 seconds, and a SIGINT
/// handler that calls `netlib_limit_cancel(all)` ends all requests:
///
///     status = netlib_limit_new(NETLIB_TIMEOUT_NONE, NULL, &all, &err); // once per process
///     status = netlib_limit_new(10.0, all, &request, &err);             // once per request
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
///        limit keeps a reference to its parent. May be NULL: the limit has no parent.
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

/// The decisions of a `netlib_interrupt_fn`. Any number that is not listed here also means failure.
#[repr(C)]
pub enum netlib_interrupt {
    /// The check failed: the wait ends with `NETLIB_CALLBACK_FAILED`.
    NETLIB_INTERRUPT_FAILED = 0,
    /// The wait continues for the time that is left.
    NETLIB_INTERRUPT_CONTINUE = 1,
    /// The wait ends with `NETLIB_INTERRUPTED`.
    NETLIB_INTERRUPT_STOP = 2,
}

/// Decides whether a wait continues after a signal. netlib calls this interrupt check on the waiting thread whenever a
/// signal handler has run on that thread and has interrupted the wait (`EINTR`). For a limit with ancestors, netlib
/// calls the interrupt check of the limit, then the one of its parent, and so on, until one of them ends the wait.
///
/// If several threads wait with one limit, the interrupt check may run on several threads at the same time. An
/// interrupt check usually stores `NETLIB_INTERRUPT_STOP` if a signal handler has set a flag. In a binding, the
/// interrupt check runs the signal handlers of the host language, for example with Python's PyErr_CheckSignals.
///
/// @param decision out: `NETLIB_INTERRUPT_CONTINUE` to wait for the time that is left; `NETLIB_INTERRUPT_STOP` to end
///        the wait with `NETLIB_INTERRUPTED`. netlib presets `decision` to `NETLIB_INTERRUPT_FAILED`. Every other value
///        means failure: the wait ends with `NETLIB_CALLBACK_FAILED`.
/// @called-by every call that waits, if its limit has an interrupt check.
pub type netlib_interrupt_fn = Option<unsafe extern "C" fn(ctx: *mut c_void, decision: *mut enum_netlib_interrupt)>;

/// Makes a limit with an interrupt check, with which a signal can end a wait. If neither the limit nor one of its
/// ancestors has an interrupt check, a signal ends a wait only if the signal handler calls `netlib_limit_cancel`.
///
/// Every call that may return `NETLIB_CANCELLED` because of a limit may also return `NETLIB_INTERRUPTED` and
/// `NETLIB_CALLBACK_FAILED` if the limit or one of its ancestors has an interrupt check. An interrupt check that ends a
/// wait does not end the limit: a later wait with the limit waits again. A signal that arrives shortly before the wait
/// begins does not interrupt the wait. If a call on a stream waits only because another thread is using the stream, a
/// signal does not interrupt this wait.
///
/// @param seconds the time until the deadline, as for `netlib_limit_new`.
/// @param parent the parent, as for `netlib_limit_new`. May be NULL: the limit has no parent.
/// @param check the interrupt check, which also applies to the children of the limit, to their children, and so on.
/// @param ctx_free is called once, when the last reference to the limit is released, or before this call returns if it
///        fails. May be NULL: `ctx` must stay usable until the last reference is released.
/// @return `NETLIB_INVALID_ARGUMENT`, as for `netlib_limit_new`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_limit_new_interruptible(
    seconds: f64,
    parent: *const netlib_limit,
    check: netlib_interrupt_fn,
    ctx: *mut c_void,
    ctx_free: netlib_ctx_free_fn,
    limit: *mut *mut netlib_limit,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let ctx = CallbackContext::new(ctx, ctx_free);
        let limit = outs!(limit);
        let check = check.ok_or_else(|| null_argument("check"))?;
        let made = Limit::new(seconds)?.with_parent(arg_shared_opt!(parent))?;
        limit.give(Arc::new(made.with_interrupt_check(callback::interrupt(check, ctx))));
        Ok(())
    })
}

/// Returns another reference to the same limit. Cancelling the limit through one reference cancels it for all
/// references.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_limit_clone(limit: *const netlib_limit) -> *mut netlib_limit {
    handle::clone(limit)
}

/// Releases a limit. Each child of the limit, and each stream and each `netlib_connect` for which the limit is set,
/// keeps its own reference.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_limit_free(limit: *mut netlib_limit) {
    guard::nothing(|| handle::free(limit));
}

/// Cancels a limit, its children, their children, and so on: all calls that wait and obey one of these limits, now or
/// in the future, end with `NETLIB_CANCELLED`. Cancelling a limit does not cancel its parent. The function is
/// async-signal-safe: a signal handler may call it.
///
/// @threads any thread, and signal handlers
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_limit_cancel(limit: *const netlib_limit) {
    // Not guard::nonblocking, because cancelling a limit makes a system call, at which a pending pthread_cancel(3)
    // could end the thread.
    guard::nothing(|| read(limit, (), Limit::cancel));
}

/// Checks a limit and its ancestors: whether one of them was cancelled, and whether the deadline of one of them has
/// passed.
///
/// @return `NETLIB_OK` if none of them was cancelled and no deadline has passed; `NETLIB_CANCELLED`;
///         `NETLIB_DEADLINE_EXCEEDED`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_limit_check(
    limit: *const netlib_limit,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || arg!(limit).check())
}

/// Stores a descriptor that becomes readable when the limit ends, and stays readable: when the limit or one of its
/// ancestors is cancelled, and when the deadline of one of them passes. An application that waits for a non-blocking
/// stream in its own event loop adds the limit's descriptor to the loop, and needs no timer for the limit. All
/// references to a limit share one descriptor, so add it to an epoll instance only once. A `netlib_connect` with the
/// limit opens another descriptor for it.
///
/// Do not read from the descriptor, write to it or close it. After fork(2), call `netlib_limit_fd` again in the child:
/// the child's copy of the limit has a descriptor of its own.
///
/// @param fd out: the descriptor to poll for `POLLIN` of <poll.h>, borrowed from the limit; -1 on failure.
/// @return `NETLIB_OK`, even if the limit is already cancelled; `NETLIB_IO` if the descriptor cannot be opened. The
///         first call of `netlib_limit_fd` opens the descriptor; without a deadline, a wait that obeys the limit may
///         have opened it before. The descriptor of a limit with a parent or with a deadline is an epoll instance or a
///         kqueue, and netlib opens one further descriptor for the limit, one for each ancestor and, on Linux, one for
///         the deadline.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_limit_fd(
    limit: *const netlib_limit,
    fd: *mut c_int,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let fd = out_fd!(fd);
        fd.set(arg!(limit).end_fd()?);
        Ok(())
    })
}

/// Returns the seconds until the earliest deadline of the limit and its ancestors; 0 once this deadline has passed;
/// `NETLIB_TIMEOUT_NONE` if none of them has a deadline, and for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_limit_remaining(limit: *const netlib_limit) -> f64 {
    read(limit, f64::INFINITY, |limit| limit.remaining().map_or(f64::INFINITY, |left| left.as_secs_f64()))
}
