//! Timeouts for connecting, for reading and in total. The total timeout is measured from the start of connecting.

use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::callback::Clock;
use crate::error::{Error, Result, TimeoutKind};
use crate::status::Status;

/// The timeout value that stands for the process default.
pub const DEFAULT: f64 = -1.0;
/// The timeout value that stands for no timeout.
pub const NONE: f64 = f64::INFINITY;

/// The process default in seconds, as the bits of a double. netlib has no other process-wide setting.
static PROCESS_DEFAULT: AtomicU64 = AtomicU64::new(NONE.to_bits());

/// Returns the process default of timeouts, in seconds; [`NONE`] until a default is set.
pub fn process_default() -> f64 {
    f64::from_bits(PROCESS_DEFAULT.load(Ordering::Relaxed))
}

pub fn set_process_default(seconds: f64) -> Result<()> {
    let seconds = require_positive(seconds, "seconds", "or NETLIB_TIMEOUT_NONE")?;
    PROCESS_DEFAULT.store(seconds.to_bits(), Ordering::Relaxed);
    Ok(())
}

/// Converts the timeout of one operation; `None` means no timeout. The process default replaces [`DEFAULT`]. 0 is
/// allowed and means not to wait. `name` is the parameter's name for the error message.
#[inline]
pub fn resolve(seconds: f64, name: &str) -> Result<Option<Duration>> {
    let seconds = if seconds == DEFAULT { process_default() } else { seconds };
    if seconds.is_nan() || seconds < 0.0 {
        return Err(invalid_time_limit(seconds, name));
    }
    // A number of seconds too large for a Duration is treated as no timeout.
    Ok(Duration::try_from_secs_f64(seconds).ok())
}

#[cold]
fn invalid_time_limit(seconds: f64, name: &str) -> Error {
    let message =
        format!("{name} must be 0 seconds or more, NETLIB_TIMEOUT_NONE or NETLIB_TIMEOUT_DEFAULT; it is {seconds}");
    Error::new(Status::InvalidArgument, message)
}

/// The total, connect and read timeouts of a request. Each timeout is a number of seconds above 0 or [`NONE`]; the
/// connect and read timeouts may also be [`DEFAULT`].
pub struct Timeout {
    total: f64,
    connect: f64,
    read: f64,
    clock: Option<Clock>,
    started: Option<ClockReading>,
}

/// A time, read from the system's clock or from the application's.
#[derive(Clone, Copy)]
enum ClockReading {
    System(Instant),
    Given(f64),
}

/// The rest of a total timeout, copied from a [`Timeout`]. The rest is measured with the system's clock, even if the
/// timeout uses the application's clock.
#[derive(Clone, Copy, Debug)]
pub struct TotalTimeout {
    left: Duration,
    /// The time at which `left` was computed; `None` if the timeout's clock was not running.
    since: Option<Instant>,
}

impl TotalTimeout {
    /// Returns the time at which the total timeout passes, for an operation that started at `started`. `None` if that
    /// time is out of the clock's range.
    pub(crate) fn deadline(self, started: Instant) -> Option<Instant> {
        self.since.unwrap_or(started).checked_add(self.left)
    }
}

impl Timeout {
    pub fn new(total: f64, connect: f64, read: f64) -> Result<Timeout> {
        Ok(Timeout {
            total: require_positive(total, "total", "or NETLIB_TIMEOUT_NONE")
                .map_err(|error| error.with_invalid_timeout(TimeoutKind::Total))?,
            connect: require_positive_or_default(connect, "connect", TimeoutKind::Connect)?,
            read: require_positive_or_default(read, "read", TimeoutKind::Read)?,
            clock: None,
            started: None,
        })
    }

    /// Creates a timeout with one value for connecting and reading. The error for an invalid value is about the connect
    /// timeout, because urllib3 checks the connect timeout first.
    pub fn from_float(timeout: f64) -> Result<Timeout> {
        let timeout = require_positive_or_default(timeout, "timeout", TimeoutKind::Connect)?;
        Timeout::new(NONE, timeout, timeout)
    }

