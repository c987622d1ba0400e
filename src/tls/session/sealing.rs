//! Encrypts application data of TLS 1.3 directly into the send buffer.
//!
//! rustls' encrypters return each record as a new vector: they copy the plaintext into the vector, and rustls copies
//! the record into the send buffer. Instead of new vectors, the encrypters in this module use a buffer that is lent to
//! the current thread. The caller's bytes are encrypted into that buffer in one pass. rustls gets only a placeholder,
//! which consists of a record header without content. rustls still controls keys and their limits, sequence numbers,
//! key updates, and the order of encryption. Without a lent buffer, for handshake messages and alerts, the encrypters
//! create records as rustls' own encrypters do.

use std::cell::RefCell;
use std::hint::black_box;
use std::mem::ManuallyDrop;

use aws_lc_rs::aead::{self, Aad, TlsProtocolId, TlsRecordSealingKey};
use rustls::crypto::aws_lc_rs::cipher_suite::{TLS13_AES_128_GCM_SHA256, TLS13_AES_256_GCM_SHA384};
use rustls::crypto::cipher::{
    AeadKey, Iv, MessageDecrypter, MessageEncrypter, NONCE_LEN, Nonce, OutboundChunks, OutboundOpaqueMessage,
    OutboundPlainMessage, PrefixedPayload, Tls13AeadAlgorithm, UnsupportedOperationError, make_tls13_aad,
};
use rustls::{ConnectionTrafficSecrets, ContentType, Error, ProtocolVersion};
use zeroize::Zeroizing;

use super::pool::RecordBuffer;
use super::record::{HEADER_SIZE, RECORD_SIZE, WRITE_SIZE};
use super::suites::tls13;

/// The total size of the content type and the tag, which follow the plaintext.
const TRAILER_SIZE: usize = 1 + 16;

/// The number of bytes in a record besides its plaintext.
pub(crate) const OVERHEAD: usize = HEADER_SIZE + TRAILER_SIZE;

/// The maximum number of records that are encrypted into a buffer at once.
pub(crate) const RECORDS: usize = WRITE_SIZE / RECORD_SIZE;

pub(crate) static AES_256_GCM: Sealing =
    Sealing { algorithm: &aead::AES_256_GCM, inner: tls13(&TLS13_AES_256_GCM_SHA384).aead_alg };
pub(crate) static AES_128_GCM: Sealing =
    Sealing { algorithm: &aead::AES_128_GCM, inner: tls13(&TLS13_AES_128_GCM_SHA256).aead_alg };

/// A buffer that is lent to the encrypters of a thread.
struct LentBuffer {
    buffer: RecordBuffer,
    /// The number of records encrypted into the buffer.
    records: usize,
    /// A record did not fit, or its encryption failed, so rustls has placeholders without records.
    failed: bool,
}

thread_local! {
    // The value has no destructor, because a destructor would keep the library loaded while the thread lives.
    // `LoanGuard` takes the value back.
    static LENT: RefCell<ManuallyDrop<Option<LentBuffer>>> = const { RefCell::new(ManuallyDrop::new(None)) };
}

/// Takes the lent buffer back even if rustls panics, because the next record that this thread encrypts may belong to
/// another session. After a panic the buffer's contents are lost, because the state of the session is unknown.
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

/// The result of [`seal`].
pub(crate) enum Outcome {
    Sealed,
    /// No data was encrypted: the cipher suite has no encrypter of this module, or rustls must send another message
    /// before the data.
    NotStarted,
    /// No data was encrypted: the keys have reached their usage limit.
    KeysExhausted,
    /// Some data may have been encrypted, and the session cannot be used any more.
    Failed,
}

/// The reason why rustls did not encrypt the data.
pub(crate) enum EncryptFailure {
    NoRoom,
    KeysExhausted,
}

/// Lends `buffer` while `encrypt` encrypts `records` records of application data. The buffer must have space for these
/// records.
pub(crate) fn seal(
    buffer: RecordBuffer,
    records: usize,
    encrypt: impl FnOnce(&mut [u8]) -> Result<usize, EncryptFailure>,
) -> (Option<RecordBuffer>, Outcome) {
    let mut placeholders = [0; RECORDS * HEADER_SIZE];
    // rustls gets space for exactly the placeholders. If rustls must send another message before the data, that message
    // does not fit, and `encrypt` fails with `NoRoom`.
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
        Err(EncryptFailure::NoRoom) => Outcome::NotStarted,
        Err(EncryptFailure::KeysExhausted) => Outcome::KeysExhausted,
    };
    (Some(lent.buffer), outcome)
}

/// The AES-GCM encryption of a cipher suite.
pub(crate) struct Sealing {
    algorithm: &'static aead::Algorithm,
    /// rustls' own algorithm, used for decryption and if aws-lc refuses the key.
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
    /// Wipes the IV of the encrypter. The key wipes itself.
    fn drop(&mut self) {
        self.iv = Iv::new([0; NONCE_LEN]);
        black_box(&mut self.iv);
    }
}

impl Sealer {
    fn nonce(&self, seq: u64) -> aead::Nonce {
        aead::Nonce::assume_unique_for_key(Nonce::new(&self.iv, seq).0)
    }

    /// Encrypts a record of application data after the bytes in `buffer`. Returns false on failure.
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
        // The header is the additional data (RFC 8446 section 5.2).
        *header = make_tls13_aad(payload_size);
        let typ = ContentType::ApplicationData.to_array();
        let (nonce, aad) = (self.nonce(seq), Aad::from(*header));
        let sealed = self.key.seal_out_of_place_scatter(nonce, aad, plaintext, ciphertext, &typ, trailer).is_ok();
        if sealed {
            buffer.add(HEADER_SIZE + payload_size);
        }
        sealed
    }

    /// Creates a record as rustls' own encrypter does.
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
        // While a buffer is lent, rustls uses this length to check the space for placeholders, whose payload is empty.
        if LENT.with_borrow(|lent| lent.is_some()) { 0 } else { payload_len + TRAILER_SIZE }
    }
}

#[cfg(test)]
mod tests;
