//! Address classes and policy.

use std::ffi::{c_char, c_void};

use crate::ffi::api::basics::{netlib_ctx_free_fn, netlib_error, netlib_status};
use crate::ffi::api::socket::options::netlib_connect_options;
use crate::ffi::args::{arg_data, arg_str};
use crate::ffi::enums::enum_netlib_verdict;
use crate::ffi::out::outs;
use crate::ffi::{callback as callbacks, guard, options as builder};
use crate::socket::address_class::{self, Classes};
use crate::socket::connect_options::ConnectOptions;
use crate::socket::sockaddr;

/// Classes of addresses, as bits, according to IANA's IPv4 and IPv6 Special-Purpose Address Registries of 2025-10-09.
/// An address has one class or more, so test a class with & and not with ==. For example, 169.254.169.254 has the
/// classes METADATA and LINK_LOCAL.
///
/// An IPv6 address that embeds an IPv4 address also has all classes of the IPv4 address, except that GLOBAL is dropped
/// if there is another class. The embedded address is found in these forms: IPv4-mapped (::ffff:0:0/96),
/// IPv4-compatible (::/96), IPv4-translated (::ffff:0:0:0/96), NAT64 (64:ff9b::/96, and 64:ff9b:1::/48 in all positions
/// of RFC 6052), 6to4 (2002::/16), Teredo (2001::/32: the addresses of the client and of its server) and ISATAP (any
/// network). For example, ::ffff:127.0.0.1 has the class LOOPBACK, and 2002:7f00:1:: has the classes LOOPBACK and
/// SPECIAL. An address with a network-specific NAT64 prefix cannot be distinguished from a global address.
#[repr(C)]
pub enum netlib_address_class {
    /// The metadata services of Amazon, Google, Azure, Oracle, Alibaba, Tencent, Volcano Engine, Scaleway, Akamai and
    /// OpenStack, from which cloud machines fetch their credentials: 169.254.169.254, fd00:ec2::254, 100.100.100.200,
    /// 168.63.129.16 and others. The address of a metadata service also has the class of the network that contains the
    /// address, except GLOBAL.
    NETLIB_ADDRESS_CLASS_METADATA = 0x1,
    /// The local machine: 127.0.0.0/8, ::1.
    NETLIB_ADDRESS_CLASS_LOOPBACK = 0x2,
    /// "This network": 0.0.0.0/8, ::. On many systems, connecting to 0.0.0.0 or :: reaches the local machine.
    NETLIB_ADDRESS_CLASS_UNSPECIFIED = 0x4,
    /// Link-local addresses: 169.254.0.0/16, fe80::/10.
    NETLIB_ADDRESS_CLASS_LINK_LOCAL = 0x8,
    /// Private networks: 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16 (RFC 1918), fc00::/7 (RFC 4193), fec0::/10
    /// (deprecated).
    NETLIB_ADDRESS_CLASS_PRIVATE = 0x10,
    /// Addresses that the customers of a carrier share: 100.64.0.0/10 (RFC 6598).
    NETLIB_ADDRESS_CLASS_SHARED = 0x20,
    /// Multicast groups: 224.0.0.0/4, ff00::/8.
    NETLIB_ADDRESS_CLASS_MULTICAST = 0x40,
    /// Reserved addresses: 240.0.0.0/4, including 255.255.255.255; ::/96, except :: and ::1; ::ffff:0:0:0/96; and all
    /// IPv6 addresses outside 2000::/3 that IANA has not assigned to any use.
    NETLIB_ADDRESS_CLASS_RESERVED = 0x80,
    /// Addresses for documentation: 192.0.2.0/24, 198.51.100.0/24, 203.0.113.0/24, 2001:db8::/32, 3fff::/20.
    NETLIB_ADDRESS_CLASS_DOCUMENTATION = 0x100,
    /// Addresses for benchmarks: 198.18.0.0/15, 2001:2::/48.
    NETLIB_ADDRESS_CLASS_BENCHMARKING = 0x200,
    /// Addresses that are assigned to certain protocols: 192.0.0.0/24, 192.88.99.0/24, 64:ff9b:1::/48, 100::/64,
    /// 100:0:0:1::/64, 2001::/23, 2002::/16, 5f00::/16, except those that the registries call globally reachable, such
    /// as 192.0.0.9.
    NETLIB_ADDRESS_CLASS_SPECIAL = 0x400,
    /// Unix domain sockets, which have no IP address.
    NETLIB_ADDRESS_CLASS_UNIX = 0x800,
    /// All addresses that have no other class.
    NETLIB_ADDRESS_CLASS_GLOBAL = 0x1000,
}

/// Every class except `NETLIB_ADDRESS_CLASS_GLOBAL`. An application that fetches URLs from untrusted sources should
/// refuse all these classes.
pub const NETLIB_ADDRESS_CLASS_ALL_BUT_GLOBAL: i32 = 0xfff;

