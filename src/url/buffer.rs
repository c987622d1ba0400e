//! Where a URL's text lies: one buffer, its components in order, each followed by a NUL; an absent one takes no room.

use std::ffi::CStr;

use crate::error::{Error, Result};
use crate::status::Status;

/// The components that have text, in the order in which they are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Component {
    Scheme,
    Auth,
    Host,
    Path,
    Query,
    Fragment,
}

impl Component {
    pub(super) const ALL: [Component; 6] =
        [Component::Scheme, Component::Auth, Component::Host, Component::Path, Component::Query, Component::Fragment];

    pub(super) fn name(self) -> &'static str {
        match self {
            Component::Scheme => "scheme",
            Component::Auth => "userinfo",
            Component::Host => "host",
            Component::Path => "path",
            Component::Query => "query",
            Component::Fragment => "fragment",
        }
    }
}

const COUNT: usize = Component::ALL.len();

#[derive(PartialEq, Eq)]
pub(super) struct Buffer {
    bytes: Vec<u8>,
    /// Component `i` is `bytes[ends[i - 1]..ends[i]]`, its NUL included; empty when it is absent.
    ends: [usize; COUNT],
}

impl Buffer {
    pub(super) fn get(&self, component: Component) -> Option<&CStr> {
        CStr::from_bytes_with_nul(self.slot(component)?).ok()
    }

    pub(super) fn bytes(&self, component: Component) -> Option<&[u8]> {
        self.slot(component)?.split_last().map(|(_, text)| text)
    }

    pub(super) fn size(&self) -> usize {
        self.bytes.len()
    }

    fn slot(&self, component: Component) -> Option<&[u8]> {
        let i = component as usize;
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        self.bytes.get(start..self.ends[i])
    }
}

/// Fills a buffer, one component after the other in the order of [`Component::ALL`].
pub(super) struct Builder {
    pub(super) bytes: Vec<u8>,
    ends: [usize; COUNT],
    filled: usize,
}

impl Builder {
    /// `capacity` counts the NULs.
    pub(super) fn new(capacity: usize) -> Result<Builder> {
        let mut bytes = Vec::new();
        reserve(&mut bytes, capacity)?;
        Ok(Builder { bytes, ends: [0; COUNT], filled: 0 })
    }

    /// The next component is absent.
    pub(super) fn absent(&mut self) {
        if let Some(end) = self.ends.get_mut(self.filled) {
            *end = self.bytes.len();
            self.filled += 1;
        }
    }

    /// The next component is what was appended to `bytes` since the last.
    pub(super) fn present(&mut self) -> Result<()> {
        reserve(&mut self.bytes, 1)?;
        self.bytes.push(0);
        self.absent();
        Ok(())
    }

    /// Where the next component's text begins.
    pub(super) fn start(&self) -> usize {
        if self.filled == 0 { 0 } else { self.ends[self.filled - 1] }
    }

    pub(super) fn copy(&mut self, text: &[u8]) -> Result<()> {
        append(&mut self.bytes, text)?;
        self.present()
    }

    pub(super) fn copy_or_absent(&mut self, text: Option<&[u8]>) -> Result<()> {
        match text {
            Some(text) => self.copy(text),
            None => {
                self.absent();
                Ok(())
            }
        }
    }

    pub(super) fn finish(mut self) -> Buffer {
        while self.filled < COUNT {
            self.absent();
        }
        Buffer { bytes: self.bytes, ends: self.ends }
    }
}

/// Room for a size that comes from the caller.
pub(super) fn reserve(bytes: &mut Vec<u8>, more: usize) -> Result<()> {
    bytes
        .try_reserve(more)
        .map_err(|_| Error::new(Status::OutOfMemory, format!("no memory for a URL of {more} more bytes")))
}

pub(super) fn append(bytes: &mut Vec<u8>, text: &[u8]) -> Result<()> {
    reserve(bytes, text.len())?;
    bytes.extend_from_slice(text);
    Ok(())
}
