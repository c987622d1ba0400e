//! Parses an ECHConfigList (RFC 9849 section 4), reports the offset of a malformed part, and selects a usable
//! configuration. rustls also parses the list, but gives no reason for an error, and rejects the whole list for one
//! invalid public name.

use std::ffi::CString;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use base64::engine::general_purpose::STANDARD_NO_PAD as BASE64_UNPADDED;
use rustls::client::EchConfig;
use rustls::crypto::aws_lc_rs::hpke::ALL_SUPPORTED_SUITES;
use rustls::crypto::hpke::{Hpke, HpkePublicKey};
use rustls_pki_types::{DnsName, EchConfigListBytes};

use crate::error::{Error, Result};
use crate::memory;
use crate::status::Status;
use crate::tls::error_text;

/// The configuration version that RFC 9849 and its last drafts define.
const VERSION: u16 = 0xfe0d;

/// The size of the largest binary list: a two-byte length field, and at most 0xffff bytes of configurations.
const MAX_LIST: usize = 2 + 0xffff;

/// The size of the largest list after encoding in base64.
const MAX_TEXT: usize = MAX_LIST.div_ceil(3) * 4;

/// The type bit of an extension that a client must support to use the configuration (RFC 9849 section 4.1).
const MANDATORY: u16 = 0x8000;

/// The maximum number of unusable configurations that an error message explains.
const MAX_REASONS: usize = 4;

/// A parsed ECHConfigList and the configuration that sessions use.
#[derive(Clone, Debug)]
pub(crate) struct ConfigList {
    /// The ECHConfigList in binary, as the server published it.
    pub(crate) bytes: Vec<u8>,
    /// The first configuration that netlib can use.
    pub(crate) config: EchConfig,
    /// The server name in the outer ClientHello. A server that rejects ECH must have a certificate for this name.
    pub(crate) public_name: CString,
}

impl ConfigList {
    /// Parses an ECHConfigList in binary or base64.
    pub(crate) fn parse(text: &[u8]) -> Result<ConfigList> {
        if text.is_empty() {
            return Err(malformed("is empty", 0));
        }
        let text = if is_list(text) { text } else { text.trim_ascii() };
        if text.len() > MAX_TEXT {
            return Err(malformed(
                &format!("has {} bytes, more than an ECHConfigList can have", text.len()),
                MAX_TEXT,
            ));
        }
        let bytes = if is_list(text) { memory::copy(text, "config_list")? } else { decode_base64(text)? };
        let mut unusable = Vec::new();
        let mut chosen = None;
        let mut whole = Reader::of(&bytes);
        let mut list = whole.vector("the list")?;
        if !whole.is_empty() {
            return Err(malformed("has bytes after its end", whole.at));
        }
        if list.is_empty() {
            return Err(malformed("has no configuration", whole.at));
        }
        while !list.is_empty() {
            let start = list.at;
            let version = list.number("a configuration's version")?;
            let contents = list.vector("a configuration")?;
            let whole = list.bytes.get(start..list.at).unwrap_or(&[]);
            // Configurations after the selected one must also be well-formed, but their keys are not checked.
            let contents = if version == VERSION { Some(read(contents)?) } else { None };
            if chosen.is_some() {
                continue;
            }
            let selected = match contents {
                Some(contents) => select(&contents, whole),
                None => Err(format!("has version 0x{version:04x}")),
            };
            match selected {
                Ok(usable) => chosen = Some(usable),
                Err(why) => unusable.push(why),
            }
        }
        match chosen {
            Some((config, public_name)) => Ok(ConfigList { bytes, config, public_name }),
            None => Err(Error::new(
                Status::Unsupported,
                format!("config_list has no usable configuration: {}", describe_unusable(&unusable)),
            )),
        }
    }
}

