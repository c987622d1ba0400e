//! Wraps the application's server-name callback in a closure for the core. netlib takes ownership of a context that the
//! server-name callback stores, even if the callback fails, so that the context is not leaked.

use std::ffi::{CStr, c_char, c_void};
use std::sync::Arc;

use crate::callback::Verdict;
use crate::ffi::api::tls::netlib_tls_context;
use crate::ffi::callback::{NOT_DECIDED, check_verdict};
use crate::ffi::callback_context::CallbackContext;
use crate::ffi::handle;
use crate::tls::{Choice, ServerNameCallback};

pub(crate) type ServerNameFn = unsafe extern "C" fn(
    ctx: *mut c_void,
    server_name: *const c_char,
    replacement: *mut *mut netlib_tls_context,
    verdict: *mut i32,
);

pub(crate) fn server_name(callback: Option<ServerNameFn>, ctx: CallbackContext) -> Option<ServerNameCallback> {
    let callback = callback?;
    Some(Arc::new(move |name: Option<&CStr>| {
        let name = name.map_or(std::ptr::null(), CStr::as_ptr);
        let (mut replacement, mut verdict) = (std::ptr::null_mut(), NOT_DECIDED);
        // SAFETY: by netlib.h, the callback takes its `ctx`, a string or NULL, and pointers to a context and a verdict.
        unsafe { callback(ctx.pointer(), name, &mut replacement, &mut verdict) };
        // SAFETY: by netlib.h, a stored context is a reference that the application gives up.
        let replacement = unsafe { handle::take(replacement) };
        Ok(match (check_verdict(verdict, "server-name")?, replacement) {
            (Verdict::Allow, None) => Choice::Stay,
            (Verdict::Allow, Some(context)) => Choice::Use(context),
            (Verdict::Refuse, _) => Choice::Refuse,
        })
    }))
}
