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

/// A kind of program that reads URLs.
#[repr(C)]
pub enum netlib_url_reader {
    /// Splits as RFC 3986 does, at the delimiters alone (appendix B, section 3.2). It checks scheme and port, but
    /// userinfo and host may contain any character, including backslashes and blanks. Userinfo ends at the last "@".
    /// Many filters in front of servers read in this way.
    NETLIB_URL_READER_RFC3986 = 0,
    /// Follows the WHATWG URL Standard, as browsers, Node and Rust's url crate do.
    NETLIB_URL_READER_WHATWG = 1,
    /// Parses as `netlib_parse_url` does.
    NETLIB_URL_READER_NETLIB = 2,
}

/// Differences between two readings of one text, as bits.
#[repr(C)]
pub enum netlib_url_difference {
    /// One reader finds a URL, the other does not.
    NETLIB_URL_DIFFERENCE_ACCEPTANCE = 1,
    /// The schemes differ.
    NETLIB_URL_DIFFERENCE_SCHEME = 2,
    /// The hosts differ. Letter case and the spelling of an IPv6 address are ignored.
    NETLIB_URL_DIFFERENCE_HOST = 4,
    /// The ports differ. An absent port is the scheme's default.
    NETLIB_URL_DIFFERENCE_PORT = 8,
}

/// The results of reading one text as each `netlib_url_reader` does. **Immutable**.
pub struct netlib_url_readings {
    _private: [u8; 0],
}

impl Handle for netlib_url_readings {
    type Value = Readings;
    type Ownership = Shared;
}

/// Reads a text in three ways: as a program that follows RFC 3986 does, as one that follows the WHATWG URL Standard
/// does, and as `netlib_parse_url` does. If the readings differ, a filter that reads in one way can accept a URL with
/// which another program connects to another host: "http://good.example\@evil.example" is such a URL. See
/// `netlib_url_readings_differences`.
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

/// Returns another reference to the same readings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_url_readings_clone(readings: *const netlib_url_readings) -> *mut netlib_url_readings {
    handle::clone(readings)
}

/// Releases readings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_url_readings_free(readings: *mut netlib_url_readings) {
    guard::nothing(|| handle::free(readings));
}

/// Returns the differences between two readers, as a sum of `netlib_url_difference` values; 0 for none, also if neither
/// accepts the text; -1, in which every bit is set, for an unknown reader and for NULL.
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

/// Returns 1 if a reader finds a URL in the text, that is a scheme or a host, else 0; 0 for an unknown reader.
///
/// @param reader a `netlib_url_reader`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_url_readings_accepted(
    readings: *const netlib_url_readings,
    reader: enum_netlib_url_reader,
) -> i32 {
    read_bool(readings, false, |readings| reading(readings, reader).is_some())
}

/// Returns the scheme that a reader sees, in lower case; NULL when absent, and for a reader that is unknown or finds no
/// URL.
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

/// Returns the host that a reader sees, normalised as that reader does it; NULL when absent, and for a reader that is
/// unknown or finds no URL.
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

/// Returns the port that a reader would connect to: the port in the text, else the default of http, https, ws, wss or
/// ftp. For `NETLIB_URL_READER_RFC3986` it may exceed 65535; 2147483647 stands for every larger number. -1 when absent,
/// for a reader that is unknown or finds no URL, and for NULL.
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
