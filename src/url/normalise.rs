//! What RFC 3986 section 6.2.2 makes of a component: percent-encoding, letter case, dot segments.

use super::buffer::{append, reserve};
use crate::error::Result;

/// Which bytes a component may hold unencoded; the rest is percent-encoded.
#[derive(Clone, Copy)]
pub(super) enum Class {
    Userinfo = 1,
    Path = 2,
    /// Query and fragment.
    Query = 4,
}

/// For each byte the classes that allow it, as bits.
const ALLOWED: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 128 {
        let c = byte as u8;
        table[byte] = match c {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'_' | b'-' | b'~' => 7,
            b'!' | b'$' | b'&' | b'\'' | b'(' | b')' | b'*' | b'+' | b',' | b';' | b'=' | b':' => 7,
            b'@' | b'/' => Class::Path as u8 | Class::Query as u8,
            b'?' => Class::Query as u8,
            _ => 0,
        };
        byte += 1;
    }
    table
};

pub(super) fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-' | b'~')
}

/// The byte that the percent-encoding at `at` stands for.
pub(super) fn percent_decoded(text: &[u8], at: usize) -> Option<u8> {
    match text.get(at..)? {
        [b'%', high, low, ..] => {
            let digit = |c: u8| char::from(c).to_digit(16);
            u8::try_from(digit(*high)? * 16 + digit(*low)?).ok()
        }
        _ => None,
    }
}

/// Percent-encodes, in place, what `class` does not allow in `bytes[start..]`, and writes the digits of existing
/// encodings in upper case. One stray "%" says that the component is not encoded yet: then every "%" is encoded.
pub(super) fn encode(bytes: &mut Vec<u8>, start: usize, class: Class) -> Result<()> {
    let allows = |byte: u8| ALLOWED[usize::from(byte)] & class as u8 != 0;
    let Some(text) = bytes.get_mut(start..) else { return Ok(()) };
    let (mut disallowed, mut percents, mut stray) = (0usize, 0usize, false);
    let mut at = 0;
    while at < text.len() {
        if text[at] == b'%' {
            percents += 1;
            if percent_decoded(text, at).is_some() {
                text[at + 1..at + 3].make_ascii_uppercase();
                at += 2;
            } else {
                stray = true;
            }
        } else if !allows(text[at]) {
            disallowed += 1;
        }
        at += 1;
    }
    let escapes = disallowed + if stray { percents } else { 0 };
    if escapes == 0 {
        return Ok(());
    }
    // From the back, so that each byte moves once.
    let mut from = bytes.len();
    let mut to = from + 2 * escapes;
    reserve(bytes, 2 * escapes)?;
    bytes.resize(to, 0);
    while from < to && from > start {
        from -= 1;
        let byte = bytes[from];
        if allows(byte) || (byte == b'%' && !stray) {
            to -= 1;
            bytes[to] = byte;
        } else {
            to -= 3;
            bytes[to..to + 3].copy_from_slice(&percent_encoded(byte));
        }
    }
    Ok(())
}

fn percent_encoded(byte: u8) -> [u8; 3] {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    [b'%', HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]
}

/// What a ".." does that stands directly below the root.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Root {
    /// It is dropped, as RFC 3986 section 5.2.4 has it: "/..//a" is "//a".
    Stays,
    /// It takes the root's empty segment, so that an empty segment after it becomes the root: "/..//a" is "/a".
    Goes,
}

/// Appends the path without its "." and ".." segments. A path that is not empty begins with a slash afterwards.
pub(super) fn append_without_dots(bytes: &mut Vec<u8>, path: &[u8], root: Root) -> Result<()> {
    reserve(bytes, path.len().saturating_add(2))?;
    let start = bytes.len();
    if !has_dot_segment(path) {
        if !path.is_empty() && path[0] != b'/' {
            bytes.push(b'/');
        }
        return append(bytes, path);
    }
    let absolute = path.first() == Some(&b'/') || root == Root::Stays;
    // Segments written so far; they stand joined by slashes in bytes[start..]. No segments and one empty one differ.
    let mut count = 0usize;
    if path.first() != Some(&b'/') && absolute {
        count = 1;
    }
    let lowest = usize::from(root == Root::Stays);
    let mut ends_in_dots = false;
    for segment in path.split(|&byte| byte == b'/') {
        ends_in_dots = matches!(segment, b"." | b"..");
        match segment {
            b"." => {}
            b".." if count > lowest => {
                // Looks back only over what it removes: linear in all.
                let last = bytes[start..].iter().rposition(|&byte| byte == b'/').unwrap_or(0);
                bytes.truncate(start + last);
                count -= 1;
            }
            b".." => {}
            _ => {
                if count > 0 {
                    bytes.push(b'/');
                }
                bytes.extend_from_slice(segment);
                count += 1;
            }
        }
    }
    if absolute && (count == 0 || bytes.get(start).is_some_and(|&first| first != b'/')) {
        if count > 0 {
            bytes.insert(start, b'/');
        }
        count += 1;
    }
    if ends_in_dots && path.contains(&b'/') && count > 0 {
        bytes.push(b'/');
    }
    if bytes.get(start).is_some_and(|&first| first != b'/') {
        bytes.insert(start, b'/');
    }
    Ok(())
}

fn has_dot_segment(path: &[u8]) -> bool {
    let mut at_segment = true;
    for (i, &byte) in path.iter().enumerate() {
        if at_segment
            && byte == b'.'
            && matches!(path[i..], [b'.'] | [b'.', b'/', ..] | [b'.', b'.'] | [b'.', b'.', b'/', ..])
        {
            return true;
        }
        at_segment = byte == b'/';
    }
    false
}
