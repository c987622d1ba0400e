//! A validated host in ASCII and a port, for a name lookup.

use std::ffi::{CStr, CString};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::limit::Limit;
use crate::socket::endpoint::Endpoint;
use crate::socket::sys;
use crate::status::Status;
use crate::url;

/// The application's resolver: returns the addresses of an ASCII host and a port. The last argument is the time until
/// the limit's deadline, in seconds.
pub(crate) type ResolveCallback = Arc<dyn Fn(&CStr, u16, f64) -> Result<Vec<Endpoint>> + Send + Sync>;

/// The maximum length of a host, in bytes, to bound the work for hostile input. A valid domain name has at most 253
/// bytes.
const MAX_HOST: usize = 1024;
/// The maximum length of a DNS label: RFC 1035 section 2.3.4.
const MAX_LABEL: usize = 63;

/// A host and a port.
#[derive(Clone, Debug)]
pub(crate) struct HostPort {
    /// The host in ASCII, without brackets.
    host: CString,
    port: u16,
}

impl HostPort {
    /// Validates a host: a name, which may be internationalised, an IPv4 address, or an IPv6 address with or without
    /// brackets.
    pub(crate) fn new(host: &str, port: u16) -> Result<HostPort> {
        let (inner, skipped) = match host.strip_prefix('[') {
            Some(rest) => (rest.strip_suffix(']').unwrap_or(rest), 1),
            None => (host, 0),
        };
        let refused = |what: &str| Error::new(Status::InvalidUrl, format!("the host {} {what}", quote(host)));
        // The text before the "@" may be userinfo with a password, which must not appear in a message.
        if let Some(at) = host.bytes().position(|b| b == b'@') {
            return Err(Error::new(Status::InvalidUrl, format!("the host has an \"@\" at byte {at}")).at(at));
        }
        if inner.is_empty() {
            return Err(Error::new(Status::InvalidUrl, "the host is empty").at(skipped));
        }
        if inner.len() > MAX_HOST {
            return Err(refused(&format!("has {} bytes; at most {MAX_HOST} are allowed", inner.len())));
        }
        let half_open = host.len() != inner.len() + 2 * skipped;
        let find = |is_bad: fn(u8) -> bool| {
            let (at, byte) = inner.bytes().enumerate().find(|(_, byte)| is_bad(*byte))?;
            Some((at + skipped, char::from(byte)))
        };
        if let Some((at, byte)) = find(|b| b <= b' ' || b == 0x7f || b == b'[' || b == b']') {
            return Err(refused(&format!("has {byte:?} at byte {at}, which is not allowed in a host")).at(at));
        }
        if half_open {
            return Err(refused("has a bracket that is not closed").at(0));
        }
        if let Some((at, byte)) = find(|b| matches!(b, b'/' | b'?' | b'#' | b'\\')) {
            return Err(refused(&format!("has {byte:?} at byte {at}: pass only the host of the URL")).at(at));
        }
        // A host with at least two colons is an IPv6 address; a host with one colon has a port. Dots in an IPv6 address
        // or its zone do not separate labels.
        if let Some(colon) = inner.find(':') {
            if inner.rfind(':') == Some(colon) {
                return Err(refused("has a port: pass it in the port parameter").at(colon + skipped));
            }
            return HostPort::from_ascii(inner, port);
        }
        let mut name = url::Name::new();
        url::append_idna(&mut name, inner.as_bytes(), |at| at + skipped)?;
        let name = String::from_utf8_lossy(&name);
        let mut at = 0;
        // A trailing dot marks an absolute domain name. No label follows the trailing dot.
        for label in name.strip_suffix('.').unwrap_or(&name).split('.') {
            if label.is_empty() || label.len() > MAX_LABEL {
                let mut what = match label.len() {
                    0 => "has an empty label".to_owned(),
                    len => format!("has a label of {len} bytes, more than {MAX_LABEL}"),
                };
                // After IDNA conversion, byte offsets differ from the offsets in the caller's text.
                if !inner.is_ascii() {
                    return Err(refused(&what));
                }
                what += &format!(", at byte {}", at + skipped);
                return Err(refused(&what).at(at + skipped));
            }
            at += label.len() + 1;
        }
        HostPort::from_ascii(&name, port)
    }

