//! A whole connect that never waits: the lookups, then the race, each within the limit.

#[cfg(test)]
mod tests;

use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use socket2::Socket;

use super::{Attempt, Network, Race, Step, Waited};
use crate::error::{Error, Result};
use crate::limit::Limit;
use crate::memory;
use crate::socket::attempt::{self, Failure, Progress, Source, not_begun, not_gone_on};
use crate::socket::connect_options::{ConnectOptions, of_source};
use crate::socket::endpoint::{Endpoint, UnixAddress};
use crate::socket::host_port::{Query, with_port};
use crate::socket::resolver::{Lookup, Resolver, Started};
use crate::socket::sys::{self, poll_fd};
use crate::socket::wait::earlier;
use crate::status::Status;
use crate::timeout;

/// Connecting to a host: made, then driven by [`Connect::step`] to its end.
pub(crate) struct Connect {
    /// For messages.
    name: String,
    options: Arc<ConnectOptions>,
    resolver: Resolver,
    limit: Option<Arc<Limit>>,
    /// Follows the limit's descriptor: connects that share a limit share none, which epoll would take once only.
    wake: Option<OwnedFd>,
    /// Those of limits that were replaced since the last step, and before it: as `spent`.
    replaced: Vec<OwnedFd>,
    replaced_before: Vec<OwnedFd>,
    began: Option<Instant>,
    phase: Phase,
    /// The bind addresses, once found.
    source: Option<Source>,
    /// A lookup that is over, closed by the next step, as sockets are.
    spent: Option<Lookup>,
    /// Kept when it is over, for its report.
    race: Option<Race<Sockets>>,
}

/// How many attempts one step begins at most, where each fails at once: a step is short.
const BURST: usize = 64;

/// What is next.
enum Phase {
    /// The addresses to bind to.
    Source(Target),
    FindSource(Lookup, Target),
    /// The addresses to connect to.
    Resolve(Target),
    FindTarget(Lookup),
    Race,
    /// The connection was handed over.
    Connected,
    Failed(Error),
}

enum Target {
    Host(Query),
    Addresses(Vec<Endpoint>),
}

impl Target {
    fn may_be_ip(&self) -> bool {
        match self {
            Target::Host(_) => true,
            Target::Addresses(addresses) => addresses.iter().any(|address| matches!(address, Endpoint::Ip(_))),
        }
    }
}

/// The system's network, and how sockets are to be made.
struct Sockets {
    options: Arc<ConnectOptions>,
    source: Option<Source>,
}

impl Network for Sockets {
    type Socket = Socket;

    fn open(&mut self, endpoint: &Endpoint) -> std::result::Result<(Socket, Progress), Failure> {
        let blocking = false;
        attempt::open(endpoint, &self.options, self.source.as_ref(), blocking)
    }

    fn again(&mut self, socket: &Socket, endpoint: &Endpoint) -> std::result::Result<Progress, Failure> {
        attempt::again(socket, endpoint)
    }

    fn outcome(&mut self, socket: &Socket, endpoint: &Endpoint) -> Option<std::result::Result<(), Failure>> {
        let mut fds = [poll_fd(socket.as_raw_fd(), sys::POLL_OUT)];
        match sys::look(&mut fds) {
            Ok(0) => None,
            // A descriptor that the program closed is asked too: it says so.
            Ok(_) => Some(
                attempt::outcome(socket, endpoint)
                    .and_then(|()| is_there(socket, fds[0].revents))
                    .and_then(|()| attempt::make_blocking(socket)),
            ),
            Err(error) => {
                let error = Error::from_io(Status::Io, "cannot look at a socket", &error);
                Some(Err(Failure::of_wait(&error)))
            }
        }
    }
}

/// A socket tells its error once. Where an event loop asked before netlib did, this still knows that it failed: it is hung
/// up, and has no peer.
fn is_there(socket: &Socket, events: i16) -> std::result::Result<(), Failure> {
    if events & sys::POLL_HANG_UP == 0 || socket.peer_addr().is_ok() {
        return Ok(());
    }
    let message = "connecting failed, and the program took the socket's error (SO_ERROR)";
    Err(Failure::of_wait(&Error::new(Status::Io, message)))
}

