//! The certificate and key of this side.

use std::ffi::{c_char, c_void};

use crate::ffi::api::tls::netlib_tls_options;
use crate::ffi::args::{arg_bytes, arg_cstr, arg_path};
use crate::ffi::options as builder;
use crate::tls::TlsOptions;

/// The certificate of this side and its private key, from memory. A server needs one; a client shows it to a server that
/// asks. Default: none. A key that does not belong to the certificate makes `netlib_tls_context_new` fail with
/// `NETLIB_KEY_MISMATCH`; an encrypted one is `NETLIB_UNSUPPORTED` in this release.
///
/// @param options the options. May be NULL: nothing happens.
/// @param chain in PEM or DER: this side's certificate, then those that lead to an authority; up to 16 MiB. Copied. Not
///        NULL unless `chain_len` is 0.
/// @param chain_len its length in bytes, or `NETLIB_NTS`.
/// @param key in PEM or DER: PKCS#8, PKCS#1 or SEC1, not encrypted; up to 16 MiB. Copied. May be NULL: it stands
///        in `chain`.
/// @param key_len its length in bytes, or `NETLIB_NTS`; 0 when `key` is NULL.
/// @threads one call at a time on the options
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_set_identity(
    options: *mut netlib_tls_options,
    chain: *const c_void,
    chain_len: usize,
    key: *const c_void,
    key_len: usize,
) {
    builder::set(options, "netlib_tls_options_set_identity", |options: &mut TlsOptions| {
        let chain = arg_bytes!(chain, chain_len);
        let bytes = arg_bytes!(key, key_len);
        options.set_identity(chain, if key.is_null() { None } else { Some(bytes) })
    });
}

/// As `netlib_tls_options_set_identity`, from files of up to 16 MiB, or from pipes that end within 5 seconds. As
/// Python's `load_cert_chain`.
///
/// @param options the options. May be NULL: nothing happens.
/// @param chain_path the file with the certificates. Copied. Not NULL.
/// @param key_path the file with the key. Copied. May be NULL: it stands in the same file.
/// @threads one call at a time on the options
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_set_identity_files(
    options: *mut netlib_tls_options,
    chain_path: *const c_char,
    key_path: *const c_char,
) {
    builder::set(options, "netlib_tls_options_set_identity_files", |options: &mut TlsOptions| {
        let chain = arg_path!(chain_path);
        let key = if key_path.is_null() { None } else { Some(arg_path!(key_path)) };
        options.set_identity_files(chain, key);
        Ok(())
    });
}
