//! Measures and writes the authority of a URL: userinfo, host and port (RFC 3986 section 3.2).

use super::block::{Component, Writer};
use super::class::Class;
use super::host::{self, Name};
use super::measure::Measured;
use super::scan;
use super::text::port_number;
use crate::error::Result;
use crate::parse_cost::examined;

/// How normalisation changes a valid host.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Host {
    /// Normalisation does not change the host.
    Final,
    /// The host is ASCII, and normalisation changes only its letter case.
    Letters,
    /// Normalisation rewrites the host, because the host has percent-encodings, non-ASCII letters, or a zone.
    Rewritten,
}

pub(super) struct Authority {
    /// The userinfo. An empty userinfo counts as absent.
    pub(super) auth: Measured,
    pub(super) host: Host,
    /// The new text of a rewritten host.
    rewritten: Name,
    host_start: usize,
    host_length: usize,
    pub(super) port: Option<u16>,
    /// Whether the host may have bytes that are not UTF-8.
    pub(super) may_be_invalid_utf8: bool,
    /// Whether a slash that belongs to the path follows the host, so that the host's NUL cannot overwrite the byte
    /// after the host.
    slash_follows: bool,
}

/// The default value stands for a URL without an authority.
impl Default for Authority {
    fn default() -> Authority {
        Authority {
            auth: Measured::default(),
            host: Host::Final,
            rewritten: Name::new(),
            host_start: 0,
            host_length: 0,
            port: None,
            may_be_invalid_utf8: false,
            slash_follows: false,
        }
    }
}

impl Authority {
    /// Measures the authority that begins at `start`. Returns the offset at which the authority ends.
    pub(super) fn measure(&mut self, text: &[u8], start: usize, normalised: bool) -> Result<usize> {
        match self.measure_simple(text, start, normalised) {
            Some(end) => Ok(end),
            None => self.measure_any(text, start, normalised),
        }
    }

    /// Measures an authority that is a name or an IPv4 address with an optional port. Returns `None` for any other
    /// authority.
    #[inline]
    fn measure_simple(&mut self, text: &[u8], start: usize, normalised: bool) -> Option<usize> {
        let mut end = scan::skip(text, start, Class::Host);
        let mut host = Host::Final;
        if text.get(end).is_some_and(u8::is_ascii_uppercase) {
            end = scan::skip(text, end, Class::Name);
            if normalised {
                host = Host::Letters;
            }
        }
        let (mut port, mut authority_end) = (None, end);
        if text.get(end) == Some(&b':') {
            let digits = text.get(end + 1..)?;
            let length = digits.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(digits.len());
            examined(length);
            port = if length == 0 { None } else { Some(port_number(&digits[..length])?) };
            authority_end = end + 1 + length;
        }
        let next = text.get(authority_end);
        if !next.is_none_or(|&byte| ends_authority(byte)) {
            return None;
        }
        (self.host_start, self.host_length) = (start, end - start);
        (self.host, self.port) = (host, port);
        self.slash_follows = next == Some(&b'/') && authority_end == end;
        Some(authority_end)
    }

    fn measure_any(&mut self, text: &[u8], start: usize, normalised: bool) -> Result<usize> {
        let rest = text.get(start..).unwrap_or_default();
        // Everything before the last "@" is userinfo.
        let (mut length, mut sign) = (rest.len(), None);
        for (i, &byte) in rest.iter().enumerate() {
            if byte == b'@' {
                sign = Some(i);
            } else if ends_authority(byte) {
                length = i;
                break;
            }
        }
        examined(length);
        let (authority, end) = (&text[..start + length], start + length);
        if let Some(sign) = sign.filter(|&sign| sign > 0) {
            let before = &text[..start + sign];
            match normalised {
                true => self.auth.measure(before, start, Class::Userinfo, b""),
                false => self.auth.measure_raw(before, start, Component::Auth, b"")?,
            };
        }
        self.host_start = sign.map_or(start, |sign| start + sign + 1);
        if sign.is_some() && self.measure_simple(text, self.host_start, normalised) == Some(end) {
            return Ok(end);
        }
        let (host, port) = host::split_port(&authority[self.host_start..], self.host_start)?;
        (self.host_length, self.port) = (host.len(), port);
        match normalised {
            true => self.measure_host(host, self.host_start)?,
            false => self.may_be_invalid_utf8 = true,
        }
        self.slash_follows = text.get(end) == Some(&b'/') && end == self.host_start + host.len();
        Ok(end)
    }

