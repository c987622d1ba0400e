//! Verification of the peer's certificate: names, pins, revocation, flags, time.

use std::ffi::{c_char, c_void};

use crate::ffi::api::basics::netlib_ctx_free_fn;
use crate::ffi::api::retry::options::netlib_wall_clock_fn;
use crate::ffi::api::tls::netlib_tls_options;
use crate::ffi::args::{arg_bool, arg_bytes, arg_cstr, arg_path};
use crate::ffi::enums::enum_netlib_verify_mode;
use crate::ffi::{callback, options as builder};
use crate::tls::TlsOptions;

/// Modes of verifying the peer's certificate. The numbers are those of Python's `ssl` module.
#[repr(C)]
pub enum netlib_verify_mode {
    /// No verification. A server does not request a certificate.
    NETLIB_CERT_NONE = 0,
    /// A client: the same as REQUIRED, because a server always has a certificate. A server: requests a certificate,
    /// accepts a client without one, and refuses a wrong one.
    NETLIB_CERT_OPTIONAL = 1,
    /// A certificate is required, and must be issued by a trusted authority.
    NETLIB_CERT_REQUIRED = 2,
}

/// Bits for `netlib_tls_options_set_verify_flags`, with the numbers of OpenSSL's X509_V_FLAG_ and Python's
/// `ssl.VerifyFlags`.
#[repr(C)]
pub enum netlib_verify_flag {
    /// No check beyond a chain to a trusted authority.
    NETLIB_VERIFY_FLAG_DEFAULT = 0,
    /// The peer's own certificate must not be revoked, and its issuer's CRL must be present.
    NETLIB_VERIFY_FLAG_CRL_CHECK_LEAF = 0x4,
    /// The same for every certificate of the chain, except the trusted authority's.
    NETLIB_VERIFY_FLAG_CRL_CHECK_CHAIN = 0xc,
    /// Every certificate of the chain, including the trusted one, must obey more rules of RFC 5280 and have: a positive
    /// serial number of at most 20 bytes, an authorityKeyIdentifier, a name; an authority's certificate also a
    /// subjectKeyIdentifier, critical basicConstraints, and a keyUsage with keyCertSign; the peer's own certificate, if
    /// it has a keyUsage, also digitalSignature in it.
    NETLIB_VERIFY_FLAG_X509_STRICT = 0x20,
    /// Allows proxy certificates (RFC 3820). With it, `netlib_tls_context_new` fails with `NETLIB_UNSUPPORTED`.
    NETLIB_VERIFY_FLAG_ALLOW_PROXY_CERTS = 0x40,
    /// Trusted authorities are tried before certificates that the peer sent. This flag is always in force.
    NETLIB_VERIFY_FLAG_X509_TRUSTED_FIRST = 0x8000,
    /// A trusted authority ends the chain, even if another authority issued its certificate. This flag is always in
    /// force.
    NETLIB_VERIFY_FLAG_X509_PARTIAL_CHAIN = 0x80000,
}

/// Sets the verification of the peer's certificate. Corresponds to Python's `ssl.SSLContext.verify_mode`. Default: a
/// client requires a certificate, a server requests none. As in Python, `NETLIB_CERT_NONE` is refused after
/// `netlib_tls_options_set_check_hostname` with 1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_set_verify_mode(
    options: *mut netlib_tls_options,
    mode: enum_netlib_verify_mode,
) {
    builder::set(options, "netlib_tls_options_set_verify_mode", |options: &mut TlsOptions| {
        options.set_verify_mode(mode)
    });
}

/// Sets whether a server must prove its name. Corresponds to Python's `check_hostname`. Default: yes, unless the verify
/// mode is `NETLIB_CERT_NONE`; setting 1 then makes the mode `NETLIB_CERT_REQUIRED`. With 0 a certificate for any name
/// is accepted, and `netlib_tls_wrap_fd` needs no name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_set_check_hostname(options: *mut netlib_tls_options, on: i32) {
    builder::set(options, "netlib_tls_options_set_check_hostname", |options: &mut TlsOptions| {
        options.set_check_hostname(arg_bool!(on));
        Ok(())
    });
}

