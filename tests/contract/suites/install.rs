//! Checks that `make install` installs everything that a program needs, that programs can be built from the installed
//! tree after it was moved, and that `make uninstall` removes every file.

mod build_systems;

use std::fs;
use std::path::{Path, PathBuf};

use crate::env::{Env, Program, has, name};
use crate::report::Report;
use crate::suites::{examples, links};
use build_systems::Consumer;

const PROGRAM: &str = "#include <netlib.h>\n#include <stdio.h>\n#include <string.h>\n\
    int main(void) {\n    printf(\"%s\\n\", netlib_version());\n\
    \x20   return strcmp(netlib_version(), NETLIB_VERSION) == 0 ? 0 : 1;\n}\n";

pub fn run(env: &Env, report: &mut Report) {
    let library = env.release_library();
    let scratch = env.scratch("install");
    let (first, moved) = (scratch.join("first"), scratch.join("moved"));
    let written = env.command("scripts/man").env("CARGO_TARGET_DIR", &env.target).run(300);
    report.check(written.ok, format!("scripts/man\n{}", written.text));
    let installed = make(env, "install-strip", &first, &env.target).run(1800);
    if !report.check(installed.ok, format!("make install-strip\n{}", installed.text)) {
        return;
    }
    fs::rename(&first, &moved).expect("target is writable");
    check(env, &moved.join("opt/netlib"), "lib", &scratch, report);
    the_command_for_another_prefix_runs(env, &moved.join("opt/netlib"), &scratch, report);
    // An empty directory takes the place of target, as after `make clean`.
    let removed = make(env, "uninstall", &moved, &scratch.join("clean")).run(60);
    report.check(removed.ok, format!("make uninstall after make clean\n{}", removed.text));
    let left = all_files(&moved);
    report.check(left.is_empty(), format!("make uninstall after make clean removes every file: {left:?}"));
    refused_libraries(env, library, &scratch, report);
    man_pages(env, library, &scratch, report);
    static_library_only(env, library, &scratch, report);
}

/// Returns a command that runs `make TARGET` for the prefix /opt/netlib below `root`.
fn make(env: &Env, target: &str, root: &Path, built: &Path) -> Program {
    let mut make = env.command("make");
    make.args([target, "PREFIX=/opt/netlib"])
        .arg(format!("DESTDIR={}", root.display()))
        .env("CARGO_TARGET_DIR", built);
    make
}

/// Copies the release libraries into `target/netlib`, where the directory `target` takes the place of cargo's, and
/// replaces a text in build.info.
fn copy_of_build(library: &Path, target: &Path, from: &str, to: &str) {
    let copy = target.join("netlib");
    let _ = fs::remove_dir_all(target);
    fs::create_dir_all(&copy).expect("target is writable");
    for entry in fs::read_dir(library).expect("the library is built").flatten() {
        fs::copy(entry.path(), copy.join(entry.file_name())).expect("target is writable");
    }
    let info = fs::read_to_string(copy.join("build.info")).expect("scripts/build-lib writes it");
    assert!(info.contains(from), "{info}");
    fs::write(copy.join("build.info"), info.replacen(from, to, 1)).expect("target is writable");
}

/// Checks that `make install` without cargo in PATH succeeds if the libraries are up to date, and refuses libraries of
/// another version, of another target, and older than the sources.
fn refused_libraries(env: &Env, library: &Path, scratch: &Path, report: &mut Report) {
    let (root, target) = (scratch.join("refused"), scratch.join("copied"));
    let install = || make(env, "install", &root, &target).env("PATH", "/usr/bin:/bin").run(60);
    let install_for = |triple: &str| {
        let mut command = env.command("scripts/install");
        command.args(["--target", triple]).env("CARGO_TARGET_DIR", &target).env("DESTDIR", &root);
        command.env("PATH", "/usr/bin:/bin").run(60)
    };
    let version = std::env!("CARGO_PKG_VERSION");
    if Path::new("/usr/bin/cargo").exists() {
        return report.skip("cargo is in /usr/bin: make install without cargo is not checked");
    }
    copy_of_build(library, &target, "host=yes", "host=yes");
    let ran = install();
    report.check(ran.ok, format!("make install without cargo, after make\n{}", ran.text));
    for (from, to, complaint) in [
        (format!("version={version}"), "version=0.0.9".to_owned(), format!("does not contain netlib {version}")),
        ("host=yes".to_owned(), "host=no".to_owned(), "set CARGO_BUILD_TARGET=".to_owned()),
    ] {
        copy_of_build(library, &target, &from, &to);
        let ran = install();
        report
            .check(!ran.ok && ran.text.contains(&complaint), format!("make install says: {complaint}\n{}", ran.text));
    }
    copy_of_build(library, &target, "host=yes", "host=yes");
    let ran = install_for("x86_64-unknown-none");
    let complaint = "not for x86_64-unknown-none";
    report.check(!ran.ok && ran.text.contains(complaint), format!("make install says: {complaint}\n{}", ran.text));
    let old = env.command("touch").args(["-d", "2001-01-01"]).arg(target.join("netlib/build.info")).run(60);
    let ran = install();
    report.check(
        old.ok && !ran.ok && ran.text.contains("is newer than") && ran.text.contains("run make first"),
        format!("make install refuses libraries that are older than the sources\n{}", ran.text),
    );
}

