//! Request headers, and the bytes in which they are sent.

use std::ffi::{CStr, c_char};
use std::sync::Arc;

use crate::ffi::api::basics::{netlib_error, netlib_status};
use crate::ffi::args::{arg, arg_bool, arg_cstr, arg_cstr_opt, arg_opt, arg_str, bytes_or_none};
use crate::ffi::guard::nonblocking as guard;
use crate::ffi::header_fields::arg_fields;
use crate::ffi::out::outs;
use crate::ffi::strings::{lend_text, read};
use crate::ffi::{Handle, Options, Shared, Unique, handle, options};
use crate::headers::{HeaderOptions, Headers, make_headers};

/// Settings from which `netlib_make_headers` makes request headers. **One call at a time**. Without a call to a setter,
/// there are no headers. For a value with CR, LF or NUL, or a name that is not a token, `netlib_make_headers` fails
/// with `NETLIB_INVALID_HEADER`; the error message contains the header's name and the byte, but never the value.
pub struct netlib_headers_options {
    _private: [u8; 0],
}

impl Handle for netlib_headers_options {
    type Value = Options<HeaderOptions>;
    type Ownership = Unique;
}

/// An ordered list of header fields. **Immutable**. Names of fields are case-insensitive, but keep the letter case with
/// which they were added; a name may occur several times. Values of fields are bytes, which need not be UTF-8, but
/// never contain CR, LF or NUL.
pub struct netlib_headers {
    _private: [u8; 0],
}

impl Handle for netlib_headers {
    type Value = Headers;
    type Ownership = Shared;
}

/// A header field: a name and a value.
#[repr(C)]
pub struct netlib_header_field {
    /// The name, a token (RFC 9110 section 5.1), sent with its letter case unchanged.
    pub name: *const c_char,
    /// The value: any bytes except CR and LF; "" is an empty value.
    pub value: *const c_char,
}

/// Makes a list of header fields in one call:
///
///     const netlib_header_field fields[] = {{"accept", "text/html"}, {"connection", "close"}};
///     netlib_headers *headers = NULL;
///     status = netlib_headers_new(fields, 2, &headers, &err);
///
/// For credentials and other common request headers, `netlib_make_headers` makes the values.
///
/// @param fields the fields, in order. A name may occur several times.
/// @param count the number of fields; with 0, the list is empty.
/// @param err the error's offset is the position of the invalid byte in the name or value that the error message names.
/// @return `NETLIB_INVALID_HEADER` for a name that is not a token, for a value with CR or LF, and if the list would be
///         larger than 16 MiB; `NETLIB_NULL_ARGUMENT` for a name or a value that is NULL. The error message begins with
///         the index of the field.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_headers_new(
    fields: *const netlib_header_field,
    count: usize,
    headers: *mut *mut netlib_headers,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let headers = outs!(headers);
        headers.give(Arc::new(arg_fields!(fields, count)));
        Ok(())
    })
}

/// Makes options for an empty list of headers.
///
/// @return Never NULL.
#[unsafe(no_mangle)]
pub extern "C" fn netlib_headers_options_new() -> *mut netlib_headers_options {
    guard::value(std::ptr::null_mut(), || Ok(handle::give(Box::new(Options::new(HeaderOptions::default())))))
}

/// Returns an independent copy of the options.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_headers_options_clone(
    options: *const netlib_headers_options,
) -> *mut netlib_headers_options {
    options::clone(options)
}

/// Checks, as `netlib_make_headers` does, that no setter has recorded an error. The call does not check the total size
/// of the headers, which `netlib_make_headers` limits to 16 MiB.
///
/// @return `NETLIB_INVALID_HEADER` for a name or value that cannot be sent; `NETLIB_INVALID_ARGUMENT` if a number other
///         than 0 and 1 was passed to a setter; `NETLIB_INVALID_UTF8` if the text that was passed to
///         `netlib_headers_options_add_supported_coding` is not UTF-8.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_headers_options_check(
    options: *const netlib_headers_options,
    err: *mut *mut netlib_error,
) -> netlib_status {
    options::check(options, err)
}

/// Releases options.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_headers_options_free(options: *mut netlib_headers_options) {
    guard::nothing(|| handle::free(options));
}

/// Sets whether the headers include `connection: keep-alive`. Default: 0.
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

/// Sets the value of the header `accept-encoding`, for example "gzip;q=0.5, br". The value replaces the result of
/// earlier calls of `netlib_headers_options_enable_accept_encoding` and `netlib_headers_options_add_accept_encoding`.
/// By default, there is no `accept-encoding`.
///
/// @param value the value; "" means no header. May be NULL: no header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_headers_options_set_accept_encoding(
    options: *mut netlib_headers_options,
    value: *const c_char,
) {
    options::set(options, "netlib_headers_options_set_accept_encoding", |o: &mut HeaderOptions| {
        o.accept_encoding(arg_cstr_opt!(value).map(CStr::to_bytes))
    });
}

