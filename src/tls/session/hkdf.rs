//! HKDF (RFC 5869) for the key schedule of TLS 1.3, on the provider's HMAC.
//!
//! The provider's implementation repeats the extraction and the setup of the HMAC for each expansion. This
//! implementation does both once per secret, so a resumed handshake computes a quarter fewer hashes.

use std::sync::Mutex;

use aws_lc_rs::hmac::{self, Key};
use rustls::crypto::hmac::Tag;
use rustls::crypto::tls13::{self, HkdfExpander, OkmBlock, OutputLengthError};
use smallvec::{SmallVec, smallvec};
use zeroize::{Zeroize, Zeroizing};

pub(crate) static SHA256: Hkdf = Hkdf(hmac::HMAC_SHA256);
pub(crate) static SHA384: Hkdf = Hkdf(hmac::HMAC_SHA384);

fn sign(key: &Key, message: &[u8]) -> OkmBlock {
    let mut buffer = Zeroizing::new([0; OkmBlock::MAX_LEN]);
    OkmBlock::new(hmac::sign_to_buffer(key, message, &mut *buffer).expect("there is room for any tag"))
}

/// HKDF with the HMAC of a hash.
pub(crate) struct Hkdf(hmac::Algorithm);

impl Hkdf {
    fn expander(&self, prk: &OkmBlock) -> Box<dyn HkdfExpander> {
        let mut room = HMAC_SLOTS.take();
        room.push(Key::new(self.0, prk.as_ref()));
        Box::new(Expander { room })
    }
}

impl tls13::Hkdf for Hkdf {
    fn extract_from_zero_ikm(&self, salt: Option<&[u8]>) -> Box<dyn HkdfExpander> {
        self.extract_from_secret(salt, &[0; OkmBlock::MAX_LEN][..self.0.tag_len()])
    }

    fn extract_from_secret(&self, salt: Option<&[u8]>, secret: &[u8]) -> Box<dyn HkdfExpander> {
        // HMAC pads a short key with zeros, so an empty salt equals a salt of zeros.
        let salt = Key::new(self.0, salt.unwrap_or(&[]));
        self.expander(&sign(&salt, secret))
    }

    fn expander_for_okm(&self, okm: &OkmBlock) -> Box<dyn HkdfExpander> {
        self.expander(okm)
    }

    fn hmac_sign(&self, key: &OkmBlock, message: &[u8]) -> Tag {
        Tag::new(sign(&Key::new(self.0, key.as_ref()), message).as_ref())
    }
}

/// A pseudorandom key, stored as an HMAC that is keyed with it.
struct Expander {
    /// Always holds exactly one HMAC.
    room: HmacSlot,
}

/// An allocation for one HMAC. It is reused because its 1.2 KiB exceed malloc(3)'s thread cache: freeing it would leave
/// gaps between longer-lived allocations.
type HmacSlot = Vec<Key>;

/// Unused slots; a handshake uses two at a time. Allocates a new slot if the lock is contended.
struct HmacSlots(Mutex<Vec<HmacSlot>>);

static HMAC_SLOTS: HmacSlots = HmacSlots(Mutex::new(Vec::new()));
const MAX_HMAC_SLOTS: usize = 8;

impl HmacSlots {
    fn take(&self) -> HmacSlot {
        self.0.try_lock().ok().and_then(|mut rooms| rooms.pop()).unwrap_or_else(|| HmacSlot::with_capacity(1))
    }

    fn give_back(&self, mut room: HmacSlot) {
        // Dropping the key wipes it.
        room.clear();
        if let Ok(mut rooms) = self.0.try_lock()
            && rooms.len() < MAX_HMAC_SLOTS
        {
            rooms.push(room);
        }
    }
}

impl Drop for Expander {
    fn drop(&mut self) {
        HMAC_SLOTS.give_back(std::mem::take(&mut self.room));
    }
}

impl Expander {
    fn key(&self) -> &Key {
        &self.room[0]
    }

