//! Connecting, and waiting for descriptors.

pub mod options;
pub mod address;
pub mod resolve;
pub mod race;
pub mod unix;
pub mod wait;
pub mod throughput;

use std::ffi::{c_char, c_int};
use std::os::fd::IntoRawFd;

use crate::ffi::api::basics::{netlib_error, netlib_status};
use crate::ffi::api::limit::netlib_limit;
use crate::ffi::api::socket::options::netlib_connect_options;
use crate::ffi::args::{arg_port, arg_shared_opt, arg_str};
use crate::ffi::out::out_fd;
use crate::ffi::{guard, options as builder};
use crate::socket::connect::create_connection;
use crate::socket::connect_options::ConnectOptions;

/// Connects a TCP socket to a host. The call tries the host's addresses one after the other, in the order of
/// getaddrinfo(3), until a connection is made; `netlib_connect_run` races the addresses instead. At most 64 addresses
/// are tried; the error message states how many addresses the host has.
///
/// The connected socket is blocking, has no timeout set on it, and is closed by exec. Name lookup and connecting obey
/// `limit`: when the limit ends, the call returns at once, even if the resolver or the peer hangs. With `limit`, or
/// with a total limit in the options (`netlib_connect_options_use_timeout`), the lookup runs on a separate thread,
/// which blocks signals. If a limit ends during the lookup, the thread finishes the lookup after the call has returned.
/// Without any limit, the lookup runs on the calling thread. At most 64 lookup threads run in a process: further
/// lookups wait in a queue until a thread is free, or until a limit of their call ends. TCP allows a socket to connect
/// to itself if no process listens on the port; netlib treats such a connection as refused.
///
/// @param host a name (RFC 1123; an internationalised name is converted by UTS 46), an IPv4 address, or an IPv6 address
///        with or without brackets.
/// @param port the port, 0 to 65535.
/// @param fd out: the connected socket; -1 on failure.
/// @param err the error message names the host and the port. The error has one cause for each address tried, including
///        an attempt that a limit ended, with the address, the errno and the duration of the attempt.
/// @return `NETLIB_NAME_RESOLUTION`, with the resolver's code; `NETLIB_ADDRESS_REFUSED` if the options refuse every
///         address; `NETLIB_CONNECT_TIMEOUT` if the attempt for the last allowed address timed out, or if the total
///         limit of the options passed; `NETLIB_CONNECT_FAILED` if the attempt for the last allowed address failed for
///         another reason, or if the system has no descriptor or thread left (with an errno such as `EMFILE`);
///         `NETLIB_CANCELLED` or `NETLIB_DEADLINE_EXCEEDED` if the limit ended first; `NETLIB_INVALID_URL` for an
///         invalid host, for example with an empty label or a label of more than 63 bytes; `NETLIB_INVALID_ARGUMENT`
///         for a port or an option out of range; `NETLIB_UNSUPPORTED` for an option that the operating system does not
///         have; `NETLIB_INVALID_UTF8`; `NETLIB_CALLBACK_FAILED` if the address callback or the resolve callback
///         failed; any failure status that the resolve callback returns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_create_connection(
    host: *const c_char,
    port: i32,
    options: *const netlib_connect_options,
    limit: *const netlib_limit,
    fd: *mut c_int,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let fd = out_fd!(fd);
        // An Arc instead of a borrow, because a callback may change or free the caller's options.
        let options = builder::shared::<_, ConnectOptions>(options)?;
        let connected = create_connection(arg_str!(host), arg_port!(port), options, arg_shared_opt!(limit))?;
        fd.set(connected.into_raw_fd());
        Ok(())
    })
}
