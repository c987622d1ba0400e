//! Output parameters. Before anything can fail, each is set to 0, or to -1 for a descriptor. Values are stored only on
//! success.

use std::ffi::c_int;

use crate::error::Result;
use crate::ffi::handle::{self, Handle, Owned, null_argument};

/// The types of values that a function may store through a pointer from C.
///
/// # Safety
/// All-zero bytes are a valid value of the type.
pub(crate) unsafe trait OutValue {}
// SAFETY: all-zero bytes are the number 0 or a null pointer.
unsafe impl OutValue for i32 {}
unsafe impl OutValue for i64 {}
unsafe impl OutValue for usize {}
unsafe impl OutValue for u64 {}
unsafe impl OutValue for f64 {}
unsafe impl<T> OutValue for *mut T {}
unsafe impl<T> OutValue for *const T {}

/// An initialised output parameter, which can be set once.
pub(crate) struct Out<'a, T>(&'a mut T);

impl<T> Out<'_, T> {
    pub(crate) fn set(self, value: T) {
        *self.0 = value;
    }
}

impl Out<'_, i32> {
    /// Stores a boolean as 1 or 0.
    pub(crate) fn set_bool(self, value: bool) {
        self.set(i32::from(value));
    }
}

impl<H: Handle> Out<'_, *mut H> {
    /// Stores a handle, which the caller then owns.
    pub(crate) fn give(self, owned: Owned<H>) {
        self.set(handle::give(owned));
    }
}

/// Zeroes an output parameter.
///
/// # Safety
/// `p` is NULL or points to writable memory for a `T`.
pub(crate) unsafe fn zero<T: OutValue>(p: *mut T) {
    if !p.is_null() {
        // SAFETY: the caller guarantees that `p` is writable, and `OutValue` guarantees that all-zero bytes are a valid
        // `T`.
        unsafe { p.write_bytes(0, 1) };
    }
}

/// Makes an [`Out`] from the pointer that C passed. Fails for NULL.
///
/// # Safety
/// `p` is NULL or points to an initialised `T`, as [`zero`] leaves it, that nothing else uses during the call.
pub(crate) unsafe fn out<'a, T: OutValue>(p: *mut T, name: &str) -> Result<Out<'a, T>> {
    // SAFETY: the caller guarantees the "# Safety" conditions of this function.
    unsafe { p.as_mut() }.map(Out).ok_or_else(|| null_argument(name))
}

/// Zeroes every given output parameter, then makes a tuple of [`Out`]s. If a parameter is NULL, the enclosing function
/// fails with an error that names the first such parameter. Only [`in_out`] and [`out_opt`] may precede this call in a
/// body, so that no earlier failure can leave an output parameter unchanged.
macro_rules! outs {
    ($($p:ident),+) => {{
        // SAFETY: netlib.h requires that each is NULL or points to memory of its type that no other argument uses.
        unsafe {
            $($crate::ffi::out::zero($p);)+
            ($($crate::ffi::out::out($p, stringify!($p))?),+)
        }
    }};
}

/// Zeroes an output parameter that may be NULL, and makes an [`Out`] if it is not NULL. In a function body, [`out_opt`]
/// must come before [`outs`].
macro_rules! out_opt {
    ($p:ident) => {
        // SAFETY: netlib.h requires NULL or a pointer to memory of its type that no other argument uses.
        unsafe {
            $crate::ffi::out::zero($p);
            $crate::ffi::out::out($p, stringify!($p)).ok()
        }
    };
}

/// Reads the value of an in/out parameter; NULL gives 0. A call of [`in_out`] must come before [`out_opt`], which
/// zeroes the parameter.
macro_rules! in_out {
    ($p:ident) => {
        // SAFETY: netlib.h requires NULL or a pointer to an initialised value of its type.
        unsafe { $p.as_ref() }.copied().unwrap_or_default()
    };
}

/// Makes an [`Out`] from the pointer to a descriptor that C passed, and sets the descriptor to -1. The initial value is
/// not 0, because a caller that closes descriptor 0 after an error would close its standard input.
///
/// # Safety
/// `p` is NULL or points to writable memory for an `int` that nothing else uses during the call.
pub(crate) unsafe fn descriptor<'a>(p: *mut c_int, name: &str) -> Result<Out<'a, c_int>> {
    if !p.is_null() {
        // SAFETY: the caller guarantees that `p` is writable.
        unsafe { p.write(-1) };
    }
    // SAFETY: the caller guarantees the "# Safety" conditions of this function; the value was initialised above.
    unsafe { out(p, name) }
}

/// Does what [`outs`] does, for a single output parameter that is a descriptor.
macro_rules! out_fd {
    ($p:ident) => {
        // SAFETY: netlib.h requires NULL or a pointer to memory for an int that no other argument uses.
        unsafe { $crate::ffi::out::descriptor($p, stringify!($p)) }?
    };
}

pub(crate) use {in_out, out_fd, out_opt, outs};
