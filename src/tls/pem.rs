//! Certificates and keys as they are written down: PEM, or DER.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};

use super::x509;
use crate::error::{Error, Result};
use crate::status::Status;

/// The largest file that is read. The biggest bundle of authorities in use is about 1 MiB.
const MAX_FILE: u64 = 16 * 1024 * 1024;

/// `what` names the file's role in a message, as in "CA file".
pub(crate) fn read_file(path: &Path, what: &str) -> Result<Vec<u8>> {
    let failed = |error| Error::from_io(Status::Io, format!("cannot read {what} {}", path.display()), &error);
    let file = File::open(path).map_err(failed)?;
    let mut bytes = Vec::new();
    file.take(MAX_FILE + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(Error::new(Status::InvalidPem, format!("{what} {} is larger than 16 MiB", path.display())));
    }
    Ok(bytes)
}

/// All certificates in PEM text, where other sections are passed over, or in DER, one after the other.
/// `what` names the input in a message.
pub(crate) fn certificates(bytes: &[u8], what: &str) -> Result<Vec<CertificateDer<'static>>> {
    let bad = |why: &str| Error::new(Status::InvalidPem, format!("{what} {why}"));
    let certificates: Vec<CertificateDer<'static>> = if is_pem(bytes) {
        CertificateDer::pem_slice_iter(bytes)
            .collect::<std::result::Result<_, _>>()
            .map_err(|error| bad(&format!("is not valid PEM: {error}")))?
    } else {
        let elements = x509::split_sequences(bytes).ok_or_else(|| bad("holds neither PEM nor DER certificates"))?;
        elements.into_iter().map(|der| CertificateDer::from(der.to_vec())).collect()
    };
    if certificates.is_empty() {
        return Err(bad("holds no certificate"));
    }
    Ok(certificates)
}

/// The private key in PEM text, where other sections are passed over, or in DER: PKCS#8, PKCS#1 or SEC1.
pub(crate) fn private_key(bytes: &[u8], what: &str) -> Result<PrivateKeyDer<'static>> {
    let bad = |why: &str| Error::new(Status::InvalidPem, format!("{what} {why}"));
    if is_pem(bytes) {
        if contains(bytes, b"-----BEGIN ENCRYPTED PRIVATE KEY-----") || contains(bytes, b"Proc-Type: 4,ENCRYPTED") {
            let why = "holds an encrypted private key, which this release cannot open: decrypt it first";
            return Err(Error::new(Status::Unsupported, format!("{what} {why}")));
        }
        return PrivateKeyDer::from_pem_slice(bytes).map_err(|error| match error {
            rustls_pki_types::pem::Error::NoItemsFound => bad("holds no private key"),
            error => bad(&format!("is not valid PEM: {error}")),
        });
    }
    PrivateKeyDer::try_from(bytes.to_vec()).map_err(|_| bad("holds neither a PEM nor a DER private key"))
}

fn is_pem(bytes: &[u8]) -> bool {
    contains(bytes, b"-----BEGIN ")
}

fn contains(haystack: &[u8], needle: &[u8]) -> bool {
    haystack.windows(needle.len()).any(|window| window == needle)
}
