//! Getters of a context.

use std::ffi::{CString, c_char};

use crate::ffi::api::tls::options::netlib_tls_version;
use crate::ffi::api::tls::verify::{netlib_verify_flag, netlib_verify_mode};
use crate::ffi::api::tls::{netlib_tls_context, netlib_tls_options};
use crate::ffi::enums::{enum_netlib_tls_version, enum_netlib_trust_kind, enum_netlib_verify_mode};
use crate::ffi::strings::{lend_bytes, lend_text, read, read_bool};
use crate::ffi::{Options, handle};
use crate::tls::Context;
use crate::tls::verify::trust::Loaded;

/// Kinds of trust sources, which are the places from which a context has loaded trusted certificates.
/// `netlib_tls_context_trust_source_kind` returns one kind, and `netlib_tls_context_trust_kinds` a sum of bits.
#[repr(C)]
pub enum netlib_trust_kind {
    /// The context trusts no certificate, or has no trust source with the requested index.
    NETLIB_TRUST_NONE = 0,
    /// The operating system's certificate store, or the file and the directories that the environment variables
    /// SSL_CERT_FILE and SSL_CERT_DIR name.
    NETLIB_TRUST_SYSTEM = 1,
    /// The authorities that are built into netlib, if the options request them or the system has no certificate
    /// store.
    NETLIB_TRUST_EMBEDDED = 2,
    /// A file, directory or data that was passed to `netlib_tls_options_add_ca_file`, `netlib_tls_options_add_ca_dir`
    /// or `netlib_tls_options_add_ca_data`.
    NETLIB_TRUST_CUSTOM = 4,
}

/// Returns options from which `netlib_tls_context_new` makes an equal context. Change some of the options to make a
/// different context. The new context reads files and the environment again, and has a session cache of its own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_to_options(
    context: *const netlib_tls_context,
) -> *mut netlib_tls_options {
    read(context, std::ptr::null_mut(), |context| handle::give(Box::new(Options::new(context.to_options()))))
}

/// Returns the number of certificates that a context trusts, those of authorities and those of peers. Certificates with
/// the same name and key count once, even if several trust sources contain them. Corresponds to the length of Python's
/// `get_ca_certs()`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_trust_anchor_count(context: *const netlib_tls_context) -> usize {
    read(context, 0, Context::trust_anchor_count)
}

/// Returns a certificate that a context trusts, in DER, which `netlib_certificate_parse` parses; NULL for a built-in
/// authority, whose certificate netlib does not have, and for every certificate if
/// `netlib_tls_options_set_keep_trust_anchors` was not called with 1. If several trusted certificates have the same
/// name and key, the result is the one that expires last. Corresponds to Python's `get_ca_certs(binary_form=True)`.
///
/// @param index 0 to `netlib_tls_context_trust_anchor_count` - 1; for a larger index, NULL is returned.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_trust_anchor(
    context: *const netlib_tls_context,
    index: usize,
    len: *mut usize,
) -> *const u8 {
    lend_bytes(context, len, |context| context.trust_anchor(index))
}

/// Returns the kinds of all trust sources, as a sum of bits of `enum netlib_trust_kind`; 0 when the context trusts no
/// certificate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_trust_kinds(context: *const netlib_tls_context) -> i32 {
    read(context, 0, Context::trust_sources)
}

/// Returns the number of trust sources that were loaded. The order of trust sources is: the sources that the options
/// name, in the order of the calls; the sources of the system; the built-in authorities.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_trust_source_count(context: *const netlib_tls_context) -> usize {
    read(context, 0, |context| context.trust_loaded().len())
}

/// Returns the kind of a trust source; `NETLIB_TRUST_NONE` for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_trust_source_kind(
    context: *const netlib_tls_context,
    index: usize,
) -> enum_netlib_trust_kind {
    read(context, 0, |context| context.trust_loaded().get(index).map_or(0, Loaded::kind))
}

/// Returns the location of a trust source: the path of a file or directory, byte for byte; "CA data" for memory;
/// "system" for a store of the system that is not a file; "embedded" for the built-in authorities.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_trust_source_name(
    context: *const netlib_tls_context,
    index: usize,
    len: *mut usize,
) -> *const c_char {
    lend_text(context, len, |context| context.trust_loaded().get(index).map(Loaded::name))
}

/// Returns the number of trusted certificates in a trust source, including certificates that other sources also
/// contain; 0 only for a source of the system that could not be read or contains no usable certificate. Certificates
/// with the same name and key count once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_trust_source_anchor_count(
    context: *const netlib_tls_context,
    index: usize,
) -> usize {
    read(context, 0, |context| context.trust_loaded().get(index).map_or(0, Loaded::anchors))
}

/// Returns the number of lines that `netlib_tls_context_trust_source_skipped` returns for a trust source, at most 101.
/// If more than 100 items were skipped, the last line states how many more there are.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_trust_source_skipped_count(
    context: *const netlib_tls_context,
    index: usize,
) -> usize {
    read(context, 0, |context| context.trust_loaded().get(index).map_or(0, |loaded| loaded.skipped().len()))
}