    /// Returns an unstarted `Timeout` with the same timeouts and the same clock.
    pub fn unstarted(&self) -> Timeout {
        Timeout { clock: self.clock.clone(), started: None, ..*self }
    }

    /// Sets the clock; `None` means the system's clock. Fails after [`Timeout::start_connect`], because times of two
    /// clocks cannot be compared. Returns the previous clock, which the caller drops.
    pub fn set_clock(&mut self, clock: Option<Clock>) -> Result<Option<Clock>> {
        if self.started.is_some() {
            return Err(state_error("the timeout's clock has been started and cannot be replaced"));
        }
        Ok(mem::replace(&mut self.clock, clock))
    }

    pub fn start_connect(&mut self) -> Result<()> {
        if self.started.is_some() {
            return Err(state_error("the timeout's clock has already been started"));
        }
        self.started = Some(self.now()?);
        Ok(())
    }

    /// Returns the seconds since [`Timeout::start_connect`].
    pub fn connect_duration(&self) -> Result<f64> {
        let Some(started) = self.started else {
            return Err(state_error("the timeout's clock has not been started"));
        };
        let elapsed = match (started, self.now()?) {
            (ClockReading::System(started), ClockReading::System(now)) => {
                now.saturating_duration_since(started).as_secs_f64()
            }
            (ClockReading::Given(started), ClockReading::Given(now)) => now - started,
            _ => return Err(Error::new(Status::Internal, "a started timeout's clock was replaced")),
        };
        if elapsed.is_finite() && elapsed >= 0.0 {
            Ok(elapsed)
        } else {
            Err(Error::new(
                Status::CallbackFailed,
                format!("the time of the clock callback changed by {elapsed} seconds"),
            ))
        }
    }

    /// Returns the time at which the total timeout passes; `None` without a total timeout. Fails if there is a total
    /// timeout and the timeout's clock has not been started.
    pub(crate) fn total_deadline(&self) -> Result<Option<Instant>> {
        match self.rest_of_total()? {
            Some(TotalTimeout { since: None, .. }) => Err(state_error("the timeout's clock has not been started")),
            rest => Ok(rest.and_then(|total| total.deadline(Instant::now()))),
        }
    }

    /// Returns the rest of the total timeout; `None` without a total timeout.
    pub fn rest_of_total(&self) -> Result<Option<TotalTimeout>> {
        let Ok(total) = Duration::try_from_secs_f64(self.total) else { return Ok(None) };
        if self.started.is_none() {
            return Ok(Some(TotalTimeout { left: total, since: None }));
        }
        let elapsed = Duration::try_from_secs_f64(self.connect_duration()?).unwrap_or(Duration::MAX);
        Ok(Some(TotalTimeout { left: total.saturating_sub(elapsed), since: Some(Instant::now()) }))
    }

    pub fn total(&self) -> f64 {
        self.total
    }

    pub fn connect(&self) -> f64 {
        self.connect
    }

    pub fn read(&self) -> f64 {
        self.read
    }

    /// Returns the timeout for connecting: the shorter of the connect and the total timeout.
    pub fn connect_timeout(&self) -> f64 {
        shorter(self.connect, self.total)
    }

    /// Returns the timeout for reading: the shorter of the read timeout and the rest of the total timeout after
    /// connecting, which is at least 0.
    pub fn read_timeout(&self) -> Result<f64> {
        if self.total == NONE {
            return Ok(self.read);
        }
        let left = self.total - self.connect_duration()?;
        Ok(shorter(self.read, left.max(0.0)))
    }

    fn now(&self) -> Result<ClockReading> {
        let Some(clock) = &self.clock else { return Ok(ClockReading::System(Instant::now())) };
        match clock()? {
            seconds if seconds.is_finite() => Ok(ClockReading::Given(seconds)),
            seconds => Err(Error::new(
                Status::CallbackFailed,
                format!("the clock callback reported {seconds}; it must report a finite number of seconds"),
            )),
        }
    }
}

/// Returns the shorter of a timeout and the total timeout. If the timeout is [`DEFAULT`], returns the total timeout; if
/// there is no total timeout either, returns [`DEFAULT`], and the process default is looked up when the timeout is
/// used.
fn shorter(limit: f64, total: f64) -> f64 {
    match (limit == DEFAULT, total == NONE) {
        (true, true) => DEFAULT,
        (true, false) => total,
        (false, _) => limit.min(total),
    }
}

