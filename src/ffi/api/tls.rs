//! Contexts, and streams on a socket you already have.

pub mod certificate;
pub mod ciphers;
pub mod context;
pub mod engine;
pub mod identity;
pub mod options;
pub mod servername;
pub mod session;
pub mod stream;
pub mod transport;
pub mod trust;
pub mod verify;
pub mod wrap;

use std::ffi::c_char;

use crate::ffi::api::basics::{netlib_error, netlib_status};
use crate::ffi::args::arg_str_opt;
use crate::ffi::out::outs;
use crate::ffi::{Handle, Options, Shared, Unique, guard, handle};
use crate::tls::{Context, TlsOptions, resolve};

/// What is asked of the peer's certificate. The numbers are those of Python's `ssl` module.
#[repr(C)]
pub enum netlib_verify_mode {
    /// Nothing: the peer may be anyone. A server does not ask for a certificate.
    NETLIB_CERT_NONE = 0,
    /// A client: as REQUIRED, because a server always has one. A server: it asks, and refuses a wrong one.
    NETLIB_CERT_OPTIONAL = 1,
    /// It must be there, and a trusted authority must have issued it.
    NETLIB_CERT_REQUIRED = 2,
}

/// TLS versions: the numbers on the wire, which are those of Python's `ssl.TLSVersion`.
#[repr(C)]
pub enum netlib_tls_version {
    /// The oldest that netlib offers.
    NETLIB_TLS_MINIMUM_SUPPORTED = -2,
    /// The newest that netlib offers.
    NETLIB_TLS_MAXIMUM_SUPPORTED = -1,
    /// RFC 5246 with AEAD cipher suites only, and the extended master secret of RFC 7627 wherever the peer has it.
    NETLIB_TLS_1_2 = 0x0303,
    /// RFC 8446.
    NETLIB_TLS_1_3 = 0x0304,
}

/// What a TLS context is made from. **Single**: one call at a time. Setters return nothing; the first bad value is
/// reported by `netlib_tls_context_new`. Files are read by that, not by the setters.
pub struct netlib_tls_options {
    _private: [u8; 0],
}

impl Handle for netlib_tls_options {
    type Value = Options<TlsOptions>;
    type Ownership = Unique;
}

/// Everything that TLS streams share: trust, identity, versions, the sessions that can be resumed. **Immutable**: make
/// one, use it for any number of streams from any threads. A client's side is `netlib_tls_wrap_fd`, a server's is
/// `netlib_tls_accept_fd`; over a transport of your own, `netlib_tls_engine_client_new` and `netlib_tls_engine_server_new`.
pub struct netlib_tls_context {
    _private: [u8; 0],
}

impl Handle for netlib_tls_context {
    type Value = Context;
    type Ownership = Shared;
}

/// New options, all at their defaults.
///
/// @return owned: free them with `netlib_tls_options_free`. Never NULL.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub extern "C" fn netlib_tls_options_new() -> *mut netlib_tls_options {
    guard::value(std::ptr::null_mut(), || Ok(handle::give(Box::new(Options::new(TlsOptions::default())))))
}

/// Releases options. Contexts made from them are not affected.
///
/// @param options owned. May be NULL: nothing happens.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_free(options: *mut netlib_tls_options) {
    guard::nothing(|| handle::free(options));
}

/// The number of a verification mode, as urllib3's resolve_cert_reqs: of the text of a constant of Python's `ssl`
/// module, "CERT_REQUIRED", of its abbreviation, "REQUIRED", or of a decimal number, which is not checked.
///
/// @param candidate the text. May be NULL: the number is that of CERT_REQUIRED.
/// @param number out: for `netlib_tls_options_set_verify_mode`. Not NULL.
/// @param err out, owned. May be NULL.
/// @return `NETLIB_OK`; `NETLIB_INVALID_ARGUMENT` for any other text; `NETLIB_INVALID_UTF8`.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_resolve_cert_reqs(
    candidate: *const c_char,
    number: *mut i32,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let number = outs!(number);
        number.set(resolve::cert_reqs(arg_str_opt!(candidate))?);
        Ok(())
    })
}

/// The number of a protocol method, as urllib3's resolve_ssl_version: of the text of a constant of Python's `ssl`
/// module, "PROTOCOL_TLSv1_2", of its abbreviation, "TLSv1_2", or of a decimal number, which is not checked. These are not
/// the numbers of `enum netlib_tls_version`.
///
/// @param candidate the text. May be NULL: the number is that of PROTOCOL_TLS, 2.
/// @param number out: the number. Not NULL.
/// @param err out, owned. May be NULL.
/// @return `NETLIB_OK`; `NETLIB_INVALID_ARGUMENT` for any other text; `NETLIB_INVALID_UTF8`.
/// @threads any
/// @since 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_resolve_ssl_version(
    candidate: *const c_char,
    number: *mut i32,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let number = outs!(number);
        number.set(resolve::ssl_version(arg_str_opt!(candidate))?);
        Ok(())
    })
}
