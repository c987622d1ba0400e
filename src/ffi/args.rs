//! Converts the arguments of exported functions. Each macro takes the parameter as an identifier, so that an error
//! names the parameter as the header does.

use std::ffi::{CStr, OsStr, c_char};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use crate::error::{Error, Result};
use crate::ffi::handle::null_argument;
use crate::memory;
use crate::status::Status;

/// The length that stands for NUL-terminated text.
pub(crate) const NTS: usize = usize::MAX;

/// Borrows the value of a handle: `&Value`. NULL is an error that names the parameter.
macro_rules! arg {
    ($p:ident) => {
        // SAFETY: netlib.h requires NULL or a live handle of this type.
        unsafe { $crate::ffi::handle::borrow($p, stringify!($p)) }?
    };
}

/// Borrows the value of a handle that may be NULL: `Option<&Value>`.
macro_rules! arg_opt {
    ($p:ident) => {
        // SAFETY: netlib.h requires NULL or a live handle of this type.
        if $p.is_null() { None } else { Some(unsafe { $crate::ffi::handle::borrow($p, stringify!($p)) }?) }
    };
}

/// Borrows the value of a single-threaded handle: `&mut Value`.
macro_rules! arg_mut {
    ($p:ident) => {
        // SAFETY: netlib.h requires NULL or a live handle of this type that no other call is using.
        unsafe { $crate::ffi::handle::borrow_mut($p, stringify!($p)) }?
    };
}

/// Does what `arg_mut` does, for a const handle whose value the function only reads. While the value is borrowed, a
/// callback that uses the handle gets `NETLIB_BUSY`.
macro_rules! arg_exclusive {
    ($p:ident) => {
        // SAFETY: netlib.h requires NULL or a live handle of this type that no other call is using.
        unsafe { $crate::ffi::handle::borrow_mut($p.cast_mut(), stringify!($p)) }?
    };
}

/// Borrows the value of a shared handle and keeps the value alive, because the call may run a callback that frees the
/// handle.
macro_rules! arg_kept_alive {
    ($p:ident, $may_call_back:expr) => {
        // SAFETY: netlib.h requires NULL or a live handle of this type.
        unsafe { $crate::ffi::handle::borrow_and_keep_alive($p, stringify!($p), $may_call_back) }?
    };
}

/// Returns a counted reference to the value of a shared handle, for a callee that keeps the reference: `Arc<Value>`.
macro_rules! arg_shared {
    ($p:ident) => {
        // SAFETY: netlib.h requires NULL or a live handle of this type.
        unsafe { $crate::ffi::handle::share($p, stringify!($p)) }?
    };
}

/// Does what `arg_shared` does, for a handle that may be NULL: `Option<Arc<Value>>`.
macro_rules! arg_shared_opt {
    ($p:ident) => {
        // SAFETY: netlib.h requires NULL or a live handle of this type.
        if $p.is_null() { None } else { Some(unsafe { $crate::ffi::handle::share($p, stringify!($p)) }?) }
    };
}

/// Reads a NUL-terminated string: `&CStr`.
macro_rules! arg_cstr {
    ($p:ident) => {
        // SAFETY: netlib.h requires NULL or a NUL-terminated string that lives across the call.
        unsafe { $crate::ffi::args::c_str($p, stringify!($p)) }?
    };
}

/// Reads a NUL-terminated string that must be UTF-8: `&str`.
macro_rules! arg_str {
    ($p:ident) => {
        // SAFETY: netlib.h requires NULL or a NUL-terminated string that lives across the call.
        unsafe { $crate::ffi::args::text($p, stringify!($p)) }?
    };
}

/// Reads a request method as `&str`. The core accepts only tokens, which are ASCII.
macro_rules! arg_method {
    ($p:ident) => {
        // SAFETY: netlib.h requires NULL or a NUL-terminated string that lives across the call.
        unsafe { $crate::ffi::args::ascii($p, stringify!($p)) }?
    };
}

/// Reads a NUL-terminated string that must be UTF-8: `Option<&str>`. NULL is `None`.
macro_rules! arg_str_opt {
    ($p:ident) => {
        // SAFETY: netlib.h requires NULL or a NUL-terminated string that lives across the call.
        if $p.is_null() { None } else { Some(unsafe { $crate::ffi::args::text($p, stringify!($p)) }?) }
    };
}

