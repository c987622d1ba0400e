//! Servers with several host names (SNI).

use std::ffi::{c_char, c_void};

use crate::ffi::api::basics::netlib_ctx_free_fn;
use crate::ffi::api::tls::{netlib_tls_context, netlib_tls_options};
use crate::ffi::enums::enum_netlib_verdict;
use crate::ffi::options as builder;
use crate::ffi::tls_callbacks;
use crate::tls::TlsOptions;

/// Chooses a server's context by the host name that a client requests (SNI, RFC 6066 section 3). The callback is called
/// once per handshake, when the ClientHello is complete, on the thread that makes the handshake; netlib holds no lock
/// while the callback runs. The callback may run on several threads at once. The callback may call the getters of the
/// stream whose handshake invoked the callback, but must not read from that stream, write to it or make its handshake.
/// If the callback was called for the handshake of an engine, calls of the callback on that engine fail with
/// `NETLIB_BUSY`.
///
/// @param server_name the requested host name: a DNS name in lower case, in its ASCII form, borrowed until the callback
///        returns. May be NULL: the client sent no name, or sent an IP address.
/// @param replacement in/out: `*replacement` is NULL when the callback is called. A context that the callback stores
///        replaces the server's context: the handshake uses the certificate, TLS versions, application protocols and
///        client verification of the new context, but does not call the new context's callback. netlib takes ownership
///        of the stored reference, regardless of the verdict: store a clone (`netlib_tls_context_clone`).
/// @param verdict out: `NETLIB_VERDICT_ALLOW` to continue with `*replacement`, or with the server's context if
///        `*replacement` is NULL; `NETLIB_VERDICT_REFUSE` to refuse the client with the alert unrecognized_name (112,
///        RFC 8446 section 6). After a refusal, the server's handshake fails with `NETLIB_CALLBACK_FAILED`, and
///        `netlib_error_tls_alert` returns the alert. netlib presets `verdict` to `NETLIB_VERDICT_FAILED`. If the
///        callback stores no verdict or any other value, or stores a context that `netlib_tls_accept_fd` would refuse
///        (for example, because the context has no local certificate), the handshake fails with
///        `NETLIB_CALLBACK_FAILED`, and the client receives the alert internal_error (80).
/// @called-by every call that makes a TLS handshake on a server.
pub type netlib_tls_servername_fn = Option<
    unsafe extern "C" fn(
        ctx: *mut c_void,
        server_name: *const c_char,
        replacement: *mut *mut netlib_tls_context,
        verdict: *mut enum_netlib_verdict,
    ),
>;

/// Sets a callback with which a server chooses its context by the host name that the client requests. Corresponds to
/// Python's `sni_callback` and OpenSSL's SSL_CTX_set_tlsext_servername_callback. Default: no callback, so that all
/// clients are served with the same context.
///
/// The context with the callback also needs a local certificate, for clients for which the callback stores no other
/// context. A ClientHello is buffered until it is complete, up to 64 KiB. On a client's stream or engine, the callback
/// has no effect.
///
/// @param callback the callback. May be NULL: no callback.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_set_servername_callback(
    options: *mut netlib_tls_options,
    callback: netlib_tls_servername_fn,
    ctx: *mut c_void,
    ctx_free: netlib_ctx_free_fn,
) {
    const SETTER: &str = "netlib_tls_options_set_servername_callback";
    builder::set_callback(options, SETTER, (ctx, ctx_free), |options: &mut TlsOptions, ctx| {
        options.server_name_id = ctx.id(callback.map(|callback| callback as *const ()));
        options.set_server_name_callback(tls_callbacks::server_name(callback, ctx))
    });
}
