//! Measures incrementing the retry policy after a failed attempt, and creating request headers.

use std::ffi::{CStr, c_char, c_void};
use std::hint::black_box;
use std::ptr::{null, null_mut};
use std::rc::Rc;

use crate::{Group, Operation, Section};

type Handle = *mut c_void;

crate::functions!(Functions {
    netlib_error_new: fn(i32, *const c_char, Handle, *mut Handle, *mut Handle) -> i32;
    netlib_response_parse: fn(*const c_char, *const c_char, usize, *mut u64, *mut Handle, *mut usize, *mut Handle) -> i32;
    netlib_retry_options_new: fn() -> Handle;
    netlib_retry_options_free: fn(Handle);
    netlib_retry_options_set_total: fn(Handle, i32);
    netlib_retry_options_set_status_forcelist: fn(Handle, *const i32, usize);
    netlib_retry_options_add_history: fn(Handle, *const c_char, *const c_char, Handle, i32, *const c_char);
    netlib_retry_new: fn(Handle, *mut Handle, *mut Handle) -> i32;
    netlib_retry_increment: fn(Handle, *const c_char, *const c_char, Handle, Handle, *mut Handle, *mut Handle) -> i32;
    netlib_retry_free: fn(Handle);
    netlib_headers_options_new: fn() -> Handle;
    netlib_headers_options_free: fn(Handle);
    netlib_headers_options_set_keep_alive: fn(Handle, i32);
    netlib_headers_options_enable_accept_encoding: fn(Handle, i32);
    netlib_headers_options_set_user_agent: fn(Handle, *const c_char);
    netlib_headers_options_set_basic_auth: fn(Handle, *const c_char);
    netlib_headers_options_add_header: fn(Handle, *const c_char, *const c_char);
    netlib_make_headers: fn(Handle, *mut Handle, *mut Handle) -> i32;
    netlib_headers_count: fn(Handle) -> usize;
    netlib_headers_free: fn(Handle);
});

const TIMES: usize = 5_000;
const CONNECT_FAILED: i32 = 701;
const URL: &CStr = c"/api/v2/orders?page=2&limit=50";
const SERVICE_UNAVAILABLE: &CStr = c"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 3\r\nContent-Length: 0\r\n\r\n";
const FOUND: &CStr = c"HTTP/1.1 302 Found\r\nLocation: /api/v2/orders/?page=2\r\nContent-Length: 0\r\n\r\n";

/// The handles are not freed before the process ends.
pub fn section() -> Result<Section, String> {
    let c = Rc::new(Functions::load(&crate::netlib())?);
    let error = made("netlib_error_new", |out| unsafe {
        (c.netlib_error_new)(CONNECT_FAILED, c"connection refused".as_ptr(), null_mut(), out, null_mut())
    })?;
    let unavailable = response(&c, SERVICE_UNAVAILABLE)?;
    let found = response(&c, FOUND)?;
    let mut operations = vec![increment(&c, "increment, connect error, no history", 0, null_mut(), error)?];
    for history in [0, 5, 20] {
        operations.push(increment(
            &c,
            &format!("increment, status 503, history of {history}"),
            history,
            unavailable,
            null_mut(),
        )?);
    }
    operations.push(increment(&c, "increment, redirect, history of 5", 5, found, null_mut())?);
    operations.extend([
        headers(&c, "make_headers, no options", |_, _| {})?,
        headers(&c, "make_headers, three options", three_options)?,
        headers(&c, "make_headers, basic auth and two headers more", |c, options| {
            three_options(c, options);
            unsafe {
                (c.netlib_headers_options_set_basic_auth)(options, c"alice:correct horse battery".as_ptr());
                (c.netlib_headers_options_add_header)(options, c"Accept".as_ptr(), c"application/json".as_ptr());
                (c.netlib_headers_options_add_header)(options, c"X-Request-Id".as_ptr(), c"7f3c9a1e".as_ptr());
            }
        })?,
        Operation::new("make_headers, three options, made and freed each time", TIMES, {
            let c = Rc::clone(&c);
            move || {
                for _ in 0..TIMES {
                    unsafe {
                        let options = (c.netlib_headers_options_new)();
                        three_options(&c, options);
                        make_headers(&c, options);
                        (c.netlib_headers_options_free)(options);
                    }
                }
            }
        }),
    ]);
    let groups = vec![Group { name: "operation".into(), references: &[], operations }];
    Ok(Section {
        name: "policy",
        title: "netlib_retry_increment and netlib_make_headers, with the free of what they make",
        groups,
    })
}

/// Calls a netlib function that creates a handle, and returns the handle or an error.
fn made(function: &str, make: impl FnOnce(*mut Handle) -> i32) -> Result<Handle, String> {
    let mut handle = null_mut();
    match make(&mut handle) {
        0 => Ok(handle),
        status => Err(format!("{function}: status {status}")),
    }
}

fn response(c: &Functions, head: &CStr) -> Result<Handle, String> {
    let mut head_length = 0;
    made("netlib_response_parse", |out| unsafe {
        (c.netlib_response_parse)(
            c"GET".as_ptr(),
            head.as_ptr(),
            usize::MAX,
            null_mut(),
            out,
            &mut head_length,
            null_mut(),
        )
    })
}

fn increment(
    c: &Rc<Functions>,
    name: &str,
    history: usize,
    response: Handle,
    error: Handle,
) -> Result<Operation, String> {
    let c = Rc::clone(c);
    let retry = unsafe {
        let options = (c.netlib_retry_options_new)();
        (c.netlib_retry_options_set_total)(options, 100);
        (c.netlib_retry_options_set_status_forcelist)(options, [503].as_ptr(), 1);
        for _ in 0..history {
            (c.netlib_retry_options_add_history)(options, c"GET".as_ptr(), URL.as_ptr(), null_mut(), 503, null());
        }
        let retry = made("netlib_retry_new", |out| (c.netlib_retry_new)(options, out, null_mut()));
        (c.netlib_retry_options_free)(options);
        retry?
    };
    let once = move || {
        made("netlib_retry_increment", |out| unsafe {
            (c.netlib_retry_increment)(retry, c"GET".as_ptr(), URL.as_ptr(), response, error, out, null_mut())
        })
        .map(|next| unsafe { (c.netlib_retry_free)(black_box(next)) })
    };
    once()?;
    Ok(Operation::new(name, TIMES, move || {
        for _ in 0..TIMES {
            let _ = black_box(once());
        }
    }))
}

fn three_options(c: &Functions, options: Handle) {
    unsafe {
        (c.netlib_headers_options_set_keep_alive)(options, 1);
        (c.netlib_headers_options_enable_accept_encoding)(options, 1);
        (c.netlib_headers_options_set_user_agent)(options, c"client/1.0 (benchmark)".as_ptr());
    }
}

fn headers(c: &Rc<Functions>, name: &str, set: fn(&Functions, Handle)) -> Result<Operation, String> {
    let c = Rc::clone(c);
    let options = unsafe { (c.netlib_headers_options_new)() };
    set(&c, options);
    let status = make_headers(&c, options);
    if status != 0 {
        return Err(format!("netlib_make_headers: status {status}"));
    }
    Ok(Operation::new(name, TIMES, move || {
        for _ in 0..TIMES {
            make_headers(&c, options);
        }
    }))
}

fn make_headers(c: &Functions, options: Handle) -> i32 {
    unsafe {
        let mut headers = null_mut();
        let status = (c.netlib_make_headers)(options, &mut headers, null_mut());
        black_box((c.netlib_headers_count)(headers));
        (c.netlib_headers_free)(headers);
        status
    }
}
