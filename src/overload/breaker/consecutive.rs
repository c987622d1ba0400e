//! The breaker that opens after consecutive failures, as Envoy's outlier detection ejects hosts.

use super::circuit::{Answer, CircuitState, Permit, find_or_add};
use crate::error::Result;
use crate::memory;
use crate::overload::Report;
use crate::overload::key_table::{KeyTable, Slot};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Settings {
    /// The number of consecutive failures at which a key opens.
    pub(super) failures: u32,
    pub(super) open_time: f64,
    pub(super) open_time_max: f64,
    /// The percentage of the keys that may be open at once. One key may always be open.
    pub(super) max_open_percent: f64,
}

/// While a key is closed, its number of openings decreases by one in this time, in seconds: Envoy's outlier detection
/// decreases it at each sweep, and `interval` is 10 seconds.
const SWEEP: f64 = 10.0;

struct Circuit {
    /// The number of failures since the last success.
    failures: u32,
    is_open: bool,
    /// The time at which the key closes or has closed.
    until: f64,
    /// The number of openings at the time `until`. The open time is multiplied by this number.
    openings: u32,
    /// The number of changes between open and closed. A report for a permit of an earlier round is ignored.
    round: u64,
}

impl Circuit {
    fn is_open(&self, now: f64) -> bool {
        self.is_open && now < self.until
    }

    fn close_after_open_time(&mut self, now: f64) {
        if self.is_open && now >= self.until {
            self.is_open = false;
            self.round += 1;
        }
    }

    fn open(&mut self, now: f64, settings: &Settings) {
        let sweeps = ((now - self.until) / SWEEP).floor();
        // A conversion of a large number or of an infinity gives `u32::MAX`.
        let openings = self.openings.saturating_sub(sweeps as u32);
        // Without this bound, a key that has failed for days would need days to recover its first open time.
        let may_grow = f64::from(openings) * settings.open_time < settings.open_time_max + settings.open_time;
        self.openings = if may_grow { openings + 1 } else { openings };
        self.until = now + (f64::from(self.openings) * settings.open_time).min(settings.open_time_max);
        self.is_open = true;
        self.round += 1;
    }
}

pub(super) struct ConsecutiveBreaker {
    settings: Settings,
    circuits: KeyTable<Circuit>,
    /// The keys that have opened. Keys that have closed or were dropped are removed before the list is used.
    opened: Vec<Slot>,
}

impl ConsecutiveBreaker {
    pub(super) fn new(settings: Settings, max_keys: usize) -> ConsecutiveBreaker {
        ConsecutiveBreaker { settings, circuits: KeyTable::new(max_keys), opened: Vec::new() }
    }

    pub(super) fn ask(&mut self, key: &[u8], now: f64) -> Result<Answer> {
        let make = || Circuit { failures: 0, is_open: false, until: now, openings: 0, round: 0 };
        let (slot, circuit) = find_or_add(&mut self.circuits, key, make)?;
        circuit.close_after_open_time(now);
        if circuit.is_open {
            return Ok(Answer::Refuse { seconds: circuit.until - now });
        }
        Ok(Answer::Permit(Permit { slot, mark: circuit.round }))
    }

    pub(super) fn report(&mut self, permit: Permit, now: f64, outcome: Report) {
        let Some(circuit) = self.circuits.get_mut(permit.slot).filter(|circuit| circuit.round == permit.mark) else {
            return;
        };
        match outcome {
            Report::None => {}
            Report::Success => circuit.failures = 0,
            Report::Failure | Report::Throttled => {
                circuit.failures += 1;
                if circuit.failures >= self.settings.failures {
                    // Envoy also resets the counter if the percentage of open keys forbids the ejection.
                    circuit.failures = 0;
                    self.open(permit.slot, now);
                }
            }
        }
    }

    fn open(&mut self, slot: Slot, now: f64) {
        let circuits = &mut self.circuits;
        self.opened.retain(|slot| circuits.get(*slot).is_some_and(|circuit| circuit.is_open(now)));
        let percent = 100.0 * (self.opened.len() + 1) as f64 / circuits.len() as f64;
        if !self.opened.is_empty() && percent > self.settings.max_open_percent {
            return;
        }
        // Without memory to count the key among the open ones, the key stays closed.
        if let Some(circuit) = circuits.get_mut(slot)
            && memory::push(&mut self.opened, slot, "the open keys").is_ok()
        {
            circuit.open(now, &self.settings);
        }
    }

    pub(super) fn state(&self, key: &[u8], now: f64) -> CircuitState {
        let circuit = self.circuits.find(key).and_then(|slot| self.circuits.get(slot));
        if circuit.is_some_and(|circuit| circuit.is_open(now)) { CircuitState::Open } else { CircuitState::Closed }
    }
}
