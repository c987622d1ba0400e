//! Parses one X.509 certificate.

use std::ops::Range;

use super::der::{Der, Malformed, tag};
use super::extensions::Extensions;
use super::general_name::GeneralName;
use super::name::Name;
use super::public_key::{PublicKey, SignatureAlgorithm};
use super::time;

/// The fields of an X.509 certificate (RFC 5280), borrowed from its DER.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Certificate<'a> {
    /// The X.509 version: 1 to 3 in valid certificates.
    pub(crate) version: i32,
    /// The serial number as a two's complement number of at least one byte, most significant byte first.
    pub(crate) serial: &'a [u8],
    pub(crate) signature_algorithm: SignatureAlgorithm<'a>,
    pub(crate) issuer: Name<'a>,
    /// The first and the last second of validity, in seconds since 1970.
    pub(crate) not_before: i64,
    pub(crate) not_after: i64,
    pub(crate) subject: Name<'a>,
    pub(crate) public_key: PublicKey<'a>,
    /// The DER of SubjectPublicKeyInfo with tag and length. A key pin is a digest of these bytes, and two certificates
    /// for one key have equal bytes.
    pub(crate) public_key_info: &'a [u8],
    pub(crate) extensions: Extensions<'a>,
}

impl<'a> Certificate<'a> {
    /// Parses only the fields of a certificate up to its validity. Returns the validity in seconds since 1970; the
    /// range does not include notAfter itself.
    pub(crate) fn validity_of(der: &[u8]) -> Result<Range<u64>, Malformed> {
        let mut outer = Der::new(der).read(tag::SEQUENCE, "the certificate")?.inside();
        let mut fields = outer.read(tag::SEQUENCE, "the signed part")?.inside();
        fields.take(tag::explicit(0));
        fields.read(tag::INTEGER, "the serial number")?;
        fields.read(tag::SEQUENCE, "the signature algorithm")?;
        fields.read(tag::SEQUENCE, "the issuer")?;
        let (not_before, not_after) = validity(&mut fields)?;
        let seconds = |time: i64| u64::try_from(time).unwrap_or(0);
        Ok(seconds(not_before)..seconds(not_after))
    }

    /// Parses one certificate; bytes after the certificate are an error.
    pub(crate) fn parse(der: &'a [u8]) -> Result<Certificate<'a>, Malformed> {
        let mut all = Der::new(der);
        let mut outer = all.read(tag::SEQUENCE, "the certificate")?.inside();
        all.end("the end of the certificate")?;
        let mut fields = outer.read(tag::SEQUENCE, "the signed part")?.inside();
        let signature_algorithm = SignatureAlgorithm::read(&mut outer, "the signature algorithm")?;
        outer.read(tag::BIT_STRING, "the signature")?;
        outer.end("the end of the certificate")?;

        let version = match fields.take(tag::explicit(0)) {
            None => 1,
            Some(version) => match version.inside().read(tag::INTEGER, "the version")?.magnitude() {
                [] => 1,
                [version] => i32::from(*version) + 1,
                _ => return Err(version.malformed("the version")),
            },
        };
        let serial = fields.read(tag::INTEGER, "the serial number")?;
        if serial.content.is_empty() {
            return Err(serial.malformed("the serial number"));
        }
        fields.read(tag::SEQUENCE, "the signature algorithm")?;
        let issuer = Name::read(&mut fields, "the issuer")?;
        let (not_before, not_after) = validity(&mut fields)?;
        let subject = Name::read(&mut fields, "the subject")?;
        let info = fields.read(tag::SEQUENCE, "the public key")?;
        let public_key = PublicKey::read(&info)?;
        // Skips the unique identifiers of X.509 version 2, which nobody uses.
        fields.take(tag::implicit(1));
        fields.take(tag::implicit(2));
        let extensions = match fields.take(tag::explicit(3)) {
            Some(field) => Extensions::read(&field)?,
            None => Extensions::default(),
        };
        fields.end("the end of the signed part")?;
        Ok(Certificate {
            version,
            serial: serial.content,
            signature_algorithm,
            issuer,
            not_before,
            not_after,
            subject,
            public_key,
            public_key_info: info.whole,
            extensions,
        })
    }

    /// Returns true if subject and issuer are equal. A self-issued certificate may still be signed with another key.
    pub(crate) fn is_self_issued(&self) -> bool {
        self.subject == self.issuer
    }

    /// Returns true if basicConstraints has CA:TRUE, or if the certificate is self-issued, of X.509 version 1 or 2 and
    /// without basicConstraints, like the oldest root certificates.
    pub(crate) fn is_ca(&self) -> bool {
        match self.extensions.basic_constraints {
            Some(constraints) => constraints.ca,
            None => self.version < 3 && self.is_self_issued(),
        }
    }

    /// Returns the names in the subjectAltName extension, if any.
    pub(crate) fn names(&self) -> impl Iterator<Item = GeneralName<'a>> + use<'a> {
        self.extensions.subject_alt_name.into_iter().flatten()
    }

    /// Returns the serial number as `openssl x509 -serial` prints it: "9F885F…", "-01", "00".
    pub(crate) fn serial_text(&self) -> String {
        let negative = self.serial.first().is_some_and(|first| *first >= 0x80);
        let mut magnitude = self.serial.to_vec();
        if negative {
            // Negates a two's complement number: inverts all bits and adds one.
            let mut carry = true;
            for byte in magnitude.iter_mut().rev() {
                let (sum, more) = (!*byte).overflowing_add(u8::from(carry));
                (*byte, carry) = (sum, more);
            }
        }
        let zeros = magnitude.iter().take_while(|byte| **byte == 0).count().min(magnitude.len() - 1);
        let digits: String = magnitude.iter().skip(zeros).map(|byte| format!("{byte:02X}")).collect();
        if negative { format!("-{digits}") } else { digits }
    }
}

fn validity(fields: &mut Der<'_>) -> Result<(i64, i64), Malformed> {
    const WHAT: &str = "the validity";
    let mut times = fields.read(tag::SEQUENCE, WHAT)?.inside();
    let mut read = || {
        let time = times.next().ok_or_else(|| times.malformed(WHAT))?;
        time::parse(&time).ok_or_else(|| time.malformed(WHAT))
    };
    Ok((read()?, read()?))
}
