//! Support for fork(2): identifies the current process, and makes fork(2) wait for critical sections.
//!
//! A forked child has a copy of its parent's memory, but only one of its threads. A lock that another thread held at
//! the time of the fork stays locked forever in the child. aws-lc aborts a child that was forked while another thread
//! signed with the same key (`rsa_blinding_get`). So a thread holds a [`Delay`] while it calls aws-lc or holds a lock
//! that a child needs. A handler of pthread_atfork(3) makes fork(2) wait until no other thread holds a [`Delay`], and
//! lets no further thread take one until the fork is done. Each wait is bounded, because handlers of other libraries
//! can make two threads wait for each other.
//!
//! After vfork(2) and clone(2) with CLONE_VM, parent and child share their memory, so each process sees the changes
//! that the other one makes. Fork handlers do not run for `_Fork` and for clone(2) without CLONE_VM. In these cases,
//! netlib distinguishes the two processes by a memory page that the kernel wipes in the child, if the kernel can wipe
//! pages.

use std::cell::Cell;
use std::marker::PhantomData;
use std::num::NonZeroU64;
use std::process;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicIsize, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{MutexGuard, OnceLock, PoisonError, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

use once_cell::race::OnceRef;

use crate::error::{Error, Result};
use crate::socket::sys::{self, DisableCancellation, ForkHandler};
use crate::status::Status;

/// Identifies a process. Even if a process id is reused, a process's identity differs from those of its ancestors and
/// descendants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Process(NonZeroU64);

/// The identity of the current process; 0 after a fork, until `Process::current` is called.
static CURRENT: OnceRef<'static, AtomicU64> = OnceRef::new();
/// Stores the identity if the kernel cannot wipe a page. The fork handler sets this variable to 0 in the child.
static UNWIPED: AtomicU64 = AtomicU64::new(0);

impl Process {
    /// Returns the identity of the current process. Async-signal-safe once the function has been called in this process
    /// or an ancestor.
    #[inline(always)]
    pub(crate) fn current() -> Process {
        let known = CURRENT.get().and_then(|current| NonZeroU64::new(current.load(Ordering::Relaxed)));
        known.map_or_else(Process::identify, Process)
    }

    #[cold]
    fn identify() -> Process {
        /// The number of identities that this process and its ancestors have made. A child inherits the number, because
        /// the number is in ordinary memory.
        static GENERATION: AtomicU32 = AtomicU32::new(0);
        let current = current();
        let generation = GENERATION.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        let fresh = NonZeroU64::MIN | (u64::from(process::id()) << 32 | u64::from(generation << 1));
        match current.compare_exchange(0, fresh.get(), Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => Process(fresh),
            Err(known) => Process(NonZeroU64::new(known).unwrap_or(fresh)),
        }
    }

    #[cfg(test)]
    pub(crate) fn numbered(number: u32) -> Process {
        Process(NonZeroU64::MIN | u64::from(number) << 32)
    }

    /// Returns the process id, as getpid(2) does.
    pub(crate) fn id(self) -> u32 {
        (self.0.get() >> 32) as u32
    }

    /// Fails unless this process, which made an object, is the current process. `what` names the object in the error
    /// message. Two processes must not use the keys of the same object, because they would encrypt different data with
    /// the same key and nonce.
    #[inline(always)]
    pub(crate) fn check_owner(self, what: &str) -> Result<()> {
        let current = Process::current();
        if self == current { Ok(()) } else { Err(self.not_owner(current, what)) }
    }

    #[cold]
    fn not_owner(self, current: Process, what: &str) -> Error {
        let message = format!(
            "this {what} was created by process {}; process {} is a forked child and cannot use it",
            self.id(),
            current.id()
        );
        Error::new(Status::Closed, message)
    }
}

fn current() -> &'static AtomicU64 {
    CURRENT.get_or_init(|| {
        install();
        sys::wipe_on_fork_word().unwrap_or(&UNWIPED)
    })
}

/// Installs the fork handler. If two threads call this function at the same time, both may install the handler, so that
/// neither thread continues without a handler. A handler that is installed twice runs twice at each fork, which does no
/// harm.
fn install() {
    if !INSTALLED.load(Ordering::Relaxed) && sys::at_fork::<Gate>() {
        INSTALLED.store(true, Ordering::Relaxed);
    }
}

static INSTALLED: AtomicBool = AtomicBool::new(false);

