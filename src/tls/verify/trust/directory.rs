//! A directory of authorities, as OpenSSL's capath.
//!
//! OpenSSL opens in it only names such as `5ed36f99.0`, which `c_rehash` makes of the subjects: an authority whose link was
//! removed is trusted no more, although its file is still there. So where there are such names, only they count. Where
//! there are none, every file is read: to OpenSSL such a directory would be empty, which is what nobody wants.

use std::collections::HashSet;
use std::fs::{self, Metadata};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::loaded_anchors::Harvest;
use crate::error::{Error, Result};
use crate::status::Status;
use crate::tls::credentials::pem;

/// The largest collections have some hundreds of authorities, each under three names.
const MAX_ENTRIES: usize = 10_000;

/// Of all files together.
const MAX_BYTES: u64 = 4 * pem::MAX_FILE;

/// `what` names the directory in an error. What is in it and cannot be used is skipped.
pub(crate) fn read(path: &Path, what: &str, harvest: &mut Harvest) -> Result<()> {
    let entries = list(path, what)?;
    let is_hashed = entries.iter().any(|entry| kind(entry) == Kind::Hashed);
    let mut seen = HashSet::new();
    let mut total = 0;
    let is_read = |kind: Kind| kind == Kind::Hashed || (!is_hashed && kind == Kind::Other);
    for entry in entries.iter().filter(|entry| is_read(kind(entry))) {
        let Some(metadata) = regular(path, entry, harvest) else { continue };
        // Several names of one file are usual here.
        if !seen.insert(identity(&metadata)) {
            continue;
        }
        total += metadata.len();
        if total > MAX_BYTES {
            return Err(Error::new(Status::InvalidPem, format!("{what} holds files of more than 64 MiB")));
        }
        let name = entry.to_string_lossy();
        let read = pem::read_file(&path.join(entry), "CA file")
            .and_then(|bytes| harvest.add_bytes(&bytes, &name, &format!("{name}: ")));
        match read {
            Err(error) if error.status() == Status::OutOfMemory => return Err(error),
            Err(error) => harvest.skip(error.message()),
            Ok(()) => {}
        }
    }
    for entry in entries.iter().filter(|entry| is_hashed && kind(entry) == Kind::Other) {
        if let Some(metadata) = regular(path, entry, harvest)
            && !seen.contains(&identity(&metadata))
        {
            let name = entry.to_string_lossy();
            harvest.skip(&format!("{name}: no hashed name leads to it, as c_rehash makes them for all the others"));
        }
    }
    // OpenSSL looks for CRLs under these names if it checks revocation.
    for entry in entries.iter().filter(|entry| kind(entry) == Kind::HashedCrl) {
        if regular(path, entry, harvest).is_some() {
            let name = entry.to_string_lossy();
            harvest.skip(&format!("{name}: CRLs are not read from here; add it as a CRL file"));
        }
    }
    Ok(())
}

/// The names in it that are not hidden, sorted.
fn list(path: &Path, what: &str) -> Result<Vec<std::ffi::OsString>> {
    let failed = |error: std::io::Error| Error::from_io(Status::Io, format!("cannot read {what}"), &error);
    let mut entries = Vec::new();
    for entry in fs::read_dir(path).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        if name.as_bytes().starts_with(b".") {
            continue;
        }
        if entries.len() == MAX_ENTRIES {
            return Err(Error::new(Status::InvalidPem, format!("{what} holds more than {MAX_ENTRIES} files")));
        }
        entries.push(name);
    }
    entries.sort_unstable();
    Ok(entries)
}

/// What a link leads to counts. Directories and the like are none of our business; a link that leads nowhere is told.
fn regular(path: &Path, entry: &std::ffi::OsStr, harvest: &mut Harvest) -> Option<Metadata> {
    match fs::metadata(path.join(entry)) {
        Ok(metadata) => Some(metadata).filter(Metadata::is_file),
        Err(error) => {
            let error = Error::from_io(Status::Io, format!("cannot read {}", entry.to_string_lossy()), &error);
            harvest.skip(error.message());
            None
        }
    }
}

fn identity(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

#[derive(PartialEq, Eq)]
enum Kind {
    /// Of a certificate: eight hex digits, a dot and a number.
    Hashed,
    /// The name of a CRL: the same with an r.
    HashedCrl,
    Other,
}

fn kind(entry: &std::ffi::OsStr) -> Kind {
    let Some((hash, [b'.', number @ ..])) = entry.as_bytes().split_at_checked(8) else { return Kind::Other };
    let is_number = |digits: &[u8]| !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    match (hash.iter().all(u8::is_ascii_hexdigit), number) {
        (true, [b'r', number @ ..]) if is_number(number) => Kind::HashedCrl,
        (true, number) if is_number(number) => Kind::Hashed,
        _ => Kind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashed_names_are_known() {
        for (name, expected) in [
            ("5ed36f99.0", 'c'),
            ("5ED36F99.12", 'c'),
            ("5ed36f99.r0", 'r'),
            ("5ed36f99", '-'),
            ("5ed36f99.", '-'),
            ("5ed36f99.r", '-'),
            ("5ed36f9.0", '-'),
            ("5ed36f9g.0", '-'),
            ("5ed36f99.pem", '-'),
            ("5ed36f999.0", '-'),
            ("ca.pem", '-'),
        ] {
            let found = match kind(std::ffi::OsStr::new(name)) {
                Kind::Hashed => 'c',
                Kind::HashedCrl => 'r',
                Kind::Other => '-',
            };
            assert_eq!(found, expected, "{name}");
        }
    }
}
