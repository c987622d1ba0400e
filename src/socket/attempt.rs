//! One attempt to connect to one address. Whether addresses are tried one after the other or race, each attempt is
//! made here; connect(2) is called nowhere else.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::time::Instant;

use socket2::{Domain, Socket, Type};

use crate::error::{self, Error};
use crate::socket::options::ConnectOptions;
use crate::socket::sys;
use crate::status::Status;

/// A socket on which connect(2) was called.
pub(super) enum Opened {
    Connected(Socket),
    /// Its outcome comes when the socket is writable.
    UnderWay(Socket),
}

/// Opens a socket and begins to connect it. Unless `blocking`, it does not wait.
pub(super) fn open(
    address: SocketAddr,
    options: &ConnectOptions,
    source: Option<&Source>,
    blocking: bool,
) -> Result<Opened, Failure> {
    // Before a descriptor is spent on it. From here to connect the address is one and the same value.
    options.policy.check(&address).map_err(|error| Failure::of_policy(&error))?;
    let socket = new_socket(Domain::for_address(address), blocking)
        .map_err(|error| Failure::of_step("cannot open a socket", &error))?;
    for option in &options.socket_options {
        sys::setsockopt(socket.as_raw_fd(), option.level, option.name, &option.value).map_err(|error| {
            let step = format!("cannot set socket option {} of level {}", option.name, option.level);
            Failure::of_step(&step, &error)
        })?;
    }
    if let Some(source) = source {
        let own = source.beside(&address).ok_or_else(|| Failure::without_source(&address))?;
        socket
            .bind(&own.into())
            .map_err(|error| Failure::of_step(&format!("cannot bind to {} port {}", own.ip(), own.port()), &error))?;
    }
    match socket.connect(&address.into()) {
        Ok(()) => Ok(Opened::Connected(socket)),
        // EINTR leaves the connection under way, as EINPROGRESS does.
        Err(error) if matches!(error.raw_os_error(), Some(libc::EINPROGRESS | libc::EINTR)) => {
            Ok(Opened::UnderWay(socket))
        }
        Err(error) => Err(Failure::of_connect(&error)),
    }
}

/// Close-on-exec, and as it is to be from the first: where there are flags for both, they cost no system call.
fn new_socket(domain: Domain, blocking: bool) -> io::Result<Socket> {
    #[cfg(any(
        target_os = "linux",
        target_os = "android",
        target_os = "freebsd",
        target_os = "netbsd",
        target_os = "openbsd"
    ))]
    return Socket::new(domain, if blocking { Type::STREAM } else { Type::STREAM.nonblocking() }, None);
    #[cfg(not(any(
        target_os = "linux",
        target_os = "android",
        target_os = "freebsd",
        target_os = "netbsd",
        target_os = "openbsd"
    )))]
    {
        let socket = Socket::new(domain, Type::STREAM, None)?;
        socket.set_nonblocking(!blocking)?;
        Ok(socket)
    }
}

/// How connecting ended, of a socket that has become writable.
pub(super) fn outcome(socket: &Socket) -> Result<(), Failure> {
    match socket.take_error() {
        Ok(None) => Ok(()),
        Ok(Some(error)) | Err(error) => Err(Failure::of_connect(&error)),
    }
}

/// As the caller is to have it.
pub(super) fn make_blocking(socket: &Socket) -> Result<(), Failure> {
    sys::make_blocking(socket.as_raw_fd()).map_err(|error| Failure::of_connect(&error))
}

/// The addresses to bind to, found once for all attempts.
pub(super) enum Source {
    /// Any address of the host, at this port.
    Port(u16),
    Addresses(Vec<SocketAddr>),
}

impl Source {
    /// The address to bind a socket to that will connect to `address`.
    fn beside(&self, address: &SocketAddr) -> Option<SocketAddr> {
        match self {
            Source::Port(port) if address.is_ipv4() => Some((Ipv4Addr::UNSPECIFIED, *port).into()),
            Source::Port(port) => Some((Ipv6Addr::UNSPECIFIED, *port).into()),
            Source::Addresses(list) => list.iter().find(|own| own.is_ipv4() == address.is_ipv4()).copied(),
        }
    }
}

/// Why an attempt gave no connection.
#[derive(Clone, Debug)]
pub(super) struct Failure {
    pub status: Status,
    pub errno: i32,
    pub reason: String,
}

