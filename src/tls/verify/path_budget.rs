//! Bounds the work of building a certificate path. webpki tries every path that the issuer names allow and compares all
//! certificates at each step. Two hundred crafted certificates keep webpki busy for many seconds, and no time limit
//! interrupts the search. webpki's own limit counts steps, not comparisons.

use std::collections::HashMap;

use rustls_pki_types::CertificateDer;
use webpki::EndEntityCert;

/// The maximum number of certificate comparisons for one chain. A comparison takes a fraction of a microsecond;
/// ordinary chains need a few hundred comparisons.
const MAX_COMPARISONS: u64 = 1_000_000;

/// webpki's limit on the number of intermediate certificates in a path.
const MAX_INTERMEDIATES: usize = 6;

/// The number of trust anchors that cost as much as one comparison. Each step of the search also compares the trust
/// anchors, which is cheap because anchors are parsed already.
const ANCHORS_PER_COMPARISON: usize = 64;

/// Returns true if trying all paths from `leaf` needs at most MAX_COMPARISONS comparisons. Counts the paths of each
/// length that lead to each issuer name, without building them.
pub(super) fn within_limit(leaf: &EndEntityCert<'_>, others: &[CertificateDer<'_>], anchors: usize) -> bool {
    let others: Vec<_> = others.iter().filter_map(|der| EndEntityCert::try_from(der).ok()).collect();
    let mut paths_by_issuer = HashMap::from([(leaf.issuer(), 1_u64)]);
    let mut steps = 0_u64;
    for _ in 0..=MAX_INTERMEDIATES {
        steps = paths_by_issuer.values().fold(steps, |steps, paths| steps.saturating_add(*paths));
        let mut longer: HashMap<&[u8], u64> = HashMap::new();
        for other in &others {
            if let Some(here) = paths_by_issuer.get(other.subject()) {
                let there = longer.entry(other.issuer()).or_default();
                *there = there.saturating_add(*here);
            }
        }
        paths_by_issuer = longer;
    }
    let comparisons_per_step = 1 + others.len() + anchors / ANCHORS_PER_COMPARISON;
    steps.saturating_mul(comparisons_per_step as u64) <= MAX_COMPARISONS
}
