//! Compares the ABI of netlib.h with the ABI that the files in `abi` record:
//!
//!     abi/soname                   the SONAME
//!     abi/netlib-0.MINOR.abi       functions, enums, structs and callback types, written by abidw
//!     abi/netlib-0.MINOR.macros    macros and their replacement texts
//!
//! abidw finds no C types in a Rust library. The suite therefore compiles a library of empty C functions from
//! netlib.h, and abidw reads the types from the debug information of that library. docs/reference/api-stability.md
//! states the rules that the suite enforces.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::cdef::signature;
use crate::env::{Env, has};
use crate::model::Header;
use crate::report::Report;

/// Macros that are not part of the ABI: the include guard, attributes, and the version.
const NOT_RECORDED: &[&str] = &["NETLIB_H", "NETLIB_INT32", "NETLIB_MUST_USE", "NETLIB_DEPRECATED_NOTE"];

/// The state of the project that decides which changes the suite allows.
pub struct Project {
    /// The version in Cargo.toml.
    pub version: String,
    pub soname: String,
    pub changelog: String,
    /// The directory with the recorded ABI.
    pub recorded: PathBuf,
}

impl Project {
    fn of(env: &Env) -> Project {
        Project {
            version: std::env!("CARGO_PKG_VERSION").to_owned(),
            soname: env.read("abi/soname"),
            changelog: env.read("CHANGELOG.md"),
            recorded: env.root.join("abi"),
        }
    }

    /// Returns the part of the version that the SONAME contains: "0.MINOR" before 1.0, else "MAJOR".
    fn abi_version(&self) -> String {
        let mut numbers = self.version.split('.');
        match (numbers.next(), numbers.next()) {
            (Some("0"), Some(minor)) => format!("0.{minor}"),
            (major, _) => major.unwrap_or("").to_owned(),
        }
    }

    /// Returns true if the first release with this ABI version is still to come: the ABI may change until then.
    fn is_unreleased(&self) -> bool {
        let is_first = self.version == format!("{}.0", self.abi_version())
            || self.version == format!("{}.0.0", self.abi_version());
        is_first && self.changelog.contains(&format!("\n## {}, unreleased\n", self.version))
    }

    fn file(&self, extension: &str) -> PathBuf {
        self.recorded.join(format!("netlib-{}.{extension}", self.abi_version()))
    }
}

pub fn run(env: &Env, report: &mut Report) {
    let project = Project::of(env);
    soname(&project, report);
    let (header, scratch) = (env.root.join("include/netlib.h"), env.scratch("abi"));
    check(env, &project, &header, &scratch, report);
}

/// Checks that abi/soname contains the ABI version, and that no file of another ABI version is left.
pub fn soname(project: &Project, report: &mut Report) {
    let start = format!("netlib-{}.", project.abi_version());
    for entry in fs::read_dir(&project.recorded).into_iter().flatten().flatten() {
        let file = entry.file_name().to_string_lossy().into_owned();
        let is_record = file.ends_with(".abi") || file.ends_with(".macros");
        report.check(
            !is_record || file.starts_with(&start),
            format!("abi/{file} belongs to another SONAME than version {}: delete it", project.version),
        );
    }
    let expected = format!("libnetlib.so.{}\n", project.abi_version());
    report.check(
        project.soname == expected,
        format!("abi/soname is {:?}, but version {} needs {expected:?}", project.soname, project.version),
    );
}

/// Compares the ABI of a header with the recorded ABI.
pub fn check(env: &Env, project: &Project, header: &Path, scratch: &Path, report: &mut Report) {
    let changes = match changes(env, project, header, scratch) {
        Ok(changes) => changes,
        Err(Failure::MissingTool(tool)) => return report.skip(tool),
        Err(Failure::Broken(text)) => return report.fail(text),
    };
    let advice = advice(project);
    report.check(
        changes.breaks.is_empty(),
        format!("the ABI of netlib.h breaks programs. {advice}\n{}", changes.breaks),
    );
    report.check(
        changes.additions.is_empty(),
        format!("netlib.h extends the ABI: run `make abi`, which records the change in abi/\n{}", changes.additions),
    );
}

