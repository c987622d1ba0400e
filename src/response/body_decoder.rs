//! Finds the bytes of a response's body in the bytes that follow the head (RFC 9112 sections 6 and 7).

use std::sync::Arc;

use super::{Framing, MAX_HEAD, Response};
use crate::error::{Error, Result};
use crate::headers::Headers;
use crate::status::Status;
use chunked::{Chunks, Next};

mod chunked;
mod collected;
mod size_line;
mod trailer;

pub use chunked::ChunkedLimits;
pub(crate) use collected::Collected;

/// The decoder of one body. [`BodyDecoder::decode`] copies no bytes of the body: it returns slices of its input.
#[derive(Debug)]
pub struct BodyDecoder {
    body: Body,
    /// The number of input bytes that earlier calls have consumed.
    consumed: u64,
    /// The number of bytes of the body that earlier calls have returned.
    decoded: u64,
    /// The maximum of `decoded`.
    max_size: u64,
    /// The value of `decoded` when a call began to collect the rest of the body, and when one began to discard it.
    collect_start: Option<u64>,
    discard_start: Option<u64>,
    /// The bytes of the rest, until all of it has arrived.
    collected: Collected,
    failure: Option<Error>,
}

#[derive(Debug)]
enum Body {
    /// The number of bytes that are left, which is at least 1.
    Length(u64),
    Chunked(Box<Chunks>),
    UntilClose,
    Done(Arc<Headers>),
}

/// The result of a successful call of [`BodyDecoder::decode`].
#[derive(Debug, PartialEq, Eq)]
pub enum Decoded<'a> {
    /// At least one byte of the body, and the number of input bytes up to the end of this piece.
    Piece(&'a [u8], usize),
    /// All input bytes are consumed, and the body is not complete.
    NeedsInput,
    /// The body is complete. The number of input bytes that belong to the body.
    Done(usize),
}

impl BodyDecoder {
    /// Makes a decoder for the body of a response. Fails if [`Response::framing`] fails.
    pub fn new(response: &Response) -> Result<BodyDecoder> {
        let body = match response.framing()? {
            Framing::Length(length) if length > 0 => Body::Length(length.unsigned_abs()),
            Framing::None | Framing::Length(_) => Body::Done(Arc::default()),
            Framing::Chunked => Body::Chunked(Box::default()),
            Framing::UntilClose => Body::UntilClose,
        };
        Ok(BodyDecoder {
            body,
            consumed: 0,
            decoded: 0,
            max_size: u64::MAX,
            collect_start: None,
            discard_start: None,
            collected: Collected::default(),
            failure: None,
        })
    }

    /// Sets the maximum size of the body. A longer body is an error, as soon as its length is known.
    pub fn set_max_size(&mut self, max_size: u64) {
        self.max_size = max_size;
    }

    /// Sets the limits of a chunked body. Fails if a limit is out of range.
    pub fn set_limits(&mut self, limits: ChunkedLimits) -> Result<()> {
        limits.check()?;
        if let Body::Chunked(chunks) = &mut self.body {
            chunks.limits = limits;
        }
        Ok(())
    }

    /// Sets whether LF without CR may end a chunk-size line, the data of a chunk, or a trailer line.
    pub fn set_allow_bare_lf(&mut self, allow: bool) {
        if let Body::Chunked(chunks) = &mut self.body {
            chunks.allow_bare_lf = allow;
        }
    }

    /// Begins or continues to collect the rest of the body, which may have at most `max_size` bytes, and returns the
    /// bytes that have been collected. Fails if other calls have read bytes of the rest.
    pub(crate) fn begin_collecting(&mut self, max_size: u64) -> Result<Collected> {
        let start = *self.collect_start.get_or_insert(self.decoded);
        if start + self.collected.len() as u64 != self.decoded {
            let message = "since an earlier call for the whole body, other calls have read bytes of the body";
            return Err(Error::new(Status::InvalidArgument, message));
        }
        self.limit_rest(start, max_size);
        Ok(std::mem::take(&mut self.collected))
    }

    /// Keeps the bytes of a rest that is not complete.
    pub(crate) fn keep_collected(&mut self, collected: Collected) {
        self.collected = collected;
    }

    /// Ends the collecting of a rest that is complete.
    pub(crate) fn end_collecting(&mut self) {
        self.collect_start = None;
    }

    /// Begins or continues to discard the rest of the body, which may have at most `max_size` bytes.
    pub(crate) fn begin_discarding(&mut self, max_size: u64) {
        let start = *self.discard_start.get_or_insert(self.decoded);
        self.limit_rest(start, max_size);
    }

    fn limit_rest(&mut self, start: u64, max_size: u64) {
        self.max_size = self.max_size.min(start.saturating_add(max_size));
    }

