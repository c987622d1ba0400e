//! Connects whose lookup is the test's.

use std::ffi::CStr;
use std::net::SocketAddr;
use std::sync::{Mutex, mpsc};

use socket2::{Domain, Type};

use super::*;
use crate::socket::connect_options::SourceAddress;
use crate::socket::lookup_queue::LookupQueue;

static OUT: LookupQueue = LookupQueue::new();

fn connect_by(resolver: Resolver, options: ConnectOptions) -> Connect {
    let target = Target::Host(Query::new("name.test", 80).unwrap());
    Connect::with(resolver, target, "name.test port 80".to_owned(), Arc::new(options))
}

fn cancelled(connect: &mut Connect, limit: &Limit) -> (Status, String) {
    limit.cancel();
    let error = connect.step().unwrap_err();
    assert_eq!(connect.waits().count(), 0);
    assert_eq!(connect.timer(), f64::INFINITY);
    let again = connect.step().unwrap_err();
    assert_eq!((again.status(), again.message()), (error.status(), error.message()));
    (error.status(), error.message().to_owned())
}

#[test]
fn a_limit_ends_each_phase() {
    let (release, held) = mpsc::channel::<()>();
    let held = Mutex::new(held);
    let stuck = Resolver::new(
        Arc::new(move |_: &Query| {
            let _ = held.lock().unwrap().recv();
            Ok(Vec::new())
        }),
        &OUT,
        8,
    );
    let source = Some(SourceAddress { host: "own.test".to_owned(), port: 0 });
    for (source, expected) in [
        (None, "cannot connect to name.test port 80: the limit was cancelled"),
        (source, "cannot connect to name.test port 80: the limit was cancelled"),
    ] {
        let mut connect = connect_by(stuck.clone(), ConnectOptions { source, ..ConnectOptions::default() });
        let limit = Arc::new(Limit::new(f64::INFINITY).unwrap());
        connect.set_limit(Some(Arc::clone(&limit))).unwrap();
        assert_eq!((connect.timer(), connect.waits().count()), (0.0, 0));
        assert!(connect.step().unwrap().is_none());
        // The lookup's descriptor, and the limit's, which stay as they are.
        let waits: Vec<_> = connect.waits().collect();
        assert_eq!(waits.iter().map(|waited| waited.events).collect::<Vec<_>>(), [sys::POLL_IN, sys::POLL_IN]);
        assert!(connect.step().unwrap().is_none());
        assert_eq!(connect.waits().collect::<Vec<_>>(), waits);
        assert_eq!(connect.timer(), f64::INFINITY);
        assert_eq!(cancelled(&mut connect, &limit), (Status::Cancelled, expected.to_owned()));
        assert!(connect.attempts().is_empty());
    }
    // In one call; and freed in the middle, without waiting for the lookup.
    let mut connect = connect_by(stuck.clone(), ConnectOptions::default());
    let error = connect.run(Some(Arc::new(Limit::new(0.02).unwrap()))).unwrap_err();
    assert_eq!(error.status(), Status::DeadlineExceeded);
    assert_eq!(error.message(), "cannot connect to name.test port 80: the limit's deadline has passed");
    let mut connect = connect_by(stuck.clone(), ConnectOptions::default());
    assert!(connect.step().unwrap().is_none());
    drop(connect);
    drop(release);

    // Before the first step.
    let mut connect = connect_by(stuck, ConnectOptions::default());
    let limit = Arc::new(Limit::new(0.0).unwrap());
    connect.set_limit(Some(limit)).unwrap();
    assert_eq!(connect.step().unwrap_err().status(), Status::DeadlineExceeded);
}

/// A port that refuses: taken, but nobody listens.
fn refusing() -> (Socket, SocketAddr) {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    socket.bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into()).unwrap();
    let address = socket.local_addr().unwrap().as_socket().unwrap();
    (socket, address)
}

fn ready(connect: &Connect) {
    let mut fds: Vec<_> = connect.waits().map(|waited| sys::poll_fd(waited.fd, waited.events)).collect();
    assert!(sys::poll(&mut fds, Some(Instant::now() + Duration::from_secs(30))).unwrap() > 0, "hung");
}

