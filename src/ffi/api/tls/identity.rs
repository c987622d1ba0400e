//! The local certificate and private key.

use std::ffi::{c_char, c_void};

use crate::ffi::api::tls::netlib_tls_options;
use crate::ffi::args::{arg_bytes, arg_bytes_opt, arg_cstr, arg_path};
use crate::ffi::options as builder;
use crate::tls::TlsOptions;

/// Sets the identity, which is the local certificate and its private key, from files. A server needs an identity; a
/// client sends the certificate only to a server that requests one. Corresponds to Python's `load_cert_chain`, and to
/// curl's --cert and --key. Default: none.
///
/// The key is an RSA key of 2048 to 8192 bits, an EC key on P-256, P-384 or P-521, or an Ed25519 key, in the format
/// PKCS#8, PKCS#1 or SEC1. An encrypted key needs `netlib_tls_options_set_key_password`. The supported encryptions are
/// PKCS#8 with PBES2 (AES-128-CBC, AES-192-CBC, AES-256-CBC or DES-EDE3-CBC; scrypt, or PBKDF2 with HMAC-SHA1 to
/// HMAC-SHA512), PKCS#8 with the schemes of PKCS#12 (SHA-1 with 3DES or RC2), and traditional PEM encryption (a
/// DEK-Info header with one of the ciphers of PBES2). If the PEM contains several keys, netlib uses the first; other
/// sections, such as EC PARAMETERS, are skipped.
///
/// Certificate and key may be in one PKCS#12 file (.p12, .pfx; RFC 7292), as exported by browsers, Windows and Java;
/// the format is detected automatically. For a PKCS#12 file, pass NULL as `key_path`, and set the password of the file.
/// The MAC of the file, with SHA-1 to SHA-512 or PBMAC1 (RFC 9579), is verified before anything is decrypted. A file
/// without a MAC is accepted. netlib uses the first key that has a matching certificate, the matching certificate (if
/// several match, the one with the key's localKeyID), and the certificates of its issuers, which may be in the file in
/// any order. Everything else in the file is skipped.
///
/// `netlib_tls_context_new` fails with `NETLIB_PASSWORD_REQUIRED` for an encrypted key without a password,
/// `NETLIB_WRONG_PASSWORD` for a wrong password, `NETLIB_KEY_MISMATCH` for a key that does not belong to the first
/// certificate, `NETLIB_INVALID_PEM` for a malformed key or certificate, or a file without a key or certificate,
/// `NETLIB_INVALID_ARGUMENT` for a separate key in addition to PKCS#12, and `NETLIB_UNSUPPORTED` for a key of another
/// kind, a key with another encryption, or a key whose decryption costs too much: more than 2,000,000 iterations of
/// PBKDF2 (8,000,000 for all parts of PKCS#12), more than 128 MiB for scrypt, or a scrypt N*r*p of more than 2,097,152.
///
/// @param chain_path the path of the file with the local certificate, followed by the certificates that lead to an
///        authority, in PEM or DER; or the path of the PKCS#12 file. The file has up to 16 MiB, and may be a pipe that
///        ends within 5 seconds.
/// @param key_path the path of the file with the private key; the limits of `chain_path` apply. May be NULL: the key is
///        in the file of `chain_path`.
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

/// Sets the identity, which is the local certificate and its private key, from memory, as
/// `netlib_tls_options_set_identity_files` does from files. The later call of the two functions replaces the identity
/// of the earlier call. Default: none. Corresponds to OpenSSL's SSL_CTX_use_certificate and SSL_CTX_use_PrivateKey, and
/// for PKCS#12 to PKCS12_parse.
///
/// @param chain the local certificate, followed by the certificates that lead to an authority, in PEM, or in DER one
///        after the other; or PKCS#12 data. Up to 16 MiB. netlib copies the data, and wipes the copy when the last
///        options or context that holds the copy is freed.
/// @param key the private key, in PEM or DER; up to 16 MiB. netlib copies the key, and wipes the copy as it wipes the
///        copy of `chain`. May be NULL: the key is in `chain`.
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
        options.set_identity(chain, arg_bytes_opt!(key, key_len))
    });
}

/// Sets the password of the private key or of the PKCS#12 file. The password can be set before or after the key.
/// Corresponds to the `password` of Python's `load_cert_chain` and to curl's --pass. Default: none. The password is
/// ignored when nothing is encrypted.
///
/// The encryption schemes of PKCS#12 use the password as text. netlib first decodes the password as UTF-8, as OpenSSL
/// does. If the password is not UTF-8, or does not open the file, netlib then decodes each byte as one character, as
/// older programs do. A file that was made without a password opens with an empty password, and a file that was made
/// with an empty password opens without one.
///
/// @param password the password: any bytes, up to 1024; with `len` 0, an empty password. netlib copies the password,
///        and wipes each copy when the options or the context that holds it is freed. May be NULL: no password.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_set_key_password(
    options: *mut netlib_tls_options,
    password: *const c_void,
    len: usize,
) {
    builder::set(options, "netlib_tls_options_set_key_password", |options: &mut TlsOptions| {
        options.set_key_password(arg_bytes_opt!(password, len))
    });
}
