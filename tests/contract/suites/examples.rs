//! The programs of examples-c compile with all warnings, and answer a call without arguments, without a leak.

use std::path::{Path, PathBuf};

use crate::env::{Env, STRICT, has, parallel, stem};
use crate::report::Report;
use crate::suites::c_tests::VALGRIND;

pub struct Example {
    pub name: String,
    pub sources: Vec<PathBuf>,
}

/// Each C file of examples-c is a program, with the files of the directory of its name.
pub fn programs(env: &Env) -> Vec<Example> {
    let program = |main: PathBuf| {
        let name = stem(&main).to_owned();
        let parts = env.files(&format!("examples-c/{name}"), "", ".c");
        Example { name, sources: std::iter::once(main).chain(parts).collect() }
    };
    env.files("examples-c", "", ".c").into_iter().map(program).collect()
}

/// Compiled as a user does, who names no version of C; with all warnings.
pub fn build(env: &Env, example: &Example, program: &Path, library: &Path) -> Result<(), String> {
    let mut cc = env.cc();
    cc.args(["-g", "-Iinclude"]).args(STRICT).args(&example.sources).arg("-o").arg(program);
    cc.link_to(library).run(300).or_text()
}

pub fn run(env: &Env, report: &mut Report) {
    let programs = programs(env);
    match programs.is_empty() {
        true => report.skip("there is no program in examples-c"),
        false => check(env, &programs, &env.scratch("examples"), report),
    }
}

pub fn check(env: &Env, programs: &[Example], scratch: &Path, report: &mut Report) {
    let library = env.library();
    let with_valgrind = has("valgrind");
    if !with_valgrind {
        report.skip("valgrind is not installed");
    }
    for one in parallel(programs, |example| {
        let mut report = Report::default();
        let program = scratch.join(&example.name);
        if let Err(text) = build(env, example, &program, library) {
            report.fail(format!("{} does not compile\n{text}", example.name));
            return report;
        }
        report.check(true, "");
        let ran = env.command(&program).load_from(library).run(60);
        report.check(ran.code.is_some(), format!("{} without arguments ends by itself\n{}", example.name, ran.text));
        if with_valgrind {
            let mut valgrind = env.command("valgrind");
            let ran = valgrind.args(VALGRIND).arg(&program).load_from(&env.unoptimised_library()).run(120);
            let clean = ran.code.is_some_and(|code| code != 99);
            report.check(clean, format!("{} without arguments, under valgrind\n{}", example.name, ran.text));
        }
        report
    }) {
        report.merge(one);
    }
}
