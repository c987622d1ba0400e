//! Runs the fuzz targets on the inputs in fuzz/seeds, without a fuzzer, so that every machine covers the code paths
//! that fuzzing has found.

use std::path::Path;

use crate::env::{Env, name, parallel, stem};
use crate::report::Report;
use crate::suites::c_tests::take_counts;

const SECONDS: u64 = 300;

pub fn run(env: &Env, report: &mut Report) {
    let library = env.library();
    let scratch = env.scratch("corpus");
    let targets = env.files("fuzz/targets", "", ".c");
    report.check(!targets.is_empty(), "there are fuzz targets");
    for one in parallel(&targets, |target| replay(env, target, &scratch, library)) {
        report.merge(one);
    }
}

fn replay(env: &Env, target: &Path, scratch: &Path, library: &Path) -> Report {
    let mut report = Report::default();
    let program = scratch.join(stem(target));
    let mut cc = env.cc();
    cc.args(["-std=c11", "-D_GNU_SOURCE", "-g", "-Wall", "-Wextra", "-Werror", "-Iinclude", "fuzz/replay.c"]);
    match cc.arg(target).arg("-o").arg(&program).link_to(library).run(SECONDS).or_text() {
        Ok(()) => {
            // A fuzz target with forged signatures (forged_NAME) uses the seeds of the target NAME.
            let seeds = env.root.join(format!("fuzz/seeds/{}.pack", stem(target).trim_start_matches("forged_")));
            let ran = env.command(&program).arg(seeds).load_from(library).run(SECONDS);
            take_counts(name(target), &ran, &mut report);
        }
        Err(text) => report.fail(format!("{} does not compile\n{text}", name(target))),
    }
    report
}
