//! The input of chain verification: the settings of a context, and a request to verify a chain.

use rustls::crypto::WebPkiSupportedAlgorithms;
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};

use super::anchors::Anchors;
use super::crl::Crl;
use super::pins::Pins;

/// The trust and verification settings of a context, shared by all its sessions.
pub(crate) struct Policy {
    /// True if handshakes require a chain to a trusted authority. Pins are compared with the peer's certificate even if
    /// `verifies_chain` is false.
    pub(crate) verifies_chain: bool,
    pub(crate) pins: Pins,
    /// The trust anchors. A peer whose own certificate is among the trusted certificates is also accepted.
    pub(crate) anchors: Anchors,
    /// The CRLs, newest first.
    pub(crate) crls: Vec<Crl>,
    /// Verification flags: bits of [`super::crl::flag`].
    pub(crate) flags: i32,
    pub(crate) algorithms: WebPkiSupportedAlgorithms,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Server,
    Client,
}

/// A chain that a peer sent, and the identity, purpose and time to verify it for.
pub(crate) struct VerifyRequest<'a> {
    /// The peer's own certificate.
    pub(crate) end_entity: &'a CertificateDer<'a>,
    /// The other certificates that the peer sent, in any order.
    pub(crate) others: &'a [CertificateDer<'a>],
    pub(crate) purpose: Purpose,
    /// The name that the certificate must match. `None` skips the name check.
    pub(crate) name: Option<&'a ServerName<'a>>,
    pub(crate) time: UnixTime,
}

impl VerifyRequest<'_> {
    pub(super) fn seconds(&self) -> i64 {
        i64::try_from(self.time.as_secs()).unwrap_or(i64::MAX)
    }

    /// Returns the index of a certificate among those that the peer sent; 0 is the peer's own certificate.
    pub(super) fn index_of(&self, der: &[u8]) -> Option<usize> {
        if self.end_entity.as_ref() == der {
            return Some(0);
        }
        self.others.iter().position(|other| other.as_ref() == der).map(|position| position + 1)
    }
}
