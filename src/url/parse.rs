//! Text into a [`Url`]: measured first, then written into one block.

use super::authority::{Authority, Host};
use super::block::{Block, Component, Writer};
use super::class::Class;
use super::measure::Text;
use super::normalise::{Dots, upper_case_encodings};
use super::split::{is_normalised, reference_scheme, scheme};
use super::{MAX_LENGTH, Url, invalid, utf8};
use crate::error::Result;

/// Best effort: whatever is absent is `None`. Text without a scheme begins with the host, unless it begins with a slash.
pub(super) fn parse(input: &[u8]) -> Result<Url> {
    // What is not UTF-8 is the first thing to say about a text.
    let parts = Parts::best_effort(input).map_err(|error| utf8(input, "the URL").err().unwrap_or(error))?;
    if parts.may_be_no_text() {
        utf8(input, "the URL")?;
    }
    let room = input.len() + 1 + parts.room_behind_source();
    Block::build(room, |writer| {
        writer.source(input);
        parts.write(writer);
    })
    .map(Url::new)
}

/// The components of a text, measured.
pub(super) struct Parts<'a> {
    pub(super) scheme: Option<&'a [u8]>,
    /// `None` where the text has no "//", or has nothing after it.
    pub(super) authority: Option<Authority<'a>>,
    pub(super) path: Text<'a>,
    pub(super) query: Option<Text<'a>>,
    pub(super) fragment: Option<Text<'a>>,
    /// Whether "//" stands before where an authority would be.
    pub(super) has_slashes: bool,
    /// Only http, https and no scheme are normalised.
    normalised: bool,
}

