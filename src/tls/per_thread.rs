//! Identifies threads, and stores one value per thread.

use std::cell::Cell;
use std::num::NonZeroUsize;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::fork::{LockGuard, Mutex};

/// An identifier that differs between threads that are alive at the same time. std's ThreadId is not used, because it
/// allocates memory on a thread that C code created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ThreadId(NonZeroUsize);

impl ThreadId {
    pub(crate) fn current() -> ThreadId {
        thread_local!(static PLACE: Cell<u8> = const { Cell::new(0) });
        ThreadId(PLACE.with(|place| NonNull::from(place).addr()))
    }
}

/// Stores at most one value for each thread.
///
/// Passes data between a session and an object that all sessions of a context share, such as the certificate verifier.
/// rustls does not tell the shared object which session a call is for, but makes the call on the thread on which the
/// session has called rustls. So the shared object sets a value for the current thread, and the session takes the value
/// after its call to rustls.
#[derive(Debug)]
pub(crate) struct PerThread<T> {
    values: Mutex<Vec<(ThreadId, T)>>,
    /// The number of stored values, so that [`PerThread::take`] needs no lock if there are none. A thread only takes a
    /// value that it has set itself, so relaxed ordering is enough.
    count: AtomicUsize,
}

impl<T> Default for PerThread<T> {
    fn default() -> PerThread<T> {
        PerThread { values: Mutex::default(), count: AtomicUsize::new(0) }
    }
}

impl<T> PerThread<T> {
    /// Sets the current thread's value and drops the previous one.
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

    /// Removes and returns the current thread's value.
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

    fn lock(&self) -> LockGuard<'_, Vec<(ThreadId, T)>> {
        self.values.lock()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_per_thread_value_is_taken_once_and_only_by_the_thread_that_set_it() {
        let values = PerThread::default();
        values.set("only");
        assert_eq!((values.take(), values.take()), (Some("only"), None));
        values.set("first");
        values.set("second");
        std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                let none = values.take();
                values.set("of another thread");
                none
            });
            assert_eq!(other.join().unwrap(), None);
        });
        assert_eq!((values.take(), values.take()), (Some("second"), None));
    }
}
