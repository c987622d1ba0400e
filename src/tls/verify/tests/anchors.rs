//! Tests which chains may end at a trusted certificate. The tests generate the certificates, some of which share a name
//! and a key.

use std::time::Duration;

use rcgen::{
    BasicConstraints, CertificateParams, CertificateRevocationListParams, CrlDistributionPoint,
    CrlIssuingDistributionPoint, CustomExtension, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer,
    KeyIdMethod, KeyPair, KeyUsagePurpose, SerialNumber, SigningKey, date_time_ymd,
};
use rustls::crypto::aws_lc_rs;

use super::super::anchors::Collection;
use super::super::{crl, server_name};
use crate::tls::verify::pins::Pins;
use crate::tls::verify::*;
use crate::tls::x509::{Der, der::tag};
use rustls_pki_types::{CertificateDer, UnixTime};

type Der509 = CertificateDer<'static>;

/// 2026-01-01 00:00:00 UTC.
const NOW: u64 = 1_767_225_600;

/// A subject name and a key, for which a test can issue several certificates.
struct Entity {
    name: &'static str,
    key: KeyPair,
}

impl Entity {
    fn new(name: &'static str) -> Entity {
        Entity { name, key: KeyPair::generate().unwrap() }
    }

    /// Returns the parameters of a leaf certificate if the name contains a dot, otherwise those of an authority.
    fn params(&self) -> CertificateParams {
        let is_leaf = self.name.contains('.');
        let names = if is_leaf { vec![self.name.to_owned()] } else { Vec::new() };
        let mut params = CertificateParams::new(names).unwrap();
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, self.name);
        (params.not_before, params.not_after) = (date_time_ymd(2020, 1, 1), date_time_ymd(2090, 1, 1));
        params.is_ca = if is_leaf { IsCa::ExplicitNoCa } else { IsCa::Ca(BasicConstraints::Unconstrained) };
        params
    }

    /// Makes a certificate issued by `issuer`. `change` can change the certificate's parameters.
    fn by_with(&self, issuer: &Entity, change: impl FnOnce(&mut CertificateParams)) -> Der509 {
        let mut params = self.params();
        change(&mut params);
        params.signed_by(&self.key, &Issuer::new(issuer.params(), &issuer.key)).unwrap().der().clone()
    }

    fn by(&self, issuer: &Entity) -> Der509 {
        self.by_with(issuer, |_| {})
    }

    fn own_with(&self, change: impl FnOnce(&mut CertificateParams)) -> Der509 {
        self.by_with(self, change)
    }

    /// Makes a CRL that lists the serial numbers `revoked`. `change` can change the CRL's parameters.
    fn list(&self, revoked: &[u64], change: impl FnOnce(&mut CertificateRevocationListParams)) -> Vec<u8> {
        let entry = |serial: &u64| rcgen::RevokedCertParams {
            serial_number: SerialNumber::from(*serial),
            revocation_time: date_time_ymd(2020, 1, 1),
            reason_code: None,
            invalidity_date: None,
        };
        let mut params = CertificateRevocationListParams {
            this_update: date_time_ymd(2020, 1, 1),
            next_update: date_time_ymd(2090, 1, 1),
            crl_number: SerialNumber::from(1),
            issuing_distribution_point: None,
            revoked_certs: revoked.iter().map(entry).collect(),
            key_identifier_method: KeyIdMethod::Sha256,
        };
        change(&mut params);
        let mut issuer = self.params();
        issuer.key_usages = vec![KeyUsagePurpose::CrlSign];
        params.signed_by(&Issuer::new(issuer, &self.key)).unwrap().der().to_vec()
    }

    /// Makes a version 1 certificate issued by `issuer`, by removing version and extensions from rcgen's output.
    fn of_version_1(&self, issuer: &Entity) -> Der509 {
        let whole = self.by(issuer);
        let mut outer = Der::new(&whole).take(tag::SEQUENCE).unwrap().inside();
        let mut fields = outer.take(tag::SEQUENCE).unwrap().inside();
        let algorithm = outer.take(tag::SEQUENCE).unwrap().whole;
        let mut kept = Vec::new();
        while let Some(field) = fields.next() {
            if field.tag != tag::explicit(0) && field.tag != tag::explicit(3) {
                kept.extend_from_slice(field.whole);
            }
        }
        let signed = element(tag::SEQUENCE, &kept);
        let signature = [&[0][..], &issuer.key.sign(&signed).unwrap()].concat();
        element(tag::SEQUENCE, &[&signed, algorithm, &element(tag::BIT_STRING, &signature)].concat()).into()
    }
}

