//! Connecting: to one address after the other, each with the whole timeout.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use socket2::{Domain, Socket, Type};

use crate::error::{Error, Result};
use crate::limit::Limit;
use crate::memory;
use crate::socket::policy::{AddressCallback, Policy};
use crate::socket::resolve::{Query, Resolver};
use crate::socket::sys;
use crate::socket::wait::wait;
use crate::status::Status;
use crate::timeout;

/// How to connect.
#[derive(Clone, Debug)]
pub struct ConnectOptions {
    /// For each address, in seconds: the process default, or none, which waits as long as the system does.
    pub timeout: f64,
    pub source: Option<SourceAddress>,
    pub socket_options: Vec<SocketOption>,
    /// Which addresses of the host are tried. The source address is no matter of it.
    pub policy: Policy,
}

impl Default for ConnectOptions {
    fn default() -> ConnectOptions {
        ConnectOptions {
            timeout: timeout::DEFAULT,
            source: None,
            socket_options: Vec::new(),
            policy: Policy::default(),
        }
    }
}

impl ConnectOptions {
    pub fn set_timeout(&mut self, seconds: f64) -> Result<()> {
        // Checked now; the process default is asked for at the time of the connect.
        timeout::resolve(seconds, "timeout")?;
        self.timeout = seconds;
        Ok(())
    }

    pub fn set_source_address(&mut self, host: &str, port: u16) -> Result<()> {
        if !host.is_empty() {
            Query::new(host, port)?;
        }
        self.source = Some(SourceAddress { host: host.to_owned(), port });
        Ok(())
    }

    pub fn add_socket_option(&mut self, level: i32, name: i32, value: &[u8]) -> Result<()> {
        let value = memory::copy(value, "a socket option")?;
        memory::push(&mut self.socket_options, SocketOption { level, name, value }, "socket options")
    }

    pub fn refuse_addresses(&mut self, classes: i32) -> Result<()> {
        self.policy.refuse(classes)
    }

    pub fn set_address_callback(&mut self, callback: Option<AddressCallback>) {
        self.policy.set_callback(callback);
    }
}

/// Where connections come from. An empty host, or port 0, leaves that part to the system.
#[derive(Clone, Debug)]
pub struct SourceAddress {
    pub host: String,
    pub port: u16,
}

/// What setsockopt(2) is given before the connect.
#[derive(Clone, Debug)]
pub struct SocketOption {
    pub level: i32,
    pub name: i32,
    pub value: Vec<u8>,
}

/// A connected socket: blocking, without a timeout, close-on-exec.
pub fn create_connection(host: &str, port: u16, options: &ConnectOptions, limit: Option<&Limit>) -> Result<OwnedFd> {
    connect_with(&Resolver::system(), host, port, options, limit)
}

fn connect_with(
    resolver: &Resolver,
    host: &str,
    port: u16,
    options: &ConnectOptions,
    limit: Option<&Limit>,
) -> Result<OwnedFd> {
    let query = Query::new(host, port)?;
    let timeout = timeout::resolve(options.timeout, "timeout")?;
    let before = |error| not_begun(host, port, error);
    let source = options.source.as_ref().map(|source| Source::find(source, resolver, limit)).transpose();
    let source = source.map_err(before)?;
    let addresses = resolver.resolve(query, limit).map_err(before)?;
    let mut failures = Vec::new();
    for address in addresses {
        let attempt = Attempt { address, timeout, began: Instant::now() };
        match attempt.run(options, source.as_ref(), limit) {
            Ok(socket) => return Ok(socket.into()),
            Err(Stopped { failure, by_limit }) => {
                failures.push(failure);
                if by_limit {
                    break;
                }
            }
        }
    }
    Err(all_failed(host, port, failures))
}

/// The addresses to bind to, found once for all attempts.
enum Source {
    /// Any address of the host, at this port.
    Port(u16),
    Addresses(Vec<SocketAddr>),
}