/// Sets whether the header `accept-encoding` lists the codings that the application can decode: "gzip,deflate",
/// followed by the codings that `netlib_headers_options_add_supported_coding` declares. The call replaces the result of
/// earlier calls of `netlib_headers_options_set_accept_encoding` and `netlib_headers_options_add_accept_encoding`.
///
/// @param enable 0 or 1. Default: 0, no `accept-encoding`.
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

/// Appends a coding to the header `accept-encoding`, after a comma. If `netlib_headers_options_set_accept_encoding` or
/// `netlib_headers_options_enable_accept_encoding` has made the header's value, the coding replaces this value.
///
/// @param coding the coding, for example "gzip" or "br;q=0.5".
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_headers_options_add_accept_encoding(
    options: *mut netlib_headers_options,
    coding: *const c_char,
) {
    options::add(options, "netlib_headers_options_add_accept_encoding", |o: &mut HeaderOptions| {
        o.add_accept_encoding(arg_cstr!(coding).to_bytes())
    });
}

/// Declares a coding other than gzip and deflate that the application can decode. If
/// `netlib_headers_options_enable_accept_encoding` makes the header `accept-encoding`, the header lists this coding;
/// otherwise the declaration has no effect.
///
/// @param coding the coding, a token (RFC 9110 section 5.6.2), for example "br" or "zstd". Declaring a coding again
///        changes nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_headers_options_add_supported_coding(
    options: *mut netlib_headers_options,
    coding: *const c_char,
) {
    options::add(options, "netlib_headers_options_add_supported_coding", |o: &mut HeaderOptions| {
        o.add_supported_coding(arg_str!(coding))
    });
}

/// Sets the value of the header `user-agent`. By default, there is no `user-agent`.
///
/// @param user_agent the value; "" means no header. May be NULL: no header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_headers_options_set_user_agent(
    options: *mut netlib_headers_options,
    user_agent: *const c_char,
) {
    options::set(options, "netlib_headers_options_set_user_agent", |o: &mut HeaderOptions| {
        o.user_agent(arg_cstr_opt!(user_agent).map(CStr::to_bytes))
    });
}

/// Sets the credentials for the server, in the header `authorization` with the Basic scheme (RFC 7617): "Basic " and
/// the base64 form of the credentials. The server determines the character encoding of the credentials: usually UTF-8,
/// but ISO 8859-1 for older servers. By default, there is no `authorization`.
///
/// @param credentials "user:password", any bytes; "" means no header. May be NULL: no header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_headers_options_set_basic_auth(
    options: *mut netlib_headers_options,
    credentials: *const c_char,
) {
    options::set(options, "netlib_headers_options_set_basic_auth", |o: &mut HeaderOptions| {
        o.basic_auth(arg_cstr_opt!(credentials).map(CStr::to_bytes))
    });
}

/// Sets the credentials for a proxy, in the header `proxy-authorization`, as `netlib_headers_options_set_basic_auth`
/// sets `authorization`. By default, there is no `proxy-authorization`.
///
/// @param credentials "user:password", any bytes; "" means no header. May be NULL: no header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_headers_options_set_proxy_basic_auth(
    options: *mut netlib_headers_options,
    credentials: *const c_char,
) {
    options::set(options, "netlib_headers_options_set_proxy_basic_auth", |o: &mut HeaderOptions| {
        o.proxy_basic_auth(arg_cstr_opt!(credentials).map(CStr::to_bytes))
    });
}

/// Sets whether the headers include `cache-control: no-cache`. Default: 0.
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

/// Adds a header field, which follows the headers that setters make and the fields that earlier calls added. A name may
/// be added several times.
///
/// @param name the name, a token (RFC 9110 section 5.1), sent with its letter case unchanged.
/// @param value the value: any bytes except CR and LF; "" is an empty value.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_headers_options_add_header(
    options: *mut netlib_headers_options,
    name: *const c_char,
    value: *const c_char,
) {
    options::add(options, "netlib_headers_options_add_header", |o: &mut HeaderOptions| {
        o.add_header(arg_cstr!(name).to_bytes(), arg_cstr!(value).to_bytes())
    });
}

