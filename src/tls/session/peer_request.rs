//! Stores the peer's request: a ClientHello requests a server name, and a server may request a certificate. rustls
//! passes these requests only to the resolver that selects this side's certificate. On a server, rustls calls the
//! resolver once for each ClientHello; on a client, when the server requests a certificate.

use std::sync::Arc;

use rustls::client::ResolvesClientCert;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls::{CipherSuite, SignatureScheme};

use crate::tls::per_thread::PerThread;

/// For each thread, the peer's request in the current handshake.
pub(crate) type PeerRequests = PerThread<PeerRequest>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PeerRequest {
    /// A client's ClientHello.
    Session {
        name: Option<String>,
        /// Whether the ClientHello offers ECDHE, the only supported kind of key exchange.
        ecdhe: bool,
    },
    /// A server's request for a certificate, and the certificate that this side selected.
    Certificate(CertificateSelection),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CertificateSelection {
    NoCertificate,
    /// The context has a certificate, but the key supports none of the server's signature schemes.
    NoUsableKey,
    Certificate,
}

/// A resolver that stores the peer's request and always selects the context's certificate, if there is one.
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

/// Returns whether a suite allows ECDHE. A suite of TLS 1.3 does not determine the key exchange.
fn is_ecdhe(suite: &CipherSuite) -> bool {
    suite.as_str().is_some_and(|name| name.starts_with("TLS_ECDHE_") || name.starts_with("TLS13_"))
}
