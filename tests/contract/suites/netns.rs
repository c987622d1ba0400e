//! Runs the scenarios of c-tests/netns, which connect in network namespaces, where the test answers each packet. If the
//! system does not allow namespaces, the suite reports the scenarios as skipped.

use std::collections::BTreeMap;
use std::path::Path;

use crate::env::{Env, parallel, stem};
use crate::report::Report;
use crate::suites::c_tests::take_counts;

/// The time limit of a program in seconds; each scenario has its own, shorter limit.
const SECONDS: u64 = 120;

/// The exit code of a program whose scenarios were skipped: EXIT_SKIPPED in c-tests/netns/scenario.h.
const SKIPPED: i32 = 77;

pub fn run(env: &Env, report: &mut Report) {
    let (library, scratch) = (env.library(), env.scratch("netns"));
    let sources = env.files("c-tests/netns", "", ".c");
    report.check(!sources.is_empty(), "there are netns scenarios");
    check(env, &sources, &scratch, library, report);
}

pub fn check(env: &Env, sources: &[impl AsRef<Path> + Sync], scratch: &Path, library: &Path, report: &mut Report) {
    let mut skipped: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    let tested = parallel(sources, |source| test(env, source.as_ref(), scratch, library));
    for (source, (tested, reason)) in sources.iter().zip(tested) {
        report.merge(tested);
        if let Some(reason) = reason {
            skipped.entry(reason).or_default().push(stem(source.as_ref()));
        }
    }
    for (reason, programs) in skipped {
        report.skip(format!("{}: {reason}", programs.join(", ")));
    }
}

/// Returns the results of a program, or the reason why the system cannot run its scenarios.
fn test(env: &Env, source: &Path, scratch: &Path, library: &Path) -> (Report, Option<String>) {
    let mut report = Report::default();
    let program = scratch.join(stem(source));
    if let Err(text) = env.compile(source, &program, library) {
        report.fail(format!("{} does not compile\n{text}", source.display()));
        return (report, None);
    }
    let ran = env.command(&program).load_from(library).run(SECONDS);
    let reason = ran.out.lines().find_map(|line| line.strip_prefix("skipped: "));
    if let (Some(SKIPPED), Some(reason)) = (ran.code, reason) {
        return (report, Some(reason.to_owned()));
    }
    take_counts(stem(source), &ran, &mut report);
    (report, None)
}
