//! System calls behind safe functions. Each function is safe for every argument: a bad descriptor results in EBADF,
//! never in undefined behaviour.
#![allow(unsafe_code)]

use std::ffi::{CStr, OsString};
use std::io;
use std::marker::PhantomData;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStringExt;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::socket::sockaddr::{self, Sockaddr};
use crate::status::Status;

pub(crate) const POLL_IN: i16 = libc::POLLIN;
pub(crate) const POLL_OUT: i16 = libc::POLLOUT;
/// A returned event: the descriptor is not open.
pub(crate) const POLL_INVALID: i16 = libc::POLLNVAL;

/// A returned event: the socket is not connected, or closed in both directions.
pub(crate) const POLL_HANG_UP: i16 = libc::POLLHUP;

/// A descriptor for [`poll`], with its requested and returned events.
pub(crate) type PollFd = libc::pollfd;

pub(crate) fn poll_fd(fd: RawFd, events: i16) -> PollFd {
    PollFd { fd, events, revents: 0 }
}

/// Waits until a descriptor is ready or the deadline has passed. After EINTR it continues with the time left. Returns
/// the number of ready descriptors; 0 if the deadline has passed.
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
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

/// Returns the number of ready descriptors. It does not wait and reads no clock.
pub(crate) fn poll_now(fds: &mut [PollFd]) -> io::Result<usize> {
    // SAFETY: the pointer and the count describe `fds`, which lives across the call.
    retry_on_eintr(|| unsafe { libc::poll(fds.as_mut_ptr(), fds.len() as libc::nfds_t, 0) as isize })
}

/// Rounds up, because a wait that ends too early would spin.
fn round_up_to_ms(wait: Duration) -> i32 {
    wait.as_nanos().div_ceil(1_000_000).min(i32::MAX as u128) as i32
}

/// A descriptor to wake a poll(2): [`Wake::raise`] makes it readable permanently.
#[derive(Debug)]
pub(crate) struct Wake {
    read: OwnedFd,
    /// Linux needs one eventfd; other systems need a pipe.
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
        // Nonblocking, so that a raise in a signal handler cannot block on a pipe that was raised many times.
        socket2::SockRef::from(&write).set_nonblocking(true).map_err(wake_error)?;
        Ok(Wake { read, write })
    }

    pub(crate) fn fd(&self) -> RawFd {
        self.read.as_raw_fd()
    }

    /// Makes the descriptor readable. Async-signal-safe; preserves errno.
    pub(crate) fn raise(&self) {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        let fd = self.read.as_raw_fd();
        #[cfg(not(any(target_os = "linux", target_os = "android")))]
        let fd = self.write.as_raw_fd();
        let one = 1u64.to_ne_bytes();
        // SAFETY: the buffer is eight readable bytes; errno's address is valid on every thread.
        unsafe {
            let errno = *errno_location();
            // A full counter or pipe (EAGAIN) is already readable.
            let _ = libc::write(fd, one.as_ptr().cast(), one.len());
            *errno_location() = errno;
        }
    }
}

fn wake_error(error: io::Error) -> Error {
    Error::from_io(Status::Io, "cannot open a descriptor to be woken by", &error)
}

#[cfg(any(target_os = "android", target_os = "netbsd", target_os = "openbsd"))]
use libc::__errno as errno_location;
#[cfg(any(target_os = "linux", target_os = "emscripten", target_os = "hurd", target_os = "redox"))]
use libc::__errno_location as errno_location;
#[cfg(any(target_vendor = "apple", target_os = "freebsd"))]
use libc::__error as errno_location;

/// Returns the number of a network interface.
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

/// Converts the result of a system call that opens a descriptor.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn owned_fd(fd: RawFd) -> io::Result<OwnedFd> {
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor was opened for this call, and no other code knows it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

pub(crate) const DONT_WAIT: i32 = libc::MSG_DONTWAIT;
pub(crate) const NO_SIGNAL: i32 = libc::MSG_NOSIGNAL;

