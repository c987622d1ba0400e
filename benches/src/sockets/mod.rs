//! Measures connecting and waiting: the cost of a call, the duration of a connection race, and how soon a blocking call
//! can be stopped.

pub mod costs;
pub(crate) mod peers;
mod phases;
mod races;
pub mod stopping;

use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr::{null, null_mut};
use std::rc::Rc;
use std::time::Instant;

use crate::chart::Bar;
use crate::report::Table;
use crate::timing::median;

pub use races::run as races;

type Handle = *mut c_void;
type Resolve = unsafe extern "C" fn(Handle, *const c_char, i32, f64, Handle) -> i32;

const OK: i32 = 0;
const WANT_WRITE: i32 = 101;
const TIMEOUT: i32 = 102;
const CANCELLED: i32 = 500;
const DEADLINE_EXCEEDED: i32 = 501;
const CONNECT_TIMEOUT: i32 = 502;
const NONE: f64 = f64::INFINITY;
const LOOPBACK: &CStr = c"127.0.0.1";

crate::functions!(Functions {
    netlib_limit_new: fn(f64, *const c_void, *mut Handle, *mut Handle) -> i32;
    netlib_limit_cancel: fn(Handle);
    netlib_limit_free: fn(Handle);
    netlib_wait_for_read: fn(i32, f64, Handle, *mut Handle) -> i32;
    netlib_connect_options_new: fn() -> Handle;
    netlib_connect_options_set_timeout: fn(Handle, f64);
    netlib_connect_options_set_attempt_delay: fn(Handle, f64);
    netlib_connect_options_set_resolve_callback: fn(Handle, Option<Resolve>, Handle, Handle);
    netlib_create_connection: fn(*const c_char, i32, Handle, Handle, *mut i32, *mut Handle) -> i32;
    netlib_addresses_add: fn(Handle, *const c_void, usize, *mut Handle) -> i32;
    netlib_connect_new: fn(*const c_char, i32, Handle, *mut Handle, *mut Handle) -> i32;
    netlib_connect_step: fn(Handle, *mut i32, *mut Handle) -> i32;
    netlib_connect_run: fn(Handle, Handle, *mut i32, *mut Handle) -> i32;
    netlib_connect_free: fn(Handle);
    netlib_tls_options_new: fn() -> Handle;
    netlib_tls_options_set_identity_files: fn(Handle, *const c_char, *const c_char);
    netlib_tls_options_add_ca_file: fn(Handle, *const c_char);
    netlib_tls_options_set_verify_mode: fn(Handle, i32);
    netlib_tls_options_set_check_hostname: fn(Handle, i32);
    netlib_tls_context_new: fn(Handle, *mut Handle, *mut Handle) -> i32;
    netlib_tls_wrap_fd: fn(Handle, i32, *const c_char, *mut Handle, *mut Handle) -> i32;
    netlib_tls_accept_fd: fn(Handle, i32, *mut Handle, *mut Handle) -> i32;
    netlib_stream_set_limit: fn(Handle, Handle);
    netlib_stream_handshake: fn(Handle, *mut Handle) -> i32;
    netlib_stream_read: fn(Handle, *mut c_void, usize, *mut usize, *mut Handle) -> i32;
    netlib_stream_write: fn(Handle, *const c_void, usize, *mut usize, *mut Handle) -> i32;
    netlib_stream_free: fn(Handle);
    netlib_response_parse: fn(*const c_char, *const c_char, usize, *mut u64, *mut Handle, *mut usize, *mut Handle) -> i32;
    netlib_retry_options_new: fn() -> Handle;
    netlib_retry_new: fn(Handle, *mut Handle, *mut Handle) -> i32;
    netlib_retry_sleep_for_retry: fn(Handle, Handle, Handle, *mut i32, *mut Handle) -> i32;
});

/// netlib's C functions, with helper methods for calls that many benchmarks make. Handles that are created once are not
/// freed before the process ends.
struct Calls(Functions);

impl Calls {
    fn load() -> Result<Rc<Calls>, String> {
        Ok(Rc::new(Calls(Functions::load(&crate::netlib())?)))
    }

