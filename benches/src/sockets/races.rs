//! Measures the time until a connection is established: the cost of racing if every address works, and the time that
//! racing saves if an address does not.

use std::ffi::{CStr, c_char, c_void};
use std::net::SocketAddr;
use std::ptr::null_mut;
use std::time::Instant;

use super::peers::{Address, Bound, Silent, accepting, connect_bare};
use super::{
    Calls, Functions, Handle, LOOPBACK, Latencies, MS, NO_LIMIT, NO_OPTIONS, NONE, OK, expect, latency, seconds_since,
};
use crate::chart::{self, Group};
use crate::rng::Rng;

const TIMES: usize = 11;
/// The smallest allowed delay between connection attempts, in seconds.
const SHORT: f64 = 0.01;
/// The default delay between connection attempts, in seconds.
const ATTEMPT_DELAY: f64 = 0.25;

/// The addresses that the resolve callback returns.
struct Answer {
    addresses: Vec<Address>,
    add: unsafe extern "C" fn(Handle, *const c_void, usize, *mut Handle) -> i32,
}

unsafe extern "C" fn answer(ctx: Handle, _: *const c_char, _: i32, _: f64, list: Handle) -> i32 {
    let answer = unsafe { &*ctx.cast::<Answer>() };
    let add = |address: &Address| unsafe {
        let (bytes, len) = address.bytes();
        (answer.add)(list, bytes, len, null_mut())
    };
    answer.addresses.iter().map(add).find(|&status| status != OK).unwrap_or(OK)
}

pub fn run(rng: &mut Rng) -> Result<(), String> {
    let c = Calls::load()?;
    let good = accepting(false).map_err(|e| e.to_string())?;
    let (dead, silent) = (Bound::refusing()?, Silent::new()?);
    let options = |addresses: &[SocketAddr], timeout, attempt_delay| options(&c, addresses, timeout, attempt_delay);
    let dead_first = [dead.address, good];
    let silent_first = [silent.bound.address, good];
    let of = |addresses: &[SocketAddr]| addresses.iter().copied().map(Address::new).collect::<Vec<_>>();
    let (one, two) = (of(&[good]), of(&dead_first));
    let to_two = options(&dead_first, NONE, ATTEMPT_DELAY);
    let timed = options(&silent_first, ATTEMPT_DELAY, ATTEMPT_DELAY);
    let (delayed, soon) = (options(&silent_first, NONE, ATTEMPT_DELAY), options(&silent_first, NONE, SHORT));
    let name = c"name.test";
    let sequential = |host: &CStr, options| c.create_connection(host, good.port(), options, NO_LIMIT);
    let racing = |host: &CStr, options| c.race(host, good.port(), options, NO_LIMIT);
    let bare = |addresses: &[Address]| connect_bare(addresses).map_or((-1, -1), |fd| (OK, fd));

    type Connect<'a> = Box<dyn Fn() -> (i32, i32) + 'a>;
    let cases: Vec<(&str, Connect)> = vec![
        ("127.0.0.1: socket and connect alone", Box::new(|| bare(&one))),
        ("127.0.0.1: create_connection", Box::new(|| sequential(LOOPBACK, NO_OPTIONS))),
        ("127.0.0.1: connect_run", Box::new(|| racing(LOOPBACK, NO_OPTIONS))),
        ("a refusing address first: socket and connect alone", Box::new(|| bare(&two))),
        ("a refusing address first: create_connection", Box::new(|| sequential(name, to_two))),
        ("a refusing address first: connect_run", Box::new(|| racing(name, to_two))),
        ("a silent address first: create_connection, timeout 250 ms", Box::new(|| sequential(name, timed))),
        ("a silent address first: connect_run, attempt delay 250 ms", Box::new(|| racing(name, delayed))),
        ("a silent address first: connect_run, attempt delay 10 ms", Box::new(|| racing(name, soon))),
    ];
    let mut times = vec![Vec::new(); cases.len()];
    let mut order: Vec<usize> = (0..cases.len()).collect();
    for round in 0..=TIMES {
        rng.shuffle(&mut order);
        for &i in &order {
            let began = Instant::now();
            let (status, fd) = cases[i].1();
            let seconds = seconds_since(began);
            unsafe { libc::close(fd) };
            expect(cases[i].0, OK, status)?;
            if round > 0 {
                times[i].push(seconds);
            }
        }
    }
    let mut table = Latencies::new("Connecting over the loopback, until there is a connection", "", MS, None);
    for ((name, _), times) in cases.iter().zip(&times) {
        table.row(name, times);
    }
    table.table.print();
    let mut groups: Vec<Group> = Vec::new();
    for ((name, _), times) in cases.iter().zip(&times) {
        let (addresses, call) = name.split_once(": ").unwrap_or(("", name));
        if groups.last().is_none_or(|group| group.name != addresses) {
            groups.push(Group { name: addresses.to_owned(), bars: Vec::new() });
        }
        groups.last_mut().expect("a group").bars.push(latency(call, times, MS));
    }
    chart::write("races", "Connecting over the loopback, until there is a connection", &groups)
}

/// Returns connect options with a resolve callback that returns these addresses. The options are not freed before the
/// process ends.
fn options(c: &Calls, addresses: &[SocketAddr], timeout: f64, attempt_delay: f64) -> Handle {
    let options = c.options(timeout);
    let Functions { netlib_connect_options_set_attempt_delay: set_attempt_delay, .. } = c.0;
    let addresses = addresses.iter().copied().map(Address::new).collect();
    let ctx = Box::into_raw(Box::new(Answer { addresses, add: c.0.netlib_addresses_add }));
    unsafe {
        set_attempt_delay(options, attempt_delay);
        (c.0.netlib_connect_options_set_resolve_callback)(options, Some(answer), ctx.cast(), null_mut());
    }
    options
}
