//! Loads a directory of CA certificates, in the layout of OpenSSL's capath.
//!
//! OpenSSL looks up only hashed names such as `5ed36f99.0`, which `c_rehash` creates: an authority whose link was
//! removed is no longer trusted although its file still exists. So netlib reads only the files with hashed names if the
//! directory contains any. If a CA directory contains no hashed name, netlib reads every file; OpenSSL would find no
//! authority.

use std::collections::HashSet;
use std::fs::{self, Metadata};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::loaded_anchors::LoadedAnchors;
use crate::error::{Error, Result};
use crate::status::Status;
use crate::tls::credentials::pem;

/// The maximum number of files in a directory. The largest known directories contain more than a hundred authorities
/// with three file names each.
const MAX_ENTRIES: usize = 10_000;

/// The limit on the total size of all files in a directory.
const MAX_BYTES: u64 = 4 * pem::MAX_FILE;

/// Adds the authorities in a directory to `loaded` and skips unusable files. Error messages call the directory `what`.
pub(crate) fn read(path: &Path, what: &str, loaded: &mut LoadedAnchors) -> Result<()> {
    let entries = list(path, what)?;
    let is_hashed = entries.iter().any(|entry| kind(entry) == Kind::Hashed);
    let mut seen = HashSet::new();
    let mut total = 0;
    let is_read = |kind: Kind| kind == Kind::Hashed || (!is_hashed && kind == Kind::Other);
    for entry in entries.iter().filter(|entry| is_read(kind(entry))) {
        let Some(metadata) = regular(path, entry, loaded) else { continue };
        // In CA directories, several names often refer to one file; each file is read once.
        if !seen.insert(identity(&metadata)) {
            continue;
        }
        total += metadata.len();
        if total > MAX_BYTES {
            return Err(Error::new(Status::InvalidPem, format!("{what} contains more than 64 MiB of files")));
        }
        let name = entry.to_string_lossy();
        let read = pem::read_file(&path.join(entry), "CA file")
            .and_then(|bytes| loaded.add_bytes(&bytes, &name, &format!("{name}: ")));
        match read {
            Err(error) if error.status() == Status::OutOfMemory => return Err(error),
            Err(error) => loaded.skip(error.message()),
            Ok(()) => {}
        }
    }
    for entry in entries.iter().filter(|entry| is_hashed && kind(entry) == Kind::Other) {
        if let Some(metadata) = regular(path, entry, loaded)
            && !seen.contains(&identity(&metadata))
        {
            let name = entry.to_string_lossy();
            loaded.skip(&format!("{name}: no hashed name, as created by c_rehash, refers to this file"));
        }
    }
    // If revocation checking is on, OpenSSL reads CRLs from files with the hashed name of a CRL; netlib only reports
    // these files.
    for entry in entries.iter().filter(|entry| kind(entry) == Kind::HashedCrl) {
        if regular(path, entry, loaded).is_some() {
            let name = entry.to_string_lossy();
            loaded.skip(&format!("{name}: CRLs are not read from this directory; add the file as a CRL file"));
        }
    }
    Ok(())
}

/// Returns the sorted names of the directory's entries, except those that begin with a dot.
fn list(path: &Path, what: &str) -> Result<Vec<std::ffi::OsString>> {
    let failed = |error: std::io::Error| Error::from_io(Status::Io, format!("cannot read {what}"), &error);
    let mut entries = Vec::new();
    for entry in fs::read_dir(path).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        if name.as_bytes().starts_with(b".") {
            continue;
        }
        if entries.len() == MAX_ENTRIES {
            return Err(Error::new(Status::InvalidPem, format!("{what} contains more than {MAX_ENTRIES} files")));
        }
        entries.push(name);
    }
    entries.sort_unstable();
    Ok(entries)
}

/// Returns the metadata of a regular file, following symbolic links. Files of other types are ignored. A file whose
/// metadata cannot be read, such as a dangling link, is reported as skipped.
fn regular(path: &Path, entry: &std::ffi::OsStr, loaded: &mut LoadedAnchors) -> Option<Metadata> {
    match fs::metadata(path.join(entry)) {
        Ok(metadata) => Some(metadata).filter(Metadata::is_file),
        Err(error) => {
            let error = Error::from_io(Status::Io, format!("cannot read {}", entry.to_string_lossy()), &error);
            loaded.skip(error.message());
            None
        }
    }
}

fn identity(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

#[derive(PartialEq, Eq)]
enum Kind {
    /// The hashed file name of a certificate: eight hex digits, a dot and a number.
    Hashed,
    /// The hashed file name of a CRL: eight hex digits, ".r" and a number.
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
    fn hashed_file_names_of_certificates_and_crls_are_recognised() {
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
