//! Chooses a private key with a matching certificate, and builds the certificate chain.

use std::sync::Arc;

use rustls::crypto::CryptoProvider;
use rustls::sign::{CertifiedKey, SigningKey};
use rustls_pki_types::CertificateDer;

use super::{Bags, Contents, THING, bags};
use crate::error::{Error, Result};
use crate::memory;
use crate::status::Status;
use crate::tls::credentials::key::scheme::WorkBudget;
use crate::tls::credentials::key::{self, Refusal, Secret};
use crate::tls::x509;

/// The largest accepted number of private keys in one file. This number is limited because decrypting and loading a key
/// takes milliseconds.
const MOST_KEYS: usize = 64;

/// The largest number of certificates that the chosen chain may have. webpki accepts at most six intermediates.
const MOST_LINKS: usize = 16;

/// Returns the first usable key that has a matching certificate, with the chain of this certificate.
pub(crate) fn identity(
    mut contents: Contents,
    what: &str,
    budget: &mut WorkBudget,
    provider: &CryptoProvider,
) -> Result<Arc<CertifiedKey>> {
    let keys = std::mem::take(&mut contents.bags.keys);
    check(&contents.bags, &keys).map_err(|refusal| refusal.error_of(THING, what))?;
    let Bags { certificates, .. } = &contents.bags;
    let parsed: Vec<_> = certificates.iter().map(|one| x509::Certificate::parse(&one.der)).collect();
    let mut failure = None;
    let count = keys.len();
    for key in keys {
        let local_id = key.local_id.clone();
        let prepare = open(key, &contents, budget)
            .map_err(|refusal| refusal.error_of(THING, what))
            .and_then(|der| key::prepare(der, what, provider));
        let key: Arc<dyn SigningKey> = match prepare {
            Ok(key) => key,
            Err(error) => {
                failure.get_or_insert(error);
                continue;
            }
        };
        let public = key.public_key();
        let fits = |index: &usize| match (parsed.get(*index), &public) {
            (Some(Ok(certificate)), Some(public)) => certificate.public_key_info == public.as_ref(),
            _ => false,
        };
        let marked = |index: &usize| {
            local_id.is_some() && certificates.get(*index).is_some_and(|one| one.local_id == local_id)
        };
        let all = || (0..certificates.len()).filter(fits);
        if let Some(leaf) = all().find(marked).or_else(|| all().next()) {
            let chain = chain(leaf, certificates, &parsed)?;
            return Ok(Arc::new(CertifiedKey::new(chain, key)));
        }
    }
    Err(failure.unwrap_or_else(|| mismatch(what, count, &parsed)))
}

fn check(bags: &Bags, keys: &[bags::Key]) -> std::result::Result<(), Refusal> {
    match (keys.len(), bags.certificates.len()) {
        (0, _) => Err(Refusal::Absent("contains no private key".to_owned())),
        (_, 0) => Err(Refusal::Absent("contains no certificate".to_owned())),
        (count, _) if count > MOST_KEYS => {
            Err(Refusal::malformed(format!("it has {count} private keys; at most {MOST_KEYS} are allowed")))
        }
        _ => Ok(()),
    }
}

fn open(key: bags::Key, contents: &Contents, budget: &mut WorkBudget) -> std::result::Result<Secret, Refusal> {
    if !key.is_encrypted {
        return Ok(key.der);
    }
    key::open_pkcs8(&key.der, &contents.encodings, budget).map_err(|refusal| match refusal {
        Refusal::WrongPassword => contents.state.refusal("its private key"),
        other => other,
    })
}

type Parsed<'a> = std::result::Result<x509::Certificate<'a>, x509::der::Malformed>;

fn mismatch(what: &str, keys: usize, parsed: &[Parsed<'_>]) -> Error {
    if let Some((index, Err(malformed))) = parsed.iter().enumerate().find(|(_, one)| one.is_err()) {
        let number = index + 1;
        let why = format!("{} at byte {} of its certificate {number}", malformed.what, malformed.at);
        return Refusal::malformed(why).error_of(THING, what);
    }
    let which = if keys == 1 { "its private key" } else { "one of its private keys" };
    let message = match parsed.len() {
        1 => format!("the certificate in {what} does not belong to {which}"),
        count => format!("none of the {count} certificates in {what} belongs to {which}"),
    };
    Error::new(Status::KeyMismatch, message)
}

/// Returns the leaf and its issuers in order. The chain ends at a self-issued certificate, at a certificate whose
/// issuer the file does not contain, or after [`MOST_LINKS`] certificates.
fn chain(
    leaf: usize,
    certificates: &[bags::Certificate],
    parsed: &[Parsed<'_>],
) -> Result<Vec<CertificateDer<'static>>> {
    let mut links = vec![leaf];
    while links.len() < MOST_LINKS {
        let Some(Ok(last)) = links.last().and_then(|last| parsed.get(*last)) else { break };
        if last.is_self_issued() {
            break;
        }
        let wanted = last.extensions.authority_key_id;
        let issues = |one: &x509::Certificate<'_>| {
            let has = one.extensions.subject_key_id;
            one.subject == last.issuer && (wanted.is_none() || has.is_none() || wanted == has)
        };
        let next = (0..parsed.len()).find(|index| {
            !links.contains(index) && parsed.get(*index).is_some_and(|one| one.as_ref().is_ok_and(issues))
        });
        match next {
            Some(next) => links.push(next),
            None => break,
        }
    }
    let mut chain = Vec::new();
    for certificate in links.iter().filter_map(|link| certificates.get(*link)) {
        let der = CertificateDer::from(memory::copy(&certificate.der, "a certificate")?);
        memory::push(&mut chain, der, "certificates")?;
    }
    Ok(chain)
}
