//! Checks the SONAME and the hardening flags. Also checks that the shared and the static library export only netlib_*
//! symbols and contain no path of the build machine.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::env::{Env, has};
use crate::report::Report;

pub fn run(env: &Env, report: &mut Report) {
    let library = env.release_library();
    let declared: BTreeSet<String> = env.header().functions.into_iter().map(|function| function.name).collect();
    if !has("nm") || !has("readelf") {
        return report.skip("nm and readelf (binutils) are not installed");
    }
    shared(env, &library.join("libnetlib.so"), &declared, report);
    archive(env, &library.join("libnetlib.a"), &declared, report);
    hardened(env, &library.join("libnetlib.so"), report);
    for file in ["libnetlib.so", "libnetlib.a"] {
        without_paths(env, &library.join(file), report);
    }
    beside_another_rust_library(env, &library.join("libnetlib.a"), report);
}

/// Checks the dynamic symbols, the SONAME and the dynamic flags of a shared library.
pub fn shared(env: &Env, library: &Path, declared: &BTreeSet<String>, report: &mut Report) {
    let versioned = defined(env, &["-D"], library);
    // nm prints "name@@VERSION", and the version itself as a symbol.
    let version = format!("NETLIB_{}", env.soname().trim_start_matches("libnetlib.so."));
    let suffix = format!("@@{version}");
    let exported: BTreeSet<String> = versioned
        .iter()
        .filter(|name| **name != version)
        .map(|name| name.strip_suffix(&suffix).unwrap_or(name).to_owned())
        .collect();
    if cfg!(target_os = "linux") {
        let plain = versioned.iter().filter(|name| **name != version && !name.ends_with(&suffix));
        report.problems(format!("every symbol has the version {version}"), plain.cloned().collect());
    }
    report.problems("the shared library exports only netlib_*", strays(&exported));
    compare("the shared library exports", &exported, "netlib.h declares", declared, report);
    let dynamic = env.command("readelf").args(["-d", "-W"]).arg(library).run(60).text;
    let soname = format!("[{}]", env.soname());
    let line = |tag: &str| dynamic.lines().find(|line| line.contains(tag)).unwrap_or("").to_owned();
    report.check(line("(SONAME)").contains(&soname), format!("the SONAME is {soname}: {}", line("(SONAME)")));
    report.check(line("(FLAGS_1)").contains("NODELETE"), format!("dlclose keeps it mapped: {}", line("(FLAGS_1)")));
    report.check(line("(TEXTREL)").is_empty(), "no relocation changes code");
}

/// Checks the global symbols of a static library.
pub fn archive(env: &Env, library: &Path, declared: &BTreeSet<String>, report: &mut Report) {
    let global = defined(env, &["-g"], library);
    report.problems("the static library's globals are only netlib_*", strays(&global));
    compare("the static library has", &global, "netlib.h declares", declared, report);
}

/// Checks that the library contains the symbols that the hardening flags in scripts/build-lib and Cargo.toml produce.
fn hardened(env: &Env, library: &Path, report: &mut Report) {
    if !cfg!(all(target_os = "linux", target_env = "gnu")) {
        return report.skip("the names of the checks are known for glibc");
    }
    let imported = env.command("nm").args(["-D", "--undefined-only", "-P"]).arg(library).run(60).out;
    let has = |name: &str| imported.lines().any(|line| line.split([' ', '@']).next() == Some(name));
    report.check(has("__stack_chk_fail"), "the C code checks its stack frames (-fstack-protector-strong)");
    report.check(has("__vsnprintf_chk"), "the C code checks its buffers (-D_FORTIFY_SOURCE=2)");
    // Rust's legacy and new symbol mangling both contain the function's name in plain text.
    let all = env.command("nm").arg(library).run(60).out;
    report.check(all.contains("panic_const_add_overflow"), "the crate's own arithmetic is checked (overflow-checks)");
    let manifest = env.read("Cargo.toml");
    let own =
        manifest.split("[profile.release.package.netlib]").nth(1).unwrap_or("").split("\n[").next().unwrap_or("");
    report.check(own.contains("overflow-checks = true"), "overflow-checks are on for this crate");
}

