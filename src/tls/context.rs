//! Contexts: everything that streams share, made once.

use std::sync::{Arc, OnceLock};

use rustls::client::{Resumption, Tls12Resumption};
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{ClientConfig, ServerConfig, SupportedProtocolVersion, version};

use super::names::Version;
use super::options::{TlsOptions, VerifyMode, setter};
use super::pool::Pool;
use super::trust::{self, Environment};
use super::verify::Policy;
use super::verify::peer::{ClientVerifier, Means, Notes, ServerVerifier};
use super::{crl, identity};
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
    notes: Arc<Notes>,
    pool: Arc<Pool>,
    trust_sources: i32,
    trust_anchors: usize,
    trust_loaded: Vec<trust::Loaded>,
    verify_mode: VerifyMode,
    verify_flags: i32,
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
        let environment = if options.use_environment { Environment::read() } else { Environment::default() };
        let asked = trust::Asked {
            custom: &options.custom_trust,
            system: options.trusts_system(),
            embedded: options.embedded_trust,
        };
        let trust = trust::load(&asked, &environment)?;
        let (trust_sources, trust_anchors) = (trust.sources, trust.roots.len());
        let crls = crl::load(&options.crls)?;
        let verify_flags = crl::effective_flags(options.verify_flags, !crls.is_empty())?;
        let policy = Policy {
            roots: Arc::new(trust.roots),
            custom: trust.custom,
            crls,
            flags: verify_flags,
            algorithms: provider.signature_verification_algorithms,
        };
        let notes = Arc::new(Notes::default());
        let means = Means {
            algorithms: provider.signature_verification_algorithms,
            clock: options.wall_clock.clone(),
            notes: Arc::clone(&notes),
        };
        let parts = Parts { options, provider, identity, policy: Arc::new(policy), means };

        let client = match parts.client() {
            // Kept for whoever connects with it, because a server's side does not need it.
            Err(error) if error.status() == Status::NoTrustAnchors && parts.identity.is_some() => Err(error),
            made => Ok(Arc::new(made?)),
        };
        Ok(Context {
            client,
            nameless: OnceLock::new(),
            server: parts.server()?.map(Arc::new),
            notes,
            pool: Arc::new(Pool::default()),
            trust_sources,
            trust_anchors,
            trust_loaded: trust.loaded,
            verify_mode: mode,
            verify_flags,
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

    /// In the order in which they were read: the caller's, the system's, those built in.
    pub fn trust_loaded(&self) -> &[trust::Loaded] {
        &self.trust_loaded
    }

    pub fn verify_mode(&self) -> VerifyMode {
        self.verify_mode
    }

    /// Bits of `crl::flag`.
    pub fn verify_flags(&self) -> i32 {
        self.verify_flags
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

    pub(crate) fn notes(&self) -> &Notes {
        &self.notes
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
    policy: Arc<Policy>,
    means: Means,
}

impl Parts<'_> {
    fn versions(&self) -> Vec<&'static SupportedProtocolVersion> {
        [(Version::Tls13, &version::TLS13), (Version::Tls12, &version::TLS12)]
            .into_iter()
            .filter(|(version, _)| (self.options.minimum_version..=self.options.maximum_version).contains(version))
            .map(|(_, supported)| supported)
            .collect()
    }

    /// What chains are judged by; `None` when nothing is asked of them.
    fn server_policy(&self) -> Result<Option<Arc<Policy>>> {
        if self.options.client_mode() == VerifyMode::None {
            return Ok(None);
        }
        if self.policy.roots.is_empty() {
            return Err(self.nobody_trusted("certificates"));
        }
        Ok(Some(Arc::clone(&self.policy)))
    }

    fn nobody_trusted(&self, what: &str) -> Error {
        let message = format!("{what} are to be verified, but no authority is trusted");
        let error = Error::new(Status::NoTrustAnchors, message)
            .with_advice(Some("to trust one: netlib_tls_options_add_ca_file, _add_ca_data or _set_system_trust"));
        if self.options.system_trust == Some(false) { error.prefixed(setter::SYSTEM_TRUST) } else { error }
    }

    fn client(&self) -> Result<ClientConfig> {
        let verifier = ServerVerifier::new(self.server_policy()?, self.options.checks_hostname(), self.means.clone());
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

    fn server(&self) -> Result<Option<ServerConfig>> {
        let Some(identity) = &self.identity else { return Ok(None) };
        let builder = ServerConfig::builder_with_provider(Arc::clone(&self.provider))
            .with_protocol_versions(&self.versions())
            .map_err(|error| internal("the server's configuration", error))?;
        let builder = match self.options.server_mode() {
            VerifyMode::None => builder.with_no_client_auth(),
            mode => {
                if self.policy.roots.is_empty() {
                    return Err(self.nobody_trusted("client certificates"));
                }
                let mandatory = mode != VerifyMode::Optional;
                let verifier = ClientVerifier::new(Arc::clone(&self.policy), mandatory, self.means.clone());
                builder.with_client_cert_verifier(Arc::new(verifier))
            }
        };
        let mut config = builder.with_cert_resolver(Arc::new(SingleCertAndKey::from(Arc::clone(identity))));
        config.alpn_protocols.clone_from(&self.options.alpn);
        Ok(Some(config))
    }
}

fn internal(what: &str, error: impl std::fmt::Display) -> Error {
    Error::new(Status::Internal, format!("{what} could not be made: {error}"))
}
