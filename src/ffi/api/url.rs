//! Parsing, building and resolving URLs.

pub mod readers;

use std::ffi::{CStr, c_char};

use crate::error::{Error, Result};
use crate::ffi::api::basics::{netlib_error, netlib_status};
use crate::ffi::args::{arg, arg_bytes, arg_str_opt};
use crate::ffi::guard::nonblocking as guard;
use crate::ffi::out::{self, outs};
use crate::ffi::strings::{lend_terminated, lend_text, read};
use crate::ffi::{Counted, Handle, handle};
use crate::status::Status;
use crate::url::{Component, Composite, MAX_LENGTH, Url, UrlParts};

/// The longest text that is read as a URL, in bytes: 16 MiB.
pub const NETLIB_URL_MAX: usize = 16_777_216;

const _: () = assert!(NETLIB_URL_MAX == MAX_LENGTH);

/// A URL: scheme, userinfo, host, port, path, query and fragment, each of which may be absent. **Immutable**.
///
/// If the scheme is http, https or absent, the URL is normalised (RFC 3986 section 6.2.2): the host is in lower case
/// and in its ASCII form (IDNA: UTS 46, non-transitional), characters that a component may not contain are
/// percent-encoded, and "." and ".." segments are removed. For other schemes only the scheme is lower-cased. No
/// component contains CR, LF or NUL.
pub struct netlib_url {
    _private: [u8; 0],
}

impl Handle for netlib_url {
    type Value = Url;
    type Ownership = Counted;
}

/// Parses a URL (RFC 3986, RFC 6874). An incomplete URL is parsed by best effort.
///
/// Text that begins with neither a scheme nor "/" begins with the host: "example.com/a" has a host and a path.
/// "name:digits", where the digits are a port and "/", "?", "#" or nothing follows, is a host and its port, as in
/// "localhost:8080/a". The host of "http://user@a\b" is "a". An empty path is absent, unless a query or a fragment
/// follows it; an empty query or fragment is present. Text of length 0 is a URL with nothing present. The time is
/// linear in `len`. Use `netlib_parse_url_strict` for URLs from untrusted sources.
///
/// @param url the text, in UTF-8.
/// @param err the error's offset is the byte at which the problem is. Its message names the component and quotes
///        nothing of the text, which may contain credentials.
/// @return `NETLIB_INVALID_URL`, also for text longer than `NETLIB_URL_MAX`; `NETLIB_INVALID_UTF8`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_parse_url(
    url: *const c_char,
    len: usize,
    out: *mut *mut netlib_url,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let out = outs!(out);
        let url = arg_bytes!(url, len);
        out.give(Url::parse(url)?);
        Ok(())
    })
}

/// Parses an absolute http or https URL from an untrusted source. The call refuses text that `netlib_parse_url` would
/// repair and text that programs are known to read differently. `netlib_parse_url` and the readers of both standards
/// (`netlib_url_compare_readers`) read every accepted URL with the same scheme, host and port. The result equals that
/// of `netlib_parse_url`. Parsing does not check the host's addresses: see `netlib_connect_options_refuse_addresses`.
///
/// Each component must follow RFC 3986's grammar, which allows no backslash, no blank, no control character and no
/// stray "%" or bracket. Only the host may contain non-ASCII letters. Further rules:
/// - "//" follows the scheme.
/// - Userinfo is optional. It is not empty, has no encoded control character, and one "@" at most.
/// - The host is a name, four decimal numbers up to 255 without leading zeros, or an IPv6 address in brackets without a
///   zone.
/// - A name consists of letters, digits, "-", "_" and "."; it has at most 253 bytes and no dot at its end. Its labels
///   have 1 to 63 bytes and neither begin nor end with "-". The last label is not a number, decimal or hexadecimal.
/// - A non-ASCII label is allowed if IDNA changes nothing but its letter case, and IDNA 2003 and 2008 agree on it. An
///   "xn--" label is allowed if it is the encoding of its own Unicode form.
/// - The port is 1 to 65535 without leading zeros; a ":" without a port is refused.
/// - The path does not climb above its root and has neither %00 nor a percent-encoded "." or ".." segment.
///
/// @param url the text, in UTF-8.
/// @param err the error's offset is the byte at which the problem is. Its message names the component and quotes
///        nothing of the text.
/// @return `NETLIB_INVALID_URL`, also for text longer than `NETLIB_URL_MAX`; `NETLIB_INVALID_UTF8`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_parse_url_strict(
    url: *const c_char,
    len: usize,
    out: *mut *mut netlib_url,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let out = outs!(out);
        let url = arg_bytes!(url, len);
        out.give(Url::parse_strict(url)?);
        Ok(())
    })
}

