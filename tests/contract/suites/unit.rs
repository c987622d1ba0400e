//! Runs the Rust unit tests through cargo.

use crate::env::{Env, Ran};
use crate::report::Report;

pub fn run(env: &Env, report: &mut Report) {
    check(&env.command(std::env!("CARGO")).args(["test", "--quiet", "--lib"]).run(1800), report);
}

/// Adds the numbers of passed and failed tests that cargo printed.
pub fn check(tests: &Ran, report: &mut Report) {
    let results: Vec<&str> = tests.text.lines().filter(|line| line.starts_with("test result: ")).collect();
    for line in &results {
        let count = |word: &str| {
            let before = line.split(word).next().unwrap_or("").trim_end();
            before.rsplit(' ').next().and_then(|number| number.parse::<usize>().ok()).unwrap_or(0)
        };
        report.add(count(" passed"), count(" failed"));
    }
    if (!tests.ok || results.is_empty()) && report.failed() == 0 {
        report.fail("cargo test --lib");
    }
    if !tests.ok {
        report.note(&tests.text);
    }
}
