//! Connects to a host: resolves its name, then runs the [`Scheduler`] for its addresses, all within the limit.
//!
//! An event loop drives a [`Connect`] with [`Connect::step`], which never waits. [`Connect::run`] calls `step` and
//! waits between the calls. [`create_connection`] runs a [`Connect`] with the sequential schedule.

mod lookups;
mod system_network;
#[cfg(test)]
mod tests;

use std::fmt;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::Arc;
use std::time::Instant;

use socket2::Socket;

use crate::error::{Error, Result};
use crate::limit::{Limit, earlier};
use crate::memory;
use crate::socket::attempt::{SourceAddresses, interruption_error_between_attempts, setup_error};
use crate::socket::connect_options::{AddressFamily, ConnectOptions, prefix_source_address};
use crate::socket::endpoint::{Endpoint, UnixAddress};
use crate::socket::host_port::{HostPort, set_missing_ports};
use crate::socket::resolver::{Lookup, Resolver};
use crate::socket::scheduler::{Attempt, Schedule, Scheduler, Step};
use crate::socket::sys::{self, poll_fd};
use crate::socket::wait;
use crate::status::Status;
use crate::timeout;

use system_network::SystemNetwork;

/// Tries the addresses of a host in order and returns a socket that is connected to the first address that accepts. The
/// returned socket is blocking and close-on-exec, and has no timeout. As the specification demands, the socket has only
/// the options that the application has set.
pub(crate) fn create_connection(
    host: &str,
    port: u16,
    options: Arc<ConnectOptions>,
    limit: Option<Arc<Limit>>,
) -> Result<OwnedFd> {
    let mut connect = Connect::new(host, port, options)?;
    connect.no_delay = false;
    connect.run_sequentially(limit)
}

/// Connects to a Unix domain socket.
pub(crate) fn create_unix_connection(
    address: UnixAddress,
    options: Arc<ConnectOptions>,
    limit: Option<Arc<Limit>>,
) -> Result<OwnedFd> {
    Connect::to_unix(address, options).run_sequentially(limit)
}

/// A connection that is being established, over all addresses of its target: the core of `netlib_connect`.
pub(crate) struct Connect {
    name: TargetName,
    options: Arc<ConnectOptions>,
    resolver: Resolver,
    schedule: Schedule,
    /// True if `step` may block in getaddrinfo(3) and connect(2), because there is no limit that could end these calls
    /// early.
    may_block: bool,
    /// Whether TCP_NODELAY is set on the sockets if the application has not called its setter.
    no_delay: bool,
    limit: Option<Arc<Limit>>,
    /// Becomes readable when the limit is cancelled. Each [`Connect`] has its own descriptor for the limit, because
    /// epoll accepts the same descriptor only once.
    limit_fd: Option<OwnedFd>,
    /// The descriptors of limits that [`Connect::set_limit`] replaced since the last step. The next step moves these
    /// descriptors to `closing_limit_fds`, and the step after that one closes them.
    replaced_limit_fds: Vec<OwnedFd>,
    closing_limit_fds: Vec<OwnedFd>,
    started: Option<Instant>,
    phase: Phase,
    /// The local addresses to bind to, once they are resolved.
    source: Option<SourceAddresses>,
    /// A lookup that has ended, whose descriptor the next step closes, as [`Connect::interests`] explains.
    ended_lookup: Option<Lookup>,
    /// The scheduler, kept after connecting has ended so that the application can read the results of its attempts.
    scheduler: Option<Scheduler<SystemNetwork>>,
}

/// The action that the next call of [`Connect::step`] performs.
enum Phase {
    ResolveSource(Target),
    AwaitSource(Lookup, Target),
    ResolveTarget(Target),
    AwaitTarget(Lookup),
    /// Waits until the application supplies the addresses of the host with [`Connect::supply`].
    AwaitSupply(HostPort),
    Supplied(HostPort, Result<Vec<Endpoint>>),
    RunScheduler,
    /// An earlier call of [`Connect::step`] returned the connection.
    Connected,
    Failed(Error),
}

enum Target {
    Host(HostPort),
    Addresses(Vec<Endpoint>),
}

