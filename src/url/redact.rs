//! A URL for logs: without what is a secret, or could be one.

use std::ffi::{CStr, CString};

use once_cell::race::OnceBox;

use super::normalise::percent_encoded;
use super::{Url, reserve};
use crate::error::Result;

const HIDDEN: &[u8] = b"***";

/// What is made of a URL when it is first asked for, beside the composed texts. Few URLs are ever asked.
#[derive(Default)]
pub(super) struct Derived {
    pub(super) redacted: OnceBox<CString>,
    pub(super) username: OnceBox<CString>,
    pub(super) password: OnceBox<CString>,
}

impl Url {
    /// The whole URL with "***" for the userinfo, for each value of the query, and for the fragment. Only printable
    /// ASCII: a log line stays one.
    pub fn redacted(&self) -> Result<&CStr> {
        let cell = &self.derived()?.redacted;
        match cell.get() {
            Some(redacted) => Ok(redacted),
            None => {
                let redacted = CString::new(write(self)?).unwrap_or_default();
                Ok(cell.get_or_init(|| Box::new(redacted)))
            }
        }
    }

    pub(super) fn derived(&self) -> Result<&Derived> {
        Ok(self.all_composed()?.derived.get_or_init(Box::default))
    }
}

fn write(url: &Url) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    // A byte becomes an encoding at most, and what is hidden by "***" has a byte and a delimiter.
    reserve(&mut text, 4 * url.block.size() + 64)?;
    let whole = url.url()?.to_bytes();
    if let Some(scheme) = url.scheme() {
        add(&mut text, scheme.to_bytes());
        text.extend_from_slice(if url.has_slashes() { b"://" } else { b":" });
    }
    if url.auth().is_some() {
        text.extend_from_slice(HIDDEN);
        text.push(b'@');
    } else if text.is_empty() && url.host().is_some() && whole.starts_with(b"//") {
        // A host that looks like a scheme.
        text.extend_from_slice(b"//");
    }
    let mut netloc = Vec::new();
    reserve(&mut netloc, url.block.size() + 64)?;
    url.write_netloc(&mut netloc);
    add(&mut text, &netloc);
    if let Some(path) = url.path() {
        let no_authority = url.auth().is_none() && netloc.is_empty();
        let dot_before = no_authority && whole.get(text.len()..).is_some_and(|rest| rest.starts_with(b"/.//"));
        add_path(&mut text, path.to_bytes(), url.host().is_some(), dot_before);
    }
    if let Some(query) = url.query() {
        text.push(b'?');
        add_query(&mut text, query.to_bytes());
    }
    if let Some(fragment) = url.fragment() {
        text.push(b'#');
        hide(&mut text, fragment.to_bytes());
    }
    Ok(text)
}

/// Without a host, as in "user:password@host", what stands before an "@" may be a password that lost its "//".
/// `dot_before`: the whole text has "/." before the path, so that two slashes at its start are no authority.
fn add_path(text: &mut Vec<u8>, path: &[u8], has_host: bool, dot_before: bool) {
    match path.iter().rposition(|&byte| byte == b'@') {
        Some(sign) if !has_host => {
            text.extend_from_slice(if path.first() == Some(&b'/') { b"/" } else { b"" });
            text.extend_from_slice(HIDDEN);
            add(text, &path[sign..]);
        }
        _ => {
            text.extend_from_slice(if dot_before && path.starts_with(b"//") { b"/." } else { b"" });
            add(text, path);
        }
    }
}

/// Names stay; what has no "=" may be a value.
fn add_query(text: &mut Vec<u8>, query: &[u8]) {
    for (i, pair) in query.split(|&byte| byte == b'&').enumerate() {
        if i > 0 {
            text.push(b'&');
        }
        match pair.iter().position(|&byte| byte == b'=') {
            Some(sign) => {
                add(text, &pair[..=sign]);
                hide(text, &pair[sign + 1..]);
            }
            None => hide(text, pair),
        }
    }
}

/// What is empty hides nothing.
fn hide(text: &mut Vec<u8>, secret: &[u8]) {
    if !secret.is_empty() {
        text.extend_from_slice(HIDDEN);
    }
}

/// Under schemes that are not normalised, components may hold any byte.
fn add(text: &mut Vec<u8>, part: &[u8]) {
    for &byte in part {
        match byte.is_ascii_graphic() {
            true => text.push(byte),
            false => text.extend_from_slice(&percent_encoded(byte)),
        }
    }
}
