//! A simulated network and a clock, both controlled by the test.

use std::cell::Cell;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::{Duration, Instant};

use crate::socket::attempt::{AttemptFailure, Progress};
use crate::socket::endpoint::Endpoint;
use crate::socket::scheduler::{Attempt, Network, Schedule, Scheduler, Step};
use crate::status::Status;

/// How an address answers connect(2). Times are in milliseconds after the call. An address without a behaviour never
/// answers.
#[derive(Clone, Copy)]
pub(super) enum Behaviour {
    /// connect(2) fails immediately.
    RefusedAtOnce,
    RefusedAfter(u64),
    /// connect(2) succeeds immediately.
    ConnectedAtOnce,
    ConnectedAfter(u64),
    /// connect(2) blocks for the given milliseconds, then fails.
    BlockedThenRefused(u64),
    /// The listener's backlog is full for this many milliseconds. The listener closes after `LISTENER_CLOSES`.
    RoomAfter(u64),
}

const LISTENER_CLOSES: u64 = 400;

use Behaviour::*;

pub(super) struct SimulatedNetwork {
    behaviours: HashMap<u16, Behaviour>,
    epoch: Instant,
    now: Rc<Cell<Duration>>,
    open: Rc<Cell<usize>>,
    pub(super) max_open: usize,
    retries: Rc<Cell<usize>>,
}

/// A simulated socket, whose destructor decrements the number of open sockets.
pub(super) struct SimulatedSocket {
    port: u16,
    started: Duration,
    open: Rc<Cell<usize>>,
}

impl Drop for SimulatedSocket {
    fn drop(&mut self) {
        self.open.set(self.open.get() - 1);
    }
}

fn refused() -> AttemptFailure {
    AttemptFailure {
        status: Status::ConnectFailed,
        errno: libc::ECONNREFUSED,
        reason: "Connection refused".to_owned(),
    }
}

fn out_of_descriptors() -> AttemptFailure {
    AttemptFailure { status: Status::ConnectFailed, errno: libc::EMFILE, reason: "Too many open files".to_owned() }
}

impl Network for SimulatedNetwork {
    type Socket = SimulatedSocket;

    fn now(&self) -> Instant {
        self.epoch + self.now.get()
    }

    fn start(&mut self, endpoint: &Endpoint) -> Result<(SimulatedSocket, Progress), AttemptFailure> {
        if self.open.get() >= self.max_open {
            return Err(out_of_descriptors());
        }
        let port = endpoint.port().unwrap();
        let progress = match self.behaviours.get(&port) {
            Some(RefusedAtOnce) => return Err(refused()),
            Some(BlockedThenRefused(ms)) => {
                self.now.set(self.now.get() + Duration::from_millis(*ms));
                return Err(refused());
            }
            Some(ConnectedAtOnce) => Progress::Connected,
            Some(RoomAfter(_)) => Progress::BacklogFull,
            _ => Progress::Pending,
        };
        self.open.set(self.open.get() + 1);
        Ok((SimulatedSocket { port, started: self.now.get(), open: Rc::clone(&self.open) }, progress))
    }

    fn retry(&mut self, socket: &SimulatedSocket, _: &Endpoint) -> Result<Progress, AttemptFailure> {
        self.retries.set(self.retries.get() + 1);
        let elapsed = self.now.get() - socket.started;
        match self.behaviours[&socket.port] {
            RoomAfter(ms) if elapsed >= Duration::from_millis(ms) => Ok(Progress::Connected),
            RoomAfter(_) if elapsed >= Duration::from_millis(LISTENER_CLOSES) => Err(refused()),
            RoomAfter(_) => Ok(Progress::BacklogFull),
            _ => panic!("retried although the backlog was not full"),
        }
    }

    fn result(&mut self, socket: &SimulatedSocket, _: &Endpoint) -> Option<Result<(), AttemptFailure>> {
        let elapsed = self.now.get() - socket.started;
        let is_after = |ms| elapsed >= Duration::from_millis(ms);
        match self.behaviours.get(&socket.port)? {
            RefusedAfter(ms) if is_after(*ms) => Some(Err(refused())),
            ConnectedAfter(ms) if is_after(*ms) => Some(Ok(())),
            RoomAfter(_) => panic!("polled although poll(2) reports such a socket as writable"),
            _ => None,
        }
    }
}

