//! A budget in which each request of the last seconds allows a fraction of a retry, with a minimum number of retries
//! per second: the retry budget of Finagle and tower.

use crate::error::{Error, Result};
use crate::overload::budget::kind::Kind;
use crate::overload::range;
use crate::status::Status;

/// The number of slots into which the window is divided, as in Finagle and tower. A deposit expires after one window at
/// the earliest, and after one window plus one slot at the latest.
const SLOTS: i64 = 10;

/// The slots that hold unexpired amounts: those of the window and the current slot.
const LIVE_SLOTS: usize = SLOTS as usize + 1;

/// The amount that a request deposits.
const DEPOSIT: i64 = 1_000_000;

/// The rules of a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct WindowRule {
    seconds: f64,
    /// The amount that a request deposits; 0 if only the minimum allows retries.
    deposit: i64,
    /// The amount that a retry withdraws.
    withdrawal: i64,
    /// The amount that can always be withdrawn within the time of a window.
    reserve: i64,
}

impl WindowRule {
    pub(crate) fn new(ratio: f64, least_per_second: f64, seconds: f64) -> Result<WindowRule> {
        let least = range::check(least_per_second, 0.0, 1e6, "least_per_second")?;
        // Finagle and tower have the same range.
        let seconds = range::check(seconds, 1.0, 60.0, "seconds")?;
        let (deposit, withdrawal) = if ratio == 0.0 {
            if least == 0.0 {
                let message = "ratio and least_per_second must not both be 0, because no retry would be allowed";
                return Err(Error::new(Status::InvalidArgument, message));
            }
            (0, DEPOSIT)
        } else {
            let ratio = range::check(ratio, 0.0001, 1000.0, "ratio")?;
            (DEPOSIT, (DEPOSIT as f64 / ratio).round() as i64)
        };
        let reserve = (least * seconds * withdrawal as f64).round() as i64;
        Ok(WindowRule { seconds, deposit, withdrawal, reserve })
    }

    /// Returns the state of a new key.
    pub(crate) fn start(&self, now: f64) -> Window {
        Window { slots: [0; LIVE_SLOTS], newest: self.slot(now), sum: 0 }
    }

    pub(crate) fn allows(&self, window: &mut Window, kind: Kind, now: f64) -> bool {
        kind == Kind::Request || self.balance(window, now) >= self.withdrawal
    }

    /// Records a request that is about to be sent.
    pub(crate) fn take(&self, window: &mut Window, kind: Kind, now: f64) {
        window.advance(self.slot(now));
        window.add(if kind == Kind::Request { self.deposit } else { -self.withdrawal });
    }

    /// Returns the number of retries that are allowed at present.
    pub(crate) fn left(&self, window: &mut Window, now: f64) -> f64 {
        (self.balance(window, now).max(0) / self.withdrawal) as f64
    }

    pub(crate) fn describe_denial(&self, kind: Kind) -> String {
        format!("is used up: the requests of the last {} s allow no further {}", self.seconds, kind.noun())
    }

    fn balance(&self, window: &mut Window, now: f64) -> i64 {
        window.advance(self.slot(now));
        self.reserve.saturating_add(window.sum)
    }

    fn slot(&self, now: f64) -> i64 {
        (now / (self.seconds / SLOTS as f64)).floor() as i64
    }
}

/// The amounts that the requests and retries with a key have deposited and withdrawn. Slots are numbered from the time
/// 0.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    /// The amount of the slot with the number `n` is at the index `n` modulo the number of slots.
    slots: [i64; LIVE_SLOTS],
    /// The number of the current slot.
    newest: i64,
    /// The sum of the slots.
    sum: i64,
}

impl Window {
    /// Removes the amounts that have expired when the slot with the number `now` begins.
    fn advance(&mut self, now: i64) {
        let passed = now.saturating_sub(self.newest).min(LIVE_SLOTS as i64);
        for after in 1..=passed {
            let expired = std::mem::take(self.slot_mut(self.newest.wrapping_add(after)));
            self.sum = self.sum.saturating_sub(expired);
        }
        self.newest = self.newest.max(now);
    }

    fn add(&mut self, amount: i64) {
        let newest = self.newest;
        let slot = self.slot_mut(newest);
        *slot = slot.saturating_add(amount);
        self.sum = self.sum.saturating_add(amount);
    }

    fn slot_mut(&mut self, number: i64) -> &mut i64 {
        &mut self.slots[number.rem_euclid(LIVE_SLOTS as i64) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sum of the slots must stay the sum that a list of all amounts gives.
    #[test]
    fn the_window_agrees_with_a_list_of_all_amounts() {
        let rule = WindowRule::new(0.3, 0.0, 2.0).unwrap();
        let (mut window, mut amounts) = (rule.start(-7.0), Vec::new());
        let (mut seed, mut now) = (7u64, -7.0);
        for _ in 0..20_000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            now += (seed >> 54) as f64 / 4096.0;
            let kind = if seed >> 33 & 3 == 0 { Kind::Transient } else { Kind::Request };
            amounts.retain(|(slot, _)| rule.slot(now) - slot <= SLOTS);
            let balance: i64 = amounts.iter().map(|(_, amount)| amount).sum();
            let allowed = kind == Kind::Request || balance >= rule.withdrawal;
            assert_eq!(rule.allows(&mut window, kind, now), allowed);
            if allowed {
                rule.take(&mut window, kind, now);
                amounts.push((rule.slot(now), if kind == Kind::Request { rule.deposit } else { -rule.withdrawal }));
            }
        }
    }

    #[test]
    fn extreme_times_leave_the_window_usable() {
        let rule = WindowRule::new(1000.0, 1e6, 1.0).unwrap();
        let mut window = rule.start(-1e300);
        for now in [-1e300, 0.0, 1e300, f64::MAX] {
            rule.take(&mut window, Kind::Request, now);
            assert!(rule.left(&mut window, now) >= 1000.0, "{now}");
        }
    }
}
