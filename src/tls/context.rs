//! Implements TLS contexts, which hold the settings, certificates and sessions that streams share.

mod configs;
mod derive;
mod digest;

use std::ffi::{CStr, CString};
use std::sync::{Arc, OnceLock};

use rustls::client::Resumption;
use rustls::crypto::aws_lc_rs;
use rustls::sign::CertifiedKey;
use rustls::{ClientConfig, ServerConfig};

use crate::callback::WallClock;
use crate::error::{Advice, ApiName, Error, Result};
use crate::fork;
use crate::status::Status;
use crate::tls::config::{
    KeylogFile, Offer, ServerNameCallback, TlsOptions, VerifyMode, Version,
    ciphers::{self, Selection},
    code_points,
    ech::Ech,
    groups,
    options::bits,
};
use crate::tls::credentials::identity;
use crate::tls::session::{EarlyDataLimits, PeerRequests, Pool, Restrictions, Sessions, suites};
use crate::tls::verify::{
    Pins, Policy, ServerVerifier, Times, VerifierConfig, VerifierErrors,
    anchor_constraints::crl_signer,
    crl,
    trust::{self, Environment},
};
use configs::{ConfigInput, no_trust_anchors};

/// A TLS context. The context is immutable and shared by its streams. Clones of a context share the configurations,
/// sessions and buffers.
#[derive(Clone)]
pub struct Context {
    /// The options that the context was created from.
    options: Arc<TlsOptions>,
    /// The configuration for clients; an error if no client could ever verify a server. A context that is used only for
    /// servers needs no client configuration.
    client: Result<Arc<ClientConfig>>,
    /// The verifier in the client configuration.
    verifier: Option<Arc<ServerVerifier>>,
    /// The configuration for clients without a server name. These clients do not resume sessions, because sessions are
    /// stored by server name.
    client_without_name: OnceLock<Arc<ClientConfig>>,
    /// The sessions that clients can resume.
    sessions: Arc<Sessions>,
    server: Option<Arc<ServerConfig>>,
    /// The policy for verifying chains. The policy exists even if no session verifies a chain.
    policy: Arc<Policy>,
    verifier_errors: Arc<VerifierErrors>,
    times: Option<Arc<Times>>,
    peer_requests: Arc<PeerRequests>,
    /// Set if clients may send early data.
    early_data_limits: Option<Arc<EarlyDataLimits>>,
    server_name_callback: Option<ServerNameCallback>,
    pool: Arc<Pool>,
    trust_sources: i32,
    trust_anchors: usize,
    kept_trust_anchors: Arc<[Option<Vec<u8>>]>,
    trust_loaded: Arc<[trust::Loaded]>,
    verify_mode: VerifyMode,
    verify_flags: i32,
    check_hostname: bool,
    offer: Arc<Offer>,
    alpn: Vec<CString>,
    keylog: Option<Arc<KeylogFile>>,
    /// A copy of the context that offers only the ALPN protocol http/1.1, created on first use.
    http: OnceLock<Arc<Context>>,
    /// The digest of everything that determines the context's behaviour, computed on first use.
    digest: OnceLock<CString>,
    identity: Option<Arc<CertifiedKey>>,
}

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context").finish_non_exhaustive()
    }
}

impl Context {
    /// Creates a context like [`Context::of`], from a copy of the options.
    pub fn new(options: &TlsOptions) -> Result<Context> {
        Context::of(Arc::new(options.clone()))
    }

    /// Creates a context. Reads the files that the options name, the system's certificate store and environment
    /// variables; later calls on the context read none of these.
    pub fn of(options: Arc<TlsOptions>) -> Result<Context> {
        let context = Context::without_open_keylog(options)?;
        context.open_keylog()?;
        Ok(context)
    }

    /// Creates the key log file, if there is one, and opens it, unless it is open. Called last, so that a failure
    /// leaves no key log file behind.
    pub fn open_keylog(&self) -> Result<()> {
        self.keylog.as_ref().map_or(Ok(()), |keylog| keylog.open())
    }

