mod properties;

use super::*;
use crate::parse_cost::tests::measure;
use crate::status::Status;

fn fields(url: &Url) -> String {
    let text = |part: Option<&CStr>| part.map_or("-".to_owned(), |part| part.to_str().unwrap().to_owned());
    let port = url.port().map_or("-".to_owned(), |port| port.to_string());
    [
        text(url.scheme()),
        text(url.auth()),
        text(url.host()),
        port,
        text(url.path()),
        text(url.query()),
        text(url.fragment()),
    ]
    .join(" ")
}

fn parse(text: &str) -> Url {
    Url::parse(text.as_bytes()).unwrap_or_else(|error| panic!("{text:?}: {error}"))
}

/// Each row has the input, then scheme, userinfo, host, port, path, query and fragment, with "-" for an absent
/// component.
const PARSED: &[(&str, &str)] = &[
    ("", "- - - - - - -"),
    ("http://google.com/mail/", "http - google.com - /mail/ - -"),
    ("google.com:80", "- - google.com 80 - - -"),
    ("/foo?bar", "- - - - /foo bar -"),
    ("localhost:8080", "- - localhost 8080 - - -"),
    ("localhost:8080/x", "- - localhost 8080 /x - -"),
    ("tel:5551234", "tel - - - /5551234 - -"),
    ("http:80", "http - - - /80 - -"),
    ("HTTPS://u:p@Example.COM:0443/a?b#c", "https u:p example.com 443 /a b c"),
    ("//Example.com/x", "- - example.com - /x - -"),
    ("http://", "http - - - - - -"),
    ("http://:80", "http -  80 - - -"),
    ("http://u@", "http u  - - - -"),
    ("http://@h", "http - h - - - -"),
    ("http://h:", "http - h - - - -"),
    ("http://h:000", "http - h 0 - - -"),
    ("http://h?#", "http - h -   "),
    ("?q", "- - - -  q -"),
    ("http://a@b@c", "http a%40b c - - - -"),
    ("http://a\\b@c", "http - a - /%5Cb@c - -"),
    ("http://h/%2f \u{e9}?a|b#c#d", "http - h - /%2F%20%C3%A9 a%7Cb c%23d"),
    ("http://h/%zz%2f", "http - h - /%25zz%252F - -"),
    ("http://h/a/./b/../c/.", "http - h - /a/c/ - -"),
    ("http://h/a/../..//b", "http - h - /b - -"),
    ("http://h/..", "http - h - / - -"),
    ("http:..", "http - - - - - -"),
    ("http:a/..", "http - - - - - -"),
    ("http:g", "http - - - /g - -"),
    ("http://h/.hidden/..x/a..", "http - h - /.hidden/..x/a.. - -"),
    ("http://h/x\0y", "http - h - /x%00y - -"),
    ("ftp://U ser@H/a/../b c?\u{e9}", "ftp U ser H - /a/../b c \u{e9} -"),
    ("mailto:me@x.org", "mailto - - - /me@x.org - -"),
    ("a.b://x", "- - a.b - //x - -"),
    ("http://EX_ample.%41%2d%e9", "http - ex_ample.a-%E9 - - - -"),
    ("http://b\u{fc}cher.de", "http - xn--bcher-kva.de - - - -"),
    ("http://fa\u{df}.DE", "http - xn--fa-hia.de - - - -"),
    ("http://1.2.3.4", "http - 1.2.3.4 - - - -"),
    ("http://[FE80::1%25eTh0]:80", "http - [fe80::1%eTh0] 80 - - -"),
    ("http://[FE80::1%eTh0]", "http - [fe80::1%eTh0] - - - -"),
    ("http://[::1%25]", "http - [::1%25] - - - -"),
    ("http://[::ffff:1.2.3.4]", "http - [::ffff:1.2.3.4] - - - -"),
    ("[::1]:80/x", "- - [::1] 80 /x - -"),
];

#[test]
fn url_text_is_parsed_into_its_components() {
    for (text, expected) in PARSED {
        assert_eq!(fields(&parse(text)), *expected, "{text:?}");
    }
}

