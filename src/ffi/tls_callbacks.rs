//! A program's own transport: its functions, as closures that the core can hold. What they return and store is
//! numbers, which every bit pattern is; the core checks them.

use std::ffi::c_void;

use crate::ffi::callback::Context;
use crate::tls::Callbacks;

pub(crate) type ReadFn = unsafe extern "C" fn(ctx: *mut c_void, buf: *mut c_void, len: usize, n: *mut usize) -> i32;
pub(crate) type WriteFn =
    unsafe extern "C" fn(ctx: *mut c_void, buf: *const c_void, len: usize, n: *mut usize) -> i32;

pub(crate) fn callbacks(read: ReadFn, write: WriteFn, ctx: *mut c_void) -> Callbacks {
    let ctx = Context::new(ctx);
    Callbacks {
        read: Box::new(move |buffer| {
            let mut n = usize::MAX;
            // SAFETY: netlib.h: the function takes its `ctx`, a buffer with its length, and a place for a count.
            let code = unsafe { read(ctx.pointer(), buffer.as_mut_ptr().cast(), buffer.len(), &mut n) };
            (code, n)
        }),
        write: Box::new(move |bytes| {
            let mut n = usize::MAX;
            // SAFETY: netlib.h: the function takes its `ctx`, bytes with their length, and a place for a count.
            let code = unsafe { write(ctx.pointer(), bytes.as_ptr().cast(), bytes.len(), &mut n) };
            (code, n)
        }),
    }
}
