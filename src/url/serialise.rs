//! Composes texts of several components: authority, netloc, request target and the whole URL.

use std::ffi::CStr;

use once_cell::race::OnceBox;

use super::Url;
use super::block::Component;
use super::composed::{Composed, Composite};
use super::scheme::{is_normalised, scheme};
use super::text::reserve;
use crate::error::Result;

impl Url {
    /// Returns `userinfo@host:port`.
    pub fn authority(&self) -> Result<Option<&CStr>> {
        self.composite(Composite::Authority).map(c_str)
    }

    /// Returns `host:port`.
    pub fn netloc(&self) -> Result<Option<&CStr>> {
        self.composite(Composite::Netloc).map(c_str)
    }

    /// Returns the request target: the path, with a leading "/" added if necessary, and the query.
    pub fn request_uri(&self) -> Result<&CStr> {
        self.composite(Composite::RequestUri).map(|text| c_str(text).unwrap_or_default())
    }

    /// Returns `scheme://userinfo@host:port/path?query#fragment`, without absent components.
    pub fn url(&self) -> Result<&CStr> {
        self.composite(Composite::Url).map(|text| c_str(text).unwrap_or_default())
    }

    /// Returns a composed text, followed by its NUL. Fails only if memory runs out.
    pub fn composite(&self, composite: Composite) -> Result<Option<&[u8]>> {
        match composite {
            Composite::Authority | Composite::Netloc if !self.has(Component::Host) => Ok(None),
            Composite::Authority if self.has(Component::Auth) => self.composed(composite).map(Some),
            Composite::Authority | Composite::Netloc if self.port().is_none() => Ok(self.terminated(Component::Host)),
            Composite::RequestUri if !self.has(Component::Query) => {
                match self.terminated(Component::Path) {
                    Some(path) if path.first() == Some(&b'/') => Ok(Some(path)),
                    // The path of the reference "mailto:a@b" has no slash, but a request target needs one.
                    Some(path) if path.len() > 1 => self.composed(composite).map(Some),
                    _ => Ok(Some(b"/\0")),
                }
            }
            _ => self.composed(composite).map(Some),
        }
    }

    pub(super) fn all_composed(&self) -> Result<&Composed> {
        let cell = &self.block.head().composed;
        match cell.get() {
            Some(composed) => Ok(composed),
            None => {
                let composed = self.compose()?;
                Ok(cell.get_or_init(|| Box::new(composed)))
            }
        }
    }

    fn composed(&self, composite: Composite) -> Result<&[u8]> {
        Ok(self.all_composed()?.get(composite))
    }

    fn compose(&self) -> Result<Composed> {
        let part = |component| self.part(component).unwrap_or_default();
        let mut text = Vec::new();
        // The reserved size suffices for the whole URL and for the authority, the netloc and the request target after
        // it.
        let all: usize = Component::ALL.iter().map(|&component| part(component).len()).sum();
        let names = part(Component::Auth).len() + 2 * part(Component::Host).len();
        let target = part(Component::Path).len() + part(Component::Query).len();
        reserve(&mut text, all + names + target + 64)?;

        let slashes = self.block.head().slashes;
        if let Some(scheme) = self.part(Component::Scheme) {
            text.extend_from_slice(scheme);
            text.extend_from_slice(if slashes { b"://" } else { b":" });
        }
        let scheme_end = text.len();
        if let Some(auth) = self.part(Component::Auth) {
            text.extend_from_slice(auth);
            text.push(b'@');
        }
        let (path, host) = (part(Component::Path), part(Component::Host));
        let mut netloc_start = text.len();
        let zone = self.write_netloc(&mut text);
        let mut authority_start = scheme_end;
        if scheme_end == 0 && scheme(&text).is_some() {
            // Without the "//", "user:password@host" would parse as if it had a scheme.
            text.splice(0..0, *b"//");
            (authority_start, netloc_start) = (authority_start + 2, netloc_start + 2);
        }
        let authority_end = text.len();
        if authority_end == scheme_end && path.starts_with(b"//") && (scheme_end == 0 || !slashes) {
            // Without the "/.", the path "//x" would parse as an authority (RFC 3986 section 4.2).
            text.extend_from_slice(b"/.");
        }
        let target_start = text.len();
        text.extend_from_slice(path);
        self.write_after(&mut text, b'?', Component::Query);
        let target_end = text.len();
        self.write_after(&mut text, b'#', Component::Fragment);
        text.push(0);
        let url = text.len();

        // Authority, netloc and request target are parts of the whole URL, except that the zone of an IPv6 address may
        // differ.
        if zone.is_none() {
            text.extend_from_within(authority_start..authority_end);
        } else {
            text.extend_from_within(authority_start..netloc_start);
            write_host(&mut text, host, None);
            self.write_port(&mut text);
        }
        text.push(0);
        let authority = text.len();
        // The netloc is the last part of the authority, so the netloc is copied together with the authority's NUL.
        text.extend_from_within(url + (netloc_start - authority_start)..authority);
        let netloc = text.len();
        if path.first() != Some(&b'/') {
            text.push(b'/');
        }
        text.extend_from_within(target_start..target_end);
        text.push(0);
        // The offsets fit in 32 bits, because `MAX_ROOM` limits the size of a block.
        let ends = [url, authority, netloc, text.len()].map(|end| end as u32);
        Ok(Composed { text, ends, derived: OnceBox::new() })
    }

