//! Tests `Connect::step` and `Connect::run` with lookups that the test controls.

mod sequential;

use std::ffi::CStr;
use std::net::SocketAddr;
use std::sync::{Mutex, mpsc};
use std::time::Duration;

use socket2::{Domain, Type};

use super::*;
use crate::socket::connect_options::SourceAddress;
use crate::socket::lookup_queue::LookupQueue;
use crate::socket::scheduler::Network;

static QUEUE: LookupQueue = LookupQueue::new();

fn connect_with_resolver(resolver: Resolver, options: ConnectOptions) -> Connect {
    let target = Target::Host(HostPort::new("name.test", 80).unwrap());
    Connect::with_resolver(resolver, target, TargetName::new("name.test", 80), Arc::new(options))
}

fn unused_resolver() -> Resolver {
    Resolver::new(Arc::new(|host: &HostPort| panic!("looked up {host:?}")), &QUEUE, 0)
}

/// Cancels the limit and takes two steps. Returns the status and the error message of both steps.
fn cancel_and_step(connect: &mut Connect, limit: &Limit) -> (Status, String) {
    limit.cancel();
    let error = connect.step().unwrap_err();
    assert_eq!(connect.interests().count(), 0);
    assert_eq!(connect.seconds_to_timer(), f64::INFINITY);
    let again = connect.step().unwrap_err();
    assert_eq!((again.status(), again.message()), (error.status(), error.message()));
    (error.status(), error.message().to_owned())
}

#[test]
fn a_cancelled_limit_ends_the_lookup_of_source_address_and_host() {
    let (release, released) = mpsc::channel::<()>();
    let released = Mutex::new(released);
    let blocked = Resolver::new(
        Arc::new(move |_: &HostPort| {
            let _ = released.lock().unwrap().recv();
            Ok(Vec::new())
        }),
        &QUEUE,
        8,
    );
    let source = Some(SourceAddress { host: "own.test".to_owned(), port: 0 });
    for (source, expected) in [
        (None, "cannot connect to name.test port 80: the limit was cancelled"),
        (source, "cannot connect to name.test port 80: source address: the limit was cancelled"),
    ] {
        let mut connect =
            connect_with_resolver(blocked.clone(), ConnectOptions { source, ..ConnectOptions::default() });
        let limit = Arc::new(Limit::new(f64::INFINITY).unwrap());
        connect.set_limit(Some(Arc::clone(&limit))).unwrap();
        assert_eq!((connect.seconds_to_timer(), connect.interests().count()), (0.0, 0));
        assert!(connect.step().unwrap().is_none());
        // The next step does not change the two descriptors for which the caller waits: those of the lookup and of the
        // limit.
        let interests: Vec<_> = connect.interests().collect();
        assert_eq!(
            interests.iter().map(|interest| interest.events).collect::<Vec<_>>(),
            [sys::POLL_IN, sys::POLL_IN]
        );
        assert!(connect.step().unwrap().is_none());
        assert_eq!(connect.interests().collect::<Vec<_>>(), interests);
        assert_eq!(connect.seconds_to_timer(), f64::INFINITY);
        assert_eq!(cancel_and_step(&mut connect, &limit), (Status::Cancelled, expected.to_owned()));
        assert!(connect.attempts().is_empty());
    }
    // The limit ends `Connect::run` during the lookup. Dropping a `Connect` does not wait for its lookup.
    let mut connect = connect_with_resolver(blocked.clone(), ConnectOptions::default());
    let error = connect.run(Some(Arc::new(Limit::new(0.02).unwrap()))).unwrap_err();
    assert_eq!(error.status(), Status::DeadlineExceeded);
    assert_eq!(error.message(), "cannot connect to name.test port 80: the limit's deadline has passed");
    let mut connect = connect_with_resolver(blocked.clone(), ConnectOptions::default());
    assert!(connect.step().unwrap().is_none());
    drop(connect);
    drop(release);

    // The limit ends before the first step.
    let mut connect = connect_with_resolver(blocked, ConnectOptions::default());
    let limit = Arc::new(Limit::new(0.0).unwrap());
    connect.set_limit(Some(limit)).unwrap();
    assert_eq!(connect.step().unwrap_err().status(), Status::DeadlineExceeded);
}

