//! Streams: reading and writing over a connection, with or without TLS.

pub mod connect_url;
pub mod message;

use std::ffi::{c_int, c_void};
use std::sync::Arc;

use crate::ffi::api::basics::{netlib_ctx_free_fn, netlib_error, netlib_status};
use crate::ffi::api::limit::netlib_limit;
use crate::ffi::api::timeout::netlib_timeout;
use crate::ffi::args::{arg, arg_bool, arg_buffer, arg_data, arg_exclusive, arg_kept_alive, arg_shared_opt};
use crate::ffi::callback_context::CallbackContext;
use crate::ffi::handle::null_argument;
use crate::ffi::out::{out_opt, outs};
use crate::ffi::stream_callbacks::callbacks;
use crate::ffi::strings::read;
use crate::ffi::{Handle, Shared, guard, handle, slices as slices_in};
use crate::socket::throughput::Throughput;
use crate::status::Status;
use crate::stream::Stream;
use crate::timeout;

/// A stream: a connection that is read and written, with or without TLS. A plain stream does not change the bytes:
/// `netlib_stream_new_fd` makes a plain stream on a descriptor, and `netlib_stream_new_callbacks` makes a plain stream
/// on the application's callbacks. A TLS stream encrypts the bytes: see `netlib_tls_wrap_fd`. The functions that take a
/// stream accept both kinds of stream, so a client has one code path for http and https. Corresponds to OpenSSL's SSL
/// and BIO, and to Python's `ssl.SSLSocket` and `socket.socket`. **Concurrent, one reader and one writer**: one thread
/// may read while another thread writes; reads and writes of a third thread fail with `NETLIB_BUSY`. Shutting down
/// counts as writing. Setters and getters may be called from any thread at any time.
///
/// On a plain stream, getters of TLS properties return NULL, 0 or the enum's value for "none",
/// `netlib_stream_handshake` succeeds without I/O, `netlib_stream_write_early_data` writes no byte,
/// `netlib_stream_take_session` finds no session, and `netlib_stream_set_session` fails with `NETLIB_UNSUPPORTED`.
///
/// The descriptor of a stream is a connected stream socket. `netlib_stream_connect` makes a stream that owns its
/// descriptor. Every other function borrows the descriptor: the caller keeps the descriptor open while the stream is
/// used, and closes it afterwards. netlib neither changes nor reads the O_NONBLOCK flag of the
/// descriptor: `netlib_stream_set_blocking` determines whether calls wait.
///
/// A failure of the connection or of the TLS session is final: every later read or write fails with the same error. A
/// failure to send, however, is final only for later writes: received data can still be read. `NETLIB_READ_TIMEOUT`,
/// `NETLIB_WRITE_TIMEOUT`, `NETLIB_TOO_SLOW`, `NETLIB_CANCELLED`, `NETLIB_DEADLINE_EXCEEDED` and `NETLIB_INTERRUPTED`
/// are not failures of the connection: after them, and after a failed interrupt check, the stream can still be used.
///
/// A stream belongs to the process that made it. In a forked child, reads, writes, handshakes, shutdowns and changes of
/// the stream's settings fail with `NETLIB_CLOSED`, and `netlib_stream_free` only releases memory. This rule also holds
/// for plain streams, because two processes that read from one connection would each receive some of its bytes at
/// random. A child process that takes over a plain connection makes a new stream on the descriptor.
/// `netlib_stream_free` in a child closes only the child's copy of a descriptor that the stream owns.
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

