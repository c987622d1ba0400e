//! IANA code points and their names: protocol versions, cipher suites, groups and alerts.

use std::ffi::CStr;

use rustls::{CipherSuite, NamedGroup, ProtocolVersion};

use crate::error::{ApiName, Error, Result};
use crate::status::Status;

/// A TLS version that netlib supports. The number of a version is its code on the wire, which Python's `ssl.TLSVersion`
/// also uses.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    Tls12 = 0x0303,
    Tls13 = 0x0304,
}

/// The numbers of `TLSVersion.MINIMUM_SUPPORTED` and `MAXIMUM_SUPPORTED` in Python.
const MINIMUM_SUPPORTED: i32 = -2;
const MAXIMUM_SUPPORTED: i32 = -1;

impl Version {
    pub fn from_code(code: i32) -> Result<Version> {
        match code {
            0x0303 | MINIMUM_SUPPORTED => Ok(Version::Tls12),
            0x0304 | MAXIMUM_SUPPORTED => Ok(Version::Tls13),
            0x0300..=0x0302 => {
                let name = ["SSL 3.0", "TLS 1.0", "TLS 1.1"].get((code & 0xff) as usize).copied().unwrap_or("");
                Err(Error::new(
                    Status::Unsupported,
                    format!("{name} is not supported; the oldest supported version is TLS 1.2"),
                ))
            }
            _ => Err(Error::naming(
                Status::InvalidArgument,
                "version must be one of ",
                ApiName::TlsVersion,
                &format!("; it is {code}"),
            )),
        }
    }

    /// Converts the number of a minimum version. A version before TLS 1.2 is treated as TLS 1.2, the oldest version
    /// that netlib supports.
    pub fn minimum_from_code(code: i32) -> Result<Version> {
        match code {
            0x0300..=0x0302 => Ok(Version::Tls12),
            code => Version::from_code(code),
        }
    }

    pub(crate) fn from_rustls(version: ProtocolVersion) -> Option<Version> {
        match version {
            ProtocolVersion::TLSv1_2 => Some(Version::Tls12),
            ProtocolVersion::TLSv1_3 => Some(Version::Tls13),
            _ => None,
        }
    }

    pub(crate) fn to_rustls(self) -> ProtocolVersion {
        match self {
            Version::Tls12 => ProtocolVersion::TLSv1_2,
            Version::Tls13 => ProtocolVersion::TLSv1_3,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Version::Tls12 => "TLS 1.2",
            Version::Tls13 => "TLS 1.3",
        }
    }
}

/// Returns the cipher suite's name in the IANA registry, which differs from rustls' name for TLS 1.3 suites.
pub(crate) fn cipher_suite(suite: CipherSuite) -> Option<&'static CStr> {
    Some(match suite {
        CipherSuite::TLS13_AES_128_GCM_SHA256 => c"TLS_AES_128_GCM_SHA256",
        CipherSuite::TLS13_AES_256_GCM_SHA384 => c"TLS_AES_256_GCM_SHA384",
        CipherSuite::TLS13_CHACHA20_POLY1305_SHA256 => c"TLS_CHACHA20_POLY1305_SHA256",
        CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256 => c"TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
        CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384 => c"TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
        CipherSuite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256 => {
            c"TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256"
        }
        CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 => c"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
        CipherSuite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384 => c"TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
        CipherSuite::TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256 => c"TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
        _ => return None,
    })
}

/// Returns the key exchange group's name in the IANA registry.
pub(crate) fn key_exchange_group(group: NamedGroup) -> Option<&'static CStr> {
    Some(match group {
        NamedGroup::X25519MLKEM768 => c"X25519MLKEM768",
        NamedGroup::secp256r1MLKEM768 => c"SecP256r1MLKEM768",
        NamedGroup::MLKEM768 => c"MLKEM768",
        NamedGroup::MLKEM1024 => c"MLKEM1024",
        NamedGroup::X25519 => c"x25519",
        NamedGroup::secp256r1 => c"secp256r1",
        NamedGroup::secp384r1 => c"secp384r1",
        NamedGroup::secp521r1 => c"secp521r1",
        _ => return None,
    })
}

/// Returns the alert's name from RFC 8446 section 6, or from the RFC that added the alert.
pub(crate) fn alert(number: u8) -> &'static str {
    match number {
        0 => "close_notify",
        10 => "unexpected_message",
        20 => "bad_record_mac",
        21 => "decryption_failed",
        22 => "record_overflow",
        30 => "decompression_failure",
        40 => "handshake_failure",
        41 => "no_certificate",
        42 => "bad_certificate",
        43 => "unsupported_certificate",
        44 => "certificate_revoked",
        45 => "certificate_expired",
        46 => "certificate_unknown",
        47 => "illegal_parameter",
        48 => "unknown_ca",
        49 => "access_denied",
        50 => "decode_error",
        51 => "decrypt_error",
        60 => "export_restriction",
        70 => "protocol_version",
        71 => "insufficient_security",
        80 => "internal_error",
        86 => "inappropriate_fallback",
        90 => "user_canceled",
        100 => "no_renegotiation",
        109 => "missing_extension",
        110 => "unsupported_extension",
        111 => "certificate_unobtainable",
        112 => "unrecognized_name",
        113 => "bad_certificate_status_response",
        114 => "bad_certificate_hash_value",
        115 => "unknown_psk_identity",
        116 => "certificate_required",
        120 => "no_application_protocol",
        121 => "ech_required",
        _ => "unknown",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tls_version_codes_are_those_of_ssl_tlsversion_in_python() {
        for (code, expected) in [
            (0x0303, Ok(Version::Tls12)),
            (0x0304, Ok(Version::Tls13)),
            (-2, Ok(Version::Tls12)),
            (-1, Ok(Version::Tls13)),
            (0x0300, Err(Status::Unsupported)),
            (0x0301, Err(Status::Unsupported)),
            (0x0302, Err(Status::Unsupported)),
            (0x0305, Err(Status::InvalidArgument)),
            (0x02ff, Err(Status::InvalidArgument)),
            (0, Err(Status::InvalidArgument)),
            (i32::MIN, Err(Status::InvalidArgument)),
        ] {
            assert_eq!(Version::from_code(code).map_err(|error| error.status()), expected, "{code}");
            let minimum = if expected == Err(Status::Unsupported) { Ok(Version::Tls12) } else { expected };
            assert_eq!(Version::minimum_from_code(code).map_err(|error| error.status()), minimum, "{code}");
        }
    }

    #[test]
    fn every_cipher_suite_of_the_crypto_provider_has_an_iana_name() {
        for suite in rustls::crypto::aws_lc_rs::ALL_CIPHER_SUITES {
            assert!(cipher_suite(suite.suite()).is_some(), "{suite:?}");
        }
    }

    #[test]
    fn every_key_exchange_group_of_the_crypto_provider_has_an_iana_name() {
        for group in rustls::crypto::aws_lc_rs::ALL_KX_GROUPS {
            assert!(key_exchange_group(group.name()).is_some(), "{group:?}");
        }
    }
}
