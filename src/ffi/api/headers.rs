//! Request headers, ready for the wire.

use std::ffi::{CStr, c_char};
use std::sync::Arc;

use crate::ffi::api::basics::{netlib_error, netlib_status};
use crate::ffi::args::{arg, arg_bool, arg_cstr, arg_cstr_opt, arg_str, bytes_or_none};
use crate::ffi::guard::nonblocking as guard;
use crate::ffi::out::outs;
use crate::ffi::strings::{lend_text, read};
use crate::ffi::{Handle, Options, Shared, Unique, handle, options};
use crate::headers::{HeaderOptions, Headers, make_headers};

/// Settings of `netlib_make_headers`. **Single**. Without any call to a setter there are no headers. A value with CR,
/// LF or NUL, or a name that is not a token, is refused with `NETLIB_INVALID_HEADER` by `netlib_make_headers`: the
/// message names the header and the byte, never the value.
pub struct netlib_headers_options {
    _private: [u8; 0],
}

impl Handle for netlib_headers_options {
    type Value = Options<HeaderOptions>;
    type Ownership = Unique;
}

/// An ordered list of header fields. **Immutable**. Names are case-insensitive, and keep the case in which they were
/// given; a name may occur several times. Values are bytes: not always UTF-8, but never with CR, LF or NUL.
pub struct netlib_headers {
    _private: [u8; 0],
}

impl Handle for netlib_headers {
    type Value = Headers;
    type Ownership = Shared;
}

/// Makes options without any header.
///
/// @return Never NULL.
#[unsafe(no_mangle)]
pub extern "C" fn netlib_headers_options_new() -> *mut netlib_headers_options {
    guard::value(std::ptr::null_mut(), || Ok(handle::give(Box::new(Options::new(HeaderOptions::default())))))
}

/// Releases options.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_headers_options_free(options: *mut netlib_headers_options) {
    guard::nothing(|| handle::free(options));
}

/// Sets whether to send `connection: keep-alive`. Default: 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_headers_options_set_keep_alive(
    options: *mut netlib_headers_options,
    keep_alive: i32,
) {
    options::set(options, "netlib_headers_options_set_keep_alive", |o: &mut HeaderOptions| {
        o.keep_alive(arg_bool!(keep_alive));
        Ok(())
    });
}

/// Sets the value of `accept-encoding`, for example "gzip;q=0.5, br". It replaces the result of
/// `netlib_headers_options_enable_accept_encoding` and `netlib_headers_options_add_accept_encoding`. The default is no
/// such header.
///
/// @param value "" means no header. May be NULL: no header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_headers_options_set_accept_encoding(
    options: *mut netlib_headers_options,
    value: *const c_char,
) {
    options::set(options, "netlib_headers_options_set_accept_encoding", |o: &mut HeaderOptions| {
        o.accept_encoding(arg_cstr_opt!(value).map(CStr::to_bytes))
    });
}

/// Sets whether `accept-encoding` lists the codings that the application can decode: "gzip,deflate", followed by the
/// codings given to `netlib_headers_options_add_supported_coding`. It replaces the result of the other two setters of
/// `accept-encoding`.
///
/// @param enable 0 or 1. Default: 0, no header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_headers_options_enable_accept_encoding(
    options: *mut netlib_headers_options,
    enable: i32,
) {
    options::set(options, "netlib_headers_options_enable_accept_encoding", |o: &mut HeaderOptions| {
        o.accept_supported_encodings(arg_bool!(enable));
        Ok(())
    });
}

/// Appends an element to `accept-encoding`, after a comma. The first call replaces the result of the other two setters
/// of `accept-encoding`.
///
/// @param coding for example "gzip" or "br;q=0.5".
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_headers_options_add_accept_encoding(
    options: *mut netlib_headers_options,
    coding: *const c_char,
) {
    options::set(options, "netlib_headers_options_add_accept_encoding", |o: &mut HeaderOptions| {
        o.add_accept_encoding(arg_cstr!(coding).to_bytes())
    });
}

/// Declares a coding other than gzip and deflate that the application can decode. `accept-encoding` lists it when
/// `netlib_headers_options_enable_accept_encoding` is on. Without that setting it has no effect.
///
/// @param coding for example "br" or "zstd"; a token (RFC 9110 section 5.6.2). A coding that is already known changes
///        nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_headers_options_add_supported_coding(
    options: *mut netlib_headers_options,
    coding: *const c_char,
) {
    options::set(options, "netlib_headers_options_add_supported_coding", |o: &mut HeaderOptions| {
        o.add_supported_coding(arg_str!(coding))
    });
}

/// Sets the value of `user-agent`. The default is no such header.
///
/// @param user_agent May be NULL: no header, as for "".
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_headers_options_set_user_agent(
    options: *mut netlib_headers_options,
    user_agent: *const c_char,
) {
    options::set(options, "netlib_headers_options_set_user_agent", |o: &mut HeaderOptions| {
        o.user_agent(arg_cstr_opt!(user_agent).map(CStr::to_bytes))
    });
}

/// Sets credentials for the server: `authorization` with the Basic scheme (RFC 7617), that is "Basic " and the base64
/// form of the bytes. The server determines the encoding of the credentials: usually UTF-8, ISO 8859-1 for older
/// servers. The default is no such header.
///
/// @param credentials "user:password", any bytes. May be NULL: no header, as for "".
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_headers_options_set_basic_auth(
    options: *mut netlib_headers_options,
    credentials: *const c_char,
) {
    options::set(options, "netlib_headers_options_set_basic_auth", |o: &mut HeaderOptions| {
        o.basic_auth(arg_cstr_opt!(credentials).map(CStr::to_bytes))
    });
}

