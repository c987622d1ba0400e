//! Trusted authorities.

use std::ffi::{c_char, c_void};

use crate::ffi::api::tls::netlib_tls_options;
use crate::ffi::args::{arg_bool, arg_bytes, arg_cstr, arg_path};
use crate::ffi::options as builder;
use crate::tls::TlsOptions;

/// Trusts the authorities in a file, in addition to those of earlier calls. Corresponds to OpenSSL's CAfile and curl's
/// --cacert. Default: none. Once an authority is added, the system's authorities are not trusted by default: see
/// `netlib_tls_options_set_system_trust`.
///
/// A certificate in the file may be an authority's or a peer's own. Both are used as `openssl verify -partial_chain`
/// uses them:
///
/// - An authority may issue certificates for any name, within its own limits: its validity, pathlen, extendedKeyUsage,
///   keyUsage and nameConstraints. A certificate is an authority's if its basicConstraints say CA:TRUE, if it has no
///   basicConstraints but a keyUsage with keyCertSign, or if it is self-signed and of version 1. It is not an
///   authority's if its keyUsage lacks keyCertSign, or if it has a critical extension that netlib does not understand.
/// - Any other certificate, such as a server's own, matches only itself, byte for byte. Its holder cannot issue
///   certificates.
/// - A peer may present a certificate of the file, no matter who issued it, and even if it says CA:TRUE, as the
///   certificates of `openssl req -x509` do. It is accepted if its validity, name, purpose and key are right. If CRLs
///   were added, it is also looked up: see `netlib_tls_options_add_crl_file`. Prefer a certificate with CA:FALSE for
///   this purpose, because the holder of the key of a certificate with CA:TRUE can issue certificates for any name.
///
/// A certificate that cannot be used is skipped and listed by `netlib_tls_context_trust_source_skipped`. So is
/// OpenSSL's "TRUSTED CERTIFICATE", whose conditions would be lost. A missing file, malformed PEM, or a file without
/// any usable certificate makes `netlib_tls_context_new` fail, with the path in the message.
///
/// @param path the file, in PEM or DER; up to 16 MiB. It may be a pipe, as a shell's `<(...)`, that ends within 5
///        seconds.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_add_ca_file(options: *mut netlib_tls_options, path: *const c_char) {
    builder::set(options, "netlib_tls_options_add_ca_file", |options: &mut TlsOptions| {
        options.add_ca_file(arg_path!(path));
        Ok(())
    });
}

/// Trusts the authorities in the files of a directory, in addition to those of earlier calls. Corresponds to OpenSSL's
/// CApath, but all files are read when the context is made. Default: none.
///
/// If there are hashed names such as `5ed36f99.0`, which OpenSSL looks for and `c_rehash` makes, only those files are
/// read, so that netlib and OpenSSL trust the same authorities. Otherwise every file that is not hidden is read;
/// subdirectories are not. A file that cannot be used is skipped and listed by
/// `netlib_tls_context_trust_source_skipped`; a directory that cannot be read, or without any usable certificate, makes
/// `netlib_tls_context_new` fail, with the path in the message. CRLs under hashed names such as `5ed36f99.r0` are also
/// skipped and listed: use `netlib_tls_options_add_crl_file` to add CRLs.
///
/// @param path the directory, of up to 10,000 files in PEM or DER, each up to 16 MiB, together up to 64 MiB.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_add_ca_dir(options: *mut netlib_tls_options, path: *const c_char) {
    builder::set(options, "netlib_tls_options_add_ca_dir", |options: &mut TlsOptions| {
        options.add_ca_dir(arg_path!(path));
        Ok(())
    });
}

/// Trusts authorities from memory, as `netlib_tls_options_add_ca_file` does from a file. Corresponds to Python's
/// cadata. Default: none.
///
/// @param data certificates in PEM, or in DER one after the other; up to 16 MiB.
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

/// Sets whether the system's authorities are trusted. Corresponds to Python's load_default_certs. Default: yes, unless
/// other authorities were added or the built-in ones were requested, or no certificates are verified
/// (`NETLIB_CERT_NONE`, or `netlib_tls_options_set_server_only` without client certificates). With 1, the system's
/// authorities are trusted in addition to the others. If the system has no authorities, the ones built into netlib are
/// used instead. Certificates of the system's store have the same limits as the certificates of
/// `netlib_tls_options_add_ca_file`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_set_system_trust(options: *mut netlib_tls_options, on: i32) {
    builder::set(options, "netlib_tls_options_set_system_trust", |options: &mut TlsOptions| {
        options.set_system_trust(arg_bool!(on));
        Ok(())
    });
}

/// Sets whether the context is for servers only, as Python's PROTOCOL_TLS_SERVER and OpenSSL's TLS_server_method. With
/// 1, making a client session fails with `NETLIB_INVALID_ARGUMENT`, and the system's authorities are read only if
/// client certificates are requested with `netlib_tls_options_set_verify_mode`. Default: 0, because the context of a
/// client with a certificate has the same settings. This saves a server the few milliseconds that it takes to read a
/// store of 140 authorities. With 1 and without a certificate, `netlib_tls_context_new` fails with
/// `NETLIB_INVALID_ARGUMENT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_set_server_only(options: *mut netlib_tls_options, on: i32) {
    builder::set(options, "netlib_tls_options_set_server_only", |options: &mut TlsOptions| {
        options.set_server_only(arg_bool!(on));
        Ok(())
    });
}

/// Sets whether the authorities of Mozilla's programme that are built into netlib are trusted: they are the same on
/// every machine, and as old as this library. Corresponds to Python's package certifi. Default: 0, so that they are
/// trusted only if the system has no authorities. With 1 they replace the system's authorities unless
/// `netlib_tls_options_set_system_trust` asks for both.
///
/// netlib has the name, the key and the nameConstraints of each of these authorities, but not its certificate. So their
/// validity is not checked, and none of them is accepted as a peer's own certificate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_set_embedded_trust(options: *mut netlib_tls_options, on: i32) {
    builder::set(options, "netlib_tls_options_set_embedded_trust", |options: &mut TlsOptions| {
        options.set_embedded_trust(arg_bool!(on));
        Ok(())
    });
}
