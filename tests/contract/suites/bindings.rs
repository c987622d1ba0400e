//! Checks the descriptions of the C API for bindings. netlib.api.json must describe every function completely.
//! netlib.cdef.h must contain the declarations that the C preprocessor finds in netlib.h, and must load in cffi, LuaJIT
//! and PHP.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::cdef::integer;
use crate::description;
use crate::env::{Env, has};
use crate::model::Header;
use crate::report::Report;

pub fn run(env: &Env, report: &mut Report) {
    let scratch = env.scratch("bindings");
    describes(&env.header(), report);
    compare_with_preprocessor(env, &env.read("include/netlib.cdef.h"), &scratch, report);
    binding_in_python(env, &env.header(), report);
    for language in LANGUAGES {
        load(env, language, &env.header(), &scratch, report);
    }
}

/// Checks that netlib.api.json describes every item of the header completely.
pub fn describes(header: &Header, report: &mut Report) {
    let problems = description::check::problems(header);
    report.problems(
        "netlib.api.json",
        problems.into_iter().map(|(name, problem)| format!("{name}: {problem}")).collect(),
    );
}

/// A program whose preprocessed form has the declarations of netlib.h after `#pragma netlib`.
const PREPROCESSED: &str = "\
#include <stddef.h>
#include <stdint.h>
#undef INT32_MIN
#define INT32_MIN -2147483648
#pragma netlib
#include <netlib.h>
";

/// Checks that `cdef` has the declarations that the C compiler's preprocessor finds in netlib.h.
pub fn compare_with_preprocessor(env: &Env, cdef: &str, scratch: &Path, report: &mut Report) {
    let source = scratch.join("preprocessed.c");
    fs::write(&source, PREPROCESSED).expect("target is writable");
    let run = env.cc().args(["-std=c99", "-E", "-P", "-DNETLIB_PLAIN_C", "-Iinclude"]).arg(source).run(60);
    if !report.check(run.ok, format!("netlib.h is preprocessed\n{}", run.text)) {
        return;
    }
    let preprocessed = declarations(run.out.split("#pragma netlib\n").last().unwrap_or(""));
    let written = declarations(cdef);
    let missing = preprocessed.difference(&written).map(|text| format!("netlib.h declares \"{text}\""));
    let extra = written.difference(&preprocessed).map(|text| format!("netlib.h does not declare \"{text}\""));
    report.problems("netlib.cdef.h", missing.chain(extra).collect());
}

/// Returns the declarations of a text without comments, with spaces only where C needs them, and with the values of
/// enumerators as numbers. Leaves out the declaration of a struct without fields, which follows the struct's typedef.
fn declarations(text: &str) -> BTreeSet<String> {
    let code: String = text.split("/*").map(|part| part.rsplit("*/").next().unwrap_or("")).collect();
    let mut found = BTreeSet::new();
    let (mut declaration, mut depth) = (String::new(), 0);
    for c in code.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if c == ';' && depth == 0 {
            let compact = compact(&std::mem::take(&mut declaration));
            if !compact.starts_with("struct ") || compact.contains('{') {
                found.insert(compact);
            }
        } else {
            declaration.push(c);
        }
    }
    found
}

fn compact(declaration: &str) -> String {
    let mut text = declaration.split_whitespace().collect::<Vec<_>>().join(" ");
    for mark in ["{", "}", "(", ")", "*", ",", "=", ";"] {
        text = text.replace(&format!(" {mark}"), mark).replace(&format!("{mark} "), mark);
    }
    // Replaces the expressions for the two smallest signed 32-bit integers with the integers themselves.
    text.replace("-2147483648 + 1", "-2147483647").replace("-2147483647 - 1", "-2147483648")
}

