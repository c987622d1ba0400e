//! A single connection attempt to one address. No other module calls connect(2).

use std::fmt;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use socket2::{Domain, SockAddr, Socket, Type};

use crate::error::{self, Error};
use crate::socket::connect_options::ConnectOptions;
use crate::socket::endpoint::{Endpoint, UnixAddress};
use crate::socket::sys;
use crate::status::Status;

/// The maximum number of addresses that one connect operation tries.
pub(super) const MAX_ADDRESSES: usize = 64;

/// The interval between two calls of connect(2) while the listener's backlog is full.
pub(super) const BACKLOG_RETRY_INTERVAL: Duration = Duration::from_millis(5);

/// The state of a socket after connect(2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    Connected,
    /// The connection is being established. The socket becomes writable once [`result`] can return the result.
    Pending,
    /// The backlog of the listening Unix domain socket is full. No event reports free room in a backlog, so [`connect`]
    /// must be called again after an interval.
    BacklogFull,
}

/// Opens a socket, applies the options, and calls connect(2), which waits only if `blocking` is true. `no_delay` is the
/// default of TCP_NODELAY.
pub(super) fn start(
    endpoint: &Endpoint,
    options: &ConnectOptions,
    source: Option<&SourceAddresses>,
    blocking: bool,
    no_delay: bool,
) -> Result<(Socket, Progress), AttemptFailure> {
    // The policy checks the same address value that is passed to connect(2), so the address cannot change between check
    // and use. No socket is opened for a refused address.
    options.policy.check(endpoint).map_err(|error| AttemptFailure::from_policy(&error))?;
    let socket = new_socket(endpoint.domain(), blocking)
        .map_err(|error| AttemptFailure::from_setup("cannot open a socket", &error))?;
    if let Endpoint::Ip(_) = endpoint {
        options.tcp.apply(&socket, no_delay)?;
    }
    let local = match (source, endpoint) {
        (Some(source), Endpoint::Ip(peer)) => {
            Some(source.for_peer(peer).ok_or_else(|| AttemptFailure::no_source_address(peer))?)
        }
        _ => None,
    };
    if let Some(local) = local {
        prepare_to_bind(&socket, local)
            .map_err(|error| AttemptFailure::from_setup("cannot share the source port", &error))?;
    }
    for option in options.socket_options.iter().filter(|option| applies_to(endpoint, option.level)) {
        sys::setsockopt(socket.as_raw_fd(), option.level, option.name, &option.value).map_err(|error| {
            let step = format!("cannot set socket option {} of level {}", option.name, option.level);
            AttemptFailure::from_setup(&step, &error)
        })?;
    }
    if let Some(local) = local {
        socket.bind(&local.into()).map_err(|error| {
            AttemptFailure::from_setup(&format!("cannot bind to {} port {}", local.ip(), local.port()), &error)
        })?;
    }
    let progress = connect(&socket, endpoint)?;
    if let Progress::Connected = progress {
        check_self_connection(&socket, endpoint)?;
    }
    Ok((socket, progress))
}

/// Opens a close-on-exec socket. One system call suffices where socket(2) accepts flags for close-on-exec and
/// O_NONBLOCK.
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

/// Returns whether a socket option of this level applies to the endpoint. For Unix domain sockets, IP options, TCP
/// options and the source address are ignored, so that the same options can be used for TCP and Unix domain sockets.
fn applies_to(endpoint: &Endpoint, level: i32) -> bool {
    matches!(endpoint, Endpoint::Ip(_)) || level == libc::SOL_SOCKET
}

