//! How to connect.

use std::ffi::{c_char, c_void};

use crate::ffi::args::{arg_bool, arg_bytes, arg_port, arg_str};
use crate::ffi::{Handle, Options, Unique, guard, handle, options as builder};
use crate::retry::Count;
use crate::socket::connect_options::ConnectOptions;

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
/// @return Never NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_connect_options_new() -> *mut netlib_connect_options {
    guard::value(std::ptr::null_mut(), || Ok(handle::give(Box::new(Options::new(ConnectOptions::default())))))
}

/// Releases options.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_connect_options_free(options: *mut netlib_connect_options) {
    guard::nothing(|| handle::free(options));
}

/// Sets how long connecting to each address may take. A host with three addresses may take three times as long, and
/// resolving its name is not counted: a `netlib_limit` bounds the whole.
///
/// @param timeout in seconds, 0 or more; `NETLIB_TIMEOUT_DEFAULT`, the default: the process default at the time of the
///        connect; `NETLIB_TIMEOUT_NONE`: as long as the system tries.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_connect_options_set_timeout(options: *mut netlib_connect_options, timeout: f64) {
    builder::set(options, "netlib_connect_options_set_timeout", |options: &mut ConnectOptions| {
        options.set_timeout(timeout)
    });
}

/// Sets the address and port that connections come from. The default is the system's choice. Addresses of another
/// family than the source's are passed over as ones that failed; connections to Unix domain sockets have no source.
///
/// A port is good for one connection at a time to the same address. All attempts of a race share it, for which
/// `SO_REUSEADDR` is set.
///
/// @param host an address of this machine, or a name of it; "" leaves the address to the system.
/// @param port 0 to 65535; 0 leaves the port to the system.
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

/// Sets the network interface that connections go out by and come in by, whatever the routes are: `SO_BINDTODEVICE`, or
/// `IP_BOUND_IF` where a system has that. Lookups of names do not follow it. The default is none: the routes decide.
///
/// These options, from here to the user timeout, are set on each TCP socket before it is bound and connected: the
/// interface, no-delay, keep-alive, the user timeout, and then what `netlib_connect_options_add_socket_option` added.
/// One that the system refuses fails the attempt, with the option and the errno in the error: `ENODEV` for an interface
/// that is not there, `EPERM` where binding to one takes a privilege (before Linux 5.7).
///
/// @param name as in the list of if_nameindex(3), 1 to 15 bytes, `NETLIB_UNSUPPORTED` is reported on systems that have
///        no such option.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_connect_options_set_interface(
    options: *mut netlib_connect_options,
    name: *const c_char,
) {
    builder::set(options, "netlib_connect_options_set_interface", |options: &mut ConnectOptions| {
        options.tcp.set_interface(arg_str!(name))
    });
}

/// Sets whether small packets are sent at once, though earlier ones are not acknowledged yet: `TCP_NODELAY`, which
/// turns Nagle's algorithm off. By default it is not set, so that the system's default holds, which is off. A client
/// that writes a request in pieces wants it on.
///
/// @param enable 1: at once; 0: the system may wait for more to send.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_connect_options_set_no_delay(options: *mut netlib_connect_options, enable: i32) {
    builder::set(options, "netlib_connect_options_set_no_delay", |options: &mut ConnectOptions| {
        options.tcp.set_no_delay(arg_bool!(enable));
        Ok(())
    });
}

/// Turns keep-alive on (`SO_KEEPALIVE`): a connection on which nothing comes is probed, and fails with `ETIMEDOUT` if
/// no probe is answered. By default it is not set, so that the system's default holds, which is off.
///
/// Times are rounded up to whole seconds, the system's unit. `NETLIB_UNSUPPORTED` is reported on systems that have no
/// such times for one socket, unless all three are left to the system.
///
/// @param idle seconds without a packet before the first probe (`TCP_KEEPIDLE`): more than 0, at most 32,767;
///        `NETLIB_TIMEOUT_DEFAULT`: as the system has it, two hours on Linux.
/// @param interval seconds from one probe to the next (`TCP_KEEPINTVL`): more than 0, at most 32,767;
///        `NETLIB_TIMEOUT_DEFAULT`: as the system has it.
/// @param count how many probes in a row stay unanswered (`TCP_KEEPCNT`): 1 to 127; `NETLIB_NONE`: as the system has
///        it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_connect_options_set_keepalive(
    options: *mut netlib_connect_options,
    idle: f64,
    interval: f64,
    count: i32,
) {
    builder::set(options, "netlib_connect_options_set_keepalive", |options: &mut ConnectOptions| {
        options.tcp.set_keepalive(idle, interval, Count::from_code(count))
    });
}

/// Sets how long sent data may stay unacknowledged before the connection fails with `ETIMEDOUT`: `TCP_USER_TIMEOUT`,
/// the user timeout of RFC 5482 at this end; the peer is not told. By default it is not set: the system tries for some
/// 15 minutes. Where keep-alive is on too, it ends the probes instead of their count.
///
/// On Linux it also ends a connect that gets no answer, not before the first packet would be sent again, which is after
/// a second: the attempt is a `NETLIB_CONNECT_TIMEOUT`. `netlib_connect_options_set_timeout` is exact.
///
/// @param seconds more than 0, at most 2,147,483, rounded up to whole milliseconds; `NETLIB_TIMEOUT_DEFAULT`: as the
///        system has it. `NETLIB_UNSUPPORTED` is reported on systems that have no such option.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_connect_options_set_user_timeout(options: *mut netlib_connect_options, seconds: f64) {
    builder::set(options, "netlib_connect_options_set_user_timeout", |options: &mut ConnectOptions| {
        options.tcp.set_user_timeout(seconds)
    });
}

/// Adds a socket option, set with setsockopt(2) on each socket before it is bound and connected, in the order in which
/// they were added, after those that have a setter of their own, so that the last word is here. None is set by default,
/// `TCP_NODELAY` included. On Unix domain sockets only those of the level `SOL_SOCKET` are set.
///
/// @param level as for setsockopt(2), for instance `IPPROTO_TCP`.
/// @param name as for setsockopt(2), for instance `TCP_NODELAY`.
/// @param value what the option is set to,
/// @param len the length of `value` in bytes; `NETLIB_NTS` if it is NUL-terminated text.
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
