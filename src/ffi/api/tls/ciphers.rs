//! Cipher suites and key exchange groups.

use std::ffi::{CStr, c_char};

use crate::ffi::api::tls::netlib_tls_options;
use crate::ffi::args::arg_cstr_opt;
use crate::ffi::options as builder;
use crate::tls::TlsOptions;

/// Sets the cipher suites with a cipher string, in the language of OpenSSL. Corresponds to Python's `set_ciphers` and
/// curl's --ciphers. Default: all nine suites of netlib, each with forward secrecy and an AEAD, the fastest first:
/// AES-128-GCM, AES-256-GCM, ChaCha20-Poly1305 on processors with AES instructions; ChaCha20-Poly1305, AES-128-GCM,
/// AES-256-GCM on other processors.
///
/// The cipher string consists of words, separated by `:`, `,`, `;` or blanks, which are applied from left to right. A
/// word is the OpenSSL name ("ECDHE-RSA-AES128-GCM-SHA256") or the IANA name of a suite, or an alias of OpenSSL 3.0
/// ("HIGH", "ECDHE", "AESGCM", "aRSA", …). Words joined by `+` select the suites that all of these words select. A word
/// appends its suites to the list of selected suites. A word after `!` removes its suites permanently; a word after `-`
/// removes its suites until they are added again; a word after `+` moves its suites to the end. "DEFAULT" at the start
/// selects all suites, in OpenSSL's order. "@STRENGTH" sorts the suites by the length of their key. "@SECLEVEL=0", "=1"
/// and "=2" change nothing, because netlib always requires about level 2. For a security level above 2, and for
/// "SUITEB128" and its variants, `netlib_tls_context_new` fails with `NETLIB_UNSUPPORTED`.
///
/// The cipher string determines the TLS 1.2 suites and their order. All TLS 1.3 suites are offered, in OpenSSL's order,
/// unless the string names a TLS 1.3 suite ("TLS_AES_128_GCM_SHA256"): then only the named TLS 1.3 suites are offered,
/// in the order of the string; a name after `!` or `-` removes its suite. (OpenSSL has a separate setting for TLS 1.3
/// suites.) If no suite is left for a TLS version, that version is not offered.
///
/// As in OpenSSL, a misspelt word, or a word for a suite that netlib does not have, selects nothing: see
/// `netlib_tls_context_unknown_ciphers`. If the cipher string selects no suite, `netlib_tls_context_new` fails with
/// `NETLIB_NO_CIPHER_SUITES`, and the error message lists the available suites. If the text is not a cipher string,
/// `netlib_tls_context_new` fails with `NETLIB_INVALID_ARGUMENT` and the offset of the problem. On a server, the kind
/// of the private key also limits the suites: "aECDSA" needs an EC or Ed25519 key.
///
/// @param ciphers the cipher string; at most 16 KiB. May be NULL, or empty: the default.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_set_ciphers(options: *mut netlib_tls_options, ciphers: *const c_char) {
    builder::set(options, "netlib_tls_options_set_ciphers", |options: &mut TlsOptions| {
        options.set_ciphers(arg_cstr_opt!(ciphers).map(CStr::to_bytes))
    });
}

/// Sets the groups for the key exchange, in order of preference. Corresponds to OpenSSL's SSL_CTX_set1_groups_list,
/// Go's `CurvePreferences` and curl's --curves. Default: "X25519MLKEM768:x25519:secp256r1:secp384r1". The first group
/// of the default also resists attacks with a quantum computer.
///
/// Groups have their IANA or OpenSSL names ("secp256r1", "P-256", "prime256v1"), which are case-insensitive and
/// separated by `:`. In addition to the default groups, SecP256r1MLKEM768, MLKEM768 and MLKEM1024 are available. All
/// groups with MLKEM in their name require TLS 1.3. If `groups` names no group for a TLS version, that version is not
/// offered. An unknown group makes `netlib_tls_context_new` fail with `NETLIB_INVALID_ARGUMENT`; an unknown group after
/// `?` is ignored, as in OpenSSL 3.3. A group may be named only once.
///
/// A client sends a key share for the first group. If the first group is X25519MLKEM768 and x25519 is also listed, the
/// client also sends a key share for x25519, at no extra cost. A server that prefers another group requests a key share
/// for that group, which takes one more round trip. If resumption is on (`netlib_tls_options_set_resumption`), the
/// client remembers the group, and sends a key share for that group at once in the next handshake with that server.
/// Servers of netlib select the group that the client prefers most among the groups that both sides list.
///
/// @param groups the names of the groups; at most 4096 bytes. May be NULL, or empty: the default.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_set_key_exchange_groups(
    options: *mut netlib_tls_options,
    groups: *const c_char,
) {
    builder::set(options, "netlib_tls_options_set_key_exchange_groups", |options: &mut TlsOptions| {
        options.set_key_exchange_groups(arg_cstr_opt!(groups).map(CStr::to_bytes))
    });
}
