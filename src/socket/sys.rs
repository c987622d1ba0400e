//! Wraps system calls in safe functions. Each function is safe for every argument: a bad descriptor results in EBADF,
//! never in undefined behaviour.
#![allow(unsafe_code)]

mod cancellation;
mod file;
mod poll_group;
mod process;

use std::ffi::CStr;
use std::io::{self, IoSlice};
use std::net::{Shutdown, SocketAddr};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::socket::sockaddr::{self, Sockaddr};
use crate::status::Status;

pub(crate) use cancellation::DisableCancellation;
pub(crate) use file::{is_blocking, is_open, read, remaining_file_size, seek, tell, write_without_signal};
#[cfg(any(target_os = "linux", target_os = "android"))]
use poll_group::owned_fd;
pub(crate) use poll_group::{Alarm, open_poll_group};
#[cfg(test)]
pub(crate) use process::is_signal_blocked;
pub(crate) use process::{
    ForkHandler, SignalsBlocked, at_fork, coarse_monotonic_seconds, environment_variable, monotonic_seconds,
    wipe_on_fork_word,
};

pub(crate) const POLL_IN: i16 = libc::POLLIN;
pub(crate) const POLL_OUT: i16 = libc::POLLOUT;
/// Event that poll(2) returns for a descriptor that is not open.
pub(crate) const POLL_INVALID: i16 = libc::POLLNVAL;

/// Event that poll(2) returns for a socket that is not connected or is shut down in both directions.
pub(crate) const POLL_HANG_UP: i16 = libc::POLLHUP;

/// A descriptor for [`poll`], with its requested and returned events.
pub(crate) type PollFd = libc::pollfd;

pub(crate) fn poll_fd(fd: RawFd, events: i16) -> PollFd {
    PollFd { fd, events, revents: 0 }
}

/// Waits until a descriptor is ready or the deadline has passed. Returns the number of ready descriptors; 0 if the
/// deadline has passed. Fails with EINTR if a signal handler ran during the wait.
pub(crate) fn poll(fds: &mut [PollFd], deadline: Option<Instant>) -> io::Result<usize> {
    loop {
        let wait = match deadline {
            None => -1,
            Some(deadline) => round_up_to_ms(deadline.saturating_duration_since(Instant::now())),
        };
        // SAFETY: the pointer and the count describe `fds`, which lives across the call.
        let ready = unsafe { libc::poll(fds.as_mut_ptr(), fds.len() as libc::nfds_t, wait) };
        if ready > 0 {
            return Ok(ready as usize);
        }
        if ready == 0 {
            if wait >= 0 && deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Ok(0);
            }
            continue;
        }
        return Err(io::Error::last_os_error());
    }
}

/// Returns the number of ready descriptors without waiting and without reading a clock.
pub(crate) fn poll_now(fds: &mut [PollFd]) -> io::Result<usize> {
    // SAFETY: the pointer and the count describe `fds`, which lives across the call.
    retry_on_eintr(|| unsafe { libc::poll(fds.as_mut_ptr(), fds.len() as libc::nfds_t, 0) as isize })
}

/// Rounds up to milliseconds, because rounding down would make the caller's loop spin until the deadline.
fn round_up_to_ms(wait: Duration) -> i32 {
    wait.as_nanos().div_ceil(1_000_000).min(i32::MAX as u128) as i32
}

/// A descriptor that ends a poll(2): [`Wake::raise`] makes it readable permanently.
#[derive(Debug)]
pub(crate) struct Wake {
    read: OwnedFd,
    /// The writing end of the pipe. Linux and Android use a single eventfd instead.
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    write: OwnedFd,
}

impl Wake {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub(crate) fn open() -> Result<Wake> {
        // SAFETY: no pointers are passed.
        let fd = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
        Ok(Wake { read: owned_fd(fd).map_err(wake_error)? })
    }

    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    pub(crate) fn open() -> Result<Wake> {
        let (read, write) = std::io::pipe().map_err(wake_error)?;
        let (read, write) = (OwnedFd::from(read), OwnedFd::from(write));
        // The pipe is nonblocking, so that `raise` in a signal handler cannot block when many calls have filled the
        // pipe.
        socket2::SockRef::from(&write).set_nonblocking(true).map_err(wake_error)?;
        Ok(Wake { read, write })
    }

