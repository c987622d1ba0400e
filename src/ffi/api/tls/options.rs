//! What a context is made from: versions, verification, OpenSSL's options, application protocols, the environment.

use std::ffi::c_char;

use crate::ffi::api::tls::netlib_tls_options;
use crate::ffi::args::{arg_bool, arg_cstr, arg_cstrs, arg_path};
use crate::ffi::options as builder;
use crate::tls::TlsOptions;

/// Protocol methods: the numbers of `netlib_resolve_ssl_version`, which are Python's.
#[repr(C)]
pub enum netlib_ssl_version {
    /// The newest version that both sides know.
    NETLIB_PROTOCOL_TLS = 2,
    /// Exactly TLS 1.2.
    NETLIB_PROTOCOL_TLSv1_2 = 5,
    /// As `NETLIB_PROTOCOL_TLS`.
    NETLIB_PROTOCOL_TLS_CLIENT = 16,
    /// As `NETLIB_PROTOCOL_TLS`.
    NETLIB_PROTOCOL_TLS_SERVER = 17,
}

/// Bits of `netlib_tls_options_set_options`, with the numbers of OpenSSL's `SSL_OP_…` and Python's `OP_…`. Those of
/// OpenSSL that are not listed are answered in the same way: they are accepted if they are always true or make no
/// difference, and `NETLIB_UNSUPPORTED` otherwise.
#[repr(C)]
pub enum netlib_tls_option {
    /// Servers without RFC 5746 are spoken to. Always so: that RFC protects renegotiation, and there is none.
    NETLIB_OP_LEGACY_SERVER_CONNECT = 0x4,
    /// `NETLIB_UNSUPPORTED`: the kernel's TLS is not used.
    NETLIB_OP_ENABLE_KTLS = 0x8,
    /// `NETLIB_UNSUPPORTED`: an end without a closing message is always `NETLIB_TLS_TRUNCATED`; whoever takes it for an
    /// end can do so.
    NETLIB_OP_IGNORE_UNEXPECTED_EOF = 0x80,
    /// No tickets in TLS 1.2. Set by default. The same as `netlib_tls_options_set_session_tickets` with 0.
    NETLIB_OP_NO_TICKET = 0x4000,
    /// Always so.
    NETLIB_OP_NO_COMPRESSION = 0x20000,
    /// Always so.
    NETLIB_OP_ENABLE_MIDDLEBOX_COMPAT = 0x100000,
    /// A server chooses the cipher suite by its own order, not by the client's. Set by default. It has no meaning for
    /// a client.
    NETLIB_OP_CIPHER_SERVER_PREFERENCE = 0x400000,
    /// Always so.
    NETLIB_OP_NO_SSLv3 = 0x2000000,
    /// Always so.
    NETLIB_OP_NO_TLSv1 = 0x4000000,
    /// TLS 1.2 is neither offered nor accepted.
    NETLIB_OP_NO_TLSv1_2 = 0x8000000,
    /// Always so.
    NETLIB_OP_NO_TLSv1_1 = 0x10000000,
    /// TLS 1.3 is neither offered nor accepted.
    NETLIB_OP_NO_TLSv1_3 = 0x20000000,
    /// Always so.
    NETLIB_OP_NO_RENEGOTIATION = 0x40000000,
}

/// OpenSSL 3's SSL_OP_ALL as Python has it: workarounds for other programs' mistakes. It makes no difference here.
pub const NETLIB_OP_ALL: i64 = 0x8000_0050;
/// SSLv2 does not exist any more; in OpenSSL neither, so that it is no bit.
#[allow(non_upper_case_globals)]
pub const NETLIB_OP_NO_SSLv2: i64 = 0;
/// Every key exchange has a key of its own; in OpenSSL too, so that it is no bit.
pub const NETLIB_OP_SINGLE_DH_USE: i64 = 0;
/// As `NETLIB_OP_SINGLE_DH_USE`.
pub const NETLIB_OP_SINGLE_ECDH_USE: i64 = 0;

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

/// The oldest version that is accepted. Default: TLS 1.2. Older ones are `NETLIB_UNSUPPORTED`. As Python's
/// `minimum_version`, urllib3's ssl_minimum_version. One above the maximum is reported by `netlib_tls_context_new`.
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

/// The newest version that is offered. Default: TLS 1.3. As Python's `maximum_version`, urllib3's ssl_maximum_version.
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

/// OpenSSL's options, all of them at once, as an assignment to Python's `SSLContext.options`; urllib3 adds its argument to
/// Python's defaults instead. Default: `NETLIB_OP_NO_TICKET` and `NETLIB_OP_CIPHER_SERVER_PREFERENCE`; 0 turns both off.
/// Bits that are always true here need not be given, and make no difference. What cannot be is `NETLIB_UNSUPPORTED`, and
/// unknown bits are `NETLIB_INVALID_ARGUMENT`; so are `NETLIB_OP_NO_TLSv1_2` and `NETLIB_OP_NO_TLSv1_3` together, or one
/// of them where only that version is allowed.
///
/// @param options the options. May be NULL: nothing happens.
/// @param bits of `enum netlib_tls_option`.
/// @threads one call at a time on the options
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_set_options(options: *mut netlib_tls_options, bits: i64) {
    builder::set(options, "netlib_tls_options_set_options", |options: &mut TlsOptions| options.set_options(bits));
}

