//! Checks and limits that all URL parsers of this module share.

use crate::error::{Error, Result};
use crate::memory;
use crate::parse_cost::examined;
use crate::status::Status;

/// The maximum length of text to parse, in bytes. No server accepts a longer URL.
pub const MAX_LENGTH: usize = 16 * 1024 * 1024;

pub(super) fn utf8<'a>(text: &'a [u8], what: &str) -> Result<&'a str> {
    examined(text.len());
    std::str::from_utf8(text).map_err(|bad| {
        let at = bad.valid_up_to();
        Error::new(Status::InvalidUtf8, format!("{what} is not valid UTF-8 at byte {at}")).at(at)
    })
}

/// Makes the error for an invalid URL. The error message never contains text of the URL, because text that looks like a
/// host may be part of a password.
pub(super) fn invalid(problem: &str, at: usize) -> Error {
    Error::new(Status::InvalidUrl, format!("{problem} at byte {at}")).at(at)
}

/// Reserves memory for text that is made from a URL.
pub(super) fn reserve(bytes: &mut Vec<u8>, more: usize) -> Result<()> {
    memory::reserve(bytes, more, "text of a URL")
}

/// Converts digits, with any number of leading zeros, to a port. `None` if the number is more than 65535.
pub(super) fn port_number(digits: &[u8]) -> Option<u16> {
    digits.iter().try_fold(0u16, |port, digit| port.checked_mul(10)?.checked_add(u16::from(digit.wrapping_sub(b'0'))))
}
