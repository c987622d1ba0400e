//! TLS streams inside another stream, or on callbacks.

use std::ffi::{c_char, c_void};
use std::sync::Arc;

use crate::ffi::api::basics::{netlib_ctx_free_fn, netlib_error, netlib_status};
use crate::ffi::api::tls::netlib_tls_context;
use crate::ffi::api::tls::stream::netlib_tls_stream;
use crate::ffi::args::{arg_shared, arg_str_opt};
use crate::ffi::callback_context::CallbackContext;
use crate::ffi::guard;
use crate::ffi::handle::null_argument;
use crate::ffi::out::outs;
use crate::ffi::tls_callbacks::callbacks;
use crate::tls::{Stream, Transport};

/// Receives bytes from the peer, over an application-defined transport: see `netlib_tls_wrap_callbacks`. Called only
/// during calls on the stream, on the thread of the call, one at a time, without a lock, so it may use other streams. A
/// call on its own stream fails with `NETLIB_BUSY`.
///
/// @param buf the buffer to fill; its bytes are not initialised.
/// @param len the room in bytes, at least 1.
/// @param n out: the number of bytes stored in `buf`, at most `len`; 0 if the peer will send no more. It is preset to
///        `SIZE_MAX`, and the callback must store a value.
/// @return `NETLIB_OK` with `*n` stored; if `*n` is not stored, the session fails with `NETLIB_CALLBACK_FAILED`.
///         `NETLIB_END_OF_STREAM` means the same as 0 bytes. `NETLIB_WANT_READ` or `NETLIB_WANT_WRITE` means that no
///         data is available yet; the call on the stream then returns this status. A failure status of netlib (200 or
///         more) fails that call with the same status, any other number with `NETLIB_CALLBACK_FAILED`.
pub type netlib_tls_read_fn =
    Option<unsafe extern "C" fn(ctx: *mut c_void, buf: *mut c_void, len: usize, n: *mut usize) -> i32>;

/// Sends bytes to the peer, over an application-defined transport: see `netlib_tls_wrap_callbacks`. Called as
/// `netlib_tls_read_fn` is, possibly while the read callback runs on another thread.
///
/// @param len the number of bytes, at least 1.
/// @param n out: the number of bytes accepted, from 1 to `len`. The rest is passed again later. It is preset to
///        `SIZE_MAX`, and the callback must store a value.
/// @return `NETLIB_OK` with `*n` stored; if `*n` is not stored, the session fails with `NETLIB_CALLBACK_FAILED`. With
///         any other result nothing was accepted: `NETLIB_WANT_WRITE` or `NETLIB_WANT_READ` if there is no room yet;
///         failures as in `netlib_tls_read_fn`.
pub type netlib_tls_write_fn =
    Option<unsafe extern "C" fn(ctx: *mut c_void, buf: *const c_void, len: usize, n: *mut usize) -> i32>;

/// Makes a client's stream inside another stream: TLS in TLS, for example to an origin through an https proxy.
/// Corresponds to urllib3's SSLTransport (tls_in_tls). The call does no I/O: the first read or write, or
/// `netlib_tls_stream_handshake`, makes the handshake, and also the handshake of the outer stream if it is not done
/// yet. Each of the two peers proves its own name. First read exactly the proxy's answer from the outer stream: the
/// bytes after the answer belong to the inner stream.
///
/// While the new stream exists, reads, writes, handshakes and shutdowns of the outer stream, and making another stream
/// inside it, fail with `NETLIB_BUSY`. The outer stream's getters work, and it may be freed: the new stream keeps it
/// alive. The new stream's settings (blocking, limit, timeouts) apply to the transport; the settings of the outer
/// stream do not. If the new stream is non-blocking, poll the descriptor of the outermost stream.
///
/// To end both streams, shut down the inner stream, free it, and shut down the outer stream. To use the outer stream
/// for something else, call `netlib_tls_stream_shutdown_both` on the inner stream before freeing it; otherwise bytes
/// that it has read from the outer stream are lost. If the outer stream ends before the inner peer's close_notify,
/// cleanly or not, the inner stream fails with `NETLIB_TLS_TRUNCATED`, with the outer stream's error as a cause.
///
/// @param outer a client's or a server's stream.
/// @param server_hostname the inner server's name, as for `netlib_tls_wrap_fd`. May be NULL, or empty, only if the
///        context does not check names.
/// @return `NETLIB_BUSY` when another call is using `outer`, another stream runs inside it, or a write to it has bytes
///         that were not counted; `NETLIB_CLOSED` when it was shut down; the failure of `outer` when it has failed;
///         `NETLIB_UNSUPPORTED` for the 17th nested stream; all that `netlib_tls_wrap_fd` returns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_wrap_stream(
    context: *const netlib_tls_context,
    outer: *mut netlib_tls_stream,
    server_hostname: *const c_char,
    stream: *mut *mut netlib_tls_stream,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let stream = outs!(stream);
        let context = arg_shared!(context);
        let outer = Transport::stream(arg_shared!(outer))?;
        stream.give(Arc::new(Stream::client_over(&context, outer, arg_str_opt!(server_hostname))?));
        Ok(())
    })
}