impl Failure {
    fn of_connect(error: &io::Error) -> Failure {
        Failure::of_system(error, error::describe_io(error))
    }

    fn of_step(step: &str, error: &io::Error) -> Failure {
        Failure::of_system(error, format!("{step}: {}", error::describe_io(error)))
    }

    fn of_system(error: &io::Error, reason: String) -> Failure {
        let errno = error.raw_os_error().unwrap_or(0);
        // The system gave up waiting for an answer: its own connect timeout.
        let status = if errno == libc::ETIMEDOUT { Status::ConnectTimeout } else { Status::NewConnection };
        Failure { status, errno, reason }
    }

    pub(super) fn timed_out() -> Failure {
        Failure { status: Status::ConnectTimeout, errno: 0, reason: "the connect timeout passed".to_owned() }
    }

    /// The wait ended otherwise than by an answer.
    pub(super) fn of_wait(error: &Error) -> Failure {
        let status = if is_by_limit(error.status()) { error.status() } else { Status::NewConnection };
        Failure { status, errno: error.errno(), reason: error.message().to_owned() }
    }

    fn of_policy(error: &Error) -> Failure {
        Failure { status: error.status(), errno: 0, reason: error.message().to_owned() }
    }

    fn without_source(address: &SocketAddr) -> Failure {
        let family = if address.is_ipv4() { "IPv4" } else { "IPv6" };
        let reason = format!("the source address has no {family} form");
        Failure { status: Status::NewConnection, errno: 0, reason }
    }
}

/// An address that gave no connection.
pub(super) struct Tried {
    pub address: SocketAddr,
    pub failure: Failure,
    pub began: Instant,
    pub ended: Instant,
}

impl From<Tried> for Error {
    fn from(tried: Tried) -> Error {
        let (host, port) = (tried.address.ip(), tried.address.port());
        let seconds = tried.ended.saturating_duration_since(tried.began).as_secs_f64();
        let Failure { status, errno, reason } = tried.failure;
        Error::new(status, format!("{host} port {port}: {reason} (after {seconds:.3} s)")).with_errno(errno)
    }
}

/// There is no time for another address.
pub(super) fn is_by_limit(status: Status) -> bool {
    matches!(status, Status::Cancelled | Status::DeadlineExceeded)
}

/// What ended the call before there was an address to try. The limit knows of no host, so that is added; a system call
/// that failed is one of connecting, of which the server has noticed nothing.
pub(super) fn not_begun(host: &str, port: u16, error: Error) -> Error {
    let what = format!("cannot connect to {host} port {port}");
    match error.status() {
        Status::Io => {
            Error::new(Status::NewConnection, format!("{what}: {}", error.message())).with_errno(error.errno())
        }
        status if is_by_limit(status) => error.prefixed(&what),
        _ => error,
    }
}

/// The failure that came last speaks for all; each is a cause. An address that was refused was not tried, so it speaks
/// only where all were: what else went wrong may go better another time.
pub(super) fn all_failed(host: &str, port: u16, failures: Vec<Tried>) -> Error {
    let was_tried = |failed: &&Tried| failed.failure.status != Status::AddressRefused;
    let last = failures.iter().max_by_key(|failed| (was_tried(failed), failed.ended));
    let (status, errno, reason) = match last.map(|last| &last.failure) {
        Some(last) => (last.status, last.errno, last.reason.as_str()),
        None => (Status::NewConnection, 0, "there was no address to try"),
    };
    let addresses = match (failures.len(), failures.iter().filter(was_tried).count()) {
        (0 | 1, _) => String::new(),
        (count, 0) => format!(", {count} addresses refused, the last"),
        (count, tried) if count == tried => format!(", {count} addresses tried, the last"),
        (count, tried) => format!(", {tried} of {count} addresses tried, the last"),
    };
    let error =
        Error::new(status, format!("cannot connect to {host} port {port}{addresses}: {reason}")).with_errno(errno);
    failures.into_iter().fold(error, |error, failed| error.with_cause(Arc::new(failed.into())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_call_that_fails_before_the_connection_is_one_of_connecting() {
        let failed = Error::new(Status::Io, "cannot open a descriptor to be woken by").with_errno(libc::EMFILE);
        let error = not_begun("name.test", 80, failed);
        assert_eq!((error.status(), error.errno()), (Status::NewConnection, libc::EMFILE));
        let expected = "cannot connect to name.test port 80: cannot open a descriptor to be woken by";
        assert_eq!(error.message(), expected);
    }
}
