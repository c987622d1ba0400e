//! The parsers. A pass parses each URL, reads its parts, touches their bytes and frees the URL.

mod netlib;
mod ada;
mod url_crate;
mod uriparser;
mod curl;

use std::hint::black_box;

use crate::corpus::Corpus;

pub use ada::Ada;
pub use curl::Curl;
pub use netlib::Netlib;
pub use uriparser::Uriparser;
pub use url_crate::UrlCrate;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    Scheme,
    Host,
    Port,
    Path,
    /// A segment of the path. A "/" precedes each segment.
    Segment,
    Query,
    /// A part that only the second table reads: the whole URL, authority, host and port, request target.
    More,
}

/// The parts that are read of each URL.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// Scheme, host, port, path and query.
    Five,
    /// The five parts and the composed ones.
    Nine,
}

/// Receives the parts that a parser returns. An absent part is not passed, or is passed as empty text.
pub trait Reader {
    fn text(&mut self, part: Part, text: &[u8]);
    /// Receives the port from a parser that returns a number; -1 means absent.
    fn port(&mut self, port: i32);
}

pub trait UrlParser {
    fn name(&self) -> &str;

    /// Parses a URL, reads its parts and frees it. Returns false if the parser refuses the URL.
    fn read(&self, url: &str, reading: Reading, reader: &mut impl Reader) -> bool
    where
        Self: Sized;
}

/// A parser with a loop over a corpus that is compiled for this parser.
pub trait Timed {
    fn name(&self) -> &str;
    fn once(&self, url: &str, reading: Reading);
    /// Makes one pass over a corpus.
    fn pass(&self, corpus: &Corpus, reading: Reading);
    fn components(&self, url: &str) -> Option<Components>;
}

impl<P: UrlParser> Timed for P {
    fn name(&self) -> &str {
        UrlParser::name(self)
    }

    #[inline]
    fn once(&self, url: &str, reading: Reading) {
        black_box(self.read(url, reading, &mut Touch));
    }

    fn pass(&self, corpus: &Corpus, reading: Reading) {
        match reading {
            Reading::Five => corpus.urls().for_each(|url| self.once(url, Reading::Five)),
            Reading::Nine => corpus.urls().for_each(|url| self.once(url, Reading::Nine)),
        }
    }

    fn components(&self, url: &str) -> Option<Components> {
        let mut components = Components::default();
        self.read(url, Reading::Five, &mut components).then_some(components)
    }
}

/// Reads every length, and the first byte of every text, so that the compiler cannot remove the reads.
struct Touch;

impl Reader for Touch {
    #[inline]
    fn text(&mut self, _: Part, text: &[u8]) {
        black_box(text.len());
        if let Some(&byte) = text.first() {
            black_box(byte);
        }
    }

    #[inline]
    fn port(&mut self, port: i32) {
        black_box(port);
    }
}

/// Stores the parts that a parser returns. An absent part and an empty one are the same here.
#[derive(Default, PartialEq, Eq, Debug, Clone)]
pub struct Components {
    pub scheme: Vec<u8>,
    pub host: Vec<u8>,
    pub port: Vec<u8>,
    pub path: Vec<u8>,
    pub query: Vec<u8>,
}

impl Reader for Components {
    fn text(&mut self, part: Part, text: &[u8]) {
        match part {
            Part::Scheme => self.scheme.extend(text),
            Part::Host => self.host.extend(text),
            Part::Port => self.port.extend(text),
            Part::Path => self.path.extend(text),
            Part::Segment => {
                self.path.push(b'/');
                self.path.extend(text);
            }
            Part::Query => self.query.extend(text),
            Part::More => {}
        }
    }

    fn port(&mut self, port: i32) {
        if port >= 0 {
            self.port.extend(port.to_string().bytes());
        }
    }
}

/// Returns a text that C returns as a pointer and a length.
///
/// # Safety
/// `data` is NULL, or has `length` bytes that live until the URL is freed.
#[inline]
unsafe fn bytes<'a>(data: *const std::ffi::c_char, length: usize) -> &'a [u8] {
    if data.is_null() { &[] } else { unsafe { std::slice::from_raw_parts(data.cast(), length) } }
}
