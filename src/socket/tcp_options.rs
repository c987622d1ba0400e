//! The TCP socket options for which netlib has setters. The setters validate the options, and each connection attempt
//! applies them.

use std::io;
use std::time::Duration;

use socket2::{Socket, TcpKeepalive};

use crate::digest::{Digest, Settings};
use crate::error::{Error, Result};
use crate::retry::Count;
use crate::socket::attempt::AttemptFailure;
use crate::status::Status;
use crate::timeout;

/// The options of a TCP socket. An option that is `None` keeps the default: for `no_delay`, the default of the connect
/// function; for the other options, the system's default.
#[derive(Clone, Debug, Default)]
pub struct TcpOptions {
    interface: Option<String>,
    no_delay: Option<bool>,
    keepalive: Option<Keepalive>,
    /// TCP_USER_TIMEOUT, in whole milliseconds, the system's unit.
    user_timeout: Option<Duration>,
}

/// Keep-alive times in whole seconds, the system's unit. Systems that cannot set these times per socket only turn
/// keep-alive on.
#[derive(Clone, Debug)]
#[allow(dead_code)]
struct Keepalive {
    idle: Option<Duration>,
    interval: Option<Duration>,
    count: Option<u32>,
}

const SECOND: Duration = Duration::from_secs(1);
const MILLISECOND: Duration = Duration::from_millis(1);

/// The maximum of a keep-alive time on Linux, in seconds. On a system with a lower maximum, setting the option fails.
const MAX_KEEPALIVE: f64 = 32_767.0;
const MAX_PROBES: u32 = 127;
/// The maximum user timeout: INT_MAX milliseconds, in whole seconds.
const MAX_USER_TIMEOUT: f64 = 2_147_483.0;
/// The maximum length of an interface name, without the NUL.
const MAX_INTERFACE: usize = libc::IF_NAMESIZE - 1;

const HAS_KEEPALIVE_TIMES: bool = cfg!(any(
    target_os = "linux",
    target_os = "android",
    target_os = "freebsd",
    target_os = "netbsd",
    target_vendor = "apple"
));
const HAS_USER_TIMEOUT: bool = cfg!(any(target_os = "linux", target_os = "android"));
const HAS_INTERFACES: bool = cfg!(any(target_os = "linux", target_os = "android", target_vendor = "apple"));

impl TcpOptions {
    pub fn set_interface(&mut self, name: &str) -> Result<()> {
        let refused = |what: &str| Error::new(Status::InvalidArgument, format!("name {what}"));
        if name.is_empty() {
            return Err(refused("is empty"));
        }
        if name.len() > MAX_INTERFACE {
            let what = format!("has {} bytes; an interface name has at most {MAX_INTERFACE}", name.len());
            return Err(refused(&what));
        }
        if let Some(at) = name.bytes().position(|b| b <= b' ' || matches!(b, b'/' | b':' | 0x7f)) {
            return Err(
                refused(&format!("has a character at byte {at} that is not allowed in an interface name")).at(at)
            );
        }
        require_support(HAS_INTERFACES, "binding to an interface")?;
        self.interface = Some(name.to_owned());
        Ok(())
    }

    pub fn set_no_delay(&mut self, enable: bool) {
        self.no_delay = Some(enable);
    }

    /// Turns TCP keep-alive on. [`timeout::DEFAULT`] and [`Count::None`] keep the system's default values.
    pub fn set_keepalive(&mut self, idle: f64, interval: f64, count: Count) -> Result<()> {
        let idle = round_up("idle", idle, SECOND, MAX_KEEPALIVE)?;
        let interval = round_up("interval", interval, SECOND, MAX_KEEPALIVE)?;
        let count = probe_count(count)?;
        if idle.is_some() || interval.is_some() || count.is_some() {
            require_support(HAS_KEEPALIVE_TIMES, "keep-alive times for a single socket")?;
        }
        self.keepalive = Some(Keepalive { idle, interval, count });
        Ok(())
    }

    pub fn set_user_timeout(&mut self, seconds: f64) -> Result<()> {
        let timeout = round_up("seconds", seconds, MILLISECOND, MAX_USER_TIMEOUT)?;
        if timeout.is_some() {
            require_support(HAS_USER_TIMEOUT, "a user timeout")?;
        }
        self.user_timeout = timeout;
        Ok(())
    }

