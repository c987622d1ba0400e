//! Compares netlib with the results of Python's ssl that `tests/vectors/chains.py` recorded. Only acceptance is
//! compared, not the reason of a refusal.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::{Case, Counts, NOW, X509_STRICT, netlib_results};
use crate::env::Env;
use crate::report::Report;

const HOST: &str = "www.example.test";

/// A handshake in which one peer verifies the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verification {
    Server,
    ServerWithoutName,
    Client,
}

const VERIFICATIONS: [Verification; 3] =
    [Verification::Server, Verification::ServerWithoutName, Verification::Client];

/// A chain, named after the properties of its certificates, and the results of ssl for each verification. The four
/// results are those without flags, with VERIFY_X509_STRICT, with VERIFY_X509_PARTIAL_CHAIN, and with both.
struct Chain<'a> {
    trusted: &'a str,
    sent: &'a str,
    ssl: [[i32; 4]; 3],
}

/// The results of ssl and netlib for one chain, verification and strictness.
struct Comparison<'a> {
    trusted: &'a str,
    sent: &'a str,
    is_strict: bool,
    /// The X509_V_ERR_ constant of ssl without VERIFY_X509_PARTIAL_CHAIN.
    ssl: i32,
    /// The X509_V_ERR_ constant of ssl with VERIFY_X509_PARTIAL_CHAIN.
    ssl_partial: i32,
    /// The number of the certificate problem, 0 if netlib accepts the chain.
    netlib: i32,
}

impl Comparison<'_> {
    /// Returns the row of the table for this comparison.
    fn class(&self) -> Option<&'static str> {
        match (self.ssl, self.ssl_partial, self.netlib) {
            (0, 0, 0) => Some("accepted-by-both"),
            (1.. | -1, 1.. | -1, 1..) => Some("refused-by-both"),
            _ => self.difference(),
        }
    }

    /// Returns the class of a comparison in which ssl and netlib differ at least without or with
    /// VERIFY_X509_PARTIAL_CHAIN.
    fn difference(&self) -> Option<&'static str> {
        let leaf_has = |properties: &[&str]| has(self.sent, "leaf", properties);
        let sent_has = |properties: &[&str]| leaf_has(properties) || has(self.sent, "int", properties);
        let trusted_has =
            |properties: &[&str]| ["int", "root"].iter().any(|role| has(self.trusted, role, properties));
        let any_has = |properties: &[&str]| sent_has(properties) || trusted_has(properties);
        match (self.ssl_partial, self.netlib) {
            (0, 0) => Some("partial-chain"),
            (2 | 20, 0) if any_has(KEY_IDENTIFIERS) => Some("key-identifier"),
            (7 | 80 | 81 | 85 | 87 | 88, 0) if self.is_leaf_trusted() => Some("trusted-leaf"),
            (0, 4) if leaf_has(&["subject=host"]) => Some("common-name"),
            (0, 7) if leaf_has(KEY_EXCHANGE_USAGES) => Some("leaf-key-usage"),
            (0, 9) if leaf_has(&["version=1"]) => Some("version-1-leaf"),
            (0, 9) if self.is_strict && sent_has(ODD_SERIALS) => Some("strict-serial-number"),
            (0, 12) if leaf_has(AUTHORITIES) => Some("authority-as-leaf"),
            (0, 18) if any_has(CONSTRAINTS_OF_OTHER_KINDS) => Some("constraint-kind"),
            (0, 20) if sent_has(CRITICAL_POLICIES) => Some("critical-policies"),
            _ => None,
        }
    }

    fn is_leaf_trusted(&self) -> bool {
        let leaf = self.sent.split(',').next();
        self.trusted.split(',').any(|trusted| Some(trusted) == leaf)
    }
}

/// The authorityKeyIdentifiers that do not match the issuer, or not if the issuer has another serial number.
const KEY_IDENTIFIERS: &[&str] =
    &["authorityKeyIdentifier=wrong", "authorityKeyIdentifier=wrong-serial", "authorityKeyIdentifier=serial"];
const KEY_EXCHANGE_USAGES: &[&str] =
    &["keyUsage=keyEncipherment", "keyUsage=keyEncipherment+dataEncipherment", "keyUsage=keyAgreement"];
const ODD_SERIALS: &[&str] = &["serial=0", "serial=negative", "serial=21-bytes"];
const AUTHORITIES: &[&str] = &["basicConstraints=CA:TRUE", "basicConstraints=CA:TRUE-pathlen-0"];
const CONSTRAINTS_OF_OTHER_KINDS: &[&str] = &[
    "nameConstraints=permitted-email:example.test",
    "nameConstraints=permitted-dir:leaf",
    "nameConstraints=excluded-email:example.test",
    "nameConstraints=excluded-dir:leaf",
];
const CRITICAL_POLICIES: &[&str] = &["certificatePolicies=critical", "policyConstraints=critical"];

