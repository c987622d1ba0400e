//! Option bits and cipher suite names of OpenSSL.

use std::ffi::c_char;

use crate::ffi::api::tls::{netlib_tls_context, netlib_tls_options};
use crate::ffi::options as builder;
use crate::ffi::strings::{lend_text, read};
use crate::tls::{Context, TlsOptions};

/// Bits for `netlib_tls_options_set_option_bits`, with the numbers of OpenSSL's `SSL_OP_…` and Python's `OP_…`.
/// OpenSSL's other bits are also accepted if they are always in force or make no difference; otherwise they are
/// `NETLIB_UNSUPPORTED`.
#[repr(C)]
pub enum netlib_tls_option {
    /// Connects to servers without RFC 5746. Always in force: that RFC protects renegotiation, which netlib does not
    /// have.
    NETLIB_OP_LEGACY_SERVER_CONNECT = 0x4,
    /// Uses the kernel's TLS, which netlib does not support: `NETLIB_UNSUPPORTED`.
    NETLIB_OP_ENABLE_KTLS = 0x8,
    /// Treats an end without close_notify as a clean end: `NETLIB_UNSUPPORTED`. A read then always fails with
    /// `NETLIB_TLS_TRUNCATED`, which the application may ignore.
    NETLIB_OP_IGNORE_UNEXPECTED_EOF = 0x80,
    /// No tickets in TLS 1.2. Set by default. The same as `netlib_tls_options_set_session_tickets` with 0.
    NETLIB_OP_NO_TICKET = 0x4000,
    /// No compression. Always in force.
    NETLIB_OP_NO_COMPRESSION = 0x20000,
    /// The middlebox compatibility mode of TLS 1.3. Always in force.
    NETLIB_OP_ENABLE_MIDDLEBOX_COMPAT = 0x100000,
    /// A server chooses the cipher suite by its own order, not by the client's. Set by default. It has no effect for a
    /// client.
    NETLIB_OP_CIPHER_SERVER_PREFERENCE = 0x400000,
    /// No SSL 3.0. Always in force.
    NETLIB_OP_NO_SSLv3 = 0x2000000,
    /// No TLS 1.0. Always in force.
    NETLIB_OP_NO_TLSv1 = 0x4000000,
    /// TLS 1.2 is neither offered nor accepted.
    NETLIB_OP_NO_TLSv1_2 = 0x8000000,
    /// No TLS 1.1. Always in force.
    NETLIB_OP_NO_TLSv1_1 = 0x10000000,
    /// TLS 1.3 is neither offered nor accepted.
    NETLIB_OP_NO_TLSv1_3 = 0x20000000,
    /// No renegotiation. Always in force.
    NETLIB_OP_NO_RENEGOTIATION = 0x40000000,
}

/// OpenSSL 3's SSL_OP_ALL, with Python's number: workarounds for bugs of other implementations. It has no effect.
pub const NETLIB_OP_ALL: i64 = 0x8000_0050;

/// No bit, as in OpenSSL, because SSLv2 no longer exists.
#[allow(non_upper_case_globals)]
pub const NETLIB_OP_NO_SSLv2: i64 = 0;

/// No bit, as in OpenSSL, because every key exchange has its own key.
pub const NETLIB_OP_SINGLE_DH_USE: i64 = 0;

/// No bit, for the same reason as `NETLIB_OP_SINGLE_DH_USE`.
pub const NETLIB_OP_SINGLE_ECDH_USE: i64 = 0;

/// Sets OpenSSL's option bits, all at once, as an assignment to Python's `SSLContext.options`. (urllib3 adds to
/// Python's defaults instead.) Default: `NETLIB_OP_NO_TICKET` and `NETLIB_OP_CIPHER_SERVER_PREFERENCE`; 0 turns both
/// off. Bits that are always in force may be set or not. Bits for unsupported features are `NETLIB_UNSUPPORTED`.
/// Unknown bits are `NETLIB_INVALID_ARGUMENT`, as are `NETLIB_OP_NO_TLSv1_2` and `NETLIB_OP_NO_TLSv1_3` if they leave
/// no version.
///
/// @param bits of `enum netlib_tls_option`, joined by `|`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_set_option_bits(options: *mut netlib_tls_options, bits: i64) {
    builder::set(options, "netlib_tls_options_set_option_bits", |options: &mut TlsOptions| options.set_options(bits));
}

/// Returns the bits of `enum netlib_tls_option` in force: the bits that were set, and those that are always in force.
/// (Python's `SSLContext.options` has only what was set.)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_option_bits(context: *const netlib_tls_context) -> i64 {
    read(context, 0, Context::option_bits)
}

/// Returns the name, in OpenSSL and Python, of a cipher suite that is offered (`netlib_tls_context_cipher_suite`): a
/// constant.
///
/// @param index 0, the most preferred, to count - 1; beyond, NULL is returned.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_cipher_suite_openssl_name(
    context: *const netlib_tls_context,
    index: usize,
    len: *mut usize,
) -> *const c_char {
    lend_text(context, len, |context| context.cipher_openssl_name(index))
}
