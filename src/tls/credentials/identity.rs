//! Loads an identity: the application's certificate chain and its private key.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::InconsistentKeys;
use rustls::crypto::CryptoProvider;
use rustls::sign::CertifiedKey;
use zeroize::Zeroizing;

use super::key::{self, Password};
use super::{pem, pkcs12};
use crate::error::{ApiName, Error, Result};
use crate::status::Status;
use crate::tls::error_text;

/// Where an identity is loaded from. If `key` is `None`, `chain` contains both the certificates and the private key.
/// Data in PKCS#12 is recognised by its bytes. Clones share the bytes.
#[derive(Clone)]
pub(crate) enum Source {
    Data { chain: Arc<Zeroizing<Vec<u8>>>, key: Option<Arc<Zeroizing<Vec<u8>>>> },
    Files { chain: PathBuf, key: Option<PathBuf> },
}

/// Loads a certificate chain and its private key. Errors name the setter that the application called,
/// `netlib_tls_options_set_identity` or `netlib_tls_options_set_identity_files`.
pub(crate) fn load(
    source: &Source,
    password: Option<&Password>,
    provider: &CryptoProvider,
) -> Result<Arc<CertifiedKey>> {
    match source {
        Source::Data { chain, key } => {
            let key = key.as_ref().map_or((chain.as_slice(), "chain"), |key| (key.as_slice(), "key"));
            pair((chain, "chain"), key, password, provider).map_err(|error| error.with_setting(ApiName::SetIdentity))
        }
        Source::Files { chain, key } => load_files(chain, key.as_deref(), password, provider)
            .map_err(|error| error.with_setting(ApiName::SetIdentityFiles)),
    }
}

fn load_files(
    chain: &Path,
    key: Option<&Path>,
    password: Option<&Password>,
    provider: &CryptoProvider,
) -> Result<Arc<CertifiedKey>> {
    let chain_bytes = pem::read_secret_file(chain, "certificate chain")?;
    let key_bytes = key.map(|path| pem::read_secret_file(path, "private key")).transpose()?;
    let chain_name = chain.display().to_string();
    let key_name = key.unwrap_or(chain).display().to_string();
    let key_bytes = key_bytes.as_ref().unwrap_or(&chain_bytes);
    pair((&chain_bytes, &chain_name), (key_bytes, &key_name), password, provider)
}

/// Loads a certificate chain and its private key. `chain` and `key` are the bytes of the two inputs; `chain_name` and
/// `key_name` name the inputs in error messages.
fn pair(
    (chain, chain_name): (&[u8], &str),
    (key, key_name): (&[u8], &str),
    password: Option<&Password>,
    provider: &CryptoProvider,
) -> Result<Arc<CertifiedKey>> {
    if pkcs12::is_one(chain) {
        // The application may name one PKCS#12 file as both the chain and the key.
        if key != chain {
            let message = format!("{chain_name} is PKCS#12 and contains its own key: {key_name} cannot be given too");
            return Err(Error::new(Status::InvalidArgument, message));
        }
        return pkcs12::load(chain, chain_name, password, provider);
    }
    if pkcs12::is_one(key) {
        let message = format!("{key_name} is PKCS#12: pass it in place of the chain, without a key");
        return Err(Error::new(Status::InvalidArgument, message));
    }
    let certificates = pem::certificates_or(chain, chain_name, ", nor PKCS#12")?;
    let key = key::load(key, key_name, password, provider)?;
    let identity = CertifiedKey::new(certificates, key);
    match identity.keys_match() {
        // `Unknown`: rustls cannot get the public key of the private key, for example if the key is in hardware.
        Ok(()) | Err(rustls::Error::InconsistentKeys(InconsistentKeys::Unknown)) => Ok(Arc::new(identity)),
        Err(rustls::Error::InconsistentKeys(_)) => Err(Error::new(
            Status::KeyMismatch,
            format!("the private key in {key_name} does not belong to the first certificate in {chain_name}"),
        )),
        Err(error) => {
            Err(Error::new(Status::InvalidPem, format!("{chain_name} cannot be used: {}", error_text::other(&error))))
        }
    }
}
