//! Checks that a panic inside the library becomes NETLIB_INTERNAL. Only a special build of the library contains the
//! function that panics on purpose.

use std::path::{Path, PathBuf};

use crate::env::Env;
use crate::report::Report;
use crate::suites::c_tests::run_counted;

pub fn run(env: &Env, report: &mut Report) {
    let scratch = env.scratch("panic");
    report
        .check(!env.header_text().contains("self_test"), "the library that users get has no function for the tests");
    let manifest = env.read("Cargo.toml");
    let release = manifest.split("[profile.release]").nth(1).unwrap_or("").split("\n[").next().unwrap_or("");
    report.check(release.contains("panic = \"unwind\""), "the release profile unwinds, or nothing could be caught");
    match self_test_library(env) {
        Ok(library) => check(env, &library, &scratch, report),
        Err(text) => report.fail(text),
    }
}

/// Builds the static library with the feature self-test. cargo builds only the crate type staticlib, so the file name
/// differs from that of the release build.
fn self_test_library(env: &Env) -> Result<PathBuf, String> {
    let mut cargo = env.command(std::env!("CARGO"));
    cargo.args(["rustc", "--quiet", "--lib", "--crate-type", "staticlib", "--features", "self-test"]);
    let built = cargo.args(["--message-format", "json"]).env("CARGO_TARGET_DIR", &env.target).run(1800);
    let file = built
        .out
        .lines()
        .rev()
        .find(|line| line.contains("compiler-artifact") && line.contains("libnetlib"))
        .and_then(|line| {
            line.split('"')
                .filter(|text| text.ends_with(".a") && text.contains("libnetlib"))
                .max_by_key(|text| text.len())
        });
    match file {
        Some(file) if built.ok => Ok(PathBuf::from(file)),
        _ => Err(format!("the library with the feature self-test does not build\n{}", built.text)),
    }
}

/// Makes the internal symbols of the static library that cargo has built local, as `make lib` does, and runs the test
/// program with this library.
pub fn check(env: &Env, library: &Path, scratch: &Path, report: &mut Report) {
    let (localised, program) = (scratch.join("libnetlib.a"), scratch.join("panic"));
    let mut localise = env.command("scripts/localise-symbols");
    localise.arg(library).arg(&localised);
    if let Err(text) = localise.run(300).or_text() {
        return report.fail(text);
    }
    let mut cc = env.strict_cc();
    cc.arg("c-tests/basics/panic.c").arg(&localised).args(["-lm", "-ldl", "-pthread", "-o"]).arg(&program);
    match cc.run(300).or_text() {
        Ok(()) => run_counted(env, &program, env.library(), &[], report),
        Err(text) => report.fail(format!("panic.c does not compile\n{text}")),
    }
}
