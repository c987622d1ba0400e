//! The C tests with both halves instrumented by AddressSanitizer, leaks included: the library by rustc, the tests by the
//! C compiler. The runtime is the one that comes with the Rust toolchain: it is linked into the program, where both
//! halves find it. (gcc's own may be older than the calls that rustc makes.)

use std::fs;
use std::path::{Path, PathBuf};

use crate::env::{Env, parallel, stem};
use crate::report::Report;
use crate::suites::c_tests::run_counted;
use crate::suites::threads;

pub fn run(env: &Env, report: &mut Report) {
    let scratch = env.scratch("asan");
    let build = match Build::new(env) {
        Ok(build) => build,
        Err(text) => return report.fail(text),
    };
    let sources = env.files("c-tests", "test_", ".c");
    for one in parallel(&sources, |source| build.test(env, source, &scratch)) {
        report.merge(one);
    }
    let object = scratch.join("threads.o");
    let compiled =
        threads::shared_handles(env, &scratch).args(["-fsanitize=address", "-c", "-o"]).arg(&object).run(300);
    match compiled.or_text().and_then(|()| build.link(env, &object, &scratch.join("threads"))) {
        Ok(()) => run_counted(env, &scratch.join("threads"), &build.library, &[], report),
        Err(text) => report.fail(text),
    }
    negative(env, &build, &scratch, report);
}

/// An error in each half is found, and a leak.
fn negative(env: &Env, build: &Build, scratch: &Path, report: &mut Report) {
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
        report.check(seen, format!("a program with the error \"{name}\" is found out\n{built:?}\n{}", ran.text));
    }
}

struct Build {
    library: PathBuf,
    runtime: PathBuf,
}

impl Build {
    fn new(env: &Env) -> Result<Build, String> {
        let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
        let ask = |args: &[&str]| env.command(&rustc).args(args).run(60).out;
        let version = ask(&["-vV"]);
        let host = version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or("").to_owned();
        let sysroot = PathBuf::from(ask(&["--print", "sysroot"]).trim());
        let runtime = sysroot.join("lib/rustlib").join(&host).join("lib/librustc-stable_rt.asan.a");
        let runtime = match runtime.is_file() {
            true => runtime,
            false => runtime.with_file_name("librustc-nightly_rt.asan.a"),
        };
        if !runtime.is_file() {
            return Err(format!("this Rust toolchain has no AddressSanitizer runtime for {host}"));
        }
        // The target is named so that build scripts, which run here and now, are not instrumented.
        let target = env.target.join("asan");
        let mut cargo = env.command(std::env!("CARGO"));
        cargo.args(["rustc", "--lib", "--crate-type", "cdylib", "--target", &host]).env("CARGO_TARGET_DIR", &target);
        let built = cargo.env("RUSTC_BOOTSTRAP", "1").env("RUSTFLAGS", "-Zsanitizer=address").run(3600);
        built.or_text().map_err(|text| format!("the instrumented library does not build\n{text}"))?;
        Ok(Build { library: target.join(host).join("debug"), runtime })
    }

    fn test(&self, env: &Env, source: &Path, scratch: &Path) -> Report {
        let mut report = Report::default();
        let program = scratch.join(stem(source));
        match self.compile(env, source, &program) {
            Ok(()) => run_counted(env, &program, &self.library, &[], &mut report),
            Err(text) => report.fail(format!("{} does not compile\n{text}", source.display())),
        }
        report
    }

    fn compile(&self, env: &Env, source: &Path, program: &Path) -> Result<(), String> {
        let object = program.with_extension("o");
        env.strict_cc().args(["-fsanitize=address", "-c"]).arg(source).arg("-o").arg(&object).run(300).or_text()?;
        self.link(env, &object, program)
    }

    fn link(&self, env: &Env, object: &Path, program: &Path) -> Result<(), String> {
        let mut cc = env.cc();
        cc.arg(object).arg("-o").arg(program);
        cc.arg("-Wl,--whole-archive").arg(&self.runtime).args(["-Wl,--no-whole-archive", "-Wl,--export-dynamic"]);
        cc.link_to(&self.library).args(["-ldl", "-lrt"]).run(300).or_text()
    }
}
