//! Userinfo, host and port: RFC 3986 section 3.2.

use super::block::{Component, Writer};
use super::class::Class;
use super::host::{self, port_number};
use super::measure::Text;
use super::scan;
use crate::error::Result;

/// A stretch of the input and where it stands.
#[derive(Clone, Copy)]
pub(super) struct Piece<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
}

/// A host in its grammar, and what its final form takes.
pub(super) enum Host<'a> {
    /// It is in its final form.
    Final(Piece<'a>),
    /// ASCII, of which only the letter case may change.
    Letters(Piece<'a>),
    /// What came of decoding, of IDNA, or of a zone.
    Rewritten(Vec<u8>),
}

pub(super) struct Authority<'a> {
    /// Not empty.
    pub(super) auth: Option<Text<'a>>,
    pub(super) host: Host<'a>,
    pub(super) port: Option<u16>,
    /// The slash after the host belongs to the path, so that there is no room for a NUL.
    slash_follows: bool,
}

impl<'a> Authority<'a> {
    /// The authority that begins at `start`, and where it ends. An empty one is none.
    pub(super) fn measure(input: &'a [u8], start: usize, normalised: bool) -> Result<(Option<Authority<'a>>, usize)> {
        if let Some((authority, end)) = Authority::plain(input, start) {
            return Ok((authority, end));
        }
        let rest = input.get(start..).unwrap_or_default();
        let length = rest.iter().position(|byte| ends_authority(*byte)).unwrap_or(rest.len());
        let (text, end) = (&rest[..length], start + length);
        // The last "@": what stands before it is userinfo, whatever it looks like.
        let host_start = text.iter().rposition(|&byte| byte == b'@').map_or(0, |sign| sign + 1);
        let auth = text.get(..host_start.saturating_sub(1)).filter(|auth| !auth.is_empty());
        let auth = match auth {
            Some(auth) if normalised => Some(Text::whole(auth, start, Class::Userinfo)),
            Some(auth) => Some(Text::raw(auth, start, Component::Auth)?),
            None => None,
        };
        let (bytes, port) = host::split_port(&text[host_start..], start + host_start)?;
        let host = Piece { bytes, at: start + host_start };
        let host = if normalised { Host::measure(host)? } else { Host::Final(host) };
        let slash_follows = input.get(end) == Some(&b'/') && text.len() == host_start + bytes.len();
        Ok((Some(Authority { auth, host, port, slash_follows }), end))
    }

    /// The commonest: a host in its final form, perhaps a port.
    fn plain(input: &'a [u8], start: usize) -> Option<(Option<Authority<'a>>, usize)> {
        let end = scan::skip(input, start, Class::Host);
        let host = Piece { bytes: input.get(start..end)?, at: start };
        match input.get(end) {
            Some(b':') => {
                let digits = input.get(end + 1..)?;
                let length = digits.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(digits.len());
                if !digits.get(length).is_none_or(|&byte| ends_authority(byte)) {
                    return None;
                }
                let port = if length == 0 { None } else { Some(port_number(&digits[..length])?) };
                let authority = Authority { auth: None, host: Host::Final(host), port, slash_follows: false };
                Some((Some(authority), end + 1 + length))
            }
            next if next.is_none_or(|&byte| ends_authority(byte)) => {
                let slash_follows = next == Some(&b'/');
                let authority = Authority { auth: None, host: Host::Final(host), port: None, slash_follows };
                Some((Some(authority).filter(|_| end > start), end))
            }
            _ => None,
        }
    }

    /// One that was taken apart already; its host is in its grammar.
    pub(super) fn of_parts(auth: Option<Text<'a>>, host: Host<'a>, port: Option<u16>) -> Authority<'a> {
        Authority { auth, host, port, slash_follows: true }
    }

    /// What writing it takes, at most.
    pub(super) fn room(&self) -> usize {
        self.auth.as_ref().map_or(0, Text::room) + self.host.room()
    }

    pub(super) fn write(&self, writer: &mut Writer<'_>) {
        if let Some(auth) = &self.auth {
            writer.encoded(Component::Auth, auth);
        }
        self.host.write(writer);
        writer.port(self.port);
    }

    pub(super) fn host_stays_in_place(&self) -> bool {
        !self.slash_follows && !matches!(self.host, Host::Rewritten(_))
    }
}

/// Programs that follow the WHATWG take "\" for "/": as an end of the authority it cannot hide a host.
fn ends_authority(byte: u8) -> bool {
    matches!(byte, b'/' | b'?' | b'#' | b'\\')
}

impl<'a> Host<'a> {
    pub(super) fn measure(host: Piece<'a>) -> Result<Host<'a>> {
        let letters = match host.bytes.first() {
            Some(b'[') => !host.bytes.contains(&b'%'),
            _ => host.bytes.is_ascii() && !host.bytes.contains(&b'%'),
        };
        if letters {
            return Ok(Host::Letters(host));
        }
        let mut rewritten = Vec::new();
        host::append_normalised(&mut rewritten, host.bytes, host.at)?;
        Ok(Host::Rewritten(rewritten))
    }

    pub(super) fn room(&self) -> usize {
        1 + match self {
            Host::Final(host) | Host::Letters(host) => host.bytes.len(),
            Host::Rewritten(host) => host.len(),
        }
    }

    pub(super) fn write(&self, writer: &mut Writer<'_>) {
        let start = writer.at();
        match self {
            Host::Final(host) => writer.copy(host.bytes),
            Host::Letters(host) => {
                writer.copy(host.bytes);
                writer.since_mut(start).make_ascii_lowercase();
            }
            Host::Rewritten(host) => writer.copy(host),
        }
        writer.component(Component::Host, start);
    }
}
