//! Returns NUL-terminated strings, which are borrowed from a handle, to C. The caller may also ask for a string's
//! length.

use std::ffi::{CStr, c_char};

use crate::ffi::guard::nonblocking as guard;
use crate::ffi::handle::{self, Handle};

/// Runs the body of a getter that returns borrowed text: NULL with length 0 if the text is absent or the handle is
/// NULL.
///
/// # Safety
/// `handle` is NULL or live; `len` is NULL or writable.
pub(crate) unsafe fn lend_text<H: Handle>(
    handle: *const H,
    len: *mut usize,
    get: impl for<'a> FnOnce(&'a H::Value) -> Option<&'a CStr>,
) -> *const c_char {
    // SAFETY: the caller guarantees the "# Safety" conditions of this function. The text lives in the handle's value.
    unsafe { lend(handle, len, |value| get(value).map(|text| (text.as_ptr(), text.count_bytes()))) }
}

/// Does what [`lend_text`] does, for bytes that end with the NUL, so that no search for the NUL is needed.
///
/// # Safety
/// The conditions of [`lend_text`] apply.
pub(crate) unsafe fn lend_terminated<H: Handle>(
    handle: *const H,
    len: *mut usize,
    get: impl for<'a> FnOnce(&'a H::Value) -> Option<&'a [u8]>,
) -> *const c_char {
    // SAFETY: the caller guarantees the "# Safety" conditions of this function. The text lives in the handle's value.
    unsafe { lend(handle, len, |value| get(value).map(|text| (text.as_ptr().cast(), text.len().saturating_sub(1)))) }
}

/// Runs the body of a getter that returns borrowed bytes: NULL with length 0 if the bytes are absent or the handle is
/// NULL.
///
/// # Safety
/// The conditions of [`lend_text`] apply.
pub(crate) unsafe fn lend_bytes<H: Handle>(
    handle: *const H,
    len: *mut usize,
    get: impl for<'a> FnOnce(&'a H::Value) -> Option<&'a [u8]>,
) -> *const u8 {
    // SAFETY: the caller guarantees the "# Safety" conditions of this function. The bytes live in the handle's value.
    unsafe { lend(handle, len, |value| get(value).map(|bytes| (bytes.as_ptr(), bytes.len()))) }
}

/// # Safety
/// The conditions of [`lend_text`] apply.
unsafe fn lend<H: Handle, T>(
    handle: *const H,
    len: *mut usize,
    get: impl for<'a> FnOnce(&'a H::Value) -> Option<(*const T, usize)>,
) -> *const T {
    guard::value(std::ptr::null(), || {
        // SAFETY: the caller guarantees the "# Safety" conditions of this function.
        let len = unsafe { len.as_mut() };
        // The length is 0 unless text is returned, even after a panic.
        let len = len.map(|len| {
            *len = 0;
            len
        });
        if handle.is_null() {
            return Ok(std::ptr::null());
        }
        // SAFETY: the caller guarantees the "# Safety" conditions of this function.
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

/// Runs the body of a getter that cannot fail. Returns `fallback` if the handle is NULL or busy, or if the body panics.
/// A getter that makes a system call must also use a [`guard`](crate::ffi::guard), which disables cancellation.
///
/// # Safety
/// `handle` is NULL or live.
pub(crate) unsafe fn read<H: Handle, T>(handle: *const H, fallback: T, get: impl FnOnce(&H::Value) -> T) -> T {
    // NULL is checked before `borrow`, which would allocate an error: `netlib_limit_cancel` runs in signal handlers.
    if handle.is_null() {
        return fallback;
    }
    guard::value(fallback, || {
        // SAFETY: the caller guarantees the "# Safety" conditions of this function.
        Ok(get(&*unsafe { handle::borrow(handle, "handle") }?))
    })
}

/// Does what [`read`] does, for a boolean, which is returned as 1 or 0.
///
/// # Safety
/// The conditions of [`read`] apply.
pub(crate) unsafe fn read_bool<H: Handle>(
    handle: *const H,
    fallback: bool,
    get: impl FnOnce(&H::Value) -> bool,
) -> i32 {
    // SAFETY: the caller guarantees the "# Safety" conditions of this function.
    unsafe { read(handle, i32::from(fallback), |value| i32::from(get(value))) }
}

/// A constant list of strings for C: an array of pointers.
pub(crate) struct TextList<const N: usize>([*const c_char; N]);

// SAFETY: the pointers refer to constants.
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
        // SAFETY: the caller guarantees the "# Safety" conditions of this function.
        unsafe { lend_list(&self.0, count) }
    }
}

/// Returns a constant array of numbers and stores its length through `count`.
///
/// # Safety
/// `count` is NULL or writable.
pub(crate) unsafe fn lend_numbers(numbers: &'static [i32], count: *mut usize) -> *const i32 {
    // SAFETY: the caller guarantees the "# Safety" conditions of this function.
    unsafe { lend_list(numbers, count) }
}

/// # Safety
/// `count` is NULL or writable.
unsafe fn lend_list<T>(list: &'static [T], count: *mut usize) -> *const T {
    guard::value(list.as_ptr(), || {
        // SAFETY: the caller guarantees the "# Safety" conditions of this function.
        if let Some(count) = unsafe { count.as_mut() } {
            *count = list.len();
        }
        Ok(list.as_ptr())
    })
}