fn element(tag: u8, content: &[u8]) -> Vec<u8> {
    let len = match content.len() {
        len @ 0..0x80 => vec![len as u8],
        len @ 0x80..0x100 => vec![0x81, len as u8],
        len => vec![0x82, (len >> 8) as u8, len as u8],
    };
    [&[tag], &*len, content].concat()
}

fn pathlen(len: u8) -> impl FnOnce(&mut CertificateParams) {
    move |params| params.is_ca = IsCa::Ca(BasicConstraints::Constrained(len))
}

fn policy(trusted: &[&Der509], lists: &[Vec<u8>], flags: i32) -> Policy {
    let mut anchors = Collection::default();
    trusted.iter().for_each(|der| anchors.add(der).unwrap());
    policy_of(anchors, lists, flags)
}

fn policy_of(anchors: Collection, lists: &[Vec<u8>], flags: i32) -> Policy {
    let anchors = anchors.into_anchors();
    let algorithms = aws_lc_rs::default_provider().signature_verification_algorithms;
    let sources: Vec<_> = lists.iter().map(|der| crl::Source::Data(der.clone().into())).collect();
    let find_signer = |issuer: &[u8], der: &[u8]| anchor_constraints::crl_signer(&anchors, &algorithms, issuer, der);
    let crls = crl::load(&sources, &find_signer).unwrap();
    let flags = crl::effective_flags(Some(flags), !crls.is_empty()).unwrap();
    Policy { verifies_chain: true, pins: Pins::default(), anchors, crls, flags, algorithms }
}

fn problem_of(policy: &Policy, sent: &[&Der509], purpose: Purpose) -> Option<Problem> {
    let chain: Vec<Der509> = sent.iter().map(|der| (*der).clone()).collect();
    let (end_entity, others) = chain.split_first().unwrap();
    let name = server_name::parse("a.test").unwrap();
    let name = (purpose == Purpose::Server).then_some(&name);
    let time = UnixTime::since_unix_epoch(Duration::from_secs(NOW));
    let request = VerifyRequest { end_entity, others, purpose, name, time };
    verify(policy, &request).err().map(|refusal| refusal.problem)
}

