//! The history of a Retry: one entry per call of `increment`.
//!
//! Each call of `increment` makes a Retry with one more entry, and the old and the new Retry may exist at the same
//! time. All Retries of a request share their entries in a linked list whose newest entry comes first.

use std::ffi::{CStr, CString};
use std::fmt;
use std::sync::Arc;

use once_cell::race::OnceBox;

use crate::error::{Error, Result};
use crate::memory;
use crate::retry::{Count, name_set};
use crate::status::Status;
use crate::url::Url;

/// The redacted form of text that is not a URL.
const HIDDEN: &[u8] = b"***";

/// The maximum number of history entries that are added to an error as causes.
const MAX_ATTEMPTS: usize = 16;
/// The maximum number of causes of an error. Without a maximum, an error that the application passes to `increment`
/// repeatedly would grow each time.
const MAX_CAUSES: usize = 64;

/// A request and its outcome, recorded because another request may follow.
pub struct HistoryEntry {
    /// Method, URL and redirect location, each followed by a NUL. For an absent text, not even a NUL is stored.
    text: Vec<u8>,
    /// For each of the three texts, the offset after its NUL.
    ends: [usize; 3],
    error: Option<Arc<Error>>,
    status: Option<u16>,
    has_retry_after: bool,
    /// The redacted URL and the redacted location, made on first use.
    redacted: [OnceBox<CString>; 2],
}

impl HistoryEntry {
    pub fn new(
        method: Option<&CStr>,
        url: Option<&CStr>,
        error: Option<&Arc<Error>>,
        status: Option<u16>,
        redirect_location: Option<&CStr>,
    ) -> Result<HistoryEntry> {
        let texts = [method, url, redirect_location].map(|text| text.map_or(&[][..], CStr::to_bytes_with_nul));
        let mut text = Vec::new();
        let length = texts.iter().fold(0usize, |sum, text| sum.saturating_add(text.len()));
        memory::reserve(&mut text, length, "an entry of the history")?;
        let ends = texts.map(|part| {
            text.extend_from_slice(part);
            text.len()
        });
        let error = error.map(Error::without_payload);
        Ok(HistoryEntry { text, ends, error, status, has_retry_after: false, redacted: Default::default() })
    }

    /// Creates an entry from values of the caller. Fails if the method is not a token or the status is not a status
    /// code.
    pub fn checked(
        method: Option<&CStr>,
        url: Option<&CStr>,
        error: Option<&Arc<Error>>,
        status: Count,
        redirect_location: Option<&CStr>,
    ) -> Result<HistoryEntry> {
        if let Some(method) = method {
            name_set::check_token("method", method)?;
        }
        let status = match status {
            Count::None => None,
            Count::Number(code @ 100..=999) => u16::try_from(code).ok(),
            other => {
                let message = format!("status must be 100 to 999 or NETLIB_NONE; it is {}", other.code());
                return Err(Error::new(Status::InvalidArgument, message));
            }
        };
        HistoryEntry::new(method, url, error, status, redirect_location)
    }

    pub fn method(&self) -> Option<&CStr> {
        self.part(0)
    }

    pub fn url(&self) -> Option<&CStr> {
        self.part(1)
    }

    pub fn error(&self) -> Option<&Arc<Error>> {
        self.error.as_ref()
    }

    pub fn status(&self) -> Option<u16> {
        self.status
    }

    /// Records whether the response had a Retry-After header.
    pub(super) fn with_retry_after(self, has_retry_after: bool) -> HistoryEntry {
        HistoryEntry { has_retry_after, ..self }
    }

    pub(super) fn has_retry_after(&self) -> bool {
        self.has_retry_after
    }

    pub fn redirect_location(&self) -> Option<&CStr> {
        self.part(2)
    }

    /// Returns the outcome of the request as an error.
    fn outcome(&self) -> Arc<Error> {
        self.error.clone().unwrap_or_else(|| {
            let message = match self.status {
                Some(status) => format!("the server answered {status}"),
                None => "the request failed".to_owned(),
            };
            Arc::new(Error::new(Status::ResponseStatus, message).with_http_status(self.status))
        })
    }

    /// Returns the URL without its secrets; `None` if there is no URL or memory runs out.
    pub fn redacted_url(&self) -> Option<&CStr> {
        redacted(self.url()?, &self.redacted[0])
    }

    /// Returns the location without its secrets; `None` if there is no location or memory runs out.
    pub fn redacted_redirect_location(&self) -> Option<&CStr> {
        redacted(self.redirect_location()?, &self.redacted[1])
    }

    /// Returns whether the server may have acted on the request.
    pub(super) fn was_sent(&self) -> bool {
        self.status.is_some() || self.error.as_ref().is_some_and(|error| error.was_sent())
    }

    fn part(&self, part: usize) -> Option<&CStr> {
        let start = if part == 0 { 0 } else { self.ends[part - 1] };
        CStr::from_bytes_with_nul(self.text.get(start..self.ends[part])?).ok()
    }
}

