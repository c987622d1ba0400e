//! Request and response headers: ordered lists of fields, `make_headers`, and the defects of a raw header block.

use std::ffi::{CStr, CString};

use once_cell::race::OnceBox;

use crate::error::{Error, Result};
use crate::memory;
use crate::status::Status;

mod defects;
mod make;
pub(crate) mod fields;
pub(crate) mod trailers;

pub use defects::assert_header_parsing;
pub use fields::MAX_FIELDS;
pub use make::{HeaderOptions, make_headers};

/// The maximum number of bytes of names and values in one header list. The maximum is far above what servers accept,
/// but so small that size computations cannot overflow.
pub const MAX_BYTES: usize = 16 * 1024 * 1024;

/// An ordered list of header fields, immutable once built. Names are compared case-insensitively, but keep their case.
/// Fields with the same name are not merged.
#[derive(Debug, Default)]
pub struct Headers {
    fields: Fields,
    wire: OnceBox<Wire>,
}

/// Names and values in one buffer, each followed by a NUL. So C code can read a field without a copy, and a list of any
/// length needs only two allocations.
#[derive(Clone, Debug, Default)]
struct Fields {
    bytes: Vec<u8>,
    spans: Vec<Span>,
}

/// The offsets and lengths of a field's name and value, without their NULs. Offsets and lengths fit in 32 bits, because
/// [`MAX_BYTES`] does.
#[derive(Clone, Copy, Debug)]
struct Span {
    name: u32,
    name_length: u32,
    value: u32,
    value_length: u32,
}

impl Span {
    fn new(name: usize, name_length: usize, value: usize, value_length: usize) -> Span {
        Span {
            name: name as u32,
            name_length: name_length as u32,
            value: value as u32,
            value_length: value_length as u32,
        }
    }
}

impl Fields {
    /// Makes an empty list with memory for this many fields and bytes. The bytes include a NUL after each name and
    /// value.
    fn with_capacity(fields: usize, bytes: usize) -> Result<Fields> {
        let mut room = Fields::default();
        memory::reserve(&mut room.bytes, bytes, "headers")?;
        memory::reserve(&mut room.spans, fields, "headers")?;
        Ok(room)
    }

    fn try_clone(&self) -> Result<Fields> {
        let mut copy = Fields::with_capacity(self.spans.len(), self.bytes.len())?;
        copy.bytes.extend_from_slice(&self.bytes);
        copy.spans.extend_from_slice(&self.spans);
        Ok(copy)
    }

    /// Adds a field whose name and value were already checked. The value is the concatenation of two slices.
    fn push(&mut self, name: &[u8], value: [&[u8]; 2]) -> Result<()> {
        let [front, back] = value;
        let more = [name.len(), front.len(), back.len(), 2].into_iter().fold(0, usize::saturating_add);
        if self.bytes.len().saturating_add(more) > MAX_BYTES {
            let message =
                format!("header {}: the header list would have more than {MAX_BYTES} bytes", truncated_name(name));
            return Err(invalid_header_error(message));
        }
        memory::grow_wiping(&mut self.bytes, more, "a header")?;
        memory::grow(&mut self.spans, 1, "a header")?;
        let start = self.bytes.len();
        self.bytes.extend_from_slice(name);
        self.bytes.push(0);
        let middle = self.bytes.len();
        self.bytes.extend_from_slice(front);
        self.bytes.extend_from_slice(back);
        self.bytes.push(0);
        self.spans.push(Span::new(start, name.len(), middle, front.len() + back.len()));
        Ok(())
    }

    fn text(&self, start: u32, length: u32) -> Option<&CStr> {
        let start = start as usize;
        CStr::from_bytes_with_nul(self.bytes.get(start..start + length as usize + 1)?).ok()
    }

    fn value(&self, span: &Span) -> Option<&CStr> {
        self.text(span.value, span.value_length)
    }

    fn at(&self, index: usize) -> Option<(&CStr, &CStr)> {
        let span = self.spans.get(index)?;
        Some((self.text(span.name, span.name_length)?, self.value(span)?))
    }

    fn iter(&self) -> impl Iterator<Item = (&CStr, &CStr)> {
        (0..self.spans.len()).filter_map(|index| self.at(index))
    }

    /// Returns the values of all fields with this name. Compares the lengths of names first, because they differ for
    /// most fields.
    fn named(&self, name: impl AsRef<[u8]>) -> impl Iterator<Item = &CStr> {
        self.spans.iter().filter_map(move |span| {
            let name = name.as_ref();
            if span.name_length as usize != name.len() {
                return None;
            }
            let start = span.name as usize;
            let same = self.bytes.get(start..start + name.len())?.eq_ignore_ascii_case(name);
            if same { self.value(span) } else { None }
        })
    }
}

