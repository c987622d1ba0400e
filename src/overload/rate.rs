//! Rates: limits on how often an application sends requests, so that a server need not refuse them.

mod adaptive;
mod gcra;

use std::fmt;
use std::sync::Arc;

use crate::callback::Clock;
use crate::error::{Error, Result};
use crate::fork;
use crate::overload::Report;
use crate::overload::key_table::{KeyTable, check_key};
use crate::overload::store::{SharedStore, SharedUpdate, Store, UnavailablePolicy, WordKey, WordKind};
use crate::overload::time_source::{SteadyTime, TimeSource};
use crate::status::Status;

use adaptive::Adaptive;
use gcra::{Gcra, Taken};

/// The maximum number of permissions that one call takes from an adaptive rate. A larger number is a mistake of the
/// caller: the key would be blocked for decades.
const MAX_PERMISSIONS: f64 = 1e9;

/// The settings of a [`Rate`].
#[derive(Clone)]
pub struct RateOptions {
    /// `None` for an adaptive rate.
    limit: Option<Gcra>,
    max_keys: usize,
    store: Option<SharedStore>,
    clock: Option<Clock>,
}

impl RateOptions {
    pub const DEFAULT_MAX_KEYS: i32 = 1024;
    const MAX_MAX_KEYS: i32 = 1 << 20;

    pub fn set_limit(&mut self, per_second: f64, burst: f64) -> Result<()> {
        self.limit = Some(Gcra::new(per_second, burst)?);
        Ok(())
    }

    pub fn set_adaptive(&mut self) {
        self.limit = None;
    }

    pub fn set_max_keys(&mut self, max_keys: i32) -> Result<()> {
        if !(1..=RateOptions::MAX_MAX_KEYS).contains(&max_keys) {
            let max = RateOptions::MAX_MAX_KEYS;
            return Err(invalid(format!("max_keys must be 1 to {max}; it is {max_keys}")));
        }
        self.max_keys = max_keys as usize;
        Ok(())
    }

    /// Sets the store; `None` means that the process counts by itself. Returns the previous store, which the caller
    /// drops.
    pub fn set_store(&mut self, store: Option<Arc<Store>>, policy: UnavailablePolicy) -> Option<SharedStore> {
        std::mem::replace(&mut self.store, store.map(|store| SharedStore::new(store, policy)))
    }

    /// Sets the clock; `None` means the system's clock. Returns the previous clock, which the caller drops.
    pub fn set_clock(&mut self, clock: Option<Clock>) -> Option<Clock> {
        std::mem::replace(&mut self.clock, clock)
    }
}

impl Default for RateOptions {
    fn default() -> RateOptions {
        RateOptions { limit: None, max_keys: RateOptions::DEFAULT_MAX_KEYS as usize, store: None, clock: None }
    }
}

/// A limit on the requests of each key. The keys are independent, but their number is bounded.
pub struct Rate {
    clock: TimeSource,
    algorithm: Algorithm,
}

enum Algorithm {
    /// The state of a key is that of [`Gcra::take`].
    Limit {
        gcra: Gcra,
        store: Option<SharedStore>,
        local: fork::Mutex<Local<u64>>,
    },
    Adaptive(fork::Mutex<Local<Adaptive>>),
}

/// The states of the keys in this process.
struct Local<T> {
    keys: KeyTable<T>,
    time: SteadyTime,
}

impl<T> Local<T> {
    fn new(clock: &TimeSource, max_keys: usize) -> fork::Mutex<Local<T>> {
        fork::Mutex::new(Local { keys: KeyTable::new(max_keys), time: clock.steady_time() })
    }

    /// Returns the state of a key, and the time after a reading of the clock. If there are too many keys, a new key
    /// replaces the one with the lowest rank.
    fn find_or_add<R: PartialOrd>(
        &mut self,
        key: &[u8],
        reading: f64,
        make: impl FnOnce(f64) -> T,
        rank: impl Fn(&T) -> R,
    ) -> Result<(&mut T, f64)> {
        let now = self.time.advance(Some(reading));
        let slot = self.keys.find_or_add(key, || make(now), |state| rank(state))?;
        let state = self.keys.get_mut(slot).ok_or_else(|| Error::new(Status::Internal, "a key was lost"))?;
        Ok((state, now))
    }
}

/// The answer to a request for permissions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Permission {
    Granted,
    /// The permissions may be available after this number of seconds, which is at least a microsecond.
    After(f64),
}

impl Rate {
    pub fn new(options: RateOptions) -> Result<Rate> {
        let RateOptions { limit, max_keys, store, clock } = options;
        let clock = TimeSource::new(clock);
        let algorithm = match limit {
            Some(gcra) => Algorithm::Limit { gcra, store, local: Local::new(&clock, max_keys) },
            None if store.is_some() => {
                return Err(invalid("a rate with a store needs a limit: a store cannot share an adaptive rate"));
            }
            None => Algorithm::Adaptive(Local::new(&clock, max_keys)),
        };
        Ok(Rate { clock, algorithm })
    }

