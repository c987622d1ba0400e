//! Checks that each program in `scripts` prints its usage for `--help`, and refuses arguments that it does not know. Checks
//! that scripts with regular expressions do not depend on the locale.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use crate::env::{Env, find, name};
use crate::report::Report;

/// The scripts with arguments that only another program can check: names of directories, files and targets, a seed, and
/// options of cargo.
const TAKE_ANY_NAME: &[&str] = &["build-lib", "cross", "recipes", "release", "sample-prose"];
const TAKE_ANY_OPTION: &[&str] = &["build-lib"];

/// The only programs in the PATH of shell scripts. A script that ignores an argument fails at the next program that it
/// runs, before it changes anything.
const TOOLS: &[&str] = &["dirname", "ls", "sed"];

pub fn run(env: &Env, report: &mut Report) {
    let scripts: Vec<_> = env.files("scripts", "", "").into_iter().filter(|path| is_executable(path)).collect();
    report.check(!scripts.is_empty(), "there are scripts");
    for script in scripts {
        check(env, &script, report);
        check_locale(&format!("scripts/{}", name(&script)), &fs::read(&script).expect("scripts"), report);
    }
    check_locale("Makefile", env.read("Makefile").as_bytes(), report);
    check_locale("docs/Doxyfile", env.read("docs/Doxyfile").as_bytes(), report);
}

/// Checks that a shell script with a range such as [a-z] sets the locale. In Turkish, for example, the range does not
/// contain "i", so that scripts/localise-symbols lost two thirds of the functions of the library.
pub fn check_locale(file: &str, text: &[u8], report: &mut Report) {
    let text = String::from_utf8_lossy(text);
    let has_range = ["a-z", "A-Z", "a-f"].iter().any(|range| text.contains(range));
    let is_right = !has_range || text.contains("LC_ALL=C") || text.starts_with("#!/usr/bin/env python3");
    report.check(is_right, format!("{file} contains a range of letters, but does not set LC_ALL=C"));
}

fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|file| file.permissions().mode() & 0o100 != 0)
}

pub fn check(env: &Env, script: &Path, report: &mut Report) {
    let tools = env.scratch("scripts");
    for (tool, path) in TOOLS.iter().filter_map(|tool| Some((tool, find(tool)?))) {
        symlink(path, tools.join(tool)).expect("target is writable");
    }
    let is_shell = fs::read(script).is_ok_and(|text| text.starts_with(b"#!/bin/sh\n"));
    let run = |argument: &str| {
        let mut command = env.command(script);
        if is_shell {
            command.env("PATH", &tools);
        }
        command.arg(argument).run(10)
    };
    let name = name(script);
    let usage = format!("usage: scripts/{name}");

    let asked = run("--help");
    report.check(
        asked.ok && asked.out.contains(&usage) && asked.out == asked.text,
        format!("scripts/{name} --help prints \"{usage}\" and succeeds, not {:?}\n{}", asked.code, asked.text),
    );
    for (argument, accepted_by) in [("--no-such-option", TAKE_ANY_OPTION), ("no-such-argument", TAKE_ANY_NAME)] {
        if accepted_by.contains(&name) {
            continue;
        }
        let refused = run(argument);
        report.check(
            refused.code == Some(2) && refused.out.is_empty() && refused.text.contains(&usage),
            format!(
                "scripts/{name} {argument} prints \"{usage}\" on standard error and exits with 2, not {:?}\n{}",
                refused.code, refused.text
            ),
        );
    }
}
