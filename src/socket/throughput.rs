//! Enforces a minimum throughput: a number of bytes in each window of waiting time. The accounting reads no clock;
//! callers pass the time.
//!
//! Only time spent waiting for the peer counts, not the time between two reads. A window starts with the first wait. As
//! soon as the minimum number of bytes has been received, the window ends and the next one starts. If the window's time
//! passes before the minimum is reached, the check fails. So a silent peer is detected within one window, and a burst
//! of data does not extend later windows.

use std::os::fd::RawFd;
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::limit::Limit;
use crate::socket::{sys, wait};
use crate::status::Status;
use crate::timeout;

/// The minimum throughput of one connection and the state of its current window.
#[derive(Debug)]
pub struct Throughput {
    minimum: usize,
    window: Duration,
    /// The number of bytes received in the current window.
    bytes: usize,
    /// The time spent waiting in the current window.
    waited: Duration,
    /// The time at which the wait in progress started; `None` if none is in progress.
    since: Option<Instant>,
}

/// The failure of the check: the window in which too few bytes were received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooSlow {
    bytes: usize,
    waited: Duration,
    minimum: usize,
    window: Duration,
}

impl Throughput {
    /// Requires at least `bytes` received bytes in every `seconds` of waiting. 0 bytes or infinite seconds disable the
    /// check.
    pub fn new(bytes: usize, seconds: f64) -> Result<Throughput> {
        if bytes > 0 && (seconds.is_nan() || seconds <= 0.0) {
            let message = format!("seconds must be more than 0, or NETLIB_TIMEOUT_NONE; it is {seconds}");
            return Err(Error::new(Status::InvalidArgument, message));
        }
        let window = if bytes == 0 { None } else { Duration::try_from_secs_f64(seconds).ok() };
        Ok(Throughput {
            minimum: bytes,
            window: window.unwrap_or(Duration::MAX),
            bytes: 0,
            waited: Duration::ZERO,
            since: None,
        })
    }

    /// Starts a new window for the throughput check.
    pub(crate) fn restart(&mut self) {
        self.bytes = 0;
        self.waited = Duration::ZERO;
        self.since = None;
    }

    /// Starts a wait and returns the time left in the window. The time left may be zero if the previous wait is
    /// continued: then the caller only checks for data that has already arrived.
    pub(crate) fn begin_wait(&mut self, now: Instant) -> std::result::Result<Duration, TooSlow> {
        let continues = self.since.is_some();
        self.end_wait(now);
        if !continues && self.has_expired() {
            return Err(self.fail());
        }
        self.since = Some(now);
        Ok(self.window.saturating_sub(self.waited))
    }

    /// Ends the wait in progress, and adds its time to the window.
    pub(crate) fn end_wait(&mut self, now: Instant) {
        if let Some(since) = self.since.take() {
            self.waited = self.waited.saturating_add(now.saturating_duration_since(since));
        }
    }

    /// Keeps the wait in progress when a call has received nothing and returns to the application. The time until the
    /// next call counts as waiting time.
    pub(crate) fn continue_wait(&mut self, now: Instant) -> std::result::Result<(), TooSlow> {
        self.end_wait(now);
        if self.has_expired() {
            return Err(self.fail());
        }
        self.since = Some(now);
        Ok(())
    }

    /// Ends the window after a wait that lasted until the window's end.
    pub(crate) fn end_window(&mut self, now: Instant) -> TooSlow {
        self.end_wait(now);
        self.fail()
    }

    /// Adds received bytes to the current window.
    pub(crate) fn add(&mut self, bytes: usize) {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes >= self.minimum {
            self.restart();
        }
    }

    fn has_expired(&self) -> bool {
        self.waited >= self.window
    }

    /// Returns the failure, and starts a new window in case the application continues to read.
    fn fail(&mut self) -> TooSlow {
        let slow = TooSlow { bytes: self.bytes, waited: self.waited, minimum: self.minimum, window: self.window };
        self.restart();
        slow
    }

    /// Waits until the descriptor is readable, as `wait::wait_for` does, but at most for the time left in the window.
    pub fn wait_for_read(&mut self, fd: RawFd, seconds: f64, limit: Option<&Limit>) -> Result<Status> {
        let timeout = timeout::resolve(seconds, "timeout")?;
        let slow = |slow: TooSlow| slow.error(&format!("descriptor {fd}"), "");
        let left = self.begin_wait(Instant::now()).map_err(slow)?;
        let outcome = wait::wait(fd, sys::POLL_IN, Some(timeout.map_or(left, |timeout| timeout.min(left))), limit);
        match outcome {
            Ok(false) if timeout.is_none_or(|timeout| left <= timeout) => Err(slow(self.end_window(Instant::now()))),
            Ok(false) => self.continue_wait(Instant::now()).map(|()| Status::TimedOut).map_err(slow),
            Ok(true) => {
                self.end_wait(Instant::now());
                Ok(Status::Ok)
            }
            Err(error) => {
                self.end_wait(Instant::now());
                Err(error)
            }
        }
    }
}

