//! Parses response heads with netlib and with httparse. httparse's headers point into the caller's buffer, while netlib
//! copies the headers into a handle that stays valid without the buffer.

use std::ffi::{CStr, c_char, c_void};
use std::hint::black_box;
use std::ptr::null_mut;
use std::rc::Rc;

use crate::{Group, Operation, Section};

type Handle = *mut c_void;

crate::functions!(Functions {
    netlib_response_parse: fn(*const c_char, *const c_char, usize, *mut u64, *mut Handle, *mut usize, *mut Handle) -> i32;
    netlib_response_status: fn(Handle) -> i32;
    netlib_response_headers: fn(Handle) -> Handle;
    netlib_headers_count: fn(Handle) -> usize;
    netlib_response_free: fn(Handle);
});

const TIMES: usize = 5_000;
const METHOD: &CStr = c"GET";

/// A response head of about 600 bytes from a server behind a proxy.
const PAGE: &str = "HTTP/1.1 200 OK\r\n\
    Date: Mon, 06 Jul 2026 08:49:37 GMT\r\n\
    Content-Type: text/html; charset=utf-8\r\n\
    Content-Length: 48213\r\n\
    Connection: keep-alive\r\n\
    Server: nginx/1.26.1\r\n\
    Cache-Control: max-age=0, private, must-revalidate\r\n\
    ETag: W/\"7d3c5a0b21f94e8c9a6d1b3e5f7a9c0d\"\r\n\
    Set-Cookie: session=Zk3vQ9xT2mLr8YpW; path=/; expires=Mon, 20 Jul 2026 08:49:37 GMT; secure; HttpOnly; SameSite=Lax\r\n\
    Vary: Accept-Encoding, Accept, X-Requested-With\r\n\
    Strict-Transport-Security: max-age=31536000; includeSubDomains; preload\r\n\
    X-Frame-Options: deny\r\n\
    X-Content-Type-Options: nosniff\r\n\
    X-Request-Id: 4f6a1c9e0b7d43528a1e5c7f90b2d6a3\r\n\
    \r\n";

pub fn section() -> Result<Section, String> {
    let c = Rc::new(Functions::load(&crate::netlib())?);
    let mut twenty = String::from("HTTP/1.1 206 Partial Content\r\n");
    for i in 0..20 {
        twenty.push_str(&format!("X-Header-{i:02}: value of header number {i}\r\n"));
    }
    twenty.push_str("\r\n");
    let heads = [("head of a page", PAGE.to_owned()), ("head with 20 headers", twenty)];
    let groups = heads.into_iter().map(|(name, head)| group(&c, name, head)).collect::<Result<_, _>>()?;
    Ok(Section {
        name: "heads",
        title: "A response head: parse; read the status and count the headers; free",
        groups,
    })
}

fn group(c: &Rc<Functions>, name: &str, head: String) -> Result<Group, String> {
    let (ours, theirs) = (netlib(c, &head), httparse(&head));
    if ours != theirs || ours.is_none() {
        return Err(format!(
            "DOES NOT COUNT: {name}: netlib {ours:?}, httparse {theirs:?} (status, headers, length)"
        ));
    }
    let name = format!("{name}, {} bytes", head.len());
    let (c, copy) = (Rc::clone(c), head.clone());
    let operations = vec![
        Operation::new("netlib_response_parse", TIMES, move || {
            for _ in 0..TIMES {
                black_box(netlib(&c, black_box(&head)));
            }
        }),
        Operation::new("httparse", TIMES, move || {
            for _ in 0..TIMES {
                black_box(httparse(black_box(&copy)));
            }
        }),
    ];
    Ok(Group { name, references: &["httparse"], operations })
}

/// The result of parsing: the status code, the number of headers and the length of the head.
type Answer = Option<(i32, usize, usize)>;

#[inline]
fn netlib(c: &Functions, head: &str) -> Answer {
    unsafe {
        let (mut response, mut length) = (null_mut(), 0);
        let text = head.as_ptr().cast();
        if (c.netlib_response_parse)(
            METHOD.as_ptr(),
            text,
            head.len(),
            null_mut(),
            &mut response,
            &mut length,
            null_mut(),
        ) != 0
        {
            return None;
        }
        let count = (c.netlib_headers_count)((c.netlib_response_headers)(response));
        let status = (c.netlib_response_status)(response);
        (c.netlib_response_free)(response);
        Some((status, count, length))
    }
}

#[inline]
fn httparse(head: &str) -> Answer {
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut response = httparse::Response::new(&mut headers);
    match response.parse(head.as_bytes()) {
        Ok(httparse::Status::Complete(length)) => {
            Some((i32::from(response.code?), black_box(&response.headers).len(), length))
        }
        _ => None,
    }
}