/// Receives bytes from the peer over an application-defined transport: see `netlib_stream_new_callbacks`. netlib
/// invokes the callback only during a call on the stream, on the thread of that call, and never twice at the same time.
/// netlib holds no lock while the callback runs, so the callback may use other streams. If the callback reads from,
/// writes to or shuts down the stream that invoked the callback, that call fails with `NETLIB_BUSY`.
///
/// @param buf the buffer to fill; its bytes are not initialised.
/// @param len the size of `buf` in bytes, at least 1.
/// @param n out: the number of bytes stored in `buf`, at most `len`; 0 if the peer will send no more bytes. netlib sets
///        `*n` to `SIZE_MAX` before the call, and the callback must store a number if it returns `NETLIB_OK`.
/// @return `NETLIB_OK` after storing `*n`; if the callback returns `NETLIB_OK` without storing `*n`, the stream fails
///         with `NETLIB_CALLBACK_FAILED`. `NETLIB_END_OF_STREAM` has the same effect as storing 0 in `*n`.
///         `NETLIB_WANT_READ` or `NETLIB_WANT_WRITE` means that no data is available yet; the call on the stream then
///         returns the same status. If the callback returns a failure status of netlib (200 or more), the call on the
///         stream fails with the same status; if the callback returns any other number, the call fails with
///         `NETLIB_CALLBACK_FAILED`.
/// @called-by `netlib_stream_handshake`, `netlib_stream_read`, `netlib_stream_read_response`,
///        `netlib_stream_read_body`, `netlib_stream_write`, `netlib_stream_writev`, `netlib_stream_write_early_data`,
///        `netlib_stream_is_dropped` and `netlib_stream_shutdown_both`.
pub type netlib_stream_read_fn =
    Option<unsafe extern "C" fn(ctx: *mut c_void, buf: *mut c_void, len: usize, n: *mut usize) -> i32>;

/// Sends bytes to the peer over an application-defined transport: see `netlib_stream_new_callbacks`. netlib invokes the
/// write callback by the same rules as a `netlib_stream_read_fn`, possibly while the read callback runs on another
/// thread.
///
/// @param len the number of bytes, at least 1.
/// @param n out: the number of bytes accepted, from 1 to `len`. Later calls of the callback pass the remaining bytes
///        again. netlib sets `*n` to `SIZE_MAX` before the call, and the callback must store a number if it returns
///        `NETLIB_OK`.
/// @return `NETLIB_OK` after storing `*n`; if the callback returns `NETLIB_OK` without storing `*n`, the stream fails
///         with `NETLIB_CALLBACK_FAILED`. Any other result means that no byte was accepted: `NETLIB_WANT_WRITE` or
///         `NETLIB_WANT_READ` if the transport has no room yet; all other numbers have the same effect as for
///         `netlib_stream_read_fn`.
/// @called-by `netlib_stream_handshake`, `netlib_stream_read`, `netlib_stream_read_response`,
///        `netlib_stream_read_body`, `netlib_stream_write`, `netlib_stream_writev`, `netlib_stream_write_early_data`,
///        `netlib_stream_is_dropped`, `netlib_stream_shutdown` and `netlib_stream_shutdown_both`.
pub type netlib_stream_write_fn =
    Option<unsafe extern "C" fn(ctx: *mut c_void, buf: *const c_void, len: usize, n: *mut usize) -> i32>;

/// Makes a plain stream on a connected descriptor. The call does no I/O. By default, the stream is blocking and waits
/// without a time limit: see `netlib_stream_set_limit` and `netlib_stream_set_read_timeout`. To start TLS on a
/// connection that has carried plain text, as after CONNECT (RFC 9110 section 9.3.6) or STARTTLS (RFC 3207), pass the
/// plain stream to `netlib_tls_wrap_stream`.
///
/// @param fd a connected stream socket, borrowed. If `fd` is not open, the first read or write fails with `NETLIB_IO`.
/// @return `NETLIB_INVALID_ARGUMENT` for a listening socket, and for an open descriptor that is not a stream socket,
///         for example a pipe: for such a descriptor, use `netlib_stream_new_callbacks`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_stream_new_fd(
    fd: c_int,
    stream: *mut *mut netlib_stream,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let stream = outs!(stream);
        stream.give(Arc::new(Stream::plain_on_descriptor(fd)?));
        Ok(())
    })
}