/// Sets credentials for a proxy: `proxy-authorization`, as `netlib_headers_options_set_basic_auth` sets
/// `authorization`. The default is no such header.
///
/// @param credentials "user:password", any bytes. May be NULL: no header, as for "".
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_headers_options_set_proxy_basic_auth(
    options: *mut netlib_headers_options,
    credentials: *const c_char,
) {
    options::set(options, "netlib_headers_options_set_proxy_basic_auth", |o: &mut HeaderOptions| {
        o.proxy_basic_auth(arg_cstr_opt!(credentials).map(CStr::to_bytes))
    });
}

/// Sets whether to send `cache-control: no-cache`. Default: 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_headers_options_set_disable_cache(
    options: *mut netlib_headers_options,
    disable_cache: i32,
) {
    options::set(options, "netlib_headers_options_set_disable_cache", |o: &mut HeaderOptions| {
        o.disable_cache(arg_bool!(disable_cache));
        Ok(())
    });
}

/// Adds a header. It follows the headers of the other setters and those added by earlier calls. A name may be added
/// several times.
///
/// @param name a token (RFC 9110 section 5.1), sent in the case given.
/// @param value any bytes except CR and LF; "" is an empty value.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_headers_options_add_header(
    options: *mut netlib_headers_options,
    name: *const c_char,
    value: *const c_char,
) {
    options::set(options, "netlib_headers_options_add_header", |o: &mut HeaderOptions| {
        o.add_header(arg_cstr!(name).to_bytes(), arg_cstr!(value).to_bytes())
    });
}

/// Makes request headers. The order is `accept-encoding`, `user-agent`, `connection`, `authorization`,
/// `proxy-authorization`, `cache-control`, each with its name in lower case and only if it was set, then the added
/// headers.
///
/// @param options May be NULL: an empty list is made.
/// @param err the error's offset is the position of the bad byte in the name or value that its message names.
/// @return `NETLIB_INVALID_HEADER` for a name or value that cannot be sent, or if the list would be larger than 16 MiB;
///         `NETLIB_INVALID_ARGUMENT` for a truth value other than 0 and 1; `NETLIB_INVALID_UTF8` for a coding that is
///         not UTF-8. The message begins with the setter's name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_make_headers(
    options: *const netlib_headers_options,
    headers: *mut *mut netlib_headers,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let headers = outs!(headers);
        let options = options::borrowed::<_, HeaderOptions>(options)?;
        headers.give(Arc::new(make_headers(&options)?));
        Ok(())
    })
}

/// Returns options that make the same headers again; NULL when memory is short. To change or remove a header that a
/// setter made, call the setter again. The other headers were added with `netlib_headers_options_add_header`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_headers_to_options(headers: *const netlib_headers) -> *mut netlib_headers_options {
    guard::value(std::ptr::null_mut(), || Ok(handle::give(Box::new(Options::new(arg!(headers).to_options()?)))))
}

/// Returns another reference to the same headers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_headers_clone(headers: *const netlib_headers) -> *mut netlib_headers {
    handle::clone(headers)
}

/// Releases headers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_headers_free(headers: *mut netlib_headers) {
    guard::nothing(|| handle::free(headers));
}

/// Returns the number of fields; a repeated name counts each time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_headers_count(headers: *const netlib_headers) -> usize {
    read(headers, 0, Headers::len)
}

/// Returns the name of a field, in the case it was given.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_headers_name(
    headers: *const netlib_headers,
    index: usize,
    len: *mut usize,
) -> *const c_char {
    lend_text(headers, len, |headers| headers.at(index).map(|(name, _)| name))
}

/// Returns the value of a field.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_headers_value(
    headers: *const netlib_headers,
    index: usize,
    len: *mut usize,
) -> *const c_char {
    lend_text(headers, len, |headers| headers.at(index).map(|(_, value)| value))
}

/// Returns the first value of a name; NULL when no field has the name.
///
/// @param name the name, case-insensitive. May be NULL: NULL is returned.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_headers_get(
    headers: *const netlib_headers,
    name: *const c_char,
    len: *mut usize,
) -> *const c_char {
    lend_text(headers, len, |headers| headers.get(bytes_or_none(name)?))
}

/// Returns the number of fields with a name.
///
/// @param name the name, case-insensitive. May be NULL: 0 is returned.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_headers_get_count(headers: *const netlib_headers, name: *const c_char) -> usize {
    read(headers, 0, |headers| bytes_or_none(name).map_or(0, |name| headers.get_all(name).count()))
}

/// Returns a value of a name, in the order of the list.
///
/// @param name the name, case-insensitive. May be NULL: NULL is returned.
/// @param n 0 to `netlib_headers_get_count` - 1; beyond, NULL is returned.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_headers_get_at(
    headers: *const netlib_headers,
    name: *const c_char,
    n: usize,
    len: *mut usize,
) -> *const c_char {
    lend_text(headers, len, |headers| headers.get_all(bytes_or_none(name)?).nth(n))
}

/// Returns the bytes to send: "name: value" and CRLF for each field, without the empty line that ends a head; "" for an
/// empty list; NULL when memory is short. The first call makes the text; later calls return the same text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_headers_to_wire(headers: *const netlib_headers, len: *mut usize) -> *const c_char {
    lend_text(headers, len, |headers| headers.wire().ok())
}
