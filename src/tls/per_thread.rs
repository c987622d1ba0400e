//! Threads, told apart, and what they leave for their own later use.

use std::cell::Cell;
use std::num::NonZeroUsize;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::fork::{Locked, Mutex};

/// Tells threads that live at the same time apart. std's ThreadId would allocate for a thread that C has made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ThreadId(NonZeroUsize);

impl ThreadId {
    pub(crate) fn current() -> ThreadId {
        thread_local!(static PLACE: Cell<u8> = const { Cell::new(0) });
        ThreadId(PLACE.with(|place| NonNull::from(place).addr()))
    }

    /// Of a thread on which nothing of the program's runs while it is marked, so that it need not be found again.
    pub(crate) const UNKNOWN: ThreadId = ThreadId(NonZeroUsize::MIN);
}

/// At most one note of each thread. What a context lends to rustls, such as a judge of certificates, belongs to many
/// sessions, but it runs inside a session's call on the calling thread: it leaves a note here, and the session takes
/// that before the call returns.
#[derive(Debug)]
pub(crate) struct PerThread<T> {
    values: Mutex<Vec<(ThreadId, T)>>,
    /// How many there are, to see without the lock that there is none. A thread looks for its own, which it has counted
    /// itself, so the order among threads is of no matter.
    count: AtomicUsize,
}

impl<T> Default for PerThread<T> {
    fn default() -> PerThread<T> {
        PerThread { values: Mutex::default(), count: AtomicUsize::new(0) }
    }
}

impl<T> PerThread<T> {
    /// In place of this thread's earlier note.
    pub(crate) fn set(&self, value: T) {
        let mut values = self.lock();
        let current = ThreadId::current();
        match values.iter_mut().find(|(thread, _)| *thread == current) {
            Some((_, previous)) => *previous = value,
            None => {
                values.push((current, value));
                self.count.store(values.len(), Ordering::Relaxed);
            }
        }
    }

    /// This thread's.
    pub(crate) fn take(&self) -> Option<T> {
        if self.count.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let mut values = self.lock();
        let current = ThreadId::current();
        let index = values.iter().position(|(thread, _)| *thread == current)?;
        let (_, value) = values.swap_remove(index);
        self.count.store(values.len(), Ordering::Relaxed);
        Some(value)
    }

    fn lock(&self) -> Locked<'_, Vec<(ThreadId, T)>> {
        self.values.lock()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_its_threads() {
        let values = PerThread::default();
        values.set("only");
        assert_eq!((values.take(), values.take()), (Some("only"), None));
        values.set("first");
        values.set("mine");
        std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                let none = values.take();
                values.set("another's");
                none
            });
            assert_eq!(other.join().unwrap(), None);
        });
        assert_eq!((values.take(), values.take()), (Some("mine"), None));
    }
}
