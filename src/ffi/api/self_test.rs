//! Functions that are exported only in builds for tests.

use std::ffi::c_char;

use crate::ffi::api::basics::{netlib_error, netlib_status};
use crate::ffi::args::arg_str;
use crate::ffi::guard;

/// Panics with the given message, to test that netlib catches panics.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_self_test_panic(
    message: *const c_char,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let message = arg_str!(message);
        if message.len() < usize::MAX {
            panic!("{message}");
        }
        Ok(())
    })
}
