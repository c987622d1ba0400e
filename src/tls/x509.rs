//! Reads certificates: for error messages, for their text form, and for the checks that webpki lacks. webpki verifies
//! chains; this reader does not.
//!
//! [`Certificate`] borrows everything from its DER and allocates only when text is requested. The reader is lenient: it
//! accepts certificates that violate RFC 5280 in ways that authorities have used, but it never reports a value that is
//! not in the certificate.

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
