//! TLS engines: a session over a transport of your own.

use std::ffi::{c_char, c_void};

use crate::ffi::api::basics::{netlib_error, netlib_status};
use crate::ffi::api::tls::netlib_tls_context;
use crate::ffi::args::{arg_buffer, arg_data, arg_mut, arg_shared, arg_str_opt};
use crate::ffi::enums::enum_netlib_tls_version;
use crate::ffi::out::outs;
use crate::ffi::strings::{lend_bytes, lend_text, read, read_bool};
use crate::ffi::{Handle, Unique, guard, handle};
use crate::tls::MemoryEngine;

/// A TLS session in memory, for a transport of your own: an event loop, a message queue, another protocol. Corresponds
/// to Python's `SSLContext.wrap_bio` and OpenSSL's memory BIOs. An engine makes no system call, waits for nothing, and
/// reads the time only to verify certificates. **Single**.
///
/// Pass bytes from the network to `netlib_tls_engine_feed`, and send the bytes of `netlib_tls_engine_drain` to the
/// network. Drain after every other call, even after a failed one: the output may contain an alert for the peer.
/// `NETLIB_WANT_READ` means: drain, then feed more.
///
/// A failure of the session is final: every later call except drain fails with the same error. The engine's buffers are
/// bounded: 68 KiB of input, one record of plaintext, and 321 KiB of output, not counting the output of the handshake.
///
/// An engine belongs to the process that made it: in a forked child its calls fail with `NETLIB_CLOSED`.
pub struct netlib_tls_engine {
    _private: [u8; 0],
}

impl Handle for netlib_tls_engine {
    type Value = MemoryEngine;
    type Ownership = Unique;
}

/// Makes a client's engine. Its first output is available after `netlib_tls_engine_handshake`, a read or a write.
///
/// @param server_hostname as for `netlib_tls_wrap_fd`. May be NULL, or empty, only if the context does not check names.
/// @return `NETLIB_INVALID_ARGUMENT` for an invalid or missing name, and for an IP address if the context has an
///         ECHConfigList; `NETLIB_INVALID_UTF8`; `NETLIB_NO_TRUST_ANCHORS` if the context has no trusted certificates.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_engine_new_client(
    context: *const netlib_tls_context,
    server_hostname: *const c_char,
    engine: *mut *mut netlib_tls_engine,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let engine = outs!(engine);
        let context = arg_shared!(context);
        let server_hostname = arg_str_opt!(server_hostname);
        engine.give(Box::new(MemoryEngine::client(&context, server_hostname)?));
        Ok(())
    })
}

/// Makes a server's engine. The `context` must have an identity.
///
/// @return `NETLIB_INVALID_ARGUMENT` if the context has no identity, or has pins and requests no certificate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_engine_new_server(
    context: *const netlib_tls_context,
    engine: *mut *mut netlib_tls_engine,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let engine = outs!(engine);
        let context = arg_shared!(context);
        engine.give(Box::new(MemoryEngine::server(&context)?));
        Ok(())
    })
}

/// Releases an engine. Output that was not drained is lost.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_engine_free(engine: *mut netlib_tls_engine) {
    guard::nothing(|| handle::free(engine));
}

/// Feeds the engine bytes from the network, as many as there is room for. A later handshake, read or write processes
/// them. If `n` is less than `len`, read until `NETLIB_WANT_READ` (before the end of the handshake,
/// `netlib_tls_engine_handshake` also makes room), then feed the rest. Bytes after the peer's close_notify are accepted
/// and ignored.
///
/// @param len the number of bytes; `NETLIB_NTS` is refused.
/// @param n out: the number of bytes accepted.
/// @return `NETLIB_OK`, even if no byte was accepted; `NETLIB_CLOSED` after `netlib_tls_engine_feed_eof`;
///         `NETLIB_TLS_PROTOCOL` for a handshake message of more than 64 KiB; the failure of the session.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_engine_feed(
    engine: *mut netlib_tls_engine,
    data: *const c_void,
    len: usize,
    n: *mut usize,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let n = outs!(n);
        n.set(arg_mut!(engine).feed(arg_data!(data, len))?);
        Ok(())
    })
}