/// Wipes the memory of the fields, because values may be credentials.
impl Drop for Fields {
    fn drop(&mut self) {
        memory::wipe(&mut self.bytes);
    }
}

/// The field lines in the form in which they are sent.
#[derive(Debug)]
struct Wire(CString);

impl Drop for Wire {
    fn drop(&mut self) {
        memory::wipe(&mut std::mem::take(&mut self.0).into_bytes());
    }
}

impl Headers {
    pub fn len(&self) -> usize {
        self.fields.spans.len()
    }

    pub fn is_empty(&self) -> bool {
        self.fields.spans.is_empty()
    }

    /// Returns name and value of the field at this index.
    pub fn at(&self, index: usize) -> Option<(&CStr, &CStr)> {
        self.fields.at(index)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&CStr, &CStr)> {
        self.fields.iter()
    }

    /// Returns the value of the first field with this name.
    pub fn get(&self, name: impl AsRef<[u8]>) -> Option<&CStr> {
        self.fields.named(name).next()
    }

    /// Returns the values of all fields with this name, in order.
    pub fn get_all(&self, name: impl AsRef<[u8]>) -> impl Iterator<Item = &CStr> {
        self.fields.named(name)
    }

    /// Returns the bytes to send: one line per field, without the empty line that ends a head. The first call makes the
    /// bytes, and later calls return the same bytes.
    pub fn wire(&self) -> Result<&CStr> {
        if self.wire.get().is_none() {
            let made = self.make_wire()?;
            // The result of `set` is ignored: another thread may already have set the same bytes.
            let _ = self.wire.set(Box::new(Wire(made)));
        }
        Ok(self.wire.get().map_or(c"", |wire| wire.0.as_c_str()))
    }

    fn make_wire(&self) -> Result<CString> {
        let mut lines = Vec::new();
        // Each field needs two more bytes, because ": " and CRLF replace its two NULs.
        memory::reserve(&mut lines, self.fields.bytes.len() + 2 * self.len() + 1, "the lines of headers")?;
        for (name, value) in self.iter() {
            lines.extend_from_slice(name.to_bytes());
            lines.extend_from_slice(b": ");
            lines.extend_from_slice(value.to_bytes());
            lines.extend_from_slice(b"\r\n");
        }
        lines.push(0);
        Ok(CString::from_vec_with_nul(lines).unwrap_or_default())
    }

    /// Fails if a value contains a control character except a tab. A recipient may keep such a value (RFC 9110 section
    /// 5.5), but must not send it, because some recipients end a line at a control character such as VT.
    pub(crate) fn check_controls(&self) -> Result<()> {
        for (name, value) in self.iter() {
            let value = value.to_bytes();
            if let Some(at) = find_control(value) {
                return Err(invalid_value_error(name.to_bytes(), value, at));
            }
        }
        Ok(())
    }

    /// Returns a copy of the list without the fields for whose names `drop` returns true. The closure `drop` gets each
    /// header name in its original letter case.
    pub fn without(&self, drop: impl Fn(&str) -> bool) -> Result<Headers> {
        let mut kept = Fields::with_capacity(self.len(), self.fields.bytes.len())?;
        for (name, value) in self.iter() {
            // A name is a token, hence ASCII.
            if !drop(name.to_str().unwrap_or("")) {
                kept.push(name.to_bytes(), [value.to_bytes(), b""])?;
            }
        }
        Ok(kept.into())
    }

    /// Returns a copy of the list in which exactly one field has this name and value: the value replaces that of the
    /// first field with this name, or the field is added at the end. Without a value, no field has this name.
    pub fn with(&self, name: &[u8], value: Option<&[u8]>) -> Result<Headers> {
        check_name(name)?;
        if let Some(value) = value {
            check_value(name, value)?;
        }
        let mut changed = Fields::with_capacity(self.len(), self.fields.bytes.len())?;
        let mut missing = value;
        for (old_name, old_value) in self.iter() {
            if !old_name.to_bytes().eq_ignore_ascii_case(name) {
                changed.push(old_name.to_bytes(), [old_value.to_bytes(), b""])?;
            } else if let Some(value) = missing.take() {
                changed.push(name, [value, b""])?;
            }
        }
        if let Some(value) = missing {
            changed.push(name, [value, b""])?;
        }
        Ok(changed.into())
    }
}

