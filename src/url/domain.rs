//! Checks that every URL parser understands a host name as the same name.

use idna::uts46::{AsciiDenyList, DnsLength, Hyphens, Uts46};

/// The maximum length of a DNS name (RFC 1035 section 2.3.4), without the final dot.
pub(super) const MAX_NAME: usize = 253;
/// The maximum length of a label in a DNS name.
pub(super) const MAX_LABEL: usize = 63;
/// The maximum length of a DNS name in UTF-8. The ASCII form of a longer text would exceed [`MAX_NAME`], because a
/// character has at most four bytes in UTF-8 and at least one byte in the ASCII form.
pub(super) const MAX_TEXT: usize = 4 * MAX_NAME;

/// The characters that IDNA 2003 maps or drops and IDNA 2008 keeps: sharp s, final sigma, and the two joiners.
const DEVIATIONS: [char; 4] = ['\u{df}', '\u{3c2}', '\u{200c}', '\u{200d}'];

/// Returns the ASCII form of a DNS name. The name must be unambiguous: IDNA (UTS 46, non-transitional) changes only its
/// letter case, and each "xn--" label is the ASCII form of its Unicode form. For an ambiguous name, fails with the
/// offset of the first label that is ambiguous.
pub(super) fn unambiguous_ascii(name: &str) -> Result<String, usize> {
    if name.len() > MAX_TEXT {
        return Err(0);
    }
    let mut at = 0;
    for label in name.split('.') {
        if !is_unambiguous(label) {
            return Err(at);
        }
        at += label.len() + 1;
    }
    // The name as a whole is also checked, because a right-to-left label restricts the other labels (RFC 5893).
    match name.is_ascii() && !has_ace_label(name) {
        true => Ok(name.to_ascii_lowercase()),
        false => to_ascii(name).ok_or(0),
    }
}

fn is_unambiguous(label: &str) -> bool {
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
    // Compares with the Unicode lower case of the label, because a final capital sigma has two lower-case forms, and
    // IDNA writes Cherokee in capitals.
    unicode == label.to_lowercase() && !unicode.contains(DEVIATIONS)
}

fn to_ascii(name: &str) -> Option<String> {
    let ascii = Uts46::new().to_ascii(name.as_bytes(), AsciiDenyList::URL, Hyphens::Allow, DnsLength::Ignore);
    ascii.ok().map(|ascii| ascii.into_owned())
}

fn has_ace_label(name: &str) -> bool {
    name.split('.').any(|label| label.get(..4).is_some_and(|prefix| prefix.eq_ignore_ascii_case("xn--")))
}

/// Performs the "ends in a number" check of the WHATWG URL Standard, for a name without a final dot. WHATWG parsers
/// treat a name that ends in a number as an IPv4 address.
pub(super) fn ends_in_a_number(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or(name);
    let digits = |text: &str, radix: u32| text.chars().all(|c| c.is_digit(radix));
    match last.get(..2) {
        Some("0x" | "0X") => digits(&last[2..], 16),
        _ => !last.is_empty() && digits(last, 10),
    }
}
