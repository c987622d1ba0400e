//! The peer's request: the server name of a ClientHello, or a server's request for a certificate. rustls shows it only to
//! the resolver that selects this side's certificate: on a server once per ClientHello, on a client when the server requests
//! a certificate.

use std::sync::Arc;

use rustls::client::ResolvesClientCert;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls::{CipherSuite, SignatureScheme};

use crate::tls::per_thread::PerThread;

/// The request in each thread's current handshake.
pub(crate) type PeerRequests = PerThread<PeerRequest>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PeerRequest {
    /// A client's ClientHello.
    Session {
        name: Option<String>,
        /// Whether it offers ECDHE, the only kind of key exchange supported.
        ecdhe: bool,
    },
    /// A server's request for a certificate, and the result.
    Certificate(CertificateSelection),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CertificateSelection {
    NoCertificate,
    /// There is a certificate, but its key supports no signature scheme of the server.
    NoUsableKey,
    Certificate,
}

/// Always selects the same certificate, or none on a client without one, and records the request.
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

/// A suite of TLS 1.3 is independent of the key exchange.
fn is_ecdhe(suite: &CipherSuite) -> bool {
    suite.as_str().is_some_and(|name| name.starts_with("TLS_ECDHE_") || name.starts_with("TLS13_"))
}