/// Reports that the transport has ended. Bytes fed before can still be read. If they do not include the peer's
/// close_notify, reads then fail with `NETLIB_TLS_TRUNCATED`, and the handshake with `NETLIB_TLS_HANDSHAKE_EOF`.
/// Calling it again is harmless.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_engine_feed_eof(engine: *mut netlib_tls_engine) {
    guard::value((), || {
        arg_mut!(engine).feed_end();
        Ok(())
    });
}

/// Copies the bytes to be sent to the peer into `buf`, in order, and removes them from the engine.
///
/// @param n out: the number of bytes copied; 0 if there are none.
/// @return `NETLIB_OK`, even if the session has failed or ended; `NETLIB_CLOSED` in a forked child.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_engine_drain(
    engine: *mut netlib_tls_engine,
    buf: *mut c_void,
    len: usize,
    n: *mut usize,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let n = outs!(n);
        n.set(arg_mut!(engine).drain(arg_buffer!(buf, len))?);
        Ok(())
    })
}

/// Returns the number of bytes that wait to be drained.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_engine_output_pending(engine: *const netlib_tls_engine) -> usize {
    read(engine, 0, MemoryEngine::output_pending)
}

/// Makes the handshake with the bytes that were fed, unless it is done. Reads and writes do it implicitly. There may be
/// output to drain after every result.
///
/// @return `NETLIB_OK` when the handshake is done; `NETLIB_WANT_READ` when it needs more input;
///         `NETLIB_CERTIFICATE_VERIFY`; `NETLIB_HOSTNAME_MISMATCH`; `NETLIB_FINGERPRINT_MISMATCH` if no pin of the
///         context matches; `NETLIB_NOT_TLS` if the peer does not speak TLS; `NETLIB_TLS_ALERT` if the peer refuses;
///         `NETLIB_TLS_INCOMPATIBLE` if this side finds no version, cipher suite or other parameter in common;
///         `NETLIB_TLS_ECH_REJECTED` (see `netlib_error_ech_retry_configs`); `NETLIB_TLS_PROTOCOL`;
///         `NETLIB_TLS_HANDSHAKE_EOF` if the transport ends or the peer closes the session during the handshake;
///         `NETLIB_CALLBACK_FAILED` if the callback of `netlib_tls_options_set_wall_clock` or
///         `netlib_tls_options_set_servername_callback` failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_engine_handshake(
    engine: *mut netlib_tls_engine,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || Ok(arg_mut!(engine).handshake()?.status()))
}

/// Reads at least one byte of plaintext and at most `len`, as many as the fed bytes contain. Buffers of 16 KiB or more
/// are the fastest: records are decrypted directly into them.
///
/// @param len the room in bytes; with 0 nothing is read.
/// @param n out: the number of bytes read.
/// @return `NETLIB_WANT_READ` when more must be fed; `NETLIB_END_OF_STREAM` after the peer's close_notify;
///         `NETLIB_TLS_TRUNCATED` when the transport ended without close_notify, so that data may be missing; all that
///         `netlib_tls_engine_handshake` returns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_engine_read(
    engine: *mut netlib_tls_engine,
    buf: *mut c_void,
    len: usize,
    n: *mut usize,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let n = outs!(n);
        let done = arg_mut!(engine).read(arg_buffer!(buf, len))?;
        n.set(done.count());
        Ok(done.status())
    })
}

/// Returns the number of bytes that a read would return without more input; there may be more after them. To find out,
/// it decrypts a record that has been fed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_engine_pending(engine: *mut netlib_tls_engine) -> usize {
    guard::value(0, || Ok(arg_mut!(engine).pending()))
}

