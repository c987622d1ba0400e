//! Circuit breakers: decide whether a request may be sent, from the outcomes of earlier requests with the same key.

mod adaptive;
mod circuit;
mod consecutive;
mod options;
mod ratio;
mod window;

use crate::callback::{self, Random};
use crate::error::{self, Error, Result};
use crate::fork::Mutex;
use crate::overload::Report;
use crate::overload::key_table::check_key;
use crate::overload::lease_table::{LeaseTable, MAX_ENDED_AT_ONCE};
use crate::overload::time_source::{SteadyTime, TimeSource};
use crate::status::Status;

use adaptive::AdaptiveBreaker;
use circuit::{Answer, Permit};
use consecutive::ConsecutiveBreaker;
use options::Policy;
use ratio::RatioBreaker;

pub use circuit::CircuitState;
pub use options::BreakerOptions;

/// The answer to [`Breaker::ask`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Permission {
    /// The request may be sent. The number identifies it in [`Breaker::report`].
    Granted(u64),
    /// The request must not be sent. Another request may be permitted after this number of seconds, which is above 0.
    Refused(f64),
}

/// The maximum number of permits without an outcome. A further permit ends the oldest one.
const MAX_PERMITS: usize = 1 << 20;

/// The shortest wait in seconds that [`Breaker::ask`] returns: a caller that sleeps for less may not sleep at all.
const MIN_WAIT: f64 = 1e-6;

/// A circuit breaker. All methods may be called by several threads at once.
pub struct Breaker {
    time: TimeSource,
    /// The application's source of random numbers; `None` if the breaker needs no random numbers.
    random: Option<Random>,
    permit_time: f64,
    state: Mutex<State>,
}

struct State {
    time: SteadyTime,
    permits: LeaseTable<Permit>,
    circuits: Circuits,
    /// The state of the generator of random numbers that is used without a callback.
    seed: u64,
}

enum Circuits {
    Ratio(RatioBreaker),
    Consecutive(ConsecutiveBreaker),
    Adaptive(AdaptiveBreaker),
}

impl Breaker {
    pub fn new(options: &BreakerOptions) -> Result<Breaker> {
        let is_adaptive = matches!(options.policy, Policy::Adaptive(_));
        // The seed is random even if the clock is the application's, so that processes refuse different requests.
        let seed = if is_adaptive { (callback::random_unit(None)? * 2f64.powi(53)) as u64 } else { 0 };
        let clock = TimeSource::new(options.clock.clone());
        let steady_time = clock.steady_time();
        Ok(Breaker {
            time: clock,
            random: options.random.clone().filter(|_| is_adaptive),
            permit_time: options.permit_time,
            state: Mutex::new(State {
                time: steady_time,
                permits: LeaseTable::new(MAX_PERMITS),
                circuits: Circuits::new(options),
                seed,
            }),
        })
    }

    /// Returns whether the methods may run callbacks of the application.
    pub(crate) fn may_call_back(&self) -> bool {
        self.time.may_call_back() || self.random.is_some()
    }

    /// Asks whether a request may be sent. Callbacks run before the lock is taken.
    pub fn ask(&self, key: &[u8]) -> Result<Permission> {
        check_key(key)?;
        let reading = self.time.coarse_now()?;
        let draw = self.random.as_ref().map(|random| callback::random_unit(Some(random))).transpose()?;
        let state = &mut *self.state.lock();
        let now = state.advance(Some(reading), self.permit_time);
        let answer = match &mut state.circuits {
            Circuits::Ratio(breaker) => breaker.ask(key, now)?,
            Circuits::Consecutive(breaker) => breaker.ask(key, now)?,
            Circuits::Adaptive(breaker) => {
                let draw = draw.unwrap_or_else(|| next_random(&mut state.seed, now));
                breaker.ask(key, now, draw)?
            }
        };
        match answer {
            Answer::Refuse { seconds } => Ok(Permission::Refused(seconds.max(MIN_WAIT))),
            Answer::Permit(permit) => state.add_permit(permit, now).map(Permission::Granted),
        }
    }