/// Adds a pin: the peer's chain must contain one of the pinned certificates or keys, in addition to all other checks.
/// Corresponds to curl's CURLOPT_PINNEDPUBLICKEY and urllib3's assert_fingerprint, but netlib checks pins in every
/// handshake, before any application data is sent. One matching pin is enough, so also pin a key that you keep in
/// reserve (RFC 7469). Default: none.
///
/// Pins are compared with the verified chain: the peer's own certificate, the intermediates, and the trusted authority
/// at its end (its key, and its certificate if this was added to the options). Other certificates that the peer sent
/// are ignored, because anyone can send a copy of a certificate. With `NETLIB_CERT_NONE`, and after
/// `netlib_tls_options_set_pins_replace_chain`, only the peer's own certificate is compared, because the handshake
/// proves possession of that key only. Without a match the handshake fails with `NETLIB_FINGERPRINT_MISMATCH`, and the
/// message contains the pin of the peer's key.
///
/// A server compares its clients' certificates with the pins. If it requests no certificate, which is the default,
/// `netlib_tls_accept_fd` and its variants refuse the context; with `NETLIB_CERT_OPTIONAL`, a client without a
/// certificate is accepted. Sessions are resumed between streams of one context only, hence under the same pins.
///
/// @param pin 64 hex digits, case-insensitive, with colons anywhere: the SHA-256 of a certificate, as from `openssl
///        x509 -fingerprint -sha256` and `netlib_certificate_fingerprint`, or of a key (SubjectPublicKeyInfo). Or
///        "sha256//" and base64, the SHA-256 of a key, as for curl and from `netlib_certificate_public_key_pin`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_add_pin(options: *mut netlib_tls_options, pin: *const c_char) {
    builder::set(options, "netlib_tls_options_add_pin", |options: &mut TlsOptions| {
        options.add_pin(arg_cstr!(pin).to_bytes())
    });
}

/// Sets whether a pin of the peer's own certificate is required instead of a chain to an authority, as for a
/// self-issued certificate. Corresponds to curl's CURLOPT_PINNEDPUBLICKEY with CURLOPT_SSL_VERIFYPEER 0. Default: no,
/// both are required. With 1 and without a pin, `netlib_tls_context_new` fails.
///
/// With 1, issuer, validity dates, purpose and revocation are no longer checked, and no authority is needed. These
/// checks remain: a pin matches the certificate or its key, the peer proves possession of that key, the key is strong
/// enough, and the certificate is for the name. Only `netlib_tls_options_set_check_hostname` with 0 turns off the check
/// of the name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_set_pins_replace_chain(options: *mut netlib_tls_options, on: i32) {
    builder::set(options, "netlib_tls_options_set_pins_replace_chain", |options: &mut TlsOptions| {
        options.set_pins_replace_chain(arg_bool!(on));
        Ok(())
    });
}

