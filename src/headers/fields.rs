//! Parses the field lines of a head that the peer sent (RFC 9112 section 5), in one pass. Every error states the byte
//! offset of the defect.
//!
//! netlib does not use the parser of a library, because errors must state an offset, folded lines must be joined, and
//! the documentation states which defects are refused and which are repaired. The parser copies the block once, and
//! writes the NULs that end names and values into the copy.

use super::{Fields, Headers, Span, describe_byte, is_token_byte, truncated_name};
use crate::error::{Error, Result};
use crate::memory;
use crate::parse_cost::examined;
use crate::status::Status;

/// The maximum number of fields in a head.
pub const MAX_FIELDS: usize = 1000;

/// Iterates over the complete lines of a buffer. A line ends with LF or CRLF (RFC 9112 section 2.2).
pub(crate) struct Lines<'a> {
    input: &'a [u8],
    at: usize,
}

/// A complete line without its LF or CRLF, and its offset in the buffer.
pub(crate) struct Line<'a> {
    pub text: &'a [u8],
    pub start: usize,
}

impl<'a> Lines<'a> {
    /// Returns the bytes after the last line that was returned.
    fn rest(&self) -> &'a [u8] {
        self.input.get(self.at..).unwrap_or_default()
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = Line<'a>;

    /// Returns the next line; `None` if the buffer ends before the line does.
    fn next(&mut self) -> Option<Line<'a>> {
        let rest = self.rest();
        let start = self.at;
        let text = rest.get(..memchr::memchr(b'\n', rest)?)?;
        self.at += text.len() + 1;
        examined(text.len() + 1);
        Some(Line { text: text.strip_suffix(b"\r").unwrap_or(text), start })
    }
}

/// Makes the error for a defect in bytes that the peer sent.
pub(crate) fn protocol_error(what: impl std::fmt::Display, at: usize) -> Error {
    Error::new(Status::Protocol, format!("{what} at byte {at}")).at(at)
}

/// Parses the fields of a header block that ends with an empty line. Returns the headers and the length of the fields
/// in bytes, including the empty line. `start` is the offset of the header block in the input; `lines` is the
/// approximate number of lines in the block.
pub(crate) fn parse_fields(block: &[u8], start: usize, lines: usize) -> Result<(Headers, usize)> {
    let mut fields = Fields::with_capacity(lines.min(MAX_FIELDS + 1), block.len())?;
    fields.bytes.extend_from_slice(block);
    let mut lines = Lines { input: block, at: 0 };
    let mut is_folded = false;
    loop {
        let at = lines.at;
        let field = match lines.valid_field() {
            Some(field) => field,
            None => {
                let Some(line) = lines.next() else { break };
                match line.text {
                    [b' ' | b'\t', ..] => {
                        fields.fold(&line, start)?;
                        is_folded = true;
                        continue;
                    }
                    [] => break,
                    _ => split_field(&line, start)?,
                }
            }
        };
        if std::mem::take(&mut is_folded) {
            fields.trim_last();
        }
        if fields.spans.len() == MAX_FIELDS {
            return Err(protocol_error(
                format_args!("the head has more than {MAX_FIELDS} header fields"),
                start + at,
            ));
        }
        let (name, value) = field;
        let blanks = value.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let span = Span::new(at, name.len(), at + name.len() + 1 + blanks, trim(value).len());
        memory::grow(&mut fields.spans, 1, "headers")?;
        fields.spans.push(span);
        fields.write_nuls(span);
    }
    if is_folded {
        fields.trim_last();
    }
    Ok((fields.into(), lines.at))
}

