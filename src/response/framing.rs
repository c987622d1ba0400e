//! How long the body is: RFC 9112 section 6.3.

use std::ffi::CStr;

use super::Response;
use crate::error::{Error, Result};
use crate::headers::parse::trim;
use crate::headers::show_name;
use crate::status::Status;

/// How a response's body is delimited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// There is none.
    None,
    /// So many bytes.
    Length(i64),
    /// Chunks, up to the last one and its trailer.
    Chunked,
    /// Everything until the peer closes.
    UntilClose,
}

impl Response {
    /// How the body is delimited; an error when its head contradicts itself, after which nothing more can be read from
    /// the connection.
    pub fn framing(&self) -> Result<Framing> {
        let tunnel = self.request_method.to_bytes().eq_ignore_ascii_case(b"CONNECT") && self.status / 100 == 2;
        if self.is_response_to_head() || tunnel || matches!(self.status, 100..=199 | 204 | 304) {
            return Ok(Framing::None);
        }
        // A transfer coding overrides a length.
        if self.headers.get("transfer-encoding").is_some() {
            return self.transfer_framing();
        }
        let mut length = None;
        for value in self.headers.get_all("content-length") {
            for element in value.to_bytes().split(|&byte| byte == b',') {
                let number = content_length(trim(element))?;
                if length.is_some_and(|length| length != number) {
                    return Err(Error::new(Status::Protocol, "header content-length: two lengths that differ"));
                }
                length = Some(number);
            }
        }
        Ok(length.map_or(Framing::UntilClose, Framing::Length))
    }

    /// Chunked if that is the last coding, else the body lasts until the peer closes.
    fn transfer_framing(&self) -> Result<Framing> {
        let mut framing = Framing::UntilClose;
        for coding in self.headers.get_all("transfer-encoding").map(CStr::to_bytes).flat_map(elements) {
            let name = trim(coding.split(|&byte| byte == b';').next().unwrap_or_default());
            let chunked = name.eq_ignore_ascii_case(b"chunked");
            if framing == Framing::Chunked {
                return Err(Error::new(Status::Protocol, "header transfer-encoding: chunked is not the last coding"));
            }
            if chunked && name.len() != coding.len() {
                return Err(Error::new(Status::Protocol, "header transfer-encoding: chunked has a parameter"));
            }
            if chunked {
                framing = Framing::Chunked;
            }
        }
        Ok(framing)
    }
}

/// The elements of a comma-separated list, but the empty ones (RFC 9110 section 5.6.1). Commas inside a quoted
/// string do not separate.
fn elements(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    let (mut quoted, mut escaped) = (false, false);
    list.split(move |&byte| {
        let separates = byte == b',' && !quoted;
        quoted ^= byte == b'"' && !escaped;
        escaped = quoted && byte == b'\\' && !escaped;
        separates
    })
    .map(trim)
    .filter(|element| !element.is_empty())
}

fn content_length(digits: &[u8]) -> Result<i64> {
    let bad = |what| {
        let shown = show_name(digits);
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
        Response::parse(method, head.as_bytes()).unwrap().unwrap().0.framing()
    }

    const LENGTH: &str = "Content-Length: 5\r\n";
    const CHUNKED: &str = "Transfer-Encoding: chunked\r\n";

    #[test]
    fn bodies_that_cannot_be() {
        let rows = [("HEAD", 200), ("head", 404), ("GET", 100), ("GET", 199), ("GET", 204), ("GET", 304)];
        for (method, status) in rows.into_iter().chain([("CONNECT", 200), ("CONNECT", 299)]) {
            for fields in ["", LENGTH, CHUNKED, "Content-Length: nonsense\r\n"] {
                assert_eq!(framing(method, status, fields).unwrap(), Framing::None, "{method} {status} {fields}");
            }
        }
        assert_eq!(framing("CONNECT", 407, LENGTH).unwrap(), Framing::Length(5));
    }

    #[test]
    fn lengths_and_codings() {
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
            ("Transfer-Encoding: gzip\r\nTransfer-Encoding: , chunked ,\r\n", Framing::Chunked),
            ("Transfer-Encoding: a;b=\"chunked, \\\" ,\", chunked\r\n", Framing::Chunked),
            ("Transfer-Encoding: a;b=\", chunked\"\r\n", Framing::UntilClose),
            ("Transfer-Encoding: gzip\r\n", Framing::UntilClose),
            ("Transfer-Encoding: xchunked\r\n", Framing::UntilClose),
            ("Transfer-Encoding: \r\nContent-Length: 5\r\n", Framing::UntilClose),
            ("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", Framing::Chunked),
            ("Content-Length: nonsense\r\nTransfer-Encoding: chunked\r\n", Framing::Chunked),
        ];
        for (fields, expected) in rows {
            assert_eq!(framing("GET", 200, fields).unwrap(), expected, "{fields:?}");
        }
    }

    #[test]
    fn contradictions() {
        let rows = [
            ("Content-Length: 5\r\nContent-Length: 6\r\n", "two lengths that differ"),
            ("Content-Length: 5, 6\r\n", "two lengths that differ"),
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
            ("Transfer-Encoding: chunked;a=b\r\n", "chunked has a parameter"),
        ];
        for (fields, expected) in rows {
            let error = framing("GET", 200, fields).unwrap_err();
            let name = if fields.starts_with('C') { "content-length" } else { "transfer-encoding" };
            assert_eq!((error.status(), error.message()), (Status::Protocol, &*format!("header {name}: {expected}")));
        }
    }
}
