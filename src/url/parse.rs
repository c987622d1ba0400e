//! Parses text into a [`Block`]: measures the components first, then writes them into one block.

use super::authority::Authority;
use super::block::{Block, Component, Writer};
use super::class::Class;
use super::measure::Measured;
use super::normalise::{Dots, upper_case_encodings};
use super::scheme::{is_normalised, reference_scheme, scheme};
use super::text::{MAX_LENGTH, invalid, utf8};
use crate::error::Result;

/// Parses the text of a URL, in which any component may be absent. Text without a scheme begins with the authority,
/// unless the text begins with a slash.
pub(super) fn parse(text: &[u8]) -> Result<Block> {
    let mut parts = MeasuredUrl::default();
    // Invalid UTF-8 is reported before any other error.
    parts.measure_url(text).map_err(|error| utf8(text, "the URL").err().unwrap_or(error))?;
    if parts.may_be_invalid_utf8() {
        utf8(text, "the URL")?;
    }
    let room = text.len() + 1 + parts.room_after_source();
    Block::build_on(text, room, |writer| parts.write(writer, text))
}

/// The measured components of a URL or a reference.
#[derive(Default)]
pub(super) struct MeasuredUrl {
    scheme_length: Option<u32>,
    /// Whether "//" comes before the authority.
    pub(super) has_slashes: bool,
    /// Whether the URL is normalised: its scheme is http, https or absent.
    normalised: bool,
    /// Whether the URL has an authority that is not empty.
    pub(super) has_authority: bool,
    pub(super) authority: Authority,
    pub(super) path: Measured,
    path_has_slash: bool,
    /// The path must be written after the copy of the source, because the host's NUL overwrites the path's first slash.
    path_slash_overwritten: bool,
    pub(super) query: Measured,
    pub(super) fragment: Measured,
}

impl MeasuredUrl {
    /// Measures a URL. Text without a scheme and without a leading slash begins with the authority.
    fn measure_url(&mut self, text: &[u8]) -> Result<()> {
        check_length(text)?;
        let scheme = scheme(text);
        let bare = scheme.is_none() && text.first() != Some(&b'/');
        self.measure(text, scheme, scheme.is_none_or(is_normalised), bare)?;
        self.path_slash_overwritten =
            !self.path.may_change_length() && self.authority.overwrites_slash_before(&self.path);
        Ok(())
    }

    /// Measures a reference (RFC 3986 section 4.1). A reference without a scheme is normalised if its base URL is
    /// normalised.
    pub(super) fn measure_reference(&mut self, text: &[u8], base_is_normalised: bool) -> Result<()> {
        check_length(text)?;
        let scheme = reference_scheme(text);
        self.measure(text, scheme, scheme.map_or(base_is_normalised, is_normalised), false)
    }

    fn measure(&mut self, text: &[u8], scheme: Option<&[u8]>, normalised: bool, bare_authority: bool) -> Result<()> {
        self.scheme_length = scheme.map(|scheme| scheme.len() as u32);
        self.normalised = normalised;
        let mut at = scheme.map_or(0, |scheme| scheme.len() + 1);
        self.has_slashes = !bare_authority && text.get(at..at + 2) == Some(b"//");
        if self.has_slashes || bare_authority {
            let start = if self.has_slashes { at + 2 } else { at };
            at = self.authority.measure(text, start, normalised)?;
            self.has_authority = at > start;
        }
        self.path_has_slash = text.get(at) == Some(&b'/');
        if !normalised {
            return self.measure_raw(text, at);
        }
        at = self.path.measure(text, at, Class::Path, b"?#");
        if text.get(at) == Some(&b'?') {
            at = self.query.measure(text, at + 1, Class::Query, b"#");
        }
        if at < text.len() {
            self.fragment.measure(text, at + 1, Class::Query, b"");
        }
        Ok(())
    }

    fn measure_raw(&mut self, text: &[u8], path: usize) -> Result<()> {
        let mut at = self.path.measure_raw(text, path, Component::Path, b"?#")?;
        if text.get(at) == Some(&b'?') {
            at = self.query.measure_raw(text, at + 1, Component::Query, b"#")?;
        }
        if at < text.len() {
            self.fragment.measure_raw(text, at + 1, Component::Fragment, b"")?;
        }
        Ok(())
    }

