//! Tests streams over callbacks that fail, panic or block on demand. No call may hold a role after it returns, and two
//! threads must be able to share a stream.

use std::any::Any;
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Barrier, Mutex, MutexGuard, OnceLock};
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

use super::*;
use crate::limit::Limit;
use crate::socket::throughput::Throughput;
use crate::stream::callbacks::{Answer, Callbacks};
use crate::stream::outer;
use crate::tls::TlsOptions;

/// The functions of `Stream` with these names, for tests that use a `TlsStream` directly.
impl TlsStream {
    pub(super) fn set_limit(&self, limit: Option<Arc<Limit>>) -> Result<()> {
        self.core.set_limit(limit)
    }

    pub(super) fn set_read_timeout(&self, timeout: Option<Duration>) -> Result<()> {
        self.core.set_read_timeout(timeout)
    }

    pub(super) fn set_write_timeout(&self, timeout: Option<Duration>) -> Result<()> {
        self.core.set_write_timeout(timeout)
    }

    pub(super) fn set_minimum_throughput(&self, throughput: Throughput) -> Result<()> {
        self.core.set_minimum_throughput(throughput)
    }

    pub(super) fn set_blocking(&self, blocking: bool) -> Result<()> {
        self.core.set_blocking(blocking)
    }

    pub(super) fn write(&self, data: &[u8]) -> Result<Io> {
        self.write_pieces(&[data])
    }

    pub(super) fn lock(&self) -> Result<MutexGuard<'_, State<Tls>>> {
        self.core.lock()
    }
}

/// The failure that a transport callback simulates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trouble {
    NotNow,
    Failure,
    /// The callback returns this status, as if it used another stream whose call failed.
    Named(Status),
    Senseless,
    Panic,
    /// The callback waits twice at `Wire::barrier`, so that the test decides when the callback continues.
    Hang,
}

#[derive(Default)]
struct Troubles {
    read: Mutex<Option<Trouble>>,
    write: Mutex<Option<Trouble>>,
}

struct Wire {
    near: UnixStream,
    troubles: Troubles,
    barrier: Barrier,
}

impl Wire {
    fn process_handshake(
        &self,
        trouble: &Mutex<Option<Trouble>>,
        not_now: Status,
        process_handshake: impl FnOnce() -> io::Result<usize>,
    ) -> Answer {
        let trouble = *trouble.lock().unwrap();
        match trouble {
            None => {}
            Some(Trouble::NotNow) => return (not_now as i32, 0),
            Some(Trouble::Failure) => return (-1, 0),
            Some(Trouble::Named(status)) => return (status as i32, 0),
            Some(Trouble::Senseless) => return (Status::Ok as i32, usize::MAX),
            // `resume_unwind` panics without printing a message.
            Some(Trouble::Panic) => resume_unwind(Box::new("a callback's panic")),
            Some(Trouble::Hang) => {
                self.barrier.wait();
                self.barrier.wait();
            }
        }
        process_handshake().map_or((-1, 0), |count| (Status::Ok as i32, count))
    }

    fn transport(self: &Arc<Wire>) -> Transport {
        let (reading, writing) = (Arc::clone(self), Arc::clone(self));
        Transport::callbacks(Callbacks {
            read: Box::new(move |room| {
                reading.process_handshake(&reading.troubles.read, Status::WantRead, || (&reading.near).read(room))
            }),
            write: Box::new(move |bytes| {
                writing.process_handshake(&writing.troubles.write, Status::WantWrite, || (&writing.near).write(bytes))
            }),
        })
    }

    fn set(&self, reading: Option<Trouble>, writing: Option<Trouble>) {
        *self.troubles.read.lock().unwrap() = reading;
        *self.troubles.write.lock().unwrap() = writing;
    }
}

