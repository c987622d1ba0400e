//! Checks that each program in `scripts` prints its usage for `--help`, and refuses arguments that it does not know.

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
    }
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
