//! Connecting, and waiting for descriptors.

pub mod address;
pub mod race;
pub mod resolve;

use std::ffi::{c_char, c_int, c_void};
use std::os::fd::IntoRawFd;

use crate::ffi::api::basics::{netlib_error, netlib_status};
use crate::ffi::api::limit::netlib_limit;
use crate::ffi::args::{arg_bytes, arg_opt, arg_port, arg_str};
use crate::ffi::out::{out_fd, outs};
use crate::ffi::{Handle, Options, Unique, guard, handle, options as builder};
use crate::socket::connect::{ConnectOptions, create_connection};
use crate::socket::{self, sys, wait};

/// How to connect. **Single**: one call at a time.
pub struct netlib_connect_options {
    _private: [u8; 0],
}

impl Handle for netlib_connect_options {
    type Value = Options<ConnectOptions>;
    type Ownership = Unique;
}

/// Makes options that hold the defaults.
///
/// @return owned: free it with `netlib_connect_options_free`. Never NULL.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_connect_options_new() -> *mut netlib_connect_options {
    guard::value(std::ptr::null_mut(), || Ok(handle::give(Box::new(Options::new(ConnectOptions::default())))))
}

/// Releases options.
///
/// @param options owned. May be NULL: nothing happens.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_connect_options_free(options: *mut netlib_connect_options) {
    guard::nothing(|| handle::free(options));
}

/// Sets how long connecting to each address may take. A host with three addresses may take three times as long, and
/// resolving its name is not counted: a `netlib_limit` bounds the whole.
///
/// @param options the options. May be NULL: nothing happens.
/// @param timeout in seconds, 0 or more; `NETLIB_TIMEOUT_DEFAULT`, the default: the process default at the time of the
///        connect; `NETLIB_TIMEOUT_NONE`: as long as the system tries.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_connect_options_set_timeout(options: *mut netlib_connect_options, timeout: f64) {
    builder::set(options, "netlib_connect_options_set_timeout", |options: &mut ConnectOptions| {
        options.set_timeout(timeout)
    });
}

/// Sets the address and port that connections come from. The default is the system's choice.
///
/// @param options the options. May be NULL: nothing happens.
/// @param host an address of this machine, or a name of it, copied; "" leaves the address to the system. Not NULL.
/// @param port 0 to 65535; 0 leaves the port to the system.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_connect_options_set_source_address(
    options: *mut netlib_connect_options,
    host: *const c_char,
    port: i32,
) {
    builder::set(options, "netlib_connect_options_set_source_address", |options: &mut ConnectOptions| {
        options.set_source_address(arg_str!(host), arg_port!(port))
    });
}

/// Adds a socket option, set with setsockopt(2) on each socket before it is bound and connected, in the order in which
/// they were added. None is set by default, `TCP_NODELAY` included.
///
/// @param options the options. May be NULL: nothing happens.
/// @param level as for setsockopt(2), for instance `IPPROTO_TCP`.
/// @param name as for setsockopt(2), for instance `TCP_NODELAY`.
/// @param value what the option is set to, copied. Not NULL unless `len` is 0.
/// @param len the length of `value` in bytes; `NETLIB_NTS` if it is NUL-terminated text.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_connect_options_add_socket_option(
    options: *mut netlib_connect_options,
    level: i32,
    name: i32,
    value: *const c_void,
    len: usize,
) {
    builder::set(options, "netlib_connect_options_add_socket_option", |options: &mut ConnectOptions| {
        options.add_socket_option(level, name, arg_bytes!(value, len))
    });
}

/// Connects a TCP socket to a host. Its addresses are tried one after the other, in the order of getaddrinfo(3), until
/// one accepts.
///
/// The socket is blocking, has no timeout set on it, and is closed by exec. Resolving and connecting obey `limit`: when it
/// ends, the call returns at once, whatever the resolver or the peer does. A lookup that is given up so ends on a thread
/// of its own, which takes no signals; without a limit the lookup runs on the calling thread.
///
/// @param host a name (RFC 1123; an internationalised one is converted by UTS 46), an IPv4 address, or an IPv6 address
///        with or without brackets. Copied. Not NULL.
/// @param port 0 to 65535.
/// @param options borrowed. May be NULL: the defaults.
/// @param limit ends the call early; borrowed. May be NULL: no limit.
/// @param fd out, owned: the connected socket, close it with close(2); -1 on failure. Not NULL.
/// @param err out, owned: its message names the host and the port; it has one cause for each address tried, the one at
///        which a limit ended included, which says the address, the errno and how long it took. May be NULL.
/// @return `NETLIB_OK`; `NETLIB_NAME_RESOLUTION`, with the resolver's code; `NETLIB_ADDRESS_REFUSED` if the options refuse
///         every address; of those that they allow, `NETLIB_CONNECT_TIMEOUT` if the last address
///         tried did not answer in time, `NETLIB_NEW_CONNECTION` if it failed otherwise, or no descriptor or thread could be
///         had (the errno is `EMFILE` or another of the system's); `NETLIB_CANCELLED`,
///         `NETLIB_DEADLINE_EXCEEDED`: the limit ended first; `NETLIB_INVALID_URL` for a host that cannot be one, such as
///         one with an empty label or one of more than 63 bytes; `NETLIB_INVALID_ARGUMENT` for a port or an option out of
///         range; `NETLIB_INVALID_UTF8`; `NETLIB_CALLBACK_FAILED`, or what the resolve callback returned;
///         `NETLIB_TOO_MANY_LOOKUPS`: 64 lookups that a limit may end are outstanding in this
///         process.
/// @threads any
/// @since 0.1.0
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
        let options = builder::borrowed::<_, ConnectOptions>(options)?;
        let connected = create_connection(arg_str!(host), arg_port!(port), &options, arg_opt!(limit))?;
        fd.set(connected.into_raw_fd());
        Ok(())
    })
}

