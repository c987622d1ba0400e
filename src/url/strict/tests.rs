use super::*;
use crate::parse_cost::tests::measure;
use crate::status::Status;
use crate::url::readings::as_rfc3986;
use crate::url::{MAX_LENGTH, Readings};

/// Each row has an input that the strict profile accepts, and the text of the resulting URL.
const ACCEPTED: &[(&str, &str)] = &[
    ("http://example.com", "http://example.com"),
    ("HTTPS://Example.COM:8443/a/./b/../c?q#f", "https://example.com:8443/a/c?q#f"),
    ("http://user:pass@h/", "http://user:pass@h/"),
    ("http://u%40x:p%3A%2f@h", "http://u%40x:p%3A%2F@h"),
    ("http://:token@h", "http://:token@h"),
    ("http://a_b.localhost:65535", "http://a_b.localhost:65535"),
    ("http://r3---sn-5hne6n7l.example.com/", "http://r3---sn-5hne6n7l.example.com/"),
    ("http://0.0.0.0", "http://0.0.0.0"),
    ("http://255.249.100.10:1/", "http://255.249.100.10:1/"),
    ("http://1.2.3.4.example", "http://1.2.3.4.example"),
    ("http://0xg.example", "http://0xg.example"),
    ("http://1a", "http://1a"),
    ("http://[::1]:80/", "http://[::1]:80/"),
    ("http://[2001:DB8::1]", "http://[2001:db8::1]"),
    ("http://[::ffff:1.2.3.4]/", "http://[::ffff:1.2.3.4]/"),
    ("http://b\u{fc}cher.DE/", "http://xn--bcher-kva.de/"),
    ("http://B\u{dc}CHER.de/", "http://xn--bcher-kva.de/"),
    ("http://XN--bcher-KVA.de/", "http://xn--bcher-kva.de/"),
    ("http://xn--fa-hia.de", "http://xn--fa-hia.de"),
    ("http://\u{65e5}\u{672c}\u{8a9e}.jp", "http://xn--wgv71a119e.jp"),
    ("http://h?", "http://h?"),
    ("http://h#", "http://h#"),
    ("http://h/?a=b&c=d/?:@", "http://h/?a=b&c=d/?:@"),
    ("http://h/a%2fb%5c", "http://h/a%2Fb%5C"),
    ("http://h//a//", "http://h//a//"),
    ("http://h/a/../b/..", "http://h/"),
    ("http://h/...", "http://h/..."),
    ("http://h/%2e%2e%2e/%2ea", "http://h/%2E%2E%2E/%2Ea"),
    ("http://h/a@b:c;d=e,f!$&'()*+~-._", "http://h/a@b:c;d=e,f!$&'()*+~-._"),
    ("http://h/?%0d%0a%00", "http://h/?%0D%0A%00"),
];

#[test]
fn the_strict_profile_accepts_unambiguous_urls() {
    for (text, expected) in ACCEPTED {
        let url = Url::parse_strict(text.as_bytes()).unwrap_or_else(|error| panic!("{text:?}: {error}"));
        assert_eq!(url.url().unwrap().to_str().unwrap(), *expected, "{text:?}");
        assert_eq!(url, Url::parse(text.as_bytes()).unwrap(), "{text:?}: the same as by best effort");
    }
}

fn refused(text: &str) -> Error {
    match Url::parse_strict(text.as_bytes()) {
        Ok(url) => panic!("{text:?} is accepted as {url:?}"),
        Err(error) => {
            assert_eq!(error.status(), Status::InvalidUrl, "{text:?}: {error}");
            assert!(!error.message().contains("secret"), "{text:?}: {error}");
            error
        }
    }
}

fn refuses(rows: &[(&str, &str, usize)]) {
    for (text, words, offset) in rows {
        let error = refused(text);
        assert!(error.message().contains(words), "{text:?}: {error}");
        assert_eq!(error.offset(), Some(*offset), "{text:?}: {error}");
    }
}

