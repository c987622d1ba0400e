//! Contexts, and streams on a socket you already have.

pub mod trust;
pub mod identity;
pub mod verify;
pub mod options;
pub mod ciphers;
pub mod servername;
pub mod stream;
pub mod session;
pub mod transport;
pub mod engine;
pub mod resumption;
pub mod early;
pub mod ech;
pub mod certificate;
pub mod chain;
pub mod context;
pub mod connection_key;

use std::sync::Arc;

use crate::ffi::api::basics::{netlib_error, netlib_status};
use crate::ffi::out::outs;
use crate::ffi::{Handle, Options, Shared, Unique, guard, handle, options as builder};
use crate::tls::{Context, TlsOptions};

/// Shared settings of TLS streams: trust, identity, versions, and the sessions that can be resumed. Corresponds to
/// OpenSSL's SSL_CTX and Python's `ssl.SSLContext`. **Immutable**: make one context, and use it for any number of
/// streams from any threads.
///
/// A client makes a context with `netlib_tls_context_new`, then for each connection calls `netlib_tls_wrap_fd`,
/// `netlib_tls_stream_write`, `netlib_tls_stream_read`, `netlib_tls_stream_shutdown` and `netlib_tls_stream_free`. A
/// server does the same with `netlib_tls_options_set_identity_files` and `netlib_tls_accept_fd`. Without a descriptor,
/// use `netlib_tls_wrap_stream` for TLS inside TLS, `netlib_tls_wrap_callbacks` for callbacks of your own,
/// `netlib_tls_engine_new_client` for bytes in memory.
///
/// Further functions: `netlib_tls_options_add_pin` accepts only certain keys; a `netlib_tls_session` resumes a
/// particular session (a context resumes sessions by itself); `netlib_tls_options_set_early_data` allows a request to
/// be sent with the first message; `netlib_tls_context_with_ech` hides the server's name on the wire;
/// `netlib_tls_context_verify_chain` verifies certificates without a session; `netlib_connection_key` is for pools.
pub struct netlib_tls_context {
    _private: [u8; 0],
}

impl Handle for netlib_tls_context {
    type Value = Context;
    type Ownership = Shared;
}

/// The settings from which a context is made. **Single**. `netlib_tls_context_new` reports the first bad value, and
/// reads the files.
pub struct netlib_tls_options {
    _private: [u8; 0],
}

impl Handle for netlib_tls_options {
    type Value = Options<TlsOptions>;
    type Ownership = Unique;
}

/// Makes options that hold the defaults.
///
/// @return Never NULL.
#[unsafe(no_mangle)]
pub extern "C" fn netlib_tls_options_new() -> *mut netlib_tls_options {
    guard::value(std::ptr::null_mut(), || Ok(handle::give(Box::new(Options::new(TlsOptions::default())))))
}

/// Releases options. Contexts made from them are not affected.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_free(options: *mut netlib_tls_options) {
    guard::nothing(|| handle::free(options));
}

/// Makes a context. Files and the system's store are read during this call and never again. Corresponds to OpenSSL's
/// SSL_CTX_new and urllib3's create_urllib3_context.
///
/// @param options the settings; later changes to them do not affect the context. May be NULL: the defaults, a client
///        with TLS 1.2 and 1.3 that trusts the system's authorities.
/// @param err the error's message begins with the setter that was given a bad value.
/// @return `NETLIB_INVALID_ARGUMENT` for a value that is not allowed, or settings that leave no version;
///         `NETLIB_UNSUPPORTED`; `NETLIB_NO_CIPHER_SUITES`; `NETLIB_IO` for a file that cannot be read, or a key log
///         that cannot be opened; `NETLIB_INVALID_PEM` for a file without anything usable; `NETLIB_NO_TRUST_ANCHORS`;
///         for the private key, `NETLIB_PASSWORD_REQUIRED`, `NETLIB_WRONG_PASSWORD` and `NETLIB_KEY_MISMATCH`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_new(
    options: *const netlib_tls_options,
    context: *mut *mut netlib_tls_context,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let context = outs!(context);
        context.give(Arc::new(Context::of(builder::shared(options)?)?));
        Ok(())
    })
}

/// Returns another reference to the same context.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_clone(context: *const netlib_tls_context) -> *mut netlib_tls_context {
    handle::clone(context)
}

/// Releases a context. Its streams keep their own references.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_free(context: *mut netlib_tls_context) {
    guard::nothing(|| handle::free(context));
}
