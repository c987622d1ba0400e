//! Wraps the application's TLS callbacks in closures for the core: the transport callbacks and the server-name
//! callback. The core checks the numbers that the callbacks return. netlib takes ownership of a context that the
//! server-name callback stores, even if the callback fails, so that the context is not leaked.

use std::ffi::{CStr, c_char, c_void};
use std::sync::Arc;

use crate::callback::Verdict;
use crate::ffi::api::tls::netlib_tls_context;
use crate::ffi::callback::check_verdict;
use crate::ffi::callback_context::CallbackContext;
use crate::ffi::handle;
use crate::stream::Callbacks;
use crate::tls::{Choice, ServerNameCallback};

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
        // SAFETY: by netlib.h, the callback takes its `ctx`, a string or NULL, and a pointer to a context.
        let answer = unsafe { callback(ctx.pointer(), name, &mut replacement) };
        // SAFETY: by netlib.h, a stored context is a reference that the application gives up.
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
