//! What of a chain counts for pins. The certificates are made here: some have ways to two authorities.

use std::sync::Arc;
use std::time::Duration;

use rcgen::{BasicConstraints, CertificateParams, DistinguishedName, DnType, IsCa, Issuer, KeyPair};
use rustls::crypto::aws_lc_rs;
use rustls::server::danger::ClientCertVerifier;

use super::super::anchors::Collection;
use super::super::pins::Pin;
use super::super::{crl, pins, server_name};
use crate::tls::verify::peer_verifier::{ClientVerifier, Means};
use crate::tls::verify::*;
use crate::tls::x509::fingerprint;

type Der = CertificateDer<'static>;

/// A name with a key, which may have several certificates.
struct Who {
    name: &'static str,
    key: KeyPair,
}

impl Who {
    fn new(name: &'static str) -> Who {
        Who { name, key: KeyPair::generate().unwrap() }
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

    fn by(&self, issuer: &Who) -> Der {
        let issuer = Issuer::new(issuer.params(), &issuer.key);
        self.params().signed_by(&self.key, &issuer).unwrap().der().clone()
    }

    fn by_itself(&self) -> Der {
        self.params().self_signed(&self.key).unwrap().der().clone()
    }
}

fn key_of(der: &Der) -> String {
    pins::of_key(Certificate::parse(der).unwrap().public_key_info)
}

fn hex_of(der: &Der) -> String {
    fingerprint::sha256(der)
}

/// What is asked beside the chain that is sent.
struct Asked<'a> {
    trusted: &'a [&'a Der],
    /// Whether they are the system's, of whose certificates only the keys can be pinned.
    as_system: bool,
    pins: &'a [String],
    verifies_chain: bool,
    name: &'a str,
}

impl Asked<'_> {
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

fn judged(sent: &[&Der], asked: &Asked<'_>) -> Option<Problem> {
    let policy = asked.policy();
    let chain: Vec<Der> = sent.iter().map(|der| (*der).clone()).collect();
    let (end_entity, others) = chain.split_first().unwrap();
    let name = server_name::parse(asked.name).unwrap();
    let time = UnixTime::since_unix_epoch(Duration::from_secs(1_767_225_600));
    let question = Question { end_entity, others, purpose: Purpose::Server, name: Some(&name), time };
    verify(&policy, &question).err().map(|refusal| refusal.problem)
}

#[test]
fn pins_are_looked_for_on_the_way_that_was_verified() {
    let [old, new, evil, between, site, forged] =
        ["old root", "new root", "evil", "between", "a.test", "a.test"].map(Who::new);
    let (old_root, new_root, evil_root) = (old.by_itself(), new.by_itself(), evil.by_itself());
    // Cross-signed: the same name and key, below two roots.
    let (by_old, by_new) = (between.by(&old), between.by(&new));
    let (leaf, fake) = (site.by(&between), forged.by(&evil));
    let good = [&leaf, &by_old, &by_new];
    // The attacker has a certificate of an authority that is trusted too, and appends what is pinned.
    let attack = [&fake, &leaf, &by_old, &by_new, &old_root, &new_root];
    let both = [&old_root, &new_root];
    let all = [&old_root, &new_root, &evil_root];
    let other = Who::new("nobody").by_itself();
    let none = Some(Problem::NotPinned);
    for (what, sent, trusted, as_system, pin, expected) in [
        ("the site's key", &good[..], &both[..], false, key_of(&leaf), None),
        ("its certificate", &good, &both, false, hex_of(&leaf), None),
        ("its certificate, said to be a key", &good, &both, false, pins::of_key(&leaf), none),
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
        let asked = Asked { trusted, as_system, pins: &[pin], verifies_chain: true, name: "a.test" };
        assert_eq!(judged(sent, &asked), expected, "{what}");
    }
}

#[test]
fn instead_of_the_chain_the_peers_own_counts() {
    let [root, between, site] = ["root", "between", "a.test"].map(Who::new);
    let (root_own, by_root, leaf) = (root.by_itself(), between.by(&root), site.by(&between));
    let other = Who::new("nobody").by_itself();
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
        let asked = Asked { trusted: &[&root_own], as_system: false, pins: &pins, verifies_chain: false, name };
        assert_eq!(judged(&sent, &asked), expected, "{what}");
    }
}

/// What is wrong without pins is told as without pins, and a certificate that is trusted as it is needs its pin too.
#[test]
fn pins_are_the_last_question() {
    let [root, site, alone] = ["root", "a.test", "a.test"].map(Who::new);
    let (root_own, leaf, alone) = (root.by_itself(), site.by(&root), alone.by_itself());
    for (what, sent, trusted, pin, name, expected) in [
        ("the name", &leaf, &root_own, key_of(&alone), "b.test", Some(Problem::NameMismatch)),
        ("the issuer", &leaf, &alone, key_of(&leaf), "a.test", Some(Problem::UnknownIssuer)),
        ("nothing", &leaf, &root_own, key_of(&root_own), "a.test", None),
        ("trusted as it is", &alone, &alone, key_of(&alone), "a.test", None),
        ("the same, by its certificate", &alone, &alone, hex_of(&alone), "a.test", None),
        ("trusted and not pinned", &alone, &alone, key_of(&root_own), "a.test", Some(Problem::NotPinned)),
    ] {
        let asked = Asked { trusted: &[trusted], as_system: false, pins: &[pin], verifies_chain: true, name };
        assert_eq!(judged(&[sent], &asked), expected, "{what}");
    }
}

/// A client is told by whose certificates it may choose its own; where no issuer is asked for, any will do.
#[test]
fn clients_are_told_of_no_authority_that_is_not_asked_for() {
    let root = Who::new("root").by_itself();
    for (verifies_chain, told) in [(true, 1), (false, 0)] {
        let pins = [key_of(&root)];
        let asked = Asked { trusted: &[&root], as_system: false, pins: &pins, verifies_chain, name: "" };
        let policy = asked.policy();
        let means = Means { algorithms: policy.algorithms, times: None, notes: Arc::default() };
        let verifier = ClientVerifier::new(Arc::new(policy), true, means);
        assert_eq!(verifier.root_hint_subjects().len(), told);
    }
}
