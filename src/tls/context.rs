//! Contexts: everything that streams share, made once.

use std::sync::{Arc, OnceLock};

use rustls::client::{Resumption, Tls12Resumption, WebPkiServerVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::server::WebPkiClientVerifier;
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{ClientConfig, RootCertStore, ServerConfig, SupportedProtocolVersion, version};

use super::asked::{self, Asked};
use super::engine::greeting::ServerNameCallback;
use super::identity;
use super::names::Version;
use super::options::{TlsOptions, VerifyMode, setter};
use super::pool::Pool;
use super::trust::{self, Environment};
use super::verify::{Refused, ServerVerifier};
use crate::error::{Error, Result};
use crate::status::Status;

/// How many servers' sessions a context remembers for resumption.
const REMEMBERED_SESSIONS: usize = 256;

/// Immutable and shared by its streams.
pub struct Context {
    /// An error when no server could ever be verified; a context for a server's side need not care.
    client: Result<Arc<ClientConfig>>,
    /// The same without resumption: sessions are remembered by server name, and these have none.
    nameless: OnceLock<Arc<ClientConfig>>,
    server: Option<Arc<ServerConfig>>,
    refused: Arc<Refused>,
    asked: Arc<Asked>,
    server_name_callback: Option<ServerNameCallback>,
    pool: Arc<Pool>,
    trust_sources: i32,
    trust_anchors: usize,
    verify_mode: VerifyMode,
    check_hostname: bool,
    minimum_version: Version,
    maximum_version: Version,
}

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context").finish_non_exhaustive()
    }
}

impl Context {
    /// Reads the files, the system's store and the environment that the options name; nothing is read later.
    pub fn new(options: &TlsOptions) -> Result<Context> {
        if options.minimum_version > options.maximum_version {
            return Err(Error::new(
                Status::InvalidArgument,
                format!(
                    "the minimum version {} is above the maximum {}",
                    options.minimum_version.name(),
                    options.maximum_version.name()
                ),
            )
            .prefixed(setter::MINIMUM_VERSION));
        }
        // Never the process-wide default: two users of rustls in one process must not meet.
        let provider = Arc::new(aws_lc_rs::default_provider());
        let identity = options.identity.as_ref().map(|source| identity::load(source, &provider)).transpose()?;
        let mode = options.client_mode();
        let system = options.system_trust.unwrap_or(options.custom_trust.is_empty() && mode != VerifyMode::None);
        let environment = if options.use_environment { Environment::read() } else { Environment::default() };
        let trust = trust::load(&options.custom_trust, system, &environment)?;
        let (trust_sources, trust_anchors) = (trust.sources, trust.roots.len());
        let parts = Parts { options, provider, identity, roots: Arc::new(trust.roots) };

        let refused = Arc::new(Refused::default());
        let client = match parts.client(&refused) {
            // Kept for whoever connects with it, because a server's side does not need it.
            Err(error) if error.status() == Status::NoTrustAnchors && parts.identity.is_some() => Err(error),
            made => Ok(Arc::new(made?)),
        };
        let asked = Arc::new(Asked::default());
        Ok(Context {
            client,
            nameless: OnceLock::new(),
            server: parts.server(&asked)?.map(Arc::new),
            refused,
            asked,
            server_name_callback: options.server_name_callback.clone(),
            pool: Arc::new(Pool::default()),
            trust_sources,
            trust_anchors,
            verify_mode: mode,
            check_hostname: options.checks_hostname(),
            minimum_version: options.minimum_version,
            maximum_version: options.maximum_version,
        })
    }

    /// Bits of `trust::SYSTEM`, `EMBEDDED` and `CUSTOM`.
    pub fn trust_sources(&self) -> i32 {
        self.trust_sources
    }

    pub fn trust_anchor_count(&self) -> usize {
        self.trust_anchors
    }

    pub fn verify_mode(&self) -> VerifyMode {
        self.verify_mode
    }

    pub fn check_hostname(&self) -> bool {
        self.check_hostname
    }

    pub fn minimum_version(&self) -> Version {
        self.minimum_version
    }

    pub fn maximum_version(&self) -> Version {
        self.maximum_version
    }

    pub(crate) fn client_config(&self, named: bool) -> Result<Arc<ClientConfig>> {
        let config = self.client.as_ref().map_err(Error::clone)?;
        if named {
            return Ok(Arc::clone(config));
        }
        let nameless = self.nameless.get_or_init(|| {
            let mut config = ClientConfig::clone(config);
            config.resumption = Resumption::disabled();
            Arc::new(config)
        });
        Ok(Arc::clone(nameless))
    }