    /// Creates a context like [`Context::of`]. The caller must then call [`Context::open_keylog`].
    fn without_open_keylog(kept: Arc<TlsOptions>) -> Result<Context> {
        let options = &*kept;
        // rustls' process-wide default provider is not used, because another library in the process may have set it.
        let mut provider = aws_lc_rs::default_provider();
        suites::install(&mut provider.cipher_suites);
        let offer = options.offer(&provider)?;
        provider.cipher_suites.clone_from(&offer.suites);
        provider.kx_groups.clone_from(&offer.groups);
        let provider = Arc::new(provider);
        let password = options.key_password.as_ref();
        let identity =
            options.identity.as_ref().map(|source| identity::load(source, password, &provider)).transpose()?;
        let mode = options.client_mode();
        let environment = if options.use_environment { Environment::read() } else { Environment::default() };
        let sources = trust::TrustConfig {
            custom: &options.custom_trust,
            system: options.trusts_system(),
            embedded: options.embedded_trust,
            keeps_certificates: options.keeps_trust_anchors,
        };
        let trust = trust::load(&sources, &environment)?;
        let (trust_sources, trust_anchors) = (trust.sources, trust.anchors.len());
        let algorithms = provider.signature_verification_algorithms;
        let crls = crl::load(&options.crls, &|issuer, der| crl_signer(&trust.anchors, &algorithms, issuer, der))?;
        let verify_flags = crl::effective_flags(options.verify_flags, !crls.is_empty())?;
        if options.pins_replace_chain && options.pins.is_empty() {
            let error =
                Error::new(Status::InvalidArgument, "pins are to replace chain verification, but there is no pin");
            let advice = Advice::new("to add one", ApiName::AddPin);
            return Err(error.with_setting(ApiName::SetPinsReplaceChain).with_advice(advice));
        }
        let policy = Policy {
            verifies_chain: options.verifies_chain(),
            pins: Pins::new(&options.pins, &trust.custom)?,
            anchors: trust.anchors,
            crls,
            flags: verify_flags,
            algorithms,
        };
        options.check_early_data()?;
        let early_data_limits = options.early_data.then(|| Arc::new(EarlyDataLimits::default()));
        let verifier_errors = Arc::new(VerifierErrors::default());
        let times = options.wall_clock.is_some().then(|| Arc::new(Times::default()));
        let verifier_config =
            VerifierConfig { algorithms, times: times.clone(), verifier_errors: Arc::clone(&verifier_errors) };
        let policy = Arc::new(policy);
        let sessions = Arc::<Sessions>::default();
        let input = ConfigInput {
            options,
            sessions: &sessions,
            provider,
            offer: &offer,
            identity,
            policy: Arc::clone(&policy),
            verifier_config,
            early_data_limits: early_data_limits.clone(),
        };

        let peer_requests = Arc::new(PeerRequests::default());
        let is_server_only = options.server_only;
        if is_server_only && input.identity.is_none() {
            return Err(no_identity().with_setting(ApiName::SetServerOnly));
        }
        let verifier = match input.verifier() {
            Err(error) if is_server_only => Err(error),
            // A context with an identity may be meant for servers only, and a server does not verify server
            // certificates. So missing authorities are reported only when a client is created.
            Err(error) if error.status() == Status::NoTrustAnchors && input.identity.is_some() => Err(error),
            made => Ok(Arc::new(made?)),
        };
        let mut client = match &verifier {
            Ok(verifier) => Ok(input.client(Arc::clone(verifier), &peer_requests)?),
            Err(error) => Err(error.clone()),
        };
        let mut server = input.server(&peer_requests)?;
        let identity = input.identity;
        let keylog = KeylogFile::of(options)?.map(Arc::new);
        if let Some(keylog) = &keylog {
            if let Ok(client) = &mut client {
                client.key_log = Arc::<KeylogFile>::clone(keylog);
            }
            if let Some(server) = &mut server {
                server.key_log = Arc::<KeylogFile>::clone(keylog);
            }
        }
        Ok(Context {
            client: client.map(Arc::new),
            verifier: verifier.ok(),
            client_without_name: OnceLock::new(),
            sessions,
            server: server.map(Arc::new),
            policy,
            verifier_errors,
            times,
            peer_requests,
            early_data_limits,
            server_name_callback: options.server_name_callback.clone(),
            pool: Arc::new(Pool::default()),
            trust_sources,
            trust_anchors,
            kept_trust_anchors: trust.kept.into(),
            trust_loaded: trust.loaded.into(),
            verify_mode: mode,
            verify_flags,
            check_hostname: options.checks_hostname(),
            offer: Arc::new(offer),
            alpn: options.alpn.iter().filter_map(|protocol| CString::new(protocol.as_slice()).ok()).collect(),
            keylog,
            http: OnceLock::new(),
            digest: OnceLock::new(),
            identity,
            options: kept,
        })
    }

