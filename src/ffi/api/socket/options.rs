//! How to connect.

use std::ffi::{c_char, c_void};

use crate::ffi::args::{arg_bytes, arg_port, arg_str};
use crate::ffi::{Handle, Options, Unique, guard, handle, options as builder};
use crate::socket::options::ConnectOptions;

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

/// Sets the address and port that connections come from. The default is the system's choice. Addresses of another family
/// than the source's are passed over as ones that failed.
///
/// A port is good for one connection at a time to the same address. All attempts of a race share it, for which
/// `SO_REUSEADDR` is set.
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