/// The output of tests/bindings/api.py.
const CALLS: &str = "\
url: example.com 8443 None
same origin: True https://user@example.com:8443/c
error: NETLIB_INVALID_URL 7 the host's bracket is not closed, at byte 7
refused: value contains a NUL
options: NETLIB_INVALID_HEADER
retry: ['GET', 'PUT'] False
response: 503 21
decision: True
slept: [0.05]
raised: StopIteration
callbacks held: 0
body: 10 b'0123' b'456789'
connected with a filter that raises: 0 of 10, NETLIB_CALLBACK_FAILED
progress: NETLIB_TIMED_OUT
cancelled: NETLIB_CANCELLED
";

/// Runs a Python program that makes a binding from netlib.api.json, and one that compares the declarations of
/// netlib.api.json and netlib.cdef.h.
fn binding_in_python(env: &Env, header: &Header, report: &mut Report) {
    if !has("python3") {
        return report.skip("python3 is not installed");
    }
    let constants = header.enums.iter().map(|listed| listed.values.len()).sum::<usize>();
    let counts = format!("{} functions, {constants} constants\n", header.functions.len());
    let library = env.library().join("libnetlib.so");
    let declarations = env.root.join("include/netlib.cdef.h");
    for (script, argument, expected) in [("api.py", library, CALLS), ("declarations.py", declarations, &counts)] {
        let mut python = env.command("python3");
        python.arg(env.root.join("tests/bindings").join(script)).arg(env.root.join("include/netlib.api.json"));
        let ran = python.arg(argument).load_from(env.library()).run(60);
        report.check(
            ran.ok && ran.out == expected,
            format!("tests/bindings/{script} prints the expected text; it printed\n{}", ran.text),
        );
    }
}

/// A language whose foreign-function interface reads C declarations.
pub struct Language {
    name: &'static str,
    /// The program that runs a script, and its first arguments.
    command: &'static [&'static str],
    script: &'static str,
    /// A program that succeeds if the foreign-function interface is installed, and its arguments.
    probe: &'static [&'static str],
}

pub const LANGUAGES: &[Language] = &[
    Language {
        name: "cffi",
        command: &["python3"],
        script: "tests/bindings/cdef.py",
        probe: &["python3", "-c", "import cffi"],
    },
    Language {
        name: "LuaJIT",
        command: &["luajit"],
        script: "tests/bindings/cdef.lua",
        probe: &["luajit", "-e", "require('ffi')"],
    },
    Language {
        name: "PHP's FFI",
        command: &["php", "-d", "ffi.enable=1"],
        script: "tests/bindings/cdef.php",
        probe: &["php", "-r", "exit(extension_loaded('ffi') ? 0 : 1);"],
    },
];

/// Loads netlib.cdef.h, compares the value of every constant with the header, parses a URL, and reads an error.
pub fn load(env: &Env, language: &Language, header: &Header, scratch: &Path, report: &mut Report) {
    let is_installed = has(language.probe[0]) && env.command(language.probe[0]).args(&language.probe[1..]).run(60).ok;
    if !is_installed {
        return report.skip(format!("{} is not installed", language.name));
    }
    let (mut names, mut expected) = (String::new(), String::new());
    for constant in header.enums.iter().flat_map(|listed| &listed.values) {
        let _ = writeln!(names, "{}", constant.name);
        let _ = writeln!(expected, "{} {}", constant.name, integer(&constant.value));
    }
    expected += "host 0 example.com\nerror 600 7\n";
    let file = scratch.join("names");
    fs::write(&file, names).expect("target is writable");
    let mut command = env.command(language.command[0]);
    command.args(&language.command[1..]).arg(env.root.join(language.script));
    command.arg(env.root.join("include/netlib.cdef.h")).arg(env.library().join("libnetlib.so")).arg(&file);
    let ran = command.load_from(env.library()).run(60);
    let (out, wanted): (Vec<&str>, Vec<&str>) = (ran.out.lines().collect(), expected.lines().collect());
    let differs = wanted.iter().zip(&out).find(|(wanted, got)| wanted != got);
    report.check(
        ran.ok && out == wanted,
        format!(
            "netlib.cdef.h in {}: the first difference is {differs:?}\n{}",
            language.name,
            &ran.text[ran.out.len()..]
        ),
    );
}
