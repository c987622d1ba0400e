//! Racing connects, RFC 8305 ("Happy Eyeballs"), as a state machine that never waits and reads no clock.
//!
//! Addresses have their turn one after the other, a stagger apart; who has begun goes on until it is connected, fails,
//! or its own timeout passes. The first connection wins. When the attempt that began last fails, the next begins at
//! once. [`Connect`] puts the lookup before it, and a limit around both.

mod connect;
mod order;
#[cfg(test)]
mod tests;

use std::ffi::{CStr, CString};
use std::net::SocketAddr;
use std::os::fd::RawFd;
use std::time::{Duration, Instant};

use crate::error::Error;
use crate::socket::attempt::{self, Failure, Tried};
use crate::socket::wait::earlier;
use crate::status::Status;

pub(crate) use connect::Connect;

/// Where connections are begun and looked at: the system, or a test's script.
trait Network {
    type Socket;

    /// Begins to connect. It does not wait.
    fn open(&mut self, address: SocketAddr) -> Result<Self::Socket, Failure>;

    /// How it ended; `None` while it is under way.
    fn outcome(&mut self, socket: &Self::Socket) -> Option<Result<(), Failure>>;
}

/// How many attempts one step begins at most, where each fails at once: a step is short, and a limit is looked at
/// between two.
const BURST: usize = 64;

/// What a step came to.
enum Step<S> {
    Connected(S),
    Pending,
    /// No address is left, and nothing is under way.
    Failed,
}

struct Race<N: Network> {
    network: N,
    /// In the order in which they have their turn.
    addresses: Vec<SocketAddr>,
    /// What was begun: of as many addresses, in the same order.
    attempts: Vec<Attempt<N::Socket>>,
    stagger: Duration,
    timeout: Option<Duration>,
    /// Sockets of attempts that have failed, closed by the next step: see `Connect::waits`.
    spent: Vec<N::Socket>,
}

/// An address that had its turn: a line of the report.
pub(crate) struct Attempt<S> {
    address: SocketAddr,
    /// For C, with the zone of a link-local address.
    text: CString,
    began: Instant,
    ended: Option<Instant>,
    state: State<S>,
}

enum State<S> {
    UnderWay(S),
    Failed(Failure),
    Won,
    /// Under way when another won.
    Lost,
}

impl<N: Network> Race<N> {
    fn new(network: N, addresses: Vec<SocketAddr>, stagger: Duration, timeout: Option<Duration>) -> Race<N> {
        let addresses = order::interleaved(addresses);
        Race { network, addresses, attempts: Vec::new(), stagger, timeout, spent: Vec::new() }
    }

    /// Looks at what is under way, and begins what is due.
    fn step(&mut self, now: Instant) -> Step<N::Socket> {
        self.spent.clear();
        let end = self.attempts.len().saturating_add(BURST);
        loop {
            if let Some(socket) = self.look(now) {
                return Step::Connected(socket);
            }
            let Some(address) = self.due(now) else {
                return if self.under_way().next().is_some() { Step::Pending } else { Step::Failed };
            };
            if self.attempts.len() == end {
                return Step::Pending;
            }
            self.begin(address, now);
        }
    }

    /// When a step has something to do though no socket is ready.
    fn next_time(&self) -> Option<Instant> {
        let turn = match self.attempts.last() {
            Some(last) if self.attempts.len() < self.addresses.len() => match last.state {
                State::UnderWay(_) => last.began.checked_add(self.stagger),
                // At once.
                _ => Some(last.began),
            },
            _ => None,
        };
        let timeouts = self.under_way().filter_map(|(attempt, _)| attempt.began.checked_add(self.timeout?));
        timeouts.fold(turn, |first, time| earlier(first, Some(time)))
    }

    /// The address whose turn it is.
    fn due(&self, now: Instant) -> Option<SocketAddr> {
        let next = *self.addresses.get(self.attempts.len())?;
        let is_due = match self.attempts.last() {
            Some(Attempt { state: State::UnderWay(_), began, .. }) => passed(*began, self.stagger, now),
            _ => true,
        };
        is_due.then_some(next)
    }

