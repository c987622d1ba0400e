//! Counting checks, and saying what failed.

use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

/// What a suite found.
#[derive(Default)]
pub struct Report {
    pub passed: usize,
    pub failures: Vec<String>,
    /// Failures that a program under test counted and printed itself.
    pub failed_elsewhere: usize,
    pub notes: Vec<String>,
}

impl Report {
    pub fn failed(&self) -> usize {
        self.failures.len() + self.failed_elsewhere
    }

    pub fn check(&mut self, ok: bool, what: impl Display) -> bool {
        match ok {
            true => self.passed += 1,
            false => self.fail(what),
        }
        ok
    }

    pub fn fail(&mut self, what: impl Display) {
        self.failures.push(what.to_string());
    }

    /// Checks that were counted elsewhere: `failed` are printed there too.
    pub fn add(&mut self, passed: usize, failed: usize) {
        self.passed += passed;
        self.failed_elsewhere += failed;
    }

    /// One check for each failure found, or one that passed.
    pub fn problems(&mut self, what: impl Display, problems: Vec<String>) {
        if problems.is_empty() {
            self.passed += 1;
        }
        problems.into_iter().for_each(|problem| self.fail(format!("{what}: {problem}")));
    }

    pub fn skip(&mut self, what: impl Display) {
        self.notes.push(format!("skipped: {what}"));
    }

    pub fn note(&mut self, what: impl Display) {
        self.notes.push(what.to_string());
    }

    pub fn merge(&mut self, other: Report) {
        self.passed += other.passed;
        self.failures.extend(other.failures);
        self.failed_elsewhere += other.failed_elsewhere;
        self.notes.extend(other.notes);
    }
}

/// The first lines of a text: the first errors of a compiler matter, not the hundredth.
fn indented(text: &str) -> String {
    const LINES: usize = 25;
    let mut lines: Vec<&str> = text.trim_end().lines().take(LINES + 1).collect();
    if lines.len() > LINES {
        lines[LINES] = "…";
    }
    lines.join("\n    ")
}

/// Runs one suite and prints its lines. A panic in a suite is a failure of it.
pub fn run(name: &str, suite: impl FnOnce(&mut Report)) -> Report {
    let start = Instant::now();
    let mut report = Report::default();
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| suite(&mut report))) {
        let what = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("?");
        report.fail(format!("the suite itself broke: {what}"));
    }
    for note in &report.notes {
        println!("  {}", indented(note));
    }
    for failure in &report.failures {
        println!("  FAILED {}", indented(failure));
    }
    let (passed, failed) = (report.passed, report.failed());
    println!("suite {name}: {passed} passed, {failed} failed   [{:.1} s]", start.elapsed().as_secs_f64());
    report
}
