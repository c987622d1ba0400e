//! Generates the certificate chains. Each axis varies one or two properties of a valid chain, which consists of a root,
//! an intermediate and a leaf for www.example.test.

use std::fs;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use super::public_roots;
use super::roots::roots;
use super::{Case, NOW, X509_STRICT};
use crate::env::{Env, name as file_name};
use rcgen::{
    BasicConstraints, CertificateParams, CertificateRevocationListParams, CidrSubnet, DistinguishedName, DnType,
    ExtendedKeyUsagePurpose, GeneralSubtree, IsCa, Issuer, KeyIdMethod, KeyPair, KeyUsagePurpose, NameConstraints,
    RevokedCertParams, SanType, SerialNumber, date_time_ymd,
};

const HOST: &str = "www.example.test";

/// A certificate and the private key with which it signs other certificates.
struct Made {
    pem: String,
    issuer: Issuer<'static, KeyPair>,
}

struct Maker<'a> {
    scratch: &'a Path,
    root: Made,
    other: Made,
    files: usize,
    cases: Vec<Case>,
}

fn params(name: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    params.not_before = date_time_ymd(2020, 1, 1);
    params.not_after = date_time_ymd(2090, 1, 1);
    params.use_authority_key_identifier_extension = true;
    params
}

fn authority(name: &str) -> CertificateParams {
    let mut params = params(name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params
}

fn leaf() -> CertificateParams {
    let mut params = params("leaf");
    params.subject_alt_names = vec![dns(HOST)];
    params
}

fn dns(name: &str) -> SanType {
    SanType::DnsName(name.try_into().expect("ASCII"))
}

fn san(text: &str) -> SanType {
    match text.parse::<IpAddr>() {
        Ok(address) => SanType::IpAddress(address),
        Err(_) if text.contains('@') => SanType::Rfc822Name(text.try_into().expect("ASCII")),
        Err(_) => dns(text),
    }
}

fn generate() -> KeyPair {
    KeyPair::generate().expect("a key")
}

fn self_signed(params: CertificateParams) -> Made {
    let key = generate();
    let pem = params.self_signed(&key).expect("a certificate").pem();
    Made { pem, issuer: Issuer::new(params, key) }
}

fn signed(params: CertificateParams, by: &Made) -> Made {
    let key = generate();
    let pem = params.signed_by(&key, &by.issuer).expect("a certificate").pem();
    Made { pem, issuer: Issuer::new(params, key) }
}

fn list(by: &Made, revoked: &[u64], until: i32) -> String {
    let entry = |serial: &u64| RevokedCertParams {
        serial_number: SerialNumber::from(*serial),
        revocation_time: date_time_ymd(2020, 1, 1),
        reason_code: None,
        invalidity_date: None,
    };
    let params = CertificateRevocationListParams {
        this_update: date_time_ymd(2020, 1, 1),
        next_update: date_time_ymd(until, 1, 1),
        crl_number: SerialNumber::from(1),
        issuing_distribution_point: None,
        revoked_certs: revoked.iter().map(entry).collect(),
        key_identifier_method: KeyIdMethod::Sha256,
    };
    params.signed_by(&by.issuer).expect("a list").pem().expect("PEM")
}

/// Changes a character in the last base64 line of a PEM certificate, so that its signature is invalid.
fn with_changed_signature(pem: &str) -> String {
    let at = pem.trim_end().rmatch_indices('\n').nth(1).expect("lines").0 + 1;
    let other = if pem.as_bytes()[at] == b'A' { "B" } else { "A" };
    format!("{}{other}{}", &pem[..at], &pem[at + 1..])
}

/// Returns a copy of the key.
fn copy_key(key: &KeyPair) -> KeyPair {
    KeyPair::try_from(key.serialize_der()).expect("a key")
}

pub fn all(env: &Env, scratch: &Path) -> Vec<Case> {
    let (root, other) = (self_signed(authority("root")), self_signed(authority("other root")));
    let mut maker = Maker { scratch, root, other, files: 0, cases: Vec::new() };
    maker.purposes();
    maker.names();
    maker.lengths();
    maker.authorities();
    maker.times();
    maker.constraints();
    maker.trust();
    maker.anchors();
    maker.lists();
    maker.trusted_leaves();
    maker.committed_certificates(env);
    maker.public_roots();
    maker.cases
}

impl Maker<'_> {
    fn file(&mut self, text: &str) -> PathBuf {
        self.files += 1;
        let path = self.scratch.join(format!("{}.pem", self.files));
        fs::write(&path, text).expect("target is writable");
        path
    }

    /// Adds a case: a chain with a trusted root, verified at the default time and without a name.
    fn add_case(&mut self, axis: &'static str, what: String, chain: &[&str]) -> &mut Case {
        let root = self.root.pem.clone();
        let (anchors, chain) = (self.file(&root), self.file(&chain.concat()));
        self.cases.push(Case {
            axis,
            what,
            anchors,
            chain,
            lists: None,
            is_client: false,
            name: None,
            time: NOW,
            flags: 0,
        });
        self.cases.last_mut().expect("just added")
    }

    /// Issues a leaf through one intermediate, and returns both certificates in PEM.
    fn issue_through(&mut self, int: CertificateParams, leaf: CertificateParams) -> [String; 2] {
        let int = signed(int, &self.root);
        [signed(leaf, &int).pem, int.pem]
    }

    fn purposes(&mut self) {
        use ExtendedKeyUsagePurpose::{Any, ClientAuth, EmailProtection, ServerAuth};
        let usages: [(&str, Vec<ExtendedKeyUsagePurpose>); 6] = [
            ("none", vec![]),
            ("server", vec![ServerAuth]),
            ("client", vec![ClientAuth]),
            ("both", vec![ServerAuth, ClientAuth]),
            ("any", vec![Any]),
            ("mail", vec![EmailProtection]),
        ];
        for (above, of_int) in &usages {
            for (own, of_leaf) in &usages {
                let (mut int, mut leaf) = (authority("int"), leaf());
                int.extended_key_usages.clone_from(of_int);
                leaf.extended_key_usages.clone_from(of_leaf);
                let [leaf, int] = self.issue_through(int, leaf);
                for is_client in [false, true] {
                    let what = format!("intermediate {above}, leaf {own}, client {is_client}");
                    self.add_case("purpose", what, &[&leaf, &int]).is_client = is_client;
                }
            }
        }
    }

    fn names(&mut self) {
        let certified: [&[&str]; 11] = [
            &["localhost"],
            &["*.example.test"],
            &["example.test", "www.example.test"],
            &["127.0.0.1"],
            &["::1"],
            &["xn--bcher-kva.test"],
            &["*.test"],
            &["w*.example.test"],
            &["*.*.example.test"],
            &["who@example.test"],
            &[],
        ];
        let asked = [
            "localhost",
            "LOCALHOST",
            "example.test",
            "www.example.test",
            "a.www.example.test",
            "www.example.test.",
            "127.0.0.1",
            "127.0.0.2",
            "::1",
            "xn--bcher-kva.test",
            "cn.test",
        ];
        for names in certified {
            let mut leaf = params("cn.test");
            leaf.subject_alt_names = names.iter().map(|name| san(name)).collect();
            let [leaf, int] = self.issue_through(authority("int"), leaf);
            for name in asked {
                let case = self.add_case("name", format!("{names:?} for {name}"), &[&leaf, &int]);
                case.name = Some(name.to_owned());
            }
        }
    }

    fn lengths(&mut self) {
        for length in 1..=6_u8 {
            for allowed in [None, Some(0), Some(1), Some(2), Some(3), Some(4)] {
                let mut top = authority("int 0");
                if let Some(allowed) = allowed {
                    top.is_ca = IsCa::Ca(BasicConstraints::Constrained(allowed));
                }
                let mut chain = vec![signed(top, &self.root)];
                for below in 1..length {
                    let next = signed(authority(&format!("int {below}")), chain.last().expect("one"));
                    chain.push(next);
                }
                chain.push(signed(leaf(), chain.last().expect("one")));
                let pems: Vec<&str> = chain.iter().rev().map(|made| made.pem.as_str()).collect();
                self.add_case("length", format!("{length} authorities, {allowed:?} below the first"), &pems);
            }
        }
    }

    fn authorities(&mut self) {
        use KeyUsagePurpose::{CrlSign, DigitalSignature, KeyCertSign};
        let kinds = [IsCa::Ca(BasicConstraints::Unconstrained), IsCa::ExplicitNoCa, IsCa::NoCa];
        let usages: [&[KeyUsagePurpose]; 5] =
            [&[], &[KeyCertSign], &[KeyCertSign, CrlSign], &[CrlSign], &[DigitalSignature]];
        for kind in &kinds {
            for usage in usages {
                let mut int = authority("int");
                int.is_ca = *kind;
                int.key_usages = usage.to_vec();
                let [leaf, int] = self.issue_through(int, leaf());
                self.add_case("authority", format!("intermediate {kind:?} {usage:?}"), &[&leaf, &int]);
                let mut leaf = self::leaf();
                leaf.is_ca = *kind;
                leaf.key_usages = usage.to_vec();
                let [leaf, int] = self.issue_through(authority("int"), leaf);
                self.add_case("authority", format!("leaf {kind:?} {usage:?}"), &[&leaf, &int]);
            }
        }
    }

    fn times(&mut self) {
        let spans = [("now", 2020, 2090), ("past", 2020, 2021), ("future", 2080, 2090)];
        let span = |mut params: CertificateParams, (_, from, until): (&str, i32, i32)| {
            params.not_before = date_time_ymd(from, 1, 1);
            params.not_after = date_time_ymd(until, 1, 1);
            params
        };
        for above in spans {
            for own in spans {
                let [leaf, int] = self.issue_through(span(authority("int"), above), span(leaf(), own));
                self.add_case("time", format!("intermediate {}, leaf {}", above.0, own.0), &[&leaf, &int]);
            }
            let root = self_signed(span(authority("root"), above));
            let int = signed(authority("int"), &root);
            let leaf = signed(leaf(), &int);
            let anchors = self.file(&root.pem);
            self.add_case("time", format!("root {}", above.0), &[&leaf.pem, &int.pem]).anchors = anchors;
        }
        // The first and the last second of the leaf's validity, and the seconds before and after them.
        let [leaf, int] = self.issue_through(span(authority("int"), ("", 1990, 2090)), leaf());
        for time in [1_577_836_799, 1_577_836_800, 3_786_912_000, 3_786_912_001] {
            self.add_case("time", format!("at {time}"), &[&leaf, &int]).time = time;
        }
    }

    fn constraints(&mut self) {
        let net = || GeneralSubtree::IpAddress(CidrSubnet::from_v4_prefix([127, 0, 0, 0], 8));
        let dns = |name: &str| GeneralSubtree::DnsName(name.to_owned());
        let permit = |subtree| NameConstraints { permitted_subtrees: vec![subtree], excluded_subtrees: vec![] };
        let exclude = |subtree| NameConstraints { permitted_subtrees: vec![], excluded_subtrees: vec![subtree] };
        let mut organisation = DistinguishedName::new();
        organisation.push(DnType::OrganizationName, "somebody");
        let constraints = [
            ("permits example.test", permit(dns("example.test"))),
            ("permits .example.test", permit(dns(".example.test"))),
            ("permits other.test", permit(dns("other.test"))),
            ("permits 127.0.0.0/8", permit(net())),
            ("permits mail", permit(GeneralSubtree::Rfc822Name("example.test".to_owned()))),
            ("permits somebody", permit(GeneralSubtree::DirectoryName(organisation.clone()))),
            ("excludes example.test", exclude(dns("example.test"))),
            ("excludes www.example.test", exclude(dns("www.example.test"))),
            ("excludes 127.0.0.0/8", exclude(net())),
            ("excludes mail", exclude(GeneralSubtree::Rfc822Name("example.test".to_owned()))),
            ("excludes somebody", exclude(GeneralSubtree::DirectoryName(organisation))),
        ];
        let certified: [&[&str]; 7] = [
            &["example.test"],
            &["www.example.test"],
            &["*.example.test"],
            &["other.test"],
            &["127.0.0.1"],
            &["192.0.2.1", "www.example.test"],
            &["who@example.test"],
        ];
        for (what, constraint) in constraints {
            for names in certified {
                let (mut int, mut leaf) = (authority("int"), leaf());
                int.name_constraints = Some(constraint.clone());
                leaf.subject_alt_names = names.iter().map(|name| san(name)).collect();
                let [leaf, int] = self.issue_through(int, leaf);
                self.add_case("constraint", format!("{what}, leaf {names:?}"), &[&leaf, &int]);
            }
        }
    }

    fn trust(&mut self) {
        let key = generate();
        let own = authority("int");
        let int = own.signed_by(&key, &self.root.issuer).expect("a certificate").pem();
        // A second certificate of the intermediate CA, issued by another root.
        let crossed = own.signed_by(&key, &self.other.issuer).expect("a certificate").pem();
        let leaf_pem = signed(leaf(), &Made { pem: String::new(), issuer: Issuer::new(own, key) }).pem;
        let alone = self_signed(leaf()).pem;
        let unrelated = signed(authority("unrelated"), &self.root).pem;
        let namesake = signed(authority("int"), &self.root).pem;
        let (root, other) = (self.root.pem.clone(), self.other.pem.clone());
        let chains = [
            ("leaf", leaf_pem.clone()),
            ("leaf, int", [&leaf_pem, &*int].concat()),
            ("leaf, crossed", [&leaf_pem, &*crossed].concat()),
            ("leaf, crossed, int", [&leaf_pem, &*crossed, &int].concat()),
            ("leaf, root, int", [&leaf_pem, &*root, &int].concat()),
            ("leaf, unrelated", [&leaf_pem, &*unrelated].concat()),
            ("leaf, namesake", [&leaf_pem, &*namesake].concat()),
            ("leaf, namesake, int", [&leaf_pem, &*namesake, &int].concat()),
            ("leaf, int, root", [&leaf_pem, &*int, &root].concat()),
            ("altered leaf, int", [with_changed_signature(&leaf_pem), int.clone()].concat()),
            ("leaf, altered int", [leaf_pem.clone(), with_changed_signature(&int)].concat()),
            ("self-signed", alone.clone()),
        ];
        let anchors = [
            ("root", root.clone()),
            ("other", other.clone()),
            ("both", [&*root, &other].concat()),
            ("int", int.clone()),
            ("leaf", leaf_pem.clone()),
            ("self-signed", alone),
        ];
        for (trusted, anchors) in &anchors {
            for (sent, chain) in &chains {
                let anchors = self.file(anchors);
                self.add_case("trust", format!("{trusted} trusted, {sent} sent"), &[chain]).anchors = anchors;
            }
        }
    }

    /// Adds two cases for each kind of root: a chain that ends at the root, and the root as the peer's own certificate.
    fn anchors(&mut self) {
        let key = generate();
        let named = authority("anchor");
        let kinds = roots(&named, &key, &self.other.issuer);
        let by = Made { pem: String::new(), issuer: Issuer::new(named.clone(), copy_key(&key)) };
        let int = signed(authority("int"), &by);
        let (direct, indirect) = (signed(leaf(), &by).pem, signed(leaf(), &int).pem);
        for (what, root) in &kinds {
            let chains = [
                ("anchor", "leaf", vec![direct.as_str()]),
                ("anchor", "leaf, int", vec![&indirect, &int.pem]),
                ("itself", "itself", vec![root]),
            ];
            for (axis, sent, chain) in chains {
                for is_client in [false, true] {
                    let anchors = self.file(root);
                    let case = self.add_case(axis, format!("{what}: {sent}, client {is_client}"), &chain);
                    (case.anchors, case.is_client) = (anchors, is_client);
                }
            }
        }
        // Two roots with the same name and key.
        let pem = |wanted: &str| kinds.iter().find(|(what, _)| *what == wanted).map(|(_, pem)| pem.clone());
        for first in ["authority", "CA:FALSE", "expired", "pathlen 0", "clients"] {
            for second in ["authority", "CA:FALSE", "expired", "pathlen 0", "clients"] {
                let both: String = [first, second].into_iter().filter_map(pem).collect();
                let anchors = self.file(&both);
                self.add_case("anchor", format!("{first} and {second}"), &[&indirect, &int.pem]).anchors = anchors;
            }
        }
        // CRLs of a root whose certificate does not allow it to sign CRLs.
        for usages in [vec![KeyUsagePurpose::KeyCertSign], vec![]] {
            for revoked in [7, 101] {
                let mut root = named.clone();
                root.key_usages.clone_from(&usages);
                let root = root.self_signed(&key).expect("a certificate").pem();
                let mut leaf = leaf();
                leaf.serial_number = Some(SerialNumber::from(101));
                let (leaf, lists) = (signed(leaf, &by).pem, self.file(&list(&by, &[revoked], 2090)));
                let anchors = self.file(&root);
                let case = self.add_case("list", format!("root {usages:?}, revoked {revoked}"), &[&leaf]);
                (case.anchors, case.lists) = (anchors, Some(lists));
            }
        }
    }

    fn lists(&mut self) {
        const INT: u64 = 101;
        const LEAF: u64 = 102;
        let (mut int, mut leaf) = (authority("int"), leaf());
        int.serial_number = Some(SerialNumber::from(INT));
        leaf.serial_number = Some(SerialNumber::from(LEAF));
        let int = signed(int, &self.root);
        let leaf = signed(leaf, &int).pem;
        let forger = self_signed(authority("int"));
        for (revoked_int, revoked_leaf) in [(false, false), (false, true), (true, false), (true, true)] {
            let of = |is_revoked: bool, serial: u64| if is_revoked { vec![serial] } else { vec![7] };
            let (ints, leaves) = (of(revoked_int, INT), of(revoked_leaf, LEAF));
            let of_root = list(&self.root, &ints, 2090);
            let texts = [
                ("both", [&*of_root, &list(&int, &leaves, 2090)].concat()),
                ("the root's", of_root.clone()),
                ("the intermediate's", list(&int, &leaves, 2090)),
                ("the intermediate's has ended", [&*of_root, &list(&int, &leaves, 2021)].concat()),
                ("the root's has ended", [&*list(&self.root, &ints, 2021), &list(&int, &leaves, 2090)].concat()),
                ("another's", list(&self.other, &[INT, LEAF], 2090)),
                ("forged", [&*of_root, &list(&forger, &leaves, 2090)].concat()),
            ];
            for (what, text) in texts {
                let lists = Some(self.file(&text));
                let what = format!("{what}; intermediate revoked {revoked_int}, leaf {revoked_leaf}");
                self.add_case("list", what, &[&leaf, &int.pem]).lists = lists;
            }
        }
    }

    /// The leaf is itself trusted; the peer sends it alone or with certificates that have its issuer's name.
    fn trusted_leaves(&mut self) {
        const LEAF: u64 = 103;
        let mut params = leaf();
        params.serial_number = Some(SerialNumber::from(LEAF));
        let own = self_signed(params.clone());
        let leaf = signed(params, &self.root).pem;
        let mut expired = authority("root");
        expired.not_after = date_time_ymd(2021, 1, 1);
        let expired = self_signed(expired).pem;
        let many: String = (0..60).map(|_| self_signed(authority("root")).pem).collect();
        let forger = self_signed(authority("root"));
        let both = [&*self.root.pem, &*leaf].concat();
        let rows = [
            ("revoked", &both, &leaf, list(&self.root, &[LEAF], 2090)),
            ("not revoked", &both, &leaf, list(&self.root, &[7], 2090)),
            ("a list that has ended", &both, &leaf, list(&self.root, &[7], 2021)),
            ("another's list", &both, &leaf, list(&self.other, &[LEAF], 2090)),
            ("a forged list", &both, &leaf, list(&forger, &[7], 2090)),
            ("self-signed, another's list", &own.pem, &own.pem, list(&self.other, &[7], 2090)),
            ("self-signed, its own list", &own.pem, &own.pem, list(&own, &[7], 2090)),
            ("self-signed, revoked by itself", &own.pem, &own.pem, list(&own, &[LEAF], 2090)),
        ];
        for (what, trusted, leaf, lists) in rows {
            for (with, others) in [("alone", ""), ("with an expired one", &expired), ("with 60 others", &many)] {
                let (anchors, lists) = (self.file(trusted), self.file(&lists));
                let case = self.add_case("trusted-leaf", format!("{what}, {with}"), &[leaf, others]);
                (case.anchors, case.lists) = (anchors, Some(lists));
            }
        }
    }

    /// Adds the certificates of the handshake tests: weak keys, broken digests, and certificates that cannot be parsed.
    fn committed_certificates(&mut self, env: &Env) {
        let folder = env.root.join("tests/certs/verify");
        for chain in env.files("tests/certs/verify", "", ".pem") {
            for is_client in [false, true] {
                let what = format!("{}, client {is_client}", file_name(&chain));
                let (anchors, chain) = (folder.join("root.pem"), chain.clone());
                let name = (!is_client).then(|| "localhost".to_owned());
                let case = Case {
                    axis: "committed",
                    what,
                    anchors,
                    chain,
                    lists: None,
                    is_client,
                    name,
                    time: NOW,
                    flags: 0,
                };
                self.cases.push(case);
            }
        }
    }

    fn public_roots(&mut self) {
        for (at, chain) in public_roots::chains(&leaf()).iter().enumerate() {
            let anchors = self.file(&chain.root);
            for flags in [0, X509_STRICT] {
                let axis = if chain.is_mozillas { "public-root" } else { "machine-root" };
                let case = self.add_case(axis, format!("root {at}, flags {flags:#x}"), &[&chain.leaf]);
                (case.anchors, case.flags) = (anchors.clone(), flags);
            }
        }
    }
}
