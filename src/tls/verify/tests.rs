mod anchors;
mod pins;

use std::path::PathBuf;
use std::time::Duration;

use rustls::crypto::aws_lc_rs;

use rustls_pki_types::{CertificateDer, UnixTime};

use super::pins::Pins;
use super::*;
use super::{crl, server_name};
use crate::tls::credentials::pem;
use crate::tls::verify::anchors::Collection;

/// 2026-01-01 00:00:00 UTC.
const NOW: u64 = 1_767_225_600;

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/certs/verify").join(name)
}

fn certificates(name: &str) -> Vec<CertificateDer<'static>> {
    pem::certificates(&std::fs::read(path(name)).unwrap(), name).unwrap()
}

fn policy(trusted: &[&str], lists: &[&str], flags: i32) -> Policy {
    let mut anchors = Collection::default();
    trusted.iter().flat_map(|name| certificates(name)).for_each(|certificate| anchors.add(&certificate).unwrap());
    let anchors = anchors.into_anchors();
    let algorithms = aws_lc_rs::default_provider().signature_verification_algorithms;
    let sources: Vec<_> = lists.iter().map(|name| crl::Source::File(path(name))).collect();
    let find_signer = |issuer: &[u8], der: &[u8]| anchor_constraints::crl_signer(&anchors, &algorithms, issuer, der);
    let crls = crl::load(&sources, &find_signer).unwrap();
    let flags = crl::effective_flags(Some(flags), !crls.is_empty()).unwrap();
    let pins = Pins::default();
    Policy { verifies_chain: true, pins, anchors, crls, flags, algorithms }
}

struct Case {
    sent: &'static str,
    trusted: &'static [&'static str],
    lists: &'static [&'static str],
    flags: i32,
    purpose: Purpose,
    name: &'static str,
    time: u64,
}

/// The default case: verifies a server's chain against the root that issued it.
const CASE: Case = Case {
    sent: "good.pem",
    trusted: &["root.pem"],
    lists: &[],
    flags: 0,
    purpose: Purpose::Server,
    name: "localhost",
    time: NOW,
};

impl Case {
    fn verify(&self) -> Result<(), Refusal> {
        self.verify_with(true)
    }

    fn verify_with(&self, verifies_chain: bool) -> Result<(), Refusal> {
        let chain = certificates(self.sent);
        let (end_entity, others) = chain.split_first().unwrap();
        let name = server_name::parse(self.name).unwrap();
        let name = (self.purpose == Purpose::Server).then_some(&name);
        let time = UnixTime::since_unix_epoch(Duration::from_secs(self.time));
        let request = VerifyRequest { end_entity, others, purpose: self.purpose, name, time };
        verify_with(&policy(self.trusted, self.lists, self.flags), &request, verifies_chain)
    }

    fn refused(&self) -> Option<(Problem, Option<usize>, String)> {
        self.verify().err().map(|refusal| {
            let message = refusal.clone().into_error("it").message().to_owned();
            (refusal.problem, refusal.index, message)
        })
    }
}

