//! TLS streams on descriptors, and the handshake.

use std::ffi::{c_char, c_int};
use std::sync::Arc;

use crate::ffi::api::basics::{netlib_error, netlib_status};
use crate::ffi::api::stream::netlib_stream;
use crate::ffi::api::tls::netlib_tls_context;
use crate::ffi::args::{arg_kept_alive, arg_shared, arg_str_opt};
use crate::ffi::guard;
use crate::ffi::out::outs;
use crate::stream::Stream;

/// Makes a client's TLS stream on a connected descriptor. The call does no I/O: the first read or write, or
/// `netlib_stream_handshake`, makes the handshake. By default, the stream is blocking and waits without a time limit:
/// see `netlib_stream_set_limit` and `netlib_stream_set_read_timeout`.
///
/// `server_hostname` is a DNS name (Unicode is converted to IDNA by UTS 46) or an IP address, with or without brackets.
/// The server's certificate must be for this name or address (RFC 9525). A DNS name is also sent to the server, which
/// selects its certificate by the name (SNI, RFC 6066 section 3). One trailing dot is dropped, and a zone ID
/// (fe80::1%eth0) is ignored. A stream resumes only sessions of streams with the same context, name and offered
/// application protocols.
///
/// Corresponds to Python's `wrap_socket` with do_handshake_on_connect=False, and to OpenSSL's SSL_set_fd with
/// SSL_set1_host and SSL_set_tlsext_host_name.
///
/// @param fd a connected stream socket, borrowed. For an invalid descriptor, the handshake fails with `NETLIB_IO`.
/// @param server_hostname the host name that the server must prove. May be NULL, or empty, only if the context does not
///        check host names (`netlib_tls_options_set_check_hostname` with 0).
/// @return `NETLIB_INVALID_ARGUMENT` for an invalid or missing host name, for an IP address if the context has an
///         ECHConfigList, and for a listening socket; `NETLIB_INVALID_UTF8`; `NETLIB_NO_TRUST_ANCHORS` if the context
///         verifies chains but has no trusted certificates.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_wrap_fd(
    context: *const netlib_tls_context,
    fd: c_int,
    server_hostname: *const c_char,
    stream: *mut *mut netlib_stream,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let stream = outs!(stream);
        let context = arg_shared!(context);
        let server_hostname = arg_str_opt!(server_hostname);
        stream.give(Arc::new(Stream::client(&context, fd, server_hostname)?));
        Ok(())
    })
}

/// Makes a server's TLS stream on a descriptor from accept(2). Like `netlib_tls_wrap_fd`, the call does no I/O. If the
/// server's context and the client both list application protocols, the two lists must have a protocol in common.
/// Corresponds to Python's `wrap_socket` with server_side=True.
///
/// @param context the server's context, which must have a local certificate.
/// @param fd a connected stream socket, borrowed. For an invalid descriptor, the handshake fails with `NETLIB_IO`.
/// @return `NETLIB_INVALID_ARGUMENT` if the context has no local certificate, has pins but requests no certificate, or
///         sends Encrypted Client Hello (`netlib_tls_context_with_ech`, `netlib_tls_options_set_ech_grease`), and for a
///         listening socket.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_accept_fd(
    context: *const netlib_tls_context,
    fd: c_int,
    stream: *mut *mut netlib_stream,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let stream = outs!(stream);
        let context = arg_shared!(context);
        stream.give(Arc::new(Stream::server(&context, fd)?));
        Ok(())
    })
}

/// Makes the TLS handshake, unless the handshake is already done. On a plain stream, the call succeeds without I/O.
/// Reads and writes make the handshake implicitly; call `netlib_stream_handshake` to verify the peer before any data is
/// sent. If another thread is making the handshake, the call waits for that thread; on a non-blocking stream, the call
/// fails with `NETLIB_BUSY`. Corresponds to OpenSSL's SSL_do_handshake and Python's `do_handshake`.
///
/// If the handshake fails, `netlib_error_message` describes the failure, `netlib_error_advice` names the setting, if
/// any, that would change the outcome, and `netlib_error_certificate_problem` and `netlib_error_tls_alert` return the
/// reason as numbers. If netlib ends the handshake because of a message or a certificate of the peer, it sends an alert
/// to the peer before the call returns, unless the transport does not accept the alert immediately. In TLS 1.3, a
/// server verifies the client's certificate after the client has completed the handshake: if the server refuses the
/// certificate, the client's first read fails.
///
/// @return `NETLIB_WANT_READ` and `NETLIB_WANT_WRITE` if the stream is non-blocking; `NETLIB_CERTIFICATE_VERIFY`;
///         `NETLIB_HOSTNAME_MISMATCH`; `NETLIB_FINGERPRINT_MISMATCH` if no pin of the context matches; `NETLIB_NOT_TLS`
///         when the peer speaks another protocol; `NETLIB_TLS_ALERT` when the peer refuses the handshake;
///         `NETLIB_TLS_INCOMPATIBLE` when netlib finds no TLS version, cipher suite or other parameter in common with
///         the peer; `NETLIB_TLS_ECH_REJECTED` (see `netlib_error_ech_retry_configs`); `NETLIB_TLS_PROTOCOL`;
///         `NETLIB_TLS_HANDSHAKE_EOF` when the connection ends during the handshake, with errno if it was reset;
///         `NETLIB_CALLBACK_FAILED` if the callback of `netlib_tls_options_set_wall_clock` or
///         `netlib_tls_options_set_servername_callback` failed; `NETLIB_READ_TIMEOUT`; `NETLIB_WRITE_TIMEOUT`;
///         `NETLIB_TOO_SLOW`; `NETLIB_CANCELLED`; `NETLIB_DEADLINE_EXCEEDED`; `NETLIB_BUSY`; `NETLIB_IO`; on a stream
///         with callbacks, the statuses that the callbacks return.
/// @blocks if the stream is blocking. The stream's limit and timeouts end the wait.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_stream_handshake(
    stream: *mut netlib_stream,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || Ok(arg_kept_alive!(stream, |_| true).handshake()?.status()))
}
