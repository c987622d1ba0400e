//! Settings of a connect.

use std::ffi::{c_char, c_void};

use crate::ffi::args::{arg_bool, arg_bytes, arg_port, arg_str};
use crate::ffi::{Handle, Options, Unique, guard, handle, options as builder};
use crate::retry::Count;
use crate::socket::connect_options::ConnectOptions;

/// Settings of a connect. **Single**.
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

/// Sets the time limit for connecting to each address. A host with three addresses may take three times as long, and
/// the name lookup is not counted. A `netlib_limit` bounds the whole connect.
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
/// family than the source's count as failed; connections to Unix domain sockets have no source.
///
/// With a fixed port, only one connection at a time to the same address is possible. All attempts of a race share the
/// port, for which `SO_REUSEADDR` is set.
///
/// @param host an address or name of this machine; "" leaves the address to the system.
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

/// Binds connections to a network interface, regardless of the routes: `SO_BINDTODEVICE`, or `IP_BOUND_IF` on systems
/// that have it. Name lookups are not bound. Default: none; the routes decide.
///
/// These options, from here to the user timeout, are set on each TCP socket before it is bound and connected: the
/// interface, no-delay, keep-alive, the user timeout, and then the options of
/// `netlib_connect_options_add_socket_option`. An option that the system refuses fails the attempt; the error names the
/// option and has the errno: `ENODEV` for a missing interface, `EPERM` if binding to an interface needs a privilege
/// (before Linux 5.7).
///
/// @param name as in the list of if_nameindex(3), 1 to 15 bytes. `NETLIB_UNSUPPORTED` is reported on systems that have
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

/// Sets `TCP_NODELAY`, which turns Nagle's algorithm off: small packets are sent before earlier ones are acknowledged.
/// Default: not set; the system's default is off. Turn it on in a client that writes a request in pieces.
///
/// @param enable 1: send at once; 0: the system may wait for more data.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_connect_options_set_no_delay(options: *mut netlib_connect_options, enable: i32) {
    builder::set(options, "netlib_connect_options_set_no_delay", |options: &mut ConnectOptions| {
        options.tcp.set_no_delay(arg_bool!(enable));
        Ok(())
    });
}

/// Turns keep-alive on (`SO_KEEPALIVE`): an idle connection is probed, and fails with `ETIMEDOUT` if no probe is
/// answered. Default: not set; the system's default is off.
///
/// Times are rounded up to whole seconds, the system's unit. `NETLIB_UNSUPPORTED` is reported on systems that cannot
/// set these values per socket, unless all three are left to the system.
///
/// @param idle seconds without a packet before the first probe (`TCP_KEEPIDLE`): more than 0, at most 32,767;
///        `NETLIB_TIMEOUT_DEFAULT`: the system's default, two hours on Linux.
/// @param interval seconds between probes (`TCP_KEEPINTVL`): more than 0, at most 32,767; `NETLIB_TIMEOUT_DEFAULT`: the
///        system's default.
/// @param count the number of unanswered probes in a row (`TCP_KEEPCNT`): 1 to 127; `NETLIB_NONE`: the system's
///        default.
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

/// Sets the time that sent data may stay unacknowledged before the connection fails with `ETIMEDOUT`:
/// `TCP_USER_TIMEOUT`, the user timeout of RFC 5482 at this end; the peer is not informed. Default: not set; the system
/// tries for about 15 minutes. With keep-alive, this time ends the probes instead of their count.
///
/// On Linux it also ends a connect that gets no answer: the attempt fails with `NETLIB_CONNECT_TIMEOUT`, at the
/// earliest after a second, when the first packet would be sent again. `netlib_connect_options_set_timeout` is exact.
///
/// @param seconds more than 0, at most 2,147,483, rounded up to whole milliseconds; `NETLIB_TIMEOUT_DEFAULT`: the
///        system's default. `NETLIB_UNSUPPORTED` is reported on systems without the option.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_connect_options_set_user_timeout(options: *mut netlib_connect_options, seconds: f64) {
    builder::set(options, "netlib_connect_options_set_user_timeout", |options: &mut ConnectOptions| {
        options.tcp.set_user_timeout(seconds)
    });
}

/// Adds a socket option, set with setsockopt(2) on each socket before it is bound and connected, in the order added,
/// after the options that have a setter of their own, so that added options override these. Default: none, not even
/// `TCP_NODELAY`. On Unix domain sockets only options of the level `SOL_SOCKET` are set.
///
/// @param level the level, as for setsockopt(2), for example `IPPROTO_TCP`.
/// @param name the option, as for setsockopt(2), for example `TCP_NODELAY`.
/// @param value the option's value.
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
