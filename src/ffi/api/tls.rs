//! TLS on a socket you already have.
