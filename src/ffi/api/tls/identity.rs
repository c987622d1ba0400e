//! The certificate and key of this side.

use std::ffi::{c_char, c_void};

use crate::ffi::api::tls::netlib_tls_options;
use crate::ffi::args::{arg_bytes, arg_cstr, arg_path};
use crate::ffi::options as builder;
use crate::tls::TlsOptions;

/// The certificate of this side and its private key, from memory. A server needs one; a client shows it to a server that
/// asks. Default: none. Nearest: OpenSSL's `SSL_CTX_use_certificate` and `SSL_CTX_use_PrivateKey`.
///
/// The key is RSA of 2048 to 8192 bits, EC on P-256, P-384 or P-521, or Ed25519, written as PKCS#8, PKCS#1 or SEC1. It may
/// be encrypted: as PKCS#8 with PBES2 (AES-128, -192 or -256-CBC or DES-EDE3-CBC; PBKDF2 with HMAC-SHA1 to -SHA512, or
/// scrypt), or in PEM the traditional way, with a DEK-Info of one of these ciphers. Then
/// `netlib_tls_options_set_key_password` opens it. Of several keys in PEM the first is used; other sections, such as EC
/// PARAMETERS, are passed over.
///
/// The key is looked at by `netlib_tls_context_new`, which fails with `NETLIB_PASSWORD_REQUIRED` when it is encrypted and
/// no password was given, `NETLIB_WRONG_PASSWORD`, `NETLIB_KEY_MISMATCH` when it does not belong to the first certificate,
/// `NETLIB_INVALID_PEM` when it is malformed, and `NETLIB_UNSUPPORTED`, with the reason, when it is of another kind or
/// encrypted in another way, or when more than 2,000,000 iterations of PBKDF2, or 128 MiB or N*r*p = 2,097,152 of scrypt,
/// would be needed to open it.
///
/// @param options the options. May be NULL: nothing happens.
/// @param chain in PEM or DER, one after the other: this side's certificate, then those that lead to an authority; up to
///        16 MiB. Copied. Not NULL unless `chain_len` is 0.
/// @param chain_len its length in bytes, or `NETLIB_NTS`.
/// @param key in PEM or DER; up to 16 MiB. Copied, and wiped when the options are freed. May be NULL: it stands in
///        `chain`.
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

/// What opens the private key of `netlib_tls_options_set_identity` or `netlib_tls_options_set_identity_files`, whichever
/// is called, before or after. Default: none. Ignored when the key is not encrypted. Nearest: the `password` of Python's
/// `load_cert_chain`, OpenSSL's `SSL_CTX_set_default_passwd_cb`.
///
/// @param options the options. May be NULL: nothing happens.
/// @param password any bytes, up to 1024; an empty password is one too. Copied, and wiped when the options are freed.
///        May be NULL: there is none.
/// @param len its length in bytes, or `NETLIB_NTS`; 0 when `password` is NULL.
/// @threads one call at a time on the options
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_set_key_password(
    options: *mut netlib_tls_options,
    password: *const c_void,
    len: usize,
) {
    builder::set(options, "netlib_tls_options_set_key_password", |options: &mut TlsOptions| {
        let bytes = arg_bytes!(password, len);
        options.set_key_password(if password.is_null() { None } else { Some(bytes) })
    });
}
