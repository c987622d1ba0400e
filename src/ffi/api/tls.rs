//! Contexts, and streams on a socket you already have.

pub mod certificate;
pub mod context;
pub mod engine;
pub mod identity;
pub mod openssl;
pub mod options;
pub mod servername;
pub mod session;
pub mod stream;
pub mod transport;
pub mod trust;
pub mod urllib3;
pub mod verify;

use std::sync::Arc;

use crate::ffi::api::basics::{netlib_error, netlib_status};
use crate::ffi::out::outs;
use crate::ffi::{Handle, Options, Shared, Unique, guard, handle, options as builder};
use crate::tls::{Context, TlsOptions};

/// Everything that TLS streams share: trust, identity, versions, the sessions that can be resumed. **Immutable**: make
/// one, use it for any number of streams from any threads. A client's side is `netlib_tls_wrap_fd`, a server's is
/// `netlib_tls_accept_fd`; over a transport of your own, `netlib_tls_engine_client_new` and `netlib_tls_engine_server_new`.
pub struct netlib_tls_context {
    _private: [u8; 0],
}

impl Handle for netlib_tls_context {
    type Value = Context;
    type Ownership = Shared;
}

/// What a TLS context is made from. **Single**: one call at a time. Setters return nothing; the first bad value is
/// reported by `netlib_tls_context_new`. Files are read by that, not by the setters.
pub struct netlib_tls_options {
    _private: [u8; 0],
}

impl Handle for netlib_tls_options {
    type Value = Options<TlsOptions>;
    type Ownership = Unique;
}

/// New options, all at their defaults.
///
/// @return owned: free them with `netlib_tls_options_free`. Never NULL.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub extern "C" fn netlib_tls_options_new() -> *mut netlib_tls_options {
    guard::value(std::ptr::null_mut(), || Ok(handle::give(Box::new(Options::new(TlsOptions::default())))))
}

/// Releases options. Contexts made from them are not affected.
///
/// @param options owned. May be NULL: nothing happens.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_free(options: *mut netlib_tls_options) {
    guard::nothing(|| handle::free(options));
}

/// Makes a context. All files that it needs, the system's store included, are read now and never again.
///
/// @param options what it is made from; later changes to them do not affect it. May be NULL: all defaults, a client that
///        trusts the system's authorities.
/// @param context out, owned: free it with `netlib_tls_context_free`. Not NULL.
/// @param err out, owned: its message begins with the setter that was given a bad value. May be NULL.
/// @return `NETLIB_OK`; `NETLIB_INVALID_ARGUMENT` for a value that is not allowed, or settings that leave no version;
///         `NETLIB_NO_CIPHER_SUITES` if the cipher string leaves no suite; `NETLIB_UNSUPPORTED`; `NETLIB_IO` for a file
///         that cannot be read, or a key log that cannot be opened; `NETLIB_INVALID_PEM` for a file that holds nothing
///         usable; `NETLIB_KEY_MISMATCH`; `NETLIB_NO_TRUST_ANCHORS`.
/// @threads any
/// @since 0.1.0
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

/// Another reference to the same context.
///
/// @param context the context. May be NULL: NULL is returned.
/// @return owned: free it with `netlib_tls_context_free`.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_clone(context: *const netlib_tls_context) -> *mut netlib_tls_context {
    handle::clone(context)
}

/// Releases a context. Its streams keep their own references.
///
/// @param context owned. May be NULL: nothing happens.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_free(context: *mut netlib_tls_context) {
    guard::nothing(|| handle::free(context));
}
