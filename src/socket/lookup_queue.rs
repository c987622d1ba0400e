//! Runs name lookups on background threads. The number of threads per process is bounded; further lookups wait in a
//! queue.

use std::collections::BTreeMap;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::fork::{LockGuard, Mutex, Process};
use crate::socket::sys;

/// The stack size of lookup threads. With an explicit size, the standard library does not read the stack size from the
/// environment.
const STACK: usize = 1 << 20;

/// A name lookup to run. The destructor of a job must not use the queue, because the queue may drop a job while holding
/// its own lock.
pub(super) type Job = Box<dyn FnOnce() + Send>;

/// The running and waiting lookups of this process. A forked child starts with an empty queue, because it has none of
/// its parent's threads.
pub(crate) struct LookupQueue {
    state: Mutex<State>,
    spawn: fn(Job) -> io::Result<()>,
}

struct State {
    process: Option<Process>,
    /// The number of running threads. A job waits only while the maximum number of threads runs.
    running: usize,
    next_ticket: u64,
    waiting: BTreeMap<u64, Job>,
}

/// Identifies a waiting job, so that it can be cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ticket(u64);

impl LookupQueue {
    pub(crate) const fn new() -> LookupQueue {
        LookupQueue::with_spawn(start_thread)
    }

    /// Creates a queue that starts threads with `spawn`. Tests pass a `spawn` that fails.
    pub(super) const fn with_spawn(spawn: fn(Job) -> io::Result<()>) -> LookupQueue {
        let state = State { process: None, running: 0, next_ticket: 0, waiting: BTreeMap::new() };
        LookupQueue { state: Mutex::new(state), spawn }
    }

    /// Runs a job on a new thread. If `max_threads` threads are running, the job waits until one of them is free, and
    /// `submit` returns a ticket for the job. If the thread cannot be started, `submit` drops the job and returns the
    /// error.
    pub(super) fn submit(&'static self, max_threads: usize, job: Job) -> io::Result<Option<Ticket>> {
        let mut state = self.state();
        if state.running < max_threads {
            // Holds the lock while the thread starts, so that no other job is queued behind a thread that fails to
            // start.
            (self.spawn)(Box::new(move || self.run(job)))?;
            state.running += 1;
            return Ok(None);
        }
        let ticket = state.next_ticket;
        state.next_ticket += 1;
        state.waiting.insert(ticket, job);
        Ok(Some(Ticket(ticket)))
    }

    /// Removes a waiting job.
    pub(super) fn cancel(&self, ticket: Ticket) {
        // The job is dropped after the lock is released.
        let _job = self.state().waiting.remove(&ticket.0);
    }

    fn run(&self, first: Job) {
        let mut next = Some(first);
        while let Some(job) = next {
            // A job reports its own panic, and the thread continues with other jobs.
            let _ = catch_unwind(AssertUnwindSafe(job));
            let mut state = self.state();
            next = state.waiting.pop_first().map(|(_, job)| job);
            if next.is_none() {
                state.running -= 1;
            }
        }
    }

    fn state(&self) -> LockGuard<'_, State> {
        let current = Some(Process::current());
        let mut state = self.state.lock();
        if state.process != current {
            state.process = current;
            state.running = 0;
            state.waiting.clear();
        }
        state
    }

    #[cfg(test)]
    pub(crate) fn running(&self) -> usize {
        self.state().running
    }

    #[cfg(test)]
    pub(crate) fn waiting(&self) -> usize {
        self.state().waiting.len()
    }
}

/// Starts a detached thread. The thread blocks all signals, so that the application's threads handle them.
fn start_thread(run: Job) -> io::Result<()> {
    let _signals = sys::SignalsBlocked::new();
    std::thread::Builder::new().name("netlib-lookup".into()).stack_size(STACK).spawn(run).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;
    use std::time::{Duration, Instant};

    /// Submits a job that occupies a thread of the queue until the returned sender is dropped.
    fn occupy_thread(queue: &'static LookupQueue) -> mpsc::Sender<()> {
        let (release, released) = mpsc::channel::<()>();
        let job = move || {
            let _ = released.recv();
        };
        assert_eq!(queue.submit(1, Box::new(job)).unwrap(), None);
        release
    }

    #[test]
    fn jobs_run_in_order_of_submission_and_cancelled_jobs_never_run() {
        static QUEUE: LookupQueue = LookupQueue::new();
        let release = occupy_thread(&QUEUE);
        let (sender, received) = mpsc::channel();
        let tickets: Vec<Ticket> = (0..6)
            .map(|number| {
                let sender = sender.clone();
                let job: Job = Box::new(move || {
                    sender.send(number).unwrap();
                    assert_ne!(number, 2, "a panic in a job");
                });
                QUEUE.submit(1, job).unwrap().unwrap()
            })
            .collect();
        drop(sender);
        QUEUE.cancel(tickets[1]);
        QUEUE.cancel(tickets[4]);
        assert_eq!(QUEUE.waiting(), 4);
        drop(release);
        assert_eq!(received.iter().collect::<Vec<_>>(), [0, 2, 3, 5]);
        QUEUE.cancel(tickets[0]);
    }

    #[test]
    fn a_forked_child_starts_with_an_empty_lookup_queue() {
        static QUEUE: LookupQueue = LookupQueue::new();
        let _release = occupy_thread(&QUEUE);
        assert!(QUEUE.submit(1, Box::new(|| ())).unwrap().is_some());
        assert_eq!((QUEUE.running(), QUEUE.waiting()), (1, 1));
        QUEUE.state.lock().process = Some(Process::numbered(1));
        assert_eq!((QUEUE.running(), QUEUE.waiting()), (0, 0));
    }

    /// The maximum time for which a test waits until another thread has submitted a job. The test passes even if that
    /// thread takes longer.
    const A_MOMENT: Duration = Duration::from_millis(50);

    #[test]
    fn jobs_submitted_during_and_after_a_failed_thread_start_still_run() {
        static SPAWNED: AtomicUsize = AtomicUsize::new(0);
        static QUEUE: LookupQueue = LookupQueue::with_spawn(|run| {
            if SPAWNED.fetch_add(1, Ordering::Relaxed) != 1 {
                return start_thread(run);
            }
            let (submitted, done) = mpsc::channel();
            std::thread::spawn(move || submitted.send(QUEUE.submit(2, COMPLETED.job("during")).is_ok()));
            let _ = done.recv_timeout(A_MOMENT);
            Err(io::Error::from_raw_os_error(libc::EAGAIN))
        });
        static COMPLETED: CompletedJobs = CompletedJobs(Mutex::new(Vec::new()));
        // This job occupies one of the two threads until the end of the test.
        let _hung = occupy_thread(&QUEUE);
        let error = QUEUE.submit(2, COMPLETED.job("failed")).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EAGAIN));
        COMPLETED.wait_for(&["during"]);
        QUEUE.submit(2, COMPLETED.job("after")).unwrap();
        COMPLETED.wait_for(&["during", "after"]);
        assert_eq!(QUEUE.waiting(), 0);
    }

    /// Records the names of the jobs that have run.
    struct CompletedJobs(Mutex<Vec<&'static str>>);

    impl CompletedJobs {
        fn job(&'static self, name: &'static str) -> Job {
            Box::new(move || self.0.lock().push(name))
        }

        fn wait_for(&self, names: &[&str]) {
            let hung = Instant::now() + Duration::from_secs(10);
            while *self.0.lock() != *names {
                assert!(Instant::now() < hung, "ran: {:?}, expected: {names:?}", *self.0.lock());
                std::thread::yield_now();
            }
        }
    }
}
