//! Finds the end of a response head. The caller keeps the progress of the search between calls, packed into a number.

use super::head::{MAX_HEAD, StatusLine, VERSION_PREFIX, not_http_error, parse_status_line};
use crate::error::{Error, Result};
use crate::headers::fields::{MAX_FIELDS, protocol_error};
use crate::parse_cost::examined;
use crate::status::Status;

/// The maximum number of empty lines that are skipped before a response head. After a body, some servers send a CRLF
/// that is not included in the Content-Length.
pub(super) const MAX_EMPTY_LINES: usize = 16;

/// The maximum number of field lines in a head. The maximum exceeds [`MAX_FIELDS`], because a folded field has several
/// lines.
pub(super) const MAX_LINES: usize = 2 * MAX_FIELDS;

/// The maximum number of interim responses that are skipped before a final response.
pub(super) const MAX_INTERIM: usize = 16;

/// The progress of the search for the end of a head. The default value is the start of the search at offset 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Progress {
    phase: Phase,
    /// The offset of the status line; equals `base` until the status line is reached.
    start: usize,
    /// The number of bytes that have been searched, including the skipped heads.
    position: usize,
    /// The number of lines in the current phase: empty lines before the status line, then field lines.
    lines: usize,
    /// The offset of the head, after the heads of interim responses that were skipped.
    base: usize,
    /// The number of interim responses that were skipped.
    interim: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    EmptyLines = 0,
    StatusLine = 1,
    Fields = 2,
}

/// The end of a response head, once it is found.
pub(super) struct FoundEnd<'a> {
    /// The status line and the offset of the fields; `None` if an earlier call found the status line.
    pub(super) status_line: Option<(StatusLine<'a>, usize)>,
    pub(super) end: usize,
}

/// The widths in bits of the values in a packed state, from the lowest bits: `position`, the number of bytes from
/// `base` to `start`, `lines`, `phase`, `base`, `interim`. The remaining bits of a packed state are 0.
const BITS: [u32; 6] = [19, 6, 11, 2, 19, 5];

impl Progress {
    /// Unpacks a state that the caller passed. Fails if no search of `len` bytes can have stored this state after
    /// skipping at most `most_interim` interim responses.
    pub(super) fn from_state(state: u64, len: usize, most_interim: usize) -> Result<Progress> {
        let mut rest = state;
        let [position, empty, lines, phase, base, interim] = BITS.map(|bits| {
            let value = rest & ((1 << bits) - 1);
            rest >>= bits;
            value as usize
        });
        let phase = match phase {
            0 => Phase::EmptyLines,
            1 => Phase::StatusLine,
            2 => Phase::Fields,
            _ => return Err(unknown_state_error()),
        };
        let most_lines = match phase {
            Phase::EmptyLines => MAX_EMPTY_LINES,
            Phase::StatusLine => 0,
            Phase::Fields => MAX_LINES,
        };
        let start = base + empty;
        let fits = rest == 0
            && position <= len
            && lines <= most_lines
            && empty <= 2 * MAX_EMPTY_LINES
            && start <= position
            && interim <= most_interim
            && (base == 0) == (interim == 0);
        if fits { Ok(Progress { phase, start, position, lines, base, interim }) } else { Err(unknown_state_error()) }
    }

    /// Packs the progress into a number. The number is not 0 once a byte was searched.
    pub(super) fn to_state(self) -> u64 {
        let empty = self.start - self.base;
        let values = [self.position, empty, self.lines, self.phase as usize, self.base, self.interim];
        values.iter().zip(BITS).rev().fold(0, |state, (&value, bits)| state << bits | value as u64)
    }

    pub(super) fn lines(&self) -> usize {
        self.lines
    }

    /// Returns the offset of the head.
    pub(super) fn base(&self) -> usize {
        self.base
    }

    /// Returns the start of the search for the end of the head that begins at [`Progress::base`].
    pub(super) fn at_base(&self) -> Progress {
        Progress {
            start: self.base,
            position: self.base,
            base: self.base,
            interim: self.interim,
            ..Progress::default()
        }
    }