pub(super) fn context_with(change: impl FnOnce(&mut TlsOptions)) -> Arc<Context> {
    let mut options = TlsOptions::default();
    options.set_use_environment(false);
    options.add_ca_data(include_bytes!("../../../tests/certs/ca.pem")).unwrap();
    let (chain, key) =
        (include_bytes!("../../../tests/certs/server.pem"), include_bytes!("../../../tests/certs/server.key"));
    options.set_identity(chain, Some(key)).unwrap();
    change(&mut options);
    Arc::new(Context::new(&options).unwrap())
}

/// The nested streams of a client and of a server, each list with its outermost stream first. The client's outermost
/// stream uses callbacks, the server's uses a descriptor.
struct Pair {
    client: Vec<Arc<TlsStream>>,
    wire: Arc<Wire>,
    server: Vec<Arc<TlsStream>>,
    far: UnixStream,
}

impl Pair {
    fn new(depth: usize) -> Pair {
        let context = context_with(|_| {});
        let (near, far) = UnixStream::pair().unwrap();
        // The timeout ends a test that would otherwise wait forever because of a defect.
        near.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let wire = Arc::new(Wire { near, troubles: Troubles::default(), barrier: Barrier::new(2) });
        let mut pair = Pair {
            client: vec![Arc::new(TlsStream::client_over(&context, wire.transport(), Some("localhost")).unwrap())],
            wire,
            server: vec![Arc::new(TlsStream::server(&context, far.as_raw_fd()).unwrap())],
            far,
        };
        for _ in 1..depth {
            let outer = outer::over_tls(Arc::clone(pair.client())).unwrap();
            pair.client.push(Arc::new(TlsStream::client_over(&context, outer, Some("localhost")).unwrap()));
            let outer = outer::over_tls(Arc::clone(pair.server())).unwrap();
            pair.server.push(Arc::new(TlsStream::server_over(&context, outer).unwrap()));
        }
        pair.server().set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        pair
    }

    fn connected(depth: usize) -> Pair {
        let pair = Pair::new(depth);
        thread::scope(|scope| {
            scope.spawn(|| pair.server().handshake().unwrap());
            assert_eq!(pair.client().handshake().unwrap(), Io::Done(0));
        });
        pair
    }

    fn client(&self) -> &Arc<TlsStream> {
        self.client.last().unwrap()
    }

    fn server(&self) -> &Arc<TlsStream> {
        self.server.last().unwrap()
    }

    /// Asserts that no role is held, no thread waits, and no lock is poisoned.
    fn assert_at_rest(&self, what: &dyn std::fmt::Debug) {
        for stream in &self.client {
            let state = stream.lock().unwrap();
            assert_eq!((state.roles, state.waiters), ([None; Role::COUNT], 0), "{what:?}");
        }
    }

    fn roles(&self, role: Role) -> bool {
        self.client().lock().unwrap().is_held(role)
    }
}

type Caller = fn(&TlsStream) -> Result<Io>;

const CALLS: [(&str, Caller); 7] = [
    ("handshake", TlsStream::handshake),
    ("read", |stream| stream.read(&mut [0; 10])),
    ("write", |stream| stream.write(b"data")),
    ("write_early", |stream| stream.write_early(b"data")),
    ("shutdown", TlsStream::shutdown),
    ("shutdown_both", TlsStream::shutdown_both),
    ("probe", |stream| stream.probe().map(|_| Io::Done(0))),
];

/// Makes a call and returns its result or its panic.
fn call(stream: &TlsStream, caller: Caller) -> std::result::Result<Result<Io>, Box<dyn Any + Send>> {
    catch_unwind(AssertUnwindSafe(|| caller(stream)))
}

