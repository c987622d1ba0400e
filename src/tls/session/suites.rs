//! Defines the cipher suites of TLS 1.3: rustls' suites with netlib's HKDF ([`hkdf`]) and AES-GCM record encryption
//! ([`sealing`]).

use rustls::crypto::aws_lc_rs::cipher_suite::{
    TLS13_AES_128_GCM_SHA256, TLS13_AES_256_GCM_SHA384, TLS13_CHACHA20_POLY1305_SHA256,
};
use rustls::crypto::cipher::Tls13AeadAlgorithm;
use rustls::crypto::tls13::Hkdf;
use rustls::{CipherSuiteCommon, SupportedCipherSuite, Tls13CipherSuite};

use super::{hkdf, sealing};

pub(crate) static AES_256_GCM: Tls13CipherSuite =
    with(tls13(&TLS13_AES_256_GCM_SHA384), &hkdf::SHA384, &sealing::AES_256_GCM);
pub(crate) static AES_128_GCM: Tls13CipherSuite =
    with(tls13(&TLS13_AES_128_GCM_SHA256), &hkdf::SHA256, &sealing::AES_128_GCM);
pub(crate) static CHACHA20_POLY1305: Tls13CipherSuite =
    with(tls13(&TLS13_CHACHA20_POLY1305_SHA256), &hkdf::SHA256, tls13(&TLS13_CHACHA20_POLY1305_SHA256).aead_alg);

pub(crate) const fn tls13(suite: &SupportedCipherSuite) -> &'static Tls13CipherSuite {
    match suite {
        SupportedCipherSuite::Tls13(suite) => suite,
        SupportedCipherSuite::Tls12(_) => panic!("a suite of TLS 1.2"),
    }
}

/// Returns a copy of the suite in which `hkdf_provider` and `aead_alg` replace the suite's HKDF and AEAD.
pub(crate) const fn with(
    suite: &Tls13CipherSuite,
    hkdf_provider: &'static dyn Hkdf,
    aead_alg: &'static dyn Tls13AeadAlgorithm,
) -> Tls13CipherSuite {
    Tls13CipherSuite {
        common: CipherSuiteCommon {
            suite: suite.common.suite,
            hash_provider: suite.common.hash_provider,
            confidentiality_limit: suite.common.confidentiality_limit,
        },
        hkdf_provider,
        aead_alg,
        quic: suite.quic,
    }
}

/// Replaces rustls' TLS 1.3 suites in `suites` by the suites of this module.
pub(crate) fn install(suites: &mut [SupportedCipherSuite]) {
    for ours in [&AES_256_GCM, &AES_128_GCM, &CHACHA20_POLY1305] {
        let of_the_same_name = suites.iter_mut().find(|suite| suite.suite() == ours.common.suite);
        if let Some(suite) = of_the_same_name {
            *suite = SupportedCipherSuite::Tls13(ours);
        }
    }
}

#[cfg(test)]
pub(crate) fn is_ours(suite: SupportedCipherSuite) -> bool {
    let SupportedCipherSuite::Tls13(suite) = suite else { return false };
    [&AES_256_GCM, &AES_128_GCM, &CHACHA20_POLY1305].iter().any(|ours| std::ptr::eq(*ours, suite))
}

#[cfg(test)]
mod tests {
    use rustls::CipherSuite;
    use rustls::crypto::aws_lc_rs;

    use super::*;

    #[test]
    fn all_tls_1_3_suites_of_rustls_are_replaced() {
        let mut suites = aws_lc_rs::default_provider().cipher_suites;
        let before = suites.clone();
        install(&mut suites);
        assert_eq!(suites, before, "their names");
        let replaced: Vec<_> =
            suites.iter().filter(|suite| is_ours(**suite)).map(SupportedCipherSuite::suite).collect();
        let expected = [
            CipherSuite::TLS13_AES_256_GCM_SHA384,
            CipherSuite::TLS13_AES_128_GCM_SHA256,
            CipherSuite::TLS13_CHACHA20_POLY1305_SHA256,
        ];
        assert_eq!(replaced, expected);
        for (ours, theirs, hkdf) in [
            (&AES_256_GCM, &TLS13_AES_256_GCM_SHA384, &hkdf::SHA384),
            (&AES_128_GCM, &TLS13_AES_128_GCM_SHA256, &hkdf::SHA256),
            (&CHACHA20_POLY1305, &TLS13_CHACHA20_POLY1305_SHA256, &hkdf::SHA256),
        ] {
            assert!(std::ptr::addr_eq(ours.hkdf_provider, hkdf), "{theirs:?}");
            let theirs = tls13(theirs);
            assert_eq!(ours.common.confidentiality_limit, theirs.common.confidentiality_limit);
            assert_eq!(ours.common.hash_provider.algorithm(), theirs.common.hash_provider.algorithm());
            assert_eq!(ours.aead_alg.key_len(), theirs.aead_alg.key_len());
        }
    }
}
