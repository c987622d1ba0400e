//! Connecting to Unix domain sockets.

use std::ffi::{c_char, c_int};
use std::os::fd::IntoRawFd;

use crate::ffi::api::basics::{netlib_error, netlib_status};
use crate::ffi::api::limit::netlib_limit;
use crate::ffi::api::socket::options::netlib_connect_options;
use crate::ffi::api::socket::race::netlib_connect;
use crate::ffi::args::{arg_bytes, arg_shared_opt};
use crate::ffi::out::{out_fd, outs};
use crate::ffi::{guard, options as builder};
use crate::socket::connect::{Connect, create_unix_connection};
use crate::socket::connect_options::ConnectOptions;
use crate::socket::endpoint::UnixAddress;

/// Connects a stream socket to a Unix domain socket. Like `netlib_create_connection`, the call obeys `limit` and
/// returns a blocking socket that exec closes.
///
/// The following options apply: the connect timeout, the address policy, and socket options of the level `SOL_SOCKET`.
/// All other options, such as the source address and `TCP_NODELAY`, are for IP and are ignored.
///
/// If the backlog of the listening socket is full, netlib tries again every 5 ms until the timeout passes or the limit
/// ends, because Linux does not report when the backlog has room.
///
/// @param path the socket's path, at most 107 bytes on Linux; or an abstract name of Linux, which begins with a NUL and
///        has at most 108 bytes including the NUL. The bytes need not be UTF-8.
/// @param len the length of `path` in bytes; `NETLIB_NTS` if it is a NUL-terminated path.
/// @param fd out: the connected socket; -1 on failure.
/// @param err the error message contains the path. An abstract name is written as "@name", and an unprintable byte as
///        an escape such as "\xff".
/// @return `NETLIB_CONNECT_FAILED`, with the errno: `ENOENT`, `EACCES`, `ECONNREFUSED` if no process listens, or
///         another errno; `NETLIB_CONNECT_TIMEOUT`; `NETLIB_ADDRESS_REFUSED` if the options refuse
///         `NETLIB_ADDRESS_CLASS_UNIX`; `NETLIB_CALLBACK_FAILED` if the address callback failed; `NETLIB_CANCELLED` or
///         `NETLIB_DEADLINE_EXCEEDED` if the limit ended first; `NETLIB_INVALID_ARGUMENT` for a path that is empty, is
///         too long, contains a NUL or consists only of NULs, and for an option out of range; `NETLIB_UNSUPPORTED` for
///         an abstract name on a system that has no abstract names.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_create_unix_connection(
    path: *const c_char,
    len: usize,
    options: *const netlib_connect_options,
    limit: *const netlib_limit,
    fd: *mut c_int,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let fd = out_fd!(fd);
        // An Arc instead of a borrow, because a callback may change or free the caller's options.
        let options = builder::shared::<_, ConnectOptions>(options)?;
        let address = UnixAddress::new(arg_bytes!(path, len))?;
        fd.set(create_unix_connection(address, options, arg_shared_opt!(limit))?.into_raw_fd());
        Ok(())
    })
}

/// Makes a connect operation for a Unix domain socket, for use in an event loop. To race a Unix domain socket against
/// other addresses, add its `sockaddr_un` to the address list of `netlib_connect_new_addresses`.
///
/// While the backlog of the listening socket is full, the attempt has no descriptor: wait for the time that
/// `netlib_connect_wait_seconds` returns, and for the descriptor of the limit, if any.
///
/// @param path the path or abstract name, as for `netlib_create_unix_connection`.
/// @param len the length of `path` in bytes; `NETLIB_NTS` if it is a NUL-terminated path.
/// @return `NETLIB_INVALID_ARGUMENT` and `NETLIB_UNSUPPORTED`, for the same reasons as `netlib_create_unix_connection`;
///         all that `netlib_connect_options_check` returns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_connect_new_unix(
    path: *const c_char,
    len: usize,
    options: *const netlib_connect_options,
    connect: *mut *mut netlib_connect,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let connect = outs!(connect);
        let options = builder::shared::<_, ConnectOptions>(options)?;
        connect.give(Box::new(Connect::to_unix(UnixAddress::new(arg_bytes!(path, len))?, options)));
        Ok(())
    })
}
