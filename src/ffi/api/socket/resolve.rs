//! Custom resolvers: lists of addresses, and a resolver callback.

use std::ffi::{c_char, c_void};

use crate::ffi::api::basics::{netlib_ctx_free_fn, netlib_error, netlib_status};
use crate::ffi::api::socket::options::netlib_connect_options;
use crate::ffi::args::{arg_data, arg_mut};
use crate::ffi::strings::read;
use crate::ffi::{Handle, Unique, callback, guard, handle, options as builder};
use crate::socket::connect_options::ConnectOptions;
use crate::socket::sockaddr::AddressList;

/// Addresses to connect to, in order, 1,024 at most. **Single**.
pub struct netlib_addresses {
    _private: [u8; 0],
}

impl Handle for netlib_addresses {
    type Value = AddressList;
    type Ownership = Unique;
}

/// Makes an empty list.
///
/// @return Never NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_addresses_new() -> *mut netlib_addresses {
    guard::value(std::ptr::null_mut(), || Ok(handle::give(Box::new(AddressList::default()))))
}

/// Releases a list.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_addresses_free(addresses: *mut netlib_addresses) {
    guard::nothing(|| handle::free(addresses));
}

/// Appends an address, in the form of `ai_addr` and `ai_addrlen` of getaddrinfo(3). A duplicate is tried twice.
///
/// @param address a `struct sockaddr_in`, `struct sockaddr_in6` or `struct sockaddr_un`; it need not be aligned. A port
///        of 0 stands for the port of the connect.
/// @param len the length of `address` in bytes, at least what its family needs. A path ends at its NUL or after `len`
///        bytes. An abstract name of Linux, whose first byte is NUL, ends after `len` bytes, as for connect(2).
/// @return `NETLIB_INVALID_ARGUMENT` for another family, an address that is too short, a path that
///         `netlib_create_unix_connection` refuses, or a full list; `NETLIB_UNSUPPORTED` for an abstract name on a
///         system without them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_addresses_add(
    addresses: *mut netlib_addresses,
    address: *const c_void,
    len: usize,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || arg_mut!(addresses).add(arg_data!(address, len)))
}

/// Returns the number of addresses in a list.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_addresses_count(addresses: *const netlib_addresses) -> usize {
    read(addresses, 0, |addresses| addresses.as_slice().len())
}

/// Finds the addresses of a host, instead of the system's resolver. The callback must return in time: nothing
/// interrupts it. Called at most once per connect.
///
/// The callback may call netlib, for example to connect to a name server. A call on the `netlib_connect` that invoked
/// it fails with `NETLIB_BUSY`. Freeing that `netlib_connect`, or changing or freeing its options, has no effect on the
/// call in progress.
///
/// @param host the name, in ASCII (an internationalised name is converted). It is never an address. Borrowed for the
///        call.
/// @param port the port of the connect.
/// @param seconds_left the rest of the limit; `NETLIB_TIMEOUT_NONE` without a limit or a deadline.
/// @param addresses an empty list: append the addresses with `netlib_addresses_add`, in the order of preference.
///        Borrowed for the call: `netlib_addresses_free` does nothing.
/// @return `NETLIB_OK` after the addresses were added; without an address the connect fails with
///         `NETLIB_NAME_RESOLUTION`. A failure status of netlib (200 or more) fails the connect with the same status,
///         for example `NETLIB_NAME_RESOLUTION`; but `NETLIB_IO` becomes `NETLIB_CONNECT_FAILED`, because nothing was
///         sent yet. For any other number, the connect fails with `NETLIB_CALLBACK_FAILED`.
pub type netlib_resolve_fn = Option<
    unsafe extern "C" fn(
        ctx: *mut c_void,
        host: *const c_char,
        port: i32,
        seconds_left: f64,
        addresses: *mut netlib_addresses,
    ) -> i32,
>;

/// Sets a callback that resolves names, for resolvers such as c-ares, or DNS over HTTPS. Default: getaddrinfo(3). A
/// host that is an address needs no resolver, and the system still resolves the name of a source address.
///
/// With an asynchronous resolver, find the addresses first, then use `netlib_connect_new_addresses`.
///
/// @param resolve May be NULL: the system's resolver.
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
        std::mem::replace(&mut options.resolve, callback::resolve(resolve, ctx))
    });
}