    /// Returns the start of the search for the head that follows an interim response, after the interim response's head
    /// was found. Fails if there are too many interim responses.
    pub(super) fn after_interim(&self) -> Result<Progress> {
        if self.interim == MAX_INTERIM {
            return Err(protocol_error(
                format_args!("the peer sent more than {MAX_INTERIM} interim responses; the last of them begins"),
                self.base,
            ));
        }
        Ok(Progress { base: self.position, interim: self.interim + 1, ..*self }.at_base())
    }

    /// Continues the search for the end of the head. `None` means that the head is incomplete.
    pub(super) fn advance<'a>(&mut self, head: &'a [u8]) -> Result<Option<FoundEnd<'a>>> {
        let status_line = match self.phase {
            Phase::Fields => None,
            _ => match self.status_line(head)? {
                None => return Ok(None),
                line => line,
            },
        };
        while let Some(line_end) = self.line_end(head) {
            // The line that ends at `line_end` is empty: only its own LF or CRLF follows the LF of the previous line.
            if let [.., b'\n', b'\r', b'\n'] | [.., b'\n', b'\n'] = head.get(..=line_end).unwrap_or_default() {
                return Ok(Some(FoundEnd { status_line, end: line_end + 1 }));
            }
            if self.lines == MAX_LINES {
                return Err(protocol_error(format_args!("the head has more than {MAX_LINES} lines"), line_end));
            }
            self.lines += 1;
        }
        Ok(None)
    }

    /// Parses the status line once it is complete, and also returns the offset of the fields. Bytes that cannot begin a
    /// status line are refused before the line is complete, because the end of the line may never arrive.
    fn status_line<'a>(&mut self, head: &'a [u8]) -> Result<Option<(StatusLine<'a>, usize)>> {
        while self.phase == Phase::EmptyLines {
            let rest = head.get(self.position..).unwrap_or_default();
            let length = match rest {
                [] | b"\r" => return Ok(None),
                [b'\n', ..] => 1,
                [b'\r', b'\n', ..] => 2,
                _ => 0,
            };
            if length > 0 && self.lines < MAX_EMPTY_LINES {
                examined(length);
                self.position += length;
                self.lines += 1;
            } else {
                *self = Progress { phase: Phase::StatusLine, start: self.position, lines: 0, ..*self };
            }
        }
        let compared = self.position - self.start;
        let rest = head.get(self.position..).unwrap_or_default();
        let expected = VERSION_PREFIX.get(compared..).unwrap_or_default();
        if rest.iter().zip(expected).any(|(byte, expected)| byte != expected) {
            return Err(not_http_error(head.get(self.start..).unwrap_or_default(), self.start));
        }
        let Some(line_end) = self.line_end(head) else { return Ok(None) };
        let line = head.get(self.start..line_end).unwrap_or_default();
        examined(line.len());
        let line = parse_status_line(line.strip_suffix(b"\r").unwrap_or(line), self.start)?;
        self.phase = Phase::Fields;
        Ok(Some((line, line_end + 1)))
    }

    /// Moves past the next LF and returns the offset of the LF; `None` if the bytes contain no LF.
    fn line_end(&mut self, head: &[u8]) -> Option<usize> {
        let rest = head.get(self.position..).unwrap_or_default();
        let found = memchr::memchr(b'\n', rest);
        let length = found.map_or(rest.len(), |at| at + 1);
        examined(length);
        self.position += length;
        found.map(|_| self.position - 1)
    }
}

/// Makes the error for a `state` that does not belong to the passed bytes.
pub(super) fn unknown_state_error() -> Error {
    let message =
        "state is not the value that the previous call stored for these bytes; it must be 0 in the first call";
    Error::new(Status::InvalidArgument, message)
}

const _: () = assert!(
    MAX_HEAD < 1 << BITS[0]
        && 2 * MAX_EMPTY_LINES < 1 << BITS[1]
        && MAX_LINES < 1 << BITS[2]
        && MAX_HEAD < 1 << BITS[4]
        && MAX_INTERIM < 1 << BITS[5]
);
