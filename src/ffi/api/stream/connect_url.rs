//! Connecting to the server of a URL.

use std::ffi::c_int;
use std::sync::Arc;

use crate::ffi::api::basics::{netlib_error, netlib_status};
use crate::ffi::api::limit::netlib_limit;
use crate::ffi::api::socket::options::netlib_connect_options;
use crate::ffi::api::stream::netlib_stream;
use crate::ffi::api::tls::netlib_tls_context;
use crate::ffi::api::url::netlib_url;
use crate::ffi::args::{arg_shared, arg_shared_opt};
use crate::ffi::out::outs;
use crate::ffi::strings::read;
use crate::ffi::{guard, options as builder};
use crate::socket::connect_options::ConnectOptions;
use crate::stream::Stream;

/// Connects to the server of a URL, and makes a stream. The addresses of the URL's host are raced: see
/// `netlib_connect`. For https, the stream is a TLS stream, whose handshake the call makes; the server must prove the
/// host of the URL, as for `netlib_tls_wrap_fd`. For http, the stream is a plain stream. A URL without a scheme counts
/// as an http URL.
///
/// The stream owns its descriptor: freeing the stream closes the descriptor. If another stream still runs inside the
/// stream, the descriptor is closed when both are freed.
///
/// The stream is blocking, and keeps `limit`. If the options contain a timeout (`netlib_connect_options_use_timeout`),
/// the stream also gets the read timeout and the rest of the total limit. Otherwise, the read timeout of the stream is
/// the present process default (`netlib_set_default_timeout`). The setters of streams change these settings: before
/// another request on the connection, call `netlib_stream_set_limit` with the limit of that request,
/// and `netlib_stream_use_timeout` with its timeout.
///
/// @param url a URL with a host, and with the scheme http or https, or without a scheme.
/// @param context the TLS context for https. May be NULL: an https URL is then refused.
/// @param limit bounds the name lookup, the connection attempts and the handshake, and later calls on the stream.
/// @param stream out: the stream, whose handshake is done.
/// @return `NETLIB_UNSUPPORTED` for a scheme other than http and https; `NETLIB_INVALID_URL` for a URL without a host;
///         `NETLIB_INVALID_ARGUMENT` for an https URL if `context` is NULL; all failures of `netlib_connect_new`,
///         `netlib_connect_run`, `netlib_tls_wrap_fd` and `netlib_stream_handshake`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_stream_connect(
    url: *const netlib_url,
    context: *const netlib_tls_context,
    options: *const netlib_connect_options,
    limit: *const netlib_limit,
    stream: *mut *mut netlib_stream,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let stream = outs!(stream);
        let (url, context) = (arg_shared!(url), arg_shared_opt!(context));
        let options = builder::shared::<_, ConnectOptions>(options)?;
        stream.give(Arc::new(Stream::connect(&url, context.as_ref(), options, arg_shared_opt!(limit))?));
        Ok(())
    })
}

/// Returns the descriptor that carries the bytes of a stream, to wait for it in an event loop; -1 if callbacks carry
/// the bytes, and for NULL. For a stream inside another stream, the result is the descriptor of the outermost stream.
/// Do not read from the descriptor or write to it, and make no second stream on it. The descriptor of a stream that
/// `netlib_stream_connect` has made is valid until that stream, and every stream inside it, is freed: do not close it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_stream_fd(stream: *const netlib_stream) -> c_int {
    read(stream, -1, |stream| stream.descriptor().unwrap_or(-1))
}
