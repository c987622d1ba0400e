//! The adaptive rate of AWS's SDKs. It limits nothing until the server asks to slow down for the first time. From then
//! on, it is a token bucket whose rate follows a cubic function, like the congestion window of CUBIC (RFC 9438).
//!
//! The constants and formulas are those of botocore (retries/adaptive.py, throttling.py and bucket.py) and smithy-rs
//! (client_rate_limiter.rs).

/// The factor by which a throttled request lowers the rate.
const BETA: f64 = 0.7;
/// The scale of the cubic function.
const SCALE: f64 = 0.4;
/// The rate at which the bucket is filled before the first report.
const INITIAL_FILL_RATE: f64 = 1.0;
/// The lowest rate at which the bucket is filled.
const MIN_FILL_RATE: f64 = 0.5;
/// The lowest capacity of the bucket.
const MIN_CAPACITY: f64 = 1.0;
/// The maximum ratio of the rate to the measured rate.
const MAX_GROWTH: f64 = 2.0;
/// The number of buckets per second in which requests are counted.
const BUCKETS_PER_SECOND: f64 = 2.0;
/// The weight of the newest bucket in the measured rate.
const SMOOTHING: f64 = 0.8;

/// The state of one key.
#[derive(Clone, Debug)]
pub(super) struct Adaptive {
    /// True after the server has asked to slow down for the first time.
    enabled: bool,
    /// The latest time, in seconds. The other times are not later.
    now: f64,
    tokens: f64,
    fill_rate: f64,
    capacity: f64,
    /// The time of the last throttled request.
    last_throttled: f64,
    /// The rate at which the last request was throttled.
    max_rate: f64,
    measured_rate: f64,
    /// The number of outcomes since `bucket`, the start of a half-second.
    count: f64,
    bucket: f64,
}

impl Adaptive {
    pub(super) fn new(now: f64) -> Adaptive {
        Adaptive {
            enabled: false,
            now,
            tokens: 0.0,
            fill_rate: INITIAL_FILL_RATE,
            capacity: MIN_CAPACITY,
            last_throttled: now,
            max_rate: 0.0,
            measured_rate: 0.0,
            count: 0.0,
            bucket: now.floor(),
        }
    }

    /// Returns whether the server has asked to slow down.
    pub(super) fn is_limited(&self) -> bool {
        self.enabled
    }

    /// Takes `n` tokens. If they are not available, returns the seconds until they are. If `n` exceeds the capacity, a
    /// full bucket is enough, and its number of tokens becomes negative.
    pub(super) fn take(&mut self, now: f64, n: f64) -> Result<(), f64> {
        self.advance(now);
        if !self.enabled {
            return Ok(());
        }
        let missing = n.min(self.capacity) - self.tokens;
        if missing > 0.0 {
            return Err(missing / self.fill_rate);
        }
        self.tokens -= n;
        Ok(())
    }

    /// Records the outcome of a request.
    pub(super) fn report(&mut self, now: f64, throttled: bool) {
        self.advance(now);
        self.measure();
        let rate = if throttled {
            // Before the first throttled request, no bucket limits the rate.
            let limit = if self.enabled { self.fill_rate } else { f64::INFINITY };
            self.max_rate = self.measured_rate.min(limit);
            self.last_throttled = self.now;
            self.enabled = true;
            self.max_rate * BETA
        } else {
            self.cubic_rate()
        };
        self.fill_rate = rate.min(MAX_GROWTH * self.measured_rate).max(MIN_FILL_RATE);
        self.capacity = self.fill_rate.max(MIN_CAPACITY);
        self.tokens = self.tokens.min(self.capacity);
    }

    /// Returns the seconds after a throttled request at which the rate reaches `max_rate` again.
    fn time_to_max_rate(&self) -> f64 {
        (self.max_rate * (1.0 - BETA) / SCALE).cbrt()
    }

    fn cubic_rate(&self) -> f64 {
        let time = self.now - self.last_throttled - self.time_to_max_rate();
        SCALE * time * time * time + self.max_rate
    }

    fn measure(&mut self) {
        self.count += 1.0;
        let bucket = (self.now * BUCKETS_PER_SECOND).floor() / BUCKETS_PER_SECOND;
        if bucket > self.bucket {
            let rate = self.count / (bucket - self.bucket);
            self.measured_rate = SMOOTHING * rate + (1.0 - SMOOTHING) * self.measured_rate;
            (self.count, self.bucket) = (0.0, bucket);
        }
    }

