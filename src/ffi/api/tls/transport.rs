//! TLS streams on something else than a descriptor: another stream, functions of the program.

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

/// Receives what the peer sent, over a transport of the program's own. It is called only during calls on the stream, on
/// their thread, one at a time, and while no lock is held: it may use other streams. A call on its own stream is
/// `NETLIB_BUSY`.
///
/// @param buf where to put bytes; what it holds before is not set.
/// @param len how many bytes fit, at least 1.
/// @param n out: the number of bytes stored in `buf`, at most `len`; 0 if the peer will send no more. It is preset to
///        `SIZE_MAX`, and the callback must store a value.
/// @return `NETLIB_OK` with `*n` stored; if `*n` is not stored, the session fails with `NETLIB_CALLBACK_FAILED`.
///         `NETLIB_END_OF_STREAM` means the same as 0 bytes. `NETLIB_WANT_READ` or `NETLIB_WANT_WRITE` means that no
///         data is available yet; the call on the stream then returns this status. A failure status of netlib (200 or
///         more) fails that call with the same status, any other number with `NETLIB_CALLBACK_FAILED`.
/// @threads as the stream is used
pub type netlib_tls_read_fn =
    Option<unsafe extern "C" fn(ctx: *mut c_void, buf: *mut c_void, len: usize, n: *mut usize) -> i32>;

/// Sends bytes to the peer, over a transport of the program's own. Called as `netlib_tls_read_fn` is, and possibly
/// while that runs on another thread.
///
/// @param len how many, at least 1.
/// @param n out: the number of bytes accepted, from 1 to `len`. The rest is passed again later. It is preset to
///        `SIZE_MAX`, and the callback must store a value.
/// @return `NETLIB_OK` with `*n` stored; if `*n` is not stored, the session fails with `NETLIB_CALLBACK_FAILED`. With
///         any other result nothing was accepted: `NETLIB_WANT_WRITE` or `NETLIB_WANT_READ` if there is no room yet;
///         failures as in `netlib_tls_read_fn`.
/// @threads as the stream is used
pub type netlib_tls_write_fn =
    Option<unsafe extern "C" fn(ctx: *mut c_void, buf: *const c_void, len: usize, n: *mut usize) -> i32>;

/// Makes a client's stream inside another stream: TLS in TLS, as to an origin through an https proxy. As urllib3's
/// SSLTransport, its tls_in_tls. No I/O: the first read or write, or `netlib_tls_stream_handshake`, makes the
/// handshake, and that of the outer stream if it is not done yet. Each of the two peers proves a name of its own. Read
/// exactly the proxy's answer from the outer stream first: what comes after it is the inner one's.
///
/// As long as the new stream exists, it has the outer one for itself: reading, writing, handshaking and shutting down
/// there, and making another stream in it, are `NETLIB_BUSY`. The outer stream's getters work, and it may be freed: the
/// new one keeps it alive. The new stream's own settings (blocking or not, limit, timeouts) hold all the way down, not
/// those of the outer one; if it does not block, poll the descriptor at the bottom.
///
/// To end both: shut down the inner stream, free it, shut down the outer one. To use the outer one for something else
/// instead, call `netlib_tls_stream_shutdown_both` on the inner one before it is freed: what it has taken from the
/// outer one is then gone. If the outer stream ends before the inner peer's closing message, properly or not, that is
/// `NETLIB_TLS_TRUNCATED` for the inner one, with the outer one's error as a cause.
///
/// @param context the context of the inner session.
/// @param outer the stream to run in, a client's or a server's.
/// @param server_hostname the host that the inner server must prove to be, as for `netlib_tls_wrap_fd`. May be NULL, or
///        empty, only if the context does not check names.
/// @return `NETLIB_BUSY` when another call is using `outer`, another stream runs inside it, or a write to it has bytes
///         that were not counted; `NETLIB_CLOSED` when it was shut down; its failure when it has failed;
///         `NETLIB_UNSUPPORTED` for the 17th stream inside one another; all that `netlib_tls_wrap_fd` returns.
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

/// Makes a server's stream inside another stream, as `netlib_tls_wrap_stream` makes a client's.
///
/// @param context the context, with an identity.
/// @param outer the stream to run in, a client's or a server's.
/// @return `NETLIB_OK`; what `netlib_tls_wrap_stream` returns for `outer`; all that `netlib_tls_accept_fd` returns.
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

/// Makes a client's stream on a transport of the program's own. As a BIO of OpenSSL. No I/O, as `netlib_tls_wrap_fd`:
/// no function is called.
///
/// netlib cannot wait for such a transport: what the functions answer with `NETLIB_WANT_READ` or `NETLIB_WANT_WRITE`
/// comes back to the caller, blocking or not, and a write may count fewer bytes than it was given. Functions that wait
/// themselves make a stream that does. The limit is looked at before each of their calls; the stream's timeouts are
/// without effect. A count that is missing or larger than `len` is `NETLIB_CALLBACK_FAILED` and final. A failure that
/// the functions report is not final, except `NETLIB_PROTOCOL` and `NETLIB_TLS_HANDSHAKE_EOF`.
///
/// @param server_hostname the host that the server must prove to be, as for `netlib_tls_wrap_fd`. May be NULL, or
///        empty, only if the context does not check names.
/// @param read_fn receives.
/// @param write_fn sends.
/// @param ctx_free releases `ctx`, once the stream and every stream inside it are freed, or before this call returns if
///        it fails. May be NULL: `ctx` must stay usable until then.
/// @param stream out: its `_free` calls no callback but `ctx_free`.
/// @return `NETLIB_OK`, or what `netlib_tls_wrap_fd` returns for its context and name.
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

/// Makes a server's stream on a transport of the program's own, as `netlib_tls_wrap_callbacks` makes a client's.
///
/// @param context the context, with an identity.
/// @param read_fn receives.
/// @param write_fn sends.
/// @param ctx_free releases `ctx`, once the stream and every stream inside it are freed, or before this call returns if
///        it fails. May be NULL: `ctx` must stay usable until then.
/// @param stream out: its `_free` calls no callback but `ctx_free`.
/// @return `NETLIB_OK`, or what `netlib_tls_accept_fd` returns for its context.
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
