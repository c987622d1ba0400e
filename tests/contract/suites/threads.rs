//! Runs a program whose threads share handles, and a program whose threads load the library, close it and end.

use std::fs;
use std::path::Path;

use crate::env::{Env, Program};
use crate::report::Report;
use crate::suites::c_tests::run_counted;
use crate::suites::nulls::{have, make_identity};

pub fn run(env: &Env, report: &mut Report) {
    let scratch = env.scratch("threads");
    let program = scratch.join("threads");
    match shared_handles(env, &scratch).arg("-o").arg(&program).link_to(env.library()).run(300).or_text() {
        Ok(()) => run_counted(env, &program, env.library(), &[], report),
        Err(text) => report.fail(format!("threads.c does not compile\n{text}")),
    }
    dlopen(env, &env.library().join("libnetlib.so"), &scratch, report);
}

/// Returns the compiler's command line for threads.c, without the libraries.
pub fn shared_handles(env: &Env, scratch: &Path) -> Program {
    make_identity(scratch);
    fs::write(scratch.join("have.h"), have(&env.header())).expect("target is writable");
    let mut cc = env.strict_cc();
    cc.arg("-include").arg(scratch.join("have.h"));
    cc.arg(format!("-DTEST_DIRECTORY=\"{}\"", scratch.display())).arg("c-tests/basics/threads.c");
    cc
}

/// `library` is a parameter, because the suite `negative` passes a defective library.
pub fn dlopen(env: &Env, library: &Path, scratch: &Path, report: &mut Report) {
    let program = scratch.join("dlopen");
    let mut cc = env.strict_cc();
    cc.arg("-rdynamic").arg(format!("-DLIBRARY=\"{}\"", library.display())).args([
        "c-tests/basics/dlopen.c",
        "-pthread",
        "-ldl",
        "-o",
    ]);
    match cc.arg(&program).run(300).or_text() {
        Ok(()) => run_counted(env, &program, env.library(), &[], report),
        Err(text) => report.fail(format!("dlopen.c does not compile\n{text}")),
    }
}