impl<'a> Parts<'a> {
    /// As people write URLs: without a scheme and a leading slash, the text begins with the authority.
    fn best_effort(input: &'a [u8]) -> Result<Parts<'a>> {
        check_length(input)?;
        let scheme = scheme(input);
        let normalised = scheme.is_none_or(is_normalised);
        let authority = match scheme {
            Some(scheme) => after_slashes(input, scheme.len() + 1),
            None if input.first() != Some(&b'/') => Some(0),
            None => after_slashes(input, 0),
        };
        Parts::after_scheme(input, scheme, authority, normalised)
    }

    /// As RFC 3986 section 4.1 reads a reference, whose base is normalised or not.
    pub(super) fn reference(input: &'a [u8], base_is_normalised: bool) -> Result<Parts<'a>> {
        check_length(input)?;
        let scheme = reference_scheme(input);
        let normalised = scheme.map_or(base_is_normalised, is_normalised);
        let authority = after_slashes(input, scheme.map_or(0, |scheme| scheme.len() + 1));
        Parts::after_scheme(input, scheme, authority, normalised)
    }

    fn after_scheme(
        input: &'a [u8],
        scheme: Option<&'a [u8]>,
        authority_start: Option<usize>,
        normalised: bool,
    ) -> Result<Parts<'a>> {
        let (authority, path_start) = match authority_start {
            Some(start) => Authority::measure(input, start, normalised)?,
            None => (None, scheme.map_or(0, |scheme| scheme.len() + 1)),
        };
        let text = |from, component, class, stops: &[u8]| match normalised {
            true => Ok(Text::measure(input, from, class, stops)),
            false => {
                let rest = input.get(from..).unwrap_or_default();
                let length = rest.iter().position(|byte| stops.contains(byte)).unwrap_or(rest.len());
                Text::raw(&rest[..length], from, component)
            }
        };
        let path = text(path_start, Component::Path, Class::Path, b"?#")?;
        let mut end = path.end();
        let mut query = None;
        if input.get(end) == Some(&b'?') {
            let text = text(end + 1, Component::Query, Class::Query, b"#")?;
            end = text.end();
            query = Some(text);
        }
        let mut fragment = None;
        if end < input.len() {
            fragment = Some(text(end + 1, Component::Fragment, Class::Query, b"")?);
        }
        Ok(Parts { scheme, authority, path, query, fragment, has_slashes: authority_start.is_some(), normalised })
    }

    /// Whether there is a byte beyond ASCII somewhere.
    fn may_be_no_text(&self) -> bool {
        let text = |text: Option<&Text<'_>>| text.is_some_and(|text| text.escapes > 0);
        let (auth, host) = match &self.authority {
            Some(authority) => {
                (authority.auth.as_ref(), !matches!(authority.host, Host::Final(_) | Host::Letters(_)))
            }
            None => (None, false),
        };
        !self.normalised
            || host
            || [auth, Some(&self.path), self.query.as_ref(), self.fragment.as_ref()].into_iter().any(text)
    }

    /// What writing all of it takes, at most.
    pub(super) fn room(&self) -> usize {
        let text = |text: Option<&Text<'_>>| text.map_or(0, Text::room);
        let scheme = self.scheme.map_or(0, |scheme| scheme.len() + 1);
        let authority = self.authority.as_ref().map_or(0, Authority::room);
        scheme + authority + self.path.room() + text(self.query.as_ref()) + text(self.fragment.as_ref())
    }

    /// What is written behind the source, at most.
    fn room_behind_source(&self) -> usize {
        let text = |text: Option<&Text<'_>>| text.map_or(0, |text| if text.moves() { text.room() } else { 0 });
        let path = if self.path.needs_slash() { self.path.room() } else { text(Some(&self.path)) };
        let authority = self.authority.as_ref().map_or(0, |authority| {
            text(authority.auth.as_ref()) + if authority.host_stays_in_place() { 0 } else { authority.host.room() }
        });
        path + authority + text(self.query.as_ref()) + text(self.fragment.as_ref())
    }

    fn write(&self, writer: &mut Writer<'_>) {
        if let Some(scheme) = self.scheme {
            writer.in_place(Component::Scheme, 0, scheme.len()).make_ascii_lowercase();
        }
        if let Some(authority) = &self.authority {
            write_text(writer, Component::Auth, authority.auth.as_ref());
            match &authority.host {
                Host::Final(host) if authority.host_stays_in_place() => {
                    writer.in_place(Component::Host, host.at, host.bytes.len());
                }
                Host::Letters(host) if authority.host_stays_in_place() => {
                    writer.in_place(Component::Host, host.at, host.bytes.len()).make_ascii_lowercase();
                }
                host => host.write(writer),
            }
            writer.port(authority.port);
        }
        let followed = self.query.is_some() || self.fragment.is_some();
        if self.path.moves() || self.path.needs_slash() {
            writer.path(b"", &self.path, Dots::Rooted);
            // Dot segments may have been all of it.
            if !followed {
                writer.absent_if_empty(Component::Path);
            }
        } else if followed || !self.path.bytes.is_empty() {
            write_text(writer, Component::Path, Some(&self.path));
        }
        write_text(writer, Component::Query, self.query.as_ref());
        write_text(writer, Component::Fragment, self.fragment.as_ref());
    }
}

fn write_text(writer: &mut Writer<'_>, component: Component, text: Option<&Text<'_>>) {
    match text {
        None => {}
        Some(text) if text.moves() => writer.encoded(component, text),
        Some(text) => {
            let written = writer.in_place(component, text.at, text.bytes.len());
            if text.lower {
                upper_case_encodings(written);
            }
        }
    }
}

/// Where the authority begins, if "//" stands here.
fn after_slashes(input: &[u8], at: usize) -> Option<usize> {
    input.get(at..)?.starts_with(b"//").then_some(at + 2)
}

pub(super) fn check_length(input: &[u8]) -> Result<()> {
    match input.len() > MAX_LENGTH {
        true => Err(invalid("the URL is longer than 16 MiB: it goes on", MAX_LENGTH)),
        false => Ok(()),
    }
}