/// Verifies a chain of a leaf, an intermediate and a root; each row changes the root certificate.
#[test]
fn restrictions_in_a_trusted_root_apply_to_the_chain() {
    use KeyUsagePurpose::{CrlSign, DigitalSignature, KeyCertSign};
    type Change = fn(&mut CertificateParams);
    let critical = |oid: &[u64], content: &[u8]| {
        let mut extension = CustomExtension::from_oid_content(oid, content.to_vec());
        extension.set_criticality(true);
        extension
    };
    let (ca, not_ca) = (None, Some(Problem::NotCa));
    let rows: [(&str, Change, Option<Problem>); 14] = [
        ("an authority", |_| {}, ca),
        ("CA:FALSE", |params| params.is_ca = IsCa::ExplicitNoCa, not_ca),
        ("nothing", |params| params.is_ca = IsCa::NoCa, not_ca),
        ("keyUsage without keyCertSign", |params| params.key_usages = vec![DigitalSignature, CrlSign], not_ca),
        ("keyUsage with it", |params| params.key_usages = vec![KeyCertSign], ca),
        (
            "keyUsage with it and CA:FALSE",
            |params| (params.is_ca, params.key_usages) = (IsCa::ExplicitNoCa, vec![KeyCertSign]),
            not_ca,
        ),
        ("keyUsage with it alone", |params| (params.is_ca, params.key_usages) = (IsCa::NoCa, vec![KeyCertSign]), ca),
        ("pathlen 0", |params| pathlen(0)(params), Some(Problem::PathLength)),
        ("pathlen 1", |params| pathlen(1)(params), ca),
        (
            "for clients",
            |params| params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth],
            Some(Problem::WrongPurpose),
        ),
        (
            "for any purpose, which is none that is named",
            |params| params.extended_key_usages = vec![ExtendedKeyUsagePurpose::Any],
            Some(Problem::WrongPurpose),
        ),
        ("expired", |params| params.not_after = date_time_ymd(2021, 1, 1), Some(Problem::Expired)),
        ("not valid yet", |params| params.not_before = date_time_ymd(2080, 1, 1), Some(Problem::NotYetValid)),
        (
            "for both",
            |params| {
                use ExtendedKeyUsagePurpose::{ClientAuth, ServerAuth};
                params.extended_key_usages = vec![ServerAuth, ClientAuth];
            },
            ca,
        ),
    ];
    let [root, int, site] = ["root", "int", "a.test"].map(Entity::new);
    let (by_root, leaf) = (int.by(&root), site.by(&int));
    let verify_with = |root: &Der509| problem_of(&policy(&[root], &[], 0), &[&leaf, &by_root], Purpose::Server);
    for (what, change, expected) in rows {
        assert_eq!(verify_with(&root.own_with(change)), expected, "{what}");
    }
    // Critical extensions: policyConstraints, which OpenSSL accepts; an unknown extension; basicConstraints with a
    // negative pathlen, which counts as 0.
    for (oid, content, expected) in [
        (&[2, 5, 29, 36][..], &[0x30, 3, 0x80, 1, 0][..], ca),
        (&[1, 2, 3, 4], &[5, 0], Some(Problem::UnknownCriticalExtension)),
        (&[2, 5, 29, 19], &[0x30, 6, 1, 1, 0xff, 2, 1, 0xff], Some(Problem::PathLength)),
    ] {
        let own = root.own_with(|params| {
            if oid.ends_with(&[19]) {
                params.is_ca = IsCa::NoCa;
            }
            params.custom_extensions = vec![critical(oid, content)];
        });
        assert_eq!(verify_with(&own), expected, "{oid:?}");
    }
    assert_eq!(verify_with(&root.of_version_1(&root)), None);
    let above = Entity::new("above");
    assert_eq!(verify_with(&root.of_version_1(&above)), Some(Problem::NotCa));
}

/// A single acceptable path suffices; other trusted or sent certificates do not make the chain fail.
#[test]
fn one_acceptable_certification_path_among_several_suffices() {
    let [root, int, site, other] = ["root", "int", "a.test", "other"].map(Entity::new);
    let (own, leaf) = (root.own_with(|_| {}), site.by(&int));
    let (by_root, by_other) = (int.by(&root), int.by(&other));
    let expired = root.own_with(|params| params.not_after = date_time_ymd(2021, 1, 1));
    let short = root.own_with(pathlen(0));
    let for_clients = int.by_with(&root, |params| {
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    });
    let no_ca = root.own_with(|params| params.is_ca = IsCa::ExplicitNoCa);
    let chain = [&leaf, &by_root];
    let crossed = [&leaf, &by_other, &by_root];
    for (what, trusted, sent, expected) in [
        ("an older one", &[&expired, &own][..], &chain[..], None),
        ("a newer one", &[&own, &expired], &chain, None),
        ("only an older one", &[&expired], &chain, Some(Problem::Expired)),
        ("one that allows less", &[&short, &own], &chain, None),
        ("no authority's", &[&no_ca, &own], &chain, None),
        ("an intermediate that may not", &[&for_clients, &own], &chain, None),
        ("that alone", &[&for_clients], &chain, Some(Problem::WrongPurpose)),
        ("another path", &[&own], &crossed, None),
        ("none of them", &[&short, &expired], &chain, Some(Problem::PathLength)),
        // The leaf itself is trusted, so it does not matter that the chain sent with it would be refused.
        ("the leaf", &[&leaf, &short], &chain, None),
        ("the leaf, by one that is no authority", &[&leaf, &no_ca], &[&leaf, &by_root], None),
    ] {
        assert_eq!(problem_of(&policy(trusted, &[], 0), sent, Purpose::Server), expected, "{what}");
    }
    // A built-in authority has no certificate whose restrictions could be checked. A chain to a built-in authority is
    // accepted even if a trusted certificate with the same name and key does not allow the chain.
    let mut anchors = Collection::default();
    anchors.add(&short).unwrap();
    anchors.add_built_in(webpki::anchor_from_trusted_cert(&own).unwrap().to_owned());
    assert_eq!(anchors.anchors().len(), 1);
    assert_eq!(problem_of(&policy_of(anchors, &[], 0), &chain, Purpose::Server), None);
}

