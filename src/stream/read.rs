//! Reads application data, response heads and response bodies.

use std::io;
use std::mem;
use std::sync::Arc;

use super::call::Call;
use super::last_response::LastResponse;
use super::state::{Core, Protocol, Role, State};
use super::unread::{Heads, Unread};
use super::wait_policy::WaitPolicy;
use crate::error::{Error, Result};
use crate::response::{BodyDecoder, Decoded, Response};
use crate::status::Status;
use crate::tls::Io;

/// The result of a successful call of [`Stream::read_response`](super::Stream::read_response).
pub enum ResponseRead {
    Done(Response),
    /// The head is incomplete, and the call must not wait: `WantRead` or `WantWrite`.
    Want(Io),
}

impl<P: Protocol> Core<P> {
    pub(super) fn read(&self, buffer: &mut [u8]) -> Result<Io> {
        self.in_reader(|call, policy| call.read(buffer, policy))
    }

    pub(super) fn read_response(&self, request_method: &str, heads: Heads) -> Result<ResponseRead> {
        self.in_reader(|call, policy| call.read_response(request_method, heads, policy))
    }

    pub(super) fn read_body(&self, decoder: &mut BodyDecoder, buffer: &mut [u8]) -> Result<Io> {
        self.in_reader(|call, policy| call.read_body(decoder, buffer, policy))
    }

    #[inline(always)]
    pub(super) fn in_reader<T>(&self, act: impl FnOnce(&mut Call<'_, P>, WaitPolicy<'_>) -> Result<T>) -> Result<T> {
        self.classified(|| {
            let (settings, mut call) = Call::begin(self, Role::Reader)?;
            act(&mut call, settings.wait_policy())
        })
    }
}

impl<P: Protocol> Call<'_, P> {
    /// Returns unread bytes if there are any, otherwise reads from the transport.
    #[inline(always)]
    pub(super) fn read(&mut self, buffer: &mut [u8], policy: WaitPolicy<'_>) -> Result<Io> {
        if buffer.is_empty() {
            return Ok(Io::Done(0));
        }
        let state = self.state()?;
        if !state.unread.is_empty() {
            state.last_response.add_bytes();
            return Ok(Io::Done(state.unread.move_to(buffer)));
        }
        let read = P::read(self, buffer, policy)?;
        if let Io::Done(_) = read {
            self.state()?.last_response.add_bytes();
        }
        Ok(read)
    }

    fn read_response(&mut self, request_method: &str, heads: Heads, policy: WaitPolicy<'_>) -> Result<ResponseRead> {
        // The call owns the buffer while it receives without the stream's lock.
        let mut unread = mem::take(&mut self.state()?.unread);
        let outcome = self.read_head(request_method, heads, &mut unread, policy);
        unread.shrink();
        self.state()?.unread = unread;
        outcome
    }

    fn read_head(
        &mut self,
        request_method: &str,
        heads: Heads,
        unread: &mut Unread,
        policy: WaitPolicy<'_>,
    ) -> Result<ResponseRead> {
        loop {
            if let Some(response) = unread.take_response(request_method, heads)? {
                self.state()?.last_response = LastResponse::after_head(&response);
                return Ok(ResponseRead::Done(response));
            }
            match P::read(self, unread.room()?, policy) {
                Ok(Io::Done(count)) => unread.add(count),
                Ok(Io::End) => return Err(self.state()?.lost_head_error(unread.len(), None)),
                Ok(want) => return Ok(ResponseRead::Want(want)),
                Err(lost) if is_lost(&lost) => return Err(self.state()?.lost_head_error(unread.len(), Some(lost))),
                Err(error) => return Err(error),
            }
        }
    }

    pub(super) fn read_body(
        &mut self,
        decoder: &mut BodyDecoder,
        buffer: &mut [u8],
        policy: WaitPolicy<'_>,
    ) -> Result<Io> {
        loop {
            if decoder.decode(&[])? == Decoded::Done(0) {
                self.state()?.last_response.end_body();
                return Ok(Io::End);
            }
            let most = decoder.max_read().min(buffer.len());
            let Some(room) = buffer.get_mut(..most).filter(|room| !room.is_empty()) else { return Ok(Io::Done(0)) };
            let received = match self.read(room, policy)? {
                Io::Done(count) => room.get_mut(..count).unwrap_or_default(),
                Io::End => {
                    decoder.end()?;
                    return Ok(Io::End);
                }
                want => return Ok(want),
            };
            // After an error, the bytes stay unread, so that the connection counts as dropped.
            let decoded = decoder.decode_in_place(received);
            let consumed = decoded.as_ref().map_or(0, |(_, consumed)| *consumed);
            self.keep_unread(received.get(consumed..).unwrap_or_default())?;
            if decoder.is_done() {
                self.state()?.last_response.end_body();
            }
            if let (count @ 1.., _) = decoded? {
                return Ok(Io::Done(count));
            }
        }
    }

    fn keep_unread(&mut self, bytes: &[u8]) -> Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let state = self.state()?;
        // If memory runs out, the bytes are lost, so the stream fails and later reads return no bytes.
        state.unread.put_back(bytes).map_err(|error| state.protocol.fail(error))
    }
}

impl<P: Protocol> State<P> {
    /// Makes the error of a connection that was lost after `received` bytes of a response. `lost` is the error of the
    /// read; `None` if the peer has ended its data. If `received` is 0, the error has no offset.
    fn lost_head_error(&self, received: usize, lost: Option<Error>) -> Error {
        if received == 0 {
            return self.no_response_error(lost);
        }
        let message = || {
            let peer = self.protocol.peer();
            format!("{peer} closed the connection inside the response head, after {received} bytes")
        };
        lost.unwrap_or_else(|| Error::new(Status::Protocol, message())).at(received)
    }

    /// Makes the error of a connection that has ended before the first byte of a response. `lost` is the error of the
    /// read or write that found this; `None` if the peer has ended its data.
    pub(super) fn no_response_error(&self, lost: Option<Error>) -> Error {
        let peer = self.protocol.peer();
        let (status, what) = match self.last_response {
            LastResponse::Whole => (Status::StaleConnection, "reused connection"),
            LastResponse::Unknown | LastResponse::Head => (Status::Protocol, "connection"),
        };
        let message = format!("{peer} closed the {what} without a response");
        let Some(lost) = lost else { return Error::new(status, message) };
        // A missing close_notify is not mentioned: no data was received, so none is truncated.
        let error = match lost.errno() {
            0 => Error::new(status, message),
            errno => Error::from_io(status, message, &io::Error::from_raw_os_error(errno)),
        };
        // The causes say what happened in the streams below.
        lost.causes().iter().fold(error, |error, cause| error.with_cause(Arc::clone(cause)))
    }
}

/// Returns whether the error of a read says that the connection has ended.
fn is_lost(error: &Error) -> bool {
    matches!(error.status(), Status::Protocol | Status::TlsTruncated)
}
