//! Contexts: made once, shared by their streams.

use std::ffi::{CString, c_char};
use std::sync::Arc;

use crate::ffi::api::basics::{netlib_error, netlib_status};
use crate::ffi::api::tls::options::netlib_ssl_version;
use crate::ffi::api::tls::{netlib_tls_context, netlib_tls_options, netlib_tls_version, netlib_verify_mode};
use crate::ffi::out::outs;
use crate::ffi::strings::{lend_text, read};
use crate::ffi::{Options, guard, handle, options as builder};
use crate::tls::Context;

/// Makes a context. All files that it needs, the system's store included, are read now and never again.
///
/// @param options what it is made from; later changes to them do not affect it. May be NULL: all defaults, a client that
///        trusts the system's authorities.
/// @param context out, owned: free it with `netlib_tls_context_free`. Not NULL.
/// @param err out, owned: its message begins with the setter that was given a bad value. May be NULL.
/// @return `NETLIB_OK`; `NETLIB_INVALID_ARGUMENT` for a value that is not allowed, or settings that leave no version;
///         `NETLIB_NO_CIPHER_SUITES` if the cipher string leaves no suite; `NETLIB_UNSUPPORTED`; `NETLIB_IO` for a file
///         that cannot be read, or a key log that cannot be opened; `NETLIB_INVALID_PEM` for a file that holds nothing
///         usable; `NETLIB_PASSWORD_REQUIRED`, `NETLIB_WRONG_PASSWORD` or `NETLIB_KEY_MISMATCH` for an identity;
///         `NETLIB_NO_TRUST_ANCHORS`; `NETLIB_OUT_OF_MEMORY`.
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

/// The oldest version that can come about: what is left of the versions once those are gone that
/// `netlib_tls_options_set_options` excludes or that have no cipher suite. As Python's `minimum_version`.
///
/// @param context the context. May be NULL: `NETLIB_TLS_1_2` is returned.
/// @return `NETLIB_TLS_1_2` or `NETLIB_TLS_1_3`.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_minimum_version(context: *const netlib_tls_context) -> i32 {
    read(context, netlib_tls_version::NETLIB_TLS_1_2 as i32, |context| context.minimum_version() as i32)
}

/// The newest version that can come about, in the same way. As Python's `maximum_version`.
///
/// @param context the context. May be NULL: `NETLIB_TLS_1_3` is returned.
/// @return `NETLIB_TLS_1_2` or `NETLIB_TLS_1_3`.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_maximum_version(context: *const netlib_tls_context) -> i32 {
    read(context, netlib_tls_version::NETLIB_TLS_1_3 as i32, |context| context.maximum_version() as i32)
}

/// Python's `SSLContext.protocol`. Every context negotiates, so it is one number: urllib3 makes its contexts so.
///
/// @param context the context. May be NULL: `NETLIB_PROTOCOL_TLS_CLIENT` is returned.
/// @return `NETLIB_PROTOCOL_TLS_CLIENT`.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_protocol(context: *const netlib_tls_context) -> i32 {
    read(context, netlib_ssl_version::NETLIB_PROTOCOL_TLS_CLIENT as i32, |_| {
        netlib_ssl_version::NETLIB_PROTOCOL_TLS_CLIENT as i32
    })
}

/// What is so of `enum netlib_tls_option`: the bits of `netlib_tls_options_set_options`, and those that are always true,
/// given or not. (Python's `SSLContext.options` has of these what was given.)
///
/// @param context the context. May be NULL: 0 is returned.
/// @return the bits.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_options(context: *const netlib_tls_context) -> i64 {
    read(context, 0, Context::option_bits)
}

/// Whether sessions are resumed at all: `netlib_tls_options_set_resumption`.
///
/// @param context the context. May be NULL: true is returned.
/// @return the setting.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_resumption(context: *const netlib_tls_context) -> bool {
    read(context, true, Context::resumption)
}

/// Whether a name may be proven by a certificate's common name. As Python's `hostname_checks_common_name`.
///
/// @param context the context. May be NULL: false is returned.
/// @return false.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_hostname_checks_common_name(context: *const netlib_tls_context) -> bool {
    read(context, false, |_| false)
}

/// Whether a server may ask for a certificate after the handshake. As Python's `post_handshake_auth`.
///
/// @param context the context. May be NULL: false is returned.
/// @return false.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_post_handshake_auth(context: *const netlib_tls_context) -> bool {
    read(context, false, |_| false)
}

/// How many application protocols are offered.
///
/// @param context the context. May be NULL: 0 is returned.
/// @return the count.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_alpn_protocol_count(context: *const netlib_tls_context) -> usize {
    read(context, 0, |context| context.alpn_protocols().len())
}

/// One of the application protocols that are offered.
///
/// @param context the context. May be NULL: NULL is returned.
/// @param index 0, the most wanted, to count - 1; beyond, NULL is returned.
/// @param len out: the length in bytes without the NUL. May be NULL.
/// @return borrowed from `context`.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_alpn_protocol(
    context: *const netlib_tls_context,
    index: usize,
    len: *mut usize,
) -> *const c_char {
    lend_text(context, len, |context| context.alpn_protocols().get(index).map(CString::as_c_str))
}

/// The file to which the secrets of sessions are written: that of `netlib_tls_options_set_keylog_file`, or of the
/// variable SSLKEYLOGFILE. As Python's `keylog_filename`.
///
/// @param context the context. May be NULL: NULL is returned.
/// @param len out: the length in bytes without the NUL. May be NULL.
/// @return borrowed from `context`; NULL when they are written nowhere.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_keylog_file(
    context: *const netlib_tls_context,
    len: *mut usize,
) -> *const c_char {
    lend_text(context, len, Context::keylog_file)
}

/// Options that make an equal context: change some, and make another. The context keeps what it was made from. What files
/// and environment held is not part of that: the other context reads them again, and has sessions of its own.
///
/// @param context the context. May be NULL: NULL is returned.
/// @return owned: free it with `netlib_tls_options_free`.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_to_options(
    context: *const netlib_tls_context,
) -> *mut netlib_tls_options {
    read(context, std::ptr::null_mut(), |context| handle::give(Box::new(Options::new(context.to_options()))))
}