/// Certificates that a trusted leaf has issued are refused.
#[test]
fn certificates_issued_by_a_trusted_leaf_are_refused() {
    let [site, same, below, other] = ["a.test", "a.test", "below", "other.test"].map(Entity::new);
    let own = site.own_with(|_| {});
    let renamed = Entity { name: "a.test", key: KeyPair::generate().unwrap() };
    let (by_site, int) = (other.by(&site), below.by(&site));
    let policy = policy(&[&own], &[], 0);
    for (what, sent, expected) in [
        ("itself", &[&own][..], None),
        ("itself, with others", &[&own, &int], None),
        ("another name", &[&by_site], Some(Problem::NotCa)),
        ("the same name", &[&renamed.by(&site)], Some(Problem::NotCa)),
        (
            "the same name and key, other dates",
            &[&site.own_with(|params| params.not_after = date_time_ymd(2080, 1, 1))],
            Some(Problem::NotCa),
        ),
        ("through an authority", &[&same.by(&below), &int], Some(Problem::NotCa)),
        ("with itself behind", &[&by_site, &own], Some(Problem::NotCa)),
    ] {
        assert_eq!(problem_of(&policy, sent, Purpose::Server), expected, "{what}");
    }
}

/// RFC 5280 section 4.2.1.9: a self-issued certificate, which certifies an authority's new key with its old key, does
/// not count for pathlen.
#[test]
fn self_issued_certificates_do_not_count_for_pathlen() {
    let [old, new, site] = ["root", "root", "a.test"].map(Entity::new);
    let (trusted, between) = (old.own_with(pathlen(0)), new.by(&old));
    let sent = [&site.by(&new), &between];
    assert_eq!(problem_of(&policy(&[&trusted], &[], 0), &sent, Purpose::Server), None);
}

/// A missing issuer is reported as INCOMPLETE_CHAIN only if there is evidence that the peer left out a certificate, and
/// otherwise as UNKNOWN_ISSUER.
#[test]
fn a_missing_issuer_is_reported_as_unknown_unless_the_peer_omitted_it() {
    let [root, top, int, other, site] = ["root", "top", "int", "other", "a.test"].map(Entity::new);
    let (own, by_root, by_top) = (root.own_with(|_| {}), top.by(&root), int.by(&top));
    let unrelated = other.own_with(|_| {});
    let leaf = site.by(&int);
    let downloadable = site.by_with(&int, |params| {
        // An authorityInfoAccess extension that contains "caIssuers: URI:x".
        let access = [0x30, 15, 0x30, 13, 6, 8, 0x2b, 6, 1, 5, 5, 7, 48, 2, 0x86, 1, b'x'];
        params.custom_extensions =
            vec![CustomExtension::from_oid_content(&[1, 3, 6, 1, 5, 5, 7, 1, 1], access.to_vec())];
    });
    let (unknown, incomplete) = (Some(Problem::UnknownIssuer), Some(Problem::IncompleteChain));
    for (what, sent, expected) in [
        ("the leaf", &[&leaf][..], unknown),
        ("a leaf that says where its issuer is", &[&downloadable], incomplete),
        ("the leaf and a root", &[&leaf, &own], incomplete),
        ("the leaf and something else", &[&leaf, &unrelated], incomplete),
        ("one of two between", &[&leaf, &by_top], unknown),
        ("one of two between, and the root", &[&leaf, &by_top, &own], incomplete),
        ("all but the root", &[&leaf, &by_top, &by_root], unknown),
        ("all", &[&leaf, &by_top, &by_root, &own], unknown),
    ] {
        assert_eq!(
            problem_of(&policy(&[&Entity::new("trusted").own_with(|_| {})], &[], 0), sent, Purpose::Server),
            expected,
            "{what}"
        );
    }
    let trusted = policy(&[&own], &[], 0);
    assert_eq!(problem_of(&trusted, &[&leaf, &by_top, &by_root], Purpose::Server), None);
    assert_eq!(problem_of(&trusted, &[&leaf, &by_top], Purpose::Server), unknown);
}

