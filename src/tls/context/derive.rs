//! Derives a context from another one, for urllib3's ssl_wrap_socket and for ECH.

use std::ffi::CString;
use std::sync::{Arc, OnceLock};

use rustls::ClientConfig;
use rustls::crypto::CryptoProvider;

use super::{Context, configs};
use crate::error::{ApiName, Error, Result};
use crate::fork;
use crate::status::Status;
use crate::tls::TlsOptions;
use crate::tls::config::ech::{self, ConfigList};

/// The ALPN protocol that urllib3 always offers.
const HTTP: &[u8] = b"http/1.1";

impl Context {
    /// Returns the context for a client's socket, as urllib3's ssl_wrap_socket does: `context` extended by the
    /// authorities, CRLs, pins, identity and ECHConfigList in `options`, or, without `context`, a new context created
    /// from `options`. The returned context offers http/1.1 unless the options set ALPN protocols. The pins in
    /// `options` are added if `context` has no pins. Pins in both `options` and `context` are an error, because it
    /// would be unclear whether a peer must match both.
    ///
    /// The caller must call [`Context::open_keylog`] when the session is ready.
    pub fn for_socket(options: &TlsOptions, context: Option<&Arc<Context>>) -> Result<Arc<Context>> {
        let http = || vec![HTTP.to_vec()];
        let hiding = match (context, &options.ech.list) {
            (Some(context), Some(list)) => Some(context.with_config_list(list)?),
            _ => None,
        };
        let Some(context) = hiding.as_ref().or(context) else {
            let mut options = options.clone();
            if options.alpn.is_empty() {
                options.alpn = http();
            }
            return Context::without_open_keylog(Arc::new(options)).map(Arc::new);
        };
        let adds_system = options.system_trust == Some(true);
        let adds_trust =
            !options.custom_trust.is_empty() || !options.crls.is_empty() || options.embedded_trust || adds_system;
        let adds_pins = !options.pins.is_empty() || options.pins_replace_chain;
        if adds_pins && !context.options.pins.is_empty() {
            let message = "the context already has pins: set pins in the context or in the options, not in both";
            let setting = if options.pins.is_empty() { ApiName::SetPinsReplaceChain } else { ApiName::AddPin };
            return Err(Error::new(Status::InvalidArgument, message).with_setting(setting));
        }
        if !adds_trust && !adds_pins && options.identity.is_none() {
            return Ok(if options.alpn.is_empty() { context.for_http() } else { context.with_alpn(&options.alpn) });
        }
        let mut combined = TlsOptions::clone(&context.options);
        combined.alpn = if options.alpn.is_empty() { http() } else { options.alpn.clone() };
        // Early data allows at most one ALPN protocol.
        combined.early_data &= combined.alpn.len() < 2;
        combined.system_trust = Some(context.options.trusts_system() || adds_system);
        combined.embedded_trust |= options.embedded_trust;
        combined.custom_trust.extend_from_slice(&options.custom_trust);
        combined.crls.extend_from_slice(&options.crls);
        if adds_pins {
            combined.pins.clone_from(&options.pins);
            combined.pins_replace_chain = options.pins_replace_chain;
        }
        if options.identity.is_some() {
            combined.identity.clone_from(&options.identity);
            combined.key_password.clone_from(&options.key_password);
        }
        Context::without_open_keylog(Arc::new(combined)).map(Arc::new)
    }

    /// Returns a copy of the context with Encrypted Client Hello for the ECHConfigList `list`, in binary or base64.
    /// Reads no file.
    pub fn with_ech(&self, list: &[u8]) -> Result<Context> {
        self.with_config_list(&Arc::new(ConfigList::parse(list)?)).map(Arc::unwrap_or_clone)
    }

    fn with_config_list(&self, list: &Arc<ConfigList>) -> Result<Arc<Context>> {
        let mut options = TlsOptions::clone(&self.options);
        options.ech.list = Some(Arc::clone(list));
        let base = self.client.as_ref().map_err(Error::clone)?;
        let offer = self.offer.for_ech()?;
        let mut provider = CryptoProvider::clone(base.crypto_provider());
        provider.cipher_suites.clone_from(&offer.suites);
        let made = match (&self.verifier, options.ech.mode()?) {
            (Some(verifier), Some(mode)) => ech::derived(base, provider, Arc::clone(verifier), mode),
            _ => Err(rustls::Error::General("there is nothing to derive from".to_owned())),
        };
        let config = made.map_err(|error| configs::internal("the client's configuration", &error))?;
        let mut derived = self.clone();
        derived.client = Ok(Arc::new(config));
        // A context with ECH does not resume sessions, so the copy gets a new, empty store. If the copy shared the
        // store of the original context, the session count of the copy would include the sessions of the original
        // context, and removing the sessions of the copy would remove the sessions of the original context.
        derived.sessions = Arc::default();
        derived.client_without_name = OnceLock::new();
        derived.http = OnceLock::new();
        derived.digest = OnceLock::new();
        derived.offer = Arc::new(offer);
        derived.options = Arc::new(options);
        Ok(Arc::new(derived))
    }

    /// Returns a context like this one that offers only the ALPN protocol http/1.1: this context if it offers only
    /// http/1.1 already, otherwise a copy, which is created on first use and then reused.
    fn for_http(self: &Arc<Self>) -> Arc<Context> {
        if self.options.alpn.iter().eq([HTTP]) {
            return Arc::clone(self);
        }
        Arc::clone(fork::get_or_init(&self.http, || self.with_alpn(&[HTTP.to_vec()])))
    }

    /// Returns a copy of the context whose clients offer the ALPN protocols `protocols`. Reads no file. The copy and
    /// the original share a session store, which keeps sessions for different lists of protocols apart.
    fn with_alpn(&self, protocols: &[Vec<u8>]) -> Arc<Context> {
        let mut derived = self.clone();
        // Early data allows at most one ALPN protocol.
        derived.early_data_limits = self.early_data_limits.clone().filter(|_| protocols.len() < 2);
        if let Ok(client) = &self.client {
            let mut client = ClientConfig::clone(client);
            client.alpn_protocols = protocols.to_vec();
            client.resumption =
                configs::resumption(&self.options, &self.sessions, protocols, derived.early_data_limits.as_ref());
            client.enable_early_data = derived.early_data_limits.is_some();
            derived.client = Ok(Arc::new(client));
        }
        derived.client_without_name = OnceLock::new();
        derived.http = OnceLock::new();
        derived.digest = OnceLock::new();
        derived.alpn = protocols.iter().filter_map(|protocol| CString::new(protocol.as_slice()).ok()).collect();
        Arc::new(derived)
    }
}
