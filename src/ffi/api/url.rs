//! Parsing, building and resolving URLs.

pub mod options;
pub mod encoding;
pub mod query;
pub mod no_proxy;
pub mod readers;

use std::ffi::{CStr, c_char};

use crate::ffi::api::basics::{netlib_error, netlib_status};
use crate::ffi::args::{arg, arg_bytes, arg_port_opt, arg_str_opt};
use crate::ffi::guard::nonblocking as guard;
use crate::ffi::out::{self, outs};
use crate::ffi::strings::{lend_terminated, lend_text, read};
use crate::ffi::{Counted, Handle, handle};
use crate::url::{Component, Composite, MAX_LENGTH, Url, UrlParts};

/// The maximum length of a URL that netlib parses, in bytes: 16 MiB.
pub const NETLIB_URL_MAX: usize = 16_777_216;

const _: () = assert!(NETLIB_URL_MAX == MAX_LENGTH);

/// A URL: scheme, userinfo, host, port, path, query and fragment, each of which may be absent. **Immutable**.
///
/// If the scheme is http, https or absent, the URL is normalised (RFC 3986 section 6.2.2): the host is in lower case
/// and in its ASCII form (IDNA: UTS 46, non-transitional), characters that a component may not contain are
/// percent-encoded, and "." and ".." segments are removed. For other schemes, only the scheme is converted to lower
/// case. No component contains CR, LF or NUL.
pub struct netlib_url {
    _private: [u8; 0],
}

impl Handle for netlib_url {
    type Value = Url;
    type Ownership = Counted;
}

/// Parses a URL (RFC 3986, RFC 6874). The parser also accepts an incomplete URL, such as "example.com/a".
///
/// A scheme is a letter, then letters, digits, "+" and "-", and ends with ":". Every scheme is accepted. Without "//"
/// after the scheme, the URL has no host, and the rest is a path, which gets a leading "/" if it has none. Text that
/// begins with neither a scheme nor "/" begins with the host. Text of the form "name:digits" is a host and its port if
/// the digits are a valid port and "/", "?", "#" or nothing follows them. In the following table, "-" stands for an
/// absent component; urllib3 finds the same components, except in "localhost:8080":
///
///     text            scheme  userinfo  host         port  path
///     mailto:x@y      mailto  -         -            -     /x@y
///     tel:5551234     tel     -         -            -     /5551234
///     http:g          http    -         -            -     /g
///     user:pw@h       user    -         -            -     /pw@h
///     ftp://U@H/A b   ftp     U         H            -     /A b
///     //h/x           -       -         h            -     /x
///     ///x            -       -         -            -     /x
///     example.com/a   -       -         example.com  -     /a
///     localhost:8080  -       -         localhost    8080  -
///     x:99999         x       -         -            -     /99999
///     a.b://x         -       -         a.b          -     //x
///
/// A backslash ends the host: the host of "http://user@a\b" is "a". An empty path is absent, unless a query or a
/// fragment follows it; an empty query or fragment is present. Text of length 0 is a URL whose components are all
/// absent. The running time is linear in `len`. Use `netlib_parse_url_strict` for URLs from untrusted sources.
///
/// @param url the text, in UTF-8.
/// @param err the error's offset is the position of the problem in `url`. The error message names the URL's component,
///        but quotes nothing from the URL, which may contain credentials.
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

/// Parses an absolute http or https URL from an untrusted source. The parser refuses text that `netlib_parse_url` would
/// repair, and text that other programs are known to parse differently. The three kinds of URL parsers that
/// `netlib_url_compare_readers` compares find the same scheme, host and port in every URL that
/// `netlib_parse_url_strict` accepts. The result equals the result of `netlib_parse_url` for the same text. The parser
/// does not check the host's addresses: see `netlib_connect_options_refuse_addresses`.
///
/// Each component must follow RFC 3986's grammar, which allows no backslash, no blank, no control character and no
/// stray "%" or bracket. Only the host may contain non-ASCII letters. In addition, the following rules apply:
/// - "//" follows the scheme and its colon.
/// - Userinfo, if present, is not empty and contains no percent-encoded control character. The authority contains at
///   most one "@".
/// - The host is a name, four decimal numbers up to 255 without leading zeros, or an IPv6 address in brackets without a
///   zone.
/// - A host name consists of letters, digits, "-", "_" and "."; it has at most 253 bytes and no dot at its end. The
///   labels of a host name have 1 to 63 bytes and neither begin nor end with "-". The last label is neither a decimal
///   number nor "0x" with hexadecimal digits.
/// - A non-ASCII label of a host name is allowed if IDNA changes nothing but its letter case, and IDNA 2003 and IDNA
///   2008 map it to the same label. A label that begins with "xn--" is allowed if decoding it and encoding it again
///   yields the same label.
/// - The port is 1 to 65535 without leading zeros; a ":" without a port is refused.
/// - The path does not climb above its root and has neither %00 nor a percent-encoded "." or ".." segment.
///
/// @param url the text, in UTF-8.
/// @param err the error's offset is the position of the problem in `url`. The error message names the URL's component,
///        but quotes nothing from the URL.
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

