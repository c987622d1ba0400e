//! Verifies certificate chains of every kind with netlib_tls_context_verify_chain and with `openssl verify`, and
//! compares the results and reasons. Also compares netlib with recorded results of Python's ssl. The data file
//! chains.tsv explains each allowed difference, and states the numbers of cases.

mod cases;
mod public_roots;
pub mod recorded;
mod resign;
mod roots;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::data::Table;
use crate::env::{Env, has, parallel};
use crate::report::Report;

/// The results of Python's ssl.
pub const RECORDED: &str = "tests/vectors/python-3.11/chains.txt";
const SECONDS: u64 = 120;
/// The number of cases in the table for a class whose cases the machine determines.
const DEPENDS_ON_MACHINE: &str = "all";
const CASES_OF_A_PROCESS: usize = 4000;
/// 2026-01-01 00:00:00 UTC.
const NOW: i64 = 1_767_225_600;

/// NETLIB_VERIFY_FLAG_X509_STRICT.
const X509_STRICT: i32 = 0x20;

/// The number of cases in each class of the table.
pub type Counts = BTreeMap<&'static str, i32>;

/// A test case: the files of a chain, and the purpose, time and name to verify it for.
pub struct Case {
    /// The axis of the case, and the property of the chain that the case varies.
    pub axis: &'static str,
    pub what: String,
    pub anchors: PathBuf,
    pub chain: PathBuf,
    pub lists: Option<PathBuf>,
    pub is_client: bool,
    pub name: Option<String>,
    pub time: i64,
    /// Bits of `enum netlib_verify_flag`.
    pub flags: i32,
}

/// Maps the number of an X509_V_ERR_ constant of openssl to the matching numbers of `enum netlib_certificate_problem`.
fn problems(openssl: i32) -> &'static [i32] {
    match openssl {
        0 => &[0],
        2 | 20 | 21 => &[3, 11],
        3 | 8 | 12 | 35 => &[15],
        7 => &[6],
        9 => &[2],
        10 => &[1],
        18 | 19 => &[3, 10],
        23 => &[5],
        25 => &[19],
        26 => &[7],
        32 | 79 => &[22],
        34 => &[20],
        47 | 48 | 51 => &[18],
        62 | 64 => &[4],
        66 | 67 => &[13],
        68 => &[14],
        // Rules of -x509_strict.
        80..=92 => &[9],
        _ => &[],
    }
}

/// Returns the row of the table that explains a difference: only one of netlib and openssl accepts the chain, or both
/// refuse it for different reasons.
fn difference(case: &Case, openssl: i32, netlib: i32) -> Option<&'static str> {
    let says = |text: &str| case.what.contains(text);
    match (case.axis, openssl, netlib) {
        ("name", 0, 4) if says("w*.") => Some("wildcard-in-label"),
        (_, 0, 4) => Some("common-name"),
        (_, 0, 12) => Some("authority-as-leaf"),
        (_, 0, 13) => Some("curve"),
        ("constraint", 0, 18) if says("mail") || says("somebody") => Some("constraint-kind"),
        ("constraint", 0, 18) if says("leaf [\"*.") => Some("constraint-wildcard"),
        ("name", 62, 0) if says("test.") => Some("trailing-dot"),
        ("anchor", 25 | 26 | 79, 0) if says(" and ") => Some("several-trusted"),
        ("anchor", 0, 7) if says("SGC") => Some("gated-cryptography"),
        ("anchor", 0, 22) | ("itself", 26, 0) if says("nsCertType") => Some("netscape-type"),
        ("itself", 0, 9) if says("version 1") => Some("version-1-leaf"),
        ("time", 10, 0) => Some("last-second"),
        ("trust", 20, 0) if says("crossed") => Some("cross-signed"),
        ("committed", 0, 7) if says("no-handshake.pem") => Some("leaf-key-usage"),
        ("machine-root", 1.., 1..) => Some("machine-root"),
        (_, 1.., 1..) => Some("another-reason"),
        _ => None,
    }
}

pub fn run(env: &Env, report: &mut Report) {
    let scratch = env.scratch("chains");
    let table = Table::load(env, "chains");
    let counts = recorded::compare(env, &scratch, &env.read(RECORDED), report);
    check_counts(&table, &["recorded", "recorded-difference"], counts, report);
    if !has("openssl") {
        return report.skip("openssl is not installed");
    }
    let counts = compare_with_openssl(env, &scratch, report);
    check_counts(&table, &["axis", "difference"], counts, report);
}