impl Source {
    fn find(source: &SourceAddress, resolver: &Resolver, limit: Option<&Limit>) -> Result<Source> {
        if source.host.is_empty() {
            return Ok(Source::Port(source.port));
        }
        let found = Query::new(&source.host, source.port).and_then(|query| resolver.resolve(query, limit));
        found.map(Source::Addresses).map_err(|error| error.prefixed("source address"))
    }

    /// The address to bind a socket to that will connect to `address`.
    fn beside(&self, address: &SocketAddr) -> Option<SocketAddr> {
        match self {
            Source::Port(port) if address.is_ipv4() => Some((Ipv4Addr::UNSPECIFIED, *port).into()),
            Source::Port(port) => Some((Ipv6Addr::UNSPECIFIED, *port).into()),
            Source::Addresses(list) => list.iter().find(|own| own.is_ipv4() == address.is_ipv4()).copied(),
        }
    }
}

/// One address, and when its turn came.
struct Attempt {
    address: SocketAddr,
    timeout: Option<Duration>,
    began: Instant,
}

/// Why an attempt gave no connection.
struct Stopped {
    failure: Failure,
    /// There is no time for another address; else the next may do.
    by_limit: bool,
}

struct Failure {
    address: SocketAddr,
    status: Status,
    errno: i32,
    reason: String,
    took: Duration,
}

impl Attempt {
    fn run(
        &self,
        options: &ConnectOptions,
        source: Option<&Source>,
        limit: Option<&Limit>,
    ) -> std::result::Result<Socket, Stopped> {
        if let Some(limit) = limit {
            limit.check().map_err(|error| self.stopped(&error))?;
        }
        // Before a descriptor is spent on it. From here to connect the address is one and the same value.
        options.policy.check(&self.address).map_err(|error| self.refused(&error))?;
        let socket = Socket::new(Domain::for_address(self.address), Type::STREAM, None)
            .map_err(|error| self.failed("cannot open a socket", &error))?;
        for option in &options.socket_options {
            sys::setsockopt(socket.as_raw_fd(), option.level, option.name, &option.value).map_err(|error| {
                self.failed(&format!("cannot set socket option {} of level {}", option.name, option.level), &error)
            })?;
        }
        if let Some(source) = source {
            let own = source.beside(&self.address).ok_or_else(|| self.without_source())?;
            socket
                .bind(&own.into())
                .map_err(|error| self.failed(&format!("cannot bind to {} port {}", own.ip(), own.port()), &error))?;
        }
        let failed = |error| self.failed("", &error);
        // What nothing can end early may block in the system call.
        let bounded = self.timeout.is_some() || limit.is_some();
        if bounded {
            socket.set_nonblocking(true).map_err(failed)?;
        }
        match socket.connect(&self.address.into()) {
            Ok(()) => {}
            // EINTR leaves the connection under way, as EINPROGRESS does.
            Err(error) if matches!(error.raw_os_error(), Some(libc::EINPROGRESS | libc::EINTR)) => {
                self.finish(&socket, limit)?;
            }
            Err(error) => return Err(failed(error)),
        }
        if bounded {
            socket.set_nonblocking(false).map_err(failed)?;
        }
        Ok(socket)
    }

    /// Waits until the connection stands or has failed.
    fn finish(&self, socket: &Socket, limit: Option<&Limit>) -> std::result::Result<(), Stopped> {
        match wait(socket.as_raw_fd(), sys::POLL_OUT, self.timeout, limit) {
            Ok(true) => match socket.take_error() {
                Ok(None) => Ok(()),
                Ok(Some(error)) | Err(error) => Err(self.failed("", &error)),
            },
            Ok(false) => Err(self.failure(Status::ConnectTimeout, 0, "the connect timeout passed".to_owned())),
            Err(error) => Err(self.stopped(&error)),
        }
    }

    fn failed(&self, step: &str, error: &io::Error) -> Stopped {
        let errno = error.raw_os_error().unwrap_or(0);
        // The system gave up waiting for an answer: its own connect timeout.
        let status = if errno == libc::ETIMEDOUT { Status::ConnectTimeout } else { Status::NewConnection };
        let separator = if step.is_empty() { "" } else { ": " };
        self.failure(status, errno, format!("{step}{separator}{}", crate::error::describe_io(error)))
    }