impl Target {
    fn may_use_ip(&self) -> bool {
        match self {
            Target::Host(_) => true,
            Target::Addresses(addresses) => addresses.iter().any(|address| matches!(address, Endpoint::Ip(_))),
        }
    }
}

/// A descriptor to wait for, with the poll(2) events to wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Interest {
    pub fd: RawFd,
    pub events: i16,
}

impl Connect {
    pub(crate) fn new(host: &str, port: u16, options: Arc<ConnectOptions>) -> Result<Connect> {
        let host_port = HostPort::new(host, port)?;
        Ok(Connect::with_resolver(
            Resolver::system(options.family),
            Target::Host(host_port),
            TargetName::new(host, port),
            options,
        ))
    }

    /// Connects to addresses that the caller has resolved. In an address with port 0, `port` replaces the 0.
    pub(crate) fn to_addresses(
        host: &str,
        port: u16,
        addresses: &[Endpoint],
        options: Arc<ConnectOptions>,
    ) -> Result<Connect> {
        // The host must be valid although it is not resolved, because error messages contain it.
        HostPort::new(host, port)?;
        if addresses.is_empty() {
            return Err(Error::new(Status::InvalidArgument, "addresses is empty"));
        }
        let target = Target::Addresses(set_missing_ports(copy_addresses(addresses)?, port));
        Ok(Connect::with_resolver(Resolver::system(options.family), target, TargetName::new(host, port), options))
    }

    pub(crate) fn to_unix(address: UnixAddress, options: Arc<ConnectOptions>) -> Connect {
        let endpoint = Endpoint::Unix(address);
        let name = TargetName { host: endpoint.to_string(), port: None };
        Connect::with_resolver(Resolver::system(AddressFamily::Any), Target::Addresses(vec![endpoint]), name, options)
    }

    fn with_resolver(resolver: Resolver, target: Target, name: TargetName, options: Arc<ConnectOptions>) -> Connect {
        Connect {
            name,
            schedule: Schedule::Racing(options.attempt_delay),
            options,
            resolver,
            may_block: false,
            no_delay: true,
            limit: None,
            limit_fd: None,
            replaced_limit_fds: Vec::new(),
            closing_limit_fds: Vec::new(),
            started: None,
            phase: Phase::ResolveSource(target),
            source: None,
            ended_lookup: None,
            scheduler: None,
        }
    }

    /// Sets the limit for the following calls of [`Connect::step`].
    pub(crate) fn set_limit(&mut self, limit: Option<Arc<Limit>>) -> Result<()> {
        // The descriptor for the limit is opened here, because `interests` cannot report an error.
        let watched = limit.as_ref().filter(|_| !self.has_ended());
        let limit_fd = watched.map(|limit| limit.open_wake_fd()).transpose()?;
        let replaced = std::mem::replace(&mut self.limit_fd, limit_fd);
        if self.is_in_progress() {
            self.replaced_limit_fds.extend(replaced);
        }
        self.limit = limit;
        Ok(())
    }

    /// Continues connecting as far as possible without waiting. Returns the connected socket, in blocking mode, or
    /// `None` if the caller has to wait. After `step` has failed, every further call returns the same error.
    pub(crate) fn step(&mut self) -> Result<Option<OwnedFd>> {
        match &self.phase {
            Phase::Connected => {
                return Err(Error::new(Status::Closed, "an earlier call has returned the connection"));
            }
            Phase::Failed(error) => return Err(error.clone()),
            _ => {}
        }
        self.close_ended();
        let result = self.advance();
        match &result {
            Ok(None) => {}
            Ok(Some(_)) => {
                self.phase = Phase::Connected;
                self.close_all();
            }
            Err(error) => self.fail(error),
        }
        result
    }

    /// Closes the descriptors that the previous step no longer needed. If a limit was replaced since the previous step,
    /// the descriptor of the replaced limit stays open for one more step.
    fn close_ended(&mut self) {
        self.ended_lookup = None;
        self.closing_limit_fds = std::mem::take(&mut self.replaced_limit_fds);
        if let Some(scheduler) = &mut self.scheduler {
            scheduler.close_ended();
        }
    }