/// Makes a plain stream on an application-defined transport, which consists of a read callback and a write callback.
/// Corresponds to OpenSSL's BIO. The call does no I/O and calls neither callback.
///
/// netlib cannot wait for an application-defined transport: even a call on a blocking stream returns the
/// `NETLIB_WANT_READ` or `NETLIB_WANT_WRITE` of a callback to the caller, and a write may count fewer bytes than were
/// passed. If the callbacks wait, calls on the stream wait. Before each call of a callback, netlib checks the limit of
/// the stream, and the total limit that was passed to `netlib_stream_use_timeout`. The read timeout and the write
/// timeout of the stream have no effect. If a callback returns `NETLIB_OK` but stores no count or a count larger than
/// `len`, or if the write callback stores the count 0, the stream fails with `NETLIB_CALLBACK_FAILED`, and this failure
/// is final. If a callback returns `NETLIB_PROTOCOL` or `NETLIB_TLS_HANDSHAKE_EOF`, or the read callback of a TLS
/// stream returns `NETLIB_TLS_TRUNCATED`, the failure is final. After any other failure status of a callback, the
/// stream can still be used.
///
/// @param read_fn receives bytes from the peer.
/// @param write_fn sends bytes to the peer.
/// @param ctx_free is called when the stream and every stream inside it have been freed; if the function fails,
///        `ctx_free` is called before the function returns. May be NULL: `ctx` must stay usable until `ctx_free` would
///        be called.
/// @param stream out: the stream; `netlib_stream_free` calls no callback except `ctx_free`.
/// @return `NETLIB_OK`; `NETLIB_NULL_ARGUMENT` for a missing callback.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_stream_new_callbacks(
    read_fn: netlib_stream_read_fn,
    write_fn: netlib_stream_write_fn,
    ctx: *mut c_void,
    ctx_free: netlib_ctx_free_fn,
    stream: *mut *mut netlib_stream,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let ctx = CallbackContext::new(ctx, ctx_free);
        let stream = outs!(stream);
        let read_fn = read_fn.ok_or_else(|| null_argument("read_fn"))?;
        let write_fn = write_fn.ok_or_else(|| null_argument("write_fn"))?;
        stream.give(Arc::new(Stream::plain_on_callbacks(callbacks(read_fn, write_fn, ctx))));
        Ok(())
    })
}

/// Releases a stream. The call does no I/O: to tell the peer that no more data follows, first call
/// `netlib_stream_shutdown`. Close a borrowed descriptor after `netlib_stream_free`; a descriptor that the stream owns
/// is closed by `netlib_stream_free`. No other call on the stream may be in progress.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_stream_free(stream: *mut netlib_stream) {
    guard::nothing(|| handle::free(stream));
}

/// Sets the limit that ends waiting calls on a stream, and keeps a reference to the limit. Later calls obey the new
/// limit; a call in progress on another thread still obeys the old one. Default: none.
///
/// On a non-blocking stream with a descriptor, a call that needs input, such as a read or a TLS handshake, fails if the
/// limit has ended. A write that needs no input does not check the limit. In an event loop, the
/// descriptor of `netlib_limit_fd` wakes the loop when the limit ends: call `netlib_limit_check` before each write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_stream_set_limit(stream: *mut netlib_stream, limit: *const netlib_limit) {
    // set_limit fails only after a panic in an earlier call. All later calls report that panic.
    guard::value((), || arg_kept_alive!(stream, |_| true).set_limit(arg_shared_opt!(limit)));
}

/// Sets the read timeout: the maximum time that a read waits for the next bytes. The timeout bounds the time between
/// two reads of the socket, not the whole call. The timeout also applies while a TLS handshake reads. Default:
/// `NETLIB_TIMEOUT_NONE`.
///
/// @param seconds 0 or more, `NETLIB_TIMEOUT_NONE`, or `NETLIB_TIMEOUT_DEFAULT` for the present process default.
/// @return `NETLIB_INVALID_ARGUMENT` for a number that `seconds` does not allow.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_stream_set_read_timeout(
    stream: *mut netlib_stream,
    seconds: f64,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || arg!(stream).set_read_timeout(timeout::resolve(seconds, "seconds")?))
}

