//! Provides the negotiated parameters of a session.

use std::ffi::{CStr, CString};

use rustls_pki_types::CertificateDer;

use super::engine::Engine;
use crate::tls::config::{Version, ciphers, code_points};

/// Negotiated parameters that need no allocation.
#[derive(Clone, Copy, Debug)]
pub struct Negotiated {
    pub version: Option<Version>,
    pub cipher_suite: Option<&'static CStr>,
    pub cipher_suite_openssl_name: Option<&'static CStr>,
    /// The length of the symmetric key in bits.
    pub cipher_suite_bits: Option<u16>,
    /// `None` for a resumed session of TLS 1.2, whose handshake exchanges no keys.
    pub key_exchange_group: Option<&'static CStr>,
    pub is_resumed: bool,
}

impl Negotiated {
    /// Returns the parameters; `None` while the handshake is not done.
    pub(crate) fn of(engine: &Engine) -> Option<Negotiated> {
        let connection = engine.connection();
        let suite = connection.cipher_suite().map(|suite| suite.suite());
        (!engine.is_handshaking()).then(|| Negotiated {
            version: connection.protocol_version().and_then(Version::from_rustls),
            cipher_suite: suite.and_then(code_points::cipher_suite),
            cipher_suite_openssl_name: suite.and_then(ciphers::openssl_name),
            cipher_suite_bits: suite.and_then(ciphers::key_bits),
            key_exchange_group: connection.key_exchange_group().and_then(code_points::key_exchange_group),
            is_resumed: connection.is_resumed(),
        })
    }
}

/// Negotiated parameters that callers borrow. These parameters do not change after the handshake, so they are copied
/// once.
#[derive(Debug)]
pub struct SessionInfo {
    alpn_protocol: Option<CString>,
    server_name: Option<CString>,
    peer_chain: Vec<CertificateDer<'static>>,
}

impl SessionInfo {
    /// Returns the parameters; `None` while the handshake is not done.
    pub(crate) fn of(engine: &Engine) -> Option<SessionInfo> {
        if engine.is_handshaking() {
            return None;
        }
        let connection = engine.connection();
        Some(SessionInfo {
            // A protocol name with a NUL byte cannot be negotiated, because this side offers only C strings.
            alpn_protocol: connection.alpn_protocol().and_then(|protocol| CString::new(protocol).ok()),
            server_name: engine.server_name().and_then(|name| CString::new(name).ok()),
            peer_chain: connection.peer_certificates().unwrap_or(&[]).to_vec(),
        })
    }

    pub fn alpn_protocol(&self) -> Option<&CStr> {
        self.alpn_protocol.as_deref()
    }

    /// Returns the server's name. On a client, this is the name with which the session was made, and which the server
    /// has proved if host names are checked; on a server, the name that the client requested.
    pub fn server_name(&self) -> Option<&CStr> {
        self.server_name.as_deref()
    }

    /// Returns the chain that the peer sent, with the peer's own certificate first. The chain is empty if the peer sent
    /// no certificate.
    pub fn peer_chain(&self) -> &[CertificateDer<'static>] {
        &self.peer_chain
    }
}
