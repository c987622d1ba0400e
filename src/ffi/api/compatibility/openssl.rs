//! Option bits and cipher suite names of OpenSSL.

use std::ffi::c_char;

use crate::ffi::api::stream::netlib_stream;
use crate::ffi::api::tls::engine::netlib_tls_engine;
use crate::ffi::api::tls::{netlib_tls_context, netlib_tls_options};
use crate::ffi::options as builder;
use crate::ffi::strings::{lend_text, read};
use crate::tls::{Context, TlsOptions};

/// Bits for `netlib_tls_options_set_option_bits`, with the numbers of OpenSSL's `SSL_OP_…` and Python's `OP_…`. A bit
/// of OpenSSL that is not listed here is accepted if its setting is always in force or makes no difference; otherwise,
/// `netlib_tls_context_new` fails with `NETLIB_UNSUPPORTED`.
#[repr(C)]
pub enum netlib_tls_option {
    /// Connects to servers that do not support RFC 5746. The bit has no effect: netlib always connects to such servers,
    /// because RFC 5746 protects renegotiation, which netlib does not support.
    NETLIB_OP_LEGACY_SERVER_CONNECT = 0x4,
    /// Uses the kernel's TLS. netlib does not support the kernel's TLS: `netlib_tls_context_new` fails with
    /// `NETLIB_UNSUPPORTED`.
    NETLIB_OP_ENABLE_KTLS = 0x8,
    /// Treats the end of a connection without close_notify as a clean end. netlib does not support this bit:
    /// `netlib_tls_context_new` fails with `NETLIB_UNSUPPORTED`. After an end without close_notify, a read always fails
    /// with `NETLIB_TLS_TRUNCATED`, which the application may ignore.
    NETLIB_OP_IGNORE_UNEXPECTED_EOF = 0x80,
    /// Disables session tickets in TLS 1.2, as `netlib_tls_options_set_session_tickets` with 0 does. Set by default.
    NETLIB_OP_NO_TICKET = 0x4000,
    /// Disables compression. Always in force.
    NETLIB_OP_NO_COMPRESSION = 0x20000,
    /// Enables the middlebox compatibility mode of TLS 1.3. Always in force.
    NETLIB_OP_ENABLE_MIDDLEBOX_COMPAT = 0x100000,
    /// Makes a server choose the cipher suite by its own order of preference, not by the client's. Set by default. The
    /// bit has no effect for a client.
    NETLIB_OP_CIPHER_SERVER_PREFERENCE = 0x400000,
    /// Disables SSL 3.0. Always in force.
    NETLIB_OP_NO_SSLv3 = 0x2000000,
    /// Disables TLS 1.0. Always in force.
    NETLIB_OP_NO_TLSv1 = 0x4000000,
    /// Disables TLS 1.2.
    NETLIB_OP_NO_TLSv1_2 = 0x8000000,
    /// Disables TLS 1.1. Always in force.
    NETLIB_OP_NO_TLSv1_1 = 0x10000000,
    /// Disables TLS 1.3.
    NETLIB_OP_NO_TLSv1_3 = 0x20000000,
    /// Disables renegotiation. Always in force.
    NETLIB_OP_NO_RENEGOTIATION = 0x40000000,
}

/// OpenSSL 3's SSL_OP_ALL, with Python's number: workarounds for bugs of other implementations. The bits have no
/// effect.
pub const NETLIB_OP_ALL: i64 = 0x8000_0050;

/// The value is 0, as in OpenSSL, because SSL 2.0 is no longer supported.
#[allow(non_upper_case_globals)]
pub const NETLIB_OP_NO_SSLv2: i64 = 0;

/// The value is 0, as in OpenSSL, because every key exchange uses a new key.
pub const NETLIB_OP_SINGLE_DH_USE: i64 = 0;

/// The value is 0, for the same reason as `NETLIB_OP_SINGLE_DH_USE`.
pub const NETLIB_OP_SINGLE_ECDH_USE: i64 = 0;

/// Sets OpenSSL's option bits, all at once, like an assignment to Python's `SSLContext.options`. (urllib3 adds bits to
/// Python's defaults instead.) Default: `NETLIB_OP_NO_TICKET` and `NETLIB_OP_CIPHER_SERVER_PREFERENCE`; a call with 0
/// turns both off. Bits that are always in force may be set or not. `netlib_tls_context_new` fails with
/// `NETLIB_UNSUPPORTED` for bits of unsupported features, and with `NETLIB_INVALID_ARGUMENT` for unknown bits, and for
/// `NETLIB_OP_NO_TLSv1_2` and `NETLIB_OP_NO_TLSv1_3` if they leave no TLS version.
///
/// @param bits values of `enum netlib_tls_option`, joined by `|`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_set_option_bits(options: *mut netlib_tls_options, bits: i64) {
    builder::set(options, "netlib_tls_options_set_option_bits", |options: &mut TlsOptions| options.set_options(bits));
}

/// Returns OpenSSL's option bits in force: the bits that were set, and the bits that are always in force. (Python's
/// `SSLContext.options` has only the bits that were set.)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_option_bits(context: *const netlib_tls_context) -> i64 {
    read(context, 0, Context::option_bits)
}

/// Returns the name that OpenSSL and Python use for a cipher suite that a context offers, as a constant string.
/// `netlib_tls_context_cipher_suite` returns the IANA names in the same order.
///
/// @param index 0, for the most preferred suite, to count - 1; for a larger index, NULL is returned.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_cipher_suite_openssl_name(
    context: *const netlib_tls_context,
    index: usize,
    len: *mut usize,
) -> *const c_char {
    lend_text(context, len, |context| context.cipher_openssl_name(index))
}

/// Returns the name that OpenSSL and Python use for the cipher suite that a stream negotiated, for example
/// "ECDHE-RSA-AES128-GCM-SHA256", as a constant string; NULL before the handshake is done. `netlib_stream_cipher_suite`
/// returns the IANA name. Corresponds to OpenSSL's SSL_CIPHER_get_name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_stream_cipher_suite_openssl_name(
    stream: *const netlib_stream,
    len: *mut usize,
) -> *const c_char {
    lend_text(stream, len, |stream| stream.negotiated()?.cipher_suite_openssl_name)
}

/// Returns for an engine what `netlib_stream_cipher_suite_openssl_name` returns for a stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_engine_cipher_suite_openssl_name(
    engine: *const netlib_tls_engine,
    len: *mut usize,
) -> *const c_char {
    lend_text(engine, len, |engine| engine.negotiated()?.cipher_suite_openssl_name)
}
