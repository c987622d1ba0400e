//! URLs: parsing, normalising, writing, and resolving one against another.

mod buffer;
mod host;
mod name;
mod normalise;
mod parse;
mod parts;
mod readings;
mod redact;
mod resolve;
mod serialise;
mod split;
mod strict;
mod userinfo;
mod visits;

use std::ffi::{CStr, CString};
use std::sync::OnceLock;

use buffer::{Buffer, Component};
pub use parts::UrlParts;
pub use readings::{Differences, Reader, Reading, Readings};
pub use split::{FirstSplit, split_first};

use crate::error::{Error, Result};
use crate::status::Status;

/// A URL's seven fields. Immutable. The text of all components lies in one buffer, each with its NUL, so that
/// getters lend from it; what is composed of several components is written when it is first asked for.
pub struct Url {
    text: Buffer,
    port: Option<u16>,
    authority: OnceLock<CString>,
    netloc: OnceLock<CString>,
    request_uri: OnceLock<CString>,
    url: OnceLock<CString>,
    derived: OnceLock<Box<redact::Derived>>,
}

impl Url {
    /// Best effort: whatever is absent is `None`. Text without a scheme begins with the host, unless it begins with
    /// a slash.
    pub fn parse(text: &[u8]) -> Result<Url> {
        parse::parse(utf8(text, "the URL")?.as_bytes())
    }

    /// The parts are checked and normalised as [`Url::parse`] does it. The result parses back into the same parts.
    pub fn from_parts(parts: UrlParts<'_>) -> Result<Url> {
        parts::build(parts)
    }

    /// RFC 3986 section 5. The reference is read strictly: "g" is a relative path, not a host.
    pub fn resolve(&self, reference: &[u8]) -> Result<Url> {
        resolve::resolve(self, utf8(reference, "the reference")?.as_bytes())
    }

    /// As [`Url::parse`], with the scheme `http` where the text has none.
    pub fn parse_as_http(text: &[u8]) -> Result<Url> {
        let url = Url::parse(text)?;
        match url.scheme() {
            Some(_) => Ok(url),
            None => url.with_scheme(b"http"),
        }
    }

    fn new(text: Buffer, port: Option<u16>) -> Url {
        Url {
            text,
            port,
            authority: OnceLock::new(),
            netloc: OnceLock::new(),
            request_uri: OnceLock::new(),
            url: OnceLock::new(),
            derived: OnceLock::new(),
        }
    }

    pub fn scheme(&self) -> Option<&CStr> {
        self.text.get(Component::Scheme)
    }

    pub fn auth(&self) -> Option<&CStr> {
        self.text.get(Component::Auth)
    }

    pub fn host(&self) -> Option<&CStr> {
        self.text.get(Component::Host)
    }

    pub fn port(&self) -> Option<u16> {
        self.port
    }

    pub fn path(&self) -> Option<&CStr> {
        self.text.get(Component::Path)
    }

    pub fn query(&self) -> Option<&CStr> {
        self.text.get(Component::Query)
    }

    pub fn fragment(&self) -> Option<&CStr> {
        self.text.get(Component::Fragment)
    }

    /// Scheme, host and effective port are equal. No scheme counts as http; case does not count.
    pub fn same_origin(&self, other: &Url) -> bool {
        self.effective_scheme().eq_ignore_ascii_case(other.effective_scheme())
            && match (self.part(Component::Host), other.part(Component::Host)) {
                (Some(a), Some(b)) => a.eq_ignore_ascii_case(b),
                (None, None) => true,
                _ => false,
            }
            && self.effective_port() == other.effective_port()
    }

    fn effective_scheme(&self) -> &[u8] {
        self.part(Component::Scheme).unwrap_or(b"http")
    }

    /// The port, or the one that the scheme stands for.
    pub fn effective_port(&self) -> Option<u16> {
        self.port.or(match self.effective_scheme() {
            b"http" => Some(80),
            b"https" => Some(443),
            _ => None,
        })
    }

    fn part(&self, component: Component) -> Option<&[u8]> {
        self.text.bytes(component)
    }

    fn with_scheme(&self, scheme: &[u8]) -> Result<Url> {
        let mut text = buffer::Builder::new(self.text.size() + scheme.len() + 1)?;
        text.copy(scheme)?;
        for component in &Component::ALL[1..] {
            text.copy_or_absent(self.part(*component))?;
        }
        Ok(Url::new(text.finish(), self.port))
    }
}

/// The seven fields decide; what was cached does not.
impl PartialEq for Url {
    fn eq(&self, other: &Url) -> bool {
        self.text == other.text && self.port == other.port
    }
}

impl Eq for Url {}

/// Without the userinfo, which holds credentials.
impl std::fmt::Debug for Url {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Url")
            .field("scheme", &self.scheme())
            .field("host", &self.host())
            .field("port", &self.port)
            .field("path", &self.path())
            .field("query", &self.query())
            .field("fragment", &self.fragment())
            .finish_non_exhaustive()
    }
}

fn utf8<'a>(text: &'a [u8], what: &str) -> Result<&'a str> {
    std::str::from_utf8(text).map_err(|bad| {
        let at = bad.valid_up_to();
        Error::new(Status::InvalidUtf8, format!("{what} is not valid UTF-8 at byte {at}")).at(at)
    })
}

/// The text itself is never shown: what looks like a host may be part of a password.
fn invalid(problem: &str, at: usize) -> Error {
    Error::new(Status::InvalidUrl, format!("{problem} at byte {at}")).at(at)
}

#[cfg(test)]
mod tests;

pub(crate) use host::append_idna;
