//! Functions and settings of Python's ssl module and urllib3's ssl_wrap_socket.

use std::ffi::{c_char, c_int};
use std::sync::Arc;

use crate::ffi::api::basics::{netlib_error, netlib_status};
use crate::ffi::api::limit::netlib_limit;
use crate::ffi::api::tls::stream::netlib_tls_stream;
use crate::ffi::api::tls::{netlib_tls_context, netlib_tls_options};
use crate::ffi::args::{arg_bool, arg_cstrs, arg_shared_opt, arg_str_opt};
use crate::ffi::enums::enum_netlib_ssl_version;
use crate::ffi::out::outs;
use crate::ffi::strings::{read, read_bool};
use crate::ffi::{guard, options as builder};
use crate::tls::config::python_names;
use crate::tls::{Stream, TlsOptions};

/// Protocol methods, with Python's numbers: see `netlib_resolve_ssl_version`.
#[repr(C)]
pub enum netlib_ssl_version {
    /// The newest version that both sides support.
    NETLIB_SSL_VERSION_TLS = 2,
    /// Exactly TLS 1.2.
    NETLIB_SSL_VERSION_TLSv1_2 = 5,
    /// The same as `NETLIB_SSL_VERSION_TLS`.
    NETLIB_SSL_VERSION_TLS_CLIENT = 16,
    /// The same as `NETLIB_SSL_VERSION_TLS`.
    NETLIB_SSL_VERSION_TLS_SERVER = 17,
}

/// Makes a client's stream on a connected descriptor and makes the handshake, as urllib3's ssl_wrap_socket. The other
/// parameters of ssl_wrap_socket are options:
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
/// Its tls_in_tls is `netlib_tls_wrap_stream`.
///
/// Without a context, one is made from the options. With a context, only these options are used, as in urllib3:
/// authorities and CRLs, which are added to the context's; an identity with its password, which replaces the context's;
/// pins, which fail with `NETLIB_INVALID_ARGUMENT` if the context also has pins; and an ECHConfigList, which replaces
/// the context's. If one of these options is set, another context is made, which reads all files again and resumes no
/// session: for many connections, make that context once with `netlib_tls_context_to_options`. The application protocol
/// offered is "http/1.1" unless the options have some; the context's are not used.
///
/// The limit applies to the handshake only: for later calls see `netlib_tls_stream_set_limit`. Files that the options
/// name are read before the handshake. A limit that has already ended is reported before the files are read. The stream
/// is blocking. If the call fails, there is no stream; the descriptor stays open, but bytes may have been sent to the
/// peer.
///
/// @param fd a connected stream socket, borrowed.
/// @param tls_options used as described above.
/// @param context takes precedence over `tls_options`. May be NULL: a context is made.
/// @param server_hostname as for `netlib_tls_wrap_fd`. May be NULL, or empty, only if names are not checked.
/// @param limit ends the handshake.
/// @return `NETLIB_OK`; all that `netlib_tls_context_new`, `netlib_tls_wrap_fd` and `netlib_tls_stream_handshake`
///         return.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_ssl_wrap_socket(
    fd: c_int,
    tls_options: *const netlib_tls_options,
    context: *const netlib_tls_context,
    server_hostname: *const c_char,
    limit: *const netlib_limit,
    stream: *mut *mut netlib_tls_stream,
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

/// Converts text to the number of a verification mode, as urllib3's resolve_cert_reqs: a constant of Python's `ssl`
/// module, "CERT_REQUIRED", its abbreviation, "REQUIRED", or a decimal number, which is not checked.
///
/// @param candidate the text. May be NULL: CERT_REQUIRED.
/// @param number out: any number. Cast it to `enum netlib_verify_mode` for `netlib_tls_options_set_verify_mode`, which
///        checks it.
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

/// Converts text to the number of a protocol method, as urllib3's resolve_ssl_version: a constant of Python's `ssl`
/// module, "PROTOCOL_TLSv1_2", its abbreviation, "TLSv1_2", or a decimal number, which is not checked. The result is
/// not a number of `enum netlib_tls_version`.
///
/// @param candidate the text. May be NULL: PROTOCOL_TLS, 2.
/// @param number out: any number. Cast it to `enum netlib_ssl_version` for `netlib_tls_options_set_ssl_version`, which
///        checks it.
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

/// Returns `NETLIB_SSL_VERSION_TLS_CLIENT`, also for NULL: Python's `SSLContext.protocol`. Every context negotiates the
/// version, like the contexts that urllib3 makes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_protocol(context: *const netlib_tls_context) -> enum_netlib_ssl_version {
    read(context, netlib_ssl_version::NETLIB_SSL_VERSION_TLS_CLIENT as i32, |_| {
        netlib_ssl_version::NETLIB_SSL_VERSION_TLS_CLIENT as i32
    })
}

/// Sets the protocols of Next Protocol Negotiation, which ALPN has replaced. Corresponds to Python's
/// `set_npn_protocols`. Default: none. With a name, `netlib_tls_context_new` fails with `NETLIB_UNSUPPORTED`.
///
/// @param protocols an array of `count` names.
/// @param count the number of names; 0 is the default.
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

/// Sets whether a certificate without subject alternative names may prove a name by its common name. Corresponds to
/// Python's `hostname_checks_common_name`, which urllib3 sets to false. Default: 0. With 1, `netlib_tls_context_new`
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

/// Returns 0: a name is never proven by a certificate's common name. Corresponds to Python's
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

/// Returns 0: a server may not request a certificate after the handshake. Corresponds to Python's
/// `post_handshake_auth`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_post_handshake_auth(context: *const netlib_tls_context) -> i32 {
    read_bool(context, false, |_| false)
}
