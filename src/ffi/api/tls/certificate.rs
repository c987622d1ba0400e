//! Parsed certificates, and fingerprints.

use std::ffi::{c_char, c_void};
use std::sync::Arc;

use crate::ffi::api::basics::{netlib_error, netlib_status};
use crate::ffi::args::arg_bytes;
use crate::ffi::enums::{enum_netlib_certificate_name_kind, enum_netlib_distinguished_name};
use crate::ffi::out::outs;
use crate::ffi::strings::{lend_bytes, lend_text, read, read_bool};
use crate::ffi::{Handle, Shared, guard, handle};
use crate::tls::Certificate;

/// A parsed certificate. **Immutable**. Parsing a certificate does not verify it. To parse a peer's certificate, pass
/// the bytes of `netlib_stream_peer_certificate` to `netlib_certificate_parse`.
///
/// The text that getters of a certificate return contains no NUL and no control character. A backslash and two hex
/// digits stand for each byte of a control character, of invalid UTF-8, of a line or paragraph separator, and of a
/// character that is invisible or changes the writing direction. Two backslashes stand for a backslash.
pub struct netlib_certificate {
    _private: [u8; 0],
}

impl Handle for netlib_certificate {
    type Value = Certificate;
    type Ownership = Shared;
}

/// Kinds of names in a certificate. The function `netlib_certificate_name_kind` returns the kind of a name.
#[repr(C)]
pub enum netlib_certificate_name_kind {
    /// There is no name with the requested index.
    NETLIB_CERTIFICATE_NAME_NONE = 0,
    /// A host name, in ASCII; the first label may be `*`.
    NETLIB_CERTIFICATE_NAME_DNS = 1,
    /// An IP address.
    NETLIB_CERTIFICATE_NAME_IP = 2,
    /// An email address.
    NETLIB_CERTIFICATE_NAME_EMAIL = 3,
    /// A URI.
    NETLIB_CERTIFICATE_NAME_URI = 4,
}

/// The distinguished names of a certificate, for `netlib_certificate_attribute_count` and the getters of attributes.
#[repr(C)]
pub enum netlib_distinguished_name {
    /// The certificate's subject.
    NETLIB_DISTINGUISHED_NAME_SUBJECT = 0,
    /// The certificate's issuer.
    NETLIB_DISTINGUISHED_NAME_ISSUER = 1,
}

/// Parses one certificate. Corresponds to OpenSSL's d2i_X509 and PEM_read_bio_X509. Parsing is lenient: a certificate
/// that breaks a rule of RFC 5280, so that a handshake would refuse the certificate, is accepted if its fields can be
/// parsed.
///
/// @param data one certificate in DER, up to 65,535 bytes; or PEM, up to 16 MiB, from which the first certificate is
///        parsed and everything else is ignored.
/// @param len the length of `data` in bytes, or `NETLIB_NTS` for PEM.
/// @param err the error message names the field that cannot be parsed; for DER, `netlib_error_offset` returns the
///        field's position.
/// @return `NETLIB_INVALID_PEM` for data that is not a certificate, and for a certificate of more than 65,535 bytes;
///         `NETLIB_INVALID_ARGUMENT` for data of more than 16 MiB; `NETLIB_OUT_OF_MEMORY`.
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

/// Returns the name of a certificate's subject in the form of RFC 4514: "CN=example.com,O=Example\, Inc.,C=DE"; "" for
/// an empty name. The attributes are in reverse order, the last attribute of the certificate first, as in OpenSSL's
/// `-nameopt RFC2253,-esc_msb,utf8`; Python's getpeercert keeps the certificate's order. If OpenSSL has no name for an
/// attribute, the attribute appears as "1.2.3=#0C0161", with its value in DER. The check of the host name ignores the
/// subject: `netlib_certificate_name` returns the host names for which a certificate is valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_certificate_subject(
    certificate: *const netlib_certificate,
    len: *mut usize,
) -> *const c_char {
    lend_text(certificate, len, |certificate| Some(certificate.subject()))
}

/// Returns the name of a certificate's issuer, in the form of `netlib_certificate_subject`; "" for an empty name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_certificate_issuer(
    certificate: *const netlib_certificate,
    len: *mut usize,
) -> *const c_char {
    lend_text(certificate, len, |certificate| Some(certificate.issuer()))
}

