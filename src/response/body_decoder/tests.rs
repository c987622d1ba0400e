use super::*;
use crate::headers::HeadersBuilder;

/// Makes a decoder for a response with one header field.
fn decoder(name: &str, value: &str) -> BodyDecoder {
    let mut fields = HeadersBuilder::new();
    fields.add(name.as_bytes(), value.as_bytes()).unwrap();
    BodyDecoder::new(&Response::new("GET", 200, Arc::new(fields.build())).unwrap()).unwrap()
}

fn chunked() -> BodyDecoder {
    decoder("Transfer-Encoding", "chunked")
}

/// The result of decoding a whole body.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    body: Vec<u8>,
    end: End,
}

#[derive(Debug, PartialEq, Eq)]
enum End {
    /// The length of the encoded body, and the trailer fields.
    Done(usize, String),
    /// The decoder needs more input.
    Open,
    /// The message and the offset of the error.
    Failed(String, Option<usize>),
}

/// Decodes `input`, which arrives in pieces of `step` bytes.
fn decode(decoder: &mut BodyDecoder, input: &[u8], step: usize) -> Outcome {
    let mut body = Vec::new();
    let mut at = 0;
    for piece in input.chunks(step) {
        let mut rest = piece;
        loop {
            match decoder.decode(rest) {
                Ok(Decoded::Piece(piece, consumed)) => {
                    assert!(!piece.is_empty() && consumed <= rest.len());
                    assert_eq!(piece.as_ptr_range().end, rest[..consumed].as_ptr_range().end);
                    body.extend_from_slice(piece);
                    rest = &rest[consumed..];
                    at += consumed;
                }
                Ok(Decoded::NeedsInput) => {
                    at += rest.len();
                    break;
                }
                Ok(Decoded::Done(consumed)) => {
                    let trailers = decoder.trailers().unwrap().wire().unwrap().to_str().unwrap().to_owned();
                    assert_eq!(decoder.decode(b"next").unwrap(), Decoded::Done(0));
                    return Outcome { body, end: End::Done(at + consumed, trailers) };
                }
                Err(error) => {
                    assert_eq!(error.status(), Status::Protocol);
                    assert_eq!(decoder.decode(rest).unwrap_err().message(), error.message());
                    assert_eq!(decoder.end().unwrap_err().message(), error.message());
                    assert!(!decoder.is_done());
                    return Outcome { body, end: End::Failed(error.message().to_owned(), error.offset()) };
                }
            }
        }
    }
    Outcome { body, end: End::Open }
}

/// Decodes `input` whole, byte by byte, and in pieces of several sizes, and checks that the outcome is the same.
fn decode_all_ways(make: impl Fn() -> BodyDecoder, input: &[u8]) -> Outcome {
    let whole = decode(&mut make(), input, input.len().max(1));
    for step in [1, 2, 3, 5, 7] {
        assert_eq!(decode(&mut make(), input, step), whole, "{:?} by {step}", String::from_utf8_lossy(input));
    }
    whole
}

#[test]
fn valid_chunked_bodies_are_decoded_with_their_trailers() {
    let rows: &[(&[u8], &str, &str)] = &[
        (b"0\r\n\r\n", "", ""),
        (b"5\r\nhello\r\n0\r\n\r\n", "hello", ""),
        (b"5\r\nhel\r\n\r\n1\r\n!\r\n00\r\n\r\n", "hel\r\n!", ""),
        (b"A\r\n0123456789\r\na\r\n0123456789\r\n0\r\n\r\n", "01234567890123456789", ""),
        (b"0000000000000001\r\nx\r\n0000000000000000\r\n\r\n", "x", ""),
        (b"1;a\r\nx\r\n0;a=b\r\n\r\n", "x", ""),
        (b"1;a=b;c=\"d\";e=\"\"\r\nx\r\n0;a;b\r\n\r\n", "x", ""),
        (b"1;a=\"; \t\\\"\\\\\xff=\"\r\nx\r\n0\r\n\r\n", "x", ""),
        (b"0\r\nA: b\r\n\r\n", "", "A: b\r\n"),
        (b"0\r\nA:  b c\t \r\nA:\r\nETag: \"\xc3\xa9\"\r\n\r\n", "", "A: b c\r\nA: \r\nETag: \"\u{e9}\"\r\n"),
    ];
    for (input, body, trailers) in rows {
        let expected =
            Outcome { body: body.as_bytes().to_vec(), end: End::Done(input.len(), (*trailers).to_owned()) };
        assert_eq!(decode_all_ways(chunked, input), expected);
        let followed = [*input, b"\r\nHTTP/1.1 200 OK\r\n"].concat();
        assert_eq!(decode_all_ways(chunked, &followed), expected);
        for cut in 0..input.len() {
            assert_eq!(decode_all_ways(chunked, &input[..cut]).end, End::Open);
        }
    }
}

