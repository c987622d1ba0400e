//! Retry budgets, which bound the retries of all requests with one key, such as the requests to an origin.

mod in_flight;
mod kind;
mod options;
mod rule;
mod shared_bucket;
mod tokens;
mod window;

use std::fmt;

use crate::error::{ApiName, Error, Result};
use crate::fork;
use crate::limit::Limit;
use crate::overload::Report;
use crate::overload::key_table::{self, KeyTable, Slot, check_key};
use crate::overload::lease_table::{LeaseTable, MAX_ENDED_AT_ONCE};
use crate::overload::store::{SharedStore, SharedUpdate, WordKey, WordKind};
use crate::overload::time_source::{SteadyTime, TimeSource};
use crate::status::Status;

pub use kind::Kind;
pub use options::{BudgetOptions, Preset};

use rule::{KeyState, Rule};
use shared_bucket::{Bucket, SharedAnswer};
use tokens::{TokenRule, to_tokens};

/// The maximum number of leases of a budget. A further lease ends the oldest one.
const MAX_LEASES: usize = 1 << 20;

/// The number of bytes of a key that an error message contains.
const MAX_SHOWN_KEY: usize = 100;

/// A retry budget. The keys are independent, but the numbers of keys and leases are bounded.
pub struct Budget {
    rule: Rule,
    /// `None` if the process counts by itself.
    shared: Option<SharedBuckets>,
    lease_time: f64,
    clock: TimeSource,
    state: fork::Mutex<State>,
}

struct State {
    keys: KeyTable<KeyState>,
    leases: LeaseTable<Lease>,
    time: SteadyTime,
}

/// A request whose outcome was not reported yet.
struct Lease {
    key: Slot,
    kind: Kind,
}

impl Budget {
    pub fn new(options: BudgetOptions) -> Result<Budget> {
        let rule = options.rule()?;
        let clock = TimeSource::new(options.clock);
        let state = State {
            keys: KeyTable::new(options.max_keys),
            leases: LeaseTable::new(MAX_LEASES),
            time: clock.steady_time(),
        };
        let shared = match (options.store, rule) {
            (None, _) => None,
            (Some(store), Rule::Tokens(rule)) => Some(SharedBuckets { store, rule }),
            (Some(_), _) => {
                let message = "a store keeps only buckets of tokens, and the options choose another rule";
                return Err(Error::new(Status::Unsupported, message).with_setting(ApiName::SetBudgetStore));
            }
        };
        Ok(Budget { rule, shared, lease_time: options.lease_time, clock, state: fork::Mutex::new(state) })
    }

    pub(crate) const MAX_KEY_LENGTH: usize = key_table::MAX_KEY_LENGTH;

    /// Fails if a key is too long.
    pub(crate) fn check_key(key: &[u8]) -> Result<()> {
        check_key(key)
    }

    /// Asks whether a request may be sent. Returns the number of a lease, with which [`Budget::report`] is called.
    /// Fails with `RetryBudgetEmpty` if the request is not allowed.
    pub fn ask(&self, key: &[u8], kind: Kind) -> Result<u64> {
        self.ask_within(key, kind, None)
    }

    /// Does what [`Budget::ask`] does, and waits for a store at most until `limit` ends.
    pub(crate) fn ask_within(&self, key: &[u8], kind: Kind, limit: Option<&Limit>) -> Result<u64> {
        // Checked before the clock is read, so that a refused key does not end old leases.
        check_key(key)?;
        match &self.shared {
            Some(shared) if kind != Kind::Request => self.ask_store(shared, key, kind, limit),
            _ => self.ask_locally(key, kind),
        }
    }

    /// Decides with the state of this process.
    fn ask_locally(&self, key: &[u8], kind: Kind) -> Result<u64> {
        let reading = self.clock.coarse_now()?;
        let mut state = self.state.lock();
        let now = self.advance(&mut state, Some(reading));
        let State { keys, .. } = &mut *state;
        let slot = self.find_or_add(keys, key, now)?;
        let Some(key_state) = keys.get_mut(slot) else { return Err(lost_key()) };
        if !self.rule.allows(key_state, kind, now) {
            let (left, why) = (self.rule.left(key_state, now), self.rule.describe_denial(key_state, kind));
            drop(state);
            return Err(denied(key, left, &why));
        }
        let number = self.add_lease(&mut state, Lease { key: slot, kind }, now)?;
        // Looked up again, because `add_lease` may have ended a lease of the same key.
        let Some(key_state) = state.keys.get_mut(slot) else { return Err(lost_key()) };
        self.rule.take(key_state, kind, now);
        Ok(number)
    }

