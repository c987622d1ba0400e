//! Connecting: to one address after the other, each with the whole timeout.

use std::os::fd::{AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

use socket2::Socket;

use crate::error::Result;
use crate::limit::Limit;
use crate::socket::attempt::{
    self, AGAIN, Failure, MOST_ADDRESSES, Progress, Source, Tried, all_failed, ends_connect, not_begun, not_gone_on,
};
use crate::socket::connect_options::{ConnectOptions, SourceAddress, of_source};
use crate::socket::endpoint::{Endpoint, UnixAddress};
use crate::socket::host_port::Query;
use crate::socket::resolver::Resolver;
use crate::socket::sys;
use crate::socket::wait::{deadline_in, earlier, pause, wait};
use crate::timeout;

/// A connected socket: blocking, without a timeout, close-on-exec.
pub fn create_connection(host: &str, port: u16, options: &ConnectOptions, limit: Option<&Limit>) -> Result<OwnedFd> {
    connect_with(&Resolver::system(), host, port, options, limit)
}

/// The same of a Unix domain socket.
pub fn create_unix_connection(
    address: UnixAddress,
    options: &ConnectOptions,
    limit: Option<&Limit>,
) -> Result<OwnedFd> {
    let timeout = timeout::resolve(options.timeout, "timeout")?;
    let endpoint = Endpoint::Unix(address);
    let target = endpoint.to_string();
    first_of(&|| target.clone(), vec![endpoint], timeout, options, None, limit)
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
    // Words for errors, made only for one.
    let target = || attempt::target(host, port);
    let before = |error| not_begun(&target(), error);
    let source = options.source.as_ref().map(|source| find_source(source, resolver, limit)).transpose();
    let source = source.map_err(before)?;
    let endpoints = match &options.resolve {
        Some(resolve) => query.resolve_with(resolve, limit),
        None => resolver.resolve(query, limit).map(Endpoint::all_ip),
    };
    first_of(&target, endpoints.map_err(before)?, timeout, options, source.as_ref(), limit)
}

fn find_source(source: &SourceAddress, resolver: &Resolver, limit: Option<&Limit>) -> Result<Source> {
    let Some(query) = source.query().map_err(of_source)? else { return Ok(Source::Port(source.port)) };
    resolver.resolve(query, limit).map(Source::Addresses).map_err(of_source)
}

/// The first that a connection to can be made.
fn first_of(
    target: &dyn Fn() -> String,
    endpoints: Vec<Endpoint>,
    timeout: Option<Duration>,
    options: &ConnectOptions,
    source: Option<&Source>,
    limit: Option<&Limit>,
) -> Result<OwnedFd> {
    let mut tried = Vec::new();
    // Addresses that were not tried are not counted if something else ends the call.
    let mut left_out = endpoints.len().saturating_sub(MOST_ADDRESSES);
    for endpoint in endpoints.into_iter().take(MOST_ADDRESSES) {
        if let Err(error) = limit.map_or(Ok(()), Limit::check) {
            return Err(not_gone_on(&target(), error, tried));
        }
        let began = Instant::now();
        let failure = match connect_to(&endpoint, timeout, options, source, limit) {
            Ok(socket) => return Ok(socket.into()),
            Err(failure) => failure,
        };
        let is_final = ends_connect(failure.status);
        tried.push(Tried { endpoint, failure, began, ended: Instant::now() });
        if is_final {
            left_out = 0;
            break;
        }
    }
    Err(all_failed(&target(), tried, left_out))
}

/// Waits for one attempt.
fn connect_to(
    endpoint: &Endpoint,
    timeout: Option<Duration>,
    options: &ConnectOptions,
    source: Option<&Source>,
    limit: Option<&Limit>,
) -> std::result::Result<Socket, Failure> {
    // What nothing can end early may block in the system call.
    let blocking = timeout.is_none() && limit.is_none();
    let (socket, mut progress) = attempt::open(endpoint, options, source, blocking)?;
    if progress == Progress::Full {
        progress = wait_for_room(&socket, endpoint, timeout, limit)?;
    }
    if progress == Progress::UnderWay {
        match wait(socket.as_raw_fd(), sys::POLL_OUT, timeout, limit) {
            Ok(true) => attempt::outcome(&socket, endpoint)?,
            Ok(false) => return Err(Failure::timed_out()),
            Err(error) => return Err(Failure::of_wait(&error)),
        }
    }
    if !blocking {
        attempt::make_blocking(&socket)?;
    }
    Ok(socket)
}

/// Waits for room in the backlog of a Unix socket.
fn wait_for_room(
    socket: &Socket,
    endpoint: &Endpoint,
    timeout: Option<Duration>,
    limit: Option<&Limit>,
) -> std::result::Result<Progress, Failure> {
    let timeout_at = deadline_in(timeout);
    loop {
        if timeout_at.is_some_and(|at| at <= Instant::now()) {
            return Err(Failure::timed_out());
        }
        // A pause that comes to its end does not ask whether the limit has come to its own.
        limit.map_or(Ok(()), Limit::check).map_err(|error| Failure::of_wait(&error))?;
        let until = earlier(deadline_in(Some(AGAIN)), timeout_at);
        pause(until, limit).map_err(|error| Failure::of_wait(&error))?;
        let progress = attempt::again(socket, endpoint)?;
        if progress != Progress::Full {
            return Ok(progress);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::callback::Verdict;
    use crate::socket::address_class::Classes;
    use crate::socket::lookup_queue::LookupQueue;
    use crate::status::Status;
    use std::io::{self, Write};
    use std::net::{SocketAddr, TcpListener, TcpStream};
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, Mutex};

    use socket2::{Domain, Type};

    static OUT: LookupQueue = LookupQueue::new();

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
        assert_eq!((error.status(), error.errno()), (Status::ConnectFailed, libc::ECONNREFUSED));
        let expected = "cannot connect to name.test port 80, 2 addresses tried, the last: Connection refused";
        assert_eq!(error.message(), expected);
        assert_eq!(error.causes().len(), 2);
        for (cause, address) in error.causes().iter().zip([second, first]) {
            assert_eq!((cause.status(), cause.errno()), (Status::ConnectFailed, libc::ECONNREFUSED));
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
        assert_eq!(error.causes()[0].status(), Status::ConnectFailed);
        assert_eq!(error.causes()[1].status(), Status::ConnectTimeout);
        let error = connect(vec![silent, dead]).unwrap_err();
        assert_eq!(error.status(), Status::ConnectFailed);
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
        // The third has no turn.
        let error = connect_with(
            &answering(vec![dead, silent, dead]),
            "name.test",
            80,
            &ConnectOptions::default(),
            Some(&limit),
        )
        .unwrap_err();
        assert_eq!(error.status(), Status::DeadlineExceeded);
        let expected =
            "cannot connect to name.test port 80, 2 addresses tried, the last: the limit's deadline has passed";
        assert_eq!(error.message(), expected);
        let causes: Vec<_> = error.causes().iter().map(|cause| (cause.status(), cause.errno())).collect();
        assert_eq!(causes, [(Status::ConnectFailed, libc::ECONNREFUSED), (Status::DeadlineExceeded, 0)]);
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
            (vec![forbidden], Some("the address callback refuses 127.0.0.2 (loopback)")),
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
        options.set_address_callback(Some(Arc::new(move |address: &Endpoint, classes| {
            assert_eq!(classes, Classes::LOOPBACK);
            shown.lock().unwrap().push(address.clone());
            Ok(if *address == Endpoint::Ip(forbidden) { Verdict::Refuse } else { Verdict::Allow })
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
        assert_eq!(*seen.lock().unwrap(), Endpoint::all_ip(round.repeat(5)));
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
                Status::ConnectFailed,
                ", 1 of 3 addresses tried, the last: Connection refused",
            ),
        ] {
            let error = connect_with(&answering(list.clone()), "name.test", 80, &options, None).unwrap_err();
            assert_eq!(error.status(), status);
            assert_eq!(error.message(), format!("cannot connect to name.test port 80{message}"));
            let causes: Vec<_> = error.causes().iter().map(|cause| cause.status()).collect();
            let expected: Vec<_> = list
                .iter()
                .map(|address| if *address == private { Status::AddressRefused } else { Status::ConnectFailed })
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
        assert_eq!((error.status(), error.errno()), (Status::ConnectFailed, libc::EADDRNOTAVAIL));
        let error = connect("", good.port()).unwrap_err();
        assert_eq!((error.status(), error.errno()), (Status::ConnectFailed, libc::EADDRINUSE));
        let error = connect("a..b", 0).unwrap_err();
        assert_eq!(error.message(), "source address: the host \"a..b\" has an empty label, at byte 2");
    }
}
