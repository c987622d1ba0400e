//! What the two sides of a session have agreed on, as streams and engines tell it.

use std::ffi::{CStr, CString};

use rustls::HandshakeKind;
use rustls_pki_types::CertificateDer;

use super::engine::Engine;
use crate::tls::config::code_points::{self, Version};

/// What needs no memory to be told.
#[derive(Clone, Copy, Debug)]
pub struct Negotiated {
    pub version: Option<Version>,
    pub cipher_suite: Option<&'static CStr>,
    /// `None` also for a resumed session of TLS 1.2, which exchanges no keys.
    pub key_exchange_group: Option<&'static CStr>,
    pub is_resumed: bool,
}

impl Negotiated {
    /// `None` while the handshake is not done.
    pub(crate) fn of(engine: &Engine) -> Option<Negotiated> {
        let state = engine.session().state();
        (!engine.is_handshaking()).then(|| Negotiated {
            version: state.protocol_version().and_then(Version::from_rustls),
            cipher_suite: state.negotiated_cipher_suite().and_then(|suite| code_points::cipher_suite(suite.suite())),
            key_exchange_group: state
                .negotiated_key_exchange_group()
                .and_then(|group| code_points::key_exchange_group(group.name())),
            is_resumed: state.handshake_kind() == Some(HandshakeKind::Resumed),
        })
    }
}

/// What is lent. Final once the handshake is done, so it is made once.
#[derive(Debug)]
pub struct SessionInfo {
    alpn_protocol: Option<CString>,
    server_name: Option<CString>,
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
            // A name with a NUL in it was not offered by this side, which only offers C strings.
            alpn_protocol: state.alpn_protocol().and_then(|protocol| CString::new(protocol).ok()),
            server_name: engine.server_name().and_then(|name| CString::new(name).ok()),
            peer_chain: state.peer_certificates().unwrap_or(&[]).to_vec(),
        })
    }

    pub fn alpn_protocol(&self) -> Option<&CStr> {
        self.alpn_protocol.as_deref()
    }

    /// Of a client: the name that the server has proved. Of a server: the name that the client asked for.
    pub fn server_name(&self) -> Option<&CStr> {
        self.server_name.as_deref()
    }

    /// The peer's own certificate first; empty when it has not sent one.
    pub fn peer_chain(&self) -> &[CertificateDer<'static>] {
        &self.peer_chain
    }
}
