//! Records of TLS 1.3 that are sealed where they are sent from.
//!
//! rustls asks its provider's encrypter for each record as a vector of its own, into which the plaintext is copied, and
//! copies that to where it is sent from. The encrypters here find a buffer on their thread while one is lent: they seal
//! the program's bytes into it in one pass, and give rustls a shell in place of the record, which is nothing but a header.
//! Everything else stays rustls': keys and their limits, sequence numbers, key updates, what is sealed and in what order.
//! Without a buffer, in the handshake and for alerts, they make records as rustls' own do.

use std::cell::RefCell;
use std::hint::black_box;
use std::mem::ManuallyDrop;

use aws_lc_rs::aead::{self, Aad, TlsProtocolId, TlsRecordSealingKey};
use rustls::crypto::aws_lc_rs::cipher_suite::{TLS13_AES_128_GCM_SHA256, TLS13_AES_256_GCM_SHA384};
use rustls::crypto::cipher::{
    AeadKey, Iv, MessageDecrypter, MessageEncrypter, NONCE_LEN, Nonce, OutboundChunks, OutboundOpaqueMessage,
    OutboundPlainMessage, PrefixedPayload, Tls13AeadAlgorithm, UnsupportedOperationError, make_tls13_aad,
};
use rustls::unbuffered::EncryptError;
use rustls::{ConnectionTrafficSecrets, ContentType, Error, ProtocolVersion};
use zeroize::Zeroizing;

use super::pool::RecordBuffer;
use super::record::{HEADER_SIZE, RECORD_SIZE, WRITE_SIZE};
use super::suites::tls13;

/// Behind the plaintext: its type, which is sealed with it, and the tag.
const TRAILER_SIZE: usize = 1 + 16;

/// What a record has beside its plaintext.
pub(crate) const OVERHEAD: usize = HEADER_SIZE + TRAILER_SIZE;

/// The most records that are sealed into a buffer at once.
pub(crate) const RECORDS: usize = WRITE_SIZE / RECORD_SIZE;

pub(crate) static AES_256_GCM: Sealing =
    Sealing { algorithm: &aead::AES_256_GCM, inner: tls13(&TLS13_AES_256_GCM_SHA384).aead_alg };
pub(crate) static AES_128_GCM: Sealing =
    Sealing { algorithm: &aead::AES_128_GCM, inner: tls13(&TLS13_AES_128_GCM_SHA256).aead_alg };

/// A buffer that is lent to the encrypters of a thread.
struct LentBuffer {
    buffer: RecordBuffer,
    /// How many records were sealed into it.
    records: usize,
    /// There was no room, or the key refused: what rustls has instead of the record is good for nothing.
    failed: bool,
}

thread_local! {
    // Without a destructor, which would keep the library loaded as long as the thread: whoever lends takes back.
    static LENT: RefCell<ManuallyDrop<Option<LentBuffer>>> = const { RefCell::new(ManuallyDrop::new(None)) };
}

/// Takes back what is lent, also when rustls panics: the next record of this thread may be another session's. What was in
/// the buffer before is lost then, with a session that nobody knows the state of.
struct LoanGuard;

impl LoanGuard {
    fn end(&self) -> Option<LentBuffer> {
        LENT.with_borrow_mut(|lent| lent.take())
    }
}

impl Drop for LoanGuard {
    fn drop(&mut self) {
        self.end();
    }
}

/// What became of data that was to be sealed into a buffer.
pub(crate) enum Outcome {
    Sealed,
    /// Nothing was encrypted of the data: the suite is not one of these, or rustls has something to send first.
    NotStarted,
    /// Nor was it now, nor will it be: the keys are used up.
    KeysExhausted,
    /// Some of it was, perhaps, and the session can do nothing any more.
    Failed,
}

/// Lends `buffer`, which must have room for them, while `encrypt` makes so many records of application data.
pub(crate) fn seal(
    buffer: RecordBuffer,
    records: usize,
    encrypt: impl FnOnce(&mut [u8]) -> Result<usize, EncryptError>,
) -> (Option<RecordBuffer>, Outcome) {
    let mut placeholders = [0; RECORDS * HEADER_SIZE];
    // Room for the shells and no more: what rustls has queued must be sent before them, and does not fit.
    let placeholders = placeholders.get_mut(..records * HEADER_SIZE).unwrap_or(&mut []);
    let guard = LoanGuard;
    LENT.with_borrow_mut(|lent| {
        debug_assert!(lent.is_none());
        **lent = Some(LentBuffer { buffer, records: 0, failed: false });
    });
    let written = encrypt(placeholders);
    let Some(lent) = guard.end() else { return (None, Outcome::Failed) };
    let outcome = match written {
        Ok(written) if written == placeholders.len() && lent.records == records && !lent.failed => Outcome::Sealed,
        Ok(_) => Outcome::Failed,
        Err(EncryptError::InsufficientSize(_)) => Outcome::NotStarted,
        Err(EncryptError::EncryptExhausted) => Outcome::KeysExhausted,
    };
    (Some(lent.buffer), outcome)
}