    /// Returns a digest of the options. Equal options have equal digests.
    pub(super) fn digest(&self) -> Digest {
        // The struct is destructured, so that a new option causes a compile error until the option is added to the
        // digest.
        let TcpOptions { interface, no_delay, keepalive, user_timeout } = self;
        let duration = |duration: &Option<Duration>| duration.map(|time| time.as_nanos().to_be_bytes());
        let keepalive = keepalive.as_ref().map(|Keepalive { idle, interval, count }| {
            Settings::new("keep-alive")
                .with_option("idle", duration(idle).as_ref().map(<[u8; 16]>::as_slice))
                .with_option("interval", duration(interval).as_ref().map(<[u8; 16]>::as_slice))
                .with_option("count", count.map(u32::to_be_bytes).as_ref().map(<[u8; 4]>::as_slice))
                .finish()
        });
        Settings::new("tcp options")
            .with_option("interface", interface.as_ref().map(String::as_bytes))
            .with_number("no-delay", u8::from(no_delay.unwrap_or(true)))
            .with_option("keep-alive", keepalive.as_ref().map(Digest::as_slice))
            .with_option("user timeout", duration(user_timeout).as_ref().map(<[u8; 16]>::as_slice))
            .finish()
    }

    /// Applies the options to a socket that is neither bound nor connected yet. `no_delay` says whether TCP_NODELAY is
    /// set if the application has not called its setter. The documentation of the setters states the order in which the
    /// options are set.
    pub(super) fn apply(&self, socket: &Socket, no_delay: bool) -> std::result::Result<(), AttemptFailure> {
        if let Some(name) = &self.interface {
            bind_to_interface(socket, name)
                .map_err(|error| AttemptFailure::from_setup(&format!("cannot bind to interface {name}"), &error))?;
        }
        // A new socket has the system's default, which is off.
        if self.no_delay.unwrap_or(no_delay) {
            socket
                .set_tcp_nodelay(true)
                .map_err(|error| AttemptFailure::from_setup("cannot set no-delay", &error))?;
        }
        if let Some(keepalive) = &self.keepalive {
            keepalive.apply(socket).map_err(|error| AttemptFailure::from_setup("cannot set keep-alive", &error))?;
        }
        if let Some(timeout) = self.user_timeout {
            set_user_timeout(socket, timeout)
                .map_err(|error| AttemptFailure::from_setup("cannot set the user timeout", &error))?;
        }
        Ok(())
    }
}

impl Keepalive {
    fn apply(&self, socket: &Socket) -> io::Result<()> {
        let mut times = TcpKeepalive::new();
        if let Some(idle) = self.idle {
            times = times.with_time(idle);
        }
        #[cfg(any(
            target_os = "linux",
            target_os = "android",
            target_os = "freebsd",
            target_os = "netbsd",
            target_vendor = "apple"
        ))]
        {
            if let Some(interval) = self.interval {
                times = times.with_interval(interval);
            }
            if let Some(count) = self.count {
                times = times.with_retries(count);
            }
        }
        // `set_tcp_keepalive` also turns keep-alive on.
        socket.set_tcp_keepalive(&times)
    }
}

/// Converts seconds to a duration, rounded up to a multiple of `unit`, so that the duration is never shorter than
/// requested. The result is never 0, because the meaning of 0 depends on the system.
fn round_up(name: &str, seconds: f64, unit: Duration, most: f64) -> Result<Option<Duration>> {
    if seconds == timeout::DEFAULT {
        return Ok(None);
    }
    if !(seconds > 0.0 && seconds <= most) {
        let message = format!("{name} must be more than 0 and at most {most} seconds; it is {seconds}");
        return Err(Error::new(Status::InvalidArgument, message));
    }
    let units = Duration::from_secs_f64(seconds).as_nanos().div_ceil(unit.as_nanos()).max(1);
    Ok(Some(unit.saturating_mul(u32::try_from(units).unwrap_or(u32::MAX))))
}

