//! The TLS client of rustls-ffi, with callbacks that read and write a non-blocking socket and call poll(2) when the
//! socket is not ready.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::os::fd::RawFd;
use std::ptr::null_mut;
use std::rc::Rc;

use super::waiting::{set_nonblocking, wait, would_block};
use super::{AUTHORITY, Client, RUSTLS_FFI_LIBRARY, RUSTLS_FFI_POST_QUANTUM, Session, Share};

type Handle = *mut c_void;
type Read = unsafe extern "C" fn(Handle, *mut u8, usize, *mut usize) -> c_int;
type WriteVectored = unsafe extern "C" fn(Handle, *const libc::iovec, usize, *mut usize) -> c_int;

/// rustls-ffi's string type, which is not NUL-terminated.
#[repr(C)]
pub struct Text {
    data: *const c_char,
    len: usize,
}

impl Text {
    fn to_text(&self) -> String {
        let bytes = unsafe { std::slice::from_raw_parts(self.data.cast(), self.len) };
        String::from_utf8_lossy(bytes).into_owned()
    }
}

crate::functions!(Functions {
    rustls_version: fn() -> Text;
    rustls_root_cert_store_builder_new: fn() -> Handle;
    rustls_root_cert_store_builder_load_roots_from_file: fn(Handle, *const c_char, bool) -> c_uint;
    rustls_root_cert_store_builder_build: fn(Handle, *mut Handle) -> c_uint;
    rustls_web_pki_server_cert_verifier_builder_new: fn(Handle) -> Handle;
    rustls_web_pki_server_cert_verifier_builder_build: fn(Handle, *mut Handle) -> c_uint;
    rustls_client_config_builder_new: fn() -> Handle;
    rustls_client_config_builder_set_server_verifier: fn(Handle, Handle);
    rustls_client_config_builder_build: fn(Handle, *mut Handle) -> c_uint;
    rustls_client_connection_new: fn(Handle, *const c_char, *mut Handle) -> c_uint;
    rustls_connection_is_handshaking: fn(Handle) -> bool;
    rustls_connection_wants_write: fn(Handle) -> bool;
    rustls_connection_read_tls: fn(Handle, Read, Handle, *mut usize) -> c_int;
    rustls_connection_process_new_packets: fn(Handle) -> c_uint;
    rustls_connection_write_tls_vectored: fn(Handle, WriteVectored, Handle, *mut usize) -> c_int;
    rustls_connection_read: fn(Handle, *mut u8, usize, *mut usize) -> c_uint;
    rustls_connection_write: fn(Handle, *const u8, usize, *mut usize) -> c_uint;
    rustls_connection_handshake_kind: fn(Handle) -> c_int;
    rustls_connection_get_negotiated_ciphersuite_name: fn(Handle) -> Text;
    rustls_connection_get_negotiated_key_exchange_group_name: fn(Handle) -> Text;
    rustls_connection_free: fn(Handle);
});

const OK: c_uint = 7000;
const PLAINTEXT_EMPTY: c_uint = 7011;
const RESUMED: c_int = 3;

pub struct RustlsFfi {
    c: Rc<Functions>,
    config: Handle,
}

impl RustlsFfi {
    pub fn new(share: Share) -> Result<RustlsFfi, String> {
        let c = Functions::load(match share {
            Share::Classical => RUSTLS_FFI_LIBRARY,
            Share::PostQuantum => RUSTLS_FFI_POST_QUANTUM,
        })?;
        let (mut roots, mut verifier, mut config) = (null_mut(), null_mut(), null_mut());
        let checked = |status| if status == OK { Ok(()) } else { Err(format!("rustls-ffi: result {status}")) };
        unsafe {
            let store = (c.rustls_root_cert_store_builder_new)();
            checked((c.rustls_root_cert_store_builder_load_roots_from_file)(store, AUTHORITY.as_ptr(), true))?;
            checked((c.rustls_root_cert_store_builder_build)(store, &mut roots))?;
            let builder = (c.rustls_web_pki_server_cert_verifier_builder_new)(roots);
            checked((c.rustls_web_pki_server_cert_verifier_builder_build)(builder, &mut verifier))?;
            let builder = (c.rustls_client_config_builder_new)();
            (c.rustls_client_config_builder_set_server_verifier)(builder, verifier);
            checked((c.rustls_client_config_builder_build)(builder, &mut config))?;
        }
        Ok(RustlsFfi { c: Rc::new(c), config })
    }
}