    /// Makes an authority from userinfo, host and port that are separate texts.
    pub(super) fn of_parts(auth: Measured, host: &[u8], port: Option<u16>, normalised: bool) -> Result<Authority> {
        let mut authority = Authority { auth, host_length: host.len(), port, ..Authority::default() };
        if normalised {
            authority.measure_host(host, 0)?;
        }
        Ok(authority)
    }

    fn measure_host(&mut self, host: &[u8], at: usize) -> Result<()> {
        let Some(first) = host.iter().position(|&byte| byte == b'%' || !byte.is_ascii()) else {
            examined(host.len());
            self.host = Host::Letters;
            return Ok(());
        };
        examined(first);
        self.host = Host::Rewritten;
        self.may_be_invalid_utf8 = true;
        host::append_normalised(&mut self.rewritten, host, at)
    }

    /// Returns the host before normalisation.
    pub(super) fn host_in<'a>(&self, text: &'a [u8]) -> &'a [u8] {
        text.get(self.host_start..self.host_start + self.host_length).unwrap_or_default()
    }

    /// Decides what is copied if a slash follows the host: returns true if the path is copied and the host's NUL
    /// overwrites the slash, false if the host is copied. The path is copied only if the host is longer than the path
    /// and longer than 1024 bytes.
    pub(super) fn overwrites_slash_before(&mut self, path: &Measured) -> bool {
        const SHORT: usize = 1024;
        let takes = self.host_length > path.len().max(SHORT) && self.slash_follows && self.host != Host::Rewritten;
        self.slash_follows &= !takes;
        takes
    }

    /// Returns the maximum number of bytes that the authority takes when it is written.
    pub(super) fn room(&self) -> usize {
        self.auth.room() + self.host_room()
    }

    fn host_room(&self) -> usize {
        1 + if self.host == Host::Rewritten { self.rewritten.len() } else { self.host_length }
    }

    /// Returns the maximum number of bytes that the host needs after the copy of the source; 0 if the host stays in
    /// place.
    pub(super) fn host_room_after_source(&self) -> usize {
        if self.host_stays_in_place() { 0 } else { self.host_room() }
    }

    fn host_stays_in_place(&self) -> bool {
        !self.slash_follows && self.host != Host::Rewritten
    }

    /// Writes the host, in place in the copy of the source if possible.
    pub(super) fn write_source_host(&self, writer: &mut Writer<'_>, source: &[u8]) {
        if self.host == Host::Final && self.slash_follows {
            let start = writer.at();
            writer.copy_short(source, self.host_start, self.host_length);
            return writer.component(Component::Host, start);
        }
        if !self.host_stays_in_place() {
            return self.write_host(writer, self.host_in(source));
        }
        let host = writer.in_place(Component::Host, self.host_start, self.host_length);
        if self.host == Host::Letters {
            host.make_ascii_lowercase();
        }
    }

    pub(super) fn write_host(&self, writer: &mut Writer<'_>, host: &[u8]) {
        let start = writer.at();
        writer.copy(if self.host == Host::Rewritten { &self.rewritten } else { host });
        if self.host == Host::Letters {
            writer.written_since_mut(start).make_ascii_lowercase();
        }
        writer.component(Component::Host, start);
    }
}

/// Returns whether a byte ends the authority. A "\" ends the authority because WHATWG parsers treat "\" as "/", and
/// would otherwise find another host.
fn ends_authority(byte: u8) -> bool {
    matches!(byte, b'/' | b'?' | b'#' | b'\\')
}
