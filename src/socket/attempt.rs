//! One attempt to connect to one address. Whether addresses are tried one after the other or race, each attempt is
//! made here; connect(2) is called nowhere else.

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

/// How far a connect is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    Connected,
    /// Its outcome comes when the socket is writable.
    UnderWay,
    /// The backlog of a Unix socket has no room, and nothing tells when it has: to be asked [`again`].
    Full,
}

/// The maximum number of addresses of one answer that are tried.
pub(super) const MOST_ADDRESSES: usize = 64;

/// How often a full backlog is asked for room.
pub(super) const AGAIN: Duration = Duration::from_millis(5);

/// Opens a socket and begins to connect it. Unless `blocking`, it does not wait.
pub(super) fn open(
    endpoint: &Endpoint,
    options: &ConnectOptions,
    source: Option<&Source>,
    blocking: bool,
) -> Result<(Socket, Progress), Failure> {
    // Before a descriptor is spent on it. From here to connect the address is one and the same value.
    options.policy.check(endpoint).map_err(|error| Failure::of_policy(&error))?;
    let socket =
        new_socket(endpoint.domain(), blocking).map_err(|error| Failure::of_step("cannot open a socket", &error))?;
    if let Endpoint::Ip(_) = endpoint {
        options.tcp.apply(&socket)?;
    }
    let own = match (source, endpoint) {
        (Some(source), Endpoint::Ip(address)) => {
            Some(source.beside(address).ok_or_else(|| Failure::without_source(address))?)
        }
        _ => None,
    };
    if let Some(own) = own {
        prepare_to_bind(&socket, own).map_err(|error| Failure::of_step("cannot share the source port", &error))?;
    }
    for option in options.socket_options.iter().filter(|option| is_for(endpoint, option.level)) {
        sys::setsockopt(socket.as_raw_fd(), option.level, option.name, &option.value).map_err(|error| {
            let step = format!("cannot set socket option {} of level {}", option.name, option.level);
            Failure::of_step(&step, &error)
        })?;
    }
    if let Some(own) = own {
        socket
            .bind(&own.into())
            .map_err(|error| Failure::of_step(&format!("cannot bind to {} port {}", own.ip(), own.port()), &error))?;
    }
    let progress = connect(&socket, endpoint)?;
    if let Progress::Connected = progress {
        to_another(&socket, endpoint)?;
    }
    Ok((socket, progress))
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

/// Options of IP and of TCP are passed over where there is neither, as the source address is: so the same options serve
/// for both kinds.
fn is_for(endpoint: &Endpoint, level: i32) -> bool {
    matches!(endpoint, Endpoint::Ip(_)) || level == libc::SOL_SOCKET
}

fn connect(socket: &Socket, endpoint: &Endpoint) -> Result<Progress, Failure> {
    let address = endpoint.to_sockaddr();
    loop {
        let Err(error) = socket.connect(&address) else { return Ok(Progress::Connected) };
        return match (error.raw_os_error(), endpoint) {
            (Some(libc::EINPROGRESS), _) => Ok(Progress::UnderWay),
            // With IP the connection goes on. A Unix socket has only waited for room, and is where it was.
            (Some(libc::EINTR), Endpoint::Ip(_)) => Ok(Progress::UnderWay),
            (Some(libc::EINTR), Endpoint::Unix(_)) => continue,
            (Some(libc::EAGAIN), Endpoint::Unix(_)) => Ok(Progress::Full),
            (_, Endpoint::Ip(_)) => Err(Failure::of_connect(&error)),
            (_, Endpoint::Unix(address)) => Err(Failure::of_unix(address, &error)),
        };
    }
}

/// Asks a backlog once more that was full. The socket has the address that the policy allowed.
pub(super) fn again(socket: &Socket, endpoint: &Endpoint) -> Result<Progress, Failure> {
    connect(socket, endpoint)
}

/// How connecting ended, of a socket that has become writable.
pub(super) fn outcome(socket: &Socket, endpoint: &Endpoint) -> Result<(), Failure> {
    match socket.take_error() {
        Ok(None) => to_another(socket, endpoint),
        Ok(Some(error)) | Err(error) => Err(Failure::of_connect(&error)),
    }
}

fn prepare_to_bind(socket: &Socket, own: SocketAddr) -> io::Result<()> {
    if own.port() == 0 {
        // The port is chosen by connect(2), which may choose one that is in use to elsewhere. Where the system knows
        // no such thing it has fewer ports to choose from.
        let _ = sys::bind_without_port(socket.as_raw_fd());
        return Ok(());
    }
    // The attempts of a race have the port in common, as has one that failed and is not closed yet.
    socket.set_reuse_address(true)
}

/// TCP lets a socket connect to itself where nobody listens: the system chose the very port that it is to reach. That
/// would be a server which says what the client says, and the port would be taken when the server wants it back.
fn to_another(socket: &Socket, endpoint: &Endpoint) -> Result<(), Failure> {
    let address = |found: io::Result<SockAddr>| found.ok().and_then(|found| found.as_socket());
    let Endpoint::Ip(asked) = endpoint else { return Ok(()) };
    let Some(own) = address(socket.local_addr()) else { return Ok(()) };
    // The peer's address is asked for only then: 0.0.0.0 is not what a socket is connected to.
    if own.port() != asked.port() || address(socket.peer_addr()) != Some(own) {
        return Ok(());
    }
    // Reset, not closed: no TIME_WAIT keeps the port.
    let _ = socket.set_linger(Some(Duration::ZERO));
    let refused = io::Error::from_raw_os_error(libc::ECONNREFUSED);
    Err(Failure::of_step("nobody listens there, so that the socket was connected to itself", &refused))
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

    /// In words that say what the system's leave open.
    fn of_unix(address: &UnixAddress, error: &io::Error) -> Failure {
        let explained = match error.raw_os_error() {
            Some(libc::ECONNREFUSED) if address.is_abstract() => ": nobody listens on this name",
            Some(libc::ECONNREFUSED) => ": nobody listens on it, or it is no socket",
            Some(libc::EACCES) => {
                ": this needs write permission for the socket and search permission for the way to it"
            }
            Some(libc::EPROTOTYPE) => ": it is not a stream socket",
            _ => "",
        };
        Failure::of_system(error, error::describe_io(error) + explained)
    }

    pub(super) fn of_step(step: &str, error: &io::Error) -> Failure {
        Failure::of_system(error, format!("{step}: {}", error::describe_io(error)))
    }

    fn of_system(error: &io::Error, reason: String) -> Failure {
        let errno = error.raw_os_error().unwrap_or(0);
        // The system gave up waiting for an answer: its own connect timeout.
        let status = if errno == libc::ETIMEDOUT { Status::ConnectTimeout } else { Status::ConnectFailed };
        Failure { status, errno, reason }
    }

    /// Nothing is wrong with the address.
    pub(super) fn is_out_of_descriptors(&self) -> bool {
        sys::is_out_of_descriptors(self.errno)
    }

    pub(super) fn timed_out() -> Failure {
        Failure { status: Status::ConnectTimeout, errno: 0, reason: "the connect timeout passed".to_owned() }
    }

    /// The wait ended otherwise than by an answer.
    pub(super) fn of_wait(error: &Error) -> Failure {
        let status = if ends_connect(error.status()) { error.status() } else { Status::ConnectFailed };
        Failure { status, errno: error.errno(), reason: error.message().to_owned() }
    }

    fn of_policy(error: &Error) -> Failure {
        Failure { status: error.status(), errno: 0, reason: error.message().to_owned() }
    }

    fn without_source(address: &SocketAddr) -> Failure {
        let family = if address.is_ipv4() { "IPv4" } else { "IPv6" };
        let reason = format!("the source address has no {family} form");
        Failure { status: Status::ConnectFailed, errno: 0, reason }
    }
}

/// An address that gave no connection.
pub(super) struct Tried {
    pub endpoint: Endpoint,
    pub failure: Failure,
    pub began: Instant,
    pub ended: Instant,
}

impl From<Tried> for Error {
    fn from(tried: Tried) -> Error {
        let seconds = tried.ended.saturating_duration_since(tried.began).as_secs_f64();
        let Failure { status, errno, reason } = tried.failure;
        Error::new(status, format!("{}: {reason} (after {seconds:.3} s)", tried.endpoint)).with_errno(errno)
    }
}

/// There is no time for another address.
pub(super) fn is_by_limit(status: Status) -> bool {
    matches!(status, Status::Cancelled | Status::DeadlineExceeded)
}

/// Whether no other address is tried: the time is up, or the address callback failed. A callback that failed for one
/// address may be wrong about the next.
pub(super) fn ends_connect(status: Status) -> bool {
    is_by_limit(status) || status == Status::CallbackFailed
}

/// What a host is called in messages.
pub(super) fn target(host: &str, port: u16) -> String {
    format!("{host} port {port}")
}

/// What ended the call before there was an address to try. The limit knows of no host, so that is added; a system call
/// that failed is one of connecting, of which the server has noticed nothing.
pub(super) fn not_begun(target: &str, error: Error) -> Error {
    let what = format!("cannot connect to {target}");
    match error.status() {
        Status::Io => {
            Error::new(Status::ConnectFailed, format!("{what}: {}", error.message())).with_errno(error.errno())
        }
        status if is_by_limit(status) => error.prefixed(&what),
        _ => error,
    }
}

/// The limit has ended between two addresses: that speaks, and what was tried before is its causes.
pub(super) fn not_gone_on(target: &str, error: Error, failures: impl IntoIterator<Item = Tried>) -> Error {
    with_causes(not_begun(target, error), failures)
}

fn with_causes(error: Error, failures: impl IntoIterator<Item = Tried>) -> Error {
    failures.into_iter().fold(error, |error, failed| error.with_cause(Arc::new(failed.into())))
}

/// The failure that came last speaks for all; each is a cause. An address that was refused was not tried, so it speaks
/// only where all were: what else went wrong may go better another time. `left_out`: addresses beyond
/// [`MOST_ADDRESSES`].
pub(super) fn all_failed(target: &str, failures: Vec<Tried>, left_out: usize) -> Error {
    let was_tried = |failed: &&Tried| failed.failure.status != Status::AddressRefused;
    let last = failures.iter().max_by_key(|failed| (was_tried(failed), failed.ended));
    let (status, errno, reason) = match last.map(|last| &last.failure) {
        Some(last) => (last.status, last.errno, last.reason.as_str()),
        None => (Status::ConnectFailed, 0, "there was no address to try"),
    };
    let addresses = match (failures.len() + left_out, failures.iter().filter(was_tried).count()) {
        (0 | 1, _) => String::new(),
        (count, 0) if left_out > 0 => format!(", {} of {count} addresses refused, the last", failures.len()),
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
    fn a_peer_that_the_system_gave_up_on_is_a_timeout() {
        for (errno, expected) in [
            (libc::ETIMEDOUT, Status::ConnectTimeout),
            (libc::ECONNREFUSED, Status::ConnectFailed),
            (libc::EADDRNOTAVAIL, Status::ConnectFailed),
        ] {
            let failure = Failure::of_connect(&io::Error::from_raw_os_error(errno));
            assert_eq!((failure.status, failure.errno), (expected, errno));
        }
    }

    #[test]
    fn a_system_call_that_fails_before_the_connection_is_one_of_connecting() {
        let failed = Error::new(Status::Io, "cannot open a descriptor to be woken by").with_errno(libc::EMFILE);
        let error = not_begun(&target("name.test", 80), failed);
        assert_eq!((error.status(), error.errno()), (Status::ConnectFailed, libc::EMFILE));
        let expected = "cannot connect to name.test port 80: cannot open a descriptor to be woken by";
        assert_eq!(error.message(), expected);
    }
}
