//! Computes the protocol versions, cipher suites and groups to offer from the version range, `ssl_version`, the option
//! bits, the cipher string and the group list.

use rustls::crypto::CryptoProvider;
use rustls::{SupportedCipherSuite, SupportedProtocolVersion, version};

use super::{TlsOptions, bits};
use crate::error::{ApiName, Error, Result};
use crate::status::Status;
use crate::tls::config::ciphers::{self, Processor};
use crate::tls::config::code_points::Version;
use crate::tls::config::groups::{self, Group};

/// Python's PROTOCOL_ constants, which urllib3 accepts as `ssl_version`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    /// PROTOCOL_TLS or PROTOCOL_TLS_CLIENT: negotiates the version.
    Negotiate,
    /// PROTOCOL_TLS_SERVER: negotiates the version, like PROTOCOL_TLS. PROTOCOL_TLS_SERVER conflicts with a version
    /// range, because urllib3 treats every number except PROTOCOL_TLS and PROTOCOL_TLS_CLIENT as an exact version.
    TlsServer,
    Tls12,
}

impl Method {
    pub(crate) fn from_code(code: i32) -> Result<Method> {
        let old = |name: &str| {
            let message = format!("PROTOCOL_{name} is not supported; the oldest supported version is TLS 1.2");
            Err(Error::new(Status::Unsupported, message))
        };
        match code {
            2 | 16 => Ok(Method::Negotiate),
            17 => Ok(Method::TlsServer),
            5 => Ok(Method::Tls12),
            0 => old("SSLv2"),
            1 => old("SSLv3"),
            3 => old("TLSv1"),
            4 => old("TLSv1_1"),
            _ => {
                let (before, after) = ("version must be a number of ", format!("; it is {code}"));
                Err(Error::naming(Status::InvalidArgument, before, ApiName::ResolveSslVersion, &after))
            }
        }
    }
}

/// The versions, cipher suites and groups to offer. The lists of versions, cipher suites and groups are never empty.
#[derive(Debug)]
pub(crate) struct Offer {
    /// The protocol versions, newest first.
    pub(crate) versions: Vec<Version>,
    /// The cipher suites in order of preference.
    pub(crate) suites: Vec<SupportedCipherSuite>,
    /// The groups in order of preference.
    pub(crate) groups: Vec<Group>,
}

impl Offer {
    pub(crate) fn rustls_versions(&self) -> Vec<&'static SupportedProtocolVersion> {
        let supported = |version: &Version| match version {
            Version::Tls13 => &version::TLS13,
            Version::Tls12 => &version::TLS12,
        };
        self.versions.iter().map(supported).collect()
    }

    /// Restricts the offer to TLS 1.3, which Encrypted Client Hello needs; rustls offers no older version together with
    /// ECH.
    pub(crate) fn for_ech(&self) -> Result<Offer> {
        let is_fit = |suite: &&SupportedCipherSuite| suite.tls13().is_some();
        let suites: Vec<_> = self.suites.iter().filter(is_fit).copied().collect();
        let is_usable = |group: &&Group| group.usable_for_version(Version::Tls13.to_rustls());
        let groups: Vec<_> = self.groups.iter().filter(is_usable).copied().collect();
        if suites.is_empty() || groups.is_empty() {
            let message = "Encrypted Client Hello needs TLS 1.3, which the other options exclude";
            return Err(Error::new(Status::InvalidArgument, message));
        }
        Ok(Offer { versions: vec![Version::Tls13], suites, groups })
    }

    pub(crate) fn minimum(&self) -> Version {
        self.versions.iter().copied().min().unwrap_or(Version::Tls12)
    }

    pub(crate) fn maximum(&self) -> Version {
        self.versions.iter().copied().max().unwrap_or(Version::Tls13)
    }
}

impl TlsOptions {
    pub(crate) fn offer(&self, provider: &CryptoProvider) -> Result<Offer> {
        self.offer_on(Processor::here(), provider)
    }

