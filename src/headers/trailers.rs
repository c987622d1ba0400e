//! Trailer fields: the fields after a chunked body (RFC 9110 section 6.5).

/// The names, in lower case, of the fields that a trailer must not contain, because a recipient evaluates them before
/// it reads the body (RFC 9110 section 6.5.1).
const FORBIDDEN: &[&[u8]] = &[
    // Message framing and the connection.
    b"connection",
    b"content-length",
    b"keep-alive",
    b"proxy-connection",
    b"te",
    b"trailer",
    b"transfer-encoding",
    b"upgrade",
    // Routing.
    b"host",
    b"max-forwards",
    // Authentication.
    b"authorization",
    b"cookie",
    b"proxy-authenticate",
    b"proxy-authorization",
    b"set-cookie",
    b"www-authenticate",
    // Request modifiers.
    b"expect",
    b"if-match",
    b"if-modified-since",
    b"if-none-match",
    b"if-range",
    b"if-unmodified-since",
    b"pragma",
    b"range",
    // Response controls.
    b"age",
    b"cache-control",
    b"expires",
    b"location",
    b"retry-after",
    b"vary",
    // Content format.
    b"content-encoding",
    b"content-range",
    b"content-type",
];

pub(crate) fn is_forbidden_in_trailer(name: &[u8]) -> bool {
    FORBIDDEN.iter().any(|forbidden| forbidden.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trailers_must_not_contain_framing_routing_auth_or_content_fields() {
        for name in ["Transfer-Encoding", "CONTENT-LENGTH", "host", "Set-Cookie", "If-None-Match", "Vary", "te"] {
            assert!(is_forbidden_in_trailer(name.as_bytes()), "{name}");
        }
        for name in ["Digest", "ETag", "Server-Timing", "grpc-status", "tes", "t", ""] {
            assert!(!is_forbidden_in_trailer(name.as_bytes()), "{name}");
        }
    }
}