    fn add_lease(&self, state: &mut State, lease: Lease, now: f64) -> Result<u64> {
        let State { keys, leases, .. } = state;
        if leases.is_full()
            && let Some(oldest) = leases.remove_oldest()
        {
            self.end(keys, &oldest, Report::None);
        }
        leases.add(lease, now)
    }

    /// Ends a lease and records the outcome of its request. Ignores a lease that has already ended. If the
    /// application's clock fails, uses the time of the last call.
    pub fn report(&self, lease: u64, report: Report) {
        let reading = self.clock.coarse_now().ok();
        let mut state = self.state.lock();
        let now = self.advance(&mut state, reading);
        let State { keys, leases, .. } = &mut *state;
        if let Some(lease) = leases.remove(lease, now - self.lease_time) {
            self.end(keys, &lease, report);
        }
    }

    /// Ends a lease whose request has no known outcome, without reading the clock.
    pub(crate) fn cancel(&self, lease: u64) {
        let mut state = self.state.lock();
        let State { keys, leases, .. } = &mut *state;
        if let Some(lease) = leases.remove(lease, f64::NEG_INFINITY) {
            self.end(keys, &lease, Report::None);
        }
    }

    /// Records a first attempt that has already ended and for which the caller did not ask. If the application's clock
    /// fails, uses the time of the last call.
    pub(crate) fn record_request(&self, key: &[u8], report: Report) -> Result<()> {
        let reading = self.clock.coarse_now().ok();
        let mut state = self.state.lock();
        let now = self.advance(&mut state, reading);
        // A server that redirects to many origins would otherwise fill the table, and so drop the states of other keys.
        if self.rule.ignores_first(report) && state.keys.find(key).is_none() {
            return Ok(());
        }
        let slot = self.find_or_add(&mut state.keys, key, now)?;
        let Some(key_state) = state.keys.get_mut(slot) else { return Err(lost_key()) };
        self.rule.take(key_state, Kind::Request, now);
        self.rule.end(key_state, Kind::Request, report);
        Ok(())
    }

    /// Returns the number of tokens of a key, or, for a rule without tokens, the number of retries that it allows at
    /// present. Calls no callback: with the application's clock, uses the time of the last call.
    pub fn left(&self, key: &[u8]) -> Result<f64> {
        check_key(key)?;
        let reading = self.clock.coarse_now_without_callback();
        let mut state = self.state.lock();
        let now = self.advance(&mut state, reading);
        let keys = &mut state.keys;
        match keys.find(key).and_then(|slot| keys.get_mut(slot)) {
            Some(key_state) => Ok(self.rule.left(key_state, now)),
            None => Ok(self.rule.left(&mut self.rule.start(now), now)),
        }
    }

    /// Returns whether a call may call a callback of the application.
    pub fn may_call_back(&self) -> bool {
        self.clock.may_call_back() || self.shared.as_ref().is_some_and(|shared| shared.store.may_call_back())
    }

    /// Advances the time, and ends leases that are too old. Returns the time.
    fn advance(&self, state: &mut State, reading: Option<f64>) -> f64 {
        let State { keys, leases, time } = state;
        let now = time.advance(reading);
        for _ in 0..MAX_ENDED_AT_ONCE {
            let Some(lease) = leases.remove_given_before(now - self.lease_time) else { break };
            self.end(keys, &lease, Report::None);
        }
        now
    }

    /// Finds or adds a key. If the table is full, the new key replaces a key that has many tokens or retries left.
    fn find_or_add(&self, keys: &mut KeyTable<KeyState>, key: &[u8], now: f64) -> Result<Slot> {
        keys.find_or_add(key, || self.rule.start(now), |state| -self.rule.left(state, now))
    }