/// Calls connect(2). After [`Progress::BacklogFull`], the caller calls `connect` again with the same socket. The
/// repeated call belongs to the same attempt, so the address policy is not checked again.
pub(super) fn connect(socket: &Socket, endpoint: &Endpoint) -> Result<Progress, AttemptFailure> {
    let address = endpoint.to_sockaddr();
    loop {
        let Err(error) = socket.connect(&address) else { return Ok(Progress::Connected) };
        return match (error.raw_os_error(), endpoint) {
            (Some(libc::EINPROGRESS), _) => Ok(Progress::Pending),
            // After EINTR, the kernel continues to connect a TCP socket. On a Unix domain socket, the signal ended the
            // wait for room in the backlog, so connect(2) must be called again.
            (Some(libc::EINTR), Endpoint::Ip(_)) => Ok(Progress::Pending),
            (Some(libc::EINTR), Endpoint::Unix(_)) => continue,
            (Some(libc::EAGAIN), Endpoint::Unix(_)) => Ok(Progress::BacklogFull),
            (_, Endpoint::Ip(_)) => Err(AttemptFailure::from_connect(&error)),
            (_, Endpoint::Unix(address)) => Err(AttemptFailure::from_unix_connect(address, &error)),
        };
    }
}

/// Returns the result of an attempt that was [`Progress::Pending`], once its socket is writable.
pub(super) fn result(socket: &Socket, endpoint: &Endpoint) -> Result<(), AttemptFailure> {
    match socket.take_error() {
        Ok(None) => check_self_connection(socket, endpoint),
        Ok(Some(error)) | Err(error) => Err(AttemptFailure::from_connect(&error)),
    }
}

fn prepare_to_bind(socket: &Socket, local: SocketAddr) -> io::Result<()> {
    if local.port() == 0 {
        // bind(2) would choose a port that no other socket uses. connect(2) has more ports to choose from, because two
        // connections to different peers may have the same local port. So the option leaves the choice to connect(2).
        // The option's failure is ignored, because systems without the option only have fewer ports to choose from.
        let _ = sys::set_bind_address_no_port(socket.as_raw_fd());
        return Ok(());
    }
    // Several sockets may be bound to the same port: those of concurrent attempts, and those of failed attempts that
    // are not closed yet.
    socket.set_reuse_address(true)
}

/// Fails if the socket is connected to itself. TCP allows a self-connection if the system chooses the destination port
/// as the source port and no server listens on this port. On a self-connection, the application would read its own
/// request as the response.
fn check_self_connection(socket: &Socket, endpoint: &Endpoint) -> Result<(), AttemptFailure> {
    let address = |found: io::Result<SockAddr>| found.ok().and_then(|found| found.as_socket());
    let Endpoint::Ip(requested) = endpoint else { return Ok(()) };
    let Some(local) = address(socket.local_addr()) else { return Ok(()) };
    // Compares the local address with the actual peer address, because the peer address of a connection to 0.0.0.0 is
    // not 0.0.0.0.
    if local.port() != requested.port() || address(socket.peer_addr()) != Some(local) {
        return Ok(());
    }
    // Makes close(2) send a reset, because TIME_WAIT would keep the port in use.
    let _ = socket.set_linger(Some(Duration::ZERO));
    let refused = io::Error::from_raw_os_error(libc::ECONNREFUSED);
    Err(AttemptFailure::from_setup("no socket listens on this port, and the socket connected to itself", &refused))
}

pub(super) fn make_blocking(socket: &Socket) -> Result<(), AttemptFailure> {
    sys::make_blocking(socket.as_raw_fd()).map_err(|error| AttemptFailure::from_connect(&error))
}

/// The local addresses to bind to, resolved once for all attempts.
pub(super) enum SourceAddresses {
    /// The wildcard address (0.0.0.0 or ::) with this port.
    AnyWithPort(u16),
    Resolved(Vec<SocketAddr>),
}

impl SourceAddresses {
    /// Returns the first source address of the peer's address family.
    fn for_peer(&self, peer: &SocketAddr) -> Option<SocketAddr> {
        match self {
            SourceAddresses::AnyWithPort(port) if peer.is_ipv4() => Some((Ipv4Addr::UNSPECIFIED, *port).into()),
            SourceAddresses::AnyWithPort(port) => Some((Ipv6Addr::UNSPECIFIED, *port).into()),
            SourceAddresses::Resolved(list) => list.iter().find(|local| local.is_ipv4() == peer.is_ipv4()).copied(),
        }
    }
}

