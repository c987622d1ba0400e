//! Name resolution that obeys a limit. The system's resolver cannot be interrupted, so a lookup that may have to be
//! given up runs on a thread of its own; giving it up costs the caller nothing, and the thread frees what is left.

use std::io;
use std::net::{Ipv6Addr, SocketAddr};
use std::os::fd::RawFd;
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use socket2::{Domain, Socket, Type};

use crate::error::{Error, Result};
use crate::limit::Limit;
use crate::socket::query::Query;
use crate::socket::sys::{self, Wake};
use crate::socket::wait::wait;
use crate::status::Status;

/// Of a thread that runs the system's resolver. Given so that the standard library does not read the environment.
const STACK: usize = 1 << 20;

/// Asks something for the addresses of a name; it may take as long as it likes.
type Find = dyn Fn(&Query) -> Result<Vec<SocketAddr>> + Send + Sync;

/// Where addresses come from, and how many lookups may be under way at once.
#[derive(Clone)]
pub(crate) struct Resolver {
    lookup: Arc<Find>,
    outstanding: &'static Outstanding,
    most: usize,
}

/// How many threads of the whole process may be inside the system's resolver on behalf of limits.
const MOST_LOOKUPS: usize = 64;
static OUTSTANDING: Outstanding = Outstanding::new();

impl Resolver {
    /// getaddrinfo(3).
    pub(crate) fn system() -> Resolver {
        Resolver::new(Arc::new(system_lookup), &OUTSTANDING, MOST_LOOKUPS)
    }

    pub(crate) fn new(lookup: Arc<Find>, outstanding: &'static Outstanding, most: usize) -> Resolver {
        Resolver { lookup, outstanding, most }
    }

    /// The addresses to try, in order; at least one. A numeric host needs no lookup. Without a limit nothing could
    /// end the wait, so the calling thread looks up itself.
    pub(crate) fn resolve(&self, query: Query, limit: Option<&Limit>) -> Result<Vec<SocketAddr>> {
        let found = match (query.numeric(), limit) {
            (Some(found), _) => found,
            (None, None) => (self.lookup)(&query),
            (None, Some(limit)) => {
                limit.check()?;
                let lookup = self.start_thread(&query)?;
                wait(lookup.fd(), sys::POLL_IN, None, Some(limit))?;
                lookup.take().unwrap_or_else(|| Err(no_answer()))
            }
        };
        query.at_least_one(found?)
    }

    /// As [`Resolver::resolve`] without waiting.
    pub(crate) fn start(&self, query: Query) -> Result<Started> {
        match query.numeric() {
            Some(found) => found.map(Started::Found),
            None => self.start_thread(&query).map(Started::Lookup),
        }
    }

    fn start_thread(&self, query: &Query) -> Result<Lookup> {
        let slot = Slot::take(self.outstanding, self.most).ok_or_else(|| {
            let message = format!("cannot resolve {}: {} other lookups are outstanding", query.text(), self.most);
            Error::new(Status::TooManyLookups, message)
        })?;
        let ready = Wake::open()?;
        let ready_fd = ready.fd();
        let answer = Arc::new(Mutex::new(Answer { found: None, ready: Some(ready) }));
        // Weak: a caller that gives up frees the answer at once, whatever the thread is doing.
        let reporter = Reporter(Arc::downgrade(&answer));
        let (find, asked) = (Arc::clone(&self.lookup), query.clone());
        let run = move || {
            let found = find(&asked);
            drop(slot);
            reporter.report(found.and_then(|found| asked.at_least_one(found)));
        };
        start_thread(run).map_err(|error| {
            Error::from_io(Status::Io, format!("cannot start a thread to resolve {}", query.text()), &error)
        })?;
        Ok(Lookup { query: query.clone(), process: process::id(), answer, ready_fd })
    }

    /// In place of a lookup that [`Lookup::is_lost`].
    pub(crate) fn start_again(&self, lost: &Lookup) -> Result<Lookup> {
        self.start_thread(&lost.query)
    }
}

/// What [`Resolver::start`] has.
pub(crate) enum Started {
    Found(Vec<SocketAddr>),
    Lookup(Lookup),
}

/// A lookup on a thread of its own. Dropping it gives it up, without waiting.
pub(crate) struct Lookup {
    query: Query,
    /// Whose thread it is.
    process: u32,
    answer: Arc<Mutex<Answer>>,
    ready_fd: RawFd,
}

impl Lookup {
    /// Readable once there is an answer.
    pub(crate) fn fd(&self) -> RawFd {
        self.ready_fd
    }

    /// The answer, if there is one by now; once.
    pub(crate) fn take(&self) -> Option<Result<Vec<SocketAddr>>> {
        locked(&self.answer).found.take()
    }

    /// There is an answer to take: as soon as the descriptor is readable, unless others made it so.
    pub(crate) fn is_done(&self) -> bool {
        locked(&self.answer).found.is_some()
    }

    /// This is a forked child, which has no copy of the thread: no answer will come, though the parent's thread makes the
    /// descriptor readable that both have. Nor may the lock be waited for, which that thread may have held at the fork.
    pub(crate) fn is_lost(&self) -> bool {
        self.process != process::id()
    }
}

