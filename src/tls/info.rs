//! What the two sides of a session have agreed on, as streams and engines tell it.

use std::ffi::{CStr, CString};

use rustls::HandshakeKind;
use rustls_pki_types::CertificateDer;

use super::engine::Engine;
use super::names::{self, Version};

/// Final once the handshake is done, so it is made once and lent from.
#[derive(Debug)]
pub struct SessionInfo {
    version: Option<Version>,
    cipher_suite: Option<&'static CStr>,
    key_exchange_group: Option<&'static CStr>,
    alpn_protocol: Option<CString>,
    server_name: Option<CString>,
    is_resumed: bool,
    peer_chain: Vec<CertificateDer<'static>>,
}

impl SessionInfo {
    /// `None` while the handshake is not done.
    pub(crate) fn of(engine: &Engine) -> Option<SessionInfo> {
        if engine.is_handshaking() {
            return None;
        }
        let state = engine.session().state();
        Some(SessionInfo {
            version: state.protocol_version().and_then(Version::from_rustls),
            cipher_suite: state.negotiated_cipher_suite().and_then(|suite| names::cipher_suite(suite.suite())),
            key_exchange_group: state
                .negotiated_key_exchange_group()
                .and_then(|group| names::key_exchange_group(group.name())),
            // A name with a NUL in it was not offered by this side, which only offers C strings.
            alpn_protocol: state.alpn_protocol().and_then(|protocol| CString::new(protocol).ok()),
            server_name: engine.server_name().and_then(|name| CString::new(name).ok()),
            is_resumed: state.handshake_kind() == Some(HandshakeKind::Resumed),
            peer_chain: state.peer_certificates().unwrap_or(&[]).to_vec(),
        })
    }

    pub fn version(&self) -> Option<Version> {
        self.version
    }

    pub fn cipher_suite(&self) -> Option<&CStr> {
        self.cipher_suite
    }

    /// `None` also for a resumed session of TLS 1.2, which exchanges no keys.
    pub fn key_exchange_group(&self) -> Option<&CStr> {
        self.key_exchange_group
    }

    pub fn alpn_protocol(&self) -> Option<&CStr> {
        self.alpn_protocol.as_deref()
    }

    /// Of a client: the name that the server has proved. Of a server: the name that the client asked for.
    pub fn server_name(&self) -> Option<&CStr> {
        self.server_name.as_deref()
    }

    pub fn is_resumed(&self) -> bool {
        self.is_resumed
    }

    /// The peer's own certificate first; empty when it has not sent one.
    pub fn peer_chain(&self) -> &[CertificateDer<'static>] {
        &self.peer_chain
    }
}
