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

/// The seconds a key must be closed for its multiplier to decrease by one. Envoy's outlier detection does this once per
/// sweep; its `interval` is 10 seconds by default.
const SWEEP: f64 = 10.0;

struct Circuit {
    /// The number of failures since the last success.
    failures: u32,
    is_open: bool,
    /// The time at which the key closes or has closed.
    until: f64,
    /// The number by which the open time was multiplied at the last opening. Each opening adds one, and each sweep
    /// during which the key is closed subtracts one, as in Envoy.
    multiplier: u32,
    /// The number of times the key has opened or closed. A report for a permit of an earlier round is ignored.
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
        // `as` converts a large number or an infinity to `u32::MAX`.
        let multiplier = self.multiplier.saturating_sub(sweeps as u32);
        // Without this bound, the multiplier of a key that has failed for days would need days to return to 1.
        let may_grow = f64::from(multiplier) * settings.open_time < settings.open_time_max + settings.open_time;
        self.multiplier = if may_grow { multiplier + 1 } else { multiplier };
        self.until = now + (f64::from(self.multiplier) * settings.open_time).min(settings.open_time_max);
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
        let make = || Circuit { failures: 0, is_open: false, until: now, multiplier: 0, round: 0 };
        let (slot, circuit) = find_or_add(&mut self.circuits, key, make, |circuit| !circuit.is_open(now))?;
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
        // If memory runs out, the key stays closed, because it could not be counted as open.
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