/// Returns one line of text about an item that netlib skipped in a trust source: the file (for a directory), the
/// certificate, and the reason.
///
/// @param skipped 0 to `netlib_tls_context_trust_source_skipped_count` - 1; for a larger number, NULL is returned.
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

/// Returns the verify mode of a client; `NETLIB_CERT_REQUIRED` for NULL. A server requests a certificate only if the
/// verify mode was set explicitly.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_verify_mode(
    context: *const netlib_tls_context,
) -> enum_netlib_verify_mode {
    read(context, netlib_verify_mode::NETLIB_CERT_REQUIRED as i32, |context| context.verify_mode() as i32)
}

/// Returns 1 if the server's certificate must be for the server's host name, else 0; 1 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_check_hostname(context: *const netlib_tls_context) -> i32 {
    read_bool(context, true, Context::check_hostname)
}

/// Returns the number of pins of a context: see `netlib_tls_options_add_pin`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_pin_count(context: *const netlib_tls_context) -> usize {
    read(context, 0, Context::pin_count)
}

/// Returns 1 if a pin replaces the verification of the chain, else 0: see
/// `netlib_tls_options_set_pins_replace_chain`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_pins_replace_chain(context: *const netlib_tls_context) -> i32 {
    read_bool(context, false, Context::pins_replace_chain)
}

/// Returns the verify flags in force, as bits of `enum netlib_verify_flag`: the flags that were set, those that are
/// always in force, and those that CRLs turn on; `NETLIB_VERIFY_FLAG_DEFAULT` for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_verify_flags(context: *const netlib_tls_context) -> i32 {
    read(context, netlib_verify_flag::NETLIB_VERIFY_FLAG_DEFAULT as i32, Context::verify_flags)
}

/// Returns the oldest TLS version that can be negotiated; `NETLIB_TLS_VERSION_1_2` for NULL. A version does not count
/// if `netlib_tls_options_set_option_bits` excludes it, or if there is no cipher suite for it. Corresponds to Python's
/// `minimum_version`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_minimum_version(
    context: *const netlib_tls_context,
) -> enum_netlib_tls_version {
    read(context, netlib_tls_version::NETLIB_TLS_VERSION_1_2 as i32, |context| context.minimum_version() as i32)
}

/// Returns the newest TLS version that can be negotiated; `NETLIB_TLS_VERSION_1_3` for NULL. A version does not count
/// if `netlib_tls_options_set_option_bits` excludes it, or if there is no cipher suite for it. Corresponds to Python's
/// `maximum_version`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_maximum_version(
    context: *const netlib_tls_context,
) -> enum_netlib_tls_version {
    read(context, netlib_tls_version::NETLIB_TLS_VERSION_1_3 as i32, |context| context.maximum_version() as i32)
}

/// Returns the number of application protocols that a context offers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_alpn_protocol_count(context: *const netlib_tls_context) -> usize {
    read(context, 0, |context| context.alpn_protocols().len())
}

/// Returns an application protocol that a context offers; index 0 is the most preferred protocol.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_alpn_protocol(
    context: *const netlib_tls_context,
    index: usize,
    len: *mut usize,
) -> *const c_char {
    lend_text(context, len, |context| context.alpn_protocols().get(index).map(CString::as_c_str))
}

/// Returns the number of cipher suites that a context offers. Corresponds to the length of Python's `get_ciphers()`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_cipher_suite_count(context: *const netlib_tls_context) -> usize {
    read(context, 0, Context::cipher_count)
}

/// Returns the IANA name of a cipher suite that a context offers, as a constant string. Index 0 is the most preferred
/// suite; the TLS 1.3 suites precede the TLS 1.2 suites.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_cipher_suite(
    context: *const netlib_tls_context,
    index: usize,
    len: *mut usize,
) -> *const c_char {
    lend_text(context, len, |context| context.cipher(index))
}

/// Returns the words of a context's cipher string that name no suite of netlib, misspelt words included, in the order
/// of the string, separated by ":"; NULL when there are none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_unknown_ciphers(
    context: *const netlib_tls_context,
    len: *mut usize,
) -> *const c_char {
    lend_text(context, len, Context::unknown_ciphers)
}

/// Returns the number of key exchange groups that a context offers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_key_exchange_group_count(context: *const netlib_tls_context) -> usize {
    read(context, 0, Context::key_exchange_group_count)
}

/// Returns the IANA name of a key exchange group that a context offers, as a constant string. Index 0 is the most
/// preferred group.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_key_exchange_group(
    context: *const netlib_tls_context,
    index: usize,
    len: *mut usize,
) -> *const c_char {
    lend_text(context, len, |context| context.key_exchange_group(index))
}

/// Returns 1 if a context resumes sessions, else 0; 1 for NULL. A context with an ECHConfigList resumes no sessions.
/// See `netlib_tls_options_set_resumption`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_resumption(context: *const netlib_tls_context) -> i32 {
    read_bool(context, true, Context::resumption)
}

/// Returns the path of a context's key log file, to which the secrets of sessions are written; NULL when there is no
/// key log file. Corresponds to Python's `keylog_filename`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_keylog_file(
    context: *const netlib_tls_context,
    len: *mut usize,
) -> *const c_char {
    lend_text(context, len, Context::keylog_file)
}
