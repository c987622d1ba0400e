//! Runs a program whose threads share handles, and a program whose threads load the library, close it and end. Runs
//! programs that are compiled with ThreadSanitizer, and checks what docs/howto/thread-sanitizer.md states about them.

use std::fs;
use std::path::Path;

use crate::env::{Env, Program};
use crate::report::Report;
use crate::suites::c_tests::{run_counted, take_counts};
use crate::suites::nulls::{have, make_identity};
use crate::suites::tsan::RACES;

pub fn run(env: &Env, report: &mut Report) {
    let scratch = env.scratch("threads");
    let program = scratch.join("threads");
    match shared_handles(env, &scratch).arg("-o").arg(&program).link_to(env.library()).run(300).or_text() {
        Ok(()) => run_counted(env, &program, env.library(), &[], report),
        Err(text) => report.fail(format!("threads.c does not compile\n{text}")),
    }
    dlopen(env, &env.library().join("libnetlib.so"), &scratch, report);
    let suppressions = suppressions(&env.read("docs/howto/thread-sanitizer.md"));
    thread_sanitizer(env, &suppressions, &scratch, report);
}

/// Returns the suppressions in the page about ThreadSanitizer: the indented line after the file's name.
fn suppressions(page: &str) -> String {
    let indented =
        page.lines().skip_while(|line| !line.contains("`netlib.supp`:")).filter_map(|line| line.strip_prefix("    "));
    indented.take(1).map(|line| line.to_owned() + "\n").collect()
}

/// Runs programs that are instrumented, with the library, which is not. The suite `tsan` runs test_contexts.c with an
/// instrumented library, and ThreadSanitizer reports nothing. Here, each report must be about the library, and
/// `suppressions` must suppress the report. A race of the program itself must be reported despite the suppressions.
pub fn thread_sanitizer(env: &Env, suppressions: &str, scratch: &Path, report: &mut Report) {
    let instrumented = |name: &str, mut cc: Program| {
        let program = scratch.join(name);
        cc.args(["-fsanitize=thread", "-o"]).arg(&program).link_to(env.library()).run(300).or_text().map(|()| program)
    };
    let file = scratch.join("netlib.supp");
    fs::write(&file, suppressions).expect("target is writable");
    let run = |program: &Path, argument: &str, suppressed: bool| {
        let options = if suppressed { format!("suppressions={}", file.display()) } else { String::new() };
        let mut command = env.command(program);
        command.args(argument.split_whitespace()).load_from(env.library()).env("TSAN_OPTIONS", options).run(300)
    };
    let race = RACES.iter().find(|race| race.name == "a variable of the program").expect("it is a row");
    let source = scratch.join("own_race.c");
    fs::write(&source, race.source()).expect("target is writable");
    let mut cc = env.strict_cc();
    cc.arg(&source);
    let own_race = match instrumented("own_race", cc) {
        Ok(program) => program,
        Err(text) if text.contains("tsan") => return report.skip("the C compiler has no ThreadSanitizer"),
        Err(text) => return report.fail(format!("own_race.c does not compile\n{text}")),
    };
    let (raced, ordered) = (run(&own_race, "race", true), run(&own_race, "order", true));
    report.check(
        !raced.ok && raced.text.contains(race.found),
        format!("the program's race is reported\n{}", raced.text),
    );
    report.check(ordered.ok, format!("the accesses in order are not reported\n{}", ordered.text));

    let mut cc = env.strict_cc();
    cc.arg("c-tests/tsan/test_contexts.c");
    let contexts = match instrumented("contexts", cc) {
        Ok(program) => program,
        Err(text) => return report.fail(format!("test_contexts.c does not compile\n{text}")),
    };
    let all = run(&contexts, "", false);
    let about: Vec<&str> = all.text.split("WARNING: ThreadSanitizer").skip(1).collect();
    let foreign = about.iter().find(|text| !text.contains("libnetlib.so"));
    report.check(!about.is_empty(), "ThreadSanitizer reports the library, which is not instrumented");
    report.check(foreign.is_none(), format!("each report is about libnetlib.so: {foreign:?}"));
    let suppressed = run(&contexts, "", true);
    report.check(!suppressed.text.contains("WARNING"), format!("no report is left\n{}", suppressed.text));
    take_counts("contexts", &suppressed, report);
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