#[test]
fn malformed_chunked_bodies_are_refused_with_an_offset() {
    let rows: &[(&[u8], &str, usize)] = &[
        (b"\r\n", "CR is not allowed in a chunk size", 0),
        (b"\n", "LF is not allowed in a chunk size", 0),
        (b"x\r\n", "\"x\" is not allowed in a chunk size", 0),
        (b"+5\r\n", "\"+\" is not allowed in a chunk size", 0),
        (b"-5\r\n", "\"-\" is not allowed in a chunk size", 0),
        (b"0x5\r\n", "\"x\" is not allowed in a chunk size", 1),
        (b" 5\r\n", "a space is not allowed in a chunk size", 0),
        (b"5 \r\n", "a space is not allowed in a chunk size", 1),
        (b"5\t;a\r\n", "a tab is not allowed in a chunk size", 1),
        (b"5_0\r\n", "\"_\" is not allowed in a chunk size", 1),
        (b"5\0\r\n", "NUL is not allowed in a chunk size", 1),
        (b"5\n", "LF is not allowed in a chunk size", 1),
        (b"5\rx", "\"x\" follows a CR; LF must follow", 2),
        (b"5\r\r\n", "CR follows a CR; LF must follow", 2),
        (b"00000000000000000\r\n", "a chunk size has more than 16 digits", 16),
        (b"8000000000000000\r\n", "a chunk size is larger than 9223372036854775807", 15),
        (b"ffffffffffffffff\r\n", "a chunk size is larger than 9223372036854775807", 15),
        (b"1;\r\n", "CR is not allowed in a chunk extension", 2),
        (b"1;;a\r\n", "\";\" is not allowed in a chunk extension", 2),
        (b"1; a\r\n", "a space is not allowed in a chunk extension", 2),
        (b"1;a \r\n", "a space is not allowed in a chunk extension", 3),
        (b"1;a=\r\n", "CR is not allowed in a chunk extension", 4),
        (b"1;a= b\r\n", "a space is not allowed in a chunk extension", 4),
        (b"1;=b\r\n", "\"=\" is not allowed in a chunk extension", 2),
        (b"1;a=b=c\r\n", "\"=\" is not allowed in a chunk extension", 5),
        (b"1;a=\"b\r\n", "CR is not allowed in a chunk extension", 6),
        (b"1;a=\"b\\\r\n", "CR is not allowed in a chunk extension", 7),
        (b"1;a=\"b\nc\"\r\n", "LF is not allowed in a chunk extension", 6),
        (b"1;a=\"b\x7f\"\r\n", "byte 0x7f is not allowed in a chunk extension", 6),
        (b"1;a=\"b\"c\r\n", "\"c\" is not allowed in a chunk extension", 7),
        (b"1;a\n", "LF is not allowed in a chunk extension", 3),
        (b"1\r\nab\r\n", "\"b\" follows the data of a chunk; CRLF must follow", 4),
        (b"1\r\na\n", "LF follows the data of a chunk; CRLF must follow", 4),
        (b"1\r\na\rb", "\"b\" follows a CR; LF must follow", 5),
        (b"1\r\na\r\n\r\n", "CR is not allowed in a chunk size", 6),
        (b"0\r\n\n", "a trailer line ends with LF without CR at byte 3", 3),
        (b"0\r\nA: b\n", "a trailer line ends with LF without CR at byte 7", 7),
        (b"0\r\n A: b\r\n", "a trailer line begins with whitespace", 3),
        (b"0\r\nA: b\r\n\tc\r\n", "a trailer line begins with whitespace", 9),
        (b"0\r\nA\r\n", "trailer: a header line has no colon; the line begins", 3),
        (b"0\r\nA: b\r\nA : b\r\n", "trailer: header A: whitespace before the colon", 10),
        (b"0\r\n: b\r\n", "trailer: a header has no name", 3),
        (b"0\r\n\r\r\n", "trailer: a header line has no colon; the line begins", 3),
        (b"0\r\nA: b\rc\r\n", "trailer: header A: CR is not allowed in the value", 7),
        (b"0\r\nA: b\0c\r\n", "trailer: header A: NUL is not allowed in the value", 7),
        (b"0\r\nA: b\x0b\r\n", "trailer: header A: byte 0x0b is not allowed in the value", 7),
        (b"0\r\nA:\x7f\r\n", "trailer: header A: byte 0x7f is not allowed in the value", 5),
        (
            b"0\r\nA: b\r\nContent-Length: 5\r\n",
            "trailer: header Content-Length: a trailer must not contain this header; the line begins",
            9,
        ),
    ];
    for (input, message, at) in rows {
        let message = if message.ends_with(char::is_numeric) && message.contains(" at byte ") {
            (*message).to_owned()
        } else {
            format!("{message} at byte {at}")
        };
        assert_eq!(decode_all_ways(chunked, input).end, End::Failed(message.clone(), Some(*at)), "{input:?}");
        // Offsets count from the start of the body, even if chunks precede the error.
        let message = message.replace(&format!("byte {at}"), &format!("byte {}", at + 6));
        let after_chunk = [b"1\r\na\r\n", *input].concat();
        assert_eq!(decode_all_ways(chunked, &after_chunk).end, End::Failed(message, Some(at + 6)));
    }
}

