//! The types that the three kinds of breaker share.

use crate::error::{Error, Result};
use crate::overload::key_table::{KeyTable, Slot};
use crate::status::Status;

/// The state of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CircuitState {
    /// Requests are permitted.
    Closed = 0,
    /// Requests are refused.
    Open = 1,
    /// Some requests are permitted.
    HalfOpen = 2,
}

/// The answer of one kind of breaker.
pub(super) enum Answer {
    Permit(Permit),
    Refuse { seconds: f64 },
}

/// A request that was permitted and whose outcome is not known yet.
#[derive(Clone, Copy)]
pub(super) struct Permit {
    pub(super) slot: Slot,
    /// The round of the key in which the request was permitted, or the number of the bucket in which it was counted.
    pub(super) mark: u64,
}

/// Finds or adds the state of a key in the table of one kind of breaker. If there are too many keys, a new key
/// preferably replaces a closed key.
pub(super) fn find_or_add<'a, T>(
    table: &'a mut KeyTable<T>,
    key: &[u8],
    make: impl FnOnce() -> T,
    mut is_closed: impl FnMut(&mut T) -> bool,
) -> Result<(Slot, &'a mut T)> {
    let slot = table.find_or_add(key, make, |state| !is_closed(state))?;
    let state = table.get_mut(slot).ok_or_else(|| Error::new(Status::Internal, "the state of a key was lost"))?;
    Ok((slot, state))
}
