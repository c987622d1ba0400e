//! Reading and writing, which make sure of the handshake first.

use std::ops::ControlFlow;

use super::call::{Call, Role};
use super::gather::Pieces;
use super::transport::{Outcome, ReceiveMode};
use super::{Io, WaitPolicy};
use crate::error::{Error, Result};
use crate::status::Status;
use crate::tls::session::engine::Read;
use crate::tls::session::pool::RecordBuffer;

impl Call<'_> {
    pub(super) fn read(&mut self, buffer: &mut [u8], policy: WaitPolicy<'_>) -> Result<Io> {
        if buffer.is_empty() {
            return Ok(Io::Done(0));
        }
        let mut received = false;
        loop {
            if let Some(want) = self.ensure_handshake(policy)? {
                return Ok(want);
            }
            let outcome = self.core()?.engine.read(buffer);
            if let Some(io) = self.throughput_error(outcome, policy)? {
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

    /// What a read of the session's came to for the program, and what there is to answer to the peer. `None`: nothing yet.
    fn throughput_error(&mut self, outcome: Result<Read>, policy: WaitPolicy<'_>) -> Result<Option<Io>> {
        let core = self.core()?;
        if let Ok(Read::Data(count)) = outcome {
            core.count_plaintext(count, policy);
        }
        if core.engine.has_output() {
            self.send_without_waiting(policy)?;
        }
        Ok(match outcome? {
            Read::Data(count) => Some(Io::Done(count)),
            Read::End => Some(Io::End),
            Read::Blocked => None,
        })
    }

    /// A read that has received something, or not.
    pub(super) fn go_on_receiving(
        &mut self,
        input: RecordBuffer,
        received: Outcome<Io>,
        buffer: &mut [u8],
        policy: WaitPolicy<'_>,
    ) -> Result<Io> {
        match self.finish_receive(input, received, ReceiveMode::Blocking, policy)? {
            ControlFlow::Break(Some(want)) => Ok(want),
            _ => self.read(buffer, policy),
        }
    }

    /// A read that has looked at what came.
    pub(super) fn go_on_reading(
        &mut self,
        outcome: Result<Read>,
        buffer: &mut [u8],
        policy: WaitPolicy<'_>,
    ) -> Result<Io> {
        match self.throughput_error(outcome, policy)? {
            Some(io) => Ok(io),
            None => self.read(buffer, policy),
        }
    }

    /// A write whose only piece was sent, or some of it, or why not.
    pub(super) fn go_on_writing(
        &mut self,
        piece: RecordBuffer,
        sent: Outcome<Io>,
        data: &[u8],
        policy: WaitPolicy<'_>,
    ) -> Result<Io> {
        let outcome = match self.go_on_sending(piece, sent, policy) {
            // The session has taken the data, which is counted now.
            Ok(None) => self.write_rest(Pieces::new(&[data]), policy),
            Ok(Some(want)) => Ok(want),
            Err(error) => Err(error),
        };
        self.end_writing(policy)?;
        outcome
    }

    /// Of the writer.
    pub(super) fn write(&mut self, data: Pieces<'_>, policy: WaitPolicy<'_>) -> Result<Io> {
        let outcome = self.begin_write(data, policy);
        self.end_writing(policy)?;
        outcome
    }

    fn begin_write(&mut self, data: Pieces<'_>, policy: WaitPolicy<'_>) -> Result<Io> {
        self.core()?.engine.check_sending()?;
        if let Some(want) = self.ensure_handshake(policy)? {
            return Ok(want);
        }
        let (unreported, len) = (self.core()?.unreported, data.len());
        if len < unreported {
            let message = format!(
                "a write must be continued with the bytes that were not counted: at least {unreported}, not {len}"
            );
            return Err(Error::new(Status::InvalidArgument, message));
        }
        self.write_rest(data, policy)
    }

    /// From what is queued to the last byte.
    fn write_rest(&mut self, mut data: Pieces<'_>, policy: WaitPolicy<'_>) -> Result<Io> {
        let (mut counted, mut gathered) = (0, None);
        let outcome = self.write_all(&mut data, &mut gathered, &mut counted, policy);
        if let Some(gathered) = gathered {
            self.core()?.engine.pool().give_back(gathered);
        }
        match outcome {
            Ok(Some(want)) if counted == 0 => Ok(want),
            Ok(_) => Ok(Io::Done(counted)),
            Err(error) => {
                // The caller learns of no byte, so he passes all of them again, if he goes on.
                self.core()?.unreported += counted;
                Err(error)
            }
        }
    }

    /// `None`: nothing is left of `data`. `Some`: the rest would have to wait.
    fn write_all(
        &mut self,
        data: &mut Pieces<'_>,
        gathered: &mut Option<RecordBuffer>,
        counted: &mut usize,
        policy: WaitPolicy<'_>,
    ) -> Result<Option<Io>> {
        loop {
            if let Some(want) = self.flush(policy)? {
                return Ok(Some(want));
            }
            let core = self.core()?;
            let sent = std::mem::take(&mut core.unreported);
            *counted += sent;
            data.advance(sent);
            if data.is_empty() {
                return Ok(None);
            }
            let next = data.front(gathered, || core.engine.pool().borrow())?;
            core.unreported = core.engine.write(next)?;
        }
    }

    /// Writing is over, though perhaps not the call.
    pub(super) fn end_writing(&mut self, policy: WaitPolicy<'_>) -> Result<()> {
        self.release(Role::Writer);
        // What a reader left to the writer.
        let core = self.core()?;
        if core.unreported == 0 && core.engine.has_output() {
            self.send_without_waiting(policy)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd;
    use std::os::unix::net::UnixStream;
    use std::thread;

    use super::super::Stream;
    use super::super::tests::context_with;
    use super::*;

    type Act = fn(&Stream, &Stream) -> Result<Io>;

    /// One that is only dropped costs a later call an allocation.
    #[test]
    fn every_call_gives_its_buffers_back() {
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
        let context = context_with(|_| {});
        let (near, far) = UnixStream::pair().unwrap();
        let client = Stream::client(&context, near.as_raw_fd(), Some("localhost")).unwrap();
        let server = Stream::server(&context, far.as_raw_fd()).unwrap();
        thread::scope(|scope| {
            scope.spawn(|| server.write(b"x").unwrap());
            assert_eq!(client.read(&mut [0]).unwrap(), Io::Done(1));
        });
        let pool = context.pool();
        let many: Vec<RecordBuffer> = (0..KEPT).map(|_| pool.borrow().unwrap()).collect();
        many.into_iter().for_each(|buffer| pool.give_back(buffer));
        assert_eq!(pool.kept(), KEPT);
        for (what, act, expected, kept) in ACTS {
            assert_eq!((act(&client, &server).unwrap(), pool.kept()), (expected, kept), "{what}");
        }
    }
}