/// AES-GCM of a suite.
pub(crate) struct Sealing {
    algorithm: &'static aead::Algorithm,
    /// rustls' own, which does the rest.
    inner: &'static dyn Tls13AeadAlgorithm,
}

impl Tls13AeadAlgorithm for Sealing {
    fn encrypter(&self, key: AeadKey, iv: Iv) -> Box<dyn MessageEncrypter> {
        match TlsRecordSealingKey::new(self.algorithm, TlsProtocolId::TLS13, key.as_ref()) {
            Ok(key) => Box::new(Sealer { key, iv }),
            Err(_) => self.inner.encrypter(key, iv),
        }
    }

    fn decrypter(&self, key: AeadKey, iv: Iv) -> Box<dyn MessageDecrypter> {
        self.inner.decrypter(key, iv)
    }

    fn key_len(&self) -> usize {
        self.inner.key_len()
    }

    fn extract_keys(&self, key: AeadKey, iv: Iv) -> Result<ConnectionTrafficSecrets, UnsupportedOperationError> {
        self.inner.extract_keys(key, iv)
    }

    fn fips(&self) -> bool {
        self.inner.fips()
    }
}

struct Sealer {
    key: TlsRecordSealingKey,
    iv: Iv,
}

impl Drop for Sealer {
    /// The key wipes itself.
    fn drop(&mut self) {
        self.iv = Iv::new([0; NONCE_LEN]);
        black_box(&mut self.iv);
    }
}

impl Sealer {
    fn nonce(&self, seq: u64) -> aead::Nonce {
        aead::Nonce::assume_unique_for_key(Nonce::new(&self.iv, seq).0)
    }

    /// Seals a record of application data behind what is in `buffer`. False: it did not come to that.
    fn seal_behind(&mut self, buffer: &mut RecordBuffer, plaintext: &[u8], seq: u64) -> bool {
        let payload_size = plaintext.len() + TRAILER_SIZE;
        let Some((header, payload)) = buffer
            .space()
            .get_mut(..HEADER_SIZE + payload_size)
            .and_then(|record| record.split_first_chunk_mut::<HEADER_SIZE>())
        else {
            return false;
        };
        let (ciphertext, trailer) = payload.split_at_mut(plaintext.len());
        // What is authenticated besides is the header (RFC 8446 section 5.2).
        *header = make_tls13_aad(payload_size);
        let typ = ContentType::ApplicationData.to_array();
        let (nonce, aad) = (self.nonce(seq), Aad::from(*header));
        let sealed = self.key.seal_out_of_place_scatter(nonce, aad, plaintext, ciphertext, &typ, trailer).is_ok();
        if sealed {
            buffer.add(HEADER_SIZE + payload_size);
        }
        sealed
    }

    /// As rustls' own does it.
    fn record(&mut self, message: &OutboundPlainMessage<'_>, seq: u64) -> Result<PrefixedPayload, Error> {
        let payload_size = message.payload.len() + TRAILER_SIZE;
        let mut payload = PrefixedPayload::with_capacity(payload_size);
        payload.extend_from_chunks(&message.payload);
        payload.extend_from_slice(&message.typ.to_array());
        let (nonce, aad) = (self.nonce(seq), Aad::from(make_tls13_aad(payload_size)));
        self.key.seal_in_place_append_tag(nonce, aad, &mut payload).map_err(|_| Error::EncryptError)?;
        Ok(payload)
    }
}

impl MessageEncrypter for Sealer {
    fn encrypt(&mut self, message: OutboundPlainMessage<'_>, seq: u64) -> Result<OutboundOpaqueMessage, Error> {
        let is_sealed = LENT.with_borrow_mut(|lent| match &mut **lent {
            Some(lent) if message.typ == ContentType::ApplicationData => {
                let sealed = match &message.payload {
                    OutboundChunks::Single(plaintext) => self.seal_behind(&mut lent.buffer, plaintext, seq),
                    pieces => self.seal_behind(&mut lent.buffer, &Zeroizing::new(pieces.to_vec()), seq),
                };
                lent.records += 1;
                lent.failed |= !sealed;
                true
            }
            _ => false,
        });
        let payload = if is_sealed { PrefixedPayload::with_capacity(0) } else { self.record(&message, seq)? };
        Ok(OutboundOpaqueMessage::new(ContentType::ApplicationData, ProtocolVersion::TLSv1_2, payload))
    }

    fn encrypted_payload_len(&self, payload_len: usize) -> usize {
        // Of a shell, while a buffer is lent: what asks then is the check of the room that [`seal`] gives, in which nothing
        // but shells has any.
        if LENT.with_borrow(|lent| lent.is_some()) { 0 } else { payload_len + TRAILER_SIZE }
    }
}

#[cfg(test)]
mod tests;
