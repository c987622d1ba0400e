//! What the peer asked for. rustls tells an unbuffered session no such thing afterwards, but shows it to whatever picks
//! this side's certificate: to a server's once for each of the client's first messages, to a client's when the server
//! asks for a certificate.

use std::sync::Arc;

use rustls::client::ResolvesClientCert;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls::{CipherSuite, SignatureScheme};

use crate::tls::per_thread::PerThread;

/// What peers asked for, as notes of the threads whose sessions are inside a call.
pub(crate) type PeerRequests = PerThread<PeerRequest>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PeerRequest {
    /// A client's, for a session.
    Session {
        name: Option<String>,
        /// Whether it offers a key exchange of the only kind that there is here.
        ecdhe: bool,
    },
    /// A server's, for this side's certificate, and what it gets.
    Certificate(CertificateSelection),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CertificateSelection {
    NoCertificate,
    /// There is a certificate, but its key makes no signature that the server takes.
    NoUsableKey,
    Certificate,
}

/// Always the same certificate, or for a client perhaps none; and a note of what was asked.
#[derive(Debug)]
pub(crate) struct IdentityResolver {
    pub(crate) key: Option<Arc<CertifiedKey>>,
    pub(crate) peer_requests: Arc<PeerRequests>,
}

impl ResolvesServerCert for IdentityResolver {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let name = hello.server_name().map(str::to_owned);
        self.peer_requests.set(PeerRequest::Session { name, ecdhe: hello.cipher_suites().iter().any(is_ecdhe) });
        self.key.clone()
    }
}

impl ResolvesClientCert for IdentityResolver {
    fn resolve(&self, _: &[&[u8]], schemes: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        self.peer_requests.set(PeerRequest::Certificate(match &self.key {
            None => CertificateSelection::NoCertificate,
            Some(identity) if identity.key.choose_scheme(schemes).is_none() => CertificateSelection::NoUsableKey,
            Some(_) => CertificateSelection::Certificate,
        }));
        self.key.clone()
    }

    fn has_certs(&self) -> bool {
        self.key.is_some()
    }
}

/// Every suite of TLS 1.3 leaves the exchange open.
fn is_ecdhe(suite: &CipherSuite) -> bool {
    suite.as_str().is_some_and(|name| name.starts_with("TLS_ECDHE_") || name.starts_with("TLS13_"))
}
