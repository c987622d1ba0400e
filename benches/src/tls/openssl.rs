//! The TLS client of OpenSSL, on a non-blocking socket with poll(2), because a client with a timeout needs both. The
//! server for all clients also uses OpenSSL.

#![allow(non_snake_case)]

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int, c_long, c_void};
use std::os::fd::RawFd;
use std::ptr::{null, null_mut};
use std::sync::OnceLock;

use super::waiting::{set_nonblocking, wait};
use super::{AUTHORITY, Client, Session};

type Handle = *mut c_void;
type NewSession = unsafe extern "C" fn(Handle, Handle) -> c_int;

crate::functions!(Functions {
    OpenSSL_version: fn(c_int) -> *const c_char;
    TLS_client_method: fn() -> Handle;
    TLS_server_method: fn() -> Handle;
    SSL_CTX_new: fn(Handle) -> Handle;
    SSL_CTX_ctrl: fn(Handle, c_int, c_long, *const c_void) -> c_long;
    SSL_CTX_set_ciphersuites: fn(Handle, *const c_char) -> c_int;
    SSL_CTX_load_verify_file: fn(Handle, *const c_char) -> c_int;
    SSL_CTX_set_verify: fn(Handle, c_int, *const c_void);
    SSL_CTX_sess_set_new_cb: fn(Handle, NewSession);
    SSL_CTX_set_ex_data: fn(Handle, c_int, *const c_void) -> c_int;
    SSL_CTX_get_ex_data: fn(Handle, c_int) -> *const c_void;
    SSL_get_SSL_CTX: fn(Handle) -> Handle;
    SSL_CTX_set_quiet_shutdown: fn(Handle, c_int);
    SSL_CTX_use_certificate_chain_file: fn(Handle, *const c_char) -> c_int;
    SSL_CTX_use_PrivateKey_file: fn(Handle, *const c_char, c_int) -> c_int;
    SSL_CTX_set_num_tickets: fn(Handle, usize) -> c_int;
    SSL_SESSION_free: fn(Handle);
    SSL_new: fn(Handle) -> Handle;
    SSL_free: fn(Handle);
    SSL_ctrl: fn(Handle, c_int, c_long, *const c_void) -> c_long;
    SSL_set1_host: fn(Handle, *const c_char) -> c_int;
    SSL_set_fd: fn(Handle, c_int) -> c_int;
    SSL_set_session: fn(Handle, Handle) -> c_int;
    SSL_session_reused: fn(Handle) -> c_int;
    SSL_connect: fn(Handle) -> c_int;
    SSL_accept: fn(Handle) -> c_int;
    SSL_shutdown: fn(Handle) -> c_int;
    SSL_read: fn(Handle, *mut c_void, c_int) -> c_int;
    SSL_write: fn(Handle, *const c_void, c_int) -> c_int;
    SSL_get_error: fn(Handle, c_int) -> c_int;
    SSL_get_current_cipher: fn(Handle) -> Handle;
    SSL_CIPHER_get_name: fn(Handle) -> *const c_char;
    SSL_group_to_name: fn(Handle, c_int) -> *const c_char;
});

const LIBRARY: &str = "libssl.so.3";

/* Numbers of openssl/ssl.h and openssl/tls1.h. */
const VERIFY_PEER: c_int = 1;
const FILETYPE_PEM: c_int = 1;
const ERROR_WANT_READ: c_int = 2;
const ERROR_WANT_WRITE: c_int = 3;
/// The index of the application data (ex_data) of an SSL_CTX.
const APP_DATA: c_int = 0;
const CTRL_SESS_CACHE_MODE: c_int = 44;
const CTRL_TLSEXT_HOSTNAME: c_int = 55;
const CTRL_MIN_PROTO_VERSION: c_int = 123;
const CTRL_NEGOTIATED_GROUP: c_int = 134;
const TLS1_3: c_long = 0x0304;
/// The session cache mode of a client without an internal store: OpenSSL passes new sessions to a callback.
const SESSIONS_OF_A_CLIENT: c_long = 0x0001 | 0x0300;

/// Returns OpenSSL's functions; loads the library on first use.
fn functions() -> Result<&'static Functions, String> {
    static FUNCTIONS: OnceLock<Result<Functions, String>> = OnceLock::new();
    FUNCTIONS.get_or_init(|| Functions::load(LIBRARY)).as_ref().map_err(String::clone)
}

