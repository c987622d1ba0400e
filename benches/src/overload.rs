//! Measures overload protection: the time of the calls that ask and report, in one thread and in eight threads that
//! share a key, and the memory of a key.

use std::ffi::{c_char, c_void};
use std::hint::black_box;
use std::ptr::null_mut;
use std::thread;
use std::time::Instant;

use crate::chart::{self, Bar, Group};
use crate::report::Table;
use crate::timing::{ROUNDS, median, timed};

type Handle = *mut c_void;

crate::functions!(Functions {
    netlib_retry_budget_options_new: fn() -> Handle;
    netlib_retry_budget_options_set_preset: fn(Handle, i32);
    netlib_retry_budget_options_set_max_keys: fn(Handle, i32);
    netlib_retry_budget_new: fn(Handle, *mut Handle, *mut Handle) -> i32;
    netlib_retry_budget_ask: fn(Handle, *const c_char, usize, i32, *mut u64, *mut Handle) -> i32;
    netlib_retry_budget_report: fn(Handle, u64, i32);
    netlib_breaker_options_new: fn() -> Handle;
    netlib_breaker_options_set_consecutive: fn(Handle, i32, f64, f64, f64);
    netlib_breaker_options_set_adaptive: fn(Handle, f64, i32, f64, f64);
    netlib_breaker_options_set_max_keys: fn(Handle, i32);
    netlib_breaker_new: fn(Handle, *mut Handle, *mut Handle) -> i32;
    netlib_breaker_ask: fn(Handle, *const c_char, usize, *mut u64, *mut f64, *mut Handle) -> i32;
    netlib_breaker_report: fn(Handle, u64, i32);
    netlib_rate_options_new: fn() -> Handle;
    netlib_rate_options_set_limit: fn(Handle, f64, f64);
    netlib_rate_options_set_max_keys: fn(Handle, i32);
    netlib_rate_new: fn(Handle, *mut Handle, *mut Handle) -> i32;
    netlib_rate_take: fn(Handle, *const c_char, usize, f64, *mut f64, *mut Handle) -> i32;
    netlib_hedge_options_new: fn() -> Handle;
    netlib_hedge_options_set_max_keys: fn(Handle, i32);
    netlib_hedge_new: fn(Handle, *mut Handle, *mut Handle) -> i32;
    netlib_hedge_start: fn(Handle, *const c_char, usize, *const c_char, *mut Handle, *mut Handle) -> i32;
    netlib_hedge_plan_step: fn(Handle, i32, i32, f64, *mut i32, *mut Handle) -> i32;
    netlib_hedge_plan_free: fn(Handle);
});

/// The number of pairs of calls in a pass, and in a pass of each of the eight threads.
const TIMES: usize = 20_000;
const THREADS: usize = 8;
/// The number of keys for which the memory is measured.
const KEYS: usize = 100_000;
/// The goal for a pair of calls in one thread, in ns.
const GOAL: f64 = 100.0;

const SUCCESS: i32 = 0;
const HEDGE_SUCCESS: i32 = 1;
/// The presets of the retry budget, and the kinds of requests.
const PRESETS: [(&str, i32); 5] = [("AWS_2026", 0), ("AWS_2020", 1), ("GRPC", 2), ("FINAGLE", 3), ("ENVOY", 4)];
const KINDS: [(&str, i32); 2] = [("first attempt", 0), ("retry", 1)];

/// A protection that several threads use: a call asks for a key and reports the success of the request.
struct Protection {
    name: String,
    pair: Box<dyn Fn(&[u8]) -> Result<(), String> + Send + Sync>,
}

/// A handle that is thread-safe.
#[derive(Clone, Copy)]
struct Shared(Handle);

// SAFETY: the handles of this module have the tag "Thread-safe" in netlib.h.
unsafe impl Send for Shared {}
unsafe impl Sync for Shared {}

impl Shared {
    fn get(&self) -> Handle {
        self.0
    }
}

fn expect(function: &str, status: i32) -> Result<(), String> {
    if status == 0 { Ok(()) } else { Err(format!("{function}: status {status}")) }
}