/// Leaf and intermediate certificates with an unknown critical extension are refused.
#[test]
fn unknown_critical_extensions_are_refused() {
    let [root, int, site] = ["root", "int", "a.test"].map(Entity::new);
    let critical = |params: &mut CertificateParams| {
        let mut extension = CustomExtension::from_oid_content(&[1, 2, 3, 4], vec![5, 0]);
        extension.set_criticality(true);
        params.custom_extensions = vec![extension];
    };
    let trusted = policy(&[&root.own_with(|_| {})], &[], 0);
    let (leaf, by_root) = (site.by(&int), int.by(&root));
    let expected = Some(Problem::UnknownCriticalExtension);
    assert_eq!(problem_of(&trusted, &[&site.by_with(&int, critical), &by_root], Purpose::Server), expected);
    assert_eq!(problem_of(&trusted, &[&leaf, &int.by_with(&root, critical)], Purpose::Server), expected);
    assert_eq!(problem_of(&trusted, &[&leaf, &by_root], Purpose::Server), None);
}

#[test]
fn the_x509_strict_flag_applies_to_trusted_certificates() {
    let [root, site] = ["root", "a.test"].map(Entity::new);
    let own = root.own_with(|params| params.key_usages = vec![KeyUsagePurpose::KeyCertSign]);
    let bare = root.own_with(|params| params.key_usages = vec![]);
    let leaf = site.by_with(&root, |params| params.use_authority_key_identifier_extension = true);
    let key_usages = [KeyUsagePurpose::KeyCertSign];
    let numbered_0 = root.own_with(|params| {
        (params.key_usages, params.serial_number) = (key_usages.to_vec(), Some(SerialNumber::from(0)));
    });
    let issued = root.by_with(&Entity::new("another root"), |params| {
        (params.key_usages, params.use_authority_key_identifier_extension) = (key_usages.to_vec(), false);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    });
    for (what, trusted, flags, expected) in [
        ("keyCertSign", &own, 0, None),
        ("no keyUsage", &bare, 0, None),
        ("keyCertSign", &own, flag::X509_STRICT, None),
        ("no keyUsage", &bare, flag::X509_STRICT, Some(Problem::Other)),
        ("version 1", &root.of_version_1(&root), flag::X509_STRICT, Some(Problem::Other)),
        ("serial number 0", &numbered_0, flag::X509_STRICT, None),
        ("issued, without authorityKeyIdentifier", &issued, flag::X509_STRICT, None),
    ] {
        let policy = policy(&[trusted], &[], flags);
        assert_eq!(problem_of(&policy, &[&leaf], Purpose::Server), expected, "{what}");
    }
}

#[test]
fn a_certificate_without_a_subject_needs_a_critical_subject_alt_name_in_strict_mode() {
    let [root, site] = ["root", "a.test"].map(Entity::new);
    let own = root.own_with(|params| params.key_usages = vec![KeyUsagePurpose::KeyCertSign]);
    let names = [0x30, 8, 0x82, 6, b'a', b'.', b't', b'e', b's', b't'];
    for (has_subject, is_critical, expected) in
        [(true, false, None), (true, true, None), (false, true, None), (false, false, Some(Problem::Other))]
    {
        let leaf = site.by_with(&root, |params| {
            params.use_authority_key_identifier_extension = true;
            if !has_subject {
                params.distinguished_name = DistinguishedName::new();
            }
            params.subject_alt_names.clear();
            let mut extension = CustomExtension::from_oid_content(&[2, 5, 29, 17], names.to_vec());
            extension.set_criticality(is_critical);
            params.custom_extensions = vec![extension];
        });
        for (flags, expected) in [(0, None), (flag::X509_STRICT, expected)] {
            let policy = policy(&[&own], &[], flags);
            let row = (has_subject, is_critical, flags);
            assert_eq!(problem_of(&policy, &[&leaf], Purpose::Server), expected, "{row:?}");
        }
    }
}