/// Returns the redacted form of a URL, made on the first call. Text that is not a URL is hidden completely, because any
/// part of it may be secret.
fn redacted<'a>(text: &CStr, made: &'a OnceBox<CString>) -> Option<&'a CStr> {
    if let Some(made) = made.get() {
        return Some(made);
    }
    let copy = match Url::parse(text.to_bytes()) {
        Ok(url) => memory::copy_c_string(url.redacted().ok()?.to_bytes(), "a redacted URL").ok()?,
        Err(error) if error.status() == Status::OutOfMemory => return None,
        Err(_) => memory::copy_c_string(HIDDEN, "a redacted URL").ok()?,
    };
    Some(made.get_or_init(|| Box::new(copy)))
}

/// A list of entries, oldest first. Cloning a history or adding an entry copies no other entry.
#[derive(Clone, Default)]
pub struct History {
    last: Option<Arc<Node>>,
}

struct Node {
    entry: HistoryEntry,
    index: usize,
    /// The number of consecutive failures up to and including this entry. A redirect resets the number to 0.
    failures: usize,
    previous: Option<Arc<Node>>,
    /// An older node, chosen so that a node n entries back is reached in O(log n) steps (as in Myers, "An applicative
    /// random-access stack", 1983). Repeated steps through `previous` also reach this node.
    jump: Option<Arc<Node>>,
}

impl History {
    /// Returns this history with one more entry.
    pub fn with(&self, entry: HistoryEntry) -> History {
        let (index, failures, jump) = match &self.last {
            None => (0, 0, None),
            Some(last) => (last.index + 1, last.failures, Some(Arc::clone(last.next_jump().unwrap_or(last)))),
        };
        let failures = if entry.redirect_location().is_none() { failures + 1 } else { 0 };
        History { last: Some(Arc::new(Node { entry, index, failures, previous: self.last.clone(), jump })) }
    }

    pub fn len(&self) -> usize {
        self.last.as_ref().map_or(0, |last| last.index + 1)
    }

    pub fn is_empty(&self) -> bool {
        self.last.is_none()
    }

    pub fn get(&self, index: usize) -> Option<&HistoryEntry> {
        let mut node = self.last.as_ref().filter(|last| index <= last.index)?;
        while node.index != index {
            node = match &node.jump {
                Some(jump) if jump.index >= index => jump,
                _ => node.previous.as_ref()?,
            };
        }
        Some(&node.entry)
    }

    pub fn last(&self) -> Option<&HistoryEntry> {
        self.last.as_ref().map(|last| &last.entry)
    }

    pub fn iter(&self) -> impl Iterator<Item = &HistoryEntry> {
        (0..self.len()).filter_map(|index| self.get(index))
    }

    /// Adds the outcomes in the history as causes to the error of an ended limit, oldest first. If the history is long,
    /// only its newest outcomes are added. If the error's status is not that of an ended limit, the error is returned
    /// unchanged.
    pub(super) fn with_attempts(&self, error: Error) -> Error {
        if !error.status().is_from_limit() {
            return error;
        }
        let room = MAX_CAUSES.saturating_sub(error.causes().len()).min(MAX_ATTEMPTS);
        let attempts = self.len().saturating_sub(room)..self.len();
        attempts.filter_map(|index| self.get(index)).fold(error, |error, entry| error.with_cause(entry.outcome()))
    }

    /// Returns the number of consecutive failures at the end of the history.
    pub(super) fn consecutive_failures(&self) -> usize {
        self.last.as_ref().map_or(0, |last| last.failures)
    }
}

impl Node {
    /// Returns the node to which the `jump` of the next node refers; `None` if it refers to this node. If the jump from
    /// this node and the jump after it have the same length, the result is the node that the second jump reaches.
    fn next_jump(&self) -> Option<&Arc<Node>> {
        let first = self.jump.as_ref()?;
        let second = first.jump.as_ref()?;
        (self.index - first.index == first.index - second.index).then_some(second)
    }
}

impl Drop for History {
    /// Drops the entries one by one, because the derived drop would recurse once per entry.
    fn drop(&mut self) {
        let mut last = self.last.take();
        while let Some(mut node) = last.take().and_then(Arc::into_inner) {
            // `previous` is taken before `jump` is dropped, so `jump` is never the last reference to its node.
            last = node.previous.take();
        }
    }
}