impl<'a> Lines<'a> {
    /// Returns name and value of the next line if the line is a valid field; otherwise returns `None` and stays before
    /// the line.
    fn valid_field(&mut self) -> Option<(&'a [u8], &'a [u8])> {
        let rest = self.rest();
        let length = rest.iter().take_while(|&&byte| is_token_byte(byte)).count();
        let (name, value) = (rest.get(..length)?, rest.get(length + 1..)?);
        if name.is_empty() || rest.get(length) != Some(&b':') {
            return None;
        }
        let end = memchr::memchr3(b'\r', b'\n', 0, value)?;
        let line_end = match value.get(end..)? {
            [b'\n', ..] => 1,
            [b'\r', b'\n', ..] => 2,
            _ => return None,
        };
        let whole = length + 1 + end + line_end;
        examined(whole);
        self.at += whole;
        Some((name, value.get(..end)?))
    }
}

impl Fields {
    /// Overwrites the colon after the name and the byte after the value with NULs.
    fn write_nuls(&mut self, span: Span) {
        for (at, length) in [(span.name, span.name_length), (span.value, span.value_length)] {
            if let Some(end) = self.bytes.get_mut(at as usize + length as usize) {
                *end = 0;
            }
        }
    }

    /// Appends a folded line to the last value, and replaces the fold with a space (RFC 9112 section 5.2). The joined
    /// value ends before the folded line does, so it never overlaps a later field.
    fn fold(&mut self, line: &Line<'_>, start: usize) -> Result<()> {
        let Some(span) = self.spans.last_mut() else {
            return Err(protocol_error("the first header line begins with whitespace", start + line.start));
        };
        let name = span.name as usize;
        let name = self.bytes.get(name..name + span.name_length as usize).unwrap_or_default();
        check_value(name, line.text, start + line.start)?;
        let more = trim(line.text);
        // No space is needed after an empty value.
        let space: &[u8] = if span.value_length > 0 { b" " } else { b"" };
        let mut end = span.value as usize + span.value_length as usize;
        for part in [space, more] {
            if let Some(room) = self.bytes.get_mut(end..end + part.len()) {
                room.copy_from_slice(part);
            }
            end += part.len();
        }
        span.value_length += (space.len() + more.len()) as u32;
        let span = *span;
        self.write_nuls(span);
        Ok(())
    }

    /// Removes the trailing spaces that joining blank folded lines has added to the last value.
    fn trim_last(&mut self) {
        let Some(span) = self.spans.last_mut() else { return };
        let start = span.value as usize;
        let value = self.bytes.get(start..start + span.value_length as usize).unwrap_or_default();
        span.value_length = trim(value).len() as u32;
        let span = *span;
        self.write_nuls(span);
    }
}

/// Splits a field line into name and value. Fails if the line has a defect. `start` is the offset of the block in the
/// input.
pub(crate) fn split_field<'a>(line: &Line<'a>, start: usize) -> Result<(&'a [u8], &'a [u8])> {
    let start = start + line.start;
    let length = line.text.iter().take_while(|&&byte| is_token_byte(byte)).count();
    let (name, rest) = line.text.split_at(length);
    let at = start + length;
    if rest.first() != Some(&b':') && !rest.contains(&b':') {
        return Err(protocol_error("a header line has no colon; the line begins", start));
    }
    match rest {
        [b':', ..] if name.is_empty() => Err(protocol_error("a header has no name", at)),
        [b':', value @ ..] => {
            check_value(name, value, at + 1)?;
            Ok((name, value))
        }
        // Whitespace before the colon is refused (RFC 9112 section 5.1), because parsers disagree on whether it belongs
        // to the name.
        _ if trim(rest).first() == Some(&b':') => {
            Err(protocol_error(format_args!("header {}: whitespace before the colon", truncated_name(name)), at))
        }
        _ => {
            let (name, byte) = (truncated_name(name), describe_byte(rest.first().copied().unwrap_or_default()));
            Err(protocol_error(format_args!("header name beginning \"{name}\": {byte} is not allowed"), at))
        }
    }
}

/// Fails if the value contains CR or NUL (RFC 9110 section 5.5). CR and NUL are not repaired, because a peer that sends
/// them is defective or hostile.
fn check_value(name: &[u8], value: &[u8], start: usize) -> Result<()> {
    match memchr::memchr2(b'\r', 0, value) {
        None => Ok(()),
        Some(at) => {
            let (name, byte) = (truncated_name(name), describe_byte(value.get(at).copied().unwrap_or_default()));
            Err(protocol_error(format_args!("header {name}: {byte} is not allowed in the value"), start + at))
        }
    }
}

