//! Cipher suites and key exchange groups.

use std::ffi::{CStr, c_char};

use crate::ffi::api::tls::netlib_tls_options;
use crate::ffi::args::arg_cstr_opt;
use crate::ffi::options as builder;
use crate::tls::TlsOptions;

/// Sets the cipher suites, in OpenSSL's string language. As Python's `set_ciphers`, curl's --ciphers. Default: the nine
/// suites that netlib has, all with forward secrecy and an AEAD, the fastest first: AES-128-GCM, AES-256-GCM,
/// ChaCha20-Poly1305 on a processor with instructions for AES; ChaCha20-Poly1305, AES-128-GCM, AES-256-GCM on others.
///
/// Words with `:`, `,`, `;` or blanks between them are applied from left to right. A word is a suite's name, OpenSSL's
/// ("ECDHE-RSA-AES128-GCM-SHA256") or IANA's, or an alias of OpenSSL 3.0 ("HIGH", "ECDHE", "AESGCM", "aRSA", …); words
/// joined by `+` select the suites that all of them select. A word appends its suites; after `!` it removes them
/// permanently, after `-` until they are added again, after `+` it moves them to the end. "DEFAULT" at the start is all
/// of them, in OpenSSL's order. "@STRENGTH" sorts by the key's length. "@SECLEVEL=0", "=1" and "=2" change nothing,
/// because netlib always requires about level 2; higher levels and "SUITEB128" with its relatives are
/// `NETLIB_UNSUPPORTED`.
///
/// The string determines the order. It governs TLS 1.2. The suites of TLS 1.3 stay, in OpenSSL's order, unless one is
/// named ("TLS_AES_128_GCM_SHA256"): then only those named are offered, in that order; after `!` or `-` a name removes
/// one. (OpenSSL has a separate setting for them.) A version left without a suite is not offered.
///
/// As in OpenSSL, a word for a suite that netlib does not have selects nothing, and so does a misspelt one: see
/// `netlib_tls_context_unknown_ciphers`. A string that selects no suite at all is `NETLIB_NO_CIPHER_SUITES`, whose
/// message lists the available ones; text that is not a cipher string is `NETLIB_INVALID_ARGUMENT` with the offset. The
/// server's key also limits the suites: "aECDSA" needs an EC key.
///
/// @param ciphers the string; at most 16 KiB. May be NULL, or empty: the default.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_set_ciphers(options: *mut netlib_tls_options, ciphers: *const c_char) {
    builder::set(options, "netlib_tls_options_set_ciphers", |options: &mut TlsOptions| {
        options.set_ciphers(arg_cstr_opt!(ciphers).map(CStr::to_bytes))
    });
}

/// Sets the groups for the key exchange, in order of preference. As OpenSSL's SSL_CTX_set1_groups_list, Go's
/// `CurvePreferences`, curl's --curves. Default: "X25519MLKEM768:x25519:secp256r1:secp384r1". The first also resists
/// quantum computers.
///
/// The names are IANA's or OpenSSL's ("secp256r1", "P-256", "prime256v1"), in any case, with `:` between them.
/// SecP256r1MLKEM768, MLKEM768 and MLKEM1024 are also available. These three and X25519MLKEM768 require TLS 1.3. A
/// version for which the list has no group is not offered. An unknown name is `NETLIB_INVALID_ARGUMENT`; with the
/// prefix `?` it is ignored, as in OpenSSL 3.3. A group may be named once.
///
/// A client sends a key share for the first group. If that is X25519MLKEM768, it also sends one for x25519 if that is
/// listed, at no extra cost. A server that prefers another group requests it, which takes one more round trip; the next
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