fn advice(project: &Project) -> String {
    match project.is_unreleased() {
        true => format!("{} is not released yet: run `make abi`, which records the change in abi/", project.version),
        false => format!(
            "A release with {} exists: undo the change, or raise {} in Cargo.toml, abi/soname and CHANGELOG.md",
            project.soname.trim_end(),
            if project.version.starts_with("0.") { "the minor version" } else { "the major version" },
        ),
    }
}

/// Records the ABI of netlib.h in abi/, unless it breaks the ABI of a release.
pub fn record(env: &Env) -> ExitCode {
    match write(env, &Project::of(env), &env.root.join("include/netlib.h"), &env.scratch("abi-record")) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::MissingTool(text) | Failure::Broken(text)) => {
            eprintln!("abi: {text}");
            ExitCode::FAILURE
        }
    }
}

pub fn write(env: &Env, project: &Project, header: &Path, scratch: &Path) -> Result<(), Failure> {
    let is_recorded = project.file("abi").exists();
    if is_recorded && !project.is_unreleased() {
        let changes = changes(env, project, header, scratch)?;
        if !changes.breaks.is_empty() {
            return Err(Failure::Broken(format!("{}\n{}", advice(project), changes.breaks)));
        }
    }
    let library = stub_library(env, header, scratch)?;
    for (extension, text) in [("abi", types(env, &library)?), ("macros", macros(env, header)?)] {
        fs::write(project.file(extension), text).map_err(|error| Failure::Broken(error.to_string()))?;
    }
    Ok(())
}

/// The reason why the ABI could not be compared.
pub enum Failure {
    MissingTool(String),
    Broken(String),
}

/// The differences between netlib.h and the recorded ABI, one per line or paragraph.
#[derive(Default)]
struct Changes {
    /// Added items, and changes that programs do not notice, such as a parameter that becomes a pointer to const.
    additions: String,
    /// Removed items, and changes that break programs.
    breaks: String,
}

fn changes(env: &Env, project: &Project, header: &Path, scratch: &Path) -> Result<Changes, Failure> {
    let mut changes = Changes::default();
    let recorded = project.file("macros");
    let Ok(text) = fs::read_to_string(&recorded) else {
        return Err(Failure::Broken(format!("{} does not exist: run `make abi`", recorded.display())));
    };
    compare_macros(&text, &macros(env, header)?, &mut changes);
    let library = stub_library(env, header, scratch)?;
    let generated = scratch.join("netlib.abi");
    fs::write(&generated, types(env, &library)?).expect("target is writable");
    // Without --harmless, abidiff reports neither added enumerators nor changes that programs do not notice.
    let recorded = project.file("abi");
    let diff = |options: &[&str]| env.command("abidiff").args(options).arg(&recorded).arg(&generated).run(300);
    let without_additions = diff(&["--no-added-syms"]);
    if !without_additions.ok {
        changes.breaks += &without_additions.text;
    } else {
        let all = diff(&["--harmless"]);
        if !all.ok {
            changes.additions += &all.text;
        }
    }
    Ok(changes)
}

/// Compiles a shared library that defines every function of a header without code, and one variable of every enum and
/// struct, so that the debug information describes all types.
fn stub_library(env: &Env, header: &Path, scratch: &Path) -> Result<PathBuf, Failure> {
    for (tool, package) in [("abidw", "abigail-tools"), ("abidiff", "abigail-tools"), ("gcc", "gcc")] {
        if !has(tool) {
            return Err(Failure::MissingTool(format!("{tool} is not installed (package {package})")));
        }
    }
    let text = fs::read_to_string(header).expect("the header is readable");
    let (source, library) = (scratch.join("netlib.c"), scratch.join("libnetlib.so"));
    fs::write(&source, stub(&Header::parse(&text))).expect("target is writable");
    let include = header.parent().expect("a directory");
    let mut gcc = env.command("gcc");
    gcc.args(["-std=c11", "-g", "-O0", "-shared", "-fPIC", "-w", "-I"]).arg(include).arg(&source);
    // The record must not depend on the directory in which it is written.
    gcc.arg(format!("-ffile-prefix-map={}/=", scratch.display()));
    match gcc.arg("-o").arg(&library).run(300).or_text() {
        Ok(()) => Ok(library),
        Err(text) => {
            Err(Failure::Broken(format!("a library with the functions of netlib.h does not compile\n{text}")))
        }
    }
}

