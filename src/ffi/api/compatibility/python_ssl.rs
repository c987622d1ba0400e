//! Functions and settings of Python's ssl module and urllib3's ssl_wrap_socket.

use std::ffi::{c_char, c_int};
use std::sync::Arc;

use crate::ffi::api::basics::{netlib_error, netlib_status};
use crate::ffi::api::limit::netlib_limit;
use crate::ffi::api::stream::netlib_stream;
use crate::ffi::api::tls::{netlib_tls_context, netlib_tls_options};
use crate::ffi::args::{arg_bool, arg_cstrs, arg_shared_opt, arg_str_opt};
use crate::ffi::enums::enum_netlib_ssl_version;
use crate::ffi::out::outs;
use crate::ffi::strings::{read, read_bool};
use crate::ffi::{guard, options as builder};
use crate::stream::Stream;
use crate::tls::TlsOptions;
use crate::tls::config::python_names;

/// Protocol methods of Python's `ssl` module, with Python's numbers: see `netlib_resolve_ssl_version`.
#[repr(C)]
pub enum netlib_ssl_version {
    /// The peers negotiate the newest TLS version that both of them support.
    NETLIB_SSL_VERSION_TLS = 2,
    /// Only TLS 1.2 is allowed.
    NETLIB_SSL_VERSION_TLSv1_2 = 5,
    /// The same as `NETLIB_SSL_VERSION_TLS`.
    NETLIB_SSL_VERSION_TLS_CLIENT = 16,
    /// Negotiates the TLS version as `NETLIB_SSL_VERSION_TLS` does, but cannot be combined with
    /// `netlib_tls_options_set_minimum_version` or `netlib_tls_options_set_maximum_version`.
    NETLIB_SSL_VERSION_TLS_SERVER = 17,
}

/// Makes a client's stream on a connected descriptor and makes the handshake, as urllib3's ssl_wrap_socket does. The
/// following setters of options replace the parameters of ssl_wrap_socket that this function does not have:
///
///     keyfile, certfile   netlib_tls_options_set_identity_files
///     key_password        netlib_tls_options_set_key_password
///     cert_reqs           netlib_tls_options_set_verify_mode
///     ca_certs            netlib_tls_options_add_ca_file
///     ca_cert_dir         netlib_tls_options_add_ca_dir
///     ca_cert_data        netlib_tls_options_add_ca_data
///     ssl_version         netlib_tls_options_set_ssl_version
///     ciphers             netlib_tls_options_set_ciphers
///
/// The function `netlib_tls_wrap_stream` replaces the parameter tls_in_tls.
///
/// Without a context, the call makes a context from the options. With a context, the call uses only the following
/// options:
///
/// - trusted certificates and CRLs: they are added to those of the context
/// - an identity with its password: it replaces that of the context
/// - pins: the peer must match them; if the context also has pins, the call fails with `NETLIB_INVALID_ARGUMENT`
/// - an ECHConfigList: it replaces that of the context
/// - application protocols: the stream offers them, or "http/1.1" if there are none; those of the context are not used
///
/// If trusted certificates, CRLs, an identity, pins or an ECHConfigList are set, the call makes another context, which
/// resumes no session and, unless only an ECHConfigList is set, reads all files again. For many connections, make that
/// context once, from the options that `netlib_tls_context_to_options` returns.
///
/// The limit bounds the handshake only: for later calls on the stream, see `netlib_stream_set_limit`. Before the
/// handshake, the call reads the files that the options name. If the limit has already ended, the call fails before it
/// reads files. The stream is blocking. If the call fails, it returns no stream; the descriptor stays open, but bytes
/// may have been sent to the peer.
///
/// @param fd a connected stream socket, borrowed.
/// @param tls_options the settings of a new context or, if `context` is passed, the settings that are added to those of
///        `context` or replace them, as described above.
/// @param context a context, with which most of `tls_options` has no effect, as described above. May be NULL: the call
///        makes a context from `tls_options`.
/// @param server_hostname the host name that the server must prove, as for `netlib_tls_wrap_fd`. May be NULL, or empty,
///        only if host names are not checked.
/// @param limit ends the handshake.
/// @return `NETLIB_OK`; all that `netlib_tls_context_new`, `netlib_tls_wrap_fd` and `netlib_stream_handshake`
///         return.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_ssl_wrap_socket(
    fd: c_int,
    tls_options: *const netlib_tls_options,
    context: *const netlib_tls_context,
    server_hostname: *const c_char,
    limit: *const netlib_limit,
    stream: *mut *mut netlib_stream,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let stream = outs!(stream);
        // An Arc instead of a borrow, because a callback may change or free the caller's options.
        let options = builder::shared::<_, TlsOptions>(tls_options)?;
        let context = arg_shared_opt!(context);
        let server_hostname = arg_str_opt!(server_hostname);
        let limit = arg_shared_opt!(limit);
        let made = Stream::connected(&options, context.as_ref(), fd, server_hostname, limit)?;
        stream.give(Arc::new(made));
        Ok(())
    })
}

