//! Reads or discards the rest of a response's body.

use std::sync::Arc;

use super::call::Call;
use super::state::{Core, Protocol, Role};
use super::wait_policy::WaitPolicy;
use crate::error::Result;
use crate::limit::Limit;
use crate::response::{BodyDecoder, Collected};
use crate::tls::Io;

/// The size of the buffer for discarded bytes.
const DISCARDED: usize = 16 << 10;

/// The result of a successful call of [`Stream::read_whole_body`](super::Stream::read_whole_body).
pub enum BodyRead {
    Done(Vec<u8>),
    /// The body is incomplete, and the call must not wait: `WantRead` or `WantWrite`.
    Want(Io),
}

impl<P: Protocol> Core<P> {
    pub(super) fn read_whole_body(&self, decoder: &mut BodyDecoder, max_size: u64) -> Result<BodyRead> {
        self.in_reader(|call, policy| {
            let mut collected = decoder.begin_collecting(max_size)?;
            let outcome = call.collect_body(decoder, &mut collected, policy);
            if let Ok(Io::End) = outcome {
                decoder.end_collecting();
                return Ok(BodyRead::Done(collected.take()));
            }
            decoder.keep_collected(collected);
            outcome.map(BodyRead::Want)
        })
    }

    /// On a blocking stream, `seconds` bounds the time of the call, in addition to the settings of the stream.
    pub(super) fn discard_body(&self, decoder: &mut BodyDecoder, max_size: u64, seconds: f64) -> Result<Io> {
        self.classified(|| {
            let (mut settings, mut call) = Call::begin(self, Role::Reader)?;
            let limit = Limit::new(seconds)?;
            if settings.blocking && limit.deadline().is_some() {
                settings.limit = Some(Arc::new(limit.with_parent(settings.limit)?));
            }
            decoder.begin_discarding(max_size);
            let mut buffer = [0; DISCARDED];
            while !decoder.is_done() {
                match call.read_body(decoder, &mut buffer, settings.wait_policy())? {
                    Io::Done(_) | Io::End => {}
                    want => return Ok(want),
                }
            }
            Ok(Io::Done(0))
        })
    }
}

impl<P: Protocol> Call<'_, P> {
    /// Returns `Io::End` at the end of the body, or the reason why the call cannot continue.
    fn collect_body(
        &mut self,
        decoder: &mut BodyDecoder,
        collected: &mut Collected,
        policy: WaitPolicy<'_>,
    ) -> Result<Io> {
        while !decoder.is_done() {
            let room = collected.room(decoder.bytes_left())?;
            match self.read_body(decoder, room, policy)? {
                Io::Done(count) => collected.add(count),
                Io::End => {}
                want => return Ok(want),
            }
        }
        Ok(Io::End)
    }
}
