//! Loads certificate revocation lists (CRLs), and defines the flags that select which certificates are looked up in the
//! CRLs.

use std::path::PathBuf;
use std::sync::Arc;

use rustls_pki_types::CertificateRevocationListDer;
use webpki::{CertRevocationList, Error as WebpkiError, OwnedCertRevocationList};

use crate::digest::{self, Digest};
use crate::error::{Advice, ApiName, Error, Result};
use crate::memory;
use crate::status::Status;
use crate::tls::credentials::pem;
use crate::tls::error_text;
use crate::tls::x509::{Der, der::tag, split_sequences, time};

/// The verification flags, with the numbers that OpenSSL and Python use.
pub mod flag {
    pub const CRL_CHECK_LEAF: i32 = 0x4;
    pub const CRL_CHECK_CHAIN: i32 = 0xc;
    pub const X509_STRICT: i32 = 0x20;
    pub const ALLOW_PROXY_CERTS: i32 = 0x40;
    pub const X509_TRUSTED_FIRST: i32 = 0x8000;
    pub const X509_PARTIAL_CHAIN: i32 = 0x8_0000;

    /// The flags that are always in effect, because webpki ends a path at the first trusted certificate, even if it is
    /// not a root.
    pub const ALWAYS: i32 = X509_TRUSTED_FIRST | X509_PARTIAL_CHAIN;
}

/// Fails if the flags contain unknown or unsupported bits.
pub(crate) fn checked_flags(flags: i32) -> Result<i32> {
    if flags & flag::ALLOW_PROXY_CERTS != 0 {
        let message = "proxy certificates (RFC 3820, NETLIB_VERIFY_FLAG_ALLOW_PROXY_CERTS) are not accepted";
        return Err(Error::new(Status::Unsupported, message));
    }
    let unknown = flags & !(flag::CRL_CHECK_CHAIN | flag::X509_STRICT | flag::ALWAYS);
    if unknown != 0 {
        let (before, after) = ("flags must be bits of ", format!("; it has {unknown:#x}"));
        return Err(Error::naming(Status::InvalidArgument, before, ApiName::VerifyFlag, &after));
    }
    if flags & flag::CRL_CHECK_CHAIN == flag::CRL_CHECK_CHAIN & !flag::CRL_CHECK_LEAF {
        let message = "flags has 0x8, which is valid only together with 0x4: see NETLIB_VERIFY_FLAG_CRL_CHECK_CHAIN";
        return Err(Error::new(Status::InvalidArgument, message));
    }
    Ok(flags)
}

/// Returns the verification flags in effect. Adding CRLs turns revocation checking on; revocation checking without a
/// CRL is an error.
pub(crate) fn effective_flags(requested: Option<i32>, has_lists: bool) -> Result<i32> {
    let requested = requested.unwrap_or(0) | flag::ALWAYS;
    match (requested & flag::CRL_CHECK_CHAIN != 0, has_lists) {
        (true, false) => Err(Error::new(Status::InvalidArgument, "revocation checks are on, but no CRL was added")
            .with_advice(Advice::new("to add one", ApiName::AddCrl))
            .with_setting(ApiName::SetVerifyFlags)),
        (false, true) => Ok(requested | flag::CRL_CHECK_CHAIN),
        _ => Ok(requested),
    }
}

/// A file or bytes to load CRLs from. Clones of a source share its bytes.
#[derive(Clone)]
pub(crate) enum Source {
    File(PathBuf),
    Data(Arc<Vec<u8>>),
}

pub(crate) struct Crl {
    pub(crate) list: CertRevocationList<'static>,
    this_update: i64,
    pub(crate) next_update: i64,
    pub(crate) digest: Digest,
    /// False if the CRL's issuer is a trusted authority whose certificate forbids signing CRLs.
    pub(crate) is_usable: bool,
    /// The index of the trusted authority that signed the CRL, if any.
    pub(crate) anchor: Option<usize>,
}

/// The trusted authority that signed a CRL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Signer {
    /// False if a trusted key signed the CRL and the key's certificate forbids signing CRLs.
    pub(crate) may_sign: bool,
    /// The index of the trust anchor whose key signed the CRL. `None` if no trusted key signed the CRL.
    pub(crate) anchor: Option<usize>,
}

