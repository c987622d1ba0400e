//! What a connection is made of, for programs that keep connections.

use std::ffi::c_char;

use crate::connection_key::{self, Parts};
use crate::error::Error;
use crate::ffi::api::basics::{netlib_error, netlib_status};
use crate::ffi::api::socket::options::netlib_connect_options;
use crate::ffi::api::tls::netlib_tls_context;
use crate::ffi::api::tls::stream::netlib_slice;
use crate::ffi::api::url::netlib_url;
use crate::ffi::args::{arg, arg_buffer, arg_opt};
use crate::ffi::strings::lend_text;
use crate::ffi::{guard, options as builder, slices as slices_in};
use crate::socket::connect_options::ConnectOptions;
use crate::status::Status;

/// The bytes that `netlib_connection_key` stores, its NUL included.
pub const NETLIB_CONNECTION_KEY_SIZE: usize = 65;

/// The key under which a pool keeps a connection. A connection may serve a request only if their keys are equal: then
/// it leads to the same end, over the same proxy, with the same trust, pins and identities. As urllib3's `PoolKey`.
///
/// What counts: of each URL the scheme, the host, the port and the user's name and password, in the forms that mean the
/// same; of the context everything that `netlib_tls_context_digest` says; every option of the connect, functions by
/// their address and their `ctx`. Not what a URL has behind the port. What else your connections depend on is yours to
/// add: the path of a Unix domain socket, a server name other than the URL's, the digest of the context for the proxy,
/// credentials that log in a whole connection (NTLM, Negotiate).
///
/// The key is a SHA-256 digest, of which nothing can be read. But who sees it can try passwords, so where keys are
/// logged, add some random bytes of the program's own to each. Keys are for comparing within one process: another
/// version of netlib may make others.
///
/// @param url what is connected to.
/// @param proxy the proxy on the way. May be NULL: none.
/// @param context what TLS is made with. May be NULL: none.
/// @param connect_options how it is connected. May be NULL: all defaults.
/// @param slices what else counts, in order.
/// @param count how many pieces, at most 1024.
/// @param key out: 64 lower hex digits and a NUL; empty after a failure.
/// @param size the room, at least `NETLIB_CONNECTION_KEY_SIZE`.
/// @return `NETLIB_INVALID_ARGUMENT` for a URL without a host, too little room, too many pieces; what the setters of
///         `connect_options` have found; `NETLIB_OUT_OF_MEMORY`.
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
            let parts = Parts { url: &url, proxy: proxy.as_deref(), context, options: &options, extra };
            room.copy_from_slice(connection_key::of(&parts)?.to_bytes_with_nul());
            Ok(())
        })
    })
}

/// A digest of all that makes a context what it is. Contexts with equal digests trust the same authorities, revocation
/// lists and pins, show the same certificates, ask for the same and offer the same. Of files the content counts, and
/// not the path, but for a key log; of functions the address and the `ctx`. Each context still has sessions of its own.
///
/// A password is no part of it: the identity that it opens is. It is worked out when it is first asked for.
///
/// @return borrowed from `context`: 64 lower hex digits, SHA-256; NULL if there is no memory. For comparing within one
///         process.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_digest(
    context: *const netlib_tls_context,
    len: *mut usize,
) -> *const c_char {
    lend_text(context, len, |context| context.digest().ok())
}