impl Connect {
    pub(crate) fn new(host: &str, port: u16, options: Arc<ConnectOptions>) -> Result<Connect> {
        let target = Target::Host(Query::new(host, port)?);
        Ok(Connect::with(Resolver::system(), target, attempt::target(host, port), options))
    }

    /// To the addresses that a resolver of the program's found for the host; a port of 0 stands for `port`.
    pub(crate) fn to_addresses(
        host: &str,
        port: u16,
        addresses: &[Endpoint],
        options: Arc<ConnectOptions>,
    ) -> Result<Connect> {
        // The host is for messages, but what is no host has no place there either.
        Query::new(host, port)?;
        if addresses.is_empty() {
            return Err(Error::new(Status::InvalidArgument, "addresses is empty"));
        }
        let mut copy = Vec::new();
        memory::reserve(&mut copy, addresses.len(), "addresses")?;
        copy.extend_from_slice(addresses);
        let target = Target::Addresses(with_port(copy, port));
        Ok(Connect::with(Resolver::system(), target, attempt::target(host, port), options))
    }

    pub(crate) fn to_unix(address: UnixAddress, options: Arc<ConnectOptions>) -> Connect {
        let endpoint = Endpoint::Unix(address);
        let name = endpoint.to_string();
        Connect::with(Resolver::system(), Target::Addresses(vec![endpoint]), name, options)
    }

    fn with(resolver: Resolver, target: Target, name: String, options: Arc<ConnectOptions>) -> Connect {
        Connect {
            name,
            options,
            resolver,
            limit: None,
            wake: None,
            replaced: Vec::new(),
            replaced_before: Vec::new(),
            began: None,
            phase: Phase::Source(target),
            source: None,
            spent: None,
            race: None,
        }
    }

    /// From now on.
    pub(crate) fn set_limit(&mut self, limit: Option<Arc<Limit>>) -> Result<()> {
        // Opened here, where a failure can be told: `waits` lends it.
        let awaited = limit.as_ref().filter(|_| !self.is_over());
        let wake = awaited.map(|limit| follower(limit.wake_fd()?)).transpose()?;
        let replaced = std::mem::replace(&mut self.wake, wake);
        if self.is_under_way() {
            self.replaced.extend(replaced);
        }
        self.limit = limit;
        Ok(())
    }

    /// Goes as far as it can without waiting: the connection, blocking, or `None` while there is something to wait
    /// for. A failure is final.
    pub(crate) fn step(&mut self) -> Result<Option<OwnedFd>> {
        match &self.phase {
            Phase::Connected => {
                return Err(Error::new(Status::Closed, "the connection was given by an earlier call"));
            }
            Phase::Failed(error) => return Err(error.clone()),
            _ => {}
        }
        self.close_spent();
        let done = self.advance();
        match &done {
            Ok(None) => {}
            Ok(Some(_)) => {
                self.phase = Phase::Connected;
                self.close_all();
            }
            Err(error) => self.fail(error),
        }
        done
    }

    /// What the last step ended; what it is told to use no more from now on has one step more.
    fn close_spent(&mut self) {
        self.spent = None;
        self.replaced_before = std::mem::take(&mut self.replaced);
        if let Some(race) = &mut self.race {
            race.close_spent();
        }
    }

    /// Steps, and waits in between.
    pub(crate) fn run(&mut self, limit: Option<Arc<Limit>>) -> Result<OwnedFd> {
        if limit.is_some() {
            self.limit = limit;
        }
        loop {
            if let Some(connection) = self.step()? {
                return Ok(connection);
            }
            if let Err(error) = self.wait() {
                let error = not_begun(&self.name, error);
                self.fail(&error);
                return Err(error);
            }
        }
    }

    /// Under way.
    fn lookup(&self) -> Option<&Lookup> {
        match &self.phase {
            Phase::FindSource(lookup, _) | Phase::FindTarget(lookup) => Some(lookup),
            _ => None,
        }
    }

