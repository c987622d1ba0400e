//! Encrypted Client Hello (RFC 9849) for clients. The real ClientHello, with the server's name, travels encrypted
//! inside an outer ClientHello that names another server. rustls implements ECH; this module configures rustls and
//! reports the outcome.

mod list;

use std::sync::Arc;

use rustls::client::{ClientConfig, EchGreaseConfig, EchMode, Resumption};
use rustls::crypto::CryptoProvider;
use rustls::crypto::aws_lc_rs::hpke::DH_KEM_X25519_HKDF_SHA256_AES_128;
use rustls::crypto::hpke::Hpke;
// rustls returns the retry configurations in a type of its own, which only this internal trait can encode.
use rustls::internal::msgs::codec::Codec;
use rustls::internal::msgs::handshake::EchConfigPayload;
use rustls_pki_types::ServerName;

use crate::error::{Error, Result};
use crate::fork;
use crate::status::Status;
use crate::tls::error_text;
use crate::tls::verify::ServerVerifier;
pub(crate) use list::ConfigList;

/// The outcome of Encrypted Client Hello in a session. The numbers equal those of `enum netlib_ech_status`.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EchStatus {
    NotOffered = 0,
    Grease = 1,
    /// ECH was offered. The handshake is not complete yet, or has failed for a reason other than a rejection of ECH.
    Offered = 2,
    Accepted = 3,
    Rejected = 4,
}

/// The ECH settings of a client.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ech {
    pub(crate) list: Option<Arc<ConfigList>>,
    /// Sends a GREASE ECH extension if no ECHConfigList is set.
    pub(crate) grease: bool,
}

impl Ech {
    /// Returns true if the ClientHello carries the ECH extension, which limits the session to TLS 1.3.
    pub(crate) fn is_sent(&self) -> bool {
        self.list.is_some() || self.grease
    }

    /// Returns rustls' ECH mode for these settings; `None` if no ECH extension is sent.
    pub(crate) fn mode(&self) -> Result<Option<EchMode>> {
        if let Some(list) = &self.list {
            return Ok(Some(EchMode::Enable(list.config.clone())));
        }
        if !self.grease {
            return Ok(None);
        }
        // GREASE imitates the HPKE suite that most servers publish. The public key is random, and its private key is
        // discarded.
        let suite = DH_KEM_X25519_HKDF_SHA256_AES_128;
        let _delay = fork::delay();
        let (key, _) = suite.generate_key_pair().map_err(|error| {
            Error::new(Status::Internal, format!("no key could be generated: {}", error_text::other(&error)))
        })?;
        Ok(Some(EchMode::Grease(EchGreaseConfig::new(suite, key))))
    }

    /// Returns the ECH status at the start of a session with the server `name`. Fails if an ECHConfigList is set and
    /// `name` is not a DNS name.
    pub(crate) fn initial_status(&self, name: Option<&ServerName<'_>>) -> Result<EchStatus> {
        match (&self.list, name) {
            (Some(_), Some(ServerName::DnsName(_))) => Ok(EchStatus::Offered),
            (Some(_), _) => {
                let what = if name.is_some() { "an IP address" } else { "missing" };
                let message = format!("server_hostname is {what}: Encrypted Client Hello needs a DNS name");
                Err(Error::new(Status::InvalidArgument, message))
            }
            (None, _) => Ok(if self.grease { EchStatus::Grease } else { EchStatus::NotOffered }),
        }
    }
}

/// Copies a client configuration, adding Encrypted Client Hello and disabling session resumption. `provider` must offer
/// TLS 1.3 only.
///
/// Resumption is disabled because of a defect in rustls 0.23: after a HelloRetryRequest, which anyone on the path can
/// send, the second ClientHello carries the real ticket in plaintext. An attacker could use the ticket to find out
/// which server issued it. rustls 0.24 fixes the defect (pull request 3186).
pub(crate) fn derived(
    base: &ClientConfig,
    provider: CryptoProvider,
    verifier: Arc<ServerVerifier>,
    mode: EchMode,
) -> std::result::Result<ClientConfig, rustls::Error> {
    let mut config = ClientConfig::builder_with_provider(Arc::new(provider))
        .with_ech(mode)?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_client_cert_resolver(Arc::clone(&base.client_auth_cert_resolver));
    config.alpn_protocols.clone_from(&base.alpn_protocols);
    config.check_selected_alpn = base.check_selected_alpn;
    config.resumption = Resumption::disabled();
    config.max_fragment_size = base.max_fragment_size;
    config.enable_sni = base.enable_sni;
    config.key_log = Arc::clone(&base.key_log);
    config.enable_secret_extraction = base.enable_secret_extraction;
    config.enable_early_data = base.enable_early_data;
    config.require_ems = base.require_ems;
    config.time_provider = Arc::clone(&base.time_provider);
    config.cert_decompressors.clone_from(&base.cert_decompressors);
    config.cert_compressors.clone_from(&base.cert_compressors);
    config.cert_compression_cache = Arc::clone(&base.cert_compression_cache);
    config.send_ticket_request.clone_from(&base.send_ticket_request);
    Ok(config)
}

/// Encodes the retry configurations (RFC 9849 section 6.1.6) as the ECHConfigList that the server sent.
pub(crate) fn retry_list(configs: &[EchConfigPayload]) -> Vec<u8> {
    let mut bytes = vec![0, 0];
    configs.iter().for_each(|config| config.encode(&mut bytes));
    let length = u16::try_from(bytes.len() - 2).unwrap_or(u16::MAX).to_be_bytes();
    bytes.splice(..2, length);
    bytes
}

#[cfg(test)]
mod tests;
