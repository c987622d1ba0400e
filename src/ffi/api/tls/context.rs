//! What a context has, and what it was made from.

use std::ffi::{CString, c_char};

use crate::ffi::api::tls::options::netlib_tls_version;
use crate::ffi::api::tls::verify::{netlib_verify_flag, netlib_verify_mode};
use crate::ffi::api::tls::{netlib_tls_context, netlib_tls_options};
use crate::ffi::enums::{enum_netlib_tls_version, enum_netlib_trust_kind, enum_netlib_verify_mode};
use crate::ffi::strings::{lend_text, read, read_bool};
use crate::ffi::{Options, handle};
use crate::tls::Context;
use crate::tls::verify::trust::Loaded;

/// Kinds of sources of trust: one of them for `netlib_tls_context_trust_source_kind`, bits for
/// `netlib_tls_context_trust_kinds`.
#[repr(C)]
pub enum netlib_trust_kind {
    /// No bit is set: there is no such source, or no source at all.
    NETLIB_TRUST_NONE = 0,
    /// The operating system's store, or what SSL_CERT_FILE and SSL_CERT_DIR name.
    NETLIB_TRUST_SYSTEM = 1,
    /// The authorities of Mozilla's programme that are built into netlib, because they were asked for or the system has
    /// no store.
    NETLIB_TRUST_EMBEDDED = 2,
    /// `netlib_tls_options_add_ca_file`, `_add_ca_dir` and `_add_ca_data`.
    NETLIB_TRUST_CUSTOM = 4,
}

/// Options that make an equal context: change some, and make another. Files and environment are then read again, and
/// the other context has sessions of its own.
///
/// @return owned.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_to_options(
    context: *const netlib_tls_context,
) -> *mut netlib_tls_options {
    read(context, std::ptr::null_mut(), |context| handle::give(Box::new(Options::new(context.to_options()))))
}

/// The number of trusted certificates, of authorities and of peers. Certificates with the same name and key count once,
/// even if several sources have them. As the length of Python's `get_ca_certs()`.
///
/// @return the count.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_trust_anchor_count(context: *const netlib_tls_context) -> usize {
    read(context, 0, Context::trust_anchor_count)
}

/// The kinds of all sources of trust together.
///
/// @return bits of `enum netlib_trust_kind`; 0 when nothing is trusted because nothing is verified.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_trust_kinds(context: *const netlib_tls_context) -> i32 {
    read(context, 0, Context::trust_sources)
}

/// How many sources of trust were loaded: those that the options name, in their order; then each place of the system's;
/// then the authorities built in.
///
/// @return the count.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_trust_source_count(context: *const netlib_tls_context) -> usize {
    read(context, 0, |context| context.trust_loaded().len())
}

/// The kind of a source.
///
/// @return the kind; `NETLIB_TRUST_NONE` for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_trust_source_kind(
    context: *const netlib_tls_context,
    index: usize,
) -> enum_netlib_trust_kind {
    read(context, 0, |context| context.trust_loaded().get(index).map_or(0, Loaded::kind))
}

/// Where a source is.
///
/// @return borrowed from `context`: the path of a file or directory, byte for byte; "CA data"; "system" for a store
///         that is not a file; "embedded".
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_trust_source_name(
    context: *const netlib_tls_context,
    index: usize,
    len: *mut usize,
) -> *const c_char {
    lend_text(context, len, |context| context.trust_loaded().get(index).map(Loaded::name))
}

/// The number of trusted certificates in a source, including those that other sources have too. Certificates with the
/// same name and key count once.
///
/// @return the count; 0 only for a place of the system's that could not be read or holds none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_trust_source_anchor_count(
    context: *const netlib_tls_context,
    index: usize,
) -> usize {
    read(context, 0, |context| context.trust_loaded().get(index).map_or(0, Loaded::anchors))
}

/// How many texts `netlib_tls_context_trust_source_skipped` has of a source.
///
/// @return the count, at most 101: after a hundred, the last text says how many more there are.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_trust_source_skipped_count(
    context: *const netlib_tls_context,
    index: usize,
) -> usize {
    read(context, 0, |context| context.trust_loaded().get(index).map_or(0, |loaded| loaded.skipped().len()))
}

/// One line about something in a source that is not trusted, and why: the file, in a directory, and the certificate.
///
/// @param skipped 0 to `netlib_tls_context_trust_source_skipped_count` - 1; beyond, NULL is returned.
/// @return borrowed from `context`, for people.
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

/// What a client asks of a server's certificate. A server asks for one only if the mode was set.
///
/// @return the mode; `NETLIB_CERT_REQUIRED` for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_verify_mode(
    context: *const netlib_tls_context,
) -> enum_netlib_verify_mode {
    read(context, netlib_verify_mode::NETLIB_CERT_REQUIRED as i32, |context| context.verify_mode() as i32)
}

