//! Values that each process makes for itself. A forked child has a copy of its parent's values, but does not use them.

use once_cell::race::OnceBox;

use crate::fork::Process;

/// A list with one value for each process that needs one: usually one entry, and a second entry in a forked child. A
/// limit stores its descriptors in such lists, because a forked child has a copy of the limit but shares the parent's
/// descriptors. The list only grows and has no lock: a signal handler could interrupt the thread that holds the lock,
/// and in a forked child the lock could stay locked forever.
#[derive(Debug)]
pub(super) struct PerProcess<T>(OnceBox<Entry<T>>);

#[derive(Debug)]
struct Entry<T> {
    /// The process that made the value.
    process: Process,
    value: T,
    next: PerProcess<T>,
}

impl<T> Default for PerProcess<T> {
    fn default() -> PerProcess<T> {
        PerProcess(OnceBox::new())
    }
}

impl<T> PerProcess<T> {
    /// Returns whether no process has added a value. Async-signal-safe.
    pub(super) fn is_empty(&self) -> bool {
        self.0.get().is_none()
    }

    /// Returns the value that a process added. Async-signal-safe.
    pub(super) fn for_process(&self, process: Process) -> Option<&T> {
        let mut entry = self.0.get();
        while let Some(other) = entry.filter(|entry| entry.process != process) {
            entry = other.next.0.get();
        }
        entry.map(|own| &own.value)
    }

    /// Adds a value for a process. If another thread has added one at the same time, drops `value` and returns the
    /// other value.
    pub(super) fn add(&self, process: Process, value: T) -> &T {
        let mut fresh = Some(Box::new(Entry { process, value, next: PerProcess::default() }));
        let mut end = &self.0;
        loop {
            match end.get() {
                Some(entry) if entry.process == process => return &entry.value,
                Some(entry) => end = &entry.next.0,
                None => fresh = fresh.and_then(|fresh| end.set(fresh).err()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_process_gets_the_value_that_it_added_first() {
        let values = PerProcess::default();
        assert!(values.is_empty());
        let processes = [1, 2, 3].map(Process::numbered);
        for (process, value) in processes.into_iter().zip(["one", "two", "three"]) {
            assert_eq!(values.for_process(process), None);
            assert_eq!(values.add(process, value), &value);
        }
        assert_eq!(processes.map(|process| *values.for_process(process).unwrap()), ["one", "two", "three"]);
        assert_eq!(values.add(processes[1], "again"), &"two");
        assert_eq!(values.for_process(Process::numbered(4)), None);
        assert!(!values.is_empty());
    }
}