/// Each row has a refused input, a word of the error message, and the offset in the error.
const REFUSED: &[(&str, &str, usize)] = &[
    ("http://h:65536", "port", 9),
    ("http://h:8x", "port", 10),
    ("http://h:80:80", "port", 11),
    ("http://h:\u{663}", "port", 9),
    ("http://user:secret@a b/", "host", 20),
    ("http://a\nb", "host", 8),
    ("http://a%0ab", "host", 8),
    ("http://a%zz", "host", 8),
    ("http://[::1", "host", 7),
    ("http://[::1]x", "host", 12),
    ("http://x[::1]", "host", 8),
    ("http://[1.2.3.4]", "host", 8),
    ("http://[v1.x]", "host", 8),
    ("http://[::1%]", "zone", 12),
    ("http://[::1%25%01]", "zone", 14),
    ("http://a.\u{e9}_", "IDNA", 9),
    ("http://\u{ff0f}", "IDNA", 7),
    ("ftp://h/a\nb", "path", 9),
    ("ftp://h/?\0", "query", 9),
    ("ftp://u\r@h", "userinfo", 7),
];

#[test]
fn errors_for_invalid_urls_state_the_byte_offset() {
    for (text, word, offset) in REFUSED {
        let error = Url::parse(text.as_bytes()).expect_err(text);
        assert_eq!(error.status(), Status::InvalidUrl, "{text:?}");
        assert!(error.message().contains(word), "{text:?}: {error}");
        assert_eq!(error.offset(), Some(*offset), "{text:?}: {error}");
        assert!(!error.message().contains("secret"));
    }
    let error = Url::parse(b"http://h/\xff").unwrap_err();
    assert_eq!((error.status(), error.offset()), (Status::InvalidUtf8, Some(9)));
    let label = format!("http://{}", "\u{e9}".repeat(60));
    assert!(
        Url::parse(label.as_bytes()).unwrap_err().message().contains("IDNA"),
        "63 bytes in ASCII are all DNS has"
    );
    let label = format!("http://{}", "\u{e9}".repeat(100_000));
    assert!(Url::parse(label.as_bytes()).unwrap_err().message().contains("too long"));
}

#[test]
fn the_authority_the_request_uri_and_the_url_text_are_normalised() {
    let url = parse("HTTP://u:p@H:80/a?b#c");
    let text = |part: Option<&CStr>| part.map(|part| part.to_str().unwrap().to_owned());
    assert_eq!(text(url.authority().unwrap()).unwrap(), "u:p@h:80");
    assert_eq!(text(url.netloc().unwrap()).unwrap(), "h:80");
    assert_eq!(url.request_uri().unwrap(), c"/a?b");
    assert_eq!(url.url().unwrap(), c"http://u:p@h:80/a?b#c");
    let url = parse("h?q");
    assert_eq!((url.request_uri().unwrap(), url.url().unwrap()), (c"/?q", c"h?q"));
    let url = parse("/x");
    assert_eq!((url.authority().unwrap(), url.netloc().unwrap(), url.url().unwrap()), (None, None, c"/x"));
    assert_eq!((parse("").request_uri().unwrap(), parse("").url().unwrap()), (c"/", c""));
    assert_eq!(parse("//u@h").authority().unwrap(), Some(c"u@h"));
    assert_eq!(parse("mailto:x").url().unwrap(), c"mailto:///x");
    assert!(!format!("{:?}", parse("http://u:secret@h/")).contains("secret"));
}

#[test]
fn the_text_of_a_url_parses_into_the_same_url() {
    for (text, _) in PARSED {
        let url = parse(text);
        let again = Url::parse(url.url().unwrap().to_bytes()).unwrap();
        assert_eq!(url, again, "{text:?}");
    }
}

