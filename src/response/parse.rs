//! A response head from the bytes a peer sent: the status line, and what the bytes are if they are not HTTP.

use std::sync::Arc;

use super::{Response, reason};
use crate::error::{Error, Result};
use crate::headers::parse::{Lines, broken, find_end, parse_fields, trim};
use crate::headers::{Headers, show_byte};

/// The most bytes a head may have, empty lines before it included.
pub const MAX_HEAD: usize = 256 * 1024;

/// The most empty lines that are passed over before a head.
const MAX_EMPTY_LINES: usize = 16;

const BEGINNING: &[u8] = b"HTTP/1.";

struct StatusLine<'a> {
    minor_version: u8,
    status: u16,
    reason: &'a [u8],
}

impl Response {
    /// Reads a head from the start of `head` and tells how many bytes it is long. `None`: it is not complete yet.
    pub fn parse(request_method: &str, head: &[u8]) -> Result<Option<(Response, usize)>> {
        super::check_method(request_method)?;
        let mut lines = Lines::new(head.get(..MAX_HEAD).unwrap_or(head));
        match parse_head(&mut lines)? {
            Some((line, headers, length)) => {
                let response = Response::new(request_method, line.status, Arc::new(headers))?;
                let (reason, minor_version) = (Some(reason::own(line.reason)?), Some(line.minor_version));
                Ok(Some((Response { reason, minor_version, ..response }, length)))
            }
            None if head.len() >= MAX_HEAD => {
                Err(broken(format_args!("the head has more than {MAX_HEAD} bytes; it did not end"), MAX_HEAD))
            }
            None => Ok(None),
        }
    }
}

/// And how long the head is. The fields are read only once their end is there; what is wrong before is told at once.
fn parse_head<'a>(lines: &mut Lines<'a>) -> Result<Option<(StatusLine<'a>, Headers, usize)>> {
    // Some servers end a body with a line end that its length does not count.
    for _ in 0..MAX_EMPTY_LINES {
        if !matches!(lines.rest(), [b'\n', ..] | [b'\r', b'\n', ..]) {
            break;
        }
        lines.next();
    }
    check_beginning(lines.rest(), lines.at())?;
    let Some(line) = lines.next() else { return Ok(None) };
    let status_line = parse_status_line(line.text, line.start)?;
    let (rest, start) = (lines.rest(), lines.at());
    let Some(length) = find_end(rest, start)? else { return Ok(None) };
    let headers = parse_fields(rest.get(..length).unwrap_or(rest), start)?;
    Ok(Some((status_line, headers, start + length)))
}

/// Tells at the first byte that is not HTTP, without waiting for a line that may never end.
fn check_beginning(bytes: &[u8], start: usize) -> Result<()> {
    if bytes == b"\r" || bytes.iter().zip(BEGINNING).all(|(byte, expected)| byte == expected) {
        return Ok(());
    }
    Err(not_http(bytes, start))
}

fn not_http(bytes: &[u8], start: usize) -> Error {
    let what = match bytes {
        [b'H', b'T', b'T', b'P', b'/', ..] => "the peer answered with a version of HTTP that is neither 1.0 nor 1.1",
        [0x15, 0x03, _, _, _, _, alert, ..] => {
            return broken("the peer answered with a TLS alert: it expects TLS here", start).with_tls_alert(*alert);
        }
        [0x15, 0x03, ..] => "the peer answered with a TLS alert: it expects TLS here",
        [0x14..=0x17] | [0x14..=0x17, 0x03, ..] => "the peer answered with TLS, not HTTP",
        [0, _, _, 4, _, 0, 0, 0, 0, ..] => "the peer answered with an HTTP/2 frame",
        [b'S', b'S', b'H', b'-', ..] => "the peer is an SSH server",
        [b'0'..=b'9', b'0'..=b'9', b'0'..=b'9', b' ' | b'-', ..] => "the peer greets as a mail or FTP server does",
        [b'<', ..] => "the peer sent a document without a response head",
        [first, ..] => {
            return broken(
                format_args!("the peer does not speak HTTP: {} begins its answer", show_byte(*first)),
                start,
            );
        }
        [] => "the answer is empty",
    };
    broken(what, start)
}