#[test]
fn valid_chains_are_accepted() {
    for case in [
        CASE,
        // The certificates are out of order and mixed with unrelated ones.
        Case { sent: "good-backwards.pem", ..CASE },
        Case { sent: "client.pem", purpose: Purpose::Client, ..CASE },
        Case { lists: &["all.crl"], ..CASE },
        // The expired CRL is ignored because the valid CRL of the same issuer is newer.
        Case { lists: &["int-expired.crl", "all.crl"], ..CASE },
        Case { lists: &["int.crl.der"], flags: flag::CRL_CHECK_LEAF, ..CASE },
        // CRL_CHECK_LEAF looks up only the peer's own certificate, so a revoked intermediate is accepted.
        Case { sent: "revoked-int.pem", lists: &["all.crl"], flags: flag::CRL_CHECK_LEAF, ..CASE },
        Case { flags: flag::X509_STRICT, ..CASE },
        Case { flags: flag::X509_STRICT, sent: "client.pem", purpose: Purpose::Client, ..CASE },
        // A chain may end at a trusted intermediate.
        Case { sent: "only-leaf.pem", trusted: &["int.pem"], ..CASE },
        // A trusted leaf is accepted without its issuer.
        Case { sent: "self-signed.pem", trusted: &["self-signed.pem"], ..CASE },
        Case { sent: "self-signed-ca.pem", trusted: &["self-signed-ca.pem"], ..CASE },
        // `openssl req -x509` creates certificates without keyUsage by default.
        Case { sent: "self-signed-ca.pem", trusted: &["self-signed-ca.pem"], flags: flag::X509_STRICT, ..CASE },
        Case { sent: "only-leaf.pem", trusted: &["other-root.pem", "only-leaf.pem"], ..CASE },
        Case {
            sent: "self-signed-client.pem",
            trusted: &["self-signed-client.pem"],
            purpose: Purpose::Client,
            ..CASE
        },
        Case { sent: "expired.pem", time: 1_600_000_000, ..CASE },
        Case { sent: "future-int.pem", time: 4_420_000_000, ..CASE },
        Case { sent: "strict-serial.pem", ..CASE },
        Case { sent: "strict-no-key.pem", ..CASE },
    ] {
        assert_eq!(case.refused(), None, "{}", case.sent);
    }
}

/// If the chain is not verified, webpki alone reads the peer's certificate. Other extensions than the names may then be
/// malformed.
#[test]
fn the_name_is_checked_even_if_the_chain_is_not_verified() {
    let of = |sent, name| {
        Case { sent, name, ..CASE }.verify_with(false).err().map(|refusal| (refusal.problem, refusal.what))
    };
    let refused = |what: &str| Some((Problem::NameMismatch, what.to_owned()));
    assert_eq!(of("no-handshake.pem", "localhost"), None);
    assert_eq!(of("no-handshake.pem", "other.test"), refused("is for localhost, 127.0.0.1, fe80::1"));
    assert_eq!(of("odd.pem", "localhost"), None);
    assert_eq!(of("odd.pem", "other.test"), refused("is not valid for the expected name"));
}

