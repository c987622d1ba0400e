//! Converts arrays of `netlib_slice`, which scatter/gather functions take.

use crate::error::{Error, Result};
use crate::ffi::api::stream::netlib_slice;
use crate::ffi::args;
use crate::memory;
use crate::status::Status;

/// The maximum number of slices in one call: Linux's IOV_MAX.
const MAX_COUNT: usize = 1024;

/// The maximum number of slices whose conversion needs no allocation.
const MAX_ON_STACK: usize = 32;

/// Converts the slices and calls `call` with the result. Fails if the lengths of the slices add up to more than
/// `isize::MAX`.
///
/// # Safety
/// `slices` points to `count` initialised values, or `count` is 0. The `data` of each value points to `len` readable
/// bytes, or its `len` is 0. The array and the memory that its values refer to live across the call.
pub(crate) unsafe fn with<T>(
    slices: *const netlib_slice,
    count: usize,
    call: impl FnOnce(&[&[u8]]) -> Result<T>,
) -> Result<T> {
    if count > MAX_COUNT {
        let message = format!("count must be at most {MAX_COUNT}; it is {count}");
        return Err(Error::new(Status::InvalidArgument, message));
    }
    // SAFETY: the caller guarantees the "# Safety" conditions of this function.
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
        // SAFETY: the caller guarantees the "# Safety" conditions of this function.
        *piece = unsafe { args::slice(data, len, "data", "len") }
            .map_err(|error| error.prefixed(&format!("slices[{i}]")))?;
    }
    call(pieces)
}
