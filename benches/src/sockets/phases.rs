//! Creates blocking calls of netlib functions that wait until a timeout, a deadline or a cancellation stops them.

use std::ffi::{CStr, c_void};
use std::os::fd::AsRawFd;
use std::os::fd::RawFd;
use std::ptr::null_mut;
use std::rc::Rc;

use super::peers::{Silent, connected, quiet};
use super::{
    CONNECT_TIMEOUT, Calls, DEADLINE_EXCEEDED, Handle, LOOPBACK, NO_LIMIT, NO_OPTIONS, NONE, OK, TIMEOUT, expect,
    made, stopping,
};

/// How a blocking call is stopped.
pub enum By {
    /// A `netlib_limit` stops the call when the limit's deadline passes or the limit is cancelled.
    Limit(Box<dyn FnMut(Handle) -> i32>),
    /// A timeout in seconds stops the call, which then returns this status.
    Timeout(Box<dyn FnMut(f64) -> i32>, i32),
}

pub struct Phase {
    pub name: &'static str,
    pub by: By,
    /// True if the call abandons a name lookup that is still blocked.
    pub looks_up: bool,
}

fn by_limit(name: &'static str, call: impl FnMut(Handle) -> i32 + 'static) -> Phase {
    Phase { name, by: By::Limit(Box::new(call)), looks_up: false }
}

fn by_timeout(name: &'static str, status: i32, call: impl FnMut(f64) -> i32 + 'static) -> Phase {
    Phase { name, by: By::Timeout(Box::new(call), status), looks_up: false }
}

pub fn all(c: &Rc<Calls>) -> Result<Vec<Phase>, String> {
    let mut phases = sockets(c)?;
    phases.extend(tls(c)?);
    phases.push(retry_sleep(c)?);
    Ok(phases)
}

fn sockets(c: &Rc<Calls>) -> Result<Vec<Phase>, String> {
    let (near, far) = quiet()?;
    let fd = near.as_raw_fd();
    let silent = Silent::new()?;
    let port = silent.bound.port();
    // The sockets stay open until the process ends.
    std::mem::forget((near, far, silent));
    let wait = |limit_of: fn(Handle) -> Handle| {
        let c = Rc::clone(c);
        move |seconds, limit| unsafe { (c.0.netlib_wait_for_read)(fd, seconds, limit_of(limit), null_mut()) }
    };
    let connect = |host: &'static CStr, racing: bool| {
        let c = Rc::clone(c);
        move |options, limit| {
            let (status, fd) = match racing {
                true => c.race(host, port, options, limit),
                false => c.create_connection(host, port, options, limit),
            };
            // The call is expected to fail; if it succeeded, its descriptor is closed.
            if fd >= 0 {
                unsafe { libc::close(fd) };
            }
            status
        }
    };
    let with_timeout = |racing| {
        let (c, connect) = (Rc::clone(c), connect(LOOPBACK, racing));
        let options = c.options(NONE);
        move |seconds| {
            unsafe { (c.0.netlib_connect_options_set_timeout)(options, seconds) };
            connect(options, NO_LIMIT)
        }
    };
    let with_limit = |host, racing| {
        let connect = connect(host, racing);
        move |limit| connect(NO_OPTIONS, limit)
    };
    let (timed, limited) = (wait(|_| NO_LIMIT), wait(|limit| limit));
    let mut phases = vec![
        by_timeout("wait_for_read, its timeout", TIMEOUT, move |seconds| timed(seconds, NO_LIMIT)),
        by_limit("wait_for_read", move |limit| limited(NONE, limit)),
        by_timeout("create_connection, its timeout", CONNECT_TIMEOUT, with_timeout(false)),
        by_limit("create_connection", with_limit(LOOPBACK, false)),
        by_timeout("connect_run, its timeout", CONNECT_TIMEOUT, with_timeout(true)),
        by_limit("connect_run", with_limit(LOOPBACK, true)),
        by_limit("create_connection, in a lookup", with_limit(stopping::HANGS, false)),
        by_limit("connect_run, in a lookup", with_limit(stopping::HANGS, true)),
    ];
    for phase in phases.iter_mut().filter(|phase| phase.name.ends_with("lookup")) {
        phase.looks_up = true;
    }
    Ok(phases)
}

