//! Reads PKCS#12 (RFC 7292): a private key and certificates in one file, encrypted and authenticated with one password.
//!
//! If the file has a MAC, the MAC is verified before anything is decrypted ([`mac`]). The parts of the file are then
//! decrypted, their keys and certificates are collected ([`bags`]), and one key with its certificate chain is chosen
//! ([`choose`]).

mod bags;
mod choose;
mod mac;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use pkcs5::der::asn1::ObjectIdentifier;
use rustls::crypto::CryptoProvider;
use rustls::sign::CertifiedKey;

use self::bags::Bags;
use super::key::scheme::WorkBudget;
use super::key::{Opened, Password, PasswordEncoding, Refusal};
use crate::error::Result;
use crate::tls::x509::{
    Der, Malformed,
    der::{self, Element, Octets, tag},
};

/// The name of PKCS#12 data in error messages.
const THING: &str = "PKCS#12 data";

/// The prefix of the object identifiers of PKCS #7's content types.
const PKCS7: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.7");

/// Returns true if `bytes` begin like PKCS#12: with a SEQUENCE that contains version 3 and another SEQUENCE. No private
/// key has version 3, and a certificate begins with two nested SEQUENCEs.
pub(crate) fn is_one(bytes: &[u8]) -> bool {
    matches!(der::header(bytes), Some((tag::SEQUENCE, _, [tag::INTEGER, 1, 3, tag::SEQUENCE, ..])))
}

/// Loads the private key and the certificate chain in `bytes`. The first certificate of the chain belongs to the key.
/// `what` names the input in error messages.
pub(crate) fn load(
    bytes: &[u8],
    what: &str,
    password: Option<&Password>,
    provider: &CryptoProvider,
) -> Result<Arc<CertifiedKey>> {
    let refused = |refusal: Refusal| refusal.error_of(THING, what);
    let mut budget = WorkBudget::new();
    let opened = collect(bytes, password, &mut budget).map_err(refused)?;
    choose::identity(opened, what, &mut budget, provider)
}

/// The keys and certificates of a file, and the password encodings that may decrypt the keys.
struct Contents {
    bags: Bags,
    encodings: Vec<PasswordEncoding>,
    state: PasswordState,
}

/// The state of the password: not given, given but not checked, or confirmed by the MAC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PasswordState {
    NoneGiven,
    Given,
    /// The password is right, because the MAC of the file matches.
    Right,
}

impl PasswordState {
    /// Returns the reason why `part` could not be decrypted.
    fn refusal(self, part: &str) -> Refusal {
        match self {
            PasswordState::NoneGiven => Refusal::PasswordRequired,
            PasswordState::Given => Refusal::WrongPassword,
            PasswordState::Right => {
                let why = format!("the password of {part} is not that of the MAC, or {part} is damaged");
                Refusal::Unsupported(why)
            }
        }
    }
}

fn collect(bytes: &[u8], password: Option<&Password>, budget: &mut WorkBudget) -> Opened<Contents> {
    let (safe, mac) = split(bytes)?;
    let mut encodings = PasswordEncoding::all(password)?;
    let mut state = if password.is_some() { PasswordState::Given } else { PasswordState::NoneGiven };
    if let Some(mac) = mac {
        let mac = mac::Mac::read(&mac)?;
        let Some(right) = mac.encoding(&safe.bytes, &encodings, budget)? else {
            return Err(state.refusal(""));
        };
        // The other encodings of the password are kept, because an empty password has two encodings, and some programs
        // use both in one file.
        encodings.swap(0, right);
        state = PasswordState::Right;
    }
    let bags = bags::collect(&safe, &encodings, state, budget)?;
    Ok(Contents { bags, encodings, state })
}

/// A range of bytes with its position, for offsets in error messages.
struct Span<'a> {
    bytes: Octets<'a>,
    at: usize,
    /// The text after an offset in an error message, for example " of its part 1"; empty if the offset is relative to
    /// the input.
    of: String,
}

impl<'a> Span<'a> {
    /// Returns the content of an OCTET STRING. Offsets are relative to `outer`, or to `joined` if the string is
    /// constructed, because its parts are then joined.
    fn new(string: &Element<'a>, what: &'static str, outer: &str, joined: &str) -> Opened<Span<'a>> {
        let bytes = string.octets()?.ok_or_else(|| place(string.malformed(what), outer))?;
        let (at, of) = match bytes {
            Octets::Whole(_) => (string.at, outer),
            Octets::Joined(_) => (0, joined),
        };
        Ok(Span { bytes, at, of: of.to_owned() })
    }

    fn inside(&self) -> Der<'_> {
        Der::ber(&self.bytes, self.at)
    }

    fn malformed(&self, malformed: Malformed) -> Refusal {
        place(malformed, &self.of)
    }
}

fn place(malformed: Malformed, of: &str) -> Refusal {
    Refusal::malformed(format!("{} at byte {}{of}", malformed.what, malformed.at))
}

/// Splits a file into its AuthenticatedSafe and its MacData, which is optional.
fn split(bytes: &[u8]) -> Opened<(Span<'_>, Option<Element<'_>>)> {
    let whole = |malformed| place(malformed, "");
    let mut all = Der::ber(bytes, 0);
    let mut outer = all
        .read(tag::SEQUENCE, "the outermost sequence, which does not end within the data,")
        .map_err(whole)?
        .inside();
    all.end("the data after the outermost sequence").map_err(whole)?;
    outer.read(tag::INTEGER, "the version").map_err(whole)?;
    let content = outer.read(tag::SEQUENCE, "the authenticated safe").map_err(whole)?;
    let mac = outer.take(tag::SEQUENCE);
    outer.end("the data after the MAC").map_err(whole)?;
    let (kind, content) = content_info(content.inside()).map_err(whole)?;
    let Some(Pkcs7::Data) = Pkcs7::of(kind.content) else {
        return Err(Refusal::Unsupported("it has a signature instead of a MAC".to_owned()));
    };
    let octets = string(content, tag::OCTET_STRING, "the authenticated safe").map_err(whole)?;
    let safe = Span::new(&octets, "the authenticated safe", "", " of the authenticated safe")?;
    Ok((safe, mac))
}

/// The content type of a ContentInfo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pkcs7 {
    Data,
    Enveloped,
    Encrypted,
}

impl Pkcs7 {
    fn of(oid: &[u8]) -> Option<Pkcs7> {
        match oid.strip_prefix(PKCS7.as_bytes())? {
            [1] => Some(Pkcs7::Data),
            [3] => Some(Pkcs7::Enveloped),
            [6] => Some(Pkcs7::Encrypted),
            _ => None,
        }
    }
}

/// Returns the content type of a ContentInfo, and a cursor at its content.
fn content_info<'a>(mut fields: Der<'a>) -> std::result::Result<(Element<'a>, Der<'a>), Malformed> {
    let kind = fields.read(tag::OID, "a content type")?;
    let content = fields.read(tag::explicit(0), "a content")?.inside();
    fields.end("the data after a content")?;
    Ok((kind, content))
}

/// Returns an OCTET STRING, primitive or constructed. `tag`: the tag of the primitive form, which may be implicit.
fn string<'a>(mut fields: Der<'a>, tag: u8, what: &'static str) -> std::result::Result<Element<'a>, Malformed> {
    let string = match fields.take(tag) {
        Some(string) => string,
        None => fields.read(tag | tag::CONSTRUCTED, what)?,
    };
    fields.end(what)?;
    Ok(string)
}