/// Each row has a refused input, words of the error message, and the offset in the error.
#[test]
fn errors_of_the_strict_profile_state_the_byte_offset() {
    refuses(&[
        ("", "no scheme", 0),
        ("example.com", "no scheme", 0),
        ("//example.com/", "no scheme", 0),
        ("/a", "no scheme", 0),
        ("?http://h", "no scheme", 0),
        ("localhost:80", "neither http nor https", 0),
        ("ftp://h", "neither http nor https", 0),
        ("file:///etc/passwd", "neither http nor https", 0),
        ("javascript:alert(1)", "neither http nor https", 0),
        ("httpx://h", "neither http nor https", 0),
        (" http://h", "the scheme has a character", 0),
        ("ht\ttp://h", "the scheme has a character", 2),
        ("\u{ff48}ttp://h", "the scheme has a character", 0),
        ("http:h", "not followed by \"://\"", 4),
        ("http:/h", "not followed by \"://\"", 4),
        ("http:\\\\h", "not followed by \"://\"", 4),
        ("http://", "the host is empty", 7),
        ("http:///h", "the host is empty", 7),
        ("http://?h", "the host is empty", 7),
        ("http://:80", "the host is empty", 7),
        ("http://u@", "the host is empty", 9),
        ("http://u@:80", "the host is empty", 9),
        ("http://@h", "the userinfo is empty", 7),
        ("http://a@b@h", "a second \"@\"", 10),
        ("http://secret[@h", "the userinfo has a character", 13),
        ("http://secret]@h", "the userinfo has a character", 13),
        ("http://secret%@h", "the userinfo has a \"%\"", 13),
        ("http://secret%zz@h", "the userinfo has a \"%\"", 13),
        ("http://secret%0d@h", "the userinfo has an encoded control character", 13),
        ("http://secret%00@h", "the userinfo has an encoded control character", 13),
        ("http://s\u{e9}@h", "the userinfo has a character", 8),
        ("http://a%62", "the host has a character", 8),
        ("http://a%2fb", "the host has a character", 8),
        ("http://a%00", "the host has a character", 8),
        ("http://a,b", "the host has a character", 8),
        ("http://$(a)", "the host has a character", 7),
        ("http://a~b", "the host has a character", 8),
        ("http://a..b", "an empty label", 9),
        ("http://.a", "an empty label", 7),
        ("http://example.com.", "an empty label", 19),
        ("http://-a", "a hyphen", 7),
        ("http://b.a-.c", "a hyphen", 9),
        ("http://h:", "the port is empty", 9),
        ("http://h:0", "the port is 0", 9),
        ("http://h:080", "the port begins with a zero", 9),
        ("http://h:00", "the port is 0", 9),
        ("http://h:65536", "the port is larger", 9),
        ("http://h:99999999999999999999", "the port is larger", 9),
        ("http://h:8a", "the port has a character", 10),
        ("http://h:+8", "the port has a character", 9),
        ("http://h:80:80", "the port has a character", 11),
        ("http://h:\u{668}", "the port has a character", 9),
        ("http://h/..", "leads above its root", 9),
        ("http://h/a/../../b", "leads above its root", 14),
        ("http://h/%2e%2E/a", "encoded dot segment", 9),
        ("http://h/a/.%2e", "encoded dot segment", 11),
        ("http://h/%2e", "encoded dot segment", 9),
        ("http://h/a%", "the path has a \"%\"", 10),
        ("http://h/a%4", "the path has a \"%\"", 10),
        ("http://h/a%4g", "the path has a \"%\"", 10),
        ("http://h/a%00", "the path has an encoded control character", 10),
        ("http://h/[a]", "the path has a character", 9),
        ("http://h/\u{e9}", "the path has a character", 9),
        ("http://h?a[]=1", "the query has a character", 10),
        ("http://h?%", "the query has a \"%\"", 9),
        ("http://h#a#b", "the fragment has a character", 10),
        ("http://h#\\", "the fragment has a character", 9),
    ]);
    for byte in b"\"<>\\^`{|} \x7f\x01" {
        for (text, at) in
            [("http://us:h@h/", 9), ("http://hh/", 8), ("http://h/a", 10), ("http://h?a", 9), ("http://h#a", 9)]
        {
            let text = format!("{}{}{}", &text[..at], char::from(*byte), &text[at..]);
            assert_eq!(refused(&text).offset(), Some(at), "{text:?}");
        }
    }
    let error = Url::parse_strict(b"http://h/\xff").unwrap_err();
    assert_eq!((error.status(), error.offset()), (Status::InvalidUtf8, Some(9)));
}