/// Makes request headers: those of `accept-encoding`, `user-agent`, `connection`, `authorization`,
/// `proxy-authorization` and `cache-control` that were set, in this order and with names in lower case, then the
/// headers that were added.
///
/// @param options the settings. May be NULL: the list of headers is empty.
/// @param err the error's offset is the position of the invalid byte in the name or value that the error message names.
/// @return `NETLIB_INVALID_HEADER` for a name or value that cannot be sent, or if the list would be larger than 16 MiB;
///         `NETLIB_INVALID_ARGUMENT` if a number other than 0 and 1 was passed to a setter; `NETLIB_INVALID_UTF8` if
///         the text that was passed to `netlib_headers_options_add_supported_coding` is not UTF-8. If a setter has
///         recorded the error, the error message begins with the setter's name.
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

/// Returns options from which `netlib_make_headers` makes the same headers. To change or remove a header that a setter
/// made, call the setter again. The options treat all other headers as headers that
/// `netlib_headers_options_add_header` added. When memory is short, the options record `NETLIB_OUT_OF_MEMORY`, with
/// which `netlib_make_headers` then fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_headers_to_options(headers: *const netlib_headers) -> *mut netlib_headers_options {
    guard::value(std::ptr::null_mut(), || {
        let converted = Options::converted("netlib_headers_to_options", arg!(headers).to_options());
        Ok(handle::give(Box::new(converted)))
    })
}

/// Copies a list and sets one field, for example an Authorization with new credentials: the copy has exactly one field
/// with this name. The value replaces the value of the first field with this name, and further fields with this name
/// are left out; if no field has this name, the new field is the last one.
///
/// @param headers the list. May be NULL: an empty list.
/// @param name the name, a token (RFC 9110 section 5.1), case-insensitive; the new field has the letter case of `name`.
/// @param value the value: any bytes except CR and LF. May be NULL: the copy has no field with this name.
/// @param changed out: the copy.
/// @param err the error's offset is the position of the invalid byte in the name or value that the error message names.
/// @return `NETLIB_INVALID_HEADER` for a name that is not a token, for a value with CR or LF, and if the list would be
///         larger than 16 MiB.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_headers_with(
    headers: *const netlib_headers,
    name: *const c_char,
    value: *const c_char,
    changed: *mut *mut netlib_headers,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let changed = outs!(changed);
        let (name, value) = (arg_cstr!(name).to_bytes(), arg_cstr_opt!(value).map(CStr::to_bytes));
        let with = |headers: &Headers| headers.with(name, value);
        changed.give(Arc::new(match arg_opt!(headers) {
            Some(headers) => with(headers),
            None => with(&Headers::default()),
        }?));
        Ok(())
    })
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

/// Returns the number of header fields; a name that occurs several times counts each time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_headers_count(headers: *const netlib_headers) -> usize {
    read(headers, 0, Headers::len)
}

/// Returns the name of a header field, with the letter case with which the field was added.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_headers_name(
    headers: *const netlib_headers,
    index: usize,
    len: *mut usize,
) -> *const c_char {
    lend_text(headers, len, |headers| headers.at(index).map(|(name, _)| name))
}

/// Returns the value of a header field.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_headers_value(
    headers: *const netlib_headers,
    index: usize,
    len: *mut usize,
) -> *const c_char {
    lend_text(headers, len, |headers| headers.at(index).map(|(_, value)| value))
}

/// Returns the value of the first field with a given name; NULL when no field has this name.
///
/// @param name the name of the field, case-insensitive. May be NULL: NULL is returned.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_headers_get(
    headers: *const netlib_headers,
    name: *const c_char,
    len: *mut usize,
) -> *const c_char {
    lend_text(headers, len, |headers| headers.get(bytes_or_none(name)?))
}

/// Returns the number of fields with a given name.
///
/// @param name the name of the fields, case-insensitive. May be NULL: 0 is returned.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_headers_get_count(headers: *const netlib_headers, name: *const c_char) -> usize {
    read(headers, 0, |headers| bytes_or_none(name).map_or(0, |name| headers.get_all(name).count()))
}

/// Returns the value of the field number `n`, counted from 0, among the fields with a given name.
///
/// @param name the name of the fields, case-insensitive. May be NULL: NULL is returned.
/// @param n 0 to `netlib_headers_get_count` - 1; for a larger number, NULL is returned.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_headers_get_at(
    headers: *const netlib_headers,
    name: *const c_char,
    n: usize,
    len: *mut usize,
) -> *const c_char {
    lend_text(headers, len, |headers| headers.get_all(bytes_or_none(name)?).nth(n))
}

/// Returns the headers as bytes to send: "name: value" and CRLF for each field, without the empty line that ends the
/// head of a request; "" for an empty list; NULL when memory is short. The first call makes the text; later calls
/// return the same text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_headers_to_wire(headers: *const netlib_headers, len: *mut usize) -> *const c_char {
    lend_text(headers, len, |headers| headers.wire().ok())
}
