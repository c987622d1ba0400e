//! Matches a URL against a list in the syntax of the environment variable NO_PROXY.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::Url;
use super::block::Component;
use super::host::{Name, append_idna};
use super::text::port_number;
use crate::parse_cost::examined;

/// Returns whether an entry of the list matches the host and port of the URL. Entries are separated by commas and
/// blanks. An entry that cannot be parsed matches nothing.
pub fn no_proxy_match(list: &[u8], url: &Url) -> bool {
    examined(list.len());
    let Some(host) = url.part(Component::Host).and_then(Host::of_url) else { return false };
    let port = url.effective_port();
    let mut entries = list.split(|byte| byte.is_ascii_whitespace() || *byte == b',');
    entries.any(|entry| Entry::parse(entry).is_some_and(|entry| entry.matches(&host, port)))
}

/// The host of a URL.
enum Host<'a> {
    Address(IpAddr),
    /// A name that is not empty, without a dot at its end.
    Name(&'a [u8]),
}

impl Host<'_> {
    fn of_url(host: &[u8]) -> Option<Host<'_>> {
        let inner = match host.strip_prefix(b"[") {
            // The zone of an IPv6 address is ignored, because zones are local to this machine and entries have no zone.
            Some(inner) => inner.split(|&byte| matches!(byte, b'%' | b']')).next()?,
            None => without_final_dot(host),
        };
        match address(inner) {
            Some(address) => Some(Host::Address(address)),
            None if inner.is_empty() || host.starts_with(b"[") => None,
            None => Some(Host::Name(inner)),
        }
    }
}

/// An entry of the list.
struct Entry<'a> {
    pattern: Pattern<'a>,
    port: Option<u16>,
}

enum Pattern<'a> {
    /// "*"
    Any,
    /// The addresses that have the same first bits as this address. The number is the count of these bits.
    Network(IpAddr, u32),
    /// A host name without its final dot, and the names below it.
    Domain(&'a [u8]),
    /// The names below a host name: "*.example.com".
    Below(&'a [u8]),
}

impl Entry<'_> {
    fn parse(text: &[u8]) -> Option<Entry<'_>> {
        if let Some(address) = address(text) {
            return Some(Entry { pattern: Pattern::of_address(address), port: None });
        }
        if let Some(slash) = text.iter().position(|&byte| byte == b'/') {
            return Some(Entry { pattern: Pattern::network(&text[..slash], &text[slash + 1..])?, port: None });
        }
        let (host, port) = split_port(text)?;
        let pattern = match host.strip_prefix(b"[") {
            Some(inner) => Pattern::of_address(address(inner.strip_suffix(b"]")?)?),
            None => Pattern::of_name(host)?,
        };
        Some(Entry { pattern, port })
    }

    fn matches(&self, host: &Host<'_>, port: Option<u16>) -> bool {
        if self.port.is_some() && self.port != port {
            return false;
        }
        match (&self.pattern, host) {
            (Pattern::Any, _) => true,
            (Pattern::Network(network, bits), Host::Address(address)) => contains(*network, *bits, *address),
            (Pattern::Domain(domain), Host::Name(name)) => is_within(name, domain, true),
            (Pattern::Below(domain), Host::Name(name)) => is_within(name, domain, false),
            _ => false,
        }
    }
}

