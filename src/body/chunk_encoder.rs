//! Encodes request bodies with the chunked transfer coding (RFC 9112 section 7.1), in the caller's memory.

use std::ops::Range;

use crate::error::{Error, Result};
use crate::headers::trailers::is_forbidden_in_trailer;
use crate::headers::{Headers, truncated_name};
use crate::status::Status;

/// The maximum length of a chunk-size line: the hexadecimal digits of a 64-bit number, and CRLF.
pub const PREFIX_SIZE: usize = 18;

/// The length of the CRLF after the data of a chunk.
pub const SUFFIX_SIZE: usize = 2;

/// Puts a chunk-size line before the data that begins at [`PREFIX_SIZE`], and a CRLF after the data. Returns the range
/// of the chunk in `buf`. The range is empty if there is no data, because an empty chunk would end the body.
pub fn encode_chunk(buf: &mut [u8], data_length: usize) -> Result<Range<usize>> {
    let size = data_length.saturating_add(PREFIX_SIZE + SUFFIX_SIZE);
    let Some(room) = buf.get_mut(..size) else { return Err(small_buffer_error(size, buf.len())) };
    if data_length == 0 {
        return Ok(PREFIX_SIZE..PREFIX_SIZE);
    }
    let (prefix, rest) = room.split_at_mut(PREFIX_SIZE);
    if let Some(suffix) = rest.get_mut(data_length..) {
        suffix.copy_from_slice(b"\r\n");
    }
    let digits = format!("{data_length:x}\r\n");
    let start = PREFIX_SIZE - digits.len();
    if let Some(line) = prefix.get_mut(start..) {
        line.copy_from_slice(digits.as_bytes());
    }
    Ok(start..size)
}

/// Stores the end of the body at the start of `buf`: the last chunk, the trailer, and an empty line. Returns the number
/// of stored bytes. Fails for a field that a trailer must not contain, and for a control character in a value.
pub fn encode_last_chunk(trailers: Option<&Headers>, buf: &mut [u8]) -> Result<usize> {
    let fields = match trailers {
        Some(trailers) => {
            for (name, _) in trailers.iter() {
                if is_forbidden_in_trailer(name.to_bytes()) {
                    let name = truncated_name(name.to_bytes());
                    let message = format!("trailers: header {name}: a trailer must not contain this header");
                    return Err(Error::new(Status::InvalidHeader, message).never_retried());
                }
            }
            trailers.check_controls().map_err(|error| error.prefixed("trailers"))?;
            trailers.wire()?.to_bytes()
        }
        None => b"",
    };
    let parts = [&b"0\r\n"[..], fields, b"\r\n"];
    let size = parts.iter().map(|part| part.len()).sum();
    let Some(room) = buf.get_mut(..size) else { return Err(small_buffer_error(size, buf.len())) };
    let mut rest = room;
    for part in parts {
        let (first, after) = rest.split_at_mut(part.len());
        first.copy_from_slice(part);
        rest = after;
    }
    Ok(size)
}

fn small_buffer_error(needed: usize, size: usize) -> Error {
    Error::new(Status::InvalidArgument, format!("size must be at least {needed}; it is {size}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::headers::HeadersBuilder;

    #[test]
    fn encode_chunk_puts_size_line_and_crlf_around_the_data_in_place() {
        for (length, line) in [(1, "1\r\n"), (15, "f\r\n"), (16, "10\r\n"), (0xabcde, "abcde\r\n")] {
            let mut buf = vec![b'x'; PREFIX_SIZE + length + SUFFIX_SIZE];
            let range = encode_chunk(&mut buf, length).unwrap();
            assert_eq!(range, PREFIX_SIZE - line.len()..buf.len());
            assert_eq!(buf[range], [line.as_bytes(), &vec![b'x'; length], b"\r\n"].concat());
        }
    }

    #[test]
    fn encode_chunk_of_length_0_returns_an_empty_range_not_the_last_chunk() {
        let mut buf = [b'x'; PREFIX_SIZE + SUFFIX_SIZE];
        assert!(encode_chunk(&mut buf, 0).unwrap().is_empty());
        assert_eq!(buf, [b'x'; PREFIX_SIZE + SUFFIX_SIZE]);
    }

    #[test]
    fn the_last_chunk_contains_the_trailer_fields() {
        let mut trailers = HeadersBuilder::new();
        trailers.add(b"ETag", b"\"x\"").unwrap();
        trailers.add(b"Digest", b"").unwrap();
        let trailers = trailers.build();
        let mut buf = [b'x'; 40];
        assert_eq!(encode_last_chunk(None, &mut buf).unwrap(), 5);
        assert_eq!(&buf[..6], b"0\r\n\r\nx");
        assert_eq!(encode_last_chunk(Some(&Headers::default()), &mut buf).unwrap(), 5);
        let expected = b"0\r\nETag: \"x\"\r\nDigest: \r\n\r\nx";
        assert_eq!(encode_last_chunk(Some(&trailers), &mut buf).unwrap(), expected.len() - 1);
        assert_eq!(&buf[..expected.len()], expected);
    }

    #[test]
    fn too_small_chunk_buffers_and_forbidden_trailer_fields_are_refused() {
        let small = |size: usize, length| encode_chunk(&mut vec![0; size], length).unwrap_err();
        for (size, length, needed) in [(19, 0, 20), (29, 10, 30), (100, usize::MAX, usize::MAX)] {
            let error = small(size, length);
            let expected = format!("size must be at least {needed}; it is {size}");
            assert_eq!((error.status(), error.message()), (Status::InvalidArgument, &*expected));
        }
        assert_eq!(encode_last_chunk(None, &mut [0; 4]).unwrap_err().message(), "size must be at least 5; it is 4");
        let rows = [
            ("content-length", "5", "a trailer must not contain this header", None),
            ("A", "x\u{b}y", "byte 0x0b is not allowed in the value at byte 1", Some(1)),
            ("A", "\u{7f}", "byte 0x7f is not allowed in the value at byte 0", Some(0)),
        ];
        for (name, value, message, offset) in rows {
            let mut trailers = HeadersBuilder::new();
            trailers.add(name.as_bytes(), value.as_bytes()).unwrap();
            let error = encode_last_chunk(Some(&trailers.build()), &mut [0; 100]).unwrap_err();
            assert_eq!((error.status(), error.offset()), (Status::InvalidHeader, offset));
            assert_eq!(error.message(), format!("trailers: header {name}: {message}"));
        }
    }
}