/// A scheduler on the simulated network. The test sets the simulated time. Each simulated address is identified by its
/// port.
pub(super) struct Simulation {
    pub(super) scheduler: Scheduler<SimulatedNetwork>,
    pub(super) epoch: Instant,
    pub(super) now: Rc<Cell<Duration>>,
    pub(super) open: Rc<Cell<usize>>,
    pub(super) retries: Rc<Cell<usize>>,
}

pub(super) const NONE: Option<u64> = None;
pub(super) const RACING: Schedule = Schedule::Racing(Duration::from_millis(250));

impl Simulation {
    pub(super) fn racing(addresses: &[(u16, Option<Behaviour>)], timeout: Option<u64>) -> Simulation {
        Simulation::new(addresses, RACING, timeout)
    }

    /// Creates a simulation. An address with a port below 10 is an IPv6 address, any other an IPv4 address.
    pub(super) fn new(
        addresses: &[(u16, Option<Behaviour>)],
        schedule: Schedule,
        timeout: Option<u64>,
    ) -> Simulation {
        let (now, open, retries) = (Rc::new(Cell::new(Duration::ZERO)), Rc::default(), Rc::<Cell<usize>>::default());
        let epoch = Instant::now();
        let network = SimulatedNetwork {
            behaviours: addresses.iter().filter_map(|(port, behaviour)| Some((*port, (*behaviour)?))).collect(),
            epoch,
            now: Rc::clone(&now),
            open: Rc::clone(&open),
            max_open: usize::MAX,
            retries: Rc::clone(&retries),
        };
        let endpoint = |port: &u16| match port {
            0..10 => Endpoint::Ip(SocketAddr::from(([0x2001, 0xdb8, 0, 0, 0, 0, 0, 1], *port))),
            _ => Endpoint::Ip(SocketAddr::from(([192, 0, 2, 1], *port))),
        };
        let endpoints = addresses.iter().map(|(port, _)| endpoint(port)).collect();
        let timeout = timeout.map(Duration::from_millis);
        let scheduler = Scheduler::new(network, endpoints, schedule, timeout);
        Simulation { scheduler, epoch, now, open, retries }
    }

    /// Calls `Scheduler::step` at the given time as `Connect` does, until no further attempt starts. Returns "PORT
    /// won", "pending" or "failed".
    pub(super) fn step(&mut self, at: u64) -> String {
        self.step_with(at, false)
    }

    pub(super) fn step_with(&mut self, at: u64, will_free_descriptor: bool) -> String {
        self.now.set(Duration::from_millis(at));
        self.scheduler.close_ended();
        let mut step = Step::Started;
        while let Step::Started = step {
            step = self.scheduler.step(will_free_descriptor);
        }
        match step {
            Step::Started => unreachable!(),
            Step::Connected(socket) => format!("{} won", socket.port),
            Step::Pending => "pending".to_owned(),
            Step::Failed => "failed".to_owned(),
        }
    }

    /// Returns the time of the next timer, in milliseconds since the start.
    pub(super) fn next_timer(&self) -> Option<u64> {
        self.scheduler.next_timer().map(|time| self.ms(time))
    }

    pub(super) fn ms(&self, time: Instant) -> u64 {
        u64::try_from((time - self.epoch).as_millis()).unwrap()
    }

    /// Takes a step every millisecond until an attempt wins or all have failed.
    pub(super) fn run(&mut self) -> String {
        for at in 0..100_000 {
            let result = self.step(at.max(u64::try_from(self.now.get().as_millis()).unwrap()));
            let at = self.now.get().as_millis();
            if result != "pending" {
                return format!("{result} at {at}");
            }
            assert!(self.next_timer().is_none_or(|next| u128::from(next) > at), "the timer does not advance");
        }
        "still pending".to_owned()
    }

    /// Returns the port, start, end and status of each attempt.
    pub(super) fn report(&self) -> String {
        let line = |attempt: &Attempt<SimulatedSocket>| {
            let end = attempt.ended.map_or("-".to_owned(), |ended| self.ms(ended).to_string());
            format!("{} {}-{end} {:?}", attempt.port().unwrap(), self.ms(attempt.started), attempt.status())
        };
        self.scheduler.attempts.iter().map(line).collect::<Vec<_>>().join(", ")
    }
}
