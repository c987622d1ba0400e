//! Reads the fields of certificates for error messages, for `netlib_certificate`, and for checks that webpki lacks.
//! Certificate chains are verified by webpki, not here.
//!
//! [`Certificate`] borrows everything from its DER and allocates only when text is requested. The parser is lenient: it
//! accepts certificates that real authorities issued in violation of RFC 5280, but never returns a value that is not in
//! the certificate.

pub mod certificate_text;
pub mod fingerprint;

mod certificate;
pub(crate) mod der;
pub(crate) mod extensions;
pub(crate) mod general_name;
pub(crate) mod public_key;
pub(crate) mod name;
pub(crate) mod oid;
pub(crate) mod profile;
pub(crate) mod time;

pub(crate) use certificate::Certificate;
pub(crate) use der::{Der, Malformed, split_sequences};
pub(crate) use extensions::ExtendedKeyUsage;
pub(crate) use name::Name;
pub(crate) use oid::Oid;
pub(crate) use public_key::PublicKey;

#[cfg(test)]
mod tests;
