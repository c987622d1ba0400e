use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, Weak};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::*;
use crate::socket::throughput::Throughput;
use crate::stream::Heads;
use crate::stream::callbacks::Answer;
use crate::stream::last_response::LastResponse;
use crate::stream::read::ResponseRead;

type Caller = fn(&PlainStream) -> Result<Io>;

const CALLS: [(&str, Caller); 7] = [
    ("handshake", PlainStream::handshake),
    ("read", |stream| stream.read(&mut [0; 10])),
    ("write", |stream| stream.write_pieces(&[b"da", b"ta"])),
    ("write_early", PlainStream::write_early),
    ("shutdown", PlainStream::shutdown),
    ("shutdown_both", PlainStream::shutdown_both),
    ("probe", |stream| stream.probe().map(|_| Io::Done(0))),
];

#[test]
fn a_callback_that_fails_or_panics_does_not_leave_a_plain_stream_busy() {
    const ANSWERS: [Option<Answer>; 6] = [
        Some((Status::WantRead as i32, 0)),
        Some((Status::Ok as i32, usize::MAX)),
        Some((Status::Ok as i32, 1)),
        Some((Status::Protocol as i32, 0)),
        Some((-1, 0)),
        // The callback panics.
        None,
    ];
    for answer in ANSWERS {
        for (name, caller) in CALLS {
            // `resume_unwind` panics without printing a message.
            let result = move || answer.unwrap_or_else(|| resume_unwind(Box::new("a callback's panic")));
            let callbacks = Callbacks { read: Box::new(move |_| result()), write: Box::new(move |_| result()) };
            let stream = PlainStream::callbacks(callbacks);
            // The second call continues from the state in which the first call left the stream.
            for _ in 0..2 {
                let outcome = catch_unwind(AssertUnwindSafe(|| caller(&stream)));
                assert!(outcome.is_ok() || answer.is_none(), "{name}");
                let state = stream.core.lock().unwrap();
                assert_eq!((state.roles, state.waiters), ([None; Role::COUNT], 0), "{name} {answer:?}");
            }
        }
    }
}

#[test]
fn a_read_waits_while_a_failed_write_looks_for_a_response() {
    let reader: Arc<Mutex<Option<JoinHandle<Result<Io>>>>> = Arc::default();
    let started = Arc::clone(&reader);
    let stream = Arc::new_cyclic(|stream: &Weak<PlainStream>| {
        let stream = stream.clone();
        // The failed write calls this callback. The callback starts a thread that reads, until the thread waits.
        let read = move |_: &mut [u8]| {
            let stream = stream.upgrade().unwrap();
            let reading = Arc::clone(&stream);
            let thread = thread::spawn(move || reading.read(&mut [0]));
            while !thread.is_finished() && stream.core.lock().unwrap().waiters == 0 {
                thread::yield_now();
            }
            *started.lock().unwrap() = Some(thread);
            (Status::Ok as i32, 0)
        };
        let write = |_: &[u8]| (Status::Protocol as i32, 0);
        PlainStream::callbacks(Callbacks { read: Box::new(read), write: Box::new(write) })
    });
    stream.core.lock().unwrap().last_response = LastResponse::Whole;
    assert_eq!(stream.write_pieces(&[b"request"]).unwrap_err().status(), Status::StaleConnection);
    let thread = reader.lock().unwrap().take().unwrap();
    assert_eq!(thread.join().unwrap().unwrap(), Io::End);
}

/// A non-blocking stream on a socket, and the peer's socket.
fn idle_stream() -> (PlainStream, UnixStream, UnixStream) {
    let (near, far) = UnixStream::pair().unwrap();
    let stream = PlainStream::descriptor(near.as_raw_fd()).unwrap();
    stream.core.set_blocking(false).unwrap();
    (stream, near, far)
}

#[test]
fn time_after_want_read_counts_in_the_minimum_throughput_check() {
    use std::io::Write as _;
    let (stream, _near, mut far) = idle_stream();
    stream.core.set_minimum_throughput(Throughput::new(10, 10.0).unwrap()).unwrap();
    let mut room = [0; 100];
    // Moves the start of the wait 20 seconds into the past.
    let back = || {
        let mut state = stream.core.lock().unwrap();
        let throughput = state.throughput.as_mut().unwrap();
        throughput.restart();
        throughput.begin_wait(Instant::now() - Duration::from_secs(20)).unwrap();
    };
    assert_eq!(stream.read(&mut room).unwrap(), Io::WantRead);
    back();
    let error = stream.read(&mut room).unwrap_err();
    assert_eq!(error.status(), Status::TooSlow);
    assert!(error.message().starts_with("0 bytes arrived from the peer in 20."), "{}", error.message());
    // Bytes that have arrived are returned. Nine bytes are below the minimum; ten bytes reach it and begin a new
    // window.
    for (count, then) in [(9, Err(Status::TooSlow)), (10, Ok(Io::WantRead))] {
        back();
        far.write_all(&vec![0; count]).unwrap();
        assert_eq!(stream.read(&mut room).unwrap(), Io::Done(count));
        assert_eq!(stream.read(&mut room).map_err(|error| error.status()), then, "{count}");
    }
    // The time before a probe does not count.
    back();
    assert_eq!(stream.probe().unwrap(), Status::WantRead);
    assert_eq!(stream.read(&mut room).unwrap(), Io::WantRead);
}

#[test]
fn bytes_that_a_failed_write_has_sent_are_not_sent_again() {
    use std::io::Read as _;
    let (stream, _near, mut far) = idle_stream();
    stream.core.lock().unwrap().unreported = 3;
    assert_eq!(stream.write_pieces(&[b"a"]).unwrap_err().status(), Status::InvalidArgument);
    assert_eq!(stream.core.lock().unwrap().unreported, 3);
    assert_eq!(stream.write_pieces(&[b"", b"ab", b"", b"cd"]).unwrap(), Io::Done(4));
    assert_eq!(stream.core.lock().unwrap().unreported, 0);
    let mut received = [0; 10];
    assert_eq!(far.read(&mut received).unwrap(), 1);
    assert_eq!(received[0], b'd');
    stream.core.lock().unwrap().unreported = 3;
    assert_eq!(stream.write_pieces(&[b"abc"]).unwrap(), Io::Done(3));
    assert_eq!(stream.write_pieces(&[]).unwrap(), Io::Done(0));
}

#[test]
fn a_stream_without_unread_bytes_holds_no_buffer() {
    use std::io::Write as _;
    let (stream, _near, mut far) = idle_stream();
    let capacity = || stream.core.lock().unwrap().unread.capacity();
    let read_response = || stream.core.read_response("GET", Heads::Final).unwrap();
    assert!(matches!(read_response(), ResponseRead::Want(Io::WantRead)));
    assert_eq!(capacity(), 0);
    far.write_all(b"HTTP/1.1 101 x\r\n").unwrap();
    assert!(matches!(read_response(), ResponseRead::Want(Io::WantRead)));
    assert_eq!(capacity(), 4096);
    far.write_all(b"\r\nab").unwrap();
    assert!(matches!(read_response(), ResponseRead::Done(_)));
    assert_eq!((capacity(), stream.pending()), (4096, 2));
    assert_eq!(stream.read(&mut [0; 2]).unwrap(), Io::Done(2));
    assert_eq!(capacity(), 0);
}
