//! Converts data that C passes in several pieces.

use crate::error::{Error, Result};
use crate::ffi::api::tls::stream::netlib_slice;
use crate::ffi::args;
use crate::memory;
use crate::status::Status;

/// The maximum number of pieces in one call: Linux's IOV_MAX.
const MAX_COUNT: usize = 1024;

/// Up to this many pieces are described on the stack.
const MAX_ON_STACK: usize = 32;

/// Calls `call` with the pieces. The sum of their lengths fits in a `usize`.
///
/// # Safety
/// `slices` points to `count` initialised values, each of whose `data` points to `len` readable bytes; both live across
/// the call. Or a count or length is 0.
pub(crate) unsafe fn with<T>(
    slices: *const netlib_slice,
    count: usize,
    call: impl FnOnce(&[&[u8]]) -> Result<T>,
) -> Result<T> {
    if count > MAX_COUNT {
        let message = format!("count must be at most {MAX_COUNT}; it is {count}");
        return Err(Error::new(Status::InvalidArgument, message));
    }
    // SAFETY: the caller's promise.
    let slices = unsafe { args::slice(slices, count, "slices", "count") }?;
    let mut few: [&[u8]; MAX_ON_STACK] = [&[]; MAX_ON_STACK];
    let mut many = Vec::new();
    let pieces = if let Some(few) = few.get_mut(..count) {
        few
    } else {
        memory::reserve(&mut many, count, "slices")?;
        many.resize(count, &[][..]);
        &mut many[..]
    };
    let total = slices.iter().try_fold(0_usize, |total, slice| total.checked_add(slice.len));
    if total.is_none_or(|total| total > isize::MAX as usize) {
        let message = "the lengths of the slices add up to more than memory can hold";
        return Err(Error::new(Status::InvalidArgument, message));
    }
    for (i, (piece, slice)) in pieces.iter_mut().zip(slices).enumerate() {
        let (data, len): (*const u8, usize) = (slice.data.cast(), slice.len);
        // SAFETY: the caller's promise.
        *piece = unsafe { args::slice(data, len, "data", "len") }
            .map_err(|error| error.prefixed(&format!("slices[{i}]")))?;
    }
    call(pieces)
}
