//! Custom resolvers: address lists, and a resolver callback.

use std::ffi::{c_char, c_void};

use crate::ffi::api::basics::{netlib_ctx_free_fn, netlib_error, netlib_status};
use crate::ffi::api::socket::options::netlib_connect_options;
use crate::ffi::args::{arg_data, arg_mut};
use crate::ffi::strings::read;
use crate::ffi::{Handle, Unique, guard, handle, options as builder, resolve_callback};
use crate::socket::connect_options::ConnectOptions;
use crate::socket::sockaddr::AddressList;

/// An address list: the addresses to connect to, in order, at most 1,024. **One call at a time**.
pub struct netlib_addresses {
    _private: [u8; 0],
}

impl Handle for netlib_addresses {
    type Value = AddressList;
    type Ownership = Unique;
}

/// Makes an empty address list.
///
/// @return Never NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_addresses_new() -> *mut netlib_addresses {
    guard::value(std::ptr::null_mut(), || Ok(handle::give(Box::new(AddressList::default()))))
}

/// Releases an address list.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_addresses_free(addresses: *mut netlib_addresses) {
    guard::nothing(|| handle::free(addresses));
}

/// Appends an address to an address list, in the form of `ai_addr` and `ai_addrlen` of getaddrinfo(3). An address that
/// is added twice is tried twice.
///
/// @param address a `struct sockaddr_in`, `struct sockaddr_in6` or `struct sockaddr_un`; it need not be aligned. A port
///        of 0 stands for the port that is passed to the connecting function.
/// @param len the length of `address` in bytes. A `sockaddr_in` and a `sockaddr_in6` must be complete. The path of a
///        `sockaddr_un` ends at a NUL, or at the end of the `len` bytes. An abstract name of Linux, whose first byte is
///        NUL, ends at the end of the `len` bytes, as for connect(2).
/// @return `NETLIB_INVALID_ARGUMENT` for another family, an address that is too short, a path that
///         `netlib_create_unix_connection` refuses, or a full list; `NETLIB_UNSUPPORTED` for an abstract name on a
///         system that has no abstract names.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_addresses_add(
    addresses: *mut netlib_addresses,
    address: *const c_void,
    len: usize,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || arg_mut!(addresses).add(arg_data!(address, len)))
}

/// Returns the number of addresses in an address list.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_addresses_count(addresses: *const netlib_addresses) -> usize {
    read(addresses, 0, |addresses| addresses.as_slice().len())
}

/// Resolves a host name to addresses, in place of the system's resolver. The callback must return within
/// `seconds_left`: nothing interrupts a running callback. The callback is called at most once per `netlib_connect`, and
/// at most once per call of `netlib_create_connection` or `netlib_stream_connect`.
///
/// The callback may call netlib, for example to connect to a name server. If a `netlib_connect` invoked the callback,
/// calls on that `netlib_connect` fail with `NETLIB_BUSY`. Freeing that `netlib_connect`, or changing or freeing its
/// options, has no effect on the call in progress.
///
/// @param host the host name, never an address, in ASCII (an internationalised name is converted); borrowed until the
///        callback returns.
/// @param port the port to connect to.
/// @param seconds_left the time until the limit's deadline, in seconds; `NETLIB_TIMEOUT_NONE` without a limit or a
///        deadline. The total limit that was passed to `netlib_connect_options_use_timeout` is not included.
/// @param addresses an empty address list, to which the callback appends addresses with `netlib_addresses_add`, in the
///        order of preference. The list is borrowed until the callback returns: `netlib_addresses_free` has no effect
///        on this list.
/// @return `NETLIB_OK` after the addresses were added; if none was added, connecting fails with
///         `NETLIB_NAME_RESOLUTION`. If the callback returns a failure status of netlib (200 or more), connecting fails
///         with the same status, for example `NETLIB_NAME_RESOLUTION`; but `NETLIB_IO` becomes `NETLIB_CONNECT_FAILED`,
///         because no request has been sent yet. If the callback returns any other number, connecting fails with
///         `NETLIB_CALLBACK_FAILED`.
/// @called-by `netlib_create_connection`, `netlib_connect_step`, `netlib_connect_run` and
///        `netlib_stream_connect`.
pub type netlib_resolve_fn = Option<
    unsafe extern "C" fn(
        ctx: *mut c_void,
        host: *const c_char,
        port: i32,
        seconds_left: f64,
        addresses: *mut netlib_addresses,
    ) -> i32,
>;

/// Sets a callback that resolves host names, for resolvers such as c-ares, or DNS over HTTPS. Default: getaddrinfo(3).
/// The callback is called only for host names: a host that is an address needs no resolver. If the source address that
/// was passed to `netlib_connect_options_set_source_address` is a host name, the system resolves this name without the
/// callback.
///
/// If your resolver is asynchronous, use `netlib_connect_options_set_supply_addresses` instead, or resolve the host
/// name first and pass the addresses to `netlib_connect_new_addresses`.
///
/// @param resolve the callback. May be NULL: the system's resolver.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_connect_options_set_resolve_callback(
    options: *mut netlib_connect_options,
    resolve: netlib_resolve_fn,
    ctx: *mut c_void,
    ctx_free: netlib_ctx_free_fn,
) {
    const SETTER: &str = "netlib_connect_options_set_resolve_callback";
    builder::set_callback(options, SETTER, (ctx, ctx_free), |options: &mut ConnectOptions, ctx| {
        options.resolve_id = ctx.id(resolve.map(|resolve| resolve as *const ()));
        std::mem::replace(&mut options.resolve, resolve_callback::resolve(resolve, ctx))
    });
}
