//! Compares the scheme, host and port that URL parsers of different standards find in the same text.

use std::ffi::{CStr, CString};
use std::net::Ipv6Addr;

use super::Url;
use super::domain::unambiguous_ascii;
use super::measure::percent_decoded;
use super::parse::check_length;
use super::text::{reserve, utf8};
use crate::error::Result;
use crate::parse_cost::examined;

/// A kind of URL parser.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// A parser that splits text as RFC 3986 does (appendix B, then section 3.2). Like most RFC 3986 parsers, this
    /// parser does not check the characters of the components.
    Rfc3986 = 0,
    /// A parser that follows the WHATWG URL Standard, as browsers do.
    Whatwg = 1,
    /// [`Url::parse`].
    Netlib = 2,
}

impl Reader {
    pub fn from_code(code: i32) -> Option<Reader> {
        [Reader::Rfc3986, Reader::Whatwg, Reader::Netlib].into_iter().find(|&reader| reader as i32 == code)
    }
}

/// The differences between the results of two URL parsers, as a bit mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Differences(pub i32);

impl Differences {
    pub const NONE: Differences = Differences(0);
    /// Only one of the two parsers accepts the text as a URL.
    pub const ACCEPTANCE: Differences = Differences(1);
    pub const SCHEME: Differences = Differences(2);
    pub const HOST: Differences = Differences(4);
    pub const PORT: Differences = Differences(8);
}

/// The result of one URL parser.
#[derive(Debug)]
pub struct Reading {
    pub scheme: Option<CString>,
    /// The host, normalised by the rules of the parser.
    pub host: Option<CString>,
    /// The port, or the scheme's default port if the text has none. A port above 65535 is kept, because RFC 3986 sets
    /// no maximum.
    pub port: Option<u32>,
}

/// The results of all URL parsers for one text.
#[derive(Debug)]
pub struct Readings([Option<Reading>; 3]);

impl Readings {
    pub fn of(text: &[u8]) -> Result<Readings> {
        check_length(text)?;
        check_room(text.len())?;
        let text = utf8(text, "the URL")?;
        Ok(Readings([as_rfc3986(text), as_whatwg(text), as_netlib(text)]))
    }

    /// Returns the result of a parser; `None` if the parser fails, or finds neither a scheme nor a host.
    pub fn get(&self, reader: Reader) -> Option<&Reading> {
        self.0[reader as usize].as_ref()
    }

    /// Returns the differences between two parsers. If neither parser finds a URL, there is no difference, because no
    /// client would connect.
    pub fn differences(&self, a: Reader, b: Reader) -> Differences {
        let (a, b) = match (self.get(a), self.get(b)) {
            (Some(a), Some(b)) => (a, b),
            (None, None) => return Differences::NONE,
            _ => return Differences::ACCEPTANCE,
        };
        let bit = |differs: bool, bit: Differences| if differs { bit.0 } else { 0 };
        Differences(
            bit(a.scheme != b.scheme, Differences::SCHEME)
                | bit(!same_host(a.host.as_deref(), b.host.as_deref()), Differences::HOST)
                | bit(a.port != b.port, Differences::PORT),
        )
    }
}

/// Fails if the parsers would run out of memory. The parsers, one of which belongs to another crate, allocate without
/// checks, and a failed allocation would abort the process. So `check_room` allocates the maximum that the parsers
/// need, and frees it again.
fn check_room(length: usize) -> Result<()> {
    const BYTES_PER_BYTE: usize = 32;
    let mut room = Vec::new();
    reserve(&mut room, BYTES_PER_BYTE * length)?;
    // Keeps the compiler from removing the unused allocation.
    std::hint::black_box(&room);
    Ok(())
}

/// Compares hosts case-insensitively. An absent host equals an empty host, and two spellings of an IPv6 address are
/// equal.
fn same_host(a: Option<&CStr>, b: Option<&CStr>) -> bool {
    let (a, b) = (a.unwrap_or_default().to_bytes(), b.unwrap_or_default().to_bytes());
    a.eq_ignore_ascii_case(b) || ipv6(a).is_some_and(|address| ipv6(b) == Some(address))
}

fn ipv6(host: &[u8]) -> Option<Ipv6Addr> {
    let inner = host.strip_prefix(b"[")?.strip_suffix(b"]")?;
    std::str::from_utf8(inner).ok()?.parse().ok()
}

fn as_netlib(text: &str) -> Option<Reading> {
    let url = Url::parse(text.as_bytes()).ok()?;
    let port = url.port().or_else(|| default_port(url.scheme().map_or(b"http", CStr::to_bytes)));
    let (scheme, host) = (url.scheme().map(CStr::to_owned), url.host().map(CStr::to_owned));
    (scheme.is_some() || host.is_some()).then_some(Reading { scheme, host, port: port.map(u32::from) })
}

fn as_whatwg(text: &str) -> Option<Reading> {
    let url = url::Url::parse(text).ok()?;
    Some(Reading {
        scheme: Some(CString::new(url.scheme()).ok()?),
        host: url.host_str().map(CString::new).transpose().ok()?,
        port: url.port_or_known_default().map(u32::from),
    })
}