    pub(crate) fn fd(&self) -> RawFd {
        self.read.as_raw_fd()
    }

    /// Wakes all threads that wait, by making the descriptor readable. Async-signal-safe; preserves errno.
    pub(crate) fn raise(&self) {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        let fd = self.read.as_raw_fd();
        #[cfg(not(any(target_os = "linux", target_os = "android")))]
        let fd = self.write.as_raw_fd();
        let one = 1u64.to_ne_bytes();
        // SAFETY: the buffer is eight readable bytes; errno's address is valid on every thread.
        unsafe {
            let errno = *errno_location();
            // write(2) fails with EAGAIN if the counter or pipe is full, but then the descriptor is readable already.
            let _ = libc::write(fd, one.as_ptr().cast(), one.len());
            *errno_location() = errno;
        }
    }
}

fn wake_error(error: io::Error) -> Error {
    Error::from_io(Status::Io, "cannot open a wake-up descriptor", &error)
}

#[cfg(any(target_os = "android", target_os = "netbsd", target_os = "openbsd"))]
use libc::__errno as errno_location;
#[cfg(any(target_os = "linux", target_os = "emscripten", target_os = "hurd", target_os = "redox"))]
use libc::__errno_location as errno_location;
#[cfg(any(target_vendor = "apple", target_os = "freebsd"))]
use libc::__error as errno_location;

/// Returns the index of a network interface.
#[cfg(target_vendor = "apple")]
pub(crate) fn interface_index(name: &str) -> io::Result<u32> {
    let name = std::ffi::CString::new(name)?;
    // SAFETY: the name is NUL-terminated.
    match unsafe { libc::if_nametoindex(name.as_ptr()) } {
        0 => Err(io::Error::last_os_error()),
        index => Ok(index),
    }
}

/// Returns whether the errno means that the process or the system has no free descriptor.
pub(crate) fn is_out_of_descriptors(errno: i32) -> bool {
    matches!(errno, libc::EMFILE | libc::ENFILE)
}

pub(crate) const DONT_WAIT: i32 = libc::MSG_DONTWAIT;
pub(crate) const NO_SIGNAL: i32 = libc::MSG_NOSIGNAL;
/// The flag of [`recv`] that leaves the bytes in the socket's buffer.
pub(crate) const PEEK: i32 = libc::MSG_PEEK;

/// Calls recv(2) with `MSG_…` flags. Restarts after EINTR.
pub(crate) fn recv(fd: RawFd, buffer: &mut [u8], flags: i32) -> io::Result<usize> {
    // SAFETY: the pointer and length describe `buffer`, which lives across the call.
    retry_on_eintr(|| unsafe { libc::recv(fd, buffer.as_mut_ptr().cast(), buffer.len(), flags) })
}

/// Calls send(2) without raising SIGPIPE. Restarts after EINTR.
pub(crate) fn send(fd: RawFd, data: &[u8], flags: i32) -> io::Result<usize> {
    // SAFETY: the pointer and length describe `data`, which lives across the call.
    retry_on_eintr(|| unsafe { libc::send(fd, data.as_ptr().cast(), data.len(), flags | NO_SIGNAL) })
}