    fn begin(&mut self, address: SocketAddr, now: Instant) {
        let (state, ended) = match self.network.open(address) {
            Ok(socket) => (State::UnderWay(socket), None),
            Err(failure) => (State::Failed(failure), Some(now)),
        };
        self.attempts.push(Attempt { address, text: text_of(&address), began: now, ended, state });
    }

    /// The first connection, if there is one; then all others are closed.
    fn look(&mut self, now: Instant) -> Option<N::Socket> {
        for at in 0..self.attempts.len() {
            let attempt = &mut self.attempts[at];
            let State::UnderWay(socket) = &attempt.state else { continue };
            let failure = match self.network.outcome(socket) {
                Some(Ok(())) => return self.won(at, now),
                Some(Err(failure)) => failure,
                None if self.timeout.is_some_and(|timeout| passed(attempt.began, timeout, now)) => {
                    Failure::timed_out()
                }
                None => continue,
            };
            self.spent.extend(attempt.end(State::Failed(failure), now));
        }
        None
    }

    fn won(&mut self, winner: usize, now: Instant) -> Option<N::Socket> {
        let socket = self.attempts.get_mut(winner)?.end(State::Won, now);
        for attempt in &mut self.attempts {
            attempt.end(State::Lost, now);
        }
        self.spent.clear();
        socket
    }

    /// Ends what is under way, for a reason that is not the network's, and closes it.
    fn stop(&mut self, error: &Error, now: Instant) {
        for attempt in &mut self.attempts {
            attempt.end(State::Failed(Failure::of_wait(error)), now);
        }
        self.spent.clear();
    }

    fn under_way(&self) -> impl Iterator<Item = (&Attempt<N::Socket>, &N::Socket)> {
        self.attempts.iter().filter_map(|attempt| match &attempt.state {
            State::UnderWay(socket) => Some((attempt, socket)),
            _ => None,
        })
    }

    fn winner(&self) -> Option<usize> {
        self.attempts.iter().position(|attempt| matches!(attempt.state, State::Won))
    }

    /// The error of a race that nobody won.
    fn error(&self, host: &str, port: u16) -> Error {
        let failures = self.attempts.iter().filter_map(|attempt| match &attempt.state {
            State::Failed(failure) => Some(Tried {
                address: attempt.address,
                failure: failure.clone(),
                began: attempt.began,
                ended: attempt.ended?,
            }),
            _ => None,
        });
        attempt::all_failed(host, port, failures.collect())
    }
}

impl<S> Attempt<S> {
    /// Ends it, if it is under way; what was its socket is the caller's.
    fn end(&mut self, state: State<S>, now: Instant) -> Option<S> {
        if !matches!(self.state, State::UnderWay(_)) {
            return None;
        }
        self.ended = Some(now);
        match std::mem::replace(&mut self.state, state) {
            State::UnderWay(socket) => Some(socket),
            _ => None,
        }
    }

    pub(crate) fn text(&self) -> &CStr {
        &self.text
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    /// `WantWrite` while it is under way, `Closed` if another won.
    pub(crate) fn status(&self) -> Status {
        match &self.state {
            State::UnderWay(_) => Status::WantWrite,
            State::Failed(failure) => failure.status,
            State::Won => Status::Ok,
            State::Lost => Status::Closed,
        }
    }

    pub(crate) fn errno(&self) -> i32 {
        match &self.state {
            State::Failed(failure) => failure.errno,
            _ => 0,
        }
    }
}

fn passed(since: Instant, wait: Duration, now: Instant) -> bool {
    now.saturating_duration_since(since) >= wait
}

fn text_of(address: &SocketAddr) -> CString {
    let text = match address {
        SocketAddr::V6(v6) if v6.scope_id() != 0 => format!("{}%{}", v6.ip(), v6.scope_id()),
        _ => address.ip().to_string(),
    };
    CString::new(text).unwrap_or_default()
}

/// A descriptor to wait for, with poll(2)'s events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Waited {
    pub fd: RawFd,
    pub events: i16,
}
