//! Wraps the application's callbacks in closures for the core.
//!
//! A handle that was made with a callback keeps the callback and its `ctx`. netlib.h requires that both can be used on
//! any thread that uses the handle, until the handle's last reference is freed.

use std::ffi::c_void;
use std::sync::Arc;

use crate::callback::{Sleep, Verdict};
use crate::error::{Error, Result};
use crate::ffi::api::basics::{netlib_outcome, netlib_verdict};
use crate::ffi::api::limit::netlib_interrupt;
use crate::ffi::callback_context::CallbackContext;
use crate::limit::InterruptCheck;
use crate::socket::address_class::Classes;
use crate::socket::address_policy::AddressCallback;
use crate::socket::endpoint::Endpoint;
use crate::socket::sys::DisableCancellation;
use crate::status::Status;

/// A clock or random source, which stores a number through its second parameter.
pub(crate) type NumberFn = unsafe extern "C" fn(ctx: *mut c_void, value: *mut f64) -> i32;

/// Waits for the given number of seconds.
pub(crate) type SleepFn = unsafe extern "C" fn(ctx: *mut c_void, seconds: f64, outcome: *mut i32);

/// Decides whether netlib may connect to an address.
pub(crate) type AddressFn =
    unsafe extern "C" fn(ctx: *mut c_void, address: *const c_void, len: usize, classes: i32, verdict: *mut i32);

/// Decides whether a wait continues after a signal.
pub(crate) type InterruptFn = unsafe extern "C" fn(ctx: *mut c_void, decision: *mut i32);

/// The value of a decision before the callback stores one, in each enum of decisions: FAILED. The decision is an output
/// and not the result of the callback, because the foreign-function layers of some languages return 0 or an earlier
/// result to C when the callback raises an exception.
pub(super) const NOT_DECIDED: i32 = netlib_verdict::NETLIB_VERDICT_FAILED as i32;

const _: () = assert!(NOT_DECIDED == netlib_outcome::NETLIB_OUTCOME_FAILED as i32);
const _: () = assert!(NOT_DECIDED == netlib_interrupt::NETLIB_INTERRUPT_FAILED as i32);

/// Wraps a callback that stores a number. `name` is the name of the callback in error messages.
pub(crate) fn number(
    callback: Option<NumberFn>,
    ctx: CallbackContext,
    name: &'static str,
) -> Option<Arc<dyn Fn() -> Result<f64> + Send + Sync>> {
    let callback = callback?;
    Some(Arc::new(move || {
        // The value stays NaN if the callback stores nothing, and the core refuses NaN.
        let mut value = f64::NAN;
        // The guard of a short function, such as `netlib_breaker_ask`, does not disable cancellation.
        let _disabled = DisableCancellation::begin();
        // SAFETY: by netlib.h, the callback takes its `ctx` and a pointer to a double.
        let result = unsafe { callback(ctx.pointer(), &mut value) };
        check_status(result, name)?;
        Ok(value)
    }))
}

pub(crate) fn sleep(callback: Option<SleepFn>, ctx: CallbackContext) -> Option<Sleep> {
    let callback = callback?;
    Some(Arc::new(move |seconds| {
        let mut outcome = NOT_DECIDED;
        // SAFETY: by netlib.h, the callback takes its `ctx`, a double and a pointer to an outcome.
        unsafe { callback(ctx.pointer(), seconds, &mut outcome) };
        check_outcome(outcome, "sleep")
    }))
}

pub(crate) fn address(callback: Option<AddressFn>, ctx: CallbackContext) -> Option<AddressCallback> {
    let callback = callback?;
    Some(Arc::new(move |address: &Endpoint, classes: Classes| {
        // The callback gets the same sockaddr as connect(2).
        let address = address.to_sockaddr();
        let (start, len) = (address.as_ptr().cast(), address.len() as usize);
        let mut verdict = NOT_DECIDED;
        // SAFETY: by netlib.h, the callback takes its `ctx`, an address with its length, and a pointer to a verdict,
        // which live across the call.
        unsafe { callback(ctx.pointer(), start, len, classes.bits(), &mut verdict) };
        check_verdict(verdict, "address")
    }))
}

pub(crate) fn interrupt(callback: InterruptFn, ctx: CallbackContext) -> InterruptCheck {
    const CONTINUE: i32 = netlib_interrupt::NETLIB_INTERRUPT_CONTINUE as i32;
    const STOP: i32 = netlib_interrupt::NETLIB_INTERRUPT_STOP as i32;
    Box::new(move || {
        let mut decision = NOT_DECIDED;
        // SAFETY: by netlib.h, the callback takes its `ctx` and a pointer to a decision.
        unsafe { callback(ctx.pointer(), &mut decision) };
        match decision {
            CONTINUE => Ok(()),
            STOP => Err(Error::new(Status::Interrupted, "the interrupt callback stopped the wait")),
            other => Err(not_decided(other, "interrupt", "NETLIB_INTERRUPT_CONTINUE or NETLIB_INTERRUPT_STOP")),
        }
    })
}

/// Checks the status that a callback with an output parameter returned.
pub(super) fn check_status(result: i32, name: &str) -> Result<()> {
    match result {
        0 => Ok(()),
        other => Err(Error::new(Status::CallbackFailed, format!("the {name} callback reported failure: {other}"))),
    }
}

/// Checks the `netlib_outcome` that a callback stored.
pub(super) fn check_outcome(outcome: i32, name: &str) -> Result<()> {
    const DONE: i32 = netlib_outcome::NETLIB_OUTCOME_DONE as i32;
    match outcome {
        DONE => Ok(()),
        other => Err(not_decided(other, name, "NETLIB_OUTCOME_DONE")),
    }
}

/// Checks and converts the `netlib_verdict` that a callback stored.
pub(super) fn check_verdict(verdict: i32, name: &str) -> Result<Verdict> {
    const ALLOW: i32 = netlib_verdict::NETLIB_VERDICT_ALLOW as i32;
    const REFUSE: i32 = netlib_verdict::NETLIB_VERDICT_REFUSE as i32;
    match verdict {
        ALLOW => Ok(Verdict::Allow),
        REFUSE => Ok(Verdict::Refuse),
        other => Err(not_decided(other, name, "NETLIB_VERDICT_ALLOW or NETLIB_VERDICT_REFUSE")),
    }
}

/// Makes the error for a callback that stored no decision, the decision FAILED, or a number that is no decision.
pub(super) fn not_decided(stored: i32, name: &str, expected: &str) -> Error {
    let message = match stored {
        NOT_DECIDED => format!("the {name} callback failed: it stored no decision"),
        other => format!("the {name} callback stored {other}; it must store {expected}"),
    };
    Error::new(Status::CallbackFailed, message)
}
