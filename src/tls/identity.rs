//! Who we are: a certificate chain and its private key.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::InconsistentKeys;
use rustls::crypto::CryptoProvider;
use rustls::sign::CertifiedKey;

use super::options::setter;
use super::pem;
use crate::error::{Error, Result};
use crate::status::Status;

/// Where an identity is read from. A missing key stands in the same place as the chain.
#[derive(Clone)]
pub(crate) enum Source {
    Data { chain: Vec<u8>, key: Option<Vec<u8>> },
    Files { chain: PathBuf, key: Option<PathBuf> },
}

/// An error begins with the setter that named the source.
pub(crate) fn load(source: &Source, provider: &CryptoProvider) -> Result<Arc<CertifiedKey>> {
    match source {
        Source::Data { chain, key } => {
            let (key, key_name) = key.as_ref().map_or((chain, "chain"), |key| (key, "key"));
            parse(chain, "chain", key, key_name, provider).map_err(|error| error.prefixed(setter::IDENTITY))
        }
        Source::Files { chain, key } => {
            load_files(chain, key.as_ref(), provider).map_err(|error| error.prefixed(setter::IDENTITY_FILES))
        }
    }
}

fn load_files(chain: &Path, key: Option<&PathBuf>, provider: &CryptoProvider) -> Result<Arc<CertifiedKey>> {
    let chain_bytes = pem::read_file(chain, "certificate chain")?;
    let key_bytes = key.map(|path| pem::read_file(path, "private key")).transpose()?;
    let name = |path: &Path| path.display().to_string();
    let key_name = key.map_or_else(|| name(chain), |path| name(path));
    parse(&chain_bytes, &name(chain), key_bytes.as_ref().unwrap_or(&chain_bytes), &key_name, provider)
}

fn parse(
    chain: &[u8],
    chain_name: &str,
    key: &[u8],
    key_name: &str,
    provider: &CryptoProvider,
) -> Result<Arc<CertifiedKey>> {
    let certificates = pem::certificates(chain, chain_name)?;
    let key = pem::private_key(key, key_name)?;
    let unusable = |what: &str, error| Error::new(Status::InvalidPem, format!("{what} cannot be used: {error}"));
    let key = provider.key_provider.load_private_key(key).map_err(|error| unusable(key_name, error))?;
    let identity = CertifiedKey::new(certificates, key);
    match identity.keys_match() {
        // Unknown: a key that cannot tell its public half, as one in hardware.
        Ok(()) | Err(rustls::Error::InconsistentKeys(InconsistentKeys::Unknown)) => Ok(Arc::new(identity)),
        Err(rustls::Error::InconsistentKeys(_)) => Err(Error::new(
            Status::KeyMismatch,
            format!("the private key in {key_name} does not belong to the first certificate in {chain_name}"),
        )),
        Err(error) => Err(unusable(chain_name, error)),
    }
}
