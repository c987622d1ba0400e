//! Parses a response head: the status line and the fields. Recognises other protocols, so that the error message can
//! name them.

use std::sync::Arc;

use super::progress::{MAX_INTERIM, Progress};
use super::{Response, reason};
use crate::error::{Error, Result};
use crate::headers::fields::{parse_fields, protocol_error, trim};
use crate::headers::{check_method, describe_byte};

/// The maximum number of bytes in a response head, including empty lines and interim responses before it.
pub const MAX_HEAD: usize = 256 * 1024;

pub(super) const VERSION_PREFIX: &[u8] = b"HTTP/1.";

pub(super) struct StatusLine<'a> {
    minor_version: u8,
    status: u16,
    reason: &'a [u8],
}

impl Response {
    /// Parses the response head at the start of `input`. Returns the response and the length of its head in bytes;
    /// `None` if the head is incomplete.
    ///
    /// `state` is 0, or the value that the last call stored for the same bytes. `parse` sets `state` to 0 unless it
    /// returns `None`. Once the end of the head is found, the head is parsed from its start. So a state that belongs to
    /// other bytes can delay the result or cause an error, but it cannot change the response that is returned.
    pub fn parse(request_method: &str, input: &[u8], state: &mut u64) -> Result<Option<(Response, usize)>> {
        parse_head(request_method, input, state, 0)
    }

    /// Does what [`Response::parse`] does, but skips interim responses: those with a status of 100 to 199, except 101
    /// (RFC 9110 section 15.2). The returned length includes the skipped heads.
    pub fn parse_final(request_method: &str, input: &[u8], state: &mut u64) -> Result<Option<(Response, usize)>> {
        parse_head(request_method, input, state, MAX_INTERIM)
    }
}

/// Skips interim responses if `most_interim` is not 0, and parses the next head.
fn parse_head(
    request_method: &str,
    input: &[u8],
    state: &mut u64,
    most_interim: usize,
) -> Result<Option<(Response, usize)>> {
    let last = std::mem::take(state);
    check_method("request_method", request_method)?;
    let within = input.get(..MAX_HEAD).unwrap_or(input);
    let mut progress = Progress::from_state(last, within.len(), most_interim)?;
    // The offset from which this call has searched without relying on `last`, which may belong to other bytes.
    let mut searched_from = if last == 0 { Some(0) } else { None };
    loop {
        let Some(end) = progress.advance(within)? else {
            if input.len() >= MAX_HEAD {
                return Err(too_long_error(&progress));
            }
            *state = progress.to_state();
            return Ok(None);
        };
        let (Some(from), Some((line, start))) = (searched_from, end.status_line) else {
            progress = progress.at_base();
            searched_from = Some(progress.base());
            continue;
        };
        let is_interim = most_interim > 0 && matches!(line.status, 100 | 102..=199);
        if !is_interim && from > 0 {
            progress = Progress::default();
            searched_from = Some(0);
            continue;
        }
        let fields = within.get(start..end.end).unwrap_or_default();
        let (headers, length) = parse_fields(fields, start, progress.lines())?;
        if is_interim {
            progress = progress.after_interim()?;
            continue;
        }
        let response = Response::new(request_method, line.status, Arc::new(headers))?;
        let (reason, minor_version) = (Some(reason::shared_reason(line.reason)?), Some(line.minor_version));
        return Ok(Some((Response { reason, minor_version, ..response }, start + length)));
    }
}

