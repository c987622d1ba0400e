//! Builds the client and server configurations of rustls from the data that a context has loaded.

use std::sync::Arc;

use rustls::client::{ClientSessionStore, Resumption, Tls12Resumption};
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::server::NoServerSessionStorage;
use rustls::sign::CertifiedKey;
use rustls::{ClientConfig, ServerConfig};

use crate::error::{Advice, ApiName, Error, Result};
use crate::fork;
use crate::status::Status;
use crate::tls::config::{Offer, TlsOptions, VerifyMode, options::bits};
use crate::tls::error_text;
use crate::tls::session::{EarlyDataLimits, IdentityResolver, LimitRecorder, PeerRequests, Sessions, Store};
use crate::tls::verify::{ClientVerifier, Policy, ServerVerifier, VerifierConfig};

/// The loaded data from which the configurations are built.
pub(super) struct ConfigInput<'a> {
    pub(super) options: &'a TlsOptions,
    pub(super) sessions: &'a Arc<Sessions>,
    pub(super) provider: Arc<CryptoProvider>,
    pub(super) offer: &'a Offer,
    pub(super) identity: Option<Arc<CertifiedKey>>,
    pub(super) policy: Arc<Policy>,
    pub(super) verifier_config: VerifierConfig,
    pub(super) early_data_limits: Option<Arc<EarlyDataLimits>>,
}

impl ConfigInput<'_> {
    /// Returns the policy for the chains of servers; `None` if clients verify neither chains nor pins. Fails if chains
    /// are verified and no authority is trusted.
    fn server_policy(&self) -> Result<Option<Arc<Policy>>> {
        if self.options.client_mode() == VerifyMode::None && self.options.pins.is_empty() {
            return Ok(None);
        }
        if self.policy.verifies_chain && self.policy.anchors.is_empty() {
            return Err(no_trust_anchors(self.options, "certificates"));
        }
        Ok(Some(Arc::clone(&self.policy)))
    }

    /// Returns the verifier for the certificates of servers. Fails if the context is for servers only, or if chains are
    /// verified and no authority is trusted.
    pub(super) fn verifier(&self) -> Result<ServerVerifier> {
        if self.options.server_only {
            let error = Error::new(
                Status::InvalidArgument,
                "the context is for servers only: create another one for clients",
            );
            return Err(error.with_setting(ApiName::SetServerOnly));
        }
        Ok(ServerVerifier::new(self.server_policy()?, self.options.checks_hostname(), self.verifier_config.clone()))
    }

    pub(super) fn client(
        &self,
        verifier: Arc<ServerVerifier>,
        peer_requests: &Arc<PeerRequests>,
    ) -> Result<ClientConfig> {
        let identity = IdentityResolver { key: self.identity.clone(), peer_requests: Arc::clone(peer_requests) };
        let builder = ClientConfig::builder_with_provider(Arc::clone(&self.provider));
        let builder = match self.options.ech.mode()? {
            Some(mode) => builder.with_ech(mode),
            None => builder.with_protocol_versions(&self.offer.rustls_versions()),
        };
        let mut config = builder
            .map_err(|error| internal("the client's configuration", &error))?
            .dangerous()
            .with_custom_certificate_verifier(verifier)
            .with_client_cert_resolver(Arc::new(identity));
        config.alpn_protocols.clone_from(&self.options.alpn);
        config.resumption =
            resumption(self.options, self.sessions, &self.options.alpn, self.early_data_limits.as_ref());
        config.enable_early_data = self.early_data_limits.is_some();
        Ok(config)
    }

    pub(super) fn server(&self, peer_requests: &Arc<PeerRequests>) -> Result<Option<ServerConfig>> {
        let Some(identity) = &self.identity else { return Ok(None) };
        let builder = ServerConfig::builder_with_provider(Arc::clone(&self.provider))
            .with_protocol_versions(&self.offer.rustls_versions())
            .map_err(|error| internal("the server's configuration", &error))?;
        let builder = match self.options.server_mode() {
            VerifyMode::None => builder.with_no_client_auth(),
            mode => {
                if self.policy.verifies_chain && self.policy.anchors.is_empty() {
                    return Err(no_trust_anchors(self.options, "client certificates"));
                }
                let mandatory = mode != VerifyMode::Optional;
                let verifier = ClientVerifier::new(Arc::clone(&self.policy), mandatory, self.verifier_config.clone());
                builder.with_client_cert_verifier(Arc::new(verifier))
            }
        };
        let identity = IdentityResolver { key: Some(Arc::clone(identity)), peer_requests: Arc::clone(peer_requests) };
        let mut config = builder.with_cert_resolver(Arc::new(identity));
        config.alpn_protocols.clone_from(&self.options.alpn);
        config.ignore_client_order = self.options.bits & bits::CIPHER_SERVER_PREFERENCE != 0;
        if !self.options.resumption {
            config.session_storage = Arc::new(NoServerSessionStorage {});
            config.send_tls13_tickets = 0;
        } else if sends_tickets(self.options) {
            let _delay = fork::delay();
            config.ticketer = aws_lc_rs::Ticketer::new().map_err(|error| internal("the keys of tickets", &error))?;
        }
        Ok(Some(config))
    }
}

/// Returns true if TLS 1.2 sessions use tickets. TLS 1.2 sends the ticket outside encrypted records, so an attacker who
/// later obtains the server's ticket key can decrypt recorded sessions. TLS 1.3 does not have this weakness.
fn sends_tickets(options: &TlsOptions) -> bool {
    options.bits & bits::NO_TICKET == 0
}

/// Returns rustls' resumption settings for clients that offer the ALPN protocols `protocols`.
pub(super) fn resumption(
    options: &TlsOptions,
    sessions: &Arc<Sessions>,
    protocols: &[Vec<u8>],
    early_data_limits: Option<&Arc<EarlyDataLimits>>,
) -> Resumption {
    // The comment on `ech::derived` says why sessions with ECH are not resumed.
    if !options.resumption || options.ech.list.is_some() {
        return Resumption::disabled();
    }
    let tls12 =
        if sends_tickets(options) { Tls12Resumption::SessionIdOrTickets } else { Tls12Resumption::SessionIdOnly };
    let mut store: Arc<dyn ClientSessionStore> = Arc::new(Store::new(sessions, protocols));
    if let Some(early_data_limits) = early_data_limits {
        store = Arc::new(LimitRecorder { store, early_data_limits: Arc::clone(early_data_limits) });
    }
    Resumption::store(store).tls12_resumption(tls12)
}

pub(super) fn no_trust_anchors(options: &TlsOptions, what: &str) -> Error {
    let message = format!("{what} cannot be verified, because no authority is trusted");
    let error =
        Error::new(Status::NoTrustAnchors, message).with_advice(Advice::new("to trust one", ApiName::AddTrust));
    if options.system_trust == Some(false) { error.with_setting(ApiName::SetSystemTrust) } else { error }
}

pub(super) fn internal(what: &str, error: &rustls::Error) -> Error {
    Error::new(Status::Internal, format!("{what} could not be created: {}", error_text::other(error)))
}
