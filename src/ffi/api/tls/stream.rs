//! TLS streams: TLS sessions on descriptors.

use std::ffi::{c_char, c_int, c_void};
use std::sync::Arc;

use crate::ffi::api::basics::{netlib_error, netlib_status};
use crate::ffi::api::limit::netlib_limit;
use crate::ffi::api::tls::netlib_tls_context;
use crate::ffi::args::{
    arg, arg_bool, arg_buffer, arg_data, arg_kept_alive, arg_shared, arg_shared_opt, arg_str_opt,
};
use crate::ffi::out::{out_opt, outs};
use crate::ffi::strings::read;
use crate::ffi::{Handle, Shared, guard, handle, slices as slices_in};
use crate::socket::throughput::Throughput;
use crate::status::Status;
use crate::stream::Stream;
use crate::timeout;

/// A TLS stream: a TLS session on a descriptor, inside another stream (`netlib_tls_wrap_stream`), or on callbacks
/// (`netlib_tls_wrap_callbacks`). Corresponds to OpenSSL's SSL and Python's `ssl.SSLSocket`. **Concurrent, one reader
/// and one writer**: one thread may read while another thread writes; calls of a third thread fail with `NETLIB_BUSY`.
/// Shutting down counts as writing. Setters and getters may be called from any thread at any time.
///
/// The descriptor is a connected stream socket, which the stream borrows: the caller keeps the descriptor open while
/// the stream is used, and closes it afterwards. netlib neither changes nor reads the O_NONBLOCK flag of the
/// descriptor: `netlib_stream_set_blocking` determines whether calls wait.
///
/// A failure of the session is final: every later call fails with the same error. `NETLIB_READ_TIMEOUT`,
/// `NETLIB_WRITE_TIMEOUT`, `NETLIB_TOO_SLOW`, `NETLIB_CANCELLED` and `NETLIB_DEADLINE_EXCEEDED` are not failures of the
/// session: after them, the session can continue.
///
/// A stream belongs to the process that made it. In a forked child, every call that reads, writes, handshakes, shuts
/// down or changes a setting of the stream fails with `NETLIB_CLOSED`, and `netlib_stream_free` only releases
/// memory.
pub struct netlib_stream {
    _private: [u8; 0],
}

impl Handle for netlib_stream {
    type Value = Stream;
    type Ownership = Shared;
}

/// A slice: one piece of the data to write. Corresponds to POSIX's iovec, but is read-only.
#[repr(C)]
pub struct netlib_slice {
    /// The bytes of the slice; NULL only if the slice is empty.
    pub data: *const c_void,
    /// The number of bytes in the slice.
    pub len: usize,
}

/// Makes a client's stream on a connected descriptor. The call does no I/O: the first read or write, or
/// `netlib_stream_handshake`, makes the handshake. By default, the stream is blocking and waits without a time
/// limit: see `netlib_stream_set_limit` and `netlib_stream_set_read_timeout`.
///
/// `server_hostname` is sent to the server, which selects its certificate by this name (SNI, RFC 6066 section 3), and
/// the certificate must be for this name (RFC 9525). `server_hostname` is a DNS name (Unicode is converted to IDNA by
/// UTS 46) or an IP address, with or without brackets. One trailing dot is dropped, and a zone ID (fe80::1%eth0) is
/// ignored. A stream resumes only sessions of streams with the same context, name and offered application protocols.
///
/// Corresponds to Python's `wrap_socket` with do_handshake_on_connect=False, and to OpenSSL's SSL_set_fd with
/// SSL_set1_host and SSL_set_tlsext_host_name.
///
/// @param fd a connected stream socket, borrowed. For an invalid descriptor, the handshake fails with `NETLIB_IO`.
/// @param server_hostname the host name that the server must prove. May be NULL, or empty, only if the context does not
///        check host names (`netlib_tls_options_set_check_hostname` with 0).
/// @return `NETLIB_INVALID_ARGUMENT` for an invalid or missing host name, for an IP address if the context has an
///         ECHConfigList, and for a listening socket; `NETLIB_INVALID_UTF8`; `NETLIB_NO_TRUST_ANCHORS` if the context
///         has no trusted certificates.
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