fn too_long_error(progress: &Progress) -> Error {
    let what = if progress.base() == 0 { "the head has" } else { "the interim responses and the head have" };
    protocol_error(format_args!("{what} more than {MAX_HEAD} bytes; the head had not ended"), MAX_HEAD)
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
            ("HTTP/1.0 404 Not  Found ", 404, 0, "Not  Found"),
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

    type Parser = fn(&str, &[u8], &mut u64) -> Result<Option<(Response, usize)>>;

    /// Parses growing prefixes of `head`, each `step` bytes longer than the previous one, like an application that
    /// appends received bytes to a buffer.
    fn feed(parser: Parser, head: &[u8], step: usize) -> Result<Option<(Response, usize)>> {
        let mut state = 0;
        for end in (step..head.len()).step_by(step) {
            let answer = parser("GET", &head[..end], &mut state);
            if !matches!(answer, Ok(None)) {
                assert_eq!(state, 0);
                return answer;
            }
        }
        let answer = parser("GET", head, &mut state);
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
                let cost = measure(|| answer = feed(Response::parse, head.as_bytes(), step));
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

    fn interim(count: usize, fields: &str) -> String {
        format!("HTTP/1.1 103 Early Hints\r\n{fields}\r\n").repeat(count)
    }

    #[test]
    fn a_final_head_is_found_after_up_to_16_interim_heads() {
        let rows: &[(String, u16)] = &[
            ("HTTP/1.1 200 OK\r\n\r\n".to_owned(), 200),
            ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 x\r\nA: b\r\n\r\n".to_owned(), 201),
            ("HTTP/1.0 199 x\n\n\r\n\nHTTP/1.1 404\n\n".to_owned(), 404),
            (interim(1, "") + "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", 101),
            (interim(MAX_INTERIM, "Link: </a>\r\n") + "HTTP/1.1 999 x\r\n\r\n", 999),
        ];
        for (heads, status) in rows {
            let input = format!("{heads}HTTP/1.1 100 this is a body\r\n\r\n");
            for step in [1, 2, 7, input.len()] {
                let (response, len) = feed(Response::parse_final, input.as_bytes(), step).unwrap().unwrap();
                assert_eq!((response.status(), len), (*status, heads.len()), "{heads:?} by {step}");
            }
            for cut in 0..heads.len() {
                assert!(Response::parse_final("GET", &heads.as_bytes()[..cut], &mut 0).unwrap().is_none());
            }
        }
    }

    #[test]
    fn defects_in_interim_heads_are_refused_with_their_offset_in_the_input() {
        let first = "HTTP/1.1 100 Continue\r\n\r\n";
        let most = interim(MAX_INTERIM, "");
        let rows: &[(String, &str, usize)] = &[
            (
                format!("{first}HTTP/2 200\r\n"),
                "the peer answered with a version of HTTP that is neither 1.0 nor 1.1",
                first.len(),
            ),
            (
                format!("{first}\r\nxHTTP"),
                "the peer does not speak HTTP: its answer begins with \"x\"",
                first.len() + 2,
            ),
            (format!("{first}HTTP/1.1 2000\r\n"), "the status is not three digits, 100 to 999,", first.len() + 9),
            (interim(1, "A : b\r\n"), "header A: whitespace before the colon", 27),
            (
                format!("{first}{}", interim(1, "bad\r\n")),
                "a header line has no colon; the line begins",
                first.len() + 26,
            ),
            (
                format!("{first}HTTP/1.1 200 OK\r\nA: \0\r\n\r\n"),
                "header A: NUL is not allowed in the value",
                first.len() + 20,
            ),
            (
                format!("{most}{}", interim(1, "")),
                "the peer sent more than 16 interim responses; the last of them begins",
                most.len(),
            ),
            (
                format!("{first}HTTP/1.1 200 {}", "r".repeat(MAX_HEAD)),
                "the interim responses and the head have more than 262144 bytes; the head had not ended",
                MAX_HEAD,
            ),
            (
                format!("HTTP/1.1 200 {}", "r".repeat(MAX_HEAD)),
                "the head has more than 262144 bytes; the head had not ended",
                MAX_HEAD,
            ),
        ];
        for (input, what, at) in rows {
            for step in [1, 3, input.len()] {
                let error = feed(Response::parse_final, input.as_bytes(), step).unwrap_err();
                assert_eq!(error.message(), format!("{what} at byte {at}"));
                assert_eq!((error.status(), error.offset()), (Status::Protocol, Some(*at)));
            }
        }
    }

    #[test]
    fn interim_heads_received_in_pieces_are_examined_at_most_seven_times() {
        let large = interim(MAX_INTERIM, &format!("A: {}\r\n", "v".repeat(16_000)));
        let lines = interim(MAX_INTERIM, &"a:\n".repeat(1000));
        for heads in [large, lines, interim(MAX_INTERIM, "")] {
            let input = heads + "HTTP/1.1 200 OK\r\n\r\n";
            assert!(input.len() < MAX_HEAD);
            for step in [1, 7, 1460, input.len()] {
                let mut answer = Ok(None);
                let cost = measure(|| answer = feed(Response::parse_final, input.as_bytes(), step));
                assert_eq!(answer.unwrap().unwrap().1, input.len());
                assert!((input.len()..=7 * input.len()).contains(&cost), "{step}: {cost} of {}", input.len());
            }
        }
    }

    /// Passes many numbers as `state`. A wrong state can cause an error or delay the response, but never changes a
    /// response that is returned.
    #[test]
    fn a_wrong_parser_state_never_changes_the_response() {
        let heads: [&[u8]; 5] = [
            b"HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\nbody\r\n\r\nmore",
            b"\r\n\nHTTP/1.1 302 x\nB: c\n\nHTTP/1.1 200 OK\r\nC: d\r\n\r\n",
            b"HTTP/1.1 2000\r\n\r\n",
            b"SSH-2.0-x\r\n\r\n",
            b"HTTP/1.1 100\n\nHTTP/1.1 201\n\nHTTP/1.1 202\n\nHTTP/1.1 100\n\n",
        ];
        let show = |(response, length): (Response, usize)| {
            (response.status(), response.headers().wire().unwrap().to_owned(), length)
        };
        let parsers: [Parser; 2] = [Response::parse, Response::parse_final];
        for (head, parser) in heads.iter().flat_map(|head| parsers.map(|parser| (*head, parser))) {
            let expected =
                parser("GET", head, &mut 0).map(|found| found.map(show)).map_err(|error| error.to_string());
            let positions = 0..=head.len() as u64 + 1;
            let states = positions
                .flat_map(|position| [0, 1, 3, 32, 33].map(|empty| position | empty << 19))
                .flat_map(|state| [0, 1, 17, 2001].map(|lines| state | lines << 25))
                .flat_map(|state| [0, 1, 2, 3].map(|phase| state | phase << 36))
                .flat_map(|state| [0, 14, 28].map(|base| state | base << 38))
                .flat_map(|state| [0, 1, 16].map(|interim| state | interim << 57))
                .chain((0..64).map(|bit| 1 << bit))
                .chain([u64::MAX, u64::MAX >> 1]);
            for last in states {
                let mut state = last;
                match parser("GET", head, &mut state) {
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
        // States that belong to other bytes: an offset beyond the searched bytes, and more skipped interim responses
        // than the parser skips.
        for (parser, last) in [(parsers[0], 1 << 19), (parsers[0], 1 | 1 << 38 | 1 << 57), (parsers[1], 17 << 57)] {
            let mut state = last;
            let error = parser("GET", b"HTTP/1.1 200 OK\r\n", &mut state).unwrap_err();
            assert_eq!(error.status(), Status::InvalidArgument);
            assert_eq!(
                error.message(),
                "state is not the value that the previous call stored for these bytes; it must be 0 in the first call"
            );
        }
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
