//! Measures how soon a blocking call returns when its deadline passes or it is cancelled, and the cost of abandoning a
//! name lookup.

use std::ffi::CStr;
use std::os::fd::RawFd;
use std::ptr::null_mut;
use std::rc::Rc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::phases::{self, By, Phase};
use super::{
    CANCELLED, Calls, DEADLINE_EXCEEDED, Handle, Latencies, MS, NO_OPTIONS, NONE, US, WANT_WRITE, expect, latency,
    made, seconds_since,
};
use crate::chart::{self, Group};
use crate::rng::Rng;

const TIMES: usize = 60;
const DEADLINE_GOAL: f64 = 0.020;
const FREE_GOAL: f64 = 0.001;
/// The time from the start of a call until it is cancelled: long enough for the call to wait.
const UNTIL_CANCELLED: Duration = Duration::from_millis(5);

pub fn run(rng: &mut Rng) -> Result<(), String> {
    let c = Calls::load()?;
    check_lookups(&c)?;
    let mut phases = phases::all(&c)?;
    let groups = [deadlines(&c, rng, &mut phases)?, cancels(&c, rng, &mut phases)?, frees(&c)?];
    chart::write("stopping", "How soon a blocking call returns", &groups)
}

/* Lookups that hang: the getaddrinfo of the measuring program calls `hang` for this name. */

pub const HANGS: &CStr = c"hangs.test";

struct Lookups {
    inside: usize,
    released: usize,
}

static LOOKUPS: Mutex<Lookups> = Mutex::new(Lookups { inside: 0, released: 0 });
static CHANGED: Condvar = Condvar::new();

/// Simulates a name lookup that blocks until `release` is called.
pub fn hang() {
    let mut lookups = LOOKUPS.lock().unwrap_or_else(PoisonError::into_inner);
    let released = lookups.released;
    lookups.inside += 1;
    CHANGED.notify_all();
    while lookups.released == released {
        lookups = CHANGED.wait(lookups).unwrap_or_else(PoisonError::into_inner);
    }
    lookups.inside -= 1;
    CHANGED.notify_all();
}

/// Waits until exactly `count` lookups are blocked, for at most a second. Returns false if the second passes first.
fn wait_for_lookups(count: usize) -> bool {
    let lookups = LOOKUPS.lock().unwrap_or_else(PoisonError::into_inner);
    let waited = CHANGED.wait_timeout_while(lookups, Duration::from_secs(1), |lookups| lookups.inside != count);
    !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
}

/// Releases all blocked lookups, so that each measurement starts without a blocked lookup.
fn release() {
    LOOKUPS.lock().unwrap_or_else(PoisonError::into_inner).released += 1;
    CHANGED.notify_all();
    wait_for_lookups(0);
}

/// Checks that netlib's lookups call this program's getaddrinfo.
fn check_lookups(c: &Calls) -> Result<(), String> {
    let connect = started_lookup(c)?;
    let came = wait_for_lookups(1);
    release();
    unsafe { (c.0.netlib_connect_free)(connect) };
    if came { Ok(()) } else { Err("the program's getaddrinfo does not stand before the C library's".into()) }
}

fn started_lookup(c: &Calls) -> Result<Handle, String> {
    let connect = made("netlib_connect_new", |out| unsafe {
        (c.0.netlib_connect_new)(HANGS.as_ptr(), 80, NO_OPTIONS, out, null_mut())
    })?;
    let mut fd = -1;
    expect("netlib_connect_step", WANT_WRITE, unsafe { (c.0.netlib_connect_step)(connect, &mut fd, null_mut()) })?;
    Ok(connect)
}

/* The tables. */