#[test]
fn lf_without_cr_in_a_chunked_body_is_accepted_only_with_allow_bare_lf() {
    let lenient = || {
        let mut decoder = chunked();
        decoder.set_allow_bare_lf(true);
        decoder
    };
    let rows: &[&[u8]] =
        &[b"5\nhello\n0\n\n", b"5;a=b\nhello\r\n0\r\n\n", b"5\r\nhello\n0;a\n\r\n", b"5\r\nhello\r\n0\nA: b\n\n"];
    for input in rows {
        let end = End::Done(input.len(), if input.contains(&b'A') { "A: b\r\n".to_owned() } else { String::new() });
        assert_eq!(decode_all_ways(lenient, input), Outcome { body: b"hello".to_vec(), end });
        assert!(matches!(decode_all_ways(chunked, input).end, End::Failed(..)));
    }
    for (input, at) in [(&b"\n"[..], 0), (b"5;\n", 2), (b"5;a=\"\n", 5), (b"5\rhello", 2), (b"0\n\r\r\n", 2)] {
        assert!(
            matches!(decode_all_ways(lenient, input).end, End::Failed(_, Some(found)) if found == at),
            "{input:?}"
        );
    }
}

#[test]
fn chunked_bodies_beyond_the_limits_are_refused() {
    let limited = || {
        let mut decoder = chunked();
        decoder.set_limits(ChunkedLimits { size_line: 5, trailer: 20, trailer_fields: 2 }).unwrap();
        decoder
    };
    let rows: &[(&str, Option<(&str, usize)>)] = &[
        ("1;a=b\r\na\r\n", None),
        ("1;a=bc\r\na\r\n", Some(("a chunk-size line has more than 5 bytes", 5))),
        ("1\r\na\r\n000000\r\n", Some(("a chunk-size line has more than 5 bytes", 11))),
        ("0\r\nA: 1\r\nB: 23456\r\n", None),
        ("0\r\nA: 1\r\nB: 234567890\r\n", None),
        ("0\r\nA: 1\r\nB: 234567890\r\n\r\n", Some(("the trailer has more than 20 bytes", 23))),
        ("0\r\nA: 1\r\nB: 2345678901\r\n", Some(("the trailer has more than 20 bytes", 23))),
        ("0\r\nA:\r\nB:\r\nC:\r\n", Some(("the trailer has more than 2 fields", 11))),
    ];
    for (input, expected) in rows {
        let end = match expected {
            Some((message, at)) => End::Failed(format!("{message} at byte {at}"), Some(*at)),
            None => End::Open,
        };
        assert_eq!(decode_all_ways(limited, input.as_bytes()).end, end, "{input:?}");
    }
    let largest = "0\r\nA: 1234567890123\r\n\r\n";
    let end = End::Done(largest.len(), "A: 1234567890123\r\n".to_owned());
    assert_eq!(decode_all_ways(limited, largest.as_bytes()).end, end);
}