    /// Reports the outcome of a permitted request. Does nothing if the permit has ended, or if its key was dropped or
    /// has changed its state meanwhile. If the clock fails, uses the time of the last call.
    pub fn report(&self, number: u64, outcome: Report) {
        let reading = self.time.coarse_now().ok();
        let mut state = self.state.lock();
        let now = state.advance(reading, self.permit_time);
        if let Some(permit) = state.permits.remove(number, now - self.permit_time) {
            state.circuits.report(permit, now, outcome);
        }
    }

    /// Returns the state of a key. A key that no request has used is closed.
    pub fn state(&self, key: &[u8]) -> Result<CircuitState> {
        check_key(key)?;
        let reading = self.time.coarse_now()?;
        let mut state = self.state.lock();
        let now = state.advance(Some(reading), self.permit_time);
        Ok(match &mut state.circuits {
            Circuits::Ratio(breaker) => breaker.state(key, now),
            Circuits::Consecutive(breaker) => breaker.state(key, now),
            Circuits::Adaptive(breaker) => breaker.state(key, now),
        })
    }
}

impl State {
    /// Advances the time, and ends permits that are too old. Returns the time.
    fn advance(&mut self, reading: Option<f64>, permit_time: f64) -> f64 {
        let now = self.time.advance(reading);
        for _ in 0..MAX_ENDED_AT_ONCE {
            let Some(permit) = self.permits.remove_given_before(now - permit_time) else { break };
            self.circuits.report(permit, now, Report::None);
        }
        now
    }

    fn add_permit(&mut self, permit: Permit, now: f64) -> Result<u64> {
        if self.permits.is_full()
            && let Some(oldest) = self.permits.remove_oldest()
        {
            self.circuits.report(oldest, now, Report::None);
        }
        self.permits.add(permit, now).inspect_err(|_| self.circuits.report(permit, now, Report::None))
    }
}

impl Circuits {
    fn new(options: &BreakerOptions) -> Circuits {
        let max_keys = options.max_keys;
        match options.policy {
            Policy::Ratio(settings) => Circuits::Ratio(RatioBreaker::new(settings, max_keys)),
            Policy::Consecutive(settings) => Circuits::Consecutive(ConsecutiveBreaker::new(settings, max_keys)),
            Policy::Adaptive(settings) => Circuits::Adaptive(AdaptiveBreaker::new(settings, max_keys)),
        }
    }

    fn report(&mut self, permit: Permit, now: f64, outcome: Report) {
        match self {
            Circuits::Ratio(breaker) => breaker.report(permit, now, outcome),
            Circuits::Consecutive(breaker) => breaker.report(permit, now, outcome),
            Circuits::Adaptive(breaker) => breaker.report(permit, now, outcome),
        }
    }
}

/// Returns a random number of at least 0 and less than 1, with the generator SplitMix64. The time is added to the seed,
/// because a forked child has the same seed as its parent.
fn next_random(seed: &mut u64, now: f64) -> f64 {
    *seed = seed.wrapping_add(now.to_bits()).wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *seed;
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((mixed ^ mixed >> 31) >> 11) as f64 / (1u64 << 53) as f64
}

/// Makes the error for a request that the breaker refused for `seconds`. [`refused_seconds`] returns the seconds.
pub(crate) fn refusal(key: &[u8], seconds: f64) -> Error {
    let key = String::from_utf8_lossy(key);
    let message = format!(
        "the breaker permits no request for {:?} now; ask again in {seconds} seconds",
        error::truncated(&key)
    );
    Error::new(Status::BreakerOpen, message).with_payload(RefusedFor(seconds))
}

struct RefusedFor(f64);

/// Returns the seconds after which to ask again; `None` for an error of another function.
pub(crate) fn refused_seconds(error: &Error) -> Option<f64> {
    error.payload::<RefusedFor>().map(|refused| refused.0)
}

#[cfg(test)]
mod tests;
