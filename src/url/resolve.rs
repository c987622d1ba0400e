//! A reference against a base: RFC 3986 section 5.2, strict.

use super::Url;
use super::buffer::{Component, append, reserve};
use super::normalise::Root;
use super::parse::{Authority, Writer};
use super::split::{Piece, Split};
use crate::error::Result;

pub(super) fn resolve(base: &Url, reference: &[u8]) -> Result<Url> {
    let split = Split::reference(reference);
    let authority = Authority::read(split.authority)?;
    let followed = split.query.is_some() || split.fragment.is_some();
    let length = base.text.size().saturating_add(reference.len());
    let own_authority = split.scheme.is_some() || split.authority.is_some();
    let scheme = match split.scheme {
        Some(scheme) => Some(scheme),
        None => base.part(Component::Scheme).map(|text| Piece { text, at: 0 }),
    };

    let mut writer = Writer::new(length, scheme)?;
    if own_authority {
        writer.authority(&authority)?;
        writer.path(split.path, Root::Stays, followed)?;
        writer.query(split.query)?;
        writer.fragment(split.fragment)?;
        return Ok(writer.finish(authority.port));
    }
    writer.authority_of(base)?;
    if split.path.text.is_empty() {
        let query = split.query.map_or(base.part(Component::Query), |query| Some(query.text));
        writer.path_of(base.part(Component::Path), query.is_some() || split.fragment.is_some())?;
        match split.query {
            Some(query) => writer.query(Some(query))?,
            None => writer.query_of(base.part(Component::Query))?,
        }
    } else {
        match split.path.text.first() {
            Some(b'/') => writer.path(split.path, Root::Stays, followed)?,
            _ => {
                writer.check_path(split.path)?;
                let merged = merge(base, split.path.text)?;
                writer.path(Piece { text: &merged, at: split.path.at }, Root::Stays, followed)?;
            }
        }
        writer.query(split.query)?;
    }
    writer.fragment(split.fragment)?;
    Ok(writer.finish(base.port))
}

/// The base's path up to its last slash, then the reference's: section 5.2.3.
fn merge(base: &Url, path: &[u8]) -> Result<Vec<u8>> {
    let base_path = base.part(Component::Path).unwrap_or_default();
    let kept = base_path.iter().rposition(|&byte| byte == b'/').map_or(b"/" as &[u8], |slash| &base_path[..=slash]);
    let mut merged = Vec::new();
    reserve(&mut merged, kept.len().saturating_add(path.len()))?;
    append(&mut merged, kept)?;
    append(&mut merged, path)?;
    Ok(merged)
}
