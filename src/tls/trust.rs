//! Which authorities are trusted: an explicit set, put together when a context is made.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustls::RootCertStore;
use rustls_native_certs::load_certs_from_paths;
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;

use super::options::setter;
use super::pem;
use crate::error::{Error, Result};
use crate::socket::sys;
use crate::status::Status;

/// Bits of `netlib_tls_context_trust_sources`.
pub const SYSTEM: i32 = 1;
pub const EMBEDDED: i32 = 2;
pub const CUSTOM: i32 = 4;

/// Where a caller's own authorities are read from.
#[derive(Clone)]
pub(crate) enum Source {
    File(PathBuf),
    Data(Vec<u8>),
}

/// The set, and where it came from.
pub(crate) struct Trust {
    pub(crate) roots: RootCertStore,
    /// The caller's own, whole: a peer's certificate may be one of them.
    pub(crate) custom: Vec<CertificateDer<'static>>,
    pub(crate) sources: i32,
}

/// The two variables that say where the system's store is, as OpenSSL reads them.
#[derive(Default)]
pub(crate) struct Environment {
    file: Option<PathBuf>,
    directories: Vec<PathBuf>,
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

/// The caller's own authorities replace the system's unless both are asked for.
pub(crate) fn load(custom: &[Source], system: bool, environment: &Environment) -> Result<Trust> {
    let mut trust = Trust { roots: RootCertStore::empty(), custom: Vec::new(), sources: 0 };
    for source in custom {
        match source {
            Source::File(path) => pem::read_file(path, "CA file")
                .and_then(|bytes| trust.add_custom(&bytes, &format!("CA file {}", path.display())))
                .map_err(|error| error.prefixed(setter::CA_FILE))?,
            Source::Data(bytes) => {
                trust.add_custom(bytes, "CA data").map_err(|error| error.prefixed(setter::CA_DATA))?;
            }
        }
    }
    if system {
        trust.add_system(environment)?;
    }
    Ok(trust)
}

impl Trust {
    /// Every certificate must be usable: what the caller names, the caller wants.
    fn add_custom(&mut self, bytes: &[u8], what: &str) -> Result<()> {
        for (index, certificate) in pem::certificates(bytes, what)?.into_iter().enumerate() {
            self.roots.add(certificate.clone()).map_err(|error| {
                Error::new(Status::InvalidPem, format!("{what}: certificate {index} cannot be used: {error}"))
            })?;
            self.custom.push(certificate);
        }
        self.sources |= CUSTOM;
        Ok(())
    }

    /// A store of hundreds may hold a few that cannot be used; those are left out.
    fn add_system(&mut self, environment: &Environment) -> Result<()> {
        let named = environment.file.is_some() || !environment.directories.is_empty();
        let certificates = if named { from_environment(environment) } else { from_platform() };
        let (added, _unusable) = self.roots.add_parsable_certificates(certificates);
        if added > 0 {
            self.sources |= SYSTEM;
        } else if named {
            // Falling back here would trust authorities that whoever set the variables has not chosen.
            let mut paths: Vec<String> = environment.file.iter().map(|path| path.display().to_string()).collect();
            paths.extend(environment.directories.iter().map(|path| path.display().to_string()));
            return Err(Error::new(
                Status::NoTrustAnchors,
                format!("SSL_CERT_FILE or SSL_CERT_DIR is set, but no certificate was found in {}", paths.join(", ")),
            ));
        } else {
            self.roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
            self.sources |= EMBEDDED;
        }
        Ok(())
    }
}

type Certificates = Vec<CertificateDer<'static>>;

fn from_environment(environment: &Environment) -> Certificates {
    let read = |path: &PathBuf| pem::read_file(path, "SSL_CERT_FILE").ok();
    let file = environment.file.as_ref().and_then(read).unwrap_or_default();
    // As with any store, what cannot be used is left out.
    let mut certificates: Certificates = CertificateDer::pem_slice_iter(&file).flatten().collect();
    for directory in &environment.directories {
        certificates.extend(load_certs_from_paths(None, Some(directory)).certs);
    }
    certificates
}

/// Where distributions keep the bundle of all their authorities.
#[cfg(not(any(target_os = "macos", target_os = "windows")))]
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

/// Where there is no bundle: a file for each authority.
#[cfg(not(any(target_os = "macos", target_os = "windows")))]
const DIRECTORIES: &[&str] =
    &["/etc/ssl/certs", "/etc/pki/tls/certs", "/usr/local/share/certs", "/etc/openssl/certs", "/etc/certs/CA"];

/// The first place that has certificates. The paths are tried here, and not by rustls-native-certs, because that
/// reads the environment by itself.
#[cfg(not(any(target_os = "macos", target_os = "windows")))]
fn from_platform() -> Certificates {
    let exists = |path: &&Path| path.exists();
    let bundles = BUNDLES.iter().map(Path::new).filter(exists).map(|path| load_certs_from_paths(Some(path), None));
    let directories =
        DIRECTORIES.iter().map(Path::new).filter(exists).map(|path| load_certs_from_paths(None, Some(path)));
    bundles.chain(directories).map(|loaded| loaded.certs).find(|certs| !certs.is_empty()).unwrap_or_default()
}

#[cfg(any(target_os = "macos", target_os = "windows"))]
fn from_platform() -> Certificates {
    rustls_native_certs::load_native_certs().certs
}

#[cfg(test)]
mod tests {
    use super::*;