/// Returns true if the bytes are a binary list rather than base64: the first two bytes are the length of the rest, or a
/// byte is neither printable nor white space.
fn is_list(text: &[u8]) -> bool {
    let is_text = |byte: &u8| byte.is_ascii_graphic() || byte.is_ascii_whitespace();
    match text.first_chunk() {
        Some(length) if usize::from(u16::from_be_bytes(*length)) + 2 == text.len() => true,
        _ => !text.iter().all(is_text),
    }
}

fn decode_base64(text: &[u8]) -> Result<Vec<u8>> {
    let engine = if text.ends_with(b"=") { &BASE64 } else { &BASE64_UNPADDED };
    engine.decode(text).map_err(|error| {
        use base64::DecodeError;
        let at = match error {
            DecodeError::InvalidByte(at, _) | DecodeError::InvalidLastSymbol { offset: at, .. } => at,
            DecodeError::InvalidLength(_) | DecodeError::InvalidPadding => text.len(),
        };
        malformed("is neither an ECHConfigList nor base64", at)
    })
}

fn malformed(what: &str, at: usize) -> Error {
    Error::new(Status::InvalidArgument, format!("config_list {what} (at byte {at})")).at(at)
}

/// The fields of an ECHConfigContents that a client uses.
struct Contents<'a> {
    kem: u16,
    public_key: &'a [u8],
    /// Pairs of HPKE identifiers: the KDF and the AEAD.
    suites: Vec<(u16, u16)>,
    public_name: &'a [u8],
    extensions: Vec<u16>,
}

fn read(mut from: Reader<'_>) -> Result<Contents<'_>> {
    from.byte("the identifier of a configuration")?;
    let kem = from.number("a key-encapsulation mechanism")?;
    let at = from.at;
    let public_key = from.vector("a public key")?.rest();
    if public_key.is_empty() {
        return Err(malformed("has an empty public key", at));
    }
    let at = from.at;
    let mut symmetric = from.vector("cipher suites")?;
    if symmetric.is_empty() {
        return Err(malformed("has a configuration without cipher suites", at));
    }
    let mut suites = Vec::new();
    while !symmetric.is_empty() {
        let kdf = symmetric.number("a key-derivation function")?;
        suites.push((kdf, symmetric.number("a cipher")?));
    }
    from.byte("the maximum length of names")?;
    let at = from.at;
    let length = from.byte("the length of a public name")?;
    let public_name = from.take(usize::from(length), "a public name")?;
    if public_name.is_empty() {
        return Err(malformed("has an empty public name", at));
    }
    let mut listed = from.vector("extensions")?;
    let mut extensions = Vec::new();
    while !listed.is_empty() {
        extensions.push(listed.number("an extension's type")?);
        listed.vector("an extension")?;
    }
    if !from.is_empty() {
        return Err(malformed("has bytes after a configuration's extensions", from.at));
    }
    Ok(Contents { kem, public_key, suites, public_name, extensions })
}

/// Returns the rustls configuration and the public name, or the reason why the configuration is unusable.
fn select(contents: &Contents<'_>, whole: &[u8]) -> std::result::Result<(EchConfig, CString), String> {
    if let Some(unknown) = contents.extensions.iter().find(|extension| **extension & MANDATORY != 0) {
        return Err(format!("has the mandatory extension 0x{unknown:04x}"));
    }
    let mut sorted = contents.extensions.clone();
    sorted.sort_unstable();
    if let Some(twice) = sorted.windows(2).find_map(|pair| (pair.first() == pair.get(1)).then(|| pair.first())?) {
        return Err(format!("has the extension 0x{twice:04x} twice"));
    }
    let Some(public_name) = host_name(contents.public_name) else {
        return Err("has a public name that is not a host name".to_owned());
    };
    let Some(suite) = contents.suites.iter().find_map(|suite| supported(contents.kem, *suite)) else {
        let suites = contents.suites.iter().take(MAX_REASONS);
        let suites: Vec<_> = suites.map(|(kdf, aead)| format!("0x{kdf:04x}/0x{aead:04x}")).collect();
        return Err(format!("has no supported HPKE suite (KEM 0x{:04x}, {})", contents.kem, suites.join(", ")));
    };
    // The public key is checked here, because rustls accepts any public key when it parses the configuration, and
    // reports an invalid key only in the session.
    let info = [&b"tls ech\0"[..], whole].concat();
    if suite.setup_sealer(&info, &HpkePublicKey(contents.public_key.to_vec())).is_err() {
        return Err(format!("has an invalid public key (KEM 0x{:04x})", contents.kem));
    }
    let length = u16::try_from(whole.len()).unwrap_or(0).to_be_bytes();
    let alone = EchConfigListBytes::from([&length[..], whole].concat());
    match EchConfig::new(alone, &[suite]) {
        Ok(config) => Ok((config, public_name)),
        Err(error) => Err(format!("cannot be used: {}", error_text::other(&error))),
    }
}

fn supported(kem: u16, (kdf, aead): (u16, u16)) -> Option<&'static dyn Hpke> {
    let wanted = (kem, kdf, aead);
    ALL_SUPPORTED_SUITES.iter().copied().find(|hpke| {
        let suite = hpke.suite();
        (u16::from(suite.kem), u16::from(suite.sym.kdf_id), u16::from(suite.sym.aead_id)) == wanted
    })
}

