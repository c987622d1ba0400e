//! Tests the sequential schedule with real sockets.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use socket2::{Domain, Type};

use super::*;
use crate::callback::Verdict;
use crate::socket::address_class::Classes;
use crate::socket::wait::wait;

fn connect_with(resolver: &Resolver, options: &ConnectOptions, limit: Option<&Arc<Limit>>) -> Result<OwnedFd> {
    connect_with_resolver(resolver.clone(), options.clone()).run_sequentially(limit.cloned())
}

fn resolves_to(addresses: Vec<SocketAddr>) -> Resolver {
    Resolver::new(Arc::new(move |_: &HostPort| Ok(addresses.clone())), &QUEUE, usize::MAX)
}

/// Returns an address that never answers, because the listener's backlog is full. The returned sockets keep the backlog
/// full.
fn unresponsive_address() -> (Socket, Vec<Socket>, SocketAddr) {
    let (listener, address) = bound_address();
    listener.listen(0).unwrap();
    for count in 1..64 {
        let filler = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        filler.set_nonblocking(true).unwrap();
        let _ = filler.connect(&address.into());
        let connected = wait(filler.as_raw_fd(), sys::POLL_OUT, Some(Duration::from_millis(100)), None).unwrap();
        if !connected {
            return (listener, vec![filler], address);
        }
        // The connection stays in the backlog although the client has closed its socket.
        drop(filler);
        assert!(count < 60, "the backlog does not fill");
    }
    unreachable!()
}

fn listening_address() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

#[test]
fn create_connection_uses_the_first_address_that_accepts() {
    let ((_a, first), (_b, second), (listener, good)) = (bound_address(), bound_address(), listening_address());
    let limit = Arc::new(Limit::new(30.0).unwrap());
    for limit in [None, Some(&limit)] {
        let resolver = resolves_to(vec![first, second, good]);
        let fd = connect_with(&resolver, &ConnectOptions::default(), limit).unwrap();
        let socket = Socket::from(fd);
        assert_eq!(socket.peer_addr().unwrap().as_socket(), Some(good));
        assert!(!socket.nonblocking().unwrap());
        assert_eq!((socket.read_timeout().unwrap(), socket.write_timeout().unwrap()), (None, None));
        let (mut peer, _) = listener.accept().unwrap();
        peer.write_all(b"x").unwrap();
        let mut byte = [0];
        TcpStream::from(socket).read_exact(&mut byte).unwrap();
    }
}