/// Makes a server's stream on a descriptor from accept(2). Like `netlib_tls_wrap_fd`, the call does no I/O. If the
/// server's context and the client both list application protocols, the two lists must have a protocol in common.
/// Corresponds to Python's `wrap_socket` with server_side=True.
///
/// @param context the server's context, which must have a local certificate.
/// @param fd a connected stream socket, borrowed. For an invalid descriptor, the handshake fails with `NETLIB_IO`.
/// @return `NETLIB_INVALID_ARGUMENT` if the context has no local certificate, has pins but requests no certificate, or
///         has an ECHConfigList, and for a listening socket.
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

/// Releases a TLS stream. The call does no I/O: to send close_notify, call `netlib_stream_shutdown` before, and
/// close the descriptor afterwards. No other call on the stream may be in progress.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_stream_free(stream: *mut netlib_stream) {
    guard::nothing(|| handle::free(stream));
}

/// Sets the limit that ends waiting calls on a stream, and keeps a reference to the limit. Later calls obey the new
/// limit; a call in progress on another thread still obeys the old one. If you wait for the stream in an event loop,
/// use `netlib_limit_fd` and a timer with the time of `netlib_limit_remaining` to wake the loop. Default: none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_stream_set_limit(stream: *mut netlib_stream, limit: *const netlib_limit) {
    // set_limit fails only after a panic in an earlier call. All later calls report that panic.
    guard::value((), || arg!(stream).set_limit(arg_shared_opt!(limit)));
}

/// Sets the read timeout: the maximum time that a read waits for the next bytes. The timeout bounds the time between
/// two reads of the socket, not the whole call. The timeout also applies while the handshake reads. Default:
/// `NETLIB_TIMEOUT_NONE`.
///
/// @param seconds 0 or more, `NETLIB_TIMEOUT_NONE`, or `NETLIB_TIMEOUT_DEFAULT` for the present process default.
/// @return `NETLIB_INVALID_ARGUMENT` for any other number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_stream_set_read_timeout(
    stream: *mut netlib_stream,
    seconds: f64,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || arg!(stream).set_read_timeout(timeout::resolve(seconds, "seconds")?))
}

/// Sets the write timeout: the maximum time that a write waits until the transport accepts more bytes. Default:
/// `NETLIB_TIMEOUT_NONE`.
///
/// @param seconds 0 or more, `NETLIB_TIMEOUT_NONE`, or `NETLIB_TIMEOUT_DEFAULT` for the present process default.
/// @return `NETLIB_INVALID_ARGUMENT` for any other number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_stream_set_write_timeout(
    stream: *mut netlib_stream,
    seconds: f64,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || arg!(stream).set_write_timeout(timeout::resolve(seconds, "seconds")?))
}

/// Sets a minimum throughput for reads, which detects a peer that sends a little now and then and so never exceeds the
/// read timeout. In each period of `seconds` of waiting, `bytes` must arrive; once `bytes` have arrived, the next
/// period begins. If fewer bytes arrive in a period, the waiting read fails with `NETLIB_TOO_SLOW`, and the next read
/// starts a new period. Default: none. Corresponds to curl's CURLOPT_LOW_SPEED_LIMIT, but the time that the application
/// spends between its reads does not count.
///
/// netlib counts the bytes that reads return; during the handshake, netlib counts every received byte. For a
/// non-blocking stream, the time from `NETLIB_WANT_READ` to the next call is waiting time; use a timer to make that
/// call even if nothing arrives. The time until the server begins to respond is also waiting time: if that time may be
/// long, set the minimum when the response has begun. Each call of `netlib_stream_set_minimum_throughput` or
/// `netlib_stream_is_dropped` starts a new period. For TLS in TLS, the minimum applies only to the stream for which
/// it is set. The minimum does not apply while the first call on the inner stream makes the outer handshake: to bound
/// that handshake, use a limit.
///
/// @param bytes the number of bytes that must arrive in each period; 0 for no minimum, with any `seconds`.
/// @param seconds the length of a period, more than 0; `NETLIB_TIMEOUT_NONE` for no minimum.
/// @return `NETLIB_INVALID_ARGUMENT` for a value of `seconds` that is not allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_stream_set_minimum_throughput(
    stream: *mut netlib_stream,
    bytes: usize,
    seconds: f64,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || arg!(stream).set_minimum_throughput(Throughput::new(bytes, seconds)?))
}