    fn offer_on(&self, processor: Processor, provider: &CryptoProvider) -> Result<Offer> {
        let (minimum, maximum) = self.range()?;
        let excluded = |version: &Version| {
            let bit = if *version == Version::Tls12 { bits::NO_TLS12 } else { bits::NO_TLS13 };
            self.bits & bit != 0
        };
        let in_range = [Version::Tls13, Version::Tls12].into_iter().filter(|v| (minimum..=maximum).contains(v));
        let allowed: Vec<Version> = in_range.filter(|version| !excluded(version)).collect();
        if allowed.is_empty() {
            let message = format!("{} is excluded, and no other version is allowed", minimum.name());
            return Err(Error::new(Status::InvalidArgument, message).with_setting(ApiName::SetOptionBits));
        }
        let groups = self.groups.clone().unwrap_or_else(groups::default_groups);
        let has_group = |version: &&Version| groups.iter().any(|group| group.usable_for_version(version.to_rustls()));
        let names = || allowed.iter().map(|version| version.name()).collect::<Vec<_>>().join(" and ");
        if !allowed.iter().any(|version| has_group(&version)) {
            let message = format!("groups has none for {}, and no other version is allowed", names());
            return Err(Error::new(Status::InvalidArgument, message).with_setting(ApiName::SetKeyExchangeGroups));
        }
        let mut offer = Offer { versions: Vec::new(), suites: Vec::new(), groups: Vec::new() };
        for version in allowed.iter().filter(has_group) {
            let mut suites = ciphers::offered(provider, self.ciphers.as_ref(), *version, processor);
            // A version without a cipher suite cannot be negotiated, so it is not offered.
            if !suites.is_empty() {
                offer.versions.push(*version);
                offer.suites.append(&mut suites);
            }
        }
        if offer.versions.is_empty() {
            let message = format!("ciphers selects none of {}, and no other version is allowed", names());
            return Err(Error::new(Status::NoCipherSuites, message).with_setting(ApiName::SetCiphers));
        }
        let is_usable = |group: &Group| offer.versions.iter().any(|v| group.usable_for_version(v.to_rustls()));
        offer.groups = groups.iter().copied().filter(is_usable).collect();
        if !self.ech.is_sent() {
            return Ok(offer);
        }
        let setting = if self.ech.list.is_some() { ApiName::SetEchConfigList } else { ApiName::SetEchGrease };
        offer.for_ech().map_err(|error| error.with_setting(setting))
    }

    fn range(&self) -> Result<(Version, Version)> {
        let invalid = |message: String| Error::new(Status::InvalidArgument, message);
        if self.has_version_range && self.ssl_version.is_some_and(|method| method != Method::Negotiate) {
            let message = "an exact version and a minimum or maximum version exclude each other";
            return Err(invalid(message.to_owned()).with_setting(ApiName::SetSslVersion));
        }
        if self.ssl_version == Some(Method::Tls12) {
            return Ok((Version::Tls12, Version::Tls12));
        }
        let (minimum, maximum) = (self.minimum_version, self.maximum_version);
        if minimum > maximum {
            let message = format!("the minimum version {} is above the maximum {}", minimum.name(), maximum.name());
            return Err(invalid(message).with_setting(ApiName::SetMinimumVersion));
        }
        Ok((minimum, maximum))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tls::config::code_points;

    #[test]
    fn default_cipher_suite_order_depends_on_the_processor() {
        const WITH_AES: &str = "TLS_AES_128_GCM_SHA256 TLS_AES_256_GCM_SHA384 TLS_CHACHA20_POLY1305_SHA256 \
                                TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256 TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 \
                                TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384 TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384 \
                                TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256 \
                                TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256";
        const WITHOUT: &str = "TLS_CHACHA20_POLY1305_SHA256 TLS_AES_128_GCM_SHA256 TLS_AES_256_GCM_SHA384 \
                               TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256 \
                               TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256 \
                               TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256 TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 \
                               TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384 TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384";
        const OPENSSLS: &str = "TLS_AES_256_GCM_SHA384 TLS_CHACHA20_POLY1305_SHA256 TLS_AES_128_GCM_SHA256";
        let provider = rustls::crypto::aws_lc_rs::default_provider();
        for (processor, ciphers, expected) in [
            (Processor::WithAes, None, WITH_AES.to_owned()),
            (Processor::WithoutAes, None, WITHOUT.to_owned()),
            (Processor::WithAes, Some("TLS_CHACHA20_POLY1305_SHA256"), "TLS_CHACHA20_POLY1305_SHA256".to_owned()),
            (
                Processor::WithAes,
                Some("aRSA+AESGCM"),
                format!("{OPENSSLS} TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384 TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"),
            ),
            (
                Processor::WithoutAes,
                Some("aRSA+AESGCM"),
                format!("{OPENSSLS} TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384 TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"),
            ),
        ] {
            let mut options = TlsOptions::default();
            options.set_ciphers(ciphers.map(str::as_bytes)).unwrap();
            let offer = options.offer_on(processor, &provider).unwrap();
            let suites =
                offer.suites.iter().map(|suite| code_points::cipher_suite(suite.suite()).unwrap().to_str().unwrap());
            assert_eq!(suites.collect::<Vec<_>>().join(" "), expected, "{processor:?} {ciphers:?}");
        }
    }
}