    /// Calls [`Connect::step`] and waits, until connecting has succeeded or failed.
    pub(crate) fn run(&mut self, limit: Option<Arc<Limit>>) -> Result<OwnedFd> {
        if limit.is_some() {
            self.limit = limit;
        }
        loop {
            if let Some(connection) = self.step()? {
                return Ok(connection);
            }
            if self.wants_addresses() {
                let message = "the options leave the name lookup to the application, which has supplied no addresses";
                return Err(Error::new(Status::InvalidArgument, message));
            }
            if let Err(error) = self.wait() {
                let error = self.interruption_error(error);
                self.fail(&error);
                return Err(error);
            }
        }
    }

    fn run_sequentially(mut self, limit: Option<Arc<Limit>>) -> Result<OwnedFd> {
        self.schedule = Schedule::Sequential;
        self.may_block = limit.is_none() && self.options.total.is_none();
        self.run(limit)
    }

    /// Returns whether the operation waits for [`Connect::supply`].
    pub(crate) fn wants_addresses(&self) -> bool {
        matches!(self.phase, Phase::AwaitSupply(_))
    }

    /// Supplies the addresses of the host, or the error of their lookup. The next call of [`Connect::step`] continues
    /// with them.
    pub(crate) fn supply(&mut self, found: Result<&[Endpoint]>) -> Result<()> {
        let found = match found {
            Ok(addresses) => Ok(copy_addresses(addresses)?),
            Err(error) => Err(error),
        };
        match std::mem::replace(&mut self.phase, Phase::RunScheduler) {
            Phase::AwaitSupply(host) => {
                self.phase = Phase::Supplied(host, found);
                Ok(())
            }
            other => {
                self.phase = other;
                let message = "the connect operation does not wait for addresses";
                Err(Error::new(Status::InvalidArgument, message))
            }
        }
    }

    /// Returns the lookup in progress.
    fn lookup(&self) -> Option<&Lookup> {
        match &self.phase {
            Phase::AwaitSource(lookup, _) | Phase::AwaitTarget(lookup) => Some(lookup),
            _ => None,
        }
    }

    fn wait(&self) -> Result<()> {
        // The lookup's descriptor comes first in the list, the limit's descriptor last.
        let mut fds: Vec<_> = self.interests_without_limit().map(|of| poll_fd(of.fd, of.events)).collect();
        if let Some(limit) = &self.limit {
            fds.push(poll_fd(limit.wake_fd()?, sys::POLL_IN));
        }
        wait::poll(&mut fds, self.next_timer(), self.limit.as_deref(), || {
            "cannot wait for the connection".to_owned()
        })?;
        // If the application has closed a descriptor or written to it, every following poll(2) returns immediately.
        // Without an error, the loop in `run` would then spin.
        let closed = fds.iter().any(|fd| fd.revents & sys::POLL_INVALID != 0);
        let lookup =
            self.lookup().filter(|lookup| fds.first().is_some_and(|fd| fd.fd == lookup.fd() && fd.revents != 0));
        let raised = lookup.is_some_and(|lookup| !lookup.is_orphaned() && !lookup.is_done());
        if let Some(limit) = &self.limit
            && fds.last().is_some_and(|wake| wake.revents != 0)
            && !limit.is_cancelled()
        {
            return Err(Limit::unexpected_wake());
        }
        if closed || raised {
            let message = "the application closed a descriptor of the connection attempt or wrote to it";
            return Err(Error::new(Status::Io, message).with_errno(libc::EBADF));
        }
        Ok(())
    }

    /// Returns the descriptors to wait for before the next step. A descriptor number that is returned after two
    /// consecutive steps refers to the same open descriptor: a step closes only the descriptors that the previous step
    /// no longer needed, so numbers are not reused earlier.
    pub(crate) fn interests(&self) -> impl Iterator<Item = Interest> {
        let limit = self.limit_fd.as_ref().filter(|_| self.is_in_progress());
        let limit = limit.map(|fd| Interest { fd: fd.as_raw_fd(), events: sys::POLL_IN });
        self.interests_without_limit().chain(limit)
    }

