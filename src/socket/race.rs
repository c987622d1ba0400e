//! Racing connects, RFC 8305 ("Happy Eyeballs"), as a state machine that never waits and reads no clock.
//!
//! Addresses have their turn one after the other, a stagger apart; who has begun goes on until it is connected, fails,
//! or its own timeout passes. The first connection wins. When the attempt that began last fails, the next begins at
//! once. [`Connect`] puts the lookup before it, and a limit around both.

mod connect;
mod interleave;
#[cfg(test)]
mod tests;

use std::ffi::{CStr, CString};
use std::os::fd::RawFd;
use std::time::{Duration, Instant};

use crate::error::Error;
use crate::socket::attempt::{self, AGAIN, Failure, MOST_ADDRESSES, Progress, Tried};
use crate::socket::endpoint::Endpoint;
use crate::socket::wait::earlier;
use crate::status::Status;

pub(crate) use connect::Connect;

/// Where connections are begun and looked at: the system, or a test's script.
trait Network {
    type Socket;

    /// Begins to connect. It does not wait.
    fn open(&mut self, endpoint: &Endpoint) -> Result<(Self::Socket, Progress), Failure>;

    /// Asks a backlog for room that was full.
    fn again(&mut self, socket: &Self::Socket, endpoint: &Endpoint) -> Result<Progress, Failure>;

    /// How it ended; `None` while it is under way.
    fn outcome(&mut self, socket: &Self::Socket, endpoint: &Endpoint) -> Option<Result<(), Failure>>;
}

/// What a step came to.
enum Step<S> {
    Connected(S),
    /// An attempt: step again, without waiting.
    Begun,
    Pending,
    /// No address is left, and nothing is under way.
    Failed,
}

struct Race<N: Network> {
    network: N,
    /// In the order in which they have their turn.
    addresses: Vec<Endpoint>,
    /// The number of addresses beyond these.
    left_out: usize,
    /// What was begun: of as many addresses, in the same order.
    attempts: Vec<Attempt<N::Socket>>,
    stagger: Duration,
    timeout: Option<Duration>,
    /// Sockets of attempts that have failed, closed a step of the connect later: see `Connect::waits`.
    spent: Vec<N::Socket>,
    /// There was no descriptor for the address whose turn it is: when it has its turn again.
    put_off: Option<Instant>,
}

/// An address that had its turn: a line of the report.
pub(crate) struct Attempt<S> {
    endpoint: Endpoint,
    /// Its name, for C.
    text: CString,
    began: Instant,
    /// Under way, but its backlog is full: when to ask again. Its descriptor tells nothing.
    again: Option<Instant>,
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
    fn new(network: N, addresses: Vec<Endpoint>, stagger: Duration, timeout: Option<Duration>) -> Race<N> {
        // Truncated after the families are interleaved, so that no family is missing.
        let mut addresses = interleave::interleaved(addresses);
        let left_out = addresses.len().saturating_sub(MOST_ADDRESSES);
        addresses.truncate(MOST_ADDRESSES);
        let (attempts, spent) = (Vec::new(), Vec::new());
        Race { network, addresses, left_out, attempts, stagger, timeout, spent, put_off: None }
    }

    /// Looks at what is under way, then begins what is due, if anything; not unless it `may_begin`. `frees`: the next
    /// step of the connect closes a descriptor that is none of the race's.
    fn step(&mut self, now: Instant, may_begin: bool, frees: bool) -> Step<N::Socket> {
        if let Some(socket) = self.look(now) {
            return Step::Connected(socket);
        }
        if let Some(endpoint) = self.due(now) {
            return match may_begin && self.begin(endpoint, now, frees) {
                true if self.is_ended() => Step::Failed,
                true => Step::Begun,
                false => Step::Pending,
            };
        }
        if self.under_way().next().is_some() { Step::Pending } else { Step::Failed }
    }

    fn close_spent(&mut self) {
        self.spent.clear();
    }

    /// When a step has something to do though no socket is ready.
    fn next_time(&self) -> Option<Instant> {
        let turn = match self.attempts.last() {
            _ if self.put_off.is_some() => self.put_off,
            Some(last) if self.attempts.len() < self.addresses.len() => match last.state {
                State::UnderWay(_) => last.began.checked_add(self.stagger),
                // At once.
                _ => Some(last.began),
            },
            _ => None,
        };
        let of_attempt = |attempt: &Attempt<N::Socket>| {
            let timeout = self.timeout.and_then(|timeout| attempt.began.checked_add(timeout));
            earlier(timeout, attempt.again)
        };
        self.under_way().map(|(attempt, _)| of_attempt(attempt)).fold(turn, earlier)
    }

    /// The address whose turn it is.
    fn due(&self, now: Instant) -> Option<Endpoint> {
        let next = self.addresses.get(self.attempts.len())?;
        let is_due = match (self.put_off, self.attempts.last()) {
            (Some(time), _) => time <= now,
            (None, Some(Attempt { state: State::UnderWay(_), began, .. })) => passed(*began, self.stagger, now),
            _ => true,
        };
        is_due.then(|| next.clone())
    }

