//! Parses a chunk-size line (RFC 9112 section 7.1): the size of the chunk, and chunk extensions, which are dropped.
//!
//! RFC 9112 allows recipients to accept whitespace around the semicolon and the equals sign of an extension. This
//! parser refuses the whitespace, because parsers that skip whitespace differ in what they skip.

use crate::error::{Error, Result};
use crate::headers::fields::protocol_error;
use crate::headers::{describe_byte, is_token_byte};

/// The maximum number of digits in a chunk size, including leading zeros.
const MAX_DIGITS: usize = 16;

/// A chunk-size line that is not complete.
#[derive(Debug, Default)]
pub(super) struct SizeLine {
    size: u64,
    length: usize,
    position: Position,
}

/// The grammar element after which the parsed part of the line ends.
#[derive(Clone, Copy, Debug, Default)]
enum Position {
    #[default]
    Start,
    SizeDigit,
    Semicolon,
    NameByte,
    EqualsSign,
    ValueByte,
    /// A quoted string that has not ended.
    Quoted,
    /// A backslash inside a quoted string.
    Backslash,
    ClosingQuote,
}

impl SizeLine {
    /// Adds a byte other than a line end. `offset` is the offset of the byte in the body.
    pub(super) fn add(&mut self, byte: u8, offset: usize, max_length: usize) -> Result<()> {
        use Position::*;
        if self.length >= max_length {
            let what = format!("a chunk-size line has more than {max_length} bytes");
            return Err(protocol_error(what, offset));
        }
        self.position = match (self.position, byte) {
            (Start | SizeDigit, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => {
                self.add_digit(byte, offset)?;
                SizeDigit
            }
            (SizeDigit | NameByte | ValueByte | ClosingQuote, b';') => Semicolon,
            (NameByte, b'=') => EqualsSign,
            (EqualsSign, b'"') => Quoted,
            (Quoted, b'"') => ClosingQuote,
            (Quoted, b'\\') => Backslash,
            (Quoted | Backslash, b'\t' | b' '..=b'~' | 0x80..) => Quoted,
            (Semicolon | NameByte, byte) if is_token_byte(byte) => NameByte,
            (EqualsSign | ValueByte, byte) if is_token_byte(byte) => ValueByte,
            _ => return Err(self.unexpected(byte, offset)),
        };
        self.length += 1;
        Ok(())
    }

    fn add_digit(&mut self, digit: u8, offset: usize) -> Result<()> {
        if self.length == MAX_DIGITS {
            return Err(protocol_error(format_args!("a chunk size has more than {MAX_DIGITS} digits"), offset));
        }
        let value = char::from(digit).to_digit(16).unwrap_or_default();
        // Does not overflow, because 16 hexadecimal digits fit into 64 bits.
        self.size = self.size << 4 | u64::from(value);
        if self.size > i64::MAX as u64 {
            return Err(protocol_error(format_args!("a chunk size is larger than {}", i64::MAX), offset));
        }
        Ok(())
    }

    pub(super) fn length(&self) -> usize {
        self.length
    }

    /// Returns the size of the chunk. `line_end` is the byte after the line, CR or LF.
    pub(super) fn end(&self, line_end: u8, offset: usize) -> Result<u64> {
        match self.position {
            Position::SizeDigit | Position::NameByte | Position::ValueByte | Position::ClosingQuote => Ok(self.size),
            _ => Err(self.unexpected(line_end, offset)),
        }
    }

    fn unexpected(&self, byte: u8, offset: usize) -> Error {
        let place = match self.position {
            Position::Start | Position::SizeDigit => "chunk size",
            _ => "chunk extension",
        };
        protocol_error(format_args!("{} is not allowed in a {place}", describe_byte(byte)), offset)
    }
}