impl Drop for Lookup {
    fn drop(&mut self) {
        let answer = if self.is_lost() { self.answer.try_lock().ok() } else { Some(locked(&self.answer)) };
        // Closed now, not when the thread lets go of the answer.
        drop(answer.and_then(|mut answer| answer.ready.take()));
    }
}

fn no_answer() -> Error {
    Error::new(Status::Internal, "a lookup ended without an answer")
}

/// A detached thread that leaves the program's signals to the program's own threads.
fn start_thread(run: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let _signals = sys::SignalsBlocked::new();
    std::thread::Builder::new().name("netlib-lookup".into()).stack_size(STACK).spawn(run).map(drop)
}

/// The address family for lookups: any, if this system can bind an IPv6 address, else IPv4 alone.
pub(crate) fn allowed_gai_family() -> i32 {
    let loopback = SocketAddr::from((Ipv6Addr::LOCALHOST, 0));
    match Socket::new(Domain::IPV6, Type::STREAM, None).and_then(|socket| socket.bind(&loopback.into())) {
        // Without a descriptor to ask with nothing speaks against IPv6.
        Err(error) if !error.raw_os_error().is_some_and(sys::is_out_of_descriptors) => libc::AF_INET,
        _ => libc::AF_UNSPEC,
    }
}

fn system_lookup(query: &Query) -> Result<Vec<SocketAddr>> {
    sys::getaddrinfo(query.host(), query.port(), allowed_gai_family(), 0).map_err(|failure| query.failed(failure))
}

/// How many lookups are under way in this process: its number, and the count below it. A forked child has none of its
/// parent's threads, so it begins to count anew.
pub(crate) struct Outstanding(AtomicU64);

impl Outstanding {
    pub(crate) const fn new() -> Outstanding {
        Outstanding(AtomicU64::new(0))
    }

    /// Changes the count, unless `change` refuses.
    fn update(&self, change: impl Fn(u32) -> Option<u32>) -> bool {
        let process = process::id();
        let change = |both| change(count_of(process, both)).map(|count| u64::from(process) << 32 | u64::from(count));
        self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, change).is_ok()
    }

    #[cfg(test)]
    pub(crate) fn count(&self) -> u32 {
        count_of(process::id(), self.0.load(Ordering::Acquire))
    }
}

fn count_of(process: u32, both: u64) -> u32 {
    if both >> 32 == u64::from(process) { both as u32 } else { 0 }
}