/// In each size line, 16 bytes and two further bytes per byte of the chunk's data do not count towards the limit.
#[test]
fn chunk_extensions_have_a_limit_for_the_whole_body() {
    let chunk = |data: usize| format!("{data:x};a={}\r\n{}\r\n", "b".repeat(1000), "d".repeat(data));
    // The size line of each small chunk has 1004 bytes, of which 18 do not count, so 16 chunks stay within 16,384
    // bytes.
    let small = chunk(1).repeat(17);
    let at = 16 * chunk(1).len() + 1004;
    let message = format!("the chunk extensions have more than 16384 bytes in excess of the data at byte {at}");
    assert_eq!(decode_all_ways(chunked, small.as_bytes()).end, End::Failed(message, Some(at)));
    assert_eq!(decode_all_ways(chunked, chunk(500).repeat(40).as_bytes()).end, End::Open);
    assert_eq!(decode_all_ways(chunked, b"7fffffffffffffff\r\n").end, End::Open);
}

#[test]
fn limits_that_are_lowered_while_a_body_arrives_apply_at_once() {
    for (input, message) in [
        ("123456", "a chunk-size line has more than 2 bytes at byte 6"),
        ("0\r\nA: b\r\nB", "the trailer has more than 4 bytes at byte 9"),
    ] {
        let mut decoder = chunked();
        assert_eq!(decode(&mut decoder, input.as_bytes(), 1).end, End::Open);
        decoder.set_limits(ChunkedLimits { size_line: 2, trailer: 4, trailer_fields: 0 }).unwrap();
        assert_eq!(decoder.decode(b"7").unwrap_err().message(), message);
    }
}

#[test]
fn limits_out_of_range_are_refused() {
    let limits = |size_line, trailer, trailer_fields| ChunkedLimits { size_line, trailer, trailer_fields };
    let rows = [
        (limits(0, 2, 0), Err("max_size_line must be 1 to 65536; it is 0")),
        (limits(65537, 2, 0), Err("max_size_line must be 1 to 65536; it is 65537")),
        (limits(1, 1, 0), Err("max_trailer must be 2 to 262144; it is 1")),
        (limits(1, 262145, 0), Err("max_trailer must be 2 to 262144; it is 262145")),
        (limits(1, 2, 1001), Err("max_trailer_fields must be 0 to 1000; it is 1001")),
        (limits(1, 2, 0), Ok(())),
        (limits(65536, 262144, 1000), Ok(())),
    ];
    for (limits, expected) in rows {
        for mut decoder in [chunked(), decoder("Content-Length", "5")] {
            let result = decoder.set_limits(limits).map_err(|error| error.message().to_owned());
            assert_eq!(result, expected.map_err(str::to_owned));
        }
    }
}