    /// Fills the bucket up to the time `now`, which is not before the time of an earlier call.
    fn advance(&mut self, now: f64) {
        self.tokens = ((now - self.now) * self.fill_rate + self.tokens).min(self.capacity);
        self.now = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_close(actual: f64, expected: f64, what: &str) {
        assert!((actual - expected).abs() <= 1e-12 * expected.abs(), "{what}: {actual}, expected {expected}");
    }

    fn after_throttling(now: f64, max_rate: f64) -> Adaptive {
        Adaptive { max_rate, last_throttled: now, ..Adaptive::new(now) }
    }

    /// The values of botocore's tests of the cubic function.
    #[test]
    fn the_time_to_the_maximum_rate_is_that_of_botocore() {
        assert_close(after_throttling(0.0, 10.0).time_to_max_rate(), 1.9574338205844317, "10");
        assert_close(after_throttling(0.0, 8.0).time_to_max_rate(), 1.8171205928321397, "8");
    }

    /// The tables of the tests of smithy-rs and aws-sdk-go-v2. Each row has a time in seconds and the rate at that
    /// time. The last request was throttled at 5 seconds, at a rate of 10.
    #[test]
    fn the_cubic_rates_are_those_of_smithy() {
        let mut state = after_throttling(5.0, 10.0);
        for (now, expected) in [
            (5.0, 7.0),
            (6.0, 9.64893600966),
            (7.0, 10.000030849917364),
            (8.0, 10.453284520772092),
            (9.0, 13.408697022224185),
            (10.0, 21.26626835427364),
            (11.0, 36.425998516920465),
        ] {
            state.now = now;
            assert_close(state.cubic_rate(), expected, &now.to_string());
        }
        let mut state = after_throttling(5.0, 10.0);
        let mut rate = 0.0;
        for (throttled, now, expected) in [
            (false, 5.0, 7.0),
            (false, 6.0, 9.64893600966),
            (true, 7.0, 6.754255206761999),
            (true, 8.0, 4.727978644733399),
            (false, 9.0, 4.670125557970046),
            (false, 10.0, 4.770870456867401),
            (false, 11.0, 6.011819748005445),
            (false, 12.0, 10.792973431384178),
        ] {
            state.now = now;
            if throttled {
                rate *= BETA;
                (state.max_rate, state.last_throttled) = (rate, now);
            } else {
                rate = state.cubic_rate();
            }
            assert_close(rate, expected, &now.to_string());
        }
    }

    /// The table of the test of smithy-rs for a client that sends a request every 0.2 seconds: throttled, seconds,
    /// measured rate, fill rate.
    const SENDING_RATES: &[(bool, f64, f64, f64)] = &[
        (false, 0.2, 0.0, 0.5),
        (false, 0.4, 0.0, 0.5),
        (false, 0.6, 4.800000000000001, 0.5),
        (false, 0.8, 4.800000000000001, 0.5),
        (false, 1.0, 4.16, 0.5),
        (false, 1.2, 4.16, 0.6912),
        (false, 1.4, 4.16, 1.0975999999999997),
        (false, 1.6, 5.632000000000001, 1.6384000000000005),
        (false, 1.8, 5.632000000000001, 2.3328),
        (true, 2.0, 4.3264, 3.0284799999999996),
        (false, 2.2, 4.3264, 3.48663917347026),
        (false, 2.4, 4.3264, 3.821874416040255),
        (false, 2.6, 5.66528, 4.053385727709987),
        (false, 2.8, 5.66528, 4.200373108479454),
        (false, 3.0, 4.333056, 4.282036558348658),
        (true, 3.2, 4.333056, 2.99742559084406),
        (false, 3.4, 4.333056, 3.4522263943863463),
    ];

    #[test]
    fn the_measured_rates_and_fill_rates_are_those_of_smithy() {
        let mut state = Adaptive::new(0.0);
        for (throttled, now, measured_rate, fill_rate) in SENDING_RATES {
            state.report(*now, *throttled);
            assert_close(state.measured_rate, *measured_rate, &format!("measured at {now}"));
            assert_close(state.fill_rate, *fill_rate, &format!("fill rate at {now}"));
            assert_close(state.capacity, fill_rate.max(1.0), &format!("capacity at {now}"));
        }
    }

    /// The table of botocore's test of the measured rate.
    #[test]
    fn requests_are_counted_per_half_second() {
        let mut state = Adaptive::new(0.0);
        for now in [0.1, 0.2, 0.3, 0.4, 0.49] {
            state.report(now, false);
            assert_close(state.measured_rate, 0.0, &now.to_string());
        }
        state.report(0.5, false);
        assert_close(state.measured_rate, 12.0 * 0.8, "0.5");
        let mut state = Adaptive::new(0.0);
        state.report(1.0, false);
        assert_close(state.measured_rate, 0.8, "1");
    }

    #[test]
    fn the_state_stays_in_its_range_after_steps_of_any_length() {
        let mut seed = 3u64;
        let mut random = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            seed >> 33
        };
        for _ in 0..200 {
            let mut state = Adaptive::new(0.0);
            let mut now = 0.0;
            for _ in 0..100 {
                now += match random() % 12 {
                    0 => 1e300,
                    1 => 1e9,
                    2 => f64::MIN_POSITIVE,
                    3 => 0.0,
                    step => step as f64 / 16.0,
                };
                if random() % 2 == 0 {
                    state.report(now, random() % 4 == 0);
                } else if let Err(wait) = state.take(now, 1.0) {
                    assert!(wait > 0.0 && wait.is_finite(), "{state:?}");
                }
                assert!(state.fill_rate >= 0.5 && state.capacity >= 1.0, "{state:?}");
                assert!(state.tokens <= state.capacity && !state.tokens.is_nan(), "{state:?}");
            }
        }
    }
}