/// The reason why a connection attempt failed.
#[derive(Clone, Debug)]
pub(super) struct AttemptFailure {
    pub status: Status,
    pub errno: i32,
    pub reason: String,
}

impl AttemptFailure {
    fn from_connect(error: &io::Error) -> AttemptFailure {
        AttemptFailure::from_system(error, error::describe_io(error))
    }

    /// Adds the likely cause of a failed connect(2) to the system's error message.
    fn from_unix_connect(address: &UnixAddress, error: &io::Error) -> AttemptFailure {
        let explained = match error.raw_os_error() {
            Some(libc::ECONNREFUSED) if address.is_abstract() => ": no socket listens on this name",
            Some(libc::ECONNREFUSED) => ": no socket listens on this path, or it is not a socket",
            Some(libc::EACCES) => {
                ": connecting needs write permission for the socket and search permission for each directory of its path"
            }
            Some(libc::EPROTOTYPE) => ": it is not a stream socket",
            _ => "",
        };
        AttemptFailure::from_system(error, error::describe_io(error) + explained)
    }

    pub(super) fn from_setup(step: &str, error: &io::Error) -> AttemptFailure {
        AttemptFailure::from_system(error, format!("{step}: {}", error::describe_io(error)))
    }

    fn from_system(error: &io::Error, reason: String) -> AttemptFailure {
        let errno = error.raw_os_error().unwrap_or(0);
        // connect(2) fails with ETIMEDOUT after the connect timeout of the system, not that of the options.
        let status = if errno == libc::ETIMEDOUT { Status::ConnectTimeout } else { Status::ConnectFailed };
        AttemptFailure { status, errno, reason }
    }

    /// Returns whether the attempt failed because the process or the system has no free descriptor. The address itself
    /// may be usable.
    pub(super) fn is_out_of_descriptors(&self) -> bool {
        sys::is_out_of_descriptors(self.errno)
    }

    pub(super) fn timed_out() -> AttemptFailure {
        let reason = "the connect timeout passed".to_owned();
        AttemptFailure { status: Status::ConnectTimeout, errno: 0, reason }
    }

    /// Converts the error of a wait for an attempt, for example the error of an ended limit, to the failure of that
    /// attempt.
    pub(super) fn from_wait(error: &Error) -> AttemptFailure {
        let is_kept = is_final(error.status()) || error.status() == Status::ConnectTimeout;
        let status = if is_kept { error.status() } else { Status::ConnectFailed };
        AttemptFailure { status, errno: error.errno(), reason: error.message().to_owned() }
    }

    fn from_policy(error: &Error) -> AttemptFailure {
        AttemptFailure { status: error.status(), errno: 0, reason: error.message().to_owned() }
    }

    fn no_source_address(peer: &SocketAddr) -> AttemptFailure {
        let family = if peer.is_ipv4() { "IPv4" } else { "IPv6" };
        let reason = format!("the source address cannot be used for {family}");
        AttemptFailure { status: Status::ConnectFailed, errno: 0, reason }
    }
}

/// A failed attempt, which becomes a cause of the error that the connect function returns.
pub(super) struct FailedAttempt {
    pub endpoint: Endpoint,
    pub failure: AttemptFailure,
    pub started: Instant,
    pub ended: Instant,
}

impl From<FailedAttempt> for Error {
    fn from(failed: FailedAttempt) -> Error {
        let seconds = failed.ended.saturating_duration_since(failed.started).as_secs_f64();
        let AttemptFailure { status, errno, reason } = failed.failure;
        Error::new(status, format!("{}: {reason} (after {seconds:.3} s)", failed.endpoint)).with_errno(errno)
    }
}