#[test]
fn errors_for_refused_chains_name_the_certificate_and_the_reason() {
    const REVOKED: &[&str] = &["all.crl"];
    let unknown = Problem::RevocationUnknown;
    for (case, problem, index, message) in [
        (
            Case { sent: "expired.pem", ..CASE },
            Problem::Expired,
            Some(0),
            "the certificate of it (CN=localhost) expired on 2021-01-01 00:00:00 UTC; the time is 2026-01-01 00:00:00 UTC",
        ),
        (
            Case { sent: "future.pem", ..CASE },
            Problem::NotYetValid,
            Some(0),
            "the certificate of it (CN=localhost) is valid only from 2110-01-01 00:00:00 UTC; the time is 2026-01-01 00:00:00 UTC",
        ),
        (
            Case { sent: "expired-int.pem", ..CASE },
            Problem::Expired,
            Some(1),
            "certificate 1 of the chain of it (CN=expired intermediate) expired on 2021-01-01 00:00:00 UTC; the time is 2026-01-01 00:00:00 UTC",
        ),
        (
            Case { sent: "future-int.pem", ..CASE },
            Problem::NotYetValid,
            Some(1),
            "certificate 1 of the chain of it (CN=future intermediate) is valid only from 2110-01-01 00:00:00 UTC; the time is 2026-01-01 00:00:00 UTC",
        ),
        (
            Case { sent: "unknown.pem", ..CASE },
            Problem::UnknownIssuer,
            Some(1),
            "certificate 1 of the chain of it (CN=unknown intermediate) was issued by \"CN=unknown root\", which is not trusted and was not sent: trust that authority, unless it is an intermediate that the server should send",
        ),
        (
            Case { sent: "unknown-root.pem", ..CASE },
            Problem::UnknownIssuer,
            Some(2),
            "certificate 2 of the chain of it (CN=unknown root) is the root of the chain and is not trusted",
        ),
        (
            Case { sent: "only-leaf.pem", ..CASE },
            Problem::UnknownIssuer,
            Some(0),
            "the certificate of it (CN=localhost) was issued by \"CN=netlib intermediate\", which is not trusted and was not sent: trust that authority, unless it is an intermediate that the server should send",
        ),
        (
            Case { sent: "unrelated.pem", ..CASE },
            Problem::IncompleteChain,
            Some(0),
            "the certificate of it (CN=localhost) was issued by \"CN=netlib intermediate\", which is not trusted and whose certificate is not among the others that were sent: the server's administrator must configure the right intermediate certificates",
        ),
        (
            Case { sent: "self-signed.pem", ..CASE },
            Problem::SelfSigned,
            Some(0),
            "the certificate of it (CN=localhost) is self-signed and not trusted",
        ),
        (
            Case { sent: "self-signed-ca.pem", ..CASE },
            Problem::SelfSigned,
            Some(0),
            "the certificate of it (CN=localhost) is self-signed and not trusted",
        ),
        (
            Case { sent: "self-signed-ca.pem", trusted: &["self-signed-ca.pem"], lists: &["all.crl"], ..CASE },
            Problem::RevocationUnknown,
            Some(0),
            "the certificate of it (CN=localhost) may have been revoked: no CRL of \"CN=localhost\" was added",
        ),
        (
            Case { sent: "authority.pem", ..CASE },
            Problem::AuthorityAsLeaf,
            Some(0),
            "the certificate of it (CN=localhost) is a CA certificate (CA:TRUE), which a peer must not use as its own",
        ),
        (
            Case { sent: "names.pem", ..CASE },
            Problem::NameMismatch,
            Some(0),
            "the certificate of it (CN=localhost) is for other.test, *.more.test, 192.0.2.1",
        ),
        (
            Case { sent: "nameless.pem", ..CASE },
            Problem::NameMismatch,
            Some(0),
            "the certificate of it (CN=localhost) contains no host name: it has no subjectAltName, and the common name is not used",
        ),
        (
            Case { sent: "purpose.pem", ..CASE },
            Problem::WrongPurpose,
            Some(0),
            "the certificate of it (CN=localhost) was not issued for servers (its extendedKeyUsage lacks serverAuth)",
        ),
        (
            Case { purpose: Purpose::Client, ..CASE },
            Problem::WrongPurpose,
            Some(0),
            "the certificate of it (CN=localhost) was not issued for clients (its extendedKeyUsage lacks clientAuth)",
        ),
        (
            Case { sent: "purpose-int.pem", ..CASE },
            Problem::WrongPurpose,
            Some(1),
            "certificate 1 of the chain of it (CN=intermediate for clients) was not issued for servers (its extendedKeyUsage lacks serverAuth)",
        ),
        (
            Case { sent: "not-authority.pem", ..CASE },
            Problem::NotCa,
            Some(1),
            "certificate 1 of the chain of it (CN=no authority) has issued another certificate, but is not a CA certificate (it lacks CA:TRUE)",
        ),
        (
            Case { sent: "too-long.pem", ..CASE },
            Problem::PathLength,
            Some(2),
            "certificate 2 of the chain of it (CN=last intermediate) allows 0 authorities below it (pathlen); there are 1",
        ),
        (
            Case { sent: "constrained.pem", ..CASE },
            Problem::NameConstraints,
            Some(0),
            "the certificate of it (CN=localhost) is for a name that an authority above it may not certify (nameConstraints)",
        ),
        (
            Case { sent: "weak.pem", ..CASE },
            Problem::WeakKey,
            Some(0),
            "the certificate of it (CN=localhost) has an RSA key of 1024 bits; at least 2048 are needed",
        ),
        (
            Case { sent: "weak-int.pem", ..CASE },
            Problem::WeakKey,
            Some(1),
            "certificate 1 of the chain of it (CN=weak intermediate) has an RSA key of 1024 bits; at least 2048 are needed",
        ),
        (
            Case { sent: "curve.pem", ..CASE },
            Problem::WeakKey,
            Some(0),
            "the certificate of it (CN=localhost) has a key of 256 bits on the curve secp256k1, which is not supported",
        ),
        (
            Case { sent: "curve-int.pem", ..CASE },
            Problem::WeakKey,
            Some(1),
            "certificate 1 of the chain of it (CN=intermediate of another curve) has a key of 256 bits on the curve secp256k1, which is not supported",
        ),
        (
            Case { sent: "sha1.pem", ..CASE },
            Problem::WeakSignature,
            Some(0),
            "the certificate of it (CN=localhost) has a signature that can be forged (sha1WithRSAEncryption)",
        ),
        (
            Case { sent: "md5.pem", ..CASE },
            Problem::WeakSignature,
            Some(0),
            "the certificate of it (CN=localhost) has a signature that can be forged (md5WithRSAEncryption)",
        ),
        (
            Case { sent: "bad-signature.pem", ..CASE },
            Problem::BadSignature,
            Some(0),
            "the certificate of it (CN=localhost) has a signature that was not made with its issuer's key: the certificate was altered or forged",
        ),
        (
            Case { sent: "malformed-int.pem", ..CASE },
            Problem::Malformed,
            Some(1),
            "certificate 1 of the chain of it cannot be parsed: it is not valid DER",
        ),
        (
            Case { sent: "revoked.pem", lists: REVOKED, ..CASE },
            Problem::Revoked,
            Some(0),
            "the certificate of it (CN=localhost) has been revoked by its authority",
        ),
        (
            Case { sent: "revoked.pem", lists: REVOKED, flags: flag::CRL_CHECK_LEAF, ..CASE },
            Problem::Revoked,
            Some(0),
            "the certificate of it (CN=localhost) has been revoked by its authority",
        ),
        (
            Case { sent: "revoked-int.pem", lists: REVOKED, ..CASE },
            Problem::Revoked,
            Some(1),
            "certificate 1 of the chain of it (CN=revoked intermediate) has been revoked by its authority",
        ),
        (
            Case { sent: "revoked-client.pem", lists: REVOKED, purpose: Purpose::Client, ..CASE },
            Problem::Revoked,
            Some(0),
            "the certificate of it (CN=localhost) has been revoked by its authority",
        ),
        // A revoked leaf is refused even if it is trusted.
        (
            Case { sent: "revoked.pem", trusted: &["root.pem", "revoked.pem"], lists: REVOKED, ..CASE },
            Problem::Revoked,
            Some(0),
            "the certificate of it (CN=localhost) has been revoked by its authority",
        ),
        (
            Case { sent: "no-lists.pem", lists: &["all.crl"], ..CASE },
            unknown,
            Some(0),
            "the certificate of it (CN=localhost) may have been revoked: \"CN=intermediate without lists\" may not sign CRLs (its keyUsage lacks cRLSign)",
        ),
        (
            Case { sent: "no-handshake.pem", ..CASE },
            Problem::WrongPurpose,
            Some(0),
            "the certificate of it (CN=localhost) may not sign handshakes (its keyUsage lacks digitalSignature)",
        ),
        // netlib's own parser cannot parse odd.pem, but webpki can.
        (
            Case { sent: "odd.pem", trusted: &["other-root.pem"], ..CASE },
            Problem::UnknownIssuer,
            None,
            "the certificate chain of it was not accepted: it was not issued by a trusted authority",
        ),
        (
            Case { sent: "odd.pem", ..CASE },
            Problem::Malformed,
            Some(0),
            "the certificate of it cannot be parsed: keyUsage at byte 301",
        ),
        // The path ends at the trusted intermediate; certificates above the intermediate are not checked.
        (
            Case { trusted: &["int.pem"], lists: &["other-root.crl"], ..CASE },
            unknown,
            Some(0),
            "the certificate of it (CN=localhost) may have been revoked: no CRL of \"CN=netlib intermediate\" was added",
        ),
        (
            Case { lists: &["other-root.crl"], ..CASE },
            unknown,
            Some(1),
            "certificate 1 of the chain of it (CN=netlib intermediate) may have been revoked: no CRL of \"CN=netlib root\" was added",
        ),
        (
            Case { lists: &["root.crl"], ..CASE },
            unknown,
            Some(0),
            "the certificate of it (CN=localhost) may have been revoked: no CRL of \"CN=netlib intermediate\" was added",
        ),
        (
            Case { lists: &["int.crl"], ..CASE },
            unknown,
            Some(1),
            "certificate 1 of the chain of it (CN=netlib intermediate) may have been revoked: no CRL of \"CN=netlib root\" was added",
        ),
        (
            Case { lists: &["root.crl", "int-expired.crl"], ..CASE },
            unknown,
            Some(0),
            "the certificate of it (CN=localhost) may have been revoked: the CRL of \"CN=netlib intermediate\" expired on 2021-01-01 00:00:00 UTC; the time is 2026-01-01 00:00:00 UTC",
        ),
        (
            Case { lists: &["root.crl", "int-forged.crl"], ..CASE },
            unknown,
            None,
            "the certificate chain of it may contain a revoked certificate: a CRL has a signature that was not made with its issuer's key",
        ),
        (
            Case { sent: "self-signed-expired.pem", trusted: &["self-signed-expired.pem"], ..CASE },
            Problem::Expired,
            Some(0),
            "the certificate of it (CN=localhost) expired on 2021-01-01 00:00:00 UTC; the time is 2026-01-01 00:00:00 UTC",
        ),
        (
            Case { sent: "self-signed-ca.pem", trusted: &["self-signed-ca.pem"], time: 1_500_000_000, ..CASE },
            Problem::NotYetValid,
            Some(0),
            "the certificate of it (CN=localhost) is valid only from 2020-01-01 00:00:00 UTC; the time is 2017-07-14 02:40:00 UTC",
        ),
        (
            Case { sent: "self-signed-client.pem", trusted: &["self-signed-client.pem"], ..CASE },
            Problem::WrongPurpose,
            Some(0),
            "the certificate of it (CN=a client) was not issued for servers (its extendedKeyUsage lacks serverAuth)",
        ),
        (
            Case { sent: "self-signed-ca.pem", trusted: &["self-signed-ca.pem"], name: "other.test", ..CASE },
            Problem::NameMismatch,
            Some(0),
            "the certificate of it (CN=localhost) is for localhost",
        ),
        (
            Case { sent: "weak.pem", trusted: &["weak.pem"], ..CASE },
            Problem::WeakKey,
            Some(0),
            "the certificate of it (CN=localhost) has an RSA key of 1024 bits; at least 2048 are needed",
        ),
        (
            Case { sent: "strict-no-authority-key.pem", flags: flag::X509_STRICT, ..CASE },
            Problem::Other,
            Some(0),
            "the certificate of it (CN=localhost) breaks a rule of RFC 5280: it has no authorityKeyIdentifier (4.2.1.1)",
        ),
        (
            Case { sent: "strict-serial.pem", flags: flag::X509_STRICT, ..CASE },
            Problem::Other,
            Some(0),
            "the certificate of it (CN=localhost) breaks a rule of RFC 5280: its serial number is not positive, or is longer than 20 bytes (4.1.2.2)",
        ),
        (
            Case { sent: "strict-not-critical.pem", flags: flag::X509_STRICT, ..CASE },
            Problem::Other,
            Some(1),
            "certificate 1 of the chain of it (CN=intermediate of another kind) breaks a rule of RFC 5280: its basicConstraints are not marked critical (4.2.1.9)",
        ),
        (
            Case { sent: "strict-no-sign.pem", ..CASE },
            Problem::NotCa,
            Some(1),
            "certificate 1 of the chain of it (CN=intermediate of another kind) has issued another certificate, but may not (its keyUsage lacks keyCertSign)",
        ),
        (
            Case { sent: "strict-no-key.pem", flags: flag::X509_STRICT, ..CASE },
            Problem::Other,
            Some(1),
            "certificate 1 of the chain of it (CN=intermediate of another kind) breaks a rule of RFC 5280: it has no subjectKeyIdentifier (4.2.1.2)",
        ),
    ] {
        let expected = (problem, index, message.to_owned());
        assert_eq!(case.refused(), Some(expected), "{}", case.sent);
    }
}