    /// Takes `n` permissions of a key.
    pub fn take(&self, key: &[u8], n: f64) -> Result<Permission> {
        check_key(key)?;
        match &self.algorithm {
            Algorithm::Limit { gcra, store, local } => {
                let cost = gcra.cost(n)?;
                if let Some(store) = store
                    && let Some(permission) = take_from_store(gcra, store, key, cost)?
                {
                    return Ok(permission);
                }
                let reading = self.clock.now()?;
                let mut local = local.lock();
                let (state, now) = local.find_or_add(key, reading, |_| 0, |full_at| *full_at)?;
                let taken = gcra.take(*state, nanoseconds(now), cost);
                *state = taken.state();
                Ok(taken.into())
            }
            Algorithm::Adaptive(local) => {
                if !(n > 0.0 && n <= MAX_PERMISSIONS) {
                    return Err(invalid(format!("n must be more than 0 and at most {MAX_PERMISSIONS}; it is {n}")));
                }
                let reading = self.clock.now()?;
                let mut local = local.lock();
                let (state, now) = local.find_or_add(key, reading, Adaptive::new, Adaptive::is_limited)?;
                Ok(state.take(now, n).map_or_else(Permission::after, |()| Permission::Granted))
            }
        }
    }

    /// Records the outcome of a request. A limit does not depend on outcomes.
    pub fn report(&self, key: &[u8], report: Report) -> Result<()> {
        check_key(key)?;
        let Algorithm::Adaptive(local) = &self.algorithm else { return Ok(()) };
        if report == Report::None {
            return Ok(());
        }
        let reading = self.clock.now()?;
        let mut local = local.lock();
        let (state, now) = local.find_or_add(key, reading, Adaptive::new, Adaptive::is_limited)?;
        state.report(now, report == Report::Throttled);
        Ok(())
    }

    /// Returns whether a call may call a callback of the application.
    pub fn may_call_back(&self) -> bool {
        let store = match &self.algorithm {
            Algorithm::Limit { store, .. } => store.as_ref(),
            Algorithm::Adaptive(_) => None,
        };
        self.clock.may_call_back() || store.is_some_and(SharedStore::may_call_back)
    }
}

/// Takes permissions from the word in the store. `None` if the store is unavailable and the process decides by itself.
fn take_from_store(gcra: &Gcra, store: &SharedStore, key: &[u8], cost: u64) -> Result<Option<Permission>> {
    let mut permission = Permission::Granted;
    // After the bucket has become full, its word means the same as 0.
    let word = WordKey { kind: WordKind::Rate, key, time_to_live: gcra.fill_seconds() };
    let update = store.update(word, None, &mut |word, now| {
        let taken = gcra.take(word, now, cost);
        permission = taken.into();
        (taken.state() != word).then_some(taken.state())
    })?;
    Ok(match update {
        SharedUpdate::Updated => Some(permission),
        SharedUpdate::Grant => Some(Permission::Granted),
        SharedUpdate::DecideLocally => None,
    })
}

impl Taken {
    fn state(self) -> u64 {
        match self {
            Taken::Granted(state) | Taken::Denied { state, .. } => state,
        }
    }
}

impl From<Taken> for Permission {
    fn from(taken: Taken) -> Permission {
        match taken {
            Taken::Granted(_) => Permission::Granted,
            // In integers, because a quotient such as 8.1125 may be slightly more than the number it stands for.
            Taken::Denied { wait, .. } => Permission::After(wait.div_ceil(1000) as f64 / 1e6),
        }
    }
}

impl Permission {
    /// Rounds a wait up to whole microseconds. A shorter wait would be lost in the rounding of clocks and timers, and
    /// the application would ask again and again without waiting.
    fn after(seconds: f64) -> Permission {
        Permission::After((seconds * 1e6).ceil().max(1.0) / 1e6)
    }
}

/// Converts a time, which may be negative, to nanoseconds modulo 2^63, so that no sum with a fill time overflows. When
/// the nanoseconds start again at 0, which happens every 292 years, the buckets are empty, as after a step back.
fn nanoseconds(seconds: f64) -> u64 {
    (((seconds * 1e9).round() as i128) + (1 << 62)).rem_euclid(1 << 63) as u64
}

fn invalid(message: impl AsRef<str>) -> Error {
    Error::new(Status::InvalidArgument, message)
}

impl fmt::Debug for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let limit = match &self.algorithm {
            Algorithm::Limit { gcra, .. } => Some(gcra),
            Algorithm::Adaptive(_) => None,
        };
        f.debug_struct("Rate").field("clock", &self.clock).field("limit", &limit).finish_non_exhaustive()
    }
}