    /// Expands the key into `output`, which has at most 255 blocks.
    fn fill(&self, info: &[&[u8]], output: &mut [u8]) {
        let size = self.hash_len();
        // The previous block, `info` and the block's number. `info` has at most 85 bytes in TLS, except for exporters with
        // long labels.
        let mut message: SmallVec<[u8; 160]> = smallvec![0; size];
        for piece in info {
            message.extend_from_slice(piece);
        }
        message.push(0);
        let mut start = size;
        for (number, part) in (1..=u8::MAX).zip(output.chunks_mut(size)) {
            if let Some(last) = message.last_mut() {
                *last = number;
            }
            let block = sign(self.key(), &message[start..]);
            part.copy_from_slice(&block.as_ref()[..part.len()]);
            message[..size].copy_from_slice(block.as_ref());
            start = 0;
        }
        message[..size].zeroize();
    }
}

impl HkdfExpander for Expander {
    fn expand_slice(&self, info: &[&[u8]], output: &mut [u8]) -> Result<(), OutputLengthError> {
        if output.len() > usize::from(u8::MAX) * self.hash_len() {
            return Err(OutputLengthError);
        }
        self.fill(info, output);
        Ok(())
    }

    fn expand_block(&self, info: &[&[u8]]) -> OkmBlock {
        let mut block = Zeroizing::new([0; OkmBlock::MAX_LEN]);
        let block = &mut block[..self.hash_len()];
        self.fill(info, block);
        OkmBlock::new(block)
    }