/// All examples of RFC 3986 section 5.4.
const RFC_EXAMPLES: &[(&str, &str)] = &[
    ("g:h", "g:h"),
    ("g", "http://a/b/c/g"),
    ("./g", "http://a/b/c/g"),
    ("g/", "http://a/b/c/g/"),
    ("/g", "http://a/g"),
    ("//g", "http://g"),
    ("?y", "http://a/b/c/d;p?y"),
    ("g?y", "http://a/b/c/g?y"),
    ("#s", "http://a/b/c/d;p?q#s"),
    ("g#s", "http://a/b/c/g#s"),
    ("g?y#s", "http://a/b/c/g?y#s"),
    (";x", "http://a/b/c/;x"),
    ("g;x", "http://a/b/c/g;x"),
    ("g;x?y#s", "http://a/b/c/g;x?y#s"),
    ("", "http://a/b/c/d;p?q"),
    (".", "http://a/b/c/"),
    ("./", "http://a/b/c/"),
    ("..", "http://a/b/"),
    ("../", "http://a/b/"),
    ("../g", "http://a/b/g"),
    ("../..", "http://a/"),
    ("../../", "http://a/"),
    ("../../g", "http://a/g"),
    ("../../../g", "http://a/g"),
    ("../../../../g", "http://a/g"),
    ("/./g", "http://a/g"),
    ("/../g", "http://a/g"),
    ("g.", "http://a/b/c/g."),
    (".g", "http://a/b/c/.g"),
    ("g..", "http://a/b/c/g.."),
    ("..g", "http://a/b/c/..g"),
    ("./../g", "http://a/b/g"),
    ("./g/.", "http://a/b/c/g/"),
    ("g/./h", "http://a/b/c/g/h"),
    ("g/../h", "http://a/b/c/h"),
    ("g;x=1/./y", "http://a/b/c/g;x=1/y"),
    ("g;x=1/../y", "http://a/b/c/y"),
    ("g?y/./x", "http://a/b/c/g?y/./x"),
    ("g?y/../x", "http://a/b/c/g?y/../x"),
    ("g#s/./x", "http://a/b/c/g#s/./x"),
    ("g#s/../x", "http://a/b/c/g#s/../x"),
    ("http:g", "http:g"),
];

#[test]
fn references_are_resolved_as_in_the_examples_of_rfc_3986() {
    let base = parse("http://a/b/c/d;p?q");
    for (reference, expected) in RFC_EXAMPLES {
        let url = base.resolve(reference.as_bytes()).unwrap();
        assert_eq!(url.url().unwrap().to_str().unwrap(), *expected, "{reference:?}");
    }
}

#[test]
fn references_with_unusual_hosts_and_paths_are_resolved() {
    for (base, reference, expected) in [
        ("http://a", "g", "http://a/g"),
        ("http://a?x", "", "http://a?x"),
        ("http://a?x#f", "", "http://a?x"),
        ("http://a", "#", "http://a#"),
        ("http://u:p@a:81/b", "c", "http://u:p@a:81/c"),
        ("http://u:p@a:81/b", "//C:82", "http://c:82"),
        ("http://a/b", "https:", "https:"),
        ("http://a/b", "//", "http://"),
        ("http://a/b", "c d\u{e9}", "http://a/c%20d%C3%A9"),
        ("http://a/b", "x/..//y", "http://a//y"),
        ("http://a/b", "/..//y", "http://a//y"),
        ("http://a/b", "localhost:80", "localhost:80"),
        ("a.com/b", "c", "a.com/c"),
        ("/a/b", "../../c", "/c"),
        ("ftp://H/a", "./b c", "ftp://H/b c"),
        ("http://a/b", "x.y://Z/w", "x.y://Z/w"),
        ("http://[::1%2525]/", "a", "http://[::1%25]/a"),
        // A backslash in the reference ends the host. In the text of the resolved URL, a slash separates the path from
        // the host.
        ("http://a/b", "//c\\@d/", "http://c/%5C@d/"),
        ("http://a/b", "https://u@c:81\\.d?q", "https://u@c:81/%5C.d?q"),
        ("http://a/b", "http://\\d", "http:///%5Cd"),
        ("http://a/b", "//c\\..\\d/../e", "http://c/e"),
        ("ftp://a/b", "//c\\@d", "ftp://c/\\@d"),
    ] {
        let url = parse(base).resolve(reference.as_bytes()).unwrap();
        assert_eq!(url.url().unwrap().to_str().unwrap(), expected, "{base:?} {reference:?}");
    }
    let ftp = parse("ftp://h/aaaa/b");
    assert_eq!(ftp.resolve(b"x\n").unwrap_err().offset(), Some(1));
    assert_eq!(ftp.resolve(b"x\xff").unwrap_err().status(), Status::InvalidUtf8);
    assert_eq!(ftp.resolve(b"//h:x").unwrap_err().offset(), Some(4));
}