/// Checks that a library contains no path of the build machine.
fn without_paths(env: &Env, library: &Path, report: &mut Report) {
    let bytes = fs::read(library).expect("the library is there");
    let sysroot = env.command("rustc").args(["--print", "sysroot"]).run(60).out;
    let home = std::env::var("HOME").unwrap_or_default();
    let cargo = std::env::var("CARGO_HOME").unwrap_or_else(|_| format!("{home}/.cargo"));
    let places =
        [home, cargo, sysroot.trim().to_owned(), env.root.display().to_string(), env.target.display().to_string()];
    // A short home directory such as "/" is not searched for, because it is part of every path.
    for place in places.iter().filter(|place| place.len() > 4) {
        let found = bytes.windows(place.len()).any(|window| window == place.as_bytes());
        report.check(!found, format!("{} has no path of this machine: {place}", library.display()));
    }
}

/// Checks that a program can link the static library together with another Rust static library, although both contain
/// Rust's standard library.
fn beside_another_rust_library(env: &Env, library: &Path, report: &mut Report) {
    let scratch = env.scratch("symbols");
    let (source, other) = (scratch.join("other.rs"), scratch.join("libother.a"));
    let rust = "#[unsafe(no_mangle)] pub extern \"C\" fn other(n: i32) -> i32 {\n\
                    std::panic::catch_unwind(|| if n > 1 { panic!(\"{n}\") } else { n }).unwrap_or(-1)\n}\n";
    let c = "#include <netlib.h>\n#include <stdio.h>\nint32_t other(int32_t n);\nint main(void) {\n\
             netlib_error *error = NULL;\n\
             if (netlib_error_new(NETLIB_IO, \"x\", NULL, &error, NULL) != NETLIB_OK) return 1;\n\
             netlib_error_free(error);\n\
             printf(\"%d %d\\n\", (int)other(1), (int)other(2));\n    return 0;\n}\n";
    fs::write(&source, rust).expect("target is writable");
    fs::write(scratch.join("main.c"), c).expect("target is writable");
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let made = env
        .command(rustc)
        .args(["--edition=2024", "--crate-type=staticlib", "-Copt-level=1", "-o"])
        .arg(&other)
        .arg(&source)
        .run(300);
    if !report.check(made.ok, format!("another Rust static library compiles\n{}", made.text)) {
        return;
    }
    let program = scratch.join("both");
    for (order, libraries) in [("first", [library, &other]), ("last", [&other, library])] {
        let linked = env
            .strict_cc()
            .arg(scratch.join("main.c"))
            .args(libraries)
            .args(["-lm", "-ldl", "-pthread", "-o"])
            .arg(&program)
            .run(300);
        report.check(linked.ok, format!("it links beside another Rust library, netlib {order}\n{}", linked.text));
        if linked.ok {
            let ran = env.command(&program).run(60);
            report.check(ran.ok && ran.out == "1 -1\n", format!("both libraries work, netlib {order}\n{}", ran.text));
        }
    }
}

fn defined(env: &Env, options: &[&str], library: &Path) -> BTreeSet<String> {
    let nm = env.command("nm").args(options).args(["--defined-only", "-P"]).arg(library).run(60);
    nm.out
        .lines()
        .filter(|line| !line.ends_with(':'))
        .filter_map(|line| line.split_whitespace().next())
        .map(str::to_owned)
        .collect()
}

fn strays(symbols: &BTreeSet<String>) -> Vec<String> {
    symbols.iter().filter(|symbol| !symbol.starts_with("netlib_")).cloned().collect()
}

/// Compares two lists of names, with one check for each name.
fn compare(left: &str, a: &BTreeSet<String>, right: &str, b: &BTreeSet<String>, report: &mut Report) {
    for name in a.union(b) {
        report.check(
            a.contains(name) == b.contains(name),
            match a.contains(name) {
                true => format!("{left} {name}; {right} no such name"),
                false => format!("{right} {name}; {left} no such name"),
            },
        );
    }
}
