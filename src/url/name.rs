//! Host names that every reader of URLs takes for the same name.

use idna::uts46::{AsciiDenyList, DnsLength, Hyphens, Uts46};

/// The longest name that DNS has (RFC 1035 section 2.3.4), without the dot at its end.
pub(super) const MAX_NAME: usize = 253;
/// The longest label.
pub(super) const MAX_LABEL: usize = 63;
/// A longer text, in UTF-8, cannot be a name of [`MAX_NAME`]: its ASCII form has at least one byte a character.
pub(super) const MAX_TEXT: usize = 4 * MAX_NAME;

/// Letters that IDNA 2003 maps to others or drops, and IDNA 2008 keeps: sharp s, final sigma, the joiners.
const DEVIATIONS: [char; 4] = ['\u{df}', '\u{3c2}', '\u{200c}', '\u{200d}'];

/// The ASCII form of a name that IDNA (UTS 46, non-transitional) changes in nothing but letter case, and whose "xn--"
/// labels are what their Unicode form becomes. Otherwise where the label begins that is not so.
pub(super) fn plain_ascii(name: &str) -> Result<String, usize> {
    if name.len() > MAX_TEXT {
        return Err(0);
    }
    let mut at = 0;
    for label in name.split('.') {
        if !is_plain(label) {
            return Err(at);
        }
        at += label.len() + 1;
    }
    // As a whole once more: a right-to-left label asks something of the others (RFC 5893).
    match name.is_ascii() && !has_ace_label(name) {
        true => Ok(name.to_ascii_lowercase()),
        false => to_ascii(name).ok_or(0),
    }
}

fn is_plain(label: &str) -> bool {
    let is_ace = has_ace_label(label);
    if label.is_ascii() && !is_ace {
        return true;
    }
    let Some(ascii) = to_ascii(label) else { return false };
    let (unicode, valid) = Uts46::new().to_unicode(ascii.as_bytes(), AsciiDenyList::STD3, Hyphens::CheckFirstLast);
    if valid.is_err() || unicode.is_ascii() || unicode.contains('.') {
        return false;
    }
    if is_ace {
        return label.eq_ignore_ascii_case(&ascii) && to_ascii(&unicode).is_some_and(|again| again == ascii);
    }
    // As programs lower it: a capital sigma at the end has two small forms, and IDNA writes Cherokee in capitals.
    unicode == label.to_lowercase() && !unicode.contains(DEVIATIONS)
}

fn to_ascii(name: &str) -> Option<String> {
    let ascii = Uts46::new().to_ascii(name.as_bytes(), AsciiDenyList::URL, Hyphens::Allow, DnsLength::Ignore);
    ascii.ok().map(|ascii| ascii.into_owned())
}

fn has_ace_label(name: &str) -> bool {
    name.split('.').any(|label| label.get(..4).is_some_and(|prefix| prefix.eq_ignore_ascii_case("xn--")))
}

/// The WHATWG's "ends in a number": such a name is an IPv4 address to some readers, whatever it is made of.
pub(super) fn ends_in_a_number(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name);
    let last = name.rsplit('.').next().unwrap_or(name);
    let digits = |text: &str, radix: u32| text.chars().all(|c| c.is_digit(radix));
    match last.get(..2) {
        Some("0x" | "0X") => digits(&last[2..], 16),
        _ => !last.is_empty() && digits(last, 10),
    }
}