/// Makes a server's stream inside `outer`, as `netlib_tls_wrap_stream` makes a client's. The `context` must have an
/// identity.
///
/// @return `NETLIB_OK`; the failures of `netlib_tls_wrap_stream` for `outer`; all that `netlib_tls_accept_fd` returns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_accept_stream(
    context: *const netlib_tls_context,
    outer: *mut netlib_tls_stream,
    stream: *mut *mut netlib_tls_stream,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let stream = outs!(stream);
        let context = arg_shared!(context);
        let outer = Transport::stream(arg_shared!(outer))?;
        stream.give(Arc::new(Stream::server_over(&context, outer)?));
        Ok(())
    })
}

/// Makes a client's stream on an application-defined transport. Corresponds to OpenSSL's BIO. The call does no I/O and
/// calls neither callback.
///
/// netlib cannot wait for such a transport: `NETLIB_WANT_READ` or `NETLIB_WANT_WRITE` from a callback is returned to
/// the caller, even by a blocking stream, and a write may count fewer bytes than it was given. If the callbacks wait,
/// the stream waits. The limit is checked before each callback; the stream's timeouts have no effect. A callback that
/// stores no count, or a count larger than `len`, makes the session fail with `NETLIB_CALLBACK_FAILED`, which is final.
/// A failure that a callback reports is not final, except `NETLIB_PROTOCOL` and `NETLIB_TLS_HANDSHAKE_EOF`.
///
/// @param server_hostname as for `netlib_tls_wrap_fd`. May be NULL, or empty, only if the context does not check names.
/// @param read_fn receives bytes from the peer.
/// @param write_fn sends bytes to the peer.
/// @param ctx_free is called once the stream and every stream inside it are freed, or before this call returns if it
///        fails. May be NULL: `ctx` must stay usable until then.
/// @param stream out: `netlib_tls_stream_free` calls no callback except `ctx_free`.
/// @return `NETLIB_OK`, or a failure of `netlib_tls_wrap_fd` for the context and name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_wrap_callbacks(
    context: *const netlib_tls_context,
    server_hostname: *const c_char,
    read_fn: netlib_tls_read_fn,
    write_fn: netlib_tls_write_fn,
    ctx: *mut c_void,
    ctx_free: netlib_ctx_free_fn,
    stream: *mut *mut netlib_tls_stream,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let ctx = CallbackContext::new(ctx, ctx_free);
        let stream = outs!(stream);
        let context = arg_shared!(context);
        let server_hostname = arg_str_opt!(server_hostname);
        let read_fn = read_fn.ok_or_else(|| null_argument("read_fn"))?;
        let write_fn = write_fn.ok_or_else(|| null_argument("write_fn"))?;
        let transport = Transport::callbacks(callbacks(read_fn, write_fn, ctx));
        stream.give(Arc::new(Stream::client_over(&context, transport, server_hostname)?));
        Ok(())
    })
}

/// Makes a server's stream on an application-defined transport, as `netlib_tls_wrap_callbacks` makes a client's. The
/// `context` must have an identity.
///
/// @param read_fn receives bytes from the peer.
/// @param write_fn sends bytes to the peer.
/// @param ctx_free is called once the stream and every stream inside it are freed, or before this call returns if it
///        fails. May be NULL: `ctx` must stay usable until then.
/// @return `NETLIB_OK`, or a failure of `netlib_tls_accept_fd` for the context.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_accept_callbacks(
    context: *const netlib_tls_context,
    read_fn: netlib_tls_read_fn,
    write_fn: netlib_tls_write_fn,
    ctx: *mut c_void,
    ctx_free: netlib_ctx_free_fn,
    stream: *mut *mut netlib_tls_stream,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let ctx = CallbackContext::new(ctx, ctx_free);
        let stream = outs!(stream);
        let context = arg_shared!(context);
        let read_fn = read_fn.ok_or_else(|| null_argument("read_fn"))?;
        let write_fn = write_fn.ok_or_else(|| null_argument("write_fn"))?;
        let transport = Transport::callbacks(callbacks(read_fn, write_fn, ctx));
        stream.give(Arc::new(Stream::server_over(&context, transport)?));
        Ok(())
    })
}