/// Sets whether calls on a stream wait. Default: 1. With 0, a call that would have to wait returns `NETLIB_WANT_READ`
/// or `NETLIB_WANT_WRITE`, which correspond to OpenSSL's SSL_ERROR_WANT_READ and SSL_ERROR_WANT_WRITE: poll the
/// descriptor for the event, then make the same call again. During the handshake, a read may return
/// `NETLIB_WANT_WRITE`, and a write `NETLIB_WANT_READ`. Before you poll for input, read until `NETLIB_WANT_READ`:
/// plaintext may be buffered although the descriptor has no more data.
///
/// @return `NETLIB_INVALID_ARGUMENT` if `blocking` is neither 0 nor 1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_stream_set_blocking(
    stream: *mut netlib_stream,
    blocking: i32,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || arg!(stream).set_blocking(arg_bool!(blocking)))
}

/// Makes the handshake, unless the handshake is already done. Reads and writes make the handshake implicitly; call
/// `netlib_stream_handshake` to verify the peer before any data is sent. If another thread is making the handshake,
/// the call waits for that thread. Corresponds to OpenSSL's SSL_do_handshake and Python's `do_handshake`.
///
/// If the handshake fails, `netlib_error_message` describes the failure, `netlib_error_advice` names the setting that
/// would change the outcome, and `netlib_error_certificate_problem` and `netlib_error_tls_alert` return the reason as
/// numbers. Before a failing call returns, netlib sends the peer an alert. In TLS 1.3, a server verifies the client's
/// certificate after the client has completed the handshake: if the server refuses the certificate, the client's first
/// read fails.
///
/// @return `NETLIB_WANT_READ` and `NETLIB_WANT_WRITE` if non-blocking; `NETLIB_CERTIFICATE_VERIFY`;
///         `NETLIB_HOSTNAME_MISMATCH`; `NETLIB_FINGERPRINT_MISMATCH` if no pin of the context matches; `NETLIB_NOT_TLS`
///         when the peer speaks another protocol; `NETLIB_TLS_ALERT` when the peer refuses the handshake;
///         `NETLIB_TLS_INCOMPATIBLE` when netlib finds no TLS version, cipher suite or other parameter in common with
///         the peer; `NETLIB_TLS_ECH_REJECTED` (see `netlib_error_ech_retry_configs`); `NETLIB_TLS_PROTOCOL`;
///         `NETLIB_TLS_HANDSHAKE_EOF` when the connection ends during the handshake, with errno if it was reset;
///         `NETLIB_CALLBACK_FAILED` if the callback of `netlib_tls_options_set_wall_clock` or
///         `netlib_tls_options_set_servername_callback` failed; `NETLIB_READ_TIMEOUT`; `NETLIB_WRITE_TIMEOUT`;
///         `NETLIB_TOO_SLOW`; `NETLIB_CANCELLED`; `NETLIB_DEADLINE_EXCEEDED`; `NETLIB_BUSY`; `NETLIB_IO`; for a stream
///         of `netlib_tls_wrap_callbacks`, the statuses that its callbacks return.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_stream_handshake(
    stream: *mut netlib_stream,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || Ok(arg_kept_alive!(stream, Stream::may_call_back).handshake()?.status()))
}

