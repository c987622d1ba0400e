//! Tests properties that hold for every URL, with random texts from fixed seeds.

use std::ffi::CStr;

use crate::tests::random::Random;
use crate::url::{Component, Url, UrlParts};

const STARTS: &[&str] = &[
    "http://",
    "https://",
    "HTTP://",
    "//",
    "",
    "",
    "ftp://",
    "x://",
    "a.b://",
    "http:",
    "x:",
    "mailto:",
    "/",
    "////",
    "h:",
    "localhost:",
    "user:pw@",
];
const HOSTS: &[&str] = &[
    "h",
    "Ex.com",
    "1.2.3.4",
    "0X7F.1",
    "[::1]",
    "[FE80::1%25e]",
    "[::1%252500]",
    "[::1%e%2f]",
    "\u{fc}.de",
    "",
    "h%41",
    "http",
    "a:80",
    "a:",
    ":0",
];
const PIECES: &[&str] = &[
    "a", "B", "/", "//", "/./", "/../", "/..//", "..", ".", "?", "#", "@", ":", ":80", "%", "%41", "%2f", "%zz",
    "\\", " ", "\t", "\n", "\r", "\0", "[", "]", "\u{e9}", "\u{3002}", "=", "&", ";", "'", "|", "xn--", "http:",
    "u:p@",
];

fn random_pieces(random: &mut Random, most: usize) -> String {
    (0..random.below(most + 1)).map(|_| random.pick(PIECES)).collect()
}

fn random_text(random: &mut Random) -> String {
    if random.one_in(4) {
        return random_pieces(random, 9);
    }
    let mut text = random.pick(STARTS).to_owned();
    if random.one_in(3) {
        text += &random_pieces(random, 2);
        text.push('@');
    }
    text += random.pick(HOSTS);
    for before in ["/", "?", "#"] {
        if random.one_in(2) {
            text += before;
            text += &random_pieces(random, 5);
        }
    }
    text
}

fn components(url: &Url) -> Vec<Option<&[u8]>> {
    Component::ALL.iter().map(|&component| url.part(component)).collect()
}

/// Returns whether two URLs have the same components. An empty host without userinfo and port equals an absent host,
/// because both URLs have the same text.
fn same(a: &Url, b: &Url) -> bool {
    let nowhere = |url: &Url| url.auth().is_none() && url.port().is_none() && url.host().is_some_and(CStr::is_empty);
    let host = Component::ALL.iter().position(|&component| component == Component::Host).unwrap();
    let parts = |url: &Url| {
        let mut parts: Vec<Option<Vec<u8>>> =
            components(url).into_iter().map(|part| part.map(<[u8]>::to_vec)).collect();
        if nowhere(url) {
            parts[host] = None;
        }
        (parts, url.port())
    };
    parts(a) == parts(b)
}

#[test]
fn random_urls_round_trip_through_text_and_components() {
    let mut random = Random(0x75_726c);
    let (mut parsed, mut empty) = (0, 0);
    for _ in 0..60_000 {
        let text = random_text(&mut random);
        let Ok(url) = Url::parse(text.as_bytes()) else { continue };
        parsed += 1;
        let written = url.url().unwrap();
        let again = Url::parse(written.to_bytes()).unwrap_or_else(|error| panic!("{text:?} as {written:?}: {error}"));
        assert!(same(&url, &again), "{text:?} as {written:?}: {url:?} {again:?}");
        assert_eq!(again.url().unwrap(), written, "{text:?}");
        assert!(url.request_uri().unwrap().to_bytes().starts_with(b"/"), "{text:?}");
        for part in components(&url).into_iter().flatten() {
            assert!(!part.iter().any(|byte| b"\r\n\0".contains(byte)), "{text:?}");
        }
        if url != again {
            empty += 1;
            continue;
        }
        // `from_parts`, like `parse`, treats "%25" as the prefix of a zone. So the zone "2500" would have to be passed
        // as "%252500".
        if url.host().is_some_and(|host| host.to_bytes().starts_with(b"[") && host.to_str().unwrap().contains("%25"))
        {
            continue;
        }
        let part = |part: Option<&'_ CStr>| part.map(|part| part.to_str().unwrap().to_owned());
        let owned = [url.scheme(), url.auth(), url.host(), url.path(), url.query(), url.fragment()].map(part);
        let [scheme, auth, host, path, query, fragment] = owned.each_ref().map(Option::as_deref);
        let built = Url::from_parts(UrlParts { scheme, auth, host, port: url.port(), path, query, fragment });
        assert_eq!(built.unwrap_or_else(|error| panic!("{text:?}: {error}")), url, "{text:?}");
    }
    assert!(parsed > 30_000 && empty > 100, "{parsed} parsed, {empty} with an empty host");
}

#[test]
fn random_resolved_urls_have_a_request_target_that_begins_with_a_slash() {
    let mut random = Random(0x7265_736f);
    let mut resolved = 0;
    for _ in 0..30_000 {
        let (base, reference) = (random_text(&mut random), random_text(&mut random));
        let Ok(base) = Url::parse(base.as_bytes()) else { continue };
        let Ok(url) = base.resolve(reference.as_bytes()) else { continue };
        resolved += 1;
        assert!(url.request_uri().unwrap().to_bytes().starts_with(b"/"), "{base:?} {reference:?}");
        for part in components(&url).into_iter().flatten() {
            assert!(!part.iter().any(|byte| b"\r\n\0".contains(byte)), "{base:?} {reference:?}");
        }
        // An empty reference gives the same URL without its fragment.
        let itself = url.resolve(b"").unwrap();
        assert_eq!((itself.query(), itself.host(), itself.port()), (url.query(), url.host(), url.port()));
        assert_eq!(itself.path().unwrap_or_default(), url.path().unwrap_or_default());
        assert!(itself.fragment().is_none());
    }
    assert!(resolved > 10_000, "{resolved}");
}