    /// Returns which kinds of sources contained authorities: bits of `trust::SYSTEM`, `EMBEDDED` and `CUSTOM`.
    pub fn trust_sources(&self) -> i32 {
        self.trust_sources
    }

    pub fn trust_anchor_count(&self) -> usize {
        self.trust_anchors
    }

    /// Returns the certificate of a trust anchor in DER; `None` for a built-in authority, and if the options do not keep
    /// the certificates.
    pub fn trust_anchor(&self, index: usize) -> Option<&[u8]> {
        self.kept_trust_anchors.get(index)?.as_deref()
    }

    /// Returns the sources of authorities in the order of loading: the application's sources, the system's store, the
    /// built-in authorities.
    pub fn trust_loaded(&self) -> &[trust::Loaded] {
        &self.trust_loaded
    }

    pub fn verify_mode(&self) -> VerifyMode {
        self.verify_mode
    }

    /// Returns the verification flags in effect: bits of `crl::flag`.
    pub fn verify_flags(&self) -> i32 {
        self.verify_flags
    }

    pub fn check_hostname(&self) -> bool {
        self.check_hostname
    }

    pub fn pin_count(&self) -> usize {
        self.options.pins.len()
    }

    pub fn pins_replace_chain(&self) -> bool {
        self.options.pins_replace_chain
    }

    /// Returns the options that the context was created from, for creating a similar context.
    pub fn to_options(&self) -> Arc<TlsOptions> {
        Arc::clone(&self.options)
    }

    /// Returns the oldest version that can be negotiated.
    pub fn minimum_version(&self) -> Version {
        self.offer.minimum()
    }

    pub fn maximum_version(&self) -> Version {
        self.offer.maximum()
    }

    /// Returns OpenSSL's option bits: the bits that the application set and the bits that always apply.
    pub fn option_bits(&self) -> i64 {
        bits::effective(self.options.bits)
    }

    pub fn resumption(&self) -> bool {
        self.options.resumption && self.options.ech.list.is_none()
    }

    pub fn early_data(&self) -> bool {
        self.options.early_data && self.resumption()
    }

    pub fn cipher_count(&self) -> usize {
        self.offer.suites.len()
    }

