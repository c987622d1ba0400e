//! Builds a URL from its components. Refuses components if parsing the URL's text would give other components.

use super::authority::Authority;
use super::block::{Block, Component};
use super::measure::Measured;
use super::normalise::Dots;
use super::parse::check_length;
use super::scheme::is_normalised;
use super::text::invalid;
use super::{Url, host, parse};
use crate::error::{Error, Result};
use crate::status::Status;

/// The seven components of a URL to build. `None` means that the component is absent.
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
        check(Component::Scheme, scheme)?;
    }
    if let Some(host) = host {
        check(Component::Host, host)?;
    } else if auth.is_some_and(|auth| !auth.is_empty()) || port.is_some() {
        return Err(Error::new(Status::InvalidUrl, "the URL has userinfo or a port but no host"));
    }
    let normalised = scheme.is_none_or(is_normalised);
    let auth = auth.filter(|auth| !auth.is_empty());
    let measured_auth = measure(auth, Component::Auth, normalised)?;
    let path = path.unwrap_or_default();
    let texts = [
        (Component::Path, path, measure(Some(path), Component::Path, normalised)?),
        (Component::Query, query.unwrap_or_default(), measure(query, Component::Query, normalised)?),
        (Component::Fragment, fragment.unwrap_or_default(), measure(fragment, Component::Fragment, normalised)?),
    ];
    let authority = host.map(|host| Authority::of_parts(measured_auth, host, port, normalised)).transpose()?;

    let room = texts.iter().map(|(_, _, measured)| measured.room()).sum::<usize>()
        + scheme.map_or(0, |scheme| scheme.len() + 1)
        + authority.as_ref().map_or(0, Authority::room);
    let url = Block::build(room, |writer| {
        writer.scheme(scheme);
        if let (Some(host), Some(authority)) = (host, &authority) {
            if authority.auth.present {
                writer.encoded(Component::Auth, auth.unwrap_or_default(), &authority.auth);
            }
            authority.write_host(writer, host);
            writer.port(port);
        }
        for (component, text, measured) in texts.iter().filter(|(_, _, measured)| measured.present) {
            match component {
                Component::Path => writer.path(b"", text, measured, Dots::Rooted),
                _ => writer.encoded(*component, text, measured),
            }
        }
        if query.is_none() && fragment.is_none() {
            writer.absent_if_empty(Component::Path);
        }
    })
    .map(Url::new)?;
    check_round_trip(&url)?;
    Ok(url)
}

/// Checks a scheme by the rules of [`scheme`](super::scheme::scheme). A scheme with a dot is refused, because it would
/// parse as a host in the URL's text.
fn check_scheme(scheme: &[u8]) -> Result<()> {
    if !scheme.first().is_some_and(u8::is_ascii_alphabetic) {
        return Err(invalid("the scheme does not begin with a letter", 0));
    }
    match scheme.iter().position(|byte| !byte.is_ascii_alphanumeric() && !matches!(byte, b'+' | b'-')) {
        Some(bad) => Err(invalid("the scheme has a character that is not a letter, digit, \"+\" or \"-\"", bad)),
        None => Ok(()),
    }
}

/// Checks one component. Refuses bytes that would begin another component, end a header line, or end the text.
pub(super) fn check(component: Component, text: &[u8]) -> Result<()> {
    check_length(text)?;
    let delimiters: &[u8] = match component {
        Component::Scheme => return check_scheme(text),
        Component::Host => return host::check(text, 0),
        Component::Auth => b"/?#\\",
        Component::Path => b"?#",
        Component::Query => b"#",
        Component::Fragment => b"",
    };
    Measured::default().measure_raw(text, 0, component, b"")?;
    match text.iter().position(|byte| delimiters.contains(byte)) {
        Some(bad) => Err(invalid(&format!("the {} has a character that would end it", component.name()), bad)),
        None => Ok(()),
    }
}

/// Checks and measures one component.
fn measure(text: Option<&[u8]>, component: Component, normalised: bool) -> Result<Measured> {
    let mut measured = Measured::default();
    let Some(text) = text else { return Ok(measured) };
    check(component, text)?;
    match normalised {
        true => _ = measured.measure(text, 0, component.class(), b""),
        false => _ = measured.measure_raw(text, 0, component, b"")?,
    }
    Ok(measured)
}

/// Fails if parsing the URL's text gives other components. Even valid components may change when they are parsed
/// together: an empty host without userinfo and port becomes absent.
fn check_round_trip(url: &Url) -> Result<()> {
    let text = url.url()?.to_bytes();
    let reread = parse::parse(text).ok().map(Url::new);
    let same = |component| reread.as_ref().is_some_and(|reread| reread.part(component) == url.part(component));
    let changed = match Component::ALL.into_iter().find(|&component| !same(component)) {
        Some(component) => component.name(),
        None if reread.is_none_or(|reread| reread.port() != url.port()) => "port",
        None => return Ok(()),
    };
    Err(Error::new(
        Status::InvalidUrl,
        format!("the composed URL would be parsed into other components: the {changed} changes"),
    ))
}
