//! Which authorities are trusted.

use std::ffi::{c_char, c_void};

use crate::ffi::api::tls::netlib_tls_options;
use crate::ffi::args::{arg_bool, arg_bytes, arg_cstr, arg_path};
use crate::ffi::options as builder;
use crate::tls::TlsOptions;

/// Trusts the authorities in a file, beside those of earlier calls, as OpenSSL's CAfile. A peer's own certificate may be
/// among them, whoever issued it, and also one that says CA:TRUE, as `openssl req -x509` makes them: it is then accepted
/// as it is, if its time, its name, its purpose and its key are right. A certificate in the file that cannot be used is
/// skipped and told by `netlib_tls_context_trust_source_skipped`; a missing file, malformed PEM, or a file of which nothing
/// can be used makes `netlib_tls_context_new` fail with the path. OpenSSL's "TRUSTED CERTIFICATE" is skipped too: its
/// conditions would be lost. Default: none, which leaves the system's trust.
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

/// Trusts the authorities in the files of a directory, beside those of earlier calls, as OpenSSL's CApath. Names such as
/// `5ed36f99.0` are what OpenSSL looks for, and `c_rehash` makes: if there are any, only these are read, so that the same
/// is trusted as by OpenSSL. If there are none, every file is read that is not hidden; directories in it are not. All is
/// read when the context is made. A file that cannot be used is skipped and told by
/// `netlib_tls_context_trust_source_skipped`; a directory that cannot be read, or of which nothing can be used, makes
/// `netlib_tls_context_new` fail with the path. Default: none.
///
/// @param options the options. May be NULL: nothing happens.
/// @param path the directory, of up to 10,000 files in PEM or DER, each up to 16 MiB, together up to 64 MiB. Copied. Not
///        NULL.
/// @threads one call at a time on the options
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_add_ca_dir(options: *mut netlib_tls_options, path: *const c_char) {
    builder::set(options, "netlib_tls_options_add_ca_dir", |options: &mut TlsOptions| {
        options.add_ca_dir(arg_path!(path));
        Ok(())
    });
}

/// Trusts authorities from memory, beside those of earlier calls, as `netlib_tls_options_add_ca_file` those of a file. As
/// Python's cadata. Default: none.
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
/// `netlib_tls_options_add_ca_file`, `_add_ca_dir` or `_add_ca_data`, those built in were not asked for, and certificates
/// are verified at all; so what you choose replaces the system's, and 1 trusts both. If the system has none, those built
/// into netlib take their place. As Python's load_default_certs.
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

/// Whether the authorities of Mozilla's programme that are built into netlib are trusted, in place of the system's unless
/// `netlib_tls_options_set_system_trust` asks for both: the same on every machine, and as old as this library. As the
/// package certifi of Python. Default: 0, where they are trusted only if the system has none.
///
/// @param options the options. May be NULL: nothing happens.
/// @param on 0 or 1.
/// @threads one call at a time on the options
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_set_embedded_trust(options: *mut netlib_tls_options, on: i32) {
    builder::set(options, "netlib_tls_options_set_embedded_trust", |options: &mut TlsOptions| {
        options.set_embedded_trust(arg_bool!(on));
        Ok(())
    });
}