#[test]
fn a_transport_callback_that_fails_does_not_leave_a_tls_stream_busy() {
    let troubles = [
        Trouble::NotNow,
        Trouble::Failure,
        Trouble::Named(Status::Protocol),
        Trouble::Named(Status::Cancelled),
        Trouble::Senseless,
        Trouble::Panic,
    ];
    let make: [fn() -> Pair; 4] = [|| Pair::new(1), || Pair::connected(1), || Pair::new(2), || Pair::connected(2)];
    for (which, make) in make.iter().enumerate() {
        for (name, caller) in CALLS {
            for trouble in troubles {
                // If only one callback fails, the other callback returns `NotNow`, because the silent peer would make
                // it wait forever.
                let ways = [(trouble, Trouble::NotNow), (Trouble::NotNow, trouble), (trouble, trouble)];
                for (reading, writing) in ways {
                    let pair = make();
                    let what = (which, name, reading, writing);
                    pair.wire.set(Some(reading), Some(writing));
                    // The second call continues from the state in which the first call left the stream.
                    for _ in 0..2 {
                        let outcome = call(pair.client(), caller);
                        pair.assert_at_rest(&what);
                        assert!(outcome.is_ok() || [reading, writing].contains(&Trouble::Panic), "{what:?}");
                    }
                }
            }
        }
    }
}

/// Makes each call on a stream over a descriptor: once with a cancelled limit, and once with timeouts of one
/// millisecond.
#[test]
fn a_call_that_is_cancelled_or_times_out_does_not_leave_the_stream_busy() {
    let context = context_with(|_| {});
    for handshake_done in [false, true] {
        for limited in [false, true] {
            for (name, caller) in CALLS {
                let (near, far) = UnixStream::pair().unwrap();
                let client = TlsStream::client(&context, near.as_raw_fd(), Some("localhost")).unwrap();
                let server = TlsStream::server(&context, far.as_raw_fd()).unwrap();
                if handshake_done {
                    thread::scope(|scope| {
                        scope.spawn(|| server.handshake().unwrap());
                        client.handshake().unwrap();
                    });
                }
                if limited {
                    let limit = Arc::new(Limit::new(f64::INFINITY).unwrap());
                    limit.cancel();
                    client.set_limit(Some(limit)).unwrap();
                } else {
                    client.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
                    client.set_write_timeout(Some(Duration::from_millis(1))).unwrap();
                }
                let what = (handshake_done, limited, name);
                let expected = match (limited, name, handshake_done) {
                    // The calls in the next two arms succeed, because they do not wait. A shutdown before the handshake
                    // has no session to close.
                    (_, "probe" | "write_early", _) | (false, "write", true) => None,
                    (_, "handshake", true) | (false, "shutdown", _) | (_, "shutdown" | "shutdown_both", false) => {
                        None
                    }
                    (true, ..) => Some(Status::Cancelled),
                    (false, ..) => Some(Status::ReadTimeout),
                };
                assert_eq!(caller(&client).err().map(|error| error.status()), expected, "{what:?}");
                let state = client.lock().unwrap();
                assert_eq!((state.roles, state.waiters), ([None; Role::COUNT], 0), "{what:?}");
            }
        }
    }
}

/// If a call needs two roles but gets only one of them, the call releases that role; the thread that holds the other
/// role keeps it.
#[test]
fn a_call_that_returns_busy_does_not_make_later_writes_busy() {
    let pair = Pair::connected(1);
    pair.wire.set(Some(Trouble::Hang), None);
    thread::scope(|scope| {
        let reader = scope.spawn(|| pair.client().read(&mut [0; 10]));
        pair.wire.barrier.wait();
        for (name, caller) in CALLS {
            if ["read", "shutdown_both", "probe"].contains(&name) {
                assert_eq!(caller(pair.client()).unwrap_err().status(), Status::Busy, "{name}");
                let roles = pair.client().lock().unwrap().roles.map(|roles| roles.is_some());
                assert_eq!(roles, [true, false, false, false], "{name}");
            }
        }
        // A write needs neither the reader nor the handshaker role.
        assert_eq!(pair.client().write(b"ping").unwrap(), Io::Done(4));
        pair.wire.set(None, None);
        pair.server().write(b"pong").unwrap();
        pair.wire.barrier.wait();
        assert_eq!(joined(reader).unwrap(), Io::Done(4));
    });
    pair.assert_at_rest(&"Busy");
}

fn joined<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| resume_unwind(panic))
}

