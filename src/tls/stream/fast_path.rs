//! The straight way of a session at rest: nobody is at work on it, and nothing is queued or half done. Mostly a program
//! writes then, or reads the answer, and that takes few of the steps of a [`Call`]. They cost more than their number says,
//! because behind a wait for the network they come out of cold caches.
//!
//! What turns out otherwise is carried on by a call, from where the straight way has come to.

use super::call::{Call, Role};
use super::transport::{Outcome, ReceiveMode};
use super::{Core, Io, Stream, UNBOUNDED, WaitPolicy};
use crate::error::Result;
use crate::tls::per_thread::ThreadId;
use crate::tls::session::engine::Read;
use crate::tls::session::pool::RecordBuffer;
use crate::tls::session::record::WRITE_SIZE;

const WRITING: [Role; 2] = [Role::Writer, Role::Sender];
const READING: [Role; 1] = [Role::Reader];

impl Core {
    fn is_at_rest(&self) -> bool {
        let is_free = self.handshake_done && !self.has_inner_stream && !self.is_in_use();
        is_free && self.unreported == 0 && !self.engine.has_output()
    }

    /// Has the session take all of `data`; the first piece that is to be sent.
    fn seal(&mut self, data: &[u8]) -> Option<RecordBuffer> {
        self.unreported = self.engine.write(data).ok()?;
        self.engine.next_output()
    }
}

impl Stream {
    /// A write that leaves as one piece. `None`: it does not, or the session has failed at it; a call is to begin anew.
    pub(super) fn write_straight(&self, data: &[u8]) -> Option<Result<Io>> {
        let mut core = self.lock().ok()?;
        let is_one_piece = !data.is_empty() && data.len() <= WRITE_SIZE;
        if !is_one_piece || !core.is_at_rest() || !self.transport.may_block() {
            return None;
        }
        let settings = core.settings.clone();
        let policy = settings.wait_policy();
        core.claim(&WRITING, ThreadId::UNKNOWN);
        let Some(piece) = core.seal(data) else {
            // The session keeps the reason, and tells it to the call that tries again.
            core.release(&WRITING);
            return None;
        };
        drop(core);
        let sent = self.transport.send(piece.bytes(), policy);
        Some(self.end_write(piece, sent, data, policy))
    }

    #[inline(always)]
    fn end_write(
        &self,
        mut piece: RecordBuffer,
        sent: Outcome<Io>,
        data: &[u8],
        policy: WaitPolicy<'_>,
    ) -> Result<Io> {
        let mut core = self.lock()?;
        match sent {
            // A reader may have left an answer to the writer meanwhile.
            Ok(Io::Done(count)) if count == piece.bytes().len() && !core.engine.has_output() => {
                piece.consume(count);
                core.engine.return_output(piece);
                core.unreported = 0;
                let is_awaited = core.release(&WRITING);
                drop(core);
                self.notify_waiters(is_awaited);
                Ok(Io::Done(data.len()))
            }
            sent => Call::resumed(self, core, &WRITING).go_on_writing(piece, sent, data, policy),
        }
    }

    /// A read that waits for what comes next. `None`: it need not, or must not; a call is to begin anew.
    pub(super) fn read_straight(&self, buffer: &mut [u8]) -> Option<Result<Io>> {
        let mut core = self.lock().ok()?;
        let waits_inside =
            core.settings.wait_policy().is_unbounded() && !core.nonblocking && self.transport.may_block();
        let counts_throughput = core.throughput.is_some();
        if buffer.is_empty()
            || !waits_inside
            || counts_throughput
            || core.engine.is_read_ready()
            || !core.is_at_rest()
        {
            return None;
        }
        let mut input = core.engine.lend_input().ok()?;
        core.claim(&READING, ThreadId::UNKNOWN);
        drop(core);
        let received = self.transport.receive(input.space(), UNBOUNDED.wait_policy(), ReceiveMode::Blocking);
        Some(self.end_read(input, received, buffer))
    }