    fn hash_len(&self) -> usize {
        self.key().algorithm().tag_len()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use rustls::crypto::aws_lc_rs::cipher_suite::{TLS13_AES_128_GCM_SHA256, TLS13_AES_256_GCM_SHA384};
    use rustls::crypto::tls13::Hkdf as _;

    use super::*;
    use crate::tls::session::suites;

    fn bytes(hex: &str) -> Vec<u8> {
        hex.as_bytes().chunks(2).map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
    }

    fn run(start: u8, end: u8) -> Vec<u8> {
        (start..=end).collect()
    }

    /// RFC 5869, appendix A: the test cases for SHA-256.
    #[test]
    fn rfc_5869_test_cases() {
        let cases = [
            (
                vec![0x0b; 22],
                Some(run(0, 0x0c)),
                run(0xf0, 0xf9),
                "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865",
            ),
            (
                run(0, 0x4f),
                Some(run(0x60, 0xaf)),
                run(0xb0, 0xff),
                "b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c59045a99cac7827271cb41c65e590e09da3275600c2f09b8\
                 367793a9aca3db71cc30c58179ec3e87c14c01d5c1f3434f1d87",
            ),
            (
                vec![0x0b; 22],
                None,
                Vec::new(),
                "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8",
            ),
        ];
        for (secret, salt, info, expected) in cases {
            let expected = bytes(expected);
            let mut output = vec![0; expected.len()];
            let (one, two) = info.split_at(info.len() / 3);
            SHA256.extract_from_secret(salt.as_deref(), &secret).expand_slice(&[one, two], &mut output).unwrap();
            assert_eq!(output, expected);
        }
    }

    /// Sizes of secrets, salts and outputs around the sizes of a tag and of a hash block.
    const SIZES: [usize; 14] = [0, 1, 12, 16, 31, 32, 33, 48, 63, 64, 65, 127, 128, 300];

    fn pattern(seed: usize, len: usize) -> Vec<u8> {
        (0..len).map(|i| (seed + i * 7 + i / 251) as u8).collect()
    }

    /// Returns one block, and outputs of several sizes, from an expander; `info` is passed in pieces.
    fn expanded(expander: &dyn HkdfExpander, info_len: usize) -> Vec<Vec<u8>> {
        let info = pattern(3, info_len);
        let (first, rest) = info.split_at(info_len / 3);
        let info = [first, &[], rest];
        let slice = |&len: &usize| {
            let mut output = vec![0xee; len];
            expander.expand_slice(&info, &mut output).unwrap();
            output
        };
        let block = expander.expand_block(&info).as_ref().to_vec();
        SIZES.iter().map(slice).chain([block]).collect()
    }

    #[test]
    fn results_equal_the_providers() {
        for (ours, suite) in [(&SHA256, &TLS13_AES_128_GCM_SHA256), (&SHA384, &TLS13_AES_256_GCM_SHA384)] {
            let (ours, theirs): (&dyn tls13::Hkdf, _) = (ours, suites::tls13(suite).hkdf_provider);
            let compared = Cell::new(0);
            let compare = |make: &dyn Fn(&dyn tls13::Hkdf) -> Box<dyn HkdfExpander>, what: String| {
                let (ours, theirs) = (make(ours), make(theirs));
                assert_eq!(ours.hash_len(), theirs.hash_len());
                for info_len in SIZES {
                    assert_eq!(
                        expanded(&*ours, info_len),
                        expanded(&*theirs, info_len),
                        "{what}, info of {info_len}"
                    );
                    compared.set(compared.get() + 1);
                }
            };
            for len in SIZES {
                let some = pattern(5, len);
                let salts = [None, Some(&some[..])];
                for salt in salts {
                    compare(&|hkdf| hkdf.extract_from_zero_ikm(salt), format!("zeros, {salt:?}"));
                    for secret in SIZES.map(|len| pattern(9, len)) {
                        compare(&|hkdf| hkdf.extract_from_secret(salt, &secret), format!("{secret:?}, {salt:?}"));
                    }
                }
            }
            for len in SIZES.into_iter().filter(|len| *len <= OkmBlock::MAX_LEN) {
                let okm = OkmBlock::new(&pattern(1, len));
                compare(&|hkdf| hkdf.expander_for_okm(&okm), format!("{len}"));
                for message in SIZES.map(|len| pattern(2, len)) {
                    let tags = [ours, theirs].map(|hkdf| hkdf.hmac_sign(&okm, &message));
                    assert_eq!(tags[0].as_ref(), tags[1].as_ref(), "{len}, {message:?}");
                    compared.set(compared.get() + 1);
                }
            }
            assert_eq!(compared.get(), 14 * 2 * (1 + 14) * 14 + 10 * (14 + 14));
        }
    }

    #[test]
    fn an_output_has_at_most_255_blocks() {
        for (ours, suite) in [(&SHA256, &TLS13_AES_128_GCM_SHA256), (&SHA384, &TLS13_AES_256_GCM_SHA384)] {
            let expander = ours.extract_from_secret(None, b"secret");
            let most = 255 * expander.hash_len();
            let mut output = vec![0; most + 1];
            assert!(expander.expand_slice(&[b"info"], &mut output).is_err());
            assert_eq!(output, vec![0; most + 1]);
            expander.expand_slice(&[b"info"], &mut output[..most]).unwrap();
            let mut expected = vec![0; most];
            let theirs = suites::tls13(suite).hkdf_provider.extract_from_secret(None, b"secret");
            theirs.expand_slice(&[b"info"], &mut expected).unwrap();
            assert_eq!(output[..most], expected);
        }
    }

    #[test]
    fn returned_slots_are_emptied_and_limited_in_number() {
        let rooms = HmacSlots(Mutex::default());
        let filled = || {
            let mut room = rooms.take();
            room.push(Key::new(hmac::HMAC_SHA256, b"key"));
            room
        };
        let kept = || rooms.0.lock().unwrap().iter().map(|room| (room.len(), room.capacity())).collect::<Vec<_>>();
        let many: Vec<_> = (0..MAX_HMAC_SLOTS + 3).map(|_| filled()).collect();
        many.into_iter().for_each(|room| rooms.give_back(room));
        assert_eq!(kept(), [(0, 1); MAX_HMAC_SLOTS]);
        let room = filled();
        assert_eq!(kept().len(), MAX_HMAC_SLOTS - 1);
        rooms.give_back(room);
        assert_eq!(kept().len(), MAX_HMAC_SLOTS);
        let locked = rooms.0.lock().unwrap();
        let room = filled();
        assert_eq!(room.len(), 1);
        rooms.give_back(room);
        assert_eq!(locked.len(), MAX_HMAC_SLOTS);
    }
}
