//! Reads, writes and positions descriptors that need not be sockets.

use std::io;
use std::os::fd::RawFd;

use super::retry_on_eintr;

/// Calls read(2). Restarts after EINTR.
pub(crate) fn read(fd: RawFd, buffer: &mut [u8]) -> io::Result<usize> {
    // SAFETY: the pointer and length describe `buffer`, which lives across the call.
    retry_on_eintr(|| unsafe { libc::read(fd, buffer.as_mut_ptr().cast(), buffer.len()) })
}

/// Calls write(2) without raising SIGPIPE. write(2) has no flag to suppress SIGPIPE, so this function blocks the
/// signal, and consumes it if this write raised it.
pub(crate) fn write_without_signal(fd: RawFd, data: &[u8]) -> io::Result<usize> {
    // SAFETY: the signal sets are written before they are read; the pointer and length describe `data`, which lives
    // across the call. sigwait does not wait, because the signal is pending.
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

/// Returns the current position of a file, in bytes from its start.
pub(crate) fn tell(fd: RawFd) -> io::Result<i64> {
    lseek(fd, 0, libc::SEEK_CUR)
}

/// Sets the position of a file, in bytes from its start.
pub(crate) fn seek(fd: RawFd, position: i64) -> io::Result<()> {
    lseek(fd, position, libc::SEEK_SET).map(|_| ())
}

fn lseek(fd: RawFd, offset: i64, whence: i32) -> io::Result<i64> {
    let offset = libc::off_t::try_from(offset).map_err(|_| io::Error::from_raw_os_error(libc::EOVERFLOW))?;
    // SAFETY: no pointers are passed.
    match unsafe { libc::lseek(fd, offset, whence) } {
        -1 => Err(io::Error::last_os_error()),
        // The cast to i64 is needed on systems whose off_t is narrower.
        #[allow(clippy::unnecessary_cast)]
        position => Ok(position as i64),
    }
}

/// Returns the number of bytes between the position and the end of a file; `None` if the descriptor is no regular file.
pub(crate) fn remaining_file_size(fd: RawFd) -> io::Result<Option<i64>> {
    // SAFETY: all-zero bytes are a valid stat, and fstat writes it or fails.
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