/// The debug output contains only the count, because entries may be long and contain secrets.
impl fmt::Debug for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "History({} entries)", self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(number: usize, location: Option<&CStr>) -> HistoryEntry {
        let url = std::ffi::CString::new(number.to_string()).unwrap();
        HistoryEntry::new(Some(c"GET"), Some(&url), None, Some(302), location).unwrap()
    }

    #[test]
    fn history_entries_distinguish_absent_and_empty_texts() {
        for method in [None, Some(c""), Some(c"GET")] {
            for url in [None, Some(c""), Some(c"/\xff")] {
                for location in [None, Some(c""), Some(c"x")] {
                    let entry = HistoryEntry::new(method, url, None, None, location).unwrap();
                    assert_eq!((entry.method(), entry.url(), entry.redirect_location()), (method, url, location));
                }
            }
        }
    }

    #[test]
    fn redacted_urls_of_a_history_entry_contain_no_secrets() {
        let rows: &[(&CStr, &CStr)] = &[
            (c"http://user:password@host/path?key=secret#token", c"http://***@host/path?key=***#***"),
            (c"/path?secret", c"/path?***"),
            (c"user:password@host", c"user:///***@host"),
            (c"http://[secret", c"***"),
            (c"http://host/\xff", c"***"),
            (c"secret with spaces:80:80", c"***"),
            (c"", c""),
        ];
        for (text, expected) in rows {
            let entry = HistoryEntry::new(None, Some(text), None, None, Some(text)).unwrap();
            assert_eq!((entry.redacted_url(), entry.url()), (Some(*expected), Some(*text)));
            assert_eq!(entry.redacted_redirect_location(), Some(*expected));
            assert_eq!(entry.redacted_url().map(CStr::as_ptr), entry.redacted_url().map(CStr::as_ptr));
        }
        let entry = HistoryEntry::new(None, None, None, None, None).unwrap();
        assert_eq!((entry.redacted_url(), entry.redacted_redirect_location()), (None, None));
    }

    /// All threads get a pointer to the same text.
    #[test]
    fn concurrent_threads_get_the_same_redacted_url() {
        for _ in 0..50 {
            let history = History::default().with(entry(7, Some(c"http://u:p@h/?q")));
            let threads: Vec<_> = (0..4)
                .map(|_| {
                    let history = history.clone();
                    let ask = move || history.last().unwrap().redacted_redirect_location().unwrap().as_ptr() as usize;
                    std::thread::spawn(ask)
                })
                .collect();
            let lent = history.last().unwrap().redacted_redirect_location().unwrap();
            assert_eq!(lent, c"http://***@h/?***");
            let lent = lent.as_ptr() as usize;
            threads.into_iter().for_each(|thread| assert_eq!(thread.join().unwrap(), lent));
        }
    }

    #[test]
    fn every_history_entry_is_found_by_its_index() {
        let mut all = vec![History::default()];
        for number in 0..300 {
            all.push(all[number].with(entry(number, None)));
        }
        for (count, history) in all.iter().enumerate() {
            assert_eq!((history.len(), history.is_empty()), (count, count == 0));
            for (index, entry) in history.iter().enumerate() {
                assert_eq!(entry.url().unwrap().to_str().unwrap(), index.to_string());
            }
            assert!(history.get(count).is_none() && history.get(usize::MAX).is_none());
        }
        // Two histories that share their first entries have separate later entries.
        let (left, right) = (all[5].with(entry(100, None)), all[5].with(entry(200, None)));
        drop(all);
        assert_eq!((left.get(5).unwrap().url(), right.get(5).unwrap().url()), (Some(c"100"), Some(c"200")));
        assert_eq!((left.get(4).unwrap().url(), right.last().unwrap().url()), (Some(c"4"), Some(c"200")));
    }

    #[test]
    fn a_history_entry_is_found_in_a_logarithmic_number_of_steps() {
        let mut history = History::default();
        for number in 0..100_000 {
            history = history.with(entry(number, None));
        }
        let mut node = history.last.as_ref().unwrap();
        let mut steps = 0;
        while node.index != 1 {
            node = node.jump.as_ref().filter(|jump| jump.index >= 1).or(node.previous.as_ref()).unwrap();
            steps += 1;
        }
        assert!(steps <= 3 * 17, "{steps}");
    }

    #[test]
    fn a_long_history_is_freed_without_recursion() {
        let small_stack = std::thread::Builder::new().stack_size(64 * 1024);
        let run = || {
            let mut history = History::default();
            let mut kept = Vec::new();
            for number in 0..200_000 {
                history = history.with(entry(number, None));
                if number % 50_000 == 7 {
                    kept.push(history.clone());
                }
            }
            drop(history);
            assert_eq!(kept.pop().unwrap().last().unwrap().url(), Some(c"150007"));
            assert_eq!(kept[2].get(50_007).unwrap().url(), Some(c"50007"));
        };
        small_stack.spawn(run).unwrap().join().unwrap();
    }

    #[test]
    fn concurrent_threads_can_free_shared_history_entries() {
        for _ in 0..50 {
            let mut history = History::default();
            for number in 0..200 {
                history = history.with(entry(number, None));
            }
            let threads: Vec<_> = (0..4)
                .map(|number| {
                    let branch = history.with(entry(number, None));
                    std::thread::spawn(move || drop(branch))
                })
                .collect();
            drop(history);
            threads.into_iter().for_each(|thread| thread.join().unwrap());
        }
    }

    #[test]
    fn a_redirect_resets_the_number_of_consecutive_failures() {
        let mut history = History::default();
        for (location, failures) in [(None, 1), (None, 2), (Some(c"/"), 0), (None, 1), (Some(c"/"), 0)] {
            history = history.with(entry(0, location));
            assert_eq!(history.consecutive_failures(), failures);
        }
    }
}