/// Decides whether to connect to an address. The callback is called on the connecting thread for each connection
/// attempt, before a socket is opened, but not for an address that has a refused class. The attempt connects to exactly
/// the address that is passed to the callback: no name is resolved again. If no descriptor is free for an attempt,
/// netlib may make the attempt again later, and then calls the callback again for the same address. If several threads
/// connect with the same options, they may call the callback at the same time.
///
/// The callback may call netlib. If a `netlib_connect` invoked the callback, calls on that `netlib_connect` fail with
/// `NETLIB_BUSY`. Freeing that `netlib_connect`, or changing or freeing its options, has no effect on the call in
/// progress. The callback should return quickly: nothing interrupts a running callback, and the other attempts wait
/// until the callback returns.
///
/// @param address the `sockaddr_in`, `sockaddr_in6` or `sockaddr_un` that is then passed to connect(2); borrowed until
///        the callback returns.
/// @param classes the classes of the address, as bits of `netlib_address_class`.
/// @param verdict out: `NETLIB_VERDICT_ALLOW` to connect to the address; `NETLIB_VERDICT_REFUSE` to skip the address.
///        netlib presets `verdict` to `NETLIB_VERDICT_FAILED`. If the callback stores no verdict or any other value, no
///        further address is tried, and connecting fails with `NETLIB_CALLBACK_FAILED`.
/// @called-by `netlib_create_connection`, `netlib_create_unix_connection`, `netlib_connect_step`,
///        `netlib_connect_run` and `netlib_stream_connect`.
pub type netlib_address_fn = Option<
    unsafe extern "C" fn(
        ctx: *mut c_void,
        address: *const c_void,
        len: usize,
        classes: i32,
        verdict: *mut enum_netlib_verdict,
    ),
>;

/// Adds classes of addresses to which netlib refuses to connect. By default, netlib connects to addresses of every
/// class.
///
/// Each connection attempt checks the address that it passes to connect(2), regardless of the resolver that found the
/// address. So a name that suddenly resolves to another address (DNS rebinding), or an unusual spelling of an address,
/// does not evade the check. A refused address is skipped, like an address for which the attempt failed. The local
/// address to which a socket is bound is not checked. Refusing `NETLIB_ADDRESS_CLASS_LOOPBACK` also refuses
/// `NETLIB_ADDRESS_CLASS_UNSPECIFIED`, because 0.0.0.0 and :: lead to the local machine.
///
/// @param classes a bit mask of `netlib_address_class`, for example `NETLIB_ADDRESS_CLASS_ALL_BUT_GLOBAL`. For an
///        unknown bit, connecting fails with `NETLIB_INVALID_ARGUMENT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_connect_options_refuse_addresses(options: *mut netlib_connect_options, classes: i32) {
    builder::add(options, "netlib_connect_options_refuse_addresses", |options: &mut ConnectOptions| {
        options.refuse_addresses(classes)
    });
}

/// Sets a callback that allows or refuses addresses. The callback is not called for an address with a class that was
/// passed to `netlib_connect_options_refuse_addresses`: such an address is always refused. Default: no callback, so
/// that all other addresses are allowed.
///
/// @param callback the callback. May be NULL: no callback.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_connect_options_set_address_callback(
    options: *mut netlib_connect_options,
    callback: netlib_address_fn,
    ctx: *mut c_void,
    ctx_free: netlib_ctx_free_fn,
) {
    const SETTER: &str = "netlib_connect_options_set_address_callback";
    builder::set_callback(options, SETTER, (ctx, ctx_free), |options: &mut ConnectOptions, ctx| {
        options.address_id = ctx.id(callback.map(|callback| callback as *const ()));
        options.set_address_callback(callbacks::address(callback, ctx))
    });
}

/// Determines the classes of an address.
///
/// @param address the address, as for connect(2): a `sockaddr_in`, `sockaddr_in6` or `sockaddr_un`.
/// @param classes out: at least one bit of `netlib_address_class`.
/// @return `NETLIB_INVALID_ARGUMENT` for another family, or if `len` is too small for the family.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_classify_address(
    address: *const c_void,
    len: usize,
    classes: *mut i32,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let classes = outs!(classes);
        classes.set(sockaddr::classify(arg_data!(address, len))?.bits());
        Ok(())
    })
}

/// Determines the classes of an address written as text. The text must not be a name, nor a number such as "0x7f.1",
/// which getaddrinfo(3) accepts as an address. To check the address to which a host resolves, use
/// `netlib_connect_options_refuse_addresses`.
///
/// @param text an IPv4 address as four decimal numbers, or an IPv6 address, which may have brackets and a zone.
/// @param classes out: at least one bit of `netlib_address_class`.
/// @return `NETLIB_INVALID_ARGUMENT` for text that is not an address; `NETLIB_INVALID_UTF8`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_classify_address_text(
    text: *const c_char,
    classes: *mut i32,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let classes = outs!(classes);
        classes.set(address_class::classify_text(arg_str!(text))?.bits());
        Ok(())
    })
}

/// Returns the name of an address class as a constant string, such as "link-local"; for several classes, the name of
/// the one that comes first in `netlib_address_class`; NULL for 0, and for unknown bits.
///
/// @param classes bits of `netlib_address_class`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_address_class_name(classes: i32) -> *const c_char {
    guard::value(std::ptr::null(), || {
        let name = Classes::from_bits(classes).and_then(Classes::name);
        Ok(name.map_or(std::ptr::null(), |name| name.as_ptr()))
    })
}
