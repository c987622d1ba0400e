use super::*;
use crate::tests::random::Random;

const READERS: [Reader; 3] = [Reader::Rfc3986, Reader::Whatwg, Reader::Netlib];

#[test]
fn url_reader_codes_convert_back_to_the_same_reader() {
    for reader in READERS {
        assert_eq!(Reader::from_code(reader as i32), Some(reader));
    }
    assert_eq!((Reader::from_code(-1), Reader::from_code(3)), (None, None));
}

#[test]
fn differences_between_url_readers_are_symmetric() {
    let mut all = 0;
    for text in
        ["http://a\\@b:1", "http:///h", "foo", "//h", "localhost:80", "HTTP://H:80", "http://h:65536", "a b://c"]
    {
        let readings = Readings::of(text.as_bytes()).unwrap();
        for a in READERS {
            assert_eq!(readings.differences(a, a), Differences::NONE, "{text:?}");
            for b in READERS {
                assert_eq!(readings.differences(a, b), readings.differences(b, a), "{text:?}");
                all |= readings.differences(a, b).0;
            }
        }
    }
    assert_eq!(all, 15, "each kind of difference occurs");
}

/// Texts for each component of a URL. The strict profile accepts the first third of each list.
const SCHEMES: &[&str] =
    &["http://", "https://", "HTTP://", "hTTps://", "http:/", "http:", "http:///", "ws://", "ftp://", "//", ""];
const USERINFO: &[&str] = &[
    "",
    "",
    "",
    "",
    "u@",
    "u:p@",
    "u:@",
    ":p@",
    ":@",
    "@",
    "u%40h:p%3A@",
    "a@b@",
    "good.example:80@",
    "u%2f@",
    "u;x=1:p@",
    "u\\@",
    "u[@",
    "%00@",
    "u:p:q@",
    "'\"@",
];
const HOSTS: &[&str] = &[
    "example.com",
    "EXAMPLE.com",
    "a.b-c.d_e",
    "localhost",
    "1.2.3.4",
    "127.0.0.1",
    "255.255.255.255",
    "0.0.0.0",
    "[::1]",
    "[1:2::3.4.5.6]",
    "[2001:DB8::A]",
    "[0:0:0:0:0:0:0:1]",
    "[::ffff:1.2.3.4]",
    "b\u{fc}cher.de",
    "B\u{dc}CHER.de",
    "xn--bcher-kva.de",
    "XN--BCHER-KVA.DE",
    "\u{65e5}\u{672c}.jp",
    "\u{5d0}\u{5d1}.com",
    "1a.\u{5d0}",
    "\u{645}\u{635}\u{631}",
    "fa\u{df}.de",
    "xn--fa-hia.de",
    "\u{ff41}.com",
    "a\u{3002}b",
    "a\u{ad}b",
    "xn--a",
    "xn--example-.org",
    "example.org.xn--",
    "0x7f.1",
    "0177.0.0.1",
    "127.1",
    "2130706433",
    "1.2.3.4.",
    "1.2.3.4.5",
    "a.1",
    "a.0x",
    "example.com.",
    "a..b",
    ".a",
    "-a",
    "a-",
    "ab--c",
    "r3---sn.x",
    "a,b",
    "a b",
    "a%62c",
    "a%2fb",
    "a%00b",
    "[::1%25eth0]",
    "[v1.x]",
    "[::1].p",
    "p.[::1]",
    "a\\b",
    "a\tb",
    "",
    "a|b",
    "a^b",
    "\u{3c3}\u{3c2}.gr",
    "\u{3a3}\u{3a3}.gr",
    "\u{130}.com",
    "\u{1e9e}.de",
    "\u{13a0}.com",
    "\u{2126}.com",
    "\u{fb01}.com",
    "bu\u{308}cher.de",
    "\u{1f4a9}.la",
    "\u{640}a.com",
    "\u{930}\u{93c}.in",
    "\u{378}.com",
    "\u{10d0}.ge",
    "\u{10a0}.ge",
    "\u{1c90}.ge",
    "\u{1f88}.gr",
    "\u{387}.gr",
    "l\u{b7}l.cat",
    "xn--ll-0ea.cat",
    "\u{ab70}.com",
];
const PORTS: &[&str] = &[
    "", "", "", "", ":80", ":443", ":1", ":65535", ":8080", ":", ":0", ":080", ":65536", ":a", ":80:80", ":-1",
    ": 80", ":8\t0",
];
const PATHS: &[&str] = &[
    "",
    "/",
    "/a",
    "/a/b/",
    "/a/../b",
    "/./a",
    "/a//../b",
    "/..",
    "/a/../../b",
    "/%2e%2e/a",
    "/%2E/",
    "/.%2e/x",
    "/a%2fb",
    "/@b",
    "/a:80",
    "//x",
    "/a;b",
    "/a/..//b",
    "/%",
    "/%41",
    "/%00",
    "\\@x",
    "/\u{e9}",
    "/a b",
    "/a\\..\\b",
    "/...",
    "/a/.../b/..",
];
const QUERIES: &[&str] = &["", "", "?", "?a=b", "?@x", "?a/../b", "?'", "?%00", "?[", "?a\\b", "?\u{e9}"];
const FRAGMENTS: &[&str] = &["", "", "", "#", "#a", "#@x", "#a#b", "#\\", "#%41"];

