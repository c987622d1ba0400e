//! Finds the defects of a raw header block, for `assert_header_parsing`.
//!
//! urllib3 parses a header block with Python's mail parser, and reports the defects that the parser found, and the data
//! that the parser left unread. This module finds the defects that urllib3 reports, in one pass over the lines. A block
//! ends with its first empty line. Unlike urllib3, this module always reports data after a bare CR that ends the
//! headers early, and never searches this data for multipart bodies (docs/reference/differences.md, bare-cr).

use std::sync::Arc;

use crate::error::{DefectKind, Error, HeaderDefect, Result};
use crate::status::Status;

/// The maximum number of defects that the error lists. Further defects are only counted.
const MAX_LISTED: usize = 100;

fn text(kind: DefectKind) -> &'static str {
    match kind {
        DefectKind::NotAHeader => "this line is not a header; this and all later lines were not parsed",
        DefectKind::ContinuationFirst => "this line continues a header, but no header precedes it",
        DefectKind::MisplacedEnvelope => "this is the envelope line of a mail message, not a header",
        DefectKind::NoName => "this header has no name",
        DefectKind::NoBoundary => "this multipart content-type has no boundary",
        DefectKind::MultipartEncoding => "this content-transfer-encoding is not allowed for a multipart body",
        DefectKind::UnreadData => "data follows the end of the headers",
    }
}

/// Fails if a header block has defects. The error for a block with defects has one cause per defect, but at most
/// `MAX_LISTED` causes.
pub fn assert_header_parsing(block: &[u8]) -> Result<()> {
    let FoundDefects { mut listed, count, unparsed } = find_defects(block);
    listed.sort_by_key(|defect| defect.offset);
    let Some(first) = listed.first() else { return Ok(()) };
    let message = match count {
        1 => format!("the header block has a defect: {}", describe(first)),
        _ => format!("the header block has {count} defects; the first: {}", describe(first)),
    };
    let error = Error::new(Status::HeaderParsing, message).with_header_defect(*first).with_unparsed(unparsed);
    Err(listed.iter().fold(error, |error, defect| {
        let cause = Error::new(Status::HeaderParsing, describe(defect)).with_header_defect(*defect);
        error.with_cause(Arc::new(cause))
    }))
}

fn describe(defect: &HeaderDefect) -> String {
    format!("line {} at byte {}: {}", defect.line, defect.offset, text(defect.kind))
}

#[derive(Default)]
struct FoundDefects {
    listed: Vec<HeaderDefect>,
    count: usize,
    /// The offset of the bytes that were not parsed as headers.
    unparsed: Option<usize>,
}

impl FoundDefects {
    fn add(&mut self, kind: DefectKind, line: &Line<'_>) {
        self.count += 1;
        if self.listed.len() < MAX_LISTED {
            self.listed.push(HeaderDefect { kind, line: line.number, offset: line.offset });
        }
    }
}

fn find_defects(block: &[u8]) -> FoundDefects {
    let block = up_to_empty_line(block);
    let mut found = FoundDefects::default();
    let mut content = ContentHeaders::default();
    let mut lines = Lines { block, at: 0, number: 0 }.peekable();
    // The last header, whose continuation lines may follow.
    let mut open: Option<Field<'_>> = None;
    let mut unread = None;
    while let Some(line) = lines.next() {
        match line.kind() {
            LineKind::Continuation => {
                if open.is_none() {
                    found.add(DefectKind::ContinuationFirst, &line);
                }
                continue;
            }
            LineKind::Other => {
                content.close(open.take(), block, line.offset);
                if line.is_empty() {
                    unread = lines.next();
                } else {
                    found.add(DefectKind::NotAHeader, &line);
                    found.unparsed = Some(line.offset);
                }
                break;
            }
            _ => content.close(open.take(), block, line.offset),
        }
        match line.kind() {
            LineKind::Envelope if line.number == 1 => {}
            LineKind::Envelope if lines.peek().is_none_or(|next| next.kind() == LineKind::Other) => {
                found.unparsed = Some(line.offset);
                // Like the mail parser, treats an envelope line that no header follows as the first line of a body.
                match lines.next() {
                    Some(next) if !next.is_empty() => found.add(DefectKind::NotAHeader, &next),
                    _ => unread = Some(line),
                }
                break;
            }
            LineKind::Envelope => found.add(DefectKind::MisplacedEnvelope, &line),
            _ => match line.text.iter().position(|&byte| byte == b':') {
                Some(0) => found.add(DefectKind::NoName, &line),
                colon => open = colon.map(|colon| Field { line, colon }),
            },
        }
    }
    content.close(open.take(), block, block.len());
    content.check(&mut found);
    // If the Content-Type is message/*, Python's mail parser parses the data after the headers as a nested message, so
    // it leaves no data unread.
    if let (Some(line), false) = (unread, content.is_message()) {
        found.add(DefectKind::UnreadData, &line);
        found.unparsed = Some(line.offset);
    }
    found
}

