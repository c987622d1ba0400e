//! Parses pushback headers: response headers in which a server asks for a wait in milliseconds, or not to retry.

use std::ffi::{CStr, CString};
use std::sync::Arc;

use crate::response::Response;

/// The syntax of a pushback header.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PushbackKind {
    /// A number of milliseconds. Any other value is ignored, as in AWS's SDKs.
    Milliseconds = 0,
    /// A number of milliseconds. Any other value, such as a negative number, asks not to retry (gRPC proposal A6).
    Grpc = 1,
}

impl PushbackKind {
    pub fn from_code(code: i32) -> Option<PushbackKind> {
        [PushbackKind::Milliseconds, PushbackKind::Grpc].into_iter().find(|kind| *kind as i32 == code)
    }
}

/// The name and the syntax of the pushback header.
#[derive(Clone, Debug)]
pub struct PushbackHeader {
    pub(super) name: Arc<CString>,
    pub(super) kind: PushbackKind,
}

/// The value of a pushback header.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Pushback {
    /// Wait for this number of seconds.
    Wait(f64),
    DoNotRetry,
}

impl PushbackHeader {
    pub fn name(&self) -> &CStr {
        &self.name
    }

    pub fn kind(&self) -> PushbackKind {
        self.kind
    }

    /// Returns the value of the header in a response; `None` if the header is absent or its value is ignored.
    pub(super) fn read(&self, response: &Response) -> Option<Pushback> {
        let mut values = response.headers().get_all(self.name.as_bytes());
        let (first, second) = (values.next()?, values.next());
        let milliseconds = if second.is_none() { milliseconds(first.to_bytes()) } else { None };
        match (self.kind, milliseconds) {
            // A value of gRPC is a signed 32-bit number.
            (PushbackKind::Grpc, Some(milliseconds)) if milliseconds > i32::MAX as u64 => Some(Pushback::DoNotRetry),
            (_, Some(milliseconds)) => Some(Pushback::Wait(milliseconds as f64 / 1000.0)),
            (PushbackKind::Grpc, None) => Some(Pushback::DoNotRetry),
            (PushbackKind::Milliseconds, None) => None,
        }
    }
}

/// Parses a number without a sign. A number above `u64::MAX` gives `u64::MAX`.
fn milliseconds(value: &[u8]) -> Option<u64> {
    let digits = value.trim_ascii();
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0u64, |number, digit| {
        let digit = digit.is_ascii_digit().then(|| u64::from(digit - b'0'))?;
        Some(number.saturating_mul(10).saturating_add(digit))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::headers::HeadersBuilder;

    #[test]
    fn invalid_pushback_values_are_ignored_or_end_the_retries() {
        let wait = |seconds| Some(Pushback::Wait(seconds));
        let (none, stop) = (None, Some(Pushback::DoNotRetry));
        for (values, expected, expected_grpc) in [
            (&[][..], none, none),
            (&["0"], wait(0.0), wait(0.0)),
            (&["1500"], wait(1.5), wait(1.5)),
            (&["007"], wait(0.007), wait(0.007)),
            (&["2147483647"], wait(2_147_483.647), wait(2_147_483.647)),
            (&["2147483648"], wait(2_147_483.648), stop),
            (&["99999999999999999999999"], wait(u64::MAX as f64 / 1000.0), stop),
            (&["-1"], none, stop),
            (&["+1"], none, stop),
            (&["1.5"], none, stop),
            (&["1 2"], none, stop),
            (&["invalid"], none, stop),
            (&[""], none, stop),
            (&["1", "2"], none, stop),
        ] {
            let mut headers = HeadersBuilder::new();
            for value in values {
                headers.add(b"X-Wait", value.as_bytes()).unwrap();
            }
            let response = Response::new("GET", 503, Arc::new(headers.build())).unwrap();
            for (kind, expected) in [(PushbackKind::Milliseconds, expected), (PushbackKind::Grpc, expected_grpc)] {
                let header = PushbackHeader { name: Arc::new(c"x-wait".to_owned()), kind };
                assert_eq!(header.read(&response), expected, "{values:?} {kind:?}");
            }
        }
    }
}