impl<'a> Pattern<'a> {
    fn of_address(address: IpAddr) -> Pattern<'a> {
        Pattern::Network(address, if address.is_ipv4() { 32 } else { 128 })
    }

    /// Parses an address and the number of bits that must match (CIDR notation, RFC 4632).
    fn network(text: &[u8], bits: &[u8]) -> Option<Pattern<'a>> {
        let text = match text.strip_prefix(b"[") {
            Some(inner) => inner.strip_suffix(b"]")?,
            None => text,
        };
        let address = raw_address(text)?;
        let bits = number(bits).filter(|&bits| bits <= if address.is_ipv4() { 32 } else { 128 })?;
        match (address, address.to_canonical()) {
            // "::ffff:10.0.0.0/104" are the IPv4 addresses 10.0.0.0/8.
            (IpAddr::V6(_), mapped @ IpAddr::V4(_)) if bits >= 96 => Some(Pattern::Network(mapped, bits - 96)),
            _ => Some(Pattern::Network(address, bits)),
        }
    }

    /// Parses a "*", a name, or an IPv4 address. [`Entry::parse`] has already parsed IPv6 addresses, which must be in
    /// brackets before a port.
    fn of_name(name: &'a [u8]) -> Option<Pattern<'a>> {
        if name == b"*" {
            return Some(Pattern::Any);
        }
        if let Some(address @ IpAddr::V4(_)) = raw_address(without_final_dot(name)) {
            return Some(Pattern::of_address(address));
        }
        let (domain, below): (_, fn(&'a [u8]) -> Pattern<'a>) = match name.strip_prefix(b"*.") {
            Some(domain) => (domain, Pattern::Below),
            None => (name.strip_prefix(b".").unwrap_or(name), Pattern::Domain),
        };
        let domain = without_final_dot(domain);
        (!domain.is_empty()).then(|| below(domain))
    }
}

/// Splits an entry into the host and the port after the last colon outside of brackets.
fn split_port(text: &[u8]) -> Option<(&[u8], Option<u16>)> {
    let close = text.iter().rposition(|&byte| byte == b']').map_or(0, |close| close + 1);
    match text.iter().rposition(|&byte| byte == b':').filter(|&colon| colon >= close) {
        Some(colon) => {
            let digits = text.get(colon + 1..)?;
            let port = port_number(digits).filter(|_| digits.iter().all(u8::is_ascii_digit) && !digits.is_empty());
            Some((text.get(..colon)?, Some(port?)))
        }
        None => Some((text, None)),
    }
}

/// Parses an address. An IPv4-mapped IPv6 address is an IPv4 address.
fn address(text: &[u8]) -> Option<IpAddr> {
    raw_address(text).map(|address| address.to_canonical())
}

fn raw_address(text: &[u8]) -> Option<IpAddr> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// Parses the number of bits of a network.
fn number(digits: &[u8]) -> Option<u32> {
    let valid = (1..=3).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit);
    valid.then(|| digits.iter().fold(0, |number, digit| number * 10 + u32::from(digit - b'0')))
}

fn contains(network: IpAddr, bits: u32, address: IpAddr) -> bool {
    let same = |a: u128, b: u128, width: u32| bits == 0 || (a ^ b) >> (width - bits) == 0;
    match (network, address) {
        (IpAddr::V4(a), IpAddr::V4(b)) => same(u32::from(a).into(), u32::from(b).into(), Ipv4Addr::BITS),
        (IpAddr::V6(a), IpAddr::V6(b)) => same(a.into(), b.into(), Ipv6Addr::BITS),
        _ => false,
    }
}

/// Returns whether a name is below a domain, or is the domain itself if `or_equal` is true. Compares whole labels,
/// case-insensitively.
fn is_within(name: &[u8], domain: &[u8], or_equal: bool) -> bool {
    if domain.is_ascii() {
        return ends_in_labels(name, domain, or_equal);
    }
    // The names of http and https URLs are in their ASCII form.
    let mut ascii = Name::new();
    append_idna(&mut ascii, domain, |at| at).is_ok() && ends_in_labels(name, &ascii, or_equal)
}

fn ends_in_labels(name: &[u8], domain: &[u8], or_equal: bool) -> bool {
    let Some(front) = name.len().checked_sub(domain.len()) else { return false };
    let (front, end) = name.split_at(front);
    end.eq_ignore_ascii_case(domain) && if front.is_empty() { or_equal } else { front.ends_with(b".") }
}

