//! Resolves a reference against a base URL, as the strict algorithm of RFC 3986 section 5.2 does.

use super::Url;
use super::block::{Block, Component};
use super::normalise::Dots;
use super::parse::MeasuredUrl;
use super::scheme::is_normalised;
use crate::error::Result;

pub(super) fn resolve(base: &Url, reference: &[u8]) -> Result<Url> {
    let mut parts = MeasuredUrl::default();
    parts.measure_reference(reference, base.part(Component::Scheme).is_none_or(is_normalised))?;
    let MeasuredUrl { authority, query, fragment, .. } = &parts;
    let (scheme, path) = (parts.scheme(reference), parts.path.of(reference));
    let own_authority = scheme.is_some() || parts.has_slashes;
    let stays = !own_authority && path.is_empty();
    let base_path = base.part(Component::Path).unwrap_or_default();
    let base_query = base.part(Component::Query).filter(|_| stays && !query.present);
    let followed = query.present || base_query.is_some() || fragment.present;
    // If a "%" in the reference's path begins no percent-encoding, every "%" of the base's path is encoded as well.
    let base_room = base.block.size() * if parts.path.has_stray_percent { 4 } else { 2 } + 2 * Component::ALL.len();
    let room = base_room + parts.room();
    Block::build(room, |writer| {
        writer.scheme(scheme.or(base.part(Component::Scheme)));
        writer.slashes(if scheme.is_some() { parts.has_slashes } else { own_authority || base.has_slashes() });
        if parts.has_authority {
            if authority.auth.present {
                writer.encoded(Component::Auth, authority.auth.of(reference), &authority.auth);
            }
            authority.write_host(writer, authority.host_in(reference));
            writer.port(authority.port);
        } else if !own_authority {
            writer.finished(Component::Auth, base.part(Component::Auth));
            writer.finished(Component::Host, base.part(Component::Host));
            writer.port(base.port());
        }
        if stays {
            writer.finished(Component::Path, Some(base_path));
        } else {
            let directory: &[u8] = match path.first() {
                // "//a\@b" has the host "a" and the path "\@b". In the URL's text a slash separates host and path.
                Some(first) if parts.has_slashes && *first != b'/' => b"/",
                Some(b'/') => b"",
                _ if own_authority => b"",
                _ => directory(base, base_path),
            };
            // Dot segments are removed for every scheme, and also from the base's path.
            writer.path(directory, path, &parts.path.with_dots(), Dots::Standard);
        }
        if !followed {
            writer.absent_if_empty(Component::Path);
        }
        writer.finished(Component::Query, base_query);
        for (component, measured) in [(Component::Query, query), (Component::Fragment, fragment)] {
            if measured.present {
                writer.encoded(component, measured.of(reference), measured);
            }
        }
    })
    .map(Url::new)
}

/// Returns the base's path up to and including its last slash (section 5.2.3).
fn directory<'a>(base: &Url, path: &'a [u8]) -> &'a [u8] {
    match path.iter().rposition(|&byte| byte == b'/') {
        Some(slash) => &path[..=slash],
        None if base.has_slashes() => b"/",
        None => b"",
    }
}