/// Reads the bytes that are available, at least one and at most `len`. Buffers of 16 KiB or more are the fastest,
/// because netlib decrypts records directly into them. Corresponds to OpenSSL's SSL_read_ex.
///
/// @param len the size of `buf` in bytes; with 0, nothing is read.
/// @param n out: the number of bytes read.
/// @return `NETLIB_END_OF_STREAM` after the peer's close_notify; `NETLIB_TLS_TRUNCATED` when the connection ended
///         without close_notify, so that data may be missing; `NETLIB_WANT_READ` and, during the handshake,
///         `NETLIB_WANT_WRITE` if non-blocking; all that `netlib_stream_handshake` returns.
/// @threads one reader and one writer at the same time
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_stream_read(
    stream: *mut netlib_stream,
    buf: *mut c_void,
    len: usize,
    n: *mut usize,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let n = outs!(n);
        let done = arg_kept_alive!(stream, Stream::may_call_back).read(arg_buffer!(buf, len))?;
        n.set(done.count());
        Ok(done.status())
    })
}

/// Returns the number of bytes that the next read would return without I/O; more bytes may be available to later reads.
/// To determine the number, the function decrypts a record that has already been received. Corresponds to OpenSSL's
/// SSL_pending.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_stream_pending(stream: *const netlib_stream) -> usize {
    read(stream, 0, Stream::pending)
}

/// Checks whether an idle connection has been dropped, so that it can carry no request and should be closed.
/// `netlib_is_connection_dropped` reports too many TLS connections as dropped, because session tickets and key updates
/// may arrive at any time. `netlib_stream_is_dropped` processes session tickets and key updates, and leaves data
/// and failures to the next read.
///
/// The check never waits and obeys no limit. Responses to TLS messages of the peer are sent if the transport accepts
/// them immediately. For a stream of `netlib_tls_wrap_callbacks`, the check calls the callbacks, and for TLS in TLS,
/// the check reads the outer streams. Before the handshake is done, the check leaves input to the handshake, and
/// reports a connection as dropped only if the connection has ended or the handshake has failed.
///
/// @param dropped out: 1 if the connection has been dropped, else 0.
/// @param why out: the status that a read would return. `NETLIB_WANT_READ`: nothing has arrived, and the connection has
///        not been dropped; `NETLIB_OK`: unsolicited data has arrived; `NETLIB_END_OF_STREAM`; `NETLIB_TLS_TRUNCATED`;
///        `NETLIB_PROTOCOL`: the connection was reset; `NETLIB_TLS_ALERT`, `NETLIB_TLS_PROTOCOL` or another status: the
///        session has failed with this status; `NETLIB_IO`: the descriptor is not open. If a read would wait, `why` may
///        also be `NETLIB_TOO_MUCH_DATA` after tens of kilobytes of tickets, or the status that a write would return:
///        `NETLIB_CLOSED` after a shutdown, `NETLIB_PROTOCOL` if the last write found the connection closed,
///        `NETLIB_WANT_WRITE` if the last write was not finished. May be NULL.
/// @return `NETLIB_BUSY` while another call reads, writes or makes the handshake, or another stream runs inside the
///         stream; `NETLIB_IO` if the system reports an error; `NETLIB_OUT_OF_MEMORY`; for a stream of
///         `netlib_tls_wrap_callbacks`, the statuses that its callbacks return.
/// @threads one call at a time, which counts as reading and as writing
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_stream_is_dropped(
    stream: *mut netlib_stream,
    dropped: *mut i32,
    why: *mut netlib_status,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let why = out_opt!(why);
        let dropped = outs!(dropped);
        let status = arg!(stream).probe()?;
        dropped.set_bool(status != Status::WantRead);
        if let Some(why) = why {
            why.set(status as netlib_status);
        }
        Ok(())
    })
}

/// Writes data. A blocking stream writes all data, and a non-blocking stream as much as can be sent. `n` counts the
/// bytes that the operating system, or the write callback, has accepted. Corresponds to OpenSSL's SSL_write_ex with
/// SSL_MODE_ENABLE_PARTIAL_WRITE and SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER.
///
/// Bytes that `n` does not count may have been encrypted already, so the next write must continue with the same bytes,
/// even after `NETLIB_WRITE_TIMEOUT`, `NETLIB_CANCELLED` and `NETLIB_DEADLINE_EXCEEDED`. netlib sends no byte twice.
///
/// @param len the number of bytes; `NETLIB_NTS` is refused.
/// @param n out: the number of bytes written; less than `len` only if the stream is non-blocking; 0 after a failure.
/// @return `NETLIB_WANT_WRITE` and, during the handshake, `NETLIB_WANT_READ` if non-blocking; `NETLIB_CLOSED` after a
///         shutdown; `NETLIB_INVALID_ARGUMENT` when the call passes fewer bytes than an earlier write has encrypted but
///         not counted; all that `netlib_stream_handshake` returns.
/// @threads one reader and one writer at the same time
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_stream_write(
    stream: *mut netlib_stream,
    buf: *const c_void,
    len: usize,
    n: *mut usize,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let n = outs!(n);
        let done = arg_kept_alive!(stream, Stream::may_call_back).write(arg_data!(buf, len))?;
        n.set(done.count());
        Ok(done.status())
    })
}

