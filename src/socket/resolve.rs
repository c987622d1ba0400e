//! Name resolution that obeys a limit. The system's resolver cannot be interrupted, so a lookup that may have to be
//! given up runs on a thread of its own; giving it up costs the caller nothing, and the thread frees what is left.

use std::ffi::{CStr, CString};
use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use socket2::{Domain, Socket, Type};

use crate::callback::Resolve;
use crate::error::{Error, Result};
use crate::limit::Limit;
use crate::socket::sys::{self, Wake};
use crate::socket::wait::wait;
use crate::status::Status;
use crate::url;

/// Longer than any name that can be resolved (a domain name has at most 253 bytes), shorter than any attack.
const MAX_HOST: usize = 1024;
/// RFC 1035 section 2.3.4.
const MAX_LABEL: usize = 63;
/// Of a thread that runs the system's resolver. Given so that the standard library does not read the environment.
const STACK: usize = 1 << 20;

/// What is looked up.
#[derive(Clone, Debug)]
pub(crate) struct Query {
    /// In ASCII, without brackets.
    host: CString,
    port: u16,
}

impl Query {
    /// `host` is a name, internationalised or not, an IPv4 address, or an IPv6 address with or without brackets.
    pub(crate) fn new(host: &str, port: u16) -> Result<Query> {
        let (inner, skipped) = match host.strip_prefix('[') {
            Some(rest) => (rest.strip_suffix(']').unwrap_or(rest), 1),
            None => (host, 0),
        };
        let refused = |what: &str| Error::new(Status::InvalidUrl, format!("the host {} {what}", shortened(host)));
        // Userinfo, whose password no message may show.
        if let Some(at) = host.bytes().position(|b| b == b'@') {
            return Err(Error::new(Status::InvalidUrl, format!("the host has an \"@\" at byte {at}")).at(at));
        }
        if inner.is_empty() {
            return Err(refused("is empty").at(skipped));
        }
        if inner.len() > MAX_HOST {
            return Err(refused(&format!("has {} bytes; at most {MAX_HOST} make sense", inner.len())));
        }
        let half_open = host.len() != inner.len() + 2 * skipped;
        if let Some(at) = inner.bytes().position(|b| b <= b' ' || b == 0x7f || b == b'[' || b == b']') {
            return Err(refused("has a byte that no host has").at(at + skipped));
        }
        if half_open {
            return Err(refused("has a bracket that is not closed").at(0));
        }
        if let Some(at) = inner.bytes().position(|b| matches!(b, b'/' | b'?' | b'#' | b'\\')) {
            return Err(refused("has a byte that ends a host: a URL is not one").at(at + skipped));
        }
        // Only a numeric address has colons, two of them at least; its dots and its zone separate no labels.
        if let Some(colon) = inner.find(':') {
            if inner.rfind(':') == Some(colon) {
                return Err(refused("has a port, which is a parameter of its own").at(colon + skipped));
            }
            return Query::of_ascii(inner, port);
        }
        let mut name = url::Name::new();
        url::append_idna(&mut name, inner.as_bytes(), |at| at + skipped)?;
        let name = String::from_utf8_lossy(&name);
        let mut at = 0;
        // A last dot makes the name absolute: it ends the last label.
        for label in name.strip_suffix('.').unwrap_or(&name).split('.') {
            if label.is_empty() || label.len() > MAX_LABEL {
                let what = if label.is_empty() { "is empty" } else { "has more than 63 bytes" };
                let error = refused(&format!("has a label that {what}"));
                return Err(if inner.is_ascii() { error.at(at + skipped) } else { error });
            }
            at += label.len() + 1;
        }
        Query::of_ascii(&name, port)
    }

    fn of_ascii(host: &str, port: u16) -> Result<Query> {
        let host = CString::new(host)
            .map_err(|nul| Error::new(Status::InvalidUrl, "the host has a NUL byte").at(nul.nul_position()))?;
        Ok(Query { host, port })
    }