/// Waits until a descriptor can be read without blocking, with poll(2): descriptors above 1023 are fine.
///
/// An end of stream, a hang-up and an error count as readable: the next read tells which it is. A signal handler that
/// runs meanwhile does not shorten the wait.
///
/// @param fd the descriptor, borrowed.
/// @param timeout in seconds: 0 looks once, `NETLIB_TIMEOUT_DEFAULT` is the process default, `NETLIB_TIMEOUT_NONE` waits
///        for ever.
/// @param limit ends the wait early; borrowed. May be NULL: no limit.
/// @param err out, owned. May be NULL.
/// @return `NETLIB_OK`: readable; `NETLIB_TIMEOUT`: the timeout passed first; `NETLIB_CANCELLED`,
///         `NETLIB_DEADLINE_EXCEEDED`: the limit ended first; `NETLIB_INVALID_ARGUMENT` for a timeout that is none;
///         `NETLIB_IO`: `fd` is not open (errno `EBADF`), or poll failed.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_wait_for_read(
    fd: c_int,
    timeout: f64,
    limit: *const netlib_limit,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || wait::wait_for(fd, sys::POLL_IN, timeout, arg_opt!(limit)))
}

/// Waits until a descriptor can be written without blocking, with poll(2): descriptors above 1023 are fine.
///
/// A hang-up and an error count as writable: the next write tells. A socket that is connecting becomes writable when
/// it is connected or has failed.
///
/// @param fd the descriptor, borrowed.
/// @param timeout in seconds: 0 looks once, `NETLIB_TIMEOUT_DEFAULT` is the process default, `NETLIB_TIMEOUT_NONE` waits
///        for ever.
/// @param limit ends the wait early; borrowed. May be NULL: no limit.
/// @param err out, owned. May be NULL.
/// @return as `netlib_wait_for_read`, `NETLIB_OK` meaning writable.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_wait_for_write(
    fd: c_int,
    timeout: f64,
    limit: *const netlib_limit,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || wait::wait_for(fd, sys::POLL_OUT, timeout, arg_opt!(limit)))
}

/// Says whether an idle connection can no longer carry a request and should be closed.
///
/// An idle HTTP/1 connection has nothing to say, so anything there is to read means that it is dropped: the end of the
/// stream, an error, or data that nobody asked for. It does not block.
///
/// @param fd the connection's descriptor, borrowed. One that is not open is dropped, and so is any negative number but
///        `NETLIB_FD_MANAGED`, which stands for a connection that its platform manages and is never dropped.
/// @param dropped out: true or false. Not NULL.
/// @param err out, owned. May be NULL.
/// @return `NETLIB_OK`; `NETLIB_IO` if the system could not say.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_is_connection_dropped(
    fd: c_int,
    dropped: *mut bool,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let dropped = outs!(dropped);
        dropped.set(socket::is_connection_dropped(fd)?);
        Ok(())
    })
}

/// The address family to look names up for: `AF_UNSPEC`, which finds IPv6 and IPv4 addresses, if this system can bind the
/// IPv6 loopback address, else `AF_INET`. Asked of the system at each call.
///
/// @return `AF_UNSPEC` or `AF_INET`.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_allowed_gai_family() -> i32 {
    guard::value(libc::AF_INET, || Ok(socket::allowed_gai_family()))
}

/// The reading of a clock that never goes backward: `CLOCK_MONOTONIC`. Only differences of two readings mean anything.
///
/// @return seconds.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_current_time() -> f64 {
    guard::value(0.0, || Ok(sys::monotonic_seconds()))
}
