//! Waiting for descriptors, and dropped connections.

use std::ffi::c_int;

use crate::ffi::api::basics::{netlib_error, netlib_status};
use crate::ffi::api::limit::netlib_limit;
use crate::ffi::args::arg_opt;
use crate::ffi::guard;
use crate::ffi::out::outs;
use crate::socket::{self, sys, wait};

/// Waits until a descriptor can be read without blocking, with poll(2), so that descriptors above 1023 work.
///
/// An end of stream, a hang-up and an error count as readable: the next read reports which one it is. A signal handler
/// that runs meanwhile does not shorten the wait.
///
/// @param timeout in seconds: 0 polls once, `NETLIB_TIMEOUT_DEFAULT` is the process default, `NETLIB_TIMEOUT_NONE`
///        waits without bound.
/// @return `NETLIB_OK` when readable; `NETLIB_TIMED_OUT` if the timeout passed first; `NETLIB_CANCELLED` or
///         `NETLIB_DEADLINE_EXCEEDED` if the limit ended first; `NETLIB_INVALID_ARGUMENT` for an invalid timeout;
///         `NETLIB_IO` if `fd` is not open (errno `EBADF`), or poll failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_wait_for_read(
    fd: c_int,
    timeout: f64,
    limit: *const netlib_limit,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || wait::wait_for(fd, sys::POLL_IN, timeout, arg_opt!(limit)))
}

/// Waits until a descriptor can be written without blocking, with poll(2), so that descriptors above 1023 work.
///
/// A hang-up and an error count as writable: the next write reports which one it is. A socket that is connecting
/// becomes writable when it is connected or has failed.
///
/// @return as `netlib_wait_for_read`, with the same `timeout` and `fd`; `NETLIB_OK` means writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_wait_for_write(
    fd: c_int,
    timeout: f64,
    limit: *const netlib_limit,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || wait::wait_for(fd, sys::POLL_OUT, timeout, arg_opt!(limit)))
}

/// Checks whether an idle connection can no longer carry a request and should be closed.
///
/// An idle HTTP/1 peer sends nothing, so anything to read means that the connection is dropped: the end of the stream,
/// an error, or unsolicited data. The check does not block. With TLS, other records may arrive: use
/// `netlib_tls_stream_is_dropped`.
///
/// @param fd the connection's descriptor, borrowed. A descriptor that is not open counts as dropped, as does any
///        negative number except `NETLIB_FD_MANAGED`, which stands for a connection that the application's platform
///        manages, and is never reported as dropped.
/// @param dropped out: 0 or 1.
/// @return `NETLIB_IO` if the system could not check the descriptor.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_is_connection_dropped(
    fd: c_int,
    dropped: *mut i32,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let dropped = outs!(dropped);
        dropped.set_bool(socket::is_connection_dropped(fd)?);
        Ok(())
    })
}
