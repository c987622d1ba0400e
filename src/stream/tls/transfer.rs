//! Reads and writes application data; both perform the handshake first if it is not done.

use super::TlsCall;
use super::handshake::LastFlight;
use crate::error::Result;
use crate::stream::pieces::Pieces;
use crate::stream::state::Role;
use crate::stream::wait_policy::WaitPolicy;
use crate::tls::Io;
use crate::tls::session::{Read, RecordBuffer};

impl TlsCall<'_> {
    pub(super) fn read_records(&mut self, buffer: &mut [u8], policy: WaitPolicy<'_>) -> Result<Io> {
        let mut received = false;
        loop {
            if let Some(want) = self.ensure_handshake(LastFlight::KeepTickets, policy)? {
                return Ok(want);
            }
            let outcome = self.state()?.protocol.engine.read(buffer);
            if let Some(io) = self.finish_read(outcome, policy)? {
                return Ok(io);
            }
            if received {
                policy.check_throughput()?;
            }
            if let Some(want) = self.receive(policy)? {
                return Ok(want);
            }
            received = true;
        }
    }

    /// Turns the engine's result into the result for the caller, and sends the queued output. If the caller gets
    /// plaintext, messages for which the peer does not wait, such as tickets, are sent by the caller's next write.
    /// Returns `None` if there is no plaintext yet.
    fn finish_read(&mut self, outcome: Result<Read>, policy: WaitPolicy<'_>) -> Result<Option<Io>> {
        let state = self.state()?;
        if let Ok(Read::Data(count)) = outcome {
            state.count_bytes(count, policy);
        }
        let is_data = matches!(outcome, Ok(Read::Data(_)));
        let engine = &state.protocol.engine;
        let may_delay = is_data && state.unreported == 0 && engine.may_delay_messages();
        if engine.has_output() && !may_delay {
            self.send_without_waiting(policy)?;
        }
        Ok(match outcome? {
            Read::Data(count) => Some(Io::Done(count)),
            Read::End => Some(Io::End),
            Read::Blocked => None,
        })
    }

    /// Writes `data` in the writer role, which the call already holds, and releases the role.
    pub(super) fn write(&mut self, data: Pieces<'_>, policy: WaitPolicy<'_>) -> Result<Io> {
        let outcome = self.begin_write(data, policy);
        self.end_writing(policy)?;
        outcome
    }

    fn begin_write(&mut self, data: Pieces<'_>, policy: WaitPolicy<'_>) -> Result<Io> {
        self.state()?.protocol.engine.check_sending()?;
        if let Some(want) = self.ensure_handshake(LastFlight::KeepForWrite, policy)? {
            return Ok(want);
        }
        self.state()?.check_repeats(data)?;
        self.write_rest(data, policy)
    }

    /// Encrypts the rest of `data` and sends it after the queued output.
    fn write_rest(&mut self, mut data: Pieces<'_>, policy: WaitPolicy<'_>) -> Result<Io> {
        let (mut counted, mut gathered) = (0, None);
        let outcome = self.write_all(&mut data, &mut gathered, &mut counted, policy);
        if let Some(gathered) = gathered {
            self.state()?.protocol.engine.pool().give_back(gathered);
        }
        match outcome {
            Ok(Some(want)) if counted == 0 => Ok(want),
            Ok(_) => Ok(Io::Done(counted)),
            Err(error) => {
                // An error reports no count, so a caller that continues the write passes all bytes again.
                self.state()?.unreported += counted;
                Err(error)
            }
        }
    }

    /// Encrypts and sends `data`. Returns `None` if all data is sent, `Some` if sending the rest would have to wait.
    fn write_all(
        &mut self,
        data: &mut Pieces<'_>,
        gathered: &mut Option<RecordBuffer>,
        counted: &mut usize,
        policy: WaitPolicy<'_>,
    ) -> Result<Option<Io>> {
        loop {
            // The records are appended to the queued output, for example the last flight of the handshake, so that one
            // send carries both.
            let state = self.state()?;
            if state.unreported == 0 && !data.is_empty() {
                let next = data.front(gathered, || state.protocol.engine.pool().borrow())?;
                state.unreported = state.protocol.engine.write(next)?;
            }
            if let Some(want) = self.flush(policy)? {
                return Ok(Some(want));
            }
            let sent = std::mem::take(&mut self.state()?.unreported);
            *counted += sent;
            data.advance(sent);
            if data.is_empty() {
                return Ok(None);
            }
        }
    }

    /// Releases the writer role, and sends the output that a reader queued during the write.
    pub(super) fn end_writing(&mut self, policy: WaitPolicy<'_>) -> Result<()> {
        self.release(Role::Writer);
        let state = self.state()?;
        if state.unreported == 0 && state.protocol.engine.has_output() {
            self.send_without_waiting(policy)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::net::Shutdown;
    use std::os::fd::AsRawFd;
    use std::os::unix::net::UnixStream;
    use std::sync::Arc;
    use std::thread;

    use super::super::TlsStream;
    use super::super::tests::context_with;
    use super::*;
    use crate::limit::Limit;
    use crate::socket::sys;
    use crate::status::Status;
    use crate::tls::Context;
    use crate::tls::session::WRITE_SIZE;

    /// A client and a server whose handshake is done, and their sockets.
    struct Pair {
        context: Arc<Context>,
        client: TlsStream,
        server: TlsStream,
        near: UnixStream,
        far: UnixStream,
    }

    impl Pair {
        fn new() -> Pair {
            let context = context_with(|_| {});
            let (near, far) = UnixStream::pair().unwrap();
            let client = TlsStream::client(&context, near.as_raw_fd(), Some("localhost")).unwrap();
            let server = TlsStream::server(&context, far.as_raw_fd()).unwrap();
            thread::scope(|scope| {
                scope.spawn(|| server.write(b"x").unwrap());
                assert_eq!(client.read(&mut [0]).unwrap(), Io::Done(1));
            });
            Pair { context, client, server, near, far }
        }

        /// Returns whether no role is held, no output is queued, and all encrypted plaintext was reported as written.
        fn is_idle(&self) -> bool {
            let state = self.client.lock().unwrap();
            !state.is_in_use() && !state.protocol.engine.has_output() && state.unreported == 0
        }
    }

    fn shrink_send_buffer(socket: &UnixStream) {
        sys::setsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, libc::SO_SNDBUF, &1_i32.to_ne_bytes()).unwrap();
    }

    fn read_exactly(stream: &TlsStream, len: usize) -> Vec<u8> {
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
    fn repeating_a_partly_sent_write_completes_it() {
        let Pair { client, server, near, .. } = &Pair::new();
        shrink_send_buffer(near);
        let data = some_data();
        for blocking in [true, false] {
            client.set_blocking(blocking).unwrap();
            if !blocking {
                assert_eq!(client.write(&data).unwrap(), Io::WantWrite);
                let state = client.lock().unwrap();
                assert_eq!((state.unreported, state.is_in_use()), (data.len(), false));
            }
            client.set_blocking(true).unwrap();
            thread::scope(|scope| {
                let reader = scope.spawn(|| read_exactly(server, data.len()));
                assert_eq!(client.write(&data).unwrap(), Io::Done(data.len()));
                assert!(reader.join().unwrap() == data);
            });
        }
    }

    #[test]
    fn a_cancelled_write_that_is_repeated_sends_its_data_once() {
        let pair = Pair::new();
        let limit = Arc::new(Limit::new(9.0).unwrap());
        limit.cancel();
        pair.client.set_limit(Some(limit)).unwrap();
        assert_eq!(pair.client.write(b"data").unwrap_err().status(), Status::Cancelled);
        assert_eq!(pair.client.lock().unwrap().unreported, 4);
        pair.client.set_limit(None).unwrap();
        assert_eq!(pair.client.write(b"data").unwrap(), Io::Done(4));
        assert_eq!(read_exactly(&pair.server, 4), b"data");
        assert!(pair.is_idle());
    }

    #[test]
    fn writes_on_a_broken_connection_repeat_the_first_error() {
        let pair = Pair::new();
        pair.far.shutdown(Shutdown::Both).unwrap();
        for _ in 0..2 {
            let error = pair.client.write(b"more").unwrap_err();
            assert_eq!((error.status(), error.errno()), (Status::Protocol, libc::EPIPE));
        }
        assert!(!pair.client.lock().unwrap().is_in_use());
    }

    #[test]
    fn a_write_or_a_read_sends_previously_queued_output() {
        for reads in [false, true] {
            let pair = Pair::new();
            pair.server.write(b"data").unwrap();
            if !reads {
                pair.client.lock().unwrap().protocol.engine.write(b"first").unwrap();
                assert_eq!(pair.client.write(b"data").unwrap(), Io::Done(4));
                assert_eq!(read_exactly(&pair.server, 9), b"firstdata");
            } else {
                pair.client.lock().unwrap().protocol.engine.close().unwrap();
                assert_eq!(pair.client.read(&mut [0; 4]).unwrap(), Io::Done(4));
                assert_eq!(pair.server.read(&mut [0]).unwrap(), Io::End);
            }
            assert!(pair.is_idle());
        }
    }

    #[test]
    fn a_read_of_a_server_sends_the_rest_of_an_unfinished_write_or_shutdown() {
        for (unfinished, is_shutdown, expected) in [("write", false, Io::Done(4)), ("shutdown", true, Io::End)] {
            let pair = Pair::new();
            pair.client.set_blocking(false).unwrap();
            pair.client.write(b"xy").unwrap();
            // The next read returns a byte that is already decrypted, so it does not wait for input.
            assert_eq!(pair.server.read(&mut [0]).unwrap(), Io::Done(1), "{unfinished}");
            let mut state = pair.server.lock().unwrap();
            if is_shutdown {
                state.protocol.engine.close().unwrap();
            } else {
                state.unreported = state.protocol.engine.write(b"rest").unwrap();
            }
            drop(state);
            assert_eq!(pair.server.read(&mut [0]).unwrap(), Io::Done(1), "{unfinished}");
            assert_eq!(pair.client.read(&mut [0; 4]).unwrap(), expected, "{unfinished}");
        }
    }

    #[test]
    fn a_limit_set_during_a_read_does_not_affect_that_read() {
        let pair = Pair::new();
        shrink_send_buffer(&pair.far);
        let data = &some_data()[..16_384];
        thread::scope(|scope| {
            let reader = scope.spawn(|| {
                let mut room = vec![0; data.len()];
                pair.client.read(&mut room).unwrap();
                room
            });
            while !reader.is_finished() && !pair.client.lock().unwrap().is_in_use() {
                thread::yield_now();
            }
            let limit = Arc::new(Limit::new(9.0).unwrap());
            limit.cancel();
            pair.client.set_limit(Some(limit)).unwrap();
            pair.server.write(data).unwrap();
            assert!(reader.join().unwrap() == data);
        });
        assert!(pair.is_idle());
    }

    #[test]
    fn a_read_returns_end_after_close_notify_and_fails_after_truncation() {
        let pair = Pair::new();
        pair.server.shutdown().unwrap();
        assert_eq!(pair.client.read(&mut [0]).unwrap(), Io::End);
        let pair = Pair::new();
        pair.far.shutdown(Shutdown::Both).unwrap();
        assert_eq!(pair.client.read(&mut [0]).unwrap_err().status(), Status::TlsTruncated);
        assert!(pair.is_idle());
    }

    type Act = fn(&TlsStream, &TlsStream) -> Result<Io>;

    /// If a call dropped a buffer instead of returning it, a later call would have to allocate one.
    #[test]
    fn every_call_returns_its_buffers_to_the_pool() {
        const KEPT: usize = 10;
        const ACTS: [(&str, Act, Io, usize); 11] = [
            ("a write", |near, _| near.write(b"data"), Io::Done(4), KEPT),
            ("a read", |_, far| far.read(&mut [0; 4]), Io::Done(4), KEPT),
            ("pieces", |near, _| near.write_pieces(&[b"one ", b"two"]), Io::Done(7), KEPT),
            ("a part of a record", |_, far| far.read(&mut [0; 4]), Io::Done(4), KEPT - 1),
            ("the rest of it", |_, far| far.read(&mut [0; 4]), Io::Done(3), KEPT),
            ("many records", |near, _| near.write(&[0; 100_000]), Io::Done(100_000), KEPT),
            ("some of them", |_, far| far.read(&mut [0; 16_384]), Io::Done(16_384), KEPT - 1),
            (
                "all but a few",
                |_, far| Ok(Io::Done((1..=5).map(|_| far.read(&mut [0; 16_384]).unwrap().count()).sum())),
                Io::Done(81_920),
                KEPT - 1,
            ),
            ("the last of them", |_, far| far.read(&mut [0; 16_384]), Io::Done(1696), KEPT),
            (
                "a read that finds nothing",
                |_, far| far.set_blocking(false).and_then(|()| far.read(&mut [0])),
                Io::WantRead,
                KEPT,
            ),
            ("the end", |near, far| near.shutdown().and_then(|_| far.shutdown_both()), Io::Done(0), KEPT),
        ];
        let Pair { context, client, server, .. } = &Pair::new();
        let pool = context.pool();
        let many: Vec<RecordBuffer> = (0..KEPT).map(|_| pool.borrow().unwrap()).collect();
        many.into_iter().for_each(|buffer| pool.give_back(buffer));
        assert_eq!(pool.kept(), KEPT);
        for (what, act, expected, kept) in ACTS {
            assert_eq!((act(client, server).unwrap(), pool.kept()), (expected, kept), "{what}");
        }
    }
}
