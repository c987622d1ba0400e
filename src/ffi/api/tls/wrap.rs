//! urllib3's way to wrap a socket: one call for everything.

use std::ffi::{c_char, c_int};
use std::sync::Arc;

use crate::ffi::api::basics::{netlib_error, netlib_status};
use crate::ffi::api::limit::netlib_limit;
use crate::ffi::api::tls::stream::netlib_tls_stream;
use crate::ffi::api::tls::{netlib_tls_context, netlib_tls_options};
use crate::ffi::args::{arg_shared_opt, arg_str_opt};
use crate::ffi::out::outs;
use crate::ffi::{guard, options as builder};
use crate::tls::{Stream, TlsOptions};

/// Makes a client's stream on a connected descriptor and shakes hands, as urllib3's ssl_wrap_socket, whose other parameters
/// are options:
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
/// TLS inside of TLS, its tls_in_tls, is `netlib_tls_wrap_stream`, which takes a stream in the place of the descriptor.
///
/// Without a context, one is made of the options; with neither, the system's authorities are trusted. A context wins over
/// the options, as in urllib3: of these, only the authorities (those of the system and those built in if they are asked for)
/// with the lists of revoked certificates, and the identity with its password are used, beside the context's authorities and
/// lists and in the place of its identity. For that another context is made of what this one was made from, which reads its
/// files again and resumes no session. Where many connections are made, make the context once:
/// `netlib_tls_context_to_options`. The application protocol that is offered is "http/1.1", not the context's, unless the
/// options have some.
///
/// The limit ends the handshake, not what comes after: the stream has none until `netlib_tls_stream_set_limit`. The stream
/// is blocking. When the call fails there is no stream; the descriptor stays open, but the peer may have been sent bytes.
///
/// @param fd a connected stream socket, borrowed.
/// @param tls_options what to use. May be NULL: all defaults.
/// @param context what wins over them; the stream keeps what it needs. May be NULL: one is made.
/// @param server_hostname the host that the server must prove to be, as for `netlib_tls_wrap_fd`. Copied. May be NULL, or
///        empty, only if names are not checked.
/// @param limit ends the handshake. May be NULL: none.
/// @param stream out, owned: free it with `netlib_tls_stream_free`. Not NULL.
/// @param err out, owned. May be NULL.
/// @return `NETLIB_OK`; all that `netlib_tls_context_new`, `netlib_tls_wrap_fd` and `netlib_tls_stream_handshake` return.
/// @threads any
/// @since 0.1.0
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
        let options = builder::borrowed::<_, TlsOptions>(tls_options)?;
        let context = arg_shared_opt!(context);
        let server_hostname = arg_str_opt!(server_hostname);
        let limit = arg_shared_opt!(limit);
        let made = Stream::connected(&options, context.as_ref(), fd, server_hostname, limit)?;
        stream.give(Arc::new(made));
        Ok(())
    })
}
