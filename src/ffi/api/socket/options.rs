//! Connect options.

use std::ffi::{c_char, c_void};

use crate::ffi::api::basics::{netlib_error, netlib_status};
use crate::ffi::api::timeout::netlib_timeout;
use crate::ffi::args::{arg_bool, arg_bytes, arg_enum, arg_exclusive, arg_port, arg_str};
use crate::ffi::enums::enum_netlib_address_family;
use crate::ffi::{Handle, Options, Unique, guard, handle, options as builder};
use crate::retry::Count;
use crate::socket::connect_options::{AddressFamily, ConnectOptions};

/// Settings for connecting to a host or to a Unix domain socket. **One call at a time**.
pub struct netlib_connect_options {
    _private: [u8; 0],
}

impl Handle for netlib_connect_options {
    type Value = Options<ConnectOptions>;
    type Ownership = Unique;
}

/// Makes connect options that hold the defaults.
///
/// @return Never NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_connect_options_new() -> *mut netlib_connect_options {
    guard::value(std::ptr::null_mut(), || Ok(handle::give(Box::new(Options::new(ConnectOptions::default())))))
}

/// Returns an independent copy of the options.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_connect_options_clone(
    options: *const netlib_connect_options,
) -> *mut netlib_connect_options {
    builder::clone(options)
}

/// Checks, as `netlib_connect_new` and `netlib_create_connection` do, that no setter has recorded an error. The system
/// checks the source address, the interface and the added socket options later, at each connection attempt.
///
/// @return `NETLIB_INVALID_ARGUMENT` for a value out of range; `NETLIB_INVALID_URL` for an invalid source address;
///         `NETLIB_UNSUPPORTED` for an option that the operating system does not have; `NETLIB_INVALID_UTF8`;
///         `NETLIB_CALLBACK_FAILED` if the clock function of the timeout failed during
///         `netlib_connect_options_use_timeout`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_connect_options_check(
    options: *const netlib_connect_options,
    err: *mut *mut netlib_error,
) -> netlib_status {
    builder::check(options, err)
}

/// Releases options.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_connect_options_free(options: *mut netlib_connect_options) {
    guard::nothing(|| handle::free(options));
}

/// Sets the connect timeout: the time limit for connecting to each address. The time of the name lookup is not
/// included, and `netlib_create_connection`, which tries one address after the other, may take three times as long for
/// a host with three addresses. To bound the whole operation, use a `netlib_limit`.
///
/// @param timeout in seconds, 0 or more; `NETLIB_TIMEOUT_DEFAULT`, the default, for the process default at the time of
///        connecting; `NETLIB_TIMEOUT_NONE` to wait as long as the system tries.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_connect_options_set_timeout(options: *mut netlib_connect_options, timeout: f64) {
    builder::set(options, "netlib_connect_options_set_timeout", |options: &mut ConnectOptions| {
        options.set_timeout(timeout)
    });
}

/// Copies the limits of a `netlib_timeout`. The connect limit becomes the connect timeout (see
/// `netlib_connect_options_set_timeout`); with a total limit, a connect limit of `NETLIB_TIMEOUT_DEFAULT` stands for
/// `NETLIB_TIMEOUT_NONE`. The total limit bounds the whole connect operation, name lookup included: when the total
/// limit has passed, connecting fails with `NETLIB_CONNECT_TIMEOUT`. Default: no total limit.
///
/// If `netlib_timeout_start_connect` has started the clock of `timeout`, the time that has already passed counts
/// towards the total limit, and the rest of the total limit begins with this call. Otherwise, the total limit begins
/// with the start of each connect operation. In both cases, netlib uses the system's clock to measure the time that is
/// left, even if `timeout` has a clock function. Later changes of `timeout` have no effect.
///
/// @param timeout the limits. Only `netlib_stream_connect` uses the read limit: it becomes the read timeout of the
///        stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_connect_options_use_timeout(
    options: *mut netlib_connect_options,
    timeout: *const netlib_timeout,
) {
    builder::set(options, "netlib_connect_options_use_timeout", |options: &mut ConnectOptions| {
        let timeout = arg_exclusive!(timeout);
        options.use_timeout(&timeout)
    });
}

/// The families of the addresses to connect to: see `netlib_connect_options_set_address_family`.
#[repr(C)]
pub enum netlib_address_family {
    /// IPv4 and IPv6.
    NETLIB_ADDRESS_FAMILY_ANY = 0,
    /// Only IPv4.
    NETLIB_ADDRESS_FAMILY_IPV4 = 1,
    /// Only IPv6.
    NETLIB_ADDRESS_FAMILY_IPV6 = 2,
}

/// Sets the family of the addresses to connect to. A name lookup asks only for addresses of this family. netlib skips
/// an address of another family, whether the host is that address, the resolve callback returns it, or an address list
/// contains it. If no address is left, connecting fails with `NETLIB_NAME_RESOLUTION`. Unix domain sockets are not
/// affected.
///
/// @param family the default is `NETLIB_ADDRESS_FAMILY_ANY`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_connect_options_set_address_family(
    options: *mut netlib_connect_options,
    family: enum_netlib_address_family,
) {
    builder::set(options, "netlib_connect_options_set_address_family", |options: &mut ConnectOptions| {
        options.family = arg_enum!(family, netlib_address_family, AddressFamily::from_code);
        Ok(())
    });
}

