//! Decodes the chunked transfer coding (RFC 9112 section 7.1).

use super::size_line::SizeLine;
use super::trailer::Trailer;
use crate::error::{Error, Result};
use crate::headers::fields::{MAX_FIELDS, protocol_error};
use crate::headers::{Headers, describe_byte};
use crate::status::Status;

/// The limits of the parts of a chunked body that are not data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkedLimits {
    /// The maximum number of bytes in a chunk-size line, without its line end.
    pub size_line: usize,
    /// The maximum number of bytes in the trailer, including the empty line at its end.
    pub trailer: usize,
    pub trailer_fields: usize,
}

impl Default for ChunkedLimits {
    fn default() -> ChunkedLimits {
        ChunkedLimits { size_line: 4096, trailer: 16 * 1024, trailer_fields: 100 }
    }
}

/// The largest values that [`ChunkedLimits`] may have. The decoder stores at most one trailer line and the parsed
/// fields, so the values `trailer` and `trailer_fields` also bound its memory.
const LARGEST: ChunkedLimits =
    ChunkedLimits { size_line: 64 * 1024, trailer: 256 * 1024, trailer_fields: MAX_FIELDS };

/// The maximum excess of the chunk-size lines over the data. For each chunk, the length of the size line is added to
/// the excess, and 16 bytes and twice the size of the data are subtracted; the excess is never below 0. Without this
/// limit, a peer could send 4 KiB of chunk extensions for each byte of the body.
const MAX_EXCESS: u64 = 16 * 1024;

impl ChunkedLimits {
    pub(super) fn check(self) -> Result<()> {
        let rows = [
            ("max_size_line", self.size_line, 1, LARGEST.size_line),
            ("max_trailer", self.trailer, "\r\n".len(), LARGEST.trailer),
            ("max_trailer_fields", self.trailer_fields, 0, LARGEST.trailer_fields),
        ];
        match rows.iter().find(|(_, value, least, most)| !(least..=most).contains(&value)) {
            Some((name, value, least, most)) => {
                let message = format!("{name} must be {least} to {most}; it is {value}");
                Err(Error::new(Status::InvalidArgument, message))
            }
            None => Ok(()),
        }
    }
}

/// The state of the decoder between two input bytes.
#[derive(Debug, Default)]
pub(super) struct Chunks {
    pub(super) limits: ChunkedLimits,
    pub(super) allow_bare_lf: bool,
    /// The excess of the chunk-size lines so far; see [`MAX_EXCESS`].
    excess: u64,
    part: Part,
}

#[derive(Debug)]
enum Part {
    SizeLine(SizeLine),
    /// The CR of a chunk-size line has been consumed. The value is the size of the chunk.
    SizeLineLf(u64),
    /// The number of bytes of the chunk that are left, which is at least 1.
    Data(u64),
    DataCr,
    DataLf,
    Trailer(Trailer),
}

impl Default for Part {
    fn default() -> Part {
        Part::SizeLine(SizeLine::default())
    }
}

/// The next piece of the body, or the end of the body. Offsets count from the start of the call's input.
pub(super) enum Next {
    /// The start and the end of the piece. The piece is empty if all input is consumed.
    Piece(usize, usize),
    /// The trailer fields, and the offset of the end of the body.
    End(Headers, usize),
}

impl Chunks {
    /// Searches `data`, which begins `offset` bytes after the start of the body, for the next piece of the body.
    pub(super) fn next(&mut self, data: &[u8], offset: u64) -> Result<Next> {
        let mut at = 0;
        while let Some((&byte, rest)) = data.get(at..).and_then(<[u8]>::split_first) {
            let position = usize::try_from(offset).unwrap_or(usize::MAX).saturating_add(at);
            let is_bare_lf = byte == b'\n' && self.allow_bare_lf;
            self.part = match &mut self.part {
                Part::Data(left) => {
                    let length = (rest.len() + 1).min(usize::try_from(*left).unwrap_or(usize::MAX));
                    *left -= length as u64;
                    if *left == 0 {
                        self.part = Part::DataCr;
                    }
                    return Ok(Next::Piece(at, at + length));
                }
                Part::Trailer(trailer) => {
                    let line = data.get(at..).unwrap_or_default();
                    let length = memchr::memchr(b'\n', line).map_or(line.len(), |lf| lf + 1);
                    let line = line.get(..length).unwrap_or_default();
                    at += length;
                    if let Some(fields) = trailer.add(line, position, &self.limits, self.allow_bare_lf)? {
                        return Ok(Next::End(fields, at));
                    }
                    continue;
                }
                Part::SizeLine(line) if byte == b'\r' => {
                    Part::SizeLineLf(end_size_line(line, byte, position, &mut self.excess, self.limits)?)
                }
                Part::SizeLine(line) if is_bare_lf => {
                    after_size_line(end_size_line(line, byte, position, &mut self.excess, self.limits)?)
                }
                Part::SizeLine(line) => {
                    line.add(byte, position, self.limits.size_line)?;
                    at += 1;
                    continue;
                }
                Part::SizeLineLf(size) if byte == b'\n' => after_size_line(*size),
                Part::DataCr if byte == b'\r' => Part::DataLf,
                Part::DataCr if is_bare_lf => Part::default(),
                Part::DataLf if byte == b'\n' => Part::default(),
                Part::SizeLineLf(_) | Part::DataLf => {
                    let byte = describe_byte(byte);
                    return Err(protocol_error(format_args!("{byte} follows a CR; LF must follow"), position));
                }
                Part::DataCr => {
                    let byte = describe_byte(byte);
                    let what = format!("{byte} follows the data of a chunk; CRLF must follow");
                    return Err(protocol_error(what, position));
                }
            };
            at += 1;
        }
        Ok(Next::Piece(at, at))
    }
}

/// Ends a chunk-size line at the byte `line_end`, and returns the size of the chunk. Updates `excess`, and fails if the
/// excess is above both [`MAX_EXCESS`] and the limit for one size line.
fn end_size_line(
    line: &SizeLine,
    line_end: u8,
    position: usize,
    excess: &mut u64,
    limits: ChunkedLimits,
) -> Result<u64> {
    let size = line.end(line_end, position)?;
    *excess = (*excess + line.length() as u64).saturating_sub(size.saturating_mul(2).saturating_add(16));
    let most = MAX_EXCESS.max(limits.size_line as u64);
    if *excess > most {
        let what = format!("the chunk extensions have more than {most} bytes in excess of the data");
        return Err(protocol_error(what, position));
    }
    Ok(size)
}

/// Returns the part of the body that follows the chunk-size line of a chunk of `size` bytes.
fn after_size_line(size: u64) -> Part {
    if size == 0 { Part::Trailer(Trailer::default()) } else { Part::Data(size) }
}
