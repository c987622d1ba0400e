//! Verification of the peer's certificate: host names, pins, revocation, flags, time.

use std::ffi::{c_char, c_void};

use crate::ffi::api::basics::netlib_ctx_free_fn;
use crate::ffi::api::retry::options::netlib_wall_clock_fn;
use crate::ffi::api::tls::netlib_tls_options;
use crate::ffi::args::{arg_bool, arg_bytes, arg_cstr, arg_path};
use crate::ffi::enums::enum_netlib_verify_mode;
use crate::ffi::{callback, options as builder};
use crate::tls::TlsOptions;

/// Verify modes: whether a certificate of the peer is requested and verified. The numbers are those of Python's `ssl`
/// module.
#[repr(C)]
pub enum netlib_verify_mode {
    /// The peer's certificate is not verified. A server does not request a certificate.
    NETLIB_CERT_NONE = 0,
    /// A server requests a certificate, accepts a client without a certificate, and refuses an invalid certificate. For
    /// a client, the mode is the same as `NETLIB_CERT_REQUIRED`, because a server always has a certificate.
    NETLIB_CERT_OPTIONAL = 1,
    /// The peer must send a certificate. The certificate must be trusted itself, or a chain must lead from it to a
    /// trusted authority.
    NETLIB_CERT_REQUIRED = 2,
}

/// Verify flags: bits for `netlib_tls_options_set_verify_flags`, with the numbers of OpenSSL's X509_V_FLAG_ and
/// Python's `ssl.VerifyFlags`.
#[repr(C)]
pub enum netlib_verify_flag {
    /// Adds no check to the verification of the chain.
    NETLIB_VERIFY_FLAG_DEFAULT = 0,
    /// The peer's own certificate must not be revoked, and a CRL of its issuer must have been added.
    NETLIB_VERIFY_FLAG_CRL_CHECK_LEAF = 0x4,
    /// No certificate of the chain, except that of the trusted authority, may be revoked, and a CRL of each issuer must
    /// have been added.
    NETLIB_VERIFY_FLAG_CRL_CHECK_CHAIN = 0xc,
    /// Every certificate of the chain, including that of the trusted authority, must obey additional rules of RFC 5280;
    /// an authority that is built into netlib is not checked. Every certificate must have a subject or a critical
    /// subjectAltName, and a subjectAltName must not be empty. Every certificate that is not itself trusted must have a
    /// positive serial number of at most 20 bytes, and an authorityKeyIdentifier, which a self-issued certificate may
    /// lack. The certificate of an authority must also have a subject, a subjectKeyIdentifier, critical
    /// basicConstraints, and a keyUsage with keyCertSign. Other certificates must have neither keyCertSign nor a
    /// pathLenConstraint. If the peer's own certificate is itself trusted, only the rule about keyCertSign counts.
    NETLIB_VERIFY_FLAG_X509_STRICT = 0x20,
    /// In OpenSSL, the flag allows proxy certificates (RFC 3820). netlib does not support proxy certificates:
    /// `netlib_tls_context_new` fails with `NETLIB_UNSUPPORTED`.
    NETLIB_VERIFY_FLAG_ALLOW_PROXY_CERTS = 0x40,
    /// When netlib builds a chain, it tries trusted authorities before certificates that the peer sent. netlib always
    /// behaves as if the flag were set.
    NETLIB_VERIFY_FLAG_X509_TRUSTED_FIRST = 0x8000,
    /// A trusted authority ends the chain, even if another authority issued its certificate. netlib always behaves as
    /// if the flag were set.
    NETLIB_VERIFY_FLAG_X509_PARTIAL_CHAIN = 0x80000,
}

/// Sets the verify mode: whether a certificate of the peer is requested and verified. Corresponds to Python's
/// `ssl.SSLContext.verify_mode`. Default: `NETLIB_CERT_REQUIRED` for a client, `NETLIB_CERT_NONE` for a server. As in
/// Python, `NETLIB_CERT_NONE` is an invalid value after `netlib_tls_options_set_check_hostname` with 1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_set_verify_mode(
    options: *mut netlib_tls_options,
    mode: enum_netlib_verify_mode,
) {
    builder::set(options, "netlib_tls_options_set_verify_mode", |options: &mut TlsOptions| {
        options.set_verify_mode(mode)
    });
}