    #[inline(always)]
    fn end_read(&self, input: RecordBuffer, received: Outcome<Io>, buffer: &mut [u8]) -> Result<Io> {
        // Those with which the read began, whatever has been set meanwhile.
        let policy = UNBOUNDED.wait_policy();
        let mut core = self.lock()?;
        let Ok(Io::Done(count)) = received else {
            return Call::resumed(self, core, &READING).go_on_receiving(input, received, buffer, policy);
        };
        core.return_input(input, count);
        core.end_wait(count, policy);
        match core.engine.read(buffer) {
            Ok(Read::Data(count)) if !core.engine.has_output() => {
                core.count_plaintext(count, policy);
                let is_awaited = core.release(&READING);
                drop(core);
                self.notify_waiters(is_awaited);
                Ok(Io::Done(count))
            }
            outcome => Call::resumed(self, core, &READING).go_on_reading(outcome, buffer, policy),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::Shutdown;
    use std::os::fd::AsRawFd;
    use std::os::unix::net::UnixStream;
    use std::sync::Arc;
    use std::thread;
    use std::time::Duration;

    use super::super::Transport;
    use super::super::tests::context_with;
    use super::*;
    use crate::error::Error;
    use crate::limit::Limit;
    use crate::socket::sys;
    use crate::socket::throughput::Throughput;
    use crate::status::Status;

    /// A client and a server that have shaken hands, and their descriptors.
    struct Pair {
        client: Arc<Stream>,
        server: Stream,
        near: UnixStream,
        far: UnixStream,
    }

    impl Pair {
        fn new() -> Pair {
            let context = context_with(|_| {});
            let (near, far) = UnixStream::pair().unwrap();
            let client = Arc::new(Stream::client(&context, near.as_raw_fd(), Some("localhost")).unwrap());
            let server = Stream::server(&context, far.as_raw_fd()).unwrap();
            // A test that has gone wrong ends.
            server.set_read_timeout(Some(Duration::from_secs(9))).unwrap();
            server.set_write_timeout(Some(Duration::from_secs(9))).unwrap();
            thread::scope(|scope| {
                scope.spawn(|| server.write(b"x").unwrap());
                assert_eq!(client.read(&mut [0]).unwrap(), Io::Done(1));
            });
            Pair { client, server, near, far }
        }

        fn is_at_rest(&self) -> bool {
            self.client.lock().unwrap().is_at_rest()
        }
    }

    fn with_core(pair: &Pair, change: impl FnOnce(&mut Core)) {
        change(&mut pair.client.lock().unwrap());
    }

    #[test]
    fn what_is_out_of_the_ordinary_goes_another_way() {
        type Arrange = fn(&Pair);
        const ROWS: [(&str, Arrange, bool, bool); 15] = [
            ("a session at rest", |_| {}, true, true),
            ("no handshake", |pair| with_core(pair, |core| core.handshake_done = false), false, false),
            ("a reader", |pair| with_core(pair, |core| core.claim(&READING, ThreadId::current())), false, false),
            (
                "a writer",
                |pair| with_core(pair, |core| core.claim(&[Role::Writer], ThreadId::current())),
                false,
                false,
            ),
            (
                "a sender",
                |pair| with_core(pair, |core| core.claim(&[Role::Sender], ThreadId::current())),
                false,
                false,
            ),
            ("a stream inside", |pair| with_core(pair, |core| core.has_inner_stream = true), false, false),
            ("a write half done", |pair| with_core(pair, |core| core.unreported = 4), false, false),
            ("something queued", |pair| with_core(pair, |core| core.engine.close().unwrap()), false, false),
            ("the end of writing", |pair| assert_eq!(pair.client.shutdown().unwrap(), Io::Done(0)), false, true),
            ("a stream that does not block", |pair| pair.client.set_blocking(false).unwrap(), true, false),
            ("a descriptor that does not", |pair| with_core(pair, |core| core.nonblocking = true), true, false),
            (
                "a read timeout",
                |pair| pair.client.set_read_timeout(Some(Duration::from_secs(9))).unwrap(),
                true,
                false,
            ),
            ("a limit", |pair| pair.client.set_limit(Some(Arc::new(Limit::new(9.0).unwrap()))).unwrap(), true, false),
            (
                "a minimum throughput",
                |pair| pair.client.set_minimum_throughput(Throughput::new(1, 9.0).unwrap()).unwrap(),
                true,
                false,
            ),
            (
                "plaintext that is there",
                |pair| {
                    pair.server.write(b"some").unwrap();
                    assert_eq!(pair.client.read(&mut [0; 2]).unwrap(), Io::Done(2));
                    // One that waits nevertheless is not kept waiting.
                    pair.far.shutdown(Shutdown::Write).unwrap();
                },
                true,
                false,
            ),
        ];
        for (what, arrange, writes, reads) in ROWS {
            let pair = Pair::new();
            pair.server.write(b"data").unwrap();
            arrange(&pair);
            let mut room = [0; 4];
            let read = pair.client.read_straight(&mut room).map(Result::unwrap);
            assert_eq!(read, reads.then_some(Io::Done(4)), "{what}: read");
            let written = pair.client.write_straight(b"data").map(Result::unwrap);
            assert_eq!(written, writes.then_some(Io::Done(4)), "{what}: write");
            let roles = usize::from(["a reader", "a writer", "a sender"].contains(&what));
            with_core(&pair, |core| assert_eq!(core.roles.iter().flatten().count(), roles, "{what}"));
        }
        let pair = Pair::new();
        assert!(pair.client.write_straight(b"").is_none());
        assert!(pair.client.write_straight(&[0; WRITE_SIZE + 1]).is_none());
        assert!(pair.client.read_straight(&mut []).is_none());
        let inner = Stream::client_over(
            &context_with(|_| {}),
            Transport::stream(Arc::clone(&pair.client)).unwrap(),
            Some("localhost"),
        );
        inner.as_ref().unwrap().lock().unwrap().handshake_done = true;
        assert!(inner.as_ref().unwrap().write_straight(b"data").is_none());
        assert!(inner.as_ref().unwrap().read_straight(&mut [0]).is_none());
    }

    /// Few bytes at a time go through.
    fn narrow(socket: &UnixStream) {
        sys::setsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, libc::SO_SNDBUF, &1_i32.to_ne_bytes()).unwrap();
    }

    fn read_all(stream: &Stream, len: usize) -> Vec<u8> {
        let (mut bytes, mut filled) = (vec![0; len], 0);
        while filled < len {
            filled += stream.read(&mut bytes[filled..]).unwrap().count();
        }
        bytes
    }

    fn some_data() -> Vec<u8> {
        (0..WRITE_SIZE).map(|i| (i * 7 + i / 251) as u8).collect()
    }

    #[test]
    fn a_write_that_is_sent_in_parts_goes_on() {
        let pair = Pair::new();
        narrow(&pair.near);
        let data = some_data();
        thread::scope(|scope| {
            let reader = scope.spawn(|| read_all(&pair.server, data.len()));
            assert_eq!(pair.client.write_straight(&data).unwrap().unwrap(), Io::Done(data.len()));
            assert!(reader.join().unwrap() == data);
        });
        assert!(pair.is_at_rest());

        pair.client.set_blocking(false).unwrap();
        assert_eq!(pair.client.write_straight(&data).unwrap().unwrap(), Io::WantWrite);
        with_core(&pair, |core| assert_eq!((core.unreported, core.is_in_use()), (data.len(), false)));
        thread::scope(|scope| {
            let reader = scope.spawn(|| read_all(&pair.server, data.len()));
            pair.client.set_blocking(true).unwrap();
            assert_eq!(pair.client.write(&data).unwrap(), Io::Done(data.len()));
            assert!(reader.join().unwrap() == data);
        });
        assert!(pair.is_at_rest());
    }

    #[test]
    fn what_is_queued_during_a_write_or_a_read_is_sent_with_it() {
        let pair = Pair::new();
        let mut core = pair.client.lock().unwrap();
        let settings = core.settings.clone();
        core.claim(&WRITING, ThreadId::current());
        let piece = core.seal(b"data").unwrap();
        core.engine.close().unwrap();
        drop(core);
        let sent = pair.client.transport.send(piece.bytes(), settings.wait_policy());
        assert_eq!(pair.client.end_write(piece, sent, b"data", settings.wait_policy()).unwrap(), Io::Done(4));
        assert!(pair.is_at_rest());
        assert_eq!(read_all(&pair.server, 4), b"data");
        assert_eq!(pair.server.read(&mut [0]).unwrap(), Io::End);

        let pair = Pair::new();
        pair.server.write(b"data").unwrap();
        let mut core = pair.client.lock().unwrap();
        let mut input = core.engine.lend_input().unwrap();
        core.claim(&READING, ThreadId::current());
        core.engine.close().unwrap();
        drop(core);
        let received = pair.client.transport.receive(input.space(), settings.wait_policy(), ReceiveMode::Blocking);
        assert_eq!(pair.client.end_read(input, received, &mut [0; 4]).unwrap(), Io::Done(4));
        assert!(pair.is_at_rest());
        assert_eq!(pair.server.read(&mut [0]).unwrap(), Io::End);
    }

    #[test]
    fn a_write_to_nobody_tells_the_first_reason() {
        let pair = Pair::new();
        let reason = |error: Error| (error.status(), error.errno());
        let limit = Arc::new(Limit::new(9.0).unwrap());
        limit.cancel();
        pair.client.set_limit(Some(limit)).unwrap();
        assert_eq!(reason(pair.client.write_straight(b"data").unwrap().unwrap_err()), (Status::Cancelled, 0));
        with_core(&pair, |core| assert_eq!((core.unreported, core.is_in_use()), (4, false)));
        pair.client.set_limit(None).unwrap();
        assert_eq!(pair.client.write(b"data").unwrap(), Io::Done(4));
        assert_eq!(read_all(&pair.server, 4), b"data");

        pair.far.shutdown(Shutdown::Both).unwrap();
        let broken = (Status::Protocol, libc::EPIPE);
        assert_eq!(reason(pair.client.write_straight(b"more").unwrap().unwrap_err()), broken);
        assert!(pair.client.write_straight(b"more").is_none());
        assert_eq!(reason(pair.client.write(b"more").unwrap_err()), broken);
        with_core(&pair, |core| assert!(!core.is_in_use()));
    }

    #[test]
    fn a_read_that_brings_no_data_goes_on() {
        let pair = Pair::new();
        narrow(&pair.far);
        let data = some_data();
        thread::scope(|scope| {
            scope.spawn(|| pair.server.write(&data[..16_384]).unwrap());
            let mut room = vec![0; 16_384];
            // What comes first is a part of a record.
            assert_eq!(pair.client.read_straight(&mut room).unwrap().unwrap(), Io::Done(room.len()));
            assert!(room == data[..16_384]);
        });
        assert!(pair.is_at_rest());
        pair.server.shutdown().unwrap();
        assert_eq!(pair.client.read_straight(&mut [0]).unwrap().unwrap(), Io::End);
        assert!(pair.is_at_rest() && pair.client.read_straight(&mut [0]).is_none());

        // It keeps the terms with which it began.
        let pair = Pair::new();
        narrow(&pair.far);
        thread::scope(|scope| {
            let reader = scope.spawn(|| {
                let mut room = vec![0; 16_384];
                pair.client.read_straight(&mut room).unwrap().map(|_| room)
            });
            while !reader.is_finished() && !pair.client.lock().unwrap().is_in_use() {
                thread::yield_now();
            }
            let limit = Arc::new(Limit::new(9.0).unwrap());
            limit.cancel();
            pair.client.set_limit(Some(limit)).unwrap();
            pair.server.write(&data[..16_384]).unwrap();
            assert!(reader.join().unwrap().unwrap() == data[..16_384]);
        });

        let pair = Pair::new();
        pair.far.shutdown(Shutdown::Both).unwrap();
        let truncated = pair.client.read_straight(&mut [0]).unwrap().unwrap_err();
        assert_eq!(truncated.status(), Status::TlsTruncated);
        assert!(pair.is_at_rest());
    }
}
