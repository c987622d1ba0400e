//! Minimum throughput for reads of a descriptor.

use std::ffi::c_int;

use crate::ffi::api::basics::{netlib_error, netlib_status};
use crate::ffi::api::limit::netlib_limit;
use crate::ffi::args::{arg_mut, arg_opt};
use crate::ffi::out::outs;
use crate::ffi::{Handle, Unique, guard, handle};
use crate::socket::throughput::Throughput;

/// A minimum throughput for the reads of one connection: a guard against a peer that sends a little now and then and so
/// never exceeds a read timeout. **Single**.
///
///     while (netlib_throughput_wait_for_read(throughput, fd, 30.0, limit, &err) == NETLIB_OK) {
///         ssize_t n = recv(fd, buf, sizeof buf, MSG_DONTWAIT);
///         if (n == 0 || (n < 0 && errno != EAGAIN)) break;
///         if (n > 0) netlib_throughput_add(throughput, (size_t)n);
///     }
///
/// In each period of `seconds` of waiting, `bytes` must arrive; once they have arrived, the next period begins. Only
/// the time in `netlib_throughput_wait_for_read` is counted and, after it returned `NETLIB_TIMED_OUT`, the time until
/// the next call. The time in which the caller processes data is not counted. For a TLS stream use
/// `netlib_tls_stream_set_minimum_throughput`.
pub struct netlib_throughput {
    _private: [u8; 0],
}

impl Handle for netlib_throughput {
    type Value = Throughput;
    type Ownership = Unique;
}

/// Makes a guard for one connection.
///
/// @param bytes 0 for no minimum, whatever `seconds` is.
/// @param seconds more than 0; with `NETLIB_TIMEOUT_NONE` there is no minimum.
/// @return `NETLIB_INVALID_ARGUMENT`.
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

/// Releases a guard.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_throughput_free(throughput: *mut netlib_throughput) {
    guard::nothing(|| handle::free(throughput));
}

/// Waits as `netlib_wait_for_read` does, but at most until the minimum is due.
///
/// @param timeout in seconds: 0 polls once, `NETLIB_TIMEOUT_DEFAULT` is the process default, `NETLIB_TIMEOUT_NONE`
///        waits until the minimum is due.
/// @return `NETLIB_TOO_SLOW` if too little has arrived; the message states how much, and the next call begins a new
///         period. Otherwise as `netlib_wait_for_read`.
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

/// Counts `bytes` that were read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_throughput_add(throughput: *mut netlib_throughput, bytes: usize) {
    guard::nothing(|| {
        // SAFETY: netlib.h: NULL or a live handle that no other call is using.
        if let Ok(mut throughput) = unsafe { handle::borrow_mut(throughput, "throughput") } {
            throughput.add(bytes);
        }
    });
}
