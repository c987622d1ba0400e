//! Strings on their way out: borrowed from a handle, NUL-terminated, with an optional length.

use std::ffi::{CStr, c_char};

use crate::ffi::guard;
use crate::ffi::handle::{self, Handle};

/// The body of a getter that lends text: NULL with length 0 when it is absent or the handle is NULL.
///
/// # Safety
/// `handle` is NULL or live; `len` is NULL or writable.
pub(crate) unsafe fn lend_text<H: Handle>(
    handle: *const H,
    len: *mut usize,
    get: impl for<'a> FnOnce(&'a H::Value) -> Option<&'a CStr>,
) -> *const c_char {
    // SAFETY: the caller's promises. The text lives in the handle's value.
    let (text, length) = unsafe {
        read(handle, (std::ptr::null(), 0), |value| {
            get(value).map_or((std::ptr::null(), 0), |text| (text.as_ptr(), text.count_bytes()))
        })
    };
    // SAFETY: the caller's promise.
    if let Some(len) = unsafe { len.as_mut() } {
        *len = length;
    }
    text
}

/// As [`lend_text`] for text whose last byte is its NUL: nothing looks for its end.
///
/// # Safety
/// As [`lend_text`].
pub(crate) unsafe fn lend_terminated<H: Handle>(
    handle: *const H,
    len: *mut usize,
    get: impl for<'a> FnOnce(&'a H::Value) -> Option<&'a [u8]>,
) -> *const c_char {
    // SAFETY: the caller's promises. The text lives in the handle's value.
    let (text, length) = unsafe {
        read(handle, (std::ptr::null(), 0), |value| {
            get(value).map_or((std::ptr::null(), 0), |text| (text.as_ptr().cast(), text.len().saturating_sub(1)))
        })
    };
    // SAFETY: the caller's promise.
    if let Some(len) = unsafe { len.as_mut() } {
        *len = length;
    }
    text
}

/// The body of a getter that lends bytes: NULL with length 0 when they are absent or the handle is NULL.
///
/// # Safety
/// As [`lend_text`].
pub(crate) unsafe fn lend_bytes<H: Handle>(
    handle: *const H,
    len: *mut usize,
    get: impl for<'a> FnOnce(&'a H::Value) -> Option<&'a [u8]>,
) -> *const u8 {
    // SAFETY: the caller's promises. The bytes live in the handle's value.
    let (bytes, length) = unsafe {
        read(handle, (std::ptr::null(), 0), |value| {
            get(value).map_or((std::ptr::null(), 0), |bytes| (bytes.as_ptr(), bytes.len()))
        })
    };
    // SAFETY: the caller's promise.
    if let Some(len) = unsafe { len.as_mut() } {
        *len = length;
    }
    bytes
}

/// The body of a getter that cannot fail: `fallback` when the handle is NULL.
///
/// # Safety
/// `handle` is NULL or live.
pub(crate) unsafe fn read<H: Handle, T>(handle: *const H, fallback: T, get: impl FnOnce(&H::Value) -> T) -> T {
    // Checked first, so that a NULL allocates no error: `netlib_limit_cancel` runs in signal handlers.
    if handle.is_null() {
        return fallback;
    }
    guard::value(fallback, || {
        // SAFETY: the caller's promise.
        Ok(get(&*unsafe { handle::borrow(handle, "handle") }?))
    })
}

/// A constant list of strings in the form that C reads: an array of pointers.
pub(crate) struct TextList<const N: usize>([*const c_char; N]);

// SAFETY: the pointers are to constants.
unsafe impl<const N: usize> Sync for TextList<N> {}

impl<const N: usize> TextList<N> {
    pub(crate) const fn new(texts: &[&'static CStr]) -> TextList<N> {
        let mut pointers = [std::ptr::null(); N];
        let mut i = 0;
        while i < N {
            pointers[i] = texts[i].as_ptr();
            i += 1;
        }
        TextList(pointers)
    }

    /// The array and, through `count`, its length.
    ///
    /// # Safety
    /// `count` is NULL or writable.
    pub(crate) unsafe fn lend(&'static self, count: *mut usize) -> *const *const c_char {
        // SAFETY: the caller's promise.
        if let Some(count) = unsafe { count.as_mut() } {
            *count = N;
        }
        self.0.as_ptr()
    }
}

/// A constant list of numbers: the array and, through `count`, its length.
///
/// # Safety
/// `count` is NULL or writable.
pub(crate) unsafe fn lend_numbers(numbers: &'static [i32], count: *mut usize) -> *const i32 {
    // SAFETY: the caller's promise.
    if let Some(count) = unsafe { count.as_mut() } {
        *count = numbers.len();
    }
    numbers.as_ptr()
}
