//! What the peer asked for. rustls tells an unbuffered session no such thing afterwards, but shows it to whatever picks
//! this side's certificate: to a server's once for each of the client's first messages, to a client's when the server
//! asks for a certificate.

use std::sync::Arc;

use rustls::client::ResolvesClientCert;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls::{CipherSuite, SignatureScheme};

use super::per_thread::Notes;

/// What peers asked for, as notes of the threads whose sessions are inside a call.
pub(crate) type Asked = Notes<Request>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    /// A client's, for a session.
    Session {
        name: Option<String>,
        /// Whether it offers a key exchange of the only kind that there is here.
        ecdhe: bool,
    },
    /// A server's, for this side's certificate, and what it gets.
    Certificate(Shown),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    Nothing,
    /// There is a certificate, but its key makes no signature that the server takes.
    NothingFit,
    Certificate,
}

/// Always the same certificate, or for a client perhaps none; and a note of what was asked.
#[derive(Debug)]
pub(crate) struct Identity {
    pub(crate) key: Option<Arc<CertifiedKey>>,
    pub(crate) asked: Arc<Asked>,
}

impl ResolvesServerCert for Identity {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let name = hello.server_name().map(str::to_owned);
        self.asked.leave(Request::Session { name, ecdhe: hello.cipher_suites().iter().any(is_ecdhe) });
        self.key.clone()
    }
}

impl ResolvesClientCert for Identity {
    fn resolve(&self, _: &[&[u8]], schemes: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        self.asked.leave(Request::Certificate(match &self.key {
            None => Shown::Nothing,
            Some(identity) if identity.key.choose_scheme(schemes).is_none() => Shown::NothingFit,
            Some(_) => Shown::Certificate,
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