    const CA: &[u8] = include_bytes!("../../tests/certs/ca.pem");

    fn file(path: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/certs").join(path)
    }

    #[test]
    fn custom_trust_replaces_the_systems() {
        let custom = [Source::Data(CA.to_vec())];
        let environment = Environment { file: Some(file("other-ca.pem")), directories: vec![] };
        let alone = load(&custom, false, &environment).unwrap();
        assert_eq!((alone.sources, alone.roots.len()), (CUSTOM, 1));
        let both = load(&custom, true, &environment).unwrap();
        assert_eq!((both.sources, both.roots.len()), (CUSTOM | SYSTEM, 2));
        let system = load(&[], true, &environment).unwrap();
        assert_eq!((system.sources, system.roots.len()), (SYSTEM, 1));
        assert_eq!(load(&[], false, &environment).unwrap().sources, 0);
    }

    #[test]
    fn without_variables_there_are_roots_from_somewhere() {
        let trust = load(&[], true, &Environment::default()).unwrap();
        assert!(trust.sources == SYSTEM || trust.sources == EMBEDDED);
        assert!(trust.roots.len() > 50);
    }

    #[test]
    fn variables_that_lead_nowhere_are_an_error() {
        let environment = Environment { file: Some("/nonexistent.pem".into()), directories: vec![file("")] };
        // The directory holds certificates, so the missing file does no harm, as with OpenSSL.
        assert_eq!(load(&[], true, &environment).unwrap().sources, SYSTEM);
        let environment = Environment { file: Some("/nonexistent.pem".into()), directories: vec![] };
        let error = load(&[], true, &environment).err().unwrap();
        assert_eq!(error.status(), Status::NoTrustAnchors);
        assert!(error.message().contains("/nonexistent.pem"), "{error}");
    }

    #[test]
    fn a_file_without_certificates_is_an_error_that_names_it() {
        let missing = load(&[Source::File(file("nonexistent.pem"))], false, &Environment::default()).err().unwrap();
        assert_eq!((missing.status(), missing.errno()), (Status::Io, 2));
        for (path, status) in [("make.sh", Status::InvalidPem), ("server.key", Status::InvalidPem)] {
            let error = load(&[Source::File(file(path))], false, &Environment::default()).err().unwrap();
            assert_eq!(error.status(), status);
            assert!(error.message().contains(path), "{error}");
        }
        let truncated = load(&[Source::Data(CA[..100].to_vec())], false, &Environment::default()).err().unwrap();
        assert_eq!(truncated.status(), Status::InvalidPem);
    }
}
