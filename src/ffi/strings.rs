//! Returns strings to C: borrowed from a handle, NUL-terminated, with an optional length.

use std::ffi::{CStr, c_char};

use crate::ffi::guard::nonblocking as guard;
use crate::ffi::handle::{self, Handle};

/// Runs the body of a getter that lends text: NULL with length 0 if the text is absent or the handle is NULL.
///
/// # Safety
/// `handle` is NULL or live; `len` is NULL or writable.
pub(crate) unsafe fn lend_text<H: Handle>(
    handle: *const H,
    len: *mut usize,
    get: impl for<'a> FnOnce(&'a H::Value) -> Option<&'a CStr>,
) -> *const c_char {
    // SAFETY: the caller's promises. The text lives in the handle's value.
    unsafe { lend(handle, len, |value| get(value).map(|text| (text.as_ptr(), text.count_bytes()))) }
}

/// Like [`lend_text`], for bytes whose last one is the NUL, so that no search for the NUL is needed.
///
/// # Safety
/// As [`lend_text`].
pub(crate) unsafe fn lend_terminated<H: Handle>(
    handle: *const H,
    len: *mut usize,
    get: impl for<'a> FnOnce(&'a H::Value) -> Option<&'a [u8]>,
) -> *const c_char {
    // SAFETY: the caller's promises. The text lives in the handle's value.
    unsafe { lend(handle, len, |value| get(value).map(|text| (text.as_ptr().cast(), text.len().saturating_sub(1)))) }
}

/// Runs the body of a getter that lends bytes: NULL with length 0 if the bytes are absent or the handle is NULL.
///
/// # Safety
/// As [`lend_text`].
pub(crate) unsafe fn lend_bytes<H: Handle>(
    handle: *const H,
    len: *mut usize,
    get: impl for<'a> FnOnce(&'a H::Value) -> Option<&'a [u8]>,
) -> *const u8 {
    // SAFETY: the caller's promises. The bytes live in the handle's value.
    unsafe { lend(handle, len, |value| get(value).map(|bytes| (bytes.as_ptr(), bytes.len()))) }
}

/// # Safety
/// As [`lend_text`].
unsafe fn lend<H: Handle, T>(
    handle: *const H,
    len: *mut usize,
    get: impl for<'a> FnOnce(&'a H::Value) -> Option<(*const T, usize)>,
) -> *const T {
    guard::value(std::ptr::null(), || {
        // SAFETY: the caller's promise.
        let len = unsafe { len.as_mut() };
        // The length stays 0 if there is nothing to lend, or after a panic.
        let len = len.map(|len| {
            *len = 0;
            len
        });
        if handle.is_null() {
            return Ok(std::ptr::null());
        }
        // SAFETY: the caller's promise.
        let value = unsafe { handle::borrow(handle, "handle") }?;
        let Some((start, length)) = get(&*value) else {
            return Ok(std::ptr::null());
        };
        if let Some(len) = len {
            *len = length;
        }
        Ok(start)
    })
}

/// Runs the body of a getter that cannot fail: `fallback` if the handle is NULL. A getter that makes a system call must
/// also use a [`guard`](crate::ffi::guard).
///
/// # Safety
/// `handle` is NULL or live.
pub(crate) unsafe fn read<H: Handle, T>(handle: *const H, fallback: T, get: impl FnOnce(&H::Value) -> T) -> T {
    // Checked first, so that NULL allocates no error: `netlib_limit_cancel` runs in signal handlers.
    if handle.is_null() {
        return fallback;
    }
    guard::value(fallback, || {
        // SAFETY: the caller's promise.
        Ok(get(&*unsafe { handle::borrow(handle, "handle") }?))
    })
}

/// Like [`read`], for a boolean: 1 or 0.
///
/// # Safety
/// As [`read`].
pub(crate) unsafe fn read_bool<H: Handle>(
    handle: *const H,
    fallback: bool,
    get: impl FnOnce(&H::Value) -> bool,
) -> i32 {
    // SAFETY: the caller's promise.
    unsafe { read(handle, i32::from(fallback), |value| i32::from(get(value))) }
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

    /// Returns the array and stores its length through `count`.
    ///
    /// # Safety
    /// `count` is NULL or writable.
    pub(crate) unsafe fn lend(&'static self, count: *mut usize) -> *const *const c_char {
        // SAFETY: the caller's promise.
        unsafe { lend_list(&self.0, count) }
    }
}

/// Returns a constant array of numbers and stores its length through `count`.
///
/// # Safety
/// `count` is NULL or writable.
pub(crate) unsafe fn lend_numbers(numbers: &'static [i32], count: *mut usize) -> *const i32 {
    // SAFETY: the caller's promise.
    unsafe { lend_list(numbers, count) }
}

/// # Safety
/// `count` is NULL or writable.
unsafe fn lend_list<T>(list: &'static [T], count: *mut usize) -> *const T {
    guard::value(list.as_ptr(), || {
        // SAFETY: the caller's promise.
        if let Some(count) = unsafe { count.as_mut() } {
            *count = list.len();
        }
        Ok(list.as_ptr())
    })
}
