//! Bounds the work of building a path. webpki tries every path that the issuer names allow and compares all
//! certificates at each step. Two hundred crafted certificates keep it busy for many seconds, and no time limit
//! interrupts it. webpki's own limit counts steps, not comparisons.

use std::collections::HashMap;

use rustls_pki_types::CertificateDer;
use webpki::EndEntityCert;

/// A comparison takes a fraction of a microsecond. Ordinary chains need a few hundred.
const MAX_COMPARISONS: u64 = 1_000_000;

/// webpki's limit on the number of intermediates.
const MAX_INTERMEDIATES: usize = 6;

/// Each step also searches the anchors. They are parsed already, so a group of them costs as much as one comparison.
const ANCHORS_PER_COMPARISON: usize = 64;

/// Returns true if trying all paths from `leaf` stays within the budget. The paths are counted by length and name, not
/// walked.
pub(super) fn within_limit(leaf: &EndEntityCert<'_>, others: &[CertificateDer<'_>], anchors: usize) -> bool {
    let others: Vec<_> = others.iter().filter_map(|der| EndEntityCert::try_from(der).ok()).collect();
    let mut ways = HashMap::from([(leaf.issuer(), 1_u64)]);
    let mut steps = 0_u64;
    for _ in 0..=MAX_INTERMEDIATES {
        steps = ways.values().fold(steps, |steps, ways| steps.saturating_add(*ways));
        let mut longer: HashMap<&[u8], u64> = HashMap::new();
        for other in &others {
            if let Some(here) = ways.get(other.subject()) {
                let there = longer.entry(other.issuer()).or_default();
                *there = there.saturating_add(*here);
            }
        }
        ways = longer;
    }
    let looks = 1 + others.len() + anchors / ANCHORS_PER_COMPARISON;
    steps.saturating_mul(looks as u64) <= MAX_COMPARISONS
}
