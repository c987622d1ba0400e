//! Percent-encoding.

use std::ffi::{c_char, c_void};
use std::sync::Arc;

use crate::ffi::api::basics::bytes::netlib_bytes;
use crate::ffi::api::basics::{netlib_error, netlib_status};
use crate::ffi::args::{arg_bytes, arg_enum};
use crate::ffi::enums::enum_netlib_url_component;
use crate::ffi::guard::nonblocking as guard;
use crate::ffi::out::outs;
use crate::memory::TerminatedBytes;
use crate::url::percent::{Place, decode, encode};

/// The components of a URL for which data can be percent-encoded (RFC 3986 section 2). Letters, digits, "-", "." and
/// "_" are never encoded. "%" and every byte that is not printable ASCII are always encoded.
///
/// For data such as a file name or a search term, use USERINFO_PART, PATH_SEGMENT, QUERY_PART or FORM_PART: with these
/// values, every delimiter is encoded, so that the data cannot end the part of the URL that contains it.
#[repr(C)]
pub enum netlib_url_component {
    /// A user name or a password, on one side of the ":" in the userinfo. "~" is not encoded.
    NETLIB_URL_COMPONENT_USERINFO_PART = 0,
    /// One segment of a path, between two slashes. "~" is not encoded.
    NETLIB_URL_COMPONENT_PATH_SEGMENT = 1,
    /// A path. "~", "/" and `!$&'()*+,:;=@` are not encoded, so "/" separates the segments.
    NETLIB_URL_COMPONENT_PATH = 2,
    /// A name or a value in a query. A space becomes "%20", and "+" stands for itself. "~" is not encoded.
    NETLIB_URL_COMPONENT_QUERY_PART = 3,
    /// A name or a value in the data of an HTML form (application/x-www-form-urlencoded, WHATWG URL Standard section
    /// 5), which is sent as a query or as a request body. A space becomes "+", and "+" stands for a space. "*" is not
    /// encoded.
    NETLIB_URL_COMPONENT_FORM_PART = 4,
    /// A whole query, without its "?". "~", "/", "?" and `!$&'()*+,:;=@` are not encoded, so "&" separates the pairs,
    /// and "=" separates a name and its value.
    NETLIB_URL_COMPONENT_QUERY = 5,
    /// A fragment, without its "#". "~", "/", "?" and `!$&'()*+,:;=@` are not encoded.
    NETLIB_URL_COMPONENT_FRAGMENT = 6,
}

/// Percent-encodes data for a component of a URL. Decoding the text with `netlib_percent_decode` and the same component
/// yields the data. The text consists of printable ASCII. `netlib_url_new` and the setters of `netlib_url_options`,
/// except `netlib_url_options_set_credentials`, do not encode the text again.
///
/// @param component the component that will contain the text.
/// @param data any bytes, at most `NETLIB_URL_MAX`. A "%" is data: text that is already encoded is encoded again.
/// @param text out: the encoded text. Its bytes contain no NUL.
/// @return `NETLIB_INVALID_URL` for data longer than `NETLIB_URL_MAX`, and for the path segments "." and "..", which
///         parsers remove even if they are encoded; `NETLIB_INVALID_ARGUMENT` for an unknown component.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_percent_encode(
    component: enum_netlib_url_component,
    data: *const c_void,
    len: usize,
    text: *mut *mut netlib_bytes,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let text = outs!(text);
        let place = arg_enum!(component, netlib_url_component, Place::from_code);
        let data = arg_bytes!(data, len);
        text.give(Arc::new(TerminatedBytes::new(encode(place, data)?)?));
        Ok(())
    })
}

/// Decodes the percent-encodings in the text of a URL's component. Every byte that is not part of a percent-encoding is
/// kept, except that "+" becomes a space for `NETLIB_URL_COMPONENT_FORM_PART`.
///
/// Split a component before you decode its parts: the userinfo at its first ":", the path at its slashes, the query
/// with `netlib_query_parse`. A decoded path segment may contain "/" and may be "..": check the segment before you use
/// it as a file name.
///
/// @param component the component that contained the text.
/// @param text the text, at most `NETLIB_URL_MAX` bytes.
/// @param data out: the decoded bytes, which may contain NULs and need not be UTF-8.
/// @param err the error's offset is the position of the "%" that is not followed by two hexadecimal digits.
/// @return `NETLIB_INVALID_URL` for a "%" that is not followed by two hexadecimal digits, and for text longer than
///         `NETLIB_URL_MAX`; `NETLIB_INVALID_ARGUMENT` for an unknown component.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_percent_decode(
    component: enum_netlib_url_component,
    text: *const c_char,
    len: usize,
    data: *mut *mut netlib_bytes,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let data = outs!(data);
        let place = arg_enum!(component, netlib_url_component, Place::from_code);
        let text = arg_bytes!(text, len);
        data.give(Arc::new(TerminatedBytes::new(decode(place, text)?)?));
        Ok(())
    })
}
