//! Which cipher suites are offered.

use std::ffi::{CStr, c_char};

use crate::ffi::api::tls::{netlib_tls_context, netlib_tls_options};
use crate::ffi::args::arg_cstr_opt;
use crate::ffi::options as builder;
use crate::ffi::strings::{lend_text, read};
use crate::tls::{Context, TlsOptions};

/// The cipher suites in OpenSSL's string language, as Python's `set_ciphers` and urllib3's ciphers. Default: the nine that
/// exist here, all of them with forward secrecy and an AEAD.
///
/// Words with `:`, `,`, `;` or blanks between them are applied from left to right. A word is a suite's name, OpenSSL's
/// ("ECDHE-RSA-AES128-GCM-SHA256") or that of the IANA registry, or an alias of OpenSSL 3.0 ("HIGH", "ECDHE", "AESGCM",
/// "aRSA", …); words joined by `+` select what all of them do. It adds what it selects at the end; after `!` it removes that
/// for good, after `-` until it is added again, and after `+` it moves it to the end. "DEFAULT" at the start is all of them.
/// "@STRENGTH" sorts by the key's length. "@SECLEVEL=0", "=1" and "=2" change nothing: what is accepted is about level 2;
/// higher levels are `NETLIB_UNSUPPORTED`, and so is "SUITEB128" with its relatives.
///
/// The string governs TLS 1.2. The suites of TLS 1.3 stay unless one is named ("TLS_AES_128_GCM_SHA256"): then only those
/// that are named are offered, in that order; after `!` or `-` a name removes one. (OpenSSL has another setting for them.)
/// A version without a suite is not offered.
///
/// As in OpenSSL, words of suites that do not exist here select nothing, and so do misspelt ones: ask
/// `netlib_tls_context_unknown_ciphers`. A string that selects no suite at all is `NETLIB_NO_CIPHER_SUITES`, whose message
/// lists those that exist; one that is no cipher string is `NETLIB_INVALID_ARGUMENT` with the offset. Which suites work also
/// depends on the server's certificate: "aECDSA" finds none in common with one that has an RSA key only.
///
/// @param options the options. May be NULL: nothing happens.
/// @param ciphers the string; at most 16 KiB. Copied. May be NULL, or empty: the default.
/// @threads one call at a time on the options
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_set_ciphers(options: *mut netlib_tls_options, ciphers: *const c_char) {
    builder::set(options, "netlib_tls_options_set_ciphers", |options: &mut TlsOptions| {
        options.set_ciphers(arg_cstr_opt!(ciphers).map(CStr::to_bytes))
    });
}

/// How many cipher suites are offered. As the length of Python's `get_ciphers()`.
///
/// @param context the context. May be NULL: 0 is returned.
/// @return the count.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_cipher_count(context: *const netlib_tls_context) -> usize {
    read(context, 0, Context::cipher_count)
}

/// One of the cipher suites that are offered, by its name in the IANA registry, as `netlib_tls_stream_cipher_suite` gives
/// it. Those of TLS 1.3 come first.
///
/// @param context the context. May be NULL: NULL is returned.
/// @param index 0, the most wanted, to count - 1; beyond, NULL is returned.
/// @param len out: the length in bytes without the NUL. May be NULL.
/// @return borrowed: a constant.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_cipher(
    context: *const netlib_tls_context,
    index: usize,
    len: *mut usize,
) -> *const c_char {
    lend_text(context, len, |context| context.cipher(index))
}

/// The same suite by the name that OpenSSL and Python have for it.
///
/// @param context the context. May be NULL: NULL is returned.
/// @param index 0, the most wanted, to count - 1; beyond, NULL is returned.
/// @param len out: the length in bytes without the NUL. May be NULL.
/// @return borrowed: a constant.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_cipher_openssl_name(
    context: *const netlib_tls_context,
    index: usize,
    len: *mut usize,
) -> *const c_char {
    lend_text(context, len, |context| context.cipher_openssl_name(index))
}

/// The words of the cipher string that name nothing here: suites that netlib does not have, and misspelt words.
///
/// @param context the context. May be NULL: NULL is returned.
/// @param len out: the length in bytes without the NUL. May be NULL.
/// @return borrowed from `context`: the words in their order, with ":" between them; NULL when there are none.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_unknown_ciphers(
    context: *const netlib_tls_context,
    len: *mut usize,
) -> *const c_char {
    lend_text(context, len, Context::unknown_ciphers)
}
