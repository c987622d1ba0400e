//! A server that has several names, each with a context of its own.

use std::ffi::{c_char, c_void};

use crate::ffi::api::tls::{netlib_tls_context, netlib_tls_options};
use crate::ffi::options as builder;
use crate::ffi::tls_callbacks;
use crate::tls::TlsOptions;

/// Chooses the context by the name that a client asks for (SNI, RFC 6066 section 3), as soon as the client's first message
/// is complete: once in a handshake, on the thread that shakes hands, without a lock. It may use the stream that it is
/// called for, but neither shake hands, read nor write on it; of an engine it must not use the handle at all. Several
/// threads may call it at once: what is behind `ctx` must then be safe to share.
///
/// @param ctx as given to the setter.
/// @param server_name borrowed, until the function returns: a DNS name in lower case, in its ASCII form. NULL if the
///        client sent none, or an IP address.
/// @param replacement in/out: NULL. A context stored here goes on with the handshake: certificate, versions, application
///        protocols and what is asked of the client are then all of its own; its own callback is not called. netlib
///        takes the reference over, whatever is returned: store what `netlib_tls_context_clone` gave.
/// @return 0 to go on; the number of an alert, 1 to 255, to refuse the client with it: 112 is unrecognized_name (RFC 8446
///         section 6). This side's handshake then fails with `NETLIB_CALLBACK_FAILED` and `netlib_error_tls_alert`. So
///         it does after any other number, and for a context without an identity, and the client is told 80,
///         internal_error.
pub type netlib_tls_servername_fn = Option<
    unsafe extern "C" fn(
        ctx: *mut c_void,
        server_name: *const c_char,
        replacement: *mut *mut netlib_tls_context,
    ) -> i32,
>;

/// Lets the program choose a server's context by the name that the client asks for. As Python's
/// `SSLContext.set_servername_callback` and `sni_callback`, and OpenSSL's SSL_CTX_set_tlsext_servername_callback. Default:
/// none; every client gets this context, whatever it asks for.
///
/// This context needs an identity too, for the clients that are not given another. A client's first message is held until
/// it is complete, up to 64 KiB; clients are not asked anything, so for their side the setting has no effect.
///
/// @param options the options. May be NULL: nothing happens.
/// @param callback the function. May be NULL: none.
/// @param ctx given to it; borrowed as long as contexts that are made from these options, their streams and their engines
///        exist. May be NULL.
/// @threads one call at a time on the options
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_set_servername_callback(
    options: *mut netlib_tls_options,
    callback: netlib_tls_servername_fn,
    ctx: *mut c_void,
) {
    builder::set(options, "netlib_tls_options_set_servername_callback", |options: &mut TlsOptions| {
        options.set_server_name_callback(tls_callbacks::server_name(callback, ctx));
        Ok(())
    });
}