    /// Returns the IANA name of the cipher suite at `index`.
    pub fn cipher(&self, index: usize) -> Option<&'static CStr> {
        self.offer.suites.get(index).and_then(|suite| code_points::cipher_suite(suite.suite()))
    }

    pub fn cipher_openssl_name(&self, index: usize) -> Option<&'static CStr> {
        self.offer.suites.get(index).and_then(|suite| ciphers::openssl_name(suite.suite()))
    }

    pub fn key_exchange_group_count(&self) -> usize {
        self.offer.groups.len()
    }

    /// Returns the IANA name of the key exchange group at `index`.
    pub fn key_exchange_group(&self, index: usize) -> Option<&'static CStr> {
        self.offer.groups.get(index).and_then(|group| groups::name(*group))
    }

    /// Returns the words of the cipher string that are neither a known keyword nor the name of a supported cipher
    /// suite.
    pub fn unknown_ciphers(&self) -> Option<&CStr> {
        self.options.ciphers.as_ref().and_then(Selection::unknown)
    }

    pub fn alpn_protocols(&self) -> &[CString] {
        &self.alpn
    }

    pub fn keylog_file(&self) -> Option<&CStr> {
        self.keylog.as_ref().map(|keylog| keylog.path())
    }

    pub(crate) fn ech(&self) -> &Ech {
        &self.options.ech
    }

    /// Returns the ECHConfigList that clients use, in binary.
    pub fn ech_config_list(&self) -> Option<&[u8]> {
        Some(&self.options.ech.list.as_ref()?.bytes)
    }

    /// Returns the ECH public name, which an observer sees instead of the server's name.
    pub fn ech_public_name(&self) -> Option<&CStr> {
        Some(&self.options.ech.list.as_ref()?.public_name)
    }

    pub fn ech_grease(&self) -> bool {
        self.options.ech.grease
    }

    pub(crate) fn client_config(&self, named: bool) -> Result<Arc<ClientConfig>> {
        let config = self.client.as_ref().map_err(Error::clone)?;
        if named {
            return Ok(Arc::clone(config));
        }
        let client_without_name = fork::get_or_init(&self.client_without_name, || {
            let mut config = ClientConfig::clone(config);
            config.resumption = Resumption::disabled();
            Arc::new(config)
        });
        Ok(Arc::clone(client_without_name))
    }

    /// Returns which settings may restrict what sessions offer: versions, ECH, cipher suites or groups.
    pub(crate) fn restrictions(&self) -> Restrictions {
        Restrictions {
            versions: self.minimum_version() == self.maximum_version(),
            ech: self.options.ech.is_sent(),
            ciphers: self.options.ciphers.is_some(),
            groups: self.options.groups.is_some(),
        }
    }

    pub(crate) fn server_config(&self) -> Result<Arc<ServerConfig>> {
        if self.options.ech.is_sent() {
            let message = "the context has Encrypted Client Hello, which netlib supports for clients only";
            return Err(Error::new(Status::InvalidArgument, message));
        }
        // A server that requests no certificate would never check the pins.
        if self.server.is_some() && self.pin_count() > 0 && self.options.server_mode() == VerifyMode::None {
            let message = "there are pins, but no client certificate is requested";
            let usage = " with NETLIB_CERT_REQUIRED";
            let advice = Advice::with_usage("to request client certificates", ApiName::SetVerifyMode, usage);
            return Err(Error::new(Status::InvalidArgument, message).with_advice(advice));
        }
        self.server.clone().ok_or_else(no_identity)
    }

    pub(crate) fn sessions(&self) -> &Arc<Sessions> {
        &self.sessions
    }

    /// Returns the number of stored sessions that clients can resume.
    pub fn session_count(&self) -> usize {
        self.sessions.count()
    }

    /// Removes all stored sessions. Sessions that the application has exported are not affected.
    pub fn forget_sessions(&self) {
        self.sessions.forget();
    }

    /// Returns true if clients check the validity dates of servers' certificates.
    pub(crate) fn checks_validity_dates(&self) -> bool {
        self.verify_mode != VerifyMode::None && self.policy.verifies_chain
    }

    /// Returns true if servers check the validity dates of clients' certificates.
    pub(crate) fn checks_client_validity_dates(&self) -> bool {
        self.options.server_mode() != VerifyMode::None && self.policy.verifies_chain
    }

    /// Returns the earliest nextUpdate after `now` among the context's CRLs.
    pub(crate) fn next_crl_update(&self, now: u64) -> Option<u64> {
        let ends = self.policy.crls.iter().map(|crl| u64::try_from(crl.next_update).unwrap_or(0));
        ends.filter(|end| *end > now).min()
    }

    pub(crate) fn verifier_errors(&self) -> &VerifierErrors {
        &self.verifier_errors
    }

    /// Returns the policy for verifying chains. Fails if `verifies_chain` is set and no authority is trusted.
    pub(super) fn policy_for(&self, verifies_chain: bool) -> Result<&Policy> {
        if verifies_chain && self.policy.anchors.is_empty() {
            return Err(no_trust_anchors(&self.options, "certificates"));
        }
        Ok(&self.policy)
    }

    /// Returns the clock callback, if there is one.
    pub(super) fn wall_clock(&self) -> Option<&WallClock> {
        self.options.wall_clock.as_ref()
    }

    /// Returns the clock callback if sessions in this role (server or client) verify chains.
    pub(crate) fn clock(&self, is_server: bool) -> Option<&WallClock> {
        let mode = if is_server { self.options.server_mode() } else { self.options.client_mode() };
        self.wall_clock().filter(|_| mode != VerifyMode::None && self.options.verifies_chain())
    }

    pub(crate) fn times(&self) -> Option<&Times> {
        self.times.as_deref()
    }

    pub(crate) fn early_data_limits(&self) -> Option<&EarlyDataLimits> {
        self.early_data_limits.as_deref()
    }

    pub(crate) fn peer_requests(&self) -> &PeerRequests {
        &self.peer_requests
    }

    pub(crate) fn server_name_callback(&self) -> Option<&ServerNameCallback> {
        self.server_name_callback.as_ref()
    }

    pub(crate) fn pool(&self) -> &Arc<Pool> {
        &self.pool
    }
}

fn no_identity() -> Error {
    Error::new(Status::InvalidArgument, "a server needs a certificate")
        .with_advice(Advice::new("to set one", ApiName::SetIdentity))
}

#[cfg(test)]
mod tests;
