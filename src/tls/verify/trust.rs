//! Which authorities are trusted: an explicit set, put together when a context is made, that can say what it is made of.

mod directory;
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
use loaded_anchors::Harvest;
pub(crate) use system::Environment;

/// Bits of `netlib_tls_context_trust_kinds`.
pub const SYSTEM: i32 = 1;
pub const EMBEDDED: i32 = 2;
pub const CUSTOM: i32 = 4;

/// Where a caller's own authorities are read from. Copies share the bytes.
#[derive(Clone)]
pub(crate) enum Source {
    File(PathBuf),
    Directory(PathBuf),
    Data(Arc<Vec<u8>>),
}

/// What is to be in the set.
#[derive(Default)]
pub(crate) struct Asked<'a> {
    pub(crate) custom: &'a [Source],
    pub(crate) system: bool,
    pub(crate) embedded: bool,
}

/// What a source gave.
#[derive(Debug)]
pub struct Loaded {
    kind: i32,
    name: CString,
    anchors: usize,
    skipped: Vec<CString>,
}

impl Loaded {
    /// `SYSTEM`, `EMBEDDED` or `CUSTOM`.
    pub fn kind(&self) -> i32 {
        self.kind
    }

    /// A path, or what there is instead of one.
    pub fn name(&self) -> &CStr {
        &self.name
    }

    pub fn anchors(&self) -> usize {
        self.anchors
    }

    /// What of it is not trusted, and why.
    pub fn skipped(&self) -> &[CString] {
        &self.skipped
    }
}

/// The set, and where it came from.
pub(crate) struct Trust {
    pub(crate) anchors: Anchors,
    /// The caller's own certificates, whole and sorted.
    pub(crate) custom: Vec<CertificateDer<'static>>,
    pub(crate) sources: i32,
    pub(crate) loaded: Vec<Loaded>,
}

/// The caller's own authorities replace the system's unless both are asked for.
pub(crate) fn load(asked: &Asked<'_>, environment: &Environment) -> Result<Trust> {
    load_with(asked, || system::read(environment))
}

fn load_with(asked: &Asked<'_>, system: impl FnOnce() -> Result<Vec<(OsString, Harvest)>>) -> Result<Trust> {
    let mut trust = Trust { anchors: Anchors::default(), custom: Vec::new(), sources: 0, loaded: Vec::new() };
    let mut all = Collection::default();
    for source in asked.custom {
        let (setting, harvest) = match source {
            Source::File(path) => (ApiName::AddCaFile, of_file(path)),
            Source::Directory(path) => (ApiName::AddCaDir, of_directory(path)),
            Source::Data(bytes) => (ApiName::AddCaData, of_bytes(bytes, "CA data")),
        };
        trust.add_custom(source, harvest.map_err(|error| error.about(setting))?, &mut all)?;
    }
    if asked.system {
        for (name, harvest) in system()? {
            trust.add(SYSTEM, name.as_bytes(), harvest, &mut all)?;
        }
    }
    if asked.embedded || (asked.system && trust.sources & SYSTEM == 0) {
        let mut harvest = Harvest::default();
        webpki_roots::TLS_SERVER_ROOTS.iter().for_each(|anchor| harvest.add_built_in(anchor.clone()));
        trust.add(EMBEDDED, b"embedded", harvest, &mut all)?;
    }
    trust.anchors = all.into_anchors();
    trust.custom.sort_unstable_by(|a, b| a.as_ref().cmp(b.as_ref()));
    trust.custom.dedup();
    Ok(trust)
}

fn of_file(path: &Path) -> Result<Harvest> {
    of_bytes(&pem::read_file(path, "CA file")?, &format!("CA file {}", path.display()))
}

/// What the caller names, the caller wants: nothing of it is an error.
fn of_bytes(bytes: &[u8], what: &str) -> Result<Harvest> {
    let mut harvest = Harvest::default();
    harvest.add_bytes(bytes, what, "")?;
    harvest.some(what)
}

fn of_directory(path: &Path) -> Result<Harvest> {
    let what = format!("CA directory {}", path.display());
    let mut harvest = Harvest::default();
    directory::read(path, &what, &mut harvest)?;
    harvest.some(&what)
}

impl Trust {
    fn add_custom(&mut self, source: &Source, mut harvest: Harvest, all: &mut Collection) -> Result<()> {
        memory::grow(&mut self.custom, harvest.certificates.len(), "certificates")?;
        self.custom.append(&mut harvest.certificates);
        let name = match source {
            Source::File(path) | Source::Directory(path) => path.as_os_str().as_bytes(),
            Source::Data(_) => b"CA data",
        };
        self.add(CUSTOM, name, harvest, all)
    }

    /// An authority that an earlier source gave is not trusted twice.
    fn add(&mut self, kind: i32, name: &[u8], harvest: Harvest, all: &mut Collection) -> Result<()> {
        let (anchors, skipped) = harvest.into_parts();
        let count = anchors.anchors().len();
        if count > 0 {
            self.sources |= kind;
        }
        let loaded = Loaded { kind, name: memory::copy_c(name, "a name")?, anchors: count, skipped };
        all.append(anchors);
        memory::push(&mut self.loaded, loaded, "sources of trust")
    }
}

#[cfg(test)]
mod tests;
