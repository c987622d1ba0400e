//! Compiles the C tests with strict warnings and runs them, directly and under valgrind.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::description::statuses;
use crate::env::{Env, Ran, has, parallel, stem};
use crate::model::Header;
use crate::report::Report;

/// The time limit of a test in seconds. No test needs that long, not even under valgrind.
const SECONDS: u64 = 300;

pub const VALGRIND: &[&str] = &[
    "--quiet",
    // When the program exits, a lookup thread may still use glibc's resolver configuration. If valgrind freed the
    // configuration at that time, it would report a leak.
    "--run-libc-freeres=no",
    "--leak-check=full",
    "--show-leak-kinds=definite,indirect",
    "--errors-for-leak-kinds=definite,indirect",
    "--error-exitcode=99",
    "--num-callers=30",
];

pub fn run(env: &Env, report: &mut Report) {
    let library = env.library();
    let scratch = env.scratch("c");
    let sources = env.c_tests();
    report.check(!sources.is_empty(), "there are C tests");
    let macros = scratch.join("checking_macros.h");
    fs::write(&macros, statuses::checking_macros(&env.header())).expect("target is writable");
    for one in parallel(&sources, |source| test(env, source, &scratch, library, &[], Some(&macros))) {
        report.merge(one);
    }
    let texts = sources.iter().map(|source| fs::read_to_string(source).unwrap_or_default()).collect::<String>();
    untested(&env.header(), &texts, report);
}

/// Checks that each function of the header is called by at least one C test.
pub fn untested(header: &Header, texts: &str, report: &mut Report) {
    let words: BTreeSet<&str> = texts.split(|c: char| !(c.is_alphanumeric() || c == '_')).collect();
    for function in &header.functions {
        report.check(words.contains(function.name.as_str()), format!("no C test calls {}", function.name));
    }
}

pub fn valgrind(env: &Env, report: &mut Report) {
    if !has("valgrind") {
        return report.skip("valgrind is not installed");
    }
    let (library, scratch) = (env.development_library(), env.scratch("valgrind"));
    for one in parallel(&env.c_tests(), |source| valgrind_test(env, source, &scratch, library)) {
        report.merge(one);
    }
}

pub fn valgrind_test(env: &Env, source: &Path, scratch: &Path, library: &Path) -> Report {
    let mut under_valgrind = vec!["valgrind"];
    under_valgrind.extend(VALGRIND);
    let ran = test(env, source, scratch, library, &under_valgrind, None);
    // Each program under valgrind counts as one check; the suite `c` counts the checks inside the programs.
    let mut report = Report::default();
    match ran.failed() {
        0 => report.passed = 1,
        _ => report.fail(format!(
            "{} under valgrind\n{}",
            stem(source),
            ran.failures.join("\n") + &ran.notes.join("\n")
        )),
    }
    report
}

/// Compiles and runs a test. `before` is a command that runs the test program, for example valgrind with its arguments;
/// it may be empty. `macros` is the path of a file that contains the macros of [`statuses::checking_macros`].
pub fn test(
    env: &Env,
    source: &Path,
    scratch: &Path,
    library: &Path,
    before: &[&str],
    macros: Option<&Path>,
) -> Report {
    let mut report = Report::default();
    let program = scratch.join(stem(source));
    let mut cc = env.strict_cc();
    cc.args(macros.map(|file| format!("-DCHECKING_MACROS=\"{}\"", file.display())));
    if let Err(text) = cc.arg(source).arg("-o").arg(&program).link_to(library).run(300).or_text() {
        report.fail(format!("{} does not compile\n{text}", source.display()));
        return report;
    }
    run_counted(env, &program, library, before, &mut report);
    report
}

/// Runs a program that ends its output with "NAME: N passed, M failed".
pub fn run_counted(env: &Env, program: &Path, library: &Path, before: &[&str], report: &mut Report) {
    let mut command: Vec<PathBuf> = before.iter().map(PathBuf::from).collect();
    command.push(program.to_owned());
    let ran = env.command(&command[0]).args(&command[1..]).load_from(library).run(SECONDS);
    take_counts(stem(program), &ran, report);
}

/// Adds the numbers of passed and failed checks that a program printed, and notes its lines that begin with "note: ".
pub fn take_counts(what: &str, ran: &Ran, report: &mut Report) {
    let counts = ran.out.lines().rev().find_map(counts);
    if let Some((passed, failed)) = counts {
        report.add(passed, failed);
    }
    match counts {
        None => report.fail(format!("{what} printed no count\n{}", ran.text)),
        Some((0, 0)) => report.fail(format!("{what} checked nothing")),
        Some((_, 0)) if !ran.ok => report.fail(format!("{what} ended with {:?}\n{}", ran.code, ran.text)),
        Some((_, 0)) => ran.out.lines().filter(|line| line.starts_with("note: ")).for_each(|line| report.note(line)),
        Some(_) => report.note(&ran.text),
    }
}

/// Parses a line "NAME: N passed, M failed" or "N passed, M failed".
fn counts(line: &str) -> Option<(usize, usize)> {
    let (passed, failed) = line.rsplit_once(": ").map_or(line, |(_, rest)| rest).split_once(" passed, ")?;
    Some((passed.parse().ok()?, failed.strip_suffix(" failed")?.parse().ok()?))
}
