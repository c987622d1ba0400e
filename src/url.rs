//! Parses, normalises, composes and resolves URLs.

mod authority;
mod block;
mod class;
mod composed;
mod host;
mod measure;
mod domain;
mod no_proxy;
mod normalise;
mod parse;
mod parts;
pub mod percent;
mod fast_path;
pub mod query;
mod readings;
mod redact;
mod reference;
mod scan;
mod serialise;
mod scheme;
mod split_first;
mod strict;
mod text;
mod url_options;
mod userinfo;

use std::ffi::CStr;

pub use block::Component;
pub(crate) use block::Thin;
use block::{Block, Writer};
pub use composed::Composite;
pub(crate) use host::{Name, append_idna};
pub use no_proxy::no_proxy_match;
pub use parts::UrlParts;
pub use readings::{Differences, Reader, Reading, Readings};
pub use split_first::{FirstSplit, split_first};
pub use text::MAX_LENGTH;
use text::utf8;
pub use url_options::UrlOptions;

use crate::error::Result;
use crate::memory;

/// A URL with its seven components. A URL is immutable; a clone is another reference to the same data.
#[derive(Clone)]
pub struct Url {
    block: Block,
}

impl Url {
    /// Parses the text of a URL, in which any component may be absent. Text without a scheme begins with the authority,
    /// unless the text begins with a slash.
    pub fn parse(text: &[u8]) -> Result<Url> {
        match fast_path::parse(text) {
            Some(block) => Ok(Url::new(block)),
            None => parse::parse(text).map(Url::new),
        }
    }

    /// Builds a URL from its components, which are checked and normalised as in [`Url::parse`]. Parsing the text of the
    /// built URL gives the same components.
    pub fn from_parts(parts: UrlParts<'_>) -> Result<Url> {
        parts::build(parts)
    }

    /// Resolves a reference (RFC 3986 section 5). The reference is parsed strictly: "g" is a relative path, not a host.
    pub fn resolve(&self, reference: &[u8]) -> Result<Url> {
        utf8(reference, "the reference")?;
        reference::resolve(self, reference)
    }

    /// Parses text as [`Url::parse`] does. If the text has no scheme, the URL gets the scheme `http`.
    pub fn parse_as_http(text: &[u8]) -> Result<Url> {
        let url = Url::parse(text)?;
        match url.has(Component::Scheme) {
            true => Ok(url),
            false => url.with_scheme(b"http"),
        }
    }

    fn new(block: Block) -> Url {
        Url { block }
    }

    /// Returns the reference-counted block, for the C handle.
    pub(crate) fn into_thin(self) -> Thin {
        self.block.0
    }

    pub(crate) fn from_thin(thin: Thin) -> Url {
        Url::new(Block(thin))
    }

    pub(crate) fn as_thin(&self) -> &Thin {
        &self.block.0
    }

    pub fn scheme(&self) -> Option<&CStr> {
        self.c_str(Component::Scheme)
    }

    pub fn auth(&self) -> Option<&CStr> {
        self.c_str(Component::Auth)
    }

    pub fn host(&self) -> Option<&CStr> {
        self.c_str(Component::Host)
    }

    pub fn port(&self) -> Option<u16> {
        self.block.head().port
    }

    pub fn path(&self) -> Option<&CStr> {
        self.c_str(Component::Path)
    }

    pub fn query(&self) -> Option<&CStr> {
        self.c_str(Component::Query)
    }

    pub fn fragment(&self) -> Option<&CStr> {
        self.c_str(Component::Fragment)
    }

    /// Returns the bytes of a component, followed by its NUL. The time does not depend on the component's length.
    pub fn terminated(&self, component: Component) -> Option<&[u8]> {
        self.block.terminated(component)
    }

    fn c_str(&self, component: Component) -> Option<&CStr> {
        CStr::from_bytes_with_nul(self.terminated(component)?).ok()
    }

    fn part(&self, component: Component) -> Option<&[u8]> {
        self.block.get(component)
    }

    fn has(&self, component: Component) -> bool {
        self.part(component).is_some()
    }

    fn has_slashes(&self) -> bool {
        self.block.head().slashes
    }

    /// Returns whether two URLs have the same scheme, host and effective port. Letter case is ignored, and an absent
    /// scheme means http.
    pub fn same_origin(&self, other: &Url) -> bool {
        self.effective_scheme().eq_ignore_ascii_case(other.effective_scheme())
            && match (self.part(Component::Host), other.part(Component::Host)) {
                (Some(a), Some(b)) => a.eq_ignore_ascii_case(b),
                (None, None) => true,
                _ => false,
            }
            && self.effective_port() == other.effective_port()
    }

    /// Returns the scheme, the host and the port in lower case, such as `https://example.com:443`. A port is absent if
    /// the URL has none and its scheme has no default port.
    pub(crate) fn origin(&self) -> Result<Vec<u8>> {
        let (scheme, host) = (self.effective_scheme(), self.part(Component::Host).unwrap_or_default());
        let port = self.effective_port().map(|port| format!(":{port}")).unwrap_or_default();
        let mut origin = Vec::new();
        memory::reserve(&mut origin, scheme.len() + "://".len() + host.len() + port.len(), "an origin")?;
        for part in [scheme, b"://", host, port.as_bytes()] {
            origin.extend_from_slice(part);
        }
        origin.make_ascii_lowercase();
        Ok(origin)
    }

    fn effective_scheme(&self) -> &[u8] {
        self.part(Component::Scheme).unwrap_or(b"http")
    }

    /// Returns the port; for http and https URLs without a port, the default port of the scheme.
    pub fn effective_port(&self) -> Option<u16> {
        self.port().or(match self.effective_scheme() {
            b"http" => Some(80),
            b"https" => Some(443),
            _ => None,
        })
    }

    fn with_scheme(&self, scheme: &[u8]) -> Result<Url> {
        let room = self.block.size() + Component::ALL.len() + scheme.len() + 1;
        let write = |writer: &mut Writer<'_>| {
            writer.scheme(Some(scheme));
            for &component in &Component::ALL[1..] {
                writer.finished(component, self.part(component));
            }
            writer.port(self.port());
        };
        Block::build(room, write).map(Url::new)
    }
}

/// Compares the seven components, not their layout in memory.
impl PartialEq for Url {
    fn eq(&self, other: &Url) -> bool {
        Component::ALL.iter().all(|&component| self.part(component) == other.part(component))
            && self.port() == other.port()
    }
}

impl Eq for Url {}

/// The debug output omits the userinfo, which may contain credentials.
impl std::fmt::Debug for Url {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Url")
            .field("scheme", &self.scheme())
            .field("host", &self.host())
            .field("port", &self.port())
            .field("path", &self.path())
            .field("query", &self.query())
            .field("fragment", &self.fragment())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