/// Returns a budget for first attempts or for retries. The handles are not freed before the process ends.
fn budget(c: &'static Functions, preset: (&str, i32), kind: (&str, i32)) -> Result<Protection, String> {
    let mut handle = null_mut();
    unsafe {
        let options = (c.netlib_retry_budget_options_new)();
        (c.netlib_retry_budget_options_set_preset)(options, preset.1);
        (c.netlib_retry_budget_options_set_max_keys)(options, 2 * KEYS as i32);
        expect("netlib_retry_budget_new", (c.netlib_retry_budget_new)(options, &mut handle, null_mut()))?;
    }
    let budget = Shared(handle);
    let pair = move |key: &[u8]| unsafe {
        let mut lease = 0;
        let (data, len) = (key.as_ptr().cast(), key.len());
        let status = (c.netlib_retry_budget_ask)(budget.get(), data, len, kind.1, &mut lease, null_mut());
        (c.netlib_retry_budget_report)(budget.get(), black_box(lease), SUCCESS);
        expect("netlib_retry_budget_ask", status)
    };
    Ok(Protection { name: format!("netlib retry budget {}, {}", preset.0, kind.0), pair: Box::new(pair) })
}

/// Returns a breaker with the rule that `set` selects.
fn breaker(c: &'static Functions, name: &str, set: impl FnOnce(&Functions, Handle)) -> Result<Protection, String> {
    let mut handle = null_mut();
    unsafe {
        let options = (c.netlib_breaker_options_new)();
        set(c, options);
        (c.netlib_breaker_options_set_max_keys)(options, 2 * KEYS as i32);
        expect("netlib_breaker_new", (c.netlib_breaker_new)(options, &mut handle, null_mut()))?;
    }
    let breaker = Shared(handle);
    let pair = move |key: &[u8]| unsafe {
        let (mut permit, mut seconds) = (0, 0.0);
        let (data, len) = (key.as_ptr().cast(), key.len());
        let status = (c.netlib_breaker_ask)(breaker.get(), data, len, &mut permit, &mut seconds, null_mut());
        (c.netlib_breaker_report)(breaker.get(), black_box(permit), SUCCESS);
        expect("netlib_breaker_ask", status)
    };
    Ok(Protection { name: format!("netlib breaker, {name}"), pair: Box::new(pair) })
}

/// Returns a rate whose limit is never reached.
fn rate(c: &'static Functions) -> Result<Protection, String> {
    let mut handle = null_mut();
    unsafe {
        let options = (c.netlib_rate_options_new)();
        (c.netlib_rate_options_set_limit)(options, 1e9, 1e9);
        (c.netlib_rate_options_set_max_keys)(options, 2 * KEYS as i32);
        expect("netlib_rate_new", (c.netlib_rate_new)(options, &mut handle, null_mut()))?;
    }
    let rate = Shared(handle);
    let take = move |key: &[u8]| unsafe {
        let mut wait = 0.0;
        let (data, len) = (key.as_ptr().cast(), key.len());
        let status = (c.netlib_rate_take)(rate.get(), data, len, 1.0, &mut wait, null_mut());
        expect("netlib_rate_take", status)
    };
    Ok(Protection { name: "netlib rate, take".to_owned(), pair: Box::new(take) })
}

/// Returns a hedge whose first attempts succeed.
fn hedge(c: &'static Functions) -> Result<Protection, String> {
    let mut handle = null_mut();
    unsafe {
        let options = (c.netlib_hedge_options_new)();
        (c.netlib_hedge_options_set_max_keys)(options, 2 * KEYS as i32);
        expect("netlib_hedge_new", (c.netlib_hedge_new)(options, &mut handle, null_mut()))?;
    }
    let hedge = Shared(handle);
    let pair = move |key: &[u8]| unsafe {
        let (mut plan, mut action) = (null_mut(), 0);
        let (data, len) = (key.as_ptr().cast(), key.len());
        expect(
            "netlib_hedge_start",
            (c.netlib_hedge_start)(hedge.get(), data, len, c"GET".as_ptr(), &mut plan, null_mut()),
        )?;
        let status = (c.netlib_hedge_plan_step)(plan, HEDGE_SUCCESS, 1, 0.01, &mut action, null_mut());
        (c.netlib_hedge_plan_free)(plan);
        expect("netlib_hedge_plan_step", status)
    };
    Ok(Protection { name: "netlib hedge, plan of one attempt".to_owned(), pair: Box::new(pair) })
}