/// Removes leading and trailing optional whitespace (OWS).
pub(crate) fn trim(mut text: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = text {
        text = rest;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(block: &str) -> Result<String> {
        let (headers, length) = parse_fields(block.as_bytes(), 0, block.lines().count())?;
        assert_eq!(length, block.len());
        Ok(headers.wire()?.to_str().unwrap().to_owned())
    }

    #[test]
    fn valid_and_repairable_header_blocks_are_parsed() {
        let rows: &[(&str, &str)] = &[
            ("\r\n", ""),
            ("\n", ""),
            ("A: b\r\n\r\n", "A: b\r\n"),
            ("A: b\n\n", "A: b\r\n"),
            ("A:b\r\n\n", "A: b\r\n"),
            ("A:\t b \t\r\nB:\r\n\r\n", "A: b\r\nB: \r\n"),
            ("A: b: c\r\n\r\n", "A: b: c\r\n"),
            ("A: b\r\n c\r\n\t d \r\n\r\n", "A: b c d\r\n"),
            ("A:\r\n b\r\n\r\n", "A: b\r\n"),
            ("A: b\r\n  \r\nC: d\r\n\r\n", "A: b\r\nC: d\r\n"),
            ("A: b\r\n  \r\n c\r\n\r\n", "A: b  c\r\n"),
            ("a: 1\r\nA: 2\r\n\r\n", "a: 1\r\nA: 2\r\n"),
            ("A: \u{7}\u{e9}\r\n\r\n", "A: \u{7}\u{e9}\r\n"),
        ];
        for (block, expected) in rows {
            assert_eq!(parse(block).unwrap(), *expected, "{block:?}");
        }
    }

    #[test]
    fn header_blocks_with_defects_are_refused() {
        let rows: &[(&str, &str, usize)] = &[
            (" A: b\r\n", "the first header line begins with whitespace", 0),
            ("\t\r\n", "the first header line begins with whitespace", 0),
            (": b\r\n", "a header has no name", 0),
            ("A: b\r\nA : secret\r\n", "header A: whitespace before the colon", 7),
            ("A\t:secret\r\n", "header A: whitespace before the colon", 1),
            ("secret\r\n", "a header line has no colon; the line begins", 0),
            ("A: b\r\nsec ret\r\n", "a header line has no colon; the line begins", 6),
            ("A B: secret\r\n", "header name beginning \"A\": a space is not allowed", 1),
            ("A\u{e9}: secret\r\n", "header name beginning \"A\": byte 0xc3 is not allowed", 1),
            ("A\0: secret\r\n", "header name beginning \"A\": NUL is not allowed", 1),
            ("A: se\rcret\r\n", "header A: CR is not allowed in the value", 5),
            ("A: secret\r\r\n", "header A: CR is not allowed in the value", 9),
            ("A: secre\0t\r\n", "header A: NUL is not allowed in the value", 8),
            ("A: b\r\n c\0\r\n", "header A: NUL is not allowed in the value", 8),
        ];
        for (block, what, at) in rows {
            let error = parse(&format!("{block}\n")).unwrap_err();
            assert_eq!(error.message(), format!("{what} at byte {at}"), "{block:?}");
            assert_eq!((error.status(), error.offset()), (Status::Protocol, Some(*at)));
        }
    }

    #[test]
    fn a_head_with_more_than_1000_fields_is_refused() {
        let most = "a: b\r\n".repeat(MAX_FIELDS);
        assert!(parse(&format!("{most}\r\n")).is_ok());
        let error = parse(&format!("{most}a: b\r\n\r\n")).unwrap_err();
        assert_eq!((error.status(), error.offset()), (Status::Protocol, Some(most.len())));
    }
}