/// Reads bytes given as pointer and length. `(NULL, 0)` gives an empty slice; with the length `NETLIB_NTS` the text
/// ends at its NUL.
macro_rules! arg_bytes {
    ($p:ident, $len:ident) => {
        // SAFETY: netlib.h requires `$len` readable bytes, or a NUL-terminated string if it is NETLIB_NTS.
        unsafe { $crate::ffi::args::bytes($p.cast(), $len, stringify!($p), stringify!($len)) }?
    };
}

/// Does what `arg_bytes` does, for an optional argument: NULL with the length 0 or `NETLIB_NTS` is `None`. NULL with
/// any other length is an error, because the caller probably passed the wrong pointer.
macro_rules! arg_bytes_opt {
    ($p:ident, $len:ident) => {
        // SAFETY: netlib.h requires `$len` readable bytes, or a NUL-terminated string if it is NETLIB_NTS; or NULL.
        unsafe { $crate::ffi::args::bytes_opt($p.cast(), $len, stringify!($p), stringify!($len)) }?
    };
}

/// Reads bytes that are not text; `(NULL, 0)` gives an empty slice. The length `NETLIB_NTS` (-1) is an error, because
/// the bytes have no NUL at their end.
macro_rules! arg_data {
    ($p:ident, $len:ident) => {
        // SAFETY: netlib.h requires `$len` readable bytes.
        unsafe { $crate::ffi::args::slice::<u8>($p.cast(), $len, stringify!($p), stringify!($len)) }?
    };
}

/// Reads an array of NUL-terminated strings: `Vec<&CStr>`. `(NULL, 0)` gives an empty `Vec`.
macro_rules! arg_cstrs {
    ($p:ident, $count:ident) => {
        // SAFETY: netlib.h requires `$count` pointers, each to a NUL-terminated string that lives across the call.
        unsafe { $crate::ffi::args::c_strs($p, $count, stringify!($p), stringify!($count)) }?
    };
}

/// Reads an array of numbers: `&[i32]`. `(NULL, 0)` gives an empty slice.
macro_rules! arg_i32s {
    ($p:ident, $count:ident) => {
        // SAFETY: netlib.h requires `$count` readable numbers.
        unsafe { $crate::ffi::args::slice::<i32>($p, $count, stringify!($p), stringify!($count)) }?
    };
}

/// Reads a NUL-terminated string: `Option<&CStr>`. NULL is `None`.
macro_rules! arg_cstr_opt {
    ($p:ident) => {
        // SAFETY: netlib.h requires NULL or a NUL-terminated string that lives across the call.
        if $p.is_null() { None } else { Some(unsafe { $crate::ffi::args::c_str($p, stringify!($p)) }?) }
    };
}

/// Reads the path of a file: a NUL-terminated string of any bytes.
macro_rules! arg_path {
    ($p:ident) => {
        $crate::ffi::args::path(arg_cstr!($p).to_bytes(), stringify!($p))?
    };
}

/// Reads a number through a pointer that may be NULL: `Option<f64>`.
macro_rules! arg_f64_opt {
    ($p:ident) => {
        // SAFETY: netlib.h requires NULL or a readable number.
        unsafe { $p.as_ref() }.copied()
    };
}

/// Reads a C boolean, which must be 0 or 1.
macro_rules! arg_bool {
    ($p:ident) => {
        $crate::ffi::args::boolean($p, stringify!($p))?
    };
}

/// Reads a value of the C enum `$enum`. `$from_code` converts the number, and returns `None` for an unknown number.
macro_rules! arg_enum {
    ($p:ident, $enum:ident, $from_code:expr) => {
        $crate::ffi::args::enum_value($p, stringify!($p), stringify!($enum), $from_code)?
    };
}

/// Borrows memory that the call fills: `&mut [u8]`. `(NULL, 0)` gives an empty slice.
macro_rules! arg_buffer {
    ($p:ident, $len:ident) => {
        // SAFETY: netlib.h requires `$len` writable bytes that nothing else uses during the call.
        unsafe { $crate::ffi::args::buffer($p.cast(), $len, stringify!($p), stringify!($len)) }?
    };
}

/// Reads a port, which must be 0 to 65535.
macro_rules! arg_port {
    ($p:ident) => {
        $crate::ffi::args::port($p, stringify!($p))?
    };
}

