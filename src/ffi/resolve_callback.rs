//! Wraps the application's resolve callback in a closure for the core.

use std::ffi::{CStr, c_char, c_void};
use std::sync::Arc;

use crate::error::{Error, ErrorOptions};
use crate::ffi::api::socket::resolve::netlib_addresses;
use crate::ffi::callback_context::CallbackContext;
use crate::ffi::handle;
use crate::socket::ResolveCallback;
use crate::socket::sockaddr::AddressList;
use crate::status::Status;

/// Resolves a host: adds its addresses to the list.
pub(crate) type ResolveFn = unsafe extern "C" fn(
    ctx: *mut c_void,
    host: *const c_char,
    port: i32,
    left: f64,
    list: *mut netlib_addresses,
) -> i32;

pub(crate) fn resolve(callback: Option<ResolveFn>, ctx: CallbackContext) -> Option<ResolveCallback> {
    let callback = callback?;
    Some(Arc::new(move |host: &CStr, port, seconds_left| {
        let list: *mut netlib_addresses = handle::lend_to_callback(Box::new(AddressList::default()));
        // SAFETY: by netlib.h, the callback takes its `ctx`, a string, two numbers and a list that it does not free.
        let answer = unsafe { callback(ctx.pointer(), host.as_ptr(), i32::from(port), seconds_left, list) };
        // SAFETY: `lend_to_callback` made the pointer above, and the callback cannot free it.
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
