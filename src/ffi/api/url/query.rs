//! Query strings.

use std::ffi::c_char;

use crate::ffi::api::basics::{netlib_error, netlib_status};
use crate::ffi::args::{arg_bytes, arg_bytes_opt, arg_enum, arg_mut};
use crate::ffi::enums::enum_netlib_query_format;
use crate::ffi::guard::nonblocking as guard;
use crate::ffi::out::outs;
use crate::ffi::strings::{lend_terminated, read};
use crate::ffi::{Handle, Unique, handle};
use crate::url::query::{MAX_PAIRS, Query, QueryFormat, QueryPair};

/// The maximum number of pairs in a `netlib_query`.
pub const NETLIB_QUERY_MAX_PAIRS: i32 = 65_536;

const _: () = assert!(NETLIB_QUERY_MAX_PAIRS as usize == MAX_PAIRS);

/// The two conventions for spaces and plus signs in a query. In both formats, "&" separates pairs, and the first "=" of
/// a pair separates its name and value; ";" separates nothing.
#[repr(C)]
pub enum netlib_query_format {
    /// The format of HTML forms and most servers (application/x-www-form-urlencoded, WHATWG URL Standard section 5). A
    /// space is written as "+", and "+" is read as a space.
    NETLIB_QUERY_FORMAT_FORM = 0,
    /// The format of RFC 3986. A space is written as "%20", and "+" is read as "+".
    NETLIB_QUERY_FORMAT_RFC3986 = 1,
}

/// The names and values of a query, in order. **One call at a time**. Names and values are bytes, without
/// percent-encoding. Names are case-sensitive, and several pairs may have the same name. A query has at most
/// `NETLIB_QUERY_MAX_PAIRS` pairs, whose names, values and separators have at most `NETLIB_URL_MAX` bytes in total. The
/// following code adds a pair to the query of a URL:
///
///     status = netlib_query_parse(netlib_url_query(url, NULL), NETLIB_NTS, NETLIB_QUERY_FORMAT_FORM, &query, &err);
///     if (status == NETLIB_OK) status = netlib_query_append(query, "page", NETLIB_NTS, "2", NETLIB_NTS, &err);
///     if (status == NETLIB_OK) puts(netlib_query_to_string(query, NULL));
///     netlib_query_free(query);
///
/// A pair without "=", such as "wsdl" in "?wsdl", has a name but no value: its value is NULL. The value of the pair
/// "a=" is an empty text.
pub struct netlib_query {
    _private: [u8; 0],
}

impl Handle for netlib_query {
    type Value = Query;
    type Ownership = Unique;
}

/// Parses the text of a query. With NULL or "" as `text`, the call makes an empty query. Empty text between two "&" is
/// not a pair.
///
/// @param text the query, without its "?", at most `NETLIB_URL_MAX` bytes. May be NULL: the query has no pairs.
/// @param format the format of `text`, and of the text that `netlib_query_to_string` returns.
/// @param err the error's offset is the position in `text` of the "%" that is not followed by two hexadecimal digits.
/// @return `NETLIB_INVALID_URL` for a "%" that is not followed by two hexadecimal digits, for text longer than
///         `NETLIB_URL_MAX`, and for more than `NETLIB_QUERY_MAX_PAIRS` pairs; `NETLIB_INVALID_ARGUMENT` for an unknown
///         format.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_query_parse(
    text: *const c_char,
    len: usize,
    format: enum_netlib_query_format,
    query: *mut *mut netlib_query,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let query = outs!(query);
        let text = arg_bytes_opt!(text, len);
        let format = arg_enum!(format, netlib_query_format, QueryFormat::from_code);
        query.give(Box::new(Query::parse(text.unwrap_or_default(), format)?));
        Ok(())
    })
}

/// Releases a query.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_query_free(query: *mut netlib_query) {
    guard::nothing(|| handle::free(query));
}

/// Returns the number of pairs in a query.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_query_count(query: *const netlib_query) -> usize {
    read(query, 0, Query::len)
}