fn require_positive_or_default(seconds: f64, name: &str, kind: TimeoutKind) -> Result<f64> {
    if seconds == DEFAULT {
        return Ok(seconds);
    }
    require_positive(seconds, name, "NETLIB_TIMEOUT_NONE or NETLIB_TIMEOUT_DEFAULT")
        .map_err(|error| error.with_invalid_timeout(kind))
}

/// Checks that the seconds are more than 0; infinity is allowed. `others` lists the other allowed values for the error
/// message.
fn require_positive(seconds: f64, name: &str, others: &str) -> Result<f64> {
    if seconds > 0.0 {
        return Ok(seconds);
    }
    Err(Error::new(Status::InvalidArgument, format!("{name} must be more than 0 seconds, {others}; it is {seconds}")))
}

fn state_error(problem: &str) -> Error {
    Error::new(Status::TimeoutStateError, problem)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    /// A clock whose time the test sets.
    struct FakeClock(Arc<AtomicU64>);

    impl FakeClock {
        fn at(seconds: f64) -> FakeClock {
            FakeClock(Arc::new(AtomicU64::new(seconds.to_bits())))
        }

        fn set(&self, seconds: f64) {
            self.0.store(seconds.to_bits(), Ordering::Relaxed);
        }

        fn clock(&self) -> Option<Clock> {
            let reading = Arc::clone(&self.0);
            Some(Arc::new(move || Ok(f64::from_bits(reading.load(Ordering::Relaxed)))))
        }
    }

    #[test]
    fn errors_of_invalid_timeouts_name_the_parameter_and_record_the_kind() {
        for bad in [0.0, -0.0, -0.5, -2.0, f64::NAN, f64::NEG_INFINITY] {
            for (result, name, kind) in [
                (Timeout::new(bad, 1.0, 1.0), "total", TimeoutKind::Total),
                (Timeout::new(1.0, bad, 1.0), "connect", TimeoutKind::Connect),
                (Timeout::new(1.0, 1.0, bad), "read", TimeoutKind::Read),
                (Timeout::new(bad, bad, bad), "total", TimeoutKind::Total),
                (Timeout::from_float(bad), "timeout", TimeoutKind::Connect),
            ] {
                let error = result.err().unwrap();
                assert_eq!(error.invalid_timeout(), Some(kind));
                assert_eq!(error.status(), Status::InvalidArgument);
                assert!(error.message().starts_with(&format!("{name} must be")), "{}", error.message());
            }
        }
        assert!(Timeout::new(DEFAULT, 1.0, 1.0).is_err(), "total has no default to stand for");
        let timeout = Timeout::from_float(2.5).unwrap();
        assert_eq!((timeout.total(), timeout.connect(), timeout.read()), (NONE, 2.5, 2.5));
    }

    /// Tests every combination of total, connect and read timeout; connecting takes 4 seconds.
    #[test]
    fn the_connect_and_read_timeouts_never_exceed_the_remaining_total_time() {
        let limits = [NONE, DEFAULT, 1.0, 5.0];
        for total in [NONE, 3.0, 10.0] {
            for connect in limits {
                for read in limits {
                    let clock = FakeClock::at(100.0);
                    let mut timeout = Timeout::new(total, connect, read).unwrap();
                    timeout.set_clock(clock.clock()).unwrap();
                    let expected_connect = match (total == NONE, connect) {
                        (true, _) => connect,
                        (false, DEFAULT | NONE) => total,
                        (false, _) => connect.min(total),
                    };
                    assert_eq!(timeout.connect_timeout(), expected_connect, "{total} {connect}");
                    match timeout.read_timeout() {
                        Ok(before) => assert!(total == NONE && before == read),
                        Err(error) => assert!(total != NONE && error.status() == Status::TimeoutStateError),
                    }
                    timeout.start_connect().unwrap();
                    clock.set(104.0);
                    let expected_read = match (total, read) {
                        (NONE, _) => read,
                        (3.0, _) => 0.0,
                        (_, DEFAULT | NONE) => 6.0,
                        (_, read) => read.min(6.0),
                    };
                    assert_eq!(timeout.read_timeout().unwrap(), expected_read, "{total} {read}");
                    assert_eq!(timeout.connect_timeout(), expected_connect);
                }
            }
        }
    }

    #[test]
    fn the_clock_of_a_timeout_can_be_started_only_once() {
        let clock = FakeClock::at(5.0);
        let mut timeout = Timeout::new(NONE, DEFAULT, DEFAULT).unwrap();
        assert_eq!(timeout.connect_duration().unwrap_err().status(), Status::TimeoutStateError);
        timeout.set_clock(clock.clock()).unwrap();
        timeout.start_connect().unwrap();
        clock.set(5.25);
        assert_eq!(timeout.start_connect().unwrap_err().status(), Status::TimeoutStateError);
        assert_eq!(timeout.connect_duration().unwrap(), 0.25);
        assert_eq!(timeout.set_clock(None).err().unwrap().status(), Status::TimeoutStateError);

        let mut copy = timeout.unstarted();
        assert_eq!(copy.connect_duration().unwrap_err().status(), Status::TimeoutStateError);
        copy.start_connect().unwrap();
        assert_eq!(copy.connect_duration().unwrap(), 0.0, "the copy has the same source of time");
        assert_eq!(timeout.connect_duration().unwrap(), 0.25);
    }

    #[test]
    fn the_connect_duration_measured_without_a_clock_callback_never_decreases() {
        let mut timeout = Timeout::new(1e9, DEFAULT, DEFAULT).unwrap();
        timeout.start_connect().unwrap();
        let first = timeout.connect_duration().unwrap();
        assert!(first >= 0.0 && timeout.connect_duration().unwrap() >= first);
    }

    #[test]
    fn decreasing_or_non_finite_times_from_a_clock_callback_are_errors() {
        for (start, later) in [(0.0, f64::NAN), (0.0, f64::INFINITY), (1.0, 0.0), (f64::MIN, f64::MAX)] {
            let clock = FakeClock::at(start);
            let mut timeout = Timeout::new(1.0, DEFAULT, DEFAULT).unwrap();
            timeout.set_clock(clock.clock()).unwrap();
            timeout.start_connect().unwrap();
            clock.set(later);
            assert_eq!(timeout.read_timeout().unwrap_err().status(), Status::CallbackFailed, "{start} {later}");
        }
        let clock = FakeClock::at(f64::NAN);
        let mut timeout = Timeout::from_float(1.0).unwrap();
        timeout.set_clock(clock.clock()).unwrap();
        assert_eq!(timeout.start_connect().unwrap_err().status(), Status::CallbackFailed);
        clock.set(1.0);
        timeout.start_connect().expect("a failed start leaves the clock unstarted");
    }

    /// Only this test changes the process default, because tests run in parallel.
    #[test]
    fn the_default_timeout_resolves_to_the_process_default() {
        assert_eq!(resolve(DEFAULT, "timeout").unwrap(), None);
        for bad in [0.0, DEFAULT, -3.0, f64::NAN, f64::NEG_INFINITY] {
            assert_eq!(set_process_default(bad).unwrap_err().status(), Status::InvalidArgument);
        }
        set_process_default(1.5).unwrap();
        assert_eq!(resolve(DEFAULT, "timeout").unwrap(), Some(Duration::from_millis(1500)));
        set_process_default(NONE).unwrap();
        assert_eq!(process_default(), NONE);

        assert_eq!(resolve(0.0, "timeout").unwrap(), Some(Duration::ZERO));
        assert_eq!(resolve(0.25, "timeout").unwrap(), Some(Duration::from_millis(250)));
        assert_eq!(resolve(NONE, "timeout").unwrap(), None);
        assert_eq!(resolve(f64::MAX, "timeout").unwrap(), None);
        for bad in [-0.5, f64::NAN, f64::NEG_INFINITY] {
            assert!(resolve(bad, "wait").unwrap_err().message().starts_with("wait must be"));
        }
    }
}