/// CVE-2024-45341: a zone identifier has only local meaning, so it is ignored when names and name constraints are
/// matched.
#[test]
fn zone_identifiers_are_ignored_by_name_matching_and_name_constraints() {
    let verify = |sent: &'static str, name: &'static str| {
        let refused = Case { sent, name, ..CASE }.refused();
        refused.map(|(problem, ..)| problem)
    };
    for zone in ["fe80::1", "fe80::1%eth0", "[fe80::1%25eth0]", "fe80::1%.localhost", "fe80::1%25localhost"] {
        assert_eq!(verify("good.pem", zone), None, "{zone}");
        assert_eq!(verify("constrained-ip.pem", zone), None, "{zone}");
        assert_eq!(verify("excluded-ip.pem", zone), Some(Problem::NameConstraints), "{zone}");
        assert_eq!(verify("names.pem", zone), Some(Problem::NameMismatch), "{zone}");
    }
    for other in ["fe80::2%eth0", "fe80::1:0%localhost", "::1%127.0.0.1"] {
        assert_eq!(verify("good.pem", other), Some(Problem::NameMismatch), "{other}");
    }
}

#[test]
fn chains_with_a_flipped_bit_are_refused_with_a_message() {
    let chain = certificates("good.pem");
    let policy = policy(&["root.pem"], &["all.crl"], flag::X509_STRICT);
    let time = UnixTime::since_unix_epoch(Duration::from_secs(NOW));
    for which in 0..chain.len() {
        for at in (0..chain[which].len()).step_by(7) {
            for bit in [0, 3, 7] {
                let mut changed = chain.clone();
                let mut der = changed[which].to_vec();
                der[at] ^= 1 << bit;
                changed[which] = der.into();
                let (end_entity, others) = changed.split_first().unwrap();
                let request = VerifyRequest { end_entity, others, purpose: Purpose::Server, name: None, time };
                let refusal = verify(&policy, &request).unwrap_err();
                assert!(!refusal.into_error("the server").message().is_empty());
            }
        }
    }
}