/// Checks that `make install` after `make lib` writes the man pages, and states if it cannot.
fn man_pages(env: &Env, library: &Path, scratch: &Path, report: &mut Report) {
    let (target, prefix) = (scratch.join("copied"), scratch.join("other prefix"));
    let page = prefix.join("share/man/man3/netlib_parse_url.3.gz");
    let install = |path: Option<&str>| {
        copy_of_build(library, &target, "host=yes", "host=yes");
        let _ = fs::remove_dir_all(&prefix);
        let mut command = env.command("scripts/install");
        command.env("CARGO_TARGET_DIR", &target).env("PREFIX", &prefix).env("DESTDIR", "");
        path.map(|path| command.env("PATH", path));
        command.run(300)
    };
    let ran = install(None);
    report.check(ran.ok && page.is_file(), format!("make install writes missing man pages\n{}", ran.text));
    let advice = format!("link programs with -Wl,-rpath,{}/lib\n", prefix.display());
    report.check(ran.out.ends_with(&advice), format!("make install says \"{advice}\"\n{}", ran.text));
    if Path::new("/usr/bin/rustc").exists() {
        return report.skip("rustc is in /usr/bin: make install without rustc is not checked");
    }
    let ran = install(Some("/usr/bin:/bin"));
    let says = ran.text.contains("no man pages are installed, because");
    report.check(ran.ok && says && !page.exists(), format!("make install without rustc says so\n{}", ran.text));
}

/// Runs README's command for a PREFIX that pkg-config and the dynamic linker do not search, and the compiled program.
fn the_command_for_another_prefix_runs(env: &Env, prefix: &Path, scratch: &Path, report: &mut Report) {
    if !has("pkg-config") {
        return report.skip("pkg-config is not installed: README's command for another PREFIX is not checked");
    }
    let readme = env.read("README.md");
    let commands: Vec<&str> =
        readme.lines().filter(|line| line.starts_with("    cc") && line.contains("rpath")).collect();
    report.check(commands.len() == 1, format!("README has one command with -rpath: {commands:?}"));
    let directory = scratch.join("another prefix");
    fs::create_dir_all(&directory).expect("target is writable");
    fs::copy(prefix.join("share/doc/netlib/examples-c/get.c"), directory.join("get.c")).expect("get.c is installed");
    let script =
        format!("set -e\ncd '{}'\n{}\n./get-c 'ftp://example.com/'\n", directory.display(), commands.concat());
    let ran = env.command("sh").args(["-c", &script]).env("PREFIX", prefix).run(60);
    report.check(
        ran.code == Some(1) && ran.text.contains("the scheme is neither http nor https"),
        format!("README's command compiles get.c, which refuses an ftp URL: {:?}\n{}", ran.code, ran.text),
    );
}

/// Checks the installed files of a build without a shared library, as for musl.
fn static_library_only(env: &Env, library: &Path, scratch: &Path, report: &mut Report) {
    let (root, target) = (scratch.join("static"), scratch.join("copied"));
    copy_of_build(library, &target, "shared=yes", "shared=");
    let ran = make(env, "install", &root, &target).arg("LIBDIR=/opt/netlib/lib64").run(60);
    report.check(ran.ok, format!("make install of a static library\n{}", ran.text));
    let libdir = root.join("opt/netlib/lib64");
    let files = all_files(&libdir);
    let shared = files.iter().filter(|file| name(file).contains(".so")).count();
    report.check(libdir.join("libnetlib.a").is_file() && shared == 0, format!("only libnetlib.a: {files:?}"));
    let pc = fs::read_to_string(libdir.join("pkgconfig/netlib.pc")).unwrap_or_default();
    report.check(pc.contains("-lnetlib ${private}\n"), format!("netlib.pc lists all libraries in Libs\n{pc}"));
    let source = fs_write(scratch, "program.c", PROGRAM);
    let flags = Flags::ask(env, &libdir.join("pkgconfig"), report);
    let program = scratch.join("only-static");
    let built = env.cc().args(&flags.compile).arg(source).args(&flags.shared).arg("-o").arg(&program).run(300);
    report.check(built.ok, format!("a program links with Libs of a static library\n{}", built.text));
    let ran = env.command(&program).load_from(Path::new("/nonexistent")).run(60);
    report.check(ran.ok, format!("a program with Libs of a static library runs\n{}", ran.text));
}