/// Adds CRLs (RFC 5280) from a file to those of earlier calls. Corresponds to curl's --crlfile and Python's
/// load_verify_locations. Default: none; netlib never downloads a CRL.
///
/// Once a CRL is added, every certificate of a chain is looked up, or with `NETLIB_VERIFY_FLAG_CRL_CHECK_LEAF` only the
/// peer's own. A revoked certificate is refused with the problem `NETLIB_CERTIFICATE_PROBLEM_REVOKED`. If no CRL of its
/// authority was added, or only an expired one, it is refused with `NETLIB_CERTIFICATE_PROBLEM_REVOCATION_UNKNOWN`. If
/// an authority has several CRLs, the newest is used. A CRL is used only if its issuer may sign CRLs: its keyUsage, if
/// any, must have cRLSign, even in a trusted certificate.
///
/// A trusted authority is not looked up. A peer certificate that is itself trusted is looked up in the CRLs of its
/// issuer (a self-signed certificate in its own CRLs), whatever else the peer sends. If no path through its issuer is
/// accepted, the issuer must also be trusted, because only a trusted key verifies the CRL. A CRL with an
/// issuingDistributionPoint covers only the certificates that it names. So adding a CRL makes netlib refuse a trusted
/// self-signed certificate that has no CRL of its own, as `openssl verify -partial_chain -crl_check` does.
///
/// @param path the file: in PEM, of which all sections "X509 CRL" are read and others skipped, or in DER; up to 16 MiB.
///        It may be a pipe that ends within 5 seconds. For delta and indirect CRLs, `netlib_tls_context_new` fails with
///        `NETLIB_UNSUPPORTED`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_add_crl_file(options: *mut netlib_tls_options, path: *const c_char) {
    builder::set(options, "netlib_tls_options_add_crl_file", |options: &mut TlsOptions| {
        options.add_crl_file(arg_path!(path));
        Ok(())
    });
}

/// Adds CRLs from memory, as `netlib_tls_options_add_crl_file` does from a file. Corresponds to OpenSSL's
/// X509_STORE_add_crl. Default: none.
///
/// @param data CRLs in PEM, or in DER one after the other; up to 16 MiB.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_add_crl_data(
    options: *mut netlib_tls_options,
    data: *const c_void,
    len: usize,
) {
    builder::set(options, "netlib_tls_options_add_crl_data", |options: &mut TlsOptions| {
        options.add_crl_data(arg_bytes!(data, len))
    });
}

/// Sets additional checks of certificates, for clients and servers. Corresponds to Python's
/// `ssl.SSLContext.verify_flags`. Default: `NETLIB_VERIFY_FLAG_DEFAULT`, or `NETLIB_VERIFY_FLAG_CRL_CHECK_CHAIN` once
/// CRLs were added. A CRL flag without a CRL makes `netlib_tls_context_new` fail. `NETLIB_VERIFY_FLAG_X509_STRICT` is
/// off by default; urllib3 sets it with Python 3.13 or newer.
///
/// @param flags bits of `enum netlib_verify_flag`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_set_verify_flags(options: *mut netlib_tls_options, flags: i32) {
    builder::set(options, "netlib_tls_options_set_verify_flags", |options: &mut TlsOptions| {
        options.set_verify_flags(flags)
    });
}

/// Sets the clock for the validity of certificates and CRLs. Corresponds to OpenSSL's X509_VERIFY_PARAM_set_time.
/// Default: the system's clock.
///
/// The clock is called once per handshake, before the handshake starts, on the calling thread. It may run on several
/// threads at once, and is called as long as a context or options hold it. No lock is held: the clock may use the
/// stream for which it is called, but not read, write or handshake on it. A call on the engine for which it is called
/// fails with `NETLIB_BUSY`. When a session is resumed, no certificate is verified: this was done in the full
/// handshake, and a session is not resumed after the certificate has expired.
///
/// @param clock the clock, which stores a finite number, 0 or more. If it stores another value or fails, the handshake
///        fails with `NETLIB_CALLBACK_FAILED`. May be NULL: the system's clock.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_set_wall_clock(
    options: *mut netlib_tls_options,
    clock: netlib_wall_clock_fn,
    ctx: *mut c_void,
    ctx_free: netlib_ctx_free_fn,
) {
    const SETTER: &str = "netlib_tls_options_set_wall_clock";
    builder::set_callback(options, SETTER, (ctx, ctx_free), |options: &mut TlsOptions, ctx| {
        options.wall_clock_id = ctx.id(clock.map(|clock| clock as *const ()));
        options.set_wall_clock(callback::number(clock, ctx, "wall clock"))
    });
}
