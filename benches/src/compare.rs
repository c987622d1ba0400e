//! Compares the results of two URL parsers. Times can only be compared if both parsers return the same components.

use std::net::Ipv6Addr;
use std::str;

use crate::corpus::Corpus;
use crate::rivals::{Components, Timed};

/// The results of netlib and of another parser for a corpus: the number of URLs with equal results, the number of
/// refused URLs, and the URLs with different results.
#[derive(Default)]
pub struct Agreement {
    pub equal: usize,
    /// The number of URLs whose results are equal only after `canonical` has removed the differences between RFC 3986
    /// and the other parser's standard.
    pub equal_normalised: usize,
    pub refused_by_netlib: usize,
    pub refused_by_rival: usize,
    pub refused_by_both: usize,
    /// The URLs with different results. A single URL with different results makes the corpus invalid.
    pub different: Vec<String>,
}

pub fn compare(netlib: &dyn Timed, rival: &dyn Timed, corpus: &Corpus) -> Agreement {
    let mut agreement = Agreement::default();
    for url in corpus.urls() {
        match (netlib.components(url), rival.components(url)) {
            (Some(ours), Some(theirs)) => {
                let (ours, theirs) = (bare(ours), bare(theirs));
                if ours == theirs {
                    agreement.equal += 1;
                } else if canonical(&ours) == canonical(&theirs) {
                    agreement.equal_normalised += 1;
                } else {
                    agreement.different.push(format!(
                        "{url}\n  netlib {}\n  {} {}",
                        show(&ours),
                        rival.name(),
                        show(&theirs)
                    ));
                }
            }
            (Some(_), None) => agreement.refused_by_rival += 1,
            (None, Some(_)) => agreement.refused_by_netlib += 1,
            (None, None) => agreement.refused_by_both += 1,
        }
    }
    agreement
}

/// Removes the delimiters that ada includes in scheme and query.
fn bare(mut components: Components) -> Components {
    if components.scheme.last() == Some(&b':') {
        components.scheme.pop();
    }
    if components.query.first() == Some(&b'?') {
        components.query.remove(0);
    }
    components
}

/// Normalises everything that RFC 3986 and the WHATWG standard define differently: default ports, the empty path, the
/// text of an IPv6 address, and percent-encoding. Also converts the host to lower case, because libcurl does not.
fn canonical(components: &Components) -> Components {
    let default_port: &[u8] = match components.scheme.as_slice() {
        b"http" | b"ws" => b"80",
        b"https" | b"wss" => b"443",
        b"ftp" => b"21",
        _ => b"",
    };
    let mut canonical = components.clone();
    if canonical.port == default_port {
        canonical.port.clear();
    }
    if canonical.path.is_empty() {
        canonical.path.push(b'/');
    }
    canonical.host = canonical_host(&canonical.host);
    canonical.path = canonical_escapes(&canonical.path);
    canonical.query = canonical_escapes(&canonical.query);
    canonical
}

/// Normalises the text of an IPv6 address, with or without brackets, because uriparser returns an address without
/// brackets.
fn canonical_host(host: &[u8]) -> Vec<u8> {
    let inner = host.strip_prefix(b"[").and_then(|rest| rest.strip_suffix(b"]")).unwrap_or(host);
    match str::from_utf8(inner).ok().and_then(|text| text.parse::<Ipv6Addr>().ok()) {
        Some(address) => address.to_string().into_bytes(),
        None => host.to_ascii_lowercase(),
    }
}

/// Normalises percent-encoding as in RFC 3986 sections 2.3 and 6.2.2: escapes have uppercase digits, and unreserved
/// characters are not escaped. Escapes characters that a path or query must not contain, and the apostrophe, which the
/// WHATWG standard encodes in a query.
fn canonical_escapes(text: &[u8]) -> Vec<u8> {
    let unreserved = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let escaped = text.get(at + 1..at + 3).filter(|_| text[at] == b'%').and_then(hex);
        let byte = escaped.unwrap_or(text[at]);
        at += if escaped.is_some() { 3 } else { 1 };
        if unreserved(byte) || escaped.is_none() && b"!$&()*+,;=:@/?".contains(&byte) {
            out.push(byte);
        } else {
            out.extend(format!("%{byte:02X}").bytes());
        }
    }
    out
}

fn hex(digits: &[u8]) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    Some((digit(digits[0])? * 16 + digit(digits[1])?) as u8)
}

fn show(c: &Components) -> String {
    [&c.scheme, &c.host, &c.port, &c.path, &c.query]
        .map(|part| String::from_utf8_lossy(part).into_owned())
        .join(" | ")
}
