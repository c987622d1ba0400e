//! The default order of cipher suites: the fastest suite comes first, as in browsers and in Go. All supported suites
//! are strong enough, so speed decides. AES-GCM is the fastest on a processor with AES instructions. On a processor
//! without AES instructions, AES-GCM is slow and hard to implement without leaking the key through timing, so
//! ChaCha20-Poly1305 comes first.

use rustls::CipherSuite;

/// The processor features that decide the order of cipher suites.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Processor {
    /// The processor has instructions for AES and for GCM's carry-less multiplication.
    WithAes,
    WithoutAes,
}

const WITH_AES: [CipherSuite; 9] = [
    CipherSuite::TLS13_AES_128_GCM_SHA256,
    CipherSuite::TLS13_AES_256_GCM_SHA384,
    CipherSuite::TLS13_CHACHA20_POLY1305_SHA256,
    CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
    CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
    CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
    CipherSuite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
    CipherSuite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
    CipherSuite::TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
];

const WITHOUT_AES: [CipherSuite; 9] = [
    CipherSuite::TLS13_CHACHA20_POLY1305_SHA256,
    CipherSuite::TLS13_AES_128_GCM_SHA256,
    CipherSuite::TLS13_AES_256_GCM_SHA384,
    CipherSuite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
    CipherSuite::TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
    CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
    CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
    CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
    CipherSuite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
];

impl Processor {
    /// Detects the features of the current processor.
    pub(crate) fn here() -> Processor {
        #[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
        let has_aes = std::arch::is_x86_feature_detected!("aes") && std::arch::is_x86_feature_detected!("pclmulqdq");
        // On AArch64 the feature "aes" includes the carry-less multiplication.
        #[cfg(target_arch = "aarch64")]
        let has_aes = std::arch::is_aarch64_feature_detected!("aes");
        #[cfg(not(any(target_arch = "x86_64", target_arch = "x86", target_arch = "aarch64")))]
        let has_aes = false;
        if has_aes { Processor::WithAes } else { Processor::WithoutAes }
    }

    /// Returns all cipher suites in order of preference, TLS 1.3 suites before TLS 1.2 suites.
    pub(crate) fn order(self) -> &'static [CipherSuite] {
        match self {
            Processor::WithAes => &WITH_AES,
            Processor::WithoutAes => &WITHOUT_AES,
        }
    }
}
