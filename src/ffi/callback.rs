//! Wraps the application's callbacks in closures that the core can hold.
//!
//! netlib.h requires that a callback and its `ctx` can be used on any thread that uses the handle that holds them,
//! until the handle's last reference is freed.

use std::ffi::{CStr, c_char, c_void};
use std::sync::Arc;

use crate::callback::{Sleep, Verdict};
use crate::error::{Error, ErrorOptions, Result};
use crate::ffi::api::basics::{netlib_outcome, netlib_verdict};
use crate::ffi::api::socket::resolve::netlib_addresses;
use crate::ffi::callback_context::CallbackContext;
use crate::ffi::handle;
use crate::socket::ResolveCallback;
use crate::socket::address_class::Classes;
use crate::socket::address_policy::AddressCallback;
use crate::socket::endpoint::Endpoint;
use crate::socket::sockaddr::AddressList;
use crate::status::Status;

/// Stores a number through its second parameter: a clock, a random source.
pub(crate) type NumberFn = unsafe extern "C" fn(ctx: *mut c_void, value: *mut f64) -> i32;

/// Waits for the given number of seconds.
pub(crate) type SleepFn = unsafe extern "C" fn(ctx: *mut c_void, seconds: f64) -> i32;

/// Decides whether netlib may connect to an address.
pub(crate) type AddressFn =
    unsafe extern "C" fn(ctx: *mut c_void, address: *const c_void, len: usize, classes: i32) -> i32;

/// Finds the addresses of a host.
pub(crate) type ResolveFn = unsafe extern "C" fn(
    ctx: *mut c_void,
    host: *const c_char,
    port: i32,
    left: f64,
    list: *mut netlib_addresses,
) -> i32;

/// Wraps a callback that returns a number. `name` is the name of the callback in its error.
pub(crate) fn number(
    callback: Option<NumberFn>,
    ctx: CallbackContext,
    name: &'static str,
) -> Option<Arc<dyn Fn() -> Result<f64> + Send + Sync>> {
    let callback = callback?;
    Some(Arc::new(move || {
        // NaN if the callback stores nothing; the core refuses it.
        let mut value = f64::NAN;
        // SAFETY: netlib.h: the function takes its `ctx` and a place for a double.
        let result = unsafe { callback(ctx.pointer(), &mut value) };
        check_status(result, name)?;
        Ok(value)
    }))
}

pub(crate) fn sleep(callback: Option<SleepFn>, ctx: CallbackContext) -> Option<Sleep> {
    let callback = callback?;
    Some(Arc::new(move |seconds| {
        // SAFETY: netlib.h: the function takes its `ctx` and a double.
        let result = unsafe { callback(ctx.pointer(), seconds) };
        check_outcome(result, "sleep")
    }))
}

pub(crate) fn address(callback: Option<AddressFn>, ctx: CallbackContext) -> Option<AddressCallback> {
    let callback = callback?;
    Some(Arc::new(move |address: &Endpoint, classes: Classes| {
        // The same bytes that connect(2) gets.
        let address = address.to_sockaddr();
        // SAFETY: netlib.h: the function takes its `ctx` and an address with its length, which live across the call.
        let result =
            unsafe { callback(ctx.pointer(), address.as_ptr().cast(), address.len() as usize, classes.bits()) };
        check_verdict(result, "address")
    }))
}

pub(crate) fn resolve(callback: Option<ResolveFn>, ctx: CallbackContext) -> Option<ResolveCallback> {
    let callback = callback?;
    Some(Arc::new(move |host: &CStr, port, seconds_left| {
        let list: *mut netlib_addresses = handle::lend_to_callback(Box::new(AddressList::default()));
        // SAFETY: netlib.h: the function takes its `ctx`, a text, two numbers and a list that it does not free.
        let answer = unsafe { callback(ctx.pointer(), host.as_ptr(), i32::from(port), seconds_left, list) };
        // SAFETY: given above, and still netlib's.
        let list = unsafe { handle::take(list) }.map_or_else(Vec::new, |list| list.into_vec());
        match answer {
            0 => Ok(list),
            code => {
                let answer =
                    Status::from_code(code).map_or_else(|| code.to_string().into(), |s| s.name().to_string_lossy());
                let message =
                    format!("cannot resolve {}: the resolve callback returned {answer}", host.to_string_lossy());
                Err(Error::reported(code, &message, &ErrorOptions::default())
                    .unwrap_or_else(|_| Error::new(Status::CallbackFailed, &message)))
            }
        }
    }))
}

/// Converts the result of a callback that has an output: a status.
pub(super) fn check_status(result: i32, name: &str) -> Result<()> {
    match result {
        0 => Ok(()),
        other => Err(Error::new(Status::CallbackFailed, format!("the {name} callback reported failure: {other}"))),
    }
}

/// Converts the result of a callback that acts: a `netlib_outcome`.
pub(super) fn check_outcome(result: i32, name: &str) -> Result<()> {
    const DONE: i32 = netlib_outcome::NETLIB_OUTCOME_DONE as i32;
    match result {
        DONE => Ok(()),
        other => Err(invalid_result(other, name, "NETLIB_OUTCOME_DONE")),
    }
}

/// Converts the result of a callback that decides: a `netlib_verdict`.
pub(super) fn check_verdict(result: i32, name: &str) -> Result<Verdict> {
    const ALLOW: i32 = netlib_verdict::NETLIB_VERDICT_ALLOW as i32;
    const REFUSE: i32 = netlib_verdict::NETLIB_VERDICT_REFUSE as i32;
    match result {
        ALLOW => Ok(Verdict::Allow),
        REFUSE => Ok(Verdict::Refuse),
        other => Err(invalid_result(other, name, "NETLIB_VERDICT_ALLOW or NETLIB_VERDICT_REFUSE")),
    }
}

/// Returns the error for an unexpected result. Foreign-function layers return 0 if the callback raised an exception, so
/// 0 is not a valid result.
fn invalid_result(result: i32, name: &str, expected: &str) -> Error {
    let message = match result {
        0 => format!("the {name} callback failed: it returned 0"),
        other => format!("the {name} callback returned {other}; it must return {expected}"),
    };
    Error::new(Status::CallbackFailed, message)
}
