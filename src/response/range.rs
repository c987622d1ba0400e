//! Ranges of a representation (RFC 9110 section 14): what a response sends, and whether it continues another response.

use std::ffi::CStr;

use super::{Framing, Response};
use crate::error::{Error, Result};
use crate::http_date;
use crate::status::Status;

/// The minimum number of seconds between Last-Modified and Date. A representation that changed within the second in
/// which it was sent may have changed again in that second; a larger distance also tolerates different clocks.
const STRONG_DATE_DISTANCE: f64 = 60.0;

/// The value of a Content-Range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContentRange {
    /// The first and the last byte that the response sends; `None` if the server sends none, because it cannot.
    pub bytes: Option<(i64, i64)>,
    /// The length of the whole representation, if the server knows it.
    pub total: Option<i64>,
}

impl Response {
    /// Returns the Content-Range; `None` if the response has none. Fails if the header is malformed, has a unit
    /// other than bytes, or occurs more than once.
    pub fn content_range(&self) -> Result<Option<ContentRange>> {
        let mut values = self.headers().get_all("content-range");
        let Some(value) = values.next() else { return Ok(None) };
        match parse(value.to_bytes()) {
            Some(range) if values.next().is_none() => Ok(Some(range)),
            _ => Err(Error::new(Status::InvalidHeader, "Content-Range is not one range of bytes")),
        }
    }

    /// Returns the value for If-Range: a strong ETag, or a strong Last-Modified; `None` if the response has neither.
    pub fn range_validator(&self) -> Option<&CStr> {
        let headers = self.headers();
        match headers.get("etag") {
            Some(tag) => Some(tag).filter(|tag| is_strong(tag.to_bytes())),
            None => {
                let date = |name: &str| http_date::parse(headers.get(name)?.to_bytes());
                let is_old = date("date")? - date("last-modified")? >= STRONG_DATE_DISTANCE;
                headers.get("last-modified").filter(|_| is_old)
            }
        }
    }

    /// Returns whether the body of this response continues the body of `first` at `offset`.
    pub fn resumes(&self, first: &Response, offset: i64) -> bool {
        let Ok(Some(ContentRange { bytes: Some((start, last)), total })) = self.content_range() else { return false };
        let has_other_length = match self.framing() {
            Ok(Framing::Length(length)) => length - 1 != last - start,
            Ok(_) => false,
            Err(_) => true,
        };
        let is_same_total = total.zip(first.total_length()).is_none_or(|(total, first)| total == first);
        let is_same_version = match (first.headers().get("etag"), self.headers().get("etag")) {
            (None, None) => first.has_same_date(self),
            (before, after) => before == after,
        };
        self.status() == 206 && start == offset && !has_other_length && is_same_total && is_same_version
    }

    /// A response to a request with If-Range may omit Last-Modified.
    fn has_same_date(&self, other: &Response) -> bool {
        let dates = [self, other].map(|response| response.headers().get("last-modified"));
        matches!(dates, [before, Some(after)] if before == Some(after)) || dates[1].is_none()
    }

    /// Returns the length of the whole representation, if the response states it.
    fn total_length(&self) -> Option<i64> {
        match self.content_range() {
            Ok(Some(range)) => range.total,
            _ => match self.framing() {
                Ok(Framing::Length(length)) if self.status() == 200 => Some(length),
                _ => None,
            },
        }
    }
}

fn is_strong(tag: &[u8]) -> bool {
    tag.len() >= 2 && tag.starts_with(b"\"") && tag.ends_with(b"\"")
}

fn parse(value: &[u8]) -> Option<ContentRange> {
    let (unit, range) = value.split_at_checked(6)?;
    let (bytes, total) = split(range, b'/')?;
    let total = if total == b"*" { None } else { Some(number(total)?) };
    let bytes = match bytes {
        b"*" => None,
        _ => {
            let (first, last) = split(bytes, b'-')?;
            Some((number(first)?, number(last)?))
        }
    };
    let is_valid = match bytes {
        Some((first, last)) => first <= last && total.is_none_or(|total| last < total),
        None => total.is_some(),
    };
    (unit.eq_ignore_ascii_case(b"bytes ") && is_valid).then_some(ContentRange { bytes, total })
}

fn split(text: &[u8], at: u8) -> Option<(&[u8], &[u8])> {
    let found = text.iter().position(|&byte| byte == at)?;
    Some((text.get(..found)?, text.get(found + 1..)?))
}

fn number(digits: &[u8]) -> Option<i64> {
    let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    str::from_utf8(digits).ok().filter(|_| is_number)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_range_has_no_length_that_overflows() {
        let head = b"HTTP/1.1 206 x\r\nContent-Range: bytes 0-9223372036854775807/*\r\nContent-Length: 0\r\n\r\n";
        let (response, _) = Response::parse("GET", head, &mut 0).unwrap().unwrap();
        assert!(!response.resumes(&response, 0));
    }
}