/// Reads a port that may be absent: `Option<u16>`. -1 is `None`.
macro_rules! arg_port_opt {
    ($p:ident) => {
        $crate::ffi::args::port_opt($p, stringify!($p))?
    };
}

pub(crate) use {
    arg, arg_bool, arg_buffer, arg_bytes, arg_bytes_opt, arg_cstr, arg_cstr_opt, arg_cstrs, arg_data, arg_enum,
    arg_exclusive, arg_f64_opt, arg_i32s, arg_kept_alive, arg_method, arg_mut, arg_opt, arg_path, arg_port,
    arg_port_opt, arg_shared, arg_shared_opt, arg_str, arg_str_opt,
};

/// # Safety
/// `p` is NULL or a NUL-terminated string that lives for `'a`.
pub(crate) unsafe fn c_str<'a>(p: *const c_char, name: &str) -> Result<&'a CStr> {
    if p.is_null() {
        return Err(null_argument(name));
    }
    // SAFETY: the caller guarantees the "# Safety" conditions of this function.
    Ok(unsafe { CStr::from_ptr(p) })
}

/// # Safety
/// The conditions of [`c_str`] apply.
pub(crate) unsafe fn text<'a>(p: *const c_char, name: &str) -> Result<&'a str> {
    // SAFETY: the caller guarantees the "# Safety" conditions of this function.
    utf8(unsafe { c_str(p, name) }?.to_bytes(), name)
}

/// # Safety
/// The conditions of [`c_str`] apply.
pub(crate) unsafe fn ascii<'a>(p: *const c_char, name: &str) -> Result<&'a str> {
    // SAFETY: the caller guarantees the "# Safety" conditions of this function.
    let bytes = unsafe { c_str(p, name) }?.to_bytes();
    let at = bytes.iter().position(|byte| !byte.is_ascii()).unwrap_or(bytes.len());
    match std::str::from_utf8(bytes) {
        Ok(text) if at == bytes.len() => Ok(text),
        _ => Err(Error::new(Status::InvalidArgument, format!("{name} is not ASCII at byte {at}")).at(at)),
    }
}

/// # Safety
/// `p` points to `len` readable bytes that live for `'a`; or `len` is 0; or `len` is [`NTS`] and `p` is NUL-terminated.
#[inline]
pub(crate) unsafe fn bytes<'a>(p: *const u8, len: usize, name: &str, len_name: &str) -> Result<&'a [u8]> {
    match (p.is_null(), len) {
        (true, 0) => Ok(&[]),
        (true, _) => Err(null_argument(name)),
        // SAFETY: the caller guarantees the "# Safety" conditions of this function.
        (false, NTS) => Ok(unsafe { CStr::from_ptr(p.cast()) }.to_bytes()),
        (false, len) if len > isize::MAX as usize => Err(length_error(len, len_name)),
        // SAFETY: the caller guarantees the "# Safety" conditions of this function; the length is at most `isize::MAX`.
        (false, len) => Ok(unsafe { std::slice::from_raw_parts(p, len) }),
    }
}

/// # Safety
/// The conditions of [`bytes`] apply.
pub(crate) unsafe fn bytes_opt<'a>(p: *const u8, len: usize, name: &str, len_name: &str) -> Result<Option<&'a [u8]>> {
    if p.is_null() && matches!(len, 0 | NTS) {
        return Ok(None);
    }
    // SAFETY: the caller guarantees the "# Safety" conditions of this function.
    unsafe { bytes(p, len, name, len_name) }.map(Some)
}

#[cold]
fn length_error(len: usize, len_name: &str) -> Error {
    Error::new(Status::InvalidArgument, format!("{len_name} is larger than any object: {len}"))
}

/// # Safety
/// `p` points to `count` initialised values that live for `'a`; or `count` is 0.
pub(crate) unsafe fn slice<'a, T>(p: *const T, count: usize, name: &str, count_name: &str) -> Result<&'a [T]> {
    match (p.is_null(), count) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(null_argument(name)),
        (false, count) if count > isize::MAX as usize / size_of::<T>().max(1) => {
            Err(Error::new(Status::InvalidArgument, format!("{count_name} is larger than any array: {count}")))
        }
        // SAFETY: the caller guarantees the "# Safety" conditions of this function; the array has at most `isize::MAX`
        // bytes.
        (false, count) => Ok(unsafe { std::slice::from_raw_parts(p, count) }),
    }
}

