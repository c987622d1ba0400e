//! Parses OpenSSL cipher strings, which select from the nine cipher suites that netlib supports.
//!
//! OpenSSL keeps all its suites in one list and reorders that list for each word of the cipher string; the suites that
//! are active after the last word are selected. This parser reorders a list of netlib's suites by the same rules. The
//! relative order of two suites never depends on a third, so the result is OpenSSL's result without the suites that
//! netlib lacks.

mod preference;
mod words;

use std::ffi::{CStr, CString};

use rustls::crypto::CryptoProvider;
use rustls::{CipherSuite, SupportedCipherSuite};

pub(crate) use preference::Processor;

use super::code_points::{self, Version};
use crate::error::{Error, Result, truncated};
use crate::memory;
use crate::status::Status;

/// The longest accepted cipher string. Cipher strings that applications use are shorter than 2 KiB.
const MAX_STRING: usize = 16 * 1024;

/// A supported cipher suite with the properties by which a cipher string selects suites.
struct Suite {
    suite: CipherSuite,
    openssl_name: &'static CStr,
    /// The length of the symmetric key in bits.
    bits: u16,
}

const fn suite(suite: CipherSuite, openssl_name: &'static CStr, bits: u16) -> Suite {
    Suite { suite, openssl_name, bits }
}

/// The TLS 1.2 suites in OpenSSL's order of preference. Bit `n` of a [`words::Set`] stands for entry `n` of this table.
static TLS12: [Suite; 6] = [
    suite(CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, c"ECDHE-ECDSA-AES256-GCM-SHA384", 256),
    suite(CipherSuite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384, c"ECDHE-RSA-AES256-GCM-SHA384", 256),
    suite(CipherSuite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, c"ECDHE-ECDSA-CHACHA20-POLY1305", 256),
    suite(CipherSuite::TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256, c"ECDHE-RSA-CHACHA20-POLY1305", 256),
    suite(CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, c"ECDHE-ECDSA-AES128-GCM-SHA256", 128),
    suite(CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, c"ECDHE-RSA-AES128-GCM-SHA256", 128),
];

/// The TLS 1.3 suites in OpenSSL's order of preference.
static TLS13: [Suite; 3] = [
    suite(CipherSuite::TLS13_AES_256_GCM_SHA384, c"TLS_AES_256_GCM_SHA384", 256),
    suite(CipherSuite::TLS13_CHACHA20_POLY1305_SHA256, c"TLS_CHACHA20_POLY1305_SHA256", 256),
    suite(CipherSuite::TLS13_AES_128_GCM_SHA256, c"TLS_AES_128_GCM_SHA256", 128),
];

/// Returns the name that OpenSSL and Python use for a cipher suite.
pub(crate) fn openssl_name(suite: CipherSuite) -> Option<&'static CStr> {
    supported(suite).map(|known| known.openssl_name)
}

/// Returns the length of a cipher suite's symmetric key in bits.
pub(crate) fn key_bits(suite: CipherSuite) -> Option<u16> {
    supported(suite).map(|known| known.bits)
}

fn supported(suite: CipherSuite) -> Option<&'static Suite> {
    TLS13.iter().chain(&TLS12).find(|known| known.suite == suite)
}

/// The cipher suites that a cipher string selects.
#[derive(Clone, Debug)]
pub(crate) struct Selection {
    /// The selected suites in order of preference, with the TLS 1.3 suites first, as in OpenSSL.
    suites: Vec<CipherSuite>,
    /// The words of the cipher string that are neither a known keyword nor the name of a supported suite, joined by
    /// ":".
    unknown: Option<CString>,
}

impl Selection {
    /// Parses a cipher string. The words of a cipher string are applied from left to right.
    pub(crate) fn parse(string: &[u8]) -> Result<Selection> {
        if string.len() > MAX_STRING {
            let message = format!("ciphers must have at most {MAX_STRING} bytes; it has {}", string.len());
            return Err(Error::new(Status::InvalidArgument, message));
        }
        if string.starts_with(b"SUITEB") {
            let message =
                "ciphers selects Suite B, which also restricts curves and signatures: list the cipher suites instead";
            return Err(Error::new(Status::Unsupported, message));
        }
        let mut reader = Reader {
            string,
            at: 0,
            tls12: Ranking::of(TLS12.len(), false),
            tls13: Ranking::of(TLS13.len(), true),
            tls13_named: false,
            unknown: Vec::new(),
        };
        reader.read()?;
        reader.into_selection()
    }

    pub(crate) fn unknown(&self) -> Option<&CStr> {
        self.unknown.as_deref()
    }
}

