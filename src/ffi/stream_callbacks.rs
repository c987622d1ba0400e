//! Wraps the transport callbacks of a stream in closures for the core. The core checks the status that a callback
//! returns and the count that it stores.

use std::ffi::c_void;

use crate::ffi::callback_context::CallbackContext;
use crate::stream::Callbacks;

pub(crate) type ReadFn = unsafe extern "C" fn(ctx: *mut c_void, buf: *mut c_void, len: usize, n: *mut usize) -> i32;
pub(crate) type WriteFn =
    unsafe extern "C" fn(ctx: *mut c_void, buf: *const c_void, len: usize, n: *mut usize) -> i32;

pub(crate) fn callbacks(read: ReadFn, write: WriteFn, ctx: CallbackContext) -> Callbacks {
    let ctx_of_write = ctx.clone();
    Callbacks {
        read: Box::new(move |buffer| {
            let mut n = usize::MAX;
            // SAFETY: by netlib.h, the callback takes its `ctx`, a buffer with its length, and a pointer to a count.
            let code = unsafe { read(ctx.pointer(), buffer.as_mut_ptr().cast(), buffer.len(), &mut n) };
            (code, n)
        }),
        write: Box::new(move |bytes| {
            let mut n = usize::MAX;
            // SAFETY: by netlib.h, the callback takes its `ctx`, bytes with their length, and a pointer to a count.
            let code = unsafe { write(ctx_of_write.pointer(), bytes.as_ptr().cast(), bytes.len(), &mut n) };
            (code, n)
        }),
    }
}
