//! What the two sides of a stream have agreed on.

use std::ffi::c_char;

use crate::ffi::api::tls::stream::netlib_tls_stream;
use crate::ffi::enums::enum_netlib_tls_version;
use crate::ffi::strings::{lend_bytes, lend_text, read, read_bool};

/// How many certificates the peer sent; a resumed session has those of the first one.
///
/// @return the count; 0 before the handshake is done, and after one that failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_stream_peer_certificate_count(stream: *const netlib_tls_stream) -> usize {
    read(stream, 0, |stream| stream.session().map_or(0, |session| session.peer_chain().len()))
}

/// One certificate of the peer's chain as it was sent, in DER: `netlib_certificate_parse` has its text,
/// `netlib_assert_fingerprint` compares it with a pin. With `NETLIB_CERT_NONE` it was not verified. As Python's
/// `getpeercert(True)`, SSL_get_peer_cert_chain.
///
/// @param index 0, the peer's own, to count - 1; beyond, NULL is returned.
/// @return owned.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_stream_peer_certificate(
    stream: *const netlib_tls_stream,
    index: usize,
    len: *mut usize,
) -> *const u8 {
    lend_bytes(stream, len, |stream| stream.session()?.peer_chain().get(index).map(|certificate| &certificate[..]))
}

/// The application protocol that the two sides have agreed on (RFC 7301). As Python's `selected_alpn_protocol`.
///
/// @return NULL when there is none, and before the handshake is done.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_stream_alpn_protocol(
    stream: *const netlib_tls_stream,
    len: *mut usize,
) -> *const c_char {
    lend_text(stream, len, |stream| stream.session()?.alpn_protocol())
}

/// The server's name. A client: the host that the server has proved to be, in the form in which names are compared:
/// lower case, IDNA as ASCII, no trailing dot; with Encrypted Client Hello the name that is hidden. A server: the DNS
/// name that the client asked for (SNI). As Python's `SSLSocket.server_hostname` and OpenSSL's SSL_get_servername.
///
/// @return NULL when there is none, and before the handshake is done.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_stream_server_name(
    stream: *const netlib_tls_stream,
    len: *mut usize,
) -> *const c_char {
    lend_text(stream, len, |stream| stream.session()?.server_name())
}

/// The version that the two sides have agreed on. As SSL_version, which has the same numbers.
///
/// @return `NETLIB_TLS_VERSION_1_2` or `NETLIB_TLS_VERSION_1_3`; `NETLIB_TLS_VERSION_NONE` before the handshake is
///         done; `NETLIB_TLS_VERSION_NONE` for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_stream_version(stream: *const netlib_tls_stream) -> enum_netlib_tls_version {
    read(stream, 0, |stream| {
        stream.negotiated().and_then(|agreed| agreed.version).map_or(0, |version| version as i32)
    })
}

/// The cipher suite that the two sides have agreed on, by its name in the IANA registry: "TLS_AES_256_GCM_SHA384". As
/// SSL_CIPHER_standard_name.
///
/// @return NULL before the handshake is done.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_stream_cipher_suite(
    stream: *const netlib_tls_stream,
    len: *mut usize,
) -> *const c_char {
    lend_text(stream, len, |stream| stream.negotiated()?.cipher_suite)
}

/// The group with which the two sides made their keys, by its name in the IANA registry: "X25519MLKEM768", which
/// resists a quantum computer too, "x25519", "secp256r1". As SSL_get0_group_name.
///
/// @return NULL before the handshake is done, and for a resumed session of TLS 1.2, which makes no new keys.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_stream_key_exchange_group(
    stream: *const netlib_tls_stream,
    len: *mut usize,
) -> *const c_char {
    lend_text(stream, len, |stream| stream.negotiated()?.key_exchange_group)
}

/// Whether the session continues an earlier one of the same context and name (`netlib_tls_session`), without a new
/// proof of identity. As Python's `SSLSocket.session_reused`.
///
/// @return 0 or 1; 0 before the handshake is done.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_stream_is_resumed(stream: *const netlib_tls_stream) -> i32 {
    read_bool(stream, false, |stream| stream.negotiated().is_some_and(|agreed| agreed.is_resumed))
}