/// Makes a URL from its components, and normalises it as `netlib_parse_url` does. Parsing the text of the URL yields
/// the same components. The function therefore refuses components whose text would be parsed as different components,
/// such as a path with a "?", userinfo without a host, or the host "a:80". The function also refuses values with CR or
/// LF.
///
/// @param scheme a letter, then letters, digits, "+" and "-". May be NULL: the scheme is absent.
/// @param auth the userinfo, as "user" or "user:password", percent-encoded where needed. May be NULL: the userinfo is
///        absent, as for "".
/// @param host a name, an IPv4 address, or an IPv6 address in brackets, with an optional zone after "%" or "%25". May
///        be NULL: the host is absent.
/// @param port 0 to 65535; -1 if the port is absent.
/// @param path the path. A path that is not empty gets a leading "/" if it has none. May be NULL: the path is absent.
/// @param query the query, without its "?"; "" is an empty query. May be NULL: the query is absent.
/// @param fragment the fragment, without its "#"; "" is an empty fragment. May be NULL: the fragment is absent.
/// @param err the error's offset, if any, counts from the start of the component that the error message names.
/// @return `NETLIB_INVALID_URL`, also for a component longer than `NETLIB_URL_MAX`; `NETLIB_INVALID_UTF8`;
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
            port: arg_port_opt!(port),
            path: arg_str_opt!(path),
            query: arg_str_opt!(query),
            fragment: arg_str_opt!(fragment),
        };
        url.give(Url::from_parts(parts)?);
        Ok(())
    })
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

/// Returns the scheme of a URL, in lower case, without its colon; NULL when absent.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_url_scheme(url: *const netlib_url, len: *mut usize) -> *const c_char {
    lend_terminated(url, len, |url| url.terminated(Component::Scheme))
}

/// Returns the userinfo, such as "user:password", percent-encoded as in the URL; NULL when absent.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_url_auth(url: *const netlib_url, len: *mut usize) -> *const c_char {
    lend_terminated(url, len, |url| url.terminated(Component::Auth))
}

/// Stores the user name: the userinfo before its first ":", percent-decoded. The bytes of the user name need not be
/// UTF-8, and may include a ":" that was encoded in the URL.
///
/// @param username out: the user name, borrowed from `url`; NULL when there is no userinfo.
/// @param len out: the length of the user name, without the NUL. May be NULL.
/// @param err the error's offset is the position of an encoded NUL, counted from the start of the userinfo.
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

/// Stores the password: the userinfo after its first ":", percent-decoded. The password's bytes need not be UTF-8.
///
/// @param password out: the password, borrowed from `url`; "" for "user:@host"; NULL when there is no userinfo, or no
///        ":" in the userinfo.
/// @param len out: the length of the password, without the NUL. May be NULL.
/// @param err the error's offset is the position of an encoded NUL, counted from the start of the userinfo.
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

/// Returns the host: a name, an IPv4 address, or an IPv6 address in brackets, with its zone after a "%", as in
/// "[fe80::1%eth0]"; NULL when absent.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_url_host(url: *const netlib_url, len: *mut usize) -> *const c_char {
    lend_terminated(url, len, |url| url.terminated(Component::Host))
}

/// Returns the same as `netlib_url_host`. Other URL parsers call the host `hostname`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_url_hostname(url: *const netlib_url, len: *mut usize) -> *const c_char {
    lend_terminated(url, len, |url| url.terminated(Component::Host))
}

/// Returns the port that a URL contains, 0 to 65535; -1 when absent and for NULL. To connect, use
/// `netlib_url_port_or_default`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_url_port(url: *const netlib_url) -> i32 {
    read(url, -1, |url| url.port().map_or(-1, i32::from))
}