/// Makes fork(2) wait while the value exists, for a bounded time. Delays may be nested.
#[must_use = "forks are delayed only while it exists"]
pub(crate) struct Delay {
    /// A delay must not move to another thread, because each thread counts its own delays.
    not_send: PhantomData<*const ()>,
}

/// Makes fork(2) wait until the returned [`Delay`] is dropped. A thread that holds a [`Delay`] may wait only for
/// threads that also hold one.
pub(crate) fn delay() -> Delay {
    let depth = DEPTH.get();
    DEPTH.set(depth.saturating_add(1));
    if depth == 0 {
        Gate::enter();
    }
    Delay { not_send: PhantomData }
}

impl Drop for Delay {
    fn drop(&mut self) {
        let depth = DEPTH.get().saturating_sub(1);
        DEPTH.set(depth);
        if depth == 0 {
            Gate::lane().fetch_sub(1, Ordering::Release);
        }
    }
}

/// The maximum time that fork(2) waits for other threads, and that other threads wait for fork(2).
const MAX_WAIT: Duration = Duration::from_secs(1);

/// A counter on its own cache line, so that threads do not contend for the same line.
#[repr(align(128))]
struct Lane(AtomicIsize);

const LANE_COUNT: usize = 16;
static LANES: [Lane; LANE_COUNT] = [const { Lane(AtomicIsize::new(0)) }; LANE_COUNT];
/// The id of the thread that is calling fork(2); 0 if there is none.
static FORKING: AtomicUsize = AtomicUsize::new(0);
/// The identity of the process that is calling fork(2).
static FORKED_FROM: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// The number of delays that this thread holds.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// Counts the threads that hold a [`Delay`], in several counters. The thread that calls fork(2) closes the gate to
/// further threads and waits until the counted threads have dropped their delays.
struct Gate;

impl Gate {
    /// Returns a number that no other living thread has.
    fn thread_id() -> usize {
        DEPTH.with(|depth| NonNull::from(depth).addr().get())
    }

    fn lane() -> &'static AtomicIsize {
        // The bits of the id are mixed, because the id is the address of a thread-local variable, and such addresses
        // differ in their high bits only.
        let mixed = (Gate::thread_id() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 60;
        &LANES[mixed as usize % LANE_COUNT].0
    }

    fn enter() {
        install();
        let lane = Gate::lane();
        lane.fetch_add(1, Ordering::SeqCst);
        // The gate is open for the thread that calls fork(2), because fork handlers of other libraries may call netlib.
        let is_open = || {
            let forking = FORKING.load(Ordering::SeqCst);
            forking == 0 || forking == Gate::thread_id()
        };
        if is_open() {
            return;
        }
        lane.fetch_sub(1, Ordering::SeqCst);
        let until = Instant::now() + MAX_WAIT;
        loop {
            let in_time = wait_until(until, is_open);
            lane.fetch_add(1, Ordering::SeqCst);
            if !in_time || is_open() {
                return;
            }
            lane.fetch_sub(1, Ordering::SeqCst);
        }
    }

    /// Returns whether no thread except the current one holds a delay.
    fn no_other_thread_delays() -> bool {
        let own = isize::from(DEPTH.get() > 0);
        LANES.iter().map(|lane| lane.0.load(Ordering::SeqCst)).sum::<isize>() <= own
    }

    fn open() {
        FORKING.store(0, Ordering::SeqCst);
    }
}

impl ForkHandler for Gate {
    fn before_fork() {
        let (me, until) = (Gate::thread_id(), Instant::now() + MAX_WAIT);
        let claim = || {
            let claimed = FORKING.compare_exchange(0, me, Ordering::SeqCst, Ordering::SeqCst);
            claimed.is_ok() || claimed == Err(me)
        };
        if wait_until(until, claim) {
            wait_until(until, Gate::no_other_thread_delays);
        }
        FORKED_FROM.store(current().load(Ordering::Relaxed), Ordering::Relaxed);
    }

    fn in_parent() {
        if FORKING.load(Ordering::SeqCst) == Gate::thread_id() {
            Gate::open();
        }
    }

    /// Runs in the child after fork(2). Uses only atomic operations, because the child may call only async-signal-safe
    /// functions.
    fn in_child() {
        for lane in &LANES {
            lane.0.store(0, Ordering::Relaxed);
        }
        Gate::lane().store(isize::from(DEPTH.get() > 0), Ordering::Relaxed);
        // The compare-exchange keeps the child's identity if an earlier handler has already called `Process::current`.
        let before = FORKED_FROM.load(Ordering::Relaxed);
        let _ = current().compare_exchange(before, 0, Ordering::Relaxed, Ordering::Relaxed);
        Gate::open();
    }
}