    pub(crate) fn host(&self) -> &CStr {
        &self.host
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    fn text(&self) -> &str {
        self.host.to_str().unwrap_or("")
    }

    /// The answer that needs no lookup: the host is an address, in any of the forms that inet_aton(3) and
    /// inet_pton(3) read. `None`: it is a name.
    fn numeric(&self) -> Option<Result<Vec<SocketAddr>>> {
        if let Ok(address) = self.text().parse::<IpAddr>() {
            return Some(Ok(vec![SocketAddr::new(address, self.port)]));
        }
        match sys::getaddrinfo(&self.host, self.port, libc::AF_UNSPEC, libc::AI_NUMERICHOST) {
            Ok(addresses) => Some(Ok(addresses)),
            Err(failure) if self.text().contains(':') => Some(Err(self.failed(failure))),
            Err(_) => None,
        }
    }

    /// Asks a function of the program, which is trusted to be in time. A numeric host is not asked for.
    pub(crate) fn resolve_with(&self, resolve: &Resolve, limit: Option<&Limit>) -> Result<Vec<SocketAddr>> {
        if let Some(found) = self.numeric() {
            return found;
        }
        limit.map_or(Ok(()), Limit::check)?;
        let left = limit.and_then(Limit::remaining).map_or(f64::INFINITY, |left| left.as_secs_f64());
        let found = resolve(&self.host, self.port, left)?;
        self.at_least_one(with_port(found, self.port))
    }

    fn at_least_one(&self, found: Vec<SocketAddr>) -> Result<Vec<SocketAddr>> {
        if found.is_empty() {
            return Err(Error::new(Status::NameResolution, format!("{} has no addresses", self.text())));
        }
        Ok(found)
    }

    fn failed(&self, failure: sys::LookupFailure) -> Error {
        let what = format!("cannot resolve {}", self.text());
        match failure.system {
            Some(system) => Error::from_io(Status::NameResolution, what, &system),
            None => Error::new(Status::NameResolution, format!("{what}: {}", failure.text)),
        }
        .with_resolver_code(failure.code)
    }
}

fn shortened(host: &str) -> &str {
    host.char_indices().nth(80).map_or(host, |(end, _)| &host[..end])
}

/// Addresses whose port is 0 get this one.
pub(crate) fn with_port(mut addresses: Vec<SocketAddr>, port: u16) -> Vec<SocketAddr> {
    for address in addresses.iter_mut().filter(|address| address.port() == 0) {
        address.set_port(port);
    }
    addresses
}

/// Asks something for the addresses of a name; it may take as long as it likes.
type Find = dyn Fn(&Query) -> Result<Vec<SocketAddr>> + Send + Sync;

/// Where addresses come from, and how many lookups may be under way at once.
#[derive(Clone)]
pub(crate) struct Resolver {
    lookup: Arc<Find>,
    outstanding: &'static AtomicUsize,
    most: usize,
}

/// How many threads of the whole process may be inside the system's resolver on behalf of limits.
const MOST_LOOKUPS: usize = 64;
static OUTSTANDING: AtomicUsize = AtomicUsize::new(0);

impl Resolver {
    /// getaddrinfo(3).
    pub(crate) fn system() -> Resolver {
        Resolver::new(Arc::new(system_lookup), &OUTSTANDING, MOST_LOOKUPS)
    }

