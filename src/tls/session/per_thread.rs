//! Threads, told apart, and what they leave for their own later use.

use std::cell::Cell;
use std::num::NonZeroUsize;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::fork::{Locked, Mutex};

/// Tells threads that live at the same time apart. std's ThreadId would allocate for a thread that C has made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ThreadMark(NonZeroUsize);

impl ThreadMark {
    pub(crate) fn here() -> ThreadMark {
        thread_local!(static PLACE: Cell<u8> = const { Cell::new(0) });
        ThreadMark(PLACE.with(|place| NonNull::from(place).addr()))
    }

    /// Of a thread on which nothing of the program's runs while it is marked, so that it need not be found again.
    pub(crate) const UNASKED: ThreadMark = ThreadMark(NonZeroUsize::MIN);
}

/// At most one note of each thread. What a context lends to rustls, such as a judge of certificates, belongs to many
/// sessions, but it runs inside a session's call on the calling thread: it leaves a note here, and the session takes
/// that before the call returns.
#[derive(Debug)]
pub(crate) struct Notes<T> {
    notes: Mutex<Vec<(ThreadMark, T)>>,
    /// How many there are, to see without the lock that there is none. A thread looks for its own, which it has counted
    /// itself, so the order among threads is of no matter.
    count: AtomicUsize,
}

impl<T> Default for Notes<T> {
    fn default() -> Notes<T> {
        Notes { notes: Mutex::default(), count: AtomicUsize::new(0) }
    }
}

impl<T> Notes<T> {
    /// In place of this thread's earlier note.
    pub(crate) fn leave(&self, note: T) {
        let mut notes = self.lock();
        let here = ThreadMark::here();
        match notes.iter_mut().find(|(thread, _)| *thread == here) {
            Some((_, earlier)) => *earlier = note,
            None => {
                notes.push((here, note));
                self.count.store(notes.len(), Ordering::Relaxed);
            }
        }
    }

    /// This thread's.
    pub(crate) fn take(&self) -> Option<T> {
        if self.count.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let mut notes = self.lock();
        let here = ThreadMark::here();
        let index = notes.iter().position(|(thread, _)| *thread == here)?;
        let (_, note) = notes.swap_remove(index);
        self.count.store(notes.len(), Ordering::Relaxed);
        Some(note)
    }

    fn lock(&self) -> Locked<'_, Vec<(ThreadMark, T)>> {
        self.notes.lock()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_its_threads() {
        let notes = Notes::default();
        notes.leave("only");
        assert_eq!((notes.take(), notes.take()), (Some("only"), None));
        notes.leave("first");
        notes.leave("mine");
        std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                let none = notes.take();
                notes.leave("another's");
                none
            });
            assert_eq!(other.join().unwrap(), None);
        });
        assert_eq!((notes.take(), notes.take()), (Some("mine"), None));
    }
}