/// A row: what the leaf has, how it changes, and whether strict mode refuses the leaf if the root issued it, and if the
/// leaf is itself trusted. OpenSSL accepts and refuses the same leaves.
#[test]
fn strict_mode_applies_one_rule_to_a_trusted_leaf_and_all_rules_to_an_issued_one() {
    use KeyUsagePurpose::{DigitalSignature, KeyCertSign};
    type Change = fn(&mut CertificateParams);
    let rows: [(&str, Change, bool, bool); 6] = [
        ("nothing odd", |_| {}, false, false),
        ("keyCertSign", |params| params.key_usages = vec![DigitalSignature, KeyCertSign], true, true),
        (
            "pathlen with CA:FALSE",
            |params| {
                params.is_ca = IsCa::NoCa;
                let path_len_0 = CustomExtension::from_oid_content(&[2, 5, 29, 19], vec![0x30, 3, 2, 1, 0]);
                params.custom_extensions = vec![path_len_0];
            },
            true,
            false,
        ),
        (
            "empty subjectAltName",
            |params| {
                params.subject_alt_names.clear();
                params.custom_extensions = vec![CustomExtension::from_oid_content(&[2, 5, 29, 17], vec![0x30, 0])];
            },
            true,
            false,
        ),
        // registeredID is a kind of name that netlib does not read.
        (
            "subjectAltName with a registeredID",
            |params| {
                params.subject_alt_names.clear();
                let registered_id = vec![0x30, 3, 0x88, 1, 0x2a];
                params.custom_extensions = vec![CustomExtension::from_oid_content(&[2, 5, 29, 17], registered_id)];
            },
            false,
            false,
        ),
        ("no authorityKeyIdentifier", |params| params.use_authority_key_identifier_extension = false, true, false),
    ];
    let [root, site] = ["root", "a.test"].map(Entity::new);
    let own = root.own_with(|params| params.key_usages = vec![KeyCertSign]);
    for (what, change, of_issued, of_trusted) in rows {
        let leaf = site.by_with(&root, |params| {
            params.use_authority_key_identifier_extension = true;
            change(params);
        });
        for (trusted, is_refused) in [(&own, of_issued), (&leaf, of_trusted)] {
            for flags in [0, flag::X509_STRICT] {
                let expected = (is_refused && flags != 0).then_some(Problem::Other);
                let policy = policy(&[trusted], &[], flags);
                let row = format!("{what}, itself {}, flags {flags:#x}", trusted == &leaf);
                // No name is compared, because some rows have none.
                assert_eq!(problem_of(&policy, &[&leaf], Purpose::Client), expected, "{row}");
            }
        }
    }
}

/// Without a keyUsage, a key may be used for everything.
#[test]
fn a_peer_certificate_whose_key_usage_lacks_digital_signature_is_refused() {
    use KeyUsagePurpose::{
        ContentCommitment, CrlSign, DataEncipherment, DigitalSignature, KeyAgreement, KeyCertSign, KeyEncipherment,
    };
    let [root, site] = ["root", "a.test"].map(Entity::new);
    let own = root.own_with(|params| params.key_usages = vec![KeyCertSign]);
    let rows: [(&[KeyUsagePurpose], Option<Problem>); 10] = [
        (&[], None),
        (&[DigitalSignature], None),
        (&[DigitalSignature, KeyEncipherment], None),
        (&[ContentCommitment], Some(Problem::WrongPurpose)),
        (&[KeyEncipherment], Some(Problem::WrongPurpose)),
        (&[KeyEncipherment, DataEncipherment], Some(Problem::WrongPurpose)),
        (&[DataEncipherment], Some(Problem::WrongPurpose)),
        (&[KeyAgreement], Some(Problem::WrongPurpose)),
        (&[KeyCertSign], Some(Problem::WrongPurpose)),
        (&[KeyCertSign, CrlSign], Some(Problem::WrongPurpose)),
    ];
    for (usages, expected) in rows {
        let change = |params: &mut CertificateParams| {
            (params.key_usages, params.use_authority_key_identifier_extension) = (usages.to_vec(), true);
        };
        let (issued, self_signed) = (site.by_with(&root, change), site.own_with(change));
        for (leaf, trusted) in [(&issued, &own), (&issued, &issued), (&self_signed, &self_signed)] {
            for flags in [0, flag::X509_STRICT] {
                for purpose in [Purpose::Server, Purpose::Client] {
                    let policy = policy(&[trusted], &[], flags);
                    let row = format!("{usages:?}, flags {flags:#x}, {purpose:?}, itself {}", leaf == trusted);
                    assert_eq!(problem_of(&policy, &[leaf], purpose), expected, "{row}");
                }
            }
        }
    }
}

