//! Lookups on threads of their own: a bounded number at once in a process, the others in order behind them.

use std::collections::BTreeMap;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::fork::{Locked, Mutex, Process};
use crate::socket::sys;

/// Of a thread that runs the system's resolver. Given so that the standard library does not read the environment.
const STACK: usize = 1 << 20;

pub(super) type Job = Box<dyn FnOnce() + Send>;

/// The lookups of this process. A forked child has none of its parent's threads, so it begins with an empty queue.
pub(crate) struct LookupQueue(Mutex<State>);

struct State {
    process: Option<Process>,
    /// How many threads there are. While one is missing nothing waits.
    running: usize,
    next_turn: u64,
    waiting: BTreeMap<u64, Job>,
}

/// The place of a job that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Turn(u64);

impl LookupQueue {
    pub(crate) const fn new() -> LookupQueue {
        LookupQueue(Mutex::new(State { process: None, running: 0, next_turn: 0, waiting: BTreeMap::new() }))
    }

    /// Runs a job on a thread of its own, or, if `most` run already, on the next that is free. `Some`: it waits.
    pub(super) fn submit(&'static self, most: usize, job: Job) -> io::Result<Option<Turn>> {
        let mut state = self.state();
        if state.running >= most || !state.waiting.is_empty() {
            let turn = state.next_turn;
            state.next_turn += 1;
            state.waiting.insert(turn, job);
            return Ok(Some(Turn(turn)));
        }
        state.running += 1;
        drop(state);
        let started = self.start(job);
        if started.is_err() {
            self.start_others();
        }
        started.map(|()| None)
    }

    /// Takes a job that still waits out of the queue.
    pub(super) fn cancel(&self, turn: Turn) {
        // Dropped when the lock is not held: it has references of others.
        let _job = self.state().waiting.remove(&turn.0);
    }

    /// A thread that is counted already; not any more if it cannot be started.
    fn start(&'static self, job: Job) -> io::Result<()> {
        let started = start_thread(move || self.run(job));
        if started.is_err() {
            self.state().running -= 1;
        }
        started
    }

    /// While a thread could not be started other jobs may have come, for which there is none.
    fn start_others(&'static self) {
        loop {
            let mut state = self.state();
            if state.running > 0 {
                return;
            }
            let Some((_, job)) = state.waiting.pop_first() else { return };
            state.running += 1;
            drop(state);
            // A job that is dropped reports that it has failed.
            let _ = self.start(job);
        }
    }

    fn run(&self, first: Job) {
        let mut next = Some(first);
        while let Some(job) = next {
            // A job that panics reports it, and the thread is for others too.
            let _ = catch_unwind(AssertUnwindSafe(job));
            let mut state = self.state();
            next = state.waiting.pop_first().map(|(_, job)| job);
            if next.is_none() {
                state.running -= 1;
            }
        }
    }

    fn state(&self) -> Locked<'_, State> {
        let current = Some(Process::current());
        let mut state = self.0.lock();
        if state.process != current {
            state.process = current;
            state.running = 0;
            state.waiting.clear();
        }
        state
    }

    #[cfg(test)]
    pub(crate) fn count(&self) -> usize {
        self.state().running
    }

    #[cfg(test)]
    pub(crate) fn waiting(&self) -> usize {
        self.state().waiting.len()
    }
}

/// A detached thread that leaves the program's signals to the program's own threads.
fn start_thread(run: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let _signals = sys::SignalsBlocked::new();
    std::thread::Builder::new().name("netlib-lookup".into()).stack_size(STACK).spawn(run).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    /// A queue that is in use by one job until the sender is dropped.
    fn busy(queue: &'static LookupQueue) -> mpsc::Sender<()> {
        let (release, held) = mpsc::channel::<()>();
        let job = move || {
            let _ = held.recv();
        };
        assert_eq!(queue.submit(1, Box::new(job)).unwrap(), None);
        release
    }

    #[test]
    fn jobs_run_in_order_and_canceled_ones_not_at_all() {
        static QUEUE: LookupQueue = LookupQueue::new();
        let release = busy(&QUEUE);
        let (tell, told) = mpsc::channel();
        let turns: Vec<Turn> = (0..6)
            .map(|number| {
                let tell = tell.clone();
                let job: Job = Box::new(move || {
                    tell.send(number).unwrap();
                    assert_ne!(number, 2, "a job that panics stops no other");
                });
                QUEUE.submit(1, job).unwrap().unwrap()
            })
            .collect();
        drop(tell);
        QUEUE.cancel(turns[1]);
        QUEUE.cancel(turns[4]);
        assert_eq!(QUEUE.waiting(), 4);
        drop(release);
        assert_eq!(told.iter().collect::<Vec<_>>(), [0, 2, 3, 5]);
        QUEUE.cancel(turns[0]);
    }

    #[test]
    fn a_forked_child_begins_anew() {
        static QUEUE: LookupQueue = LookupQueue::new();
        let _release = busy(&QUEUE);
        assert!(QUEUE.submit(1, Box::new(|| ())).unwrap().is_some());
        assert_eq!((QUEUE.count(), QUEUE.waiting()), (1, 1));
        QUEUE.0.lock().process = Some(Process::numbered(1));
        assert_eq!((QUEUE.count(), QUEUE.waiting()), (0, 0));
    }
}