#[test]
fn host_names_and_labels_longer_than_dns_allows_are_refused() {
    let label = "a".repeat(63);
    let name = [&label[..], &label, &label, &label[..61]].join(".");
    assert_eq!(name.len(), 253);
    Url::parse_strict(format!("http://{name}/").as_bytes()).unwrap();
    for long in [format!("http://{name}a/"), format!("http://{label}a/"), format!("http://{}", "a".repeat(1 << 20))] {
        assert!(refused(&long).message().contains("longer than a host name can be"));
    }
    // The ASCII form of a label with 56 letters "é" has 63 bytes; with 57 letters "é", the ASCII form has 64 bytes.
    let international = |n: usize| format!("http://{}", "\u{e9}".repeat(n));
    let longest = (1..100).filter(|&n| Url::parse_strict(international(n).as_bytes()).is_ok()).max().unwrap();
    assert_eq!(Url::parse_strict(international(longest).as_bytes()).unwrap().host().unwrap().count_bytes(), 63);
    refused(&international(longest + 1));
}

/// Names that IDNA maps or shortens, or that IDNA 2003 and 2008 convert differently.
#[test]
fn host_names_that_idna_maps_or_converts_ambiguously_are_refused() {
    refuses(&[
        ("http://\u{ff45}xample.com", "IDNA", 7),
        ("http://example\u{3002}com", "IDNA", 7),
        ("http://example\u{ff0e}com", "IDNA", 7),
        ("http://a.exa\u{ad}mple", "IDNA", 9),
        ("http://\u{2460}.com", "IDNA", 7),
        ("http://\u{ff11}\u{ff12}\u{ff17}.0.0.1", "IDNA", 7),
        ("http://a\u{ff0f}b", "IDNA", 7),
        ("http://\u{2100}", "IDNA", 7),
        ("http://\u{212a}.com", "IDNA", 7),
        // A decomposed letter: the name is not in NFC.
        ("http://bu\u{308}cher.de", "IDNA", 7),
        // IDNA 2003 and 2008 convert these names differently.
        ("http://fa\u{df}.de", "IDNA", 7),
        ("http://x.\u{3c3}\u{3c2}", "IDNA", 9),
        ("http://x.\u{3a3}\u{3a3}", "IDNA", 9),
        ("http://a\u{200d}b", "IDNA", 7),
        // IDNA writes Cherokee letters in capitals, so the result differs from the Unicode lower case.
        ("http://\u{13a0}.com", "IDNA", 7),
        ("http://\u{ab70}.com", "IDNA", 7),
        ("http://\u{200b}a", "IDNA", 7),
        // A right-to-left label next to a label that begins with a digit.
        ("http://1a.\u{5d0}\u{5d1}", "IDNA", 7),
        ("http://\u{202e}moc", "IDNA", 7),
    ]);
}

/// Incident R10: in authorities with `\@` and similar text, different parsers find different hosts.
#[test]
fn authorities_that_parsers_split_differently_are_refused() {
    for text in [
        "http://good.example\\@evil.example/",
        "http://evil.example\\good.example/",
        "http://evil.example\\.good.example/",
        "http://good.example\\\\@evil.example",
        "http://good.example@evil.example@good.example/",
        "http://good.example%5c@evil.example\\@x",
        "http://good.example\t@evil.example",
        "http://good.example @evil.example",
        "http://evil.example%2f@good.example:80@x",
        "http:\\\\evil.example",
        "http:/\\evil.example",
        "http:/evil.example",
        "http:evil.example",
        "http:///evil.example",
        "http:////evil.example",
        "http://evil.example\u{ff20}good.example",
        "http://evil.example\u{ff0f}.good.example",
        "http://evil.example\u{2215}good.example:x@",
        "http://evil.example%2fgood.example",
        "http://evil.example%00.good.example",
        "http://evil.example%23.good.example",
        "http://good.example:80@evil.example:80:80",
        "http://1.1.1.1 &@2.2.2.2# @3.3.3.3/",
        "http://localhost#@evil.example:x\\",
        "//evil.example",
        "\\\\evil.example",
        "///evil.example",
    ] {
        refused(text);
    }
}

