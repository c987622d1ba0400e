//! Tests which certificates of a chain are compared with the pins. The tests generate the certificates, some of which
//! have paths to two authorities.

use std::sync::Arc;
use std::time::Duration;

use rcgen::{BasicConstraints, CertificateParams, DistinguishedName, DnType, IsCa, Issuer, KeyPair};
use rustls::crypto::aws_lc_rs;
use rustls::server::danger::ClientCertVerifier;

use super::super::anchors::Collection;
use super::super::pins::Pin;
use super::super::{crl, server_name};
use crate::tls::verify::peer_verifier::{ClientVerifier, VerifierConfig};
use crate::tls::verify::pins::Pins;
use crate::tls::verify::*;
use crate::tls::x509::fingerprint::{self, key_pin};
use rustls_pki_types::{CertificateDer, UnixTime};

type Der = CertificateDer<'static>;

/// A subject name and a key, for which a test can issue several certificates.
struct Entity {
    name: &'static str,
    key: KeyPair,
}

impl Entity {
    fn new(name: &'static str) -> Entity {
        Entity { name, key: KeyPair::generate().unwrap() }
    }

    fn params(&self) -> CertificateParams {
        let is_leaf = self.name.contains('.');
        let names = if is_leaf { vec![self.name.to_owned()] } else { Vec::new() };
        let mut params = CertificateParams::new(names).unwrap();
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, self.name);
        if !is_leaf {
            params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        }
        params
    }

    fn by(&self, issuer: &Entity) -> Der {
        let issuer = Issuer::new(issuer.params(), &issuer.key);
        self.params().signed_by(&self.key, &issuer).unwrap().der().clone()
    }

    fn by_itself(&self) -> Der {
        self.params().self_signed(&self.key).unwrap().der().clone()
    }
}

fn key_of(der: &Der) -> String {
    key_pin(Certificate::parse(der).unwrap().public_key_info)
}

fn hex_of(der: &Der) -> String {
    fingerprint::sha256(der)
}

/// The verification settings of a test case.
struct Setup<'a> {
    trusted: &'a [&'a Der],
    /// True if the anchors count as anchors of the system's store. Of the system's anchors, only the keys can be
    /// pinned, not the certificates.
    as_system: bool,
    pins: &'a [String],
    verifies_chain: bool,
    name: &'a str,
}

impl Setup<'_> {
    fn policy(&self) -> Policy {
        let mut anchors = Collection::default();
        self.trusted.iter().for_each(|der| anchors.add(der).unwrap());
        let custom =
            if self.as_system { Vec::new() } else { self.trusted.iter().map(|der| (*der).clone()).collect() };
        let pins: Vec<Pin> = self.pins.iter().map(|pin| Pin::parse(pin.as_bytes()).unwrap()).collect();
        Policy {
            verifies_chain: self.verifies_chain,
            pins: Pins::new(&pins, &custom).unwrap(),
            anchors: anchors.into_anchors(),
            crls: Vec::new(),
            flags: crl::effective_flags(None, false).unwrap(),
            algorithms: aws_lc_rs::default_provider().signature_verification_algorithms,
        }
    }
}

fn problem_of(sent: &[&Der], setup: &Setup<'_>) -> Option<Problem> {
    let policy = setup.policy();
    let chain: Vec<Der> = sent.iter().map(|der| (*der).clone()).collect();
    let (end_entity, others) = chain.split_first().unwrap();
    let name = server_name::parse(setup.name).unwrap();
    let time = UnixTime::since_unix_epoch(Duration::from_secs(1_767_225_600));
    let request = VerifyRequest { end_entity, others, purpose: Purpose::Server, name: Some(&name), time };
    verify(&policy, &request).err().map(|refusal| refusal.problem)
}