/// Copies the read and total limits of a `netlib_timeout`. The read limit becomes the read timeout (see
/// `netlib_stream_set_read_timeout`). The total limit bounds all later calls on the stream together. After the total
/// limit has passed, a call that receives bytes from the transport, or waits for them, fails with
/// `NETLIB_READ_TIMEOUT`. A call that sends bytes fails with `NETLIB_WRITE_TIMEOUT` if the stream is blocking or has
/// callbacks. Default: no total limit.
///
/// The total limit begins with `netlib_timeout_start_connect`. The clock of `timeout` measures the time until the call
/// of `netlib_stream_use_timeout`, and the system's clock measures the time after that call. The stream does not keep
/// `timeout`, and later changes of `timeout` have no effect. Before each request on a connection that is kept alive,
/// call the function with the timeout of that request; a timeout without a total limit removes the total limit of an
/// earlier call.
///
/// @param timeout the limits; its connect limit is not used: see `netlib_connect_options_use_timeout`.
/// @return `NETLIB_TIMEOUT_STATE_ERROR` if there is a total limit and the clock of `timeout` has not been started;
///         `NETLIB_CALLBACK_FAILED` if the clock function failed. After a failure, the previous limits stay.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_stream_use_timeout(
    stream: *mut netlib_stream,
    timeout: *const netlib_timeout,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let timeout = arg_exclusive!(timeout);
        arg_kept_alive!(stream, |_| true).use_timeout(&timeout)
    })
}

/// Sets the write timeout: the maximum time that a write waits until the transport accepts more bytes. Default:
/// `NETLIB_TIMEOUT_NONE`.
///
/// @param seconds 0 or more, `NETLIB_TIMEOUT_NONE`, or `NETLIB_TIMEOUT_DEFAULT` for the present process default.
/// @return `NETLIB_INVALID_ARGUMENT` for a number that `seconds` does not allow.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_stream_set_write_timeout(
    stream: *mut netlib_stream,
    seconds: f64,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || arg!(stream).set_write_timeout(timeout::resolve(seconds, "seconds")?))
}

/// Sets a minimum throughput for reads, which detects a peer that sends a few bytes now and then, often enough to
/// prevent the read timeout. In each period of `seconds` of waiting, `bytes` must arrive; once `bytes` have arrived,
/// the next period begins. If fewer bytes arrive in a period, the waiting read fails with `NETLIB_TOO_SLOW`, and the
/// next read starts a new period. Default: none. Corresponds to curl's CURLOPT_LOW_SPEED_LIMIT, but the time that the
/// application spends between its reads does not count.
///
/// netlib counts the bytes that reads return; during a TLS handshake, netlib counts every received byte. For a
/// non-blocking stream, the time from `NETLIB_WANT_READ` to the next call is waiting time; use a timer to make that
/// call even if nothing arrives. The time until the server begins to respond is also waiting time: if that time may be
/// long, set the minimum when the response has begun. Each call of `netlib_stream_set_minimum_throughput` or
/// `netlib_stream_is_dropped` starts a new period. For TLS in TLS, the minimum applies only to calls on the stream for
/// which it is set. If the first call on the inner stream also makes the handshake of the outer stream, no minimum
/// applies to that handshake: to bound the handshake, use a limit.
///
/// @param bytes the number of bytes that must arrive in each period; 0 for no minimum, with any `seconds`.
/// @param seconds the length of a period, more than 0; `NETLIB_TIMEOUT_NONE` for no minimum.
/// @return `NETLIB_INVALID_ARGUMENT` if `bytes` is not 0 and `seconds` is 0, negative or NaN.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_stream_set_minimum_throughput(
    stream: *mut netlib_stream,
    bytes: usize,
    seconds: f64,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || arg!(stream).set_minimum_throughput(Throughput::new(bytes, seconds)?))
}

/// Sets whether calls on a stream wait. Default: 1. With 0, a call returns `NETLIB_WANT_READ` or `NETLIB_WANT_WRITE`
/// instead of waiting: poll the descriptor for the event, then make the same call again. The two statuses correspond to
/// OpenSSL's SSL_ERROR_WANT_READ and SSL_ERROR_WANT_WRITE. During a TLS handshake, a read may return
/// `NETLIB_WANT_WRITE`, and a write `NETLIB_WANT_READ`. Before you poll for input, read until `NETLIB_WANT_READ`: a
/// stream may have received plaintext or unread bytes although the descriptor has no more data.
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

