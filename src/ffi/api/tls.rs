//! TLS contexts, and TLS streams on descriptors, on callbacks and inside other streams.

pub mod trust;
pub mod identity;
pub mod verify;
pub mod options;
pub mod ciphers;
pub mod servername;
pub mod handshake;
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

/// A TLS context: the settings that TLS streams share (trusted certificates, the local certificate, TLS versions), and
/// a cache of sessions that can be resumed. Corresponds to OpenSSL's SSL_CTX and Python's `ssl.SSLContext`.
/// **Immutable**: make one context, and use it for any number of streams on any threads.
///
/// A client makes a context with `netlib_tls_context_new`, then for each connection calls `netlib_tls_wrap_fd`,
/// `netlib_stream_write`, `netlib_stream_read`, `netlib_stream_shutdown` and `netlib_stream_free`. A server also calls
/// `netlib_tls_options_set_identity_files`, and calls `netlib_tls_accept_fd` instead of `netlib_tls_wrap_fd`. Use
/// `netlib_tls_wrap_stream` for TLS inside another stream (after CONNECT or STARTTLS, and TLS in TLS),
/// `netlib_tls_wrap_callbacks` for an application-defined transport, or `netlib_tls_engine_new_client` for bytes in
/// memory.
///
/// Further functions serve special purposes. `netlib_tls_options_add_pin` restricts the accepted certificates or keys.
/// With a `netlib_tls_session`, the application chooses the session that is resumed; by default, the context chooses
/// the session. `netlib_tls_options_set_early_data` allows a request to be sent with the first message of the
/// handshake. `netlib_tls_context_with_ech` hides the server's name from observers of the connection.
/// `netlib_tls_context_verify_chain` verifies certificates without a connection. `netlib_connection_key` computes keys
/// for connection pools.
pub struct netlib_tls_context {
    _private: [u8; 0],
}

impl Handle for netlib_tls_context {
    type Value = Context;
    type Ownership = Shared;
}

/// The settings from which `netlib_tls_context_new` makes a TLS context. **One call at a time**. The setters read no
/// files: `netlib_tls_context_new` reads them.
pub struct netlib_tls_options {
    _private: [u8; 0],
}

impl Handle for netlib_tls_options {
    type Value = Options<TlsOptions>;
    type Ownership = Unique;
}

/// Makes TLS options that hold the defaults.
///
/// @return Never NULL.
#[unsafe(no_mangle)]
pub extern "C" fn netlib_tls_options_new() -> *mut netlib_tls_options {
    guard::value(std::ptr::null_mut(), || Ok(handle::give(Box::new(Options::new(TlsOptions::default())))))
}

/// Returns an independent copy of the TLS options.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_clone(options: *const netlib_tls_options) -> *mut netlib_tls_options {
    builder::clone(options)
}

/// Checks that no setter has recorded an error. `netlib_tls_context_new` makes the same check, and then reads files,
/// parses certificates, CRLs and keys, decrypts the private key, and compares settings with each other.
///
/// @return `NETLIB_INVALID_ARGUMENT` for a value that is not allowed; `NETLIB_UNSUPPORTED`; `NETLIB_NO_CIPHER_SUITES`
///         for a cipher string that selects no cipher suite.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_check(
    options: *const netlib_tls_options,
    err: *mut *mut netlib_error,
) -> netlib_status {
    builder::check(options, err)
}

/// Releases TLS options. The contexts that were made from the options are not affected.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_free(options: *mut netlib_tls_options) {
    guard::nothing(|| handle::free(options));
}

/// Makes a TLS context. The call reads the system's certificate store and the files that the options name; netlib does
/// not read them again later. Corresponds to OpenSSL's SSL_CTX_new and urllib3's create_urllib3_context.
///
/// @param options the settings; later changes to them do not affect the context. May be NULL: the defaults, for a
///        client with TLS 1.2 and 1.3 that trusts the system's authorities.
/// @param err the error message begins with the name of the setter whose value is invalid.
/// @return `NETLIB_INVALID_ARGUMENT` for a value that is not allowed, or settings that leave no TLS version;
///         `NETLIB_UNSUPPORTED`; `NETLIB_NO_CIPHER_SUITES`; `NETLIB_IO` for a file that cannot be read, or a key log
///         file that cannot be opened; `NETLIB_INVALID_PEM` for a file without a usable certificate or key;
///         `NETLIB_NO_TRUST_ANCHORS`; for the private key, `NETLIB_PASSWORD_REQUIRED`, `NETLIB_WRONG_PASSWORD` and
///         `NETLIB_KEY_MISMATCH`.
/// @blocks while files are read.
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

/// Returns another reference to the same TLS context.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_clone(context: *const netlib_tls_context) -> *mut netlib_tls_context {
    handle::clone(context)
}

/// Releases a TLS context. Streams that use the context keep references of their own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_free(context: *mut netlib_tls_context) {
    guard::nothing(|| handle::free(context));
}
