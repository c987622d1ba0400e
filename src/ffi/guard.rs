//! The guard: every exported function's body runs inside one of these. A panic, which is a bug in netlib, becomes a
//! status (or the documented fallback) and never unwinds into C, which would be undefined behaviour; and no thread is
//! canceled in the midst of it.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::ffi::api::basics::{netlib_error, netlib_status};
use crate::ffi::handle;
use crate::ffi::uncanceled::Uncanceled;
use crate::status::Status;

/// For functions that return `netlib_status`: overwrites `*err` with the error, or with NULL on success and progress.
///
/// # Safety
/// `err` is NULL or points to a writable `netlib_error *`.
pub(crate) unsafe fn status<T: Into<Status>>(
    err: *mut *mut netlib_error,
    body: impl FnOnce() -> Result<T>,
) -> netlib_status {
    let _uncanceled = Uncanceled::begin();
    // SAFETY: the caller's promise.
    unsafe { computing::status(err, body) }
}

/// For functions that return a value and have no way to report an error: `fallback` is what their documentation says
/// they return for arguments they cannot use.
pub(crate) fn value<T>(fallback: T, body: impl FnOnce() -> Result<T>) -> T {
    let _uncanceled = Uncanceled::begin();
    computing::value(fallback, body)
}

/// For functions that return nothing.
pub(crate) fn nothing(body: impl FnOnce()) {
    let _uncanceled = Uncanceled::begin();
    computing::nothing(body);
}

/// The same for functions that make no system call and run nothing of the program's: no thread can be canceled in them
/// anyhow, and they are quick enough for the difference to count.
pub(crate) mod computing {
    use super::*;

    /// As [`super::status`].
    ///
    /// # Safety
    /// As there.
    pub(crate) unsafe fn status<T: Into<Status>>(
        err: *mut *mut netlib_error,
        body: impl FnOnce() -> Result<T>,
    ) -> netlib_status {
        // `AssertUnwindSafe`: a value that a panic left half-changed is behind a mutex that is then poisoned, or is a
        // single-threaded handle whose fields are each valid in any combination.
        let error = match catch_unwind(AssertUnwindSafe(body)) {
            Ok(Ok(done)) => {
                // SAFETY: the caller's promise.
                if let Some(err) = unsafe { err.as_mut() } {
                    *err = std::ptr::null_mut();
                }
                return done.into() as netlib_status;
            }
            Ok(Err(error)) => error,
            Err(panic) => panic_error(&*panic),
        };
        // SAFETY: the caller's promise.
        unsafe { failure(err, error) }
    }

    /// # Safety
    /// As [`status`].
    #[cold]
    unsafe fn failure(err: *mut *mut netlib_error, error: Error) -> netlib_status {
        let status = error.status();
        // SAFETY: the caller's promise.
        if let Some(err) = unsafe { err.as_mut() } {
            *err = handle::give(Arc::new(error));
        }
        status as netlib_status
    }

    /// As [`super::value`].
    pub(crate) fn value<T>(fallback: T, body: impl FnOnce() -> Result<T>) -> T {
        match catch_unwind(AssertUnwindSafe(body)) {
            Ok(Ok(value)) => value,
            Ok(Err(_)) | Err(_) => fallback,
        }
    }

    /// As [`super::nothing`].
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
