//! Waits for the end of the peer's data after a shutdown.

use super::call::Call;
use super::state::Protocol;
use crate::error::{Error, Result};
use crate::status::Status;
use crate::tls::Io;

/// The maximum number of bytes that a stream discards while it waits for the end of the peer's data.
const MAX_DISCARDED: usize = 1024 * 1024;

impl<P: Protocol> Call<'_, P> {
    /// Completes a shutdown of both directions. `sent` is the result of the shutdown of this side, and `wait` waits for
    /// the end of the peer's data.
    pub(super) fn await_end(&mut self, sent: Result<Io>, wait: impl FnOnce(&mut Self) -> Result<Io>) -> Result<Io> {
        match sent {
            Ok(Io::Done(_)) => {}
            // Sending failed because the peer closed the connection, but the peer may have ended its data before that.
            Err(ref error) if error.status() == Status::Protocol => {}
            other => return other,
        }
        match wait(self) {
            Ok(Io::End) => Ok(Io::Done(0)),
            Err(_) if sent.is_err() => sent,
            other => other,
        }
    }

    /// Calls `read` until the end of the peer's data, and discards the data. Returns `Io::End`, or the reason why the
    /// read cannot continue.
    pub(super) fn discard_to_end(&mut self, mut read: impl FnMut(&mut Self) -> Result<Io>) -> Result<Io> {
        loop {
            let state = self.state()?;
            if state.discarded > MAX_DISCARDED {
                let message =
                    format!("{} sent more than {MAX_DISCARDED} bytes after the shutdown", state.protocol.peer());
                return Err(Error::new(Status::TooMuchData, message));
            }
            match read(self)? {
                Io::Done(count) => {
                    let state = self.state()?;
                    state.discarded = state.discarded.saturating_add(count);
                }
                other => return Ok(other),
            }
        }
    }
}
