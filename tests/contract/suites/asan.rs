//! Runs the C tests under AddressSanitizer, with leak detection. rustc instruments the library, and the C compiler
//! instruments the tests.

use std::fs;
use std::path::Path;

use crate::env::{Env, parallel, stem};
use crate::report::Report;
use crate::suites::c_tests::run_counted;
use crate::suites::instrumented::{How, Instrumented, Sanitizer, Toolchain};
use crate::suites::threads;

const SANITIZER: Sanitizer = Sanitizer { name: "address", short: "asan" };

pub fn run(env: &Env, report: &mut Report) {
    let scratch = env.scratch("asan");
    let built = Toolchain::new(env, &SANITIZER)
        .and_then(|toolchain| Instrumented::new(env, &SANITIZER, &toolchain, How::default()));
    let build = match built {
        Ok(build) => build,
        Err(text) => return report.fail(text),
    };
    let sources = env.c_tests();
    for one in parallel(&sources, |source| test(env, &build, source, &scratch)) {
        report.merge(one);
    }
    let object = scratch.join("threads.o");
    let compiled = threads::shared_handles(env, &scratch).args([build.flag(), "-c", "-o"]).arg(&object).run(300);
    match compiled.or_text().and_then(|()| build.link(env, &object, &scratch.join("threads"))) {
        Ok(()) => run_counted(env, &scratch.join("threads"), &build.library, &[], report),
        Err(text) => report.fail(text),
    }
    negative(env, &build, &scratch, report);
}

/// Checks that AddressSanitizer reports a memory error in the library, a memory error in a test, and a leak.
fn negative(env: &Env, build: &Instrumented, scratch: &Path, report: &mut Report) {
    let start = "#include <netlib.h>\n#include <stdlib.h>\nint main(void) {\n    netlib_error *error = NULL;\n    \
                 if (netlib_error_new(NETLIB_IO, \"x\", NULL, &error, NULL) != NETLIB_OK) return 0;\n";
    let cases = [
        ("overflow", "volatile char *p = malloc(4);\n    p[4] = 1;\n", "heap-buffer-overflow"),
        ("freed", "netlib_error_free(error);\n    return netlib_error_message(error, NULL)[0];\n", "use-after-free"),
        ("leak", "error = NULL;\n    return 0;\n", "detected memory leaks"),
    ];
    for (name, code, found) in cases {
        let (source, program) = (scratch.join(format!("{name}.c")), scratch.join(name));
        fs::write(&source, format!("{start}    {code}    return 0;\n}}\n")).expect("target is writable");
        let built = build.compile(env, &source, &program);
        let ran = env.command(&program).load_from(&build.library).run(60);
        let seen = built.is_ok() && !ran.ok && ran.text.contains(found);
        report.check(seen, format!("a program with the error \"{name}\" is reported\n{built:?}\n{}", ran.text));
    }
}

fn test(env: &Env, build: &Instrumented, source: &Path, scratch: &Path) -> Report {
    let mut report = Report::default();
    let program = scratch.join(stem(source));
    match build.compile(env, source, &program) {
        Ok(()) => run_counted(env, &program, &build.library, &[], &mut report),
        Err(text) => report.fail(format!("{} does not compile\n{text}", source.display())),
    }
    report
}
