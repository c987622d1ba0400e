//! The breaker that opens when the ratio of failures in a window is too high, as in Polly and resilience4j.

use super::circuit::{Answer, CircuitState, Permit, find_or_add};
use super::window::Window;
use crate::error::Result;
use crate::overload::Report;
use crate::overload::key_table::KeyTable;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Settings {
    /// The ratio of failures to outcomes at which a key opens.
    pub(super) ratio: f64,
    /// The number of outcomes in the window below which a key stays closed.
    pub(super) minimum: u32,
    pub(super) window: f64,
    pub(super) open_time: f64,
    pub(super) probes: u32,
}

/// The defaults of Polly 8: CircuitBreakerConstants, and one probe.
impl Default for Settings {
    fn default() -> Settings {
        Settings { ratio: 0.1, minimum: 100, window: 30.0, open_time: 5.0, probes: 1 }
    }
}

enum Phase {
    Closed,
    Open { until: f64 },
    HalfOpen(Probes),
}

/// The probes of a half-open key: how many were permitted, and the outcomes of those that have ended.
struct Probes {
    /// May exceed the setting, because a further probe is permitted if the reports of the others are missing.
    permitted: u32,
    succeeded: u32,
    failed: u32,
    /// The time at which the last probe was permitted or the last outcome was reported.
    last_event: f64,
}

struct Circuit {
    phase: Phase,
    /// The number of changes of the phase. A report for a permit of an earlier phase is ignored.
    round: u64,
    window: Window,
}

impl Circuit {
    fn enter(&mut self, phase: Phase) {
        self.phase = phase;
        self.round += 1;
    }
}

pub(super) struct RatioBreaker {
    settings: Settings,
    circuits: KeyTable<Circuit>,
}

impl RatioBreaker {
    pub(super) fn new(settings: Settings, max_keys: usize) -> RatioBreaker {
        RatioBreaker { settings, circuits: KeyTable::new(max_keys) }
    }

    pub(super) fn ask(&mut self, key: &[u8], now: f64) -> Result<Answer> {
        let make = || Circuit { phase: Phase::Closed, round: 0, window: Window::new(now) };
        let is_closed = |circuit: &mut Circuit| matches!(circuit.phase, Phase::Closed);
        let (slot, circuit) = find_or_add(&mut self.circuits, key, make, is_closed)?;
        if let Phase::Open { until } = circuit.phase {
            if now < until {
                return Ok(Answer::Refuse { seconds: until - now });
            }
            circuit.enter(Phase::HalfOpen(Probes { permitted: 0, succeeded: 0, failed: 0, last_event: now }));
        }
        if let Phase::HalfOpen(probes) = &mut circuit.phase {
            // Without further probes, a lost report would block the key until its permit ends.
            let next = probes.last_event + self.settings.open_time;
            if probes.permitted >= self.settings.probes && now < next {
                return Ok(Answer::Refuse { seconds: next - now });
            }
            probes.permitted += 1;
            probes.last_event = now;
        }
        Ok(Answer::Permit(Permit { slot, mark: circuit.round }))
    }

    pub(super) fn report(&mut self, permit: Permit, now: f64, outcome: Report) {
        let settings = self.settings;
        let Some(circuit) = self.circuits.get_mut(permit.slot).filter(|circuit| circuit.round == permit.mark) else {
            return;
        };
        let open = Phase::Open { until: now + settings.open_time };
        match &mut circuit.phase {
            // A key that is open has given no permits since it opened.
            Phase::Open { .. } => {}
            Phase::HalfOpen(probes) => {
                match outcome {
                    Report::None => {
                        probes.permitted -= 1;
                        return;
                    }
                    Report::Success => probes.succeeded += 1,
                    Report::Failure | Report::Throttled => probes.failed += 1,
                }
                probes.last_event = now;
                if f64::from(probes.failed) / f64::from(settings.probes) >= settings.ratio {
                    circuit.enter(open);
                } else if probes.succeeded + probes.failed == settings.probes {
                    circuit.window = Window::new(now);
                    circuit.enter(Phase::Closed);
                }
            }
            Phase::Closed if outcome == Report::None => {}
            Phase::Closed => {
                circuit.window.advance(now, settings.window);
                circuit.window.add_request();
                if outcome == Report::Success {
                    circuit.window.add_accepted();
                    return;
                }
                let counts = circuit.window.counts();
                let failures = counts.requests - counts.accepted;
                let is_enough = counts.requests >= u64::from(settings.minimum);
                if is_enough && failures as f64 / counts.requests as f64 >= settings.ratio {
                    circuit.enter(open);
                }
            }
        }
    }

    pub(super) fn state(&self, key: &[u8], now: f64) -> CircuitState {
        let circuit = self.circuits.find(key).and_then(|slot| self.circuits.get(slot));
        match circuit.map(|circuit| &circuit.phase) {
            None | Some(Phase::Closed) => CircuitState::Closed,
            Some(Phase::Open { until }) if now < *until => CircuitState::Open,
            Some(Phase::Open { .. } | Phase::HalfOpen(_)) => CircuitState::HalfOpen,
        }
    }
}
