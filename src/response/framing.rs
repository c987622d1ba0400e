//! Determines how a response's body is delimited (RFC 9112 section 6.3).

use super::Response;
use crate::error::{Error, Result};
use crate::headers::fields::trim;
use crate::headers::{Headers, describe_byte, is_token_byte, truncated_name};
use crate::status::Status;

/// How a response's body is delimited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// The response has no body.
    None,
    /// The body has this many bytes.
    Length(i64),
    /// The body consists of chunks and ends after the last chunk and the trailer.
    Chunked,
    /// The body lasts until the peer closes the connection.
    UntilClose,
}

impl Response {
    /// Returns how the body is delimited. Fails if the Transfer-Encoding is invalid. Without a Transfer-Encoding, fails
    /// if the Content-Length is invalid or states two lengths. The connection must not be used after these errors.
    /// Methods are case-sensitive (RFC 9110 section 9.1), so the response to "head" may have a body.
    pub fn framing(&self) -> Result<Framing> {
        let method = self.request_method.to_bytes();
        if method == b"HEAD" || self.opens_tunnel() || matches!(self.status, 100..=199 | 204 | 304) {
            return Ok(Framing::None);
        }
        self.announced_framing()
    }

    /// Returns whether the response turns the connection into a tunnel (RFC 9110 section 9.3.6).
    pub(crate) fn opens_tunnel(&self) -> bool {
        self.request_method.to_bytes() == b"CONNECT" && self.status / 100 == 2
    }

    /// Returns the framing that the header fields announce, even if the response has no body because of its status or
    /// the request method.
    pub(super) fn announced_framing(&self) -> Result<Framing> {
        // Transfer-Encoding takes precedence over Content-Length.
        if self.headers.get("transfer-encoding").is_some() {
            return transfer_framing(&self.headers);
        }
        let mut length = None;
        for value in self.headers.get_all("content-length") {
            for element in value.to_bytes().split(|&byte| byte == b',') {
                let number = content_length(trim(element))?;
                if length.is_some_and(|length| length != number) {
                    return Err(Error::new(Status::Protocol, "header content-length: two different lengths"));
                }
                length = Some(number);
            }
        }
        Ok(length.map_or(Framing::UntilClose, Framing::Length))
    }
}

/// Returns `Chunked` if chunked is the last transfer coding; otherwise `UntilClose`. An invalid Transfer-Encoding
/// is an error, because another parser may find "chunked" in it. An empty element is also an error, although RFC
/// 9110 section 5.6.1 allows recipients to ignore it: if a comma ends the value, as in `chunked,`, some parsers
/// expect chunks, and others read until the peer closes.
pub(crate) fn transfer_framing(headers: &Headers) -> Result<Framing> {
    let mut framing = Framing::UntilClose;
    for value in headers.get_all("transfer-encoding") {
        let mut rest = value.to_bytes();
        loop {
            let coding;
            (coding, rest) = transfer_coding(trim(rest))?;
            if framing == Framing::Chunked {
                return Err(coding_error("chunked is not the last coding"));
            }
            framing = coding;
            match rest.split_first() {
                Some((_comma, next)) => rest = next,
                None => break,
            }
        }
    }
    Ok(framing)
}

fn coding_error(problem: impl std::fmt::Display) -> Error {
    Error::new(Status::Protocol, format!("header transfer-encoding: {problem}"))
}

/// Parses the coding at the start of `list`. Returns the framing that applies if no coding follows, and the text after
/// the coding, which is empty or begins with a comma. The grammar is that of RFC 9112 section 7: a token, then
/// parameters. Each parameter follows a semicolon and consists of a token, "=", and a token or quoted string.
fn transfer_coding(list: &[u8]) -> Result<(Framing, &[u8])> {
    let (name, mut rest) = token(list);
    if name.is_empty() {
        return Err(match list {
            [] | [b',', ..] => coding_error("a coding has no name"),
            [first, ..] => coding_error(format_args!("a coding begins with {}", describe_byte(*first))),
        });
    }
    let shown = truncated_name(name);
    let mut has_parameter = false;
    loop {
        rest = trim(rest);
        match rest {
            [] | [b',', ..] => break,
            [b';', after @ ..] => {
                has_parameter = true;
                rest = parameter(trim(after))
                    .map_err(|problem| coding_error(format_args!("coding {shown}: {problem}")))?;
            }
            [byte, ..] => {
                return Err(coding_error(format_args!("coding {shown}: {} follows it", describe_byte(*byte))));
            }
        }
    }
    match (name.eq_ignore_ascii_case(b"chunked"), has_parameter) {
        (true, true) => Err(coding_error("chunked has a parameter")),
        (true, false) => Ok((Framing::Chunked, rest)),
        (false, _) => Ok((Framing::UntilClose, rest)),
    }
}

