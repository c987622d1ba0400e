//! The TLS client of netlib, loaded from the release build of the shared library.

use std::ffi::{CStr, c_char, c_void};
use std::os::fd::RawFd;
use std::ptr::{null, null_mut};
use std::rc::Rc;

use super::waiting::{LIMIT, READ_TIMEOUT};
use super::{AUTHORITY, Client, Session, Share, Waits};

type Handle = *mut c_void;

crate::functions!(Functions {
    netlib_version: fn() -> *const c_char;
    netlib_tls_options_new: fn() -> Handle;
    netlib_tls_options_free: fn(Handle);
    netlib_tls_options_add_ca_file: fn(Handle, *const c_char);
    netlib_tls_options_set_key_exchange_groups: fn(Handle, *const c_char);
    netlib_tls_context_new: fn(Handle, *mut Handle, *mut Handle) -> i32;
    netlib_tls_wrap_fd: fn(Handle, i32, *const c_char, *mut Handle, *mut Handle) -> i32;
    netlib_limit_new: fn(f64, *const c_void, *mut Handle, *mut Handle) -> i32;
    netlib_stream_set_limit: fn(Handle, Handle);
    netlib_stream_set_read_timeout: fn(Handle, f64, *mut Handle) -> i32;
    netlib_stream_handshake: fn(Handle, *mut Handle) -> i32;
    netlib_stream_read: fn(Handle, *mut c_void, usize, *mut usize, *mut Handle) -> i32;
    netlib_stream_write: fn(Handle, *const c_void, usize, *mut usize, *mut Handle) -> i32;
    netlib_stream_is_resumed: fn(Handle) -> i32;
    netlib_stream_key_exchange_group: fn(Handle, *mut usize) -> *const c_char;
    netlib_stream_cipher_suite: fn(Handle, *mut usize) -> *const c_char;
    netlib_stream_free: fn(Handle);
});

const OK: i32 = 0;

pub struct Netlib {
    c: Rc<Functions>,
    context: Handle,
    /// The limit of all streams, if the streams have a read timeout and a limit.
    limit: Option<Handle>,
}

impl Netlib {
    pub fn new(share: Share, waits: Waits) -> Result<Netlib, String> {
        let c = Functions::load(&crate::netlib())?;
        unsafe {
            let options = (c.netlib_tls_options_new)();
            (c.netlib_tls_options_add_ca_file)(options, AUTHORITY.as_ptr());
            if share == Share::Classical {
                (c.netlib_tls_options_set_key_exchange_groups)(options, c"X25519".as_ptr());
            }
            let mut context = null_mut();
            let status = (c.netlib_tls_context_new)(options, &mut context, null_mut());
            (c.netlib_tls_options_free)(options);
            if status != OK {
                return Err(format!("netlib: status {status}"));
            }
            let limit = (waits == Waits::Bounded).then(|| {
                let mut limit = null_mut();
                assert_eq!((c.netlib_limit_new)(LIMIT, null(), &mut limit, null_mut()), OK, "netlib_limit_new");
                limit
            });
            Ok(Netlib { c: Rc::new(c), context, limit })
        }
    }
}

impl Client for Netlib {
    fn connect_to(&self, host: &CStr, fd: RawFd) -> Box<dyn Session> {
        let mut stream = null_mut();
        unsafe {
            let made = (self.c.netlib_tls_wrap_fd)(self.context, fd, host.as_ptr(), &mut stream, null_mut());
            assert_eq!(made, OK, "netlib_tls_wrap_fd");
            if let Some(limit) = self.limit {
                (self.c.netlib_stream_set_limit)(stream, limit);
                let set = (self.c.netlib_stream_set_read_timeout)(stream, READ_TIMEOUT, null_mut());
                assert_eq!(set, OK, "netlib_stream_set_read_timeout");
            }
            assert_eq!((self.c.netlib_stream_handshake)(stream, null_mut()), OK, "netlib_stream_handshake");
        }
        Box::new(Stream { c: Rc::clone(&self.c), stream })
    }

    fn version(&self) -> String {
        format!("netlib {}", unsafe { CStr::from_ptr((self.c.netlib_version)()) }.to_string_lossy())
    }
}

struct Stream {
    c: Rc<Functions>,
    stream: Handle,
}

impl Session for Stream {
    fn read(&mut self, room: &mut [u8]) -> usize {
        let mut count = 0;
        let (at, len) = (room.as_mut_ptr().cast(), room.len());
        let status = unsafe { (self.c.netlib_stream_read)(self.stream, at, len, &mut count, null_mut()) };
        assert_eq!(status, OK, "netlib_stream_read");
        count
    }

    fn write(&mut self, data: &[u8]) {
        let mut count = 0;
        let (at, len) = (data.as_ptr().cast(), data.len());
        let status = unsafe { (self.c.netlib_stream_write)(self.stream, at, len, &mut count, null_mut()) };
        assert_eq!((status, count), (OK, len), "netlib_stream_write");
    }

    fn is_resumed(&self) -> bool {
        unsafe { (self.c.netlib_stream_is_resumed)(self.stream) != 0 }
    }

    fn agreed(&self) -> String {
        unsafe {
            let group = (self.c.netlib_stream_key_exchange_group)(self.stream, null_mut());
            let suite = (self.c.netlib_stream_cipher_suite)(self.stream, null_mut());
            format!("{}, {}", CStr::from_ptr(group).to_string_lossy(), CStr::from_ptr(suite).to_string_lossy())
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        unsafe { (self.c.netlib_stream_free)(self.stream) };
    }
}
