//! Components into a [`Url`]: each checked, normalised and written to the buffer in turn.

use super::buffer::{Builder, Component, append};
use super::host;
use super::normalise::{Class, Root, append_without_dots, encode};
use super::split::{Piece, Split};
use super::{Url, invalid};
use crate::error::Result;

pub(super) fn parse(text: &[u8]) -> Result<Url> {
    let split = Split::best_effort(text);
    let authority = Authority::read(split.authority)?;
    let mut writer = Writer::new(text.len(), split.scheme)?;
    writer.authority(&authority)?;
    writer.path(split.path, Root::Goes, split.query.is_some() || split.fragment.is_some())?;
    writer.query(split.query)?;
    writer.fragment(split.fragment)?;
    Ok(writer.finish(authority.port))
}

/// An authority taken apart. The host is in its grammar.
#[derive(Default)]
pub(super) struct Authority<'a> {
    pub(super) auth: Option<Piece<'a>>,
    pub(super) host: Option<Piece<'a>>,
    pub(super) port: Option<u16>,
}

impl<'a> Authority<'a> {
    /// An empty authority is none.
    pub(super) fn read(authority: Option<Piece<'a>>) -> Result<Authority<'a>> {
        let Some(Piece { text, at }) = authority.filter(|authority| !authority.text.is_empty()) else {
            return Ok(Authority::default());
        };
        // The last "@": what stands before it is userinfo, whatever it looks like.
        let host_start = text.iter().rposition(|&byte| byte == b'@').map_or(0, |sign| sign + 1);
        let auth = text.get(..host_start.saturating_sub(1));
        let (host, port) = host::split_port(&text[host_start..], at + host_start)?;
        Ok(Authority {
            auth: auth.map(|text| Piece { text, at }),
            host: Some(Piece { text: host, at: at + host_start }),
            port,
        })
    }
}

/// Writes components in their order, as the scheme asks: only http, https and no scheme are normalised.
pub(super) struct Writer {
    builder: Builder,
    normalises: bool,
}

impl Writer {
    /// `length` is about how long the text of all components is.
    pub(super) fn new(length: usize, scheme: Option<Piece<'_>>) -> Result<Writer> {
        let mut builder = Builder::new(length.saturating_add(Component::ALL.len() + 2))?;
        let Some(scheme) = scheme else {
            builder.absent();
            return Ok(Writer { builder, normalises: true });
        };
        append(&mut builder.bytes, scheme.text)?;
        builder.bytes.make_ascii_lowercase();
        let normalises = matches!(&builder.bytes[..], b"http" | b"https");
        builder.present()?;
        Ok(Writer { builder, normalises })
    }

    pub(super) fn authority(&mut self, authority: &Authority<'_>) -> Result<()> {
        match authority.auth {
            // Empty userinfo is none.
            Some(auth) if !auth.text.is_empty() => self.component(Some(auth), Component::Auth, Class::Userinfo)?,
            _ => self.builder.absent(),
        }
        match authority.host {
            None => self.builder.absent(),
            Some(host) => {
                if self.normalises {
                    host::append_normalised(&mut self.builder.bytes, host.text, host.at)?;
                } else {
                    append(&mut self.builder.bytes, host.text)?;
                }
                self.builder.present()?;
            }
        }
        Ok(())
    }

    /// The authority of another URL, which was normalised for the same scheme.
    pub(super) fn authority_of(&mut self, url: &Url) -> Result<()> {
        self.builder.copy_or_absent(url.part(Component::Auth))?;
        self.builder.copy_or_absent(url.part(Component::Host))
    }

    /// An empty path is absent unless something follows it.
    pub(super) fn path(&mut self, path: Piece<'_>, root: Root, followed: bool) -> Result<()> {
        let start = self.builder.start();
        if self.normalises || root == Root::Stays {
            append_without_dots(&mut self.builder.bytes, path.text, root)?;
        } else {
            if path.text.first().is_some_and(|&first| first != b'/') {
                append(&mut self.builder.bytes, b"/")?;
            }
            append(&mut self.builder.bytes, path.text)?;
        }
        if self.normalises {
            encode(&mut self.builder.bytes, start, Class::Path)?;
        } else {
            check_raw(path, Component::Path)?;
        }
        if self.builder.bytes.len() == start && !followed {
            self.builder.absent();
            return Ok(());
        }
        self.builder.present()
    }

    /// Fails as [`Writer::path`] would, for a path that is to become part of another.
    pub(super) fn check_path(&self, path: Piece<'_>) -> Result<()> {
        if self.normalises { Ok(()) } else { check_raw(path, Component::Path) }
    }

    /// A path that is in its final form.
    pub(super) fn path_of(&mut self, path: Option<&[u8]>, followed: bool) -> Result<()> {
        let path = path.filter(|path| followed || !path.is_empty()).or(if followed { Some(b"") } else { None });
        self.builder.copy_or_absent(path)
    }

    pub(super) fn query(&mut self, query: Option<Piece<'_>>) -> Result<()> {
        self.component(query, Component::Query, Class::Query)
    }

    pub(super) fn query_of(&mut self, query: Option<&[u8]>) -> Result<()> {
        self.builder.copy_or_absent(query)
    }

    pub(super) fn fragment(&mut self, fragment: Option<Piece<'_>>) -> Result<()> {
        self.component(fragment, Component::Fragment, Class::Query)
    }

    pub(super) fn finish(self, port: Option<u16>) -> Url {
        Url::new(self.builder.finish(), port)
    }

    fn component(&mut self, piece: Option<Piece<'_>>, component: Component, class: Class) -> Result<()> {
        let Some(piece) = piece else {
            self.builder.absent();
            return Ok(());
        };
        let start = self.builder.start();
        append(&mut self.builder.bytes, piece.text)?;
        if self.normalises {
            encode(&mut self.builder.bytes, start, class)?;
        } else {
            check_raw(piece, component)?;
        }
        self.builder.present()
    }
}

/// What is not percent-encoded must not hold a line end, which would end a header, or NUL, which would end the text.
pub(super) fn check_raw(piece: Piece<'_>, component: Component) -> Result<()> {
    match piece.text.iter().position(|byte| matches!(byte, b'\r' | b'\n' | 0)) {
        Some(bad) => Err(invalid(&format!("the {} has a line end or NUL", component.name()), piece.at + bad)),
        None => Ok(()),
    }
}
