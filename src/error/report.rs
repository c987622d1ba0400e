//! The report of an error: indented lines with the messages and the advice of the error and its causes.

use std::ffi::{CStr, CString};

use once_cell::race::OnceBox;

/// The maximum length of a report in bytes. Without a maximum, the report could have any length, because the
/// application may create errors with long messages.
pub(super) const MAX_LENGTH: usize = 65_536;

/// Ends a report that was truncated.
const ELLIPSIS: &str = "…";

/// The report of an error, made on first use. A clone of an error does not copy the report, because the clone may get
/// another message.
#[derive(Debug, Default)]
pub(super) struct CachedReport(OnceBox<CString>);

impl Clone for CachedReport {
    fn clone(&self) -> CachedReport {
        CachedReport::default()
    }
}

impl CachedReport {
    /// Returns the report, which the first call makes with `write`; `None` if memory runs out.
    pub(super) fn get_or_make(&self, write: impl FnOnce(&mut ReportWriter)) -> Option<&CStr> {
        if let Some(report) = self.0.get() {
            return Some(report);
        }
        let mut writer = ReportWriter::default();
        write(&mut writer);
        let report = writer.finish()?;
        Some(self.0.get_or_init(|| Box::new(report)))
    }
}

#[derive(Default)]
pub(super) struct ReportWriter {
    text: Vec<u8>,
    has_lines: bool,
    state: State,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    Open,
    /// The report has reached its maximum length.
    Full,
    OutOfMemory,
}

impl ReportWriter {
    /// Returns false if the report is full, or if memory has run out.
    pub(super) fn is_open(&self) -> bool {
        self.state == State::Open
    }

    /// Appends a line that is indented by two blanks for each level.
    pub(super) fn line(&mut self, level: usize, label: &str, text: &str) {
        if self.has_lines {
            self.push("\n");
        }
        self.has_lines = true;
        (0..level).for_each(|_| self.push("  "));
        self.push(label);
        self.push(text);
    }

    fn push(&mut self, text: &str) {
        if !self.is_open() {
            return;
        }
        let room = MAX_LENGTH.saturating_sub(self.text.len() + ELLIPSIS.len());
        let fits = text.len() <= room;
        let shown = if fits { text } else { truncated(text, room) };
        // Reserves space for the text, and for the ellipsis and the NUL that may follow the text.
        if self.text.try_reserve(shown.len() + ELLIPSIS.len() + 1).is_err() {
            self.state = State::OutOfMemory;
            return;
        }
        self.text.extend_from_slice(shown.as_bytes());
        if !fits {
            self.text.extend_from_slice(ELLIPSIS.as_bytes());
            self.state = State::Full;
        }
    }

    fn finish(mut self) -> Option<CString> {
        if self.state == State::OutOfMemory {
            return None;
        }
        self.text.push(0);
        CString::from_vec_with_nul(self.text).ok()
    }
}

/// Returns the longest prefix of the text that has at most `length` bytes and ends at a character boundary.
fn truncated(text: &str, length: usize) -> &str {
    (0..=length).rev().find_map(|end| text.get(..end)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_that_failed_for_lack_of_memory_is_made_by_the_next_call() {
        let cached = CachedReport::default();
        assert_eq!(cached.get_or_make(|writer| writer.state = State::OutOfMemory), None);
        assert_eq!(cached.get_or_make(|writer| writer.line(1, "a: ", "b")), Some(c"  a: b"));
        assert_eq!(cached.get_or_make(|_| panic!("the report is cached")), Some(c"  a: b"));
        assert_eq!(cached.clone().get_or_make(|writer| writer.line(0, "", "c")), Some(c"c"));
    }

    #[test]
    fn long_reports_are_truncated_between_characters() {
        let room = MAX_LENGTH - ELLIPSIS.len();
        for (text, expected) in [
            ("x".repeat(room), "x".repeat(room)),
            ("x".repeat(room + 1), "x".repeat(room) + ELLIPSIS),
            ("é".repeat(room / 2 + 1), "é".repeat(room / 2) + ELLIPSIS),
            ("x".repeat(room - 1) + "éé", "x".repeat(room - 1) + ELLIPSIS),
        ] {
            let mut writer = ReportWriter::default();
            writer.line(0, "", &text);
            assert_eq!(writer.is_open(), text == expected);
            writer.line(0, "", "y");
            let report = writer.finish().unwrap();
            let expected = if text == expected { expected + ELLIPSIS } else { expected };
            assert!(report.to_bytes() == expected.as_bytes(), "{}", report.count_bytes());
        }
    }
}