/// Encrypts data into the output, as much as there is room for. While 256 KiB or more of output wait to be drained, no
/// further data is accepted. So a peer that does not read costs at most this much memory plus one more piece of 64 KiB.
///
/// @param len the number of bytes; `NETLIB_NTS` is refused.
/// @param n out: the number of bytes written. If it is less than `len`, drain, and write the rest.
/// @return `NETLIB_OK` when something was written; `NETLIB_WANT_WRITE` when nothing was written: drain first;
///         `NETLIB_WANT_READ` when the handshake needs input first; `NETLIB_CLOSED` after a shutdown; all that
///         `netlib_tls_engine_handshake` returns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_engine_write(
    engine: *mut netlib_tls_engine,
    buf: *const c_void,
    len: usize,
    n: *mut usize,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let n = outs!(n);
        let done = arg_mut!(engine).write(arg_data!(buf, len))?;
        n.set(done.count());
        Ok(done.status())
    })
}

/// Appends close_notify (RFC 8446 section 6.1) to the output. Nothing can be written afterwards. Reads continue until
/// `NETLIB_END_OF_STREAM`. Before the handshake is done, close_notify is appended when the handshake ends. Calling it
/// again is harmless.
///
/// @return `NETLIB_OK`; the failure of the session.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_engine_shutdown(
    engine: *mut netlib_tls_engine,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || arg_mut!(engine).shutdown())
}

/// Returns the same as `netlib_tls_stream_peer_certificate_count`: 0 before the handshake is done.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_engine_peer_certificate_count(engine: *const netlib_tls_engine) -> usize {
    read(engine, 0, |engine| engine.session().map_or(0, |session| session.peer_chain().len()))
}

/// Returns the same as `netlib_tls_stream_peer_certificate`.
///
/// @param index 0, the peer's own, to count - 1; beyond, NULL is returned.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_engine_peer_certificate(
    engine: *const netlib_tls_engine,
    index: usize,
    len: *mut usize,
) -> *const u8 {
    lend_bytes(engine, len, |engine| engine.session()?.peer_chain().get(index).map(|certificate| &certificate[..]))
}

/// Returns the same as `netlib_tls_stream_alpn_protocol`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_engine_alpn_protocol(
    engine: *const netlib_tls_engine,
    len: *mut usize,
) -> *const c_char {
    lend_text(engine, len, |engine| engine.session()?.alpn_protocol())
}

/// Returns the same as `netlib_tls_stream_server_name`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_engine_server_name(
    engine: *const netlib_tls_engine,
    len: *mut usize,
) -> *const c_char {
    lend_text(engine, len, |engine| engine.session()?.server_name())
}

/// Returns the same as `netlib_tls_stream_version`: `NETLIB_TLS_VERSION_1_2` or `NETLIB_TLS_VERSION_1_3`;
/// `NETLIB_TLS_VERSION_NONE` before the handshake is done and for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_engine_version(engine: *const netlib_tls_engine) -> enum_netlib_tls_version {
    read(engine, 0, |engine| {
        engine.negotiated().and_then(|agreed| agreed.version).map_or(0, |version| version as i32)
    })
}

/// Returns the same as `netlib_tls_stream_cipher_suite`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_engine_cipher_suite(
    engine: *const netlib_tls_engine,
    len: *mut usize,
) -> *const c_char {
    lend_text(engine, len, |engine| engine.negotiated()?.cipher_suite)
}

/// Returns the same as `netlib_tls_stream_key_exchange_group`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_engine_key_exchange_group(
    engine: *const netlib_tls_engine,
    len: *mut usize,
) -> *const c_char {
    lend_text(engine, len, |engine| engine.negotiated()?.key_exchange_group)
}

/// Returns the same as `netlib_tls_stream_is_resumed`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_engine_is_resumed(engine: *const netlib_tls_engine) -> i32 {
    read_bool(engine, false, |engine| engine.negotiated().is_some_and(|agreed| agreed.is_resumed))
}