/// Reads the bytes that are available, at least one and at most `len`. If `netlib_stream_read_response` has received
/// bytes after a head, the call returns those bytes first, without waiting. On a plain stream with a descriptor, a read
/// is one recv(2) if data is available. On a TLS stream, buffers of 16 KiB or more are the fastest, because the
/// plaintext of a whole record fits into them. Corresponds to recv(2) and OpenSSL's SSL_read_ex.
///
/// On a plain stream, `NETLIB_END_OF_STREAM` does not prove that the data is complete, because anyone on the network
/// path can end the connection: compare the number of bytes with the announced length.
///
/// @param len the size of `buf` in bytes; with 0, nothing is read.
/// @param n out: the number of bytes read.
/// @return `NETLIB_END_OF_STREAM` when the peer has ended its data: on a plain stream, by closing the connection or its
///         sending direction, and on a TLS stream by close_notify; `NETLIB_TLS_TRUNCATED` when the connection of a TLS
///         stream ended without close_notify, so that data may be missing; `NETLIB_PROTOCOL` when the connection was
///         reset; `NETLIB_WANT_READ` if the stream is non-blocking and no data has arrived, and during a TLS handshake
///         also `NETLIB_WANT_WRITE`; `NETLIB_READ_TIMEOUT`; `NETLIB_TOO_SLOW`; `NETLIB_CANCELLED`;
///         `NETLIB_DEADLINE_EXCEEDED`; `NETLIB_BUSY`; `NETLIB_CLOSED` in a forked child; `NETLIB_IO`; on a stream with
///         callbacks, `NETLIB_CALLBACK_FAILED` and the statuses that the callbacks return; on a TLS stream, all that
///         `netlib_stream_handshake` returns.
/// @threads one reader and one writer at the same time
/// @blocks if the stream is blocking. The stream's limit and timeouts end the wait.
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
        let done = arg_kept_alive!(stream, |_| true).read(arg_buffer!(buf, len))?;
        n.set(done.count());
        Ok(done.status())
    })
}

/// Returns the number of bytes that the next read would return without I/O; more bytes may be available to later reads.
/// Unread bytes (see `netlib_stream_read_response`) come first. If there are none, a TLS stream decrypts a record that
/// has already been received, to determine the number; for a plain stream, the number is 0, or 1 if
/// `netlib_stream_is_dropped` has read a byte from the read callback. Corresponds to OpenSSL's SSL_pending.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_stream_pending(stream: *const netlib_stream) -> usize {
    read(stream, 0, Stream::pending)
}

/// Checks whether an idle connection has been dropped, so that it can carry no request and should be closed.
/// `netlib_is_connection_dropped` reports too many TLS connections as dropped, because session tickets and key updates
/// may arrive at any time. On a TLS stream, `netlib_stream_is_dropped` processes session tickets and key updates. The
/// next read still returns the data or the failure that the check found.
///
/// The check never waits and obeys no limit. If a TLS message of the peer requires an answer, the check sends the
/// answer, unless the transport does not accept it immediately. For a stream with callbacks, the check calls the
/// callbacks; for TLS in TLS, the check also reads from the outer streams. Before the TLS handshake is done, the check
/// leaves input to the handshake, and reports a connection as dropped only if the connection has ended or the handshake
/// has failed.
///
/// @param dropped out: 1 if the connection has been dropped, else 0.
/// @param why out: `NETLIB_WANT_READ` if the connection has not been dropped. Any other status is the reason why
///        `dropped` is 1: `NETLIB_OK` if unsolicited data has arrived, or if bytes are unread (see
///        `netlib_stream_read_response`); `NETLIB_END_OF_STREAM` if the peer has ended its data;
///        `NETLIB_TLS_TRUNCATED` if the connection of a TLS stream ended without close_notify; `NETLIB_PROTOCOL` if the
///        connection was reset, or if the last write found the connection closed; `NETLIB_IO` if the descriptor is not
///        open; `NETLIB_TOO_MUCH_DATA` if the check received tens of kilobytes of session tickets; `NETLIB_CLOSED` if
///        the stream was shut down for writing; `NETLIB_WANT_WRITE` if the last write was not finished;
///        `NETLIB_TLS_ALERT`, `NETLIB_TLS_PROTOCOL` or another status if the stream has failed with this status. May be
///        NULL.
/// @return `NETLIB_BUSY` while another call reads, writes or makes the handshake, and while another stream runs inside
///         the stream; `NETLIB_CLOSED` in a forked child; `NETLIB_IO` if the system reports an error;
///         `NETLIB_OUT_OF_MEMORY`; on a stream with callbacks, the statuses that the callbacks return.
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
        let status = arg_kept_alive!(stream, |_| true).probe()?;
        dropped.set_bool(status != Status::WantRead);
        if let Some(why) = why {
            why.set(status as netlib_status);
        }
        Ok(())
    })
}

