//! Compiles the programs in examples-c with all warnings, and runs each of them without arguments under valgrind, which
//! must find no leak. Runs with arguments are rows of [`RUNS`] or have their own suite.

use std::path::{Path, PathBuf};

use crate::env::{Env, STRICT, has, parallel, stem};
use crate::report::Report;
use crate::suites::c_tests::VALGRIND;

/// Runs of examples that need only files of the repository: the program, its arguments, and the expected output.
const RUNS: &[(&str, &[&str], &str)] = &[(
    "engine",
    &["tests/certs/server.pem", "tests/certs/server.key", "tests/certs/ca.pem", "localhost"],
    "HELLO OVER TLS\n",
)];

pub struct Example {
    pub name: String,
    pub sources: Vec<PathBuf>,
}

/// Returns the examples. Each `NAME.c` is the main file of a program, whose other sources are in the folder `NAME`.
pub fn programs(env: &Env) -> Vec<Example> {
    let program = |main: PathBuf| {
        let name = stem(&main).to_owned();
        let parts = env.files(format!("examples-c/{name}"), "", ".c");
        Example { name, sources: std::iter::once(main).chain(parts).collect() }
    };
    env.files("examples-c", "", ".c").into_iter().map(program).collect()
}

/// Compiles an example with the compiler's default C version and all warnings.
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
    let development = env.development_library();
    for one in parallel(programs, |example| {
        let mut report = Report::default();
        let program = scratch.join(&example.name);
        if let Err(text) = build(env, example, &program, library) {
            report.fail(format!("{} does not compile\n{text}", example.name));
            return report;
        }
        report.check(true, "");
        let rows = || RUNS.iter().filter(|(name, ..)| *name == example.name);
        let ran = env.command(&program).load_from(library).run(60);
        report.check(ran.code.is_some(), format!("{} without arguments ends by itself\n{}", example.name, ran.text));
        for (_, arguments, printed) in rows() {
            let ran = env.command(&program).args(*arguments).load_from(library).run(60);
            let right = ran.code == Some(0) && ran.out == *printed;
            report.check(right, format!("{} prints {printed:?}\n{}", example.name, ran.text));
        }
        if with_valgrind {
            // A program must be linked again for each build of the library, because only the release build has a
            // SONAME.
            let program = scratch.join(format!("{}-development", example.name));
            if let Err(text) = build(env, example, &program, development) {
                report.fail(format!("{} does not compile\n{text}", example.name));
                return report;
            }
            for arguments in std::iter::once(&[][..]).chain(rows().map(|(_, arguments, _)| *arguments)) {
                let mut valgrind = env.command("valgrind");
                let ran = valgrind.args(VALGRIND).arg(&program).args(arguments).load_from(development).run(120);
                // valgrind exits with 99 after memory errors, and with 127 if the program cannot be loaded.
                let clean = ran.code.is_some_and(|code| code != 99 && code != 127);
                report.check(clean, format!("{} {arguments:?} under valgrind\n{}", example.name, ran.text));
            }
        }
        report
    }) {
        report.merge(one);
    }
}
