//! The order in which suites are offered when nobody asked for another: the fastest first, as in browsers and in Go. All
//! are strong enough, so that the best is the one that costs least. AES-GCM is that where the processor has instructions for
//! it; in software it is slow, and hard to write without a trace of the key in its timing, and ChaCha20-Poly1305 is neither.

use rustls::CipherSuite;

/// What the order depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Processor {
    /// It has instructions for AES, and for the multiplication of GCM.
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
    /// The one that this runs on.
    pub(crate) fn here() -> Processor {
        #[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
        let has_aes = std::arch::is_x86_feature_detected!("aes") && std::arch::is_x86_feature_detected!("pclmulqdq");
        // There the one feature stands for both.
        #[cfg(target_arch = "aarch64")]
        let has_aes = std::arch::is_aarch64_feature_detected!("aes");
        #[cfg(not(any(target_arch = "x86_64", target_arch = "x86", target_arch = "aarch64")))]
        let has_aes = false;
        if has_aes { Processor::WithAes } else { Processor::WithoutAes }
    }

    /// The most wanted first; those of TLS 1.3 before the others.
    pub(crate) fn order(self) -> &'static [CipherSuite] {
        match self {
            Processor::WithAes => &WITH_AES,
            Processor::WithoutAes => &WITHOUT_AES,
        }
    }
}
