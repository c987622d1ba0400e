//! Waiting for descriptors, and dropped connections.

use std::ffi::c_int;

use crate::ffi::api::basics::{netlib_error, netlib_status};
use crate::ffi::api::limit::netlib_limit;
use crate::ffi::args::arg_opt;
use crate::ffi::guard;
use crate::ffi::out::outs;
use crate::socket::{self, sys, wait};

/// Waits until a descriptor can be read or written without blocking. netlib waits with poll(2), so descriptors above
/// 1023 work.
///
/// A descriptor counts as readable and writable at a hang-up and after an error; the next read or write reports which
/// of these happened. If a signal handler runs during the call, the wait continues, unless the interrupt check of the
/// limit ends it.
///
/// @param events `POLLIN`, `POLLOUT` of <poll.h>, or their sum.
/// @param timeout in seconds: 0 to poll once, `NETLIB_TIMEOUT_DEFAULT` for the process default, `NETLIB_TIMEOUT_NONE`
///        to wait without bound.
/// @param ready out: `POLLIN`, `POLLOUT` or their sum: those of `events` for which the descriptor is ready; 0 if the
///        timeout passed first.
/// @return `NETLIB_OK` if the descriptor is ready for at least one of `events`; `NETLIB_TIMED_OUT` if the timeout
///         passed first; `NETLIB_CANCELLED` or `NETLIB_DEADLINE_EXCEEDED` if the limit ended first;
///         `NETLIB_INVALID_ARGUMENT` for invalid events or an invalid timeout; `NETLIB_IO` if `fd` is not open (errno
///         `EBADF`), or if poll(2) failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_wait(
    fd: c_int,
    events: i32,
    timeout: f64,
    limit: *const netlib_limit,
    ready: *mut i32,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let ready = outs!(ready);
        let found = wait::wait_for(fd, wait::events_from_code(events)?, timeout, arg_opt!(limit))?;
        ready.set(i32::from(found));
        Ok(wait::wait_status(found))
    })
}

/// Waits until a descriptor can be read without blocking. netlib waits with poll(2), so descriptors above 1023 work.
///
/// A descriptor is also readable at the end of the stream, after a hang-up and after an error; the next read reports
/// which of these happened. If a signal handler runs during the call, the wait continues, unless the interrupt check of
/// the limit ends it.
///
/// @param timeout in seconds: 0 to poll once, `NETLIB_TIMEOUT_DEFAULT` for the process default, `NETLIB_TIMEOUT_NONE`
///        to wait without bound.
/// @return `NETLIB_OK` when readable; `NETLIB_TIMED_OUT` if the timeout passed first; `NETLIB_CANCELLED` or
///         `NETLIB_DEADLINE_EXCEEDED` if the limit ended first; `NETLIB_INVALID_ARGUMENT` for an invalid timeout;
///         `NETLIB_IO` if `fd` is not open (errno `EBADF`), or if poll(2) failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_wait_for_read(
    fd: c_int,
    timeout: f64,
    limit: *const netlib_limit,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || wait::wait_for(fd, sys::POLL_IN, timeout, arg_opt!(limit)).map(wait::wait_status))
}

/// Waits until a descriptor can be written without blocking. netlib waits with poll(2), so descriptors above 1023 work.
///
/// A descriptor is also writable after a hang-up and after an error; the next write reports which of these happened. A
/// socket that is connecting becomes writable when it is connected or has failed.
///
/// @param timeout as for `netlib_wait_for_read`.
/// @return all that `netlib_wait_for_read` returns for the same `fd` and `timeout`; `NETLIB_OK` means writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_wait_for_write(
    fd: c_int,
    timeout: f64,
    limit: *const netlib_limit,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || wait::wait_for(fd, sys::POLL_OUT, timeout, arg_opt!(limit)).map(wait::wait_status))
}

/// Checks whether an idle connection has been dropped, so that it can carry no request and should be closed.
///
/// An idle HTTP/1 peer sends nothing, so a readable connection counts as dropped: the end of the stream, an error or
/// unsolicited data has arrived. The check does not block. For TLS connections, on which session tickets and key
/// updates may arrive, use `netlib_stream_is_dropped`.
///
/// @param fd the connection's descriptor, borrowed. A descriptor that is not open counts as dropped, and so does a
///        negative number, except `NETLIB_FD_MANAGED`, which stands for a connection managed by the application's
///        platform and is never reported as dropped.
/// @param dropped out: 1 if the connection has been dropped, else 0.
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
