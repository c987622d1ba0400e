//! Determines whether a connection can be used for another request (RFC 9112 section 9.3).

use super::{BodyDecoder, Framing, Response};
use crate::headers::fields::trim;
use crate::headers::is_token_byte;

/// The effect of the options in the Connection fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ConnectionOption {
    /// The option `close`, or a field that is not a list of tokens.
    Close,
    KeepAlive,
    /// Neither `close` nor `keep-alive`: the version decides.
    Default,
}

impl Response {
    /// Returns whether the next request may be sent on the connection. `decoder` is the decoder of this response's
    /// body; without one, the body counts as unread. A response without a version, which the application made, counts
    /// as a response of HTTP/1.0.
    pub fn keeps_alive(&self, decoder: Option<&BodyDecoder>) -> bool {
        let is_http_1_1 = self.minor_version == Some(1);
        let is_persistent = match self.connection_option() {
            ConnectionOption::Close => false,
            ConnectionOption::KeepAlive => true,
            ConnectionOption::Default => is_http_1_1,
        };
        // After a response with the status 100 to 199, another response to the same request follows, or another
        // protocol.
        if !is_persistent || self.status < 200 || self.opens_tunnel() || self.has_suspicious_framing(is_http_1_1) {
            return false;
        }
        let is_empty = match self.framing() {
            Ok(Framing::None | Framing::Length(0)) => true,
            Ok(Framing::Length(_) | Framing::Chunked) => false,
            Ok(Framing::UntilClose) | Err(_) => return false,
        };
        decoder.map_or(is_empty, BodyDecoder::is_done)
    }

    /// Returns whether another recipient may conclude from the header fields that the response ends at another byte.
    fn has_suspicious_framing(&self, is_http_1_1: bool) -> bool {
        let has_coding = self.headers.get("transfer-encoding").is_some();
        let has_length = self.headers.get("content-length").is_some();
        match self.announced_framing() {
            Err(_) => true,
            Ok(_) if has_coding && (has_length || !is_http_1_1) => true,
            // A server must not announce a body for the status 204 (RFC 9110 section 8.6, RFC 9112 section 6.1). A
            // server that announces a body probably also sends it.
            Ok(announced) => self.status == 204 && (has_coding || has_length && announced != Framing::Length(0)),
        }
    }

    /// Returns the effect of the Connection fields (RFC 9110 section 7.6.1). `close` takes precedence over
    /// `keep-alive`.
    fn connection_option(&self) -> ConnectionOption {
        let mut found = ConnectionOption::Default;
        for value in self.headers.get_all("connection") {
            for option in value.to_bytes().split(|&byte| byte == b',').map(trim) {
                if option.eq_ignore_ascii_case(b"close") || !option.iter().all(|&byte| is_token_byte(byte)) {
                    return ConnectionOption::Close;
                }
                if option.eq_ignore_ascii_case(b"keep-alive") {
                    found = ConnectionOption::KeepAlive;
                }
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn response(method: &str, head: &str) -> Response {
        Response::parse(method, format!("{head}\r\n\r\n").as_bytes(), &mut 0).unwrap().unwrap().0
    }

    #[test]
    fn http_version_connection_options_and_framing_determine_keep_alive() {
        let rows: &[(&str, &str, bool)] = &[
            // Versions and Connection options.
            ("GET", "HTTP/1.1 200 OK\r\nContent-Length: 0", true),
            ("GET", "HTTP/1.0 200 OK\r\nContent-Length: 0", false),
            ("GET", "HTTP/1.0 200 OK\r\nContent-Length: 0\r\nConnection: Keep-Alive", true),
            ("GET", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close", false),
            ("GET", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: x, CLOSE\t,", false),
            ("GET", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: x\r\nconnection: Close", false),
            ("GET", "HTTP/1.0 200 OK\r\nContent-Length: 0\r\nConnection: keep-alive, close", false),
            ("GET", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close, keep-alive", false),
            ("GET", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: closed, , x-close", true),
            ("GET", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: \"close\"", false),
            ("GET", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: x close", false),
            // Responses without a body.
            ("HEAD", "HTTP/1.1 200 OK", true),
            ("HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 5", true),
            ("HEAD", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked", true),
            ("GET", "HTTP/1.1 304 x\r\nContent-Length: 5", true),
            ("GET", "HTTP/1.1 204 x", true),
            ("GET", "HTTP/1.1 204 x\r\nContent-Length: 0", true),
            ("GET", "HTTP/1.1 204 x\r\nContent-Length: 5", false),
            ("GET", "HTTP/1.1 204 x\r\nTransfer-Encoding: chunked", false),
            // Responses with a status of 100 to 199, and responses to CONNECT.
            ("GET", "HTTP/1.1 100 x", false),
            ("GET", "HTTP/1.1 101 x", false),
            ("GET", "HTTP/1.1 103 x", false),
            ("CONNECT", "HTTP/1.1 200 x", false),
            ("CONNECT", "HTTP/1.1 407 x\r\nContent-Length: 0", true),
            // A body that is not read, or lasts until the peer closes the connection.
            ("GET", "HTTP/1.1 200 OK", false),
            ("GET", "HTTP/1.1 200 OK\r\nContent-Length: 5", false),
            ("GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked", false),
            ("GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip", false),
            // Framing that another recipient may interpret differently.
            ("HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked", false),
            ("HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 5, 6", false),
            ("HEAD", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, gzip", false),
            ("HEAD", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked", false),
        ];
        for (method, head, expected) in rows {
            assert_eq!(response(method, head).keeps_alive(None), *expected, "{method} {head:?}");
        }
    }

    #[test]
    fn a_connection_is_kept_only_after_the_whole_body_was_decoded() {
        let rows: &[(&str, &str, bool)] = &[
            ("HTTP/1.1 200 OK\r\nContent-Length: 5", "hell", false),
            ("HTTP/1.1 200 OK\r\nContent-Length: 5", "hello", true),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked", "1\r\na\r\n0\r\n", false),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked", "1\r\na\r\n0\r\n\r\n", true),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked", "1\r\na\r\n0\r\n\r\nHTTP/1.1 ", true),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked", "1\r\nab\r\n0\r\n\r\n", false),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 5", "0\r\n\r\n", false),
            ("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: keep-alive", "0\r\n\r\n", false),
            ("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1", "a", false),
            ("HTTP/1.1 204 OK", "", true),
            ("HTTP/1.1 200 OK", "", false),
        ];
        for (head, body, expected) in rows {
            let response = response("GET", head);
            let mut decoder = BodyDecoder::new(&response).unwrap();
            let mut rest = body.as_bytes();
            while let Ok(super::super::Decoded::Piece(_, consumed)) = decoder.decode(rest) {
                rest = &rest[consumed..];
            }
            assert_eq!(response.keeps_alive(Some(&decoder)), *expected, "{head:?} {body:?}");
            let _ = decoder.end();
            assert_eq!(response.keeps_alive(Some(&decoder)), *expected, "{head:?} {body:?} after the end");
        }
    }

    #[test]
    fn a_response_without_a_version_keeps_alive_only_with_option_keep_alive() {
        for (connection, expected) in [("x", false), ("keep-alive", true)] {
            let mut fields = crate::headers::HeadersBuilder::new();
            fields.add(b"Connection", connection.as_bytes()).unwrap();
            let response = Response::new("HEAD", 200, Arc::new(fields.build())).unwrap();
            assert_eq!(response.keeps_alive(None), expected, "{connection}");
        }
    }
}
