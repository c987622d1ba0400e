//! Measures TLS 1.3 clients: netlib, OpenSSL and rustls-ffi as shared libraries, and rustls itself. All clients do the
//! same work with one server, which runs in another process on another processor. docs/contributing/benchmarks.md
//! describes the method.

mod netlib;
pub mod openssl;
mod operations;
pub mod processes;
mod rustls_ffi;
pub mod server;
mod table;
mod unbuffered;
mod waiting;

use std::ffi::CStr;
use std::os::fd::RawFd;

pub use operations::section;
pub use table::print;

pub const NETLIB: &str = "netlib";
/// netlib without read timeout and limit. The times of netlib without timeout and limit are printed in a separate row,
/// because no real client runs without them.
pub const NETLIB_UNLIMITED: &str = "netlib, no timeout, no limit";
/// An earlier build of netlib, if there is one to compare with: see [`crate::before`].
pub const NETLIB_BEFORE: &str = "netlib, before";
pub const NETLIB_BEFORE_UNLIMITED: &str = "netlib, before, no timeout, no limit";
pub const OPENSSL: &str = "OpenSSL";
pub const RUSTLS_FFI: &str = "rustls-ffi";
pub const UNBUFFERED: &str = "rustls, unbuffered";

/// The libraries in the order of the columns.
pub const RIVALS: [&str; 4] = [OPENSSL, RUSTLS_FFI, UNBUFFERED, NETLIB];

const RUSTLS_FFI_LIBRARY: &str = "target/bench/librustls_ffi.so";
const RUSTLS_FFI_POST_QUANTUM: &str = "target/bench/librustls_ffi-post-quantum.so";

const AUTHORITY: &CStr = c"tests/certs/ca.pem";
const HOST: &CStr = c"localhost";

/// The key exchange groups for which a ClientHello has a key share.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Share {
    /// X25519 alone, which is the group that the server selects.
    Classical,
    /// The library's default, with X25519MLKEM768 if the library supports it.
    PostQuantum,
}

/// Selects whether netlib's streams have a read timeout and a limit. The clients of other libraries always have a
/// timeout and a limit, because they wait with [`waiting`].
#[derive(Clone, Copy, PartialEq, Eq)]
enum Waits {
    Bounded,
    Unbounded,
}

/// A TLS library with a client context that trusts one authority.
pub trait Client {
    /// Does a handshake on a connected socket, verifying the server's certificate chain and name.
    fn connect_to(&self, host: &CStr, fd: RawFd) -> Box<dyn Session>;

    /// Returns the version of the library.
    fn version(&self) -> String;
}

/// A TLS session after its handshake. Every method blocks; a failure ends the program.
pub trait Session {
    /// Reads at least one byte.
    fn read(&mut self, room: &mut [u8]) -> usize;

    /// Writes all of `data`.
    fn write(&mut self, data: &[u8]);

    fn is_resumed(&self) -> bool;

    /// Returns the names of the key exchange group and the cipher suite, as the library spells them.
    fn agreed(&self) -> String;
}

impl dyn Client {
    fn connect(&self, fd: RawFd) -> Box<dyn Session> {
        self.connect_to(HOST, fd)
    }
}

impl dyn Session {
    fn read_exact(&mut self, mut room: &mut [u8]) {
        while !room.is_empty() {
            let count = self.read(room);
            room = &mut room[count..];
        }
    }
}

/// Loads the earlier build of netlib.
fn earlier(share: Share, waits: Waits) -> Result<Box<dyn Client>, String> {
    let path = crate::before().ok_or("there is no earlier build")?;
    Ok(Box::new(crate::with_library(&path, || netlib::Netlib::new(share, waits))?))
}

/// Loads the library and creates a context.
pub fn client(rival: &str, share: Share) -> Result<Box<dyn Client>, String> {
    Ok(match rival {
        NETLIB => Box::new(netlib::Netlib::new(share, Waits::Bounded)?),
        NETLIB_UNLIMITED => Box::new(netlib::Netlib::new(share, Waits::Unbounded)?),
        NETLIB_BEFORE => earlier(share, Waits::Bounded)?,
        NETLIB_BEFORE_UNLIMITED => earlier(share, Waits::Unbounded)?,
        OPENSSL => Box::new(openssl::OpenSsl::new()?),
        RUSTLS_FFI => Box::new(rustls_ffi::RustlsFfi::new(share)?),
        UNBUFFERED => Box::new(unbuffered::Unbuffered::new()?),
        other => return Err(format!("no rival {other}")),
    })
}