impl Client for RustlsFfi {
    fn connect_to(&self, host: &CStr, fd: RawFd) -> Box<dyn Session> {
        let c = &self.c;
        let mut connection = null_mut();
        set_nonblocking(fd);
        unsafe {
            assert_eq!((c.rustls_client_connection_new)(self.config, host.as_ptr(), &mut connection), OK);
            let connection = Connection { c: Rc::clone(c), connection, fd };
            while (c.rustls_connection_is_handshaking)(connection.connection) {
                connection.send();
                if (c.rustls_connection_is_handshaking)(connection.connection) {
                    connection.receive();
                }
            }
            connection.send();
            Box::new(connection)
        }
    }

    fn version(&self) -> String {
        let version = unsafe { (self.c.rustls_version)() }.to_text();
        version.split(' ').next().unwrap_or_default().replace('/', " ")
    }
}

struct Connection {
    c: Rc<Functions>,
    connection: Handle,
    fd: RawFd,
}

unsafe extern "C" fn read(fd: Handle, room: *mut u8, len: usize, count: *mut usize) -> c_int {
    unsafe {
        let fd = fd as usize as RawFd;
        let mut got = libc::read(fd, room.cast(), len);
        while got < 0 && would_block() {
            wait(fd, libc::POLLIN);
            got = libc::read(fd, room.cast(), len);
        }
        if got < 0 {
            return *libc::__errno_location();
        }
        *count = got as usize;
        0
    }
}

unsafe extern "C" fn write(fd: Handle, pieces: *const libc::iovec, len: usize, count: *mut usize) -> c_int {
    unsafe {
        let fd = fd as usize as RawFd;
        let mut put = libc::writev(fd, pieces, len as c_int);
        while put < 0 && would_block() {
            wait(fd, libc::POLLOUT);
            put = libc::writev(fd, pieces, len as c_int);
        }
        if put < 0 {
            return *libc::__errno_location();
        }
        *count = put as usize;
        0
    }
}

impl Connection {
    fn receive(&self) {
        let mut count = 0;
        unsafe {
            let fd = self.fd as usize as Handle;
            assert_eq!((self.c.rustls_connection_read_tls)(self.connection, read, fd, &mut count), 0);
            assert!(count > 0, "the connection has ended");
            assert_eq!((self.c.rustls_connection_process_new_packets)(self.connection), OK);
        }
    }

    fn send(&self) {
        let (mut count, fd) = (0, self.fd as usize as Handle);
        unsafe {
            while (self.c.rustls_connection_wants_write)(self.connection) {
                assert_eq!((self.c.rustls_connection_write_tls_vectored)(self.connection, write, fd, &mut count), 0);
            }
        }
    }
}

impl Session for Connection {
    fn read(&mut self, room: &mut [u8]) -> usize {
        let mut count = 0;
        loop {
            let (at, len) = (room.as_mut_ptr(), room.len());
            match unsafe { (self.c.rustls_connection_read)(self.connection, at, len, &mut count) } {
                OK if count > 0 => return count,
                PLAINTEXT_EMPTY => self.receive(),
                result => panic!("rustls_connection_read: {result}"),
            }
        }
    }

    fn write(&mut self, mut data: &[u8]) {
        while !data.is_empty() {
            let mut count = 0;
            let result =
                unsafe { (self.c.rustls_connection_write)(self.connection, data.as_ptr(), data.len(), &mut count) };
            assert_eq!(result, OK, "rustls_connection_write");
            data = &data[count..];
            self.send();
        }
    }

    fn is_resumed(&self) -> bool {
        unsafe { (self.c.rustls_connection_handshake_kind)(self.connection) == RESUMED }
    }

    fn agreed(&self) -> String {
        unsafe {
            let group = (self.c.rustls_connection_get_negotiated_key_exchange_group_name)(self.connection);
            let suite = (self.c.rustls_connection_get_negotiated_ciphersuite_name)(self.connection);
            format!("{}, {}", group.to_text(), suite.to_text())
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        unsafe { (self.c.rustls_connection_free)(self.connection) };
    }
}
