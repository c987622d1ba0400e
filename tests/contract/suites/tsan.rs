//! Runs threaded programs under ThreadSanitizer. rustc instruments the library, and the C compiler instruments aws-lc
//! and the programs. Rust's standard library is precompiled without instrumentation, so c-tests/tsan/instrument.c
//! instruments its locks; otherwise ThreadSanitizer would report every use of a lock as a race. The suite suppresses no
//! report of ThreadSanitizer.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::env::{Env, name, parallel, stem};
use crate::report::Report;
use crate::suites::c_tests::take_counts;
use crate::suites::instrumented::{How, Instrumented, Sanitizer, Toolchain};
use crate::suites::threads;

const SANITIZER: Sanitizer = Sanitizer { name: "thread", short: "tsan" };

/// The time limit of a program in seconds. No program needs that long.
const SECONDS: u64 = 300;

pub fn run(env: &Env, report: &mut Report) {
    let scratch = env.scratch("tsan");
    let build = match build(env) {
        Ok(build) => build,
        Err(text) => return report.fail(text),
    };
    let sources = programs(env);
    report.check(sources.len() > 3, "there are programs with threads");
    for one in parallel(&sources, |source| test(env, &build, source, &scratch)) {
        report.merge(one);
    }
    let object = scratch.join("threads.o");
    let compiled = threads::shared_handles(env, &scratch).args([build.flag(), "-c", "-o"]).arg(&object).run(300);
    match compiled.or_text().and_then(|()| build.link(env, &object, &scratch.join("threads"))) {
        Ok(()) => run_counted(env, &build, &scratch.join("threads"), report),
        Err(text) => report.fail(text),
    }
    races(env, &build, &scratch, report);
}

/// Returns the programs of c-tests/tsan, and the C tests that start threads, directly or through a header that they
/// include.
fn programs(env: &Env) -> Vec<PathBuf> {
    let mut sources = env.c_tests();
    sources.retain(|source| starts_threads(env, source, &mut BTreeSet::new()));
    sources.extend(env.files("c-tests/tsan", "test_", ".c"));
    sources
}

fn starts_threads(env: &Env, file: &Path, seen: &mut BTreeSet<PathBuf>) -> bool {
    let text = fs::read_to_string(file).unwrap_or_default();
    let included = text.lines().filter_map(|line| line.strip_prefix("#include \"")?.strip_suffix('"'));
    let folders = [file.parent().unwrap_or(file), &env.root.join("c-tests/support"), &env.root.join("c-tests")];
    text.contains("pthread_create(")
        || included
            .filter_map(|header| folders.iter().map(|folder| folder.join(header)).find(|path| path.is_file()))
            .any(|header| seen.insert(header.clone()) && starts_threads(env, &header, seen))
}

fn build(env: &Env) -> Result<Instrumented, String> {
    let toolchain = Toolchain::new(env, &SANITIZER)?;
    let directory = env.target.join(SANITIZER.short);
    fs::create_dir_all(&directory).expect("target is writable");
    let std = instrumented_std(env, &toolchain, &directory)?;
    let fences = directory.join("fences.o");
    let mut cc = env.strict_cc();
    cc.args(["-O2", "-c", "c-tests/tsan/fences.c", "-o"]).arg(&fences).run(60).or_text()?;
    let how = How {
        // The precompiled crates of Rust's standard library are not instrumented.
        rustflags: "-Zunstable-options -Cunsafe-allow-abi-mismatch=sanitizer",
        last: vec![
            // The instrumented object is linked before the archive of the same crate, so that the linker does not use
            // the archive's objects.
            format!("-Zpre-link-arg={}", std.display()),
            "-Clink-arg=-Wl,--wrap=__tsan_atomic64_fetch_sub,--wrap=__tsan_atomic_thread_fence".to_owned(),
        ],
        env: vec![
            (format!("CFLAGS_{}", toolchain.host.replace('-', "_")), "-fsanitize=thread".to_owned()),
            ("CARGO_PROFILE_DEV_OPT_LEVEL".to_owned(), "1".to_owned()),
        ],
        objects: vec![fences],
    };
    Instrumented::new(env, &SANITIZER, &toolchain, how)
}

