//! Allocates memory for data whose size the caller chooses. If memory runs out, these functions return an error; a
//! failed allocation of the standard library would abort the process.

use std::ffi::CString;
use std::hint::black_box;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::status::Status;

/// Copies `bytes`, and fails if memory runs out. `what` names the data in the error message, for example "a body".
pub(crate) fn copy(bytes: &[u8], what: &str) -> Result<Vec<u8>> {
    let mut copy = Vec::new();
    reserve(&mut copy, bytes.len(), what)?;
    copy.extend_from_slice(bytes);
    Ok(copy)
}

/// Copies `bytes` and appends a NUL. The caller has checked that `bytes` contains no NUL; a NUL would end the text
/// early.
pub(crate) fn copy_c_string(bytes: &[u8], what: &str) -> Result<CString> {
    let text = bytes.split(|&byte| byte == 0).next().unwrap_or_default();
    let mut copy = Vec::new();
    reserve(&mut copy, text.len() + 1, what)?;
    copy.extend_from_slice(text);
    copy.push(0);
    Ok(CString::from_vec_with_nul(copy).unwrap_or_default())
}

/// Reserves memory for exactly `more` further elements.
pub(crate) fn reserve<T>(list: &mut Vec<T>, more: usize, what: &str) -> Result<()> {
    list.try_reserve_exact(more).map_err(|_| out_of_memory_error(more.saturating_mul(size_of::<T>()), what))
}

/// Reserves memory for `more` further elements in a list that will grow again.
pub(crate) fn grow<T>(list: &mut Vec<T>, more: usize, what: &str) -> Result<()> {
    list.try_reserve(more).map_err(|_| out_of_memory_error(more.saturating_mul(size_of::<T>()), what))
}

pub(crate) fn push<T>(list: &mut Vec<T>, element: T, what: &str) -> Result<()> {
    grow(list, 1, what)?;
    list.push(element);
    Ok(())
}

/// Returns a mutable reference to a shared value. A value with other owners is first replaced by the copy that `copy`
/// makes.
pub(crate) fn make_mut<T: Clone>(shared: &mut Arc<T>, copy: impl FnOnce(&T) -> Result<T>) -> Result<&mut T> {
    if Arc::get_mut(shared).is_none() {
        *shared = Arc::new(copy(shared)?);
    }
    // The value has one owner now, so this call does not clone it.
    Ok(Arc::make_mut(shared))
}

/// Does what [`grow`] does, and wipes the old allocation when a larger one replaces it.
pub(crate) fn grow_wiping(list: &mut Vec<u8>, more: usize, what: &str) -> Result<()> {
    if list.capacity() - list.len() >= more {
        return Ok(());
    }
    let mut larger = Vec::new();
    reserve(&mut larger, list.len().saturating_add(more).max(list.capacity().saturating_mul(2)), what)?;
    larger.extend_from_slice(list);
    wipe(list);
    *list = larger;
    Ok(())
}

/// Overwrites memory that may contain a secret, before the memory is freed. The crate zeroize writes byte by byte,
/// which takes ten times as long for a record buffer.
pub(crate) fn wipe(bytes: &mut [u8]) {
    bytes.fill(0);
    // Without `black_box`, the compiler could remove the writes, because no code reads the overwritten memory.
    black_box(bytes);
}

/// Bytes that are followed by a NUL, and wiped when they are dropped.
pub(crate) struct TerminatedBytes(Vec<u8>);

impl TerminatedBytes {
    pub(crate) fn new(mut bytes: Vec<u8>) -> Result<TerminatedBytes> {
        grow_wiping(&mut bytes, 1, "text")?;
        bytes.push(0);
        Ok(TerminatedBytes(bytes))
    }

    pub(crate) fn with_nul(&self) -> &[u8] {
        &self.0
    }
}

impl Drop for TerminatedBytes {
    fn drop(&mut self) {
        wipe(&mut self.0);
    }
}

/// Fails if `bytes` bytes of memory are not available now. Called before code whose allocations abort the process on
/// failure, because memory that is available now is probably still available in that code.
pub(crate) fn check_available(bytes: usize, what: &str) -> Result<()> {
    let mut room: Vec<u8> = Vec::new();
    reserve(&mut room, bytes, what)?;
    // Keeps the compiler from removing the unused allocation.
    black_box(&mut room);
    Ok(())
}

fn out_of_memory_error(bytes: usize, what: &str) -> Error {
    Error::new(Status::OutOfMemory, format!("no memory for {what} of {bytes} bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allocations_larger_than_memory_fail_with_an_error() {
        let mut list: Vec<u64> = Vec::new();
        let error = reserve(&mut list, usize::MAX / 16, "a list").unwrap_err();
        assert_eq!(error.status(), Status::OutOfMemory);
        assert_eq!(error.message(), format!("no memory for a list of {} bytes", usize::MAX / 16 * 8));
        assert_eq!(check_available(usize::MAX / 2, "x").unwrap_err().status(), Status::OutOfMemory);
        let mut bytes = vec![1; 3];
        let error = grow_wiping(&mut bytes, usize::MAX / 2, "a list").unwrap_err();
        assert_eq!((error.status(), &bytes[..]), (Status::OutOfMemory, &[1; 3][..]));
        grow_wiping(&mut bytes, 100, "a list").unwrap();
        assert!(bytes == [1; 3] && bytes.capacity() >= 103);
        check_available(1, "x").unwrap();
        assert_eq!(copy(b"ab", "x").unwrap(), b"ab");
        assert_eq!(copy_c_string(b"ab", "x").unwrap(), c"ab".to_owned());
    }
}