/// The limit is checked before a lookup starts. A numeric host needs no lookup: then the limit is checked before the
/// first attempt.
#[test]
fn no_lookup_and_no_attempt_starts_after_the_limit_has_ended() {
    let source = |host: &str| Some(SourceAddress { host: host.to_owned(), port: 0 });
    for (source, host, expected) in [
        (None, "name.test", "the limit's deadline has passed"),
        (None, "127.0.0.1", "the limit's deadline has passed"),
        (source("own.test"), "127.0.0.1", "source address: the limit's deadline has passed"),
        (source("127.0.0.1"), "127.0.0.1", "the limit's deadline has passed"),
    ] {
        for sequential in [false, true] {
            let target = Target::Host(HostPort::new(host, 80).unwrap());
            let options = Arc::new(ConnectOptions { source: source.clone(), ..ConnectOptions::default() });
            let mut connect =
                Connect::with_resolver(unused_resolver(), target, TargetName::new("name.test", 80), options);
            let limit = Some(Arc::new(Limit::new(0.0).unwrap()));
            let error = if sequential { connect.run_sequentially(limit) } else { connect.run(limit) }.unwrap_err();
            assert_eq!(error.status(), Status::DeadlineExceeded);
            assert_eq!(error.message(), format!("cannot connect to name.test port 80: {expected}"));
            assert_eq!(error.causes().len(), 0);
        }
    }
    // The queue has no thread, so the lookup waits until the limit ends.
    for sequential in [false, true] {
        let mut connect = connect_with_resolver(unused_resolver(), ConnectOptions::default());
        let limit = Some(Arc::new(Limit::new(0.005).unwrap()));
        let error = if sequential { connect.run_sequentially(limit) } else { connect.run(limit) }.unwrap_err();
        assert_eq!(error.status(), Status::DeadlineExceeded);
    }
}

/// Returns an address that refuses connections, because the returned socket is bound to it but does not listen.
fn bound_address() -> (Socket, SocketAddr) {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    socket.bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into()).unwrap();
    let address = socket.local_addr().unwrap().as_socket().unwrap();
    (socket, address)
}

fn wait_for(connect: &Connect) {
    let mut fds: Vec<_> = connect.interests().map(|interest| sys::poll_fd(interest.fd, interest.events)).collect();
    assert!(sys::poll(&mut fds, Some(Instant::now() + Duration::from_secs(30))).unwrap() > 0, "hung");
}

#[test]
fn calling_step_repeatedly_resolves_the_name_and_connects() {
    let (_taken, dead) = bound_address();
    let (listener, good) = bound_address();
    listener.listen(8).unwrap();
    let resolver = Resolver::new(Arc::new(move |_: &HostPort| Ok(vec![dead, good])), &QUEUE, 8);
    let alone = Resolver::new(Arc::new(move |_: &HostPort| Ok(vec![good])), &QUEUE, 8);
    let source = Some(SourceAddress { host: "own.test".to_owned(), port: 0 });
    let with_source = Resolver::new(
        Arc::new(move |host: &HostPort| {
            let local = SocketAddr::from(([127, 0, 0, 1], 0));
            Ok(if host.host() == c"own.test" { vec![local] } else { vec![dead, good] })
        }),
        &QUEUE,
        8,
    );
    let failed_before: &[Status] = &[Status::ConnectFailed];
    for (resolver, source, before) in
        [(resolver, None, failed_before), (with_source, source, failed_before), (alone, None, &[])]
    {
        let mut connect = connect_with_resolver(resolver, ConnectOptions { source, ..ConnectOptions::default() });
        let mut waited = Vec::new();
        let connection = loop {
            if let Some(connection) = connect.step().unwrap() {
                break Socket::from(connection);
            }
            wait_for(&connect);
            waited.clear();
            waited.extend(connect.interests());
        };
        // In the step that ends the lookup, the new socket does not get the descriptor number of the lookup.
        let as_lookup = Interest { fd: connection.as_raw_fd(), events: sys::POLL_IN };
        assert!(!waited.contains(&as_lookup));
        assert_eq!(connection.peer_addr().unwrap().as_socket(), Some(good));
        assert!(!connection.nonblocking().unwrap());
        let statuses: Vec<_> = connect.attempts().iter().map(Attempt::status).collect();
        assert_eq!((statuses, connect.winner()), ([before, &[Status::Ok]].concat(), Some(before.len())));
        assert_eq!(connect.step().unwrap_err().status(), Status::Closed);
        assert_eq!((connect.interests().count(), connect.seconds_to_timer()), (0, f64::INFINITY));
    }
    while QUEUE.running() > 0 {
        std::thread::yield_now();
    }
}

