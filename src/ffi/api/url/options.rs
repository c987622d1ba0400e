//! Building and changing URLs.

use std::ffi::{CStr, c_char};

use crate::ffi::api::basics::{netlib_error, netlib_status};
use crate::ffi::api::url::netlib_url;
use crate::ffi::args::{arg, arg_cstr_opt, arg_port_opt, arg_str_opt};
use crate::ffi::guard::nonblocking as guard;
use crate::ffi::out::outs;
use crate::ffi::{Handle, Options, Unique, handle, options};
use crate::url::{Component, UrlOptions};

/// The components from which `netlib_url_from_options` makes a URL. **One call at a time**. A component that no setter
/// has set is absent, unless `netlib_url_to_options` made the options.
///
/// Except `netlib_url_options_set_credentials`, each setter takes a component in the form in which it appears in a URL,
/// and percent-encodes characters that the component may not contain. Such a setter refuses a value with CR or LF, a
/// value that would begin another component, such as a path with a "?", and a value longer than `NETLIB_URL_MAX`. To
/// put any text into a component, encode the text with `netlib_percent_encode` first.
pub struct netlib_url_options {
    _private: [u8; 0],
}

impl Handle for netlib_url_options {
    type Value = Options<UrlOptions>;
    type Ownership = Unique;
}

/// Makes options in which every component is absent.
///
/// @return Never NULL.
#[unsafe(no_mangle)]
pub extern "C" fn netlib_url_options_new() -> *mut netlib_url_options {
    guard::value(std::ptr::null_mut(), || Ok(handle::give(Box::new(Options::new(UrlOptions::default())))))
}

/// Returns options with the components of a URL, so that setters can change some of the components. The path of a URL
/// without "//", which `netlib_url_resolve` makes from a reference such as "mailto:a@b", gets a leading "/". When
/// memory is short, the options record `NETLIB_OUT_OF_MEMORY`, with which `netlib_url_from_options` then fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_url_to_options(url: *const netlib_url) -> *mut netlib_url_options {
    guard::value(std::ptr::null_mut(), || {
        let converted = Options::converted("netlib_url_to_options", arg!(url).to_options());
        Ok(handle::give(Box::new(converted)))
    })
}

/// Makes a URL from options, as `netlib_url_new` makes a URL from its arguments: the URL is normalised, and parsing its
/// text yields the same components.
///
/// @param options the components. May be NULL: all components of the URL are absent.
/// @param err the error's offset, if any, counts from the start of the component that the error message names.
/// @return `NETLIB_INVALID_URL` for a component that a setter refused; for an international host name that IDNA does
///         not allow; for userinfo or a port without a host; for components whose text would be parsed as different
///         components; `NETLIB_INVALID_UTF8`; `NETLIB_INVALID_ARGUMENT` for a port out of range, and for a password
///         without a user name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_url_from_options(
    options: *const netlib_url_options,
    url: *mut *mut netlib_url,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let url = outs!(url);
        url.give(options::borrowed::<_, UrlOptions>(options)?.build()?);
        Ok(())
    })
}

/// Returns an independent copy of the options.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_url_options_clone(options: *const netlib_url_options) -> *mut netlib_url_options {
    options::clone(options)
}

/// Checks that no setter has recorded an error, as `netlib_url_from_options` does. Only `netlib_url_from_options` also
/// checks that the components fit together.
///
/// @return `NETLIB_INVALID_URL` for a component that a setter refused; `NETLIB_INVALID_UTF8`;
///         `NETLIB_INVALID_ARGUMENT` for a port out of range, and for a password without a user name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_url_options_check(
    options: *const netlib_url_options,
    err: *mut *mut netlib_error,
) -> netlib_status {
    options::check(options, err)
}

/// Releases options.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_url_options_free(options: *mut netlib_url_options) {
    guard::nothing(|| handle::free(options));
}

/// Sets the scheme. By default, the scheme is absent.
///
/// @param scheme a letter, then letters, digits, "+" and "-". May be NULL: the scheme is absent.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_url_options_set_scheme(options: *mut netlib_url_options, scheme: *const c_char) {
    options::set(options, "netlib_url_options_set_scheme", |o: &mut UrlOptions| {
        o.set(Component::Scheme, arg_str_opt!(scheme))
    });
}

/// Sets the userinfo in the form in which a URL contains it. By default, the userinfo is absent.
///
/// @param auth "user" or "user:password", percent-encoded where needed. May be NULL: the userinfo is absent, as for "".
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_url_options_set_auth(options: *mut netlib_url_options, auth: *const c_char) {
    options::set(options, "netlib_url_options_set_auth", |o: &mut UrlOptions| {
        o.set(Component::Auth, arg_str_opt!(auth))
    });
}

/// Sets the userinfo to a user name and a password, and percent-encodes both. The new userinfo replaces one that was
/// set with `netlib_url_options_set_auth`. By default, the userinfo is absent.
///
/// @param username the user name: any bytes, not percent-encoded. May be NULL: the userinfo is absent.
/// @param password the password: any bytes, not percent-encoded. May be NULL: the userinfo has no password and no ":".
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_url_options_set_credentials(
    options: *mut netlib_url_options,
    username: *const c_char,
    password: *const c_char,
) {
    options::set(options, "netlib_url_options_set_credentials", |o: &mut UrlOptions| {
        let (username, password) = (arg_cstr_opt!(username), arg_cstr_opt!(password));
        o.set_credentials(username.map(CStr::to_bytes), password.map(CStr::to_bytes))
    });
}

/// Sets the host. By default, the host is absent.
///
/// @param host a name, an IPv4 address, or an IPv6 address in brackets, with an optional zone after "%" or "%25". May
///        be NULL: the host is absent.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_url_options_set_host(options: *mut netlib_url_options, host: *const c_char) {
    options::set(options, "netlib_url_options_set_host", |o: &mut UrlOptions| {
        o.set(Component::Host, arg_str_opt!(host))
    });
}

/// Sets the port. By default, the port is absent.
///
/// @param port 0 to 65535; -1 if the port is absent.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_url_options_set_port(options: *mut netlib_url_options, port: i32) {
    options::set(options, "netlib_url_options_set_port", |o: &mut UrlOptions| {
        o.set_port(arg_port_opt!(port));
        Ok(())
    });
}

/// Sets the path. By default, the path is absent.
///
/// @param path the path. A path that is not empty gets a leading "/" if it has none. May be NULL: the path is absent.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_url_options_set_path(options: *mut netlib_url_options, path: *const c_char) {
    options::set(options, "netlib_url_options_set_path", |o: &mut UrlOptions| {
        o.set(Component::Path, arg_str_opt!(path))
    });
}

/// Sets the query. By default, the query is absent.
///
/// @param query the query, without its "?", such as the result of `netlib_query_to_string`; "" is an empty query. May
///        be NULL: the query is absent.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_url_options_set_query(options: *mut netlib_url_options, query: *const c_char) {
    options::set(options, "netlib_url_options_set_query", |o: &mut UrlOptions| {
        o.set(Component::Query, arg_str_opt!(query))
    });
}

/// Sets the fragment. By default, the fragment is absent.
///
/// @param fragment the fragment, without its "#"; "" is an empty fragment. May be NULL: the fragment is absent.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_url_options_set_fragment(options: *mut netlib_url_options, fragment: *const c_char) {
    options::set(options, "netlib_url_options_set_fragment", |o: &mut UrlOptions| {
        o.set(Component::Fragment, arg_str_opt!(fragment))
    });
}
