//! Connection attempts to a list of addresses, as a state machine that never waits.
//!
//! Attempts start in the order of the addresses. An attempt continues until its socket is connected, it fails, or its
//! timeout passes. The first connected socket is the result, and all other attempts are closed. When the most recently
//! started attempt fails, the next attempt starts immediately. The [`Schedule`] decides whether an attempt may also
//! start while others are in progress.
//!
//! [`Connect`](crate::socket::connect::Connect) resolves the host and applies the limit.

mod interleave;
#[cfg(test)]
mod tests;

use std::cell::OnceCell;
use std::ffi::{CStr, CString};
use std::fmt;
use std::time::{Duration, Instant};

use crate::error::Error;
use crate::limit::earlier;
use crate::socket::attempt::{
    self, AttemptFailure, BACKLOG_RETRY_INTERVAL, FailedAttempt, MAX_ADDRESSES, Progress, is_final,
};
use crate::socket::endpoint::Endpoint;
use crate::status::Status;

/// The order in which attempts start, and the delay between their starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Schedule {
    /// Tries the addresses in the given order, one at a time.
    Sequential,
    /// As in RFC 8305 ("Happy Eyeballs"): address families alternate, and the next attempt starts after this Connection
    /// Attempt Delay even if the previous attempt is still in progress.
    Racing(Duration),
}

/// Provides sockets and a clock: those of the system, or simulated ones in tests.
pub(super) trait Network {
    type Socket;

    fn now(&self) -> Instant;

    /// Opens a socket and calls connect(2).
    fn start(&mut self, endpoint: &Endpoint) -> Result<(Self::Socket, Progress), AttemptFailure>;

    /// Calls connect(2) again after [`Progress::BacklogFull`].
    fn retry(&mut self, socket: &Self::Socket, endpoint: &Endpoint) -> Result<Progress, AttemptFailure>;

    /// Returns the result of an attempt that was [`Progress::Pending`]; `None` while it is still in progress.
    fn result(&mut self, socket: &Self::Socket, endpoint: &Endpoint) -> Option<Result<(), AttemptFailure>>;
}

/// The result of [`Scheduler::step`].
pub(super) enum Step<S> {
    Connected(S),
    /// An attempt was started, and may have ended already. The caller calls [`Scheduler::step`] again without waiting.
    Started,
    /// The caller must wait until a descriptor is ready or [`Scheduler::next_timer`] is reached.
    Pending,
    /// No address is left and no attempt is in progress, or an attempt has failed with a status that ends connecting.
    Failed,
}

pub(super) struct Scheduler<N: Network> {
    network: N,
    /// The addresses in the order of their attempts.
    addresses: Vec<Endpoint>,
    /// The number of addresses beyond [`MAX_ADDRESSES`].
    skipped_addresses: usize,
    /// The attempts so far: attempt `i` connects to address `i`.
    attempts: Vec<Attempt<N::Socket>>,
    schedule: Schedule,
    timeout: Option<Duration>,
    /// Sockets of failed attempts, which the next step closes, as `Connect::interests` explains.
    to_close: Vec<N::Socket>,
    /// The time at which to retry the next address; set if no descriptor was free for its socket.
    retry_at: Option<Instant>,
}

/// An attempt to connect to one address, as `netlib_connect` reports it.
pub(crate) struct Attempt<S> {
    endpoint: Endpoint,
    /// The address as text, made when a report first needs it.
    text: OnceCell<CString>,
    started: Instant,
    timeout_at: Option<Instant>,
    /// The time to call connect(2) again; set while the listener's backlog is full, because the descriptor does not
    /// become ready when the backlog has room.
    backlog_retry_at: Option<Instant>,
    ended: Option<Instant>,
    state: State<S>,
}

enum State<S> {
    InProgress(S),
    Failed(AttemptFailure),
    Won,
    /// The attempt was in progress when the socket of another attempt was connected.
    Lost,
}

impl<N: Network> Scheduler<N> {
    pub(super) fn new(
        network: N,
        mut addresses: Vec<Endpoint>,
        schedule: Schedule,
        timeout: Option<Duration>,
    ) -> Scheduler<N> {
        if let Schedule::Racing(_) = schedule {
            // Address families are interleaved before the list is truncated, so that no family is lost.
            addresses = interleave::interleave_families(addresses);
        }
        let skipped_addresses = addresses.len().saturating_sub(MAX_ADDRESSES);
        addresses.truncate(MAX_ADDRESSES);
        let (attempts, to_close) = (Vec::new(), Vec::new());
        Scheduler { network, addresses, skipped_addresses, attempts, schedule, timeout, to_close, retry_at: None }
    }