fn tls(c: &Rc<Calls>) -> Result<Vec<Phase>, String> {
    let client = context(c, false)?;
    let (near, far) = connected()?;
    let silent = near.as_raw_fd();
    std::mem::forget((near, far));
    let session = session(c, client)?;
    let (handshakes, reads, writes) = (Rc::clone(c), Rc::clone(c), Rc::clone(c));
    let handshake = move |limit| unsafe {
        let stream = wrap(&handshakes, client, silent).expect("a stream");
        (handshakes.0.netlib_stream_set_limit)(stream, limit);
        let status = (handshakes.0.netlib_stream_handshake)(stream, null_mut());
        (handshakes.0.netlib_stream_free)(stream);
        status
    };
    let read = move |limit| unsafe {
        let (mut buffer, mut n) = ([0_u8; 64], 0);
        (reads.0.netlib_stream_set_limit)(session, limit);
        (reads.0.netlib_stream_read)(session, buffer.as_mut_ptr().cast(), buffer.len(), &mut n, null_mut())
    };
    let write = move |limit| unsafe {
        (writes.0.netlib_stream_set_limit)(session, limit);
        write(&writes, session)
    };
    // Fills the socket's buffers before anything is measured.
    let limit = c.limit(0.5);
    unsafe { (c.0.netlib_stream_set_limit)(session, limit) };
    expect("netlib_stream_write to a full socket", DEADLINE_EXCEEDED, unsafe { self::write(c, session) })?;
    Ok(vec![
        by_limit("stream_handshake", handshake),
        by_limit("stream_read", read),
        by_limit("stream_write, to a full socket", write),
    ])
}

/// The size of a write: a few writes fill the buffers of a connection. The data is constant, because after a write that
/// was stopped the next write must pass the same bytes.
const MUCH: usize = 1 << 20;

/// Writes until a write fails.
unsafe fn write(c: &Calls, session: Handle) -> i32 {
    let mut n = 0;
    loop {
        let data: *const c_void = [0_u8; MUCH].as_ptr().cast();
        match unsafe { (c.0.netlib_stream_write)(session, data, MUCH, &mut n, null_mut()) } {
            OK => {}
            status => return status,
        }
    }
}

fn context(c: &Calls, server: bool) -> Result<Handle, String> {
    unsafe {
        let options = (c.0.netlib_tls_options_new)();
        (c.0.netlib_tls_options_add_ca_file)(options, c"tests/certs/ca.pem".as_ptr());
        // The certificate is not verified, because only waiting is measured.
        (c.0.netlib_tls_options_set_check_hostname)(options, 0);
        (c.0.netlib_tls_options_set_verify_mode)(options, 0);
        if server {
            let (chain, key) = (c"tests/certs/server.pem", c"tests/certs/server.key");
            (c.0.netlib_tls_options_set_identity_files)(options, chain.as_ptr(), key.as_ptr());
        }
        made("netlib_tls_context_new", |out| (c.0.netlib_tls_context_new)(options, out, null_mut()))
    }
}

fn wrap(c: &Calls, context: Handle, fd: RawFd) -> Result<Handle, String> {
    made("netlib_tls_wrap_fd", |out| unsafe {
        (c.0.netlib_tls_wrap_fd)(context, fd, c"localhost".as_ptr(), out, null_mut())
    })
}

/// Returns a client's stream after its handshake. The server neither sends nor reads data after the handshake.
fn session(c: &Calls, client: Handle) -> Result<Handle, String> {
    let (near, far) = connected()?;
    let server = context(c, true)?;
    let (near_fd, far_fd) = (near.as_raw_fd(), far.as_raw_fd());
    std::mem::forget((near, far));
    let ours = wrap(c, client, near_fd)?;
    let theirs =
        made("netlib_tls_accept_fd", |out| unsafe { (c.0.netlib_tls_accept_fd)(server, far_fd, out, null_mut()) })?;
    // Handles may be used on any thread.
    let (stream, handshake) = (theirs as usize, c.0.netlib_stream_handshake);
    let peer = std::thread::spawn(move || unsafe { handshake(stream as Handle, null_mut()) });
    let status = unsafe { (c.0.netlib_stream_handshake)(ours, null_mut()) };
    expect("netlib_stream_handshake", OK, status)?;
    expect("netlib_stream_handshake of the server", OK, peer.join().unwrap_or(-1))?;
    Ok(ours)
}

fn retry_sleep(c: &Rc<Calls>) -> Result<Phase, String> {
    let head = c"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 30\r\nContent-Length: 0\r\n\r\n";
    let mut head_length = 0;
    let response = made("netlib_response_parse", |out| unsafe {
        (c.0.netlib_response_parse)(
            c"GET".as_ptr(),
            head.as_ptr(),
            usize::MAX,
            null_mut(),
            out,
            &mut head_length,
            null_mut(),
        )
    })?;
    let retry = made("netlib_retry_new", |out| unsafe {
        (c.0.netlib_retry_new)((c.0.netlib_retry_options_new)(), out, null_mut())
    })?;
    let c = Rc::clone(c);
    Ok(by_limit("retry_sleep_for_retry", move |limit| unsafe {
        let mut slept = 0;
        (c.0.netlib_retry_sleep_for_retry)(retry, response, limit, &mut slept, null_mut())
    }))
}
