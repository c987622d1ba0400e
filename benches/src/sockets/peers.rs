//! Creates the peers of the measured calls: sockets that accept, refuse or never answer connections, and connected
//! pairs.

use std::io;
use std::mem::size_of;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;

use crate::processors::{Processor, pin};

/// A socket address in the format of connect(2).
#[derive(Clone, Copy)]
pub struct Address {
    storage: libc::sockaddr_storage,
    len: libc::socklen_t,
}

impl Address {
    pub fn new(address: SocketAddr) -> Address {
        // A sockaddr_storage is valid if all its bytes are 0, and it is large and aligned enough for both address
        // families.
        let mut storage: libc::sockaddr_storage = unsafe { std::mem::zeroed() };
        let len = match address {
            SocketAddr::V4(v4) => unsafe {
                let at = &mut *(&raw mut storage).cast::<libc::sockaddr_in>();
                at.sin_family = libc::AF_INET as libc::sa_family_t;
                at.sin_port = v4.port().to_be();
                at.sin_addr.s_addr = u32::from(*v4.ip()).to_be();
                size_of::<libc::sockaddr_in>()
            },
            SocketAddr::V6(v6) => unsafe {
                let at = &mut *(&raw mut storage).cast::<libc::sockaddr_in6>();
                at.sin6_family = libc::AF_INET6 as libc::sa_family_t;
                at.sin6_port = v6.port().to_be();
                at.sin6_addr.s6_addr = v6.ip().octets();
                size_of::<libc::sockaddr_in6>()
            },
        };
        Address { storage, len: len as libc::socklen_t }
    }

    pub fn bytes(&self) -> (*const libc::c_void, usize) {
        ((&raw const self.storage).cast(), self.len as usize)
    }

    fn raw(&self) -> (*const libc::sockaddr, libc::socklen_t) {
        ((&raw const self.storage).cast(), self.len)
    }
}

/// A socket that is bound to a free port of 127.0.0.1. While the socket does not listen, connections to the port are
/// refused.
pub struct Bound {
    fd: OwnedFd,
    pub address: SocketAddr,
}

impl Bound {
    pub fn refusing() -> Result<Bound, String> {
        let fd = check("socket", unsafe { libc::socket(libc::AF_INET, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0) })?;
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        let any = Address::new((Ipv4Addr::LOCALHOST, 0).into());
        let (address, len) = any.raw();
        check("bind", unsafe { libc::bind(fd.as_raw_fd(), address, len) })?;
        // TcpListener is used only for its method local_addr; the socket does not listen.
        let asked = unsafe { TcpListener::from_raw_fd(libc::dup(fd.as_raw_fd())) };
        let address = asked.local_addr().map_err(|e| e.to_string())?;
        Ok(Bound { fd, address })
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }
}

/// A listener that never answers connections because its backlog is full, and the socket that fills the backlog.
pub struct Silent {
    pub bound: Bound,
    _filler: OwnedFd,
}

impl Silent {
    pub fn new() -> Result<Silent, String> {
        let bound = Bound::refusing()?;
        check("listen", unsafe { libc::listen(bound.fd.as_raw_fd(), 0) })?;
        for _ in 0..64 {
            let flags = libc::SOCK_STREAM | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
            let filler = check("socket", unsafe { libc::socket(libc::AF_INET, flags, 0) })?;
            let filler = unsafe { OwnedFd::from_raw_fd(filler) };
            let address = Address::new(bound.address);
            let (address, len) = address.raw();
            let mut writable = libc::pollfd { fd: filler.as_raw_fd(), events: libc::POLLOUT, revents: 0 };
            // A closed connection stays in the backlog, so earlier sockets of this loop need not be kept.
            let waiting = unsafe {
                libc::connect(filler.as_raw_fd(), address, len) != 0 && libc::poll(&mut writable, 1, 100) == 0
            };
            if waiting {
                return Ok(Silent { bound, _filler: filler });
            }
        }
        Err("the backlog of a listener does not fill".into())
    }
}

/// Starts a listener on 127.0.0.1 or on ::1. The listener's thread accepts one connection after the other, and closes
/// each connection once the peer has closed its end.
pub fn accepting(v6: bool) -> io::Result<SocketAddr> {
    let listener = match v6 {
        true => TcpListener::bind((Ipv6Addr::LOCALHOST, 0))?,
        false => TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?,
    };
    let address = listener.local_addr()?;
    // SO_LINGER with time 0 makes close(2) reset the connection, so that thousands of connections do not stay in
    // TIME_WAIT. Accepted sockets inherit the option.
    let linger = libc::linger { l_onoff: 1, l_linger: 0 };
    unsafe {
        let (value, len) = ((&raw const linger).cast(), size_of::<libc::linger>() as libc::socklen_t);
        libc::setsockopt(listener.as_raw_fd(), libc::SOL_SOCKET, libc::SO_LINGER, value, len);
        libc::listen(listener.as_raw_fd(), 4096);
    }
    std::thread::spawn(move || {
        pin(Processor::Peer);
        loop {
            let fd = unsafe { libc::accept(listener.as_raw_fd(), std::ptr::null_mut(), std::ptr::null_mut()) };
            if fd >= 0 {
                let mut byte = 0_u8;
                unsafe {
                    // Waits until the peer has closed the connection. Otherwise the reset could arrive before the peer
                    // has checked that the connection was established.
                    libc::read(fd, (&raw mut byte).cast(), 1);
                    libc::close(fd);
                }
            }
        }
    });
    Ok(address)
}

/// Returns the two sockets of a TCP connection.
pub fn connected() -> Result<(TcpStream, TcpStream), String> {
    let pair = || {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let near = TcpStream::connect(listener.local_addr()?)?;
        Ok((near, listener.accept()?.0))
    };
    pair().map_err(|error: io::Error| format!("a connected pair: {error}"))
}

/// Returns a connected pair of sockets; neither becomes readable unless data is written to the other.
pub fn quiet() -> Result<(UnixStream, UnixStream), String> {
    UnixStream::pair().map_err(|error| format!("a socket pair: {error}"))
}

/// Calls blocking connect(2) for one address after the other, as a program without netlib does.
pub fn connect_bare(addresses: &[Address]) -> Option<RawFd> {
    addresses.iter().find_map(|to| unsafe {
        let family = i32::from(to.storage.ss_family);
        let fd = libc::socket(family, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0);
        let (address, len) = to.raw();
        if libc::connect(fd, address, len) == 0 {
            return Some(fd);
        }
        libc::close(fd);
        None
    })
}

fn check(call: &str, result: i32) -> Result<i32, String> {
    if result < 0 { Err(format!("{call}: {}", io::Error::last_os_error())) } else { Ok(result) }
}
