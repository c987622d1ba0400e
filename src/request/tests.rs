use super::TargetForm::{Absolute, Asterisk, Authority, Origin};
use super::*;
use crate::headers::HeadersBuilder;

fn headers(fields: &[(&str, &str)]) -> Headers {
    let mut builder = HeadersBuilder::new();
    for (name, value) in fields {
        builder.add(name.as_bytes(), value.as_bytes()).unwrap();
    }
    builder.build()
}

fn head(method: &str, url: &str, fields: &[(&str, &str)], form: TargetForm) -> Result<String> {
    let url = Url::parse(url.as_bytes()).unwrap();
    let request = Request::new(method, &url, &headers(fields), form)?;
    Ok(request.wire().to_str().unwrap().to_owned())
}

/// Method, URL, fields, form, status, message and offset.
type Refused = (&'static str, &'static str, Fields, TargetForm, Status, &'static str, Option<usize>);

type Fields = &'static [(&'static str, &'static str)];

#[test]
fn the_target_form_determines_the_request_target_and_host_comes_first() {
    let rows: &[(&str, &str, Fields, TargetForm, &str)] = &[
        ("GET", "http://h", &[], Origin, "GET / HTTP/1.1\r\nHost: h\r\n\r\n"),
        ("GET", "https://u:p@H:8443/a b?c#d", &[], Origin, "GET /a%20b?c HTTP/1.1\r\nHost: h:8443\r\n\r\n"),
        ("get", "h?", &[("A", "b"), ("a", "")], Origin, "get /? HTTP/1.1\r\nHost: h\r\nA: b\r\na: \r\n\r\n"),
        ("GET", "http://h:80//x/..", &[], Origin, "GET // HTTP/1.1\r\nHost: h:80\r\n\r\n"),
        (
            "GET",
            "http://h",
            &[("A", "b"), ("hOST", "x.y:1")],
            Origin,
            "GET / HTTP/1.1\r\nhOST: x.y:1\r\nA: b\r\n\r\n",
        ),
        ("GET", "/a", &[("Host", "[::1]")], Origin, "GET /a HTTP/1.1\r\nHost: [::1]\r\n\r\n"),
        ("GET", "http://[fe80::1%25eth0]:1/", &[], Origin, "GET / HTTP/1.1\r\nHost: [fe80::1]:1\r\n\r\n"),
        (
            "POST",
            "http://h",
            &[("Content-Length", "0")],
            Origin,
            "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n",
        ),
        (
            "PUT",
            "http://h",
            &[("Connection", "close, TE"), ("transfer-encoding", "gzip, Chunked"), ("A", "\t\u{80}\t")],
            Origin,
            "PUT / HTTP/1.1\r\nHost: h\r\nConnection: close, TE\r\ntransfer-encoding: gzip, Chunked\r\n\
             A: \t\u{80}\t\r\n\r\n",
        ),
        ("GET", "http://u:p@h:81/a?b#c", &[], Absolute, "GET http://h:81/a?b HTTP/1.1\r\nHost: h:81\r\n\r\n"),
        ("GET", "h", &[], Absolute, "GET http://h/ HTTP/1.1\r\nHost: h\r\n\r\n"),
        ("GET", "https://h?q", &[("Host", "H")], Absolute, "GET https://h/?q HTTP/1.1\r\nHost: H\r\n\r\n"),
        ("GET", "ftp://[::1]/x", &[], Absolute, "GET ftp://[::1]/x HTTP/1.1\r\nHost: [::1]\r\n\r\n"),
        ("CONNECT", "https://u:p@h/a?b", &[], Authority, "CONNECT h:443 HTTP/1.1\r\nHost: h:443\r\n\r\n"),
        ("CONNECT", "http://h", &[("A", "b")], Authority, "CONNECT h:80 HTTP/1.1\r\nHost: h:80\r\nA: b\r\n\r\n"),
        ("CONNECT", "ssh://h:22", &[("host", "H:22")], Authority, "CONNECT h:22 HTTP/1.1\r\nhost: H:22\r\n\r\n"),
        (
            "CONNECT",
            "https://[fe80::1%eth0]",
            &[],
            Authority,
            "CONNECT [fe80::1]:443 HTTP/1.1\r\nHost: [fe80::1]:443\r\n\r\n",
        ),
        ("OPTIONS", "http://h:81/a?b", &[], Asterisk, "OPTIONS * HTTP/1.1\r\nHost: h:81\r\n\r\n"),
        ("OPTIONS", "http://h", &[], Origin, "OPTIONS / HTTP/1.1\r\nHost: h\r\n\r\n"),
    ];
    for (method, url, fields, form, expected) in rows {
        assert_eq!(head(method, url, fields, *form).unwrap(), *expected, "{method} {url} {form:?}");
    }
}

#[test]
fn invalid_methods_targets_and_fields_are_refused_with_their_offset() {
    const ARGUMENT: Status = Status::InvalidArgument;
    const URL: Status = Status::InvalidUrl;
    const HEADER: Status = Status::InvalidHeader;
    let rows: &[Refused] = &[
        ("", "http://h", &[], Origin, ARGUMENT, "method is empty", Some(0)),
        ("G T", "http://h", &[], Origin, ARGUMENT, "method: a space is not allowed at byte 1", Some(1)),
        ("GET\r\nA:", "http://h", &[], Origin, ARGUMENT, "method: CR is not allowed at byte 3", Some(3)),
        ("CONNECT", "http://h", &[], Origin, ARGUMENT, "the method CONNECT needs the authority form", None),
        ("CONNECT", "http://h", &[], Absolute, ARGUMENT, "the method CONNECT needs the authority form", None),
        ("CONNECT", "http://h", &[], Asterisk, ARGUMENT, "the method CONNECT needs the authority form", None),
        ("connect", "http://h", &[], Authority, ARGUMENT, "the authority form needs the method CONNECT", None),
        ("GET", "http://h", &[], Asterisk, ARGUMENT, "the asterisk form needs the method OPTIONS", None),
        ("GET", "/a", &[], Absolute, URL, "the absolute form needs a URL with a host", None),
        ("CONNECT", "http://:1", &[], Authority, URL, "the authority form needs a URL with a host", None),
        (
            "CONNECT",
            "ssh://h",
            &[],
            Authority,
            URL,
            "the authority form needs a URL with a port: its scheme has no default port",
            None,
        ),
        (
            "CONNECT",
            "http://h:0",
            &[],
            Authority,
            URL,
            "the authority form needs a URL with a port other than 0",
            None,
        ),
        ("GET", "/a", &[], Origin, URL, "neither the URL nor the headers have a host, which HTTP/1.1 requires", None),
        ("GET", "x://h/a b", &[], Origin, URL, "the request target: a space is not allowed at byte 2", Some(2)),
        (
            "GET",
            "x://h/?\u{e9}",
            &[],
            Absolute,
            URL,
            "the request target: byte 0xc3 is not allowed at byte 7",
            Some(7),
        ),
        ("GET", "x://h/a\"", &[], Origin, URL, "the request target: \"\"\" is not allowed at byte 2", Some(2)),
        ("GET", "x://h\u{e9}", &[], Origin, URL, "the URL's host: byte 0xc3 is not allowed at byte 1", Some(1)),
        (
            "GET",
            "http://h",
            &[("Host", "a"), ("host", "a")],
            Origin,
            HEADER,
            "header Host: there are several fields",
            None,
        ),
        ("GET", "http://h", &[("Host", "")], Origin, HEADER, "header Host: the value is empty", None),
        (
            "GET",
            "http://h",
            &[("Host", "u@h")],
            Origin,
            HEADER,
            "header Host: \"@\" is not allowed in the value at byte 1",
            Some(1),
        ),
        (
            "GET",
            "http://h",
            &[("Host", " h")],
            Origin,
            HEADER,
            "header Host: a space is not allowed in the value at byte 0",
            Some(0),
        ),
        (
            "GET",
            "http://h",
            &[("Host", "h:80")],
            Absolute,
            HEADER,
            "header Host: the value differs from host and port of the request target",
            None,
        ),
        (
            "CONNECT",
            "https://h",
            &[("Host", "h")],
            Authority,
            HEADER,
            "header Host: the value differs from host and port of the request target",
            None,
        ),
        (
            "POST",
            "http://h",
            &[("Content-Length", "1"), ("content-length", "1")],
            Origin,
            HEADER,
            "header Content-Length: there are several fields",
            None,
        ),
        (
            "POST",
            "http://h",
            &[("Content-Length", "1"), ("Transfer-Encoding", "chunked")],
            Origin,
            HEADER,
            "header Content-Length: not allowed together with Transfer-Encoding",
            None,
        ),
        (
            "POST",
            "http://h",
            &[("Content-Length", "+1")],
            Origin,
            HEADER,
            "header content-length: \"+1\" is not a number",
            None,
        ),
        (
            "POST",
            "http://h",
            &[("Transfer-Encoding", "chunked, gzip")],
            Origin,
            HEADER,
            "header transfer-encoding: chunked is not the last coding",
            None,
        ),
        (
            "POST",
            "http://h",
            &[("Transfer-Encoding", "gzip")],
            Origin,
            HEADER,
            "header Transfer-Encoding: chunked must be the last coding of a request",
            None,
        ),
        (
            "POST",
            "http://h",
            &[("Transfer-Encoding", "gzip"), ("transfer-encoding", "chunked")],
            Origin,
            HEADER,
            "header Transfer-Encoding: there are several fields",
            None,
        ),
        (
            "POST",
            "http://h",
            &[("transfer-encoding", "chunked\t")],
            Origin,
            HEADER,
            "header Transfer-Encoding: a tab is not allowed in the value at byte 7",
            Some(7),
        ),
        (
            "POST",
            "http://h",
            &[("transfer-encoding", "\tchunked")],
            Origin,
            HEADER,
            "header Transfer-Encoding: a tab is not allowed in the value at byte 0",
            Some(0),
        ),
        (
            "POST",
            "http://h",
            &[("transfer-encoding", "gzip\t, chunked")],
            Origin,
            HEADER,
            "header Transfer-Encoding: a tab is not allowed in the value at byte 4",
            Some(4),
        ),
        (
            "POST",
            "http://h",
            &[("transfer-encoding", "gzip;q=1, chunked")],
            Origin,
            HEADER,
            "header Transfer-Encoding: \";\" is not allowed in the value at byte 4",
            Some(4),
        ),
        (
            "POST",
            "http://h",
            &[("transfer-encoding", "gzip;a=\", chunked\", chunked")],
            Origin,
            HEADER,
            "header Transfer-Encoding: \";\" is not allowed in the value at byte 4",
            Some(4),
        ),
        (
            "POST",
            "http://h",
            &[("Connection", "close"), ("connection", "te,\ttransfer-encoding , x")],
            Origin,
            HEADER,
            "header Connection: the option Transfer-Encoding is not allowed",
            None,
        ),
        (
            "POST",
            "http://h",
            &[("Connection", "Content-Length")],
            Absolute,
            HEADER,
            "header Connection: the option Content-Length is not allowed",
            None,
        ),
        (
            "CONNECT",
            "https://h",
            &[("Connection", "HOST")],
            Authority,
            HEADER,
            "header Connection: the option Host is not allowed",
            None,
        ),
        (
            "GET",
            "http://h",
            &[("A", "b"), ("X-Key", "s3cr\u{b}Transfer-Encoding: chunked")],
            Origin,
            HEADER,
            "header X-Key: byte 0x0b is not allowed in the value at byte 4",
            Some(4),
        ),
        (
            "CONNECT",
            "https://h",
            &[("Content-Length", "0")],
            Authority,
            HEADER,
            "header Content-Length: a CONNECT request has no body",
            None,
        ),
        (
            "CONNECT",
            "https://h",
            &[("Transfer-Encoding", "chunked")],
            Authority,
            HEADER,
            "header Transfer-Encoding: a CONNECT request has no body",
            None,
        ),
    ];
    for (method, url, fields, form, status, message, offset) in rows {
        let error = head(method, url, fields, *form).unwrap_err();
        assert_eq!(error.message(), *message, "{method} {url}");
        assert_eq!((error.status(), error.offset()), (*status, *offset), "{message}");
    }
}

/// Uses every byte in every text of a request. An accepted request has one line for each of its fields, and its request
/// line has three parts.
#[test]
fn no_byte_in_method_url_or_field_adds_a_line_or_a_request_line_part() {
    for byte in 0..=255 {
        let text = |text: &[u8]| text.iter().map(|&b| if b == b'@' { byte } else { b }).collect::<Vec<u8>>();
        let method = String::from_utf8(text(b"M@")).unwrap_or_default();
        let mut urls = Vec::new();
        for url in [&b"http://h/@?@"[..], b"x://h/@?@", b"http://h@:1/", b"x://@h/", b"http://u@u:p:h/a"] {
            urls.extend(Url::parse(&text(url)));
        }
        let mut builder = HeadersBuilder::new();
        let _ = builder.add(&text(b"N@"), b"v");
        let _ = builder.add(b"V", &text(b"v@v"));
        let _ = builder.add(b"Host", &text(b"h@"));
        let (with_fields, without_fields) = (builder.build(), Headers::default());
        for method in ["GET", &method] {
            for (url, fields) in urls.iter().flat_map(|url| [(url, &with_fields), (url, &without_fields)]) {
                for form in [Origin, Absolute] {
                    let Ok(request) = Request::new(method, url, fields, form) else { continue };
                    let wire = request.wire().to_bytes();
                    let value = fields.get("V").map_or(&b"   "[..], CStr::to_bytes);
                    assert!(!value[1].is_ascii_control() || byte == b'\t', "{byte}");
                    let lines: Vec<&[u8]> = wire.strip_suffix(b"\r\n\r\n").unwrap().split(|&b| b == b'\n').collect();
                    let others = fields.len() - fields.get_all("host").count();
                    assert_eq!(lines.len(), 2 + others, "{byte}");
                    let line = lines[0].strip_suffix(b"\r").unwrap();
                    assert!(line.iter().all(u8::is_ascii) && line.ends_with(b" HTTP/1.1"));
                    assert_eq!(line.split(|&b| b == b' ').count(), 3, "{byte}");
                }
            }
        }
    }
}

#[test]
fn the_parsed_headers_of_a_response_can_be_sent_in_a_request() {
    let head = b"HTTP/1.1 200 OK\r\nA: b\r\n c\r\nHost: h\r\n\r\n";
    let (response, _) = crate::response::Response::parse("GET", head, &mut 0).unwrap().unwrap();
    let request = Request::new("GET", &Url::parse(b"http://x").unwrap(), response.headers(), Origin).ok().unwrap();
    assert_eq!(request.wire(), c"GET / HTTP/1.1\r\nHost: h\r\nA: b c\r\n\r\n");
}

#[test]
fn target_form_numbers_are_those_of_netlib_h() {
    let forms = [Origin, Absolute, Authority, Asterisk];
    for (code, form) in (0..).zip(forms) {
        assert_eq!(TargetForm::from_code(code), Some(form));
    }
    assert_eq!((TargetForm::from_code(-1), TargetForm::from_code(4)), (None, None));
}

#[test]
fn requests_are_send_and_sync() {
    fn shared<T: Send + Sync>() {}
    shared::<Request>();
}