/// Measures the rows of a table in rounds, each round in a new order. Returns the names of the rows and their times.
fn rounds(
    rng: &mut Rng,
    names: &[&'static str],
    mut measure: impl FnMut(usize, &mut Rng) -> Result<f64, String>,
) -> Result<Vec<(&'static str, Vec<f64>)>, String> {
    let mut times = vec![Vec::with_capacity(TIMES); names.len()];
    let mut order: Vec<usize> = (0..names.len()).collect();
    for round in 0..=TIMES {
        rng.shuffle(&mut order);
        for &i in &order {
            let seconds = measure(i, rng)?;
            // The first round warms up and is not counted.
            if round > 0 {
                times[i].push(seconds);
            }
        }
    }
    Ok(names.iter().copied().zip(times).collect())
}

fn deadlines(c: &Calls, rng: &mut Rng, phases: &mut [Phase]) -> Result<Group, String> {
    let mut names: Vec<&str> = phases.iter().map(|phase| phase.name).collect();
    names.push("poll(2) alone");
    let measured = rounds(rng, &names, |i, rng| {
        // Like a real deadline, the time is rarely a whole number of milliseconds.
        let seconds = rng.between(5_000, 15_000) as f64 / 1e6;
        let began = Instant::now();
        let Some(phase) = phases.get_mut(i) else {
            unsafe { libc::poll(null_mut(), 0, (seconds * 1e3).ceil() as i32) };
            return Ok(seconds_since(began) - seconds);
        };
        let (status, expected, overshoot) = match &mut phase.by {
            By::Limit(call) => {
                let limit = c.limit(seconds);
                let status = call(limit);
                let overshoot = seconds_since(began) - seconds;
                unsafe { (c.0.netlib_limit_free)(limit) };
                (status, DEADLINE_EXCEEDED, overshoot)
            }
            By::Timeout(call, expected) => (call(seconds), *expected, seconds_since(began) - seconds),
        };
        if phase.looks_up {
            release();
        }
        expect(phase.name, expected, status)?;
        if overshoot < 0.0 { Err(format!("{} returned too soon", phase.name)) } else { Ok(overshoot) }
    })?;
    let title = "Deadlines of 5 to 15 ms: how long after it the call returns; by a limit unless it says otherwise";
    Ok(print("After a deadline", Latencies::new(title, "netlib_", MS, Some(DEADLINE_GOAL)), &measured))
}

fn cancels(c: &Rc<Calls>, rng: &mut Rng, phases: &mut [Phase]) -> Result<Group, String> {
    let canceller = Canceller::start();
    let mut limited: Vec<&mut Phase> = phases.iter_mut().filter(|phase| matches!(phase.by, By::Limit(_))).collect();
    let mut names: Vec<&str> = limited.iter().map(|phase| phase.name).collect();
    names.push("an eventfd and poll(2) alone");
    let event = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC) };
    let measured = rounds(rng, &names, |i, _| {
        let Some(Phase { name, by: By::Limit(call), looks_up }) = limited.get_mut(i).map(|phase| &mut **phase) else {
            return Ok(canceller.of_event(event));
        };
        let limit = c.limit(NONE);
        let (status, seconds) = canceller.of_limit(c, limit, || call(limit));
        unsafe { (c.0.netlib_limit_free)(limit) };
        if *looks_up {
            release();
        }
        expect(name, CANCELLED, status)?;
        Ok(seconds)
    })?;
    let title = "netlib_limit_cancel by another thread: from its call until the call that blocks has returned";
    Ok(print("After netlib_limit_cancel", Latencies::new(title, "netlib_", US, None), &measured))
}

fn frees(c: &Rc<Calls>) -> Result<Group, String> {
    let canceller = Canceller::start();
    let (mut free, mut sequential, mut racing) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..TIMES {
        let connect = started_lookup(c)?;
        wait_for_lookups(1);
        let began = Instant::now();
        unsafe { (c.0.netlib_connect_free)(connect) };
        free.push(seconds_since(began));
        release();
        for (times, race) in [(&mut sequential, false), (&mut racing, true)] {
            let limit = c.limit(NONE);
            let (status, seconds) = canceller.of_limit(c, limit, || match race {
                true => c.race(HANGS, 80, NO_OPTIONS, limit).0,
                false => c.create_connection(HANGS, 80, NO_OPTIONS, limit).0,
            });
            unsafe { (c.0.netlib_limit_free)(limit) };
            expect("a lookup", CANCELLED, status)?;
            times.push(seconds);
            release();
        }
    }
    let measured = [
        ("connect_free", free),
        ("create_connection, from its cancel to its return", sequential),
        ("connect_run and connect_free, from the cancel to the return", racing),
    ];
    let title = "Giving up a lookup that hangs";
    Ok(print(title, Latencies::new(title, "netlib_", US, Some(FREE_GOAL)), &measured))
}

/// Prints a table, and returns its medians for the chart.
fn print(name: &str, mut latencies: Latencies, measured: &[(&'static str, Vec<f64>)]) -> Group {
    for (name, times) in measured {
        latencies.row(name, times);
    }
    latencies.table.print();
    let bars = measured.iter().map(|(call, times)| latency(call, times, latencies.unit)).collect();
    Group { name: name.to_owned(), bars }
}

/// A thread that runs triggers, and reports when it started each trigger.
struct Canceller {
    triggers: Sender<Box<dyn FnOnce() + Send>>,
    began: Receiver<Instant>,
}

impl Canceller {
    fn start() -> Canceller {
        let (triggers, asked) = channel::<Box<dyn FnOnce() + Send>>();
        let (told, began) = channel();
        std::thread::spawn(move || {
            for trigger in asked {
                std::thread::sleep(UNTIL_CANCELLED);
                let now = Instant::now();
                trigger();
                if told.send(now).is_err() {
                    return;
                }
            }
        });
        Canceller { triggers, began }
    }

    /// Returns the result of the call, and the time from the trigger to the return of the call.
    fn after<T>(&self, trigger: impl FnOnce() + Send + 'static, call: impl FnOnce() -> T) -> (T, f64) {
        self.triggers.send(Box::new(trigger)).expect("the thread lives");
        let result = call();
        let returned = Instant::now();
        let began = self.began.recv().expect("the thread lives");
        (result, returned.saturating_duration_since(began).as_secs_f64())
    }

    fn of_limit(&self, c: &Calls, limit: Handle, call: impl FnOnce() -> i32) -> (i32, f64) {
        // Handles may be used on any thread.
        let (limit, cancel) = (limit as usize, c.0.netlib_limit_cancel);
        self.after(move || unsafe { cancel(limit as Handle) }, call)
    }

    fn of_event(&self, event: RawFd) -> f64 {
        let mut count = 1_u64;
        let raise = move || unsafe {
            libc::write(event, (&raw const count).cast(), 8);
        };
        let (_, seconds) = self.after(raise, || unsafe {
            let mut readable = libc::pollfd { fd: event, events: libc::POLLIN, revents: 0 };
            libc::poll(&mut readable, 1, -1)
        });
        unsafe { libc::read(event, (&raw mut count).cast(), 8) };
        seconds
    }
}