/// Calls recv(2) with `MSG_…` flags. Restarts after EINTR.
pub(crate) fn recv(fd: RawFd, buffer: &mut [u8], flags: i32) -> io::Result<usize> {
    // SAFETY: the pointer and length describe `buffer`, which lives across the call.
    retry_on_eintr(|| unsafe { libc::recv(fd, buffer.as_mut_ptr().cast(), buffer.len(), flags) })
}

/// Calls send(2), but never raises SIGPIPE. Restarts after EINTR.
pub(crate) fn send(fd: RawFd, data: &[u8], flags: i32) -> io::Result<usize> {
    // SAFETY: the pointer and length describe `data`, which lives across the call.
    retry_on_eintr(|| unsafe { libc::send(fd, data.as_ptr().cast(), data.len(), flags | NO_SIGNAL) })
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

#[cfg(target_os = "linux")]
unsafe extern "C" {
    fn secure_getenv(name: *const libc::c_char) -> *mut libc::c_char;
}

/// Returns an environment variable; always `None` in a program that runs with elevated privileges, such as set-user-ID.
pub(crate) fn environment_variable(name: &CStr) -> Option<OsString> {
    // SAFETY: the name is NUL-terminated. The result is NUL-terminated and lives until the application changes its
    // environment, which no thread may do during this call: that is the rule of getenv(3) itself.
    unsafe {
        #[cfg(target_os = "linux")]
        let value = secure_getenv(name.as_ptr());
        #[cfg(not(target_os = "linux"))]
        let value = if libc::issetugid() != 0 { std::ptr::null_mut() } else { libc::getenv(name.as_ptr()) };
        if value.is_null() { None } else { Some(OsString::from_vec(CStr::from_ptr(value).to_bytes().to_vec())) }
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

/// Makes the next bind(2) to port 0 leave the choice of the port to connect(2).
pub(crate) fn set_bind_address_no_port(fd: RawFd) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    return setsockopt(fd, libc::IPPROTO_IP, libc::IP_BIND_ADDRESS_NO_PORT, &1i32.to_ne_bytes());
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    return Err(io::Error::from_raw_os_error(libc::ENOPROTOOPT));
}

/// Opens another close-on-exec descriptor that is readable when `fd` is. When it is closed, an event loop forgets it; a
/// duplicate would stay registered with epoll until the original is closed as well.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) fn duplicate_for_polling(fd: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: no pointers are passed.
    let epoll = owned_fd(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) })?;
    let mut event = libc::epoll_event { events: libc::EPOLLIN as u32, u64: 0 };
    // SAFETY: the event lives across the call.
    match unsafe { libc::epoll_ctl(epoll.as_raw_fd(), libc::EPOLL_CTL_ADD, fd, &raw mut event) } {
        0 => Ok(epoll),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(crate) fn duplicate_for_polling(fd: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: no pointers are passed.
    let copy = unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 0) };
    if copy < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor was opened by this call, and no other code knows it.
    Ok(unsafe { OwnedFd::from_raw_fd(copy) })
}