fn without_final_dot(name: &[u8]) -> &[u8] {
    name.strip_suffix(b".").unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse_cost::tests::measure;

    /// Each row has a list, a URL, and whether the list matches the URL.
    const ROWS: &[(&str, &str, bool)] = &[
        ("", "http://example.com", false),
        (" , ,", "http://example.com", false),
        ("*", "http://example.com", true),
        ("a,*", "http://[::1]", true),
        ("*:8080", "http://h:8080", true),
        ("*:8080", "http://h", false),
        // Names: the name and all names below it.
        ("example.com", "http://example.com", true),
        ("example.com", "http://www.example.com", true),
        ("example.com", "http://badexample.com", false),
        ("example.com", "http://example.com.evil.org", false),
        ("example.com", "http://com", false),
        (".example.com", "http://example.com", true),
        (".example.com", "http://a.b.example.com", true),
        (".example.com", "http://badexample.com", false),
        ("*.example.com", "http://example.com", false),
        ("*.example.com", "http://a.example.com", true),
        ("*example.com", "http://badexample.com", false),
        ("EXAMPLE.Com", "http://www.Example.COM", true),
        ("example.com.", "http://example.com", true),
        ("example.com", "http://example.com.", true),
        ("example.com..", "http://example.com", false),
        ("..example.com", "http://example.com", false),
        (".", "http://example.com", false),
        (".", "http://example.com.", false),
        (".", "http://example.com..", false),
        ("*.", "http://example.com", false),
        ("com", "http://example.com", true),
        ("localhost", "http://localhost:3000", true),
        ("localhost", "http://127.0.0.1", false),
        ("b\u{fc}cher.example", "http://www.xn--bcher-kva.example", true),
        ("xn--bcher-kva.example", "http://B\u{fc}cher.example", true),
        // Separators.
        ("a.org,example.com", "http://example.com", true),
        ("a.org , example.com ", "http://example.com", true),
        ("a.org example.com\tb.org", "http://example.com", true),
        ("a.org\r\nexample.com", "http://example.com", true),
        ("a.org;example.com", "http://example.com", false),
        ("a.org|example.com", "http://example.com", false),
        // Ports.
        ("example.com:8080", "http://example.com:8080", true),
        ("example.com:8080", "http://example.com", false),
        ("example.com:80", "http://example.com", true),
        ("example.com:443", "https://example.com", true),
        ("example.com:443", "http://example.com", false),
        ("example.com:21", "ftp://example.com", false),
        (".example.com:8080", "http://a.example.com:8080", true),
        ("example.com:", "http://example.com", false),
        ("example.com:http", "http://example.com", false),
        ("example.com:65536", "http://example.com", false),
        ("example.com:+80", "http://example.com", false),
        ("example.com:80:80", "http://example.com", false),
        // Addresses.
        ("192.0.2.1", "http://192.0.2.1", true),
        ("192.0.2.1", "http://192.0.2.10", false),
        ("192.0.2.1", "http://a.192.0.2.1", false),
        ("2.1", "http://192.0.2.1", false),
        ("192.0.2.1:80", "http://192.0.2.1", true),
        ("192.0.2.1:81", "http://192.0.2.1", false),
        ("192.0.2.1.", "http://192.0.2.1", true),
        ("192.0.2.1", "http://192.0.2.1.", true),
        ("127.1", "http://127.0.0.1", false),
        ("127.0.0.1", "http://127.1", false),
        ("::1", "http://[::1]", true),
        ("[::1]", "http://[::1]", true),
        ("[::1]:80", "http://[::1]", true),
        ("[::1]:81", "http://[::1]", false),
        ("2001:db8:::80", "http://[2001:db8::]", false),
        ("::ffff:192.0.2.1:80", "http://192.0.2.1", false),
        ("[::ffff:192.0.2.1]:80", "http://192.0.2.1", true),
        ("[::1]80", "http://[::1]", false),
        ("[::1", "http://[::1]", false),
        ("2001:DB8:0:0::1", "http://[2001:db8::1]", true),
        ("[192.0.2.1]", "http://192.0.2.1", true),
        ("fe80::1", "http://[fe80::1%25eth0]", true),
        ("fe80::1%eth0", "http://[fe80::1%25eth0]", false),
        ("192.0.2.1", "http://[::ffff:192.0.2.1]", true),
        ("::ffff:192.0.2.1", "http://192.0.2.1", true),
        ("::ffff:c000:201", "http://192.0.2.1", true),
        // Networks.
        ("10.0.0.0/8", "http://10.255.0.1", true),
        ("10.0.0.0/8", "http://11.0.0.1", false),
        ("10.1.2.3/8", "http://10.255.0.1", true),
        ("192.0.2.0/25", "http://192.0.2.127", true),
        ("192.0.2.0/25", "http://192.0.2.128", false),
        ("192.0.2.1/32", "http://192.0.2.1", true),
        ("192.0.2.1/32", "http://192.0.2.0", false),
        ("0.0.0.0/0", "http://192.0.2.1", true),
        ("0.0.0.0/0", "http://[::1]", false),
        ("::/0", "http://[::1]", true),
        ("::/0", "http://192.0.2.1", false),
        ("2001:db8::/32", "http://[2001:db8:ffff::1]", true),
        ("2001:db8::/32", "http://[2001:db9::1]", false),
        ("[2001:db8::]/32", "http://[2001:db8::1]", true),
        ("10.0.0.0/8", "http://[::ffff:10.1.2.3]", true),
        ("::ffff:10.0.0.0/104", "http://10.1.2.3", true),
        ("::ffff:10.0.0.0/104", "http://11.1.2.3", false),
        ("::ffff:0:0/96", "http://10.1.2.3", true),
        ("::ffff:0:0/95", "http://10.1.2.3", false),
        ("10.0.0.0/8", "http://10.example.com", false),
        ("10.0.0.0/33", "http://10.0.0.0", false),
        ("10.0.0.0/", "http://10.0.0.0", false),
        ("10.0.0.0/-1", "http://10.0.0.0", false),
        ("10.0.0.0/0008", "http://10.0.0.0", false),
        ("10.0.0.0/8:80", "http://10.0.0.0", false),
        ("10.0.0/8", "http://10.0.0.0", false),
        ("::/129", "http://[::]", false),
        ("example.com/8", "http://example.com", false),
        // A URL and a host with userinfo are not valid entries.
        ("http://example.com", "http://example.com", false),
        ("user@example.com", "http://example.com", false),
        // A URL without a host matches no list, not even "*".
        ("*", "/a", false),
        ("*", "http://:80", false),
        // The URL's scheme may be absent, and may be any scheme.
        ("example.com", "example.com/a", true),
        ("example.com", "ftp://EXAMPLE.com/", true),
    ];

    #[test]
    fn no_proxy_entries_match_the_hosts_that_they_name() {
        for (list, url, expected) in ROWS {
            let url = Url::parse(url.as_bytes()).unwrap();
            assert_eq!(no_proxy_match(list.as_bytes(), &url), *expected, "{list:?} {url:?}");
        }
    }

    #[test]
    fn malformed_no_proxy_entries_match_no_host() {
        let url = Url::parse(b"http://example.com").unwrap();
        for list in [
            &b"\xff"[..],
            b"\xffexample.com",
            b"example\0.com",
            b"[",
            b"]",
            b"[]",
            b":",
            b"/",
            b"[]:80",
            b"*/8",
            b"]:80",
        ] {
            assert!(!no_proxy_match(list, &url), "{list:?}");
        }
    }

    #[test]
    fn no_proxy_matching_examines_each_byte_of_the_list_at_most_three_times() {
        for entry in ["a,", ",", "*.", "[::1]:80,", "1.2.3.4/8,", "\u{e9}.", "\u{e9},"] {
            let list = entry.repeat(20_000);
            let url = Url::parse(b"http://example.com").unwrap();
            let cost = measure(|| {
                let _ = no_proxy_match(list.as_bytes(), &url);
            });
            assert!(cost <= 3 * list.len(), "{entry:?}: {cost}");
        }
    }
}
