//! Measures the cost of netlib's calls for waiting and connecting, compared with the system calls that they replace.

use std::ffi::CStr;
use std::hint::black_box;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::ptr::null_mut;
use std::rc::Rc;

use super::peers::{accepting, quiet};
use super::{Calls, LOOPBACK, NO_LIMIT, NO_OPTIONS, NONE, OK, TIMEOUT, c_string};
use crate::processors::{Processor, pin};
use crate::report::Goal;
use crate::{Group, Operation, Section};

const WAITS: usize = 20_000;
/// The number of waits per pass, if each wait lasts 1 ms.
const BLOCKING_WAITS: usize = 20;
const CONNECTS: usize = 200;
/// A time limit in seconds that is longer than the whole program takes, because limits that are created before the
/// first table are used in the last table.
const LONG: f64 = 3600.0;

pub const GOALS: &[Goal] = &[(WAIT, 1.05), (CONNECT, 1.10)];

const WAIT: &str = "netlib_wait_for_read";
const CONNECT: &str = "netlib_create_connection";
const POLL_ONCE: &str = "poll, timeout 0";
const POLL_LONG: &str = "poll, timeout 1 h";
const POLL_BRIEFLY: &str = "poll, timeout 1 ms";
const POLL_EVER: &str = "poll, no timeout";
const BARE: &str = "getaddrinfo, socket, connect";

pub fn section() -> Result<Section, String> {
    pin(Processor::Client);
    let c = Calls::load()?;
    let mut groups = waits(&c)?;
    for (name, host, v6) in [("a connection, IPv4", LOOPBACK, false), ("a connection, IPv6", c"::1", true)] {
        match accepting(v6) {
            Ok(address) => groups.push(connects(&c, name, host, address.port())?),
            Err(reason) => println!("{name}: skipped: {reason}\n"),
        }
    }
    Ok(Section {
        name: "sockets",
        title: "netlib_wait_for_read of a descriptor that is ready; netlib_create_connection to an address, and close",
        groups,
    })
}

/// Returns a group for each kind of timeout. Each group compares netlib_wait_for_read with poll(2).
fn waits(c: &Rc<Calls>) -> Result<Vec<Group>, String> {
    let (near, mut far) = quiet()?;
    far.write_all(b"x").map_err(|e| e.to_string())?;
    let (ready, silent) = (near.as_raw_fd(), far.as_raw_fd());
    // The sockets stay open until the process ends.
    std::mem::forget((near, far));
    let long_ms = (LONG * 1e3) as i32;
    Ok(vec![
        wait_group(c, "a ready descriptor, timeout 0", &[POLL_ONCE], Wait::new(ready, 0, 0.0, OK))?,
        wait_group(c, "a ready descriptor, timeout 1 h", &[POLL_LONG], Wait::new(ready, long_ms, LONG, OK))?,
        wait_group(c, "a ready descriptor, no timeout", &[POLL_EVER], Wait::new(ready, -1, NONE, OK))?,
        wait_group(c, "a descriptor that is not ready", &[POLL_BRIEFLY], Wait::new(silent, 1, 0.001, TIMEOUT))?,
    ])
}

/// The arguments of poll(2) and of netlib_wait_for_read, and the expected status.
#[derive(Clone, Copy)]
struct Wait {
    fd: i32,
    ms: i32,
    seconds: f64,
    expected: i32,
}

impl Wait {
    fn new(fd: i32, ms: i32, seconds: f64, expected: i32) -> Wait {
        Wait { fd, ms, seconds, expected }
    }
}

fn wait_group(c: &Rc<Calls>, name: &str, references: &'static [&'static str], wait: Wait) -> Result<Group, String> {
    // The goal for netlib_wait_for_read applies only to descriptors that are ready.
    let (times, plain, limited) = match wait.expected {
        OK => (WAITS, WAIT, "netlib_wait_for_read with a limit"),
        _ => (BLOCKING_WAITS, "netlib_wait_for_read, not ready", "netlib_wait_for_read, not ready, with a limit"),
    };
    let bare = Operation::new(references[0], times, move || {
        for _ in 0..times {
            let mut ready = libc::pollfd { fd: wait.fd, events: libc::POLLIN, revents: 0 };
            black_box(unsafe { libc::poll(black_box(&mut ready), 1, wait.ms) });
        }
    });
    let ours = |name, limit| {
        let c = Rc::clone(c);
        Operation::new(name, times, move || {
            for _ in 0..times {
                let status = unsafe { (c.0.netlib_wait_for_read)(wait.fd, wait.seconds, limit, null_mut()) };
                assert_eq!(status, wait.expected);
            }
        })
    };
    let operations = vec![bare, ours(plain, NO_LIMIT), ours(limited, c.limit(LONG))];
    Ok(Group { name: name.into(), references, operations })
}

fn connects(c: &Rc<Calls>, name: &str, host: &'static CStr, port: u16) -> Result<Group, String> {
    let service = c_string(&port.to_string());
    let (timeout, limit) = (c.options(LONG), c.limit(LONG));
    let sequential = |options, limit| {
        let c = Rc::clone(c);
        move || c.create_connection(host, port, options, limit)
    };
    let racing = |options, limit| {
        let c = Rc::clone(c);
        move || c.race(host, port, options, limit)
    };
    let operations = vec![
        connect(BARE, move || bare(host, &service))?,
        connect(CONNECT, sequential(NO_OPTIONS, NO_LIMIT))?,
        connect("netlib_create_connection with a timeout", sequential(timeout, NO_LIMIT))?,
        connect("netlib_create_connection with a limit", sequential(NO_OPTIONS, limit))?,
        connect("netlib_create_connection with both", sequential(timeout, limit))?,
        connect("netlib_connect_run", racing(NO_OPTIONS, NO_LIMIT))?,
        connect("netlib_connect_run with both", racing(timeout, limit))?,
    ];
    Ok(Group { name: name.into(), references: &[BARE], operations })
}

/// Measures establishing a connection and closing its descriptor.
fn connect(name: &str, mut once: impl FnMut() -> (i32, i32) + 'static) -> Result<Operation, String> {
    let mut closed = move || {
        let (status, fd) = once();
        unsafe { libc::close(fd) };
        status
    };
    super::expect(name, OK, closed())?;
    Ok(Operation::new(name, CONNECTS, move || {
        for _ in 0..CONNECTS {
            assert_eq!(closed(), OK);
        }
    }))
}

/// Connects with getaddrinfo(3) and a blocking connect(2), as a program without netlib does. Returns a status and the
/// descriptor. The status is the result of getaddrinfo(3), or -1 if no address could be connected.
fn bare(host: &CStr, service: &CStr) -> (i32, i32) {
    unsafe {
        let mut hints: libc::addrinfo = std::mem::zeroed();
        hints.ai_socktype = libc::SOCK_STREAM;
        let mut list = null_mut();
        let status = libc::getaddrinfo(host.as_ptr(), service.as_ptr(), &hints, &mut list);
        if status != 0 {
            return (status, -1);
        }
        let mut fd = -1;
        let mut at: *const libc::addrinfo = list;
        while !at.is_null() {
            fd = libc::socket((*at).ai_family, (*at).ai_socktype | libc::SOCK_CLOEXEC, (*at).ai_protocol);
            if libc::connect(fd, (*at).ai_addr, (*at).ai_addrlen) == 0 {
                break;
            }
            libc::close(fd);
            fd = -1;
            at = (*at).ai_next;
        }
        libc::freeaddrinfo(list);
        (if fd < 0 { -1 } else { 0 }, fd)
    }
}
