//! TLS engines: TLS sessions over a transport of your own.

use std::ffi::{c_char, c_void};

use crate::ffi::api::basics::{netlib_error, netlib_status};
use crate::ffi::api::tls::netlib_tls_context;
use crate::ffi::args::{arg_buffer, arg_data, arg_mut, arg_shared, arg_str_opt};
use crate::ffi::enums::enum_netlib_tls_version;
use crate::ffi::out::outs;
use crate::ffi::strings::{lend_bytes, lend_text, read, read_bool};
use crate::ffi::{Handle, Unique, guard, handle};
use crate::tls::MemoryEngine;

/// A TLS engine: a TLS session in memory, for a transport of your own, such as an event loop, a message queue or
/// another protocol. Corresponds to Python's `SSLContext.wrap_bio` and OpenSSL's memory BIOs. **One call at a time**.
///
/// An engine does no network I/O, never waits, and reads the clock only to check the validity of certificates and
/// sessions.
///
/// Pass bytes from the network to `netlib_tls_engine_feed`, and send the bytes of `netlib_tls_engine_drain` to the
/// network. Drain the engine after each call of any other function, even if the call failed, because the output may
/// contain an alert for the peer. After `NETLIB_WANT_READ`, drain the engine, then feed more bytes.
///
/// A failure of the session is final: every later feed, handshake, read, write or shutdown fails with the same error.
/// Even then, the output can be drained. The engine's buffers are bounded: 68 KiB of input, one record of plaintext,
/// and 321 KiB of output, not counting the output of the handshake.
///
/// An engine belongs to the process that made it: in a forked child, the engine's functions that return a status fail
/// with `NETLIB_CLOSED`.
pub struct netlib_tls_engine {
    _private: [u8; 0],
}

impl Handle for netlib_tls_engine {
    type Value = MemoryEngine;
    type Ownership = Unique;
}

/// Makes a client's TLS engine. The engine's first output is available after `netlib_tls_engine_handshake`, a read or a
/// write.
///
/// @param server_hostname the host name that the server must prove, as for `netlib_tls_wrap_fd`. May be NULL, or empty,
///        only if the context does not check host names.
/// @return `NETLIB_INVALID_ARGUMENT` for an invalid or missing host name, and for an IP address if the context has an
///         ECHConfigList; `NETLIB_INVALID_UTF8`; `NETLIB_NO_TRUST_ANCHORS` if the context verifies chains but has no
///         trusted certificates.
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

/// Makes a server's TLS engine. The `context` must have a local certificate.
///
/// @return `NETLIB_INVALID_ARGUMENT` if the context has no local certificate, has pins but requests no certificate, has
///         an ECHConfigList, or sends GREASE (`netlib_tls_options_set_ech_grease`).
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

/// Releases a TLS engine. Output that was not drained is lost.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_engine_free(engine: *mut netlib_tls_engine) {
    guard::nothing(|| handle::free(engine));
}

/// Passes bytes from the network to an engine, as many as the engine has room for. A later handshake, read or write
/// processes the bytes. If `n` is less than `len`, read until `NETLIB_WANT_READ` (during the handshake,
/// `netlib_tls_engine_handshake` also makes room), then feed the rest. Bytes after the peer's close_notify are accepted
/// and ignored.
///
/// @param len the number of bytes; `NETLIB_NTS` is refused.
/// @param n out: the number of bytes that the engine accepted.
/// @return `NETLIB_OK`, even if no byte was accepted; `NETLIB_CLOSED` after `netlib_tls_engine_feed_eof`;
///         `NETLIB_TLS_PROTOCOL` for a handshake message of more than 64 KiB; the status with which the session has
///         failed.
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

/// Tells an engine that the transport has ended. Data that was fed before can still be read. If the peer's close_notify
/// was not fed, reads then fail with `NETLIB_TLS_TRUNCATED`, and the handshake with `NETLIB_TLS_HANDSHAKE_EOF`. Calling
/// the function again is harmless.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_engine_feed_eof(engine: *mut netlib_tls_engine) {
    guard::value((), || {
        arg_mut!(engine).feed_end();
        Ok(())
    });
}

/// Moves output, which is the bytes to send to the peer, from an engine to `buf`, in order.
///
/// @param n out: the number of bytes stored in `buf`; 0 if there is no output.
/// @return `NETLIB_OK`, even if the session has failed or has ended; `NETLIB_CLOSED` in a forked child.
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

/// Returns the number of output bytes that were not drained yet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_engine_output_pending(engine: *const netlib_tls_engine) -> usize {
    read(engine, 0, MemoryEngine::output_pending)
}

/// Makes the handshake with the bytes that were fed, unless the handshake is already done. Reads and writes make the
/// handshake implicitly. After every result, there may be output to drain.
///
/// @return `NETLIB_OK` when the handshake is done; `NETLIB_WANT_READ` when the handshake needs more input;
///         `NETLIB_CERTIFICATE_VERIFY`; `NETLIB_HOSTNAME_MISMATCH`; `NETLIB_FINGERPRINT_MISMATCH` if no pin of the
///         context matches; `NETLIB_NOT_TLS` if the peer does not speak TLS; `NETLIB_TLS_ALERT` if the peer refuses the
///         handshake; `NETLIB_TLS_INCOMPATIBLE` if netlib finds no TLS version, cipher suite or other parameter in
///         common with the peer; `NETLIB_TLS_ECH_REJECTED` (see `netlib_error_ech_retry_configs`);
///         `NETLIB_TLS_PROTOCOL`; `NETLIB_TLS_HANDSHAKE_EOF` if the transport ends or the peer closes the session
///         during the handshake; `NETLIB_CALLBACK_FAILED` if the callback of `netlib_tls_options_set_wall_clock` or
///         `netlib_tls_options_set_servername_callback` failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_engine_handshake(
    engine: *mut netlib_tls_engine,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || Ok(arg_mut!(engine).handshake()?.status()))
}

