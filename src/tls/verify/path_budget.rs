//! How much work a chain may ask for. webpki tries every way up that the names of issuers allow, and looks at all that was
//! sent at each step: two hundred certificates with names made for that keep it busy for many seconds, and no limit on time
//! interrupts it. Its own bound counts the steps, not what a step costs.

use std::collections::HashMap;

use rustls_pki_types::CertificateDer;
use webpki::EndEntityCert;

/// A certificate is looked at in a fraction of a microsecond. What is sent in good faith takes some hundred looks.
const MOST_LOOKS: u64 = 1_000_000;

/// So many authorities webpki allows between the peer and a trusted one.
const LONGEST: usize = 6;

/// Each step also looks at the trusted ones, of which nothing needs to be read anew.
const ANCHORS_A_LOOK: usize = 64;

/// Whether all ways up from `leaf` can be tried. They are counted, not walked: how many of one length lead to each name.
pub(super) fn is_bearable(leaf: &EndEntityCert<'_>, others: &[CertificateDer<'_>], anchors: usize) -> bool {
    let others: Vec<_> = others.iter().filter_map(|der| EndEntityCert::try_from(der).ok()).collect();
    let mut ways = HashMap::from([(leaf.issuer(), 1_u64)]);
    let mut steps = 0_u64;
    for _ in 0..=LONGEST {
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
    let looks = 1 + others.len() + anchors / ANCHORS_A_LOOK;
    steps.saturating_mul(looks as u64) <= MOST_LOOKS
}
