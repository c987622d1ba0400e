//! A sliding window that counts the requests of the last seconds.

/// The number of buckets of a [`Window`]. Polly divides its window by the same number.
const BUCKETS: usize = 10;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) requests: u64,
    pub(super) accepted: u64,
}

#[derive(Clone, Copy, Default)]
struct Bucket {
    requests: u32,
    accepted: u32,
}

/// A sliding window of counts, divided into buckets. Each bucket covers a tenth of the window and expires as a whole.
/// So a count expires after nine tenths of the window at the earliest, and after the whole window at the latest.
#[derive(Default)]
pub(super) struct Window {
    /// The time at which the newest bucket began.
    start: f64,
    /// The number of the newest bucket. The bucket with number `n` is at the index `n % BUCKETS`.
    newest: u64,
    buckets: [Bucket; BUCKETS],
}

impl Window {
    pub(super) fn new(now: f64) -> Window {
        Window { start: now, ..Window::default() }
    }

    /// Moves the window of `length` seconds to the time `now`, and clears the buckets that have expired. Call this
    /// before every other method, with the current time.
    pub(super) fn advance(&mut self, now: f64, length: f64) {
        let width = length / BUCKETS as f64;
        let passed = now - self.start;
        if passed < width {
            return;
        }
        let steps = (passed / width).floor();
        if steps < BUCKETS as f64 {
            for _ in 0..steps as usize {
                self.newest += 1;
                *self.bucket() = Bucket::default();
            }
            self.start += steps * width;
        } else {
            self.newest += BUCKETS as u64;
            self.buckets = Default::default();
            self.start = now;
        }
    }

    pub(super) fn counts(&self) -> Counts {
        let zero = Counts::default();
        self.buckets.iter().fold(zero, |sum, bucket| Counts {
            requests: sum.requests + u64::from(bucket.requests),
            accepted: sum.accepted + u64::from(bucket.accepted),
        })
    }

    /// Returns the number of the newest bucket, for [`Window::remove_request`].
    pub(super) fn newest(&self) -> u64 {
        self.newest
    }

    pub(super) fn add_request(&mut self) {
        let bucket = self.bucket();
        bucket.requests = bucket.requests.saturating_add(1);
    }

    pub(super) fn add_accepted(&mut self) {
        let bucket = self.bucket();
        bucket.accepted = bucket.accepted.saturating_add(1);
    }

    /// Removes a request from the bucket in which it was counted, if the window still contains this bucket.
    pub(super) fn remove_request(&mut self, number: u64) {
        if self.newest - number < BUCKETS as u64 {
            let bucket = &mut self.buckets[number as usize % BUCKETS];
            bucket.requests = bucket.requests.saturating_sub(1);
        }
    }

    /// Returns the seconds until the oldest bucket expires.
    pub(super) fn until_next_bucket(&self, now: f64, length: f64) -> f64 {
        length / BUCKETS as f64 - (now - self.start)
    }

    fn bucket(&mut self) -> &mut Bucket {
        &mut self.buckets[self.newest as usize % BUCKETS]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_expires_after_ten_buckets() {
        // Columns: the time; the requests in the window before one is added at this time.
        let mut window = Window::new(100.0);
        for (now, before) in [
            (100.0, 0),
            (100.875, 1),
            (101.0, 2),
            (109.75, 3),
            (110.0, 2),
            (110.9375, 3),
            (111.0, 3),
            (120.0, 1),
            (130.0, 0),
            (1e300, 0),
            (1e300, 1),
        ] {
            window.advance(now, 10.0);
            assert_eq!(window.counts().requests, before, "{now}");
            window.add_request();
        }
    }

    #[test]
    fn a_request_is_removed_from_its_own_bucket() {
        let mut window = Window::new(0.0);
        window.add_request();
        let first = window.newest();
        window.advance(1.0, 10.0);
        window.add_request();
        window.remove_request(first);
        assert_eq!(window.counts(), Counts { requests: 1, accepted: 0 });
        window.remove_request(first);
        assert_eq!(window.counts().requests, 1);
        // The bucket of the first request now holds requests of a later time.
        window.advance(10.0, 10.0);
        window.add_request();
        window.remove_request(first);
        assert_eq!(window.counts().requests, 2);
    }

    #[test]
    fn extreme_lengths_and_times_neither_panic_nor_keep_old_counts() {
        for length in [f64::MIN_POSITIVE, 5e-324, 1e-9, f64::MAX] {
            let mut window = Window::new(-f64::MAX);
            window.add_request();
            window.advance(0.0, length);
            window.advance(f64::MAX, length);
            let expected = if length == f64::MAX { 1 } else { 0 };
            assert!(window.counts().requests <= expected, "{length}");
        }
    }
}