/// Converts text to the number of a verify mode, as urllib3's resolve_cert_reqs does. The text is a constant of
/// Python's `ssl` module, such as "CERT_REQUIRED", or its abbreviation, such as "REQUIRED". Unlike urllib3's function,
/// the call also accepts a decimal number as text, such as "2", and does not check the number.
///
/// @param candidate the text. May be NULL: CERT_REQUIRED.
/// @param number out: the number, which need not be a verify mode. Cast the number to `enum netlib_verify_mode` for
///        `netlib_tls_options_set_verify_mode`, which checks it.
/// @return `NETLIB_INVALID_ARGUMENT` for any other text; `NETLIB_INVALID_UTF8`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_resolve_cert_reqs(
    candidate: *const c_char,
    number: *mut i32,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let number = outs!(number);
        number.set(python_names::cert_reqs(arg_str_opt!(candidate))?);
        Ok(())
    })
}

/// Converts text to the number of a protocol method, as urllib3's resolve_ssl_version does. The text is a constant of
/// Python's `ssl` module, such as "PROTOCOL_TLSv1_2", or its abbreviation, such as "TLSv1_2". Unlike urllib3's
/// function, the call also accepts a decimal number as text, such as "5", and does not check the number. The result is
/// not a number of `enum netlib_tls_version`.
///
/// @param candidate the text. May be NULL: PROTOCOL_TLS, whose number is 2.
/// @param number out: the number, which need not be a protocol method. Cast the number to `enum netlib_ssl_version` for
///        `netlib_tls_options_set_ssl_version`, which checks it.
/// @return `NETLIB_INVALID_ARGUMENT` for any other text; `NETLIB_INVALID_UTF8`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_resolve_ssl_version(
    candidate: *const c_char,
    number: *mut i32,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let number = outs!(number);
        number.set(python_names::ssl_version(arg_str_opt!(candidate))?);
        Ok(())
    })
}

/// Returns `NETLIB_SSL_VERSION_TLS_CLIENT`, also for NULL, because every context negotiates the TLS version, like the
/// contexts that urllib3 makes. Corresponds to Python's `SSLContext.protocol`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_protocol(context: *const netlib_tls_context) -> enum_netlib_ssl_version {
    read(context, netlib_ssl_version::NETLIB_SSL_VERSION_TLS_CLIENT as i32, |_| {
        netlib_ssl_version::NETLIB_SSL_VERSION_TLS_CLIENT as i32
    })
}

/// Sets the protocols of Next Protocol Negotiation, which ALPN has replaced. Corresponds to Python's
/// `set_npn_protocols`. Default: none. netlib does not support Next Protocol Negotiation: with a protocol,
/// `netlib_tls_context_new` fails with `NETLIB_UNSUPPORTED`.
///
/// @param protocols an array of `count` protocol names.
/// @param count the number of protocol names; 0 is the default.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_set_npn_protocols(
    options: *mut netlib_tls_options,
    protocols: *const *const c_char,
    count: usize,
) {
    builder::set(options, "netlib_tls_options_set_npn_protocols", |options: &mut TlsOptions| {
        options.set_npn_protocols(arg_cstrs!(protocols, count).len())
    });
}

/// Sets whether a certificate without subject alternative names may prove a host name by its common name. Corresponds
/// to Python's `hostname_checks_common_name`, which urllib3 sets to false. Default: 0. With 1, `netlib_tls_context_new`
/// fails with `NETLIB_UNSUPPORTED`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_set_hostname_checks_common_name(
    options: *mut netlib_tls_options,
    on: i32,
) {
    builder::set(options, "netlib_tls_options_set_hostname_checks_common_name", |options: &mut TlsOptions| {
        options.set_hostname_checks_common_name(arg_bool!(on))
    });
}

/// Returns 0, because a certificate's common name never proves a host name. Corresponds to Python's
/// `hostname_checks_common_name`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_hostname_checks_common_name(context: *const netlib_tls_context) -> i32 {
    read_bool(context, false, |_| false)
}

/// Sets whether a server may request a certificate after the handshake (RFC 8446 section 4.6.2). Corresponds to
/// Python's `post_handshake_auth`, which urllib3 sets to true. Default: 0. With 1, `netlib_tls_context_new` fails with
/// `NETLIB_UNSUPPORTED`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_set_post_handshake_auth(options: *mut netlib_tls_options, on: i32) {
    builder::set(options, "netlib_tls_options_set_post_handshake_auth", |options: &mut TlsOptions| {
        options.set_post_handshake_auth(arg_bool!(on))
    });
}

/// Returns 0, because netlib does not support requests for a certificate after the handshake. Corresponds to Python's
/// `post_handshake_auth`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_post_handshake_auth(context: *const netlib_tls_context) -> i32 {
    read_bool(context, false, |_| false)
}
