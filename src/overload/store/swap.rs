//! A store whose words the application keeps, for example on a server. The application supplies a compare-and-swap.

use std::time::Instant;

use super::{Change, WordKey, WordKind, unavailable};
use crate::error::{Error, Result};
use crate::limit::{deadline_after, earlier};
use crate::overload::key_table::{MAX_KEY_LENGTH, check_key};
use crate::status::Status;

/// The application's compare-and-swap.
pub(crate) type Swap = Box<dyn Fn(SwapRequest<'_>) -> Result<SwapAnswer> + Send + Sync>;

/// A request to replace the word of `key` with `desired` if the word is `expected`. A key without a word has the word
/// 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SwapRequest<'a> {
    pub key: &'a [u8],
    pub expected: u64,
    pub desired: u64,
    pub time_to_live: f64,
    /// The seconds after which the answer is ignored.
    pub timeout: f64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct SwapAnswer {
    pub result: SwapResult,
    /// The store's time in seconds. Not used if the store is unavailable.
    pub now: f64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum SwapResult {
    Swapped,
    /// The word was not the expected one. Holds the word.
    Changed(u64),
    Unavailable,
}

/// The maximum number of callback calls for one update. A call must be repeated if another thread or process has
/// changed the word since the previous call. Some thread makes progress each time, so an update rarely needs more than
/// a few calls.
const MAX_CALLS: usize = 64;

/// The latest time in seconds that a store may report: about 570 years, which fits into 64 bits as nanoseconds.
const MAX_NOW: f64 = 1.8e10;

pub(super) struct SwapStore {
    swap: Swap,
    timeout: f64,
}

impl SwapStore {
    pub(super) fn new(swap: Swap, timeout: f64) -> Result<SwapStore> {
        if timeout > 0.0 {
            return Ok(SwapStore { swap, timeout });
        }
        let message = format!("timeout must be more than 0, or NETLIB_TIMEOUT_NONE; it is {timeout}");
        Err(Error::new(Status::InvalidArgument, message))
    }

    /// Updates a word with `change` until `deadline`. `clock` is the clock of this process, which measures the timeout.
    pub(super) fn update(
        &self,
        word: WordKey<'_>,
        deadline: Option<Instant>,
        clock: impl Fn() -> Instant,
        change: &mut Change<'_>,
    ) -> Result<()> {
        let mut buffer = [0; PREFIX_LENGTH + MAX_KEY_LENGTH];
        let key = prefixed_key(word, &mut buffer)?;
        let deadline = earlier(deadline, deadline_after(self.timeout));
        // The first call reads the word, because it replaces only 0, and only by 0.
        let (mut expected, mut desired) = (0, 0);
        for calls in 0..MAX_CALLS {
            let timeout = deadline.map_or(f64::INFINITY, |at| at.saturating_duration_since(clock()).as_secs_f64());
            if timeout <= 0.0 {
                return Err(unavailable(format!("the store's time was up after {calls} calls of the swap callback")));
            }
            let request = SwapRequest { key, expected, desired, time_to_live: word.time_to_live, timeout };
            let SwapAnswer { result, now } = (self.swap)(request)?;
            let current = match result {
                SwapResult::Unavailable => {
                    return Err(unavailable("the swap callback reported that it is unavailable"));
                }
                SwapResult::Swapped if desired != expected => return Ok(()),
                SwapResult::Swapped => expected,
                SwapResult::Changed(word) if word != expected => word,
                SwapResult::Changed(word) => {
                    let message = format!("the swap callback reported that the word changed from {word} to {word}");
                    return Err(Error::new(Status::CallbackFailed, message));
                }
            };
            match change(current, nanoseconds(now)?) {
                Some(next) if next != current => (expected, desired) = (current, next),
                _ => return Ok(()),
            }
        }
        Err(unavailable(format!(
            "the word was changed by others during each of {MAX_CALLS} calls of the swap callback"
        )))
    }
}

/// Converts the time that the application reported.
fn nanoseconds(now: f64) -> Result<u64> {
    if !(0.0..=MAX_NOW).contains(&now) {
        let message = format!("the swap callback reported the time {now}; it must report 0 to {MAX_NOW} seconds");
        return Err(Error::new(Status::CallbackFailed, message));
    }
    Ok((now * 1e9) as u64)
}

const PREFIX_LENGTH: usize = 7;

/// Returns the key with the name of its kind before it, because words of different kinds must not share a key.
fn prefixed_key<'a>(word: WordKey<'_>, buffer: &'a mut [u8; PREFIX_LENGTH + MAX_KEY_LENGTH]) -> Result<&'a [u8]> {
    check_key(word.key)?;
    let prefix: &[u8] = match word.kind {
        WordKind::Budget => b"budget:",
        WordKind::Rate => b"rate:",
    };
    let parts = prefix.iter().chain(word.key);
    let length = buffer.iter_mut().zip(parts).map(|(place, byte)| *place = *byte).count();
    Ok(buffer.get(..length).unwrap_or_default())
}

#[cfg(test)]
mod tests;
