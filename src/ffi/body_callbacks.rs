//! Wraps the application's body callbacks in closures for the core. The callbacks store their results as numbers, for
//! which every bit pattern is valid; this module and the core check the values.

use std::ffi::c_void;

use crate::body::Callbacks;
use crate::error::{Error, Result};
use crate::ffi::callback::{NOT_DECIDED, check_outcome, check_status};
use crate::ffi::callback_context::CallbackContext;
use crate::status::Status;

pub(crate) type ReadFn = unsafe extern "C" fn(ctx: *mut c_void, buf: *mut c_void, len: usize, n: *mut usize) -> i32;
pub(crate) type TellFn = unsafe extern "C" fn(ctx: *mut c_void, pos: *mut i64) -> i32;
pub(crate) type SeekFn = unsafe extern "C" fn(ctx: *mut c_void, pos: i64, outcome: *mut i32);
pub(crate) type IsClosedFn = unsafe extern "C" fn(ctx: *mut c_void, closed: *mut i32) -> i32;

pub(crate) fn callbacks(
    read: ReadFn,
    tell: Option<TellFn>,
    seek: Option<SeekFn>,
    is_closed: Option<IsClosedFn>,
    ctx: &CallbackContext,
) -> Callbacks {
    let [of_read, of_tell, of_seek, of_is_closed] = [ctx; 4].map(CallbackContext::clone);
    Callbacks {
        read: Box::new(move |buffer| {
            // Starts with an invalid count, to detect a callback that raised an exception before it stored a count.
            let mut n = usize::MAX;
            // SAFETY: by netlib.h, the callback takes its `ctx`, a buffer with its length, and a pointer to a count.
            check_status(
                unsafe { read(of_read.pointer(), buffer.as_mut_ptr().cast(), buffer.len(), &mut n) },
                "read",
            )?;
            if n == usize::MAX { Err(missing_result("read")) } else { Ok(n) }
        }),
        tell: tell.map(|tell| {
            Box::new(move || {
                let mut position = i64::MIN;
                // SAFETY: by netlib.h, the callback takes its `ctx` and a pointer to a position.
                check_status(unsafe { tell(of_tell.pointer(), &mut position) }, "tell")?;
                if position == i64::MIN { Err(missing_result("tell")) } else { Ok(position) }
            }) as _
        }),
        seek: seek.map(|seek| {
            Box::new(move |position| {
                let mut outcome = NOT_DECIDED;
                // SAFETY: by netlib.h, the callback takes its `ctx`, a position and a pointer to an outcome.
                unsafe { seek(of_seek.pointer(), position, &mut outcome) };
                check_outcome(outcome, "seek")
            }) as _
        }),
        is_closed: is_closed.map(|is_closed| {
            Box::new(move || {
                let mut closed = NOT_STORED;
                // SAFETY: by netlib.h, the callback takes its `ctx` and a pointer to an int.
                check_status(unsafe { is_closed(of_is_closed.pointer(), &mut closed) }, "is_closed")?;
                checked_bool(closed)
            }) as _
        }),
    }
}

/// A number that is not a valid boolean.
const NOT_STORED: i32 = -1;

fn checked_bool(value: i32) -> Result<bool> {
    match value {
        0 => Ok(false),
        1 => Ok(true),
        NOT_STORED => Err(missing_result("is_closed")),
        other => Err(Error::new(
            Status::CallbackFailed,
            format!("the is_closed callback reported {other}; it must report 0 or 1"),
        )),
    }
}

fn missing_result(name: &str) -> Error {
    Error::new(
        Status::CallbackFailed,
        format!("the {name} callback failed: it reported success and stored no result"),
    )
}
