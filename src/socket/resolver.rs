//! Resolves names within a limit. getaddrinfo(3) cannot be interrupted, so a lookup that a limit may end runs on a
//! background thread. Abandoning a lookup does not wait for its thread; the thread frees the remaining data when it
//! ends.

use std::net::{Ipv6Addr, SocketAddr};
use std::os::fd::RawFd;
use std::sync::{Arc, Weak};

use socket2::{Domain, Socket, Type};

use crate::error::{Error, Result};
use crate::fork::{Mutex, Process};
use crate::socket::connect_options::AddressFamily;
use crate::socket::host_port::HostPort;
use crate::socket::lookup_queue::{LookupQueue, Ticket};
use crate::socket::sys::{self, Wake};
use crate::status::Status;

/// Looks up the addresses of a host. May block for any length of time.
type LookupFn = dyn Fn(&HostPort) -> Result<Vec<SocketAddr>> + Send + Sync;

/// A lookup function and the queue of threads that run it.
#[derive(Clone)]
pub(crate) struct Resolver {
    lookup: Arc<LookupFn>,
    queue: &'static LookupQueue,
    max_threads: usize,
}

/// The maximum number of lookup threads in the process.
const MAX_THREADS: usize = 64;
static QUEUE: LookupQueue = LookupQueue::new();

impl Resolver {
    /// Returns a resolver that calls getaddrinfo(3) for addresses of a family.
    pub(crate) fn system(family: AddressFamily) -> Resolver {
        Resolver::new(Arc::new(move |host: &HostPort| system_lookup(host, family)), &QUEUE, MAX_THREADS)
    }

    pub(crate) fn new(lookup: Arc<LookupFn>, queue: &'static LookupQueue, max_threads: usize) -> Resolver {
        Resolver { lookup, queue, max_threads }
    }

    /// Looks up a host on the calling thread. `resolve_blocking` returns at least one address, or an error.
    pub(crate) fn resolve_blocking(&self, host: &HostPort) -> Result<Vec<SocketAddr>> {
        let found = host.numeric().unwrap_or_else(|| (self.lookup)(host))?;
        host.require_addresses(found)
    }

    /// Starts a lookup on a background thread, or queues it while the maximum number of threads runs; this includes a
    /// numeric host.
    pub(crate) fn start(&self, host: HostPort) -> Result<Lookup> {
        let done = Wake::open()?;
        let done_fd = done.fd();
        let state = Arc::new(Mutex::new(LookupState { reported: false, result: None, done: Some(done) }));
        let process = Process::current();
        // The thread has a weak reference, so that dropping the lookup frees its state even while the thread still
        // runs.
        let reporter = Reporter { process, state: Arc::downgrade(&state) };
        let (lookup, thread_host) = (Arc::clone(&self.lookup), host.clone());
        let job =
            move || reporter.report(lookup(&thread_host).and_then(|found| thread_host.require_addresses(found)));
        let ticket = self.queue.submit(self.max_threads, Box::new(job)).map_err(|error| {
            Error::from_io(Status::Io, format!("cannot start a thread to resolve {}", host.host_text()), &error)
        })?;
        Ok(Lookup { host, process, queued: ticket.map(|ticket| (self.queue, ticket)), state, done_fd })
    }

    /// Starts a new lookup of the same host, to replace a lookup that [is orphaned](Lookup::is_orphaned).
    pub(crate) fn restart(&self, orphaned: &Lookup) -> Result<Lookup> {
        self.start(orphaned.host.clone())
    }
}

/// A name lookup on a background thread. Dropping the `Lookup` abandons the lookup without waiting for the thread.
pub(crate) struct Lookup {
    host: HostPort,
    /// The process in which the thread runs.
    process: Process,
    /// The queue and the ticket of a lookup that was not started immediately.
    queued: Option<(&'static LookupQueue, Ticket)>,
    state: Arc<Mutex<LookupState>>,
    done_fd: RawFd,
}

impl Lookup {
    /// Returns a descriptor that becomes readable when the lookup has ended.
    pub(crate) fn fd(&self) -> RawFd {
        self.done_fd
    }