/// # Safety
/// The conditions of [`slice`] apply; and each pointer is NULL or refers to a NUL-terminated string that lives for
/// `'a`.
pub(crate) unsafe fn c_strs<'a>(
    p: *const *const c_char,
    count: usize,
    name: &str,
    count_name: &str,
) -> Result<Vec<&'a CStr>> {
    // SAFETY: the caller guarantees the "# Safety" conditions of this function.
    let pointers = unsafe { slice(p, count, name, count_name) }?;
    let mut strings = Vec::new();
    memory::reserve(&mut strings, count, name)?;
    for (i, string) in pointers.iter().enumerate() {
        if string.is_null() {
            return Err(null_argument(&format!("{name}[{i}]")));
        }
        // SAFETY: the caller guarantees the "# Safety" conditions of this function.
        strings.push(unsafe { CStr::from_ptr(*string) });
    }
    Ok(strings)
}

pub(crate) fn utf8<'a>(bytes: &'a [u8], name: &str) -> Result<&'a str> {
    std::str::from_utf8(bytes).map_err(|bad| {
        let at = bad.valid_up_to();
        Error::new(Status::InvalidUtf8, format!("{name} is not valid UTF-8 at byte {at}")).at(at)
    })
}

/// The maximum length of a path: Linux's PATH_MAX. Error messages may contain paths, so this maximum also bounds the
/// length of these messages.
const MAX_PATH: usize = 4096;

pub(crate) fn path(bytes: &[u8], name: &str) -> Result<PathBuf> {
    if bytes.len() > MAX_PATH {
        let message = format!("{name} has {} bytes; a path has at most {MAX_PATH}", bytes.len());
        return Err(Error::new(Status::InvalidArgument, message));
    }
    Ok(PathBuf::from(OsStr::from_bytes(bytes)))
}

pub(crate) fn boolean(value: i32, name: &str) -> Result<bool> {
    match value {
        0 => Ok(false),
        1 => Ok(true),
        other => Err(Error::new(Status::InvalidArgument, format!("{name} must be 0 or 1; it is {other}"))),
    }
}

/// Reads a string for a function that cannot report an error: `None` for NULL.
///
/// # Safety
/// The conditions of [`c_str`] apply.
pub(crate) unsafe fn bytes_or_none<'a>(p: *const c_char) -> Option<&'a [u8]> {
    // SAFETY: the caller guarantees the "# Safety" conditions of this function.
    if p.is_null() { None } else { Some(unsafe { CStr::from_ptr(p) }.to_bytes()) }
}

/// Borrows `len` bytes that the call fills. netlib never reads their previous contents, because C may not have
/// initialised them.
///
/// # Safety
/// `p` points to `len` writable bytes that nothing else uses for `'a`; or `len` is 0.
pub(crate) unsafe fn buffer<'a>(p: *mut u8, len: usize, name: &str, len_name: &str) -> Result<&'a mut [u8]> {
    match (p.is_null(), len) {
        (_, 0) => Ok(&mut []),
        (true, _) => Err(null_argument(name)),
        (false, len) if len > isize::MAX as usize => Err(length_error(len, len_name)),
        // SAFETY: the caller guarantees the "# Safety" conditions of this function; the length is at most `isize::MAX`.
        (false, len) => Ok(unsafe { std::slice::from_raw_parts_mut(p, len) }),
    }
}

pub(crate) fn enum_value<T>(
    value: i32,
    name: &str,
    c_enum: &str,
    from_code: impl FnOnce(i32) -> Option<T>,
) -> Result<T> {
    from_code(value)
        .ok_or_else(|| Error::new(Status::InvalidArgument, format!("{name} must be a {c_enum}; it is {value}")))
}

pub(crate) fn port(value: i32, name: &str) -> Result<u16> {
    u16::try_from(value)
        .map_err(|_| Error::new(Status::InvalidArgument, format!("{name} must be 0 to 65535; it is {value}")))
}

pub(crate) fn port_opt(value: i32, name: &str) -> Result<Option<u16>> {
    if value == -1 {
        return Ok(None);
    }
    u16::try_from(value)
        .map(Some)
        .map_err(|_| Error::new(Status::InvalidArgument, format!("{name} must be -1 to 65535; it is {value}")))
}
