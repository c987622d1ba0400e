//! The adaptive rate of AWS's SDKs: off until the server asks to slow down for the first time; then a token bucket
//! whose rate follows a cubic function, like the congestion window of CUBIC (RFC 9438).
//!
//! The constants and formulas are those of botocore (retries/adaptive.py, throttling.py and bucket.py) and smithy-rs
//! (client_rate_limiter.rs).

/// The fraction of the rate that is left after a throttled request.
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

/// The maximum difference, in seconds, of two threads' clock readings that are used in the wrong order. A clock that
/// goes back further was set back.
const MAX_DISORDER: f64 = 1.0;

/// The state of one key.
#[derive(Clone, Debug)]
pub(super) struct Adaptive {
    /// Whether the server has asked to slow down.
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

    /// Takes `n` tokens. If they are not available, returns the seconds until they are. More tokens than the capacity
    /// are taken from a full bucket, which owes the rest.
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

    /// Fills the bucket up to the time `now`. If the clock was set back, the times in the state are set back by the
    /// same time, so that the clock counts as not having moved.
    fn advance(&mut self, now: f64) {
        if now < self.now - MAX_DISORDER {
            let back = self.now - now;
            self.now = now;
            self.last_throttled = (self.last_throttled - back).min(now);
            self.bucket = (((self.bucket - back) * BUCKETS_PER_SECOND).floor() / BUCKETS_PER_SECOND).min(now);
        } else if now > self.now {
            self.tokens = ((now - self.now) * self.fill_rate + self.tokens).min(self.capacity);
            self.now = now;
        }
    }
}