    fn without_source(&self) -> Stopped {
        let family = if self.address.is_ipv4() { "IPv4" } else { "IPv6" };
        self.failure(Status::NewConnection, 0, format!("the source address has no {family} form"))
    }

    fn refused(&self, error: &Error) -> Stopped {
        self.failure(error.status(), 0, error.message().to_owned())
    }

    /// The wait ended otherwise than by an answer.
    fn stopped(&self, error: &Error) -> Stopped {
        let by_limit = is_by_limit(error);
        let status = if by_limit { error.status() } else { Status::NewConnection };
        Stopped { by_limit, ..self.failure(status, error.errno(), error.message().to_owned()) }
    }

    fn failure(&self, status: Status, errno: i32, reason: String) -> Stopped {
        let failure = Failure { address: self.address, status, errno, reason, took: self.began.elapsed() };
        Stopped { failure, by_limit: false }
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Error {
        let Failure { address, status, errno, reason, took } = failure;
        let (host, port, seconds) = (address.ip(), address.port(), took.as_secs_f64());
        Error::new(status, format!("{host} port {port}: {reason} (after {seconds:.3} s)")).with_errno(errno)
    }
}

fn is_by_limit(error: &Error) -> bool {
    matches!(error.status(), Status::Cancelled | Status::DeadlineExceeded)
}

/// What ended the call before there was an address to try. The limit knows of no host, so that is added; a system call
/// that failed is one of connecting, of which the server has noticed nothing.
fn not_begun(host: &str, port: u16, error: Error) -> Error {
    let what = format!("cannot connect to {host} port {port}");
    match error.status() {
        Status::Io => {
            Error::new(Status::NewConnection, format!("{what}: {}", error.message())).with_errno(error.errno())
        }
        _ if is_by_limit(&error) => error.prefixed(&what),
        _ => error,
    }
}

/// The last failure speaks for all; each is a cause. An address that was refused was not tried, so it speaks only where
/// all were: what else went wrong may go better another time.
fn all_failed(host: &str, port: u16, failures: Vec<Failure>) -> Error {
    let tried = |failure: &&Failure| failure.status != Status::AddressRefused;
    let last_tried = failures.iter().rfind(tried);
    let (status, errno, reason) = match last_tried.or(failures.last()) {
        Some(last) => (last.status, last.errno, last.reason.as_str()),
        None => (Status::NewConnection, 0, "there was no address to try"),
    };
    let addresses = match (failures.len(), failures.iter().filter(tried).count()) {
        (0 | 1, _) => String::new(),
        (count, 0) => format!(", {count} addresses refused, the last"),
        (count, tried) if count == tried => format!(", {count} addresses tried, the last"),
        (count, tried) => format!(", {tried} of {count} addresses tried, the last"),
    };
    let error =
        Error::new(status, format!("cannot connect to {host} port {port}{addresses}: {reason}")).with_errno(errno);
    failures.into_iter().fold(error, |error, failure| error.with_cause(Arc::new(failure.into())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::socket::address::Classes;
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering};

    static OUT: AtomicUsize = AtomicUsize::new(0);

    fn answering(addresses: Vec<SocketAddr>) -> Resolver {
        Resolver::new(Arc::new(move |_: &Query| Ok(addresses.clone())), &OUT, usize::MAX)
    }

    /// An address that refuses: the port is taken, but nobody listens.
    fn refusing() -> (Socket, SocketAddr) {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        socket.bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into()).unwrap();
        let address = socket.local_addr().unwrap().as_socket().unwrap();
        (socket, address)
    }

    /// An address that never answers: its backlog is full. The streams keep it so.
    fn silent() -> (Socket, Vec<Socket>, SocketAddr) {
        let (listener, address) = refusing();
        listener.listen(0).unwrap();
        for count in 1..64 {
            let filler = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
            filler.set_nonblocking(true).unwrap();
            let _ = filler.connect(&address.into());
            let connected = wait(filler.as_raw_fd(), sys::POLL_OUT, Some(Duration::from_millis(100)), None).unwrap();
            if !connected {
                return (listener, vec![filler], address);
            }
            // Never accepted: it stays in the backlog even when closed by its end.
            drop(filler);
            assert!(count < 60, "the backlog does not fill");
        }
        unreachable!()
    }

    fn listening() -> (TcpListener, SocketAddr) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        (listener, address)
    }

