//! Provides HKDF (RFC 5869) for the key schedule of TLS 1.3: the provider's expansion, and an extraction that wipes its
//! salt.
//!
//! The provider's own extraction frees its salt without wiping it. TLS 1.3 derives its salts from secrets: an attacker
//! who has the salt of the master secret can compute the master secret.

use rustls::Tls13CipherSuite;
use rustls::crypto::aws_lc_rs::cipher_suite::{TLS13_AES_128_GCM_SHA256, TLS13_AES_256_GCM_SHA384};
use rustls::crypto::hmac::Tag;
use rustls::crypto::tls13::{self, HkdfExpander, OkmBlock};

use super::suites::tls13;

pub(crate) static SHA256: Hkdf = Hkdf(tls13(&TLS13_AES_128_GCM_SHA256));
pub(crate) static SHA384: Hkdf = Hkdf(tls13(&TLS13_AES_256_GCM_SHA384));

/// HKDF with the hash function of a cipher suite.
pub(crate) struct Hkdf(&'static Tls13CipherSuite);

impl tls13::Hkdf for Hkdf {
    fn extract_from_zero_ikm(&self, salt: Option<&[u8]>) -> Box<dyn HkdfExpander> {
        let hash_len = self.0.common.hash_provider.output_len();
        self.extract_from_secret(salt, &[0; OkmBlock::MAX_LEN][..hash_len])
    }

    /// Extracts a key. Panics if the salt has more than 64 bytes. A salt of TLS 1.3 is as long as the hash, which has
    /// at most 48 bytes.
    fn extract_from_secret(&self, salt: Option<&[u8]>, secret: &[u8]) -> Box<dyn HkdfExpander> {
        // HMAC pads a short key with zeros, so an empty salt equals a salt of zeros.
        let salt = OkmBlock::new(salt.unwrap_or(&[]));
        let key = self.hmac_sign(&salt, secret);
        self.expander_for_okm(&OkmBlock::new(key.as_ref()))
    }

    fn expander_for_okm(&self, okm: &OkmBlock) -> Box<dyn HkdfExpander> {
        self.0.hkdf_provider.expander_for_okm(okm)
    }

    fn hmac_sign(&self, key: &OkmBlock, message: &[u8]) -> Tag {
        self.0.hkdf_provider.hmac_sign(key, message)
    }
}

#[cfg(test)]
mod tests {
    use rustls::crypto::tls13::Hkdf as _;

    use super::*;

    fn bytes(hex: &str) -> Vec<u8> {
        hex.as_bytes().chunks(2).map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
    }

    /// RFC 5869, appendix A.1 and A.3: SHA-256 with and without a salt.
    #[test]
    fn hkdf_outputs_equal_the_test_vectors_of_rfc_5869() {
        let cases = [
            (
                Some((0..=0x0c).collect::<Vec<u8>>()),
                (0xf0..=0xf9).collect::<Vec<u8>>(),
                "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865",
            ),
            (
                None,
                Vec::new(),
                "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8",
            ),
        ];
        for (salt, info, expected) in cases {
            let mut output = [0; 42];
            SHA256.extract_from_secret(salt.as_deref(), &[0x0b; 22]).expand_slice(&[&info], &mut output).unwrap();
            assert_eq!(output[..], bytes(expected));
        }
    }

    #[test]
    fn hkdf_gives_the_same_keys_as_the_crypto_provider() {
        /// Lengths of salts and secrets, some of them near the output length of SHA-256 (32), its block length (64) or
        /// the output length of SHA-384 (48).
        const LENGTHS: [usize; 11] = [0, 1, 31, 32, 33, 47, 48, 49, 63, 64, 300];
        let pattern = |seed: usize, len: usize| (0..len).map(|i| (seed + i * 7) as u8).collect::<Vec<u8>>();
        for (ours, suite) in [(&SHA256, &TLS13_AES_128_GCM_SHA256), (&SHA384, &TLS13_AES_256_GCM_SHA384)] {
            let theirs = tls13(suite).hkdf_provider;
            let compare = |ours: Box<dyn HkdfExpander>, theirs: Box<dyn HkdfExpander>, salt: Option<&[u8]>| {
                assert_eq!(ours.hash_len(), theirs.hash_len());
                let outputs = [ours, theirs].map(|expander| expander.expand_block(&[b"one ", b"info"]));
                assert_eq!(outputs[0].as_ref(), outputs[1].as_ref(), "{salt:?}");
            };
            let salts = LENGTHS.into_iter().filter(|len| *len <= OkmBlock::MAX_LEN).map(|len| Some(pattern(5, len)));
            for salt in salts.chain([None]) {
                let salt = salt.as_deref();
                compare(ours.extract_from_zero_ikm(salt), theirs.extract_from_zero_ikm(salt), salt);
                for secret in LENGTHS.map(|len| pattern(9, len)) {
                    compare(ours.extract_from_secret(salt, &secret), theirs.extract_from_secret(salt, &secret), salt);
                }
            }
        }
    }
}
