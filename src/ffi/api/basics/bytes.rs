//! Bytes that a function makes from its arguments.

use std::ffi::c_char;

use crate::ffi::guard::nonblocking as guard;
use crate::ffi::strings::lend_terminated;
use crate::ffi::{Handle, Shared, handle};
use crate::memory::TerminatedBytes;

/// Bytes that a function made from its arguments, for example the decoded form of a text. **Immutable**. netlib
/// overwrites the bytes before it releases their memory, because they may be a credential.
pub struct netlib_bytes {
    _private: [u8; 0],
}

impl Handle for netlib_bytes {
    type Value = TerminatedBytes;
    type Ownership = Shared;
}

/// Returns the bytes, followed by a NUL that `len` does not count. The bytes need not be UTF-8 and may contain NULs:
/// use `len`, unless the comment of the function that made the bytes says that they contain no NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_bytes_data(bytes: *const netlib_bytes, len: *mut usize) -> *const c_char {
    lend_terminated(bytes, len, |bytes| Some(bytes.with_nul()))
}

/// Returns another reference to the same bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_bytes_clone(bytes: *const netlib_bytes) -> *mut netlib_bytes {
    handle::clone(bytes)
}

/// Releases bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_bytes_free(bytes: *mut netlib_bytes) {
    guard::nothing(|| handle::free(bytes));
}
