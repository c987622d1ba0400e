//! Hosts without a proxy.

use std::ffi::c_char;

use crate::ffi::api::url::netlib_url;
use crate::ffi::args::{arg, arg_cstr_opt};
use crate::ffi::guard::nonblocking as guard;
use crate::url::no_proxy_match;

/// Returns 1 if the host of a URL matches an entry in a list of hosts that are reached without a proxy, else 0. The
/// list has the syntax of the environment variable NO_PROXY. netlib does not read this variable; you can pass
/// `getenv("no_proxy")`.
///
/// Commas, spaces, tabs and line breaks separate the entries of the list. An entry is one of the following; any other
/// entry matches nothing:
///
///     *                     every host
///     example.com           this host name and all names below it, such as www.example.com
///     .example.com          the same host names as example.com
///     *.example.com         only the names below example.com
///     192.0.2.1             this address
///     2001:db8::1           this address, which may also be in brackets
///     10.0.0.0/8, fc00::/7  every address in this network (CIDR notation)
///
/// A name, an IPv4 address, a "*", or an IPv6 address in brackets may be followed by ":" and a port. The entry then
/// matches only URLs with this port; a URL without a port has the default port of its scheme, if the scheme is http or
/// https. Names are case-insensitive, and a dot at their end is ignored. An IPv4-mapped IPv6 address equals its IPv4
/// address. The zone of an IPv6 address in the URL is ignored. Names are not resolved: an address in the list never
/// matches a host name.
///
/// @param list the list. May be NULL: 0 is returned.
/// @param url the URL of the request. May be NULL: 0 is returned, as for a URL without a host.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_no_proxy_match(list: *const c_char, url: *const netlib_url) -> i32 {
    guard::value(0, || {
        let (list, url) = (arg_cstr_opt!(list), arg!(url));
        Ok(i32::from(list.is_some_and(|list| no_proxy_match(list.to_bytes(), &url))))
    })
}