#[test]
fn pins_match_only_certificates_of_the_verified_path() {
    let [old, new, evil, between, site, forged] =
        ["old root", "new root", "evil", "between", "a.test", "a.test"].map(Entity::new);
    let (old_root, new_root, evil_root) = (old.by_itself(), new.by_itself(), evil.by_itself());
    // A cross-signed intermediate: two roots have certified the same name and key.
    let (by_old, by_new) = (between.by(&old), between.by(&new));
    let (leaf, fake) = (site.by(&between), forged.by(&evil));
    let good = [&leaf, &by_old, &by_new];
    // The attacker has a certificate from another trusted authority and appends the pinned certificates.
    let attack = [&fake, &leaf, &by_old, &by_new, &old_root, &new_root];
    let both = [&old_root, &new_root];
    let all = [&old_root, &new_root, &evil_root];
    let other = Entity::new("nobody").by_itself();
    let none = Some(Problem::NotPinned);
    for (what, sent, trusted, as_system, pin, expected) in [
        ("the site's key", &good[..], &both[..], false, key_of(&leaf), None),
        ("its certificate", &good, &both, false, hex_of(&leaf), None),
        ("its certificate, said to be a key", &good, &both, false, key_pin(&leaf), none),
        ("the key between", &good, &both, false, key_of(&by_old), None),
        ("a way by the old root", &good, &both, false, key_of(&old_root), None),
        ("a way by the new root", &good, &both, false, key_of(&new_root), None),
        ("the new one's certificate between", &good, &both, false, hex_of(&by_new), None),
        ("the old one's", &good, &both, false, hex_of(&by_old), None),
        ("a root's certificate", &good, &both, false, hex_of(&new_root), None),
        ("a root's certificate that is not kept", &good, &both, true, hex_of(&new_root), none),
        ("the key of a root that is not kept", &good, &both, true, key_of(&new_root), None),
        ("another key", &good, &both, false, key_of(&other), none),
        ("a root that is trusted and on no way", &good, &all, false, key_of(&evil_root), none),
        (
            "a root that is sent and not trusted",
            &[&leaf, &by_old, &new_root],
            &both[..1],
            false,
            key_of(&new_root),
            none,
        ),
        ("a way that ends below", &[&leaf, &by_old, &old_root], &[&by_old], false, key_of(&old_root), none),
        ("the attacker's, with the site's key", &attack, &all, false, key_of(&leaf), none),
        ("with its certificate", &attack, &all, false, hex_of(&leaf), none),
        ("with the key between", &attack, &all, false, key_of(&by_new), none),
        ("with the certificate between", &attack, &all, false, hex_of(&by_new), none),
        ("with a root's key", &attack, &all, false, key_of(&old_root), none),
        ("with a root's certificate", &attack, &all, false, hex_of(&old_root), none),
        ("without the authority", &attack, &both, false, key_of(&leaf), Some(Problem::IncompleteChain)),
    ] {
        let setup = Setup { trusted, as_system, pins: &[pin], verifies_chain: true, name: "a.test" };
        assert_eq!(problem_of(sent, &setup), expected, "{what}");
    }
}

#[test]
fn pins_that_replace_chain_verification_match_only_the_leaf() {
    let [root, between, site] = ["root", "between", "a.test"].map(Entity::new);
    let (root_own, by_root, leaf) = (root.by_itself(), between.by(&root), site.by(&between));
    let other = Entity::new("nobody").by_itself();
    let sent = [&leaf, &by_root, &root_own];
    for (what, pins, name, expected) in [
        ("its key", vec![key_of(&leaf)], "a.test", None),
        ("its certificate", vec![hex_of(&leaf)], "a.test", None),
        ("one of several", vec![key_of(&other), hex_of(&leaf)], "a.test", None),
        ("the key between", vec![key_of(&by_root)], "a.test", Some(Problem::NotPinned)),
        ("the root", vec![key_of(&root_own), hex_of(&root_own)], "a.test", Some(Problem::NotPinned)),
        ("another name", vec![key_of(&leaf)], "b.test", Some(Problem::NameMismatch)),
        ("another name and key", vec![key_of(&root_own)], "b.test", Some(Problem::NameMismatch)),
    ] {
        let setup = Setup { trusted: &[&root_own], as_system: false, pins: &pins, verifies_chain: false, name };
        assert_eq!(problem_of(&sent, &setup), expected, "{what}");
    }
}

/// Chain and name errors are the same with and without pins. Even a trusted leaf must match a pin.
#[test]
fn pins_are_checked_after_the_chain_and_the_server_name() {
    let [root, site, alone] = ["root", "a.test", "a.test"].map(Entity::new);
    let (root_own, leaf, alone) = (root.by_itself(), site.by(&root), alone.by_itself());
    for (what, sent, trusted, pin, name, expected) in [
        ("the name", &leaf, &root_own, key_of(&alone), "b.test", Some(Problem::NameMismatch)),
        ("the issuer", &leaf, &alone, key_of(&leaf), "a.test", Some(Problem::UnknownIssuer)),
        ("nothing", &leaf, &root_own, key_of(&root_own), "a.test", None),
        ("trusted as it is", &alone, &alone, key_of(&alone), "a.test", None),
        ("the same, by its certificate", &alone, &alone, hex_of(&alone), "a.test", None),
        ("trusted and not pinned", &alone, &alone, key_of(&root_own), "a.test", Some(Problem::NotPinned)),
    ] {
        let setup = Setup { trusted: &[trusted], as_system: false, pins: &[pin], verifies_chain: true, name };
        assert_eq!(problem_of(&[sent], &setup), expected, "{what}");
    }
}

/// A server's CertificateRequest names the trusted authorities if client certificates must have a trusted issuer, and
/// otherwise no authority.
#[test]
fn a_certificate_request_lists_authorities_only_if_chains_are_verified() {
    let root = Entity::new("root").by_itself();
    for (verifies_chain, count) in [(true, 1), (false, 0)] {
        let pins = [key_of(&root)];
        let setup = Setup { trusted: &[&root], as_system: false, pins: &pins, verifies_chain, name: "" };
        let policy = setup.policy();
        let verifier_config =
            VerifierConfig { algorithms: policy.algorithms, times: None, verifier_errors: Arc::default() };
        let verifier = ClientVerifier::new(Arc::new(policy), true, verifier_config);
        assert_eq!(verifier.root_hint_subjects().len(), count);
    }
}