/// Compares netlib with `openssl verify`, and returns the number of cases in each class.
fn compare_with_openssl(env: &Env, scratch: &Path, report: &mut Report) -> Counts {
    let cases = cases::all(env, scratch);
    let ours = match netlib_results(env, scratch, &cases) {
        Ok(ours) => ours,
        Err(text) => {
            report.fail(text);
            return Counts::new();
        }
    };
    let theirs = parallel(&cases, |case| openssl(env, case));
    let mut counts = Counts::new();
    for ((case, (status, problem)), theirs) in cases.iter().zip(&ours).zip(&theirs) {
        let theirs = match theirs {
            Ok(theirs) => *theirs,
            Err(text) => {
                report.fail(format!("{}: {}: {text}", case.axis, case.what));
                continue;
            }
        };
        let class = match problems(theirs).contains(problem) {
            true => Some(case.axis),
            false => difference(case, theirs, *problem),
        };
        let said = format!("{}: {}: openssl's {theirs}, netlib's {status} {problem}", case.axis, case.what);
        if report.check(class.is_some(), said) {
            *counts.entry(class.unwrap_or_default()).or_insert(0) += 1;
        }
    }
    counts
}

/// Compares the counts with the rows of the table that have one of these kinds.
pub fn check_counts(table: &Table, kinds: &[&str], mut counts: Counts, report: &mut Report) {
    for row in table.rows.iter().filter(|row| kinds.contains(&row[1].as_str())) {
        let (class, expected) = (row[0].as_str(), &row[2]);
        let count = counts.remove(class).unwrap_or(0);
        let is_expected = *expected == count.to_string() || expected == DEPENDS_ON_MACHINE;
        report.check(is_expected, format!("{class}: {expected} cases in the table, {count} here"));
    }
    let unknown = counts.iter().map(|(class, count)| format!("{class}, {count} cases")).collect();
    report.problems("every class is in the table", unknown);
}

/// Returns netlib's result for each case: the name of the status, and the certificate problem.
fn netlib_results(env: &Env, scratch: &Path, cases: &[Case]) -> Result<Vec<(String, i32)>, String> {
    let show = |path: &PathBuf| path.display().to_string();
    let line = |case: &Case| {
        let lists = case.lists.as_ref().map_or("-".to_owned(), show);
        let (name, purpose) = (case.name.as_deref().unwrap_or("-"), if case.is_client { 1 } else { 2 });
        format!(
            "{}\t{}\t{lists}\t{purpose}\t{name}\t{}\t{}\n",
            show(&case.anchors),
            show(&case.chain),
            case.time,
            case.flags
        )
    };
    let program = scratch.join("chains");
    env.compile(&env.root.join("c-tests/tls/verify/chains.c"), &program, env.library())?;
    let parts: Vec<(usize, &[Case])> = cases.chunks(CASES_OF_A_PROCESS).enumerate().collect();
    let outputs = parallel(&parts, |(part, cases)| {
        let list = scratch.join(format!("list-{part}"));
        fs::write(&list, cases.iter().map(line).collect::<String>()).expect("target is writable");
        env.command(&program).arg(&list).load_from(env.library()).run(SECONDS)
    });
    let verdict = |line: &str| {
        let mut fields = line.split('\t');
        let status = fields.next()?.to_owned();
        Some((status, fields.next()?.parse().ok()?))
    };
    let mut verdicts = Vec::new();
    for ran in outputs {
        if !ran.ok {
            return Err(ran.text);
        }
        verdicts.extend(ran.out.lines().filter_map(verdict));
    }
    match verdicts.len() == cases.len() {
        true => Ok(verdicts),
        false => Err(format!("{} cases, {} verdicts", cases.len(), verdicts.len())),
    }
}

/// Returns the error number that `openssl verify` printed, or 0 if it accepted the chain.
fn openssl(env: &Env, case: &Case) -> Result<i32, String> {
    let mut command = env.command("openssl");
    command.args(["verify", "-no-CAfile", "-no-CApath", "-no-CAstore", "-partial_chain", "-auth_level", "2"]);
    command.args(["-purpose", if case.is_client { "sslclient" } else { "sslserver" }]);
    command.arg("-attime").arg(case.time.to_string());
    command.arg("-trusted").arg(&case.anchors).arg("-untrusted").arg(&case.chain);
    if case.flags & X509_STRICT != 0 {
        command.arg("-x509_strict");
    }
    if let Some(lists) = &case.lists {
        command.arg("-crl_check_all").arg("-CRLfile").arg(lists);
    }
    if let Some(name) = &case.name {
        let is_address = name.parse::<std::net::IpAddr>().is_ok();
        command.arg(if is_address { "-verify_ip" } else { "-verify_hostname" }).arg(name);
    }
    let ran = command.arg(&case.chain).run(SECONDS);
    let number = |line: &str| line.strip_prefix("error ")?.split(' ').next()?.parse().ok();
    match ran.text.lines().find_map(number) {
        Some(number) => Ok(number),
        None if ran.ok => Ok(0),
        None => Err(ran.text),
    }
}
