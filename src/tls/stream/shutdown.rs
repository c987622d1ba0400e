//! Shuts down the sending direction of a stream, or both directions.

use super::call::{Call, Role};
use super::wait_policy::WaitPolicy;
use super::{Io, Stream};
use crate::error::{Error, Result};
use crate::status::Status;

/// The maximum size of the plaintext that a stream discards while it waits for the peer's close_notify.
const MAX_DISCARDED: usize = 1024 * 1024;

impl Stream {
    /// Sends close_notify, at most once for each stream. Does not wait for the peer's close_notify.
    pub fn shutdown(&self) -> Result<Io> {
        self.classified(|| {
            let (mut call, settings) = Call::begin(self, Role::Writer)?;
            call.close(settings.wait_policy())
        })
    }

    /// Sends close_notify and waits for the peer's close_notify. Before the handshake there is no session to shut down.
    pub fn shutdown_both(&self) -> Result<Io> {
        self.classified(|| self.shutdown_both_now())
    }

    fn shutdown_both_now(&self) -> Result<Io> {
        let (mut call, settings) = Call::begin(self, Role::Writer)?;
        let policy = settings.wait_policy();
        call.take(Role::Reader)?;
        let sent = call.close(policy);
        match sent {
            Ok(Io::Done(_)) => {}
            // The peer may have sent close_notify before it closed the connection.
            Err(ref error) if error.status() == Status::Protocol => {}
            other => return other,
        }
        if !call.state()?.handshake_done {
            return sent;
        }
        match call.read_to_close_notify(policy) {
            Ok(Io::End) => Ok(Io::Done(0)),
            Err(_) if sent.is_err() => sent,
            other => other,
        }
    }
}

impl Call<'_> {
    fn close(&mut self, policy: WaitPolicy<'_>) -> Result<Io> {
        let sent = self.send_close(policy);
        self.end_writing(policy)?;
        sent
    }

    fn send_close(&mut self, policy: WaitPolicy<'_>) -> Result<Io> {
        self.state()?.engine.close()?;
        match self.flush(policy) {
            Ok(None) => Ok(Io::Done(0)),
            Ok(Some(want)) => Ok(want),
            // A peer that has sent close_notify may close the connection without waiting for the close_notify of this
            // side.
            Err(error) if error.status() == Status::Protocol && self.state()?.engine.has_peer_closed() => {
                Ok(Io::Done(0))
            }
            Err(error) => Err(error),
        }
    }

    /// Reads and discards up to the peer's close_notify.
    fn read_to_close_notify(&mut self, policy: WaitPolicy<'_>) -> Result<Io> {
        let mut buffer = self.state()?.engine.pool().borrow()?;
        let outcome = self.discard_to_end(buffer.space(), policy);
        self.state()?.engine.pool().give_back(buffer);
        outcome
    }

    fn discard_to_end(&mut self, buffer: &mut [u8], policy: WaitPolicy<'_>) -> Result<Io> {
        loop {
            let state = self.state()?;
            if state.discarded > MAX_DISCARDED {
                let message = format!(
                    "{} sent more than {MAX_DISCARDED} bytes after this side's close_notify",
                    state.engine.peer()
                );
                return Err(Error::new(Status::TooMuchData, message));
            }
            match self.read(buffer, policy)? {
                Io::Done(count) => {
                    let state = self.state()?;
                    state.discarded = state.discarded.saturating_add(count);
                }
                other => return Ok(other),
            }
        }
    }
}