#[test]
fn same_origin_compares_scheme_host_and_port() {
    for (a, b, same) in [
        ("http://h", "http://h:80/x", true),
        ("https://H/a?b", "https://u:p@h:443", true),
        ("h", "http://h", true),
        ("http://h", "https://h", false),
        ("http://h:443", "https://h", false),
        ("http://h", "http://h:81", false),
        ("http://h", "http://h.", false),
        ("http://h", "http://g", false),
        ("ftp://H", "ftp://h", true),
        ("ftp://h", "ftp://h:21", false),
        ("/a", "/b", true),
        ("/a", "http://h/a", false),
    ] {
        assert_eq!(parse(a).same_origin(&parse(b)), same, "{a} {b}");
        assert_eq!(parse(b).same_origin(&parse(a)), same, "{b} {a}");
    }
}

#[test]
fn urls_built_from_parts_are_normalised_and_ambiguous_parts_are_refused() {
    let full = UrlParts {
        scheme: Some("HTTP"),
        auth: Some("u:p"),
        host: Some("H.com"),
        port: Some(8080),
        path: Some("a b"),
        query: Some("q"),
        fragment: Some("f"),
    };
    assert_eq!(Url::from_parts(full).unwrap().url().unwrap(), c"http://u:p@h.com:8080/a%20b?q#f");
    assert_eq!(Url::from_parts(UrlParts::default()).unwrap(), parse(""));
    let none = UrlParts::default();
    let good = [
        UrlParts { host: Some("localhost"), port: Some(80), path: Some("/x"), ..none },
        UrlParts { scheme: Some("http"), host: Some("[::1%25eth0]"), ..none },
        UrlParts { query: Some(""), ..none },
        UrlParts { scheme: Some("http"), path: Some("//x"), ..none },
        UrlParts { auth: Some("u:p"), host: Some("h"), ..none },
        UrlParts { host: Some("http"), port: Some(80), ..none },
        UrlParts { path: Some("//x"), ..none },
        UrlParts { scheme: Some("http"), host: Some(""), port: Some(1), ..none },
    ];
    for parts in good {
        let url = Url::from_parts(parts).unwrap();
        assert_eq!(url, Url::parse(url.url().unwrap().to_bytes()).unwrap());
    }
    let bad: &[(UrlParts, &str)] = &[
        (UrlParts { scheme: Some(""), host: Some("h"), ..none }, "scheme"),
        (UrlParts { scheme: Some("a.b"), host: Some("h"), ..none }, "scheme"),
        (UrlParts { scheme: Some("ht\ntp"), host: Some("h"), ..none }, "scheme"),
        (UrlParts { auth: Some("u/"), host: Some("h"), ..none }, "userinfo"),
        (UrlParts { auth: Some("u\r"), host: Some("h"), ..none }, "userinfo"),
        (UrlParts { auth: Some("u"), ..none }, "no host"),
        (UrlParts { port: Some(1), ..none }, "no host"),
        (UrlParts { host: Some("a@b"), ..none }, "host"),
        (UrlParts { host: Some("a/b"), ..none }, "host"),
        (UrlParts { host: Some("a:80"), ..none }, "host"),
        (UrlParts { host: Some("::1"), ..none }, "host"),
        (UrlParts { host: Some("[::1]:80"), ..none }, "host"),
        (UrlParts { scheme: Some("http"), host: Some(""), ..none }, "host changes"),
        (UrlParts { path: Some("/a?b"), ..none }, "path"),
        (UrlParts { path: Some("/a\n"), ..none }, "path"),
        (UrlParts { query: Some("a#b"), ..none }, "query"),
        (UrlParts { query: Some("a\0b"), ..none }, "query"),
        (UrlParts { fragment: Some("a\rb"), ..none }, "fragment"),
    ];
    for (parts, word) in bad {
        let error = Url::from_parts(*parts).expect_err(word);
        assert_eq!(error.status(), Status::InvalidUrl);
        assert!(error.message().contains(word), "{word}: {error}");
    }
}