    fn end(&self, keys: &mut KeyTable<KeyState>, lease: &Lease, report: Report) {
        if let Some(key_state) = keys.get_mut(lease.key) {
            self.rule.end(key_state, lease.kind, report);
        }
    }
}

/// A store and the rule of the buckets in it.
#[derive(Clone)]
struct SharedBuckets {
    store: SharedStore,
    rule: TokenRule,
}

impl Budget {
    /// Asks for a retry whose tokens are in a store. The state of this process is not locked during the update of the
    /// store.
    fn ask_store(&self, shared: &SharedBuckets, key: &[u8], kind: Kind, limit: Option<&Limit>) -> Result<u64> {
        let SharedBuckets { store, rule } = shared;
        let reading = self.clock.coarse_now()?;
        let unreported = self.with_bucket(key, reading, Bucket::take_unreported)?;
        let word = WordKey { kind: WordKind::Budget, key, time_to_live: shared_bucket::TIME_TO_LIVE };
        let mut answer = SharedAnswer::Denied(0);
        let update = store.update(word, limit, &mut |word, _| {
            answer = shared_bucket::ask(word, unreported, kind, rule);
            let next = shared_bucket::word_after(answer);
            // A denial writes the word only if there are changes to report.
            (next != word && (unreported != 0 || matches!(answer, SharedAnswer::Granted(_)))).then_some(next)
        });
        if !matches!(update, Ok(SharedUpdate::Updated)) {
            self.with_bucket(key, reading, |bucket| bucket.add_unreported(rule, unreported))?;
        }
        match (update?, answer) {
            (SharedUpdate::Updated, SharedAnswer::Granted(rest)) => {
                self.with_bucket(key, reading, |bucket| bucket.refresh(rest, rule))?;
                self.lease(key, reading, kind)
            }
            (SharedUpdate::Updated, SharedAnswer::Denied(tokens)) => {
                self.with_bucket(key, reading, |bucket| bucket.refresh(tokens, rule))?;
                Err(denied(key, to_tokens(tokens), &rule.describe_denial(tokens, kind)))
            }
            (SharedUpdate::Grant, _) => {
                self.with_bucket(key, reading, |bucket| bucket.take(rule, kind))?;
                self.lease(key, reading, kind)
            }
            (SharedUpdate::DecideLocally, _) => self.ask_locally(key, kind),
        }
    }

    /// Calls a function with the bucket of a key, under the lock.
    fn with_bucket<T>(&self, key: &[u8], reading: f64, use_bucket: impl FnOnce(&mut Bucket) -> T) -> Result<T> {
        let mut state = self.state.lock();
        let now = self.advance(&mut state, Some(reading));
        let slot = self.find_or_add(&mut state.keys, key, now)?;
        match state.keys.get_mut(slot) {
            Some(KeyState::Tokens(bucket)) => Ok(use_bucket(bucket)),
            _ => Err(lost_key()),
        }
    }

    /// Adds a lease without taking tokens, which the caller has taken.
    fn lease(&self, key: &[u8], reading: f64, kind: Kind) -> Result<u64> {
        let mut state = self.state.lock();
        let now = self.advance(&mut state, Some(reading));
        let slot = self.find_or_add(&mut state.keys, key, now)?;
        self.add_lease(&mut state, Lease { key: slot, kind }, now)
    }
}

impl fmt::Debug for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Budget").field("rule", &self.rule).field("clock", &self.clock).finish_non_exhaustive()
    }
}

/// Makes the error for a request that is not allowed. `why` completes the sentence "The retry budget …".
#[cold]
fn denied(key: &[u8], left: f64, why: &str) -> Error {
    let end = if key.len() > MAX_SHOWN_KEY { "…" } else { "" };
    let shown = String::from_utf8_lossy(&key[..key.len().min(MAX_SHOWN_KEY)]);
    let of = if key.is_empty() { "" } else { " of " };
    Error::new(Status::RetryBudgetEmpty, format!("the retry budget{of}{shown}{end} {why}"))
        .with_denied_budget(key, left)
}

