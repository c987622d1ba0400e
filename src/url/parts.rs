//! A URL from its parts: refused unless its text parses back into them.

use super::buffer::Component;
use super::normalise::Root;
use super::parse::{Authority, Writer, check_raw};
use super::split::Piece;
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
    let [scheme, auth, host, path, query, fragment] = [scheme, auth, host, path, query, fragment]
        .map(|part| part.map(|text| Piece { text: text.as_bytes(), at: 0 }));
    if let Some(scheme) = scheme {
        check_scheme(scheme.text)?;
    }
    check(auth, Component::Auth, b"/?#\\")?;
    if let Some(host) = host {
        host::check(host.text, 0)?;
    } else if auth.is_some_and(|auth| !auth.text.is_empty()) || port.is_some() {
        return Err(Error::new(Status::InvalidUrl, "the URL has userinfo or a port but no host"));
    }
    check(path, Component::Path, b"?#")?;
    check(query, Component::Query, b"#")?;
    check(fragment, Component::Fragment, b"")?;

    let length = [scheme, auth, host, path, query, fragment].iter().flatten().map(|piece| piece.text.len()).sum();
    let mut writer = Writer::new(length, scheme)?;
    writer.authority(&Authority { auth, host, port })?;
    let path = path.unwrap_or(Piece { text: b"", at: 0 });
    writer.path(path, Root::Goes, query.is_some() || fragment.is_some())?;
    writer.query(query)?;
    writer.fragment(fragment)?;
    let url = writer.finish(port);
    check_round_trip(&url)?;
    Ok(url)
}

/// As [`split`](super::split) knows a scheme without a dot, so that the URL's text has it as a scheme too.
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
fn check(piece: Option<Piece<'_>>, component: Component, delimiters: &[u8]) -> Result<()> {
    let Some(piece) = piece else { return Ok(()) };
    check_raw(piece, component)?;
    match piece.text.iter().position(|byte| delimiters.contains(byte)) {
        Some(bad) => Err(invalid(&format!("the {} has a character that would end it", component.name()), bad)),
        None => Ok(()),
    }
}

/// What each part allows can still read differently as a whole: "//x" as a path without a host, or the userinfo
/// "user:password" without a scheme.
fn check_round_trip(url: &Url) -> Result<()> {
    let text = url.url().to_bytes();
    let reread = parse::parse(text).ok();
    let same = |component| reread.as_ref().is_some_and(|reread| reread.part(component) == url.part(component));
    let changed = match Component::ALL.into_iter().find(|&component| !same(component)) {
        Some(component) => component.name(),
        None if reread.is_none_or(|reread| reread.port != url.port) => "port",
        None => return Ok(()),
    };
    Err(Error::new(
        Status::InvalidUrl,
        format!("written out, the parts would be read as others: the {changed} changes"),
    ))
}
