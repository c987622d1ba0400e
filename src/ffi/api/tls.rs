//! Contexts, and streams on a socket you already have.

pub mod stream;

use std::ffi::{c_char, c_void};
use std::sync::Arc;

use crate::ffi::api::basics::{netlib_error, netlib_status};
use crate::ffi::args::{arg_bool, arg_bytes, arg_cstr, arg_path, arg_str_opt};
use crate::ffi::out::outs;
use crate::ffi::strings::read;
use crate::ffi::{Handle, Options, Shared, Unique, guard, handle, options as builder};
use crate::tls::{Context, TlsOptions, resolve};

/// What is asked of the peer's certificate. The numbers are those of Python's `ssl` module.
#[repr(C)]
pub enum netlib_verify_mode {
    /// Nothing: the peer may be anyone. A server does not ask for a certificate.
    NETLIB_CERT_NONE = 0,
    /// A client: as REQUIRED, because a server always has one. A server: it asks, and refuses a wrong one.
    NETLIB_CERT_OPTIONAL = 1,
    /// It must be there, and a trusted authority must have issued it.
    NETLIB_CERT_REQUIRED = 2,
}

/// TLS versions: the numbers on the wire, which are those of Python's `ssl.TLSVersion`.
#[repr(C)]
pub enum netlib_tls_version {
    /// The oldest that netlib offers.
    NETLIB_TLS_MINIMUM_SUPPORTED = -2,
    /// The newest that netlib offers.
    NETLIB_TLS_MAXIMUM_SUPPORTED = -1,
    /// RFC 5246, with AEAD cipher suites and the extended master secret of RFC 7627 only.
    NETLIB_TLS_1_2 = 0x0303,
    /// RFC 8446.
    NETLIB_TLS_1_3 = 0x0304,
}

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

/// What a TLS context is made from. **Single**: one call at a time. Setters return nothing; the first bad value is
/// reported by `netlib_tls_context_new`. Files are read by that, not by the setters.
pub struct netlib_tls_options {
    _private: [u8; 0],
}

impl Handle for netlib_tls_options {
    type Value = Options<TlsOptions>;
    type Ownership = Unique;
}

/// Everything that TLS streams share: trust, identity, versions, the sessions that can be resumed. **Immutable**: make
/// one, use it for any number of streams from any threads. A client's side is `netlib_tls_wrap_fd`, a server's is
/// `netlib_tls_accept_fd`.
pub struct netlib_tls_context {
    _private: [u8; 0],
}

impl Handle for netlib_tls_context {
    type Value = Context;
    type Ownership = Shared;
}

/// New options, all at their defaults.
///
/// @return owned: free them with `netlib_tls_options_free`. Never NULL.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub extern "C" fn netlib_tls_options_new() -> *mut netlib_tls_options {
    guard::value(std::ptr::null_mut(), || Ok(handle::give(Box::new(Options::new(TlsOptions::default())))))
}

/// Releases options. Contexts made from them are not affected.
///
/// @param options owned. May be NULL: nothing happens.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_free(options: *mut netlib_tls_options) {
    guard::nothing(|| handle::free(options));
}

/// Trusts the authorities in a file, beside those of earlier calls, as OpenSSL's CAfile; but a server's own certificate
/// that says CA:TRUE, as `openssl req -x509` makes them, is refused as a server's even when it is added here: make it
/// with `-addext basicConstraints=critical,CA:FALSE`. What is named must be usable: a missing file, one without a
/// certificate, or a certificate that cannot be used makes `netlib_tls_context_new` fail with the path. Default: none,
/// which leaves the system's trust.
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

/// Makes a context. All files that it needs, the system's store included, are read now and never again.
///
/// @param options what it is made from; later changes to them do not affect it. May be NULL: all defaults, a client that
///        trusts the system's authorities.
/// @param context out, owned: free it with `netlib_tls_context_free`. Not NULL.
/// @param err out, owned: its message begins with the setter that was given a bad value. May be NULL.
/// @return `NETLIB_OK`; `NETLIB_INVALID_ARGUMENT` for a value that is not allowed, or a minimum version above the
///         maximum; `NETLIB_UNSUPPORTED`; `NETLIB_IO` for a file that cannot be read; `NETLIB_INVALID_PEM` for one that
///         holds nothing usable; `NETLIB_KEY_MISMATCH`; `NETLIB_NO_TRUST_ANCHORS`.
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
        let options = builder::borrowed::<_, TlsOptions>(options)?;
        context.give(Arc::new(Context::new(&options)?));
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

/// The oldest version that is accepted.
///
/// @param context the context. May be NULL: `NETLIB_TLS_1_2` is returned.
/// @return `NETLIB_TLS_1_2` or `NETLIB_TLS_1_3`.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_minimum_version(context: *const netlib_tls_context) -> i32 {
    read(context, netlib_tls_version::NETLIB_TLS_1_2 as i32, |context| context.minimum_version() as i32)
}

/// The newest version that is offered.
///
/// @param context the context. May be NULL: `NETLIB_TLS_1_3` is returned.
/// @return `NETLIB_TLS_1_2` or `NETLIB_TLS_1_3`.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_maximum_version(context: *const netlib_tls_context) -> i32 {
    read(context, netlib_tls_version::NETLIB_TLS_1_3 as i32, |context| context.maximum_version() as i32)
}

/// The number of a verification mode, as urllib3's resolve_cert_reqs: of the text of a constant of Python's `ssl`
/// module, "CERT_REQUIRED", of its abbreviation, "REQUIRED", or of a decimal number, which is not checked.
///
/// @param candidate the text. May be NULL: the number is that of CERT_REQUIRED.
/// @param number out: for `netlib_tls_options_set_verify_mode`. Not NULL.
/// @param err out, owned. May be NULL.
/// @return `NETLIB_OK`; `NETLIB_INVALID_ARGUMENT` for any other text; `NETLIB_INVALID_UTF8`.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_resolve_cert_reqs(
    candidate: *const c_char,
    number: *mut i32,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let number = outs!(number);
        number.set(resolve::cert_reqs(arg_str_opt!(candidate))?);
        Ok(())
    })
}

/// The number of a protocol method, as urllib3's resolve_ssl_version: of the text of a constant of Python's `ssl`
/// module, "PROTOCOL_TLSv1_2", of its abbreviation, "TLSv1_2", or of a decimal number, which is not checked. These are not
/// the numbers of `enum netlib_tls_version`.
///
/// @param candidate the text. May be NULL: the number is that of PROTOCOL_TLS, 2.
/// @param number out: the number. Not NULL.
/// @param err out, owned. May be NULL.
/// @return `NETLIB_OK`; `NETLIB_INVALID_ARGUMENT` for any other text; `NETLIB_INVALID_UTF8`.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_resolve_ssl_version(
    candidate: *const c_char,
    number: *mut i32,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let number = outs!(number);
        number.set(resolve::ssl_version(arg_str_opt!(candidate))?);
        Ok(())
    })
}
