//! Verifying certificate chains without a session.

use std::ffi::{c_char, c_void};

use crate::ffi::api::basics::{netlib_error, netlib_status};
use crate::ffi::api::tls::netlib_tls_context;
use crate::ffi::args::{arg, arg_bytes, arg_f64_opt, arg_str_opt};
use crate::ffi::enums::enum_netlib_purpose;
use crate::ffi::guard;

/// Purposes of a certificate. Corresponds to Python's `ssl.Purpose`, with OpenSSL's numbers of X509_PURPOSE_SSL_CLIENT
/// and X509_PURPOSE_SSL_SERVER.
#[repr(C)]
pub enum netlib_purpose {
    /// The certificate authenticates a TLS client.
    NETLIB_PURPOSE_CLIENT_AUTH = 1,
    /// The certificate authenticates a TLS server.
    NETLIB_PURPOSE_SERVER_AUTH = 2,
}

/// Verifies a chain of certificates as a handshake with a context does: with the context's authorities, CRLs, pins,
/// verify flags and clock. Corresponds to OpenSSL's X509_verify_cert, `openssl verify` and Go's Certificate.Verify. The
/// call verifies the chain even if the context's verify mode is `NETLIB_CERT_NONE`, but not if a pin replaces the
/// verification (`netlib_tls_options_set_pins_replace_chain`). A context with the verify mode `NETLIB_CERT_NONE` trusts
/// the system's authorities only after `netlib_tls_options_set_system_trust` with 1.
///
/// The call does not prove that the peer possesses the certificate's private key; only a handshake does.
///
/// @param chain the peer's own certificate first, then other certificates in any order: in PEM, whose other sections
///        are skipped, or in DER, one after the other. Up to 256 certificates, each up to 65,535 bytes.
/// @param len the length of `chain` in bytes, or `NETLIB_NTS` for PEM.
/// @param name the host name or IP address for which the certificate must be valid, as for `netlib_tls_wrap_fd`, but
///        not empty. The name is checked even after `netlib_tls_options_set_check_hostname` with 0. May be NULL: a
///        certificate for any name is accepted.
/// @param time the time for which the chain is verified, in seconds since 1970-01-01 00:00:00 UTC, 0 or more. May be
///        NULL: now, by the context's clock.
/// @param err the same error as from a failed handshake, but without an alert. `netlib_error_certificate_index` returns
///        a position in `chain`, and `netlib_error_advice` names the setting with which a handshake would accept the
///        chain.
/// @return `NETLIB_CERTIFICATE_VERIFY`; `NETLIB_HOSTNAME_MISMATCH`; `NETLIB_FINGERPRINT_MISMATCH` if no pin of the
///         context matches; `NETLIB_INVALID_PEM` for data without a certificate; `NETLIB_NO_TRUST_ANCHORS`;
///         `NETLIB_INVALID_ARGUMENT` for an invalid name, a purpose or time out of range, and data that is too large;
///         `NETLIB_INVALID_UTF8`; `NETLIB_CALLBACK_FAILED` if the clock failed; `NETLIB_OUT_OF_MEMORY`.
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
