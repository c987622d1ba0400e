//! Cipher suites and key exchange groups.

use std::ffi::{CStr, c_char};

use crate::ffi::api::tls::netlib_tls_options;
use crate::ffi::args::arg_cstr_opt;
use crate::ffi::options as builder;
use crate::tls::TlsOptions;

/// Sets the cipher suites, in OpenSSL's string language. Corresponds to Python's `set_ciphers` and curl's --ciphers.
/// Default: the nine suites that netlib has, all with forward secrecy and an AEAD, the fastest first: AES-128-GCM,
/// AES-256-GCM, ChaCha20-Poly1305 on a processor with instructions for AES; ChaCha20-Poly1305, AES-128-GCM, AES-256-GCM
/// on others.
///
/// The string consists of words, separated by `:`, `,`, `;` or blanks, which are applied from left to right. A word is
/// a suite's name, OpenSSL's ("ECDHE-RSA-AES128-GCM-SHA256") or IANA's, or an alias of OpenSSL 3.0 ("HIGH", "ECDHE",
/// "AESGCM", "aRSA", …); words joined by `+` select the suites that each of these words selects. A word appends its
/// suites; after `!` it removes them permanently, after `-` until they are added again, after `+` it moves them to the
/// end. "DEFAULT" at the start selects all suites, in OpenSSL's order. "@STRENGTH" sorts by the key's length.
/// "@SECLEVEL=0", "=1" and "=2" change nothing, because netlib always requires about level 2. Higher levels,
/// "SUITEB128" and its variants are `NETLIB_UNSUPPORTED`.
///
/// The string determines the TLS 1.2 suites and their order. The TLS 1.3 suites stay, in OpenSSL's order, unless the
/// string names one of them ("TLS_AES_128_GCM_SHA256"): then only the named ones are offered, in the order of the
/// string; after `!` or `-` a name removes its suite. (OpenSSL has a separate setting for them.) A version left without
/// a suite is not offered.
///
/// As in OpenSSL, a word for a suite that netlib does not have selects nothing, as does a misspelt word: see
/// `netlib_tls_context_unknown_ciphers`. If a string selects no suite at all, `netlib_tls_context_new` fails with
/// `NETLIB_NO_CIPHER_SUITES`, and the message lists the available suites. For text that is not a cipher string, it
/// fails with `NETLIB_INVALID_ARGUMENT` and the offset. The server's key also limits the suites: "aECDSA" needs an EC
/// key.
///
/// @param ciphers the string; at most 16 KiB. May be NULL, or empty: the default.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_set_ciphers(options: *mut netlib_tls_options, ciphers: *const c_char) {
    builder::set(options, "netlib_tls_options_set_ciphers", |options: &mut TlsOptions| {
        options.set_ciphers(arg_cstr_opt!(ciphers).map(CStr::to_bytes))
    });
}

/// Sets the groups for the key exchange, in order of preference. Corresponds to OpenSSL's SSL_CTX_set1_groups_list,
/// Go's `CurvePreferences` and curl's --curves. Default: "X25519MLKEM768:x25519:secp256r1:secp384r1". The first group
/// also resists quantum computers.
///
/// The names are IANA's or OpenSSL's ("secp256r1", "P-256", "prime256v1"), case-insensitive, separated by `:`. In
/// addition to the default groups, SecP256r1MLKEM768, MLKEM768 and MLKEM1024 are available. These three and
/// X25519MLKEM768 require TLS 1.3. A version for which the list has no group is not offered. An unknown name makes
/// `netlib_tls_context_new` fail with `NETLIB_INVALID_ARGUMENT`; with the prefix `?` it is ignored, as in OpenSSL 3.3.
/// A group may be named once.
///
/// A client sends a key share for the first group. If the first group is X25519MLKEM768 and x25519 is also listed, the
/// client also sends a share for x25519, at no extra cost. A server that prefers another group requests a share for it,
/// which takes one more round trip; the next handshake with that server sends a share for that group at once. A server
/// selects the client's most preferred group that is in its own list.
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
