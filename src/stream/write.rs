//! Writes application data.

use super::call::Call;
use super::exchange::is_disconnect;
use super::last_response::LastResponse;
use super::pieces::Pieces;
use super::state::{Core, Protocol, Role};
use crate::error::{Error, Result};
use crate::status::Status;
use crate::tls::Io;

impl<P: Protocol> Core<P> {
    pub(super) fn write(&self, data: Pieces<'_>) -> Result<Io> {
        self.classified(|| {
            let (settings, mut call) = Call::begin(self, Role::Writer)?;
            match P::write(&mut call, data, settings.wait_policy()) {
                Err(error) => Err(call.explain_failed_write(error)?),
                written => written,
            }
        })
    }
}

impl<P: Protocol> Call<'_, P> {
    /// Returns the error of a write on a connection that may be stale. The call holds the writer role, or has released
    /// it. The server may have answered before it closed the connection, so the call looks for input first. While
    /// another call reads, it alone finds out whether there is a response.
    #[cold]
    fn explain_failed_write(&mut self, error: Error) -> Result<Error> {
        let state = self.state()?;
        let is_reused = state.last_response == LastResponse::Whole && state.unread.is_empty();
        if !is_reused || !is_disconnect(&error) || state.is_held(Role::Reader) {
            return Ok(error);
        }
        self.take(Role::Reader)?;
        self.state()?.is_writer_looking = true;
        let has_input = matches!(P::peek(self), Ok(Status::Ok));
        self.release(Role::Reader);
        if has_input { Ok(error) } else { Ok(self.state()?.no_response_error(Some(error))) }
    }
}
