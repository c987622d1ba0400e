//! A sketch of the latest latencies of a key, which estimates one percentile with a bounded error and bounded memory.
//!
//! The sketch counts latencies in buckets whose bounds grow by the factor [`GROWTH`], as the DDSketch of Masson, Rim
//! and Lee (VLDB 2019) does. The estimate is the value whose relative difference from both bounds of its bucket is 5 %.

/// The maximum relative error of an estimate, for latencies from [`MIN`] to [`MAX`].
pub(super) const RELATIVE_ERROR: f64 = 0.05;
/// The upper bound of a bucket divided by its lower bound.
const GROWTH: f64 = (1.0 + RELATIVE_ERROR) / (1.0 - RELATIVE_ERROR);
/// The shortest and the longest latency in seconds. A latency outside of the range counts as the nearer bound.
const MIN: f64 = 1e-4;
const MAX: f64 = 1e3;
/// Bucket 0 holds [`MIN`]. Bucket i holds the latencies above `MIN * GROWTH^(i - 1)` and up to `MIN * GROWTH^i`.
const BUCKETS: usize = 163;

/// The number of latencies of a full generation. A generation that is full becomes the previous one, and replaces the
/// generation before it. A latency therefore leaves the sketch after at most 2,000 further latencies.
pub(super) const GENERATION_LENGTH: u16 = 1000;

#[derive(Clone, Copy)]
struct Generation {
    counts: [u16; BUCKETS],
    total: u16,
}

const EMPTY: Generation = Generation { counts: [0; BUCKETS], total: 0 };

/// The latest 1,000 to 2,000 latencies of a key. The sketch keeps the position of the percentile, so that recording a
/// latency usually moves the position by a few buckets, and reading the estimate takes constant time.
pub(super) struct LatencySketch {
    percentile: f64,
    current: Generation,
    previous: Generation,
    /// The bucket that contains the percentile, and the number of latencies in the buckets before it.
    position: usize,
    below: u32,
    /// The estimate of this bucket.
    estimate: f64,
}

impl LatencySketch {
    /// Makes an empty sketch for a percentile above 0 and at most 100.
    pub(super) fn new(percentile: f64) -> LatencySketch {
        LatencySketch { percentile, current: EMPTY, previous: EMPTY, position: 0, below: 0, estimate: MIN }
    }

    /// Adds a latency in seconds. The latency must not be NaN.
    pub(super) fn record(&mut self, seconds: f64) {
        let before = self.position;
        if self.current.total == GENERATION_LENGTH {
            self.previous = self.current;
            self.current = EMPTY;
            self.position = 0;
            self.below = 0;
        }
        let bucket = bucket_of(seconds);
        self.current.counts[bucket] += 1;
        self.current.total += 1;
        if bucket < self.position {
            self.below += 1;
        }
        self.move_to_percentile();
        if self.position != before {
            self.estimate = estimate_of(self.position);
        }
    }

    /// Returns the number of latencies from which [`LatencySketch::estimate`] is computed.
    pub(super) fn total(&self) -> u32 {
        u32::from(self.current.total) + u32::from(self.previous.total)
    }

    /// Returns the estimated percentile in seconds: the smallest latency that at least `percentile` percent of the
    /// latencies do not exceed. An empty sketch returns [`MIN`].
    pub(super) fn estimate(&self) -> f64 {
        self.estimate
    }

    fn count(&self, bucket: usize) -> u32 {
        u32::from(self.current.counts[bucket]) + u32::from(self.previous.counts[bucket])
    }

    /// Moves the position to the bucket that contains the latency with the rank `percentile / 100 * total`, rounded up.
    /// The rank is 1 to `total`, so the position stays within the buckets.
    fn move_to_percentile(&mut self) {
        let rank = ceil(self.percentile * f64::from(self.total()) / 100.0);
        while self.below >= rank {
            self.position -= 1;
            self.below -= self.count(self.position);
        }
        while self.below + self.count(self.position) < rank {
            self.below += self.count(self.position);
            self.position += 1;
        }
    }
}

/// Returns the value whose relative difference from both bounds of a bucket is [`RELATIVE_ERROR`].
fn estimate_of(bucket: usize) -> f64 {
    match bucket {
        0 => MIN,
        _ => (MIN * (bucket as f64 * GROWTH.ln()).exp() * 2.0 / (1.0 + GROWTH)).min(MAX),
    }
}

fn bucket_of(seconds: f64) -> usize {
    ceil((seconds.clamp(MIN, MAX) / MIN).ln() / GROWTH.ln()) as usize
}

