//! Shuts down the sending direction of a stream, or both directions.

use super::{TlsCall, TlsStream};
use crate::error::Result;
use crate::status::Status;
use crate::stream::call::Call;
use crate::stream::state::Role;
use crate::stream::wait_policy::WaitPolicy;
use crate::tls::Io;

impl TlsStream {
    /// Sends close_notify, at most once for each stream. Does not wait for the peer's close_notify.
    pub fn shutdown(&self) -> Result<Io> {
        self.core.classified(|| {
            let (settings, mut call) = Call::begin(&self.core, Role::Writer)?;
            call.close(settings.wait_policy())
        })
    }

    /// Sends close_notify and waits for the peer's close_notify. Before the handshake there is no session to shut down.
    pub fn shutdown_both(&self) -> Result<Io> {
        self.core.classified(|| self.shutdown_both_now())
    }

    fn shutdown_both_now(&self) -> Result<Io> {
        let (settings, mut call) = Call::begin(&self.core, Role::Writer)?;
        let policy = settings.wait_policy();
        call.take(Role::Reader)?;
        let sent = call.close(policy);
        if !call.state()?.protocol.handshake_done && !matches!(sent, Ok(Io::WantRead | Io::WantWrite)) {
            return sent;
        }
        call.await_end(sent, |call| call.read_to_close_notify(policy))
    }
}

impl TlsCall<'_> {
    fn close(&mut self, policy: WaitPolicy<'_>) -> Result<Io> {
        let sent = self.send_close(policy);
        self.end_writing(policy)?;
        sent
    }

    fn send_close(&mut self, policy: WaitPolicy<'_>) -> Result<Io> {
        self.state()?.protocol.engine.close()?;
        match self.flush(policy) {
            Ok(None) => Ok(Io::Done(0)),
            Ok(Some(want)) => Ok(want),
            // A peer that has sent close_notify may close the connection without waiting for the close_notify of this
            // side.
            Err(error) if error.status() == Status::Protocol && self.state()?.protocol.engine.has_peer_closed() => {
                Ok(Io::Done(0))
            }
            Err(error) => Err(error),
        }
    }

    /// Reads and discards data until the peer's close_notify.
    fn read_to_close_notify(&mut self, policy: WaitPolicy<'_>) -> Result<Io> {
        let mut buffer = self.state()?.protocol.engine.pool().borrow()?;
        let outcome = self.discard_to_end(|call| call.read(buffer.space(), policy));
        self.state()?.protocol.engine.pool().give_back(buffer);
        outcome
    }
}
