//! Runs the body of every exported function. A panic is a bug in netlib. The guard converts a panic to a status or to
//! the documented fallback, because unwinding into C is undefined behaviour. The guards outside of [`nonblocking`] also
//! disable pthread_cancel(3) for the duration of the call.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::ffi::api_names;
use crate::ffi::handle::{self, Handle, Shared};
use crate::socket::sys::DisableCancellation;
use crate::status::Status;

/// Runs the body of a function that returns a `netlib_status`. Overwrites `*err` with the error, or with NULL if the
/// body returns no error.
///
/// # Safety
/// `err` is NULL or points to a writable `netlib_error *`.
pub(crate) unsafe fn status<E, T>(err: *mut *mut E, body: impl FnOnce() -> Result<T>) -> i32
where
    E: Handle<Value = Error, Ownership = Shared>,
    T: Into<Status>,
{
    let _disabled = DisableCancellation::begin();
    // SAFETY: the caller guarantees the "# Safety" conditions of this function.
    unsafe { nonblocking::status(err, body) }
}

/// Runs the body of a function that returns a value and cannot report an error. Returns `fallback` if the body fails or
/// panics; netlib.h documents the fallback.
pub(crate) fn value<T>(fallback: T, body: impl FnOnce() -> Result<T>) -> T {
    let _disabled = DisableCancellation::begin();
    nonblocking::value(fallback, body)
}

/// Runs the body of a function that returns nothing.
pub(crate) fn nothing(body: impl FnOnce()) {
    let _disabled = DisableCancellation::begin();
    nonblocking::nothing(body);
}

/// Variants of the guards that leave cancellation enabled, for functions that make no system call. They call only
/// callbacks that run with cancellation disabled: `ctx_free`, and the callbacks for numbers and for swaps. Most of these
/// functions are so short that two calls of pthread_setcancelstate(3) would be a noticeable part of their time.
pub(crate) mod nonblocking {
    use super::*;

    /// Does what [`super::status`] does, but leaves cancellation enabled.
    ///
    /// # Safety
    /// The conditions of [`super::status`] apply.
    pub(crate) unsafe fn status<E, T>(err: *mut *mut E, body: impl FnOnce() -> Result<T>) -> i32
    where
        E: Handle<Value = Error, Ownership = Shared>,
        T: Into<Status>,
    {
        // `AssertUnwindSafe` is correct: a value that a panic left half-changed is either behind a mutex, or belongs to
        // a single-threaded handle whose fields are valid in any combination.
        let error = match catch_unwind(AssertUnwindSafe(body)) {
            Ok(Ok(done)) => {
                // SAFETY: the caller guarantees the "# Safety" conditions of this function.
                if let Some(err) = unsafe { err.as_mut() } {
                    *err = std::ptr::null_mut();
                }
                return done.into() as i32;
            }
            Ok(Err(error)) => error,
            Err(panic) => panic_error(&*panic),
        };
        // SAFETY: the caller guarantees the "# Safety" conditions of this function.
        unsafe { failure(err, error) }
    }

    /// # Safety
    /// The conditions of [`status`] apply.
    #[cold]
    unsafe fn failure<E>(err: *mut *mut E, error: Error) -> i32
    where
        E: Handle<Value = Error, Ownership = Shared>,
    {
        let status = error.status();
        // SAFETY: the caller guarantees the "# Safety" conditions of this function.
        if let Some(err) = unsafe { err.as_mut() } {
            *err = handle::give(Arc::new(error.with_names(api_names::c_name)));
        }
        status as i32
    }

    /// Does what [`super::value`] does, but leaves cancellation enabled.
    pub(crate) fn value<T>(fallback: T, body: impl FnOnce() -> Result<T>) -> T {
        match catch_unwind(AssertUnwindSafe(body)) {
            Ok(Ok(value)) => value,
            Ok(Err(_)) | Err(_) => fallback,
        }
    }

    /// Does what [`super::nothing`] does, but leaves cancellation enabled.
    pub(crate) fn nothing(body: impl FnOnce()) {
        let _ = catch_unwind(AssertUnwindSafe(body));
    }
}

#[cold]
fn panic_error(panic: &(dyn Any + Send)) -> Error {
    let what = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("a panic without a message");
    Error::new(Status::Internal, format!("an error inside netlib was caught: {what}"))
}
