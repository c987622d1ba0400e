//! Hedging: sends a second copy of a slow request, and uses the first answer.
//!
//! A [`Hedge`] holds the policy and the latencies of each key. A [`Plan`] decides for one request when to start the
//! next attempt. Neither sends anything, and neither reads a clock: the caller passes the time to the plan.

mod plan;
mod sketch;

use std::ffi::CStr;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::fork;
use crate::memory;
use crate::name_set::{self, Case, IDEMPOTENT_METHODS, NameSet};
use crate::overload::Report;
use crate::overload::budget::{Budget, Kind};
use crate::overload::key_table::{KeyTable, Slot, check_key};
use crate::overload::range;
use crate::status::Status;
pub use plan::{Event, Plan};
use sketch::{GENERATION_LENGTH, LatencySketch};

/// The longest delay and the longest wait in seconds. A longer one is a mistake of the caller.
const MAX_SECONDS: f64 = 1e9;

/// The delay before each further attempt.
#[derive(Clone, Copy, Debug, PartialEq)]
enum DelayRule {
    Fixed(f64),
    /// The delay is a percentile of the latencies of the key, once there are `minimum_samples` latencies.
    Percentile {
        percentile: f64,
        minimum_samples: u32,
    },
}

/// Collects the settings of a [`Hedge`]. A setter that fails changes nothing.
#[derive(Clone)]
pub struct HedgeOptions {
    delay: DelayRule,
    max_attempts: usize,
    methods: NameSet,
    max_keys: usize,
    budget: Option<Arc<Budget>>,
}

impl Default for HedgeOptions {
    fn default() -> HedgeOptions {
        HedgeOptions {
            delay: DelayRule::Percentile { percentile: 95.0, minimum_samples: 100 },
            max_attempts: 2,
            methods: NameSet::of_constants(Case::Upper, IDEMPOTENT_METHODS),
            max_keys: 1024,
            budget: None,
        }
    }
}

impl HedgeOptions {
    pub fn set_delay(&mut self, seconds: f64) -> Result<()> {
        self.delay = DelayRule::Fixed(range::check(seconds, 0.0, MAX_SECONDS, "seconds")? + 0.0);
        Ok(())
    }

    pub fn set_percentile(&mut self, percentile: f64, minimum_samples: i32) -> Result<()> {
        if !(50.0..=99.9).contains(&percentile) {
            return Err(invalid(format!("percentile must be 50 to 99.9; it is {percentile}")));
        }
        let minimum_samples = in_range("minimum_samples", minimum_samples, 1, i32::from(GENERATION_LENGTH))? as u32;
        self.delay = DelayRule::Percentile { percentile, minimum_samples };
        Ok(())
    }

    pub fn set_max_attempts(&mut self, max_attempts: i32) -> Result<()> {
        self.max_attempts = in_range("max_attempts", max_attempts, 2, plan::MAX_ATTEMPTS as i32)? as usize;
        Ok(())
    }

    pub fn set_allowed_methods<'a>(&mut self, methods: impl IntoIterator<Item = &'a CStr>) -> Result<()> {
        self.methods = NameSet::new(Case::Upper, "method", methods)?;
        Ok(())
    }

    pub fn set_budget(&mut self, budget: Option<Arc<Budget>>) {
        self.budget = budget;
    }

    pub fn set_max_keys(&mut self, max_keys: i32) -> Result<()> {
        self.max_keys = in_range("max_keys", max_keys, 1, 1 << 20)? as usize;
        Ok(())
    }
}

/// The policy of hedging, and the latencies of each key.
pub struct Hedge {
    options: HedgeOptions,
    latencies: fork::Mutex<KeyTable<Box<LatencySketch>>>,
}

impl Hedge {
    pub fn new(options: HedgeOptions) -> Hedge {
        let latencies = fork::Mutex::new(KeyTable::new(options.max_keys));
        Hedge { options, latencies }
    }

