//! Loads the trusted authorities of a context, and lists the sources from which they were loaded.

mod directory;
mod kept_certificates;
mod loaded_anchors;
mod system;

use std::ffi::{CStr, CString, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls_pki_types::CertificateDer;

use super::anchors::{Anchors, Collection};
use crate::error::{ApiName, Result};
use crate::memory;
use crate::tls::credentials::pem;
use loaded_anchors::LoadedAnchors;
pub(crate) use system::Environment;

/// The bits that `netlib_tls_context_trust_kinds` returns.
pub const SYSTEM: i32 = 1;
pub const EMBEDDED: i32 = 2;
pub const CUSTOM: i32 = 4;

/// A file, directory or byte string with authorities that the application added. Clones of a source share its bytes.
#[derive(Clone)]
pub(crate) enum Source {
    File(PathBuf),
    Directory(PathBuf),
    Data(Arc<Vec<u8>>),
}

/// The sources to load authorities from: the application's, the system's store and the built-in authorities.
#[derive(Default)]
pub(crate) struct TrustConfig<'a> {
    pub(crate) custom: &'a [Source],
    pub(crate) system: bool,
    pub(crate) embedded: bool,
    /// True to keep each certificate from which an anchor is made, in addition to the anchor.
    pub(crate) keeps_certificates: bool,
}

/// The result of loading one source.
#[derive(Debug)]
pub struct Loaded {
    kind: i32,
    name: CString,
    anchors: usize,
    skipped: Vec<CString>,
}

impl Loaded {
    /// Returns `SYSTEM`, `EMBEDDED` or `CUSTOM`.
    pub fn kind(&self) -> i32 {
        self.kind
    }

    /// Returns the path of the source, or a fixed name for a source without a path.
    pub fn name(&self) -> &CStr {
        &self.name
    }

    pub fn anchors(&self) -> usize {
        self.anchors
    }

    /// Returns descriptions of the first certificates and files that were skipped, with the reasons. If more than 100
    /// were skipped, the last text states how many are not described.
    pub fn skipped(&self) -> &[CString] {
        &self.skipped
    }
}

/// The trusted authorities and their sources.
pub(crate) struct Trust {
    pub(crate) anchors: Anchors,
    /// The certificates that the application added, in DER, sorted.
    pub(crate) custom: Vec<CertificateDer<'static>>,
    /// One certificate in DER for each anchor, in the order of the anchors; `None` for a built-in authority. Empty if the
    /// certificates are not kept.
    pub(crate) kept: Vec<Option<Vec<u8>>>,
    pub(crate) sources: i32,
    pub(crate) loaded: Vec<Loaded>,
}

/// Loads the authorities. The system's store is loaded only if `config.system` is set; the built-in authorities replace
/// an empty store.
pub(crate) fn load(config: &TrustConfig<'_>, environment: &Environment) -> Result<Trust> {
    load_with(config, || system::read(environment))
}

fn load_with(
    config: &TrustConfig<'_>,
    system: impl FnOnce() -> Result<Vec<(OsString, LoadedAnchors)>>,
) -> Result<Trust> {
    let mut trust =
        Trust { anchors: Anchors::default(), custom: Vec::new(), kept: Vec::new(), sources: 0, loaded: Vec::new() };
    let mut all = Collection::default();
    let mut certificates = Vec::new();
    let mut keep = |loaded: &LoadedAnchors| -> Result<()> {
        if config.keeps_certificates {
            memory::grow(&mut certificates, loaded.certificates.len(), "certificates")?;
            certificates.extend_from_slice(&loaded.certificates);
        }
        Ok(())
    };
    for source in config.custom {
        let (setting, loaded) = match source {
            Source::File(path) => (ApiName::AddCaFile, of_file(path)),
            Source::Directory(path) => (ApiName::AddCaDir, of_directory(path)),
            Source::Data(bytes) => (ApiName::AddCaData, of_bytes(bytes, "CA data")),
        };
        let loaded = loaded.map_err(|error| error.with_setting(setting))?;
        keep(&loaded)?;
        trust.add_custom(source, loaded, &mut all)?;
    }
    if config.system {
        for (name, loaded) in system()? {
            keep(&loaded)?;
            trust.add(SYSTEM, name.as_bytes(), loaded, &mut all)?;
        }
    }
    if config.embedded || (config.system && trust.sources & SYSTEM == 0) {
        let mut loaded = LoadedAnchors::default();
        webpki_roots::TLS_SERVER_ROOTS.iter().for_each(|anchor| loaded.add_built_in(anchor.clone()));
        trust.add(EMBEDDED, b"embedded", loaded, &mut all)?;
    }
    trust.anchors = all.into_anchors();
    if config.keeps_certificates {
        trust.kept = kept_certificates::of(&trust.anchors, &certificates)?;
    }
    trust.custom.sort_unstable_by(|a, b| a.as_ref().cmp(b.as_ref()));
    trust.custom.dedup();
    Ok(trust)
}

fn of_file(path: &Path) -> Result<LoadedAnchors> {
    of_bytes(&pem::read_file(path, "CA file")?, &format!("CA file {}", path.display()))
}

/// Loads the authorities in a file or byte string that the application added; fails if there is no usable authority.
fn of_bytes(bytes: &[u8], what: &str) -> Result<LoadedAnchors> {
    let mut loaded = LoadedAnchors::default();
    loaded.add_bytes(bytes, what, "")?;
    loaded.or_error(what)
}

fn of_directory(path: &Path) -> Result<LoadedAnchors> {
    let what = format!("CA directory {}", path.display());
    let mut loaded = LoadedAnchors::default();
    directory::read(path, &what, &mut loaded)?;
    loaded.or_error(&what)
}

impl Trust {
    fn add_custom(&mut self, source: &Source, mut loaded: LoadedAnchors, all: &mut Collection) -> Result<()> {
        memory::grow(&mut self.custom, loaded.certificates.len(), "certificates")?;
        self.custom.append(&mut loaded.certificates);
        let name = match source {
            Source::File(path) | Source::Directory(path) => path.as_os_str().as_bytes(),
            Source::Data(_) => b"CA data",
        };
        self.add(CUSTOM, name, loaded, all)
    }

    /// Adds the authorities of one source to `all`, which drops those that an earlier source contained.
    fn add(&mut self, kind: i32, name: &[u8], loaded: LoadedAnchors, all: &mut Collection) -> Result<()> {
        let (anchors, skipped) = loaded.into_parts();
        let count = anchors.anchors().len();
        if count > 0 {
            self.sources |= kind;
        }
        let loaded = Loaded { kind, name: memory::copy_c_string(name, "a name")?, anchors: count, skipped };
        all.append(anchors);
        memory::push(&mut self.loaded, loaded, "sources of trust")
    }
}

#[cfg(test)]
mod tests;