#[cold]
fn lost_key() -> Error {
    Error::new(Status::Internal, "a retry budget lost a key that it had just added")
}

#[cfg(test)]
mod model;

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    fn budget(set: impl FnOnce(&mut BudgetOptions)) -> Budget {
        let mut options = BudgetOptions::default();
        set(&mut options);
        Budget::new(options).unwrap()
    }

    #[test]
    fn a_clock_that_fails_or_reports_nan_makes_ask_fail_and_changes_no_tokens() {
        let time = Arc::new(AtomicU64::new(0));
        let reading = Arc::clone(&time);
        let budget = budget(|o| {
            o.set_clock(Some(Arc::new(move || Ok(f64::from_bits(reading.load(Ordering::Relaxed))))));
        });
        let lease = budget.ask(b"h", Kind::Transient).unwrap();
        time.store(f64::NAN.to_bits(), Ordering::Relaxed);
        assert_eq!(budget.ask(b"h", Kind::Transient).unwrap_err().status(), Status::CallbackFailed);
        budget.record_request(b"h", Report::Success).unwrap();
        assert_eq!(budget.left(b"h").unwrap(), 487.0);
        budget.report(lease, Report::Success);
        assert_eq!(budget.left(b"h").unwrap(), 500.0);
    }

    #[test]
    fn first_attempts_that_change_nothing_do_not_drop_the_states_of_other_keys() {
        type Set = fn(&mut BudgetOptions) -> Result<()>;
        let rules: [(&str, Set, Report, f64); 5] = [
            ("costs", |_| Ok(()), Report::Failure, 486.0),
            ("costs", |_| Ok(()), Report::Success, 486.0),
            ("failures", |o| o.set_failure_tokens(10.0, 0.1, 0.5), Report::Success, 9.0),
            ("failures", |o| o.set_failure_tokens(10.0, 0.1, 0.5), Report::Failure, 10.0),
            ("in flight", |o| o.set_in_flight(0.0, 3), Report::Failure, 2.0),
        ];
        for (name, set, report, expected) in rules {
            let budget = budget(|o| {
                set(o).unwrap();
                o.set_max_keys(2).unwrap();
            });
            let lease = budget.ask(b"kept", Kind::Transient).unwrap();
            if name == "failures" {
                budget.report(lease, Report::Failure);
            }
            for origin in ["a", "b", "c"] {
                budget.record_request(origin.as_bytes(), report).unwrap();
            }
            assert_eq!(budget.left(b"kept").unwrap(), expected, "{name} {report:?}");
        }
    }

    #[test]
    fn a_cancelled_lease_ends_its_retry_in_flight_and_returns_no_tokens() {
        let envoy = budget(|o| o.set_in_flight(0.0, 1).unwrap());
        let lease = envoy.ask(b"h", Kind::Transient).unwrap();
        assert_eq!(envoy.ask(b"h", Kind::Transient).unwrap_err().status(), Status::RetryBudgetEmpty);
        envoy.cancel(lease);
        envoy.ask(b"h", Kind::Transient).unwrap();
        let tokens = budget(|_| {});
        tokens.cancel(tokens.ask(b"h", Kind::Transient).unwrap());
        assert_eq!(tokens.left(b"h").unwrap(), 486.0);
    }

    #[test]
    fn the_message_of_a_denial_contains_at_most_100_bytes_of_the_key() {
        let budget = budget(|o| o.set_tokens(1.0, 1.0, 1.0, 1.0).unwrap());
        for (key, shown) in [
            (&b""[..], "the retry budget has 0 tokens left; a retry costs 1".to_owned()),
            (b"a\nb", "the retry budget of a\\nb has 0 tokens left; a retry costs 1".to_owned()),
            (&[b'k'; 101], format!("the retry budget of {}… has 0 tokens left; a retry costs 1", "k".repeat(100))),
        ] {
            budget.ask(key, Kind::Transient).unwrap();
            let error = budget.ask(key, Kind::Transient).unwrap_err();
            assert_eq!(error.message(), shown);
            assert_eq!(error.denied_budget(), Some((&*[key, b"\0"].concat(), 0.0)));
        }
    }
}
