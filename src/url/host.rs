//! Checks and normalises hosts: names (IDNA), IPv4 and IPv6 addresses, and zones (RFC 6874).

use std::net::Ipv6Addr;

use idna::uts46::{AsciiDenyList, ErrorPolicy, Hyphens, ProcessingSuccess, Uts46, verify_dns_length};
use smallvec::SmallVec;

use super::class::is_unreserved;
use super::measure::percent_decoded;
use super::text::{invalid, port_number};
use crate::error::{Error, Result};
use crate::parse_cost::examined;
use crate::status::Status;

/// The buffer for a rewritten host. A host of typical length needs no allocation.
pub(crate) type Name = SmallVec<[u8; 64]>;

fn append(name: &mut Name, text: &[u8]) -> Result<()> {
    name.try_reserve(text.len())
        .map_err(|_| Error::new(Status::OutOfMemory, format!("no memory for a host of {} more bytes", text.len())))?;
    name.extend_from_slice(text);
    Ok(())
}

/// The maximum length of a label with non-ASCII letters, in bytes. The ASCII form of a longer label exceeds the 63
/// bytes of DNS. The maximum keeps parsing linear, because the time of the IDNA conversion is not linear in the label's
/// length.
const MAX_UNICODE_LABEL: usize = 1024;

/// Splits an authority without its userinfo into host and port, and checks both. `at` is the offset of the text in the
/// input, for errors.
pub(super) fn split_port(text: &[u8], at: usize) -> Result<(&[u8], Option<u16>)> {
    let host_len = if text.first() == Some(&b'[') {
        let close = text.iter().position(|&byte| byte == b']');
        let host_len = close.ok_or_else(|| invalid("the host's bracket is not closed,", at))? + 1;
        examined(host_len);
        check(&text[..host_len], at)?;
        host_len
    } else {
        name_length(text, at)?
    };
    let (host, rest) = text.split_at(host_len);
    let port = match rest.split_first() {
        None => None,
        Some((b':', digits)) => parse_port(digits, at + host_len + 1)?,
        Some(_) => return Err(invalid("the host has a character after its closing bracket", at + host_len)),
    };
    Ok((host, port))
}

/// Parses a port; `None` if there are no digits.
fn parse_port(digits: &[u8], at: usize) -> Result<Option<u16>> {
    examined(digits.len());
    if let Some(bad) = digits.iter().position(|byte| !byte.is_ascii_digit()) {
        return Err(invalid("the port has a character that is not a digit", at + bad));
    }
    if digits.is_empty() {
        return Ok(None);
    }
    port_number(digits).map(Some).ok_or_else(|| invalid("the port is larger than 65535,", at))
}

/// Checks the grammar of a host. Hosts have the same grammar for every scheme.
pub(super) fn check(host: &[u8], at: usize) -> Result<()> {
    if let Some(inner) = host.strip_prefix(b"[") {
        let inner = inner.strip_suffix(b"]").ok_or_else(|| invalid("the host's bracket is not closed,", at))?;
        return check_ipv6(inner, at + 1);
    }
    match name_length(host, at)? {
        length if length < host.len() => Err(not_in_a_host(at + length)),
        _ => Ok(()),
    }
}

fn not_in_a_host(at: usize) -> Error {
    invalid("the host has a character that is not allowed in a host", at)
}

/// Returns the length of the name at the start of the text. The name ends at a colon or at the end of the text.
fn name_length(text: &[u8], at: usize) -> Result<usize> {
    for (i, &byte) in text.iter().enumerate() {
        examined(1);
        match byte {
            b':' => return Ok(i),
            0..=b' ' | 0x7f => return Err(invalid("the host has a space or control character", at + i)),
            b'[' | b']' | b'/' | b'?' | b'#' | b'\\' | b'@' => {
                return Err(not_in_a_host(at + i));
            }
            b'%' if percent_decoded(text, i).is_none() => {
                return Err(invalid("the host has a \"%\" that does not begin a percent-encoding,", at + i));
            }
            _ => {}
        }
    }
    Ok(text.len())
}

fn check_ipv6(inner: &[u8], at: usize) -> Result<()> {
    examined(inner.len());
    let (address, zone) = split_zone(inner);
    let known = std::str::from_utf8(address).is_ok_and(|address| address.parse::<Ipv6Addr>().is_ok());
    if !known {
        return Err(invalid("the host's brackets contain no valid IPv6 address,", at));
    }
    let Some(zone) = zone else { return Ok(()) };
    let zone_at = at + address.len() + 1;
    if zone.is_empty() {
        return Err(invalid("the host's zone is empty,", zone_at));
    }
    let mut i = 0;
    while i < zone.len() {
        i += match zone[i] {
            b'%' if percent_decoded(zone, i).is_some() => 3,
            byte if is_unreserved(byte) => 1,
            _ => return Err(invalid("the host's zone has a character that is not allowed in a zone", zone_at + i)),
        };
    }
    Ok(())
}

/// Splits the text inside the brackets into the IPv6 address and the zone, which follows a "%".
fn split_zone(inner: &[u8]) -> (&[u8], Option<&[u8]>) {
    match inner.iter().position(|&byte| byte == b'%') {
        Some(percent) => (&inner[..percent], inner.get(percent + 1..)),
        None => (inner, None),
    }
}