pub struct OpenSsl {
    c: &'static Functions,
    context: Handle,
    /// The newest session, which the next handshake resumes. A client of a single server needs no other session.
    newest: &'static Cell<Handle>,
}

/// Stores a new session in the cell that the context points to.
unsafe extern "C" fn keep(ssl: Handle, session: Handle) -> c_int {
    let Ok(c) = functions() else { return 0 };
    unsafe {
        let newest = (c.SSL_CTX_get_ex_data)((c.SSL_get_SSL_CTX)(ssl), APP_DATA).cast::<Cell<Handle>>();
        (c.SSL_SESSION_free)((*newest).replace(session));
    }
    1
}

impl OpenSsl {
    pub fn new() -> Result<OpenSsl, String> {
        let c = functions()?;
        let newest: &Cell<Handle> = Box::leak(Box::new(Cell::new(null_mut())));
        unsafe {
            let context = (c.SSL_CTX_new)((c.TLS_client_method)());
            (c.SSL_CTX_set_verify)(context, VERIFY_PEER, null());
            if (c.SSL_CTX_load_verify_file)(context, AUTHORITY.as_ptr()) != 1 {
                return Err(format!("OpenSSL does not load {}", AUTHORITY.to_string_lossy()));
            }
            (c.SSL_CTX_set_ex_data)(context, APP_DATA, (&raw const *newest).cast());
            (c.SSL_CTX_ctrl)(context, CTRL_SESS_CACHE_MODE, SESSIONS_OF_A_CLIENT, null());
            (c.SSL_CTX_sess_set_new_cb)(context, keep);
            // OpenSSL resumes only sessions that were shut down. A quiet shutdown sends no close_notify; the other
            // clients send none either.
            (c.SSL_CTX_set_quiet_shutdown)(context, 1);
            Ok(OpenSsl { c, context, newest })
        }
    }
}

impl Client for OpenSsl {
    fn connect_to(&self, host: &CStr, fd: RawFd) -> Box<dyn Session> {
        let c = self.c;
        unsafe {
            let ssl = (c.SSL_new)(self.context);
            (c.SSL_ctrl)(ssl, CTRL_TLSEXT_HOSTNAME, 0, host.as_ptr().cast());
            assert_eq!((c.SSL_set1_host)(ssl, host.as_ptr()), 1);
            assert_eq!((c.SSL_set_fd)(ssl, fd), 1);
            let session = self.newest.get();
            if !session.is_null() {
                (c.SSL_set_session)(ssl, session);
            }
            set_nonblocking(fd);
            let connection = Connection { c, ssl, fd };
            connection.repeat("SSL_connect", || (c.SSL_connect)(ssl));
            Box::new(connection)
        }
    }

    fn version(&self) -> String {
        let text = unsafe { CStr::from_ptr((self.c.OpenSSL_version)(0)) }.to_string_lossy();
        text.split(' ').take(2).collect::<Vec<_>>().join(" ")
    }
}

struct Connection {
    c: &'static Functions,
    ssl: Handle,
    fd: RawFd,
}

impl Connection {
    /// Repeats an OpenSSL call until it succeeds, and waits for the socket before each repetition.
    fn repeat(&self, name: &str, call: impl Fn() -> c_int) -> c_int {
        loop {
            let result = call();
            if result > 0 {
                return result;
            }
            match unsafe { (self.c.SSL_get_error)(self.ssl, result) } {
                ERROR_WANT_READ => wait(self.fd, libc::POLLIN),
                ERROR_WANT_WRITE => wait(self.fd, libc::POLLOUT),
                error => panic!("{name}: error {error}"),
            }
        }
    }
}

impl Session for Connection {
    fn read(&mut self, room: &mut [u8]) -> usize {
        let (at, len) = (room.as_mut_ptr().cast(), room.len() as c_int);
        self.repeat("SSL_read", || unsafe { (self.c.SSL_read)(self.ssl, at, len) }) as usize
    }

    fn write(&mut self, data: &[u8]) {
        let (at, len) = (data.as_ptr().cast(), data.len() as c_int);
        let count = self.repeat("SSL_write", || unsafe { (self.c.SSL_write)(self.ssl, at, len) });
        assert_eq!(count, len, "SSL_write");
    }

