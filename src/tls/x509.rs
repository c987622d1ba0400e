//! What a certificate says: a reader for explanations, for text, and for the questions that webpki does not answer.
//! Chains are judged by webpki, never by this.
//!
//! [`Certificate`] borrows everything from its DER and allocates nothing until text is asked for. It is lenient: what
//! authorities have issued in thirty years is read although a rule of RFC 5280 is broken. But what it gives was there.

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
pub(crate) use der::split_sequences;

#[cfg(test)]
mod tests;