/// Waits until another thread of the test has made `is_so` true.
fn within_time(else_what: &str, is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(10), "{else_what}");
        thread::yield_now();
    }
}

fn await_waiting(stream: &TlsStream) {
    within_time("nobody waits", || stream.lock().unwrap().waiters > 0);
}

/// While a reader sends the output that it has queued, a writer sends nothing.
#[test]
fn a_writer_waits_while_a_reader_sends_queued_output() {
    let pair = Pair::connected(1);
    let client = pair.client();
    // Queues output, as an answer to a key update does.
    client.lock().unwrap().protocol.engine.write(b"first").unwrap();
    pair.wire.set(None, Some(Trouble::Hang));
    thread::scope(|scope| {
        let reader = scope.spawn(|| client.read(&mut [0; 10]));
        pair.wire.barrier.wait();
        assert!(pair.roles(Role::Reader) && pair.roles(Role::Sender));
        client.set_blocking(false).unwrap();
        assert_eq!(client.write(b", then this").unwrap(), Io::WantWrite);
        assert!(!pair.roles(Role::Writer) && pair.roles(Role::Sender));
        client.set_blocking(true).unwrap();
        client.set_limit(Some(Arc::new(Limit::new(0.05).unwrap()))).unwrap();
        assert_eq!(client.write(b", then this").unwrap_err().status(), Status::DeadlineExceeded);
        assert!(!pair.roles(Role::Writer) && pair.roles(Role::Sender));
        assert_eq!(client.lock().unwrap().waiters, 0);
        client.set_limit(None).unwrap();
        let writer = scope.spawn(|| client.write(b", then this"));
        await_waiting(client);
        pair.wire.set(None, None);
        pair.wire.barrier.wait();
        assert_eq!(joined(writer).unwrap(), Io::Done(11));
        pair.server().write(b"seen").unwrap();
        assert_eq!(joined(reader).unwrap(), Io::Done(4));
    });
    pair.assert_at_rest(&"both are done");
    let (mut all, mut room) = (Vec::new(), [0; 100]);
    while all.len() < 16 {
        let count = pair.server().read(&mut room).unwrap().count();
        all.extend_from_slice(&room[..count]);
    }
    assert_eq!(all, b"first, then this");
}

/// Besides its own data, a writer sends the output that a reader has queued during the write.
#[test]
fn a_writer_sends_the_output_that_a_reader_queued() {
    let pair = Pair::connected(1);
    let client = pair.client();
    pair.wire.set(None, Some(Trouble::Hang));
    thread::scope(|scope| {
        let writer = scope.spawn(|| client.write(b"mine"));
        pair.wire.barrier.wait();
        pair.wire.set(None, None);
        pair.server().write(b"go on").unwrap();
        client.lock().unwrap().protocol.engine.write(b", the reader's").unwrap();
        assert_eq!(client.read(&mut [0; 10]).unwrap(), Io::Done(5));
        assert!(client.lock().unwrap().protocol.engine.has_output(), "left to the writer");
        pair.wire.barrier.wait();
        assert_eq!(joined(writer).unwrap(), Io::Done(4));
    });
    assert!(!client.lock().unwrap().protocol.engine.has_output());
    pair.assert_at_rest(&"both are done");
}

/// A probe that finds a protocol error takes the writer role and sends the alert before it returns.
#[test]
fn a_probe_that_finds_a_protocol_error_sends_the_alert() {
    let pair = Pair::connected(1);
    (&pair.far).write_all(b"\x17\x03\x03\0\x20no record that could be opened..").unwrap();
    // Each probe processes all received records, including session tickets.
    assert_eq!(pair.client().probe().unwrap(), Status::TlsProtocol);
    let error = pair.server().read(&mut [0; 10]).unwrap_err();
    assert_eq!((error.status(), error.tls_alert()), (Status::TlsAlert, Some(20)), "{}", error.message());
    pair.assert_at_rest(&"failed");
}

