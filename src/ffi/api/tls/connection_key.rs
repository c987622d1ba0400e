//! Keys for connection pools.

use std::ffi::c_char;

use crate::connection_key::{self, KeyInput};
use crate::error::Error;
use crate::ffi::api::basics::{netlib_error, netlib_status};
use crate::ffi::api::socket::options::netlib_connect_options;
use crate::ffi::api::stream::netlib_slice;
use crate::ffi::api::tls::netlib_tls_context;
use crate::ffi::api::url::netlib_url;
use crate::ffi::args::{arg, arg_buffer, arg_opt};
use crate::ffi::strings::lend_text;
use crate::ffi::{guard, options as builder, slices as slices_in};
use crate::socket::connect_options::ConnectOptions;
use crate::status::Status;

/// The number of bytes that `netlib_connection_key` stores, including the NUL.
pub const NETLIB_CONNECTION_KEY_SIZE: usize = 65;

/// Computes the key under which a connection pool keeps a connection. A connection may serve a request only if the key
/// of the connection equals the key of the request: then the connection leads to the server of the request, over the
/// proxy of the request, with the trusted certificates, pins and identities of the request. Corresponds to urllib3's
/// `PoolKey`.
///
/// The key depends on the scheme, host, port, user name and password of each URL, in normalised form, but not on the
/// path, query and fragment. The key also depends on all settings that `netlib_tls_context_digest` covers, and on every
/// connect option except the total and read limits of a `netlib_timeout`. For a callback, the key depends on the
/// callback's address and its `ctx`; each setter call that passes a `ctx_free` gives a different key. Pass everything
/// else on which your connections depend as `slices`: the path of a Unix domain socket, a server name that differs from
/// the URL's host, the digest of the context for the proxy, credentials that authenticate a whole connection (NTLM,
/// Negotiate).
///
/// The key is a SHA-256 digest, which does not contain its inputs. Anyone who reads a key can test guesses of a
/// password: if you log keys, pass random bytes of your own as a slice. Compare keys only within one process, because
/// another version of netlib may compute different keys.
///
/// @param proxy the URL of the proxy. May be NULL: no proxy.
/// @param context the TLS context. May be NULL: no TLS.
/// @param slices further inputs, in order.
/// @param count the number of slices, at most 1024.
/// @param key out: 64 lower-case hex digits and a NUL; empty after a failure.
/// @param size the size of `key` in bytes, at least `NETLIB_CONNECTION_KEY_SIZE`.
/// @return `NETLIB_INVALID_ARGUMENT` for a `url` or a `proxy` without a host, a `size` that is too small, or too many
///         slices; the status with which `netlib_connect_new` fails if a setter of `connect_options` refused a value;
///         `NETLIB_OUT_OF_MEMORY`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_connection_key(
    url: *const netlib_url,
    proxy: *const netlib_url,
    context: *const netlib_tls_context,
    connect_options: *const netlib_connect_options,
    slices: *const netlib_slice,
    count: usize,
    key: *mut c_char,
    size: usize,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let room = arg_buffer!(key, size);
        if let Some(first) = room.first_mut() {
            *first = 0;
        }
        let Some(room) = room.get_mut(..connection_key::SIZE) else {
            let message = format!("size must be at least {}; it is {size}", connection_key::SIZE);
            return Err(Error::new(Status::InvalidArgument, message));
        };
        let url = arg!(url);
        let proxy = arg_opt!(proxy);
        let options = builder::borrowed::<_, ConnectOptions>(connect_options)?;
        let context = arg_opt!(context);
        slices_in::with(slices, count, |extra| {
            let parts = KeyInput { url: &url, proxy: proxy.as_deref(), context, options: &options, extra };
            room.copy_from_slice(connection_key::of(&parts)?.to_bytes_with_nul());
            Ok(())
        })
    })
}

/// Returns a digest of a context's settings, the SHA-256 in 64 lower-case hex digits; NULL when memory is short.
/// Contexts with equal digests have the same authorities, CRLs, pins, identity and TLS parameters. The digest covers
/// the content of files, the path of a key log file, and the address and the `ctx` of callbacks. Contexts with equal
/// digests do not share sessions.
///
/// The digest covers the identity, but not the password of the private key. The first call computes the digest. Compare
/// digests only within one process.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_digest(
    context: *const netlib_tls_context,
    len: *mut usize,
) -> *const c_char {
    lend_text(context, len, |context| context.digest().ok())
}
