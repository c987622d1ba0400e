//! Encrypted Client Hello.

use std::ffi::{c_char, c_void};
use std::sync::Arc;

use crate::ffi::api::basics::{netlib_error, netlib_status};
use crate::ffi::api::stream::netlib_stream;
use crate::ffi::api::tls::engine::netlib_tls_engine;
use crate::ffi::api::tls::{netlib_tls_context, netlib_tls_options};
use crate::ffi::args::{arg, arg_bool, arg_bytes, arg_bytes_opt};
use crate::ffi::enums::enum_netlib_ech_status;
use crate::ffi::out::outs;
use crate::ffi::strings::{lend_bytes, lend_text, read, read_bool};
use crate::ffi::{guard, options as builder};
use crate::stream::Stream;
use crate::tls::{Context, MemoryEngine, TlsOptions};

/// Outcomes of Encrypted Client Hello (ECH): see `netlib_stream_ech_status`. Corresponds to OpenSSL's
/// SSL_ech_get1_status.
#[repr(C)]
pub enum netlib_ech_status {
    /// The ClientHello had no Encrypted Client Hello extension. A server's session always has the outcome
    /// `NETLIB_ECH_NOT_OFFERED`.
    NETLIB_ECH_NOT_OFFERED = 0,
    /// The ClientHello had an Encrypted Client Hello extension with random content: see
    /// `netlib_tls_options_set_ech_grease`.
    NETLIB_ECH_GREASE = 1,
    /// The client offers Encrypted Client Hello, and the outcome is not known: the handshake is not done yet, or has
    /// failed for a reason other than a rejection of Encrypted Client Hello.
    NETLIB_ECH_OFFERED = 2,
    /// The server decrypted the ClientHello: no observer has seen the server's name.
    NETLIB_ECH_ACCEPTED = 3,
    /// The server could not decrypt the ClientHello. No observer has seen the server's name, and the handshake has
    /// failed.
    NETLIB_ECH_REJECTED = 4,
}

/// Sets the ECHConfigList with which clients encrypt their ClientHello (Encrypted Client Hello, RFC 9849): an observer
/// of the connection sees the list's public name instead of the server's name. An ECHConfigList is for one server name:
/// it is the `ech` parameter of that name's HTTPS record in the DNS (RFC 9848, RFC 9460). Query the HTTPS record over
/// an encrypted connection, because otherwise an observer can read the server name in the query.
/// `netlib_tls_context_with_ech` adds an ECHConfigList to a copy of an existing context. Corresponds to OpenSSL's
/// SSL_set1_ech_config_list and curl's CURLOPT_ECH with "ecl:". Default: none.
///
/// A context with an ECHConfigList offers only TLS 1.3 (RFC 9849 section 6.1). `netlib_tls_context_new` fails if the
/// other options exclude TLS 1.3. A client's stream or engine needs a DNS name as `server_hostname`, and the functions
/// that make a server's stream or engine refuse the context. The context resumes no sessions
/// (`netlib_tls_context_resumption`), because an attacker who forges a HelloRetryRequest could see a ticket, which
/// identifies the server. Therefore the context sends no early data either. An observer still sees the application
/// protocols (ALPN), the public name, the server's address, and the size and time of messages.
///
/// If a server cannot decrypt the ClientHello, it rejects Encrypted Client Hello. The handshake then verifies the
/// server's certificate for the public name, by the usual rules, so that pins also apply to this certificate. The
/// client sends no certificate. If the server's certificate is accepted, the handshake fails with
/// `NETLIB_TLS_ECH_REJECTED`, otherwise with the error of the verification. To try again, see
/// `netlib_error_ech_retry_configs`.
///
/// @param config_list the bytes of the ECHConfigList, or their base64 form, as dig and curl print it. netlib uses the
///        first supported configuration (RFC 9849 section 4). A supported configuration has the version 0xfe0d, no
///        mandatory extension, and an HPKE suite of X25519, P-256, P-384 or P-521 with the SHA-2 hash for that curve,
///        and AES-GCM or ChaCha20-Poly1305. For a malformed list, `netlib_tls_context_new` fails with
///        `NETLIB_INVALID_ARGUMENT` and the offset in the list; for a list without a supported configuration, with
///        `NETLIB_UNSUPPORTED`. May be NULL: no Encrypted Client Hello.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_set_ech_config_list(
    options: *mut netlib_tls_options,
    config_list: *const c_void,
    len: usize,
) {
    builder::set(options, "netlib_tls_options_set_ech_config_list", |options: &mut TlsOptions| {
        options.set_ech_config_list(arg_bytes_opt!(config_list, len))
    });
}