    /// Decodes `data`, which begins where the last call stopped. After an error, every call fails with the same error.
    pub fn decode<'a>(&mut self, data: &'a [u8]) -> Result<Decoded<'a>> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        self.check_size(self.bytes_left().unwrap_or(0))?;
        let (start, end) = match &mut self.body {
            Body::Done(_) => return Ok(Decoded::Done(0)),
            Body::Length(left) => {
                let end = data.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
                *left -= end as u64;
                if *left == 0 {
                    self.body = Body::Done(Arc::default());
                }
                (0, end)
            }
            Body::UntilClose => (0, data.len()),
            Body::Chunked(chunks) => match chunks.next(data, self.consumed) {
                Ok(Next::Piece(start, end)) => (start, end),
                Ok(Next::End(trailers, end)) => {
                    self.consumed += end as u64;
                    self.body = Body::Done(Arc::new(trailers));
                    return Ok(Decoded::Done(end));
                }
                Err(error) => return Err(self.fail(error)),
            },
        };
        self.check_size((end - start) as u64)?;
        self.consumed += end as u64;
        self.decoded += (end - start) as u64;
        match data.get(start..end) {
            Some(piece) if !piece.is_empty() => Ok(Decoded::Piece(piece, end)),
            _ => Ok(Decoded::NeedsInput),
        }
    }

    /// Fails if the body has `more` bytes than those that were returned, and therefore more than the maximum.
    fn check_size(&mut self, more: u64) -> Result<()> {
        let size = self.decoded.saturating_add(more);
        if size <= self.max_size {
            return Ok(());
        }
        let message = format!("the body has {size} or more bytes; the maximum is {}", self.max_size);
        Err(self.fail(Error::new(Status::TooMuchData, message)))
    }

    /// Decodes `data`, which begins where the last call stopped, and moves the body's bytes to the front of `data`.
    /// Returns the number of the body's bytes, and the number of consumed bytes. If an error follows valid bytes of the
    /// body, this call returns those bytes, and the next call returns the error.
    pub fn decode_in_place(&mut self, data: &mut [u8]) -> Result<(usize, usize)> {
        let (mut decoded, mut consumed) = (0, 0);
        loop {
            match self.decode(data.get(consumed..).unwrap_or_default()) {
                Ok(Decoded::Piece(piece, length)) => {
                    let (start, end) = (consumed + length - piece.len(), consumed + length);
                    if start > decoded {
                        data.copy_within(start..end, decoded);
                    }
                    decoded += end - start;
                    consumed = end;
                }
                Ok(Decoded::NeedsInput) => return Ok((decoded, data.len())),
                Ok(Decoded::Done(length)) => return Ok((decoded, consumed + length)),
                Err(error) if decoded == 0 => return Err(error),
                Err(_) => return Ok((decoded, consumed)),
            }
        }
    }

    /// Returns the maximum number of bytes to receive before the next call of [`BodyDecoder::decode_in_place`]. If the
    /// body has a known length, no byte after the body is received. If the body is chunked, the maximum bounds the
    /// bytes after the body, which the caller must keep.
    pub fn max_read(&self) -> usize {
        match self.body {
            Body::Done(_) => 0,
            Body::Length(left) => usize::try_from(left).unwrap_or(usize::MAX),
            Body::Chunked(_) => MAX_HEAD,
            Body::UntilClose => usize::MAX,
        }
    }

    /// Records that the peer has closed the connection. Fails if the body is not complete.
    pub fn end(&mut self) -> Result<()> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        let message = match &self.body {
            Body::Done(_) => return Ok(()),
            Body::UntilClose => {
                self.body = Body::Done(Arc::default());
                return Ok(());
            }
            Body::Length(left) => {
                let length = self.decoded.saturating_add(*left);
                format!("the peer closed the connection after {} of {length} bytes of the body", self.decoded)
            }
            Body::Chunked(_) => {
                format!("the peer closed the connection inside a chunked body, after {} bytes", self.consumed)
            }
        };
        Err(self.fail(Error::new(Status::IncompleteRead, message)))
    }

    fn fail(&mut self, error: Error) -> Error {
        self.failure.insert(error).clone()
    }

    pub fn is_done(&self) -> bool {
        self.failure.is_none() && matches!(self.body, Body::Done(_))
    }

    /// Returns the trailer fields; `None` before the body is complete.
    pub fn trailers(&self) -> Option<&Arc<Headers>> {
        if let Body::Done(trailers) = &self.body { Some(trailers) } else { None }
    }

    /// Returns the number of bytes of the body that have been returned.
    pub fn bytes_decoded(&self) -> u64 {
        self.decoded
    }

    /// Returns the number of bytes of the body that have not been returned; `None` if the number is unknown.
    pub fn bytes_left(&self) -> Option<u64> {
        match self.body {
            Body::Length(left) => Some(left),
            Body::Done(_) => Some(0),
            Body::Chunked(_) | Body::UntilClose => None,
        }
    }
}

#[cfg(test)]
mod tests;