/// Returns the port to connect to, 0 to 65535: the port that the URL contains, or the default port of its scheme, which
/// is 443 for https, and 80 for http and for an absent scheme (RFC 9110 section 4.2); -1 if the URL has another scheme
/// and no port, and for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_url_port_or_default(url: *const netlib_url) -> i32 {
    read(url, -1, |url| url.effective_port().map_or(-1, i32::from))
}

/// Returns the path of a URL; NULL when absent. A path that is not empty begins with "/", except a path that
/// `netlib_url_resolve` finds after a scheme without "//", such as "a@b" in "mailto:a@b".
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_url_path(url: *const netlib_url, len: *mut usize) -> *const c_char {
    lend_terminated(url, len, |url| url.terminated(Component::Path))
}

/// Returns the query of a URL, without its "?"; NULL when absent.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_url_query(url: *const netlib_url, len: *mut usize) -> *const c_char {
    lend_terminated(url, len, |url| url.terminated(Component::Query))
}

/// Returns the fragment of a URL, without its "#"; NULL when absent.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_url_fragment(url: *const netlib_url, len: *mut usize) -> *const c_char {
    lend_terminated(url, len, |url| url.terminated(Component::Fragment))
}

/// Returns the authority of a URL, "user:password@host:port" without the components that are absent (RFC 3986 section
/// 3.2); NULL if the host is absent or memory is short.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_url_authority(url: *const netlib_url, len: *mut usize) -> *const c_char {
    lend_terminated(url, len, |url| url.composite(Composite::Authority).ok()?)
}

/// Returns "host:port", or only the host if the port is absent; NULL if the host is absent or memory is short.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_url_netloc(url: *const netlib_url, len: *mut usize) -> *const c_char {
    lend_terminated(url, len, |url| url.composite(Composite::Netloc).ok()?)
}

/// Returns the request target (RFC 9112 section 3.2.1): the path, or "/" if the path is empty or absent, then "?" and
/// the query if there is a query. The text always begins with "/". Returns NULL when memory is short and for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_url_request_uri(url: *const netlib_url, len: *mut usize) -> *const c_char {
    lend_terminated(url, len, |url| url.composite(Composite::RequestUri).ok()?)
}

/// Returns the whole URL as text, "scheme://user:password@host:port/path?query#fragment" without the components that
/// are absent; NULL when memory is short. The text contains the userinfo: in logs, use `netlib_url_redacted`.
///
/// Parsing the text with `netlib_parse_url` yields the same URL. So that the parsed URL is the same, the text has "/."
/// before a path that begins with two slashes if there is no host, and "//" before an authority that would parse as a
/// scheme. There are two exceptions: an empty host, as in the text ":", becomes absent; and if the URL has no "//" and
/// was returned by `netlib_url_resolve`, only `netlib_url_resolve` makes the same URL from the text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_url_to_string(url: *const netlib_url, len: *mut usize) -> *const c_char {
    lend_terminated(url, len, |url| url.composite(Composite::Url).ok()?)
}

/// Returns the URL as text for logs: the text of `netlib_url_to_string` with "***" instead of the userinfo, of each
/// value in the query and of the fragment, which may contain credentials and tokens; NULL when memory is short. Scheme,
/// host, port, path and the names in the query remain, as in "example.com/a?id=***&key=***". The text is one line of
/// printable ASCII.
///
/// A part of the query without "=" counts as a value. If the host is absent, "***" also replaces the text before the
/// last "@" of the path, because "user:password@host" has the scheme "user". Other secrets in the path are not
/// detected.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_url_redacted(url: *const netlib_url, len: *mut usize) -> *const c_char {
    lend_text(url, len, |url| url.redacted().ok())
}

/// Resolves a reference, such as the value of a Location header, against a base URL (RFC 3986 section 5).
///
/// The reference is parsed strictly by RFC 3986, unlike a URL that is passed to `netlib_parse_url`: "g" is a relative
/// path, and "a:80" has the scheme "a". A reference that has a scheme but no "//" is not changed: "mailto:a@b" stays
/// "mailto:a@b", with the path "a@b" and no host.
///
/// @param base the base URL: the URL of the document that contains the reference.
/// @param reference the reference as text, in UTF-8.
/// @param err the error's offset is the position of the problem in `reference`.
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
/// Credentials for one origin must not be sent to another origin.
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