/// Returns the cipher suites to offer for `version`, in the order of `selection`. Without a selection, returns all
/// suites of the version in the order that suits `processor`.
pub(crate) fn offered(
    provider: &CryptoProvider,
    selection: Option<&Selection>,
    version: Version,
    processor: Processor,
) -> Vec<SupportedCipherSuite> {
    let of_version = |suite: &&SupportedCipherSuite| Version::from_rustls(suite.version().version) == Some(version);
    let all = || provider.cipher_suites.iter().filter(of_version);
    let wanted = selection.map_or_else(|| processor.order(), |selection| &selection.suites);
    wanted.iter().filter_map(|wanted| all().find(|suite| suite.suite() == *wanted)).copied().collect()
}

/// The operator before a word of a cipher string.
#[derive(Clone, Copy, PartialEq)]
enum Rule {
    /// No operator: activates the suites and appends them to the list.
    Add,
    /// `-`: deactivates the suites and moves them to the front. A later word of the cipher string can activate the
    /// suites again.
    Remove,
    /// `!`: removes the suites; later words cannot add them again.
    Kill,
    /// `+`: moves active suites to the end of the list.
    MoveToEnd,
}

/// A list of suites in order of preference; each suite is stored as its index in [`TLS12`] or [`TLS13`].
struct Ranking(Vec<Ranked>);

#[derive(Clone, Copy)]
struct Ranked {
    index: usize,
    active: bool,
}

impl Ranking {
    fn of(count: usize, active: bool) -> Ranking {
        Ranking((0..count).map(|index| Ranked { index, active }).collect())
    }

    fn apply(&mut self, rule: Rule, chosen: impl Fn(usize) -> bool) {
        let applies = |ranked: &Ranked| {
            chosen(ranked.index)
                && match rule {
                    Rule::Add => !ranked.active,
                    Rule::Remove | Rule::MoveToEnd => ranked.active,
                    Rule::Kill => true,
                }
        };
        let (mut moved, mut others): (Vec<Ranked>, Vec<Ranked>) = self.0.iter().partition(|ranked| applies(ranked));
        for ranked in &mut moved {
            ranked.active = rule != Rule::Remove;
        }
        self.0 = match rule {
            Rule::Kill => others,
            Rule::Remove => {
                moved.append(&mut others);
                moved
            }
            Rule::Add | Rule::MoveToEnd => {
                others.append(&mut moved);
                others
            }
        };
    }

    /// Sorts active suites by key length, longest first. Suites with equal key lengths keep their order.
    fn sort_by_strength(&mut self, suites: &[Suite]) {
        let bits = |ranked: &Ranked| suites.get(ranked.index).map_or(0, |suite| suite.bits);
        // Inactive suites stay in front of the active ones.
        self.0.sort_by_key(|ranked| (ranked.active, if ranked.active { u16::MAX - bits(ranked) } else { 0 }));
    }

    fn selected<'a>(&'a self, suites: &'a [Suite]) -> impl Iterator<Item = CipherSuite> + 'a {
        self.0.iter().filter(|ranked| ranked.active).filter_map(|ranked| suites.get(ranked.index)).map(|s| s.suite)
    }
}

/// The state of the cipher string parser.
struct Reader<'a> {
    string: &'a [u8],
    at: usize,
    tls12: Ranking,
    tls13: Ranking,
    /// True once the cipher string has named a TLS 1.3 suite without an operator. If true, only the TLS 1.3 suites that
    /// the string has added are selected; if false, all TLS 1.3 suites that the string has not removed.
    tls13_named: bool,
    unknown: Vec<u8>,
}

impl<'a> Reader<'a> {
    fn read(&mut self) -> Result<()> {
        // As in OpenSSL, DEFAULT is a keyword only at the start of the cipher string.
        if self.string.starts_with(b"DEFAULT") {
            self.at = "DEFAULT".len();
            self.tls12.apply(Rule::Add, |_| true);
        }
        while let Some(byte) = self.peek() {
            let rule = match byte {
                b':' | b',' | b' ' | b';' => {
                    self.at += 1;
                    continue;
                }
                b'@' => {
                    self.at += 1;
                    self.command()?;
                    continue;
                }
                b'-' => Rule::Remove,
                b'!' => Rule::Kill,
                b'+' => Rule::MoveToEnd,
                _ => Rule::Add,
            };
            if rule != Rule::Add {
                self.at += 1;
            }
            self.item(rule)?;
        }
        Ok(())
    }

