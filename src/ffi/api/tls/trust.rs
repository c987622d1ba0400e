//! Trusted authorities.

use std::ffi::{c_char, c_void};

use crate::ffi::api::tls::netlib_tls_options;
use crate::ffi::args::{arg_bool, arg_bytes, arg_cstr, arg_path};
use crate::ffi::options as builder;
use crate::tls::TlsOptions;

/// Trusts the certificates in a file, in addition to those of earlier calls. Corresponds to OpenSSL's CAfile and curl's
/// --cacert. Default: none. Once a certificate is added, the system's authorities are no longer trusted by default: see
/// `netlib_tls_options_set_system_trust`.
///
/// The file may contain certificates of authorities and certificates of peers. netlib uses both kinds as `openssl
/// verify -partial_chain` does:
///
/// - An authority may issue certificates for any name, within the validity, pathlen, extendedKeyUsage, keyUsage and
///   nameConstraints of its own certificate. A certificate belongs to an authority if its basicConstraints say CA:TRUE,
///   if it has no basicConstraints and its keyUsage includes keyCertSign, or if it is self-signed and of version 1. A
///   certificate does not belong to an authority if its keyUsage lacks keyCertSign, or if it has a critical extension
///   that netlib does not understand.
/// - Any other certificate, such as the certificate of a server, matches only itself, byte for byte, and its holder
///   cannot issue certificates.
/// - A peer may present a certificate from the file as the peer's own certificate, regardless of the certificate's
///   issuer, and even if the certificate says CA:TRUE, as the certificates of `openssl req -x509` do. netlib accepts
///   such a certificate if its validity dates, name, purpose and key are acceptable. If CRLs were added, netlib also
///   checks that the certificate is not revoked: see `netlib_tls_options_add_crl_file`. Prefer certificates with
///   CA:FALSE for peers, because the holder of the key of a certificate with CA:TRUE can issue certificates for any
///   name.
///
/// netlib skips a certificate that cannot be used, and `netlib_tls_context_trust_source_skipped` lists the skipped
/// certificates. netlib also skips PEM sections of OpenSSL's type "TRUSTED CERTIFICATE", because netlib does not
/// support their trust settings. A missing file, malformed PEM, or a file without any usable certificate makes
/// `netlib_tls_context_new` fail, with the path in the error message.
///
/// @param path the path of the file, in PEM or DER; up to 16 MiB. The file may be a pipe that ends within 5 seconds,
///        such as a shell's `<(...)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_add_ca_file(options: *mut netlib_tls_options, path: *const c_char) {
    builder::add(options, "netlib_tls_options_add_ca_file", |options: &mut TlsOptions| {
        options.add_ca_file(arg_path!(path));
        Ok(())
    });
}

/// Trusts the certificates in the files of a directory, in addition to those of earlier calls. Corresponds to OpenSSL's
/// CApath, but netlib reads all files when the context is made. Default: none.
///
/// If there are files with hashed names such as `5ed36f99.0`, which `c_rehash` makes and OpenSSL looks for, netlib
/// reads only these files, so that netlib and OpenSSL trust the same authorities. Otherwise, netlib reads every file
/// that is not hidden, but no subdirectory. netlib skips a file that cannot be used, and
/// `netlib_tls_context_trust_source_skipped` lists the skipped files. A directory that cannot be read, or that contains
/// no usable certificate, makes `netlib_tls_context_new` fail, with the path in the error message. CRLs with hashed
/// names such as `5ed36f99.r0` are also skipped and listed: to add CRLs, use `netlib_tls_options_add_crl_file`.
///
/// @param path the path of the directory, with up to 10,000 files in PEM or DER, each up to 16 MiB, together up to 64
///        MiB.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_add_ca_dir(options: *mut netlib_tls_options, path: *const c_char) {
    builder::add(options, "netlib_tls_options_add_ca_dir", |options: &mut TlsOptions| {
        options.add_ca_dir(arg_path!(path));
        Ok(())
    });
}

