//! Which authorities are trusted.

use std::ffi::{c_char, c_void};

use crate::ffi::api::tls::{netlib_tls_context, netlib_tls_options};
use crate::ffi::args::{arg_bool, arg_bytes, arg_cstr, arg_path};
use crate::ffi::options as builder;
use crate::ffi::strings::{lend_text, read};
use crate::tls::TlsOptions;
use crate::tls::trust::Loaded;

/// Where trusted certificates came from: bits of `netlib_tls_context_trust_sources`.
#[repr(C)]
pub enum netlib_trust {
    /// The operating system's store, or what SSL_CERT_FILE and SSL_CERT_DIR name.
    NETLIB_TRUST_SYSTEM = 1,
    /// The authorities of Mozilla's programme that are built into netlib, because they were asked for or the system has no
    /// store.
    NETLIB_TRUST_EMBEDDED = 2,
    /// `netlib_tls_options_add_ca_file`, `_add_ca_dir` and `_add_ca_data`.
    NETLIB_TRUST_CUSTOM = 4,
}

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

/// How many sources of trust were loaded: first those that the options name, in their order; then each place of the
/// system's; then the authorities built in.
///
/// @param context the context. May be NULL: 0 is returned.
/// @return the count.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_trust_source_count(context: *const netlib_tls_context) -> usize {
    read(context, 0, |context| context.trust_loaded().len())
}

/// Of what kind a source is.
///
/// @param context the context. May be NULL: 0 is returned.
/// @param index 0 to count - 1; beyond, 0 is returned.
/// @return one of `enum netlib_trust`.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_trust_source_kind(
    context: *const netlib_tls_context,
    index: usize,
) -> i32 {
    read(context, 0, |context| context.trust_loaded().get(index).map_or(0, Loaded::kind))
}

/// Where a source is.
///
/// @param context the context. May be NULL: NULL is returned.
/// @param index 0 to count - 1; beyond, NULL is returned.
/// @param len out: the length in bytes without the NUL. May be NULL.
/// @return borrowed from `context`: the path of a file or directory, in the bytes that it has; "CA data"; "system" for a
///         store that is no file; "embedded".
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_trust_source_name(
    context: *const netlib_tls_context,
    index: usize,
    len: *mut usize,
) -> *const c_char {
    lend_text(context, len, |context| context.trust_loaded().get(index).map(Loaded::name))
}

/// How many authorities a source gave. One that it holds twice counts once; one that two sources hold counts in both, and
/// once in `netlib_tls_context_trust_anchor_count`. Two certificates of the same name and key are one authority.
///
/// @param context the context. May be NULL: 0 is returned.
/// @param index 0 to count - 1; beyond, 0 is returned.
/// @return the count; 0 only for a place of the system's that could not be read or holds none.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_trust_source_anchor_count(
    context: *const netlib_tls_context,
    index: usize,
) -> usize {
    read(context, 0, |context| context.trust_loaded().get(index).map_or(0, Loaded::anchors))
}

/// How many texts `netlib_tls_context_trust_source_skipped` has of a source.
///
/// @param context the context. May be NULL: 0 is returned.
/// @param index 0 to count - 1; beyond, 0 is returned.
/// @return the count, at most 101: after a hundred, the last text says how many more there are.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_trust_source_skipped_count(
    context: *const netlib_tls_context,
    index: usize,
) -> usize {
    read(context, 0, |context| context.trust_loaded().get(index).map_or(0, |loaded| loaded.skipped().len()))
}

/// One line about something in a source that is not trusted, and why: the file, in a directory, and the certificate.
///
/// @param context the context. May be NULL: NULL is returned.
/// @param index 0 to count - 1; beyond, NULL is returned.
/// @param skipped 0 to `netlib_tls_context_trust_source_skipped_count` - 1; beyond, NULL is returned.
/// @param len out: the length in bytes without the NUL. May be NULL.
/// @return borrowed from `context`, for people.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_trust_source_skipped(
    context: *const netlib_tls_context,
    index: usize,
    skipped: usize,
    len: *mut usize,
) -> *const c_char {
    lend_text(context, len, |context| {
        context.trust_loaded().get(index)?.skipped().get(skipped).map(|text| text.as_c_str())
    })
}