/// Returns true if a certificate with this role, in a list of names that commas separate, has one of the properties.
fn has(names: &str, role: &str, properties: &[&str]) -> bool {
    names
        .split(',')
        .filter_map(|name| name.strip_prefix(role))
        .any(|rest| rest.split(';').any(|property| properties.contains(&property)))
}

/// Compares netlib's results with those in `text`, and returns the number of results in each class.
pub fn compare(env: &Env, scratch: &Path, text: &str, report: &mut Report) -> Counts {
    let (certificates, chains) = parse(text);
    let mut files = Files { scratch, certificates, written: HashMap::new() };
    let mut cases = Vec::new();
    for flags in [0, X509_STRICT] {
        for chain in &chains {
            for verification in VERIFICATIONS {
                cases.push(Case {
                    axis: "recorded",
                    what: format!("{} for {}, {verification:?}, flags {flags:#x}", chain.sent, chain.trusted),
                    anchors: files.of(chain.trusted),
                    chain: files.of(chain.sent),
                    lists: None,
                    is_client: verification == Verification::Client,
                    name: (verification == Verification::Server).then(|| HOST.to_owned()),
                    time: NOW,
                    flags,
                });
            }
        }
    }
    let netlib = match netlib_results(env, scratch, &cases) {
        Ok(netlib) => netlib,
        Err(text) => {
            report.fail(text);
            return Counts::new();
        }
    };
    let mut netlib = netlib.iter().map(|(_, problem)| *problem);
    let mut counts = Counts::new();
    let mut failures = Vec::new();
    for is_strict in [false, true] {
        for chain in &chains {
            for (verification, ssl) in VERIFICATIONS.into_iter().zip(chain.ssl) {
                let comparison = Comparison {
                    trusted: chain.trusted,
                    sent: chain.sent,
                    is_strict,
                    ssl: ssl[usize::from(is_strict)],
                    ssl_partial: ssl[2 + usize::from(is_strict)],
                    netlib: netlib.next().unwrap_or(-1),
                };
                match comparison.class() {
                    Some(class) => *counts.entry(class).or_insert(0) += 1,
                    None => failures.push(format!(
                        "{} for {}, {verification:?}, strict {is_strict}: ssl's {} and {}, netlib's {}",
                        chain.sent, chain.trusted, comparison.ssl, comparison.ssl_partial, comparison.netlib
                    )),
                }
            }
        }
    }
    report.problems("ssl and netlib agree, or the table explains the difference", failures);
    counts
}

/// Returns the base64 of each certificate, and the chains.
fn parse(text: &str) -> (HashMap<&str, &str>, Vec<Chain<'_>>) {
    let (mut certificates, mut chains) = (HashMap::new(), Vec::new());
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        match *line.split(' ').collect::<Vec<_>>().as_slice() {
            ["certificate", name, base64] => {
                certificates.insert(name, base64);
            }
            ["chain", trusted, sent, server, without_name, client] => {
                let ssl = [server, without_name, client].map(results);
                chains.push(Chain { trusted, sent, ssl });
            }
            _ => panic!("chains.txt: the line is neither a certificate nor a chain: {line}"),
        }
    }
    (certificates, chains)
}

/// Parses four results, or one result that stands for four equal ones.
fn results(text: &str) -> [i32; 4] {
    let numbers: Vec<i32> = text.split(',').map(|number| number.parse().expect("a number")).collect();
    match numbers.as_slice() {
        [all] => [*all; 4],
        numbers => numbers.try_into().expect("four numbers"),
    }
}

/// Writes lists of certificates into files, each list only once.
struct Files<'a> {
    scratch: &'a Path,
    certificates: HashMap<&'a str, &'a str>,
    written: HashMap<String, PathBuf>,
}

impl Files<'_> {
    /// Returns the PEM file with the certificates of a list of names, which commas separate.
    fn of(&mut self, names: &str) -> PathBuf {
        if let Some(path) = self.written.get(names) {
            return path.clone();
        }
        let pem =
            |name| format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", self.certificates[name]);
        let path = self.scratch.join(format!("recorded-{}.pem", self.written.len()));
        fs::write(&path, names.split(',').map(pem).collect::<String>()).expect("target is writable");
        self.written.insert(names.to_owned(), path.clone());
        path
    }
}
