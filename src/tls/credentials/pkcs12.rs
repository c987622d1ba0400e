//! PKCS#12 (RFC 7292): a private key and certificates in one file, encrypted and authenticated with one password.
//!
//! Whether its MAC is right is known before anything is decrypted ([`mac`]). Then its parts are opened and what is in
//! them is collected ([`bags`]), and of that an identity is made ([`choose`]).

mod bags;
mod choose;
mod mac;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use rustls::crypto::CryptoProvider;
use rustls::sign::CertifiedKey;

use self::bags::Bags;
use super::key::scheme::Effort;
use super::key::{Opened, Password, Refusal, Spelling};
use crate::error::Result;
use crate::tls::x509::der::{self, Der, Element, Malformed, Octets, tag};

/// What a message calls it.
const THING: &str = "PKCS#12 data";

/// 1.2.840.113549.1.7: PKCS #7, whose .1 is data.
const PKCS7: [u8; 8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 7];

/// Whether `bytes` begin as PKCS#12 does: a sequence that begins with the version 3 and a sequence. No key has that
/// version, and a certificate begins with two sequences.
pub(crate) fn is_one(bytes: &[u8]) -> bool {
    matches!(der::header(bytes), Some((tag::SEQUENCE, _, [tag::INTEGER, 1, 3, tag::SEQUENCE, ..])))
}

/// The identity in `bytes`, its chain sorted from the key's certificate on. `what` names the input in a message.
pub(crate) fn load(
    bytes: &[u8],
    what: &str,
    password: Option<&Password>,
    provider: &CryptoProvider,
) -> Result<Arc<CertifiedKey>> {
    let refused = |refusal: Refusal| refusal.error_of(THING, what);
    let mut effort = Effort::new();
    let opened = collect(bytes, password, &mut effort).map_err(refused)?;
    choose::identity(opened, what, &mut effort, provider)
}

/// What was found in the file, and the passwords to open the keys with.
struct Contents {
    bags: Bags,
    spellings: Vec<Spelling>,
    secret: Secrecy,
}

/// What is known of the password.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Secrecy {
    NoneGiven,
    Given,
    /// The MAC was made with it, or with none.
    Right,
}

impl Secrecy {
    /// Of what the password does not open.
    fn refusal(self, part: &str) -> Refusal {
        match self {
            Secrecy::NoneGiven => Refusal::PasswordRequired,
            Secrecy::Given => Refusal::WrongPassword,
            Secrecy::Right => {
                let why = format!("{part} with another password than the one of its MAC, or {part} is damaged");
                Refusal::Unsupported(why)
            }
        }
    }
}

fn collect(bytes: &[u8], password: Option<&Password>, effort: &mut Effort) -> Opened<Contents> {
    let (safe, mac) = split(bytes)?;
    let mut spellings = Spelling::all(password)?;
    let mut secret = if password.is_some() { Secrecy::Given } else { Secrecy::NoneGiven };
    if let Some(mac) = mac {
        let mac = mac::Mac::read(&mac)?;
        let Some(right) = mac.spelling(&safe.bytes, &spellings, effort)? else {
            return Err(secret.refusal(""));
        };
        // The others stay behind it: empty passwords are written in two ways, and by some writers in both.
        spellings.swap(0, right);
        secret = Secrecy::Right;
    }
    let bags = bags::collect(&safe, &spellings, secret, effort)?;
    Ok(Contents { bags, spellings, secret })
}

/// Bytes that hold elements, and where they stand.
struct Stretch<'a> {
    bytes: Octets<'a>,
    at: usize,
    /// Of what that is the place, behind its number in a message; nothing if of the input.
    of: String,
}

impl<'a> Stretch<'a> {
    /// A string that stands at a place of `outer`. If it must be joined it has places of its own, of `joined`.
    fn new(string: &Element<'a>, what: &'static str, outer: &str, joined: &str) -> Opened<Stretch<'a>> {
        let bytes = string.octets()?.ok_or_else(|| place(string.malformed(what), outer))?;
        let (at, of) = match bytes {
            Octets::Whole(_) => (string.at, outer),
            Octets::Joined(_) => (0, joined),
        };
        Ok(Stretch { bytes, at, of: of.to_owned() })
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

/// The part that a MAC is of, and the MAC.
fn split(bytes: &[u8]) -> Opened<(Stretch<'_>, Option<Element<'_>>)> {
    let whole = |malformed| place(malformed, "");
    let mut all = Der::ber(bytes, 0);
    let mut outer = all
        .read(tag::SEQUENCE, "the outermost sequence, which does not end within the data,")
        .map_err(whole)?
        .inside();
    all.end("what stands behind the outermost sequence").map_err(whole)?;
    outer.read(tag::INTEGER, "the version").map_err(whole)?;
    let content = outer.read(tag::SEQUENCE, "the authenticated safe").map_err(whole)?;
    let mac = outer.take(tag::SEQUENCE);
    outer.end("what stands behind the MAC").map_err(whole)?;
    let (kind, content) = content_info(content.inside()).map_err(whole)?;
    let Some(Pkcs7::Data) = Pkcs7::of(kind.content) else {
        return Err(Refusal::Unsupported("it is signed instead of having a MAC".to_owned()));
    };
    let octets = string(content, tag::OCTET_STRING, "the authenticated safe").map_err(whole)?;
    let safe = Stretch::new(&octets, "the authenticated safe", "", " of the authenticated safe")?;
    Ok((safe, mac))
}

/// The kinds of content that a part may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pkcs7 {
    Data,
    Enveloped,
    Encrypted,
}

impl Pkcs7 {
    fn of(oid: &[u8]) -> Option<Pkcs7> {
        match oid.strip_prefix(&PKCS7)? {
            [1] => Some(Pkcs7::Data),
            [3] => Some(Pkcs7::Enveloped),
            [6] => Some(Pkcs7::Encrypted),
            _ => None,
        }
    }
}

/// The kind of a content, and a cursor that stands before it.
fn content_info<'a>(mut fields: Der<'a>) -> std::result::Result<(Element<'a>, Der<'a>), Malformed> {
    let kind = fields.read(tag::OID, "the kind of a content")?;
    let content = fields.read(tag::explicit(0), "a content")?.inside();
    fields.end("what stands behind a content")?;
    Ok((kind, content))
}

/// A string, in one piece or in parts: `tag` is its tag in one piece.
fn string<'a>(mut fields: Der<'a>, tag: u8, what: &'static str) -> std::result::Result<Element<'a>, Malformed> {
    let string = match fields.take(tag) {
        Some(string) => string,
        None => fields.read(tag | tag::CONSTRUCTED, what)?,
    };
    fields.end(what)?;
    Ok(string)
}