    fn is_resumed(&self) -> bool {
        unsafe { (self.c.SSL_session_reused)(self.ssl) == 1 }
    }

    fn agreed(&self) -> String {
        agreed(self.c, self.ssl)
    }
}

/// Returns the names of the key exchange group and the cipher suite of a connection.
fn agreed(c: &Functions, ssl: Handle) -> String {
    unsafe {
        let group = (c.SSL_ctrl)(ssl, CTRL_NEGOTIATED_GROUP, 0, null());
        let group = CStr::from_ptr((c.SSL_group_to_name)(ssl, group as c_int));
        let suite = CStr::from_ptr((c.SSL_CIPHER_get_name)((c.SSL_get_current_cipher)(ssl)));
        format!("{}, {}", group.to_string_lossy(), suite.to_string_lossy())
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        unsafe {
            (self.c.SSL_shutdown)(self.ssl);
            (self.c.SSL_free)(self.ssl);
        }
    }
}

/// The server's SSL_CTX, which all threads of the server share.
pub struct Acceptor {
    c: &'static Functions,
    context: Handle,
}

// OpenSSL allows several threads to use an SSL_CTX.
unsafe impl Send for Acceptor {}
unsafe impl Sync for Acceptor {}

impl Acceptor {
    pub fn new(suite: &CStr, tickets: usize) -> Result<Acceptor, String> {
        let c = functions()?;
        unsafe {
            let context = (c.SSL_CTX_new)((c.TLS_server_method)());
            (c.SSL_CTX_ctrl)(context, CTRL_MIN_PROTO_VERSION, TLS1_3, null());
            let (chain, key) = (c"tests/certs/server.pem", c"tests/certs/server.key");
            let made = (c.SSL_CTX_use_certificate_chain_file)(context, chain.as_ptr()) == 1
                && (c.SSL_CTX_use_PrivateKey_file)(context, key.as_ptr(), FILETYPE_PEM) == 1
                && (c.SSL_CTX_set_ciphersuites)(context, suite.as_ptr()) == 1
                && (c.SSL_CTX_set_num_tickets)(context, tickets) == 1;
            if made { Ok(Acceptor { c, context }) } else { Err("OpenSSL makes no server".into()) }
        }
    }

    /// Does the server's handshake on an accepted connection; returns `None` if it fails.
    pub fn accept(&self, fd: RawFd) -> Option<Accepted> {
        unsafe {
            let ssl = (self.c.SSL_new)(self.context);
            let accepted = Accepted { c: self.c, ssl };
            ((self.c.SSL_set_fd)(ssl, fd) == 1 && (self.c.SSL_accept)(ssl) == 1).then_some(accepted)
        }
    }
}

pub struct Accepted {
    c: &'static Functions,
    ssl: Handle,
}

impl Accepted {
    /// Reads until `room` is full. Returns false if the client has closed the connection.
    pub fn read_exact(&self, mut room: &mut [u8]) -> bool {
        while !room.is_empty() {
            let Some(count) = self.read(room) else { return false };
            room = &mut room[count..];
        }
        true
    }

    /// Reads at least one byte. Returns `None` if the client has closed the connection.
    pub fn read(&self, room: &mut [u8]) -> Option<usize> {
        let count = unsafe { (self.c.SSL_read)(self.ssl, room.as_mut_ptr().cast(), room.len() as c_int) };
        (count > 0).then_some(count as usize)
    }

    pub fn is_resumed(&self) -> bool {
        unsafe { (self.c.SSL_session_reused)(self.ssl) == 1 }
    }

    pub fn agreed(&self) -> String {
        agreed(self.c, self.ssl)
    }

    /// Sends close_notify.
    pub fn shutdown(&self) {
        unsafe { (self.c.SSL_shutdown)(self.ssl) };
    }

    pub fn write(&self, data: &[u8]) {
        // Write errors are ignored: if the client has closed the connection, the next read fails.
        unsafe { (self.c.SSL_write)(self.ssl, data.as_ptr().cast(), data.len() as c_int) };
    }
}

impl Drop for Accepted {
    fn drop(&mut self) {
        unsafe { (self.c.SSL_free)(self.ssl) };
    }
}