    #[test]
    fn two_dead_addresses_before_a_good_one() {
        let ((_a, first), (_b, second), (listener, good)) = (refusing(), refusing(), listening());
        let limit = Limit::new(30.0).unwrap();
        for limit in [None, Some(&limit)] {
            let resolver = answering(vec![first, second, good]);
            let fd = connect_with(&resolver, "name.test", 80, &ConnectOptions::default(), limit).unwrap();
            let socket = Socket::from(fd);
            assert_eq!(socket.peer_addr().unwrap().as_socket(), Some(good));
            assert!(!socket.nonblocking().unwrap());
            assert_eq!((socket.read_timeout().unwrap(), socket.write_timeout().unwrap()), (None, None));
            let (mut peer, _) = listener.accept().unwrap();
            peer.write_all(b"x").unwrap();
            let mut byte = [0];
            std::io::Read::read_exact(&mut TcpStream::from(socket), &mut byte).unwrap();
        }
    }

    #[test]
    fn all_addresses_fail_in_order() {
        let ((_a, first), (_b, second)) = (refusing(), refusing());
        let error = connect_with(&answering(vec![second, first]), "name.test", 80, &ConnectOptions::default(), None)
            .unwrap_err();
        assert_eq!((error.status(), error.errno()), (Status::NewConnection, libc::ECONNREFUSED));
        let expected = "cannot connect to name.test port 80, 2 addresses tried, the last: Connection refused";
        assert_eq!(error.message(), expected);
        assert_eq!(error.causes().len(), 2);
        for (cause, address) in error.causes().iter().zip([second, first]) {
            assert_eq!((cause.status(), cause.errno()), (Status::NewConnection, libc::ECONNREFUSED));
            let message = format!("127.0.0.1 port {}: Connection refused (after ", address.port());
            assert!(cause.message().starts_with(&message), "{}", cause.message());
        }
    }

    #[test]
    fn the_timeout_is_each_address_s_and_the_last_failure_speaks() {
        let ((_l, _fillers, silent), (_a, dead), (_listener, good)) = (silent(), refusing(), listening());
        let options = ConnectOptions { timeout: 0.03, ..ConnectOptions::default() };
        let connect = |list: Vec<SocketAddr>| connect_with(&answering(list), "name.test", 80, &options, None);
        let error = connect(vec![dead, silent]).unwrap_err();
        assert_eq!((error.status(), error.errno()), (Status::ConnectTimeout, 0));
        assert_eq!(error.causes()[0].status(), Status::NewConnection);
        assert_eq!(error.causes()[1].status(), Status::ConnectTimeout);
        let error = connect(vec![silent, dead]).unwrap_err();
        assert_eq!(error.status(), Status::NewConnection);
        assert!(error.message().ends_with("the last: Connection refused"), "{}", error.message());
        // Twice the timeout passes before the third address has its turn.
        let began = Instant::now();
        assert!(connect(vec![silent, SocketAddr::from(([127, 0, 0, 1], silent.port())), good]).is_ok());
        assert!(began.elapsed() >= Duration::from_millis(60));
    }

    #[test]
    fn the_limit_ends_an_attempt_and_keeps_what_failed_before() {
        let ((_l, _fillers, silent), (_a, dead)) = (silent(), refusing());
        let limit = Limit::new(1.0).unwrap();
        let error =
            connect_with(&answering(vec![dead, silent]), "name.test", 80, &ConnectOptions::default(), Some(&limit))
                .unwrap_err();
        assert_eq!(error.status(), Status::DeadlineExceeded);
        let expected =
            "cannot connect to name.test port 80, 2 addresses tried, the last: the limit's deadline has passed";
        assert_eq!(error.message(), expected);
        let causes: Vec<_> = error.causes().iter().map(|cause| (cause.status(), cause.errno())).collect();
        assert_eq!(causes, [(Status::NewConnection, libc::ECONNREFUSED), (Status::DeadlineExceeded, 0)]);
        for (cause, address) in error.causes().iter().zip([dead, silent]) {
            let beginning = format!("127.0.0.1 port {}: ", address.port());
            assert!(cause.message().starts_with(&beginning), "{}", cause.message());
        }
    }