/// Writes data. A blocking stream with a descriptor writes all data. A non-blocking stream, and a stream with
/// callbacks, writes as much as the transport accepts at once. `n` counts the bytes that the operating system or the
/// write callback has accepted. Corresponds to send(2), and to OpenSSL's SSL_write_ex with
/// SSL_MODE_ENABLE_PARTIAL_WRITE and SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER.
///
/// The next write must begin with the bytes that `n` does not count, because a part of them may have been sent or
/// encrypted already. After a failure, `n` is 0: to continue after `NETLIB_WRITE_TIMEOUT`, `NETLIB_CANCELLED` or
/// `NETLIB_DEADLINE_EXCEEDED`, write the same data again. netlib skips the bytes that it has sent, and sends no byte
/// twice.
///
/// After a failed write of a request, a server may already have answered: `netlib_stream_read_response` reads a
/// response that has arrived. If a write on a reused stream (see `netlib_stream_read_response`) finds the connection
/// closed, the write looks for input without waiting. If nothing has arrived, the write fails with
/// `NETLIB_STALE_CONNECTION`. If a response has arrived, or while another thread reads, the write fails with
/// `NETLIB_PROTOCOL`.
///
/// @param len the number of bytes; `NETLIB_NTS` is refused.
/// @param n out: the number of bytes written; less than `len` only if the stream is non-blocking or has callbacks; 0
///        after a failure.
/// @return `NETLIB_WANT_WRITE` if the stream is non-blocking and no byte can be sent, and during a TLS handshake also
///         `NETLIB_WANT_READ`; `NETLIB_CLOSED` after a shutdown, and in a forked child; `NETLIB_INVALID_ARGUMENT` when
///         the call passes fewer bytes than earlier writes have sent or encrypted without counting them;
///         `NETLIB_PROTOCOL` when the connection is closed; `NETLIB_STALE_CONNECTION`; `NETLIB_WRITE_TIMEOUT`;
///         `NETLIB_CANCELLED`; `NETLIB_DEADLINE_EXCEEDED`; `NETLIB_BUSY`; `NETLIB_IO`; on a stream with callbacks,
///         `NETLIB_CALLBACK_FAILED` and the statuses that the callbacks return; on a TLS stream, all that
///         `netlib_stream_handshake` returns.
/// @threads one reader and one writer at the same time
/// @blocks if the stream is blocking. The stream's limit and timeouts end the wait.
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
        let done = arg_kept_alive!(stream, |_| true).write(arg_data!(buf, len))?;
        n.set(done.count());
        Ok(done.status())
    })
}

