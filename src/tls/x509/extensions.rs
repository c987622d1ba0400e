//! Parses the extensions that restrict the use of a certificate.

use super::der::{Der, Element, Malformed, tag};
use super::general_name::GeneralNames;
use super::oid;

/// The extensions of a certificate. If an extension occurs twice, the first one is kept. A malformed extension is an
/// error for the whole certificate, because ignoring the extension would drop its restriction. Only a malformed
/// authorityInfoAccess is ignored.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Extensions<'a> {
    pub(crate) basic_constraints: Option<BasicConstraints>,
    pub(crate) key_usage: Option<KeyUsage>,
    pub(crate) extended_key_usage: Option<ExtendedKeyUsage>,
    pub(crate) subject_alt_name: Option<GeneralNames<'a>>,
    pub(crate) is_subject_alt_name_critical: bool,
    pub(crate) subject_key_id: Option<&'a [u8]>,
    pub(crate) authority_key_id: Option<&'a [u8]>,
    /// True if authorityInfoAccess contains the location of the issuer's certificate (caIssuers).
    pub(crate) has_ca_issuers: bool,
    all: Option<Der<'a>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BasicConstraints {
    pub(crate) critical: bool,
    pub(crate) ca: bool,
    /// The largest allowed number of intermediates between this certificate and a leaf; `None` for no limit.
    pub(crate) path_len: Option<u32>,
}

/// The bits of the keyUsage extension (RFC 5280 section 4.2.1.3); digitalSignature is the most significant bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KeyUsage(u16);

impl KeyUsage {
    pub(crate) fn digital_signature(self) -> bool {
        self.0 & 0x8000 != 0
    }

    pub(crate) fn key_cert_sign(self) -> bool {
        self.0 & 0x0400 != 0
    }

    pub(crate) fn crl_sign(self) -> bool {
        self.0 & 0x0200 != 0
    }
}

/// The purposes in the extKeyUsage extension; `others` is true if the extension contains further purposes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ExtendedKeyUsage {
    pub(crate) any: bool,
    pub(crate) server_auth: bool,
    pub(crate) client_auth: bool,
    pub(crate) others: bool,
}

impl<'a> Extensions<'a> {
    /// `field`: the field `extensions` of TBSCertificate, with its explicit tag `[3]`.
    pub(super) fn read(field: &Element<'a>) -> Result<Extensions<'a>, Malformed> {
        const WHAT: &str = "the extensions";
        let mut outer = field.inside();
        let mut list = outer.read(tag::SEQUENCE, WHAT)?.inside();
        outer.end(WHAT)?;
        let mut extensions = Extensions { all: Some(list), ..Extensions::default() };
        while !list.is_empty() {
            let mut extension = list.read(tag::SEQUENCE, WHAT)?.inside();
            let kind = extension.read(tag::OID, WHAT)?;
            let critical = extension.take(tag::BOOLEAN).is_some_and(|critical| critical.is_true());
            let value = extension.read(tag::OCTET_STRING, WHAT)?.inside();
            extensions.add(kind.content, critical, value)?;
        }
        Ok(extensions)
    }

    /// Returns the object identifiers of the critical extensions.
    pub(crate) fn critical(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let mut all = self.all.unwrap_or_else(|| Der::new(&[]));
        let each = std::iter::from_fn(move || all.take(tag::SEQUENCE));
        each.filter_map(|extension| {
            let mut fields = extension.inside();
            let kind = fields.take(tag::OID)?;
            fields.take(tag::BOOLEAN).filter(|critical| critical.is_true()).map(|_| kind.content)
        })
    }

    fn add(&mut self, kind: &[u8], critical: bool, mut value: Der<'a>) -> Result<(), Malformed> {
        match kind {
            oid::BASIC_CONSTRAINTS if self.basic_constraints.is_none() => {
                let what = "basicConstraints";
                let mut fields = value.read(tag::SEQUENCE, what)?.inside();
                let ca = fields.take(tag::BOOLEAN).is_some_and(|ca| ca.is_true());
                let path_len = fields.take(tag::INTEGER).map(|len| {
                    // A negative pathLenConstraint violates RFC 5280 and counts as 0, the strictest limit.
                    let is_negative = len.content.first().is_some_and(|first| *first >= 0x80);
                    let len = if is_negative { &[] } else { len.magnitude() };
                    let small = len.len() <= 4;
                    if small { len.iter().fold(0, |len, byte| len << 8 | u32::from(*byte)) } else { u32::MAX }
                });
                fields.end(what)?;
                self.basic_constraints = Some(BasicConstraints { critical, ca, path_len });
            }
            oid::KEY_USAGE if self.key_usage.is_none() => {
                let bits = value.read(tag::BIT_STRING, "keyUsage")?;
                let bits = bits.bits().ok_or_else(|| bits.malformed("keyUsage"))?.bytes();
                let byte = |at: usize| u16::from(bits.get(at).copied().unwrap_or(0));
                self.key_usage = Some(KeyUsage(byte(0) << 8 | byte(1)));
            }
            oid::EXTENDED_KEY_USAGE if self.extended_key_usage.is_none() => {
                let what = "extendedKeyUsage";
                let mut list = value.read(tag::SEQUENCE, what)?.inside();
                let mut usage = ExtendedKeyUsage::default();
                while !list.is_empty() {
                    match list.read(tag::OID, what)?.content {
                        oid::ANY_PURPOSE => usage.any = true,
                        oid::SERVER_AUTH => usage.server_auth = true,
                        oid::CLIENT_AUTH => usage.client_auth = true,
                        _ => usage.others = true,
                    }
                }
                self.extended_key_usage = Some(usage);
            }
            oid::SUBJECT_ALT_NAME if self.subject_alt_name.is_none() => {
                let what = "subjectAltName";
                let names = value.read(tag::SEQUENCE, what)?.inside();
                let mut each = names;
                while !each.is_empty() {
                    each.next().ok_or_else(|| each.malformed(what))?;
                }
                self.subject_alt_name = Some(GeneralNames(names));
                self.is_subject_alt_name_critical = critical;
            }
            oid::SUBJECT_KEY_ID if self.subject_key_id.is_none() => {
                self.subject_key_id = Some(value.read(tag::OCTET_STRING, "subjectKeyIdentifier")?.content);
            }
            oid::AUTHORITY_KEY_ID if self.authority_key_id.is_none() => {
                let mut fields = value.read(tag::SEQUENCE, "authorityKeyIdentifier")?.inside();
                self.authority_key_id = fields.take(tag::implicit(0)).map(|id| id.content);
            }
            // A malformed authorityInfoAccess is ignored, because this extension restricts nothing.
            oid::AUTHORITY_INFO_ACCESS => {
                let mut list = value.take(tag::SEQUENCE).map_or(Der::new(&[]), |list| list.inside());
                while let Some(mut description) = list.take(tag::SEQUENCE).map(|description| description.inside()) {
                    let method = description.take(tag::OID);
                    self.has_ca_issuers |= method.is_some_and(|method| method.content == oid::CA_ISSUERS);
                }
            }
            _ => {}
        }
        Ok(())
    }
}
