//! Text into a [`Url`]: measured first, then written into one block.

use super::authority::{Authority, Host};
use super::block::{Block, Component, Writer};
use super::measure::Measured;
use super::normalise::{Dots, upper_case_encodings};
use super::split::{is_normalised, reference_scheme, scheme};
use super::{MAX_LENGTH, Url, invalid, utf8};
use crate::error::Result;

/// Best effort: whatever is absent is `None`. Text without a scheme begins with the host, unless it begins with a slash.
pub(super) fn parse(text: &[u8]) -> Result<Url> {
    let mut parts = Parts::default();
    // What is not UTF-8 is the first thing to say about a text.
    parts.best_effort(text).map_err(|error| utf8(text, "the URL").err().unwrap_or(error))?;
    if parts.may_be_no_text() {
        utf8(text, "the URL")?;
    }
    let room = text.len() + 1 + parts.room_behind_source();
    Block::build(room, |writer| {
        writer.source(text);
        parts.write(writer, text);
    })
    .map(Url::new)
}

/// The components of a text, measured.
#[derive(Default)]
pub(super) struct Parts {
    scheme_length: Option<u32>,
    /// Whether "//" stands before where an authority would be.
    pub(super) has_slashes: bool,
    /// Only http, https and no scheme are normalised.
    normalised: bool,
    /// Whether there is an authority, and it is not empty.
    pub(super) has_authority: bool,
    pub(super) authority: Authority,
    pub(super) path: Measured,
    pub(super) query: Option<Measured>,
    pub(super) fragment: Option<Measured>,
}

impl Parts {
    /// As people write URLs: without a scheme and a leading slash, the text begins with the authority.
    fn best_effort(&mut self, text: &[u8]) -> Result<()> {
        check_length(text)?;
        let scheme = scheme(text);
        let bare = scheme.is_none() && text.first() != Some(&b'/');
        self.read(text, scheme, scheme.is_none_or(is_normalised), bare)
    }

    /// As RFC 3986 section 4.1 reads a reference, whose base is normalised or not.
    pub(super) fn reference(&mut self, text: &[u8], base_is_normalised: bool) -> Result<()> {
        check_length(text)?;
        let scheme = reference_scheme(text);
        self.read(text, scheme, scheme.map_or(base_is_normalised, is_normalised), false)
    }

    fn read(&mut self, text: &[u8], scheme: Option<&[u8]>, normalised: bool, bare_authority: bool) -> Result<()> {
        self.scheme_length = scheme.map(|scheme| scheme.len() as u32);
        self.normalised = normalised;
        let mut at = scheme.map_or(0, |scheme| scheme.len() + 1);
        self.has_slashes = !bare_authority && text.get(at..at + 2) == Some(b"//");
        if self.has_slashes || bare_authority {
            let start = if self.has_slashes { at + 2 } else { at };
            at = self.authority.measure(text, start, normalised)?;
            self.has_authority = at > start;
        }
        let measure = |from, component: Component, stops: &[u8]| match normalised {
            true => Ok(Measured::new(text, from, component.class(), stops)),
            false => Measured::raw(text, from, component, stops),
        };
        self.path = measure(at, Component::Path, b"?#")?;
        at = self.path.end();
        if text.get(at) == Some(&b'?') {
            let query = measure(at + 1, Component::Query, b"#")?;
            at = query.end();
            self.query = Some(query);
        }
        if at < text.len() {
            self.fragment = Some(measure(at + 1, Component::Fragment, b"")?);
        }
        Ok(())
    }

    pub(super) fn scheme<'a>(&self, text: &'a [u8]) -> Option<&'a [u8]> {
        text.get(..self.scheme_length? as usize)
    }

    pub(super) fn path_needs_slash(&self, text: &[u8]) -> bool {
        needs_slash(self.path.of(text))
    }

    fn texts(&self) -> [Option<&Measured>; 4] {
        [self.authority.auth.as_ref(), Some(&self.path), self.query.as_ref(), self.fragment.as_ref()]
    }

    /// Whether there may be a byte beyond ASCII somewhere.
    fn may_be_no_text(&self) -> bool {
        !self.normalised
            || matches!(self.authority.host, Host::Rewritten(_))
            || self.texts().into_iter().flatten().any(|text| text.escapes() > 0)
    }

    /// What writing all of it takes, at most.
    pub(super) fn room(&self) -> usize {
        let texts: usize = self.texts().into_iter().flatten().map(Measured::room).sum();
        self.scheme_length.map_or(0, |length| length as usize + 1) + self.authority.room() + texts
    }

    /// What is written behind the source, at most.
    fn room_behind_source(&self) -> usize {
        // A path that only lacks its slash is written, too; after an authority that may be one that begins with "\\".
        let lacks_slash = !self.path.moves() && !(self.has_authority && self.normalised);
        let moving = self.texts().into_iter().flatten().filter(|text| text.moves()).map(Measured::room).sum::<usize>();
        self.authority.host_room_behind_source() + moving + if lacks_slash { self.path.room() } else { 0 }
    }

    fn write(&self, writer: &mut Writer<'_>, text: &[u8]) {
        if let Some(length) = self.scheme_length {
            writer.in_place(Component::Scheme, 0, length as usize).make_ascii_lowercase();
        }
        if self.has_authority {
            write_text(writer, Component::Auth, self.authority.auth.as_ref(), text);
            self.authority.host_of_source(writer, text);
            writer.port(self.authority.port);
        }
        let followed = self.query.is_some() || self.fragment.is_some();
        if self.path.moves() || self.path_needs_slash(text) {
            writer.path(b"", self.path.of(text), &self.path, Dots::Rooted);
            // Dot segments may have been all of it.
            if !followed {
                writer.absent_if_empty(Component::Path);
            }
        } else if followed || self.path.len() > 0 {
            write_text(writer, Component::Path, Some(&self.path), text);
        }
        write_text(writer, Component::Query, self.query.as_ref(), text);
        write_text(writer, Component::Fragment, self.fragment.as_ref(), text);
    }
}

fn write_text(writer: &mut Writer<'_>, component: Component, measured: Option<&Measured>, source: &[u8]) {
    match measured {
        None => {}
        Some(measured) if measured.moves() => writer.encoded(component, measured.of(source), measured),
        Some(measured) => {
            let text = writer.in_place(component, measured.start(), measured.len());
            if measured.lower {
                upper_case_encodings(text);
            }
        }
    }
}

/// Whether a path is one before which its root's slash must be put.
pub(super) fn needs_slash(path: &[u8]) -> bool {
    path.first().is_some_and(|&first| first != b'/')
}

pub(super) fn check_length(text: &[u8]) -> Result<()> {
    match text.len() > MAX_LENGTH {
        true => Err(invalid("the URL is longer than 16 MiB: it goes on", MAX_LENGTH)),
        false => Ok(()),
    }
}