/// Appends the normalised form of a host that [`check`] accepted, for an http or https URL: the host in lower case,
/// with unreserved characters decoded and international names in ASCII (Punycode).
pub(super) fn append_normalised(bytes: &mut Name, host: &[u8], at: usize) -> Result<()> {
    let start = bytes.len();
    if let Some(inner) = host.strip_prefix(b"[") {
        return append_ipv6(bytes, host, inner.strip_suffix(b"]").unwrap_or(inner), at + 1);
    }
    append(bytes, host)?;
    let (end, is_ascii) = decode_unreserved(&mut bytes[start..], at)?;
    bytes.truncate(start + end);
    if is_ascii {
        return Ok(());
    }
    let name = Name::from_slice(&bytes[start..]);
    bytes.truncate(start);
    // After decoding, errors state the offset of the host, because the offset of the label in the input is unknown.
    let moved = name.len() != host.len();
    append_idna(bytes, &name, |offset| if moved { at } else { at + offset })
}

fn append_ipv6(bytes: &mut Name, host: &[u8], inner: &[u8], at: usize) -> Result<()> {
    let start = bytes.len();
    let (address, zone) = split_zone(inner);
    let Some(zone) = zone else {
        append(bytes, host)?;
        bytes[start..].make_ascii_lowercase();
        return Ok(());
    };
    // RFC 6874 requires "%25" before the zone in a URL, but getaddrinfo(3) expects "%".
    let zone_id = zone.strip_prefix(b"25").filter(|rest| !rest.is_empty()).unwrap_or(zone);
    append(bytes, b"[")?;
    append(bytes, address)?;
    bytes[start..].make_ascii_lowercase();
    append(bytes, b"%")?;
    let zone_start = bytes.len();
    append(bytes, zone_id)?;
    append(bytes, b"]")?;
    let zone_at = at + address.len() + 1 + zone.len() - zone_id.len();
    let mut i = 0;
    while i < zone_id.len() {
        let Some(decoded) = percent_decoded(zone_id, i) else {
            i += 1;
            continue;
        };
        if decoded.is_ascii_control() {
            return Err(invalid("the host's zone has an encoded control character", zone_at + i));
        }
        bytes[zone_start + i + 1..zone_start + i + 3].make_ascii_uppercase();
        i += 3;
    }
    Ok(())
}

/// Decodes percent-encoded unreserved characters in place and lower-cases the host; the remaining percent-encodings get
/// upper-case digits. Returns the new length, and whether the result is ASCII.
fn decode_unreserved(host: &mut [u8], at: usize) -> Result<(usize, bool)> {
    examined(host.len());
    let (mut from, mut to, mut is_ascii) = (0, 0, true);
    while from < host.len() {
        match percent_decoded(host, from) {
            Some(byte) if byte.is_ascii_control() => {
                return Err(invalid("the host has an encoded control character", at + from));
            }
            Some(byte) if is_unreserved(byte) => {
                host[to] = byte.to_ascii_lowercase();
                (from, to) = (from + 3, to + 1);
            }
            Some(_) => {
                host.copy_within(from..from + 3, to);
                host[to + 1..to + 3].make_ascii_uppercase();
                (from, to) = (from + 3, to + 3);
            }
            None => {
                is_ascii &= host[from].is_ascii();
                host[to] = host[from].to_ascii_lowercase();
                (from, to) = (from + 1, to + 1);
            }
        }
    }
    Ok((to, is_ascii))
}

/// Lower-cases a name, but upper-cases the digits of its percent-encodings.
fn lower_case(name: &mut [u8]) {
    examined(name.len());
    name.make_ascii_lowercase();
    let mut i = 0;
    while i < name.len() {
        i += match percent_decoded(name, i) {
            Some(_) => {
                name[i + 1..i + 3].make_ascii_uppercase();
                3
            }
            None => 1,
        };
    }
}

/// Appends a host name in ASCII. Labels with non-ASCII letters are converted by UTS 46, non-transitional; ASCII labels
/// are only lower-cased.
pub(crate) fn append_idna(bytes: &mut Name, name: &[u8], place: impl Fn(usize) -> usize) -> Result<()> {
    let mut label_at = 0;
    for (i, label) in name.split(|&byte| byte == b'.').enumerate() {
        if i > 0 {
            append(bytes, b".")?;
        }
        if label.is_ascii() {
            let start = bytes.len();
            append(bytes, label)?;
            lower_case(&mut bytes[start..]);
        } else {
            if label.len() > MAX_UNICODE_LABEL {
                return Err(invalid("the host has an international label that is too long,", place(label_at)));
            }
            append_label(bytes, label)
                .ok_or_else(|| invalid("the host has a label that IDNA (UTS 46) does not allow,", place(label_at)))?;
        }
        label_at += label.len() + 1;
    }
    Ok(())
}

/// Appends the label as ASCII (UTS 46 section 4.2, ToASCII).
fn append_label(bytes: &mut Name, label: &[u8]) -> Option<()> {
    struct Sink<'a>(&'a mut Name);
    impl std::fmt::Write for Sink<'_> {
        fn write_str(&mut self, text: &str) -> std::fmt::Result {
            append(self.0, text.as_bytes()).map_err(|_| std::fmt::Error)
        }
    }
    let start = bytes.len();
    let (deny, hyphens) = (AsciiDenyList::STD3, Hyphens::Check);
    let always_ascii = |_: &[char], _: &[char], _: bool| false;
    let sink = &mut Sink(bytes);
    match Uts46::new().process(label, deny, hyphens, ErrorPolicy::FailFast, always_ascii, sink, None).ok()? {
        ProcessingSuccess::Passthrough => append(bytes, label).ok()?,
        ProcessingSuccess::WroteToSink => {}
    }
    let ascii = std::str::from_utf8(bytes.get(start..)?).ok()?;
    verify_dns_length(ascii, true).then_some(())
}
