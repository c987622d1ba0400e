//! Loads private keys: PKCS#8, PKCS#1 or SEC1, in PEM or DER. A key may be encrypted as PKCS#8 ([`pkcs8`]) or as
//! traditional PEM ([`traditional`]). Secrets are wiped when dropped.
//!
//! The module `pkcs12` also uses the passwords, the encryption schemes ([`scheme`]) and the errors ([`Refusal`]) of
//! this module.

pub(crate) mod algorithm_names;
mod password;
pub(crate) mod pbes1;
pub(crate) mod pbes2;
pub(super) mod pkcs8;
pub(crate) mod scheme;
mod secret;
mod shape;
mod traditional;

#[cfg(test)]
mod tests;

use std::mem;
use std::sync::Arc;

use base64ct::Encoding;
use rustls::crypto::CryptoProvider;
use rustls::sign::SigningKey;

pub(crate) use self::password::Password;
pub(super) use self::password::PasswordEncoding;
use self::scheme::WorkBudget;
pub(crate) use self::secret::{Opened, Refusal, Secret, copy};
use self::shape::Shape;
use super::pem;
use crate::error::{Error, Result, truncated};
use crate::fork;
use crate::status::Status;
use crate::tls::{error_text, x509};

/// Loads the first private key in `bytes` for signing. Certificates and other PEM sections are skipped. `what` names
/// the input in error messages.
pub(crate) fn load(
    bytes: &[u8],
    what: &str,
    password: Option<&Password>,
    provider: &CryptoProvider,
) -> Result<Arc<dyn SigningKey>> {
    prepare(find(bytes, password).map_err(|refusal| refusal.error(what))?, what, provider)
}

/// Converts a decrypted private key in DER into a signing key.
pub(crate) fn prepare(mut der: Secret, what: &str, provider: &CryptoProvider) -> Result<Arc<dyn SigningKey>> {
    let no_key = || Refusal::malformed("it is not in PKCS#8, PKCS#1 or SEC1 form").error(what);
    let shape = Shape::of(&der).ok_or_else(no_key)?;
    let unusable = shape.unusable(&der);
    let _delay = fork::delay();
    // The provider wipes the DER that it is given.
    let loaded = provider.key_provider.load_private_key(shape.typed(mem::take(&mut *der)));
    loaded.map_err(|error| match unusable {
        Some(why) => Error::new(Status::Unsupported, format!("the private key in {what} {why}")),
        None => Error::new(
            Status::InvalidPem,
            format!("the private key in {what} cannot be used: {}", error_text::other(&error)),
        ),
    })
}

fn find(bytes: &[u8], password: Option<&Password>) -> Opened<Secret> {
    if !pem::is_pem(bytes) {
        let absent = || Refusal::Absent("contains neither a PEM nor a DER private key".to_owned());
        let elements = x509::split_sequences(bytes).ok_or_else(absent)?;
        let key = elements.into_iter().find(|der| pkcs8::is_private_key(der)).ok_or_else(absent)?;
        return open(copy(key)?, password);
    }
    let mut foreign = None;
    for section in pem::Sections::of(bytes) {
        let section = section.map_err(|error| Refusal::Absent(format!("is not valid PEM: {error}")))?;
        match section.label {
            b"PRIVATE KEY" | b"ENCRYPTED PRIVATE KEY" | b"RSA PRIVATE KEY" | b"EC PRIVATE KEY" => {
                let (headers, text) = traditional::split_headers(section.body)?;
                return match headers {
                    Some(headers) => traditional::decrypt(&headers, decode(text)?, password),
                    None => open(decode(text)?, password),
                };
            }
            label if label.ends_with(b"PRIVATE KEY") => foreign = foreign.or(Some(label)),
            _ => {}
        }
    }
    Err(Refusal::Absent(match foreign {
        Some(label) => {
            let label = String::from_utf8_lossy(label);
            format!("contains no private key in a supported form, only a section \"{}\"", truncated(&label))
        }
        None => "contains no private key".to_owned(),
    }))
}

fn open(der: Secret, password: Option<&Password>) -> Opened<Secret> {
    if !pkcs8::is_encrypted(&der) {
        return Ok(der);
    }
    let encodings = password.map(|password| PasswordEncoding::all(Some(password))).transpose()?;
    pkcs8::decrypt(&der, encodings.as_deref(), &mut WorkBudget::new())
}

/// Decrypts an encrypted PKCS#8 key.
pub(crate) fn open_pkcs8(der: &[u8], encodings: &[PasswordEncoding], budget: &mut WorkBudget) -> Opened<Secret> {
    pkcs8::decrypt(der, Some(encodings), budget)
}

/// Decodes base64 in constant time.
fn decode(text: &[u8]) -> Opened<Secret> {
    let mut buffer = copy(text)?;
    buffer.retain(|byte| !byte.is_ascii_whitespace());
    let decoded = base64ct::Base64::decode_in_place(&mut buffer).map(<[u8]>::len);
    buffer.truncate(decoded.map_err(|_| Refusal::malformed("its text is not valid base64"))?);
    Ok(buffer)
}
