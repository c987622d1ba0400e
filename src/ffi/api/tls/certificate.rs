//! Parsed certificates, and fingerprints.

use std::ffi::{c_char, c_void};
use std::sync::Arc;

use crate::ffi::api::basics::{netlib_error, netlib_status};
use crate::ffi::args::arg_bytes;
use crate::ffi::enums::enum_netlib_certificate_name_kind;
use crate::ffi::out::outs;
use crate::ffi::strings::{lend_bytes, lend_text, read, read_bool};
use crate::ffi::{Handle, Shared, guard, handle};
use crate::tls::Certificate;

/// A parsed certificate. **Immutable**. Parsing verifies nothing. For a peer's certificate, pass the bytes of
/// `netlib_tls_stream_peer_certificate` to `netlib_certificate_parse`.
///
/// Returned texts contain no NUL and no control character. These bytes, invalid UTF-8, CR, LF and other line
/// separators, and characters that change the writing direction are shown as a backslash and two hex digits per byte, a
/// backslash as two backslashes.
pub struct netlib_certificate {
    _private: [u8; 0],
}

impl Handle for netlib_certificate {
    type Value = Certificate;
    type Ownership = Shared;
}

/// The kind of a name. Returned by `netlib_certificate_name_kind`.
#[repr(C)]
pub enum netlib_certificate_name_kind {
    /// No name has this index.
    NETLIB_CERTIFICATE_NAME_NONE = 0,
    /// The name of a host, in ASCII; the first label may be `*`.
    NETLIB_CERTIFICATE_NAME_DNS = 1,
    /// An IP address.
    NETLIB_CERTIFICATE_NAME_IP = 2,
    /// A mailbox.
    NETLIB_CERTIFICATE_NAME_EMAIL = 3,
    /// A URI.
    NETLIB_CERTIFICATE_NAME_URI = 4,
}

/// Parses one certificate. Corresponds to OpenSSL's d2i_X509 and PEM_read_bio_X509. Parsing is lenient: a certificate
/// that breaks a rule of RFC 5280, so that a handshake would refuse it, is accepted if its parts can be read.
///
/// @param data one certificate in DER, up to 65,535 bytes; or PEM, up to 16 MiB, of which the first certificate is read
///        and the rest is ignored.
/// @param len the length of `data` in bytes, or `NETLIB_NTS` for PEM.
/// @param err the error's message names the part that cannot be read; for DER `netlib_error_offset` has its position.
/// @return `NETLIB_INVALID_PEM` for data that is not a certificate; `NETLIB_INVALID_ARGUMENT` for more than 16 MiB;
///         `NETLIB_OUT_OF_MEMORY`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_certificate_parse(
    data: *const c_void,
    len: usize,
    certificate: *mut *mut netlib_certificate,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let certificate = outs!(certificate);
        certificate.give(Arc::new(Certificate::parse(arg_bytes!(data, len))?));
        Ok(())
    })
}

/// Returns another reference to the same certificate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_certificate_clone(certificate: *const netlib_certificate) -> *mut netlib_certificate {
    handle::clone(certificate)
}

/// Releases a certificate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_certificate_free(certificate: *mut netlib_certificate) {
    guard::nothing(|| handle::free(certificate));
}

/// Returns the subject's name in the form of RFC 4514: "CN=example.com,O=Example\, Inc.,C=DE"; "" for an empty name.
/// The last part in the certificate is the first in the text, as in OpenSSL's `-nameopt RFC2253,-esc_msb,utf8`;
/// Python's getpeercert keeps the certificate's order. An attribute without a name in OpenSSL is shown as
/// "1.2.3=#0C0161", with its value in DER. Verification ignores the subject: `netlib_certificate_name` returns the
/// hosts of a certificate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_certificate_subject(
    certificate: *const netlib_certificate,
    len: *mut usize,
) -> *const c_char {
    lend_text(certificate, len, |certificate| Some(certificate.subject()))
}

/// Returns the issuer's name, in the form of `netlib_certificate_subject`; "" for an empty name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_certificate_issuer(
    certificate: *const netlib_certificate,
    len: *mut usize,
) -> *const c_char {
    lend_text(certificate, len, |certificate| Some(certificate.issuer()))
}

/// Returns the serial number in upper-case hex, as `openssl x509 -serial` does: "9F885F", "-01", "00". Corresponds to
/// Python's serialNumber.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_certificate_serial(
    certificate: *const netlib_certificate,
    len: *mut usize,
) -> *const c_char {
    lend_text(certificate, len, |certificate| Some(certificate.serial()))
}

/// Returns the version of X.509, usually 3; the number in the certificate is one less.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_certificate_version(certificate: *const netlib_certificate) -> i32 {
    read(certificate, 0, Certificate::version)
}

/// Returns the first second at which the certificate is valid, in seconds since 1970-01-01 00:00:00 UTC; negative for
/// an earlier time. Every certificate has one. Corresponds to OpenSSL's X509_get0_notBefore.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_certificate_not_before(certificate: *const netlib_certificate) -> f64 {
    read(certificate, 0.0, |certificate| certificate.not_before() as f64)
}

/// Returns the last second at which the certificate is valid, in seconds since 1970-01-01 00:00:00 UTC; negative for an
/// earlier time. Every certificate has one. Corresponds to OpenSSL's X509_get0_notAfter.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_certificate_not_after(certificate: *const netlib_certificate) -> f64 {
    read(certificate, 0.0, |certificate| certificate.not_after() as f64)
}

