//! The strict profile of the URL parser: refuses text that other parsers could parse differently, and never repairs
//! text.
//!
//! One scan from left to right checks each component against the grammar of RFC 3986, and refuses every form on which
//! URL parsers are known to disagree. Accepted text is then parsed by [`Url::parse`].

use std::net::{Ipv4Addr, Ipv6Addr};

use super::Url;
use super::domain::{MAX_LABEL, MAX_NAME, MAX_TEXT, ends_in_a_number, unambiguous_ascii};
use super::measure::percent_decoded;
use super::parse::check_length;
use super::text::{invalid, utf8};
use crate::error::{Error, Result};
use crate::parse_cost::examined;

impl Url {
    /// Parses an absolute http or https URL in which every URL parser finds the same components.
    pub fn parse_strict(text: &[u8]) -> Result<Url> {
        check_length(text)?;
        check(utf8(text, "the URL")?)?;
        Url::parse(text)
    }
}

fn check(text: &str) -> Result<()> {
    let scheme = scheme(text.as_bytes())?;
    let start = scheme + 3;
    if text.as_bytes().get(scheme..start) != Some(b"://") {
        return Err(invalid("the scheme is not followed by \"://\"", scheme));
    }
    let end = |from: usize, stops: &[char]| {
        let length = text[from..].find(stops).unwrap_or(text.len() - from);
        examined(length);
        from + length
    };
    let path = end(start, &['/', '?', '#']);
    let query = end(path, &['?', '#']);
    let fragment = end(query, &['#']);
    authority(&text[start..path], start)?;
    check_path(&text[path..query], path)?;
    if query < fragment {
        component("query", &text[query + 1..fragment], query + 1, is_query, |_| false)?;
    }
    if fragment < text.len() {
        component("fragment", &text[fragment + 1..], fragment + 1, is_query, |_| false)?;
    }
    Ok(())
}

/// Returns the length of the scheme, which must be http or https. Other schemes have no commonly defined origin, and
/// server-side request forgery attacks use some of them (file, gopher, dict).
fn scheme(text: &[u8]) -> Result<usize> {
    let length = text.iter().position(|byte| !byte.is_ascii_alphanumeric() && !b"+-.".contains(byte));
    let length = length.unwrap_or(text.len());
    match text.get(length) {
        Some(b':') if is_one_of(&text[..length], &[b"http", b"https"]) => Ok(length),
        Some(b':') => Err(invalid("the scheme is neither http nor https,", 0)),
        Some(b'/' | b'?' | b'#') | None => Err(invalid("the URL has no scheme,", 0)),
        Some(_) => Err(illegal("scheme", length)),
    }
}

fn is_one_of(text: &[u8], names: &[&[u8]]) -> bool {
    names.iter().any(|name| text.eq_ignore_ascii_case(name))
}

fn authority(text: &str, at: usize) -> Result<()> {
    examined(text.len());
    let (userinfo, rest, at) = match text.split_once('@') {
        None => (None, text, at),
        Some((userinfo, rest)) => (Some((userinfo, at)), rest, at + userinfo.len() + 1),
    };
    if let Some((userinfo, at)) = userinfo {
        check_userinfo(userinfo, at)?;
    }
    examined(rest.len());
    if let Some(second) = rest.find('@') {
        return Err(invalid("the authority has a second \"@\"", at + second));
    }
    let end = match rest.strip_prefix('[') {
        None => rest.find(':').unwrap_or(rest.len()),
        Some(inner) => 1 + ip_literal(inner, at + 1)?,
    };
    let (host, port) = rest.split_at(end);
    if !host.starts_with('[') {
        name(host, at)?;
    }
    match port.strip_prefix(':') {
        Some(port) => check_port(port, at + end + 1),
        None if port.is_empty() => Ok(()),
        None => Err(invalid("the host has a character after its closing bracket", at + end)),
    }
}

fn check_userinfo(text: &str, at: usize) -> Result<()> {
    if text.is_empty() {
        return Err(invalid("the userinfo is empty", at));
    }
    component("userinfo", text, at, |byte| is_pchar(byte) && byte != b'@', |encoded| encoded.is_ascii_control())
}

/// Returns the length of an IPv6 address and its closing bracket. A zone, as in "[fe80::1%25eth0]", is refused, because
/// WHATWG parsers do not accept zones.
fn ip_literal(inner: &str, at: usize) -> Result<usize> {
    let Some(close) = inner.find(']') else {
        return Err(invalid("the host's bracket is not closed,", at - 1));
    };
    match inner[..close].parse::<Ipv6Addr>() {
        Ok(_) => Ok(close + 1),
        Err(_) => Err(invalid("the host's brackets contain no valid IPv6 address,", at)),
    }
}