/// Sets the local address and port to which sockets are bound. By default, the system chooses the local address and
/// port. A connection attempt fails if the family of its address is not that of the local address. Connections to Unix
/// domain sockets ignore the setting.
///
/// With a fixed local port, only one connection at a time to each remote address and port is possible. All attempts of
/// a race use this port: netlib sets `SO_REUSEADDR`, so that several sockets can be bound to it.
///
/// @param host an address or name of the local machine; with "", the system chooses the address.
/// @param port the local port, 0 to 65535; with 0, the system chooses the port.
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

/// Sets the network interface to which connections are bound, regardless of the routing table: `SO_BINDTODEVICE`, or
/// `IP_BOUND_IF` on systems that have it. Name lookups are not bound to the interface. By default, the routing table
/// determines the interface.
///
/// Before a TCP socket is bound and connected, netlib sets the socket options in this order: the interface, no-delay,
/// keep-alive, the user timeout, and then the options of `netlib_connect_options_add_socket_option`. If the system
/// refuses an option, the connection attempt fails; the error names the option and has the errno: `ENODEV` for a
/// missing interface, `EPERM` if binding to an interface needs a privilege (before Linux 5.7).
///
/// @param name the interface's name, as if_nameindex(3) lists it, 1 to 15 bytes. On systems that cannot bind a socket
///        to an interface, connecting fails with `NETLIB_UNSUPPORTED`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_connect_options_set_interface(
    options: *mut netlib_connect_options,
    name: *const c_char,
) {
    builder::set(options, "netlib_connect_options_set_interface", |options: &mut ConnectOptions| {
        options.tcp.set_interface(arg_str!(name))
    });
}

/// Sets `TCP_NODELAY`, which turns Nagle's algorithm off: a small packet is sent before earlier packets are
/// acknowledged. Default: on; with `netlib_create_connection`: not set, so the system's default, which is off. Without
/// `TCP_NODELAY`, a request that is written in pieces, or right after a TLS handshake, may wait 40 milliseconds for an
/// acknowledgement of the server.
///
/// @param enable 1 to send small packets at once; 0 to leave the system's default.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_connect_options_set_no_delay(options: *mut netlib_connect_options, enable: i32) {
    builder::set(options, "netlib_connect_options_set_no_delay", |options: &mut ConnectOptions| {
        options.tcp.set_no_delay(arg_bool!(enable));
        Ok(())
    });
}

/// Turns TCP keep-alive on (`SO_KEEPALIVE`): the system probes an idle connection, which fails with `ETIMEDOUT` if no
/// probe is answered. Default: not set; the system's default is off.
///
/// netlib rounds times up to whole seconds, the system's unit. On systems that cannot set `TCP_KEEPIDLE`,
/// `TCP_KEEPINTVL` and `TCP_KEEPCNT`, connecting fails with `NETLIB_UNSUPPORTED`, unless all three values are the
/// system's defaults.
///
/// @param idle the seconds without a packet before the first probe (`TCP_KEEPIDLE`): more than 0, at most 32,767; or
///        `NETLIB_TIMEOUT_DEFAULT` for the system's default, which is two hours on Linux.
/// @param interval the seconds between probes (`TCP_KEEPINTVL`): more than 0, at most 32,767; or
///        `NETLIB_TIMEOUT_DEFAULT` for the system's default.
/// @param count the number of unanswered probes in a row after which the connection fails (`TCP_KEEPCNT`): 1 to 127; or
///        `NETLIB_NONE` for the system's default.
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

/// Sets the TCP user timeout: the time that sent data may stay unacknowledged before the connection fails with
/// `ETIMEDOUT` (`TCP_USER_TIMEOUT`, RFC 5482 without announcing the timeout to the peer). Default: not set; the system
/// tries for about 15 minutes. If keep-alive is on, the connection fails when probes have stayed unanswered for the
/// user timeout; the number of unanswered probes that was passed to `netlib_connect_options_set_keepalive` is ignored.
///
/// On Linux, the user timeout also ends a connection attempt to which the peer does not respond: the attempt fails with
/// `NETLIB_CONNECT_TIMEOUT`, at the earliest after a second, when the first packet would be sent again. In contrast,
/// the timeout of `netlib_connect_options_set_timeout` is exact.
///
/// @param seconds more than 0, at most 2,147,483, rounded up to whole milliseconds; or `NETLIB_TIMEOUT_DEFAULT` for the
///        system's default. On systems without a TCP user timeout, connecting fails with `NETLIB_UNSUPPORTED`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_connect_options_set_user_timeout(options: *mut netlib_connect_options, seconds: f64) {
    builder::set(options, "netlib_connect_options_set_user_timeout", |options: &mut ConnectOptions| {
        options.tcp.set_user_timeout(seconds)
    });
}

/// Adds a socket option, which netlib sets with setsockopt(2) on each socket before the socket is bound and connected.
/// Added options are set in the order of the calls, after the options that have a dedicated setter, such as
/// `netlib_connect_options_set_no_delay`. So an added option overrides the value or the default of a dedicated setter.
/// By default, no option is added. On Unix domain sockets, only options of the level `SOL_SOCKET` are set.
///
/// @param level the level of the option, as for setsockopt(2), for example `IPPROTO_TCP`.
/// @param name the number of the option, as for setsockopt(2), for example `TCP_NODELAY`.
/// @param value the value of the option.
/// @param len the length of `value` in bytes; `NETLIB_NTS` if it is NUL-terminated text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_connect_options_add_socket_option(
    options: *mut netlib_connect_options,
    level: i32,
    name: i32,
    value: *const c_void,
    len: usize,
) {
    builder::add(options, "netlib_connect_options_add_socket_option", |options: &mut ConnectOptions| {
        options.add_socket_option(level, name, arg_bytes!(value, len))
    });
}