#[test]
fn split_first_finds_the_earliest_delimiter() {
    type Row<'a> = (&'a str, &'a [&'a CStr], Option<(usize, usize, usize)>);
    const ROWS: &[Row<'_>] = &[
        ("foo/bar?baz", &[c"?", c"/", c"="], Some((3, 4, 1))),
        ("foo/bar?baz", &[c"1", c"2", c"3"], None),
        ("foo", &[], None),
        ("", &[c"a"], None),
        ("", &[c""], Some((0, 0, 0))),
        ("abc", &[c"x", c""], Some((0, 1, 1))),
        ("a::b", &[c"::"], Some((1, 2, 0))),
        ("aab", &[c"ab", c"a", c"aa"], Some((0, 1, 1))),
        ("x\u{e9}y", &[c"\u{e9}"], Some((1, 3, 0))),
        ("x/", &[c"/"], Some((1, 2, 0))),
    ];
    for (text, delimiters, expected) in ROWS {
        let found = split_first(text.as_bytes(), delimiters).unwrap();
        let found = found.map(|found| (found.before_end, found.after_start, found.delimiter));
        assert_eq!(found, *expected, "{text:?} {delimiters:?}");
    }
    assert_eq!(split_first(b"a\xff", &[]).unwrap_err().offset(), Some(1));
    assert_eq!(split_first(b"a", &[c"\xff"]).unwrap_err().status(), Status::InvalidUtf8);
}

#[test]
fn parse_as_http_adds_a_missing_scheme() {
    for (text, expected) in [
        ("google.com:80/mail", "http - google.com 80 /mail - -"),
        ("HTTPS://u@H", "https u h - - - -"),
        ("/x", "http - - - /x - -"),
        ("", "http - - - - - -"),
    ] {
        assert_eq!(fields(&Url::parse_as_http(text.as_bytes()).unwrap()), expected);
    }
}

/// The parser copies the input. A long host stays in place in the copy, and the path is written again after the copy.
#[test]
fn a_url_with_a_host_of_1200_bytes_is_parsed_into_its_components() {
    let host = "a.".repeat(600);
    for (path, expected) in [("/", "/"), ("/P%c3", "/P%C3"), ("/..", "/"), ("", "")] {
        for written in [host.clone(), host.to_ascii_uppercase()] {
            let url = parse(&format!("http://{written}{path}?q#f"));
            assert_eq!(fields(&url), format!("http - {host} - {expected} q f"));
            assert_eq!(url.url().unwrap().to_str().unwrap(), format!("http://{host}{expected}?q#f"));
        }
    }
    let url = parse(&format!("x://{host}/"));
    assert_eq!(fields(&url), format!("x - {host} - / - -"));
}

/// Incident R14: counts the bytes that the parser examines, for hostile inputs of many forms.
#[test]
fn url_parsing_examines_each_byte_at_most_four_times() {
    let check = |text: &str, least: usize| {
        let cost = measure(|| drop(Url::parse(text.as_bytes())));
        let start: String = text.chars().take(24).collect();
        assert!((least..=4 * text.len()).contains(&cost), "{start:?}…: {cost} of {}", text.len());
    };
    let hostile = [
        "@",
        "[",
        "]",
        "%",
        "%41",
        "%c3",
        "/../",
        "/./",
        "/a/..",
        ":",
        "\\",
        "\u{e9}",
        "?",
        "#",
        "a",
        "A",
        ".",
        "1",
        "|",
        "%4%41",
        "/%/../\u{e9}",
        "@[%%41/.././:\\\u{e9}",
    ];
    let places = [
        ("", ""),
        ("http://", "@a/"),
        ("http://u:", "@a/"),
        ("https://", "/"),
        ("http://[", "]/"),
        ("http://a:", "/"),
    ];
    let behind_host = [("http://a/", ""), ("http://a/", "?b#c"), ("http://a?", "#c"), ("http://a#", ""), ("x:/", "")];
    for (before, after) in places.into_iter().chain(behind_host) {
        for part in hostile {
            check(&format!("{before}{}{after}", part.repeat((1 << 13) / part.len())), 0);
        }
    }
    for part in ["@", "[", "%", "%41", "/../", "/./", ":", "\\", "\u{e9}"] {
        check(&format!("http://a/{}", part.repeat((1 << 20) / part.len())), 1 << 20);
    }
}