    fn limit(&self, seconds: f64) -> Handle {
        made("netlib_limit_new", |out| unsafe { (self.0.netlib_limit_new)(seconds, null(), out, null_mut()) })
            .expect("a limit")
    }

    fn options(&self, timeout: f64) -> Handle {
        unsafe {
            let options = (self.0.netlib_connect_options_new)();
            (self.0.netlib_connect_options_set_timeout)(options, timeout);
            options
        }
    }

    fn create_connection(&self, host: &CStr, port: u16, options: Handle, limit: Handle) -> (i32, i32) {
        let mut fd = -1;
        let c = &self.0;
        let status =
            unsafe { (c.netlib_create_connection)(host.as_ptr(), port.into(), options, limit, &mut fd, null_mut()) };
        (status, fd)
    }

    fn race(&self, host: &CStr, port: u16, options: Handle, limit: Handle) -> (i32, i32) {
        let (mut connect, mut fd) = (null_mut(), -1);
        let c = &self.0;
        unsafe {
            match (c.netlib_connect_new)(host.as_ptr(), port.into(), options, &mut connect, null_mut()) {
                OK => {}
                status => return (status, -1),
            }
            let status = (c.netlib_connect_run)(connect, limit, &mut fd, null_mut());
            (c.netlib_connect_free)(connect);
            (status, fd)
        }
    }
}

/// Calls a netlib function that creates a handle, and returns the handle or an error.
fn made(function: &str, make: impl FnOnce(*mut Handle) -> i32) -> Result<Handle, String> {
    let mut handle = null_mut();
    match make(&mut handle) {
        OK => Ok(handle),
        status => Err(format!("{function}: status {status}")),
    }
}

fn expect(what: &str, expected: i32, status: i32) -> Result<(), String> {
    if status == expected { Ok(()) } else { Err(format!("{what}: status {status} instead of {expected}")) }
}

/// A table of wall-clock times: the number of measurements, their median, their maximum, and whether the median meets
/// the goal.
struct Latencies {
    table: Table,
    unit: Unit,
    goal: Option<f64>,
}

/// The unit in which a time is printed.
#[derive(Clone, Copy)]
struct Unit {
    name: &'static str,
    per_second: f64,
}

const MS: Unit = Unit { name: "ms", per_second: 1e3 };
const US: Unit = Unit { name: "us", per_second: 1e6 };

impl Latencies {
    fn new(title: &str, first: &str, unit: Unit, goal: Option<f64>) -> Latencies {
        println!("{title}\n");
        let (median, worst) = (format!("median, {}", unit.name), format!("worst, {}", unit.name));
        let goal_title = goal.map(|goal| format!("goal {}", goal * unit.per_second));
        let mut titles = vec![first, "times", &median, &worst];
        titles.extend(goal_title.as_deref());
        Latencies { table: Table::new(&titles), unit, goal }
    }

    fn row(&mut self, name: &str, seconds: &[f64]) {
        let worst = seconds.iter().copied().fold(0.0, f64::max);
        let shown = |seconds: f64| format!("{:.2}", seconds * self.unit.per_second);
        let middle = median(seconds);
        let mut row = vec![name.to_owned(), seconds.len().to_string(), shown(middle), shown(worst)];
        row.extend(self.goal.map(|goal| if middle <= goal { "met" } else { "missed" }.to_owned()));
        self.table.row(row);
    }
}

/// Returns a chart's bar for the median of the times of a call. A name that ends in "alone" is the name of system calls.
fn latency(call: &str, seconds: &[f64], unit: Unit) -> Bar {
    let value = median(seconds);
    let text = format!("{:.2} {}", value * unit.per_second, unit.name);
    Bar { label: call.to_owned(), value, text, is_netlib: !call.ends_with("alone") }
}

fn seconds_since(began: Instant) -> f64 {
    began.elapsed().as_secs_f64()
}

fn c_string(text: &str) -> CString {
    CString::new(text).unwrap_or_default()
}

/// The handle that means "no limit".
const NO_LIMIT: Handle = null_mut();
const NO_OPTIONS: Handle = null_mut();