impl TooSlow {
    /// Makes the error to report. `during` is " during the TLS handshake" or empty.
    pub(crate) fn error(self, peer: &str, during: &str) -> Error {
        let (waited, window) = (self.waited.as_secs_f64(), self.window.as_secs_f64());
        let message = format!(
            "{} bytes arrived from {peer} in {waited:.3} s of waiting{during}; the minimum is {} in {window} s",
            self.bytes, self.minimum
        );
        Error::new(Status::TooSlow, message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsRawFd;
    use std::os::unix::net::UnixStream;

    /// An event of a simulated connection. Times are in seconds.
    #[derive(Clone, Copy, Debug)]
    enum Event {
        /// The call waits for the given seconds and then receives the given number of bytes.
        Wait(u64, usize),
        /// The call waits for this time, receives no bytes, and returns to the application.
        Nothing(u64),
        /// The application does other work for this time.
        Work(u64),
        /// The call receives this many bytes without waiting.
        Add(usize),
        Restart,
    }
    use Event::*;

    /// The index of the event that failed, the bytes received in the window, and the seconds waited.
    type Failure = (usize, usize, u64);

    /// Runs the events and returns the first failure.
    fn run(bytes: usize, seconds: f64, events: &[Event]) -> Option<Failure> {
        let mut guard = Throughput::new(bytes, seconds).unwrap();
        let mut now = Instant::now();
        let second = Duration::from_secs(1);
        for (at, &event) in events.iter().enumerate() {
            let outcome = match event {
                Wait(time, came) => guard.begin_wait(now).map(|_| {
                    now += second * time as u32;
                    guard.end_wait(now);
                    guard.add(came);
                }),
                Nothing(time) => guard.begin_wait(now).and_then(|_| {
                    now += second * time as u32;
                    guard.continue_wait(now)
                }),
                Work(time) => {
                    now += second * time as u32;
                    Ok(())
                }
                Add(came) => {
                    guard.add(came);
                    Ok(())
                }
                Restart => {
                    guard.restart();
                    Ok(())
                }
            };
            if let Err(slow) = outcome {
                assert_eq!((slow.minimum, slow.window.as_secs_f64()), (bytes, seconds));
                assert_eq!((guard.bytes, guard.waited, guard.since), (0, Duration::ZERO, None));
                return Some((at, slow.bytes, slow.waited.as_secs()));
            }
        }
        None
    }

    #[test]
    fn a_throughput_window_with_too_few_bytes_fails() {
        let rows: &[(&[Event], Option<Failure>)] = &[
            (&[], None),
            // The peer sends one byte per second; the minimum is 100 bytes in 10 seconds.
            (&[Wait(1, 1); 9], None),
            (&[Wait(1, 1); 30], Some((10, 10, 10))),
            // The peer sends exactly the minimum, or one byte less.
            (&[Wait(1, 10); 100], None),
            (&[Wait(5, 50), Wait(5, 49), Wait(1, 0)], Some((2, 99, 10))),
            // Receiving the minimum ends the window, and the next window has its full time.
            (&[Wait(9, 100), Wait(9, 100), Wait(9, 99), Wait(1, 0), Wait(0, 0)], Some((4, 99, 10))),
            // Bytes that arrive at the end of the window or later are still delivered. If too few bytes arrived, the
            // next wait fails.
            (&[Wait(10, 100), Wait(10, 100), Wait(10, 99), Wait(0, 1)], Some((3, 99, 10))),
            (&[Wait(12, 100), Wait(9, 0)], None),
            (&[Wait(12, 99), Add(1), Wait(9, 0)], None),
            // A burst of data does not lower the minimum of the next window.
            (&[Wait(1, 1_000_000), Wait(9, 0), Wait(1, 0), Wait(0, 0)], Some((3, 0, 10))),
            (&[Wait(1, usize::MAX), Wait(1, usize::MAX), Nothing(9), Nothing(1)], Some((3, 0, 10))),
            // The time that the application spends between waits does not count against the peer.
            (&[Wait(9, 1), Work(1000), Wait(0, 1), Work(1000), Wait(0, 98), Wait(9, 0)], None),
            // After a call that returned without bytes, the time that the application spends does count. Bytes that
            // arrived in the meantime are received before the window can fail.
            (&[Nothing(0), Work(9), Nothing(0), Work(1), Nothing(0)], Some((4, 0, 10))),
            (&[Nothing(0), Work(1000), Wait(0, 100), Wait(9, 0)], None),
            (&[Nothing(0), Work(1000), Wait(0, 99), Wait(0, 1)], Some((3, 99, 1000))),
            (&[Nothing(9), Restart, Work(1000), Nothing(9)], None),
            (&[Nothing(9), Add(100), Work(1000), Nothing(9)], None),
            (&[Nothing(9), Add(99), Work(1), Nothing(0)], Some((3, 99, 10))),
            (&[Wait(9, 99), Restart, Wait(9, 0), Wait(1, 0), Nothing(0)], Some((4, 0, 10))),
        ];
        for (row, (events, expected)) in rows.iter().enumerate() {
            assert_eq!(run(100, 10.0, events), *expected, "row {row}");
        }
    }

    #[test]
    fn a_wait_lasts_at_most_for_the_rest_of_the_throughput_window() {
        let mut guard = Throughput::new(100, 10.0).unwrap();
        let (began, second) = (Instant::now(), Duration::from_secs(1));
        assert_eq!(guard.begin_wait(began), Ok(10 * second));
        guard.end_wait(began + 4 * second);
        guard.add(99);
        assert_eq!(guard.begin_wait(began + 50 * second), Ok(6 * second));
        assert_eq!(guard.continue_wait(began + 51 * second), Ok(()));
        assert_eq!(guard.begin_wait(began + 52 * second), Ok(4 * second));
        guard.end_wait(began + 52 * second);
        guard.add(1);
        assert_eq!(guard.begin_wait(began + 52 * second), Ok(10 * second));
        // If the time after a call without bytes exceeds the window, the next wait has zero time and only checks for
        // data.
        assert_eq!(guard.begin_wait(began + 99 * second), Ok(Duration::ZERO));
    }

    #[test]
    fn a_minimum_of_zero_or_an_infinite_window_disables_the_throughput_check() {
        for (bytes, seconds) in [(0, 1.0), (0, 0.0), (0, f64::NAN), (100, f64::INFINITY), (100, f64::MAX)] {
            assert_eq!(run(bytes, seconds, &[Wait(4_000_000_000, 0); 3]), None, "{bytes} in {seconds}");
        }
        for seconds in [0.0, -0.0, -1.0, f64::NAN, f64::NEG_INFINITY] {
            let error = Throughput::new(1, seconds).unwrap_err();
            assert_eq!(error.status(), Status::InvalidArgument, "{seconds}");
            assert!(error.message().contains("seconds must be more than 0"));
        }
        // A window shorter than the clock's resolution ends before the first wait.
        let mut guard = Throughput::new(1, f64::MIN_POSITIVE).unwrap();
        assert!(guard.begin_wait(Instant::now()).is_err());
    }

    #[test]
    fn the_throughput_error_states_bytes_and_seconds() {
        let mut guard = Throughput::new(1000, 10.0).unwrap();
        let began = Instant::now();
        guard.add(12);
        guard.begin_wait(began).unwrap();
        let slow = guard.end_window(began + Duration::from_micros(10_000_499));
        let error = slow.error("localhost", " during lunch");
        assert_eq!(error.status(), Status::TooSlow);
        assert_eq!(
            error.message(),
            "12 bytes arrived from localhost in 10.000 s of waiting during lunch; the minimum is 1000 in 10 s"
        );
    }

    #[test]
    fn the_window_or_the_timeout_or_the_limit_ends_a_throughput_wait() {
        let (near, _far) = UnixStream::pair().unwrap();
        let wait = |window, timeout, limit| {
            let limit = Limit::new(limit).unwrap();
            let mut guard = Throughput::new(1, window).unwrap();
            guard.wait_for_read(near.as_raw_fd(), timeout, Some(&limit)).map_err(|error| error.status())
        };
        let never = f64::INFINITY;
        assert_eq!(wait(0.01, never, never), Err(Status::TooSlow));
        assert_eq!(wait(0.01, 30.0, 30.0), Err(Status::TooSlow));
        assert_eq!(wait(30.0, 0.01, 30.0), Ok(Status::TimedOut));
        assert_eq!(wait(30.0, 30.0, 0.01), Err(Status::DeadlineExceeded));
        assert_eq!(wait(never, 0.0, never), Ok(Status::TimedOut));
        assert_eq!(wait(0.01, f64::NAN, never), Err(Status::InvalidArgument));

        // The time of a wait counts even if the limit or the timeout ended it. The time after the wait counts only if
        // the call returned TIMED_OUT, which asks the caller to wait again.
        let mut guard = Throughput::new(1, 30.0).unwrap();
        let limit = Limit::new(0.01).unwrap();
        assert!(guard.wait_for_read(near.as_raw_fd(), never, Some(&limit)).is_err());
        assert!(guard.since.is_none() && guard.waited > Duration::ZERO);
        assert_eq!(guard.wait_for_read(near.as_raw_fd(), 0.0, None).unwrap(), Status::TimedOut);
        assert!(guard.since.is_some());
    }
}
