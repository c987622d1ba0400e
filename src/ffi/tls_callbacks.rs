//! Wraps the application's TLS callbacks in closures that the core can hold: the transport callbacks, and the
//! server-name callback. The core checks the numbers that they return. A context that the server-name callback stores
//! is always taken over, whatever the callback returns, so that it is not leaked.

use std::ffi::{CStr, c_char, c_void};
use std::sync::Arc;

use crate::callback::Verdict;
use crate::ffi::api::tls::netlib_tls_context;
use crate::ffi::callback::check_verdict;
use crate::ffi::callback_context::CallbackContext;
use crate::ffi::handle;
use crate::tls::{Callbacks, Choice, ServerNameCallback};

pub(crate) type ServerNameFn = unsafe extern "C" fn(
    ctx: *mut c_void,
    server_name: *const c_char,
    replacement: *mut *mut netlib_tls_context,
) -> i32;

pub(crate) fn server_name(callback: Option<ServerNameFn>, ctx: CallbackContext) -> Option<ServerNameCallback> {
    let callback = callback?;
    Some(Arc::new(move |name: Option<&CStr>| {
        let name = name.map_or(std::ptr::null(), CStr::as_ptr);
        let mut replacement = std::ptr::null_mut();
        // SAFETY: netlib.h: the function takes its `ctx`, a text or NULL, and a place for a context.
        let answer = unsafe { callback(ctx.pointer(), name, &mut replacement) };
        // SAFETY: netlib.h: a stored context is a reference that the application gives up.
        let replacement = unsafe { handle::take(replacement) };
        Ok(match (check_verdict(answer, "server-name")?, replacement) {
            (Verdict::Allow, None) => Choice::Stay,
            (Verdict::Allow, Some(context)) => Choice::Use(context),
            (Verdict::Refuse, _) => Choice::Refuse,
        })
    }))
}

pub(crate) type ReadFn = unsafe extern "C" fn(ctx: *mut c_void, buf: *mut c_void, len: usize, n: *mut usize) -> i32;
pub(crate) type WriteFn =
    unsafe extern "C" fn(ctx: *mut c_void, buf: *const c_void, len: usize, n: *mut usize) -> i32;

pub(crate) fn callbacks(read: ReadFn, write: WriteFn, ctx: CallbackContext) -> Callbacks {
    let ctx_of_write = ctx.clone();
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
            let code = unsafe { write(ctx_of_write.pointer(), bytes.as_ptr().cast(), bytes.len(), &mut n) };
            (code, n)
        }),
    }
}
