//! The authorities loaded from one source, and the reasons for those that were skipped.

use std::ffi::CString;

use rustls_pki_types::{CertificateDer, TrustAnchor};

use crate::error::{Error, Result};
use crate::memory;
use crate::status::Status;
use crate::tls::credentials::pem;
use crate::tls::error_text;
use crate::tls::verify::anchors::{Collection, Unusable};
use crate::tls::x509::{Certificate, name::escaped};

/// The maximum number of skipped certificates that are described, because a large file may contain millions of unusable
/// certificates.
const MAX_REPORTED: usize = 100;

#[derive(Default)]
pub(crate) struct LoadedAnchors {
    /// The certificates from which `anchors` were made.
    pub(crate) certificates: Vec<CertificateDer<'static>>,
    anchors: Collection,
    skipped: Vec<String>,
    unlisted_count: usize,
}

impl LoadedAnchors {
    pub(crate) fn add_built_in(&mut self, anchor: TrustAnchor<'static>) {
        self.anchors.add_built_in(anchor);
    }

    pub(crate) fn skip(&mut self, why: &str) {
        if self.skipped.len() < MAX_REPORTED {
            self.skipped.push(escaped(why.as_bytes()));
        } else {
            self.unlisted_count += 1;
        }
    }

    /// Adds the usable certificates in PEM text or DER. Error messages call the input `what`; the description of each
    /// skipped certificate begins with `prefix`.
    pub(crate) fn add_bytes(&mut self, bytes: &[u8], what: &str, prefix: &str) -> Result<()> {
        let conditional = memchr::memmem::find_iter(bytes, b"-----BEGIN TRUSTED CERTIFICATE-----").count();
        let certificates = match pem::certificates(bytes, what) {
            Err(_) if conditional > 0 && !holds_plain(bytes) => {
                let message =
                    format!("{what} contains only certificates in OpenSSL's TRUSTED CERTIFICATE form: {CONDITIONAL}");
                return Err(Error::new(Status::InvalidPem, message));
            }
            certificates => certificates?,
        };
        self.add_all(certificates, prefix)?;
        if conditional > 0 {
            self.skip(&format!(
                "{prefix}certificates in OpenSSL's TRUSTED CERTIFICATE form ({conditional}): {CONDITIONAL}"
            ));
        }
        Ok(())
    }

    /// Adds certificates of the system's store. Unlike [`LoadedAnchors::add_bytes`], this function skips malformed
    /// input instead of failing.
    pub(crate) fn add_store(&mut self, bytes: &[u8]) {
        let mut added = self.add_bytes(bytes, "the store", "");
        if added.is_err() && pem::is_pem(bytes) {
            let (certificates, broken): (Vec<_>, Vec<_>) =
                pem::objects(bytes, b"CERTIFICATE").partition(std::result::Result::is_ok);
            broken.into_iter().filter_map(std::result::Result::err).for_each(|error: String| self.skip(&error));
            added = self.add_all(certificates.into_iter().flatten().collect(), "");
        }
        if let Err(error) = added {
            self.skip(error.message());
        }
    }

    fn add_all(&mut self, certificates: Vec<CertificateDer<'static>>, prefix: &str) -> Result<()> {
        for (index, certificate) in certificates.into_iter().enumerate() {
            match self.anchors.add(&certificate) {
                Ok(()) => memory::push(&mut self.certificates, certificate, "certificates")?,
                Err(error) => self.skip(&format!("{prefix}certificate {index} {}", unusable(&certificate, &error))),
            }
        }
        Ok(())
    }

    /// Returns the loaded authorities; fails if there are none.
    pub(crate) fn or_error(self, what: &str) -> Result<LoadedAnchors> {
        if !self.is_empty() {
            return Ok(self);
        }
        let why = match self.skipped.as_slice() {
            [] => String::new(),
            [one] => format!(": {one}"),
            [first, ..] => format!(": {first}; and {} more", self.skipped.len() + self.unlisted_count - 1),
        };
        Err(Error::new(Status::InvalidPem, format!("{what} contains no usable certificate{why}")))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.anchors.anchors().is_empty()
    }

    pub(crate) fn into_parts(mut self) -> (Collection, Vec<CString>) {
        if self.unlisted_count > 0 {
            self.skipped.push(format!("{} more", self.unlisted_count));
        }
        // The descriptions are escaped, so they contain no NUL byte.
        let skipped = self.skipped.into_iter().map(|text| CString::new(text).unwrap_or_default()).collect();
        (self.anchors, skipped)
    }
}

const CONDITIONAL: &str =
    "trust settings are not supported; openssl x509 converts such a certificate to the plain form";

fn holds_plain(bytes: &[u8]) -> bool {
    memchr::memmem::find(bytes, b"-----BEGIN CERTIFICATE-----").is_some()
}

fn unusable(certificate: &CertificateDer<'_>, why: &Unusable) -> String {
    match (Certificate::parse(certificate), why) {
        (Ok(read), Unusable::Refused(error)) => {
            format!("({}) cannot be used: it {}", read.subject.for_message(), error_text::webpki(error))
        }
        (Ok(read), Unusable::Unreadable) => format!("({}) cannot be read", read.subject.for_message()),
        (Err(malformed), _) => format!("cannot be read: {} at its byte {}", malformed.what, malformed.at),
    }
}