impl Protection {
    fn repeat(&self, key: &[u8]) {
        for _ in 0..TIMES {
            (self.pair)(key).expect("the pair succeeded before the measurement");
        }
    }

    /// Returns the processor time of a pair of calls in one thread, in ns.
    fn alone(&self) -> f64 {
        let pass = || timed(|| self.repeat(b"https://server.example:443")) / TIMES as f64;
        pass();
        median(&(0..ROUNDS).map(|_| pass()).collect::<Vec<_>>())
    }

    /// Returns the time of a pair of calls while eight threads use the same key: the wall time, divided by the number
    /// of all pairs.
    fn contended(&self) -> f64 {
        let pass = || {
            let began = Instant::now();
            thread::scope(|scope| {
                for _ in 0..THREADS {
                    scope.spawn(|| self.repeat(b"https://server.example:443"));
                }
            });
            began.elapsed().as_secs_f64() * 1e9 / (THREADS * TIMES) as f64
        };
        median(&(0..5).map(|_| pass()).collect::<Vec<_>>())
    }

    /// Returns the memory of a key of 24 bytes, the key included.
    fn bytes_per_key(&self) -> Result<f64, String> {
        let used = || unsafe { libc::mallinfo2() }.uordblks + unsafe { libc::mallinfo2() }.hblkhd;
        let before = used();
        for i in 0..KEYS {
            (self.pair)(format!("https://host-{i:06}.test/").as_bytes())?;
        }
        Ok((used() - before) as f64 / KEYS as f64)
    }
}

pub fn run() -> Result<(), String> {
    let c: &'static Functions = Box::leak(Box::new(Functions::load(&crate::netlib())?));
    let mut protections = Vec::new();
    for preset in PRESETS {
        // The measurement would make more retries than FINAGLE and ENVOY allow.
        let kinds = if ["FINAGLE", "ENVOY"].contains(&preset.0) { &KINDS[..1] } else { &KINDS };
        for &kind in kinds {
            protections.push(budget(c, preset, kind)?);
        }
    }
    protections.push(breaker(c, "ratio", |_, _| {})?);
    protections.push(breaker(c, "consecutive", |c, options| unsafe {
        (c.netlib_breaker_options_set_consecutive)(options, 5, 30.0, 300.0, 10.0)
    })?);
    protections.push(breaker(c, "adaptive", |c, options| unsafe {
        (c.netlib_breaker_options_set_adaptive)(options, 2.0, 1, 120.0, 1.0)
    })?);
    protections.push(rate(c)?);
    protections.push(hedge(c)?);
    println!("Overload protection: ask and report; ns\n");
    let eight = format!("{THREADS} threads, one key");
    let mut table = Table::new(&["", "one thread", &eight, "bytes per key", "goal: 100 ns"]);
    let mut bars = Vec::new();
    for protection in protections {
        (protection.pair)(b"https://server.example:443")?;
        let (alone, contended) = (protection.alone(), protection.contended());
        let bytes = protection.bytes_per_key()?;
        let verdict = if alone < GOAL { "met" } else { "missed" };
        let cells = [format!("{alone:.1}"), format!("{contended:.1}"), format!("{bytes:.0}"), verdict.to_owned()];
        table.row(std::iter::once(protection.name.clone()).chain(cells).collect());
        bars.push(Bar { label: protection.name, value: alone, text: format!("{alone:.0} ns"), is_netlib: true });
    }
    table.print();
    let groups = [Group { name: "ask and report, one thread".to_owned(), bars }];
    chart::write("overload", "Overload protection", &groups)
}
