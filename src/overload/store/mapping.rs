//! The system calls that a store needs: maps a file of 64-bit words into memory, and locks a file.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU64;

/// Words of a file in memory. Other processes may change them at any time.
pub(super) struct Mapping {
    start: NonNull<AtomicU64>,
    count: usize,
}

// SAFETY: the mapping is memory of the process, which belongs to no thread.
unsafe impl Send for Mapping {}
// SAFETY: the words are atomic.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps the first `count` words of a file. If the file is shorter, or becomes shorter, an access to a missing word
    /// raises SIGBUS.
    pub(super) fn new(file: &File, count: usize) -> io::Result<Mapping> {
        let size =
            count.checked_mul(size_of::<AtomicU64>()).filter(|size| *size > 0 && isize::try_from(*size).is_ok());
        let size = size.ok_or_else(|| io::Error::from_raw_os_error(libc::EINVAL))?;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: the system chooses the address of the new mapping, so the call changes no existing memory.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), size, access, libc::MAP_SHARED, file.as_raw_fd(), 0) };
        match NonNull::new(start.cast::<AtomicU64>()) {
            Some(start) if start.as_ptr().cast::<libc::c_void>() != libc::MAP_FAILED => Ok(Mapping { start, count }),
            _ => Err(io::Error::last_os_error()),
        }
    }

    pub(super) fn words(&self) -> &[AtomicU64] {
        // SAFETY: the mapping has `count` words until it is dropped, starts at a page, and contains zeros or the
        // contents of the file. Every bit pattern is a valid word. Changes by other processes are changes of atomic
        // variables.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.count) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: `new` made the mapping with this size, and no reference to its words outlives `self`.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.count * size_of::<AtomicU64>()) };
    }
}

/// Locks a file for this open file description, without waiting. Returns false if another one has the lock. The system
/// releases the lock when the process dies.
pub(super) fn try_lock(file: &File) -> io::Result<bool> {
    // SAFETY: no pointers are passed.
    if unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } == 0 {
        return Ok(true);
    }
    let error = io::Error::last_os_error();
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Ok(false),
        _ => Err(error),
    }
}

pub(super) fn unlock(file: &File) {
    // SAFETY: no pointers are passed.
    unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_UN) };
}

/// Reserves the blocks of a file of this size. Otherwise, the first change of a word in a hole raises SIGBUS if the
/// disk is full. Does nothing if the operating system or the file system does not support it.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) fn reserve(file: &File, size: u64) -> io::Result<()> {
    let size = libc::off_t::try_from(size).map_err(|_| io::Error::from_raw_os_error(libc::EFBIG))?;
    // SAFETY: no pointers are passed.
    if unsafe { libc::fallocate(file.as_raw_fd(), 0, 0, size) } == 0 {
        return Ok(());
    }
    let error = io::Error::last_os_error();
    match error.raw_os_error() {
        Some(libc::EOPNOTSUPP | libc::ENOSYS | libc::EINTR) => Ok(()),
        _ => Err(error),
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(super) fn reserve(_file: &File, _size: u64) -> io::Result<()> {
    Ok(())
}

/// Returns the effective user id of the process.
pub(super) fn effective_user() -> u32 {
    // SAFETY: no pointers are passed.
    unsafe { libc::geteuid() }
}
