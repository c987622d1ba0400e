//! Generates the URLs whose parsing is timed: three corpora from one seed, so the URLs are the same on every machine.
//!
//! The URLs resemble real URLs, but contain no text that RFC 3986 and the WHATWG standard treat differently
//! (backslashes, stray percent signs, "%2e" as a dot, IPv4 addresses as one number), because parsers of the two
//! standards would do different work.

use crate::rng::Rng;
use crate::words::{ESCAPES, EXTENSIONS, IDN_HOSTS, KEYS, RAW, SITES, SUBDOMAINS, TLDS, WORDS};

const COUNT: usize = 20_000;
const SEED: u64 = 0x6E65_746C_6962;

/// A corpus of URLs that are contiguous in memory, as in a program that reads URLs from a file.
pub struct Corpus {
    pub name: &'static str,
    text: String,
    ends: Vec<usize>,
}

impl Corpus {
    pub fn all() -> Vec<Corpus> {
        vec![Corpus::new("realistic mix", realistic), Corpus::documentation(), Corpus::new("file paths", file_path)]
    }

    pub fn documentation() -> Corpus {
        Corpus::new("documentation", documentation)
    }

    fn new(name: &'static str, url: fn(&mut Rng) -> String) -> Corpus {
        let mut rng = Rng::new(SEED);
        let mut corpus = Corpus { name, text: String::new(), ends: Vec::with_capacity(COUNT) };
        for _ in 0..COUNT {
            corpus.text.push_str(&url(&mut rng));
            corpus.ends.push(corpus.text.len());
            corpus.text.push('\0');
        }
        corpus
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the mean length of the URLs, not counting the NUL after each URL.
    pub fn mean_length(&self) -> f64 {
        (self.text.len() - self.len()) as f64 / self.len() as f64
    }

    /// Returns the URLs. In memory a NUL follows each URL, because libcurl's parser needs a terminating NUL.
    pub fn urls(&self) -> impl Iterator<Item = &str> {
        let mut start = 0;
        self.ends.iter().map(move |&end| {
            let url = &self.text[start..end];
            start = end + 1;
            url
        })
    }
}

/// Generates a URL like those that a crawler or a proxy sees.
fn realistic(rng: &mut Rng) -> String {
    // Schemes other than http and https are rare in real URLs. For them, netlib has no default ports and no
    // normalisation rules.
    let other_scheme = rng.chance(1.0);
    let mut url = if other_scheme {
        rng.pick(&["ftp", "ws", "wss"]).to_owned()
    } else if rng.chance(0.8) {
        rng.pick(&["HTTP", "Https", "HTTPS"]).to_owned()
    } else {
        rng.pick(&["https", "https", "https", "http"]).to_owned()
    };
    url.push_str("://");
    if rng.chance(1.5) {
        url.push_str(rng.pick(&["alice@", "bob:s3cret@", "deploy:p%40ss@", "user.name:token-123@", "anonymous:@"]));
    }
    if other_scheme {
        url.push_str(&host(rng));
    } else {
        url.push_str(&any_host(rng));
    }
    if rng.chance(7.0) {
        url.push_str(
            rng.pick(&[":8080", ":8080", ":443", ":80", ":8443", ":3000", ":5000", ":8000", ":9000", ":65535"]),
        );
    }
    if rng.chance(2.0) {
        return url;
    }
    let dots = !other_scheme && rng.chance(3.0);
    for _ in 0..rng.between(0, 6) {
        url.push('/');
        if dots && rng.chance(40.0) {
            url.push_str(rng.pick(&[".", "..", "..", "...", ".well-known"]));
        } else {
            segment(rng, &mut url);
        }
    }
    if rng.chance(35.0) {
        url.push('/');
    } else if rng.chance(45.0) {
        url.push('/');
        url.push_str(rng.pick(WORDS));
        url.push('.');
        url.push_str(rng.pick(EXTENSIONS));
    }
    if rng.chance(48.0) {
        url.push('?');
        query(rng, &mut url);
    }
    if rng.chance(8.0) {
        url.push('#');
        url.push_str(rng.pick(WORDS));
    }
    url
}

/// Generates a URL that needs no normalisation, like the URLs in manuals.
fn documentation(rng: &mut Rng) -> String {
    let mut url = format!("https://{}", host(rng));
    for _ in 0..rng.between(2, 5) {
        url.push('/');
        url.push_str(rng.pick(WORDS));
        if rng.chance(20.0) {
            url.push('-');
            url.push_str(rng.pick(WORDS));
        }
    }
    if rng.chance(50.0) {
        url.push_str(rng.pick(&[".html", ".html", ".md", ".pdf"]));
    } else {
        url.push('/');
    }
    if rng.chance(15.0) {
        url.push_str(&format!("?{}={}", rng.pick(KEYS), rng.pick(WORDS)));
    }
    if rng.chance(30.0) {
        url.push_str(&format!("#{}-{}", rng.pick(WORDS), rng.pick(WORDS)));
    }
    url
}

/// Generates a file URL with file names as a file manager shows them.
fn file_path(rng: &mut Rng) -> String {
    let mut url = String::from("file://");
    url.push_str(rng.pick(&[
        "/usr/share",
        "/usr/lib/x86_64-linux-gnu",
        "/home/alice",
        "/var/lib",
        "/opt",
        "/usr/src",
    ]));
    for _ in 0..rng.between(2, 7) {
        url.push('/');
        url.push_str(rng.pick(WORDS));
        if rng.chance(20.0) {
            url.push_str(&format!("{}{}.{}", rng.pick(&["-", "_", "+"]), rng.below(20), rng.below(100)));
        }
    }
    url.push('/');
    url.push_str(rng.pick(WORDS));
    if rng.chance(4.0) {
        url.push_str(rng.pick(&["%20copy", "%281%29", "@2x", "~", "%C3%A4", " (1)"]));
    }
    url.push('.');
    url.push_str(rng.pick(EXTENSIONS));
    url
}

fn host(rng: &mut Rng) -> String {
    let mut host = String::new();
    if rng.chance(65.0) {
        host.push_str(rng.pick(SUBDOMAINS));
        host.push('.');
    }
    host.push_str(rng.pick(SITES));
    host.push('.');
    host.push_str(rng.pick(TLDS));
    host
}

fn any_host(rng: &mut Rng) -> String {
    match rng.below(200) {
        0..4 => rng.pick(IDN_HOSTS).to_owned(),
        4..6 => format!("[2001:db8:{:x}::{:x}]", rng.below(0xFFFF), rng.between(1, 0xFFFF)),
        6 => rng.pick(&["[::1]", "[FE80::1:2]", "[2001:DB8:0:0:8:800:200C:417A]"]).to_owned(),
        7..11 => format!("{}.{}.{}.{}", rng.between(1, 223), rng.below(256), rng.below(256), rng.below(256)),
        11 => "localhost".to_owned(),
        12..17 => {
            let mut host = host(rng);
            let first = host.remove(0).to_ascii_uppercase();
            format!("{first}{host}")
        }
        17 => host(rng).to_ascii_uppercase(),
        _ => host(rng),
    }
}

fn segment(rng: &mut Rng, out: &mut String) {
    match rng.below(20) {
        0..3 => out.push_str(&rng.below(10_000_000).to_string()),
        3 => out.push_str(&format!("{:016x}", rng.number())),
        4 => out.push_str(&format!("{}~{},{};{}", rng.pick(WORDS), rng.below(9), rng.below(99), rng.pick(WORDS))),
        5..9 => out.push_str(&format!("{}-{}", rng.pick(WORDS), rng.pick(WORDS))),
        9 => out.push_str(&format!("{}_{}", rng.pick(WORDS), rng.below(1000))),
        _ => out.push_str(rng.pick(WORDS)),
    }
    if rng.chance(4.0) {
        out.push_str(rng.pick(ESCAPES));
        out.push_str(rng.pick(WORDS));
    }
    if rng.chance(0.7) {
        out.push_str(rng.pick(RAW));
        out.push_str(rng.pick(WORDS));
    }
}

fn query(rng: &mut Rng, out: &mut String) {
    for i in 0..rng.between(1, 6) {
        if i > 0 {
            out.push('&');
        }
        out.push_str(rng.pick(KEYS));
        out.push('=');
        match rng.below(20) {
            0..6 => out.push_str(&rng.below(100_000).to_string()),
            6..8 => out.push_str(&format!("{:012x}", rng.number() >> 16)),
            8..10 => out.push_str(&format!("{}+{}", rng.pick(WORDS), rng.pick(WORDS))),
            10..12 => out.push_str(&format!("{}%20{}", rng.pick(WORDS), rng.pick(WORDS))),
            12 => out.push_str(&format!("https%3A%2F%2F{}%2F{}", host(rng), rng.pick(WORDS))),
            _ => out.push_str(rng.pick(WORDS)),
        }
        if rng.chance(0.7) {
            // Puts no space at the end of the URL, because the WHATWG standard strips it.
            out.push_str(rng.pick(RAW));
            out.push_str(rng.pick(WORDS));
        }
        if rng.chance(0.2) {
            out.push_str("'s");
        }
    }
}
