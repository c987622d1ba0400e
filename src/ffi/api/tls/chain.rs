//! Chains of certificates, verified without a session.

use std::ffi::{c_char, c_void};

use crate::ffi::api::basics::{netlib_error, netlib_status};
use crate::ffi::api::tls::netlib_tls_context;
use crate::ffi::args::{arg, arg_bytes, arg_f64_opt, arg_str_opt};
use crate::ffi::enums::enum_netlib_purpose;
use crate::ffi::guard;

/// What a certificate is to be for. As Python's `ssl.Purpose`, with OpenSSL's numbers of X509_PURPOSE_SSL_CLIENT and
/// X509_PURPOSE_SSL_SERVER.
#[repr(C)]
pub enum netlib_purpose {
    /// Its owner is the client of a session.
    NETLIB_PURPOSE_CLIENT_AUTH = 1,
    /// Its owner is the server of a session.
    NETLIB_PURPOSE_SERVER_AUTH = 2,
}

/// Verifies a chain of certificates as a handshake with this context would, without one: the authorities, the
/// revocation lists, the pins, the flags and the clock are the context's. As OpenSSL's X509_verify_cert, `openssl
/// verify`, Go's Certificate.Verify. It is verified also if the context's mode is `NETLIB_CERT_NONE`, which trusts the
/// system's authorities only after `netlib_tls_options_set_system_trust` with 1.
///
/// Nobody proves that the certificate is his: that takes a handshake.
///
/// @param chain the peer's own certificate first, then others in any order: PEM, of which other sections are passed
///        over; or DER, one after the other. Up to 256 certificates, each up to 65,535 bytes.
/// @param len its length in bytes, or `NETLIB_NTS` for PEM.
/// @param purpose one of `enum netlib_purpose`.
/// @param name the host name or IP address that the certificate must be for, as `netlib_tls_wrap_fd` takes it, but not
///        empty. It is checked whatever `netlib_tls_options_set_check_hostname` says. May be NULL: any name will do.
/// @param time when: seconds since 1970-01-01 00:00:00 UTC, 0 or more. May be NULL: now, by the context's clock.
/// @param err what the error of a refused handshake says, but for the alert, since nobody is told. Its
///        `netlib_error_certificate_index` counts in `chain`; its advice is of what would make a handshake accept the
///        chain.
/// @return `NETLIB_CERTIFICATE_VERIFY`; `NETLIB_HOSTNAME_MISMATCH`; `NETLIB_FINGERPRINT_MISMATCH` if no pin of the
///         context fits; `NETLIB_INVALID_PEM` for what holds no certificate; `NETLIB_NO_TRUST_ANCHORS`;
///         `NETLIB_INVALID_ARGUMENT` for a name that is none, a purpose or time out of range, and what is too large;
///         `NETLIB_INVALID_UTF8`; `NETLIB_CALLBACK_FAILED` of the clock; `NETLIB_OUT_OF_MEMORY`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_context_verify_chain(
    context: *const netlib_tls_context,
    chain: *const c_void,
    len: usize,
    purpose: enum_netlib_purpose,
    name: *const c_char,
    time: *const f64,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let context = arg!(context);
        context.verify_chain(arg_bytes!(chain, len), purpose, arg_str_opt!(name), arg_f64_opt!(time))
    })
}