/// A function that finds the signer of a CRL. Its arguments are the content of the CRL's issuer name and the whole CRL
/// in DER.
type FindSigner<'a> = &'a dyn Fn(&[u8], &[u8]) -> Signer;

/// Loads all CRLs and sorts them, newest first, because verification uses the first CRL of each issuer.
pub(crate) fn load(sources: &[Source], find_signer: FindSigner<'_>) -> Result<Vec<Crl>> {
    let mut crls = Vec::new();
    for source in sources {
        match source {
            Source::File(path) => pem::read_file(path, "CRL file")
                .and_then(|bytes| read(&bytes, &format!("CRL file {}", path.display()), find_signer, &mut crls))
                .map_err(|error| error.with_setting(ApiName::AddCrlFile))?,
            Source::Data(bytes) => {
                read(bytes, "CRL data", find_signer, &mut crls)
                    .map_err(|error| error.with_setting(ApiName::AddCrlData))?;
            }
        }
    }
    crls.sort_by_key(|crl| std::cmp::Reverse((crl.this_update, crl.next_update)));
    Ok(crls)
}

/// An upper bound of the memory that webpki allocates per byte of a CRL. The shortest entry of a CRL has 21 bytes and
/// needs a hash table entry and three allocations; webpki aborts if an allocation fails.
const MEMORY_PER_BYTE: usize = 16;

/// CRLs up to this size are parsed without checking first that memory is available.
const PROBE_THRESHOLD: usize = 64 * 1024;

/// Parses CRLs from PEM text or from concatenated DER. In PEM text, sections of other types are skipped.
fn read(bytes: &[u8], what: &str, find_signer: FindSigner<'_>, crls: &mut Vec<Crl>) -> Result<()> {
    let bad = |why: &str| Error::new(Status::InvalidPem, format!("{what} {why}"));
    if bytes.len() > PROBE_THRESHOLD {
        memory::check_available(bytes.len().saturating_mul(MEMORY_PER_BYTE), "CRLs")?;
    }
    let lists: Vec<CertificateRevocationListDer<'_>> = if pem::is_pem(bytes) {
        pem::objects(bytes, b"X509 CRL")
            .collect::<std::result::Result<_, _>>()
            .map_err(|error| bad(&format!("is not valid PEM: {error}")))?
    } else {
        let elements = split_sequences(bytes).ok_or_else(|| bad("contains neither PEM nor DER CRLs"))?;
        elements.into_iter().map(CertificateRevocationListDer::from).collect()
    };
    if lists.is_empty() {
        return Err(bad("contains no CRL (X509 CRL)"));
    }
    for (index, der) in lists.iter().enumerate() {
        let list = OwnedCertRevocationList::from_der(der).map_err(|error| {
            let status = if is_of_another_kind(&error) { Status::Unsupported } else { Status::InvalidPem };
            Error::new(status, format!("{what}: CRL {index} {}", error_text::webpki(&error)))
        })?;
        let (this_update, next_update) =
            updates(der).ok_or_else(|| bad("contains a CRL without its times (thisUpdate, nextUpdate)"))?;
        let list = CertRevocationList::from(list);
        let Signer { may_sign: is_usable, anchor } = find_signer(list.issuer(), der);
        crls.push(Crl { list, this_update, next_update, digest: digest::of(der), is_usable, anchor });
    }
    Ok(())
}

fn is_of_another_kind(error: &WebpkiError) -> bool {
    matches!(
        error,
        WebpkiError::UnsupportedCriticalExtension
            | WebpkiError::UnsupportedCrlIssuingDistributionPoint
            | WebpkiError::UnsupportedCrlVersion
            | WebpkiError::UnsupportedDeltaCrl
            | WebpkiError::UnsupportedIndirectCrl
            | WebpkiError::UnsupportedRevocationReason
            | WebpkiError::UnsupportedRevocationReasonsPartitioning
    )
}

