//! TLS contexts and streams.
