//! Keeps the certificates of the trust anchors in DER, for applications that list them. Verification needs only the
//! names and the keys of the trust anchors.

use std::collections::HashMap;

use rustls_pki_types::CertificateDer;

use crate::digest::{self, Digest};
use crate::error::Result;
use crate::memory;
use crate::tls::verify::anchors::Anchors;

/// Returns one certificate for each anchor, in the order of the anchors; `None` for a built-in authority. If several of
/// the certificates belong to one anchor, returns the one that expires last.
pub(super) fn of(anchors: &Anchors, certificates: &[CertificateDer<'_>]) -> Result<Vec<Option<Vec<u8>>>> {
    const WHAT: &str = "the trusted certificates";
    let by_digest: HashMap<Digest, _> = certificates.iter().map(|der| (digest::of(der), der)).collect();
    let mut kept = Vec::new();
    memory::reserve(&mut kept, anchors.len(), WHAT)?;
    for origin in anchors.origins() {
        let newest = origin.certificates.iter().max_by_key(|certificate| certificate.not_after);
        let der = newest.and_then(|certificate| by_digest.get(&certificate.digest));
        kept.push(der.map(|der| memory::copy(der, WHAT)).transpose()?);
    }
    Ok(kept)
}