/// Returns a public name; `None` if RFC 9849 section 6.1.7 forbids the name. A public name consists of letters, digits,
/// hyphens and dots, and a URL parser must not take it for an IPv4 address.
fn host_name(bytes: &[u8]) -> Option<CString> {
    let is_fit = |byte: &u8| byte.is_ascii_alphanumeric() || b"-.".contains(byte);
    let last = bytes.rsplit(|byte| *byte == b'.').next()?;
    let is_number = last.iter().all(u8::is_ascii_digit)
        || (last.starts_with(b"0x") || last.starts_with(b"0X")) && last.get(2..)?.iter().all(u8::is_ascii_hexdigit);
    if !bytes.iter().all(is_fit) || is_number || DnsName::try_from(bytes).is_err() {
        return None;
    }
    CString::new(bytes).ok()
}

fn describe_unusable(unusable: &[String]) -> String {
    let mut listed: Vec<_> = unusable
        .iter()
        .take(MAX_REASONS)
        .enumerate()
        .map(|(index, why)| format!("number {} {why}", index + 1))
        .collect();
    if unusable.len() > MAX_REASONS {
        listed.push(format!("and {} more", unusable.len() - MAX_REASONS));
    }
    listed.join("; ")
}

/// Reads fields of the list, or of a vector in the list, from front to back. Offsets are relative to the start of the
/// list.
#[derive(Clone, Copy)]
struct Reader<'a> {
    /// The bytes of the list up to the end of the vector that this reader reads.
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn of(bytes: &'a [u8]) -> Reader<'a> {
        Reader { bytes, at: 0 }
    }

    fn is_empty(&self) -> bool {
        self.at >= self.bytes.len()
    }

    fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or(&[])
    }

    fn take(&mut self, count: usize, what: &str) -> Result<&'a [u8]> {
        let Some(taken) = self.rest().get(..count) else {
            return Err(malformed(&format!("ends in the middle of {what}"), self.bytes.len()));
        };
        self.at += count;
        Ok(taken)
    }

    fn byte(&mut self, what: &str) -> Result<u8> {
        Ok(self.take(1, what)?.first().copied().unwrap_or(0))
    }

    fn number(&mut self, what: &str) -> Result<u16> {
        Ok(self.take(2, what)?.iter().fold(0, |number, byte| number << 8 | u16::from(*byte)))
    }

    /// Reads a vector with a two-byte length prefix.
    fn vector(&mut self, what: &str) -> Result<Reader<'a>> {
        let length = usize::from(self.number(what)?);
        let start = self.at;
        self.take(length, what)?;
        Ok(Reader { bytes: self.bytes.get(..self.at).unwrap_or(&[]), at: start })
    }
}
