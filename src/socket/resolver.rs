//! Name resolution that obeys a limit. The system's resolver cannot be interrupted, so a lookup that may have to be
//! given up runs on a thread of its own; giving it up costs the caller nothing, and the thread frees what is left.

use std::net::{Ipv6Addr, SocketAddr};
use std::os::fd::RawFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use socket2::{Domain, Socket, Type};

use crate::error::{Error, Result};
use crate::fork::Process;
use crate::limit::Limit;
use crate::socket::host_port::Query;
use crate::socket::lookup_queue::{LookupQueue, Turn};
use crate::socket::sys::{self, Wake};
use crate::socket::wait::wait;
use crate::status::Status;

/// Asks something for the addresses of a name; it may take as long as it likes.
type Find = dyn Fn(&Query) -> Result<Vec<SocketAddr>> + Send + Sync;

/// Where addresses come from, and how many lookups run at once; others are queued.
#[derive(Clone)]
pub(crate) struct Resolver {
    lookup: Arc<Find>,
    queue: &'static LookupQueue,
    most: usize,
}

/// How many threads of the whole process may be inside the system's resolver on behalf of limits.
const MOST_LOOKUPS: usize = 64;
static QUEUE: LookupQueue = LookupQueue::new();

impl Resolver {
    /// getaddrinfo(3).
    pub(crate) fn system() -> Resolver {
        Resolver::new(Arc::new(system_lookup), &QUEUE, MOST_LOOKUPS)
    }

