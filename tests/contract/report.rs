//! Counts checks and prints failures.

use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

/// The counts, failures and notes of a suite.
#[derive(Default)]
pub struct Report {
    pub passed: usize,
    pub failures: Vec<String>,
    /// The number of failures that a program under test counted and printed.
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

    /// Adds the numbers of passed and failed checks of a program that prints its failures itself.
    pub fn add(&mut self, passed: usize, failed: usize) {
        self.passed += passed;
        self.failed_elsewhere += failed;
    }

    /// Counts each problem as a failure, and an empty list of problems as one passed check.
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

    /// Returns true if the suite has checked nothing, because something is missing that it needs.
    pub fn is_skipped(&self) -> bool {
        self.passed == 0 && self.failed() == 0 && self.notes.iter().any(|note| note.starts_with("skipped: "))
    }

    /// Adds a failure to a suite that has checked nothing and does not say why.
    pub fn require_checks(&mut self) {
        if self.passed == 0 && self.failed() == 0 && !self.is_skipped() {
            self.fail("the suite checked nothing");
        }
    }

    pub fn merge(&mut self, other: Report) {
        self.passed += other.passed;
        self.failures.extend(other.failures);
        self.failed_elsewhere += other.failed_elsewhere;
        self.notes.extend(other.notes);
    }
}

/// Returns the first 25 lines of a text, indented. In a compiler's output, the first errors usually cause the later
/// ones.
fn indented(text: &str) -> String {
    const LINES: usize = 25;
    let mut lines: Vec<&str> = text.trim_end().lines().take(LINES + 1).collect();
    if lines.len() > LINES {
        lines[LINES] = "…";
    }
    lines.join("\n    ")
}

/// Runs a suite and prints its notes, failures and counts. A panic in the suite is a failure.
pub fn run(name: &str, suite: impl FnOnce(&mut Report)) -> Report {
    let start = Instant::now();
    let mut report = Report::default();
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| suite(&mut report))) {
        let what = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("?");
        report.fail(format!("the suite panicked: {what}"));
    }
    report.require_checks();
    for note in &report.notes {
        println!("  {}", indented(note));
    }
    for failure in &report.failures {
        println!("  FAILED {}", indented(failure));
    }
    let (passed, failed) = (report.passed, report.failed());
    let counts = if report.is_skipped() { "skipped".to_owned() } else { format!("{passed} passed, {failed} failed") };
    println!("suite {name}: {counts}   [{:.1} s]", start.elapsed().as_secs_f64());
    report
}
