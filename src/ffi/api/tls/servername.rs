//! Servers with several names (SNI).

use std::ffi::{c_char, c_void};

use crate::ffi::api::basics::netlib_ctx_free_fn;
use crate::ffi::api::tls::{netlib_tls_context, netlib_tls_options};
use crate::ffi::enums::enum_netlib_verdict;
use crate::ffi::options as builder;
use crate::ffi::tls_callbacks;
use crate::tls::TlsOptions;

/// Chooses the context by the name that a client requests (SNI, RFC 6066 section 3). Called once per handshake, when
/// the ClientHello is complete, on the thread that makes the handshake, without a lock. May run on several threads at
/// once. The callback may call the getters of the stream for which it is called, but not read, write or handshake on
/// it. A call on the engine for which it is called fails with `NETLIB_BUSY`.
///
/// @param server_name borrowed until the callback returns: a DNS name in lower case, in its ASCII form. NULL if the
///        client sent no name, or an IP address.
/// @param replacement in/out: `*replacement` is NULL when the callback is called. A context stored here replaces this
///        context: its certificate, versions, application protocols and client verification are used; its callback is
///        not called. netlib takes ownership of the reference, whatever the callback returns: store a clone
///        (`netlib_tls_context_clone`).
/// @return `NETLIB_VERDICT_ALLOW` to go on with `*replacement`, or with this context if that is NULL;
///         `NETLIB_VERDICT_REFUSE` to refuse the client with the alert unrecognized_name (112, RFC 8446 section 6). The
///         handshake then fails here with `NETLIB_CALLBACK_FAILED` and `netlib_error_tls_alert`. After any other
///         number, 0 included, and for a replacement without an identity, it fails in the same way, and the client gets
///         the alert internal_error (80).
pub type netlib_tls_servername_fn = Option<
    unsafe extern "C" fn(
        ctx: *mut c_void,
        server_name: *const c_char,
        replacement: *mut *mut netlib_tls_context,
    ) -> enum_netlib_verdict,
>;

/// Sets a callback with which a server chooses its context by the name that the client requests. Corresponds to
/// Python's `sni_callback` and OpenSSL's SSL_CTX_set_tlsext_servername_callback. Default: none, so that every client
/// gets this context.
///
/// This context also needs an identity, for clients that get no other context. A ClientHello is buffered until it is
/// complete, up to 64 KiB. On a client the setting has no effect.
///
/// @param callback May be NULL: none.
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