/// Reads a socket option that is an int.
fn socket_option(fd: RawFd, name: i32) -> io::Result<i32> {
    let mut value: i32 = 0;
    let mut len = size_of::<i32>() as libc::socklen_t;
    // SAFETY: the pointers are to a value and its length, which live across the call.
    match unsafe { libc::getsockopt(fd, libc::SOL_SOCKET, name, (&raw mut value).cast(), &mut len) } {
        0 => Ok(value),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Returns whether the socket is listening; waiting for data on such a socket never ends.
pub(crate) fn is_listening(fd: RawFd) -> bool {
    socket_option(fd, libc::SO_ACCEPTCONN).is_ok_and(|listening| listening != 0)
}

/// The reason why the system's resolver returned no addresses.
pub(crate) struct LookupFailure {
    /// An `EAI_…` code.
    pub code: i32,
    /// The text of gai_strerror(3).
    pub text: String,
    /// The failure behind `EAI_SYSTEM`.
    pub system: Option<io::Error>,
}

/// Calls getaddrinfo(3) for stream sockets. Returns the addresses in its order, without duplicates. It may block for
/// any length of time.
pub(crate) fn getaddrinfo(
    host: &CStr,
    port: u16,
    family: i32,
    flags: i32,
) -> std::result::Result<Vec<SocketAddr>, LookupFailure> {
    // SAFETY: all-zero is a valid addrinfo.
    let mut hints: libc::addrinfo = unsafe { std::mem::zeroed() };
    hints.ai_family = family;
    hints.ai_socktype = libc::SOCK_STREAM;
    hints.ai_flags = flags;
    let mut list = std::ptr::null_mut();
    // SAFETY: the host is NUL-terminated, the service is NULL, and `list` is written on success only.
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
    // SAFETY: the list came from getaddrinfo and nothing refers into it.
    unsafe { libc::freeaddrinfo(list) };
    Ok(found)
}

/// Reads the address of an entry.
///
/// # Safety
/// `entry.ai_addr` is NULL or points to `entry.ai_addrlen` readable bytes.
unsafe fn read_address(entry: &libc::addrinfo) -> Option<SocketAddr> {
    if entry.ai_addr.is_null() {
        return None;
    }
    // SAFETY: the caller's promise.
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

/// Blocks all signals on the current thread and on the threads that it starts, until dropped.
pub(crate) struct SignalsBlocked {
    before: Option<libc::sigset_t>,
    /// Keeps the type from being `Send`, because the mask belongs to this thread.
    _thread: PhantomData<*const ()>,
}

impl SignalsBlocked {
    pub(crate) fn new() -> SignalsBlocked {
        // SAFETY: both sets are written before they are read.
        let before = unsafe {
            let mut all: libc::sigset_t = std::mem::zeroed();
            let mut before: libc::sigset_t = std::mem::zeroed();
            libc::sigfillset(&mut all);
            (libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut before) == 0).then_some(before)
        };
        SignalsBlocked { before, _thread: PhantomData }
    }
}

impl Drop for SignalsBlocked {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            // SAFETY: `before` is a set that pthread_sigmask wrote.
            unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before, std::ptr::null_mut()) };
        }
    }
}

/// Returns the time of the monotonic clock, in seconds.
pub(crate) fn monotonic_seconds() -> f64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is writable. The clock exists on every system that netlib builds for.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}

/* Forks. */

/// Returns a word that is 0 in every forked child, even if no fork handler ran: the kernel wipes its page
/// (MADV_WIPEONFORK, Linux 4.14). `None` if no such page is available.
pub(crate) fn wipe_on_fork_word() -> Option<&'static AtomicU64> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    // SAFETY: a new private mapping is zeroed, aligned for any integer, and never unmapped, so the reference stays
    // valid for as long as the process lives. madvise(2) changes only the new mapping. The advice -1, which does not
    // exist, must be refused: some versions of QEMU accept every advice and obey none.
    unsafe {
        const NO_ADVICE: i32 = -1;
        let size = usize::try_from(libc::sysconf(libc::_SC_PAGESIZE)).ok()?;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let page = libc::mmap(std::ptr::null_mut(), size, access, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0);
        if page == libc::MAP_FAILED {
            return None;
        }
        if libc::madvise(page, size, NO_ADVICE) == 0 || libc::madvise(page, size, libc::MADV_WIPEONFORK) != 0 {
            libc::munmap(page, size);
            return None;
        }
        Some(&*page.cast::<AtomicU64>())
    }
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    None
}

/// Handlers that run around each fork(2) of the process, on the thread that forks.
pub(crate) trait ForkHandler {
    fn before();
    fn in_parent();
    fn in_child();
}

/// Installs a handler permanently: the library is never unloaded (`-z nodelete`). Returns false if memory runs out.
pub(crate) fn at_fork<H: ForkHandler>() -> bool {
    extern "C" fn before<H: ForkHandler>() {
        H::before();
    }
    extern "C" fn in_parent<H: ForkHandler>() {
        H::in_parent();
    }
    extern "C" fn in_child<H: ForkHandler>() {
        H::in_child();
    }
    // SAFETY: the three functions live as long as the process.
    unsafe { libc::pthread_atfork(Some(before::<H>), Some(in_parent::<H>), Some(in_child::<H>)) == 0 }
}

/* Files, for bodies. */

/// Calls read(2). Restarts after EINTR.
pub(crate) fn read(fd: RawFd, buffer: &mut [u8]) -> io::Result<usize> {
    // SAFETY: the pointer and length describe `buffer`, which lives across the call.
    retry_on_eintr(|| unsafe { libc::read(fd, buffer.as_mut_ptr().cast(), buffer.len()) })
}