    /// Writes host and port in the form in which the whole URL has them. If the host has a zone that needs a "25"
    /// before it, returns the zone's offset in the host.
    pub(super) fn write_netloc(&self, text: &mut Vec<u8>) -> Option<usize> {
        let zone = self.write_host(text);
        self.write_port(text);
        zone
    }

    /// Does what [`Url::write_netloc`] does, without the port.
    pub(super) fn write_host(&self, text: &mut Vec<u8>) -> Option<usize> {
        let host = self.part(Component::Host).unwrap_or_default();
        let zone = match self.part(Component::Scheme).is_none_or(is_normalised) {
            true => zone_that_looks_encoded(host),
            false => None,
        };
        write_host(text, host, zone);
        zone
    }

    fn write_port(&self, text: &mut Vec<u8>) {
        if let Some(port) = self.port() {
            write_port(text, port);
        }
    }

    fn write_after(&self, text: &mut Vec<u8>, delimiter: u8, component: Component) {
        if let Some(part) = self.part(component) {
            text.push(delimiter);
            text.extend_from_slice(part);
        }
    }
}

/// Writes the host. `zone` is the offset of an IPv6 zone that begins with "25". A zone that begins with "25" gets the
/// prefix "25" of RFC 6874, so that a parser does not take the zone's own "25" for the prefix.
fn write_host(text: &mut Vec<u8>, host: &[u8], zone: Option<usize>) {
    let (before, zone) = host.split_at(zone.unwrap_or(host.len()));
    text.extend_from_slice(before);
    if !zone.is_empty() {
        text.extend_from_slice(b"25");
        text.extend_from_slice(zone);
    }
}

fn c_str(text: Option<&[u8]>) -> Option<&CStr> {
    CStr::from_bytes_with_nul(text?).ok()
}

/// Returns the offset of the host's zone if the zone begins with "25", which looks like the prefix "%25" of RFC 6874.
fn zone_that_looks_encoded(host: &[u8]) -> Option<usize> {
    if host.first() != Some(&b'[') {
        return None;
    }
    let percent = host.iter().position(|&byte| byte == b'%')?;
    let zone = host.get(percent + 1..)?;
    (zone.starts_with(b"25") && zone.len() > b"25]".len()).then_some(percent + 1)
}

fn write_port(text: &mut Vec<u8>, port: u16) {
    text.push(b':');
    let mut divisor = 10_000;
    while divisor > 1 && port < divisor {
        divisor /= 10;
    }
    while divisor > 0 {
        text.push(b'0' + (port / divisor % 10) as u8);
        divisor /= 10;
    }
}