#[test]
fn crls_of_authorities_that_may_not_sign_crls_are_not_used() {
    use KeyUsagePurpose::{CrlSign, KeyCertSign};
    let [root, site] = ["root", "a.test"].map(Entity::new);
    let with = |usages: &[KeyUsagePurpose]| root.own_with(|params| params.key_usages = usages.to_vec());
    let list = |revoked: bool, by: &Entity| by.list(&[if revoked { 7 } else { 8 }], |_| {});
    let leaf = site.by_with(&root, |params| params.serial_number = Some(SerialNumber::from(7)));
    let (may, may_not) = (with(&[KeyCertSign, CrlSign]), with(&[KeyCertSign]));
    let (unknown, revoked) = (Some(Problem::RevocationUnknown), Some(Problem::Revoked));
    let forger = Entity::new("root");
    for (what, trusted, lists, expected) in [
        ("may", &[&may][..], vec![list(false, &root)], None),
        ("may, without a keyUsage", &[&with(&[])], vec![list(false, &root)], None),
        ("may, and has revoked it", &[&may], vec![list(true, &root)], revoked),
        ("may not", &[&may_not], vec![list(false, &root)], unknown),
        ("may not, and has revoked it", &[&may_not], vec![list(true, &root)], unknown),
        ("may by another certificate", &[&may_not, &may], vec![list(true, &root)], revoked),
        (
            "may not, and the other one is another's",
            &[&may_not],
            vec![list(false, &root), list(false, &forger)],
            unknown,
        ),
        ("the leaf itself, by one that may not", &[&may_not, &leaf], vec![list(true, &root)], unknown),
    ] {
        assert_eq!(problem_of(&policy(trusted, &lists, 0), &[&leaf], Purpose::Server), expected, "{what}");
    }
}