/// Reads the plaintext of the bytes that were fed, at least one byte and at most `len`. Buffers of 16 KiB or more are
/// the fastest, because the plaintext of a whole record fits into them.
///
/// @param len the size of `buf` in bytes; with 0, nothing is read.
/// @param n out: the number of bytes read.
/// @return `NETLIB_WANT_READ` when more bytes must be fed; `NETLIB_END_OF_STREAM` after the peer's close_notify;
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

/// Returns the number of plaintext bytes that can be read without more input, from the next record with data only: a
/// read into a large buffer may return more bytes. The result is 0 if this record is incomplete, and before the
/// handshake is done. To count the bytes, the function decrypts the record.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_engine_pending(engine: *mut netlib_tls_engine) -> usize {
    guard::value(0, || Ok(arg_mut!(engine).pending()))
}

/// Encrypts data into the output of an engine, as much as there is room for. While 256 KiB or more of output are
/// waiting to be drained, the engine accepts no further data. One call may exceed this limit by up to 64 KiB of data
/// and its encryption overhead, so at most 321 KiB of output wait for a peer that does not read.
///
/// @param len the number of bytes; `NETLIB_NTS` is refused.
/// @param n out: the number of bytes written. If `n` is less than `len`, drain the engine, then write the rest.
/// @return `NETLIB_OK` when something was written; `NETLIB_WANT_WRITE` when nothing was written because the engine must
///         be drained first; `NETLIB_WANT_READ` when the handshake needs input first; `NETLIB_CLOSED` after a shutdown;
///         all that `netlib_tls_engine_handshake` returns.
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

/// Appends close_notify (RFC 8446 section 6.1) to the output of an engine. Nothing can be written after the call, but
/// data can be read until `NETLIB_END_OF_STREAM`. If the handshake is not done yet, close_notify is appended when the
/// handshake ends. Calling the function again is harmless.
///
/// @return `NETLIB_OK`, or the status with which the session has failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_engine_shutdown(
    engine: *mut netlib_tls_engine,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || arg_mut!(engine).shutdown())
}

/// Returns for an engine what `netlib_stream_peer_certificate_count` returns for a stream: 0 before the handshake is
/// done.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_engine_peer_certificate_count(engine: *const netlib_tls_engine) -> usize {
    read(engine, 0, |engine| engine.session().map_or(0, |session| session.peer_chain().len()))
}

/// Returns for an engine what `netlib_stream_peer_certificate` returns for a stream.
///
/// @param index a number from 0 (the peer's own certificate) to the number of certificates minus 1; for a larger index,
///        NULL is returned.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_engine_peer_certificate(
    engine: *const netlib_tls_engine,
    index: usize,
    len: *mut usize,
) -> *const u8 {
    lend_bytes(engine, len, |engine| engine.session()?.peer_chain().get(index).map(|certificate| &certificate[..]))
}

/// Returns for an engine what `netlib_stream_alpn_protocol` returns for a stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_engine_alpn_protocol(
    engine: *const netlib_tls_engine,
    len: *mut usize,
) -> *const c_char {
    lend_text(engine, len, |engine| engine.session()?.alpn_protocol())
}

/// Returns for an engine what `netlib_stream_server_name` returns for a stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_engine_server_name(
    engine: *const netlib_tls_engine,
    len: *mut usize,
) -> *const c_char {
    lend_text(engine, len, |engine| engine.session()?.server_name())
}

/// Returns for an engine what `netlib_stream_tls_version` returns for a stream: `NETLIB_TLS_VERSION_1_2` or
/// `NETLIB_TLS_VERSION_1_3`; `NETLIB_TLS_VERSION_NONE` before the handshake is done and for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_engine_version(engine: *const netlib_tls_engine) -> enum_netlib_tls_version {
    read(engine, 0, |engine| {
        engine.negotiated().and_then(|agreed| agreed.version).map_or(0, |version| version as i32)
    })
}

/// Returns for an engine what `netlib_stream_cipher_suite` returns for a stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_engine_cipher_suite(
    engine: *const netlib_tls_engine,
    len: *mut usize,
) -> *const c_char {
    lend_text(engine, len, |engine| engine.negotiated()?.cipher_suite)
}

/// Returns for an engine what `netlib_stream_cipher_suite_bits` returns for a stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_engine_cipher_suite_bits(engine: *const netlib_tls_engine) -> i32 {
    read(engine, 0, |engine| engine.negotiated().and_then(|agreed| agreed.cipher_suite_bits).map_or(0, i32::from))
}

/// Returns for an engine what `netlib_stream_key_exchange_group` returns for a stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_engine_key_exchange_group(
    engine: *const netlib_tls_engine,
    len: *mut usize,
) -> *const c_char {
    lend_text(engine, len, |engine| engine.negotiated()?.key_exchange_group)
}

/// Returns 1 if the engine's handshake resumed an earlier session; 0 if not, or if the handshake is not done. See
/// `netlib_stream_is_resumed`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_engine_is_resumed(engine: *const netlib_tls_engine) -> i32 {
    read_bool(engine, false, |engine| engine.negotiated().is_some_and(|agreed| agreed.is_resumed))
}