fn random_url(random: &mut Random) -> String {
    // Picks mostly from the first third of each list, whose texts are valid, so that the whole URL is often valid.
    let mut pick = |from: &[&'static str]| {
        let bound = if random.one_in(8) { from.len() } else { from.len() / 3 + 1 };
        from[random.below(bound)]
    };
    [SCHEMES, USERINFO, HOSTS, PORTS, PATHS, QUERIES, FRAGMENTS].map(&mut pick).concat()
}

/// Texts that replace a part of a valid URL, or are inserted into it.
const BITS: &[&str] = &[
    "@",
    ":",
    "/",
    "//",
    "\\",
    "?",
    "#",
    "[",
    "]",
    "%",
    "%2e",
    "%2f",
    "%40",
    "%00",
    "%5c",
    ".",
    "..",
    "/..",
    "-",
    "_",
    "0",
    "0x",
    "1",
    "9",
    "a",
    "z",
    "A",
    "xn--",
    " ",
    "\t",
    "\n",
    "\0",
    "\u{7f}",
    "\u{e9}",
    "\u{ad}",
    "\u{3002}",
    "\u{ff0f}",
    "\u{ff11}",
    "\u{661}",
    "\u{301}",
    "\u{200d}",
    "\u{5d0}",
    "\u{df}",
    "\u{130}",
    "\u{1f600}",
    "&",
    ";",
    "=",
    ",",
    "'",
    "|",
    "^",
    "~",
    "*",
    "+",
    "$",
    "http://",
    "::",
    "::1",
    "1.",
    ".1",
    "80",
    "65536",
];

fn mutated_url(random: &mut Random) -> String {
    let mut text = random_url(random);
    for _ in 0..=random.below(3) {
        let boundaries: Vec<usize> = (0..=text.len()).filter(|&at| text.is_char_boundary(at)).collect();
        let which = random.below(boundaries.len());
        let at = boundaries[which];
        let end = match random.below(2) {
            0 => at,
            _ => boundaries.get(which + 1).copied().unwrap_or(at),
        };
        let bit = if random.one_in(5) { "" } else { random.pick(BITS) };
        text.replace_range(at..end, bit);
    }
    text
}

/// Decodes percent-encodings, so that texts that are encoded differently compare equal.
fn decoded(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut i = 0;
    while let Some(&byte) = text.as_bytes().get(i) {
        match percent_decoded(text.as_bytes(), i) {
            Some(byte) => (bytes.push(byte), i += 3).1,
            None => (bytes.push(byte), i += 1).1,
        }
    }
    bytes
}

/// If the strict profile accepts a text, all three readers find the scheme, host and port that the strict profile
/// finds.
#[test]
fn all_url_readers_agree_on_text_that_the_strict_profile_accepts() {
    let mut random = Random(0x006e_6574_6c69_6221);
    let (mut accepted, mut differing) = (0, 0);
    for round in 0..240_000 {
        let text = if round % 3 == 0 { random_url(&mut random) } else { mutated_url(&mut random) };
        let strict = Url::parse_strict(text.as_bytes());
        // Of the refused texts, only every sixteenth is passed to the parsers, to verify that the parsers can differ.
        if strict.is_err() && round % 16 != 0 {
            continue;
        }
        let readings = Readings::of(text.as_bytes()).unwrap();
        let Ok(url) = strict else {
            differing += usize::from(readings.differences(Reader::Rfc3986, Reader::Whatwg) != Differences::NONE);
            continue;
        };
        accepted += 1;
        for reader in READERS {
            let reading = readings.get(reader).unwrap_or_else(|| panic!("{text:?}: {reader:?} refuses"));
            assert_eq!(reading.scheme.as_deref(), url.scheme(), "{text:?}: {reader:?}");
            assert!(same_host(reading.host.as_deref(), url.host()), "{text:?}: {reader:?}: {:?}", reading.host);
            assert!(!url.host().unwrap().is_empty(), "{text:?}");
            assert_eq!(reading.port, url.effective_port().map(u32::from), "{text:?}: {reader:?}");
            assert_eq!(readings.differences(reader, Reader::Rfc3986), Differences::NONE, "{text:?}: {reader:?}");
        }
        // The url crate, a WHATWG parser, finds the path, query, fragment, user and password of the parsed URL.
        let other = url::Url::parse(&text).unwrap();
        let own = |part: Option<&CStr>| decoded(part.unwrap_or_default().to_str().unwrap());
        // In the url crate ".." never removes a drive letter such as "a:". In the WHATWG standard this rule applies
        // only to file URLs.
        if !text.contains("..") || text.matches(":/").count() == 1 {
            assert_eq!(
                own(Some(url.request_uri().unwrap())),
                decoded(&other[url::Position::BeforePath..url::Position::AfterQuery]),
                "{text:?}"
            );
        }
        assert_eq!(own(url.fragment()), decoded(other.fragment().unwrap_or("")), "{text:?}");
        assert_eq!(url.username().unwrap().unwrap_or_default().to_bytes(), decoded(other.username()), "{text:?}");
        assert_eq!(
            url.password().unwrap().unwrap_or_default().to_bytes(),
            decoded(other.password().unwrap_or("")),
            "{text:?}"
        );
        // The strict profile also accepts the text of the parsed URL, and parses it into the same URL.
        assert_eq!(Url::parse_strict(url.url().unwrap().to_bytes()).unwrap(), url, "{text:?}");
    }
    assert!(accepted > 20_000 && differing > 2_000, "{accepted} accepted, {differing} read differently");
    println!("{accepted} accepted, {differing} read differently");
}
