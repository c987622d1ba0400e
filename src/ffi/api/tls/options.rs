//! Versions, application protocols, resumption, the key log, the environment.

use std::ffi::c_char;

use crate::ffi::api::tls::netlib_tls_options;
use crate::ffi::args::{arg_bool, arg_cstr, arg_path};
use crate::ffi::enums::enum_netlib_tls_version;
use crate::ffi::options as builder;
use crate::tls::TlsOptions;

/// TLS versions, with their numbers in TLS messages. Corresponds to Python's `ssl.TLSVersion`.
#[repr(C)]
pub enum netlib_tls_version {
    /// The oldest TLS version that netlib supports.
    NETLIB_TLS_VERSION_MINIMUM_SUPPORTED = -2,
    /// The newest TLS version that netlib supports.
    NETLIB_TLS_VERSION_MAXIMUM_SUPPORTED = -1,
    /// No version has been negotiated yet. Getters may return `NETLIB_TLS_VERSION_NONE`, but setters refuse it.
    NETLIB_TLS_VERSION_NONE = 0,
    /// TLS 1.2 (RFC 5246), only with AEAD cipher suites, and with the extended master secret of RFC 7627 if the peer
    /// supports it.
    NETLIB_TLS_VERSION_1_2 = 0x0303,
    /// TLS 1.3 (RFC 8446).
    NETLIB_TLS_VERSION_1_3 = 0x0304,
}

/// Sets the oldest TLS version that is accepted. Corresponds to Python's `minimum_version` and urllib3's
/// ssl_minimum_version. Default: TLS 1.2. The numbers of SSL 3.0, TLS 1.0 and TLS 1.1 (768, 769 and 770) set TLS 1.2,
/// the oldest version that netlib supports; `netlib_tls_context_minimum_version` then returns TLS 1.2. If the minimum
/// is above the maximum, `netlib_tls_context_new` fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_set_minimum_version(
    options: *mut netlib_tls_options,
    version: enum_netlib_tls_version,
) {
    builder::set(options, "netlib_tls_options_set_minimum_version", |options: &mut TlsOptions| {
        options.set_minimum_version(version)
    });
}

/// Sets the newest TLS version that is offered. Corresponds to Python's `maximum_version` and urllib3's
/// ssl_maximum_version. Default: TLS 1.3. For SSL 3.0, TLS 1.0 and TLS 1.1 (768, 769 and 770), which netlib does not
/// support, `netlib_tls_context_new` fails with `NETLIB_UNSUPPORTED`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_set_maximum_version(
    options: *mut netlib_tls_options,
    version: enum_netlib_tls_version,
) {
    builder::set(options, "netlib_tls_options_set_maximum_version", |options: &mut TlsOptions| {
        options.set_maximum_version(version)
    });
}

/// Adds an application protocol (ALPN, RFC 7301). Add the most preferred protocol first. Corresponds to Python's
/// `set_alpn_protocols`, but takes one name per call, and refuses lists such as "h2,http/1.1" and the length-prefixed
/// list of OpenSSL's SSL_CTX_set_alpn_protos. Default: none.
///
/// @param protocol the protocol's name, for example "http/1.1": 1 to 255 bytes without a comma. All names together,
///        with one additional byte for each name, have at most 8192 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_add_alpn_protocol(
    options: *mut netlib_tls_options,
    protocol: *const c_char,
) {
    builder::add(options, "netlib_tls_options_add_alpn_protocol", |options: &mut TlsOptions| {
        options.add_alpn_protocol(arg_cstr!(protocol).to_bytes())
    });
}

/// Sets whether clients and servers cache and resume sessions, in TLS 1.2 and 1.3. Corresponds to OpenSSL's
/// SSL_CTX_set_session_cache_mode; 0 corresponds to SSL_SESS_CACHE_OFF and also turns off session tickets. Default: 1,
/// so that a stream resumes a session of another stream with the same context and server name; see
/// `netlib_tls_session`. TLS 1.3 servers send sessions after the handshake, so a client that never reads receives no
/// session.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_set_resumption(options: *mut netlib_tls_options, on: i32) {
    builder::set(options, "netlib_tls_options_set_resumption", |options: &mut TlsOptions| {
        options.set_resumption(arg_bool!(on));
        Ok(())
    });
}

/// Sets whether session tickets (RFC 5077) are used in TLS 1.2. Corresponds to OpenSSL's SSL_OP_NO_TICKET with the
/// opposite value: `netlib_tls_options_set_session_tickets` and the bit `NETLIB_OP_NO_TICKET` change the same setting,
/// and the later call wins. Default: 0, as in urllib3, because tickets of TLS 1.2 are sent in the clear, under a key
/// that outlives many sessions; without tickets, TLS 1.2 sessions are resumed by their session ID. The tickets of TLS
/// 1.3 are not affected.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_set_session_tickets(options: *mut netlib_tls_options, on: i32) {
    builder::set(options, "netlib_tls_options_set_session_tickets", |options: &mut TlsOptions| {
        options.set_session_tickets(arg_bool!(on));
        Ok(())
    });
}

/// Sets the key log file, to which netlib appends the secrets of the context's sessions, so that a program such as
/// Wireshark can decrypt captured traffic. Anyone who can read the key log file can decrypt the sessions. Corresponds
/// to Python's `keylog_filename`. Default: the file that the environment variable SSLKEYLOGFILE names, if any, as in
/// urllib3, but without expansion of "$" in the name; see `netlib_tls_options_set_use_environment`.
///
/// `netlib_tls_context_new` opens the key log file, or fails with `NETLIB_IO`; the file stays open as long as the
/// context or one of its streams exists. Opening the file is the last step, so that a context that cannot be made for
/// another reason leaves no empty file. netlib creates the file so that only its owner can read and write it. netlib
/// writes the lines of NSS' key log format, each with one write(2); a line that cannot be written does not end the
/// session. A pipe must have a reader; netlib does not wait for the reader, so lines for which the pipe has no room are
/// lost.
///
/// @param path the path of the file. May be NULL: no secrets are written, even if SSLKEYLOGFILE is set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_set_keylog_file(options: *mut netlib_tls_options, path: *const c_char) {
    builder::set(options, "netlib_tls_options_set_keylog_file", |options: &mut TlsOptions| {
        options.set_keylog_file(if path.is_null() { None } else { Some(arg_path!(path)) });
        Ok(())
    });
}

/// Sets whether the environment variables SSL_CERT_FILE and SSL_CERT_DIR name the system's authorities, as in OpenSSL,
/// and whether SSLKEYLOGFILE names the file to which secrets are written. Default: 1, except in a program with raised
/// privileges (see secure_getenv(3)). Only `netlib_tls_context_new` reads the environment variables.
/// `netlib_tls_context_new` fails with `NETLIB_NO_TRUST_ANCHORS` if SSL_CERT_FILE or SSL_CERT_DIR is set, but no
/// certificate is found in the files and directories that they name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_set_use_environment(options: *mut netlib_tls_options, on: i32) {
    builder::set(options, "netlib_tls_options_set_use_environment", |options: &mut TlsOptions| {
        options.set_use_environment(arg_bool!(on));
        Ok(())
    });
}
