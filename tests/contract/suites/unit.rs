//! The Rust unit tests, counted with the rest.

use crate::env::Env;
use crate::report::Report;

pub fn run(env: &Env, report: &mut Report) {
    let tests = env.command(std::env!("CARGO")).args(["test", "--quiet", "--lib"]).run(1800);
    let mut seen = false;
    for line in tests.text.lines().filter(|line| line.starts_with("test result: ")) {
        let count = |word: &str| {
            let before = line.split(word).next().unwrap_or("").trim_end();
            before.rsplit(' ').next().and_then(|number| number.parse::<usize>().ok()).unwrap_or(0)
        };
        report.add(count(" passed"), count(" failed"));
        seen = true;
    }
    if !tests.ok || !seen {
        if report.failed() == 0 {
            report.fail("cargo test --lib");
        }
        report.note(&tests.text);
    }
}