/// Whether TLS 1.2 has session tickets (RFC 5077), on both sides. Default: no, because they are sent in the clear, under
/// a key that outlives many sessions. It is the bit `NETLIB_OP_NO_TICKET`, OpenSSL's SSL_OP_NO_TICKET, the other way round:
/// the later call wins. Without them sessions of TLS 1.2 are resumed by their id; those of TLS 1.3, which has tickets of its own, are not concerned.
/// `netlib_tls_options_set_resumption` with 0 turns all of it off, whatever is said here.
///
/// @param options the options. May be NULL: nothing happens.
/// @param on 0 or 1.
/// @threads one call at a time on the options
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_set_session_tickets(options: *mut netlib_tls_options, on: i32) {
    builder::set(options, "netlib_tls_options_set_session_tickets", |options: &mut TlsOptions| {
        options.set_session_tickets(arg_bool!(on));
        Ok(())
    });
}

/// Whether sessions are remembered and resumed, in both versions and on both sides. Default: yes, between streams of one
/// context. As OpenSSL's SSL_CTX_set_session_cache_mode with SSL_SESS_CACHE_OFF, without tickets of TLS 1.3 either.
///
/// @param options the options. May be NULL: nothing happens.
/// @param on 0 or 1.
/// @threads one call at a time on the options
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_set_resumption(options: *mut netlib_tls_options, on: i32) {
    builder::set(options, "netlib_tls_options_set_resumption", |options: &mut TlsOptions| {
        options.set_resumption(arg_bool!(on));
        Ok(())
    });
}

/// Offers an application protocol (RFC 7301) after those of earlier calls, the most wanted first. Default: none. As
/// Python's `set_alpn_protocols`, one at a time.
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

/// Next Protocol Negotiation, which ALPN has replaced: no protocols are accepted, others are `NETLIB_UNSUPPORTED`. As
/// Python's `set_npn_protocols`, which does nothing any more.
///
/// @param options the options. May be NULL: nothing happens.
/// @param protocols `count` names. Not NULL unless `count` is 0.
/// @param count how many. Default: 0.
/// @threads one call at a time on the options
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_set_npn_protocols(
    options: *mut netlib_tls_options,
    protocols: *const *const c_char,
    count: usize,
) {
    builder::set(options, "netlib_tls_options_set_npn_protocols", |options: &mut TlsOptions| {
        options.set_npn_protocols(arg_cstrs!(protocols, count).len())
    });
}

/// Whether a certificate without subject alternative names may prove a name by its common name. Default: no, and yes is
/// `NETLIB_UNSUPPORTED`. As Python's `hostname_checks_common_name`, which urllib3 sets to false.
///
/// @param options the options. May be NULL: nothing happens.
/// @param on 0; 1 is refused.
/// @threads one call at a time on the options
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_set_hostname_checks_common_name(
    options: *mut netlib_tls_options,
    on: i32,
) {
    builder::set(options, "netlib_tls_options_set_hostname_checks_common_name", |options: &mut TlsOptions| {
        options.set_hostname_checks_common_name(arg_bool!(on))
    });
}

/// Whether a server may ask for a certificate after the handshake (RFC 8446 section 4.6.2). Default: no, and yes is
/// `NETLIB_UNSUPPORTED`. As Python's `post_handshake_auth`, which urllib3 sets to true.
///
/// @param options the options. May be NULL: nothing happens.
/// @param on 0; 1 is refused.
/// @threads one call at a time on the options
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_set_post_handshake_auth(options: *mut netlib_tls_options, on: i32) {
    builder::set(options, "netlib_tls_options_set_post_handshake_auth", |options: &mut TlsOptions| {
        options.set_post_handshake_auth(arg_bool!(on))
    });
}

/// Writes the secrets of all sessions of the context, on both sides, to a file, so that a program such as Wireshark can
/// decrypt what was captured: whoever reads the file reads the sessions. Lines in NSS' key log format are appended, one
/// write each. As Python's `keylog_filename`. Default: to the file that the environment variable SSLKEYLOGFILE names, if
/// it is set and not empty, as urllib3; but "$" in it stands for itself. See `netlib_tls_options_set_use_environment`.
///
/// The file is opened by `netlib_tls_context_new`, which fails with `NETLIB_IO` if that cannot be, and stays open as long as
/// the context and its streams. A new file may be read and written by its owner only. A pipe must have a reader, and is not
/// waited for: lines for which there is no room are lost. A line that cannot be written does not end the session.
///
/// @param options the options. May be NULL: nothing happens.
/// @param path the file. Copied. May be NULL: secrets are written nowhere, whatever SSLKEYLOGFILE says.
/// @threads one call at a time on the options
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_set_keylog_file(options: *mut netlib_tls_options, path: *const c_char) {
    builder::set(options, "netlib_tls_options_set_keylog_file", |options: &mut TlsOptions| {
        options.set_keylog_file(if path.is_null() { None } else { Some(arg_path!(path)) });
        Ok(())
    });
}

/// Whether SSL_CERT_FILE and SSL_CERT_DIR say where the system's authorities are, and SSLKEYLOGFILE where secrets are
/// written. Default: yes, except in a program with raised privileges (see secure_getenv(3)). They are read by
/// `netlib_tls_context_new` only. If one of the first two is set and neither leads to a certificate, that fails with
/// `NETLIB_NO_TRUST_ANCHORS`. With 0 as Python's option -E for SSLKEYLOGFILE (`sys.flags.ignore_environment`), and as
/// without OpenSSL's X509_get_default_cert_file_env and X509_get_default_cert_dir_env for the other two.
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