/// Returns `netlib_certificate_not_before` as text: "2026-03-09 17:05:00 UTC".
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_certificate_not_before_text(
    certificate: *const netlib_certificate,
    len: *mut usize,
) -> *const c_char {
    lend_text(certificate, len, |certificate| Some(certificate.not_before_text()))
}

/// Returns `netlib_certificate_not_after` as text: "2026-03-09 17:05:00 UTC".
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_certificate_not_after_text(
    certificate: *const netlib_certificate,
    len: *mut usize,
) -> *const c_char {
    lend_text(certificate, len, |certificate| Some(certificate.not_after_text()))
}

/// Returns the number of names in the certificate's subjectAltName. Only the kinds of `enum
/// netlib_certificate_name_kind` are counted. Corresponds to Python's subjectAltName.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_certificate_name_count(certificate: *const netlib_certificate) -> usize {
    read(certificate, 0, |certificate| certificate.names().len())
}

/// Returns a name in the certificate's subjectAltName, such as "example.com", "*.example.com", "192.0.2.1",
/// "2001:db8::1". An IP address with a wrong length is returned as "#" and its bytes in hex.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_certificate_name(
    certificate: *const netlib_certificate,
    index: usize,
    len: *mut usize,
) -> *const c_char {
    lend_text(certificate, len, |certificate| certificate.names().get(index).map(|(_, name)| name.as_c_str()))
}

/// Returns the kind of a name; `NETLIB_CERTIFICATE_NAME_NONE` for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_certificate_name_kind(
    certificate: *const netlib_certificate,
    index: usize,
) -> enum_netlib_certificate_name_kind {
    read(certificate, 0, |certificate| certificate.names().get(index).map_or(0, |(kind, _)| *kind as i32))
}

/// Returns the algorithm of the certificate's public key: "RSA", "RSA-PSS", "EC", "ED25519", "ED448", "DSA", as
/// OpenSSL's EVP_PKEY_get0_type_name; or, if it is unknown, the object identifier, such as "1.2.3".
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_certificate_public_key_algorithm(
    certificate: *const netlib_certificate,
    len: *mut usize,
) -> *const c_char {
    lend_text(certificate, len, |certificate| Some(certificate.public_key_algorithm()))
}

/// Returns the curve of an EC key as a constant, by its name in IANA's registry of TLS groups: "secp256r1", which
/// OpenSSL calls prime256v1; NULL for other keys and unknown curves.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_certificate_public_key_curve(
    certificate: *const netlib_certificate,
    len: *mut usize,
) -> *const c_char {
    lend_text(certificate, len, |certificate| certificate.public_key_curve())
}

/// Returns the size of the certificate's public key in bits: the modulus of an RSA key, the field of an EC key, 256 for
/// Ed25519; 0 for an unknown kind of key or curve. Corresponds to OpenSSL's EVP_PKEY_get_bits, which returns 253 for
/// Ed25519.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_certificate_public_key_bits(certificate: *const netlib_certificate) -> usize {
    read(certificate, 0, Certificate::public_key_bits)
}

/// Returns the certificate's signature algorithm, by OpenSSL's name: "sha256WithRSAEncryption", "ecdsa-with-SHA384",
/// "rsassaPss", "ED25519"; or, if it is unknown, the object identifier, such as "1.2.3".
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_certificate_signature_algorithm(
    certificate: *const netlib_certificate,
    len: *mut usize,
) -> *const c_char {
    lend_text(certificate, len, |certificate| Some(certificate.signature_algorithm()))
}

/// Returns 1 if the certificate claims to be an authority's, else 0: its basicConstraints say CA:TRUE, or it is
/// self-issued and older than that extension. Corresponds to OpenSSL's X509_check_ca with the results 1 and 3. The
/// claim is not verified.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_certificate_is_ca(certificate: *const netlib_certificate) -> i32 {
    read_bool(certificate, false, Certificate::is_ca)
}

/// Returns 1 if the certificate's subject and issuer are equal, as in a self-signed certificate, else 0. Corresponds to
/// OpenSSL's EXFLAG_SI. The signature is not checked.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_certificate_is_self_issued(certificate: *const netlib_certificate) -> i32 {
    read_bool(certificate, false, Certificate::is_self_issued)
}

/// Returns the certificate in DER.
///
/// @param len out: the length in bytes. May be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_certificate_der(
    certificate: *const netlib_certificate,
    len: *mut usize,
) -> *const u8 {
    lend_bytes(certificate, len, |certificate| Some(certificate.der()))
}

/// Returns the certificate's fingerprint: the SHA-256 of the DER in 64 lower-case hex digits, as
/// `netlib_assert_fingerprint` takes it. `openssl x509 -fingerprint -sha256` prints the same digest in upper case and
/// with colons.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_certificate_fingerprint(
    certificate: *const netlib_certificate,
    len: *mut usize,
) -> *const c_char {
    lend_text(certificate, len, |certificate| Some(certificate.fingerprint()))
}

/// Returns the pin of the certificate's key: "sha256//" and the SHA-256 of its SubjectPublicKeyInfo in base64, as
/// `netlib_tls_options_add_pin` takes it, and curl's --pinnedpubkey. The pin stays the same when a certificate is
/// renewed with the same key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_certificate_public_key_pin(
    certificate: *const netlib_certificate,
    len: *mut usize,
) -> *const c_char {
    lend_text(certificate, len, |certificate| Some(certificate.public_key_pin()))
}