    /// Makes the plan of a request whose first attempt starts now. If the method is not allowed, the plan starts no
    /// further attempt, and the latency is not recorded, because such requests often take longer than others.
    pub fn start(self: &Arc<Hedge>, key: &[u8], method: &CStr) -> Result<Plan> {
        name_set::check_token("method", method)?;
        check_key(key)?;
        let is_allowed = self.options.methods.contains(method.to_bytes());
        let (slot, delay) = if is_allowed { self.find(key)? } else { (None, f64::INFINITY) };
        let max_attempts = if is_allowed { self.options.max_attempts } else { 1 };
        // No lease for the first attempt: `Retry::decide` or the application reports it to the budget.
        let budget_key = if self.options.budget.is_some() { memory::copy(key, "a key")? } else { Vec::new() };
        Ok(Plan::new(Arc::clone(self), budget_key, slot, delay, max_attempts))
    }

    /// Returns the slot of a key in the table, and the delay between the attempts of a request that starts now.
    fn find(&self, key: &[u8]) -> Result<(Option<Slot>, f64)> {
        let percentile = match self.options.delay {
            DelayRule::Fixed(seconds) => return Ok((None, seconds)),
            DelayRule::Percentile { percentile, .. } => percentile,
        };
        let mut latencies = self.latencies.lock();
        let slot = latencies.find_or_add(key, || Box::new(LatencySketch::new(percentile)), |_| 0)?;
        let delay = latencies.get(slot).map_or(f64::INFINITY, |sketch| self.delay_from(sketch));
        Ok((Some(slot), delay))
    }

    /// Returns the delay between the attempts of a request that starts now; infinity if there are not enough latencies.
    pub fn delay(&self, key: &[u8]) -> f64 {
        if let DelayRule::Fixed(seconds) = self.options.delay {
            return seconds;
        }
        let latencies = self.latencies.lock();
        let sketch = latencies.find(key).and_then(|slot| latencies.get(slot));
        sketch.map_or(f64::INFINITY, |sketch| self.delay_from(sketch))
    }

    fn delay_from(&self, sketch: &LatencySketch) -> f64 {
        match self.options.delay {
            DelayRule::Percentile { minimum_samples, .. } if sketch.total() >= minimum_samples => sketch.estimate(),
            _ => f64::INFINITY,
        }
    }

    /// Asks the budget for a further attempt. Returns the lease; `None` without a budget.
    fn ask_for_attempt(&self, key: &[u8]) -> Result<Option<u64>> {
        self.options.budget.as_ref().map(|budget| budget.ask(key, Kind::Hedge)).transpose()
    }

    fn report(&self, lease: u64, report: Report) {
        if let Some(budget) = &self.options.budget {
            budget.report(lease, report);
        }
    }

    /// Adds a latency to the sketch of a key. Does nothing if the key was dropped from the table meanwhile.
    fn record_latency(&self, slot: Slot, seconds: f64) {
        if let Some(sketch) = self.latencies.lock().get_mut(slot) {
            sketch.record(seconds);
        }
    }
}

fn in_range(name: &str, value: i32, least: i32, most: i32) -> Result<i32> {
    if (least..=most).contains(&value) {
        return Ok(value);
    }
    Err(invalid(format!("{name} must be {least} to {most}; it is {value}")))
}

