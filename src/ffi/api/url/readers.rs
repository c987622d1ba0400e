//! Comparison of URL parsers.

use std::ffi::c_char;
use std::sync::Arc;

use crate::ffi::api::basics::{netlib_error, netlib_status};
use crate::ffi::args::arg_bytes;
use crate::ffi::enums::enum_netlib_url_reader;
use crate::ffi::guard::nonblocking as guard;
use crate::ffi::out::outs;
use crate::ffi::strings::{lend_text, read, read_bool};
use crate::ffi::{Handle, Shared, handle};
use crate::url::{Reader, Reading, Readings};

/// URL readers: kinds of URL parsers, each of which splits URLs by its own rules.
#[repr(C)]
pub enum netlib_url_reader {
    /// Splits a URL only at the delimiters of RFC 3986 (appendix B, section 3.2). The RFC 3986 reader checks the
    /// scheme, the port, and an address in brackets. Userinfo and a host without brackets may contain any character
    /// that is not a delimiter, including backslashes and blanks. Userinfo ends at the last "@". Many filters in front
    /// of servers split URLs only at the delimiters of RFC 3986.
    NETLIB_URL_READER_RFC3986 = 0,
    /// Follows the WHATWG URL Standard, as browsers, Node.js and Rust's url crate do.
    NETLIB_URL_READER_WHATWG = 1,
    /// Parses URLs as `netlib_parse_url` does.
    NETLIB_URL_READER_NETLIB = 2,
}

/// Differences between the results of two URL readers for one text, as bits.
#[repr(C)]
pub enum netlib_url_difference {
    /// One URL reader finds a URL in the text, and the other URL reader does not.
    NETLIB_URL_DIFFERENCE_ACCEPTANCE = 1,
    /// The schemes differ.
    NETLIB_URL_DIFFERENCE_SCHEME = 2,
    /// The hosts differ. Differences in letter case and in the spelling of an IPv6 address are ignored. An absent host
    /// counts as an empty host.
    NETLIB_URL_DIFFERENCE_HOST = 4,
    /// The ports differ. An absent port counts as the default port of the scheme.
    NETLIB_URL_DIFFERENCE_PORT = 8,
}

/// The results of all URL readers (`enum netlib_url_reader`) for one text. **Immutable**.
pub struct netlib_url_readings {
    _private: [u8; 0],
}

impl Handle for netlib_url_readings {
    type Value = Readings;
    type Ownership = Shared;
}

/// Parses a text with all three URL readers: by RFC 3986, by the WHATWG URL Standard, and as `netlib_parse_url` does.
/// If the results differ, a filter can accept the URL because of one host, although a program that follows other rules
/// connects to another host: "http://good.example\@evil.example" is such a URL. See `netlib_url_readings_differences`.
///
/// @param text the text, in UTF-8.
/// @return `NETLIB_OK`, also for text that no reader accepts; `NETLIB_INVALID_URL` for text longer than
///         `NETLIB_URL_MAX`; `NETLIB_INVALID_UTF8`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_url_compare_readers(
    text: *const c_char,
    len: usize,
    readings: *mut *mut netlib_url_readings,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let readings = outs!(readings);
        let text = arg_bytes!(text, len);
        readings.give(Arc::new(Readings::of(text)?));
        Ok(())
    })
}

/// Returns another reference to the same results of URL readers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_url_readings_clone(readings: *const netlib_url_readings) -> *mut netlib_url_readings {
    handle::clone(readings)
}

/// Releases the results of URL readers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_url_readings_free(readings: *mut netlib_url_readings) {
    guard::nothing(|| handle::free(readings));
}

/// Returns the differences between the results of two URL readers, as a sum of `netlib_url_difference` values; 0 if
/// there is no difference, and if neither reader accepts the text; -1, in which every bit is set, for an unknown reader
/// and for NULL.
///
/// @param a a `netlib_url_reader`.
/// @param b another `netlib_url_reader`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_url_readings_differences(
    readings: *const netlib_url_readings,
    a: enum_netlib_url_reader,
    b: enum_netlib_url_reader,
) -> i32 {
    read(readings, -1, |readings| match (Reader::from_code(a), Reader::from_code(b)) {
        (Some(a), Some(b)) => readings.differences(a, b).0,
        _ => -1,
    })
}

/// Returns 1 if a URL reader finds a URL with a scheme or a host in the text, else 0; 0 for an unknown reader.
///
/// @param reader a `netlib_url_reader`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_url_readings_accepted(
    readings: *const netlib_url_readings,
    reader: enum_netlib_url_reader,
) -> i32 {
    read_bool(readings, false, |readings| reading(readings, reader).is_some())
}

/// Returns the scheme that a URL reader finds, in lower case; NULL when absent, and for a reader that is unknown or
/// finds no URL.
///
/// @param reader a `netlib_url_reader`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_url_readings_scheme(
    readings: *const netlib_url_readings,
    reader: enum_netlib_url_reader,
    len: *mut usize,
) -> *const c_char {
    lend_text(readings, len, |readings| reading(readings, reader)?.scheme.as_deref())
}

/// Returns the host that a URL reader finds, normalised by the rules of that reader; NULL when absent, and for a reader
/// that is unknown or finds no URL.
///
/// @param reader a `netlib_url_reader`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_url_readings_host(
    readings: *const netlib_url_readings,
    reader: enum_netlib_url_reader,
    len: *mut usize,
) -> *const c_char {
    lend_text(readings, len, |readings| reading(readings, reader)?.host.as_deref())
}

/// Returns the port that a URL reader finds: the port in the text, else the default of http, https, ws, wss or ftp. For
/// `NETLIB_URL_READER_RFC3986` the port may exceed 65535; 2147483647 stands for this port and for every larger one. -1
/// when absent, for a reader that is unknown or finds no URL, and for NULL.
///
/// @param reader a `netlib_url_reader`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_url_readings_port(
    readings: *const netlib_url_readings,
    reader: enum_netlib_url_reader,
) -> i32 {
    read(readings, -1, |readings| {
        reading(readings, reader).and_then(|reading| i32::try_from(reading.port?).ok()).unwrap_or(-1)
    })
}

fn reading(readings: &Readings, reader: i32) -> Option<&Reading> {
    readings.get(Reader::from_code(reader)?)
}