/// Returns whether this status ends connecting without trying further addresses: the limit has ended, or the address
/// callback has failed. A callback that failed for one address would probably fail for the next address too.
pub(super) fn is_final(status: Status) -> bool {
    status.is_from_limit() || status == Status::CallbackFailed
}

/// Returns the error to report if connecting ended before the first attempt. If the limit has ended, the error message
/// names the host. A failed system call becomes `ConnectFailed`, because nothing was sent to the server.
pub(super) fn setup_error(target: &dyn fmt::Display, error: Error) -> Error {
    let what = format!("cannot connect to {target}");
    match error.status() {
        Status::Io => {
            Error::new(Status::ConnectFailed, format!("{what}: {}", error.message())).with_errno(error.errno())
        }
        status if status.is_from_limit() || status == Status::ConnectTimeout => error.prefixed(&what),
        _ => error,
    }
}

/// Returns the error to report if connecting ended between two attempts. Each failed attempt is a cause of the error.
pub(super) fn interruption_error_between_attempts(
    target: &dyn fmt::Display,
    error: Error,
    failures: impl IntoIterator<Item = FailedAttempt>,
) -> Error {
    with_causes(setup_error(target, error), failures)
}

fn with_causes(error: Error, failures: impl IntoIterator<Item = FailedAttempt>) -> Error {
    failures.into_iter().fold(error, |error, failed| error.with_cause(Arc::new(failed.into())))
}

/// Returns the error to report after all attempts have failed. The error has the status and the reason of the attempt
/// that ended last, and one cause for each attempt. An attempt that the address policy refused counts as the last one
/// only if the policy refused all addresses, because other failures may be temporary. `skipped_addresses` is the number
/// of addresses beyond [`MAX_ADDRESSES`].
pub(super) fn all_attempts_failed_error(
    target: &dyn fmt::Display,
    failures: Vec<FailedAttempt>,
    skipped_addresses: usize,
) -> Error {
    let was_tried = |failed: &&FailedAttempt| failed.failure.status != Status::AddressRefused;
    let last = failures.iter().max_by_key(|failed| (was_tried(failed), failed.ended));
    let (status, errno, reason) = match last.map(|last| &last.failure) {
        Some(last) => (last.status, last.errno, last.reason.as_str()),
        None => (Status::ConnectFailed, 0, "there was no address to try"),
    };
    let addresses = match (failures.len() + skipped_addresses, failures.iter().filter(was_tried).count()) {
        (0 | 1, _) => String::new(),
        (count, 0) if skipped_addresses > 0 => format!(", {} of {count} addresses refused, the last", failures.len()),
        (count, 0) => format!(", {count} addresses refused, the last"),
        (count, tried) if count == tried => format!(", {count} addresses tried, the last"),
        (count, tried) => format!(", {tried} of {count} addresses tried, the last"),
    };
    let error = Error::new(status, format!("cannot connect to {target}{addresses}: {reason}")).with_errno(errno);
    with_causes(error, failures)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn etimedout_from_connect_becomes_connect_timeout() {
        for (errno, expected) in [
            (libc::ETIMEDOUT, Status::ConnectTimeout),
            (libc::ECONNREFUSED, Status::ConnectFailed),
            (libc::EADDRNOTAVAIL, Status::ConnectFailed),
        ] {
            let failure = AttemptFailure::from_connect(&io::Error::from_raw_os_error(errno));
            assert_eq!((failure.status, failure.errno), (expected, errno));
        }
    }

    #[test]
    fn a_system_call_failure_before_connecting_is_reported_as_connect_failed() {
        let failed = Error::new(Status::Io, "cannot open a wake-up descriptor").with_errno(libc::EMFILE);
        let error = setup_error(&"name.test port 80", failed);
        assert_eq!((error.status(), error.errno()), (Status::ConnectFailed, libc::EMFILE));
        let expected = "cannot connect to name.test port 80: cannot open a wake-up descriptor";
        assert_eq!(error.message(), expected);
    }
}