/// One lookup's place among those that may be outstanding, until it is dropped.
struct Slot(&'static Outstanding);

impl Slot {
    fn take(outstanding: &'static Outstanding, most: usize) -> Option<Slot> {
        let more = |count| (usize::try_from(count).ok()? < most).then_some(count + 1);
        outstanding.update(more).then(|| Slot(outstanding))
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.update(|count| count.checked_sub(1));
    }
}

/// What the thread found; owned by the one who waits.
struct Answer {
    found: Option<Result<Vec<SocketAddr>>>,
    /// Raised when the thread is done; gone once nobody waits.
    ready: Option<Wake>,
}

fn locked(answer: &Mutex<Answer>) -> MutexGuard<'_, Answer> {
    answer.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The thread's end of an [`Answer`]. Wakes the one who waits even if the lookup panics.
struct Reporter(Weak<Mutex<Answer>>);

impl Reporter {
    fn report(self, found: Result<Vec<SocketAddr>>) {
        if let Some(answer) = self.0.upgrade() {
            locked(&answer).found = Some(found);
        }
    }
}

impl Drop for Reporter {
    fn drop(&mut self) {
        let Some(answer) = self.0.upgrade() else { return };
        let mut answer = locked(&answer);
        if std::thread::panicking() {
            answer.found = Some(Err(no_answer()));
        }
        if let Some(ready) = &answer.ready {
            ready.raise();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;
    use std::time::{Duration, Instant};

    #[test]
    fn numeric_hosts_need_no_lookup() {
        static NONE: Outstanding = Outstanding::new();
        let resolver = Resolver::new(Arc::new(|query: &Query| panic!("looked up {query:?}")), &NONE, 0);
        let limit = Limit::new(30.0).unwrap();
        for (host, expected) in [
            ("127.0.0.1", "127.0.0.1:80"),
            ("[127.0.0.1]", "127.0.0.1:80"),
            ("127.1", "127.0.0.1:80"),
            ("0x7f.1", "127.0.0.1:80"),
            ("2130706433", "127.0.0.1:80"),
            ("[::1]", "[::1]:80"),
            ("::ffff:1.2.3.4", "[::ffff:1.2.3.4]:80"),
        ] {
            let found = resolver.resolve(Query::new(host, 80).unwrap(), Some(&limit)).unwrap();
            assert_eq!(found, [expected.parse().unwrap()], "{host}");
        }
        let error = resolver.resolve(Query::new("fe80::1%nosuch", 80).unwrap(), Some(&limit)).unwrap_err();
        assert_eq!((error.status(), error.resolver_code()), (Status::NameResolution, libc::EAI_NONAME));
    }

    /// A lookup that waits until the returned sender is dropped.
    fn stuck() -> (mpsc::Sender<()>, Arc<Find>) {
        let (release, held) = mpsc::channel();
        let held = Mutex::new(held);
        let lookup = move |query: &Query| {
            let _ = held.lock().unwrap().recv();
            Ok(vec![SocketAddr::new([127, 0, 0, 1].into(), query.port())])
        };
        (release, Arc::new(lookup))
    }

    fn name() -> Query {
        Query::new("name.test", 80).unwrap()
    }

    fn until_none(outstanding: &Outstanding) {
        let hung = Instant::now() + Duration::from_secs(10);
        while outstanding.count() > 0 {
            assert!(Instant::now() < hung, "an abandoned lookup did not end");
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_lookup_that_never_ends_is_abandoned_in_time() {
        static OUT: Outstanding = Outstanding::new();
        let (release, lookup) = stuck();
        let resolver = Resolver::new(lookup, &OUT, 8);
        for (seconds, cancel, expected) in
            [(0.02, false, Status::DeadlineExceeded), (f64::INFINITY, true, Status::Cancelled)]
        {
            let limit = Arc::new(Limit::new(seconds).unwrap());
            let began = Instant::now();
            let other = Arc::clone(&limit);
            let canceller = std::thread::spawn(move || {
                while cancel && OUT.count() < 2 {
                    std::thread::yield_now();
                }
                if cancel {
                    other.cancel();
                }
            });
            assert_eq!(resolver.resolve(name(), Some(&limit)).unwrap_err().status(), expected);
            assert!(began.elapsed() < Duration::from_secs(5));
            canceller.join().unwrap();
        }
        assert_eq!(OUT.count(), 2);
        drop(release);
        until_none(&OUT);
    }

    #[test]
    fn outstanding_lookups_are_capped() {
        static OUT: Outstanding = Outstanding::new();
        let (release, lookup) = stuck();
        let resolver = Resolver::new(lookup, &OUT, 3);
        let tries = || {
            let limit = Limit::new(0.005).unwrap();
            resolver.resolve(name(), Some(&limit)).unwrap_err().status()
        };
        assert_eq!([tries(), tries(), tries()], [Status::DeadlineExceeded; 3]);
        assert_eq!([tries(), tries()], [Status::TooManyLookups; 2]);
        drop(release);
        until_none(&OUT);
        let limit = Limit::new(30.0).unwrap();
        assert_eq!(resolver.resolve(name(), Some(&limit)).unwrap(), ["127.0.0.1:80".parse().unwrap()]);
        until_none(&OUT);
    }

    #[test]
    fn a_forked_child_counts_anew() {
        let parent = u64::from(process::id() ^ 1);
        static OUT: Outstanding = Outstanding::new();
        OUT.0.store(parent << 32 | 3, Ordering::Release);
        assert_eq!(OUT.count(), 0);
        let places = [Slot::take(&OUT, 2), Slot::take(&OUT, 2)];
        assert!(places.iter().all(Option::is_some) && Slot::take(&OUT, 2).is_none());
        assert_eq!(OUT.count(), 2);
        drop(places);
        assert_eq!(OUT.count(), 0);
    }

    #[test]
    fn what_a_lookup_says_is_handed_over() {
        static OUT: Outstanding = Outstanding::new();
        let limit = Limit::new(30.0).unwrap();
        let failing = |query: &Query| {
            let failure = sys::LookupFailure { code: libc::EAI_AGAIN, text: "try again".into(), system: None };
            Err(query.failed(failure))
        };
        let empty = |_: &Query| Ok(Vec::new());
        let broken = |_: &Query| panic!("a bug in a lookup");
        let lookups: [(Arc<Find>, Status, i32, &str); 3] = [
            (Arc::new(failing), Status::NameResolution, libc::EAI_AGAIN, "cannot resolve name.test: try again"),
            (Arc::new(empty), Status::NameResolution, 0, "name.test has no addresses"),
            (Arc::new(broken), Status::Internal, 0, "a lookup ended without an answer"),
        ];
        for (lookup, status, code, message) in lookups {
            let error = Resolver::new(lookup, &OUT, 1).resolve(name(), Some(&limit)).unwrap_err();
            assert_eq!((error.status(), error.resolver_code(), error.message()), (status, code, message));
            until_none(&OUT);
        }
    }

    #[test]
    fn a_helper_thread_takes_no_signals() {
        static OUT: Outstanding = Outstanding::new();
        let lookup = |query: &Query| {
            assert!(sys::is_signal_blocked(libc::SIGALRM) && sys::is_signal_blocked(libc::SIGTERM));
            Ok(vec![SocketAddr::new([127, 0, 0, 1].into(), query.port())])
        };
        let limit = Limit::new(30.0).unwrap();
        assert!(Resolver::new(Arc::new(lookup), &OUT, 1).resolve(name(), Some(&limit)).is_ok());
        assert!(!sys::is_signal_blocked(libc::SIGALRM), "the caller's mask is as it was");
    }
}