/// Makes a URL from its parts, normalised as by `netlib_parse_url`. The URL written as text parses back into the same
/// parts: a value that would change them, such as "?" in a path, userinfo without a host, or a host "a:80", is refused,
/// and so are CR, LF and NUL.
///
/// @param scheme a letter, then letters, digits, "+" and "-". May be NULL: absent.
/// @param auth the userinfo, as "user" or "user:password", percent-encoded where needed. May be NULL: absent, as is "".
/// @param host a name, an IPv4 address, or an IPv6 address in brackets, its zone after a "%" or "%25". May be NULL:
///        absent.
/// @param port 0 to 65535; -1: absent.
/// @param path the path; if it is not empty, a leading "/" is added where it is missing. May be NULL: absent.
/// @param query the query, without its "?". May be NULL: absent; "" is present.
/// @param fragment the fragment, without its "#". May be NULL: absent; "" is present.
/// @param err the error's offset, if any, counts from the start of the part that its message names.
/// @return `NETLIB_INVALID_URL`, also for a part longer than `NETLIB_URL_MAX`; `NETLIB_INVALID_UTF8`;
///         `NETLIB_INVALID_ARGUMENT` for a port out of range.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_url_new(
    scheme: *const c_char,
    auth: *const c_char,
    host: *const c_char,
    port: i32,
    path: *const c_char,
    query: *const c_char,
    fragment: *const c_char,
    url: *mut *mut netlib_url,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let url = outs!(url);
        let parts = UrlParts {
            scheme: arg_str_opt!(scheme),
            auth: arg_str_opt!(auth),
            host: arg_str_opt!(host),
            port: port_argument(port)?,
            path: arg_str_opt!(path),
            query: arg_str_opt!(query),
            fragment: arg_str_opt!(fragment),
        };
        url.give(Url::from_parts(parts)?);
        Ok(())
    })
}

fn port_argument(port: i32) -> Result<Option<u16>> {
    if port == -1 {
        return Ok(None);
    }
    let number = u16::try_from(port);
    number
        .map(Some)
        .map_err(|_| Error::new(Status::InvalidArgument, format!("port must be -1 to 65535; it is {port}")))
}

/// Returns another reference to the same URL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_url_clone(url: *const netlib_url) -> *mut netlib_url {
    handle::clone(url)
}

/// Releases a URL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_url_free(url: *mut netlib_url) {
    guard::nothing(|| handle::free(url));
}

/// Returns the scheme, in lower case, without its colon; NULL when absent.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_url_scheme(url: *const netlib_url, len: *mut usize) -> *const c_char {
    lend_terminated(url, len, |url| url.terminated(Component::Scheme))
}

/// Returns the userinfo, as "user:password", percent-encoded as it stands in the URL; NULL when absent.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_url_auth(url: *const netlib_url, len: *mut usize) -> *const c_char {
    lend_terminated(url, len, |url| url.terminated(Component::Auth))
}

/// Stores the user: the userinfo before its first ":", percent-decoded. The bytes need not be UTF-8, and may include an
/// encoded ":".
///
/// @param username out: borrowed from `url`; NULL when there is no userinfo.
/// @param len out: its length without the NUL. May be NULL.
/// @param err the error's offset is the position of the encoded NUL, counted from the start of the userinfo.
/// @return `NETLIB_INVALID_URL` for an encoded NUL, which would end the string early.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_url_username(
    url: *const netlib_url,
    username: *mut *const c_char,
    len: *mut usize,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        out::zero(len);
        let username = outs!(username);
        lend_credential(arg!(url).username()?, username, len);
        Ok(())
    })
}

/// Stores the password: the userinfo after its first ":", percent-decoded. The bytes need not be UTF-8.
///
/// @param password out: borrowed from `url`; "" for "user:@host", NULL when there is no userinfo or no ":" in it.
/// @param len out: its length without the NUL. May be NULL.
/// @param err the error's offset is the position of the encoded NUL, counted from the start of the userinfo.
/// @return `NETLIB_INVALID_URL` for an encoded NUL, which would end the string early.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_url_password(
    url: *const netlib_url,
    password: *mut *const c_char,
    len: *mut usize,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        out::zero(len);
        let password = outs!(password);
        lend_credential(arg!(url).password()?, password, len);
        Ok(())
    })
}

/// Returns the host: a name, an IPv4 address, or an IPv6 address in brackets, its zone after a "%", as in
/// "[fe80::1%eth0]"; NULL when absent.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_url_host(url: *const netlib_url, len: *mut usize) -> *const c_char {
    lend_terminated(url, len, |url| url.terminated(Component::Host))
}

/// Returns the same as `netlib_url_host`, under its name in other URL parsers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_url_hostname(url: *const netlib_url, len: *mut usize) -> *const c_char {
    lend_terminated(url, len, |url| url.terminated(Component::Host))
}

/// Returns the port in the URL, 0 to 65535; -1 when absent and for NULL. To connect, use
/// `netlib_url_port_or_default`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_url_port(url: *const netlib_url) -> i32 {
    read(url, -1, |url| url.port().map_or(-1, i32::from))
}

/// Returns the port to connect to, 0 to 65535: the port in the URL, else 80 for http and for no scheme, 443 for https
/// (RFC 9110 section 4.2); -1 if the port is absent and the scheme is another one, and for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_url_port_or_default(url: *const netlib_url) -> i32 {
    read(url, -1, |url| url.effective_port().map_or(-1, i32::from))
}

