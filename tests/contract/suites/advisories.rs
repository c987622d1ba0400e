//! Checks the versions in Cargo.lock: none is below the version that fixes a known advisory, all crates come from
//! crates.io, only one version of each crate for TLS is locked, and deny.toml allows the licences of all dependencies.
//! The suite needs no network, because the advisories are in a table; `make audit` queries the database.

use std::collections::BTreeSet;

use crate::data::Table;
use crate::env::Env;
use crate::report::Report;

/// Crates of which only one version may be locked, because a second version would have its own global state.
const ONE_VERSION: &[&str] =
    &["rustls", "rustls-webpki", "rustls-pki-types", "aws-lc-rs", "aws-lc-sys", "webpki-roots"];

const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

pub fn run(env: &Env, report: &mut Report) {
    no_locked_version_has_a_known_advisory(env, report);
    licences(env, report);
}

fn no_locked_version_has_a_known_advisory(env: &Env, report: &mut Report) {
    let table = Table::load(env, "advisories");
    let advisories = advisories(&table);
    for advisory in &advisories {
        report.check(numbers(advisory.fixed).is_some(), format!("{}: the version can be read", advisory.id));
    }
    let ids: BTreeSet<&str> = advisories.iter().map(|advisory| advisory.id).collect();
    report.check(ids.len() == advisories.len(), "each advisory has one row");
    for needed in ["RUSTSEC-2026-0049", "RUSTSEC-2026-0098", "RUSTSEC-2026-0099", "RUSTSEC-2026-0104"] {
        report.check(ids.contains(needed), format!("{needed} is missing"));
    }
    for lock in ["Cargo.lock", "benches/Cargo.lock", "fuzz/Cargo.lock"] {
        if env.root.join(lock).is_file() {
            check_lock(lock, &env.read(lock), &table, report);
        }
    }
    report.check(env.root.join("Cargo.lock").is_file(), "the versions are locked");
}

/// Compares a lock file with the table of advisories.
pub fn check_lock(lock: &str, text: &str, table: &Table, report: &mut Report) {
    let packages = packages(text);
    let advisories = advisories(table);
    report.check(!packages.is_empty(), format!("{lock}: it has packages"));
    for package in &packages {
        let Package { name, version, .. } = package;
        let known = advisories.iter().filter(|advisory| advisory.package == *name);
        let open = known.filter(|advisory| is_below(version, advisory.fixed));
        report.problems(
            lock,
            open.map(|a| format!("{name} {version} has {}, fixed in {}: {}", a.id, a.fixed, a.summary)).collect(),
        );
        let is_ours = package.source.is_none() && name.starts_with("netlib");
        let from_registry = package.source == Some(CRATES_IO) && package.has_checksum;
        report
            .check(is_ours || from_registry, format!("{lock}: {name} {version} is not crates.io's, with a checksum"));
    }
    for only in ONE_VERSION {
        let versions = packages.iter().filter(|package| package.name == *only);
        let versions: Vec<&str> = versions.map(|package| package.version).collect();
        report.check(versions.len() < 2, format!("{lock}: {only} in {} versions: {versions:?}", versions.len()));
    }
}

struct Advisory<'a> {
    id: &'a str,
    package: &'a str,
    fixed: &'a str,
    summary: &'a str,
}

fn advisories(table: &Table) -> Vec<Advisory<'_>> {
    let rows = table.rows.iter();
    rows.map(|row| Advisory { id: &row[0], package: &row[1], fixed: &row[2], summary: &row[3] }).collect()
}

struct Package<'a> {
    name: &'a str,
    version: &'a str,
    source: Option<&'a str>,
    has_checksum: bool,
}

fn packages(lock: &str) -> Vec<Package<'_>> {
    let blocks = lock.split("[[package]]").skip(1);
    blocks
        .filter_map(|block| {
            let value = |key: &str| block.lines().find_map(|line| line.strip_prefix(key)?.strip_suffix('"'));
            Some(Package {
                name: value("name = \"")?,
                version: value("version = \"")?,
                source: value("source = \""),
                has_checksum: value("checksum = \"").is_some(),
            })
        })
        .collect()
}