/// If several paths fail, webpki returns the error "expired" or "too many certificates" rather than CertRevoked. A peer
/// could hide a revocation by appending certificates that cause one of these errors.
#[test]
fn appended_certificates_do_not_hide_the_revocation_of_a_trusted_leaf() {
    let [root, site, other, forger] = ["root", "a.test", "other", "root"].map(Entity::new);
    let own = root.own_with(|_| {});
    let serial = |params: &mut CertificateParams| params.serial_number = Some(SerialNumber::from(7));
    let leaf = site.by_with(&root, serial);
    let (self_signed, authority) = (
        site.own_with(serial),
        site.own_with(|params| {
            serial(params);
            params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        }),
    );
    let expired = Entity::new("root").own_with(|params| params.not_after = date_time_ymd(2021, 1, 1));
    let many: Vec<_> = (0..60).map(|_| Entity::new("root").own_with(|_| {})).collect();
    let old = |params: &mut CertificateRevocationListParams| params.this_update = date_time_ymd(2019, 1, 1);
    let ended = |params: &mut CertificateRevocationListParams| params.next_update = date_time_ymd(2021, 1, 1);
    let part = |params: &mut CertificateRevocationListParams| {
        let distribution_point = CrlDistributionPoint { uris: vec!["http://a.test/1.crl".to_owned()] };
        params.issuing_distribution_point = Some(CrlIssuingDistributionPoint { distribution_point, scope: None });
    };
    let (listed, empty) = (root.list(&[7], |_| {}), root.list(&[8], |_| {}));
    let (revoked, unknown) = (Some(Problem::Revoked), Some(Problem::RevocationUnknown));
    let both = [&own, &leaf];
    for (what, trusted, leaf, lists, expected) in [
        ("no list", &both[..], &leaf, vec![], None),
        ("its issuer's list", &both, &leaf, vec![&empty], None),
        ("its issuer's list names it", &both, &leaf, vec![&listed], revoked),
        ("beside another's", &both, &leaf, vec![&other.list(&[8], |_| {}), &listed], revoked),
        ("a newer list does not", &both, &leaf, vec![&root.list(&[7], old), &empty], None),
        ("a newer list does", &both, &leaf, vec![&root.list(&[8], old), &listed], revoked),
        ("a list that has ended", &both, &leaf, vec![&root.list(&[8], ended)], unknown),
        ("another's list", &both, &leaf, vec![&other.list(&[7], |_| {})], unknown),
        ("a forged list", &both, &leaf, vec![&forger.list(&[8], |_| {})], unknown),
        (
            "a list of another authority of the name",
            &[&own, &forger.own_with(|_| {}), &leaf],
            &leaf,
            vec![&forger.list(&[8], |_| {})],
            unknown,
        ),
        ("a list for a part names it", &both, &leaf, vec![&root.list(&[7], part)], revoked),
        ("an issuer that is not trusted", &[&leaf], &leaf, vec![&empty], unknown),
        ("self-signed, another's list", &[&self_signed], &self_signed, vec![&empty], unknown),
        ("self-signed, its own list", &[&self_signed], &self_signed, vec![&site.list(&[8], |_| {})], None),
        ("self-signed, names itself", &[&self_signed], &self_signed, vec![&site.list(&[7], |_| {})], revoked),
        ("an authority's, another's list", &[&authority], &authority, vec![&empty], unknown),
        ("an authority's, its own list", &[&authority], &authority, vec![&site.list(&[8], |_| {})], None),
        ("an authority's, names itself", &[&authority], &authority, vec![&site.list(&[7], |_| {})], revoked),
    ] {
        let lists: Vec<Vec<u8>> = lists.into_iter().cloned().collect();
        for flags in [0, flag::CRL_CHECK_LEAF, flag::CRL_CHECK_CHAIN] {
            if lists.is_empty() && flags != 0 {
                continue;
            }
            let policy = policy(trusted, &lists, flags);
            let alone = problem_of(&policy, &[leaf], Purpose::Server);
            let with_root = problem_of(&policy, &[leaf, &own], Purpose::Server);
            let with_expired = problem_of(&policy, &[leaf, &expired], Purpose::Server);
            let sent: Vec<_> = std::iter::once(leaf).chain(&many).collect();
            let with_many = problem_of(&policy, &sent, Purpose::Server);
            assert_eq!([alone, with_root, with_expired, with_many], [expected; 4], "{what}, flags {flags:#x}");
        }
    }
    // webpki assumes that a partitioned CRL covers certificates without distribution points; netlib's check of trusted
    // leaves does not.
    let for_part = policy(&both, &[root.list(&[8], part)], 0);
    let sent: Vec<_> = std::iter::once(&leaf).chain(&many).collect();
    assert_eq!(problem_of(&for_part, &[&leaf], Purpose::Server), None);
    assert_eq!(problem_of(&for_part, &sent, Purpose::Server), unknown);
}

/// An intermediate that netlib's parser cannot read is refused, because its keyUsage could not be checked.
#[test]
fn unparsable_intermediate_is_refused() {
    let [root, int, site] = ["root", "int", "a.test"].map(Entity::new);
    // Adds an authorityKeyIdentifier that is not a SEQUENCE; webpki does not parse this extension.
    let by_root = int.by_with(&root, |params| {
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.custom_extensions = vec![CustomExtension::from_oid_content(&[2, 5, 29, 35], vec![5, 0])];
    });
    assert!(Certificate::parse(&by_root).is_err());
    let trusted = policy(&[&root.own_with(|_| {})], &[], 0);
    assert_eq!(problem_of(&trusted, &[&site.by(&int), &by_root], Purpose::Server), Some(Problem::Malformed));
}