/// Sets whether the server's certificate must be for the server's host name. Corresponds to Python's `check_hostname`.
/// Default: 1, or 0 if the verify mode is `NETLIB_CERT_NONE`. Setting 1 changes the verify mode `NETLIB_CERT_NONE` to
/// `NETLIB_CERT_REQUIRED`. With 0, a certificate for any name is accepted, and `netlib_tls_wrap_fd` needs no host name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_set_check_hostname(options: *mut netlib_tls_options, on: i32) {
    builder::set(options, "netlib_tls_options_set_check_hostname", |options: &mut TlsOptions| {
        options.set_check_hostname(arg_bool!(on));
        Ok(())
    });
}

/// Adds a pin: the peer's chain must contain one of the pinned certificates or keys, in addition to all other checks.
/// Corresponds to curl's CURLOPT_PINNEDPUBLICKEY and urllib3's assert_fingerprint, but netlib checks pins in every
/// handshake, before any application data is sent. One matching pin suffices, so also pin a key that you keep in
/// reserve (RFC 7469). Default: none.
///
/// netlib compares the pins with the verified chain: the peer's own certificate, the intermediate certificates, and the
/// trusted authority at the end of the chain (the authority's key, and its certificate if the certificate was added to
/// the options). Certificates that the peer sent but that are not part of the verified chain are ignored, because
/// anyone can send a copy of a certificate. With `NETLIB_CERT_NONE`, and after
/// `netlib_tls_options_set_pins_replace_chain`, netlib compares only the peer's own certificate and its key, because
/// the handshake proves possession of that key only. If no pin matches, the handshake fails with
/// `NETLIB_FINGERPRINT_MISMATCH`, and the error message contains the pin of the peer's key.
///
/// A server compares its clients' certificates with the pins. By default, a server requests no certificate: if the
/// context has pins, `netlib_tls_accept_fd` and its variants then fail with `NETLIB_INVALID_ARGUMENT`. With
/// `NETLIB_CERT_OPTIONAL`, a client without a certificate is accepted. Streams resume only sessions of the same
/// context, so the pins also hold for resumed sessions.
///
/// @param pin one of two forms. 64 hex digits, case-insensitive, with optional colons, are the SHA-256 of a
///        certificate, as from `openssl x509 -fingerprint -sha256` and `netlib_certificate_fingerprint`, or of a key
///        (SubjectPublicKeyInfo). "sha256//" followed by base64 is the SHA-256 of a key, in the form that curl accepts
///        and `netlib_certificate_public_key_pin` returns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_add_pin(options: *mut netlib_tls_options, pin: *const c_char) {
    builder::add(options, "netlib_tls_options_add_pin", |options: &mut TlsOptions| {
        options.add_pin(arg_cstr!(pin).to_bytes())
    });
}

/// Sets whether a pin for the peer's own certificate replaces the verification of the chain, for example for a
/// self-issued certificate. Corresponds to curl's CURLOPT_PINNEDPUBLICKEY with CURLOPT_SSL_VERIFYPEER 0. Default: 0. A
/// pin then does not replace the chain: the peer needs a matching pin and a chain to an authority. With 1 and without a
/// pin, `netlib_tls_context_new` fails.
///
/// With 1, issuer, validity dates, purpose and revocation are no longer checked, and no authority is needed. netlib
/// still checks that a pin matches the certificate or its key, that the peer proves possession of that key, that the
/// key is strong enough, and that the certificate is for the host name. The check of the host name can be turned off
/// with `netlib_tls_options_set_check_hostname`, and is off by default with `NETLIB_CERT_NONE`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_set_pins_replace_chain(options: *mut netlib_tls_options, on: i32) {
    builder::set(options, "netlib_tls_options_set_pins_replace_chain", |options: &mut TlsOptions| {
        options.set_pins_replace_chain(arg_bool!(on));
        Ok(())
    });
}