/// Returns the name of a pair, decoded. The name may contain NULs and need not be UTF-8. The name is valid until this
/// pair is replaced or removed, or the query is freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_query_name(
    query: *const netlib_query,
    index: usize,
    len: *mut usize,
) -> *const c_char {
    lend_terminated(query, len, |query| query.name_with_nul(index))
}

/// Returns the value of a pair, decoded; NULL if the pair has no "=". The value may contain NULs and need not be UTF-8.
/// The value is valid until this pair is replaced or removed, or the query is freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_query_value(
    query: *const netlib_query,
    index: usize,
    len: *mut usize,
) -> *const c_char {
    lend_terminated(query, len, |query| query.value_with_nul(index))
}

/// Returns the index of the first pair with a given name at or after the index `from`. Returns the number of pairs if
/// there is no such pair, so that `netlib_query_value` returns NULL for the returned index.
///
/// @param name the name: any bytes, not percent-encoded. May be NULL: the number of pairs is returned.
/// @param from the index at which the search begins: 0 to find the first pair with the name; the last result plus 1 to
///        find the next one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_query_find(
    query: *const netlib_query,
    name: *const c_char,
    len: usize,
    from: usize,
) -> usize {
    read(query, 0, |query| {
        guard::value(query.len(), || {
            let name = arg_bytes_opt!(name, len);
            Ok(name.map_or(query.len(), |name| query.find(name, from)))
        })
    })
}

/// Appends a pair to a query.
///
/// @param name the name: any bytes, not percent-encoded.
/// @param value the value: any bytes, not percent-encoded. May be NULL: the pair has no "=".
/// @return `NETLIB_INVALID_URL` if the query would have more than `NETLIB_QUERY_MAX_PAIRS` pairs or `NETLIB_URL_MAX`
///         bytes; `NETLIB_INVALID_ARGUMENT` for an empty name without a value.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_query_append(
    query: *mut netlib_query,
    name: *const c_char,
    name_len: usize,
    value: *const c_char,
    value_len: usize,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let mut query = arg_mut!(query);
        let name = arg_bytes!(name, name_len);
        let value = arg_bytes_opt!(value, value_len);
        query.append(QueryPair::new(name, value)?)
    })
}

/// Replaces the first pair that has a given name by a new pair, and removes all other pairs with this name. If no pair
/// has the name, the new pair is appended.
///
/// @param name the name: any bytes, not percent-encoded.
/// @param value the new value: any bytes, not percent-encoded. May be NULL: the pair has no "=".
/// @return `NETLIB_INVALID_URL` if the query would have more than `NETLIB_QUERY_MAX_PAIRS` pairs or `NETLIB_URL_MAX`
///         bytes; `NETLIB_INVALID_ARGUMENT` for an empty name without a value.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_query_set(
    query: *mut netlib_query,
    name: *const c_char,
    name_len: usize,
    value: *const c_char,
    value_len: usize,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let mut query = arg_mut!(query);
        let name = arg_bytes!(name, name_len);
        let value = arg_bytes_opt!(value, value_len);
        query.set(QueryPair::new(name, value)?)
    })
}

/// Removes all pairs that have a given name from a query.
///
/// @param name the name: any bytes, not percent-encoded.
/// @return the number of removed pairs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_query_remove(query: *mut netlib_query, name: *const c_char, len: usize) -> usize {
    guard::value(0, || {
        let mut query = arg_mut!(query);
        let first = query.find(arg_bytes!(name, len), 0);
        // From here on, `name` is not used: C code may have borrowed it from a pair that is removed.
        Ok(query.remove_all_like(first))
    })
}

/// Returns the text of a query, percent-encoded, without "?"; "" if there are no pairs; NULL when memory is short. The
/// text is printable ASCII without "#", so it can be used as the query of a URL, or as the body of a request that
/// submits a form. The text is valid until the query is changed or freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_query_to_string(query: *const netlib_query, len: *mut usize) -> *const c_char {
    lend_terminated(query, len, |query| query.text_with_nul().ok())
}
