//! Reads application data, response heads and response bodies.

use std::mem;

use super::call::Call;
use super::state::{Core, Protocol, Role};
use super::unread::Unread;
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

    pub(super) fn read_response(&self, request_method: &str) -> Result<ResponseRead> {
        self.in_reader(|call, policy| call.read_response(request_method, policy))
    }

    pub(super) fn read_body(&self, decoder: &mut BodyDecoder, buffer: &mut [u8]) -> Result<Io> {
        self.in_reader(|call, policy| call.read_body(decoder, buffer, policy))
    }

    #[inline(always)]
    fn in_reader<T>(&self, act: impl FnOnce(&mut Call<'_, P>, WaitPolicy<'_>) -> Result<T>) -> Result<T> {
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
        let unread = &mut self.state()?.unread;
        if !unread.is_empty() {
            return Ok(Io::Done(unread.move_to(buffer)));
        }
        P::read(self, buffer, policy)
    }

    fn read_response(&mut self, request_method: &str, policy: WaitPolicy<'_>) -> Result<ResponseRead> {
        // The call owns the buffer while it receives without the stream's lock.
        let mut unread = mem::take(&mut self.state()?.unread);
        let outcome = self.read_head(request_method, &mut unread, policy);
        unread.shrink();
        self.state()?.unread = unread;
        outcome
    }

    fn read_head(
        &mut self,
        request_method: &str,
        unread: &mut Unread,
        policy: WaitPolicy<'_>,
    ) -> Result<ResponseRead> {
        loop {
            if let Some(response) = unread.take_response(request_method)? {
                return Ok(ResponseRead::Done(response));
            }
            let read = P::read(self, unread.room()?, policy);
            match read.map_err(|error| lost_in_head(error, unread.len()))? {
                Io::Done(count) => unread.add(count),
                Io::End => return Err(early_end_error(&self.state()?.protocol, unread.len())),
                want => return Ok(ResponseRead::Want(want)),
            }
        }
    }

    fn read_body(&mut self, decoder: &mut BodyDecoder, buffer: &mut [u8], policy: WaitPolicy<'_>) -> Result<Io> {
        loop {
            if decoder.decode(&[])? == Decoded::Done(0) {
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

/// Adds the offset to the error of a connection that was lost after `received` bytes of a response head, as
/// [`early_end_error`] does.
fn lost_in_head(error: Error, received: usize) -> Error {
    let is_lost = matches!(error.status(), Status::Protocol | Status::TlsTruncated);
    if is_lost && received > 0 { error.at(received) } else { error }
}

/// Makes the error for a peer that has ended its data after `received` bytes of a response. If `received` is 0, the
/// error has no offset: the peer has probably closed an idle connection before it received the request.
fn early_end_error(protocol: &impl Protocol, received: usize) -> Error {
    let peer = protocol.peer();
    if received == 0 {
        return Error::new(Status::Protocol, format!("{peer} closed the connection without a response"));
    }
    let message = format!("{peer} closed the connection inside the response head, after {received} bytes");
    Error::new(Status::Protocol, message).at(received)
}
