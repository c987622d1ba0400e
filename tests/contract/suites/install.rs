//! Checks that `make install` installs everything that a program needs, and that the installed tree still works after
//! it was moved.

use std::fs;
use std::path::{Path, PathBuf};

use crate::env::{Env, has, name};
use crate::report::Report;
use crate::suites::examples;

const PROGRAM: &str = "#include <netlib.h>\n#include <stdio.h>\n#include <string.h>\n\
    int main(void) {\n    printf(\"%s\\n\", netlib_version());\n\
    \x20   return strcmp(netlib_version(), NETLIB_VERSION) == 0 ? 0 : 1;\n}\n";

pub fn run(env: &Env, report: &mut Report) {
    env.release_library();
    let scratch = env.scratch("install");
    let (first, moved) = (scratch.join("first"), scratch.join("moved"));
    let mut make = env.command("make");
    make.args(["install", "PREFIX=/opt/netlib", "LIBDIR=/opt/netlib/lib64"]);
    make.arg(format!("DESTDIR={}", first.display())).env("CARGO_TARGET_DIR", &env.target);
    let made = make.run(1800);
    if !report.check(made.ok, format!("make install\n{}", made.text)) {
        return;
    }
    fs::rename(&first, &moved).expect("target is writable");
    check(env, &moved.join("opt/netlib"), "lib64", &scratch, report);
}

/// Checks an installed tree; `tree` is its directory after the move.
pub fn check(env: &Env, tree: &Path, lib: &str, scratch: &Path, report: &mut Report) {
    let libdir = tree.join(lib);
    let version = std::env!("CARGO_PKG_VERSION");
    for (link, target) in
        [(env.soname(), format!("libnetlib.so.{version}")), ("libnetlib.so".to_owned(), env.soname())]
    {
        let points = fs::read_link(libdir.join(&link)).ok();
        report.check(points == Some(PathBuf::from(&target)), format!("{link} is a link to {target}"));
    }
    for file in [
        libdir.join(format!("libnetlib.so.{version}")),
        libdir.join("libnetlib.a"),
        libdir.join("pkgconfig/netlib.pc"),
        tree.join("include/netlib.h"),
        tree.join("include/netlib.cdef.h"),
        tree.join("include/netlib.api.json"),
    ] {
        report.check(file.is_file(), format!("{} is installed", name(&file)));
    }
    if has("readelf") {
        let sections = env.command("readelf").args(["-S", "-W"]).arg(libdir.join("libnetlib.so")).run(60).text;
        report.check(!sections.contains(".symtab") && !sections.contains(".debug_info"), "the library is stripped");
    }
    let pc = fs::read_to_string(libdir.join("pkgconfig/netlib.pc")).unwrap_or_default();
    report.check(!pc.contains('@') && pc.contains("${pcfiledir}"), format!("netlib.pc is relocatable\n{pc}"));

    let flags = Flags::ask(env, &libdir.join("pkgconfig"), report);
    let mut programs = vec![("c", "cc", fs_write(scratch, "program.c", PROGRAM))];
    match has("g++") || has("c++") {
        true => programs.push(("c++", "c++", fs_write(scratch, "program.cpp", PROGRAM))),
        false => report.skip("g++ is not installed"),
    }
    for (language, compiler, source) in &programs {
        for (kind, link) in [("shared", &flags.shared), ("static", &flags.archive)] {
            let program = scratch.join(format!("{kind}-{language}"));
            let mut cc = if *compiler == "cc" { env.cc() } else { env.command(compiler) };
            cc.args(&flags.compile).arg(source).args(link).arg("-o").arg(&program);
            let what = format!("a program in {language}, {kind}");
            match cc.run(300).or_text() {
                Err(text) => report.fail(format!("{what}, does not build\n{text}")),
                Ok(()) => {
                    // A program that is linked with the static library does not need the installed tree at run time.
                    let library = if kind == "shared" { libdir.as_path() } else { Path::new("/nonexistent") };
                    let ran = env.command(&program).load_from(library).run(60);
                    report.check(ran.ok && ran.out.trim() == version, format!("{what}, runs\n{}", ran.text));
                }
            }
        }
    }
    for example in examples::programs(env) {
        for (kind, link) in [("shared", &flags.shared), ("static", &flags.archive)] {
            let mut cc = env.cc();
            cc.args(&flags.compile).args(&example.sources).args(link).args(["-lm", "-pthread", "-o"]);
            let built = cc.arg(scratch.join(format!("{kind}-{}", example.name))).run(300);
            report
                .check(built.ok, format!("{} builds from the installed tree, {kind}\n{}", example.name, built.text));
        }
    }
}

/// Returns the compiler and linker flags from netlib.pc.
struct Flags {
    compile: Vec<String>,
    shared: Vec<String>,
    archive: Vec<String>,
}

impl Flags {
    fn ask(env: &Env, directory: &Path, report: &mut Report) -> Flags {
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        if has("pkg-config") {
            let mut ask = |question: &str| {
                let mut pkg_config = env.command("pkg-config");
                pkg_config.env("PKG_CONFIG_PATH", directory).args([question, "netlib"]);
                let answer = pkg_config.run(60);
                report.check(answer.ok, format!("pkg-config {question} netlib\n{}", answer.text));
                words(&answer.out)
            };
            return Flags { compile: ask("--cflags"), shared: ask("--libs"), archive: ask("--variable=static_libs") };
        }
        report.skip("pkg-config is not installed: netlib.pc is read as text");
        let text = fs::read_to_string(directory.join("netlib.pc")).unwrap_or_default();
        let field = |start: &str| {
            let mut value = text.lines().find_map(|line| line.strip_prefix(start)).unwrap_or("").trim().to_owned();
            // The variables of netlib.pc refer to other variables, a few levels deep.
            for _ in 0..4 {
                for line in text.lines().filter(|line| !line.starts_with('#')) {
                    if let Some((variable, meaning)) = line.split_once('=') {
                        value = value.replace(&format!("${{{variable}}}"), meaning);
                    }
                }
                value = value.replace("${pcfiledir}", &directory.to_string_lossy());
            }
            words(&value)
        };
        Flags { compile: field("Cflags:"), shared: field("Libs:"), archive: field("static_libs=") }
    }
}

fn fs_write(scratch: &Path, file: &str, text: &str) -> PathBuf {
    let path = scratch.join(file);
    fs::write(&path, text).expect("target is writable");
    path
}