    fn from_ascii(host: &str, port: u16) -> Result<HostPort> {
        let host = CString::new(host)
            .map_err(|nul| Error::new(Status::InvalidUrl, "the host has a NUL byte").at(nul.nul_position()))?;
        Ok(HostPort { host, port })
    }

    pub(crate) fn host(&self) -> &CStr {
        &self.host
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(super) fn host_text(&self) -> &str {
        self.host.to_str().unwrap_or("")
    }

    /// Returns the address if the host is an IP address in any form that getaddrinfo(3) accepts without a lookup, for
    /// example 127.1 or fe80::1%2. `None` for a host name.
    pub(super) fn numeric(&self) -> Option<Result<Vec<SocketAddr>>> {
        if let Ok(address) = self.host_text().parse::<IpAddr>() {
            return Some(Ok(vec![SocketAddr::new(address, self.port)]));
        }
        match sys::getaddrinfo(&self.host, self.port, libc::AF_UNSPEC, libc::AI_NUMERICHOST) {
            Ok(addresses) => Some(Ok(addresses)),
            Err(failure) if self.host_text().contains(':') => Some(Err(self.lookup_failed(failure))),
            Err(_) => None,
        }
    }

    /// Calls the application's resolver, unless the host is an IP address. The limit cannot interrupt the callback.
    pub(crate) fn resolve_with(&self, resolve: &ResolveCallback, limit: Option<&Limit>) -> Result<Vec<Endpoint>> {
        if let Some(found) = self.numeric() {
            return found.map(Endpoint::all_ip);
        }
        limit.map_or(Ok(()), Limit::check)?;
        let seconds_left = limit.and_then(Limit::remaining).map_or(f64::INFINITY, |left| left.as_secs_f64());
        let found = resolve(&self.host, self.port, seconds_left)?;
        self.with_port(found)
    }

    /// Sets the port of each found address whose port is 0 to `self.port`. Fails if there are no addresses.
    pub(super) fn with_port(&self, found: Vec<Endpoint>) -> Result<Vec<Endpoint>> {
        self.require_addresses(set_missing_ports(found, self.port))
    }

    pub(super) fn require_addresses<T>(&self, found: Vec<T>) -> Result<Vec<T>> {
        if found.is_empty() {
            return Err(Error::new(Status::NameResolution, format!("{} has no addresses", self.host_text())));
        }
        Ok(found)
    }

    pub(super) fn lookup_failed(&self, failure: sys::LookupFailure) -> Error {
        let what = format!("cannot resolve {}", self.host_text());
        match failure.system {
            Some(system) => Error::from_io(Status::NameResolution, what, &system),
            None => Error::new(Status::NameResolution, format!("{what}: {}", failure.text)),
        }
        .with_resolver_code(failure.code)
    }
}

/// Quotes a host for an error message. A long host is truncated.
fn quote(host: &str) -> String {
    match host.char_indices().nth(80) {
        Some((end, _)) => format!("\"{}...\"", &host[..end]),
        None => format!("\"{host}\""),
    }
}

/// Sets the port of each IP address whose port is 0.
pub(crate) fn set_missing_ports(mut addresses: Vec<Endpoint>, port: u16) -> Vec<Endpoint> {
    for address in &mut addresses {
        if let Endpoint::Ip(address) = address
            && address.port() == 0
        {
            address.set_port(port);
        }
    }
    addresses
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn valid_hosts_are_converted_to_ascii_and_others_refused() {
        let host = |text| match HostPort::new(text, 80) {
            Ok(host_port) => Ok(host_port.host_text().to_owned()),
            Err(error) => Err((error.status(), error.offset())),
        };
        let ok = |text: &str| Ok(text.to_owned());
        let bad = |at| Err((Status::InvalidUrl, at));
        let label = "a".repeat(63);
        for (input, expected) in [
            ("example.com", ok("example.com")),
            ("localhost.", ok("localhost.")),
            ("a_b", ok("a_b")),
            ("127.0.0.1", ok("127.0.0.1")),
            ("[127.0.0.1]", ok("127.0.0.1")),
            ("::1", ok("::1")),
            ("[::1]", ok("::1")),
            ("[fe80::1%eth0]", ok("fe80::1%eth0")),
            ("bücher.example", ok("xn--bcher-kva.example")),
            (&label, ok(&label)),
            (&format!("{label}a"), bad(Some(0))),
            (&format!("x.{label}a.com"), bad(Some(2))),
            ("a..b", bad(Some(2))),
            (".a", bad(Some(0))),
            (".", bad(Some(0))),
            ("a..", bad(Some(2))),
            ("", bad(Some(0))),
            ("[]", bad(Some(1))),
            ("[::1", bad(Some(0))),
            ("::1]", bad(Some(3))),
            ("[[::1]]", bad(Some(1))),
            ("[::1].x", bad(Some(4))),
            ("a b", bad(Some(1))),
            ("user:password@a", bad(Some(13))),
            ("http://user:password@a/", bad(Some(20))),
            ("a\r\nb", bad(Some(1))),
            ("a\0b", bad(Some(1))),
            ("a\x7f", bad(Some(1))),
            ("Bücher.EXAMPLE", ok("xn--bcher-kva.example")),
            ("bücher。example", ok("xn--bcher-kva.example")),
            (&"ü".repeat(60), bad(Some(0))),
            // A character that UTS 46 maps to a colon, a slash or a space is refused, because the result would not be a
            // host name.
            ("：：1", bad(Some(0))),
            ("x.a／b", bad(Some(2))),
            ("a\u{a0}b", bad(Some(0))),
            // Full-width digits, which UTS 46 maps to ASCII, form an IPv4 address, as in URLs.
            ("１２７.0.0.1", ok("127.0.0.1")),
            (&"a.".repeat(513), bad(None)),
        ] {
            assert_eq!(host(input), expected, "{input:?}");
        }
    }

    #[test]
    fn error_messages_for_invalid_hosts_name_the_problem() {
        for (input, expected) in [
            ("", "the host is empty"),
            ("[]", "the host is empty"),
            ("a b", "the host \"a b\" has ' ' at byte 1, which is not allowed in a host"),
            ("[::1].x", "the host \"[::1].x\" has ']' at byte 4, which is not allowed in a host"),
            ("a\r\nb", "the host \"a\\r\\nb\" has '\\r' at byte 1, which is not allowed in a host"),
            ("[::1", "the host \"[::1\" has a bracket that is not closed"),
            ("http://a", "the host \"http://a\" has '/' at byte 5: pass only the host of the URL"),
            ("a/b", "the host \"a/b\" has '/' at byte 1: pass only the host of the URL"),
            ("a:80", "the host \"a:80\" has a port: pass it in the port parameter"),
            ("a..b", "the host \"a..b\" has an empty label, at byte 2"),
            ("ü..b", "the host \"ü..b\" has an empty label"),
            (
                &format!("x.{}.com", "a".repeat(64)),
                &format!("the host \"x.{}.com\" has a label of 64 bytes, more than 63, at byte 2", "a".repeat(64)),
            ),
            (
                &"b".repeat(100),
                &format!("the host \"{}...\" has a label of 100 bytes, more than 63, at byte 0", "b".repeat(80)),
            ),
            ("user:password@a", "the host has an \"@\" at byte 13"),
        ] {
            assert_eq!(HostPort::new(input, 80).unwrap_err().message(), expected, "{input:?}");
        }
    }
}
