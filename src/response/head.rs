//! Parses a response head: the status line and the fields. Recognises other protocols, so that the error message can
//! name them.

use std::sync::Arc;

use super::progress::{self, Progress};
use super::{Response, reason};
use crate::error::{Error, Result};
use crate::headers::describe_byte;
use crate::headers::fields::{parse_fields, protocol_error, trim};

/// The maximum number of bytes in a response head, including empty lines before it.
pub const MAX_HEAD: usize = 256 * 1024;

pub(super) const VERSION_PREFIX: &[u8] = b"HTTP/1.";

pub(super) struct StatusLine<'a> {
    minor_version: u8,
    status: u16,
    reason: &'a [u8],
}

impl Response {
    /// Parses the response head at the start of `head`. Returns the response and the length of its head in bytes;
    /// `None` if the head is incomplete.
    ///
    /// `state` is 0, or the value that the last call stored for the same bytes. `parse` sets `state` to 0 unless it
    /// returns `None`. Once the end of the head is found, the head is parsed from its start. So a state that belongs to
    /// other bytes can delay the result, but cannot change it.
    pub fn parse(request_method: &str, head: &[u8], state: &mut u64) -> Result<Option<(Response, usize)>> {
        let last = std::mem::take(state);
        super::check_method(request_method)?;
        let within = head.get(..MAX_HEAD).unwrap_or(head);
        let mut progress = Progress::from_state(last, within.len())?;
        let Some(mut found) = progress.advance(within)? else {
            if head.len() >= MAX_HEAD {
                return Err(protocol_error(
                    format_args!("the head has more than {MAX_HEAD} bytes; it had not ended"),
                    MAX_HEAD,
                ));
            }
            *state = progress.to_state();
            return Ok(None);
        };
        let whole = within.get(..found.end).unwrap_or(within);
        if last != 0 {
            progress = Progress::default();
            found = progress.advance(whole)?.ok_or_else(progress::unknown_state_error)?;
        }
        let (line, start) = found.status_line.ok_or_else(progress::unknown_state_error)?;
        let (headers, length) = parse_fields(whole.get(start..).unwrap_or_default(), start, progress.lines())?;
        let response = Response::new(request_method, line.status, Arc::new(headers))?;
        let (reason, minor_version) = (Some(reason::shared_reason(line.reason)?), Some(line.minor_version));
        Ok(Some((Response { reason, minor_version, ..response }, start + length)))
    }
}

pub(super) fn not_http_error(bytes: &[u8], start: usize) -> Error {
    let what = match bytes {
        [b'H', b'T', b'T', b'P', b'/', ..] => "the peer answered with a version of HTTP that is neither 1.0 nor 1.1",
        [0x15, 0x03, _, _, _, _, alert, ..] => {
            return protocol_error("the peer answered with a TLS alert: it expects TLS here", start)
                .with_tls_alert(*alert);
        }
        [0x15, 0x03, ..] => "the peer answered with a TLS alert: it expects TLS here",
        [0x14..=0x17] | [0x14..=0x17, 0x03, ..] => "the peer answered with TLS, not HTTP",
        [0, _, _, 4, _, 0, 0, 0, 0, ..] => "the peer answered with an HTTP/2 frame",
        [b'S', b'S', b'H', b'-', ..] => "the peer is an SSH server",
        [b'0'..=b'9', b'0'..=b'9', b'0'..=b'9', b' ' | b'-', ..] => {
            "the peer sent the greeting of a mail or FTP server"
        }
        [b'<', ..] => "the peer sent a document without a response head",
        [first, ..] => {
            return protocol_error(
                format_args!("the peer does not speak HTTP: its answer begins with {}", describe_byte(*first)),
                start,
            );
        }
        [] => "the answer is empty",
    };
    protocol_error(what, start)
}

