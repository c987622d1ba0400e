//! Defines the sizes of TLS records.

/// The maximum size of the plaintext in one record.
pub(crate) const RECORD_SIZE: usize = 16 * 1024;

/// The maximum size of the plaintext that one call encrypts: four records, which fit in one buffer.
pub(crate) const WRITE_SIZE: usize = 4 * RECORD_SIZE;

pub(crate) const HEADER_SIZE: usize = 5;

/// Returns the size of the record at the front of `bytes`, header included, if the record is complete.
pub(crate) fn whole_record(bytes: &[u8]) -> Option<usize> {
    let [_, _, _, high, low, ..] = *bytes else { return None };
    let size = HEADER_SIZE + usize::from(u16::from_be_bytes([high, low]));
    (bytes.len() >= size).then_some(size)
}
