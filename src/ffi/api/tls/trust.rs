//! Which authorities are trusted.

use std::ffi::{c_char, c_void};

use crate::ffi::api::tls::netlib_tls_options;
use crate::ffi::args::{arg_bool, arg_bytes, arg_cstr, arg_path};
use crate::ffi::options as builder;
use crate::tls::TlsOptions;

/// Where trusted certificates came from: bits of `netlib_tls_context_trust_sources`.
#[repr(C)]
pub enum netlib_trust {
    /// The operating system's store, or what SSL_CERT_FILE and SSL_CERT_DIR name.
    NETLIB_TRUST_SYSTEM = 1,
    /// The authorities of Mozilla's programme that are built into netlib, because the system has no store.
    NETLIB_TRUST_EMBEDDED = 2,
    /// `netlib_tls_options_add_ca_file` and `_add_ca_data`.
    NETLIB_TRUST_CUSTOM = 4,
}

/// Trusts the authorities in a file, beside those of earlier calls, as OpenSSL's CAfile. A peer's own certificate may be
/// among them, whoever issued it, and also one that says CA:TRUE, as `openssl req -x509` makes them: it is then accepted
/// as it is, if its time, its name, its purpose and its key are right. What is named must be usable: a missing file, one
/// without a certificate, or a certificate that cannot be used makes `netlib_tls_context_new` fail with the path.
/// Default: none, which leaves the system's trust.
///
/// @param options the options. May be NULL: nothing happens.
/// @param path the file, in PEM or DER; up to 16 MiB. It may be a pipe, as a shell's `<(...)`, that ends within 5 seconds.
///        Copied. Not NULL.
/// @threads one call at a time on the options
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_add_ca_file(options: *mut netlib_tls_options, path: *const c_char) {
    builder::set(options, "netlib_tls_options_add_ca_file", |options: &mut TlsOptions| {
        options.add_ca_file(arg_path!(path));
        Ok(())
    });
}

/// Trusts authorities from memory, beside those of earlier calls. As Python's cadata. Default: none.
///
/// @param options the options. May be NULL: nothing happens.
/// @param data certificates in PEM, or in DER one after the other; up to 16 MiB. Copied. Not NULL unless `len` is 0.
/// @param len its length in bytes, or `NETLIB_NTS`.
/// @threads one call at a time on the options
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_add_ca_data(
    options: *mut netlib_tls_options,
    data: *const c_void,
    len: usize,
) {
    builder::set(options, "netlib_tls_options_add_ca_data", |options: &mut TlsOptions| {
        options.add_ca_data(arg_bytes!(data, len))
    });
}

/// Whether the system's authorities are trusted. Default: they are exactly when none were added by
/// `netlib_tls_options_add_ca_file` or `_add_ca_data` and certificates are verified at all, so that authorities of your
/// own replace the system's; 1 trusts both. If the system has none, those built into netlib take their place.
///
/// @param options the options. May be NULL: nothing happens.
/// @param on 0 or 1.
/// @threads one call at a time on the options
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_set_system_trust(options: *mut netlib_tls_options, on: i32) {
    builder::set(options, "netlib_tls_options_set_system_trust", |options: &mut TlsOptions| {
        options.set_system_trust(arg_bool!(on));
        Ok(())
    });
}
