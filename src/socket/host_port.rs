//! What is looked up: a host, checked and in ASCII, and a port.

use std::ffi::{CStr, CString};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::limit::Limit;
use crate::socket::endpoint::Endpoint;
use crate::socket::sys;
use crate::status::Status;
use crate::url;

/// An application-defined resolver: returns the addresses of an ASCII host for a port, within this many seconds.
pub(crate) type Resolve = Arc<dyn Fn(&CStr, u16, f64) -> Result<Vec<Endpoint>> + Send + Sync>;

/// Longer than any name that can be resolved (a domain name has at most 253 bytes), shorter than any attack.
const MAX_HOST: usize = 1024;
/// RFC 1035 section 2.3.4.
const MAX_LABEL: usize = 63;

/// What is looked up.
#[derive(Clone, Debug)]
pub(crate) struct Query {
    /// In ASCII, without brackets.
    host: CString,
    port: u16,
}

impl Query {
    /// `host` is a name, internationalised or not, an IPv4 address, or an IPv6 address with or without brackets.
    pub(crate) fn new(host: &str, port: u16) -> Result<Query> {
        let (inner, skipped) = match host.strip_prefix('[') {
            Some(rest) => (rest.strip_suffix(']').unwrap_or(rest), 1),
            None => (host, 0),
        };
        let refused = |what: &str| Error::new(Status::InvalidUrl, format!("the host {} {what}", quoted(host)));
        // Userinfo, whose password no message may show.
        if let Some(at) = host.bytes().position(|b| b == b'@') {
            return Err(Error::new(Status::InvalidUrl, format!("the host has an \"@\" at byte {at}")).at(at));
        }
        if inner.is_empty() {
            return Err(Error::new(Status::InvalidUrl, "the host is empty").at(skipped));
        }
        if inner.len() > MAX_HOST {
            return Err(refused(&format!("has {} bytes; at most {MAX_HOST} make sense", inner.len())));
        }
        let half_open = host.len() != inner.len() + 2 * skipped;
        let find = |is_bad: fn(u8) -> bool| {
            let (at, byte) = inner.bytes().enumerate().find(|(_, byte)| is_bad(*byte))?;
            Some((at + skipped, char::from(byte)))
        };
        if let Some((at, byte)) = find(|b| b <= b' ' || b == 0x7f || b == b'[' || b == b']') {
            return Err(refused(&format!("has {byte:?} at byte {at}, which no host has")).at(at));
        }
        if half_open {
            return Err(refused("has a bracket that is not closed").at(0));
        }
        if let Some((at, byte)) = find(|b| matches!(b, b'/' | b'?' | b'#' | b'\\')) {
            return Err(refused(&format!("has {byte:?} at byte {at}: of a URL only the host belongs here")).at(at));
        }
        // Only a numeric address has colons, two of them at least; its dots and its zone separate no labels.
        if let Some(colon) = inner.find(':') {
            if inner.rfind(':') == Some(colon) {
                return Err(refused("has a port, which is a parameter of its own").at(colon + skipped));
            }
            return Query::of_ascii(inner, port);
        }
        let mut name = url::Name::new();
        url::append_idna(&mut name, inner.as_bytes(), |at| at + skipped)?;
        let name = String::from_utf8_lossy(&name);
        let mut at = 0;
        // A last dot makes the name absolute: it ends the last label.
        for label in name.strip_suffix('.').unwrap_or(&name).split('.') {
            if label.is_empty() || label.len() > MAX_LABEL {
                let mut what = match label.len() {
                    0 => "has an empty label".to_owned(),
                    len => format!("has a label of {len} bytes, more than {MAX_LABEL}"),
                };
                // What IDNA wrote has other places than what was given.
                if !inner.is_ascii() {
                    return Err(refused(&what));
                }
                what += &format!(", at byte {}", at + skipped);
                return Err(refused(&what).at(at + skipped));
            }
            at += label.len() + 1;
        }
        Query::of_ascii(&name, port)
    }

    fn of_ascii(host: &str, port: u16) -> Result<Query> {
        let host = CString::new(host)
            .map_err(|nul| Error::new(Status::InvalidUrl, "the host has a NUL byte").at(nul.nul_position()))?;
        Ok(Query { host, port })
    }

