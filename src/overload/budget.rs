//! Retry budgets, which bound the retries of all requests with one key, such as the requests to an origin.

mod tokens;

use std::fmt;

use crate::callback::Clock;
use crate::error::{Error, Result};
use crate::fork;
use crate::overload::Report;
use crate::overload::key_table::{KeyTable, Slot, check_key};
use crate::overload::lease_table::LeaseTable;
use crate::overload::time_source::TimeSource;
use crate::status::Status;

use tokens::{Millitokens, TokenRule, to_tokens};

/// The reason for which a request is sent.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A first attempt, which every budget allows.
    Request = 0,
    /// A retry after a failure that is expected to pass.
    Transient = 1,
    /// A retry after the server asked the client to slow down.
    Throttling = 2,
    /// A further copy of a request that was not answered yet.
    Hedge = 3,
}

impl Kind {
    pub fn from_code(code: i32) -> Option<Kind> {
        [Kind::Request, Kind::Transient, Kind::Throttling, Kind::Hedge].into_iter().find(|kind| *kind as i32 == code)
    }

    fn name(self) -> &'static str {
        match self {
            Kind::Request => "first attempt",
            Kind::Transient => "retry",
            Kind::Throttling => "retry after throttling",
            Kind::Hedge => "hedge",
        }
    }
}

/// The settings of a [`Budget`].
#[derive(Clone)]
pub struct BudgetOptions {
    rule: TokenRule,
    lease_time: f64,
    max_keys: usize,
    clock: Option<Clock>,
}

impl BudgetOptions {
    pub const DEFAULT_LEASE_TIME: f64 = 300.0;
    pub const DEFAULT_MAX_KEYS: i32 = 1024;
    const MAX_MAX_KEYS: i32 = 1 << 20;

    pub fn set_tokens(&mut self, capacity: f64, transient_cost: f64, throttling_cost: f64, gain: f64) -> Result<()> {
        self.rule = TokenRule::costs(capacity, transient_cost, throttling_cost, gain)?;
        Ok(())
    }

    pub fn set_lease_time(&mut self, seconds: f64) -> Result<()> {
        if !(seconds.is_finite() && seconds > 0.0) {
            return Err(invalid(format!("seconds must be more than 0 and finite; it is {seconds}")));
        }
        self.lease_time = seconds;
        Ok(())
    }

    pub fn set_max_keys(&mut self, max_keys: i32) -> Result<()> {
        if !(1..=BudgetOptions::MAX_MAX_KEYS).contains(&max_keys) {
            let max = BudgetOptions::MAX_MAX_KEYS;
            return Err(invalid(format!("max_keys must be 1 to {max}; it is {max_keys}")));
        }
        self.max_keys = max_keys as usize;
        Ok(())
    }

    /// Sets the clock; `None` means the system's clock. Returns the previous clock, which the caller drops.
    pub fn set_clock(&mut self, clock: Option<Clock>) -> Option<Clock> {
        std::mem::replace(&mut self.clock, clock)
    }
}

impl Default for BudgetOptions {
    fn default() -> BudgetOptions {
        // The retry quota of AWS's SDKs since 2026 ("standard" mode, version 2.1), as in smithy-rs.
        let rule = TokenRule::Costs { capacity: 500_000, transient: 14_000, throttling: 5_000, gain: 1_000 };
        BudgetOptions {
            rule,
            lease_time: BudgetOptions::DEFAULT_LEASE_TIME,
            max_keys: BudgetOptions::DEFAULT_MAX_KEYS as usize,
            clock: None,
        }
    }
}

/// A retry budget. Its keys share nothing but the bound on their number.
pub struct Budget {
    rule: TokenRule,
    lease_time: f64,
    time: TimeSource,
    state: fork::Mutex<State>,
}

struct State {
    keys: KeyTable<Millitokens>,
    leases: LeaseTable<Lease>,
    /// The latest time that a call has passed.
    now: f64,
}

/// A request whose outcome was not reported yet.
struct Lease {
    key: Slot,
    kind: Kind,
}