/// Builds an object file of Rust's standard library with instrumented atomic operations, from the bitcode in its
/// archive.
fn instrumented_std(env: &Env, toolchain: &Toolchain, directory: &Path) -> Result<PathBuf, String> {
    let files = |folder: &Path, start: &str, end: &str| -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        entries.filter(|file| name(file).starts_with(start) && name(file).ends_with(end)).collect()
    };
    let one = |files: Vec<PathBuf>, what: &str| match <[PathBuf; 1]>::try_from(files) {
        Ok([file]) => Ok(file),
        Err(files) => Err(format!("not one {what} in the Rust toolchain, but {}", files.len())),
    };
    let archive = one(files(&toolchain.libraries(), "libstd-", ".rlib"), "archive of the standard library")?;
    let llvm = one(files(&toolchain.sysroot.join("lib"), "libLLVM.so", ""), "libLLVM.so")?;
    let unpacked = env.scratch("tsan-std");
    let sdk = |program: &str| env.command(program);
    sdk("ar").arg("x").arg(&archive).arg("--output").arg(&unpacked).run(60).or_text()?;
    let object = one(files(&unpacked, "std-", ".o"), "object in the standard library's archive")?;
    let (bitcode, program, out) = (unpacked.join("std.bc"), unpacked.join("instrument"), directory.join("std.o"));
    sdk("objcopy").arg(format!("--dump-section=.llvmbc={}", bitcode.display())).arg(&object).run(60).or_text()?;
    let mut cc = env.strict_cc();
    cc.arg("c-tests/tsan/instrument.c").arg(&llvm).arg("-o").arg(&program).run(60).or_text()?;
    let mut instrument = env.command(&program);
    instrument.env("LD_LIBRARY_PATH", toolchain.sysroot.join("lib")).arg(&bitcode).arg(&out).run(300).or_text()?;
    Ok(out)
}

fn test(env: &Env, build: &Instrumented, source: &Path, scratch: &Path) -> Report {
    let mut report = Report::default();
    let program = scratch.join(stem(source));
    match build.compile(env, source, &program) {
        Ok(()) => run_counted(env, build, &program, &mut report),
        Err(text) => report.fail(format!("{} does not compile\n{text}", source.display())),
    }
    report
}

fn run_counted(env: &Env, build: &Instrumented, program: &Path, report: &mut Report) {
    // Some programs fork while threads run, and the child starts threads.
    let ran = env.command(program).load_from(&build.library).env("TSAN_OPTIONS", "die_after_fork=0").run(SECONDS);
    take_counts(stem(program), &ran, report);
}

/// A deliberate race: the name that ThreadSanitizer's report must contain, and the C code of two threads.
pub struct Race {
    pub name: &'static str,
    /// The code of the two threads.
    bodies: [&'static str; 2],
    pub found: &'static str,
}

impl Race {
    /// Returns the C file of the program.
    pub fn source(&self) -> String {
        let [first, second] = self.bodies;
        format!("#include \"tsan/race.h\"\nvoid first(void) {{ {first} }}\nvoid second(void) {{ {second} }}\n")
    }
}

/// The code of each race uses the variables of c-tests/tsan/race.h. `signal_done` and `wait` make one thread run before
/// the other, but create no happens-before order between the two threads.
pub const RACES: &[Race] = &[
    Race { name: "a variable of the program", bodies: ["plain++;", "plain++;"], found: "global 'plain'" },
    Race {
        name: "a handle for one thread at a time",
        bodies: ["netlib_retry_options_set_total(options, 3);", "netlib_retry_options_set_total(options, 4);"],
        found: "netlib_retry_options_set_total",
    },
    Race {
        name: "a clock that is started twice",
        bodies: [
            "(void)netlib_timeout_start_connect(timeout, NULL);",
            "(void)netlib_timeout_start_connect(timeout, NULL);",
        ],
        found: "netlib_timeout_start_connect",
    },
    Race {
        name: "a handle that is freed while another thread reads it",
        bodies: [
            "(void)netlib_error_message(error, NULL); signal_done();",
            "wait(); netlib_error_free(error); error = NULL;",
        ],
        found: "netlib_error_free",
    },
    Race {
        name: "plain memory given to a call, and written meanwhile",
        bodies: ["text[4] = 'x'; signal_done();", "wait(); (void)netlib_parse_url(text, 8, &url, NULL);"],
        found: "netlib_parse_url",
    },
];

/// Checks that ThreadSanitizer reports each deliberate race with the right name, and reports nothing if the same code
/// runs on one thread after the other.
fn races(env: &Env, build: &Instrumented, scratch: &Path, report: &mut Report) {
    let programs = parallel(RACES, |race| {
        let program = scratch.join(format!("race-{}", race.name.replace(' ', "-")));
        let source = program.with_extension("c");
        fs::write(&source, race.source()).expect("target is writable");
        let built = build.compile(env, &source, &program);
        let run = |how: &str| env.command(&program).arg(how).load_from(&build.library).run(60);
        (built, run("race"), run("order"))
    });
    for (race, (built, raced, ordered)) in RACES.iter().zip(programs) {
        let name = race.name;
        let seen = raced.text.contains("WARNING: ThreadSanitizer") && raced.text.contains(race.found) && !raced.ok;
        report.check(built.is_ok() && seen, format!("\"{name}\" is reported\n{built:?}\n{}", raced.text));
        report.check(ordered.ok, format!("\"{name}\" in order is not\n{}", ordered.text));
    }
}