fn up_to_empty_line(block: &[u8]) -> &[u8] {
    let mut end = 0;
    for line in block.split_inclusive(|&byte| byte == b'\n') {
        end += line.len();
        if matches!(line, b"\r\n" | b"\n") {
            break;
        }
    }
    block.get(..end).unwrap_or(block)
}

/// Iterates over the lines of a block. A line ends with CR, LF or CRLF, as in Python's mail parser.
struct Lines<'a> {
    block: &'a [u8],
    at: usize,
    number: usize,
}

/// A line including its CR, LF or CRLF.
#[derive(Clone, Copy)]
struct Line<'a> {
    text: &'a [u8],
    offset: usize,
    number: usize,
}

#[derive(PartialEq)]
enum LineKind {
    Continuation,
    Envelope,
    Header,
    Other,
}

impl<'a> Iterator for Lines<'a> {
    type Item = Line<'a>;

    fn next(&mut self) -> Option<Line<'a>> {
        let rest = self.block.get(self.at..).filter(|rest| !rest.is_empty())?;
        let length = match rest.iter().position(|byte| matches!(byte, b'\r' | b'\n')) {
            Some(end) if rest.get(end..).is_some_and(|end| end.starts_with(b"\r\n")) => end + 2,
            Some(end) => end + 1,
            None => rest.len(),
        };
        let offset = self.at;
        self.at += length;
        self.number += 1;
        Some(Line { text: rest.get(..length)?, offset, number: self.number })
    }
}

impl Line<'_> {
    fn kind(&self) -> LineKind {
        match self.text {
            [b' ' | b'\t', ..] => LineKind::Continuation,
            [b'F', b'r', b'o', b'm', b' ', ..] => LineKind::Envelope,
            text if text.iter().find(|byte| !matches!(byte, b'!'..=b'9' | b';'..=b'~')) == Some(&b':') => {
                LineKind::Header
            }
            _ => LineKind::Other,
        }
    }

    fn is_empty(&self) -> bool {
        matches!(self.text, [b'\r' | b'\n', ..])
    }
}

struct Field<'a> {
    line: Line<'a>,
    colon: usize,
}

/// The two headers on which the mail parser's treatment of the body depends. If a header is repeated, the first value
/// applies.
#[derive(Default)]
struct ContentHeaders<'a> {
    content_type: Option<(Line<'a>, &'a [u8])>,
    transfer_encoding: Option<(Line<'a>, &'a [u8])>,
}

impl<'a> ContentHeaders<'a> {
    /// Stores the value of a Content-Type or Content-Transfer-Encoding header, including its continuation lines, which
    /// end at `end`. Ignores other headers.
    fn close(&mut self, field: Option<Field<'a>>, block: &'a [u8], end: usize) {
        let Some(Field { line, colon }) = field else { return };
        let name = line.text.get(..colon).unwrap_or_default();
        let slot = if name.eq_ignore_ascii_case(b"content-type") {
            &mut self.content_type
        } else if name.eq_ignore_ascii_case(b"content-transfer-encoding") {
            &mut self.transfer_encoding
        } else {
            return;
        };
        slot.get_or_insert((line, block.get(line.offset + colon + 1..end).unwrap_or_default()));
    }

