//! Redacts URLs for logs: hides every component that is or may be a secret.

use std::ffi::{CStr, CString};

use super::Url;
use super::composed::Derived;
use super::normalise::percent_encoded;
use super::text::reserve;
use crate::error::Result;

const HIDDEN: &[u8] = b"***";

impl Url {
    /// Returns the whole URL with "***" for the userinfo, each value of the query, the fragment, and text of the path
    /// that may be a password. The text is printable ASCII, so it does not break a line of a log.
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
    // Percent-encoding makes at most three bytes of one byte. Each "***" replaces at least one byte and follows a
    // delimiter.
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
        // The "//" is kept, because without it the host would look like a scheme.
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

/// Appends a URL's path, and hides text that may be a password. If the URL has no host, as in "user:password@host", the
/// text before an "@" may be the password of a URL whose "//" is missing. `dot_before` states whether the URL's text
/// has "/." before the path, which keeps two slashes at the start of the path from beginning an authority.
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

/// Appends the query with its names, but with hidden values. A pair without "=" may be a value, so it is hidden.
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

/// Appends "***", unless the secret is empty.
fn hide(text: &mut Vec<u8>, secret: &[u8]) {
    if !secret.is_empty() {
        text.extend_from_slice(HIDDEN);
    }
}

/// Appends a component and percent-encodes everything except printable ASCII, because a component may have any byte if
/// its scheme is not normalised.
fn add(text: &mut Vec<u8>, part: &[u8]) {
    for &byte in part {
        match byte.is_ascii_graphic() {
            true => text.push(byte),
            false => text.extend_from_slice(&percent_encoded(byte)),
        }
    }
}