/// RFC 9112 section 4, with any run of spaces and tabs between the parts and the reason optional.
fn parse_status_line(line: &[u8], start: usize) -> Result<StatusLine<'_>> {
    // What was taken off the front tells where a problem is.
    let at = |rest: &[u8]| start + (line.len() - rest.len());
    let rest = line.strip_prefix(BEGINNING).unwrap_or_default();
    let (minor_version, rest) = match rest {
        [digit @ (b'0' | b'1'), rest @ ..] => (digit - b'0', rest),
        _ => return Err(broken("the peer answered with a version of HTTP that is neither 1.0 nor 1.1", at(rest))),
    };
    let blanks = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let digits = rest.get(blanks..).unwrap_or_default();
    if blanks == 0 && !rest.is_empty() {
        return Err(broken("the status line has no space after the version", at(rest)));
    }
    let (status, rest) = match digits {
        [a @ b'1'..=b'9', b @ b'0'..=b'9', c @ b'0'..=b'9', rest @ ..]
            if matches!(rest.first(), None | Some(b' ' | b'\t')) =>
        {
            (u16::from(a - b'0') * 100 + u16::from(b - b'0') * 10 + u16::from(c - b'0'), rest)
        }
        _ => return Err(broken("the status is not three digits, 100 to 999,", at(digits))),
    };
    if let Some(bad) = rest.iter().position(|byte| matches!(byte, b'\r' | 0)) {
        let byte = show_byte(rest.get(bad).copied().unwrap_or_default());
        return Err(broken(format_args!("{byte} is not allowed in the reason"), at(rest) + bad));
    }
    Ok(StatusLine { minor_version, status, reason: trim(rest) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::headers::parse::visited;
    use crate::status::Status;

    fn parse(head: &[u8]) -> Result<Option<(Response, usize)>> {
        Response::parse("GET", head)
    }

    #[test]
    fn status_lines() {
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
    fn bad_status_lines() {
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
            ("HTTP/1.1 200 O\rK\r\n", "CR is not allowed in the reason", 14),
            ("HTTP/1.1 200 O\0K\r\n", "NUL is not allowed in the reason", 14),
            ("HTTP/1.1 200 OK\r\nbad\r\n\n", "a header line has no colon; the line begins", 17),
        ];
        for (head, what, at) in rows {
            let error = parse(head.as_bytes()).unwrap_err();
            assert_eq!(error.message(), format!("{what} at byte {at}"), "{head:?}");
            assert_eq!((error.status(), error.offset()), (Status::Protocol, Some(*at)));
        }
    }

    #[test]
    fn what_is_not_http_is_recognised_at_once() {
        let tls = "the peer answered with a TLS alert: it expects TLS here";
        let rows: &[(&[u8], &str)] = &[
            (b"\x15\x03\x01\x00\x02\x02\x28", tls),
            (b"\x15\x03", tls),
            (b"\x16\x03\x03", "the peer answered with TLS, not HTTP"),
            (b"\x15", "the peer answered with TLS, not HTTP"),
            (b"\0\0\x12\x04\0\0\0\0\0\0", "the peer answered with an HTTP/2 frame"),
            (b"SSH-2.0-OpenSSH", "the peer is an SSH server"),
            (b"220 mail.example ESMTP", "the peer greets as a mail or FTP server does"),
            (b"<html>", "the peer sent a document without a response head"),
            (b"http/1.1 200", "the peer does not speak HTTP: \"h\" begins its answer"),
            (b"\xff", "the peer does not speak HTTP: byte 0xff begins its answer"),
            (b"\rX", "the peer does not speak HTTP: CR begins its answer"),
        ];
        for (bytes, what) in rows {
            let error = parse(bytes).unwrap_err();
            assert_eq!(error.message(), format!("{what} at byte 0"));
            assert_eq!((error.status(), error.offset()), (Status::Protocol, Some(0)));
        }
        assert_eq!(parse(rows[0].0).unwrap_err().tls_alert(), Some(0x28));
    }

    #[test]
    fn a_head_has_a_largest_size() {
        let start = "HTTP/1.1 200 OK\r\nA: ";
        let filled = |size: usize| format!("{start}{}\r\n\r\n", "v".repeat(size - start.len() - 4));
        assert_eq!(parse(filled(MAX_HEAD).as_bytes()).unwrap().unwrap().1, MAX_HEAD);
        let error = parse(filled(MAX_HEAD + 1).as_bytes()).unwrap_err();
        assert_eq!((error.status(), error.offset()), (Status::Protocol, Some(MAX_HEAD)));
    }

    #[test]
    fn a_head_that_comes_byte_by_byte_is_read_once() {
        let head = format!("HTTP/1.1 200 OK\r\n{}\r\n", "Name: value\r\n fold\r\n".repeat(200));
        let status_line = "HTTP/1.1 200 OK\r\n".len();
        visited::take();
        for end in 0..head.len() {
            assert!(parse(&head.as_bytes()[..end]).unwrap().is_none());
            // The status line alone is looked at again: it is refused without waiting for what follows.
            assert_eq!(visited::take(), if end < status_line { 0 } else { status_line }, "{end}");
        }
        assert!(parse(head.as_bytes()).unwrap().is_some());
        assert_eq!(visited::take(), head.len());
    }

    #[test]
    fn few_empty_lines_are_passed_over() {
        let head = |empty: usize| "\r\n".repeat(empty) + "HTTP/1.1 200 OK\r\n\r\n";
        assert_eq!(parse(head(MAX_EMPTY_LINES).as_bytes()).unwrap().unwrap().1, head(MAX_EMPTY_LINES).len());
        let error = parse(head(MAX_EMPTY_LINES + 1).as_bytes()).unwrap_err();
        assert_eq!((error.status(), error.offset()), (Status::Protocol, Some(2 * MAX_EMPTY_LINES)));
        assert!(parse(&[b'\n'; MAX_EMPTY_LINES]).unwrap().is_none());
        assert_eq!(parse(&[b'\n'; MAX_EMPTY_LINES + 1]).unwrap_err().offset(), Some(MAX_EMPTY_LINES));
    }

    #[test]
    fn the_method_is_checked_first() {
        assert_eq!(Response::parse("G T", b"").unwrap_err().status(), Status::InvalidArgument);
    }
}