/// Returns the files and links below a directory.
pub fn all_files(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for path in fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path()) {
        match path.is_dir() && !path.is_symlink() {
            true => files.extend(all_files(&path)),
            false => files.push(path),
        }
    }
    files
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
        tree.join("include/netlib.hpp"),
        tree.join("include/netlib.cdef.h"),
        tree.join("include/netlib.api.json"),
        libdir.join("cmake/netlib/netlib-config.cmake"),
        libdir.join("cmake/netlib/netlib-config-version.cmake"),
        tree.join("share/doc/netlib/LICENSE-MIT"),
        tree.join("share/doc/netlib/LICENSE-APACHE"),
        tree.join("share/doc/netlib/README.md"),
        tree.join("share/doc/netlib/docs/guide/first-request.md"),
        tree.join("share/doc/netlib/docs/pictures/architecture.svg"),
        tree.join("share/doc/netlib/docs/Doxyfile"),
        tree.join("share/doc/netlib/include/netlib.h"),
        tree.join("share/doc/netlib/examples-c/get.c"),
        tree.join("share/doc/netlib/examples-cpp/get.cpp"),
        tree.join("share/man/man3/netlib_parse_url.3.gz"),
        tree.join("share/man/man7/netlib.7.gz"),
    ] {
        report.check(file.is_file(), format!("{} is installed", name(&file)));
    }
    links::check_installed(&tree.join("share/doc/netlib"), report);
    let page = fs::read_link(tree.join("share/man/man3/netlib_url.3.gz")).ok();
    report.check(page == Some(PathBuf::from("../man7/netlib-url.7.gz")), "the page of netlib_url is a link");
    if has("readelf") {
        let sections = env.command("readelf").args(["-S", "-W"]).arg(libdir.join("libnetlib.so")).run(60).text;
        report.check(!sections.contains(".symtab") && !sections.contains(".debug_info"), "the library is stripped");
    }
    let pc = fs::read_to_string(libdir.join("pkgconfig/netlib.pc")).unwrap_or_default();
    report.check(!pc.contains('@') && pc.contains("${pcfiledir}"), format!("netlib.pc is relocatable\n{pc}"));

    let licence = format!("\nLicense: {}\n", std::env!("CARGO_PKG_LICENSE"));
    report.check(pc.contains(&licence), format!("netlib.pc states the licence\n{pc}"));
    notices(&tree.join("share/doc/netlib/THIRD-PARTY-NOTICES"), report);

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
    if programs.len() == 2 {
        let consumer = Consumer { env, sources: scratch, tree, libdir: &libdir };
        consumer.build_with_cmake(report);
        consumer.build_with_meson(report);
    }
    for example in examples::programs(env) {
        for (kind, link) in [("shared", &flags.shared), ("static", &flags.archive)] {
            let mut cc = env.cc();
            cc.args(&flags.compile)
                .args(&example.sources)
                .args(link)
                .args(example.libraries())
                .args(["-pthread", "-o"]);
            let built = cc.arg(scratch.join(format!("{kind}-{}", example.name))).run(300);
            report
                .check(built.ok, format!("{} builds from the installed tree, {kind}\n{}", example.name, built.text));
        }
    }
}

/// Checks that the notices contain the crates and licence texts that the library certainly contains.
fn notices(file: &Path, report: &mut Report) {
    let text = fs::read_to_string(file).unwrap_or_default();
    for part in ["\nrustls ", "\naws-lc-sys ", "aws-lc/LICENSE\n", "\nurl ", "Permission is hereby granted"] {
        report.check(text.contains(part), format!("THIRD-PARTY-NOTICES contains {part:?}"));
    }
    for part in ["\nrcgen ", "\ncbindgen ", "\ncc "] {
        report.check(!text.contains(part), format!("THIRD-PARTY-NOTICES does not contain {part:?}"));
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