/// Returns the path; NULL when absent. It begins with "/" unless it is empty. Exception: the path that
/// `netlib_url_resolve` finds after a scheme without "//" is unchanged, as "a@b" in "mailto:a@b".
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_url_path(url: *const netlib_url, len: *mut usize) -> *const c_char {
    lend_terminated(url, len, |url| url.terminated(Component::Path))
}

/// Returns the query, without its "?"; NULL when absent.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_url_query(url: *const netlib_url, len: *mut usize) -> *const c_char {
    lend_terminated(url, len, |url| url.terminated(Component::Query))
}

/// Returns the fragment, without its "#"; NULL when absent.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_url_fragment(url: *const netlib_url, len: *mut usize) -> *const c_char {
    lend_terminated(url, len, |url| url.terminated(Component::Fragment))
}

/// Returns the authority, "user:password@host:port" without the parts that are absent (RFC 3986 section 3.2); NULL
/// without a host, or when memory is short.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_url_authority(url: *const netlib_url, len: *mut usize) -> *const c_char {
    lend_terminated(url, len, |url| url.composite(Composite::Authority).ok()?)
}

/// Returns "host:port", or the host alone if the port is absent; NULL without a host, or when memory is short.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_url_netloc(url: *const netlib_url, len: *mut usize) -> *const c_char {
    lend_terminated(url, len, |url| url.composite(Composite::Netloc).ok()?)
}

/// Returns the target of a request: the path, "/" if it is empty or absent, and "?" with the query if there is one. It
/// always begins with "/". NULL when memory is short and for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_url_request_uri(url: *const netlib_url, len: *mut usize) -> *const c_char {
    lend_terminated(url, len, |url| url.composite(Composite::RequestUri).ok()?)
}

/// Returns the whole URL, as "scheme://user:password@host:port/path?query#fragment", with only the parts that are
/// present; NULL when memory is short. The text contains the userinfo: in logs use `netlib_url_redacted`.
///
/// `netlib_parse_url` parses it back to the same URL. Two additions make this possible: "/." before a path that begins
/// with two slashes if there is no host, and "//" before userinfo that looks like a scheme. There are two exceptions:
/// an empty host, as in the text ":", becomes absent; and a result of `netlib_url_resolve` without "//" must be
/// resolved again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_url_to_string(url: *const netlib_url, len: *mut usize) -> *const c_char {
    lend_terminated(url, len, |url| url.composite(Composite::Url).ok()?)
}

/// Returns the URL for logs: as `netlib_url_to_string` writes it, but with "***" for the userinfo, for each value of
/// the query and for the fragment, because these may contain credentials and tokens; NULL when memory is short. Scheme,
/// host, port, path and the names in the query remain, as in "example.com/a?id=***&key=***". The text is one line of
/// printable ASCII.
///
/// A part of the query without "=" counts as a value. Without a host, the text before the last "@" of the path is also
/// hidden, because "user:password@host" has the scheme "user". A secret in the path itself is not detected.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_url_redacted(url: *const netlib_url, len: *mut usize) -> *const c_char {
    lend_text(url, len, |url| url.redacted().ok())
}

/// Resolves a reference, such as the value of a Location header, against a base URL (RFC 3986 section 5).
///
/// The reference is not read by best effort: "g" is a relative path, and "a:80" has the scheme "a". A reference with a
/// scheme and without "//" keeps that form: "mailto:a@b" stays "mailto:a@b", with the path "a@b" and no host.
///
/// @param base the URL of the document with the reference.
/// @param reference the text, in UTF-8.
/// @param err the error's offset is the byte of the reference at which the problem is.
/// @return `NETLIB_INVALID_URL`, also for a reference longer than `NETLIB_URL_MAX` and for a result that is too long;
///         `NETLIB_INVALID_UTF8`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_url_resolve(
    base: *const netlib_url,
    reference: *const c_char,
    len: usize,
    url: *mut *mut netlib_url,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let url = outs!(url);
        let base = arg!(base);
        let reference = arg_bytes!(reference, len);
        url.give(base.resolve(reference)?);
        Ok(())
    })
}

/// Returns 1 if scheme, host and port of two URLs are equal, else 0. An absent port is 80 for http and 443 for https,
/// and an absent scheme is http. The comparison is case-insensitive, and ignores userinfo, path, query and fragment.
/// Credentials for one origin must not go to another.
///
/// @param b the other URL. May be NULL: 0 is returned.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_url_same_origin(a: *const netlib_url, b: *const netlib_url) -> i32 {
    guard::value(0, || {
        let (a, b) = (arg!(a), arg!(b));
        Ok(i32::from(a.same_origin(&b)))
    })
}

/// # Safety
/// `len` is NULL or writable.
unsafe fn lend_credential(text: Option<&CStr>, out: out::Out<'_, *const c_char>, len: *mut usize) {
    if let Some(text) = text {
        out.set(text.as_ptr());
        // SAFETY: the caller passes NULL or a writable `len`.
        if let Some(len) = unsafe { len.as_mut() } {
            *len = text.count_bytes();
        }
    }
}