/// Returns the number of attributes of a certificate's subject or issuer. The attributes have the order of the
/// certificate, the first relative distinguished name (RDN) first. The attributes correspond to the items `subject` and
/// `issuer` of Python's getpeercert.
///
/// @param name the subject or the issuer; for any other number, 0 is returned.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_certificate_attribute_count(
    certificate: *const netlib_certificate,
    name: enum_netlib_distinguished_name,
) -> usize {
    read(certificate, 0, |certificate| certificate.attributes(name).len())
}

/// Returns the object identifier of an attribute's type, for example "2.5.4.3".
///
/// @param name the subject or the issuer; for any other number, NULL is returned.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_certificate_attribute_oid(
    certificate: *const netlib_certificate,
    name: enum_netlib_distinguished_name,
    index: usize,
    len: *mut usize,
) -> *const c_char {
    lend_text(certificate, len, |certificate| Some(&certificate.attributes(name).get(index)?.oid))
}

/// Returns OpenSSL's short name of an attribute's type as a constant string, for example "CN" for 2.5.4.3; NULL for a
/// type to which `netlib_certificate_subject` gives no name.
///
/// @param name the subject or the issuer; for any other number, NULL is returned.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_certificate_attribute_short_name(
    certificate: *const netlib_certificate,
    name: enum_netlib_distinguished_name,
    index: usize,
    len: *mut usize,
) -> *const c_char {
    lend_text(certificate, len, |certificate| certificate.attributes(name).get(index)?.short_name)
}

/// Returns the value of an attribute, for example "Example, Inc."; only the escapes that `struct netlib_certificate`
/// describes occur, not those of RFC 4514. For a value that is not a string, the text is "#" and the value in DER, in
/// hex digits: "#020107". If a string begins with "#", the text begins with "\23" instead.
///
/// @param name the subject or the issuer; for any other number, NULL is returned.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_certificate_attribute_value(
    certificate: *const netlib_certificate,
    name: enum_netlib_distinguished_name,
    index: usize,
    len: *mut usize,
) -> *const c_char {
    lend_text(certificate, len, |certificate| Some(&certificate.attributes(name).get(index)?.value))
}

/// Returns the index of the RDN that contains an attribute: 0 for the first RDN; -1 when there is no attribute with
/// this index, and for NULL. Almost every RDN has one attribute; if an RDN has several attributes, the result is the
/// same for all of them.
///
/// @param name the subject or the issuer; for any other number, -1 is returned.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_certificate_attribute_rdn(
    certificate: *const netlib_certificate,
    name: enum_netlib_distinguished_name,
    index: usize,
) -> i32 {
    read(certificate, -1, |certificate| {
        certificate.attributes(name).get(index).and_then(|found| i32::try_from(found.rdn).ok()).unwrap_or(-1)
    })
}

/// Returns the serial number of a certificate in upper-case hex, as `openssl x509 -serial` prints it: "9F885F", "-01",
/// "00". Corresponds to the item `serialNumber` of Python's getpeercert.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_certificate_serial(
    certificate: *const netlib_certificate,
    len: *mut usize,
) -> *const c_char {
    lend_text(certificate, len, |certificate| Some(certificate.serial()))
}

/// Returns the X.509 version of a certificate, usually 3; the number in the encoded certificate is one less.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_certificate_version(certificate: *const netlib_certificate) -> i32 {
    read(certificate, 0, Certificate::version)
}

/// Returns the first second at which a certificate is valid (notBefore), in seconds since 1970-01-01 00:00:00 UTC;
/// negative for an earlier time. Every certificate has a notBefore. Corresponds to OpenSSL's X509_get0_notBefore.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_certificate_not_before(certificate: *const netlib_certificate) -> f64 {
    read(certificate, 0.0, |certificate| certificate.not_before() as f64)
}

/// Returns the last second at which a certificate is valid (notAfter), in seconds since 1970-01-01 00:00:00 UTC;
/// negative for an earlier time. Every certificate has a notAfter. Corresponds to OpenSSL's X509_get0_notAfter.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_certificate_not_after(certificate: *const netlib_certificate) -> f64 {
    read(certificate, 0.0, |certificate| certificate.not_after() as f64)
}

/// Returns the time of `netlib_certificate_not_before` as text, for example "2026-03-09 17:05:00 UTC".
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_certificate_not_before_text(
    certificate: *const netlib_certificate,
    len: *mut usize,
) -> *const c_char {
    lend_text(certificate, len, |certificate| Some(certificate.not_before_text()))
}