fn invalid(message: impl AsRef<str>) -> Error {
    Error::new(Status::InvalidArgument, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hedge(percentile: f64, minimum_samples: i32, max_keys: i32) -> Arc<Hedge> {
        let mut options = HedgeOptions::default();
        options.set_percentile(percentile, minimum_samples).unwrap();
        options.set_max_keys(max_keys).unwrap();
        options.set_max_attempts(10).unwrap();
        Arc::new(Hedge::new(options))
    }

    /// Runs a request without hedging, whose only attempt takes `seconds`.
    fn succeed(hedge: &Arc<Hedge>, key: &[u8], seconds: f64) {
        hedge.start(key, c"GET").unwrap().step(Event::Success, 1, seconds).unwrap();
    }

    fn is_near(estimate: f64, exact: f64) -> bool {
        (estimate / exact - 1.0).abs() <= sketch::RELATIVE_ERROR + 1e-12
    }

    #[test]
    fn the_timer_is_off_until_the_key_has_enough_latencies() {
        let hedge = hedge(50.0, 3, 2);
        for _ in 0..2 {
            succeed(&hedge, b"a", 0.2);
            assert_eq!(hedge.start(b"a", c"GET").unwrap().timer(), f64::INFINITY);
        }
        succeed(&hedge, b"a", 0.2);
        let timer = hedge.start(b"a", c"GET").unwrap().timer();
        assert!(is_near(timer, 0.2), "{timer}");
        assert_eq!((hedge.delay(b"a"), hedge.delay(b"b")), (timer, f64::INFINITY));
    }

    #[test]
    fn only_successes_of_allowed_methods_are_recorded() {
        let hedge = hedge(50.0, 1, 2);
        hedge.start(b"a", c"POST").unwrap().step(Event::Success, 1, 5.0).unwrap();
        hedge.start(b"a", c"GET").unwrap().step(Event::Fatal, 1, 5.0).unwrap();
        hedge.start(b"a", c"GET").unwrap().push_back(1, -1.0, 5.0).unwrap();
        drop(hedge.start(b"a", c"GET").unwrap());
        assert_eq!(hedge.delay(b"a"), f64::INFINITY);
    }

    #[test]
    fn the_recorded_latency_begins_with_the_oldest_running_attempt() {
        // Columns: the events before the last attempt succeeds at 3 s; the recorded latency.
        for (events, latency) in [
            (&[][..], 3.0),
            // The second attempt succeeds first, but the latency of the first attempt is at least 3 s.
            (&[(Event::Timer, 0, 1.0)], 3.0),
            (&[(Event::Failure, 1, 1.0)], 2.0),
            (&[(Event::Timer, 0, 1.0), (Event::Failure, 1, 1.5)], 2.0),
        ] {
            let hedge = hedge(50.0, 1, 1);
            succeed(&hedge, b"", 0.9);
            let mut plan = hedge.start(b"", c"GET").unwrap();
            for &(event, attempt, seconds) in events {
                plan.step(event, attempt, seconds).unwrap();
            }
            plan.step(Event::Success, plan.attempts(), 3.0).unwrap();
            // The median of two latencies is the shorter one, so a third latency reveals the longer one.
            succeed(&hedge, b"", 1e3);
            assert!(is_near(hedge.delay(b""), latency), "{events:?}: {}", hedge.delay(b""));
        }
    }

    #[test]
    fn hedging_does_not_lower_the_percentile_that_starts_it() {
        // The latencies of attempts are exponentially distributed with the mean 0.1 s. If only the latency of the
        // attempt that succeeds were recorded, slow attempts would be missing, and the percentile would become lower
        // and lower.
        let exact = 0.1 * 20f64.ln();
        let hedge = hedge(95.0, 100, 1);
        let mut seed = 1u64;
        let mut next = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            -0.1 * (1.0 - (seed >> 11) as f64 / (1u64 << 53) as f64).ln()
        };
        let mut hedges = 0;
        for _ in 0..20_000 {
            let mut plan = hedge.start(b"", c"GET").unwrap();
            let (first, second) = (next(), plan.timer() + next());
            if plan.timer() < first {
                plan.step(Event::Timer, 0, plan.timer()).unwrap();
                hedges += 1;
            }
            plan.step(Event::Success, if second < first { 2 } else { 1 }, second.min(first)).unwrap();
        }
        assert!((hedge.delay(b"") / exact - 1.0).abs() < 0.15, "{}", hedge.delay(b""));
        assert!((800..=1200).contains(&hedges), "{hedges} hedges for 20,000 requests");
    }

    #[test]
    fn a_further_key_drops_the_latencies_of_the_least_recently_used_key() {
        let hedge = hedge(50.0, 1, 2);
        succeed(&hedge, b"a", 1.0);
        let mut running = hedge.start(b"b", c"GET").unwrap();
        succeed(&hedge, b"a", 1.0);
        succeed(&hedge, b"c", 1.0);
        // The key of a running plan was dropped. The latency of this plan is added to no other key.
        assert_eq!(running.step(Event::Success, 1, 9.0).unwrap(), plan::Action::Done);
        assert_eq!(hedge.delay(b"b"), f64::INFINITY);
        assert!(is_near(hedge.delay(b"a"), 1.0) && is_near(hedge.delay(b"c"), 1.0));
        for i in 0..10_000u32 {
            succeed(&hedge, &i.to_le_bytes(), 1.0);
        }
        assert_eq!(hedge.latencies.lock().len(), 2);
    }

    #[test]
    fn a_fixed_delay_keeps_no_latencies() {
        let mut options = HedgeOptions::default();
        options.set_delay(0.5).unwrap();
        let hedge = Arc::new(Hedge::new(options));
        succeed(&hedge, b"a", 3.0);
        assert_eq!((hedge.delay(b"a"), hedge.latencies.lock().len()), (0.5, 0));
    }

    #[test]
    fn a_key_of_1025_bytes_and_a_method_that_is_no_token_are_refused() {
        let mut options = HedgeOptions::default();
        options.set_delay(0.5).unwrap();
        for hedge in [hedge(50.0, 1, 2), Arc::new(Hedge::new(options))] {
            hedge.start(&[0xff; 1024], c"GET").unwrap();
            for (key, method, message) in [
                (&[b'k'; 1025][..], c"GET", "key has 1025 bytes; it must have at most 1024"),
                (b"k", c"", "a method must not be empty"),
            ] {
                let error = hedge.start(key, method).err().unwrap();
                assert_eq!((error.status(), error.message()), (Status::InvalidArgument, message));
            }
        }
    }

    #[test]
    fn settings_outside_of_their_range_are_refused_by_name() {
        const NAN: f64 = f64::NAN;
        const INFINITY: f64 = f64::INFINITY;
        let mut options = HedgeOptions::default();
        for seconds in [NAN, INFINITY, -INFINITY, -1e-9, 1e9f64.next_up(), 1e308] {
            let message = format!("seconds must be 0 to 1000000000; it is {seconds}");
            assert_eq!(options.set_delay(seconds).unwrap_err().message(), message);
        }
        for percentile in [NAN, INFINITY, -1.0, 0.0, 0.95, 49.999, 99.901, 100.0] {
            let message = format!("percentile must be 50 to 99.9; it is {percentile}");
            assert_eq!(options.set_percentile(percentile, 1).unwrap_err().message(), message);
        }
        for value in [i32::MIN, -1, 0, 1001, i32::MAX] {
            let message = format!("minimum_samples must be 1 to 1000; it is {value}");
            assert_eq!(options.set_percentile(95.0, value).unwrap_err().message(), message);
        }
        for value in [i32::MIN, 0, 1, 11, i32::MAX] {
            let message = format!("max_attempts must be 2 to 10; it is {value}");
            assert_eq!(options.set_max_attempts(value).unwrap_err().message(), message);
        }
        for value in [i32::MIN, 0, (1 << 20) + 1, i32::MAX] {
            let message = format!("max_keys must be 1 to 1048576; it is {value}");
            assert_eq!(options.set_max_keys(value).unwrap_err().message(), message);
        }
        assert!(options.set_allowed_methods([c"GET", c"a b"]).is_err());
        assert_eq!(options.delay, HedgeOptions::default().delay);
        options.set_delay(1e9).unwrap();
        options.set_percentile(50.0, 1).unwrap();
        options.set_percentile(99.9, 1000).unwrap();
        options.set_max_attempts(10).unwrap();
        options.set_max_keys(1 << 20).unwrap();
    }
}