/// Makes a leaf, `steps` groups of authorities, and `others` unrelated certificates. Each group consists of `of_a_name`
/// authorities with the same name, which the next group has issued.
fn many_paths(of_a_name: usize, steps: usize, others: usize) -> Vec<CertificateDer<'static>> {
    let keys: Vec<_> = (0..of_a_name.max(1)).map(|_| rcgen::KeyPair::generate().unwrap()).collect();
    let certificate = |subject: &str, issuer: &str, key: usize| {
        let named = |name: &str| {
            let mut params = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
            params.distinguished_name = rcgen::DistinguishedName::new();
            params.distinguished_name.push(rcgen::DnType::CommonName, name);
            params
        };
        let mut params = named(subject);
        if subject != "leaf" {
            params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        }
        params.signed_by(&keys[key], &rcgen::Issuer::new(named(issuer), &keys[0])).unwrap().der().clone()
    };
    let mut chain = vec![certificate("leaf", "0", 0)];
    for step in 0..steps {
        chain.extend((0..of_a_name).map(|key| certificate(&step.to_string(), &(step + 1).to_string(), key)));
    }
    chain.extend((0..others).map(|_| certificate("other", "another", 0)));
    chain
}

/// Without the limit on comparisons, the second row of the table would take minutes in a debug build and seconds in a
/// release build.
#[test]
fn chains_that_need_over_1_million_comparisons_are_refused_as_too_complex() {
    for (of_a_name, steps, others, problem) in [
        (3, 5, 200, Problem::UnknownIssuer),
        (11, 5, 200, Problem::TooComplex),
        (250, 1, 0, Problem::UnknownIssuer),
        (1, 6, 250, Problem::UnknownIssuer),
    ] {
        let chain = many_paths(of_a_name, steps, others);
        let (end_entity, others) = chain.split_first().unwrap();
        let time = UnixTime::since_unix_epoch(Duration::from_secs(NOW));
        let request = VerifyRequest { end_entity, others, purpose: Purpose::Server, name: None, time };
        let refusal = verify(&policy(&["root.pem"], &[], 0), &request).unwrap_err();
        assert_eq!(refusal.problem, problem, "{of_a_name} {steps}: {}", refusal.what);
    }
}