    fn interests_without_limit(&self) -> impl Iterator<Item = Interest> {
        let lookup = self.lookup().map(|lookup| Interest { fd: lookup.fd(), events: sys::POLL_IN });
        let sockets = self.scheduler.iter().flat_map(Scheduler::pollable);
        let sockets = sockets.map(|socket| Interest { fd: socket.as_raw_fd(), events: sys::POLL_OUT });
        lookup.into_iter().chain(sockets)
    }

    /// Returns the seconds after which the caller must call [`Connect::step`] even if no descriptor becomes ready.
    pub(crate) fn seconds_to_timer(&self) -> f64 {
        if !self.has_ended() && self.started.is_none() {
            return 0.0;
        }
        match self.next_timer() {
            Some(time) => time.saturating_duration_since(Instant::now()).as_secs_f64(),
            None => timeout::NONE,
        }
    }

    fn next_timer(&self) -> Option<Instant> {
        if self.has_ended() {
            return None;
        }
        if let Phase::Supplied(..) = self.phase {
            return self.started;
        }
        let attempts = self.scheduler.as_ref().and_then(Scheduler::next_timer);
        let limit = self.limit.as_ref().and_then(|limit| limit.deadline());
        earlier(attempts, earlier(limit, self.total_deadline()))
    }

    pub(crate) fn attempts(&self) -> &[Attempt<Socket>] {
        self.scheduler.as_ref().map_or(&[], Scheduler::attempts)
    }

    pub(crate) fn winner(&self) -> Option<usize> {
        self.scheduler.as_ref().and_then(Scheduler::winner)
    }

    /// Returns the times at which an attempt started and ended, in seconds since the first step.
    pub(crate) fn times(&self, attempt: &Attempt<Socket>) -> (f64, Option<f64>) {
        let since = |time: Instant| match self.started {
            Some(started) => time.saturating_duration_since(started).as_secs_f64(),
            None => 0.0,
        };
        (since(attempt.started()), attempt.ended().map(since))
    }

    fn has_ended(&self) -> bool {
        matches!(self.phase, Phase::Connected | Phase::Failed(_))
    }

    fn is_in_progress(&self) -> bool {
        self.started.is_some() && !self.has_ended()
    }

    fn fail(&mut self, error: &Error) {
        if let Some(scheduler) = &mut self.scheduler {
            scheduler.stop(error);
        }
        // Replacing the phase drops a lookup in progress, and dropping a lookup abandons it.
        self.phase = Phase::Failed(error.clone());
        self.close_all();
    }

    /// Closes every descriptor, because connecting has ended and the caller waits for none of them.
    fn close_all(&mut self) {
        (self.ended_lookup, self.limit_fd) = (None, None);
        self.replaced_limit_fds.clear();
        self.closing_limit_fds.clear();
        if let Some(scheduler) = &mut self.scheduler {
            scheduler.close_ended();
        }
    }