/// Returns true if `version` is below the version that fixes the advisory. A pre-release, or a version that cannot be
/// parsed, counts as below that version.
fn is_below(version: &str, fixed: &str) -> bool {
    match (numbers(version), numbers(fixed)) {
        (Some(version), Some(fixed)) => version < fixed,
        _ => true,
    }
}

/// Parses a version "1.2.3" or "1.2.3+anything".
fn numbers(version: &str) -> Option<[u64; 3]> {
    let plain = version.split('+').next()?;
    let numbers: Option<Vec<u64>> = plain.split('.').map(|part| part.parse().ok()).collect();
    numbers?.try_into().ok()
}

/// Checks the licences of the dependencies that are needed for building and testing on this platform, which cargo has
/// already downloaded.
fn licences(env: &Env, report: &mut Report) {
    let mut cargo = env.command(std::env!("CARGO"));
    cargo.args(["tree", "--offline", "--locked", "--edges", "normal,build,dev", "--prefix", "none"]);
    let ran = cargo.args(["--format", "{p}|{l}"]).run(300);
    if report.check(ran.ok, format!("cargo tree ended with {:?}\n{}", ran.code, ran.text)) {
        check_licences(&ran.out, &env.read("deny.toml"), report);
    }
}

/// `tree` has a line "NAME vVERSION|EXPRESSION" for each dependency.
pub fn check_licences(tree: &str, deny: &str, report: &mut Report) {
    let allowed = quoted_behind(deny, "\nallow = [");
    report.check(!allowed.is_empty(), "deny.toml allows licences");
    let lines: BTreeSet<&str> = tree.lines().map(|line| line.trim_end_matches(" (*)")).collect();
    for line in lines {
        let Some((package, expression)) = line.split_once('|') else {
            report.fail(format!("cargo tree printed \"{line}\""));
            continue;
        };
        let name = package.split(' ').next().unwrap_or("");
        let mut allowed = allowed.clone();
        allowed.extend(quoted_behind(deny, &format!("{{ crate = \"{name}\", allow = [")));
        let good = Expression { rest: expression, allowed: &allowed }.holds();
        report.check(
            good == Some(true),
            format!("{package}: the licence \"{expression}\" is not one that deny.toml allows"),
        );
    }
}

/// Returns the quoted strings between `start` and the next closing bracket.
fn quoted_behind<'a>(text: &'a str, start: &str) -> Vec<&'a str> {
    let list = text.split_once(start).and_then(|(_, rest)| rest.split_once(']')).map_or("", |(list, _)| list);
    list.split('"').skip(1).step_by(2).collect()
}

/// Evaluates an SPDX expression: WITH binds tightest, then AND, then OR. Old SPDX expressions use "/" instead of OR.
struct Expression<'a> {
    rest: &'a str,
    allowed: &'a [&'a str],
}

impl<'a> Expression<'a> {
    fn holds(mut self) -> Option<bool> {
        let whole = self.any()?;
        self.rest.trim().is_empty().then_some(whole)
    }

    fn any(&mut self) -> Option<bool> {
        let mut held = self.all()?;
        while self.take("OR ") || self.take("/") {
            held |= self.all()?;
        }
        Some(held)
    }

    fn all(&mut self) -> Option<bool> {
        let mut held = self.one()?;
        while self.take("AND ") {
            held &= self.one()?;
        }
        Some(held)
    }

    fn one(&mut self) -> Option<bool> {
        if self.take("(") {
            let inner = self.any()?;
            return self.take(")").then_some(inner);
        }
        let mut name = self.word()?.to_owned();
        if self.take("WITH ") {
            name = format!("{name} WITH {}", self.word()?);
        }
        Some(self.allowed.contains(&name.as_str()))
    }

    fn word(&mut self) -> Option<&'a str> {
        self.rest = self.rest.trim_start();
        let end = self.rest.find([' ', '/', '(', ')']).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        (!word.is_empty()).then_some(word)
    }

    fn take(&mut self, token: &str) -> bool {
        let rest = self.rest.trim_start().strip_prefix(token);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }
}
