//! Runs a Python program that calls the library with ctypes, and in which SIGINT ends a wait.

use crate::env::{Env, has};
use crate::report::Report;

pub fn run(env: &Env, report: &mut Report) {
    if !has("python3") {
        return report.skip("python3 is not installed");
    }
    let ran = env
        .command("python3")
        .arg(env.root.join("tests/python/interrupts.py"))
        .arg(env.library().join("libnetlib.so"))
        .run(60);
    for line in ran.out.lines() {
        report.check(line.ends_with(": passed"), line);
    }
    report.check(ran.ok, format!("interrupts.py succeeds\n{}", ran.text));
}
