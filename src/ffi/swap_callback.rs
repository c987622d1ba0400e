//! Wraps the application's swap callback in a closure for the core.

use std::ffi::{c_char, c_void};

use crate::ffi::api::overload::store::netlib_swap;
use crate::ffi::callback::{NOT_DECIDED, not_decided};
use crate::ffi::callback_context::CallbackContext;
use crate::overload::store::{Swap, SwapAnswer, SwapRequest, SwapResult};
use crate::socket::sys::DisableCancellation;

/// Replaces a word if it has an expected value.
pub(crate) type SwapFn = unsafe extern "C" fn(
    ctx: *mut c_void,
    key: *const c_char,
    len: usize,
    expected: u64,
    desired: u64,
    ttl: f64,
    timeout: f64,
    answer: *mut i32,
    actual: *mut u64,
    now: *mut f64,
);

const _: () = assert!(NOT_DECIDED == netlib_swap::NETLIB_SWAP_FAILED as i32);

pub(crate) fn swap(callback: SwapFn, ctx: CallbackContext) -> Swap {
    const SWAPPED: i32 = netlib_swap::NETLIB_SWAP_SWAPPED as i32;
    const CHANGED: i32 = netlib_swap::NETLIB_SWAP_CHANGED as i32;
    const UNAVAILABLE: i32 = netlib_swap::NETLIB_SWAP_UNAVAILABLE as i32;
    Box::new(move |request| {
        let SwapRequest { key, expected, desired, time_to_live, timeout } = request;
        // If the callback stores nothing, the outputs keep values that this function and the core refuse.
        let (mut answer, mut actual, mut now) = (NOT_DECIDED, expected, f64::NAN);
        // The guards of the functions that use a store do not disable cancellation.
        let _disabled = DisableCancellation::begin();
        // SAFETY: by netlib.h, the callback takes its `ctx`, a key with its length, numbers and three writable numbers,
        // which live across the call.
        unsafe {
            let key_start = key.as_ptr().cast();
            callback(
                ctx.pointer(),
                key_start,
                key.len(),
                expected,
                desired,
                time_to_live,
                timeout,
                &mut answer,
                &mut actual,
                &mut now,
            )
        }
        let result = match answer {
            SWAPPED => SwapResult::Swapped,
            CHANGED => SwapResult::Changed(actual),
            UNAVAILABLE => SwapResult::Unavailable,
            other => return Err(not_decided(other, "swap", "a netlib_swap")),
        };
        Ok(SwapAnswer { result, now })
    })
}
