//! A budget in which each request of the last seconds allows a fraction of a retry, with a minimum number of retries
//! per second: the retry budget of Finagle and tower.

use crate::error::{Error, Result};
use crate::overload::budget::kind::Kind;
use crate::overload::range;
use crate::status::Status;

/// The number of slots into which the window is divided, as in Finagle and tower. A request expires after one window at
/// the earliest, and after one window plus one slot at the latest.
const SLOTS: i64 = 10;

/// The slots that hold unexpired requests: those of the window and the current slot.
const LIVE_SLOTS: usize = SLOTS as usize + 1;

/// Compensates for rounding errors: the product of 0.57 and 100 is slightly less than 57, and would be rounded down to
/// 56. The tolerance is added before a number of retries is rounded down.
const TOLERANCE: f64 = 1e-6;

/// The rules of a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct WindowRule {
    seconds: f64,
    /// The number of retries that each request allows.
    ratio: f64,
    /// The number of retries that are always allowed within the time of a window.
    reserve: f64,
}

impl WindowRule {
    pub(crate) fn new(ratio: f64, least_per_second: f64, seconds: f64) -> Result<WindowRule> {
        let least = range::check(least_per_second, 0.0, 1e6, "least_per_second")?;
        // Finagle and tower have the same range.
        let seconds = range::check(seconds, 1.0, 60.0, "seconds")?;
        if ratio == 0.0 && least == 0.0 {
            let message = "ratio and least_per_second must not both be 0, because no retry would be allowed";
            return Err(Error::new(Status::InvalidArgument, message));
        }
        if ratio != 0.0 {
            range::check(ratio, 0.0001, 1000.0, "ratio")?;
        }
        Ok(WindowRule { seconds, ratio, reserve: least * seconds })
    }

    /// Returns the state of a new key.
    pub(crate) fn start(&self, now: f64) -> Window {
        Window { slots: [Counts::default(); LIVE_SLOTS], newest: self.slot(now), sum: Counts::default() }
    }

    pub(crate) fn allows(&self, window: &mut Window, kind: Kind, now: f64) -> bool {
        kind == Kind::Request || self.left(window, now) >= 1.0
    }

    /// Records a request that is about to be sent.
    pub(crate) fn take(&self, window: &mut Window, kind: Kind, now: f64) {
        window.advance(self.slot(now));
        window.add(kind);
    }

    /// Returns the number of retries that are allowed at present.
    pub(crate) fn left(&self, window: &mut Window, now: f64) -> f64 {
        window.advance(self.slot(now));
        let Counts { requests, retries } = window.sum;
        let most = (self.ratio * f64::from(requests) + self.reserve + TOLERANCE).floor();
        (most - f64::from(retries)).max(0.0)
    }

    pub(crate) fn describe_denial(&self, kind: Kind) -> String {
        format!("is used up: the requests of the last {} s allow no further {}", self.seconds, kind.noun())
    }

    fn slot(&self, now: f64) -> i64 {
        (now / (self.seconds / SLOTS as f64)).floor() as i64
    }
}

/// The numbers of first attempts and of retries.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    requests: u32,
    retries: u32,
}

impl Counts {
    fn add(&mut self, kind: Kind) {
        let count = if kind == Kind::Request { &mut self.requests } else { &mut self.retries };
        *count = count.saturating_add(1);
    }
}

/// The requests and retries with a key. Slots are numbered from the time 0.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    /// The counts of the slot with the number `n` are at the index `n` modulo the number of slots.
    slots: [Counts; LIVE_SLOTS],
    /// The number of the current slot.
    newest: i64,
    /// The sum of the slots.
    sum: Counts,
}

impl Window {
    /// Removes the counts that have expired when the slot with the number `now` begins.
    fn advance(&mut self, now: i64) {
        let passed = now.saturating_sub(self.newest).min(LIVE_SLOTS as i64);
        for after in 1..=passed {
            let expired = std::mem::take(self.slot_mut(self.newest.wrapping_add(after)));
            self.sum.requests = self.sum.requests.saturating_sub(expired.requests);
            self.sum.retries = self.sum.retries.saturating_sub(expired.retries);
        }
        self.newest = self.newest.max(now);
    }

    fn add(&mut self, kind: Kind) {
        self.sum.add(kind);
        self.slot_mut(self.newest).add(kind);
    }

    fn slot_mut(&mut self, number: i64) -> &mut Counts {
        &mut self.slots[number.rem_euclid(LIVE_SLOTS as i64) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sum of the slots must stay the sum that a list of all requests gives.
    #[test]
    fn the_window_agrees_with_a_list_of_all_requests() {
        let rule = WindowRule::new(0.3, 0.0, 2.0).unwrap();
        let (mut window, mut requests) = (rule.start(-7.0), Vec::new());
        let (mut seed, mut now) = (7u64, -7.0);
        for _ in 0..20_000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            now += (seed >> 54) as f64 / 4096.0;
            let kind = if seed >> 33 & 3 == 0 { Kind::Transient } else { Kind::Request };
            requests.retain(|(slot, _)| rule.slot(now) - slot <= SLOTS);
            let retries = requests.iter().filter(|(_, kind)| *kind == Kind::Transient).count();
            let allowed = kind == Kind::Request || (retries + 1) * 10 <= (requests.len() - retries) * 3;
            assert_eq!(rule.allows(&mut window, kind, now), allowed);
            if allowed {
                rule.take(&mut window, kind, now);
                requests.push((rule.slot(now), kind));
            }
        }
    }

    #[test]
    fn the_number_of_retries_is_the_ratio_of_the_requests_rounded_down() {
        for (ratio, requests, expected) in [
            (0.6, 4, 2.0),
            (0.6, 5, 3.0),
            (0.57, 100, 57.0),
            (1.0 / 3.0, 2, 0.0),
            (1.0 / 3.0, 3, 1.0),
            (0.7, 1_000_000, 700_000.0),
            (700.0, 3, 2100.0),
        ] {
            let rule = WindowRule::new(ratio, 0.0, 1.0).unwrap();
            let mut window = rule.start(0.0);
            for _ in 0..requests {
                rule.take(&mut window, Kind::Request, 0.0);
            }
            assert_eq!(rule.left(&mut window, 0.0), expected, "{ratio} {requests}");
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
