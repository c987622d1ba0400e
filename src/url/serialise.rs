//! What is composed of several components: authority, netloc, request target and the whole text.

use std::ffi::{CStr, CString};
use std::sync::OnceLock;

use super::Url;
use super::buffer::Component;

impl Url {
    /// `userinfo@host:port`.
    pub fn authority(&self) -> Option<&CStr> {
        let netloc = self.netloc()?;
        let Some(auth) = self.part(Component::Auth) else { return Some(netloc) };
        Some(cached(&self.authority, |text| {
            text.extend_from_slice(auth);
            text.push(b'@');
            text.extend_from_slice(netloc.to_bytes());
        }))
    }

    /// `host:port`.
    pub fn netloc(&self) -> Option<&CStr> {
        let host = self.host()?;
        let Some(port) = self.port else { return Some(host) };
        Some(cached(&self.netloc, |text| {
            text.extend_from_slice(host.to_bytes());
            text.extend_from_slice(format!(":{port}").as_bytes());
        }))
    }

    /// The request target: the path, "/" when there is none, and the query.
    pub fn request_uri(&self) -> &CStr {
        let path = self.path().filter(|path| !path.is_empty()).unwrap_or(c"/");
        let Some(query) = self.part(Component::Query) else { return path };
        cached(&self.request_uri, |text| {
            text.extend_from_slice(path.to_bytes());
            text.push(b'?');
            text.extend_from_slice(query);
        })
    }

    /// `scheme://userinfo@host:port/path?query#fragment`, of which only what is present.
    pub fn url(&self) -> &CStr {
        cached(&self.url, |text| {
            let port = self.port.map(|port| port.to_string());
            let mut add = |before: &str, part: Option<&[u8]>, after: &str| {
                if let Some(part) = part {
                    text.extend_from_slice(before.as_bytes());
                    text.extend_from_slice(part);
                    text.extend_from_slice(after.as_bytes());
                }
            };
            add("", self.part(Component::Scheme), "://");
            add("", self.part(Component::Auth), "@");
            add("", self.part(Component::Host), "");
            add(":", port.as_deref().map(str::as_bytes), "");
            add("", self.part(Component::Path), "");
            add("?", self.part(Component::Query), "");
            add("#", self.part(Component::Fragment), "");
        })
    }
}

fn cached(cell: &OnceLock<CString>, write: impl FnOnce(&mut Vec<u8>)) -> &CStr {
    cell.get_or_init(|| {
        let mut text = Vec::new();
        write(&mut text);
        // No component holds a NUL.
        CString::new(text).unwrap_or_default()
    })
}
