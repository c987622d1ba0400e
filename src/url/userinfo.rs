//! Splits the userinfo into user and password.

use std::ffi::{CStr, CString};

use super::Url;
use super::measure::percent_decoded;
use super::text::{invalid, reserve};
use crate::error::Result;

/// A part of the userinfo: user or password.
#[derive(Clone, Copy)]
enum Part {
    Username,
    Password,
}

impl Url {
    /// Returns the user: the text before the userinfo's first colon, percent-decoded. The decoded bytes need not be
    /// valid UTF-8. `None` if the URL has no userinfo.
    pub fn username(&self) -> Result<Option<&CStr>> {
        self.credential(Part::Username)
    }

    /// Returns the password: the text after the userinfo's first colon, percent-decoded. `None` if the userinfo has no
    /// colon.
    pub fn password(&self) -> Result<Option<&CStr>> {
        self.credential(Part::Password)
    }

    fn credential(&self, part: Part) -> Result<Option<&CStr>> {
        let Some(auth) = self.auth().map(CStr::to_bytes) else { return Ok(None) };
        let colon = auth.iter().position(|&byte| byte == b':');
        let user_end = colon.unwrap_or(auth.len());
        let (name, encoded, at, cell) = match (part, colon) {
            (Part::Username, _) => ("user", &auth[..user_end], 0, &self.derived()?.username),
            (Part::Password, Some(colon)) => ("password", &auth[colon + 1..], colon + 1, &self.derived()?.password),
            (Part::Password, None) => return Ok(None),
        };
        if let Some(decoded) = cell.get() {
            return Ok(Some(decoded));
        }
        let mut decoded = Vec::new();
        reserve(&mut decoded, encoded.len() + 1)?;
        let decoded = decode(encoded, decoded).map_err(|bad| {
            invalid(&format!("the {name} has an encoded NUL, which would end the string,"), at + bad)
        })?;
        Ok(Some(cell.get_or_init(|| Box::new(decoded))))
    }
}

/// Decodes percent-encoded text. A "%" that does not begin a percent-encoding is kept. Fails with the offset of an
/// encoded NUL.
fn decode(encoded: &[u8], mut decoded: Vec<u8>) -> std::result::Result<CString, usize> {
    let mut i = 0;
    while let Some(&byte) = encoded.get(i) {
        let (byte, length) = percent_decoded(encoded, i).map_or((byte, 1), |byte| (byte, 3));
        if byte == 0 {
            return Err(i);
        }
        decoded.push(byte);
        i += length;
    }
    CString::new(decoded).map_err(|nul| nul.nul_position())
}