    fn main_type(&self) -> &'a [u8] {
        let Some((_, value)) = self.content_type else { return b"text" };
        let mut parts =
            strip(value.split(|&byte| byte == b';').next().unwrap_or_default()).split(|&byte| byte == b'/');
        match (parts.next(), parts.next(), parts.next()) {
            (Some(main), Some(_), None) => main,
            _ => b"text",
        }
    }

    fn is_message(&self) -> bool {
        self.main_type().eq_ignore_ascii_case(b"message")
    }

    fn check(&self, found: &mut FoundDefects) {
        let Some((line, value)) = self.content_type else { return };
        if !self.main_type().eq_ignore_ascii_case(b"multipart") {
            return;
        }
        if !has_boundary_parameter(value) {
            found.add(DefectKind::NoBoundary, &line);
            return;
        }
        if let Some((line, value)) = self.transfer_encoding {
            let value = trim_line(value);
            if ![&b"7bit"[..], b"8bit", b"binary"].iter().any(|allowed| value.eq_ignore_ascii_case(allowed)) {
                found.add(DefectKind::MultipartEncoding, &line);
            }
        }
    }
}

/// Returns whether a Content-Type has a boundary parameter, including the forms of RFC 2231 sections 3 and 4.
fn has_boundary_parameter(value: &[u8]) -> bool {
    let (mut quoted, mut before) = (false, 0);
    let parameters = value.split(|&byte| {
        quoted ^= byte == b'"' && before != b'\\';
        before = byte;
        byte == b';' && !quoted
    });
    parameters.skip(1).any(|parameter| {
        let name = strip(parameter.split(|&byte| byte == b'=').next().unwrap_or_default());
        let Some((name, form)) = name.split_at_checked(b"boundary".len()) else { return false };
        name.eq_ignore_ascii_case(b"boundary") && is_extended(form)
    })
}

/// Returns whether `form` is a suffix of a parameter name in RFC 2231: empty, `*`, or a number as in `*0` or `*0*`.
fn is_extended(form: &[u8]) -> bool {
    let Some(number) = form.strip_prefix(b"*") else { return form.is_empty() };
    let digits = number.strip_suffix(b"*").unwrap_or(number);
    number.is_empty() || (!digits.is_empty() && digits.iter().all(u8::is_ascii_digit))
}

/// Removes leading and trailing white space of ISO 8859-1.
fn strip(text: &[u8]) -> &[u8] {
    let kept = |byte: &u8| !matches!(byte, 9..=13 | 0x1c..=0x20 | 0x85 | 0xa0);
    match (text.iter().position(kept), text.iter().rposition(kept)) {
        (Some(first), Some(last)) => text.get(first..=last).unwrap_or_default(),
        _ => &[],
    }
}

/// Removes the spaces and tabs before a value and the CR, LF or CRLF after it.
fn trim_line(mut text: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b'\r' | b'\n'] = text {
        text = rest;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_header_defect_is_reported_with_line_and_offset() {
        let block = b"From me\r\n c\r\n:x\r\nA: b\r\nContent-Type: multipart/x\r\nnonsense\r\n\r\n";
        let error = assert_header_parsing(block).unwrap_err();
        assert_eq!((error.status(), error.offset()), (Status::HeaderParsing, Some(9)));
        assert_eq!(
            error.message(),
            "the header block has 4 defects; the first: \
             line 2 at byte 9: this line continues a header, but no header precedes it"
        );
        assert_eq!(error.unparsed(), Some(50));
        let defects: Vec<_> = error.causes().iter().filter_map(|cause| cause.header_defect()).collect();
        let expected = [
            (DefectKind::ContinuationFirst, 2, 9),
            (DefectKind::NoName, 3, 13),
            (DefectKind::NoBoundary, 5, 23),
            (DefectKind::NotAHeader, 6, 50),
        ];
        assert_eq!(defects, expected.map(|(kind, line, offset)| HeaderDefect { kind, line, offset }));
        assert_eq!(error.header_defect(), defects.first().copied());
        let causes: Vec<_> = error.causes().iter().map(|cause| (cause.offset().unwrap(), cause.message())).collect();
        assert_eq!(
            causes,
            [
                (9, "line 2 at byte 9: this line continues a header, but no header precedes it"),
                (13, "line 3 at byte 13: this header has no name"),
                (23, "line 5 at byte 23: this multipart content-type has no boundary"),
                (50, "line 6 at byte 50: this line is not a header; this and all later lines were not parsed"),
            ]
        );
    }

    #[test]
    fn all_header_defects_are_counted_and_the_first_100_listed() {
        let error = assert_header_parsing(&b":x\r\n".repeat(5000)).unwrap_err();
        assert_eq!(error.causes().len(), MAX_LISTED);
        assert!(error.message().starts_with("the header block has 5000 defects; the first: line 1 at byte 0"));
    }
}