fn stub(header: &Header) -> String {
    let mut text = "#include <netlib.h>\n".to_owned();
    let mut constants = String::new();
    for listed in &header.enums {
        // A constant outside of the enums has an enum without a name.
        match listed.values.iter().any(|value| value.name == listed.name) {
            true => constants += &format!("    netlib_abi_{0} = {0},\n", listed.name),
            false => _ = writeln!(text, "enum {0} netlib_abi_{0};", listed.name),
        }
    }
    if !constants.is_empty() {
        let _ = writeln!(text, "enum netlib_abi_constants {{\n{constants}}} netlib_abi_constants;");
    }
    for item in &header.structs {
        let _ = writeln!(text, "{0} netlib_abi_{0};", item.name);
    }
    for callback in &header.callbacks {
        let _ = writeln!(text, "{0} netlib_abi_{0};", callback.name);
    }
    for function in &header.functions {
        let _ = writeln!(text, "{} {{ __builtin_trap(); }}", signature(function, &function.name));
    }
    text
}

fn types(env: &Env, library: &Path) -> Result<String, Failure> {
    let mut abidw = env.command("abidw");
    abidw.args(["--no-corpus-path", "--no-comp-dir-path", "--no-show-locs", "--no-architecture", "--no-elf-needed"]);
    abidw.args(["--no-write-default-sizes", "--no-parameter-names", "--type-id-style", "hash"]);
    let ran = abidw.arg(library).run(300);
    match ran.ok {
        true => Ok(ran.out),
        false => Err(Failure::Broken(format!("abidw failed\n{}", ran.text))),
    }
}

/// Returns one line per recorded macro: its name and, after a space, its replacement text.
fn macros(env: &Env, header: &Path) -> Result<String, Failure> {
    let ran = env.cc().args(["-std=c11", "-E", "-dM"]).arg(header).run(60);
    if !ran.ok {
        return Err(Failure::Broken(format!("the macros of netlib.h cannot be listed\n{}", ran.text)));
    }
    let all = ran.out.lines().filter_map(|line| line.strip_prefix("#define "));
    let name = |line: &str| line.split([' ', '(']).next().unwrap_or("").to_owned();
    let is_recorded = |line: &&str| {
        let name = name(line);
        name.starts_with("NETLIB_") && !name.starts_with("NETLIB_VERSION") && !NOT_RECORDED.contains(&name.as_str())
    };
    let mut lines: Vec<&str> = all.filter(is_recorded).collect();
    lines.sort_unstable();
    Ok(lines.into_iter().map(|line| line.trim_end().to_owned() + "\n").collect())
}

fn compare_macros(recorded: &str, current: &str, changes: &mut Changes) {
    let parse = |text: &str| -> BTreeMap<String, String> {
        let split = |line: &str| line.split_once(' ').map(|(name, value)| (name.to_owned(), value.to_owned()));
        text.lines().filter_map(split).collect()
    };
    let (recorded, current) = (parse(recorded), parse(current));
    for (name, value) in &recorded {
        match current.get(name) {
            None => _ = writeln!(changes.breaks, "macro {name} is removed"),
            Some(other) if other != value => {
                _ = writeln!(changes.breaks, "macro {name} changes from {value} to {other}");
            }
            Some(_) => {}
        }
    }
    for name in current.keys().filter(|name| !recorded.contains_key(*name)) {
        let _ = writeln!(changes.additions, "macro {name} is added");
    }
}