/// Whether a server must prove its name.
///
/// @return the setting; 1 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_check_hostname(context: *const netlib_tls_context) -> i32 {
    read_bool(context, true, Context::check_hostname)
}

/// How many pins there are, of which a peer's chain must have one: see `netlib_tls_options_add_pin`.
///
/// @return the count.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_pin_count(context: *const netlib_tls_context) -> usize {
    read(context, 0, Context::pin_count)
}

/// Whether pins take the chain's place: see `netlib_tls_options_set_pins_replace_chain`.
///
/// @return the setting.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_pins_replace_chain(context: *const netlib_tls_context) -> i32 {
    read_bool(context, false, Context::pins_replace_chain)
}

/// The verify flags in force: those that were set, those that are always so, and those that revocation lists bring.
///
/// @return bits of `enum netlib_verify_flag`; `NETLIB_VERIFY_FLAG_DEFAULT` for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_verify_flags(context: *const netlib_tls_context) -> i32 {
    read(context, netlib_verify_flag::NETLIB_VERIFY_FLAG_DEFAULT as i32, Context::verify_flags)
}

/// The oldest version that can be negotiated: versions that `netlib_tls_options_set_option_bits` excludes, or that have
/// no cipher suite, do not count. As Python's `minimum_version`.
///
/// @return `NETLIB_TLS_VERSION_1_2` or `NETLIB_TLS_VERSION_1_3`; `NETLIB_TLS_VERSION_1_2` for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_minimum_version(
    context: *const netlib_tls_context,
) -> enum_netlib_tls_version {
    read(context, netlib_tls_version::NETLIB_TLS_VERSION_1_2 as i32, |context| context.minimum_version() as i32)
}

/// The newest version that can be negotiated, in the same way. As Python's `maximum_version`.
///
/// @return `NETLIB_TLS_VERSION_1_2` or `NETLIB_TLS_VERSION_1_3`; `NETLIB_TLS_VERSION_1_3` for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_maximum_version(
    context: *const netlib_tls_context,
) -> enum_netlib_tls_version {
    read(context, netlib_tls_version::NETLIB_TLS_VERSION_1_3 as i32, |context| context.maximum_version() as i32)
}

/// How many application protocols are offered.
///
/// @return the count.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_alpn_protocol_count(context: *const netlib_tls_context) -> usize {
    read(context, 0, |context| context.alpn_protocols().len())
}

/// One of the application protocols that are offered.
///
/// @param index 0, the most wanted, to count - 1; beyond, NULL is returned.
/// @return owned.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_alpn_protocol(
    context: *const netlib_tls_context,
    index: usize,
    len: *mut usize,
) -> *const c_char {
    lend_text(context, len, |context| context.alpn_protocols().get(index).map(CString::as_c_str))
}

/// How many cipher suites are offered. As the length of Python's `get_ciphers()`.
///
/// @return the count.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_cipher_suite_count(context: *const netlib_tls_context) -> usize {
    read(context, 0, Context::cipher_count)
}

/// One of the cipher suites that are offered, by its name in the IANA registry, as `netlib_tls_stream_cipher_suite`
/// gives it. Those of TLS 1.3 come first.
///
/// @param index 0, the most wanted, to count - 1; beyond, NULL is returned.
/// @return borrowed: a constant.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_cipher_suite(
    context: *const netlib_tls_context,
    index: usize,
    len: *mut usize,
) -> *const c_char {
    lend_text(context, len, |context| context.cipher(index))
}

/// The words of the cipher string that name nothing here: suites that netlib does not have, and misspelt words.
///
/// @return borrowed from `context`: the words in their order, with ":" between them; NULL when there are none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_unknown_ciphers(
    context: *const netlib_tls_context,
    len: *mut usize,
) -> *const c_char {
    lend_text(context, len, Context::unknown_ciphers)
}

/// How many groups for the key exchange are offered.
///
/// @return the count.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_key_exchange_group_count(context: *const netlib_tls_context) -> usize {
    read(context, 0, Context::key_exchange_group_count)
}

/// One of the groups that are offered, by its name in the IANA registry, as `netlib_tls_stream_key_exchange_group`
/// gives it.
///
/// @param index 0, the most wanted, to count - 1; beyond, NULL is returned.
/// @return borrowed: a constant.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_key_exchange_group(
    context: *const netlib_tls_context,
    index: usize,
    len: *mut usize,
) -> *const c_char {
    lend_text(context, len, |context| context.key_exchange_group(index))
}

/// Whether sessions are resumed at all: `netlib_tls_options_set_resumption`, and no ECHConfigList.
///
/// @return the setting; 1 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_resumption(context: *const netlib_tls_context) -> i32 {
    read_bool(context, true, Context::resumption)
}

/// The file to which the secrets of sessions are written. As Python's `keylog_filename`.
///
/// @return NULL when they are written nowhere.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_keylog_file(
    context: *const netlib_tls_context,
    len: *mut usize,
) -> *const c_char {
    lend_text(context, len, Context::keylog_file)
}