    pub(crate) fn new(lookup: Arc<Find>, queue: &'static LookupQueue, most: usize) -> Resolver {
        Resolver { lookup, queue, most }
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
        let ready = Wake::open()?;
        let ready_fd = ready.fd();
        let answer = Arc::new(Mutex::new(Answer { reported: false, found: None, ready: Some(ready) }));
        let process = Process::current();
        // Weak: a caller that gives up frees the answer at once, whatever the thread is doing.
        let reporter = Reporter { process, answer: Arc::downgrade(&answer) };
        let (find, asked) = (Arc::clone(&self.lookup), query.clone());
        let run = move || reporter.report(find(&asked).and_then(|found| asked.at_least_one(found)));
        let turn = self.queue.submit(self.most, Box::new(run)).map_err(|error| {
            Error::from_io(Status::Io, format!("cannot start a thread to resolve {}", query.text()), &error)
        })?;
        let given_up = turn.map(|turn| (self.queue, turn));
        Ok(Lookup { query: query.clone(), process, waiting: given_up, answer, ready_fd })
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
    process: Process,
    /// Its place in the queue, if it had to wait at first.
    waiting: Option<(&'static LookupQueue, Turn)>,
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

    /// This is a forked child, which has no copy of the thread: no answer will come, though the parent's thread makes
    /// the descriptor readable that both have. Nor may the lock be waited for, which that thread may have held at the
    /// fork.
    pub(crate) fn is_lost(&self) -> bool {
        self.process != Process::current()
    }
}

impl Drop for Lookup {
    fn drop(&mut self) {
        if let Some((queue, turn)) = self.waiting
            && !self.is_lost()
        {
            queue.cancel(turn);
        }
        let answer = if self.is_lost() { self.answer.try_lock().ok() } else { Some(locked(&self.answer)) };
        // Closed now, not when the thread lets go of the answer.
        drop(answer.and_then(|mut answer| answer.ready.take()));
    }
}

fn no_answer() -> Error {
    Error::new(Status::Internal, "a lookup ended without an answer")
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

/// What the thread found; owned by the one who waits.
struct Answer {
    reported: bool,
    found: Option<Result<Vec<SocketAddr>>>,
    /// Raised when the thread is done; gone once nobody waits.
    ready: Option<Wake>,
}

fn locked(answer: &Mutex<Answer>) -> MutexGuard<'_, Answer> {
    answer.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The thread's end of an [`Answer`]. Wakes the waiting thread even if the lookup panics, or never runs.
struct Reporter {
    /// A forked child has copies of the parent's queued lookups, and must not wake the parent.
    process: Process,
    answer: Weak<Mutex<Answer>>,
}

impl Reporter {
    fn report(&self, found: Result<Vec<SocketAddr>>) {
        if self.process != Process::current() {
            return;
        }
        let Some(answer) = self.answer.upgrade() else { return };
        let mut answer = locked(&answer);
        if answer.reported {
            return;
        }
        answer.reported = true;
        answer.found = Some(found);
        if let Some(ready) = &answer.ready {
            ready.raise();
        }
    }
}

impl Drop for Reporter {
    fn drop(&mut self) {
        self.report(Err(no_answer()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;
    use std::sync::mpsc;
    use std::time::{Duration, Instant};

    #[test]
    fn numeric_hosts_need_no_lookup() {
        static NONE: LookupQueue = LookupQueue::new();
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

    fn until_none(queue: &LookupQueue) {
        let hung = Instant::now() + Duration::from_secs(10);
        while queue.count() > 0 {
            assert!(Instant::now() < hung, "an abandoned lookup did not end");
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_lookup_that_never_ends_is_abandoned_in_time() {
        static OUT: LookupQueue = LookupQueue::new();
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
    fn a_limit_that_has_ended_begins_no_lookup() {
        static OUT: LookupQueue = LookupQueue::new();
        // There is no place for one: it would wait until the limit ends.
        let resolver = Resolver::new(Arc::new(|query: &Query| panic!("looked up {query:?}")), &OUT, 0);
        for (seconds, cancel, expected) in [
            (0.0, false, Status::DeadlineExceeded),
            (30.0, true, Status::Cancelled),
            (0.005, false, Status::DeadlineExceeded),
        ] {
            let limit = Limit::new(seconds).unwrap();
            if cancel {
                limit.cancel();
            }
            assert_eq!(resolver.resolve(name(), Some(&limit)).unwrap_err().status(), expected);
        }
    }

    #[test]
    fn lookups_take_turns() {
        static OUT: LookupQueue = LookupQueue::new();
        let (release, lookup) = stuck();
        let resolver = Resolver::new(lookup, &OUT, 3);
        let tries = || {
            let limit = Limit::new(0.005).unwrap();
            resolver.resolve(name(), Some(&limit)).unwrap_err().status()
        };
        assert_eq!([tries(), tries(), tries()], [Status::DeadlineExceeded; 3]);
        // Two lookups that never ran leave nothing behind.
        assert_eq!([tries(), tries()], [Status::DeadlineExceeded; 2]);
        assert_eq!((OUT.count(), OUT.waiting()), (3, 0));
        drop(release);
        until_none(&OUT);
        let limit = Limit::new(30.0).unwrap();
        assert_eq!(resolver.resolve(name(), Some(&limit)).unwrap(), ["127.0.0.1:80".parse().unwrap()]);
        until_none(&OUT);
    }

    #[test]
    fn what_a_lookup_says_is_handed_over() {
        static OUT: LookupQueue = LookupQueue::new();
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
    fn every_lookup_reports_that_its_thread_could_not_be_started() {
        static SECOND: Mutex<Option<mpsc::Sender<Error>>> = Mutex::new(None);
        static OUT: LookupQueue = LookupQueue::with_spawn(|_| {
            if let Some(report) = SECOND.lock().unwrap().take() {
                std::thread::spawn(move || report.send(resolve().unwrap_err()));
                // Lets the second lookup try; the result does not depend on the time.
                std::thread::sleep(Duration::from_millis(50));
            }
            Err(io::Error::from_raw_os_error(libc::EAGAIN))
        });
        fn resolve() -> Result<Vec<SocketAddr>> {
            let lookup = |query: &Query| panic!("looked up {query:?}");
            Resolver::new(Arc::new(lookup), &OUT, 1).resolve(name(), Some(&Limit::new(30.0).unwrap()))
        }
        let (report, second) = mpsc::channel();
        *SECOND.lock().unwrap() = Some(report);
        for error in [resolve().unwrap_err(), second.recv().unwrap()] {
            assert_eq!((error.status(), error.errno()), (Status::Io, libc::EAGAIN), "{}", error.message());
            assert!(error.message().starts_with("cannot start a thread to resolve name.test"), "{}", error.message());
        }
    }

    #[test]
    fn a_helper_thread_takes_no_signals() {
        static OUT: LookupQueue = LookupQueue::new();
        let lookup = |query: &Query| {
            assert!(sys::is_signal_blocked(libc::SIGALRM) && sys::is_signal_blocked(libc::SIGTERM));
            Ok(vec![SocketAddr::new([127, 0, 0, 1].into(), query.port())])
        };
        let limit = Limit::new(30.0).unwrap();
        assert!(Resolver::new(Arc::new(lookup), &OUT, 1).resolve(name(), Some(&limit)).is_ok());
        assert!(!sys::is_signal_blocked(libc::SIGALRM), "the caller's mask is as it was");
    }
}