    #[test]
    fn the_limit_ends_before_an_address_is_known() {
        let limit = Limit::new(30.0).unwrap();
        limit.cancel();
        let source = Some(SourceAddress { host: "own.test".to_owned(), port: 0 });
        for (source, expected) in [
            (None, "cannot connect to name.test port 80: the limit was cancelled"),
            (source, "cannot connect to name.test port 80: source address: the limit was cancelled"),
        ] {
            let options = ConnectOptions { source, ..ConnectOptions::default() };
            let error = connect_with(&answering(vec![]), "name.test", 80, &options, Some(&limit)).unwrap_err();
            assert_eq!((error.status(), error.message()), (Status::Cancelled, expected));
            assert!(error.causes().is_empty());
        }
    }

    /// A resolver whose every lookup gives the next of the lists, and after the last the first again.
    fn alternating(lists: Vec<Vec<SocketAddr>>) -> Resolver {
        let lookups = AtomicUsize::new(0);
        let answer = move |_: &Query| Ok(lists[lookups.fetch_add(1, Ordering::Relaxed) % lists.len()].clone());
        Resolver::new(Arc::new(answer), &OUT, usize::MAX)
    }

    #[test]
    fn r18_a_name_that_changes_its_meaning_reaches_nothing_refused() {
        let (listener, good) = listening();
        // Stands for a service inside: whoever connects to it would be seen.
        let inside = TcpListener::bind("127.0.0.2:0").unwrap();
        inside.set_nonblocking(true).unwrap();
        let forbidden = inside.local_addr().unwrap();
        let metadata: SocketAddr = "169.254.169.254:80".parse().unwrap();
        let mapped: SocketAddr = "[::ffff:10.0.0.1]:80".parse().unwrap();
        let lists = [
            (vec![good], None),
            (vec![forbidden], Some("the address callback refuses 127.0.0.2 (loopback): 7")),
            (vec![good, forbidden], None),
            (vec![metadata], Some("the address policy refuses 169.254.169.254: metadata")),
            (vec![forbidden, metadata, good], None),
            (vec![metadata, mapped], Some("the address policy refuses ::ffff:10.0.0.1: private")),
        ];
        let seen = Arc::new(Mutex::new(Vec::new()));
        let mut options = ConnectOptions::default();
        options.refuse_addresses(Classes::PRIVATE.bits()).unwrap();
        options.refuse_addresses(Classes::METADATA.bits()).unwrap();
        let shown = Arc::clone(&seen);
        options.set_address_callback(Some(Arc::new(move |address: &SocketAddr, classes| {
            assert_eq!(classes, Classes::LOOPBACK);
            shown.lock().unwrap().push(*address);
            if *address == forbidden { 7 } else { 0 }
        })));
        let resolver = alternating(lists.iter().map(|(list, _)| list.clone()).collect());
        for (list, refused) in lists.iter().cycle().take(5 * lists.len()) {
            match (connect_with(&resolver, "rebinding.test", 80, &options, None), refused) {
                (Ok(fd), None) => {
                    assert_eq!(Socket::from(fd).peer_addr().unwrap().as_socket(), Some(good));
                    drop(listener.accept().unwrap());
                }
                (Err(error), Some(reason)) => {
                    assert_eq!((error.status(), error.errno()), (Status::AddressRefused, 0));
                    assert!(error.message().ends_with(reason), "{}", error.message());
                    assert_eq!(error.causes().len(), list.len());
                    for cause in error.causes() {
                        assert_eq!(cause.status(), Status::AddressRefused);
                    }
                }
                (result, _) => panic!("{list:?}: {result:?}"),
            }
        }
        assert_eq!(inside.accept().unwrap_err().kind(), io::ErrorKind::WouldBlock);
        let round = [good, forbidden, good, forbidden, good];
        assert_eq!(*seen.lock().unwrap(), round.repeat(5));
    }

