//! Loads the caller's certificate chain and private key from PEM, DER or PKCS#12.

pub(crate) mod identity;
pub(crate) mod key;
pub(crate) mod pem;
pub(crate) mod pkcs12;
