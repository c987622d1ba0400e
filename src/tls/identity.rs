//! Who we are: a certificate chain and its private key.

use std::path::PathBuf;
use std::sync::Arc;

use rustls::InconsistentKeys;
use rustls::crypto::CryptoProvider;
use rustls::sign::CertifiedKey;

use super::pem;
use crate::error::{Error, Result};
use crate::status::Status;

/// Where an identity is read from. A missing key stands in the same place as the chain.
#[derive(Clone)]
pub(crate) enum Source {
    Data { chain: Vec<u8>, key: Option<Vec<u8>> },
    Files { chain: PathBuf, key: Option<PathBuf> },
}

pub(crate) fn load(source: &Source, provider: &CryptoProvider) -> Result<Arc<CertifiedKey>> {
    let (chain, chain_name, key, key_name) = match source {
        Source::Data { chain, key } => {
            let key_name = if key.is_some() { "key" } else { "chain" };
            (chain.clone(), "chain".to_owned(), key.clone(), key_name.to_owned())
        }
        Source::Files { chain, key } => {
            let chain_bytes = pem::read_file(chain, "certificate chain")?;
            let key_bytes = key.as_ref().map(|path| pem::read_file(path, "private key")).transpose()?;
            let name = |path: &PathBuf| path.display().to_string();
            (chain_bytes, name(chain), key_bytes, key.as_ref().map_or_else(|| name(chain), name))
        }
    };
    let certificates = pem::certificates(&chain, &chain_name)?;
    let key = pem::private_key(key.as_deref().unwrap_or(&chain), &key_name)?;
    let unusable = |what: &str, error| Error::new(Status::InvalidPem, format!("{what} cannot be used: {error}"));
    let key = provider.key_provider.load_private_key(key).map_err(|error| unusable(&key_name, error))?;
    let identity = CertifiedKey::new(certificates, key);
    match identity.keys_match() {
        // Unknown: a key that cannot tell its public half, as one in hardware.
        Ok(()) | Err(rustls::Error::InconsistentKeys(InconsistentKeys::Unknown)) => Ok(Arc::new(identity)),
        Err(rustls::Error::InconsistentKeys(_)) => Err(Error::new(
            Status::KeyMismatch,
            format!("the private key in {key_name} does not belong to the first certificate in {chain_name}"),
        )),
        Err(error) => Err(unusable(&chain_name, error)),
    }
}
