//! Wraps the application's swap callback in a closure for the core.

use std::ffi::{c_char, c_void};

use crate::error::Error;
use crate::ffi::api::overload::store::netlib_swap;
use crate::ffi::callback_context::CallbackContext;
use crate::overload::store::{Swap, SwapAnswer, SwapRequest, SwapResult};
use crate::socket::sys::DisableCancellation;
use crate::status::Status;

/// Replaces a word if it has an expected value.
pub(crate) type SwapFn = unsafe extern "C" fn(
    ctx: *mut c_void,
    key: *const c_char,
    len: usize,
    expected: u64,
    desired: u64,
    ttl: f64,
    timeout: f64,
    actual: *mut u64,
    now: *mut f64,
) -> i32;

pub(crate) fn swap(callback: SwapFn, ctx: CallbackContext) -> Swap {
    const FAILED: i32 = netlib_swap::NETLIB_SWAP_FAILED as i32;
    const SWAPPED: i32 = netlib_swap::NETLIB_SWAP_SWAPPED as i32;
    const CHANGED: i32 = netlib_swap::NETLIB_SWAP_CHANGED as i32;
    const UNAVAILABLE: i32 = netlib_swap::NETLIB_SWAP_UNAVAILABLE as i32;
    Box::new(move |request| {
        let SwapRequest { key, expected, desired, time_to_live, timeout } = request;
        // If the callback stores nothing, both outputs keep values that the core refuses.
        let (mut actual, mut now) = (expected, f64::NAN);
        // The guards of the functions that use a store do not disable cancellation.
        let _disabled = DisableCancellation::begin();
        // SAFETY: by netlib.h, the callback takes its `ctx`, a key with its length, numbers and two writable numbers,
        // which live across the call.
        let code = unsafe {
            let key_start = key.as_ptr().cast();
            callback(
                ctx.pointer(),
                key_start,
                key.len(),
                expected,
                desired,
                time_to_live,
                timeout,
                &mut actual,
                &mut now,
            )
        };
        let result = match code {
            SWAPPED => SwapResult::Swapped,
            CHANGED => SwapResult::Changed(actual),
            UNAVAILABLE => SwapResult::Unavailable,
            FAILED => return Err(Error::new(Status::CallbackFailed, "the swap callback failed: it returned 0")),
            other => {
                let message = format!("the swap callback returned {other}; it must return a netlib_swap");
                return Err(Error::new(Status::CallbackFailed, message));
            }
        };
        Ok(SwapAnswer { result, now })
    })
}
