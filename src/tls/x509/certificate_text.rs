//! Implements `netlib_certificate`: a certificate as DER, and its fields as text.

use std::ffi::{CStr, CString};

use rustls_pki_types::CertificateDer;

use super::fingerprint::{self, key_pin};
use super::general_name::GeneralName;
use crate::error::{Error, Result};
use crate::memory;
use crate::status::Status;
use crate::tls::credentials::pem;
use crate::tls::x509::{self, time};

/// The largest accepted size of a certificate in bytes. The texts of a certificate's fields take a few times as much
/// memory as the certificate.
const MAX_CERTIFICATE: usize = 0xffff;

/// The kind of a name in subjectAltName.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameKind {
    Dns = 1,
    Ip = 2,
    Email = 3,
    Uri = 4,
}

/// An attribute of a distinguished name.
#[derive(Debug)]
pub struct NameAttribute {
    /// The object identifier of the attribute's type in dotted form.
    pub oid: CString,
    /// OpenSSL's short name of the attribute's type.
    pub short_name: Option<&'static CStr>,
    pub value: CString,
    /// The index of the relative distinguished name that contains the attribute.
    pub rdn: usize,
}

/// A parsed certificate with its fields as text. The text of a field contains no NUL, CR or LF.
#[derive(Debug)]
pub struct Certificate {
    der: Vec<u8>,
    version: i32,
    subject: CString,
    subject_attributes: Vec<NameAttribute>,
    issuer: CString,
    issuer_attributes: Vec<NameAttribute>,
    serial: CString,
    not_before: i64,
    not_after: i64,
    not_before_text: CString,
    not_after_text: CString,
    names: Vec<(NameKind, CString)>,
    public_key_algorithm: CString,
    public_key_curve: Option<&'static CStr>,
    public_key_bits: usize,
    signature_algorithm: CString,
    is_ca: bool,
    is_self_issued: bool,
    fingerprint: CString,
    public_key_pin: CString,
}

impl Certificate {
    /// Parses one certificate in DER, or the first certificate in PEM text.
    pub fn parse(bytes: &[u8]) -> Result<Certificate> {
        let bytes = pem::bounded(bytes, "data")?;
        let bad = |why: String| Error::new(Status::InvalidPem, why);
        if !pem::is_pem(bytes) {
            return Certificate::from_der(bytes, true);
        }
        match pem::objects::<CertificateDer<'_>>(bytes, b"CERTIFICATE").next() {
            Some(Ok(der)) => Certificate::from_der(&der, false),
            Some(Err(error)) => Err(bad(format!("data is not valid PEM: {error}"))),
            None => Err(bad("data is PEM without a certificate".to_owned())),
        }
    }

    /// `is_input`: true if `der` is the caller's input, so that errors may report offsets in `der`.
    fn from_der(der: &[u8], is_input: bool) -> Result<Certificate> {
        if der.len() > MAX_CERTIFICATE {
            let message = format!("a certificate has at most {MAX_CERTIFICATE} bytes; this has {}", der.len());
            return Err(Error::new(Status::InvalidPem, message));
        }
        let read = x509::Certificate::parse(der).map_err(|malformed| {
            let message = format!(
                "data is not a certificate: {} cannot be read at byte {} of the DER",
                malformed.what, malformed.at
            );
            let error = Error::new(Status::InvalidPem, message);
            if is_input { error.at(malformed.at) } else { error }
        })?;
        Ok(Certificate {
            version: read.version,
            subject: text(read.subject.text())?,
            subject_attributes: attributes(&read.subject)?,
            issuer: text(read.issuer.text())?,
            issuer_attributes: attributes(&read.issuer)?,
            serial: text(read.serial_text())?,
            not_before: read.not_before,
            not_after: read.not_after,
            not_before_text: text(time::utc(read.not_before))?,
            not_after_text: text(time::utc(read.not_after))?,
            names: read.names().map(|name| Ok((kind(&name), text(name.text())?))).collect::<Result<_>>()?,
            public_key_algorithm: text(read.public_key.algorithm())?,
            public_key_curve: read.public_key.curve().map(x509::public_key::Curve::name),
            public_key_bits: read.public_key.bits(),
            signature_algorithm: text(read.signature_algorithm.text())?,
            is_ca: read.is_ca(),
            is_self_issued: read.is_self_issued(),
            fingerprint: text(fingerprint::sha256(der))?,
            public_key_pin: text(key_pin(read.public_key_info))?,
            der: memory::copy(der, "a certificate")?,
        })
    }

    pub fn der(&self) -> &[u8] {
        &self.der
    }

    pub fn version(&self) -> i32 {
        self.version
    }

    pub fn subject(&self) -> &CStr {
        &self.subject
    }

    /// Returns the attributes of the subject (0) or the issuer (1) in the order of the certificate. For any other
    /// number, returns no attributes.
    pub fn attributes(&self, name: i32) -> &[NameAttribute] {
        match name {
            0 => &self.subject_attributes,
            1 => &self.issuer_attributes,
            _ => &[],
        }
    }

    pub fn issuer(&self) -> &CStr {
        &self.issuer
    }

    pub fn serial(&self) -> &CStr {
        &self.serial
    }

    /// Returns notBefore in seconds since 1970.
    pub fn not_before(&self) -> i64 {
        self.not_before
    }

    pub fn not_after(&self) -> i64 {
        self.not_after
    }

    pub fn not_before_text(&self) -> &CStr {
        &self.not_before_text
    }

    pub fn not_after_text(&self) -> &CStr {
        &self.not_after_text
    }

    pub fn names(&self) -> &[(NameKind, CString)] {
        &self.names
    }

    pub fn public_key_algorithm(&self) -> &CStr {
        &self.public_key_algorithm
    }

    pub fn public_key_curve(&self) -> Option<&'static CStr> {
        self.public_key_curve
    }

    pub fn public_key_bits(&self) -> usize {
        self.public_key_bits
    }

    pub fn signature_algorithm(&self) -> &CStr {
        &self.signature_algorithm
    }

    pub fn is_ca(&self) -> bool {
        self.is_ca
    }

    pub fn is_self_issued(&self) -> bool {
        self.is_self_issued
    }

    /// Returns the SHA-256 digest of the DER in lower-case hex digits.
    pub fn fingerprint(&self) -> &CStr {
        &self.fingerprint
    }

    /// Returns the digest of the public key in the syntax of `netlib_tls_options_add_pin`.
    pub fn public_key_pin(&self) -> &CStr {
        &self.public_key_pin
    }
}

fn text(text: String) -> Result<CString> {
    memory::copy_c_string(text.as_bytes(), "the text of a certificate")
}

fn attributes(name: &x509::Name<'_>) -> Result<Vec<NameAttribute>> {
    let mut attributes = Vec::new();
    for attribute in name.attributes() {
        let (oid, value) = (text(attribute.kind.to_string())?, text(attribute.value_text())?);
        let attribute = NameAttribute { oid, short_name: attribute.short_name(), value, rdn: attribute.rdn };
        memory::push(&mut attributes, attribute, "the attributes of a certificate")?;
    }
    Ok(attributes)
}

fn kind(name: &GeneralName<'_>) -> NameKind {
    match name {
        GeneralName::Dns(_) => NameKind::Dns,
        GeneralName::Ip(_) => NameKind::Ip,
        GeneralName::Email(_) => NameKind::Email,
        GeneralName::Uri(_) => NameKind::Uri,
    }
}