    pub(super) fn scheme<'a>(&self, text: &'a [u8]) -> Option<&'a [u8]> {
        text.get(..self.scheme_length? as usize)
    }

    pub(super) fn path_needs_slash(&self, text: &[u8]) -> bool {
        needs_slash(self.path.of(text))
    }

    fn texts(&self) -> [&Measured; 4] {
        [&self.authority.auth, &self.path, &self.query, &self.fragment]
    }

    /// Returns whether a component may have bytes that are not UTF-8.
    fn may_be_invalid_utf8(&self) -> bool {
        self.authority.may_be_invalid_utf8 || self.texts().iter().any(|text| text.has_non_ascii)
    }

    fn any_may_change_length(&self) -> bool {
        self.authority.auth.may_change_length()
            | self.path.may_change_length()
            | self.query.may_change_length()
            | self.fragment.may_change_length()
    }

    /// Returns the maximum number of bytes that all components take when they are written.
    pub(super) fn room(&self) -> usize {
        let texts: usize = self.texts().into_iter().map(Measured::room).sum();
        self.scheme_length.map_or(0, |length| length as usize + 1) + self.authority.room() + texts
    }

    /// Returns the maximum number of bytes that are written after the copy of the source.
    fn room_after_source(&self) -> usize {
        let lost = if self.path_slash_overwritten { self.path.len() + 1 } else { 0 };
        let host = self.authority.host_room_after_source() + lost;
        if !self.any_may_change_length() && (self.has_authority && self.normalised || self.path_has_slash) {
            return host;
        }
        // A path that lacks its leading slash is also written after the copy, with the slash.
        let behind = |text: &Measured| if text.may_change_length() { text.room() } else { 0 };
        host + self.path.room() + behind(&self.authority.auth) + behind(&self.query) + behind(&self.fragment)
    }

    fn write(&self, writer: &mut Writer<'_>, text: &[u8]) {
        if let Some(length) = self.scheme_length {
            let scheme = writer.in_place(Component::Scheme, 0, length as usize);
            if !matches!(&*scheme, b"http" | b"https") {
                scheme.make_ascii_lowercase();
            }
        }
        if self.has_authority {
            write_text(writer, Component::Auth, &self.authority.auth, text);
            self.authority.write_source_host(writer, text);
            writer.port(self.authority.port);
        }
        let followed = self.query.present || self.fragment.present;
        if self.path.may_change_length() || self.path_needs_slash(text) {
            writer.path(b"", self.path.of(text), &self.path, Dots::Rooted);
            // A path that consisted of dot segments only is empty now.
            if !followed {
                writer.absent_if_empty(Component::Path);
            }
        } else if self.path_slash_overwritten {
            writer.encoded(Component::Path, self.path.of(text), &self.path);
        } else if followed || self.path.len() > 0 {
            write_text(writer, Component::Path, &self.path, text);
        }
        write_text(writer, Component::Query, &self.query, text);
        write_text(writer, Component::Fragment, &self.fragment, text);
    }
}

#[inline(always)]
fn write_text(writer: &mut Writer<'_>, component: Component, measured: &Measured, source: &[u8]) {
    if measured.may_change_length() {
        writer.encoded(component, measured.of(source), measured);
    } else if measured.present {
        let text = writer.in_place(component, measured.start(), measured.len());
        if measured.has_lower_case_digits {
            upper_case_encodings(text);
        }
    }
}

/// Returns whether a path is not empty and does not begin with a slash.
pub(super) fn needs_slash(path: &[u8]) -> bool {
    path.first().is_some_and(|&first| first != b'/')
}

#[inline(always)]
pub(super) fn check_length(text: &[u8]) -> Result<()> {
    match text.len() > MAX_LENGTH {
        true => Err(invalid("the URL is longer than 16 MiB: it has not ended", MAX_LENGTH)),
        false => Ok(()),
    }
}