    /// Checks all attempts in progress, then starts at most one new attempt. `will_free_descriptor` means that the
    /// caller will close one of its descriptors before the next step.
    pub(super) fn step(&mut self, will_free_descriptor: bool) -> Step<N::Socket> {
        let now = self.network.now();
        if let Some(socket) = self.check_attempts(now) {
            return Step::Connected(socket);
        }
        if let Some(endpoint) = self.next_due(now) {
            return self.start(endpoint, now, will_free_descriptor);
        }
        if self.is_in_progress() { Step::Pending } else { Step::Failed }
    }

    pub(super) fn close_ended(&mut self) {
        self.to_close.clear();
    }

    /// Returns the time at which the caller must call [`Scheduler::step`] even if no descriptor becomes ready.
    pub(super) fn next_timer(&self) -> Option<Instant> {
        let next_start = match self.attempts.last() {
            _ if self.retry_at.is_some() => self.retry_at,
            Some(last) if self.attempts.len() < self.addresses.len() => match last.state {
                State::InProgress(_) => self.delay().and_then(|delay| last.started.checked_add(delay)),
                State::Failed(_) => Some(last.started),
                State::Won | State::Lost => None,
            },
            _ => None,
        };
        let timer = |attempt: &Attempt<N::Socket>| earlier(attempt.timeout_at, attempt.backlog_retry_at);
        self.in_progress().map(|(attempt, _)| timer(attempt)).fold(next_start, earlier)
    }

    /// Returns the next address if its attempt must start now.
    fn next_due(&self, now: Instant) -> Option<Endpoint> {
        let next = self.addresses.get(self.attempts.len())?;
        let is_due = match (self.retry_at, self.attempts.last()) {
            (Some(time), _) => time <= now,
            (None, Some(Attempt { state: State::InProgress(_), started, .. })) => {
                self.delay().is_some_and(|delay| now.saturating_duration_since(*started) >= delay)
            }
            _ => true,
        };
        is_due.then(|| next.clone())
    }

    /// Returns the Connection Attempt Delay; `None` if no attempt may start while another one is in progress.
    fn delay(&self) -> Option<Duration> {
        match self.schedule {
            Schedule::Sequential => None,
            Schedule::Racing(delay) => Some(delay),
        }
    }

    fn start(&mut self, endpoint: Endpoint, now: Instant, will_free_descriptor: bool) -> Step<N::Socket> {
        let opened = self.network.start(&endpoint);
        self.retry_at = match &opened {
            Err(failure) if failure.is_out_of_descriptors() => self.descriptor_retry_time(now, will_free_descriptor),
            _ => None,
        };
        if self.retry_at.is_some() {
            return Step::Pending;
        }
        // The clock is read again, because callbacks and a blocking connect(2) take time.
        let opened_at = self.network.now();
        let after = |wait| opened_at.checked_add(wait);
        let mut attempt = Attempt {
            endpoint,
            text: OnceCell::new(),
            started: now,
            timeout_at: self.timeout.and_then(after),
            backlog_retry_at: None,
            ended: Some(opened_at),
            state: State::Won,
        };
        let step = match opened {
            Ok((socket, Progress::Connected)) => {
                self.end_losers(opened_at);
                Step::Connected(socket)
            }
            Ok((socket, progress)) => {
                attempt.ended = None;
                attempt.backlog_retry_at = match progress {
                    Progress::BacklogFull => after(BACKLOG_RETRY_INTERVAL),
                    _ => None,
                };
                attempt.state = State::InProgress(socket);
                Step::Started
            }
            Err(failure) => {
                let step = if is_final(failure.status) { Step::Failed } else { Step::Started };
                attempt.state = State::Failed(failure);
                step
            }
        };
        self.attempts.push(attempt);
        step
    }

    /// Returns the time at which to retry after the system had no free descriptor; `None` if neither the caller nor an
    /// attempt in progress will free one. The end of any attempt also triggers a retry.
    fn descriptor_retry_time(&self, now: Instant, will_free_descriptor: bool) -> Option<Instant> {
        if will_free_descriptor || !self.to_close.is_empty() {
            return Some(now);
        }
        self.delay().filter(|_| self.is_in_progress()).and_then(|delay| now.checked_add(delay))
    }