fn name(text: &str, at: usize) -> Result<()> {
    if text.is_empty() {
        return Err(invalid("the host is empty", at));
    }
    if text.len() > MAX_TEXT {
        return Err(invalid("the host is longer than a host name can be,", at));
    }
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte) || !byte.is_ascii();
    if let Some(bad) = text.bytes().position(|byte| !allowed(byte)) {
        return Err(invalid("the host has a character that is not allowed in a host name", at + bad));
    }
    let mut label_at = at;
    for label in text.split('.') {
        if label.is_empty() {
            return Err(invalid("the host has an empty label", label_at));
        }
        if label.starts_with('-') || label.ends_with('-') {
            return Err(invalid("the host has a label that begins or ends with a hyphen,", label_at));
        }
        label_at += label.len() + 1;
    }
    let ascii = unambiguous_ascii(text)
        .map_err(|label| invalid("the host has a label that IDNA (UTS 46) changes or refuses,", at + label))?;
    if ascii.len() > MAX_NAME || ascii.split('.').any(|label| label.len() > MAX_LABEL) {
        return Err(invalid("the host is longer than a host name can be,", at));
    }
    if ends_in_a_number(&ascii) && ascii.parse::<Ipv4Addr>().is_err() {
        return Err(invalid("the host ends in a number and is not a dotted-decimal IPv4 address,", at));
    }
    Ok(())
}

fn check_port(text: &str, at: usize) -> Result<()> {
    if let Some(bad) = text.bytes().position(|byte| !byte.is_ascii_digit()) {
        return Err(invalid("the port has a character that is not a digit", at + bad));
    }
    match text.parse::<u16>() {
        Ok(0) => Err(invalid("the port is 0,", at)),
        Ok(_) if text.starts_with('0') => Err(invalid("the port begins with a zero,", at)),
        Ok(_) => Ok(()),
        Err(_) if text.is_empty() => Err(invalid("the port is empty", at)),
        Err(_) => Err(invalid("the port is larger than 65535,", at)),
    }
}

fn check_path(text: &str, at: usize) -> Result<()> {
    component("path", text, at, |byte| is_pchar(byte) || byte == b'/', |encoded| encoded == 0)?;
    let mut segment_at = at + 1;
    let mut depth = 0usize;
    for segment in text.split('/').skip(1) {
        match segment {
            "." => {}
            ".." if depth == 0 => {
                return Err(invalid("the path has a \"..\" segment that leads above its root", segment_at));
            }
            ".." => depth -= 1,
            _ if is_encoded_dots(segment) => {
                return Err(invalid("the path has a percent-encoded dot segment", segment_at));
            }
            _ => depth += 1,
        }
        segment_at += segment.len() + 1;
        examined(segment.len() + 1);
    }
    Ok(())
}

/// Returns whether a path segment is a percent-encoded "." or "..", such as "%2e%2e". WHATWG parsers treat a
/// percent-encoded dot segment as a dot segment, other parsers as a name.
fn is_encoded_dots(segment: &str) -> bool {
    let dot = |text: &'_ str| match text.get(..3) {
        Some(first) if first.eq_ignore_ascii_case("%2e") => Some(3),
        _ if text.starts_with('.') => Some(1),
        _ => None,
    };
    let Some(first) = dot(segment) else { return false };
    let rest = &segment[first..];
    rest.is_empty() || dot(rest) == Some(rest.len())
}

/// Checks that a component consists of allowed bytes and of percent-encodings. A percent-encoding of a byte for which
/// `refuses_encoded` returns true is refused.
fn component(
    name: &str,
    text: &str,
    at: usize,
    allows: impl Fn(u8) -> bool,
    refuses_encoded: impl Fn(u8) -> bool,
) -> Result<()> {
    let bytes = text.as_bytes();
    let mut i = 0;
    while let Some(&byte) = bytes.get(i) {
        let length = match (byte, percent_decoded(bytes, i)) {
            (b'%', Some(encoded)) if refuses_encoded(encoded) => {
                return Err(invalid(&format!("the {name} has an encoded control character"), at + i));
            }
            (b'%', Some(_)) => 3,
            (b'%', None) => {
                return Err(invalid(
                    &format!("the {name} has a \"%\" that does not begin a percent-encoding,"),
                    at + i,
                ));
            }
            _ if allows(byte) => 1,
            _ => return Err(illegal(name, at + i)),
        };
        examined(length);
        i += length;
    }
    Ok(())
}

fn illegal(name: &str, at: usize) -> Error {
    invalid(&format!("the {name} has a character that RFC 3986 does not allow there,"), at)
}

/// Returns whether the byte is a pchar (RFC 3986 section 3.3), percent-encodings excluded.
fn is_pchar(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@".contains(&byte)
}

fn is_query(byte: u8) -> bool {
    is_pchar(byte) || byte == b'/' || byte == b'?'
}

#[cfg(test)]
mod tests;