#[test]
fn from_a_name_to_a_connection() {
    let (_taken, dead) = refusing();
    let (listener, good) = refusing();
    listener.listen(8).unwrap();
    let resolver = Resolver::new(Arc::new(move |_: &Query| Ok(vec![dead, good])), &OUT, 8);
    let alone = Resolver::new(Arc::new(move |_: &Query| Ok(vec![good])), &OUT, 8);
    let source = Some(SourceAddress { host: "own.test".to_owned(), port: 0 });
    let own = Resolver::new(
        Arc::new(move |query: &Query| {
            let own = SocketAddr::from(([127, 0, 0, 1], 0));
            Ok(if query.host() == c"own.test" { vec![own] } else { vec![dead, good] })
        }),
        &OUT,
        8,
    );
    let failed_before: &[Status] = &[Status::ConnectFailed];
    for (resolver, source, before) in
        [(resolver, None, failed_before), (own, source, failed_before), (alone, None, &[])]
    {
        let mut connect = connect_by(resolver, ConnectOptions { source, ..ConnectOptions::default() });
        let mut waited = Vec::new();
        let connection = loop {
            if let Some(connection) = connect.step().unwrap() {
                break Socket::from(connection);
            }
            ready(&connect);
            waited.clear();
            waited.extend(connect.waits());
        };
        // The lookup's number is nobody else's in the step that ends it.
        let as_lookup = Waited { fd: connection.as_raw_fd(), events: sys::POLL_IN };
        assert!(!waited.contains(&as_lookup));
        assert_eq!(connection.peer_addr().unwrap().as_socket(), Some(good));
        assert!(!connection.nonblocking().unwrap());
        let statuses: Vec<_> = connect.attempts().iter().map(Attempt::status).collect();
        assert_eq!((statuses, connect.winner()), ([before, &[Status::Ok]].concat(), Some(before.len())));
        assert_eq!(connect.step().unwrap_err().status(), Status::Closed);
        assert_eq!((connect.waits().count(), connect.timer()), (0, f64::INFINITY));
    }
    while OUT.count() > 0 {
        std::thread::yield_now();
    }
}

#[test]
fn a_resolver_of_the_program() {
    let (listener, good) = refusing();
    listener.listen(8).unwrap();
    let mine = SocketAddr::new(good.ip(), 0);
    let nobody = Resolver::new(Arc::new(|query: &Query| panic!("looked up {query:?}")), &OUT, 0);
    let run = |answer: fn(SocketAddr) -> crate::error::Result<Vec<Endpoint>>, seconds: f64| {
        let resolve: crate::socket::host_port::Resolve = Arc::new(move |host: &CStr, port, left| {
            assert_eq!(host, c"name.test");
            assert!(port == good.port() && left <= seconds && left > 0.0);
            answer(mine)
        });
        let options = ConnectOptions { resolve: Some(resolve), ..ConnectOptions::default() };
        let target = Target::Host(Query::new("name.test", good.port()).unwrap());
        let mut connect = Connect::with(nobody.clone(), target, "name.test".to_owned(), Arc::new(options));
        connect.run(Some(Arc::new(Limit::new(seconds).unwrap()))).map(|fd| fd.as_raw_fd() >= 0)
    };
    for seconds in [30.0, f64::INFINITY] {
        assert!(run(|mine| Ok(vec![mine.into()]), seconds).unwrap());
    }
    assert_eq!(run(|_| Ok(Vec::new()), 30.0).unwrap_err().message(), "name.test has no addresses");
    let failing = |_| Err(Error::new(Status::CallbackFailed, "the resolve callback reported failure: 1"));
    assert_eq!(run(failing, 30.0).unwrap_err().status(), Status::CallbackFailed);
}

/// An event loop that asks for SO_ERROR takes it: netlib must not take the socket for connected.
#[test]
fn an_error_that_was_taken_is_still_one() {
    let (taken, dead) = refusing();
    let failing = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    // Shut down in both directions, as a connect that failed is.
    assert!(failing.connect(&dead.into()).is_err());
    assert!(failing.take_error().unwrap().is_none());
    let mut sockets = Sockets { options: Arc::default(), source: None };
    let endpoint = Endpoint::Ip(dead);
    let failure = sockets.outcome(&failing, &endpoint).unwrap().unwrap_err();
    let expected = "connecting failed, and the program took the socket's error (SO_ERROR)";
    assert_eq!((failure.status, failure.errno, &*failure.reason), (Status::ConnectFailed, 0, expected));
    taken.listen(1).unwrap();
    let good = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    good.connect(&dead.into()).unwrap();
    assert!(sockets.outcome(&good, &endpoint).unwrap().is_ok());
    // What the peer has closed was connected: its last bytes can be read.
    drop(taken.accept().unwrap());
    ready_to_read(&good);
    assert!(sockets.outcome(&good, &endpoint).unwrap().is_ok());
}

fn ready_to_read(socket: &Socket) {
    let mut fds = [sys::poll_fd(socket.as_raw_fd(), sys::POLL_IN)];
    assert!(sys::poll(&mut fds, Some(Instant::now() + Duration::from_secs(30))).unwrap() > 0, "hung");
}