#[test]
fn the_resolve_callback_replaces_the_system_resolver() {
    let (listener, good) = bound_address();
    listener.listen(8).unwrap();
    let without_port = SocketAddr::new(good.ip(), 0);
    let unused = unused_resolver();
    let run = |answer: fn(SocketAddr) -> crate::error::Result<Vec<Endpoint>>, seconds: f64| {
        let resolve: crate::socket::host_port::ResolveCallback = Arc::new(move |host: &CStr, port, seconds_left| {
            assert_eq!(host, c"name.test");
            assert!(port == good.port() && seconds_left <= seconds && seconds_left > 0.0);
            answer(without_port)
        });
        let options = ConnectOptions { resolve: Some(resolve), ..ConnectOptions::default() };
        let target = Target::Host(HostPort::new("name.test", good.port()).unwrap());
        let mut connect =
            Connect::with_resolver(unused.clone(), target, TargetName::new("name.test", 80), Arc::new(options));
        connect.run(Some(Arc::new(Limit::new(seconds).unwrap()))).map(|fd| fd.as_raw_fd() >= 0)
    };
    for seconds in [30.0, f64::INFINITY] {
        assert!(run(|address| Ok(vec![address.into()]), seconds).unwrap());
    }
    assert_eq!(run(|_| Ok(Vec::new()), 30.0).unwrap_err().message(), "name.test has no addresses");
    let failing = |_| Err(Error::new(Status::CallbackFailed, "the resolve callback reported failure: 1"));
    assert_eq!(run(failing, 30.0).unwrap_err().status(), Status::CallbackFailed);
}

/// Reading SO_ERROR clears the socket's error. A failed connection is detected even if the application has read
/// SO_ERROR.
#[test]
fn a_failed_connection_is_detected_after_so_error_was_read() {
    let (taken, dead) = bound_address();
    let failing = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    // A failed connect(2) leaves the socket shut down in both directions.
    assert!(failing.connect(&dead.into()).is_err());
    assert!(failing.take_error().unwrap().is_none());
    let mut network = SystemNetwork::new(Arc::default(), None, false, true);
    let endpoint = Endpoint::Ip(dead);
    let failure = network.result(&failing, &endpoint).unwrap().unwrap_err();
    let expected = "connecting failed, but the application has already read the socket's error (SO_ERROR)";
    assert_eq!((failure.status, failure.errno, &*failure.reason), (Status::ConnectFailed, 0, expected));
    taken.listen(1).unwrap();
    let good = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    good.connect(&dead.into()).unwrap();
    assert!(network.result(&good, &endpoint).unwrap().is_ok());
    // Connecting succeeds even if the peer has already closed the connection, because the peer's bytes can still be
    // read.
    drop(taken.accept().unwrap());
    wait_until_readable(&good);
    assert!(network.result(&good, &endpoint).unwrap().is_ok());
}

fn wait_until_readable(socket: &Socket) {
    let mut fds = [sys::poll_fd(socket.as_raw_fd(), sys::POLL_IN)];
    assert!(sys::poll(&mut fds, Some(Instant::now() + Duration::from_secs(30))).unwrap() > 0, "hung");
}