    #[test]
    fn what_was_tried_speaks_before_what_was_refused() {
        let (_a, dead) = refusing();
        let private: SocketAddr = "10.0.0.1:80".parse().unwrap();
        let mut options = ConnectOptions::default();
        options.refuse_addresses(Classes::PRIVATE.bits()).unwrap();
        for (list, status, message) in [
            (vec![private], Status::AddressRefused, ": the address policy refuses 10.0.0.1: private"),
            (
                vec![private, private],
                Status::AddressRefused,
                ", 2 addresses refused, the last: the address policy refuses 10.0.0.1: private",
            ),
            (
                vec![private, dead, private],
                Status::NewConnection,
                ", 1 of 3 addresses tried, the last: Connection refused",
            ),
        ] {
            let error = connect_with(&answering(list.clone()), "name.test", 80, &options, None).unwrap_err();
            assert_eq!(error.status(), status);
            assert_eq!(error.message(), format!("cannot connect to name.test port 80{message}"));
            let causes: Vec<_> = error.causes().iter().map(|cause| cause.status()).collect();
            let expected: Vec<_> = list
                .iter()
                .map(|address| if *address == private { Status::AddressRefused } else { Status::NewConnection })
                .collect();
            assert_eq!(causes, expected);
            let first = error.causes()[0].message();
            let beginning = "10.0.0.1 port 80: the address policy refuses 10.0.0.1: private (after ";
            assert!(first.starts_with(beginning), "{first}");
        }
        // The source address is another matter.
        options.refuse_addresses(Classes::LOOPBACK.bits()).unwrap();
        options.set_source_address("127.0.0.1", 0).unwrap();
        let error = connect_with(&answering(vec![dead]), "name.test", 80, &options, None).unwrap_err();
        assert!(error.message().ends_with("the address policy refuses 127.0.0.1: loopback"), "{}", error.message());
    }

    #[test]
    fn a_system_call_that_fails_before_the_connection_is_one_of_connecting() {
        let failed = Error::new(Status::Io, "cannot open a descriptor to be woken by").with_errno(libc::EMFILE);
        let error = not_begun("name.test", 80, failed);
        assert_eq!((error.status(), error.errno()), (Status::NewConnection, libc::EMFILE));
        let expected = "cannot connect to name.test port 80: cannot open a descriptor to be woken by";
        assert_eq!(error.message(), expected);
    }

    #[test]
    fn source_addresses() {
        let (listener, good) = listening();
        let connect = |host: &str, port| {
            let source = Some(SourceAddress { host: host.to_owned(), port });
            let options = ConnectOptions { source, ..ConnectOptions::default() };
            connect_with(&answering(vec![good]), "name.test", 80, &options, None)
        };
        for (host, port, expected) in
            [("", 0, "127.0.0.1"), ("127.0.0.1", 0, "127.0.0.1"), ("[127.0.0.1]", 0, "127.0.0.1")]
        {
            let socket = Socket::from(connect(host, port).unwrap());
            let own = socket.local_addr().unwrap().as_socket().unwrap();
            assert_eq!(own.ip().to_string(), expected, "{host:?}");
            drop(listener.accept().unwrap());
        }
        let error = connect("::1", 0).unwrap_err();
        assert_eq!(error.message(), "cannot connect to name.test port 80: the source address has no IPv4 form");
        let error = connect("192.0.2.1", 0).unwrap_err();
        assert_eq!((error.status(), error.errno()), (Status::NewConnection, libc::EADDRNOTAVAIL));
        let error = connect("", good.port()).unwrap_err();
        assert_eq!((error.status(), error.errno()), (Status::NewConnection, libc::EADDRINUSE));
        let error = connect("a..b", 0).unwrap_err();
        assert_eq!(error.message(), "source address: the host a..b has a label that is empty");
    }
}