/// Sends several slices with one system call, like [`send`].
pub(crate) fn send_vectored(fd: RawFd, slices: &[IoSlice<'_>], flags: i32) -> io::Result<usize> {
    // SAFETY: all-zero bytes are a valid msghdr.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = slices.as_ptr().cast_mut().cast();
    message.msg_iovlen = slices.len() as _;
    // SAFETY: an `IoSlice` has the layout of an iovec, and sendmsg(2) only reads the slices, which live across the
    // call.
    retry_on_eintr(|| unsafe { libc::sendmsg(fd, &raw const message, flags | NO_SIGNAL) })
}

/// Calls shutdown(2).
pub(crate) fn shutdown(fd: RawFd, directions: Shutdown) -> io::Result<()> {
    let how = match directions {
        Shutdown::Read => libc::SHUT_RD,
        Shutdown::Write => libc::SHUT_WR,
        Shutdown::Both => libc::SHUT_RDWR,
    };
    // SAFETY: no pointers are passed.
    match unsafe { libc::shutdown(fd, how) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

fn retry_on_eintr(mut call: impl FnMut() -> isize) -> io::Result<usize> {
    loop {
        if let Ok(count) = usize::try_from(call()) {
            return Ok(count);
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

/// Clears O_NONBLOCK with one system call; fcntl(2) needs two.
pub(crate) fn make_blocking(fd: RawFd) -> io::Result<()> {
    let mut nonblocking: libc::c_int = 0;
    // SAFETY: FIONBIO reads an int, which lives across the call.
    match unsafe { libc::ioctl(fd, libc::FIONBIO, &raw mut nonblocking) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Sets a socket option to the bytes of `value`.
pub(crate) fn setsockopt(fd: RawFd, level: i32, name: i32, value: &[u8]) -> io::Result<()> {
    let len = libc::socklen_t::try_from(value.len()).map_err(|_| io::Error::from_raw_os_error(libc::EINVAL))?;
    // SAFETY: the pointer and length describe `value`, which lives across the call.
    match unsafe { libc::setsockopt(fd, level, name, value.as_ptr().cast(), len) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Sets IP_BIND_ADDRESS_NO_PORT: the next bind(2) to port 0 chooses no port; connect(2) chooses it later.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) fn set_bind_address_no_port(fd: RawFd) -> io::Result<()> {
    setsockopt(fd, libc::IPPROTO_IP, libc::IP_BIND_ADDRESS_NO_PORT, &1i32.to_ne_bytes())
}

/// Fails on systems that do not have the option IP_BIND_ADDRESS_NO_PORT.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(crate) fn set_bind_address_no_port(_fd: RawFd) -> io::Result<()> {
    Err(io::Error::from_raw_os_error(libc::ENOPROTOOPT))
}

/// Reads a socket option that is an int.
fn socket_option(fd: RawFd, name: i32) -> io::Result<i32> {
    let mut value: i32 = 0;
    let mut len = size_of::<i32>() as libc::socklen_t;
    // SAFETY: the pointers refer to a value and its length, which live across the call.
    match unsafe { libc::getsockopt(fd, libc::SOL_SOCKET, name, (&raw mut value).cast(), &mut len) } {
        0 => Ok(value),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Returns whether the socket is listening. Waiting for data on a listening socket would never end.
pub(crate) fn is_listening(fd: RawFd) -> bool {
    socket_option(fd, libc::SO_ACCEPTCONN).is_ok_and(|listening| listening != 0)
}

/// The result of [`socket_type`] for a stream socket.
pub(crate) const STREAM_SOCKET: i32 = libc::SOCK_STREAM;

pub(crate) fn socket_type(fd: RawFd) -> io::Result<i32> {
    socket_option(fd, libc::SO_TYPE)
}

/// The reason why the system's resolver returned no addresses.
pub(crate) struct LookupFailure {
    /// An `EAI_…` code.
    pub code: i32,
    /// The text of gai_strerror(3).
    pub text: String,
    /// The failed system call, if the code is `EAI_SYSTEM`.
    pub system: Option<io::Error>,
}

/// Calls getaddrinfo(3) for stream sockets. Returns the addresses in the order of getaddrinfo(3), without duplicates.
/// May block for any length of time.
pub(crate) fn getaddrinfo(
    host: &CStr,
    port: u16,
    family: i32,
    flags: i32,
) -> std::result::Result<Vec<SocketAddr>, LookupFailure> {
    // SAFETY: all-zero bytes are a valid addrinfo.
    let mut hints: libc::addrinfo = unsafe { std::mem::zeroed() };
    hints.ai_family = family;
    hints.ai_socktype = libc::SOCK_STREAM;
    hints.ai_flags = flags;
    let mut list = std::ptr::null_mut();
    // SAFETY: the host is NUL-terminated, and the service may be NULL. `list` is read only if getaddrinfo(3) succeeds.
    let code = unsafe { libc::getaddrinfo(host.as_ptr(), std::ptr::null(), &hints, &mut list) };
    if code != 0 {
        let system = (code == libc::EAI_SYSTEM).then(io::Error::last_os_error);
        return Err(LookupFailure { code, text: gai_error_text(code), system });
    }
    let mut found = Vec::new();
    let mut at = list;
    // SAFETY: getaddrinfo returned a list that ends with NULL and lives until it is freed below.
    while let Some(entry) = unsafe { at.as_ref() } {
        // SAFETY: the entry's address is `ai_addrlen` bytes long.
        if let Some(mut address) = unsafe { read_address(entry) } {
            address.set_port(port);
            if !found.contains(&address) {
                found.push(address);
            }
        }
        at = entry.ai_next;
    }
    // SAFETY: the list came from getaddrinfo, and no reference to its entries is left.
    unsafe { libc::freeaddrinfo(list) };
    Ok(found)
}

/// Converts the address of an addrinfo.
///
/// # Safety
/// `entry.ai_addr` is NULL or points to `entry.ai_addrlen` readable bytes.
unsafe fn read_address(entry: &libc::addrinfo) -> Option<SocketAddr> {
    if entry.ai_addr.is_null() {
        return None;
    }
    // SAFETY: the caller guarantees the "# Safety" conditions of this function.
    let bytes = unsafe { std::slice::from_raw_parts(entry.ai_addr.cast::<u8>(), entry.ai_addrlen as usize) };
    match sockaddr::read(bytes) {
        Ok(Sockaddr::Ip(address)) => Some(address),
        _ => None,
    }
}

fn gai_error_text(code: i32) -> String {
    // SAFETY: for every number, gai_strerror returns a string that is never freed.
    unsafe { CStr::from_ptr(libc::gai_strerror(code)) }.to_string_lossy().into_owned()
}

#[cfg(test)]
pub(crate) fn bytes_of_sockaddr(address: &socket2::SockAddr) -> Vec<u8> {
    // SAFETY: the address has `len()` bytes, all of them initialised.
    unsafe { std::slice::from_raw_parts(address.as_ptr().cast::<u8>(), address.len() as usize) }.to_vec()
}

#[cfg(test)]
pub(crate) fn is_readable_now(fd: RawFd) -> bool {
    let mut fds = [poll_fd(fd, POLL_IN)];
    poll_now(&mut fds).is_ok_and(|ready| ready == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writing_to_a_full_wake_descriptor_preserves_errno() {
        let wake = Wake::open().unwrap();
        // Fills the counter or the pipe, so that the next raise fails.
        let nearly_full = (u64::MAX - 1).to_ne_bytes();
        for _ in 0..10_000 {
            // SAFETY: the buffer is eight readable bytes.
            unsafe { libc::write(wake.fd(), nearly_full.as_ptr().cast(), nearly_full.len()) };
            wake.raise();
            // SAFETY: errno's address is valid on every thread.
            unsafe { *errno_location() = 4711 };
            wake.raise();
            assert_eq!(io::Error::last_os_error().raw_os_error(), Some(4711));
        }
        assert!(is_readable_now(wake.fd()));
    }

    #[test]
    fn send_and_recv_report_byte_counts_end_of_stream_and_errno() {
        let (near, far) = std::os::unix::net::UnixStream::pair().unwrap();
        let (near_fd, far_fd) = (near.as_raw_fd(), far.as_raw_fd());
        let mut buffer = [0; 16];
        assert_eq!(recv(far_fd, &mut buffer, DONT_WAIT).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        assert_eq!(send(near_fd, b"ab", DONT_WAIT).unwrap(), 2);
        assert_eq!((recv(far_fd, &mut buffer, 0).unwrap(), &buffer[..2]), (2, b"ab".as_slice()));
        drop(far);
        assert_eq!(send(near_fd, b"x", 0).unwrap_err().raw_os_error(), Some(libc::EPIPE));
        assert_eq!(recv(near_fd, &mut buffer, 0).unwrap(), 0);
        assert_eq!(recv(-1, &mut buffer, 0).unwrap_err().raw_os_error(), Some(libc::EBADF));
    }
}
