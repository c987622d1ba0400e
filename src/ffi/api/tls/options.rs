//! Versions, application protocols, resumption, the key log, the environment.

use std::ffi::c_char;

use crate::ffi::api::tls::netlib_tls_options;
use crate::ffi::args::{arg_bool, arg_cstr, arg_path};
use crate::ffi::enums::enum_netlib_tls_version;
use crate::ffi::options as builder;
use crate::tls::TlsOptions;

/// TLS versions, with the numbers on the wire, as Python's `ssl.TLSVersion`.
#[repr(C)]
pub enum netlib_tls_version {
    /// The oldest version that netlib offers.
    NETLIB_TLS_VERSION_MINIMUM_SUPPORTED = -2,
    /// The newest version that netlib offers.
    NETLIB_TLS_VERSION_MAXIMUM_SUPPORTED = -1,
    /// No version is negotiated yet. This is a result only, not a setting.
    NETLIB_TLS_VERSION_NONE = 0,
    /// TLS 1.2 (RFC 5246) with AEAD cipher suites only, and the extended master secret of RFC 7627 if the peer has
    /// it.
    NETLIB_TLS_VERSION_1_2 = 0x0303,
    /// TLS 1.3 (RFC 8446).
    NETLIB_TLS_VERSION_1_3 = 0x0304,
}

/// Sets the oldest version that is accepted. Corresponds to Python's `minimum_version` and urllib3's
/// ssl_minimum_version. Default: TLS 1.2. The numbers of SSL 3.0, TLS 1.0 and TLS 1.1 (768, 769 and 770) are raised to
/// TLS 1.2, the oldest version that netlib speaks; `netlib_tls_context_minimum_version` then returns TLS 1.2. A minimum
/// above the maximum is reported by `netlib_tls_context_new`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_set_minimum_version(
    options: *mut netlib_tls_options,
    version: enum_netlib_tls_version,
) {
    builder::set(options, "netlib_tls_options_set_minimum_version", |options: &mut TlsOptions| {
        options.set_minimum_version(version)
    });
}

/// Sets the newest version that is offered. Corresponds to Python's `maximum_version` and urllib3's
/// ssl_maximum_version. Default: TLS 1.3. For SSL 3.0, TLS 1.0 and TLS 1.1 (768, 769 and 770), which netlib does not
/// speak, `netlib_tls_context_new` fails with `NETLIB_UNSUPPORTED`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_set_maximum_version(
    options: *mut netlib_tls_options,
    version: enum_netlib_tls_version,
) {
    builder::set(options, "netlib_tls_options_set_maximum_version", |options: &mut TlsOptions| {
        options.set_maximum_version(version)
    });
}

/// Adds an application protocol (ALPN, RFC 7301), the most preferred first. Corresponds to Python's
/// `set_alpn_protocols`, but takes one name per call: it refuses "h2,http/1.1" and the length-prefixed list of
/// OpenSSL's SSL_CTX_set_alpn_protos. Default: none.
///
/// @param protocol the protocol's name, for example "http/1.1": 1 to 255 bytes without a comma; all names together at
///        most 8192 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_add_alpn_protocol(
    options: *mut netlib_tls_options,
    protocol: *const c_char,
) {
    builder::set(options, "netlib_tls_options_add_alpn_protocol", |options: &mut TlsOptions| {
        options.add_alpn_protocol(arg_cstr!(protocol).to_bytes())
    });
}

/// Sets whether sessions are remembered and resumed, in TLS 1.2 and 1.3, by clients and servers. Corresponds to
/// OpenSSL's SSL_CTX_set_session_cache_mode; 0 corresponds to SSL_SESS_CACHE_OFF and also turns off session tickets.
/// Default: yes, between streams of one context and server name; see `netlib_tls_session`. TLS 1.3 servers send
/// sessions after the handshake: a client that never reads gets none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_set_resumption(options: *mut netlib_tls_options, on: i32) {
    builder::set(options, "netlib_tls_options_set_resumption", |options: &mut TlsOptions| {
        options.set_resumption(arg_bool!(on));
        Ok(())
    });
}

/// Sets whether TLS 1.2 has session tickets (RFC 5077). Corresponds to OpenSSL's SSL_OP_NO_TICKET with the opposite
/// value: this function and the bit `NETLIB_OP_NO_TICKET` change the same setting, and the later call wins. Default:
/// no, as in urllib3, because such tickets are sent in the clear, under a key that outlives many sessions; TLS 1.2
/// sessions are then resumed by their id. The tickets of TLS 1.3 are not affected.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_set_session_tickets(options: *mut netlib_tls_options, on: i32) {
    builder::set(options, "netlib_tls_options_set_session_tickets", |options: &mut TlsOptions| {
        options.set_session_tickets(arg_bool!(on));
        Ok(())
    });
}

/// Appends the secrets of the context's sessions to a file, so that a program such as Wireshark can decrypt a capture.
/// Anyone who can read the file can read the sessions. Corresponds to Python's `keylog_filename`. Default: the file
/// that the environment variable SSLKEYLOGFILE names, if any, as in urllib3, but without expansion of "$" in it; see
/// `netlib_tls_options_set_use_environment`.
///
/// `netlib_tls_context_new` opens the file, or fails with `NETLIB_IO`; it stays open as long as the context and its
/// streams. A new file can be read and written by its owner only. The lines are those of NSS' key log format, each in
/// one write(2); a line that cannot be written does not end the session. A pipe must have a reader; netlib does not
/// wait for it, so lines for which the pipe has no room are lost.
///
/// @param path the file. May be NULL: secrets are written nowhere, even if SSLKEYLOGFILE is set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_set_keylog_file(options: *mut netlib_tls_options, path: *const c_char) {
    builder::set(options, "netlib_tls_options_set_keylog_file", |options: &mut TlsOptions| {
        options.set_keylog_file(if path.is_null() { None } else { Some(arg_path!(path)) });
        Ok(())
    });
}

/// Sets whether the environment variables SSL_CERT_FILE and SSL_CERT_DIR name the system's authorities, as in OpenSSL,
/// and whether SSLKEYLOGFILE names the file to which secrets are written. Default: yes, except in a program with raised
/// privileges (see secure_getenv(3)). Only `netlib_tls_context_new` reads these variables. It fails with
/// `NETLIB_NO_TRUST_ANCHORS` if SSL_CERT_FILE or SSL_CERT_DIR is set and neither leads to a certificate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_set_use_environment(options: *mut netlib_tls_options, on: i32) {
    builder::set(options, "netlib_tls_options_set_use_environment", |options: &mut TlsOptions| {
        options.set_use_environment(arg_bool!(on));
        Ok(())
    });
}