/// Waits until `condition` returns true or `time` is reached. Returns false if the condition was not met in time.
fn wait_until(time: Instant, condition: impl Fn() -> bool) -> bool {
    for turn in 0_u32.. {
        if condition() {
            return true;
        }
        match turn {
            0..16 => thread::yield_now(),
            _ if Instant::now() >= time => return false,
            _ => {
                // A sleep is a cancellation point.
                let _disabled = DisableCancellation::begin();
                thread::sleep(Duration::from_micros(50));
            }
        }
    }
    false
}

/// A mutex for which fork(2) waits: while another thread holds the mutex, that thread holds a [`Delay`]. The mutex
/// ignores poisoning.
#[derive(Debug, Default)]
pub(crate) struct Mutex<T>(std::sync::Mutex<T>);

/// A locked [`Mutex`]. The field order matters: the lock is released before the delay is dropped.
pub(crate) struct LockGuard<'a, T> {
    value: MutexGuard<'a, T>,
    _delay: Delay,
}

impl<T> Mutex<T> {
    pub(crate) const fn new(value: T) -> Mutex<T> {
        Mutex(std::sync::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> LockGuard<'_, T> {
        let delay = delay();
        LockGuard { value: self.0.lock().unwrap_or_else(PoisonError::into_inner), _delay: delay }
    }

    /// Locks the mutex without waiting; `None` if another thread has locked it.
    pub(crate) fn try_lock(&self) -> Option<LockGuard<'_, T>> {
        let delay = delay();
        let value = match self.0.try_lock() {
            Err(TryLockError::WouldBlock) => return None,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Ok(value) => value,
        };
        Some(LockGuard { value, _delay: delay })
    }
}

impl<T> std::ops::Deref for LockGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> std::ops::DerefMut for LockGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}

/// Does what [`OnceLock::get_or_init`] does, but under a [`Delay`], so that fork(2) waits for the initialisation.
pub(crate) fn get_or_init<T>(cell: &OnceLock<T>, make: impl FnOnce() -> T) -> &T {
    match cell.get() {
        Some(value) => value,
        None => {
            let _delay = delay();
            cell.get_or_init(make)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_threads_of_a_process_have_the_same_process_identity() {
        let process = Process::current();
        assert_eq!((process.id(), Process::current()), (process::id(), process));
        assert!(thread::spawn(Process::current).join().unwrap() == process);
    }

    #[test]
    fn wait_until_ends_at_the_deadline_unless_the_condition_is_true() {
        let began = Instant::now();
        assert!(!wait_until(began + Duration::from_millis(5), || false));
        assert!(wait_until(began, || true) && began.elapsed() >= Duration::from_millis(5));
    }

    #[test]
    fn each_nested_fork_delay_is_counted_until_it_is_dropped() {
        let (outer, inner) = (delay(), delay());
        assert_eq!(DEPTH.get(), 2);
        drop(outer);
        assert_eq!(DEPTH.get(), 1);
        drop(inner);
        assert_eq!(DEPTH.get(), 0);
    }

    #[test]
    fn fork_waits_until_fork_delays_end_and_new_ones_wait_until_the_fork_ends() {
        use std::sync::mpsc::channel;
        const A_MOMENT: Duration = Duration::from_millis(20);
        let ((end_delay, delay_ends), (end_fork, fork_ends)) = (channel::<()>(), channel::<()>());
        let ((start_fork, fork_started), (enter, entered)) = (channel(), channel());
        thread::scope(|scope| {
            let inside = channel();
            scope.spawn(move || {
                let _delay = delay();
                inside.0.send(()).unwrap();
                let _ = delay_ends.recv();
            });
            inside.1.recv().unwrap();
            scope.spawn(move || {
                Gate::before_fork();
                start_fork.send(()).unwrap();
                let _ = fork_ends.recv();
                Gate::in_parent();
            });
            assert!(fork_started.recv_timeout(A_MOMENT).is_err());
            drop(end_delay);
            fork_started.recv().unwrap();
            scope.spawn(move || {
                let _delay = delay();
                enter.send(()).unwrap();
            });
            assert!(entered.recv_timeout(A_MOMENT).is_err());
            drop(end_fork);
            entered.recv().unwrap();
        });
    }
}