/// Reads a CRL's thisUpdate and nextUpdate, which webpki does not return.
fn updates(list: &[u8]) -> Option<(i64, i64)> {
    let mut fields = Der::new(list).take(tag::SEQUENCE)?.inside().take(tag::SEQUENCE)?.inside();
    fields.take(tag::INTEGER); // the version
    fields.take(tag::SEQUENCE)?; // the signature algorithm
    fields.take(tag::SEQUENCE)?; // the issuer
    Some((time::parse(&fields.next()?)?, time::parse(&fields.next()?)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: &[u8] = include_bytes!("../../../tests/certs/verify/all.crl");
    const EXPIRED: &[u8] = include_bytes!("../../../tests/certs/verify/int-expired.crl");
    const DER: &[u8] = include_bytes!("../../../tests/certs/verify/int.crl.der");
    const CA: &[u8] = include_bytes!("../../../tests/certs/ca.pem");

    fn unsigned(_: &[u8], _: &[u8]) -> Signer {
        Signer { may_sign: true, anchor: None }
    }

    fn loaded(inputs: &[&[u8]]) -> Result<Vec<Crl>> {
        load(&inputs.iter().map(|bytes| Source::Data(Arc::new(bytes.to_vec()))).collect::<Vec<_>>(), &unsigned)
    }

    #[test]
    fn crls_from_pem_and_der_are_sorted_newest_first() {
        assert_eq!(loaded(&[]).unwrap().len(), 0);
        assert_eq!(loaded(&[ALL]).unwrap().len(), 4);
        assert_eq!(loaded(&[&[DER, DER].concat()]).unwrap().len(), 2);
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/certs/verify/root-and-crls.pem");
        assert_eq!(load(&[Source::File(path.into())], &unsigned).unwrap().len(), 4);
        let both = loaded(&[EXPIRED, DER]).unwrap();
        let times: Vec<_> = both.iter().map(|crl| (crl.this_update, crl.next_update)).collect();
        assert_eq!(times, [(1_577_836_800, 4_733_510_400), (1_546_300_800, 1_609_459_200)]);
    }

    #[test]
    fn errors_for_malformed_crls_name_the_source() {
        for (bytes, message) in [
            (CA, "CRL data contains no CRL (X509 CRL)"),
            (b"text", "CRL data contains neither PEM nor DER CRLs"),
            (b"", "CRL data contains no CRL (X509 CRL)"),
            (&[0x30, 0], "CRL data: CRL 0 is not valid DER"),
        ] {
            let error = loaded(&[bytes]).err().unwrap();
            assert_eq!((error.status(), error.message()), (Status::InvalidPem, message));
        }
        let missing = load(&[Source::File("/nonexistent".into())], &unsigned).err().unwrap();
        assert_eq!((missing.status(), missing.errno()), (Status::Io, 2));
        // Parsing a truncated or corrupted CRL returns an error or a CRL, and never panics.
        for at in 0..DER.len() {
            let _ = loaded(&[&DER[..at]]);
            for bit in 0..8 {
                let mut bytes = DER.to_vec();
                bytes[at] ^= 1 << bit;
                let _ = loaded(&[&bytes]);
            }
        }
    }

    #[test]
    fn only_supported_openssl_verification_flags_are_accepted() {
        for flags in [0, 0x4, 0xc, 0x20, 0x24, 0x8000, 0x8_0000, 0x8_802c] {
            assert_eq!(checked_flags(flags).unwrap(), flags);
        }
        for (flags, status) in [
            (0x8, Status::InvalidArgument),
            (0x28, Status::InvalidArgument),
            (1, Status::InvalidArgument),
            (-1, Status::Unsupported),
            (i32::MIN, Status::InvalidArgument),
            (0x40, Status::Unsupported),
        ] {
            assert_eq!(checked_flags(flags).unwrap_err().status(), status, "{flags:#x}");
        }
    }

    #[test]
    fn crls_enable_revocation_checks_and_a_requested_check_requires_crls() {
        for (requested, has_lists, expected) in [
            (None, false, Some(0x8_8000)),
            (None, true, Some(0x8_800c)),
            (Some(0), true, Some(0x8_800c)),
            (Some(0x20), true, Some(0x8_802c)),
            (Some(0x4), true, Some(0x8_8004)),
            (Some(0x4), false, None),
            (Some(0xc), false, None),
        ] {
            assert_eq!(effective_flags(requested, has_lists).ok(), expected, "{requested:?} {has_lists}");
        }
    }
}
