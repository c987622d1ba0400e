//! Parses the trailer of a chunked body (RFC 9112 section 7.1.2). The trailer follows stricter rules than a head, which
//! may have lines that end with LF alone, folded lines, and control characters in values.

use super::chunked::ChunkedLimits;
use crate::error::Result;
use crate::headers::fields::{Line, protocol_error, split_field, trim};
use crate::headers::trailers::is_forbidden_in_trailer;
use crate::headers::{Headers, HeadersBuilder, describe_byte, find_control, truncated_name};
use crate::memory;

/// A trailer that is not complete.
#[derive(Debug, Default)]
pub(super) struct Trailer {
    /// The received bytes of the current line, whose LF has not arrived.
    line: Vec<u8>,
    /// The length of the lines before the current line.
    length: usize,
    fields: HeadersBuilder,
}

impl Trailer {
    /// Adds bytes of one line; the last of these bytes may be the LF of the line. Returns the fields of the trailer if
    /// the line is the empty line at the end of the trailer. `offset` is the offset of the bytes in the body.
    pub(super) fn add(
        &mut self,
        bytes: &[u8],
        offset: usize,
        limits: &ChunkedLimits,
        allow_bare_lf: bool,
    ) -> Result<Option<Headers>> {
        let start = offset.saturating_sub(self.line.len());
        if self.length + self.line.len() + bytes.len() > limits.trailer {
            let what = format!("the trailer has more than {} bytes", limits.trailer);
            return Err(protocol_error(what, start.saturating_add(limits.trailer.saturating_sub(self.length))));
        }
        memory::grow(&mut self.line, bytes.len(), "a trailer")?;
        self.line.extend_from_slice(bytes);
        let Some(line) = self.line.strip_suffix(b"\n") else { return Ok(None) };
        let text = match line.strip_suffix(b"\r") {
            Some(text) => text,
            None if allow_bare_lf => line,
            None => return Err(protocol_error("a trailer line ends with LF without CR", start + line.len())),
        };
        if text.is_empty() {
            return Ok(Some(std::mem::take(&mut self.fields).build()));
        }
        if self.fields.len() >= limits.trailer_fields {
            let what = format!("the trailer has more than {} fields", limits.trailer_fields);
            return Err(protocol_error(what, start));
        }
        let (name, value) = field(text, start)?;
        self.fields.add(name, value)?;
        self.length += self.line.len();
        self.line.clear();
        Ok(None)
    }
}

/// Returns name and value of the field in `text`, a trailer line without its line end.
fn field(text: &[u8], start: usize) -> Result<(&[u8], &[u8])> {
    if let [b' ' | b'\t', ..] = text {
        return Err(protocol_error("a trailer line begins with whitespace", start));
    }
    let (name, value) = split_field(&Line { text, start }, 0).map_err(|error| error.prefixed("trailer"))?;
    let fail = |what: &dyn std::fmt::Display, at: usize| -> Result<_> {
        Err(protocol_error(format_args!("trailer: header {}: {what}", truncated_name(name)), at))
    };
    if is_forbidden_in_trailer(name) {
        return fail(&"a trailer must not contain this header; the line begins", start);
    }
    if let Some(at) = find_control(value) {
        let byte = describe_byte(value.get(at).copied().unwrap_or_default());
        let what = format!("{byte} is not allowed in the value");
        return fail(&what, start + name.len() + 1 + at);
    }
    Ok((name, trim(value)))
}