/// Parses a status line (RFC 9112 section 4). More lenient than the RFC: any number of spaces and tabs may separate
/// version, status and reason, and the reason may be missing.
pub(super) fn parse_status_line(line: &[u8], start: usize) -> Result<StatusLine<'_>> {
    // Returns the offset of `rest` in the input.
    let at = |rest: &[u8]| start + (line.len() - rest.len());
    let rest = line.strip_prefix(VERSION_PREFIX).unwrap_or_default();
    let (minor_version, rest) = match rest {
        [digit @ (b'0' | b'1'), rest @ ..] => (digit - b'0', rest),
        _ => {
            return Err(protocol_error(
                "the peer answered with a version of HTTP that is neither 1.0 nor 1.1",
                at(rest),
            ));
        }
    };
    let blanks = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let digits = rest.get(blanks..).unwrap_or_default();
    if blanks == 0 && !rest.is_empty() {
        return Err(protocol_error("the status line has no space after the version", at(rest)));
    }
    let (status, rest) = match digits {
        [a @ b'1'..=b'9', b @ b'0'..=b'9', c @ b'0'..=b'9', rest @ ..]
            if matches!(rest.first(), None | Some(b' ' | b'\t')) =>
        {
            (u16::from(a - b'0') * 100 + u16::from(b - b'0') * 10 + u16::from(c - b'0'), rest)
        }
        _ => return Err(protocol_error("the status is not three digits, 100 to 999,", at(digits))),
    };
    if let Some(bad) = rest.iter().position(|byte| matches!(byte, b'\r' | 0)) {
        let byte = describe_byte(rest.get(bad).copied().unwrap_or_default());
        return Err(protocol_error(format_args!("{byte} is not allowed in the reason phrase"), at(rest) + bad));
    }
    Ok(StatusLine { minor_version, status, reason: trim(rest) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse_cost::tests::measure;
    use crate::response::progress::{MAX_EMPTY_LINES, MAX_LINES};
    use crate::status::Status;

    fn parse(head: &[u8]) -> Result<Option<(Response, usize)>> {
        Response::parse("GET", head, &mut 0)
    }

    #[test]
    fn valid_and_leniently_accepted_status_lines_are_parsed() {
        let rows: &[(&str, u16, u8, &str)] = &[
            ("HTTP/1.1 200 OK", 200, 1, "OK"),
            ("HTTP/1.0 404 Not  FoundEnd ", 404, 0, "Not  FoundEnd"),
            ("HTTP/1.1 204", 204, 1, ""),
            ("HTTP/1.1 204 ", 204, 1, ""),
            ("HTTP/1.1  \t100\tgo on", 100, 1, "go on"),
            ("HTTP/1.1 999 \u{e9}\u{7}", 999, 1, "\u{e9}\u{7}"),
            ("\r\n\n\r\nHTTP/1.1 200 OK", 200, 1, "OK"),
        ];
        for (line, status, minor_version, reason) in rows {
            for end in ["\r\n", "\n"] {
                let head = format!("{line}{end}A: b{end}{end}body");
                let (response, len) = parse(head.as_bytes()).unwrap().unwrap();
                assert_eq!(response.status(), *status, "{line:?}");
                assert_eq!(response.minor_version(), Some(*minor_version));
                assert_eq!(response.reason().unwrap().to_str(), Ok(*reason));
                assert_eq!(response.headers().wire().unwrap(), c"A: b\r\n");
                assert_eq!(len, head.len() - "body".len());
                for cut in 0..len {
                    assert!(parse(&head.as_bytes()[..cut]).unwrap().is_none(), "{:?}", &head[..cut]);
                }
            }
        }
    }

    #[test]
    fn errors_for_invalid_status_lines_state_the_byte_offset() {
        let version = "the peer answered with a version of HTTP that is neither 1.0 nor 1.1";
        let status = "the status is not three digits, 100 to 999,";
        let rows: &[(&str, &str, usize)] = &[
            ("HTTP/2.0 200 OK\r\n", version, 0),
            ("HTTP/2", version, 0),
            ("HTTP/1.2 200 OK\r\n", version, 7),
            ("HTTP/1.\r\n", version, 7),
            ("HTTP/1.10 200 OK\r\n", "the status line has no space after the version", 8),
            ("HTTP/1.1\r\n", status, 8),
            ("HTTP/1.1 \r\n", status, 9),
            ("HTTP/1.1 20 OK\r\n", status, 9),
            ("HTTP/1.1 \r200 OK\r\n", status, 9),
            ("HTTP/1.1 099 OK\r\n", status, 9),
            ("HTTP/1.1 2000\r\n", status, 9),
            ("\r\nHTTP/1.1 +20 OK\r\n", status, 11),
            ("HTTP/1.1 200 O\rK\r\n", "CR is not allowed in the reason phrase", 14),
            ("HTTP/1.1 200 O\0K\r\n", "NUL is not allowed in the reason phrase", 14),
            ("HTTP/1.1 200 OK\r\nbad\r\n\n", "a header line has no colon; the line begins", 17),
        ];
        for (head, what, at) in rows {
            let error = parse(head.as_bytes()).unwrap_err();
            assert_eq!(error.message(), format!("{what} at byte {at}"), "{head:?}");
            assert_eq!((error.status(), error.offset()), (Status::Protocol, Some(*at)));
        }
    }

    #[test]
    fn errors_name_tls_ssh_mail_and_other_protocols_sent_instead_of_http() {
        let tls = "the peer answered with a TLS alert: it expects TLS here";
        let rows: &[(&[u8], &str)] = &[
            (b"\x15\x03\x01\x00\x02\x02\x28", tls),
            (b"\x15\x03", tls),
            (b"\x16\x03\x03", "the peer answered with TLS, not HTTP"),
            (b"\x15", "the peer answered with TLS, not HTTP"),
            (b"\0\0\x12\x04\0\0\0\0\0\0", "the peer answered with an HTTP/2 frame"),
            (b"SSH-2.0-OpenSSH", "the peer is an SSH server"),
            (b"220 mail.example ESMTP", "the peer sent the greeting of a mail or FTP server"),
            (b"<html>", "the peer sent a document without a response head"),
            (b"http/1.1 200", "the peer does not speak HTTP: its answer begins with \"h\""),
            (b"\xff", "the peer does not speak HTTP: its answer begins with byte 0xff"),
            (b"\rX", "the peer does not speak HTTP: its answer begins with CR"),
        ];
        for (bytes, what) in rows {
            let error = parse(bytes).unwrap_err();
            assert_eq!(error.message(), format!("{what} at byte 0"));
            assert_eq!((error.status(), error.offset()), (Status::Protocol, Some(0)));
        }
        assert_eq!(parse(rows[0].0).unwrap_err().tls_alert(), Some(0x28));
    }

    #[test]
    fn a_response_head_of_more_than_256_kib_is_refused() {
        let start = "HTTP/1.1 200 OK\r\nA: ";
        let filled = |size: usize| format!("{start}{}\r\n\r\n", "v".repeat(size - start.len() - 4));
        assert_eq!(parse(filled(MAX_HEAD).as_bytes()).unwrap().unwrap().1, MAX_HEAD);
        let error = parse(filled(MAX_HEAD + 1).as_bytes()).unwrap_err();
        assert_eq!((error.status(), error.offset()), (Status::Protocol, Some(MAX_HEAD)));
    }

    /// Parses growing prefixes of `head`, each `step` bytes longer than the previous one, as an application does that
    /// appends received bytes to a buffer.
    fn feed(head: &[u8], step: usize) -> Result<Option<(Response, usize)>> {
        let mut state = 0;
        for end in (step..head.len()).step_by(step) {
            let answer = Response::parse("GET", &head[..end], &mut state);
            if !matches!(answer, Ok(None)) {
                assert_eq!(state, 0);
                return answer;
            }
        }
        let answer = Response::parse("GET", head, &mut state);
        assert_eq!(state == 0, !matches!(answer, Ok(None)) || head.is_empty());
        answer
    }

    #[test]
    fn a_head_received_in_pieces_is_examined_at_most_four_times() {
        let status = "HTTP/1.1 200 OK\r\n";
        let line = |fill: &str, times: usize| format!("{status}A: {}\r\n\r\n", fill.repeat(times));
        let fields = |field: &str, times: usize| format!("{status}{}\r\n", field.repeat(times));
        let largest = MAX_HEAD - line("", 0).len();
        let rows = [
            format!("{status}\r\n"),
            "HTTP/1.0 200\n\n".to_owned(),
            "\r\n".repeat(MAX_EMPTY_LINES) + &line("v", 1000),
            "\n".repeat(MAX_EMPTY_LINES) + "HTTP/1.1 200\n\n",
            line("v", largest),
            line("\r", 20_000),
            line(" ", 20_000),
            format!("HTTP/1.1 200 {}\r\n\r\n", "r".repeat(100_000)),
            format!("HTTP/1.1{}", " ".repeat(MAX_HEAD)),
            fields("Name: value\r\n fold\r\n", 500),
            fields("a:\n", 1000),
            fields("a:\n\t\n", 1000),
            fields("a:\n", 2000),
            fields(" \n", MAX_LINES + 1),
            fields("a: b\r\n", 999) + &"A: ".repeat(10),
        ];
        for head in rows {
            let whole =
                parse(head.as_bytes()).map(|found| found.map(|(_, length)| length)).map_err(|e| e.to_string());
            for step in [1, 2, 3, 7, 1460, head.len()] {
                let mut answer = Ok(None);
                let cost = measure(|| answer = feed(head.as_bytes(), step));
                let answer = answer.map(|found| found.map(|(_, length)| length)).map_err(|e| e.to_string());
                assert_eq!(answer, whole, "{:?}… by {step}", &head[..20.min(head.len())]);
                let seen = head.len().min(MAX_HEAD);
                let least = if matches!(whole, Ok(Some(_))) { seen } else { 0 };
                assert!(
                    (least..=4 * seen).contains(&cost),
                    "{:?}… by {step}: {cost} of {seen}",
                    &head[..20.min(head.len())]
                );
            }
        }
    }

    /// Passes many numbers as `state`. A wrong state is refused or delays the result, but never changes the result.
    #[test]
    fn a_parser_state_that_belongs_to_other_bytes_never_changes_the_response() {
        let heads: [&[u8]; 4] = [
            b"HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\nbody\r\n\r\nmore",
            b"\r\n\nHTTP/1.1 302 x\nB: c\n\nHTTP/1.1 200 OK\r\nC: d\r\n\r\n",
            b"HTTP/1.1 2000\r\n\r\n",
            b"SSH-2.0-x\r\n\r\n",
        ];
        let show = |(response, length): (Response, usize)| {
            (response.status(), response.headers().wire().unwrap().to_owned(), length)
        };
        for head in heads {
            let expected = parse(head).map(|found| found.map(show)).map_err(|error| error.to_string());
            let positions = 0..=head.len() as u64 + 1;
            let states = positions
                .flat_map(|position| [0, 1, 2, 3, 5, 32, 33, 255].map(|start| position | start << 20))
                .flat_map(|state| [0, 1, 16, 17, 2000, 2001, 4095].map(|lines| state | lines << 28))
                .flat_map(|state| [0, 1, 2, 3].map(|phase| state | phase << 40))
                .chain((0..64).map(|bit| 1 << bit))
                .chain([u64::MAX, u64::MAX >> 1]);
            for last in states {
                let mut state = last;
                match Response::parse("GET", head, &mut state) {
                    Ok(Some(found)) => assert_eq!(Ok(Some(show(found))), expected, "{last:x}"),
                    Ok(None) => {
                        assert_ne!(state, 0);
                        continue;
                    }
                    Err(error) => assert!(
                        matches!(error.status(), Status::InvalidArgument | Status::Protocol),
                        "{last:x}: {error}"
                    ),
                }
                assert_eq!(state, 0, "{last:x}");
            }
        }
        let mut state = 1 << 20;
        let error = Response::parse("GET", b"HTTP/1.1 200 OK\r\n", &mut state).unwrap_err();
        assert_eq!(error.status(), Status::InvalidArgument);
        assert_eq!(
            error.message(),
            "state is not the value that the previous call stored for these bytes; it must be 0 in the first call"
        );
    }

    #[test]
    fn a_response_head_with_more_than_2000_lines_is_refused() {
        let fields = format!("a: b\r\n{}", " c\r\n".repeat(MAX_LINES - 1));
        let most = format!("HTTP/1.1 200 OK\r\n{fields}");
        assert!(parse(format!("{most}\r\n").as_bytes()).unwrap().is_some());
        assert!(parse(most.as_bytes()).unwrap().is_none());
        for rest in ["", "\r\n"] {
            let error = parse(format!("{most} c\r\n{rest}").as_bytes()).unwrap_err();
            assert_eq!(error.message(), format!("the head has more than 2000 lines at byte {}", most.len() + 3));
            assert_eq!((error.status(), error.offset()), (Status::Protocol, Some(most.len() + 3)));
        }
    }

    #[test]
    fn up_to_16_empty_lines_before_a_response_head_are_skipped() {
        let head = |empty: usize| "\r\n".repeat(empty) + "HTTP/1.1 200 OK\r\n\r\n";
        assert_eq!(parse(head(MAX_EMPTY_LINES).as_bytes()).unwrap().unwrap().1, head(MAX_EMPTY_LINES).len());
        let error = parse(head(MAX_EMPTY_LINES + 1).as_bytes()).unwrap_err();
        assert_eq!((error.status(), error.offset()), (Status::Protocol, Some(2 * MAX_EMPTY_LINES)));
        assert!(parse(&[b'\n'; MAX_EMPTY_LINES]).unwrap().is_none());
        assert_eq!(parse(&[b'\n'; MAX_EMPTY_LINES + 1]).unwrap_err().offset(), Some(MAX_EMPTY_LINES));
    }

    #[test]
    fn parsing_a_response_with_an_invalid_request_method_is_refused() {
        assert_eq!(Response::parse("G T", b"", &mut 0).unwrap_err().status(), Status::InvalidArgument);
    }
}