/// Valid URLs of every form, into which the test inserts bytes.
const SEEDS: [&str; 50] = [
    "http://a",
    "http://a/",
    "https://a.b/",
    "http://a:80",
    "http://a:80/",
    "http://a?",
    "http://a#",
    "http://a/?#",
    "http://u@a",
    "http://u:p@a",
    "http://u:p@a:1/",
    "http://:p@a/",
    "http://u%40:p%3a@a/",
    "http://1.2.3.4",
    "http://1.2.3.4:80/x",
    "http://[::1]",
    "http://[::1]:80/",
    "http://[1:2:3:4:5:6:7:8]/x",
    "http://u@[::1]:1/?q",
    "http://[::ffff:1.2.3.4]/",
    "HTTP://A.B/C",
    "HTTPS://EXAMPLE.COM",
    "http://localhost",
    "http://localhost:8080/a",
    "http://a/b/c/d",
    "http://a/b/../c",
    "http://a/./b/.",
    "http://a//b//",
    "http://a/%41%2f",
    "http://a/%e9/x",
    "http://a/b;c=d/e,f",
    "http://a/@:!$&'()*+,;=",
    "http://a/~x-._",
    "http://a?b=c",
    "http://a?b=c&d=e",
    "http://a/?/?",
    "http://a/?%20+%20",
    "http://a/b?c#d",
    "http://a#b/c?d",
    "http://a/#%41",
    "http://xn--bcher-kva.de/",
    "http://b\u{fc}cher.de/",
    "http://\u{65e5}\u{672c}.jp/x",
    "http://a_b.c-d.e/",
    "http://a.b.c.d.e.f/",
    "http://0a.b",
    "https://example.com:65535/p?q#f",
    "https://u:p@example.com:443/p/q;r?s=t&u=v#w",
    "http://www.example.org/a.b",
    "https://a.example/download?file=x.txt",
];

/// Incident R11: inserts each control byte at every position of valid URLs.
#[test]
fn control_bytes_at_any_position_of_a_url_are_refused() {
    let (mut refusals, bytes) = (0, (0..=b' ').chain([0x7f]));
    for seed in SEEDS {
        Url::parse_strict(seed.as_bytes()).unwrap_or_else(|error| panic!("{seed:?}: {error}"));
        for at in (0..=seed.len()).filter(|&at| seed.is_char_boundary(at)) {
            for byte in bytes.clone() {
                let text = format!("{}{}{}", &seed[..at], char::from(byte), &seed[at..]);
                assert_eq!(refused(&text).offset().map(|offset| offset <= at), Some(true), "{text:?}");
                refusals += 1;
            }
        }
    }
    assert_eq!(refusals, 29_750);
}

/// Incident R12: a bracket inside a host name, or text next to a bracketed host, is refused.
#[test]
fn brackets_that_do_not_enclose_the_whole_host_are_refused() {
    refuses(&[
        ("http://p.[::1]/", "the host has a character", 9),
        ("http://[::1].p/", "has a character after its closing bracket", 12),
        ("http://[v1.x]y", "contain no valid IPv6 address", 8),
        ("http://[v1.x]", "contain no valid IPv6 address", 8),
        ("http://[::1", "bracket is not closed", 7),
        ("http://[]", "contain no valid IPv6 address", 8),
        ("http://[[::1]]", "contain no valid IPv6 address", 8),
        ("http://[::1]]", "has a character after its closing bracket", 12),
        ("http://[::1][::2]", "has a character after its closing bracket", 12),
        ("http://[::1]x:80", "has a character after its closing bracket", 12),
        ("http://[1.2.3.4]", "contain no valid IPv6 address", 8),
        ("http://[example.com]", "contain no valid IPv6 address", 8),
        ("http://[::1%25eth0]", "contain no valid IPv6 address", 8),
        ("http://[fe80::1%eth0]", "contain no valid IPv6 address", 8),
        ("http://[::ffff:0127.0.0.1]", "contain no valid IPv6 address", 8),
        ("http://a[b]", "the host has a character", 8),
        ("http://a]", "the host has a character", 8),
        ("http://[a@[::1]", "the userinfo has a character", 7),
        ("http://[::1]@h", "the userinfo has a character", 7),
    ]);
}