    fn advance(&mut self) -> Result<Option<OwnedFd>> {
        self.started.get_or_insert_with(Instant::now);
        loop {
            // The phases that may start a lookup check the limit themselves, immediately before the lookup. A numeric
            // host needs no lookup.
            if !matches!(self.phase, Phase::ResolveSource(_) | Phase::ResolveTarget(_)) {
                self.check_limit().map_err(|error| self.interruption_error(error))?;
            }
            // The phase need not be restored after an error, because every error ends connecting.
            self.phase = match std::mem::replace(&mut self.phase, Phase::RunScheduler) {
                Phase::ResolveSource(target) => {
                    self.resolve_source(target).map_err(|error| self.setup_error(prefix_source_address(error)))?
                }
                Phase::AwaitSource(lookup, target) => {
                    let resolution =
                        self.poll_lookup(lookup).map_err(|error| self.setup_error(prefix_source_address(error)))?;
                    self.after_source_lookup(resolution, target)
                }
                Phase::ResolveTarget(target) => {
                    self.resolve_target(target).map_err(|error| self.setup_error(error))?
                }
                Phase::AwaitTarget(lookup) => {
                    let resolution = self.poll_lookup(lookup).map_err(|error| self.setup_error(error))?;
                    self.after_target_lookup(resolution)?
                }
                waiting @ Phase::AwaitSupply(_) => waiting,
                Phase::Supplied(host, found) => {
                    let found = found.and_then(|found| host.with_port(found));
                    self.start_scheduler(found.map_err(|error| self.setup_error(error))?)?
                }
                Phase::RunScheduler => {
                    let Some(scheduler) = &mut self.scheduler else { return Ok(None) };
                    match scheduler.step(self.ended_lookup.is_some()) {
                        // The address callback may have taken a long time, so the limit is checked again.
                        Step::Started => Phase::RunScheduler,
                        Step::Pending => return Ok(None),
                        Step::Failed => return Err(scheduler.error(&self.name)),
                        Step::Connected(socket) => return Ok(Some(socket.into())),
                    }
                }
                ended @ (Phase::Connected | Phase::Failed(_)) => ended,
            };
            // The step that starts a lookup never polls it, even if the lookup ends immediately. If the caller waits
            // for descriptors between the steps, the number of steps does not depend on how long a lookup takes.
            if self.lookup().is_some() || self.wants_addresses() || self.has_ended() {
                return Ok(None);
            }
        }
    }

    /// Fails if the limit has ended or the total timeout has passed.
    fn check_limit(&self) -> Result<()> {
        self.limit.as_ref().map_or(Ok(()), |limit| limit.check())?;
        match self.total_deadline() {
            Some(deadline) if deadline <= Instant::now() => {
                Err(Error::new(Status::ConnectTimeout, "the total timeout has passed"))
            }
            _ => Ok(()),
        }
    }

    /// Returns the time at which the total timeout of the options passes.
    fn total_deadline(&self) -> Option<Instant> {
        self.options.total.zip(self.started).and_then(|(total, started)| total.deadline(started))
    }

    fn start_scheduler(&mut self, mut addresses: Vec<Endpoint>) -> Result<Phase> {
        let family = self.options.family;
        addresses.retain(|address| family.contains(address));
        if addresses.is_empty() {
            let message = format!("{} has no {}addresses", self.name.host, family.prefix());
            return Err(Error::new(Status::NameResolution, message));
        }
        let timeout = timeout::resolve(self.options.timeout, "timeout")?;
        let blocking = self.may_block && timeout.is_none();
        let network = SystemNetwork::new(Arc::clone(&self.options), self.source.take(), blocking, self.no_delay);
        self.scheduler = Some(Scheduler::new(network, addresses, self.schedule, timeout));
        Ok(Phase::RunScheduler)
    }

    fn setup_error(&self, error: Error) -> Error {
        setup_error(&self.name, error)
    }

    /// Returns the error to report when the limit has ended or waiting has failed: `error`, with the failed attempts as
    /// its causes.
    fn interruption_error(&mut self, error: Error) -> Error {
        let Some(scheduler) = &mut self.scheduler else {
            let of_source = matches!(self.phase, Phase::AwaitSource(..));
            return self.setup_error(if of_source { prefix_source_address(error) } else { error });
        };
        if scheduler.is_in_progress() {
            scheduler.stop(&error);
            return scheduler.error(&self.name);
        }
        interruption_error_between_attempts(&self.name, error, scheduler.failures())
    }
}

fn copy_addresses(addresses: &[Endpoint]) -> Result<Vec<Endpoint>> {
    let mut copy = Vec::new();
    memory::reserve(&mut copy, addresses.len(), "addresses")?;
    copy.extend_from_slice(addresses);
    Ok(copy)
}

/// The target's name in error messages: "example.com port 80", or the path of a Unix domain socket. The name is
/// formatted only when an error is made.
struct TargetName {
    host: String,
    port: Option<u16>,
}

impl TargetName {
    fn new(host: &str, port: u16) -> TargetName {
        TargetName { host: host.to_owned(), port: Some(port) }
    }
}

impl fmt::Display for TargetName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.port {
            Some(port) => write!(f, "{} port {port}", self.host),
            None => f.write_str(&self.host),
        }
    }
}
