//! Finds the newest TLS version that a ClientHello offers. rustls does not report the offered versions, and refuses
//! some old clients for other reasons before it checks the version.

use std::borrow::Cow;

use crate::tls::session::record;

const HANDSHAKE: u8 = 22;
const CLIENT_HELLO: u8 = 1;
const SUPPORTED_VERSIONS: u16 = 43;

/// How the ClientHello is stored in the input.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Unchanged: every record still has its own header.
    Records,
    /// Joined by rustls: the whole message is contiguous, after the header of the first record.
    Joined,
}

/// Returns the newest offered version; `None` if `input` does not begin with a complete ClientHello, or if the
/// extension supported_versions contains no version from SSL 3.0 to TLS 1.3.
pub(crate) fn newest(input: &[u8], layout: Layout) -> Option<u16> {
    let message = match layout {
        Layout::Joined => Cow::Borrowed(input.strip_prefix(&[HANDSHAKE])?.get(record::HEADER_SIZE - 1..)?),
        Layout::Records => payload_of_records(input),
    };
    let mut message = Reader(&message);
    if message.number(1)? != usize::from(CLIENT_HELLO) {
        return None;
    }
    let mut hello = Reader(message.vector(3)?);
    let legacy_version = u16::try_from(hello.number(2)?).ok()?;
    hello.take(32)?; // random
    hello.vector(1)?; // session ID
    hello.vector(2)?; // cipher suites
    hello.vector(1)?; // compression methods
    if hello.0.is_empty() {
        return Some(legacy_version);
    }
    let mut extensions = Reader(hello.vector(2)?);
    while !extensions.0.is_empty() {
        let kind = extensions.number(2)?;
        let mut value = Reader(extensions.vector(2)?);
        if kind == usize::from(SUPPORTED_VERSIONS) {
            let versions = value.vector(1)?.chunks_exact(2).filter_map(|pair| pair.try_into().ok());
            // Values outside this range are GREASE values (RFC 8701) or draft versions.
            return versions.map(u16::from_be_bytes).filter(|version| (0x0300..=0x0304).contains(version)).max();
        }
    }
    Some(legacy_version)
}

fn payload_of_records(mut input: &[u8]) -> Cow<'static, [u8]> {
    let mut payload = Vec::new();
    while let (Some(&HANDSHAKE), Some(size)) = (input.first(), record::whole_record(input)) {
        payload.extend_from_slice(input.get(record::HEADER_SIZE..size).unwrap_or(&[]));
        input = input.get(size..).unwrap_or(&[]);
    }
    Cow::Owned(payload)
}

/// Reads the fields of a message, which are encoded as RFC 8446 section 3 defines.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self, bytes: usize) -> Option<usize> {
        Some(self.take(bytes)?.iter().fold(0, |number, byte| number << 8 | usize::from(*byte)))
    }

    /// Reads a field with a length prefix of `length_bytes` bytes.
    fn vector(&mut self, length_bytes: usize) -> Option<&'a [u8]> {
        let len = self.number(length_bytes)?;
        self.take(len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a ClientHello in records of at most `piece` bytes.
    fn hello(version: [u8; 2], extensions: Option<&[u8]>, piece: usize) -> Vec<u8> {
        let mut body = version.to_vec();
        body.extend([7; 32]);
        body.extend([0, 0, 2, 0xc0, 0x13, 1, 0]);
        if let Some(extensions) = extensions {
            body.extend(u16::try_from(extensions.len()).unwrap().to_be_bytes());
            body.extend(extensions);
        }
        let mut message = vec![1, 0];
        message.extend(u16::try_from(body.len()).unwrap().to_be_bytes());
        message.append(&mut body);
        let header = |payload: &[u8]| [22, 3, 1, 0, u8::try_from(payload.len()).unwrap()];
        message.chunks(piece).flat_map(|payload| [&header(payload)[..], payload].concat()).collect()
    }

    #[test]
    fn the_supported_versions_extension_takes_precedence_over_legacy_version() {
        let versions = |list: &[u8]| {
            let len = u8::try_from(list.len()).unwrap();
            [&[0xff, 1, 0, 1, 0, 0, 43, 0, len + 1, len][..], list].concat()
        };
        for (field, extensions, expected) in [
            ([3, 0], None, Some(0x0300)),
            ([3, 1], None, Some(0x0301)),
            ([3, 2], Some(vec![]), Some(0x0302)),
            ([3, 2], Some(vec![0xff, 1, 0, 1, 0]), Some(0x0302)),
            ([3, 3], Some(vec![0xff, 1, 0, 1, 0]), Some(0x0303)),
            ([3, 3], Some(versions(&[3, 1, 3, 2])), Some(0x0302)),
            ([3, 3], Some(versions(&[0x2a, 0x2a, 3, 4, 3, 2])), Some(0x0304)),
            ([3, 3], Some(versions(&[0x7f, 0x1c])), None),
            ([3, 3], Some(versions(&[])), None),
            // The message ends in the middle of the extension.
            ([3, 3], Some(vec![0, 43, 0, 9, 2, 3, 1]), None),
        ] {
            let whole = hello(field, extensions.as_deref(), 255);
            assert_eq!(newest(&whole, Layout::Joined), expected, "{field:?} {extensions:?}");
            for piece in [255, 1, 7] {
                let records = hello(field, extensions.as_deref(), piece);
                assert_eq!(newest(&records, Layout::Records), expected, "{field:?} {extensions:?} {piece}");
                // No truncation and no changed byte causes a panic.
                for at in 0..records.len() {
                    newest(&records[..at], Layout::Records);
                    let mut changed = records.clone();
                    changed[at] ^= 0xff;
                    newest(&changed, Layout::Records);
                    newest(&changed, Layout::Joined);
                }
            }
        }
    }
}