/// Splits as in RFC 3986 appendix B and checks the scheme's grammar. The userinfo ends at the last "@". The host ends
/// at its closing bracket or at the first colon.
pub(super) fn as_rfc3986(text: &str) -> Option<Reading> {
    let end = text.find(['/', '?', '#']).unwrap_or(text.len());
    examined(end);
    // A colon in the first segment ends the scheme; if the text before it is no scheme, the colon is an error (section
    // 4.2).
    let (scheme, rest) = match text[..end].find(':') {
        Some(colon) => (Some(scheme(&text[..colon])?), &text[colon + 1..]),
        None => (None, text),
    };
    let authority = rest.strip_prefix("//").map(|rest| {
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        examined(end);
        &rest[..end]
    });
    let own_port = match authority {
        None if scheme.is_none() => return None,
        None => None,
        Some(authority) => {
            examined(authority.len());
            Some(host_and_port(authority.rsplit_once('@').map_or(authority, |(_, host)| host))?)
        }
    };
    let (host, port) = own_port.map_or((None, None), |(host, port)| (Some(host), port));
    let default = || default_port(scheme.as_deref().unwrap_or_default().as_bytes()).map(u32::from);
    Some(Reading {
        port: port.or_else(default),
        scheme: scheme.map(CString::new).transpose().ok()?,
        host: host.map(CString::new).transpose().ok()?,
    })
}

fn scheme(text: &str) -> Option<String> {
    let valid = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    (valid && text.starts_with(|first: char| first.is_ascii_alphabetic())).then(|| text.to_ascii_lowercase())
}

/// Splits an authority without userinfo into the host, normalised as in section 6.2.2, and the port.
fn host_and_port(text: &str) -> Option<(String, Option<u32>)> {
    let end = match text.strip_prefix('[') {
        Some(inner) => inner.find(']')? + 2,
        None => text.find(':').unwrap_or(text.len()),
    };
    let (host, port) = text.split_at(end);
    let port = match port.strip_prefix(':') {
        Some(port) => port_number(port)?,
        None if port.is_empty() => None,
        None => return None,
    };
    let host = match host.strip_prefix('[') {
        Some(inner) => ip_literal(inner.strip_suffix(']')?)?,
        None => reg_name(host),
    };
    Some((host, port))
}

/// Parses a port with any number of digits, or no digits. A number too large for an `i32` becomes `i32::MAX`.
fn port_number(digits: &str) -> Option<Option<u32>> {
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number = digits.bytes().fold(0u32, |number, digit| {
        number.saturating_mul(10).saturating_add(u32::from(digit - b'0')).min(i32::MAX.unsigned_abs())
    });
    Some((!digits.is_empty()).then_some(number))
}

/// Parses the text between brackets: an IPv6 address with an optional zone (RFC 6874), in which the "%" may be
/// unencoded, or an IPvFuture address.
fn ip_literal(inner: &str) -> Option<String> {
    let (address, zone) = inner.split_once('%').map_or((inner, None), |(address, zone)| (address, Some(zone)));
    if address.parse::<Ipv6Addr>().is_ok() && zone.is_none_or(|zone| !zone.is_empty()) {
        let zone = zone.map(|zone| zone.strip_prefix("25").filter(|rest| !rest.is_empty()).unwrap_or(zone));
        let zone = zone.map_or(String::new(), |zone| format!("%{zone}"));
        return Some(format!("[{}{zone}]", address.to_ascii_lowercase()));
    }
    let (version, address) = inner.strip_prefix(['v', 'V'])?.split_once('.')?;
    let is_future = !version.is_empty()
        && version.bytes().all(|byte| byte.is_ascii_hexdigit())
        && !address.is_empty()
        && address.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:".contains(&byte));
    is_future.then(|| format!("[{}]", inner.to_ascii_lowercase()))
}

/// Normalises a host name: lower-cases it and decodes unreserved characters. A non-ASCII name is converted to ASCII if
/// IDNA does not change its letters.
fn reg_name(text: &str) -> String {
    let mut name = Vec::with_capacity(text.len());
    let mut i = 0;
    while let Some(&byte) = text.as_bytes().get(i) {
        let length = match percent_decoded(text.as_bytes(), i) {
            Some(decoded) if decoded.is_ascii_alphanumeric() || b"-._~".contains(&decoded) => {
                name.push(decoded.to_ascii_lowercase());
                3
            }
            Some(_) => {
                name.extend(text.as_bytes()[i..i + 3].to_ascii_uppercase());
                3
            }
            None => {
                name.push(byte.to_ascii_lowercase());
                1
            }
        };
        examined(length);
        i += length;
    }
    // The name is valid UTF-8, because percent-encodings and decoded characters are ASCII.
    let name = String::from_utf8(name).unwrap_or_default();
    if name.is_ascii() { name } else { unambiguous_ascii(&name).unwrap_or(name) }
}

fn default_port(scheme: &[u8]) -> Option<u16> {
    match scheme {
        b"http" | b"ws" => Some(80),
        b"https" | b"wss" => Some(443),
        b"ftp" => Some(21),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