/// Writes data in several pieces, as `netlib_stream_write` writes one piece. Corresponds to writev(2). On a plain
/// stream with a descriptor, up to 32 pieces are sent with one system call. On a TLS stream, small pieces share
/// records, so that they need no more records than one piece of the same total length; netlib copies only bytes that
/// share a record with bytes of another piece. After a write that did not count all bytes, the next write must begin
/// with the bytes that were not counted, but may divide them into other pieces.
///
/// @param slices the pieces, in order.
/// @param count the number of pieces, at most 1024.
/// @param n out: the number of bytes written from all pieces; less than their total length only if the stream is
///        non-blocking or has callbacks; 0 after a failure.
/// @return all that `netlib_stream_write` returns; `NETLIB_INVALID_ARGUMENT` also for more than 1024 pieces, and for a
///         total length that exceeds the address space; `NETLIB_NULL_ARGUMENT` for a piece that is NULL and not empty.
/// @threads one reader and one writer at the same time
/// @blocks if the stream is blocking. The stream's limit and timeouts end the wait.
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
        let stream = arg_kept_alive!(stream, |_| true);
        let done = slices_in::with(slices, count, |pieces| stream.write_pieces(pieces))?;
        n.set(done.count());
        Ok(done.status())
    })
}

/// Tells the peer that no more data follows. On a plain stream with a descriptor, the call is shutdown(2) with SHUT_WR.
/// On a TLS stream, the call sends the bytes that earlier writes encrypted but did not count, then close_notify (RFC
/// 8446 section 6.1), and leaves the descriptor open for sending. If the TLS handshake is not done, the call sends no
/// close_notify: the call that completes the handshake sends it. On a plain stream with callbacks, the call sends
/// nothing: end the transport yourself. Nothing can be written after the call. The peer may still send data, which can
/// be read until `NETLIB_END_OF_STREAM`. Calling the function again is harmless. Corresponds to OpenSSL's SSL_shutdown,
/// called once.
///
/// @return `NETLIB_WANT_WRITE` if the stream is non-blocking and the call must be repeated; `NETLIB_WRITE_TIMEOUT`;
///         `NETLIB_CANCELLED`; `NETLIB_DEADLINE_EXCEEDED`; `NETLIB_BUSY`; `NETLIB_CLOSED` in a forked child;
///         `NETLIB_PROTOCOL` when the connection is closed; `NETLIB_IO`; the status with which the stream has failed.
/// @threads one reader and one writer at the same time
/// @blocks if the stream is blocking. The stream's limit and timeouts end the wait.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_stream_shutdown(
    stream: *mut netlib_stream,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || Ok(arg_kept_alive!(stream, |_| true).shutdown()?.status()))
}

/// Tells the peer that no more data follows, as `netlib_stream_shutdown` does, and waits until the peer has ended its
/// data. For TLS, the wait is needed only if the transport is used for another purpose afterwards. For a plain stream,
/// the wait ensures that the peer receives all data. Without the wait, the application may close the socket while the
/// peer is sending: data that arrives on a closed socket makes the system reset the connection, and the peer may lose
/// data that it has not read yet. Corresponds to Python's `SSLSocket.unwrap` and OpenSSL's SSL_shutdown, called until
/// it returns 1.
///
/// While the call waits, it discards the data that arrives, at most 1 MiB over all calls. If the peer may send more
/// than 1 MiB, call `netlib_stream_shutdown`, then read until `NETLIB_END_OF_STREAM`. If the TLS handshake is not done,
/// the call sends no close_notify, and returns `NETLIB_OK` without waiting for the peer.
///
/// @return `NETLIB_OK` when both sides have ended their data; `NETLIB_WANT_READ` or `NETLIB_WANT_WRITE` if the stream
///         is non-blocking and the call must be repeated; `NETLIB_TLS_TRUNCATED` when the connection of a TLS stream
///         ended without the peer's close_notify; `NETLIB_TOO_MUCH_DATA`; `NETLIB_BUSY` when another thread reads or
///         writes; all that `netlib_stream_shutdown` and `netlib_stream_read` return.
/// @threads one call at a time, which counts as reading and as writing
/// @blocks if the stream is blocking. The stream's limit and timeouts end the wait.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_stream_shutdown_both(
    stream: *mut netlib_stream,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || Ok(arg_kept_alive!(stream, |_| true).shutdown_both()?.status()))
}
