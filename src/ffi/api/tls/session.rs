//! Negotiated parameters of a stream.

use std::ffi::c_char;

use crate::ffi::api::stream::netlib_stream;
use crate::ffi::enums::enum_netlib_tls_version;
use crate::ffi::strings::{lend_bytes, lend_text, read, read_bool};

/// Returns the number of certificates that the peer sent; 0 before the handshake is done, and after a handshake that
/// failed. A resumed session has the certificates of the original session.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_stream_peer_certificate_count(stream: *const netlib_stream) -> usize {
    read(stream, 0, |stream| stream.session().map_or(0, |session| session.peer_chain().len()))
}

/// Returns a certificate of the chain that the peer sent, in DER. `netlib_certificate_parse` parses the DER;
/// `netlib_assert_fingerprint` compares a certificate with a fingerprint. With `NETLIB_CERT_NONE`, the certificate was
/// not verified. Corresponds to Python's `getpeercert(True)` and OpenSSL's SSL_get_peer_cert_chain.
///
/// @param index a number from 0 (the peer's own certificate) to the number of certificates minus 1; for a larger index,
///        NULL is returned.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_stream_peer_certificate(
    stream: *const netlib_stream,
    index: usize,
    len: *mut usize,
) -> *const u8 {
    lend_bytes(stream, len, |stream| stream.session()?.peer_chain().get(index).map(|certificate| &certificate[..]))
}

/// Returns the application protocol that was negotiated (RFC 7301); NULL when there is none, and before the handshake
/// is done. Corresponds to Python's `selected_alpn_protocol`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_stream_alpn_protocol(stream: *const netlib_stream, len: *mut usize) -> *const c_char {
    lend_text(stream, len, |stream| stream.session()?.alpn_protocol())
}

/// Returns the server's host name; NULL when there is none, and before the handshake is done. On a client, the result
/// is the host name with which the stream was made, in the form in which names are compared: lower case, IDNA as ASCII,
/// no trailing dot; with Encrypted Client Hello, the hidden name. The server has proved this name, unless the context
/// does not check host names. On a server, the result is the DNS name that the client requested (SNI). Corresponds to
/// Python's `SSLSocket.server_hostname` and OpenSSL's SSL_get_servername.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_stream_server_name(stream: *const netlib_stream, len: *mut usize) -> *const c_char {
    lend_text(stream, len, |stream| stream.session()?.server_name())
}

/// Returns the TLS version that was negotiated: `NETLIB_TLS_VERSION_1_2` or `NETLIB_TLS_VERSION_1_3`;
/// `NETLIB_TLS_VERSION_NONE` before the handshake is done and for NULL. Corresponds to OpenSSL's SSL_version, which has
/// the same numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_stream_tls_version(stream: *const netlib_stream) -> enum_netlib_tls_version {
    read(stream, 0, |stream| {
        stream.negotiated().and_then(|agreed| agreed.version).map_or(0, |version| version as i32)
    })
}

/// Returns the IANA name of the cipher suite that was negotiated, for example "TLS_AES_256_GCM_SHA384"; NULL before the
/// handshake is done. Corresponds to OpenSSL's SSL_CIPHER_standard_name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_stream_cipher_suite(stream: *const netlib_stream, len: *mut usize) -> *const c_char {
    lend_text(stream, len, |stream| stream.negotiated()?.cipher_suite)
}

/// Returns the length of the negotiated cipher suite's symmetric key in bits: 128 or 256; 0 before the handshake is
/// done. Corresponds to OpenSSL's SSL_CIPHER_get_bits, and to the last item of Python's `SSLSocket.cipher()`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_stream_cipher_suite_bits(stream: *const netlib_stream) -> i32 {
    read(stream, 0, |stream| stream.negotiated().and_then(|agreed| agreed.cipher_suite_bits).map_or(0, i32::from))
}

/// Returns the IANA name of the key exchange group, for example "X25519MLKEM768" (which also resists attacks with a
/// quantum computer), "x25519" or "secp256r1"; NULL before the handshake is done, and for a resumed TLS 1.2 session,
/// which exchanges no keys. Corresponds to OpenSSL's SSL_get0_group_name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_stream_key_exchange_group(
    stream: *const netlib_stream,
    len: *mut usize,
) -> *const c_char {
    lend_text(stream, len, |stream| stream.negotiated()?.key_exchange_group)
}

/// Returns 1 if the handshake resumed an earlier session (`netlib_tls_session`) of the same context and host name; 0 if
/// the handshake resumed no session, or is not done. In a resumed session, the server does not prove its identity
/// again. Corresponds to Python's `SSLSocket.session_reused`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_stream_is_resumed(stream: *const netlib_stream) -> i32 {
    read_bool(stream, false, |stream| stream.negotiated().is_some_and(|agreed| agreed.is_resumed))
}