/// Rounds up a number of at least 0. In a build for processors without SSE 4.1, `f64::ceil` is a slower function.
fn ceil(number: f64) -> u32 {
    let floor = number as u32;
    floor + u32::from(f64::from(floor) < number)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the smallest latency that at least `percentile` percent of the latencies do not exceed.
    fn exact(latencies: &[f64], percentile: f64) -> f64 {
        let mut sorted = latencies.to_vec();
        sorted.sort_by(f64::total_cmp);
        sorted[(percentile * sorted.len() as f64 / 100.0).ceil() as usize - 1]
    }

    /// A linear congruential generator (Knuth's MMIX) of numbers from 0 up to 1.
    struct Numbers(u64);

    impl Numbers {
        fn next(&mut self) -> f64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 11) as f64 / (1u64 << 53) as f64
        }
    }

    #[test]
    fn ceil_rounds_up_to_the_next_integer() {
        for number in [0.0, -0.0, f64::MIN_POSITIVE, 0.5, 1.0, 1.0f64.next_up(), 94.05, 95.0f64.next_down(), 2000.0] {
            assert_eq!(f64::from(ceil(number)), number.ceil(), "{number}");
        }
    }

    type Distribution = fn(&mut Numbers) -> f64;
    const DISTRIBUTIONS: [(&str, Distribution); 7] = [
        ("uniform", |numbers| 0.010 + 0.190 * numbers.next()),
        ("exponential", |numbers| 0.0002 - 0.050 * (1.0 - numbers.next()).ln()),
        (
            "bimodal",
            |numbers| if numbers.next() < 0.9 { 0.004 + 0.002 * numbers.next() } else { 1.0 + numbers.next() },
        ),
        ("constant", |_| 0.025),
        ("Pareto", |numbers| (0.001 * (1.0 - numbers.next()).powf(-1.0 / 1.5)).min(900.0)),
        ("fastest", |_| MIN),
        ("slowest", |_| MAX),
    ];
    const PERCENTILES: [f64; 7] = [50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 99.99];

    #[test]
    fn an_estimate_differs_from_the_exact_percentile_of_the_kept_latencies_by_at_most_5_percent() {
        for (name, distribution) in DISTRIBUTIONS {
            for percentile in PERCENTILES {
                let (mut sketch, mut latencies) = (LatencySketch::new(percentile), Vec::new());
                let mut numbers = Numbers(percentile as u64);
                let mut kept_from = 0;
                for i in 0..4500 {
                    if i % 1000 == 0 && i >= 2000 {
                        kept_from = i - 1000;
                    }
                    latencies.push(distribution(&mut numbers));
                    sketch.record(latencies[i]);
                    let kept = &latencies[kept_from..];
                    assert_eq!(sketch.total() as usize, kept.len());
                    // A comparison after every latency would take a minute.
                    if i < 50 || i % 97 == 0 || i % 1000 > 996 || i % 1000 < 3 {
                        let error = sketch.estimate() / exact(kept, percentile) - 1.0;
                        assert!(error.abs() <= RELATIVE_ERROR + 1e-12, "{name}, p{percentile}, {i}: {error}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_latency_outside_of_the_range_counts_as_the_nearer_bound() {
        for (seconds, bucket, estimate) in [
            (0.0, 0, MIN),
            (-0.0, 0, MIN),
            (f64::MIN_POSITIVE, 0, MIN),
            (MIN, 0, MIN),
            (1e3, BUCKETS - 1, 956.8),
            (1e300, BUCKETS - 1, 956.8),
            (f64::INFINITY, BUCKETS - 1, 956.8),
        ] {
            let mut sketch = LatencySketch::new(95.0);
            sketch.record(seconds);
            assert_eq!(bucket_of(seconds), bucket, "{seconds}");
            assert!((sketch.estimate() / estimate - 1.0).abs() < 0.05, "{seconds}: {}", sketch.estimate());
        }
    }

    #[test]
    fn old_latencies_leave_after_2000_further_ones() {
        let mut sketch = LatencySketch::new(95.0);
        (0..1000).for_each(|_| sketch.record(10.0));
        (0..1000).for_each(|_| sketch.record(0.1));
        assert!((sketch.estimate() / 10.0 - 1.0).abs() <= RELATIVE_ERROR, "{}", sketch.estimate());
        sketch.record(0.1);
        assert_eq!(sketch.total(), 1001);
        assert!((sketch.estimate() / 0.1 - 1.0).abs() <= RELATIVE_ERROR, "{}", sketch.estimate());
    }

    #[test]
    fn a_sketch_takes_less_than_700_bytes() {
        assert!(size_of::<LatencySketch>() < 700, "{}", size_of::<LatencySketch>());
    }
}