    pub(crate) fn host(&self) -> &CStr {
        &self.host
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(super) fn text(&self) -> &str {
        self.host.to_str().unwrap_or("")
    }

    /// The answer that needs no lookup: the host is an address, in any of the forms that inet_aton(3) and
    /// inet_pton(3) read. `None`: it is a name.
    pub(super) fn numeric(&self) -> Option<Result<Vec<SocketAddr>>> {
        if let Ok(address) = self.text().parse::<IpAddr>() {
            return Some(Ok(vec![SocketAddr::new(address, self.port)]));
        }
        match sys::getaddrinfo(&self.host, self.port, libc::AF_UNSPEC, libc::AI_NUMERICHOST) {
            Ok(addresses) => Some(Ok(addresses)),
            Err(failure) if self.text().contains(':') => Some(Err(self.failed(failure))),
            Err(_) => None,
        }
    }

    /// Asks a function of the program, which is trusted to be in time. A numeric host is not asked for.
    pub(crate) fn resolve_with(&self, resolve: &Resolve, limit: Option<&Limit>) -> Result<Vec<Endpoint>> {
        if let Some(found) = self.numeric() {
            return found.map(Endpoint::all_ip);
        }
        limit.map_or(Ok(()), Limit::check)?;
        let left = limit.and_then(Limit::remaining).map_or(f64::INFINITY, |left| left.as_secs_f64());
        let found = resolve(&self.host, self.port, left)?;
        self.at_least_one(with_port(found, self.port))
    }

    pub(super) fn at_least_one<T>(&self, found: Vec<T>) -> Result<Vec<T>> {
        if found.is_empty() {
            return Err(Error::new(Status::NameResolution, format!("{} has no addresses", self.text())));
        }
        Ok(found)
    }

    pub(super) fn failed(&self, failure: sys::LookupFailure) -> Error {
        let what = format!("cannot resolve {}", self.text());
        match failure.system {
            Some(system) => Error::from_io(Status::NameResolution, what, &system),
            None => Error::new(Status::NameResolution, format!("{what}: {}", failure.text)),
        }
        .with_resolver_code(failure.code)
    }
}

/// For a message, in which a long host is cut.
fn quoted(host: &str) -> String {
    match host.char_indices().nth(80) {
        Some((end, _)) => format!("\"{}...\"", &host[..end]),
        None => format!("\"{host}\""),
    }
}

/// Addresses whose port is 0 get this one.
pub(crate) fn with_port(mut addresses: Vec<Endpoint>, port: u16) -> Vec<Endpoint> {
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
    fn hosts() {
        let host = |text| match Query::new(text, 80) {
            Ok(query) => Ok(query.text().to_owned()),
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
            // Letters that fold to a colon, a slash, a space: no address, and no other name, comes out of a name.
            ("：：1", bad(Some(0))),
            ("x.a／b", bad(Some(2))),
            ("a\u{a0}b", bad(Some(0))),
            // Digits that fold to ASCII do make an address, as they do in URLs.
            ("１２７.0.0.1", ok("127.0.0.1")),
            (&"a.".repeat(513), bad(None)),
        ] {
            assert_eq!(host(input), expected, "{input:?}");
        }
    }

    #[test]
    fn messages() {
        for (input, expected) in [
            ("", "the host is empty"),
            ("[]", "the host is empty"),
            ("a b", "the host \"a b\" has ' ' at byte 1, which no host has"),
            ("[::1].x", "the host \"[::1].x\" has ']' at byte 4, which no host has"),
            ("a\r\nb", "the host \"a\\r\\nb\" has '\\r' at byte 1, which no host has"),
            ("[::1", "the host \"[::1\" has a bracket that is not closed"),
            ("http://a", "the host \"http://a\" has '/' at byte 5: of a URL only the host belongs here"),
            ("a/b", "the host \"a/b\" has '/' at byte 1: of a URL only the host belongs here"),
            ("a:80", "the host \"a:80\" has a port, which is a parameter of its own"),
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
            assert_eq!(Query::new(input, 80).unwrap_err().message(), expected, "{input:?}");
        }
    }
}
