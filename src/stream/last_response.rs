//! Records how much of the last response the application has read, to recognise a reused connection.

use crate::response::{Framing, Response};

/// How much of the last response the application has read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum LastResponse {
    /// There is no response, or the bytes after the response may belong to it or to another protocol.
    #[default]
    Unknown,
    /// The head of a response whose body ends before the connection does.
    Head,
    /// A whole response. No byte after the response has been read.
    Whole,
}

impl LastResponse {
    pub(super) fn after_head(response: &Response) -> LastResponse {
        // The bytes after a head with the status 101 belong to another protocol.
        if response.status() < 200 || response.opens_tunnel() {
            return LastResponse::Unknown;
        }
        match response.framing() {
            Ok(Framing::None | Framing::Length(0)) => LastResponse::Whole,
            Ok(Framing::Length(_) | Framing::Chunked) => LastResponse::Head,
            Ok(Framing::UntilClose) | Err(_) => LastResponse::Unknown,
        }
    }

    pub(super) fn end_body(&mut self) {
        if *self == LastResponse::Head {
            *self = LastResponse::Whole;
        }
    }

    /// Records that bytes were read without a response function.
    pub(super) fn add_bytes(&mut self) {
        if *self == LastResponse::Whole {
            *self = LastResponse::Unknown;
        }
    }
}