/// Sets whether clients without an ECHConfigList send an extension that looks like an encrypted ClientHello (GREASE,
/// RFC 9849 section 6.2), so that an observer cannot distinguish them from clients with an ECHConfigList. The setting
/// does not hide the server's name, and the server need not support Encrypted Client Hello. Corresponds to OpenSSL's
/// SSL_OP_ECH_GREASE and curl's CURLOPT_ECH with "grease". Default: 0, because a context with this setting offers only
/// TLS 1.3, so that servers without TLS 1.3 refuse the handshake. The functions that make a server's stream or engine
/// refuse a context with this setting.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_set_ech_grease(options: *mut netlib_tls_options, on: i32) {
    builder::set(options, "netlib_tls_options_set_ech_grease", |options: &mut TlsOptions| {
        options.set_ech_grease(arg_bool!(on));
        Ok(())
    });
}

/// Makes a context like `context`, but with an ECHConfigList, which is for one server name. The new context offers only
/// TLS 1.3 and resumes no sessions: see `netlib_tls_options_set_ech_config_list`. The call reads no file and copies no
/// authorities, so the new context is cheap enough for a single connection.
///
/// @param context the original context, which is not changed.
/// @param config_list the bytes of the ECHConfigList, or their base64 form.
/// @return `NETLIB_INVALID_ARGUMENT` for a malformed list, with the offset, and if the context excludes TLS 1.3;
///         `NETLIB_UNSUPPORTED` for a list without a supported configuration; `NETLIB_NO_TRUST_ANCHORS` if the context
///         verifies chains but has no trusted certificates.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_with_ech(
    context: *const netlib_tls_context,
    config_list: *const c_void,
    len: usize,
    with_ech: *mut *mut netlib_tls_context,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let with_ech = outs!(with_ech);
        let context = arg!(context);
        with_ech.give(Arc::new(context.with_ech(arg_bytes!(config_list, len))?));
        Ok(())
    })
}

/// Returns the bytes of a context's ECHConfigList, from `netlib_tls_context_with_ech` or
/// `netlib_tls_options_set_ech_config_list`; NULL when the context has no ECHConfigList.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_ech_config_list(
    context: *const netlib_tls_context,
    len: *mut usize,
) -> *const u8 {
    lend_bytes(context, len, Context::ech_config_list)
}

/// Returns the public name in a context's ECHConfigList, which clients send in the clear instead of the server's name;
/// NULL when the context has no ECHConfigList.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_ech_public_name(
    context: *const netlib_tls_context,
    len: *mut usize,
) -> *const c_char {
    lend_text(context, len, Context::ech_public_name)
}

/// Returns the value that was passed to `netlib_tls_options_set_ech_grease`, 1 or 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_ech_grease(context: *const netlib_tls_context) -> i32 {
    read_bool(context, false, Context::ech_grease)
}

/// Returns the outcome of Encrypted Client Hello, even after the handshake has failed; `NETLIB_ECH_NOT_OFFERED` for
/// NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_stream_ech_status(stream: *const netlib_stream) -> enum_netlib_ech_status {
    read(stream, netlib_ech_status::NETLIB_ECH_NOT_OFFERED as i32, |stream: &Stream| stream.ech_status() as i32)
}

/// Returns for an engine what `netlib_stream_ech_status` returns for a stream; `NETLIB_ECH_NOT_OFFERED` for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_engine_ech_status(engine: *const netlib_tls_engine) -> enum_netlib_ech_status {
    read(engine, netlib_ech_status::NETLIB_ECH_NOT_OFFERED as i32, |engine: &MemoryEngine| engine.ech_status() as i32)
}

/// Returns the bytes of the ECHConfigList for another attempt after `NETLIB_TLS_ECH_REJECTED` (RFC 9849 section 6.1.6);
/// NULL when the server sent no ECHConfigList, and for other errors. Pass the bytes to `netlib_tls_context_with_ech`,
/// together with the context without Encrypted Client Hello, and connect once more; a second rejection is final. If
/// there are no bytes, or they contain no supported configuration (`NETLIB_UNSUPPORTED`), the server has turned
/// Encrypted Client Hello off: the application may connect without Encrypted Client Hello, which reveals the server's
/// name. The server that sent the bytes is authenticated only if the context verifies certificates and host names; with
/// `NETLIB_CERT_NONE`, anyone may have sent them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_error_ech_retry_configs(error: *const netlib_error, len: *mut usize) -> *const u8 {
    lend_bytes(error, len, |error| error.ech_retry_configs())
}