    /// Applies `rule` to the suites that match every word of a group joined by `+`, such as "ECDHE+AESGCM".
    fn item(&mut self, rule: Rule) -> Result<()> {
        let mut chosen = words::ALL;
        let mut first = true;
        loop {
            let word = self.word()?;
            let joined = self.peek() == Some(b'+');
            if let Some(set) = words::alias(word).or_else(|| named(word, &TLS12).map(words::one)) {
                chosen &= set;
            } else if let (true, false, Some(index)) = (first, joined, named(word, &TLS13)) {
                self.apply_tls13(rule, index);
                return Ok(());
            } else {
                self.note_unknown(word)?;
                self.skip();
                return Ok(());
            }
            if !joined {
                break;
            }
            self.at += 1;
            first = false;
        }
        self.tls12.apply(rule, |index| words::has(chosen, index));
        Ok(())
    }

    fn apply_tls13(&mut self, rule: Rule, index: usize) {
        if rule == Rule::Add && !self.tls13_named {
            self.tls13_named = true;
            self.tls13.apply(Rule::Remove, |_| true);
        }
        self.tls13.apply(rule, |other| other == index);
    }

    /// Applies the command after `@`: STRENGTH or SECLEVEL.
    fn command(&mut self) -> Result<()> {
        let start = self.at;
        let word = self.word()?;
        let refused = |status, why: &str| {
            let message = format!("ciphers has @{} at byte {}, {why}", String::from_utf8_lossy(word), start - 1);
            Err(Error::new(status, message).at(start - 1))
        };
        match word {
            b"STRENGTH" => {
                self.tls12.sort_by_strength(&TLS12);
            }
            // netlib always enforces the minimum key sizes of OpenSSL's security level 2; asking for a lower level has
            // no effect.
            b"SECLEVEL=0" | b"SECLEVEL=1" | b"SECLEVEL=2" => {}
            b"SECLEVEL=3" | b"SECLEVEL=4" | b"SECLEVEL=5" => {
                return refused(Status::Unsupported, "but the minimum key sizes are always those of level 2");
            }
            _ => return refused(Status::InvalidArgument, "which is neither @STRENGTH nor @SECLEVEL=0 to 5"),
        }
        self.skip();
        Ok(())
    }

    fn peek(&self) -> Option<u8> {
        self.string.get(self.at).copied()
    }

    /// Reads a word: one or more letters, digits, "-", "_", "." or "=".
    fn word(&mut self) -> Result<&'a [u8]> {
        let rest = self.string.get(self.at..).unwrap_or(&[]);
        let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.=".contains(byte);
        let len = rest.iter().position(|byte| !is_letter(byte)).unwrap_or(rest.len());
        if len == 0 {
            let what = rest.first().map_or("ends".to_owned(), |byte| format!("has \"{}\"", byte.escape_ascii()));
            let message = format!("ciphers {what} at byte {}, where a cipher suite or keyword is expected", self.at);
            return Err(Error::new(Status::InvalidArgument, message).at(self.at));
        }
        self.at += len;
        Ok(rest.get(..len).unwrap_or(rest))
    }

    /// Skips to the next separator of the cipher string.
    fn skip(&mut self) {
        while self.peek().is_some_and(|byte| !b":, ;".contains(&byte)) {
            self.at += 1;
        }
    }

    fn note_unknown(&mut self, word: &[u8]) -> Result<()> {
        memory::grow(&mut self.unknown, word.len() + 1, "the unknown words")?;
        if !self.unknown.is_empty() {
            self.unknown.push(b':');
        }
        self.unknown.extend_from_slice(word);
        Ok(())
    }

    fn into_selection(self) -> Result<Selection> {
        if !self.tls13_named && self.tls12.selected(&TLS12).next().is_none() {
            return Err(self.nothing_selected());
        }
        let suites = self.tls13.selected(&TLS13).chain(self.tls12.selected(&TLS12)).collect();
        let unknown = if self.unknown.is_empty() { None } else { CString::new(self.unknown).ok() };
        Ok(Selection { suites, unknown })
    }

    fn nothing_selected(&self) -> Error {
        let names: Vec<_> = TLS12.iter().chain(&TLS13).map(|suite| suite.openssl_name.to_string_lossy()).collect();
        let unknown = String::from_utf8_lossy(&self.unknown);
        let unknown = if unknown.is_empty() { String::new() } else { format!("; unknown: {}", truncated(&unknown)) };
        let message = format!("ciphers selects none of {}{unknown}", names.join(", "));
        Error::new(Status::NoCipherSuites, message)
    }
}

/// Finds a cipher suite by its OpenSSL or IANA name.
fn named(word: &[u8], suites: &[Suite]) -> Option<usize> {
    suites.iter().position(|suite| {
        suite.openssl_name.to_bytes() == word
            || code_points::cipher_suite(suite.suite).is_some_and(|name| name.to_bytes() == word)
    })
}

#[cfg(test)]
mod tests;