/// Calls write(2), but raises no SIGPIPE. write(2) has no flag for that, so the signal is blocked and then consumed.
pub(crate) fn write_without_signal(fd: RawFd, data: &[u8]) -> io::Result<usize> {
    // SAFETY: the sets are written before they are read; the pointer and length describe `data`, which lives across
    // the call. sigwait takes a signal that is pending, so it does not wait.
    unsafe {
        let mut pipe: libc::sigset_t = std::mem::zeroed();
        let mut before: libc::sigset_t = std::mem::zeroed();
        let mut pending: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut pipe);
        libc::sigaddset(&mut pipe, libc::SIGPIPE);
        libc::sigpending(&mut pending);
        let was_pending = libc::sigismember(&pending, libc::SIGPIPE) == 1;
        libc::pthread_sigmask(libc::SIG_BLOCK, &pipe, &mut before);
        let written = retry_on_eintr(|| libc::write(fd, data.as_ptr().cast(), data.len()));
        if written.as_ref().is_err_and(|error| error.raw_os_error() == Some(libc::EPIPE)) && !was_pending {
            libc::sigpending(&mut pending);
            if libc::sigismember(&pending, libc::SIGPIPE) == 1 {
                let mut signal = 0;
                libc::sigwait(&pipe, &mut signal);
            }
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, &before, std::ptr::null_mut());
        written
    }
}

/// Returns the position of a file.
pub(crate) fn tell(fd: RawFd) -> io::Result<i64> {
    lseek(fd, 0, libc::SEEK_CUR)
}

/// Sets the position of a file, from its start.
pub(crate) fn seek(fd: RawFd, position: i64) -> io::Result<()> {
    lseek(fd, position, libc::SEEK_SET).map(|_| ())
}

fn lseek(fd: RawFd, offset: i64, whence: i32) -> io::Result<i64> {
    let offset = libc::off_t::try_from(offset).map_err(|_| io::Error::from_raw_os_error(libc::EOVERFLOW))?;
    // SAFETY: no pointers are passed.
    match unsafe { libc::lseek(fd, offset, whence) } {
        -1 => Err(io::Error::last_os_error()),
        // The cast is needed on systems with a narrower off_t.
        #[allow(clippy::unnecessary_cast)]
        position => Ok(position as i64),
    }
}

/// Returns the number of bytes between the position and the end of a file; `None` if it is not a regular file.
pub(crate) fn remaining_file_size(fd: RawFd) -> io::Result<Option<i64>> {
    // SAFETY: all-zero is a valid stat, and fstat writes it or fails.
    let stat = unsafe {
        let mut stat: libc::stat = std::mem::zeroed();
        if libc::fstat(fd, &mut stat) != 0 {
            return Err(io::Error::last_os_error());
        }
        stat
    };
    if stat.st_mode & libc::S_IFMT != libc::S_IFREG {
        return Ok(None);
    }
    Ok(Some((stat.st_size as i64).saturating_sub(tell(fd)?).max(0)))
}

/// Returns whether the descriptor is open and does not have O_NONBLOCK.
pub(crate) fn is_blocking(fd: RawFd) -> bool {
    // SAFETY: no pointers are passed.
    let flags = unsafe { libc::fcntl(fd, libc::F_GETFL) };
    flags >= 0 && flags & libc::O_NONBLOCK == 0
}

pub(crate) fn is_open(fd: RawFd) -> bool {
    // SAFETY: no pointers are passed.
    unsafe { libc::fcntl(fd, libc::F_GETFD) >= 0 }
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
pub(crate) fn is_signal_blocked(signal: i32) -> bool {
    // SAFETY: the set is written before it is read.
    unsafe {
        let mut mask: libc::sigset_t = std::mem::zeroed();
        libc::pthread_sigmask(libc::SIG_BLOCK, std::ptr::null(), &mut mask);
        libc::sigismember(&mask, signal) == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_raise_keeps_errno_and_readability() {
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
    fn send_and_recv_report_bytes_end_and_errors() {
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