/// The answer of a budget to a request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Answer {
    /// The request is allowed; its outcome is reported with this number.
    Granted(u64),
    /// The request is not allowed. The budget of the key has `left` tokens.
    Denied { left: f64 },
}

/// The maximum number of leases of a budget. When there are more, the oldest lease ends.
const MAX_LEASES: usize = 1 << 20;

impl Budget {
    pub fn new(options: BudgetOptions) -> Budget {
        let state = State {
            keys: KeyTable::new(options.max_keys),
            leases: LeaseTable::new(MAX_LEASES),
            now: f64::NEG_INFINITY,
        };
        Budget {
            rule: options.rule,
            lease_time: options.lease_time,
            time: TimeSource::new(options.clock),
            state: fork::Mutex::new(state),
        }
    }

    /// Asks whether a request may be sent. Returns the number of a lease, with which [`Budget::report`] is called.
    /// Fails with `RetryBudgetEmpty` if the request is not allowed.
    pub fn ask(&self, key: &[u8], kind: Kind) -> Result<u64> {
        match self.answer(key, kind)? {
            Answer::Granted(lease) => Ok(lease),
            Answer::Denied { left } => Err(self.denied_error(key, kind, left)),
        }
    }

    pub(crate) fn answer(&self, key: &[u8], kind: Kind) -> Result<Answer> {
        let now = self.time.now()?;
        let mut state = self.state.lock();
        state.advance(now, self.lease_time);
        let State { keys, leases, now } = &mut *state;
        let slot = keys.find_or_add(key, || self.rule.capacity())?;
        let Some(tokens) = keys.get_mut(slot) else { return Err(Error::new(Status::Internal, "a key was lost")) };
        let Some(rest) = self.rule.take(*tokens, kind) else {
            return Ok(Answer::Denied { left: to_tokens(*tokens) });
        };
        if leases.is_full() {
            leases.remove_oldest();
        }
        let lease = leases.add(Lease { key: slot, kind }, *now)?;
        *tokens = rest;
        Ok(Answer::Granted(lease))
    }

    /// Ends a lease and records the outcome of its request. A lease that has ended before is ignored.
    pub fn report(&self, lease: u64, report: Report) {
        // If the application's clock fails, the time of the last call counts.
        let now = self.time.now().unwrap_or(f64::NEG_INFINITY);
        let mut state = self.state.lock();
        state.advance(now, self.lease_time);
        let Some(Lease { key, kind }) = state.leases.remove(lease) else { return };
        if let Some(tokens) = state.keys.get_mut(key) {
            *tokens = self.rule.after(*tokens, kind, report);
        }
    }

    /// Returns the number of tokens of a key.
    pub fn left(&self, key: &[u8]) -> Result<f64> {
        check_key(key)?;
        let state = self.state.lock();
        let tokens = state.keys.find(key).and_then(|slot| state.keys.get(slot));
        Ok(to_tokens(tokens.copied().unwrap_or(self.rule.capacity())))
    }

    /// Returns whether a call may call a callback of the application.
    pub fn may_call_back(&self) -> bool {
        self.time.may_call_back()
    }

    fn denied_error(&self, key: &[u8], kind: Kind, left: f64) -> Error {
        let shown = String::from_utf8_lossy(key);
        let cost = to_tokens(self.rule.cost(kind));
        let message =
            format!("the retry budget of {shown:.100} has {left} tokens left; a {} costs {cost}", kind.name());
        Error::new(Status::RetryBudgetEmpty, message)
    }
}

impl State {
    /// Records the time, and ends the leases that are older than `lease_time`.
    fn advance(&mut self, now: f64, lease_time: f64) {
        self.now = self.now.max(now);
        while self.leases.remove_given_before(self.now - lease_time).is_some() {}
    }
}

impl fmt::Debug for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Budget").field("rule", &self.rule).field("time", &self.time).finish_non_exhaustive()
    }
}

fn invalid(message: String) -> Error {
    Error::new(Status::InvalidArgument, message)
}