    fn wait(&self) -> Result<()> {
        // The lookup's comes first.
        let mut fds: Vec<_> = self.awaited().map(|waited| poll_fd(waited.fd, waited.events)).collect();
        if let Some(limit) = &self.limit {
            fds.push(poll_fd(limit.wake_fd()?, sys::POLL_IN));
        }
        sys::poll(&mut fds, self.next_time())
            .map_err(|error| Error::from_io(Status::Io, "cannot wait for the connection", &error))?;
        // Such waits would end at once, again and again.
        let closed = fds.iter().any(|fd| fd.revents & sys::POLL_INVALID != 0);
        let lookup =
            self.lookup().filter(|lookup| fds.first().is_some_and(|fd| fd.fd == lookup.fd() && fd.revents != 0));
        let raised = lookup.is_some_and(|lookup| !lookup.is_lost() && !lookup.is_done());
        if let Some(limit) = &self.limit
            && fds.last().is_some_and(|wake| wake.revents != 0)
            && !limit.is_cancelled()
        {
            return Err(Limit::raised_by_others());
        }
        if closed || raised {
            let message = "a descriptor of the connect was closed by the program, or written to";
            return Err(Error::new(Status::Io, message).with_errno(libc::EBADF));
        }
        Ok(())
    }

    /// What to wait for until the next step. A number that is there after two steps in a row is the same descriptor:
    /// what is over is closed one step later, so that its number cannot be a new one's at once.
    pub(crate) fn waits(&self) -> impl Iterator<Item = Waited> {
        let limit = self.wake.as_ref().filter(|_| self.is_under_way());
        let limit = limit.map(|wake| Waited { fd: wake.as_raw_fd(), events: sys::POLL_IN });
        self.awaited().chain(limit)
    }

    /// The same without the limit.
    fn awaited(&self) -> impl Iterator<Item = Waited> {
        let lookup = self.lookup().map(|lookup| Waited { fd: lookup.fd(), events: sys::POLL_IN });
        let sockets = self.race.iter().flat_map(Race::telling);
        let sockets = sockets.map(|socket| Waited { fd: socket.as_raw_fd(), events: sys::POLL_OUT });
        lookup.into_iter().chain(sockets)
    }

    /// In how many seconds a step has something to do though no descriptor is ready.
    pub(crate) fn timer(&self) -> f64 {
        if !self.is_over() && self.began.is_none() {
            return 0.0;
        }
        match self.next_time() {
            Some(time) => time.saturating_duration_since(Instant::now()).as_secs_f64(),
            None => timeout::NONE,
        }
    }

    fn next_time(&self) -> Option<Instant> {
        if self.is_over() {
            return None;
        }
        let race = self.race.as_ref().and_then(Race::next_time);
        earlier(race, self.limit.as_ref().and_then(|limit| limit.deadline()))
    }

    pub(crate) fn attempts(&self) -> &[Attempt<Socket>] {
        self.race.as_ref().map_or(&[], |race| &race.attempts)
    }

    pub(crate) fn winner(&self) -> Option<usize> {
        self.race.as_ref().and_then(Race::winner)
    }

    /// Of an attempt: seconds from the first step to its begin, and to its end.
    pub(crate) fn times(&self, attempt: &Attempt<Socket>) -> (f64, Option<f64>) {
        let since = |time: Instant| match self.began {
            Some(began) => time.saturating_duration_since(began).as_secs_f64(),
            None => 0.0,
        };
        (since(attempt.began), attempt.ended.map(since))
    }

    fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Connected | Phase::Failed(_))
    }

    fn is_under_way(&self) -> bool {
        self.began.is_some() && !self.is_over()
    }

    fn is_looking_up(&self) -> bool {
        self.lookup().is_some()
    }

    fn fail(&mut self, error: &Error) {
        if let Some(race) = &mut self.race {
            race.stop(error, Instant::now());
        }
        // Drops a lookup that is under way, which gives it up.
        self.phase = Phase::Failed(error.clone());
        self.close_all();
    }

    /// It is over, so nothing is waited for.
    fn close_all(&mut self) {
        (self.spent, self.wake) = (None, None);
        self.replaced.clear();
        self.replaced_before.clear();
        if let Some(race) = &mut self.race {
            race.close_spent();
        }
    }

    fn advance(&mut self) -> Result<Option<OwnedFd>> {
        self.began.get_or_insert_with(Instant::now);
        let mut begun = 0;
        loop {
            let checked = self.limit.as_ref().map_or(Ok(()), |limit| limit.check());
            if let Err(error) = checked {
                return Err(self.stopped(error));
            }
            // Whatever goes wrong ends the connect, so that the phase need not be put back.
            self.phase = match std::mem::replace(&mut self.phase, Phase::Race) {
                Phase::Source(target) => self.find_source(target).map_err(|error| self.before(error))?,
                Phase::FindSource(lookup, target) => {
                    let asked = self.ask(lookup).map_err(|error| self.before(of_source(error)))?;
                    self.with_source(asked, target)
                }
                Phase::Resolve(target) => self.find_target(target).map_err(|error| self.before(error))?,
                Phase::FindTarget(lookup) => {
                    let asked = self.ask(lookup).map_err(|error| self.before(error))?;
                    self.with_target(asked)?
                }
                Phase::Race => {
                    let Some(race) = &mut self.race else { return Ok(None) };
                    match race.step(Instant::now(), begun < BURST, self.spent.is_some()) {
                        // The limit is asked again: callbacks of the program take the time that they like.
                        Step::Begun => begun += 1,
                        Step::Pending => return Ok(None),
                        Step::Failed => return Err(race.error(&self.name)),
                        Step::Connected(socket) => return Ok(Some(socket.into())),
                    }
                    Phase::Race
                }
                over @ (Phase::Connected | Phase::Failed(_)) => over,
            };
            // A lookup that has just begun is asked by the next step, so that what a step answers is no matter of time.
            if self.is_looking_up() || self.is_over() {
                return Ok(None);
            }
        }
    }

    /// What a lookup has come to. One that is over is kept for one step more.
    fn ask(&mut self, lookup: Lookup) -> Result<Started> {
        if lookup.is_lost() {
            let again = self.resolver.start_again(&lookup)?;
            self.spent = Some(lookup);
            return Ok(Started::Lookup(again));
        }
        let Some(found) = lookup.take() else { return Ok(Started::Lookup(lookup)) };
        self.spent = Some(lookup);
        found.map(Started::Found)
    }

    fn find_source(&mut self, target: Target) -> Result<Phase> {
        // Unix domain sockets have no use for one, so it is not looked for.
        let Some(source) = self.options.source.as_ref().filter(|_| target.may_be_ip()) else {
            return Ok(Phase::Resolve(target));
        };
        let Some(query) = source.query().map_err(of_source)? else {
            self.source = Some(Source::Port(source.port));
            return Ok(Phase::Resolve(target));
        };
        let started = self.resolver.start(query).map_err(of_source)?;
        Ok(self.with_source(started, target))
    }

    fn with_source(&mut self, started: Started, target: Target) -> Phase {
        match started {
            Started::Lookup(lookup) => Phase::FindSource(lookup, target),
            Started::Found(found) => {
                self.source = Some(Source::Addresses(found));
                Phase::Resolve(target)
            }
        }
    }

    fn find_target(&mut self, target: Target) -> Result<Phase> {
        let query = match target {
            Target::Addresses(addresses) => return self.race_to(addresses),
            Target::Host(query) => query,
        };
        if let Some(resolve) = &self.options.resolve {
            let found = query.resolve_with(resolve, self.limit.as_deref())?;
            return self.race_to(found);
        }
        let started = self.resolver.start(query)?;
        self.with_target(started)
    }

    fn with_target(&mut self, started: Started) -> Result<Phase> {
        match started {
            Started::Lookup(lookup) => Ok(Phase::FindTarget(lookup)),
            Started::Found(addresses) => self.race_to(Endpoint::all_ip(addresses)),
        }
    }

    fn race_to(&mut self, addresses: Vec<Endpoint>) -> Result<Phase> {
        let timeout: Option<Duration> = timeout::resolve(self.options.timeout, "timeout")?;
        let sockets = Sockets { options: Arc::clone(&self.options), source: self.source.take() };
        self.race = Some(Race::new(sockets, addresses, self.options.stagger, timeout));
        Ok(Phase::Race)
    }

    fn before(&self, error: Error) -> Error {
        not_begun(&self.name, error)
    }

    /// The limit has ended it.
    fn stopped(&mut self, error: Error) -> Error {
        let Some(race) = &mut self.race else { return not_begun(&self.name, error) };
        if race.under_way().next().is_some() {
            race.stop(&error, Instant::now());
            return race.error(&self.name);
        }
        // Between one address that failed at once and the next.
        not_gone_on(&self.name, error, race.failures())
    }
}

fn follower(fd: RawFd) -> Result<OwnedFd> {
    sys::follower(fd).map_err(|error| Error::from_io(Status::Io, "cannot follow the limit's descriptor", &error))
}