/// Returns the text after the parameter at the start of `text`.
fn parameter(text: &[u8]) -> std::result::Result<&[u8], &'static str> {
    let (name, rest) = token(text);
    let Some((b'=', value)) = trim(rest).split_first().filter(|_| !name.is_empty()) else {
        return Err("a parameter is not of the form name=value");
    };
    let value = trim(value);
    if let Some(quoted) = value.strip_prefix(b"\"") {
        return after_quoted(quoted).ok_or("a quoted string does not end");
    }
    match token(value) {
        ([], _) => Err("a parameter has no value"),
        (_, rest) => Ok(rest),
    }
}

/// Returns the text after the closing quote of a quoted string, whose opening quote was removed.
fn after_quoted(mut text: &[u8]) -> Option<&[u8]> {
    loop {
        text = match text {
            [b'"', rest @ ..] => return Some(rest),
            [b'\\', _, rest @ ..] | [_, rest @ ..] => rest,
            [] => return None,
        };
    }
}

/// Splits the text into the token at its start, which may be empty, and the rest.
fn token(text: &[u8]) -> (&[u8], &[u8]) {
    text.split_at(text.iter().take_while(|&&byte| is_token_byte(byte)).count())
}

/// Parses the value of a Content-Length, or one element of it.
pub(crate) fn content_length(digits: &[u8]) -> Result<i64> {
    let bad = |what| {
        let shown = truncated_name(digits);
        Err(Error::new(Status::Protocol, format!("header content-length: \"{shown}\" {what}")))
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return bad("is not a number");
    }
    let number = digits.iter().try_fold(0i64, |number, digit| {
        number.checked_mul(10).and_then(|number| number.checked_add(i64::from(digit - b'0')))
    });
    number.map_or_else(|| bad("is too large"), Ok)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn framing(method: &str, status: u16, fields: &str) -> Result<Framing> {
        let head = format!("HTTP/1.1 {status} x\r\n{fields}\r\n");
        Response::parse(method, head.as_bytes(), &mut 0).unwrap().unwrap().0.framing()
    }

    const LENGTH: &str = "Content-Length: 5\r\n";
    const CHUNKED: &str = "Transfer-Encoding: chunked\r\n";

    #[test]
    fn head_responses_and_1xx_204_304_and_2xx_to_connect_have_no_body() {
        let rows = [("HEAD", 200), ("HEAD", 404), ("GET", 100), ("GET", 199), ("GET", 204), ("GET", 304)];
        for (method, status) in rows.into_iter().chain([("CONNECT", 200), ("CONNECT", 299)]) {
            for fields in ["", LENGTH, CHUNKED, "Content-Length: nonsense\r\n"] {
                assert_eq!(framing(method, status, fields).unwrap(), Framing::None, "{method} {status} {fields}");
            }
        }
        // Methods are case-sensitive, so "connect" and "head" are not CONNECT and HEAD.
        for (method, status) in [("CONNECT", 407), ("connect", 200), ("Connect", 200), ("head", 200), ("Head", 200)] {
            assert_eq!(framing(method, status, LENGTH).unwrap(), Framing::Length(5), "{method} {status}");
        }
    }

    #[test]
    fn content_length_and_transfer_encoding_determine_the_framing() {
        let rows = [
            ("", Framing::UntilClose),
            (LENGTH, Framing::Length(5)),
            ("Content-Length: 0\r\n", Framing::Length(0)),
            ("Content-Length: 0005\r\n", Framing::Length(5)),
            ("Content-Length: 5\r\ncontent-length: 5\r\n", Framing::Length(5)),
            ("Content-Length: 5 ,\t5\r\n", Framing::Length(5)),
            ("Content-Length: 9223372036854775807\r\n", Framing::Length(i64::MAX)),
            ("Content-Length: 0000000000000000000000000000000000000007\r\n", Framing::Length(7)),
            (CHUNKED, Framing::Chunked),
            ("transfer-encoding: CHUNKED\r\n", Framing::Chunked),
            ("Transfer-Encoding: gzip, chunked\r\n", Framing::Chunked),
            ("Transfer-Encoding: gzip\r\nTransfer-Encoding: \tchunked \r\n", Framing::Chunked),
            ("Transfer-Encoding: gzip\t, \t chunked\r\n", Framing::Chunked),
            ("Transfer-Encoding: a;b=\"chunked, \\\" ,\", chunked\r\n", Framing::Chunked),
            ("Transfer-Encoding: a;b=\", chunked\"\r\n", Framing::UntilClose),
            ("Transfer-Encoding: a;b=c ; d\t=\t\"\" , chunked\r\n", Framing::Chunked),
            ("Transfer-Encoding: a;b=\"\\\\\", chunked\r\n", Framing::Chunked),
            ("Transfer-Encoding: gzip\r\n", Framing::UntilClose),
            ("Transfer-Encoding: xchunked\r\n", Framing::UntilClose),
            ("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", Framing::Chunked),
            ("Content-Length: nonsense\r\nTransfer-Encoding: chunked\r\n", Framing::Chunked),
        ];
        for (fields, expected) in rows {
            assert_eq!(framing("GET", 200, fields).unwrap(), expected, "{fields:?}");
        }
    }

    #[test]
    fn invalid_or_ambiguous_content_length_and_transfer_encoding_are_refused() {
        let rows = [
            ("Content-Length: 5\r\nContent-Length: 6\r\n", "two different lengths"),
            ("Content-Length: 5, 6\r\n", "two different lengths"),
            ("Content-Length: 9223372036854775808\r\n", "\"9223372036854775808\" is too large"),
            (
                "Content-Length: 99999999999999999999999999999999\r\n",
                "\"99999999999999999999999999999999\" is too large",
            ),
            ("Content-Length: \r\n", "\"\" is not a number"),
            ("Content-Length: 5,\r\n", "\"\" is not a number"),
            ("Content-Length: +5\r\n", "\"+5\" is not a number"),
            ("Content-Length: -5\r\n", "\"-5\" is not a number"),
            ("Content-Length: 5 5\r\n", "\"5 5\" is not a number"),
            ("Content-Length: 0x5\r\n", "\"0x5\" is not a number"),
            ("Transfer-Encoding: chunked, gzip\r\n", "chunked is not the last coding"),
            ("Transfer-Encoding: chunked, chunked\r\n", "chunked is not the last coding"),
            ("Transfer-Encoding: chunked\r\nTransfer-Encoding: gzip\r\n", "chunked is not the last coding"),
            ("Transfer-Encoding: chunked;a=b\r\n", "chunked has a parameter"),
            ("Transfer-Encoding: \r\nContent-Length: 5\r\n", "a coding has no name"),
            ("Transfer-Encoding: chunked\r\nTransfer-Encoding: \r\n", "a coding has no name"),
            ("Transfer-Encoding: , chunked\r\n", "a coding has no name"),
            ("Transfer-Encoding: chunked,\r\n", "a coding has no name"),
            ("Transfer-Encoding: gzip, , chunked\r\n", "a coding has no name"),
            ("Transfer-Encoding: gzip\", chunked\r\n", "coding gzip: \"\"\" follows it"),
            ("Transfer-Encoding: \"gzip, chunked\r\n", "a coding begins with \"\"\""),
            ("Transfer-Encoding: \"chunked\"\r\n", "a coding begins with \"\"\""),
            ("Transfer-Encoding: ;a=b\r\n", "a coding begins with \";\""),
            ("Transfer-Encoding: x chunked\r\n", "coding x: \"c\" follows it"),
            ("Transfer-Encoding: chunked chunked\r\n", "coding chunked: \"c\" follows it"),
            ("Transfer-Encoding: chunked\u{b}\r\n", "coding chunked: byte 0x0b follows it"),
            ("Transfer-Encoding: \u{b}chunked\r\n", "a coding begins with byte 0x0b"),
            ("Transfer-Encoding: gzip;\r\n", "coding gzip: a parameter is not of the form name=value"),
            ("Transfer-Encoding: gzip;a, chunked\r\n", "coding gzip: a parameter is not of the form name=value"),
            ("Transfer-Encoding: gzip;=b, chunked\r\n", "coding gzip: a parameter is not of the form name=value"),
            ("Transfer-Encoding: gzip;a=, chunked\r\n", "coding gzip: a parameter has no value"),
            ("Transfer-Encoding: gzip;a=\"b, chunked\r\n", "coding gzip: a quoted string does not end"),
            ("Transfer-Encoding: gzip;a=\"b\\\", chunked\r\n", "coding gzip: a quoted string does not end"),
            ("Transfer-Encoding: gzip;a=\"b\"c, chunked\r\n", "coding gzip: \"c\" follows it"),
            ("Transfer-Encoding: gzip;a=b\", chunked\r\n", "coding gzip: \"\"\" follows it"),
        ];
        for (fields, expected) in rows {
            let error = framing("GET", 200, fields).unwrap_err();
            let name = if fields.starts_with('C') { "content-length" } else { "transfer-encoding" };
            assert_eq!((error.status(), error.message()), (Status::Protocol, &*format!("header {name}: {expected}")));
        }
    }
}