/// Builds a header list from checked names and values, so that no list from an application contains CR or LF in a name
/// or value.
#[derive(Clone, Debug, Default)]
pub struct HeadersBuilder {
    fields: Fields,
}

impl HeadersBuilder {
    pub fn new() -> HeadersBuilder {
        HeadersBuilder::default()
    }

    /// Copies the list, and fails if memory runs out.
    pub(crate) fn try_clone(&self) -> Result<HeadersBuilder> {
        Ok(HeadersBuilder { fields: self.fields.try_clone()? })
    }

    pub fn len(&self) -> usize {
        self.fields.spans.len()
    }

    pub fn is_empty(&self) -> bool {
        self.fields.spans.is_empty()
    }

    /// Appends a field to the list. The name must be a token (RFC 9110 section 5.1); the value may have any bytes
    /// except CR, LF and NUL (section 5.5).
    pub fn add(&mut self, name: &[u8], value: &[u8]) -> Result<()> {
        check_name(name)?;
        check_value(name, value)?;
        self.fields.push(name, [value, b""])
    }

    pub fn build(self) -> Headers {
        self.fields.into()
    }
}

impl From<Fields> for Headers {
    fn from(fields: Fields) -> Headers {
        Headers { fields, wire: OnceBox::new() }
    }
}

/// Returns whether a token may contain the byte: RFC 9110 section 5.6.2.
pub(crate) const fn is_token_byte(byte: u8) -> bool {
    TOKEN[byte as usize]
}

const TOKEN: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        let marks = b"!#$%&'*+-.^_`|~";
        let mut mark = 0;
        while mark < marks.len() {
            table[marks[mark] as usize] = true;
            mark += 1;
        }
        table[byte] |= (byte as u8).is_ascii_alphanumeric();
        byte += 1;
    }
    table
};

/// Checks that a request method is a token (RFC 9110 section 9.1). `parameter` is the name of the API parameter that
/// contains the method.
pub(crate) fn check_method(parameter: &str, method: &str) -> Result<()> {
    let invalid = |message: String, at| Err(Error::new(Status::InvalidArgument, message).at(at));
    if method.is_empty() {
        return invalid(format!("{parameter} is empty"), 0);
    }
    if let Some((at, byte)) = method.bytes().enumerate().find(|(_, byte)| !is_token_byte(*byte)) {
        // The error message does not contain the method, because the caller may have passed a URL with a password by
        // mistake.
        return invalid(format!("{parameter}: {} is not allowed at byte {at}", describe_byte(byte)), at);
    }
    Ok(())
}

fn check_name(name: &[u8]) -> Result<()> {
    if name.is_empty() {
        return Err(invalid_header_error("a header's name is empty").at(0));
    }
    match name.iter().position(|&byte| !is_token_byte(byte)) {
        None => Ok(()),
        Some(at) => {
            // The error message contains only the text before the invalid byte. If the caller passed a whole header
            // line as the name, the text before the colon is the actual name.
            let good = truncated_name(name.get(..at).unwrap_or_default());
            let bad = name.get(at).copied().unwrap_or_default();
            let message =
                format!("header name beginning \"{good}\": {} is not allowed at byte {at}", describe_byte(bad));
            Err(invalid_header_error(message).at(at))
        }
    }
}

/// Makes the error for a header that the caller passed. The error is never retried, because the header cannot be sent
/// in any request.
pub(crate) fn invalid_header_error(message: impl AsRef<str>) -> Error {
    Error::new(Status::InvalidHeader, message).never_retried()
}

/// Fails if the value contains CR, LF or NUL.
fn check_value(name: &[u8], value: &[u8]) -> Result<()> {
    memchr::memchr3(b'\r', b'\n', 0, value).map_or(Ok(()), |at| Err(invalid_value_error(name, value, at)))
}

/// Makes the error for the byte of the value at `at`. The error message contains `name`, but not the value, which may be
/// a credential.
fn invalid_value_error(name: &[u8], value: &[u8], at: usize) -> Error {
    let bad = value.get(at).copied().unwrap_or_default();
    let name = truncated_name(name);
    let message = format!("header {name}: {} is not allowed in the value at byte {at}", describe_byte(bad));
    invalid_header_error(message).at(at)
}

/// Finds the first control character of a value, except tabs, which a value may contain (RFC 9110 section 5.5).
pub(crate) fn find_control(value: &[u8]) -> Option<usize> {
    value.iter().position(|byte| byte.is_ascii_control() && *byte != b'\t')
}

