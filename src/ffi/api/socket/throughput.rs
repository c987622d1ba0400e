//! Minimum throughput for reads of a descriptor.

use std::ffi::c_int;

use crate::ffi::api::basics::{netlib_error, netlib_status};
use crate::ffi::api::limit::netlib_limit;
use crate::ffi::args::{arg_mut, arg_opt};
use crate::ffi::out::outs;
use crate::ffi::{Handle, Unique, guard, handle};
use crate::socket::throughput::Throughput;

/// A throughput guard: a minimum throughput for the reads of one connection, which detects a peer that sends a few
/// bytes now and then, often enough to prevent a read timeout. **One call at a time**. For a `netlib_stream`, use
/// `netlib_stream_set_minimum_throughput`. A throughput guard is for a descriptor that the application reads itself:
///
///     while (netlib_throughput_wait_for_read(throughput, fd, 30.0, limit, &err) == NETLIB_OK) {
///         ssize_t n = recv(fd, buf, sizeof buf, MSG_DONTWAIT);
///         if (n == 0 || (n < 0 && errno != EAGAIN)) break;
///         if (n > 0) netlib_throughput_add(throughput, (size_t)n);
///     }
///
/// In each period of `seconds` of waiting, `bytes` must arrive; once `bytes` have arrived, the next period begins. The
/// waiting time consists of the time in `netlib_throughput_wait_for_read` and, after a call that returned
/// `NETLIB_TIMED_OUT`, the time until the next call. The time in which the caller processes data does not count.
pub struct netlib_throughput {
    _private: [u8; 0],
}

impl Handle for netlib_throughput {
    type Value = Throughput;
    type Ownership = Unique;
}

/// Makes a throughput guard for one connection.
///
/// @param bytes the number of bytes that must arrive in each period; 0 for no minimum, with any `seconds`.
/// @param seconds the length of a period, more than 0; `NETLIB_TIMEOUT_NONE` for no minimum.
/// @return `NETLIB_INVALID_ARGUMENT` if `bytes` is not 0 and `seconds` is 0, negative or NaN.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_throughput_new(
    bytes: usize,
    seconds: f64,
    throughput: *mut *mut netlib_throughput,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let throughput = outs!(throughput);
        throughput.give(Box::new(Throughput::new(bytes, seconds)?));
        Ok(())
    })
}

/// Releases a throughput guard.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_throughput_free(throughput: *mut netlib_throughput) {
    guard::nothing(|| handle::free(throughput));
}

/// Waits as `netlib_wait_for_read` does, but at most until the current period ends.
///
/// @param timeout in seconds: 0 to poll once, `NETLIB_TIMEOUT_DEFAULT` for the process default, `NETLIB_TIMEOUT_NONE`
///        to wait until the period ends.
/// @return `NETLIB_TOO_SLOW` if fewer than `bytes` have arrived in the period; all that `netlib_wait_for_read` returns.
///         The error message of `NETLIB_TOO_SLOW` states how many bytes have arrived, and the next call begins a new
///         period.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_throughput_wait_for_read(
    throughput: *mut netlib_throughput,
    fd: c_int,
    timeout: f64,
    limit: *const netlib_limit,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || arg_mut!(throughput).wait_for_read(fd, timeout, arg_opt!(limit)))
}

/// Tells a throughput guard that the caller has read `bytes` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_throughput_add(throughput: *mut netlib_throughput, bytes: usize) {
    guard::nothing(|| {
        // SAFETY: netlib.h: NULL or a live handle that no other call is using.
        if let Ok(mut throughput) = unsafe { handle::borrow_mut(throughput, "throughput") } {
            throughput.add(bytes);
        }
    });
}
