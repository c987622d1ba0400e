//! What a context is made from: versions, verification, application protocols, the environment.

use std::ffi::c_char;

use crate::ffi::api::tls::netlib_tls_options;
use crate::ffi::args::{arg_bool, arg_cstr};
use crate::ffi::options as builder;
use crate::tls::TlsOptions;

/// What is asked of the peer's certificate. Default: a client requires one, a server asks for none. As Python's
/// `ssl.SSLContext.verify_mode`, with its tie to the host name: `NETLIB_CERT_NONE` is refused once
/// `netlib_tls_options_set_check_hostname` was called with 1.
///
/// @param options the options. May be NULL: nothing happens.
/// @param mode one of `enum netlib_verify_mode`.
/// @threads one call at a time on the options
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_set_verify_mode(options: *mut netlib_tls_options, mode: i32) {
    builder::set(options, "netlib_tls_options_set_verify_mode", |options: &mut TlsOptions| {
        options.set_verify_mode(mode)
    });
}

/// Whether a server must prove its name. Default: yes, unless the verify mode is `NETLIB_CERT_NONE`; 1 after that makes
/// the mode `NETLIB_CERT_REQUIRED`, as Python's `check_hostname`. With 0 any name will do, and `netlib_tls_wrap_fd` can
/// do without one.
///
/// @param options the options. May be NULL: nothing happens.
/// @param on 0 or 1.
/// @threads one call at a time on the options
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_set_check_hostname(options: *mut netlib_tls_options, on: i32) {
    builder::set(options, "netlib_tls_options_set_check_hostname", |options: &mut TlsOptions| {
        options.set_check_hostname(arg_bool!(on));
        Ok(())
    });
}

/// The oldest version that is accepted. Default: TLS 1.2. Older ones are `NETLIB_UNSUPPORTED`.
///
/// @param options the options. May be NULL: nothing happens.
/// @param version one of `enum netlib_tls_version`.
/// @threads one call at a time on the options
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_set_minimum_version(options: *mut netlib_tls_options, version: i32) {
    builder::set(options, "netlib_tls_options_set_minimum_version", |options: &mut TlsOptions| {
        options.set_minimum_version(version)
    });
}

/// The newest version that is offered. Default: TLS 1.3.
///
/// @param options the options. May be NULL: nothing happens.
/// @param version one of `enum netlib_tls_version`.
/// @threads one call at a time on the options
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_set_maximum_version(options: *mut netlib_tls_options, version: i32) {
    builder::set(options, "netlib_tls_options_set_maximum_version", |options: &mut TlsOptions| {
        options.set_maximum_version(version)
    });
}

/// Offers an application protocol (RFC 7301) after those of earlier calls, the most wanted first. Default: none.
///
/// @param options the options. May be NULL: nothing happens.
/// @param protocol its name, as "http/1.1": 1 to 255 bytes, and 8192 of all of them together. Copied. Not NULL.
/// @threads one call at a time on the options
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_add_alpn_protocol(
    options: *mut netlib_tls_options,
    protocol: *const c_char,
) {
    builder::set(options, "netlib_tls_options_add_alpn_protocol", |options: &mut TlsOptions| {
        options.add_alpn_protocol(arg_cstr!(protocol).to_bytes())
    });
}

/// Whether SSL_CERT_FILE and SSL_CERT_DIR say where the system's authorities are. Default: yes, except in a program with
/// raised privileges (see secure_getenv(3)). They are read by `netlib_tls_context_new` only. If one is set and neither
/// leads to a certificate, that fails with `NETLIB_NO_TRUST_ANCHORS`.
///
/// @param options the options. May be NULL: nothing happens.
/// @param on 0 or 1.
/// @threads one call at a time on the options
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_set_use_environment(options: *mut netlib_tls_options, on: i32) {
    builder::set(options, "netlib_tls_options_set_use_environment", |options: &mut TlsOptions| {
        options.set_use_environment(arg_bool!(on));
        Ok(())
    });
}
