//! Loads the operating system's certificate store.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::directory;
use super::loaded_anchors::LoadedAnchors;
use crate::error::{Error, Result};
use crate::socket::sys;
use crate::status::Status;
use crate::tls::credentials::pem;

/// The environment variables SSL_CERT_FILE and SSL_CERT_DIR, with the meaning that OpenSSL gives them.
#[derive(Default)]
pub(crate) struct Environment {
    pub(crate) file: Option<PathBuf>,
    pub(crate) directories: Vec<PathBuf>,
}

impl Environment {
    pub(crate) fn read() -> Environment {
        let file = sys::environment_variable(c"SSL_CERT_FILE").filter(|path| !path.is_empty());
        let directories = sys::environment_variable(c"SSL_CERT_DIR").unwrap_or_default();
        Environment {
            file: file.map(PathBuf::from),
            directories: directories
                .as_bytes()
                .split(|byte| *byte == b':')
                .filter(|path| !path.is_empty())
                .map(|path| PathBuf::from(OsStr::from_bytes(path)))
                .collect(),
        }
    }
}

/// Returns each path of the system's store with the authorities loaded from it. Unusable certificates are skipped.
pub(crate) fn read(environment: &Environment) -> Result<Vec<(OsString, LoadedAnchors)>> {
    if environment.file.is_none() && environment.directories.is_empty() {
        return Ok(from_platform().into_iter().collect());
    }
    let file = environment.file.iter().map(|path| of_file(path));
    let directories = environment.directories.iter().map(|path| of_directory(path));
    let sources: Vec<(OsString, LoadedAnchors)> = file.chain(directories).collect();
    if sources.iter().all(|(_, loaded)| loaded.is_empty()) {
        // There is no fallback to other paths: a fallback would trust authorities that the user who set the variables
        // did not choose.
        let paths: Vec<_> = sources.iter().map(|(path, _)| path.to_string_lossy()).collect();
        return Err(Error::new(
            Status::NoTrustAnchors,
            format!("SSL_CERT_FILE or SSL_CERT_DIR is set, but no certificate was found in {}", paths.join(", ")),
        ));
    }
    Ok(sources)
}

fn of_file(path: &Path) -> (OsString, LoadedAnchors) {
    let mut loaded = LoadedAnchors::default();
    match pem::read_file(path, "file") {
        Ok(bytes) => loaded.add_store(&bytes),
        Err(error) => loaded.skip(error.message()),
    }
    (path.as_os_str().to_owned(), loaded)
}

fn of_directory(path: &Path) -> (OsString, LoadedAnchors) {
    let mut loaded = LoadedAnchors::default();
    if let Err(error) = directory::read(path, "directory", &mut loaded) {
        loaded.skip(error.message());
    }
    (path.as_os_str().to_owned(), loaded)
}

/// The paths of CA bundles in common operating system distributions.
#[cfg(not(target_os = "macos"))]
const BUNDLES: &[&str] = &[
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/pki/tls/cacert.pem",
    "/etc/ssl/cert.pem",
    "/opt/etc/ssl/certs/ca-certificates.crt",
    "/usr/local/etc/ssl/cert.pem",
    "/usr/local/share/certs/ca-root-nss.crt",
    "/etc/openssl/certs/ca-certificates.crt",
];

/// Directories with one file per authority, for systems without a bundle.
#[cfg(not(target_os = "macos"))]
const DIRECTORIES: &[&str] =
    &["/etc/ssl/certs", "/etc/pki/tls/certs", "/usr/local/share/certs", "/etc/openssl/certs", "/etc/certs/CA"];

/// Returns the first path that contains certificates. The crate rustls-native-certs is not used here, because that
/// crate reads the environment.
#[cfg(not(target_os = "macos"))]
fn from_platform() -> Option<(OsString, LoadedAnchors)> {
    let exists = |path: &&Path| path.exists();
    let bundles = BUNDLES.iter().map(Path::new).filter(exists).map(of_file);
    let directories = DIRECTORIES.iter().map(Path::new).filter(exists).map(of_directory);
    bundles.chain(directories).find(|(_, loaded)| !loaded.is_empty())
}

#[cfg(target_os = "macos")]
fn from_platform() -> Option<(OsString, LoadedAnchors)> {
    let mut loaded = LoadedAnchors::default();
    for certificate in rustls_native_certs::load_native_certs().certs {
        loaded.add_store(&certificate);
    }
    Some(("system".into(), loaded)).filter(|(_, loaded)| !loaded.is_empty())
}
