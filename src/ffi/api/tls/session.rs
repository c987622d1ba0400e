//! What the two sides have agreed on.

use std::ffi::c_char;

use crate::ffi::api::tls::stream::netlib_tls_stream;
use crate::ffi::strings::{lend_bytes, lend_text, read};
use crate::tls::Stream;

/// The version that the two sides have agreed on.
///
/// @param stream the stream. May be NULL: 0 is returned.
/// @return `NETLIB_TLS_1_2` or `NETLIB_TLS_1_3`; 0 before the handshake is done.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_stream_version(stream: *const netlib_tls_stream) -> i32 {
    read(stream, 0, |stream| stream.version().map_or(0, |version| version as i32))
}

/// The cipher suite that the two sides have agreed on, by its name in the IANA registry: "TLS_AES_256_GCM_SHA384". OpenSSL
/// and Python have names of their own for those of TLS 1.2.
///
/// @param stream the stream. May be NULL: NULL is returned.
/// @param len out: the length in bytes without the NUL. May be NULL.
/// @return borrowed from `stream`; NULL before the handshake is done.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_stream_cipher_suite(
    stream: *const netlib_tls_stream,
    len: *mut usize,
) -> *const c_char {
    lend_text(stream, len, |stream| stream.cipher_suite())
}

/// The application protocol that the two sides have agreed on (RFC 7301).
///
/// @param stream the stream. May be NULL: NULL is returned.
/// @param len out: the length in bytes without the NUL. May be NULL.
/// @return borrowed from `stream`; NULL when there is none, and before the handshake is done.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_stream_alpn_protocol(
    stream: *const netlib_tls_stream,
    len: *mut usize,
) -> *const c_char {
    lend_text(stream, len, Stream::alpn_protocol)
}

/// How many certificates the peer sent.
///
/// @param stream the stream. May be NULL: 0 is returned.
/// @return the count; 0 before the handshake is done.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_stream_peer_certificate_count(stream: *const netlib_tls_stream) -> usize {
    read(stream, 0, |stream| stream.peer_chain().len())
}

/// One certificate of the peer's chain as it was sent, in DER: what other programs want.
/// With `NETLIB_CERT_NONE` it was not verified.
///
/// @param stream the stream. May be NULL: NULL is returned.
/// @param index 0, the peer's own, to count - 1; beyond, NULL is returned.
/// @param len out: the length in bytes. May be NULL.
/// @return borrowed from `stream`.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_stream_peer_certificate(
    stream: *const netlib_tls_stream,
    index: usize,
    len: *mut usize,
) -> *const u8 {
    lend_bytes(stream, len, |stream| stream.peer_chain().get(index).map(|certificate| &certificate[..]))
}
