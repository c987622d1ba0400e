//! Encrypted Client Hello (RFC 9849) of clients: the true ClientHello, with the server's name in it, travels encrypted
//! inside another one that names somebody else. rustls does it; here is what it is given, and what it says of the end.

mod list;

use std::sync::Arc;

use rustls::client::{ClientConfig, EchGreaseConfig, EchMode, Resumption};
use rustls::crypto::CryptoProvider;
use rustls::crypto::aws_lc_rs::hpke::DH_KEM_X25519_HKDF_SHA256_AES_128;
use rustls::crypto::hpke::Hpke;
// What a server sends for the next attempt rustls gives out as a type of its own, which nothing public writes down.
use rustls::internal::msgs::codec::Codec;
use rustls::internal::msgs::handshake::EchConfigPayload;
use rustls_pki_types::ServerName;

use crate::error::{Error, Result};
use crate::fork;
use crate::status::Status;
use crate::tls::error_text;
use crate::tls::verify::peer_verifier::ServerVerifier;
pub(crate) use list::ConfigList;

/// What a session's ClientHello was, and what the server made of it. The numbers are those of `enum netlib_ech_status`.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EchStatus {
    NotOffered = 0,
    Grease = 1,
    /// The server's answer has not come, or could not be understood.
    Offered = 2,
    Accepted = 3,
    Rejected = 4,
}

/// What a client's sessions are to do.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ech {
    pub(crate) list: Option<Arc<ConfigList>>,
    /// Without a list, an extension that looks like one.
    pub(crate) grease: bool,
}

impl Ech {
    /// Whether sessions have the extension, and so TLS 1.3 alone.
    pub(crate) fn is_sent(&self) -> bool {
        self.list.is_some() || self.grease
    }

    /// rustls' name for it.
    pub(crate) fn mode(&self) -> Result<Option<EchMode>> {
        if let Some(list) = &self.list {
            return Ok(Some(EchMode::Enable(list.config.clone())));
        }
        if !self.grease {
            return Ok(None);
        }
        // What most servers' configurations have. The key is nobody's.
        let suite = DH_KEM_X25519_HKDF_SHA256_AES_128;
        let _delay = fork::delay();
        let (key, _) = suite.generate_key_pair().map_err(|error| {
            Error::new(Status::Internal, format!("no key could be made: {}", error_text::other(&error)))
        })?;
        Ok(Some(EchMode::Grease(EchGreaseConfig::new(suite, key))))
    }

    /// How a session with `name` begins.
    pub(crate) fn begun(&self, name: Option<&ServerName<'_>>) -> Result<EchStatus> {
        match (&self.list, name) {
            (Some(_), Some(ServerName::DnsName(_))) => Ok(EchStatus::Offered),
            (Some(_), _) => {
                let what = if name.is_some() { "an IP address" } else { "missing" };
                let message = format!("server_hostname is {what}: what Encrypted Client Hello hides is a DNS name");
                Err(Error::new(Status::InvalidArgument, message))
            }
            (None, _) => Ok(if self.grease { EchStatus::Grease } else { EchStatus::NotOffered }),
        }
    }
}

/// The same configuration with Encrypted Client Hello, for `provider` and so for TLS 1.3 alone; and without resumption.
/// When a second ClientHello is asked for, which anybody on the way can do, and so that the first one counts as rejected,
/// rustls 0.23 sends the true ticket in the open: with it an attacker can ask servers which of them has made it. (It is
/// mended in 0.24: rustls' pull request 3186.)
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

/// The list that a server wants used instead, in the bytes that it sent.
pub(crate) fn retry_list(configs: &[EchConfigPayload]) -> Vec<u8> {
    let mut bytes = vec![0, 0];
    configs.iter().for_each(|config| config.encode(&mut bytes));
    let length = u16::try_from(bytes.len() - 2).unwrap_or(u16::MAX).to_be_bytes();
    bytes.splice(..2, length);
    bytes
}

#[cfg(test)]
mod tests;