    /// Whether it has begun: not where the system has no descriptor left and this connect will give one back.
    fn begin(&mut self, endpoint: Endpoint, now: Instant, frees: bool) -> bool {
        let opened = self.network.open(&endpoint);
        self.put_off = match &opened {
            Err(failure) if failure.is_out_of_descriptors() => self.time_of_a_descriptor(now, frees),
            _ => None,
        };
        if self.put_off.is_some() {
            return false;
        }
        let (state, again, ended) = match opened {
            Ok((socket, progress)) => (State::UnderWay(socket), time_to_ask(progress, now), None),
            Err(failure) => (State::Failed(failure), None, Some(now)),
        };
        let text = CString::new(endpoint.name()).unwrap_or_default();
        self.attempts.push(Attempt { endpoint, text, began: now, again, ended, state });
        true
    }

    /// The attempt that began last allows no other.
    fn is_ended(&self) -> bool {
        let last = self.attempts.last();
        last.is_some_and(
            |last| matches!(&last.state, State::Failed(failure) if attempt::ends_connect(failure.status)),
        )
    }

    /// When to try again to open a socket, if there is hope. The end of any attempt is such a time too.
    fn time_of_a_descriptor(&self, now: Instant, frees: bool) -> Option<Instant> {
        if frees || !self.spent.is_empty() {
            return Some(now);
        }
        self.under_way().next().and_then(|_| now.checked_add(self.stagger))
    }

    /// The first connection, if there is one; then all others are closed.
    fn look(&mut self, now: Instant) -> Option<N::Socket> {
        for at in 0..self.attempts.len() {
            let attempt = &mut self.attempts[at];
            let State::UnderWay(socket) = &attempt.state else { continue };
            let asked = match attempt.again {
                Some(time) if time <= now => self.network.again(socket, &attempt.endpoint).map(|progress| {
                    attempt.again = time_to_ask(progress, now);
                }),
                _ => Ok(()),
            };
            let outcome = match asked {
                Err(failure) => Some(Err(failure)),
                Ok(()) if attempt.again.is_some() => None,
                Ok(()) => self.network.outcome(socket, &attempt.endpoint),
            };
            let failure = match outcome {
                Some(Ok(())) => return self.won(at, now),
                Some(Err(failure)) => failure,
                None if self.timeout.is_some_and(|timeout| passed(attempt.began, timeout, now)) => {
                    Failure::timed_out()
                }
                None => continue,
            };
            self.spent.extend(attempt.end(State::Failed(failure), now));
            self.put_off = None;
        }
        None
    }

    fn won(&mut self, winner: usize, now: Instant) -> Option<N::Socket> {
        let socket = self.attempts.get_mut(winner)?.end(State::Won, now);
        for attempt in &mut self.attempts {
            attempt.end(State::Lost, now);
        }
        socket
    }

    /// Ends what is under way, for a reason that is not the network's, and closes it.
    fn stop(&mut self, error: &Error, now: Instant) {
        for attempt in &mut self.attempts {
            attempt.end(State::Failed(Failure::of_wait(error)), now);
        }
    }

    fn under_way(&self) -> impl Iterator<Item = (&Attempt<N::Socket>, &N::Socket)> {
        self.attempts.iter().filter_map(|attempt| match &attempt.state {
            State::UnderWay(socket) => Some((attempt, socket)),
            _ => None,
        })
    }

    /// Of what is under way, the sockets that become writable when it has ended.
    fn telling(&self) -> impl Iterator<Item = &N::Socket> {
        self.under_way().filter(|(attempt, _)| attempt.again.is_none()).map(|(_, socket)| socket)
    }

    fn winner(&self) -> Option<usize> {
        self.attempts.iter().position(|attempt| matches!(attempt.state, State::Won))
    }

    /// The error of a race that nobody won.
    fn error(&self, target: &str) -> Error {
        let failures: Vec<Tried> = self.failures().collect();
        // Addresses that were not tried are not counted if something else ended the race.
        let left_out = if failures.len() == self.addresses.len() { self.left_out } else { 0 };
        attempt::all_failed(target, failures, left_out)
    }

    fn failures(&self) -> impl Iterator<Item = Tried> {
        self.attempts.iter().filter_map(|attempt| match &attempt.state {
            State::Failed(failure) => Some(Tried {
                endpoint: attempt.endpoint.clone(),
                failure: failure.clone(),
                began: attempt.began,
                ended: attempt.ended?,
            }),
            _ => None,
        })
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

    /// `None` of a Unix domain socket.
    pub(crate) fn port(&self) -> Option<u16> {
        self.endpoint.port()
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

fn time_to_ask(progress: Progress, now: Instant) -> Option<Instant> {
    if progress == Progress::Full { now.checked_add(AGAIN) } else { None }
}

/// A descriptor to wait for, with poll(2)'s events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Waited {
    pub fd: RawFd,
    pub events: i16,
}