/// A call that performs the handshake does not block other calls once the handshake is done.
#[test]
fn calls_that_performed_the_handshake_do_not_block_other_calls() {
    for depth in [1, 2] {
        let pair = Pair::new(depth);
        let client = pair.client();
        thread::scope(|scope| {
            let reader = scope.spawn(|| client.read(&mut [0; 10]));
            assert_eq!(pair.server().handshake().unwrap(), Io::Done(0));
            // The client's handshake finishes first, but its thread may still be sending.
            within_time("the role is kept", || !pair.roles(Role::Handshaker));
            client.set_blocking(false).unwrap();
            assert_eq!(client.handshake().unwrap(), Io::Done(0));
            assert_eq!(client.write(b"ping").unwrap(), Io::Done(4));
            assert_eq!(pair.server().read(&mut [0; 10]).unwrap(), Io::Done(4));
            assert_eq!(pair.server().write(b"pong").unwrap(), Io::Done(4));
            assert_eq!(joined(reader).unwrap(), Io::Done(4));
        });
        pair.assert_at_rest(&depth);
    }
}

/// Readers and writers do not hold the lock of any stream while they use a transport.
#[test]
fn readers_and_writers_of_nested_streams_do_not_block_each_other() {
    let pair = Pair::connected(2);
    let client = pair.client();
    for hangs_reading in [true, false] {
        thread::scope(|scope| {
            let (reading, writing) =
                if hangs_reading { (Some(Trouble::Hang), None) } else { (None, Some(Trouble::Hang)) };
            pair.wire.set(reading, writing);
            let hanging =
                scope.spawn(move || if hangs_reading { client.read(&mut [0; 10]) } else { client.write(b"ping") });
            pair.wire.barrier.wait();
            for stream in &pair.client {
                assert!(stream.core.is_unlocked());
                assert_eq!(stream.lock().unwrap().waiters, 0);
            }
            if hangs_reading {
                assert_eq!(client.write(b"ping").unwrap(), Io::Done(4));
            }
            assert_eq!(pair.server().write(b"pong").unwrap(), Io::Done(4));
            if !hangs_reading {
                assert_eq!(client.read(&mut [0; 10]).unwrap(), Io::Done(4));
            }
            pair.wire.set(None, None);
            pair.wire.barrier.wait();
            assert_eq!(joined(hanging).unwrap(), Io::Done(4));
            assert_eq!(pair.server().read(&mut [0; 10]).unwrap(), Io::Done(4));
        });
        pair.assert_at_rest(&hangs_reading);
    }
}

#[test]
fn one_thread_performs_the_handshake_and_others_wait() {
    for outcome in [None, Some(Trouble::Panic), Some(Trouble::Failure)] {
        let pair = Pair::new(1);
        let client = pair.client();
        pair.wire.set(None, Some(Trouble::Hang));
        thread::scope(|scope| {
            let server = scope.spawn(|| pair.server().handshake());
            let handshaker = scope.spawn(|| call(client, TlsStream::handshake));
            pair.wire.barrier.wait();
            client.set_blocking(false).unwrap();
            // Only these four calls need the handshake.
            for (name, caller) in
                CALLS.into_iter().filter(|(name, _)| ["handshake", "read", "write", "probe"].contains(name))
            {
                assert_eq!(caller(client).unwrap_err().status(), Status::Busy, "{name}");
                let roles = client.lock().unwrap().roles.map(|roles| roles.is_some());
                assert_eq!(roles, [false, false, true, true], "{name}");
            }
            client.set_blocking(true).unwrap();
            client.set_limit(Some(Arc::new(Limit::new(0.05).unwrap()))).unwrap();
            assert_eq!(client.read(&mut [0; 10]).unwrap_err().status(), Status::DeadlineExceeded);
            client.set_limit(None).unwrap();
            let writer = scope.spawn(|| client.write(b"data"));
            await_waiting(client);
            // The pending flight is sent now. The result of the next receive operation ends the call of `handshaker`.
            // The writer continues the handshake if it is not done.
            pair.wire.set(outcome, None);
            pair.wire.barrier.wait();
            let handshake_done = joined(handshaker);
            match outcome {
                None => assert_eq!(handshake_done.unwrap().unwrap(), Io::Done(0)),
                Some(Trouble::Panic) => assert!(handshake_done.is_err()),
                Some(_) => assert_eq!(handshake_done.unwrap().unwrap_err().status(), Status::CallbackFailed),
            }
            pair.wire.set(None, None);
            // The writer fails with the same outcome if it used the callback before the outcome was reset.
            let written = catch_unwind(AssertUnwindSafe(|| joined(writer)));
            if !matches!(written, Ok(Ok(_))) {
                assert!(outcome.is_some());
                assert_eq!(client.write(b"data").unwrap(), Io::Done(4));
            }
            assert_eq!(joined(server).unwrap(), Io::Done(0));
        });
        let mut room = [0; 10];
        assert_eq!(pair.server().read(&mut room).unwrap(), Io::Done(4));
        pair.assert_at_rest(&outcome);
    }
}

