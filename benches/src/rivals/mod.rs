//! The URL parsers that are compared. A pass parses each URL of a corpus, reads the length and the first byte of each
//! component, and frees the URL.

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
    /// A segment of the path, without the "/" before it.
    Segment,
    Query,
    /// A string that is read only for [`Reading::Nine`]: a composed string (the whole URL, the authority, the host with
    /// port, or the request target), or a component that is read because the parser cannot return a composed string.
    More,
}

/// Selects the components that are read from each URL.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// Reads scheme, host, port, path and query.
    Five,
    /// Reads the five components, and the strings of [`Part::More`].
    Nine,
}

/// Receives the components that a parser returns. For an absent component the parser passes nothing or an empty string.
pub trait Reader {
    fn text(&mut self, part: Part, text: &[u8]);
    /// Receives the port from a parser that returns a number; -1 means absent.
    fn port(&mut self, port: i32);
}

pub trait UrlParser {
    fn name(&self) -> &str;

    /// Parses a URL, reads its components and frees it. Returns false if the parser refuses the URL.
    fn read(&self, url: &str, reading: Reading, reader: &mut impl Reader) -> bool
    where
        Self: Sized;
}

/// A parser with a method that loops over a corpus. The compiler can specialise the loop for each parser.
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

/// Receives components and reads the length and the first byte of each, so that the compiler cannot remove the reads.
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

/// Receives components and stores them. An absent component is stored as an empty one.
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

/// Converts a string that a C function returned as a pointer and a length.
///
/// # Safety
/// `data` must be NULL, or point to `length` bytes that are valid until the URL is freed.
#[inline]
unsafe fn bytes<'a>(data: *const std::ffi::c_char, length: usize) -> &'a [u8] {
    if data.is_null() { &[] } else { unsafe { std::slice::from_raw_parts(data.cast(), length) } }
}