/// Trusts certificates from memory, as `netlib_tls_options_add_ca_file` does from a file. Corresponds to Python's
/// cadata. Default: none.
///
/// @param data certificates in PEM, or in DER one after the other; up to 16 MiB.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_add_ca_data(
    options: *mut netlib_tls_options,
    data: *const c_void,
    len: usize,
) {
    builder::add(options, "netlib_tls_options_add_ca_data", |options: &mut TlsOptions| {
        options.add_ca_data(arg_bytes!(data, len))
    });
}

/// Sets whether the system's authorities are trusted. Corresponds to Python's load_default_certs. Default: 1, unless
/// other certificates were added, the built-in authorities were requested, or no chains are verified (with
/// `NETLIB_CERT_NONE`, with `netlib_tls_options_set_pins_replace_chain`, or with `netlib_tls_options_set_server_only`
/// if the server requests no client certificates). If `netlib_tls_options_set_system_trust` sets 1, the system's
/// authorities are trusted in addition to all other trusted certificates. If the system has no authorities, those built
/// into netlib are used instead. The rules of `netlib_tls_options_add_ca_file` also apply to the certificates of the
/// system's store.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_set_system_trust(options: *mut netlib_tls_options, on: i32) {
    builder::set(options, "netlib_tls_options_set_system_trust", |options: &mut TlsOptions| {
        options.set_system_trust(arg_bool!(on));
        Ok(())
    });
}

/// Sets whether the context is for servers only. With 1, making a client's stream or engine fails with
/// `NETLIB_INVALID_ARGUMENT`. With 1, netlib reads the system's authorities only if
/// `netlib_tls_options_set_verify_mode` requests client certificates or `netlib_tls_options_set_system_trust` sets 1.
/// Not reading a store of 140 authorities saves a few milliseconds. Default: 0, because netlib cannot distinguish the
/// settings of a server from those of a client with a certificate. With 1 and without a local certificate,
/// `netlib_tls_context_new` fails with `NETLIB_INVALID_ARGUMENT`. Corresponds to Python's PROTOCOL_TLS_SERVER and
/// OpenSSL's TLS_server_method.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_set_server_only(options: *mut netlib_tls_options, on: i32) {
    builder::set(options, "netlib_tls_options_set_server_only", |options: &mut TlsOptions| {
        options.set_server_only(arg_bool!(on));
        Ok(())
    });
}

/// Sets whether a context keeps the DER of its trusted certificates, so that `netlib_tls_context_trust_anchor` can
/// return it. Default: 0, because verification needs only the names and keys of authorities. With 1, a context needs
/// more memory: the size of the certificates in DER, for example 160 KB for a system with 144 authorities. Corresponds
/// to OpenSSL's X509_STORE, which always keeps the certificates.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_set_keep_trust_anchors(options: *mut netlib_tls_options, on: i32) {
    builder::set(options, "netlib_tls_options_set_keep_trust_anchors", |options: &mut TlsOptions| {
        options.set_keep_trust_anchors(arg_bool!(on));
        Ok(())
    });
}

/// Sets whether the built-in authorities are trusted: the authorities of Mozilla's root programme, which are compiled
/// into netlib. The built-in authorities are the same on every machine, and as old as the library. Corresponds to
/// Python's package certifi. Default: 0, so that the built-in authorities are trusted only if the system has no
/// authorities. With 1, the built-in authorities replace the system's authorities, unless
/// `netlib_tls_options_set_system_trust` is also set to 1.
///
/// Of each built-in authority, netlib knows the name, the key and the nameConstraints, but not the certificate. So
/// netlib does not check the validity dates of built-in authorities, and does not accept their certificates as a peer's
/// own certificate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_set_embedded_trust(options: *mut netlib_tls_options, on: i32) {
    builder::set(options, "netlib_tls_options_set_embedded_trust", |options: &mut TlsOptions| {
        options.set_embedded_trust(arg_bool!(on));
        Ok(())
    });
}