fn probe_count(count: Count) -> Result<Option<u32>> {
    if count == Count::None {
        return Ok(None);
    }
    let count = count.code();
    match u32::try_from(count) {
        Ok(probes @ 1..=MAX_PROBES) => Ok(Some(probes)),
        _ => Err(Error::new(Status::InvalidArgument, format!("count must be 1 to {MAX_PROBES}; it is {count}"))),
    }
}

fn require_support(has: bool, what: &str) -> Result<()> {
    if has { Ok(()) } else { Err(Error::new(Status::Unsupported, format!("this system does not support {what}"))) }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn bind_to_interface(socket: &Socket, name: &str) -> io::Result<()> {
    socket.bind_device(Some(name.as_bytes()))
}

/// Binds the socket to a network interface. Apple systems bind to the interface's index, which is valid while the
/// interface exists.
#[cfg(target_vendor = "apple")]
fn bind_to_interface(socket: &Socket, name: &str) -> io::Result<()> {
    let index = std::num::NonZeroU32::new(crate::socket::sys::interface_index(name)?);
    if socket.local_addr()?.is_ipv4() {
        socket.bind_device_by_index_v4(index)
    } else {
        socket.bind_device_by_index_v6(index)
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn bind_to_interface(_: &Socket, _: &str) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn set_user_timeout(socket: &Socket, timeout: Duration) -> io::Result<()> {
    socket.set_tcp_user_timeout(Some(timeout))
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn set_user_timeout(_: &Socket, _: Duration) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keepalive_times_are_rounded_up_to_the_time_unit_of_the_system() {
        for (seconds, unit, expected) in [
            (timeout::DEFAULT, SECOND, None),
            (1.0, SECOND, Some(1000)),
            (1.0001, SECOND, Some(2000)),
            (1e-300, SECOND, Some(1000)),
            (32_766.5, SECOND, Some(32_767_000)),
            (0.07, MILLISECOND, Some(70)),
            (4.037, MILLISECOND, Some(4037)),
            (0.0701, MILLISECOND, Some(71)),
            (1e-300, MILLISECOND, Some(1)),
        ] {
            let rounded = round_up("seconds", seconds, unit, MAX_KEEPALIVE).unwrap();
            assert_eq!(rounded, expected.map(Duration::from_millis), "{seconds}");
        }
        let most = round_up("seconds", MAX_USER_TIMEOUT, MILLISECOND, MAX_USER_TIMEOUT).unwrap().unwrap();
        assert!(i32::try_from(most.as_millis()).is_ok());
        for seconds in [0.0, -0.5, -2.0, 32_767.1, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let error = round_up("idle", seconds, SECOND, MAX_KEEPALIVE).unwrap_err();
            let expected = format!("idle must be more than 0 and at most 32767 seconds; it is {seconds}");
            assert_eq!((error.status(), error.message()), (Status::InvalidArgument, expected.as_str()));
        }
    }

    #[test]
    fn invalid_interface_names_are_refused() {
        let set = |name: &str| TcpOptions::default().set_interface(name);
        for name in ["lo", "eth0.100", "wg-office", "fifteen-bytes-x", "br_ü"] {
            assert_eq!(
                set(name).map_err(|error| error.status()),
                require_support(HAS_INTERFACES, "").map_err(|e| e.status())
            );
        }
        for (name, expected, at) in [
            ("", "name is empty", None),
            ("sixteen-bytes-xx", "name has 16 bytes; an interface name has at most 15", None),
            ("eth0\n", "name has a character at byte 4 that is not allowed in an interface name", Some(4)),
            ("eth 0", "name has a character at byte 3 that is not allowed in an interface name", Some(3)),
            ("eth0:1", "name has a character at byte 4 that is not allowed in an interface name", Some(4)),
            ("../lo", "name has a character at byte 2 that is not allowed in an interface name", Some(2)),
            ("\u{7f}", "name has a character at byte 0 that is not allowed in an interface name", Some(0)),
        ] {
            let error = set(name).unwrap_err();
            assert_eq!((error.status(), error.offset()), (Status::InvalidArgument, at), "{name:?}");
            assert_eq!(error.message(), expected);
        }
    }
}