/// Callbacks during the handshake run while the stream's lock is released, and may fail or panic.
#[test]
fn stream_calls_inside_a_callback_of_the_stream_return_busy() {
    static ASKED: AtomicUsize = AtomicUsize::new(0);
    for panics in [false, true] {
        let place: Arc<OnceLock<Arc<TlsStream>>> = Arc::default();
        let of_clock = Arc::clone(&place);
        let context = context_with(|options| {
            options.set_wall_clock(Some(Arc::new(move || {
                let stream = of_clock.get().unwrap();
                assert_eq!((stream.pending(), stream.early_data_left()), (0, 0));
                for (name, caller) in CALLS {
                    assert_eq!(caller(stream).unwrap_err().status(), Status::Busy, "{name}");
                }
                ASKED.fetch_add(1, Ordering::Relaxed);
                if panics {
                    resume_unwind(Box::new("a clock's panic"));
                }
                Err(Error::new(Status::CallbackFailed, "no time"))
            })));
        });
        let (near, _far) = UnixStream::pair().unwrap();
        let stream = Arc::new(TlsStream::client(&context, near.as_raw_fd(), Some("localhost")).unwrap());
        let _ = place.set(Arc::clone(&stream));
        stream.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
        let outcome = call(&stream, TlsStream::handshake);
        assert_eq!(outcome.is_err(), panics);
        assert_eq!(ASKED.load(Ordering::Relaxed), 1 + usize::from(panics));
        assert_eq!(stream.lock().unwrap().roles, [None; Role::COUNT]);
    }
}

/// While another thread is sending, a non-blocking write waits for that thread, unless that thread may wait for the
/// transport. If the write returned `NETLIB_WANT_WRITE` instead, its caller could poll a socket that already has room
/// in its send buffer.
#[test]
fn a_nonblocking_write_waits_for_a_sender_unless_the_sender_may_wait() {
    let context = context_with(|_| {});
    let (near, far) = UnixStream::pair().unwrap();
    let client = TlsStream::client(&context, near.as_raw_fd(), Some("localhost")).unwrap();
    let server = TlsStream::server(&context, far.as_raw_fd()).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| server.handshake().unwrap());
        client.handshake().unwrap();
    });
    client.set_blocking(false).unwrap();
    let mut sender = Call::new(&client.core);
    sender.claim(Role::Sender).unwrap();
    sender.state().unwrap().protocol.sender_may_wait = true;
    sender.unlock();
    thread::scope(|scope| {
        assert_eq!(joined(scope.spawn(|| client.write(b"data"))).unwrap(), Io::WantWrite);
        sender.state().unwrap().protocol.sender_may_wait = false;
        sender.unlock();
        let writer = scope.spawn(|| client.write(b"data"));
        await_waiting(&client);
        sender.release(Role::Sender);
        sender.unlock();
        assert_eq!(joined(writer).unwrap(), Io::Done(4));
    });
}
