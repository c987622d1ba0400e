//! TLS streams inside other streams, and on callbacks.

use std::ffi::{c_char, c_void};
use std::sync::Arc;

use crate::ffi::api::basics::{netlib_ctx_free_fn, netlib_error, netlib_status};
use crate::ffi::api::stream::{netlib_stream, netlib_stream_read_fn, netlib_stream_write_fn};
use crate::ffi::api::tls::netlib_tls_context;
use crate::ffi::args::{arg, arg_shared, arg_str_opt};
use crate::ffi::callback_context::CallbackContext;
use crate::ffi::guard;
use crate::ffi::handle::null_argument;
use crate::ffi::out::outs;
use crate::ffi::stream_callbacks::callbacks;
use crate::stream::{Stream, Transport};

/// Makes a client's TLS stream inside another stream. Inside a plain stream, TLS begins on a connection that has
/// carried plain text: after an http proxy has answered CONNECT, or after STARTTLS. Inside a TLS stream, the result is
/// TLS in TLS, for example to an origin server through an https proxy; corresponds to urllib3's SSLTransport
/// (tls_in_tls). The call does no I/O: the first read or write, or `netlib_stream_handshake`, makes the handshake. If
/// the handshake of an outer TLS stream is not done yet, the same call makes both handshakes: first the outer one, then
/// the inner one. Each of the two peers proves its own host name. Before the call, read exactly the response to CONNECT
/// or STARTTLS from the outer stream: the bytes after the response belong to the inner stream. If the outer stream has
/// unread bytes (see `netlib_stream_read_response`), the call fails: in TLS the client sends first, so the peer or an
/// attacker has sent them too early.
///
/// While the inner stream exists, reads, writes, handshakes and shutdowns of the outer stream fail with `NETLIB_BUSY`,
/// and so does making another stream inside the outer stream. The getters of the outer stream still work, and you may
/// free the outer stream: the inner stream keeps it alive. If the inner stream is non-blocking, poll the
/// descriptor of the outermost stream.
///
/// The inner stream begins with the limit, the read and write timeouts and the total limit of the outer stream, as they
/// are at the time of the call. The setters of the inner stream replace them; later changes on the outer stream have no
/// effect on the inner stream. The new stream is blocking and has no minimum throughput. A call on the inner stream
/// obeys only the settings of the inner stream, also while it uses the outer stream.
///
/// To end both streams, shut down the inner stream, free it, and shut down the outer stream. To use the outer stream
/// for another purpose afterwards, call `netlib_stream_shutdown_both` on the inner stream before freeing it; otherwise
/// bytes that the inner stream has read from the outer stream are lost. If the inner stream finds that a plain outer
/// stream has ended or failed, later calls on the outer stream return the same result. If the outer stream ends before
/// the inner peer's close_notify, the inner stream fails with `NETLIB_TLS_TRUNCATED`, even if the outer stream ended
/// with a close_notify. If an outer TLS stream ended without close_notify, its error is a cause of the inner stream's
/// error.
///
/// @param outer a plain stream, or a client's or a server's TLS stream.
/// @param server_hostname the host name that the inner server must prove, as for `netlib_tls_wrap_fd`. May be NULL, or
///        empty, only if the context does not check host names.
/// @return `NETLIB_BUSY` when another call is using `outer`, another stream runs inside `outer`, or a write to `outer`
///         must be repeated, because it has sent or encrypted bytes that it did not count; `NETLIB_TLS_PROTOCOL` when
///         `outer` has unread bytes; `NETLIB_CLOSED` when `outer` was shut down; the status with which `outer` has
///         failed; `NETLIB_UNSUPPORTED` for the 17th nested TLS stream; all that `netlib_tls_wrap_fd` returns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_wrap_stream(
    context: *const netlib_tls_context,
    outer: *mut netlib_stream,
    server_hostname: *const c_char,
    stream: *mut *mut netlib_stream,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let stream = outs!(stream);
        let context = arg_shared!(context);
        let outer = arg!(outer).to_transport()?;
        stream.give(Arc::new(Stream::client_over(&context, outer, arg_str_opt!(server_hostname))?));
        Ok(())
    })
}

/// Makes a server's TLS stream inside `outer`, as `netlib_tls_wrap_stream` makes a client's. The `context` must have a
/// local certificate.
///
/// @return `NETLIB_OK`; the failures of `netlib_tls_wrap_stream` that concern `outer`; all that `netlib_tls_accept_fd`
///         returns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_accept_stream(
    context: *const netlib_tls_context,
    outer: *mut netlib_stream,
    stream: *mut *mut netlib_stream,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let stream = outs!(stream);
        let context = arg_shared!(context);
        let outer = arg!(outer).to_transport()?;
        stream.give(Arc::new(Stream::server_over(&context, outer)?));
        Ok(())
    })
}

/// Makes a client's TLS stream on an application-defined transport, which consists of a read callback and a write
/// callback. The callbacks must obey the rules that `netlib_stream_new_callbacks` describes. The call does no I/O and
/// calls neither callback.
///
/// @param server_hostname the host name that the server must prove, as for `netlib_tls_wrap_fd`. May be NULL, or empty,
///        only if the context does not check host names.
/// @param read_fn receives bytes from the peer.
/// @param write_fn sends bytes to the peer.
/// @param ctx_free is called when the stream and every stream inside it have been freed; if the function fails,
///        `ctx_free` is called before the function returns. May be NULL: even then, `ctx` must stay usable until the
///        stream and every stream inside it have been freed.
/// @param stream out: the stream; `netlib_stream_free` calls no callback except `ctx_free`.
/// @return `NETLIB_OK`, or a failure of `netlib_tls_wrap_fd` that concerns the context or the host name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_wrap_callbacks(
    context: *const netlib_tls_context,
    server_hostname: *const c_char,
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
        let context = arg_shared!(context);
        let server_hostname = arg_str_opt!(server_hostname);
        let read_fn = read_fn.ok_or_else(|| null_argument("read_fn"))?;
        let write_fn = write_fn.ok_or_else(|| null_argument("write_fn"))?;
        let transport = Transport::callbacks(callbacks(read_fn, write_fn, ctx));
        stream.give(Arc::new(Stream::client_over(&context, transport, server_hostname)?));
        Ok(())
    })
}

/// Makes a server's TLS stream on an application-defined transport, as `netlib_tls_wrap_callbacks` makes a client's.
/// The `context` must have a local certificate.
///
/// @param read_fn receives bytes from the peer.
/// @param write_fn sends bytes to the peer.
/// @param ctx_free is called when the stream and every stream inside it have been freed; if the function fails,
///        `ctx_free` is called before the function returns. May be NULL: even then, `ctx` must stay usable until the
///        stream and every stream inside it have been freed.
/// @return `NETLIB_OK`, or a failure of `netlib_tls_accept_fd` that concerns the context.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_accept_callbacks(
    context: *const netlib_tls_context,
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
        let context = arg_shared!(context);
        let read_fn = read_fn.ok_or_else(|| null_argument("read_fn"))?;
        let write_fn = write_fn.ok_or_else(|| null_argument("write_fn"))?;
        let transport = Transport::callbacks(callbacks(read_fn, write_fn, ctx));
        stream.give(Arc::new(Stream::server_over(&context, transport)?));
        Ok(())
    })
}