/// Incident R14: counts the bytes that the checks examine, for hostile inputs of many forms.
#[test]
fn strict_and_rfc_3986_parsing_examine_each_byte_at_most_four_times() {
    let check_one = |text: &str, least: usize| {
        let cost = measure(|| drop(check(text)));
        let start = text.get(..12).unwrap_or_default();
        assert!((least..=4 * text.len()).contains(&cost), "{start:?}…: {cost} of {}", text.len());
        let cost = measure(|| drop(as_rfc3986(text)));
        assert!(cost <= 4 * text.len(), "{start:?}…: {cost} of {}", text.len());
    };
    for hostile in ["@", "[", "%"] {
        check_one(&format!("http://{}", hostile.repeat(1 << 20)), 1 << 20);
    }
    let tails = [
        "@", "[", "]", "%", "%41", "a", ":", "a.", "-", "/", "/..", "/a/..", "\\", "?", "#", "\u{e9}", "xn--a.", "1.",
    ];
    for before in ["", "http://", "http://a/", "http://u:", "http://a?", "http://a#", "http://["] {
        for tail in tails {
            for after in ["", "@a/", "]/"] {
                check_one(&format!("{before}{}{after}", tail.repeat((1 << 14) / tail.len())), 0);
            }
        }
    }
    let accepted = ["a/../", "b", "c"].map(|part| part.repeat(1 << 16));
    let accepted = format!("http://u:p@h:1/{}?{}#{}", accepted[0], accepted[1], accepted[2]);
    check_one(&accepted, accepted.len());
    check(&accepted).unwrap();
}

/// Incident R14: a text longer than the maximum is refused.
#[test]
fn url_text_longer_than_16_mib_is_refused() {
    let mut text = b"http://h/".to_vec();
    text.resize(MAX_LENGTH, b'a');
    assert!(Url::parse_strict(&text).is_ok() && Readings::of(&text).is_ok());
    text.push(b'a');
    let errors = [Url::parse_strict(&text).err(), Url::parse(&text).err(), Readings::of(&text).err()];
    for error in errors.map(Option::unwrap) {
        assert_eq!((error.status(), error.offset()), (Status::InvalidUrl, Some(MAX_LENGTH)));
    }
}

/// Incident R15: an "xn--" label is refused unless it is the ASCII form of its own Unicode form.
#[test]
fn xn_labels_that_do_not_round_trip_are_refused() {
    refuses(&[
        ("http://xn--example-.org", "hyphen", 7),
        ("http://example.org.xn--", "hyphen", 19),
        ("http://xn--/", "hyphen", 7),
        ("http://xn--a", "IDNA", 7),
        ("http://a.xn--99999999999", "IDNA", 9),
        ("http://xn--ls8h=", "the host has a character", 15),
        ("http://XN--example-.org", "hyphen", 7),
        ("http://xn--a-ecp.ru", "IDNA", 7),
        ("http://xn--bcher-kva.xn--0", "IDNA", 21),
    ]);
    // IDNA refuses the labels of the first two rows even if hyphens at the end of a label are allowed.
    assert_eq!((unambiguous_ascii("xn--example-.org"), unambiguous_ascii("example.org.xn--")), (Err(0), Err(12)));
    for name in ["xn--bcher-kva.de", "xn--wgv71a119e.jp", "xn--p1ai", "a.xn--fiqs8s"] {
        Url::parse_strict(format!("http://{name}").as_bytes()).unwrap();
    }
}

/// Incident R16: a host that some parser treats as an IPv4 address is refused unless it consists of four decimal
/// numbers without leading zeros.
#[test]
fn ipv4_addresses_that_are_not_four_decimal_numbers_are_refused() {
    for host in [
        "0177.0.0.1",
        "127.1",
        "2130706433",
        "0x7f.1",
        "1.2.3.4.",
        "127.0.0.01",
        "127.0.0.0x1",
        "0x7f000001",
        "0x",
        "a.0x",
        "1",
        "a.1",
        "1.2.3",
        "1.2.3.4.5",
        "256.1.1.1",
        "1.2.3.256",
        "1.2.3.999999999999",
        "00.0.0.0",
        "0x7f.0.0.1",
        "0X7F.1",
        "example.0xff",
        "\u{ff11}.2.3.4",
        "1.2.3.\u{ff14}",
        "1\u{3002}2\u{3002}3\u{3002}4",
        "\u{2460}.2.3.4",
        "%31.2.3.4",
        "1.2.3.4%20",
        "1.2.3.-4",
    ] {
        refused(&format!("http://{host}"));
        refused(&format!("https://u@{host}:8080/x"));
    }
    for host in ["127.0.0.1", "0.0.0.0", "255.255.255.255", "1.2.3.4a", "0x7g.b0", "1.2.3.4.a"] {
        Url::parse_strict(format!("http://{host}/").as_bytes()).unwrap();
    }
}