/// Adds certificate revocation lists (CRLs, RFC 5280) from a file to those of earlier calls. Corresponds to curl's
/// --crlfile and Python's load_verify_locations. Default: none; netlib never downloads a CRL.
///
/// Once a CRL is added, netlib looks up every certificate of a chain in the CRLs, or with
/// `NETLIB_VERIFY_FLAG_CRL_CHECK_LEAF` only the peer's own certificate. A revoked certificate is refused with the
/// problem `NETLIB_CERTIFICATE_PROBLEM_REVOKED`. A certificate is refused with
/// `NETLIB_CERTIFICATE_PROBLEM_REVOCATION_UNKNOWN` if no CRL of its issuer was added, or only an expired one. If
/// several CRLs of an issuer cover a certificate, the newest is used. A CRL is used only if its issuer may sign CRLs:
/// the keyUsage, if any, of the issuer's certificate must include cRLSign, even if the certificate is trusted.
///
/// netlib does not look up trusted authorities in the CRLs. A peer's own certificate that is itself trusted is looked
/// up in the CRLs of its issuer (a self-signed certificate in the CRLs that its key signed), regardless of other
/// certificates that the peer sends. If netlib accepts a peer certificate only because that certificate itself is
/// trusted, and not through a chain to an authority, the issuer of the certificate must be trusted too, so that netlib
/// can check whether the certificate is revoked. If the issuer is not trusted, netlib refuses the certificate, because
/// netlib verifies a CRL only with the key of a trusted certificate. So adding a CRL makes netlib refuse a trusted
/// self-signed peer certificate whose key has signed no CRL, as `openssl verify -partial_chain -crl_check` does. A CRL
/// with an issuingDistributionPoint covers only the certificates that this extension names.
///
/// @param path the path of the file, in PEM or DER; up to 16 MiB. In PEM, all sections "X509 CRL" are read and other
///        sections are skipped. The file may be a pipe that ends within 5 seconds. For delta and indirect CRLs,
///        `netlib_tls_context_new` fails with `NETLIB_UNSUPPORTED`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_tls_options_add_crl_file(options: *mut netlib_tls_options, path: *const c_char) {
    builder::add(options, "netlib_tls_options_add_crl_file", |options: &mut TlsOptions| {
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
    builder::add(options, "netlib_tls_options_add_crl_data", |options: &mut TlsOptions| {
        options.add_crl_data(arg_bytes!(data, len))
    });
}

/// Sets the verify flags: additional checks of certificates, for clients and servers. Corresponds to Python's
/// `ssl.SSLContext.verify_flags`. Default: `NETLIB_VERIFY_FLAG_DEFAULT`. If CRLs were added, but no flag checks CRLs,
/// netlib adds `NETLIB_VERIFY_FLAG_CRL_CHECK_CHAIN`. If a flag checks CRLs, but no CRL was added,
/// `netlib_tls_context_new` fails. `NETLIB_VERIFY_FLAG_X509_STRICT` is off by default; urllib3 sets it with Python 3.13
/// or newer.
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
/// The clock callback is called once per handshake, before the handshake starts, on the thread that makes the
/// handshake. If the handshake cannot verify a chain (`NETLIB_CERT_NONE`, or
/// `netlib_tls_options_set_pins_replace_chain` with 1), the callback is not called. The callback may run on several
/// threads at once, and may be called until all contexts and options that hold it are freed. While the callback runs,
/// netlib holds no lock: the callback may call the getters and setters of the stream whose handshake starts, but must
/// not read from that stream, write to it or make its handshake. If the callback was called for the handshake of an
/// engine, calls of the callback on that engine fail with `NETLIB_BUSY`. When a session is resumed, no certificate is
/// verified: the full handshake verified the certificates. A client resumes no session after a certificate of the
/// server's chain has expired. A server fails the handshake if the certificate of a client that resumes a session has
/// expired.
///
/// @param clock the clock callback, which stores a finite number, 0 or more. If the callback stores another value or
///        fails, the handshake fails with `NETLIB_CALLBACK_FAILED`. May be NULL: the system's clock.
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
