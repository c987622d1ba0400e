//! Settings in OpenSSL's own language: the cipher string and the option bits.

use std::ffi::{CStr, c_char};

use crate::ffi::api::tls::netlib_tls_options;
use crate::ffi::args::arg_cstr_opt;
use crate::ffi::options as builder;
use crate::tls::TlsOptions;

/// The cipher suites, in OpenSSL's string language. As Python's `set_ciphers`, curl's --ciphers. Default: the nine
/// suites that exist here, all with forward secrecy and an AEAD, the fastest first: AES-128-GCM, AES-256-GCM,
/// ChaCha20-Poly1305 on a processor with instructions for AES; ChaCha20-Poly1305, AES-128-GCM, AES-256-GCM on others.
///
/// Words with `:`, `,`, `;` or blanks between them are applied from left to right. A word is a suite's name, OpenSSL's
/// ("ECDHE-RSA-AES128-GCM-SHA256") or IANA's, or an alias of OpenSSL 3.0 ("HIGH", "ECDHE", "AESGCM", "aRSA", …); words
/// joined by `+` select what all of them do. It adds what it selects at the end; after `!` it removes that for good,
/// after `-` until it is added again, after `+` it moves it to the end. "DEFAULT" at the start is all of them, in
/// OpenSSL's order. "@STRENGTH" sorts by the key's length. "@SECLEVEL=0", "=1" and "=2" change nothing, because what is
/// accepted is about level 2; higher levels and "SUITEB128" with its relatives are `NETLIB_UNSUPPORTED`.
///
/// The order is then the string's. It is about TLS 1.2. The suites of TLS 1.3 stay, in OpenSSL's order, unless one is
/// named ("TLS_AES_128_GCM_SHA256"): then only those named are offered, in that order; after `!` or `-` a name removes
/// one. (OpenSSL has another setting for them.) A version left without a suite is not offered.
///
/// As in OpenSSL, a word for a suite that does not exist here selects nothing, and so does a misspelt one: ask
/// `netlib_tls_context_unknown_ciphers`. A string that selects no suite at all is `NETLIB_NO_CIPHER_SUITES`, whose
/// message lists those that exist; one that is no cipher string is `NETLIB_INVALID_ARGUMENT` with the offset. Which
/// suites work also depends on the server's key: "aECDSA" needs an EC key.
///
/// @param ciphers the string; at most 16 KiB. May be NULL, or empty: the default.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_set_ciphers(options: *mut netlib_tls_options, ciphers: *const c_char) {
    builder::set(options, "netlib_tls_options_set_ciphers", |options: &mut TlsOptions| {
        options.set_ciphers(arg_cstr_opt!(ciphers).map(CStr::to_bytes))
    });
}

/// The groups for the key exchange, in order of preference. As OpenSSL's SSL_CTX_set1_groups_list, Go's
/// `CurvePreferences`, curl's --curves. Default: "X25519MLKEM768:x25519:secp256r1:secp384r1", of which the first also
/// resists quantum computers.
///
/// The names are IANA's or OpenSSL's ("secp256r1", "P-256", "prime256v1"), in any case, with `:` between them.
/// SecP256r1MLKEM768, MLKEM768 and MLKEM1024 are also available. These three and X25519MLKEM768 require TLS 1.3. A
/// version for which the list has no group is not offered. An unknown name is `NETLIB_INVALID_ARGUMENT`; with the
/// prefix `?` it is ignored, as in OpenSSL 3.3. A group may be named once.
///
/// A client sends a key share for the first group. If that is X25519MLKEM768, it also sends one for x25519 if that is
/// listed, at no extra cost. A server that wants another group requests it, which takes one more round trip; the next
/// handshake with that server sends a share for that group at once. A server selects the client's most preferred group
/// that is in its own list.
///
/// @param groups the list; at most 4096 bytes. May be NULL, or empty: the default.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_set_key_exchange_groups(
    options: *mut netlib_tls_options,
    groups: *const c_char,
) {
    builder::set(options, "netlib_tls_options_set_key_exchange_groups", |options: &mut TlsOptions| {
        options.set_key_exchange_groups(arg_cstr_opt!(groups).map(CStr::to_bytes))
    });
}

/// Bits of `netlib_tls_options_set_option_bits`, with the numbers of OpenSSL's `SSL_OP_…` and Python's `OP_…`.
/// OpenSSL's other bits are accepted too if they always hold or make no difference; otherwise they are
/// `NETLIB_UNSUPPORTED`.
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

/// OpenSSL's option bits, all at once, as an assignment to Python's `SSLContext.options`. (urllib3 adds to Python's
/// defaults instead.) Default: `NETLIB_OP_NO_TICKET` and `NETLIB_OP_CIPHER_SERVER_PREFERENCE`; 0 turns both off. Bits
/// that are always true here may be given or not. Bits that ask for the impossible are `NETLIB_UNSUPPORTED`. Unknown
/// bits are `NETLIB_INVALID_ARGUMENT`, and so are `NETLIB_OP_NO_TLSv1_2` and `NETLIB_OP_NO_TLSv1_3` where they leave no
/// version.
///
/// @param bits of `enum netlib_tls_option`, joined by `|`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_set_option_bits(options: *mut netlib_tls_options, bits: i64) {
    builder::set(options, "netlib_tls_options_set_option_bits", |options: &mut TlsOptions| options.set_options(bits));
}