/// Returns a header name for an error message, truncated if it is long.
pub(crate) fn truncated_name(name: &[u8]) -> String {
    const SHOWN: usize = 64;
    let shown = String::from_utf8_lossy(name.get(..SHOWN).unwrap_or(name)).into_owned();
    if name.len() > SHOWN { shown + "..." } else { shown }
}

pub(crate) fn describe_byte(byte: u8) -> String {
    match byte {
        b'\r' => "CR".to_owned(),
        b'\n' => "LF".to_owned(),
        0 => "NUL".to_owned(),
        b'\t' => "a tab".to_owned(),
        b' ' => "a space".to_owned(),
        b'!'..=b'~' => format!("\"{}\"", char::from(byte)),
        _ => format!("byte 0x{byte:02x}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(fields: &[(&str, &str)]) -> Headers {
        let mut builder = HeadersBuilder::new();
        for (name, value) in fields {
            builder.add(name.as_bytes(), value.as_bytes()).unwrap();
        }
        builder.build()
    }

    #[test]
    fn a_header_list_keeps_order_letter_case_and_repeated_names() {
        let headers = list(&[("Set-Cookie", "a=1"), ("X-Y", ""), ("set-cookie", "b=2")]);
        assert_eq!((headers.len(), headers.is_empty()), (3, false));
        assert_eq!(headers.at(0), Some((c"Set-Cookie", c"a=1")));
        assert_eq!(headers.at(1), Some((c"X-Y", c"")));
        assert_eq!(headers.at(3), None);
        assert_eq!(headers.get("SET-cookie"), Some(c"a=1"));
        assert_eq!(headers.get("cookie"), None);
        assert_eq!(headers.get_all("set-Cookie").collect::<Vec<_>>(), [c"a=1", c"b=2"]);
        assert_eq!(headers.wire().unwrap(), c"Set-Cookie: a=1\r\nX-Y: \r\nset-cookie: b=2\r\n");
        assert!(std::ptr::eq(headers.wire().unwrap(), headers.wire().unwrap()));
    }

    #[test]
    fn an_empty_header_list_has_an_empty_wire_form() {
        let headers = HeadersBuilder::new().build();
        assert_eq!((headers.len(), headers.at(0), headers.wire().unwrap()), (0, None, c""));
    }

    #[test]
    fn removing_headers_by_name_leaves_the_original_list_unchanged() {
        let headers = list(&[("Authorization", "x"), ("Accept", "*/*"), ("AUTHORIZATION", "y")]);
        let kept = headers.without(|name| name.eq_ignore_ascii_case("authorization")).unwrap();
        assert_eq!(kept.wire().unwrap(), c"Accept: */*\r\n");
        assert_eq!(headers.len(), 3);
    }

    #[test]
    fn header_values_with_cr_lf_or_nul_are_refused() {
        for (bad, word) in [(b'\r', "CR"), (b'\n', "LF"), (0, "NUL")] {
            for at in 0..4 {
                let mut value = *b"s3cr";
                value[at] = bad;
                let error = HeadersBuilder::new().add(b"Authorization", &value).unwrap_err();
                assert_eq!((error.status(), error.offset()), (Status::InvalidHeader, Some(at)));
                let expected = format!("header Authorization: {word} is not allowed in the value at byte {at}");
                assert_eq!(error.message(), expected);
            }
        }
    }

    #[test]
    fn header_names_that_are_not_tokens_are_refused() {
        for byte in 0..=255u8 {
            let allowed = HeadersBuilder::new().add(&[b'a', byte], b"v").is_ok();
            let token = byte.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(char::from(byte));
            assert_eq!(allowed, token, "{byte}");
        }
        assert_eq!(HeadersBuilder::new().add(b"", b"v").unwrap_err().offset(), Some(0));
        let error = HeadersBuilder::new().add(b"Authorization: Basic c2VjcmV0", b"").unwrap_err();
        assert_eq!(error.message(), "header name beginning \"Authorization\": \":\" is not allowed at byte 13");
    }

    #[test]
    fn a_header_list_of_more_than_16_mib_is_refused() {
        let mut builder = HeadersBuilder::new();
        let value = vec![b'v'; MAX_BYTES - 3];
        builder.add(b"n", &value).unwrap();
        assert_eq!(builder.add(b"n", b"").unwrap_err().status(), Status::InvalidHeader);
        assert_eq!(builder.len(), 1);
        assert_eq!(builder.build().wire().unwrap().count_bytes(), MAX_BYTES + 2);
    }

    #[test]
    fn headers_are_send_and_sync() {
        fn shared<T: Send + Sync>() {}
        shared::<Headers>();
    }
}
