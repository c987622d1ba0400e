//! The breaker that refuses requests with a probability: the client-side throttling of Google's book "Site Reliability
//! Engineering", chapter "Handling Overload".

use super::circuit::{Answer, CircuitState, Permit, find_or_add};
use super::window::{Counts, Window};
use crate::error::Result;
use crate::overload::Report;
use crate::overload::key_table::KeyTable;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Settings {
    /// The number of requests per accepted request up to which no request is refused; K in the book.
    pub(super) multiplier: f64,
    /// The number of requests in the window below which no request is refused.
    pub(super) minimum: u32,
    pub(super) window: f64,
    pub(super) max_probability: f64,
}

impl Settings {
    fn probability_at(&self, window: &mut Window, now: f64) -> f64 {
        window.advance(now, self.window);
        self.probability(window.counts())
    }

    fn probability(&self, counts: Counts) -> f64 {
        if counts.requests < u64::from(self.minimum) {
            return 0.0;
        }
        let excess = counts.requests as f64 - self.multiplier * counts.accepted as f64;
        (excess / (counts.requests as f64 + 1.0)).clamp(0.0, self.max_probability)
    }
}

pub(super) struct AdaptiveBreaker {
    settings: Settings,
    windows: KeyTable<Window>,
}

impl AdaptiveBreaker {
    pub(super) fn new(settings: Settings, max_keys: usize) -> AdaptiveBreaker {
        AdaptiveBreaker { settings, windows: KeyTable::new(max_keys) }
    }

    /// `draw` is a random number of at least 0 and less than 1.
    pub(super) fn ask(&mut self, key: &[u8], now: f64, draw: f64) -> Result<Answer> {
        let settings = self.settings;
        let (slot, window) = find_or_add(
            &mut self.windows,
            key,
            || Window::new(now),
            |window| settings.probability_at(window, now) == 0.0,
        )?;
        let probability = settings.probability_at(window, now);
        // A request counts before it is sent, and also if it is refused. If it counted at its end, and every request
        // timed out, the breaker would refuse no request before the first timeout.
        window.add_request();
        if draw < probability {
            return Ok(Answer::Refuse { seconds: window.until_next_bucket(now, settings.window) });
        }
        Ok(Answer::Permit(Permit { slot, mark: window.newest() }))
    }

    pub(super) fn report(&mut self, permit: Permit, now: f64, outcome: Report) {
        let Some(window) = self.windows.get_mut(permit.slot) else { return };
        window.advance(now, self.settings.window);
        match outcome {
            // An answer counts from its arrival. If it counted from the time of its request, the answers of a server
            // that is slower than the window would never count.
            Report::Success => window.add_accepted(),
            Report::Failure | Report::Throttled => {}
            Report::None => window.remove_request(permit.mark),
        }
    }

    pub(super) fn state(&mut self, key: &[u8], now: f64) -> CircuitState {
        let Some(window) = self.windows.find(key).and_then(|slot| self.windows.get_mut(slot)) else {
            return CircuitState::Closed;
        };
        if self.settings.probability_at(window, now) > 0.0 { CircuitState::HalfOpen } else { CircuitState::Closed }
    }
}