#[test]
fn the_connection_error_has_one_cause_per_address_in_order() {
    let ((_a, first), (_b, second)) = (bound_address(), bound_address());
    let error = connect_with(&resolves_to(vec![second, first]), &ConnectOptions::default(), None).unwrap_err();
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
fn the_timeout_applies_per_address_and_the_last_failure_sets_the_status() {
    let ((_l, _fillers, silent), (_a, dead), (_listener, good)) =
        (unresponsive_address(), bound_address(), listening_address());
    let options = ConnectOptions { timeout: 0.03, ..ConnectOptions::default() };
    let connect = |list: Vec<SocketAddr>| connect_with(&resolves_to(list), &options, None);
    let error = connect(vec![dead, silent]).unwrap_err();
    assert_eq!((error.status(), error.errno()), (Status::ConnectTimeout, 0));
    assert_eq!(error.causes()[0].status(), Status::ConnectFailed);
    assert_eq!(error.causes()[1].status(), Status::ConnectTimeout);
    let error = connect(vec![silent, dead]).unwrap_err();
    assert_eq!(error.status(), Status::ConnectFailed);
    assert!(error.message().ends_with("the last: Connection refused"), "{}", error.message());
    // The third address is tried after two timeouts.
    let start = Instant::now();
    assert!(connect(vec![silent, SocketAddr::from(([127, 0, 0, 1], silent.port())), good]).is_ok());
    assert!(start.elapsed() >= Duration::from_millis(60));
}

#[test]
fn the_error_of_an_ended_limit_has_earlier_failures_as_causes() {
    let ((_l, _fillers, silent), (_a, dead)) = (unresponsive_address(), bound_address());
    let limit = Arc::new(Limit::new(1.0).unwrap());
    // The limit ends during the second attempt, so the third address is not tried.
    let error =
        connect_with(&resolves_to(vec![dead, silent, dead]), &ConnectOptions::default(), Some(&limit)).unwrap_err();
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
fn a_cancelled_limit_prevents_the_lookup() {
    let limit = Arc::new(Limit::new(30.0).unwrap());
    limit.cancel();
    let source = Some(SourceAddress { host: "own.test".to_owned(), port: 0 });
    for (source, expected) in [
        (None, "cannot connect to name.test port 80: the limit was cancelled"),
        (source, "cannot connect to name.test port 80: source address: the limit was cancelled"),
    ] {
        let options = ConnectOptions { source, ..ConnectOptions::default() };
        let error = connect_with(&unused_resolver(), &options, Some(&limit)).unwrap_err();
        assert_eq!((error.status(), error.message()), (Status::Cancelled, expected));
        assert!(error.causes().is_empty());
    }
}

/// Returns a resolver that returns the next of the address lists at each lookup.
fn resolver_with_changing_results(lists: Vec<Vec<SocketAddr>>) -> Resolver {
    let lookups = AtomicUsize::new(0);
    let answer = move |_: &HostPort| Ok(lists[lookups.fetch_add(1, Ordering::Relaxed) % lists.len()].clone());
    Resolver::new(Arc::new(answer), &QUEUE, usize::MAX)
}

#[test]
fn dns_rebinding_never_leads_to_a_connection_to_a_refused_address() {
    let (listener, good) = listening_address();
    // An internal service, which must never get a connection.
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
    let recorder = Arc::clone(&seen);
    options.set_address_callback(Some(Arc::new(move |address: &Endpoint, classes| {
        assert_eq!(classes, Classes::LOOPBACK);
        recorder.lock().unwrap().push(address.clone());
        Ok(if *address == Endpoint::Ip(forbidden) { Verdict::Refuse } else { Verdict::Allow })
    })));
    let resolver = resolver_with_changing_results(lists.iter().map(|(list, _)| list.clone()).collect());
    for (list, refused) in lists.iter().cycle().take(5 * lists.len()) {
        match (connect_with(&resolver, &options, None), refused) {
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
fn address_refused_is_reported_only_if_all_addresses_are_refused() {
    let (_a, dead) = bound_address();
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
        let error = connect_with(&resolves_to(list.clone()), &options, None).unwrap_err();
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
    // The address policy does not apply to the source address.
    options.refuse_addresses(Classes::LOOPBACK.bits()).unwrap();
    options.set_source_address("127.0.0.1", 0).unwrap();
    let error = connect_with(&resolves_to(vec![dead]), &options, None).unwrap_err();
    assert!(error.message().ends_with("the address policy refuses 127.0.0.1: loopback"), "{}", error.message());
}

#[test]
fn connecting_binds_the_source_address_or_fails() {
    let (listener, good) = listening_address();
    let connect = |host: &str, port| {
        let source = Some(SourceAddress { host: host.to_owned(), port });
        let options = ConnectOptions { source, ..ConnectOptions::default() };
        connect_with(&resolves_to(vec![good]), &options, None)
    };
    for (host, port, expected) in
        [("", 0, "127.0.0.1"), ("127.0.0.1", 0, "127.0.0.1"), ("[127.0.0.1]", 0, "127.0.0.1")]
    {
        let socket = Socket::from(connect(host, port).unwrap());
        let local = socket.local_addr().unwrap().as_socket().unwrap();
        assert_eq!(local.ip().to_string(), expected, "{host:?}");
        drop(listener.accept().unwrap());
    }
    let error = connect("::1", 0).unwrap_err();
    assert_eq!(error.message(), "cannot connect to name.test port 80: the source address cannot be used for IPv4");
    let error = connect("192.0.2.1", 0).unwrap_err();
    assert_eq!((error.status(), error.errno()), (Status::ConnectFailed, libc::EADDRNOTAVAIL));
    let error = connect("", good.port()).unwrap_err();
    assert_eq!((error.status(), error.errno()), (Status::ConnectFailed, libc::EADDRINUSE));
    let error = connect("a..b", 0).unwrap_err();
    assert_eq!(error.message(), "source address: the host \"a..b\" has an empty label, at byte 2");
}
