//! Stores, in which processes share state: one word of 64 bits for each key.
//!
//! A word is 0 until it is changed for the first time. The budget and the rate supply pure functions that compute the
//! next word from the word and the time, and a [`Store`] replaces the word atomically. A process that dies therefore
//! leaves no half-changed state.

mod mapped_file;
mod mapping;
mod swap;

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use crate::error::{Error, Result};
use crate::limit::Limit;
use crate::status::Status;

use mapped_file::MappedFile;
use swap::SwapStore;
pub(crate) use swap::{Swap, SwapAnswer, SwapRequest, SwapResult};

/// The kinds of words. A store keeps words of different kinds apart, even if their keys are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WordKind {
    Budget,
    Rate,
}

impl WordKind {
    const COUNT: usize = 2;
}

/// A word in a store.
#[derive(Clone, Copy)]
pub(crate) struct WordKey<'a> {
    pub kind: WordKind,
    pub key: &'a [u8],
    /// The seconds without a change after which the word means the same as 0, so that the store may forget it.
    pub time_to_live: f64,
}

/// Computes the next word from the word and the store's time in nanoseconds; `None` leaves the word unchanged. A store
/// calls the function again if the word has changed in the meantime, so only the last call counts. The word may be any
/// number, and the time may be less than at an earlier call.
pub(crate) type Change<'a> = dyn FnMut(u64, u64) -> Option<u64> + 'a;

/// Words that several processes share.
pub struct Store(Backend);

enum Backend {
    File(MappedFile),
    Swap(SwapStore),
}

impl Store {
    /// Opens or creates a file that the processes of a host map into their memory.
    pub(crate) fn open_file(path: &Path, slots: usize) -> Result<Store> {
        Ok(Store(Backend::File(MappedFile::open(path, slots)?)))
    }

    /// Makes a store whose words the application keeps. `timeout` bounds the seconds of one update.
    pub(crate) fn from_swap(swap: Swap, timeout: f64) -> Result<Store> {
        Ok(Store(Backend::Swap(SwapStore::new(swap, timeout)?)))
    }

    /// Returns whether an update calls a callback, which may free the objects of the call.
    pub(crate) fn may_call_back(&self) -> bool {
        matches!(self.0, Backend::Swap(_))
    }

    /// Updates a word with `change`. Fails with `StoreUnavailable` if the store is unavailable, or does not answer
    /// before `limit` ends.
    pub(crate) fn update(&self, word: WordKey<'_>, limit: Option<&Limit>, change: &mut Change<'_>) -> Result<()> {
        match &self.0 {
            Backend::File(file) => file.update(word, change),
            Backend::Swap(swap) => swap.update(word, limit.and_then(Limit::deadline), Instant::now, change),
        }
    }
}

/// The policy of an object while its store is unavailable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnavailablePolicy {
    /// Uses a state of this process.
    #[default]
    Local = 0,
    /// Grants every request.
    Open = 1,
    /// Denies every request.
    Closed = 2,
}

impl UnavailablePolicy {
    pub fn from_code(code: i32) -> Option<UnavailablePolicy> {
        [UnavailablePolicy::Local, UnavailablePolicy::Open, UnavailablePolicy::Closed]
            .into_iter()
            .find(|policy| *policy as i32 == code)
    }
}

/// A store, and the policy for the times when the store is unavailable.
#[derive(Clone)]
pub struct SharedStore {
    store: Arc<Store>,
    policy: UnavailablePolicy,
}

/// The result of an update through a [`SharedStore`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SharedUpdate {
    /// The store was updated, and the last call of the change function has the answer.
    Updated,
    /// The store is unavailable, and the caller decides with the state of this process.
    DecideLocally,
    /// The store is unavailable, and the policy grants the request.
    Grant,
}

impl SharedStore {
    pub fn new(store: Arc<Store>, policy: UnavailablePolicy) -> SharedStore {
        SharedStore { store, policy }
    }

    pub(crate) fn may_call_back(&self) -> bool {
        self.store.may_call_back()
    }

    /// Updates a word with `change`. Fails with `StoreUnavailable` if the store is unavailable and the policy denies
    /// the request, and with `CallbackFailed` if the application's callback failed.
    pub(crate) fn update(
        &self,
        word: WordKey<'_>,
        limit: Option<&Limit>,
        change: &mut Change<'_>,
    ) -> Result<SharedUpdate> {
        match self.store.update(word, limit, change) {
            Ok(()) => Ok(SharedUpdate::Updated),
            Err(error) if error.status() != Status::StoreUnavailable => Err(error),
            Err(error) => match self.policy {
                UnavailablePolicy::Local => Ok(SharedUpdate::DecideLocally),
                UnavailablePolicy::Open => Ok(SharedUpdate::Grant),
                UnavailablePolicy::Closed => Err(error),
            },
        }
    }
}

fn unavailable(message: impl AsRef<str>) -> Error {
    Error::new(Status::StoreUnavailable, message)
}