/// Writes data in several pieces, as `netlib_stream_write` writes one piece. Corresponds to writev(2). Small pieces
/// share TLS records, so that they cost no more than one piece of the same total length; netlib does not copy a piece
/// that fills a record. After a write that did not count all bytes, the next write must continue with the same bytes,
/// which may be divided differently.
///
/// @param slices the pieces, in order.
/// @param count the number of pieces, at most 1024.
/// @param n out: the number of bytes written from all pieces; less than their total length only if the stream is
///        non-blocking.
/// @return all that `netlib_stream_write` returns; `NETLIB_INVALID_ARGUMENT` also for more than 1024 pieces, and
///         for a total length that exceeds the address space; `NETLIB_NULL_ARGUMENT` for a piece that is NULL and not
///         empty.
/// @threads one reader and one writer at the same time
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_stream_writev(
    stream: *mut netlib_stream,
    slices: *const netlib_slice,
    count: usize,
    n: *mut usize,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let n = outs!(n);
        let stream = arg_kept_alive!(stream, Stream::may_call_back);
        let done = slices_in::with(slices, count, |pieces| stream.write_pieces(pieces))?;
        n.set(done.count());
        Ok(done.status())
    })
}

/// Sends the bytes that earlier writes encrypted but did not count, then close_notify (RFC 8446 section 6.1). Nothing
/// can be written after the call. The peer may still send data, which can be read until `NETLIB_END_OF_STREAM`. Before
/// the handshake is done, nothing is sent. Calling the function again is harmless. Corresponds to OpenSSL's
/// SSL_shutdown, called once.
///
/// @return `NETLIB_WANT_WRITE` if non-blocking: call again; `NETLIB_WRITE_TIMEOUT`; `NETLIB_CANCELLED`;
///         `NETLIB_DEADLINE_EXCEEDED`; `NETLIB_BUSY`; `NETLIB_PROTOCOL` when the connection is closed; the status with
///         which the session has failed.
/// @threads one reader and one writer at the same time
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_stream_shutdown(
    stream: *mut netlib_stream,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || Ok(arg_kept_alive!(stream, Stream::may_call_back).shutdown()?.status()))
}

/// Sends close_notify as `netlib_stream_shutdown` does, and waits for the peer's close_notify. The wait is needed
/// only if the transport is used for another purpose afterwards. Corresponds to Python's `SSLSocket.unwrap` and
/// OpenSSL's SSL_shutdown, called until it returns 1.
///
/// Data that the peer sends before its close_notify is discarded, at most 1 MiB over all calls. If the peer may send
/// more data, read until `NETLIB_END_OF_STREAM` instead. Before the handshake is done, nothing is sent, and the call
/// does not wait.
///
/// @return `NETLIB_OK` when both sides have sent close_notify; `NETLIB_WANT_READ` or `NETLIB_WANT_WRITE` if
///         non-blocking: call again; `NETLIB_TLS_TRUNCATED` when the connection ended without the peer's close_notify;
///         `NETLIB_TOO_MUCH_DATA`; `NETLIB_BUSY` when another thread reads or writes; all that
///         `netlib_stream_shutdown` and `netlib_stream_read` return.
/// @threads one call at a time, which counts as reading and as writing
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_stream_shutdown_both(
    stream: *mut netlib_stream,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || Ok(arg_kept_alive!(stream, Stream::may_call_back).shutdown_both()?.status()))
}