    pub(crate) fn new(lookup: Arc<Find>, outstanding: &'static AtomicUsize, most: usize) -> Resolver {
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
        Ok(Lookup { answer, ready_fd })
    }
}

/// What [`Resolver::start`] has.
pub(crate) enum Started {
    Found(Vec<SocketAddr>),
    Lookup(Lookup),
}

/// A lookup on a thread of its own. Dropping it gives it up, without waiting.
pub(crate) struct Lookup {
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
}

impl Drop for Lookup {
    fn drop(&mut self) {
        // Closed now, not when the thread lets go of the answer.
        drop(locked(&self.answer).ready.take());
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
    let ipv6 = Socket::new(Domain::IPV6, Type::STREAM, None).and_then(|socket| socket.bind(&loopback.into()));
    if ipv6.is_ok() { libc::AF_UNSPEC } else { libc::AF_INET }
}

fn system_lookup(query: &Query) -> Result<Vec<SocketAddr>> {
    sys::getaddrinfo(query.host(), query.port(), allowed_gai_family(), 0).map_err(|failure| query.failed(failure))
}

/// One lookup's place among those that may be outstanding, until it is dropped.
struct Slot(&'static AtomicUsize);

impl Slot {
    fn take(outstanding: &'static AtomicUsize, most: usize) -> Option<Slot> {
        let more = |count| (count < most).then_some(count + 1);
        outstanding.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).ok().map(|_| Slot(outstanding))
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
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
    fn hosts() {
        let host = |text| match Query::new(text, 80) {
            Ok(query) => Ok(query.text().to_owned()),
            Err(error) => Err((error.status(), error.offset())),
        };
        let ok = |text: &str| Ok(text.to_owned());
        let bad = |at| Err((Status::InvalidUrl, at));
        let label = "a".repeat(63);
        for (input, expected) in [
            ("example.com", ok("example.com")),
            ("localhost.", ok("localhost.")),
            ("a_b", ok("a_b")),
            ("127.0.0.1", ok("127.0.0.1")),
            ("[127.0.0.1]", ok("127.0.0.1")),
            ("::1", ok("::1")),
            ("[::1]", ok("::1")),
            ("[fe80::1%eth0]", ok("fe80::1%eth0")),
            ("bücher.example", ok("xn--bcher-kva.example")),
            (&label, ok(&label)),
            (&format!("{label}a"), bad(Some(0))),
            (&format!("x.{label}a.com"), bad(Some(2))),
            ("a..b", bad(Some(2))),
            (".a", bad(Some(0))),
            (".", bad(Some(0))),
            ("a..", bad(Some(2))),
            ("", bad(Some(0))),
            ("[]", bad(Some(1))),
            ("[::1", bad(Some(0))),
            ("::1]", bad(Some(3))),
            ("[[::1]]", bad(Some(1))),
            ("[::1].x", bad(Some(4))),
            ("a b", bad(Some(1))),
            ("user:password@a", bad(Some(13))),
            ("http://user:password@a/", bad(Some(20))),
            ("a\r\nb", bad(Some(1))),
            ("a\0b", bad(Some(1))),
            ("a\x7f", bad(Some(1))),
            ("Bücher.EXAMPLE", ok("xn--bcher-kva.example")),
            ("bücher。example", ok("xn--bcher-kva.example")),
            (&"ü".repeat(60), bad(Some(0))),
            // Letters that fold to a colon, a slash, a space: no address, and no other name, comes out of a name.
            ("：：1", bad(Some(0))),
            ("x.a／b", bad(Some(2))),
            ("a\u{a0}b", bad(Some(0))),
            // Digits that fold to ASCII do make an address, as they do in URLs.
            ("１２７.0.0.1", ok("127.0.0.1")),
            (&"a.".repeat(513), bad(None)),
        ] {
            assert_eq!(host(input), expected, "{input:?}");
        }
    }

    #[test]
    fn numeric_hosts_need_no_lookup() {
        static NONE: AtomicUsize = AtomicUsize::new(0);
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

    fn until_none(outstanding: &AtomicUsize) {
        let hung = Instant::now() + Duration::from_secs(10);
        while outstanding.load(Ordering::Acquire) > 0 {
            assert!(Instant::now() < hung, "an abandoned lookup did not end");
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_lookup_that_never_ends_is_abandoned_in_time() {
        static OUT: AtomicUsize = AtomicUsize::new(0);
        let (release, lookup) = stuck();
        let resolver = Resolver::new(lookup, &OUT, 8);
        for (seconds, cancel, expected) in
            [(0.02, false, Status::DeadlineExceeded), (f64::INFINITY, true, Status::Cancelled)]
        {
            let limit = Arc::new(Limit::new(seconds).unwrap());
            let began = Instant::now();
            let other = Arc::clone(&limit);
            let canceller = std::thread::spawn(move || {
                while cancel && OUT.load(Ordering::Acquire) < 2 {
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
        assert_eq!(OUT.load(Ordering::Acquire), 2);
        drop(release);
        until_none(&OUT);
    }

    #[test]
    fn outstanding_lookups_are_capped() {
        static OUT: AtomicUsize = AtomicUsize::new(0);
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
    fn what_a_lookup_says_is_handed_over() {
        static OUT: AtomicUsize = AtomicUsize::new(0);
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
        static OUT: AtomicUsize = AtomicUsize::new(0);
        let lookup = |query: &Query| {
            assert!(sys::is_signal_blocked(libc::SIGALRM) && sys::is_signal_blocked(libc::SIGTERM));
            Ok(vec![SocketAddr::new([127, 0, 0, 1].into(), query.port())])
        };
        let limit = Limit::new(30.0).unwrap();
        assert!(Resolver::new(Arc::new(lookup), &OUT, 1).resolve(name(), Some(&limit)).is_ok());
        assert!(!sys::is_signal_blocked(libc::SIGALRM), "the caller's mask is as it was");
    }
}