    /// Ends the attempts that have failed or timed out. If a socket is connected, returns the socket and closes all
    /// other attempts.
    fn check_attempts(&mut self, now: Instant) -> Option<N::Socket> {
        for index in 0..self.attempts.len() {
            let attempt = &mut self.attempts[index];
            let State::InProgress(socket) = &attempt.state else { continue };
            let result = match attempt.backlog_retry_at {
                Some(time) if time <= now => match self.network.retry(socket, &attempt.endpoint) {
                    Ok(Progress::Connected) => Some(Ok(())),
                    Ok(progress) => {
                        let retry = progress == Progress::BacklogFull;
                        attempt.backlog_retry_at = if retry { now.checked_add(BACKLOG_RETRY_INTERVAL) } else { None };
                        None
                    }
                    Err(failure) => Some(Err(failure)),
                },
                Some(_) => None,
                None => self.network.result(socket, &attempt.endpoint),
            };
            let failure = match result {
                Some(Ok(())) => {
                    let socket = attempt.end(State::Won, now);
                    self.end_losers(now);
                    return socket;
                }
                Some(Err(failure)) => failure,
                None if attempt.timeout_at.is_some_and(|time| time <= now) => AttemptFailure::timed_out(),
                None => continue,
            };
            self.to_close.extend(attempt.end(State::Failed(failure), now));
            self.retry_at = None;
        }
        None
    }

    fn end_losers(&mut self, now: Instant) {
        for attempt in &mut self.attempts {
            attempt.end(State::Lost, now);
        }
    }

    /// Ends and closes all attempts in progress. `error` is the reason: not a failure of the network, but for example
    /// the end of the limit.
    pub(super) fn stop(&mut self, error: &Error) {
        let now = self.network.now();
        for attempt in &mut self.attempts {
            attempt.end(State::Failed(AttemptFailure::from_wait(error)), now);
        }
    }

    pub(super) fn attempts(&self) -> &[Attempt<N::Socket>] {
        &self.attempts
    }

    pub(super) fn is_in_progress(&self) -> bool {
        self.in_progress().next().is_some()
    }

    fn in_progress(&self) -> impl Iterator<Item = (&Attempt<N::Socket>, &N::Socket)> {
        self.attempts.iter().filter_map(|attempt| match &attempt.state {
            State::InProgress(socket) => Some((attempt, socket)),
            _ => None,
        })
    }

    /// Returns the sockets that become writable when their attempts end.
    pub(super) fn pollable(&self) -> impl Iterator<Item = &N::Socket> {
        self.in_progress().filter(|(attempt, _)| attempt.backlog_retry_at.is_none()).map(|(_, socket)| socket)
    }

    pub(super) fn winner(&self) -> Option<usize> {
        self.attempts.iter().position(|attempt| matches!(attempt.state, State::Won))
    }

    /// Returns the error to report when no attempt has succeeded.
    pub(super) fn error(&self, target: &dyn fmt::Display) -> Error {
        // The error message states the number of skipped addresses only if all addresses before them were tried.
        let ended_early = self.failures().any(|failed| is_final(failed.failure.status));
        attempt::all_attempts_failed_error(
            target,
            self.failures().collect(),
            if ended_early { 0 } else { self.skipped_addresses },
        )
    }

    pub(super) fn failures(&self) -> impl Iterator<Item = FailedAttempt> {
        self.attempts.iter().filter_map(|attempt| match &attempt.state {
            State::Failed(failure) => Some(FailedAttempt {
                endpoint: attempt.endpoint.clone(),
                failure: failure.clone(),
                started: attempt.started,
                ended: attempt.ended?,
            }),
            _ => None,
        })
    }
}

impl<S> Attempt<S> {
    /// Ends the attempt if it is in progress, and returns its socket.
    fn end(&mut self, state: State<S>, now: Instant) -> Option<S> {
        if !matches!(self.state, State::InProgress(_)) {
            return None;
        }
        self.ended = Some(now);
        match std::mem::replace(&mut self.state, state) {
            State::InProgress(socket) => Some(socket),
            _ => None,
        }
    }

    /// Returns the address without the port.
    pub(crate) fn text(&self) -> &CStr {
        self.text.get_or_init(|| CString::new(self.endpoint.name()).unwrap_or_default())
    }

    /// Returns the port; `None` for a Unix domain socket.
    pub(crate) fn port(&self) -> Option<u16> {
        self.endpoint.port()
    }

    pub(super) fn started(&self) -> Instant {
        self.started
    }

    pub(super) fn ended(&self) -> Option<Instant> {
        self.ended
    }

    /// Returns the attempt's status: `WantWrite` while it is in progress, `Closed` if another attempt succeeded first.
    pub(crate) fn status(&self) -> Status {
        match &self.state {
            State::InProgress(_) => Status::WantWrite,
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