#[test]
fn a_body_with_content_length_ends_after_that_many_bytes() {
    let five = || decoder("Content-Length", "5");
    for (input, body, end) in
        [("", "", End::Open), ("hell", "hell", End::Open), ("hello world", "hello", End::Done(5, String::new()))]
    {
        let expected = Outcome { body: body.into(), end };
        assert_eq!(decode_all_ways(five, input.as_bytes()), expected);
    }
    let mut decoder = five();
    assert_eq!((decoder.bytes_decoded(), decoder.bytes_left()), (0, Some(5)));
    assert_eq!(decoder.decode(b"he").unwrap(), Decoded::Piece(b"he", 2));
    assert_eq!((decoder.bytes_decoded(), decoder.bytes_left(), decoder.is_done()), (2, Some(3), false));
    assert_eq!(decoder.decode(b"").unwrap(), Decoded::NeedsInput);
    assert!(decoder.trailers().is_none());
    let error = decoder.end().unwrap_err();
    assert_eq!(error.status(), Status::IncompleteRead);
    assert_eq!(error.message(), "the peer closed the connection after 2 of 5 bytes of the body");
    assert_eq!(decoder.decode(b"llo").unwrap_err().status(), Status::IncompleteRead);
    assert!(!decoder.is_done());
}

#[test]
fn calling_end_completes_a_body_that_lasts_until_the_connection_closes() {
    let mut decoder = decoder("X", "y");
    assert_eq!(decoder.decode(b"hello").unwrap(), Decoded::Piece(b"hello", 5));
    assert_eq!(decoder.decode(b"").unwrap(), Decoded::NeedsInput);
    assert_eq!((decoder.bytes_left(), decoder.is_done()), (None, false));
    decoder.end().unwrap();
    decoder.end().unwrap();
    assert_eq!((decoder.bytes_decoded(), decoder.bytes_left(), decoder.is_done()), (5, Some(0), true));
    assert_eq!(decoder.decode(b"x").unwrap(), Decoded::Done(0));
    assert!(decoder.trailers().unwrap().is_empty());
}

#[test]
fn an_absent_or_empty_body_is_done_at_once() {
    let absent = BodyDecoder::new(&Response::new("GET", 204, Arc::default()).unwrap()).unwrap();
    for mut decoder in [absent, decoder("Content-Length", "0")] {
        assert!(decoder.is_done() && decoder.trailers().unwrap().is_empty());
        assert_eq!(decoder.bytes_left(), Some(0));
        assert_eq!(decoder.decode(b"HTTP/1.1").unwrap(), Decoded::Done(0));
        decoder.end().unwrap();
    }
}

#[test]
fn closing_the_connection_inside_a_chunked_body_is_an_incomplete_read() {
    for (input, message) in [
        ("", "the peer closed the connection inside a chunked body, after 0 bytes"),
        ("5\r\nhel", "the peer closed the connection inside a chunked body, after 6 bytes"),
        ("0\r\nA: b\r\n", "the peer closed the connection inside a chunked body, after 9 bytes"),
    ] {
        let mut decoder = chunked();
        assert_eq!(decode(&mut decoder, input.as_bytes(), 2).end, End::Open);
        assert_eq!(decoder.bytes_left(), None);
        let error = decoder.end().unwrap_err();
        assert_eq!((error.status(), error.message()), (Status::IncompleteRead, message));
    }
    let mut decoder = chunked();
    assert_eq!(decode(&mut decoder, b"0\r\n\r\n", 5).end, End::Done(5, String::new()));
    decoder.end().unwrap();
}

#[test]
fn a_response_with_contradictory_framing_has_no_decoder() {
    let mut fields = HeadersBuilder::new();
    fields.add(b"Content-Length", b"5, 6").unwrap();
    let response = Response::new("GET", 200, Arc::new(fields.build())).unwrap();
    assert_eq!(BodyDecoder::new(&response).unwrap_err().status(), Status::Protocol);
}
