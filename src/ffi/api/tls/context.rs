//! Contexts: made once, shared by their streams.

use std::sync::Arc;

use crate::ffi::api::basics::{netlib_error, netlib_status};
use crate::ffi::api::tls::{netlib_tls_context, netlib_tls_options, netlib_tls_version, netlib_verify_mode};
use crate::ffi::out::outs;
use crate::ffi::strings::read;
use crate::ffi::{guard, handle, options as builder};
use crate::tls::{Context, TlsOptions};

/// Makes a context. All files that it needs, the system's store included, are read now and never again.
///
/// @param options what it is made from; later changes to them do not affect it. May be NULL: all defaults, a client that
///        trusts the system's authorities.
/// @param context out, owned: free it with `netlib_tls_context_free`. Not NULL.
/// @param err out, owned: its message begins with the setter that was given a bad value. May be NULL.
/// @return `NETLIB_OK`; `NETLIB_INVALID_ARGUMENT` for a value that is not allowed, or a minimum version above the
///         maximum; `NETLIB_UNSUPPORTED`; `NETLIB_IO` for a file that cannot be read; `NETLIB_INVALID_PEM` for one that
///         holds nothing usable; `NETLIB_KEY_MISMATCH`; `NETLIB_NO_TRUST_ANCHORS`.
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
        let options = builder::borrowed::<_, TlsOptions>(options)?;
        context.give(Arc::new(Context::new(&options)?));
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

/// Where the trusted authorities came from.
///
/// @param context the context. May be NULL: 0 is returned.
/// @return bits of `enum netlib_trust`; 0 when nothing is trusted because nothing is verified.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_trust_sources(context: *const netlib_tls_context) -> i32 {
    read(context, 0, Context::trust_sources)
}

/// How many authorities are trusted.
///
/// @param context the context. May be NULL: 0 is returned.
/// @return the count.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_trust_anchor_count(context: *const netlib_tls_context) -> usize {
    read(context, 0, Context::trust_anchor_count)
}

/// What a client asks of a server's certificate.
///
/// @param context the context. May be NULL: `NETLIB_CERT_REQUIRED` is returned.
/// @return one of `enum netlib_verify_mode`.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_verify_mode(context: *const netlib_tls_context) -> i32 {
    read(context, netlib_verify_mode::NETLIB_CERT_REQUIRED as i32, |context| context.verify_mode() as i32)
}

/// Whether a server must prove its name.
///
/// @param context the context. May be NULL: true is returned.
/// @return the setting.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_check_hostname(context: *const netlib_tls_context) -> bool {
    read(context, true, Context::check_hostname)
}

/// The oldest version that is accepted.
///
/// @param context the context. May be NULL: `NETLIB_TLS_1_2` is returned.
/// @return `NETLIB_TLS_1_2` or `NETLIB_TLS_1_3`.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_minimum_version(context: *const netlib_tls_context) -> i32 {
    read(context, netlib_tls_version::NETLIB_TLS_1_2 as i32, |context| context.minimum_version() as i32)
}

/// The newest version that is offered.
///
/// @param context the context. May be NULL: `NETLIB_TLS_1_3` is returned.
/// @return `NETLIB_TLS_1_2` or `NETLIB_TLS_1_3`.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_maximum_version(context: *const netlib_tls_context) -> i32 {
    read(context, netlib_tls_version::NETLIB_TLS_1_3 as i32, |context| context.maximum_version() as i32)
}