/// Returns the time of `netlib_certificate_not_after` as text, for example "2026-03-09 17:05:00 UTC".
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_certificate_not_after_text(
    certificate: *const netlib_certificate,
    len: *mut usize,
) -> *const c_char {
    lend_text(certificate, len, |certificate| Some(certificate.not_after_text()))
}

/// Returns the number of names in the certificate's subjectAltName that have one of the kinds of `enum
/// netlib_certificate_name_kind`. Corresponds to the item `subjectAltName` of Python's getpeercert.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_certificate_name_count(certificate: *const netlib_certificate) -> usize {
    read(certificate, 0, |certificate| certificate.names().len())
}

/// Returns a name in the certificate's subjectAltName, such as "example.com", "*.example.com", "192.0.2.1",
/// "2001:db8::1". For an IP address with a wrong length, the text is "#" and the bytes in hex.
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
/// OpenSSL's EVP_PKEY_get0_type_name returns it; for an unknown algorithm, the object identifier, such as "1.2.3".
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_certificate_public_key_algorithm(
    certificate: *const netlib_certificate,
    len: *mut usize,
) -> *const c_char {
    lend_text(certificate, len, |certificate| Some(certificate.public_key_algorithm()))
}

/// Returns the IANA name of an EC key's curve as a constant string, for example "secp256r1", which OpenSSL calls
/// prime256v1; NULL for other keys and unknown curves.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_certificate_public_key_curve(
    certificate: *const netlib_certificate,
    len: *mut usize,
) -> *const c_char {
    lend_text(certificate, len, |certificate| certificate.public_key_curve())
}

/// Returns the size of the certificate's public key in bits: the size of the modulus of an RSA key, of the prime of a
/// DSA key or of the field of an EC key; 256 for Ed25519 and 456 for Ed448; 0 for an unknown kind of key or an unknown
/// curve. Corresponds to OpenSSL's EVP_PKEY_get_bits, which returns 253 for Ed25519.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_certificate_public_key_bits(certificate: *const netlib_certificate) -> usize {
    read(certificate, 0, Certificate::public_key_bits)
}

/// Returns OpenSSL's name of the algorithm that signed the certificate: "sha256WithRSAEncryption", "ecdsa-with-SHA384",
/// "rsassaPss", "ED25519"; for an unknown algorithm, the object identifier, such as "1.2.3".
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_certificate_signature_algorithm(
    certificate: *const netlib_certificate,
    len: *mut usize,
) -> *const c_char {
    lend_text(certificate, len, |certificate| Some(certificate.signature_algorithm()))
}

/// Returns 1 if a certificate claims to belong to an authority, else 0. A certificate claims to belong to an authority
/// if its basicConstraints say CA:TRUE, or if it is self-issued, of version 1 or 2, and without basicConstraints.
/// Corresponds to the results 1 and 3 of OpenSSL's X509_check_ca. The function does not verify the claim.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_certificate_is_ca(certificate: *const netlib_certificate) -> i32 {
    read_bool(certificate, false, Certificate::is_ca)
}

/// Returns 1 if the certificate's subject and issuer are equal, as in a self-signed certificate, else 0. Corresponds to
/// OpenSSL's EXFLAG_SI. The function does not verify the signature.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_certificate_is_self_issued(certificate: *const netlib_certificate) -> i32 {
    read_bool(certificate, false, Certificate::is_self_issued)
}

/// Returns the certificate in DER.
///
/// @param len out: the length of the DER in bytes. May be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_certificate_der(
    certificate: *const netlib_certificate,
    len: *mut usize,
) -> *const u8 {
    lend_bytes(certificate, len, |certificate| Some(certificate.der()))
}

/// Returns the certificate's fingerprint: the SHA-256 of the DER in 64 lower-case hex digits, which
/// `netlib_assert_fingerprint` and `netlib_tls_options_add_pin` accept. `openssl x509 -fingerprint -sha256` prints the
/// same digest in upper case and with colons.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_certificate_fingerprint(
    certificate: *const netlib_certificate,
    len: *mut usize,
) -> *const c_char {
    lend_text(certificate, len, |certificate| Some(certificate.fingerprint()))
}

/// Returns the pin of the certificate's key: "sha256//" and the SHA-256 of the SubjectPublicKeyInfo in base64, which
/// `netlib_tls_options_add_pin` and curl's --pinnedpubkey accept. The pin stays the same when a certificate is renewed
/// with the same key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_certificate_public_key_pin(
    certificate: *const netlib_certificate,
    len: *mut usize,
) -> *const c_char {
    lend_text(certificate, len, |certificate| Some(certificate.public_key_pin()))
}
