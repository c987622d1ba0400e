//! A URL from its parts: refused unless its text parses back into them.

use super::authority::{Authority, Host, Piece};
use super::block::{Block, Component};
use super::measure::Text;
use super::normalise::Dots;
use super::parse::check_length;
use super::split::is_normalised;
use super::{Url, host, invalid, parse};
use crate::error::{Error, Result};
use crate::status::Status;

/// The seven fields of a URL, `None` being absent. Text is UTF-8.
#[derive(Clone, Copy, Default)]
pub struct UrlParts<'a> {
    pub scheme: Option<&'a str>,
    pub auth: Option<&'a str>,
    pub host: Option<&'a str>,
    pub port: Option<u16>,
    pub path: Option<&'a str>,
    pub query: Option<&'a str>,
    pub fragment: Option<&'a str>,
}

pub(super) fn build(parts: UrlParts<'_>) -> Result<Url> {
    let UrlParts { scheme, auth, host, port, path, query, fragment } = parts;
    let [scheme, auth, host, path, query, fragment] =
        [scheme, auth, host, path, query, fragment].map(|part| part.map(str::as_bytes));
    for part in [scheme, auth, host, path, query, fragment].into_iter().flatten() {
        check_length(part)?;
    }
    if let Some(scheme) = scheme {
        check_scheme(scheme)?;
    }
    if let Some(host) = host {
        host::check(host, 0)?;
    } else if auth.is_some_and(|auth| !auth.is_empty()) || port.is_some() {
        return Err(Error::new(Status::InvalidUrl, "the URL has userinfo or a port but no host"));
    }
    let normalised = scheme.is_none_or(is_normalised);
    let auth = measure(auth.filter(|auth| !auth.is_empty()), Component::Auth, b"/?#\\", normalised)?;
    let path = measure(path.or(Some(b"")), Component::Path, b"?#", normalised)?;
    let query = measure(query, Component::Query, b"#", normalised)?;
    let fragment = measure(fragment, Component::Fragment, b"", normalised)?;
    let authority = match host.map(|bytes| Piece { bytes, at: 0 }) {
        None => None,
        Some(host) if normalised => Some(Authority::of_parts(auth, Host::measure(host)?, port)),
        Some(host) => Some(Authority::of_parts(auth, Host::Final(host), port)),
    };

    let texts = [&path, &query, &fragment].into_iter().flatten().map(Text::room).sum::<usize>();
    let room = scheme.map_or(0, <[u8]>::len) + 1 + authority.as_ref().map_or(0, Authority::room) + texts;
    let url = Block::build(room, |writer| {
        writer.scheme(scheme);
        if let Some(authority) = &authority {
            authority.write(writer);
        }
        if let Some(path) = &path {
            writer.path(b"", path, Dots::Rooted);
        }
        if query.is_none() && fragment.is_none() {
            writer.absent_if_empty(Component::Path);
        }
        for (component, text) in [(Component::Query, &query), (Component::Fragment, &fragment)] {
            if let Some(text) = text {
                writer.encoded(component, text);
            }
        }
    })
    .map(Url::new)?;
    check_round_trip(&url)?;
    Ok(url)
}

/// As [`scheme`](super::split::scheme) knows one, without a dot, so that the URL's text has it as a scheme too.
fn check_scheme(scheme: &[u8]) -> Result<()> {
    if !scheme.first().is_some_and(u8::is_ascii_alphabetic) {
        return Err(invalid("the scheme begins with no letter", 0));
    }
    match scheme.iter().position(|byte| !byte.is_ascii_alphanumeric() && !matches!(byte, b'+' | b'-')) {
        Some(bad) => Err(invalid("the scheme has a character that is no letter, digit, \"+\" or \"-\"", bad)),
        None => Ok(()),
    }
}

/// Nothing that would begin another component, end a header line, or end the text.
fn measure<'a>(
    part: Option<&'a [u8]>,
    component: Component,
    delimiters: &[u8],
    normalised: bool,
) -> Result<Option<Text<'a>>> {
    let Some(part) = part else { return Ok(None) };
    let raw = Text::raw(part, 0, component)?;
    match part.iter().position(|byte| delimiters.contains(byte)) {
        Some(bad) => Err(invalid(&format!("the {} has a character that would end it", component.name()), bad)),
        None if normalised => Ok(Some(Text::measure(part, 0, component.class(), &[]))),
        None => Ok(Some(raw)),
    }
}

/// What each part allows can still read differently as a whole: an empty host without userinfo or port is none.
fn check_round_trip(url: &Url) -> Result<()> {
    let text = url.url()?.to_bytes();
    let reread = parse::parse(text).ok();
    let same = |component| reread.as_ref().is_some_and(|reread| reread.part(component) == url.part(component));
    let changed = match Component::ALL.into_iter().find(|&component| !same(component)) {
        Some(component) => component.name(),
        None if reread.is_none_or(|reread| reread.port() != url.port()) => "port",
        None => return Ok(()),
    };
    Err(Error::new(
        Status::InvalidUrl,
        format!("written out, the parts would be read as others: the {changed} changes"),
    ))
}
