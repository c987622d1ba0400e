//! Builds defective libraries, and checks that the suites about building, loading and installing report the defects.

use std::fs;
use std::path::Path;

use super::finds;
use crate::env::{Env, has};
use crate::report::Report;
use crate::suites::{install, matrix, panics, symbols, threads};

pub(super) fn header_matrix(env: &Env, scratch: &Path, report: &mut Report) {
    let include = scratch.join("include");
    fs::create_dir_all(&include).expect("target is writable");
    let text = env.header_text();
    let before_the_end = text.rfind("#ifdef __cplusplus").expect("the header ends so");
    for (declaration, complaint) in [
        ("int netlib_old_style();", "strict-prototypes"),
        ("void netlib_keyword(int class);", "g++"),
        ("enum netlib_wide {\n    NETLIB_WIDE = 99999999999\n};", "gcc"),
        ("#define NETLIB_HUGE ((double)1e999)\n", "floating constant exceeds range"),
        ("__attribute__((deprecated)) void netlib_attribute(void);", "has no __attribute__"),
        ("struct netlib_twice { int x; };", "redefinition"),
    ] {
        // Each row changes the header inside the include guard, except the last row, which adds text outside of it.
        let broken = match complaint {
            "redefinition" => format!("{text}{declaration}\n"),
            _ => format!("{}{declaration}\n{}", &text[..before_the_end], &text[before_the_end..]),
        };
        if complaint == "g++" && !has("g++") {
            continue;
        }
        fs::write(include.join("netlib.h"), broken).expect("target is writable");
        finds(report, "matrix", &[complaint], |inner| matrix::check(env, &include, scratch, None, inner));
    }
}

pub(super) fn exported_symbols(env: &Env, scratch: &Path, report: &mut Report) {
    let declared = ["netlib_here", "netlib_gone"].map(str::to_owned).into();
    let source = scratch.join("stray.c");
    fs::write(&source, "int netlib_here(void);\nint netlib_here(void) { return 0; }\nint stray(void);\nint stray(void) { return 0; }\n")
        .expect("target is writable");
    let (library, object, archive) =
        (scratch.join("libstray.so"), scratch.join("stray.o"), scratch.join("libstray.a"));
    let shared = env.cc().args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).run(60);
    report.check(shared.ok, &shared.text);
    let complaints = [
        "exports only netlib_*: stray",
        "declares netlib_gone",
        "the SONAME is [libnetlib.so.",
        "every symbol has the version NETLIB_",
        "dlclose keeps it mapped",
    ];
    finds(report, "symbols", &complaints, |inner| symbols::shared(env, &library, &declared, inner));
    let made = env.cc().args(["-c", "-o"]).arg(&object).arg(&source).run(60).ok
        && env.command("ar").arg("crs").arg(&archive).arg(&object).run(60).ok;
    report.check(made, "an archive with a stray symbol is made");
    let complaints = ["globals are only netlib_*: stray", "declares netlib_gone"];
    finds(report, "symbols", &complaints, |inner| symbols::archive(env, &archive, &declared, inner));
}

/// A library in which a panic ends the process instead of being caught.
pub(super) fn panic_guard(env: &Env, scratch: &Path, report: &mut Report) {
    let (source, object, archive) = (scratch.join("abort.c"), scratch.join("abort.o"), scratch.join("libabort.a"));
    fs::write(
        &source,
        "#include <stdlib.h>\nint netlib_self_test_panic(void);\nint netlib_self_test_panic(void) { abort(); }\n",
    )
    .expect("target is writable");
    fs::copy(env.release_library().join("libnetlib.a"), &archive).expect("target is writable");
    let made = env.cc().args(["-c", "-o"]).arg(&object).arg(&source).run(60).ok
        && env.command("ar").arg("rs").arg(&archive).arg(&object).run(60).ok;
    report.check(made, "a library that aborts is made");
    finds(report, "panic", &["printed no count", "signal: 6"], |inner| panics::check(env, &archive, scratch, inner));
}

/// A library that does not stay mapped after dlclose.
pub(super) fn threads_and_dlopen(env: &Env, scratch: &Path, report: &mut Report) {
    let (source, library) = (scratch.join("unmapped.c"), scratch.join("libunmapped.so"));
    let text = "#include <netlib.h>\n\
                netlib_status netlib_error_new(netlib_status s, const char *m, const netlib_error_options *o, netlib_error **e, netlib_error **err) {\n\
                    (void)m, (void)o, (void)err;\n    *e = NULL;\n    return s == NETLIB_OK ? NETLIB_INVALID_ARGUMENT : NETLIB_OK;\n}\n\
                void netlib_error_free(netlib_error *e) { (void)e; }\n\
                const char *netlib_error_message(const netlib_error *e, size_t *n) { (void)e, (void)n; return \"in a thread\"; }\n\
                netlib_status netlib_connect_new(const char *h, int32_t p, const netlib_connect_options *o, netlib_connect **c, netlib_error **err) {\n\
                    (void)h, (void)p, (void)o, (void)err;\n    *c = NULL;\n    return NETLIB_OK;\n}\n\
                netlib_status netlib_connect_step(netlib_connect *c, int *fd, netlib_error **err) {\n\
                    (void)c, (void)fd, (void)err;\n    return NETLIB_WANT_WRITE;\n}\n\
                void netlib_connect_free(netlib_connect *c) { (void)c; }\n";
    fs::write(&source, text).expect("target is writable");
    let built = env.strict_cc().args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).run(60);
    report.check(built.ok, &built.text);
    finds(report, "threads", &["stays mapped after dlclose"], |inner| threads::dlopen(env, &library, scratch, inner));
    for (suppressions, complaint) in
        [("race:*", "the program's race is reported"), ("race:none", "no report is left")]
    {
        let mut inner = Report::default();
        threads::thread_sanitizer(env, suppressions, scratch, &mut inner);
        if !inner.is_skipped() {
            finds(report, "threads", &[complaint], |report| report.merge(inner));
        }
    }
}

pub(super) fn installed_tree(env: &Env, scratch: &Path, report: &mut Report) {
    let tree = scratch.join("tree");
    fs::create_dir_all(tree.join("lib/pkgconfig")).expect("target is writable");
    fs::write(tree.join("lib/pkgconfig/netlib.pc"), "prefix=@PREFIX@\n").expect("target is writable");
    fs::create_dir_all(tree.join("share/doc/netlib/docs")).expect("target is writable");
    fs::write(tree.join("share/doc/netlib/docs/README.md"), "[a](../gone.md)\n").expect("target is writable");
    let complaints = [
        "the installed docs/README.md: the link ../gone.md leads nowhere",
        "libnetlib.so is a link",
        "netlib.h is installed",
        "netlib.pc is relocatable",
        "netlib.pc states the licence",
        "THIRD-PARTY-NOTICES contains \"\\naws-lc-sys \"",
        "finds netlib",
        "CMake builds the programs",
        "Meson finds netlib",
        "a program in c, shared, does not build",
    ];
    finds(report, "install", &complaints, |inner| install::check(env, &tree, "lib", scratch, inner));
}