    /// Takes the lookup's result. `None` while the lookup runs, and after the result was taken.
    pub(crate) fn take(&self) -> Option<Result<Vec<SocketAddr>>> {
        self.state.lock().result.take()
    }

    /// Returns whether a result can be taken. If there is no result although the descriptor is readable, the
    /// application wrote to the descriptor or closed it.
    pub(crate) fn is_done(&self) -> bool {
        self.state.lock().result.is_some()
    }

    /// Returns whether this process is a forked child that inherited the lookup without its thread. The lookup has no
    /// result in the child, although the parent's thread makes the shared descriptor readable.
    pub(crate) fn is_orphaned(&self) -> bool {
        self.process != Process::current()
    }
}

impl Drop for Lookup {
    fn drop(&mut self) {
        if let Some((queue, ticket)) = self.queued
            && !self.is_orphaned()
        {
            queue.cancel(ticket);
        }
        // fork(2) waits until the lookup thread releases the lock, but only for a bounded time. If that time was too
        // short, a forked child finds the lock taken, and must not wait for it.
        let state = if self.is_orphaned() { self.state.try_lock() } else { Some(self.state.lock()) };
        // Closes the descriptor now; the thread may drop the state much later.
        drop(state.and_then(|mut state| state.done.take()));
    }
}

/// The addresses of a host, or the pending lookup that will return them.
pub(crate) enum Resolution {
    Done(Vec<SocketAddr>),
    Pending(Lookup),
}

fn missing_result() -> Error {
    Error::new(Status::Internal, "a lookup ended without an answer")
}

/// Returns the address family for lookups: AF_UNSPEC if this system can bind a socket to ::1, otherwise AF_INET.
pub(crate) fn allowed_gai_family() -> i32 {
    let loopback = SocketAddr::from((Ipv6Addr::LOCALHOST, 0));
    match Socket::new(Domain::IPV6, Type::STREAM, None).and_then(|socket| socket.bind(&loopback.into())) {
        // If no descriptor is free for the test socket, IPv6 is assumed to work.
        Err(error) if !error.raw_os_error().is_some_and(sys::is_out_of_descriptors) => libc::AF_INET,
        _ => libc::AF_UNSPEC,
    }
}

fn system_lookup(host: &HostPort, family: AddressFamily) -> Result<Vec<SocketAddr>> {
    let family = match family {
        AddressFamily::Any => allowed_gai_family(),
        AddressFamily::Ipv4 => libc::AF_INET,
        AddressFamily::Ipv6 => libc::AF_INET6,
    };
    sys::getaddrinfo(host.host(), host.port(), family, 0).map_err(|failure| host.lookup_failed(failure))
}

/// The state that a [`Lookup`] and its thread share.
struct LookupState {
    reported: bool,
    result: Option<Result<Vec<SocketAddr>>>,
    /// Made readable when the lookup has ended; `None` once the lookup is abandoned.
    done: Option<Wake>,
}

/// Reports the result of a lookup, even if the lookup function panics or never runs.
struct Reporter {
    /// The process that started the lookup. A forked child has copies of its parent's queued lookups, which must not
    /// wake the parent.
    process: Process,
    state: Weak<Mutex<LookupState>>,
}

impl Reporter {
    fn report(&self, result: Result<Vec<SocketAddr>>) {
        if self.process != Process::current() {
            return;
        }
        let Some(state) = self.state.upgrade() else { return };
        let mut state = state.lock();
        if state.reported {
            return;
        }
        state.reported = true;
        state.result = Some(result);
        if let Some(done) = &state.done {
            done.raise();
        }
    }
}

impl Drop for Reporter {
    fn drop(&mut self) {
        self.report(Err(missing_result()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;
    use std::sync::{Mutex, mpsc};
    use std::time::{Duration, Instant};

    use crate::limit::Limit;
    use crate::socket::wait::wait;

    /// Waits for a lookup within a limit, as `Connect` does.
    fn resolve(resolver: &Resolver, host: HostPort, limit: &Limit) -> Result<Vec<SocketAddr>> {
        limit.check()?;
        let lookup = resolver.start(host)?;
        wait(lookup.fd(), sys::POLL_IN, None, Some(limit))?;
        lookup.take().unwrap()
    }

    #[test]
    fn numeric_hosts_are_resolved_without_a_lookup() {
        static UNUSED: LookupQueue = LookupQueue::new();
        let resolver = Resolver::new(Arc::new(|host: &HostPort| panic!("looked up {host:?}")), &UNUSED, 0);
        for (host, expected) in [
            ("127.0.0.1", "127.0.0.1:80"),
            ("[127.0.0.1]", "127.0.0.1:80"),
            ("127.1", "127.0.0.1:80"),
            ("0x7f.1", "127.0.0.1:80"),
            ("2130706433", "127.0.0.1:80"),
            ("[::1]", "[::1]:80"),
            ("::ffff:1.2.3.4", "[::ffff:1.2.3.4]:80"),
        ] {
            let found = resolver.resolve_blocking(&HostPort::new(host, 80).unwrap()).unwrap();
            assert_eq!(found, [expected.parse().unwrap()], "{host}");
        }
        let error = resolver.resolve_blocking(&HostPort::new("fe80::1%nosuch", 80).unwrap()).unwrap_err();
        assert_eq!((error.status(), error.resolver_code()), (Status::NameResolution, libc::EAI_NONAME));
    }

    /// Returns a lookup function that blocks until the returned sender is dropped.
    fn blocked_lookup() -> (mpsc::Sender<()>, Arc<LookupFn>) {
        let (release, released) = mpsc::channel();
        let released = Mutex::new(released);
        let lookup = move |host: &HostPort| {
            let _ = released.lock().unwrap().recv();
            Ok(vec![SocketAddr::new([127, 0, 0, 1].into(), host.port())])
        };
        (release, Arc::new(lookup))
    }

    fn name() -> HostPort {
        HostPort::new("name.test", 80).unwrap()
    }

    fn wait_until_idle(queue: &LookupQueue) {
        let deadline = Instant::now() + Duration::from_secs(10);
        while queue.running() > 0 {
            assert!(Instant::now() < deadline, "an abandoned lookup did not end");
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_blocked_lookup_is_abandoned_when_the_limit_ends() {
        static QUEUE: LookupQueue = LookupQueue::new();
        let (release, lookup) = blocked_lookup();
        let resolver = Resolver::new(lookup, &QUEUE, 8);
        for (seconds, cancel, expected) in
            [(0.02, false, Status::DeadlineExceeded), (f64::INFINITY, true, Status::Cancelled)]
        {
            let limit = Arc::new(Limit::new(seconds).unwrap());
            let start = Instant::now();
            let cancelled = Arc::clone(&limit);
            let canceller = std::thread::spawn(move || {
                while cancel && QUEUE.running() < 2 {
                    std::thread::yield_now();
                }
                if cancel {
                    cancelled.cancel();
                }
            });
            assert_eq!(resolve(&resolver, name(), &limit).unwrap_err().status(), expected);
            assert!(start.elapsed() < Duration::from_secs(5));
            canceller.join().unwrap();
        }
        assert_eq!(QUEUE.running(), 2);
        drop(release);
        wait_until_idle(&QUEUE);
    }

    #[test]
    fn lookups_beyond_the_maximum_number_of_threads_are_queued() {
        static QUEUE: LookupQueue = LookupQueue::new();
        let (release, lookup) = blocked_lookup();
        let resolver = Resolver::new(lookup, &QUEUE, 3);
        let status = || {
            let limit = Limit::new(0.005).unwrap();
            resolve(&resolver, name(), &limit).unwrap_err().status()
        };
        assert_eq!([status(), status(), status()], [Status::DeadlineExceeded; 3]);
        // The lookups beyond the maximum number of threads never ran. Abandoning a waiting lookup removes it from the
        // queue.
        assert_eq!([status(), status()], [Status::DeadlineExceeded; 2]);
        assert_eq!((QUEUE.running(), QUEUE.waiting()), (3, 0));
        drop(release);
        wait_until_idle(&QUEUE);
        let limit = Limit::new(30.0).unwrap();
        assert_eq!(resolve(&resolver, name(), &limit).unwrap(), ["127.0.0.1:80".parse().unwrap()]);
        wait_until_idle(&QUEUE);
    }

    #[test]
    fn an_error_or_panic_of_the_lookup_function_makes_the_lookup_fail() {
        static QUEUE: LookupQueue = LookupQueue::new();
        let limit = Limit::new(30.0).unwrap();
        let failing = |host: &HostPort| {
            let failure = sys::LookupFailure { code: libc::EAI_AGAIN, text: "try again".into(), system: None };
            Err(host.lookup_failed(failure))
        };
        let empty = |_: &HostPort| Ok(Vec::new());
        let panicking = |_: &HostPort| panic!("a panic in a lookup");
        let lookups: [(Arc<LookupFn>, Status, i32, &str); 3] = [
            (Arc::new(failing), Status::NameResolution, libc::EAI_AGAIN, "cannot resolve name.test: try again"),
            (Arc::new(empty), Status::NameResolution, 0, "name.test has no addresses"),
            (Arc::new(panicking), Status::Internal, 0, "a lookup ended without an answer"),
        ];
        for (lookup, status, code, message) in lookups {
            let error = resolve(&Resolver::new(lookup, &QUEUE, 1), name(), &limit).unwrap_err();
            assert_eq!((error.status(), error.resolver_code(), error.message()), (status, code, message));
            wait_until_idle(&QUEUE);
        }
    }

    #[test]
    fn a_lookup_fails_if_its_thread_cannot_be_started() {
        static SECOND: Mutex<Option<mpsc::Sender<Error>>> = Mutex::new(None);
        static QUEUE: LookupQueue = LookupQueue::with_spawn(|_| {
            if let Some(report) = SECOND.lock().unwrap().take() {
                std::thread::spawn(move || report.send(attempt().unwrap_err()));
                // Waits so that the second lookup can start; the result does not depend on the length of the wait.
                std::thread::sleep(Duration::from_millis(50));
            }
            Err(io::Error::from_raw_os_error(libc::EAGAIN))
        });
        fn attempt() -> Result<Vec<SocketAddr>> {
            let lookup = |host: &HostPort| panic!("looked up {host:?}");
            resolve(&Resolver::new(Arc::new(lookup), &QUEUE, 1), name(), &Limit::new(30.0).unwrap())
        }
        let (report, second) = mpsc::channel();
        *SECOND.lock().unwrap() = Some(report);
        for error in [attempt().unwrap_err(), second.recv().unwrap()] {
            assert_eq!((error.status(), error.errno()), (Status::Io, libc::EAGAIN), "{}", error.message());
            assert!(error.message().starts_with("cannot start a thread to resolve name.test"), "{}", error.message());
        }
    }

    #[test]
    fn lookup_threads_block_signals() {
        static QUEUE: LookupQueue = LookupQueue::new();
        let lookup = |host: &HostPort| {
            assert!(sys::is_signal_blocked(libc::SIGALRM) && sys::is_signal_blocked(libc::SIGTERM));
            Ok(vec![SocketAddr::new([127, 0, 0, 1].into(), host.port())])
        };
        let limit = Limit::new(30.0).unwrap();
        assert!(resolve(&Resolver::new(Arc::new(lookup), &QUEUE, 1), name(), &limit).is_ok());
        assert!(!sys::is_signal_blocked(libc::SIGALRM), "the signal mask of the caller has changed");
    }
}