    pub(crate) fn server_config(&self) -> Result<Arc<ServerConfig>> {
        self.server.clone().ok_or_else(|| {
            Error::new(Status::InvalidArgument, "a server needs a certificate")
                .with_advice(Some("to give it one: netlib_tls_options_set_identity"))
        })
    }

    pub(crate) fn refused(&self) -> &Refused {
        &self.refused
    }

    pub(crate) fn asked(&self) -> &Asked {
        &self.asked
    }

    pub(crate) fn server_name_callback(&self) -> Option<&ServerNameCallback> {
        self.server_name_callback.as_ref()
    }

    pub(crate) fn pool(&self) -> &Arc<Pool> {
        &self.pool
    }
}

/// What the configurations are made of.
struct Parts<'a> {
    options: &'a TlsOptions,
    provider: Arc<CryptoProvider>,
    identity: Option<Arc<CertifiedKey>>,
    roots: Arc<RootCertStore>,
}

impl Parts<'_> {
    fn versions(&self) -> Vec<&'static SupportedProtocolVersion> {
        [(Version::Tls13, &version::TLS13), (Version::Tls12, &version::TLS12)]
            .into_iter()
            .filter(|(version, _)| (self.options.minimum_version..=self.options.maximum_version).contains(version))
            .map(|(_, supported)| supported)
            .collect()
    }

    /// webpki's judge of chains; `None` when nothing is asked of them.
    fn chain_verifier(&self) -> Result<Option<Arc<WebPkiServerVerifier>>> {
        if self.options.client_mode() == VerifyMode::None {
            return Ok(None);
        }
        if self.roots.is_empty() {
            return Err(self.nobody_trusted("certificates"));
        }
        let builder =
            WebPkiServerVerifier::builder_with_provider(Arc::clone(&self.roots), Arc::clone(&self.provider));
        builder.build().map(Some).map_err(|error| internal("the verifier of servers", error))
    }

    fn nobody_trusted(&self, what: &str) -> Error {
        let message = format!("{what} are to be verified, but no authority is trusted");
        let error = Error::new(Status::NoTrustAnchors, message)
            .with_advice(Some("to trust one: netlib_tls_options_add_ca_file, _add_ca_data or _set_system_trust"));
        if self.options.system_trust == Some(false) { error.prefixed(setter::SYSTEM_TRUST) } else { error }
    }

    fn client(&self, refused: &Arc<Refused>) -> Result<ClientConfig> {
        let verifier = ServerVerifier::new(
            self.chain_verifier()?,
            self.options.checks_hostname(),
            self.provider.signature_verification_algorithms,
            Arc::clone(refused),
        );
        let builder = ClientConfig::builder_with_provider(Arc::clone(&self.provider))
            .with_protocol_versions(&self.versions())
            .map_err(|error| internal("the client's configuration", error))?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier));
        let mut config = match &self.identity {
            Some(identity) => {
                builder.with_client_cert_resolver(Arc::new(SingleCertAndKey::from(Arc::clone(identity))))
            }
            None => builder.with_no_client_auth(),
        };
        config.alpn_protocols.clone_from(&self.options.alpn);
        // No tickets in TLS 1.2, which would be sent in the clear; those of TLS 1.3 are sound.
        config.resumption =
            Resumption::in_memory_sessions(REMEMBERED_SESSIONS).tls12_resumption(Tls12Resumption::SessionIdOnly);
        Ok(config)
    }

    fn server(&self, asked: &Arc<Asked>) -> Result<Option<ServerConfig>> {
        let Some(identity) = &self.identity else { return Ok(None) };
        let builder = ServerConfig::builder_with_provider(Arc::clone(&self.provider))
            .with_protocol_versions(&self.versions())
            .map_err(|error| internal("the server's configuration", error))?;
        let builder = match self.options.server_mode() {
            VerifyMode::None => builder.with_no_client_auth(),
            mode => {
                if self.roots.is_empty() {
                    return Err(self.nobody_trusted("client certificates"));
                }
                let verifier =
                    WebPkiClientVerifier::builder_with_provider(Arc::clone(&self.roots), Arc::clone(&self.provider));
                let verifier = if mode == VerifyMode::Optional { verifier.allow_unauthenticated() } else { verifier };
                let verifier = verifier.build().map_err(|error| internal("the verifier of clients", error))?;
                builder.with_client_cert_verifier(verifier)
            }
        };
        let identity = asked::Identity { key: Arc::clone(identity), asked: Arc::clone(asked) };
        let mut config = builder.with_cert_resolver(Arc::new(identity));
        config.alpn_protocols.clone_from(&self.options.alpn);
        Ok(Some(config))
    }
}

fn internal(what: &str, error: impl std::fmt::Display) -> Error {
    Error::new(Status::Internal, format!("{what} could not be made: {error}"))
}
